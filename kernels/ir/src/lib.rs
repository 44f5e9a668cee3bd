//! ir: the graph intermediate representation of a vertex program, a DAG over symbolic rows, after
//! that of Seastar (Wu et al., EuroSys 2021); and what it means (`interpret`).
//!
//! promises  a node's inputs precede it; place, type and shape of every node are known and were
//!           checked when it was created (only `Builder` creates nodes); equal programs print equal
//! never     contains data, a device or a thread count; defines how a node is computed (`interpret`
//!           defines its meaning)
//!
//! A value has a row for each vertex (D), each edge (E), each graph (G), or one for all (P, and C
//! if it is known at compile time). S has a row for each edge that depends on the vertex at its far
//! end alone, so that it is computed once per vertex: `Builder` moves element-wise operations from
//! S back to D. Rows have a shape, `[]` for a number.
mod build;
mod data;
pub mod interpret;
mod nearest;
mod operators;
mod print;
mod row;
mod row_shapes;
mod types;

pub use build::{Builder, Misfit, NodeResult};
pub use data::{Data, NodeKind, Target};
pub use nearest::nearest;
pub use operators::{Binary, GradientSteps, Property, Unary, cuda_real, give_chosen};
pub(crate) use operators::{sigmoid, softplus};
pub use print::line_and_column;
pub use row::broadcast;
pub use types::{Direction, EdgeRows, EdgeSet, Half, Init, Loss, Number, Place, Type};

/// Number of a node within a program.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Its place in `Gir::nodes`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bytes of the program's text that a node comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Its operands, all of them before this node.
    pub inputs: Vec<NodeId>,
    /// What a row corresponds to.
    pub place: Place,
    /// Type of an element.
    pub kind: Type,
    /// Shape of a row.
    pub shape: Vec<u64>,
    /// The loop that recomputes it in each superstep; none: computed once.
    pub region: Option<usize>,
    /// Its place in the program's text.
    pub span: Span,
    /// The name in the program (`h` for `v.h`), for display.
    pub name: Option<String>,
}

impl Node {
    /// Elements of a row.
    pub fn columns(&self) -> u64 {
        self.shape.iter().product()
    }

    /// How it is displayed: by its name in the program, else by its operation and number.
    pub fn shown(&self, id: NodeId) -> String {
        self.name.clone().unwrap_or_else(|| format!("{} (%{})", self.op.describe(), id.0))
    }
}

/// A whole program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gir {
    /// Entry function.
    pub program: String,
    /// All values; inputs before users.
    pub nodes: Vec<Node>,
    /// Learned tensors and running statistics, in the order of their first use.
    pub parameters: Vec<Parameter>,
    /// Loops over supersteps.
    pub loops: Vec<Loop>,
    /// What the program returns, in order.
    pub results: Vec<Output>,
    /// The loss, if the program trains.
    pub loss: Option<NodeId>,
    /// Gradients of the loss, once `autodiff` has added them.
    pub gradients: Vec<Gradient>,
    /// Running statistics: parameter and its next value, written after each forward pass of
    /// training.
    pub updates: Vec<(usize, NodeId)>,
}

/// A tensor of place P that lives across epochs.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// `<entry>.<def>.<i>.<kind>.<j>` as in language.md; a `linear` adds `.weight` or `.bias`.
    pub name: String,
    /// Shape as saved; weights are `[out, in]`.
    pub shape: Vec<u64>,
    /// Its initial values.
    pub init: Init,
    /// Whether the optimiser updates it; running statistics are saved, but not learned.
    pub learned: bool,
}

/// A superstep that is repeated. The region of its nodes is its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Values carried from one superstep to the next.
    pub states: Vec<State>,
    /// The stop condition; tested after each superstep.
    pub until: StopTest,
}

/// A value that a superstep replaces.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Name in the program.
    pub name: String,
    /// Value before the first superstep.
    pub first: NodeId,
    /// The `Op::State` node that reads it inside.
    pub inside: NodeId,
    /// Value after a superstep.
    pub next: NodeId,
}

/// The stop condition of a loop, tested after each superstep.
#[derive(Clone, Debug, PartialEq)]
pub enum StopTest {
    /// These states did not change.
    Unchanged(Vec<usize>),
    /// The absolute changes of this state sum to at most this. Equal infinities have change 0.
    ChangeAtMost(usize, f64),
    /// This value of the loop, a bool, is false everywhere.
    Nowhere(NodeId),
}

/// One returned value.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Column of the result table: the name of the value, or `value`, `value_1` and so on.
    pub name: String,
    /// The value.
    pub node: NodeId,
    /// For an edge value: the edges that it was computed over.
    pub edges: Option<EdgeSet>,
}

