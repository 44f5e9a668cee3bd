//! evaluate: one operation of a program on rows: a plain parallel loop for each, without fusion.
//!
//! promises  equals `ir::interpret`, up to the order in which sums over rows are added;
//!           reductions over the edges of a vertex run in the order of edge ids, so that neither
//!           the thread count nor the node order changes a bit; sums over rows use blocks that
//!           depend on sizes only; pooling sums over the vertices of a graph run in the order of
//!           its vertex list
//! never     materialises vertex rows per edge (gather): it reads them in place
//! limits    fewer than 2^32 edges; a vertex is processed by one task, however many edges it has,
//!           and so is a graph of a batch
mod dense;
mod edges;
mod element;
mod elementwise;
mod row_axes;
mod source;
#[cfg(test)]
mod tests;
mod triangles;

use warploom_ir::{EdgeSet, Input, Op, Type};

pub use element::Element;
pub(crate) use element::empty_reduction;
pub(crate) use row_axes::{axis_lengths, runs};
pub(crate) use source::broadcast_columns;

use crate::Real;
use crate::random::dropout::DrawContext;

/// Elements that are read.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a, T> {
    /// Floats of the run's type.
    Real(&'a [T]),
    /// Bools, integers and ids.
    Whole(&'a [i64]),
}

/// Elements that are written.
#[derive(Debug)]
pub enum ValuesMut<'a, T> {
    /// Floats of the run's type.
    Real(&'a mut [T]),
    /// Bools, integers and ids.
    Whole(&'a mut [i64]),
}

/// How a row of the result maps to a row of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The row of the same number.
    Same,
    /// The only row (broadcast).
    One,
    /// The row of the vertex's graph.
    Graph,
    /// The row of the vertex at the far end of the edge.
    Far(EdgeSet),
    /// The row of the vertex that owns the edge.
    Near(EdgeSet),
}

/// Rows of an operand.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a, T> {
    /// Elements, row-major.
    pub values: Values<'a, T>,
    /// Shape of a row.
    pub shape: &'a [u64],
    /// How rows of the result map to these.
    pub index: Index,
}

/// An operand: rows, or an element-wise product of operands that is computed on the fly.
#[derive(Clone, Debug)]
pub enum Part<'a, T> {
    /// Rows.
    Leaf(Leaf<'a, T>),
    /// The element-wise product of two.
    Times(Box<Part<'a, T>>, Box<Part<'a, T>>),
}

/// The edges of each vertex in one direction (CSR), in the order of edge ids.
#[derive(Clone, Copy, Debug)]
pub struct EdgeList<'a> {
    /// Where the edges of a vertex start; one more than there are vertices.
    pub offsets: &'a [u64],
    /// Edge ids; empty where no operation asks for the number of an edge.
    pub edges: &'a [u32],
    /// The vertex at the other end.
    pub far: &'a [u32],
}

/// The graph that operations run on; lists that no operation needs are empty.
#[derive(Clone, Copy, Debug)]
pub struct EdgeGraph<'a> {
    /// Number of vertices.
    pub nodes: usize,
    /// Number of edges.
    pub edge_count: usize,
    /// In-edges.
    pub incoming: Option<EdgeList<'a>>,
    /// Out-edges.
    pub outgoing: Option<EdgeList<'a>>,
    /// Source of each edge.
    pub source: &'a [u32],
    /// Target of each edge.
    pub target: &'a [u32],
    /// Relation of each edge.
    pub relation: &'a [u16],
    /// The graphs of a batch; none: all vertices belong to graph 0.
    pub graphs: Option<GraphList<'a>>,
}

/// The graphs of a batch.
#[derive(Clone, Copy, Debug)]
pub struct GraphList<'a> {
    /// Graph of each vertex.
    pub of_vertex: &'a [u32],
    /// Where the vertices of a graph start; one more than there are graphs.
    pub offsets: &'a [u64],
    /// Vertices, grouped by graph in the order in which they are pooled.
    pub vertices: &'a [u32],
}

/// One operation with its operands.
#[derive(Debug)]
pub struct Call<'a, T> {
    /// The operation.
    pub op: &'a Op,
    /// Shape of a row of the result.
    pub shape: &'a [u64],
    /// Rows of the result.
    pub rows: usize,
    /// Element type of the result.
    pub kind: Type,
    /// Operands, in the order of the operation.
    pub inputs: &'a [Part<'a, T>],
    /// The graph.
    pub graph: EdgeGraph<'a>,
    /// Whether this is a training pass, and the state that dropout draws from.
    pub context: DrawContext<'a>,
}

impl<T> Call<'_, T> {
    /// Elements of a row of the result.
    fn columns(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }
}

impl<'a, T> Values<'a, T> {
    pub(crate) fn reals(&self) -> &'a [T] {
        match self {
            Values::Real(values) => values,
            Values::Whole(_) => {
                unreachable!("a validated list reads reals where it computes with reals")
            }
        }
    }

    pub(crate) fn integers(&self) -> &'a [i64] {
        match self {
            Values::Whole(values) => values,
            Values::Real(_) => {
                unreachable!("a validated list reads whole numbers where it computes with them")
            }
        }
    }
}

impl<T> Part<'_, T> {
    /// Whether its elements are integers.
    fn is_whole(&self) -> bool {
        match self {
            Part::Leaf(leaf) => matches!(leaf.values, Values::Whole(_)),
            Part::Times(first, _) => first.is_whole(),
        }
    }

    fn shape(&self) -> Vec<u64> {
        match self {
            Part::Leaf(leaf) => leaf.shape.to_vec(),
            Part::Times(first, second) => {
                warploom_ir::broadcast(&first.shape(), &second.shape()).unwrap_or_default()
            }
        }
    }
}

/// Computes the result of an operation. The caller has made sparse features dense.
pub fn evaluate<T: Real + element::Element>(out: ValuesMut<T>, call: &Call<T>) {
    T::run_evaluate(out, call);
}

pub(crate) fn evaluate_of_type<T: Real + element::Element>(out: ValuesMut<T>, call: &Call<T>) {
    match call.op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Dropout { .. }
        | Op::Detach
        | Op::WhenTraining
        | Op::Give
        | Op::Expand
        | Op::Reshape => {
            elementwise::evaluate(out, call);
        }
        Op::Reduce(..)
        | Op::Winner(..)
        | Op::Others(_)
        | Op::Fold(..)
        | Op::Turn
        | Op::CommonNeighbors
        | Op::CommonNeighborsSum(_) => edges::evaluate(out, call),
        Op::Pool(_)
        | Op::SumRows
        | Op::Product { .. }
        | Op::Outer
        | Op::Lookup { .. }
        | Op::Scatter { .. } => dense::evaluate(out, call),
        Op::Axis(..) | Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. } => {
            row_axes::evaluate(out, call)
        }
        Op::Input(Input::Features) => elementwise::copy(out, call),
        Op::Constant(_)
        | Op::Input(_)
        | Op::Parameter(_)
        | Op::State(_)
        | Op::Ended(..)
        | Op::Far(_)
        | Op::Near(_)
        | Op::Loss(_)
        | Op::LossSlope(_) => {
            unreachable!("a validated list has no launch of `{:?}`", call.op)
        }
    }
}
