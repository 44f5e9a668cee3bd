//! k_core: core numbers, by peeling vertices with too few remaining neighbours, level by level
//! (ParK, Dasari et al. 2014; PKC, Kabir & Madduri 2017).
//!
//! A level is peeled in waves. A wave with many edges is divided among threads, which count edges
//! down by atomic operations and go on with what falls to the level, up to a bound; the rest is the
//! next wave. Others are taken by one thread.
//!
//! promises  for every vertex the largest k such that it belongs to a set of vertices each of which
//!           reads at least k of the set: the fixed point of iterated h-indices of the neighbours'
//!           values, from their degrees; it is unique, whatever the order of peeling
//! bytes     every edge once, with one number of its far end, and once per level the remaining
//!           degrees
//! limits    8 bytes a vertex, and up to 12 of the waves
use std::sync::{
    Mutex, RwLock,
    atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    AT_LEAST, GoOn, NeighbourLists,
    thread_team::{self, Leader, held, part_of},
};

/// A wave, and a look at the remaining vertices, with less work is done by one thread.
const WORK_ALONE: u64 = 1 << 13;
/// Vertices whose degrees say how many edges a wave has.
const SAMPLE: usize = 256;
/// Parts of the vertices that are left, at most.
const PARTS: usize = 64;
/// Tasks per thread.
const TASKS: usize = 8;
/// Edges beside those of its share that a task counts before others may help with the rest.
const MORE: u64 = 1 << 10;

/// Kinds of rounds.
const SCAN: u32 = 0;
const PEEL: u32 = 1;

/// Core numbers. A vertex counts the vertices it reads, `pull`; `push` has the same edges from
/// their other ends. None if it was stopped.
pub fn cores(push: &[NeighbourLists], pull: &[NeighbourLists], go_on: GoOn) -> Option<Vec<u32>> {
    let peeling = Peeling::new(push, pull);
    let round = |kind: u32, task: usize| match kind {
        SCAN => peeling.scan(task),
        _ => peeling.peel(task),
    };
    thread_team::lead(&round, |leader| peeling.run(leader, go_on))?;
    Some(peeling.left.into_iter().map(AtomicU32::into_inner).collect())
}

struct Peeling<'a> {
    push: &'a [NeighbourLists<'a>],
    /// Remaining degrees; of a peeled vertex its core number.
    left: Vec<AtomicU32>,
    /// Vertices that may remain, in parts.
    alive: Vec<Mutex<Vec<u32>>>,
    /// What is being peeled, and how many vertices of it a task takes.
    wave: RwLock<Vec<u32>>,
    share: AtomicUsize,
    /// Vertices that tasks peeled.
    peeled: AtomicUsize,
    /// What the wave made fall to the level.
    fallen: Mutex<Vec<u32>>,
    core: AtomicU32,
    /// The lowest degree beyond the level.
    least: AtomicU32,
}

