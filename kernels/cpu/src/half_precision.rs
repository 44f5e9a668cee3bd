//! half_precision: 16-bit floats (bf16 and f16) as storage types.
//!
//! promises  widening is exact; rounding is to nearest even, overflow gives infinity, and NaN stays
//!           NaN; branch-free, so that loops vectorise, with the same bits on every CPU
//! never     computes in 16 bits: sums and products are in f32 or f64
pub use half::{bf16, f16};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::Real;
use crate::evaluate::Element;

/// A storage type for elements of a type: itself, or a 16-bit float.
pub trait Kept<A>: Copy + Send + Sync {
    /// The element, widened.
    fn read(self) -> A;
}

/// A 16-bit float.
pub trait Half: Copy + Send + Sync + bytemuck::Pod {
    /// Widened, exactly.
    fn widened(self) -> f32;
    /// Rounded to nearest even.
    fn nearest(number: f32) -> Self;
}

impl<A: Element> Kept<A> for A {
    #[inline(always)]
    fn read(self) -> A {
        self
    }
}

macro_rules! kept {
    ($($half:ty),+) => {$(
        impl<A: Element> Kept<A> for $half {
            #[inline(always)]
            fn read(self) -> A {
                A::from_half(self.widened())
            }
        }
    )+};
}

kept!(bf16, f16);

impl Half for bf16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn nearest(number: f32) -> Self {
        let bits = number.to_bits();
        let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1))) >> 16;
        let quiet = bits >> 16 | 0x40;
        bf16::from_bits(if number.is_nan() { quiet } else { rounded } as u16)
    }
}

impl Half for f16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        // A multiplication adjusts the exponent, which also normalises subnormals; infinity and NaN
        // are set explicitly.
        let bits = u32::from(self.to_bits() & 0x7fff) << 13;
        let moved = (f32::from_bits(bits) * f32::from_bits((254 - 15) << 23)).to_bits();
        let beyond = if bits >= 0x7c00 << 13 { 0xff << 23 } else { 0 };
        f32::from_bits(moved | beyond | u32::from(self.to_bits() & 0x8000) << 16)
    }

    #[inline(always)]
    fn nearest(number: f32) -> Self {
        let bits = number.to_bits() & 0x7fff_ffff;
        // Rebias the exponent; a rounding carry propagates into it.
        let normal = bits.wrapping_sub(112 << 23).wrapping_add(0xfff + (bits >> 13 & 1)) >> 13;
        // Adding one half aligns the last bit of a subnormal, so that the addition rounds it.
        let subnormal = (f32::from_bits(bits) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let finite = if bits < 113 << 23 { subnormal } else { normal };
        let limited = if bits >= 143 << 23 { 0x7c00 } else { finite };
        let made = if bits > 0xff << 23 { 0x7e00 } else { limited };
        f16::from_bits(made as u16 | (number.to_bits() >> 16) as u16 & 0x8000)
    }
}

/// Rounds all numbers.
pub fn round<T: Real, H: Half>(arch: Arch, out: &mut [H], numbers: &[T]) {
    arch.dispatch(Round { out, numbers });
}

/// Rounds all numbers, on all threads.
pub fn round_all<T: Real, H: Half>(out: &mut [H], numbers: &[T]) {
    let arch = Arch::new();
    out.par_chunks_mut(AT_ONCE)
        .zip(numbers.par_chunks(AT_ONCE))
        .for_each(|(out, numbers)| round(arch, out, numbers));
}

/// Numbers per task.
const AT_ONCE: usize = 1 << 16;

struct Round<'a, T, H> {
    out: &'a mut [H],
    numbers: &'a [T],
}

impl<T: Real, H: Half> WithSimd for Round<'_, T, H> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out
            .iter_mut()
            .zip(self.numbers)
            .for_each(|(out, number)| *out = H::nearest(number.single()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What 16 bits say, with so many bits of exponent.
    fn meaning(bits: u16, exponent: u32) -> f64 {
        let fraction = 15 - exponent;
        let bias = (1i32 << (exponent - 1)) - 1;
        let (sign, power) = (
            if bits >> 15 == 1 { -1.0 } else { 1.0 },
            i32::from(bits >> fraction) & ((1 << exponent) - 1),
        );
        let part = f64::from(bits & ((1 << fraction) - 1)) / f64::from(1u32 << fraction);
        let size = match power {
            0 => part * 2f64.powi(1 - bias),
            power if power == (1 << exponent) - 1 => {
                if part == 0.0 {
                    f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            power => (1.0 + part) * 2f64.powi(power - bias),
        };
        sign * size
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
    }

    /// Each number, those halfway to the next, and those beside them.
    fn assert_all_nearest<H: Half + PartialEq + std::fmt::Debug>(exponent: u32, of: fn(u16) -> H) {
        for bits in 0..=u16::MAX {
            let number = meaning(bits, exponent);
            assert!(same(f64::from(of(bits).widened()), number), "{bits:#06x}");
            if number.is_nan() {
                assert!(H::nearest(of(bits).widened()).widened().is_nan(), "{bits:#06x}");
                continue;
            }
            assert_eq!(H::nearest(number as f32), of(bits), "{bits:#06x}");
            if number.is_infinite() {
                continue;
            }
            // The next one away from 0: beyond the largest lies what would be if there were one
            // more power.
            let next = meaning(bits + 1, exponent);
            let step = if next.is_infinite() {
                number - meaning(bits - 1, exponent)
            } else {
                next - number
            };
            let middle = (number + step / 2.0) as f32;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            assert_eq!(H::nearest(middle), of(even), "{bits:#06x}, {middle:e}");
            assert_eq!(H::nearest(f32::from_bits(middle.to_bits() - 1)), of(bits), "{bits:#06x}");
            assert_eq!(
                H::nearest(f32::from_bits(middle.to_bits() + 1)),
                of(bits + 1),
                "{bits:#06x}"
            );
        }
    }

    #[test]
    fn every_bf16_is_read_and_rounded_to() {
        assert_all_nearest(8, bf16::from_bits);
    }

    #[test]
    fn every_f16_is_read_and_rounded_to() {
        assert_all_nearest(5, f16::from_bits);
    }

    #[test]
    fn what_is_too_large_is_infinite() {
        assert_eq!(<f16 as Half>::nearest(65519.0).widened(), 65504.0);
        assert_eq!(<f16 as Half>::nearest(65520.0).widened(), f32::INFINITY);
        assert_eq!(<f16 as Half>::nearest(-1e30).widened(), f32::NEG_INFINITY);
        assert_eq!(<bf16 as Half>::nearest(f32::MAX).widened(), f32::INFINITY);
        let mut made = [f16::from_bits(1); 3];
        round(Arch::new(), &mut made, &[1.0f64, 1e-9, -1e300]);
        assert_eq!(made.map(Half::widened), [1.0, 0.0, f32::NEG_INFINITY]);
    }
}
