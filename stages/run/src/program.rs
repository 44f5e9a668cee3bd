//! program: a launch list whose names have become numbers and whose expressions are compiled.
//!
//! promises  every name is looked up here, once; steps stand in the order of the list, and the parts are ranges of them
//! never     looks at data; accepts a list that `validate` would refuse (the caller has called it)
use std::{collections::BTreeMap, ops::Range};

use warploom_contract::StageError;
use warploom_ops::Scalar;
use warploom_ops::expression::Compiled;
use warploom_ops::product::RightLayout;
use warploom_vertex::launch::{
    Body, Buffer, Combine, Direction, Dropout, EdgeFactor, Element, Expression, LaunchList, LossKind, Operation, Role, Rows, Until, gradient_buffer,
    parameter_buffer,
};

use crate::{buffers::Epilogue, precision::Precision};

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the reals.
    Real(usize),
    /// Among the ids.
    Id(usize),
    /// The sparse features, which are in no bank.
    Sparse,
}

/// A sum, minimum or maximum over neighbours.
#[derive(Debug)]
pub struct Reduce<E> {
    /// Written.
    pub out: usize,
    /// Read.
    pub source: Option<usize>,
    /// Which edges.
    pub direction: Direction,
    /// How messages meet.
    pub combine: Combine,
    /// What a message is multiplied with.
    pub factor: EdgeFactor,
    /// Applied to each element made.
    pub epilogue: Epilogue<E>,
}

/// What a step does, by numbers.
#[derive(Debug)]
pub enum Action<T> {
    /// Over neighbours, of reals.
    Reduce(Reduce<T>),
    /// Over neighbours, of ids.
    ReduceIds(Reduce<u32>),
    /// Dense product: out, left, right.
    Product([usize; 3], RightLayout, Epilogue<T>),
    /// Dense gradient of a weight: out, left, right.
    ProductOverRows([usize; 3]),
    /// Sparse features times a weight: out, right.
    SparseProduct([usize; 2], Option<Dropout>, Epilogue<T>),
    /// Gradient of that weight: out, left.
    SparseProductOverRows([usize; 2], Option<Dropout>),
    /// Each element of a buffer of reals.
    Elementwise(usize, Epilogue<T>),
    /// Each element of a buffer of ids.
    ElementwiseIds(usize, Epilogue<u32>),
    /// Sum over rows: out, source.
    SumOverRows([usize; 2]),
    /// The loss: result, target, gradient, value.
    Loss(LossKind, [usize; 4]),
    /// One step of the optimiser, for the parameter of this number.
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

/// Parts of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Once.
    Prepare,
    /// From features to the result, or one superstep.
    Forward,
    /// The loss and the gradient of the result.
    Loss,
    /// Gradients of parameters.
    Backward,
    /// The optimiser.
    Update,
}

/// A learned tensor.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Its name.
    pub name: String,
    /// Its shape as saved.
    pub shape: Vec<u64>,
    /// Its buffer.
    pub buffer: usize,
    /// Buffer of its gradient, when training.
    pub gradient: Option<usize>,
}

/// A list, resolved.
#[derive(Debug)]
pub struct Program<T> {
    /// All launches in order.
    pub steps: Vec<Step<T>>,
    /// Learned tensors.
    pub parameters: Vec<Learned>,
    /// States with their successors.
    pub commits: Vec<(Place, Place)>,
    /// When an iteration stops.
    pub until: Option<Until>,
    /// Name and place of what the program returns.
    pub results: Vec<(String, Place)>,
    /// Whether a launch draws dropout.
    pub draws: bool,
    /// Where each buffer is.
    pub places: BTreeMap<String, Place>,
    parts: [Range<usize>; 5],
}

impl<T> Program<T> {
    /// The steps of a part.
    pub fn part(&self, part: Part) -> Range<usize> {
        self.parts[part as usize].clone()
    }
}

impl<T: Precision> Program<T> {
    /// Resolves a validated list.
    pub fn resolve(list: &LaunchList) -> Result<Self, StageError> {
        let names = Names::of(list);
        let (sizes, commits, until, draws) = match &list.body {
            Body::Train(train) => ([train.prepare.len(), train.forward.len(), 1, train.backward.len(), train.update.len()], Vec::new(), None, train.draws),
            Body::Iterate(iterate) => {
                let pair = |commit: &warploom_vertex::launch::Commit| (names.place(&commit.state), names.place(&commit.next));
                let commits = iterate.commit.iter().map(pair).collect();
                ([iterate.prepare.len(), iterate.superstep.len(), 0, 0, 0], commits, Some(iterate.until), false)
            }
        };
        let mut start = 0;
        let parts = sizes.map(|size| {
            start += size;
            start - size..start
        });
        let learned = |parameter: &warploom_vertex::launch::Parameter| Learned {
            name: parameter.name.clone(),
            shape: parameter.shape.clone(),
            buffer: names.real(&parameter_buffer(&parameter.name)),
            gradient: names.places.get(&gradient_buffer(&parameter.name)).map(|_| names.real(&gradient_buffer(&parameter.name))),
        };
        let steps = list.launches().into_iter().map(|launch| Ok(Step { name: launch.name.clone(), action: names.action(&launch.operation)? }));
        Ok(Program {
            steps: steps.collect::<Result<_, StageError>>()?,
            parameters: list.parameters.iter().map(learned).collect(),
            commits,
            until,
            results: list.results.iter().map(|result| (result.name.clone(), names.place(&result.buffer))).collect(),
            draws,
            places: names.places,
            parts,
        })
    }
}

