//! number: from the hierarchy of communities to an order.
//!
//! promises  stable: members of a community keep the order of the level below, on the lowest level
//!           that of the old numbers
//! limits    O(nodes of all levels)
use warploom_contract::kinds::permutation::inverse;

/// The old number of each new one. `levels` has for each level the number of each of its nodes on
/// the next.
pub fn number_nodes(levels: &[Vec<u32>], nodes: usize) -> Vec<u32> {
    let mut order: Option<Vec<u32>> = None;
    for groups in levels.iter().rev() {
        let keys = match order.as_deref().map(inverse) {
            None => groups.clone(),
            Some(rank) => groups.iter().map(|&group| rank[group as usize]).collect(),
        };
        let nodes: Vec<u32> = (0..groups.len() as u32).collect();
        order = Some(sort_by_key(&nodes, &keys, groups.len()));
    }
    order.unwrap_or_else(|| (0..nodes as u32).collect())
}

/// Counting sort: items by ascending key, ties in their order. Keys are below `count`.
pub fn sort_by_key(items: &[u32], key: &[u32], count: usize) -> Vec<u32> {
    let mut heads = key_starts(key, count);
    let mut sorted = vec![0u32; items.len()];
    for &item in items {
        let head = &mut heads[key[item as usize] as usize];
        sorted[*head as usize] = item;
        *head += 1;
    }
    sorted
}

/// The start of each key's items, and their total.
pub fn key_starts(key: &[u32], count: usize) -> Vec<u32> {
    let mut starts = vec![0u32; count + 1];
    key.iter().for_each(|&key| starts[key as usize + 1] += 1);
    (0..count).for_each(|at| starts[at + 1] += starts[at]);
    starts
}
