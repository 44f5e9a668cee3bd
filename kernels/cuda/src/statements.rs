//! statements: what a kernel does for a row and for its edges, as data.
//!
//! promises  a statement names the value that it computes, with type and spread, and everything
//!           that it reads: rows of buffers, numbers of edges, values, facts of the row. Code that
//!           declares parameters, loads edge lists or counts registers asks the statements
//! never     prints (`statement_text.rs`), or decides how work is divided
use std::collections::BTreeSet;

use super::lane_layout::{Lanes, Spread};
use warploom_ir::{Binary, Reduction, Type, Unary};
use warploom_launch::Element;

/// Where a statement is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Once per row, after this many passes over its edges.
    Row(usize),
    /// Once per edge, in this pass.
    Edge(usize),
    /// In this pass, each lane for one of the edges in flight alone.
    Lane(usize),
}

/// Numbers of edges, one per edge, in the order of the walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    /// The far vertex.
    Far,
    /// The row of the edge.
    Edge,
    /// Its relation.
    Relation,
    /// An input value of edges with one column: the leaf.
    Given(usize),
    /// The columns of the edge's row that a dropout keeps, a bit each: threshold, site and columns.
    Kept(u32, u32, usize),
}

/// A number of a stream, as a statement reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamNumber {
    /// Which stream of its walk.
    pub stream: usize,
    /// Whether that is the stream of far vertices.
    pub is_far: bool,
    /// Whether it is that of the lane's own edge, and not that of edge `k` in flight.
    pub of_lane: bool,
}

/// A value in registers.
#[derive(Clone, Debug)]
pub(super) struct RegisterValue {
    pub name: String,
    pub spread: Spread,
    /// Whether it has an element for each edge in flight.
    pub many: bool,
    pub kind: Type,
    /// The number of an edge that it stands for, if no statement computes it.
    pub of_stream: Option<StreamNumber>,
}

impl RegisterValue {
    /// A value that a statement computes.
    pub fn new(name: String, kind: Type, spread: Spread) -> RegisterValue {
        RegisterValue { name, spread, many: false, kind, of_stream: None }
    }

    /// A value with an element for each edge in flight.
    pub fn of_edges(name: String, kind: Type, spread: Spread) -> RegisterValue {
        RegisterValue { many: true, ..RegisterValue::new(name, kind, spread) }
    }
}

/// What statements read and others provide: parameters, edge lists, other statements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Rows of this buffer.
    Rows(String),
    /// The number of a stream, for each edge in flight.
    Stream(usize),
    /// The number of a stream, for the lane's own edge.
    StreamOfLane(usize),
    /// A value, by name.
    Value(String),
    /// The number of the vertex in its graph.
    RowInGraph,
    /// The graph of the vertex.
    Graph,
    /// Both ends of an edge that is itself the walked row.
    EdgeEnds,
    /// Whether the lane's own edge exists.
    LaneEdge,
    /// Whether edges were processed before those in flight.
    Begun,
    /// Whether this is a training pass.
    Training,
    /// The epoch and the seed, which dropouts draw from.
    Draw,
}

/// Everything that some statements read.
pub(super) type Reads = BTreeSet<Source>;

/// How an expression combines others.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Casts a value of the first type to the second.
    Cast(Type, Type),
    Unary(Unary),
    /// An operator; the flag says whether its operands are floats.
    Binary(Binary, bool),
    /// The second if the first holds, else the third.
    Select,
    /// The exponential of a value that is at most 0.
    ExponentialOfShare,
    /// The exponential of a difference that is at most 0.
    ExponentialOfDifference,
    /// Joins two parts of a reduction.
    Join(Reduction, Type),
    /// In parentheses.
    Grouped,
    /// The first in a training pass, else the second.
    WhenTraining,
    /// The first at places of the row where this condition holds, else the second.
    AtPlaces(String),
    /// The same in parentheses.
    GroupedAtPlaces(String),
    /// The first, scaled, if the bit of this column is set in the second; in training only.
    Kept {
        column: String,
        scale: String,
    },
    /// The value of the lane that holds edge `k`.
    FromLane,
    /// The factor of sums when the maximum score grows from the first to the second.
    Growth,
    /// The score of the lane's own edge, if that exists.
    OfLaneEdge,
    /// The maximum score, or 0 if there is none.
    FiniteOrZero,
    /// Whether the number of a relation is this one.
    IsRelation(u32),
}

