//! tests: sums over rows against one loop in f64.
use super::{reference, sum_over_rows};
use crate::Real;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn check<T: Real>(rows: usize, columns: usize) {
    let source: Vec<T> = numbers(rows * columns, 1);
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; columns];
        sum_over_rows(&mut made, &source, rows, columns);
        made
    });
    assert_close(&made, &reference(&source, columns), rows as f64, &format!("{rows} x {columns}"));
}

#[test]
fn shapes() {
    for rows in [0, 1, 7, 1023, 1025, 5000] {
        for columns in [0, 1, 2, 7, 16, 33, 100] {
            check::<f32>(rows, columns);
            check::<f64>(rows, columns);
        }
    }
}
