//! components: the smallest value of each connected component, by union-find trees (Afforest,
//! Sutton et al. 2018).
//!
//! promises  every vertex ends with the smallest value of its component, in any order of edges
//! asks      lists that contain every edge from both ends, in one list or in two together
//! bytes     first two edges of every vertex; then only the edges of vertices outside the largest
//!           component, which are few if one component holds most
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{GoOn, NeighbourLists};

/// Edges of each vertex that are linked first.
const FIRST_OF_ALL: usize = 2;
/// Vertices per task.
const TASK_VERTICES: usize = 2048;
/// Vertices sampled to find the largest component.
const SAMPLE: usize = 1024;

/// The smallest vertex of the component of each vertex; none if it was stopped.
pub fn parts(lists: &[NeighbourLists], go_on: GoOn) -> Option<Vec<u32>> {
    let nodes = lists[0].rows();
    let all = (0..nodes as u32).into_par_iter().with_min_len(TASK_VERTICES);
    let root: Vec<AtomicU32> = all.map(AtomicU32::new).collect();
    let shorten = |vertex: usize| root[vertex].store(top(&root, vertex as u32), Relaxed);
    let looked_at = FIRST_OF_ALL.div_ceil(lists.len());
    for first in 0..looked_at {
        if !go_on() {
            return None;
        }
        for_each_vertex(nodes, |vertex| {
            for lists in lists {
                lists.prefetch_entry(vertex, first, &root);
                if let Some(&far) = lists.neighbours(vertex).get(first) {
                    join(&root, vertex as u32, far);
                }
            }
        });
        for_each_vertex(nodes, shorten);
    }
    if !go_on() {
        return None;
    }
    let largest = commonest(&root);
    for_each_vertex(nodes, |vertex| {
        if root[vertex].load(Relaxed) != largest {
            for lists in lists {
                lists
                    .neighbours(vertex)
                    .iter()
                    .skip(looked_at)
                    .for_each(|&far| join(&root, vertex as u32, far));
            }
        }
    });
    for_each_vertex(nodes, shorten);
    Some(root.into_iter().map(AtomicU32::into_inner).collect())
}

/// Work on every vertex, a part of them at a time.
fn for_each_vertex(nodes: usize, work: impl Fn(usize) + Sync) {
    (0..nodes.div_ceil(TASK_VERTICES)).into_par_iter().for_each(|task| {
        (task * TASK_VERTICES..nodes.min((task + 1) * TASK_VERTICES)).for_each(&work);
    });
}

/// The smallest value of the component of each vertex, whose first vertex `parts` gives.
pub fn assign_least<E: Copy + PartialOrd + Send + Sync>(
    made: &mut [E],
    values: &[E],
    parts: &[u32],
) {
    let assign = |made: &mut [E], least: &[E]| {
        let rows = made.par_iter_mut().zip(values).zip(parts).with_min_len(TASK_VERTICES);
        let are_smaller = rows.map(|((made, value), &part)| {
            *made = least[part as usize];
            *value < *made
        });
        are_smaller.reduce(|| false, |one, other| one | other)
    };
    // The first vertex has the smallest value where values are ids.
    if assign(made, values) {
        let mut least = values.to_vec();
        for (value, &part) in values.iter().zip(parts) {
            if *value < least[part as usize] {
                least[part as usize] = *value;
            }
        }
        assign(made, &least);
    }
}

/// Links the trees of two vertices: the larger root becomes a child of the smaller.
#[inline(always)]
fn join(root: &[AtomicU32], one: u32, other: u32) {
    let (mut low, mut high) =
        (root[one as usize].load(Relaxed), root[other as usize].load(Relaxed));
    while low != high {
        if low > high {
            std::mem::swap(&mut low, &mut high);
        }
        let above = root[high as usize].load(Relaxed);
        if above == low {
            return;
        }
        if above == high
            && root[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok()
        {
            return;
        }
        high = root[root[high as usize].load(Relaxed) as usize].load(Relaxed);
        low = root[low as usize].load(Relaxed);
    }
}

#[inline(always)]
fn top(root: &[AtomicU32], vertex: u32) -> u32 {
    let mut at = vertex;
    loop {
        let above = root[at as usize].load(Relaxed);
        if above == at {
            return at;
        }
        at = above;
    }
}

/// The most frequent root in a sample of vertices. Any answer is correct; a good one saves work.
fn commonest(root: &[AtomicU32]) -> u32 {
    let step = (root.len() / SAMPLE).max(1);
    let mut found: Vec<u32> = root.iter().step_by(step).map(|root| root.load(Relaxed)).collect();
    found.sort_unstable();
    let runs = found.chunk_by(|one, other| one == other);
    runs.max_by_key(|run| run.len()).map_or(u32::MAX, |run| run[0])
}
