//! executor: runs a resolved launch list on the CPU, one operation for each launch, or hands it to
//! a GPU.
//!
//! promises  the same bits for any number of threads, on every run; a stop is honoured between two
//!           launches; the optimiser runs for all parameters or for none
//! never     chooses anything: the plan has order, operations and division of the work; looks up a
//!           name while it runs
//! limits    a stop waits for the current launch, the longest of which reads every edge once
mod fused_launch;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use arrow_buffer::ArrowNativeType;
use warploom_contract::{ErrorKind, StageError, progress::StopFlag};
use warploom_ops::convergence::{changed_count, sum_changes, summed_change, whole_change};
use warploom_ops::elementwise::elementwise;
use warploom_ops::evaluate::{Call, Leaf, Part as Operand, Values, ValuesMut, evaluate};
use warploom_ops::frontier::Run;
use warploom_ops::loss::{Loss, loss};
use warploom_ops::neighbour_reduce::{NeighbourReduce, neighbour_reduce};
use warploom_ops::optimizer::{Learned, Optimizer, optimize};
use warploom_ops::product::{Product, RightLayout, product};
use warploom_ops::product_over_rows::{ProductOverRows, product_over_rows};
use warploom_ops::random::dropout::DrawContext;
use warploom_ops::sparse_product::{
    SparseProduct, SparseProductOverRows, sparse_product, sparse_product_over_rows,
};
use warploom_ops::sum_over_rows::sum_over_rows;
use warploom_ops::{Adjacency, Scalar, half_precision};
use warploom_vertex::gir::{self, Op, Type};
use warploom_vertex::launch::{
    Buffer, Direction, Dropout, Element, Half, LaunchList, Role, Rows, StopCondition,
    parameter_buffer,
};

use crate::{
    buffers::{Aligned, Bank, Banks, Buffers, Contents, Epilogue, Location, Place},
    gpu,
    input_data::{Data, InputRows, Neighbours},
    optimizers::Moments,
    precision::Precision,
    resolved_program::{Action, Evaluate, Input, Part, Pass, Reduce, ResolvedProgram, row_count},
};

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

/// A program with its state.
#[derive(Debug)]
pub struct Executor<T: Precision> {
    /// The resolved launch list.
    pub program: ResolvedProgram<T>,
    /// Inputs, buffers and optimiser state.
    pub state: LaunchState<T>,
    /// Time spent in each step.
    pub spent: Vec<Duration>,
    /// The GPU that runs the list, if one does; host buffers then hold only what was fetched.
    pub gpu: Option<gpu::GpuExecutor>,
}

/// Everything that launches read and write.
#[derive(Debug)]
pub struct LaunchState<T: Precision> {
    /// Inputs: graph, features, labels.
    pub data: Data<T>,
    /// The buffers of the list.
    pub buffers: Buffers<T>,
    /// Moments, by parameter.
    pub moments: Vec<Moments<T>>,
    /// Optimiser of each parameter.
    pub optimizers: Vec<Optimizer>,
    /// The learning-rate factor of this epoch.
    pub pace: f64,
    /// The last loss, before it was rounded to the run's type.
    pub loss: f64,
    seed: u64,
}

