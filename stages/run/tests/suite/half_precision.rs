//! half_precision: scores and gradients of models with 16-bit rows beside those with 32-bit rows,
//! on the graphs of golden cases.
//!
//! promises  rounding of stored rows changes scores and gradients within its bound, and does change
//!           some: 16-bit rows are used
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_contract::progress::StopFlag;
use warploom_ir::{Data, Half, Loss};
use warploom_launch::{Element, LaunchList, gradient_buffer};
use warploom_run::resolved_program::{Part, Pass};
use warploom_test_support::golden_cases::GoldenCase;

use crate::golden::direct;
use warploom_test_support::list_runner::{
    ListInputs, buffer_values, cpu_executor, separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

const CLASSES: u64 = 4;
const PASS: Pass = Pass { epoch: 0, training: true };

/// The scores and the gradient by all parameters of a step in f32; parameters are drawn from their
/// place.
fn step(direct: &ListInputs, list: &LaunchList) -> (Vec<f64>, Vec<f64>) {
    let list = &separate_buffers(list);
    let mut executor = cpu_executor::<f32>(list, direct.data(list), 0);
    let drawn = |index: usize, fan: u64| {
        ((index as f32 * 12.9898).sin() * 43758.547).fract() / (fan as f32).sqrt()
    };
    let first = |shape: &[u64]| {
        (0..shape.iter().product::<u64>() as usize)
            .map(|index| drawn(index, *shape.last().unwrap_or(&1)))
            .collect()
    };
    let first: Vec<Vec<f32>> =
        list.parameters.iter().map(|parameter| first(&parameter.shape)).collect();
    executor.set_parameters(&first).unwrap();
    for part in [Part::Prepare, Part::Forward, Part::Loss, Part::Backward] {
        executor.run(part, PASS, &StopFlag::new()).unwrap();
    }
    let named = |name: &str| buffer_values(&executor, list, name).unwrap();
    (
        named(&list.results[0].buffer),
        list.parameters
            .iter()
            .flat_map(|parameter| named(&gradient_buffer(&parameter.name)))
            .collect(),
    )
}

/// How far apart two are, of what the first is.
fn apart_by(expected: &[f64], found: &[f64]) -> f64 {
    let size = |values: &mut dyn Iterator<Item = f64>| {
        values.map(|value| value * value).sum::<f64>().sqrt()
    };
    let apart = size(&mut expected.iter().zip(found).map(|(expected, found)| expected - found));
    apart / size(&mut expected.iter().copied()).max(1e-30)
}

#[test]
fn halves_move_scores_and_gradients_by_little() {
    let Some(case) = GoldenCase::read("gat_odd") else { return };
    let direct = direct(&case);
    let classes = direct.labels.iter().map(|label| label % CLASSES as f64).collect();
    let direct = ListInputs { labels: classes, ..direct };
    for (program, width) in [
        ("gcn", 32),
        ("sage", 32),
        ("gin", 32),
        ("gat", 8),
        ("gatv2", 8),
        ("appnp", 32),
        ("gcnii", 32),
        ("graph_transformer", 8),
    ] {
        let settings = BTreeMap::from([("hidden".to_owned(), width.into())]);
        let list = |half: Option<Half>| {
            let data = Data { half, ..direct.known(CLASSES, Loss::CrossEntropy) };
            compile(&program_text(program), program, &settings, &data).unwrap().list
        };
        let expected = step(&direct, &list(None));
        for (half, bound) in [(Half::Bf16, 0.06), (Half::F16, 0.01)] {
            let list = list(Some(half));
            assert!(
                list.buffers.iter().any(|buffer| buffer.element == Element::Half(half)),
                "{program} has rows of {half:?}"
            );
            let found = step(&direct, &list);
            for (what, expected, found) in
                [("scores", &expected.0, &found.0), ("gradient", &expected.1, &found.1)]
            {
                let apart = apart_by(expected, found);
                assert!(apart < bound, "{program} in {half:?}: the {what} {apart} apart");
            }
        }
    }
}
