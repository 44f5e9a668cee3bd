//! What became of a stage: the JSON line of the interface and a row of the summary table.
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
    memory_budget::{peak_of_run, peak_words},
};

/// Built, found, stopped or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Made now.
    Built,
    /// Was there.
    Hit,
    /// Ended by a signal, after saving what can be saved.
    Stopped,
    /// Neither.
    Failed,
}

impl Status {
    /// As in JSON lines.
    pub fn name(self) -> &'static str {
        match self {
            Status::Built => "built",
            Status::Hit => "hit",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
        }
    }

    /// Of a stage that ended with this error.
    pub fn of_error(error: &StageError) -> Status {
        if error.kind.is_stop() { Status::Stopped } else { Status::Failed }
    }

    /// Whether there is an output.
    pub fn is_done(self) -> bool {
        matches!(self, Status::Built | Status::Hit)
    }
}

/// What became of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which stage.
    pub stage: StageName,
    /// What became of it.
    pub status: Status,
    /// Its key, once known.
    pub key: Option<String>,
    /// What is in the store now.
    pub artifacts: Vec<Artifact>,
    /// Wall time.
    pub seconds: f64,
    /// Why it was built or not.
    pub why: String,
    /// What went wrong.
    pub error: Option<StageError>,
}

impl Outcome {
    /// Where its data come from.
    pub fn provenance(&self) -> Provenance {
        let stand_in = self
            .artifacts
            .iter()
            .any(|artifact| artifact.manifest.provenance == Provenance::StandIn);
        if stand_in { Provenance::StandIn } else { Provenance::Real }
    }

    /// What was drawn although the graph is real.
    pub fn made_up(&self) -> Vec<String> {
        self.artifacts.first().map(|artifact| artifact.manifest.made_up.clone()).unwrap_or_default()
    }

    /// Bytes of its artifacts.
    pub fn bytes(&self) -> u64 {
        self.artifacts.iter().map(|artifact| artifact.manifest.bytes()).sum()
    }

    /// The line of the interface.
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

/// An error as JSON lines have it.
pub fn error_json(error: &StageError) -> Value {
    json!({"kind": error.kind.name(), "what": error.what, "place": error.place, "hint": error.hint})
}

/// The summary: one row a stage; made-up data that the program does not read are not told. What
/// memory is predicted is that of a run with these settings and so many threads.
pub fn table(
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
        .map(|outcome| needs.of_made_up(&outcome.made_up()))
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
    text += &peak_memory(outcomes, spec, threads).map(|line| line + "\n").unwrap_or_default();
    text
}

/// The part of the peak, as one of so many, from which on what earlier stages left is told.
const TOLD_FROM: u64 = 20;

/// The peak of memory: what the plan predicted, and what the run reached, if there is one.
fn peak_memory(outcomes: &[Outcome], spec: &RunSpec, threads: usize) -> Option<String> {
    let of_kind = |kind: Kind| {
        outcomes
            .iter()
            .flat_map(|outcome| &outcome.artifacts)
            .find(|artifact| artifact.kind == kind)
    };
    if let Some(record) = of_kind(Kind::Run).and_then(|run| run::open_record(run).ok()) {
        let predicted = peak_words(record.bytes_predicted, record.bytes_mapped_predicted);
        let reached = peak_words(
            record.bytes_peak,
            if record.bytes_mapped_predicted > 0 { record.bytes_mapped } else { 0 },
        );
        // The allocator keeps what earlier stages had; a run started by itself does without.
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
        peak_words(peak_of_run(&memory, spec, threads), memory.bytes_mapped)
    ))
}

fn show_seconds(seconds: f64) -> String {
    if seconds < 0.0995 { format!("{seconds:.4}") } else { format!("{seconds:.2}") }
}
