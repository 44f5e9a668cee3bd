//! launch: what a plan tells an executor to do, in order, independent of any device.
//!
//! promises  every name that a launch uses is declared among `buffers`; the list is readable JSON
//!           and reads back equal; `LaunchList::validate` finds undeclared names, shape mismatches
//!           and writes to inputs
//! never     says how many threads or blocks there are; contains data
//!
//! Values are rows: a buffer has `rows` x `columns` elements, row-major, in the order of the
//! permuted graph. Operations are those of the compiler's IR, one a launch, or several fused into
//! one walk; products with sparse features are two of their own.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use warploom_ir::{Direction, Half, Init, Loss};
use warploom_tuning as tuning;

mod arena;
mod buffer_access;
mod cost;
mod facts;
mod frontier;
pub mod fuse;
mod group_walks;
mod host_memory;
mod liveness;
pub mod lower;
mod mergeable_products;
mod off_critical_path;
mod operand_shapes;
pub mod reference;
mod render;
mod shortcut_algorithms;
mod single_walk_rules;
mod validate;

pub use arena::{ALIGNMENT, Arena, BufferPlace, Peak};
pub use buffer_access::{gradient_buffer, parameter_buffer};
pub use cost::width;
pub use cost::{BufferReads, Gathered, ListNeeds, Work};
pub use facts::GraphFacts;
pub use frontier::frontier;
pub use group_walks::{
    edge_visits, groups_direction, sees_edge_order, walked_direction, walks_rows,
};
pub use host_memory::{BYTES_PER_THREAD, MADE, Memory, Needs, Stored, TOUCHED_AT_ONCE};
pub use liveness::{Lifetime, Timeline};
pub use mergeable_products::{
    MergedLaunches, Narrow, NarrowSource, differing, is_attended, lies, summed_rows,
};
pub use off_critical_path::off_path_launches;
pub use operand_shapes::fixed;
pub use shortcut_algorithms::{Course, EdgeLength, course};
pub use single_walk_rules::{is_row_wise, name_of_again};
pub use single_walk_rules::{is_total, reduced};
pub use validate::Flaw;

/// Name of a buffer, unique within a launch list: `h.1`, `parameter.gcn.gcn.0.linear.0.weight`,
/// `gradient.<parameter>`.
pub type BufferName = String;

/// A whole program, ready to execute on one graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchList {
    /// Entry function of the vertex program.
    pub program: String,
    /// Every buffer that a launch names.
    pub buffers: Vec<Buffer>,
    /// Learned tensors, in the order of their first use; each has buffers `parameter.NAME` and, in
    /// training, `gradient.NAME`.
    pub parameters: Vec<Parameter>,
    /// The launches, in order.
    pub body: Body,
    /// What the program returns.
    pub results: Vec<ResultColumn>,
    /// The memory layout of everything that launches write, for a graph and dtype known when
    /// planning.
    pub arena: Arena,
    /// Each choice, its reason, and the alternatives.
    pub reasons: Vec<Reason>,
    /// The program line that each buffer comes from, for display; no plan contains it, so that a
    /// comment in a program does not change a plan's bytes.
    #[serde(skip)]
    pub lines: BTreeMap<BufferName, u32>,
}

impl LaunchList {
    /// Fills in the bytes and the schedule of every launch, and the arena.
    pub(crate) fn reckon(&mut self, facts: &GraphFacts) {
        let buffers = std::mem::take(&mut self.buffers);
        let index: BTreeMap<&str, &Buffer> =
            buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect();
        let launches: Vec<&mut Launch> = match &mut self.body {
            Body::Train(train) => {
                let before = train.prepare.iter_mut().chain(&mut train.forward);
                before
                    .chain([&mut train.loss])
                    .chain(&mut train.backward)
                    .chain(&mut train.update)
                    .collect()
            }
            Body::Iterate(iterate) => {
                let loops = iterate.loops.iter_mut().flat_map(|repeated| {
                    repeated.prepare.iter_mut().chain(&mut repeated.superstep)
                });
                loops.chain(&mut iterate.finish).collect()
            }
        };
        for launch in launches {
            launch.bytes = cost::moved(&launch.operation, &index, facts);
            launch.schedule = cost::divided(&launch.operation, &index);
        }
        self.buffers = buffers;
        self.arena = Arena::new(self, facts);
    }
}

