//! permutation: the new number of each node.
//!
//! files     `new_of_old` u32; `quality.json`: metrics of the order, before and after, and why it
//!           was chosen
//! promises  a bijection of 0..nodes
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    Depth, expect_length, need_count, need_file,
    profile::{CommunityFigures, WindowFigures},
    read_json, write_json,
};
pub use crate::kind::QUALITY_FILE;
use crate::{
    Artifact, Kind, Manifest, Outputs, StageError,
    arrow_file::{View, open_numbers, write_numbers},
    row_order::{AesRule, OrderFigures},
};

/// The new numbers.
pub const PERMUTATION_FILE: &str = "new_of_old.arrow";

/// The count of bytes that a sum over all in-edges moves under the new order, on the shipped device
/// that moves the fewest.
pub const WALK_BYTES: &str = "walk_bytes";
/// The fact that says whether any node got another number.
pub const RENUMBERED: &str = "renumbered";
/// Columns of the rows that `WALK_BYTES` is for: the largest of the widths in `Quality`.
pub const WALK_COLUMNS: u64 = 256;

/// Metrics of an order and of the one before it, and the reasons for the choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Method that was run.
    pub method: String,
    /// Why it was chosen.
    pub why: String,
    /// All candidates, where there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weighed: Option<String>,
    /// GNNAdvisor's rule (section 3.3.1): reorder when sqrt(AES) > floor(sqrt(nodes) / 100).
    pub aes_rule: AesRule,
    /// Metrics of the communities, where the method looks for such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communities: Option<CommunityFigures>,
    /// The parts that METIS found, where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// Metrics of the order before.
    pub before: Standing,
    /// Metrics of the new order.
    pub after: Standing,
}

/// Metrics of one order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Distances, and lines of 32 edges.
    #[serde(flatten)]
    pub order: OrderFigures,
    /// Sum over all nodes of the distance to the lowest neighbour below, in either direction.
    pub profile: u64,
    /// Windows of 8 and of 16 targets.
    pub windows: [WindowFigures; 2],
    /// Bytes that one sum over all in-edges would move, by device and width.
    pub predicted: Vec<Moved>,
}

/// Predicted bytes that one sum over all in-edges moves on a device: it reads the f32 row of each
/// neighbour, and writes one of each node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The device's name.
    pub device: String,
    /// Width of the rows.
    pub columns: u64,
    /// Bytes to and from memory: what its cache does not hold.
    pub memory_bytes: u64,
    /// Bytes to and from its cache.
    pub cache_bytes: u64,
}

/// A partition of the nodes, and the edges that it cuts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Number of parts.
    pub parts: u64,
    /// Pairs of neighbours in different parts.
    pub pairs: u64,
    /// Nodes of the largest part over nodes / parts.
    pub imbalance: f64,
}

/// The old number of each new one from the new number of each old one, and back.
pub fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().zip(0u32..).for_each(|(&to, from)| inverse[to as usize] = from);
    inverse
}

/// Whether any node has another number than before.
pub fn is_renumbered(new_of_old: &[u32]) -> bool {
    new_of_old.iter().enumerate().any(|(old, &new)| old != new as usize)
}

/// Writes the permutation.
pub fn write(
    outputs: &mut Outputs,
    new_of_old: Vec<u32>,
    quality: &Quality,
) -> Result<(), StageError> {
    let nodes = new_of_old.len() as u64;
    outputs.fact(Kind::Permutation, RENUMBERED, is_renumbered(&new_of_old));
    write_numbers(&outputs.file(Kind::Permutation, PERMUTATION_FILE), "new_of_old", new_of_old)?;
    write_json(&outputs.file(Kind::Permutation, QUALITY_FILE), quality)?;
    outputs.count(Kind::Permutation, "nodes", nodes);
    outputs.fact(Kind::Permutation, "method", quality.method.clone());
    Ok(())
}

/// Maps the permutation.
pub fn open(artifact: &Artifact) -> Result<View<u32>, StageError> {
    open_numbers(&artifact.file(PERMUTATION_FILE), "new_of_old")
}

/// Reads the metrics of the order.
pub fn quality(artifact: &Artifact) -> Result<Quality, StageError> {
    read_json(&artifact.file(QUALITY_FILE))
}

/// Checks schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PERMUTATION_FILE)?;
    need_file(directory, manifest, QUALITY_FILE)?;
    let path = directory.join(PERMUTATION_FILE);
    let view: View<u32> = open_numbers(&path, "new_of_old")?;
    expect_length(&path, "nodes", need_count(directory, manifest, "nodes")?, view.len() as u64)?;
    if depth == Depth::Publish {
        read_json::<Quality>(&directory.join(QUALITY_FILE))?;
        let mut seen = vec![false; view.len()];
        for (old, &new) in view.iter().enumerate() {
            match seen.get_mut(new as usize) {
                Some(slot) if !*slot => *slot = true,
                Some(_) => {
                    return Err(StageError::damaged(
                        &path,
                        format!("node {old}: new number {new} is given twice"),
                    ));
                }
                None => {
                    return Err(StageError::damaged(
                        &path,
                        format!("node {old}: new number {new} of only {} nodes", view.len()),
                    ));
                }
            }
        }
    }
    Ok(())
}
