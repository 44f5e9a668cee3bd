//! iteration: runs the supersteps of each loop until convergence, then the rest of the list.
//!
//! promises  the condition is tested after each superstep, over the states that it names; a run
//!           that was stopped and resumed ends with the same bits as one that was not
//! never     saves half a superstep; reports a run that reached its bound as a success (unless
//!           `run.allow_unconverged` is set)
//! limits    all state between supersteps is in the commits: a checkpoint holds those of the
//!           current loop and of all earlier ones
mod device_loops;
pub mod frontier;

use std::time::Instant;

use warploom_contract::{Context, ErrorKind, StageError};
use warploom_cpu::frontier::Run;
use warploom_launch::{LaunchList, StopCondition};
use warploom_shell::{memory_budget, signals};
use warploom_spec::RunSpec;

use crate::{
    backend::{Backend, Change, Halt, PassTime, Supersteps},
    buffers::Place,
    checkpoints::{Checkpoints, collect_facts, parse_fact},
    host_state::HostState,
    iteration::frontier::Frontier,
    nonfinite_trace,
    precision::Precision,
    resolved_program::{Part, Pass},
    tensors::{Tensor, Tensors},
    training::history::median,
};

/// The outcome of an iteration; the backend holds the states.
#[derive(Clone, Debug)]
pub struct IterationOutcome {
    /// Supersteps done, earlier starts included.
    pub supersteps: u64,
    /// Supersteps of each loop.
    pub supersteps_of_loops: Vec<u64>,
    /// Whether the conditions were met.
    pub converged: bool,
    /// Supersteps that were done when this start began.
    pub resumed_at: u64,
    /// Median seconds of a superstep of this start; for a list without loops, the seconds of a
    /// pass, if `run.passes` measures them.
    pub seconds_step: f64,
    /// How each loop ran: the name of its shortcut, `frontier`, or `supersteps`.
    pub courses: Vec<String>,
}

/// Iterates from the start or from the newest saved state.
pub fn iterate<T: Precision>(
    context: &Context,
    list: &LaunchList,
    spec: &RunSpec,
    backend: &mut dyn Backend<T>,
    checkpoints: &mut Checkpoints,
) -> Result<IterationOutcome, StageError> {
    let mut walk = Iteration {
        context,
        list,
        spec,
        backend,
        done: 0,
        supersteps_of_loops: Vec::new(),
        resumed_at: 0,
        seconds: Vec::new(),
        courses: Vec::new(),
    };
    walk.run(checkpoints)
}

struct Iteration<'a, T: Precision> {
    context: &'a Context<'a>,
    list: &'a LaunchList,
    spec: &'a RunSpec,
    backend: &'a mut dyn Backend<T>,
    done: u64,
    /// Supersteps of each finished loop.
    supersteps_of_loops: Vec<u64>,
    resumed_at: u64,
    seconds: Vec<f64>,
    courses: Vec<String>,
}

/// The name in a record of a loop that ran in supersteps over all rows.
pub const SUPERSTEPS: &str = "supersteps";

/// The name in a record of a loop whose supersteps computed only readers of changes.
pub const FRONTIER: &str = "frontier";

const PASS: Pass = Pass { epoch: 0, training: false };