/// A buffer of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Unique name.
    pub name: BufferName,
    /// How many rows.
    pub rows: Rows,
    /// Elements in a row.
    pub columns: u64,
    /// Type of an element.
    pub element: Element,
    /// The source of its contents.
    pub role: Role,
}

/// Number of rows of a buffer, by what a row corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// One row per node.
    Nodes,
    /// One row per edge, in edge-id order.
    Edges,
    /// Two rows per edge: all edges as in-edges, then all again as out-edges, each in edge-id
    /// order.
    EdgesTwice,
    /// One row per graph of a data set, with this many graphs.
    Graphs(u64),
    /// A fixed number, for shared values and parameters.
    Fixed(u64),
}

/// Bytes of a cache line of a GPU.
const LINE: u64 = 128;

impl Buffer {
    /// Elements from one row to the next on a GPU, for floats of this size: wide vertex rows are
    /// aligned to 16 bytes, so that no row touches more cache lines than necessary and all are read
    /// by the widest vector loads; long rows are aligned to a cache line, since they are read piece
    /// by piece. The padding is unused.
    pub fn stride(&self, bytes_per_real: u64) -> u64 {
        let is_row =
            self.rows == Rows::Nodes && self.element == Element::Real && !self.role.is_sparse();
        let start =
            if self.columns < tuning::long_row_bytes() / bytes_per_real.max(1) { 16 } else { LINE };
        if is_row && self.columns > 2 {
            self.columns.next_multiple_of(start / bytes_per_real.max(1))
        } else {
            self.columns
        }
    }
}

impl Rows {
    /// The number of rows.
    pub fn count(self, nodes: u64, edges: u64) -> u64 {
        match self {
            Rows::Nodes => nodes,
            Rows::Edges => edges,
            Rows::EdgesTwice => edges.saturating_mul(2),
            Rows::Graphs(count) | Rows::Fixed(count) => count,
        }
    }
}

/// Type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// The run's dtype, f32 or f64.
    Real,
    /// The same, stored as 16-bit floats; only fused walks write and read it.
    Half(Half),
    /// A bool (0 or 1), an int or an id, stored as a signed 64-bit integer; never `Type::Real`.
    Whole(warploom_ir::Type),
}

/// The source of a buffer's contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Dense node features of the graph artifact; read only.
    Features,
    /// Sparse node features of the graph artifact (CSR); read only, and only by sparse products.
    SparseFeatures,
    /// Sparse node features of one kind; a row for each of its vertices, in the order of the graph
    /// artifact.
    SparseFeaturesOf {
        /// Number of the kind.
        kind: u32,
        /// Nonzeros.
        entries: u64,
    },
    /// The training target: class as a float in one column, or regression targets; read only.
    Target,
    /// Another input of the data set: a column, degrees, edge weights and so on; read only.
    Given(warploom_ir::Input),
    /// A learned tensor, written by the optimiser only, or a running statistic, written after a
    /// training pass.
    Parameter,
    /// Gradient of the loss with respect to a parameter.
    Gradient,
    /// Written by launches.
    Value,
}

/// A learned tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// `<entry>.<def>.<i>.<kind>.<j>` as in language.md; a `linear` adds `.weight` or `.bias`.
    pub name: String,
    /// Shape as saved; weights are `[out, in]`. A bias has one axis and its buffer has one row.
    pub shape: Vec<u64>,
    /// Its initial values; drawn from (seed, name), so that an edit elsewhere changes nothing.
    pub init: Init,
    /// Whether the optimiser updates it; a running statistic is saved with the others and follows
    /// `Train::statistics`.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub learned: bool,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_yes(flag: &bool) -> bool {
    *flag
}

/// The launches of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a list has one body")]
pub enum Body {
    /// Epochs of full-batch training.
    Train(Train),
    /// Supersteps to a fixed point.
    Iterate(Iterate),
}

/// Launches of training; of inference if `backward` and `update` are empty, and then nothing draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Once, before the first epoch: values that do not depend on parameters.
    pub prepare: Vec<Launch>,
    /// Each epoch: from features to the program's result. With dropout in training and without in
    /// evaluation.
    pub forward: Vec<Launch>,
    /// The loss over the training rows and the gradient of the result.
    pub loss: Launch,
    /// From the gradient of the result to the gradient of every parameter.
    pub backward: Vec<Launch>,
    /// One `optimize` for each parameter.
    pub update: Vec<Launch>,
    /// Running statistics and their next values, copied at the end of each epoch of training.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<Commit>,
    /// Whether a training pass differs from an evaluation pass, by dropout or by statistics: if
    /// not, one serves both.
    pub draws: bool,
}

