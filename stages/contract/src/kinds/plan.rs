//! plan: the launches of a run, in order, for one graph and one kind of device.
//!
//! files     `plan.json`: all that a run does: the launch list (buffers, launches) and the other
//!           decisions; `advice.json`: predicted time and memory, reasons for the decisions, and
//!           settings that need less memory; for a GPU also the tables and the source of
//!           `kernel_tables`, which `run` maps and launches
//! promises  plan.json depends on the plan's key alone; advice.json is a record, so no digest and
//!           no run's key holds a prediction or a reason; the manifest names the inputs by kind and
//!           key, and nothing of them is copied; its fact `run_reads` has the files of csr and
//!           partition that a run reads, for the run's key
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod kernel_tables;

pub use kernel_tables::{
    KERNEL_FILES, KernelRow, KernelTables, LaunchRow, Part, TierRow, open_kernels,
};

use super::{Depth, need_file, read_json, write_json};
pub use crate::kind::ADVICE_FILE;
use crate::{Kind, Manifest, Outputs, StageError};

/// The launch list and all decisions.
pub const PLAN_FILE: &str = "plan.json";

/// The contents of plan.json. The launch list is kept as JSON: the vertex crate defines it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `train`, `infer` or `iterate`.
    pub mode: String,
    /// Kind of loss that the parameters of `infer` were trained with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicts: Option<Value>,
    /// Type of floats in values and parameters.
    pub dtype: String,
    /// Precision of f32 products on a GPU, if it is reduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matmul: Option<String>,
    /// Device that it was made for: name and static facts.
    pub device: Value,
    /// Settings of the program, defaults filled in.
    pub settings: Value,
    /// The groups of `partition` that launches walk by, where there are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<GroupDivision>,
    /// Replaced rows of the tuning table: values by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<String, String>,
    /// Buffers and launches.
    pub launches: Value,
    /// Buffers that stay in pinned host memory, if the plan is for a GPU and has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<OnHost>,
    /// What all kernels share, if the plan is for a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<KernelFacts>,
}

/// What the kernels of a plan share; each of them is a row of `kernels.arrow`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelFacts {
    /// SMs that the grids are for.
    pub processors: u32,
    /// Bytes of scratch that the kernels of one launch share, at most.
    pub scratch_bytes: u64,
    /// The same, for launches off the critical path.
    pub scratch_off_path_bytes: u64,
    /// Buffers that no kernel stores.
    pub unstored: Vec<String>,
}

/// Divisions of `partition` by groups of neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupDivision {
    /// The scheme whose groups each launch walks by, in the order of the list; none: by rows.
    pub launches: Vec<Option<String>>,
}

/// Files of a csr and of its partition, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFiles {
    /// Of the csr.
    pub csr: Vec<String>,
    /// Of the partition.
    pub partition: Vec<String>,
}

/// The files that a run of a plan reads of csr and partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReads {
    /// Where loops go in supersteps, or there is no loop.
    pub by_supersteps: GraphFiles,
    /// Where loops may take their shortcut algorithms, if those read other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_shortcuts: Option<GraphFiles>,
}

impl RunReads {
    /// The files of a run whose loops may take shortcut algorithms, or not.
    pub fn files(&self, shortcuts: bool) -> &GraphFiles {
        self.with_shortcuts.as_ref().filter(|_| shortcuts).unwrap_or(&self.by_supersteps)
    }

    /// What the manifest of a plan says, which is in `directory`.
    pub fn from_manifest(directory: &Path, manifest: &Manifest) -> Result<Self, StageError> {
        let fact = manifest.facts.get(RUN_READS);
        fact.and_then(|fact| RunReads::deserialize(fact).ok()).ok_or_else(|| {
            StageError::damaged(directory, format!("expected a fact `{RUN_READS}`, found none"))
        })
    }
}

/// The contents of advice.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// Predicted memory, and settings that need less.
    pub memory: Memory,
    /// Predicted time on the device that the plan is for.
    pub predicted: Predicted,
    /// Bytes that are read from host memory, where buffers stay there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_bus: Option<OverBus>,
    /// Each choice with its reason and its alternatives, as JSON.
    pub reasons: Value,
}

/// Predicted time of the launches, by the measured rates in the device's facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// An epoch, or a superstep of every loop.
    pub nanoseconds_step: u64,
    /// Launches in the order of the list.
    pub launches: Vec<PredictedLaunch>,
}

/// Predicted time of a launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictedLaunch {
    /// Its name.
    pub name: String,
    /// Its time, with the launch overhead.
    pub nanoseconds: u64,
    /// What bounds it.
    pub limit: String,
    /// The cut into neighbour groups that is predicted to be the fastest, where a GPU has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping: Option<Grouping>,
}

/// A cut into neighbour groups: settings of `partition` that may be faster, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grouping {
    /// Neighbours of a group at most.
    pub neighbours: u32,
    /// Lanes that share a group.
    pub lanes: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block, where groups of one row are added there.
    pub shared_bytes: u64,
    /// Why it was chosen.
    pub why: String,
    /// Predicted nanoseconds of the candidates: the choice, and GNNAdvisor's rule (section 3.4).
    pub alternatives: BTreeMap<String, u64>,
}

