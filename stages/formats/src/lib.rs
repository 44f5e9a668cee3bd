//! formats: readers of foreign files, one file per format; each gives a `RawGraph` or an error with
//! its place.
//!
//! promises  any bytes give a graph that holds its promises, or an error; memory follows the size
//!           of the contents, for edges up to a limit where they can be read one after the other
//!           (spill.rs)
//! never     knows the store, the catalogue or a pipeline; runs, imports or fetches anything that a
//!           file names
//! to add    a file with `pub const FORMAT`, a line in `FORMATS`
pub mod adjacency_text;
pub mod ascii_graph;
pub mod attach;
mod blocks;
mod bundle;
pub mod bvgraph;
pub mod columns;
pub mod communities;
mod counted;
pub mod csv;
pub mod decompress;
pub mod dimacs;
pub mod edge_arrays;
pub mod edge_list;
pub mod gml;
mod gzip;
pub mod hetero;
mod lines;
mod look;
pub mod matrix_market;
pub mod metis;
#[cfg(test)]
mod mistakes;
pub mod names;
pub mod npy;
pub mod npz;
pub mod ntriples;
mod number_table;
pub mod ogb;
pub mod pickle;
pub mod planetoid;
pub mod raw;
pub mod road;
pub mod spill;
pub mod split_table;
mod statements;
#[cfg(feature = "tables")]
pub mod tables;
pub mod tar;
mod text;
#[cfg(test)]
mod trial;
pub mod triples;
pub mod tu;
pub mod uai;
pub mod zip;

pub use edge_list::is_about;
pub use look::{
    Look, detect,
    strange::{mistaken, what_is},
};

use raw::{NodeIds, RawGraph, Read};
use serde::{Deserialize, Serialize};
use spill::{Found, Limit};
use std::{collections::BTreeMap, path::PathBuf};

/// A format: its name, what it is, how it is recognised and how it is read.
pub struct Format {
    /// As catalogue entries and manifests call it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Which of these files are a data set of this format; none: it is not this one.
    pub recognise: fn(&Look) -> Option<Vec<PathBuf>>,
    /// Reads the files, given in any order; edges beyond a share of the limit are in a file then.
    /// Readers that cannot know their edges before the last one hold them all.
    pub read_within: fn(&[PathBuf], &Options, &Limit) -> Read<Found>,
}

impl Format {
    /// Reads the files, given in any order, with all edges in memory.
    pub fn read(&self, files: &[PathBuf], options: &Options) -> Read<RawGraph> {
        (self.read_within)(files, options, &Limit::none()).map(|(graph, _)| graph)
    }
}

