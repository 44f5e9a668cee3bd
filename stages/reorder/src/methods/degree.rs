//! By falling in-degree, ties in the old order: often read rows lie together, and heavy rows start first.
//!
//! limits    O(nodes log nodes), one stable sort
use warploom_contract::kinds::csr::Csr;

/// New number of each node.
pub fn order(csr: &Csr) -> Vec<u32> {
    let degrees: Vec<u64> = csr.incoming.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut nodes: Vec<u32> = (0..degrees.len() as u32).collect();
    nodes.sort_by_key(|&node| std::cmp::Reverse(degrees[node as usize]));
    let mut new_of_old = vec![0; nodes.len()];
    for (new, old) in nodes.into_iter().enumerate() {
        new_of_old[old as usize] = new as u32;
    }
    new_of_old
}
