//! backend: a launch list on a GPU, as training and iteration see it.
//!
//! promises  host buffers hold inputs, and what was fetched or put last; batches of epochs are read
//!           in the order in which they were enqueued
//! never     tests the condition of a loop on the host
use std::collections::{BTreeSet, VecDeque};

use warploom_contract::{Context, StageError, progress::StopFlag};
use warploom_cpu::frontier::Run;
use warploom_ir::Op;
use warploom_launch::{Buffer, LaunchList, Operation, Role, parameter_buffer};

use super::{GpuExecutor, GpuPlan, device_error, pipelined_epochs::BatchInFlight};
use crate::{
    backend::{
        Backend, BatchReport, Counts, DeviceLoops, DeviceMemory, EpochBatch, Halt, LoopProgress,
        PassTime, PipelinedEpochs, Supersteps,
    },
    buffers::Place,
    cpu,
    host_state::HostState,
    inputs::input_data::Data,
    precision::Precision,
    resolved_program::{Action, Evaluate, Part, Pass},
};

/// A launch list on a GPU, and what the host has of it.
#[derive(Debug)]
pub struct CudaBackend<T: Precision> {
    /// The host's side.
    pub host: HostState<T>,
    /// Enqueued batches, the oldest first. What the device writes to is dropped before the device.
    in_flight: VecDeque<BatchInFlight>,
    /// The device's side.
    pub device: GpuExecutor,
}

impl<T: Precision> CudaBackend<T> {
    /// Resolves a validated list, compiles it, and uploads its inputs. Features and targets move
    /// from `data` into the buffers of the host.
    pub fn new(
        context: &Context,
        list: &LaunchList,
        data: Data<T>,
        seed: u64,
        planned: GpuPlan,
    ) -> Result<Self, StageError> {
        let host = HostState::new(list, data, seed)?;
        let HostState { program, buffers, data, .. } = &host;
        let device = GpuExecutor::new(context, list, planned, program, buffers, data, seed)?;
        Ok(CudaBackend { host, in_flight: VecDeque::new(), device })
    }
}

fn oldest(in_flight: &VecDeque<BatchInFlight>) -> Result<&BatchInFlight, StageError> {
    in_flight.front().ok_or_else(|| StageError::defect("no batch of epochs is in flight"))
}

impl<T: Precision> Backend<T> for CudaBackend<T> {
    fn host(&self) -> &HostState<T> {
        &self.host
    }

    fn host_mut(&mut self) -> &mut HostState<T> {
        &mut self.host
    }

    fn put_state(&mut self) -> Result<(), StageError> {
        for learned in &self.host.program.parameters {
            self.device.upload_buffer(
                &parameter_buffer(&learned.name),
                &self.host.buffers,
                Place::Real(learned.buffer),
            )?;
        }
        self.device.upload_moments(&self.host.moments)
    }

    fn put_optimizers(&mut self) -> Result<(), StageError> {
        self.device.upload_optimizers(&self.host.optimizers)
    }

    fn begin_again(&mut self, input: Option<&str>) -> Result<(), StageError> {
        self.device.refuse_second_pass()?;
        let HostState { program, buffers, .. } = &self.host;
        match input.and_then(|name| Some((name, *program.places.get(name)?))) {
            Some((name, place)) => self.device.upload_buffer(name, buffers, place),
            None => Ok(()),
        }
    }

    fn run_rows(
        &mut self,
        part: Part,
        pass: Pass,
        _: Option<&[Run]>,
        stop: &StopFlag,
    ) -> Result<(), Halt> {
        if stop.is_set() {
            return Err(Halt::Stopped);
        }
        self.device.run(self.host.program.part(part), part, pass, self.host.pace)?;
        if part == Part::Loss {
            self.host.loss = self.device.loss()?;
        }
        // What follows is no work of the device: the time until here is that of the whole.
        if part == Part::Finish {
            self.device.wait()?;
        }
        Ok(())
    }

    fn keep_statistics(&mut self) -> Result<(), StageError> {
        self.device.keep_statistics(&self.host.program)
    }

