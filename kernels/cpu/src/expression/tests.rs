//! tests: compiled expressions against the tree walk, for every broadcast, width and drawn tree.
use proptest::prelude::*;
use warploom_ir::{Binary, Unary};
use warploom_launch::{Dropout, Expression};

use super::reference::{ElementContext, evaluate};
use super::{Bound, BufferOperand, CompileError, Compiled, OperandRows};
use crate::elementwise::elementwise;
use crate::random::dropout::DrawContext;
use crate::test_support::{numbers, run_in_pools};
use crate::{Real, Scalar};

/// Buffers `full`, `column`, `row` and `number`, named by how they meet the output.
struct Buffers<T> {
    full: Vec<T>,
    column: Vec<T>,
    row: Vec<T>,
    number: Vec<T>,
}

impl<T: Scalar> Buffers<T> {
    fn new(rows: usize, columns: usize) -> Self {
        Buffers {
            full: numbers(rows * columns, 1),
            column: numbers(rows, 2),
            row: numbers(columns, 3),
            number: numbers(1, 4),
        }
    }

    fn operand(&self, name: &str, columns: usize) -> BufferOperand<'_, T> {
        match name {
            "full" => BufferOperand { data: &self.full, rows: OperandRows::Many, columns },
            "column" => BufferOperand { data: &self.column, rows: OperandRows::Many, columns: 1 },
            "row" => BufferOperand { data: &self.row, rows: OperandRows::One, columns },
            _ => BufferOperand { data: &self.number, rows: OperandRows::One, columns: 1 },
        }
    }

    fn element(&self, name: &str, row: usize, column: usize) -> f64 {
        let columns = self.row.len();
        match name {
            "full" => self.full[row * columns + column].widened(),
            "column" => self.column[row].widened(),
            "row" => self.row[column].widened(),
            _ => self.number[0].widened(),
        }
    }
}

/// Evaluates over `rows` x `columns` both ways; elements before are `full`, for `Made`.
fn both<T: Scalar>(
    expression: &Expression,
    rows: usize,
    columns: usize,
    context: DrawContext,
) -> (Vec<T>, Vec<f64>) {
    let buffers = Buffers::<T>::new(rows, columns);
    let program = Compiled::compile(expression).expect("compiles");
    let operands: Vec<_> =
        program.loads().iter().map(|name| buffers.operand(name, columns)).collect();
    let bound = Bound { program: &program, operands: &operands, context };
    let made = run_in_pools(|| {
        let mut out = buffers.full.clone();
        elementwise(&mut out, &bound, rows, columns);
        out
    });
    let load = |name: &str, row: usize, column: usize| buffers.element(name, row, column);
    let expected = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        let made = buffers.full[at].widened();
        evaluate(expression, &ElementContext { row, column, made, load: &load, context })
    };
    (made, (0..rows * columns).map(expected).collect())
}

fn assert_equal<T: Scalar>((made, expected): (Vec<T>, Vec<f64>), what: &str) {
    for (at, (made, &expected)) in made.iter().zip(&expected).enumerate() {
        let made = made.widened();
        assert!(
            made == expected || (made.is_nan() && expected.is_nan()),
            "{what}: element {at} is {made}, expected {expected}"
        );
    }
}

const UNARIES: [Unary; 9] = [
    Unary::Negative,
    Unary::Absolute,
    Unary::Relu,
    Unary::Positive,
    Unary::Exp,
    Unary::Log,
    Unary::Sqrt,
    Unary::Rsqrt,
    Unary::Reciprocal,
];
const BINARIES: [Binary; 6] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Minimum,
    Binary::Maximum,
];
const LOADS: [&str; 4] = ["full", "column", "row", "number"];

#[test]
fn every_operator_meets_every_operand() {
    let mut leaves: Vec<Expression> = LOADS.iter().map(|&name| Expression::load(name)).collect();
    leaves.extend([Expression::Made, Expression::Constant(0.25)]);
    for left in &leaves {
        for operator in UNARIES {
            let expression = Expression::unary(operator, left.clone());
            assert_equal(
                both::<f64>(&expression, 70, 33, DrawContext::default()),
                &format!("{expression:?}"),
            );
        }
        for right in &leaves {
            for operator in BINARIES {
                let expression = Expression::binary(operator, left.clone(), right.clone());
                assert_equal(
                    both::<f64>(&expression, 70, 33, DrawContext::default()),
                    &format!("{expression:?}"),
                );
            }
            let condition = Expression::unary(Unary::Positive, left.clone());
            for condition in
                [condition, Expression::Constant(0.0), Expression::Constant(2.0), left.clone()]
            {
                let (yes, no) = (Box::new(right.clone()), Box::new(left.clone()));
                let expression = Expression::Select(Box::new(condition), yes, no);
                assert_equal(
                    both::<f64>(&expression, 9, 5, DrawContext::default()),
                    &format!("{expression:?}"),
                );
            }
        }
        assert_equal(both::<f64>(left, 9, 5, DrawContext::default()), &format!("{left:?}"));
    }
}

