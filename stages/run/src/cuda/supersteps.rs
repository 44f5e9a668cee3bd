//! supersteps: the supersteps of a loop on a GPU, enqueued in batches; the device tests the
//! condition of the loop after each, and the rest of a batch then does nothing.
//!
//! promises  the host looks after a batch; batches double until one takes half of `BATCH_SECONDS`
//! never     decides on the end of a loop; runs more supersteps than it is asked for
//!
//! Where a loop has a kernel for supersteps of few vertices, that ends each superstep of all
//! vertices, and goes on as long as few are enough.
use std::ops::Range;
use std::time::Instant;

use warploom_contract::StageError;
use warploom_cuda::{Argument, supersteps};
use warploom_device::Fault;

use super::{GpuExecutor, device_error};
use crate::backend::{Change, LoopEnd, LoopProgress};

/// Supersteps of a first batch.
const FIRST_BATCH: u64 = 4;

/// Supersteps that one CUDA graph holds at most.
const GRAPH_SUPERSTEPS: u64 = 16;

/// No batch grows beyond this time. So stops, progress and checkpoints wait for about as long, and
/// for the first batch where its supersteps take longer.
const BATCH_SECONDS: f64 = 0.1;

/// Where the batches of a loop are.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopBatches {
    /// Supersteps done.
    done: u64,
    /// Supersteps of the next batch.
    next: u64,
    /// Whether supersteps of few vertices have a kernel.
    has_frontier: bool,
    /// Supersteps of all vertices that the next batch enqueues then.
    whole: u64,
    /// Those that were done.
    whole_done: u64,
}

/// Supersteps of all vertices that a batch enqueues at the least, and at the most, where those of
/// few have a kernel: what that does of the batch, they need not do.
const WHOLE_BESIDE_FRONTIER: [u64; 2] = [4, 64];

impl LoopBatches {
    /// Where all supersteps of a batch computed all vertices, the next one enqueues more of them.
    fn count_whole(&mut self, whole_done: u64) {
        let [fewest, most] = WHOLE_BESIDE_FRONTIER;
        let all = whole_done - self.whole_done >= self.whole;
        self.whole = if all { (2 * self.whole).min(most) } else { fewest };
        self.whole_done = whole_done;
    }
}

impl GpuExecutor {
    /// Whether supersteps of few vertices of a loop have a kernel, which this device can run.
    pub fn has_frontier(&self, number: usize) -> Result<bool, StageError> {
        match self.frontiers.get(number) {
            Some(Some(frontier)) => self.fits_together(frontier).map_err(device_error),
            _ => Ok(false),
        }
    }

    /// Begins a loop.
    pub fn begin_loop(&mut self, number: usize) -> Result<(), StageError> {
        let has_frontier = self.has_frontier(number)?;
        self.batches = LoopBatches {
            next: FIRST_BATCH,
            has_frontier,
            whole: WHOLE_BESIDE_FRONTIER[0],
            ..LoopBatches::default()
        };
        let Some(place) = self.layout.argument_range(&Argument::LoopState) else { return Ok(()) };
        self.gpu.fill(&self.memory, place.offset, place.bytes, 0).map_err(device_error)?;
        if has_frontier {
            self.prepare_frontier(number).map_err(device_error)?;
        }
        Ok(())
    }

    /// Tells the kernel for supersteps of few vertices where it ends.
    fn upload_bound(&self, bound: u64) -> Result<(), Fault> {
        let Some(place) = self.layout.argument_range(&Argument::LoopState) else { return Ok(()) };
        let (at, bytes) = supersteps::go_on(bound);
        self.gpu.upload(&self.memory, place.offset + at, &bytes)
    }

