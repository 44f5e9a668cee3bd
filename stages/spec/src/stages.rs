//! stages: the settings of every stage, one file each.
//!
//! promises  all settings of a stage are in its file, with default and meaning
//! never     describes how a stage works
pub mod extract;
pub mod ingest;
pub mod partition;
pub mod plan;
pub mod reorder;
pub mod run;
