//! vertices: attributes of a vertex, an edge and the graph: `v.h`, `u.h`, `e.src.h`, `e.w`,
//! `v.graph.nodes`.
//!
//! promises  built-in attributes come first, then those that the program assigned, then columns of
//!           the node table; an attribute read through an edge is the row of the vertex at its end
use super::tracer::{TraceResult, Tracer};
use super::value::{End, ImplicitRows, Value};
use crate::syntax::{Diagnostic, Expression, ExpressionKind, Name};
use warploom_ir::{Direction, EdgeSet, Input, NodeId, Op, Place, Span, nearest};

/// Built-in attributes of a vertex, other than its edges.
const VALUES: [&str; 6] = ["x", "id", "indegree", "outdegree", "degree", "classes"];
/// A further one if there are several kinds of vertices.
pub(super) const KIND: &str = "kind";
/// Attributes for the edges of a vertex, and the graph.
const WAYS: [&str; 6] = ["graph", "innbs", "outnbs", "nbs", "inedges", "outedges"];
/// Built-in attributes of an edge.
pub(super) const EDGE_BUILT_IN: [&str; 5] = ["src", "dst", "w", "x", "type"];
/// Attributes of the graph.
const GRAPH: [&str; 5] = ["nodes", "edges", "relations", "kinds", "size"];
/// Columns of the node table with target and split, hidden in training.
const HIDDEN_IN_TRAINING: [&str; 2] = ["label", "split"];

/// Whether an attribute is built in.
pub(super) fn is_built_in(name: &str) -> bool {
    VALUES.contains(&name) || WAYS.contains(&name)
}

impl<'a> Tracer<'a> {
    pub fn attribute(
        &mut self,
        base: &'a Expression,
        name: &Name,
        span: Span,
    ) -> TraceResult<Value> {
        if let ExpressionKind::Name(module) = &base.kind
            && self.local(base.span, module)?.is_none()
            && matches!(module.as_str(), "torch" | "np" | "numpy" | "math" | "F" | "nn" | "jax")
        {
            let found = Diagnostic::error(
                base.span,
                format!("there is no module `{module}`"),
                "nothing has this name here",
            );
            let hint = match name.text.as_str() {
                "pi" | "inf" => format!("write  {}", name.text),
                other => format!("operators are called without a module:  {other}(...)"),
            };
            return Err(Box::new(found.hint(hint)));
        }
        match self.expression(base)? {
            Value::Vertex => self.vertex_attribute(name, span),
            Value::Graph => self.graph_attribute(name, span),
            Value::Edge(edges) => self.edge_attribute(name, edges, span),
            Value::End(edges, end) => self.end_attribute(name, edges, end, span),
            other => {
                let label = format!("found {}", self.describe(&other));
                let found = Diagnostic::error(
                    Span { start: base.span.end, end: span.end },
                    "a value has no parts with names",
                    label,
                );
                let hint = match name.text.as_str() {
                    "T" => "write the product with the matrix on the right:  x @ w".to_owned(),
                    "shape" | "size" | "dtype" => {
                        "shapes are known when the program is written; `len` counts a tuple"
                            .to_owned()
                    }
                    part if super::calls::is_operator(part) => {
                        format!("operators are functions:  {part}(x)")
                    }
                    _ => "columns belong to vertices and edges:  v.h, u.h, e.w".to_owned(),
                };
                Err(Box::new(found.hint(hint)))
            }
        }
    }

    fn vertex_attribute(&mut self, name: &Name, span: Span) -> TraceResult<Value> {
        Ok(match name.text.as_str() {
            "graph" => Value::Graph,
            "innbs" => Value::Neighbours(EdgeSet::IN),
            "outnbs" => Value::Neighbours(EdgeSet::OUT),
            "nbs" => Value::Neighbours(EdgeSet::BOTH),
            "inedges" => Value::Edges(EdgeSet::IN),
            "outedges" => Value::Edges(EdgeSet::OUT),
            _ => return self.column(name, "v", span),
        })
    }

