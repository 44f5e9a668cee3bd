//! undirected_neighbours: the simple undirected graph of a csr.
//!
//! promises  neighbours ascend, each once, without the node itself: direction, parallel edges,
//!           relations and self loops have no effect
//! limits    16 bytes for each edge while it is built, then at most 8, and 8 for each node
use rayon::prelude::*;
use warploom_contract::{
    kinds::csr::{Csr, Rows},
    progress::Advance,
};

/// Nodes in one task.
const TASK_NODES: usize = 1 << 12;

/// Neighbours of each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undirected {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
}

impl Undirected {
    /// The undirected graph of a csr.
    pub fn from_csr(csr: &Csr) -> Self {
        Undirected::from_csr_with_progress(csr, &|_| {})
    }

    /// `from_csr` with progress; reports nodes.
    pub fn from_csr_with_progress(csr: &Csr, advance: Advance<'_>) -> Self {
        Undirected::from_rows(csr.incoming.rows(), csr.outgoing.rows(), advance)
    }

    /// The undirected graph of in-edges and out-edges.
    pub fn from_rows(incoming: Rows<'_>, outgoing: Rows<'_>, advance: Advance<'_>) -> Self {
        let tasks = (0..incoming.len()).into_par_iter().step_by(TASK_NODES).map(|first| {
            advance(TASK_NODES.min(incoming.len() - first) as u64);
            let (mut ends, mut neighbours) = (Vec::with_capacity(TASK_NODES), Vec::new());
            let mut row: Vec<u32> = Vec::new();
            for node in first..(first + TASK_NODES).min(incoming.len()) {
                let (sources, targets) = (incoming.row(node), outgoing.row(node));
                if sources.is_sorted() && targets.is_sorted() {
                    merge(&mut neighbours, sources, targets, node as u32);
                } else {
                    // Typed rows are sorted by relation first.
                    row.clear();
                    row.extend(sources.iter().chain(targets).filter(|&&far| far as usize != node));
                    row.sort_unstable();
                    row.dedup();
                    neighbours.extend_from_slice(&row);
                }
                ends.push(neighbours.len() as u64);
            }
            (ends, neighbours)
        });
        let parts: Vec<(Vec<u64>, Vec<u32>)> = tasks.collect();
        let mut offsets = Vec::with_capacity(incoming.len() + 1);
        offsets.push(0);
        for (ends, _) in &parts {
            let before = offsets.last().copied().unwrap_or(0);
            offsets.extend(ends.iter().map(|end| before + end));
        }
        let mut neighbours = Vec::with_capacity(offsets.last().map_or(0, |&all| all as usize));
        for (_, part) in parts {
            neighbours.extend_from_slice(&part);
        }
        Undirected { offsets, neighbours }
    }

    /// The graph as rows of a csr.
    pub fn rows(&self) -> Rows<'_> {
        Rows { offsets: &self.offsets, neighbours: &self.neighbours }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Neighbours of a node.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours
            [self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }

    /// Number of neighbours of a node.
    pub fn degree(&self, node: u32) -> u64 {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// Number of edge ends, twice that of edges.
    pub fn ends(&self) -> u64 {
        self.neighbours.len() as u64
    }

    /// All nodes by ascending degree, ties by number.
    pub fn nodes_by_degree(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.nodes() as u32).collect();
        nodes.par_sort_by_key(|&node| self.degree(node));
        nodes
    }
}

/// Merges two ascending rows: each neighbour once, without the node itself.
fn merge(neighbours: &mut Vec<u32>, left: &[u32], right: &[u32], node: u32) {
    let mut last = node;
    let mut push = |next: u32| {
        if next != last && next != node {
            neighbours.push(next);
        }
        last = next;
    };
    let (mut at, mut to) = (0, 0);
    while at < left.len() && to < right.len() {
        let next = left[at].min(right[to]);
        at += usize::from(left[at] == next);
        to += usize::from(right[to] == next);
        push(next);
    }
    left[at..].iter().chain(&right[to..]).for_each(|&next| push(next));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of relations start again with each relation; they say the same as rows that ascend.
    #[test]
    fn rows_that_do_not_ascend() {
        let (offsets, rising, relations) =
            ([0, 5, 5, 6, 6], [0, 1, 1, 2, 3, 0], [1, 2, 0, 1, 3, 0]);
        let of = |neighbours: &[u32]| {
            Undirected::from_rows(
                Rows { offsets: &offsets, neighbours },
                Rows { offsets: &[0, 2, 3, 3, 4], neighbours: &[2, 2, 0, 3] },
                &|_| {},
            )
        };
        assert_eq!(of(&rising), of(&relations));
        assert_eq!(
            [0, 1, 2, 3].map(|node| of(&rising).neighbours(node).to_vec()),
            [vec![1, 2, 3], vec![0], vec![0], vec![]]
        );
    }
}
