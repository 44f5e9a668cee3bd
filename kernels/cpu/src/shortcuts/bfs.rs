//! bfs: the distance of each vertex from the nearest source, in edges (direction-optimising
//! breadth-first search, Beamer et al. 2012).
//!
//! promises  the level of every reached vertex, `FAR` elsewhere
//! bytes     pushing reads the out-edges of the frontier; pulling reads, for each unreached vertex,
//!           edges until one comes from the frontier: fewer where the frontier has a large part of
//!           all edges
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::{GoOn, NeighbourLists};

/// Not reached.
pub const FAR: u32 = u32::MAX;

/// Frontiers with fewer edges are pushed by one thread, and as many edges pulled: waking others
/// takes longer.
const EDGES_ALONE: u64 = 1 << 17;
/// Frontiers with fewer edges are never pulled.
const EDGES_PULLED: u64 = 1 << 12;
/// Cost of a pulled edge relative to a pushed one: the end of a row is a mispredicted branch.
const PULL_COST: u64 = 4;
/// Vertices of a frontier per push task.
const TASK_VERTICES: usize = 1024;
/// Edges that pulling tests per branch.
const AT_ONCE: usize = 4;
/// Words of 64 vertices per pull task.
const TASK_WORDS: usize = 32;

/// The graph of a search: `push` leads from a vertex to its readers, `pull` to the vertices it
/// reads.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// From a vertex to those one level further.
    pub push: &'a [NeighbourLists<'a>],
    /// The same edges from their other ends.
    pub pull: &'a [NeighbourLists<'a>],
    /// The vertices at level 0, without duplicates.
    pub sources: &'a [u32],
    /// Vertices at this level are not expanded.
    pub last: u32,
}

/// The level of every vertex and the number of levels; none if it was stopped.
pub fn levels(search: &Search, go_on: GoOn) -> Option<(Vec<u32>, u32)> {
    let nodes = search.push[0].rows();
    let walk = BfsWalk::new(search, nodes);
    let mut left = Left {
        vertices: nodes as u64,
        edges: search.push.iter().map(|lists| lists.neighbours.len() as u64).sum(),
    };
    let (mut frontier, mut level) = (Frontier::List(search.sources.to_vec()), 0);
    loop {
        if frontier.is_empty() || level == search.last {
            // The superstep that finds nothing counts too.
            return Some((walk.levels(), (level + u32::from(!frontier.is_empty())).max(1)));
        }
        if !go_on() {
            return None;
        }
        level += 1;
        let edges = walk.edges_of(&frontier);
        left.take(&frontier, edges);
        let alone = left.pulled(edges) <= EDGES_ALONE;
        frontier = match (frontier, left.pulls(edges)) {
            (Frontier::List(list), true) => walk.pull(&walk.bits(&list), level, alone),
            (Frontier::Bits(bits, _), true) => walk.pull(&bits, level, alone),
            (Frontier::List(list), false) => walk.push(&list, edges, level),
            (Frontier::Bits(bits, _), false) => walk.push(&listed(&bits), edges, level),
        };
    }
}

/// What is not reached yet.
struct Left {
    vertices: u64,
    edges: u64,
}

impl Left {
    fn take(&mut self, frontier: &Frontier, edges: u64) {
        self.vertices = self.vertices.saturating_sub(frontier.len() as u64);
        self.edges = self.edges.saturating_sub(edges);
    }

    /// The expected number of edges that pulling reads: one edge in `left.edges / edges` comes from
    /// the frontier, so that many are read per vertex.
    fn pulled(&self, edges: u64) -> u64 {
        u64::try_from(u128::from(self.vertices) * u128::from(self.edges) / u128::from(edges.max(1)))
            .unwrap_or(u64::MAX)
    }

    /// Whether pulling is cheaper.
    fn pulls(&self, edges: u64) -> bool {
        edges > EDGES_PULLED && edges > self.pulled(edges).saturating_mul(PULL_COST)
    }
}

/// Vertices reached by the last step.
enum Frontier {
    /// Each at least once.
    List(Vec<u32>),
    /// A bit per vertex, and how many are set.
    Bits(Vec<u64>, usize),
}