/// Loops in sequence; without any, a program that runs once (with learned parameters: inference).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iterate {
    /// Each runs to its end before the next.
    pub loops: Vec<Loop>,
    /// Once, after the last loop: from the states to the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finish: Vec<Launch>,
}

/// Launches of one loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Once: initial states and loop-invariant values.
    pub prepare: Vec<Launch>,
    /// Each superstep; reads states, writes their successors.
    pub superstep: Vec<Launch>,
    /// Buffers that are exchanged at the end of a superstep, after the stop condition was tested.
    pub commit: Vec<Commit>,
    /// The stop condition.
    pub until: StopCondition,
    /// A faster algorithm for the same fixed point, if one is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
    /// Where a superstep need only recompute the rows that read a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frontier: Option<FrontierPlan>,
}

/// How a superstep on a CPU finds the rows that it computes. It computes all of them where one of
/// two parts is exceeded, which affects no bit of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontierPlan {
    /// The edges along which changes propagate.
    pub direction: Direction,
    /// Changed rows and their edges are at most one in so many of all rows and edges.
    pub changed_part: u64,
    /// Edges of the rows that read a change are at most one in so many of all rows and edges.
    pub readers_part: u64,
}

/// A state and the buffer that holds its next value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Value at the start of the superstep.
    pub state: BufferName,
    /// Value at its end.
    pub next: BufferName,
}

/// The stop condition of a loop, tested after each superstep, before its commits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCondition {
    /// The sum of absolute changes of this state is at most this; equal infinities have change 0.
    ChangeAtMost(BufferName, f64),
    /// No value of these states changed.
    Unchanged(Vec<BufferName>),
    /// This buffer of bools is false everywhere.
    Nowhere(BufferName),
}

/// One launch: its operation, how it is split, and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Short name for reports, unique within the list.
    pub name: String,
    /// What is computed.
    pub operation: Operation,
    /// How it is split into units.
    pub schedule: Schedule,
    /// Minimum bytes read and written, for a graph and dtype known when planning.
    pub bytes: u64,
}

/// How a launch is split into units; the executor only assigns units to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The row units of the partition, balanced by nonzeros.
    PartitionRows,
    /// Blocks of this many rows.
    RowBlocks(u64),
    /// One unit.
    Whole,
}

/// The operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// `out = left @ right^T`, with the sparse features as left operand, after dropout of each
    /// value.
    SparseProduct {
        /// Written.
        out: BufferName,
        /// Buffer of role `sparse_features`.
        left: BufferName,
        /// A parameter, `[columns of out, k]`.
        right: BufferName,
        /// Dropout of the features, if any.
        dropout: Option<Dropout>,
    },
    /// `out = left^T @ right`, summed over all rows in a fixed order, with the sparse features as
    /// right operand, after the same dropout: the gradient of that parameter.
    SparseProductOverRows {
        /// Written, columns of left x columns of the features.
        out: BufferName,
        /// rows x m.
        left: BufferName,
        /// Buffer of role `sparse_features`.
        right: BufferName,
        /// Dropout of the features, if any.
        dropout: Option<Dropout>,
    },
    /// `out = op(inputs)`, as `interpret` defines the operation. Inputs and constants need no
    /// launch of their own.
    Evaluate {
        /// Written.
        out: BufferName,
        /// Shape of a row of `out`; for a single shared row, its shape.
        shape: Vec<u64>,
        /// The operation.
        op: warploom_ir::Op,
        /// Its operands, in the order of the operation.
        inputs: Vec<Operand>,
    },
    /// Several evaluated operations fused into one walk: vertex by vertex, or edge by edge, each
    /// row passes through all of them while it is in registers or cache.
    Fused {
        /// What the walk iterates over.
        over: Over,
        /// Values that only the steps read: they are never materialised.
        locals: Vec<Buffer>,
        /// Each an `evaluate`, in order.
        steps: Vec<Operation>,
    },
    /// The mean loss over the training rows, and its gradient with respect to the result (0 in
    /// other rows).
    Loss {
        /// The kind of loss.
        kind: Loss,
        /// The program's result.
        result: BufferName,
        /// Buffer of role `target`.
        target: BufferName,
        /// Written: gradient with respect to the result.
        gradient: BufferName,
        /// Written: one element.
        value: BufferName,
    },
    /// One optimiser step for one parameter; its moments belong to the executor.
    Optimize {
        /// The parameter's name (buffers `parameter.NAME`, `gradient.NAME`).
        parameter: String,
    },
}

