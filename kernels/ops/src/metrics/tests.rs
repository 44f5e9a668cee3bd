//! tests: metrics on rows whose answer is known.
use super::{accuracy, mean_squared_error, right_count, right_share};
use crate::testing::{in_pools, numbers};

#[test]
fn ties_go_to_the_smallest_class_and_nan_is_never_right() {
    let nan = f32::NAN;
    let result = [1.0, 1.0, 0.0, nan, 1.0, 0.0, 0.0, nan, 2.0, nan, nan, nan, -1.0, -3.0, -2.0];
    let target = [0.0, 1.0, 2.0, 0.0, 0.0];
    let right = |row| right_count(&result, &target, 3, &[row]);
    assert_eq!([right(0), right(1), right(2), right(3), right(4)], [1, 0, 0, 0, 1]);
    assert_eq!(accuracy(&result, &target, 3, &[0, 1, 2, 4]), 0.5);
    assert_eq!(accuracy(&result, &target, 3, &[]), 0.0);
    assert_eq!(right_count(&[1.0, 1.0], &[1.0], 2, &[0]), 0);
    assert_eq!(right_count(&[f32::NEG_INFINITY; 2], &[0.0], 2, &[0]), 1);
}

#[test]
fn many_rows() {
    let (rows, columns) = (20_011u32, 7);
    let result: Vec<f32> = numbers(rows as usize * columns, 1);
    let answer = |row: u32| {
        let row = &result[row as usize * columns..][..columns];
        (0..columns).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a))).expect("a column")
    };
    let target: Vec<f32> = (0..rows).map(|row| if row % 4 == 0 { answer(row) } else { (answer(row) + 1) % columns } as f32).collect();
    let odd: Vec<u32> = (0..rows).filter(|row| row % 2 == 0).collect();
    assert_eq!(right_count(&result, &target, columns, &odd), u64::from(rows.div_ceil(4)));
}

#[test]
fn share_of_known_elements() {
    let nan = f64::NAN;
    let (result, target) = ([1.0, -1.0, 3.0, 0.0, 2.0, nan], [1.0, 1.0, nan, 0.0, 0.0, 0.0]);
    assert_eq!(right_share(&result, &target, 2, &[0, 1, 2]), 0.4);
    assert_eq!(right_share(&result, &target, 2, &[1]), 1.0);
    assert!(right_share(&result, &[nan; 6], 2, &[0, 1, 2]).is_nan() && right_share(&result, &target, 2, &[]).is_nan());
}

#[test]
fn squared_error() {
    assert_eq!(mean_squared_error(&[1.0f64, 2.0, 9.0, 9.0, 0.0, 4.0], &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0], 2, &[0, 2]), 2.75);
    assert_eq!(mean_squared_error::<f32>(&[1.0], &[2.0], 1, &[]), 0.0);
    let (result, target): (Vec<f32>, Vec<f32>) = (numbers(30_000, 1), numbers(30_000, 2));
    let rows: Vec<u32> = (0..10_000).collect();
    let made = in_pools(|| vec![mean_squared_error(&result, &target, 3, &rows)])[0];
    assert!((made - 2.0 / 3.0).abs() < 0.02, "{made}");
}
