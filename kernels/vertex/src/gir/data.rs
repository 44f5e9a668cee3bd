//! data: what a program may know of the data set that it is compiled for.
//!
//! promises  nothing else of a data set decides what a program becomes
//! never     holds rows
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Half, Loss, Place, Type};

/// Shape of a data set, after ingest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Vertices.
    pub nodes: u64,
    /// Stored edges.
    pub edges: u64,
    /// Graphs; 1 but for sets of many graphs.
    pub graphs: u64,
    /// Whether `nodes.parquet` says which graph a vertex is of: what is pooled has a row for each
    /// of them.
    pub many_graphs: bool,
    /// Whether labels belong to vertices all the same; else, in a set of many graphs, they belong
    /// to graphs.
    #[serde(default)]
    pub labels_of_nodes: bool,
    /// Columns of the features; none: `v.x` is one-hot identity.
    pub features: Option<u64>,
    /// Nonzeros of the features when they are kept sparse.
    pub sparse_features: Option<u64>,
    /// Kinds of vertices, by number; empty: all are of one kind. Without `features` of all
    /// vertices, each kind has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<NodeKind>,
    /// Columns of the edge features; 0 without.
    pub edge_features: u64,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Names of the relations, by number; empty when edges have no type.
    pub relations: Vec<String>,
    /// Further columns of nodes.parquet, and their types.
    pub columns: BTreeMap<String, Type>,
    /// What is learned; none: nothing, `v.classes` is then an error.
    pub target: Option<Target>,
    /// Whether the program is trained or measured against the target: then it returns scores, and
    /// label and split cannot be read.
    pub training: bool,
    /// Whether learned tensors are given, and the program is computed once with them.
    #[serde(default)]
    pub inferring: bool,
    /// Bytes of a real: 4 or 8. Decides by bytes only, never what is computed.
    pub bytes_per_real: u64,
    /// What wide rows are kept as, if not as what is computed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<Half>,
    /// Whether rows are done by groups of lanes, as on a GPU. Decides how work is shared out, never
    /// what is computed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lanes: bool,
}

/// A kind of vertices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeKind {
    /// Its name.
    pub name: String,
    /// How many vertices are of it.
    pub nodes: u64,
    /// Columns of its features; none: `v.x` is one-hot identity among the vertices of the kind.
    pub features: Option<u64>,
    /// Nonzeros of its features when they are kept sparse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse_features: Option<u64>,
}

/// What is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Classes, or values to fit: `v.classes`.
    pub columns: u64,
    /// How results are measured.
    pub loss: Loss,
}

impl Data {
    /// What a row of the target stands for.
    pub fn target_place(&self) -> Place {
        if self.many_graphs && !self.labels_of_nodes { Place::G } else { Place::D }
    }

    /// What a row of the table of results stands for, those of edges apart: a graph, where there
    /// are many and no result is of a single vertex; else a vertex, which is given what is of its
    /// graph.
    pub fn place_of_results(&self, mut places: impl Iterator<Item = Place> + Clone) -> Place {
        let shared_or_of_graphs = |place| matches!(place, Place::G | Place::P | Place::C);
        let of_graphs = self.many_graphs
            && places.clone().any(|place| place == Place::G)
            && places.all(shared_or_of_graphs);
        if of_graphs { Place::G } else { Place::D }
    }

    /// A data set of so many vertices and edges, and nothing else.
    pub fn bare(nodes: u64, edges: u64) -> Data {
        Data {
            nodes,
            edges,
            graphs: 1,
            many_graphs: false,
            labels_of_nodes: false,
            features: None,
            sparse_features: None,
            kinds: Vec::new(),
            edge_features: 0,
            weighted: false,
            relations: Vec::new(),
            columns: BTreeMap::new(),
            target: None,
            training: false,
            inferring: false,
            bytes_per_real: 4,
            half: None,
            lanes: false,
        }
    }
}
