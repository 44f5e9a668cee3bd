//! calls: functions of the file, which are inlined at each call, and operators, which are listed in
//! one table.
//!
//! promises  arguments are passed to parameters as in Python; an unknown name is reported with the
//!           nearest known one; recursion is an error
use super::statements::Flow;
use super::tracer::{TraceResult, Tracer};
use super::value::{Applied, SpannedValue, Value};
use crate::syntax::{Definition, Diagnostic, Expression, ExpressionKind, Name};
use warploom_ir::{Span, Type, Unary, nearest};

/// Every operator that is not element-wise, with its call syntax; element-wise ones are in
/// `ir/src/operators.rs`.
const OPERATORS: [(&str, &str); 43] = [
    ("active", "while active(condition)"),
    ("all", "all(condition for u in v.innbs)"),
    ("any", "any(condition for u in v.innbs)"),
    ("batch_norm", "batch_norm(x)"),
    ("bias", "x + bias()"),
    ("change", "while change(v.a) > tolerance"),
    ("changed", "while changed(v.a)"),
    ("clamp", "clamp(x, low, high)"),
    ("common_neighbors", "common_neighbors(u, v)"),
    ("concat", "concat(a, b)"),
    ("count", "count(u for u in v.innbs)"),
    ("dot", "dot(a, b)"),
    ("dropout", "dropout(x, 0.5)"),
    ("embedding", "embedding(v.id, width)"),
    ("flatten", "flatten(x)"),
    ("float", "float(x)"),
    ("fold", "fold(f, values, start)"),
    ("hindex", "hindex(u.a for u in v.innbs)"),
    ("int", "int(x)"),
    ("layer_norm", "layer_norm(x)"),
    ("len", "len(widths)"),
    ("linear", "linear(x, width)"),
    ("logsumexp", "logsumexp(values)"),
    ("max", "max(u.h for u in v.innbs)"),
    ("mean", "mean(u.h for u in v.innbs)"),
    ("min", "min(u.h for u in v.innbs)"),
    ("mlp", "mlp(x, (16, 16))"),
    ("mode", "mode(u.a for u in v.innbs)"),
    ("norm", "norm(x)"),
    ("param", "param((heads, width))"),
    ("pool_max", "pool_max(v.h)"),
    ("pool_mean", "pool_mean(v.h)"),
    ("pool_sum", "pool_sum(v.h)"),
    ("prod", "prod(u.h for u in v.innbs)"),
    ("range", "range(layers)"),
    ("reshape", "reshape(x, (heads, width))"),
    ("softmax", "softmax(values)"),
    ("sum", "sum(u.h for u in v.innbs)"),
    ("tuple", "tuple(values)"),
    ("where", "where(condition, a, b)"),
    ("zip", "zip(values, v.inedges)"),
    ("bool", "x != 0"),
    ("list", "[... for u in v.innbs]"),
];

/// Names of operators in other systems, and their names here.
const ELSEWHERE: [(&str, &str); 17] = [
    ("cat", "concat(a, b)"),
    ("stack", "concat(reshape(a, (1, n)), reshape(b, (1, n)), axis=0)"),
    ("matmul", "x @ w"),
    ("mm", "x @ w"),
    ("einsum", "x @ w  or  dot(a, b)"),
    ("Linear", "linear(x, width)"),
    ("Dropout", "dropout(x, 0.5)"),
    ("enumerate", "for k in range(len(widths)): ... widths[k]"),
    ("std", "sqrt(mean(square(u.h) for u in v.innbs) - square(mean(u.h for u in v.innbs)))"),
    ("var", "mean(square(u.h) for u in v.innbs) - square(mean(u.h for u in v.innbs))"),
    ("round", "floor(x + 0.5)"),
    ("pow", "x ** 2"),
    ("view", "reshape(x, shape)"),
    ("aggregate", "sum(u.h for u in v.innbs)"),
    ("global_add_pool", "pool_sum(v.h)"),
    ("global_mean_pool", "pool_mean(v.h)"),
    ("parameter", "param(shape)"),
];

