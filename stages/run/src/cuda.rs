//! cuda: executes a launch list on a GPU, with the kernels of its plan.
//!
//! promises  all device memory is one allocation, of the size that the plan predicted, except input
//!           rows that the plan leaves in pinned host memory; a part of the list, or 16 supersteps,
//!           are one CUDA graph; the same bits on every run; an error of the device says what was
//!           attempted
//! never     adds up in varying order; copies results of launches to the host before they are asked
//!           for, except measurements of epochs (`pipelined_epochs`)
mod backend;
mod compile;
mod graph_branches;
mod kernel_arguments;
mod pipelined_epochs;
mod shortcuts;
mod supersteps;

use std::collections::BTreeMap;

use warploom_contract::kinds::plan::{self, OnHost, Plan};
use warploom_contract::{Context, ErrorKind, StageError, progress::Phase};
use warploom_cpu::optimizer::Optimizer;
use warploom_cuda::epoch_clock::{OPTIMIZER, PARTS, counts_of_part};
use warploom_cuda::{Argument, Emitted, Kernel as PlannedKernel, loss_of};
use warploom_device::gpu::{ArgumentValue, Graph, Grid, Kernel, Memory, Module, Pinned};
use warploom_device::{Facts, Fault, Gpu};
use warploom_ir::{Input, Loss, Op};
use warploom_launch::{Buffer, BufferName, LaunchList, Operation, Role, parameter_buffer};
use warploom_shell::{
    cubin_cache::CubinOrigin,
    device_errors::{ON_CPU, ON_HOST, is_memory_error},
    machine_limits::{memory_option, show_size},
    memory_budget,
};

use crate::{
    backend::Counts,
    buffers::{Buffers, Place},
    host_state::HostState,
    inputs::input_data::Data,
    precision::Precision,
    resolved_program::{Part, Pass, ResolvedProgram, row_count},
    training::optimizers::Moments,
};

pub use backend::CudaBackend;
use kernel_arguments::{Layout, MemorySpace};
use pipelined_epochs::{BatchInFlight, ReadbackBuffers};
pub use warploom_shell::device_errors::device_error;

/// What the plan decides about a list on a GPU.
#[derive(Clone, Copy, Debug)]
pub struct GpuPlan<'a> {
    /// The GPU.
    pub facts: &'a Facts,
    /// Its kernels, and how they are launched.
    pub kernels: &'a Emitted,
    /// The buffers that stay on the host.
    pub host: Option<&'a OnHost>,
}

/// A launch list on a GPU.
pub struct GpuExecutor {
    gpu: Gpu,
    memory: Memory,
    /// Free memory of the device when it was opened.
    bytes_free: Option<u64>,
    /// Buffers that stay on the host, for as long as launches read them.
    pinned: Option<Pinned>,
    layout: Layout,
    kernels: Vec<Kernel>,
    /// The calls of each step: kernel, grid, and arguments of training and measuring passes.
    calls: Vec<Vec<KernelCall>>,
    /// What each step waits for in the graph of an epoch.
    branch_roles: Vec<graph_branches::BranchRole>,
    /// The calls that store a measurement and advance the epoch clock.
    clockwork: Vec<KernelCall>,
    /// The calls that decide by a measurement.
    watch: Vec<KernelCall>,
    /// The calls that end a superstep of each loop.
    loops: Vec<Vec<KernelCall>>,
    /// The calls that replace the supersteps of each loop, if it has such.
    shortcuts: Vec<Option<shortcuts::ShortcutCalls>>,
    /// The calls for supersteps of few vertices of each loop, if it has such.
    frontiers: Vec<Option<shortcuts::ShortcutCalls>>,
    /// CUDA graphs of supersteps, by loop and number of supersteps.
    superstep_graphs: BTreeMap<(usize, u64), Graph>,
    /// The batches of the current loop.
    batches: supersteps::LoopBatches,
    /// CUDA graphs of epochs (measurement and update), by number of epochs and whether something is
    /// decided between them.
    epochs: BTreeMap<(usize, bool), Graph>,
    readback: ReadbackBuffers,
    graphs: BTreeMap<(StepRange, bool), Graph>,
    visits: BTreeMap<(StepRange, bool), u64>,
    seconds_by_step: BTreeMap<usize, f64>,
    /// Sparse features as dense rows, by the step that stores them: uploaded once.
    dense: BTreeMap<usize, (String, Vec<u8>)>,
    has_dense_copies: bool,
    /// Buffers that no kernel stores.
    unstored: Vec<BufferName>,
    kind: Loss,
    columns: usize,
    /// Whether the cubin was compiled or found.
    pub compiled: CubinOrigin,
}

