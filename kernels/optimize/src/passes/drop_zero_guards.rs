//! drop_zero_guards: removes guards of a gradient's 0 against infinities that cannot occur.
//!
//! reason    behind a choice `autodiff` emits `where(g == 0, 0, g * slope)` wherever it cannot
//!           prove that the derivative is finite; each guard costs a comparison and a select per
//!           edge, and hides a product from other passes. A softmax guards its total against a
//!           vertex without edges, and so does its gradient, which only edges read: the guard's
//!           mask would be stored from forward to backward, an integer per row and head
//! keeps     every value, except for the sign of a 0, while inputs and parameters are finite
use super::{
    Choice,
    rebuild::rebuild,
    value_ranges::{is_zero, may_be_infinite, may_be_zero},
};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Gir, NodeId, Number, Op, Pooling, Reduction, Unary,
};

/// The program without such guards.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| match (&site.node.op, site.inputs) {
        (Op::Select, &[condition, zero, value])
            if is_zero(builder, zero) && is_needless(builder, condition, value) =>
        {
            Ok(Some(value))
        }
        (Op::Near(edges), &[guarded]) => {
            match (&builder.node(guarded).op, builder.node(guarded).inputs.as_slice()) {
                (Op::Select, &[condition, _, value])
                    if is_without_edges(builder, condition, *edges) =>
                {
                    builder.make(Op::Near(*edges), &[value]).map(Some)
                }
                _ => Ok(None),
            }
        }
        (Op::Outer, &[a, b]) => {
            let (left, right) = (unguarded(builder, a, b), unguarded(builder, b, a));
            if (left, right) == (a, b) {
                Ok(None)
            } else {
                builder.make(Op::Outer, &[left, right]).map(Some)
            }
        }
        _ => Ok(None),
    })
}

/// Rows multiplied with a gradient's in an outer product, without the guard that replaces them by 0
/// where the gradient's row is 0.
fn unguarded(builder: &Builder<'_>, rows: NodeId, gradient: NodeId) -> NodeId {
    let only = |id: NodeId, op: &Op| {
        Some(builder.node(id)).filter(|node| node.op == *op).map(|node| node.inputs[0])
    };
    let bare = |id: NodeId| only(id, &Op::Reshape).unwrap_or(id);
    let (Op::Select, &[condition, inner, zero]) =
        (&builder.node(rows).op, builder.node(rows).inputs.as_slice())
    else {
        return rows;
    };
    let mut largest = only(bare(condition), &Op::Binary(Binary::NotEqual)).map(bare);
    while let Some(Op::Axis(Pooling::Maximum, _)) = largest.map(|id| &builder.node(id).op) {
        largest = largest.map(|id| bare(builder.node(id).inputs[0]));
    }
    let of = largest.and_then(|id| only(id, &Op::Unary(Unary::Absolute)));
    let is_guard = is_zero(builder, zero) && of.is_some_and(|of| bare(of) == bare(gradient));
    if is_guard && !may_be_infinite(builder, inner) { inner } else { rows }
}

/// Whether the value is the tested one times a finite value, or divided by one that is not 0.
fn is_needless(builder: &Builder<'_>, condition: NodeId, value: NodeId) -> bool {
    let (condition, value) =
        (inside(builder, condition, value).0, inside(builder, value, condition).0);
    let (view, condition) = match builder.node(condition).op {
        Op::Near(_) | Op::Far(_) => {
            (Some(builder.node(condition).op.clone()), builder.node(condition).inputs[0])
        }
        _ => (None, condition),
    };
    let (tested, made) = (builder.node(condition), builder.node(value));
    let (Op::Binary(Binary::Equal), &[a, b]) = (&tested.op, tested.inputs.as_slice()) else {
        return false;
    };
    let gradient = if is_zero(builder, b) { a } else { return false };
    // The gradient itself, or the value beneath the view that it and its test share.
    let is_gradient = |id: NodeId| match &view {
        Some(view) => builder.node(id).op == *view && builder.node(id).inputs[0] == gradient,
        None => id == gradient,
    };
    match (&made.op, made.inputs.as_slice()) {
        (Op::Binary(Binary::Multiply), &[a, b]) if is_gradient(a) => !may_be_infinite(builder, b),
        (Op::Binary(Binary::Multiply), &[a, b]) if is_gradient(b) => !may_be_infinite(builder, a),
        (Op::Binary(Binary::Divide), &[a, b]) if is_gradient(a) => !may_be_zero(builder, b),
        _ => false,
    }
}

/// Whether the condition is that a softmax's total over these edges is 0, which is false for each
/// of them: the largest score is one of theirs, so that its exponential is 1. Edges of one relation
/// are tested among all others, for which it may hold.
fn is_without_edges(builder: &Builder<'_>, condition: NodeId, edges: EdgeSet) -> bool {
    let only = |id: NodeId, op: &Op| {
        Some(builder.node(id))
            .filter(|node| node.op == *op && node.inputs.len() == 1)
            .map(|node| node.inputs[0])
    };
    let tested = builder.node(condition);
    let (Op::Binary(Binary::Equal), &[total, zero]) = (&tested.op, tested.inputs.as_slice()) else {
        return false;
    };
    let shifted = only(total, &Op::Reduce(Reduction::Sum, edges))
        .and_then(|raised| only(raised, &Op::Unary(Unary::Exp)));
    let Some((Op::Binary(Binary::Subtract), &[score, shift])) =
        shifted.map(|id| (&builder.node(id).op, builder.node(id).inputs.as_slice()))
    else {
        return false;
    };
    let mut largest = only(shift, &Op::Near(edges));
    // Over no edges the maximum is -inf, and 0 is subtracted instead.
    if let Some((Op::Select, &[nothing, _, real])) =
        largest.map(|id| (&builder.node(id).op, builder.node(id).inputs.as_slice()))
    {
        let is_lowest = |id: &NodeId| {
            matches!(builder.node(*id).op, Op::Constant(Number::Real(f64::NEG_INFINITY)))
        };
        let tested = builder.node(nothing);
        let is_test = tested.op == Op::Binary(Binary::Equal)
            && tested.inputs.contains(&real)
            && tested.inputs.iter().any(is_lowest);
        largest = Some(real).filter(|_| is_test);
    }
    largest = largest.map(|id| only(id, &Op::Detach).unwrap_or(id));
    let is_of_largest =
        largest.and_then(|id| only(id, &Op::Reduce(Reduction::Maximum, edges))) == Some(score);
    edges.relation.is_none()
        && is_zero(builder, zero)
        && is_of_largest
        && !may_be_infinite(builder, score)
}

/// The value beneath two views of the same end of the same edges; else the values themselves.
fn inside(builder: &Builder<'_>, id: NodeId, other: NodeId) -> (NodeId, NodeId) {
    let (node, beside) = (builder.node(id), builder.node(other));
    let views = matches!(node.op, Op::Near(_) | Op::Far(_)) && node.op == beside.op;
    if views { (node.inputs[0], beside.inputs[0]) } else { (id, other) }
}
