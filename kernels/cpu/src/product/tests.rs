//! tests: the product against three loops in f64.
use proptest::prelude::*;
use warploom_ir::Unary;
use warploom_launch::Expression;

use super::{Product, RightLayout, product, reference};
use crate::Real;
use crate::expression::{Bound, Compiled};
use crate::random::dropout::DrawContext;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn check<T: Real>(rows: usize, inner: usize, columns: usize, layout: RightLayout) {
    let left: Vec<T> = numbers(rows * inner, 1);
    let right: Vec<T> = numbers(inner * columns, 2);
    let program =
        Compiled::compile(&Expression::unary(Unary::Relu, Expression::Made)).expect("compiles");
    let epilogue = Bound { program: &program, operands: &[], context: DrawContext::default() };
    let work = Product { left: &left, right: &right, layout, rows, inner, columns, epilogue };
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; rows * columns];
        product(&mut made, &work);
        made
    });
    let expected: Vec<f64> =
        reference::product(&work).into_iter().map(|value| value.max(0.0)).collect();
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
