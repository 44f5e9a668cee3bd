//! products: rows times a matrix, against the reference, buffer by buffer.
//!
//! promises  rows that fit shared memory with the matrix and rows that do not, given ones and made ones, whose columns no vector divides,
//!           few of them and many, whose number is no multiple of anything
use warploom_vertex::{
    emit::cuda::{Matmul, Order, Target, emit},
    launch::LaunchList,
};

use crate::direct::gpu;
use crate::totals::chain;
use crate::widths::trained;

/// Compares a chain of layers; its list.
fn agree(widths: &[usize], nodes: usize) -> LaunchList {
    let (direct, list) = chain(widths, nodes);
    trained::<f32>(&format!("{widths:?}, {nodes} rows"), &direct, &list);
    list
}

fn processors() -> u32 {
    gpu().and_then(|facts| facts.grid).map_or(8, |grid| grid.processors)
}

/// More rows than are few on the device that is here.
fn many() -> usize {
    19 + 32 * processors() as usize
}

#[test]
fn rows_that_fit_with_the_matrix_agree() {
    for nodes in [1, 61, many()] {
        agree(&[33, 70, 9, 5], nodes);
    }
}

#[test]
fn rows_so_long_that_the_matrix_does_not_fit_agree() {
    for widths in [&[1323, 64, 3][..], &[5, 1903, 33, 2], &[1100, 129, 2]] {
        let list = agree(widths, many());
        let target = Target { bytes_per_real: 4, processors: processors(), shared_bytes: 232_448, matmul: Matmul::F32, order: Order::Spread };
        assert!(emit(&list, target).unwrap().source.contains("multiply_many_rows<MANY, TILES>(all"), "{widths:?}: no matrix came in steps");
    }
}