/// An expression, for a place of a row.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// A literal, or the element of a row at a place: it reads nothing.
    Text(String),
    Value(RegisterValue),
    Stream(StreamNumber),
    Apply(Form, Vec<Expression>),
}

impl Expression {
    pub fn apply(form: Form, operands: impl Into<Vec<Expression>>) -> Expression {
        Expression::Apply(form, operands.into())
    }

    pub fn value(value: &RegisterValue) -> Expression {
        Expression::Value(value.clone())
    }

    /// A value cast to another type.
    pub fn cast(value: &RegisterValue, to: Type) -> Expression {
        Expression::apply(Form::Cast(value.kind, to), [Expression::value(value)])
    }

    /// Adds everything that it reads.
    pub fn add_reads(&self, reads: &mut Reads) {
        match self {
            Expression::Text(_) => {}
            Expression::Value(value) => value.add_reads(reads),
            Expression::Stream(number) => number.add_reads(reads),
            Expression::Apply(form, operands) => {
                match form {
                    Form::WhenTraining => {
                        reads.insert(Source::Training);
                    }
                    Form::Kept { .. } => reads.extend([Source::Training, Source::Draw]),
                    Form::OfLaneEdge => {
                        reads.insert(Source::LaneEdge);
                    }
                    _ => {}
                }
                operands.iter().for_each(|operand| operand.add_reads(reads));
            }
        }
    }
}

impl StreamNumber {
    fn add_reads(self, reads: &mut Reads) {
        reads.insert(if self.of_lane {
            Source::StreamOfLane(self.stream)
        } else {
            Source::Stream(self.stream)
        });
    }
}

impl RegisterValue {
    fn add_reads(&self, reads: &mut Reads) {
        match self.of_stream {
            Some(number) => number.add_reads(reads),
            None => {
                reads.insert(Source::Value(self.name.clone()));
            }
        }
    }
}

/// Which row of a buffer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowNumber {
    /// The only row.
    Only,
    /// The row of the vertex, or of the edge that is the walked row.
    Own,
    /// The rows of the ends of an edge that is the walked row.
    Near,
    Far,
    /// The row of the vertex's graph.
    Graph,
    /// The row that a number of an edge names.
    OfEdge(StreamNumber),
}

impl RowNumber {
    fn add_reads(self, reads: &mut Reads) {
        match self {
            RowNumber::Only | RowNumber::Own => {}
            RowNumber::Near | RowNumber::Far => {
                reads.insert(Source::EdgeEnds);
            }
            RowNumber::Graph => {
                reads.insert(Source::Graph);
            }
            RowNumber::OfEdge(number) => number.add_reads(reads),
        }
    }
}

/// A load of elements of a buffer's row into registers.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub value: RegisterValue,
    pub scope: Scope,
    pub buffer: String,
    pub element: Element,
    pub row: RowNumber,
    /// Elements from one row to the next.
    pub stride: u64,
    /// Which element of the row.
    pub index: String,
    /// The address of the lane's columns in row 0, if it is computed before the pass.
    pub found: Option<String>,
    /// The template arguments of a vector load, where elements are adjacent.
    pub vectors: Option<String>,
    /// Whether other blocks write the buffer while the kernel runs.
    pub is_changing: bool,
}

/// A reduction along an axis of a row whose elements are in several lanes.
#[derive(Clone, Debug)]
pub(super) struct AxisReduction {
    pub value: RegisterValue,
    pub reduction: Reduction,
    /// The initial value.
    pub begin: String,
    /// The lane's value at a place.
    pub made: Expression,
    /// Lanes that share the axis, and whether they exchange values at doubling distances.
    pub around: usize,
    pub doubles: bool,
}

/// The row that a dropout draws for.
#[derive(Clone, Copy, Debug)]
pub(super) enum DrawnRow {
    /// The vertex, by its number in its graph.
    Vertex,
    /// Another walked row.
    Walked,
    /// The edge.
    Edge(StreamNumber),
    /// Rows of a table, of this many columns each.
    Table(Option<u64>),
}

