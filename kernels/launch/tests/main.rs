//! The tests of launch lists, one theme a module. `UPDATE=1` with the name of a module writes its
//! golden text anew.
//!
//! Graphs, golden cases and random programs are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod compiled_lists;
mod edge_limits;
mod listings;
mod lowering;
mod validation;
