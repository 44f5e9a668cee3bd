//! cores: core numbers by taking away, again and again, a vertex with the fewest neighbours left (Batagelj & Zaversnik 2003).
//!
//! promises  for every vertex the largest k such that it lies among vertices each of which reads at least k of them: the end of
//!           taking the h-index of the neighbours' values, begun at their number
//! bytes     every edge once, and a place among vertices of the same degree for each
//! limits    one thread: what is taken away next depends on what was
use super::{GoOn, Lists};

/// Vertices between two questions whether to go on.
const VERTICES_ASK: usize = 1 << 16;

/// Core numbers. A vertex counts what it reads, `pull`; `push` is the same edges from their other ends. Nothing where it was told to stop.
pub fn cores(push: &[Lists], pull: &[Lists], go_on: GoOn) -> Option<Vec<u32>> {
    let nodes = push[0].rows();
    let mut left: Vec<u32> = (0..nodes).map(|vertex| pull.iter().map(|lists| lists.degree(vertex)).sum::<usize>() as u32).collect();
    let most = left.iter().copied().max().unwrap_or(0) as usize;
    // Vertices by how many they have left; `start[k]` is where those with k begin.
    let mut start = vec![0u32; most + 2];
    left.iter().for_each(|&left| start[left as usize + 1] += 1);
    for k in 0..=most {
        start[k + 1] += start[k];
    }
    let mut next = start.clone();
    let (mut order, mut place) = (vec![0u32; nodes], vec![0u32; nodes]);
    for vertex in 0..nodes {
        let at = &mut next[left[vertex] as usize];
        (order[*at as usize], place[vertex]) = (vertex as u32, *at);
        *at += 1;
    }
    for at in 0..nodes {
        if at % VERTICES_ASK == 0 && !go_on() {
            return None;
        }
        let vertex = order[at];
        let core = left[vertex as usize];
        for &far in push.iter().flat_map(|lists| lists.of(vertex as usize)) {
            let held = left[far as usize];
            if held <= core {
                continue;
            }
            // It changes places with the first of its like, which the next smaller ones then include.
            let first = start[held as usize];
            let (other, own) = (order[first as usize], place[far as usize]);
            (order[first as usize], order[own as usize]) = (far, other);
            (place[far as usize], place[other as usize]) = (first, own);
            start[held as usize] = first + 1;
            left[far as usize] = held - 1;
        }
    }
    Some(left)
}
