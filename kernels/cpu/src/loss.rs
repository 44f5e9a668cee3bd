//! loss: the mean loss over the training rows, and its gradient with respect to the result.
//!
//! promises  cross entropy: mean of `-log softmax(result)[class]`, numerically stable, natural
//!           logarithm; gradient (softmax - one-hot) / count. Mean squared error: mean of (result -
//!           target)^2 over rows and columns; gradient 2 (result - target) / (count * columns).
//!           Binary cross entropy with logits: mean over rows and columns, targets in 0 to 1;
//!           gradient (sigmoid - target) / (count * columns); elements with a NaN target are
//!           ignored. The gradient is exactly 0 in rows that do not train. Without training rows,
//!           or without an element that counts: loss 0, gradient 0. The loss is summed in f64, by
//!           blocks of rows that depend on sizes only, in order
//! never     reads the target of a row that does not train
//! bounds    a class out of range makes the loss and that row's gradient NaN
pub mod reference;
#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use warploom_ir::{Loss as LossKind, Unary};

use crate::Real;
use crate::chunk_arithmetic::Source;
use crate::row_tasks::{assert_shape, rows_per_task};

/// The operands of a loss.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a, T> {
    /// The kind of loss.
    pub kind: LossKind,
    /// rows x columns.
    pub result: &'a [T],
    /// rows x 1, the class; or rows x columns, the values.
    pub target: &'a [T],
    /// Columns of the result.
    pub columns: usize,
    /// The training rows, ascending, without duplicates.
    pub training_rows: &'a [u32],
}

/// Writes the gradient and returns the loss.
pub fn loss<T: Real>(gradient: &mut [T], work: &Loss<T>) -> f64 {
    T::run_loss(gradient, work)
}

pub(crate) fn loss_of_type<T: Real>(gradient: &mut [T], work: &Loss<T>) -> f64 {
    let columns = work.columns;
    assert_eq!(gradient.len(), work.result.len(), "gradient has the shape of the result");
    if columns == 0 {
        return 0.0;
    }
    let rows = work.result.len() / columns;
    assert_shape(work.result, rows, columns, "result");
    let target_columns = if work.kind == LossKind::CrossEntropy { 1 } else { columns };
    assert_shape(work.target, rows, target_columns, "target");
    assert!(
        work.training_rows.is_sorted_by(|first, second| first < second),
        "training rows ascend"
    );
    assert!(
        work.training_rows.last().is_none_or(|&last| (last as usize) < rows),
        "training rows lie in the result"
    );
    let arch = pulp::Arch::new();
    let in_task = rows_per_task(columns);
    let count = terms(work);
    let losses: Vec<f64> = gradient
        .par_chunks_mut(in_task * columns)
        .enumerate()
        .map(|(task, gradient)| {
            arch.dispatch(Block { gradient, work, first_row: task * in_task, count })
        })
        .collect();
    if count == 0 { 0.0 } else { losses.iter().sum::<f64>() / count as f64 }
}

/// The number of terms of the mean.
fn terms<T: Real>(work: &Loss<T>) -> usize {
    let (rows, columns) = (work.training_rows, work.columns);
    let known = |row: &u32| {
        work.target[*row as usize * columns..][..columns]
            .iter()
            .filter(|target| !target.widened().is_nan())
            .count()
    };
    match work.kind {
        LossKind::CrossEntropy => rows.len(),
        LossKind::MeanSquares => rows.len() * columns,
        LossKind::Binary => rows.par_iter().map(known).sum(),
    }
}

/// The rows of one task.
struct Block<'w, 'a, T> {
    gradient: &'w mut [T],
    work: &'w Loss<'a, T>,
    first_row: usize,
    /// Terms of the mean.
    count: usize,
}

impl<T: Real> WithSimd for Block<'_, '_, T> {
    type Output = f64;

    /// The summed loss of the training rows of the block.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Block { gradient, work, first_row, count } = self;
        let columns = work.columns;
        let rows = gradient.len() / columns;
        let start = work.training_rows.partition_point(|&row| (row as usize) < first_row);
        let end = work.training_rows.partition_point(|&row| (row as usize) < first_row + rows);
        gradient.fill(T::ZERO);
        let training = &work.training_rows[start..end];
        match work.kind {
            LossKind::CrossEntropy => cross_entropy(gradient, work, first_row, training),
            kind @ (LossKind::MeanSquares | LossKind::Binary) => {
                let row_loss = if kind == LossKind::Binary { binary_row } else { mean_squares_row };
                let mut sum = 0.0;
                for &row in training {
                    let (row, columns) = (row as usize, work.columns);
                    let of_row = row * columns..(row + 1) * columns;
                    let gradient = &mut gradient[(row - first_row) * columns..][..columns];
                    sum += row_loss(
                        gradient,
                        &work.result[of_row.clone()],
                        &work.target[of_row],
                        count,
                    );
                }
                sum
            }
        }
    }
}

