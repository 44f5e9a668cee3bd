//! statements: what a kernel does for a row and for its edges, as data.
//!
//! promises  a statement says which value it makes, of which type and in which spread, and all that
//!           it reads: rows of buffers, numbers that edges bring, values, facts of the row. Who
//!           declares parameters, loads lists of edges or counts registers asks statements
//! never     prints (`statement_text.rs`), or decides how work is divided
use std::collections::BTreeSet;

use super::lane_layout::{Lanes, Spread};
use crate::gir::{Binary, Reduction, Type, Unary};
use crate::launch::Element;

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Once a row, after so many passes over its edges.
    Row(usize),
    /// Once an edge, in this pass.
    Edge(usize),
    /// The same, but each lane for one of the edges at hand alone.
    Lane(usize),
}

/// Numbers that edges bring, one an edge, in the order in which they are walked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    /// The far vertex.
    Far,
    /// The row of the edge.
    Edge,
    /// Its relation.
    Relation,
    /// A given value of edges with one column: the leaf.
    Given(usize),
    /// Which columns of the edge's row a dropout keeps, a bit each: threshold, site and columns.
    Kept(u32, u32, usize),
}

/// A number of a stream, as a statement reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamNumber {
    /// Which stream of its walk.
    pub stream: usize,
    /// Whether that is the stream of far vertices.
    pub is_far: bool,
    /// Whether it is that of the lane's own edge, and not that of edge `k` of those at hand.
    pub of_lane: bool,
}

/// A value in registers.
#[derive(Clone, Debug)]
pub(super) struct RegisterValue {
    pub name: String,
    pub spread: Spread,
    /// Whether it has an element for each of the edges at hand.
    pub many: bool,
    pub kind: Type,
    /// The number of an edge that it is, if no statement makes it.
    pub of_stream: Option<StreamNumber>,
}

impl RegisterValue {
    /// A value that a statement makes.
    pub fn new(name: String, kind: Type, spread: Spread) -> RegisterValue {
        RegisterValue { name, spread, many: false, kind, of_stream: None }
    }

    /// The same with an element for each of the edges at hand.
    pub fn of_edges(name: String, kind: Type, spread: Spread) -> RegisterValue {
        RegisterValue { many: true, ..RegisterValue::new(name, kind, spread) }
    }
}

/// What statements read that others provide: parameters, lists of edges, other statements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Rows of this buffer.
    Rows(String),
    /// The number of a stream, for each of the edges at hand.
    Stream(usize),
    /// The same for the lane's own edge.
    StreamOfLane(usize),
    /// A value, by name.
    Value(String),
    /// The number of the vertex in its graph.
    RowInGraph,
    /// The graph of the vertex.
    Graph,
    /// Both ends of an edge that is walked by itself.
    EdgeEnds,
    /// Whether the lane's own edge is there.
    LaneEdge,
    /// Whether edges were walked before those at hand.
    Begun,
    /// Whether this is a pass of training.
    Training,
    /// The epoch and the seed, of which dropouts draw.
    Draw,
}

/// All that some statements read.
pub(super) type Reads = BTreeSet<Source>;

/// How an expression is made of others.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// A value of the first type as one of the second.
    Cast(Type, Type),
    Unary(Unary),
    /// Of real numbers, or of others.
    Binary(Binary, bool),
    /// The second where the first holds, the third elsewhere.
    Select,
    /// The exponential of what is at most 0.
    ExponentialOfShare,
    /// The same of a difference.
    ExponentialOfDifference,
    /// Two parts of a reduction as one.
    Join(Reduction, Type),
    /// In parentheses.
    Grouped,
    /// The first in a pass of training, the second elsewhere.
    WhenTraining,
    /// The first at places of the row for which this condition holds, the second at others.
    AtPlaces(String),
    /// The same in parentheses.
    GroupedAtPlaces(String),
    /// The first, scaled, where the bit of this column is set in the second; in training alone.
    Kept {
        column: String,
        scale: String,
    },
    /// What the lane has that stands for edge `k`.
    FromLane,
    /// What sums are multiplied with when the largest score grows from the first to the second.
    Growth,
    /// The score of the lane's own edge, where that is there.
    OfLaneEdge,
    /// The largest score, or 0 where there is none.
    FiniteOrZero,
    /// Whether the number of a relation is this one.
    IsRelation(u32),
}

/// An expression, for a place of a row.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// A literal, or which element of a row the place has: it reads nothing.
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

    /// A value as one of another type.
    pub fn cast(value: &RegisterValue, to: Type) -> Expression {
        Expression::apply(Form::Cast(value.kind, to), [Expression::value(value)])
    }

    /// Adds all that it reads.
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
    /// The only one.
    Only,
    /// That of the vertex, or of the edge that is walked by itself.
    Own,
    /// Those of the ends of an edge that is walked by itself.
    Near,
    Far,
    /// That of the vertex's graph.
    Graph,
    /// That of an edge's number.
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

/// Elements of a row of a buffer that are read into registers.
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
    /// Where the lane's place of all rows lies, if that is found in front of the pass.
    pub found: Option<String>,
    /// How vectors are loaded, where neighbouring elements are.
    pub vectors: Option<String>,
}

