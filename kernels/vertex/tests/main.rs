//! The tests of the compiler, one theme a module; one program, since each that links the compiler
//! and its cases costs seconds. `UPDATE=1` with the name of a module writes its golden text anew.
#![allow(clippy::unwrap_used)]

mod architecture;
#[path = "autodiff/main.rs"]
mod autodiff;
mod diagnostics;
mod emission;
mod flaws;
mod golden;
mod interpret;
mod interpret_degenerate;
mod interpret_golden;
mod interpret_scalar;
mod kinds;
mod lanes;
#[path = "library/main.rs"]
mod library;
#[path = "lowering/main.rs"]
mod lowering;
mod meaning;
mod mutants;
mod passes;
mod programs;
#[path = "random_programs/main.rs"]
mod random_programs;
mod render;
mod settings;
mod source_digests;
mod tour;
mod trace;
