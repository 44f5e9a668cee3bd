//! executor: walks a resolved launch list on the CPU, one call of an operation for each launch.
//!
//! promises  the same bits for any number of threads, on every run; a stop is answered between two launches; the optimiser
//!           runs for all parameters or for none
//! never     chooses anything: order, operation and division of the work stand in the plan; looks a name up while it runs
//! limits    a stop waits for the launch at work, the longest of which reads every edge once
use std::time::{Duration, Instant};

use warploom_contract::{StageError, stage::StopFlag};
use warploom_ops::change::{changed_count, summed_change, whole_change};
use warploom_ops::elementwise::elementwise;
use warploom_ops::evaluate::{Call, Leaf, Part as Operand, Values, ValuesMut, evaluate};
use warploom_ops::loss::{Loss, loss};
use warploom_ops::neighbour_reduce::{NeighbourReduce, neighbour_reduce};
use warploom_ops::optimizer::{Learned, Optimizer, optimize};
use warploom_ops::product::{Product, RightLayout, product};
use warploom_ops::product_over_rows::{ProductOverRows, product_over_rows};
use warploom_ops::random::dropout::Context;
use warploom_ops::sparse_product::{SparseProduct, SparseProductOverRows, sparse_product, sparse_product_over_rows};
use warploom_ops::sum_over_rows::sum_over_rows;
use warploom_ops::{Adjacency, Scalar};
use warploom_vertex::gir::{self, Op, Type};
use warploom_vertex::launch::{Buffer, Direction, Dropout, Element, LaunchList, Role, Rows};

use crate::{
    buffers::{Aligned, Bank, Contents, Epilogue, Slot},
    precision::Precision,
    program::{Action, Evaluate, Input, Part, Place, Program, Reduce, row_count},
    upload::{Data, Given, Neighbours},
};

/// Why the walk ended before its end.
#[derive(Debug)]
pub enum Halt {
    /// A stop was asked for.
    Stopped,
    /// Something is wrong.
    Failed(StageError),
}

impl From<StageError> for Halt {
    fn from(error: StageError) -> Self {
        Halt::Failed(error)
    }
}

/// Which epoch, and whether dropout is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Epochs done.
    pub epoch: u64,
    /// Training; when measuring, dropout is the identity.
    pub training: bool,
}

/// How far a superstep moved the states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Sum of absolute differences of reals.
    pub summed: f64,
    /// Number of elements that differ.
    pub changed: u64,
}

/// Moments of the optimiser, by parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments<T> {
    /// First moment, or momentum; empty where there is none.
    pub first: Vec<T>,
    /// Second moment; empty where there is none.
    pub second: Vec<T>,
}

/// A program with its buffers.
#[derive(Debug)]
pub struct Executor<T: Precision> {
    /// What to do.
    pub program: Program<T>,
    /// With what.
    pub machine: Machine<T>,
    /// Time spent in each step.
    pub spent: Vec<Duration>,
}

/// Everything that launches read and write.
#[derive(Debug)]
pub struct Machine<T: Precision> {
    /// What was given.
    pub data: Data<T>,
    /// Buffers of reals.
    pub reals: Bank<T>,
    /// Buffers of ids.
    pub ids: Bank<u32>,
    /// Buffers of whole numbers.
    pub wholes: Bank<i64>,
    /// Moments, by parameter.
    pub moments: Vec<Moments<T>>,
    /// Optimiser of each parameter.
    pub optimizers: Vec<Optimizer>,
    /// The last loss, before it was rounded to the run's type.
    pub loss: f64,
    seed: u64,
}

