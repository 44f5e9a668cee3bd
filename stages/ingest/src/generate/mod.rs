//! Seeded graphs that stand in for those that cannot be had.
//!
//! promises  the same bytes for the same recipe, for any number of threads
//! never     reads a file or the clock
pub mod communities;
pub mod counter;
