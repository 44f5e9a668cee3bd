//! golden_lists: lists of launches on the exact inputs of golden cases, without an artifact that
//! rounds them between.
//!
//! promises  in both types and both orders: scores, loss and every gradient before the first step,
//!           losses, scores and parameters after the last. Programs that have a list of their own
//!           are tried by it, in every order of product and sum, and compiled; all others compiled
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_compiler::compile;
use warploom_cpu::optimizer::{Adam, Optimizer};
use warploom_ir::Loss;
use warploom_launch::{LaunchList, gradient_buffer, parameter_buffer};
use warploom_run::{
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_test_support::golden_cases::GoldenCase;
use warploom_test_support::golden_models::{self, ParameterPair};

use crate::golden::{Comparison, direct, initial, twins};
use crate::rounding_sensitivity::Moves;
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, executor, gpu, is_brief, is_sampled, run_part,
    separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

/// The lists of a case's program, each with what it is.
fn lists(case: &GoldenCase, direct: &ListInputs) -> Vec<(String, LaunchList)> {
    let (name, settings) = golden_models::program(case);
    let settings: BTreeMap<String, Value> =
        settings.as_object().unwrap().clone().into_iter().collect();
    let classes = case.number("hyperparameters", "outputs") as u64;
    let loss = if case.is_regression() { Loss::MeanSquares } else { Loss::CrossEntropy };
    let compiled = compile(&program_text(name), name, &settings, &direct.known(classes, loss))
        .unwrap_or_else(|wrong| panic!("{}: {wrong:?}", case.name));
    let mut lists = vec![("compiled".to_owned(), compiled.list)];
    if gpu().is_some() {
        return lists;
    }
    let known = warploom_ir::Data { lanes: true, ..direct.known(classes, loss) };
    let for_lanes = compile(&program_text(name), name, &settings, &known)
        .unwrap_or_else(|wrong| panic!("{}: {wrong:?}", case.name));
    lists.push(("compiled for lanes".to_owned(), for_lanes.list));
    lists
}

/// The optimizer of a case.
pub fn adam(case: &GoldenCase) -> Optimizer {
    let given = |name: &str| case.adam(name);
    let (beta_first, beta_second) = (given("beta1"), given("beta2"));
    Optimizer::Adam(Adam {
        rate: given("lr"),
        beta_first,
        beta_second,
        epsilon: given("eps"),
        weight_decay: given("weight_decay"),
    })
}

/// Everything that a list makes of a case. `moves` is of the case: how far training in f64 moves is
/// the same for every list and order.
fn train<T: Precision>(
    case: &GoldenCase,
    direct: &ListInputs,
    (twins, moves): (&[ParameterPair], &Moves),
    (what, list): (&str, &LaunchList),
) {
    // Scores are looked at after the backward part.
    let list = &separate_buffers(list);
    let mut executor = executor::<T>(list, direct.data(list), 0);
    let first = initial(case, twins);
    let first: Vec<Vec<T>> = list
        .parameters
        .iter()
        .map(|parameter| first[&parameter.name].iter().map(|&value| T::rounded(value)).collect())
        .collect();
    executor.set_parameters(&first).unwrap();
    executor.set_optimizers(vec![adam(case); first.len()]).unwrap();
    let run = |executor: &mut Executor<T>, part: Part, epoch: u64| {
        run_part(executor, list, part, Pass { epoch, training: true })
    };
    let mut golden = Comparison::new(case, T::NAME);
    let mut losses = Vec::new();
    run(&mut executor, Part::Prepare, 0);
    for epoch in 0..=case.steps() {
        run(&mut executor, Part::Forward, epoch);
        run(&mut executor, Part::Loss, epoch);
        losses.push(executor.host().loss);
        run(&mut executor, Part::Backward, epoch);
        if epoch == 0 {
            first_step(&mut golden, case, twins, (list, &executor));
        }
        if epoch < case.steps() {
            run(&mut executor, Part::Update, epoch);
        }
    }
    golden.with_losses(&losses);
    golden.with(
        "final",
        "final.out",
        &buffer_values(&executor, list, &list.results[0].buffer).unwrap(),
    );
    for twin in twins {
        golden.with_final(
            twin,
            &buffer_values(&executor, list, &parameter_buffer(&twin.ours)).unwrap(),
            moves,
        );
    }
    golden.told(&format!("{what} list{}", if direct.reordered { ", by degree" } else { "" }));
}

fn first_step<T: Precision>(
    golden: &mut Comparison,
    case: &GoldenCase,
    twins: &[ParameterPair],
    (list, executor): (&LaunchList, &Executor<T>),
) {
    golden.with("forward", "out", &buffer_values(executor, list, &list.results[0].buffer).unwrap());
    golden.with("loss", "loss", &[executor.host().loss]);
    for hidden in case.names("hidden.") {
        // Where the next layer sums first, gcn stores its input scaled; a compiled list names
        // values its own way.
        if let Some(got) = buffer_values(executor, list, &format!("h.{hidden}")) {
            golden.with("forward", &format!("hidden.{hidden}"), &got);
        }
    }
    for twin in twins {
        golden.with_parameter(
            "gradient",
            twin,
            &buffer_values(executor, list, &gradient_buffer(&twin.ours)).unwrap(),
        );
    }
}

fn exactly(names: &[&str]) {
    exactly_as(names, false);
}

/// With features as they are given, or as what of them is not 0.
fn exactly_as(names: &[&str], is_sparse: bool) {
    // Of a sample each model has its last case, which has most: odd rows, weights, bases, features
    // of edges.
    let model = |name: &str| name.split('_').next().map(str::to_owned);
    let is_last = |at: usize| names.get(at + 1).is_none_or(|next| model(next) != model(names[at]));
    let names = (0..names.len()).filter(|at| !is_sampled() || is_last(*at)).map(|at| names[at]);
    for case in names.filter_map(GoldenCase::read) {
        let twins = twins(&case);
        let given = ListInputs { reordered: false, is_sparse, ..direct(&case) };
        let (_, list) = &lists(&case, &given)[0];
        let moves = Moves::new(&case, &twins, (&given, list));
        for reordered in [false, true].into_iter().skip(usize::from(is_brief())) {
            let direct = ListInputs { reordered, is_sparse, ..direct(&case) };
            for (what, list) in &lists(&case, &direct) {
                if !is_brief() {
                    train::<f64>(&case, &direct, (&twins, &moves), (what, list));
                }
                train::<f32>(&case, &direct, (&twins, &moves), (what, list));
            }
        }
    }
}

#[test]
fn gcn_and_sage_agree() {
    exactly(&[
        "gcn_tiny",
        "gcn_odd",
        "gcn_odd_weighted",
        "sage_tiny",
        "sage_odd",
        "sage_odd_regression",
    ]);
}

#[test]
fn programs_of_sparse_features_agree() {
    exactly_as(&["gcn_odd_weighted", "sage_odd", "gat_odd"], true);
}

/// Through the stages `golden` has them, on whatever device is taken there.
#[test]
fn gcn_of_a_citation_graph_agrees() {
    exactly_as(&["gcn_planetoid"], true);
}

#[test]
fn gat_of_a_citation_graph_agrees() {
    // Of a sample `gcn` has such a graph, and `gat` sparse features of another.
    if is_sampled() {
        return;
    }
    exactly_as(&["gat_planetoid"], true);
}

#[test]
fn gin_and_appnp_agree() {
    exactly(&["gin_tiny", "gin_odd", "appnp_tiny", "appnp_odd", "appnp_odd_weighted"]);
}

#[test]
fn gat_and_gatv2_agree() {
    exactly(&["gat_tiny", "gat_odd", "gatv2_tiny", "gatv2_odd"]);
}

#[test]
fn rgcn_agrees() {
    exactly(&["rgcn_hetero", "rgcn_hetero_bases"]);
}

#[test]
fn graph_transformer_agrees() {
    exactly(&["transformer_tiny", "transformer_odd", "transformer_odd_edges"]);
}

#[test]
fn gin_of_many_graphs_agrees() {
    exactly(&["gin_batch"]);
}

/// What goes through the stages elsewhere (`analytics`, and tests of `reorder`).
const OF_STAGES: [&str; 2] = ["analytics_", "orders_"];

#[test]
fn every_golden_case_is_tried_as_a_list_or_named() {
    let tried = [include_str!("golden_lists.rs"), include_str!("operations.rs")];
    let others: Vec<String> = warploom_test_support::golden_cases::names()
        .into_iter()
        .filter(|name| !OF_STAGES.iter().any(|of| name.starts_with(of)))
        .collect();
    let forgotten: Vec<&String> = others
        .iter()
        .filter(|name| !tried.iter().any(|text| text.contains(&format!("\"{name}\""))))
        .collect();
    assert!(
        forgotten.is_empty() && others.len() >= 10,
        "{forgotten:?} of {others:?} are not tried as lists of launches"
    );
}
