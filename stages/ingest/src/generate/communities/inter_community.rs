//! inter_community: pairs between communities, from the stubs left over by pairing inside.
//!
//! promises  no loops, no duplicates, also of inside pairs; exactly as many pairs as there are
//!           stubs for
//! how       the stubs are shuffled and paired; loops, duplicates and pairs inside a community are
//!           shuffled again, and the remaining ones switch ends with accepted pairs. Pairs that
//!           fail many tries go between uniformly drawn nodes.
use std::collections::HashSet;

use rayon::prelude::*;

use super::{MASK, Recipe, pack_pair};
use crate::{
    generate::counter::Counter,
    transform::sort::{PIECE_EDGES, sort_stable},
};

/// Shuffles of the stubs.
const ROUNDS: u64 = 3;
/// Tries to find a pair to switch ends with, or two nodes with room.
const TRIES: u64 = 200;

/// The input of the pairing.
pub struct Task<'a> {
    /// The recipe of the graph.
    pub recipe: &'a Recipe,
    /// The community of each position.
    pub community: &'a [u32],
    /// The stubs of each position, with those used inside.
    pub degrees: Vec<u32>,
    /// Pairs inside communities, ascending in each list and over all lists.
    pub inside: &'a [Vec<u64>],
}

/// Pairs all stubs; returns ascending pairs, and changes of pairs inside communities.
pub fn pair_stubs(task: Task, heads: Vec<u32>, tails: Vec<u32>) -> (Vec<u64>, Changes) {
    let counter = Counter::new(task.recipe.seed, "anywhere");
    let symmetric = task.recipe.symmetric;
    let mut accepted: Vec<u64> = Vec::new();
    let (mut heads, mut tails) = (heads, tails);
    for round in 0..ROUNDS {
        let counter = counter.part(round);
        if symmetric {
            heads.append(&mut tails);
            heads = shuffle(heads, counter);
            tails = heads.split_off(heads.len() / 2);
        } else {
            tails = shuffle(tails, counter);
        }
        let mut keys: Vec<u64> = heads
            .par_iter()
            .zip(&tails)
            .with_min_len(PIECE_EDGES)
            .map(|(&head, &tail)| key(symmetric, head, tail))
            .collect();
        sort_stable::<()>(&mut keys, None, u64::BITS - task.recipe.nodes.leading_zeros(), &|_| {});
        let fresh;
        (fresh, heads, tails) = sieve_pairs(&keys, &accepted, task.community);
        if accepted.is_empty() {
            accepted = fresh;
        } else {
            accepted.extend(fresh);
            // Two ascending runs: a merge.
            accepted.par_sort();
        }
        if heads.is_empty() {
            break;
        }
    }
    let changes = place_leftovers(task, &accepted, &heads, &tails);
    (accepted, changes)
}

fn key(symmetric: bool, head: u32, tail: u32) -> u64 {
    if symmetric { pack_pair(head.min(tail), head.max(tail)) } else { pack_pair(head, tail) }
}

/// Separates sorted pairs into new ones and the ends of rejected ones: loops, duplicates, known
/// pairs and pairs inside a community.
fn sieve_pairs(keys: &[u64], known: &[u64], community: &[u32]) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let mut fresh = Vec::with_capacity(keys.len());
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    let mut at = 0;
    for &key in keys {
        at = seek_from(known, at, key);
        let (head, tail) = ((key >> 32) as u32, key as u32);
        if community[head as usize] == community[tail as usize]
            || fresh.last() == Some(&key)
            || known.get(at) == Some(&key)
        {
            heads.push(head);
            tails.push(tail);
        } else {
            fresh.push(key);
        }
    }
    (fresh, heads, tails)
}

/// Galloping search: the first place from `at` on with a key of at least `key`.
fn seek_from(list: &[u64], at: usize, key: u64) -> usize {
    let mut step = 1;
    let mut low = at;
    while low + step < list.len() && list[low + step] < key {
        low += step;
        step *= 2;
    }
    let high = (low + step + 1).min(list.len());
    low + list[low..high].partition_point(|&known| known < key)
}

