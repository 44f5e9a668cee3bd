//! execute: hit or build: the code by which every stage looks up its output, and runs if it is
//! missing.
//!
//! promises  a hit opens no payload; a build leases its inputs, checks their digests, validates
//!           them, and publishes all of its kinds or none
//! never     builds what is in the store (without `--force`)
use std::time::Instant;

use warploom_contract::{
    Artifact, Context, ErrorKind, Inputs, Kind, Outputs, Stage, StageError, Violation,
    caught_panics,
    error::shell_quoted,
    kinds::{Depth, checkpoint},
    manifest::Reading,
    progress::{Phase, Progress},
};

use crate::{
    Chain, Environment, Outcome, Step, allocation, data_needs::DataNeeds, environment::Verify,
    explain, flags::Real, outcome::Status, progress::Talk, requests::Request, signals,
};

/// Runs a stage of a chain, or finds its output in the store; on success its artifacts become
/// available to later stages.
pub fn execute<S>(chain: &mut Chain<'_>, talk: &Talk) -> Outcome
where
    S: Stage,
    S::Request: Request,
{
    let begun = Instant::now();
    talk.stage(S::CONTRACT.name);
    let mut outcome = Outcome {
        stage: S::Request::STAGE,
        status: Status::Failed,
        key: None,
        artifacts: Vec::new(),
        seconds: 0.0,
        why: String::new(),
        error: None,
    };
    match hit_or_build::<S>(chain, talk, &mut outcome) {
        Ok(()) => chain.add_available(&outcome.artifacts),
        Err(error) => {
            outcome.status = Status::from_error(&error);
            outcome.error = Some(error);
        }
    }
    talk.end();
    outcome.seconds = begun.elapsed().as_secs_f64();
    if outcome.status == Status::Built {
        chain.note_seconds(outcome.stage, outcome.seconds);
    }
    outcome
}

/// The `why` of a forced build that gave the bytes already in the store.
pub const SAME_BYTES: &str = "--force: the same bytes as before";

fn hit_or_build<S>(
    chain: &mut Chain<'_>,
    talk: &Talk,
    outcome: &mut Outcome,
) -> Result<(), StageError>
where
    S: Stage,
    S::Request: Request,
{
    let mut step: Step<S::Request> = chain.resolve_step()?;
    let environment = chain.environment;
    if step.request.pending_decision().is_some() {
        step = decide_step::<S>(environment, talk, step)?;
    }
    outcome.key = Some(step.key().to_string());
    let found =
        if environment.force { None } else { chain.find_leased(S::Request::STAGE, &step.key())? };
    // An output built from unchecked inputs may be wrong: a start that checks builds it again.
    let unchecked = |artifact: &Artifact| {
        environment.verify != Verify::Nothing && artifact.manifest.inputs_verified == Some(false)
    };
    let place =
        if found.iter().flatten().any(unchecked) { Occupancy::Unchecked } else { Occupancy::Free };
    if let Some(artifacts) = found.filter(|_| place == Occupancy::Free) {
        take_hit(environment, &artifacts)?;
        outcome.status = Status::Hit;
        outcome.why = "in the store, nothing it depends on has changed".to_owned();
        outcome.artifacts = artifacts;
        return refuse_made_up(chain, outcome);
    }
    outcome.why = match (environment.force, place) {
        (true, _) => "asked for by --force".to_owned(),
        (false, Occupancy::Unchecked) => "the stored output was made with --no-verify".to_owned(),
        (false, Occupancy::Free) => explain::miss_reason(chain, S::Request::STAGE, &step.document),
    };
    talk.detail(&format!("{}: building {} ({})", S::CONTRACT.name, step.key(), outcome.why));
    let inputs = open_inputs(environment, talk, &step)?;
    step.request.take_stage_seconds(chain.seconds_by_stage());
    // The lease is taken before publishing, so that the output is never in the store without one.
    chain.lease(&step.key());
    let done = caught_panics::catch(|| {
        build_and_publish::<S>(environment, talk, step, &inputs, place, outcome)
    });
    let done = done.unwrap_or_else(|panic| Err(caught_panics::panic_error(panic)));
    done.map_err(|error| inputs.iter().fold(error, |error, artifact| artifact.blame(error)))?;
    allocation::trim_heap();
    outcome.status = Status::Built;
    refuse_made_up(chain, outcome)
}

/// Lets a stage make its pending decision, from leased inputs; its step then has a key.
fn decide_step<S>(
    environment: &Environment,
    talk: &Talk,
    mut step: Step<S::Request>,
) -> Result<Step<S::Request>, StageError>
where
    S: Stage,
    S::Request: Request,
{
    let inputs = open_inputs(environment, talk, &step)?;
    let _leases: Vec<_> =
        inputs.iter().map(|artifact| environment.store.lease(&artifact.manifest.key)).collect();
    let request = &mut step.request;
    let decided =
        caught_panics::catch(|| S::decide(&stage_context(environment, talk), &inputs, request));
    let decided = decided.unwrap_or_else(|panic| Err(caught_panics::panic_error(panic)));
    decided.map_err(|error| inputs.iter().fold(error, |error, artifact| artifact.blame(error)))?;
    Ok(Step::new(step.request, step.inputs))
}

/// The context that a stage runs in: store, limits, progress and stop flag.
fn stage_context<'a>(environment: &'a Environment, talk: &'a Talk) -> Context<'a> {
    Context {
        store: &environment.store,
        threads: environment.threads,
        memory: environment.memory,
        progress: talk,
        stop: &signals::STOP,
    }
}

/// Uses the stored output; with `--verify`, checks its digests first.
fn take_hit(environment: &Environment, artifacts: &[Artifact]) -> Result<(), StageError> {
    for artifact in artifacts {
        if environment.verify == Verify::All {
            artifact.manifest.check_digests(&artifact.path)?;
        }
        environment.store.mark_used(artifact);
    }
    Ok(())
}

/// What the store holds where a stage publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occupancy {
    /// Nothing, or what another process publishes meanwhile: the first one stays.
    Free,
    /// An output built from unchecked inputs: it is replaced.
    Unchecked,
}

