//! tests: the product against three loops in f64.
use proptest::prelude::*;

use super::{Product, RightLayout, product, reference};
use crate::Real;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn check<T: Real>(rows: usize, inner: usize, columns: usize, layout: RightLayout) {
    let left: Vec<T> = numbers(rows * inner, 1);
    let right: Vec<T> = numbers(inner * columns, 2);
    let work = Product { left: &left, right: &right, layout, rows, inner, columns };
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; rows * columns];
        product(&mut made, &work);
        made
    });
    let expected = reference::product(&work);
    assert_close(
        &made,
        &expected,
        inner as f64,
        &format!("{rows} x {inner} x {columns}, {layout:?}"),
    );
}

#[test]
fn degenerate_shapes() {
    for rows in [0, 1, 2, 7, 65, 530] {
        for inner in [0, 1, 2, 3, 16, 33, 96] {
            for columns in [0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 22, 33, 64] {
                for layout in [RightLayout::Plain, RightLayout::Transposed] {
                    check::<f32>(rows, inner, columns, layout);
                    check::<f64>(rows, inner, columns, layout);
                }
            }
        }
    }
}

#[test]
fn several_blocks_of_rows() {
    check::<f32>(4099, 96, 16, RightLayout::Transposed);
    check::<f32>(1031, 600, 41, RightLayout::Plain);
    check::<f64>(4099, 64, 64, RightLayout::Transposed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn drawn_shapes(rows in 0usize..200, inner in 0usize..90, columns in 0usize..90) {
        check::<f32>(rows, inner, columns, RightLayout::Transposed);
        check::<f64>(rows, inner, columns, RightLayout::Plain);
    }
}