impl<T: Precision> Executor<T> {
    /// Resolves a validated list and makes its buffers. Features and targets move from the data into them.
    pub fn new(list: &LaunchList, mut data: Data<T>, seed: u64) -> Result<Self, StageError> {
        let program = Program::resolve(list)?;
        let (mut reals, mut ids, mut wholes) = (Bank::default(), Bank::default(), Bank::default());
        for buffer in list.buffers.iter().filter(|buffer| !buffer.role.is_sparse()) {
            let count = row_count(buffer.rows, data.nodes, data.edges) * buffer.columns as usize;
            let (rows, columns) = (buffer.rows, buffer.columns as usize);
            match buffer.element {
                Element::Real => reals.push(Slot { rows, columns, contents: contents(buffer, &mut data, count)? }),
                Element::Id => ids.push(Slot { rows, columns, contents: Contents::Owned(Aligned::zeros(count)?) }),
                Element::Whole(_) => wholes.push(Slot { rows, columns, contents: whole_contents(buffer, &mut data, count)? }),
            };
        }
        let is_missing = |buffer: &Buffer| match buffer.role {
            Role::SparseFeatures => data.sparse.is_none(),
            Role::SparseFeaturesOf { kind, .. } => !data.sparse_of_kind.contains_key(&kind),
            _ => false,
        };
        if list.buffers.iter().any(is_missing) {
            return Err(missing("sparse features"));
        }
        let spent = vec![Duration::ZERO; program.steps.len()];
        let moments = program.parameters.iter().map(|_| Moments { first: Vec::new(), second: Vec::new() }).collect();
        let machine = Machine { data, reals, ids, wholes, moments, optimizers: Vec::new(), loss: f64::NAN, seed };
        Ok(Executor { program, machine, spent })
    }

    /// Gives each parameter its optimiser, with moments of 0.
    pub fn set_optimizers(&mut self, optimizers: Vec<Optimizer>) {
        let empty_or = |wanted: bool, count: usize| vec![T::ZERO; if wanted { count } else { 0 }];
        for ((moments, learned), optimizer) in self.machine.moments.iter_mut().zip(&self.program.parameters).zip(&optimizers) {
            let count = learned.gradient.map_or(0, |_| self.machine.reals.get(learned.buffer).len());
            let (first, second) = match optimizer {
                Optimizer::Adam(_) | Optimizer::AdamW(_) => (true, true),
                Optimizer::Sgd { momentum, .. } => (*momentum != 0.0, false),
            };
            *moments = Moments { first: empty_or(first, count), second: empty_or(second, count) };
        }
        self.machine.optimizers = optimizers;
    }

    /// Runs a part of the list.
    pub fn run(&mut self, part: Part, pass: Pass, stop: &StopFlag) -> Result<(), Halt> {
        if stop.is_set() {
            return Err(Halt::Stopped);
        }
        for index in self.program.part(part) {
            // Half an update could not be dropped, and it takes microseconds.
            if part != Part::Update && stop.is_set() {
                return Err(Halt::Stopped);
            }
            let begun = Instant::now();
            self.machine.launch(&self.program, index, pass);
            self.spent[index] += begun.elapsed();
        }
        Ok(())
    }

    /// How far the successors of the states that a loop's end is tested on lie from the states, or where it is still active.
    pub fn change(&self, number: usize) -> Change {
        let repeated = &self.program.loops[number];
        let mut change = Change::default();
        for &(state, next) in repeated.watched.iter().map(|&index| &repeated.commits[index]) {
            match (state, next) {
                (Place::Real(state), Place::Real(next)) => {
                    let (state, next) = (self.machine.reals.get(state), self.machine.reals.get(next));
                    change.summed += summed_change(state, next);
                    change.changed += changed_count(state, next);
                }
                (Place::Id(state), Place::Id(next)) => change.changed += changed_count(self.machine.ids.get(state), self.machine.ids.get(next)),
                (Place::Whole(state), Place::Whole(next)) => {
                    let (summed, changed) = whole_change(self.machine.wholes.get(state), self.machine.wholes.get(next));
                    change.summed += summed;
                    change.changed += changed;
                }
                _ => unreachable!("a validated list commits like to like"),
            }
        }
        if let Some(Place::Whole(active)) = repeated.active {
            change.changed += self.machine.wholes.get(active).iter().filter(|&&holds| holds != 0).count() as u64;
        }
        change
    }

    /// The successors become the states.
    pub fn commit(&mut self, number: usize) {
        for &(state, next) in &self.program.loops[number].commits {
            match (state, next) {
                (Place::Real(state), Place::Real(next)) => self.machine.reals.swap(state, next),
                (Place::Id(state), Place::Id(next)) => self.machine.ids.swap(state, next),
                (Place::Whole(state), Place::Whole(next)) => self.machine.wholes.swap(state, next),
                _ => unreachable!("a validated list commits like to like"),
            }
        }
    }

    /// Running statistics take their next values.
    pub fn keep_statistics(&mut self) {
        for &(kept, next) in &self.program.statistics {
            let values = self.machine.reals.get(next).to_vec();
            self.machine.reals.fill(kept, &values);
        }
    }

    /// A copy of every parameter.
    pub fn parameters(&self) -> Vec<Vec<T>> {
        self.program.parameters.iter().map(|learned| self.machine.reals.get(learned.buffer).to_vec()).collect()
    }