/// A reduction along an axis of a row, whose elements several lanes have.
#[derive(Clone, Debug)]
pub(super) struct AxisReduction {
    pub value: RegisterValue,
    pub reduction: Reduction,
    /// What it starts with.
    pub begin: String,
    /// What the lane has at a place.
    pub made: Expression,
    /// Lanes that share the axis, and whether these are told by distances that double.
    pub around: usize,
    pub doubles: bool,
}

/// The row for which a dropout draws.
#[derive(Clone, Copy, Debug)]
pub(super) enum DrawnRow {
    /// The vertex, by its number in its graph.
    Vertex,
    /// Another row that is walked.
    Walked,
    /// The edge.
    Edge(StreamNumber),
    /// Rows of a table, of so many columns each.
    Table(Option<u64>),
}

/// A dropout of a row's elements.
#[derive(Clone, Debug)]
pub(super) struct Dropout {
    pub value: RegisterValue,
    pub of: Expression,
    /// Registers that say what is kept.
    pub kept: String,
    pub row: DrawnRow,
    /// Which element of the row is drawn for: the first of `V`, or the only one.
    pub column: String,
    pub draws_vectors: bool,
    pub site: u32,
    pub threshold: u32,
    pub scale: String,
}

/// Elements of a value that go into a row of a buffer.
#[derive(Clone, Debug)]
pub(super) struct Store {
    pub buffer: String,
    pub value: RegisterValue,
    /// Elements from one row to the next; none where there is one row.
    pub stride: Option<u64>,
    pub how: StoreHow,
}

/// How they go there.
#[derive(Clone, Debug)]
pub(super) enum StoreHow {
    /// Neighbouring elements as vectors.
    Vectors(String),
    /// One by one: which element of the row, by the lane for which this condition holds.
    Elements { index: String, owner: String },
}

/// What becomes of a sum over edges, or of the largest score.
#[derive(Clone, Debug)]
pub(super) enum SumStatement {
    /// An edge's message joins a sum, where all this holds.
    Reduce { sum: RegisterValue, reduction: Reduction, holds: Vec<Expression>, message: Expression },
    /// A lane adds what its own edge brings.
    AddOwn { sum: RegisterValue, made: Expression },
    /// What lanes have of edges of their own becomes one.
    JoinLanes { value: RegisterValue, reduction: Reduction },
    /// Another value joins one.
    Join { value: RegisterValue, reduction: Reduction, other: RegisterValue },
    /// The score of each edge at hand, by statements for each of them.
    ScoreEdges { score: RegisterValue, statements: Statements, made: Expression },
    /// The scores of edges at hand join the largest one.
    JoinScores { largest: RegisterValue, score: RegisterValue },
    /// What sums so far are multiplied with, since the largest score has grown.
    Grow { scale: RegisterValue, before: RegisterValue, largest: RegisterValue },
    /// A sum so far is taken relative to the largest score.
    Rescale { sum: RegisterValue, scale: RegisterValue },
}

/// One statement. Registers that it names are of the places of a lane.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// A value, element by element.
    Make {
        value: RegisterValue,
        made: Expression,
    },
    /// What a register has before it changes, for a moment.
    Remember {
        value: RegisterValue,
        of: RegisterValue,
    },
    /// Neighbouring places divided by one number.
    Divide {
        value: RegisterValue,
        dividend: RegisterValue,
        divisor: RegisterValue,
    },
    Load(Load),
    /// A row that lies in a buffer, from this element on, as it lies there.
    LoadLying {
        buffer: String,
        start: String,
    },
    /// Where the lane's place of all rows of a buffer lies.
    FindPlace {
        name: String,
        buffer: String,
        index: String,
    },
    ReduceAxis(AxisReduction),
    DropOut(Dropout),
    /// What becomes of a sum over edges.
    Sum(SumStatement),
    Store(Store),
    /// A row that lies in a buffer, from this element on, as it lies there.
    StoreLying {
        buffer: String,
        start: String,
        value: RegisterValue,
    },
}

impl Statement {
    /// The value that it makes, whose registers are taken from then on.
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

    /// Adds all that it reads.
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

    /// Those of several places, one after the other.
    pub fn concat<'a>(parts: impl IntoIterator<Item = &'a Statements>) -> Statements {
        Statements(parts.into_iter().flat_map(|part| part.0.iter().cloned()).collect())
    }

    pub fn add_reads(&self, reads: &mut Reads) {
        self.0.iter().for_each(|statement| statement.add_reads(reads));
    }

    /// All that they read.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::new();
        self.add_reads(&mut reads);
        reads
    }

    /// Adds the elements of a lane of all values that they make.
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
    /// Of 64 bits.
    pub wholes: usize,
    pub bools: usize,
}

impl Elements {
    /// Of one value.
    pub fn add(&mut self, kind: Type, count: usize) {
        match kind {
            Type::Real => self.reals += count,
            Type::Bool => self.bools += count,
            Type::Int | Type::Id => self.wholes += count,
        }
    }

    /// Registers that they take.
    pub fn registers(&self, bytes_per_real: u64) -> usize {
        self.reals * (bytes_per_real / 4) as usize + 2 * self.wholes + self.bools
    }
}