/// All formats, the surest signs first: `detect` takes the first that recognises the files.
pub const FORMATS: &[Format] = &[
    planetoid::FORMAT,
    tu::FORMAT,
    ogb::FORMAT,
    hetero::FORMAT,
    #[cfg(feature = "tables")]
    tables::FORMAT,
    npz::FORMAT,
    edge_arrays::FORMAT,
    ntriples::FORMAT,
    triples::FORMAT,
    bvgraph::FORMAT,
    matrix_market::FORMAT,
    metis::FORMAT,
    dimacs::FORMAT,
    gml::FORMAT,
    road::FORMAT,
    communities::FORMAT,
    uai::FORMAT,
    adjacency_text::FORMAT,
    ascii_graph::FORMAT,
    csv::FORMAT,
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
    /// Whether numbers are ids in their shortest form alone, where `ids` says `number` because the
    /// nodes of a table are numbers: `007` is no other word for the node 7.
    #[serde(skip)]
    pub ids_exact: bool,
    /// The attribute or column of nodes that is the label.
    pub label: Option<String>,
    /// The attribute or column of edges that is the weight; `none` ignores weights: a third column
    /// of edge lists, the values of matrices, the weights of METIS and DIMACS files.
    pub weight: Option<String>,
    /// Whether weights are not to be read whatever they are, where `weight` says `none`: also then
    /// a third column of words ends a statement.
    #[serde(skip)]
    pub weights_dropped: bool,
    /// The column of node tables that is their id; by itself: `id`, `node` and the like.
    pub id: Option<String>,
    /// Columns of node tables that are features, in this order; by itself: a column of lists, else
    /// `x0`, `f12`, `feat_NAME`.
    pub node_features: Vec<String>,
    /// What stands between columns of edge lists and text tables, a sign or several: `\t`, `::`,
    /// `->`; by itself: as the first line has it.
    pub separator: Option<String>,
    /// Names of the columns of an edge list whose first line does not name them: `[source, target,
    /// weight, time]`.
    pub columns: Vec<String>,
    /// The column of edge tables that is where an edge begins; by itself: `source`, `from`, `src`
    /// and the like.
    pub source: Option<String>,
    /// The column of edge tables that is where an edge ends; by itself: `target`, `to`, `dst` and
    /// the like.
    pub target: Option<String>,
    /// The column of edge tables that names the relation; `none`: there is but one.
    pub relation: Option<String>,
    /// Columns of edge tables that are features; further ones are passed over.
    pub edge_features: Vec<String>,
    /// How many nodes an edge list of numbers has, with those that no edge names: 0, 1, ... or, if
    /// the last id says so, 1, 2, ...
    pub nodes: Option<u32>,
    /// Whether an edge list counts its nodes and edges before them; none: found out.
    pub counts: Option<bool>,
    /// Relations whose statements are read as if they were not there, by whole name or by what
    /// follows its last `#` or `/`: those that tell the label. One that no statement has is no
    /// error: many files come without them already.
    pub drop_relations: Vec<String>,
    /// What literals of RDF are.
    pub literals: Literals,
    /// The parts of a set of triples whose statements are edges; none named: those to train on.
    /// Nodes and relations come from all parts.
    pub parts: Vec<Part>,
    /// The file that gives entities their types beside triples; by itself: `entity2type.txt`,
    /// `entity_types.tsv` and the like.
    pub types: Option<String>,
    /// The id of the first node, for formats that count nodes instead of naming them; none: as the
    /// format counts, 1 in Matrix Market, METIS and DIMACS, 0 in WebGraph's.
    pub first_id: Option<u32>,
    /// Whether neighbour lists name one direction alone, for formats that want both (METIS).
    pub directed: Option<bool>,
    /// Names of kinds of nodes by what the files call them: `{p: paper, a: author}`.
    pub kinds: BTreeMap<String, String>,
}

impl Options {
    /// Whether `007` is no way to write the id 7: two words become one node only where the options
    /// say that ids are numbers.
    pub fn are_ids_exact(&self) -> bool {
        self.ids == Ids::Auto || self.ids_exact
    }

    /// The same for a table whose ids are those of another one.
    fn with_ids(&self, known: &NodeIds) -> Options {
        Options { ids_exact: self.are_ids_exact(), ..self.clone() }.of_ids(known)
    }

    /// The same where numbers are as exact as they are here.
    fn of_ids(self, known: &NodeIds) -> Options {
        let ids = if matches!(known, NodeIds::Strings(_)) { Ids::String } else { Ids::Number };
        Options { ids, ..self }
    }

    /// As `are_ids_exact`, of graphs: they may be numbers where nodes are words.
    fn are_graphs_exact(&self) -> bool {
        self.ids != Ids::Number || self.ids_exact
    }

    /// Whether another table has said that ids are numbers.
    fn are_numbers_elsewhere(&self) -> bool {
        self.ids == Ids::Number && self.ids_exact
    }
}

/// What literals of RDF are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Literals {
    /// Nodes, one for each distinct literal: as the published counts of AIFB, MUTAG, BGS and AM
    /// have them.
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
    /// Numbers if the first ones are, without zeros before them; a word that comes later, such as
    /// `007`, is then an error.
    #[default]
    Auto,
    /// Whole numbers from 0 to 2^64 - 1; `007` is 7.
    Number,
    /// Words.
    String,
}
