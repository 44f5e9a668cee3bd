//! cpu: a product in blocks of rows.
use rayon::prelude::*;

use super::gemm::{Matrix, gemm};
use super::{Product, RightLayout};
use crate::Real;
use crate::row_tasks::{assert_shape, rows_per_task};

/// Minimum rows per task: gemm packs the right operand once per task, which does not pay for fewer
/// rows.
const LEAST_ROWS: usize = 128;

/// Multiplies; see the header of `product`.
pub fn product<T: Real>(out: &mut [T], work: &Product<T>) {
    T::run_product(out, work);
}

pub(crate) fn product_of_type<T: Real>(out: &mut [T], work: &Product<T>) {
    let &Product { left, right, rows, inner, columns, .. } = work;
    assert_shape(out, rows, columns, "out");
    assert_shape(left, rows, inner, "left");
    assert_shape(right, inner, columns, "right");
    if out.is_empty() {
        return;
    }
    let right = match work.layout {
        RightLayout::Plain => Matrix { data: right, row_stride: columns, column_stride: 1 },
        RightLayout::Transposed => Matrix { data: right, row_stride: 1, column_stride: inner },
    };
    let in_task = rows_per_task(inner.max(columns)).max(LEAST_ROWS);
    out.par_chunks_mut(in_task * columns).enumerate().for_each(|(task, out)| {
        let first_row = task * in_task;
        let count = out.len() / columns;
        let left = &left[first_row * inner..(first_row + count) * inner];
        let left = Matrix { data: left, row_stride: inner, column_stride: 1 };
        gemm(out, left, right, [count, inner, columns]);
    });
}
