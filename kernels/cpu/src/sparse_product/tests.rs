//! tests: the sparse products against products of dense features in f64.
use proptest::prelude::*;
use warploom_launch::Dropout;

use super::{
    SparseProduct, SparseProductOverRows, SparseRows, reference, sparse_product,
    sparse_product_over_rows,
};
use crate::Real;
use crate::random::dropout::DrawContext;
use crate::test_support::{Graph, assert_close, numbers, run_in_pools};

/// Features whose entry (row, column) are the edges of a graph of as many columns as rows, or
/// fewer.
fn check<T: Real>(
    features: &Graph,
    feature_columns: usize,
    columns: usize,
    dropout: Option<Dropout>,
) {
    let values: Vec<T> = numbers(features.neighbours.len(), 1);
    let sparse = SparseRows {
        offsets: &features.offsets,
        index: &features.neighbours,
        values: &values,
        columns: feature_columns,
    };
    let rows = features.rows();
    let graph_rows: Vec<u32> = (0..rows as u32).rev().collect();
    let context = DrawContext { seed: 3, epoch: 1, active: true, row_in_graph: Some(&graph_rows) };
    let dense = reference::dense(&sparse, dropout, &context);
    let what = format!("{rows} x {feature_columns} x {columns}, {dropout:?}");
    let size = features.neighbours.len() as f64;

    let right: Vec<T> = numbers(columns * feature_columns, 2);
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; rows * columns];
        sparse_product(
            &mut made,
            &SparseProduct { left: sparse, right: &right, columns, dropout, context },
        );
        made
    });
    let expected = reference::sparse_product(&dense, &right, feature_columns, columns);
    assert_close(&made, &expected, size, &what);

    let left: Vec<T> = numbers(rows * columns, 3);
    let by_columns = sparse.transpose();
    let made = run_in_pools(|| {
        let mut made = vec![T::ONE; columns * feature_columns];
        let right = &by_columns;
        let work =
            SparseProductOverRows { left: &left, left_columns: columns, right, dropout, context };
        sparse_product_over_rows(&mut made, &work);
        made
    });
    let expected = reference::sparse_product_over_rows(&left, &dense, columns, feature_columns);
    assert_close(&made, &expected, size, &what);
}

#[test]
fn degenerate_and_random_features() {
    let dropout = Some(Dropout { probability: 0.4, site: 1 });
    for features in crate::test_support::graphs() {
        for columns in [1, 3, 16, 22] {
            for feature_columns in [features.rows(), features.rows() + 9] {
                if feature_columns > 0 {
                    check::<f32>(&features, feature_columns, columns, None);
                    check::<f64>(&features, feature_columns, columns, dropout);
                }
            }
        }
    }
}

#[test]
fn several_units() {
    let features = crate::test_support::random_graph(2003, 70_000, 3);
    check::<f64>(&features, 2003, 16, Some(Dropout { probability: 0.5, site: 0 }));
}

#[test]
fn transposed_features_are_the_same_entries() {
    let features = Graph::new("features", 3, &[(0, 4), (0, 1), (2, 1), (2, 1), (2, 0)]);
    let values = [1.0f64, 2.0, 3.0, 4.0, 5.0];
    let rows = SparseRows {
        offsets: &features.offsets,
        index: &features.neighbours,
        values: &values,
        columns: 6,
    };
    let columns = rows.transpose();
    assert_eq!((columns.rows(), columns.columns()), (3, 6));
    assert_eq!(columns.offsets, [0, 1, 4, 4, 4, 5, 5]);
    assert_eq!(columns.index, [2, 0, 2, 2, 0]);
    assert_eq!(columns.values, [5.0, 2.0, 3.0, 4.0, 1.0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn drawn_features(
        entries in prop::collection::vec((0u32..29, 0u32..29), 0..200),
        columns in 1usize..40,
        probability in 0.0..0.9,
    ) {
        let features = Graph::new("drawn", 29, &entries);
        check::<f64>(&features, 29, columns, Some(Dropout { probability, site: 2 }));
    }
}
