//! gpu_fusion_rules: which launches may be fused on a GPU, where a row is processed by a group of
//! lanes, and products are tiles of many rows.
//!
//! promises  a launch is one of these: row operations whose widths divide each other; a walk over
//!           edges with such operations before and after it; a product, with operations on the rows
//!           of its result and sums along their last axis (attention scores); a narrow product of
//!           rows that a product computes follows it immediately (`Followers`)
//! never     decides more than that: readiness and deferral are the same for all devices
use std::collections::{BTreeMap, BTreeSet};

use super::{Group, Item};
use crate::fuse::inlined_edge_values::{FusionKind, ListValues};
use crate::{Operand, Operation, Rowed, Rows, View, reduced, width};
use warploom_ir::Op;
use warploom_tuning as tuning;

/// Maximum lanes per group: as many hold a row of a product that is summed along an axis.
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

/// Products that are best scheduled right after their rows, so that the kernel that computes the
/// rows multiplies them too (merged kernel): those of narrow matrices, so that deferred operations
/// on their result read that instead of the rows.
#[derive(Default)]
pub(super) struct Followers<'a> {
    /// How many products of the part multiply these rows.
    multiplied: BTreeMap<&'a str, usize>,
    /// Results computed together with a product.
    made: BTreeSet<&'a str>,
}

impl<'a> Followers<'a> {
    /// For a part of which nothing is scheduled yet.
    pub fn new(waiting: &[Item<'a>]) -> Self {
        let mut followers = Followers::default();
        for (rows, _) in waiting.iter().filter_map(multiplied) {
            *followers.multiplied.entry(rows).or_default() += 1;
        }
        followers
    }

    /// Records a scheduled group.
    pub fn note(&mut self, group: &Group<'a>) {
        if group.members.iter().any(is_product) {
            self.made.extend(&group.made);
        }
    }

    /// Whether this is such a product; not if more products multiply its rows than a kernel can
    /// merge, since all their results would be deferred.
    pub fn has(&self, values: &ListValues, item: &Item<'a>) -> bool {
        let Some((rows, inner)) = multiplied(item) else { return false };
        let made = columns(values, item);
        made <= tuning::merged_columns()
            && tuning::follower_share() * made <= inner
            && self.made.contains(rows)
            && self.multiplied.get(rows).is_some_and(|count| *count <= tuning::merged_followers())
    }
}

/// The vertex rows that a product multiplies, and their elements.
fn multiplied<'a>(item: &Item<'a>) -> Option<(&'a str, u64)> {
    let Operation::Evaluate { op: Op::Product { .. }, inputs, .. } = &item.launch.operation else {
        return None;
    };
    let Operand::Rows(Rowed { buffer, view: View::Own, shape }) = inputs.first()? else {
        return None;
    };
    Some((buffer, shape.iter().product()))
}

/// Whether a row operation may be deferred to its readers: all of them can take it.
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

/// Element-wise.
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

/// Along the last axis, which consecutive lanes hold.
fn is_last_axis(op: &Op, item: &Item) -> bool {
    let (Op::Axis(_, axis), Operation::Evaluate { inputs, .. }) = (op, &item.launch.operation)
    else {
        return false;
    };
    inputs.first().is_some_and(|input| axis + 1 == input.shape().len())
}

/// Elements of the rows that a product multiplies. Short ones do not suit tensor cores: the kernel
/// then processes rows by groups of lanes, and other operations are fused as in any such kernel.
fn inner(product: &Item) -> u64 {
    multiplied(product).map_or(u64::MAX, |(_, inner)| inner)
}

/// Whether one of these computes a buffer.
fn make(members: &[Item], name: &str) -> bool {
    members.iter().any(|member| member.writes().contains(&name))
}

/// Inputs that these launches compute and that are narrower than this many columns: sums along
/// their rows, and what follows from such.
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

/// Whether sums along rows of this many columns, and their readers, have one mapping to lanes: all
/// sums are of rows of one shape, and narrower values have one number per sum, which broadcasts to
/// each of its elements. A product's lanes hold its elements in order; stored rows are laid out as
/// those with most axes.
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
    // A broadcast operand: along an axis of 1, or one number for all.
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

/// The shape of the rows that this launch sums along an axis, if it does.
fn summed_shape(item: &Item) -> Option<Vec<u64>> {
    let (Some(Op::Axis(..)), Operation::Evaluate { inputs, .. }) =
        (op(item), &item.launch.operation)
    else {
        return None;
    };
    inputs.first().map(Operand::shape)
}

/// Whether operations after a product read only vertex rows that are computed there: other rows
/// would arrive late in its kernel, and two launches are faster.
fn reads_nothing(values: &ListValues, members: &[Item]) -> bool {
    let is_of_vertex =
        |name: &str| values.buffer(name).is_none_or(|buffer| buffer.rows == Rows::Nodes);
    let leaves = members
        .iter()
        .filter(|member| !is_product(member))
        .flat_map(|member| &member.reading.leaves);
    leaves.into_iter().all(|(name, _)| make(members, name) || !is_of_vertex(name))
}

/// Whether this is a sum along the last axis of rows of this width, each of which fits a group of
/// lanes.
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

/// Elements that are distributed over the lanes.
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