impl<T: Precision> Executor<T> {
    /// Resolves a validated list and makes its buffers. Features and targets move from `data` into
    /// them.
    pub fn new(list: &LaunchList, mut data: Data<T>, seed: u64) -> Result<Self, StageError> {
        let program = ResolvedProgram::resolve(list)?;
        let mut buffers = Buffers::new(usize::try_from(list.arena.bytes).unwrap_or(usize::MAX))?;
        for buffer in list.buffers.iter().filter(|buffer| !buffer.role.is_sparse()) {
            let count = row_count(buffer.rows, data.nodes, data.edges) * buffer.columns as usize;
            let (rows, columns) = (buffer.rows, buffer.columns as usize);
            match buffer.element {
                Element::Real => buffers.push_real(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_contents(buffer, &mut data, count)
                    })?,
                ),
                Element::Half(half) => buffers.push_half(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_half_contents(buffer, &mut data, count, half)
                    })?,
                ),
                Element::Id => buffers.push_id(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        Ok(Contents::Owned(Aligned::zeros(count)?))
                    })?,
                ),
                Element::Whole(_) => buffers.push_whole(
                    rows,
                    columns,
                    allocate_location(list, buffer, count, |count| {
                        initial_whole_contents(buffer, &mut data, count)
                    })?,
                ),
            }
        }
        let is_missing = |buffer: &Buffer| match buffer.role {
            Role::SparseFeatures => data.sparse.is_none(),
            Role::SparseFeaturesOf { kind, .. } => !data.sparse_of_kind.contains_key(&kind),
            _ => false,
        };
        if list.buffers.iter().any(is_missing) {
            return Err(missing_input_error("sparse features"));
        }
        let spent = vec![Duration::ZERO; program.steps.len()];
        let moments = program
            .parameters
            .iter()
            .map(|_| Moments { first: Vec::new(), second: Vec::new() })
            .collect();
        let state = LaunchState {
            data,
            buffers,
            moments,
            optimizers: Vec::new(),
            pace: 1.0,
            loss: f64::NAN,
            seed,
        };
        Ok(Executor { program, state, spent, gpu: None })
    }

    /// The same, for a GPU.
    pub fn new_on_gpu(
        context: &warploom_contract::Context,
        list: &LaunchList,
        data: Data<T>,
        seed: u64,
        planned: gpu::GpuPlan,
    ) -> Result<Self, StageError> {
        let mut executor = Executor::new(list, data, seed)?;
        let LaunchState { data, buffers, .. } = &executor.state;
        executor.gpu = Some(gpu::GpuExecutor::new(
            context,
            list,
            planned,
            &executor.program,
            buffers,
            data,
            seed,
        )?);
        Ok(executor)
    }

    /// Fetches the results of the program from the GPU, if one runs the list.
    pub fn fetch_results(&mut self) -> Result<(), StageError> {
        let Some(gpu) = &self.gpu else { return Ok(()) };
        for (name, place) in &self.program.places {
            if self.program.results.iter().any(|result| result.place == *place) {
                gpu.download_buffer(name, &mut self.state.buffers, *place)?;
            }
        }
        Ok(())
    }

    /// Bytes of GPU memory that the list takes, if a GPU runs it.
    pub fn bytes_on_gpu(&self) -> Option<u64> {
        self.gpu.as_ref().map(gpu::GpuExecutor::device_bytes)
    }

    /// Bytes of host memory that are pinned for a GPU; 0 without one.
    pub fn bytes_pinned(&self) -> u64 {
        self.gpu.as_ref().map_or(0, gpu::GpuExecutor::bytes_pinned)
    }

    /// Seconds spent in each launch in total; on a GPU, those of one execution.
    pub fn seconds_by_launch(&self) -> BTreeMap<String, f64> {
        let seconds = |step: usize| match &self.gpu {
            Some(gpu) => gpu.seconds_by_step().get(&step).copied().unwrap_or(0.0),
            None => self.spent[step].as_secs_f64(),
        };
        self.program
            .steps
            .iter()
            .enumerate()
            .map(|(number, step)| (step.name.clone(), seconds(number)))
            .collect()
    }

    /// Whether some launch stores a buffer: GPU kernels may keep it in registers only.
    pub fn stores_buffer(&self, name: &str) -> bool {
        self.gpu.as_ref().is_none_or(|gpu| gpu.stores_buffer(name))
    }

    /// Fetches everything that launches compute from the GPU, if one runs the list.
    pub fn fetch_all(&mut self, list: &LaunchList) -> Result<(), StageError> {
        let Some(gpu) = &self.gpu else { return Ok(()) };
        let is_made = |buffer: &&Buffer| {
            matches!(buffer.role, Role::Value | Role::Parameter | Role::Gradient)
        };
        for buffer in list.buffers.iter().filter(is_made) {
            if let Some(place) = self.program.places.get(&buffer.name) {
                gpu.download_buffer(&buffer.name, &mut self.state.buffers, *place)?;
            }
        }
        Ok(())
    }

    /// Fetches parameters and moments from the GPU, if one runs the list.
    pub fn fetch_state(&mut self) -> Result<(), StageError> {
        self.fetch_state_of_batch(None)
    }

    /// The same, as read back with a batch of epochs, if one is given.
    pub fn fetch_state_of_batch(
        &mut self,
        batch: Option<&gpu::EpochBatch>,
    ) -> Result<(), StageError> {
        let Executor { gpu, program, state, .. } = self;
        gpu.as_ref().map_or(Ok(()), |gpu| {
            gpu.download_state(program, &mut state.buffers, &mut state.moments, batch)
        })
    }

    /// Parameters that the GPU kept until the end of a batch of epochs.
    pub fn kept_parameters(&self, batch: &gpu::EpochBatch) -> Result<Vec<Vec<T>>, StageError> {
        let reals = self.state.buffers.reals();
        let counts: Vec<usize> =
            self.program.parameters.iter().map(|learned| reals.get(learned.buffer).len()).collect();
        self.gpu
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), |gpu| gpu.read_kept_parameters(batch, &counts))
    }

    /// Uploads parameters and moments to the GPU, if one runs the list.
    fn put_state(&self) -> Result<(), StageError> {
        let Some(gpu) = &self.gpu else { return Ok(()) };
        for learned in &self.program.parameters {
            gpu.upload_buffer(
                &parameter_buffer(&learned.name),
                &self.state.buffers,
                Place::Real(learned.buffer),
            )?;
        }
        gpu.upload_moments(&self.state.moments)
    }

    /// Stops using the GPU: later launches run on the CPU, with the parameters as they are.
    pub fn leave_gpu(&mut self) {
        if self.fetch_state().is_ok() {
            self.gpu = None;
        }
    }

    /// Sets the optimiser of each parameter, with zero moments.
    pub fn set_optimizers(&mut self, optimizers: Vec<Optimizer>) -> Result<(), StageError> {
        let empty_or = |wanted: bool, count: usize| vec![T::ZERO; if wanted { count } else { 0 }];
        let reals = self.state.buffers.reals();
        for ((moments, learned), optimizer) in
            self.state.moments.iter_mut().zip(&self.program.parameters).zip(&optimizers)
        {
            let count = learned.gradient.map_or(0, |_| reals.get(learned.buffer).len());
            let (first, second) = match optimizer {
                Optimizer::Adam(_) | Optimizer::AdamW(_) => (true, true),
                Optimizer::Sgd { momentum, .. } => (*momentum != 0.0, false),
            };
            *moments = Moments { first: empty_or(first, count), second: empty_or(second, count) };
        }
        self.state.optimizers = optimizers;
        if let Some(gpu) = &self.gpu {
            gpu.upload_optimizers(&self.state.optimizers)?;
        }
        self.put_state()
    }

    /// Runs a part of the list.
    pub fn run(&mut self, part: Part, pass: Pass, stop: &StopFlag) -> Result<(), Halt> {
        self.run_rows(part, pass, None, stop)
    }

    /// The same; walks over edges compute only these rows, if given.
    pub fn run_rows(
        &mut self,
        part: Part,
        pass: Pass,
        only: Option<&[Run]>,
        stop: &StopFlag,
    ) -> Result<(), Halt> {
        if stop.is_set() {
            return Err(Halt::Stopped);
        }
        if let Some(gpu) = &mut self.gpu {
            gpu.run(self.program.part(part), part, pass, self.state.pace)?;
            if part == Part::Loss {
                self.state.loss = gpu.loss()?;
            }
            return Ok(());
        }
        for index in self.program.part(part) {
            // An update is finished, not interrupted: half of one could not be undone, and it takes
            // microseconds.
            if part != Part::Update && stop.is_set() {
                return Err(Halt::Stopped);
            }
            let begun = Instant::now();
            self.state.launch(&self.program, index, pass, only);
            self.spent[index] += begun.elapsed();
        }
        Ok(())
    }

    /// The change between the watched states of a loop and their successors, or the number of
    /// active vertices. Rows that were not computed have not changed.
    pub fn measure_change(&self, number: usize, only: Option<&[Run]>) -> Change {
        let repeated = &self.program.loops[number];
        let mut change = Change::default();
        let counts = !matches!(repeated.until, StopCondition::ChangeAtMost(..));
        let Banks { reals, ids, wholes, .. } = self.state.buffers.read_banks();
        for &(state, next) in repeated.watched.iter().map(|&index| &repeated.commits[index]) {
            let (summed, changed) = match (state, next) {
                (Place::Real(state), Place::Real(next)) => {
                    let (before, after) = (reals.get(state), reals.get(next));
                    let of = |(before, after): (&[T], &[T])| {
                        (
                            summed_change(before, after),
                            if counts { changed_count(before, after) } else { 0 },
                        )
                    };
                    sum_changes(before, after, reals.slot(state).columns, only, of)
                }
                (Place::Id(state), Place::Id(next)) => {
                    let (before, after) = (ids.get(state), ids.get(next));
                    sum_changes(before, after, ids.slot(state).columns, only, |(before, after)| {
                        (0.0, changed_count(before, after))
                    })
                }
                (Place::Whole(state), Place::Whole(next)) => {
                    let (before, after) = (wholes.get(state), wholes.get(next));
                    sum_changes(
                        before,
                        after,
                        wholes.slot(state).columns,
                        only,
                        |(before, after)| whole_change(before, after),
                    )
                }
                _ => unreachable!("a validated list commits like to like"),
            };
            change.summed += summed;
            change.changed += changed;
        }
        if let Some(Place::Whole(active)) = repeated.active {
            change.changed += wholes.get(active).iter().filter(|&&holds| holds != 0).count() as u64;
        }
        change
    }

    /// Replaces the states by their successors.
    pub fn commit(&mut self, number: usize) {
        for &(state, next) in &self.program.loops[number].commits {
            self.state.buffers.swap(state, next);
        }
    }

    /// Replaces running statistics by their next values.
    pub fn keep_statistics(&mut self) -> Result<(), StageError> {
        if let Some(gpu) = &self.gpu {
            return gpu.keep_statistics(&self.program);
        }
        for &(kept, next) in &self.program.statistics {
            self.state
                .buffers
                .write_real(kept, |kept, banks| kept.copy_from_slice(banks.reals.get(next)));
        }
        Ok(())
    }

    /// Frees the inputs once the launches are done: writing results needs memory of its own.
    pub fn release_inputs(&mut self, list: &LaunchList) {
        let is_given = |buffer: &&Buffer| {
            matches!(buffer.role, Role::Features | Role::Target | Role::Given(_))
        };
        for buffer in list.buffers.iter().filter(is_given) {
            let Some(&place) = self.program.places.get(&buffer.name) else { continue };
            if !self.program.results.iter().any(|result| result.place == place) {
                self.state.buffers.release(place);
            }
        }
        self.state.data.sparse = None;
        self.state.data.sparse_of_kind.clear();
    }

    /// A copy of every parameter; on a GPU, as last fetched.
    pub fn parameters(&self) -> Vec<Vec<T>> {
        let reals = self.state.buffers.reals();
        self.program.parameters.iter().map(|learned| reals.get(learned.buffer).to_vec()).collect()
    }

    /// Replaces every parameter.
    pub fn set_parameters(&mut self, parameters: &[Vec<T>]) -> Result<(), StageError> {
        for (learned, values) in self.program.parameters.iter().zip(parameters) {
            self.state
                .buffers
                .write_real(learned.buffer, |parameter, _| parameter.copy_from_slice(values));
        }
        self.put_state()
    }

    /// Elements of a buffer of floats by name. A buffer that later launches do not read may have
    /// been overwritten.
    pub fn real_elements(&self, name: &str) -> Option<Cow<'_, [T]>> {
        let buffers = &self.state.buffers;
        match *self.program.places.get(name)? {
            Place::Real(index) => Some(buffers.reals().get(index).into()),
            Place::Half(index, Half::Bf16) => Some(
                widen_halves::<T, half_precision::bf16>(buffers.read_banks().halves.get(index))
                    .into(),
            ),
            Place::Half(index, Half::F16) => Some(
                widen_halves::<T, half_precision::f16>(buffers.read_banks().halves.get(index))
                    .into(),
            ),
            _ => None,
        }
    }
}

