//! tests: metrics on rows whose answer is known.
use super::{
    accuracy, auc_of_classes, auc_of_labels, macro_f1, mean_absolute_error, mean_squared_error,
    micro_f1, right_count, right_share,
};
use crate::test_support::{numbers, run_in_pools};

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
    let target: Vec<f32> = (0..rows)
        .map(|row| if row % 4 == 0 { answer(row) } else { (answer(row) + 1) % columns } as f32)
        .collect();
    let odd: Vec<u32> = (0..rows).filter(|row| row % 2 == 0).collect();
    assert_eq!(right_count(&result, &target, columns, &odd), u64::from(rows.div_ceil(4)));
}

#[test]
fn share_of_known_elements() {
    let nan = f64::NAN;
    let (result, target) = ([1.0, -1.0, 3.0, 0.0, 2.0, nan], [1.0, 1.0, nan, 0.0, 0.0, 0.0]);
    assert_eq!(right_share(&result, &target, 2, &[0, 1, 2]), 0.4);
    assert_eq!(right_share(&result, &target, 2, &[1]), 1.0);
    assert!(
        right_share(&result, &[nan; 6], 2, &[0, 1, 2]).is_nan()
            && right_share(&result, &target, 2, &[]).is_nan()
    );
}

#[test]
fn squared_error() {
    assert_eq!(
        mean_squared_error(
            &[1.0f64, 2.0, 9.0, 9.0, 0.0, 4.0],
            &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
            2,
            &[0, 2]
        ),
        2.75
    );
    assert_eq!(mean_squared_error::<f32>(&[1.0], &[2.0], 1, &[]), 0.0);
    let (result, target): (Vec<f32>, Vec<f32>) = (numbers(30_000, 1), numbers(30_000, 2));
    let rows: Vec<u32> = (0..10_000).collect();
    let made = run_in_pools(|| vec![mean_squared_error(&result, &target, 3, &rows)])[0];
    assert!((made - 2.0 / 3.0).abs() < 0.02, "{made}");
}

#[test]
fn absolute_error() {
    assert_eq!(
        mean_absolute_error(
            &[1.0f64, 2.0, 9.0, 9.0, 0.0, 4.0],
            &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
            2,
            &[0, 2]
        ),
        1.25
    );
}

/// The answers are 0, 1, 1, 2 and nothing; class 3 occurs nowhere and class 2 only as an answer.
#[test]
fn f1_of_classes_is_the_mean_over_those_that_occur() {
    let nan = f32::NAN;
    let result = [
        9.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, nan, 0.0,
        0.0, 0.0,
    ];
    let target = [0.0, 1.0, 0.0, 1.0, 0.0];
    // Class 0: one right of one answered and three wanted; class 1: one right of two and two; class
    // 2: none of one.
    let expected = (2.0 / 4.0 + 2.0 / 4.0 + 0.0) / 3.0;
    assert!((macro_f1(&result, &target, 4, &[0, 1, 2, 3, 4]) - expected).abs() < 1e-15);
    assert_eq!(macro_f1(&result, &target, 4, &[0]), 1.0);
    assert!(macro_f1(&result, &target, 4, &[]).is_nan());
}

#[test]
fn f1_of_labels_is_over_all_known_elements() {
    let nan = f64::NAN;
    // Holds and said, holds and not said, said in vain, rightly not said, unknown, unknown.
    let (result, target) = ([1.0, -1.0, 3.0, -2.0, 2.0, nan], [1.0, 1.0, 0.0, 0.0, nan, nan]);
    assert_eq!(micro_f1(&result, &target, 2, &[0, 1, 2]), 2.0 / 4.0);
    assert!(micro_f1(&result, &target, 2, &[2]).is_nan());
}

#[test]
fn area_under_the_curve_is_the_share_of_pairs_in_order() {
    let pairs = |result: &[f32], target: &[f32]| {
        let (mut right, mut all) = (0.0, 0.0);
        for (score, _) in result.iter().zip(target).filter(|(_, target)| **target == 1.0) {
            for (other, _) in result.iter().zip(target).filter(|(_, target)| **target == 0.0) {
                right +=
                    if score > other { 1.0 } else { f64::from(u8::from(score == other)) / 2.0 };
                all += 1.0;
            }
        }
        right / all
    };
    let scores: Vec<f32> =
        numbers(501, 3).iter().map(|score: &f32| (score * 8.0).round()).collect();
    let target: Vec<f32> = (0..501).map(|row| f32::from(u8::from(row % 3 == 0))).collect();
    let rows: Vec<u32> = (0..501).collect();
    let expected = pairs(&scores, &target);
    assert!((auc_of_labels(&scores, &target, 1, &rows) - expected).abs() < 1e-12);
    let of_two: Vec<f32> = scores.iter().flat_map(|score| [-score, 0.0]).collect();
    assert!((auc_of_classes(&of_two, &target, &rows) - expected).abs() < 1e-12);
    assert!(auc_of_labels(&scores, &vec![1.0; 501], 1, &rows).is_nan());
    assert_eq!(auc_of_labels(&[0.0f64, -0.0], &[1.0, 0.0], 1, &[0, 1]), 0.5);
    // A column where all is unknown does not count.
    assert_eq!(
        auc_of_labels(&[1.0, 0.0, 0.0, 0.0], &[1.0, f64::NAN, 0.0, f64::NAN], 2, &[0, 1]),
        1.0
    );
}
