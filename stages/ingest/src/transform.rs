//! transform: from listed edges to those of the artifact: self loops, reverses, duplicates, order.
//!
//! order     1. self loops are removed (drop, replace)
//!           2. reverses are added (symmetrize)
//!           3. duplicates are merged (duplicates)
//!           4. self loops are added (add, replace)
//!           5. edges are sorted by (source, target, relation), duplicates in file order
//!           Reverses come before duplicates, so that a weight listed as `u v 1`, `v u 1`, `u v 2`
//!           sums to 3 in both directions.
//! promises  the same edges for any number of threads; O(E); a set that lists every edge in both
//!           directions gets no reverse and no doubled weight
//! relations only edges of equal source, target and relation are duplicates; a reverse has the
//!           relation of its edge
//! features  a reverse has those of its edge, a merged edge those of the first in the file, an
//!           added self loop zeros
//! never     renumbers a node; changes the weight of an edge that is not merged
//! limits    33 bytes for each edge at the peak, input and result included; 50 with weights
//!           (measured on 4.9 M edges, symmetrize and merge)
pub mod external_sort;
mod repeats;
pub(crate) mod sort;
mod symmetrize;

use rayon::prelude::*;
use sort::{EdgePayload, Ends, Layout, PIECE_EDGES, SortedEdges};
pub(crate) use sort::{ListedEdge, NOT_LISTED};
use warploom_contract::progress::Advance;
use warploom_formats::raw_graph::{EdgeFeatures, Edges};

/// Options of the transform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Add reverses until both directions of every pair have equally many edges.
    pub symmetrize: bool,
    /// What becomes of edges from a node to itself.
    pub self_loops: SelfLoops,
    /// What becomes of edges with the same source and target.
    pub duplicates: Duplicates,
}

/// What becomes of edges from a node to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// Keep self loops as listed.
    #[default]
    Keep,
    /// Remove self loops.
    Drop,
    /// Keep self loops, and add one of weight 1 to each node without one.
    Add,
    /// Replace self loops by one of weight 1 at each node.
    Replace,
}

/// What becomes of edges with the same source and target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Keep duplicates.
    #[default]
    Keep,
    /// Merge duplicates; weights are summed.
    Merge,
    /// Merge duplicates; weights are summed, and in an unweighted graph the multiplicity is the
    /// weight.
    Sum,
    /// Merge duplicates with the smallest weight.
    Min,
    /// Merge duplicates with the largest weight.
    Max,
    /// Merge duplicates with the first listed weight.
    First,
}

/// The edges of the artifact, with counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformedEdges {
    /// Sorted by (source, target, relation), duplicates in file order.
    pub edges: Edges,
    /// Counts of the edges as listed.
    pub counts: Counts,
}

/// Why edges cannot be transformed as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformError {
    /// Nodes and relations exceed the 64 bits of a key.
    TooMany {
        /// Nodes.
        nodes: u32,
        /// Relations.
        relations: usize,
    },
    /// Self loops were requested, and edges have relations: an added loop would have none.
    LoopOfNoRelation,
    /// More edges with features than 2^32 - 2.
    TooManyWithFeatures,
}

/// Counts of the edges as listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub listed: u64,
    /// Distinct (source, target, relation), self loops included.
    pub distinct: u64,
    /// Distinct self loops.
    pub loops: u64,
    /// Distinct pairs once every edge has its reverse, self loops counted once; known only if
    /// reverses were added.
    pub symmetric: Option<u64>,
}

/// Most passes over all edges: `transform_with_progress` reports each edge so often.
pub fn passes(options: &Options) -> u64 {
    let merging = u64::from(options.duplicates != Duplicates::Keep);
    let of_loops = u64::from(options.self_loops != SelfLoops::Keep);
    sort::PASSES + if options.symmetrize { sort::PASSES + 1 } else { 0 } + merging + of_loops
}

/// Applies the options to the edges of a graph with `nodes` nodes and, if edges have any,
/// `relations` relations.
pub fn transform(
    edges: Edges,
    nodes: u32,
    relations: usize,
    options: &Options,
) -> Result<TransformedEdges, TransformError> {
    transform_with_progress(edges, nodes, relations, options, &|_| {})
}

