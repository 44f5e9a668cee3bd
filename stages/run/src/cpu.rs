//! cpu: executes a resolved launch list on the CPU, one operation for each launch.
//!
//! promises  the same bits for any number of threads, on every run; a stop is honoured between two
//!           launches; the optimiser runs for all parameters or for none
//! never     chooses anything: the plan has order, operations and division of the work; looks up a
//!           name while it runs
//! limits    a stop waits for the current launch, the longest of which reads every edge once
mod fused_launch;
mod shortcuts;

use std::time::{Duration, Instant};

use warploom_contract::{StageError, progress::StopFlag};
use warploom_cpu::convergence::{changed_count, sum_changes, summed_change, whole_change};
use warploom_cpu::evaluate::{Call, Leaf, Part as Operand, Values, ValuesMut, evaluate};
use warploom_cpu::frontier::Run;
use warploom_cpu::loss::{Loss, loss};
use warploom_cpu::optimizer::{Learned, optimize};
use warploom_cpu::random::dropout::DrawContext;
use warploom_cpu::sparse_product::{
    SparseProduct, SparseProductOverRows, sparse_product, sparse_product_over_rows,
};
use warploom_ir::{Direction, Op, Type};
use warploom_launch::{Dropout, LaunchList, Rows, StopCondition};

use crate::{
    backend::{
        Backend, Change, Counts, DeviceLoops, DeviceMemory, Halt, PassTime, PipelinedEpochs,
        Supersteps,
    },
    buffers::{Banks, Buffers, Place},
    host_state::HostState,
    inputs::input_data::Data,
    precision::Precision,
    resolved_program::{Action, Evaluate, Input, Part, Pass, row_count},
    training::optimizers::Moments,
};

/// A launch list on the CPU.
#[derive(Debug)]
pub struct CpuBackend<T: Precision> {
    host: HostState<T>,
    /// Time spent in each step.
    spent: Vec<Duration>,
}

impl<T: Precision> CpuBackend<T> {
    /// Resolves a validated list and makes its buffers. Features and targets move from `data` into
    /// them.
    pub fn new(list: &LaunchList, data: Data<T>, seed: u64) -> Result<Self, StageError> {
        let host = HostState::new(list, data, seed)?;
        let spent = vec![Duration::ZERO; host.program.steps.len()];
        Ok(CpuBackend { host, spent })
    }
}

impl<T: Precision> Backend<T> for CpuBackend<T> {
    fn host(&self) -> &HostState<T> {
        &self.host
    }

    fn host_mut(&mut self) -> &mut HostState<T> {
        &mut self.host
    }

