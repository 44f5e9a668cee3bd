//! expressions: names, operators, comparisons and conditional expressions.
//!
//! promises  constants are evaluated as in Python; of a conditional expression with a constant
//!           condition only one side is traced
use super::constants::{self, FoldError};
use super::tracer::{TraceResult, Tracer};
use super::value::{ImplicitRows, SpannedValue, Value};
use crate::syntax::{Comparison, Diagnostic, Expression, ExpressionKind, Operator, Sign};
use warploom_ir::{Binary, Input, NodeId, Number, Op, Place, Span, Type, Unary, nearest};

impl<'a> Tracer<'a> {
    pub fn expression(&mut self, expression: &'a Expression) -> TraceResult<Value> {
        self.enter(expression.span)?;
        let value = match &expression.kind {
            ExpressionKind::Bool(value) => Value::Bool(*value),
            ExpressionKind::Int(value) => Value::Int(*value),
            ExpressionKind::Real(value) => Value::Real(*value),
            ExpressionKind::Text(text) => Value::text(text),
            ExpressionKind::Ellipsis => {
                let found = Diagnostic::error(
                    expression.span,
                    "`...` has no meaning here",
                    "expected inside of an index",
                );
                return Err(Box::new(found.hint("x[..., i]  takes place i of the last axis")));
            }
            ExpressionKind::Tuple(parts) => self.tuple(parts)?,
            ExpressionKind::Name(name) => self.name(name, expression.span)?,
            ExpressionKind::Attribute(base, name) => self.attribute(base, name, expression.span)?,
            ExpressionKind::Index(base, index) => self.index(base, index, expression.span)?,
            ExpressionKind::Unary(sign, part) => {
                let value = self.expression(part)?;
                self.signed(expression.span, *sign, value, part.span)?
            }
            ExpressionKind::Binary(operator, first, second) => {
                let (a, b) = (self.expression(first)?, self.expression(second)?);
                let (a, b) = (SpannedValue::new(a, first.span), SpannedValue::new(b, second.span));
                self.arithmetic(expression.span, *operator, a, b)?
            }
            ExpressionKind::Logical(all, parts) => self.logical(*all, parts, expression.span)?,
            ExpressionKind::Compare(first, others) => {
                self.comparisons(first, others, expression.span)?
            }
            ExpressionKind::Choice(yes, condition, no) => {
                self.choice(yes, condition, no, expression.span)?
            }
            ExpressionKind::Call(function, arguments, named) => {
                self.call(function, arguments, named, expression.span)?
            }
            ExpressionKind::Comprehension(comprehension) => self.comprehension(comprehension)?,
        };
        self.leave();
        Ok(value)
    }

    fn tuple(&mut self, parts: &'a [Expression]) -> TraceResult<Value> {
        let values =
            parts.iter().map(|part| self.expression(part)).collect::<TraceResult<Vec<_>>>()?;
        let span = parts
            .first()
            .zip(parts.last())
            .map(|(first, last)| Span { start: first.span.start, end: last.span.end });
        self.bounded(span.unwrap_or_default(), Value::tuple(values))
    }

    /// The tuple, unless it is too large.
    pub fn bounded(&self, span: Span, tuple: Value) -> TraceResult<Value> {
        if tuple.levels() <= constants::TUPLE_LEVELS_MOST && tuple.size() <= constants::TUPLE_MOST {
            return Ok(tuple);
        }
        let label = format!(
            "expected at most {} values and {} levels",
            constants::TUPLE_MOST,
            constants::TUPLE_LEVELS_MOST
        );
        Err(Box::new(
            Diagnostic::error(span, "the tuple is too large", label)
                .hint("read data from columns of the node table"),
        ))
    }

    fn name(&mut self, name: &str, span: Span) -> TraceResult<Value> {
        if let Some(value) = self.local(span, name)? {
            return Ok(value);
        }
        match name {
            "inf" => return Ok(Value::Real(f64::INFINITY)),
            "pi" => return Ok(Value::Real(std::f64::consts::PI)),
            _ => {}
        }
        if let Some(lost) = self.lost.get(name).copied() {
            let found = Diagnostic::error(
                span,
                format!("`{name}` is known inside `while` only"),
                "the loop is over",
            );
            return Err(Box::new(found.note("assigned", Some(lost)).hint(format!(
                "make it a column with a first value before the loop:  v.{name} = ..."
            ))));
        }
        if self.file.function(name).is_some() || super::calls::is_operator(name) {
            let found =
                Diagnostic::error(span, format!("`{name}` is a function"), "expected a value");
            return Err(Box::new(found.hint(format!("call it:  {name}(...)"))));
        }
        Err(self.unknown_name(name, span))
    }