/// Predicted memory of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Peak bytes: on a CPU of the process's own memory with one thread, on a GPU of its memory.
    pub bytes_peak: u64,
    /// On a CPU, peak bytes of mapped files, in addition to `bytes_peak`: the system drops them
    /// when it needs memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_mapped: u64,
    /// On a CPU, `bytes_peak` of a run whose loops may not take a shorter algorithm
    /// (`run.max_supersteps`, `run.allow_unconverged`), if it differs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_peak_by_supersteps: u64,
    /// On a CPU, bytes that each further thread adds to `bytes_peak`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_per_thread: u64,
    /// The bytes of `bytes_peak` by purpose, at the peak.
    pub bytes_by_use: BTreeMap<String, u64>,
    /// Settings that need less, the one that needs most first.
    pub smaller: Vec<Smaller>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl Memory {
    /// Peak bytes with this number of threads, where loops go in supersteps or not.
    pub fn bytes_with(&self, threads: usize, by_supersteps: bool) -> u64 {
        let peak = if by_supersteps {
            self.bytes_peak.max(self.bytes_peak_by_supersteps)
        } else {
            self.bytes_peak
        };
        peak.saturating_add(self.bytes_per_thread.saturating_mul(threads.saturating_sub(1) as u64))
    }
}

/// Input rows that stay in pinned host memory, where kernels read them over the bus. `Memory` does
/// not count them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnHost {
    /// Names of their buffers.
    pub buffers: Vec<String>,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Predicted cost of reading rows from host memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverBus {
    /// Least bytes that are read over the bus before the first epoch.
    pub bytes_once: u64,
    /// Least bytes that are read over the bus in each epoch, or pass.
    pub bytes_step: u64,
    /// Assumed bandwidth of the bus.
    pub bytes_per_second: u64,
    /// Time for the bytes of each epoch, or pass, at that bandwidth.
    pub nanoseconds_step: u64,
}

/// A setting with which a run needs less memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smaller {
    /// The setting as on the command line: `plan.set.hidden=8`.
    pub set: String,
    /// Bytes that the run would need.
    pub bytes_peak: u64,
}

/// The fact that holds `RunReads`.
pub const RUN_READS: &str = "run_reads";

/// The count of bytes of mapped files that a run is predicted to read.
pub const BYTES_MAPPED: &str = "bytes_mapped";

/// Writes the plan, what it launches on a GPU, and its record.
pub fn write(
    outputs: &mut Outputs,
    plan: &Plan,
    kernels: Option<&KernelTables>,
    reads: &RunReads,
    advice: &Advice,
) -> Result<(), StageError> {
    write_json(&outputs.file(Kind::Plan, PLAN_FILE), plan)?;
    if let Some(kernels) = kernels {
        kernels.write(|file| outputs.file(Kind::Plan, file))?;
    }
    write_json(&outputs.file(Kind::Plan, ADVICE_FILE), advice)?;
    outputs.count(Kind::Plan, "bytes_peak", advice.memory.bytes_peak);
    outputs.count(Kind::Plan, BYTES_MAPPED, advice.memory.bytes_mapped);
    outputs.fact(Kind::Plan, "mode", plan.mode.clone());
    let reads = serde_json::to_value(reads);
    outputs.fact(
        Kind::Plan,
        RUN_READS,
        reads.map_err(|error| StageError::defect(error.to_string()))?,
    );
    Ok(())
}

/// Reads the plan.
pub fn open(artifact: &crate::Artifact) -> Result<Plan, StageError> {
    read_json(&artifact.file(PLAN_FILE))
}

/// Reads the record of the plan.
pub fn open_advice(artifact: &crate::Artifact) -> Result<Advice, StageError> {
    read_json(&artifact.file(ADVICE_FILE))
}

/// Checks schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PLAN_FILE)?;
    need_file(directory, manifest, ADVICE_FILE)?;
    RunReads::from_manifest(directory, manifest)?;
    let plan = read_json::<Plan>(&directory.join(PLAN_FILE))?;
    if plan.kernels.is_some() {
        KERNEL_FILES.iter().try_for_each(|file| need_file(directory, manifest, file))?;
        if depth == Depth::Publish {
            kernel_tables::open_tables(&|file| directory.join(file))?;
        }
    }
    for kind in [Kind::Graph, Kind::Csr, Kind::Permutation, Kind::Partition] {
        if !manifest.inputs.iter().any(|input| input.kind == kind.name()) {
            return Err(StageError::damaged(
                directory,
                format!("the manifest of a `plan` must name an input of kind `{}`", kind.name()),
            ));
        }
    }
    if depth == Depth::Publish {
        read_json::<Advice>(&directory.join(ADVICE_FILE)).map(drop)
    } else {
        Ok(())
    }
}
