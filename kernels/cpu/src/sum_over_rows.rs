//! sum_over_rows: `out[0, c] = sum over rows of source[r, c]`: the gradient of a bias.
//!
//! promises  blocks of rows depend on sizes only and their partial sums are added in order, so that
//!           threads change no bit
//! never     shares a partial sum among threads
//! bytes     source once
#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::Real;
use crate::product_over_rows::add_in_order;
use crate::row_tasks::{assert_shape, partial_blocks};

/// Sums the rows of `source` into the one row `out`.
pub fn sum_over_rows<T: Real>(out: &mut [T], source: &[T], rows: usize, columns: usize) {
    assert_shape(out, 1, columns, "out");
    assert_shape(source, rows, columns, "source");
    if columns == 0 {
        return;
    }
    let arch = pulp::Arch::new();
    let (in_block, _) = partial_blocks(rows, columns);
    let partials: Vec<Vec<T>> = source
        .par_chunks(in_block * columns)
        .map(|source| {
            let mut sum = vec![T::ZERO; columns];
            arch.dispatch(Block { sum: &mut sum, source });
            sum
        })
        .collect();
    add_in_order(out, &partials);
}

struct Block<'a, T> {
    sum: &'a mut [T],
    source: &'a [T],
}

impl<T: Real> WithSimd for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.source.chunks_exact(self.sum.len()) {
            for (sum, &value) in self.sum.iter_mut().zip(row) {
                *sum = *sum + value;
            }
        }
    }
}

/// The sums in f64, in one loop.
pub fn reference<T: Real>(source: &[T], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (at, value) in source.iter().enumerate() {
        sums[at % columns] += value.widened();
    }
    sums
}
