//! edges: iteration over edges and constants, comprehensions, and indices.
//!
//! promises  lists over different edge sets are never combined; a comprehension over constants is
//!           unrolled
use std::rc::Rc;

use super::constants;
use super::tracer::{TraceResult, Tracer};
use super::value::{End, List, Value};
use crate::syntax::{Comprehension, Diagnostic, Expression, ExpressionKind};
use warploom_ir::{Binary, EdgeSet, NodeId, Number, Op, Span, nearest};

/// What `for` iterates over.
pub(super) enum Iterable {
    /// A constant number of values.
    Known(Rc<[Value]>),
    /// Edges.
    Edges {
        /// The edge set.
        edges: EdgeSet,
        /// The value of the loop variables.
        element: Value,
        /// The edges that pass the conditions.
        mask: Option<NodeId>,
    },
}

impl<'a> Tracer<'a> {
    pub fn walked(&mut self, over: &'a Expression) -> TraceResult<Iterable> {
        let value = self.expression(over)?;
        self.walked_value(value, over.span)
    }

    fn walked_value(&mut self, value: Value, span: Span) -> TraceResult<Iterable> {
        Ok(match value {
            Value::Tuple(values) => Iterable::Known(values),
            Value::Edges(edges) => {
                Iterable::Edges { edges, element: Value::Edge(edges), mask: None }
            }
            Value::Neighbours(edges) => {
                Iterable::Edges { edges, element: Value::End(edges, End::Far), mask: None }
            }
            Value::List(list) => Iterable::Edges {
                edges: list.edges,
                element: list.element.clone(),
                mask: list.mask,
            },
            Value::Zip(values) if !values.iter().any(|value| matches!(value, Value::Zip(_))) => {
                return self.walked_together(&values, span);
            }
            other => {
                let found = Diagnostic::error(
                    span,
                    "this cannot be iterated over",
                    format!(
                        "expected edges, neighbours, a list or a range, found {}",
                        self.describe(&other)
                    ),
                );
                let hint = match other {
                    Value::Int(count) => format!("count with  range({count})"),
                    Value::Vertex => "walk over its neighbours:  for u in v.innbs".to_owned(),
                    Value::Graph => "the body runs for all vertices anyway; all vertices are \
                        summed by  pool_sum(v.h)"
                        .to_owned(),
                    _ => {
                        "walk over  v.innbs, v.inedges, v.graph.relations  or  range(n)".to_owned()
                    }
                };
                return Err(Box::new(found.hint(hint)));
            }
        })
    }

    fn walked_together(&mut self, values: &[Value], span: Span) -> TraceResult<Iterable> {
        let parts = values
            .iter()
            .map(|value| self.walked_value(value.clone(), span))
            .collect::<TraceResult<Vec<_>>>()?;
        let mut known: Vec<Rc<[Value]>> = Vec::new();
        let mut elements = Vec::new();
        let mut common: Option<EdgeSet> = None;
        let mut masks: Vec<NodeId> = Vec::new();
        for part in parts {
            match part {
                Iterable::Known(values) => known.push(values),
                Iterable::Edges { edges, element, mask } => {
                    if let Some(before) = common.filter(|before| *before != edges) {
                        let label = format!(
                            "expected {}, found {}",
                            self.edges_in_words(before),
                            self.edges_in_words(edges)
                        );
                        let found = Diagnostic::error(
                            span,
                            "lists over different edges cannot be zipped",
                            label,
                        );
                        return Err(Box::new(
                            found.hint("make both lists over the same edges, as in  v.inedges"),
                        ));
                    }
                    common = Some(edges);
                    elements.push(element);
                    masks.extend(mask.filter(|mask| !masks.contains(mask)));
                }
            }
        }
        match (common, known.is_empty()) {
            (None, _) => {
                let count = known.iter().map(|values| values.len()).min().unwrap_or(0);
                let rows = (0..count).map(|index| {
                    self.bounded(
                        span,
                        Value::tuple(known.iter().map(|values| values[index].clone()).collect()),
                    )
                });
                Ok(Iterable::Known(rows.collect::<TraceResult<_>>()?))
            }
            (Some(edges), true) => {
                let mask = self.and_masks(span, &masks)?;
                Ok(Iterable::Edges {
                    edges,
                    element: self.bounded(span, Value::tuple(elements))?,
                    mask,
                })
            }
            (Some(edges), false) => {
                let label = format!(
                    "expected lists over {}, found a tuple beside them",
                    self.edges_in_words(edges)
                );
                Err(Box::new(
                    Diagnostic::error(span, "edges and a tuple cannot be zipped", label).hint(
                        "edges are not numbered; use values of the edges, as in  e.w, e.type",
                    ),
                ))
            }
        }
    }

    fn and_masks(&mut self, span: Span, masks: &[NodeId]) -> TraceResult<Option<NodeId>> {
        let Some((first, others)) = masks.split_first() else { return Ok(None) };
        let mut all = *first;
        for mask in others {
            all = self.make(span, |builder| builder.binary(Binary::And, all, *mask))?;
        }
        Ok(Some(all))
    }

