//! losses: each loss and its gradient, against the reference.
//!
//! promises  rows of few and of many classes and labels, of more rows than all threads of a device
//!           take at once, some of which are not learned by; labels that are unknown or between 0
//!           and 1; scores that are infinite or NaN
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_cuda::Matmul;
use warploom_ir::{Data, Loss};
use warploom_launch::Operation;
use warploom_run::resolved_program::{Part, Pass};

use crate::widths::trained;
use warploom_test_support::graph_inputs::{random, signed, uniform};
use warploom_test_support::list_runner::{
    ListInputs, buffer_values, executor_with_matmul, gpu, is_brief, run_part, sampled_cases,
};

const SCORES: &str = "def scores(v):
    return linear(v.x, v.classes)
";

/// Rows that a block of the loss's kernel has at once, at least: 256 threads, of which as many have
/// a row as hold its columns by eights.
fn rows_of_block(columns: usize) -> usize {
    256 / columns.div_ceil(8).next_power_of_two().min(32)
}

fn direct(nodes: usize, columns: usize, loss: Loss) -> ListInputs {
    let (source, target) = random("losses", nodes, nodes, 3).edges.into_iter().unzip();
    let class = |node: usize| (uniform(3, node) * columns as f64).floor();
    // A tenth of the labels is not known, and some are neither 0 nor 1.
    let label = |at: usize| match uniform(5, at) {
        chance if chance < 0.1 => f64::NAN,
        chance if chance < 0.2 => uniform(6, at),
        _ => f64::from(uniform(6, at) < 0.3),
    };
    let labels = match loss {
        Loss::CrossEntropy => (0..nodes).map(class).collect(),
        Loss::Binary => (0..nodes * columns).map(label).collect(),
        Loss::MeanSquares => signed(4, nodes * columns),
    };
    // So large that powers are far from 1, on both sides.
    let features = signed(1, nodes * 3).into_iter().map(|value| 12.0 * value).collect();
    let training_rows = (0..nodes as u32).filter(|row| row % 3 != 1).collect();
    ListInputs {
        nodes,
        source,
        target,
        feature_columns: 3,
        features,
        labels,
        training_rows,
        ..ListInputs::default()
    }
}

fn agree(loss: Loss, columns: usize) {
    let processors =
        gpu().and_then(|facts| facts.grid.as_ref()).map_or(2, |grid| grid.processors as usize);
    for nodes in sampled_cases(&[1, 61, 77 + 9 * processors * rows_of_block(columns)]) {
        let direct = direct(nodes, columns, loss);
        let known = Data { lanes: true, ..direct.known(columns as u64, loss) };
        let list = compile(SCORES, "scores", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        let what = format!("{loss:?} of {columns} columns, {nodes} rows");
        trained::<f32>(&what, &direct, &list);
        if !is_brief() {
            trained::<f64>(&what, &direct, &list);
        }
    }
}

#[test]
fn classes_agree() {
    for columns in if is_brief() { &[3, 22, 257][..] } else { &[2, 3, 7, 22, 64, 121, 257] } {
        agree(Loss::CrossEntropy, *columns);
    }
}

#[test]
fn labels_agree() {
    for columns in if is_brief() { &[3, 121][..] } else { &[1, 3, 8, 121, 260] } {
        agree(Loss::Binary, *columns);
    }
}

#[test]
fn numbers_agree() {
    for columns in [1, 5] {
        agree(Loss::MeanSquares, columns);
    }
}

/// Scores as they are given, and something to learn beside them.
const GIVEN: &str = "def given(v):
    return v.x + bias()
";

/// A row has no gradient that is a number where its largest score is infinite or a score is no
/// number; other rows have theirs.
#[test]
fn rows_of_infinite_scores_have_no_gradient() {
    // As many as lanes hold, and more.
    for columns in [2, 22, 300] {
        let nodes = 5;
        let mut features = signed(7, nodes * columns);
        features[columns] = f64::INFINITY;
        features[2 * columns + 1] = f64::NAN;
        features[3 * columns + 1] = f64::NEG_INFINITY;
        let direct = ListInputs {
            features,
            feature_columns: columns,
            labels: vec![1.0, 1.0, 0.0, 0.0, 1.0],
            ..direct(nodes, columns, Loss::CrossEntropy)
        };
        let direct = ListInputs { training_rows: (0..nodes as u32).collect(), ..direct };
        let known = Data { lanes: true, ..direct.known(columns as u64, Loss::CrossEntropy) };
        let list = compile(GIVEN, "given", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        let mut executor = executor_with_matmul::<f32>(&list, direct.data(&list), (0, Matmul::F32));
        executor.set_parameters(&[vec![0.0; columns]]).unwrap();
        for part in [Part::Prepare, Part::Forward, Part::Loss] {
            run_part(&mut executor, &list, part, Pass { epoch: 0, training: true });
        }
        let gradient = |launch: &&warploom_launch::Launch| {
            if let Operation::Loss { gradient, .. } = &launch.operation {
                Some(gradient.clone())
            } else {
                None
            }
        };
        let name = list.launches().iter().find_map(gradient).unwrap();
        let found = buffer_values(&executor, &list, &name).unwrap();
        for (row, is_number) in [true, false, false, true, true].into_iter().enumerate() {
            for (column, value) in found[row * columns..][..columns].iter().enumerate() {
                assert_eq!(
                    value.is_finite(),
                    is_number,
                    "row {row} of {columns} classes: {value} for class {column}"
                );
            }
        }
    }
}
