//! work: what a launch moves and computes, told apart by what limits it: rows gathered at random,
//! bytes in a row, arithmetic.
//!
//! promises  the bytes are those of `bytes`; gathers are a part of them, which `bytes` counts by
//!           what is found here; sums saturate
//! never     knows a rate or a device
use std::collections::BTreeMap;

use super::bytes::{nonzeros, whole, width};
use super::{Buffer, Direction, Launch, LaunchList, Operand, Operation, Over, Rows, View};
use crate::facts::Facts;
use crate::gir::Op;

/// What a launch moves and computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes in all.
    pub bytes: u64,
    /// Rows that are read wherever edges point.
    pub gathers: Vec<Gathered>,
    /// Additions and multiplications of products.
    pub flops: u64,
}

/// Rows of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// How often a row is read.
    pub count: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Bytes of the table.
    pub table_bytes: u64,
}

/// What one walk of a launch over its rows reads of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Bytes of its rows, each read once.
    pub in_order: u64,
    /// Bytes of its rows, read as edges come by.
    pub by_edges: u64,
}

impl Gathered {
    /// Bytes that are read.
    pub fn bytes(self) -> u64 {
        self.count.saturating_mul(self.row_bytes)
    }
}

impl LaunchList {
    /// What a launch of this list moves and computes.
    pub fn work(&self, launch: &Launch, facts: &Facts) -> Work {
        let index = self.index();
        let looked = Look { index: &index, facts };
        let operation = &launch.operation;
        let gathers = match operation {
            Operation::NeighbourReduce { source: Some(source), direction, .. } => looked
                .rows(source, facts.edges.saturating_mul(passes(*direction)))
                .into_iter()
                .collect(),
            Operation::SparseProduct { left, right, .. } => looked.rows_of_weight(left, right),
            Operation::SparseProductOverRows { left, right, .. } => {
                looked.rows(left, looked.entries(right)).into_iter().collect()
            }
            Operation::Evaluate { inputs, .. } => unnamed(looked.seen(inputs.iter(), None)),
            Operation::Fused { over, steps, .. } => unnamed(looked.seen_by_steps(*over, steps)),
            _ => Vec::new(),
        };
        let flops =
            operation.steps().iter().fold(0u64, |sum, step| sum.saturating_add(looked.flops(step)));
        Work { bytes: launch.bytes, gathers, flops }
    }
}

impl LaunchList {
    /// What a compiled launch of this list reads of a buffer.
    pub fn seen(&self, launch: &Launch, name: &str, facts: &Facts) -> Seen {
        let index = self.index();
        let looked = Look { index: &index, facts };
        let operation = &launch.operation;
        let over = if let Operation::Fused { over, .. } = operation { Some(*over) } else { None };
        let inputs = || {
            operation.steps().iter().flat_map(|step| {
                if let Operation::Evaluate { inputs, .. } = step { inputs.as_slice() } else { &[] }
            })
        };
        let gathered = match over {
            Some(over) => looked.seen_by_steps(over, operation.steps()),
            None => looked.seen(inputs(), None),
        };
        let by_edges = gathered
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, gathered)| gathered.bytes())
            .fold(0, u64::saturating_add);
        let is_own =
            |rows: &&super::Rowed| rows.buffer == name && !matches!(rows.view, View::Far(_));
        let is_read = inputs().flat_map(Operand::rows).any(|rows| is_own(&rows))
            || (by_edges == 0 && operation.reads().iter().any(|read| read == name));
        let in_order =
            if is_read { index.get(name).map_or(0, |buffer| whole(buffer, facts)) } else { 0 };
        Seen { in_order, by_edges }
    }
}

fn passes(direction: Direction) -> u64 {
    if direction == Direction::Both { 2 } else { 1 }
}

fn unnamed(gathers: Vec<(&str, Gathered)>) -> Vec<Gathered> {
    gathers.into_iter().map(|(_, gathered)| gathered).collect()
}

/// Finds what is gathered, for a launch's work and for its bytes.
pub(super) struct Look<'a> {
    pub(super) index: &'a BTreeMap<&'a str, &'a Buffer>,
    pub(super) facts: &'a Facts,
}

