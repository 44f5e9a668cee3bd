//! Edges as arrays, as numpy, PyG and DGL keep them and as `export` writes them: `edges.npy`, or
//! named arrays in `.npz` or `.safetensors`.
//!
//! reads     `edge_index` or `edges` of the shape (2, edges) or (edges, 2), or `source` and
//!           `target` (`src`, `dst`; `row`, `col`): numbers or words; beside them `weight`, `type`
//!           (numbers or words), `edge_attr` (a row an edge), `num_nodes`
//! promises  edges in the order of the arrays; arrays called `x`, `y`, `train_mask` and so on in
//!           the same file are what they are in one of their own (side_files.rs), all others are
//!           named in `passed_over`
//! never     guesses which extent is the edges where both are 2; takes a file `.npy` of another
//!           name for edges
//! promises  edges and their features beyond a share of the limit go to a file (out_of_core.rs) as
//!           they are read
//! limits    32 bytes an edge, and its features, as far as the limit goes; arrays of Python objects
//!           and packed safetensors files are held whole; 65,535 relations
mod edge_collector;

use crate::{
    containers::{
        npy::{
            self, Array,
            array_parts::{ArrayParts, ValueOrder},
            node_values,
        },
        npz::Npz,
        safetensors::{self, TensorFile},
    },
    detect::file_heads::FileHeads,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{EdgeFeatures, NODES_MOST, RawGraph, refuse_infinite},
    read_error::{Read, ReadError, if_sound},
    side_files::graph_file_arrays,
};
use edge_collector::{EdgeArrayTypes, EdgeArrays, EdgeCollector, EndIds, NODES, RelationTypes};
use std::path::{Path, PathBuf};

/// Edges as arrays.
pub const FORMAT: Format = Format {
    name: "arrays",
    about: "edges.npy, or edge_index or source and target in one .npz or .safetensors",
    recognise,
    read_within: |files, options, limit| read_within(expect_one_file(files)?, options, limit),
};

const BOTH: [&str; 2] = ["edge_index", "edges"];
const SOURCE: [&str; 3] = ["source", "src", "row"];
const TARGET: [&str; 3] = ["target", "dst", "col"];
const WEIGHT: [&str; 4] = ["weight", "weights", "edge_weight", "edge_weights"];
const TYPE: [&str; 2] = ["type", "edge_type"];
const FEATURES: [&str; 2] = ["edge_attr", "edge_features"];
/// Edges that are read at once.
const EDGES_AT_ONCE: usize = 1 << 18;
/// What the arrays of edges are called, for people.
const EXPECTED: &str = "edge_index or edges, or source and target";

/// The one file that is called after edges, or whose arrays are.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let is_one = |(path, name): &(&Path, &str)| match name.rsplit_once('.') {
        Some((stem, "npy")) => BOTH.contains(&stem),
        Some((stem, "npz" | "safetensors")) => {
            BOTH.contains(&stem) || says_ends(&look.sound(names_of(path)).unwrap_or_default())
        }
        _ => false,
    };
    let found: Vec<PathBuf> =
        look.files().filter(is_one).map(|(path, _)| path.to_path_buf()).collect();
    (found.len() == 1).then_some(found)
}

/// Whether arrays of these names say both ends of edges; `row` and `col` are also those of a sparse
/// matrix that stands beside a graph.
fn says_ends(names: &[String]) -> bool {
    let has = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    has(&BOTH[..1]) || has(&SOURCE[..2]) && has(&TARGET[..2])
}

/// The names of the arrays in a file.
fn names_of(path: &Path) -> Read<Vec<String>> {
    match path.to_string_lossy().ends_with(".npz") {
        true => Ok(Npz::open(path)?.names().map(str::to_owned).collect()),
        false => safetensors::read_names(path),
    }
}

/// What `arrays` reads in a file, for people: names of arrays of edges, and of those beside them.
pub const READ: &str = "edge_index or edges, or source and target; weight, type, edge_attr, \
                        num_nodes; x, y, split, train_mask, val_mask, test_mask";

/// Whether a file holds the ends of edges and more than belongs to a table of edges: this format
/// reads `x`, `y`, `num_nodes` and the like, and names what it passes over.
pub fn is_more_than_a_table(path: &Path) -> Read<bool> {
    let names = if_sound(names_of(path))?.unwrap_or_default();
    let in_table = |name: &String| {
        [&BOTH[..], &SOURCE, &TARGET, &WEIGHT, &TYPE]
            .iter()
            .any(|known| known.contains(&name.as_str()))
    };
    Ok(may_say_ends(names.iter().map(String::as_str)) && !names.iter().all(in_table))
}

