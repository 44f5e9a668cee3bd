//! rows: the values of an interpreted program, matrices of elements.
//!
//! promises  element `column` of row `row` is at `row * columns + column`; a row of shape `[a, b]`
//!           has `a * b` columns, the last axis varying fastest
//! never     knows what a row corresponds to
use super::integer_arithmetic;
use crate::{Number, Type};

/// A matrix of elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementRows {
    /// How many rows.
    pub rows: usize,
    /// Elements of a row.
    pub columns: usize,
    /// Row-major elements.
    pub values: Values,
}

/// Elements, all of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    Real(Vec<f64>),
    /// Bools (0 and 1), integers and ids.
    Whole(Vec<i64>),
}

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A float.
    Real(f64),
    /// A bool (0 or 1), an int or an id.
    Whole(i64),
}

impl ElementRows {
    /// Floats; their number is `rows * columns`.
    pub fn from_reals(rows: usize, columns: usize, values: Vec<f64>) -> ElementRows {
        ElementRows { rows, columns, values: Values::Real(values) }
    }

    /// Integers; their number is `rows * columns`.
    pub fn from_integers(rows: usize, columns: usize, values: Vec<i64>) -> ElementRows {
        ElementRows { rows, columns, values: Values::Whole(values) }
    }

    /// Elements of this type, computed from row and column.
    pub fn from_fn(
        kind: Type,
        rows: usize,
        columns: usize,
        mut element: impl FnMut(usize, usize) -> Scalar,
    ) -> ElementRows {
        let mut values = Values::with_capacity(kind, rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                values.push(element(row, column));
            }
        }
        ElementRows { rows, columns, values }
    }

    /// The element of a row and column.
    pub fn at(&self, row: usize, column: usize) -> Scalar {
        self.values.at(row * self.columns + column)
    }

    /// Whether the number of elements matches rows and columns.
    pub fn is_whole_rectangle(&self) -> bool {
        self.rows.checked_mul(self.columns) == Some(self.values.len())
    }
}

impl Values {
    /// An empty vector.
    fn with_capacity(kind: Type, count: usize) -> Values {
        match kind {
            Type::Real => Values::Real(Vec::with_capacity(count)),
            Type::Bool | Type::Int | Type::Id => Values::Whole(Vec::with_capacity(count)),
        }
    }

    fn push(&mut self, element: Scalar) {
        match self {
            Values::Real(values) => values.push(element.real()),
            Values::Whole(values) => values.push(element.integer()),
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Values::Real(values) => values.len(),
            Values::Whole(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn at(&self, index: usize) -> Scalar {
        match self {
            Values::Real(values) => Scalar::Real(values[index]),
            Values::Whole(values) => Scalar::Whole(values[index]),
        }
    }

    /// All as floats.
    pub fn reals(&self) -> Vec<f64> {
        match self {
            Values::Real(values) => values.clone(),
            Values::Whole(values) => {
                values.iter().map(|value| integer_arithmetic::widened(*value)).collect()
            }
        }
    }

    /// Whether they are elements of this type.
    pub fn fit(&self, kind: Type) -> bool {
        matches!(self, Values::Real(_)) == (kind == Type::Real)
    }
}

impl Default for Values {
    fn default() -> Self {
        Values::Real(Vec::new())
    }
}

impl Scalar {
    /// As a float.
    pub fn real(self) -> f64 {
        match self {
            Scalar::Real(value) => value,
            Scalar::Whole(value) => integer_arithmetic::widened(value),
        }
    }

    /// As an integer: truncated and saturated, NaN becomes 0.
    pub fn integer(self) -> i64 {
        match self {
            Scalar::Real(value) => value as i64,
            Scalar::Whole(value) => value,
        }
    }

    /// Whether it is true, as a bool.
    pub fn holds(self) -> bool {
        match self {
            Scalar::Real(value) => value != 0.0,
            Scalar::Whole(value) => value != 0,
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Scalar::Whole(i64::from(value))
    }
}

impl From<Number> for Scalar {
    fn from(number: Number) -> Self {
        match number {
            Number::Bool(value) => value.into(),
            Number::Int(value) => Scalar::Whole(value),
            Number::Real(value) => Scalar::Real(value),
        }
    }
}
