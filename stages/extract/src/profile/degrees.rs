//! degrees: the distribution of degrees.
//!
//! promises  sums of integers are exact; moments are summed in row order, by one thread
//! limits    O(nodes log nodes) time, 8 bytes for each node
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::Rows,
    profile::{Spread, log_bin},
};

/// Moments, median, Gini coefficient and histogram, over the whole population.
pub fn degree_spread(rows: Rows<'_>) -> Spread {
    let nodes = rows.len();
    if nodes == 0 {
        return Spread::default();
    }
    let edges = rows.neighbours.len();
    let mean = edges as f64 / nodes as f64;
    let (mut second, mut third) = (0.0, 0.0);
    for degree in rows.degrees() {
        let off = degree as f64 - mean;
        second += off * off;
        third += off * off * off;
    }
    let deviation = (second / nodes as f64).sqrt();
    let skew = if deviation > 0.0 { third / nodes as f64 / deviation.powi(3) } else { 0.0 };
    let mut sorted: Vec<u64> = rows.degrees().collect();
    sorted.par_sort_unstable();
    let (min, median, max) = (sorted[0], sorted[(nodes - 1) / 2], sorted[nodes - 1]);
    let mut histogram = vec![0; log_bin(max) + 1];
    sorted.iter().for_each(|&degree| histogram[log_bin(degree)] += 1);
    Spread { min, median, mean, max, deviation, skew, gini: gini(&sorted, edges as u64), histogram }
}

/// Gini coefficient of degrees in ascending order: sum of (2 i - n - 1) d_i over n sum of d, i from
/// 1.
fn gini(sorted: &[u64], sum: u64) -> f64 {
    let nodes = sorted.len() as i128;
    let weighted: i128 =
        (1..).zip(sorted).map(|(rank, &degree)| (2 * rank - nodes - 1) * i128::from(degree)).sum();
    if sum == 0 { 0.0 } else { weighted as f64 / (nodes as f64 * sum as f64) }
}
