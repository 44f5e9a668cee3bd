//! value: the values of expressions during tracing.
//!
//! promises  a value is cheap to copy; constants are exactly the values known at compile time
use std::rc::Rc;

use warploom_ir::{EdgeSet, NodeId, Span, Type, Unary};

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A constant bool.
    Bool(bool),
    /// A constant integer.
    Int(i64),
    /// A constant float.
    Real(f64),
    /// A string.
    Text(Rc<str>),
    /// Several values: a tuple, a range, the relations, the kinds of vertices.
    Tuple(Rc<[Value]>),
    /// A relation, by its number.
    Relation(u32),
    /// A kind of vertices, by its number.
    Kind(u32),
    /// A symbolic value, with a row per vertex, edge or graph.
    Node(NodeId),
    /// Rows that are never materialised, or sums of them: `v.x` of a data set without features, or
    /// with features per kind.
    Unmade(Rc<Unmade>),
    /// A `bias()` by its number, whose shape is that of what it is added to.
    Bias(usize),
    /// The vertices that the setting of this name names; known to the run.
    Chosen(Rc<str>),
    /// `v`.
    Vertex,
    /// `v.graph`.
    Graph,
    /// `v.inedges`.
    Edges(EdgeSet),
    /// `v.innbs`.
    Neighbours(EdgeSet),
    /// `e` inside a comprehension over these edges.
    Edge(EdgeSet),
    /// A vertex at an end of each of these edges: `u`, `e.src`, `e.dst`.
    End(EdgeSet, End),
    /// One value for each edge.
    List(Rc<List>),
    /// `zip(...)` of these.
    Zip(Rc<[Value]>),
    /// The value of a function without `return`.
    Nothing,
}

/// A value and its place in the program.
#[derive(Clone, Debug)]
pub(super) struct SpannedValue {
    pub value: Value,
    pub span: Span,
}

impl SpannedValue {
    pub fn new(value: Value, span: Span) -> Self {
        SpannedValue { value, span }
    }

    /// No value, at the place of a call.
    pub fn nothing(span: Span) -> Self {
        SpannedValue::new(Value::Nothing, span)
    }
}

/// End of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The vertex whose edges these are.
    Near,
    /// The other one.
    Far,
}

/// One value for each edge of a set.
#[derive(Debug)]
pub(super) struct List {
    /// The edges.
    pub edges: EdgeSet,
    /// Their values; a vertex value stands for that of the owner.
    pub element: Value,
    /// Which edges are included.
    pub mask: Option<NodeId>,
}

impl Value {
    /// A tuple.
    pub fn tuple(values: Vec<Value>) -> Value {
        Value::Tuple(values.into())
    }

    /// A string.
    pub fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// Whether it is a compile-time constant.
    pub fn is_constant(&self) -> bool {
        match self {
            Value::Bool(_)
            | Value::Int(_)
            | Value::Real(_)
            | Value::Text(_)
            | Value::Relation(_)
            | Value::Kind(_) => true,
            Value::Tuple(values) => values.iter().all(Value::is_constant),
            _ => false,
        }
    }

    /// The number of values in it, including nested tuples.
    pub fn size(&self) -> usize {
        match self {
            Value::Tuple(values) => values.iter().map(Value::size).fold(1, usize::saturating_add),
            _ => 1,
        }
    }

