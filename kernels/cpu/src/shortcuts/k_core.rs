//! k_core: core numbers, by peeling vertices with too few remaining neighbours, level by level
//! (Kabir & Madduri 2017, on one thread).
//!
//! promises  for every vertex the largest k such that it belongs to a set of vertices each of which
//!           reads at least k of the set: the fixed point of iterated h-indices of the neighbours'
//!           values, from their degrees
//! bytes     every edge once, with one number of its far end; and once per level the remaining
//!           degrees
//! limits    one thread: most levels peel few vertices
use super::{GoOn, NeighbourLists};

/// Core numbers. A vertex counts the vertices it reads, `pull`; `push` has the same edges from
/// their other ends. None if it was stopped.
pub fn cores(push: &[NeighbourLists], pull: &[NeighbourLists], go_on: GoOn) -> Option<Vec<u32>> {
    let nodes = push[0].rows();
    let mut left: Vec<u32> = (0..nodes)
        .map(|vertex| pull.iter().map(|lists| lists.degree(vertex)).sum::<usize>() as u32)
        .collect();
    let mut alive: Vec<u32> = (0..nodes as u32).collect();
    let mut taken = Vec::new();
    let mut core = left.iter().copied().min().unwrap_or(0);
    while !alive.is_empty() {
        if !go_on() {
            return None;
        }
        // Vertices peeled at this level, vertices that remain, and their lowest degree.
        let mut least = u32::MAX;
        alive.retain(|&vertex| {
            let left = left[vertex as usize];
            let stays = left > core;
            match stays {
                true => least = least.min(left),
                false if left == core => taken.push(vertex),
                // Peeled at an earlier level.
                false => {}
            }
            stays
        });
        let fell = !taken.is_empty();
        let mut at = 0;
        while let Some(&vertex) = taken.get(at) {
            for lists in push {
                lists.prefetch_ahead(&taken, at);
                for &far in lists.neighbours(vertex as usize) {
                    let held = &mut left[far as usize];
                    if *held > core {
                        *held -= 1;
                        if *held == core {
                            taken.push(far);
                        }
                    }
                }
            }
            at += 1;
        }
        taken.clear();
        // A vertex whose degree fell may be as low as the next level.
        core = if fell { core + 1 } else { least };
    }
    Some(left)
}
