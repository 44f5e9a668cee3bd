//! constant_folding: evaluates arithmetic on constants at compile time.
//!
//! reason    settings, widths and unrolled counters leave arithmetic on constants behind
//! keeps     every value as the interpreter computes it: floats in f64, integers wrap at 64 bits.
//!           On a device with 32-bit floats a folded number is rounded once, at the end, where the
//!           unfolded one was rounded at each step
//! never     does arithmetic of its own: it calls the interpreter
use super::{Choice, rebuild::rebuild};
use warploom_ir::interpret::{self, Scalar};
use warploom_ir::{Binary, Builder, Data, Gir, NodeId, Number, Op, Type, Unary};

/// The program with constants folded.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| {
        let numbers: Option<Vec<Number>> =
            site.inputs.iter().map(|input| constant(builder, *input)).collect();
        let folded = match (&site.node.op, numbers.as_deref()) {
            (Op::Unary(operator), Some(&[a])) => unary(*operator, a),
            (Op::Binary(operator), Some(&[a, b])) => binary(*operator, a, b),
            (Op::Select, Some(&[Number::Bool(condition), yes, no])) => {
                Some(if condition { yes } else { no })
            }
            (Op::Cast(kind), Some(&[a])) => cast(*kind, a),
            _ => None,
        };
        Ok(folded.map(|number| builder.constant(number)))
    })
}

/// The number, if a node is a constant.
pub(super) fn constant(builder: &Builder<'_>, id: NodeId) -> Option<Number> {
    match builder.node(id).op {
        Op::Constant(number) => Some(number),
        _ => None,
    }
}

/// The operator's value, from the interpreter; none: it takes no numbers of this type.
pub(super) fn unary(operator: Unary, a: Number) -> Option<Number> {
    if operator.takes().contains(&a.kind()) {
        number(a.kind(), interpret::unary(operator, a.into()))
    } else {
        None
    }
}

/// The operator's value, from the interpreter; none: the types differ.
pub(super) fn binary(operator: Binary, a: Number, b: Number) -> Option<Number> {
    let kind = if operator.is_condition() { Type::Bool } else { a.kind() };
    if a.kind() == b.kind() {
        number(kind, interpret::binary(operator, a.into(), b.into()))
    } else {
        None
    }
}

/// The number cast to a type; none: no constant is an id.
pub(super) fn cast(kind: Type, a: Number) -> Option<Number> {
    number(kind, interpret::cast(kind, a.into()))
}

fn number(kind: Type, value: Scalar) -> Option<Number> {
    Some(match kind {
        Type::Bool => Number::Bool(value.holds()),
        Type::Int => Number::Int(value.integer()),
        Type::Real => Number::Real(value.real()),
        Type::Id => return None,
    })
}