/// What a fused launch iterates over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Each vertex alone.
    Vertices,
    /// Each vertex with its edges in this direction.
    EdgesOf(Direction),
    /// Each edge, by its id: rows of edges of this kind.
    Edges(Rows),
}

/// An operand of an evaluated operation. Vertex rows can be read through edges (gathered), and are
/// never materialised as edge rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    /// A constant.
    Number(warploom_ir::Number),
    /// Rows of a buffer.
    Rows(Rowed),
    /// The element-wise product of two operands, computed where it is read; for `Reduce` and sums
    /// along an axis.
    Times(Box<Operand>, Box<Operand>),
}

/// Rows of a buffer, their shape, and the view that they are read through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rowed {
    /// Read.
    pub buffer: BufferName,
    /// Shape of a row; it has as many elements as a row of the buffer, or as the whole buffer for a
    /// single shared row.
    pub shape: Vec<u64>,
    /// The view.
    #[serde(default, skip_serializing_if = "View::is_own")]
    pub view: View,
}

/// The view that rows are read through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The row itself.
    #[default]
    Own,
    /// Vertex rows: for each edge that of its far end.
    Far(warploom_ir::EdgeSet),
    /// Vertex rows: for each edge that of the vertex that owns it.
    Near(warploom_ir::EdgeSet),
}

/// Dropout at one place of the program: drawn from (seed, epoch, site, row or edge id in the graph
/// artifact, column), so that it is independent of device, threads, node order and partition; the
/// identity in evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropout {
    /// Probability of zero, in [0, 1).
    pub probability: f64,
    /// Which dropout of the program, counted from 0.
    pub site: u32,
}

/// One returned value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultColumn {
    /// Name in the result table.
    pub name: String,
    /// Its buffer.
    pub buffer: BufferName,
    /// For edge values: the list that they were computed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<warploom_ir::EdgeSet>,
}

/// A choice of the planner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// What was chosen: `order of layer 1`.
    pub what: String,
    /// The choice: `product first`.
    pub chosen: String,
    /// The reason, with the numbers.
    pub why: String,
    /// The alternatives with their predicted cost in bytes, including the chosen one.
    pub alternatives: BTreeMap<String, u64>,
}

impl Role {
    /// Whether the contents are stored sparse (CSR).
    pub fn is_sparse(&self) -> bool {
        matches!(self, Role::SparseFeatures | Role::SparseFeaturesOf { .. })
    }
}

impl View {
    /// Whether rows are read without a view.
    pub fn is_own(&self) -> bool {
        *self == View::Own
    }

    /// The edges of the view, if any.
    pub fn edges(self) -> Option<warploom_ir::EdgeSet> {
        match self {
            View::Own => None,
            View::Far(edges) | View::Near(edges) => Some(edges),
        }
    }
}

impl Operand {
    /// Every buffer that is read, left to right.
    pub fn rows(&self) -> Vec<&Rowed> {
        match self {
            Operand::Number(_) => Vec::new(),
            Operand::Rows(rows) => vec![rows],
            Operand::Times(first, second) => {
                first.rows().into_iter().chain(second.rows()).collect()
            }
        }
    }

    /// The product of two.
    pub(crate) fn product_of([first, second]: [Operand; 2]) -> Operand {
        Operand::Times(Box::new(first), Box::new(second))
    }

    /// With rows replaced.
    pub(crate) fn changed(&self, change: &dyn Fn(&Rowed) -> Operand) -> Operand {
        match self {
            Operand::Number(number) => Operand::Number(*number),
            Operand::Rows(rows) => change(rows),
            Operand::Times(first, second) => {
                Operand::product_of([first, second].map(|part| part.changed(change)))
            }
        }
    }

    /// Shape of a row.
    pub fn shape(&self) -> Vec<u64> {
        match self {
            Operand::Number(_) => Vec::new(),
            Operand::Rows(rows) => rows.shape.clone(),
            Operand::Times(first, second) => {
                warploom_ir::broadcast(&first.shape(), &second.shape()).unwrap_or_default()
            }
        }
    }
}
