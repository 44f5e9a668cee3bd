//! simplify: removes operations that have no effect.
//!
//! reason    settings of 1 and 0, implicit casts, and gradients of views leave steps without effect
//! keeps     every value, bit for bit, including the sign of zero and NaN (except for the payload
//!           of a NaN). So `x * 0` stays, since x may be infinite or -0; `x + 0` is removed only if
//!           x is never -0; `0 - x` is no negation, `-0 - x` is one
//! also      removes `Detach` once gradients are added, or if none are needed
use super::{
    Choice,
    constant_folding::constant,
    rebuild::{Ruled, Site, rebuild, remake},
};
use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeSet, Gir, Input, NodeId, NodeResult, Number, Op, Pooling,
    Property, Reduction, Type, Unary,
};

/// The program without such operations.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let differentiated = gir.loss.is_none() || !gir.gradients.is_empty();
    // All weights are 1; before gradients are added, one may be needed for the weights.
    let unweighted = !data.weighted && differentiated;
    rebuild(&gir, data, None, &mut |builder, site| match (&site.node.op, site.inputs) {
        (Op::Detach, &[a]) if differentiated || matches!(builder.node(a).op, Op::Detach) => {
            Ok(Some(a))
        }
        (Op::Unary(operator), &[a]) => unary(builder, *operator, a),
        (Op::Binary(Binary::Multiply), &[a, b]) if unweighted && is_weight_of(builder, a, b) => {
            Ok(Some(a))
        }
        (Op::Binary(Binary::Multiply), &[a, b]) if unweighted && is_weight_of(builder, b, a) => {
            Ok(Some(b))
        }
        (Op::Reduce(Reduction::Sum, edges), &[a]) if unweighted && is_weight(builder, a) => {
            let count = builder.make(Op::Input(Input::Degree(*edges)), &[])?;
            builder.cast(Type::Real, count).map(Some)
        }
        (Op::Reduce(reduction, edges), &[a])
            if data.symmetric && reads_either(*reduction, *edges) =>
        {
            one_direction(builder, site, *edges, a)
        }
        // The product above is no substitute for a view of far rows, but a reduction reads either.
        (Op::Reduce(..), &[a, ..]) if unweighted => match weighted_value(builder, a) {
            Some(value) => {
                let inputs: Vec<NodeId> =
                    [value].into_iter().chain(site.inputs[1..].iter().copied()).collect();
                builder.make(site.node.op.clone(), &inputs).map(Some)
            }
            None => Ok(None),
        },
        (Op::Binary(operator), &[a, b]) => binary(builder, site, *operator, a, b),
        (Op::Select, &[condition, yes, no]) => select(builder, condition, yes, no),
        (Op::Cast(kind), &[a]) => cast(builder, *kind, a),
        (Op::Dropout { probability, .. }, &[a]) if *probability == 0.0 => Ok(Some(a)),
        (Op::WhenTraining, &[a, b]) if a == b => Ok(Some(a)),
        (Op::Turn, &[a]) => Ok(inside(builder, a, &Op::Turn)),
        (Op::Reshape | Op::Expand, &[a]) => repeated_view(builder, site, a),
        (Op::Axis(..) | Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. }, _) => {
            axis(builder, site)
        }
        _ => Ok(None),
    })
}

/// Whether this is the weight of each edge.
fn is_weight(builder: &Builder<'_>, id: NodeId) -> bool {
    builder.node(id).op == Op::Input(Input::Weight)
}

/// Whether this is a product of an edge value with the weight of its edge.
fn is_weight_of(builder: &Builder<'_>, value: NodeId, weight: NodeId) -> bool {
    is_weight(builder, weight) && builder.node(value).place.edge_rows().is_some()
}

