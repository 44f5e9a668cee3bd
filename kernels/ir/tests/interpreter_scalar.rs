//! interpreter_scalar: the element-wise operators of the interpreter on single numbers, worked by
//! hand or from tables.
//!
//! promises  each operator on each type that it takes, and where numbers are not ordinary: NaN,
//!           infinities, zeros, overflow
//! never     takes an expected number from the interpreter itself

use warploom_ir::interpret::{self, Scalar};
use warploom_ir::{Binary, Type, Unary};

const INF: f64 = f64::INFINITY;

fn close(got: f64, want: f64, tolerance: f64) {
    let fits = got == want
        || (got.is_nan() && want.is_nan())
        || (got - want).abs() <= tolerance * want.abs().max(f64::MIN_POSITIVE);
    assert!(fits, "got {got:e}, want {want:e}");
}

#[test]
fn unary_operators_of_real_numbers() {
    let cases: &[(Unary, f64, f64)] = &[
        (Unary::Negative, 2.0, -2.0),
        (Unary::Absolute, -2.5, 2.5),
        (Unary::Exp, 1.0, std::f64::consts::E),
        (Unary::Log, std::f64::consts::E, 1.0),
        (Unary::Log, 0.0, -INF),
        (Unary::Sqrt, 9.0, 3.0),
        (Unary::Rsqrt, 4.0, 0.5),
        (Unary::Rsqrt, 0.0, INF),
        (Unary::Reciprocal, 8.0, 0.125),
        (Unary::Square, -3.0, 9.0),
        (Unary::Sigmoid, 0.0, 0.5),
        (Unary::Sigmoid, 1000.0, 1.0),
        (Unary::Sigmoid, -1000.0, 0.0),
        (Unary::Sigmoid, -INF, 0.0),
        (Unary::Sigmoid, 3.0_f64.ln(), 0.75),
        (Unary::Tanh, 3.0_f64.ln() / 2.0, 0.5),
        (Unary::Relu, -1.0, 0.0),
        (Unary::Relu, 2.0, 2.0),
        (Unary::Relu, f64::NAN, f64::NAN),
        (Unary::LeakyRelu(0.25), -2.0, -0.5),
        (Unary::LeakyRelu(0.25), 2.0, 2.0),
        (Unary::Elu, -(2.0_f64.ln()), -0.5),
        (Unary::Elu, 2.0, 2.0),
        (Unary::Elu, -INF, -1.0),
        (Unary::Gelu, 0.0, 0.0),
        (Unary::Gelu, 1.0, 0.841_344_746_068_542_9),
        (Unary::Silu, 3.0_f64.ln(), 0.75 * 1.098_612_288_668_109_8),
        (Unary::Softplus, 0.0, std::f64::consts::LN_2),
        (Unary::Softplus, 1000.0, 1000.0),
        (Unary::Softplus, -1000.0, 0.0),
        (Unary::Softplus, 3.0_f64.ln(), 2.0 * std::f64::consts::LN_2),
        (Unary::Floor, -1.5, -2.0),
    ];
    for (operator, a, want) in cases {
        println!("{operator:?} of {a}");
        close(interpret::unary(*operator, Scalar::Real(*a)).real(), *want, 1e-15);
    }
}

#[test]
fn gelu_keeps_its_digits_far_below_zero() {
    // -10 * Phi(-10), Phi(-10) = 7.61985302416052606597e-24; rounding of 10 / sqrt 2 alone moves it
    // by up to 100 * 2^-53.
    close(
        interpret::unary(Unary::Gelu, Scalar::Real(-10.0)).real(),
        -7.619_853_024_160_526e-23,
        100.0 * f64::EPSILON / 2.0,
    );
}

#[test]
fn erf_has_all_digits() {
    // Abramowitz and Stegun, table 7.1, and its series beyond.
    let cases = [
        (0.0, 0.0),
        (1e-10, 1.128_379_167_095_512_6e-10),
        (0.5, 0.520_499_877_813_046_5),
        (1.0, 0.842_700_792_949_714_9),
        (2.0, 0.995_322_265_018_952_7),
        (3.0, 0.999_977_909_503_001_4),
        (INF, 1.0),
    ];
    for (a, want) in cases {
        close(interpret::unary(Unary::Erf, Scalar::Real(a)).real(), want, 1e-15);
        close(interpret::unary(Unary::Erf, Scalar::Real(-a)).real(), -want, 1e-15);
    }
}

#[test]
fn unary_operators_of_whole_numbers() {
    let whole = |operator, a| interpret::unary(operator, Scalar::Whole(a));
    assert_eq!(whole(Unary::Negative, 5), Scalar::Whole(-5));
    // What lies beyond every number stays there.
    assert_eq!(whole(Unary::Negative, i64::MIN), Scalar::Whole(i64::MAX));
    assert_eq!(whole(Unary::Absolute, -5), Scalar::Whole(5));
    assert_eq!(whole(Unary::Absolute, i64::MIN), Scalar::Whole(i64::MAX));
    assert_eq!(whole(Unary::Square, -5), Scalar::Whole(25));
    assert_eq!(whole(Unary::Not, 0), Scalar::Whole(1));
    assert_eq!(whole(Unary::Not, 1), Scalar::Whole(0));
}

