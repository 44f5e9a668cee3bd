//! scalar: the element types of a run.
//!
//! promises  `Real` is f32 or f64, and sealed. A NaN operand makes `smaller` and `larger` NaN, in
//!           either order; `exponential` of f32 has the same bits on every CPU
//! never     uses fused multiply-add, so that sums have the same bits on every CPU
use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::element_types::RealOperations;

/// A differentiable element: f32 or f64.
pub trait Real:
    RealOperations
    + Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + bytemuck::Pod
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Sum over no elements.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Minimum over no elements.
    const LARGEST: Self;
    /// Maximum over no elements.
    const SMALLEST: Self;

    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// Minimum; NaN if either is.
    fn smaller(self, other: Self) -> Self;
    /// Maximum; NaN if either is.
    fn larger(self, other: Self) -> Self;
    /// As f64; exact.
    fn widened(self) -> f64;
    /// Rounded to this type.
    fn rounded(number: f64) -> Self;
    /// Rounded to f32.
    fn single(self) -> f32;
    /// Square root.
    fn root(self) -> Self;
    /// Absolute value.
    fn magnitude(self) -> Self;

    /// e^self; of f32 our own, within 0.6 ulp and with the same bits on every CPU.
    fn exponential(self) -> Self;
    /// `self * factor + term` in one rounding; only inside products, where gemm does the same.
    fn fused(self, factor: Self, term: Self) -> Self;
}

macro_rules! real {
    ($real:ident, $exp:ident) => {
        impl Real for $real {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LARGEST: Self = $real::INFINITY;
            const SMALLEST: Self = $real::NEG_INFINITY;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                if other < self || other.is_nan() { other } else { self }
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if other > self || other.is_nan() { other } else { self }
            }

            #[inline(always)]
            fn widened(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn rounded(number: f64) -> Self {
                number as $real
            }

            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn exponential(self) -> Self {
                $exp(self)
            }

            #[inline(always)]
            fn fused(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }
        }
    };
}

real!(f32, exp_f32);
real!(f64, exp_f64);

/// e^a in f32: a polynomial in f64 on a - n ln 2, times 2^n, rounded once. A form in f32 alone is
/// faster and off by up to an ulp, which the first steps of Adam make visible where a gradient is
/// nearly 0.
#[inline(always)]
fn exp_f32(a: f32) -> f32 {
    // Adding 1.5 * 2^52 leaves the nearest integer in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let clamped = f64::from(a.clamp(-110.0, 90.0));
    let shifted = clamped * std::f64::consts::LOG2_E + ROUND;
    let power = (shifted.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
    let rest = clamped - (shifted - ROUND) * std::f64::consts::LN_2;
    let mut series = 1.0 / 40320.0;
    for factorial in [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        series = series * rest + 1.0 / factorial;
    }
    (series * f64::from_bits((power.wrapping_add(1023) << 52) as u64)) as f32
}

#[inline(always)]
fn exp_f64(a: f64) -> f64 {
    a.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_six_tenths_of_an_ulp() {
        let mut a = -103.0f32;
        while a < 88.7 {
            let (made, right) = (exp_f32(a), f64::from(a).exp());
            let ulp =
                f64::from(f32::from_bits((right as f32).to_bits() + 1)) - f64::from(right as f32);
            assert!(
                (f64::from(made) - right).abs() <= 0.6 * ulp,
                "exp({a}) = {made}, expected {right}"
            );
            a += 0.000_713;
        }
    }

    #[test]
    fn exp_at_the_ends() {
        assert_eq!(exp_f32(0.0), 1.0);
        assert_eq!(exp_f32(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp_f32(88.8), f32::INFINITY);
        assert_eq!(exp_f32(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_f32(-1e30), 0.0);
        assert!(exp_f32(f32::NAN).is_nan());
    }
}