/// The location of a buffer: its range of the arena if launches compute it, else separate. Inputs
/// are read where they are mapped, also where the arena of a GPU has room for a copy.
fn allocate_location<E: ArrowNativeType>(
    list: &LaunchList,
    buffer: &Buffer,
    count: usize,
    apart: impl FnOnce(usize) -> Result<Contents<E>, StageError>,
) -> Result<Location<E>, StageError> {
    let is_made = matches!(buffer.role, Role::Value | Role::Gradient);
    let Some(place) = list.arena.place(&buffer.name).filter(|_| is_made) else {
        return Ok(Location::Separate(apart(count)?));
    };
    let bytes = count * size_of::<E>();
    if bytes as u64 > place.bytes {
        let what = format!(
            "the plan was made for {} bytes of `{}`, and the graph makes {bytes}",
            place.bytes, buffer.name
        );
        return Err(StageError::new(ErrorKind::Damaged, what));
    }
    let start = place.offset as usize;
    Ok(Location::Arena(start..start + bytes))
}

/// Initial contents of a buffer of floats.
fn initial_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
) -> Result<Contents<T>, StageError> {
    let (given, what) = match buffer.role {
        Role::Features => (data.features.take(), "features"),
        Role::Target => (data.target.take(), "target"),
        Role::Given(_) => match data.given.remove(&buffer.name) {
            Some(InputRows::Real(values)) => (Some(values), "column"),
            _ => return Err(missing_input_error(&format!("`{}`", buffer.name))),
        },
        _ => return Ok(Contents::Owned(Aligned::zeros(count)?)),
    };
    let given = given.ok_or_else(|| missing_input_error(what))?;
    if given.len() != count {
        let what = format!(
            "the plan was made for a {what} of {count} numbers, the graph has {}",
            given.len()
        );
        return Err(StageError::new(ErrorKind::Damaged, what));
    }
    Ok(given)
}

