//! gemm: one sequential dense product; the only unsafe code of this crate.
//!
//! promises  bounds are asserted before the call; the same bits on every call with the same sizes
//!           and CPU
//! never     starts a thread
#![allow(unsafe_code)]

use crate::Real;

/// A matrix as a slice with row and column strides.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    /// Elements.
    pub(crate) data: &'a [T],
    /// Elements from one row to the next.
    pub(crate) row_stride: usize,
    /// Elements from one column to the next.
    pub(crate) column_stride: usize,
}

impl<T> Matrix<'_, T> {
    /// Whether a matrix of this size is in bounds of the slice.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        let last = (rows - 1)
            .checked_mul(self.row_stride)
            .and_then(|down| Some(down + (columns - 1).checked_mul(self.column_stride)?));
        last.is_some_and(|last| last < self.data.len())
    }
}

/// What happens to the previous contents of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputUpdate {
    /// They are overwritten.
    Gone,
    /// The product is accumulated into them.
    Kept,
}

/// `out = left @ right` with left rows x inner, right inner x columns and out rows x columns,
/// row-major.
pub(crate) fn gemm<T: Real>(out: &mut [T], left: Matrix<T>, right: Matrix<T>, sizes: [usize; 3]) {
    gemm_onto(out, OutputUpdate::Gone, left, right, sizes);
}

/// `out = left @ right`, or `out += left @ right`.
pub(crate) fn gemm_onto<T: Real>(
    out: &mut [T],
    before: OutputUpdate,
    left: Matrix<T>,
    right: Matrix<T>,
    [rows, inner, columns]: [usize; 3],
) {
    assert_eq!(rows.checked_mul(columns), Some(out.len()), "out has {rows} x {columns} elements");
    if out.is_empty() {
        return;
    }
    let is_kept = before == OutputUpdate::Kept;
    if inner == 0 {
        if !is_kept {
            out.fill(T::ZERO);
        }
        return;
    }
    assert!(left.holds(rows, inner), "left has {rows} x {inner} elements");
    assert!(right.holds(inner, columns), "right has {inner} x {columns} elements");
    // SAFETY: all sizes are at least 1; `holds` has shown that the last, and so every, element of
    // left and right lies in its slice; out is row-major of exactly rows x columns elements and,
    // being `&mut`, overlaps neither. Strides fit isize, since slices are at most isize::MAX bytes.
    // `T` is f32 or f64 (`Real` is sealed), which gemm implements.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            out.as_mut_ptr(),
            1,
            columns as isize,
            is_kept,
            left.data.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.data.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            if is_kept { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
