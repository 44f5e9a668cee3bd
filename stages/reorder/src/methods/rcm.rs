//! Reverse Cuthill-McKee: in breadth from an end of each part of the graph, neighbours by rising
//! degree, all of it turned round. Edges lead to near rows: the band is narrow.
//!
//! promises  an end is looked for as George and Liu (1979) do, by going to the far side until it is
//!           no further; a part whose band is narrower from its node of fewest neighbours is
//!           numbered from there
//! limits    O(nodes log nodes + edges log degree), a few walks of each part; 20 bytes a node
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

/// Walks through a part of a graph.
struct Walk<'a> {
    graph: &'a Undirected,
    advance: Advance<'a>,
    /// Nodes that were gone through, each time they were.
    walked: usize,
    /// The round in which a node was reached last.
    seen: Vec<u32>,
    round: u32,
    reached: Vec<u32>,
    /// Of each node of a part whose band is measured.
    place: Vec<u32>,
}

impl Walk<'_> {
    fn report_progress(&mut self) {
        self.walked += 1;
        advance_by_stride(self.advance, self.walked);
    }

    /// The part of a node, in breadth from it, neighbours by rising degree.
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

    /// Furthest apart that two neighbours of a part are.
    fn bandwidth(&mut self, order: &[u32]) -> u32 {
        order.iter().zip(0..).for_each(|(&node, place)| self.place[node as usize] = place);
        let place = |node: u32| self.place[node as usize];
        let of_node = |&node: &u32| {
            self.graph.neighbours(node).iter().map(|&far| place(node).abs_diff(place(far))).max()
        };
        order.iter().filter_map(of_node).max().unwrap_or(0)
    }

    /// A node that others are far from.
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

    /// How many steps lead to what is furthest, and that.
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