    /// The nesting depth of tuples, itself included.
    pub fn levels(&self) -> usize {
        match self {
            Value::Tuple(values) => 1 + values.iter().map(Value::levels).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// A description for messages: `a string`, `the graph`.
    pub fn describe(&self) -> String {
        match self {
            Value::Bool(true) => "`True`".to_owned(),
            Value::Bool(false) => "`False`".to_owned(),
            Value::Int(number) => format!("`{number}`"),
            Value::Real(number) => format!("`{number:?}`"),
            Value::Text(text) => format!("the string `{text}`"),
            Value::Tuple(values)
                if values.iter().all(|value| matches!(value, Value::Relation(_)))
                    && !values.is_empty() =>
            {
                "the relations".to_owned()
            }
            Value::Tuple(values)
                if values.iter().all(|value| matches!(value, Value::Kind(_)))
                    && !values.is_empty() =>
            {
                "the kinds of vertices".to_owned()
            }
            Value::Tuple(values) => format!("a tuple of {}", values.len()),
            Value::Relation(_) => "a relation".to_owned(),
            Value::Kind(_) => "a kind of vertices".to_owned(),
            Value::Node(_) => "a value".to_owned(),
            Value::Unmade(_) => "one-hot rows".to_owned(),
            Value::Bias(_) => "a bias that is added to nothing".to_owned(),
            Value::Chosen(setting) => format!("the vertex setting `{setting}`"),
            Value::Vertex => "the vertex itself".to_owned(),
            Value::Graph => "the graph itself".to_owned(),
            Value::Edges(_) => "edges".to_owned(),
            Value::Neighbours(_) => "neighbours".to_owned(),
            Value::Edge(_) => "an edge itself".to_owned(),
            Value::End(..) => "a vertex itself".to_owned(),
            Value::List(_) => "a list over edges".to_owned(),
            Value::Zip(_) => "a `zip`".to_owned(),
            Value::Nothing => "the result of a function without `return`".to_owned(),
        }
    }
}

/// Weighted sums of rows that are never materialised: one-hot rows, and features of kinds.
#[derive(Debug)]
pub(super) struct Unmade {
    pub rows: ImplicitRows,
    pub levels: usize,
    /// The edges that they are viewed from.
    pub edges: Option<EdgeSet>,
}

/// How such rows are composed.
#[derive(Debug)]
pub(super) enum ImplicitRows {
    /// The vertex's own row of the identity matrix.
    Own,
    /// The vertex's own row among those of its kind.
    OfKinds(Rc<KindRows>),
    /// Viewed from an end of each edge.
    Seen(Rc<Unmade>, EdgeSet, End),
    /// Times a number per row.
    Scaled(Rc<Unmade>, NodeId),
    /// The sum of two.
    Sum(Rc<Unmade>, Rc<Unmade>),
    /// Sum or mean over edges.
    Reduced { rows: Rc<Unmade>, edges: EdgeSet, mask: Option<NodeId>, mean: bool },
}

/// Features of each kind.
#[derive(Debug)]
pub(super) struct KindRows {
    /// By the kind's number; none: rows of the identity matrix.
    pub tables: Vec<Option<NodeId>>,
    /// The scale of rows of the identity matrix, a number per vertex (dropout).
    pub kept: Option<NodeId>,
}

/// The matrix that such rows are multiplied with.
#[derive(Clone, Copy)]
pub(super) enum Matrix<'m> {
    /// In a data set without features: `[nodes, out]`, or transposed `[out, nodes]`.
    Whole(NodeId, bool),
    /// A weight `[out, in]` for each kind.
    OfKinds(&'m [NodeId]),
    /// None: all kinds have features of one width, and the rows are materialised.
    Nothing,
}

impl Unmade {
    /// The end of the edges that its rows are of; none: they are of vertices, or mixed.
    pub fn owner(&self) -> Option<(EdgeSet, End)> {
        match &self.rows {
            ImplicitRows::Own | ImplicitRows::OfKinds(_) | ImplicitRows::Reduced { .. } => None,
            ImplicitRows::Seen(_, edges, end) => Some((*edges, *end)),
            ImplicitRows::Scaled(inner, _) => inner.owner(),
            ImplicitRows::Sum(a, b) => a.owner().filter(|owner| b.owner() == Some(*owner)),
        }
    }

    /// Whether it has a row per edge.
    pub fn is_of_edges(&self) -> bool {
        self.edges.is_some()
    }
}

/// The element-wise operation of a call.
#[derive(Clone, Copy)]
pub(super) enum Applied {
    /// A cast.
    Cast(Type),
    /// A unary operator.
    Operator(Unary),
}
