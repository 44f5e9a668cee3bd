//! rematerialize: rows that a launch reads beside what they were made of are made again where they
//! are read.
//!
//! promises  the same operations on the same rows, so the same bits; nothing is read in their place
//!           but parameters; only launches over rows of vertices, going backward, make anything
//!           again
//! never     makes again what is drawn, or takes more than a few operations an element
//!
//! An attention's hidden rows and the weighted sums that they are made of are both read where the
//! slope of the one becomes that of the other.
use std::collections::{BTreeMap, BTreeSet};

use super::fusion_groups::renamed;
use crate::gir::Op;
use crate::launch::{
    Body, Buffer, Element, Launch, LaunchList, Operand, Operation, Over, Role, Rowed, Rows, View,
    name_of_again,
};
use crate::tuning;

/// Makes rows again, where that reads less; `buffers` are those of the list before launches were
/// joined.
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
            // What is made again for others is there.
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
            // Behind the product, and what it is made of.
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

/// Rows of vertices that work behind a product, or all work where there is none, reads and does not
/// make: each vertex's own.
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

/// What is known where rows are made again: the operation that makes each value, all buffers, and
/// what is read in any case.
#[derive(Clone, Copy)]
struct Known<'a> {
    makers: &'a BTreeMap<&'a str, &'a Operation>,
    buffers: &'a BTreeMap<&'a str, &'a Buffer>,
    read: &'a BTreeSet<String>,
}

/// The operations, in order, that make a row of what is read as well; whether there are such.
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
    // What is the same for all rows is no row of a walk.
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
