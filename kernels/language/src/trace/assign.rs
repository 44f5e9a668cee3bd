//! assign: `name = ...`, `v.name = ...`, `e.name = ...`.
//!
//! promises  an assignment creates a new value and changes none; each is recorded, so that unused
//!           ones can be reported
use super::tracer::{Column, EdgeColumn, TraceResult, Tracer, Written};
use super::value::Value;
use crate::syntax::{Diagnostic, Expression, ExpressionKind, Name};
use warploom_ir::{Binary, EdgeSet, Input, NodeId, Number, Op, Place, Span, Type};

impl<'a> Tracer<'a> {
    /// Assigns to a name, a column or a tuple of them. `at` is the place of the value.
    pub fn assign(&mut self, target: &'a Expression, value: Value, at: Span) -> TraceResult<()> {
        match &target.kind {
            ExpressionKind::Name(name) => self.assign_name(name, value, target.span, at),
            ExpressionKind::Attribute(base, name) => match self.expression(base)? {
                Value::Vertex => self.assign_column(name, value, target.span, at),
                Value::Edge(edges) => self.assign_edges(name, value, edges, target.span, at),
                Value::End(..) => {
                    let found = Diagnostic::error(
                        target.span,
                        "a neighbour cannot be assigned to",
                        "expected a column of `v`, or of an edge",
                    );
                    Err(Box::new(found.hint(
                        "each vertex assigns its own columns; reduce over the edges that point at \
                         it:  v.name = sum(... for u in v.innbs)",
                    )))
                }
                other => {
                    let label = format!(
                        "expected a column of `v` or of an edge, found a part of {}",
                        self.describe(&other)
                    );
                    Err(Box::new(
                        Diagnostic::error(target.span, "this cannot be assigned to", label)
                            .hint("assign to a column:  v.name = ..."),
                    ))
                }
            },
            ExpressionKind::Tuple(targets) => {
                let values = self.parts_of(value, targets.len(), at)?;
                targets
                    .iter()
                    .zip(values)
                    .try_for_each(|(target, value)| self.assign(target, value, at))
            }
            ExpressionKind::Index(..) => {
                let found = Diagnostic::error(
                    target.span,
                    "a part of a value cannot be assigned to",
                    "expected a name or a column",
                );
                Err(Box::new(found.hint("make a new value:  v.h = concat(...) or where(...)")))
            }
            _ => Err(Box::new(
                Diagnostic::error(
                    target.span,
                    "this cannot be assigned to",
                    "expected a name or a column",
                )
                .hint("assign to a column:  v.name = ..."),
            )),
        }
    }

    /// Binds the loop variables of a `for`; columns are no targets there.
    pub fn bind_target(
        &mut self,
        target: &'a Expression,
        value: Value,
        at: Span,
    ) -> TraceResult<()> {
        match &target.kind {
            ExpressionKind::Name(name) => {
                self.check_vertex(name, target.span)?;
                self.bind(name, value, None);
                Ok(())
            }
            ExpressionKind::Tuple(targets) => {
                let values = self.parts_of(value, targets.len(), at)?;
                targets
                    .iter()
                    .zip(values)
                    .try_for_each(|(target, value)| self.bind_target(target, value, at))
            }
            _ => Err(Box::new(
                Diagnostic::error(
                    target.span,
                    "`for` needs names",
                    "expected a name, or names with commas",
                )
                .hint("for a, e in zip(values, v.inedges)"),
            )),
        }
    }

    fn parts_of(&mut self, value: Value, count: usize, at: Span) -> TraceResult<Vec<Value>> {
        match &value {
            Value::Tuple(values) if values.len() == count => Ok(values.to_vec()),
            Value::Tuple(values) => {
                let label = format!("expected {count} values, found {}", values.len());
                Err(Box::new(
                    Diagnostic::error(at, "names and values differ in number", label)
                        .hint("write as many names as there are values"),
                ))
            }
            other => {
                let label = format!("expected {count} values, found {}", self.describe(other));
                Err(Box::new(Diagnostic::error(at, "this is not several values", label).hint(
                    "write a value for each name:  a, b = x, y; or walk over pairs:  for a, e in \
                     zip(values, v.inedges)",
                )))
            }
        }
    }

    fn check_vertex(&self, name: &str, span: Span) -> TraceResult<()> {
        let scope = self.scopes.last().expect("the outermost scope is never closed");
        if scope.names.get(name).is_some_and(|local| matches!(local.value, Value::Vertex)) {
            let found = Diagnostic::error(
                span,
                format!("`{name}` is the vertex and cannot be assigned to"),
                "expected another name",
            );
            return Err(Box::new(found.hint(format!("assign to a column:  {name}.h = ..."))));
        }
        Ok(())
    }

    /// `v` and names that a loop would carry cannot be assigned to.
    fn check_name(&self, name: &str, span: Span) -> TraceResult<()> {
        self.check_vertex(name, span)?;
        if let Some(repeating) = &self.repeating
            && self.scopes.len() == repeating.scope + 1
            && repeating.before.iter().any(|before| before == name)
        {
            let what = format!("`{name}` is carried from pass to pass of `while` only as a column");
            let found = Diagnostic::error(
                span,
                what,
                "expected a column, or a name that the loop alone has",
            );
            return Err(Box::new(
                found.hint(format!("write  v.{name}  before, in and after the loop")),
            ));
        }
        Ok(())
    }

    fn assign_name(&mut self, name: &str, value: Value, span: Span, at: Span) -> TraceResult<()> {
        self.check_name(name, span)?;
        if matches!(value, Value::Nothing) {
            return Err(self.expected_number(at, &value));
        }
        let written = self.write(span, name.to_owned(), &value);
        self.bind(name, value, Some(written));
        self.lost.remove(name);
        Ok(())
    }