    fn put_state(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    fn put_optimizers(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    fn begin_again(&mut self, _: Option<&str>) -> Result<(), StageError> {
        // States were swapped with their successors, whose bytes other launches may write.
        self.host.buffers.restore_locations();
        Ok(())
    }

    fn run_rows(
        &mut self,
        part: Part,
        pass: Pass,
        only: Option<&[Run]>,
        stop: &StopFlag,
    ) -> Result<(), Halt> {
        if stop.is_set() {
            return Err(Halt::Stopped);
        }
        for index in self.host.program.part(part) {
            // An update is finished, not interrupted: half of one could not be undone, and it takes
            // microseconds.
            if part != Part::Update && stop.is_set() {
                return Err(Halt::Stopped);
            }
            let begun = Instant::now();
            launch(&mut self.host, index, pass, only);
            self.spent[index] += begun.elapsed();
        }
        Ok(())
    }

    fn keep_statistics(&mut self) -> Result<(), StageError> {
        for &(kept, next) in &self.host.program.statistics {
            self.host
                .buffers
                .write_real(kept, |kept, banks| kept.copy_from_slice(banks.reals.get(next)));
        }
        Ok(())
    }

    fn launch_on_host(&mut self, step: usize, pass: Pass) {
        launch(&mut self.host, step, pass, None);
    }

    fn fetch_state(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    fn fetch_results(&mut self) -> Result<(), StageError> {
        Ok(())
    }

    fn fetch_all(&mut self, _: &LaunchList) -> Result<(), StageError> {
        Ok(())
    }

    fn counts(&self) -> Result<Option<Counts>, StageError> {
        Ok(None)
    }

    fn stores_buffer(&self, _: &str) -> bool {
        true
    }

    fn seconds_of_step(&self, step: usize) -> f64 {
        self.spent[step].as_secs_f64()
    }

    fn time_passes(&mut self, _: u64) -> Result<PassTime, StageError> {
        Ok(PassTime::ByHost)
    }

    fn device_memory(&self) -> DeviceMemory {
        DeviceMemory::default()
    }

    fn pipelined_epochs(&mut self) -> Option<&mut dyn PipelinedEpochs<T>> {
        None
    }

    fn supersteps(&mut self) -> Option<&mut dyn Supersteps<T>> {
        Some(self)
    }

    fn device_loops(&mut self) -> Option<&mut dyn DeviceLoops<T>> {
        None
    }
}

impl<T: Precision> Supersteps<T> for CpuBackend<T> {
    fn measure_change(&self, number: usize, only: Option<&[Run]>) -> Change {
        let repeated = &self.host.program.loops[number];
        let mut change = Change::default();
        let counts = !matches!(repeated.until, StopCondition::ChangeAtMost(..));
        let Banks { reals, wholes, .. } = self.host.buffers.read_banks();
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

    fn commit(&mut self, number: usize) {
        for &(state, next) in &self.host.program.loops[number].commits {
            self.host.buffers.swap(state, next);
        }
    }

    fn run_shortcut(
        &mut self,
        number: usize,
        stop: &StopFlag,
    ) -> Option<Option<(&'static str, u64)>> {
        shortcuts::run_shortcut(&mut self.host, number, stop)
    }
}

/// Runs one step; a walk over edges computes only the rows of `only`, if given.
pub fn launch<T: Precision>(
    host: &mut HostState<T>,
    launch: usize,
    pass: Pass,
    only: Option<&[Run]>,
) {
    let HostState { program, data, buffers, moments, optimizers, pace, loss: last, seed } = host;
    let walk = LaunchContext { data, seed: *seed, pass, launch };
    match &program.steps[launch].action {
        Action::SparseProduct(of, places, dropout) => {
            walk.sparse_product(buffers, *of, *places, *dropout)
        }
        Action::SparseProductOverRows(of, places, dropout) => {
            walk.sparse_product_over_rows(buffers, *of, *places, *dropout)
        }
        Action::Evaluate(work) => walk.evaluate(buffers, work),
        Action::Fused(work) => walk.run_fused(buffers, work, only.filter(|_| work.walks_edges())),
        Action::Loss(kind, [result, target, gradient, value]) => {
            *last = buffers.write_real(*gradient, |slope, Banks { reals, .. }| {
                let (columns, result, target) =
                    (reals.slot(*result).columns, reals.get(*result), reals.get(*target));
                loss(
                    slope,
                    &Loss { kind: *kind, result, target, columns, training_rows: &data.splits[0] },
                )
            });
            buffers.write_real(*value, |value, _| value.fill(T::rounded(*last)));
        }
        Action::Optimize(index) => {
            let learned = &program.parameters[*index];
            let gradient = learned.gradient.expect("a validated list that updates has gradients");
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

    fn evaluate(&self, buffers: &mut Buffers<T>, work: &Evaluate<T>) {
        match (&work.op, work.out) {
            (Op::Input(warploom_ir::Input::Features), Place::Real(out)) => {
                buffers.write_real(out, |made, _| self.write_dense_features(made, None))
            }
            (Op::Input(warploom_ir::Input::FeaturesOf(kind)), Place::Real(out)) => {
                buffers.write_real(out, |made, _| self.write_dense_features(made, Some(*kind)))
            }
            (_, Place::Real(out)) => buffers.write_real(out, |made, banks| {
                self.evaluate_into(ValuesMut::Real(made), work, &banks)
            }),
            (_, Place::Whole(out)) => buffers.write_whole(out, |made, banks| {
                self.evaluate_into(ValuesMut::Whole(made), work, &banks)
            }),
            (_, Place::Half(..) | Place::Sparse(_)) => {
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

    fn sparse_product(
        &self,
        buffers: &mut Buffers<T>,
        of: Option<u32>,
        [out, right]: [usize; 2],
        dropout: Option<Dropout>,
    ) {
        buffers.write_real(out, |made, Banks { reals, .. }| {
            let (rows, columns) = reals.shape(out);
            let work = SparseProduct {
                left: self
                    .data
                    .sparse_features(of)
                    .expect("looked for when the buffers were made")
                    .as_rows(),
                right: reals.get(right),
                columns,
                dropout,
                context: self.draw_context(rows),
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
            leaf(values, &[], warploom_cpu::evaluate::Index::One)
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
