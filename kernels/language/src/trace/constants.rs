//! constants: arithmetic on compile-time constants, with Python's semantics.
//!
//! promises  integers never wrap: overflow of 64 bits is an error; `/` gives a float; `//` and `%`
//!           round down; truth, `and` and `or` are Python's
use std::cmp::Ordering;

use super::value::Value;
use crate::syntax::{Comparison, Operator};

/// Maximum values in a tuple, including nested tuples.
pub(super) const TUPLE_MOST: usize = 100_000;
/// Maximum nesting of tuples.
pub(super) const TUPLE_LEVELS_MOST: usize = 16;

/// Why an operator gives no value for constants.
pub(super) struct FoldError {
    pub what: String,
    /// The text beside the carets.
    pub label: String,
}

impl FoldError {
    fn new(what: impl Into<String>, label: impl Into<String>) -> Self {
        FoldError { what: what.into(), label: label.into() }
    }
}

/// The number as a float; bools are 0 and 1.
pub(super) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        Value::Int(value) => Some(*value as f64),
        Value::Real(value) => Some(*value),
        _ => None,
    }
}

/// The number, if it is an integer; bools are 0 and 1.
pub(super) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

/// Python's truth of a constant; none: it is no constant.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Text(text) => Some(!text.is_empty()),
        Value::Tuple(values) => Some(!values.is_empty()),
        number => real(number).map(|number| number != 0.0),
    }
}

/// `a operator b` of two constants.
pub(super) fn arithmetic(operator: Operator, a: &Value, b: &Value) -> Result<Value, FoldError> {
    if let (Operator::Add, Value::Tuple(first), Value::Tuple(second)) = (operator, a, b) {
        if a.size() + b.size() > TUPLE_MOST {
            return Err(FoldError::new(
                "the tuple is too long",
                format!("expected at most {TUPLE_MOST} values"),
            ));
        }
        return Ok(Value::tuple(first.iter().chain(second.iter()).cloned().collect()));
    }
    match (integer(a), integer(b), real(a), real(b)) {
        (Some(first), Some(second), ..) => fold_integers(operator, first, second),
        (_, _, Some(first), Some(second)) => fold_reals(operator, first, second).map(Value::Real),
        _ => {
            let what = format!("`{}` has no meaning here", operator.sign());
            Err(FoldError::new(
                what,
                format!("expected two numbers, found {} and {}", a.describe(), b.describe()),
            ))
        }
    }
}

fn fold_integers(operator: Operator, a: i64, b: i64) -> Result<Value, FoldError> {
    let large = || {
        FoldError::new(
            "the number is too large",
            format!("expected a result that fits 64 bits, found {a} {} {b}", operator.sign()),
        )
    };
    let made = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::FloorDivide | Operator::Remainder if b == 0 => return Err(division_by_zero()),
        Operator::FloorDivide => a
            .checked_div(b)
            .map(|quotient| if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }),
        Operator::Remainder => a
            .checked_rem(b)
            .map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
        Operator::Power if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Operator::Divide | Operator::Power | Operator::Product => {
            return fold_reals(operator, a as f64, b as f64).map(Value::Real);
        }
    };
    made.map(Value::Int).ok_or_else(large)
}

fn fold_reals(operator: Operator, a: f64, b: f64) -> Result<f64, FoldError> {
    let zero = b == 0.0
        && matches!(operator, Operator::Divide | Operator::FloorDivide | Operator::Remainder);
    if zero || (operator == Operator::Power && a == 0.0 && b < 0.0) {
        return Err(division_by_zero());
    }
    let made = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::FloorDivide => (a / b).floor(),
        Operator::Remainder => a - b * (a / b).floor(),
        Operator::Power => a.powf(b),
        Operator::Product => {
            return Err(FoldError::new(
                "`@` has no meaning here",
                "expected rows and a matrix, found two numbers",
            ));
        }
    };
    if made.is_nan() && !a.is_nan() && !b.is_nan() {
        return Err(FoldError::new(
            "the result is not a number",
            format!("found {a:?} {} {b:?}", operator.sign()),
        ));
    }
    Ok(made)
}

