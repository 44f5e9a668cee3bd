//! Graphs with planted communities and power-law degrees, of exactly as many nodes and edges as asked.
//!
//! promises  exact counts of nodes and of distinct edges; the same bytes for any number of threads; O(edges)
//! promises  no repeated edge and no self loop, but for one: a symmetric graph with an odd number of edges has one self loop
//! never     gives a node more than `max_degree` edges in one direction, unless a quarter of all possible edges is asked, or nearly `max_degree` for all
//! how       Every node gets a degree from a bounded Pareto distribution (exponent 2.5) and that many stubs. A share of the stubs is paired inside
//!           the node's community, the rest anywhere (configuration model); pairs that are loops or repeats are taken apart and paired again.
//!           What is left after some rounds goes between nodes drawn evenly. Dense graphs take pairs in random order instead.
//! limits    2^32 - 2 nodes; memory: 43 bytes an edge at the peak (measured on 4.9 M edges)
use super::counter::Counter;
use crate::transform::{self, sort::sort_stable};
use rayon::prelude::*;
use std::{collections::HashSet, fmt};
use warploom_formats::raw::{Edges, NODES_MOST};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Nodes.
    pub nodes: u32,
    /// Distinct directed edges; of a symmetric graph two a pair, and the odd one is a self loop.
    pub edges: u64,
    /// Whether each edge has its reverse.
    pub symmetric: bool,
    /// The largest degree; one node reaches it.
    pub max_degree: u32,
    /// Nodes in a community, in the mean: they have from half to one and a half times as many.
    pub community: u32,
    /// Share of the edges inside communities, as far as these have room.
    pub inside: f64,
    /// Everything is drawn from it.
    pub seed: u64,
}

/// What is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Sorted by (source, target), without weights.
    pub edges: Edges,
    /// The community of each node.
    pub community: Vec<u32>,
}

/// A recipe that no graph fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// What limits it.
    pub what: &'static str,
    /// At most.
    pub possible: u64,
    /// As asked.
    pub asked: u64,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no graph fits the recipe: {}: expected at most {}, found {}", self.what, self.possible, self.asked)
    }
}

impl std::error::Error for Impossible {}

/// Exponent of the degrees' distribution, less one.
const ALPHA: f64 = 1.5;
/// Times that pairs inside a community, and then anywhere, are taken apart and paired again.
const ROUNDS_INSIDE: u64 = 6;
const ROUNDS_ANYWHERE: u64 = 2;
/// Tries to find a pair to switch with, or two nodes with room.
const TRIES_SWITCH: u64 = 200;
/// A node is paired with at most this share of its community.
const FULL: f64 = 0.6;

/// Makes the graph of a recipe.
pub fn generate(recipe: &Recipe) -> Result<Generated, Impossible> {
    let possible = check(recipe)?;
    let nodes = recipe.nodes;
    let pairs = if recipe.symmetric { recipe.edges / 2 } else { recipe.edges };
    let starts = community_starts(recipe);
    let mut keys = if pairs == 0 {
        Vec::new()
    } else if possible <= pairs.saturating_mul(4) {
        dense(recipe, pairs, &starts)
    } else {
        sparse(recipe, pairs, &starts)
    };
    if recipe.symmetric && recipe.edges % 2 == 1 {
        keys.push(pack(0, 0));
    }
    let ids = shuffled((0..nodes).collect(), Counter::new(recipe.seed, "ids"));
    let id = |position: u64| ids[position as usize];
    let reverses =
        if recipe.symmetric { keys.par_iter().filter(|&&key| key >> 32 != key & MASK).map(|&key| key.rotate_left(32)).collect() } else { Vec::new() };
    let (source, target) = keys.par_iter().chain(&reverses).map(|&key| (id(key >> 32), id(key & MASK))).unzip();
    let mut community = vec![0; nodes as usize];
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(nodes);
        (*start..end).for_each(|position| community[ids[position as usize] as usize] = index as u32);
    }
    Ok(Generated { edges: transform::sort(Edges { source, target, ..Edges::default() }, nodes), community })
}

const MASK: u64 = u32::MAX as u64;

fn pack(head: u32, tail: u32) -> u64 {
    u64::from(head) << 32 | u64::from(tail)
}

/// How many pairs are possible, if those that are asked are.
fn check(recipe: &Recipe) -> Result<u64, Impossible> {
    let nodes = u64::from(recipe.nodes);
    let most = |what, possible, asked| if asked > possible { Err(Impossible { what, possible, asked }) } else { Ok(()) };
    most("nodes", NODES_MOST, nodes)?;
    let all = nodes * nodes.saturating_sub(1);
    let loops = u64::from(recipe.symmetric && nodes > 0 && recipe.edges % 2 == 1);
    most("distinct edges between so many nodes", all + loops, recipe.edges)?;
    most("edges that so many nodes of the largest degree have", nodes * u64::from(recipe.max_degree) + loops, recipe.edges)?;
    Ok(if recipe.symmetric { all / 2 } else { all })
}