/// The value of an edge that this multiplies with the weight of the edge, if it does.
fn weighted_value(builder: &Builder<'_>, product: NodeId) -> Option<NodeId> {
    let node = builder.node(product);
    let (Op::Binary(Binary::Multiply), &[a, b]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    let is_pair = |(value, weight): (NodeId, NodeId)| is_weight_of(builder, value, weight);
    let (value, _) = [(a, b), (b, a)].into_iter().find(|pair| is_pair(*pair))?;
    (builder.node(value).shape == node.shape).then_some(value)
}

/// Whether a reduction over both directions of a symmetric graph is that over one: a value that
/// comes twice counts once.
fn reads_either(reduction: Reduction, edges: EdgeSet) -> bool {
    use Reduction::{All, Any, Maximum, Minimum};
    edges.direction == Direction::Both
        && edges.relation.is_none()
        && matches!(reduction, Minimum | Maximum | Any | All)
}

/// The same reduction of far rows over in-edges alone.
fn one_direction(
    builder: &mut Builder<'_>,
    site: &Site<'_>,
    edges: EdgeSet,
    value: NodeId,
) -> Ruled {
    let Some(row) = inside(builder, value, &Op::Far(edges)) else { return Ok(None) };
    let incoming = EdgeSet { direction: Direction::In, ..edges };
    let far = builder.make(Op::Far(incoming), &[row])?;
    let Op::Reduce(reduction, _) = site.node.op else { return Ok(None) };
    builder.make(Op::Reduce(reduction, incoming), &[far]).map(Some)
}

/// The input of a node, if it has this operation.
fn inside(builder: &Builder<'_>, id: NodeId, op: &Op) -> Option<NodeId> {
    let node = builder.node(id);
    (node.op == *op).then(|| node.inputs[0])
}

fn is_real(builder: &Builder<'_>, id: NodeId, number: f64) -> bool {
    matches!(constant(builder, id), Some(Number::Real(found)) if found.to_bits() == number.to_bits())
}

fn is_int(builder: &Builder<'_>, id: NodeId, number: i64) -> bool {
    constant(builder, id) == Some(Number::Int(number))
}

fn is_bool(builder: &Builder<'_>, id: NodeId, truth: bool) -> bool {
    constant(builder, id) == Some(Number::Bool(truth))
}

fn unary(builder: &mut Builder<'_>, operator: Unary, a: NodeId) -> Ruled {
    let within = |inner: Unary| inside(builder, a, &Op::Unary(inner));
    match operator {
        Unary::Negative => Ok(within(Unary::Negative)),
        Unary::Not => Ok(within(Unary::Not)),
        Unary::Relu | Unary::Floor if within(operator).is_some() => Ok(Some(a)),
        Unary::Absolute
            if within(Unary::Absolute).is_some()
                || within(Unary::Square).is_some() && builder.node(a).kind == Type::Real =>
        {
            Ok(Some(a))
        }
        Unary::Absolute | Unary::Square => {
            match within(Unary::Negative).or_else(|| within(Unary::Absolute)) {
                Some(inner) => builder.unary(operator, inner).map(Some),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

fn binary(
    builder: &mut Builder<'_>,
    site: &Site<'_>,
    operator: Binary,
    a: NodeId,
    b: NodeId,
) -> Ruled {
    if let Some(made) = drop_expand(builder, site)? {
        return Ok(Some(made));
    }
    let negated = |id: NodeId| inside(builder, id, &Op::Unary(Unary::Negative));
    let one = |id: NodeId| is_real(builder, id, 1.0) || is_int(builder, id, 1);
    let minus_one = |id: NodeId| is_real(builder, id, -1.0) || is_int(builder, id, -1);
    match operator {
        Binary::Multiply if one(b) => Ok(Some(a)),
        Binary::Multiply if one(a) => Ok(Some(b)),
        Binary::Multiply if minus_one(b) => builder.unary(Unary::Negative, a).map(Some),
        Binary::Multiply if minus_one(a) => builder.unary(Unary::Negative, b).map(Some),
        Binary::Divide if one(b) => Ok(Some(a)),
        Binary::Divide if minus_one(b) => builder.unary(Unary::Negative, a).map(Some),
        Binary::Multiply | Binary::Divide => match (negated(a), negated(b)) {
            (Some(a), Some(b)) => builder.binary(operator, a, b).map(Some),
            _ => Ok(None),
        },
        Binary::Power if is_int(builder, b, 2) => builder.unary(Unary::Square, a).map(Some),
        Binary::Power if is_int(builder, b, 1) => Ok(Some(a)),
        Binary::FloorDivide if is_int(builder, b, 1) => Ok(Some(a)),
        Binary::Add | Binary::Subtract => sum(builder, operator, a, b),
        Binary::Minimum | Binary::Maximum => extreme(builder, operator, a, b),
        Binary::And | Binary::Or => {
            let neutral = operator == Binary::And;
            let known =
                [(a, b), (b, a)].into_iter().find(|(number, _)| is_bool(builder, *number, neutral));
            Ok(known.map(|(_, other)| other).or((a == b).then_some(a)))
        }
        _ => Ok(None),
    }
}

fn sum(builder: &mut Builder<'_>, operator: Binary, a: NodeId, b: NodeId) -> Ruled {
    let adds = operator == Binary::Add;
    // x + -0 and x - 0 are x; x + 0 is x, but for x = -0.
    let leaves = |builder: &Builder<'_>, number: NodeId, other: NodeId, adds: bool| {
        is_int(builder, number, 0)
            || is_real(builder, number, if adds { -0.0 } else { 0.0 })
            || adds && is_real(builder, number, 0.0) && never_minus_zero(builder, other)
    };
    if leaves(builder, b, a, adds) {
        return Ok(Some(a));
    }
    if adds && leaves(builder, a, b, true) {
        return Ok(Some(b));
    }
    if !adds && (is_int(builder, a, 0) || is_real(builder, a, -0.0)) {
        return builder.unary(Unary::Negative, b).map(Some);
    }
    let negative = Op::Unary(Unary::Negative);
    match (inside(builder, a, &negative), inside(builder, b, &negative)) {
        (_, Some(b)) => {
            builder.binary(if adds { Binary::Subtract } else { Binary::Add }, a, b).map(Some)
        }
        (Some(a), None) if adds => builder.subtract(b, a).map(Some),
        _ => Ok(None),
    }
}

fn extreme(builder: &Builder<'_>, operator: Binary, a: NodeId, b: NodeId) -> Ruled {
    let real = if operator == Binary::Minimum { f64::INFINITY } else { f64::NEG_INFINITY };
    let whole = if operator == Binary::Minimum { i64::MAX } else { i64::MIN };
    let neutral = |id: NodeId| is_real(builder, id, real) || is_int(builder, id, whole);
    Ok(if a == b || neutral(b) {
        Some(a)
    } else if neutral(a) {
        Some(b)
    } else {
        None
    })
}

fn select(builder: &mut Builder<'_>, condition: NodeId, yes: NodeId, no: NodeId) -> Ruled {
    if let Some(Number::Bool(holds)) = constant(builder, condition) {
        return Ok(Some(if holds { yes } else { no }));
    }
    if yes == no {
        return Ok(Some(yes));
    }
    if is_bool(builder, yes, true) && is_bool(builder, no, false) {
        return Ok(Some(condition));
    }
    match inside(builder, condition, &Op::Unary(Unary::Not)) {
        Some(condition) => builder.select(condition, no, yes).map(Some),
        None => Ok(None),
    }
}

/// A cast of a bool to other types and back keeps it; a large integer cast to float may not.
fn cast(builder: &mut Builder<'_>, kind: Type, a: NodeId) -> Ruled {
    let node = builder.node(a);
    if node.kind == kind {
        return Ok(Some(a));
    }
    match (&node.op, node.inputs.first()) {
        (Op::Cast(_), Some(&first)) if builder.node(first).kind == Type::Bool => {
            builder.cast(kind, first).map(Some)
        }
        _ => Ok(None),
    }
}

/// Reshape of a reshape, expand of an expand.
fn repeated_view(builder: &mut Builder<'_>, site: &Site<'_>, a: NodeId) -> Ruled {
    match inside(builder, a, &site.node.op) {
        Some(first) => {
            builder.make_shaped(site.node.op.clone(), &[first], &site.node.shape).map(Some)
        }
        None => Ok(None),
    }
}

/// Element-wise operations broadcast by themselves, so their operands need no expand.
fn drop_expand(builder: &mut Builder<'_>, site: &Site<'_>) -> Ruled {
    for position in 0..site.inputs.len() {
        let Some(narrow) = inside(builder, site.inputs[position], &Op::Expand) else { continue };
        let mut inputs = site.inputs.to_vec();
        inputs[position] = narrow;
        let made = remake(builder, site.node, &inputs)?;
        if builder.node(made).shape == site.node.shape {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

fn axis(builder: &mut Builder<'_>, site: &Site<'_>) -> Ruled {
    let a = site.inputs[0];
    let node = builder.node(a).clone();
    match site.node.op {
        // One element: nothing to reduce. A float sum starts at 0 and turns -0 into 0.
        Op::Axis(pooling, axis) if node.shape[axis] == 1 => {
            let only = builder.make_shaped(Op::Reshape, &[a], &site.node.shape)?;
            if pooling != Pooling::Sum || node.kind != Type::Real {
                return Ok(Some(only));
            }
            let zero = builder.real(0.0);
            builder.binary(Binary::Add, only, zero).map(Some)
        }
        Op::Concat(_) if site.inputs.len() == 1 => Ok(Some(a)),
        Op::Unslice { axis, total, .. } if node.shape[axis] == total => Ok(Some(a)),
        Op::Slice { axis, length, .. } if node.shape[axis] == length => Ok(Some(a)),
        Op::Slice { axis, start, length } => slice(builder, a, axis, start, length),
        _ => Ok(None),
    }
}

/// A slice of a slice, of a concat, or of an unslice.
fn slice(builder: &mut Builder<'_>, a: NodeId, axis: usize, start: u64, length: u64) -> Ruled {
    let node = builder.node(a).clone();
    match node.op {
        Op::Slice { axis: inner, start: before, .. } if inner == axis => {
            sliced(builder, node.inputs[0], axis, before + start, length).map(Some)
        }
        Op::Unslice { axis: inner, start: before, .. } if inner == axis => {
            let filled = builder.node(node.inputs[0]).shape[axis];
            if start < before || start + length > before + filled {
                return Ok(None);
            }
            sliced(builder, node.inputs[0], axis, start - before, length).map(Some)
        }
        Op::Concat(inner) if inner == axis => {
            let mut before = 0;
            for part in &node.inputs {
                let filled = builder.node(*part).shape[axis];
                if start >= before && start + length <= before + filled {
                    return sliced(builder, *part, axis, start - before, length).map(Some);
                }
                before += filled;
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

fn sliced(
    builder: &mut Builder<'_>,
    a: NodeId,
    axis: usize,
    start: u64,
    length: u64,
) -> NodeResult {
    if builder.node(a).shape[axis] == length {
        Ok(a)
    } else {
        builder.make(Op::Slice { axis, start, length }, &[a])
    }
}

/// Whether a float is never -0, whatever its inputs are.
fn never_minus_zero(builder: &Builder<'_>, id: NodeId) -> bool {
    let node = builder.node(id);
    match &node.op {
        Op::Constant(Number::Real(number)) => number.to_bits() != (-0.0f64).to_bits(),
        Op::Unary(operator) => operator.has(Property::NeverMinusZero),
        Op::Cast(_) => true,
        Op::Binary(Binary::Add) => {
            node.inputs.iter().any(|input| never_minus_zero(builder, *input))
        }
        Op::Select => node.inputs[1..].iter().all(|input| never_minus_zero(builder, *input)),
        Op::Far(_) | Op::Near(_) | Op::Reshape | Op::Expand | Op::Detach | Op::Slice { .. } => {
            never_minus_zero(builder, node.inputs[0])
        }
        Op::Concat(_) => node.inputs.iter().all(|input| never_minus_zero(builder, *input)),
        _ => false,
    }
}
