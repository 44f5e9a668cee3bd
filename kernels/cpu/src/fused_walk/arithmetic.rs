//! arithmetic: the element-wise operators of programs on operands in cache, as plain loops that
//! vectorise.
//!
//! promises  the operators of `operators`, in loops dispatched to the instruction set of the CPU;
//!           `exp` of f32, and operators based on it, are our own
use pulp::{Arch, Simd, WithSimd};
use warploom_ir::interpret::{self, Scalar as Number, integer_arithmetic};
use warploom_ir::{Binary, Type, Unary};

use super::gather::{LANES, joined};
use crate::Real;
use crate::chunk_arithmetic::{Source, map_operand, pairs};
use crate::evaluate::Element;
use crate::operators::{self, BinaryLoops, UnaryLoops};

/// A loop over one operand, dispatched to the instruction set of the CPU. A bare closure might not
/// be inlined there.
struct One<'a, T, O, F> {
    out: &'a mut [O],
    a: Source<'a, T>,
    work: F,
}

impl<T: Copy, O: Copy, F: Fn(T) -> O> WithSimd for One<'_, T, O, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        map_operand(self.out, self.a, self.work);
    }
}

/// A loop over two operands.
struct Two<'a, T, O, F> {
    out: &'a mut [O],
    a: Source<'a, T>,
    b: Source<'a, T>,
    work: F,
}

impl<T: Copy, O: Copy, F: Fn(T, T) -> O> WithSimd for Two<'_, T, O, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        pairs(self.out, self.a, self.b, self.work);
    }
}

fn map_one<T: Copy, O: Copy>(arch: Arch, out: &mut [O], a: Source<T>, work: impl Fn(T) -> O) {
    arch.dispatch(One { out, a, work });
}

fn map_two<T: Copy, O: Copy>(
    arch: Arch,
    out: &mut [O],
    a: Source<T>,
    b: Source<T>,
    work: impl Fn(T, T) -> O,
) {
    arch.dispatch(Two { out, a, b, work });
}

/// Loops over one operand of a walk.
struct OneOperand<'a, A, O> {
    arch: Arch,
    out: &'a mut [O],
    a: Source<'a, A>,
}

impl<A: Copy, O: Copy> UnaryLoops<A, O> for OneOperand<'_, A, O> {
    const OWN_EXPONENTIAL: bool = true;

    fn vectorized(self, work: impl Fn(A) -> O + Sync) {
        map_one(self.arch, self.out, self.a, work);
    }

    fn scalar(self, work: impl Fn(A) -> O + Sync) {
        map_operand(self.out, self.a, work);
    }
}

/// Loops over two operands of a walk.
struct TwoOperands<'a, A, O> {
    arch: Arch,
    out: &'a mut [O],
    a: Source<'a, A>,
    b: Source<'a, A>,
}

impl<A: Copy, O: Copy> BinaryLoops<A, O> for TwoOperands<'_, A, O> {
    fn vectorized(self, work: impl Fn(A, A) -> O + Sync) {
        map_two(self.arch, self.out, self.a, self.b, work);
    }

    fn scalar(self, work: impl Fn(A, A) -> O + Sync) {
        pairs(self.out, self.a, self.b, work);
    }
}

/// One float operand.
pub(super) fn unary<T: Real + Element>(arch: Arch, out: &mut [T], a: Source<T>, operator: Unary) {
    operators::unary(operator, OneOperand { arch, out, a });
}

/// Two float operands.
pub(super) fn binary<T: Real + Element>(
    arch: Arch,
    out: &mut [T],
    a: Source<T>,
    b: Source<T>,
    operator: Binary,
) {
    operators::binary(operator, TwoOperands { arch, out, a, b });
}

/// Two float operands, of which one is a row broadcast to all rows.
pub(super) fn binary_by_row<T: Real + Element>(
    arch: Arch,
    out: &mut [T],
    rows: Source<T>,
    row: &[T],
    operator: Binary,
    is_first: bool,
) {
    match (operator, is_first) {
        (Binary::Add, _) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| a + b })
        }
        (Binary::Multiply, _) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| a * b })
        }
        (Binary::Subtract, false) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| a - b })
        }
        (Binary::Subtract, true) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| b - a })
        }
        (Binary::Divide, false) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| a / b })
        }
        (Binary::Divide, true) => {
            arch.dispatch(RowBroadcast { out, rows, row, work: |a: T, b: T| b / a })
        }
        _ => unreachable!("asked for by `has_form_by_row`"),
    }
}

/// Whether `binary_by_row` supports an operator.
pub(super) fn has_form_by_row(operator: Binary) -> bool {
    matches!(operator, Binary::Add | Binary::Multiply | Binary::Subtract | Binary::Divide)
}

