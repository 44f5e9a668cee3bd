//! The tests of launch lists, one theme a module.
//!
//! Graphs, golden cases and random programs are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod compiled_lists;
mod costs;
mod lowering;
mod validation;
