//! backend: the one seam between a run and the device that executes its launch list: allocate
//! (`new` of a backend), put, run a part of the list, replay epochs, fetch.
//!
//! promises  training, iteration, checkpoints and metrics know a device by this file alone; what
//!           launches read and write is in `HostState`, or was copied there by a fetch
//! never     names a device: `cpu` and `cuda` implement it, and `make_backend` chooses
//! limits    what only some devices do is a trait of its own: pipelined epochs, and loops of
//!           supersteps
use std::collections::BTreeMap;

use warploom_contract::{StageError, progress::StopFlag};
use warploom_cpu::{frontier::Run, optimizer::Optimizer};
use warploom_launch::LaunchList;

use crate::{
    host_state::HostState,
    precision::Precision,
    resolved_program::{Part, Pass},
};

// How a device writes what it counts and decides is fixed by the kernels that do it.
pub use warploom_cuda::epoch_clock::{SLOTS as BATCH_EPOCHS_MOST, counts_of_part};
pub use warploom_cuda::supersteps::LoopEnd;
pub use warploom_cuda::training_control::{self, TrainingState};

/// Why the execution ended early.
#[derive(Debug)]
pub enum Halt {
    /// A stop was requested.
    Stopped,
    /// An error.
    Failed(StageError),
}

impl From<StageError> for Halt {
    fn from(error: StageError) -> Self {
        Halt::Failed(error)
    }
}

/// How much a superstep changed the states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Sum of absolute differences of floats.
    pub summed: f64,
    /// Number of elements that differ.
    pub changed: u64,
}

/// Counts of a measuring pass: for each split, in the layout of `counts_of_part`.
pub type Counts = Vec<u32>;

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// What is allocated on the device; none if launches use the memory of the process.
    pub allocated: Option<u64>,
    /// Host memory that is pinned for launches.
    pub pinned: u64,
    /// What the driver took of the device beside it; 0 if unknown.
    pub driver: u64,
}

/// The time of a pass over a list without loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PassTime {
    /// Mean seconds, measured on the device.
    OnDevice(f64),
    /// The host runs the passes and measures each.
    ByHost,
    /// A second pass would not compute the same: sparse features were made dense once.
    NotRepeatable,
}

/// A launch list on a device.
pub trait Backend<T: Precision>: std::fmt::Debug {
    /// What the host has: the list, inputs, buffers and state of the optimisers.
    fn host(&self) -> &HostState<T>;

    /// The same, for writing. Launches see it once it was put.
    fn host_mut(&mut self) -> &mut HostState<T>;

    /// Puts parameters and moments of the host where launches read them.
    fn put_state(&mut self) -> Result<(), StageError>;

    /// The same for the settings of the optimisers.
    fn put_optimizers(&mut self) -> Result<(), StageError>;

    /// Lets the list begin again from its first launch, after the host has changed this input.
    fn begin_again(&mut self, input: Option<&str>) -> Result<(), StageError>;

    /// Runs a part of the list; walks over edges compute only these rows, if given. The last loss
    /// is in `HostState::loss`.
    fn run_rows(
        &mut self,
        part: Part,
        pass: Pass,
        only: Option<&[Run]>,
        stop: &StopFlag,
    ) -> Result<(), Halt>;

    /// Replaces running statistics by their next values.
    fn keep_statistics(&mut self) -> Result<(), StageError>;

    /// Runs one launch on the host, from what the host has: to find where a value came from.
    fn launch_on_host(&mut self, step: usize, pass: Pass);

    /// Fetches parameters and moments.
    fn fetch_state(&mut self) -> Result<(), StageError>;

    /// Fetches the results of the program.
    fn fetch_results(&mut self) -> Result<(), StageError>;

    /// Fetches everything that launches compute and store.
    fn fetch_all(&mut self, list: &LaunchList) -> Result<(), StageError>;

    /// Counts of the last measuring pass; none if metrics are computed from results.
    fn counts(&self) -> Result<Option<Counts>, StageError>;

    /// Whether some launch stores a buffer.
    fn stores_buffer(&self, name: &str) -> bool;

    /// Seconds spent in a step: in total, or of one execution where a device times launches alone.
    fn seconds_of_step(&self, step: usize) -> f64;

    /// Measures so many further passes over a list without loops.
    fn time_passes(&mut self, count: u64) -> Result<PassTime, StageError>;

    /// Memory of the device.
    fn device_memory(&self) -> DeviceMemory;

    /// Epochs that run ahead of the host; none if the host has to run each.
    fn pipelined_epochs(&mut self) -> Option<&mut dyn PipelinedEpochs<T>>;

    /// Loops whose supersteps the host runs one by one; none if the device runs them.
    fn supersteps(&mut self) -> Option<&mut dyn Supersteps<T>>;

    /// Loops whose supersteps run ahead of the host; none if the host has to run each.
    fn device_loops(&mut self) -> Option<&mut dyn DeviceLoops<T>>;

    /// Runs a part of the list.
    fn run(&mut self, part: Part, pass: Pass, stop: &StopFlag) -> Result<(), Halt> {
        self.run_rows(part, pass, None, stop)
    }

