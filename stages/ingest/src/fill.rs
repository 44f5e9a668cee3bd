//! fill: fills in missing labels, features and splits that the catalogue or a pipeline asks for.
//!
//! promises  everything is drawn from a seed, the same for any number of threads; callers list it
//!           in `made_up`
//! never     replaces data of a set; reads a file
pub mod communities;
pub mod features;
pub mod labels;
pub mod split;
