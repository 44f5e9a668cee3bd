//! operands: the resolved steps of a kernel, and the rows that each reads.
use warploom_ir::{Binary, Op, Type};

use super::Level;

/// A resolved step.
#[derive(Clone, Debug)]
pub(super) struct Resolved<T> {
    pub op: Op,
    pub shape: Vec<u64>,
    pub columns: usize,
    pub kind: Type,
    pub level: Level,
    /// The factors of each input; more than one only for a product.
    pub inputs: Vec<Vec<RowOperand<T>>>,
    /// Element type of the first input.
    pub input_kind: Type,
    /// Shape of each input, as it is read.
    pub input_shapes: Vec<Vec<u64>>,
    pub store: Option<usize>,
    pub way: StepMethod,
    /// The buffer whose far rows a reduction reads, if it reads these alone.
    pub far_rows: Option<usize>,
    /// The comparison inside a select or a masked reduction, if it is inlined.
    pub compared: Option<Compared<T>>,
}

/// How a step is computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepMethod {
    /// On operands in the layout of the step.
    Plain,
    /// A gathered sum: far rows, each part times a factor; `far` is the position of the rows among
    /// the factors.
    Gathered { far: usize, parts: usize, narrow: Vec<u64> },
    /// A dot product: the sum along the last axis of a product of two rows.
    Dot,
}

/// Rows of an operand, as a step reads them.
#[derive(Clone, Debug)]
pub(super) struct RowOperand<T> {
    pub from: Origin<T>,
    pub kind: Type,
    pub columns: usize,
    pub shape: Vec<u64>,
    pub layout: OperandLayout,
    pub at: RowChoice,
}

/// The source of an operand's elements.
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
    /// The only row (broadcast).
    One,
    /// The row of the current vertex or edge.
    Own,
    /// The row of the vertex's graph.
    Graph,
    /// The row of the vertex at the far end.
    Far,
    /// The row of the vertex that owns the edge.
    Near,
}

/// How an operand's row is broadcast to the step's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperandLayout {
    Same,
    /// The first element, for all.
    First,
    /// Each element repeated this many times.
    Each(usize),
    Table(Vec<u32>),
}

/// The comparison inside a select or a masked reduction.
#[derive(Clone, Debug)]
pub(super) struct Compared<T> {
    pub operator: Binary,
    pub inputs: [Vec<RowOperand<T>>; 2],
}