/// A loop over rows and one broadcast row.
struct RowBroadcast<'a, T, F> {
    out: &'a mut [T],
    rows: Source<'a, T>,
    row: &'a [T],
    work: F,
}

impl<T: Copy, F: Fn(T, T) -> T> WithSimd for RowBroadcast<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let columns = self.row.len();
        for (number, out) in self.out.chunks_exact_mut(columns).enumerate() {
            let rows = match self.rows {
                Source::Slice(rows) => Source::Slice(&rows[number * columns..][..columns]),
                number => number,
            };
            pairs(out, rows, Source::Slice(self.row), &self.work);
        }
    }
}

/// Sums along the last axis, of this length, in eight lanes.
pub(super) fn sums_along<T: Real>(arch: Arch, out: &mut [T], rows: &[T], length: usize) {
    arch.dispatch(SumRowsJob { out, rows, length });
}

struct SumRowsJob<'a, T> {
    out: &'a mut [T],
    rows: &'a [T],
    length: usize,
}

impl<T: Real> WithSimd for SumRowsJob<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (out, row) in self.out.iter_mut().zip(self.rows.chunks_exact(self.length)) {
            let (whole, rest) = row.as_chunks::<LANES>();
            let mut lanes = [T::ZERO; LANES];
            for values in whole {
                for lane in 0..LANES {
                    lanes[lane] = lanes[lane] + values[lane];
                }
            }
            let rest = rest.iter().fold(T::ZERO, |sum, value| sum + *value);
            *out = joined(lanes) + rest;
        }
    }
}

/// Compares two float operands.
pub(super) fn compare<T: Real + Element>(
    arch: Arch,
    out: &mut [i64],
    a: Source<T>,
    b: Source<T>,
    operator: Binary,
) {
    operators::compare(operator, TwoOperands { arch, out, a, b });
}

/// One integer operand.
pub(super) fn unary_whole(arch: Arch, out: &mut [i64], a: Source<i64>, operator: Unary) {
    operators::unary_whole(operator, OneOperand { arch, out, a });
}

/// Two integer operands.
pub(super) fn binary_whole(
    arch: Arch,
    out: &mut [i64],
    a: Source<i64>,
    b: Source<i64>,
    operator: Binary,
) {
    operators::binary_whole(operator, TwoOperands { arch, out, a, b });
}

/// Integers to floats.
pub(super) fn widen<T: Real + Element>(arch: Arch, out: &mut [T], a: Source<i64>) {
    map_one(arch, out, a, |a: i64| T::rounded(integer_arithmetic::widened(a)));
}

/// Integers to another integer type.
pub(super) fn cast_whole(out: &mut [i64], a: Source<i64>, kind: Type) {
    map_operand(out, a, |a: i64| interpret::cast(kind, Number::Whole(a)).integer());
}

/// Floats to integers.
pub(super) fn narrow<T: Real + Element>(out: &mut [i64], a: Source<T>, kind: Type) {
    map_operand(out, a, |a: T| interpret::cast(kind, a.number()).integer());
}

/// The second operand where the first holds, else the third.
pub(super) fn select<A: Copy>(
    arch: Arch,
    out: &mut [A],
    condition: Source<i64>,
    yes: Source<A>,
    no: Source<A>,
) {
    match condition {
        Source::Number(holds) => {
            crate::chunk_arithmetic::copy(out, if holds != 0 { yes } else { no })
        }
        Source::Slice(holds) => arch.dispatch(SelectJob { out, holds, yes, no }),
    }
}

/// An element-wise select.
struct SelectJob<'a, A> {
    out: &'a mut [A],
    holds: &'a [i64],
    yes: Source<'a, A>,
    no: Source<'a, A>,
}

impl<A: Copy> WithSimd for SelectJob<'_, A> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let places = self.out.iter_mut().zip(self.holds);
        match (self.yes, self.no) {
            (Source::Slice(yes), Source::Slice(no)) => places
                .zip(yes)
                .zip(no)
                .for_each(|(((out, &holds), &yes), &no)| *out = if holds != 0 { yes } else { no }),
            (Source::Slice(yes), Source::Number(no)) => places
                .zip(yes)
                .for_each(|((out, &holds), &yes)| *out = if holds != 0 { yes } else { no }),
            (Source::Number(yes), Source::Slice(no)) => places
                .zip(no)
                .for_each(|((out, &holds), &no)| *out = if holds != 0 { yes } else { no }),
            (Source::Number(yes), Source::Number(no)) => {
                places.for_each(|(out, &holds)| *out = if holds != 0 { yes } else { no })
            }
        }
    }
}
