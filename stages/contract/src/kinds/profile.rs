//! profile: what a planner must know of a graph.
//!
//! files     `profile.json`; `degrees.parquet` (in u64, out u64 per node)
//! promises  exact counts, not estimates, unless a field's name says so
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Depth, need_file, read_json, write_json};
use crate::{Artifact, Kind, Manifest, Outputs, StageError};

/// The readable page.
pub const PROFILE_FILE: &str = "profile.json";
/// Degrees of every node.
pub const DEGREES_FILE: &str = "degrees.parquet";

/// How degrees spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Smallest.
    pub min: u64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: u64,
    /// Standard deviation of the whole population.
    pub deviation: f64,
    /// Third standardised moment of the whole population; 0 when all are equal.
    pub skew: f64,
}

/// What profile.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Nodes.
    pub nodes: u64,
    /// Edges, parallel ones each.
    pub edges: u64,
    /// In-degrees; parallel edges count each, a self loop once.
    pub in_degree: Spread,
    /// Out-degrees.
    pub out_degree: Spread,
    /// Nodes without any edge.
    pub isolated: u64,
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Edges beyond the first between the same ends in the same direction.
    pub parallel_edges: u64,
    /// Whether each edge has its reverse (with the same multiplicity, weight and type).
    pub symmetric: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Relations; 1 when the graph has no types.
    pub relations: u64,
    /// Mean over all edges of |source - target| (AES).
    pub aes: f64,
    /// Weakly connected components.
    pub components: u64,
    /// Nodes of the largest.
    pub component_largest: u64,
    /// The adjacency as blocks on the diagonal: runs of consecutive nodes without an edge between runs.
    pub blocks: u64,
    /// Nodes of the largest block.
    pub block_largest: u64,
    /// Whether the adjacency is block diagonal in more than name: at least 8 blocks and none above an eighth of the nodes.
    pub block_diagonal: bool,
}

/// Writes the page.
pub fn write(outputs: &mut Outputs, profile: &Profile) -> Result<(), StageError> {
    write_json(&outputs.file(Kind::Profile, PROFILE_FILE), profile)?;
    outputs.count(Kind::Profile, "nodes", profile.nodes);
    outputs.count(Kind::Profile, "edges", profile.edges);
    Ok(())
}

/// Writes the degrees.
#[cfg(feature = "tables")]
pub fn write_degrees(outputs: &mut Outputs, incoming: Vec<u64>, outgoing: Vec<u64>) -> Result<(), StageError> {
    use crate::{
        arrow_file::numbers,
        parquet_file::{field, write_table},
    };
    use arrow_schema::DataType;
    let columns = vec![(field("in", DataType::UInt64), numbers(incoming)), (field("out", DataType::UInt64), numbers(outgoing))];
    write_table(&outputs.file(Kind::Profile, DEGREES_FILE), columns)
}

/// Reads the page.
pub fn open(artifact: &Artifact) -> Result<Profile, StageError> {
    read_json(&artifact.file(PROFILE_FILE))
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, _depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PROFILE_FILE)?;
    need_file(directory, manifest, DEGREES_FILE)?;
    let path = directory.join(PROFILE_FILE);
    let profile: Profile = read_json(&path)?;
    #[cfg(feature = "tables")]
    {
        let degrees = directory.join(DEGREES_FILE);
        super::expect_length(&degrees, "nodes", profile.nodes, crate::parquet_file::describe(&degrees)?.0)?;
    }
    if profile.isolated > profile.nodes || profile.self_loops > profile.edges || profile.component_largest > profile.nodes {
        return Err(StageError::damaged(&path, "counts contradict each other"));
    }
    Ok(())
}