    pub fn comprehension(&mut self, comprehension: &'a Comprehension) -> TraceResult<Value> {
        let Comprehension { element, target, over, conditions } = comprehension;
        match self.walked(over)? {
            Iterable::Known(values) => self.unrolled(comprehension, &values),
            Iterable::Edges { edges, element: each, mask } => {
                self.open_walk(edges);
                self.bind_target(target, each, over.span)?;
                let mut masks: Vec<NodeId> = mask.into_iter().collect();
                for condition in conditions {
                    masks.extend(self.mask(condition, edges)?.filter(|mask| !masks.contains(mask)));
                }
                let mask = self.and_masks(over.span, &masks)?;
                let element = self.expression(element)?;
                self.close_walk();
                self.check_element(&element, comprehension.element.span)?;
                let element = self.resolve_bias(element);
                Ok(Value::List(List { edges, element, mask }.into()))
            }
        }
    }

    fn check_element(&self, element: &Value, span: Span) -> TraceResult<()> {
        let found = match element {
            Value::List(_) | Value::Edges(_) | Value::Neighbours(_) | Value::Zip(_) => {
                Diagnostic::error(
                    span,
                    "a list of lists has no meaning",
                    format!("expected a value for each edge, found {}", element.describe()),
                )
                .hint("reduce the inner list, as in  sum(...)")
            }
            Value::Nothing | Value::Bias(_) => return Err(self.expected_number(span, element)),
            _ => return Ok(()),
        };
        Err(Box::new(found))
    }

    fn unrolled(
        &mut self,
        comprehension: &'a Comprehension,
        values: &[Value],
    ) -> TraceResult<Value> {
        let Comprehension { element, target, over, conditions } = comprehension;
        let mut made = Vec::new();
        let mut counts = self.begin_relations(values);
        for value in values {
            self.enter(target.span)?;
            self.begin_relation(counts.as_ref(), value);
            self.open();
            self.bind_target(target, value.clone(), over.span)?;
            let mut holds = true;
            for condition in conditions {
                let tested = self.expression(condition)?;
                let Some(truth) = constants::truth(&tested) else {
                    let label = format!("expected a constant, found {}", self.describe(&tested));
                    let found = Diagnostic::error(
                        condition.span,
                        "`if` over what is known when compiled needs a constant",
                        label,
                    );
                    return Err(Box::new(found.hint("choose row by row:  a if condition else 0")));
                };
                holds = truth;
                if !holds {
                    break;
                }
            }
            if holds {
                let value = self.expression(element)?;
                made.push(self.resolve_bias(value));
            }
            self.close();
            self.end_relation(counts.as_mut());
            self.leave();
        }
        self.bounded(over.span, Value::tuple(made))
    }

    /// The edges on which a condition holds; none: all.
    fn mask(&mut self, condition: &'a Expression, edges: EdgeSet) -> TraceResult<Option<NodeId>> {
        let value = self.expression(condition)?;
        let node = match constants::truth(&value) {
            Some(true) => return Ok(None),
            Some(false) => self.constant(condition.span, Number::Bool(false)),
            None => self.condition_node(condition.span, &value)?,
        };
        if self.builder.node(node).columns() != 1 || !self.shape(node).is_empty() {
            let label =
                format!("expected one bool for each edge, found {}", self.builder.describe(node));
            return Err(Box::new(
                Diagnostic::error(condition.span, "`if` filters whole edges", label)
                    .hint("choose in each place of a row:  where(condition, a, 0)"),
            ));
        }
        self.make(condition.span, |builder| builder.broadcast_to_edges(edges, node)).map(Some)
    }

    pub fn index(
        &mut self,
        base: &'a Expression,
        index: &'a Expression,
        span: Span,
    ) -> TraceResult<Value> {
        let value = self.expression(base)?;
        match value {
            Value::Edges(edges) => Ok(Value::Edges(EdgeSet {
                relation: Some(self.relation(index, edges, span)?),
                ..edges
            })),
            Value::Neighbours(edges) => Ok(Value::Neighbours(EdgeSet {
                relation: Some(self.relation(index, edges, span)?),
                ..edges
            })),
            Value::Tuple(values) => {
                let place = self.expression(index)?;
                let length = values.len() as i64;
                match constants::integer(&place) {
                    Some(place) if (-length..length).contains(&place) => {
                        Ok(values[place.rem_euclid(length) as usize].clone())
                    }
                    _ => {
                        let label = if length == 0 {
                            "the tuple is empty".to_owned()
                        } else {
                            format!(
                                "expected {} to {}, found {}",
                                -length,
                                length - 1,
                                self.describe(&place)
                            )
                        };
                        Err(Box::new(
                            Diagnostic::error(index.span, "a tuple has no such place", label)
                                .hint("places count from 0"),
                        ))
                    }
                }
            }
            other => {
                let other = self.resolve_bias(other);
                let node = self.node(base.span, &other)?;
                self.place_of_row(node, index, span).map(Value::Node)
            }
        }
    }

