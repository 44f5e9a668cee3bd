//! device_loops: a loop whose condition the device tests itself: the host enqueues supersteps, and
//! looks from time to time.
//!
//! promises  the same states, number of supersteps and end as where the host tests the condition
//!           after each superstep; a stop is honoured, and a checkpoint that is due by time is
//!           saved, when the host looks
//! never     asks for more supersteps than are allowed, or than there are until a checkpoint is due
use std::time::Instant;

use warploom_contract::StageError;
use warploom_launch::{Course, StopCondition};
use warploom_shell::memory_budget;

use super::{
    FRONTIER, Iteration, SUPERSTEPS, collect_states, describe_change, not_converged_error,
    save_and_stop,
};
use crate::{
    backend::{Change, DeviceLoops, LoopEnd},
    checkpoints::Checkpoints,
    nonfinite_trace,
    precision::Precision,
};

impl<T: Precision> Iteration<'_, T> {
    /// Runs the supersteps of one loop; gives whether its condition was met.
    pub(super) fn run_on_device(
        &mut self,
        number: usize,
        checkpoints: &mut Checkpoints,
    ) -> Result<bool, StageError> {
        let until = self.backend.host().program.loops[number].until.clone();
        let (begun, first) = (Instant::now(), self.loop_supersteps());
        let ended = self.run_batches(number, &until, checkpoints);
        let ran = self.loop_supersteps() - first;
        self.seconds.push(begun.elapsed().as_secs_f64() / ran.max(1) as f64);
        ended
    }

    /// Runs a loop by its shortcut algorithm, if it has one there that applies.
    pub(super) fn try_shortcut_on_device(
        &mut self,
        number: usize,
        resumed: bool,
    ) -> Result<bool, StageError> {
        let begun = Instant::now();
        // It is not stopped before its end; supersteps stop at once.
        let is_stopped = self.context.stop.is_set();
        let taken = if resumed || is_stopped || !memory_budget::uses_shortcuts(self.spec) {
            None
        } else {
            self.device_loops()?.run_shortcut(number)?
        };
        let course = &self.backend.host().program.loops[number].course;
        match (taken, course.as_ref().map(Course::name)) {
            (Some(rounds), Some(name)) => {
                self.end_shortcut(name, rounds, begun);
                Ok(true)
            }
            _ => {
                let has_frontier = self.device_loops()?.has_frontier(number)?;
                let name = if has_frontier { FRONTIER } else { SUPERSTEPS };
                self.courses.push(name.to_owned());
                Ok(false)
            }
        }
    }

    fn run_batches(
        &mut self,
        number: usize,
        until: &StopCondition,
        checkpoints: &mut Checkpoints,
    ) -> Result<bool, StageError> {
        self.device_loops()?.begin_loop(number)?;
        let mut last = Change::default();
        loop {
            let left = self.spec.max_supersteps.saturating_sub(self.loop_supersteps());
            if left == 0 {
                return self.end_unconverged(number, until, &last);
            }
            if self.context.stop.is_set() {
                self.device_loops()?.fetch_states(number)?;
                let reached = self.progress(number);
                return Err(save_and_stop(self.backend.host(), checkpoints, reached));
            }
            let most = left.min(checkpoints.steps_until_due(self.done));
            let ran = self.device_loops()?.run_supersteps(number, most)?;
            self.done += ran.done;
            last = ran.change;
            self.context.progress.advance(ran.done);
            self.context.progress.note(&describe_change(until, &ran.change));
            match ran.end {
                LoopEnd::Met => return Ok(true),
                LoopEnd::NotANumber => return Err(self.find_nan(number)?),
                LoopEnd::Running => self.save_if_due(number, checkpoints),
                LoopEnd::DoesNotApply | LoopEnd::Paused => {
                    return Err(StageError::defect("a superstep left no state of its loop"));
                }
            }
        }
    }

    /// The error for states that became NaN in the last superstep, which was not committed.
    fn find_nan(&mut self, number: usize) -> Result<StageError, StageError> {
        let list = self.list;
        self.device_loops()?.fetch_superstep_inputs(list, number)?;
        let done = self.done;
        Ok(nonfinite_trace::superstep_error(self.backend, list, number, done))
    }

    fn save_if_due(&mut self, number: usize, checkpoints: &mut Checkpoints) {
        if self.loop_supersteps() >= self.spec.max_supersteps || !checkpoints.is_due(self.done) {
            return;
        }
        checkpoints.save_in_background(self.done, || {
            self.device_loops()?.fetch_states(number)?;
            Ok(collect_states(self.backend.host(), self.progress(number)))
        });
    }

    /// The end of a loop that reached its bound.
    pub(super) fn end_unconverged(
        &self,
        number: usize,
        until: &StopCondition,
        last: &Change,
    ) -> Result<bool, StageError> {
        if self.spec.allow_unconverged {
            return Ok(false);
        }
        let of_several = (self.backend.host().program.loops.len() > 1).then_some(number);
        Err(not_converged_error::<T>(until, last, self.loop_supersteps(), of_several))
    }

    fn device_loops(&mut self) -> Result<&mut dyn DeviceLoops<T>, StageError> {
        let none = || StageError::defect("the device does not test the conditions of loops");
        self.backend.device_loops().ok_or_else(none)
    }
}