/// Whether arrays of these names say both ends of edges, where it is known that they are of edges.
pub fn may_say_ends<'n>(names: impl Iterator<Item = &'n str> + Clone) -> bool {
    let has = |known: &[&str]| names.clone().any(|name| known.contains(&name));
    has(&BOTH) || has(&SOURCE) && has(&TARGET)
}

/// The arrays of a file that are not unpacked before they are asked for.
enum ArrayStore {
    One(PathBuf),
    Archive(Npz),
    Tensors(TensorFile),
    Held(Vec<(String, Array)>),
}

impl ArrayStore {
    fn open(path: &Path) -> Read<ArrayStore> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        match name
            .strip_suffix(".gz")
            .or(name.strip_suffix(".zst"))
            .unwrap_or(&name)
            .rsplit_once('.')
        {
            Some((_, "npz")) => Npz::open(path).map(ArrayStore::Archive),
            Some((_, "safetensors")) => match TensorFile::open(path)? {
                Some(tensors) => Ok(ArrayStore::Tensors(tensors)),
                None => safetensors::read_arrays(path).map(ArrayStore::Held),
            },
            _ => Ok(ArrayStore::One(path.to_path_buf())),
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            ArrayStore::One(_) => vec![BOTH[0].to_owned()],
            ArrayStore::Archive(npz) => npz.names().map(str::to_owned).collect(),
            ArrayStore::Tensors(tensors) => tensors.names(),
            ArrayStore::Held(arrays) => arrays.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// An array part by part.
    fn parts(&self, name: &str, order: ValueOrder) -> Read<ArrayParts<'_>> {
        match self {
            ArrayStore::One(path) => ArrayParts::open_file(path, order),
            ArrayStore::Archive(npz) => npz.parts_in(name, order),
            ArrayStore::Tensors(tensors) => tensors.parts(name),
            ArrayStore::Held(_) => self.array(name).map(ArrayParts::from_array),
        }
    }

    fn array(&self, name: &str) -> Read<Array> {
        match self {
            ArrayStore::One(path) => npy::read(path),
            ArrayStore::Archive(npz) => npz.array(name),
            ArrayStore::Tensors(tensors) => tensors.array(name),
            ArrayStore::Held(arrays) => {
                let found =
                    arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array.clone());
                found.ok_or_else(|| {
                    Box::new(ReadError::new(Path::new(name), "there is no tensor of this name"))
                })
            }
        }
    }
}

/// Arrays by what they are called, and which of them were taken.
struct ArrayTaker<'a> {
    store: &'a ArrayStore,
    names: Vec<String>,
    taken: Vec<String>,
}

impl<'a> ArrayTaker<'a> {
    /// The name that the first of these arrays has that is there; it is no other array's from now
    /// on.
    fn name(&mut self, known: &[&str]) -> Option<String> {
        let name =
            known.iter().find_map(|known| self.names.iter().find(|name| name == known))?.clone();
        self.taken.push(name.clone());
        Some(name)
    }

    fn array(&mut self, known: &[&str]) -> Read<Option<Array>> {
        self.name(known).map(|name| self.store.array(&name)).transpose()
    }

    fn parts(&mut self, known: &[&str]) -> Read<Option<ArrayParts<'a>>> {
        self.name(known).map(|name| self.store.parts(&name, ValueOrder::Stored)).transpose()
    }
}

/// Reads the arrays, with all edges in memory.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    read_within(path, options, &Limit::none()).map(|loaded| loaded.graph)
}