/// How often a launch that is timed alone is recorded in one graph, so that the cost of starting
/// the graph is small.
const AT_ONCE: u64 = 20;

/// Timed replays of that graph.
const REPLAYS: u64 = 3;

/// The first step of a part, and the end.
type StepRange = (usize, usize);

/// A kernel with its grid and arguments.
struct KernelCall {
    kernel: usize,
    grid: Grid,
    training: Vec<ArgumentValue>,
    measuring: Vec<ArgumentValue>,
}

/// Opens the device, which creates its context.
fn open_gpu(context: &Context, facts: &Facts) -> Result<Gpu, StageError> {
    let _opening = Phase::begin(context.progress, "opening the GPU", 0, "steps");
    Gpu::open(facts.ordinal).map_err(device_error)
}

impl GpuExecutor {
    /// Compiles the list, and uploads all inputs.
    pub fn new<T: Precision>(
        context: &Context,
        list: &LaunchList,
        planned: GpuPlan,
        program: &ResolvedProgram<T>,
        buffers: &Buffers<T>,
        data: &Data<T>,
        seed: u64,
    ) -> Result<Self, StageError> {
        let gpu = open_gpu(context, planned.facts)?;
        let bytes_free = gpu.facts().memory_free_bytes;
        let emitted = &planned.kernels.plan;
        let (module, compiled) = compile::load_code(context, &gpu, &planned.kernels.source)?;
        let lists = kernel_arguments::find_walked_lists(list, emitted, data)?;
        kernel_arguments::check_tiers(emitted, &lists)?;
        let layout =
            Layout::new::<T>(list, emitted, planned.host.map_or(&[], |host| &host.buffers), data)?;
        let pinned = pin_features(context, &gpu, &layout, planned.host)?;
        let memory = gpu.allocate(layout.bytes).map_err(device_error)?;
        let (kind, columns) = loss_of(list).unwrap_or((Loss::CrossEntropy, 0));
        let bases = [memory.pointer(), pinned.as_ref().map_or(0, Pinned::pointer)];
        let bound = kernel_arguments::BoundArguments {
            layout: &layout,
            bases,
            data,
            tiers: &emitted.tiers,
            seed,
        };
        let mut kernels = Kernels { module: &module, kernels: Vec::new(), known: BTreeMap::new() };
        let mut all_of = |lists: &[Vec<PlannedKernel>]| kernels.bind_all(lists, &bound);
        let (calls, loops) = (all_of(&emitted.launches)?, all_of(&emitted.loops)?);
        let shortcuts =
            shortcuts::from_calls(all_of(&emitted.shortcuts)?, &emitted.shortcuts, &layout);
        let frontiers =
            shortcuts::from_calls(all_of(&emitted.frontiers)?, &emitted.frontiers, &layout);
        let branch_roles = graph_branches::branch_roles(emitted, &layout);
        let clockwork = kernels.bind_calls(&emitted.clockwork, &bound)?;
        let watch = kernels.bind_calls(&emitted.watch, &bound)?;
        let dense = dense_feature_rows(list, &layout, data);
        let mut executor = GpuExecutor {
            gpu,
            memory,
            bytes_free,
            pinned,
            layout,
            kernels: kernels.kernels,
            calls,
            branch_roles,
            clockwork,
            watch,
            loops,
            shortcuts,
            frontiers,
            superstep_graphs: BTreeMap::new(),
            batches: supersteps::LoopBatches::default(),
            epochs: BTreeMap::new(),
            readback: ReadbackBuffers::default(),
            graphs: BTreeMap::new(),
            visits: BTreeMap::new(),
            seconds_by_step: BTreeMap::new(),
            dense,
            has_dense_copies: false,
            unstored: emitted.unmade.clone(),
            kind,
            columns: columns as usize,
            compiled,
        };
        executor.upload_inputs(context, list, program, buffers, data, &lists)?;
        Ok(executor)
    }

