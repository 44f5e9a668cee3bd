//! launch_walk: the walk of a launch: its steps, padded where that is allowed, with sums that need
//! not wait for the maximum score.
//!
//! promises  launches that recompute a softmax exponential know that its argument is at most 0
//! never     decides how work is divided
use std::collections::BTreeSet;

use super::GpuTarget;
use super::online_softmax::find_online_maxima;
use super::padded_rows::pad_walk;
use super::walk_steps::Walk;
use warploom_ir::{Op, Unary};
use warploom_launch::{LaunchList, Operation, Over};

/// The walk of an operation; none if no walk supports it.
pub(super) fn walk_of(
    list: &LaunchList,
    bytes_per_real: u64,
    operation: &Operation,
) -> Option<Walk> {
    let mut walk = Walk::plain_steps(list, bytes_per_real, operation)?;
    pad_walk(&mut walk);
    if matches!(walk.over, Over::EdgesOf(_)) {
        find_online_maxima(&mut walk);
    }
    Some(walk)
}

/// The names of exponentials that belong to an online maximum. Other launches that recompute them
/// know by this that the argument is at most 0.
pub(super) fn find_softmax_exponentials(list: &LaunchList, target: GpuTarget) -> BTreeSet<String> {
    let walks = list
        .launches()
        .into_iter()
        .filter_map(|launch| walk_of(list, target.bytes_per_real, &launch.operation));
    let of_walk = |walk: Walk| {
        walk.running
            .iter()
            .map(|running| plain(&walk.steps[running.exponential].out).to_owned())
            .collect::<Vec<String>>()
    };
    walks.flat_map(of_walk).collect()
}

/// Marks the steps that are softmax exponentials.
pub(super) fn mark_softmax_exponentials(walk: &mut Walk, shares: &BTreeSet<String>) {
    walk.steps.iter_mut().for_each(|step| {
        step.is_share = step.op == Op::Unary(Unary::Exp) && shares.contains(plain(&step.out))
    });
}

/// The name of a value without the suffix of a recomputed copy.
fn plain(name: &str) -> &str {
    name.strip_suffix(".again").unwrap_or(name)
}
