//! Edges in a nameless file, while they are written and when they come back.
//!
//! promises  edges come back in the order of the file that was read, as rows; the nameless file
//!           goes with the process
use super::{
    id_rows::{GONE, IdRows, rows_among},
    limit::Limit,
};
use crate::{
    raw_graph::{EdgeFeatures, Edges, NodeIds, RawGraph},
    read_error::{Read, ReadError},
};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read as _, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Bytes that are written and read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// Edges that come back at once.
const BLOCK_EDGES: usize = 1 << 16;

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

/// Edges that are being written.
pub(super) struct EdgeWriter {
    pub(super) folder: PathBuf,
    pub(super) file: BufWriter<File>,
    pub(super) blocks: Vec<EdgeBlock>,
    pub(super) edges: u64,
    pub(super) features: Option<(u32, BufWriter<File>)>,
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
pub(super) struct EdgeBlock {
    /// Ends are of 64 bits rather than 32.
    wide: bool,
    weighted: bool,
    typed: bool,
    edges: usize,
}

impl EdgeWriter {
    pub(super) fn new(limit: &Limit) -> Read<EdgeWriter> {
        let file = tempfile::tempfile_in(&limit.folder)
            .map_err(|error| unwritten(&limit.folder, &error))?;
        Ok(EdgeWriter {
            folder: limit.folder.clone(),
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            blocks: Vec::new(),
            edges: 0,
            features: None,
        })
    }

    pub(super) fn write_rows(&mut self, edges: &Edges) -> Read<()> {
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
    pub(super) fn write_features(&mut self, columns: u32, values: &[f32]) -> Read<()> {
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
    pub(super) fn write(
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
            let block = EdgeBlock {
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

    pub(super) fn finish(self, rows: IdRows) -> Read<Spilled> {
        let EdgeWriter { folder, file, blocks, edges, features } = self;
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
pub(super) fn unwritten(folder: &Path, error: &io::Error) -> Box<ReadError> {
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
    blocks: Vec<EdgeBlock>,
    pub(super) skip_first: bool,
    rows: IdRows,
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
    pub fn write_edges(edges: Edges, limit: &Limit) -> Read<Spilled> {
        let mut spill = EdgeWriter::new(limit)?;
        spill.write_rows(&edges)?;
        spill.finish(IdRows::Same)
    }

    /// Gives the edges features, a row each in the order of the list.
    pub(crate) fn set_features(&mut self, features: &EdgeFeatures) -> Read<()> {
        let mut spill = EdgeWriter::new(&Limit { memory: 0, folder: self.folder.clone() })?;
        spill.write_features(features.columns, &features.values)?;
        self.features = spill.finish(IdRows::Same)?.features;
        Ok(())
    }

    /// Bytes that the edges would take in memory.
    pub fn bytes(&self) -> u64 {
        let features = self.features.as_ref().map_or(0, |features| features.width() as u64);
        self.edges * (8 + 4 * u64::from(self.weighted) + 2 * u64::from(self.typed) + features)
    }

    /// The edges of all relations but this one, which is taken out of the count of relations.
    pub fn without_relation(mut self, relation: u16) -> Read<Spilled> {
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
    pub fn move_to_ids(self, known: &NodeIds, ids: &NodeIds) -> Spilled {
        if known == ids {
            return self;
        }
        let rows = rows_among(known, ids);
        self.with_rows(rows.into_iter().zip(0..).map(|(row, known)| row.unwrap_or(known)).collect())
    }

    /// The same edges; what was row i is `rows[i]`.
    pub(crate) fn with_rows(mut self, rows: Vec<u32>) -> Spilled {
        self.rows = IdRows::Moved(Box::new(self.rows), rows);
        self
    }

    /// The edges between nodes that stay; what was row i is `rows[i]`, and `u32::MAX` for a node
    /// that goes.
    pub fn keep_nodes(mut self, rows: Vec<u32>) -> Read<Spilled> {
        self.has_gone |= rows.contains(&GONE);
        self.with_rows(rows).counted()
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
        let result =
            for_each_stored(&self.file, &self.blocks, |source, target, relation, weight| {
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
                let (source, target) = (self.rows.row_of(source), self.rows.row_of(target));
                if self.has_gone && (source == GONE || target == GONE) {
                    return Ok(());
                }
                take(Edge { source, target, relation, weight, at })
            });
        result.map_err(|error| unwritten(&self.folder, &error))
    }
}

/// All edges as they stand in the file.
pub(super) fn for_each_stored(
    mut file: &File,
    blocks: &[EdgeBlock],
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
