//! From the edges as listed to the edges of the artifact: self loops, reverses, repeats, order.
//!
//! order     1. self loops are taken out (drop, replace)   2. reverses are added (symmetrize)   3. repeats are joined (duplicates)
//!           4. self loops are put in (add, replace) 5. edges are sorted by (source, target,
//!              relation), repeats in the order of the file
//!           Reverses come before repeats are joined, so that a weight listed as `u v 1`, `v u 1`,
//!           `u v 2` sums to 3 in both directions.
//! promises  the same edges for any number of threads; O(E); a set that lists every edge in both
//!           directions gets no reverse and no doubled weight
//! relations an edge is another one under another relation: only equal source, target and relation
//! are repeats, and a reverse has
//!           the relation of its edge
//! features  a reverse has those of its edge, a joined edge those of the first in the file, an
//!           added self loop zeros
//! never     renumbers a node; changes the weight of an edge that is not joined with another
//! limits    33 bytes an edge at the peak, input and result included; 50 with weights (measured on
//!           4.9 M edges, symmetrize and merge)
pub mod external_sort;
mod repeats;
pub(crate) mod sort;
mod symmetrize;

use rayon::prelude::*;
use sort::{EdgePayload, Ends, Layout, PIECE_EDGES, SortedEdges};
pub(crate) use sort::{ListedEdge, NOT_LISTED};
use warploom_contract::progress::Advance;
use warploom_formats::raw_graph::{EdgeFeatures, Edges};

/// What to do with the listed edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Add reverses until both directions of every pair hold as many edges.
    pub symmetrize: bool,
    /// What becomes of edges from a node to itself.
    pub self_loops: SelfLoops,
    /// What becomes of edges with the same source and target.
    pub duplicates: Duplicates,
}

/// What becomes of edges from a node to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// They stay as listed.
    #[default]
    Keep,
    /// They go.
    Drop,
    /// They stay, and a node without one gets one of weight 1.
    Add,
    /// They go, and every node gets one of weight 1.
    Replace,
}

/// What becomes of edges with the same source and target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// They stay side by side.
    #[default]
    Keep,
    /// They become one edge; weights are summed.
    Merge,
    /// They become one edge; weights are summed, and a graph without weights gets how many there
    /// were.
    Sum,
    /// They become one edge with the smallest weight.
    Min,
    /// They become one edge with the largest weight.
    Max,
    /// They become one edge with the weight that was listed first.
    First,
}

/// The edges of the artifact and what was counted on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformedEdges {
    /// Sorted by (source, target, relation), repeats in the order of the file.
    pub edges: Edges,
    /// Counts of the edges as listed.
    pub counts: Counts,
}

/// Why edges cannot be transformed as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformError {
    /// Nodes and relations do not fit the 64 bits of a key.
    TooMany {
        /// Nodes.
        nodes: u32,
        /// Relations.
        relations: usize,
    },
    /// Self loops were to be added, and edges have relations: it would belong to none.
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

/// How often all edges are gone through, at most: so often `transform_with_progress` reports each.
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

/// The same; reports edges in each pass.
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
    // How often an edge stands in a list without weights is a sum of ones.
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

/// The key of edges that the options can be applied to; `typed`: they have relations.
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

/// The steps in their order.
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

/// The features of edges in their new order.
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

/// Adds reverses alone, to edges without relations: `transform` with nothing else asked.
pub fn symmetrize(edges: Edges, nodes: u32) -> Edges {
    transform_plain(edges, nodes, true)
}

/// Sorts by (source, target) alone, edges without relations, repeats in the order of the file.
pub fn sort(edges: Edges, nodes: u32) -> Edges {
    transform_plain(edges, nodes, false)
}

fn transform_plain(edges: Edges, nodes: u32, symmetrize: bool) -> Edges {
    // Any number of nodes fits a key when there are no relations.
    transform(edges, nodes, 0, &Options { symmetrize, ..Options::default() })
        .map(|transformed| transformed.edges)
        .unwrap_or_default()
}

/// Where the edges of each source begin, for edges sorted by source: `nodes + 1` numbers.
pub fn offsets(source: &[u32], nodes: u32) -> Vec<u64> {
    (0..u64::from(nodes) + 1)
        .into_par_iter()
        .map(|node| source.partition_point(|&source| u64::from(source) < node) as u64)
        .collect()
}

#[cfg(test)]
mod tests;
