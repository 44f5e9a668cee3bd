//! graph_inputs: graphs with everything that breaks kernels, and numbers for them from a counter.
use warploom_cpu::random::philox4x32;

use crate::graphs::{EdgeList, degenerate_graphs, disjoint_union, heavy_row};

/// Number `index` of stream `stream`, in [0, 1).
pub fn uniform(stream: u32, index: usize) -> f64 {
    f64::from(philox4x32::<10>([index as u32, (index >> 32) as u32, stream, 0], [17, 4])[0])
        / 4_294_967_296.0
}

/// Numbers in [-1, 1).
pub fn signed(stream: u32, count: usize) -> Vec<f64> {
    (0..count).map(|index| 2.0 * uniform(stream, index) - 1.0).collect()
}

/// Random edges, skewed at both ends.
pub fn random(name: &'static str, nodes: usize, edges: usize, stream: u32) -> EdgeList {
    let end = |index: usize| {
        let draw = uniform(stream, index);
        ((draw * draw * nodes as f64) as u32).min(nodes as u32 - 1)
    };
    EdgeList::new(name, nodes, (0..edges).map(|edge| (end(2 * edge), end(2 * edge + 1))))
}

/// The degenerate ones, one with a heavy row, and a random one.
pub fn all_graphs() -> Vec<EdgeList> {
    let mut graphs = degenerate_graphs();
    graphs.extend([heavy_row(), random("random", 300, 2500, 5)]);
    graphs
}

/// The small ones side by side, with a heavy row of its own and random edges: one graph with every
/// kind of row.
pub fn medley() -> EdgeList {
    let inward = (0..400).map(|edge| (edge * 7 % 30, 29));
    let heavy = EdgeList::new("small_heavy_row", 30, inward.chain((0..30).map(|edge| (29, edge))));
    let small = degenerate_graphs().into_iter().filter(|graph| graph.nodes < 37);
    disjoint_union("medley", small.chain([heavy, random("random", 40, 200, 6)]))
}
