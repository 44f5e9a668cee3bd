//! one_hot: `v.x` of a data set without features, rows of the identity matrix that are never made.
//!
//! promises  `linear` of it, of its neighbours' sums and means, scaled or dropped, looks up columns of the weight; anything
//!           else that would need whole rows is an error
use std::rc::Rc;

use super::tracer::{Step, Tracer};
use super::value::{End, Value};
use crate::gir::{Binary, EdgeSet, Input, NodeId, Number, Op, Reduction, Span};
use crate::syntax::{Diagnostic, Operator};

/// Parts of parts of such sums.
const LEVELS_MOST: usize = 60;

/// Weighted sums of rows of the identity matrix.
#[derive(Debug)]
pub(super) struct OneHot {
    rows: Rows,
    levels: usize,
    /// The edges that they are seen from.
    edges: Option<EdgeSet>,
}

/// How such rows are made.
#[derive(Debug)]
pub(super) enum Rows {
    /// Of each vertex its own.
    Own,
    /// Seen from an end of each edge.
    Seen(Rc<OneHot>, EdgeSet, End),
    /// Times a number for each row.
    Scaled(Rc<OneHot>, NodeId),
    /// One plus another.
    Sum(Rc<OneHot>, Rc<OneHot>),
    /// Sum or mean over edges.
    Reduced { rows: Rc<OneHot>, edges: EdgeSet, mask: Option<NodeId>, mean: bool },
}

impl OneHot {
    /// Whether there is a row for each edge.
    pub fn is_of_edges(&self) -> bool {
        self.edges.is_some()
    }
}

