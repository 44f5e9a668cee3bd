//! fold: numbers of numbers are computed once, here.
//!
//! reason    settings, widths and unrolled counters leave arithmetic on constants behind
//! keeps     every value as the interpreter gives it: reals in f64, whole numbers wrap at 64 bits. On a device whose reals have
//!           32 bits a folded number is rounded once, at the end, where the unfolded one was rounded at each step
//! never     folds what it cannot do exactly so (roundings of sin-like functions are left to whoever runs the program)
use super::{Choice, rebuild::rebuild};
use crate::gir::{Binary, Builder, Data, Gir, NodeId, Number, Op, Type, Unary};

/// The program with arithmetic on constants done.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| {
        let numbers: Option<Vec<Number>> = site.inputs.iter().map(|input| constant(builder, *input)).collect();
        let folded = match (&site.node.op, numbers.as_deref()) {
            (Op::Unary(operator), Some(&[a])) => unary(*operator, a),
            (Op::Binary(operator), Some(&[a, b])) => binary(*operator, a, b),
            (Op::Select, Some(&[Number::Bool(condition), yes, no])) => Some(if condition { yes } else { no }),
            (Op::Cast(kind), Some(&[a])) => cast(*kind, a),
            _ => None,
        };
        Ok(folded.map(|number| builder.constant(number)))
    })
}

/// The number, when a node is one.
pub(super) fn constant(builder: &Builder<'_>, id: NodeId) -> Option<Number> {
    match builder.node(id).op {
        Op::Constant(number) => Some(number),
        _ => None,
    }
}

pub(super) fn unary(operator: Unary, a: Number) -> Option<Number> {
    Some(match (operator, a) {
        (Unary::Not, Number::Bool(a)) => Number::Bool(!a),
        (Unary::Negative, Number::Int(a)) => Number::Int(a.wrapping_neg()),
        (Unary::Absolute, Number::Int(a)) => Number::Int(a.wrapping_abs()),
        (Unary::Square, Number::Int(a)) => Number::Int(a.wrapping_mul(a)),
        (Unary::Negative, Number::Real(a)) => Number::Real(-a),
        (Unary::Absolute, Number::Real(a)) => Number::Real(a.abs()),
        (Unary::Square, Number::Real(a)) => Number::Real(a * a),
        (Unary::Sqrt, Number::Real(a)) => Number::Real(a.sqrt()),
        (Unary::Reciprocal, Number::Real(a)) => Number::Real(1.0 / a),
        (Unary::Floor, Number::Real(a)) => Number::Real(a.floor()),
        _ => return None,
    })
}

pub(super) fn binary(operator: Binary, a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Number::Real(a), Number::Real(b)) => real(operator, a, b),
        (Number::Int(a), Number::Int(b)) => whole(operator, a, b),
        (Number::Bool(a), Number::Bool(b)) => Some(Number::Bool(match operator {
            Binary::And => a && b,
            Binary::Or => a || b,
            Binary::Equal => a == b,
            Binary::NotEqual => a != b,
            _ => return None,
        })),
        _ => None,
    }
}

fn real(operator: Binary, a: f64, b: f64) -> Option<Number> {
    Some(match operator {
        Binary::Add => Number::Real(a + b),
        Binary::Subtract => Number::Real(a - b),
        Binary::Multiply => Number::Real(a * b),
        Binary::Divide => Number::Real(a / b),
        Binary::Less => Number::Bool(a < b),
        Binary::LessEqual => Number::Bool(a <= b),
        Binary::Equal => Number::Bool(a == b),
        Binary::NotEqual => Number::Bool(a != b),
        _ => return None,
    })
}

fn whole(operator: Binary, a: i64, b: i64) -> Option<Number> {
    Some(match operator {
        Binary::Add => Number::Int(a.wrapping_add(b)),
        Binary::Subtract => Number::Int(a.wrapping_sub(b)),
        Binary::Multiply => Number::Int(a.wrapping_mul(b)),
        Binary::Minimum => Number::Int(a.min(b)),
        Binary::Maximum => Number::Int(a.max(b)),
        Binary::Less => Number::Bool(a < b),
        Binary::LessEqual => Number::Bool(a <= b),
        Binary::Equal => Number::Bool(a == b),
        Binary::NotEqual => Number::Bool(a != b),
        _ => return None,
    })
}

pub(super) fn cast(kind: Type, a: Number) -> Option<Number> {
    Some(match (kind, a) {
        (Type::Int, Number::Bool(a)) => Number::Int(i64::from(a)),
        (Type::Real, Number::Bool(_) | Number::Int(_)) => Number::Real(a.real()),
        _ => return None,
    })
}
