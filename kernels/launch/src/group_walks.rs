//! group_walks: which launches can share out the edges of a row by groups of neighbours.
//!
//! promises  depends on the list alone
//! never     chooses a division: the plan does
use std::collections::BTreeMap;

use super::{LaunchList, Operand, Operation, Over, reduced};
use warploom_ir::{Direction, Op};

/// Whether the operations of a list see in which order the edges of a row are listed.
pub fn sees_edge_order(list: &LaunchList) -> bool {
    list.launches().into_iter().any(|launch| match &launch.operation {
        Operation::Evaluate { op, .. } => is_of_listed_edges(op),
        Operation::Fused { steps, .. } => steps
            .iter()
            .any(|step| matches!(step, Operation::Evaluate { op, .. } if is_of_listed_edges(op))),
        _ => false,
    })
}

fn is_of_listed_edges(op: &Op) -> bool {
    matches!(
        op,
        Op::Winner(..)
            | Op::Others(_)
            | Op::Fold(..)
            | Op::Turn
            | Op::CommonNeighbors
            | Op::CommonNeighborsSum(_)
    )
}

/// Whether an operation walks the edges of rows.
pub fn walks_rows(operation: &Operation) -> bool {
    match operation {
        Operation::Fused { over, .. } => matches!(over, Over::EdgesOf(_)),
        Operation::Evaluate { op, .. } => matches!(op, Op::Reduce(..)) || is_of_listed_edges(op),
        _ => false,
    }
}

/// How often an operation visits the edges of a row: more than once where a value of an edge waits
/// for a reduction over all of them, as in a softmax.
pub fn edge_visits(operation: &Operation) -> usize {
    match operation {
        Operation::Fused { over: Over::EdgesOf(_), steps, .. } => passes(steps),
        other => usize::from(walks_rows(other)),
    }
}

/// The edges that an operation walks by rows.
pub fn walked_direction(operation: &Operation) -> Option<Direction> {
    match operation {
        Operation::Fused { over: Over::EdgesOf(direction), .. } => Some(*direction),
        Operation::Evaluate { op, .. } => reduced(op).map(|edges| edges.direction),
        _ => None,
    }
}

/// The direction whose groups an operation can walk by on a CPU: it visits the edges of a row once,
/// in one direction, and combines them in any association.
pub fn groups_direction(operation: &Operation) -> Option<Direction> {
    let direction = match operation {
        Operation::Fused { over: Over::EdgesOf(direction), steps, .. } if passes(steps) == 1 => {
            *direction
        }
        _ => return None,
    };
    (direction != Direction::Both).then_some(direction)
}

/// How often the steps of a walk visit the edges of a row.
fn passes(steps: &[Operation]) -> usize {
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps {
        let Operation::Evaluate { out, op, inputs, .. } = step else { continue };
        let read = inputs.iter().flat_map(Operand::rows);
        let waits = read.filter_map(|rows| levels.get(rows.buffer.as_str())).max().copied();
        levels.insert(out, waits.unwrap_or(0) + usize::from(reduced(op).is_some()));
    }
    levels.into_values().max().unwrap_or(0)
}