/// Runs the stage on opened inputs, and publishes its output.
fn build_and_publish<S>(
    environment: &Environment,
    talk: &Talk,
    step: Step<S::Request>,
    inputs: &Inputs,
    place: Occupancy,
    outcome: &mut Outcome,
) -> Result<(), StageError>
where
    S: Stage,
    S::Request: Request,
{
    let _leases: Vec<_> =
        inputs.iter().map(|artifact| environment.store.lease(&artifact.manifest.key)).collect();
    let mut outputs = Outputs::begin(&environment.store, &S::CONTRACT, step.document, inputs)?;
    let are_sound = inputs.iter().all(|artifact| artifact.manifest.inputs_verified != Some(false));
    outputs.set_inputs_verified(environment.verify != Verify::Nothing && are_sound);
    let context = stage_context(environment, talk);
    S::run(&context, &mut outputs, inputs, &step.request)
        .map_err(|error| outputs.explain_loss(error))?;
    let files = Phase::begin(talk, "checking and storing", outputs.files()?, "files");
    let replace = environment.force || place == Occupancy::Unchecked;
    let published =
        outputs.publish_with_progress(&environment.store, replace, &|count| files.add(count))?;
    if environment.force {
        let replaced = published.iter().any(|(_, replaced)| *replaced);
        outcome.why =
            if replaced { "--force: other bytes than before, replaced" } else { SAME_BYTES }
                .to_owned();
    }
    outcome.artifacts = published.into_iter().map(|(artifact, _)| artifact).collect();
    if S::CONTRACT.writes.contains(&Kind::Run)
        && let Some(artifact) = outcome.artifacts.first()
    {
        // The run is over: its checkpoints are of no more use.
        checkpoint::remove(&environment.store, &artifact.manifest.key);
    }
    Ok(())
}

