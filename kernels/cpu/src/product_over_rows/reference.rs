//! reference: the product over rows in f64, as three loops.
//!
//! promises  slow
//! never     runs in parallel
use super::ProductOverRows;
use crate::Real;

/// The result, row-major.
pub fn product_over_rows<T: Real>(work: &ProductOverRows<T>) -> Vec<f64> {
    let mut out = vec![0.0; work.left_columns * work.right_columns];
    for row in 0..work.rows {
        for left in 0..work.left_columns {
            for right in 0..work.right_columns {
                out[left * work.right_columns + right] += work.left[row * work.left_columns + left]
                    .widened()
                    * work.right[row * work.right_columns + right].widened();
            }
        }
    }
    out
}
