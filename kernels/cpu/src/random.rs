//! random: counter-based random numbers: any number can be drawn at any time, on any thread, with
//! the same result.
//!
//! promises  Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
//!           tested against known answers; 10 rounds for parameters, 7 for dropout (the fewest that
//!           pass BigCrush). The same numbers for f32 and f64 up to rounding, and on every CPU
//! never     keeps state; depends on the machine, the time or a thread
//!
//! Parameter element i of a row-major shape: key (seed low, seed high), counter (b low, b high, h
//! low, h high) with b = i / 2 and h the FNV-1a hash of the name's bytes; words 0, 1 make the
//! number of an even i, words 2, 3 that of an odd i: `(word a * 2^32 + word b) >> 11` times 2^-53,
//! in [0, 1).
//!
//! Dropout: see `dropout`.
pub mod dropout;
mod philox;

pub use philox::philox4x32;
pub(crate) use philox::{LANES, philox4x32_lanes};

use crate::Real;

/// Rounds for parameters.
const PARAMETER_ROUNDS: usize = 10;

/// Glorot initialisation: uniform in +-sqrt(6 / (fan in + fan out)); a shape is `[out, in, ...]`,
/// further axes multiply fan in. A missing axis counts 1.
pub fn glorot_uniform<T: Real>(seed: u64, name: &str, shape: &[u64]) -> Vec<T> {
    let fan_out = shape.first().copied().unwrap_or(1);
    let fan_in: u64 = shape.iter().skip(1).product();
    let count = fan_in.saturating_mul(fan_out);
    if count == 0 {
        return Vec::new();
    }
    let limit = (6.0 / (fan_in as f64 + fan_out as f64)).sqrt();
    (0..count)
        .map(|index| T::rounded((2.0 * uniform(seed, name_hash(name), index) - 1.0) * limit))
        .collect()
}

/// Normal initialisation, mean 0 and deviation 1 (Box & Muller 1958): element i uses the numbers 2i
/// and 2i + 1 of the stream. The last bit may differ between maths libraries.
pub fn normal<T: Real>(seed: u64, name: &str, shape: &[u64]) -> Vec<T> {
    let stream = name_hash(name);
    let draw = |index: u64| {
        let (radius, angle) =
            (uniform(seed, stream, 2 * index), uniform(seed, stream, 2 * index + 1));
        (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    };
    (0..shape.iter().product()).map(|index| T::rounded(draw(index))).collect()
}

/// FNV-1a, 64 bits, of the bytes of a name.
pub fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Number `index` of a stream, in [0, 1), with 53 bits.
fn uniform(seed: u64, stream: u64, index: u64) -> f64 {
    let block = index / 2;
    let counter = [low(block), high(block), low(stream), high(stream)];
    let words = philox4x32::<PARAMETER_ROUNDS>(counter, key(seed));
    let pair = (index % 2) as usize * 2;
    let bits = (u64::from(words[pair]) << 32 | u64::from(words[pair + 1])) >> 11;
    bits as f64 * (-53f64).exp2()
}

/// The Philox key of a seed.
pub(crate) fn key(seed: u64) -> [u32; 2] {
    [low(seed), high(seed)]
}

fn low(word: u64) -> u32 {
    word as u32
}

fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_has_mean_0_and_deviation_1_and_all_that_is_drawn_is_finite() {
        let drawn: Vec<f64> = normal(3, "embedding.0", &[200, 100]);
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let square = drawn.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!(drawn.iter().all(|value| value.is_finite()));
        assert!(
            mean.abs() < 0.03 && (square - 1.0).abs() < 0.05,
            "mean {mean}, mean square {square}"
        );
        assert!(
            normal::<f32>(3, "embedding.0", &[200, 100])
                .iter()
                .zip(&drawn)
                .all(|(&narrow, &wide)| narrow == wide as f32)
        );
    }

    #[test]
    fn glorot_is_the_same_for_both_types_and_fills_its_range() {
        let wide: Vec<f64> = glorot_uniform(7, "gcn.gcn.0.linear.0.weight", &[16, 96]);
        let narrow: Vec<f32> = glorot_uniform(7, "gcn.gcn.0.linear.0.weight", &[16, 96]);
        assert_eq!(wide.len(), 16 * 96);
        assert!(wide.iter().zip(&narrow).all(|(&wide, &narrow)| wide as f32 == narrow));
        let limit = (6.0f64 / 112.0).sqrt();
        let largest = wide.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
        assert!(largest <= limit && largest > 0.99 * limit, "largest {largest} of {limit}");
        let mean = wide.iter().sum::<f64>() / wide.len() as f64;
        assert!(mean.abs() < limit * 0.05, "mean {mean}");
        let variance = wide.iter().map(|number| number * number).sum::<f64>() / wide.len() as f64;
        assert!((variance / (limit * limit / 3.0) - 1.0).abs() < 0.1, "variance {variance}");
    }

    #[test]
    fn glorot_depends_on_seed_and_name_and_not_on_a_longer_shape() {
        let first: Vec<f64> = glorot_uniform(1, "a", &[4, 4]);
        assert_ne!(first, glorot_uniform::<f64>(2, "a", &[4, 4]));
        assert_ne!(first, glorot_uniform::<f64>(1 << 32 | 1, "a", &[4, 4]));
        assert_ne!(first, glorot_uniform::<f64>(1, "b", &[4, 4]));
        assert_eq!(first, glorot_uniform::<f64>(1, "a", &[4, 4]));
        assert!(glorot_uniform::<f64>(1, "a", &[0, 4]).is_empty());
        assert_eq!(glorot_uniform::<f64>(1, "a", &[]).len(), 1);
    }

    #[test]
    fn name_hash_is_fnv_1a() {
        assert_eq!(name_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(name_hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(name_hash("foobar"), 0x8594_4171_f739_67e8);
    }
}
