//! emit: launch lists as source for devices that compile.
//!
//! promises  a list and its settings alone decide the text
//! never     compiles it, or names a driver
pub mod cuda;
