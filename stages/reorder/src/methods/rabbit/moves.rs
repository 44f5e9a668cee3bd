//! Nodes of a level go to the neighbouring community where modularity grows most.
//!
//! promises  batches depend on the number of nodes alone, and whether there are any on the number
//!           of links; all of a batch look at the state before it, in parallel, and then go
//! paper     moves of whole batches, and the rule for two nodes that are alone: Lu, Halappanavar,
//!           Kalyanaraman, Parallel heuristics for scalable community detection (2015)
use rayon::prelude::*;
use warploom_contract::progress::{Advance, advance_by_stride};

use super::{
    level::Level,
    tally::{Stash, Tally},
};

/// Batches of a round, each with one node of every so many that follow each other: neighbours in
/// one batch do not see each other go. With 4, 8, 16 and 32 of them modularity is 0.986, 0.992,
/// 0.998 and 0.993 of networkit's Louvain (one round a level, mean of 22 graphs).
const BATCHES: usize = 16;
/// With fewer links, one node goes after the other: batches would be too small to share.
const LINKS_LEAST: usize = 1 << 16;
/// Nodes of one task.
const TASK: usize = 1 << 9;
/// A round in which fewer than one node in so many moved is the last.
const MOVERS_LEAST: usize = 20;

/// Communities on their way.
struct State<'a> {
    level: &'a Level<'a>,
    community: Vec<u32>,
    /// Strength of all nodes of a community.
    strength: Vec<u64>,
    members: Vec<u32>,
}

/// Moves nodes from the communities they are in, numbers below the number of nodes; gives new ones
/// without gaps, and how many.
pub fn move_nodes(
    level: &Level<'_>,
    community: Vec<u32>,
    rounds: usize,
    stash: &Stash,
    advance: Advance<'_>,
) -> (Vec<u32>, usize) {
    let nodes = level.nodes();
    let mut state = State { level, community, strength: vec![0; nodes], members: vec![0; nodes] };
    for (node, &own) in state.community.iter().enumerate() {
        state.strength[own as usize] += level.strength(node as u32);
        state.members[own as usize] += 1;
    }
    for round in 0..rounds {
        let moved = if level.link_count() < LINKS_LEAST {
            state.move_sequentially(round, stash, advance)
        } else {
            state.move_in_batches(round, stash, advance)
        };
        if moved * MOVERS_LEAST < nodes {
            break;
        }
    }
    renumber(state.community)
}

/// The node of a block that is in a batch: another place in each block, so that no pattern of the
/// numbers meets the batches.
fn node_of(block: usize, batch: usize, round: usize) -> u32 {
    let mixed = (block as u32).wrapping_mul(0x9e37_79b1) >> 16;
    (block * BATCHES + (mixed as usize + round + batch) % BATCHES) as u32
}

impl State<'_> {
    fn blocks(&self) -> usize {
        self.community.len().div_ceil(BATCHES)
    }

    /// How many moved.
    fn move_sequentially(&mut self, round: usize, stash: &Stash, advance: Advance<'_>) -> usize {
        let order = (0..BATCHES)
            .flat_map(|batch| (0..self.blocks()).map(move |block| node_of(block, batch, round)));
        let nodes: Vec<u32> =
            order.filter(|&node| (node as usize) < self.community.len()).collect();
        let mut moved = 0;
        stash.lend(|tally| {
            for node in nodes {
                advance_by_stride(advance, node as usize);
                if let Some(to) = self.better_community(tally, node) {
                    self.move_node(node, to);
                    moved += 1;
                }
            }
        });
        moved
    }

    /// How many moved.
    fn move_in_batches(&mut self, round: usize, stash: &Stash, advance: Advance<'_>) -> usize {
        let mut moved = 0;
        for batch in 0..BATCHES {
            let look = |task: usize| -> Vec<(u32, u32)> {
                let blocks = task * TASK..self.blocks().min((task + 1) * TASK);
                let nodes = blocks
                    .map(|block| node_of(block, batch, round))
                    .filter(|&node| (node as usize) < self.community.len());
                stash.lend(|tally| {
                    let nodes = nodes.inspect(|&node| advance_by_stride(advance, node as usize));
                    nodes
                        .filter_map(|node| Some((node, self.better_community(tally, node)?)))
                        .collect()
                })
            };
            let moves: Vec<Vec<(u32, u32)>> =
                (0..self.blocks().div_ceil(TASK)).into_par_iter().map(look).collect();
            moves.iter().flatten().for_each(|&(node, to)| self.move_node(node, to));
            moved += moves.iter().map(Vec::len).sum::<usize>();
        }
        moved
    }

    fn move_node(&mut self, node: u32, to: u32) {
        let from = std::mem::replace(&mut self.community[node as usize], to) as usize;
        let (to, strength) = (to as usize, self.level.strength(node));
        self.strength[from] -= strength;
        self.strength[to] += strength;
        self.members[from] -= 1;
        self.members[to] += 1;
    }

    /// The community in which a node is better off; its own before all, then among equals the one
    /// with the smallest number.
    fn better_community(&self, tally: &mut Tally, node: u32) -> Option<u32> {
        let (degree, own, strength) =
            (self.level.degree(node), self.community[node as usize], self.level.strength(node));
        if degree == 0 {
            return None;
        }
        // Edges to a community, less those that chance would put there.
        let share = strength as f64 / self.level.ends() as f64;
        let alone = self.members[own as usize] == 1;
        let mut best = (0.0, None);
        if !alone {
            let (kept, left) = self.level.inner_and_outer_weight(node, &self.community);
            best.0 = kept as f64 - share * (self.strength[own as usize] - strength) as f64;
            // Not even all that leaves could be better: most nodes of good communities are done
            // here.
            if left as f64 <= best.0 {
                return None;
            }
        }
        tally.begin(degree, self.level.nodes());
        self.level.tally_links(tally, node, &self.community);
        for (community, weight) in tally.sums() {
            // No community is better than the weight that leads there: many are passed over without
            // looking them up.
            if community == own || f64::from(weight) <= best.0 {
                continue;
            }
            let gain = f64::from(weight) - share * self.strength[community as usize] as f64;
            let wins =
                gain > best.0 || gain == best.0 && best.1.is_some_and(|other| community < other);
            // Two nodes that are alone would only change places: the one with the larger number
            // goes.
            if wins && !(alone && community > own && self.members[community as usize] == 1) {
                best = (gain, Some(community));
            }
        }
        best.1
    }
}

/// Numbers from 0 without gaps in the order of first members, and how many.
fn renumber(mut community: Vec<u32>) -> (Vec<u32>, usize) {
    let mut number = vec![u32::MAX; community.len()];
    let mut count = 0;
    for own in &mut community {
        let number = &mut number[*own as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *own = *number;
    }
    (community, count as usize)
}
