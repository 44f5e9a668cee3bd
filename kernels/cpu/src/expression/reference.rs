//! reference: the meaning of an expression, one element at a time, by walking the tree in f64.
//!
//! promises  slow; the compiled form is tested against it
//! never     shares code with the compiled form, except which elements dropout keeps
use warploom_ir::{Binary, Unary};
use warploom_launch::Expression;

use crate::random::dropout::{DrawContext, Drops};

/// The inputs of one element.
pub struct ElementContext<'a> {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// The value that the launch computed before the epilogue.
    pub made: f64,
    /// The element of a buffer at (row, column), broadcast.
    pub load: &'a dyn Fn(&str, usize, usize) -> f64,
    /// For dropout and ids.
    pub context: DrawContext<'a>,
}

/// The value of an expression at one element.
pub fn evaluate(expression: &Expression, element: &ElementContext) -> f64 {
    let value = |operand: &Expression| evaluate(operand, element);
    match expression {
        Expression::Made => element.made,
        Expression::Constant(number) => *number,
        Expression::Load(name) => (element.load)(name, element.row, element.column),
        Expression::Id => f64::from(element.context.graph_row(element.row)),
        Expression::Unary(operator, operand) => unary(*operator, value(operand)),
        Expression::Binary(operator, left, right) => binary(*operator, value(left), value(right)),
        Expression::Select(condition, yes, no) => {
            if value(condition) != 0.0 {
                value(yes)
            } else {
                value(no)
            }
        }
        Expression::Dropout(dropout, operand) => match Drops::new(*dropout, &element.context) {
            None => value(operand),
            Some(drops) if drops.keeps(element.context.graph_row(element.row), element.column) => {
                value(operand) * drops.scale()
            }
            Some(_) => 0.0,
        },
    }
}

fn unary(operator: Unary, a: f64) -> f64 {
    match operator {
        Unary::Relu if a.is_nan() => a,
        Unary::Relu => a.max(0.0),
        other => other.value(a),
    }
}

fn binary(operator: Binary, a: f64, b: f64) -> f64 {
    match operator {
        Binary::Minimum | Binary::Maximum if a.is_nan() || b.is_nan() => f64::NAN,
        Binary::Minimum => a.min(b),
        Binary::Maximum => a.max(b),
        other => other.value(a, b),
    }
}
