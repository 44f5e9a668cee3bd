//! generate: seeded graph generators: stand-ins of missing data sets, and generated sets such as
//! `rmat-20`.
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
