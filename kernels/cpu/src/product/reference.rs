//! reference: the product in f64, as three loops.
//!
//! promises  slow
//! never     runs in parallel
use super::{Product, RightLayout};
use crate::Real;

/// The result, row-major.
pub fn product<T: Real>(work: &Product<T>) -> Vec<f64> {
    let mut out = Vec::with_capacity(work.rows * work.columns);
    for row in 0..work.rows {
        for column in 0..work.columns {
            let term = |inner: usize| {
                let at = match work.layout {
                    RightLayout::Plain => inner * work.columns + column,
                    RightLayout::Transposed => column * work.inner + inner,
                };
                work.left[row * work.inner + inner].widened() * work.right[at].widened()
            };
            out.push((0..work.inner).map(term).sum());
        }
    }
    out
}