    fn write(&mut self, span: Span, what: String, value: &Value) -> usize {
        let node = if let Value::Node(node) = value { Some(*node) } else { None };
        self.written.push(Written { span, what, node, read: false });
        self.written.len() - 1
    }

    fn assign_column(
        &mut self,
        name: &Name,
        value: Value,
        span: Span,
        at: Span,
    ) -> TraceResult<()> {
        let column = format!("v.{}", name.text);
        let is_kind = name.text == super::vertices::KIND && !self.data.kinds.is_empty();
        if super::vertices::is_built_in(&name.text) || is_kind {
            let found = Diagnostic::error(
                span,
                format!("`{column}` is built in and cannot be assigned to"),
                "expected another name",
            );
            return Err(Box::new(found.hint("choose another name, as in  v.h = ...")));
        }
        self.outside_of_walks(
            span,
            &format!("`{column}` is assigned inside an iteration over edges"),
            "reduce instead:  v.h = sum(... for e in v.inedges); or assign it before or after; \
             inside of `for e in v.inedges` only columns of `e` are",
        )?;
        let value = match value {
            Value::List(list) => {
                let over = self.edges_in_words(list.edges);
                let found = Diagnostic::error(
                    at,
                    format!("`{column}` cannot hold a list over {over}"),
                    "expected one value for each vertex",
                );
                let way = if list.edges.direction == warploom_ir::Direction::Out {
                    "v.outedges"
                } else {
                    "v.inedges"
                };
                return Err(Box::new(found.hint(format!(
                    "reduce it, as in  sum(...), or make a column of edges:  for e in {way}: e.{} \
                     = ...",
                    name.text
                ))));
            }
            Value::Unmade(_) | Value::Bool(_) | Value::Int(_) | Value::Real(_) => value,
            Value::Tuple(ref values) if value.is_constant() => {
                let found = Diagnostic::error(
                    at,
                    format!("`{column}` cannot hold a tuple"),
                    format!("expected rows of numbers, found a tuple of {}", values.len()),
                );
                return Err(Box::new(found.hint("keep it under a name:  widths = ...")));
            }
            other => Value::Node(self.node(at, &other)?),
        };
        if let Value::Node(node) = value {
            self.name_node(node, &name.text);
        }
        let written = self.write(span, column.clone(), &value);
        self.columns.insert(name.text.clone(), Column { value, written });
        self.lost.remove(&column);
        Ok(())
    }

    fn name_node(&mut self, node: NodeId, name: &str) {
        let node = &mut self.builder.gir.nodes[node.index()];
        if node.name.is_none()
            && !matches!(
                node.op,
                Op::Input(_) | Op::Parameter(_) | Op::Constant(_) | Op::State(_) | Op::Ended(..)
            )
        {
            node.name = Some(name.to_owned());
        }
    }

    fn assign_edges(
        &mut self,
        name: &Name,
        value: Value,
        edges: EdgeSet,
        span: Span,
        at: Span,
    ) -> TraceResult<()> {
        let column = format!("e.{}", name.text);
        if super::vertices::EDGE_BUILT_IN.contains(&name.text.as_str()) {
            let found = Diagnostic::error(
                span,
                format!("`{column}` is built in and cannot be assigned to"),
                "expected another name",
            );
            return Err(Box::new(found.hint("choose another name, as in  e.score = ...")));
        }
        let node = self.node(at, &value)?;
        let mut node = self.make(at, |builder| builder.broadcast_to_edges(edges, node))?;
        let before = self.edge_columns.get(&name.text).cloned();
        let known_on = match (edges.relation, before) {
            (None, _) => None,
            (Some(number), None) => Some(vec![number]),
            (Some(number), Some(before)) => {
                node = self.select_relation(at, number, node, before.node)?;
                // Edges of other relations keep the previous value.
                self.written[before.written].read = true;
                before.known_on.map(|mut relations| {
                    relations.push(number);
                    relations.sort_unstable();
                    relations.dedup();
                    relations
                })
            }
        };
        let known_on = known_on.filter(|relations| relations.len() < self.data.relations.len());
        self.name_node(node, &column);
        let written = self.write(span, column.clone(), &Value::Node(node));
        self.edge_columns.insert(name.text.clone(), EdgeColumn { node, known_on, written });
        self.lost.remove(&column);
        Ok(())
    }

    /// `yes` on edges of this relation, `no` on others.
    fn select_relation(
        &mut self,
        span: Span,
        relation: u32,
        yes: NodeId,
        no: NodeId,
    ) -> TraceResult<NodeId> {
        let number = self.constant(span, Number::Int(i64::from(relation)));
        let kind = self.make(span, |builder| builder.make(Op::Input(Input::EdgeType), &[]))?;
        let same = self.make(span, |builder| builder.binary(Binary::Equal, kind, number))?;
        self.make(span, |builder| builder.select(same, yes, no))
    }

    /// The value as a vertex value of this type, if it can be promoted to it.
    pub fn as_state(
        &mut self,
        span: Span,
        value: &Value,
        kind: Option<Type>,
    ) -> TraceResult<NodeId> {
        let node = self.node(span, value)?;
        let node = match (kind, self.kind(node)) {
            (Some(Type::Real), Type::Int | Type::Bool) | (Some(Type::Int), Type::Bool) => {
                self.make(span, |builder| builder.cast(kind.unwrap_or(Type::Real), node))?
            }
            (Some(Type::Id), Type::Int) if self.place(node) == Place::C => {
                self.make(span, |builder| builder.cast(Type::Id, node))?
            }
            _ => node,
        };
        self.make(span, |builder| builder.broadcast_to_vertices(node))
    }
}