impl<T: Precision> Iteration<'_, T> {
    fn run(&mut self, checkpoints: &mut Checkpoints) -> Result<IterationOutcome, StageError> {
        let count = self.backend.host().program.loops.len();
        let saved =
            checkpoints.load_newest(|saved| read_saved_state(self.backend.host(), saved))?;
        let first = saved.as_ref().map_or(0, |saved| saved.number);
        self.resumed_at = saved.as_ref().map_or(0, |saved| saved.done);
        self.done = self.resumed_at;
        self.courses = saved.as_ref().map_or_else(Vec::new, |saved| saved.courses.clone());
        self.supersteps_of_loops =
            saved.as_ref().map_or_else(Vec::new, |saved| saved.supersteps_of_loops.clone());
        self.context.progress.begin("iterating", 0, "supersteps");
        self.context.progress.advance(self.done);
        let mut converged = true;
        for number in 0..count {
            self.run_part(Part::Before(number), checkpoints, None)?;
            if let Some(saved) = &saved {
                restore_loop(self.backend.host_mut(), saved, number);
                if number <= first
                    && let Some(loops) = self.backend.device_loops()
                {
                    loops.put_states(number)?;
                }
            }
            if number >= first {
                // At the bound, the rest of the list is still computed, from the states as they
                // are.
                converged &= self.try_shortcut(number, saved.is_some() && number == first)?
                    || self.run_supersteps(number, checkpoints)?;
                self.supersteps_of_loops.push(self.loop_supersteps());
            }
        }
        self.run_part(Part::Finish, checkpoints, None)?;
        if count == 0 {
            self.time_passes(checkpoints)?;
        }
        self.context.progress.end();
        let seconds_step = median(std::mem::take(&mut self.seconds));
        Ok(IterationOutcome {
            supersteps: self.done,
            supersteps_of_loops: std::mem::take(&mut self.supersteps_of_loops),
            converged,
            resumed_at: self.resumed_at,
            seconds_step,
            courses: std::mem::take(&mut self.courses),
        })
    }

    /// Repeats a list without loops as often as `run.passes` asks, to measure its time.
    fn time_passes(&mut self, checkpoints: &mut Checkpoints) -> Result<(), StageError> {
        let more = self.spec.passes.saturating_sub(1);
        if more == 0 {
            return Ok(());
        }
        match self.backend.time_passes(more)? {
            PassTime::OnDevice(seconds) => {
                self.seconds.push(seconds);
                return Ok(());
            }
            PassTime::NotRepeatable => {
                self.context.progress.warn(
                    "a pass that makes sparse features dense is not timed on a GPU: `run.passes` \
                     is ignored",
                );
                return Ok(());
            }
            PassTime::ByHost => {}
        }
        for _ in 0..more {
            let begun = Instant::now();
            self.run_part(Part::Finish, checkpoints, None)?;
            self.seconds.push(begun.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Runs a loop by its shortcut algorithm, if it has one that applies; a loop resumed from a
    /// checkpoint continues in supersteps.
    fn try_shortcut(&mut self, number: usize, resumed: bool) -> Result<bool, StageError> {
        if self.backend.device_loops().is_some() {
            return self.try_shortcut_on_device(number, resumed);
        }
        let (begun, stop) = (Instant::now(), self.context.stop);
        let taken = if resumed || !memory_budget::uses_shortcuts(self.spec) {
            None
        } else {
            self.supersteps()?.run_shortcut(number, stop)
        };
        match taken {
            None => {
                if self.backend.host().program.loops[number].course.is_some() {
                    self.backend.host_mut().data.build_superstep_lists();
                }
                let name = if self.backend.host().program.loops[number].frontier.is_some() {
                    FRONTIER
                } else {
                    SUPERSTEPS
                };
                self.courses.push(name.to_owned());
                Ok(false)
            }
            Some(None) => Err(signals::stop_error(
                "within a loop that is not saved. The same command begins the run again",
            )),
            Some(Some((name, rounds))) => {
                self.end_shortcut(name, rounds, begun);
                Ok(true)
            }
        }
    }

    /// Counts the rounds of a shortcut algorithm.
    fn end_shortcut(&mut self, name: &str, rounds: u64, begun: Instant) {
        self.courses.push(name.to_owned());
        self.done += rounds;
        self.seconds.push(begun.elapsed().as_secs_f64() / rounds.max(1) as f64);
        self.context.progress.advance(rounds);
    }

    /// Runs the supersteps of one loop; gives whether its condition was met.
    fn run_supersteps(
        &mut self,
        number: usize,
        checkpoints: &mut Checkpoints,
    ) -> Result<bool, StageError> {
        if self.backend.device_loops().is_some() {
            return self.run_on_device(number, checkpoints);
        }
        let repeated = self.backend.host().program.loops[number].clone();
        let until = &repeated.until;
        let mut frontier = Frontier::from_loop(self.backend.host(), &repeated);
        let mut last = Change::default();
        while self.loop_supersteps() < self.spec.max_supersteps {
            let begun = Instant::now();
            let only = frontier.as_ref().and_then(Frontier::runs);
            self.run_part_rows(Part::Superstep(number), only, checkpoints, Some(number))?;
            let change = self.supersteps()?.measure_change(number, only);
            if change.summed.is_nan() {
                return Err(nonfinite_trace::superstep_error(
                    self.backend,
                    self.list,
                    number,
                    self.done + 1,
                ));
            }
            if let Some(frontier) = &mut frontier {
                frontier.advance(self.backend.host(), &repeated, &change);
            }
            self.supersteps()?.commit(number);
            self.done += 1;
            last = change;
            self.seconds.push(begun.elapsed().as_secs_f64());
            self.context.progress.advance(1);
            self.context.progress.note(&describe_change(until, &change));
            if is_met(until, &change) {
                return Ok(true);
            }
            if self.loop_supersteps() < self.spec.max_supersteps {
                checkpoints.save_if_due(self.done, || {
                    Ok(collect_states(self.backend.host(), self.progress(number)))
                });
            }
        }
        self.end_unconverged(number, until, &last)
    }

    fn supersteps(&mut self) -> Result<&mut dyn Supersteps<T>, StageError> {
        let none = || StageError::defect("the plan has a loop, and the device runs none");
        self.backend.supersteps().ok_or_else(none)
    }

    /// Supersteps of the current loop.
    fn loop_supersteps(&self) -> u64 {
        self.done - self.supersteps_of_loops.iter().sum::<u64>()
    }

    fn progress(&self, number: usize) -> IterationProgress<'_> {
        IterationProgress {
            number,
            done: self.done,
            supersteps_of_loops: &self.supersteps_of_loops,
            courses: &self.courses,
        }
    }

    /// Runs a part; a stop saves the states of the current loop.
    fn run_part(
        &mut self,
        part: Part,
        checkpoints: &mut Checkpoints,
        number: Option<usize>,
    ) -> Result<(), StageError> {
        self.run_part_rows(part, None, checkpoints, number)
    }

    /// The same, where only these rows are computed.
    fn run_part_rows(
        &mut self,
        part: Part,
        only: Option<&[Run]>,
        checkpoints: &mut Checkpoints,
        number: Option<usize>,
    ) -> Result<(), StageError> {
        match self.backend.run_rows(part, PASS, only, self.context.stop) {
            Ok(()) => Ok(()),
            Err(Halt::Stopped) => Err(match number {
                Some(number) => {
                    save_and_stop(self.backend.host(), checkpoints, self.progress(number))
                }
                None if self.done == 0 => signals::stop_error_after("superstep", 0),
                None => signals::stop_error(
                    "between two loops or after the last one. The same command goes on from what \
                     was saved last, or begins the run again",
                ),
            }),
            Err(Halt::Failed(error)) => Err(error),
        }
    }
}

/// Whether the condition holds after such a change.
pub fn is_met(until: &StopCondition, change: &Change) -> bool {
    match until {
        StopCondition::ChangeAtMost(_, bound) => change.summed <= *bound,
        StopCondition::Unchanged(_) | StopCondition::Nowhere(_) => change.changed == 0,
    }
}

fn describe_change(until: &StopCondition, change: &Change) -> String {
    match until {
        StopCondition::ChangeAtMost(..) => format!("change {:.2e}", change.summed),
        StopCondition::Unchanged(_) => format!("{} values changed", change.changed),
        StopCondition::Nowhere(_) => format!("active at {}", change.changed),
    }
}

/// The progress of a run.
#[derive(Clone, Copy)]
struct IterationProgress<'a> {
    /// The current loop.
    number: usize,
    /// Supersteps done.
    done: u64,
    /// Supersteps of each earlier loop.
    supersteps_of_loops: &'a [u64],
    /// How each loop ran, up to this one.
    courses: &'a [String],
}

