//! Readers of foreign files: one file per format, each gives a `RawGraph` or an error with its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size of the contents
//! never     runs, imports or fetches anything that a file names
pub mod edge_list;
pub mod gml;
pub mod pickle;
pub mod planetoid;

#[cfg(test)]
mod tests;
