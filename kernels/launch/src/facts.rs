//! facts: what must be known of a graph and a run to fuse a launch list and to reckon its bytes.
//!
//! promises  bytes, schedules and places of a lowered program follow from it and facts alone
//! never     contains a graph, a device or a path
use serde::{Deserialize, Serialize};

use warploom_ir::{Data, Half};

/// What is known of graph and run when a list is fused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFacts {
    /// Nodes of the graph, after ingest.
    pub nodes: u64,
    /// Stored edges, including self loops that ingest added.
    pub edges: u64,
    /// Nonzeros of sparse features, none if dense.
    pub sparse_features: Option<u64>,
    /// Whether edges carry weights.
    pub weighted: bool,
    /// Whether parameters are learned; if not, the list only evaluates and predicts.
    pub training: bool,
    /// 4 for f32, 8 for f64.
    pub bytes_per_real: u64,
    /// The storage type of wide rows, if not floats of the run's type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half: Option<Half>,
    /// Whether rows are processed by groups of lanes, as on a GPU: products and sums over all rows
    /// are then launches of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lanes: bool,
}

impl GraphFacts {
    /// The facts that a compiled program's bytes are estimated from.
    pub fn from_data(data: &Data) -> Self {
        GraphFacts {
            nodes: data.nodes,
            edges: data.edges,
            sparse_features: data.sparse_features,
            weighted: data.weighted,
            training: data.training,
            bytes_per_real: data.bytes_per_real,
            half: data.half,
            lanes: data.lanes,
        }
    }

    /// Bytes of the offsets of a CSR with this many rows and entries; 4 each if entries fit 32
    /// bits.
    pub(crate) fn bytes_of_offsets(rows: u64, entries: u64) -> u64 {
        let width = if entries <= u64::from(u32::MAX) { 4 } else { 8 };
        rows.saturating_add(1).saturating_mul(width)
    }
}
