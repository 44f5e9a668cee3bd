//! operands: the steps of a kernel as they are resolved, and the rows that each reads.
use warploom_vertex::gir::{Binary, Op, Type};

use super::Level;

/// A step, resolved.
#[derive(Clone, Debug)]
pub(super) struct Resolved<T> {
    pub op: Op,
    pub shape: Vec<u64>,
    pub columns: usize,
    pub kind: Type,
    pub level: Level,
    /// Factors of each input; more than one only where it is a product.
    pub inputs: Vec<Vec<RowOperand<T>>>,
    /// Type of the elements of the first input.
    pub input_kind: Type,
    /// Shape of each input, as it is read.
    pub input_shapes: Vec<Vec<u64>>,
    pub store: Option<usize>,
    pub way: StepMethod,
    /// Of a choice, or of a reduction of some edges: what it compares, if that is never stored.
    pub compared: Option<Compared<T>>,
}

/// How a step is done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepMethod {
    /// On laid out operands.
    Plain,
    /// A sum of far rows, each times a number for each of this many parts of it: the position of
    /// the rows among the factors.
    Gathered { far: usize, parts: usize, narrow: Vec<u64> },
    /// Sums along the last axis of products of two rows.
    Dot,
}

/// Rows of one operand, as a step reads them.
#[derive(Clone, Debug)]
pub(super) struct RowOperand<T> {
    pub from: Origin<T>,
    pub kind: Type,
    pub columns: usize,
    pub shape: Vec<u64>,
    pub layout: OperandLayout,
    pub at: RowChoice,
}

/// Where elements come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<T> {
    Real(T),
    Whole(i64),
    Step(usize),
    Buffer(usize),
}

/// Which row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowChoice {
    /// The only one.
    One,
    /// That of the current row or edge.
    Own,
    /// That of the vertex's graph.
    Graph,
    /// That of the vertex at the far end.
    Far,
    /// That of the vertex that owns the edge.
    Near,
}

/// How a row is laid out in the step's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperandLayout {
    Same,
    /// One element for all.
    First,
    /// Each element repeated so many times in a row.
    Each(usize),
    Table(Vec<u32>),
}

/// What a choice, or a reduction of some edges, compares.
#[derive(Clone, Debug)]
pub(super) struct Compared<T> {
    pub operator: Binary,
    pub inputs: [Vec<RowOperand<T>>; 2],
}
