//! Edges as arrays, as numpy, PyG and DGL keep them and as `export` writes them: `edges.npy`, or named arrays in `.npz` or `.safetensors`.
//!
//! reads     `edge_index` or `edges` of the shape (2, edges) or (edges, 2), or `source` and `target` (`src`, `dst`; `row`, `col`): numbers
//!           or words; beside them `weight`, `type` (numbers or words), `edge_attr` (a row an edge), `num_nodes`
//! promises  edges in the order of the arrays; arrays called `x`, `y`, `train_mask` and so on in the same file are what they are in one of
//!           their own (attach.rs), all others are named in `passed_over`
//! never     guesses which extent is the edges where both are 2; takes a file `.npy` of another name for edges
//! limits    the arrays in memory, and 32 bytes an edge beside them; 65,535 relations
use crate::{
    Format, Look, Options,
    attach::{self, inside},
    decompress::Plain,
    look::only,
    npy::{self, Array, meaning},
    npz::Npz,
    raw::{EdgeFeatures, Edges, Features, NODES_MOST, NodeIds, RawGraph, Read, ReadError},
};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Edges as arrays.
pub const FORMAT: Format = Format {
    name: "arrays",
    about: "edges.npy, or edge_index or source and target in one .npz or .safetensors",
    recognise,
    read_within: |files, options, _| Ok((read(only(files)?, options)?, None)),
};

const BOTH: [&str; 2] = ["edge_index", "edges"];
const SOURCE: [&str; 3] = ["source", "src", "row"];
const TARGET: [&str; 3] = ["target", "dst", "col"];
const WEIGHT: [&str; 4] = ["weight", "weights", "edge_weight", "edge_weights"];
const TYPE: [&str; 2] = ["type", "edge_type"];
const FEATURES: [&str; 2] = ["edge_attr", "edge_features"];
const NODES: &str = "num_nodes";
/// What the arrays of edges are called, for people.
const EXPECTED: &str = "edge_index or edges, or source and target";

/// The one file that is called after edges, or whose arrays are.
fn recognise(look: &Look) -> Option<Vec<PathBuf>> {
    let is_one = |(path, name): &(&Path, &str)| match name.rsplit_once('.') {
        Some((stem, "npy")) => BOTH.contains(&stem),
        Some((stem, "npz" | "safetensors")) => BOTH.contains(&stem) || says_ends(&names_of(path)),
        _ => false,
    };
    let found: Vec<PathBuf> = look.files().filter(is_one).map(|(path, _)| path.to_path_buf()).collect();
    (found.len() == 1).then_some(found)
}

/// Whether arrays of these names say both ends of edges; `row` and `col` are also those of a sparse matrix that stands beside a graph.
fn says_ends(names: &[String]) -> bool {
    let has = |known: &[&str]| names.iter().any(|name| known.contains(&name.as_str()));
    has(&BOTH[..1]) || has(&SOURCE[..2]) && has(&TARGET[..2])
}

/// The names of the arrays in a file; none where it cannot be read.
fn names_of(path: &Path) -> Vec<String> {
    if path.to_string_lossy().ends_with(".npz") {
        return Npz::open(path).map(|npz| npz.names().map(str::to_owned).collect()).unwrap_or_default();
    }
    attach::safetensors_names(path).unwrap_or_default()
}

/// Whether a file holds the ends of edges and more than belongs to a table of edges, all of which this format reads: `x`, `y`, `num_nodes`, ...
pub fn is_more_than_a_table(path: &Path) -> bool {
    let names = names_of(path);
    let in_table = |name: &str| [&BOTH[..], &SOURCE, &TARGET, &WEIGHT, &TYPE].iter().any(|known| known.contains(&name));
    let is_read = |name: &str| name == NODES || FEATURES.contains(&name) || attach::has_role(name);
    let further: Vec<&String> = names.iter().filter(|name| !in_table(name)).collect();
    says_ends(&names) && !further.is_empty() && further.into_iter().all(|name| is_read(name))
}

/// The arrays of a file that are not unpacked before they are asked for.
enum Store {
    One(PathBuf),
    Archive(Npz),
    Tensors(Vec<(String, Array)>),
}

impl Store {
    fn open(path: &Path) -> Read<Store> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        match name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name).rsplit_once('.') {
            Some((_, "npz")) => Npz::open(path).map(Store::Archive),
            Some((_, "safetensors")) => attach::safetensors_arrays(path).map(Store::Tensors),
            _ => Ok(Store::One(path.to_path_buf())),
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Store::One(_) => vec![BOTH[0].to_owned()],
            Store::Archive(npz) => npz.names().map(str::to_owned).collect(),
            Store::Tensors(arrays) => arrays.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    fn array(&self, name: &str) -> Read<Array> {
        match self {
            Store::One(path) => npy::parse(npy::Origin::new(path, None), Plain::open(path)?.read_all()?),
            Store::Archive(npz) => npz.array(name),
            Store::Tensors(arrays) => {
                let found = arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array.clone());
                found.ok_or_else(|| Box::new(ReadError::new(Path::new(name), "there is no tensor of this name")))
            }
        }
    }
}