    pub fn unknown_name(&self, name: &str, span: Span) -> Box<Diagnostic> {
        let visible = self.visible();
        let close = nearest(name, visible.iter().map(String::as_str).chain(["inf", "pi"]));
        let hint = match name {
            "torch" | "np" | "numpy" | "math" | "F" | "nn" | "jax" | "dgl" => {
                "operators are called without a module:  relu(x)".to_owned()
            }
            "nan" | "NaN" => "there is no NaN; use  inf  or a number".to_owned(),
            "e" | "edge" => {
                "edges have a name inside a comprehension only:  sum(e.w for e in v.inedges)"
                    .to_owned()
            }
            "u" => "neighbours have a name inside a comprehension only:  sum(u.h for u in v.innbs)"
                .to_owned(),
            "true" => "did you mean  True".to_owned(),
            "false" => "did you mean  False".to_owned(),
            _ if self.columns.contains_key(name) => format!("did you mean the column  v.{name}"),
            _ => close.map_or_else(
                || "names are settings, what was assigned before, `inf` and `pi`".to_owned(),
                |close| format!("did you mean  {close}"),
            ),
        };
        Box::new(
            Diagnostic::error(span, format!("unknown name `{name}`"), "nothing has this name here")
                .hint(hint),
        )
    }

    fn wrong<T>(&self, span: Span, error: FoldError) -> TraceResult<T> {
        let FoldError { what, label } = error;
        let hint = match what.as_str() {
            _ if label.contains("the relations") => "count them:  len(v.graph.relations)",
            what if what.contains("zero") => "check the settings that it is computed from",
            what if what.contains("large") => "write a real number:  2.0 ** 100",
            what if what.contains("tuple") => "v.kind in (0, 2)",
            _ => "constants are numbers, bools, strings and tuples of them",
        };
        Err(Box::new(Diagnostic::error(span, what, label).hint(hint)))
    }

    fn signed(&mut self, span: Span, sign: Sign, value: Value, at: Span) -> TraceResult<Value> {
        if value.is_constant() {
            let negative = |value: &Value| match value {
                Value::Real(number) => Ok(Value::Real(-number)),
                other => constants::arithmetic(Operator::Subtract, &Value::Int(0), other),
            };
            let made = match (sign, constants::truth(&value)) {
                (Sign::Not, Some(holds)) => Ok(Value::Bool(!holds)),
                (Sign::Minus, _) => negative(&value),
                _ => constants::arithmetic(Operator::Add, &Value::Int(0), &value),
            };
            return made.map_err(|_| self.expected_number(at, &value));
        }
        if let (Sign::Minus, Value::Unmade(rows)) = (sign, &value) {
            let minus = self.constant(span, Number::Real(-1.0));
            return self.unmade(span, ImplicitRows::Scaled(rows.clone(), minus));
        }
        let node = self.node(at, &value)?;
        let node = match (sign, self.kind(node)) {
            (Sign::Minus | Sign::Plus, Type::Bool) => {
                self.make(span, |builder| builder.cast(Type::Int, node))?
            }
            (Sign::Not, kind) if kind != Type::Bool => return Err(self.expected_bool(at, node)),
            _ => node,
        };
        Ok(Value::Node(match sign {
            Sign::Plus => node,
            Sign::Minus => self.make(span, |builder| builder.unary(Unary::Negative, node))?,
            Sign::Not => self.make(span, |builder| builder.unary(Unary::Not, node))?,
        }))
    }

    pub fn expected_bool(&self, span: Span, node: NodeId) -> Box<Diagnostic> {
        let found = Diagnostic::error(
            span,
            "this is not a condition",
            format!("expected a bool, found {}", self.builder.describe(node)),
        );
        Box::new(found.hint("compare it:  x > 0, x != 0"))
    }