    /// Uploads what launches read and no launch computes, and waits for it.
    fn upload_inputs<T: Precision>(
        &mut self,
        context: &Context,
        list: &LaunchList,
        program: &ResolvedProgram<T>,
        buffers: &Buffers<T>,
        data: &Data<T>,
        lists: &kernel_arguments::Lists,
    ) -> Result<(), StageError> {
        let _copying = Phase::begin(context.progress, "copying inputs", 0, "steps");
        // In a debug build, memory starts as NaN, so that reads of unwritten values show.
        let unwritten = if cfg!(debug_assertions) { 0xff } else { 0 };
        self.gpu.fill(&self.memory, 0, self.layout.bytes, unwritten).map_err(device_error)?;
        for buffer in list.buffers.iter().filter(|buffer| is_input(buffer)) {
            if let Some(place) = program.places.get(&buffer.name) {
                self.upload_buffer(&buffer.name, buffers, *place)?;
                self.copy_to_pinned(&buffer.name, buffers, *place)?;
            }
        }
        for (argument, place) in self.layout.argument_ranges() {
            if let Some(bytes) =
                kernel_arguments::initial_bytes(argument, data, list, program, buffers, lists)
            {
                if bytes.len() as u64 > place.bytes {
                    return Err(StageError::defect(format!(
                        "{argument:?} has {} bytes, and its range {}",
                        bytes.len(),
                        place.bytes
                    )));
                }
                self.gpu.upload(&self.memory, place.offset, &bytes).map_err(device_error)?;
            }
        }
        self.wait()
    }

    /// Runs a part of the list.
    pub fn run(
        &mut self,
        steps: std::ops::Range<usize>,
        part: Part,
        pass: Pass,
        pace: f64,
    ) -> Result<(), StageError> {
        if steps.is_empty() {
            return Ok(());
        }
        if let Some(place) = self.layout.argument_range(&Argument::Clock) {
            self.gpu
                .upload(&self.memory, place.offset, &clock_bytes(pass.epoch, pace))
                .map_err(device_error)?;
        }
        let key = ((steps.start, steps.end), pass.training);
        let visits = self.visits.entry(key).or_default();
        *visits += 1;
        let visits = *visits;
        for step in steps.clone() {
            if let Some((name, bytes)) = self.dense.remove(&step)
                && let Some(at) = self.layout.buffer(&name)
            {
                self.gpu.upload(&self.memory, at.place.offset, &bytes).map_err(device_error)?;
                self.has_dense_copies = true;
            }
        }
        if part == Part::Prepare || part == Part::Finish {
            return self.launch_steps(steps, pass.training).map_err(device_error);
        }
        // The first time launches run one by one, for what a first launch sets up; the second time
        // each launch is timed; then all are replayed as one graph.
        if visits == 1 {
            return self.launch_steps(steps, pass.training).map_err(device_error);
        }
        if visits == 2 {
            return self.time_launches(steps, pass.training).map_err(device_error);
        }
        if !self.graphs.contains_key(&key) {
            let graph = self
                .gpu
                .capture(|_| self.launch_steps(steps, pass.training))
                .map_err(device_error)?;
            self.graphs.insert(key, graph);
        }
        self.gpu.replay(&self.graphs[&key]).map_err(device_error)
    }

    /// Runs launches step by step, and times each.
    fn time_launches(
        &mut self,
        steps: std::ops::Range<usize>,
        training: bool,
    ) -> Result<(), Fault> {
        let events: Vec<_> =
            (0..=steps.len()).map(|_| self.gpu.event()).collect::<Result<_, _>>()?;
        self.gpu.record(&events[0])?;
        for (step, event) in steps.clone().zip(&events[1..]) {
            self.launch_steps(step..step + 1, training)?;
            self.gpu.record(event)?;
        }
        self.gpu.wait()?;
        for (step, pair) in steps.zip(events.windows(2)) {
            self.seconds_by_step.insert(step, self.gpu.elapsed_ms(&pair[0], &pair[1])? / 1e3);
        }
        Ok(())
    }

    /// Whether sparse features were stored as dense rows. This happens once, and later values may
    /// use the same memory, so that only the first pass can read them.
    pub fn has_dense_copies(&self) -> bool {
        self.has_dense_copies
    }