impl Look<'_> {
    /// Rows of a buffer, read so often; nothing of what no buffer holds.
    fn rows(&self, name: &str, count: u64) -> Option<Gathered> {
        let buffer = self.index.get(name)?;
        let row_bytes = buffer.columns.saturating_mul(width(buffer.element, self.facts));
        Some(Gathered { count, row_bytes, table_bytes: whole(buffer, self.facts) })
    }

    fn entries(&self, features: &str) -> u64 {
        self.index.get(features).map_or(0, |buffer| nonzeros(buffer, self.facts))
    }

    /// A weight is `[out, in]`: what a nonzero reads of it is a column.
    fn rows_of_weight(&self, features: &str, weight: &str) -> Vec<Gathered> {
        let Some(buffer) = self.index.get(weight) else { return Vec::new() };
        let row_bytes =
            self.facts.count(buffer.rows).saturating_mul(width(buffer.element, self.facts));
        vec![Gathered {
            count: self.entries(features),
            row_bytes,
            table_bytes: whole(buffer, self.facts),
        }]
    }

    /// What edges see of other vertices, each table and view once: by each edge of the view, or so
    /// often.
    fn seen<'rows>(
        &self,
        inputs: impl Iterator<Item = &'rows Operand>,
        count: Option<u64>,
    ) -> Vec<(&'rows str, Gathered)> {
        let mut known: Vec<(&str, View)> = Vec::new();
        for rows in inputs.flat_map(Operand::rows).filter(|rows| matches!(rows.view, View::Far(_)))
        {
            if !known.contains(&(rows.buffer.as_str(), rows.view)) {
                known.push((rows.buffer.as_str(), rows.view));
            }
        }
        let of_view = |view: View| {
            view.edges().map_or(0, |seen| self.facts.edges.saturating_mul(passes(seen.direction)))
        };
        known
            .into_iter()
            .filter_map(|(name, view)| {
                Some((name, self.rows(name, count.unwrap_or_else(|| of_view(view)))?))
            })
            .collect()
    }

    /// What the steps of one walk see of other vertices, together.
    pub(super) fn seen_by_steps<'rows>(
        &self,
        over: Over,
        steps: &'rows [Operation],
    ) -> Vec<(&'rows str, Gathered)> {
        let inputs = steps.iter().flat_map(|step| {
            if let Operation::Evaluate { inputs, .. } = step { inputs.as_slice() } else { &[] }
        });
        self.seen(inputs, Some(self.walked(over)))
    }

    /// How many edges a walk comes by.
    pub(super) fn walked(&self, over: Over) -> u64 {
        match over {
            Over::Vertices => 0,
            Over::EdgesOf(direction) => self.facts.edges.saturating_mul(passes(direction)),
            Over::Edges(rows) => self.facts.count(rows),
        }
    }

    fn flops(&self, operation: &Operation) -> u64 {
        let buffer = |name: &str| self.index.get(name).copied();
        let size = |name: &str| {
            buffer(name)
                .map_or(0, |buffer| self.facts.count(buffer.rows).saturating_mul(buffer.columns))
        };
        let columns = |name: &str| buffer(name).map_or(0, |buffer| buffer.columns);
        let twice = |first: u64, second: u64| first.saturating_mul(second).saturating_mul(2);
        match operation {
            Operation::Product { out, left, .. } => twice(size(out), columns(left)),
            Operation::ProductOverRows { left, right, .. } => twice(size(left), columns(right)),
            Operation::SparseProduct { out, left, .. } => twice(self.entries(left), columns(out)),
            Operation::SparseProductOverRows { left, right, .. } => {
                twice(self.entries(right), columns(left))
            }
            Operation::Evaluate { out, shape, op: Op::Product { .. }, inputs, .. } => {
                let inner =
                    inputs.first().and_then(|left| left.shape().last().copied()).unwrap_or(1);
                let rows = buffer(out).map_or(self.facts.nodes, |buffer| {
                    if let Rows::Fixed(_) = buffer.rows { 1 } else { self.facts.count(buffer.rows) }
                });
                twice(rows.saturating_mul(shape.iter().product()), inner)
            }
            Operation::Evaluate { op: Op::Outer, inputs, .. } => {
                // What only a walk knows is rows of its vertices.
                let local = |rows: &super::Rowed| {
                    self.facts.nodes.saturating_mul(rows.shape.iter().product())
                };
                let size = |rows: &super::Rowed| {
                    if buffer(&rows.buffer).is_some() { size(&rows.buffer) } else { local(rows) }
                };
                let rows =
                    inputs.first().into_iter().flat_map(Operand::rows).map(size).max().unwrap_or(0);
                twice(
                    rows,
                    inputs.get(1).and_then(|right| right.shape().last().copied()).unwrap_or(1),
                )
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