    /// A column of the vertex; `base` is the spelling of the vertex, for messages.
    fn column(&mut self, name: &Name, base: &str, span: Span) -> TraceResult<Value> {
        let input = match name.text.as_str() {
            "x" if self.data.features.is_none() && self.data.kinds.is_empty() => {
                return self.unmade(span, ImplicitRows::Own);
            }
            "x" if self.data.features.is_none() => return self.rows_of_kinds(span),
            KIND if !self.data.kinds.is_empty() => Input::Kind,
            "x" => Input::Features,
            "id" => Input::Id,
            "indegree" => Input::Degree(EdgeSet::IN),
            "outdegree" => Input::Degree(EdgeSet::OUT),
            "degree" => Input::Degree(EdgeSet::BOTH),
            "classes" => return self.classes(span),
            column => match self.columns.get(column).cloned() {
                Some(column) => {
                    self.written[column.written].read = true;
                    return Ok(column.value);
                }
                None if self.data.training && HIDDEN_IN_TRAINING.contains(&column) => {
                    let found = Diagnostic::error(
                        span,
                        format!("`{base}.{column}` cannot be read while training"),
                        "this is the target, or the split",
                    );
                    return Err(Box::new(found.hint("leave it out; the loss reads it")));
                }
                None if self.data.columns.contains_key(column) => Input::Column(column.to_owned()),
                None => return Err(self.unknown_column(name, base, span)),
            },
        };
        Ok(Value::Node(self.make(span, |builder| builder.make(Op::Input(input), &[]))?))
    }

    fn classes(&self, span: Span) -> TraceResult<Value> {
        match self.data.target {
            Some(target) => Ok(Value::Int(target.columns as i64)),
            None => {
                let found = Diagnostic::error(
                    span,
                    "`v.classes` is the width of the target, and there is none",
                    "the data set has no labels, or none is named",
                );
                Err(Box::new(found.hint(
                    "name a column of the node table with  run.target, or make the width a \
                     setting; links are not learned in this version yet",
                )))
            }
        }
    }

    fn unknown_column(&self, name: &Name, base: &str, span: Span) -> Box<Diagnostic> {
        let column = name.text.as_str();
        if let Some(lost) = self.lost.get(&format!("v.{column}")) {
            let found = Diagnostic::error(
                span,
                format!("`{base}.{column}` is known inside `while` only"),
                "the loop is over",
            );
            return Box::new(
                found
                    .note("assigned", Some(*lost))
                    .hint(format!("give it a first value before the loop:  v.{column} = ...")),
            );
        }
        let known = VALUES.iter().chain(if base == "v" { &WAYS[..] } else { &[] }).copied();
        let known = known.chain((!self.data.kinds.is_empty()).then_some(KIND));
        let known = known
            .chain(self.columns.keys().map(String::as_str))
            .chain(self.data.columns.keys().map(String::as_str));
        let close = nearest(column, known);
        let found = Diagnostic::error(
            name.span,
            format!("a vertex has no column `{column}` here"),
            "neither built in, nor assigned before, nor a column of the node table",
        );
        let hint = match column {
            "w" | "weight" => "weights belong to edges:  sum(e.w for e in v.inedges)".to_owned(),
            "neighbors" | "neighbours" => "neighbours are  v.innbs, v.outnbs or v.nbs".to_owned(),
            KIND => "the data set has one kind of vertices".to_owned(),
            "edges" => "edges are  v.inedges or v.outedges".to_owned(),
            "h" | "feat" | "features" => "features are  v.x;  start with  v.h = v.x".to_owned(),
            _ => match close {
                Some(close) => format!("did you mean  {base}.{close}"),
                None if self.data.columns.is_empty() => {
                    format!("assign it before:  v.{column} = ...")
                }
                None => {
                    let columns: Vec<&str> =
                        self.data.columns.keys().map(String::as_str).take(8).collect();
                    format!(
                        "assign it before:  v.{column} = ...; the node table has {}",
                        columns.join(", ")
                    )
                }
            },
        };
        Box::new(found.hint(hint))
    }

