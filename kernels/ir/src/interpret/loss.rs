//! loss: mean losses over the training rows, and their gradients.
//!
//! promises  loss and gradient 0 over no training rows; a row that is named twice counts twice; for
//!           the binary loss an element whose target is NaN does not count
//! never     reads a row that does not train
use super::call::Call;
use super::rows::ElementRows;
use crate::{Loss, sigmoid, softplus};

/// Mean over the training rows.
pub(super) fn mean(call: &Call, kind: Loss) -> ElementRows {
    let count = terms(call, kind);
    if count == 0.0 {
        return ElementRows::from_reals(1, 1, vec![0.0]);
    }
    let total = call
        .world
        .training_rows
        .iter()
        .map(|row| term(call, kind, *row as usize) / count)
        .sum::<f64>();
    // An empty sum starts at -0.
    ElementRows::from_reals(1, 1, vec![total + 0.0])
}

/// Gradient of the mean with respect to the result.
pub(super) fn slope(call: &Call, kind: Loss) -> ElementRows {
    let (count, columns) = (terms(call, kind), call.columns());
    let mut slopes = vec![0.0; call.rows() * columns];
    for &row in &call.world.training_rows {
        let row = row as usize;
        let result_row =
            call.world.map_row(call.input_nodes[0].place, call.input_nodes[1].place, row);
        for column in 0..columns {
            if kind != Loss::Binary || is_known(call, row, column) {
                slopes[result_row * columns + column] +=
                    slope_of_term(call, kind, row, column) / count;
            }
        }
    }
    ElementRows::from_reals(call.rows(), columns, slopes)
}

/// The divisor of the sum over training rows.
fn terms(call: &Call, kind: Loss) -> f64 {
    let (rows, columns) = (&call.world.training_rows, call.inputs[0].columns);
    let count = match kind {
        Loss::CrossEntropy => rows.len(),
        Loss::MeanSquares => rows.len() * columns,
        Loss::Binary => rows
            .iter()
            .map(|row| (0..columns).filter(|column| is_known(call, *row as usize, *column)).count())
            .sum(),
    };
    count as f64
}

/// Loss of one row: for kinds with a value in each column their sum.
fn term(call: &Call, kind: Loss, row: usize) -> f64 {
    let scores = scores(call, row);
    match kind {
        Loss::CrossEntropy => {
            let (largest, sum) = normaliser(&scores);
            match scores
                .iter()
                .enumerate()
                .find(|(column, _)| *column as f64 == target(call, row, 0))
            {
                Some((_, score)) => sum.ln() + largest - score,
                // A class without a column; `Interpreter::new` refuses it.
                None => f64::NAN,
            }
        }
        Loss::MeanSquares => scores
            .iter()
            .enumerate()
            .map(|(column, score)| (score - target(call, row, column)).powi(2))
            .sum(),
        Loss::Binary => {
            let known =
                scores.iter().enumerate().filter(|(column, _)| is_known(call, row, *column));
            known.map(|(column, score)| softplus(*score) - score * target(call, row, column)).sum()
        }
    }
}

/// Derivative of the loss of one row by one column of the result.
fn slope_of_term(call: &Call, kind: Loss, row: usize, column: usize) -> f64 {
    let scores = scores(call, row);
    match kind {
        Loss::CrossEntropy => {
            let (largest, sum) = normaliser(&scores);
            let hit = if column as f64 == target(call, row, 0) { 1.0 } else { 0.0 };
            (scores[column] - largest).exp() / sum - hit
        }
        Loss::MeanSquares => 2.0 * (scores[column] - target(call, row, column)),
        Loss::Binary => sigmoid(scores[column]) - target(call, row, column),
    }
}

/// Largest score, and the sum of e^(score - largest).
fn normaliser(scores: &[f64]) -> (f64, f64) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (largest, scores.iter().map(|score| (score - largest).exp()).sum())
}

/// The row of the result for a row of the target.
fn scores(call: &Call, row: usize) -> Vec<f64> {
    let seen = call.world.map_row(call.input_nodes[0].place, call.input_nodes[1].place, row);
    (0..call.inputs[0].columns).map(|column| call.inputs[0].at(seen, column).real()).collect()
}

fn is_known(call: &Call, row: usize, column: usize) -> bool {
    !target(call, row, column).is_nan()
}

/// The target of a column of a row; a single column broadcasts.
fn target(call: &Call, row: usize, column: usize) -> f64 {
    let column = if call.inputs[1].columns == 1 { 0 } else { column };
    call.inputs[1].at(row, column).real()
}
