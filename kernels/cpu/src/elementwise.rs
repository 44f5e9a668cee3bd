//! elementwise: `out[r, c] = expression`, for each element of a buffer.
//!
//! promises  equals `expression::reference::evaluate` for each element, for any partition of the
//!           rows
//! never     reads the previous contents of `out`: `Expression::Made` is an error here, which
//!           `LaunchList::validate` rejects
//! bytes     reads each operand once, writes `out` once
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use crate::Scalar;
use crate::expression::{Bound, Evaluator};
use crate::row_tasks::{assert_shape, rows_per_task};

/// Evaluates the expression for each of `rows` x `columns` elements.
pub fn elementwise<T: Scalar>(out: &mut [T], expression: &Bound<T>, rows: usize, columns: usize) {
    T::run_elementwise(out, expression, rows, columns);
}

pub(crate) fn elementwise_of_type<T: Scalar>(
    out: &mut [T],
    expression: &Bound<T>,
    rows: usize,
    columns: usize,
) {
    assert_shape(out, rows, columns, "out");
    expression.assert_fits(rows, columns);
    if out.is_empty() {
        return;
    }
    let arch = pulp::Arch::new();
    let in_task = rows_per_task(columns);
    out.par_chunks_mut(in_task * columns).enumerate().for_each_init(
        || Evaluator::new(arch, expression, columns),
        |evaluator, (task, out)| evaluator.apply(task * in_task, out),
    );
}