    fn launch_on_host(&mut self, step: usize, pass: Pass) {
        // A count of the graph alone, for which the host may have no lists.
        if let Some(out) = counted_neighbours(&self.host, step) {
            return self.fetch_counted(step, out);
        }
        self.host.data.build_host_lists();
        cpu::launch(&mut self.host, step, pass, None);
    }

    fn fetch_state(&mut self) -> Result<(), StageError> {
        self.device.download_state(&mut self.host, None)
    }

    fn fetch_results(&mut self) -> Result<(), StageError> {
        for (name, place) in &self.host.program.places {
            if self.host.program.results.iter().any(|result| result.place == *place) {
                self.device.download_buffer(name, &mut self.host.buffers, *place)?;
            }
        }
        Ok(())
    }

    fn fetch_all(&mut self, list: &LaunchList) -> Result<(), StageError> {
        let is_made = |buffer: &&Buffer| {
            matches!(buffer.role, Role::Value | Role::Parameter | Role::Gradient)
        };
        for buffer in list.buffers.iter().filter(is_made) {
            if let Some(place) = self.host.program.places.get(&buffer.name) {
                self.device.download_buffer(&buffer.name, &mut self.host.buffers, *place)?;
            }
        }
        Ok(())
    }

    fn counts(&self) -> Result<Option<Counts>, StageError> {
        self.device.counts().map(Some)
    }

    fn stores_buffer(&self, name: &str) -> bool {
        self.device.stores_buffer(name)
    }

    fn seconds_of_step(&self, step: usize) -> f64 {
        self.device.seconds_by_step().get(&step).copied().unwrap_or(0.0)
    }

    fn time_passes(&mut self, count: u64) -> Result<PassTime, StageError> {
        if self.device.has_dense_copies() {
            return Ok(PassTime::NotRepeatable);
        }
        let steps = self.host.program.part(Part::Finish);
        self.device.time_passes(steps, count).map(PassTime::OnDevice)
    }

    fn device_memory(&self) -> DeviceMemory {
        DeviceMemory {
            allocated: Some(self.device.device_bytes()),
            pinned: self.device.bytes_pinned(),
            driver: self.device.bytes_taken(),
        }
    }

    fn pipelined_epochs(&mut self) -> Option<&mut dyn PipelinedEpochs<T>> {
        Some(self)
    }

    fn supersteps(&mut self) -> Option<&mut dyn Supersteps<T>> {
        None
    }

    fn device_loops(&mut self) -> Option<&mut dyn DeviceLoops<T>> {
        Some(self)
    }
}

impl<T: Precision> CudaBackend<T> {
    /// Runs a launch again on the device, and fetches what it wrote. Where the device fails, the
    /// host keeps what it has: somebody explains an error already.
    fn fetch_counted(&mut self, step: usize, out: Place) {
        let named = self.host.program.places.iter().find(|(_, place)| **place == out);
        let Some(name) = named.map(|(name, _)| name.clone()) else { return };
        let launched = self.device.launch_steps(step..step + 1, false).map_err(device_error);
        let fetched =
            launched.and_then(|()| self.device.download_buffer(&name, &mut self.host.buffers, out));
        drop(fetched);
    }
}

/// Where a launch writes that counts common neighbours.
fn counted_neighbours<T: Precision>(host: &HostState<T>, step: usize) -> Option<Place> {
    match &host.program.steps[step].action {
        Action::Evaluate(Evaluate {
            out,
            op: Op::CommonNeighbors | Op::CommonNeighborsSum(_),
            ..
        }) => Some(*out),
        _ => None,
    }
}

impl<T: Precision> DeviceLoops<T> for CudaBackend<T> {
    fn put_states(&mut self, number: usize) -> Result<(), StageError> {
        for (name, place) in state_buffers(&self.host, number) {
            self.device.upload_buffer(&name, &self.host.buffers, place)?;
        }
        Ok(())
    }

    fn run_shortcut(&mut self, number: usize) -> Result<Option<u64>, StageError> {
        self.device.run_shortcut(number)
    }

