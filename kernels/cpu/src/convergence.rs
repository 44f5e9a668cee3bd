//! convergence: the change of a state between two supersteps: when an iteration stops.
//!
//! promises  `summed_change` adds |a - b| in f64, block by block in order, with blocks that depend
//!           on sizes only; equal elements, infinities too, have change 0; infinity against
//!           anything else has change infinity; NaN makes the sum NaN. `changed_count` counts
//!           elements that differ; a NaN differs from everything but a NaN
//! never     stops early: every element is compared
#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::Real;
use crate::frontier::Run;

/// Up to this many elements one thread compares them faster than another thread starts.
const ELEMENTS_ALONE: usize = 256 * 1024;

/// Elements per task.
const TASK_ELEMENTS: usize = 32 * 1024;

/// Runs of rows per task.
const TASK_RUNS: usize = 256;

/// Independent partial sums within a block, added in order at its end.
const LANES: usize = 16;

/// The sum of absolute differences.
pub fn summed_change<T: Real>(before: &[T], after: &[T]) -> f64 {
    assert_eq!(before.len(), after.len(), "both contents have the same shape");
    let arch = pulp::Arch::new();
    let of_task = |(before, after)| arch.dispatch(Block { before, after });
    if before.len() <= ELEMENTS_ALONE {
        return before.chunks(TASK_ELEMENTS).zip(after.chunks(TASK_ELEMENTS)).map(of_task).sum();
    }
    let sums: Vec<f64> = before
        .par_chunks(TASK_ELEMENTS)
        .zip(after.par_chunks(TASK_ELEMENTS))
        .map(of_task)
        .collect();
    sums.iter().sum()
}

/// The change of all rows, or of these runs alone, in their order.
pub fn sum_changes<E: Sync>(
    before: &[E],
    after: &[E],
    columns: usize,
    only: Option<&[Run]>,
    of: impl Fn((&[E], &[E])) -> (f64, u64) + Sync,
) -> (f64, u64) {
    let Some(runs) = only else { return of((before, after)) };
    let of_run = |&(first, count): &Run| {
        let elements = first as usize * columns..(first + count) as usize * columns;
        of((&before[elements.clone()], &after[elements]))
    };
    let changes: Vec<(f64, u64)> = runs.par_iter().with_min_len(TASK_RUNS).map(of_run).collect();
    changes.iter().fold((0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

/// How many elements differ.
pub fn changed_count<T: Real>(before: &[T], after: &[T]) -> u64 {
    assert_eq!(before.len(), after.len(), "both contents have the same shape");
    let differ = |(before, after): (&T, &T)| {
        u64::from(before != after && (is_number(*before) || is_number(*after)))
    };
    before
        .par_chunks(TASK_ELEMENTS)
        .zip(after.par_chunks(TASK_ELEMENTS))
        .map(|(before, after)| before.iter().zip(after).map(differ).sum::<u64>())
        .sum()
}

/// The sum of absolute differences of integers, and how many differ.
pub fn whole_change(before: &[i64], after: &[i64]) -> (f64, u64) {
    assert_eq!(before.len(), after.len(), "both contents have the same shape");
    let of_task = |(before, after): (&[i64], &[i64])| {
        before.iter().zip(after).fold((0.0, 0), |(summed, changed), (&before, &after)| {
            (summed + before.abs_diff(after) as f64, changed + u64::from(before != after))
        })
    };
    let tasks: Vec<(f64, u64)> = before
        .par_chunks(TASK_ELEMENTS)
        .zip(after.par_chunks(TASK_ELEMENTS))
        .map(of_task)
        .collect();
    tasks.iter().fold((0.0, 0), |(summed, changed), task| (summed + task.0, changed + task.1))
}

#[expect(clippy::eq_op, reason = "a NaN is the element that is not itself")]
fn is_number<T: Real>(element: T) -> bool {
    element == element
}

struct Block<'a, T> {
    before: &'a [T],
    after: &'a [T],
}

impl<T: Real> WithSimd for Block<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0f64; LANES];
        let before = self.before.chunks_exact(LANES);
        let after = self.after.chunks_exact(LANES);
        let rest = before.remainder().iter().zip(after.remainder());
        for (before, after) in before.zip(after) {
            for lane in 0..LANES {
                sums[lane] += difference(before[lane], after[lane]);
            }
        }
        let rest: f64 = rest.map(|(&before, &after)| difference(before, after)).sum();
        sums.iter().sum::<f64>() + rest
    }
}

#[inline(always)]
fn difference<T: Real>(before: T, after: T) -> f64 {
    if before == after { 0.0 } else { (before.widened() - after.widened()).abs() }
}