/// 16-bit floats widened to the run's type.
fn widen_halves<T: Precision, H: half_precision::Half>(bits: &[u16]) -> Vec<T> {
    bytemuck::cast_slice::<u16, H>(bits).iter().map(|half| T::from_half(half.widened())).collect()
}

/// Initial contents of a buffer of 16-bit floats: rounded features, or zeros that a walk
/// overwrites.
fn initial_half_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
    half: Half,
) -> Result<Contents<u16>, StageError> {
    let mut rounded = Aligned::zeros(count)?;
    if buffer.role == Role::Features {
        let features = initial_contents(buffer, data, count)?;
        match half {
            Half::Bf16 => half_precision::round_all::<T, half_precision::bf16>(
                bytemuck::cast_slice_mut(&mut rounded),
                &features,
            ),
            Half::F16 => half_precision::round_all::<T, half_precision::f16>(
                bytemuck::cast_slice_mut(&mut rounded),
                &features,
            ),
        }
    }
    Ok(Contents::Owned(rounded))
}

/// Initial contents of a buffer of integers.
fn initial_whole_contents<T: Precision>(
    buffer: &Buffer,
    data: &mut Data<T>,
    count: usize,
) -> Result<Contents<i64>, StageError> {
    if !matches!(buffer.role, Role::Given(_)) {
        return Ok(Contents::Owned(Aligned::zeros(count)?));
    }
    match data.given.remove(&buffer.name) {
        Some(InputRows::Whole(values)) if values.len() == count => Ok(values),
        _ => Err(missing_input_error(&format!("`{}`", buffer.name))),
    }
}