#[test]
fn every_width_and_row_count() {
    let [full, column, row] = ["full", "column", "row"].map(Expression::load);
    let sum =
        Expression::binary(Binary::Add, Expression::binary(Binary::Multiply, full, column), row);
    let dropout = Dropout { probability: 0.3, site: 1 };
    let expression = Expression::Dropout(dropout, Box::new(Expression::unary(Unary::Relu, sum)));
    let graph_rows: Vec<u32> = (0..100).map(|row| row * 7 % 100).collect();
    let context = DrawContext { seed: 5, epoch: 2, active: true, row_in_graph: Some(&graph_rows) };
    for columns in [1, 2, 3, 7, 8, 16, 31, 100, 1000, 1023, 1024, 1025, 2100] {
        for rows in [0, 1, 2, 13, 100] {
            assert_equal(
                both::<f64>(&expression, rows, columns, context),
                &format!("{rows} x {columns}"),
            );
        }
    }
}

#[test]
fn special_numbers() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0] {
        for operator in UNARIES {
            let expression = Expression::unary(operator, Expression::Constant(number));
            assert_equal(
                both::<f64>(&expression, 1, 1, DrawContext::default()),
                &format!("{expression:?}"),
            );
        }
        for operator in BINARIES {
            for (left, right) in [(number, 1.0), (1.0, number), (number, number)] {
                let expression = Expression::binary(
                    operator,
                    Expression::Constant(left),
                    Expression::Constant(right),
                );
                assert_equal(
                    both::<f64>(&expression, 1, 1, DrawContext::default()),
                    &format!("{expression:?}"),
                );
            }
        }
    }
}

#[test]
fn ids_have_minimum_select_and_their_row() {
    let graph_rows: Vec<u32> = (0..50).rev().collect();
    let context = DrawContext { row_in_graph: Some(&graph_rows), ..DrawContext::default() };
    let smaller = Expression::binary(Binary::Minimum, Expression::Id, Expression::load("full"));
    assert_equal(both::<u32>(&smaller, 50, 3, context), "min");
    let sentinel = Expression::Constant(f64::INFINITY);
    let select = Expression::Select(
        Box::new(Expression::load("column")),
        Box::new(smaller),
        Box::new(sentinel),
    );
    let program = Compiled::<u32>::compile(&select).expect("compiles");
    let flags: Vec<u32> = (0..50).map(|row| row % 2).collect();
    let operands = [
        BufferOperand { data: &flags, rows: OperandRows::Many, columns: 1 },
        BufferOperand { data: &graph_rows, rows: OperandRows::Many, columns: 1 },
    ];
    let mut out = vec![0; 50];
    elementwise(&mut out, &Bound { program: &program, operands: &operands, context }, 50, 1);
    assert!((0..50).all(|row| out[row] == if row % 2 == 1 { 49 - row as u32 } else { u32::MAX }));
}

#[test]
fn what_a_type_cannot_do_is_refused() {
    let refused =
        |expression: &Expression| Compiled::<u32>::compile(expression).expect_err("refused");
    let add = Expression::binary(Binary::Add, Expression::Id, Expression::Id);
    assert_eq!(refused(&add).to_string(), "ids have `min`, `max` and `select` only, found `add`");
    assert_eq!(
        refused(&Expression::Constant(-1.0)).to_string(),
        "expected an id (0 to 4294967294) or infinity, found `-1`"
    );
    assert_eq!(refused(&Expression::Constant(0.5)), CompileError::NotAnId(0.5));
    let dropout = |probability| {
        Expression::Dropout(Dropout { probability, site: 0 }, Box::new(Expression::Made))
    };
    assert_eq!(refused(&dropout(0.5)), CompileError::NotForIds("dropout".into()));
    assert_eq!(Compiled::<f32>::compile(&Expression::Id), Err(CompileError::IdInReals));
    assert_eq!(Compiled::<f32>::compile(&dropout(1.0)), Err(CompileError::Probability(1.0)));
}

/// Trees of a few levels that stay near 1, so that no operator loses all digits.
fn trees() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        prop::sample::select(&LOADS[..]).prop_map(Expression::load),
        Just(Expression::Made),
        (-2.0..2.0).prop_map(Expression::Constant),
    ];
    leaf.prop_recursive(6, 40, 3, |inner| {
        let dropout =
            (0.0..0.9, 0u32..4).prop_map(|(probability, site)| Dropout { probability, site });
        prop_oneof![
            (prop::sample::select(&UNARIES[..4]), inner.clone())
                .prop_map(|(operator, operand)| Expression::unary(operator, operand)),
            (prop::sample::select(&BINARIES[..]), inner.clone(), inner.clone())
                .prop_map(|(operator, left, right)| Expression::binary(operator, left, right)),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(condition, yes, no)| {
                Expression::Select(Box::new(condition), Box::new(yes), Box::new(no))
            }),
            (dropout, inner)
                .prop_map(|(dropout, operand)| Expression::Dropout(dropout, Box::new(operand))),
        ]
    })
}

/// The root of an expression in f32 differs from f64 by rounding; compared where the tree cannot
/// jump.
fn near<T: Real>((made, expected): (Vec<T>, Vec<f64>)) {
    crate::test_support::assert_close(&made, &expected, 1.0, "smooth expression");
}

#[test]
fn f32_is_near() {
    let [full, column, row] = ["full", "column", "row"].map(Expression::load);
    let product = Expression::binary(Binary::Multiply, full, column);
    let expression =
        Expression::unary(Unary::Exp, Expression::binary(Binary::Subtract, product, row));
    near(both::<f32>(&expression, 123, 22, DrawContext::default()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn drawn_trees(tree in trees(), rows in 1usize..40, columns in 1usize..40) {
        let context = DrawContext { seed: 9, epoch: 1, active: true, row_in_graph: None };
        assert_equal(both::<f64>(&tree, rows, columns, context), &format!("{tree:?}"));
    }
}
