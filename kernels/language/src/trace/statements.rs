//! statements: the body of a function, statement by statement.
//!
//! promises  a statement is complete for all rows before the next; `if` and `for` are evaluated
//!           here and are not in the GIR
use super::edges::Iterable;
use super::tracer::{TraceResult, Tracer};
use super::value::{SpannedValue, Value};
use crate::syntax::{Diagnostic, Expression, ExpressionKind, Statement, StatementKind};
use warploom_ir::Span;

/// How a block ended.
pub(super) enum Flow<'a> {
    /// Falls through.
    On,
    /// Returned this value, from this expression.
    Return(Value, Option<&'a Expression>),
}

impl<'a> Tracer<'a> {
    pub fn block(&mut self, statements: &'a [Statement]) -> TraceResult<Flow<'a>> {
        for (index, statement) in statements.iter().enumerate() {
            self.enter(statement.span)?;
            let flow = self.statement(statement)?;
            self.leave();
            if let Flow::Return(..) = flow {
                if let Some(dead) = statements.get(index + 1) {
                    self.dead_code(statement, dead);
                }
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// Only an unconditional `return` makes the rest dead code; one inside of an `if` depends on
    /// settings.
    fn dead_code(&mut self, statement: &Statement, dead: &Statement) {
        if matches!(statement.kind, StatementKind::Return(_))
            && !self.warnings.iter().any(|warning| warning.span == dead.span)
        {
            let found =
                Diagnostic::warning(dead.span, "this is never reached", "stands after `return`");
            self.warnings.push(found.hint("move it before `return`, or leave it out"));
        }
    }

    fn statement(&mut self, statement: &'a Statement) -> TraceResult<Flow<'a>> {
        match &statement.kind {
            StatementKind::Assign(targets, value) => {
                let made = self.expression(value)?;
                for target in targets {
                    self.assign(target, made.clone(), value.span)?;
                }
            }
            StatementKind::Augment(target, operator, value) => {
                let before = self.expression(target)?;
                let other = self.expression(value)?;
                let span = Span { start: target.span.start, end: value.span.end };
                let made = self.arithmetic(
                    span,
                    *operator,
                    SpannedValue::new(before, target.span),
                    SpannedValue::new(other, value.span),
                )?;
                self.assign(target, made, span)?;
            }
            StatementKind::If(branches, otherwise) => return self.choose(branches, otherwise),
            StatementKind::For(target, over, body) => return self.repeat(target, over, body),
            StatementKind::While(condition, body) => self.repeat_while(condition, body)?,
            StatementKind::Return(value) => return self.give_back(value.as_ref(), statement.span),
            StatementKind::Do(expression) => {
                let written = self.written.len();
                let nodes = self.builder.gir.nodes.len();
                let parameters = self.declared.len();
                self.expression(expression)?;
                let idle = self.written.len() == written
                    && !matches!(&expression.kind, ExpressionKind::Call(..) if self.declared.len() > parameters);
                if idle || self.builder.gir.nodes.len() == nodes && self.written.len() == written {
                    let found = Diagnostic::warning(
                        expression.span,
                        "this has no effect on the result",
                        "its value is not kept",
                    );
                    self.warnings.push(found.hint("give it a name:  v.h = ..."));
                }
            }
            StatementKind::Pass => {}
        }
        Ok(Flow::On)
    }

    fn give_back(&mut self, value: Option<&'a Expression>, span: Span) -> TraceResult<Flow<'a>> {
        let hint = "a loop ends by its condition; write `return` after it";
        if self.repeating.as_ref().is_some_and(|repeating| self.scopes.len() == repeating.scope + 1)
        {
            return Err(Box::new(
                Diagnostic::error(span, "`return` inside `while`", "expected it after the loop")
                    .hint(hint),
            ));
        }
        match value {
            Some(value) => Ok(Flow::Return(self.expression(value)?, Some(value))),
            None => Ok(Flow::Return(Value::Nothing, None)),
        }
    }

    fn choose(
        &mut self,
        branches: &'a [(Expression, Vec<Statement>)],
        otherwise: &'a [Statement],
    ) -> TraceResult<Flow<'a>> {
        for (condition, body) in branches {
            let value = self.expression(condition)?;
            let Some(holds) = super::constants::truth(&value) else {
                let label = format!("expected a constant, found {}", self.describe(&value));
                let found = Diagnostic::error(
                    condition.span,
                    "`if` needs a value that is known when compiled",
                    label,
                );
                return Err(Box::new(
                    found.hint("choose row by row:  v.h = a if condition else b"),
                ));
            };
            if holds {
                return self.block(body);
            }
        }
        self.block(otherwise)
    }

    fn repeat(
        &mut self,
        target: &'a Expression,
        over: &'a Expression,
        body: &'a [Statement],
    ) -> TraceResult<Flow<'a>> {
        match self.walked(over)? {
            Iterable::Known(values) => {
                let mut counts = self.begin_relations(&values);
                for value in values.iter() {
                    self.enter(target.span)?;
                    self.begin_relation(counts.as_ref(), value);
                    self.bind_target(target, value.clone(), over.span)?;
                    let flow = self.block(body)?;
                    self.end_relation(counts.as_mut());
                    self.leave();
                    if let Flow::Return(..) = flow {
                        return Ok(flow);
                    }
                }
                Ok(Flow::On)
            }
            Iterable::Edges { edges, element, .. } => {
                let each = matches!(&element, Value::Edge(_))
                    || matches!(&element, Value::Tuple(values) if values.iter().any(|value| matches!(value, Value::Edge(_))));
                if !each {
                    let found = Diagnostic::error(
                        over.span,
                        "`for` over neighbours has nothing to assign to",
                        "expected  v.inedges  or  v.outedges",
                    );
                    return Err(Box::new(found.hint(
                        "reduce them:  v.h = sum(u.h for u in v.innbs); or make a column of \
                         edges:  for e in v.inedges: e.name = ...",
                    )));
                }
                self.outside_of_walks(
                    over.span,
                    "`for` over edges inside another iteration over edges",
                    "make the column of edges before",
                )?;
                self.open_walk(edges);
                self.bind_target(target, element, over.span)?;
                let flow = self.block(body)?;
                self.close_walk();
                match flow {
                    Flow::On => Ok(Flow::On),
                    Flow::Return(_, value) => {
                        let span = value.map_or(over.span, |value| value.span);
                        let found = Diagnostic::error(
                            span,
                            "`return` inside a loop over edges",
                            "expected it after the loop",
                        );
                        Err(Box::new(
                            found.hint("return a list:  return [e.name for e in v.inedges]"),
                        ))
                    }
                }
            }
        }
    }
}