fn read_within(path: &Path, options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let store = ArrayStore::open(path)?;
    let mut arrays = ArrayTaker { names: store.names(), store: &store, taken: Vec::new() };
    let mut ends = EdgeEnds::open(path, &mut arrays)?;
    let count = ends.count();
    let nodes = arrays.array(&[NODES])?.map(|array| told_nodes(&array)).transpose()?;
    let mut weight = match options.weight.as_deref() == Some("none") {
        true => arrays.name(&WEIGHT).and(None),
        false => arrays.parts(&WEIGHT)?,
    };
    weight.iter().try_for_each(|weight| expect_edge_values(weight, count, "weights"))?;
    let mut kind = arrays.parts(&TYPE)?;
    kind.iter().try_for_each(|kind| expect_edge_values(kind, count, "types of edges"))?;
    let mut features =
        arrays.name(&FEATURES).map(|name| store.parts(&name, ValueOrder::Rows)).transpose()?;
    let width = features.as_ref().map(|rows| width_of(rows, count)).transpose()?;
    let types = kind.as_ref().map_or(RelationTypes::None, |kind| {
        if kind.is_text() { RelationTypes::Words } else { RelationTypes::Numbers }
    });
    let beside = EdgeArrayTypes { weighted: weight.is_some(), types };
    let mut gather = EdgeCollector::new(
        path,
        limit,
        nodes,
        beside,
        features.as_ref().map_or(0, ArrayParts::count),
    );
    while gather.count() < count {
        let block = EdgeArrays {
            ends: ends.next()?,
            weight: weight.as_mut().map(|weight| weight.next(EDGES_AT_ONCE)).transpose()?,
            kind: kind.as_mut().map(|kind| kind.next(EDGES_AT_ONCE)).transpose()?,
        };
        gather.take(block)?;
    }
    if let (Some(features), Some(width), true) = (&mut features, width, gather.is_in_file()) {
        let rows = (EDGES_AT_ONCE / width.max(1) as usize).max(1);
        for _ in 0..count.div_ceil(rows as u64) {
            let part = features.next(rows * width as usize)?;
            gather.take_features(width, &numbers_of(&part, width as usize)?)?;
        }
    }
    let LoadedGraph { mut graph, spilled } = gather.finish()?;
    if let (Some(features), Some(columns), None) = (features, width, &spilled) {
        graph.edges.features = Some(EdgeFeatures {
            columns,
            values: numbers_of(&features.rest()?, columns as usize)?,
        });
    }
    let known = graph.ids.clone();
    let others: Vec<&str> = arrays
        .names
        .iter()
        .filter(|name| !arrays.taken.contains(name))
        .map(String::as_str)
        .collect();
    graph_file_arrays::attach(&mut graph, path, &others, |name| store.array(name))?;
    let spilled = spilled.map(|spilled| spilled.move_to_ids(&known, &graph.ids));
    Ok(LoadedGraph { graph, spilled })
}