/// Removed and added pairs.
#[derive(Default)]
pub struct Changes {
    /// Removed from the accepted pairs.
    pub removed: HashSet<u64>,
    /// Removed from those inside communities: rarely any.
    pub removed_inside: HashSet<u64>,
    /// Ascending.
    pub added: Vec<u64>,
}

/// Places left-over pairs: a left-over pair (a, b) and an accepted pair (c, d) become (a, d) and
/// (c, b).
fn place_leftovers(task: Task, accepted: &[u64], heads: &[u32], tails: &[u32]) -> Changes {
    let symmetric = task.recipe.symmetric;
    let counter = Counter::new(task.recipe.seed, "place");
    let mut change = Change {
        accepted,
        inside: task.inside,
        community: task.community,
        removed: HashSet::new(),
        removed_inside: HashSet::new(),
        added: HashSet::new(),
    };
    let mut homeless = Vec::new();
    for (index, (&head, &tail)) in heads.iter().zip(tails).enumerate() {
        let counter = counter.part(index as u64);
        let switched = !accepted.is_empty()
            && (0..TRIES).any(|attempt| {
                let old = accepted[counter.below(attempt, accepted.len() as u64) as usize];
                // In a symmetric graph the pair may be taken in either direction.
                let way = if symmetric && counter.bits(attempt) & 1 == 1 {
                    old.rotate_left(32)
                } else {
                    old
                };
                change.switch_pair(
                    old,
                    key(symmetric, head, way as u32),
                    key(symmetric, (way >> 32) as u32, tail),
                )
            });
        if !switched {
            homeless.push((head, tail));
        }
    }
    place_unpaired(task.recipe, task.degrees, &mut change, &homeless);
    let mut added: Vec<u64> = change.added.into_iter().collect();
    added.sort_unstable();
    Changes { removed: change.removed, removed_inside: change.removed_inside, added }
}

/// Accepted pairs and their changes.
struct Change<'a> {
    accepted: &'a [u64],
    inside: &'a [Vec<u64>],
    community: &'a [u32],
    removed: HashSet<u64>,
    removed_inside: HashSet<u64>,
    added: HashSet<u64>,
}

impl Change<'_> {
    fn is_free(&self, key: u64) -> bool {
        let (head, tail) = ((key >> 32) as usize, (key & MASK) as usize);
        let held = || {
            let own = self.community[head];
            if own == self.community[tail] {
                self.inside[own as usize].binary_search(&key).is_ok()
            } else {
                self.accepted.binary_search(&key).is_ok() && !self.removed.contains(&key)
            }
        };
        head != tail && !self.added.contains(&key) && !held()
    }

    /// Replaces a pair of `accepted` by two; returns whether that was possible.
    fn switch_pair(&mut self, old: u64, one: u64, two: u64) -> bool {
        let possible =
            one != two && !self.removed.contains(&old) && self.is_free(one) && self.is_free(two);
        if possible {
            self.removed.insert(old);
            self.added.extend([one, two]);
        }
        possible
    }
}

