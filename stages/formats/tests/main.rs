//! What is read from files: small sets of every format, and published ones where they are here.
#![allow(clippy::unwrap_used)]

mod edge_lists;
mod text_formats;