/// A gradient of the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The leaf, an `Op::Parameter` or an `Op::Input`.
    pub of: NodeId,
    /// Its value, with shape and place of the leaf.
    pub node: NodeId,
}

/// The operation of a node. Inputs are listed as `[a, b]`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A compile-time constant. `[]`, C.
    Constant(Number),
    /// An input of the data set. `[]`.
    Input(Input),
    /// A learned tensor or a running statistic, by its position. `[]`, P.
    Parameter(usize),
    /// The state of this position of the loop that is the node's region, at the start of the
    /// superstep. `[]`.
    State(usize),
    /// The state of this position after this loop (first). `[]`, outside of the loop.
    Ended(usize, usize),

    /// Element-wise. `[a]`.
    Unary(Unary),
    /// Element-wise; rows broadcast as in numpy, rows of C, P and G broadcast to every row. `[a,
    /// b]`.
    Binary(Binary),
    /// `yes` where the condition holds, else `no`. `[condition, yes, no]`.
    Select,
    /// A cast; float to int truncates, bool is 0 or 1. `[a]`.
    Cast(Type),
    /// Dropout: each element is 0 with this probability, else scaled; by (seed, epoch, site, own
    /// row, column). The identity in evaluation. Of S it is drawn once per far row; the rows of a
    /// table (P with two axes) are those of its first axis. `[a]`.
    Dropout {
        /// Probability of 0.
        probability: f64,
        /// Distinguishes the dropouts of a program, in the order of the text.
        site: u32,
    },
    /// The value itself, without a gradient. `[a]`.
    Detach,
    /// `a` in training, `b` in evaluation. `[a, b]`.
    WhenTraining,

    /// D to S, a gather: for each edge the row of the vertex at its far end (source for `In`,
    /// target for `Out`). `[a]`.
    Far(EdgeSet),
    /// D to E, a gather: for each edge the row of the vertex that owns it (target for `In`, source
    /// for `Out`). `[a]`.
    Near(EdgeSet),
    /// S or E to D, a scatter: reduces the edges of each vertex in the order of edge ids (`Both`:
    /// in-edges, then out-edges), column by column. `[a]` or `[a, mask]`; edges whose mask, a bool
    /// of shape [], is false are ignored.
    Reduce(Reduction, EdgeSet),
    /// E bool: whether this edge attains the minimum (false) or maximum (true) of its vertex, the
    /// smallest edge id of ties. `[a]` or `[a, mask]`. For the gradient of `min` and `max`.
    Winner(bool, EdgeSet),
    /// E: product of `a` over all other edges of the vertex. `[a]` or `[a, mask]`. The derivative
    /// of a product.
    Others(EdgeSet),
    /// As `Reduce`, with an associative function of the program: `start` (a number), then the edges
    /// in order. `[a, start]` or `[a, start, mask]`.
    Fold(Function, EdgeSet),
    /// EE: the row of the same edge seen from its other end: rows of in-edges and of out-edges are
    /// exchanged. For the gradient of `Far` over `Both`; `[a]`.
    Turn,
    /// E int: distinct third vertices adjacent, in either direction, to both ends. `[]`.
    CommonNeighbors,
    /// D int: the sum of `CommonNeighbors` over the edges of the vertex. `[]`.
    CommonNeighborsSum(EdgeSet),

    /// D to G: over the vertices of each graph; 0 over nothing, -inf for `max`. `[a]`.
    Pool(Pooling),
    /// G to D: the row of the vertex's graph. `[a]`.
    Give,
    /// Rows of any place to P: the sum of all rows. `[a]`.
    SumRows,

    /// Reduces one axis of the row. `[a]`.
    Axis(Pooling, usize),
    /// The same elements as rows of another shape. `[a]`; the shape is the node's.
    Reshape,
    /// The row broadcast to a larger shape, as in numpy. `[a]`; the shape is the node's.
    Expand,
    /// Concatenates rows along this axis. `[a, b, ...]`.
    Concat(usize),
    /// `length` positions of an axis, from `start` on. `[a]`.
    Slice {
        /// Axis of the row.
        axis: usize,
        /// First position.
        start: u64,
        /// Positions.
        length: u64,
    },
    /// Zeros except for the positions of a slice, which are `a`; the axis has length `total`.
    /// `[a]`.
    Unslice {
        /// Axis of the row.
        axis: usize,
        /// First position.
        start: u64,
        /// Length of the axis.
        total: u64,
    },

    /// Rows `[.., k]` times a matrix of place P or C: `[k, n]`, or `[n, k]` when transposed, to
    /// `[.., n]`. `[a, matrix]`.
    Product {
        /// Whether the matrix is `[n, k]`, as weights are saved.
        transposed: bool,
    },
    /// Sum over all rows (and leading axes) of the outer product: `[.., n]` and `[.., k]` to P `[n,
    /// k]`. `[a, b]`.
    Outer,
    /// Row (`table` `[count, k]`), or with `transposed` column (`[k, count]`), of a table of place
    /// P for each index; an index out of range gives zeros. `[table, index]`, to `[k]` at the place
    /// of the index.
    Lookup {
        /// Whether columns are looked up.
        transposed: bool,
    },
    /// P: zeros to which each row is added at its index; the gradient of `Lookup`. `[rows, index]`;
    /// the shape is the node's.
    Scatter {
        /// Whether columns are added to.
        transposed: bool,
    },

    /// Mean loss over the training rows. `[result, target]`, P, shape [].
    Loss(Loss),
    /// Its gradient with respect to the result; 0 in rows that do not train. `[result, target]`.
    LossSlope(Loss),
}

