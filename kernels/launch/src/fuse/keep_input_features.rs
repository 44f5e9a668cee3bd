//! keep_input_features: does not store scaled copies of features only to reduce them over edges
//! before the first epoch: the reduction reads features and factor.
//! promises  the same products, computed in the reduction; only before the first epoch, where a
//!           product per edge costs less than a copy of the features that stays in memory for the
//!           whole run. Where an edge weight is among the factors, they are multiplied in another
//!           order
//! never     moves a launch; inlines a product that another launch reads, or in another shape
use super::inlined_edge_values::{InlinedProduct, ListValues};
use crate::{
    Body, BufferName, Element, Launch, LaunchList, Operand, Operation, Role, Rowed, Rows, View,
};
use warploom_ir::Op;
use warploom_tuning as tuning;

/// The list with such products inlined into their reductions.
pub(super) fn multiply_in_place(list: &LaunchList, values: &ListValues) -> LaunchList {
    let mut made = list.clone();
    let Body::Train(train) = &mut made.body else { return made };
    let all = list.launches();
    let products: Vec<(BufferName, [Rowed; 2])> = train
        .prepare
        .iter()
        .filter_map(|launch| product(values, &all, &train.prepare, launch))
        .collect();
    for (name, factors) in products {
        train
            .prepare
            .retain(|launch| launch.operation.writes().iter().all(|written| *written != name));
        let made_of = |rows: &Rowed| match rows.buffer == name {
            true => Operand::product_of(
                factors
                    .each_ref()
                    .map(|factor| Operand::Rows(Rowed { view: rows.view, ..factor.clone() })),
            ),
            false => Operand::Rows(rows.clone()),
        };
        for launch in &mut train.prepare {
            if let Operation::Evaluate { inputs, .. } = &mut launch.operation {
                *inputs = inputs.iter().map(|input| input.changed(&made_of)).collect();
            }
        }
    }
    made
}

/// A product of features and a number that only reductions over edges read: its name, and its
/// factors.
fn product(
    values: &ListValues,
    all: &[&Launch],
    here: &[Launch],
    launch: &Launch,
) -> Option<(BufferName, [Rowed; 2])> {
    let InlinedProduct { out, shape, factors, readers } = values.product(all, here, launch)?;
    let of_nodes = |rows: &Rowed| {
        values
            .buffer(&rows.buffer)
            .filter(|buffer| buffer.rows == Rows::Nodes && buffer.element == Element::Real)
    };
    let (one, other) = (of_nodes(factors[0])?, of_nodes(factors[1])?);
    let (row, number) = if one.columns > other.columns { (one, other) } else { (other, one) };
    let stands = row.role == Role::Features
        && row.columns > tuning::edge_value_columns()
        && number.columns == 1;
    let is_whole = factors.iter().any(|rows| rows.shape == shape);
    let found = stands && is_whole && readers.iter().all(|reader| reduces(reader, out, shape));
    found.then(|| (out.clone(), factors.map(Rowed::clone)))
}

/// Whether a launch is a reduction over edges that reads these rows only at the far ends of its
/// edges, and in this shape.
fn reduces(launch: &Launch, name: &str, shape: &[u64]) -> bool {
    let Operation::Evaluate { op: Op::Reduce(..), inputs, .. } = &launch.operation else {
        return false;
    };
    let mut read = inputs.iter().flat_map(Operand::rows).filter(|rows| rows.buffer == name);
    read.all(|rows| matches!(rows.view, View::Far(_)) && rows.shape == shape)
}
