//! parse: parses a text to a syntax tree. The only file that knows the parser crate (Ruff's Python
//! parser), except for `unsupported_python`.
//!
//! promises  a valid tree or the errors, all unsupported constructs at once (at most
//!           `ERRORS_MOST`); never panics; bounded depth, since `nesting` and a limit here guard
//!           all recursion
//! never     checks names, places or shapes
use ruff_python_ast::{self as python, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::unsupported_python;
use super::{
    Comparison, Comprehension, DefParameter, Definition, Diagnostic, Expression, ExpressionKind,
    File, Name, Operator, Sign, Statement, StatementKind, nesting,
};
use warploom_ir::Span;

/// Maximum number of reported constructs.
const ERRORS_MOST: usize = 20;
/// Maximum levels of the tree.
const LEVELS_MOST: usize = 100;

/// Parses the functions of a text, or reports its errors.
pub fn parse(text: &str) -> Result<File, Vec<Diagnostic>> {
    nesting::check(text).map_err(|found| vec![found])?;
    let parsed =
        ruff_python_parser::parse_module(text).map_err(|error| vec![malformed(&error, text)])?;
    let mut reader = Reader { errors: Vec::new(), level: 0, text };
    let mut file = File::default();
    for statement in parsed.suite() {
        match statement {
            Stmt::FunctionDef(function) if !function.is_async => {
                if let Some(function) = reader.definition(function) {
                    file.functions.push(function);
                }
            }
            Stmt::Expr(expression) if matches!(&*expression.value, Expr::StringLiteral(_)) => {}
            other => reader.top_level(other),
        }
    }
    for (index, function) in file.functions.iter().enumerate() {
        if let Some(before) =
            file.functions[..index].iter().find(|before| before.name.text == function.name.text)
        {
            let what = format!("`{}` is defined twice", function.name.text);
            reader.errors.push(
                Diagnostic::error(function.name.span, what, "defined again")
                    .note("first defined", Some(before.name.span))
                    .hint("give one of them another name"),
            );
        }
    }
    if reader.errors.is_empty() {
        return Ok(file);
    }
    reader.errors.sort_by_key(|error| error.span.start);
    reader.errors.truncate(ERRORS_MOST);
    Err(reader.errors)
}

fn malformed(error: &ruff_python_parser::ParseError, text: &str) -> Diagnostic {
    let message = error.error.to_string();
    let mut letters = message.chars();
    let first: String =
        letters.next().map(|letter| letter.to_lowercase().collect()).unwrap_or_default();
    let what = format!("{first}{}", letters.as_str()).trim_end_matches('.').to_owned();
    if let Some(tab) = tab_among_spaces(text).filter(|_| what.contains("ndent")) {
        let found = Diagnostic::error(
            tab,
            "the indentation mixes tabs and spaces",
            "this line is indented by a tab, others by spaces",
        );
        return found.hint("indent each level by four spaces");
    }
    let mut span = span(error.location);
    // An error at the end of the text is shown at its last line.
    let end = text.trim_end().len() as u32;
    if span.start > end {
        span = Span { start: end, end };
    }
    let hint = match what.as_str() {
        what if what.contains("ndent") => Some("each level is indented by four spaces"),
        what if what.contains("EOF") => Some("a bracket, a string or a block is not finished"),
        what if what.contains("found `=`") => {
            Some("compare with `==`; assign in a statement of its own")
        }
        what if what.contains("xpected `)`") || what.contains("xpected `]`") => {
            Some("a bracket is not closed")
        }
        what if what.contains("':'") || what.contains("`:`") => {
            Some("`def`, `if`, `for` and `while` end with a colon")
        }
        what if what.contains("keyword argument") => {
            Some("give arguments without a name first:  linear(x, 16, bias=False)")
        }
        _ => None,
    };
    Diagnostic::error(span, "the text is not Python", what).hint_if(hint.map(str::to_owned))
}

fn is_call_of_sorted(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(call) if matches!(&*call.func, Expr::Name(name) if name.id == "sorted"))
}

/// The indentation of the first line that is indented by a tab, where others are indented by
/// spaces.
fn tab_among_spaces(text: &str) -> Option<Span> {
    let mut start = 0;
    let (mut tab, mut has_spaces) = (None, false);
    for line in text.split_inclusive('\n') {
        let blank = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if !line.trim().is_empty() {
            has_spaces |= blank.contains(' ');
            if blank.contains('\t') && tab.is_none() {
                tab = Some(Span { start, end: start + blank.len() as u32 });
            }
        }
        start += line.len() as u32;
    }
    tab.filter(|_| has_spaces)
}

fn span(range: TextRange) -> Span {
    Span { start: range.start().to_u32(), end: range.end().to_u32() }
}

