//! Rabbit order (Arai et al. 2016): nodes are joined to communities, those to larger ones while
//! modularity grows, and then all are numbered along what was joined. Communities, and communities
//! inside of them, lie side by side.
//!
//! promises  the same order for any number of threads and in every run: a node looks at a state
//!           that is fixed before it looks, ties go to the smaller number, sums are of integers; a
//!           community that is given back was never made worse by moving single nodes
//! never     looks at weights, relations, directions, repeats or self loops; claims the best
//!           communities: finding them is NP-hard
//! limits    O(edges) a round, two rounds a level and one at the end, 32 levels at most; beside the
//!           graph 36 to 116 bytes a node and, for a moment, 16 an end of an edge that leads from
//!           one of the first small communities to another (`bytes_peak` of the example
//!           rabbit_speed)
//! paper     Arai et al., Rabbit order: just-in-time parallel reordering for fast graph analysis
//!           (2016), for the order; its tree grows node by node under locks, ours level by level as
//!           in Blondel et al., Fast unfolding of communities in large networks (2008)
mod level;
mod moves;
mod number;
mod tally;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use warploom_contract::progress::Advance;

use crate::undirected_neighbours::Undirected;
use level::Level;
use moves::move_nodes;
use number::{number_nodes, sort_by_key};
use tally::Stash;

/// Rounds of a level, at most. The second over the nodes as given takes an eighth of the time, and
/// 2.5% fewer lines per 32 edges are touched; on the levels above it gains 0.3% modularity for 4%
/// of the time (means of 22 graphs).
const ROUNDS: usize = 2;
/// Levels, at most.
const LEVELS_MOST: usize = 32;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RabbitOrder {
    /// The old number of each new one.
    pub old_of_new: Vec<u32>,
    /// The community of each node: numbers from 0 without gaps, as communities follow each other in
    /// the order.
    pub community: Vec<u32>,
}

/// Joins and numbers.
pub fn order(graph: &Undirected, advance: Advance<'_>) -> RabbitOrder {
    let stash = Stash::default();
    let given = Level::from_graph(graph);
    let joined = Hierarchy::build(&given, &stash, advance);
    let old_of_new = number_nodes(&joined.levels, given.nodes());
    let (community, count) = joined.refine(&given, &stash, advance);
    // Stable: who moved goes behind or before the others of its community, they stay as they lay.
    RabbitOrder { old_of_new: sort_by_key(&old_of_new, &community, count), community }
}

/// Communities of communities.
struct Hierarchy {
    /// For each level the number that each of its nodes has on the next.
    levels: Vec<Vec<u32>>,
    /// The community of each given node on the last level, and how many there are.
    community: Vec<u32>,
    count: usize,
    modularity: f64,
}

impl Hierarchy {
    /// Joins level by level, while modularity grows.
    fn build(given: &Level<'_>, stash: &Stash, advance: Advance<'_>) -> Self {
        let alone = || (0..given.nodes() as u32).collect();
        let mut joined = Hierarchy {
            levels: Vec::new(),
            community: alone(),
            count: given.nodes(),
            modularity: given.modularity(),
        };
        let mut last: Option<Level<'static>> = None;
        while joined.levels.len() < LEVELS_MOST {
            let level = last.as_ref().unwrap_or(given);
            let (groups, count) =
                move_nodes(level, (0..level.nodes() as u32).collect(), ROUNDS, stash, advance);
            if count == level.nodes() {
                break;
            }
            let next = level.merge(&groups, count, stash);
            // Nodes of one batch may move past each other: a level that is worse than the one below
            // is not taken.
            if next.modularity() <= joined.modularity {
                break;
            }
            joined.modularity = next.modularity();
            joined
                .community
                .par_iter_mut()
                .with_min_len(1 << 14)
                .for_each(|own| *own = groups[*own as usize]);
            joined.count = count;
            joined.levels.push(groups);
            last = Some(next);
        }
        joined
    }

    /// Moves single nodes to where they are better off, if all of that together gains.
    fn refine(self, given: &Level<'_>, stash: &Stash, advance: Advance<'_>) -> (Vec<u32>, usize) {
        let (refined, count) = move_nodes(given, self.community.clone(), 1, stash, advance);
        if given.modularity_of(&refined, count) > self.modularity {
            (refined, count)
        } else {
            (self.community, self.count)
        }
    }
}
