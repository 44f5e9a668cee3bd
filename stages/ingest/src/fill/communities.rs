//! Communities of a real graph: breadth-first clusters of a given size around seeded starts.
//!
//! promises  each node is in one community; neighbours mostly share one; O(nodes + edges)
//! never     claims to find the best ones: they only have to make labels that a graph model can learn
use crate::{generate::counter::Counter, transform::offsets};
use std::collections::VecDeque;

/// Nodes in a community, at most.
const SIZE: usize = 128;

/// The community of each node, for edges sorted by source; directions are followed as they stand.
pub fn cluster(nodes: u32, source: &[u32], target: &[u32], seed: u64) -> Vec<u32> {
    let starts = offsets(source, nodes);
    let mut order: Vec<u32> = (0..nodes).collect();
    Counter::new(seed, "fill.communities").shuffle(&mut order);
    let mut community = vec![u32::MAX; nodes as usize];
    let mut next = 0;
    let mut queue = VecDeque::new();
    for start in order {
        if community[start as usize] != u32::MAX {
            continue;
        }
        community[start as usize] = next;
        queue.clear();
        queue.push_back(start);
        let mut members = 1;
        while let Some(node) = queue.pop_front() {
            for &neighbour in &target[starts[node as usize] as usize..starts[node as usize + 1] as usize] {
                if members < SIZE && community[neighbour as usize] == u32::MAX {
                    community[neighbour as usize] = next;
                    members += 1;
                    queue.push_back(neighbour);
                }
            }
        }
        next += 1;
    }
    community
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_one_and_none_is_too_large() {
        // A path of 1,000 nodes in both directions, and 10 nodes alone.
        let (source, target): (Vec<u32>, Vec<u32>) =
            (0..1000u32).flat_map(|node| [(node, node.saturating_sub(1)), (node, (node + 1).min(999))]).unzip();
        let community = cluster(1010, &source, &target, 1);
        let count = *community.iter().max().unwrap() as usize + 1;
        let mut sizes = vec![0; count];
        community.iter().for_each(|&community| sizes[community as usize] += 1);
        assert!(sizes.iter().all(|&size| (1..=SIZE).contains(&size)), "{sizes:?}");
        assert_eq!(community, cluster(1010, &source, &target, 1));
        assert!(cluster(0, &[], &[], 1).is_empty());
    }
}
