//! degrees: degrees with a given sum, from a bounded Pareto distribution of the same mean.
//!
//! promises  the exact sum; no degree above the maximum, which one node reaches; none of 0 where
//!           each node can have one
//! how       the lower bound is solved for the mean; rounding errors are spread over all nodes, the
//!           largest last
use rayon::prelude::*;

use crate::generate::counter::Counter;

/// Exponent of the degree distribution, minus one.
const ALPHA: f64 = 1.5;

/// `nodes` degrees of at most `most` each with this sum.
pub fn draw_degrees(nodes: u32, most: u32, sum: u64, counter: Counter) -> Vec<u32> {
    let least = pareto_lower_bound(sum as f64 / f64::from(nodes), f64::from(most));
    let kept = 1.0 - (least / f64::from(most)).powf(ALPHA);
    let floor = u32::from(sum >= u64::from(nodes));
    let draw = |node: u32| {
        // x^(-1 / 1.5) by a cube root, at half the cost of a power.
        let inverse = (1.0 - counter.unit(2 * u64::from(node)) * kept).cbrt();
        let value = least / (inverse * inverse);
        ((value + counter.unit(2 * u64::from(node) + 1)).floor() as u32).clamp(floor, most)
    };
    let mut degrees: Vec<u32> = (0..nodes).into_par_iter().map(draw).collect();
    let top = (0..degrees.len())
        .max_by_key(|&node| (degrees[node], std::cmp::Reverse(node)))
        .unwrap_or(0);
    degrees[top] = most.min(sum.min(u64::from(u32::MAX)) as u32);
    fit_sum(&mut degrees, top, most, floor, sum);
    degrees
}

/// Changes degrees until their sum is right; the one at `top` only when the others cannot change.
fn fit_sum(degrees: &mut [u32], top: usize, most: u32, floor: u32, sum: u64) {
    let count = degrees.len() as u64;
    let mut found: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
    for lowest in [floor, 0] {
        let mut changed = true;
        while found != sum && std::mem::take(&mut changed) {
            let step = (found.abs_diff(sum) / count).clamp(1, u64::from(u32::MAX)) as u32;
            for node in (top + 1..degrees.len()).chain(0..top) {
                let missing = found.abs_diff(sum).min(u64::from(step)) as u32;
                if missing == 0 {
                    return;
                }
                let old = degrees[node];
                degrees[node] = if found < sum {
                    old + missing.min(most - old)
                } else {
                    old - missing.min(old.saturating_sub(lowest))
                };
                changed |= degrees[node] != old;
                found = found + u64::from(degrees[node]) - u64::from(old);
            }
        }
    }
    // The others are at their limits: the rest goes to the top.
    if let Some(top) = degrees.get_mut(top) {
        let missing = u32::try_from(found.abs_diff(sum)).unwrap_or(u32::MAX);
        *top = if found < sum {
            (*top).saturating_add(missing).min(most)
        } else {
            top.saturating_sub(missing)
        };
    }
}

/// The lower bound of a bounded Pareto distribution with this mean and upper bound.
fn pareto_lower_bound(mean: f64, most: f64) -> f64 {
    let mean_of = |least: f64| {
        let kept = 1.0 - (least / most).powf(ALPHA);
        least.powf(ALPHA) / kept * ALPHA / (ALPHA - 1.0)
            * (least.powf(1.0 - ALPHA) - most.powf(1.0 - ALPHA))
    };
    let (mut low, mut high) = (most * 1e-12, most * (1.0 - 1e-9));
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if mean_of(middle) < mean { low = middle } else { high = middle }
    }
    low
}
