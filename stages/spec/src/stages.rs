//! The settings of every stage, one file each.
//!
//! promises  what a stage may be told stands in its file, with its default and its meaning
//! never     says how a stage does its work
pub mod extract;
pub mod ingest;
pub mod partition;
pub mod plan;
pub mod reorder;
pub mod run;
