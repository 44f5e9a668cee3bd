//! The tests of `run`, as one program so that it is linked once.
//!
//! golden                trained results against numbers that other software made, through the
//!                       stages
//! golden_lists          the lists alone against the same numbers, on inputs that no artifact
//!                       rounds, with every gradient
//! rounding_sensitivity  final parameters that rounding decides
//! operations            golden cases of single operations: sums, means, extrema, dot products,
//!                       softmax and attention over edges
//! totals                outer products and sums over all rows, beside loops over their rows
//! products              rows times a matrix, against the reference
//! losses                each loss and its gradient, against the reference
//! emulator              those lists on an emulated GPU
//! analytics             iterated results against numbers that other software made, through the
//!                       stages
//! differential          the executor against the reference, on ordinary and degenerate graphs
//! library               every program that learns, compiled, against the reference, on degenerate
//!                       graphs and in many widths
//! random_programs       programs that follow from a seed, against the reference
//! half_precision        rows of 16 bits beside those of 32
//! bit_exactness         extrema, integers and counts, bit for bit, on degenerate graphs and over a
//!                       million edges of one row
//! cuda_graphs           epochs as graphs of launches beside the same launches one by one
//! widths                rows that no vector divides, against the reference
//! custom_programs       programs that no list was written for, against other algorithms and the
//!                       interpreter
//! loop_algorithms       loops that take a shorter way, against supersteps
//! frontier              supersteps that make only what reads a change
//! kinds                 several kinds of nodes, each with features of its own, and named relations
//! many_graphs           sets of many graphs: labels of graphs, pooled values, what is refused
//! inference             parameters of a training applied to another graph
//! memory                the predicted peak beside the measured one
//! progress              every phase of the stages before is reported as it goes, to its end
//! threads               the same bytes for any number of threads, the same results in any order of
//!                       the nodes
//! resume                stopped and started again: the same bytes
//! targets_and_splits    a column that is learned in place of the label, a table of parts in place
//!                       of the splits
//! training              step sizes by schedule, measures, an early end
//! errors                what is refused, and in which words
//!
//! Graphs, golden cases and what runs lists and stages are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod analytics;
mod bit_exactness;
mod cuda_graphs;
mod custom_programs;
mod differential;
mod emulator;
mod errors;
mod frontier;
mod golden;
mod golden_lists;
mod half_precision;
mod inference;
mod kinds;
mod library;
mod loop_algorithms;
mod losses;
mod many_graphs;
mod memory;
mod operations;
mod products;
mod progress;
mod random_programs;
mod resume;
mod rounding_sensitivity;
mod targets_and_splits;
mod threads;
mod totals;
mod training;
mod widths;
