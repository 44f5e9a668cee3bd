//! fold_operator: a function of the file as the body of `fold`, an expression of two values.
//!
//! promises  the function is traced with two values of one type; functions that it calls are
//!           inlined
//! never     reads a column, an edge or a local name of the caller: it is applied out of their
//!           scope
use std::collections::HashMap;

use super::calls::is_operator;
use super::tracer::{TraceResult, Tracer, unfit};
use super::value::Value;
use crate::syntax::{
    Comparison, Definition, Diagnostic, Expression, ExpressionKind, Name, Operator, Sign,
    StatementKind,
};
use warploom_ir::{
    Binary, Function, Misfit, Number, Op, Place, Property, Span, Type, Unary, nearest,
};

/// A subexpression of such a function, and its type.
type OperatorPart = (Function, Type);

/// Maximum subexpressions of such a function.
const PARTS_MOST: usize = 1000;

impl<'a> Tracer<'a> {
    pub fn fold(
        &mut self,
        arguments: &'a [Expression],
        named: &'a [(Name, Expression)],
        span: Span,
    ) -> TraceResult<Value> {
        let usage = "fold(f, values, start)  with  def f(a, b): ...";
        let ([function, values, start], []) = (arguments, named) else {
            let found = Diagnostic::error(
                span,
                "`fold` takes a function, values and a start",
                format!("expected 3 arguments, found {}", arguments.len() + named.len()),
            );
            return Err(Box::new(found.hint(usage)));
        };
        let definition = match &function.kind {
            ExpressionKind::Name(name) => self.file.function(name).ok_or_else(|| {
                let close = nearest(
                    name,
                    self.file.functions.iter().map(|function| function.name.text.as_str()),
                );
                let hint = match close {
                    _ if is_operator(name) => {
                        format!("reduce directly:  {name}(u.h for u in v.innbs)")
                    }
                    Some(close) => format!("did you mean  {close}"),
                    None => usage.to_owned(),
                };
                Box::new(
                    Diagnostic::error(
                        function.span,
                        format!("`{name}` is no function of this file"),
                        "expected a function of two values",
                    )
                    .hint(hint),
                )
            })?,
            _ => {
                return Err(Box::new(
                    Diagnostic::error(
                        function.span,
                        "`fold` takes the name of a function",
                        "expected a name",
                    )
                    .hint(usage),
                ));
            }
        };
        let list = match self.expression(values)? {
            Value::List(list) => list,
            other => {
                let label = format!("expected a comprehension, found {}", self.describe(&other));
                return Err(Box::new(
                    Diagnostic::error(values.span, "`fold` is over edges", label)
                        .hint("fold(f, [e.w for e in v.inedges], 0)"),
                ));
            }
        };
        let started = self.expression(start)?;
        let (node, first) =
            (self.node(values.span, &list.element)?, self.node(start.span, &started)?);
        if !matches!(self.place(first), Place::C | Place::P) || !self.shape(first).is_empty() {
            let found = Diagnostic::error(
                start.span,
                "`fold` starts with a number",
                format!("expected a constant, found {}", self.builder.describe(first)),
            );
            return Err(Box::new(
                found.hint("the start is the neutral element of the function, as 0 for a sum"),
            ));
        }
        let first = if self.kind(node) == Type::Id && self.kind(first) == Type::Int {
            self.row_number(start.span, &started)?
        } else {
            first
        };
        let mut kind =
            self.builder.common_kind(node, first).map_err(|misfit| unfit(start.span, misfit))?;
        let mut made = self.function_of(definition, kind, span)?;
        // A function of integers that returns floats is one of floats.
        if kind < made.1 && made.1 == Type::Real {
            kind = Type::Real;
            made = self.function_of(definition, kind, span)?;
        }
        if made.1 != kind {
            let what = format!("the result of `{}`", definition.name.text);
            return Err(unfit(
                function.span,
                Misfit::new(what, kind.to_string(), made.1.to_string())
                    .hint("a fold's function gives what it takes"),
            ));
        }
        let node = self.make(values.span, |builder| builder.cast(kind, node))?;
        let node =
            self.make(values.span, |builder| builder.broadcast_to_edges(list.edges, node))?;
        let first = self.make(start.span, |builder| builder.cast(kind, first))?;
        let inputs: Vec<_> = [node, first].into_iter().chain(list.mask).collect();
        Ok(Value::Node(
            self.make(span, |builder| builder.make(Op::Fold(made.0, list.edges), &inputs))?,
        ))
    }

