//! moves: moves the nodes of a level to the neighbouring community with the largest gain in
//! modularity.
//!
//! promises  batches depend on the number of nodes alone, and their use on the number of links; all
//!           nodes of a batch decide in parallel from the state before it, then move
//! paper     batched moves, and the rule for two singleton communities: Lu, Halappanavar,
//!           Kalyanaraman, Parallel heuristics for scalable community detection (2015)
use rayon::prelude::*;
use warploom_contract::progress::{Advance, advance_by_stride};

use super::{
    level::Level,
    tally::{Stash, Tally},
};

/// Batches of a round, each with one node of every 16 consecutive ones: neighbours in one batch do
/// not see each other's moves. With 4, 8, 16 and 32 batches modularity is 0.986, 0.992, 0.998 and
/// 0.993 of networkit's Louvain (one round for each level, mean of 22 graphs).
const BATCHES: usize = 16;
/// With fewer links nodes move sequentially: batches would be too small for several threads.
const LINKS_LEAST: usize = 1 << 16;
/// Nodes in one task.
const TASK: usize = 1 << 9;
/// The last round is one in which fewer than one of this many nodes moved.
const MOVERS_LEAST: usize = 20;

/// Communities while nodes move.
struct State<'a> {
    level: &'a Level<'a>,
    community: Vec<u32>,
    /// Sum of the strengths of a community's nodes.
    strength: Vec<u64>,
    members: Vec<u32>,
}

/// Moves nodes between communities, numbered below the number of nodes; returns new numbers without
/// gaps, and the number of communities.
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

/// The node of a block that is in a batch: at another offset in each block, so that batches do not
/// follow patterns of the numbering.
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

    /// The community with the largest gain for a node; ties go to its own, then to the smallest
    /// number.
    fn better_community(&self, tally: &mut Tally, node: u32) -> Option<u32> {
        let (degree, own, strength) =
            (self.level.degree(node), self.community[node as usize], self.level.strength(node));
        if degree == 0 {
            return None;
        }
        // Gain: edges to a community, less their expected number.
        let share = strength as f64 / self.level.ends() as f64;
        let alone = self.members[own as usize] == 1;
        let mut best = (0.0, None);
        if !alone {
            let (kept, left) = self.level.inner_and_outer_weight(node, &self.community);
            best.0 = kept as f64 - share * (self.strength[own as usize] - strength) as f64;
            // Even all outgoing weight could not gain: most nodes of good communities stop here.
            if left as f64 <= best.0 {
                return None;
            }
        }
        tally.begin(degree, self.level.nodes());
        self.level.tally_links(tally, node, &self.community);
        for (community, weight) in tally.sums() {
            // The weight to a community bounds its gain: many are skipped without a look-up.
            if community == own || f64::from(weight) <= best.0 {
                continue;
            }
            let gain = f64::from(weight) - share * self.strength[community as usize] as f64;
            let wins =
                gain > best.0 || gain == best.0 && best.1.is_some_and(|other| community < other);
            // Two singleton communities would only swap: the one with the larger number moves.
            if wins && !(alone && community > own && self.members[community as usize] == 1) {
                best = (gain, Some(community));
            }
        }
        best.1
    }
}

/// Community numbers from 0 without gaps in the order of first members, and their number.
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
