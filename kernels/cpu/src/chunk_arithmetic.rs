//! chunk_arithmetic: one operator applied to a chunk of elements, in plain loops that vectorise.
//!
//! promises  element i of the result depends on element i of the operands only, whatever the chunk;
//!           `exp` of f32 is our own (within 0.6 ulp, the same bits on every CPU), every other
//!           operator is the correctly rounded one of the CPU or std
//! never     dispatches on the operator per element; fuses two operators
use warploom_ir::{Binary, Unary};

use crate::Real;
use crate::operators::{self, BinaryLoops, UnaryLoops};

/// An operand of an operator: one element each, or one for all.
#[derive(Clone, Copy)]
pub enum Source<'a, T> {
    /// As many elements as the result.
    Slice(&'a [T]),
    /// One element for all (broadcast).
    Number(T),
}

/// The operators of a type; sealed, because this module is private.
pub trait Arithmetic: Copy + Sized + 'static {
    /// One operand.
    fn unary(operator: Unary, out: &mut [Self], operand: Source<Self>);

    /// Two operands.
    fn binary(operator: Binary, out: &mut [Self], left: Source<Self>, right: Source<Self>);
}

/// Copies a slice, or fills with a number.
#[inline(always)]
pub(crate) fn copy<T: Copy>(out: &mut [T], operand: Source<T>) {
    match operand {
        Source::Slice(operand) => out.copy_from_slice(&operand[..out.len()]),
        Source::Number(number) => out.fill(number),
    }
}

/// One operand, which may be of another type.
#[inline(always)]
pub(crate) fn map_operand<T: Copy, O: Copy>(
    out: &mut [O],
    operand: Source<T>,
    operator: impl Fn(T) -> O,
) {
    match operand {
        Source::Slice(operand) => {
            for (out, &operand) in out.iter_mut().zip(operand) {
                *out = operator(operand);
            }
        }
        Source::Number(operand) => out.fill(operator(operand)),
    }
}

/// Two operands.
#[inline(always)]
pub(crate) fn pairs<T: Copy, O: Copy>(
    out: &mut [O],
    left: Source<T>,
    right: Source<T>,
    operator: impl Fn(T, T) -> O,
) {
    match (left, right) {
        (Source::Slice(left), Source::Slice(right)) => {
            for ((out, &left), &right) in out.iter_mut().zip(left).zip(right) {
                *out = operator(left, right);
            }
        }
        (Source::Slice(left), Source::Number(right)) => {
            map_operand(out, Source::Slice(left), |left| operator(left, right))
        }
        (Source::Number(left), right) => map_operand(out, right, |right| operator(left, right)),
    }
}

/// Loops over a chunk of one operand.
struct OneOperand<'a, T> {
    out: &'a mut [T],
    operand: Source<'a, T>,
}

impl<T: Copy> UnaryLoops<T, T> for OneOperand<'_, T> {
    const OWN_EXPONENTIAL: bool = true;

    #[inline(always)]
    fn vectorized(self, work: impl Fn(T) -> T + Sync) {
        map_operand(self.out, self.operand, work);
    }

    #[inline(always)]
    fn scalar(self, work: impl Fn(T) -> T + Sync) {
        map_operand(self.out, self.operand, work);
    }
}

/// Loops over a chunk of two operands.
struct TwoOperands<'a, T> {
    out: &'a mut [T],
    left: Source<'a, T>,
    right: Source<'a, T>,
}

impl<T: Copy> BinaryLoops<T, T> for TwoOperands<'_, T> {
    #[inline(always)]
    fn vectorized(self, work: impl Fn(T, T) -> T + Sync) {
        pairs(self.out, self.left, self.right, work);
    }

    #[inline(always)]
    fn scalar(self, work: impl Fn(T, T) -> T + Sync) {
        pairs(self.out, self.left, self.right, work);
    }
}

macro_rules! real {
    ($real:ident) => {
        impl Arithmetic for $real {
            #[inline(always)]
            fn unary(operator: Unary, out: &mut [Self], operand: Source<Self>) {
                match operator {
                    // -0 is kept, and the logarithm is that of the type.
                    Unary::Relu => map_operand(out, operand, |a| if a < 0.0 { 0.0 } else { a }),
                    Unary::Log => map_operand(out, operand, |a| a.ln()),
                    other => operators::unary(other, OneOperand { out, operand }),
                }
            }

            #[inline(always)]
            fn binary(operator: Binary, out: &mut [Self], left: Source<Self>, right: Source<Self>) {
                match operator {
                    // Of two zeros, the left one.
                    Binary::Minimum => pairs(out, left, right, |a, b| a.smaller(b)),
                    Binary::Maximum => pairs(out, left, right, |a, b| a.larger(b)),
                    other => operators::binary(other, TwoOperands { out, left, right }),
                }
            }
        }
    };
}

real!(f32);
real!(f64);
