//! gpu_fusion_rules: what may become one launch where a row is a group's of lanes, and products are
//! tiles of many rows.
//!
//! promises  a launch is one of these: work on rows whose widths go into each other; a walk over
//!           edges with such work before and after it; a product, with work on the rows of its
//!           result and sums along their last axis (scores of an attention); a narrow product of
//!           rows that a product makes comes right behind these (`Followers`)
//! never     decides more than that: what is at hand, and what waits, is the same for all devices
use std::collections::{BTreeMap, BTreeSet};

use super::{Group, Item};
use crate::fuse::inlined_edge_values::{FusionKind, ListValues};
use crate::gir::Op;
use crate::launch::{Operand, Operation, Rowed, Rows, View, reduced, width};
use crate::tuning;

/// Lanes of a group at most: that many hold a row of a product that is added up along an axis.
const LANES: u64 = 32;

/// Whether a launch may join these.
pub(super) fn take(values: &ListValues, members: &[Item], item: &Item) -> bool {
    let Some(op) = op(item) else { return false };
    if is_product(item) {
        return false;
    }
    if let Some(product) = members.iter().find(|member| is_product(member)) {
        let (wide, own) = (columns(values, product), columns(values, item));
        let is_of_row = is_plain(op) && own == wide;
        let (is_short, is_attended) = (
            inner(product) < tuning::tensor_inner_least(),
            inner(product) < tuning::attended_inner_least(),
        );
        let is_of_sums = is_plain(op)
            && (is_short || (is_attended && !reads_nothing(values, members)))
            && wide.is_multiple_of(own.max(1))
            && !narrow_reads(values, members, item, wide).is_empty();
        let is_sum =
            is_sum_of_row(values, item, wide) && (is_attended || reads_nothing(values, members));
        return (is_of_row || is_of_sums || is_sum)
            && same_lane_layout(values, members, item, wide)
            && !is_of_many_rows(values, product);
    }
    let walks_edges = members
        .iter()
        .chain([item])
        .any(|member| self::op(member).is_some_and(|op| reduced(op).is_some()));
    if walks_edges
        && item.kind == FusionKind::Vertex
        && !is_plain(op)
        && !is_last_axis(op, item)
        && reduced(op).is_none()
    {
        return false;
    }
    members.iter().all(|member| {
        let (one, other) = (frame(values, member), frame(values, item));
        one.max(other).is_multiple_of(one.min(other).max(1))
    })
}

/// Products that had better be made as soon as their rows are, with which a product's kernel then
/// multiplies them (`joined`): of narrow matrices, so that work on their result that waits for
/// something else reads that in place of these rows.
#[derive(Default)]
pub(super) struct Followers<'a> {
    /// How many products of the part multiply these rows.
    multiplied: BTreeMap<&'a str, usize>,
    /// What was made together with a product.
    made: BTreeSet<&'a str>,
}

impl<'a> Followers<'a> {
    /// Of a part that nothing was made of.
    pub fn new(waiting: &[Item<'a>]) -> Self {
        let mut followers = Followers::default();
        for (rows, _) in waiting.iter().filter_map(multiplied) {
            *followers.multiplied.entry(rows).or_default() += 1;
        }
        followers
    }

    /// A group was made.
    pub fn note(&mut self, group: &Group<'a>) {
        if group.members.iter().any(is_product) {
            self.made.extend(&group.made);
        }
    }

    /// Whether this is such a product; not where more multiply its rows than a kernel takes along,
    /// all results of which would wait.
    pub fn has(&self, values: &ListValues, item: &Item<'a>) -> bool {
        let Some((rows, inner)) = multiplied(item) else { return false };
        let made = columns(values, item);
        made <= tuning::merged_columns()
            && tuning::follower_share() * made <= inner
            && self.made.contains(rows)
            && self.multiplied.get(rows).is_some_and(|count| *count <= tuning::merged_followers())
    }
}

/// The rows of vertices that a product multiplies, and their elements.
fn multiplied<'a>(item: &Item<'a>) -> Option<(&'a str, u64)> {
    let Operation::Evaluate { op: Op::Product { .. }, inputs, .. } = &item.launch.operation else {
        return None;
    };
    let Operand::Rows(Rowed { buffer, view: View::Own, shape }) = inputs.first()? else {
        return None;
    };
    Some((buffer, shape.iter().product()))
}

/// Whether work on rows may wait for launches that read it: all of these can take it.
pub(super) fn can_wait(waiting: &[Item], at: usize) -> bool {
    let Some(Operation::Evaluate { out, op, .. }) =
        waiting.get(at).map(|item| &item.launch.operation)
    else {
        return false;
    };
    let reads_it = |other: &&Item| other.reading.leaves.iter().any(|(name, _)| name == out);
    let takes_it = |other: &Item| {
        other.kind == FusionKind::Vertex
            && !matches!(self::op(other), Some(Op::Product { .. }) | None)
    };
    is_plain(op) && waiting.iter().filter(reads_it).all(takes_it)
}

fn op<'a>(item: &Item<'a>) -> Option<&'a Op> {
    if let Operation::Evaluate { op, .. } = &item.launch.operation { Some(op) } else { None }
}

/// Whether this is a product with a matrix.
pub(super) fn is_product(item: &Item) -> bool {
    matches!(op(item), Some(Op::Product { .. }))
}

/// Element by element.
fn is_plain(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Dropout { .. }
            | Op::Detach
            | Op::WhenTraining
            | Op::Give
            | Op::Reshape
            | Op::Expand
    )
}

/// Along the last axis: lanes that have it are neighbours.
fn is_last_axis(op: &Op, item: &Item) -> bool {
    let (Op::Axis(_, axis), Operation::Evaluate { inputs, .. }) = (op, &item.launch.operation)
    else {
        return false;
    };
    inputs.first().is_some_and(|input| axis + 1 == input.shape().len())
}

