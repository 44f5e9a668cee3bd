//! formats: readers of foreign files, one file per format; each gives a `RawGraph` or an error with
//! its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size
//!           of the contents, for edges up to a limit where they can be read one after the other
//!           (spill.rs)
//! never     knows the store, the catalogue or a pipeline; runs, imports or fetches anything that a
//!           file names
//! to add    a file with `pub const FORMAT`, a line in `FORMATS`
pub mod column_report;
mod column_roles;
pub mod containers;
pub mod detect;
#[cfg(test)]
mod error_messages;
mod f32_rounding;
mod format;
mod options;
pub mod out_of_core;
pub mod raw_graph;
pub mod read_error;
pub mod readers;
pub mod side_files;
#[cfg(test)]
mod test_support;
mod text;

pub use containers::bundle::is_about;
pub use detect::{detect, file_heads::FileHeads, signatures::mistaken, unrecognised::what_is};
pub use format::Format;
pub use options::{Ids, Literals, Options, TriplePart};
pub use readers::{FORMATS, find};