    /// Replaces every parameter.
    pub fn set_parameters(&mut self, parameters: &[Vec<T>]) {
        for (learned, values) in self.program.parameters.iter().zip(parameters) {
            self.machine.reals.fill(learned.buffer, values);
        }
    }

    /// Elements of a buffer of reals by name.
    pub fn real(&self, name: &str) -> Option<&[T]> {
        match self.program.places.get(name)? {
            Place::Real(index) => Some(self.machine.reals.get(*index)),
            _ => None,
        }
    }
}

/// What a buffer of reals holds at first.
fn contents<T: Precision>(buffer: &Buffer, data: &mut Data<T>, count: usize) -> Result<Contents<T>, StageError> {
    let (given, what) = match buffer.role {
        Role::Features => (data.features.take(), "features"),
        Role::Target => (data.target.take(), "target"),
        Role::Given(_) => match data.given.remove(&buffer.name) {
            Some(Given::Real(values)) => (Some(values), "column"),
            _ => return Err(missing(&format!("`{}`", buffer.name))),
        },
        _ => return Ok(Contents::Owned(Aligned::zeros(count)?)),
    };
    let given = given.ok_or_else(|| missing(what))?;
    if given.len() != count {
        let what = format!("the plan was made for a {what} of {count} numbers, the graph has {}", given.len());
        return Err(StageError::defect(what));
    }
    Ok(given)
}

/// What a buffer of whole numbers holds at first.
fn whole_contents<T: Precision>(buffer: &Buffer, data: &mut Data<T>, count: usize) -> Result<Contents<i64>, StageError> {
    if !matches!(buffer.role, Role::Given(_)) {
        return Ok(Contents::Owned(Aligned::zeros(count)?));
    }
    match data.given.remove(&buffer.name) {
        Some(Given::Whole(values)) if values.len() == count => Ok(values),
        _ => Err(missing(&format!("`{}`", buffer.name))),
    }
}

fn missing(what: &str) -> StageError {
    StageError::defect(format!("the plan reads {what}, and the graph it names has none"))
}

impl<T: Precision> Machine<T> {
    fn launch(&mut self, program: &Program<T>, index: usize, pass: Pass) {
        match &program.steps[index].action {
            Action::Reduce(work) => {
                let context = context(&self.data, self.seed, self.reals.slot(work.out).rows, pass);
                let (sides, units) = walk(&self.data, work.direction);
                let sides: Vec<Adjacency<T>> = sides.into_iter().map(Neighbours::weighted).collect();
                reduce(&mut self.reals, work, (&sides, units), context);
            }
            Action::ReduceIds(work) => {
                let context = context(&self.data, self.seed, self.ids.slot(work.out).rows, pass);
                let (sides, units) = walk(&self.data, work.direction);
                let sides: Vec<Adjacency<u32>> = sides.into_iter().map(Neighbours::plain).collect();
                reduce(&mut self.ids, work, (&sides, units), context);
            }
            Action::Product(places, layout, epilogue) => self.product(*places, *layout, epilogue, pass),
            Action::ProductOverRows([out, left, right]) => {
                let mut made = self.reals.take(*out);
                let (left, right) = (self.reals.slot(*left), self.reals.slot(*right));
                let rows = row_count(left.rows, self.data.nodes, self.data.edges);
                let (left_columns, right_columns) = (left.columns, right.columns);
                product_over_rows(&mut made, &ProductOverRows { left: &left.contents, right: &right.contents, rows, left_columns, right_columns });
                self.reals.put(*out, made);
            }
            Action::SparseProduct(of, places, dropout, epilogue) => self.sparse_product((*of, *places), *dropout, epilogue, pass),
            Action::SparseProductOverRows(of, places, dropout) => self.sparse_product_over_rows((*of, *places), *dropout, pass),
            Action::Elementwise(out, epilogue) => {
                let context = context(&self.data, self.seed, self.reals.slot(*out).rows, pass);
                each(&mut self.reals, *out, epilogue, context);
            }
            Action::ElementwiseIds(out, epilogue) => {
                let context = context(&self.data, self.seed, self.ids.slot(*out).rows, pass);
                each(&mut self.ids, *out, epilogue, context);
            }
            Action::SumOverRows([out, source]) => {
                let mut made = self.reals.take(*out);
                let source = self.reals.slot(*source);
                sum_over_rows(&mut made, &source.contents, row_count(source.rows, self.data.nodes, self.data.edges), source.columns);
                self.reals.put(*out, made);
            }
            Action::Evaluate(work) => self.evaluate(work, pass),
            Action::Fused(work) => {
                let seed = self.seed;
                self.fused(work, |machine| context(&machine.data, seed, Rows::Nodes, pass));
            }
            Action::Loss(kind, [result, target, gradient, value]) => {
                let mut slope = self.reals.take(*gradient);
                let (columns, result, target) = (self.reals.slot(*result).columns, self.reals.get(*result), self.reals.get(*target));
                self.loss = loss(&mut slope, &Loss { kind: *kind, result, target, columns, training_rows: &self.data.splits[0] });
                self.reals.put(*gradient, slope);
                self.reals.fill(*value, &[T::rounded(self.loss)]);
            }
            Action::Optimize(index) => {
                let learned = &program.parameters[*index];
                let mut parameter = self.reals.take(learned.buffer);
                let Moments { first, second } = &mut self.moments[*index];
                let gradient = self.reals.get(learned.gradient.expect("a validated list that updates has gradients"));
                optimize(Learned { parameter: &mut parameter, first, second }, gradient, &self.optimizers[*index], pass.epoch + 1);
                self.reals.put(learned.buffer, parameter);
            }
        }
    }

