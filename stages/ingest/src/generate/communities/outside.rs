//! Pairs between communities, of the stubs that pairing inside left over.
//!
//! promises  no loop, no repeat, of inside pairs neither; exactly as many pairs as there are stubs for
//! how       the stubs are shuffled and paired; loops, repeats and pairs inside a community are shuffled again, and what resists is switched
//!           with pairs that hold. What finds no partner in many tries goes between nodes drawn evenly.
use std::collections::HashSet;

use rayon::prelude::*;

use super::{MASK, Recipe, pack};
use crate::{
    generate::counter::Counter,
    transform::sort::{PIECE_EDGES, sort_stable},
};

/// Times that stubs are shuffled.
const ROUNDS: u64 = 3;
/// Tries to find a pair to switch with, or two nodes with room.
const TRIES: u64 = 200;

/// What is asked.
pub struct Task<'a> {
    /// Of the graph.
    pub recipe: &'a Recipe,
    /// The community of each position.
    pub community: &'a [u32],
    /// The stubs of each position, those used inside too.
    pub degrees: Vec<u32>,
    /// Pairs inside communities, ascending in each list and over all lists.
    pub inside: &'a [Vec<u64>],
}

/// Pairs all stubs; ascending lists of pairs, none of which is in another.
pub fn pair(task: Task, heads: Vec<u32>, tails: Vec<u32>) -> (Vec<u64>, Changes) {
    let counter = Counter::new(task.recipe.seed, "anywhere");
    let symmetric = task.recipe.symmetric;
    let mut accepted: Vec<u64> = Vec::new();
    let (mut heads, mut tails) = (heads, tails);
    for round in 0..ROUNDS {
        let counter = counter.part(round);
        if symmetric {
            heads.append(&mut tails);
            heads = shuffled(heads, counter);
            tails = heads.split_off(heads.len() / 2);
        } else {
            tails = shuffled(tails, counter);
        }
        let mut keys: Vec<u64> = heads.par_iter().zip(&tails).with_min_len(PIECE_EDGES).map(|(&head, &tail)| key(symmetric, head, tail)).collect();
        sort_stable::<()>(&mut keys, None, u64::BITS - task.recipe.nodes.leading_zeros());
        let fresh;
        (fresh, heads, tails) = sieve(&keys, &accepted, task.community);
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
    let changes = place(task, &accepted, &heads, &tails);
    (accepted, changes)
}

fn key(symmetric: bool, head: u32, tail: u32) -> u64 {
    if symmetric { pack(head.min(tail), head.max(tail)) } else { pack(head, tail) }
}

/// Parts sorted pairs into new ones and the ends of loops, repeats, those that are known and those inside a community.
fn sieve(keys: &[u64], known: &[u64], community: &[u32]) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let mut fresh = Vec::with_capacity(keys.len());
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    let mut at = 0;
    for &key in keys {
        at = advance(known, at, key);
        let (head, tail) = ((key >> 32) as u32, key as u32);
        if community[head as usize] == community[tail as usize] || fresh.last() == Some(&key) || known.get(at) == Some(&key) {
            heads.push(head);
            tails.push(tail);
        } else {
            fresh.push(key);
        }
    }
    (fresh, heads, tails)
}

/// The first place from `at` on whose key is not below `key`; steps that double, then halve.
fn advance(list: &[u64], at: usize, key: u64) -> usize {
    let mut step = 1;
    let mut low = at;
    while low + step < list.len() && list[low + step] < key {
        low += step;
        step *= 2;
    }
    let high = (low + step + 1).min(list.len());
    low + list[low..high].partition_point(|&known| known < key)
}

/// What of the accepted pairs was taken out, and what was put in.
#[derive(Default)]
pub struct Changes {
    /// Of the accepted pairs.
    pub removed: HashSet<u64>,
    /// Ascending.
    pub added: Vec<u64>,
}

/// Finds places for the pairs that are left over: a left-over pair (a, b) and a pair (c, d) that holds become (a, d) and (c, b).
fn place(task: Task, accepted: &[u64], heads: &[u32], tails: &[u32]) -> Changes {
    let symmetric = task.recipe.symmetric;
    let counter = Counter::new(task.recipe.seed, "place");
    let mut change = Change { accepted, inside: task.inside, community: task.community, removed: HashSet::new(), added: HashSet::new() };
    let mut homeless = Vec::new();
    for (index, (&head, &tail)) in heads.iter().zip(tails).enumerate() {
        let counter = counter.part(index as u64);
        let switched = !accepted.is_empty()
            && (0..TRIES).any(|attempt| {
                let old = accepted[counter.below(attempt, accepted.len() as u64) as usize];
                // In a symmetric graph the pair may be taken either way round.
                let way = if symmetric && counter.bits(attempt) & 1 == 1 { old.rotate_left(32) } else { old };
                change.switch(old, key(symmetric, head, way as u32), key(symmetric, (way >> 32) as u32, tail))
            });
        if !switched {
            homeless.push((head, tail));
        }
    }
    put_anywhere(task.recipe, task.degrees, &mut change, &homeless);
    let mut added: Vec<u64> = change.added.into_iter().collect();
    added.sort_unstable();
    Changes { removed: change.removed, added }
}

/// Pairs that hold and what became different.
struct Change<'a> {
    accepted: &'a [u64],
    inside: &'a [Vec<u64>],
    community: &'a [u32],
    removed: HashSet<u64>,
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

    /// Takes out a pair of `accepted` and puts in two; whether that was possible.
    fn switch(&mut self, old: u64, one: u64, two: u64) -> bool {
        let possible = one != two && !self.removed.contains(&old) && self.is_free(one) && self.is_free(two);
        if possible {
            self.removed.insert(old);
            self.added.extend([one, two]);
        }
        possible
    }
}

/// Puts as many pairs between nodes drawn evenly as are without a home.
fn put_anywhere(recipe: &Recipe, mut degrees: Vec<u32>, change: &mut Change, homeless: &[(u32, u32)]) {
    let counter = Counter::new(recipe.seed, "anywhere, evenly");
    // In a directed graph these are degrees in both directions: tight enough for the few that come here.
    for (head, tail) in homeless {
        for end in [head, tail] {
            degrees[*end as usize] = degrees[*end as usize].saturating_sub(1);
        }
    }
    let (mut drawn, mut tries, mut missing) = (0, 0, homeless.len());
    while missing > 0 {
        let (one, two) = (counter.below(drawn, u64::from(recipe.nodes)) as u32, counter.below(drawn + 1, u64::from(recipe.nodes)) as u32);
        drawn += 2;
        tries += 1;
        let key = key(recipe.symmetric, one, two);
        // At most a quarter of all pairs is taken, so a try seldom fails but for the degrees; these are let go after many.
        let room = tries > TRIES || degrees[one as usize] < recipe.max_degree && degrees[two as usize] < recipe.max_degree;
        if room && change.is_free(key) {
            change.added.insert(key);
            degrees[one as usize] += 1;
            degrees[two as usize] += 1;
            (tries, missing) = (0, missing - 1);
        }
    }
}

/// A list in random order: sorted by random keys, in parallel.
pub fn shuffled(mut list: Vec<u32>, counter: Counter) -> Vec<u32> {
    const KEY_BITS: u32 = 32;
    let mut keys: Vec<u64> = (0..list.len() as u64).into_par_iter().map(|at| counter.bits(at) >> (u64::BITS - KEY_BITS)).collect();
    sort_stable(&mut keys, Some(&mut list), KEY_BITS);
    list
}
