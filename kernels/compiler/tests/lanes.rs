//! lanes: lists whose rows are done by groups of lanes mean what lists for the CPU mean.
//!
//! promises  the reference executor gives the same scores, loss and gradients for both, to 1e-12,
//!           for every training program of the library and for random programs, dropout drawn and
//!           not; where the two lists differ in nothing, that is said Rows of the data set that are
//!           summed before the first epoch lie nowhere a second time, and give what single launches
//!           give
//! never     looks at kernels (`emission` does)
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_ir::interpret::{ElementRows as Matrix, World};
use warploom_ir::{Data, Gir};
use warploom_launch::fuse::fuse;
use warploom_launch::lower::lower;
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{Buffer, Dropout, GraphFacts, LaunchList, Role, Rows, gradient_buffer};
use warploom_optimize::autodiff::{differentiate, parameters};
use warploom_optimize::passes::clean;
use warploom_test_support::draws::Draws;
use warploom_test_support::golden_cases::Edges;
use warploom_test_support::graphs::random_graph;
use warploom_test_support::random_programs::{SMALL, random_program};
use warploom_test_support::skips::is_long;

use warploom_test_support::library_programs::{MODELS, problem, text};

fn programs() -> u64 {
    if is_long() { 10_000 } else { 300 }
}

fn draw(dropout: Dropout, row: u64, column: u64) -> f64 {
    let chance =
        (Draws::new(u64::from(dropout.site) << 40 | row << 20 | column).real() + 1.0) / 2.0;
    if chance < dropout.probability { 0.0 } else { 1.0 / (1.0 - dropout.probability) }
}

fn inputs(world: &World, list: &LaunchList) -> Inputs {
    let reals =
        |rows: &Option<Matrix>| rows.as_ref().map_or_else(Vec::new, |rows| rows.values.reals());
    let first = |(index, count): (usize, u64)| {
        let mut draws = Draws::new(index as u64);
        (0..count).map(|_| draws.real()).collect::<Vec<f64>>()
    };
    let parameters = list.parameters.iter().enumerate().map(|(index, parameter)| {
        (parameter.name.clone(), first((index, parameter.shape.iter().product())))
    });
    Inputs {
        features: reals(&world.features),
        target: reals(&world.targets),
        training_rows: world.training_rows.clone(),
        parameters: parameters.collect(),
        artifact_rows: world.artifact_rows.clone(),
        edge_type: world.edge_type.clone(),
        chosen: world.chosen.clone(),
        edge_features: reals(&world.edge_features),
        columns: world
            .columns
            .iter()
            .map(|(name, rows)| (name.clone(), rows.values.reals()))
            .collect(),
        graph_of_node: world.graph_of_node.clone(),
        kind_of_node: world.kind_of_node.clone(),
        features_of_kind: world
            .features_of_kind
            .iter()
            .map(|(kind, rows)| (*kind, rows.values.reals()))
            .collect(),
    }
}

/// Loss, results and gradients of one epoch.
fn given(list: &LaunchList, world: &World, draws: bool) -> Vec<(String, Vec<f64>)> {
    let graph = ReferenceGraph {
        nodes: world.nodes as u64,
        source: world.source.clone(),
        target: world.target.clone(),
        weight: world.weight.clone(),
    };
    let mut run = Reference::new(list, &graph, inputs(world, list))
        .unwrap_or_else(|error| panic!("{error}\n{}", list.render()));
    run.set_draw(draws.then(|| Box::new(draw) as _));
    run.prepare();
    run.forward();
    let loss = run.loss();
    run.backward();
    let results = list
        .results
        .iter()
        .map(|result| (format!("result {}", result.name), result.buffer.clone()));
    let learned = list
        .parameters
        .iter()
        .filter(|parameter| parameter.learned)
        .map(|parameter| gradient_buffer(&parameter.name));
    let gradients =
        learned.filter(|buffer| run.get(buffer).is_some()).map(|buffer| (buffer.clone(), buffer));
    let found =
        results.chain(gradients).map(|(what, buffer)| (what, run.get(&buffer).unwrap().to_vec()));
    [("loss".to_owned(), vec![loss])].into_iter().chain(found).collect()
}

fn same(what: &str, [plain, lanes]: [&LaunchList; 2], world: &World) {
    for draws in [true, false] {
        for ((name, expected), (_, found)) in
            given(plain, world, draws).iter().zip(&given(lanes, world, draws))
        {
            assert_eq!(expected.len(), found.len(), "{what}: {name}");
            let largest = expected
                .iter()
                .filter(|value| value.is_finite())
                .fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let near = |a: f64, b: f64| {
                a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * largest.max(1.0)
            };
            let apart = expected.iter().zip(found).position(|(a, b)| !near(*a, *b));
            let page = || format!("without\n{}\nwith\n{}", plain.render(), lanes.render());
            assert!(
                apart.is_none(),
                "{what}, draws {draws}: {name}[{apart:?}] is {found:?}, without lanes \
                    {expected:?}\n{}",
                page()
            );
        }
    }
}

