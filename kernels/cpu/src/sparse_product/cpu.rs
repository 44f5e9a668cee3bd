//! cpu: both sparse products as neighbour sums: the neighbours of a row are its features (those of
//! a feature its rows), and the weights are the values after dropout, block by block.
use rayon::prelude::*;

use super::{SparseProduct, SparseProductOverRows};
use crate::Real;
use crate::gathered_rows::{Entries, SumOf, reduce_rows, rows_per_block};
use crate::random::dropout::{DrawContext, Drops};
use crate::row_tasks::{assert_shape, balanced_units, split_rows};

/// Multiplies sparse features by a weight; see the header of `sparse_product`.
pub fn sparse_product<T: Real>(out: &mut [T], work: &SparseProduct<T>) {
    T::run_sparse_product(out, work);
}

pub(crate) fn sparse_product_of_type<T: Real>(out: &mut [T], work: &SparseProduct<T>) {
    let (features, columns, rows) = (&work.left, work.columns, work.left.rows());
    assert_eq!(features.index.len(), features.values.len(), "a value for each index");
    assert_shape(out, rows, columns, "out");
    assert_shape(work.right, columns, features.columns, "right");
    if out.is_empty() {
        return;
    }
    let arch = pulp::Arch::new();
    let right = transposed(work.right, columns, features.columns);
    let context = &work.context;
    let drops = work.dropout.and_then(|dropout| Drops::new(dropout, context));
    let entries = Entries {
        offsets: features.offsets,
        neighbours: features.index,
        weights: Some(features.values),
        first_entry: 0,
    };
    let block = rows_per_block(columns);
    let units = balanced_units(features.offsets);
    split_rows(out, &units, columns).into_par_iter().with_max_len(1).for_each(
        |(first_row, part)| {
            let mut dropped = Vec::new();
            for (index, out) in part.chunks_mut(block * columns).enumerate() {
                let first_row = first_row + index * block;
                let place = |row: usize, other: u32| (context.graph_row(row), other);
                let at_hand = Block { first_row, rows: out.len() / columns };
                let entries =
                    drop_block(arch, &mut dropped, &entries, drops.as_ref(), at_hand, place);
                reduce_rows::<T, SumOf>(arch, out, &[entries], first_row, &right, columns);
            }
        },
    );
}

/// Multiplies and sums; see the header of `sparse_product`.
pub fn sparse_product_over_rows<T: Real>(out: &mut [T], work: &SparseProductOverRows<T>) {
    T::run_sparse_product_over_rows(out, work);
}

pub(crate) fn sparse_product_over_rows_of_type<T: Real>(
    out: &mut [T],
    work: &SparseProductOverRows<T>,
) {
    let (features, columns) = (work.right, work.left_columns);
    let context: &DrawContext = &work.context;
    assert_shape(work.left, features.rows(), columns, "left");
    assert_shape(out, columns, features.columns(), "out");
    if out.is_empty() {
        return;
    }
    let arch = pulp::Arch::new();
    let drops = work.dropout.and_then(|dropout| Drops::new(dropout, context));
    let entries = Entries {
        offsets: &features.offsets,
        neighbours: &features.index,
        weights: Some(&features.values),
        first_entry: 0,
    };
    let block = rows_per_block(columns);
    let mut made = vec![T::ZERO; out.len()];
    let parts = split_rows(&mut made, &features.unit_starts, columns);
    parts.into_par_iter().with_max_len(1).for_each(|(first_feature, part)| {
        let mut dropped = Vec::new();
        for (index, made) in part.chunks_mut(block * columns).enumerate() {
            let first_row = first_feature + index * block;
            let place =
                |feature: usize, row: u32| (context.graph_row(row as usize), feature as u32);
            let at_hand = Block { first_row, rows: made.len() / columns };
            let entries = drop_block(arch, &mut dropped, &entries, drops.as_ref(), at_hand, place);
            reduce_rows::<T, SumOf>(arch, made, &[entries], first_row, work.left, columns);
        }
    });
    out.copy_from_slice(&transposed(&made, features.columns(), columns));
}

/// Rows that are reduced at once.
#[derive(Clone, Copy)]
struct Block {
    first_row: usize,
    rows: usize,
}

/// The entries of a block with their values after dropout; `place` maps (row, other end) of an
/// entry to (row in the graph artifact, column of the features).
fn drop_block<'s, T: Real>(
    arch: pulp::Arch,
    dropped: &'s mut Vec<T>,
    entries: &Entries<'s, T>,
    drops: Option<&Drops>,
    block: Block,
    place: impl Fn(usize, u32) -> (u32, u32),
) -> Entries<'s, T> {
    let (Some(drops), Some(values)) = (drops, entries.weights) else { return *entries };
    let offsets = &entries.offsets[block.first_row..=block.first_row + block.rows];
    let (start, end) = (offsets[0] as usize, offsets[block.rows] as usize);
    let neighbours = &entries.neighbours[start..end];
    let mut places = Vec::with_capacity(neighbours.len());
    for row in 0..block.rows {
        let of_row = (offsets[row] - offsets[0]) as usize..(offsets[row + 1] - offsets[0]) as usize;
        places.extend(neighbours[of_row].iter().map(|&other| place(block.first_row + row, other)));
    }
    dropped.clear();
    dropped.extend_from_slice(&values[start..end]);
    arch.dispatch(DropEntries { drops, values: dropped, places: &places });
    Entries {
        offsets: entries.offsets,
        neighbours,
        weights: Some(dropped),
        first_entry: start as u64,
    }
}

struct DropEntries<'a, T> {
    drops: &'a Drops,
    values: &'a mut [T],
    places: &'a [(u32, u32)],
}

impl<T: Real> pulp::WithSimd for DropEntries<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        self.drops.drop_entries(simd, self.values, |entry| self.places[entry]);
    }
}

/// Transposes `[rows, columns]` to `[columns, rows]`.
fn transposed<T: Real>(matrix: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut out = vec![T::ZERO; matrix.len()];
    for row in 0..rows {
        for column in 0..columns {
            out[column * rows + row] = matrix[row * columns + column];
        }
    }
    out
}
