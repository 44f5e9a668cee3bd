//! The tests of the language, one theme a module. `UPDATE=1` with the name of a module writes its
//! golden text anew.
#![allow(clippy::unwrap_used)]

mod diagnostics;
mod language_examples;
mod mutants;
mod semantics;
mod trace;
