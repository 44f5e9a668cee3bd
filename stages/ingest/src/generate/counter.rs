//! counter: counter-based random numbers, each computed from its index.
//!
//! promises  number `index` of a stream depends on (seed, stream, index) alone: threads may ask in
//!           any order
//! never     keeps state; is cryptographically secure
//! paper     SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014),
//!           its finaliser used as a hash of a counter

/// A stream of random numbers that is addressed by index.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    key: u64,
}

/// The step of SplitMix64: 2^64 divided by the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64 bits in which every input bit affects every output bit.
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Counter {
    /// The stream of this name; equal seeds and names give equal streams.
    pub fn new(seed: u64, stream: &str) -> Self {
        let named = stream.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Counter { key: mix(mix(seed.wrapping_add(STEP)) ^ named) }
    }

    /// A sub-stream, for example of a community or a round.
    pub fn part(self, index: u64) -> Self {
        Counter { key: mix(self.key.wrapping_add(STEP) ^ mix(index)) }
    }

    /// 64 random bits.
    pub fn bits(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(STEP)))
    }

    /// An integer below `bound`; 0 for a bound of 0. The bias is at most `bound` in 2^64.
    pub fn below(self, index: u64, bound: u64) -> u64 {
        ((u128::from(self.bits(index)) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub fn unit(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Approximately normal, mean 0 and standard deviation 1: the sum of four 16-bit numbers, at
    /// most 3.47 from 0.
    pub fn normal(self, index: u64) -> f32 {
        let bits = self.bits(index);
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        // The mean of the sum is 131,070, its deviation 65,536 / sqrt(3).
        (sum as f32 - 131_070.0) * (1.732_050_8 / 65_536.0)
    }

    /// Shuffles a list (Fisher and Yates), by one thread.
    pub fn shuffle<T>(self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64, at as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let one = Counter::new(1, "a");
        assert_eq!(one.bits(7), Counter::new(1, "a").bits(7));
        assert!(
            one.bits(7) != Counter::new(2, "a").bits(7)
                && one.bits(7) != Counter::new(1, "b").bits(7)
                && one.bits(7) != one.part(0).bits(7)
        );
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let counter = Counter::new(3, "test");
        let mut buckets = [0u32; 16];
        (0..160_000).for_each(|i| buckets[counter.below(i, 16) as usize] += 1);
        assert!(buckets.iter().all(|&count| (9_500..10_500).contains(&count)), "{buckets:?}");
        let values: Vec<f64> = (0..100_000).map(|i| f64::from(counter.normal(i))).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let spread = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (spread - 1.0).abs() < 0.02, "{mean} {spread}");
        assert!((0..1000).all(|i| counter.below(i, 0) == 0
            && counter.below(i, 1) == 0
            && (0.0..1.0).contains(&counter.unit(i))));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut list: Vec<u32> = (0..1000).collect();
        Counter::new(1, "a").shuffle(&mut list);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert_eq!(list, (0..1000).collect::<Vec<_>>());
    }
}
