//! per_graph: orders of sets of many graphs, which never mix graphs: graphs are sorted by size, the
//! largest first, and each keeps the order found for its nodes.
//!
//! limits    O(nodes + graphs log graphs); 8 bytes a node
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

#[cfg(test)]
mod tests {
    use super::*;

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