    fn graph_attribute(&mut self, name: &Name, span: Span) -> TraceResult<Value> {
        Ok(match name.text.as_str() {
            "nodes" => Value::Int(self.data.nodes.min(i64::MAX as u64) as i64),
            "edges" => Value::Int(self.data.edges.min(i64::MAX as u64) as i64),
            "size" => Value::Node(
                self.make(span, |builder| builder.make(Op::Input(Input::GraphSize), &[]))?,
            ),
            "relations" => {
                if self.data.relations.is_empty() {
                    self.warn_of_nothing(
                        span,
                        "the data set has no relations",
                        "without an index,  v.innbs  are all neighbours",
                    );
                }
                Value::tuple((0..self.data.relations.len() as u32).map(Value::Relation).collect())
            }
            "kinds" => {
                if self.data.kinds.is_empty() {
                    self.warn_of_nothing(
                        span,
                        "the data set has one kind of vertices, without a name",
                        "linear(v.x, width)  needs no loop",
                    );
                }
                Value::tuple((0..self.data.kinds.len() as u32).map(Value::Kind).collect())
            }
            other => {
                let found = Diagnostic::error(
                    name.span,
                    format!("a graph has no `{other}`"),
                    format!("expected one of {}", GRAPH.map(|name| format!("`{name}`")).join(", ")),
                );
                let hint = match nearest(other, GRAPH) {
                    Some(close) => format!("did you mean  v.graph.{close}"),
                    None => "v.graph.nodes  is the number of vertices".to_owned(),
                };
                return Err(Box::new(found.hint(hint)));
            }
        })
    }

    /// Warns once that an iteration is over nothing.
    fn warn_of_nothing(&mut self, span: Span, what: &str, hint: &str) {
        if !self.warnings.iter().any(|warning| warning.span == span) {
            self.warnings
                .push(Diagnostic::warning(span, what, "a loop over them runs nothing").hint(hint));
        }
    }

    fn edge_attribute(&mut self, name: &Name, edges: EdgeSet, span: Span) -> TraceResult<Value> {
        self.check_walk(edges, span)?;
        let (source, target) = if edges.direction == Direction::Out {
            (End::Near, End::Far)
        } else {
            (End::Far, End::Near)
        };
        let input = match name.text.as_str() {
            "src" => return Ok(Value::End(edges, source)),
            "dst" => return Ok(Value::End(edges, target)),
            "w" => Input::Weight,
            "x" => Input::EdgeFeatures,
            "type" => Input::EdgeType,
            column => return self.edge_column(column, edges, name.span),
        };
        if input == Input::EdgeFeatures && self.data.edge_features == 0 {
            let found = Diagnostic::error(
                span,
                "the edges have no features",
                "expected a data set with edge features",
            );
            return Err(Box::new(found.hint("weights are  e.w")));
        }
        if input == Input::EdgeType && self.data.relations.is_empty() {
            let found = Diagnostic::error(
                span,
                "the edges have no type",
                "expected a data set with relations",
            );
            return Err(Box::new(found.hint("leave it out; all edges are of one kind")));
        }
        Ok(Value::Node(self.make(span, |builder| builder.make(Op::Input(input), &[]))?))
    }

    /// An edge can be read only inside an iteration over its edges.
    fn check_walk(&self, edges: EdgeSet, span: Span) -> TraceResult<()> {
        if self.walks.last().is_some_and(|walk| walk.edges == edges) {
            return Ok(());
        }
        Err(Box::new(Diagnostic::error(
            span,
            "an edge is read outside of its iteration",
            "expected inside of the comprehension that names it",
        )))
    }

