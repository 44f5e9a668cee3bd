//! The tests of the compiler, one theme a module; one program, since each that links the compiler
//! and its cases costs seconds. `UPDATE=1` with the name of a module writes its golden text anew.
//!
//! Graphs, golden cases and programs are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod architecture;
mod kinds;
mod lanes;
mod library;
mod work;
