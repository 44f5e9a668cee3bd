//! tests: shapes that the caller got wrong; values are tested with `expression`.
use warploom_launch::Expression;

use super::elementwise;
use crate::expression::{Bound, BufferOperand, Compiled, OperandRows};
use crate::random::dropout::DrawContext;

fn copy_of(operand: BufferOperand<f32>, rows: usize, columns: usize) {
    let program = Compiled::compile(&Expression::load("a")).expect("compiles");
    let bound = Bound { program: &program, operands: &[operand], context: DrawContext::default() };
    elementwise(&mut vec![0.0; rows * columns], &bound, rows, columns);
}

#[test]
#[should_panic(expected = "`a` has 1 or 3 columns, found 2")]
fn an_operand_of_another_width() {
    copy_of(BufferOperand { data: &[0.0; 8], rows: OperandRows::Many, columns: 2 }, 4, 3);
}

#[test]
#[should_panic(expected = "`a` has 4 rows of 3, found 9 elements")]
fn an_operand_with_too_few_rows() {
    copy_of(BufferOperand { data: &[0.0; 9], rows: OperandRows::Many, columns: 3 }, 4, 3);
}

#[test]
fn nothing_at_all() {
    copy_of(BufferOperand { data: &[], rows: OperandRows::Many, columns: 3 }, 0, 3);
    copy_of(BufferOperand { data: &[], rows: OperandRows::Many, columns: 0 }, 5, 0);
}
