//! tests: optimisers against their definitions in f64, over several steps.
use super::{Adam, Learned, Optimizer, optimize, reference};
use crate::Real;
use crate::test_support::{assert_close, numbers, run_in_pools};

fn optimizers() -> Vec<Optimizer> {
    let adam = Adam { rate: 0.01, weight_decay: 5e-4, ..Adam::default() };
    vec![
        Optimizer::Adam(adam),
        Optimizer::Adam(Adam { weight_decay: 0.0, beta_first: 0.0, ..adam }),
        Optimizer::AdamW(Adam { weight_decay: 0.1, ..adam }),
        Optimizer::Sgd { rate: 0.1, momentum: 0.0, weight_decay: 0.01 },
        Optimizer::Sgd { rate: 0.1, momentum: 0.9, weight_decay: 0.0 },
    ]
}

fn check<T: Real>(optimizer: &Optimizer, count: usize) {
    const STEPS: u64 = 5;
    let gradient = |step: u64| -> Vec<T> { numbers(count, step as u32) };
    let start: Vec<T> = numbers(count, 77);
    let made = run_in_pools(|| {
        let mut parameter = start.clone();
        let (mut first, mut second) = (vec![T::ZERO; count], vec![T::ZERO; count]);
        for step in 1..=STEPS {
            let learned =
                Learned { parameter: &mut parameter, first: &mut first, second: &mut second };
            optimize(learned, &gradient(step), optimizer, step);
        }
        parameter
    });
    let mut expected: Vec<reference::ParameterElement> = start
        .iter()
        .map(|start| reference::ParameterElement {
            parameter: start.widened(),
            ..Default::default()
        })
        .collect();
    for step in 1..=STEPS {
        for (element, gradient) in expected.iter_mut().zip(gradient(step)) {
            *element = reference::optimize(*element, gradient.widened(), optimizer, step);
        }
    }
    let expected: Vec<f64> = expected.iter().map(|element| element.parameter).collect();
    assert_close(&made, &expected, 10.0, &format!("{optimizer:?} of {count}"));
}

#[test]
fn several_steps() {
    for optimizer in optimizers() {
        for count in [0, 1, 7, 1536, 40_000] {
            check::<f32>(&optimizer, count);
            check::<f64>(&optimizer, count);
        }
    }
}

/// torch 2: p = 1, g = 0.5, Adam(lr=0.1), two steps: each moves by nearly lr.
#[test]
fn adam_moves_by_its_rate() {
    let (mut parameter, mut first, mut second) = ([1.0f64], [0.0], [0.0]);
    for step in 1..=2 {
        let learned = Learned { parameter: &mut parameter, first: &mut first, second: &mut second };
        optimize(learned, &[0.5], &Optimizer::Adam(Adam { rate: 0.1, ..Adam::default() }), step);
    }
    assert!((parameter[0] - 0.8).abs() < 1e-8, "{}", parameter[0]);
}

#[test]
fn unused_moments_may_be_empty() {
    let mut parameter = [1.0f32, 2.0];
    let learned = Learned { parameter: &mut parameter, first: &mut [], second: &mut [] };
    optimize(
        learned,
        &[1.0, -1.0],
        &Optimizer::Sgd { rate: 0.5, momentum: 0.0, weight_decay: 0.0 },
        1,
    );
    assert_eq!(parameter, [0.5, 2.5]);
}
