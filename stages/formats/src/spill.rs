//! Edges that do not fit the memory that may be used: kept in a nameless file until they are
//! sorted.
//!
//! promises  edges come back in the order of the file that was read, as rows; the nameless file
//!           goes with the process
//! promises  a quarter of `Limit::memory` for edges, beside what belongs to the nodes and a few
//!           blocks of the file that is read
//! promises  features of edges are rows of a second nameless file, by the place of their edge in
//!           the list
mod own_ids;

use crate::raw::{EdgeFeatures, Edges, NodeIds, RawGraph, Read, ReadError};
use own_ids::{GONE, Rows};
pub(crate) use own_ids::{OwnIds, Told, rows_among};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read as _, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Bytes that are written and read at once.
const BUFFER_BYTES: usize = 1 << 18;
/// Edges that are held may take one part in so many of the memory.
const SHARE: u64 = 4;
/// The largest whole number up to which f32 holds all of them.
const EXACT_MOST: f32 = 16_777_216.0;
/// Edges that come back at once.
const BLOCK_EDGES: usize = 1 << 16;

/// A graph; its edges, where they are in a file: the graph has none then.
pub type Found = (RawGraph, Option<Spilled>);

/// How much memory edges may take, and where they go beyond it.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes.
    pub memory: u64,
    /// A folder on a disk with room.
    pub folder: PathBuf,
}

impl Limit {
    /// Edges stay in memory, however many there are.
    pub fn none() -> Limit {
        Limit { memory: u64::MAX, folder: PathBuf::new() }
    }

    /// Whether edges of so many bytes may stay: sorting them takes three times as much beside.
    pub fn admits(&self, bytes: u64) -> bool {
        bytes <= self.memory / SHARE
    }
}

/// The least `--memory` that admits edges of so many bytes, as it is typed.
pub fn memory_for(bytes: u64) -> String {
    let least = bytes.saturating_mul(SHARE);
    // Whole MiB would be far more than is needed of little.
    if least < 64 << 20 {
        format!("--memory {}KiB", least.div_ceil(1 << 10))
    } else {
        format!("--memory {}MiB", least.div_ceil(1 << 20))
    }
}

/// An edge by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Where it begins.
    pub source: u32,
    /// Where it ends.
    pub target: u32,
    /// Its relation; 0 without relations.
    pub relation: u16,
    /// Its weight; 1 without weights.
    pub weight: f32,
    /// Its place in the list, from 0.
    pub at: u64,
}

/// Hands over every edge of a graph, wherever its edges are, with its place in the list.
pub(crate) fn each(
    held: &Edges,
    spilled: Option<&Spilled>,
    mut take: impl FnMut(u64, Edge),
) -> Read<()> {
    let (weight, relation) = (held.weight.as_deref(), held.relation.as_deref());
    let ends = held.source.iter().zip(&held.target).enumerate();
    ends.for_each(|(at, (&source, &target))| {
        let edge = Edge {
            source,
            target,
            relation: relation.map_or(0, |relation| relation[at]),
            weight: weight.map_or(1.0, |weight| weight[at]),
            at: at as u64,
        };
        take(at as u64, edge);
    });
    let Some(spilled) = spilled else { return Ok(()) };
    let mut at = 0;
    spilled.each(|edge| {
        take(at, edge);
        at += 1;
        Ok(())
    })
}

/// The first edge of which this is true, and its place in the list.
pub(crate) fn find(
    held: &Edges,
    spilled: Option<&Spilled>,
    mut is: impl FnMut(Edge) -> bool,
) -> Read<Option<(u64, Edge)>> {
    let mut found = None;
    each(held, spilled, |at, edge| {
        if found.is_none() && is(edge) {
            found = Some((at, edge));
        }
    })?;
    Ok(found)
}

