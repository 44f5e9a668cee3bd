//! walk_steps: a fused launch, or a single evaluated operation, as steps over rows and their edges
//! with all names resolved.
//!
//! promises  each step says what a row of it stands for, how many passes over the edges it waits
//!           for, and which row of each operand it reads; each input buffer is among the leaves
//!           once
//! never     decides how work is divided, or refuses an operation
use std::collections::BTreeSet;

use warploom_ir::{Direction, EdgeSet, Number, Op, Type, broadcast};
use warploom_launch::{
    Buffer, Element, LaunchList, Operand, Operation, Over, Role, Rows, View, reduced,
};

/// The columns of rows, and the distance between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLayout {
    pub columns: u64,
    /// Elements from one row to the next.
    pub stride: u64,
}

/// Steps in order, over rows of one kind.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub over: Over,
    /// What a row stands for.
    pub rows: Rows,
    pub steps: Vec<Step>,
    pub leaves: Vec<Leaf>,
    /// Maximum scores that sums over the same edges do not wait for (online softmax).
    pub running: Vec<OnlineMaximum>,
    pub bytes_per_real: u64,
    /// The layout of rows that are computed up to their stride, if any.
    pub padded: Option<RowLayout>,
    /// Buffers that other blocks write while the kernel runs: it declares pointers to them itself.
    pub changing: BTreeSet<String>,
}

/// A maximum score that sums do not wait for.
#[derive(Clone, Debug)]
pub(super) struct OnlineMaximum {
    /// The reduction that finds it.
    pub largest: usize,
    /// The score of an edge.
    pub score: Read,
    /// The step that is `exp(score - largest)`.
    pub exponential: usize,
    /// Sums with that factor, and for each of their elements the element of the score.
    pub sums: Vec<(usize, Vec<u32>)>,
}

/// A buffer that the walk reads and does not compute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    pub name: String,
    pub element: Element,
    pub rows: Rows,
    pub columns: u64,
    /// Elements from one row to the next.
    pub stride: u64,
    /// Whether it is an input, so that it can be permuted to the order of the walk.
    pub given: bool,
    /// Whether its padding is zero: it is copied to the device so.
    pub ends_in_zeros: bool,
}

/// One operation.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub out: String,
    pub op: Op,
    pub shape: Vec<u64>,
    pub kind: Type,
    pub level: Level,
    /// Passes over the edges that must be complete before it.
    pub passes: usize,
    pub inputs: Vec<Input>,
    pub stored: bool,
    /// Elements from one row to the next, if it is stored.
    pub stride: u64,
    /// Whether it is the exponential of a softmax: its argument is at most 0, and it is summed.
    pub is_share: bool,
}

/// What a row of a step stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The walked row.
    Row,
    /// An edge of the walked row.
    Edge,
}

/// An operand of a step.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Number(Number),
    Rows(Read),
    Times(Box<Input>, Box<Input>),
}

/// Rows that a step reads.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub from: From,
    pub shape: Vec<u64>,
    pub at: At,
    pub kind: Type,
}

/// The origin of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum From {
    Step(usize),
    Leaf(usize),
}

/// Which row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum At {
    /// The only row.
    One,
    /// The row itself, or that of the edge.
    Own,
    /// The row of the vertex's graph.
    Graph,
    /// The row of the far end.
    Far,
    /// The row of the vertex that owns the edge.
    Near,
}

