//! half_precision_rows: which rows are stored as 16-bit floats, if a run asks for it.
//!
//! promises  all arithmetic stays in the run's type: a number is rounded when its row is stored and
//!           widened when it is loaded, and a walk continues with its own results unrounded; only
//!           vertex or edge rows of at least `COLUMNS_LEAST` columns that only fused walks write
//!           and read, and dense features that only they read, are stored so: parameters, their
//!           gradients, scores, softmax statistics and results are not
//! never     changes an operation; touches a list with supersteps, where rounding errors would
//!           accumulate
use std::collections::BTreeSet;

use crate::{Body, Buffer, Element, GraphFacts, Launch, LaunchList, Operation, Role, Rows};
use warploom_ir::Half;

/// Minimum columns of a row: fewer share a cache line anyway.
const COLUMNS_LEAST: u64 = 16;

/// Changes the storage type of such rows. Gradients of rows are small, since the loss is a mean,
/// and need the range of bf16 in any case.
pub(super) fn halve(list: &mut LaunchList, facts: &GraphFacts) {
    let Some(half) = facts.half else { return };
    let backward = match &list.body {
        Body::Train(train) => train.backward.iter().flat_map(written).collect(),
        Body::Iterate(iterate) if iterate.loops.is_empty() => BTreeSet::new(),
        Body::Iterate(_) => return,
    };
    let (walks, others): (Vec<&Launch>, Vec<&Launch>) = list
        .launches()
        .into_iter()
        .partition(|launch| matches!(launch.operation, Operation::Fused { .. }));
    let made: BTreeSet<String> = walks.into_iter().flat_map(written).collect();
    let mut elsewhere: BTreeSet<String> =
        others.into_iter().flat_map(|launch| super::names(&launch.operation)).collect();
    elsewhere.extend(list.results.iter().map(|result| result.buffer.clone()));
    let is_wide = |buffer: &Buffer| {
        buffer.columns >= COLUMNS_LEAST
            && matches!(buffer.rows, Rows::Nodes | Rows::Edges | Rows::EdgesTwice)
    };
    let is_of_walks = |buffer: &Buffer| {
        buffer.role == Role::Features || (buffer.role == Role::Value && made.contains(&buffer.name))
    };
    for buffer in list
        .buffers
        .iter_mut()
        .filter(|buffer| buffer.element == Element::Real && is_wide(buffer) && is_of_walks(buffer))
    {
        if !elsewhere.contains(&buffer.name) {
            buffer.element =
                Element::Half(if backward.contains(&buffer.name) { Half::Bf16 } else { half });
        }
    }
}

fn written(launch: &Launch) -> Vec<String> {
    launch.operation.writes().into_iter().map(std::borrow::Cow::into_owned).collect()
}
