//! What tests of readers share: real data, fixtures, files that live for one call, and the tiny
//! graph.
use crate::{
    options::Options,
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{NodeIds, RawGraph},
    read_error::Read,
    readers::edge_list,
    text::grammar::{BlockSizes, SIZES},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Sizes that cut even the smallest file.
pub const CUTS: [BlockSizes; 4] = [
    SIZES,
    BlockSizes { block: 1, piece: 1 },
    BlockSizes { block: 7, piece: 3 },
    BlockSizes { block: 64, piece: 9 },
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Real data; none, with a line that says so, if it is not there.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("WARPLOOM_SHARED")
        .map_or(workspace().join("../shared"), PathBuf::from)
        .join("data")
        .join(name);
    if !path.exists() {
        println!(
            "SKIPPED: {name} because {} is not there (WARPLOOM_SHARED names its folder)",
            path.display()
        );
    }
    path.exists().then_some(path)
}

/// A file of tests/graphs.
pub fn fixture(name: &str) -> PathBuf {
    workspace().join("tests/graphs").join(name)
}

/// Reads a file of this name and contents; what comes out holds its promises.
pub fn read_written(
    name: &str,
    contents: &[u8],
    read: impl FnOnce(&Path) -> Read<RawGraph>,
) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, contents).unwrap();
    let graph = read(&path)?;
    assert_eq!(graph.validate(), Ok(()));
    Ok(graph)
}

/// Reads with all edges in memory, and with no memory for them: both ways give one graph, or one
/// error.
pub fn both_ways(read: impl Fn(&Limit) -> Read<LoadedGraph>) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let whole = read(&Limit::none()).map(held);
    let spilled = read(&Limit { memory: 0, folder: folder.path().to_path_buf() }).map(|found| {
        assert!(found.spilled.is_some() || found.graph.edges.is_empty());
        held(found)
    });
    // As text: a weight that is not a number is not equal to itself.
    assert_eq!(format!("{spilled:?}"), format!("{whole:?}"));
    whole
}

/// A graph with its edges in memory, wherever they were.
pub fn held(loaded: LoadedGraph) -> RawGraph {
    let LoadedGraph { mut graph, spilled } = loaded;
    if let Some(spilled) = spilled {
        assert!(graph.edges.is_empty());
        spilled.hold(&mut graph).unwrap();
    }
    graph
}

/// Edges by the ids of their ends, sorted; weights only if `weights`.
pub fn edges_by_id(graph: &RawGraph, weights: bool) -> Vec<(u64, u64, Option<String>)> {
    let id = |row: u32| match &graph.ids {
        NodeIds::Count(_) => u64::from(row),
        NodeIds::Numbers(ids) => ids[row as usize],
        NodeIds::Strings(_) => panic!("expected numbers"),
    };
    let weight = |at: usize| {
        graph.edges.weight.as_ref().filter(|_| weights).map(|weight| weight[at].to_string())
    };
    let mut edges: Vec<_> = (0..graph.edges.len())
        .map(|at| (id(graph.edges.source[at]), id(graph.edges.target[at]), weight(at)))
        .collect();
    edges.sort();
    edges
}

/// The edges of the tiny graph.
pub fn tiny_edges(weights: bool) -> Vec<(u64, u64, Option<String>)> {
    edges_by_id(&edge_list::read(&fixture("tiny.edges.txt"), &Options::default()).unwrap(), weights)
}

/// An error as far as tests compare it: what and where.
pub fn told(result: Read<RawGraph>) -> Result<RawGraph, String> {
    result.map_err(|error| {
        format!("{} {:?} {} {}", error.what, error.place, error.expected, error.found)
    })
}

/// The text with one byte changed, where it stays text.
pub fn changed(text: &str, at: usize, byte: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % bytes.len();
    bytes[at] = byte;
    String::from_utf8_lossy(&bytes).into_owned()
}
