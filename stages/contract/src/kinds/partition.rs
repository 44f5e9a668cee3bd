//! partition: how the work over a permuted csr is divided.
//!
//! files     `partition.json` (schemes with their settings and sizes) and one Arrow file per table of a scheme. Scheme
//!           `rows`: `in_rows` and `out_rows` u32: the first row of each unit, and the number of rows
//! promises  every row is in exactly one unit of each direction; units ascend
//! never     copies edges that the csr has
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Depth, need_count, need_file, read_json, write_json};
use crate::{
    Artifact, Kind, Manifest, Outputs, StageError,
    arrow_file::{View, open_numbers, write_numbers},
};

/// File that lists the schemes.
pub const PARTITION_FILE: &str = "partition.json";

/// What partition.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Parts, for as many devices.
    pub parts: u64,
    /// The divisions that are here.
    pub schemes: Vec<Scheme>,
}

/// One division.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "scheme", deny_unknown_fields)]
pub enum Scheme {
    /// Runs of rows with about equal numbers of edges.
    Rows {
        /// Edges aimed at.
        unit_edges: u64,
        /// Units of the in-direction and of the out-direction.
        units: [u64; 2],
        /// Most edges of a unit: one heavy row may exceed the aim.
        unit_edges_max: u64,
        /// Why this scheme.
        why: String,
    },
}

/// Units of scheme `rows`, mapped.
#[derive(Clone, Debug)]
pub struct RowUnits {
    /// First row of each unit over in-edges, and the number of rows.
    pub incoming: View<u32>,
    /// The same over out-edges.
    pub outgoing: View<u32>,
}

/// Writes scheme `rows`.
pub fn write_rows(outputs: &mut Outputs, partition: &Partition, incoming: Vec<u32>, outgoing: Vec<u32>) -> Result<(), StageError> {
    let nodes = u64::from(incoming.last().copied().unwrap_or(0));
    write_numbers(&outputs.file(Kind::Partition, "in_rows.arrow"), "in_rows", incoming)?;
    write_numbers(&outputs.file(Kind::Partition, "out_rows.arrow"), "out_rows", outgoing)?;
    write_json(&outputs.file(Kind::Partition, PARTITION_FILE), partition)?;
    outputs.count(Kind::Partition, "nodes", nodes);
    Ok(())
}

/// Maps scheme `rows`.
pub fn open_rows(artifact: &Artifact) -> Result<RowUnits, StageError> {
    Ok(RowUnits { incoming: open_numbers(&artifact.file("in_rows.arrow"), "in_rows")?, outgoing: open_numbers(&artifact.file("out_rows.arrow"), "out_rows")? })
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PARTITION_FILE)?;
    let page = directory.join(PARTITION_FILE);
    let partition: Partition = read_json(&page)?;
    if partition.schemes.is_empty() {
        return Err(StageError::damaged(&page, "expected at least one scheme, found none"));
    }
    let nodes = need_count(directory, manifest, "nodes")?;
    for scheme in &partition.schemes {
        let Scheme::Rows { units, .. } = scheme;
        for (name, units) in ["in_rows", "out_rows"].into_iter().zip(units) {
            let path = directory.join(format!("{name}.arrow"));
            let starts: View<u32> = open_numbers(&path, name)?;
            let ends = (starts.first().copied(), starts.last().copied());
            if starts.len() as u64 != units + 1 || ends != (Some(0), u32::try_from(nodes).ok()) {
                return Err(StageError::damaged(
                    &path,
                    format!("expected {units} units from row 0 to {nodes}, found {} from {ends:?}", starts.len().saturating_sub(1)),
                ));
            }
            if depth == Depth::Publish && !starts.windows(2).all(|pair| pair[0] < pair[1]) {
                return Err(StageError::damaged(&path, "units do not ascend"));
            }
        }
    }
    Ok(())
}
