//! half_precision_rows: rows that are kept in 16 bits, where a run asks for it.
//!
//! promises  sums, products and all else stay in the run's type: a number is rounded only when its
//!           row is put down and widened when it is read again, and a walk goes on with what it
//!           made itself unrounded; only rows of vertices or edges of `COLUMNS_LEAST` columns or
//!           more that nothing but fused walks writes and reads, and dense features that only they
//!           read, are halves: parameters, their gradients, scores, statistics of a softmax and
//!           whatever is returned are not
//! never     changes an operation; touches a list with supersteps, where what was rounded would be
//!           rounded again and again
use std::collections::BTreeSet;

use crate::facts::GraphFacts;
use crate::launch::{Body, Buffer, Element, Half, Launch, LaunchList, Operation, Role, Rows};

/// Columns of a row at least: of fewer, as many bytes come with a cache line.
const COLUMNS_LEAST: u64 = 16;

/// Makes halves of what can be such. Gradients of rows are small, as the loss is a mean, and want
/// the range of bf16 in any case.
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