/// Numbers by name.
struct Names<'a> {
    list: &'a LaunchList,
    places: BTreeMap<String, Place>,
}

impl<'a> Names<'a> {
    /// Reals and ids are counted apart, in the order of the list.
    fn of(list: &'a LaunchList) -> Self {
        let (mut reals, mut ids) = (0, 0);
        let count = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let place = |buffer: &Buffer| match (&buffer.role, buffer.element) {
            (Role::SparseFeatures, _) => Place::Sparse,
            (_, Element::Real) => Place::Real(count(&mut reals)),
            (_, Element::Id) => Place::Id(count(&mut ids)),
        };
        let mut place = place;
        Names { list, places: list.buffers.iter().map(|buffer| (buffer.name.clone(), place(buffer))).collect() }
    }

    fn place(&self, name: &str) -> Place {
        *self.places.get(name).expect("a validated list declares every name that it uses")
    }

    fn real(&self, name: &str) -> usize {
        match self.place(name) {
            Place::Real(index) => index,
            other => unreachable!("`{name}` is real in a validated list, found {other:?}"),
        }
    }

    fn id(&self, name: &str) -> usize {
        match self.place(name) {
            Place::Id(index) => index,
            other => unreachable!("`{name}` is an id in a validated list, found {other:?}"),
        }
    }

    fn action<T: Precision>(&self, operation: &Operation) -> Result<Action<T>, StageError> {
        let real = |name: &str| self.real(name);
        Ok(match operation {
            Operation::NeighbourReduce { out, .. } => match self.place(out) {
                Place::Id(_) => Action::ReduceIds(self.reduce(operation, |name| self.id(name))?),
                _ => Action::Reduce(self.reduce(operation, real)?),
            },
            Operation::Product { out, left, right, right_transposed, epilogue } => {
                let layout = if *right_transposed { RightLayout::Transposed } else { RightLayout::Plain };
                Action::Product([out, left, right].map(|name| real(name)), layout, epilogue_of(epilogue, real)?)
            }
            Operation::ProductOverRows { out, left, right } => Action::ProductOverRows([out, left, right].map(|name| real(name))),
            Operation::SparseProduct { out, right, dropout, epilogue, .. } => {
                Action::SparseProduct([out, right].map(|name| real(name)), *dropout, epilogue_of(epilogue, real)?)
            }
            Operation::SparseProductOverRows { out, left, dropout, .. } => Action::SparseProductOverRows([out, left].map(|name| real(name)), *dropout),
            Operation::Elementwise { out, expression } => match self.place(out) {
                Place::Id(index) => Action::ElementwiseIds(index, epilogue_of(expression, |name| self.id(name))?),
                _ => Action::Elementwise(real(out), epilogue_of(expression, real)?),
            },
            Operation::SumOverRows { out, source } => Action::SumOverRows([out, source].map(|name| real(name))),
            Operation::Loss { kind, result, target, gradient, value } => Action::Loss(*kind, [result, target, gradient, value].map(|name| real(name))),
            Operation::Optimize { parameter } => {
                let index = self.list.parameters.iter().position(|known| known.name == *parameter);
                Action::Optimize(index.expect("a validated list updates its own parameters"))
            }
        })
    }

    fn reduce<E: Scalar>(&self, operation: &Operation, number: impl Fn(&str) -> usize) -> Result<Reduce<E>, StageError> {
        let Operation::NeighbourReduce { out, source, direction, combine, factor, epilogue } = operation else {
            unreachable!("called for reductions");
        };
        Ok(Reduce {
            out: number(out),
            source: source.as_deref().map(&number),
            direction: *direction,
            combine: *combine,
            factor: *factor,
            epilogue: epilogue_of(epilogue, number)?,
        })
    }
}

fn epilogue_of<E: Scalar>(expression: &Expression, number: impl Fn(&str) -> usize) -> Result<Epilogue<E>, StageError> {
    let program = Compiled::compile(expression).map_err(|error| StageError::defect(format!("an expression of the plan cannot be compiled: {error}")))?;
    let loads = program.loads().iter().map(|name| number(name)).collect();
    Ok(Epilogue { program, loads })
}

/// How many rows that is.
pub fn row_count(rows: Rows, nodes: usize, edges: usize) -> usize {
    match rows {
        Rows::Nodes => nodes,
        Rows::Edges => edges,
        Rows::Fixed(count) => count as usize,
    }
}