/// Both ends of edges, part by part.
enum EdgeEnds<'a> {
    /// A list of each.
    Apart(Box<[ArrayParts<'a>; 2]>, u64),
    /// Pairs.
    Together(Box<ArrayParts<'a>>, u64),
}

impl<'a> EdgeEnds<'a> {
    fn open(path: &Path, arrays: &mut ArrayTaker<'a>) -> Read<EdgeEnds<'a>> {
        if let Some(name) = arrays.name(&BOTH) {
            let parts = arrays.store.parts(&name, ValueOrder::Stored)?;
            let count = parts.count() / 2;
            if has_edge_rows(&parts.shape, |what| parts.error(what))? == parts.by_columns {
                return Ok(EdgeEnds::Together(Box::new(parts), count));
            }
            let mut target = arrays.store.parts(&name, ValueOrder::Stored)?;
            target.skip(count)?;
            return Ok(EdgeEnds::Apart(Box::new([parts, target]), count));
        }
        let (Some(source), Some(target)) = (arrays.parts(&SOURCE)?, arrays.parts(&TARGET)?) else {
            let error = ReadError::new(path, "the arrays do not say both ends of edges")
                .expected(EXPECTED, arrays.names.join(", "));
            return Err(Box::new(
                error.hint("write them as  numpy.savez('edges.npz', source=..., target=...)"),
            ));
        };
        for list in [&source, &target] {
            if list.shape.len() != 1 {
                let error = list
                    .error("ends of edges are not a list")
                    .expected("one extent", format!("{} extents", list.shape.len()));
                return Err(Box::new(error.hint("write a number an edge:  array.ravel()")));
            }
        }
        let count = source.count();
        expect_edge_values(&target, count, "targets")?;
        if source.is_text() != target.is_text() {
            let error =
                ReadError::new(path, "one end of the edges is numbers and the other is words")
                    .expected("numbers or words in both", "one of each");
            return Err(Box::new(error.hint("write both as words:  source.astype(str)")));
        }
        Ok(EdgeEnds::Apart(Box::new([source, target]), count))
    }

    fn count(&self) -> u64 {
        let (EdgeEnds::Apart(_, count) | EdgeEnds::Together(_, count)) = self;
        *count
    }

    /// The ends of the next edges.
    fn next(&mut self) -> Read<[EndIds; 2]> {
        match self {
            EdgeEnds::Together(both, _) => {
                let all = both.next(2 * EDGES_AT_ONCE)?.u64s()?;
                Ok([0, 1].map(|side| {
                    EndIds::Numbers(all.iter().skip(side).step_by(2).copied().collect())
                }))
            }
            EdgeEnds::Apart(ends, count) => {
                // The list of sources may go on with the targets.
                let most = EDGES_AT_ONCE.min(*count as usize);
                *count -= most as u64;
                let is_text = ends[0].is_text() && ends[0].shape.len() == 1;
                let of = |array: Array| {
                    if is_text {
                        array.words().map(EndIds::Words)
                    } else {
                        array.u64s().map(EndIds::Numbers)
                    }
                };
                let [source, target] = &mut **ends;
                Ok([of(source.next(most)?)?, of(target.next(most)?)?])
            }
        }
    }
}

/// Whether an array of ends has them in two rows, rather than two in a row.
fn has_edge_rows(shape: &[u64], error: impl Fn(&str) -> ReadError) -> Read<bool> {
    match shape {
        [2, edges] if *edges != 2 => Ok(true),
        [edges, 2] if *edges != 2 => Ok(false),
        _ => {
            let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
            let error = error("the shape of the edges does not say which extent is the two ends");
            let error = error.expected(
                "(2, edges) or (edges, 2), of other than 2 edges",
                format!("({})", shape.join(", ")),
            );
            Err(Box::new(
                error.hint("write them as  numpy.savez('edges.npz', source=..., target=...)"),
            ))
        }
    }
}

/// The two rows, or the two columns, of an array of ends.
pub fn both_ends(array: &Array) -> Read<[Vec<u64>; 2]> {
    let by_rows = has_edge_rows(&array.shape, |what| array.error(what))?;
    let mut all = array.u64s()?;
    if by_rows {
        let target = all.split_off(all.len() / 2);
        return Ok([all, target]);
    }
    Ok([0, 1].map(|side| all.iter().skip(side).step_by(2).copied().collect()))
}

fn expect_edge_values(array: &ArrayParts, edges: u64, what: &str) -> Read<()> {
    if array.count() == edges {
        return Ok(());
    }
    let error = array
        .error(format!("there are not as many {what} as sources"))
        .expected(format!("{edges}, one an edge"), array.count().to_string());
    Err(Box::new(error.hint("write all arrays of edges in one length")))
}

fn told_nodes(array: &Array) -> Read<u32> {
    let numbers = array.u64s()?;
    match numbers[..] {
        [nodes] if nodes <= NODES_MOST => Ok(nodes as u32),
        _ => Err(Box::new(
            array
                .error("this is no number of nodes")
                .expected(format!("one number, at most {NODES_MOST}"), format!("{numbers:?}")),
        )),
    }
}

/// Columns of features of edges, which have a row an edge.
fn width_of(features: &ArrayParts, edges: u64) -> Read<u32> {
    let rows = features.shape.first().copied().unwrap_or(0);
    if rows != edges {
        let error = features
            .error("an array does not have a row for each edge")
            .expected(format!("{edges} rows"), rows.to_string());
        return Err(Box::new(error.hint(node_values::ROWS_HINT)));
    }
    let width = features
        .count()
        .checked_div(edges)
        .unwrap_or_else(|| features.shape.get(1).copied().unwrap_or(1));
    let wide = || {
        Box::new(
            features
                .error("a row has too many numbers")
                .expected("at most 2^31", width.to_string()),
        )
    };
    u32::try_from(width).ok().filter(|&width| width < 1 << 31).ok_or_else(wide)
}

/// Finite numbers, so many in a row.
fn numbers_of(array: &Array, columns: usize) -> Read<Vec<f32>> {
    let (values, first) = (array.f32s()?, array.first() as usize);
    refuse_infinite(
        &values,
        |at| ((first + at) / columns.max(1), (first + at) % columns.max(1)),
        |what| array.error(what),
    )?;
    Ok(values)
}

#[cfg(test)]
pub(crate) mod tests;
