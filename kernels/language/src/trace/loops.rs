//! loops: `while`, a superstep that is repeated until its condition, tested after each pass, no
//! longer holds.
//!
//! promises  the loop-carried values are the columns that the body assigns and that existed before;
//!           all other values of the body are out of scope after it
//! never     unrolls; allows a loop inside of a loop, learned tensors inside, or a loop that
//!           changes nothing
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::statements::Flow;
use super::tracer::{Column, EdgeColumn, Repeating, TraceResult, Tracer, unfit};
use super::value::Value;
use crate::syntax::{
    Comparison, Comprehension, Diagnostic, Expression, ExpressionKind, File, Statement,
    StatementKind,
};
use warploom_ir::{EdgeSet, NodeId, Span, StopTest, Type};

/// The condition of a `while`, before its body is traced.
enum Condition<'a> {
    Changed(Vec<(String, Span)>),
    Change((String, Span), f64),
    Active(&'a Expression),
}

/// Columns that a body assigns, including functions that it calls.
#[derive(Default)]
struct Assigned {
    columns: BTreeSet<String>,
    edge_columns: BTreeSet<String>,
}

/// What is known before the body is traced.
struct LoopEntry {
    columns: BTreeMap<String, Column>,
    edge_columns: BTreeMap<String, EdgeColumn>,
    names: HashMap<String, super::tracer::Local>,
    /// Loop-carried columns, by position; edge columns after those of vertices.
    states: Vec<(String, bool)>,
    inside: Vec<NodeId>,
    number: usize,
}

impl<'a> Tracer<'a> {
    pub fn repeat_while(
        &mut self,
        condition: &'a Expression,
        body: &'a [Statement],
    ) -> TraceResult<()> {
        self.outside_of_walks(
            condition.span,
            "`while` inside a walk over edges",
            "write it before or after",
        )?;
        if self.repeating.is_some() {
            let found = Diagnostic::error(
                condition.span,
                "`while` inside `while`",
                "expected one loop at a time",
            );
            return Err(Box::new(found.hint(
                "end the first loop before the second, or run a fixed number of steps:  for step \
                 in range(10)",
            )));
        }
        let tested = self.condition(condition)?;
        let assigned = assigned_in(self.file, body);
        self.check_tested(&tested, &assigned)?;
        let before = self.begin_while(condition.span, &assigned)?;
        if let Flow::Return(..) = self.block(body)? {
            let found = Diagnostic::error(
                condition.span,
                "`return` inside `while`",
                "expected it after the loop",
            );
            return Err(Box::new(
                found.hint("a loop ends by its condition; write `return` after it"),
            ));
        }
        let next = self.next_states(condition.span, &before)?;
        let until = self.until(condition.span, &tested, &before, &next)?;
        self.repeating = None;
        self.end_while(condition.span, before, &next, until)
    }

