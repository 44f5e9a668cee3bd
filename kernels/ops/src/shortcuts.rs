//! shortcuts: shorter ways to the end of a loop than superstep after superstep, where it was proved
//! that the end is the same.
//!
//! levels    breadth-first, from frontiers or towards them, whichever reads fewer edges
//! paths     sums along the shortest way, bucket after bucket (delta-stepping)
//! parts     the smallest value of each connected part, by joining trees
//! cores     core numbers, by taking vertices away in the order of their degrees
//!
//! promises  the one fixed point that supersteps end in, to the bit, for any number of threads and
//!           any order of work
//! never     is told a graph that does not hold what is asked of it: what must hold stands at each
//!           function, and who calls has looked
pub mod bfs;
pub mod components;
pub mod delta_stepping;
pub mod k_core;

use prefetch_index::prefetch_index;

/// Rows before it is at hand that its place is asked for, and its entries.
const OFFSETS_AHEAD: usize = 16;
const ENTRIES_AHEAD: usize = 8;

/// Neighbour lists without weights: the entries of row v are `neighbours[offsets[v]..offsets[v +
/// 1]]`.
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

    /// How many entries a row has.
    #[inline(always)]
    pub fn degree(&self, row: usize) -> usize {
        (self.offsets[row + 1] - self.offsets[row]) as usize
    }

    /// Asks the memory for the entries of rows that come soon in a list, of which row `at` is at
    /// hand: rows of a list lie anywhere.
    #[inline(always)]
    pub fn prefetch_ahead(&self, list: &[u32], at: usize) {
        if let Some(&row) = list.get(at + OFFSETS_AHEAD) {
            prefetch_index(self.offsets, row as usize);
        }
        if let Some(&row) = list.get(at + ENTRIES_AHEAD) {
            prefetch_index(self.neighbours, self.offsets[row as usize] as usize);
        }
    }

    /// Whether both name the same entries in the same order.
    pub fn are(&self, other: &NeighbourLists) -> bool {
        self.offsets == other.offsets && self.neighbours == other.neighbours
    }
}

/// Whether to go on: asked now and then, and false once a stop was asked for.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

#[cfg(test)]
mod tests;
