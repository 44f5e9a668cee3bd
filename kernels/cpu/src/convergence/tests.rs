//! tests: changes against one loop, and at infinities and NaN.
use super::{changed_count, summed_change};
use crate::test_support::{numbers, run_in_pools};

#[test]
fn sums_and_counts() {
    for count in [0, 1, 15, 16, 17, 1000, 100_001] {
        let before: Vec<f32> = numbers(count, 1);
        let mut after = before.clone();
        after.iter_mut().step_by(3).for_each(|value| *value += 0.25);
        let expected: f64 = before
            .iter()
            .zip(&after)
            .map(|(&before, &after)| (f64::from(before) - f64::from(after)).abs())
            .sum();
        let made = run_in_pools(|| vec![summed_change(&before, &after)])[0];
        assert!(
            (made - expected).abs() <= 1e-12 * expected,
            "{count}: {made}, expected {expected}"
        );
        assert_eq!(changed_count(&before, &after), count.div_ceil(3) as u64);
    }
}

#[test]
fn infinities_and_nan() {
    let (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(summed_change(&[most, least, 1.0], &[most, least, 3.0]), 2.0);
    assert_eq!(summed_change(&[most, 1.0], &[5.0, 1.0]), most);
    assert_eq!(summed_change(&[most], &[least]), most);
    assert!(summed_change(&[f64::NAN, 1.0], &[1.0, 1.0]).is_nan());
    assert!(summed_change(&[f64::NAN], &[f64::NAN]).is_nan());
    assert_eq!(changed_count(&[most, f64::NAN, f64::NAN, 0.0], &[most, f64::NAN, 1.0, -0.0]), 1);
}
