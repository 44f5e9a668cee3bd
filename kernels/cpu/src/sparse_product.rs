//! sparse_product: products with sparse features (SpMM), with dropout of the values.
//!
//! `sparse_product`            `out = dropout(features) @ right^T`, `[columns of out, features]`
//! `sparse_product_over_rows`  `out = left^T @ dropout(features)`: the gradient of that weight
//!
//! promises  values are added in the order of the row (of the column, for the gradient), so that
//!           threads change no bit; the value at (row, column) is dropped in both or in neither
//! never     densifies the features; stores a mask
//! bounds    the gradient needs the features by columns: `SparseRows::transpose` once, for the same
//!           amount of memory again
//! bytes     8 bytes per nonzero (f32), and a row of the other operand per nonzero, mostly from
//!           cache
mod cpu;
pub mod reference;
#[cfg(test)]
mod tests;

pub use cpu::{sparse_product, sparse_product_over_rows};
pub(crate) use cpu::{sparse_product_of_type, sparse_product_over_rows_of_type};
use warploom_launch::Dropout;

use crate::random::dropout::DrawContext;
use crate::row_tasks::balanced_units;

/// Features by rows (CSR): the entries of row r are `offsets[r]..offsets[r + 1]`.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a, T> {
    /// Where the entries of a row start; one more than there are rows.
    pub offsets: &'a [u64],
    /// The column of each entry.
    pub index: &'a [u32],
    /// The value of each entry.
    pub values: &'a [T],
    /// Number of columns.
    pub columns: usize,
}

/// Features by columns (CSC), built once for the gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseColumns<T> {
    offsets: Vec<u64>,
    /// The row of each entry.
    index: Vec<u32>,
    values: Vec<T>,
    rows: usize,
    unit_starts: Vec<u32>,
}

impl<T: Copy + Default> SparseRows<'_, T> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The same entries by columns; within a column in the order of rows. Panics on an index out of
    /// range.
    pub fn transpose(&self) -> SparseColumns<T> {
        let mut offsets = vec![0u64; self.columns + 1];
        for &column in self.index {
            offsets[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            offsets[column + 1] += offsets[column];
        }
        let mut next = offsets.clone();
        let mut index = vec![0; self.index.len()];
        let mut values = vec![T::default(); self.index.len()];
        for row in 0..self.rows() {
            for entry in self.offsets[row] as usize..self.offsets[row + 1] as usize {
                let place = &mut next[self.index[entry] as usize];
                index[*place as usize] = row as u32;
                values[*place as usize] = self.values[entry];
                *place += 1;
            }
        }
        let unit_starts = balanced_units(&offsets);
        SparseColumns { offsets, index, values, rows: self.rows(), unit_starts }
    }
}

impl<T> SparseColumns<T> {
    /// Number of rows of the features.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of the features.
    pub fn columns(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The operands of a sparse product.
#[derive(Clone, Copy, Debug)]
pub struct SparseProduct<'a, T> {
    /// The features.
    pub left: SparseRows<'a, T>,
    /// `[columns of out, columns of left]`.
    pub right: &'a [T],
    /// Columns of out.
    pub columns: usize,
    /// Dropout of the features, if any.
    pub dropout: Option<Dropout>,
    /// What dropout draws from.
    pub context: DrawContext<'a>,
}

/// The operands of a sparse product over rows.
#[derive(Clone, Copy, Debug)]
pub struct SparseProductOverRows<'a, T> {
    /// rows x left_columns.
    pub left: &'a [T],
    /// Rows of out.
    pub left_columns: usize,
    /// The features, by columns.
    pub right: &'a SparseColumns<T>,
    /// Dropout of the features, if any.
    pub dropout: Option<Dropout>,
    /// Seed, epoch and the rows in the graph artifact, the same as for the sparse product.
    pub context: DrawContext<'a>,
}