fn missing_input_error(what: &str) -> StageError {
    StageError::defect(format!("the plan reads {what}, and the graph it names has none"))
}

impl<T: Precision> LaunchState<T> {
    /// Runs one step; a walk over edges computes only the rows of `only`, if given.
    pub fn launch(
        &mut self,
        program: &ResolvedProgram<T>,
        launch: usize,
        pass: Pass,
        only: Option<&[Run]>,
    ) {
        let LaunchState { data, buffers, moments, optimizers, pace, loss: last, seed } = self;
        let walk = LaunchContext { data, seed: *seed, pass, launch };
        match &program.steps[launch].action {
            Action::Reduce(work) => buffers.write_real(work.out, |made, banks| {
                let (sides, units) = walk.walked_sides(work.direction);
                let sides: Vec<Adjacency<T>> =
                    sides.into_iter().map(Neighbours::weighted_adjacency).collect();
                run_neighbour_reduce(made, &banks.reals, work, &sides, units, &walk);
            }),
            Action::ReduceIds(work) => buffers.write_id(work.out, |made, banks| {
                let (sides, units) = walk.walked_sides(work.direction);
                let sides: Vec<Adjacency<u32>> =
                    sides.into_iter().map(Neighbours::plain_adjacency).collect();
                run_neighbour_reduce(made, &banks.ids, work, &sides, units, &walk);
            }),
            Action::Product(places, layout, epilogue) => {
                walk.product(buffers, *places, *layout, epilogue)
            }
            Action::ProductOverRows([out, left, right]) => {
                buffers.write_real(*out, |made, banks| {
                    let (left, right) = (banks.reals.slot(*left), banks.reals.slot(*right));
                    let (rows, left_columns, right_columns) =
                        (walk.count_rows(left.rows), left.columns, right.columns);
                    product_over_rows(
                        made,
                        &ProductOverRows {
                            left: left.contents,
                            right: right.contents,
                            rows,
                            left_columns,
                            right_columns,
                        },
                    );
                })
            }
            Action::SparseProduct(of, places, dropout, epilogue) => {
                walk.sparse_product(buffers, *of, *places, *dropout, epilogue)
            }
            Action::SparseProductOverRows(of, places, dropout) => {
                walk.sparse_product_over_rows(buffers, *of, *places, *dropout)
            }
            Action::Elementwise(out, epilogue) => buffers.write_real(*out, |made, banks| {
                run_elementwise(made, &banks.reals, *out, epilogue, &walk)
            }),
            Action::ElementwiseIds(out, epilogue) => buffers.write_id(*out, |made, banks| {
                run_elementwise(made, &banks.ids, *out, epilogue, &walk)
            }),
            Action::SumOverRows([out, source]) => buffers.write_real(*out, |made, banks| {
                let source = banks.reals.slot(*source);
                sum_over_rows(made, source.contents, walk.count_rows(source.rows), source.columns);
            }),
            Action::Evaluate(work) => walk.evaluate(buffers, work),
            Action::Fused(work) => {
                walk.run_fused(buffers, work, only.filter(|_| work.walks_edges()))
            }
            Action::Loss(kind, [result, target, gradient, value]) => {
                *last = buffers.write_real(*gradient, |slope, Banks { reals, .. }| {
                    let (columns, result, target) =
                        (reals.slot(*result).columns, reals.get(*result), reals.get(*target));
                    loss(
                        slope,
                        &Loss {
                            kind: *kind,
                            result,
                            target,
                            columns,
                            training_rows: &data.splits[0],
                        },
                    )
                });
                buffers.write_real(*value, |value, _| value.fill(T::rounded(*last)));
            }
            Action::Optimize(index) => {
                let learned = &program.parameters[*index];
                let gradient =
                    learned.gradient.expect("a validated list that updates has gradients");
                let Moments { first, second } = &mut moments[*index];
                buffers.write_real(learned.buffer, |parameter, banks| {
                    optimize(
                        Learned { parameter, first, second },
                        banks.reals.get(gradient),
                        &optimizers[*index].paced(*pace),
                        pass.epoch + 1,
                    );
                });
            }
        }
    }
}

