//! off_critical_path: launches that an executor may make while it goes on with others, since nobody but the
//! optimiser reads what they make.
//!
//! promises  what such a launch reads and makes lies there as long as the backward part goes on
//!           (`liveness`), so that nothing need wait for it; launches over few rows alone: those
//!           leave most of a device to others, and the memory is little (one H100, an epoch with
//!           and without: cora, 2,708 rows, GIN 194 and 226 us, GCN 40 and 43; pubmed, 19,717 rows,
//!           GIN 331 and 340, GAT 137 and 143; PROTEINS_full, 43,471 rows, GAT 148 and 142; artist,
//!           50,515 rows, GIN 857 and 865, GAT 367 and 364)
//! never     says that a launch is aside: whoever takes it aside knows what waits for it
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Body, Launch, LaunchList, Operand, Operation};
use crate::gir::Op;

/// Rows at most, as their bytes tell: of 32 bits.
const ROWS_MOST: u64 = 32 << 10;

/// Their numbers among all launches.
pub fn aside(list: &LaunchList) -> BTreeSet<usize> {
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
            !read.contains(out.as_str()) && rows(launch, inputs) <= ROWS_MOST
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
