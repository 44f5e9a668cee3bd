//! formats: readers of foreign files, one file per format; each gives a `RawGraph` or an error with its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size of the contents
//! never     knows the store, the catalogue or a pipeline; runs, imports or fetches anything that a file names
//! to add    a file with `pub const FORMAT`, a line in `FORMATS`
pub mod attach;
pub mod decompress;
pub mod edge_list;
pub mod gml;
pub mod hetero;
mod look;
pub mod npy;
pub mod npz;
pub mod pickle;
pub mod planetoid;
pub mod raw;
#[cfg(feature = "tables")]
pub mod tables;
pub mod zip;

pub use look::{Look, detect};

use raw::{RawGraph, Read};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf};

/// A format: its name, what it is, how it is recognised and how it is read.
pub struct Format {
    /// As catalogue entries and manifests call it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Which of these files are a data set of this format; none: it is not this one.
    pub recognise: fn(&Look) -> Option<Vec<PathBuf>>,
    /// Reads the files, given in any order.
    pub read: fn(&[PathBuf], &Options) -> Read<RawGraph>,
}

/// All formats, the surest signs first: `detect` takes the first that recognises the files.
pub const FORMATS: &[Format] = &[
    planetoid::FORMAT,
    hetero::FORMAT,
    #[cfg(feature = "tables")]
    tables::FORMAT,
    npz::FORMAT,
    gml::FORMAT,
    edge_list::FORMAT,
];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// What formats leave open; each reads those that mean something to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// What node ids are.
    pub ids: Ids,
    /// The attribute or column of nodes that is the label.
    pub label: Option<String>,
    /// The attribute or column of edges that is the weight; `none` ignores a third column of edge lists.
    pub weight: Option<String>,
    /// The column of edge tables that is where an edge begins; by itself: `source`, `from`, `src` and the like.
    pub source: Option<String>,
    /// The column of edge tables that is where an edge ends; by itself: `target`, `to`, `dst` and the like.
    pub target: Option<String>,
    /// The column of edge tables that names the relation; `none`: there is but one.
    pub relation: Option<String>,
    /// Columns of edge tables that are features; further ones are passed over.
    pub edge_features: Vec<String>,
    /// Names of kinds of nodes by what the files call them: `{p: paper, a: author}`.
    pub kinds: BTreeMap<String, String>,
}

/// What node ids are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    /// Numbers if the first one is; a word that comes later is then an error.
    #[default]
    Auto,
    /// Whole numbers from 0 to 2^64 - 1.
    Number,
    /// Words.
    String,
}
