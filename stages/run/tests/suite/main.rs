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
//! random_programs       random programs from a seed, against the reference
//! random_loops          random programs with loops, against the interpreter and the reference
//! half_precision        16-bit rows beside 32-bit rows
//! bit_exactness         extrema, integers and counts, bit for bit, on degenerate graphs and over a
//!                       million edges of one row
//! cuda_graphs           pipelined epochs beside the same launches one by one
//! widths                rows that no vector divides, against the reference
//! custom_programs       programs of a user's own, against other algorithms and the
//!                       interpreter
//! loop_algorithms       loops by shortcut algorithms, against supersteps
//! frontier              supersteps that compute only readers of changes
//! searches              several searches over one loaded graph, against runs of their own
//! kinds                 several kinds of nodes, each with its own features, and named relations
//! key_files             which files of csr and partition are in the run's key
//! many_graphs           sets of many graphs: labels of graphs, pooled values, refusals
//! inference             parameters of a training applied to another graph
//! memory                the predicted peak beside the measured one
//! progress              every phase of the earlier stages reports its progress to its end
//! threads               the same bytes for any number of threads, the same results in any order of
//!                       the nodes
//! resume                stopped and resumed: the same bytes
//! targets_and_splits    a learned column in place of the label, a table of splits in place of the
//!                       data set's
//! training              learning-rate schedules, metrics, early stopping
//! errors                refusals and their messages
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
mod key_files;
mod kinds;
mod library;
mod loop_algorithms;
mod losses;
mod many_graphs;
mod memory;
mod operations;
mod products;
mod progress;
mod random_loops;
mod random_programs;
mod resume;
mod rounding_sensitivity;
mod searches;
mod targets_and_splits;
mod threads;
mod totals;
mod training;
mod widths;
