//! k_core: core numbers by taking away, level after level, what has too few neighbours left (Kabir
//! & Madduri 2017, by one thread).
//!
//! promises  for every vertex the largest k such that it lies among vertices each of which reads at
//!           least k of them: the end of taking the h-index of the neighbours' values, begun at
//!           their number
//! bytes     every edge once, with one number of its far end; and once a level the numbers of what
//!           is left
//! limits    one thread: most levels take away few vertices
use super::{GoOn, NeighbourLists};

/// Core numbers. A vertex counts what it reads, `pull`; `push` is the same edges from their other
/// ends. Nothing where it was told to stop.
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
        // Those that go at this level, those that stay, and the least that any of these has.
        let mut least = u32::MAX;
        alive.retain(|&vertex| {
            let left = left[vertex as usize];
            let stays = left > core;
            match stays {
                true => least = least.min(left),
                false if left == core => taken.push(vertex),
                // It went at an earlier level.
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
        // What has fallen may have as few as one more than this level left.
        core = if fell { core + 1 } else { least };
    }
    Some(left)
}