    /// Refuses to run the list again where it makes sparse features dense, which happens once.
    pub fn refuse_second_pass(&self) -> Result<(), StageError> {
        if self.dense.is_empty() && !self.has_dense_copies {
            return Ok(());
        }
        let what = "a program that makes sparse features dense runs once on a GPU, and \
                    `run.sources` runs it from each vertex";
        Err(StageError::new(ErrorKind::Specification, what)
            .at("run.sources")
            .hint("run it on  --device cpu  , or make a run of each vertex"))
    }

    /// Seconds of one of so many passes, replayed as one graph. Before, each launch is timed alone;
    /// the replays of the whole then compute the results again.
    pub fn time_passes(
        &mut self,
        steps: std::ops::Range<usize>,
        count: u64,
    ) -> Result<f64, StageError> {
        for step in steps.clone().filter(|step| !self.calls[*step].is_empty()) {
            let seconds =
                self.time_repeats(step..step + 1, AT_ONCE, REPLAYS).map_err(device_error)?;
            self.seconds_by_step.insert(step, seconds);
        }
        self.time_repeats(steps, 1, count).map_err(device_error)
    }

    /// Mean seconds of these launches, recorded so often in one graph, over so many replays after a
    /// first one that is not timed.
    fn time_repeats(
        &self,
        steps: std::ops::Range<usize>,
        recorded: u64,
        replays: u64,
    ) -> Result<f64, Fault> {
        let graph = self
            .gpu
            .capture(|_| (0..recorded).try_for_each(|_| self.launch_steps(steps.clone(), false)))?;
        let (from, to) = (self.gpu.event()?, self.gpu.event()?);
        self.gpu.replay(&graph)?;
        self.gpu.record(&from)?;
        (0..replays).try_for_each(|_| self.gpu.replay(&graph))?;
        self.gpu.record(&to)?;
        Ok(self.gpu.elapsed_ms(&from, &to)? / 1e3 / (recorded * replays) as f64)
    }

    /// Running statistics, and their next values.
    fn statistics<T: Precision>(
        &self,
        program: &ResolvedProgram<T>,
    ) -> Vec<(kernel_arguments::ByteRange, kernel_arguments::ByteRange)> {
        let place = |wanted: usize| {
            let (name, _) =
                program.places.iter().find(|(_, place)| **place == Place::Real(wanted))?;
            self.layout.buffer(name).map(|at| at.place)
        };
        program
            .statistics
            .iter()
            .filter_map(|&(kept, next)| Some((place(kept)?, place(next)?)))
            .collect()
    }

    /// Replaces running statistics by their next values.
    pub fn keep_statistics<T: Precision>(
        &self,
        program: &ResolvedProgram<T>,
    ) -> Result<(), StageError> {
        for (kept, next) in self.statistics(program) {
            self.gpu
                .copy(&self.memory, next.offset, &self.memory, kept.offset, kept.bytes)
                .map_err(device_error)?;
        }
        Ok(())
    }

    fn launch_call(&self, call: &KernelCall, training: bool) -> Result<(), Fault> {
        self.gpu.launch(
            &self.kernels[call.kernel],
            call.grid,
            if training { &call.training } else { &call.measuring },
        )
    }

    /// Seconds of one launch, for each step that was timed.
    pub fn seconds_by_step(&self) -> &BTreeMap<usize, f64> {
        &self.seconds_by_step
    }

    fn launch_steps(&self, steps: std::ops::Range<usize>, training: bool) -> Result<(), Fault> {
        if !training && steps.clone().any(|step| self.is_counting_step(step)) {
            self.reset_counts()?;
        }
        self.launch_without_reset(steps, training)
    }

    /// The same, without a reset of the counts.
    fn launch_without_reset(
        &self,
        steps: std::ops::Range<usize>,
        training: bool,
    ) -> Result<(), Fault> {
        self.calls[steps].iter().flatten().try_for_each(|call| self.launch_call(call, training))
    }

    /// Sets the counts of measurements to 0.
    fn reset_counts(&self) -> Result<(), Fault> {
        let Some(place) = self.layout.argument_range(&Argument::Measures) else { return Ok(()) };
        self.gpu.fill(&self.memory, place.offset, place.bytes, 0)
    }

    /// Whether a step counts correct answers.
    fn is_counting_step(&self, step: usize) -> bool {
        let Some(place) = self.layout.argument_range(&Argument::Measures) else { return false };
        let pointer = ArgumentValue::Pointer(self.memory.pointer() + place.offset);
        self.calls[step].iter().any(|call| call.measuring.contains(&pointer))
    }

