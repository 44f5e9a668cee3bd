//! names: the names of learned tensors, `<entry>.<def>.<i>.<kind>.<j>`.
//!
//! promises  i counts the calls of that function, j that kind within that call, both from 0 and
//!           after unrolling; in a loop over relations, or over kinds of vertices, both are those
//!           of its first pass, followed by the relation's name, so that relations can be added
//!           without renaming (`labels` sanitises names); `name=` replaces `<kind>.<j>`; duplicate
//!           names are an error
use std::collections::HashMap;

use super::tracer::{Body, TraceResult, Tracer};
use super::value::Value;
use crate::syntax::Diagnostic;
use warploom_ir::Span;

/// Counts before the first pass of a loop over relations, and the largest ones since.
pub(super) struct NameCounts {
    kinds: HashMap<String, usize>,
    calls: HashMap<String, usize>,
    most_kinds: HashMap<String, usize>,
    most_calls: HashMap<String, usize>,
}

impl Tracer<'_> {
    /// Enters a function.
    pub fn begin_body(&mut self, function: &str) {
        let count = self.calls.entry(function.to_owned()).or_insert(0);
        let mut prefix = format!("{}.{function}.{count}", self.entry_name);
        *count += 1;
        for relation in self.bodies.last().map_or(&[][..], |body| &body.relations) {
            prefix = format!("{prefix}.{relation}");
        }
        self.bodies.push(Body {
            function: function.to_owned(),
            prefix,
            kinds: HashMap::new(),
            relations: Vec::new(),
        });
    }

    pub fn end_body(&mut self) {
        self.bodies.pop();
    }

    /// The name of the next learned tensor of this kind.
    pub fn next_name(
        &mut self,
        span: Span,
        kind: &str,
        given: Option<&str>,
    ) -> TraceResult<String> {
        let Some(body) = self.bodies.last_mut() else {
            return Err(Box::new(Diagnostic::error(
                span,
                format!("`{kind}` outside of a function"),
                "expected inside a `def`",
            )));
        };
        let count = body.kinds.entry(kind.to_owned()).or_insert(0);
        let own = given.map_or_else(|| format!("{kind}.{count}"), str::to_owned);
        if given.is_none() {
            *count += 1;
        }
        let parts: Vec<&str> = [body.prefix.as_str(), own.as_str()]
            .into_iter()
            .chain(body.relations.iter().map(String::as_str))
            .collect();
        Ok(parts.join("."))
    }

    /// Declares the name of a tensor; a duplicate is an error.
    pub fn declare(&mut self, span: Span, name: &str) -> TraceResult<()> {
        if let Some(before) = self.declared.insert(name.to_owned(), span) {
            let found = Diagnostic::error(
                span,
                format!("two parameters are called `{name}`"),
                "made again",
            )
            .note("first made", Some(before));
            return Err(Box::new(found.hint("give each its own  name=\"...\"")));
        }
        Ok(())
    }

    /// Enters a loop over these values, if they are relations or kinds of vertices.
    pub fn begin_relations(&mut self, values: &[Value]) -> Option<NameCounts> {
        let all = |passes: fn(&Value) -> bool| !values.is_empty() && values.iter().all(passes);
        let relations = all(|value| matches!(value, Value::Relation(_)))
            || all(|value| matches!(value, Value::Kind(_)));
        let body = self.bodies.last().filter(|_| relations)?;
        let (kinds, calls) = (body.kinds.clone(), self.calls.clone());
        Some(NameCounts { most_kinds: kinds.clone(), most_calls: calls.clone(), kinds, calls })
    }

    /// Enters a pass.
    pub fn begin_relation(&mut self, counts: Option<&NameCounts>, value: &Value) {
        let label = match value {
            Value::Relation(number) => self.relation_labels.get(*number as usize),
            Value::Kind(number) => self.kind_labels.get(*number as usize),
            _ => None,
        };
        let (Some(counts), Some(name)) = (counts, label.cloned()) else { return };
        self.calls.clone_from(&counts.calls);
        if let Some(body) = self.bodies.last_mut() {
            body.kinds.clone_from(&counts.kinds);
            body.relations.push(name);
        }
    }

    /// Leaves a pass; after the last, counting continues from the largest count of all passes.
    pub fn end_relation(&mut self, counts: Option<&mut NameCounts>) {
        let Some(counts) = counts else { return };
        let raise = |most: &mut HashMap<String, usize>, now: &mut HashMap<String, usize>| {
            for (name, count) in now.iter() {
                let largest = most.entry(name.clone()).or_insert(0);
                *largest = (*largest).max(*count);
            }
            now.clone_from(most);
        };
        raise(&mut counts.most_calls, &mut self.calls);
        if let Some(body) = self.bodies.last_mut() {
            raise(&mut counts.most_kinds, &mut body.kinds);
            body.relations.pop();
        }
    }
}
