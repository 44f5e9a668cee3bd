//! run: results of a run.
//!
//! files     `record.json` (device, host, job, versions, seconds, peak bytes, supersteps);
//!           `metrics.parquet` (training: epoch, loss, train, validation, test, seconds);
//!           `parameters.safetensors`; `predictions.parquet` (id, class, scores) or
//!           `values.parquet` (id, one column per returned value), with `edge_values.parquet`
//!           (source, target, one column per returned value of edges) where a program returns any.
//!           Several searches of a run (count `searches`) have a block of rows each, with a first
//!           column `source`
//! promises  results have the data set's own ids, in the order of nodes.parquet, or, where the rows
//!           are graphs of a set, of graphs.parquet (count `graphs`)
use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Depth, has_file, need_file, read_json};
use crate::{Artifact, Manifest, StageError};

pub use crate::kind::{RUN_METRICS_FILE as METRICS_FILE, RUN_RECORD_FILE as RECORD_FILE};

/// Learned tensors.
pub const PARAMETERS_FILE: &str = "parameters.safetensors";
/// Results of a training run.
pub const PREDICTIONS_FILE: &str = "predictions.parquet";
/// Results of an iteration.
pub const VALUES_FILE: &str = "values.parquet";
/// Values of edges that an iteration returns. Names of further lists have `_1`, `_2` and so on
/// before the dot.
pub const EDGE_VALUES_FILE: &str = "edge_values.parquet";

/// The contents of record.json.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// `train` or `iterate`.
    pub mode: String,
    /// Entry of the program.
    pub program: String,
    /// Device of the run.
    pub device: serde_json::Value,
    /// Threads used.
    pub threads: u64,
    /// Seed of parameters and dropout.
    pub seed: u64,
    /// Type of floats.
    pub dtype: String,
    /// Epochs done; 0 for an iteration.
    pub epochs: u64,
    /// Supersteps done; 0 for training.
    pub supersteps: u64,
    /// Whether the iteration reached its end; true for training.
    pub converged: bool,
    /// Seconds from upload to results, without those of an earlier, interrupted process.
    pub seconds: f64,
    /// Seconds from the first launch to the last, without loading the graph and writing results.
    #[serde(default)]
    pub seconds_compute: f64,
    /// Median seconds of an epoch or superstep. For a program without either, the seconds of a pass
    /// if `run.passes` is set, else 0.
    pub seconds_step: f64,
    /// Seconds by launch over the whole run.
    pub seconds_by_launch: BTreeMap<String, f64>,
    /// What the plan predicted of `bytes_peak`.
    pub bytes_predicted: u64,
    /// What the plan predicted of `bytes_mapped`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_mapped_predicted: u64,
    /// Peak memory of the run: on a CPU of the process's own (what `--mem` of a scheduler has to
    /// allow), on a GPU of its memory.
    pub bytes_peak: u64,
    /// Peak bytes of mapped files in memory: the system drops them when it needs memory.
    #[serde(default)]
    pub bytes_mapped: u64,
    /// Most bytes of `bytes_peak` that earlier stages in the same process left. The run reuses what
    /// it can of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_left: u64,
    /// Bytes of pinned host memory that kernels read, in addition to `bytes_peak`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_pinned: u64,
    /// Decrease of a GPU's free memory since it was opened, as its driver reports it: `bytes_peak`,
    /// code, CUDA graphs, and what other processes took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_driver: u64,
    /// Epoch of the saved parameters.
    pub epoch_kept: u64,
    /// Metrics of the saved parameters: `loss`; `train`, `validation` and `test` of the metric that
    /// `metric` names; others under their names, such as `test_f1`. Missing ones are left out.
    pub metrics: BTreeMap<String, f64>,
    /// Which metric `train`, `validation` and `test` are, as `run.metric` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The request; none in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The column that was the target, if it is not the label of the data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Names of the classes of that column, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Supersteps of each loop of an iteration.
    #[serde(default)]
    pub supersteps_of_loops: Vec<u64>,
    /// How each loop of an iteration ran: the name of its algorithm, or `supersteps`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub courses: Vec<String>,
    /// The searches of `run.sources`, in its order. `supersteps` is then their sum, and
    /// `supersteps_of_loops` and `courses` are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchRecord>,
    /// Medians over the searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_search: Option<MedianSearch>,
    /// Steps that were done when this process started.
    pub resumed_at: u64,
    /// Name of the host; none in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The batch job that the run belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerJob>,
    /// Versions of what computed the results; none in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versions: Option<Versions>,
    /// Seconds of each stage that this process ran, this one included; hits are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seconds_by_stage: BTreeMap<String, f64>,
    /// Energy of the device from upload to results, of all processes that used it: of a GPU as NVML
    /// counts it, of CPU packages as RAPL does. None where the device does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// One of the searches of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRecord {
    /// The data set's own id of the vertex that it started from, a number or a word.
    pub source: serde_json::Value,
    /// Supersteps done.
    pub supersteps: u64,
    /// Supersteps of each loop.
    pub supersteps_of_loops: Vec<u64>,
    /// How each loop ran: the name of its algorithm, or `supersteps`.
    pub courses: Vec<String>,
    /// Whether it reached its end.
    pub converged: bool,
    /// Seconds from setting its source to its results, without writing them.
    pub seconds: f64,
}

