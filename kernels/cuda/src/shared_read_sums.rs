//! shared_read_sums: sums over rows that are merged into a kernel that computes or reads these
//! rows, so that they are read once: outer products, the loss, products with a matrix, and other
//! sums of the same rows; and pairs of outer products that share a side.
//!
//! promises  a sum is computed by one launch: its own, or the loss (of its gradient), or, in the
//!           backward phase, an outer product on tensor cores with the summed rows as an operand, a
//!           product that computes them, or a later sum of products of the same rows; between that
//!           launch and the sum's own, no launch reads or writes the sum or writes the rows; no
//!           live buffer shares the sum's memory, and the rows stay in memory until they are added,
//!           or are never materialised if a product computes them for the sum alone
//!           (`plain_products.rs`)
//! never     changes the list: a merged sum keeps its launch, without a kernel
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::GpuTarget;
use super::loss::LossLayout;
use super::outer_products::paired_columns;
use super::tensor_core_shapes::{OuterProductShape, SideColumns};
use warploom_ir::{Loss, Op};
use warploom_launch::{
    Body, Element, Launch, LaunchList, Lifetime, MergedLaunches, Operand, Operation, Rowed, Rows,
    Timeline, View, differing, is_attended, summed_rows,
};
use warploom_tuning as tuning;

/// Sums that another launch computes, by the number of their own launch.
pub(super) type SharedSums = BTreeMap<usize, Maker>;

/// Outer products that a later one computes, by their own number; the value is its number.
pub(super) type SecondOuters = BTreeMap<usize, usize>;

/// The operand number of the second outer product's differing operand, after the two of the first.
pub(super) const OTHER: usize = 2;

/// The launch that computes a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Maker {
    /// The number of its launch: the loss, an outer product, a product, or another sum.
    pub launch: usize,
    /// The operand that is summed: the gradient for the loss, the number of the step for a product,
    /// unused for another sum, which also reads what this one reads.
    pub operand: usize,
}

/// Finds the sums of a list that are merged into another kernel.
pub(super) fn find_shared_sums(
    list: &LaunchList,
    target: GpuTarget,
    merged: &MergedLaunches,
    twins: &SecondOuters,
) -> SharedSums {
    let mut beside = SharedSums::new();
    let Body::Train(train) = &list.body else { return beside };
    let (launches, timeline) = (list.launches(), Timeline::with_merged(list, merged));
    let mut lifetimes = timeline.lifetimes(list);
    let first = train.prepare.len() + train.forward.len() + 1;
    let backward = first..first + train.backward.len();
    let slope = loss_gradient(list, target);
    let of_loss = slope.as_ref().map(|slope| (first - 1, std::slice::from_ref(slope)));
    let is_own =
        |number: &usize| !twins.contains_key(number) && !merged.outers.contains_key(number);
    let outer = backward
        .clone()
        .filter(is_own)
        .filter_map(|number| Some((number, tiled_operands(launches[number], target)?)));
    let made: Vec<(usize, Vec<(usize, Operand)>)> = backward
        .clone()
        .map(|number| (number, rows_of_product(list, launches[number], target)))
        .collect();
    // Readers of the rows compute the sum at no cost, and so do the launches that compute them.
    let numbered = |operands: &[Operand]| operands.iter().cloned().enumerate().collect::<Vec<_>>();
    let with_other = |number: usize, operands: &[Operand]| {
        let twin = twins
            .iter()
            .find(|(_, later)| **later == number)
            .and_then(|(twin, _)| tiled_operands(launches[*twin], target));
        let other = twin.into_iter().flatten().find(|operand| !operands.contains(operand));
        numbered(operands)
            .into_iter()
            .chain(other.map(|other| (OTHER, other.clone())))
            .collect::<Vec<_>>()
    };
    let readers = outer
        .chain(of_loss)
        .map(|(number, operands)| (number, with_other(number, operands)))
        .collect::<Vec<_>>();
    for (number, operands) in readers.into_iter().chain(made) {
        for (operand, of_rows) in &operands {
            if beside.values().any(|maker| maker.launch == number) && is_product(launches[number]) {
                continue;
            }
            let moments = |sum: usize| {
                let [first, last] =
                    [number.min(sum), number.max(sum)].map(|launch| timeline.launches()[launch]);
                Lifetime { first, last }
            };
            let is_made = |sum: &usize| {
                let mut between =
                    (number.min(*sum) + 1..number.max(*sum)).map(|other| launches[other]);
                adds(launches[*sum], of_rows)
                    && (is_product(launches[number])
                        || summed_rows(
                            list,
                            &operands.iter().map(|(_, rows)| rows.clone()).collect::<Vec<_>>(),
                        ) == summed_rows(list, std::slice::from_ref(of_rows)))
                    && between.all(|other| leaves(other, launches[*sum]))
                    && writes_freely(list, &lifetimes, launches[*sum], moments(*sum))
            };
            let Some(sum) = backward.clone().find(|sum| !beside.contains_key(sum) && is_made(sum))
            else {
                continue;
            };
            beside.insert(sum, Maker { launch: number, operand: *operand });
            // The sum is live from here on, for the sums that follow.
            let named = lifetimes.iter_mut().filter(|(name, _)| {
                launches[sum].operation.writes().iter().any(|made| made == *name)
            });
            named.for_each(|(_, life)| *life = life.union(moments(sum)));
        }
    }
    find_product_sums(list, &mut beside, merged, &timeline, lifetimes);
    beside
}

