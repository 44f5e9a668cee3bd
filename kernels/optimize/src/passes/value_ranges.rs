//! value_ranges: which values can be infinite, NaN or 0 for finite inputs.
//!
//! promises  a value counts as finite only if it is for all finite inputs and parameters; sums and
//!           products of finite values count as finite, as in `autodiff`
//! never     evaluates numbers; proves more than a guarded division, root or logarithm
use warploom_ir::{
    Binary, Builder, Input, NodeId, Number, Op, Pooling, Property, Reduction, Type, Unary,
};

/// Whether a node is the number 0.
pub(super) fn is_zero(builder: &Builder<'_>, id: NodeId) -> bool {
    matches!(builder.node(id).op, Op::Constant(Number::Real(0.0) | Number::Int(0)))
}

/// Whether an operator is unbounded near 0: poles, and the derivative of a root.
fn is_steep_at_zero(operator: &Unary) -> bool {
    *operator == Unary::Sqrt || operator.has(Property::PoleAtZero)
}

/// Whether a value may be infinite or NaN if inputs, parameters, and sums and products of finite
/// values are finite.
pub(super) fn may_be_infinite(builder: &Builder<'_>, id: NodeId) -> bool {
    let (mut waiting, mut seen) = (vec![id], std::collections::BTreeSet::new());
    while let Some(id) = waiting.pop() {
        let node = builder.node(id);
        if node.kind != Type::Real || !seen.insert(id) {
            continue;
        }
        let wild = match &node.op {
            Op::Constant(number) => !number.real().is_finite(),
            Op::Input(Input::Column(_)) | Op::State(_) | Op::Ended(..) => true,
            Op::Unary(Unary::Exp) => !is_shifted(builder, node.inputs[0]),
            Op::Unary(operator) if is_steep_at_zero(operator) => {
                may_be_zero(builder, node.inputs[0])
            }
            Op::Binary(Binary::Divide | Binary::FloorDivide | Binary::Remainder) => {
                may_be_zero(builder, node.inputs[1])
            }
            Op::Binary(Binary::Power) => true,
            Op::Reduce(Reduction::Minimum | Reduction::Maximum, _)
            | Op::Pool(Pooling::Minimum | Pooling::Maximum) => true,
            _ => false,
        };
        if wild {
            return true;
        }
        match (&node.op, node.inputs.as_slice()) {
            // Guarded: selected where its operand is positive, or is not infinite.
            (Op::Select, &[condition, yes, no]) => waiting.extend(
                [yes, no]
                    .into_iter()
                    .filter(|side| !is_chosen_with_care(builder, condition, *side)),
            ),
            _ => waiting.extend(&node.inputs),
        }
    }
    false
}

/// Whether a divisor (or the operand of a root or logarithm) may be 0 or NaN.
pub(super) fn may_be_zero(builder: &Builder<'_>, id: NodeId) -> bool {
    let node = builder.node(id);
    let number = |id: NodeId| {
        if let Op::Constant(number) = builder.node(id).op { Some(number.real()) } else { None }
    };
    match (&node.op, node.inputs.as_slice()) {
        (Op::Constant(number), _) => number.real() == 0.0 || number.real().is_nan(),
        (Op::Cast(_) | Op::Near(_) | Op::Far(_) | Op::Detach | Op::Reshape | Op::Expand, &[a]) => {
            may_be_zero(builder, a)
        }
        (Op::Binary(Binary::Maximum), &[a, b]) => {
            node.kind != Type::Int
                || ![a, b].into_iter().any(|id| number(id).is_some_and(|number| number > 0.0))
        }
        (Op::Select, &[condition, yes, no]) => {
            let tested = builder.node(condition);
            let replaced = tested.op == Op::Binary(Binary::Equal)
                && tested.inputs.contains(&no)
                && tested.inputs.iter().any(|id| is_zero(builder, *id));
            !replaced
                || number(yes).is_none_or(|number| number == 0.0 || number.is_nan())
                || may_be_infinite(builder, no)
        }
        _ => true,
    }
}

/// Whether an exponent is a difference from the maximum, as in a softmax, or from a detached value:
/// it is at most 0.
fn is_shifted(builder: &Builder<'_>, id: NodeId) -> bool {
    let node = builder.node(id);
    let mut from =
        if node.op == Op::Binary(Binary::Subtract) { node.inputs[1] } else { return false };
    while let Op::Near(_) | Op::Far(_) | Op::Reshape | Op::Expand | Op::Select =
        builder.node(from).op
    {
        let node = builder.node(from);
        from = *node.inputs.last().expect("a view or select has inputs");
    }
    matches!(
        builder.node(from).op,
        Op::Detach | Op::Reduce(Reduction::Maximum, _) | Op::Axis(Pooling::Maximum, _)
    )
}

/// Whether the condition compares with 0 (or an infinity) the selected value itself, or the operand
/// of its root, logarithm or quotient.
fn is_chosen_with_care(builder: &Builder<'_>, condition: NodeId, side: NodeId) -> bool {
    let (tested, node) = (builder.node(condition), builder.node(side));
    if !matches!(tested.op, Op::Binary(Binary::Less | Binary::Equal | Binary::NotEqual)) {
        return false;
    }
    let limit = |id: NodeId| matches!(builder.node(id).op, Op::Constant(number) if number.real() == 0.0 || number.real().is_infinite());
    if !tested.inputs.iter().any(|id| limit(*id)) {
        return false;
    }
    match node.op {
        Op::Unary(operator) if is_steep_at_zero(&operator) => {
            tested.inputs.contains(&node.inputs[0])
        }
        Op::Binary(Binary::Divide) => {
            tested.inputs.contains(&node.inputs[1]) && !may_be_infinite(builder, node.inputs[0])
        }
        _ => tested.inputs.contains(&side),
    }
}
