//! devices    what is measured of a GPU and when, on the emulated one
//! progress   every piece of work is told of as it goes
#![allow(clippy::unwrap_used)]

mod devices;
mod progress;