/// Finds outer products that a later one computes too, since both share a side, which is then read
/// once.
pub(super) fn find_second_outers(
    list: &LaunchList,
    target: GpuTarget,
    merged: &MergedLaunches,
) -> SecondOuters {
    let launches = list.launches();
    let columns = |operand: &Operand| operand.shape().last().copied().unwrap_or(1);
    let fits = |first: usize, later: usize| {
        let (one, other) =
            (tiled_operands(launches[first], target)?, tiled_operands(launches[later], target)?);
        let side = differing(list, launches[first], launches[later])?;
        let (shared, both) =
            (columns(&one[1 - side]), paired_columns(columns(&one[side]), columns(&other[side])));
        OuterProductShape::fit(
            SideColumns { wide: shared.max(both) as usize, narrow: shared.min(both) as usize },
            target,
        )
    };
    let twins = merged.twins.iter().map(|(first, later)| (*first, *later));
    twins.filter(|(first, later)| fits(*first, *later).is_some()).collect()
}

/// Finds sums of products that a later sum computes too, since both read the same rows.
fn find_product_sums<'a>(
    list: &'a LaunchList,
    beside: &mut SharedSums,
    merged: &MergedLaunches,
    timeline: &Timeline,
    mut lifetimes: BTreeMap<&'a str, Lifetime>,
) {
    let launches = list.launches();
    for (&sum, &maker) in &merged.sums {
        if [sum, maker].iter().any(|joined| beside.contains_key(joined))
            || beside.values().any(|made| made.launch == sum)
        {
            continue;
        }
        let [first, last] = [sum, maker].map(|launch| timeline.launches()[launch]);
        let moments = Lifetime { first, last };
        let has_room = beside.values().filter(|made| made.launch == maker).count() + 1
            < tuning::shared_read_sums();
        let read = launches[sum].operation.reads();
        if !has_room || !read.iter().all(|name| is_free(list, &lifetimes, name.as_ref(), moments)) {
            continue;
        }
        beside.insert(sum, Maker { launch: maker, operand: 0 });
        // The rows that it reads stay live until then.
        let named = lifetimes.iter_mut().filter(|(name, _)| read.iter().any(|read| read == *name));
        named.for_each(|(_, life)| *life = life.union(moments));
    }
}

/// Whether the buffer that a launch writes is free during this lifetime.
fn writes_freely(
    list: &LaunchList,
    lifetimes: &BTreeMap<&str, Lifetime>,
    launch: &Launch,
    moments: Lifetime,
) -> bool {
    let writes = launch.operation.writes();
    writes.first().is_none_or(|made| is_free(list, lifetimes, made, moments))
}

/// Whether no other live buffer overlaps this one in the arena during a lifetime.
fn is_free(
    list: &LaunchList,
    lifetimes: &BTreeMap<&str, Lifetime>,
    name: &str,
    moments: Lifetime,
) -> bool {
    let Some(own) = list.arena.place(name) else { return true };
    let mut wanted = lifetimes
        .iter()
        .filter(|(other, life)| **other != name && life.meets(moments))
        .filter_map(|(other, _)| list.arena.place(other));
    wanted.all(|place| {
        place.offset + place.bytes <= own.offset || own.offset + own.bytes <= place.offset
    })
}

/// Whether a launch multiplies rows with a matrix.
fn is_product(launch: &Launch) -> bool {
    matches!(&launch.operation, Operation::Fused { steps, .. } if steps.iter().any(super::is_product))
}

