//! execute: hit or build: the code by which every stage looks up its output, and runs if it is
//! missing.
//!
//! promises  a hit opens no payload; a build leases its inputs, checks their digests, validates
//!           them, and publishes all of its kinds or none
//! never     builds what is in the store, or what another process builds (without `--force`)
use std::{path::Path, sync::Once, time::Instant};

use warploom_contract::{
    Artifact, Context, ErrorKind, Inputs, Key, Kind, Outputs, Stage, StageError, Violation,
    caught_panics,
    error::shell_quoted,
    kinds::{Depth, checkpoint},
    manifest::Reading,
    progress::{Phase, Progress},
    stage_record::StageMeter,
};

use crate::{
    Chain, Environment, Outcome, StageName, Step, allocation,
    build_claims::{Turn, Work, take_turn},
    data_needs::DataNeeds,
    environment::Verify,
    explain,
    flags::Real,
    outcome::Status,
    progress::Talk,
    requests::Request,
    signals,
};

/// Runs a stage of a chain, or finds its output in the store; on success its artifacts become
/// available to later stages.
pub fn execute<S>(chain: &mut Chain<'_>, talk: &Talk) -> Outcome
where
    S: Stage,
    S::Request: Request,
{
    let begun = Instant::now();
    warn_of_absent_stores(chain.environment, talk);
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
    let mut done = hit_or_build::<S>(chain, talk, &mut outcome);
    // A damaged output in a store that is only read is a miss.
    while let Err(error) = &done
        && !is_of_input(chain, error)
        && avoid_damaged(chain.environment, talk, error)
    {
        done = hit_or_build::<S>(chain, talk, &mut outcome);
    }
    match done {
        Ok(()) => chain.add_available(&outcome.artifacts),
        Err(error) => {
            outcome.status = Status::from_error(&error);
            outcome.error = Some(chain.environment.store.explain_later(error));
        }
    }
    talk.end();
    outcome.seconds = begun.elapsed().as_secs_f64();
    if outcome.status == Status::Built {
        chain.note_seconds(outcome.stage, outcome.seconds);
    }
    outcome
}

/// Warns once of stores that are only read and do not exist: nothing is found in them.
fn warn_of_absent_stores(environment: &Environment, talk: &Talk) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        for root in environment.store.roots().skip(1).filter(|root| !root.is_dir()) {
            talk.warn(&format!("there is no store in {}, which is only read", root.display()));
        }
    });
}

/// Takes the damaged artifact that an error is about as missing from now on, with a warning, if it
/// is in a store that is only read. Says whether it did.
pub fn avoid_damaged(environment: &Environment, talk: &Talk, error: &StageError) -> bool {
    let Some(path) = environment.store.avoid_damaged(error) else { return false };
    talk.warn(&format!(
        "{} is damaged ({}), and its store is only read; what is needed is made again in {}",
        path.display(),
        error.what,
        environment.store.root().display()
    ));
    true
}