/// An input of the data set.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Features. D real `[columns]`.
    Features,
    /// Number of the vertex's kind. D int.
    Kind,
    /// Features of the vertices of a kind as a table, one row each, in the order of the graph
    /// artifact. P real `[vertices of the kind, columns]`.
    FeaturesOf(u32),
    /// Position of the vertex among those of these kinds: those of the first kind come first, each
    /// in the order of the graph artifact; -1 for a vertex of another kind. D int. The index into
    /// tables per kind.
    PlaceAmong(Vec<u32>),
    /// A further column of nodes.parquet. D.
    Column(String),
    /// Row of nodes.parquet. D id.
    Id,
    /// Whether the vertex is one of those that the setting of this name names. Known to the run,
    /// not to the program. D bool.
    Chosen(String),
    /// Number of edges of each vertex. D int.
    Degree(EdgeSet),
    /// Weight, 1 without weights. E real.
    Weight,
    /// Edge features. E real `[columns]`.
    EdgeFeatures,
    /// Number of the relation. E int.
    EdgeType,
    /// The target: a class (float, shape []) or values. D, or G for data sets of many graphs.
    Target,
    /// Vertices of the graph. G int.
    GraphSize,
}

/// How the edges of a vertex become one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// 0 over nothing; int, real.
    Sum,
    /// inf over nothing (int: i64::MAX, id: u32::MAX); NaN spreads.
    Minimum,
    /// -inf over nothing (int: i64::MIN, id: u32::MAX); NaN spreads.
    Maximum,
    /// 1 over nothing; int, real.
    Product,
    /// bool; false over nothing.
    Any,
    /// bool; true over nothing.
    All,
    /// Number of edges (the value counts for nothing but its mask); int, 0 over nothing.
    Count,
    /// Most frequent, the smallest of equals; sentinel as `Minimum` over nothing.
    Mode,
    /// Largest h such that h edges have at least h; int from int, 0 over nothing.
    HIndex,
}

/// Reductions over vertices or axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Sum.
    Sum,
    /// Largest.
    Maximum,
    /// Smallest.
    Minimum,
}

/// A function of two values of one type, element-wise: the body of `fold`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// First argument.
    Left,
    /// Second argument.
    Right,
    /// A constant.
    Number(Number),
    /// A unary operator.
    Unary(Unary, Box<Function>),
    /// A binary operator.
    Binary(Binary, Box<Function>, Box<Function>),
    /// Condition, yes, no.
    Select(Box<Function>, Box<Function>, Box<Function>),
    /// A cast.
    Cast(Type, Box<Function>),
}

impl Gir {
    /// The node of this number.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All nodes that are live by themselves: results, loss, gradients, updates, and the states and
    /// stop conditions of loops.
    pub fn roots(&self) -> Vec<NodeId> {
        let mut roots: Vec<NodeId> =
            self.results.iter().map(|result| result.node).chain(self.loss).collect();
        roots.extend(self.gradients.iter().map(|gradient| gradient.node));
        roots.extend(self.updates.iter().map(|update| update.1));
        for repeated in &self.loops {
            roots.extend(
                repeated.states.iter().flat_map(|state| [state.first, state.inside, state.next]),
            );
            if let StopTest::Nowhere(node) = repeated.until {
                roots.push(node);
            }
        }
        roots
    }
}

impl EdgeSet {
    /// All in-edges.
    pub const IN: EdgeSet = EdgeSet { direction: Direction::In, relation: None };
    /// All out-edges.
    pub const OUT: EdgeSet = EdgeSet { direction: Direction::Out, relation: None };
    /// In-edges, then out-edges.
    pub const BOTH: EdgeSet = EdgeSet { direction: Direction::Both, relation: None };
}
