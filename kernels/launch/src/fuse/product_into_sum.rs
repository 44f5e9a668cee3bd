//! product_into_sum: inlines products of rows that are only summed over all vertices into the sum.
//!
//! promises  the same sum of the same products; a product is inlined only if that reads and writes
//!           less: one of its factors is stored anyway, the other is narrow or the same for all
//! never     moves a launch, or computes a product twice that has another reader
use super::inlined_edge_values::{InlinedProduct, ListValues};
use crate::{
    Body, BufferName, Launch, LaunchList, Operand, Operation, Role, Rows, View, is_row_wise, width,
};
use warploom_ir::Op;

/// The list with such products inlined into their sums.
pub(super) fn taken_along(list: &LaunchList, values: &ListValues) -> LaunchList {
    let mut made = list.clone();
    let Body::Train(train) = &mut made.body else { return made };
    let all = list.launches();
    for (part, launches) in
        [&mut train.prepare, &mut train.forward, &mut train.backward].into_iter().enumerate()
    {
        let products: Vec<(BufferName, Operand)> = launches
            .iter()
            .filter_map(|launch| product(values, &all, launches, launch, part))
            .collect();
        for (name, operand) in products {
            launches
                .retain(|launch| launch.operation.writes().iter().all(|written| *written != name));
            let reads_it =
                |launch: &&mut Launch| launch.operation.reads().iter().any(|read| *read == name);
            for launch in launches.iter_mut().filter(reads_it) {
                if let Operation::Evaluate { inputs, .. } = &mut launch.operation {
                    *inputs = vec![operand.clone()];
                }
            }
        }
    }
    made
}

/// A product that is better inlined: its name, and its factors.
fn product(
    values: &ListValues,
    all: &[&Launch],
    here: &[Launch],
    launch: &Launch,
    part: usize,
) -> Option<(BufferName, Operand)> {
    let InlinedProduct { out, shape, factors: [first, second], readers } =
        values.product(all, here, launch)?;
    let reads =
        |launch: &Launch, name: &str| launch.operation.reads().iter().any(|read| read == name);
    let adds = |launch: &&Launch| match &launch.operation {
        Operation::Evaluate { op: Op::SumRows, inputs, .. } => {
            matches!(inputs.as_slice(), [Operand::Rows(rows)] if rows.shape == shape && rows.view == View::Own)
        }
        _ => false,
    };
    if !readers.iter().all(adds) {
        return None;
    }
    let bytes = |name: &str| {
        values
            .buffer(name)
            .filter(|buffer| buffer.rows == Rows::Nodes)
            .map_or(0, |buffer| buffer.columns * width(buffer.element, values.facts))
    };
    // Values with other readers than row operations of the same part are stored; so are buffers
    // that are no values.
    let takes_rows = |launch: &Launch, name: &str| match &launch.operation {
        Operation::Evaluate { op, inputs, .. } => {
            is_row_wise(op)
                && inputs
                    .iter()
                    .flat_map(Operand::rows)
                    .all(|rows| rows.buffer != name || rows.view == View::Own)
        }
        _ => false,
    };
    let lies = |name: &str| {
        let is_value = values.buffer(name).is_some_and(|buffer| buffer.role == Role::Value);
        !is_value
            || values.is_read_after(name, part)
            || all.iter().any(|launch| reads(launch, name) && !takes_rows(launch, name))
    };
    let count = readers.len() as u64;
    let read = |name: &str| count * bytes(name) + if lies(name) { 0 } else { bytes(name) };
    let is_less = read(&first.buffer) + read(&second.buffer) < (1 + count) * bytes(out);
    is_less.then(|| {
        (out.clone(), Operand::product_of([first, second].map(|rows| Operand::Rows(rows.clone()))))
    })
}
