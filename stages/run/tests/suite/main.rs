//! The tests of `run`, as one program so that it is linked once.
//!
//! golden         trained and iterated results against numbers that other software made
//! differential   the executor against the reference, on ordinary and degenerate graphs
//! compiled       programs that no list was written for, against other algorithms and the interpreter
//! threads        the same bytes for any number of threads, the same results in any order of the nodes
//! resume         stopped and started again: the same bytes
//! errors         what is refused, and in which words
#![allow(clippy::unwrap_used)]

mod compiled;
mod differential;
mod direct;
mod errors;
mod golden;
mod graphs;
mod resume;
mod threads;
mod workshop;
