//! operators: the element-wise operators on a CPU, each as a loop.
//!
//! promises  every operator is listed here: a new one does not compile until it has a loop that
//!           vectorises, or is listed as one that calls the interpreter per element; its value is
//!           defined in `ir/src/operators.rs`, rounded to the type
//! never     decides what a loop iterates over, in which order, or on how many threads: its caller
//!           does
use warploom_ir::interpret::{self, Scalar as Number, integer_arithmetic};
use warploom_ir::{Binary, Unary};

use crate::Real;
use crate::evaluate::Element;

/// Loops over the elements of one operand.
pub(crate) trait UnaryLoops<A, O> {
    /// Whether `exp` of f32, and operators based on it, are our own; else they are computed in f64
    /// and rounded.
    const OWN_EXPONENTIAL: bool;

    /// A plain loop, which vectorises.
    fn vectorized(self, work: impl Fn(A) -> O + Sync);

    /// A loop over function calls.
    fn scalar(self, work: impl Fn(A) -> O + Sync);
}

/// Loops over the elements of two operands.
pub(crate) trait BinaryLoops<A, O> {
    /// A plain loop, which vectorises.
    fn vectorized(self, work: impl Fn(A, A) -> O + Sync);

    /// A loop over function calls.
    fn scalar(self, work: impl Fn(A, A) -> O + Sync);
}

/// An operator on floats.
#[inline(always)]
pub(crate) fn unary<T: Real + Element, L: UnaryLoops<T, T>>(operator: Unary, loops: L) {
    let (zero, unit) = (T::ZERO, T::ONE);
    match operator {
        Unary::Negative => loops.vectorized(|a: T| -a),
        Unary::Absolute => loops.vectorized(Real::magnitude),
        Unary::Square => loops.vectorized(|a: T| a * a),
        Unary::Sqrt => loops.vectorized(Real::root),
        Unary::Rsqrt => loops.vectorized(|a: T| unit / a.root()),
        Unary::Reciprocal => loops.vectorized(|a: T| unit / a),
        Unary::Relu => loops.vectorized(|a: T| if a <= zero { zero } else { a }),
        Unary::LeakyRelu(slope) => {
            let slope = T::rounded(slope);
            loops.vectorized(|a: T| if a > zero { a } else { slope * a });
        }
        Unary::Exp if L::OWN_EXPONENTIAL => loops.vectorized(|a: T| a.exponential()),
        Unary::Sigmoid if L::OWN_EXPONENTIAL => loops.vectorized(sigmoid),
        Unary::Silu if L::OWN_EXPONENTIAL => loops.vectorized(|a: T| a * sigmoid(a)),
        Unary::Elu if L::OWN_EXPONENTIAL => {
            loops.vectorized(|a: T| if a > zero { a } else { less_one(a) });
        }
        // Scalar: no vectorised form has been written.
        Unary::Exp
        | Unary::Sigmoid
        | Unary::Silu
        | Unary::Elu
        | Unary::Log
        | Unary::Tanh
        | Unary::Gelu
        | Unary::Softplus
        | Unary::Floor
        | Unary::Erf
        | Unary::Not => {
            loops.scalar(|a: T| T::from_number(interpret::unary(operator, a.number())));
        }
    }
}

/// An operator on integers, ids or bools: all are scalar, since programs have few of them.
#[inline(always)]
pub(crate) fn unary_whole<L: UnaryLoops<i64, i64>>(operator: Unary, loops: L) {
    loops.scalar(|a: i64| interpret::unary(operator, Number::Whole(a)).integer());
}

/// An operator on floats with a float result.
#[inline(always)]
pub(crate) fn binary<T: Real + Element, L: BinaryLoops<T, T>>(operator: Binary, loops: L) {
    match operator {
        Binary::Add => loops.vectorized(|a: T, b: T| a + b),
        Binary::Subtract => loops.vectorized(|a: T, b: T| a - b),
        Binary::Multiply => loops.vectorized(|a: T, b: T| a * b),
        Binary::Divide => loops.vectorized(|a: T, b: T| a / b),
        Binary::Minimum => loops.vectorized(T::least),
        Binary::Maximum => loops.vectorized(T::most),
        // Scalar; and comparisons, whose results are bools (`compare`).
        Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power
        | Binary::Less
        | Binary::LessEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => loops.scalar(|a: T, b: T| {
            T::from_number(interpret::binary(operator, a.number(), b.number()))
        }),
    }
}

/// A comparison of floats.
#[inline(always)]
pub(crate) fn compare<T: Real + Element, L: BinaryLoops<T, i64>>(operator: Binary, loops: L) {
    match operator {
        Binary::Less => loops.vectorized(|a: T, b: T| i64::from(a < b)),
        Binary::LessEqual => loops.vectorized(|a: T, b: T| i64::from(a <= b)),
        Binary::Equal => loops.vectorized(|a: T, b: T| i64::from(a == b)),
        Binary::NotEqual => loops.vectorized(|a: T, b: T| i64::from(a != b)),
        // Of bools, or with a float result (`binary`).
        Binary::And
        | Binary::Or
        | Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power
        | Binary::Minimum
        | Binary::Maximum => {
            loops.scalar(|a: T, b: T| interpret::binary(operator, a.number(), b.number()).integer())
        }
    }
}

/// An operator on integers, ids or bools.
#[inline(always)]
pub(crate) fn binary_whole<L: BinaryLoops<i64, i64>>(operator: Binary, loops: L) {
    match operator {
        Binary::Add => loops.vectorized(integer_arithmetic::plus),
        Binary::Subtract => loops.vectorized(integer_arithmetic::minus),
        Binary::Minimum => loops.vectorized(i64::min),
        Binary::Maximum => loops.vectorized(i64::max),
        Binary::Less => loops.vectorized(|a: i64, b: i64| i64::from(a < b)),
        Binary::Equal => loops.vectorized(|a: i64, b: i64| i64::from(a == b)),
        Binary::NotEqual => loops.vectorized(|a: i64, b: i64| i64::from(a != b)),
        Binary::And => loops.vectorized(|a: i64, b: i64| i64::from(a != 0 && b != 0)),
        Binary::Or => loops.vectorized(|a: i64, b: i64| i64::from(a != 0 || b != 0)),
        // Scalar: programs have few of them.
        Binary::Multiply
        | Binary::Divide
        | Binary::FloorDivide
        | Binary::Remainder
        | Binary::Power
        | Binary::LessEqual => loops.scalar(|a: i64, b: i64| {
            interpret::binary(operator, Number::Whole(a), Number::Whole(b)).integer()
        }),
    }
}

/// 1 / (1 + e^-a); if e^-a overflows to infinity, its reciprocal is 0.
#[inline(always)]
fn sigmoid<T: Real>(a: T) -> T {
    T::ONE / (T::ONE + (-a).exponential())
}

/// e^a - 1 for a <= 0, without cancellation near 0.
#[inline(always)]
fn less_one<T: Real>(a: T) -> T {
    let near = T::rounded(-0.3);
    let mut series = T::rounded(1.0 / 5040.0);
    for factorial in [720.0, 120.0, 24.0, 6.0, 2.0, 1.0] {
        series = series * a + T::rounded(1.0 / factorial);
    }
    if size_of::<T>() == 4 && a > near { series * a } else { T::rounded(0.0) + beyond(a) }
}

#[inline(always)]
fn beyond<T: Real>(a: T) -> T {
    if size_of::<T>() == 4 { a.exponential() - T::ONE } else { T::rounded(a.widened().exp_m1()) }
}
