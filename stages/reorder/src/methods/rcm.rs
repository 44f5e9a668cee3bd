//! rcm: Reverse Cuthill-McKee: breadth-first order from a pseudo-peripheral node of each connected
//! component, neighbours by ascending degree, all of it reversed. The bandwidth is small.
//!
//! promises  the pseudo-peripheral node is that of George and Liu (1979): the farthest node,
//!           repeated until the distance stops growing; a component with a smaller bandwidth from
//!           its node of least degree is numbered from there
//! limits    O(nodes log nodes + edges log degree), a few traversals of each component; 20 bytes
//!           for each node
use warploom_contract::progress::{Advance, advance_by_stride};

use crate::undirected_neighbours::Undirected;

/// The old number of each new one.
pub fn order(graph: &Undirected, advance: Advance<'_>) -> Vec<u32> {
    let nodes = graph.nodes();
    let mut walk = Walk {
        graph,
        advance,
        walked: 0,
        seen: vec![0; nodes],
        round: 0,
        reached: Vec::new(),
        place: vec![0; nodes],
    };
    let mut placed = vec![false; nodes];
    let mut old_of_new = Vec::with_capacity(nodes);
    for start in graph.nodes_by_degree() {
        if placed[start as usize] {
            continue;
        }
        let end = walk.peripheral_node(start);
        let mut part = walk.breadth_first_from(end);
        if end != start {
            let other = walk.breadth_first_from(start);
            if walk.bandwidth(&other) < walk.bandwidth(&part) {
                part = other;
            }
        }
        part.iter().for_each(|&node| placed[node as usize] = true);
        old_of_new.extend(part);
    }
    old_of_new.reverse();
    old_of_new
}

/// Breadth-first traversals of a connected component.
struct Walk<'a> {
    graph: &'a Undirected,
    advance: Advance<'a>,
    /// Visited nodes, with multiplicity.
    walked: usize,
    /// The last traversal that reached each node.
    seen: Vec<u32>,
    round: u32,
    reached: Vec<u32>,
    /// Position of each node of a component whose bandwidth is measured.
    place: Vec<u32>,
}

impl Walk<'_> {
    fn report_progress(&mut self) {
        self.walked += 1;
        advance_by_stride(self.advance, self.walked);
    }

    /// The component of a node in breadth-first order from it, neighbours by ascending degree.
    fn breadth_first_from(&mut self, start: u32) -> Vec<u32> {
        self.round += 1;
        self.seen[start as usize] = self.round;
        let (mut order, mut at) = (vec![start], 0);
        while let Some(&node) = order.get(at) {
            self.report_progress();
            at += 1;
            let first = order.len();
            let near = self.graph.neighbours(node);
            order.extend(near.iter().filter(|&&far| {
                std::mem::replace(&mut self.seen[far as usize], self.round) != self.round
            }));
            order[first..].sort_by_key(|&far| self.graph.degree(far));
        }
        order
    }

    /// Bandwidth: the largest distance of two neighbours in the order.
    fn bandwidth(&mut self, order: &[u32]) -> u32 {
        order.iter().zip(0..).for_each(|(&node, place)| self.place[node as usize] = place);
        let place = |node: u32| self.place[node as usize];
        let of_node = |&node: &u32| {
            self.graph.neighbours(node).iter().map(|&far| place(node).abs_diff(place(far))).max()
        };
        order.iter().filter_map(of_node).max().unwrap_or(0)
    }

    /// A pseudo-peripheral node of the component.
    fn peripheral_node(&mut self, start: u32) -> u32 {
        let (mut end, mut depth) = (start, 0);
        loop {
            let (further, last) = self.last_level(end);
            if further <= depth {
                return end;
            }
            let Some(&far) = last.iter().min_by_key(|&&node| (self.graph.degree(node), node))
            else {
                return end;
            };
            (end, depth) = (far, further);
        }
    }

    /// The eccentricity of a node, and its last breadth-first level.
    fn last_level(&mut self, start: u32) -> (usize, Vec<u32>) {
        self.round += 1;
        self.seen[start as usize] = self.round;
        self.reached.clear();
        self.reached.push(start);
        let (mut first, mut depth) = (0, 0);
        loop {
            let last = self.reached.len();
            for at in first..last {
                self.report_progress();
                let near = self.graph.neighbours(self.reached[at]);
                self.reached.extend(near.iter().filter(|&&far| {
                    std::mem::replace(&mut self.seen[far as usize], self.round) != self.round
                }));
            }
            if self.reached.len() == last {
                return (depth, self.reached[first..].to_vec());
            }
            (first, depth) = (last, depth + 1);
        }
    }
}
