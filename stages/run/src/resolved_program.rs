//! resolved_program: a launch list with names resolved to indices.
//!
//! promises  every name is looked up once, here; steps are in the order of the list, and its parts
//!           are ranges of steps
//! never     reads data; accepts a list that `validate` refuses (the caller has called it)
mod fused_launch;

use std::{collections::BTreeMap, ops::Range};

use warploom_contract::StageError;
use warploom_cpu::evaluate::Index;
use warploom_ir::{EdgeSet, Loss, Number, Op, Type};
use warploom_launch::{
    Body, Buffer, Commit, Course, Dropout, Element, FrontierPlan, LaunchList, Operand, Operation,
    Role, Rows, StopCondition, View, gradient_buffer, parameter_buffer,
};

pub use fused_launch::FusedLaunch;

use crate::{buffers::Place, precision::Precision};

/// An input of an evaluated operation.
#[derive(Debug)]
pub enum Input<T> {
    /// A constant, as a float and as an integer.
    Number(Number, [T; 1], [i64; 1]),
    /// Rows of a buffer.
    Rows(Place, Vec<u64>, Index),
    /// The product of two inputs.
    Times(Box<Input<T>>, Box<Input<T>>),
}

/// An evaluated operation.
#[derive(Debug)]
pub struct Evaluate<T> {
    /// The buffer that is written.
    pub out: Place,
    /// What a row of it stands for.
    pub rows: Rows,
    /// Shape of a row.
    pub shape: Vec<u64>,
    /// Type of an element.
    pub kind: Type,
    /// The operation.
    pub op: Op,
    /// Its inputs.
    pub inputs: Vec<Input<T>>,
}

/// What a step does, by buffer indices.
#[derive(Debug)]
pub enum Action<T> {
    /// Sparse features, of all nodes or of a kind, times a weight: out, right.
    SparseProduct(Option<u32>, [usize; 2], Option<Dropout>),
    /// Gradient of that weight: out, left.
    SparseProductOverRows(Option<u32>, [usize; 2], Option<Dropout>),
    /// An operation of the program, as the IR defines it.
    Evaluate(Evaluate<T>),
    /// Several operations, in one walk.
    Fused(FusedLaunch<T>),
    /// The loss: result, target, gradient, value.
    Loss(Loss, [usize; 4]),
    /// An optimiser step of the parameter of this number.
    Optimize(usize),
}

/// One launch.
#[derive(Debug)]
pub struct Step<T> {
    /// Its name in the list.
    pub name: String,
    /// What it does.
    pub action: Action<T>,
}

/// The parts (phases) of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Once, before the first epoch.
    Prepare,
    /// From features to the result.
    Forward,
    /// The loss and the gradient of the result.
    Loss,
    /// Gradients of parameters.
    Backward,
    /// The optimiser.
    Update,
    /// Once, before the loop of this number.
    Before(usize),
    /// One superstep of the loop of this number.
    Superstep(usize),
    /// Once, after the last loop.
    Finish,
}

/// Which epoch, and whether dropout is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Epochs done.
    pub epoch: u64,
    /// Training; when measuring, dropout is the identity.
    pub training: bool,
}

