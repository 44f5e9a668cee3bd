//! neighbour_reduce: `out[v, :] = epilogue(combine over edges of v: factor * source[u, :])`.
//!
//! promises  edges are combined one after another in the order of the row (of the first adjacency,
//!           then of the second); with one column in four lanes, edge by edge in turn, and by
//!           blocks of 512 edges: threads and instruction set change no bit; over nothing: sum 0,
//!           minimum infinity (ids: the sentinel), maximum minus infinity; a NaN message makes the
//!           row NaN
//! never     uses an atomic operation or fused multiply-add; stores a message
//! bounds    rows and units < 2^32; a row is the work of one thread, however long it is
//! bytes     4 E + s D E + s D N (+ s E with weights)
mod cpu;
pub mod reference;
#[cfg(test)]
mod tests;

pub use cpu::neighbour_reduce;
pub(crate) use cpu::{Entries, SumOf, neighbour_reduce_of_type, reduce_rows, rows_per_block};
use warploom_vertex::launch::{Combine, EdgeFactor};

use crate::expression::Bound;
use crate::row_tasks::Adjacency;

/// What a neighbour reduction reads.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourReduce<'a, T> {
    /// One direction, or two that are visited one after the other (in, then out, for
    /// `Direction::Both`).
    pub adjacencies: &'a [Adjacency<'a, T>],
    /// Row boundaries of the partition: from 0 to the number of rows, one more than there are
    /// units.
    pub unit_starts: &'a [u32],
    /// How messages meet.
    pub combine: Combine,
    /// What a message is multiplied with; an adjacency without weights has weights 1.
    pub factor: EdgeFactor,
    /// Rows that are read; without, each message is 1 and there is one column.
    pub source: Option<&'a [T]>,
    /// Elements in a row of source and out.
    pub columns: usize,
    /// Applied to each element made.
    pub epilogue: Bound<'a, T>,
}
