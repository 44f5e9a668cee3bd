//! dense: products with shared matrices, sums over all rows, table lookups.
//!
//! promises  each element is summed in the order of rows, from 0
//! never     skips a product because a factor is 0, so that NaN and infinity propagate
use super::call::Call;
use super::rows::{ElementRows, Scalar, Values};
use super::scalar;
use crate::{Binary, Place};

/// Sum of all rows.
pub(super) fn sum_rows(call: &Call) -> ElementRows {
    let a = call.inputs[0];
    ElementRows::from_fn(call.node.kind, 1, call.columns(), |_, column| {
        let start = scalar::cast(call.node.kind, Scalar::Whole(0));
        (0..a.rows).fold(start, |sum, row| scalar::binary(Binary::Add, sum, a.at(row, column)))
    })
}

/// Rows `[.., k]` times a shared matrix.
pub(super) fn product(call: &Call, transposed: bool) -> ElementRows {
    let (shape, made_shape) = (&call.input_nodes[0].shape, &call.node.shape);
    let (inner, width) = (last(shape), last(made_shape));
    let (a, matrix) = (call.inputs[0], call.inputs[1].values.reals());
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |row, column| {
        let (line, out) = (column / width, column % width);
        let mut sum = 0.0;
        for position in 0..inner {
            let weight = if transposed {
                matrix[out * inner + position]
            } else {
                matrix[position * width + out]
            };
            sum += a.at(row, line * inner + position).real() * weight;
        }
        Scalar::Real(sum)
    })
}

/// Sum over rows and leading axes of the outer product of last axes.
pub(super) fn outer(call: &Call) -> ElementRows {
    let (height, width) = (last(&call.input_nodes[0].shape), last(&call.input_nodes[1].shape));
    let (a, b) = (call.inputs[0].values.reals(), call.inputs[1].values.reals());
    let mut sums = vec![0.0; height * width];
    if height > 0 && width > 0 {
        for (left, right) in a.chunks(height).zip(b.chunks(width)) {
            for line in 0..height {
                for column in 0..width {
                    sums[line * width + column] += left[line] * right[column];
                }
            }
        }
    }
    ElementRows::from_reals(1, height * width, sums)
}

/// A row, or a column, of a table for each index; zeros for an index out of range.
pub(super) fn lookup(call: &Call, transposed: bool) -> ElementRows {
    let (table, shape) = (call.inputs[0], &call.input_nodes[0].shape);
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |row, column| {
        let index = call.inputs[1].at(call.input_row(1, row), 0).integer();
        match table_column(shape, transposed, index, column) {
            Some(place) => table.at(0, place),
            None => scalar::cast(call.node.kind, Scalar::Whole(0)),
        }
    })
}

/// Scatter-add of rows into a table by index; rows with an index out of range are ignored.
pub(super) fn scatter(call: &Call, transposed: bool) -> ElementRows {
    let (rows, indices) = (call.inputs[0], call.inputs[1]);
    let (place, index_place) = (call.input_nodes[0].place, call.input_nodes[1].place);
    let mut sums = vec![0.0; call.columns()];
    let shared = |place| matches!(place, Place::C | Place::P);
    // A shared row is used for each index, and a row of a graph for each of its vertices.
    let count = if shared(place) || (place == Place::G && !shared(index_place)) {
        indices.rows
    } else {
        rows.rows
    };
    for row in 0..count {
        let index = indices.at(call.world.map_row(index_place, place, row), 0).integer();
        for column in 0..rows.columns {
            if let Some(place_in_table) = table_column(&call.node.shape, transposed, index, column)
            {
                sums[place_in_table] +=
                    rows.at(call.world.map_row(place, index_place, row), column).real();
            }
        }
    }
    ElementRows { rows: 1, columns: call.columns(), values: Values::Real(sums) }
}

/// The position of column `column` of the row (transposed: column) of this index in a table.
fn table_column(shape: &[u64], transposed: bool, index: i64, column: usize) -> Option<usize> {
    let (height, width) = (shape[0] as usize, shape[1] as usize);
    let count = if transposed { width } else { height };
    let index = usize::try_from(index).ok().filter(|index| *index < count)?;
    Some(if transposed { column * width + index } else { index * width + column })
}

/// Length of the last axis; 1 for a number.
fn last(shape: &[u64]) -> usize {
    shape.last().copied().unwrap_or(1) as usize
}
