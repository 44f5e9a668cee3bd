//! All stages in order.
//!
//! promises  whatever can be known of all variants is checked before the first stage of the first; stages after a failed one are not tried; each stage's JSON line is written as soon as it is known; what `run.repeat` asked for comes
//!           last, with mean and spread
use warploom_contract::{Artifact, Provenance, StageError};
use warploom_extract::Extract;
use warploom_ingest::Ingest;
use warploom_partition::PartitionStage;
use warploom_plan::PlanStage;
use warploom_reorder::Reorder;
use warploom_run::RunStage;
use warploom_shell::{
    Chain, Environment, Outcome,
    binary::print_data,
    contracts,
    execute::{check, execute},
    flags::Format,
    outcome::{Status, table},
    preflight,
    talk::Talk,
};
use warploom_spec::Pipeline;

use crate::repeats;

type Runner = fn(&mut Chain<'_>, &Talk) -> Outcome;

/// The six stages, as the chain of keys names them.
const RUNNERS: [Runner; 6] = [execute::<Ingest>, execute::<Extract>, execute::<Reorder>, execute::<PartitionStage>, execute::<PlanStage>, execute::<RunStage>];

/// Classes that are told by name.
const CLASSES_TOLD: usize = 12;

/// Runs every variant of a pipeline file; the first failure ends it.
pub fn run_all(environment: &Environment, talk: &Talk, pipelines: &[Pipeline]) -> Result<(), StageError> {
    let checked = preflight::check(environment, pipelines, &contracts::ALL).and_then(|()| preflight::check_gpus(environment, pipelines));
    if let Err(found) = checked {
        crate::print_as(environment, String::new, || vec![found.outcome().to_json()]);
        return Err(found.error);
    }
    let mut groups = Vec::new();
    for pipeline in pipelines {
        let mut chain = Chain::new(environment, pipeline);
        let mut outcomes: Vec<Outcome> = Vec::new();
        for runner in RUNNERS {
            let outcome = runner(&mut chain, talk);
            if environment.format == Format::Json {
                print_data(&format!("{}\n", outcome.to_json()));
            }
            let failed = outcome.status == Status::Failed;
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        // Where nothing ran, the error alone says it.
        let is_empty = outcomes.iter().all(|outcome| outcome.status == Status::Failed);
        if environment.format == Format::Human && !is_empty {
            print_data(&summary(pipeline, &outcomes));
        }
        if let Some(artifact) = run_of(&outcomes) {
            repeats::take(&mut groups, pipeline, artifact)?;
        }
        if let Some(error) = outcomes.into_iter().find_map(|outcome| outcome.error) {
            return Err(error);
        }
    }
    for group in repeats::with_splits_joined(groups) {
        crate::print_as(environment, || group.to_text(), || vec![group.to_json()]);
    }
    Ok(())
}

/// What the last stage left.
fn run_of(outcomes: &[Outcome]) -> Option<&Artifact> {
    outcomes.iter().find(|outcome| outcome.stage == "run")?.artifacts.first()
}

fn summary(pipeline: &Pipeline, outcomes: &[Outcome]) -> String {
    let mut variant: Vec<String> = pipeline.variant.iter().map(|(path, value)| format!("{path}={value}")).collect();
    variant.extend(pipeline.repeat.map(|repeat| format!("seed {}, {} of {}", pipeline.run.seed, repeat.number + 1, repeat.count)));
    let title = match variant.is_empty() {
        true => format!("{} on {}", pipeline.name, pipeline.dataset),
        false => format!("{} on {} ({})", pipeline.name, pipeline.dataset, variant.join(", ")),
    };
    let mut text = table(&title, outcomes);
    if let Some(run) = outcomes.iter().find(|outcome| outcome.stage == "run")
        && let Some(artifact) = run.artifacts.first()
    {
        if let Ok(record) = warploom_contract::kinds::run::open_record(artifact) {
            text += &results(&record, run.provenance());
        }
        text += &format!("results: {}\n", artifact.path.display());
    }
    text
}

fn results(record: &warploom_contract::kinds::run::Record, provenance: Provenance) -> String {
    // By the measure that is chosen by; the others stand in the record.
    let told = |name: &str| !name.contains('_');
    let metrics: Vec<String> =
        record.metrics.iter().filter(|(name, value)| told(name) && value.is_finite()).map(|(name, value)| format!("{name} {value:.4}")).collect();
    let steps = match record.mode.as_str() {
        "train" => format!("{} epochs, {:.2} ms each", record.epochs, record.seconds_step * 1e3),
        _ if record.supersteps == 0 && record.converged => "computed in one pass".to_owned(),
        _ => format!(
            "{} supersteps, {:.2} ms each, {}",
            record.supersteps,
            record.seconds_step * 1e3,
            if record.converged { "converged" } else { "NOT converged" }
        ),
    };
    let of = if provenance == Provenance::StandIn { " (of a stand-in: they say nothing about the real data)" } else { "" };
    let learned = record.target.as_ref().map(|name| format!("learned: {name}{}\n", classes_told(&record.classes))).unwrap_or_default();
    match metrics.is_empty() {
        true => format!("{steps}\n{learned}"),
        false => format!("{steps}; {}{of}\n{learned}", metrics.join(", ")),
    }
}

/// The names of classes by their numbers, the first of many.
fn classes_told(classes: &[String]) -> String {
    if classes.is_empty() {
        return String::new();
    }
    let first: Vec<String> = classes.iter().take(CLASSES_TOLD).enumerate().map(|(number, name)| format!("{number} {name}")).collect();
    let more = if classes.len() > CLASSES_TOLD { ", ... (all in record.json)" } else { "" };
    format!(", {} classes: {}{more}", classes.len(), first.join(", "))
}

/// Proves every stage's output.
pub fn check_all(environment: &Environment, talk: &Talk, pipelines: &[Pipeline]) -> Result<(), StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    for pipeline in pipelines {
        let mut chain = Chain::new(&quiet, pipeline);
        prove::<Ingest>(&mut chain, talk)?;
        prove::<Extract>(&mut chain, talk)?;
        prove::<Reorder>(&mut chain, talk)?;
        prove::<PartitionStage>(&mut chain, talk)?;
        prove::<PlanStage>(&mut chain, talk)?;
        prove::<RunStage>(&mut chain, talk)?;
    }
    Ok(())
}

fn prove<S>(chain: &mut Chain<'_>, talk: &Talk) -> Result<(), StageError>
where
    S: warploom_contract::Stage,
    S::Request: warploom_shell::requests::Request,
{
    let proved = check::<S>(chain, talk).map_err(|violation| violation.0);
    let name = S::CONTRACT.name;
    crate::print_as(
        chain.environment,
        || format!("{name:<10} {}\n", if proved.is_ok() { "proved" } else { "NOT PROVED" }),
        || {
            vec![
                serde_json::json!({"stage": name, "status": if proved.is_ok() { "proved" } else { "failed" }, "error": proved.as_ref().err().map(warploom_shell::outcome::error_json)}),
            ]
        },
    );
    proved.map(drop)
}