    fn condition(&mut self, condition: &'a Expression) -> TraceResult<Condition<'a>> {
        let forms = "repeat  while changed(v.a),  while change(v.a) > tolerance  or  while \
                     active(condition)";
        match &condition.kind {
            ExpressionKind::Call(function, arguments, named) => {
                match (name_of(function), named.first()) {
                    (Some("changed"), None) if !arguments.is_empty() => {
                        let columns = arguments
                            .iter()
                            .map(|argument| self.tested_column(argument))
                            .collect::<TraceResult<Vec<_>>>()?;
                        return Ok(Condition::Changed(columns));
                    }
                    (Some("active"), None) if arguments.len() == 1 => {
                        return Ok(Condition::Active(&arguments[0]));
                    }
                    (Some("change"), _) => {
                        let found = Diagnostic::error(
                            condition.span,
                            "`change` is compared with a number",
                            "expected  change(v.a) > tolerance",
                        );
                        return Err(Box::new(
                            found.hint("to repeat until nothing changes:  while changed(v.a)"),
                        ));
                    }
                    _ => {}
                }
            }
            ExpressionKind::Compare(first, others) if others.len() == 1 => {
                let (comparison, second) = (others[0].0, &others[0].1);
                let sides = match comparison {
                    Comparison::Greater | Comparison::GreaterEqual => Some((&**first, second)),
                    Comparison::Less | Comparison::LessEqual => Some((second, &**first)),
                    _ => None,
                };
                if let Some((change, bound)) = sides
                    && let ExpressionKind::Call(function, arguments, _) = &change.kind
                    && let (Some("change"), [column]) = (name_of(function), arguments.as_slice())
                {
                    if matches!(comparison, Comparison::GreaterEqual | Comparison::LessEqual) {
                        let found = Diagnostic::error(
                            condition.span,
                            "a loop repeats while the change is larger than a number",
                            format!("expected `>`, found `{}`", comparison.sign()),
                        );
                        return Err(Box::new(found.hint("write  while change(v.a) > tolerance")));
                    }
                    let column = self.tested_column(column)?;
                    return Ok(Condition::Change(column, self.bound(bound)?));
                }
            }
            _ => {}
        }
        let found = Diagnostic::error(
            condition.span,
            "`while` repeats while something changes",
            "expected `changed`, `change` or `active`",
        );
        Err(Box::new(found.hint(forms)))
    }

    /// The column that a condition tests: `v.a`.
    fn tested_column(&mut self, argument: &'a Expression) -> TraceResult<(String, Span)> {
        if let ExpressionKind::Attribute(base, name) = &argument.kind
            && let Value::Vertex = self.expression(base)?
        {
            return Ok((name.text.clone(), argument.span));
        }
        let found = Diagnostic::error(
            argument.span,
            "a loop tests columns of the vertex",
            "expected a column, as in  v.a",
        );
        Err(Box::new(found.hint("keep the value in a column:  v.a = ...")))
    }

    fn bound(&mut self, bound: &'a Expression) -> TraceResult<f64> {
        let value = self.expression(bound)?;
        match super::constants::real(&value) {
            Some(number) if number >= 0.0 => Ok(number),
            _ => {
                let label = format!(
                    "expected a number known when compiled, 0 or larger, found {}",
                    self.describe(&value)
                );
                Err(Box::new(
                    Diagnostic::error(bound.span, "the bound of a change is not a constant", label)
                        .hint("make it a setting:  def name(v, tolerance=1e-6)"),
                ))
            }
        }
    }

    fn check_tested(&mut self, tested: &Condition<'a>, assigned: &Assigned) -> TraceResult<()> {
        let columns = match tested {
            Condition::Changed(columns) => columns.clone(),
            Condition::Change(column, _) => vec![column.clone()],
            Condition::Active(_) => return Ok(()),
        };
        for (name, span) in columns {
            if !assigned.columns.contains(&name) {
                let found = Diagnostic::error(
                    span,
                    format!("no pass changes `v.{name}`"),
                    "the body of the loop does not assign it",
                );
                let other =
                    assigned.columns.iter().find(|column| self.columns.contains_key(*column));
                let hint = other.map_or_else(
                    || format!("assign it in the loop:  v.{name} = ..."),
                    |other| format!("test what the loop assigns:  v.{other}"),
                );
                return Err(Box::new(found.hint(hint)));
            }
            let Some(column) = self.columns.get(&name) else {
                let found = Diagnostic::error(
                    span,
                    format!("`v.{name}` has no value before the loop"),
                    "expected an assignment before `while`",
                );
                return Err(Box::new(
                    found.hint(format!("give it a first value:  v.{name} = ...")),
                ));
            };
            self.written[column.written].read = true;
        }
        Ok(())
    }

    fn begin_while(&mut self, span: Span, assigned: &Assigned) -> TraceResult<LoopEntry> {
        let (mut states, mut firsts) = (Vec::new(), Vec::new());
        for name in &assigned.columns {
            let Some(column) = self.columns.get(name).cloned() else { continue };
            let at = self.written[column.written].span;
            if let (Value::Unmade(_), false) = (&column.value, self.is_even()) {
                let label =
                    format!("expected rows of numbers, found {}", self.describe(&column.value));
                let found =
                    Diagnostic::error(at, format!("`v.{name}` cannot be carried by a loop"), label);
                let hint = if self.data.kinds.is_empty() {
                    "set  ingest.features: random"
                } else {
                    "give it to `linear` first:  v.h = linear(v.x, width)"
                };
                return Err(Box::new(found.hint(hint)));
            }
            let first = self.as_state(at, &column.value, None)?;
            states.push((name.clone(), false));
            firsts.push((name.clone(), first));
        }
        for name in &assigned.edge_columns {
            let Some(column) = self.edge_columns.get(name).cloned() else { continue };
            let at = self.written[column.written].span;
            let first = self.spread_to_edges(at, column.node)?;
            states.push((name.clone(), true));
            firsts.push((format!("e.{name}"), first));
        }
        if states.is_empty() {
            let found = Diagnostic::error(
                span,
                "no pass of this loop changes anything",
                "the body assigns no column that was there before",
            );
            return Err(Box::new(found.hint(
                "give a column its first value before the loop, and a new one inside:  v.a = ...",
            )));
        }
        let (columns, edge_columns) = (self.columns.clone(), self.edge_columns.clone());
        let names = self.scopes.last().map(|scope| scope.names.clone()).unwrap_or_default();
        self.builder.span = span;
        let (number, inside) = self.builder.begin_loop(&firsts);
        for ((name, of_edges), node) in states.iter().zip(&inside) {
            self.builder.gir.nodes[node.index()].name =
                Some(if *of_edges { format!("e.{name}") } else { name.clone() });
            match *of_edges {
                true => {
                    self.edge_columns.entry(name.clone()).and_modify(|column| column.node = *node)
                }
                false => {
                    self.columns
                        .entry(name.clone())
                        .and_modify(|column| column.value = Value::Node(*node));
                    continue;
                }
            };
        }
        self.repeating = Some(Repeating {
            scope: self.scopes.len() - 1,
            before: names.keys().cloned().collect(),
        });
        Ok(LoopEntry { columns, edge_columns, names, states, inside, number })
    }

    /// The same row for each edge, of place E even if it was S.
    fn spread_to_edges(&mut self, span: Span, node: NodeId) -> TraceResult<NodeId> {
        use warploom_ir::{Binary, Input, Op, Place};
        if !matches!(self.place(node), Place::S(_)) {
            return Ok(node);
        }
        let id = self.make(span, |builder| builder.make(Op::Input(Input::Id), &[]))?;
        let holds =
            self.make(span, |builder| builder.make(Op::Binary(Binary::Equal), &[id, id]))?;
        let holds = self.make(span, |builder| builder.make(Op::Near(EdgeSet::IN), &[holds]))?;
        self.make(span, |builder| builder.make(Op::Select, &[holds, node, node]))
    }

    fn next_states(&mut self, span: Span, before: &LoopEntry) -> TraceResult<Vec<NodeId>> {
        let mut next = Vec::new();
        for (position, (name, of_edges)) in before.states.iter().enumerate() {
            let kind = self.kind(before.inside[position]);
            if *of_edges {
                let Some(column) = self.edge_columns.get(name).cloned() else { continue };
                let mut node =
                    self.spread_to_edges(self.written[column.written].span, column.node)?;
                if kind == Type::Real {
                    node = self.make(span, |builder| builder.cast(Type::Real, node))?;
                }
                next.push(node);
                continue;
            }
            let Some(column) = self.columns.get(name).cloned() else { continue };
            let at = self.written[column.written].span;
            let made = self.as_state(at, &column.value, Some(kind))?;
            let (first, now) =
                (self.builder.node(before.inside[position]), self.builder.node(made));
            if (first.place, first.kind, &first.shape) != (now.place, now.kind, &now.shape) {
                return Err(self.misshapen(
                    at,
                    name,
                    before.inside[position],
                    made,
                    &before.columns,
                ));
            }
            next.push(made);
        }
        Ok(next)
    }

    fn misshapen(
        &self,
        at: Span,
        name: &str,
        first: NodeId,
        next: NodeId,
        columns: &BTreeMap<String, Column>,
    ) -> Box<Diagnostic> {
        let label = format!(
            "expected {} as before the loop, found {}",
            self.builder.describe(first),
            self.builder.describe(next)
        );
        let hint = match (self.kind(first), self.kind(next)) {
            (Type::Int, Type::Real) => match columns.get(name).map(|column| &column.value) {
                Some(Value::Int(number)) => {
                    format!("start with a real number:  v.{name} = {number}.0")
                }
                _ => format!("start with real numbers:  v.{name} = float(...)"),
            },
            _ => "inside `while` type and shape stay as they were before it".to_owned(),
        };
        let started = columns.get(name).map(|column| self.written[column.written].span);
        Box::new(
            Diagnostic::error(
                at,
                format!("`v.{name}` changes its type or shape in the loop"),
                label,
            )
            .note("its first value", started)
            .hint(hint),
        )
    }

    fn until(
        &mut self,
        span: Span,
        tested: &Condition<'a>,
        before: &LoopEntry,
        next: &[NodeId],
    ) -> TraceResult<StopTest> {
        let position = |name: &str| {
            before.states.iter().position(|(state, of_edges)| state == name && !of_edges)
        };
        let still = |at: usize| next.get(at) == before.inside.get(at);
        let unchanged = |name: &str, span: Span| {
            let found = Diagnostic::error(
                span,
                format!("no pass changes `v.{name}`"),
                "the loop assigns it to itself",
            );
            Err(Box::new(found.hint(format!("assign something else in the loop:  v.{name} = ..."))))
        };
        match tested {
            Condition::Changed(columns) => {
                let mut positions = Vec::new();
                for (name, span) in columns {
                    let Some(at) = position(name) else { continue };
                    if still(at) {
                        return unchanged(name, *span);
                    }
                    positions.push(at);
                }
                Ok(StopTest::Unchanged(positions))
            }
            Condition::Change((name, span), bound) => {
                let at = position(name).unwrap_or_default();
                if still(at) {
                    return unchanged(name, *span);
                }
                if !matches!(self.kind(next[at]), Type::Real | Type::Int) {
                    let label =
                        format!("expected numbers, found {}", self.builder.describe(next[at]));
                    return Err(Box::new(
                        Diagnostic::error(*span, "a change is summed", label).hint(format!(
                            "to repeat until nothing changes:  while changed(v.{name})"
                        )),
                    ));
                }
                Ok(StopTest::ChangeAtMost(at, *bound))
            }
            Condition::Active(condition) => self.until_inactive(span, condition, before.number),
        }
    }

    fn until_inactive(
        &mut self,
        span: Span,
        condition: &'a Expression,
        number: usize,
    ) -> TraceResult<StopTest> {
        let value = self.expression(condition)?;
        let node = self.node(condition.span, &value)?;
        if self.kind(node) != Type::Bool {
            let label =
                format!("expected a bool for each vertex, found {}", self.builder.describe(node));
            return Err(Box::new(
                Diagnostic::error(condition.span, "`active` needs a condition", label)
                    .hint("compare something:  active(v.a > 0)"),
            ));
        }
        if self.builder.node(node).region != Some(number) {
            let found = Diagnostic::error(
                condition.span,
                "no pass changes this condition",
                "expected a column that the loop assigns",
            );
            return Err(Box::new(found.hint("test what the loop assigns")));
        }
        if self.builder.node(node).columns() != 1 {
            let label =
                format!("expected one bool for each vertex, found {}", self.builder.describe(node));
            return Err(Box::new(
                Diagnostic::error(condition.span, "`active` needs a condition", label)
                    .hint("reduce the row first, as in  sum(v.a, axis=0) > 0"),
            ));
        }
        self.make(span, |builder| builder.broadcast_to_vertices(node)).map(StopTest::Nowhere)
    }

    fn end_while(
        &mut self,
        span: Span,
        before: LoopEntry,
        next: &[NodeId],
        until: StopTest,
    ) -> TraceResult<()> {
        if next == before.inside.as_slice() {
            let found = Diagnostic::error(
                span,
                "no pass of this loop changes anything",
                "the body assigns each column to itself",
            );
            return Err(Box::new(found.hint("assign something else in the loop")));
        }
        self.builder.span = span;
        let ended = self
            .builder
            .end_loop(before.number, next, until)
            .map_err(|misfit| unfit(span, misfit))?;
        let made = std::mem::replace(&mut self.columns, before.columns);
        for (name, column) in made {
            match self.columns.get_mut(&name) {
                Some(kept) => kept.written = column.written,
                None => {
                    self.lost.insert(format!("v.{name}"), self.written[column.written].span);
                }
            }
        }
        let made = std::mem::replace(&mut self.edge_columns, before.edge_columns);
        for (name, column) in made {
            match self.edge_columns.get_mut(&name) {
                Some(kept) => *kept = EdgeColumn { node: kept.node, ..column },
                None => {
                    self.lost.insert(format!("e.{name}"), self.written[column.written].span);
                }
            }
        }
        for ((name, of_edges), node) in before.states.iter().zip(&ended) {
            self.builder.gir.nodes[node.index()].name =
                Some(if *of_edges { format!("e.{name}") } else { name.clone() });
            if let (true, Some(column)) = (*of_edges, self.edge_columns.get_mut(name)) {
                column.node = *node;
            }
            if let (false, Some(column)) = (*of_edges, self.columns.get_mut(name)) {
                column.value = Value::Node(*node);
            }
        }
        if let Some(scope) = self.scopes.last_mut() {
            let made = std::mem::replace(&mut scope.names, before.names);
            for (name, local) in made {
                if let (false, Some(written)) = (scope.names.contains_key(&name), local.written) {
                    self.lost.insert(name, self.written[written].span);
                }
            }
        }
        Ok(())
    }
}

fn name_of(expression: &Expression) -> Option<&str> {
    if let ExpressionKind::Name(name) = &expression.kind { Some(name) } else { None }
}

/// Finds the columns that a body may assign, including branches not taken: a column that no pass
/// changes is a harmless state.
fn assigned_in(file: &File, body: &[Statement]) -> Assigned {
    let mut search = Search {
        file,
        found: Assigned::default(),
        visited: BTreeSet::new(),
        edges: Vec::new(),
        level: 0,
    };
    search.block(body);
    search.found
}

struct Search<'a> {
    file: &'a File,
    found: Assigned,
    visited: BTreeSet<String>,
    /// Loop variables over edges, through which edge columns are assigned.
    edges: Vec<String>,
    level: usize,
}

