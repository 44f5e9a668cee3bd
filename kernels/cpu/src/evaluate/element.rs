//! element: arithmetic of evaluated operations on one element, float or integer.
use warploom_ir::interpret::{self, Scalar as Number};
use warploom_ir::{Reduction, Type};

use crate::Real;

/// f32, f64, or i64 for bools, integers and ids.
pub trait Element: Copy + Default + Send + Sync + PartialOrd + 'static {
    /// Sum; of integers as `interpret::integer_arithmetic` defines it.
    fn sum(self, other: Self) -> Self;
    /// Product; of integers as `interpret::integer_arithmetic` defines it.
    fn product(self, other: Self) -> Self;
    /// Minimum; NaN if either is.
    fn least(self, other: Self) -> Self;
    /// Maximum; NaN if either is.
    fn most(self, other: Self) -> Self;
    /// Whether it is NaN.
    fn is_odd(self) -> bool;
    /// As a number of the interpreter.
    fn number(self) -> Number;
    /// From a number of the interpreter, rounded.
    fn from_number(number: Number) -> Self;
    /// From a 16-bit float, which no integer is stored as.
    fn from_half(number: f32) -> Self;
}

macro_rules! real {
    ($real:ident) => {
        impl Element for $real {
            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn product(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                if self.is_nan() || self < other { self } else { other }
            }

            #[inline(always)]
            fn most(self, other: Self) -> Self {
                if self.is_nan() || self > other { self } else { other }
            }

            #[inline(always)]
            fn is_odd(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn number(self) -> Number {
                Number::Real(f64::from(self))
            }

            #[inline(always)]
            fn from_number(number: Number) -> Self {
                <$real as Real>::rounded(number.real())
            }

            #[inline(always)]
            fn from_half(number: f32) -> Self {
                <$real>::from(number)
            }
        }
    };
}

real!(f32);
real!(f64);

impl Element for i64 {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        interpret::integer_arithmetic::plus(self, other)
    }

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        interpret::integer_arithmetic::times(self, other)
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        self.min(other)
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline(always)]
    fn is_odd(self) -> bool {
        false
    }

    #[inline(always)]
    fn number(self) -> Number {
        Number::Whole(self)
    }

    #[inline(always)]
    fn from_number(number: Number) -> Self {
        number.integer()
    }

    fn from_half(_: f32) -> Self {
        unreachable!("a validated list keeps whole numbers whole")
    }
}

/// The result of a reduction over no edges.
pub(crate) fn empty_reduction<A: Element>(reduction: Reduction, kind: Type) -> A {
    A::from_number(interpret::reduce(reduction, kind, &[]))
}