    fn has_frontier(&mut self, number: usize) -> Result<bool, StageError> {
        self.device.has_frontier(number)
    }

    fn begin_loop(&mut self, number: usize) -> Result<(), StageError> {
        self.device.begin_loop(number)
    }

    fn run_supersteps(&mut self, number: usize, most: u64) -> Result<LoopProgress, StageError> {
        let steps = self.host.program.part(Part::Superstep(number));
        self.device.run_supersteps(steps, number, most)
    }

    fn fetch_states(&mut self, number: usize) -> Result<(), StageError> {
        for of_loop in 0..=number {
            for (name, place) in state_buffers(&self.host, of_loop) {
                self.device.download_buffer(&name, &mut self.host.buffers, place)?;
            }
        }
        Ok(())
    }

    fn fetch_superstep_inputs(
        &mut self,
        list: &LaunchList,
        number: usize,
    ) -> Result<(), StageError> {
        self.fetch_states(number)?;
        let is_made = |name: &String| {
            list.buffers.iter().any(|buffer| buffer.name == *name && buffer.role == Role::Value)
        };
        for name in superstep_inputs(list, number).into_iter().filter(is_made) {
            if let Some(place) = self.host.program.places.get(&name).copied() {
                self.device.download_buffer(&name, &mut self.host.buffers, place)?;
            }
        }
        Ok(())
    }
}

/// What a superstep of a loop reads and does not make.
fn superstep_inputs(list: &LaunchList, number: usize) -> BTreeSet<String> {
    let superstep = || list.loops()[number].superstep.iter().map(|launch| &launch.operation);
    let made: BTreeSet<_> = superstep().flat_map(Operation::writes).collect();
    let read = superstep().flat_map(Operation::reads).filter(|name| !made.contains(name));
    read.map(|name| name.into_owned()).collect()
}

/// The states of a loop: their names, and where the host has them.
fn state_buffers<T: Precision>(host: &HostState<T>, number: usize) -> Vec<(String, Place)> {
    let commits = &host.program.loops[number].commits;
    let is_state = |place: &Place| commits.iter().any(|(state, _)| state == place);
    let places = host.program.places.iter().filter(|(_, place)| is_state(place));
    places.map(|(name, place)| (name.clone(), *place)).collect()
}

impl<T: Precision> PipelinedEpochs<T> for CudaBackend<T> {
    fn can_decide(&self) -> bool {
        self.device.can_decide()
    }

    fn enqueue(&mut self, batch: EpochBatch<'_>) -> Result<(), StageError> {
        let is_behind = !self.in_flight.is_empty();
        let enqueued = self.device.enqueue_epochs(&self.host.program, batch, is_behind)?;
        self.in_flight.push_back(enqueued);
        Ok(())
    }

    fn enqueue_state_readback(&mut self) -> Result<bool, StageError> {
        match self.in_flight.back_mut() {
            Some(newest) => self.device.enqueue_state_readback(&self.host.program, newest),
            None => Ok(false),
        }
    }

    fn read_report(&self) -> Result<BatchReport, StageError> {
        let batch = oldest(&self.in_flight)?;
        Ok(BatchReport {
            measurements: self.device.read_measurements(batch)?,
            decisions: self.device.read_decisions(batch)?,
        })
    }

    fn read_kept_parameters(&self) -> Result<Vec<Vec<T>>, StageError> {
        let (reals, learned) = (self.host.buffers.reals(), &self.host.program.parameters);
        let counts: Vec<usize> =
            learned.iter().map(|learned| reals.get(learned.buffer).len()).collect();
        self.device.read_kept_parameters(oldest(&self.in_flight)?, &counts)
    }

    fn fetch_batch_state(&mut self) -> Result<(), StageError> {
        self.device.download_state(&mut self.host, Some(oldest(&self.in_flight)?))
    }

    fn drop_oldest(&mut self) {
        if let Some(batch) = self.in_flight.pop_front() {
            self.device.recycle_batch(batch);
        }
    }
}