    /// The loss of the last pass, before it is rounded.
    pub fn loss(&self) -> Result<f64, StageError> {
        let Some(place) = self.layout.argument_range(&Argument::ExactLoss) else {
            return Ok(f64::NAN);
        };
        let mut bytes = [0; 8];
        self.gpu.download(&self.memory, place.offset, &mut bytes).map_err(device_error)?;
        Ok(f64::from_le_bytes(bytes))
    }

    /// The counts of the last measuring pass.
    pub fn counts(&self) -> Result<Counts, StageError> {
        let mut counts = vec![0u32; PARTS * counts_of_part(self.kind, self.columns as u64)];
        if let Some(place) = self.layout.argument_range(&Argument::Measures) {
            self.gpu
                .download(&self.memory, place.offset, bytemuck::cast_slice_mut(&mut counts))
                .map_err(device_error)?;
        }
        Ok(counts)
    }

    /// Copies a buffer that stays on the host into pinned memory.
    fn copy_to_pinned<T: Precision>(
        &mut self,
        name: &str,
        buffers: &Buffers<T>,
        place: Place,
    ) -> Result<(), StageError> {
        let at = self.layout.buffer(name).filter(|at| at.side == MemorySpace::Host);
        let (Some(at), Some(pinned), Place::Real(index)) = (at, &mut self.pinned, place) else {
            return Ok(());
        };
        at.write_padded(
            pinned.contents().map_err(device_error)?,
            buffers.read_banks().reals.get(index),
        )
    }

    /// Copies a buffer to the device, if it is resident there.
    pub fn upload_buffer<T: Precision>(
        &self,
        name: &str,
        buffers: &Buffers<T>,
        place: Place,
    ) -> Result<(), StageError> {
        let Some(at) = self.layout.buffer(name).filter(|at| at.side == MemorySpace::Device) else {
            return Ok(());
        };
        let banks = buffers.read_banks();
        let done = match place {
            Place::Real(index) => at.upload(&self.gpu, &self.memory, banks.reals.get(index)),
            Place::Whole(index) => {
                at.upload_wholes(&self.gpu, &self.memory, banks.wholes.get(index))
            }
            Place::Half(..) | Place::Sparse(_) => Ok(()),
        };
        done.map_err(device_error)
    }

    /// Whether some kernel stores a buffer.
    pub fn stores_buffer(&self, name: &str) -> bool {
        !self.unstored.iter().any(|unstored| unstored == name)
    }

    /// Copies a buffer from the device, if it is resident there: launches never write what stays on
    /// the host.
    pub fn download_buffer<T: Precision>(
        &self,
        name: &str,
        buffers: &mut Buffers<T>,
        place: Place,
    ) -> Result<(), StageError> {
        self.read_buffer(name, buffers, place, |from, bytes| {
            self.gpu.download(&self.memory, from.offset, bytes).map_err(device_error)
        })
    }