impl<'a> Search<'a> {
    fn block(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(targets, value) => {
                    targets.iter().for_each(|target| self.target(target));
                    self.expression(value);
                }
                StatementKind::Augment(target, _, value) => {
                    self.target(target);
                    self.expression(value);
                }
                StatementKind::If(branches, otherwise) => {
                    for (condition, body) in branches {
                        self.expression(condition);
                        self.block(body);
                    }
                    self.block(otherwise);
                }
                StatementKind::For(target, over, body) => {
                    let depth = self.edges.len();
                    self.names(target);
                    self.expression(over);
                    self.block(body);
                    self.edges.truncate(depth);
                }
                StatementKind::While(condition, body) => {
                    self.expression(condition);
                    self.block(body);
                }
                StatementKind::Return(Some(value)) | StatementKind::Do(value) => {
                    self.expression(value)
                }
                StatementKind::Return(None) | StatementKind::Pass => {}
            }
        }
    }

    fn names(&mut self, target: &Expression) {
        match &target.kind {
            ExpressionKind::Name(name) => self.edges.push(name.clone()),
            ExpressionKind::Tuple(targets) => targets.iter().for_each(|target| self.names(target)),
            _ => {}
        }
    }

    fn target(&mut self, target: &Expression) {
        match &target.kind {
            ExpressionKind::Attribute(base, name) => {
                let of_edges =
                    name_of(base).is_some_and(|base| self.edges.iter().any(|edge| edge == base));
                let columns =
                    if of_edges { &mut self.found.edge_columns } else { &mut self.found.columns };
                columns.insert(name.text.clone());
            }
            ExpressionKind::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
            _ => {}
        }
    }

    /// Code that is nested too deeply to be traced need not be searched either.
    fn expression(&mut self, expression: &'a Expression) {
        if self.level <= 2 * super::LEVELS_MOST {
            self.level += 1;
            self.parts(expression);
            self.level -= 1;
        }
    }

    fn parts(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Call(function, arguments, named) => {
                if let Some(name) = name_of(function)
                    && let Some(called) = self.file.function(name)
                    && self.visited.insert(name.to_owned())
                {
                    let edges = std::mem::take(&mut self.edges);
                    self.block(&called.body);
                    self.edges = edges;
                }
                arguments.iter().for_each(|argument| self.expression(argument));
                named.iter().for_each(|(_, argument)| self.expression(argument));
            }
            ExpressionKind::Tuple(parts) | ExpressionKind::Logical(_, parts) => {
                parts.iter().for_each(|part| self.expression(part))
            }
            ExpressionKind::Attribute(base, _) => self.expression(base),
            ExpressionKind::Unary(_, part) => self.expression(part),
            ExpressionKind::Index(first, second) | ExpressionKind::Binary(_, first, second) => {
                self.expression(first);
                self.expression(second);
            }
            ExpressionKind::Compare(first, others) => {
                self.expression(first);
                others.iter().for_each(|(_, other)| self.expression(other));
            }
            ExpressionKind::Choice(yes, condition, no) => {
                [yes, condition, no].into_iter().for_each(|part| self.expression(part))
            }
            ExpressionKind::Comprehension(comprehension) => {
                let Comprehension { element, over, conditions, .. } = &**comprehension;
                self.expression(element);
                self.expression(over);
                conditions.iter().for_each(|condition| self.expression(condition));
            }
            _ => {}
        }
    }
}
