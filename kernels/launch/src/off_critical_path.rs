//! off_critical_path: launches that an executor may run concurrently with others, since only the
//! optimiser reads their results.
//!
//! promises  inputs and results of such a launch are live until the end of the backward part
//!           (`liveness`), so that nothing need wait for it; only launches over few rows: they
//!           leave most of a device to others, and need little memory
//! never     takes a launch off the path: the executor does, and knows what waits for it
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Body, Launch, LaunchList, Operand, Operation};
use warploom_ir::Op;
use warploom_tuning as tuning;

/// Their numbers among all launches.
pub fn off_path_launches(list: &LaunchList) -> BTreeSet<usize> {
    let Body::Train(train) = &list.body else { return BTreeSet::new() };
    let first = train.prepare.len() + train.forward.len() + 1;
    let read: BTreeSet<Cow<'_, str>> =
        train.backward.iter().flat_map(|launch| launch.operation.reads()).collect();
    let rows = |launch: &Launch, inputs: &[Operand]| {
        let columns =
            inputs.iter().flat_map(Operand::rows).map(|rows| rows.shape.iter().product::<u64>());
        launch.bytes / (4 * columns.sum::<u64>()).max(1)
    };
    let is_for_steps = |launch: &Launch| match &launch.operation {
        Operation::Evaluate { op: Op::Outer | Op::SumRows, inputs, out, .. } => {
            !read.contains(out.as_str()) && rows(launch, inputs) <= tuning::branch_rows()
        }
        _ => false,
    };
    train
        .backward
        .iter()
        .enumerate()
        .filter(|(_, launch)| is_for_steps(launch))
        .map(|(number, _)| first + number)
        .collect()
}
