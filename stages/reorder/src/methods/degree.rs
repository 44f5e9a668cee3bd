//! By degree, falling unless told otherwise, ties in the old order: often read rows lie together, and heavy rows start first.
//!
//! limits    O(nodes log nodes), one stable sort; 12 bytes a node
use rayon::prelude::*;

/// The old number of each new one.
pub fn order(degrees: &[u64], ascending: bool) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..degrees.len() as u32).collect();
    match ascending {
        true => nodes.par_sort_by_key(|&node| degrees[node as usize]),
        false => nodes.par_sort_by_key(|&node| std::cmp::Reverse(degrees[node as usize])),
    }
    nodes
}
