//! operations: golden cases of single operations over edges, as lists of launches, on the device
//! that is asked for.
//!
//! promises  sums, means and extrema with who wins them, dot products, softmax and attention, and
//!           their gradients, on the inputs of the cases: every tensor to the tolerance that
//!           case.json states for its group in f32 and f64, infinities and winners exactly; in the
//!           order of the case and by degree
use std::collections::BTreeSet;

use warploom_ir::{Data, Gir};
use warploom_launch::fuse::fuse;
use warploom_launch::lower::lower;
use warploom_launch::{GraphFacts, LaunchList};
use warploom_optimize::passes::clean;
use warploom_run::{
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_test_support::golden_cases::GoldenCase;
use warploom_test_support::golden_operations::{
    Problem, all_are_compared, compare_winners, group, problems,
};

use crate::golden::Comparison;
use warploom_test_support::list_runner::{
    ListInputs, buffer_values, executor, gpu, is_brief, is_sampled, run_part,
};

/// What a problem reads.
fn direct(Problem { given, .. }: &Problem, reordered: bool) -> ListInputs {
    let world = &given.world;
    let rows = |rows: &Option<warploom_ir::interpret::ElementRows>| {
        rows.as_ref().map_or((0, Vec::new()), |rows| (rows.columns, rows.values.reals()))
    };
    let ((feature_columns, features), (edge_columns, edge_features)) =
        (rows(&world.features), rows(&world.edge_features));
    ListInputs {
        nodes: world.nodes,
        source: world.source.clone(),
        target: world.target.clone(),
        weight: world.weight.clone(),
        feature_columns,
        features,
        edge_columns,
        edge_features,
        reordered,
        ..ListInputs::default()
    }
}

/// The nodes as a list that is applied once.
fn list(gir: &Gir, data: &Data) -> LaunchList {
    let apart =
        lower(&clean(gir.clone(), data).0, data).unwrap_or_else(|refusal| panic!("{refusal}"));
    fuse(&apart, &GraphFacts::from_data(data))
}

/// Compares every result of a problem; their names.
fn compare<T: Precision>(case: &GoldenCase, problem: &Problem, reordered: bool) -> Vec<String> {
    let known = Data {
        inferring: true,
        lanes: gpu().is_some(),
        bytes_per_real: size_of::<T>() as u64,
        ..problem.given.data.clone()
    };
    let (list, direct) = (list(&problem.gir, &known), direct(problem, reordered));
    let mut executor = executor::<T>(&list, direct.data(&list), 0);
    run_part(&mut executor, &list, Part::Finish, Pass { epoch: 0, training: false });
    let mut golden = Comparison::new(case, T::NAME);
    for result in &list.results {
        let got = buffer_values(&executor, &list, &result.buffer).unwrap();
        if result.name.starts_with("arg.") {
            let width = got.len() / direct.source.len();
            compare_winners(case, &result.name, |edge, column| got[edge * width + column] != 0.0);
        } else {
            golden.with(&group(case, &problem.tag, &result.name), &result.name, &got);
        }
    }
    golden.told(&format!(
        "{} of {}{}",
        problem.tag,
        list.program,
        if reordered { ", by degree" } else { "" }
    ));
    list.results.iter().map(|result| result.name.clone()).collect()
}

fn agree(names: &[&str]) {
    // Of a sample only the odd rows, which are behind the tiny ones.
    let first = if is_sampled() { names.len() - 1 } else { 0 };
    for case in names[first..].iter().filter_map(|name| GoldenCase::read(name)) {
        let mut compared = BTreeSet::new();
        for problem in &problems(&case) {
            for reordered in [false, true].into_iter().skip(usize::from(is_brief())) {
                compared.extend(compare::<f32>(&case, problem, reordered));
                if !is_brief() {
                    compare::<f64>(&case, problem, reordered);
                }
            }
        }
        all_are_compared(&case, &compared);
    }
}

#[test]
fn sums_means_and_extrema_agree_with_their_gradients() {
    agree(&["ops_spmm_tiny", "ops_spmm_odd"]);
}

#[test]
fn dot_products_on_edges_agree_with_their_gradients() {
    agree(&["ops_sddmm_tiny", "ops_sddmm_odd"]);
}

#[test]
fn softmax_over_edges_agrees_with_its_gradient() {
    agree(&["ops_segment_softmax_tiny", "ops_segment_softmax_odd"]);
}

#[test]
fn attention_agrees_with_its_gradients() {
    agree(&["ops_attention_tiny", "ops_attention_odd"]);
}
