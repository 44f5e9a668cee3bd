//! inputs: everything that a run reads of its artifacts, in the order and the type of the launches.
//!
//! promises  `upload` reads all of it before the first launch; `input_data` holds it
//! never     runs a launch
pub mod device_groups;
pub(crate) mod edge_lists;
pub mod graphs;
pub(crate) mod group_division;
pub mod input_data;
pub(crate) mod node_kinds;
pub(crate) mod program_inputs;
pub(crate) mod target_and_splits;
pub mod upload;
pub mod vertices;
