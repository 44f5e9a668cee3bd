//! plan: what to do, in order, on one graph and one kind of device.
//!
//! files     `plan.json`: all that a run does: the launch list (buffers, launches) and what was
//!           decided beside it; `advice.json`: what it should take and why it was decided so
//!           (predictions, reasons, smaller settings)
//! promises  plan.json follows from the plan's key alone; advice.json is a record: no digest and so
//!           no run's key holds a prediction or a reason; the manifest names the inputs by kind and
//!           key, and nothing of them is copied
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Depth, need_file, read_json, write_json};
pub use crate::kind::ADVICE_FILE;
use crate::{Kind, Manifest, Outputs, StageError};

/// What a run does.
pub const PLAN_FILE: &str = "plan.json";

/// What plan.json says. The launch list is kept as JSON here: its meaning belongs to the vertex
/// crate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// `train`, `infer` or `iterate`.
    pub mode: String,
    /// Kind of loss that the scores of `infer` were learned with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicts: Option<Value>,
    /// Type of reals in values and parameters.
    pub dtype: String,
    /// What of reals of 32 bits products multiply on a GPU, if not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matmul: Option<String>,
    /// Whether its kernels for a GPU take it that neighbouring rows read near rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_local: bool,
    /// How a GPU shares out edges, if not by rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Device that it was made for: name and static facts.
    pub device: Value,
    /// Settings of the program, defaults filled in.
    pub settings: Value,
    /// How the edges of each launch are cut into groups of neighbours, in the order of the list,
    /// where `schedule` is by groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Option<Cut>>,
    /// Rows of the tuning table that were replaced, values by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tuning: BTreeMap<String, String>,
    /// Buffers and launches.
    pub launches: Value,
    /// What stays in the host's memory, if the plan is for a GPU and something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<OnHost>,
}

/// How the edges of a launch are cut into groups of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Neighbours of a group at most.
    pub neighbours: u32,
    /// Lanes that share a group.
    pub lanes: u32,
    /// Threads of a block.
    pub threads: u32,
}

/// What advice.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// Predicted memory, and settings that need less.
    pub memory: Memory,
    /// Predicted time on the device that the plan is for.
    pub predicted: Predicted,
    /// What is read of the host's memory, where something stays there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_bus: Option<OverBus>,
    /// Each choice, why, and what else was possible; kept as JSON as the launches are.
    pub reasons: Value,
}

/// How long the launches should take, by rates that were measured once and stand in the device's
/// facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// An epoch, or a superstep of every loop.
    pub nanoseconds_step: u64,
    /// In the order of the list.
    pub launches: Vec<PredictedLaunch>,
}

/// How long a launch should take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictedLaunch {
    /// Its name.
    pub name: String,
    /// With the cost of starting it.
    pub nanoseconds: u64,
    /// What most of it is spent on.
    pub limit: String,
    /// How its edges are cut and what else was weighed, where the plan goes by groups of
    /// neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping: Option<Grouping>,
}

/// A cut into groups of neighbours, and what it follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grouping {
    /// Neighbours of a group at most.
    pub neighbours: u32,
    /// Lanes that share a group.
    pub lanes: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block, where groups of one row meet there.
    pub shared_bytes: u64,
    /// What the choice follows.
    pub why: String,
    /// Predicted nanoseconds of what was weighed: the choice, and GNNAdvisor's rule (section 3.4).
    pub alternatives: BTreeMap<String, u64>,
}

/// Predicted memory of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Most bytes at any time: on a CPU of the process's own with one thread, on a GPU of its
    /// memory.
    pub bytes_peak: u64,
    /// On a CPU, most pages of mapped files at any time, beside `bytes_peak`: the system drops them
    /// when others want memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_mapped: u64,
    /// On a CPU, `bytes_peak` of a run whose loops may not take a shorter algorithm
    /// (`run.max_supersteps`, `run.allow_unconverged`), if another.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_peak_by_supersteps: u64,
    /// On a CPU, what each further thread takes beside `bytes_peak`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_per_thread: u64,
    /// The bytes of `bytes_peak` by what they are for when most are wanted.
    pub bytes_by_use: BTreeMap<String, u64>,
    /// Settings that need less, the one that needs most first.
    pub smaller: Vec<Smaller>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl Memory {
    /// Most bytes at any time with so many threads, and whether loops go in supersteps.
    pub fn bytes_with(&self, threads: usize, by_supersteps: bool) -> u64 {
        let peak = if by_supersteps {
            self.bytes_peak.max(self.bytes_peak_by_supersteps)
        } else {
            self.bytes_peak
        };
        peak.saturating_add(self.bytes_per_thread.saturating_mul(threads.saturating_sub(1) as u64))
    }
}

/// Given rows that stay in pinned memory of the host, where kernels read them over the bus: no part
/// of `Memory`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnHost {
    /// Their buffers, by name.
    pub buffers: Vec<String>,
    /// All bytes of these.
    pub bytes: u64,
}

/// What reading rows of the host's memory takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverBus {
    /// Bytes that are read over the bus before the first epoch, at least.
    pub bytes_once: u64,
    /// Bytes that are read over the bus in each epoch, or pass, at least.
    pub bytes_step: u64,
    /// How fast the bus is taken to be.
    pub bytes_per_second: u64,
    /// What reading them in each epoch, or pass, takes at that rate.
    pub nanoseconds_step: u64,
}

/// A setting with which a run needs less memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smaller {
    /// As on the command line: `plan.set.hidden=8`.
    pub set: String,
    /// What the run would need.
    pub bytes_peak: u64,
}

/// The count of bytes of mapped files that a run is predicted to read.
pub const BYTES_MAPPED: &str = "bytes_mapped";

/// Writes the plan and the record beside it.
pub fn write(outputs: &mut Outputs, plan: &Plan, advice: &Advice) -> Result<(), StageError> {
    write_json(&outputs.file(Kind::Plan, PLAN_FILE), plan)?;
    write_json(&outputs.file(Kind::Plan, ADVICE_FILE), advice)?;
    outputs.count(Kind::Plan, "bytes_peak", advice.memory.bytes_peak);
    outputs.count(Kind::Plan, BYTES_MAPPED, advice.memory.bytes_mapped);
    outputs.fact(Kind::Plan, "mode", plan.mode.clone());
    Ok(())
}

/// Reads the plan.
pub fn open(artifact: &crate::Artifact) -> Result<Plan, StageError> {
    read_json(&artifact.file(PLAN_FILE))
}

/// Reads the record beside the plan.
pub fn open_advice(artifact: &crate::Artifact) -> Result<Advice, StageError> {
    read_json(&artifact.file(ADVICE_FILE))
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PLAN_FILE)?;
    need_file(directory, manifest, ADVICE_FILE)?;
    read_json::<Plan>(&directory.join(PLAN_FILE))?;
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