/// Rows processed together, one per SIMD lane.
const LANES: usize = 16;

/// The summed loss of some training rows, not yet divided by the count; their gradient is divided.
#[inline(always)]
fn cross_entropy<T: Real>(
    gradient: &mut [T],
    work: &Loss<T>,
    first_row: usize,
    training: &[u32],
) -> f64 {
    let columns = work.columns;
    let share = T::rounded(1.0 / work.training_rows.len() as f64);
    let mut lanes = vec![[T::ZERO; LANES]; columns];
    let mut sum = 0.0;
    for rows in training.chunks(LANES) {
        // Lanes beyond the last row repeat the first one, and write the same gradient again.
        let mut starts = [rows[0] as usize * columns; LANES];
        for (start, &row) in starts.iter_mut().zip(rows) {
            *start = row as usize * columns;
        }
        let mut largest = [T::SMALLEST; LANES];
        for (column, values) in lanes.iter_mut().enumerate() {
            for lane in 0..LANES {
                values[lane] = work.result[starts[lane] + column];
            }
            for lane in 0..LANES {
                largest[lane] = largest[lane].larger(values[lane]);
            }
        }
        let totals = powers(&mut lanes, &largest);
        let factors =
            totals.map(|total| T::rounded(1.0 / (total * work.training_rows.len() as f64)));
        for (column, powers) in lanes.iter().enumerate() {
            for lane in 0..LANES {
                gradient[starts[lane] + column - first_row * columns] =
                    powers[lane] * factors[lane];
            }
        }
        for (lane, &row) in rows.iter().enumerate() {
            let gradient = &mut gradient[starts[lane] - first_row * columns..][..columns];
            match class_column(work.target[row as usize], columns) {
                Some(class) => {
                    gradient[class] = gradient[class] - share;
                    let of_class =
                        work.result[starts[lane] + class].widened() - largest[lane].widened();
                    sum += totals[lane].ln() - of_class;
                }
                None => {
                    gradient.fill(T::rounded(f64::NAN));
                    sum = f64::NAN;
                }
            }
        }
    }
    sum
}

/// e^(value - largest) in place, and their sum in each lane.
#[inline(always)]
fn powers<T: Real>(lanes: &mut [[T; LANES]], largest: &[T; LANES]) -> [f64; LANES] {
    let mut totals = [0.0; LANES];
    for values in lanes {
        let mut below = [T::ZERO; LANES];
        for lane in 0..LANES {
            below[lane] = values[lane] - largest[lane];
        }
        T::unary(Unary::Exp, values, Source::Slice(&below));
        for lane in 0..LANES {
            totals[lane] += values[lane].widened();
        }
    }
    totals
}

/// The column of a class; `None` if it is out of range.
#[inline(always)]
fn class_column<T: Real>(class: T, columns: usize) -> Option<usize> {
    let class = class.widened();
    (class >= 0.0 && class < columns as f64 && class == (class as usize) as f64)
        .then_some(class as usize)
}

/// Binary cross entropy of logits, without overflow.
fn binary_row<T: Real>(gradient: &mut [T], result: &[T], target: &[T], count: usize) -> f64 {
    let mut sum = 0.0;
    for ((gradient, &result), &target) in gradient.iter_mut().zip(result).zip(target) {
        let (score, wanted) = (result.widened(), target.widened());
        if wanted.is_nan() {
            continue;
        }
        let power = (-score.abs()).exp();
        sum += score.max(0.0) - score * wanted + power.ln_1p();
        let share = if score >= 0.0 { 1.0 / (1.0 + power) } else { power / (1.0 + power) };
        *gradient = T::rounded((share - wanted) / count as f64);
    }
    sum
}

fn mean_squares_row<T: Real>(gradient: &mut [T], result: &[T], target: &[T], count: usize) -> f64 {
    let scale = T::rounded(2.0 / count as f64);
    let mut sum = 0.0;
    for ((gradient, &result), &target) in gradient.iter_mut().zip(result).zip(target) {
        let difference = result - target;
        sum += difference.widened() * difference.widened();
        *gradient = difference * scale;
    }
    sum
}
