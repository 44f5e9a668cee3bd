//! formats: readers of foreign files, one file or folder for each format; each gives a `RawGraph`
//! or an error with its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size
//!           of the contents, for edges up to a limit where they can be read one after the other
//!           (out_of_core.rs)
//! never     knows the store, the catalogue or a pipeline; runs, imports or fetches anything that a
//!           file names
//! folders   containers: what bytes are wrapped in. text: lines to fields and numbers (its README
//!           says which text reader to use). detect: which format a file is, and why not. readers:
//!           the formats. side_files: features, labels and splits beside a graph. out_of_core:
//!           edges beyond memory
//! to add    1. readers/NAME.rs: `pub const FORMAT: Format`, with a function that recognises files
//!              by their names and first bytes (`FileHeads`) and one that reads them
//!           2. readers.rs: `pub mod NAME;` and `NAME::FORMAT` in `FORMATS`, before every format
//!              that would take the same files
//!           3. docs/data.md: a row of the table of formats. CONTRIBUTING.md has the lists of tests
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
pub use detect::{
    detect, file_heads::FileHeads, signatures::mistaken, unrecognised_files::what_is,
};
pub use format::Format;
pub use options::{Ids, Literals, Options, TriplePart};
pub use readers::{FORMATS, find};