/// Operators without a counterpart, and what to do instead.
const NOWHERE: [(&[&str], &str); 6] = [
    (&["print"], "there is no output while a program runs; return the value instead"),
    (&["log_softmax"], "return raw scores (logits); the loss applies the logarithm"),
    (
        &["random", "rand", "randn", "randint", "uniform", "shuffle", "choice"],
        "results follow from the data and `run.seed`; put random numbers into a column of the node \
         table",
    ),
    (
        &["argmax", "argmin"],
        "first the best value, then the smallest id that has it:  v.best = max(u.h for u in \
         v.innbs); v.who = min(u.id for u in v.innbs if u.h == v.best)",
    ),
    (
        &["median", "quantile", "percentile", "topk"],
        "values of edges have no order; use `mean`, `mode`, `min`, `max` or `hindex`",
    ),
    (&["sorted", "sort", "argsort"], SORTED),
];
/// The order of edge values is not observable.
pub(crate) const SORTED: &str = "values of edges have no order; use `min`, `max`, `mode` or `fold`";

/// Whether the language has this operator.
pub(super) fn is_operator(name: &str) -> bool {
    Unary::of_name(name).is_some() || OPERATORS.iter().any(|(operator, _)| *operator == name)
}

/// The call syntax of an operator.
fn usage(name: &str) -> &'static str {
    let other = OPERATORS.iter().find(|(operator, _)| *operator == name).map(|(_, usage)| *usage);
    Unary::of_name(name).and_then(Unary::call).or(other).unwrap_or("")
}

/// The names of all operators in alphabetical order, then names that are not operators of this
/// language.
fn operator_names() -> Vec<&'static str> {
    let element_wise = Unary::ALL.iter().filter_map(|operator| operator.name());
    let others = OPERATORS.iter().map(|(operator, _)| *operator);
    let mut names: Vec<&str> = element_wise.chain(others).collect();
    names.sort_unstable_by_key(|name| (["bool", "list"].contains(name), *name));
    names
}

/// Arguments of a call of an operator.
pub(super) struct Arguments {
    pub name: String,
    pub span: Span,
    positional: Vec<SpannedValue>,
    named: Vec<(String, Span, SpannedValue)>,
}

impl Arguments {
    /// Assigns arguments to the parameters of these names; the first `needed` are required.
    pub fn take<const N: usize>(
        self,
        names: [&str; N],
        needed: usize,
    ) -> TraceResult<[Option<SpannedValue>; N]> {
        let mut taken: [Option<SpannedValue>; N] = [const { None }; N];
        let usage = usage(&self.name);
        if self.positional.len() > N {
            let span = self.positional[N].span;
            let label = format!(
                "expected at most {N} argument{}, found {}",
                if N == 1 { "" } else { "s" },
                self.positional.len()
            );
            return Err(Box::new(
                Diagnostic::error(span, format!("`{}` has too many arguments", self.name), label)
                    .hint(format!("it is called as  {usage}")),
            ));
        }
        for (index, argument) in self.positional.into_iter().enumerate() {
            taken[index] = Some(argument);
        }
        for (name, span, argument) in self.named {
            let Some(index) = names.iter().position(|known| *known == name) else {
                let hint = nearest(&name, names).map_or_else(
                    || format!("it is called as  {usage}"),
                    |close| format!("did you mean  {close}="),
                );
                let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let label = format!(
                    "expected {}",
                    if N == 0 { "no argument".to_owned() } else { known.join(", ") }
                );
                return Err(Box::new(
                    Diagnostic::error(
                        span,
                        format!("`{}` has no argument `{name}`", self.name),
                        label,
                    )
                    .hint(hint),
                ));
            };
            if taken[index].is_some() {
                return Err(Box::new(
                    Diagnostic::error(span, format!("`{name}` is given twice"), "given again")
                        .hint(format!("it is called as  {usage}")),
                ));
            }
            taken[index] = Some(argument);
        }
        match taken[..needed].iter().position(Option::is_none) {
            None => Ok(taken),
            Some(missing) => {
                let found = Diagnostic::error(
                    self.span,
                    format!("`{}` lacks an argument", self.name),
                    format!("expected `{}`", names[missing]),
                );
                Err(Box::new(found.hint(format!("it is called as  {usage}"))))
            }
        }
    }

