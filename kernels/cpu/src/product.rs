//! product: `out = left @ right` for a tall left and a small right operand.
//!
//! promises  blocks of rows depend on sizes only, each is one sequential product; an empty inner
//!           axis gives 0
//! never     splits a row among threads
//! bytes     left and out once, right once per block of rows
mod cpu;
pub(crate) mod gemm;
pub mod reference;
#[cfg(test)]
mod tests;

pub use cpu::product;
pub(crate) use cpu::product_of_type;

/// How the right operand of a product is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightLayout {
    /// `[inner, columns]`.
    Plain,
    /// `[columns, inner]`, as a `[out, in]` weight is.
    Transposed,
}

/// The operands of a product.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a, T> {
    /// rows x inner.
    pub left: &'a [T],
    /// inner x columns, or transposed.
    pub right: &'a [T],
    /// How `right` is stored.
    pub layout: RightLayout,
    /// Rows of left and out.
    pub rows: usize,
    /// Length of the axis that is summed over.
    pub inner: usize,
    /// Columns of out.
    pub columns: usize,
}
