//! golden: the shipped programs, as launch lists run by the reference, against numbers that other
//! software made in f64.
//!
//! promises  every tensor that a launch list makes is compared, to the tolerance that case.json
//!           states for it
//! never     compares `grad.x` and `grad.graph.weight`: a launch list makes no gradient for
//!           features or weights of edges
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside
//!           the workspace) and skipped with a line when that is absent

use std::path::Path;

use serde_json::Value;
use warploom_ir::Loss;
use warploom_ir::interpret::Adam;
use warploom_launch::builtin::{self, Builtin, LayerOrder};
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{Body, GraphFacts, LaunchList, gradient_buffer, parameter_buffer};
use warploom_test_support::golden_cases::{Edges, GoldenCase};
use warploom_test_support::golden_models::{self, ParameterPair};

/// Edges as the reference takes them.
fn graph(edges: Edges) -> ReferenceGraph {
    ReferenceGraph {
        nodes: edges.nodes as u64,
        source: edges.source,
        target: edges.target,
        weight: edges.weight,
    }
}

/// A program by its text in `pipelines/programs`, as a user's run finds it.
fn shipped(name: &str) -> &'static Builtin {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../pipelines/programs/{name}.py"));
    builtin::find(&std::fs::read_to_string(path).unwrap(), name).unwrap()
}

fn is_symmetric(graph: &ReferenceGraph) -> bool {
    let edges = || graph.source.iter().copied().zip(graph.target.iter().copied());
    let mut forward: Vec<(u32, u32)> = edges().collect();
    let mut backward: Vec<(u32, u32)> = edges().map(|(source, target)| (target, source)).collect();
    forward.sort_unstable();
    backward.sort_unstable();
    forward == backward
}

fn model(name: &str, order: LayerOrder) {
    let Some(case) = GoldenCase::read(name) else { return };
    let model = case.text["model"].as_str().unwrap();
    let graph = graph(golden_models::edges(&case));
    let (features, sparse_features) = case.features();
    let hyper = &case.text["hyperparameters"];
    let facts = GraphFacts {
        nodes: graph.nodes,
        edges: graph.source.len() as u64,
        feature_columns: features.shape[1] as u64,
        sparse_features,
        classes: hyper["outputs"].as_u64().unwrap(),
        weighted: graph.weight.is_some(),
        symmetric: is_symmetric(&graph),
        training: true,
        loss: if case.is_regression() { Loss::MeanSquares } else { Loss::CrossEntropy },
        bytes_per_real: 8,
        half: None,
        lanes: false,
    };
    let settings =
        golden_models::program(&case).1.as_object().unwrap().clone().into_iter().collect();
    let builtin = shipped(model);
    let list = builtin.build_in_order(&settings, &facts, order).unwrap();
    let names = golden_models::twins(&case);
    assert_eq!(names.len(), list.parameters.len(), "{name}: parameters");
    let initial = names.iter().map(|twin| {
        (twin.ours.clone(), twin.part.of(case.tensor(&format!("param.{}", twin.theirs))))
    });
    let inputs = Inputs {
        features: features.values,
        target: case.tensor("y").values.clone(),
        training_rows: case.ids("train"),
        parameters: initial.collect(),
        ..Inputs::default()
    };
    let mut reference = Reference::new(&list, &graph, inputs).unwrap();
    first_step(&case, &list, &mut reference, &names);
    training(&case, &list, &mut reference, &names);
}

fn first_step(
    case: &GoldenCase,
    list: &LaunchList,
    reference: &mut Reference,
    names: &[ParameterPair],
) {
    reference.prepare();
    reference.forward();
    let loss = reference.loss();
    reference.backward();
    case.compare("out", reference.get(&list.results[0].buffer).unwrap(), "forward");
    for hidden in case.names("hidden.").iter().map(|layer| format!("hidden.{layer}")) {
        let buffer = hidden.replace("hidden", "h");
        // Where the next layer sums first, gcn stores its input scaled: nothing to compare.
        match reference.get(&buffer) {
            Some(got) => case.compare(&hidden, got, "forward"),
            None => assert!(
                reference.get(&format!("{buffer}.scaled")).is_some(),
                "{}: no buffer {buffer}",
                case.name
            ),
        }
    }
    case.compare("loss", &[loss], "loss");
    for ParameterPair { ours, theirs, .. } in names {
        let got = reference.get(&gradient_buffer(ours)).unwrap();
        case.compare(&format!("grad.{theirs}"), got, "gradient");
    }
}

