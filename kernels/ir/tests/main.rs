//! The tests of the interpreter, one theme a module.
//!
//! Graphs and golden cases are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod interpreter;
mod interpreter_degenerate;
mod interpreter_golden;
mod interpreter_scalar;