    fn relation(&mut self, index: &'a Expression, edges: EdgeSet, span: Span) -> TraceResult<u32> {
        if edges.relation.is_some() {
            return Err(Box::new(
                Diagnostic::error(
                    span,
                    "these are edges of one relation already",
                    "expected one index",
                )
                .hint("v.inedges[r]"),
            ));
        }
        let count = self.data.relations.len();
        match self.expression(index)? {
            Value::Relation(number) => Ok(number),
            Value::Int(number) if (0..count as i64).contains(&number) => Ok(number as u32),
            Value::Text(name) => {
                match self.data.relations.iter().position(|relation| **relation == *name) {
                    Some(number) => Ok(number as u32),
                    // The spelling in parameter names is accepted too.
                    None => match self.relation_labels.iter().position(|label| **label == *name) {
                        Some(number) => Ok(number as u32),
                        None => Err(self.unknown_relation(&name, index.span)),
                    },
                }
            }
            other => {
                let label = format!("expected a relation, found {}", self.describe(&other));
                let hint = if count == 0 {
                    "the data set has no relations; leave the index out"
                } else {
                    "for r in v.graph.relations, or its name"
                };
                Err(Box::new(
                    Diagnostic::error(index.span, "edges are indexed by a relation", label)
                        .hint(hint),
                ))
            }
        }
    }

    pub fn unknown_relation(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let relations = &self.data.relations;
        let hint = match nearest(name, relations.iter().map(String::as_str)) {
            Some(close) => format!("did you mean  \"{close}\""),
            None if relations.is_empty() => {
                "the data set has no relations; leave the index out".to_owned()
            }
            None => format!(
                "it has {}",
                relations
                    .iter()
                    .take(8)
                    .map(|relation| format!("`{relation}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        Box::new(
            Diagnostic::error(
                span,
                format!("the data set has no relation `{name}`"),
                "no relation has this name",
            )
            .hint(hint),
        )
    }

    pub fn unknown_kind(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let hint = match nearest(name, self.kind_names.iter().map(String::as_str)) {
            Some(close) => format!("did you mean  \"{close}\""),
            None => format!(
                "it has {}",
                self.kind_names
                    .iter()
                    .take(8)
                    .map(|kind| format!("`{kind}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        Box::new(
            Diagnostic::error(
                span,
                format!("the data set has no kind of vertices `{name}`"),
                "no kind has this name",
            )
            .hint(hint),
        )
    }

    /// `x[..., i, j]`: indexes the last axes, which are removed.
    fn place_of_row(
        &mut self,
        node: NodeId,
        index: &'a Expression,
        span: Span,
    ) -> TraceResult<NodeId> {
        let wrong = |tracer: &Self| {
            let found = Diagnostic::error(
                index.span,
                "rows are indexed at their last axes",
                format!("expected `..., i` for {}", tracer.builder.describe(node)),
            );
            Err(Box::new(found.hint("x[..., i]  takes place i of the last axis")))
        };
        let ExpressionKind::Tuple(parts) = &index.kind else { return wrong(self) };
        let Some((Expression { kind: ExpressionKind::Ellipsis, .. }, places)) = parts.split_first()
        else {
            return wrong(self);
        };
        let axes = self.shape(node).len();
        if places.is_empty() || places.len() > axes {
            let found = Diagnostic::error(
                index.span,
                "the row has other axes",
                format!("expected at most {axes} places after `...`, found {}", places.len()),
            );
            return Err(Box::new(
                found.hint(format!("the value is {}", self.builder.describe(node))),
            ));
        }
        let mut taken = node;
        for place in places.iter().rev() {
            let value = self.expression(place)?;
            let shape = self.shape(taken).to_vec();
            let axis = shape.len() - 1;
            let length = shape[axis] as i64;
            let Value::Int(number) = value else {
                let label = format!(
                    "expected a whole number known when compiled, found {}",
                    self.describe(&value)
                );
                return Err(Box::new(
                    Diagnostic::error(place.span, "a place of a row is a constant", label)
                        .hint("look up rows of a table by a value:  embedding(index, width)"),
                ));
            };
            if !(-length..length).contains(&number) {
                let label = if length == 0 {
                    "the axis is empty".to_owned()
                } else {
                    format!("expected {} to {}, found `{number}`", -length, length - 1)
                };
                return Err(Box::new(
                    Diagnostic::error(place.span, "the row has no such place", label)
                        .hint(format!("the value is {}", self.builder.describe(node))),
                ));
            }
            let start = number.rem_euclid(length) as u64;
            let slice = self.make(span, |builder| {
                builder.make(Op::Slice { axis, start, length: 1 }, &[taken])
            })?;
            taken = self
                .make(span, |builder| builder.make_shaped(Op::Reshape, &[slice], &shape[..axis]))?;
        }
        Ok(taken)
    }
}
