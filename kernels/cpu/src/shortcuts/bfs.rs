//! bfs: the distance of each vertex from the nearest source, in edges (direction-optimising
//! breadth-first search, Beamer et al. 2012).
//!
//! promises  the level of every reached vertex, `FAR` elsewhere
//! bytes     pushing reads the out-edges of the frontier; pulling reads, for each unreached vertex,
//!           edges until one comes from the frontier: fewer where the frontier has a large part of
//!           all edges
use std::sync::{
    Mutex, RwLock,
    atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    AT_LEAST, GoOn, NeighbourLists,
    thread_team::{self, Leader, held, part_of},
};

/// Not reached.
pub const FAR: u32 = u32::MAX;

/// Steps over fewer edges are taken by one thread.
const EDGES_ALONE: u64 = 1 << 11;
/// Frontiers with fewer edges are never pulled.
const EDGES_PULLED: u64 = 1 << 12;
/// Cost of a pulled edge relative to a pushed one: the end of a row is a mispredicted branch.
const PULL_COST: u64 = 4;
/// Edges of a frontier per task, at least, or vertices that are only marked; and such tasks per
/// thread.
const TASK_EDGES: u64 = 1 << 10;
const TASK_VERTICES: usize = 1 << 10;
const TASKS: usize = 8;
/// Edges that pulling tests per branch.
const AT_ONCE: usize = 4;
/// Vertices ahead whose edges pulling prefetches.
const PULLED_AHEAD: usize = 16;
/// Words of 64 vertices per pull task.
const TASK_WORDS: usize = 32;

/// Kinds of rounds.
const PUSH: u32 = 0;
const PULL: u32 = 1;
const LIST: u32 = 2;
const MARK: u32 = 3;

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
    let walk = BfsWalk::new(search, search.push[0].rows());
    let round = |kind: u32, task: usize| match kind {
        PUSH => walk.push(task),
        PULL => walk.pull(task),
        LIST => walk.list_bits(task),
        _ => walk.mark(task),
    };
    let levels = thread_team::lead(&round, |leader| walk.run(leader, go_on))?;
    Some((walk.level.into_iter().map(AtomicU32::into_inner).collect(), levels))
}

/// What is not reached yet.
struct Left {
    vertices: u64,
    edges: u64,
}

impl Left {
    fn take(&mut self, vertices: usize, edges: u64) {
        self.vertices = self.vertices.saturating_sub(vertices as u64);
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

/// The vertices that the last step reached, in one of two forms.
struct Frontier {
    /// Each at least once; else a bit per vertex.
    is_list: bool,
    vertices: usize,
    /// Edges that leave them.
    edges: u64,
}

struct BfsWalk<'a> {
    search: &'a Search<'a>,
    level: Vec<AtomicU32>,
    /// A bit per vertex that was reached, or that pulling found to have no in-edges. Threads may
    /// overwrite each other's bits: `level` is authoritative, and a missing bit only costs a look
    /// at it.
    reached: Vec<AtomicU64>,
    /// The level that is being found.
    now: AtomicU32,
    /// The frontier as a list, and how many vertices of it a task takes.
    list: RwLock<Vec<u32>>,
    share: AtomicUsize,
    /// What the step reaches: as a list, and how many edges leave it.
    found: Mutex<Vec<u32>>,
    found_vertices: AtomicUsize,
    found_edges: AtomicU64,
    /// Frontiers as bits: that of even levels, and that of odd ones.
    bits: [Vec<AtomicU64>; 2],
}

impl<'a> BfsWalk<'a> {
    fn new(search: &'a Search<'a>, nodes: usize) -> Self {
        let zeroes = || -> Vec<AtomicU64> {
            vec![0u64; nodes.div_ceil(64)].into_iter().map(AtomicU64::new).collect()
        };
        let reached = zeroes();
        // Bits beyond the last vertex count as reached.
        if let (Some(last), true) = (reached.last(), !nodes.is_multiple_of(64)) {
            last.store(!0 << (nodes % 64), Relaxed);
        }
        let level: Vec<AtomicU32> = (0..nodes)
            .into_par_iter()
            .with_min_len(AT_LEAST)
            .map(|_| AtomicU32::new(FAR))
            .collect();
        for &source in search.sources {
            let word = &reached[source as usize / 64];
            word.store(word.load(Relaxed) | 1 << (source % 64), Relaxed);
            level[source as usize].store(0, Relaxed);
        }
        BfsWalk {
            search,
            level,
            reached,
            now: AtomicU32::new(0),
            list: RwLock::new(search.sources.to_vec()),
            share: AtomicUsize::new(0),
            found: Mutex::default(),
            found_vertices: AtomicUsize::new(0),
            found_edges: AtomicU64::new(0),
            bits: [zeroes(), zeroes()],
        }
    }