/// Elements of the rows that a product multiplies. Short ones are no work for tensor cores: its
/// kernel is one of rows then, each a group's of lanes, and others arrive in it as in any.
fn inner(product: &Item) -> u64 {
    multiplied(product).map_or(u64::MAX, |(_, inner)| inner)
}

/// Whether one of these makes a buffer.
fn make(members: &[Item], name: &str) -> bool {
    members.iter().any(|member| member.writes().contains(&name))
}

/// What work reads that these make and that is narrower than so many columns: sums along their
/// rows, and what was made of such.
fn narrow_reads<'a>(
    values: &ListValues,
    members: &[Item],
    item: &Item<'a>,
    wide: u64,
) -> Vec<&'a Rowed> {
    let Operation::Evaluate { inputs, .. } = &item.launch.operation else { return Vec::new() };
    let is_narrow = |rows: &&Rowed| {
        make(members, &rows.buffer)
            && values.buffer(&rows.buffer).is_some_and(|buffer| buffer.columns < wide)
    };
    inputs.iter().flat_map(Operand::rows).filter(is_narrow).collect()
}

/// Whether sums along rows of so many columns, and whoever reads them, lie over lanes in one way:
/// all sums are of rows of one shape, and what is narrower has one number for each of them, which
/// rows of that shape see beside each of their elements. A product's lanes have its elements in
/// order; what is put down lies as the rows with most axes do.
fn same_lane_layout(values: &ListValues, members: &[Item], item: &Item, wide: u64) -> bool {
    let mut sums = members.iter().chain([item]).filter_map(summed_shape);
    let Some(row) = sums.next() else { return true };
    let (Some((_, numbers)), Operation::Evaluate { shape, .. }) =
        (row.split_last(), &item.launch.operation)
    else {
        return false;
    };
    let is_of_numbers = |shape: &[u64]| {
        shape == numbers || matches!(shape.split_last(), Some((1, before)) if before == numbers)
    };
    // Beside each element: along an axis of 1, or one number for all.
    let is_beside =
        |shape: &[u64]| is_of_numbers(shape) && (numbers.is_empty() || shape.len() == row.len());
    let (own, narrow) = (summed_shape(item), narrow_reads(values, members, item, wide));
    let fits = if own.is_none() && columns(values, item) < wide {
        is_of_numbers(shape) && narrow.iter().all(|rows| is_of_numbers(&rows.shape))
    } else {
        narrow.is_empty()
            || (own.as_ref().unwrap_or(shape) == &row
                && narrow.iter().all(|rows| is_beside(&rows.shape)))
    };
    let is_laid_so = |member: &Item| match &member.launch.operation {
        Operation::Evaluate { shape, .. } => {
            numbers.is_empty()
                || columns(values, member) < wide
                || shape.len() < row.len()
                || *shape == row
        }
        _ => false,
    };
    fits && sums.all(|other| other == row) && members.iter().chain([item]).all(is_laid_so)
}

/// The shape of the rows that are added up along an axis, if this does that.
fn summed_shape(item: &Item) -> Option<Vec<u64>> {
    let (Some(Op::Axis(..)), Operation::Evaluate { inputs, .. }) =
        (op(item), &item.launch.operation)
    else {
        return None;
    };
    inputs.first().map(Operand::shape)
}

/// Whether work behind a product reads no rows of vertices but those that are made there: others
/// arrive late in its kernel, and two launches take less.
fn reads_nothing(values: &ListValues, members: &[Item]) -> bool {
    let is_of_vertex =
        |name: &str| values.buffer(name).is_none_or(|buffer| buffer.rows == Rows::Nodes);
    let leaves = members
        .iter()
        .filter(|member| !is_product(member))
        .flat_map(|member| &member.reading.leaves);
    leaves.into_iter().all(|(name, _)| make(members, name) || !is_of_vertex(name))
}

/// Whether this is a sum along the last axis of rows so wide, each of which a group of lanes can
/// hold.
fn is_sum_of_row(values: &ListValues, item: &Item, wide: u64) -> bool {
    let Operation::Evaluate { out, op, inputs, .. } = &item.launch.operation else { return false };
    let most =
        values.buffer(out).map_or(1, |buffer| 16 / width(buffer.element, values.facts).max(1));
    let length = inputs.first().and_then(|input| input.shape().last().copied()).unwrap_or(1);
    let vector = [4, 2]
        .into_iter()
        .find(|vector| {
            *vector <= most && wide.is_multiple_of(*vector) && length.is_multiple_of(*vector)
        })
        .unwrap_or(1);
    is_last_axis(op, item) && frame(values, item) == wide && wide.div_ceil(vector) <= LANES
}

fn columns(values: &ListValues, item: &Item) -> u64 {
    item.writes()
        .iter()
        .filter_map(|name| values.buffer(name))
        .map(|buffer| buffer.columns)
        .max()
        .unwrap_or(1)
}

/// Elements that lie over the lanes.
fn frame(values: &ListValues, item: &Item) -> u64 {
    let Operation::Evaluate { op, inputs, .. } = &item.launch.operation else { return 1 };
    let read = matches!(op, Op::Axis(..))
        .then(|| inputs.first().map_or(1, |input| input.shape().iter().product()));
    columns(values, item).max(read.unwrap_or(1))
}

/// Whether each vertex has several rows of a product.
fn is_of_many_rows(values: &ListValues, item: &Item) -> bool {
    let Operation::Evaluate { shape, .. } = &item.launch.operation else { return true };
    shape.last().copied().unwrap_or(1) != columns(values, item)
}
