//! program_result: the returned values become results or the loss; warnings about assignments
//! without effect.
//!
//! promises  a result is a row per vertex, or per edge; in a data set of many graphs, a row per
//!           graph if the labels are of graphs, or if no returned value is of vertices
use std::collections::{BTreeMap, HashSet};

use super::statements::Flow;
use super::tracer::{TraceResult, Tracer};
use super::value::Value;
use crate::syntax::{Definition, Diagnostic, Expression, ExpressionKind};
use warploom_ir::{EdgeSet, Input, NodeId, Op, Output, Place, Span, Type};

/// Predefined columns of the tables of vertices and of edges.
const COLUMNS_OF_VERTICES: &[&str] = &["id"];
const COLUMNS_OF_EDGES: &[&str] = &["source", "target", "of"];

/// A returned value.
struct Result {
    name: Option<String>,
    node: NodeId,
    edges: Option<EdgeSet>,
    span: Span,
}

impl<'a> Tracer<'a> {
    /// Traces the entry, whose parameters are bound.
    pub fn entry(&mut self, function: &'a Definition) -> TraceResult<()> {
        self.begin_body(&function.name.text);
        let Flow::Return(value, Some(written)) = self.block(&function.body)? else {
            let what = format!("`{}` returns nothing", function.name.text);
            let label = if self.data.training {
                "expected `return` with scores to train"
            } else {
                "expected `return` with a result"
            };
            return Err(Box::new(
                Diagnostic::error(function.name.span, what, label).hint("end it with  return v.h"),
            ));
        };
        let value = self.resolve_bias(value);
        let results = self.results(&value, written)?;
        self.check_biases()?;
        if self.data.training {
            self.train(&results, written.span)?;
        } else {
            self.report(results)?;
        }
        self.warn_of_no_effect();
        Ok(())
    }

    fn check_biases(&self) -> TraceResult<()> {
        match self.biases.iter().find(|bias| bias.made.is_none()) {
            None => Ok(()),
            Some(bias) => {
                let found = Diagnostic::error(
                    bias.span,
                    "a `bias()` takes its shape from what it is added to",
                    "expected as an operand of `+`",
                );
                Err(Box::new(found.hint("add it:  x + bias()")))
            }
        }
    }

    fn results(&mut self, value: &Value, written: &'a Expression) -> TraceResult<Vec<Result>> {
        let parts: Vec<(Value, Span, Option<&Expression>)> = match (value, &written.kind) {
            (Value::Tuple(values), ExpressionKind::Tuple(parts)) if parts.len() == values.len() => {
                values
                    .iter()
                    .zip(parts)
                    .map(|(value, part)| (value.clone(), part.span, Some(part)))
                    .collect()
            }
            (Value::Tuple(values), _) => {
                values.iter().map(|value| (value.clone(), written.span, None)).collect()
            }
            (value, _) => vec![(value.clone(), written.span, Some(written))],
        };
        if parts.is_empty() {
            return Err(Box::new(
                Diagnostic::error(written.span, "nothing is returned", "expected values")
                    .hint("return v.h"),
            ));
        }
        parts.into_iter().map(|(value, span, part)| self.result(&value, span, part)).collect()
    }

    fn result(
        &mut self,
        value: &Value,
        span: Span,
        part: Option<&Expression>,
    ) -> TraceResult<Result> {
        let name = part.and_then(|part| match &part.kind {
            ExpressionKind::Name(name) => Some(name.clone()),
            ExpressionKind::Attribute(_, name) => Some(name.text.clone()),
            _ => None,
        });
        let value = self.resolve_bias(value.clone());
        if let Value::List(list) = &value {
            if list.mask.is_some() {
                let found = Diagnostic::error(
                    span,
                    "a filtered list cannot be returned",
                    "expected a value for each edge",
                );
                return Err(Box::new(
                    found.hint("choose edge by edge:  [a if condition else 0 for ...]"),
                ));
            }
            let node = self.node(span, &list.element)?;
            let node = self.make(span, |builder| builder.broadcast_to_edges(list.edges, node))?;
            return Ok(Result { name, node, edges: Some(list.edges), span });
        }
        let mut node = self.node(span, &value)?;
        if self.shape(node) == [1] && !self.data.training {
            node = self.make(span, |builder| builder.make_shaped(Op::Reshape, &[node], &[]))?;
        }
        Ok(Result { name, node, edges: None, span })
    }

    fn report(&mut self, results: Vec<Result>) -> TraceResult<()> {
        let of_rows = results.iter().filter(|result| result.edges.is_none());
        let of_graphs =
            self.data.place_of_results(of_rows.map(|result| self.place(result.node))) == Place::G;
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for mut result in results {
            if result.edges.is_none() && !of_graphs {
                result.node =
                    self.make(result.span, |builder| builder.broadcast_to_vertices(result.node))?;
            }
            let base = result.name.unwrap_or_else(|| "value".to_owned());
            let own = if result.edges.is_some() { COLUMNS_OF_EDGES } else { COLUMNS_OF_VERTICES };
            let count = taken
                .entry(base.clone())
                .or_insert_with(|| usize::from(own.contains(&base.as_str())));
            let mut name = if *count == 0 { base.clone() } else { format!("{base}_{count}") };
            *count += 1;
            while self.builder.gir.results.iter().any(|other| other.name == name) {
                name.push('_');
            }
            self.builder.gir.results.push(Output { name, node: result.node, edges: result.edges });
        }
        Ok(())
    }