    /// Step after step; the number of levels.
    fn run(&self, leader: &Leader, go_on: GoOn) -> Option<u32> {
        let mut left = Left {
            vertices: self.level.len() as u64,
            edges: self.search.push.iter().map(|lists| lists.neighbours.len() as u64).sum(),
        };
        let mut frontier = self.frontier_of(self.search.sources);
        loop {
            let level = self.now.load(Relaxed);
            if frontier.vertices == 0 || level == self.search.last {
                // The superstep that finds nothing counts too.
                return Some((level + u32::from(frontier.vertices > 0)).max(1));
            }
            if !go_on() {
                return None;
            }
            self.now.store(level + 1, Relaxed);
            left.take(frontier.vertices, frontier.edges);
            frontier = match left.pulls(frontier.edges) {
                true => {
                    let edges = left.pulled(frontier.edges);
                    self.step_by_pulling(&frontier, leader, leader.gains(edges, EDGES_ALONE))
                }
                false => self.step_by_pushing(&frontier, leader),
            };
        }
    }

    fn degree(&self, vertex: u32) -> u64 {
        self.search.push.iter().map(|lists| lists.degree(vertex as usize) as u64).sum()
    }

    fn frontier_of(&self, list: &[u32]) -> Frontier {
        let edges = list.iter().map(|&vertex| self.degree(vertex)).sum();
        Frontier { is_list: true, vertices: list.len(), edges }
    }

    /// A round over the list.
    fn run_over_list(&self, kind: u32, vertices: usize, tasks: usize, leader: &Leader) {
        let share = vertices.div_ceil(tasks).max(1);
        self.share.store(share, Relaxed);
        leader.run(kind, vertices.div_ceil(share));
    }

    /// A round over the bits, by one thread or all.
    fn run_over_bits(&self, kind: u32, leader: &Leader, gains: bool) {
        let tasks = self.reached.len().div_ceil(TASK_WORDS);
        match (gains, kind) {
            (true, _) => leader.run(kind, tasks),
            (false, PULL) => (0..tasks).for_each(|task| self.pull(task)),
            (false, _) => (0..tasks).for_each(|task| self.list_bits(task)),
        }
    }

    /// Takes what the round found as a list.
    fn take_list(&self) -> usize {
        let mut list = held(self.list.write());
        let mut found = held(self.found.lock());
        std::mem::swap(&mut *list, &mut *found);
        found.clear();
        list.len()
    }

    fn add_found(&self, found: &[u32]) {
        let mut all = held(self.found.lock());
        all.extend_from_slice(found);
    }

    /// Expands the frontier along its out-edges.
    fn step_by_pushing(&self, frontier: &Frontier, leader: &Leader) -> Frontier {
        if !frontier.is_list {
            self.run_over_bits(LIST, leader, leader.gains(frontier.vertices as u64, EDGES_ALONE));
            self.take_list();
        }
        if !leader.gains(frontier.edges, EDGES_ALONE) {
            let mut list = held(self.list.write());
            *list = self.push_alone(&list, frontier.edges);
            return self.frontier_of(&list);
        }
        self.found_edges.store(0, Relaxed);
        let listed = held(self.list.read()).len();
        // A vertex may have many edges, so that few may be a task.
        let tasks = (frontier.edges / TASK_EDGES).clamp(1, (leader.threads() * TASKS) as u64);
        self.run_over_list(PUSH, listed, tasks as usize, leader);
        let vertices = self.take_list();
        Frontier { is_list: true, vertices, edges: self.found_edges.load(Relaxed) }
    }

    /// Searches the frontier from each unreached vertex.
    fn step_by_pulling(&self, frontier: &Frontier, leader: &Leader, gains: bool) -> Frontier {
        if frontier.is_list {
            self.bits[self.parity() ^ 1].iter().for_each(|word| word.store(0, Relaxed));
            let tasks = frontier.vertices.div_ceil(TASK_VERTICES).min(leader.threads() * TASKS);
            self.run_over_list(MARK, frontier.vertices, tasks.max(1), leader);
        }
        self.found_vertices.store(0, Relaxed);
        self.found_edges.store(0, Relaxed);
        self.run_over_bits(PULL, leader, gains);
        Frontier {
            is_list: false,
            vertices: self.found_vertices.load(Relaxed),
            edges: self.found_edges.load(Relaxed),
        }
    }

    /// Which of `bits` this step writes.
    fn parity(&self) -> usize {
        self.now.load(Relaxed) as usize & 1
    }

