//! approximate_degree: order by approximately descending degree (PregelGPU, section 4.1): degrees
//! go to buckets of equal width, buckets follow each other, and in a bucket the old order stays.
//! The 32 vertices of a warp need similar degrees, not sorted ones.
//!
//! promises  one bucket where all degrees are equal (the published rule divides by zero there), and
//!           no product that overflows
//! limits    O(nodes + buckets); 4 bytes a node
/// The old number of each new one.
pub fn order(degrees: &[u64], buckets: u64, ascending: bool) -> Vec<u32> {
    let (Some(&least), Some(&most)) = (degrees.iter().min(), degrees.iter().max()) else {
        return Vec::new();
    };
    let last = buckets.max(1) - 1;
    let bucket = |degree: u64| {
        let rising = u64::try_from(
            u128::from(degree - least) * u128::from(last) / u128::from((most - least).max(1)),
        )
        .unwrap_or(last);
        (if ascending { rising } else { last - rising }) as usize
    };
    let mut starts = vec![0u32; last as usize + 2];
    degrees.iter().for_each(|&degree| starts[bucket(degree) + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut old_of_new = vec![0; degrees.len()];
    for (node, &degree) in degrees.iter().enumerate() {
        let start = &mut starts[bucket(degree)];
        old_of_new[*start as usize] = node as u32;
        *start += 1;
    }
    old_of_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_equal_width() {
        assert_eq!(order(&[0, 9, 5, 4, 9], 2, false), [1, 4, 0, 2, 3]);
        assert_eq!(order(&[0, 9, 5, 4, 9], 10, false), [1, 4, 2, 3, 0]);
        assert_eq!(order(&[0, 9, 5, 4, 9], 10, true), [0, 3, 2, 1, 4]);
    }

    #[test]
    fn the_traps_of_the_print() {
        assert_eq!(order(&[], 1000, false), [] as [u32; 0]);
        assert_eq!(order(&[7, 7, 7], 1000, false), [0, 1, 2], "largest and smallest are the same");
        assert_eq!(
            order(&[1, u64::from(u32::MAX), 2], 1 << 20, false),
            [1, 0, 2],
            "a product beyond 32 bits"
        );
        assert_eq!(order(&[3, 1, 2], 1, false), [0, 1, 2], "one bucket");
    }
}