/// A change of at most so many times the bound may be due to rounding.
const NEAR: f64 = 100.0;

fn not_converged_error<T: Precision>(
    until: &StopCondition,
    change: &Change,
    done: u64,
    of_several: Option<usize>,
) -> StageError {
    let left = match until {
        StopCondition::ChangeAtMost(_, bound) => format!(
            "the last one changed the values by {:e} in total, and the loop ends at {bound:e}",
            change.summed
        ),
        StopCondition::Unchanged(_) => {
            format!(
                "the last one changed {} values; the loop ends when none changes",
                change.changed
            )
        }
        StopCondition::Nowhere(_) => {
            format!("after the last one {} were active; the loop ends when none is", change.changed)
        }
    };
    // More supersteps do not reduce a change that is due to rounding.
    let by_rounding =
        matches!(until, StopCondition::ChangeAtMost(_, bound) if change.summed <= NEAR * bound);
    let finer = if T::NAME == "f32" && by_rounding {
        "compute in double precision:  --set run.dtype=f64  , "
    } else {
        ""
    };
    let more = done.saturating_mul(10);
    let of_loop = of_several.map_or_else(String::new, |number| format!(" of loop {number}"));
    StageError::new(
        ErrorKind::LimitReached,
        format!("not converged after {done} supersteps{of_loop}: {left}"),
    )
    .hint(format!(
        "{finer}allow more with  --set run.max_supersteps={more}  or accept the values as they are \
         with  --set run.allow_unconverged=true"
    ))
}

fn save_and_stop<T: Precision>(
    host: &HostState<T>,
    checkpoints: &mut Checkpoints,
    reached: IterationProgress<'_>,
) -> StageError {
    let done = reached.done;
    if done > 0
        && let Err(mut error) = checkpoints.save(done, &collect_states(host, reached))
    {
        error.what = format!(
            "stopped by a signal after superstep {done}, and the state could not be saved: {}",
            error.what
        );
        return error;
    }
    signals::stop_error_after("superstep", done)
}