fn name(identifier: &python::Identifier) -> Name {
    Name { text: identifier.id.to_string(), span: span(identifier.range) }
}

/// Walks the parser's tree. An unsupported construct is recorded, and the next statement is read.
struct Reader<'a> {
    errors: Vec<Diagnostic>,
    level: usize,
    text: &'a str,
}

impl Reader<'_> {
    fn refuse(&mut self, at: TextRange, name: &str, hint: &str) {
        self.errors.push(
            Diagnostic::error(
                self.first_line(span(at)),
                format!("{name} is not part of the language"),
                "not in the language",
            )
            .hint(hint),
        );
    }

    /// The span's part of its first line: an unsupported block is not underlined as a whole.
    fn first_line(&self, span: Span) -> Span {
        let part = self.text.get(span.start as usize..span.end as usize).unwrap_or("");
        let line = part.lines().next().unwrap_or("").trim_end();
        Span { start: span.start, end: span.start + line.len() as u32 }
    }

    fn top_level(&mut self, statement: &Stmt) {
        let at = statement.range();
        if let Some(refused) = unsupported_python::statement(statement) {
            return self.refuse(at, refused.name, refused.hint);
        }
        let what = "a statement outside of a function";
        let hint = "a file holds functions only; make a number a setting:  def name(v, width=16)";
        self.errors
            .push(Diagnostic::error(self.first_line(span(at)), what, "expected `def`").hint(hint));
    }

    fn definition(&mut self, function: &python::StmtFunctionDef) -> Option<Definition> {
        if let Some(decorator) = function.decorator_list.first() {
            self.refuse(
                decorator.range,
                "a decorator",
                "leave it out; the entry is the function named like the file",
            );
        }
        if let Some(types) = &function.type_params {
            self.refuse(types.range, "a type parameter", "leave it out; types follow from values");
        }
        if let Some(returns) = &function.returns {
            self.refuse(
                returns.range(),
                "a type annotation",
                "leave it out; types follow from values",
            );
        }
        let parameters = self.parameters(&function.parameters);
        let mut body: &[Stmt] = &function.body;
        let mut doc = None;
        if let Some((Stmt::Expr(first), rest)) = body.split_first()
            && let Expr::StringLiteral(text) = &*first.value
        {
            (doc, body) = (Some(text.value.to_str().trim().to_owned()), rest);
        }
        let body = self.block(body);
        Some(Definition { name: name(&function.name), parameters, doc, body })
    }

    fn parameters(&mut self, parameters: &python::Parameters) -> Vec<DefParameter> {
        for (starred, hint) in [
            (
                &parameters.vararg,
                "name the parameters one by one, or take a tuple:  def mlp(v, widths=(16, 16))",
            ),
            (&parameters.kwarg, "name the parameters one by one"),
        ] {
            if let Some(starred) = starred {
                self.refuse(starred.range, "a parameter with `*`", hint);
            }
        }
        let mut read = Vec::new();
        for parameter in
            parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs)
        {
            if let Some(annotation) = parameter.parameter.annotation() {
                self.refuse(
                    annotation.range(),
                    "a type annotation",
                    "leave it out; types follow from values",
                );
            }
            let default = parameter.default().and_then(|default| self.expression(default));
            read.push(DefParameter { name: name(&parameter.parameter.name), default });
        }
        read
    }

    fn block(&mut self, statements: &[Stmt]) -> Vec<Statement> {
        self.level += 1;
        let read = statements.iter().filter_map(|statement| self.statement(statement)).collect();
        self.level -= 1;
        read
    }

    fn statement(&mut self, statement: &Stmt) -> Option<Statement> {
        let at = statement.range();
        if let Some(refused) = unsupported_python::statement(statement) {
            self.refuse(at, refused.name, refused.hint);
            return None;
        }
        if self.level > LEVELS_MOST {
            return self.too_deep(at);
        }
        let kind = match statement {
            Stmt::Return(result) => {
                let value = match &result.value {
                    Some(value) => Some(self.expression(value)?),
                    None => None,
                };
                StatementKind::Return(value)
            }
            Stmt::Assign(assign) => {
                let targets = assign
                    .targets
                    .iter()
                    .map(|target| self.expression(target))
                    .collect::<Option<Vec<_>>>();
                let value = self.expression(&assign.value);
                StatementKind::Assign(targets?, value?)
            }
            Stmt::AugAssign(assign) => {
                let (target, value) =
                    (self.expression(&assign.target), self.expression(&assign.value));
                StatementKind::Augment(target?, self.operator(assign.op, at)?, value?)
            }
            Stmt::For(each) => {
                let (target, over) = (self.expression(&each.target), self.expression(&each.iter));
                let body = self.block(&each.body);
                StatementKind::For(target?, over?, body)
            }
            Stmt::While(repeat) => {
                let condition = self.expression(&repeat.test);
                let body = self.block(&repeat.body);
                StatementKind::While(condition?, body)
            }
            Stmt::If(choice) => self.choice(choice)?,
            Stmt::Expr(expression) => match &*expression.value {
                Expr::StringLiteral(_) | Expr::EllipsisLiteral(_) => StatementKind::Pass,
                value => StatementKind::Do(self.expression(value)?),
            },
            Stmt::Pass(_) => StatementKind::Pass,
            _ => return None,
        };
        Some(Statement { kind, span: span(at) })
    }

    fn choice(&mut self, choice: &python::StmtIf) -> Option<StatementKind> {
        let first = self.expression(&choice.test);
        let mut branches = vec![(first, self.block(&choice.body))];
        let mut otherwise = Vec::new();
        for clause in &choice.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    let test = self.expression(test);
                    branches.push((test, self.block(&clause.body)));
                }
                None => otherwise = self.block(&clause.body),
            }
        }
        let branches = branches
            .into_iter()
            .map(|(test, body)| test.map(|test| (test, body)))
            .collect::<Option<Vec<_>>>()?;
        Some(StatementKind::If(branches, otherwise))
    }

    fn too_deep<T>(&mut self, at: TextRange) -> Option<T> {
        let found = Diagnostic::error(
            self.first_line(span(at)),
            "the program is nested too deeply",
            format!("expected at most {LEVELS_MOST} levels"),
        );
        self.errors.push(found.hint("give a part a name of its own:  part = ..."));
        None
    }

    fn operator(&mut self, operator: python::Operator, at: TextRange) -> Option<Operator> {
        Some(match operator {
            python::Operator::Add => Operator::Add,
            python::Operator::Sub => Operator::Subtract,
            python::Operator::Mult => Operator::Multiply,
            python::Operator::Div => Operator::Divide,
            python::Operator::FloorDiv => Operator::FloorDivide,
            python::Operator::Mod => Operator::Remainder,
            python::Operator::Pow => Operator::Power,
            python::Operator::MatMult => Operator::Product,
            other => {
                let refused = unsupported_python::operator(other)?;
                self.refuse(at, refused.name, refused.hint);
                return None;
            }
        })
    }

    fn expression(&mut self, expression: &Expr) -> Option<Expression> {
        let at = expression.range();
        if let Some(refused) = unsupported_python::expression(expression) {
            self.refuse(at, refused.name, refused.hint);
            return None;
        }
        if self.level > LEVELS_MOST {
            return self.too_deep(at);
        }
        self.level += 1;
        let kind = self.expression_kind(expression, at);
        self.level -= 1;
        Some(Expression { kind: kind?, span: span(at) })
    }

    fn boxed(&mut self, expression: &Expr) -> Option<Box<Expression>> {
        self.expression(expression).map(Box::new)
    }

    fn expressions(&mut self, expressions: &[Expr]) -> Option<Vec<Expression>> {
        // All are read before any fails, so that every unsupported construct is found.
        let read: Vec<Option<Expression>> =
            expressions.iter().map(|expression| self.expression(expression)).collect();
        read.into_iter().collect()
    }

    fn expression_kind(&mut self, expression: &Expr, at: TextRange) -> Option<ExpressionKind> {
        Some(match expression {
            Expr::BooleanLiteral(literal) => ExpressionKind::Bool(literal.value),
            Expr::NumberLiteral(literal) => self.number(&literal.value, at)?,
            Expr::StringLiteral(literal) => ExpressionKind::Text(literal.value.to_str().to_owned()),
            Expr::EllipsisLiteral(_) => ExpressionKind::Ellipsis,
            Expr::Tuple(tuple) => ExpressionKind::Tuple(self.expressions(&tuple.elts)?),
            Expr::List(list) => ExpressionKind::Tuple(self.expressions(&list.elts)?),
            Expr::Name(name) => ExpressionKind::Name(name.id.to_string()),
            Expr::Attribute(attribute) => {
                ExpressionKind::Attribute(self.boxed(&attribute.value)?, name(&attribute.attr))
            }
            // The value before the brackets is the more important error.
            Expr::Subscript(subscript)
                if matches!(&*subscript.slice, Expr::Slice(_))
                    && is_call_of_sorted(&subscript.value) =>
            {
                self.refuse(subscript.value.range(), "`sorted`", crate::trace::SORTED);
                return None;
            }
            Expr::Subscript(subscript) => {
                let (value, index) = (self.boxed(&subscript.value), self.boxed(&subscript.slice));
                ExpressionKind::Index(value?, index?)
            }
            Expr::UnaryOp(unary) => {
                let sign = match unary.op {
                    python::UnaryOp::Not => Sign::Not,
                    python::UnaryOp::UAdd => Sign::Plus,
                    python::UnaryOp::USub => Sign::Minus,
                    python::UnaryOp::Invert => {
                        self.refuse(at, "`~`", "use `not`, which works vertex by vertex");
                        return None;
                    }
                };
                ExpressionKind::Unary(sign, self.boxed(&unary.operand)?)
            }
            Expr::BinOp(binary) => {
                let (left, right) = (self.boxed(&binary.left), self.boxed(&binary.right));
                ExpressionKind::Binary(self.operator(binary.op, at)?, left?, right?)
            }
            Expr::BoolOp(logical) => ExpressionKind::Logical(
                logical.op == python::BoolOp::And,
                self.expressions(&logical.values)?,
            ),
            Expr::Compare(compare) => self.compare(compare, at)?,
            Expr::If(choice) => {
                let (yes, condition, no) = (
                    self.boxed(&choice.body),
                    self.boxed(&choice.test),
                    self.boxed(&choice.orelse),
                );
                ExpressionKind::Choice(yes?, condition?, no?)
            }
            Expr::Call(call) => self.call(call)?,
            Expr::ListComp(list) => self.comprehension(&list.elt, &list.generators, at)?,
            Expr::Generator(list) => self.comprehension(&list.elt, &list.generators, at)?,
            _ => {
                self.refuse(at, "this expression", "see docs/language.md for what there is");
                return None;
            }
        })
    }

    fn number(&mut self, number: &python::Number, at: TextRange) -> Option<ExpressionKind> {
        match number {
            python::Number::Int(whole) => match whole.as_i64() {
                Some(whole) => Some(ExpressionKind::Int(whole)),
                None => {
                    let found = Diagnostic::error(
                        span(at),
                        "the number is too large",
                        format!("expected at most {}", i64::MAX),
                    );
                    self.errors.push(found.hint("write it as a real number:  1e20"));
                    None
                }
            },
            python::Number::Float(real) => Some(ExpressionKind::Real(*real)),
            python::Number::Complex { .. } => {
                self.refuse(at, "a complex number", "keep real and imaginary parts in two columns");
                None
            }
        }
    }

    fn compare(&mut self, compare: &python::ExprCompare, at: TextRange) -> Option<ExpressionKind> {
        let first = self.boxed(&compare.left);
        let others = self.expressions(&compare.comparators);
        let mut signs = Vec::new();
        for operator in &compare.ops {
            signs.push(match operator {
                python::CmpOp::Eq => Comparison::Equal,
                python::CmpOp::NotEq => Comparison::NotEqual,
                python::CmpOp::Lt => Comparison::Less,
                python::CmpOp::LtE => Comparison::LessEqual,
                python::CmpOp::Gt => Comparison::Greater,
                python::CmpOp::GtE => Comparison::GreaterEqual,
                python::CmpOp::In => Comparison::In,
                python::CmpOp::NotIn => Comparison::NotIn,
                python::CmpOp::Is | python::CmpOp::IsNot => {
                    let hint = if *operator == python::CmpOp::Is { "use `==`" } else { "use `!=`" };
                    self.refuse(at, "`is`", hint);
                    return None;
                }
            });
        }
        Some(ExpressionKind::Compare(first?, signs.into_iter().zip(others?).collect()))
    }

    fn call(&mut self, call: &python::ExprCall) -> Option<ExpressionKind> {
        let function = self.boxed(&call.func);
        let positional = self.expressions(&call.arguments.args);
        let mut named = Vec::new();
        for keyword in &call.arguments.keywords {
            let value = self.expression(&keyword.value);
            match &keyword.arg {
                Some(argument) => named.push(value.map(|value| (name(argument), value))),
                None => {
                    self.refuse(
                        keyword.range,
                        "`**` before an argument",
                        "write the arguments one by one",
                    );
                    named.push(None);
                }
            }
        }
        Some(ExpressionKind::Call(
            function?,
            positional?,
            named.into_iter().collect::<Option<Vec<_>>>()?,
        ))
    }

    fn comprehension(
        &mut self,
        element: &Expr,
        generators: &[python::Comprehension],
        at: TextRange,
    ) -> Option<ExpressionKind> {
        let [generator] = generators else {
            self.refuse(
                at,
                "a comprehension with two `for`",
                "put one into another:  sum(sum(... for u in v.innbs[r]) for r in \
                     v.graph.relations)",
            );
            return None;
        };
        if generator.is_async {
            self.refuse(generator.range, "`async for`", "write `for`");
            return None;
        }
        let (element, target, over) = (
            self.expression(element),
            self.expression(&generator.target),
            self.expression(&generator.iter),
        );
        let conditions = self.expressions(&generator.ifs);
        Some(ExpressionKind::Comprehension(Box::new(Comprehension {
            element: element?,
            target: target?,
            over: over?,
            conditions: conditions?,
        })))
    }
}
