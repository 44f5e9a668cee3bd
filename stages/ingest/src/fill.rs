//! What a set lacks and the catalogue or a pipeline asks for: labels, features, splits.
//!
//! promises  everything is drawn from a seed, the same for any number of threads; who uses it says
//!           `made_up`
//! never     replaces what a set has; reads a file
pub mod communities;
pub mod features;
pub mod labels;
pub mod split;