    fn edge_column(&mut self, name: &str, edges: EdgeSet, span: Span) -> TraceResult<Value> {
        if let Some(column) = self.edge_columns.get(name).cloned() {
            self.written[column.written].read = true;
            let known = column.known_on.as_ref().is_none_or(|relations| {
                edges.relation.is_some_and(|relation| relations.contains(&relation))
            });
            if !known {
                let found = Diagnostic::error(
                    span,
                    format!("`e.{name}` is not known on all of these edges"),
                    "it was assigned on edges of other relations only",
                );
                return Err(Box::new(
                    found
                        .note("assigned", Some(self.written[column.written].span))
                        .hint("assign it for all edges first:  for e in v.inedges: e.name = 0.0"),
                ));
            }
            return Ok(Value::Node(column.node));
        }
        let found = Diagnostic::error(
            span,
            format!("an edge has no column `{name}` here"),
            "neither built in nor assigned before",
        );
        if let Some(lost) = self.lost.get(&format!("e.{name}")) {
            return Err(Box::new(
                found.note("assigned inside `while`, which is over", Some(*lost)).hint(format!(
                    "give it a first value before the loop:  for e in v.inedges: e.{name} = ..."
                )),
            ));
        }
        let close = nearest(
            name,
            EDGE_BUILT_IN.into_iter().chain(self.edge_columns.keys().map(String::as_str)),
        );
        let hint = match (name, close) {
            ("weight", _) => "did you mean  e.w".to_owned(),
            ("source" | "u", _) => "did you mean  e.src".to_owned(),
            ("target" | "destination" | "v", _) => "did you mean  e.dst".to_owned(),
            _ if is_built_in(name)
                || self.columns.contains_key(name)
                || self.data.columns.contains_key(name) =>
            {
                format!("columns of vertices are read at an end:  e.src.{name}")
            }
            (_, Some(close)) => format!("did you mean  e.{close}"),
            _ => format!("make it before:  for e in v.inedges: e.{name} = ..."),
        };
        Err(Box::new(found.hint(hint)))
    }

    fn end_attribute(
        &mut self,
        name: &Name,
        edges: EdgeSet,
        end: End,
        span: Span,
    ) -> TraceResult<Value> {
        if WAYS.contains(&name.text.as_str()) {
            let found = Diagnostic::error(
                span,
                "only the vertex `v` has edges and a graph",
                "found at a neighbour",
            );
            return Err(Box::new(found.hint(
                "first make a column, then read it at the neighbour:  v.s = sum(u.h for u in \
                 v.innbs)",
            )));
        }
        if matches!(name.text.as_str(), "w" | "weight" | "type" | "src" | "dst")
            && !self.columns.contains_key(&name.text)
        {
            let found = Diagnostic::error(
                span,
                format!("a vertex has no `{}`", name.text),
                "this belongs to an edge",
            );
            return Err(Box::new(
                found.hint("walk over edges:  sum(e.w * e.src.h for e in v.inedges)"),
            ));
        }
        self.check_walk(edges, span)?;
        let value = self.column(name, if end == End::Far { "u" } else { "v" }, span)?;
        self.view_from_end(span, value, edges, end)
    }

    /// A vertex value viewed from an end of each edge.
    pub fn view_from_end(
        &mut self,
        span: Span,
        value: Value,
        edges: EdgeSet,
        end: End,
    ) -> TraceResult<Value> {
        match value {
            Value::Node(node) => self.view_node_from_end(span, node, edges, end).map(Value::Node),
            Value::Unmade(rows) => self.unmade(span, ImplicitRows::Seen(rows, edges, end)),
            other => Ok(other),
        }
    }

    pub fn view_node_from_end(
        &mut self,
        span: Span,
        node: NodeId,
        edges: EdgeSet,
        end: End,
    ) -> TraceResult<NodeId> {
        let node = match self.place(node) {
            Place::G => self.make(span, |builder| builder.make(Op::Give, &[node]))?,
            Place::D => node,
            Place::C | Place::P | Place::S(_) | Place::E(_) => return Ok(node),
        };
        let view = if end == End::Far { Op::Far(edges) } else { Op::Near(edges) };
        self.make(span, |builder| builder.make(view, &[node]))
    }
}
