//! philox: Philox4x32, one block at a time and many in SIMD lanes.
//!
//! promises  `philox4x32_lanes` equals `philox4x32` in each lane, in registers as wide as the CPU
//!           has
//! never     keeps state
use pulp::{Scalar, Simd};

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Blocks computed together: one 512-bit register of words, or several smaller ones.
pub(crate) const LANES: usize = 16;

/// The block of four words for a counter and a key.
pub fn philox4x32<const ROUNDS: usize>(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    rounds::<Scalar, ROUNDS>(Scalar::new(), counter, key)
}

/// `LANES` blocks under one key; word w of lane l is `[w][l]`.
#[inline(always)]
pub(crate) fn philox4x32_lanes<S: Simd, const ROUNDS: usize>(
    simd: S,
    counter: &[[u32; LANES]; 4],
    key: [u32; 2],
) -> [[u32; LANES]; 4] {
    let mut words = [[0; LANES]; 4];
    let counter = counter.each_ref().map(|lanes| S::as_simd_u32s(lanes).0);
    let registers = words.each_mut().map(|lanes| S::as_mut_simd_u32s(lanes).0);
    for register in 0..LANES / S::U32_LANES {
        let block = rounds::<S, ROUNDS>(simd, counter.map(|lanes| lanes[register]), key);
        for word in 0..4 {
            registers[word][register] = block[word];
        }
    }
    words
}

#[inline(always)]
fn rounds<S: Simd, const ROUNDS: usize>(
    simd: S,
    counter: [S::u32s; 4],
    mut key: [u32; 2],
) -> [S::u32s; 4] {
    let multipliers = MULTIPLIERS.map(|multiplier| simd.splat_u32s(multiplier));
    let [mut first, mut second, mut third, mut fourth] = counter;
    for _ in 0..ROUNDS {
        let (left_low, left_high) = simd.widening_mul_u32s(first, multipliers[0]);
        let (right_low, right_high) = simd.widening_mul_u32s(third, multipliers[1]);
        first = simd.xor_u32s(simd.xor_u32s(right_high, second), simd.splat_u32s(key[0]));
        third = simd.xor_u32s(simd.xor_u32s(left_high, fourth), simd.splat_u32s(key[1]));
        (second, fourth) = (right_low, left_low);
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    [first, second, third, fourth]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random123, kat_vectors, philox4x32 10.
    #[test]
    fn known_answers_of_ten_rounds() {
        let zeros = philox4x32::<10>([0; 4], [0; 2]);
        assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox4x32::<10>([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = philox4x32::<10>(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
        );
        assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    /// Random123, kat_vectors, philox4x32 7.
    #[test]
    fn known_answers_of_seven_rounds() {
        let zeros = philox4x32::<7>([0; 4], [0; 2]);
        assert_eq!(zeros, [0x5f6f_b709, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48]);
        let ones = philox4x32::<7>([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x5207_ddc2, 0x4516_5e59, 0x4d8e_e751, 0x8c52_f662]);
    }

    struct Lanes([[u32; LANES]; 4]);

    impl pulp::WithSimd for Lanes {
        type Output = [[u32; LANES]; 4];

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            philox4x32_lanes::<S, 7>(simd, &self.0, [3, 4])
        }
    }

    #[test]
    fn lanes_are_single_blocks() {
        let counter: [[u32; LANES]; 4] = std::array::from_fn(|word| {
            std::array::from_fn(|lane| (word * 1000 + lane * 77) as u32)
        });
        let blocks = pulp::Arch::new().dispatch(Lanes(counter));
        for lane in 0..LANES {
            let single = philox4x32::<7>(counter.map(|word| word[lane]), [3, 4]);
            assert_eq!(blocks.map(|word| word[lane]), single);
        }
    }
}
