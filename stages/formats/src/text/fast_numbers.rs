//! Numbers of text read eight bytes at a time.
//!
//! promises  takes only what a careful reading would take alike; none: read it with care
//!
//! ```text
//! Ladder, two columns of a SNAP file on one core (`edge_list_speed`):
//!   byte by byte                      a compare and a multiplication a byte, a branch that is guessed wrong at the end of each number
//!   eight bytes at a time             finds the end of a number by one mask and reads its digits by three multiplications   <- this file
//! ```

/// In the lowest bytes of `word`: the digits up to the first byte that is none, and how many they
/// are (8: perhaps more).
#[inline(always)]
fn leading_digits(word: u64) -> (u64, u32) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let values = word ^ (0x30 * ONES);
    // The high bit shows a byte above 9; a carry can spoil only bytes behind the first such one.
    let others = (values.wrapping_add(0x76 * ONES) | values) & (0x80 * ONES);
    let count = others.trailing_zeros() / 8;
    (values, count)
}

/// The number of `count` (1 to 8) digits in the lowest bytes.
#[inline(always)]
fn number_of(values: u64, count: u32) -> u64 {
    // The digits move to the top, zeros take the place of those that are not there; then pairs,
    // fours and eight are joined.
    let digits = values << (64 - 8 * count);
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff
}

#[inline(always)]
fn eight(text: &[u8], at: usize) -> Option<u64> {
    let bytes: [u8; 8] = text.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes))
}

/// A number of at most 15 digits with at least one byte behind it, and without zeros before it; its
/// end.
#[inline(always)]
pub fn fast_number(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let (values, count) = leading_digits(eight(text, at)?);
    match count {
        0 => None,
        // `007` may be another word than `7`.
        _ if values as u8 == 0 && count > 1 => None,
        1..8 => Some((number_of(values, count), at + count as usize)),
        _ => {
            let high = number_of(values, 8);
            let (values, count) = leading_digits(eight(text, at + 8)?);
            match count {
                0 => Some((high, at + 8)),
                1..8 => Some((
                    high * 10u64.pow(count) + number_of(values, count),
                    at + 8 + count as usize,
                )),
                _ => None,
            }
        }
    }
}

const POWERS: [f32; 8] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7];

/// A weight whose digits fit into 24 bits, with at most seven behind the point: then one division
/// rounds as the standard library does.
#[inline(always)]
pub fn fast_weight(text: &[u8], at: usize) -> Option<(f32, usize)> {
    let negative = text.get(at) == Some(&b'-');
    let at = at + usize::from(negative);
    let (values, count) = leading_digits(eight(text, at)?);
    if count == 0 || count == 8 {
        return None;
    }
    let (mut digits, mut end, mut behind) = (number_of(values, count), at + count as usize, 0);
    if text.get(end) == Some(&b'.') {
        let (values, count) = leading_digits(eight(text, end + 1)?);
        if count == 0 || count == 8 {
            return None;
        }
        (digits, end, behind) =
            (digits * 10u64.pow(count) + number_of(values, count), end + 1 + count as usize, count);
    }
    let weight = digits as f32 / POWERS[behind as usize];
    (digits < 1 << 24).then_some((if negative { -weight } else { weight }, end))
}

/// Behind the end of the line that begins here, if it does.
#[inline(always)]
pub fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'\n' => Some(at + 1),
        b'\r' if text.get(at + 1) == Some(&b'\n') => Some(at + 2),
        _ => None,
    }
}
