//! reference: the losses in f64, directly from their definitions.
//!
//! promises  slow
//! never     runs in parallel
use warploom_ir::Loss as LossKind;

use super::Loss;
use crate::Real;

/// The loss and its gradient.
pub fn loss<T: Real>(work: &Loss<T>) -> (f64, Vec<f64>) {
    let columns = work.columns;
    let mut gradient = vec![0.0; work.result.len()];
    let mut sum = 0.0;
    let count = match work.kind {
        LossKind::CrossEntropy => work.training_rows.len() as f64,
        LossKind::MeanSquares => (work.training_rows.len() * columns) as f64,
        LossKind::Binary => {
            let of_row =
                |row: &u32| &work.target[*row as usize * columns..(*row as usize + 1) * columns];
            work.training_rows
                .iter()
                .flat_map(of_row)
                .filter(|target| !target.widened().is_nan())
                .count() as f64
        }
    };
    for &row in work.training_rows {
        let start = row as usize * columns;
        let result: Vec<f64> =
            work.result[start..start + columns].iter().map(|value| value.widened()).collect();
        let largest = result.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = result.iter().map(|value| (value - largest).exp()).sum();
        for column in 0..columns {
            match work.kind {
                LossKind::CrossEntropy => {
                    let hot =
                        f64::from(u8::from(work.target[row as usize].widened() == column as f64));
                    gradient[start + column] =
                        ((result[column] - largest).exp() / total - hot) / count;
                    if hot == 1.0 {
                        sum += total.ln() + largest - result[column];
                    }
                }
                LossKind::Binary if work.target[start + column].widened().is_nan() => {}
                LossKind::Binary => {
                    let (share, wanted) = (
                        1.0 / (1.0 + (-result[column]).exp()),
                        work.target[start + column].widened(),
                    );
                    gradient[start + column] = (share - wanted) / count;
                    sum -= wanted * share.ln() + (1.0 - wanted) * (1.0 - share).ln();
                }
                LossKind::MeanSquares => {
                    let difference = result[column] - work.target[start + column].widened();
                    gradient[start + column] = 2.0 * difference / count;
                    sum += difference * difference;
                }
            }
        }
    }
    (if count == 0.0 { 0.0 } else { sum / count }, gradient)
}
