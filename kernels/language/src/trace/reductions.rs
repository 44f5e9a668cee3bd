//! reductions: `sum`, `mean`, `softmax` and the rest, over edges, over a row's axis, over
//! constants, or of two values.
//!
//! promises  the argument alone decides which of them is meant; over no edges the result is never
//!           NaN
use super::calls::Arguments;
use super::constants;
use super::tracer::{TraceResult, Tracer};
use super::value::{ImplicitRows, List, SpannedValue, Value};
use crate::syntax::{Diagnostic, Operator};
use warploom_ir::{
    Binary, EdgeSet, Input, NodeId, Number, Op, Place, Pooling, Reduction, Span, Type, Unary,
};

impl Tracer<'_> {
    pub fn reduction(&mut self, mut arguments: Arguments) -> TraceResult<Value> {
        let (name, span) = (arguments.name.clone(), arguments.span);
        if let ("min" | "max", Some(values @ [_, _, ..])) = (name.as_str(), arguments.values()) {
            let values = values.to_vec();
            return self.extreme_of(span, &values, name == "max");
        }
        let (axis, default) = (arguments.remove("axis"), arguments.remove("default"));
        let [values] = arguments.take(["values"], 1)?;
        let values = values.unwrap_or(SpannedValue::nothing(span));
        match (&values.value, &axis) {
            (Value::List(list), None) => {
                let list = list.clone();
                self.reduce_edges(&name, span, values.span, &list, default)
            }
            (Value::List(_), Some(axis)) => {
                let found = Diagnostic::error(
                    axis.span,
                    "a list is reduced over its edges",
                    "expected no axis",
                );
                Err(Box::new(found.hint(format!(
                    "reduce a row inside of the comprehension:  [{name}(u.h, axis=0) for u in \
                     v.innbs]"
                ))))
            }
            (Value::Tuple(parts), None) => {
                let parts: Vec<SpannedValue> =
                    parts.iter().map(|part| SpannedValue::new(part.clone(), values.span)).collect();
                self.reduce_unrolled(&name, span, &parts, default)
            }
            (value, Some(axis)) => {
                let node = self.node(values.span, value)?;
                self.reduce_axis(&name, span, node, axis)
            }
            (value, None) => Err(self.unclear(&name, &values, value)),
        }
    }

    fn unclear(&self, name: &str, values: &SpannedValue, value: &Value) -> Box<Diagnostic> {
        let label = format!("expected a comprehension, found {}", self.describe(value));
        let found = Diagnostic::error(values.span, format!("`{name}` of what?"), label);
        let over_edges = format!("over edges:  {name}(u.h for u in v.innbs)");
        let over_all = match name {
            "sum" | "mean" | "max" => format!("; over all vertices:  pool_{name}(x)"),
            _ => String::new(),
        };
        let hint = match value {
            Value::Node(node) if !self.shape(*node).is_empty() => {
                format!("over a row:  {name}(x, axis=-1); {over_edges}{over_all}")
            }
            Value::Node(_) if name == "min" => format!("{over_edges}; of two values:  min(a, b)"),
            Value::Neighbours(_) => format!("say what of them:  {name}(u.h for u in v.innbs)"),
            Value::Edges(_) => format!("say what of them:  {name}(e.w for e in v.inedges)"),
            _ => format!("{over_edges}{over_all}"),
        };
        Box::new(found.hint(hint))
    }

    fn extreme_of(
        &mut self,
        span: Span,
        values: &[SpannedValue],
        largest: bool,
    ) -> TraceResult<Value> {
        let mut result = values[0].clone();
        for value in &values[1..] {
            result = SpannedValue::new(self.extreme(span, &result, value, largest)?, span);
        }
        Ok(result.value)
    }

    /// Over a constant number of values: unrolled.
    fn reduce_unrolled(
        &mut self,
        name: &str,
        span: Span,
        parts: &[SpannedValue],
        default: Option<SpannedValue>,
    ) -> TraceResult<Value> {
        if let (true, Some(default)) = (parts.is_empty(), default) {
            return Ok(default.value);
        }
        match name {
            "sum" | "mean" => {
                let total = self.fold_parts(span, Operator::Add, Value::Int(0), parts)?;
                if name == "sum" || parts.is_empty() {
                    return Ok(total.value);
                }
                let count = SpannedValue::new(Value::Int(parts.len() as i64), span);
                self.arithmetic(span, Operator::Divide, total, count)
            }
            "prod" => {
                let total = self.fold_parts(span, Operator::Multiply, Value::Int(1), parts)?;
                Ok(total.value)
            }
            "min" | "max" if parts.is_empty() => {
                let found = Diagnostic::error(
                    span,
                    format!("`{name}` of nothing"),
                    "expected at least one value",
                );
                Err(Box::new(found.hint(format!("give a default:  {name}(values, default=0)"))))
            }
            "min" | "max" => self.extreme_of(span, parts, name == "max"),
            "count" => Ok(Value::Int(parts.len() as i64)),
            "any" | "all" => {
                let all = name == "all";
                let mut result = Value::Bool(all);
                for SpannedValue { value: part, span: at } in parts {
                    result = match (constants::truth(&result), constants::truth(part)) {
                        (Some(before), _) if before != all => break,
                        (Some(_), Some(holds)) => Value::Bool(holds),
                        (Some(_), None) => Value::Node(self.condition_node(*at, part)?),
                        (None, Some(holds)) if holds == all => result,
                        (None, Some(holds)) => Value::Bool(holds),
                        (None, None) => {
                            let mut nodes = [
                                self.condition_node(span, &result)?,
                                self.condition_node(*at, part)?,
                            ];
                            self.together(span, &mut nodes)?;
                            let operator = if all { Binary::And } else { Binary::Or };
                            Value::Node(self.make(span, |builder| {
                                builder.binary(operator, nodes[0], nodes[1])
                            })?)
                        }
                    };
                }
                Ok(result)
            }
            _ => {
                let found = Diagnostic::error(
                    span,
                    format!("`{name}` is over edges, or over an axis of a row"),
                    format!("found {} separate values", parts.len()),
                );
                Err(Box::new(
                    found.hint(format!("concatenate them first:  {name}(concat(a, b), axis=-1)")),
                ))
            }
        }
    }

    /// `a operator b operator ...` of all parts; of none, `empty`.
    fn fold_parts(
        &mut self,
        span: Span,
        operator: Operator,
        empty: Value,
        parts: &[SpannedValue],
    ) -> TraceResult<SpannedValue> {
        let first = parts.first().map_or(empty, |part| part.value.clone());
        let mut total = SpannedValue::new(first, span);
        for part in parts.iter().skip(1) {
            let next = self.arithmetic(span, operator, total, part.clone())?;
            total = SpannedValue::new(next, span);
        }
        Ok(total)
    }

    /// Over an axis of a row, which is removed (or kept, for `softmax`).
    fn reduce_axis(
        &mut self,
        name: &str,
        span: Span,
        node: NodeId,
        axis: &SpannedValue,
    ) -> TraceResult<Value> {
        let axis = self.axis(axis, node)?;
        let length = self.shape(node)[axis];
        let node = if self.kind(node) == Type::Bool {
            self.make(span, |builder| builder.cast(Type::Int, node))?
        } else {
            node
        };
        let over = |tracer: &mut Self, pooling, node| {
            tracer.make(span, |builder| builder.make(Op::Axis(pooling, axis), &[node]))
        };
        Ok(Value::Node(match name {
            "sum" => over(self, Pooling::Sum, node)?,
            "min" => over(self, Pooling::Minimum, node)?,
            "max" => over(self, Pooling::Maximum, node)?,
            "mean" => {
                let real = self.make(span, |builder| builder.cast(Type::Real, node))?;
                let sum = over(self, Pooling::Sum, real)?;
                let count = self.number(span, length as f64);
                self.make(span, |builder| builder.divide(sum, count))?
            }
            "softmax" | "logsumexp" => {
                let real = self.make(span, |builder| builder.cast(Type::Real, node))?;
                let mut kept = self.shape(real).to_vec();
                kept[axis] = 1;
                let largest = over(self, Pooling::Maximum, real)?;
                let largest = self.finite_shift(span, largest)?;
                let shift =
                    self.make(span, |builder| builder.make_shaped(Op::Reshape, &[largest], &kept))?;
                let lower = self.make(span, |builder| builder.subtract(real, shift))?;
                let shares = self.make(span, |builder| builder.unary(Unary::Exp, lower))?;
                let total = over(self, Pooling::Sum, shares)?;
                if name == "logsumexp" {
                    let log = self.make(span, |builder| builder.unary(Unary::Log, total))?;
                    return Ok(Value::Node(self.make(span, |builder| builder.add(log, largest))?));
                }
                let total = self.nonzero(span, total)?;
                let total =
                    self.make(span, |builder| builder.make_shaped(Op::Reshape, &[total], &kept))?;
                self.make(span, |builder| builder.divide(shares, total))?
            }
            _ => {
                let found = Diagnostic::error(
                    span,
                    format!("`{name}` has no axis"),
                    "expected a list over edges",
                );
                return Err(Box::new(
                    found.hint("over an axis there are  sum, mean, min, max, softmax, logsumexp"),
                ));
            }
        }))
    }

    /// What is subtracted before `exp`: the maximum, detached, or 0 if it is -inf.
    fn finite_shift(&mut self, span: Span, largest: NodeId) -> TraceResult<NodeId> {
        let detached = self.make(span, |builder| builder.make(Op::Detach, &[largest]))?;
        let (lowest, zero) = (self.number(span, f64::NEG_INFINITY), self.number(span, 0.0));
        let nothing = self.make(span, |builder| builder.binary(Binary::Equal, detached, lowest))?;
        self.make(span, |builder| builder.select(nothing, zero, detached))
    }

    /// The value, or 1 if it is 0: a safe divisor.
    fn nonzero(&mut self, span: Span, total: NodeId) -> TraceResult<NodeId> {
        let (zero, one) = (self.number(span, 0.0), self.number(span, 1.0));
        let nothing = self.make(span, |builder| builder.binary(Binary::Equal, total, zero))?;
        self.make(span, |builder| builder.select(nothing, one, total))
    }

    fn reduce_edges(
        &mut self,
        name: &str,
        span: Span,
        at: Span,
        list: &List,
        default: Option<SpannedValue>,
    ) -> TraceResult<Value> {
        let (edges, mask) = (list.edges, list.mask);
        if name == "count" {
            let count = self.count(span, edges, mask)?;
            return self.with_default(span, Value::Node(count), edges, mask, default);
        }
        if let Value::Unmade(rows) = &list.element {
            let is_linear = matches!(name, "sum" | "mean") && default.is_none();
            if !is_linear && !self.is_even() {
                return Err(self.expected_number(at, &list.element));
            }
            if is_linear {
                return self.unmade(
                    span,
                    ImplicitRows::Reduced { rows: rows.clone(), edges, mask, mean: name == "mean" },
                );
            }
        }
        if let Value::Tuple(parts) = &list.element {
            let found = Diagnostic::error(
                at,
                format!("`{name}` of pairs has no meaning"),
                format!("expected one value for each edge, found {}", parts.len()),
            );
            return Err(Box::new(
                found.hint(format!("reduce each:  {name}(a for a, e in zip(values, v.inedges))")),
            ));
        }
        let node = self.node(at, &list.element)?;
        let node = self.make(at, |builder| builder.broadcast_to_edges(edges, node))?;
        if name == "softmax" {
            if let Some(SpannedValue { span: at, .. }) = default {
                return Err(Box::new(
                    Diagnostic::error(
                        at,
                        "`softmax` has no default",
                        "over no edges its result is empty",
                    )
                    .hint("leave it out"),
                ));
            }
            let node = self.softmax(span, node, edges, mask)?;
            return Ok(Value::List(List { edges, element: Value::Node(node), mask }.into()));
        }
        let reduced = self.reduce(name, span, at, node, edges, mask)?;
        self.with_default(span, Value::Node(reduced), edges, mask, default)
    }

    fn reduce(
        &mut self,
        name: &str,
        span: Span,
        at: Span,
        node: NodeId,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<NodeId> {
        let kind = self.kind(node);
        let reduction = match name {
            "sum" => Reduction::Sum,
            "prod" => Reduction::Product,
            "min" => Reduction::Minimum,
            "max" => Reduction::Maximum,
            "mode" => Reduction::Mode,
            "hindex" => Reduction::HIndex,
            "any" | "all" => {
                if kind != Type::Bool {
                    return Err(self.expected_bool(at, node));
                }
                if name == "any" { Reduction::Any } else { Reduction::All }
            }
            "mean" => {
                let real = self.make(at, |builder| builder.cast(Type::Real, node))?;
                return self.mean_over(span, real, edges, mask);
            }
            _ => return self.logsumexp(span, node, edges, mask),
        };
        if kind == Type::Id
            && !matches!(reduction, Reduction::Minimum | Reduction::Maximum | Reduction::Mode)
        {
            let found = Diagnostic::error(
                at,
                format!("`{name}` of ids has no meaning"),
                format!("expected numbers, found {}", self.builder.describe(node)),
            );
            return Err(Box::new(
                found.hint("ids can be compared, and min, max and mode of ids taken"),
            ));
        }
        if reduction == Reduction::HIndex && kind == Type::Real {
            let found = Diagnostic::error(
                at,
                "`hindex` is of whole numbers",
                format!("expected int, found {}", self.builder.describe(node)),
            );
            return Err(Box::new(
                found.hint("start with whole numbers, as in  v.degree,  or write  int(x)"),
            ));
        }
        let node = if kind == Type::Bool && !matches!(reduction, Reduction::Any | Reduction::All) {
            self.make(at, |builder| builder.cast(Type::Int, node))?
        } else {
            node
        };
        let mask = if (reduction, kind) == (Reduction::Maximum, Type::Id) {
            self.mask_missing_ids(span, node, mask)?
        } else {
            mask
        };
        self.make(span, |builder| builder.reduce(reduction, edges, node, mask))
    }

    /// Leaves out edges that bring no id, which is above all ids and would be the largest.
    fn mask_missing_ids(
        &mut self,
        span: Span,
        node: NodeId,
        mask: Option<NodeId>,
    ) -> TraceResult<Option<NodeId>> {
        let none = self.missing_id(span)?;
        let some = self.make(span, |builder| builder.binary(Binary::NotEqual, node, none))?;
        Ok(Some(match mask {
            None => some,
            Some(mask) => self.make(span, |builder| builder.binary(Binary::And, mask, some))?,
        }))
    }

    /// Edges of each vertex that are left in.
    pub fn count(
        &mut self,
        span: Span,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<NodeId> {
        match mask {
            None => self.make(span, |builder| builder.make(Op::Input(Input::Degree(edges)), &[])),
            Some(mask) => {
                self.make(span, |builder| builder.reduce(Reduction::Count, edges, mask, Some(mask)))
            }
        }
    }

    /// 0 over nothing.
    pub fn mean_over(
        &mut self,
        span: Span,
        node: NodeId,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<NodeId> {
        let sum = self.make(span, |builder| builder.reduce(Reduction::Sum, edges, node, mask))?;
        let count = self.count(span, edges, mask)?;
        let count = self.clamp_count(span, count)?;
        self.make(span, |builder| builder.divide(sum, count))
    }

    /// Shares and what they sum up to, both after the maximum was subtracted, and that maximum.
    fn shares(
        &mut self,
        span: Span,
        node: NodeId,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<(NodeId, NodeId, NodeId)> {
        let real = self.make(span, |builder| builder.cast(Type::Real, node))?;
        let largest =
            self.make(span, |builder| builder.reduce(Reduction::Maximum, edges, real, mask))?;
        let largest = self.finite_shift(span, largest)?;
        let shift = self.make(span, |builder| builder.make(Op::Near(edges), &[largest]))?;
        let lower = self.make(span, |builder| builder.subtract(real, shift))?;
        let shares = self.make(span, |builder| builder.unary(Unary::Exp, lower))?;
        let total =
            self.make(span, |builder| builder.reduce(Reduction::Sum, edges, shares, mask))?;
        Ok((shares, total, largest))
    }

    fn softmax(
        &mut self,
        span: Span,
        node: NodeId,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<NodeId> {
        let (shares, total, _) = self.shares(span, node, edges, mask)?;
        let total = self.nonzero(span, total)?;
        let total = self.make(span, |builder| builder.make(Op::Near(edges), &[total]))?;
        self.make(span, |builder| builder.divide(shares, total))
    }

    /// -inf over nothing.
    fn logsumexp(
        &mut self,
        span: Span,
        node: NodeId,
        edges: EdgeSet,
        mask: Option<NodeId>,
    ) -> TraceResult<NodeId> {
        let (_, total, largest) = self.shares(span, node, edges, mask)?;
        let log = self.make(span, |builder| builder.unary(Unary::Log, total))?;
        self.make(span, |builder| builder.add(log, largest))
    }

    /// The value, or the default where a vertex has no such edge.
    fn with_default(
        &mut self,
        span: Span,
        value: Value,
        edges: EdgeSet,
        mask: Option<NodeId>,
        default: Option<SpannedValue>,
    ) -> TraceResult<Value> {
        let Some(default) = default else { return Ok(value) };
        let at = default.span;
        let node = self.node(at, &default.value)?;
        if self.place(node).edge_rows().is_some() {
            let label =
                format!("expected a value for each vertex, found {}", self.builder.describe(node));
            return Err(Box::new(
                Diagnostic::error(at, "a default is a value of the vertex", label)
                    .hint("default=0  or  default=v.h"),
            ));
        }
        let count = self.count(span, edges, mask)?;
        let zero = self.constant(span, Number::Int(0));
        let some = self.make(span, |builder| builder.binary(Binary::Less, zero, count))?;
        let [some, value] = [Value::Node(some), value].map(|value| SpannedValue::new(value, span));
        self.select(span, &some, &value, &default)
    }

    /// Whether rows are of edges.
    pub fn is_on_edges(&self, node: NodeId) -> bool {
        matches!(self.place(node), Place::S(_) | Place::E(_))
    }
}
