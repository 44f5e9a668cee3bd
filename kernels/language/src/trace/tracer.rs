//! tracer: the state of tracing: columns, names, iterations over edges, and limits.
//!
//! promises  an edge value is read only inside an iteration over its edges; a read of an assignment
//!           marks it as used
use std::collections::{BTreeMap, HashMap};

use super::labels::labels;
use super::value::{Matrix, Value};
use super::{LEVELS_MOST, NODES_MOST, STEPS_MOST};
use crate::syntax::{Diagnostic, File};
use warploom_ir::{
    Builder, Data, Direction, EdgeSet, Gir, Input, Misfit, NodeId, NodeResult, Number, Op, Place,
    Span, Type,
};

/// Result of a step: boxed, since it propagates through many calls.
pub(super) type TraceResult<T> = Result<T, Box<Diagnostic>>;

/// Maximum elements of a row; the product of two such numbers fits 64 bits.
const COLUMNS_MOST: u64 = 1 << 31;
/// Maximum axes of a row.
const AXES_MOST: usize = 8;

/// A program during tracing.
pub(super) struct Tracer<'a> {
    pub data: &'a Data,
    pub file: &'a File,
    pub entry_name: &'a str,
    pub builder: Builder<'a>,
    /// `v.name`.
    pub columns: BTreeMap<String, Column>,
    /// `e.name`.
    pub edge_columns: BTreeMap<String, EdgeColumn>,
    /// Columns (`v.name`, `e.name`) and names that were assigned inside a loop that has ended, and
    /// where.
    pub lost: BTreeMap<String, Span>,
    /// Local names, innermost last.
    pub scopes: Vec<Scope>,
    /// The current iterations over edges, innermost last.
    pub walks: Vec<EdgeWalk>,
    /// The current function calls, innermost last.
    pub bodies: Vec<Body>,
    /// How often each function was called.
    pub calls: HashMap<String, usize>,
    /// Names of parameters, and where they were declared.
    pub declared: BTreeMap<String, Span>,
    /// Every `bias()`.
    pub biases: Vec<PendingBias>,
    /// Every assignment.
    pub written: Vec<Written>,
    /// The current `while`.
    pub repeating: Option<Repeating>,
    /// Dropouts so far.
    pub dropouts: u32,
    /// The suffix of parameter names for each relation.
    pub relation_labels: Vec<String>,
    /// Names of the kinds of vertices.
    pub kind_names: Vec<String>,
    /// The suffix of parameter names for each kind.
    pub kind_labels: Vec<String>,
    pub warnings: Vec<Diagnostic>,
    walks_begun: usize,
    steps: usize,
    level: usize,
}

/// A function call.
pub(super) struct Body {
    pub function: String,
    pub prefix: String,
    pub kinds: HashMap<String, usize>,
    pub relations: Vec<String>,
}

/// A column of the vertex.
#[derive(Clone)]
pub(super) struct Column {
    pub value: Value,
    pub written: usize,
}

/// A column of the edges.
#[derive(Clone)]
pub(super) struct EdgeColumn {
    pub node: NodeId,
    /// The relations on whose edges it is defined; none: on all edges.
    pub known_on: Option<Vec<u32>>,
    pub written: usize,
}

/// The scope of a function, a comprehension or a loop over edges.
#[derive(Default)]
pub(super) struct Scope {
    pub names: HashMap<String, Local>,
    /// The iteration in which it was opened.
    walk: usize,
    /// Whether it hides the names of outer scopes.
    closed: bool,
}

/// A local name.
#[derive(Clone)]
pub(super) struct Local {
    pub value: Value,
    pub written: Option<usize>,
}

/// An iteration over edges.
#[derive(Clone, Copy)]
pub(super) struct EdgeWalk {
    number: usize,
    pub edges: EdgeSet,
}

/// A `while` during tracing.
pub(super) struct Repeating {
    /// The scope of the function that contains it.
    pub scope: usize,
    /// Names that this scope had before the loop.
    pub before: Vec<String>,
}

/// A bias whose shape may not be inferred yet.
pub(super) struct PendingBias {
    pub span: Span,
    pub name: String,
    pub made: Option<NodeId>,
}

/// An assignment.
pub(super) struct Written {
    pub span: Span,
    pub what: String,
    pub node: Option<NodeId>,
    pub read: bool,
}