/// Adds a new pair for each unplaced one: ends of the largest degrees get any partner; if none is
/// found, both ends are drawn uniformly. The hub then takes over ends of accepted pairs until it
/// has its degree.
fn place_unpaired(
    recipe: &Recipe,
    degrees: Vec<u32>,
    change: &mut Change,
    homeless: &[(u32, u32)],
) {
    let counter = Counter::new(recipe.seed, "anywhere, evenly");
    // For each end: the node, and whether it is a source.
    let mut owed: Vec<(u32, bool)> =
        homeless.iter().flat_map(|&(head, tail)| [(head, true), (tail, false)]).collect();
    owed.sort_by_key(|&(node, begins)| (std::cmp::Reverse(degrees[node as usize]), node, begins));
    let is_hub = |node: u32| degrees[node as usize] >= recipe.max_degree;
    let hubs: Vec<(u32, bool)> =
        owed.iter().skip(homeless.len()).copied().filter(|&(node, _)| is_hub(node)).collect();
    let mut places = Places { recipe, counter, drawn: 0, degrees };
    // In a directed graph these are degrees in both directions: precise enough for these few pairs.
    owed.iter().for_each(|(node, _)| {
        places.degrees[*node as usize] = places.degrees[*node as usize].saturating_sub(1)
    });
    for &(node, begins) in &owed[..homeless.len()] {
        let kept = (0..TRIES).any(|_| {
            let other = places.any_node();
            let (head, tail) = if begins { (node, other) } else { (other, node) };
            places.put_pair(change, head, tail, false)
        });
        // At most a quarter of all pairs is taken, so tries rarely fail except for degrees; degree
        // limits are dropped after many tries.
        let _placed = kept
            || (0u64..).any(|tried| {
                let (head, tail) = (places.any_node(), places.any_node());
                places.put_pair(change, head, tail, tried > TRIES)
            });
    }
    for (hub, begins) in hubs {
        let _found = (0..TRIES).any(|_| places.give_end_to_hub(change, hub, begins));
    }
}

/// Places unplaced pairs.
struct Places<'a> {
    recipe: &'a Recipe,
    counter: Counter,
    drawn: u64,
    degrees: Vec<u32>,
}

impl Places<'_> {
    /// A random node.
    fn any_node(&mut self) -> u32 {
        self.drawn += 1;
        self.counter.below(self.drawn - 1, u64::from(self.recipe.nodes)) as u32
    }

    /// Replaces an end of an accepted pair, inside a community or between two, by the hub; returns
    /// whether that was possible.
    fn give_end_to_hub(&mut self, change: &mut Change, hub: u32, begins: bool) -> bool {
        let between = change.accepted;
        let inside = &change.inside[self.draw_below(change.inside.len())..];
        let list = if self.draw_below(2) == 0 && !between.is_empty() {
            between
        } else {
            inside.first().map_or(between, Vec::as_slice)
        };
        let Some(&old) = list.get(self.draw_below(list.len())) else { return false };
        let (head, tail) = ((old >> 32) as u32, (old & MASK) as u32);
        let new = if begins {
            key(self.recipe.symmetric, hub, tail)
        } else {
            key(self.recipe.symmetric, head, hub)
        };
        let is_inside = change.community[head as usize] == change.community[tail as usize];
        let gone = if is_inside { &change.removed_inside } else { &change.removed };
        let possible = head != hub && tail != hub && !gone.contains(&old) && change.is_free(new);
        if possible {
            let gone = if is_inside { &mut change.removed_inside } else { &mut change.removed };
            gone.insert(old);
            change.added.insert(new);
        }
        possible
    }

    /// A random number below `most`; 0 if there is none.
    fn draw_below(&mut self, most: usize) -> usize {
        self.drawn += 1;
        if most == 0 { 0 } else { self.counter.below(self.drawn - 1, most as u64) as usize }
    }

    /// Adds a pair, if it is free and both ends have room or `beyond` is set.
    fn put_pair(&mut self, change: &mut Change, head: u32, tail: u32, beyond: bool) -> bool {
        let key = key(self.recipe.symmetric, head, tail);
        let has_room = beyond
            || [head, tail]
                .iter()
                .all(|node| self.degrees[*node as usize] < self.recipe.max_degree);
        let new = has_room && change.is_free(key);
        if new {
            change.added.insert(key);
            self.degrees[head as usize] += 1;
            self.degrees[tail as usize] += 1;
        }
        new
    }
}

/// Shuffles a list by a parallel sort of random keys.
pub fn shuffle(mut list: Vec<u32>, counter: Counter) -> Vec<u32> {
    const KEY_BITS: u32 = 32;
    let mut keys: Vec<u64> = (0..list.len() as u64)
        .into_par_iter()
        .map(|at| counter.bits(at) >> (u64::BITS - KEY_BITS))
        .collect();
    sort_stable(&mut keys, Some(&mut list), KEY_BITS, &|_| {});
    list
}
