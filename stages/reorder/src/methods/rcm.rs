//! Reverse Cuthill-McKee: in breadth from an end of each part of the graph, neighbours by rising degree, all of it turned round. Edges
//! lead to near rows: the band is narrow.
//!
//! promises  an end is looked for as George and Liu (1979) do, by going to the far side until it is no further
//! limits    O(nodes log nodes + edges log degree), a few walks of each part; 16 bytes a node
use crate::undirected::Undirected;

/// The old number of each new one.
pub fn order(graph: &Undirected) -> Vec<u32> {
    let mut walk = Walk { graph, seen: vec![0; graph.nodes()], round: 0, reached: Vec::new() };
    let mut placed = vec![false; graph.nodes()];
    let mut old_of_new = Vec::with_capacity(graph.nodes());
    for start in graph.by_degree() {
        if placed[start as usize] {
            continue;
        }
        let end = walk.end_near(start);
        let mut at = old_of_new.len();
        placed[end as usize] = true;
        old_of_new.push(end);
        while let Some(&node) = old_of_new.get(at) {
            at += 1;
            let first = old_of_new.len();
            old_of_new.extend(graph.of_node(node).iter().filter(|&&far| !std::mem::replace(&mut placed[far as usize], true)));
            old_of_new[first..].sort_by_key(|&far| graph.degree(far));
        }
    }
    old_of_new.reverse();
    old_of_new
}

/// Walks through a part of a graph.
struct Walk<'a> {
    graph: &'a Undirected,
    /// The round in which a node was reached last.
    seen: Vec<u32>,
    round: u32,
    reached: Vec<u32>,
}

impl Walk<'_> {
    /// A node that others are far from.
    fn end_near(&mut self, start: u32) -> u32 {
        let (mut end, mut depth) = (start, 0);
        loop {
            let (further, last) = self.levels(end);
            if further <= depth {
                return end;
            }
            let Some(&far) = last.iter().min_by_key(|&&node| (self.graph.degree(node), node)) else { return end };
            (end, depth) = (far, further);
        }
    }

    /// How many steps lead to what is furthest, and that.
    fn levels(&mut self, start: u32) -> (usize, Vec<u32>) {
        self.round += 1;
        self.seen[start as usize] = self.round;
        self.reached.clear();
        self.reached.push(start);
        let (mut first, mut depth) = (0, 0);
        loop {
            let last = self.reached.len();
            for at in first..last {
                let near = self.graph.of_node(self.reached[at]);
                self.reached.extend(near.iter().filter(|&&far| std::mem::replace(&mut self.seen[far as usize], self.round) != self.round));
            }
            if self.reached.len() == last {
                return (depth, self.reached[first..].to_vec());
            }
            (first, depth) = (last, depth + 1);
        }
    }
}