    /// Runs a batch of supersteps of a loop, at most so many.
    pub fn run_supersteps(
        &mut self,
        steps: Range<usize>,
        number: usize,
        most: u64,
    ) -> Result<LoopProgress, StageError> {
        let (begun, batch) = (Instant::now(), self.batches.next.min(most));
        let is_timed = self.enqueue_supersteps(steps.clone(), number, batch);
        let is_timed = is_timed.map_err(device_error)?;
        let state = self.loop_state()?;
        if is_timed && state.whole < 2 {
            // The second superstep of all vertices, which is timed, did nothing.
            self.seconds_by_step.retain(|step, _| !steps.contains(step));
        }
        // A batch that was cut says nothing of a longer one.
        if batch == self.batches.next && begun.elapsed().as_secs_f64() < BATCH_SECONDS / 2.0 {
            self.batches.next = batch.saturating_mul(2);
        }
        self.batches.count_whole(state.whole);
        let done = state.done - self.batches.done;
        self.batches.done = state.done;
        let end = if state.end == LoopEnd::Paused { LoopEnd::Running } else { state.end };
        let has_ended = end != LoopEnd::Running;
        let may_be_fewer = has_ended || self.batches.has_frontier && done > 0;
        let is_expected = batch > 0 && (done == batch || may_be_fewer && done <= batch);
        if !is_expected {
            let what = format!("{batch} supersteps were enqueued, and {done} are done");
            return Err(StageError::defect(what));
        }
        let change = Change { summed: state.summed, changed: state.changed };
        Ok(LoopProgress { done, change, end })
    }

    /// Enqueues supersteps. The first run launch by launch, for what a first launch sets up, and to
    /// time each launch: whether these were timed.
    fn enqueue_supersteps(
        &mut self,
        steps: Range<usize>,
        number: usize,
        batch: u64,
    ) -> Result<bool, Fault> {
        let part = ((steps.start, steps.end), false);
        let mut left = batch;
        if self.batches.has_frontier {
            self.upload_bound(self.batches.done + batch)?;
            left = left.min(self.batches.whole);
        }
        let visits = self.visits.get(&part).copied().unwrap_or(0);
        for visit in visits..visits.max(2).min(visits + left) {
            if visit == 0 {
                self.launch_superstep(steps.clone(), number)?;
            } else {
                self.time_launches(steps.clone(), false)?;
                self.end_superstep(number)?;
            }
            left -= 1;
            self.visits.insert(part, visit + 1);
        }
        let is_timed = visits < 2 && self.visits.get(&part) == Some(&2);
        if self.batches.has_frontier {
            (0..left).try_for_each(|_| self.launch_superstep(steps.clone(), number))?;
            return Ok(is_timed);
        }
        while left > 0 {
            let together = if left >= GRAPH_SUPERSTEPS { GRAPH_SUPERSTEPS } else { 1 };
            self.record_supersteps(steps.clone(), number, together)?;
            self.gpu.replay(&self.superstep_graphs[&(number, together)])?;
            left -= together;
        }
        Ok(is_timed)
    }

    /// Records so many supersteps as one CUDA graph, if they are not yet.
    fn record_supersteps(
        &mut self,
        steps: Range<usize>,
        number: usize,
        together: u64,
    ) -> Result<(), Fault> {
        let key = (number, together);
        if !self.superstep_graphs.contains_key(&key) {
            let graph = self.gpu.capture(|_| {
                (0..together).try_for_each(|_| self.launch_superstep(steps.clone(), number))
            })?;
            self.superstep_graphs.insert(key, graph);
        }
        Ok(())
    }

    fn launch_superstep(&self, steps: Range<usize>, number: usize) -> Result<(), Fault> {
        self.launch_steps(steps, false)?;
        self.end_superstep(number)
    }

    fn end_superstep(&self, number: usize) -> Result<(), Fault> {
        let [change, commit] = &self.loops[number][..] else {
            unreachable!("the two kernels that end a superstep are planned together")
        };
        self.launch_call(change, false)?;
        match &self.frontiers[number] {
            Some(frontier) if self.batches.has_frontier => self.launch_together(frontier),
            _ => self.launch_call(commit, false),
        }
    }

    /// Where the loop is; waits for what was enqueued.
    pub(super) fn loop_state(&self) -> Result<supersteps::LoopState, StageError> {
        let place = self.layout.argument_range(&Argument::LoopState);
        let place = place.ok_or_else(|| StageError::defect("the plan has no loop on a GPU"))?;
        let mut bytes = [0; supersteps::BYTES];
        self.gpu.download(&self.memory, place.offset, &mut bytes).map_err(device_error)?;
        Ok(supersteps::LoopState::from_bytes(&bytes))
    }
}