fn training(
    case: &GoldenCase,
    list: &LaunchList,
    reference: &mut Reference,
    names: &[ParameterPair],
) {
    let given = |name: &str| case.adam(name);
    let adam = Adam {
        learning_rate: given("lr"),
        beta1: given("beta1"),
        beta2: given("beta2"),
        epsilon: given("eps"),
        weight_decay: given("weight_decay"),
    };
    let mut losses = Vec::new();
    for _ in 0..case.steps() {
        reference.forward();
        losses.push(reference.loss());
        reference.backward();
        reference.update(&adam);
    }
    reference.forward();
    losses.push(reference.loss());
    case.compare("adam.losses", &losses, "adam_losses");
    case.compare("final.out", reference.get(&list.results[0].buffer).unwrap(), "final");
    for ParameterPair { ours, theirs, .. } in names {
        let got = reference.get(&parameter_buffer(ours)).unwrap();
        case.compare(&format!("final.{theirs}"), got, "final");
    }
}

#[test]
fn gcn_agrees_on_every_case_in_every_order() {
    for order in [LayerOrder::Cheapest, LayerOrder::ProductFirst, LayerOrder::SumFirst] {
        for name in ["gcn_tiny", "gcn_odd", "gcn_odd_weighted"] {
            model(name, order);
        }
    }
}

#[test]
fn gcn_agrees_on_a_citation_graph_with_sparse_features() {
    model("gcn_planetoid", LayerOrder::Cheapest);
}

#[test]
fn sage_agrees_on_every_case_in_every_order() {
    for order in [LayerOrder::Cheapest, LayerOrder::ProductFirst, LayerOrder::SumFirst] {
        for name in ["sage_tiny", "sage_odd", "sage_odd_regression"] {
            model(name, order);
        }
    }
}

fn analytics_facts(graph: &ReferenceGraph) -> GraphFacts {
    GraphFacts {
        nodes: graph.nodes,
        edges: graph.source.len() as u64,
        feature_columns: 0,
        sparse_features: None,
        classes: 0,
        weighted: false,
        symmetric: is_symmetric(graph),
        training: false,
        loss: Loss::CrossEntropy,
        bytes_per_real: 8,
        half: None,
        lanes: false,
    }
}

fn analytics_list(program: &str, graph: &ReferenceGraph, settings: &[(&str, Value)]) -> LaunchList {
    let builtin = shipped(program);
    let settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let list = builtin.build(&settings, &analytics_facts(graph)).unwrap();
    assert!(matches!(list.body, Body::Iterate(_)));
    list
}

fn pagerank(name: &str) {
    let Some(case) = GoldenCase::read(name) else { return };
    let graph = graph(case.edges(false));
    let list = analytics_list("pagerank", &graph, &[("tolerance", Value::from(1e-15))]);
    let mut compared = 0;
    for steps in case.names("pagerank.ignored.") {
        let mut reference = Reference::new(&list, &graph, Inputs::default()).unwrap();
        reference.prepare();
        match steps.parse::<u64>() {
            Ok(supersteps) => (0..supersteps).for_each(|_| {
                reference.superstep();
            }),
            Err(_) => assert!(reference.iterate(10_000).converged, "{name}: {steps}"),
        }
        case.compare(
            &format!("pagerank.ignored.{steps}"),
            reference.get("rank").unwrap(),
            "pagerank.ignored",
        );
        compared += 1;
    }
    assert!(compared >= 4, "{name}: {compared} rank vectors");
}

fn components(name: &str) {
    let Some(case) = GoldenCase::read(name) else { return };
    let graph = graph(case.edges(false));
    let list = analytics_list("components", &graph, &[]);
    let mut reference = Reference::new(&list, &graph, Inputs::default()).unwrap();
    reference.prepare();
    assert!(reference.iterate(graph.nodes + 1).converged);
    let got = reference.get("label").unwrap();
    assert_eq!(got, case.tensor("components.weak").values, "{name}: smallest id of each component");
    let mut labels = got.to_vec();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    assert_eq!(
        labels.len() as u64,
        case.text["values"]["components.weak"].as_u64().unwrap(),
        "{name}: components"
    );
}

#[test]
fn pagerank_agrees_after_each_number_of_supersteps_and_converged() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        pagerank(name);
    }
}

#[test]
fn components_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        components(name);
    }
}
