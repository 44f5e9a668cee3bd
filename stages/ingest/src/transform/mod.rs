//! From the edges as listed to the edges of the artifact: self loops, reverses, repeats, order.
//!
//! order     1. self loops are taken out (drop, replace)   2. reverses are added (symmetrize)   3. repeats are joined (duplicates)
//!           4. self loops are put in (add, replace)       5. edges are sorted by (source, target), repeats in the order of the file
//!           Reverses come before repeats are joined, so that a weight listed as `u v 1`, `v u 1`, `u v 2` sums to 3 in both directions.
//! promises  the same edges for any number of threads; O(E); a set that lists every edge in both directions gets no reverse and no doubled weight
//! never     renumbers a node; changes the weight of an edge that is not joined with another
//! limits    33 bytes an edge at the peak, input and result included; 50 with weights (measured on 4.9 M edges, symmetrize and merge)
mod repeats;
pub(crate) mod sort;
mod symmetrize;

use rayon::prelude::*;
use sort::Sorted;
use warploom_formats::raw::Edges;

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
    /// They become one edge; weights are summed, and a graph without weights gets how many there were.
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
pub struct Transformed {
    /// Sorted by (source, target), repeats in the order of the file.
    pub edges: Edges,
    /// Counts of the edges as listed.
    pub counts: Counts,
}

/// Counts of the edges as listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub listed: u64,
    /// Distinct (source, target) pairs, self loops included.
    pub distinct: u64,
    /// Nodes with a self loop.
    pub loops: u64,
    /// Distinct pairs once every edge has its reverse, self loops counted once; known only if reverses were added.
    pub symmetric: Option<u64>,
}

/// Applies the options to the edges of a graph with `nodes` nodes.
pub fn transform(edges: Edges, nodes: u32, options: &Options) -> Transformed {
    let listed = edges.len() as u64;
    let mut sorted = Sorted::new(edges, nodes);
    let (distinct, loops) = sorted.count();
    if matches!(options.self_loops, SelfLoops::Drop | SelfLoops::Replace) && loops > 0 {
        sorted = repeats::drop_loops(sorted);
    }
    let mut symmetric = None;
    if options.symmetrize {
        sorted = symmetrize::symmetrize(sorted);
        let dropped = if matches!(options.self_loops, SelfLoops::Drop | SelfLoops::Replace) { loops } else { 0 };
        symmetric = Some(sorted.count().0 + dropped);
    }
    sorted = repeats::join(sorted, options.duplicates);
    if matches!(options.self_loops, SelfLoops::Add | SelfLoops::Replace) {
        sorted = repeats::add_loops(sorted);
    }
    Transformed { edges: sorted.into_edges(), counts: Counts { listed, distinct, loops, symmetric } }
}

/// Adds reverses alone: `transform` with nothing else asked.
pub fn symmetrize(edges: Edges, nodes: u32) -> Edges {
    transform(edges, nodes, &Options { symmetrize: true, ..Options::default() }).edges
}

/// Sorts by (source, target) alone, repeats in the order of the file.
pub fn sort(edges: Edges, nodes: u32) -> Edges {
    Sorted::new(edges, nodes).into_edges()
}

/// Where the edges of each source begin, for edges sorted by source: `nodes + 1` numbers.
pub fn offsets(source: &[u32], nodes: u32) -> Vec<u64> {
    (0..u64::from(nodes) + 1).into_par_iter().map(|node| source.partition_point(|&source| u64::from(source) < node) as u64).collect()
}

#[cfg(test)]
mod tests;
