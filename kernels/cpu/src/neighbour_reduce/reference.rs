//! reference: the neighbour reduction in f64, edge by edge, from its definition.
//!
//! promises  slow; without the epilogue
//! never     runs in parallel, or knows work units
use warploom_launch::{Combine, EdgeFactor};

use super::NeighbourReduce;
use crate::Scalar;

/// The result without the epilogue, row-major.
pub fn neighbour_reduce<T: Scalar>(work: &NeighbourReduce<T>) -> Vec<f64> {
    let rows = work.adjacencies.first().map_or(0, |adjacency| adjacency.rows());
    let mut out = Vec::with_capacity(rows * work.columns);
    for row in 0..rows {
        for column in 0..work.columns {
            let mut made = match work.combine {
                Combine::Sum => 0.0,
                Combine::Min => T::LARGEST.widened(),
                Combine::Max => T::SMALLEST.widened(),
            };
            for adjacency in work.adjacencies {
                for entry in adjacency.offsets[row] as usize..adjacency.offsets[row + 1] as usize {
                    let neighbour = adjacency.neighbours[entry] as usize;
                    let mut message = match work.source {
                        Some(source) => source[neighbour * work.columns + column].widened(),
                        None => 1.0,
                    };
                    if let (EdgeFactor::Weight, Some(weights)) = (work.factor, adjacency.weights) {
                        message *= weights[entry].widened();
                    }
                    made = match work.combine {
                        Combine::Sum => made + message,
                        Combine::Min | Combine::Max if made.is_nan() || message.is_nan() => {
                            f64::NAN
                        }
                        Combine::Min => made.min(message),
                        Combine::Max => made.max(message),
                    };
                }
            }
            out.push(made);
        }
    }
    out
}
