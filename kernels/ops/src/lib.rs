//! ops: the operations that a launch list is made of, for the CPU: functions over slices.
//!
//! holds     one module an operation, each with a fast form (all threads of the rayon pool it is
//!           called in, and the widest SIMD of the CPU), a slow obvious reference, and tests that
//!           compare the two; `expression` for element-wise work and epilogues; `random` for
//!           parameters and dropout
//! promises  results have the same bits for any number of threads, on every run; neighbour sums on
//!           every CPU
//! never     reads files, plans, names or settings; keeps anything between calls; fails on data: a
//!           shape that does not fit is an error of the caller and panics, and
//!           `LaunchList::validate` rules it out
//!
//! Graphs, partitions and buffers are borrowed; outputs come first. An output is never one of the
//! inputs.
pub mod convergence;
mod element_types;
pub mod elementwise;
pub mod evaluate;
pub mod expression;
pub mod frontier;
pub mod fused_walk;
pub mod half_precision;
pub mod loss;
pub mod metrics;
pub mod neighbour_reduce;
mod operators;
pub mod optimizer;
pub mod product;
pub mod product_over_rows;
pub mod random;
mod row_tasks;
mod scalar;
pub mod shortcuts;
pub mod sparse_product;
pub mod sum_over_rows;
#[cfg(test)]
mod test_support;

pub use row_tasks::{Adjacency, balanced_units};
pub use scalar::{Real, Scalar};
