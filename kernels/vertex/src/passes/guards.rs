//! guards: a guard of a gradient's 0 against an infinity that cannot come is left out.
//!
//! reason    behind a choice `autodiff` writes `where(g == 0, 0, g * slope)` wherever it does not know that the slope is finite; on
//!           edges each costs a comparison and a choice an edge, and hides a product that other passes could take apart
//! keeps     every value, but for the sign of a 0, while inputs and parameters are finite
use super::{
    Choice,
    finite::{is_zero, may_be_infinite, may_be_zero},
    rebuild::rebuild,
};
use crate::gir::{Binary, Builder, Data, Gir, NodeId, Op};

/// The program without such guards.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| match (&site.node.op, site.inputs) {
        (Op::Select, &[condition, zero, value]) if is_zero(builder, zero) && is_needless(builder, condition, value) => Ok(Some(value)),
        _ => Ok(None),
    })
}

/// Whether the value is the one tested for 0, times something that is finite, or divided by something that is not 0.
fn is_needless(builder: &Builder<'_>, condition: NodeId, value: NodeId) -> bool {
    let (condition, value) = (inside(builder, condition, value).0, inside(builder, value, condition).0);
    let (tested, made) = (builder.node(condition), builder.node(value));
    let (Op::Binary(Binary::Equal), &[a, b]) = (&tested.op, tested.inputs.as_slice()) else { return false };
    let gradient = if is_zero(builder, b) { a } else { return false };
    match (&made.op, made.inputs.as_slice()) {
        (Op::Binary(Binary::Multiply), &[a, b]) if a == gradient => !may_be_infinite(builder, b),
        (Op::Binary(Binary::Multiply), &[a, b]) if b == gradient => !may_be_infinite(builder, a),
        (Op::Binary(Binary::Divide), &[a, b]) if a == gradient => !may_be_zero(builder, b),
        _ => false,
    }
}

/// What two views of the same end of the same edges show; else the values themselves.
fn inside(builder: &Builder<'_>, id: NodeId, other: NodeId) -> (NodeId, NodeId) {
    let (node, beside) = (builder.node(id), builder.node(other));
    let views = matches!(node.op, Op::Near(_) | Op::Far(_)) && node.op == beside.op;
    if views { (node.inputs[0], beside.inputs[0]) } else { (id, other) }
}