    fn function_of(
        &mut self,
        definition: &'a Definition,
        kind: Type,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let mut walk = FoldWalk { tracer: self, called: Vec::new() };
        walk.call(definition, vec![(Function::Left, kind), (Function::Right, kind)], span)
    }
}

struct FoldWalk<'t, 'a> {
    tracer: &'t mut Tracer<'a>,
    called: Vec<&'a str>,
}

impl<'a> FoldWalk<'_, 'a> {
    fn call(
        &mut self,
        definition: &'a Definition,
        arguments: Vec<OperatorPart>,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let name = definition.name.text.as_str();
        if self.called.contains(&name) {
            return Err(Box::new(
                Diagnostic::error(span, format!("`{name}` calls itself"), "this would never end")
                    .hint("a fold applies its function edge by edge"),
            ));
        }
        if definition.parameters.len() != arguments.len() {
            let found = Diagnostic::error(
                definition.name.span,
                format!("`{name}` does not take what it is called with"),
                format!(
                    "expected {} parameters, found {}",
                    arguments.len(),
                    definition.parameters.len()
                ),
            );
            return Err(Box::new(
                found.note("called", Some(span)).hint(format!("def {name}(a, b): ...")),
            ));
        }
        self.called.push(name);
        let mut names: HashMap<&'a str, OperatorPart> = definition
            .parameters
            .iter()
            .map(|parameter| parameter.name.text.as_str())
            .zip(arguments)
            .collect();
        for statement in &definition.body {
            match &statement.kind {
                StatementKind::Assign(targets, value) => {
                    let made = self.part(value, &names)?;
                    for target in targets {
                        let ExpressionKind::Name(name) = &target.kind else {
                            return Err(self.refused(target.span));
                        };
                        names.insert(name, made.clone());
                    }
                }
                StatementKind::Return(Some(value)) => {
                    let made = self.part(value, &names)?;
                    self.called.pop();
                    return Ok(made);
                }
                StatementKind::Pass => {}
                _ => return Err(self.refused(statement.span)),
            }
        }
        let found = Diagnostic::error(
            definition.name.span,
            format!("`{name}` returns nothing"),
            "expected `return` with a value",
        );
        Err(Box::new(found.hint("return a + b")))
    }

    fn refused(&self, span: Span) -> Box<Diagnostic> {
        let found = Diagnostic::error(
            span,
            "a fold's function is an expression of its two values",
            "expected arithmetic, comparisons, min, max or a choice",
        );
        Box::new(found.hint("it can use names, numbers and element-wise functions"))
    }

    fn part(
        &mut self,
        expression: &'a Expression,
        names: &HashMap<&'a str, OperatorPart>,
    ) -> TraceResult<OperatorPart> {
        self.tracer.enter(expression.span)?;
        let made = self.part_of(expression, names)?;
        if size(&made.0) > PARTS_MOST {
            let found = Diagnostic::error(
                expression.span,
                "the function is too large",
                format!("expected at most {PARTS_MOST} parts"),
            );
            return Err(Box::new(found.hint("make it shorter")));
        }
        self.tracer.leave();
        Ok(made)
    }

    fn part_of(
        &mut self,
        expression: &'a Expression,
        names: &HashMap<&'a str, OperatorPart>,
    ) -> TraceResult<OperatorPart> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Bool(value) => Ok((Function::Number(Number::Bool(*value)), Type::Bool)),
            ExpressionKind::Int(value) => Ok((Function::Number(Number::Int(*value)), Type::Int)),
            ExpressionKind::Real(value) => Ok((Function::Number(Number::Real(*value)), Type::Real)),
            ExpressionKind::Name(name) => match (names.get(name.as_str()), name.as_str()) {
                (Some(part), _) => Ok(part.clone()),
                (None, "inf") => Ok((Function::Number(Number::Real(f64::INFINITY)), Type::Real)),
                (None, "pi") => {
                    Ok((Function::Number(Number::Real(std::f64::consts::PI)), Type::Real))
                }
                _ => {
                    let close = nearest(name, names.keys().copied());
                    let hint = close.map_or_else(
                        || "a fold's function sees its two values only".to_owned(),
                        |close| format!("did you mean  {close}"),
                    );
                    Err(Box::new(
                        Diagnostic::error(
                            span,
                            format!("unknown name `{name}`"),
                            "nothing has this name here",
                        )
                        .hint(hint),
                    ))
                }
            },
            ExpressionKind::Unary(sign, inner) => {
                let part = self.part(inner, names)?;
                match sign {
                    Sign::Plus => Ok(part),
                    Sign::Minus => self.unary(Unary::Negative, part, span),
                    Sign::Not => self.unary(Unary::Not, part, span),
                }
            }
            ExpressionKind::Binary(operator, a, b) => {
                let (a, b) = (self.part(a, names)?, self.part(b, names)?);
                self.arithmetic(*operator, a, b, span)
            }
            ExpressionKind::Logical(all, parts) => {
                let mut made = self.part(&parts[0], names)?;
                for other in &parts[1..] {
                    let other = self.part(other, names)?;
                    made = self.binary(
                        if *all { Binary::And } else { Binary::Or },
                        made,
                        other,
                        span,
                    )?;
                }
                Ok(made)
            }
            ExpressionKind::Compare(first, others) => self.comparisons(first, others, names, span),
            ExpressionKind::Choice(yes, condition, no) => {
                let parts =
                    [self.part(condition, names)?, self.part(yes, names)?, self.part(no, names)?];
                self.select(parts, span)
            }
            ExpressionKind::Call(function, arguments, named) if named.is_empty() => {
                self.call_of(function, arguments, names, span)
            }
            _ => Err(self.refused(span)),
        }
    }

    fn call_of(
        &mut self,
        function: &'a Expression,
        arguments: &'a [Expression],
        names: &HashMap<&'a str, OperatorPart>,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let ExpressionKind::Name(name) = &function.kind else {
            return Err(self.refused(function.span));
        };
        let mut parts = arguments
            .iter()
            .map(|argument| self.part(argument, names))
            .collect::<TraceResult<Vec<_>>>()?;
        if let Some(definition) = self.tracer.file.function(name) {
            return self.call(definition, parts, span);
        }
        let unary = match name.as_str() {
            "min" | "max" if parts.len() >= 2 => {
                let operator = if name == "min" { Binary::Minimum } else { Binary::Maximum };
                let mut made = parts.remove(0);
                for part in parts {
                    made = self.binary(operator, made, part, span)?;
                }
                return Ok(made);
            }
            "where" => match <[OperatorPart; 3]>::try_from(parts) {
                Ok(parts) => return self.select(parts, span),
                Err(_) => return Err(self.refused(span)),
            },
            name => Unary::of_name(name)
                .filter(|operator| operator.has(Property::InFold))
                .ok_or_else(|| self.refused(span))?,
        };
        match parts.pop() {
            Some(part) if parts.is_empty() => self.unary(unary, part, span),
            _ => Err(self.refused(span)),
        }
    }

    fn comparisons(
        &mut self,
        first: &'a Expression,
        others: &'a [(Comparison, Expression)],
        names: &HashMap<&'a str, OperatorPart>,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let mut left = self.part(first, names)?;
        let mut made: Option<OperatorPart> = None;
        for (comparison, other) in others {
            let right = self.part(other, names)?;
            let (operator, a, b) = match comparison {
                Comparison::Equal => (Binary::Equal, left, right.clone()),
                Comparison::NotEqual => (Binary::NotEqual, left, right.clone()),
                Comparison::Less => (Binary::Less, left, right.clone()),
                Comparison::LessEqual => (Binary::LessEqual, left, right.clone()),
                Comparison::Greater => (Binary::Less, right.clone(), left),
                Comparison::GreaterEqual => (Binary::LessEqual, right.clone(), left),
                Comparison::In | Comparison::NotIn => return Err(self.refused(span)),
            };
            let holds = self.binary(operator, a, b, span)?;
            made = Some(match made {
                None => holds,
                Some(before) => self.binary(Binary::And, before, holds, span)?,
            });
            left = right;
        }
        made.ok_or_else(|| self.refused(span))
    }

    fn arithmetic(
        &mut self,
        operator: Operator,
        a: OperatorPart,
        b: OperatorPart,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let operator = match operator {
            Operator::Add => Binary::Add,
            Operator::Subtract => Binary::Subtract,
            Operator::Multiply => Binary::Multiply,
            Operator::Divide => Binary::Divide,
            Operator::FloorDivide => Binary::FloorDivide,
            Operator::Remainder => Binary::Remainder,
            Operator::Power => Binary::Power,
            Operator::Product => return Err(self.refused(span)),
        };
        self.binary(operator, a, b, span)
    }

    fn unary(
        &mut self,
        operator: Unary,
        part: OperatorPart,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let kind = operator.operand_type(part.1);
        if part.1 == Type::Id || kind < part.1 {
            return Err(self.mistyped(span, part.1));
        }
        Ok((Function::Unary(operator, Box::new(as_kind(part, kind))), kind))
    }

    fn mistyped(&self, span: Span, found: Type) -> Box<Diagnostic> {
        Box::new(
            Diagnostic::error(span, "the types of this do not fit", format!("found {found}"))
                .hint("conditions are bool, arithmetic is of int and real, ids are compared"),
        )
    }

    fn select(
        &mut self,
        [condition, yes, no]: [OperatorPart; 3],
        span: Span,
    ) -> TraceResult<OperatorPart> {
        if condition.1 != Type::Bool {
            return Err(self.mistyped(span, condition.1));
        }
        let kind = self.common(yes.1, no.1, span)?;
        Ok((
            Function::Select(
                Box::new(condition.0),
                Box::new(as_kind(yes, kind)),
                Box::new(as_kind(no, kind)),
            ),
            kind,
        ))
    }

    fn common(&self, a: Type, b: Type, span: Span) -> TraceResult<Type> {
        if (a == Type::Id) != (b == Type::Id) {
            Err(self.mistyped(span, Type::Id))
        } else {
            Ok(a.max(b))
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        a: OperatorPart,
        b: OperatorPart,
        span: Span,
    ) -> TraceResult<OperatorPart> {
        let common = self.common(a.1, b.1, span)?;
        if operator == Binary::Maximum && common == Type::Id {
            return Ok((largest_id(a.0, b.0), Type::Id));
        }
        let fits = |kind: &&Type| match common {
            Type::Id => **kind == Type::Id,
            _ => **kind != Type::Id && **kind >= common,
        };
        let operands =
            *operator.takes().iter().find(fits).ok_or_else(|| self.mistyped(span, common))?;
        let result = if operator.is_condition() { Type::Bool } else { operands };
        Ok((
            Function::Binary(
                operator,
                Box::new(as_kind(a, operands)),
                Box::new(as_kind(b, operands)),
            ),
            result,
        ))
    }
}