    fn evaluate(&mut self, work: &Evaluate<T>, pass: Pass) {
        match work.op {
            Op::Input(gir::Input::Features) => return self.write_sparse_out(work, None),
            Op::Input(gir::Input::FeaturesOf(kind)) => return self.write_sparse_out(work, Some(kind)),
            _ => {}
        }
        match work.out {
            Place::Real(index) => {
                let mut made = self.reals.take(index);
                self.evaluate_into(ValuesMut::Real(&mut made), work, pass);
                self.reals.put(index, made);
            }
            Place::Whole(index) => {
                let mut made = self.wholes.take(index);
                self.evaluate_into(ValuesMut::Whole(&mut made), work, pass);
                self.wholes.put(index, made);
            }
            Place::Id(_) | Place::Sparse(_) => unreachable!("a validated list evaluates into reals and whole numbers"),
        }
    }

    fn evaluate_into(&self, out: ValuesMut<T>, work: &Evaluate<T>, pass: Pass) {
        let inputs: Vec<Operand<T>> = work.inputs.iter().map(|input| self.operand(input)).collect();
        let rows = if let Rows::Fixed(_) = work.rows { 1 } else { row_count(work.rows, self.data.nodes, self.data.edges) };
        let context = context(&self.data, self.seed, work.rows, pass);
        evaluate(out, &Call { op: &work.op, shape: &work.shape, rows, kind: work.kind, inputs: &inputs, graph: self.data.edge_graph(), context });
    }

    fn operand<'a>(&'a self, input: &'a Input<T>) -> Operand<'a, T> {
        let leaf = |values, shape, index| Operand::Leaf(Leaf { values, shape, index });
        match input {
            Input::Number(number, real, whole) => {
                let values = if number.kind() == Type::Real { Values::Real(real) } else { Values::Whole(whole) };
                leaf(values, &[], warploom_ops::evaluate::Index::One)
            }
            Input::Rows(Place::Real(place), shape, index) => leaf(Values::Real(self.reals.get(*place)), shape, *index),
            Input::Rows(Place::Whole(place), shape, index) => leaf(Values::Whole(self.wholes.get(*place)), shape, *index),
            Input::Rows(..) => unreachable!("a validated list evaluates reals and whole numbers"),
            Input::Times(first, second) => Operand::Times(Box::new(self.operand(first)), Box::new(self.operand(second))),
        }
    }

    /// The sparse features as dense rows.
    fn write_sparse_out(&mut self, work: &Evaluate<T>, of: Option<u32>) {
        let Place::Real(index) = work.out else { unreachable!("features are real") };
        let mut made = self.reals.take(index);
        let sparse = self.data.sparse_of(of).expect("looked for when the buffers were made");
        made.fill(T::ZERO);
        for (row, made) in made.chunks_exact_mut(sparse.columns.max(1)).enumerate() {
            for entry in sparse.offsets[row] as usize..sparse.offsets[row + 1] as usize {
                let column = sparse.index[entry] as usize;
                made[column] = made[column] + sparse.values[entry];
            }
        }
        self.reals.put(index, made);
    }