/// What every launch needs besides its buffers.
struct LaunchContext<'a, T: Precision> {
    /// Inputs: graph, features, labels.
    pub data: &'a Data<T>,
    seed: u64,
    pass: Pass,
    /// The place of the launch in the list.
    launch: usize,
}

impl<'a, T: Precision> LaunchContext<'a, T> {
    /// The context for drawing dropout in a launch whose result has these rows.
    pub fn draw_context(&self, rows: Rows) -> DrawContext<'a> {
        let row_in_graph = if rows == Rows::Nodes { self.data.old_of_new.as_deref() } else { None };
        DrawContext {
            seed: self.seed,
            epoch: self.pass.epoch as u32,
            active: self.pass.training,
            row_in_graph,
        }
    }

    /// The groups of neighbours by which this launch walks edges.
    pub fn group_starts(&self, direction: Direction) -> Option<&'a [u64]> {
        self.data.division.as_ref().and_then(|division| division.starts(self.launch, direction))
    }

    fn count_rows(&self, rows: Rows) -> usize {
        row_count(rows, self.data.nodes, self.data.edges)
    }

    /// The adjacencies of a direction, and the work units of their rows.
    fn walked_sides(&self, direction: Direction) -> (Vec<&'a Neighbours<T>>, &'a [u32]) {
        let loaded = "what the launches walk was loaded";
        let data = self.data;
        match direction {
            Direction::In => {
                let incoming = data.incoming.as_ref().expect(loaded);
                (vec![incoming], &incoming.units)
            }
            Direction::Out => {
                let outgoing = data.outgoing.as_ref().expect(loaded);
                (vec![outgoing], &outgoing.units)
            }
            Direction::Both => (
                vec![data.incoming.as_ref().expect(loaded), data.outgoing.as_ref().expect(loaded)],
                &data.both_units,
            ),
        }
    }

    fn evaluate(&self, buffers: &mut Buffers<T>, work: &Evaluate<T>) {
        match (&work.op, work.out) {
            (Op::Input(gir::Input::Features), Place::Real(out)) => {
                buffers.write_real(out, |made, _| self.write_dense_features(made, None))
            }
            (Op::Input(gir::Input::FeaturesOf(kind)), Place::Real(out)) => {
                buffers.write_real(out, |made, _| self.write_dense_features(made, Some(*kind)))
            }
            (_, Place::Real(out)) => buffers.write_real(out, |made, banks| {
                self.evaluate_into(ValuesMut::Real(made), work, &banks)
            }),
            (_, Place::Whole(out)) => buffers.write_whole(out, |made, banks| {
                self.evaluate_into(ValuesMut::Whole(made), work, &banks)
            }),
            (_, Place::Half(..) | Place::Id(_) | Place::Sparse(_)) => {
                unreachable!("a validated list evaluates into reals and whole numbers")
            }
        }
    }

    fn evaluate_into(&self, out: ValuesMut<T>, work: &Evaluate<T>, banks: &Banks<T>) {
        let inputs: Vec<Operand<T>> =
            work.inputs.iter().map(|input| bind_operand(banks, input)).collect();
        let rows = if let Rows::Fixed(_) = work.rows { 1 } else { self.count_rows(work.rows) };
        let context = self.draw_context(work.rows);
        evaluate(
            out,
            &Call {
                op: &work.op,
                shape: &work.shape,
                rows,
                kind: work.kind,
                inputs: &inputs,
                graph: self.data.edge_graph(),
                context,
            },
        );
    }

    /// Writes the sparse features as dense rows.
    fn write_dense_features(&self, made: &mut [T], of: Option<u32>) {
        let sparse = self.data.sparse_features(of).expect("looked for when the buffers were made");
        sparse.write_dense(made);
    }

    fn product(
        &self,
        buffers: &mut Buffers<T>,
        [out, left, right]: [usize; 3],
        layout: RightLayout,
        epilogue: &Epilogue<T>,
    ) {
        buffers.write_real(out, |made, Banks { reals, .. }| {
            let (made_rows, columns) = reals.shape(out);
            let operands = reals.operands(epilogue);
            let across = reals.slot(left);
            let work = Product {
                left: across.contents,
                right: reals.get(right),
                layout,
                rows: self.count_rows(made_rows),
                inner: across.columns,
                columns,
                epilogue: epilogue.bind(&operands, self.draw_context(made_rows)),
            };
            product(made, &work);
        });
    }

    fn sparse_product(
        &self,
        buffers: &mut Buffers<T>,
        of: Option<u32>,
        [out, right]: [usize; 2],
        dropout: Option<Dropout>,
        epilogue: &Epilogue<T>,
    ) {
        buffers.write_real(out, |made, Banks { reals, .. }| {
            let (rows, columns) = reals.shape(out);
            let operands = reals.operands(epilogue);
            let work = SparseProduct {
                left: self
                    .data
                    .sparse_features(of)
                    .expect("looked for when the buffers were made")
                    .as_rows(),
                right: reals.get(right),
                columns,
                dropout,
                epilogue: epilogue.bind(&operands, self.draw_context(rows)),
            };
            sparse_product(made, &work);
        });
    }

    fn sparse_product_over_rows(
        &self,
        buffers: &mut Buffers<T>,
        of: Option<u32>,
        [out, left]: [usize; 2],
        dropout: Option<Dropout>,
    ) {
        let sparse = self.data.sparse_features(of).expect("looked for when the buffers were made");
        buffers.write_real(out, |made, Banks { reals, .. }| {
            let left = reals.slot(left);
            let work = SparseProductOverRows {
                left: left.contents,
                left_columns: left.columns,
                right: sparse.by_columns.as_ref().expect("made where a launch needs them"),
                dropout,
                context: self.draw_context(left.rows),
            };
            sparse_product_over_rows(made, &work);
        });
    }
}

