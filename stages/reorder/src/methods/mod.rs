//! One file per method: from degrees or neighbours to the old number of each new one.
pub mod approximate_degree;
pub mod breadth;
pub mod degree;
pub mod hubs;
pub mod rabbit;
pub mod random;
pub mod rcm;
#[cfg(test)]
mod tests;
