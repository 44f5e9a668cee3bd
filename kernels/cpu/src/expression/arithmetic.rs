//! arithmetic: one operator applied to a chunk of elements, in plain loops that vectorise.
//!
//! promises  element i of the result depends on element i of the operands only, whatever the chunk;
//!           `exp` of f32 is our own (within 0.6 ulp, the same bits on every CPU), every other
//!           operator is the correctly rounded one of the CPU or std
//! never     dispatches on the operator per element; fuses two operators
use pulp::Simd;
use warploom_ir::{Binary, Unary};

use crate::Scalar;
use crate::operators::{self, BinaryLoops, UnaryLoops};
use crate::random::dropout::{Draws, Drops, TilePlace};

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
    /// Whether all operators are supported, not just minimum, maximum and select.
    const COMPLETE: bool;

    /// One operand.
    fn unary(operator: Unary, out: &mut [Self], operand: Source<Self>);

    /// A node id as an element.
    fn from_id(id: u32) -> Self;

    /// Two operands.
    fn binary(operator: Binary, out: &mut [Self], left: Source<Self>, right: Source<Self>);

    /// Dropout in place; see `Drops::drop_tile`.
    fn drop_tile<S: Simd>(
        simd: S,
        drops: &Drops,
        values: &mut [Self],
        draws: &mut Draws,
        columns: usize,
        place: TilePlace,
    );
}

/// Copies a slice, or fills with a number.
#[inline(always)]
pub(crate) fn copy<T: Copy>(out: &mut [T], operand: Source<T>) {
    match operand {
        Source::Slice(operand) => out.copy_from_slice(&operand[..out.len()]),
        Source::Number(number) => out.fill(number),
    }
}

/// The second operand where the first is not 0, else the third.
#[inline(always)]
pub(crate) fn select<T: Scalar>(
    out: &mut [T],
    condition: Source<T>,
    yes: Source<T>,
    no: Source<T>,
) {
    let condition = match condition {
        Source::Slice(condition) => condition,
        Source::Number(condition) => return copy(out, if condition != T::ZERO { yes } else { no }),
    };
    let pick = |condition: T, yes, no| if condition != T::ZERO { yes } else { no };
    let places = out.iter_mut().zip(condition);
    match (yes, no) {
        (Source::Slice(yes), Source::Slice(no)) => {
            for (((out, &condition), &yes), &no) in places.zip(yes).zip(no) {
                *out = pick(condition, yes, no);
            }
        }
        (Source::Slice(yes), Source::Number(no)) => {
            for ((out, &condition), &yes) in places.zip(yes) {
                *out = pick(condition, yes, no);
            }
        }
        (Source::Number(yes), Source::Slice(no)) => {
            for ((out, &condition), &no) in places.zip(no) {
                *out = pick(condition, yes, no);
            }
        }
        (Source::Number(yes), Source::Number(no)) => {
            for (out, &condition) in places {
                *out = pick(condition, yes, no);
            }
        }
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
            const COMPLETE: bool = true;

            fn from_id(_: u32) -> Self {
                unreachable!("`compile` refuses ids in reals");
            }

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

            #[inline(always)]
            fn drop_tile<S: Simd>(
                simd: S,
                drops: &Drops,
                values: &mut [Self],
                draws: &mut Draws,
                columns: usize,
                place: TilePlace,
            ) {
                drops.drop_tile(simd, values, draws, columns, place);
            }
        }
    };
}

real!(f32);
real!(f64);

impl Arithmetic for u32 {
    const COMPLETE: bool = false;

    #[inline(always)]
    fn from_id(id: u32) -> Self {
        id
    }

    fn unary(operator: Unary, _: &mut [Self], _: Source<Self>) {
        unreachable!("`compile` refuses {operator:?} of ids");
    }

    #[inline(always)]
    fn binary(operator: Binary, out: &mut [Self], left: Source<Self>, right: Source<Self>) {
        match operator {
            Binary::Minimum => pairs(out, left, right, |a, b| a.min(b)),
            Binary::Maximum => pairs(out, left, right, |a, b| a.max(b)),
            _ => unreachable!("`compile` refuses {operator:?} of ids"),
        }
    }

    fn drop_tile<S: Simd>(_: S, _: &Drops, _: &mut [Self], _: &mut Draws, _: usize, _: TilePlace) {
        unreachable!("`compile` refuses dropout of ids");
    }
}
