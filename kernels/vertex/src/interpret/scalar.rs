//! scalar: what the element-wise operators do to single numbers.
//!
//! promises  whole numbers go as `whole` has them; real numbers are IEEE's, where a doc comment of
//!           `gir` says no other; NaN spreads through minimum and maximum
//! never     panics: what has no value (division of an int by 0) has one by definition
use super::{integer_arithmetic, rows::Scalar};
use crate::gir::{Binary, Function, Pooling, Reduction, Type, Unary};

/// An operator of one value.
pub fn unary(operator: Unary, a: Scalar) -> Scalar {
    match (operator, a) {
        (Unary::Not, a) => (!a.holds()).into(),
        (Unary::Negative, Scalar::Whole(a)) => Scalar::Whole(integer_arithmetic::negative(a)),
        (Unary::Absolute, Scalar::Whole(a)) => Scalar::Whole(integer_arithmetic::absolute(a)),
        (Unary::Square, Scalar::Whole(a)) => Scalar::Whole(integer_arithmetic::times(a, a)),
        (operator, a) => Scalar::Real(unary_real(operator, a.real())),
    }
}

fn unary_real(operator: Unary, a: f64) -> f64 {
    match operator {
        Unary::Negative => -a,
        Unary::Absolute => a.abs(),
        Unary::Exp => a.exp(),
        Unary::Log => a.ln(),
        Unary::Sqrt => a.sqrt(),
        Unary::Rsqrt => 1.0 / a.sqrt(),
        Unary::Reciprocal => 1.0 / a,
        Unary::Square => a * a,
        Unary::Sigmoid => sigmoid(a),
        Unary::Tanh => a.tanh(),
        Unary::Relu if a <= 0.0 => 0.0,
        Unary::Relu => a,
        Unary::LeakyRelu(_) if a > 0.0 => a,
        Unary::LeakyRelu(slope) => slope * a,
        Unary::Elu if a > 0.0 => a,
        Unary::Elu => a.exp_m1(),
        // Phi(a) by the complement, which keeps its digits where a is far below 0.
        Unary::Gelu => a * (0.5 * libm::erfc(-a * std::f64::consts::FRAC_1_SQRT_2)),
        Unary::Silu => a * sigmoid(a),
        Unary::Softplus => softplus(a),
        Unary::Floor => a.floor(),
        Unary::Erf => libm::erf(a),
        Unary::Not => f64::from(u8::from(a == 0.0)),
    }
}

/// 1 / (1 + e^-a), without overflow.
pub(super) fn sigmoid(a: f64) -> f64 {
    if a >= 0.0 { 1.0 / (1.0 + (-a).exp()) } else { a.exp() / (1.0 + a.exp()) }
}

/// log(1 + e^a), without overflow.
pub(super) fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

/// An operator of two values; a whole number beside a real one is made real.
pub fn binary(operator: Binary, a: Scalar, b: Scalar) -> Scalar {
    match (operator, a, b) {
        (Binary::And, a, b) => (a.holds() && b.holds()).into(),
        (Binary::Or, a, b) => (a.holds() || b.holds()).into(),
        (Binary::Divide, a, b) => Scalar::Real(a.real() / b.real()),
        (operator, Scalar::Whole(a), Scalar::Whole(b)) => binary_whole(operator, a, b),
        (operator, a, b) => binary_real(operator, a.real(), b.real()),
    }
}

fn binary_whole(operator: Binary, a: i64, b: i64) -> Scalar {
    Scalar::Whole(match operator {
        Binary::Add => integer_arithmetic::plus(a, b),
        Binary::Subtract => integer_arithmetic::minus(a, b),
        Binary::Multiply => integer_arithmetic::times(a, b),
        Binary::FloorDivide => integer_arithmetic::quotient(a, b),
        Binary::Remainder => integer_arithmetic::rest(a, b),
        Binary::Power => integer_arithmetic::power(a, b),
        Binary::Minimum => a.min(b),
        Binary::Maximum => a.max(b),
        Binary::Less => return (a < b).into(),
        Binary::LessEqual => return (a <= b).into(),
        Binary::Equal => return (a == b).into(),
        Binary::NotEqual => return (a != b).into(),
        Binary::Divide | Binary::And | Binary::Or => {
            return binary_real(
                operator,
                integer_arithmetic::widened(a),
                integer_arithmetic::widened(b),
            );
        }
    })
}

fn binary_real(operator: Binary, a: f64, b: f64) -> Scalar {
    Scalar::Real(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::FloorDivide => floor_and_rest(a, b).0,
        Binary::Remainder => floor_and_rest(a, b).1,
        Binary::Power => a.powf(b),
        Binary::Minimum => smaller(a, b),
        Binary::Maximum => larger(a, b),
        Binary::Less => return (a < b).into(),
        Binary::LessEqual => return (a <= b).into(),
        Binary::Equal => return (a == b).into(),
        Binary::NotEqual => return (a != b).into(),
        Binary::And => return (a != 0.0 && b != 0.0).into(),
        Binary::Or => return (a != 0.0 || b != 0.0).into(),
    })
}

/// The smaller; NaN if either is.
fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The larger; NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// `a // b` and `a % b` as Python has them, from the exact remainder; by 0: `a / b` and NaN, as in
/// numpy.
fn floor_and_rest(a: f64, b: f64) -> (f64, f64) {
    if b == 0.0 {
        return (a / b, f64::NAN);
    }
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(b);
    } else if (rest < 0.0) != (b < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(a / b), rest);
    }
    let below = quotient.floor();
    (if quotient - below > 0.5 { below + 1.0 } else { below }, rest)
}

/// The same number as another type; what no id can be becomes the sentinel.
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

/// Numbers of this type, in order, as one.
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

/// Numbers of this type, in order, as one: 0, the largest or the smallest; over nothing as a
/// reduction.
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

/// Most frequent, the smallest of equals; NaN if any is.
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