/// The first position of each community; positions are nodes before their ids are shuffled.
fn community_starts(recipe: &Recipe) -> Vec<u32> {
    let counter = Counter::new(recipe.seed, "sizes");
    let mean = u64::from(recipe.community.max(1));
    let least = mean.div_ceil(2);
    let mut starts = Vec::new();
    let mut start = 0;
    while start < u64::from(recipe.nodes) {
        starts.push(start as u32);
        start += least + counter.below(starts.len() as u64, 2 * (mean - least) + 1);
        // A rest that is no community joins the last.
        if u64::from(recipe.nodes).saturating_sub(start) < least {
            break;
        }
    }
    starts
}

/// Takes pairs in random order, those inside communities first until they have their share.
fn dense(recipe: &Recipe, pairs: u64, starts: &[u32]) -> Vec<u64> {
    let counter = Counter::new(recipe.seed, "dense");
    let nodes = recipe.nodes;
    let community = |position: u32| starts.partition_point(|&start| start <= position);
    let row = |head: u32| {
        let first = if recipe.symmetric { head + 1 } else { 0 };
        (first..nodes).filter(move |&tail| tail != head).map(move |tail| pack(head, tail))
    };
    let drawn = |key: u64| (counter.bits(key), key);
    let all = (0..nodes).into_par_iter().flat_map_iter(row);
    let (mut inside, mut outside): (Vec<_>, Vec<_>) = all.partition_map(|key| {
        if community((key >> 32) as u32) == community(key as u32) { rayon::iter::Either::Left(drawn(key)) } else { rayon::iter::Either::Right(drawn(key)) }
    });
    let wanted = ((pairs as f64 * recipe.inside).round() as usize).max((pairs as usize).saturating_sub(outside.len())).min(inside.len());
    let take = |list: &mut Vec<(u64, u64)>, count: usize| {
        if count < list.len() {
            list.select_nth_unstable(count);
            list.truncate(count);
        }
        list.iter().map(|&(_, key)| key).collect::<Vec<_>>()
    };
    let mut keys = take(&mut inside, wanted);
    keys.extend(take(&mut outside, pairs as usize - wanted));
    keys
}

/// Pairs stubs inside communities, then anywhere, then nodes drawn evenly.
fn sparse(recipe: &Recipe, pairs: u64, starts: &[u32]) -> Vec<u64> {
    let stubs = if recipe.symmetric { 2 * pairs } else { pairs };
    let degrees = degrees(recipe, stubs);
    let ends = starts.iter().skip(1).copied().chain([recipe.nodes]);
    let communities: Vec<_> = starts.iter().copied().zip(ends).collect();
    let counter = Counter::new(recipe.seed, "inside");
    let share = share_inside(recipe, &degrees, &communities);
    let pair = |(start, end): (u32, u32)| pair_community(recipe, &degrees[start as usize..end as usize], start, share, counter.part(u64::from(start)));
    let local: Vec<Paired> = communities.into_par_iter().map(pair).collect();
    let mut accepted = Vec::with_capacity(pairs as usize);
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    for community in local {
        accepted.extend(community.accepted);
        heads.extend(community.heads);
        tails.extend(community.tails);
    }
    let counter = Counter::new(recipe.seed, "anywhere");
    for round in 0..ROUNDS_ANYWHERE {
        (heads, tails) = regroup(heads, tails, recipe.symmetric, |list| shuffled(list, counter.part(round)));
        let mut keys = candidates(&heads, &tails, recipe.symmetric);
        sort_stable::<()>(&mut keys, None, u64::BITS);
        let fresh;
        (fresh, heads, tails) = sieve(&keys, &accepted);
        accepted.extend(fresh);
        sort_stable::<()>(&mut accepted, None, u64::BITS);
    }
    place(recipe, degrees, &accepted, &heads, &tails)
}

/// How many neighbours a node may have in a community of this size.
fn room(size: usize) -> f64 {
    ((size - 1) as f64 * FULL).floor()
}

