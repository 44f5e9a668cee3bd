//! components: connected components, and diagonal blocks of the adjacency matrix.
//!
//! promises  exact
//! limits    O(edges) time, 8 bytes for each node
use rayon::prelude::*;
use warploom_contract::kinds::{csr::Rows, profile::BlockFigures};

/// Least number of blocks of a block diagonal graph.
const BLOCKS_MIN: u64 = 8;
/// One of this many edges may be too far from the diagonal.
const EDGES_PER_STRAY: u128 = 100;

/// Weakly connected components: their number, and the nodes of the largest. Union-find by smaller
/// id with path halving.
pub fn components(rows: Rows<'_>) -> (u64, u64) {
    let nodes = rows.len();
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    let find = |parent: &mut Vec<u32>, mut node: u32| {
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    };
    for node in 0..nodes {
        for &neighbour in rows.row(node) {
            let (a, b) = (find(&mut parent, node as u32), find(&mut parent, neighbour));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut sizes = vec![0u32; nodes];
    for node in 0..nodes as u32 {
        let root = find(&mut parent, node);
        sizes[root as usize] += 1;
    }
    (
        sizes.iter().filter(|&&size| size > 0).count() as u64,
        sizes.iter().copied().max().unwrap_or(0).into(),
    )
}

/// The longest edge span in the first bins that hold 99 of 100 edges.
pub fn near_span(spans: &[u64]) -> u64 {
    let edges: u128 = spans.iter().map(|&count| u128::from(count)).sum();
    let mut held = 0;
    for (bin, &count) in spans.iter().enumerate() {
        held += u128::from(count);
        if (edges - held) * EDGES_PER_STRAY <= edges {
            return if bin == 0 { 0 } else { u64::MAX >> (64 - bin) };
        }
    }
    u64::MAX
}

/// Runs of consecutive nodes without an edge between runs; edges with a span above `near` are
/// ignored.
pub fn diagonal_blocks(incoming: Rows<'_>, outgoing: Rows<'_>, near: u64) -> BlockFigures {
    let nodes = incoming.len();
    let reach_of = |node: usize| {
        let seen = |other: &&u32| u64::from(**other).abs_diff(node as u64) <= near;
        let far = |rows: Rows<'_>| rows.row(node).iter().filter(seen).max().map_or(0, |&far| far);
        far(incoming).max(far(outgoing)).max(node as u32)
    };
    let reaches: Vec<u32> =
        (0..nodes).into_par_iter().with_min_len(1 << 12).map(reach_of).collect();
    let (mut count, mut largest, mut start, mut reach) = (0, 0, 0, 0);
    for (node, &far) in (0..).zip(&reaches) {
        reach = reach.max(far);
        if reach == node {
            count += 1;
            largest = largest.max(u64::from(node) + 1 - start);
            start = u64::from(node) + 1;
        }
    }
    BlockFigures {
        count,
        largest,
        diagonal: count >= BLOCKS_MIN && largest * BLOCKS_MIN <= nodes as u64,
    }
}