    /// Replaces every parameter.
    fn set_parameters(&mut self, parameters: &[Vec<T>]) -> Result<(), StageError> {
        self.host_mut().write_parameters(parameters);
        self.put_state()
    }

    /// Sets the optimiser of each parameter, with zero moments.
    fn set_optimizers(&mut self, optimizers: Vec<Optimizer>) -> Result<(), StageError> {
        self.host_mut().begin_optimizers(optimizers);
        self.put_optimizers()?;
        self.put_state()
    }

    /// Seconds spent in each launch.
    fn seconds_by_launch(&self) -> BTreeMap<String, f64> {
        let steps = self.host().program.steps.iter().enumerate();
        steps.map(|(number, step)| (step.name.clone(), self.seconds_of_step(number))).collect()
    }
}

/// A batch of epochs, each a measurement and an update.
#[derive(Clone, Copy, Debug)]
pub struct EpochBatch<'a> {
    /// Updates before its first epoch.
    pub first: u64,
    /// The learning-rate factor of each epoch, and of the one after them.
    pub paces: &'a [f64],
    /// What the host knows of the decisions between them, if the device decides. If a batch is in
    /// flight, the device's own state counts.
    pub decides_from: Option<&'a TrainingState>,
}

/// What the device reports at the end of a batch.
#[derive(Clone, Debug)]
pub struct BatchReport {
    /// The loss and the counts of each epoch.
    pub measurements: Vec<(f64, Counts)>,
    /// What was decided until its end; none if nothing was to be decided.
    pub decisions: Option<TrainingState>,
}

/// Pipelined epochs: batches of epochs that a device runs ahead of the host, which enqueues the
/// next batch before it reads the one before. Batches are read in their order: "oldest" is the
/// first that was not dropped.
pub trait PipelinedEpochs<T: Precision> {
    /// Whether metrics can decide on the device.
    fn can_decide(&self) -> bool;

    /// Enqueues a batch of at most `BATCH_EPOCHS_MOST` epochs behind those in flight, if any.
    fn enqueue(&mut self, batch: EpochBatch<'_>) -> Result<(), StageError>;

    /// Enqueues a readback of parameters and moments as they are at the end of the newest batch.
    /// False if they have to be fetched instead.
    fn enqueue_state_readback(&mut self) -> Result<bool, StageError>;

    /// Reads the report of the oldest batch; waits for its end.
    fn read_report(&self) -> Result<BatchReport, StageError>;

    /// Reads the parameters that the device kept until the end of the oldest batch.
    fn read_kept_parameters(&self) -> Result<Vec<Vec<T>>, StageError>;

    /// Fetches parameters and moments as read back with the oldest batch.
    fn fetch_batch_state(&mut self) -> Result<(), StageError>;

    /// Drops the oldest batch.
    fn drop_oldest(&mut self);
}

/// What supersteps that ran ahead of the host came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopProgress {
    /// Supersteps that were done.
    pub done: u64,
    /// What the last of them changed.
    pub change: Change,
    /// Why the loop has ended, if it has.
    pub end: LoopEnd,
}

/// The loops of a list, whose conditions the device tests.
pub trait DeviceLoops<T: Precision> {
    /// Puts the states of a loop of the host where launches read them.
    fn put_states(&mut self, number: usize) -> Result<(), StageError>;

    /// Runs a loop by the algorithm that replaces its supersteps: gives its rounds; none where it
    /// has none that applies.
    fn run_shortcut(&mut self, number: usize) -> Result<Option<u64>, StageError>;

    /// Whether few vertices have supersteps of their own.
    fn has_frontier(&mut self, number: usize) -> Result<bool, StageError>;

    /// Begins a loop.
    fn begin_loop(&mut self, number: usize) -> Result<(), StageError>;

    /// Runs further supersteps of it: until it has ended, at most so many, and fewer where they
    /// take long.
    fn run_supersteps(&mut self, number: usize, most: u64) -> Result<LoopProgress, StageError>;

    /// Fetches the states of this loop and of all before it.
    fn fetch_states(&mut self, number: usize) -> Result<(), StageError>;

    /// Fetches what a superstep of this loop reads and does not make: buffers that are all in use
    /// at its start. Others may have had the same memory.
    fn fetch_superstep_inputs(
        &mut self,
        list: &LaunchList,
        number: usize,
    ) -> Result<(), StageError>;
}

/// The loops of a list, superstep by superstep.
pub trait Supersteps<T: Precision> {
    /// The change between the watched states of a loop and their successors, or the number of
    /// active vertices. Rows that were not computed have not changed.
    fn measure_change(&self, number: usize, only: Option<&[Run]>) -> Change;

    /// Replaces the states by their successors.
    fn commit(&mut self, number: usize);

    /// Runs a loop by the shortcut algorithm of its plan: gives its name and rounds. None where it
    /// does not apply; `Some(None)` where it was stopped.
    fn run_shortcut(
        &mut self,
        number: usize,
        stop: &StopFlag,
    ) -> Option<Option<(&'static str, u64)>>;
}
