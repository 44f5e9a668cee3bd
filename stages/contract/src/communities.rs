//! communities: sizes and modularity of communities. One definition, for the profile of a graph and
//! for reorder methods.
//!
//! promises  exact sums of integers: the same bits for any number of threads
//! limits    O(edges) time; 16 bytes for each community
use rayon::prelude::*;

use crate::kinds::{
    csr::Rows,
    profile::{CommunityFigures, log_bin},
};

/// Figures of communities, with parallel edges counted. Community numbers are below the number of
/// nodes.
pub fn figures(community: &[u32], incoming: Rows<'_>, outgoing: Rows<'_>) -> CommunityFigures {
    let nodes = community.len();
    let count = community.iter().max().map_or(0, |&most| most as usize + 1);
    let (mut sizes, mut ends) = (vec![0u64; count], vec![0u64; count]);
    for node in 0..nodes {
        let degree = (incoming.row(node).len() + outgoing.row(node).len()) as u64;
        if degree > 0 {
            sizes[community[node] as usize] += 1;
            ends[community[node] as usize] += degree;
        }
    }
    let inside_of = |node: usize| {
        incoming
            .row(node)
            .iter()
            .filter(|&&source| community[source as usize] == community[node])
            .count() as u64
    };
    let inside: u64 = (0..nodes).into_par_iter().with_min_len(1 << 12).map(inside_of).sum();
    let edges = incoming.neighbours.len() as f64;
    let squares: u128 = ends.iter().map(|&ends| u128::from(ends) * u128::from(ends)).sum();
    let modularity = if edges > 0.0 {
        inside as f64 / edges - squares as f64 / (2.0 * edges).powi(2)
    } else {
        0.0
    };
    sizes.retain(|&size| size > 0);
    let number = sizes.len() as f64;
    let mean = if sizes.is_empty() { 0.0 } else { sizes.iter().sum::<u64>() as f64 / number };
    let off: f64 = sizes.iter().map(|&size| (size as f64 - mean).powi(2)).sum();
    let mut histogram = vec![0; sizes.iter().max().map_or(0, |&most| log_bin(most) + 1)];
    sizes.iter().for_each(|&size| histogram[log_bin(size)] += 1);
    CommunityFigures {
        count: sizes.len() as u64,
        largest: sizes.iter().copied().max().unwrap_or(0),
        mean,
        deviation: if sizes.is_empty() { 0.0 } else { (off / number).sqrt() },
        modularity,
        histogram,
    }
}
