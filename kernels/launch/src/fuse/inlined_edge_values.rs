//! inlined_edge_values: which edge values are computed where they are read, and what a launch reads
//! then.
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Body, Buffer, BufferName, Element, GraphFacts, Launch, LaunchList, Operand, Operation, Role,
    Rowed, Rows, StopCondition, View, is_row_wise, is_total, reduced,
};
use warploom_ir::{Binary, Op};
use warploom_tuning as tuning;

/// The parts of a list within which launches may be fused, in order.
pub(super) fn parts(list: &LaunchList) -> Vec<&[Launch]> {
    match &list.body {
        Body::Train(train) => vec![&train.prepare, &train.forward, &train.backward],
        Body::Iterate(iterate) => {
            let loops = iterate
                .loops
                .iter()
                .flat_map(|repeated| [repeated.prepare.as_slice(), &repeated.superstep]);
            loops.chain([iterate.finish.as_slice()]).collect()
        }
    }
}

/// What is known of the values of a list.
pub(super) struct ListValues<'a> {
    pub facts: &'a GraphFacts,
    buffers: BTreeMap<&'a str, &'a Buffer>,
    /// Values that must be materialised, whoever reads them.
    kept: BTreeSet<BufferName>,
    edges: BTreeMap<&'a str, EdgeValue<'a>>,
    /// The last part that reads each buffer.
    last: BTreeMap<BufferName, usize>,
    is_training: bool,
}

/// An edge value that could be computed where it is read.
struct EdgeValue<'a> {
    operation: &'a Operation,
    /// Position among all launches.
    order: usize,
    part: usize,
    stored: bool,
}

/// How a launch can be fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FusionKind {
    /// A row operation on vertices, or a reduction over edges to them.
    Vertex,
    /// A sum over all vertices.
    Total,
    /// A row operation on stored edge rows.
    Edge(Rows),
    /// Not at all.
    Other,
}

/// A product of two values of the same vertex that need not be materialised itself, and all its
/// readers, in the same part of the list.
pub(super) struct InlinedProduct<'l> {
    pub out: &'l BufferName,
    pub shape: &'l [u64],
    pub factors: [&'l Rowed; 2],
    pub readers: Vec<&'l Launch>,
}

/// The inputs of a launch if edge values are computed where they are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// Edge values to compute, in order.
    pub steps: Vec<BufferName>,
    /// Input buffers, and the view that each is read through.
    pub leaves: Vec<(BufferName, View)>,
}

impl<'a> ListValues<'a> {
    pub fn new(list: &'a LaunchList, facts: &'a GraphFacts) -> Self {
        let mut values = ListValues {
            facts,
            buffers: list.index(),
            kept: kept_buffers(list),
            edges: BTreeMap::new(),
            last: BTreeMap::new(),
            is_training: matches!(list.body, Body::Train(_)),
        };
        let all: Vec<(usize, &Launch)> = parts(list)
            .iter()
            .enumerate()
            .flat_map(|(part, launches)| launches.iter().map(move |launch| (part, launch)))
            .collect();
        for (order, (part, launch)) in all.iter().enumerate() {
            if let (FusionKind::Edge(_), Operation::Evaluate { out, .. }) =
                (values.kind(&launch.operation), &launch.operation)
            {
                values.edges.insert(
                    out,
                    EdgeValue {
                        operation: &launch.operation,
                        order,
                        part: *part,
                        stored: values.kept.contains(out),
                    },
                );
            }
        }
        for (part, launch) in &all {
            for name in launch.operation.reads() {
                values.last.insert(name.into_owned(), *part);
            }
        }
        let (is_training, others) = (values.is_training, list.launches());
        for (part, launch) in &all {
            let makes_it_again = values.makes_again(&launch.operation);
            for name in launch.operation.reads() {
                // The backward part recomputes edge values of the forward part; all others that
                // outlive their part are stored.
                let crosses =
                    |value: &EdgeValue| value.part != *part && !(is_training && value.part > 0);
                if let Some(value) = values.edges.get_mut(&*name) {
                    value.stored |= !makes_it_again || crosses(value);
                }
            }
        }
        for launch in
            others.iter().filter(|launch| matches!(launch.operation, Operation::Loss { .. }))
        {
            for name in launch.operation.reads() {
                if let Some(value) = values.edges.get_mut(&*name) {
                    value.stored = true;
                }
            }
        }
        values
    }

