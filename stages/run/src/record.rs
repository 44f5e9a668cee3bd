//! record: writes record.json: measurements of the run; not part of any digest.
//!
//! promises  every number was measured in this process, except the prediction and the settings
use std::{collections::BTreeMap, time::Duration};

use warploom_contract::{
    Context, Kind, Outputs, StageError,
    kinds::{
        plan::{Memory, Plan},
        run::{RECORD_FILE, Record},
        write_json,
    },
    process_memory::MemoryPeak,
};
use warploom_shell::{memory_budget, requests::RunRequest};

use crate::{
    backend::Backend, environment, iteration::IterationOutcome, precision::Precision, searches,
    searches::Search, training::TrainingOutcome, training::history,
};

/// What was executed.
pub enum Outcome {
    /// A training.
    Trained(TrainingOutcome),
    /// An iteration.
    Iterated(IterationOutcome),
    /// An iteration from each of several vertices.
    Searched(Vec<Search>),
}

/// What the plan says about a run.
pub struct PlanSummary<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its predicted memory.
    pub memory: &'a Memory,
    /// The name of the program.
    pub program: &'a str,
}

/// Measurements of this process.
pub struct Measurements {
    /// Time from the start to the last result.
    pub whole: Duration,
    /// Time of training or iteration.
    pub compute: Duration,
    /// Peak memory.
    pub taken: MemoryPeak,
    /// Energy of the device in the whole time, where it tells it.
    pub joules: Option<f64>,
}

/// Writes record.json.
pub fn write_record<T: Precision>(
    context: &Context,
    outputs: &mut Outputs,
    backend: &dyn Backend<T>,
    PlanSummary { plan, memory, program }: PlanSummary,
    request: &RunRequest,
    done: &Outcome,
    Measurements { whole, compute, taken, joules }: Measurements,
) -> Result<(), StageError> {
    let device = backend.device_memory();
    let mut record = Record {
        mode: plan.mode.clone(),
        program: program.to_owned(),
        threads: context.threads as u64,
        seed: request.spec.seed,
        dtype: plan.dtype.clone(),
        converged: true,
        seconds: whole.as_secs_f64(),
        seconds_compute: compute.as_secs_f64(),
        seconds_by_launch: backend.seconds_by_launch(),
        bytes_predicted: memory_budget::predicted_peak(memory, &request.spec, context.threads),
        bytes_mapped_predicted: memory.bytes_mapped,
        bytes_peak: device.allocated.unwrap_or(taken.own),
        bytes_mapped: taken.mapped,
        bytes_left: taken.left,
        bytes_pinned: device.pinned,
        bytes_driver: device.driver,
        ..environment::begin_record(request, whole, joules)
    };
    add_outcome(&mut record, backend, done);
    outputs.count(Kind::Run, "epochs", record.epochs);
    outputs.count(Kind::Run, "supersteps", record.supersteps);
    outputs.fact(Kind::Run, "converged", record.converged);
    for (name, value) in &record.metrics {
        outputs.fact(Kind::Run, name, *value);
    }
    write_json(&outputs.file(Kind::Run, RECORD_FILE), &record)
}

/// Adds how a run ended.
fn add_outcome<T: Precision>(record: &mut Record, backend: &dyn Backend<T>, done: &Outcome) {
    match done {
        Outcome::Trained(trained) => {
            record.epochs = trained.history.last().map_or(0, |row| row.epoch);
            record.epoch_kept = trained.epoch_kept;
            record.seconds_step = trained.seconds_step;
            record.resumed_at = trained.resumed_at;
            record.metrics = kept_metrics(trained);
            record.metric = trained.measures.first().map(|measure| measure.name().to_owned());
            if let Some(learned) = &backend.host().data.learned {
                record.target = Some(learned.name.clone());
                record.classes.clone_from(&learned.classes);
            }
        }
        Outcome::Iterated(iterated) => {
            record.supersteps = iterated.supersteps;
            record.supersteps_of_loops = iterated.supersteps_of_loops.clone();
            record.converged = iterated.converged;
            record.courses.clone_from(&iterated.courses);
            record.seconds_step = iterated.seconds_step;
            record.resumed_at = iterated.resumed_at;
        }
        Outcome::Searched(searches) => {
            let outcomes = || searches.iter().map(|search| &search.outcome);
            record.supersteps = outcomes().map(|outcome| outcome.supersteps).sum();
            record.converged = outcomes().all(|outcome| outcome.converged);
            record.seconds_step =
                history::median(outcomes().map(|outcome| outcome.seconds_step).collect());
            (record.searches, record.median_search) = searches::search_records(searches);
        }
    }
}

/// The metrics of the kept parameters; those of splits without nodes are left out.
fn kept_metrics(trained: &TrainingOutcome) -> BTreeMap<String, f64> {
    let Some(row) = trained.history.iter().find(|row| row.epoch == trained.epoch_kept) else {
        return BTreeMap::new();
    };
    let beside = trained
        .kept
        .iter()
        .flat_map(|(measure, parts)| history::metrics_by_split(Some(*measure), parts));
    let qualities = history::named_metrics(&trained.measures, row)
        .chain(beside)
        .filter_map(|(name, quality)| Some((name, quality?)));
    qualities.chain([("loss".to_owned(), row.loss)]).collect()
}
