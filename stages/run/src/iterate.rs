//! iterate: supersteps until nothing, or little enough, changes.
//!
//! promises  the condition is tested after each superstep, over all states; a run that was stopped and started again ends
//!           with the bits of one that was not
//! never     saves half a superstep; calls a bound that was reached a success (unless asked to)
//! limits    what a superstep carries to the next stands in its commits: that is what a checkpoint holds
use std::time::Instant;

use warploom_contract::{Context, ErrorKind, StageError};
use warploom_spec::RunSpec;
use warploom_vertex::launch::{LaunchList, Until};

use crate::{
    checkpoints::{Checkpoints, fact, facts},
    executor::{Change, Executor, Halt, Pass},
    failure,
    history::median,
    precision::Precision,
    program::{Part, Place},
    tensors::{Tensor, Tensors},
};

/// What came of it; the executor holds the states.
#[derive(Clone, Copy, Debug)]
pub struct Iterated {
    /// Supersteps done, earlier starts included.
    pub supersteps: u64,
    /// Whether the condition was met.
    pub converged: bool,
    /// Change of the last superstep.
    pub change: Change,
    /// Supersteps that were done when this start began.
    pub resumed_at: u64,
    /// Median seconds of a superstep of this start.
    pub seconds_step: f64,
}

/// Iterates from the start or from the newest saved state.
pub fn iterate<T: Precision>(
    context: &Context,
    list: &LaunchList,
    spec: &RunSpec,
    executor: &mut Executor<T>,
    checkpoints: &mut Checkpoints,
) -> Result<Iterated, StageError> {
    if spec.init.is_some() || !spec.init_map.is_empty() {
        context.progress.warn(&format!("`{}` has no parameters: `run.init` is not read", list.program));
    }
    let pass = Pass { epoch: 0, training: false };
    let stopped_early = || StageError::new(ErrorKind::Stopped, "stopped by a signal before the first superstep").hint("start again to go on");
    match executor.run(Part::Prepare, pass, context.stop) {
        Ok(()) => {}
        Err(Halt::Stopped) => return Err(stopped_early()),
        Err(Halt::Failed(error)) => return Err(error),
    }
    let resumed_at = checkpoints.newest(|saved| restore(executor, saved)).unwrap_or(0);
    context.progress.begin("iterating", 0, "supersteps");
    context.progress.advance(resumed_at);
    let (mut done, mut seconds, mut last) = (resumed_at, Vec::new(), None);
    let until = executor.program.until.expect("a list that iterates has an end");
    while done < spec.max_supersteps && !last.is_some_and(|change| is_met(until, &change)) {
        let begun = Instant::now();
        match executor.run(Part::Forward, pass, context.stop) {
            Ok(()) => {}
            Err(Halt::Stopped) => return Err(stopped(executor, checkpoints, done)),
            Err(Halt::Failed(error)) => return Err(error),
        }
        let change = executor.change();
        if change.summed.is_nan() {
            return Err(failure::of_superstep(executor, list, done + 1));
        }
        executor.commit();
        done += 1;
        last = Some(change);
        seconds.push(begun.elapsed().as_secs_f64());
        context.progress.advance(1);
        context.progress.note(&shown(until, &change));
        if done < spec.max_supersteps && !is_met(until, &change) {
            checkpoints.save_if_due(done, || save(executor, done));
        }
    }
    context.progress.end();
    let change = last.unwrap_or_default();
    let converged = last.is_some_and(|change| is_met(until, &change));
    if !converged && !spec.allow_unconverged {
        return Err(not_converged(until, &change, done));
    }
    Ok(Iterated { supersteps: done, converged, change, resumed_at, seconds_step: median(seconds) })
}

/// Whether the condition holds after a superstep that changed so much.
pub fn is_met(until: Until, change: &Change) -> bool {
    match until {
        Until::ChangeAtMost(bound) => change.summed <= bound,
        Until::Unchanged => change.changed == 0,
    }
}

fn shown(until: Until, change: &Change) -> String {
    match until {
        Until::ChangeAtMost(_) => format!("change {:.2e}", change.summed),
        Until::Unchanged => format!("{} values changed", change.changed),
    }
}

fn not_converged(until: Until, change: &Change, done: u64) -> StageError {
    let left = match until {
        Until::ChangeAtMost(bound) => format!("the last one changed the values by {:e} in all, and it ends at {bound:e}", change.summed),
        Until::Unchanged => format!("the last one changed {} values, and it ends at none", change.changed),
    };
    StageError::new(ErrorKind::LimitReached, format!("not converged after {done} supersteps: {left}"))
        .hint(format!("allow more with  --set run.max_supersteps={}  or take what there is with  --set run.allow_unconverged=true", done.saturating_mul(10)))
}

fn stopped<T: Precision>(executor: &Executor<T>, checkpoints: &mut Checkpoints, done: u64) -> StageError {
    if done > 0
        && let Err(mut error) = checkpoints.save(done, &save(executor, done))
    {
        error.what = format!("stopped by a signal after superstep {done}, and the state could not be saved: {}", error.what);
        return error;
    }
    StageError::new(ErrorKind::Stopped, format!("stopped by a signal after superstep {done}")).hint("start again to go on")
}

/// The states of all commits.
fn save<T: Precision>(executor: &Executor<T>, done: u64) -> Tensors {
    let state = |&(state, _): &(Place, Place)| match state {
        Place::Real(index) => {
            let values = executor.machine.reals.get(index);
            Tensor::of_reals(&[values.len()], values)
        }
        Place::Id(index) => Tensor::of_ids(executor.machine.ids.get(index)),
        Place::Sparse => unreachable!("a validated list commits values"),
    };
    let states = executor.program.commits.iter().enumerate();
    Tensors {
        arrays: states.map(|(index, commit)| (format!("state.{index}"), state(commit))).collect(),
        facts: facts([("mode", "iterate".to_owned()), ("supersteps_done", done.to_string())]),
    }
}

/// Puts saved states into the executor, if all fit; gives the supersteps behind them.
fn restore<T: Precision>(executor: &mut Executor<T>, saved: &Tensors) -> Result<u64, String> {
    if fact::<String>(saved, "mode")? != "iterate" {
        return Err("it is not of an iteration".to_owned());
    }
    let done = fact(saved, "supersteps_done")?;
    let commits = executor.program.commits.clone();
    let unfit = |index: usize| format!("its `state.{index}` is missing or of another shape or type");
    let array = |index: usize| saved.arrays.get(&format!("state.{index}"));
    for (index, &(state, _)) in commits.iter().enumerate() {
        let fits = match state {
            Place::Real(place) => array(index).and_then(Tensor::reals::<T>).is_some_and(|values| values.len() == executor.machine.reals.get(place).len()),
            Place::Id(place) => array(index).and_then(Tensor::ids).is_some_and(|values| values.len() == executor.machine.ids.get(place).len()),
            Place::Sparse => false,
        };
        if !fits {
            return Err(unfit(index));
        }
    }
    for (index, &(state, _)) in commits.iter().enumerate() {
        match state {
            Place::Real(place) => executor.machine.reals.fill(place, &array(index).and_then(Tensor::reals::<T>).ok_or_else(|| unfit(index))?),
            Place::Id(place) => executor.machine.ids.fill(place, &array(index).and_then(Tensor::ids).ok_or_else(|| unfit(index))?),
            Place::Sparse => {}
        }
    }
    Ok(done)
}