/// Rows of the product's width that a product without tensor cores computes and stores, by the
/// number of their step. On tensor cores, sums of rows with a long epilogue cost what they save.
fn rows_of_product(list: &LaunchList, launch: &Launch, target: GpuTarget) -> Vec<(usize, Operand)> {
    let Operation::Fused { locals, steps, .. } = &launch.operation else { return Vec::new() };
    let wide = steps.iter().find(|step| super::is_product(step)).and_then(|step| {
        if let Operation::Evaluate { shape, .. } = step {
            Some(shape.iter().product::<u64>())
        } else {
            None
        }
    });
    let inner = steps.iter().find(|step| super::is_product(step)).and_then(|step| {
        if let Operation::Evaluate { inputs, .. } = step {
            inputs.first()?.shape().last().copied()
        } else {
            None
        }
    });
    if target.bytes_per_real == 4
        && inner.is_none_or(|inner| inner >= tuning::tensor_inner_least())
        && !is_attended(&list.index(), &launch.operation)
    {
        return Vec::new();
    }
    let index = list.index();
    let made = |(number, step): (usize, &Operation)| {
        let Operation::Evaluate { out, shape, .. } = step else { return None };
        let held = index.get(out.as_str()).filter(|held| {
            held.rows == Rows::Nodes && held.element == Element::Real && Some(held.columns) == wide
        })?;
        let is_stored = !locals.iter().any(|local| local.name == *out);
        is_stored.then(|| {
            (
                number,
                Operand::Rows(Rowed {
                    buffer: held.name.clone(),
                    shape: shape.clone(),
                    view: View::Own,
                }),
            )
        })
    };
    steps.iter().enumerate().filter_map(made).collect()
}

/// The gradient of the loss as an operand, if lanes hold its rows in registers.
fn loss_gradient(list: &LaunchList, target: GpuTarget) -> Option<Operand> {
    let Body::Train(train) = &list.body else { return None };
    let Operation::Loss { kind: Loss::CrossEntropy, result, gradient, .. } = &train.loss.operation
    else {
        return None;
    };
    let index = list.index();
    let (result, held) = (index.get(result.as_str())?, index.get(gradient.as_str())?);
    let strides = [result, held].map(|buffer| buffer.stride(target.bytes_per_real));
    let rows = Rowed { buffer: gradient.clone(), shape: vec![held.columns], view: View::Own };
    (held.columns > 0 && LossLayout::new(held.columns, &strides, target).is_held)
        .then_some(Operand::Rows(rows))
}

/// The operands of an outer product on tensor cores, of one row per vertex each.
fn tiled_operands(launch: &Launch, target: GpuTarget) -> Option<&[Operand]> {
    let Operation::Evaluate { op: Op::Outer, inputs, .. } = &launch.operation else { return None };
    let columns = |operand: &Operand| operand.shape().last().copied().unwrap_or(1);
    let is_one = |operand: &Operand| {
        operand.shape().iter().product::<u64>() == columns(operand) && columns(operand) > 0
    };
    let [first, second] = inputs.as_slice() else { return None };
    let sides = SideColumns {
        wide: columns(first).max(columns(second)) as usize,
        narrow: columns(first).min(columns(second)) as usize,
    };
    (is_one(first) && is_one(second) && OuterProductShape::fit(sides, target).is_some())
        .then_some(inputs)
}

/// Whether a launch is the sum of these rows.
fn adds(launch: &Launch, rows: &Operand) -> bool {
    let Operation::Evaluate { op: Op::SumRows, inputs, .. } = &launch.operation else {
        return false;
    };
    // The shape within a row does not matter.
    let elements = |operand: &Operand| operand.shape().iter().product::<u64>();
    match (inputs.as_slice(), rows) {
        ([Operand::Rows(added)], Operand::Rows(wanted)) => {
            added.buffer == wanted.buffer
                && added.view == wanted.view
                && elements(&inputs[0]) == elements(rows)
        }
        (inputs, _) => *inputs == [rows.clone()],
    }
}

/// Whether a launch neither accesses a sum nor writes the rows that it adds.
fn leaves(launch: &Launch, sum: &Launch) -> bool {
    let (made, added) = (sum.operation.writes(), sum.operation.reads());
    let is_apart = |names: &[Cow<'_, str>]| names.iter().all(|name| !made.contains(name));
    let written = launch.operation.writes();
    is_apart(&launch.operation.reads())
        && is_apart(&written)
        && written.iter().all(|name| !added.contains(name))
}
