//! per_graph: orders of sets of many graphs, which never mix graphs: graphs are sorted by size, the
//! largest first, and each keeps the order found for its nodes.
//!
//! limits    O(nodes + graphs log graphs); 8 bytes a node
use std::path::Path;

use warploom_contract::{ErrorKind, StageError, kinds::csr::Csr};

/// Groups an order by graph; returns the old number of each new one.
pub fn order_per_graph(graphs: &[u32], old_of_new: &[u32]) -> Vec<u32> {
    let count = graphs.iter().max().map_or(0, |&most| most as usize + 1);
    let mut sizes = vec![0usize; count];
    graphs.iter().for_each(|&graph| sizes[graph as usize] += 1);
    let mut by_size: Vec<u32> = (0..count as u32).collect();
    by_size.sort_by_key(|&graph| std::cmp::Reverse(sizes[graph as usize]));
    let (mut next, mut start) = (vec![0; count], 0);
    for graph in by_size {
        next[graph as usize] = start;
        start += sizes[graph as usize];
    }
    let mut sorted = vec![0; old_of_new.len()];
    for &node in old_of_new {
        let place = &mut next[graphs[node as usize] as usize];
        sorted[*place] = node;
        *place += 1;
    }
    sorted
}

/// The first new number whose node comes back to a graph that another one has followed.
pub fn mixed_row(csr: &Csr, old_of_new: &[u32]) -> Option<usize> {
    first_mixed(csr.graphs.as_ref()?, old_of_new)
}

fn first_mixed(graphs: &[u32], old_of_new: &[u32]) -> Option<usize> {
    let count = graphs.iter().max().map_or(0, |&most| most as usize + 1);
    let (mut seen, mut last) = (vec![false; count], None);
    old_of_new.iter().position(|&old| {
        let graph = graphs[old as usize];
        let is_new = last.replace(graph) != Some(graph);
        is_new && std::mem::replace(&mut seen[graph as usize], true)
    })
}

/// The error of an order that mixes graphs.
pub fn mixed_error(path: &Path, row: usize, node: &str) -> StageError {
    let what = format!(
        "expected the nodes of each graph side by side, found node {node} behind nodes of another \
         graph, after others of its own"
    );
    StageError::new(ErrorKind::Data, what)
        .at(format!("{}, row {row}", path.display()))
        .hint("an order of a set of many graphs lists the nodes of one graph after the other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_comes_back_is_found() {
        assert_eq!(first_mixed(&[0, 0, 1, 1], &[3, 2, 0, 1]), None);
        assert_eq!(first_mixed(&[0, 0, 1, 1], &[0, 2, 1, 3]), Some(2));
        assert_eq!(first_mixed(&[0, 1, 2], &[2, 0, 1]), None);
        assert_eq!(first_mixed(&[], &[]), None);
    }

    #[test]
    fn graphs_by_size_and_nodes_as_found() {
        assert_eq!(order_per_graph(&[0, 0, 2, 1, 1, 1], &[5, 4, 3, 2, 1, 0]), [5, 4, 3, 1, 0, 2]);
        assert_eq!(
            order_per_graph(&[0, 1, 0, 1], &[3, 2, 1, 0]),
            [2, 0, 3, 1],
            "like sizes stand as they are numbered"
        );
        assert_eq!(order_per_graph(&[], &[]), [] as [u32; 0]);
    }
}
