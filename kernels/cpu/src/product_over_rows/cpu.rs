//! cpu: one sequential product per block of rows, with partial results added in order.
use rayon::prelude::*;

use super::ProductOverRows;
use crate::Real;
use crate::product::gemm::{Matrix, gemm};
use crate::row_tasks::{assert_shape, partial_blocks};

/// Multiplies and sums; see the header of `product_over_rows`.
pub fn product_over_rows<T: Real>(out: &mut [T], work: &ProductOverRows<T>) {
    T::run_product_over_rows(out, work);
}

pub(crate) fn product_over_rows_of_type<T: Real>(out: &mut [T], work: &ProductOverRows<T>) {
    let &ProductOverRows { left, right, rows, left_columns, right_columns } = work;
    assert_shape(left, rows, left_columns, "left");
    assert_shape(right, rows, right_columns, "right");
    assert_shape(out, left_columns, right_columns, "out");
    let (in_block, blocks) = partial_blocks(rows, out.len());
    let partial = |block: usize| {
        let first = block * in_block;
        let count = in_block.min(rows - first);
        let left = &left[first * left_columns..(first + count) * left_columns];
        let right = &right[first * right_columns..(first + count) * right_columns];
        let mut partial = vec![T::ZERO; out.len()];
        gemm(
            &mut partial,
            Matrix { data: left, row_stride: 1, column_stride: left_columns },
            Matrix { data: right, row_stride: right_columns, column_stride: 1 },
            [left_columns, count, right_columns],
        );
        partial
    };
    let partials: Vec<Vec<T>> = (0..blocks).into_par_iter().with_max_len(1).map(partial).collect();
    add_in_order(out, &partials);
}

/// Sums partial results into `out`, in order.
pub(crate) fn add_in_order<'p, T: Real>(
    out: &mut [T],
    partials: impl IntoIterator<Item = &'p Vec<T>>,
) {
    out.fill(T::ZERO);
    for partial in partials {
        for (out, &partial) in out.iter_mut().zip(partial) {
            *out = *out + partial;
        }
    }
}
