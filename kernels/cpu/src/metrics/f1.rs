//! f1: the F1 score, the harmonic mean of precision and recall.
//!
//! promises  of classes: the mean over all classes that occur among targets or predictions (macro);
//!           of multi-label targets: over all known elements at once (micro); NaN where nothing is
//!           known
//! never     counts a row with a NaN as a prediction: it is a miss of its class
use rayon::prelude::*;

use super::{LANES, TASK_ROWS, largest};
use crate::Real;
use crate::row_tasks::assert_shape;

/// True positives, predictions and targets.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    right: u64,
    answered: u64,
    wanted: u64,
}

impl Counts {
    fn merge(self, other: Counts) -> Counts {
        Counts {
            right: self.right + other.right,
            answered: self.answered + other.answered,
            wanted: self.wanted + other.wanted,
        }
    }

    /// Twice the true positives over predictions plus targets; none if there are neither.
    fn score(self) -> Option<f64> {
        let both = self.answered + self.wanted;
        (both > 0).then(|| 2.0 * self.right as f64 / both as f64)
    }
}

/// Macro F1 of the argmax of some rows; `target` has one column.
pub fn macro_f1<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> f64 {
    assert_shape(result, target.len(), columns, "result");
    let of_rows = |rows: &[u32]| {
        let mut counts = vec![Counts::default(); columns];
        for rows in rows.chunks(LANES) {
            let mut starts = [0; LANES];
            for (start, &row) in starts.iter_mut().zip(rows) {
                *start = row as usize * columns;
            }
            for (&answer, &row) in largest(result, &starts, columns).iter().zip(rows) {
                let wanted = target[row as usize].widened();
                if wanted >= 0.0
                    && let Some(counts) = counts.get_mut(wanted as usize)
                {
                    counts.wanted += 1;
                    counts.right += u64::from(f64::from(answer) == wanted);
                }
                if let Some(counts) =
                    usize::try_from(answer).ok().and_then(|answer| counts.get_mut(answer))
                {
                    counts.answered += 1;
                }
            }
        }
        counts
    };
    let sum = |first: Vec<Counts>, second: Vec<Counts>| {
        first.into_iter().zip(second).map(|(first, second)| first.merge(second)).collect()
    };
    let counts =
        rows.par_chunks(TASK_ROWS).map(of_rows).reduce(|| vec![Counts::default(); columns], sum);
    let scores: Vec<f64> = counts.into_iter().filter_map(Counts::score).collect();
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// Micro F1 of all known elements of some rows: a score above 0 predicts the label, a target above
/// one half has it.
pub fn micro_f1<T: Real>(result: &[T], target: &[T], columns: usize, rows: &[u32]) -> f64 {
    assert_eq!(result.len(), target.len(), "target has the shape of the result");
    let of_row = |&row: &u32| {
        let range = row as usize * columns..(row as usize + 1) * columns;
        let known = result[range.clone()]
            .iter()
            .zip(&target[range])
            .filter(|(_, target)| !target.widened().is_nan());
        known.fold(Counts::default(), |counts, (result, target)| {
            let (answered, wanted) = (result.widened() > 0.0, target.widened() > 0.5);
            counts.merge(Counts {
                right: u64::from(answered && wanted),
                answered: u64::from(answered),
                wanted: u64::from(wanted),
            })
        })
    };
    rows.par_iter().map(of_row).reduce(Counts::default, Counts::merge).score().unwrap_or(f64::NAN)
}
