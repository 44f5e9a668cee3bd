//! levels: how many edges away the nearest of some vertices is (direction-optimising breadth-first search, Beamer et al. 2012).
//!
//! promises  the level of every vertex that is reached, `FAR` elsewhere
//! bytes     pushing reads the out-edges of the frontier; pulling reads, of each vertex that is not reached, edges until one comes
//!           from the frontier: less where the frontier has a large part of all edges
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::{GoOn, Lists};

/// Not reached.
pub const FAR: u32 = u32::MAX;

/// Pull when the frontier has more than this share of the edges that are left (Beamer's alpha).
const PULL_SHARE: u64 = 15;
/// Push again when fewer than this share of the vertices are in the frontier (his beta).
const PUSH_SHARE: usize = 18;
/// Frontiers with fewer edges are pushed by one thread: waking others takes longer.
const EDGES_ALONE: u64 = 4096;
/// Vertices of a frontier that one task pushes.
const TASK_VERTICES: usize = 256;
/// Words of 64 vertices that one task pulls.
const TASK_WORDS: usize = 32;

/// The graph of a search: `push` leads from a vertex to those that read it, `pull` to those that it reads.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// From a vertex to those that are one further.
    pub push: &'a [Lists<'a>],
    /// The same edges from their other ends.
    pub pull: &'a [Lists<'a>],
    /// The vertices that are at level 0, each once.
    pub sources: &'a [u32],
    /// Vertices at this level reach no others.
    pub last: u32,
}

/// The level of every vertex and the number of levels that were found; nothing where it was told to stop.
pub fn levels(search: &Search, go_on: GoOn) -> Option<(Vec<u32>, u32)> {
    let nodes = search.push[0].rows();
    let walk = Walk::new(search, nodes);
    let mut frontier = Frontier::List(search.sources.to_vec());
    let (mut level, mut left) = (0, search.push.iter().map(|lists| lists.neighbours.len() as u64).sum::<u64>());
    loop {
        if frontier.is_empty() || level == search.last {
            // The superstep that finds nothing is one of them.
            return Some((walk.levels(), (level + u32::from(!frontier.is_empty())).max(1)));
        }
        if !go_on() {
            return None;
        }
        level += 1;
        frontier = match frontier {
            Frontier::List(list) => {
                let edges = walk.edges_of(&list);
                left = left.saturating_sub(edges);
                if edges > EDGES_ALONE && edges > left / PULL_SHARE { walk.pull(&walk.bits(&list), level) } else { walk.push(list, edges, level) }
            }
            Frontier::Bits(bits, count) if count < nodes / PUSH_SHARE => {
                let list = listed(&bits);
                let edges = walk.edges_of(&list);
                left = left.saturating_sub(edges);
                walk.push(list, edges, level)
            }
            Frontier::Bits(bits, _) => walk.pull(&bits, level),
        };
    }
}

/// Vertices that were reached last.
enum Frontier {
    List(Vec<u32>),
    /// A bit for each vertex, and how many are set.
    Bits(Vec<u64>, usize),
}

impl Frontier {
    fn is_empty(&self) -> bool {
        match self {
            Frontier::List(list) => list.is_empty(),
            Frontier::Bits(_, count) => *count == 0,
        }
    }
}

struct Walk<'a> {
    search: &'a Search<'a>,
    reached: Vec<AtomicU64>,
    level: Vec<AtomicU32>,
}

impl<'a> Walk<'a> {
    fn new(search: &'a Search<'a>, nodes: usize) -> Self {
        let mut reached: Vec<AtomicU64> = (0..nodes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        // What lies behind the last vertex is never looked for.
        if let (Some(last), true) = (reached.last_mut(), nodes % 64 > 0) {
            *last.get_mut() = !0 << (nodes % 64);
        }
        let level: Vec<AtomicU32> = (0..nodes).into_par_iter().with_min_len(1 << 16).map(|_| AtomicU32::new(FAR)).collect();
        for &source in search.sources {
            reached[source as usize / 64].fetch_or(1 << (source % 64), Relaxed);
            level[source as usize].store(0, Relaxed);
        }
        Walk { search, reached, level }
    }

    fn levels(self) -> Vec<u32> {
        self.level.into_iter().map(AtomicU32::into_inner).collect()
    }

    fn edges_of(&self, list: &[u32]) -> u64 {
        let degree = |vertex: &u32| self.search.push.iter().map(|lists| lists.degree(*vertex as usize) as u64).sum::<u64>();
        if list.len() > 1 << 14 { list.par_iter().map(degree).sum() } else { list.iter().map(degree).sum() }
    }

    fn bits(&self, list: &[u32]) -> Vec<u64> {
        let mut bits = vec![0; self.reached.len()];
        list.iter().for_each(|&vertex| bits[vertex as usize / 64] |= 1 << (vertex % 64));
        bits
    }

    /// Reaches what the frontier leads to.
    fn push(&self, list: Vec<u32>, edges: u64, level: u32) -> Frontier {
        if edges <= EDGES_ALONE {
            let mut next = Vec::new();
            self.push_from(&list, level, &mut next);
            return Frontier::List(next);
        }
        let parts = list.par_chunks(TASK_VERTICES).fold(Vec::new, |mut next, part| {
            self.push_from(part, level, &mut next);
            next
        });
        Frontier::List(parts.reduce(Vec::new, |mut all, mut part| {
            if all.len() < part.len() {
                std::mem::swap(&mut all, &mut part);
            }
            all.append(&mut part);
            all
        }))
    }

    fn push_from(&self, list: &[u32], level: u32, next: &mut Vec<u32>) {
        for &vertex in list {
            for &far in self.search.push.iter().flat_map(|lists| lists.of(vertex as usize)) {
                let (word, bit) = (&self.reached[far as usize / 64], 1 << (far % 64));
                if word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0 {
                    self.level[far as usize].store(level, Relaxed);
                    next.push(far);
                }
            }
        }
    }

    /// Looks from what is not reached for the frontier.
    fn pull(&self, frontier: &[u64], level: u32) -> Frontier {
        let mut next = vec![0u64; frontier.len()];
        let found = next.par_chunks_mut(TASK_WORDS).enumerate().map(|(task, next)| {
            let mut count = 0;
            for (at, next) in next.iter_mut().enumerate() {
                let word = task * TASK_WORDS + at;
                let mut left = !self.reached[word].load(Relaxed);
                while left != 0 {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    let vertex = word * 64 + bit as usize;
                    let is_next = |far: &u32| frontier[*far as usize / 64] >> (far % 64) & 1 == 1;
                    if self.search.pull.iter().any(|lists| lists.of(vertex).iter().any(is_next)) {
                        *next |= 1 << bit;
                        self.level[vertex].store(level, Relaxed);
                    }
                }
                if *next != 0 {
                    self.reached[word].fetch_or(*next, Relaxed);
                    count += next.count_ones() as usize;
                }
            }
            count
        });
        let count = found.sum();
        Frontier::Bits(next, count)
    }
}

fn listed(bits: &[u64]) -> Vec<u32> {
    let mut list = Vec::new();
    for (word, &bits) in bits.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            list.push(word as u32 * 64 + left.trailing_zeros());
            left &= left - 1;
        }
    }
    list
}