/// Arrays by what they are called, and which of them were taken.
struct Taking {
    store: Store,
    names: Vec<String>,
    taken: Vec<String>,
}

impl Taking {
    /// The name that the first of these arrays has that is there; it is no other array's from now on.
    fn name(&mut self, known: &[&str]) -> Option<String> {
        let name = known.iter().find_map(|known| self.names.iter().find(|name| name == known))?.clone();
        self.taken.push(name.clone());
        Some(name)
    }

    fn array(&mut self, known: &[&str]) -> Read<Option<Array>> {
        self.name(known).map(|name| self.store.array(&name)).transpose()
    }
}

/// Reads the arrays.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    let store = Store::open(path)?;
    let mut arrays = Taking { names: store.names(), store, taken: Vec::new() };
    let ends = ends(path, &mut arrays)?;
    let count = ends[0].len();
    let nodes = arrays.array(&[NODES])?.map(|array| told_nodes(&array)).transpose()?;
    let weight = match options.weight.as_deref() == Some("none") {
        true => arrays.name(&WEIGHT).and(None),
        false => arrays.array(&WEIGHT)?,
    };
    let rounded = weight.as_ref().map(Array::rounded).transpose()?.unwrap_or_default();
    let weight = weight.map(|array| weights(path, &array, count)).transpose()?;
    let (relations, relation) = arrays.array(&TYPE)?.map(|array| relations(path, &array, count)).transpose()?.unzip();
    let features = arrays.array(&FEATURES)?.map(|array| features(&array, count)).transpose()?;
    let (ids, [source, target]) = rows(path, ends, nodes)?;
    let edges = Edges { source, target, weight, relation, features };
    let (relations, notes) = (relations.unwrap_or_default(), rounded.note("weights", "edge").into_iter().collect());
    let mut graph = RawGraph { ids, edges, relations, notes, nodes_told: nodes.is_some(), ..RawGraph::default() };
    let others: Vec<&str> = arrays.names.iter().filter(|name| !arrays.taken.contains(name)).map(String::as_str).collect();
    inside::attach(&mut graph, path, &others, |name| arrays.store.array(name))?;
    Ok(graph)
}

/// The ids at both ends, as many of each.
fn ends(path: &Path, arrays: &mut Taking) -> Read<[Ids; 2]> {
    if let Some(both) = arrays.array(&BOTH)? {
        return both_ends(&both).map(|ends| ends.map(Ids::Numbers));
    }
    let (Some(source), Some(target)) = (arrays.array(&SOURCE)?, arrays.array(&TARGET)?) else {
        let error = ReadError::new(path, "the arrays do not say both ends of edges").expected(EXPECTED, arrays.names.join(", "));
        return Err(Box::new(error.hint("write them as  numpy.savez('edges.npz', source=..., target=...)")));
    };
    let ends = [Ids::of(&source)?, Ids::of(&target)?];
    same_length(path, ends[0].len(), ends[1].len(), "targets")?;
    Ok(ends)
}

/// The two rows, or the two columns, of an array of ends.
pub fn both_ends(array: &Array) -> Read<[Vec<u64>; 2]> {
    let by_rows = match array.shape[..] {
        [2, 2] => None,
        [2, _] => Some(true),
        [_, 2] => Some(false),
        _ => None,
    };
    let Some(by_rows) = by_rows else {
        let shape: Vec<String> = array.shape.iter().map(u64::to_string).collect();
        let error = array.error("the shape of the edges does not say which extent is the two ends");
        let error = error.expected("(2, edges) or (edges, 2), of other than 2 edges", format!("({})", shape.join(", ")));
        return Err(Box::new(error.hint("write them as  numpy.savez('edges.npz', source=..., target=...)")));
    };
    let mut all = array.u64s()?;
    if by_rows {
        let target = all.split_off(all.len() / 2);
        return Ok([all, target]);
    }
    Ok([0, 1].map(|side| all.iter().skip(side).step_by(2).copied().collect()))
}

/// Ids of one end.
enum Ids {
    Numbers(Vec<u64>),
    Words(Vec<String>),
}

impl Ids {
    fn of(array: &Array) -> Read<Ids> {
        if array.shape.len() != 1 {
            let error = array.error("ends of edges are not a list").expected("one extent", format!("{} extents", array.shape.len()));
            return Err(Box::new(error));
        }
        if array.is_text() { array.words().map(Ids::Words) } else { array.u64s().map(Ids::Numbers) }
    }

    fn len(&self) -> usize {
        match self {
            Ids::Numbers(numbers) => numbers.len(),
            Ids::Words(words) => words.len(),
        }
    }
}

fn same_length(path: &Path, edges: usize, found: usize, what: &str) -> Read<()> {
    if edges == found {
        return Ok(());
    }
    Err(Box::new(ReadError::new(path, format!("there are not as many {what} as sources")).expected(edges.to_string(), found.to_string())))
}

