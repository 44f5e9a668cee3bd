//! formats: readers of foreign files, one file per format; each gives a `RawGraph` or an error with its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size of the contents
//! never     knows the store, the catalogue or a pipeline; runs, imports or fetches anything that a file names
//! to add    a file with `pub const FORMAT`, a line in `FORMATS`
pub mod adjacency_text;
mod bundle;
pub mod decompress;
pub mod edge_list;
pub mod gml;
mod lines;
mod look;
pub mod ntriples;
mod number_table;
pub mod ogb;
pub mod pickle;
pub mod planetoid;
pub mod raw;
mod statements;
pub mod tar;
pub mod triples;
pub mod tu;
pub mod zip;

pub use look::{Look, detect};

use raw::{RawGraph, Read};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
pub const FORMATS: &[Format] =
    &[planetoid::FORMAT, tu::FORMAT, ogb::FORMAT, ntriples::FORMAT, triples::FORMAT, gml::FORMAT, adjacency_text::FORMAT, edge_list::FORMAT];

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
    /// Relations whose statements are read as if they were not there, by whole name or by what follows its last `#` or `/`:
    /// those that tell the label. One that no statement has is no error: many files come without them already.
    pub drop_relations: Vec<String>,
    /// What literals of RDF are.
    pub literals: Literals,
    /// The parts of a set of triples whose statements are edges; none named: those to train on. Nodes and relations come from all parts.
    pub parts: Vec<Part>,
}

/// What literals of RDF are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Literals {
    /// Nodes, one for each distinct literal: as the published counts of AIFB, MUTAG, BGS and AM have them.
    #[default]
    Node,
    /// Statements with a literal are read as if they were not there.
    Drop,
}

/// A part of a set of triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// To train on.
    Train,
    /// To choose by.
    Valid,
    /// To be judged.
    Test,
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