    /// `a operator b`.
    pub fn arithmetic(
        &mut self,
        span: Span,
        operator: Operator,
        a: SpannedValue,
        b: SpannedValue,
    ) -> TraceResult<Value> {
        let a = SpannedValue { value: self.resolve_bias(a.value), ..a };
        let b = SpannedValue { value: self.resolve_bias(b.value), ..b };
        match (&a.value, &b.value) {
            (first, second) if first.is_constant() && second.is_constant() => {
                return constants::arithmetic(operator, first, second).or_else(|wrong| {
                    self.divided_by_nothing(operator, first, second)
                        .map_or_else(|| self.wrong(span, wrong), Ok)
                });
            }
            (Value::Bias(number), other) | (other, Value::Bias(number))
                if operator == Operator::Add =>
            {
                return self.add_bias(span, *number, other, a.span, b.span);
            }
            (Value::Unmade(_), _) | (_, Value::Unmade(_)) => {
                return self.unmade_arithmetic(span, operator, &a, &b);
            }
            _ => {}
        }
        let exponent = if let Value::Int(exponent) = b.value { Some(exponent) } else { None };
        let mut nodes = [self.node(a.span, &a.value)?, self.node(b.span, &b.value)?];
        self.together(span, &mut nodes)?;
        let [first, second] = nodes;
        let made = match (operator, exponent) {
            (Operator::Product, _) => self.product(span, first, second)?,
            (Operator::Power, Some(2)) if self.kind(first) != Type::Id => {
                let number = if self.kind(first) == Type::Bool {
                    self.make(span, |builder| builder.cast(Type::Int, first))?
                } else {
                    first
                };
                self.make(span, |builder| builder.unary(Unary::Square, number))?
            }
            // Python gives a float for a negative exponent.
            (Operator::Power, Some(..0)) => {
                let base = self.make(span, |builder| builder.cast(Type::Real, first))?;
                self.make(span, |builder| builder.binary(Binary::Power, base, second))?
            }
            _ => self
                .make(span, |builder| builder.binary(binary_of(operator), first, second))
                .map_err(|found| self.unfit_sides(found, operator, first, second))?,
        };
        Ok(Value::Node(made))
    }

    /// On a graph without vertices or edges, a division by their number affects no rows.
    fn divided_by_nothing(&self, operator: Operator, a: &Value, b: &Value) -> Option<Value> {
        let nothing =
            (self.data.nodes == 0 || self.data.edges == 0) && constants::real(b) == Some(0.0);
        match operator {
            Operator::Divide if nothing => constants::real(a).map(|a| Value::Real(a / 0.0)),
            Operator::FloorDivide | Operator::Remainder if nothing => {
                constants::real(a).map(|_| Value::Int(0))
            }
            _ => None,
        }
    }

    /// Explains in terms of the program why an operator cannot be applied.
    fn unfit_sides(
        &self,
        found: Box<Diagnostic>,
        operator: Operator,
        a: NodeId,
        b: NodeId,
    ) -> Box<Diagnostic> {
        if self.kind(a) != Type::Id && self.kind(b) != Type::Id {
            if !found.what.contains("operands of") {
                return found;
            }
            let label = format!(
                "found {} on the left, {} on the right",
                self.builder.describe(a),
                self.builder.describe(b)
            );
            let what = format!("the sides of `{}` do not fit together", operator.sign());
            return Box::new(Diagnostic::error(found.span, what, label).hint_if(found.hint));
        }
        let label = format!(
            "found {} on the left, {} on the right",
            self.builder.describe(a),
            self.builder.describe(b)
        );
        Box::new(Diagnostic::error(found.span, "an id is no number", label).hint(
            "ids can be compared, and min and max of ids taken; count with numbers of your own",
        ))
    }

    fn product(&mut self, span: Span, a: NodeId, b: NodeId) -> TraceResult<NodeId> {
        let (a, b) = (
            self.make(span, |builder| builder.cast(Type::Real, a))?,
            self.make(span, |builder| builder.cast(Type::Real, b))?,
        );
        if let (Some(inner), [rows, _]) = (self.shape(a).last(), self.shape(b))
            && matches!(self.place(b), Place::C | Place::P)
            && inner != rows
        {
            let label =
                format!("expected a matrix [{inner}, n], found {}", self.builder.describe(b));
            let found = Diagnostic::error(span, "the sides of `@` do not fit together", label);
            return Err(Box::new(found.hint(format!(
                "the left side is {}; the right one could be  param(({inner}, n))",
                self.builder.describe(a)
            ))));
        }
        self.make(span, |builder| builder.make(Op::Product { transposed: false }, &[a, b]))
    }

    /// A bias whose shape has been inferred is a tensor.
    pub fn resolve_bias(&self, value: Value) -> Value {
        match value {
            Value::Bias(number) => {
                self.biases.get(number).and_then(|bias| bias.made).map_or(value, Value::Node)
            }
            other => other,
        }
    }

