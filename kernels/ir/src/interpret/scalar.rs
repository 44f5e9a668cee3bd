//! scalar: the element-wise operators on single numbers.
//!
//! promises  as the operator's row in `operators.rs` defines; for integers as
//!           `integer_arithmetic` does; NaN propagates through minimum and maximum
//! never     panics: undefined operations (division of an int by 0) have a defined value
use super::{integer_arithmetic, rows::Scalar};
use crate::{Binary, Function, Pooling, Reduction, Type, Unary};

/// A unary operator.
pub fn unary(operator: Unary, a: Scalar) -> Scalar {
    let integer = match a {
        Scalar::Whole(a) => operator.integer_value(a),
        Scalar::Real(_) if operator == Unary::Not => operator.integer_value(a.holds().into()),
        Scalar::Real(_) => None,
    };
    integer.map_or_else(|| Scalar::Real(operator.value(a.real())), Scalar::Whole)
}

/// A binary operator; an integer operand is cast to float if the other is one.
pub fn binary(operator: Binary, a: Scalar, b: Scalar) -> Scalar {
    if let (Scalar::Whole(a), Scalar::Whole(b)) = (a, b)
        && let Some(value) = operator.integer_value(a, b)
    {
        return Scalar::Whole(value);
    }
    let value = operator.value(a.real(), b.real());
    if operator.is_condition() { (value != 0.0).into() } else { Scalar::Real(value) }
}

/// A cast; what is no valid id becomes the sentinel.
pub fn cast(kind: Type, a: Scalar) -> Scalar {
    match kind {
        Type::Real => Scalar::Real(a.real()),
        Type::Int => Scalar::Whole(a.integer()),
        Type::Id => Scalar::Whole(u32::try_from(a.integer()).unwrap_or(u32::MAX).into()),
        Type::Bool => a.holds().into(),
    }
}

/// A fold's function of two values.
pub fn apply(function: &Function, left: Scalar, right: Scalar) -> Scalar {
    let part = |part: &Function| apply(part, left, right);
    match function {
        Function::Left => left,
        Function::Right => right,
        Function::Number(number) => (*number).into(),
        Function::Unary(operator, a) => unary(*operator, part(a)),
        Function::Binary(operator, a, b) => binary(*operator, part(a), part(b)),
        Function::Select(condition, yes, no) => {
            part(if part(condition).holds() { yes } else { no })
        }
        Function::Cast(kind, a) => cast(*kind, part(a)),
    }
}

/// Reduces numbers of this type, in order.
pub fn reduce(reduction: Reduction, kind: Type, values: &[Scalar]) -> Scalar {
    match reduction {
        Reduction::Sum => fold(Binary::Add, cast(kind, Scalar::Whole(0)), values),
        Reduction::Product => fold(Binary::Multiply, cast(kind, Scalar::Whole(1)), values),
        Reduction::Minimum | Reduction::Maximum | Reduction::Mode if values.is_empty() => {
            nothing(reduction, kind)
        }
        Reduction::Minimum => fold(Binary::Minimum, values[0], values),
        Reduction::Maximum => fold(Binary::Maximum, values[0], values),
        Reduction::Any => values.iter().any(|value| value.holds()).into(),
        Reduction::All => values.iter().all(|value| value.holds()).into(),
        Reduction::Count => Scalar::Whole(values.len() as i64),
        Reduction::Mode => mode(values),
        Reduction::HIndex => h_index(values),
    }
}

/// Pools numbers of this type, in order; over nothing: 0 for a sum, else as the reduction.
pub fn pool(pooling: Pooling, kind: Type, values: &[Scalar]) -> Scalar {
    match pooling {
        Pooling::Sum => reduce(Reduction::Sum, kind, values),
        Pooling::Maximum => reduce(Reduction::Maximum, kind, values),
        Pooling::Minimum => reduce(Reduction::Minimum, kind, values),
    }
}

fn fold(operator: Binary, start: Scalar, values: &[Scalar]) -> Scalar {
    values.iter().fold(start, |made, value| binary(operator, made, *value))
}

/// Minimum, maximum and mode over nothing.
fn nothing(reduction: Reduction, kind: Type) -> Scalar {
    let largest = reduction == Reduction::Maximum;
    match kind {
        Type::Real => Scalar::Real(if largest { f64::NEG_INFINITY } else { f64::INFINITY }),
        Type::Int => Scalar::Whole(if largest {
            integer_arithmetic::BELOW
        } else {
            integer_arithmetic::ABOVE
        }),
        Type::Id => Scalar::Whole(u32::MAX.into()),
        Type::Bool => (!largest).into(),
    }
}

/// Most frequent, the smallest of ties; NaN if any is.
fn mode(values: &[Scalar]) -> Scalar {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| match (a, b) {
        (Scalar::Whole(a), Scalar::Whole(b)) => a.cmp(b),
        (a, b) => a.real().total_cmp(&b.real()),
    });
    if let Some(undefined) = sorted.iter().find(|value| value.real().is_nan()) {
        return *undefined;
    }
    let (mut best, mut best_count, mut start) = (sorted[0], 0, 0);
    for position in 0..sorted.len() {
        if sorted[position] != sorted[start] {
            start = position;
        }
        if position + 1 - start > best_count {
            (best, best_count) = (sorted[start], position + 1 - start);
        }
    }
    best
}

/// Largest h such that h values are at least h.
fn h_index(values: &[Scalar]) -> Scalar {
    let mut sorted: Vec<i64> = values.iter().map(|value| value.integer()).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let reached = sorted
        .iter()
        .enumerate()
        .take_while(|(position, value)| **value > *position as i64)
        .count();
    Scalar::Whole(reached as i64)
}