impl<'a> Peeling<'a> {
    fn new(push: &'a [NeighbourLists<'a>], pull: &[NeighbourLists]) -> Self {
        let nodes = push[0].rows();
        let degree = |vertex| pull.iter().map(|lists| lists.degree(vertex)).sum::<usize>() as u32;
        let rows = (0..nodes).into_par_iter().with_min_len(AT_LEAST);
        let left: Vec<AtomicU32> = rows.map(|vertex| AtomicU32::new(degree(vertex))).collect();
        let degrees = left.par_iter().with_min_len(AT_LEAST);
        let least = degrees.map(|left| left.load(Relaxed)).min().unwrap_or(0);
        let part = nodes.div_ceil(PARTS).max(AT_LEAST);
        let alive = (0..nodes.div_ceil(part)).map(|at| {
            Mutex::new((at * part..nodes.min((at + 1) * part)).map(|at| at as u32).collect())
        });
        Peeling {
            push,
            left,
            alive: alive.collect(),
            wave: RwLock::default(),
            share: AtomicUsize::new(0),
            peeled: AtomicUsize::new(0),
            fallen: Mutex::default(),
            core: AtomicU32::new(least),
            least: AtomicU32::new(0),
        }
    }

    fn run(&self, leader: &Leader, go_on: GoOn) -> Option<()> {
        let mut remaining = self.left.len();
        // Waves of one thread end where others can help.
        let shared = leader.threads() > 1;
        let most_alone = if shared { WORK_ALONE } else { u64::MAX };
        while remaining > 0 {
            if !go_on() {
                return None;
            }
            self.least.store(u32::MAX, Relaxed);
            match shared && leader.gains(remaining as u64, WORK_ALONE) {
                true => leader.run(SCAN, self.alive.len()),
                false => (0..self.alive.len()).for_each(|part| self.scan(part)),
            }
            let mut wave = self.take_fallen();
            let (core, fell) = (self.core.load(Relaxed), !wave.is_empty());
            while !wave.is_empty() {
                if shared && leader.gains(self.edges_of(&wave), WORK_ALONE) {
                    wave = self.peel_together(&wave, leader);
                    remaining -= self.peeled.swap(0, Relaxed);
                } else {
                    let next = self.peel_alone(&mut wave, most_alone);
                    remaining -= wave.len();
                    wave = next;
                }
            }
            // A vertex whose degree fell may be as low as the next level.
            self.core.store(if fell { core + 1 } else { self.least.load(Relaxed) }, Relaxed);
        }
        Some(())
    }

    fn take_fallen(&self) -> Vec<u32> {
        std::mem::take(&mut *held(self.fallen.lock()))
    }

    fn add_fallen(&self, fallen: &[u32]) {
        if !fallen.is_empty() {
            let mut all = held(self.fallen.lock());
            all.extend_from_slice(fallen);
        }
    }

    /// Drops what was peeled from a part of the vertices, and takes what is at the level.
    fn scan(&self, part: usize) {
        let core = self.core.load(Relaxed);
        let (mut least, mut fallen) = (u32::MAX, Vec::new());
        let mut alive = held(self.alive[part].lock());
        alive.retain(|&vertex| {
            let left = self.left[vertex as usize].load(Relaxed);
            let stays = left > core;
            match stays {
                true => least = least.min(left),
                false if left == core => fallen.push(vertex),
                // Peeled at an earlier level.
                false => {}
            }
            stays
        });
        if least < u32::MAX {
            self.least.fetch_min(least, Relaxed);
        }
        self.add_fallen(&fallen);
    }

    /// The edges of a wave, by its first vertices.
    fn edges_of(&self, wave: &[u32]) -> u64 {
        let degree = |&vertex: &u32| {
            self.push.iter().map(|lists| lists.degree(vertex as usize) as u64).sum::<u64>()
        };
        let sample = &wave[..wave.len().min(SAMPLE)];
        let edges: u64 = sample.iter().map(degree).sum();
        edges * wave.len() as u64 / sample.len().max(1) as u64
    }

    /// By one thread: what falls is appended, and peeled too, until so many edges are left that
    /// others can help with.
    fn peel_alone(&self, wave: &mut Vec<u32>, most: u64) -> Vec<u32> {
        let core = self.core.load(Relaxed);
        let (mut at, given) = (0, wave.len());
        // Edges of what was peeled; what is left is taken to have as many a vertex.
        let mut edges = 0;
        let are_few = |left: usize, edges: u64, peeled: usize| {
            left as u64 * edges <= most.saturating_mul(peeled as u64)
        };
        while at < given || at < wave.len() && are_few(wave.len() - at, edges, at) {
            let vertex = wave[at];
            for lists in self.push {
                lists.prefetch_ahead(wave, at);
                let row = lists.neighbours(vertex as usize);
                edges += row.len() as u64;
                for &far in row {
                    if self.falls(far, core) {
                        wave.push(far);
                    }
                }
            }
            at += 1;
        }
        wave.split_off(at)
    }

    /// Counts an edge; whether its far end falls to the level.
    #[inline(always)]
    fn falls(&self, far: u32, core: u32) -> bool {
        let held = &self.left[far as usize];
        let left = held.load(Relaxed);
        // Branch-free: half of the far ends were peeled before, which nothing predicts.
        held.store(left - u32::from(left > core), Relaxed);
        left == core + 1
    }

    /// By all threads.
    fn peel_together(&self, wave: &[u32], leader: &Leader) -> Vec<u32> {
        let share = wave.len().div_ceil(leader.threads() * TASKS).max(1);
        {
            let mut of_all = held(self.wave.write());
            of_all.clear();
            of_all.extend_from_slice(wave);
        }
        self.share.store(share, Relaxed);
        leader.run(PEEL, wave.len().div_ceil(share));
        self.take_fallen()
    }

    /// A share of the wave, and some of what it makes fall.
    fn peel(&self, task: usize) {
        let core = self.core.load(Relaxed);
        let share = self.share.load(Relaxed);
        let mut own = {
            let wave = held(self.wave.read());
            part_of(&wave, share, task).to_vec()
        };
        let (mut at, given) = (0, own.len());
        // Edges of what fell and is peeled here.
        let mut edges = 0;
        while at < given || at < own.len() && edges <= MORE {
            let vertex = own[at];
            for lists in self.push {
                lists.prefetch_ahead(&own, at);
                let row = lists.neighbours(vertex as usize);
                edges += if at < given { 0 } else { row.len() as u64 };
                for &far in row {
                    if self.falls_for_one(far, core) {
                        own.push(far);
                    }
                }
            }
            at += 1;
        }
        self.peeled.fetch_add(at, Relaxed);
        self.add_fallen(&own[at..]);
    }

    /// Counts an edge that other threads may count too; whether its far end falls to the level, for
    /// one thread alone. What is left of a vertex is at least the number of edges that are still to
    /// be counted, so that no number falls below 0.
    #[inline(always)]
    fn falls_for_one(&self, far: u32, core: u32) -> bool {
        let held = &self.left[far as usize];
        if held.load(Relaxed) <= core {
            return false;
        }
        let left = held.fetch_sub(1, Relaxed);
        if left <= core {
            held.fetch_add(1, Relaxed);
        }
        left == core + 1
    }
}

/// Bytes of the arrays that have an element of each vertex.
#[cfg(test)]
pub fn bytes_of_arrays(lists: &[NeighbourLists]) -> usize {
    let peeling = Peeling::new(lists, lists);
    let alive = peeling.alive.iter().map(|part| held(part.lock()).capacity());
    4 * (peeling.left.capacity() + alive.sum::<usize>())
}
