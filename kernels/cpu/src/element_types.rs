//! element_types: the large generic operations, instantiated here for every element type.
//!
//! promises  a crate that calls a generic operation of this one does not compile it again: its call
//!           resolves to one of these methods
//! never     does anything else
use crate::chunk_arithmetic::Arithmetic;
use crate::evaluate::{Call, ValuesMut};
use crate::fused_walk::{Kernel, StoredMut, Work};
use crate::loss::Loss;
use crate::optimizer::{Learned, Optimizer};
use crate::product::Product;
use crate::product_over_rows::ProductOverRows;
use crate::sparse_product::{SparseProduct, SparseProductOverRows};

/// Operations on reals: `Arithmetic` on chunks, and those whose code is large.
pub trait RealOperations: Arithmetic {
    /// `fused_walk::fused`.
    fn run_fused(
        kernel: &Kernel<Self>,
        outputs: Vec<StoredMut<Self>>,
        totals: Vec<&mut [Self]>,
        work: &Work<Self>,
    );

    /// `evaluate::evaluate`.
    fn run_evaluate(out: ValuesMut<Self>, call: &Call<Self>);

    /// `product::product`.
    fn run_product(out: &mut [Self], work: &Product<Self>);

    /// `product_over_rows::product_over_rows`.
    fn run_product_over_rows(out: &mut [Self], work: &ProductOverRows<Self>);

    /// `sparse_product::sparse_product`.
    fn run_sparse_product(out: &mut [Self], work: &SparseProduct<Self>);

    /// `sparse_product::sparse_product_over_rows`.
    fn run_sparse_product_over_rows(out: &mut [Self], work: &SparseProductOverRows<Self>);

    /// `loss::loss`.
    fn run_loss(gradient: &mut [Self], work: &Loss<Self>) -> f64;

    /// `optimizer::optimize`.
    fn run_optimize(learned: Learned<Self>, gradient: &[Self], optimizer: &Optimizer, step: u64);
}

macro_rules! of_reals {
    ($($real:ty),+) => {$(
        impl RealOperations for $real {
            fn run_fused(kernel: &Kernel<Self>, outputs: Vec<StoredMut<Self>>, totals: Vec<&mut [Self]>, work: &Work<Self>) {
                crate::fused_walk::fused_of_type(kernel, outputs, totals, work);
            }

            fn run_evaluate(out: ValuesMut<Self>, call: &Call<Self>) {
                crate::evaluate::evaluate_of_type(out, call);
            }

            fn run_product(out: &mut [Self], work: &Product<Self>) {
                crate::product::product_of_type(out, work);
            }

            fn run_product_over_rows(out: &mut [Self], work: &ProductOverRows<Self>) {
                crate::product_over_rows::product_over_rows_of_type(out, work);
            }

            fn run_sparse_product(out: &mut [Self], work: &SparseProduct<Self>) {
                crate::sparse_product::sparse_product_of_type(out, work);
            }

            fn run_sparse_product_over_rows(out: &mut [Self], work: &SparseProductOverRows<Self>) {
                crate::sparse_product::sparse_product_over_rows_of_type(out, work);
            }

            fn run_loss(gradient: &mut [Self], work: &Loss<Self>) -> f64 {
                crate::loss::loss_of_type(gradient, work)
            }

            fn run_optimize(learned: Learned<Self>, gradient: &[Self], optimizer: &Optimizer, step: u64) {
                crate::optimizer::optimize_of_type(learned, gradient, optimizer, step);
            }
        }
    )+};
}

of_reals!(f32, f64);