/// A dropout of a row's elements.
#[derive(Clone, Debug)]
pub(super) struct Dropout {
    pub value: RegisterValue,
    pub of: Expression,
    /// Registers that hold which elements are kept.
    pub kept: String,
    pub row: DrawnRow,
    /// The element of the row that is drawn for: the first of `V`, or the only one.
    pub column: String,
    pub draws_vectors: bool,
    pub site: u32,
    pub threshold: u32,
    pub scale: String,
}

/// A store of a value's elements to a row of a buffer.
#[derive(Clone, Debug)]
pub(super) struct Store {
    pub buffer: String,
    pub value: RegisterValue,
    /// Elements from one row to the next; none if there is one row.
    pub stride: Option<u64>,
    pub how: StoreHow,
}

/// How elements are stored.
#[derive(Clone, Debug)]
pub(super) enum StoreHow {
    /// Adjacent elements as vectors.
    Vectors(String),
    /// One by one: the element of the row, stored by the lane for which this condition holds.
    Elements { index: String, owner: String },
}

/// What happens to a sum over edges, or to the maximum score.
#[derive(Clone, Debug)]
pub(super) enum SumStatement {
    /// Adds an edge's message to a sum, if all conditions hold.
    Reduce {
        sum: RegisterValue,
        reduction: Reduction,
        /// Conditions, all of which an edge has to meet.
        holds: Vec<Expression>,
        message: Expression,
    },
    /// A lane adds the contribution of its own edge.
    AddOwn { sum: RegisterValue, made: Expression },
    /// Merges what lanes have of edges of their own.
    JoinLanes { value: RegisterValue, reduction: Reduction },
    /// Merges another value into one.
    Join { value: RegisterValue, reduction: Reduction, other: RegisterValue },
    /// Computes the score of each edge in flight.
    ScoreEdges { score: RegisterValue, statements: Statements, made: Expression },
    /// Merges the scores of the edges in flight into the maximum.
    JoinScores { largest: RegisterValue, score: RegisterValue },
    /// Computes the factor of earlier sums, since the maximum has grown.
    Grow { scale: RegisterValue, before: RegisterValue, largest: RegisterValue },
    /// Rescales a sum to the new maximum.
    Rescale { sum: RegisterValue, scale: RegisterValue },
}

/// One statement. The registers that it names are those of a lane's places.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// Computes a value, element by element.
    Make {
        value: RegisterValue,
        made: Expression,
    },
    /// Saves a register before it changes.
    Remember {
        value: RegisterValue,
        of: RegisterValue,
    },
    /// Divides adjacent places by one number.
    Divide {
        value: RegisterValue,
        dividend: RegisterValue,
        divisor: RegisterValue,
    },
    Load(Load),
    /// Loads a row of a buffer from this element on, as it is stored.
    LoadLying {
        buffer: String,
        start: String,
    },
    /// Computes the address of the lane's columns in row 0 of a buffer.
    FindPlace {
        name: String,
        buffer: String,
        index: String,
    },
    ReduceAxis(AxisReduction),
    DropOut(Dropout),
    /// Changes a sum over edges.
    Sum(SumStatement),
    Store(Store),
    /// Stores a row to a buffer from this element on, as it is.
    StoreLying {
        buffer: String,
        start: String,
        value: RegisterValue,
    },
}