/// The states of this loop and of all earlier ones.
fn collect_states<T: Precision>(
    host: &HostState<T>,
    IterationProgress { number, done, supersteps_of_loops, courses }: IterationProgress<'_>,
) -> Tensors {
    let state = |place: Place| match place {
        Place::Real(index) => Tensor::from_reals(
            &[host.buffers.reals().get(index).len()],
            host.buffers.reals().get(index),
        ),
        Place::Whole(index) => Tensor::from_wholes(host.buffers.wholes().get(index)),
        Place::Half(..) | Place::Sparse(_) => unreachable!("a validated list commits values"),
    };
    let states = host.program.loops.iter().take(number + 1).enumerate();
    let named = states.flat_map(|(number, repeated)| {
        repeated
            .commits
            .iter()
            .enumerate()
            .map(move |(index, (place, _))| (state_name(number, index), *place))
    });
    Tensors {
        arrays: named.map(|(name, place)| (name, state(place))).collect(),
        facts: collect_facts([
            ("mode", "iterate".to_owned()),
            ("supersteps_done", done.to_string()),
            (
                "supersteps_of_loops",
                supersteps_of_loops.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
            ),
            ("loop", number.to_string()),
            ("courses", courses.iter().take(number).cloned().collect::<Vec<_>>().join(",")),
        ]),
    }
}

fn state_name(number: usize, index: usize) -> String {
    if number == 0 { format!("state.{index}") } else { format!("state.{number}.{index}") }
}

/// A saved state that fits.
struct SavedState<T> {
    number: usize,
    done: u64,
    /// Supersteps of the earlier loops.
    supersteps_of_loops: Vec<u64>,
    courses: Vec<String>,
    states: Vec<Vec<State<T>>>,
}

enum State<T> {
    Real(Vec<T>),
    Wholes(Vec<i64>),
}

/// Reads a saved state if all of it fits; else says what does not.
fn read_saved_state<T: Precision>(
    host: &HostState<T>,
    saved: &Tensors,
) -> Result<SavedState<T>, String> {
    if parse_fact::<String>(saved, "mode")? != "iterate" {
        return Err("it is not the state of an iteration".to_owned());
    }
    let (done, number): (u64, usize) =
        (parse_fact(saved, "supersteps_done")?, parse_fact(saved, "loop")?);
    let supersteps_of_loops: String = parse_fact(saved, "supersteps_of_loops")?;
    let supersteps_of_loops: Vec<u64> =
        supersteps_of_loops.split_terminator(',').map_while(|count| count.parse().ok()).collect();
    if supersteps_of_loops.len() != number
        || supersteps_of_loops.iter().fold(0u64, |sum, count| sum.saturating_add(*count)) > done
    {
        return Err(format!(
            "the supersteps of its loops, {supersteps_of_loops:?}, are not those before loop \
             {number}, of {done} in all"
        ));
    }
    if number >= host.program.loops.len() {
        return Err(format!("it is of loop {number}"));
    }
    let state = |number: usize, index: usize, place: Place| {
        let name = state_name(number, index);
        let array = saved.arrays.get(&name);
        let found = match place {
            Place::Real(place) => array
                .and_then(Tensor::reals::<T>)
                .filter(|values| values.len() == host.buffers.reals().get(place).len())
                .map(State::Real),
            Place::Whole(place) => array
                .and_then(Tensor::wholes)
                .filter(|values| values.len() == host.buffers.wholes().get(place).len())
                .map(State::Wholes),
            Place::Half(..) | Place::Sparse(_) => None,
        };
        found.ok_or_else(|| format!("its `{name}` is missing or of another shape or type"))
    };
    let mut states = Vec::new();
    for (number, repeated) in host.program.loops.iter().take(number + 1).enumerate() {
        let of_loop = repeated
            .commits
            .iter()
            .enumerate()
            .map(|(index, (place, _))| state(number, index, *place));
        states.push(of_loop.collect::<Result<_, String>>()?);
    }
    let courses: String = parse_fact(saved, "courses")?;
    let courses = courses.split_terminator(',').map(str::to_owned).collect();
    Ok(SavedState { number, done, supersteps_of_loops, courses, states })
}

/// Restores the saved states of a loop, if there are any.
fn restore_loop<T: Precision>(host: &mut HostState<T>, saved: &SavedState<T>, number: usize) {
    let Some(states) = saved.states.get(number) else { return };
    for (state, (place, _)) in states.iter().zip(host.program.loops[number].commits.clone()) {
        match (state, place) {
            (State::Real(values), Place::Real(place)) => {
                host.buffers.write_real(place, |state, _| state.copy_from_slice(values))
            }
            (State::Wholes(values), Place::Whole(place)) => {
                host.buffers.write_whole(place, |state, _| state.copy_from_slice(values))
            }
            _ => unreachable!("states were read by the types of their places"),
        }
    }
}
