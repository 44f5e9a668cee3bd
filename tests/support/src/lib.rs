//! What the tests of all crates share, a layer for each feature of this crate.
//!
//! without a feature
//! graphs             degenerate graphs, the one place where they are built
//! draws              numbers that look random and follow from a seed
//! loop_programs      texts with `while` that follow from a seed
//! golden_text        golden files, written anew with `UPDATE=1`
//! skips              lines for tests that could not be run, and whether long ones were asked for
//! emulator           the emulated GPU for a program that a test starts
//!
//! `ir`
//! golden_cases       golden numbers that other software made
//! golden_models      which of our parameters is which golden one
//! golden_operations  golden cases of single operations, written as nodes
//! random_programs    well-typed programs that follow from a seed
//!
//! `optimize`
//! gradient_check     gradients against central differences
//!
//! `library`
//! library_programs   programs of the library made ready for the interpreter
//!
//! `nvrtc`
//! nvrtc              NVRTC, or why there is none
//!
//! `run`
//! graph_inputs       graphs of every kind of row, and numbers for them
//! list_runner        launch lists on the CPU or a GPU, and by the reference
//! stage_runner       stages in this process, over a store of their own
//!
//! `programs`
//! sandbox            a temporary folder, and the programs as a user starts them
//! process            a program that runs, and what it said
//! store_view         a store seen from outside
//! safetensors_file   arrays as a user has them
//!
//! never     is part of what is shipped
#![allow(clippy::unwrap_used)]

pub mod draws;
pub mod emulator;
pub mod golden_text;
pub mod graphs;
pub mod loop_programs;
pub mod skips;

#[cfg(feature = "ir")]
pub mod golden_cases;
#[cfg(feature = "ir")]
pub mod golden_models;
#[cfg(feature = "ir")]
pub mod golden_operations;
#[cfg(feature = "optimize")]
pub mod gradient_check;
#[cfg(feature = "library")]
pub mod library_programs;
#[cfg(feature = "ir")]
pub mod random_programs;

#[cfg(feature = "nvrtc")]
pub mod nvrtc;

#[cfg(feature = "run")]
pub mod graph_inputs;
#[cfg(feature = "run")]
pub mod list_runner;
#[cfg(feature = "run")]
pub mod stage_runner;

#[cfg(feature = "programs")]
pub mod process;
#[cfg(feature = "programs")]
pub mod safetensors_file;
#[cfg(feature = "programs")]
pub mod sandbox;
#[cfg(feature = "programs")]
pub mod store_view;

use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn repository() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    folder.expect("this crate is two folders below the workspace").to_path_buf()
}

/// The folder of what is not in the repository: `WARPLOOM_SHARED`, by default `../shared` beside
/// the workspace. It may be absent.
pub fn shared() -> PathBuf {
    std::env::var_os("WARPLOOM_SHARED")
        .map_or_else(|| repository().join("../shared"), PathBuf::from)
}

/// Cargo's folder of targets, in which the test program is that runs.
fn target_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = program.ancestors().nth(3).ok_or("a test is in no folder of targets")?;
    Ok(target.to_path_buf())
}
