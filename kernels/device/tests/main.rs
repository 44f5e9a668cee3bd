//! The tests of devices that need none.
#![allow(clippy::unwrap_used)]

mod absent;
mod compiler;
mod nvrtc;