    fn logical(&mut self, all: bool, parts: &'a [Expression], span: Span) -> TraceResult<Value> {
        let mut so_far: Option<SpannedValue> = None;
        for part in parts {
            let before = so_far.take();
            // Short-circuit evaluation, as in Python.
            if let Some(SpannedValue { value, span: at }) = &before
                && let Some(holds) = constants::truth(value)
                && holds != all
            {
                return if let Value::Node(_) = value {
                    Err(self.expected_number(*at, value))
                } else {
                    Ok(value.clone())
                };
            }
            let value = self.expression(part)?;
            so_far = Some(match before {
                None => SpannedValue::new(value, part.span),
                Some(first) if constants::truth(&first.value).is_some() => {
                    SpannedValue::new(value, part.span)
                }
                Some(SpannedValue { value: first, span: at }) => {
                    // A constant after rows: it decides for all rows, or for none.
                    let value = constants::truth(&value).map_or(value, Value::Bool);
                    let mut nodes =
                        [self.condition_node(at, &first)?, self.condition_node(part.span, &value)?];
                    self.together(span, &mut nodes)?;
                    let operator = if all { Binary::And } else { Binary::Or };
                    let node =
                        self.make(span, |builder| builder.binary(operator, nodes[0], nodes[1]))?;
                    SpannedValue::new(Value::Node(node), span)
                }
            });
        }
        let SpannedValue { value, span: at } = so_far.ok_or_else(|| {
            Box::new(Diagnostic::error(span, "nothing to combine", "expected conditions"))
        })?;
        if let Value::Node(_) = value {
            self.condition_node(at, &value)?;
        }
        Ok(value)
    }

    /// The value as a bool node.
    pub fn condition_node(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        let node = self.node(span, value)?;
        if self.kind(node) == Type::Bool { Ok(node) } else { Err(self.expected_bool(span, node)) }
    }

    fn comparisons(
        &mut self,
        first: &'a Expression,
        others: &'a [(Comparison, Expression)],
        span: Span,
    ) -> TraceResult<Value> {
        let mut left = SpannedValue::new(self.expression(first)?, first.span);
        let mut result: Option<Value> = None;
        for (comparison, other) in others {
            let right = SpannedValue::new(self.expression(other)?, other.span);
            let at = Span { start: left.span.start, end: right.span.end };
            let holds = self.compare(at, *comparison, &left, &right)?;
            result = Some(match (result, holds) {
                (None | Some(Value::Bool(true)), holds) => holds,
                (Some(before), Value::Bool(true)) => before,
                (Some(before), holds) => {
                    let mut nodes = [self.node(span, &before)?, self.node(span, &holds)?];
                    self.together(span, &mut nodes)?;
                    Value::Node(
                        self.make(span, |builder| builder.binary(Binary::And, nodes[0], nodes[1]))?,
                    )
                }
            });
            if let Some(Value::Bool(false)) = result {
                break;
            }
            left = right;
        }
        Ok(result.unwrap_or(Value::Bool(true)))
    }

    pub fn compare(
        &mut self,
        span: Span,
        comparison: Comparison,
        a: &SpannedValue,
        b: &SpannedValue,
    ) -> TraceResult<Value> {
        if a.value.is_constant() && b.value.is_constant() {
            self.check_name_of(&a.value, &b.value, b.span)?;
            self.check_name_of(&b.value, &a.value, a.span)?;
            let names = [self.data.relations.as_slice(), &self.kind_names];
            return constants::compare(comparison, &a.value, &b.value, names)
                .map(Value::Bool)
                .or_else(|wrong| self.wrong(span, wrong));
        }
        match (&a.value, &b.value) {
            (_, Value::Chosen(setting)) => {
                return self.chosen(span, comparison, setting, b.span, a);
            }
            (Value::Chosen(setting), _)
                if !matches!(comparison, Comparison::In | Comparison::NotIn) =>
            {
                return self.chosen(span, comparison, setting, a.span, b);
            }
            _ => {}
        }
        if let Comparison::In | Comparison::NotIn = comparison {
            return self.contained(span, comparison == Comparison::In, a, b);
        }
        let mut nodes = [
            self.node_beside(a.span, &a.value, &b.value)?,
            self.node_beside(b.span, &b.value, &a.value)?,
        ];
        for (one, other, side) in [(0, 1, b), (1, 0, a)] {
            if self.kind(nodes[one]) == Type::Id && self.kind(nodes[other]) != Type::Id {
                nodes[other] = self.row_number(side.span, &side.value)?;
            }
        }
        self.together(span, &mut nodes)?;
        let [first, second] = nodes;
        let made = self.make(span, |builder| match comparison {
            Comparison::Equal => builder.binary(Binary::Equal, first, second),
            Comparison::NotEqual => builder.binary(Binary::NotEqual, first, second),
            Comparison::Less => builder.binary(Binary::Less, first, second),
            Comparison::LessEqual => builder.binary(Binary::LessEqual, first, second),
            Comparison::Greater => builder.binary(Binary::Less, second, first),
            _ => builder.binary(Binary::LessEqual, second, first),
        })?;
        Ok(Value::Node(made))
    }