impl Walk {
    /// The steps of a launch as they are; none if no walk supports it.
    pub fn plain_steps(
        list: &LaunchList,
        bytes_per_real: u64,
        operation: &Operation,
    ) -> Option<Walk> {
        let (over, locals, steps): (Over, &[Buffer], &[Operation]) = match operation {
            Operation::Fused { over, locals, steps } => (*over, locals, steps),
            Operation::Evaluate { out, op, .. } => {
                (alone(list, out, op)?, &[], std::slice::from_ref(operation))
            }
            _ => return None,
        };
        let rows = match (over, steps.first()) {
            (Over::Edges(rows), _) => rows,
            (Over::Vertices, Some(Operation::Evaluate { out, .. })) if steps.len() == 1 => {
                declared(list, locals, out)?.rows
            }
            _ => Rows::Nodes,
        };
        let mut walk = Walk::empty(over, rows, bytes_per_real);
        for step in steps {
            let Operation::Evaluate { out, shape, op, inputs } = step else { return None };
            let held = declared(list, locals, out)?;
            let level = if held.rows == rows { Level::Row } else { Level::Edge };
            let at_edges =
                level == Level::Edge || reduced(op).is_some() || matches!(over, Over::Edges(_));
            let inputs: Vec<Input> = inputs
                .iter()
                .map(|input| walk.input(list, locals, input, held.rows, at_edges))
                .collect::<Option<_>>()?;
            let waits = inputs.iter().flat_map(Input::reads).filter_map(|read| {
                if let From::Step(number) = read.from { Some(number) } else { None }
            });
            let passes = waits.map(|number| walk.steps[number].passes).max().unwrap_or(0)
                + usize::from(reduced(op).is_some());
            let stored = !locals.iter().any(|local| local.name == *out);
            let stride = held.stride(bytes_per_real);
            walk.steps.push(Step {
                out: out.clone(),
                op: op.clone(),
                shape: shape.clone(),
                kind: held.element.kind(),
                level,
                passes,
                inputs,
                stored,
                stride,
                is_share: false,
            });
        }
        Some(walk)
    }

    /// A walk without steps, with operands over rows of this kind.
    pub fn reading(
        list: &LaunchList,
        bytes_per_real: u64,
        rows: Rows,
        operands: &[Operand],
    ) -> Option<(Walk, Vec<Input>)> {
        let over = if matches!(rows, Rows::Edges | Rows::EdgesTwice) {
            Over::Edges(rows)
        } else {
            Over::Vertices
        };
        let mut walk = Walk::empty(over, rows, bytes_per_real);
        let inputs = operands
            .iter()
            .map(|operand| walk.input(list, &[], operand, rows, false))
            .collect::<Option<_>>()?;
        Some((walk, inputs))
    }

    /// A walk without steps, with operands over the edges of vertices.
    pub fn from_operands(
        list: &LaunchList,
        bytes_per_real: u64,
        direction: Direction,
        operands: &[Operand],
    ) -> Option<(Walk, Vec<Input>)> {
        let mut walk = Walk::empty(Over::EdgesOf(direction), Rows::Nodes, bytes_per_real);
        let out = if direction == Direction::Both { Rows::EdgesTwice } else { Rows::Edges };
        let inputs = operands
            .iter()
            .map(|operand| walk.input(list, &[], operand, out, true))
            .collect::<Option<_>>()?;
        Some((walk, inputs))
    }

    fn empty(over: Over, rows: Rows, bytes_per_real: u64) -> Walk {
        Walk {
            over,
            rows,
            steps: Vec::new(),
            leaves: Vec::new(),
            running: Vec::new(),
            bytes_per_real,
            padded: None,
            changing: BTreeSet::new(),
        }
    }

    fn input(
        &mut self,
        list: &LaunchList,
        locals: &[Buffer],
        operand: &Operand,
        out: Rows,
        at_edges: bool,
    ) -> Option<Input> {
        Some(match operand {
            Operand::Number(number) => Input::Number(*number),
            Operand::Times(first, second) => {
                let mut part =
                    |part: &Operand| self.input(list, locals, part, out, at_edges).map(Box::new);
                Input::Times(part(first)?, part(second)?)
            }
            Operand::Rows(rows) => {
                let held = declared(list, locals, &rows.buffer)?;
                let at = match (rows.view, held.rows) {
                    (View::Far(edges), _) => self.end(edges, At::Far, At::Near),
                    (View::Near(edges), _) => self.end(edges, At::Near, At::Far),
                    (View::Own, Rows::Fixed(_)) if !matches!(self.rows, Rows::Fixed(_)) => At::One,
                    (View::Own, Rows::Graphs(_)) if out == Rows::Nodes => At::Graph,
                    (View::Own, Rows::Nodes)
                        if at_edges && matches!(self.over, Over::EdgesOf(_)) =>
                    {
                        At::Near
                    }
                    _ => At::Own,
                };
                let from = match self.steps.iter().position(|step| step.out == rows.buffer) {
                    Some(step) => From::Step(step),
                    None => From::Leaf(self.leaf(held)),
                };
                Input::Rows(Read { from, shape: rows.shape.clone(), at, kind: held.element.kind() })
            }
        })
    }

