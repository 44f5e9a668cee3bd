//! undirected: who is a neighbour of whom, whichever way the edges go.
//!
//! promises  neighbours ascend, each once, and none is the node itself: direction, repeats, relations and self loops leave no trace
//! limits    16 bytes an edge while it is made, then at most 8, and 8 a node
use rayon::prelude::*;
use warploom_contract::kinds::csr::{Csr, Rows};

/// Nodes whose neighbours one task joins.
const TASK_NODES: usize = 1 << 12;

/// Neighbours of each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undirected {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
}

impl Undirected {
    /// Of both directions of a csr.
    pub fn of(csr: &Csr) -> Self {
        Undirected::of_rows(csr.incoming.rows(), csr.outgoing.rows())
    }

    /// Of in-edges and out-edges.
    pub fn of_rows(incoming: Rows<'_>, outgoing: Rows<'_>) -> Self {
        let tasks = (0..incoming.len()).into_par_iter().step_by(TASK_NODES).map(|first| {
            let (mut ends, mut neighbours) = (Vec::with_capacity(TASK_NODES), Vec::new());
            let mut row: Vec<u32> = Vec::new();
            for node in first..(first + TASK_NODES).min(incoming.len()) {
                row.clear();
                row.extend(incoming.row(node).iter().chain(outgoing.row(node)).filter(|&&far| far as usize != node));
                // Two runs that ascend, but for relations.
                row.sort();
                row.dedup();
                neighbours.extend_from_slice(&row);
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

    /// As rows of a csr.
    pub fn rows(&self) -> Rows<'_> {
        Rows { offsets: &self.offsets, neighbours: &self.neighbours }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Neighbours of a node.
    pub fn of_node(&self, node: u32) -> &[u32] {
        &self.neighbours[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }

    /// How many neighbours a node has.
    pub fn degree(&self, node: u32) -> u64 {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// Twice the number of pairs of neighbours.
    pub fn ends(&self) -> u64 {
        self.neighbours.len() as u64
    }

    /// All nodes by rising degree, ties as they stand.
    pub fn by_degree(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.nodes() as u32).collect();
        nodes.par_sort_by_key(|&node| self.degree(node));
        nodes
    }
}
