//! The tests of passes and gradients, one theme a module. `UPDATE=1` with the name of a module
//! writes its golden text anew.
//!
//! Golden cases and random programs are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod autodiff;
mod passes;
mod random_programs;