    /// `push` by one thread, branch-free: each vertex is appended, and the count advances only if
    /// it is new.
    fn push_alone(&self, list: &[u32], edges: u64) -> Vec<u32> {
        let level = self.now.load(Relaxed);
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

    /// Expands a part of the list.
    fn push(&self, task: usize) {
        let level = self.now.load(Relaxed);
        let (mut next, mut edges) = (Vec::new(), 0);
        let list = held(self.list.read());
        let list = part_of(&list, self.share.load(Relaxed), task);
        for (at, &vertex) in list.iter().enumerate() {
            for lists in self.search.push {
                lists.prefetch_ahead(list, at);
                for &far in lists.neighbours(vertex as usize) {
                    if self.reach(far, level) {
                        next.push(far);
                        edges += self.degree(far);
                    }
                }
            }
        }
        self.add_found(&next);
        self.found_edges.fetch_add(edges, Relaxed);
    }

    /// Whether a vertex is new. Two threads may both find that it is: then it is expanded twice.
    #[inline(always)]
    fn reach(&self, vertex: u32, level: u32) -> bool {
        let (word, bit) = (&self.reached[vertex as usize / 64], 1 << (vertex % 64));
        let bits = word.load(Relaxed);
        if bits & bit != 0 {
            return false;
        }
        word.store(bits | bit, Relaxed);
        let known = &self.level[vertex as usize];
        let is_new = known.load(Relaxed) == FAR;
        if is_new {
            known.store(level, Relaxed);
        }
        is_new
    }

    /// Sets the bits of a part of the list.
    fn mark(&self, task: usize) {
        let bits = &self.bits[self.parity() ^ 1];
        let list = held(self.list.read());
        for &vertex in part_of(&list, self.share.load(Relaxed), task) {
            bits[vertex as usize / 64].fetch_or(1 << (vertex % 64), Relaxed);
        }
    }

    /// Lists the set bits of a part of the words.
    fn list_bits(&self, task: usize) {
        let mut list = Vec::new();
        let bits = &self.bits[self.parity() ^ 1];
        let first = task * TASK_WORDS;
        for (bits, word) in bits[first..].iter().take(TASK_WORDS).zip(first..) {
            let mut left = bits.load(Relaxed);
            while left != 0 {
                list.push(word as u32 * 64 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        self.add_found(&list);
    }

    /// Searches the frontier from each unreached vertex of a part of the words.
    fn pull(&self, task: usize) {
        let (level, parity) = (self.now.load(Relaxed), self.parity());
        let (frontier, next) = (&self.bits[parity ^ 1], &self.bits[parity]);
        let (mut vertices, mut edges) = (0, 0);
        // A few at a time: a branch per edge would be mispredicted at every row end.
        let is_next = |some: &[u32]| {
            let found = some.iter().fold(0, |found, &far| {
                found | frontier[far as usize / 64].load(Relaxed) >> (far % 64)
            });
            found & 1 == 1
        };
        let first = task * TASK_WORDS;
        for (next, word) in next[first..].iter().take(TASK_WORDS).zip(first..) {
            let reached = self.reached[word].load(Relaxed);
            let (mut left, mut known, mut found) = (!reached, reached, 0);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let vertex = word * 64 + bit as usize;
                let mut pull = self.search.pull.iter();
                pull.clone().for_each(|lists| lists.prefetch_entries(vertex + PULLED_AHEAD));
                if self.level[vertex].load(Relaxed) != FAR {
                    known |= 1 << bit;
                } else if pull.any(|lists| lists.neighbours(vertex).chunks(AT_ONCE).any(is_next)) {
                    found |= 1 << bit;
                    self.level[vertex].store(level, Relaxed);
                    edges += self.degree(vertex as u32);
                } else if self.search.pull.iter().all(|lists| lists.degree(vertex) == 0) {
                    // Never reached: later steps skip it.
                    known |= 1 << bit;
                }
            }
            next.store(found, Relaxed);
            if known | found != reached {
                self.reached[word].store(known | found, Relaxed);
                vertices += found.count_ones() as usize;
            }
        }
        self.found_vertices.fetch_add(vertices, Relaxed);
        self.found_edges.fetch_add(edges, Relaxed);
    }
}

/// Bytes of the arrays that have an element of each vertex.
#[cfg(test)]
pub fn bytes_of_arrays(search: &Search) -> usize {
    let walk = BfsWalk::new(search, search.push[0].rows());
    let words = walk.bits.iter().chain([&walk.reached]);
    4 * walk.level.capacity() + words.map(|bits| 8 * bits.capacity()).sum::<usize>()
}