    /// The positional arguments, if there are no named ones and at least one of these.
    pub fn values(&self) -> Option<&[SpannedValue]> {
        if self.named.is_empty() && !self.positional.is_empty() {
            Some(&self.positional)
        } else {
            None
        }
    }

    /// Removes a named argument.
    pub fn remove(&mut self, name: &str) -> Option<SpannedValue> {
        let index = self.named.iter().position(|(known, ..)| known == name)?;
        Some(self.named.remove(index).2)
    }

    /// The number of positional arguments.
    pub fn count(&self) -> usize {
        self.positional.len()
    }
}

impl<'a> Tracer<'a> {
    pub fn call(
        &mut self,
        function: &'a Expression,
        arguments: &'a [Expression],
        named: &'a [(Name, Expression)],
        span: Span,
    ) -> TraceResult<Value> {
        let ExpressionKind::Name(name) = &function.kind else {
            return self.call_of_part(function, span);
        };
        if let Some(value) = self.local(function.span, name)? {
            let label = format!("expected a function, found {}", self.describe(&value));
            return Err(Box::new(
                Diagnostic::error(function.span, format!("`{name}` is a value here"), label)
                    .hint(format!("give the value another name than `{name}`")),
            ));
        }
        if let Some(definition) = self.file.function(name) {
            return self.call_function(definition, arguments, named, span);
        }
        match name.as_str() {
            "fold" => return self.fold(arguments, named, span),
            "change" | "changed" | "active" => {
                let found = Diagnostic::error(
                    span,
                    format!("`{name}` is a condition of `while`"),
                    "found outside of one",
                );
                return Err(Box::new(found.hint(format!("write  {}", usage(name)))));
            }
            "bool" | "list" | "tuple" => {
                let found = Diagnostic::error(
                    function.span,
                    format!("there is no operator `{name}`"),
                    "nothing has this name",
                );
                return Err(Box::new(found.hint(if name == "tuple" {
                    "write  (a, b)".to_owned()
                } else {
                    format!("write  {}", usage(name))
                })));
            }
            known if is_operator(known) => {}
            other => return Err(self.unknown_function(other, function.span)),
        }
        let positional = arguments
            .iter()
            .map(|argument| self.argument(argument))
            .collect::<TraceResult<Vec<_>>>()?;
        let mut by_name = Vec::new();
        for (parameter, argument) in named {
            by_name.push((parameter.text.clone(), parameter.span, self.argument(argument)?));
        }
        self.operator(Arguments { name: name.clone(), span, positional, named: by_name })
    }

    fn argument(&mut self, argument: &'a Expression) -> TraceResult<SpannedValue> {
        let value = self.expression(argument)?;
        Ok(SpannedValue::new(self.resolve_bias(value), argument.span))
    }