/// A loop, resolved.
#[derive(Clone, Debug)]
pub struct ResolvedLoop {
    /// States and their next values.
    pub commits: Vec<(Place, Place)>,
    /// The indices of the commits that the stop condition tests.
    pub watched: Vec<usize>,
    /// The bools that must be false everywhere for the loop to stop, if that is its condition.
    pub active: Option<Place>,
    /// The stop condition.
    pub until: StopCondition,
    /// A shortcut algorithm that replaces the supersteps.
    pub course: Option<Course>,
    /// How readers of changes are found, if they alone are recomputed.
    pub frontier: Option<FrontierPlan>,
    prepare: Range<usize>,
    superstep: Range<usize>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct ResolvedParameter {
    /// Its name.
    pub name: String,
    /// Its shape in files.
    pub shape: Vec<u64>,
    /// Its buffer.
    pub buffer: usize,
    /// Buffer of its gradient, when training.
    pub gradient: Option<usize>,
}

/// A resolved launch list.
#[derive(Debug)]
pub struct ResolvedProgram<T> {
    /// All launches in order.
    pub steps: Vec<Step<T>>,
    /// Parameters.
    pub parameters: Vec<ResolvedParameter>,
    /// Loops of an iteration, in order.
    pub loops: Vec<ResolvedLoop>,
    /// Running statistics, and their next values.
    pub statistics: Vec<(usize, usize)>,
    /// The results of the program.
    pub results: Vec<ResolvedResult>,
    /// Whether a launch draws dropout.
    pub draws: bool,
    /// The place of each buffer.
    pub places: BTreeMap<String, Place>,
    parts: [Range<usize>; 5],
    finish: Range<usize>,
}

/// A result.
#[derive(Clone, Debug)]
pub struct ResolvedResult {
    /// Its name in the table.
    pub name: String,
    /// Its buffer.
    pub place: Place,
    /// Type of an element.
    pub kind: Type,
    /// What a row of it stands for.
    pub rows: Rows,
    /// For values of edges, the list of edges that they belong to.
    pub edges: Option<EdgeSet>,
}

impl<T> ResolvedProgram<T> {
    /// The steps of a part; empty where the list has no such part.
    pub fn part(&self, part: Part) -> Range<usize> {
        let of_loop = |number: usize, range: fn(&ResolvedLoop) -> &Range<usize>| {
            self.loops.get(number).map_or(0..0, |repeated| range(repeated).clone())
        };
        match part {
            Part::Prepare => self.parts[0].clone(),
            Part::Forward => self.parts[1].clone(),
            Part::Loss => self.parts[2].clone(),
            Part::Backward => self.parts[3].clone(),
            Part::Update => self.parts[4].clone(),
            Part::Before(number) => of_loop(number, |repeated| &repeated.prepare),
            Part::Superstep(number) => of_loop(number, |repeated| &repeated.superstep),
            Part::Finish => self.finish.clone(),
        }
    }
}

impl<T: Precision> ResolvedProgram<T> {
    /// Resolves a validated list.
    pub fn resolve(list: &LaunchList) -> Result<Self, StageError> {
        let names = Names::new(list);
        let mut start = 0;
        let mut next = |size: usize| {
            start += size;
            start - size..start
        };
        let none = || std::array::from_fn(|_| 0..0);
        let (parts, loops, finish, statistics, draws) = match &list.body {
            Body::Train(train) => {
                let sizes = [
                    train.prepare.len(),
                    train.forward.len(),
                    1,
                    train.backward.len(),
                    train.update.len(),
                ];
                let copies = train.statistics.iter().map(|Commit { state, next }| {
                    (names.real_index(state), names.real_index(next))
                });
                (sizes.map(&mut next), Vec::new(), 0..0, copies.collect(), train.draws)
            }
            Body::Iterate(iterate) => {
                let loops = iterate
                    .loops
                    .iter()
                    .map(|repeated| names.resolve_loop(repeated, &mut next))
                    .collect();
                (none(), loops, next(iterate.finish.len()), Vec::new(), false)
            }
        };
        let learned = |parameter: &warploom_launch::Parameter| ResolvedParameter {
            name: parameter.name.clone(),
            shape: parameter.shape.clone(),
            buffer: names.real_index(&parameter_buffer(&parameter.name)),
            gradient: names
                .places
                .get(&gradient_buffer(&parameter.name))
                .map(|_| names.real_index(&gradient_buffer(&parameter.name))),
        };
        let steps = list.launches().into_iter().map(|launch| {
            Ok(Step { name: launch.name.clone(), action: names.resolve_action(&launch.operation)? })
        });
        Ok(ResolvedProgram {
            steps: steps.collect::<Result<_, StageError>>()?,
            parameters: list.parameters.iter().map(learned).collect(),
            loops,
            statistics,
            results: list.results.iter().map(|result| names.resolve_result(result)).collect(),
            draws,
            places: names.places,
            parts,
            finish,
        })
    }
}

/// Resolves names of buffers.
pub struct Names<'a> {
    list: &'a LaunchList,
    places: BTreeMap<String, Place>,
}

impl<'a> Names<'a> {
    /// Buffers of each element type are counted separately, in the order of the list.
    fn new(list: &'a LaunchList) -> Self {
        let (mut reals, mut halves, mut wholes) = (0, 0, 0);
        let count = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let place = |buffer: &Buffer| match (&buffer.role, buffer.element) {
            (Role::SparseFeatures, _) => Place::Sparse(None),
            (Role::SparseFeaturesOf { kind, .. }, _) => Place::Sparse(Some(*kind)),
            (_, Element::Real) => Place::Real(count(&mut reals)),
            (_, Element::Half(half)) => Place::Half(count(&mut halves), half),
            (_, Element::Whole(_)) => Place::Whole(count(&mut wholes)),
        };
        let mut place = place;
        Names {
            list,
            places: list
                .buffers
                .iter()
                .map(|buffer| (buffer.name.clone(), place(buffer)))
                .collect(),
        }
    }

    /// The place of a buffer.
    pub fn place(&self, name: &str) -> Place {
        *self.places.get(name).expect("a validated list declares every name that it uses")
    }