/// The share of each node's stubs to pair inside, so that all together are `recipe.inside` of all: large nodes find too little room.
fn share_inside(recipe: &Recipe, degrees: &[u32], communities: &[(u32, u32)]) -> f64 {
    // Sums of whole numbers: the same for any number of threads.
    let inside = |share: f64| -> u64 {
        let one = |&(start, end): &(u32, u32)| -> u64 {
            let most = room((end - start) as usize);
            degrees[start as usize..end as usize].iter().map(|&degree| (64.0 * (f64::from(degree) * share).min(most)) as u64).sum()
        };
        communities.par_iter().map(one).sum()
    };
    let wanted = 64.0 * recipe.inside * degrees.iter().map(|&degree| f64::from(degree)).sum::<f64>();
    let (mut low, mut high) = (recipe.inside, 1.0);
    for _ in 0..12 {
        let middle = (low + high) / 2.0;
        if (inside(middle) as f64) < wanted { low = middle } else { high = middle }
    }
    low
}

/// Pairs that hold, ascending, and the ends of those that do not.
struct Paired {
    accepted: Vec<u64>,
    heads: Vec<u32>,
    tails: Vec<u32>,
}

/// Pairs a share of the stubs of one community with each other; the rest is left over.
fn pair_community(recipe: &Recipe, degrees: &[u32], start: u32, share: f64, counter: Counter) -> Paired {
    let most = room(degrees.len());
    let (mut stubs, mut rest) = (Vec::new(), Vec::new());
    for (at, &degree) in degrees.iter().enumerate() {
        let wanted = f64::from(degree) * share + counter.unit(at as u64);
        let inside = wanted.floor().min(most).min(f64::from(degree)) as usize;
        let position = start + at as u32;
        stubs.extend(std::iter::repeat_n(position, inside));
        rest.extend(std::iter::repeat_n(position, degree as usize - inside));
    }
    if recipe.symmetric && stubs.len() % 2 == 1 {
        rest.extend(stubs.pop());
    }
    let mut tails = if recipe.symmetric { Vec::new() } else { stubs.clone() };
    let mut heads = stubs;
    let mut accepted = Vec::new();
    for round in 0..ROUNDS_INSIDE {
        (heads, tails) = regroup(heads, tails, recipe.symmetric, |mut list| {
            counter.part(round).shuffle(&mut list);
            list
        });
        let mut keys = candidates(&heads, &tails, recipe.symmetric);
        keys.sort_unstable();
        let fresh;
        (fresh, heads, tails) = sieve(&keys, &accepted);
        accepted.extend(fresh);
        accepted.sort_unstable();
        if heads.is_empty() {
            break;
        }
    }
    // Symmetric: all stubs are alike, heads or tails. Directed: every stub is one of either.
    heads.extend(&rest);
    if !recipe.symmetric {
        tails.extend(&rest);
    }
    Paired { accepted, heads, tails }
}

/// Heads and tails in new random company: symmetric graphs know no difference between them.
fn regroup(mut heads: Vec<u32>, mut tails: Vec<u32>, symmetric: bool, shuffle: impl Fn(Vec<u32>) -> Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    if !symmetric {
        return (heads, shuffle(tails));
    }
    heads.append(&mut tails);
    let mut heads = shuffle(heads);
    let tails = heads.split_off(heads.len() / 2);
    (heads, tails)
}

fn candidates(heads: &[u32], tails: &[u32], symmetric: bool) -> Vec<u64> {
    let pair = |(&head, &tail): (&u32, &u32)| if symmetric { pack(head.min(tail), head.max(tail)) } else { pack(head, tail) };
    heads.iter().zip(tails).map(pair).collect()
}

