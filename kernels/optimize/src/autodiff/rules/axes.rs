//! axes: gradients of sums over rows and of operations along the axes of a row.
use super::super::{GradientWalk, Refusal};
use warploom_ir::{Binary, Misfit, Node, NodeId, NodeResult, Number, Op, Pooling, Type, Unary};

/// Sums over vertices or all rows, and broadcasts from graphs.
pub(super) fn rows(
    walk: &mut GradientWalk<'_>,
    y: NodeId,
    node: &Node,
    g: NodeId,
) -> Result<(), Refusal> {
    let a = node.inputs[0];
    match &node.op {
        // a += g of its graph
        Op::Pool(Pooling::Sum) => {
            let part = walk.builder.make(Op::Give, &[g])?;
            walk.give(a, part)?;
        }
        // a += g of its graph where a is the result, split equally among ties
        Op::Pool(Pooling::Maximum | Pooling::Minimum) => {
            let best = walk.builder.make(Op::Give, &[y])?;
            let holds = walk.builder.binary(Binary::Equal, a, best)?;
            let one = walk.builder.cast(Type::Real, holds)?;
            let count = walk.builder.make(Op::Pool(Pooling::Sum), &[one])?;
            let share = walk.builder.divide(g, count)?;
            let given = walk.builder.make(Op::Give, &[share])?;
            let zero = walk.builder.real(0.0);
            let part = walk.builder.select(holds, given, zero)?;
            walk.give(a, part)?;
        }
        // a += sum of g over the graph's vertices
        Op::Give => {
            let part = walk.builder.make(Op::Pool(Pooling::Sum), &[g])?;
            walk.give(a, part)?;
        }
        // a += g, the same for every row
        _ => walk.give(a, g)?,
    }
    Ok(())
}

/// Operations along an axis.
pub(super) fn rule(
    walk: &mut GradientWalk<'_>,
    y: NodeId,
    node: &Node,
    g: NodeId,
) -> Result<(), Refusal> {
    let a = node.inputs[0];
    let shape = walk.builder.node(a).shape.clone();
    let part = match &node.op {
        // a += g, repeated along the axis
        Op::Axis(Pooling::Sum, axis) => restored(walk, g, &shape, *axis)?,
        Op::Axis(pooling, axis) => {
            let winner = winner(walk, *pooling, *axis, a, y)?;
            let wide = restored(walk, g, &shape, *axis)?;
            let zero = walk.builder.real(0.0);
            walk.builder.select(winner, wide, zero)?
        }
        // a += g in a's shape
        Op::Reshape => walk.reshaped(g, &shape)?,
        // a += sum of g over broadcast axes
        Op::Expand => walk.builder.unbroadcast(g, &shape)?,
        // each input += its slice of g
        Op::Concat(axis) => return Ok(concat(walk, *axis, &node.inputs, g)?),
        // a += g at the positions of the slice, 0 elsewhere
        Op::Slice { axis, start, .. } => walk
            .builder
            .make(Op::Unslice { axis: *axis, start: *start, total: shape[*axis] }, &[g])?,
        // a += the slice of g
        Op::Unslice { axis, start, .. } => walk
            .builder
            .make(Op::Slice { axis: *axis, start: *start, length: shape[*axis] }, &[g])?,
        _ => return Ok(()),
    };
    Ok(walk.give(a, part)?)
}

fn concat(
    walk: &mut GradientWalk<'_>,
    axis: usize,
    inputs: &[NodeId],
    g: NodeId,
) -> Result<(), Misfit> {
    let mut start = 0;
    for &input in inputs {
        let length = walk.builder.node(input).shape[axis];
        if walk.active.carries(input) {
            let part = walk.builder.make(Op::Slice { axis, start, length }, &[g])?;
            walk.give(input, part)?;
        }
        start += length;
    }
    Ok(())
}

/// A row without an axis, broadcast along it to this shape.
fn restored(walk: &mut GradientWalk<'_>, a: NodeId, shape: &[u64], axis: usize) -> NodeResult {
    let mut thin = shape.to_vec();
    thin[axis] = 1;
    let thin = walk.reshaped(a, &thin)?;
    walk.builder.make_shaped(Op::Expand, &[thin], shape)
}

/// Whether an element is the first along the axis that attains its maximum or minimum.
fn winner(
    walk: &mut GradientWalk<'_>,
    pooling: Pooling,
    axis: usize,
    a: NodeId,
    y: NodeId,
) -> NodeResult {
    debug_assert!(pooling != Pooling::Sum, "a sum has no winner");
    let shape = walk.builder.node(a).shape.clone();
    let best = restored(walk, y, &shape, axis)?;
    let holds = walk.builder.binary(Binary::Equal, a, best)?;
    let places = places(walk, shape[axis])?;
    let mut column = vec![1; shape.len() - axis];
    column[0] = shape[axis];
    let places = walk.builder.make_shaped(Op::Reshape, &[places], &column)?;
    let beyond = walk.builder.constant(Number::Int(i64::try_from(shape[axis]).unwrap_or(i64::MAX)));
    let candidates = walk.builder.select(holds, places, beyond)?;
    let smallest = walk.builder.make(Op::Axis(Pooling::Minimum, axis), &[candidates])?;
    let wide = restored(walk, smallest, &shape, axis)?;
    walk.builder.binary(Binary::Equal, places, wide)
}

/// C int `[length]`: 0, 1, 2 and so on, by doubling.
fn places(walk: &mut GradientWalk<'_>, length: u64) -> NodeResult {
    let zero = walk.builder.constant(Number::Int(0));
    let mut places = walk.builder.make_shaped(Op::Reshape, &[zero], &[1])?;
    let mut count = 1;
    while count < length {
        let offset = walk.builder.constant(Number::Int(count as i64));
        let next = walk.builder.add(places, offset)?;
        places = walk.builder.make(Op::Concat(0), &[places, next])?;
        count *= 2;
    }
    if count > length {
        walk.builder.make(Op::Slice { axis: 0, start: 0, length }, &[places])
    } else {
        Ok(places)
    }
}

/// Whether any element of a row is not 0; a bool with the row's axes, each of length 1 but for the
/// leading ones.
pub(super) fn moved(walk: &mut GradientWalk<'_>, a: NodeId) -> NodeResult {
    let mut shape = walk.builder.node(a).shape.clone();
    let last = shape.len() - 1;
    shape[last] = 1;
    let size = walk.builder.unary(Unary::Absolute, a)?;
    let largest = walk.builder.make(Op::Axis(Pooling::Maximum, last), &[size])?;
    let largest = walk.builder.make_shaped(Op::Reshape, &[largest], &shape)?;
    let zero = walk.builder.real(0.0);
    walk.builder.binary(Binary::NotEqual, largest, zero)
}
