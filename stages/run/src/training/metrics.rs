//! metrics: how good a result is, by every metric that fits the loss.
//!
//! promises  the metric of `run.metric` comes first, and names are those of the setting; AUC, which
//!           sorts all scores, is measured in each epoch only if it is asked for, else once, for
//!           the kept parameters
//! never     measures what does not fit: AUC needs two classes, or binary labels
use warploom_contract::{ErrorKind, StageError};
use warploom_cpu::{Real, metrics};
use warploom_ir::Loss;
use warploom_spec::Metric;

use crate::backend::counts_of_part;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The share of correct answers.
    Accuracy,
    /// F1: for classes the macro mean, for binary labels the micro mean over all elements.
    F1,
    /// The area under the ROC curve (AUC).
    Auc,
    /// The mean squared error.
    SquaredError,
    /// The mean absolute error.
    AbsoluteError,
}

/// What a metric compares: scores or values, and targets.
#[derive(Clone, Copy, Debug)]
pub struct MetricInputs<'a, T> {
    /// Scores or values.
    pub result: &'a [T],
    /// Targets.
    pub target: &'a [T],
    /// Columns of the result.
    pub columns: usize,
    /// The loss.
    pub kind: Loss,
}

impl Measure {
    /// The name in `run.metric` and in columns.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Accuracy => "accuracy",
            Measure::F1 => "f1",
            Measure::Auc => "auc",
            Measure::SquaredError => "mse",
            Measure::AbsoluteError => "mae",
        }
    }

    /// The name in a sentence.
    pub fn display_name(self) -> &'static str {
        match self {
            Measure::Accuracy => "accuracy",
            Measure::F1 => "F1",
            Measure::Auc => "AUC",
            Measure::SquaredError => "MSE",
            Measure::AbsoluteError => "MAE",
        }
    }

    /// Whether `new` is better than `old`.
    pub fn is_better(self, new: f64, old: f64) -> bool {
        match self {
            Measure::Accuracy | Measure::F1 | Measure::Auc => new > old,
            Measure::SquaredError | Measure::AbsoluteError => new < old,
        }
    }

    /// A value as text.
    pub fn format_quality(self, quality: f64) -> String {
        match self {
            Measure::Accuracy | Measure::F1 | Measure::Auc => format!("{:.1}%", 100.0 * quality),
            Measure::SquaredError | Measure::AbsoluteError => format!("{quality:.4}"),
        }
    }

    /// The metric on some rows; none if there are no rows, or no labels are known.
    pub fn evaluate<T: Real>(self, compared: MetricInputs<T>, rows: &[u32]) -> Option<f64> {
        let MetricInputs { result, target, columns, kind } = compared;
        let of_labels = kind == Loss::Binary;
        let quality = match self {
            _ if rows.is_empty() => return None,
            Measure::Accuracy if of_labels => metrics::right_share(result, target, columns, rows),
            Measure::Accuracy => metrics::accuracy(result, target, columns, rows),
            Measure::F1 if of_labels => metrics::micro_f1(result, target, columns, rows),
            Measure::F1 => metrics::macro_f1(result, target, columns, rows),
            Measure::Auc if of_labels => metrics::auc_of_labels(result, target, columns, rows),
            Measure::Auc => metrics::auc_of_classes(result, target, rows),
            Measure::SquaredError => metrics::mean_squared_error(result, target, columns, rows),
            Measure::AbsoluteError => metrics::mean_absolute_error(result, target, columns, rows),
        };
        Some(quality).filter(|quality| !quality.is_nan())
    }
}

impl Measure {
    /// Whether it follows from counts or sums, without all scores.
    pub fn is_counted(self) -> bool {
        self != Measure::Auc
    }

    /// Its index among the counted metrics of its loss: 0 or 1.
    pub fn device_index(self) -> u32 {
        match self {
            Measure::Accuracy | Measure::SquaredError => 0,
            Measure::F1 | Measure::AbsoluteError | Measure::Auc => 1,
        }
    }

    /// The metric on each split, from counts in the layout of `cuda::epoch_clock`; none for a
    /// split without rows, or without known labels.
    pub fn evaluate_counts(
        self,
        counts: &[u32],
        kind: Loss,
        columns: usize,
        rows: [usize; 3],
    ) -> [Option<f64>; 3] {
        let each = counts_of_part(kind, columns as u64);
        std::array::from_fn(|part| {
            let words = counts.get(part * each..(part + 1) * each)?;
            let counts: Vec<u64> = words.iter().map(|&count| u64::from(count)).collect();
            let score = |right: u64, answered: u64, wanted: u64| {
                (answered + wanted > 0).then(|| 2.0 * right as f64 / (answered + wanted) as f64)
            };
            let sum =
                |place: usize| f64::from_bits(counts[2 * place] | counts[2 * place + 1] << 32);
            let quality = match (self, kind) {
                _ if rows[part] == 0 => None,
                (Measure::SquaredError, _) => Some(sum(0) / (rows[part] * columns) as f64),
                (Measure::AbsoluteError, _) => Some(sum(1) / (rows[part] * columns) as f64),
                (Measure::Accuracy, Loss::CrossEntropy) => {
                    Some(counts[0] as f64 / rows[part] as f64)
                }
                (_, Loss::CrossEntropy) => {
                    let scores: Vec<f64> =
                        counts[1..].chunks(3).filter_map(|of| score(of[0], of[1], of[2])).collect();
                    Some(scores.iter().sum::<f64>() / scores.len() as f64)
                }
                (Measure::Accuracy, _) => Some(counts[1] as f64 / counts[0] as f64),
                _ => score(counts[2], counts[3], counts[4]),
            };
            quality.filter(|quality| !quality.is_nan())
        })
    }
}

