//! elementwise: functions of each element of a row.
//!
//! promises  a constant stays a constant if Python's mathematics gives a number for it
use super::calls::Arguments;
use super::constants::{self, FoldError};
use super::tracer::{TraceResult, Tracer};
use super::value::{Applied, SpannedValue, Value};
use crate::syntax::{Comparison, Diagnostic};
use warploom_ir::{Binary, NodeId, Number, Op, Property, Span, Type, Unary};

impl Tracer<'_> {
    pub(super) fn element_wise(
        &mut self,
        arguments: Arguments,
        applied: Applied,
    ) -> TraceResult<Value> {
        let (name, span) = (arguments.name.clone(), arguments.span);
        let (x, slope) = if matches!(applied, Applied::Operator(Unary::LeakyRelu(_))) {
            let [x, slope] = arguments.take(["x", "slope"], 1)?;
            (x, slope)
        } else {
            let [x] = arguments.take(["x"], 1)?;
            (x, None)
        };
        let SpannedValue { value: x, span: at } = x.unwrap_or(SpannedValue::nothing(span));
        let applied = match slope {
            Some(slope) => {
                let slope = self.constant_real(&slope, "the slope of a leaky relu")?;
                Applied::Operator(Unary::LeakyRelu(slope))
            }
            None => applied,
        };
        if let Some(value) = fold_constant(applied, &x) {
            return match value {
                Value::Real(number)
                    if number.is_nan() && constants::real(&x).is_some_and(|x| !x.is_nan()) =>
                {
                    Err(Box::new(
                        Diagnostic::error(
                            span,
                            format!("`{name}` gives no number here"),
                            format!("found {}", x.describe()),
                        )
                        .hint("check the sign of the setting"),
                    ))
                }
                value => Ok(value),
            };
        }
        let node = self.node(at, &x)?;
        self.unary_rows(&name, applied, node, span).map(Value::Node)
    }

    fn unary_rows(
        &mut self,
        name: &str,
        applied: Applied,
        node: NodeId,
        span: Span,
    ) -> TraceResult<NodeId> {
        let kind = self.kind(node);
        if kind == Type::Id {
            let found = Diagnostic::error(
                span,
                format!("`{name}` of an id has no meaning"),
                format!("expected numbers, found {}", self.builder.describe(node)),
            );
            return Err(Box::new(found.hint("ids can be compared, and min and max of ids taken")));
        }
        let operator = match applied {
            Applied::Cast(kind) => return self.make(span, |builder| builder.cast(kind, node)),
            Applied::Operator(operator) => operator,
        };
        let wanted = operator.operand_type(kind);
        let node = self.make(span, |builder| builder.cast(wanted, node))?;
        self.make(span, |builder| builder.unary(operator, node))
    }

    pub fn clamp(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [x, low, high] = arguments.take(["x", "low", "high"], 3)?;
        let mut value = x.unwrap_or(SpannedValue::nothing(span));
        for (bound, largest) in [(low, true), (high, false)] {
            let bound = bound.unwrap_or(SpannedValue::nothing(span));
            value = SpannedValue::new(self.extreme(span, &value, &bound, largest)?, span);
        }
        Ok(value.value)
    }

    /// The larger or smaller of two values.
    pub fn extreme(
        &mut self,
        span: Span,
        a: &SpannedValue,
        b: &SpannedValue,
        largest: bool,
    ) -> TraceResult<Value> {
        if a.value.is_constant() && b.value.is_constant() {
            let comparison = if largest { Comparison::GreaterEqual } else { Comparison::LessEqual };
            return match constants::compare(
                comparison,
                &a.value,
                &b.value,
                [&self.data.relations, &self.kind_names],
            ) {
                Ok(first) => Ok(if first { a.value.clone() } else { b.value.clone() }),
                Err(FoldError { what, label }) => {
                    Err(Box::new(Diagnostic::error(span, what, label)))
                }
            };
        }
        let mut nodes = [self.node(a.span, &a.value)?, self.node(b.span, &b.value)?];
        for (one, other, value) in [(0, 1, b), (1, 0, a)] {
            if self.kind(nodes[one]) == Type::Id && matches!(value.value, Value::Int(_)) {
                nodes[other] = self.row_number(value.span, &value.value)?;
            }
        }
        self.together(span, &mut nodes)?;
        let operator = if largest { Binary::Maximum } else { Binary::Minimum };
        if largest && self.kind(nodes[0]) == Type::Id {
            return self.largest_id(span, nodes).map(Value::Node);
        }
        Ok(Value::Node(self.make(span, |builder| builder.binary(operator, nodes[0], nodes[1]))?))
    }

    /// The larger of two ids: the sentinel is larger than every id, so where it would win, the
    /// other one is the result.
    fn largest_id(&mut self, span: Span, [a, b]: [NodeId; 2]) -> TraceResult<NodeId> {
        let none = self.missing_id(span)?;
        self.make(span, |builder| {
            let (least, most) =
                (builder.binary(Binary::Minimum, a, b)?, builder.binary(Binary::Maximum, a, b)?);
            let is_none = builder.binary(Binary::Equal, most, none)?;
            builder.make(Op::Select, &[is_none, least, most])
        })
    }

    /// The sentinel for no id.
    pub fn missing_id(&mut self, span: Span) -> TraceResult<NodeId> {
        let number = self.constant(span, Number::Int(u32::MAX.into()));
        self.make(span, |builder| builder.cast(Type::Id, number))
    }

    /// A float constant.
    pub fn constant_real(&self, found: &SpannedValue, what: &str) -> TraceResult<f64> {
        constants::real(&found.value).ok_or_else(|| {
            let label = format!("expected a number, found {}", self.describe(&found.value));
            Box::new(
                Diagnostic::error(found.span, format!("{what} must be known when compiled"), label)
                    .hint("make it a setting, or write the number"),
            )
        })
    }

    /// A constant as a node.
    pub fn number(&mut self, span: Span, number: f64) -> NodeId {
        self.constant(span, Number::Real(number))
    }
}

/// The value of a function of a constant; none: it is computed at run time.
fn fold_constant(applied: Applied, x: &Value) -> Option<Value> {
    match (applied, constants::integer(x)) {
        (Applied::Cast(Type::Int), Some(whole)) => return Some(Value::Int(whole)),
        (Applied::Operator(operator), Some(whole)) if operator.takes().contains(&Type::Int) => {
            // An overflow is not folded: it is computed at run time.
            let value = match operator {
                Unary::Absolute => whole.checked_abs(),
                Unary::Square => whole.checked_mul(whole),
                other => other.integer_value(whole),
            };
            return value.map(Value::Int);
        }
        _ => {}
    }
    let real = constants::real(x)?;
    match applied {
        Applied::Cast(Type::Int) if real.abs() < 9e18 => Some(Value::Int(real.trunc() as i64)),
        Applied::Cast(Type::Real) => Some(Value::Real(real)),
        Applied::Cast(_) => None,
        Applied::Operator(operator) if operator.has(Property::OfConstants) => {
            Some(Value::Real(operator.value(real)))
        }
        Applied::Operator(_) => None,
    }
}