    fn product(&mut self, [out, left, right]: [usize; 3], layout: RightLayout, epilogue: &Epilogue<T>, pass: Pass) {
        let context = context(&self.data, self.seed, self.reals.slot(out).rows, pass);
        let mut made = self.reals.take(out);
        let operands = self.reals.operands(epilogue);
        let (made_slot, across) = (self.reals.slot(out), self.reals.slot(left));
        let work = Product {
            left: &across.contents,
            right: self.reals.get(right),
            layout,
            rows: row_count(made_slot.rows, self.data.nodes, self.data.edges),
            inner: across.columns,
            columns: made_slot.columns,
            epilogue: epilogue.bind(&operands, context),
        };
        product(&mut made, &work);
        self.reals.put(out, made);
    }

    fn sparse_product(&mut self, (of, [out, right]): (Option<u32>, [usize; 2]), dropout: Option<Dropout>, epilogue: &Epilogue<T>, pass: Pass) {
        let context = context(&self.data, self.seed, self.reals.slot(out).rows, pass);
        let mut made = self.reals.take(out);
        let operands = self.reals.operands(epilogue);
        let work = SparseProduct {
            left: self.data.sparse_of(of).expect("looked for when the buffers were made").rows(),
            right: self.reals.get(right),
            columns: self.reals.slot(out).columns,
            dropout,
            epilogue: epilogue.bind(&operands, context),
        };
        sparse_product(&mut made, &work);
        self.reals.put(out, made);
    }

    fn sparse_product_over_rows(&mut self, (of, [out, left]): (Option<u32>, [usize; 2]), dropout: Option<Dropout>, pass: Pass) {
        let context = context(&self.data, self.seed, self.reals.slot(left).rows, pass);
        let mut made = self.reals.take(out);
        let sparse = self.data.sparse_of(of).expect("looked for when the buffers were made");
        let work = SparseProductOverRows {
            left: self.reals.get(left),
            left_columns: self.reals.slot(left).columns,
            right: sparse.by_columns.as_ref().expect("made where a launch needs them"),
            dropout,
            context,
        };
        sparse_product_over_rows(&mut made, &work);
        self.reals.put(out, made);
    }
}

/// What a launch whose result has these rows must know to draw.
fn context<T: Precision>(data: &Data<T>, seed: u64, rows: Rows, pass: Pass) -> Context<'_> {
    let row_in_graph = if rows == Rows::Nodes { data.old_of_new.as_deref() } else { None };
    Context { seed, epoch: pass.epoch as u32, active: pass.training, row_in_graph }
}

/// The sides that a direction visits, and how their rows are divided.
fn walk<T: Precision>(data: &Data<T>, direction: Direction) -> (Vec<&Neighbours<T>>, &[u32]) {
    let loaded = "what the launches walk was loaded";
    match direction {
        Direction::In => {
            let incoming = data.incoming.as_ref().expect(loaded);
            (vec![incoming], &incoming.units)
        }
        Direction::Out => {
            let outgoing = data.outgoing.as_ref().expect(loaded);
            (vec![outgoing], &outgoing.units)
        }
        Direction::Both => (vec![data.incoming.as_ref().expect(loaded), data.outgoing.as_ref().expect(loaded)], &data.both_units),
    }
}

fn reduce<E: Scalar + arrow_buffer::ArrowNativeType>(bank: &mut Bank<E>, work: &Reduce<E>, (sides, units): (&[Adjacency<E>], &[u32]), context: Context) {
    let mut made = bank.take(work.out);
    let operands = bank.operands(&work.epilogue);
    let reduction = NeighbourReduce {
        adjacencies: sides,
        unit_starts: units,
        combine: work.combine,
        factor: work.factor,
        source: work.source.map(|source| bank.get(source)),
        columns: bank.slot(work.out).columns,
        epilogue: work.epilogue.bind(&operands, context),
    };
    neighbour_reduce(&mut made, &reduction);
    bank.put(work.out, made);
}

fn each<E: Scalar + arrow_buffer::ArrowNativeType>(bank: &mut Bank<E>, out: usize, epilogue: &Epilogue<E>, context: Context) {
    let mut made = bank.take(out);
    let operands = bank.operands(epilogue);
    let columns = bank.slot(out).columns;
    let rows = made.len().checked_div(columns).unwrap_or(0);
    elementwise(&mut made, &epilogue.bind(&operands, context), rows, columns);
    bank.put(out, made);
}
