//! The tests of devices that need none.
#![allow(clippy::unwrap_used)]

mod missing_devices;
mod nvrtc;
