//! product_over_rows: `out = left^T @ right`, summed over all rows: the gradient of a weight.
//!
//! promises  blocks of rows depend on sizes only and their partial results are added in order, so
//!           that threads change no bit
//! never     shares a partial result among threads
//! bounds    partial results take at most about 4 million elements, or 4 times out
//! bytes     left and right once
mod cpu;
pub mod reference;
#[cfg(test)]
mod tests;

pub use cpu::product_over_rows;
pub(crate) use cpu::{add_in_order, product_over_rows_of_type};

/// The operands of a product over rows.
#[derive(Clone, Copy, Debug)]
pub struct ProductOverRows<'a, T> {
    /// rows x left_columns.
    pub left: &'a [T],
    /// rows x right_columns.
    pub right: &'a [T],
    /// Length of the axis that is summed over.
    pub rows: usize,
    /// Rows of out.
    pub left_columns: usize,
    /// Columns of out.
    pub right_columns: usize,
}
