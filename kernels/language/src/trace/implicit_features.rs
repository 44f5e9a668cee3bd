//! implicit_features: `v.x` without common feature rows: in a data set without features one-hot
//! rows of the identity matrix, in one with features per kind rows of a width per kind. They are
//! never materialised.
//!
//! promises  `linear` of it, of its neighbours' sums and means, scaled or dropped, looks up columns
//!           of the weight, or, for kinds with features, rows of their product with the kind's
//!           weight: the meaning is that of concatenated rows for all kinds, with zeros outside of
//!           the vertex's own; features of a kind stay a table of its vertices. Any other use of
//!           whole rows is an error, unless all kinds have features of one width
use std::rc::Rc;

use super::tracer::{TraceResult, Tracer};
use super::value::{End, ImplicitRows, KindRows, Matrix, SpannedValue, Unmade, Value};
use crate::syntax::{Diagnostic, Operator};
use warploom_ir::{Binary, EdgeSet, Init, Input, NodeId, Number, Op, Place, Reduction, Span};

/// Maximum nesting of such sums.
const LEVELS_MOST: usize = 60;

impl Tracer<'_> {
    /// Such rows as a value.
    pub fn unmade(&self, span: Span, rows: ImplicitRows) -> TraceResult<Value> {
        let (levels, edges) = match &rows {
            ImplicitRows::Own | ImplicitRows::OfKinds(_) => (0, None),
            ImplicitRows::Seen(inner, edges, _) => (inner.levels, Some(*edges)),
            ImplicitRows::Scaled(inner, scale) => (
                inner.levels,
                inner.edges.or_else(|| {
                    self.walks.last().filter(|_| self.is_on_edges(*scale)).map(|walk| walk.edges)
                }),
            ),
            ImplicitRows::Sum(a, b) => (a.levels.max(b.levels), a.edges.or(b.edges)),
            ImplicitRows::Reduced { rows, .. } => (rows.levels, None),
        };
        if levels == LEVELS_MOST {
            let found = Diagnostic::error(
                span,
                "too many sums of one-hot rows",
                format!("expected at most {LEVELS_MOST} within each other"),
            );
            return Err(Box::new(found.hint("apply `linear` first:  v.h = linear(v.x, width)")));
        }
        Ok(Value::Unmade(Unmade { rows, levels: levels + 1, edges }.into()))
    }

    /// `v.x` of a data set with features per kind, or without.
    pub fn rows_of_kinds(&mut self, span: Span) -> TraceResult<Value> {
        let mut tables = Vec::new();
        for (number, kind) in self.data.kinds.iter().enumerate() {
            let input = Op::Input(Input::FeaturesOf(number as u32));
            tables.push(if kind.features.is_some() {
                Some(self.make_table(span, |builder| builder.make(input, &[]))?)
            } else {
                None
            });
        }
        self.unmade(span, ImplicitRows::OfKinds(KindRows { tables, kept: None }.into()))
    }

    /// Whether such rows can be materialised: all kinds have features of one width.
    pub fn is_even(&self) -> bool {
        let widths: Vec<Option<u64>> = self.data.kinds.iter().map(|kind| kind.features).collect();
        widths
            .first()
            .is_some_and(|first| first.is_some() && widths.iter().all(|width| width == first))
    }

    /// Rows times a matrix.
    pub fn unmade_product(
        &mut self,
        span: Span,
        rows: &Unmade,
        matrix: Matrix,
    ) -> TraceResult<NodeId> {
        self.enter(span)?;
        let made = match &rows.rows {
            ImplicitRows::Own => {
                let Matrix::Whole(matrix, transposed) = matrix else {
                    return Err(self.expected_number(span, &Value::Nothing));
                };
                let id = self.make(span, |builder| builder.make(Op::Input(Input::Id), &[]))?;
                self.make(span, |builder| builder.make(Op::Lookup { transposed }, &[matrix, id]))?
            }
            ImplicitRows::OfKinds(of_kinds) => self.product_of_kinds(span, of_kinds, matrix)?,
            ImplicitRows::Seen(rows, edges, end) => {
                let node = self.unmade_product(span, rows, matrix)?;
                self.view_node_from_end(span, node, *edges, *end)?
            }
            ImplicitRows::Scaled(inner, scale) => {
                let node = self.unmade_product(span, inner, matrix)?;
                self.meet(span, Binary::Multiply, node, *scale, rows.edges)?
            }
            ImplicitRows::Sum(a, b) => {
                let (first, second) =
                    (self.unmade_product(span, a, matrix)?, self.unmade_product(span, b, matrix)?);
                self.meet(span, Binary::Add, first, second, a.edges.or(b.edges))?
            }
            ImplicitRows::Reduced { rows, edges, mask, mean } => {
                let node = self.unmade_product(span, rows, matrix)?;
                let node = self.make(span, |builder| builder.broadcast_to_edges(*edges, node))?;
                match mean {
                    true => self.mean_over(span, node, *edges, *mask)?,
                    false => self.make(span, |builder| {
                        builder.reduce(Reduction::Sum, *edges, node, *mask)
                    })?,
                }
            }
        };
        self.leave();
        Ok(made)
    }

    /// Concatenates the tables of kinds with features, and columns of the weights of others, and
    /// looks up the row of each vertex.
    fn product_of_kinds(
        &mut self,
        span: Span,
        rows: &KindRows,
        matrix: Matrix,
    ) -> TraceResult<NodeId> {
        let (mut made, mut weights): ([(Vec<NodeId>, Vec<u32>); 2], _) =
            (Default::default(), Vec::new());
        if let Matrix::OfKinds(of_kinds) = matrix {
            weights.extend(of_kinds.iter().copied());
        }
        for (number, table) in rows.tables.iter().enumerate() {
            let (part, side) = match (*table, weights.get(number)) {
                (Some(table), Some(weight)) => (
                    self.make_table(span, |builder| {
                        builder.make(Op::Product { transposed: true }, &[table, *weight])
                    })?,
                    0,
                ),
                (Some(table), None) => (table, 0),
                (None, Some(weight)) => (*weight, 1),
                (None, None) => return Err(self.expected_number(span, &Value::Nothing)),
            };
            made[side].0.push(part);
            made[side].1.push(number as u32);
        }
        let mut sum = None;
        for (axis, (parts, kinds)) in
            made.into_iter().enumerate().filter(|(_, (parts, _))| !parts.is_empty())
        {
            let table = if parts.len() == 1 {
                parts[0]
            } else {
                self.make_table(span, |builder| builder.make(Op::Concat(axis), &parts))?
            };
            let place =
                self.make(span, |builder| builder.make(Op::Input(Input::PlaceAmong(kinds)), &[]))?;
            let mut found = self.make(span, |builder| {
                builder.make(Op::Lookup { transposed: axis == 1 }, &[table, place])
            })?;
            if let Some(kept) = rows.kept.filter(|_| axis == 1) {
                found = self.make(span, |builder| builder.multiply(found, kept))?;
            }
            sum = Some(match sum {
                Some(before) => self.make(span, |builder| builder.add(before, found))?,
                None => found,
            });
        }
        sum.ok_or_else(|| self.expected_number(span, &Value::Nothing))
    }

    /// `linear` of such rows: a weight and a bias per kind.
    pub fn linear_of_kinds(
        &mut self,
        span: Span,
        rows: &Unmade,
        out: u64,
        bias: bool,
        name: &str,
    ) -> TraceResult<NodeId> {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for (number, kind) in self.data.kinds.iter().enumerate() {
            let name = format!("{name}.{}", self.kind_labels[number]);
            let (weight, inner) = (format!("{name}.weight"), kind.features.unwrap_or(kind.nodes));
            self.declare(span, &weight)?;
            weights.push(self.parameter(span, weight, vec![out, inner], Init::GlorotUniform, true));
            if bias {
                let name = format!("{name}.bias");
                self.declare(span, &name)?;
                biases.push(self.parameter(span, name, vec![out], Init::Zero, true));
            }
        }
        let product = self.unmade_product(span, rows, Matrix::OfKinds(&weights))?;
        if !bias {
            return Ok(product);
        }
        let bias = self.bias_of_kinds(span, rows, biases, out)?;
        self.make(span, |builder| builder.add(product, bias))
    }

    /// Adds to each row the bias of the kind of its vertex: for a neighbour's row that of the
    /// neighbour, else of the owner of the edges.
    fn bias_of_kinds(
        &mut self,
        span: Span,
        rows: &Unmade,
        biases: Vec<NodeId>,
        out: u64,
    ) -> TraceResult<NodeId> {
        let mut lines = Vec::new();
        for bias in biases {
            lines.push(
                self.make(span, |builder| builder.make_shaped(Op::Reshape, &[bias], &[1, out]))?,
            );
        }
        let table = if lines.len() == 1 {
            lines[0]
        } else {
            self.make(span, |builder| builder.make(Op::Concat(0), &lines))?
        };
        let kind = self.make(span, |builder| builder.make(Op::Input(Input::Kind), &[]))?;
        let bias = self
            .make(span, |builder| builder.make(Op::Lookup { transposed: false }, &[table, kind]))?;
        match (rows.owner(), rows.edges) {
            (Some((edges, end)), _) => self.view_node_from_end(span, bias, edges, end),
            (None, Some(edges)) => self.view_node_from_end(span, bias, edges, End::Near),
            (None, None) => Ok(bias),
        }
    }

    /// Combines two operands of which one may be of vertices, and the other of these edges.
    fn meet(
        &mut self,
        span: Span,
        operator: Binary,
        a: NodeId,
        b: NodeId,
        edges: Option<EdgeSet>,
    ) -> TraceResult<NodeId> {
        let mut nodes = [a, b];
        if self.is_on_edges(a) != self.is_on_edges(b)
            && let Some(edges) = edges
        {
            for node in &mut nodes {
                let inner = *node;
                if matches!(self.place(inner), Place::D | Place::G) {
                    *node = self.make(span, |builder| builder.broadcast_to_edges(edges, inner))?;
                }
            }
        }
        self.make(span, |builder| builder.binary(operator, nodes[0], nodes[1]))
    }

    /// `+`, `-`, `*`, `/` and `@` where at least one side is such rows; an operation that needs
    /// whole rows materialises them if possible.
    pub fn unmade_arithmetic(
        &mut self,
        span: Span,
        operator: Operator,
        a: &SpannedValue,
        b: &SpannedValue,
    ) -> TraceResult<Value> {
        match self.linear_arithmetic(span, operator, a, b) {
            Err(_) if self.is_even() => {
                let mut sides = [a.clone(), b.clone()];
                for side in &mut sides {
                    if let Value::Unmade(_) = side.value {
                        side.value = Value::Node(self.node(side.span, &side.value)?);
                    }
                }
                let [a, b] = sides;
                self.arithmetic(span, operator, a, b)
            }
            made => made,
        }
    }

    fn linear_arithmetic(
        &mut self,
        span: Span,
        operator: Operator,
        left: &SpannedValue,
        right: &SpannedValue,
    ) -> TraceResult<Value> {
        let (a_at, b_at) = (left.span, right.span);
        let rows = match (operator, &left.value, &right.value) {
            (Operator::Add, Value::Unmade(a), Value::Unmade(b)) => {
                ImplicitRows::Sum(a.clone(), b.clone())
            }
            (Operator::Subtract, Value::Unmade(a), Value::Unmade(b)) => {
                let minus = self.constant(span, Number::Real(-1.0));
                let Value::Unmade(negative) =
                    self.unmade(span, ImplicitRows::Scaled(b.clone(), minus))?
                else {
                    return Err(self.expected_number(b_at, &Value::Nothing));
                };
                ImplicitRows::Sum(a.clone(), negative)
            }
            (Operator::Multiply, Value::Unmade(rows), other)
                if !matches!(other, Value::Unmade(_)) =>
            {
                ImplicitRows::Scaled(rows.clone(), self.scale(b_at, other)?)
            }
            (Operator::Multiply, other, Value::Unmade(rows))
                if !matches!(other, Value::Unmade(_)) =>
            {
                ImplicitRows::Scaled(rows.clone(), self.scale(a_at, other)?)
            }
            (Operator::Divide, Value::Unmade(rows), other)
                if !matches!(other, Value::Unmade(_)) =>
            {
                let (one, scale) =
                    (self.constant(span, Number::Real(1.0)), self.scale(b_at, other)?);
                ImplicitRows::Scaled(
                    rows.clone(),
                    self.make(span, |builder| builder.divide(one, scale))?,
                )
            }
            (Operator::Product, Value::Unmade(rows), other) if self.data.kinds.is_empty() => {
                let (rows, matrix) = (rows.clone(), self.real(b_at, other)?);
                if self.shape(matrix).first() != Some(&self.data.nodes)
                    || self.shape(matrix).len() != 2
                {
                    let label = format!(
                        "expected P real [{}, n], found {}",
                        self.data.nodes,
                        self.builder.describe(matrix)
                    );
                    return Err(Box::new(
                        Diagnostic::error(b_at, "the matrix does not fit one-hot rows", label)
                            .hint("param((v.graph.nodes, width))"),
                    ));
                }
                return self
                    .unmade_product(span, &rows, Matrix::Whole(matrix, false))
                    .map(Value::Node);
            }
            (_, Value::Unmade(_), _) => return Err(self.expected_number(a_at, &left.value)),
            _ => return Err(self.expected_number(b_at, &right.value)),
        };
        self.unmade(span, rows)
    }

    /// A number for each row.
    fn scale(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        let node = self.real(span, value)?;
        if self.builder.node(node).columns() == 1 && self.shape(node).len() <= 1 {
            return Ok(node);
        }
        let label = format!("expected one number, found {}", self.builder.describe(node));
        Err(Box::new(
            Diagnostic::error(
                span,
                format!("{} are scaled by one number each", self.unmade_in_words()),
                label,
            )
            .hint("apply `linear` first:  v.h = linear(v.x, width)"),
        ))
    }

    pub fn unmade_dropout(
        &mut self,
        span: Span,
        rows: &Rc<Unmade>,
        probability: f64,
        site: u32,
    ) -> TraceResult<Value> {
        let (inner, around): (_, fn(Rc<Unmade>, &ImplicitRows) -> ImplicitRows) = match &rows.rows {
            ImplicitRows::OfKinds(of_kinds) => {
                let dropped = self.dropped_kinds(span, of_kinds, probability, site)?;
                return self.unmade(span, ImplicitRows::OfKinds(dropped.into()));
            }
            ImplicitRows::Own => {
                let ones = self.ones(span)?;
                let kept = self.make(span, |builder| {
                    builder.make(Op::Dropout { probability, site }, &[ones])
                })?;
                return self.unmade(span, ImplicitRows::Scaled(rows.clone(), kept));
            }
            ImplicitRows::Seen(inner, ..) => (inner, |dropped, rows| match rows {
                ImplicitRows::Seen(_, edges, end) => ImplicitRows::Seen(dropped, *edges, *end),
                _ => ImplicitRows::Own,
            }),
            ImplicitRows::Scaled(inner, _) => (inner, |dropped, rows| match rows {
                ImplicitRows::Scaled(_, scale) => ImplicitRows::Scaled(dropped, *scale),
                _ => ImplicitRows::Own,
            }),
            ImplicitRows::Sum(..) | ImplicitRows::Reduced { .. } => {
                let found = Diagnostic::error(
                    span,
                    format!("dropout on sums of {} is not drawn", self.unmade_in_words()),
                    self.explain_widths(),
                );
                return Err(Box::new(
                    found.hint("apply `linear` first, or dropout to  v.x  itself"),
                ));
            }
        };
        match self.unmade_dropout(span, inner, probability, site)? {
            Value::Unmade(dropped) => self.unmade(span, around(dropped, &rows.rows)),
            other => Ok(other),
        }
    }

    /// Dropout of each table at a site of its own, and one more for rows of the identity matrix.
    fn dropped_kinds(
        &mut self,
        span: Span,
        rows: &KindRows,
        probability: f64,
        site: u32,
    ) -> TraceResult<KindRows> {
        let mut tables = Vec::new();
        for (number, table) in rows.tables.iter().enumerate() {
            let dropout = Op::Dropout { probability, site: site + number as u32 };
            tables.push(match table {
                Some(table) => {
                    Some(self.make_table(span, |builder| builder.make(dropout, &[*table]))?)
                }
                None => None,
            });
        }
        let mut kept = rows.kept;
        if tables.contains(&None) {
            let (ones, site) = (self.ones(span)?, site + tables.len() as u32);
            let dropped = self
                .make(span, |builder| builder.make(Op::Dropout { probability, site }, &[ones]))?;
            kept = Some(match kept {
                Some(before) => self.make(span, |builder| builder.multiply(before, dropped))?,
                None => dropped,
            });
        }
        Ok(KindRows { tables, kept })
    }

    /// Describes such rows.
    pub fn unmade_in_words(&self) -> &'static str {
        if self.data.kinds.is_empty() { "one-hot rows" } else { "rows of `v.x`" }
    }

    /// Explains why they have no common width, for messages.
    pub fn explain_widths(&self) -> String {
        if self.data.kinds.is_empty() {
            return "expected rows of numbers, since the data set has no features".to_owned();
        }
        format!("expected rows of one width, found {}", self.widths_in_words())
    }

    /// The width of each kind: `paper 12, author one-hot`.
    pub fn widths_in_words(&self) -> String {
        let width = |columns: Option<u64>| {
            columns.map_or_else(|| "one-hot".to_owned(), |columns| columns.to_string())
        };
        let mut kinds: Vec<String> = self
            .data
            .kinds
            .iter()
            .take(8)
            .map(|kind| format!("{} {}", kind.name, width(kind.features)))
            .collect();
        if self.data.kinds.len() > 8 {
            kinds.push("...".to_owned());
        }
        kinds.join(", ")
    }
}
