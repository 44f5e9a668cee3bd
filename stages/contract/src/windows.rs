//! windows: density of windows of 8 and of 16 target rows, for tensor core kernels. One definition,
//! for the profile of a graph and for orders.
//!
//! promises  exact
//! limits    O(edges log degree) time; memory of one window for each thread
use rayon::prelude::*;

use crate::kinds::{csr::Rows, profile::WindowFigures};

/// Rows of the small window; the large one has twice as many.
const ROWS: usize = 8;
/// Columns of a tile.
const COLUMNS: u64 = 8;
/// Large windows in one task.
const TASK: usize = 1 << 7;

/// Sums of one window height.
#[derive(Clone, Copy, Default)]
struct Sums {
    vectors: u64,
    most: u64,
    tiles: u64,
}

impl Sums {
    fn add(&mut self, vectors: usize) {
        let vectors = vectors as u64;
        *self = self.join(Sums { vectors, most: vectors, tiles: vectors.div_ceil(COLUMNS) });
    }

    fn join(self, other: Sums) -> Sums {
        Sums {
            vectors: self.vectors + other.vectors,
            most: self.most.max(other.most),
            tiles: self.tiles + other.tiles,
        }
    }

    fn figures(self, rows: u64, entries: u64) -> WindowFigures {
        let share = |places: u64| if places == 0 { 0.0 } else { entries as f64 / places as f64 };
        let Sums { vectors, most, tiles } = self;
        WindowFigures {
            rows,
            vectors,
            vectors_most: most,
            density: share(rows * vectors),
            tiles,
            tile_density: share(rows * COLUMNS * tiles),
        }
    }
}

/// Figures of both heights; `entries` is the number of edges without duplicates.
pub fn windows(incoming: Rows<'_>, entries: u64) -> [WindowFigures; 2] {
    let nodes = incoming.len();
    let task = |rooms: &mut [Vec<u32>; 2], task: usize| {
        let mut sums = [Sums::default(); 2];
        for first in (task * TASK..(task + 1) * TASK)
            .map(|window| window * 2 * ROWS)
            .take_while(|&first| first < nodes)
        {
            for (half, room) in rooms.iter_mut().enumerate() {
                let rows = nodes.min(first + half * ROWS)..nodes.min(first + (half + 1) * ROWS);
                room.clear();
                room.extend_from_slice(
                    &incoming.neighbours[incoming.offsets[rows.start] as usize
                        ..incoming.offsets[rows.end] as usize],
                );
                room.sort_unstable();
                room.dedup();
                sums[0].add(room.len());
            }
            let [upper, lower] = rooms;
            sums[1].add(upper.len() + lower.len() - shared(upper, lower));
        }
        sums
    };
    let tasks = nodes.div_ceil(2 * ROWS * TASK);
    let sums = (0..tasks)
        .into_par_iter()
        .map_init(<[Vec<u32>; 2]>::default, task)
        .reduce(Default::default, |a, b| [a[0].join(b[0]), a[1].join(b[1])]);
    [sums[0].figures(ROWS as u64, entries), sums[1].figures(2 * ROWS as u64, entries)]
}

/// Number of common elements of two ascending lists.
fn shared(a: &[u32], b: &[u32]) -> usize {
    let (mut at, mut count) = (0, 0);
    for number in a {
        while at < b.len() && b[at] < *number {
            at += 1;
        }
        count += usize::from(at < b.len() && b[at] == *number);
    }
    count
}