    /// A relation, or a kind of vertices, must be compared with an existing name.
    fn check_name_of(&self, named: &Value, name: &Value, at: Span) -> TraceResult<()> {
        match (named, name) {
            (Value::Relation(_), Value::Text(name))
                if !self.data.relations.iter().any(|relation| **relation == **name) =>
            {
                Err(self.unknown_relation(name, at))
            }
            (Value::Kind(_), Value::Text(name))
                if !self.kind_names.iter().any(|kind| **kind == **name) =>
            {
                Err(self.unknown_kind(name, at))
            }
            _ => Ok(()),
        }
    }

    /// The value as rows; a name compared with numbers of kinds or relations is its number.
    fn node_beside(&mut self, at: Span, value: &Value, other: &Value) -> TraceResult<NodeId> {
        if let (Value::Text(name), Value::Node(other)) = (value, other) {
            let Some(names) = self.names_of(*other) else {
                let found = Diagnostic::error(
                    at,
                    "rows of numbers are compared with a string",
                    format!("expected a number, found {}", self.describe(value)),
                );
                return Err(Box::new(found.hint(
                    "names are those of kinds and relations:  v.kind == \"...\", e.type == \"...\"",
                )));
            };
            let is_kind = std::ptr::eq(names, self.kind_names.as_slice());
            return match names.iter().position(|known| **known == **name) {
                Some(number) => Ok(self.constant(at, Number::Int(number as i64))),
                None if is_kind => Err(self.unknown_kind(name, at)),
                None => Err(self.unknown_relation(name, at)),
            };
        }
        self.node(at, value)
    }

    /// Compares ids with the vertices that a setting names. The run looks them up, so that one plan
    /// serves all.
    fn chosen(
        &mut self,
        span: Span,
        comparison: Comparison,
        setting: &str,
        setting_at: Span,
        id: &SpannedValue,
    ) -> TraceResult<Value> {
        let wanted = match comparison {
            Comparison::Equal | Comparison::In => true,
            Comparison::NotEqual | Comparison::NotIn => false,
            _ => {
                let label = format!("expected `==`, `!=` or `in`, found `{}`", comparison.sign());
                let found = Diagnostic::error(
                    span,
                    format!("`{setting}` names a vertex, and vertices have no order"),
                    label,
                );
                return Err(Box::new(found.hint(format!("v.id == {setting}"))));
            }
        };
        let Value::Node(node) = id.value else {
            return Err(self.expected_vertex(setting, setting_at, id));
        };
        let Some(mut holds) = self.is_chosen(span, setting, node)? else {
            return Err(self.expected_vertex(setting, setting_at, id));
        };
        if !wanted {
            holds = self.make(span, |builder| builder.unary(Unary::Not, holds))?;
        }
        Ok(Value::Node(holds))
    }

    /// `Input::Chosen` for an id: of the vertex itself, or through a view; none for an id other
    /// than `v.id`.
    fn is_chosen(&mut self, span: Span, setting: &str, id: NodeId) -> TraceResult<Option<NodeId>> {
        let seen = self.builder.node(id);
        let op = match &seen.op {
            Op::Input(Input::Id) => {
                return self
                    .make(span, |builder| {
                        builder.make(Op::Input(Input::Chosen(setting.to_owned())), &[])
                    })
                    .map(Some);
            }
            Op::Far(_) | Op::Near(_) => seen.op.clone(),
            _ => return Ok(None),
        };
        let Some(own) = self.is_chosen(span, setting, seen.inputs[0])? else { return Ok(None) };
        self.make(span, |builder| builder.make(op, &[own])).map(Some)
    }

    fn expected_vertex(
        &self,
        setting: &str,
        setting_at: Span,
        found: &SpannedValue,
    ) -> Box<Diagnostic> {
        let label = format!(
            "expected `v.id`, or the `id` of a neighbour, found {}",
            self.describe(&found.value)
        );
        let wrong = Diagnostic::error(
            found.span,
            format!("`{setting}` names a vertex, so it is compared with `v.id` alone"),
            label,
        );
        Box::new(
            wrong
                .note("the setting", Some(setting_at))
                .hint(format!("keep which vertex it is first:  v.chosen = v.id == {setting}")),
        )
    }

