//! level: the graph of one level: the input graph, or one node for each community of the level
//! below.
//!
//! promises  strengths add up to the number of edge ends on every level
//! limits    a weight between two communities saturates at 2^32 - 1
use rayon::prelude::*;

use super::{
    number::{key_starts, sort_by_key},
    tally::{Stash, Tally},
};
use crate::undirected_neighbours::Undirected;

/// Communities in one task.
const TASK: usize = 1 << 9;
/// Nodes in one task that only counts.
const TASK_COUNT: usize = 1 << 12;

/// Weighted links between nodes, and the weight inside each node.
pub struct Level<'a> {
    links: Links<'a>,
    /// Ends of edges at all given nodes of a node.
    strength: Vec<u64>,
    /// Edge ends inside nodes.
    inside: u64,
    /// Ends of all edges.
    ends: u64,
}

enum Links<'a> {
    /// Unweighted.
    Given(&'a Undirected),
    Joined {
        offsets: Vec<u64>,
        links: Vec<(u32, u32)>,
    },
}

/// The merged communities of one task.
#[derive(Default)]
struct Part {
    lengths: Vec<usize>,
    links: Vec<(u32, u32)>,
    strength: Vec<u64>,
    inside: u64,
}

impl<'a> Level<'a> {
    /// The level of the input graph, each node a community.
    pub fn from_graph(graph: &'a Undirected) -> Self {
        Level {
            links: Links::Given(graph),
            strength: graph.rows().degrees().collect(),
            inside: 0,
            ends: graph.ends(),
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.strength.len()
    }

    /// Ends of edges at all given nodes of a node.
    pub fn strength(&self, node: u32) -> u64 {
        self.strength[node as usize]
    }

    /// Ends of all edges.
    pub fn ends(&self) -> u64 {
        self.ends
    }

    /// Number of links of all nodes.
    pub fn link_count(&self) -> usize {
        match &self.links {
            Links::Given(graph) => graph.ends() as usize,
            Links::Joined { links, .. } => links.len(),
        }
    }

    /// Number of links of a node.
    pub fn degree(&self, node: u32) -> usize {
        match &self.links {
            Links::Given(graph) => graph.degree(node) as usize,
            Links::Joined { offsets, .. } => {
                (offsets[node as usize + 1] - offsets[node as usize]) as usize
            }
        }
    }

    /// Adds a node's link weights to the tally by community.
    pub fn tally_links(&self, tally: &mut Tally, node: u32, community: &[u32]) {
        match &self.links {
            Links::Given(graph) => {
                graph.neighbours(node).iter().for_each(|&far| tally.add(community[far as usize], 1))
            }
            Links::Joined { .. } => self
                .weighted_links(node)
                .iter()
                .for_each(|&(far, weight)| tally.add(community[far as usize], weight)),
        }
    }

    /// Weight of a node's links to its own community, and to others.
    pub fn inner_and_outer_weight(&self, node: u32, community: &[u32]) -> (u64, u64) {
        let own = community[node as usize];
        let (kept, all) = match &self.links {
            Links::Given(graph) => {
                let row = graph.neighbours(node);
                (
                    row.iter().filter(|&&far| community[far as usize] == own).count() as u64,
                    row.len() as u64,
                )
            }
            Links::Joined { .. } => {
                self.weighted_links(node).iter().fold((0, 0), |(kept, all), &(far, weight)| {
                    let weight = u64::from(weight);
                    (kept + if community[far as usize] == own { weight } else { 0 }, all + weight)
                })
            }
        };
        (kept, all - kept)
    }

    fn weighted_links(&self, node: u32) -> &[(u32, u32)] {
        match &self.links {
            Links::Given(_) => &[],
            Links::Joined { offsets, links } => {
                &links[offsets[node as usize] as usize..offsets[node as usize + 1] as usize]
            }
        }
    }

    /// Modularity with each node as a community.
    pub fn modularity(&self) -> f64 {
        modularity(self.inside, &self.strength, self.ends)
    }

    /// Modularity of communities of the nodes.
    pub fn modularity_of(&self, community: &[u32], count: usize) -> f64 {
        let kept = |node: usize| self.inner_and_outer_weight(node as u32, community).0;
        let inside: u64 =
            (0..self.nodes()).into_par_iter().with_min_len(TASK_COUNT).map(kept).sum();
        let mut strength = vec![0; count];
        community
            .iter()
            .zip(&self.strength)
            .for_each(|(&own, of_node)| strength[own as usize] += of_node);
        modularity(self.inside + inside, &strength, self.ends)
    }

    /// The next level, whose nodes are the communities of this one.
    pub fn merge(&self, community: &[u32], count: usize, stash: &Stash) -> Level<'static> {
        let nodes: Vec<u32> = (0..self.nodes() as u32).collect();
        let (starts, members) =
            (key_starts(community, count), sort_by_key(&nodes, community, count));
        let of_task = |task: usize| {
            stash.lend(|tally| {
                let mut part = Part::default();
                for own in task * TASK..count.min((task + 1) * TASK) {
                    let members = &members[starts[own] as usize..starts[own + 1] as usize];
                    self.merge_community(&mut part, tally, own as u32, members, community, count);
                }
                part
            })
        };
        let parts: Vec<Part> = (0..count.div_ceil(TASK)).into_par_iter().map(of_task).collect();
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0);
        let mut links = Vec::with_capacity(parts.iter().map(|part| part.links.len()).sum());
        let (mut strength, mut inside) = (Vec::with_capacity(count), self.inside);
        for part in parts {
            let mut end = links.len();
            offsets.extend(part.lengths.iter().map(|length| {
                end += length;
                end as u64
            }));
            links.extend_from_slice(&part.links);
            strength.extend_from_slice(&part.strength);
            inside += part.inside;
        }
        Level { links: Links::Joined { offsets, links }, strength, inside, ends: self.ends }
    }

    fn merge_community(
        &self,
        part: &mut Part,
        tally: &mut Tally,
        own: u32,
        members: &[u32],
        community: &[u32],
        count: usize,
    ) {
        tally.begin(members.iter().map(|&node| self.degree(node)).sum::<usize>().min(count), count);
        members.iter().for_each(|&node| self.tally_links(tally, node, community));
        let before = part.links.len();
        part.links.extend(tally.sums().filter(|&(far, _)| far != own));
        part.inside +=
            tally.sums().find(|&(far, _)| far == own).map_or(0, |(_, weight)| u64::from(weight));
        part.lengths.push(part.links.len() - before);
        part.strength.push(members.iter().map(|&node| self.strength(node)).sum());
    }
}

fn modularity(inside: u64, strength: &[u64], ends: u64) -> f64 {
    let squares: u128 =
        strength.iter().map(|&strength| u128::from(strength) * u128::from(strength)).sum();
    if ends > 0 {
        inside as f64 / ends as f64 - squares as f64 / (ends as f64).powi(2)
    } else {
        0.0
    }
}