    /// The product that a launch is, if it is such a one; `here` is its part among all launches.
    pub fn product<'l>(
        &self,
        all: &[&Launch],
        here: &'l [Launch],
        launch: &'l Launch,
    ) -> Option<InlinedProduct<'l>> {
        let Operation::Evaluate { out, shape, op: Op::Binary(Binary::Multiply), inputs } =
            &launch.operation
        else {
            return None;
        };
        let [Operand::Rows(first), Operand::Rows(second)] = inputs.as_slice() else { return None };
        let is_plain =
            first.view == View::Own && second.view == View::Own && first.buffer != second.buffer;
        if !is_plain || self.kind(&launch.operation) != FusionKind::Vertex || self.is_kept(out) {
            return None;
        }
        let reads = |launch: &Launch| launch.operation.reads().iter().any(|read| read == out);
        let readers: Vec<&Launch> = here.iter().filter(|launch| reads(launch)).collect();
        // A value that another part reads stays materialised.
        let is_apart = all.iter().filter(|launch| reads(launch)).count() > readers.len();
        (!readers.is_empty() && !is_apart).then_some(InlinedProduct {
            out,
            shape,
            factors: [first, second],
            readers,
        })
    }

    /// Whether a launch could compute the edge values that it reads.
    fn makes_again(&self, operation: &Operation) -> bool {
        let Operation::Evaluate { op, .. } = operation else { return false };
        match self.kind(operation) {
            FusionKind::Vertex => reduced(op).is_some(),
            FusionKind::Edge(_) => true,
            FusionKind::Total | FusionKind::Other => false,
        }
    }

    pub fn buffer(&self, name: &str) -> Option<&'a Buffer> {
        self.buffers.get(name).copied()
    }

    pub fn is_kept(&self, name: &str) -> bool {
        self.kept.contains(name)
    }

    /// Whether a later part reads this.
    pub fn is_read_after(&self, name: &str, part: usize) -> bool {
        self.last.get(name).is_some_and(|last| *last > part)
    }

    /// Whether a value is stored; all but edge values are.
    pub fn is_stored(&self, name: &str) -> bool {
        self.edges.get(name).is_none_or(|value| value.stored)
    }

    /// The launch that computes an edge value.
    pub fn edge_operation(&self, name: &str) -> Option<&'a Operation> {
        self.edges.get(name).map(|value| value.operation)
    }

    pub fn kind(&self, operation: &Operation) -> FusionKind {
        let Operation::Evaluate { out, op, inputs, .. } = operation else {
            return FusionKind::Other;
        };
        let Some(made) = self.buffers.get(out.as_str()) else { return FusionKind::Other };
        let rows_read = |wanted: &dyn Fn(Rows) -> bool| {
            inputs.iter().flat_map(Operand::rows).any(|rows| {
                rows.view == View::Own
                    && self.buffers.get(rows.buffer.as_str()).is_some_and(|held| wanted(held.rows))
            })
        };
        // Lanes hold a row, and sums over many rows take many blocks: a kernel of its own.
        let is_total = |op: &Op| is_total(op) && !self.facts.lanes;
        let of_nodes = |rows: &Rowed| {
            rows.view == View::Own
                && self
                    .buffers
                    .get(rows.buffer.as_str())
                    .is_some_and(|held| held.rows == Rows::Nodes)
        };
        match made.rows {
            // Loops end with totals of few columns, which are not fused.
            Rows::Fixed(_) if self.is_training && is_total(op) && made.element == Element::Real => {
                if inputs
                    .iter()
                    .all(|input| !input.rows().is_empty() && input.rows().into_iter().all(of_nodes))
                {
                    FusionKind::Total
                } else {
                    FusionKind::Other
                }
            }
            Rows::Nodes if is_row_wise(op) || reduced(op).is_some() => FusionKind::Vertex,
            // A product of edge values has many rows and a small matrix: a launch of its own.
            Rows::Edges | Rows::EdgesTwice if matches!(op, Op::Product { .. }) => FusionKind::Other,
            Rows::Edges | Rows::EdgesTwice
                if is_row_wise(op) && !rows_read(&|rows| matches!(rows, Rows::Graphs(_))) =>
            {
                FusionKind::Edge(made.rows)
            }
            _ => FusionKind::Other,
        }
    }

    /// The inputs of a launch, its own and those of the edge values that it computes.
    pub fn reading(&self, operation: &Operation, part: usize) -> Reading {
        let mut reading = Reading::default();
        let mut steps: BTreeSet<(usize, &str)> = BTreeSet::new();
        let mut waiting = vec![operation];
        let makes_again = self.makes_again(operation);
        while let Some(operation) = waiting.pop() {
            let Operation::Evaluate { inputs, .. } = operation else {
                reading.leaves.extend(
                    operation.reads().into_iter().map(|name| (name.into_owned(), View::Own)),
                );
                continue;
            };
            for rows in inputs.iter().flat_map(Operand::rows) {
                match self
                    .edges
                    .get_key_value(rows.buffer.as_str())
                    .filter(|(name, _)| makes_again && self.is_made_again(name, part))
                {
                    Some((name, value)) if steps.insert((value.order, name)) => {
                        waiting.push(value.operation)
                    }
                    Some(_) => {}
                    None => reading.leaves.push((rows.buffer.clone(), rows.view)),
                }
            }
        }
        reading.steps = steps.into_iter().map(|(_, name)| name.to_owned()).collect();
        reading
    }

    /// Whether an edge value is recomputed where this part reads it.
    fn is_made_again(&self, name: &str, part: usize) -> bool {
        let Some(value) = self.edges.get(name) else { return false };
        let is_wide = self
            .buffers
            .get(name)
            .is_some_and(|buffer| buffer.columns > tuning::edge_value_columns());
        !value.stored || (is_wide && value.part == part && !self.kept.contains(name))
    }
}

/// Buffers that are read after their part, by name.
fn kept_buffers(list: &LaunchList) -> BTreeSet<BufferName> {
    let mut kept: BTreeSet<BufferName> =
        list.results.iter().map(|result| result.buffer.clone()).collect();
    match &list.body {
        Body::Train(train) => {
            kept.extend(
                train
                    .loss
                    .operation
                    .reads()
                    .into_iter()
                    .chain(train.loss.operation.writes())
                    .map(std::borrow::Cow::into_owned),
            );
            kept.extend(
                train
                    .statistics
                    .iter()
                    .flat_map(|commit| [commit.state.clone(), commit.next.clone()]),
            );
        }
        Body::Iterate(iterate) => {
            for repeated in &iterate.loops {
                kept.extend(
                    repeated
                        .commit
                        .iter()
                        .flat_map(|commit| [commit.state.clone(), commit.next.clone()]),
                );
                if let StopCondition::Nowhere(name) = &repeated.until {
                    kept.insert(name.clone());
                }
            }
        }
    }
    kept.extend(
        list.buffers
            .iter()
            .filter(|buffer| buffer.role != Role::Value)
            .map(|buffer| buffer.name.clone()),
    );
    kept
}
