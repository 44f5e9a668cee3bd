//! Seeded graphs: those that stand in for ones that cannot be had, and those that are asked for by
//! name.
//!
//! promises  the same bytes for the same recipe, for any number of threads
//! never     reads a file or the clock
pub mod batch;
pub mod communities;
pub mod counter;
mod pairs;
pub mod relations;
pub mod shapes;
pub mod synthetic_source;
