//! neighbour_reduce: `out[v, :] = epilogue(combine over edges of v: factor * source[u, :])`.
//!
//! promises  edges are combined one after another in the order of the row (of the first adjacency,
//!           then of the second); a single column in four lanes, edges round-robin, by blocks of
//!           512 edges: neither threads nor instruction set change a bit; over no edges: sum 0,
//!           minimum infinity (ids: the sentinel), maximum minus infinity; a NaN message makes the
//!           row NaN
//! never     uses an atomic operation or fused multiply-add; materialises messages
//! bounds    rows and units < 2^32; a row is processed by one thread, however long it is, but by
//!           groups (`groups`)
//! bytes     4 E + s D E + s D N (+ s E with weights)
mod cpu;
mod groups;
pub mod reference;
#[cfg(test)]
mod tests;

pub use cpu::neighbour_reduce;
pub(crate) use cpu::{
    Entries, MaxOf, MinOf, SumOf, neighbour_reduce_of_type, reduce_rows, rows_per_block,
};
use warploom_launch::{Combine, EdgeFactor};

use crate::expression::Bound;
use crate::row_tasks::Adjacency;

/// The operands of a neighbour reduction.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourReduce<'a, T> {
    /// One direction, or two that are visited in order (in, then out, for `Direction::Both`).
    pub adjacencies: &'a [Adjacency<'a, T>],
    /// Row boundaries of the work units: from 0 to the number of rows, one more than there are
    /// units.
    pub unit_starts: &'a [u32],
    /// How messages are combined.
    pub combine: Combine,
    /// The factor of a message; an adjacency without weights has weights 1.
    pub factor: EdgeFactor,
    /// The gathered rows; without, each message is 1 and there is one column.
    pub source: Option<&'a [T]>,
    /// First slot of each group of neighbours, and the number of slots: threads share groups, not
    /// units. Only for one direction.
    pub groups: Option<&'a [u64]>,
    /// Elements in a row of source and out.
    pub columns: usize,
    /// Applied to each element of the result.
    pub epilogue: Bound<'a, T>,
}
