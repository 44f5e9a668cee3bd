//! run: results of a run.
//!
//! files     `record.json` (device, seconds, peak bytes, supersteps, converged, seed); `metrics.parquet` (training: epoch,
//!           loss, train, validation, test, seconds); `parameters.safetensors`; `predictions.parquet` (id, class, scores) or
//!           `values.parquet` (id, one column per returned value), with `edge_values.parquet` (source, target, one column per
//!           returned value of edges) where a program returns such
//! promises  results stand under the data set's own ids, in the order of nodes.parquet; where rows are of the graphs of a set of
//!           many, in that of graphs.parquet (count `graphs`)
use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Depth, has_file, need_file, read_json};
use crate::{Artifact, Manifest, StageError};

/// The record of the making; no part of the input digest.
pub const RECORD_FILE: &str = "record.json";
/// Metrics by epoch; no part of the input digest, since it has seconds.
pub const METRICS_FILE: &str = "metrics.parquet";
/// Learned tensors.
pub const PARAMETERS_FILE: &str = "parameters.safetensors";
/// Result of a training run.
pub const PREDICTIONS_FILE: &str = "predictions.parquet";
/// Result of an iteration.
pub const VALUES_FILE: &str = "values.parquet";
/// Values of edges that an iteration returns; further lists have `_1`, `_2` and so on before the dot.
pub const EDGE_VALUES_FILE: &str = "edge_values.parquet";

/// What record.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `train` or `iterate`.
    pub mode: String,
    /// Entry of the program.
    pub program: String,
    /// Device that ran it.
    pub device: serde_json::Value,
    /// Threads used.
    pub threads: u64,
    /// Seed of parameters and dropout.
    pub seed: u64,
    /// Type of reals.
    pub dtype: String,
    /// Epochs done; 0 for an iteration.
    pub epochs: u64,
    /// Supersteps done; 0 for training.
    pub supersteps: u64,
    /// Whether the iteration reached its end; true for training.
    pub converged: bool,
    /// Seconds from upload to results, without what an earlier, interrupted start took.
    pub seconds: f64,
    /// Seconds of that from the first launch to the last: the graph is loaded before, and results are written after.
    #[serde(default)]
    pub seconds_compute: f64,
    /// Median seconds of an epoch or superstep; of a program without either the seconds of a pass, where `run.passes` asks for them, else 0.
    pub seconds_step: f64,
    /// Seconds by launch over the whole run.
    pub seconds_by_launch: BTreeMap<String, f64>,
    /// Bytes predicted by the plan.
    pub bytes_predicted: u64,
    /// Largest resident size of the process.
    pub bytes_peak: u64,
    /// Bytes of the host that were pinned for kernels to read, beside `bytes_peak`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_pinned: u64,
    /// What is gone of a GPU's memory since it was opened, as its driver says: `bytes_peak`, code, graphs of launches, and what others took meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_driver: u64,
    /// Epoch whose parameters were kept.
    pub epoch_kept: u64,
    /// Last metrics: loss, train, validation, test, as far as there are such.
    pub metrics: BTreeMap<String, f64>,
    /// The column that was learned, where it is not the label of the data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Names of the classes of that column, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Supersteps of each loop of an iteration.
    #[serde(default)]
    pub supersteps_of_loops: Vec<u64>,
    /// How each loop of an iteration was gone through: the name of its course, or `supersteps`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub courses: Vec<String>,
    /// Steps that were already done when this process started.
    pub resumed_at: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads the record.
pub fn open_record(artifact: &Artifact) -> Result<Record, StageError> {
    read_json(&artifact.file(RECORD_FILE))
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, _depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, RECORD_FILE)?;
    let path = directory.join(RECORD_FILE);
    let record: Record = read_json(&path)?;
    match record.mode.as_str() {
        "train" => {
            for name in [METRICS_FILE, PARAMETERS_FILE, PREDICTIONS_FILE] {
                need_file(directory, manifest, name)?;
            }
        }
        "infer" => {
            need_file(directory, manifest, PARAMETERS_FILE)?;
            if !has_file(manifest, VALUES_FILE) {
                need_file(directory, manifest, PREDICTIONS_FILE)?;
            }
        }
        "iterate" if !has_file(manifest, VALUES_FILE) => need_file(directory, manifest, VALUES_FILE)?,
        "iterate" => {}
        other => return Err(StageError::damaged(&path, format!("expected mode `train`, `infer` or `iterate`, found `{other}`"))),
    }
    #[cfg(feature = "tables")]
    for name in [PREDICTIONS_FILE, VALUES_FILE] {
        if has_file(manifest, name) {
            let path = directory.join(name);
            let (rows, schema) = crate::parquet_file::describe(&path)?;
            let of = if manifest.counts.contains_key("graphs") { "graphs" } else { "nodes" };
            super::expect_length(&path, of, super::need_count(directory, manifest, of)?, rows)?;
            if schema.field_with_name("id").is_err() {
                return Err(StageError::damaged(&path, "expected a column `id`, found none"));
            }
        }
    }
    Ok(())
}
