//! tests: the product over rows against three loops in f64.
use proptest::prelude::*;

use super::{ProductOverRows, product_over_rows, reference};
use crate::Real;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn check<T: Real>(rows: usize, left_columns: usize, right_columns: usize) {
    let left: Vec<T> = numbers(rows * left_columns, 1);
    let right: Vec<T> = numbers(rows * right_columns, 2);
    let work = ProductOverRows { left: &left, right: &right, rows, left_columns, right_columns };
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; left_columns * right_columns];
        product_over_rows(&mut made, &work);
        made
    });
    let expected = reference::product_over_rows(&work);
    assert_close(
        &made,
        &expected,
        rows as f64,
        &format!("{rows} rows, {left_columns} x {right_columns}"),
    );
}

#[test]
fn degenerate_shapes() {
    for rows in [0, 1, 2, 7, 1023, 1025] {
        for left_columns in [0, 1, 2, 7, 16, 22] {
            for right_columns in [0, 1, 3, 16, 33, 96] {
                check::<f32>(rows, left_columns, right_columns);
                check::<f64>(rows, left_columns, right_columns);
            }
        }
    }
}

#[test]
fn several_blocks_of_rows() {
    check::<f32>(5003, 16, 96);
    check::<f64>(9001, 22, 16);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn drawn_shapes(rows in 0usize..3000, left_columns in 0usize..40, right_columns in 0usize..40) {
        check::<f64>(rows, left_columns, right_columns);
    }
}