/// The larger of two ids: where the sentinel, which is larger than every id, would win, the other
/// one is the result.
fn largest_id(a: Function, b: Function) -> Function {
    let of = |operator: Binary, a: Function, b: Function| {
        Function::Binary(operator, Box::new(a), Box::new(b))
    };
    let none = Function::Cast(Type::Id, Box::new(Function::Number(Number::Int(u32::MAX.into()))));
    let (least, most) = (of(Binary::Minimum, a.clone(), b.clone()), of(Binary::Maximum, a, b));
    Function::Select(
        Box::new(of(Binary::Equal, most.clone(), none)),
        Box::new(least),
        Box::new(most),
    )
}

fn as_kind(part: OperatorPart, kind: Type) -> Function {
    match part {
        (function, of) if of == kind => function,
        (Function::Number(number), _) if kind == Type::Real => {
            Function::Number(Number::Real(number.real()))
        }
        (function, _) => Function::Cast(kind, Box::new(function)),
    }
}

fn size(function: &Function) -> usize {
    match function {
        Function::Left | Function::Right | Function::Number(_) => 1,
        Function::Unary(_, a) | Function::Cast(_, a) => 1 + size(a),
        Function::Binary(_, a, b) => 1 + size(a) + size(b),
        Function::Select(a, b, c) => 1 + size(a) + size(b) + size(c),
    }
}
