//! intra_community: pairs inside one community.
//!
//! promises  no loops, no duplicates; no node uses more stubs than it has; ascending pairs
//! how       the stubs are shuffled and paired; loops and duplicates are shuffled again, and the
//!           remaining ones switch ends with accepted pairs
use super::pack_pair;
use crate::generate::{counter::Counter, pairs::Pairs};

/// Shuffles of the stubs.
const ROUNDS: u64 = 8;
/// Tries to find a pair to switch ends with.
const TRIES_SWITCH: u64 = 64;

/// The input of the pairing in a community.
pub struct Task<'a> {
    /// The stubs of each of its nodes.
    pub degrees: &'a [u32],
    /// The position of its first node.
    pub start: u32,
    /// The share of each node's stubs to pair here.
    pub share: f64,
    /// The most neighbours of a node here.
    pub room: f64,
    /// Whether pairs have no direction.
    pub symmetric: bool,
    /// Everything is drawn from it.
    pub counter: Counter,
}

/// Accepted pairs, ascending, and left-over stubs.
pub struct StubPairs {
    /// `head << 32 | tail` by position; in symmetric pairs the head is the smaller one.
    pub accepted: Vec<u64>,
    /// Left-over heads; in a symmetric graph all left-over stubs.
    pub heads: Vec<u32>,
    /// Left-over tails in a directed graph.
    pub tails: Vec<u32>,
}

/// Scratch memory, reused for the next community.
#[derive(Default)]
pub struct Scratch {
    bits: Vec<u64>,
    held: Vec<(u32, u32)>,
}

/// Pairs a share of the stubs of one community with each other.
pub fn pair_stubs(scratch: &mut Scratch, task: &Task) -> StubPairs {
    let (mut heads, mut rest) = split_stubs(task);
    if task.symmetric && heads.len() % 2 == 1 {
        rest.extend(heads.pop());
    }
    let mut tails = if task.symmetric { Vec::new() } else { heads.clone() };
    let mut pairs = Pairs::from_bits(std::mem::take(&mut scratch.bits), task.degrees.len());
    scratch.held.clear();
    for round in 0..ROUNDS {
        let counter = task.counter.part(round);
        if task.symmetric {
            counter.shuffle(&mut heads);
            tails = heads.split_off(heads.len() / 2);
        } else {
            counter.shuffle(&mut tails);
        }
        let mut left = 0;
        for at in 0..heads.len() {
            let (head, tail) = order_pair(task.symmetric, heads[at], tails[at]);
            if head != tail && pairs.insert(head, tail) {
                scratch.held.push((head, tail));
            } else {
                (heads[left], tails[left]) = (head, tail);
                left += 1;
            }
        }
        heads.truncate(left);
        tails.truncate(left);
        if left == 0 {
            break;
        }
        if task.symmetric && round + 1 < ROUNDS {
            heads.append(&mut tails);
        }
    }
    switch_pairs(task, &mut pairs, &mut scratch.held, &mut heads, &mut tails);
    let mut accepted = Vec::with_capacity(scratch.held.len());
    pairs.for_each(|head, tail| accepted.push(pack_pair(task.start + head, task.start + tail)));
    scratch.bits = pairs.into_bits();
    let place = |list: &mut Vec<u32>| list.iter_mut().for_each(|node| *node += task.start);
    if task.symmetric {
        heads.append(&mut tails);
        heads.extend(rest);
    } else {
        heads.extend(&rest);
        tails.extend(rest);
    }
    place(&mut heads);
    place(&mut tails);
    StubPairs { accepted, heads, tails }
}

/// The stubs to pair here, and the others.
fn split_stubs(task: &Task) -> (Vec<u32>, Vec<u32>) {
    let (mut here, mut rest) = (Vec::new(), Vec::new());
    let counter = task.counter.part(u64::MAX);
    for (node, &degree) in task.degrees.iter().enumerate() {
        let wanted = f64::from(degree) * task.share + counter.unit(node as u64);
        let inside = wanted.floor().min(task.room).min(f64::from(degree)) as usize;
        here.extend(std::iter::repeat_n(node as u32, inside));
        rest.extend(std::iter::repeat_n(node as u32, degree as usize - inside));
    }
    (here, rest)
}

fn order_pair(symmetric: bool, head: u32, tail: u32) -> (u32, u32) {
    if symmetric && head > tail { (tail, head) } else { (head, tail) }
}

/// A left-over pair (a, b) and an accepted pair (c, d) become (a, d) and (c, b), so that all
/// degrees stay; pairs without a partner stay left over.
fn switch_pairs(
    task: &Task,
    pairs: &mut Pairs,
    held: &mut Vec<(u32, u32)>,
    heads: &mut Vec<u32>,
    tails: &mut Vec<u32>,
) {
    let counter = task.counter.part(u64::MAX - 1);
    let mut left = 0;
    for at in 0..heads.len() {
        let counter = counter.part(at as u64);
        let (head, tail) = (heads[at], tails[at]);
        let found = (0..if held.is_empty() { 0 } else { TRIES_SWITCH }).find_map(|attempt| {
            let index = counter.below(attempt, held.len() as u64) as usize;
            let (mut from, mut to) = held[index];
            if task.symmetric && counter.bits(attempt) & 1 == 1 {
                (from, to) = (to, from);
            }
            let (one, two) =
                (order_pair(task.symmetric, head, to), order_pair(task.symmetric, from, tail));
            let free = one != two
                && one.0 != one.1
                && two.0 != two.1
                && !pairs.contains(one.0, one.1)
                && !pairs.contains(two.0, two.1);
            free.then_some((index, one, two))
        });
        match found {
            Some((index, one, two)) => {
                let old = held[index];
                pairs.remove(old.0, old.1);
                pairs.insert(one.0, one.1);
                pairs.insert(two.0, two.1);
                held[index] = one;
                held.push(two);
            }
            None => {
                (heads[left], tails[left]) = (head, tail);
                left += 1;
            }
        }
    }
    heads.truncate(left);
    tails.truncate(left);
}