/// Small rows, heads where there are any, and dropout.
pub fn settings(name: &str) -> Value {
    match name {
        "gat" | "gatv2" | "graph_transformer" => {
            json!({"hidden": 8, "heads": 2, "drop": 0.5, "drop_shares": 0.3})
        }
        "sgc" => json!({}),
        "gcnii" | "gin" => json!({"hidden": 8, "layers": 3, "drop": 0.5}),
        "sage_max" => json!({"hidden": 8, "pool": 5, "drop": 0.5}),
        _ => json!({"hidden": 8, "drop": 0.5}),
    }
}

fn graphs() -> Vec<Edges> {
    [(1, 0), (1, 2), (7, 0), (33, 70), (20, 150)]
        .map(|(nodes, count)| Edges::from(&random_graph(nodes as u64, nodes, count)))
        .to_vec()
}

#[test]
fn the_library_means_the_same_for_lanes() {
    let mut others = Vec::new();
    for name in MODELS {
        for edges in graphs() {
            let (mut data, mut world) = problem(&edges, 6, 3);
            data.relations = vec!["cites".into(), "knows".into()];
            world.edge_type = (0..edges.source.len() as u32).map(|edge| edge % 2).collect();
            let given: BTreeMap<String, Value> =
                settings(name).as_object().unwrap().clone().into_iter().collect();
            let list = |lanes: bool| {
                warploom_compiler::compile(
                    &text(name),
                    name,
                    &given,
                    &Data { lanes, ..data.clone() },
                )
                .unwrap()
                .list
            };
            let (plain, lanes) = (list(false), list(true));
            assert_eq!(lanes.validate(), Ok(()), "{name}");
            same(name, [&plain, &lanes], &world);
            if plain.body != lanes.body {
                others.push(name);
            }
        }
    }
    others.dedup();
    assert!(others.len() > 8, "lanes change the lists of {others:?} alone");
}

#[test]
fn rows_of_the_data_set_are_not_written_anew_to_be_summed_once() {
    const FEATURES: u64 = 12;
    for name in ["gcn", "sage"] {
        for edges in graphs() {
            let (data, world) = problem(&edges, FEATURES, 3);
            let settings: BTreeMap<String, Value> =
                [("hidden".to_owned(), json!(8)), ("drop".to_owned(), json!(0.0))].into();
            for lanes in [false, true] {
                let compiled = warploom_compiler::compile(
                    &text(name),
                    name,
                    &settings,
                    &Data { lanes, ..data.clone() },
                )
                .unwrap();
                assert_eq!(compiled.list.validate(), Ok(()), "{name}");
                same(name, [&compiled.apart, &compiled.list], &world);
                let made = |buffer: &&Buffer| {
                    buffer.role == Role::Value
                        && buffer.rows == Rows::Nodes
                        && buffer.columns == FEATURES
                };
                assert_eq!(
                    compiled.list.buffers.iter().filter(made).count(),
                    1,
                    "{name}\n{}",
                    compiled.list.render()
                );
            }
        }
    }
}

/// Rows that are summed in another shape than they were multiplied in.
const RESHAPED: &str = "def reshaped(v):
    v.y = v.x * rsqrt(v.indegree + 1)
    v.a = reshape(v.x, (12, 1))
    v.b = reshape(v.x, (1, 12))
    v.c = reshape(v.y, (12, 1))
    v.d = reshape(v.x * sqrt(v.indegree + 1), (4, 3))
    v.s = sum(exp(e.src.a - e.dst.b) * e.src.c for e in v.inedges)
    v.h = reshape(sum(u.d for u in v.innbs), (12,))
    return linear(reshape(v.s, (144,)), v.classes) + linear(v.h, v.classes)
";

#[test]
fn rows_that_are_summed_in_another_shape_are_as_they_were() {
    for edges in graphs() {
        let (data, world) = problem(&edges, 12, 3);
        for lanes in [false, true] {
            let compiled = warploom_compiler::compile(
                RESHAPED,
                "reshaped",
                &BTreeMap::new(),
                &Data { lanes, ..data.clone() },
            )
            .unwrap();
            assert_eq!(compiled.list.validate(), Ok(()));
            same("reshaped", [&compiled.apart, &compiled.list], &world);
        }
    }
}

fn fused(gir: &Gir, data: &Data) -> Option<LaunchList> {
    Some(fuse(&lower(gir, data).ok()?, &GraphFacts::from_data(data)))
}

#[test]
fn random_programs_mean_the_same_for_lanes() {
    let (mut compared, mut different) = (0, 0);
    for seed in 0..programs() {
        let mut case = random_program(seed, 1 + (seed % 24) as usize, true, SMALL);
        if case.gir.loss.is_none() {
            continue;
        }
        case.data.kinds[0].sparse_features =
            (seed % 3 == 0).then_some(case.data.kinds[0].nodes * 3);
        let data = Data { training: true, ..case.data.clone() };
        let Ok(slopes) = differentiate(case.gir.clone(), &data, &parameters(&case.gir)) else {
            continue;
        };
        let gir = clean(slopes, &data).0;
        let (Some(plain), Some(lanes)) =
            (fused(&gir, &data), fused(&gir, &Data { lanes: true, ..data.clone() }))
        else {
            continue;
        };
        assert_eq!(lanes.validate(), Ok(()), "program {seed}");
        same(&format!("program {seed}"), [&plain, &lanes], &case.world);
        compared += 1;
        different += u64::from(plain.body != lanes.body);
    }
    assert!(
        compared > programs() / 4 && different > compared / 4,
        "{compared} compared, {different} of them with another list"
    );
}