/// Parts sorted pairs into new ones and the ends of loops, repeats and those that are known.
fn sieve(keys: &[u64], known: &[u64]) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let mut fresh = Vec::with_capacity(keys.len());
    let (mut heads, mut tails) = (Vec::new(), Vec::new());
    let mut at = 0;
    for &key in keys {
        at = advance(known, at, key);
        if key >> 32 == key & MASK || fresh.last() == Some(&key) || known.get(at) == Some(&key) {
            heads.push((key >> 32) as u32);
            tails.push(key as u32);
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

/// Finds places for the pairs that are left over, and returns all pairs.
///
/// A left-over pair (a, b) and a pair (c, d) that holds become (a, d) and (c, b): all degrees stay. If none is found in many tries, the pair
/// goes between nodes drawn evenly.
fn place(recipe: &Recipe, degrees: Vec<u32>, accepted: &[u64], heads: &[u32], tails: &[u32]) -> Vec<u64> {
    let counter = Counter::new(recipe.seed, "place");
    let mut change = Change { accepted, removed: HashSet::new(), added: HashSet::new() };
    let mut homeless = Vec::new();
    for (index, (&head, &tail)) in heads.iter().zip(tails).enumerate() {
        let counter = counter.part(index as u64);
        let switched = !accepted.is_empty()
            && (0..TRIES_SWITCH).any(|attempt| {
                let old = accepted[counter.below(attempt, accepted.len() as u64) as usize];
                // In a symmetric graph the pair may be taken either way round.
                let old_way = if recipe.symmetric && counter.bits(attempt) & 1 == 1 { old.rotate_left(32) } else { old };
                let new = candidates(&[head, (old_way >> 32) as u32], &[old_way as u32, tail], recipe.symmetric);
                change.switch(old, new[0], new[1])
            });
        if !switched {
            homeless.push((head, tail));
        }
    }
    put_anywhere(recipe, degrees, &mut change, &homeless);
    let Change { removed, added, .. } = change;
    let mut keys: Vec<u64> = accepted.par_iter().copied().filter(|key| removed.is_empty() || !removed.contains(key)).collect();
    let mut added: Vec<u64> = added.into_iter().collect();
    added.sort_unstable();
    keys.extend(added);
    keys
}

/// Sorted pairs and what became different.
struct Change<'a> {
    accepted: &'a [u64],
    removed: HashSet<u64>,
    added: HashSet<u64>,
}

impl Change<'_> {
    fn is_free(&self, key: u64) -> bool {
        let held = || self.accepted.binary_search(&key).is_ok() && !self.removed.contains(&key);
        key >> 32 != key & MASK && !self.added.contains(&key) && !held()
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
        let key = candidates(&[one], &[two], recipe.symmetric)[0];
        // At most a quarter of all pairs is taken, so a try seldom fails but for the degrees; these are let go after many.
        let room = tries > TRIES_SWITCH || degrees[one as usize] < recipe.max_degree && degrees[two as usize] < recipe.max_degree;
        if room && change.is_free(key) {
            change.added.insert(key);
            degrees[one as usize] += 1;
            degrees[two as usize] += 1;
            (tries, missing) = (0, missing - 1);
        }
    }
}

/// Degrees with a given sum, from a bounded Pareto distribution whose mean fits; one node has the largest.
fn degrees(recipe: &Recipe, sum: u64) -> Vec<u32> {
    let counter = Counter::new(recipe.seed, "degrees");
    let most = recipe.max_degree.min(recipe.nodes - 1);
    let least = least_of_pareto(sum as f64 / f64::from(recipe.nodes), f64::from(most));
    let kept = 1.0 - (least / f64::from(most)).powf(ALPHA);
    let floor = u32::from(sum >= u64::from(recipe.nodes));
    let draw = |node: u32| {
        let value = least * (1.0 - counter.unit(2 * u64::from(node)) * kept).powf(-1.0 / ALPHA);
        ((value + counter.unit(2 * u64::from(node) + 1)).floor() as u32).clamp(floor, most)
    };
    let mut degrees: Vec<u32> = (0..recipe.nodes).into_par_iter().map(draw).collect();
    let top = (0..degrees.len()).max_by_key(|&node| (degrees[node], std::cmp::Reverse(node))).unwrap_or(0);
    degrees[top] = most.min(sum.min(u64::from(u32::MAX)) as u32);
    // The last to be changed is the largest.
    let order: Vec<usize> = (top + 1..degrees.len()).chain(0..=top).collect();
    let mut found: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    for lowest in [floor, 0] {
        let mut changed = true;
        while found != sum && std::mem::take(&mut changed) {
            let step = (found.abs_diff(sum) / u64::from(recipe.nodes)).clamp(1, u64::from(u32::MAX)) as u32;
            for &node in &order {
                let missing = found.abs_diff(sum).min(u64::from(step)) as u32;
                let old = degrees[node];
                degrees[node] = if found < sum { old + missing.min(most - old) } else { old - missing.min(old.saturating_sub(lowest)) };
                changed |= degrees[node] != old;
                found = found + u64::from(degrees[node]) - u64::from(old);
            }
        }
    }
    degrees
}

/// The lower bound of a bounded Pareto distribution with this mean and upper bound.
fn least_of_pareto(mean: f64, most: f64) -> f64 {
    let mean_of = |least: f64| {
        let kept = 1.0 - (least / most).powf(ALPHA);
        least.powf(ALPHA) / kept * ALPHA / (ALPHA - 1.0) * (least.powf(1.0 - ALPHA) - most.powf(1.0 - ALPHA))
    };
    let (mut low, mut high) = (most * 1e-12, most * (1.0 - 1e-9));
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if mean_of(middle) < mean { low = middle } else { high = middle }
    }
    low
}

/// A list in random order: sorted by random keys, in parallel.
fn shuffled(mut list: Vec<u32>, counter: Counter) -> Vec<u32> {
    const KEY_BITS: u32 = 32;
    let mut keys: Vec<u64> = (0..list.len() as u64).into_par_iter().map(|at| counter.bits(at) >> (u64::BITS - KEY_BITS)).collect();
    sort_stable(&mut keys, Some(&mut list), KEY_BITS);
    list
}

#[cfg(test)]
mod tests;
