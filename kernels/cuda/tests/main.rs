//! The tests of CUDA sources, one theme a module. `UPDATE=1` with the name of a module writes its
//! golden text anew.
//!
//! Programs and cases are in `tests/support`.
#![allow(clippy::unwrap_used)]

mod emission;
mod source_digests;