fn bind_operand<'a, T: Precision>(banks: &Banks<'a, T>, input: &'a Input<T>) -> Operand<'a, T> {
    let leaf = |values, shape, index| Operand::Leaf(Leaf { values, shape, index });
    match input {
        Input::Number(number, real, whole) => {
            let values =
                if number.kind() == Type::Real { Values::Real(real) } else { Values::Whole(whole) };
            leaf(values, &[], warploom_ops::evaluate::Index::One)
        }
        Input::Rows(Place::Real(place), shape, index) => {
            leaf(Values::Real(banks.reals.get(*place)), shape, *index)
        }
        Input::Rows(Place::Whole(place), shape, index) => {
            leaf(Values::Whole(banks.wholes.get(*place)), shape, *index)
        }
        Input::Rows(..) => unreachable!("a validated list evaluates reals and whole numbers"),
        Input::Times(first, second) => Operand::Times(
            Box::new(bind_operand(banks, first)),
            Box::new(bind_operand(banks, second)),
        ),
    }
}

fn run_neighbour_reduce<T: Precision, E: Scalar + ArrowNativeType>(
    made: &mut [E],
    bank: &Bank<E>,
    work: &Reduce<E>,
    sides: &[Adjacency<E>],
    units: &[u32],
    walk: &LaunchContext<T>,
) {
    let operands = bank.operands(&work.epilogue);
    let (rows, columns) = bank.shape(work.out);
    let reduction = NeighbourReduce {
        adjacencies: sides,
        unit_starts: units,
        groups: walk.group_starts(work.direction),
        combine: work.combine,
        factor: work.factor,
        source: work.source.map(|source| bank.get(source)),
        columns,
        epilogue: work.epilogue.bind(&operands, walk.draw_context(rows)),
    };
    neighbour_reduce(made, &reduction);
}

fn run_elementwise<T: Precision, E: Scalar + ArrowNativeType>(
    made: &mut [E],
    bank: &Bank<E>,
    out: usize,
    epilogue: &Epilogue<E>,
    walk: &LaunchContext<T>,
) {
    let operands = bank.operands(epilogue);
    let (rows, columns) = bank.shape(out);
    let count = made.len().checked_div(columns).unwrap_or(0);
    elementwise(made, &epilogue.bind(&operands, walk.draw_context(rows)), count, columns);
}
