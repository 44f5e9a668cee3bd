//! The tests of reading pipeline files.
#![allow(clippy::unwrap_used)]

mod golden;
mod pipelines;
