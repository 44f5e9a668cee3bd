//! reference: the sparse products in f64, on densified features.
//!
//! promises  slow
//! never     runs in parallel
use warploom_launch::Dropout;

use super::SparseRows;
use crate::Real;
use crate::random::dropout::{DrawContext, Drops};

/// The features after dropout, dense and row-major.
pub fn dense<T: Real>(
    features: &SparseRows<T>,
    dropout: Option<Dropout>,
    context: &DrawContext,
) -> Vec<f64> {
    let drops = dropout.and_then(|dropout| Drops::new(dropout, context));
    let mut dense = vec![0.0; features.rows() * features.columns];
    for row in 0..features.rows() {
        for entry in features.offsets[row] as usize..features.offsets[row + 1] as usize {
            let column = features.index[entry] as usize;
            let factor = match &drops {
                None => 1.0,
                Some(drops) if drops.keeps(context.graph_row(row), column) => drops.scale(),
                Some(_) => 0.0,
            };
            dense[row * features.columns + column] += features.values[entry].widened() * factor;
        }
    }
    dense
}

/// `dense @ right^T`, right `[columns, features]`.
pub fn sparse_product<T: Real>(
    dense: &[f64],
    right: &[T],
    features: usize,
    columns: usize,
) -> Vec<f64> {
    if features == 0 {
        return Vec::new();
    }
    let element = |row: &[f64], column: usize| -> f64 {
        row.iter()
            .zip(&right[column * features..])
            .map(|(value, weight)| value * weight.widened())
            .sum()
    };
    dense
        .chunks(features)
        .flat_map(|row| (0..columns).map(move |column| element(row, column)))
        .collect()
}

/// `left^T @ dense`.
pub fn sparse_product_over_rows<T: Real>(
    left: &[T],
    dense: &[f64],
    left_columns: usize,
    features: usize,
) -> Vec<f64> {
    let mut out = vec![0.0; left_columns * features];
    for (at, value) in dense.iter().enumerate() {
        let (row, feature) = (at / features, at % features);
        for column in 0..left_columns {
            out[column * features + feature] += left[row * left_columns + column].widened() * value;
        }
    }
    out
}
