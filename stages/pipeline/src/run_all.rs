//! run_all: `warploom pipeline` and `warploom check`: runs or checks all stages in order.
//!
//! promises  all variants are checked as far as possible before the first stage of the first;
//!           stages after a failed one do not run; each stage's JSON line is written as soon as it
//!           is known; after all stages come the means of `run.repeat`, and last, in JSON, a
//!           `summary` of each run
use std::collections::BTreeSet;

use serde_json::Value;
use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, Provenance, Stage, StageError,
    kinds::run::{self, Record},
    progress::Progress,
};
use warploom_extract::Extract;
use warploom_ingest::Ingest;
use warploom_partition::PartitionStage;
use warploom_plan::PlanStage;
use warploom_reorder::Reorder;
use warploom_run::RunStage;
use warploom_shell::{
    Chain, Environment, Outcome, StageName,
    binary::{print_data, print_text},
    data_needs::DataNeeds,
    execute::{SAME_BYTES, avoid_damaged, check_output, execute},
    flags::Format,
    machine_limits::{count_with_unit, show_time},
    outcome::{Status, error_json, summary_table},
    preflight,
    progress::Talk,
    requests::{PlanRequest, Request},
    signals,
    stage_range::StageRange,
};
use warploom_spec::Pipeline;

use crate::{
    repeat_summary,
    runs::{self, Run},
    stand_in,
};

