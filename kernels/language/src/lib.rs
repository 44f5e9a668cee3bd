//! language: the text of a vertex program becomes a tree (`syntax`), and the tree the IR (`trace`).
//!
//! promises  a text that is not of the language is refused with its place, what was expected and
//!           what was found
//! never     executes Python; knows passes, launches or a device
pub mod syntax;
pub mod trace;