fn told_nodes(array: &Array) -> Read<u32> {
    let numbers = array.u64s()?;
    match numbers[..] {
        [nodes] if nodes <= NODES_MOST => Ok(nodes as u32),
        _ => Err(Box::new(array.error("this is no number of nodes").expected(format!("one number, at most {NODES_MOST}"), format!("{numbers:?}")))),
    }
}

fn weights(path: &Path, array: &Array, edges: usize) -> Read<Vec<f32>> {
    same_length(path, edges, array.len(), "weights")?;
    let weights = array.f32s()?;
    match weights.iter().position(|weight| !weight.is_finite()) {
        None => Ok(weights),
        Some(at) => {
            let error = array.error(format!("the weight of edge {at} is not finite")).expected("a finite number", weights[at].to_string());
            Err(Box::new(error.hint("write finite weights, or read none:  --set ingest.weights=drop")))
        }
    }
}

/// Names of relations, ascending, numbers by value; and the relation of each edge.
fn relations(path: &Path, array: &Array, edges: usize) -> Read<(Vec<String>, Vec<u16>)> {
    same_length(path, edges, array.len(), "types of edges")?;
    fn counted<T: Ord + Clone>(of_edge: &[T]) -> (Vec<T>, Vec<usize>) {
        let mut names = of_edge.to_vec();
        names.sort_unstable();
        names.dedup();
        let places = of_edge.iter().map(|name| names.partition_point(|known| known < name)).collect();
        (names, places)
    }
    let (names, places) = if array.is_text() {
        counted(&array.words()?)
    } else {
        let (numbers, places) = counted(&array.i64s()?);
        (numbers.iter().map(i64::to_string).collect(), places)
    };
    if names.len() > usize::from(u16::MAX) {
        let error = array.error("the edges have too many relations").expected(format!("at most {}", u16::MAX), names.len().to_string());
        return Err(Box::new(error.hint("is this array the type of the edges?  leave it out, or give it another name")));
    }
    Ok((names, places.into_iter().map(|place| place as u16).collect()))
}

fn features(array: &Array, edges: usize) -> Read<EdgeFeatures> {
    meaning::expect_rows_of(array, edges, "edge")?;
    let features = meaning::features(array)?;
    Ok(EdgeFeatures { columns: features.columns(), values: Features::into_dense(features, edges) })
}

/// The nodes, and both ends by row.
fn rows(path: &Path, ends: [Ids; 2], nodes: Option<u32>) -> Read<(NodeIds, [Vec<u32>; 2])> {
    match (ends, nodes) {
        ([Ids::Numbers(source), Ids::Numbers(target)], Some(nodes)) => {
            let below = |ids: &[u64], what: &str| match ids.iter().position(|&id| id >= u64::from(nodes)) {
                None => Ok(ids.iter().map(|&id| id as u32).collect()),
                Some(at) => {
                    let error = ReadError::new(path, format!("the {what} of edge {at} is beyond `{NODES}`"));
                    Err(Box::new(error.expected(format!("a node below {nodes}"), ids[at].to_string())))
                }
            };
            Ok((NodeIds::Count(nodes), [below(&source, "source")?, below(&target, "target")?]))
        }
        ([Ids::Numbers(source), Ids::Numbers(target)], None) => {
            let all = distinct(path, source.par_iter().chain(&target).copied().collect())?;
            let row = |id: &u64| all.partition_point(|known| known < id) as u32;
            let ends = [source.par_iter().map(row).collect(), target.par_iter().map(row).collect()];
            Ok((NodeIds::from_ascending(all), ends))
        }
        ([Ids::Words(source), Ids::Words(target)], None) => {
            let all = distinct(path, source.iter().chain(&target).collect::<Vec<_>>())?;
            let row = |id: &String| all.partition_point(|known| *known < id) as u32;
            let ends = [source.par_iter().map(row).collect(), target.par_iter().map(row).collect()];
            Ok((NodeIds::Strings(all.into_iter().cloned().collect()), ends))
        }
        ([Ids::Words(_), Ids::Words(_)], Some(_)) => {
            let error = ReadError::new(path, format!("nodes have words for ids, and `{NODES}` counts them"));
            Err(Box::new(error.hint(format!("leave `{NODES}` out, or write whole numbers from 0"))))
        }
        _ => {
            let error = ReadError::new(path, "one end of the edges is numbers and the other is words").expected("numbers or words in both", "one of each");
            Err(Box::new(error.hint("write both as words:  source.astype(str)")))
        }
    }
}

/// Ascending, each once.
fn distinct<T: Ord + Send>(path: &Path, mut ids: Vec<T>) -> Read<Vec<T>> {
    ids.par_sort_unstable();
    ids.dedup();
    if ids.len() as u64 > NODES_MOST {
        let error = ReadError::new(path, "the graph has too many nodes").expected(format!("at most {NODES_MOST}"), ids.len().to_string());
        return Err(Box::new(error));
    }
    Ok(ids)
}

#[cfg(test)]
mod tests;