/// Whether an error is about an input of the stage, which an earlier stage has to make again.
fn is_of_input(chain: &Chain<'_>, error: &StageError) -> bool {
    let place = error.place.as_deref().map(Path::new);
    place.is_some_and(|place| place.ancestors().any(|folder| chain.has_available(folder)))
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
        step = settle_decision::<S>(chain, talk, step)?;
    }
    let (stage, key) = (S::Request::STAGE, step.key());
    outcome.key = Some(key.to_string());
    let (place, _claim) = match find_output(chain, stage, &key)? {
        Found::Usable(artifacts) => {
            let why = "in the store, nothing it depends on has changed";
            return use_output(chain, outcome, artifacts, why.to_owned());
        }
        Found::Missing(place) if environment.force => (place, None),
        Found::Missing(place) => {
            let work = Work { stage: stage.name(), key: &key, writes: S::CONTRACT.writes };
            let look = || find_output(chain, stage, &key).map(Found::usable);
            match take_turn(&environment.store, talk, work, look)? {
                Turn::Build(claim) => (place, claim),
                Turn::Take(artifacts, by) => {
                    return use_output(
                        chain,
                        outcome,
                        artifacts,
                        format!("built meanwhile by {by}"),
                    );
                }
            }
        }
    };
    outcome.why = match (environment.force, place) {
        (true, _) => "asked for by --force".to_owned(),
        (false, Occupancy::Unchecked) => "the stored output was made with --no-verify".to_owned(),
        (false, Occupancy::Free) => explain::miss_reason(chain, stage, &step.document),
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

/// What the store holds under a key.
enum Found {
    /// The output of the stage.
    Usable(Vec<Artifact>),
    /// No output, or one that is built again.
    Missing(Occupancy),
}

impl Found {
    fn usable(self) -> Option<Vec<Artifact>> {
        match self {
            Found::Usable(artifacts) => Some(artifacts),
            Found::Missing(_) => None,
        }
    }
}

/// Looks up the output of a stage, and leases it.
fn find_output(chain: &mut Chain<'_>, stage: StageName, key: &Key) -> Result<Found, StageError> {
    let environment = chain.environment;
    if environment.force {
        return Ok(Found::Missing(Occupancy::Free));
    }
    // An output built from unchecked inputs may be wrong: a start that checks builds it again.
    let is_unchecked = |artifact: &Artifact| {
        environment.verify != Verify::Nothing && artifact.manifest.inputs_verified == Some(false)
    };
    Ok(match chain.find_leased(stage, key)? {
        None => Found::Missing(Occupancy::Free),
        Some(artifacts) if artifacts.iter().any(is_unchecked) => {
            Found::Missing(Occupancy::Unchecked)
        }
        Some(artifacts) => Found::Usable(artifacts),
    })
}

/// Takes a stored output as that of the stage.
fn use_output(
    chain: &Chain<'_>,
    outcome: &mut Outcome,
    artifacts: Vec<Artifact>,
    why: String,
) -> Result<(), StageError> {
    take_hit(chain.environment, &artifacts)?;
    outcome.status = Status::Hit;
    outcome.why = why;
    outcome.artifacts = artifacts;
    refuse_made_up(chain, outcome)
}

/// Makes the pending decision of a step, or takes that of a process which makes it at the moment.
fn settle_decision<S>(
    chain: &Chain<'_>,
    talk: &Talk,
    step: Step<S::Request>,
) -> Result<Step<S::Request>, StageError>
where
    S: Stage,
    S::Request: Request,
{
    let environment = chain.environment;
    if environment.force {
        return decide_step::<S>(environment, talk, step);
    }
    let mut undecided = step.document.clone();
    undecided.request = step.request.weighed();
    let name = format!("{}-decision", S::CONTRACT.name);
    let work = Work { stage: &name, key: &undecided.key(), writes: &[Kind::Tune] };
    let look = || {
        let step: Step<S::Request> = chain.resolve_step()?;
        Ok(step.request.pending_decision().is_none().then_some(step))
    };
    match take_turn(&environment.store, talk, work, look)? {
        Turn::Take(decided, _) => Ok(decided),
        Turn::Build(_claim) => decide_step::<S>(environment, talk, step),
    }
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
        inputs.iter().map(|artifact| environment.store.lease_artifact(artifact)).collect();
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
    let meter = StageMeter::begin();
    let _leases: Vec<_> =
        inputs.iter().map(|artifact| environment.store.lease_artifact(artifact)).collect();
    let mut outputs = Outputs::begin(&environment.store, &S::CONTRACT, step.document, inputs)?;
    let are_sound = inputs.iter().all(|artifact| artifact.manifest.inputs_verified != Some(false));
    outputs.set_inputs_verified(environment.verify != Verify::Nothing && are_sound);
    outputs.set_meter(meter);
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