/// Medians over the searches of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MedianSearch {
    /// Of supersteps.
    pub supersteps: f64,
    /// Of seconds.
    pub seconds: f64,
}

/// A batch job, as its scheduler's environment variables describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerJob {
    /// `slurm`, `pbs` or `lsf`.
    pub name: String,
    /// Id of the job.
    pub job: String,
    /// Id of the job array that it is a task of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_job: Option<String>,
    /// Its index in the job array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// How often the job was requeued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u64>,
    /// Its nodes, as the scheduler lists them: `node[01-04]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// Its partition, or queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

/// Versions of what computed the results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// Warploom.
    pub warploom: String,
    /// The commit that it was built from, where the build knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Release of the GPU's driver: `580.95.05`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The newest CUDA version that the driver supports: `13.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuda: Option<String>,
    /// The compiler of the GPU's kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvrtc: Option<String>,
    /// Compute capability of the GPU: `9.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_capability: Option<String>,
}

/// The first pipeline that requested a run; others may request the same run later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Name of the pipeline.
    pub pipeline: String,
    /// Its file, as the command line named it.
    pub file: String,
    /// The data set.
    pub dataset: String,
    /// Changes to the file: axes of its matrix and `--set`, as written.
    pub changed: Vec<(String, String)>,
}

impl Record {
    /// Which metric `train`, `validation` and `test` are. Records that lack `metric` use `asked`,
    /// the setting `run.metric`; `auto` then means the mean squared error where the record has an
    /// absolute one, else the accuracy.
    fn metric_name<'a>(&'a self, asked: Option<&'a str>) -> &'a str {
        let errors = || self.metrics.keys().any(|name| name.ends_with("_mae"));
        match (self.metric.as_deref(), asked) {
            (Some(name), _) => name,
            (None, Some(name)) if name != "auto" => name,
            _ if errors() => "mse",
            _ => "accuracy",
        }
    }

    /// Every metric under its full name: `loss`, `test_accuracy`, `test_f1`.
    fn named_metrics(&self, asked: Option<&str>) -> BTreeMap<String, f64> {
        let metric = self.metric_name(asked);
        let named = |name: &str| {
            if PARTS.contains(&name) { format!("{name}_{metric}") } else { name.to_owned() }
        };
        self.metrics
            .iter()
            .filter(|(_, value)| value.is_finite())
            .map(|(name, value)| (named(name), *value))
            .collect()
    }
}

/// Parts of a split; the one that a run is judged by is the first.
pub const PARTS: [&str; 3] = ["test", "validation", "train"];

/// Every metric of a run under its full name: `loss`, `test_accuracy`, `test_f1`; finite ones only.
pub fn metrics(artifact: &Artifact, record: &Record) -> BTreeMap<String, f64> {
    record.named_metrics(asked_metric(artifact))
}

/// The metrics that a run is judged by, in the order of `PARTS`, each under its full name.
pub fn main_metrics(artifact: &Artifact, record: &Record) -> Vec<(String, f64)> {
    let metric = record.metric_name(asked_metric(artifact));
    let of_part = |part: &str| {
        Some((
            format!("{part}_{metric}"),
            record.metrics.get(part).copied().filter(|value| value.is_finite())?,
        ))
    };
    PARTS.into_iter().filter_map(of_part).collect()
}