    /// The far end of in-edges is the near end of out-edges.
    fn end(&self, edges: EdgeSet, same: At, other: At) -> At {
        let walked = match self.over {
            Over::EdgesOf(direction) => direction,
            Over::Edges(_) | Over::Vertices => Direction::In,
        };
        if edges.direction == walked || edges.direction == Direction::Both { same } else { other }
    }

    fn leaf(&mut self, held: &Buffer) -> usize {
        self.leaves.iter().position(|leaf| leaf.name == held.name).unwrap_or_else(|| {
            let (given, stride) =
                (matches!(held.role, Role::Given(_)), held.stride(self.bytes_per_real));
            let ends_in_zeros = given || held.role == Role::Features;
            self.leaves.push(Leaf {
                name: held.name.clone(),
                element: held.element,
                rows: held.rows,
                columns: held.columns,
                stride,
                given,
                ends_in_zeros,
            });
            self.leaves.len() - 1
        })
    }

    /// The columns without padding, for this many places of a row.
    pub fn columns_of(&self, places: u64) -> u64 {
        self.padded
            .filter(|from_operation| from_operation.stride == places)
            .map_or(places, |from_operation| from_operation.columns)
    }

    /// Passes over the edges.
    pub fn passes(&self) -> usize {
        self.steps.iter().map(|step| step.passes).max().unwrap_or(0)
    }

    /// Whether a step draws dropout.
    pub fn draws(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.op, Op::Dropout { .. }))
    }

    /// The direction in which edges are walked.
    pub fn direction(&self) -> Option<Direction> {
        if let Over::EdgesOf(direction) = self.over { Some(direction) } else { None }
    }
}

impl Input {
    /// All rows that it reads.
    pub fn reads(&self) -> Vec<&Read> {
        match self {
            Input::Number(_) => Vec::new(),
            Input::Rows(read) => vec![read],
            Input::Times(first, second) => {
                first.reads().into_iter().chain(second.reads()).collect()
            }
        }
    }

    /// The shape of a row.
    pub fn shape(&self) -> Vec<u64> {
        match self {
            Input::Number(_) => Vec::new(),
            Input::Rows(read) => read.shape.clone(),
            Input::Times(first, second) => {
                broadcast(&first.shape(), &second.shape()).unwrap_or_default()
            }
        }
    }

    /// The type of an element.
    pub fn kind(&self) -> Type {
        match self {
            Input::Number(number) => number.kind(),
            Input::Rows(read) => read.kind,
            Input::Times(first, second) => {
                if first.kind() == Type::Real {
                    Type::Real
                } else {
                    second.kind()
                }
            }
        }
    }
}

impl Step {
    /// Elements per row.
    pub fn columns(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }
}

/// The rows that a single operation walks.
fn alone(list: &LaunchList, out: &str, op: &Op) -> Option<Over> {
    Some(match (reduced(op), declared(list, &[], out)?.rows) {
        (Some(edges), _) => Over::EdgesOf(edges.direction),
        (None, rows @ (Rows::Edges | Rows::EdgesTwice)) => Over::Edges(rows),
        (None, _) => Over::Vertices,
    })
}

fn declared<'a>(list: &'a LaunchList, locals: &'a [Buffer], name: &str) -> Option<&'a Buffer> {
    locals.iter().chain(&list.buffers).find(|buffer| buffer.name == name)
}
