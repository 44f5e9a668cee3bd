//! history: how good the parameters were after each epoch.
//!
//! promises  row t tells of the parameters after t updates, measured without dropout; a part of the split without nodes, or
//!           graphs, has nothing, not 0
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use warploom_contract::{
    StageError,
    arrow_file::numbers,
    parquet_file::{field, write_table},
};
use warploom_vertex::launch::LossKind;

use crate::tensors::Tensor;

/// Names of the parts of a split, in the order of the columns.
pub const PARTS: [&str; 3] = ["train", "validation", "test"];
/// Where the validation nodes stand among them.
pub const VALIDATION: usize = 1;

/// One state of the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Updates done.
    pub epoch: u64,
    /// Mean over the training nodes, or graphs.
    pub loss: f64,
    /// Accuracy, of binary labels by element, or mean squared error, on the training, validation and test nodes or graphs.
    pub quality: [Option<f64>; 3],
    /// Seconds since training began, earlier starts included.
    pub seconds: f64,
}

/// Whether `new` is a better quality than `old`.
pub fn is_better(kind: LossKind, new: f64, old: f64) -> bool {
    match kind {
        LossKind::CrossEntropy | LossKind::Binary => new > old,
        LossKind::MeanSquares => new < old,
    }
}

/// What the qualities are.
pub fn quality_name(kind: LossKind) -> &'static str {
    match kind {
        LossKind::CrossEntropy | LossKind::Binary => "accuracy",
        LossKind::MeanSquares => "mean squared error",
    }
}

/// A quality as it is shown.
pub fn shown(kind: LossKind, quality: f64) -> String {
    match kind {
        LossKind::CrossEntropy | LossKind::Binary => format!("{:.1}%", 100.0 * quality),
        LossKind::MeanSquares => format!("{quality:.4}"),
    }
}

/// Writes metrics.parquet.
pub fn write(path: &std::path::Path, rows: &[Row]) -> Result<(), StageError> {
    let column = |value: &dyn Fn(&Row) -> f64| -> ArrayRef { Arc::new(Float64Array::from_iter_values(rows.iter().map(value))) };
    let mut columns = vec![
        (field("epoch", DataType::UInt32), numbers(rows.iter().map(|row| row.epoch as u32).collect())),
        (field("loss", DataType::Float64), column(&|row| row.loss)),
    ];
    for (part, name) in PARTS.into_iter().enumerate() {
        let qualities = Float64Array::from_iter(rows.iter().map(|row| row.quality[part]));
        columns.push((Field::new(name, DataType::Float64, true), Arc::new(qualities) as ArrayRef));
    }
    columns.push((field("seconds", DataType::Float64), column(&|row| row.seconds)));
    write_table(path, columns)
}

/// All rows as one array of a saved state; nothing is not a number there.
pub fn to_tensor(rows: &[Row]) -> Tensor {
    let numbers = |row: &Row| {
        let [train, validation, test] = row.quality.map(|quality| quality.unwrap_or(f64::NAN));
        [row.epoch as f64, row.loss, train, validation, test, row.seconds]
    };
    Tensor::of_reals::<f64>(&[rows.len(), 6], rows.iter().flat_map(numbers).collect::<Vec<_>>().as_slice())
}

/// The rows again, if they are such.
pub fn of_tensor(tensor: &Tensor) -> Option<Vec<Row>> {
    let numbers = tensor.reals::<f64>()?;
    let quality = |value: f64| if value.is_nan() { None } else { Some(value) };
    let row = |&[epoch, loss, train, validation, test, seconds]: &[f64; 6]| Row {
        epoch: epoch as u64,
        loss,
        quality: [train, validation, test].map(quality),
        seconds,
    };
    Some(numbers.as_chunks().0.iter().map(row).collect())
}

/// The middle of some durations in seconds; 0 of none.
pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_from_a_state() {
        let row = |epoch: u64, test: Option<f64>| Row { epoch, loss: 0.1 * epoch as f64, quality: [Some(0.5), None, test], seconds: 1.5 };
        let rows = vec![row(0, None), row(1, Some(0.25))];
        assert_eq!(of_tensor(&to_tensor(&rows)), Some(rows));
        assert_eq!(of_tensor(&Tensor::of_ids(&[1])), None);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!([median(vec![]), median(vec![3.0, 1.0, 2.0])], [0.0, 2.0]);
    }
}