impl Frontier {
    fn len(&self) -> usize {
        match self {
            Frontier::List(list) => list.len(),
            Frontier::Bits(_, count) => *count,
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

struct BfsWalk<'a> {
    search: &'a Search<'a>,
    level: Vec<AtomicU32>,
    /// A bit per reached vertex. Threads may overwrite each other's bits: `level` is authoritative,
    /// and a missing bit only costs a look at it.
    reached: Vec<AtomicU64>,
}

impl<'a> BfsWalk<'a> {
    fn new(search: &'a Search<'a>, nodes: usize) -> Self {
        let mut reached = vec![0u64; nodes.div_ceil(64)];
        // Bits beyond the last vertex count as reached.
        if let (Some(last), true) = (reached.last_mut(), !nodes.is_multiple_of(64)) {
            *last = !0 << (nodes % 64);
        }
        let mut level = vec![FAR; nodes];
        for &source in search.sources {
            reached[source as usize / 64] |= 1 << (source % 64);
            level[source as usize] = 0;
        }
        BfsWalk {
            search,
            level: level.into_iter().map(AtomicU32::new).collect(),
            reached: reached.into_iter().map(AtomicU64::new).collect(),
        }
    }

    fn levels(self) -> Vec<u32> {
        self.level.into_iter().map(AtomicU32::into_inner).collect()
    }

    fn edges_of(&self, frontier: &Frontier) -> u64 {
        let degree = |vertex: u32| {
            self.search.push.iter().map(|lists| lists.degree(vertex as usize) as u64).sum::<u64>()
        };
        match frontier {
            Frontier::List(list) => list.iter().map(|&vertex| degree(vertex)).sum(),
            Frontier::Bits(bits, _) => {
                let mut edges = 0;
                for_each_bit(bits, |vertex| edges += degree(vertex));
                edges
            }
        }
    }

    fn bits(&self, list: &[u32]) -> Vec<u64> {
        let mut bits = vec![0; self.reached.len()];
        list.iter().for_each(|&vertex| bits[vertex as usize / 64] |= 1 << (vertex % 64));
        bits
    }

    /// Expands the frontier along its out-edges.
    fn push(&self, list: &[u32], edges: u64, level: u32) -> Frontier {
        if edges <= EDGES_ALONE {
            return Frontier::List(self.push_alone(list, edges, level));
        }
        let parts: Vec<Vec<u32>> = list
            .par_chunks(TASK_VERTICES)
            .fold(Vec::new, |mut next, part| {
                self.push_from(part, level, &mut next);
                next
            })
            .collect();
        Frontier::List(parts.concat())
    }

    /// `push` by one thread, branch-free: each vertex is appended, and the count advances only if
    /// it is new.
    fn push_alone(&self, list: &[u32], edges: u64, level: u32) -> Vec<u32> {
        let mut next = vec![0; (edges as usize).min(self.level.len()) + 1];
        let mut count = 0;
        for (at, &vertex) in list.iter().enumerate() {
            for lists in self.search.push {
                lists.prefetch_ahead(list, at);
                for &far in lists.neighbours(vertex as usize) {
                    let (word, bit) = (&self.reached[far as usize / 64], far % 64);
                    let bits = word.load(Relaxed);
                    word.store(bits | 1 << bit, Relaxed);
                    next[count] = far;
                    count += usize::from(bits >> bit & 1 == 0);
                }
            }
        }
        next.truncate(count);
        next.retain(|&vertex| {
            let known = &self.level[vertex as usize];
            let is_new = known.load(Relaxed) == FAR;
            if is_new {
                known.store(level, Relaxed);
            }
            is_new
        });
        next
    }

    fn push_from(&self, list: &[u32], level: u32, next: &mut Vec<u32>) {
        for (at, &vertex) in list.iter().enumerate() {
            for lists in self.search.push {
                lists.prefetch_ahead(list, at);
                for &far in lists.neighbours(vertex as usize) {
                    self.reach(far, level, next);
                }
            }
        }
    }

    #[inline(always)]
    fn reach(&self, vertex: u32, level: u32, next: &mut Vec<u32>) {
        let (word, bit) = (&self.reached[vertex as usize / 64], 1 << (vertex % 64));
        let bits = word.load(Relaxed);
        if bits & bit == 0 {
            word.store(bits | bit, Relaxed);
            let known = &self.level[vertex as usize];
            if known.load(Relaxed) == FAR {
                known.store(level, Relaxed);
                next.push(vertex);
            }
        }
    }

    /// Searches the frontier from each unreached vertex.
    fn pull(&self, frontier: &[u64], level: u32, alone: bool) -> Frontier {
        let mut next = vec![0u64; frontier.len()];
        let work = |(task, next): (usize, &mut [u64])| {
            let mut count = 0;
            for (at, next) in next.iter_mut().enumerate() {
                let word = task * TASK_WORDS + at;
                let reached = self.reached[word].load(Relaxed);
                let (mut left, mut known) = (!reached, reached);
                while left != 0 {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    let vertex = word * 64 + bit as usize;
                    // A few at a time: a branch per edge would be mispredicted at every row end.
                    let is_next = |some: &[u32]| {
                        some.iter().fold(0, |found, &far| {
                            found | frontier[far as usize / 64] >> (far % 64)
                        }) & 1
                            == 1
                    };
                    if self.level[vertex].load(Relaxed) != FAR {
                        known |= 1 << bit;
                    } else if self
                        .search
                        .pull
                        .iter()
                        .any(|lists| lists.neighbours(vertex).chunks(AT_ONCE).any(is_next))
                    {
                        *next |= 1 << bit;
                        self.level[vertex].store(level, Relaxed);
                    }
                }
                if known | *next != reached {
                    self.reached[word].store(known | *next, Relaxed);
                    count += next.count_ones() as usize;
                }
            }
            count
        };
        let count = match alone {
            true => next.chunks_mut(TASK_WORDS).enumerate().map(work).sum(),
            false => next.par_chunks_mut(TASK_WORDS).enumerate().map(work).sum(),
        };
        Frontier::Bits(next, count)
    }
}

fn for_each_bit(bits: &[u64], mut work: impl FnMut(u32)) {
    for (word, &bits) in bits.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            work(word as u32 * 64 + left.trailing_zeros());
            left &= left - 1;
        }
    }
}

fn listed(bits: &[u64]) -> Vec<u32> {
    let mut list = Vec::new();
    for_each_bit(bits, |vertex| list.push(vertex));
    list
}