/// `transform` with progress; reports edges in each pass.
pub fn transform_with_progress(
    edges: Edges,
    nodes: u32,
    relations: usize,
    options: &Options,
    advance: Advance<'_>,
) -> Result<TransformedEdges, TransformError> {
    let layout = key_layout(nodes, relations, edges.relation.is_some(), options)?;
    let Edges { source, target, weight, relation, features } = edges;
    let typed = relation.is_some();
    if features.is_some() && source.len() >= NOT_LISTED as usize {
        return Err(TransformError::TooManyWithFeatures);
    }
    // The multiplicity of an unweighted edge is a sum of ones.
    let weight = if options.duplicates == Duplicates::Sum && weight.is_none() {
        Some(vec![1.0; source.len()])
    } else {
        weight
    };
    let count = source.len();
    let ends = Ends { source, target, relation };
    let (edges, counts) = match (features, weight) {
        (None, None) => {
            let ((edges, _), counts) = apply_options(
                SortedEdges::new(ends, vec![(); count], layout, nodes, advance),
                typed,
                options,
                advance,
            );
            (edges, counts)
        }
        (None, Some(weight)) => {
            let ((edges, weight), counts) = apply_options(
                SortedEdges::new(ends, weight, layout, nodes, advance),
                typed,
                options,
                advance,
            );
            (Edges { weight: Some(weight), ..edges }, counts)
        }
        (Some(features), weight) => {
            let listed = |at: usize| ListedEdge {
                weight: weight.as_ref().map_or(1.0, |weight| weight[at]),
                at: at as u32,
            };
            let carried = (0..count).map(listed).collect();
            let ((edges, listed), counts) = apply_options(
                SortedEdges::new(ends, carried, layout, nodes, advance),
                typed,
                options,
                advance,
            );
            let weight = weight.map(|_| listed.iter().map(|listed| listed.weight).collect());
            (Edges { weight, features: Some(gather_features(&features, &listed)), ..edges }, counts)
        }
    };
    Ok(TransformedEdges { edges, counts })
}

/// The key layout of the edges, if the options can be applied; `typed`: edges have relations.
pub(crate) fn key_layout(
    nodes: u32,
    relations: usize,
    typed: bool,
    options: &Options,
) -> Result<Layout, TransformError> {
    let layout =
        Layout::new(nodes, relations).ok_or(TransformError::TooMany { nodes, relations })?;
    if typed && matches!(options.self_loops, SelfLoops::Add | SelfLoops::Replace) {
        return Err(TransformError::LoopOfNoRelation);
    }
    Ok(layout)
}

/// Applies the steps of the transform in order.
fn apply_options<C: EdgePayload>(
    mut sorted: SortedEdges<C>,
    typed: bool,
    options: &Options,
    advance: Advance<'_>,
) -> ((Edges, Vec<C>), Counts) {
    let listed = sorted.keys.len() as u64;
    let (distinct, loops) = sorted.count();
    if matches!(options.self_loops, SelfLoops::Drop | SelfLoops::Replace) && loops > 0 {
        sorted = repeats::drop_loops(sorted, advance);
    }
    let mut symmetric = None;
    if options.symmetrize {
        sorted = symmetrize::symmetrize(sorted, advance);
        let dropped = if matches!(options.self_loops, SelfLoops::Drop | SelfLoops::Replace) {
            loops
        } else {
            0
        };
        symmetric = Some(sorted.count().0 + dropped);
    }
    sorted = repeats::join_repeats(sorted, options.duplicates, advance);
    if matches!(options.self_loops, SelfLoops::Add | SelfLoops::Replace) {
        sorted = repeats::add_loops(sorted);
    }
    (sorted.into_edges(typed), Counts { listed, distinct, loops, symmetric })
}

/// Edge features in the new edge order.
fn gather_features(features: &EdgeFeatures, listed: &[ListedEdge]) -> EdgeFeatures {
    let columns = features.columns as usize;
    let mut values = vec![0.0; listed.len() * columns];
    if columns > 0 {
        values
            .par_chunks_mut(columns)
            .zip(listed)
            .with_min_len(PIECE_EDGES / columns + 1)
            .for_each(|(row, listed)| {
                if listed.at != NOT_LISTED {
                    row.copy_from_slice(
                        &features.values[listed.at as usize * columns..][..columns],
                    );
                }
            });
    }
    EdgeFeatures { columns: features.columns, values }
}

/// Only adds reverses, to edges without relations.
pub fn symmetrize(edges: Edges, nodes: u32) -> Edges {
    transform_plain(edges, nodes, true)
}

/// Only sorts edges without relations by (source, target); duplicates stay in file order.
pub fn sort(edges: Edges, nodes: u32) -> Edges {
    transform_plain(edges, nodes, false)
}

fn transform_plain(edges: Edges, nodes: u32, symmetrize: bool) -> Edges {
    // Without relations any number of nodes fits a key.
    transform(edges, nodes, 0, &Options { symmetrize, ..Options::default() })
        .map(|transformed| transformed.edges)
        .unwrap_or_default()
}

/// CSR offsets of edges sorted by source: `nodes + 1` numbers.
pub fn offsets(source: &[u32], nodes: u32) -> Vec<u64> {
    (0..u64::from(nodes) + 1)
        .into_par_iter()
        .map(|node| source.partition_point(|&source| u64::from(source) < node) as u64)
        .collect()
}

#[cfg(test)]
mod tests;
