//! What formats leave open; each reader reads the options that mean something to it.
use crate::raw_graph::NodeIds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub parts: Vec<TriplePart>,
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
    pub(crate) fn with_ids(&self, known: &NodeIds) -> Options {
        Options { ids_exact: self.are_ids_exact(), ..self.clone() }.with_id_form(known)
    }

    /// The same where numbers are as exact as they are here.
    pub(crate) fn with_id_form(self, known: &NodeIds) -> Options {
        let ids = if matches!(known, NodeIds::Strings(_)) { Ids::String } else { Ids::Number };
        Options { ids, ..self }
    }

    /// As `are_ids_exact`, of graphs: they may be numbers where nodes are words.
    pub(crate) fn are_graphs_exact(&self) -> bool {
        self.ids != Ids::Number || self.ids_exact
    }

    /// Whether another table has said that ids are numbers.
    pub(crate) fn are_numbers_elsewhere(&self) -> bool {
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
pub enum TriplePart {
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
