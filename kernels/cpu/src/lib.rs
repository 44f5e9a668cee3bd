//! cpu: the operations of a launch list on the CPU: functions over slices.
//!
//! holds     one module per operation, each with a fast form (all threads of the current rayon
//!           pool, and the widest SIMD of the CPU), a slow reference, and tests that compare the
//!           two; `random` for parameters and dropout
//! promises  the same bits for any thread count and on every run; neighbour sums also on every CPU
//! never     reads files, plans, names or settings; keeps state between calls; fails on data: a
//!           shape mismatch is a bug of the caller and panics, and `LaunchList::validate` rules it
//!           out
//!
//! Graphs, partitions and buffers are borrowed; outputs come first. An output never aliases an
//! input.
mod chunk_arithmetic;
pub mod convergence;
mod element_types;
pub mod evaluate;
pub mod frontier;
pub mod fused_walk;
pub mod gathered_rows;
mod group_tasks;
pub mod half_precision;
pub mod loss;
pub mod metrics;
mod operators;
pub mod optimizer;
pub mod product;
pub mod product_over_rows;
pub mod random;
mod row_tasks;
mod scalar;
pub mod shortcuts;
pub mod sparse_product;
#[cfg(test)]
mod test_support;

pub use row_tasks::balanced_units;
pub use scalar::Real;
