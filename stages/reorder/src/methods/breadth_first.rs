//! breadth_first: breadth-first order from the node of highest degree in each connected component;
//! components by that node.
//!
//! limits    O(nodes log nodes + edges); 8 bytes a node
use warploom_contract::progress::{Advance, advance_by_stride};

use crate::undirected_neighbours::Undirected;

/// The old number of each new one.
pub fn order(graph: &Undirected, advance: Advance<'_>) -> Vec<u32> {
    let mut found = vec![false; graph.nodes()];
    let mut old_of_new = Vec::with_capacity(graph.nodes());
    for start in graph.nodes_by_degree().into_iter().rev() {
        if std::mem::replace(&mut found[start as usize], true) {
            continue;
        }
        let mut at = old_of_new.len();
        old_of_new.push(start);
        while let Some(&node) = old_of_new.get(at) {
            advance_by_stride(advance, at);
            at += 1;
            old_of_new.extend(
                graph
                    .neighbours(node)
                    .iter()
                    .filter(|&&far| !std::mem::replace(&mut found[far as usize], true)),
            );
        }
    }
    old_of_new
}
