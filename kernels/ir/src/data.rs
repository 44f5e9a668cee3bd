//! data: the facts of a data set that a program is compiled for.
//!
//! promises  the compiled program depends on nothing else of a data set
//! never     contains rows
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Half, Loss, Place, Type};

/// The size and schema of a data set, after ingest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Vertices.
    pub nodes: u64,
    /// Stored edges.
    pub edges: u64,
    /// Graphs; 1 except for data sets of many graphs.
    pub graphs: u64,
    /// Whether `nodes.parquet` has a graph column: pooled values then have a row per graph.
    pub many_graphs: bool,
    /// Whether labels belong to vertices nevertheless; else, in a data set of many graphs, they
    /// belong to graphs.
    #[serde(default)]
    pub labels_of_nodes: bool,
    /// Columns of the features; none: `v.x` is one-hot identity.
    pub features: Option<u64>,
    /// Nonzeros of sparse features.
    pub sparse_features: Option<u64>,
    /// Kinds of vertices, by number; empty: a single kind. Without common `features`, each kind has
    /// its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<NodeKind>,
    /// Columns of the edge features; 0 if none.
    pub edge_features: u64,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Whether each edge also goes back: in-neighbours and out-neighbours are the same vertices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub symmetric: bool,
    /// Names of the relations, by number; empty if edges have no type.
    pub relations: Vec<String>,
    /// Further columns of nodes.parquet, and their types.
    pub columns: BTreeMap<String, Type>,
    /// The target; none: `v.classes` is an error.
    pub target: Option<Target>,
    /// Whether the program is trained or evaluated against the target: then it returns scores, and
    /// label and split cannot be read.
    pub training: bool,
    /// Whether learned tensors are given, and the program is run once with them (inference).
    #[serde(default)]
    pub inferring: bool,
    /// Bytes of a float: 4 or 8. Only for estimates of bytes.
    pub bytes_per_real: u64,
    /// The storage type of wide rows, if not that of the arithmetic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<Half>,
    /// Whether rows are processed by groups of lanes, as on a GPU. Affects how work is split, never
    /// what is computed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lanes: bool,
}

/// A kind of vertices (node type).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeKind {
    /// Its name.
    pub name: String,
    /// Its number of vertices.
    pub nodes: u64,
    /// Columns of its features; none: `v.x` is one-hot identity among the vertices of the kind.
    pub features: Option<u64>,
    /// Nonzeros of its features, if sparse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sparse_features: Option<u64>,
}

/// The target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Classes, or values to fit: `v.classes`.
    pub columns: u64,
    /// The loss.
    pub loss: Loss,
}

impl Data {
    /// What a row of the target corresponds to.
    pub fn target_place(&self) -> Place {
        if self.many_graphs && !self.labels_of_nodes { Place::G } else { Place::D }
    }

    /// What a row of the result table corresponds to, except for results of edges: a graph, in a
    /// data set of many graphs if no result is per vertex; else a vertex, which gets the values of
    /// its graph.
    pub fn place_of_results(&self, mut places: impl Iterator<Item = Place> + Clone) -> Place {
        let shared_or_of_graphs = |place| matches!(place, Place::G | Place::P | Place::C);
        let of_graphs = self.many_graphs
            && places.clone().any(|place| place == Place::G)
            && places.all(shared_or_of_graphs);
        if of_graphs { Place::G } else { Place::D }
    }

    /// A data set with this many vertices and edges, and nothing else.
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
            symmetric: false,
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
