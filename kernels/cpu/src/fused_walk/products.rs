//! products: rows of a block times a matrix, and sums over rows: of the rows themselves, and of
//! their outer products.
//!
//! promises  one sequential product per block of rows; rows are added in order, a single column in
//!           several lanes
//! never     depends on the kind of step
use pulp::{Arch, Simd, WithSimd};

use crate::Real;
use crate::chunk_arithmetic::Source;
use crate::product::gemm::{Matrix, OutputUpdate, gemm_onto};

/// Rows times a matrix `[inner, made]`, or its transpose.
pub(super) fn rows_times<T: Real>(
    out: &mut [T],
    left: Source<T>,
    right: &[T],
    transposed: bool,
    [inner, made]: [usize; 2],
) {
    let right = match transposed {
        true => Matrix { data: right, row_stride: 1, column_stride: inner },
        false => Matrix { data: right, row_stride: made, column_stride: 1 },
    };
    let rows = out.len().checked_div(made).unwrap_or(0);
    with_matrix(left, inner, |left| {
        gemm_onto(out, OutputUpdate::Gone, left, right, [rows, inner, made])
    });
}

/// Adds the outer product of each row of one with the same row of the other to a total of `tall` x
/// `broad`.
pub(super) fn add_outer<T: Real>(
    total: &mut [T],
    left: Source<T>,
    right: Source<T>,
    [tall, rows, broad]: [usize; 3],
) {
    with_matrix(left, tall, |left| {
        let left =
            Matrix { row_stride: left.column_stride, column_stride: left.row_stride, ..left };
        with_matrix(right, broad, |right| {
            gemm_onto(total, OutputUpdate::Kept, left, right, [tall, rows, broad])
        });
    });
}

/// Rows as a matrix; a constant as a matrix of equal elements.
fn with_matrix<T: Real>(rows: Source<T>, columns: usize, work: impl FnOnce(Matrix<T>)) {
    match rows {
        Source::Slice(data) => work(Matrix { data, row_stride: columns, column_stride: 1 }),
        Source::Number(number) => work(Matrix { data: &[number], row_stride: 0, column_stride: 0 }),
    }
}

/// Adds rows to a total.
pub(super) fn add_rows<T: Real>(arch: Arch, total: &mut [T], rows: Source<T>) {
    let Source::Slice(rows) = rows else { unreachable!("rows of vertices lie somewhere") };
    arch.dispatch(RowsAdded { total, rows });
}

struct RowsAdded<'a, T> {
    total: &'a mut [T],
    rows: &'a [T],
}

/// Lanes of a single column.
const LANES: usize = 16;

impl<T: Real> WithSimd for RowsAdded<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let RowsAdded { total, rows } = self;
        if let [total] = total {
            let mut lanes = [T::ZERO; LANES];
            let (whole, rest) = rows.as_chunks::<LANES>();
            whole.iter().for_each(|values| {
                lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane = *lane + *value)
            });
            lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = *lane + *value);
            *total = lanes.iter().fold(*total, |sum, lane| sum + *lane);
        } else if !total.is_empty() {
            for row in rows.chunks_exact(total.len()) {
                total.iter_mut().zip(row).for_each(|(total, value)| *total = *total + *value);
            }
        }
    }
}