    fn train(&mut self, results: &[Result], span: Span) -> TraceResult<()> {
        let Some(target) = self.data.target else {
            let found = Diagnostic::error(
                span,
                "there is nothing to train for",
                "the data set has no labels, or none is named",
            );
            return Err(Box::new(found.hint(
                "name a column of the node table with  run.target, or set  run.mode: iterate",
            )));
        };
        let [result] = results else {
            let found = Diagnostic::error(
                span,
                "training needs one result",
                format!("expected scores alone, found {} values", results.len()),
            );
            return Err(Box::new(found.hint(
                "return the scores only; another entry may return the rest, with what was \
                 learned:  --set run.mode=infer --set run.init=FILE",
            )));
        };
        if result.edges.is_some() {
            let found = Diagnostic::error(
                span,
                "training needs a result for each vertex",
                "found a list over edges",
            );
            return Err(Box::new(found.hint(
                "reduce it:  sum(...)  ; what was learned is applied to lists of edges with  --set \
                 run.mode=infer --set run.init=FILE",
            )));
        }
        if !self.builder.gir.parameters.iter().any(|parameter| parameter.learned) {
            let found = Diagnostic::error(
                span,
                "there is nothing to train",
                "the program has no parameters",
            );
            return Err(Box::new(
                found.hint("use  linear, param, bias or embedding; or set  run.mode: iterate"),
            ));
        }
        let mut scores = self.placed_scores(result, span)?;
        if self.kind(scores) != Type::Real {
            scores = self.real(span, &Value::Node(scores))?;
        }
        let shape = self.shape(scores).to_vec();
        if shape != [target.columns] {
            if shape.is_empty() && target.columns == 1 {
                scores =
                    self.make(span, |builder| builder.make_shaped(Op::Reshape, &[scores], &[1]))?;
            } else {
                let label = format!(
                    "expected a row of {}, found {}",
                    target.columns,
                    self.builder.describe(scores)
                );
                let found = Diagnostic::error(span, "the result does not fit the labels", label);
                return Err(Box::new(
                    found.hint("make the last layer `v.classes` wide:  linear(v.h, v.classes)"),
                ));
            }
        }
        let target_node = self.make(span, |builder| builder.make(Op::Input(Input::Target), &[]))?;
        let loss =
            self.make(span, |builder| builder.make(Op::Loss(target.loss), &[scores, target_node]))?;
        self.builder.gir.loss = Some(loss);
        self.builder.gir.results =
            vec![Output { name: "scores".to_owned(), node: scores, edges: None }];
        Ok(())
    }

    /// The scores as rows of what has labels: vertices, or graphs in a data set of many.
    fn placed_scores(&mut self, result: &Result, span: Span) -> TraceResult<NodeId> {
        let (wanted, found) = (self.data.target_place(), self.place(result.node));
        let wrong = |what: &str, expected: &str, hint: &str| {
            let label =
                format!("expected {expected}, found {}", self.builder.describe(result.node));
            Err(Box::new(Diagnostic::error(span, what, label).hint(hint)))
        };
        match (wanted, found) {
            (Place::G, Place::G) => Ok(result.node),
            (Place::G, _) => wrong(
                "labels belong to graphs in this data set",
                "a row for each graph",
                "pool the vertices of each graph:  pool_mean(v.h) ; to learn vertices of all \
                 graphs as one:  --set ingest.graphs=union",
            ),
            (_, Place::G) => wrong(
                "labels belong to vertices in this data set",
                "a row for each vertex",
                "return scores of vertices:  linear(v.h, v.classes) ; to learn graphs of a set of \
                 many:  --set ingest.graphs=separate",
            ),
            _ => self.make(span, |builder| builder.broadcast_to_vertices(result.node)),
        }
    }

    /// Warns of assignments whose value is never used, in any pass over them.
    fn warn_of_no_effect(&mut self) {
        let gir = &self.builder.gir;
        let mut reached: HashSet<NodeId> = gir.roots().into_iter().collect();
        for id in gir.ids().collect::<Vec<_>>().into_iter().rev() {
            if reached.contains(&id) {
                reached.extend(gir.node(id).inputs.iter().copied());
            }
        }
        let mut effects: BTreeMap<(u32, u32), (bool, &str)> = BTreeMap::new();
        for written in &self.written {
            let effect = written.read && written.node.is_none_or(|node| reached.contains(&node));
            let known = effects
                .entry((written.span.start, written.span.end))
                .or_insert((false, &written.what));
            known.0 |= effect;
        }
        let mut warnings = Vec::new();
        for ((start, end), (effect, what)) in effects {
            if !effect {
                let what = if what.starts_with("the setting") {
                    what.to_owned()
                } else {
                    format!("`{what}`")
                };
                let found = Diagnostic::warning(
                    Span { start, end },
                    format!("{what} has no effect on the result"),
                    "nothing that is returned depends on it",
                );
                warnings.push(found.hint("leave it out, or use it"));
            }
        }
        self.warnings.extend(warnings);
    }
}
