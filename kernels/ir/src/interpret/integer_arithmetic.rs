//! integer_arithmetic: arithmetic of integers, with two values that stand for infinities.
//!
//! promises  the minimum and the maximum over nothing behave like infinities: adding, subtracting
//!           or negating never gives a number back; but 0 times anything is 0, and of both
//!           infinities the positive one wins
//! never     panics: all other numbers wrap around, and division by 0 gives 0

/// Positive infinity: the minimum over nothing.
pub const ABOVE: i64 = i64::MAX;
/// Negative infinity: the maximum over nothing.
pub const BELOW: i64 = i64::MIN;

/// Whether it stands for an infinity.
#[inline(always)]
pub fn is_beyond(a: i64) -> bool {
    a == ABOVE || a == BELOW
}

/// `a + b`
#[inline(always)]
pub fn plus(a: i64, b: i64) -> i64 {
    if a == ABOVE || b == ABOVE {
        ABOVE
    } else if a == BELOW || b == BELOW {
        BELOW
    } else {
        a.wrapping_add(b)
    }
}

/// `-a`
#[inline(always)]
pub fn negative(a: i64) -> i64 {
    match a {
        ABOVE => BELOW,
        BELOW => ABOVE,
        a => -a,
    }
}

/// `a - b`
#[inline(always)]
pub fn minus(a: i64, b: i64) -> i64 {
    if is_beyond(a) || is_beyond(b) { plus(a, negative(b)) } else { a.wrapping_sub(b) }
}

/// `a * b`
#[inline(always)]
pub fn times(a: i64, b: i64) -> i64 {
    if a == 0 || b == 0 {
        0
    } else if is_beyond(a) || is_beyond(b) {
        signed((a < 0) != (b < 0))
    } else {
        a.wrapping_mul(b)
    }
}

/// `|a|`
pub fn absolute(a: i64) -> i64 {
    if a < 0 { negative(a) } else { a }
}

/// `a // b`, rounded down.
pub fn quotient(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    if is_beyond(a) {
        return signed((a < 0) != (b < 0));
    }
    let inexact = a.wrapping_rem(b) != 0;
    let toward_zero = a.wrapping_div(b);
    if inexact && (a < 0) != (b < 0) { toward_zero - 1 } else { toward_zero }
}

/// `a % b`, with the sign of `b`; infinite if `a` is.
pub fn rest(a: i64, b: i64) -> i64 {
    if b == 0 || is_beyond(a) {
        return if b == 0 { 0 } else { a };
    }
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// `base ** exponent`, by repeated squares; 0 for negative exponents.
pub fn power(base: i64, exponent: i64) -> i64 {
    if exponent < 0 {
        return 0;
    }
    if is_beyond(base) && exponent > 0 {
        return signed(base < 0 && exponent % 2 == 1);
    }
    if exponent == ABOVE && !(-1..=1).contains(&base) {
        return ABOVE;
    }
    let (mut made, mut square, mut left) = (1_i64, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            made = made.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left /= 2;
    }
    made
}

/// As a float, with infinities.
#[inline(always)]
pub fn widened(a: i64) -> f64 {
    match a {
        ABOVE => f64::INFINITY,
        BELOW => f64::NEG_INFINITY,
        a => a as f64,
    }
}

#[inline(always)]
fn signed(is_negative: bool) -> i64 {
    if is_negative { BELOW } else { ABOVE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_lies_beyond_stays_there() {
        for number in [-7, -1, 1, 3, 1 << 40] {
            assert_eq!(
                [
                    plus(ABOVE, number),
                    plus(number, ABOVE),
                    minus(ABOVE, number),
                    minus(number, BELOW)
                ],
                [ABOVE; 4]
            );
            assert_eq!(
                [
                    plus(BELOW, number),
                    plus(number, BELOW),
                    minus(BELOW, number),
                    minus(number, ABOVE)
                ],
                [BELOW; 4]
            );
            assert_eq!(times(ABOVE, number), signed(number < 0));
            assert_eq!(quotient(BELOW, number), signed(number > 0));
            assert_eq!(rest(ABOVE, number), ABOVE);
        }
        assert_eq!(
            [negative(ABOVE), negative(BELOW), absolute(BELOW), power(BELOW, 2), power(BELOW, 3)],
            [BELOW, ABOVE, ABOVE, ABOVE, BELOW]
        );
        assert_eq!(
            [
                times(0, ABOVE),
                quotient(5, ABOVE),
                quotient(-5, ABOVE),
                power(2, ABOVE),
                power(ABOVE, 0),
                plus(BELOW, ABOVE)
            ],
            [0, 0, -1, ABOVE, 1, ABOVE]
        );
        assert_eq!(
            [widened(ABOVE), widened(BELOW), widened(-3)],
            [f64::INFINITY, f64::NEG_INFINITY, -3.0]
        );
    }

    #[test]
    fn numbers_go_as_python_has_them() {
        assert_eq!(
            [quotient(7, 2), quotient(-7, 2), quotient(7, -2), quotient(7, 0)],
            [3, -4, -4, 0]
        );
        assert_eq!([rest(7, 2), rest(-7, 2), rest(7, -2), rest(7, 0)], [1, 1, -1, 0]);
        assert_eq!([power(3, 4), power(-2, 3), power(2, -1), absolute(-5)], [81, -8, 0, 5]);
    }

    proptest! {
        /// Sums come out the same however they are put together, beyond or not.
        #[test]
        fn sums_in_any_order(numbers in proptest::collection::vec(prop_oneof![Just(ABOVE), Just(BELOW), -1000i64..1000], 3)) {
            let [a, b, c] = [numbers[0], numbers[1], numbers[2]];
            prop_assert_eq!(plus(plus(a, b), c), plus(a, plus(b, c)));
            prop_assert_eq!(plus(a, b), plus(b, a));
            prop_assert_eq!(times(a, b), times(b, a));
        }
    }
}
