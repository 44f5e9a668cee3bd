//! shortcuts: graph algorithms that reach the fixed point of a loop faster than superstep after
//! superstep, where the result is proved to be the same.
//!
//! levels    breadth-first search, direction-optimising: push or pull, whichever reads fewer edges
//! paths     shortest paths by delta-stepping
//! parts     connected components, by union-find trees
//! cores     k-core decomposition, by peeling vertices in the order of their degrees
//!
//! promises  the unique fixed point of the supersteps, bit for bit, for any thread count and any
//!           order of work
//! never     checks its preconditions: they are documented at each function, and the caller checks
//!           them
pub mod bfs;
pub mod components;
pub mod delta_stepping;
pub mod k_core;
mod thread_team;

use prefetch_index::prefetch_index;
use rayon::prelude::*;

/// Prefetch distance for a row's offsets, in rows; and for its entries.
const OFFSETS_AHEAD: usize = 16;
const ENTRIES_AHEAD: usize = 8;
/// Vertices of a task, at least, in a look at all: fewer are looked at before a thread wakes.
const AT_LEAST: usize = 1 << 12;
/// Elements that one task compares.
const COMPARED_AT_ONCE: usize = 1 << 16;

/// Neighbour lists (CSR) without weights: the entries of row v are
/// `neighbours[offsets[v]..offsets[v + 1]]`.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourLists<'a> {
    /// Where the entries of a row start; one more than there are rows.
    pub offsets: &'a [u64],
    /// The far end of each entry.
    pub neighbours: &'a [u32],
}

impl<'a> NeighbourLists<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Entries of a row.
    #[inline(always)]
    pub fn neighbours(&self, row: usize) -> &'a [u32] {
        &self.neighbours[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The number of entries of a row.
    #[inline(always)]
    pub fn degree(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }

    /// Prefetches the entries of upcoming rows of a list, of which row `at` is current: rows of a
    /// list may be anywhere in memory.
    #[inline(always)]
    pub fn prefetch_ahead(&self, list: &[u32], at: usize) {
        if let Some(&row) = list.get(at + OFFSETS_AHEAD) {
            prefetch_index(self.offsets, row as usize);
        }
        if let Some(&row) = list.get(at + ENTRIES_AHEAD) {
            prefetch_index(self.neighbours, self.offsets[row as usize] as usize);
        }
    }

    /// Prefetches the first entries of a row, if there is one.
    #[inline(always)]
    fn prefetch_entries(&self, row: usize) {
        if let Some(&start) = self.offsets.get(row) {
            prefetch_index(self.neighbours, start as usize);
        }
    }

    /// Prefetches entry `at` of an upcoming row, of all rows in order, and what of a table it
    /// names.
    #[inline(always)]
    fn prefetch_entry<E>(&self, row: usize, at: usize, table: &[E]) {
        let entry = |ahead: usize| self.offsets.get(row + ahead).map(|&start| start as usize + at);
        if let Some(entry) = entry(2 * OFFSETS_AHEAD) {
            prefetch_index(self.neighbours, entry);
        }
        if let Some(&far) = entry(OFFSETS_AHEAD).and_then(|entry| self.neighbours.get(entry)) {
            prefetch_index(table, far as usize);
        }
    }

    /// Whether both are the same lists.
    pub fn are(&self, other: &NeighbourLists) -> bool {
        are_equal(self.offsets, other.offsets) && are_equal(self.neighbours, other.neighbours)
    }
}

fn are_equal<E: PartialEq + Sync>(one: &[E], other: &[E]) -> bool {
    let chunks = one.par_chunks(COMPARED_AT_ONCE).zip(other.par_chunks(COMPARED_AT_ONCE));
    one.len() == other.len() && chunks.map(|(one, other)| one == other).all(|equal| equal)
}

/// Whether to continue: polled, and false once a stop was requested.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

#[cfg(test)]
mod tests;