    /// The declaration of a buffer.
    pub fn buffer(&self, name: &str) -> &'a Buffer {
        self.list
            .buffers
            .iter()
            .find(|buffer| buffer.name == name)
            .expect("a validated list declares every name that it uses")
    }

    fn resolve_result(&self, result: &warploom_launch::ResultColumn) -> ResolvedResult {
        let buffer = self.buffer(&result.buffer);
        ResolvedResult {
            name: result.name.clone(),
            place: self.place(&result.buffer),
            kind: buffer.element.kind(),
            rows: buffer.rows,
            edges: result.edges,
        }
    }

    fn resolve_loop(
        &self,
        repeated: &warploom_launch::Loop,
        next: &mut impl FnMut(usize) -> Range<usize>,
    ) -> ResolvedLoop {
        let is_watched = |commit: &Commit| match &repeated.until {
            StopCondition::ChangeAtMost(state, _) => commit.state == *state,
            StopCondition::Unchanged(states) => states.contains(&commit.state),
            StopCondition::Nowhere(_) => false,
        };
        let active = if let StopCondition::Nowhere(buffer) = &repeated.until {
            Some(self.place(buffer))
        } else {
            None
        };
        ResolvedLoop {
            commits: repeated
                .commit
                .iter()
                .map(|commit| (self.place(&commit.state), self.place(&commit.next)))
                .collect(),
            watched: (0..repeated.commit.len())
                .filter(|index| is_watched(&repeated.commit[*index]))
                .collect(),
            active,
            until: repeated.until.clone(),
            course: repeated.course.clone(),
            frontier: repeated.frontier,
            prepare: next(repeated.prepare.len()),
            superstep: next(repeated.superstep.len()),
        }
    }

    fn resolve_input<T: Precision>(&self, operand: &Operand, out: Rows) -> Input<T> {
        match operand {
            Operand::Number(number) => {
                let whole = match number {
                    Number::Bool(value) => i64::from(*value),
                    Number::Int(value) => *value,
                    Number::Real(value) => *value as i64,
                };
                Input::Number(*number, [T::rounded(number.real())], [whole])
            }
            Operand::Rows(rows) => {
                let held = self.buffer(&rows.buffer).rows;
                let index = match (rows.view, held, out) {
                    (View::Far(edges), ..) => Index::Far(edges),
                    (View::Near(edges), ..) => Index::Near(edges),
                    (View::Own, Rows::Fixed(_), _) => Index::One,
                    (View::Own, Rows::Graphs(_), Rows::Nodes) => Index::Graph,
                    _ => Index::Same,
                };
                Input::Rows(self.place(&rows.buffer), rows.shape.clone(), index)
            }
            Operand::Times(first, second) => Input::Times(
                Box::new(self.resolve_input(first, out)),
                Box::new(self.resolve_input(second, out)),
            ),
        }
    }

    fn real_index(&self, name: &str) -> usize {
        match self.place(name) {
            Place::Real(index) => index,
            other => unreachable!("`{name}` is real in a validated list, found {other:?}"),
        }
    }

    /// The kind of nodes whose sparse features these are; none for all nodes.
    fn sparse_kind(&self, name: &str) -> Option<u32> {
        match self.place(name) {
            Place::Sparse(kind) => kind,
            other => unreachable!("`{name}` is sparse in a validated list, found {other:?}"),
        }
    }

    fn resolve_action<T: Precision>(&self, operation: &Operation) -> Result<Action<T>, StageError> {
        let real = |name: &str| self.real_index(name);
        Ok(match operation {
            Operation::SparseProduct { out, left, right, dropout } => Action::SparseProduct(
                self.sparse_kind(left),
                [out, right].map(|name| real(name)),
                *dropout,
            ),
            Operation::SparseProductOverRows { out, left, right, dropout } => {
                Action::SparseProductOverRows(
                    self.sparse_kind(right),
                    [out, left].map(|name| real(name)),
                    *dropout,
                )
            }
            Operation::Evaluate { out, shape, op, inputs } => {
                let buffer = self.buffer(out);
                Action::Evaluate(Evaluate {
                    out: self.place(out),
                    rows: buffer.rows,
                    shape: shape.clone(),
                    kind: buffer.element.kind(),
                    op: op.clone(),
                    inputs: inputs
                        .iter()
                        .map(|input| self.resolve_input(input, buffer.rows))
                        .collect(),
                })
            }
            Operation::Fused { .. } => Action::Fused(FusedLaunch::resolve(self, operation)?),
            Operation::Loss { kind, result, target, gradient, value } => {
                Action::Loss(*kind, [result, target, gradient, value].map(|name| real(name)))
            }
            Operation::Optimize { parameter } => {
                let index = self.list.parameters.iter().position(|known| known.name == *parameter);
                Action::Optimize(index.expect("a validated list updates its own parameters"))
            }
        })
    }
}

/// The number of rows.
pub fn row_count(rows: Rows, nodes: usize, edges: usize) -> usize {
    rows.count(nodes as u64, edges as u64) as usize
}
