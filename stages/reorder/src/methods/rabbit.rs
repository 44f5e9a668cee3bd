//! rabbit: Rabbit order (Arai et al. 2016): nodes are merged to communities, these to larger ones
//! while modularity grows, and nodes are numbered along this hierarchy. Nested communities are
//! consecutive.
//!
//! promises  the same order for any number of threads and in every run: each decision reads a fixed
//!           state, ties go to the smaller number, sums are of integers; moves of single nodes at
//!           the end never lower modularity
//! never     reads weights, relations, directions, parallel edges or self loops; finds the optimum
//!           (NP-hard)
//! limits    O(edges) for each round, two rounds for each level and one at the end, 32 levels at
//!           most; beside the graph 36 to 116 bytes for each node and, for a short time, 16 for
//!           each edge end between two communities of the first level (`bytes_peak` of the example
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

/// Most rounds of a level. On the input graph the second round takes an eighth of the time and
/// lowers the cache lines per 32 edges by 2.5%; on the levels above it gains 0.3% modularity for 4%
/// of the time (means of 22 graphs).
const ROUNDS: usize = 2;
/// Most levels.
const LEVELS_MOST: usize = 32;

/// The order and its communities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RabbitOrder {
    /// The old number of each new one.
    pub old_of_new: Vec<u32>,
    /// The community of each node: numbers from 0 without gaps, in the order of the communities.
    pub community: Vec<u32>,
}

/// Finds the hierarchy and numbers the nodes along it.
pub fn order(graph: &Undirected, advance: Advance<'_>) -> RabbitOrder {
    let stash = Stash::default();
    let given = Level::from_graph(graph);
    let joined = Hierarchy::build(&given, &stash, advance);
    let old_of_new = number_nodes(&joined.levels, given.nodes());
    let (community, count) = joined.refine(&given, &stash, advance);
    // Stable: a moved node comes before or after the others of its community, which keep their
    // order.
    RabbitOrder { old_of_new: sort_by_key(&old_of_new, &community, count), community }
}

/// The hierarchy of communities.
struct Hierarchy {
    /// For each level the number of each of its nodes on the next.
    levels: Vec<Vec<u32>>,
    /// The community of each input node on the last level, and their number.
    community: Vec<u32>,
    count: usize,
    modularity: f64,
}

impl Hierarchy {
    /// Merges level by level, while modularity grows.
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
            // Nodes of one batch may swap places: a level with lower modularity than the one below
            // is dropped.
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

    /// Moves single nodes to better communities, if all moves together raise modularity.
    fn refine(self, given: &Level<'_>, stash: &Stash, advance: Advance<'_>) -> (Vec<u32>, usize) {
        let (refined, count) = move_nodes(given, self.community.clone(), 1, stash, advance);
        if given.modularity_of(&refined, count) > self.modularity {
            (refined, count)
        } else {
            (self.community, self.count)
        }
    }
}