/// All metrics that fit a loss over rows of so many columns.
fn fitting_measures(kind: Loss, columns: usize) -> &'static [Measure] {
    match kind {
        Loss::CrossEntropy if columns == 2 => &[Measure::Accuracy, Measure::F1, Measure::Auc],
        Loss::CrossEntropy => &[Measure::Accuracy, Measure::F1],
        Loss::Binary => &[Measure::Accuracy, Measure::F1, Measure::Auc],
        Loss::MeanSquares => &[Measure::SquaredError, Measure::AbsoluteError],
    }
}

/// The metrics of each epoch, the requested one first; and those measured once more, for the kept
/// epoch only.
pub fn choose_measures(
    asked: Metric,
    kind: Loss,
    columns: usize,
) -> Result<[Vec<Measure>; 2], StageError> {
    let fitting = fitting_measures(kind, columns);
    let wanted = match asked {
        Metric::Auto => fitting[0],
        Metric::Accuracy => Measure::Accuracy,
        Metric::F1 => Measure::F1,
        Metric::Auc => Measure::Auc,
        Metric::Mse => Measure::SquaredError,
        Metric::Mae => Measure::AbsoluteError,
    };
    if !fitting.contains(&wanted) {
        let names: Vec<&str> = fitting.iter().map(|measure| measure.name()).collect();
        let what = format!(
            "`run.metric: {}` does not fit what is learned, which is {}",
            wanted.name(),
            describe_learned(kind, columns)
        );
        return Err(StageError::new(ErrorKind::Specification, what)
            .hint(format!("what fits:  {}", names.join(", "))));
    }
    let (each, last): (Vec<Measure>, Vec<Measure>) = fitting
        .iter()
        .filter(|measure| **measure != wanted)
        .partition(|measure| measure.is_counted());
    Ok([[vec![wanted], each].concat(), last])
}

fn describe_learned(kind: Loss, columns: usize) -> String {
    match kind {
        Loss::CrossEntropy => format!("{columns} classes"),
        Loss::Binary => "binary labels".to_owned(),
        Loss::MeanSquares => "numbers".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stands_first_and_must_fit() {
        let names = |asked, kind, columns| {
            choose_measures(asked, kind, columns)
                .unwrap()
                .map(|some| some.iter().map(|measure| measure.name()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names(Metric::Auto, Loss::CrossEntropy, 7), ["accuracy f1", ""]);
        assert_eq!(names(Metric::Auto, Loss::CrossEntropy, 2), ["accuracy f1", "auc"]);
        assert_eq!(names(Metric::Auc, Loss::CrossEntropy, 2), ["auc accuracy f1", ""]);
        assert_eq!(names(Metric::Mae, Loss::MeanSquares, 1), ["mae mse", ""]);
        let error = choose_measures(Metric::Auc, Loss::CrossEntropy, 7).unwrap_err();
        assert!(error.what.contains("7 classes") && error.hint.unwrap().contains("accuracy, f1"));
    }

    #[test]
    fn errors_are_sums_over_all_elements() {
        let words = |sums: [f64; 2]| {
            sums.iter()
                .flat_map(|sum| [sum.to_bits() as u32, (sum.to_bits() >> 32) as u32])
                .collect::<Vec<u32>>()
        };
        let counts = [words([6.0, 3.0]), words([1.5, -0.0]), words([0.0, 0.0])].concat();
        let of =
            |measure: Measure| measure.evaluate_counts(&counts, Loss::MeanSquares, 2, [3, 1, 0]);
        assert_eq!(
            [of(Measure::SquaredError), of(Measure::AbsoluteError)],
            [[Some(1.0), Some(0.75), None], [Some(0.5), Some(-0.0), None]]
        );
    }

    #[test]
    fn nothing_is_known_of_no_rows() {
        let compared = MetricInputs {
            result: &[1.0f32, 0.0],
            target: &[0.0],
            columns: 2,
            kind: Loss::CrossEntropy,
        };
        assert_eq!(Measure::Accuracy.evaluate(compared, &[]), None);
        assert_eq!(
            (Measure::Accuracy.evaluate(compared, &[0]), Measure::Auc.evaluate(compared, &[0])),
            (Some(1.0), None)
        );
    }
}