/// Opens the inputs of a stage. Checks digests, unless `--no-verify` is given or this process has
/// checked them before; then schema and cheap invariants. The stage gets, and digests cover, only
/// the files that are in its key.
fn open_inputs<R: Request>(
    environment: &Environment,
    talk: &Talk,
    step: &Step<R>,
) -> Result<Inputs, StageError> {
    let mut opened = Inputs::new();
    for artifact in step.inputs.iter() {
        environment.store.mark_used(artifact);
        let reads = step.request.reads(artifact.kind);
        let whole =
            environment.store.open_with(artifact.kind, &artifact.manifest.key, |whole| {
                if environment.verify != Verify::Nothing {
                    check_digests(&whole.restricted(&reads), talk)?;
                }
                whole.validate(Depth::Open)
            })?;
        opened.insert(whole.restricted(&reads));
    }
    Ok(opened)
}

/// Checks the digests of the files that a stage reads of an input, as far as this process has not
/// checked them before.
fn check_digests(found: &Artifact, talk: &Talk) -> Result<(), StageError> {
    let name = found.kind.name();
    talk.begin(&format!("checking digests of the {name}"), found.manifest.bytes(), "bytes");
    let Reading { files, files_read, bytes_read } =
        found.manifest.check_digests_once(&found.path, |bytes| talk.advance(bytes))?;
    talk.end();
    talk.detail(&format!(
        "{name}: {files_read} of {files} files read to check their digests, {bytes_read} bytes"
    ));
    Ok(())
}

/// With `--real=strict`, refuses a program that reads generated data.
fn refuse_made_up(chain: &Chain<'_>, outcome: &Outcome) -> Result<(), StageError> {
    let made_up = outcome.made_up();
    if chain.environment.real != Real::Strict || made_up.is_empty() {
        return Ok(());
    }
    let made_up = DataNeeds::from_pipeline(chain.pipeline).filter_made_up(&made_up);
    if made_up.is_empty() {
        return Ok(());
    }
    let what = format!(
        "the graph is real, but its {} are made up, which --real=strict refuses",
        made_up.join(" and ")
    );
    Err(StageError::new(ErrorKind::Input, what)
        .hint("use  --real  to accept made-up features and labels of a real graph"))
}

/// Verifies the stored output of a stage.
pub fn check_output<S>(chain: &mut Chain<'_>, talk: &Talk) -> Result<Vec<Artifact>, Violation>
where
    S: Stage,
    S::Request: Request,
{
    talk.stage(S::CONTRACT.name);
    let step: Step<S::Request> = chain.resolve_step()?;
    let environment = chain.environment;
    let absent = || {
        StageError::new(
            ErrorKind::Input,
            format!("there is no output of `{}` to check", S::CONTRACT.name),
        )
        .at(environment.store.path(S::CONTRACT.writes[0], &step.key()).display())
        .hint(format!(
            "make it first:  warploom pipeline {}  with the same options",
            shell_quoted(&chain.pipeline.file)
        ))
    };
    chain.lease(&step.key());
    let mut outputs = Inputs::new();
    for &kind in S::CONTRACT.writes {
        // `find` first: a missing output is an input error, a damaged one a failed check.
        environment.store.find(kind, &step.key())?.ok_or_else(absent)?;
        outputs.insert(environment.store.open(kind, &step.key(), true)?);
    }
    let mut inputs = Inputs::new();
    for artifact in step.inputs.iter() {
        inputs.insert(environment.store.open(artifact.kind, &artifact.manifest.key, true)?);
    }
    let context = Context {
        store: &environment.store,
        threads: environment.threads,
        memory: environment.memory,
        progress: talk,
        stop: &signals::STOP,
    };
    let checked = caught_panics::catch(|| S::check(&context, &outputs, &inputs, &step.request));
    let checked = checked.unwrap_or_else(|panic| Err(Violation(caught_panics::panic_error(panic))));
    checked.map_err(|violation| {
        Violation::from(
            outputs
                .iter()
                .chain(inputs.iter())
                .fold(violation.0, |error, artifact| artifact.blame(error)),
        )
    })?;
    let artifacts: Vec<Artifact> = outputs.iter().cloned().collect();
    chain.add_available(&artifacts);
    Ok(artifacts)
}