    fn read_buffer<T: Precision>(
        &self,
        name: &str,
        buffers: &mut Buffers<T>,
        place: Place,
        read: impl FnOnce(kernel_arguments::ByteRange, &mut [u8]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        let Some(at) = self.layout.buffer(name).filter(|at| at.side == MemorySpace::Device) else {
            return Ok(());
        };
        let get = |bytes: &mut [u8]| read(at.place, bytes);
        match place {
            Place::Real(index) => buffers.write_real(index, |made, _| at.read_unpadded(made, get)),
            Place::Whole(index) => buffers.write_whole(index, |made, _| at.read_wholes(made, get)),
            Place::Half(..) | Place::Sparse(_) => Ok(()),
        }
    }

    /// Copies moments to the device.
    pub fn upload_moments<T: Precision>(&self, moments: &[Moments<T>]) -> Result<(), StageError> {
        for (number, Moments { first, second }) in moments.iter().enumerate() {
            for (which, values) in [(1, first), (2, second)] {
                if let Some(place) = self.layout.argument_range(&Argument::Moment(number, which)) {
                    self.gpu
                        .upload(&self.memory, place.offset, bytemuck::cast_slice(values))
                        .map_err(device_error)?;
                }
            }
        }
        Ok(())
    }

    /// Copies parameters and moments from the device: the current ones, or those read back with a
    /// batch.
    pub fn download_state<T: Precision>(
        &self,
        HostState { program, buffers, moments, .. }: &mut HostState<T>,
        batch: Option<&BatchInFlight>,
    ) -> Result<(), StageError> {
        let read = |from: kernel_arguments::ByteRange, bytes: &mut [u8]| {
            self.read_state(batch, from, bytes)
        };
        for learned in &program.parameters {
            self.read_buffer(
                &parameter_buffer(&learned.name),
                buffers,
                Place::Real(learned.buffer),
                read,
            )?;
        }
        for (number, Moments { first, second }) in moments.iter_mut().enumerate() {
            for (which, values) in [(1, first), (2, second)] {
                if let Some(place) = self.layout.argument_range(&Argument::Moment(number, which)) {
                    read(place, bytemuck::cast_slice_mut(values))?;
                }
            }
        }
        Ok(())
    }

    /// Whether metrics can decide on the device.
    pub fn can_decide(&self) -> bool {
        !self.watch.is_empty()
    }

    /// Uploads the settings of each parameter's optimiser.
    pub fn upload_optimizers(&self, optimizers: &[Optimizer]) -> Result<(), StageError> {
        for (number, optimizer) in optimizers.iter().enumerate() {
            let settings: [f64; OPTIMIZER] = match optimizer {
                Optimizer::Sgd { rate, momentum, weight_decay } => [
                    f64::from(u8::from(*momentum != 0.0)),
                    *rate,
                    *momentum,
                    0.0,
                    0.0,
                    *weight_decay,
                ],
                Optimizer::Adam(adam) => [
                    2.0,
                    adam.rate,
                    adam.beta_first,
                    adam.beta_second,
                    adam.epsilon,
                    adam.weight_decay,
                ],
                Optimizer::AdamW(adam) => [
                    3.0,
                    adam.rate,
                    adam.beta_first,
                    adam.beta_second,
                    adam.epsilon,
                    adam.weight_decay,
                ],
            };
            if let Some(place) = self.layout.argument_range(&Argument::Optimizer(number)) {
                self.gpu
                    .upload(&self.memory, place.offset, bytemuck::cast_slice(&settings))
                    .map_err(device_error)?;
            }
        }
        Ok(())
    }

    /// Waits for all enqueued work.
    pub fn wait(&self) -> Result<(), StageError> {
        self.gpu.wait().map_err(device_error)
    }

    /// Bytes of device memory that are allocated.
    pub fn device_bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// Bytes of device memory that were free when it was opened and no longer are, as the driver
    /// says; 0 if unknown.
    pub fn bytes_taken(&self) -> u64 {
        let free = self.gpu.facts().memory_free_bytes;
        self.bytes_free.zip(free).map_or(0, |(first, now)| first.saturating_sub(now))
    }

    /// Bytes of pinned host memory that kernels read.
    pub fn bytes_pinned(&self) -> u64 {
        self.pinned.as_ref().map_or(0, Pinned::bytes)
    }

    /// Facts of the device.
    pub fn facts(&self) -> warploom_device::gpu::Device {
        self.gpu.facts()
    }
}

impl std::fmt::Debug for GpuExecutor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("GpuExecutor")
            .field("bytes", &self.layout.bytes)
            .finish_non_exhaustive()
    }
}

/// Kernels of a module, each looked up once.
struct Kernels<'a> {
    module: &'a Module,
    kernels: Vec<Kernel>,
    known: BTreeMap<String, usize>,
}

impl Kernels<'_> {
    /// Kernels of each launch, or loop, with their arguments.
    fn bind_all<T: Precision>(
        &mut self,
        lists: &[Vec<PlannedKernel>],
        bound: &kernel_arguments::BoundArguments<T>,
    ) -> Result<Vec<Vec<KernelCall>>, StageError> {
        lists.iter().map(|some| self.bind_calls(some, bound)).collect()
    }

    /// Kernels with their arguments.
    fn bind_calls<T: Precision>(
        &mut self,
        some: &[PlannedKernel],
        bound: &kernel_arguments::BoundArguments<T>,
    ) -> Result<Vec<KernelCall>, StageError> {
        some.iter().map(|kernel| self.bind_call(kernel, bound)).collect()
    }

    /// A kernel with its arguments.
    fn bind_call<T: Precision>(
        &mut self,
        kernel: &PlannedKernel,
        bound: &kernel_arguments::BoundArguments<T>,
    ) -> Result<KernelCall, StageError> {
        let place = match self.known.get(&kernel.name) {
            Some(place) => *place,
            None => {
                self.kernels.push(
                    self.module
                        .kernel(&kernel.name, &kernel_arguments::kernel_parameters(kernel))
                        .map_err(device_error)?,
                );
                self.known.insert(kernel.name.clone(), self.kernels.len() - 1);
                self.kernels.len() - 1
            }
        };
        let values = |training: bool| {
            kernel
                .arguments
                .iter()
                .map(|argument| bound.argument_value(argument, training))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(KernelCall {
            kernel: place,
            grid: bound.grid(kernel),
            training: values(true)?,
            measuring: values(false)?,
        })
    }
}