impl Statement {
    /// The value that it computes. Its registers are in use from there on.
    pub fn value(&self) -> Option<&RegisterValue> {
        match self {
            Statement::Make { value, .. }
            | Statement::Divide { value, .. }
            | Statement::Load(Load { value, .. })
            | Statement::ReduceAxis(AxisReduction { value, .. })
            | Statement::DropOut(Dropout { value, .. })
            | Statement::Sum(SumStatement::Grow { scale: value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Adds everything that it reads.
    pub fn add_reads(&self, reads: &mut Reads) {
        match self {
            Statement::Make { made, .. } => made.add_reads(reads),
            Statement::Remember { of, .. } => of.add_reads(reads),
            Statement::Divide { dividend, divisor, .. } => {
                dividend.add_reads(reads);
                divisor.add_reads(reads);
            }
            Statement::Load(load) => {
                reads.insert(Source::Rows(load.buffer.clone()));
                load.row.add_reads(reads);
            }
            Statement::LoadLying { buffer, .. } | Statement::FindPlace { buffer, .. } => {
                reads.insert(Source::Rows(buffer.clone()));
            }
            Statement::ReduceAxis(AxisReduction { made, .. }) => made.add_reads(reads),
            Statement::DropOut(dropout) => dropout.add_reads(reads),
            Statement::Sum(of_sum) => of_sum.add_reads(reads),
            Statement::Store(Store { value, .. }) | Statement::StoreLying { value, .. } => {
                value.add_reads(reads);
            }
        }
    }
}

impl SumStatement {
    fn add_reads(&self, reads: &mut Reads) {
        match self {
            SumStatement::Reduce { sum, holds, message, .. } => {
                sum.add_reads(reads);
                holds.iter().for_each(|condition| condition.add_reads(reads));
                message.add_reads(reads);
            }
            SumStatement::AddOwn { sum, made } => {
                reads.insert(Source::LaneEdge);
                sum.add_reads(reads);
                made.add_reads(reads);
            }
            SumStatement::JoinLanes { value, .. } => value.add_reads(reads),
            SumStatement::Join { value, other, .. } => {
                value.add_reads(reads);
                other.add_reads(reads);
            }
            SumStatement::ScoreEdges { statements, made, .. } => {
                statements.add_reads(reads);
                made.add_reads(reads);
            }
            SumStatement::JoinScores { largest, score } => {
                largest.add_reads(reads);
                score.add_reads(reads);
            }
            SumStatement::Grow { before, largest, .. } => {
                reads.insert(Source::Begun);
                before.add_reads(reads);
                largest.add_reads(reads);
            }
            SumStatement::Rescale { sum, scale } => {
                reads.insert(Source::Begun);
                sum.add_reads(reads);
                scale.add_reads(reads);
            }
        }
    }
}

impl Dropout {
    fn add_reads(&self, reads: &mut Reads) {
        reads.extend([Source::Training, Source::Draw]);
        self.of.add_reads(reads);
        match self.row {
            DrawnRow::Vertex => {
                reads.insert(Source::RowInGraph);
            }
            DrawnRow::Edge(number) => number.add_reads(reads),
            DrawnRow::Walked | DrawnRow::Table(_) => {}
        }
    }
}

/// Statements in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Statements(pub Vec<Statement>);

impl Statements {
    pub fn push(&mut self, statement: Statement) {
        self.0.push(statement);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Concatenates the statements of several places.
    pub fn concat<'a>(parts: impl IntoIterator<Item = &'a Statements>) -> Statements {
        Statements(parts.into_iter().flat_map(|part| part.0.iter().cloned()).collect())
    }

    pub fn add_reads(&self, reads: &mut Reads) {
        self.0.iter().for_each(|statement| statement.add_reads(reads));
    }

    /// Everything that they read.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::new();
        self.add_reads(&mut reads);
        reads
    }

    /// Adds the elements per lane of all values that they compute.
    pub fn add_made(&self, lanes: &Lanes, elements: &mut Elements) {
        for statement in &self.0 {
            if let Some(value) = statement.value() {
                elements.add(value.kind, lanes.elements(value.spread));
            }
            if let Statement::Sum(SumStatement::ScoreEdges { statements, .. }) = statement {
                statements.add_made(lanes, elements);
            }
        }
    }
}

/// Elements that a lane holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Elements {
    pub reals: usize,
    /// 64-bit elements.
    pub wholes: usize,
    pub bools: usize,
}

impl Elements {
    /// Adds the elements of one value.
    pub fn add(&mut self, kind: Type, count: usize) {
        match kind {
            Type::Real => self.reals += count,
            Type::Bool => self.bools += count,
            Type::Int | Type::Id => self.wholes += count,
        }
    }

    /// The registers that they take.
    pub fn registers(&self, bytes_per_real: u64) -> usize {
        self.reals * (bytes_per_real / 4) as usize + 2 * self.wholes + self.bools
    }
}