impl Tracer<'_> {
    /// Such rows as a value.
    pub fn one_hot(&self, span: Span, rows: Rows) -> Step<Value> {
        let (levels, edges) = match &rows {
            Rows::Own => (0, None),
            Rows::Seen(inner, edges, _) => (inner.levels, Some(*edges)),
            Rows::Scaled(inner, scale) => (inner.levels, inner.edges.or_else(|| self.walks.last().filter(|_| self.on_edges(*scale)).map(|walk| walk.edges))),
            Rows::Sum(a, b) => (a.levels.max(b.levels), a.edges.or(b.edges)),
            Rows::Reduced { rows, .. } => (rows.levels, None),
        };
        if levels == LEVELS_MOST {
            let found = Diagnostic::error(span, "too many sums of one-hot rows", format!("expected at most {LEVELS_MOST} within each other"));
            return Err(Box::new(found.hint("apply `linear` first:  v.h = linear(v.x, width)")));
        }
        Ok(Value::OneHot(OneHot { rows, levels: levels + 1, edges }.into()))
    }

    /// Rows times a matrix, `[out, nodes]` when transposed.
    pub fn one_hot_product(&mut self, span: Span, rows: &OneHot, matrix: NodeId, transposed: bool) -> Step<NodeId> {
        self.enter(span)?;
        let made = match &rows.rows {
            Rows::Own => {
                let id = self.make(span, |builder| builder.make(Op::Input(Input::Id), &[]))?;
                self.make(span, |builder| builder.make(Op::Lookup { transposed }, &[matrix, id]))?
            }
            Rows::Seen(rows, edges, end) => {
                let node = self.one_hot_product(span, rows, matrix, transposed)?;
                self.seen_node(span, node, *edges, *end)?
            }
            Rows::Scaled(inner, scale) => {
                let node = self.one_hot_product(span, inner, matrix, transposed)?;
                self.meet(span, Binary::Multiply, node, *scale, rows.edges)?
            }
            Rows::Sum(a, b) => {
                let (first, second) = (self.one_hot_product(span, a, matrix, transposed)?, self.one_hot_product(span, b, matrix, transposed)?);
                self.meet(span, Binary::Add, first, second, a.edges.or(b.edges))?
            }
            Rows::Reduced { rows, edges, mask, mean } => {
                let node = self.one_hot_product(span, rows, matrix, transposed)?;
                let node = self.make(span, |builder| builder.on_edges(*edges, node))?;
                match mean {
                    true => self.mean_over(span, node, *edges, *mask)?,
                    false => self.make(span, |builder| builder.reduce(Reduction::Sum, *edges, node, *mask))?,
                }
            }
        };
        self.leave();
        Ok(made)
    }

    /// Of two parts of which one may be of vertices, and the other of these edges.
    fn meet(&mut self, span: Span, operator: Binary, a: NodeId, b: NodeId, edges: Option<EdgeSet>) -> Step<NodeId> {
        let mut nodes = [a, b];
        if self.on_edges(a) != self.on_edges(b)
            && let Some(edges) = edges
        {
            for node in &mut nodes {
                let inner = *node;
                if matches!(self.place(inner), crate::gir::Place::D | crate::gir::Place::G) {
                    *node = self.make(span, |builder| builder.on_edges(edges, inner))?;
                }
            }
        }
        self.make(span, |builder| builder.binary(operator, nodes[0], nodes[1]))
    }

    /// `+`, `-`, `*`, `/` and `@` where one side at least is one-hot.
    pub fn one_hot_arithmetic(&mut self, span: Span, operator: Operator, (a, a_at): (&Value, Span), (b, b_at): (&Value, Span)) -> Step<Value> {
        let rows = match (operator, a, b) {
            (Operator::Add, Value::OneHot(a), Value::OneHot(b)) => Rows::Sum(a.clone(), b.clone()),
            (Operator::Subtract, Value::OneHot(a), Value::OneHot(b)) => {
                let minus = self.constant(span, Number::Real(-1.0));
                let Value::OneHot(negative) = self.one_hot(span, Rows::Scaled(b.clone(), minus))? else { return Err(self.no_number(b_at, &Value::Nothing)) };
                Rows::Sum(a.clone(), negative)
            }
            (Operator::Multiply, Value::OneHot(rows), other) if !matches!(other, Value::OneHot(_)) => Rows::Scaled(rows.clone(), self.scale(b_at, other)?),
            (Operator::Multiply, other, Value::OneHot(rows)) if !matches!(other, Value::OneHot(_)) => Rows::Scaled(rows.clone(), self.scale(a_at, other)?),
            (Operator::Divide, Value::OneHot(rows), other) if !matches!(other, Value::OneHot(_)) => {
                let (one, scale) = (self.constant(span, Number::Real(1.0)), self.scale(b_at, other)?);
                Rows::Scaled(rows.clone(), self.make(span, |builder| builder.divide(one, scale))?)
            }
            (Operator::Product, Value::OneHot(rows), other) => {
                let (rows, matrix) = (rows.clone(), self.real(b_at, other)?);
                if self.shape(matrix).first() != Some(&self.data.nodes) || self.shape(matrix).len() != 2 {
                    let label = format!("expected P real [{}, n], found {}", self.data.nodes, self.builder.describe(matrix));
                    return Err(Box::new(Diagnostic::error(b_at, "the matrix does not fit one-hot rows", label).hint("param((v.graph.nodes, width))")));
                }
                return self.one_hot_product(span, &rows, matrix, false).map(Value::Node);
            }
            (_, Value::OneHot(_), _) => return Err(self.no_number(a_at, a)),
            _ => return Err(self.no_number(b_at, b)),
        };
        self.one_hot(span, rows)
    }

    /// A number for each row.
    fn scale(&mut self, span: Span, value: &Value) -> Step<NodeId> {
        let node = self.real(span, value)?;
        if self.builder.node(node).columns() == 1 && self.shape(node).len() <= 1 {
            return Ok(node);
        }
        let label = format!("expected one number, found {}", self.builder.describe(node));
        Err(Box::new(Diagnostic::error(span, "one-hot rows are scaled by one number each", label).hint("apply `linear` first:  v.h = linear(v.x, width)")))
    }

    pub fn one_hot_dropout(&mut self, span: Span, rows: &Rc<OneHot>, probability: f64, site: u32) -> Step<Value> {
        let (inner, around): (_, fn(Rc<OneHot>, &Rows) -> Rows) = match &rows.rows {
            Rows::Own => {
                let ones = self.ones(span)?;
                let kept = self.make(span, |builder| builder.make(Op::Dropout { probability, site }, &[ones]))?;
                return self.one_hot(span, Rows::Scaled(rows.clone(), kept));
            }
            Rows::Seen(inner, ..) => (inner, |dropped, rows| match rows {
                Rows::Seen(_, edges, end) => Rows::Seen(dropped, *edges, *end),
                _ => Rows::Own,
            }),
            Rows::Scaled(inner, _) => (inner, |dropped, rows| match rows {
                Rows::Scaled(_, scale) => Rows::Scaled(dropped, *scale),
                _ => Rows::Own,
            }),
            Rows::Sum(..) | Rows::Reduced { .. } => {
                let found =
                    Diagnostic::error(span, "dropout on sums of one-hot rows is not drawn", "expected rows of numbers, since the data set has no features");
                return Err(Box::new(found.hint("apply `linear` first, or dropout to  v.x  itself")));
            }
        };
        match self.one_hot_dropout(span, inner, probability, site)? {
            Value::OneHot(dropped) => self.one_hot(span, around(dropped, &rows.rows)),
            other => Ok(other),
        }
    }
}
