//! emit: translates launch lists to source code for devices.
//!
//! promises  the text follows from the list and its settings alone
//! never     compiles it, or names a driver
pub mod cuda;
