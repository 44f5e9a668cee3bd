//! outcome: the outcome of a stage: its JSON line, and its row of the summary table.
use std::fmt::Write;

use serde_json::{Value, json};
use warploom_contract::{
    Artifact, Kind, Provenance, StageError,
    kinds::{plan, run},
};
use warploom_spec::RunSpec;

use crate::{
    StageName,
    data_needs::DataNeeds,
    machine_limits::show_size,
    memory_budget::{format_peak, predicted_peak},
};

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Built by this start.
    Built,
    /// Found in the store.
    Hit,
    /// Ended by a signal, after saving what can be saved.
    Stopped,
    /// Ended by an error.
    Failed,
}

impl Status {
    /// The name in JSON lines.
    pub fn name(self) -> &'static str {
        match self {
            Status::Built => "built",
            Status::Hit => "hit",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
        }
    }

    /// The status of a stage that ended with this error.
    pub fn from_error(error: &StageError) -> Status {
        if error.kind.is_stop() { Status::Stopped } else { Status::Failed }
    }

    /// Whether there is an output.
    pub fn is_done(self) -> bool {
        matches!(self, Status::Built | Status::Hit)
    }
}

/// The outcome of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which stage.
    pub stage: StageName,
    /// How it ended.
    pub status: Status,
    /// Its key, once known.
    pub key: Option<String>,
    /// Its artifacts in the store.
    pub artifacts: Vec<Artifact>,
    /// Wall time.
    pub seconds: f64,
    /// Why it was built or not.
    pub why: String,
    /// What went wrong.
    pub error: Option<StageError>,
}

impl Outcome {
    /// Whether its data are real or a stand-in.
    pub fn provenance(&self) -> Provenance {
        let stand_in = self
            .artifacts
            .iter()
            .any(|artifact| artifact.manifest.provenance == Provenance::StandIn);
        if stand_in { Provenance::StandIn } else { Provenance::Real }
    }

    /// The parts that were generated although the graph is real.
    pub fn made_up(&self) -> Vec<String> {
        self.artifacts.first().map(|artifact| artifact.manifest.made_up.clone()).unwrap_or_default()
    }

    /// Size of its artifacts.
    pub fn bytes(&self) -> u64 {
        self.artifacts.iter().map(|artifact| artifact.manifest.bytes()).sum()
    }

    /// The JSON line.
    pub fn to_json(&self) -> Value {
        let artifacts: Vec<Value> = self
            .artifacts
            .iter()
            .map(|artifact| json!({"kind": artifact.kind.name(), "path": artifact.path.to_string_lossy(), "bytes": artifact.manifest.bytes()}))
            .collect();
        let mut line = json!({
            "stage": self.stage.name(), "status": self.status.name(), "key": self.key, "artifacts": artifacts, "seconds": self.seconds,
            "why": self.why, "provenance": self.provenance().name(), "made_up": self.made_up(),
        });
        if let Some(error) = &self.error {
            line["error"] = error_json(error);
        }
        line
    }
}

/// An error as an object of JSON lines.
pub fn error_json(error: &StageError) -> Value {
    json!({"kind": error.kind.name(), "what": error.what, "place": error.place, "hint": error.hint})
}

/// The summary table: one row for each stage. Generated data that the program does not read are not
/// mentioned. The predicted memory is that of a run with these settings and so many threads.
pub fn summary_table(
    title: &str,
    outcomes: &[Outcome],
    needs: DataNeeds,
    spec: &RunSpec,
    threads: usize,
) -> String {
    let mut text = String::new();
    let stand_in = outcomes.iter().any(|outcome| outcome.provenance() == Provenance::StandIn);
    let made_up = outcomes
        .iter()
        .map(|outcome| needs.filter_made_up(&outcome.made_up()))
        .find(|made_up| !made_up.is_empty())
        .unwrap_or_default();
    let mark = match (stand_in, made_up.is_empty()) {
        (true, _) => "   [STAND-IN: a generated graph, not the real data]".to_owned(),
        (false, false) => format!("   [made up: {}]", made_up.join(", ")),
        (false, true) => String::new(),
    };
    let _infallible = writeln!(text, "{title}{mark}");
    let _infallible = writeln!(
        text,
        "{:<10} {:<7} {:>9} {:>9}  {:<12} why",
        "stage", "status", "seconds", "size", "key"
    );
    for outcome in outcomes {
        let key = outcome.key.as_deref().map_or("-", |key| &key[..10.min(key.len())]);
        let size =
            if outcome.artifacts.is_empty() { "-".to_owned() } else { show_size(outcome.bytes()) };
        let _infallible = writeln!(
            text,
            "{:<10} {:<7} {:>9} {:>9}  {:<12} {}",
            outcome.stage,
            outcome.status.name(),
            show_seconds(outcome.seconds),
            size,
            key,
            outcome.why
        );
    }
    text += &peak_memory_line(outcomes, spec, threads).map(|line| line + "\n").unwrap_or_default();
    text
}

/// Memory left by earlier stages is mentioned if it exceeds the peak divided by this.
const TOLD_FROM: u64 = 20;

/// The line of the peak memory: as the plan predicted it and, after a run, as it was reached.
fn peak_memory_line(outcomes: &[Outcome], spec: &RunSpec, threads: usize) -> Option<String> {
    let of_kind = |kind: Kind| {
        outcomes
            .iter()
            .flat_map(|outcome| &outcome.artifacts)
            .find(|artifact| artifact.kind == kind)
    };
    if let Some(record) = of_kind(Kind::Run).and_then(|run| run::open_record(run).ok()) {
        let predicted = format_peak(record.bytes_predicted, record.bytes_mapped_predicted);
        let reached = format_peak(
            record.bytes_peak,
            if record.bytes_mapped_predicted > 0 { record.bytes_mapped } else { 0 },
        );
        // The allocator keeps memory of earlier stages; a run in its own process does not have it.
        let left = Some(record.bytes_left)
            .filter(|left| left.saturating_mul(TOLD_FROM) > record.bytes_peak);
        let left = left
            .map(|left| format!(", up to {} of it left by earlier stages", show_size(left)))
            .unwrap_or_default();
        return Some(format!("peak memory: predicted {predicted}, reached {reached}{left}"));
    }
    let memory = of_kind(Kind::Plan).and_then(|plan| plan::open_advice(plan).ok())?.memory;
    Some(format!(
        "peak memory: predicted {}",
        format_peak(predicted_peak(&memory, spec, threads), memory.bytes_mapped)
    ))
}

fn show_seconds(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{seconds:.4}") } else { format!("{seconds:.2}") }
}
