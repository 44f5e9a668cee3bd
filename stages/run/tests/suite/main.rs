//! The tests of `run`, as one program so that it is linked once.
//!
//! golden         trained results against numbers that other software made, through the stages
//! exact          the lists alone against the same numbers, on inputs that no artifact rounds, with
//!                every gradient
//! operations     golden cases of single operations: sums, means, extrema, dot products, softmax
//!                and attention over edges
//! totals         outer products and sums over all rows, beside loops over their rows
//! products       rows times a matrix, against the reference
//! losses         each loss and its gradient, against the reference
//! emulated       those lists on an emulated GPU
//! analytics      iterated results against numbers that other software made, through the stages
//! differential   the executor against the reference, on ordinary and degenerate graphs
//! library        every program that learns, compiled, against the reference, on degenerate graphs
//!                and in many widths
//! chance         programs put together by chance, against the reference
//! whole          extrema, whole numbers and counts, bit for bit, on degenerate graphs and over a
//!                million edges of one row
//! recorded       epochs as graphs of launches beside the same launches one by one
//! widths         rows that no vector divides, against the reference
//! compiled       programs that no list was written for, against other algorithms and the
//!                interpreter
//! frontier       supersteps that make only what reads a change
//! kinds          several kinds of nodes, each with features of its own, and named relations
//! many_graphs    sets of many graphs: labels of graphs, pooled values, what is refused
//! inference      parameters of a training applied to another graph
//! memory         the predicted peak beside the measured one
//! progress       every phase of the stages before is reported as it goes, to its end
//! threads        the same bytes for any number of threads, the same results in any order of the
//!                nodes
//! resume         stopped and started again: the same bytes
//! aims           a column that is learned in place of the label, a table of parts in place of the
//!                splits
//! training       step sizes by schedule, measures, an early end
//! errors         what is refused, and in which words
//!
//! The golden cases and the map of parameter names are those of the tests of the library of
//! programs.
#![allow(clippy::unwrap_used)]

mod aims;
mod analytics;
mod chance;
mod compiled;
mod courses;
mod differential;
mod direct;
mod emulated;
mod errors;
mod exact;
mod frontier;
mod golden;
mod graphs;
mod halves;
mod inference;
mod kinds;
mod library;
mod losses;
mod many_graphs;
mod memory;
mod operations;
mod products;
mod progress;
mod recorded;
mod resume;
mod steep;
mod threads;
mod totals;
mod training;
mod whole;
mod widths;
mod workshop;
