//! history: the loss and the metrics after each epoch.
//!
//! promises  row t describes the parameters after t updates, measured without dropout; a split
//!           without nodes, or graphs, has a missing value, not 0
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use warploom_contract::{
    StageError,
    arrow_file::numbers,
    parquet_file::{field, write_table},
};

use crate::{tensors::Tensor, training::metrics::Measure};

/// Names of the splits, in the order of the columns.
pub const PARTS: [&str; 3] = ["train", "validation", "test"];
/// The index of validation among them.
pub const VALIDATION: usize = 1;

/// The measurement of one epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Updates done.
    pub epoch: u64,
    /// Mean loss over the training nodes, or graphs.
    pub loss: f64,
    /// The learning-rate factor of the next epoch.
    pub pace: f64,
    /// Each metric that fits, on the training, validation and test nodes or graphs; first the one
    /// of `run.metric`.
    pub qualities: Vec<[Option<f64>; 3]>,
    /// Seconds since training began, earlier starts included.
    pub seconds: f64,
}

impl Row {
    /// The metric of `run.metric` on a split.
    pub fn quality(&self, part: usize) -> Option<f64> {
        self.qualities.first().and_then(|parts| parts[part])
    }
}

/// Names and values of all metrics: `train`, `validation`, `test` for the first, `train_f1` and so
/// on for the others.
pub fn named_metrics<'a>(
    measures: &'a [Measure],
    row: &'a Row,
) -> impl Iterator<Item = (String, Option<f64>)> + 'a {
    let of_measure = |(place, (measure, parts)): (usize, (&'a Measure, &'a [Option<f64>; 3]))| {
        metrics_by_split((place > 0).then_some(*measure), parts)
    };
    measures.iter().zip(&row.qualities).enumerate().flat_map(of_measure)
}

/// Names and values of one metric on each split; `None` leaves the name of the metric out.
pub fn metrics_by_split(
    measure: Option<Measure>,
    parts: &[Option<f64>; 3],
) -> impl Iterator<Item = (String, Option<f64>)> {
    let name = move |part: &str| {
        measure.map_or_else(|| part.to_owned(), |measure| format!("{part}_{}", measure.name()))
    };
    PARTS.into_iter().zip(*parts).map(move |(part, quality)| (name(part), quality))
}

/// Writes metrics.parquet.
pub fn write_metrics(
    path: &std::path::Path,
    measures: &[Measure],
    rows: &[Row],
) -> Result<(), StageError> {
    let column = |value: &dyn Fn(&Row) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(rows.iter().map(value)))
    };
    let mut columns = vec![
        (
            field("epoch", DataType::UInt32),
            numbers(rows.iter().map(|row| row.epoch as u32).collect()),
        ),
        (field("loss", DataType::Float64), column(&|row| row.loss)),
    ];
    let names: Vec<String> = rows
        .first()
        .map(|row| named_metrics(measures, row).map(|(name, _)| name).collect())
        .unwrap_or_default();
    for (place, name) in names.into_iter().enumerate() {
        let qualities = Float64Array::from_iter(
            rows.iter().map(|row| row.qualities[place / PARTS.len()][place % PARTS.len()]),
        );
        columns.push((Field::new(name, DataType::Float64, true), Arc::new(qualities) as ArrayRef));
    }
    columns.push((field("pace", DataType::Float64), column(&|row| row.pace)));
    columns.push((field("seconds", DataType::Float64), column(&|row| row.seconds)));
    write_table(path, columns)
}

/// Columns of a row besides its metrics.
const PLAIN: usize = 4;

/// All rows as one array of a checkpoint; a missing value is NaN.
pub fn to_tensor(rows: &[Row]) -> Tensor {
    let width = PLAIN + rows.first().map_or(0, |row| PARTS.len() * row.qualities.len());
    let mut numbers = Vec::with_capacity(rows.len() * width);
    for row in rows {
        numbers.extend([row.epoch as f64, row.loss, row.pace, row.seconds]);
        numbers.extend(row.qualities.iter().flatten().map(|quality| quality.unwrap_or(f64::NAN)));
    }
    Tensor::from_reals::<f64>(&[rows.len(), width], &numbers)
}

/// The rows of such an array, with so many metrics; none if it has another shape or type.
pub fn from_tensor(tensor: &Tensor, measures: usize) -> Option<Vec<Row>> {
    let numbers = tensor.reals::<f64>()?;
    let width = PLAIN + PARTS.len() * measures;
    let quality = |value: f64| if value.is_nan() { None } else { Some(value) };
    if !numbers.len().is_multiple_of(width) || tensor.shape.last() != Some(&width) {
        return None;
    }
    let row = |numbers: &[f64]| {
        let (plain, qualities) = numbers.split_at(PLAIN);
        Row {
            epoch: plain[0] as u64,
            loss: plain[1],
            pace: plain[2],
            qualities: qualities
                .as_chunks()
                .0
                .iter()
                .map(|parts: &[f64; 3]| parts.map(quality))
                .collect(),
            seconds: plain[3],
        }
    };
    Some(numbers.chunks(width).map(row).collect())
}

/// The median of durations in seconds; 0 for none.
pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_from_a_state() {
        let row = |epoch: u64, test: Option<f64>| {
            let qualities = vec![[Some(0.5), None, test], [None, Some(0.25), test]];
            Row { epoch, loss: 0.1 * epoch as f64, pace: 0.5, qualities, seconds: 1.5 }
        };
        let rows = vec![row(0, None), row(1, Some(0.25))];
        assert_eq!(from_tensor(&to_tensor(&rows), 2), Some(rows.clone()));
        assert_eq!(
            (from_tensor(&to_tensor(&rows), 1), from_tensor(&Tensor::from_wholes(&[1]), 1)),
            (None, None)
        );
        let names: Vec<String> =
            named_metrics(&[Measure::Auc, Measure::F1], &rows[0]).map(|(name, _)| name).collect();
        assert_eq!(names, ["train", "validation", "test", "train_f1", "validation_f1", "test_f1"]);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!([median(vec![]), median(vec![3.0, 1.0, 2.0])], [0.0, 2.0]);
    }
}
