//! tests: losses against their definitions in f64, and their gradients against differences.
use warploom_ir::Loss as LossKind;

use super::{Loss, loss, reference};
use crate::Real;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn target<T: Real>(kind: LossKind, rows: usize, columns: usize) -> Vec<T> {
    match kind {
        LossKind::CrossEntropy => {
            (0..rows).map(|row| T::rounded((row * 7 % columns) as f64)).collect()
        }
        LossKind::MeanSquares => numbers(rows * columns, 9),
        LossKind::Binary => numbers::<T>(rows * columns, 9)
            .into_iter()
            .map(|value| (value + T::ONE) * T::rounded(0.5))
            .collect(),
    }
}

fn check<T: Real>(kind: LossKind, rows: usize, columns: usize, training_rows: &[u32]) {
    let result: Vec<T> =
        numbers::<T>(rows * columns, 3).into_iter().map(|value| value * T::rounded(5.0)).collect();
    let target = target(kind, rows, columns);
    let work = Loss { kind, result: &result, target: &target, columns, training_rows };
    let made = run_in_pools(|| {
        let mut gradient = vec![T::ONE; result.len()];
        let value = loss(&mut gradient, &work);
        gradient.push(T::rounded(value));
        gradient
    });
    let (value, mut expected) = reference::loss(&work);
    let what = format!("{kind:?} of {} in {rows} x {columns}", training_rows.len());
    expected.push(value);
    let count = training_rows.len().max(1) as f64;
    let scaled: Vec<T> = made.iter().map(|&gradient| gradient * T::rounded(count)).collect();
    let expected: Vec<f64> = expected.into_iter().map(|gradient| gradient * count).collect();
    assert_close(&scaled, &expected, count, &what);
    let is_zero =
        |row: usize| made[row * columns..(row + 1) * columns].iter().all(|value| *value == T::ZERO);
    assert!((0..rows).all(|row| training_rows.contains(&(row as u32)) || is_zero(row)), "{what}");
}

#[test]
fn degenerate_sizes() {
    for kind in [LossKind::CrossEntropy, LossKind::MeanSquares, LossKind::Binary] {
        for columns in [1, 2, 7, 22, 100] {
            check::<f32>(kind, 0, columns, &[]);
            check::<f64>(kind, 5, columns, &[]);
            check::<f64>(kind, 1, columns, &[0]);
            check::<f32>(kind, 9, columns, &[0, 3, 8]);
            let third: Vec<u32> = (0..5000).step_by(3).collect();
            check::<f32>(kind, 5000, columns, &third);
            check::<f64>(kind, 5000, columns, &third);
        }
    }
}

#[test]
fn no_training_rows_no_loss() {
    let mut gradient = [1.0f32; 4];
    let (result, target, training_rows) = (&[f32::NAN; 4][..], &[9.0, -1.0][..], &[][..]);
    let kind = LossKind::CrossEntropy;
    assert_eq!(loss(&mut gradient, &Loss { kind, result, target, columns: 2, training_rows }), 0.0);
    assert_eq!(gradient, [0.0; 4]);
}

#[test]
fn unknown_elements_of_a_binary_target_do_not_count() {
    let (rows, columns) = (3000, 5);
    let result: Vec<f64> = numbers(rows * columns, 3);
    let known = |at: usize| at % 3 != 1 && at / columns != 7;
    let target: Vec<f64> =
        (0..rows * columns).map(|at| if known(at) { (at % 2) as f64 } else { f64::NAN }).collect();
    let training_rows: Vec<u32> = (0..rows as u32).filter(|row| row % 4 != 2).collect();
    let work = Loss {
        kind: LossKind::Binary,
        result: &result,
        target: &target,
        columns,
        training_rows: &training_rows,
    };
    let mut gradient = vec![1.0; rows * columns];
    let value = loss(&mut gradient, &work);
    let trains = |at: usize| (at / columns) % 4 != 2 && known(at);
    let terms: Vec<f64> = (0..rows * columns)
        .filter(|at| trains(*at))
        .map(|at| (1.0 + (-result[at] * (2.0 * target[at] - 1.0)).exp()).ln())
        .collect();
    assert!((value - terms.iter().sum::<f64>() / terms.len() as f64).abs() < 1e-12, "{value}");
    let (again, slopes) = reference::loss(&work);
    assert!((value - again).abs() < 1e-12);
    for at in 0..rows * columns {
        assert!((gradient[at] - slopes[at]).abs() < 1e-15, "{at}");
        assert!(trains(at) || gradient[at] == 0.0, "{at}");
    }
    let unknown = vec![f64::NAN; rows * columns];
    assert_eq!(loss(&mut gradient, &Loss { target: &unknown, ..work }), 0.0);
    assert!(gradient.iter().all(|slope| *slope == 0.0));
}

#[test]
fn large_results_are_stable() {
    let result = [1e30f32, -1e30, 0.0, 88.0, -1000.0, 89.0];
    let mut gradient = [0.0; 6];
    let (kind, training_rows) = (LossKind::CrossEntropy, &[0, 1][..]);
    let work = Loss { kind, result: &result, target: &[0.0, 2.0], columns: 3, training_rows };
    let value = loss(&mut gradient, &work);
    let expected = (1.0f64 + (-1.0f64).exp()).ln() / 2.0;
    assert!((value - expected).abs() < 1e-7, "{value}, expected {expected}");
    assert!(gradient.iter().all(|gradient| gradient.is_finite()));
}

#[test]
fn a_class_that_is_no_column_is_seen() {
    for class in [-1.0, 3.0, 0.5, f64::NAN] {
        let mut gradient = [0.0; 6];
        let (kind, training_rows, result) = (LossKind::CrossEntropy, &[0, 1][..], &[0.0; 6][..]);
        let work = Loss { kind, result, target: &[1.0, class], columns: 3, training_rows };
        assert!(loss(&mut gradient, &work).is_nan());
        assert!(gradient[..3].iter().all(|gradient| gradient.is_finite()));
        assert!(gradient[3..].iter().all(|gradient| gradient.is_nan()));
    }
}

#[test]
fn gradients_are_the_slopes() {
    let (rows, columns, training_rows) = (6, 4, [1u32, 2, 5]);
    for kind in [LossKind::CrossEntropy, LossKind::MeanSquares, LossKind::Binary] {
        let target: Vec<f64> = target(kind, rows, columns);
        let mut result: Vec<f64> = numbers(rows * columns, 3);
        let mut gradient = vec![0.0; rows * columns];
        let value = |result: &[f64], gradient: &mut [f64]| {
            loss(
                gradient,
                &Loss { kind, result, target: &target, columns, training_rows: &training_rows },
            )
        };
        value(&result, &mut gradient);
        for at in 0..rows * columns {
            let (kept, step) = (result[at], 1e-5);
            let mut ignored = vec![0.0; rows * columns];
            result[at] = kept + step;
            let above = value(&result, &mut ignored);
            result[at] = kept - step;
            let below = value(&result, &mut ignored);
            result[at] = kept;
            let slope = (above - below) / (2.0 * step);
            assert!(
                (slope - gradient[at]).abs() < 1e-9,
                "{kind:?} at {at}: {}, expected {slope}",
                gradient[at]
            );
        }
    }
}