    /// An integer that an id is compared with: a row of the node table.
    pub fn row_number(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        let wrong = |found: String| {
            let found = Diagnostic::error(
                span,
                "an id is compared with ids, or with a whole number known when compiled",
                format!("expected a row of the node table, found {found}"),
            );
            Err(Box::new(found.hint("rows count from 0:  v.id == 3")))
        };
        let Value::Int(row) = value else { return wrong(self.describe(value)) };
        if !(0..i64::from(u32::MAX)).contains(row) {
            return wrong(format!("`{row}`"));
        }
        if *row as u64 >= self.data.nodes
            && !self.warnings.iter().any(|warning| warning.span == span)
        {
            let found = Diagnostic::warning(
                span,
                "no vertex has this id",
                format!("expected a row below {}, found `{row}`", self.data.nodes),
            );
            self.warnings.push(found.hint("rows count from 0"));
        }
        let number = self.constant(span, Number::Int(*row));
        self.make(span, |builder| builder.cast(Type::Id, number))
    }

    fn contained(
        &mut self,
        span: Span,
        wanted: bool,
        a: &SpannedValue,
        b: &SpannedValue,
    ) -> TraceResult<Value> {
        let Value::Tuple(values) = &b.value else {
            let found = Diagnostic::error(
                b.span,
                "`in` needs a tuple of constants",
                format!("expected a tuple, found {}", self.describe(&b.value)),
            );
            return Err(Box::new(found.hint("v.type in (0, 2)")));
        };
        let mut result: Option<NodeId> = None;
        for value in values.iter() {
            let one = SpannedValue::new(value.clone(), b.span);
            let Value::Node(holds) = self.compare(span, Comparison::Equal, a, &one)? else {
                continue;
            };
            result = Some(match result {
                None => holds,
                Some(before) => {
                    let mut nodes = [before, holds];
                    self.together(span, &mut nodes)?;
                    self.make(span, |builder| builder.binary(Binary::Or, nodes[0], nodes[1]))?
                }
            });
        }
        match (result, wanted) {
            (None, wanted) => Ok(Value::Bool(!wanted)),
            (Some(holds), true) => Ok(Value::Node(holds)),
            (Some(holds), false) => {
                Ok(Value::Node(self.make(span, |builder| builder.unary(Unary::Not, holds))?))
            }
        }
    }

    fn choice(
        &mut self,
        yes: &'a Expression,
        condition: &'a Expression,
        no: &'a Expression,
        span: Span,
    ) -> TraceResult<Value> {
        let tested = self.expression(condition)?;
        if let Some(holds) = constants::truth(&tested) {
            return self.expression(if holds { yes } else { no });
        }
        let tested = SpannedValue::new(tested, condition.span);
        let first = SpannedValue::new(self.expression(yes)?, yes.span);
        let second = SpannedValue::new(self.expression(no)?, no.span);
        self.select(span, &tested, &first, &second)
    }

    /// `yes` where the condition holds, else `no`.
    pub fn select(
        &mut self,
        span: Span,
        condition: &SpannedValue,
        yes: &SpannedValue,
        no: &SpannedValue,
    ) -> TraceResult<Value> {
        let holds = self.condition_node(condition.span, &condition.value)?;
        let mut nodes = [holds, self.node(yes.span, &yes.value)?, self.node(no.span, &no.value)?];
        for (one, other, side) in [(1, 2, no), (2, 1, yes)] {
            if self.kind(nodes[one]) == Type::Id && matches!(side.value, Value::Int(_)) {
                nodes[other] = self.row_number(side.span, &side.value)?;
            }
        }
        self.together(span, &mut nodes)?;
        Ok(Value::Node(self.make(span, |builder| builder.select(nodes[0], nodes[1], nodes[2]))?))
    }
}

fn binary_of(operator: Operator) -> Binary {
    match operator {
        Operator::Add => Binary::Add,
        Operator::Subtract => Binary::Subtract,
        Operator::Multiply | Operator::Product => Binary::Multiply,
        Operator::Divide => Binary::Divide,
        Operator::FloorDivide => Binary::FloorDivide,
        Operator::Remainder => Binary::Remainder,
        Operator::Power => Binary::Power,
    }
}