/// Pins host memory for what the plan leaves there, if the host has enough; none if nothing stays.
fn pin_features(
    context: &Context,
    gpu: &Gpu,
    layout: &Layout,
    host: Option<&OnHost>,
) -> Result<Option<Pinned>, StageError> {
    let (found, expected) = (layout.bytes_pinned, host.map_or(0, |host| host.bytes));
    if found != expected {
        return Err(StageError::defect(format!(
            "the plan leaves {expected} bytes on the host, and the graph makes {found}"
        )));
    }
    if found == 0 {
        return Ok(None);
    }
    if found > context.memory {
        let (needs, may) = (show_size(found), show_size(context.memory));
        let what = format!(
            "features that stay on the host need {needs} ({found} bytes) of its memory, and {may} \
             ({} bytes) may be used",
            context.memory
        );
        return Err(StageError::new(ErrorKind::Memory, what)
            .hint(format!("{}, {ELSEWHERE}", memory_option(found))));
    }
    let pinned = gpu.pin(found).map_err(|fault| {
        device_error(Fault { hint: Some(format!("free memory of the host, {ELSEWHERE}")), ..fault })
    })?;
    Ok(Some(pinned))
}

/// Alternatives to pinned memory.
const ELSEWHERE: &str = "take a device that has room for them with  --set plan.features=device  , \
                         or run on  --device cpu";

/// The dense rows of launches that only make sparse features dense.
fn dense_feature_rows<T: Precision>(
    list: &LaunchList,
    layout: &Layout,
    data: &Data<T>,
) -> BTreeMap<usize, (String, Vec<u8>)> {
    let of = |(step, launch): (usize, &warploom_launch::Launch)| {
        let Operation::Evaluate { out, op: Op::Input(input), .. } = &launch.operation else {
            return None;
        };
        let kind = if let Input::FeaturesOf(kind) = input { Some(*kind) } else { None };
        let rows = data.sparse_features(kind)?.to_dense().ok()?;
        Some((step, (out.clone(), layout.buffer(out)?.pad_rows(&rows))))
    };
    list.launches().into_iter().enumerate().filter_map(of).collect()
}

/// The clock of this epoch, as bytes.
fn clock_bytes(epoch: u64, pace: f64) -> Vec<u8> {
    let words = [epoch as u32, epoch as u32 + 1, 0, 0].into_iter().flat_map(u32::to_le_bytes);
    words.chain(pace.to_le_bytes()).collect()
}

/// Whether a buffer is filled before the first launch.
fn is_input(buffer: &Buffer) -> bool {
    matches!(buffer.role, Role::Features | Role::Target | Role::Given(_))
        && !buffer.role.is_sparse()
}

/// Adds the settings that would fit to an error of too little device memory: other processes may
/// use the rest.
pub fn add_fitting_settings(
    error: StageError,
    page: &Plan,
    predicted: &plan::Memory,
    ordinal: usize,
) -> StageError {
    if !is_memory_error(&error) {
        return error;
    }
    let free = Gpu::open(ordinal).ok().and_then(|gpu| gpu.facts().memory_free_bytes);
    // A lack of host memory is reported where it is pinned.
    match free.filter(|free| *free < predicted.bytes_peak) {
        None => error,
        Some(free) if page.host.is_some() => {
            memory_budget::device_memory_error(error, predicted, free, &[ON_CPU])
        }
        Some(free) => {
            memory_budget::device_memory_error(error, predicted, free, &[ON_HOST, ON_CPU])
        }
    }
}

/// The number of rows.
fn count_rows<T: Precision>(rows: warploom_launch::Rows, data: &Data<T>) -> usize {
    row_count(rows, data.nodes, data.edges)
}
