//! metrics: accuracy and errors of a result on some rows.
//!
//! promises  ties go to the smallest class; a row with a NaN is never correct; sums in f64, by
//!           blocks that depend on sizes only, in order; over no rows: accuracy 0, error 0
//! never     reads other rows
mod auc;
mod f1;
#[cfg(test)]
mod tests;

pub use auc::{auc_of_classes, auc_of_labels};
pub use f1::{macro_f1, micro_f1};

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::Real;
use crate::row_tasks::assert_shape;

/// Rows per task.
const TASK_ROWS: usize = 4096;

/// How many of `rows` are classified correctly (argmax); `target` has one column.
pub fn right_count<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> u64 {
    assert_shape(result, target.len(), columns, "result");
    let arch = pulp::Arch::new();
    let right = |rows| arch.dispatch(Answers { result, target, columns, rows });
    rows.par_chunks(TASK_ROWS).map(right).sum()
}

/// Rows processed together, one per SIMD lane.
const LANES: usize = 16;

/// Counts the correctly classified rows of a block.
struct Answers<'a, T> {
    result: &'a [T],
    target: &'a [T],
    columns: usize,
    rows: &'a [u32],
}

impl<T: Real> WithSimd for Answers<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let mut right = 0;
        for rows in self.rows.chunks(LANES) {
            let mut starts = [0; LANES];
            for (start, &row) in starts.iter_mut().zip(rows) {
                *start = row as usize * self.columns;
            }
            let answers = largest(self.result, &starts, self.columns);
            for (&answer, &row) in answers.iter().zip(rows) {
                right += u64::from(
                    answer >= 0 && f64::from(answer) == self.target[row as usize].widened(),
                );
            }
        }
        right
    }
}

/// The argmax of the row at each start; -1 for a row with a NaN or without columns.
#[inline(always)]
fn largest<T: Real>(result: &[T], starts: &[usize; LANES], columns: usize) -> [i32; LANES] {
    let mut best = [T::SMALLEST; LANES];
    let mut answers = [if columns == 0 { -1 } else { 0 }; LANES];
    let mut numbers = [true; LANES];
    for column in 0..columns {
        let mut values = [T::ZERO; LANES];
        for lane in 0..LANES {
            values[lane] = result[starts[lane] + column];
        }
        for lane in 0..LANES {
            let better = values[lane] > best[lane];
            best[lane] = if better { values[lane] } else { best[lane] };
            answers[lane] = if better { column as i32 } else { answers[lane] };
            numbers[lane] &= values[lane] >= T::SMALLEST;
        }
    }
    for lane in 0..LANES {
        answers[lane] = if numbers[lane] { answers[lane] } else { -1 };
    }
    answers
}

/// `right_count` divided by the number of rows.
pub fn accuracy<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> f64 {
    if rows.is_empty() {
        return 0.0;
    }
    right_count(result, target, columns, rows) as f64 / rows.len() as f64
}

/// Multi-label accuracy: the share of known elements of these rows whose score has the sign of the
/// target (above or below one half). Elements with a NaN target are unknown. NaN if none is known.
pub fn right_share<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> f64 {
    assert_eq!(result.len(), target.len(), "target has the shape of the result");
    let of_row = |&row: &u32| {
        let range = row as usize * columns..(row as usize + 1) * columns;
        let pairs = result[range.clone()].iter().zip(&target[range]);
        let known = pairs.filter(|(_, target)| !target.widened().is_nan());
        known.fold((0, 0), |(right, all), (result, target)| {
            let is_right =
                !result.widened().is_nan() && (*result > T::ZERO) == (target.widened() > 0.5);
            (right + u64::from(is_right), all + 1)
        })
    };
    let (right, known) = rows
        .par_iter()
        .map(of_row)
        .reduce(|| (0u64, 0u64), |first, second| (first.0 + second.0, first.1 + second.1));
    right as f64 / known as f64
}

/// Mean of (result - target)^2 over these rows and all columns.
pub fn mean_squared_error<T: Real>(
    result: &[T],
    target: &[T],
    columns: usize,
    rows: &[u32],
) -> f64 {
    mean_error(result, target, columns, rows, |difference| difference.powi(2))
}

/// Mean of |result - target| over these rows and all columns.
pub fn mean_absolute_error<T: Real>(
    result: &[T],
    target: &[T],
    columns: usize,
    rows: &[u32],
) -> f64 {
    mean_error(result, target, columns, rows, f64::abs)
}

fn mean_error<T: Real>(
    result: &[T],
    target: &[T],
    columns: usize,
    rows: &[u32],
    error: impl Fn(f64) -> f64 + Sync,
) -> f64 {
    assert_eq!(result.len(), target.len(), "target has the shape of the result");
    if rows.is_empty() || columns == 0 {
        return 0.0;
    }
    let of_row = |&row: &u32| {
        let range = row as usize * columns..(row as usize + 1) * columns;
        let pairs = result[range.clone()].iter().zip(&target[range]);
        pairs.map(|(result, target)| error(result.widened() - target.widened())).sum::<f64>()
    };
    let sums: Vec<f64> =
        rows.par_chunks(TASK_ROWS).map(|rows| rows.iter().map(of_row).sum::<f64>()).collect();
    sums.iter().sum::<f64>() / (rows.len() * columns) as f64
}