#[test]
fn binary_operators_of_real_numbers() {
    let cases: &[(Binary, f64, f64, f64)] = &[
        (Binary::Add, 1.0, 2.0, 3.0),
        (Binary::Subtract, 1.0, 2.0, -1.0),
        (Binary::Multiply, 3.0, 2.0, 6.0),
        (Binary::Divide, 1.0, 4.0, 0.25),
        (Binary::Divide, 1.0, 0.0, INF),
        (Binary::FloorDivide, 7.0, 2.0, 3.0),
        (Binary::FloorDivide, -7.0, 2.0, -4.0),
        (Binary::FloorDivide, 1.0, 0.1, 9.0),
        (Binary::FloorDivide, 1.0, 0.0, INF),
        (Binary::FloorDivide, -5.0, INF, -1.0),
        (Binary::Remainder, 7.0, 2.0, 1.0),
        (Binary::Remainder, -7.0, 2.0, 1.0),
        (Binary::Remainder, 7.0, -2.0, -1.0),
        (Binary::Remainder, -5.0, INF, INF),
        (Binary::Remainder, 1.0, 0.0, f64::NAN),
        (Binary::Power, 2.0, 0.5, std::f64::consts::SQRT_2),
        (Binary::Power, 0.0, 0.0, 1.0),
        (Binary::Minimum, 1.0, 2.0, 1.0),
        (Binary::Minimum, f64::NAN, 2.0, f64::NAN),
        (Binary::Minimum, 2.0, f64::NAN, f64::NAN),
        (Binary::Maximum, 1.0, 2.0, 2.0),
        (Binary::Maximum, f64::NAN, 2.0, f64::NAN),
        (Binary::Maximum, 2.0, f64::NAN, f64::NAN),
        (Binary::Less, 1.0, 1.0, 0.0),
        (Binary::LessEqual, 1.0, 1.0, 1.0),
        (Binary::Equal, f64::NAN, f64::NAN, 0.0),
        (Binary::NotEqual, f64::NAN, f64::NAN, 1.0),
        (Binary::Equal, INF, INF, 1.0),
    ];
    for (operator, a, b, want) in cases {
        println!("{operator:?} of {a} and {b}");
        close(
            interpret::binary(*operator, Scalar::Real(*a), Scalar::Real(*b)).real(),
            *want,
            1e-15,
        );
    }
}

#[test]
fn binary_operators_of_whole_numbers() {
    let cases: &[(Binary, i64, i64, i64)] = &[
        (Binary::Add, i64::MAX - 1, 3, i64::MIN + 1),
        (Binary::Add, i64::MAX, 1, i64::MAX),
        (Binary::Subtract, i64::MIN, 1, i64::MIN),
        (Binary::Multiply, 1 << 62, 4, 0),
        (Binary::FloorDivide, 7, 2, 3),
        (Binary::FloorDivide, -7, 2, -4),
        (Binary::FloorDivide, 7, -2, -4),
        (Binary::FloorDivide, -8, 2, -4),
        (Binary::FloorDivide, 7, 0, 0),
        (Binary::FloorDivide, i64::MIN, -1, i64::MAX),
        (Binary::Remainder, -7, 2, 1),
        (Binary::Remainder, 7, -2, -1),
        (Binary::Remainder, -8, 2, 0),
        (Binary::Remainder, 7, 0, 0),
        (Binary::Remainder, i64::MIN, -1, i64::MIN),
        (Binary::Power, 3, 4, 81),
        (Binary::Power, -2, 3, -8),
        (Binary::Power, 0, 0, 1),
        (Binary::Power, 2, 64, 0),
        (Binary::Power, 2, -1, 0),
        (Binary::Power, -1, i64::MAX, -1),
        (Binary::Minimum, 3, -4, -4),
        (Binary::Maximum, 3, -4, 3),
        (Binary::Less, 1, 2, 1),
        (Binary::LessEqual, 2, 1, 0),
        // Neighbours that no f64 tells apart.
        (Binary::Equal, i64::MAX, i64::MAX - 1, 0),
        (Binary::NotEqual, i64::MAX, i64::MAX - 1, 1),
        (Binary::And, 1, 0, 0),
        (Binary::And, 1, 1, 1),
        (Binary::Or, 1, 0, 1),
        (Binary::Or, 0, 0, 0),
    ];
    for (operator, a, b, want) in cases {
        let got = interpret::binary(*operator, Scalar::Whole(*a), Scalar::Whole(*b));
        assert_eq!(got, Scalar::Whole(*want), "{operator:?} of {a} and {b}");
    }
}

#[test]
fn casts_drop_the_fraction_and_keep_ids_in_range() {
    let cases = [
        (Type::Int, Scalar::Real(-2.9), Scalar::Whole(-2)),
        (Type::Int, Scalar::Real(INF), Scalar::Whole(i64::MAX)),
        (Type::Int, Scalar::Real(f64::NAN), Scalar::Whole(0)),
        (Type::Int, Scalar::Whole(1), Scalar::Whole(1)),
        (Type::Real, Scalar::Whole(1), Scalar::Real(1.0)),
        (Type::Id, Scalar::Whole(7), Scalar::Whole(7)),
        (Type::Id, Scalar::Whole(-1), Scalar::Whole(4_294_967_295)),
        (Type::Id, Scalar::Whole(1 << 40), Scalar::Whole(4_294_967_295)),
    ];
    for (kind, a, want) in cases {
        assert_eq!(interpret::cast(kind, a), want, "{a:?} to {kind}");
    }
}
