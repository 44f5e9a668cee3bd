//! rematerialize: recomputes rows where they are read, if their inputs are read there anyway.
//!
//! promises  the same operations on the same rows, so the same bits; only parameters are read
//!           instead; only backward launches over vertex rows recompute
//! never     recomputes random numbers, or more than a few operations per element
//!
//! For example, the backward pass of an attention layer reads both the hidden rows and the weighted
//! sums that they are computed from.
use std::collections::{BTreeMap, BTreeSet};

use super::fusion_groups::renamed;
use crate::{
    Body, Buffer, Element, Launch, LaunchList, Operand, Operation, Over, Role, Rowed, Rows, View,
    name_of_again,
};
use warploom_ir::Op;
use warploom_tuning as tuning;

/// Recomputes rows where that reads less; `buffers` are those of the list before fusion.
pub(super) fn make_again(list: &mut LaunchList, buffers: &BTreeMap<&str, &Buffer>) {
    let Body::Train(train) = &mut list.body else { return };
    let steps_of = |launch: &Launch| match &launch.operation {
        Operation::Fused { steps, .. } => steps.clone(),
        operation => vec![operation.clone()],
    };
    let made: Vec<Operation> = train.forward.iter().flat_map(steps_of).collect();
    let makers: BTreeMap<&str, &Operation> = made
        .iter()
        .filter_map(|step| match step {
            Operation::Evaluate { out, .. } => Some((out.as_str(), step)),
            _ => None,
        })
        .collect();
    for launch in &mut train.backward {
        let Operation::Fused { over: Over::Vertices, locals, steps } = &mut launch.operation else {
            continue;
        };
        for name in read_of_vertices(steps, buffers) {
            let read = read_of_vertices(steps, buffers)
                .into_iter()
                .filter(|other| *other != name)
                .collect();
            // Rows recomputed for other readers are available.
            let there: BTreeSet<String> = buffers
                .keys()
                .filter(|name| locals.iter().any(|local| local.name == name_of_again(name)))
                .map(|name| (*name).to_owned())
                .collect();
            let read = &(&there | &read);
            let mut again = Vec::new();
            if !remake(&name, Known { makers: &makers, buffers, read }, &mut again)
                || again.is_empty()
                || again.len() > tuning::recomputed_steps()
            {
                continue;
            }
            let made: BTreeSet<String> = again
                .iter()
                .flat_map(Operation::writes)
                .map(std::borrow::Cow::into_owned)
                .collect();
            let names = &made | &there;
            let named = |name: &str| {
                if names.contains(name) { name_of_again(name) } else { name.to_owned() }
            };
            let anew = |steps: &[Operation]| {
                steps.iter().map(|step| renamed(step, &named, &named)).collect::<Vec<_>>()
            };
            // After the product, and its inputs.
            let start = steps.iter().rposition(|step| {
                is_product(step)
                    || step
                        .writes()
                        .iter()
                        .any(|made| there.iter().any(|name| **made == name_of_again(name)))
            });
            let (first, later) = steps.split_at(start.map_or(0, |last| last + 1));
            *steps = [first.to_vec(), anew(&again), anew(later)].concat();
            let of_names = made.iter().filter_map(|name| buffers.get(name.as_str()));
            locals.extend(
                of_names.map(|buffer| Buffer {
                    name: name_of_again(&buffer.name),
                    ..(*buffer).clone()
                }),
            );
        }
    }
}

fn is_product(step: &Operation) -> bool {
    matches!(step, Operation::Evaluate { op: Op::Product { .. }, .. })
}

/// Vertex rows that operations after a product, or all operations if there is none, read and do not
/// compute: each vertex's own.
fn read_of_vertices(steps: &[Operation], buffers: &BTreeMap<&str, &Buffer>) -> BTreeSet<String> {
    let made: BTreeSet<_> = steps.iter().flat_map(Operation::writes).collect();
    let inputs = |step: &Operation| match step {
        Operation::Evaluate { op: Op::Product { .. }, .. } => Vec::new(),
        Operation::Evaluate { inputs, .. } => {
            inputs.iter().flat_map(Operand::rows).cloned().collect()
        }
        _ => Vec::<Rowed>::new(),
    };
    let of_products: BTreeSet<String> = steps
        .iter()
        .filter(|step| is_product(step))
        .flat_map(|step| step.reads().into_iter().map(|name| name.into_owned()))
        .collect();
    let is_of_vertices = |rows: &Rowed| {
        let held = buffers.get(rows.buffer.as_str());
        rows.view == View::Own
            && held.is_some_and(|held| {
                held.rows == Rows::Nodes
                    && held.element == Element::Real
                    && held.role == Role::Value
            })
    };
    let own = steps
        .iter()
        .flat_map(inputs)
        .filter(|rows| !made.contains(rows.buffer.as_str()) && is_of_vertices(rows))
        .map(|rows| rows.buffer);
    own.filter(|name| !of_products.contains(name)).collect()
}

/// The inputs of recomputation: the operation that computes each value, all buffers, and what is
/// read in any case.
#[derive(Clone, Copy)]
struct Known<'a> {
    makers: &'a BTreeMap<&'a str, &'a Operation>,
    buffers: &'a BTreeMap<&'a str, &'a Buffer>,
    read: &'a BTreeSet<String>,
}

/// Collects the operations, in order, that compute a row from rows that are read as well; false if
/// there are none.
fn remake(name: &str, known: Known<'_>, steps: &mut Vec<Operation>) -> bool {
    let Known { makers, buffers, read } = known;
    let is_made = |step: &Operation| step.writes().iter().any(|made| made == name);
    if read.contains(name) || steps.iter().any(is_made) {
        return true;
    }
    let is_parameter = buffers
        .get(name)
        .is_some_and(|held| held.role == Role::Parameter && matches!(held.rows, Rows::Fixed(_)));
    if is_parameter || steps.len() > tuning::recomputed_steps() {
        return is_parameter;
    }
    // A value that is the same for all rows is no row of a walk.
    if buffers.get(name).is_none_or(|held| held.rows != Rows::Nodes) {
        return false;
    }
    let Some(maker @ Operation::Evaluate { op, inputs, .. }) = makers.get(name).copied() else {
        return false;
    };
    let is_plain = matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Select);
    let mut rows = inputs.iter().flat_map(Operand::rows);
    let is_fit =
        is_plain && rows.all(|rows| rows.view == View::Own && remake(&rows.buffer, known, steps));
    if is_fit {
        steps.push(maker.clone());
    }
    is_fit
}
