//! random: random order, the baseline of all others: each node draws a number from the seed and its
//! own number, and nodes are sorted by these.
//!
//! limits    O(nodes log nodes); 16 bytes a node
use rayon::prelude::*;

/// The old number of each new one.
pub fn order(nodes: usize, seed: u64) -> Vec<u32> {
    let start = mix_bits(seed);
    let mut drawn: Vec<(u64, u32)> = (0..nodes as u32)
        .into_par_iter()
        .map(|node| (mix_bits(start ^ u64::from(node)), node))
        .collect();
    drawn.par_sort_unstable();
    drawn.into_par_iter().map(|(_, node)| node).collect()
}

/// Mixes the bits of a number (the finaliser of splitmix64, Steele et al. 2014).
pub fn mix_bits(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_an_order() {
        assert_eq!(order(1000, 7), order(1000, 7));
        assert_ne!(order(1000, 7), order(1000, 8));
        // A node stays near its place once in a while, as chance has it: 1,000 nodes are 333 places
        // apart in the mean.
        let apart: u64 =
            order(1000, 7).iter().zip(0u32..).map(|(old, new)| u64::from(old.abs_diff(new))).sum();
        assert!((300_000..366_000).contains(&apart), "{apart}");
    }
}