/// The actions on a stage.
struct Work {
    run: fn(&mut Chain<'_>, &Talk) -> Outcome,
    prove: fn(&mut Chain<'_>, &Talk) -> Result<(), StageError>,
}

impl Work {
    fn from_stage(stage: StageName) -> Self {
        match stage {
            StageName::Ingest => Work::from_type::<Ingest>(),
            StageName::Extract => Work::from_type::<Extract>(),
            StageName::Reorder => Work::from_type::<Reorder>(),
            StageName::Partition => Work::from_type::<PartitionStage>(),
            StageName::Plan => Work::from_type::<PlanStage>(),
            StageName::Run => Work::from_type::<RunStage>(),
        }
    }

    fn from_type<S>() -> Self
    where
        S: Stage,
        S::Request: Request,
    {
        debug_assert_eq!(S::CONTRACT, S::Request::STAGE.contract());
        Work { run: execute::<S>, prove: prove_stage::<S> }
    }
}

/// Most class names that are printed.
const CLASSES_SHOWN: usize = 12;

/// Runs a range of stages of every variant of a pipeline file; the first failure ends it.
pub fn run_all(
    environment: &Environment,
    talk: &Talk,
    pipelines: &[Pipeline],
    range: &StageRange,
) -> Result<(), StageError> {
    let running = if range.includes(StageName::Run) { pipelines } else { &[] };
    let checked = preflight::check_pipelines(environment, pipelines, range.stages())
        .and_then(|()| preflight::check_gpus(environment, running));
    if let Err(found) = checked {
        crate::print_as(environment, String::new, || vec![found.outcome().to_json()]);
        return Err(found.error);
    }
    preflight::report_unread_schemes(talk, pipelines);
    let (mut groups, mut done, mut ended) = (Vec::new(), Vec::new(), None);
    for pipeline in pipelines {
        // A signal after a run was saved.
        if signals::STOP.is_set() {
            ended = Some(signals::stop_error(
                "between two runs; those that were done are kept. The same command goes on with \
                 the next",
            ));
            break;
        }
        let outcomes = run_stages(environment, talk, pipeline, range);
        let open = |artifact: &Artifact| {
            Run::open(artifact.clone(), Some(&pipeline.dataset))
                .map_err(|error| artifact.blame(error))
        };
        let run = run_artifact(&outcomes).map(open);
        // If nothing ran, the error suffices.
        let is_empty = outcomes.iter().all(|outcome| outcome.status == Status::Failed);
        if environment.format == Format::Human && !is_empty {
            print_text(&summary(environment, pipeline, &outcomes));
        }
        match run {
            Some(Ok(run)) => {
                environment.store.note_last_run(&pipeline.file, &run.artifact.manifest.key);
                repeat_summary::add_run(&mut groups, pipeline, &run.artifact)?;
                done.push(runs::summary(pipeline, &run));
            }
            // The run exists, but its record cannot be read.
            Some(Err(error)) => ended = Some(error),
            None => {}
        }
        done.extend(stopped_summary(environment, pipeline, &outcomes));
        ended = outcomes.into_iter().find_map(|outcome| outcome.error).or(ended);
        if ended.is_some() {
            break;
        }
    }
    if ended.is_none() {
        for group in repeat_summary::add_joined_splits(groups) {
            crate::print_as(environment, || group.to_text(), || vec![group.to_json()]);
        }
    }
    crate::print_as(environment, String::new, || done);
    ended.map_or(Ok(()), Err)
}

/// Runs the stages until one fails. If an artifact was removed meanwhile, they run once more, which
/// rebuilds it; if one of a store that is only read is damaged, they run again without it.
fn run_stages(
    environment: &Environment,
    talk: &Talk,
    pipeline: &Pipeline,
    range: &StageRange,
) -> Vec<Outcome> {
    let (mut told, mut may_be_lost) = (BTreeSet::new(), true);
    loop {
        match try_stages(environment, talk, pipeline, range, &mut told, may_be_lost) {
            Tried::Ended(outcomes) => return outcomes,
            Tried::Lost => {
                may_be_lost = false;
                talk.warn(
                    "another process removed what this start had found in the store; it looks \
                     again, and makes again what is missing",
                );
            }
            Tried::Damaged => {}
        }
    }
}

/// How stages that ran in order ended.
enum Tried {
    Ended(Vec<Outcome>),
    /// One failed because an artifact was removed.
    Lost,
    /// One failed because an artifact of a store that is only read is damaged; a new start does
    /// without it.
    Damaged,
}

/// Runs the stages in order. A removed artifact is an error unless it `may_be_lost`. A cache hit
/// that was printed already is not printed again.
fn try_stages(
    environment: &Environment,
    talk: &Talk,
    pipeline: &Pipeline,
    range: &StageRange,
    told: &mut BTreeSet<Option<String>>,
    may_be_lost: bool,
) -> Tried {
    let mut chain = Chain::new(environment, pipeline);
    let mut outcomes: Vec<Outcome> = Vec::new();
    if let Err(error) = range.prepare(&mut chain) {
        let found = preflight::Finding { stage: range.first(), error };
        crate::print_as(environment, String::new, || vec![found.outcome().to_json()]);
        return Tried::Ended(vec![found.outcome()]);
    }
    for &stage in range.stages() {
        let outcome = run_stage(&mut chain, talk, stage);
        debug_assert_eq!(outcome.stage, stage);
        if may_be_lost && outcome.status == Status::Failed && chain.has_lost_artifact() {
            return Tried::Lost;
        }
        if outcome.error.as_ref().is_some_and(|error| avoid_damaged(environment, talk, error)) {
            return Tried::Damaged;
        }
        let is_told = !told.insert(outcome.key.clone()) && outcome.status == Status::Hit;
        if environment.format == Format::Json && !is_told {
            print_data(&format!("{}\n", outcome.to_json()));
        }
        let mut failed = !outcome.status.is_done();
        let found = check_graph(&chain, &outcome, range);
        outcomes.push(outcome);
        if let Some(found) = found {
            crate::print_as(environment, String::new, || vec![found.outcome().to_json()]);
            outcomes.push(found.outcome());
            failed = true;
        }
        if failed {
            break;
        }
    }
    Tried::Ended(outcomes)
}

/// The summary of a run that a signal stopped.
fn stopped_summary(
    environment: &Environment,
    pipeline: &Pipeline,
    outcomes: &[Outcome],
) -> Option<Value> {
    let last = outcomes.last().filter(|outcome| outcome.status == Status::Stopped)?;
    let is_stand_in = outcomes.iter().any(|outcome| outcome.provenance() == Provenance::StandIn);
    let provenance = if is_stand_in { Provenance::StandIn } else { last.provenance() };
    Some(runs::summary_of_stopped(environment, pipeline, provenance, last.seconds))
}

/// Runs a stage of a chain, or finds its output.
pub(crate) fn run_stage(chain: &mut Chain<'_>, talk: &Talk, stage: StageName) -> Outcome {
    (Work::from_stage(stage).run)(chain, talk)
}

/// Checks that need only the graph, as soon as it exists, for the later stages of a range: ids
/// without a node, and a program that does not fit the data.
pub(crate) fn check_graph(
    chain: &Chain<'_>,
    outcome: &Outcome,
    range: &StageRange,
) -> Option<preflight::Finding> {
    if outcome.stage == StageName::Ingest && range.includes(StageName::Run) {
        // A cached run was checked then, with the same graph.
        let is_due = || {
            outcome.status == Status::Built
                || !preflight::has_results(chain.environment, chain.pipeline)
        };
        let error = warploom_run::inputs::vertices::check_vertices(
            chain.pipeline,
            chain.available(Kind::Graph)?,
            is_due,
        )
        .err()?;
        return Some(preflight::Finding { stage: StageName::Run, error });
    }
    let is_known = outcome.stage == StageName::Extract && outcome.status == Status::Built;
    (is_known && range.includes(StageName::Plan)).then(|| check_program(chain)).flatten()
}

/// Checks the program against the present graph, before reorder and partition run in vain.
fn check_program(chain: &Chain<'_>) -> Option<preflight::Finding> {
    let mut inputs = Inputs::new();
    for kind in [Kind::Graph, Kind::Csr, Kind::Profile] {
        inputs.insert(chain.available(kind)?.clone());
    }
    let request = PlanRequest::resolve(chain.environment, chain.pipeline).ok()?;
    let error = warploom_plan::refuse_other_data(&inputs, &request).err()?;
    Some(preflight::Finding { stage: StageName::Plan, error })
}

/// The artifact of the last stage.
fn run_artifact(outcomes: &[Outcome]) -> Option<&Artifact> {
    outcomes.iter().find(|outcome| outcome.stage == StageName::Run)?.artifacts.first()
}

fn summary(environment: &Environment, pipeline: &Pipeline, outcomes: &[Outcome]) -> String {
    let mut variant: Vec<String> =
        pipeline.variant.iter().map(|(path, value)| format!("{path}={value}")).collect();
    variant.extend(pipeline.repeat.map(|repeat| {
        format!("seed {}, {} of {}", pipeline.run.seed, repeat.number + 1, repeat.count)
    }));
    let title = match variant.is_empty() {
        true => format!("{} on {}", pipeline.name, pipeline.dataset),
        false => format!("{} on {} ({})", pipeline.name, pipeline.dataset, variant.join(", ")),
    };
    let mut text = summary_table(
        &title,
        outcomes,
        DataNeeds::from_pipeline(pipeline),
        &pipeline.run,
        environment.threads,
    );
    if let Some(artifact) = run_artifact(outcomes) {
        // An unreadable record is reported as an error.
        if let Ok(record) = run::open_record(artifact) {
            text += &results_text(artifact, &record);
        }
        if outcomes
            .iter()
            .any(|outcome| outcome.stage == StageName::Run && outcome.why == SAME_BYTES)
        {
            text += &format!(
                "measured: in the run of {}, which stays\n",
                runs::local_time(&artifact.manifest.created)
            );
        }
        let export = runs::export_command(
            environment,
            &artifact.manifest.key,
            &format!("run-{}", artifact.manifest.key.short()),
        );
        text += &format!("results: {}\nexport:  {export}\n", artifact.path.display());
    }
    text
}

/// How the searches of a run ended, with their medians.
fn searches_text(record: &Record) -> String {
    let count = record.searches.len();
    let median = record.median_search.unwrap_or_default();
    let unconverged = record.searches.iter().filter(|search| !search.converged).count();
    let end = match unconverged {
        0 => "all converged".to_owned(),
        some => format!("{some} NOT converged"),
    };
    let passes = match median.supersteps as u64 {
        0 => String::new(),
        steps => format!("{}, ", count_with_unit(steps, "superstep")),
    };
    format!(
        "{}; median of a search: {passes}{}; {end}",
        runs::count_searches(count as u64),
        show_time(median.seconds)
    )
}

fn results_text(artifact: &Artifact, record: &Record) -> String {
    // The metric of the choice of parameters; the record has the others.
    let loss = record.metrics.get("loss").map(|loss| ("loss".to_owned(), *loss));
    let metrics: Vec<String> = run::main_metrics(artifact, record)
        .into_iter()
        .chain(loss)
        .map(|(name, value)| format!("{} {value:.4}", run::metric_words(&name)))
        .collect();
    let time = show_time(record.seconds_step);
    // With one step there is no time for each.
    let each =
        if record.epochs.max(record.supersteps) == 1 { time } else { format!("{time} each") };
    let steps = match record.mode.as_str() {
        _ if !record.searches.is_empty() => searches_text(record),
        "train" => format!("{}, {each}", count_with_unit(record.epochs, "epoch")),
        _ if record.supersteps == 0 && record.converged => "computed in one pass".to_owned(),
        _ => {
            let end = if record.converged { "converged" } else { "NOT converged" };
            format!("{}, {each}, {end}", count_with_unit(record.supersteps, "superstep"))
        }
    };
    let stand_in = artifact.manifest.provenance == Provenance::StandIn;
    let of = if stand_in { " (of a stand-in: they say nothing about the real data)" } else { "" };
    let learned = record
        .target
        .as_ref()
        .map(|name| format!("learned: {name}{}\n", class_names(&record.classes)))
        .unwrap_or_default();
    match metrics.is_empty() {
        true => format!("{steps}\n{learned}"),
        false => format!("{steps}; {}{of}\n{learned}", metrics.join(", ")),
    }
}

/// The class names in order of number, at most the first `CLASSES_SHOWN`.
fn class_names(classes: &[String]) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let named = |(number, name): (usize, &String)| {
        if *name == number.to_string() { name.clone() } else { format!("{number} {name}") }
    };
    let first: Vec<String> = classes.iter().enumerate().take(CLASSES_SHOWN).map(named).collect();
    let more = if classes.len() > CLASSES_SHOWN { ", ... (all in record.json)" } else { "" };
    let noun = if classes.len() == 1 { "class" } else { "classes" };
    format!(", {} {noun} ({}{more})", classes.len(), first.join(", "))
}

/// Checks the output of each stage of a range.
pub fn check_all(
    environment: &Environment,
    talk: &Talk,
    pipelines: &[Pipeline],
    range: &StageRange,
) -> Result<(), StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    for pipeline in pipelines {
        let mut chain = Chain::new(&quiet, pipeline);
        let missing = |error: StageError| match error.kind {
            ErrorKind::Input => stand_in::explain_missing(environment, pipeline, error),
            _ => error,
        };
        range.prepare(&mut chain).map_err(missing).inspect_err(|error| {
            let line = proof_line(range.first(), Some(error));
            crate::print_as(environment, String::new, || vec![line]);
        })?;
        for &stage in range.stages() {
            let proved = (Work::from_stage(stage).prove)(&mut chain, talk);
            proved.map_err(|error| match stage {
                StageName::Ingest => missing(error),
                _ => error,
            })?;
        }
    }
    Ok(())
}

fn prove_stage<S>(chain: &mut Chain<'_>, talk: &Talk) -> Result<(), StageError>
where
    S: Stage,
    S::Request: Request,
{
    let proved = check_output::<S>(chain, talk).map_err(|violation| violation.0);
    let name = S::CONTRACT.name;
    crate::print_as(
        chain.environment,
        || format!("{name:<10} {}\n", if proved.is_ok() { "proved" } else { "NOT PROVED" }),
        || vec![proof_line(S::Request::STAGE, proved.as_ref().err())],
    );
    proved.map(drop)
}

/// The JSON line of a check.
fn proof_line(stage: StageName, error: Option<&StageError>) -> Value {
    let status = if error.is_none() { "proved" } else { "failed" };
    serde_json::json!({"stage": stage.name(), "status": status, "error": error.map(error_json)})
}
