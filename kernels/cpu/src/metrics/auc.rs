//! auc: the area under the ROC curve: the probability that a positive has a larger score than a
//! negative; ties count half.
//!
//! promises  exact, from ranks; NaN where all known elements are positive, or all negative, and
//!           where a score is NaN
//! limits    sorts the scores of the rows
use rayon::prelude::*;

use crate::Real;

/// Of two classes, by the difference of their scores; `target` has one column with 0 or 1.
pub fn auc_of_classes<T: Real>(result: &[T], target: &[T], rows: &[u32]) -> f64 {
    let scored = |&row: &u32| {
        let row = row as usize;
        (result[2 * row + 1].widened() - result[2 * row].widened(), target[row].widened() > 0.5)
    };
    area(rows.par_iter().map(scored).collect())
}

/// Of multi-label targets: the mean over columns that have both known positives and known
/// negatives.
pub fn auc_of_labels<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> f64 {
    assert_eq!(result.len(), target.len(), "target has the shape of the result");
    let of_column = |column: usize| {
        let elements = rows
            .iter()
            .map(|&row| row as usize * columns + column)
            .filter(|&element| !target[element].widened().is_nan());
        area(
            elements
                .map(|element| (result[element].widened(), target[element].widened() > 0.5))
                .collect(),
        )
    };
    let areas: Vec<f64> = (0..columns).into_par_iter().map(of_column).collect();
    let known: Vec<f64> = areas.into_iter().filter(|area| !area.is_nan()).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

/// From the rank sum of the positives; ties get their mean rank.
fn area(mut scored: Vec<(f64, bool)>) -> f64 {
    if scored.iter().any(|(score, _)| score.is_nan()) {
        return f64::NAN;
    }
    // -0 and 0 are equal scores.
    scored.iter_mut().for_each(|(score, _)| *score += 0.0);
    scored.par_sort_unstable_by(|(first, _), (second, _)| first.total_cmp(second));
    let hold = scored.iter().filter(|(_, holds)| *holds).count() as f64;
    let fail = scored.len() as f64 - hold;
    let (mut below, mut ranks) = (0usize, 0.0);
    for equal in scored.chunk_by(|(first, _), (second, _)| first == second) {
        let rank = below as f64 + (equal.len() as f64 + 1.0) / 2.0;
        ranks += rank * equal.iter().filter(|(_, holds)| *holds).count() as f64;
        below += equal.len();
    }
    (ranks - hold * (hold + 1.0) / 2.0) / (hold * fail)
}
