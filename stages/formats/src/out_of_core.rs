//! Edges that do not fit the memory that may be used: kept in a nameless file until they are
//! sorted.
//!
//! promises  edges come back in the order of the file that was read, as rows; the nameless file
//!           goes with the process
//! promises  a quarter of `Limit::memory` for edges, beside what belongs to the nodes and a few
//!           blocks of the file that is read
//! promises  features of edges are rows of a second nameless file, by the place of their edge in
//!           the list
mod edge_file;
mod edge_sink;
mod id_rows;
mod limit;
mod original_ids;

pub use edge_file::{Edge, FeatureRows, Spilled};
pub(crate) use edge_sink::EdgeSink;
pub(crate) use id_rows::rows_among;
pub use limit::{Limit, memory_for};
pub(crate) use original_ids::{EdgeAttributes, OriginalIds};

use crate::{
    raw_graph::{Edges, RawGraph},
    read_error::{Read, ReadError},
};
use std::path::Path;

/// The largest whole number up to which f32 holds all of them.
const EXACT_MOST: f32 = 16_777_216.0;

/// What a reader gives.
#[derive(Debug)]
pub struct LoadedGraph {
    /// The graph; without edges where these are in a file.
    pub graph: RawGraph,
    /// The edges, where they are in a file.
    pub spilled: Option<Spilled>,
}

impl LoadedGraph {
    /// A graph with all edges in memory.
    pub fn held(graph: RawGraph) -> LoadedGraph {
        LoadedGraph { graph, spilled: None }
    }
}

/// Hands over every edge of a graph, wherever its edges are, with its place in the list.
pub(crate) fn for_each_edge(
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
pub(crate) fn find_edge(
    held: &Edges,
    spilled: Option<&Spilled>,
    mut is: impl FnMut(Edge) -> bool,
) -> Read<Option<(u64, Edge)>> {
    let mut found = None;
    for_each_edge(held, spilled, |at, edge| {
        if found.is_none() && is(edge) {
            found = Some((at, edge));
        }
    })?;
    Ok(found)
}

/// Whether every edge is listed as often as its reverse, by sums of hashes: of edges listed
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
    for_each_edge(held, spilled, |_, edge| {
        there = there.wrapping_add(hash(edge.source, edge.target));
        back = back.wrapping_add(hash(edge.target, edge.source));
    })?;
    Ok(there == back)
}

/// Formats whose reader does not tell itself which weights are rounded, and where: it has no words
/// of them, or no place.
const TOLD_BY_SIZE: [&str; 1] = ["ogb"];

/// Tells of weights that f32 may not hold as the files of this format have them.
pub fn note_large_weights(format: &str, loaded: &mut LoadedGraph) -> Read<()> {
    let LoadedGraph { graph, spilled } = loaded;
    let weighted =
        graph.edges.weight.is_some() || spilled.as_ref().is_some_and(|spilled| spilled.weighted);
    if !weighted || !TOLD_BY_SIZE.contains(&format) {
        return Ok(());
    }
    let (mut count, mut first) = (0u64, 0);
    for_each_edge(&graph.edges, spilled.as_ref(), |at, edge| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_graph::{EdgeFeatures, NodeIds};
    use id_rows::GONE;

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
        let mut held = LoadedGraph::held(RawGraph { edges: edges.clone(), ..bare.clone() });
        let spilled = Some(Spilled::write_edges(edges, &limit).unwrap());
        let mut spilled = LoadedGraph { graph: bare, spilled };
        for found in [&mut held, &mut spilled] {
            note_large_weights("edge_list", found).unwrap();
            assert_eq!(found.graph.notes, Vec::<String>::new());
            note_large_weights("ogb", found).unwrap();
            assert_eq!(found.graph.notes, told);
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
            let (format, files) = crate::detect::detect(folder.path(), &[path]).unwrap();
            for limit in [Limit::none(), Limit { memory: 0, folder: folder.path().to_path_buf() }] {
                let mut found = (format.read_within)(&files, &Default::default(), &limit).unwrap();
                note_large_weights(format.name, &mut found).unwrap();
                let wanted = format!(
                    "2 weights are whole numbers above 16777216 that f32 does not hold, and were \
                     rounded to 24 bits; the first is in {place}"
                );
                assert_eq!(found.graph.notes, [wanted], "{name}");
                let unread =
                    crate::options::Options { weight: Some("none".into()), ..Default::default() };
                assert_eq!(
                    (format.read_within)(&files, &unread, &limit).unwrap().graph.notes,
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
        let spilled = Spilled::write_edges(edges.clone(), &limit).unwrap();
        assert_eq!(spilled.bytes(), edges.bytes());
        let held = |spilled: &Spilled| {
            let mut graph = RawGraph::default();
            spilled.hold(&mut graph).unwrap();
            graph.edges
        };
        assert_eq!(held(&spilled), edges);
        assert_eq!(
            held(&spilled.keep_nodes(vec![0, GONE, 1]).unwrap()).features,
            features(&all[4..])
        );
        let mut bare =
            Spilled::write_edges(Edges { features: None, ..edges.clone() }, &limit).unwrap();
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
        let part =
            Spilled::write_edges(edges, &limit).unwrap().keep_nodes(vec![0, GONE, 1, 2]).unwrap();
        assert_eq!(listed(&part), [(2, 0, 3.0), (1, 0, 4.0), (2, 2, 5.0)]);
        // What is gone stays so when more goes.
        let less = part.keep_nodes(vec![GONE, 0, 1]).unwrap();
        assert_eq!(listed(&less), [(1, 1, 5.0)]);
    }
}