/// Whether every edge is listed as often as its reverse, told by sums of hashes: of edges listed
/// once it holds by chance in one of 2^64 cases.
pub fn are_both_ways(held: &Edges, spilled: Option<&Spilled>) -> Read<bool> {
    let (mut there, mut back) = (0u64, 0u64);
    // The mixing of splitmix64.
    let hash = |from: u32, to: u32| {
        let mixed = (u64::from(from) << 32 | u64::from(to)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    each(held, spilled, |_, edge| {
        there = there.wrapping_add(hash(edge.source, edge.target));
        back = back.wrapping_add(hash(edge.target, edge.source));
    })?;
    Ok(there == back)
}

/// Formats whose reader does not tell itself which weights are rounded, and where: it has no words
/// of them, or no place.
const TOLD_BY_SIZE: [&str; 1] = ["ogb"];

/// Tells of weights that f32 may not hold as the files of this format have them.
pub fn note_large_weights(format: &str, (graph, spilled): &mut Found) -> Read<()> {
    let weighted =
        graph.edges.weight.is_some() || spilled.as_ref().is_some_and(|spilled| spilled.weighted);
    if !weighted || !TOLD_BY_SIZE.contains(&format) {
        return Ok(());
    }
    let (mut count, mut first) = (0u64, 0);
    each(&graph.edges, spilled.as_ref(), |at, edge| {
        if edge.weight.abs() > EXACT_MOST {
            first = if count == 0 { at + 1 } else { first };
            count += 1;
        }
    })?;
    if count > 0 {
        let told = format!(
            "{count} weights are above 16777216, where f32 rounds whole numbers to 24 bits; the \
             first is that of edge {first}"
        );
        graph.notes.push(told);
    }
    Ok(())
}

/// Where a reader puts edges by row, in their order: in memory while they fit, then in a file.
pub(crate) struct Sink<'a> {
    limit: &'a Limit,
    held: Edges,
    spill: Option<Spill>,
    count: u64,
}

impl<'a> Sink<'a> {
    /// No edges yet.
    pub fn new(limit: &'a Limit) -> Sink<'a> {
        Sink { limit, held: Edges::default(), spill: None, count: 0 }
    }

    /// More edges behind the others; they have weights and relations as those do.
    pub fn take(&mut self, edges: Edges) {
        self.count += edges.len() as u64;
        if self.held.is_empty() && self.held.source.capacity() == 0 {
            self.held = edges;
            return;
        }
        fn extend<T: Copy>(list: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
            more.iter().for_each(|more| list.get_or_insert_default().extend_from_slice(more));
        }
        self.held.source.extend_from_slice(&edges.source);
        self.held.target.extend_from_slice(&edges.target);
        extend(&mut self.held.weight, edges.weight);
        extend(&mut self.held.relation, edges.relation);
        if let (Some(features), Some(more)) = (&mut self.held.features, edges.features) {
            features.values.extend_from_slice(&more.values);
        }
    }

    /// How many edges came so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes what is held away, if it takes more than it may. To be called once a block was read.
    pub fn settle(&mut self) -> Read<()> {
        if self.spill.is_none() && self.limit.admits(self.held.bytes()) {
            return Ok(());
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(self.limit)?),
        };
        spill.write_rows(&self.held)?;
        self.held.source.clear();
        self.held.target.clear();
        self.held.weight.iter_mut().for_each(Vec::clear);
        self.held.relation.iter_mut().for_each(Vec::clear);
        self.held.features.iter_mut().for_each(|features| features.values.clear());
        Ok(())
    }

    /// All edges: held, or in a file.
    pub fn finish(mut self) -> Read<(Edges, Option<Spilled>)> {
        self.settle()?;
        match self.spill {
            None => Ok((self.held, None)),
            Some(spill) => Ok((Edges::default(), Some(spill.finish(Rows::Same)?))),
        }
    }
}

/// The refusal of features in a file of their own, which is read as a whole; they would take so
/// many bytes.
pub fn features_have_to_fit(path: &Path, bytes: u64) -> Box<ReadError> {
    let error = ReadError::new(
        path,
        "the features of edges in this file do not fit the memory that may be used: they are read \
         as a whole",
    );
    let error = error.expected("at most a quarter of --memory", format!("{bytes} bytes"));
    Box::new(error.hint(format!("allow at least  {}", memory_for(bytes))))
}

/// Edges that are being written.
struct Spill {
    folder: PathBuf,
    file: BufWriter<File>,
    blocks: Vec<Block>,
    edges: u64,
    features: Option<(u32, BufWriter<File>)>,
}

/// Features of edges in a nameless file, a row an edge.
#[derive(Debug)]
pub struct FeatureRows {
    /// Values in a row.
    pub columns: u32,
    file: File,
}

impl FeatureRows {
    /// Bytes of a row.
    pub fn width(&self) -> usize {
        4 * self.columns as usize
    }

    /// The bytes of the row of the edge with this place in the list, as they lie in memory on a
    /// little-endian machine.
    pub fn read(&self, at: u64, row: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(row, at * self.width() as u64)
    }
}

/// Edges that were written together: their ends, then weights, then relations.
#[derive(Debug)]
struct Block {
    /// Ends are of 64 bits rather than 32.
    wide: bool,
    weighted: bool,
    typed: bool,
    edges: usize,
}

impl Spill {
    fn new(limit: &Limit) -> Read<Spill> {
        let file = tempfile::tempfile_in(&limit.folder)
            .map_err(|error| unwritten(&limit.folder, &error))?;
        Ok(Spill {
            folder: limit.folder.clone(),
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            blocks: Vec::new(),
            edges: 0,
            features: None,
        })
    }

    fn write_rows(&mut self, edges: &Edges) -> Read<()> {
        let pairs = edges
            .source
            .iter()
            .zip(&edges.target)
            .map(|(&source, &target)| [source, target].map(u64::from));
        if let Some(features) = &edges.features {
            self.write_features(features.columns, &features.values)?;
        }
        self.write(
            false,
            pairs,
            edges.weight.as_deref().unwrap_or_default(),
            edges.relation.as_deref().unwrap_or_default(),
        )
    }

    /// Writes the features of edges behind those of all edges before.
    fn write_features(&mut self, columns: u32, values: &[f32]) -> Read<()> {
        let fault = |error: io::Error| unwritten(&self.folder, &error);
        let (_, file) = match &mut self.features {
            Some(features) => features,
            none => none.insert((
                columns,
                BufWriter::with_capacity(
                    BUFFER_BYTES,
                    tempfile::tempfile_in(&self.folder).map_err(fault)?,
                ),
            )),
        };
        values.iter().try_for_each(|value| file.write_all(&value.to_le_bytes())).map_err(fault)
    }

    /// Writes edges; weights and relations are one an edge, or none at all.
    fn write(
        &mut self,
        wide: bool,
        mut pairs: impl ExactSizeIterator<Item = [u64; 2]>,
        weight: &[f32],
        relation: &[u16],
    ) -> Read<()> {
        let count = pairs.len();
        let mut at = 0;
        while at < count {
            let end = (at + BLOCK_EDGES).min(count);
            let block = Block {
                wide,
                weighted: !weight.is_empty(),
                typed: !relation.is_empty(),
                edges: end - at,
            };
            let (weight, relation) = (
                weight.get(at..end).unwrap_or_default(),
                relation.get(at..end).unwrap_or_default(),
            );
            write_block(&mut self.file, wide, pairs.by_ref().take(end - at), weight, relation)
                .map_err(|error| unwritten(&self.folder, &error))?;
            self.edges += block.edges as u64;
            self.blocks.push(block);
            at = end;
        }
        Ok(())
    }

    fn finish(self, rows: Rows) -> Read<Spilled> {
        let Spill { folder, file, blocks, edges, features } = self;
        let file = file.into_inner().map_err(|error| unwritten(&folder, error.error()))?;
        let rows_of = |(columns, file): (u32, BufWriter<File>)| match file.into_inner() {
            Ok(file) => Ok(FeatureRows { columns, file }),
            Err(error) => Err(unwritten(&folder, error.error())),
        };
        let features = features.map(rows_of).transpose()?;
        let (weighted, typed) =
            (blocks.iter().any(|block| block.weighted), blocks.iter().any(|block| block.typed));
        Ok(Spilled {
            folder,
            file,
            blocks,
            skip_first: false,
            rows,
            has_gone: false,
            relation_of: None,
            without: None,
            edges,
            weighted,
            typed,
            features,
        })
    }
}

fn write_block(
    file: &mut impl Write,
    wide: bool,
    pairs: impl Iterator<Item = [u64; 2]>,
    weight: &[f32],
    relation: &[u16],
) -> io::Result<()> {
    for id in pairs.flatten() {
        if wide {
            file.write_all(&id.to_le_bytes())?
        } else {
            file.write_all(&(id as u32).to_le_bytes())?
        }
    }
    weight.iter().try_for_each(|weight| file.write_all(&weight.to_le_bytes()))?;
    relation.iter().try_for_each(|relation| file.write_all(&relation.to_le_bytes()))
}

/// The disk did not take the edges.
fn unwritten(folder: &Path, error: &io::Error) -> Box<ReadError> {
    let what = format!("cannot keep the edges in a file while they are sorted: {error}");
    let hint = match error.kind() {
        io::ErrorKind::FileTooLarge => {
            "files may not be larger here: raise the limit on their size, as  ulimit -f  shows it, \
             or allow more memory"
        }
        _ => {
            "edges beyond --memory need 20 to 60 bytes each on this disk for a while: make room, \
             allow more memory, or move the store"
        }
    };
    Box::new(ReadError { io: Some(error.kind()), ..ReadError::new(folder, what).hint(hint) })
}

/// Edges in a file, and how what is written there becomes rows.
#[derive(Debug)]
pub struct Spilled {
    folder: PathBuf,
    file: File,
    blocks: Vec<Block>,
    skip_first: bool,
    rows: Rows,
    /// Whether some nodes are gone, and their edges with them.
    has_gone: bool,
    /// The relation of each number that stands in the file; none: they are relations.
    relation_of: Option<Vec<u16>>,
    /// The relation whose edges are gone; those above count one less.
    without: Option<u16>,
    /// How many edges there are.
    pub edges: u64,
    /// Whether they have weights that mean something.
    pub weighted: bool,
    /// Whether they have relations.
    pub typed: bool,
    /// Their features, by the place of each in the list.
    pub features: Option<FeatureRows>,
}

impl Spilled {
    /// Edges by row that were held so far.
    pub fn of(edges: Edges, limit: &Limit) -> Read<Spilled> {
        let mut spill = Spill::new(limit)?;
        spill.write_rows(&edges)?;
        spill.finish(Rows::Same)
    }

    /// Gives the edges features, a row each in the order of the list.
    pub(crate) fn set_features(&mut self, features: &EdgeFeatures) -> Read<()> {
        let mut spill = Spill::new(&Limit { memory: 0, folder: self.folder.clone() })?;
        spill.write_features(features.columns, &features.values)?;
        self.features = spill.finish(Rows::Same)?.features;
        Ok(())
    }

    /// Bytes that the edges would take in memory.
    pub fn bytes(&self) -> u64 {
        let features = self.features.as_ref().map_or(0, |features| features.width() as u64);
        self.edges * (8 + 4 * u64::from(self.weighted) + 2 * u64::from(self.typed) + features)
    }

    /// The edges of all relations but this one, which is taken out of the count of relations.
    pub fn without(mut self, relation: u16) -> Read<Spilled> {
        self.without = Some(relation);
        self.counted()
    }

    /// With the number of edges that are left.
    fn counted(mut self) -> Read<Spilled> {
        let mut edges = 0;
        self.each(|_| {
            edges += 1;
            Ok(())
        })?;
        self.edges = edges;
        Ok(self)
    }

    /// The same edges, of nodes with the ids `known`, as rows of nodes with more ids.
    pub fn onto(self, known: &NodeIds, ids: &NodeIds) -> Spilled {
        if known == ids {
            return self;
        }
        let rows = rows_among(known, ids);
        self.moved(rows.into_iter().zip(0..).map(|(row, known)| row.unwrap_or(known)).collect())
    }

    /// The same edges; what was row i is `rows[i]`.
    pub(crate) fn moved(mut self, rows: Vec<u32>) -> Spilled {
        self.rows = Rows::Moved(Box::new(self.rows), rows);
        self
    }

    /// The edges between nodes that stay; what was row i is `rows[i]`, and `u32::MAX` for a node
    /// that goes.
    pub fn only(mut self, rows: Vec<u32>) -> Read<Spilled> {
        self.has_gone |= rows.contains(&GONE);
        self.moved(rows).counted()
    }

    /// What was relation i is `relations[i]`.
    pub(crate) fn name_relations(&mut self, relations: &[u16]) {
        self.relation_of = Some(match self.relation_of.take() {
            None => relations.to_vec(),
            Some(before) => {
                before.into_iter().map(|relation| relations[usize::from(relation)]).collect()
            }
        });
    }

    /// Puts the edges into the memory of a graph that has none.
    pub fn hold(&self, graph: &mut RawGraph) -> Read<()> {
        let (mut weight, mut relation, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut row = vec![0; self.features.as_ref().map_or(0, FeatureRows::width)];
        self.each(|edge| {
            if let Some(features) = &self.features {
                features.read(edge.at, &mut row)?;
                values.extend(
                    row.chunks_exact(4)
                        .map(|bytes| f32::from_le_bytes(std::array::from_fn(|byte| bytes[byte]))),
                );
            }
            graph.edges.source.push(edge.source);
            graph.edges.target.push(edge.target);
            weight.push(edge.weight);
            relation.push(edge.relation);
            Ok(())
        })?;
        graph.edges.weight = self.weighted.then_some(weight);
        graph.edges.relation = self.typed.then_some(relation);
        graph.edges.features = self
            .features
            .as_ref()
            .map(|features| EdgeFeatures { columns: features.columns, values });
        Ok(())
    }

    /// Hands over every edge.
    pub fn each(&self, mut take: impl FnMut(Edge) -> io::Result<()>) -> Read<()> {
        let mut skip = self.skip_first;
        let mut place = 0..;
        let result = each_stored(&self.file, &self.blocks, |source, target, relation, weight| {
            if std::mem::take(&mut skip) {
                return Ok(());
            }
            let at = place.next().unwrap_or_default();
            let relation = self.relation_of.as_ref().map_or(relation, |relations| {
                relations.get(usize::from(relation)).copied().unwrap_or(relation)
            });
            if self.without == Some(relation) {
                return Ok(());
            }
            let relation =
                relation - u16::from(self.without.is_some_and(|without| relation > without));
            let weight = if self.weighted { weight } else { 1.0 };
            let (source, target) = (self.rows.of(source), self.rows.of(target));
            if self.has_gone && (source == GONE || target == GONE) {
                return Ok(());
            }
            take(Edge { source, target, relation, weight, at })
        });
        result.map_err(|error| unwritten(&self.folder, &error))
    }
}

/// All edges as they stand in the file.
fn each_stored(
    mut file: &File,
    blocks: &[Block],
    mut take: impl FnMut(u64, u64, u16, f32) -> io::Result<()>,
) -> io::Result<()> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut ends, mut weights, mut relations) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        ends.resize(block.edges * if block.wide { 16 } else { 8 }, 0);
        weights.resize(if block.weighted { block.edges * 4 } else { 0 }, 0);
        relations.resize(if block.typed { block.edges * 2 } else { 0 }, 0);
        reader.read_exact(&mut ends)?;
        reader.read_exact(&mut weights)?;
        reader.read_exact(&mut relations)?;
        let weight = |at: usize| {
            weights
                .get(4 * at..4 * at + 4)
                .map_or(1.0, |bytes| f32::from_le_bytes(std::array::from_fn(|byte| bytes[byte])))
        };
        let relation = |at: usize| {
            relations
                .get(2 * at..2 * at + 2)
                .map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        for at in 0..block.edges {
            if block.wide {
                let id = |first: usize| {
                    u64::from_le_bytes(std::array::from_fn(|byte| ends[first + byte]))
                };
                take(id(16 * at), id(16 * at + 8), relation(at), weight(at))?;
            } else {
                let id = |first: usize| {
                    u64::from(u32::from_le_bytes(std::array::from_fn(|byte| ends[first + byte])))
                };
                take(id(8 * at), id(8 * at + 4), relation(at), weight(at))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_may_be_rounded_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Limit { memory: 1, folder: folder.path().to_path_buf() };
        let edges = Edges {
            source: vec![0, 1, 2],
            target: vec![1, 2, 0],
            weight: Some(vec![16_777_216.0, -33_554_432.0, 1e9]),
            ..Edges::default()
        };
        let told =
            ["2 weights are above 16777216, where f32 rounds whole numbers to 24 bits; the first \
              is that of edge 2"];
        let bare = RawGraph { ids: NodeIds::Count(3), ..RawGraph::default() };
        let mut held = (RawGraph { edges: edges.clone(), ..bare.clone() }, None);
        let mut spilled = (bare, Some(Spilled::of(edges, &limit).unwrap()));
        for found in [&mut held, &mut spilled] {
            note_large_weights("edge_list", found).unwrap();
            assert_eq!(found.0.notes, Vec::<String>::new());
            note_large_weights("ogb", found).unwrap();
            assert_eq!(found.0.notes, told);
        }
    }

    /// Each weight is looked at as the file has it: 16777218 is held, 16777217 is not.
    #[test]
    fn weights_that_are_rounded_are_told_with_the_line_of_the_first() {
        let cases = [
            (
                "g.mtx",
                "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 16777218\n2 3 \
                    16777217\n3 1 33554433\n",
                "line 4",
            ),
            (
                "g.mtx",
                "%%MatrixMarket matrix coordinate real general\n% one\n3 3 3\n1 2 16777217.5\n2 3 \
                    16777217\n3 1 33554433.0\n",
                "line 5",
            ),
            ("g.gr", "c one\np sp 3 3\na 1 2 16777218\na 2 3 16777217\na 3 1 33554433\n", "line 4"),
            ("g.graph", "3 1 1\n\n3 16777217\n2 16777217\n", "line 3"),
            (
                "g.gml",
                "graph [\nnode [ id 0 ]\nedge [ source 0 target 0 value 16777217 ]\nedge [ source \
                    0 target 0 value 33554433 ] ]\n",
                "line 3",
            ),
            ("edges.txt", "0 1 16777218\n1 2 16777217\n2 0 33554433\n", "line 2"),
        ];
        for (name, text, place) in cases {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let (format, files) = crate::detect(folder.path(), &[path]).unwrap();
            for limit in [Limit::none(), Limit { memory: 0, folder: folder.path().to_path_buf() }] {
                let mut found = (format.read_within)(&files, &Default::default(), &limit).unwrap();
                note_large_weights(format.name, &mut found).unwrap();
                let wanted = format!(
                    "2 weights are whole numbers above 16777216 that f32 does not hold, and were \
                     rounded to 24 bits; the first is in {place}"
                );
                assert_eq!(found.0.notes, [wanted], "{name}");
                let unread = crate::Options { weight: Some("none".into()), ..Default::default() };
                assert_eq!(
                    (format.read_within)(&files, &unread, &limit).unwrap().0.notes,
                    Vec::<String>::new(),
                    "{name}"
                );
            }
        }
    }

    /// Rows keep to their edges when others go.
    #[test]
    fn features_of_edges_come_back_by_place() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Limit { memory: 1, folder: folder.path().to_path_buf() };
        let features = |values: &[f32]| Some(EdgeFeatures { columns: 2, values: values.to_vec() });
        let all = [1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
        let edges = Edges {
            source: vec![0, 1, 2],
            target: vec![1, 2, 0],
            features: features(&all),
            ..Edges::default()
        };
        let spilled = Spilled::of(edges.clone(), &limit).unwrap();
        assert_eq!(spilled.bytes(), edges.bytes());
        let held = |spilled: &Spilled| {
            let mut graph = RawGraph::default();
            spilled.hold(&mut graph).unwrap();
            graph.edges
        };
        assert_eq!(held(&spilled), edges);
        assert_eq!(held(&spilled.only(vec![0, GONE, 1]).unwrap()).features, features(&all[4..]));
        let mut bare = Spilled::of(Edges { features: None, ..edges.clone() }, &limit).unwrap();
        bare.set_features(edges.features.as_ref().unwrap()).unwrap();
        assert_eq!(held(&bare), edges);
    }

    #[test]
    fn edges_that_are_listed_both_ways_are_known() {
        let both = |pairs: &[(u32, u32)]| {
            let (source, target) = pairs.iter().copied().unzip();
            are_both_ways(&Edges { source, target, ..Edges::default() }, None).unwrap()
        };
        assert!(
            both(&[]) && both(&[(0, 1), (2, 2), (1, 0)]) && both(&[(0, 1), (0, 1), (1, 0), (1, 0)])
        );
        assert!(
            !both(&[(0, 1)])
                && !both(&[(0, 1), (1, 2), (2, 0)])
                && !both(&[(0, 1), (0, 1), (1, 0)])
        );
    }

    #[test]
    fn edges_of_nodes_that_go_are_gone_and_the_others_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let limit = Limit { memory: 1, folder: folder.path().to_path_buf() };
        let edges = Edges {
            source: vec![0, 1, 3, 2, 3],
            target: vec![1, 2, 0, 0, 3],
            weight: Some(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            ..Edges::default()
        };
        let listed = |spilled: &Spilled| {
            let mut all = Vec::new();
            let take = |edge: Edge| {
                all.push((edge.source, edge.target, edge.weight));
                Ok(())
            };
            spilled.each(take).unwrap();
            assert_eq!(all.len() as u64, spilled.edges);
            all
        };
        let part = Spilled::of(edges, &limit).unwrap().only(vec![0, GONE, 1, 2]).unwrap();
        assert_eq!(listed(&part), [(2, 0, 3.0), (1, 0, 4.0), (2, 2, 5.0)]);
        // What is gone stays so when more goes.
        let less = part.only(vec![GONE, 0, 1]).unwrap();
        assert_eq!(listed(&less), [(1, 1, 5.0)]);
    }
}
