//! beside: sums over rows that whoever makes or reads these rows makes too, so that they are read once: outer products, and the loss.
//!
//! promises  a sum is made by one launch: its own, or the loss, of its gradient, or an outer product on tensor cores that has the summed
//!           rows as an operand and is of the backward part as well; between the two nobody reads or writes the sum or writes the rows, and what lies in the
//!           sum's place is wanted by nobody
//! never     changes the list: a sum that is made beside something else keeps its launch, without a kernel
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Target;
use super::learn::OfLoss;
use super::tensor::OfColumns;
use super::total::rows_of;
use crate::gir::Op;
use crate::launch::{Body, Launch, LaunchList, Lifetime, LossKind, Operand, Operation, Rowed, Timeline, View};

/// Sums that another launch makes, by the number of their own.
pub(super) type Beside = BTreeMap<usize, Maker>;

/// What makes a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Maker {
    /// Number of its launch: the loss, or an outer product.
    pub launch: usize,
    /// Which of its operands is summed; of the loss the gradient.
    pub operand: usize,
}

/// The sums of a list that are made beside something else.
pub(super) fn sums(list: &LaunchList, target: Target) -> Beside {
    let mut beside = Beside::new();
    let Body::Train(train) = &list.body else { return beside };
    let (launches, timeline) = (list.launches(), Timeline::of(list));
    let mut lifetimes = timeline.lifetimes(list);
    let first = train.prepare.len() + train.forward.len() + 1;
    let backward = first..first + train.backward.len();
    let slope = slope(list, target);
    let of_loss = slope.as_ref().map(|slope| (first - 1, std::slice::from_ref(slope)));
    let outer = backward.clone().filter_map(|number| Some((number, tiled(launches[number], target)?)));
    // What reads the rows anyway makes their sum for nothing.
    for (number, operands) in outer.chain(of_loss) {
        for (operand, of_rows) in operands.iter().enumerate() {
            let moments = |sum: usize| {
                let [first, last] = [number.min(sum), number.max(sum)].map(|launch| timeline.launches()[launch]);
                Lifetime { first, last }
            };
            let is_made = |sum: &usize| {
                let mut between = (number.min(*sum) + 1..number.max(*sum)).map(|other| launches[other]);
                adds(launches[*sum], of_rows)
                    && rows_of(list, operands) == rows_of(list, std::slice::from_ref(of_rows))
                    && between.all(|other| leaves(other, launches[*sum]))
                    && has_place(list, &lifetimes, (&launches[*sum].operation, moments(*sum)))
            };
            let Some(sum) = backward.clone().find(|sum| !beside.contains_key(sum) && is_made(sum)) else { continue };
            beside.insert(sum, Maker { launch: number, operand });
            // It is in its place from now on, for the sums that follow.
            let named = lifetimes.iter_mut().filter(|(name, _)| launches[sum].operation.writes().iter().any(|made| made == *name));
            named.for_each(|(_, life)| *life = life.with(moments(sum)));
        }
    }
    beside
}

/// The gradient of the loss as an operand, where lanes hold its rows.
fn slope(list: &LaunchList, target: Target) -> Option<Operand> {
    let Body::Train(train) = &list.body else { return None };
    let Operation::Loss { kind: LossKind::CrossEntropy, result, gradient, .. } = &train.loss.operation else { return None };
    let index = list.index();
    let (result, held) = (index.get(result.as_str())?, index.get(gradient.as_str())?);
    let strides = [result, held].map(|buffer| buffer.stride(target.bytes_per_real));
    let rows = Rowed { buffer: gradient.clone(), shape: vec![held.columns], view: View::Own };
    (held.columns > 0 && OfLoss::of(held.columns, strides, target).is_held).then_some(Operand::Rows(rows))
}

/// The operands of an outer product on tensor cores, of one row a vertex each.
fn tiled(launch: &Launch, target: Target) -> Option<&[Operand]> {
    let Operation::Evaluate { op: Op::Outer, inputs, .. } = &launch.operation else { return None };
    let columns = |operand: &Operand| operand.shape().last().copied().unwrap_or(1);
    let is_one = |operand: &Operand| operand.shape().iter().product::<u64>() == columns(operand) && columns(operand) > 0;
    let [first, second] = inputs.as_slice() else { return None };
    let sides = (columns(first).max(columns(second)) as usize, columns(first).min(columns(second)) as usize);
    (is_one(first) && is_one(second) && OfColumns::of(sides, target).is_some()).then_some(inputs)
}

/// Whether a launch adds up these rows.
fn adds(launch: &Launch, rows: &Operand) -> bool {
    let Operation::Evaluate { op: Op::SumRows, inputs, .. } = &launch.operation else { return false };
    // Axes of a row do not matter.
    let elements = |operand: &Operand| operand.shape().iter().product::<u64>();
    match (inputs.as_slice(), rows) {
        ([Operand::Rows(added)], Operand::Rows(wanted)) => added.buffer == wanted.buffer && added.view == wanted.view && elements(&inputs[0]) == elements(rows),
        (inputs, _) => *inputs == [rows.clone()],
    }
}

/// Whether a launch neither reads nor writes a sum, nor writes what it adds up.
fn leaves(launch: &Launch, sum: &Launch) -> bool {
    let (made, added) = (sum.operation.writes(), sum.operation.reads());
    let is_apart = |names: &[Cow<'_, str>]| names.iter().all(|name| !made.contains(name));
    let written = launch.operation.writes();
    is_apart(&launch.operation.reads()) && is_apart(&written) && written.iter().all(|name| !added.contains(name))
}

/// Whether nothing that is wanted at one of these moments lies where the sum does.
fn has_place(list: &LaunchList, lifetimes: &BTreeMap<&str, Lifetime>, (sum, moments): (&Operation, Lifetime)) -> bool {
    let made = sum.writes();
    let Some(own) = made.first().and_then(|name| list.arena.place(name)) else { return true };
    let mut wanted = lifetimes.iter().filter(|(name, life)| **name != own.buffer && life.meets(moments)).filter_map(|(name, _)| list.arena.place(name));
    wanted.all(|place| place.offset + place.bytes <= own.offset || own.offset + own.bytes <= place.offset)
}