    fn operator(&mut self, arguments: Arguments) -> TraceResult<Value> {
        if let Some(operator) = Unary::of_name(&arguments.name) {
            return self.element_wise(arguments, Applied::Operator(operator));
        }
        match arguments.name.as_str() {
            "int" => self.element_wise(arguments, Applied::Cast(Type::Int)),
            "float" => self.element_wise(arguments, Applied::Cast(Type::Real)),
            "clamp" => self.clamp(arguments),
            "where" => {
                let [condition, yes, no] = arguments
                    .take(["condition", "a", "b"], 3)?
                    .map(|argument| argument.unwrap_or(SpannedValue::nothing(Span::default())));
                let span = Span { start: condition.span.start, end: no.span.end };
                match super::constants::truth(&condition.value) {
                    Some(holds) => Ok(if holds { yes.value } else { no.value }),
                    None => self.select(span, &condition, &yes, &no),
                }
            }
            "sum" | "mean" | "min" | "max" | "prod" | "any" | "all" | "count" | "softmax"
            | "logsumexp" | "mode" | "hindex" => self.reduction(arguments),
            "dot" | "norm" | "concat" | "flatten" | "reshape" | "len" | "range" => {
                self.row_operator(arguments)
            }
            "pool_sum" | "pool_mean" | "pool_max" => self.pool(arguments),
            "common_neighbors" => self.common_neighbors(arguments),
            "zip" => match arguments.values() {
                Some(values) if values.iter().any(|one| matches!(one.value, Value::Zip(_))) => {
                    Err(Box::new(
                        Diagnostic::error(arguments.span, "`zip` of a `zip`", "expected lists")
                            .hint("zip them all at once:  zip(a, b, v.inedges)"),
                    ))
                }
                Some(values) => {
                    Ok(Value::Zip(values.iter().map(|one| one.value.clone()).collect()))
                }
                None => Err(Box::new(
                    Diagnostic::error(arguments.span, "`zip` takes lists", "expected at least one")
                        .hint("zip(values, v.inedges)"),
                )),
            },
            "dropout" => self.dropout(arguments),
            "layer_norm" | "batch_norm" => self.normalised(arguments),
            _ => self.learned(arguments),
        }
    }

