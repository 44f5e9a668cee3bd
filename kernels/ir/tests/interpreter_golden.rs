//! interpreter_golden: single operations (`golden_operations`) and analytics, made node by node and
//! interpreted, against numbers that other software made in f64.
//!
//! promises  every tensor of a case is compared, gradients as the formulas of case.json written as
//!           nodes, to the tolerance that case.json states for it; infinities must be the same
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside
//!           the workspace) and skipped with a line when that is absent

use std::collections::BTreeSet;

use warploom_ir::interpret::Interpreter;
use warploom_ir::{
    Binary, Builder, EdgeSet, Input, NodeId, Number, Op, Output, Pooling, Reduction, StopTest, Type,
};
use warploom_test_support::golden_cases::GoldenCase;
use warploom_test_support::golden_operations::{
    CaseInputs, Problem, all_are_compared, compare_winners, group, problems,
};

/// Every tensor of these cases, by the interpreter.
fn agree(names: &[&str]) {
    for case in names.iter().filter_map(|name| GoldenCase::read(name)) {
        let mut compared = BTreeSet::new();
        for Problem { given, tag, gir } in problems(&case) {
            let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
            interpreter.run(0);
            for Output { name, node, .. } in &gir.results {
                let rows = interpreter.value(*node).unwrap();
                if name.starts_with("arg.") {
                    compare_winners(&case, name, |edge, column| rows.at(edge, column).holds());
                } else {
                    case.compare(name, &rows.values.reals(), &group(&case, &tag, name));
                }
                assert!(compared.insert(name.clone()), "{}: {name} is made twice", case.name);
            }
        }
        all_are_compared(&case, &compared);
    }
}

#[test]
fn sums_means_and_extrema_over_edges_agree_with_their_gradients() {
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

/// A loop with one state of vertices. `pass` makes its next value of the current one.
fn repeat(
    builder: &mut Builder,
    name: &str,
    first: NodeId,
    until: StopTest,
    pass: impl FnOnce(&mut Builder, NodeId) -> NodeId,
) {
    let first = builder.broadcast_to_vertices(first).unwrap();
    let (number, inside) = builder.begin_loop(&[(name.to_owned(), first)]);
    let next = pass(builder, inside[0]);
    let ended = builder.end_loop(number, &[next], until).unwrap();
    builder.gir.results.push(Output { name: name.to_owned(), node: ended[0], edges: None });
}

fn pagerank(builder: &mut Builder, spread: bool) {
    let nodes = builder.data.nodes as f64;
    let first = builder.real(1.0 / nodes);
    repeat(builder, "rank", first, StopTest::ChangeAtMost(0, 1e-15), |builder, rank| {
        let degree = builder.make(Op::Input(Input::Degree(EdgeSet::OUT)), &[]).unwrap();
        let share = builder.divide(rank, degree).unwrap();
        let share = builder.make(Op::Far(EdgeSet::IN), &[share]).unwrap();
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, share, None).unwrap();
        let (damping, base) = (builder.real(0.85), builder.real(0.15 / nodes));
        let kept = builder.multiply(damping, sum).unwrap();
        let next = builder.add(base, kept).unwrap();
        if !spread {
            return next;
        }
        let (none, zero) = (builder.constant(Number::Int(0)), builder.real(0.0));
        let dangling = builder.binary(Binary::Equal, degree, none).unwrap();
        let lost = builder.select(dangling, rank, zero).unwrap();
        let lost = builder.make(Op::Pool(Pooling::Sum), &[lost]).unwrap();
        let each = builder.real(0.85 / nodes);
        let lost = builder.multiply(each, lost).unwrap();
        builder.add(next, lost).unwrap()
    });
}

#[test]
fn pagerank_agrees_after_each_number_of_supersteps_and_converged() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        let given = CaseInputs::new(&case, &[], &[]);
        for (variant, spread) in [("pagerank.ignored", false), ("pagerank.spread", true)] {
            let mut builder = Builder::new("pagerank", &given.data);
            pagerank(&mut builder, spread);
            let gir = builder.gir;
            let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
            let tags = case.names(&format!("{variant}."));
            assert!(tags.len() >= 4, "{name}: {tags:?}");
            for tag in tags {
                let supersteps = tag.parse::<u64>();
                let ending = interpreter.run(supersteps.clone().unwrap_or(10_000))[0].unwrap();
                match supersteps {
                    Ok(supersteps) => assert!(
                        ending.supersteps == supersteps || ending.converged,
                        "{name}: {ending:?}"
                    ),
                    Err(_) => assert!(ending.converged, "{name}: {variant} did not converge"),
                }
                case.compare(
                    &format!("{variant}.{tag}"),
                    &interpreter.result("rank").unwrap().values.reals(),
                    variant,
                );
            }
        }
    }
}

#[test]
fn components_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        let given = CaseInputs::new(&case, &[], &[]);
        let mut builder = Builder::new("components", &given.data);
        let id = builder.make(Op::Input(Input::Id), &[]).unwrap();
        repeat(&mut builder, "label", id, StopTest::Unchanged(vec![0]), |builder, label| {
            let seen = builder.make(Op::Far(EdgeSet::BOTH), &[label]).unwrap();
            let smallest = builder.reduce(Reduction::Minimum, EdgeSet::BOTH, seen, None).unwrap();
            builder.binary(Binary::Minimum, label, smallest).unwrap()
        });
        let gir = builder.gir;
        let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
        assert!(interpreter.run(given.data.nodes + 1)[0].unwrap().converged);
        assert_eq!(
            interpreter.result("label").unwrap().values.reals(),
            case.tensor("components.weak").values,
            "{name}"
        );
    }
}

#[test]
fn shortest_paths_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        let given = CaseInputs::new(&case, &[], &[]);
        let mut found = Vec::new();
        for start in case.ids("distance.source") {
            let mut builder = Builder::new("sssp", &given.data);
            let [zero, endless] = [0.0, f64::INFINITY].map(|number| builder.real(number));
            let (id, start) = (
                builder.make(Op::Input(Input::Id), &[]).unwrap(),
                builder.constant(Number::Int(start.into())),
            );
            let start = builder.cast(Type::Id, start).unwrap();
            let here = builder.binary(Binary::Equal, id, start).unwrap();
            let first = builder.select(here, zero, endless).unwrap();
            repeat(
                &mut builder,
                "distance",
                first,
                StopTest::Unchanged(vec![0]),
                |builder, distance| {
                    let (seen, weight) = (
                        builder.make(Op::Far(EdgeSet::IN), &[distance]).unwrap(),
                        builder.make(Op::Input(Input::Weight), &[]).unwrap(),
                    );
                    let path = builder.add(seen, weight).unwrap();
                    let shortest =
                        builder.reduce(Reduction::Minimum, EdgeSet::IN, path, None).unwrap();
                    builder.binary(Binary::Minimum, distance, shortest).unwrap()
                },
            );
            let gir = builder.gir;
            let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
            assert!(interpreter.run(given.data.nodes + 1)[0].unwrap().converged);
            found.extend(interpreter.result("distance").unwrap().values.reals());
        }
        case.compare("sssp.distance", &found, "sssp");
    }
}