impl<'a> Tracer<'a> {
    pub fn new(file: &'a File, entry_name: &'a str, data: &'a Data) -> Tracer<'a> {
        let kind_names: Vec<String> = data.kinds.iter().map(|kind| kind.name.clone()).collect();
        Tracer {
            data,
            file,
            entry_name,
            builder: Builder::new(entry_name, data),
            columns: BTreeMap::new(),
            edge_columns: BTreeMap::new(),
            lost: BTreeMap::new(),
            scopes: vec![Scope::default()],
            walks: Vec::new(),
            bodies: Vec::new(),
            calls: HashMap::new(),
            declared: BTreeMap::new(),
            biases: Vec::new(),
            written: Vec::new(),
            repeating: None,
            dropouts: 0,
            relation_labels: labels(&data.relations),
            kind_labels: labels(&kind_names),
            kind_names,
            warnings: Vec::new(),
            walks_begun: 0,
            steps: 0,
            level: 0,
        }
    }

    pub fn into_parts(mut self) -> (Gir, Vec<Diagnostic>) {
        self.warnings.sort_by_key(|warning| warning.span.start);
        (self.builder.gir, self.warnings)
    }

    /// Counts a step and a nesting level at this place; `leave` ends the level.
    pub fn enter(&mut self, span: Span) -> TraceResult<()> {
        self.steps += 1;
        self.level += 1;
        let too_much = |what: &str, label: String, hint: &str| {
            Err(Box::new(Diagnostic::error(span, what, label).hint(hint)))
        };
        if self.level > LEVELS_MOST {
            return too_much(
                "the program is nested too deeply",
                format!("expected at most {LEVELS_MOST} levels of calls, statements and parts"),
                "give a part a name of its own:  part = ...",
            );
        }
        if self.steps > STEPS_MOST {
            return too_much(
                "the program takes too long to compile",
                format!("expected at most {STEPS_MOST} steps"),
                "`for` is unrolled; use `while` for what is repeated often",
            );
        }
        if self.builder.gir.nodes.len() > NODES_MOST {
            return too_much(
                "the program is too large",
                format!("expected at most {NODES_MOST} values once `for` is unrolled"),
                "use fewer steps, or `while`",
            );
        }
        Ok(())
    }

    pub fn leave(&mut self) {
        self.level -= 1;
    }

    /// Builds a node for a place of the text, and checks its limits.
    pub fn make(
        &mut self,
        span: Span,
        build: impl FnOnce(&mut Builder<'a>) -> NodeResult,
    ) -> TraceResult<NodeId> {
        self.builder.span = span;
        let made = build(&mut self.builder).map_err(|misfit| unfit(span, misfit))?;
        let shape = &self.builder.node(made).shape;
        check_shape(shape, COLUMNS_MOST).map_err(|(expected, found)| {
            unfit(span, Misfit::new("size of a row", expected, found))
        })?;
        Ok(made)
    }

    /// As `make`, for a table: its number of rows is no width.
    pub fn make_table(
        &mut self,
        span: Span,
        build: impl FnOnce(&mut Builder<'a>) -> NodeResult,
    ) -> TraceResult<NodeId> {
        self.builder.span = span;
        build(&mut self.builder).map_err(|misfit| unfit(span, misfit))
    }

    /// The names that an integer value numbers: kinds or relations.
    pub fn names_of(&self, node: NodeId) -> Option<&[String]> {
        let seen = self.builder.node(node);
        match seen.op {
            Op::Far(_) | Op::Near(_) => self.names_of(seen.inputs[0]),
            Op::Input(Input::Kind) => Some(&self.kind_names),
            Op::Input(Input::EdgeType) => Some(&self.data.relations),
            _ => None,
        }
    }

    /// A constant as a node.
    pub fn constant(&mut self, span: Span, number: Number) -> NodeId {
        self.builder.span = span;
        self.builder.constant(number)
    }

    pub fn place(&self, node: NodeId) -> Place {
        self.builder.node(node).place
    }

    pub fn kind(&self, node: NodeId) -> Type {
        self.builder.node(node).kind
    }

    pub fn shape(&self, node: NodeId) -> &[u64] {
        &self.builder.node(node).shape
    }

    /// Describes a value for messages.
    pub fn describe(&self, value: &Value) -> String {
        match value {
            Value::Node(node) => self.builder.describe(*node),
            Value::Relation(number) => format!(
                "the relation `{}`",
                self.data.relations.get(*number as usize).map_or("?", String::as_str)
            ),
            Value::Kind(number) => format!(
                "the kind `{}`",
                self.kind_names.get(*number as usize).map_or("?", String::as_str)
            ),
            Value::Edges(edges) => format!("the {}", self.edges_in_words(*edges)),
            Value::Neighbours(edges) => {
                format!("the neighbours along {}", self.edges_in_words(*edges))
            }
            Value::List(list) => format!("a list over {}", self.edges_in_words(list.edges)),
            Value::Unmade(_) if self.data.kinds.is_empty() => {
                "one-hot rows, since the data set has no features".to_owned()
            }
            Value::Unmade(_) => {
                format!("rows of a width for each kind: {}", self.widths_in_words())
            }
            other => other.describe(),
        }
    }

    /// Describes edges for messages: `in-edges`, `out-edges of relation \`cites\``.
    pub fn edges_in_words(&self, edges: EdgeSet) -> String {
        let words = match edges.direction {
            Direction::In => "in-edges",
            Direction::Out => "out-edges",
            Direction::Both => "edges of both directions",
        };
        let name = edges.relation.and_then(|relation| self.data.relations.get(relation as usize));
        name.map_or_else(|| words.to_owned(), |name| format!("{words} of relation `{name}`"))
    }

    /// The value as rows.
    pub fn node(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        Ok(match value {
            Value::Node(node) => *node,
            Value::Bool(value) => self.constant(span, Number::Bool(*value)),
            Value::Int(value) => self.constant(span, Number::Int(*value)),
            Value::Real(value) => self.constant(span, Number::Real(*value)),
            Value::Relation(number) | Value::Kind(number) => {
                self.constant(span, Number::Int(i64::from(*number)))
            }
            Value::Unmade(rows) if self.is_even() => {
                let rows = rows.clone();
                self.unmade_product(span, &rows, Matrix::Nothing)?
            }
            other => return Err(self.expected_number(span, other)),
        })
    }

    /// Explains what to do with a value that is no number.
    pub fn expected_number(&self, span: Span, value: &Value) -> Box<Diagnostic> {
        let label = self.describe(value);
        let hint = match value {
            Value::Bias(number) => {
                let label = "expected rows, found a bias that is added to nothing yet";
                let found = Diagnostic::error(
                    span,
                    "a `bias()` takes its shape from what it is added to",
                    label,
                );
                let made =
                    self.biases.get(*number).map(|bias| bias.span).filter(|made| *made != span);
                let found = if made.is_some() { found.note("the bias", made) } else { found };
                return Box::new(found.hint("add it:  x + bias()"));
            }
            Value::Unmade(_) if !self.data.kinds.is_empty() => {
                "give it to `linear` first, which has a weight for each kind:  v.h = linear(v.x, \
                 width)"
            }
            Value::Unmade(_) => {
                "these can be summed, scaled and given to `linear`; or set  ingest.features: random"
            }
            Value::Chosen(setting) => {
                let label = format!(
                    "expected a number or rows of numbers, found {label}, which names a vertex \
                     because it is compared with an id"
                );
                let found = Diagnostic::error(span, format!("`{setting}` is not a number"), label);
                return Box::new(found.hint(format!(
                    "compare it:  v.id == {setting}  ; for numbers use a setting of another name"
                )));
            }
            Value::Vertex | Value::End(..) => "read one of its columns, as in  v.h, u.h, e.src.h",
            Value::Edge(_) => "read one of its values, as in  e.w, e.src.h",
            Value::Graph => "read one of its values, as in  v.graph.nodes",
            Value::Edges(_) => "walk over them:  sum(e.w for e in v.inedges)",
            Value::Neighbours(_) => "walk over them:  sum(u.h for u in v.innbs)",
            Value::List(_) => {
                "reduce it, as in  sum(values), or make a new one:  [2 * a for a in values]"
            }
            Value::Text(_) => "strings are compared with `==` and `in` only",
            Value::Zip(_) => "walk over it:  sum(a * e.w for a, e in zip(shares, v.inedges))",
            Value::Nothing => "end the function with  return value",
            Value::Tuple(_) => "take one of its values, as in  t[0]",
            _ => "use a number",
        };
        Box::new(
            Diagnostic::error(
                span,
                "this is not a number",
                format!("expected a number or rows of numbers, found {label}"),
            )
            .hint(hint),
        )
    }

    /// The value as float rows.
    pub fn real(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        let node = self.node(span, value)?;
        self.make(span, |builder| builder.cast(Type::Real, node))
    }

    /// Broadcasts operands of an element-wise operation: inside an iteration over edges, vertex
    /// rows become those of the owner.
    pub fn together(&mut self, span: Span, nodes: &mut [NodeId]) -> TraceResult<()> {
        let Some(walk) = self.walks.last().copied() else { return Ok(()) };
        if nodes.iter().any(|node| self.place(*node).edge_rows().is_some()) {
            for node in nodes {
                let lift = matches!(self.place(*node), Place::D | Place::G);
                if lift {
                    let inner = *node;
                    *node =
                        self.make(span, |builder| builder.broadcast_to_edges(walk.edges, inner))?;
                }
            }
        }
        Ok(())
    }

    /// Opens the scope of a function, which hides all others.
    pub fn open_function(&mut self) {
        let walk = self.walk_number();
        self.scopes.push(Scope { names: HashMap::new(), walk, closed: true });
    }

    /// Opens the scope of a comprehension over constants.
    pub fn open(&mut self) {
        let walk = self.walk_number();
        self.scopes.push(Scope { names: HashMap::new(), walk, closed: false });
    }

    /// Begins an iteration over edges, with a scope of its own.
    pub fn open_walk(&mut self, edges: EdgeSet) {
        self.walks_begun += 1;
        self.walks.push(EdgeWalk { number: self.walks_begun, edges });
        self.open();
    }

    pub fn close(&mut self) {
        self.scopes.pop();
    }

    pub fn close_walk(&mut self) {
        self.scopes.pop();
        self.walks.pop();
    }

    fn walk_number(&self) -> usize {
        self.walks.last().map_or(0, |walk| walk.number)
    }

    /// Binds a name in the innermost scope.
    pub fn bind(&mut self, name: &str, value: Value, written: Option<usize>) {
        let scope = self.scopes.last_mut().expect("the outermost scope is never closed");
        scope.names.insert(name.to_owned(), Local { value, written });
    }

    /// The value of a local name, if it is bound.
    pub fn local(&mut self, span: Span, name: &str) -> TraceResult<Option<Value>> {
        let walk = self.walk_number();
        let mut found = None;
        for scope in self.scopes.iter().rev() {
            if let Some(local) = scope.names.get(name) {
                found = Some((local.clone(), scope.walk));
                break;
            }
            if scope.closed {
                break;
            }
        }
        let Some((local, made_in)) = found else { return Ok(None) };
        if made_in != walk && self.is_of_edges(&local.value) {
            let what = format!("`{name}` belongs to the edges of another comprehension");
            let found = Diagnostic::error(
                span,
                what,
                "expected a value of the edges that are iterated over here",
            );
            return Err(Box::new(
                found.hint("compute the inner part first and keep it in a column:  v.name = ..."),
            ));
        }
        if let Some(written) = local.written {
            self.written[written].read = true;
        }
        Ok(Some(local.value))
    }

    /// The names in scope.
    pub fn visible(&self) -> Vec<String> {
        let mut names = Vec::new();
        for scope in self.scopes.iter().rev() {
            names.extend(scope.names.keys().cloned());
            if scope.closed {
                break;
            }
        }
        names.sort();
        names
    }

    fn is_of_edges(&self, value: &Value) -> bool {
        match value {
            Value::Node(node) => self.place(*node).edge_rows().is_some(),
            Value::Edge(_) | Value::End(..) => true,
            Value::Unmade(rows) => rows.is_of_edges(),
            Value::Tuple(values) => values.iter().any(|value| self.is_of_edges(value)),
            _ => false,
        }
    }

    /// An error inside an iteration over edges.
    pub fn outside_of_walks(&self, span: Span, what: &str, hint: &str) -> TraceResult<()> {
        match self.walks.last() {
            None => Ok(()),
            Some(walk) => Err(Box::new(
                Diagnostic::error(
                    span,
                    what,
                    format!("found inside an iteration over {}", self.edges_in_words(walk.edges)),
                )
                .hint(hint),
            )),
        }
    }
}

/// A misfit, as a diagnostic at a place of the text.
pub(super) fn unfit(span: Span, misfit: Misfit) -> Box<Diagnostic> {
    let label = format!("expected {}, found {}", misfit.expected, misfit.found);
    let hint = match misfit.what.as_str() {
        what if what.starts_with("size") => "use smaller widths",
        what if what.contains("side by side") => {
            "give them the same shape but for one axis, and name that axis:  concat(a, b, axis=0)"
        }
        what if what.starts_with("type") => {
            "arithmetic is of int and real, conditions are bool, ids are compared"
        }
        _ => "places and shapes are explained in docs/language.md",
    };
    Box::new(
        Diagnostic::error(span, format!("this does not fit: {}", misfit.what), label)
            .hint(hint)
            .hint_if(misfit.hint),
    )
}

/// Expected and found, if a shape has too many axes or elements.
pub(super) fn check_shape(shape: &[u64], most: u64) -> Result<(), (String, String)> {
    let columns = shape
        .iter()
        .try_fold(1_u64, |columns, length| columns.checked_mul(*length))
        .filter(|columns| *columns <= most);
    if shape.len() > AXES_MOST {
        return Err((format!("at most {AXES_MOST} axes"), shape.len().to_string()));
    }
    if columns.is_none() {
        return Err((format!("at most {most} numbers"), format!("{shape:?}")));
    }
    Ok(())
}