/// The name of a metric in a sentence: `test accuracy`, `test MSE`.
pub fn metric_words(name: &str) -> String {
    let word = |word: &str| match word {
        "f1" | "auc" | "mse" | "mae" => word.to_uppercase(),
        _ => word.to_owned(),
    };
    name.split('_').map(word).collect::<Vec<_>>().join(" ")
}

fn asked_metric(artifact: &Artifact) -> Option<&str> {
    artifact.manifest.key_document.request["settings"]["metric"].as_str()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reads the record.
pub fn open_record(artifact: &Artifact) -> Result<Record, StageError> {
    read_json(&artifact.file(RECORD_FILE))
}

/// Checks schema and invariants.
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
        "iterate" if !has_file(manifest, VALUES_FILE) => {
            need_file(directory, manifest, VALUES_FILE)?
        }
        "iterate" => {}
        other => {
            return Err(StageError::damaged(
                &path,
                format!("expected mode `train`, `infer` or `iterate`, found `{other}`"),
            ));
        }
    }
    #[cfg(feature = "tables")]
    for name in [PREDICTIONS_FILE, VALUES_FILE] {
        if has_file(manifest, name) {
            let path = directory.join(name);
            let (rows, schema) = crate::parquet_file::describe(&path)?;
            let of = if manifest.counts.contains_key("graphs") { "graphs" } else { "nodes" };
            let searches = manifest.counts.get("searches").copied();
            let expected =
                super::need_count(directory, manifest, of)?.saturating_mul(searches.unwrap_or(1));
            super::expect_length(&path, of, expected, rows)?;
            for column in searches.map(|_| "source").into_iter().chain(["id"]) {
                if schema.field_with_name(column).is_err() {
                    let what = format!("expected a column `{column}`, found none");
                    return Err(StageError::damaged(&path, what));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(metrics: &[(&str, f64)], metric: Option<&str>) -> Record {
        let text = serde_json::json!({
            "mode": "train", "program": "gcn", "device": {}, "threads": 1, "seed": 0, "dtype": "f32", "epochs": 1, "supersteps": 0, "converged": true,
            "seconds": 0.0, "seconds_step": 0.0, "seconds_by_launch": {}, "bytes_predicted": 0, "bytes_peak": 0, "epoch_kept": 1, "resumed_at": 0,
            "metrics": {},
        });
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Record {
            metrics,
            metric: metric.map(str::to_owned),
            ..serde_json::from_value(text).unwrap()
        }
    }

    #[test]
    fn records_of_older_versions_are_read() {
        let old = record(&[], None);
        assert_eq!((&old.host, &old.scheduler, &old.versions), (&None, &None, &None));
        assert_eq!((old.seconds_by_stage.len(), old.energy_joules), (0, None));
        let text = serde_json::to_string(&old).unwrap();
        for name in [
            "host",
            "scheduler",
            "versions",
            "seconds_by_stage",
            "energy_joules",
            "searches",
            "median_search",
        ] {
            assert!(!text.contains(&format!("\"{name}\"")), "{name}: {text}");
        }
        let job = SchedulerJob {
            name: "slurm".to_owned(),
            job: "17".to_owned(),
            restarts: Some(2),
            ..SchedulerJob::default()
        };
        let new = Record { scheduler: Some(job), energy_joules: Some(0.5), ..old };
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), new);
    }

    #[test]
    fn metrics_have_whole_names_in_old_records_too() {
        let names =
            |record: &Record, asked| record.named_metrics(asked).into_keys().collect::<Vec<_>>();
        let classes = [("loss", 0.5), ("test", 0.8), ("test_f1", 0.7), ("train", f64::NAN)];
        assert_eq!(
            names(&record(&classes, Some("accuracy")), Some("auto")),
            ["loss", "test_accuracy", "test_f1"]
        );
        assert_eq!(
            names(&record(&classes, None), Some("auto")),
            ["loss", "test_accuracy", "test_f1"]
        );
        assert_eq!(
            names(&record(&[("test", 0.5), ("test_f1", 0.7)], None), Some("auc")),
            ["test_auc", "test_f1"]
        );
        assert_eq!(
            names(&record(&[("test", 4.0), ("test_mae", 2.0)], None), Some("auto")),
            ["test_mae", "test_mse"]
        );
        assert_eq!(
            ["test_accuracy", "validation_mse", "loss"].map(metric_words),
            ["test accuracy", "validation MSE", "loss"]
        );
    }
}