    fn unknown_function(&self, name: &str, span: Span) -> Box<Diagnostic> {
        if let Some((_, instead)) = NOWHERE.iter().find(|(names, _)| names.contains(&name)) {
            return Box::new(
                Diagnostic::error(
                    span,
                    format!("`{name}` cannot be written in this language"),
                    "no operator does this",
                )
                .hint(*instead),
            );
        }
        let functions = self.file.functions.iter().map(|function| function.name.text.as_str());
        let close = nearest(name, operator_names().into_iter().chain(functions));
        let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name);
        let hint = match (elsewhere, close) {
            (Some((_, here)), _) => format!("here that is  {here}"),
            (None, Some(close)) => format!("did you mean  {close}(...)"),
            _ => format!("write it as a function in this file:  def {name}(x): ..."),
        };
        Box::new(
            Diagnostic::error(
                span,
                format!("there is no operator or function `{name}`"),
                "nothing has this name",
            )
            .hint(hint),
        )
    }

    fn call_of_part(&mut self, function: &'a Expression, span: Span) -> TraceResult<Value> {
        if let ExpressionKind::Attribute(base, name) = &function.kind {
            if let ExpressionKind::Name(module) = &base.kind
                && self.local(base.span, module)?.is_none()
            {
                let found = Diagnostic::error(
                    base.span,
                    format!("there is no module `{module}`"),
                    "nothing has this name here",
                );
                return Err(Box::new(
                    found.hint(format!(
                        "operators are called without a module:  {}(...)",
                        name.text
                    )),
                ));
            }
            let value = self.expression(base)?;
            let hint = match name.text.as_str() {
                operator if is_operator(operator) => {
                    format!("operators are functions:  {}", usage(operator))
                }
                "append" | "extend" | "insert" => {
                    "make the values at once:  hs = [... for k in range(3)]  ; or widen a column \
                     in the loop:  v.all = concat(v.all, v.h)"
                        .to_owned()
                }
                _ => "write a function in this file:  def name(v, x): ...".to_owned(),
            };
            let label = format!("found a method of {}", self.describe(&value));
            return Err(Box::new(
                Diagnostic::error(
                    name.span,
                    format!("values have no methods, so no `{}`", name.text),
                    label,
                )
                .hint(hint),
            ));
        }
        let found = Diagnostic::error(
            Span { start: function.span.start, end: span.end },
            "only names can be called",
            "expected the name of a function",
        );
        Err(Box::new(found.hint("write the function as a `def` and call it by its name")))
    }

    fn call_function(
        &mut self,
        definition: &'a Definition,
        arguments: &'a [Expression],
        named: &'a [(Name, Expression)],
        span: Span,
    ) -> TraceResult<Value> {
        let name = &definition.name.text;
        if self.bodies.iter().any(|body| body.function == *name) {
            let found = Diagnostic::error(
                span,
                format!("`{name}` calls itself"),
                "functions are inlined where they are called, so this would never end",
            );
            return Err(Box::new(found.hint(
                "use `for` for a known number of steps, `while` to repeat until nothing changes",
            )));
        }
        let values = self.call_arguments(definition, arguments, named, span)?;
        self.open_function();
        for (parameter, value) in definition.parameters.iter().zip(values) {
            self.bind(&parameter.name.text, value, None);
        }
        self.begin_body(name);
        let walked = self.block(&definition.body);
        let flow = walked.map_err(|found| {
            if found.notes.len() < 4 {
                Box::new(found.note(format!("in `{name}`, which is called here"), Some(span)))
            } else {
                found
            }
        })?;
        self.end_body();
        self.close();
        let value = if let Flow::Return(value, _) = flow { value } else { Value::Nothing };
        Ok(self.resolve_bias(value))
    }

    fn call_arguments(
        &mut self,
        definition: &'a Definition,
        arguments: &'a [Expression],
        named: &'a [(Name, Expression)],
        span: Span,
    ) -> TraceResult<Vec<Value>> {
        let name = &definition.name.text;
        let parameters = &definition.parameters;
        let usage = || {
            format!(
                "it is  def {name}({})",
                parameters
                    .iter()
                    .map(|parameter| parameter.name.text.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        };
        if let Some(extra) = arguments.get(parameters.len()) {
            let label = format!("expected at most {}, found {}", parameters.len(), arguments.len());
            return Err(Box::new(
                Diagnostic::error(extra.span, format!("`{name}` has too many arguments"), label)
                    .hint(usage()),
            ));
        }
        let mut values: Vec<Option<Value>> = vec![None; parameters.len()];
        for (index, argument) in arguments.iter().enumerate() {
            values[index] = Some(self.passed(argument)?);
        }
        for (given, argument) in named {
            let Some(index) =
                parameters.iter().position(|parameter| parameter.name.text == given.text)
            else {
                let close = nearest(
                    &given.text,
                    parameters.iter().map(|parameter| parameter.name.text.as_str()),
                );
                let found = Diagnostic::error(
                    given.span,
                    format!("`{name}` has no parameter `{}`", given.text),
                    "no parameter has this name",
                );
                return Err(Box::new(
                    found.hint(close.map_or_else(usage, |close| format!("did you mean  {close}="))),
                ));
            };
            if values[index].is_some() {
                return Err(Box::new(
                    Diagnostic::error(
                        given.span,
                        format!("`{}` is given twice", given.text),
                        "given again",
                    )
                    .hint(usage()),
                ));
            }
            values[index] = Some(self.passed(argument)?);
        }
        let mut bound = Vec::new();
        for (parameter, value) in parameters.iter().zip(values) {
            bound.push(match (value, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.default(default)?,
                (None, None) => {
                    let label = format!("expected a value for `{}`", parameter.name.text);
                    return Err(Box::new(
                        Diagnostic::error(span, format!("`{name}` lacks an argument"), label)
                            .hint(usage()),
                    ));
                }
            });
        }
        Ok(bound)
    }

    fn passed(&mut self, argument: &'a Expression) -> TraceResult<Value> {
        let value = self.argument(argument)?.value;
        if let Value::End(..) | Value::Edge(_) = value {
            let found = Diagnostic::error(
                argument.span,
                "functions are called with `v` and values",
                format!("found {}", value.describe()),
            );
            return Err(Box::new(found.hint("pass what it needs:  f(v, u.h, e.w)")));
        }
        Ok(value)
    }

    /// A default, which is evaluated without names in scope.
    pub fn default(&mut self, default: &'a Expression) -> TraceResult<Value> {
        self.open_function();
        let value = self.expression(default).map_err(|found| {
            match found.what.starts_with("unknown name") {
                true => Box::new(found.hint(
                    "a default is a constant and sees no names; give the value where the function \
                     is called",
                )),
                false => found,
            }
        })?;
        self.close();
        Ok(value)
    }
}