fn division_by_zero() -> FoldError {
    FoldError::new("division by zero", "the right side is 0")
}

/// `a comparison b` of two constants; `names` are those of the relations and of the kinds of
/// vertices.
pub(super) fn compare(
    comparison: Comparison,
    a: &Value,
    b: &Value,
    names: [&[String]; 2],
) -> Result<bool, FoldError> {
    match (comparison, b) {
        (Comparison::In | Comparison::NotIn, Value::Tuple(values)) => {
            let found = values.iter().any(|value| equal(a, value, names));
            return Ok(found == (comparison == Comparison::In));
        }
        (Comparison::In | Comparison::NotIn, _) => {
            return Err(FoldError::new(
                format!("`{}` needs a tuple", comparison.sign()),
                format!("expected a tuple of constants, found {}", b.describe()),
            ));
        }
        (Comparison::Equal, _) => return Ok(equal(a, b, names)),
        (Comparison::NotEqual, _) => return Ok(!equal(a, b, names)),
        _ => {}
    }
    let order = match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => match (integer(a), integer(b), real(a), real(b)) {
            (Some(a), Some(b), ..) => Some(a.cmp(&b)),
            (_, _, Some(a), Some(b)) if a.is_nan() || b.is_nan() => return Ok(false),
            (_, _, Some(a), Some(b)) => a.partial_cmp(&b),
            _ => None,
        },
    };
    let Some(order) = order else {
        return Err(FoldError::new(
            format!("`{}` has no meaning here", comparison.sign()),
            format!("expected two numbers, found {} and {}", a.describe(), b.describe()),
        ));
    };
    Ok(match comparison {
        Comparison::Less => order == Ordering::Less,
        Comparison::LessEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

fn equal(a: &Value, b: &Value, names: [&[String]; 2]) -> bool {
    let name = |names: &[String], number: &u32, text: &str| {
        names.get(*number as usize).is_some_and(|name| name == text)
    };
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Relation(a), Value::Relation(b)) => a == b,
        (Value::Relation(relation), Value::Text(text))
        | (Value::Text(text), Value::Relation(relation)) => name(names[0], relation, text),
        (Value::Kind(a), Value::Kind(b)) => a == b,
        (Value::Kind(kind), Value::Text(text)) | (Value::Text(text), Value::Kind(kind)) => {
            name(names[1], kind, text)
        }
        (Value::Kind(_), Value::Relation(_)) | (Value::Relation(_), Value::Kind(_)) => false,
        (Value::Kind(kind), number) | (number, Value::Kind(kind)) => {
            integer(number) == Some(i64::from(*kind))
        }
        (Value::Relation(relation), number) | (number, Value::Relation(relation)) => {
            integer(number) == Some(i64::from(*relation))
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b, names))
        }
        _ => match (integer(a), integer(b)) {
            (Some(a), Some(b)) => a == b,
            _ => real(a).is_some() && real(a) == real(b),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Operator, Value, arithmetic};

    fn apply_text(operator: Operator, a: i64, b: i64) -> String {
        arithmetic(operator, &Value::Int(a), &Value::Int(b))
            .map_or_else(|wrong| wrong.what, |value| value.describe())
    }

    #[test]
    fn whole_numbers_divide_as_in_python() {
        assert_eq!(
            [apply_text(Operator::FloorDivide, -7, 2), apply_text(Operator::Remainder, -7, 2)],
            ["`-4`", "`1`"]
        );
        assert_eq!(
            [apply_text(Operator::FloorDivide, 7, -2), apply_text(Operator::Remainder, 7, -2)],
            ["`-4`", "`-1`"]
        );
        assert_eq!(
            [apply_text(Operator::Divide, 1, 2), apply_text(Operator::Power, 2, -1)],
            ["`0.5`", "`0.5`"]
        );
        assert_eq!(
            [apply_text(Operator::Power, 2, 62), apply_text(Operator::Power, 2, 63)],
            ["`4611686018427387904`", "the number is too large"]
        );
        assert_eq!(
            [
                apply_text(Operator::FloorDivide, i64::MIN, -1),
                apply_text(Operator::Remainder, 3, 0)
            ],
            ["the number is too large", "division by zero"]
        );
    }
}
