//! golden: every model of the library against its golden cases, in f64: forward, loss, gradients by
//! parameters, features, weights and features of edges, twenty steps of Adam; and the analytics
//! against theirs.
//!
//! promises  the tolerance is that of case.json; what a case has and no test reads is an error
use std::collections::BTreeSet;

use serde_json::json;
use warploom_ir::interpret::{Adam, ElementRows, Interpreter, World};
use warploom_ir::{Data, Loss, Place, Target};
use warploom_test_support::golden_cases::{Edges, GoldenCase};
use warploom_test_support::golden_models::{self, ParameterPair};

use warploom_test_support::skips::is_long;

use warploom_test_support::library_programs::{
    By, Compiled, ROUTES, Route, bare, compile, compile_by,
};

/// What a case says of its data set, and the data.
fn world(case: &GoldenCase, edges: &Edges) -> (Data, World) {
    let (mut data, mut world) = bare(edges);
    let (features, nonzeros) = case.features();
    data.features = Some(features.shape[1] as u64);
    data.sparse_features = nonzeros;
    world.features =
        Some(ElementRows::from_reals(features.shape[0], features.shape[1], features.values));
    if case.find("graph.edge_type").is_some() {
        data.relations = golden_models::relations(case);
        world.edge_type = case.ids("graph.edge_type");
    }
    if let Some(given) = case.find("graph.edge_x") {
        data.edge_features = given.shape[1] as u64;
        world.edge_features =
            Some(ElementRows::from_reals(given.shape[0], given.shape[1], given.values.clone()));
    }
    if golden_models::is_batch(case) {
        world.graph_of_node = case.ids("graph.graph_of_node");
        world.graphs = case.tensor("y").values.len();
        (data.graphs, data.many_graphs) = (world.graphs as u64, true);
    }
    let wanted = case.tensor("y");
    let loss = if case.is_regression() { Loss::MeanSquares } else { Loss::CrossEntropy };
    data.target = Some(Target { columns: case.number("hyperparameters", "outputs") as u64, loss });
    data.training = true;
    world.targets = Some(ElementRows::from_reals(
        wanted.shape[0],
        wanted.shape.get(1).copied().unwrap_or(1),
        wanted.values.clone(),
    ));
    world.training_rows = case.ids("train");
    (data, world)
}

fn model(name: &str, route: Route) {
    let Some(case) = GoldenCase::read(name) else { return };
    let edges = golden_models::edges(&case);
    let (data, world) = world(&case, &edges);
    let (program, settings) = golden_models::program(&case);
    let compiled = compile(program, &settings, &data, route);
    let twins = golden_models::twins(&case);
    let declared: BTreeSet<&str> =
        compiled.gir.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let named: BTreeSet<&str> = twins.iter().map(|twin| twin.ours.as_str()).collect();
    assert_eq!(declared, named, "{name}: parameters");
    for parameter in &compiled.gir.parameters {
        let twin = twins.iter().find(|twin| twin.ours == parameter.name).unwrap();
        let shape = twin
            .part
            .shape(case.tensor(&format!("param.{}", twin.theirs)))
            .into_iter()
            .map(|axis| axis as u64);
        let long = |axis: &u64| *axis != 1;
        assert!(
            shape.filter(long).eq(parameter.shape.iter().copied().filter(long)),
            "{name}: shape of {}",
            twin.ours
        );
    }
    let theirs: BTreeSet<&str> = twins.iter().map(|twin| twin.theirs.as_str()).collect();
    assert_eq!(
        case.names("param.").iter().map(String::as_str).collect::<BTreeSet<_>>(),
        theirs,
        "{name}: golden parameters"
    );
    let run = started(&case, &compiled, &world, &twins);
    forward(&case, &compiled, &run, route);
    gradients(&case, &compiled, &run, &twins, &edges);
    // Twenty steps on a citation graph take a minute; they are done as a run does them. Of two such
    // graphs `make test` trains one here, and both in the tests of `run`.
    let is_done = route == Route::Plain || (name == "gat_planetoid" && !is_long());
    if data.sparse_features.is_some() && is_done {
        return;
    }
    let compiled = compile_by(program, &settings, &data, route, By::Parameters);
    let mut run = started(&case, &compiled, &world, &twins);
    training(&case, &compiled, &mut run, &twins);
}

/// A first pass with the golden parameters.
fn started<'a>(
    case: &GoldenCase,
    compiled: &'a Compiled,
    world: &'a World,
    twins: &[ParameterPair],
) -> Interpreter<'a> {
    let mut run = Interpreter::new(&compiled.gir, &compiled.data, world).unwrap();
    run.training = true;
    for twin in twins {
        run.set_parameter(
            &twin.ours,
            &twin.part.of(case.tensor(&format!("param.{}", twin.theirs))),
        )
        .unwrap();
    }
    run.run(1);
    run
}

fn forward(case: &GoldenCase, compiled: &Compiled, run: &Interpreter<'_>, route: Route) {
    case.compare(
        "out",
        &run.value(compiled.gir.results[0].node).unwrap().values.reals(),
        "forward",
    );
    case.compare("loss", &[run.loss().unwrap()], "loss");
    for hidden in case.names("hidden.") {
        let name = format!("hidden.{hidden}");
        let columns = case.tensor(&name).shape[1] as u64;
        let vertices = compiled.gir.ids().filter(|id| {
            compiled.gir.node(*id).place == Place::D && compiled.gir.node(*id).columns() == columns
        });
        let found = vertices
            .filter_map(|id| run.value(id))
            .any(|rows| case.agrees(&name, &rows.values.reals(), "forward"));
        assert!(found || route == Route::Cleaned, "{}: no value is {name}", case.name);
    }
}

fn gradients(
    case: &GoldenCase,
    compiled: &Compiled,
    run: &Interpreter<'_>,
    twins: &[ParameterPair],
    edges: &Edges,
) {
    let gradient = |name: &str| {
        compiled
            .gradient(run, name)
            .unwrap_or_else(|| panic!("{}: no gradient by {name}", case.name))
    };
    for twin in twins {
        let theirs = format!("grad.{}", twin.theirs);
        case.compare_with(
            &theirs,
            &gradient(&twin.ours),
            &twin.part.of(case.tensor(&theirs)),
            "gradient",
        );
    }
    let mut read: BTreeSet<String> = twins.iter().map(|twin| twin.theirs.clone()).collect();
    for name in case.names("grad.") {
        let full = format!("grad.{name}");
        match name.as_str() {
            "x" => case.compare(&full, &gradient("x"), "gradient"),
            "x.rows" => sparse_features(case, &gradient("x")),
            "x.at_rows" | "x.row_sums" | "x.column_sums" => {}
            "graph.weight" => {
                let by_edge = gradient("weight");
                let mut stored = vec![0.0; case.tensor("graph.weight").values.len()];
                edges
                    .stored
                    .iter()
                    .zip(by_edge)
                    .for_each(|(edge, slope)| edge.iter().for_each(|edge| stored[*edge] = slope));
                case.compare(&full, &stored, "gradient");
            }
            "graph.edge_x" => case.compare(&full, &gradient("edge_x"), "gradient"),
            _ => assert!(read.contains(&name), "{}: nobody compares {full}", case.name),
        }
        read.insert(name);
    }
}

/// The gradient by features that the case has in parts.
fn sparse_features(case: &GoldenCase, slopes: &[f64]) {
    let columns = case.ids("x.shape")[1] as usize;
    let at_rows: Vec<f64> = case
        .ids("grad.x.rows")
        .iter()
        .flat_map(|row| &slopes[*row as usize * columns..(*row as usize + 1) * columns])
        .copied()
        .collect();
    case.compare("grad.x.at_rows", &at_rows, "gradient");
    let row_sums: Vec<f64> = slopes.chunks(columns).map(|row| row.iter().sum()).collect();
    case.compare("grad.x.row_sums", &row_sums, "gradient");
    let mut column_sums = vec![0.0; columns];
    slopes.iter().enumerate().for_each(|(index, slope)| column_sums[index % columns] += slope);
    case.compare("grad.x.column_sums", &column_sums, "gradient");
}

fn training(
    case: &GoldenCase,
    compiled: &Compiled,
    run: &mut Interpreter<'_>,
    twins: &[ParameterPair],
) {
    let given = |name: &str| case.adam(name);
    let adam = Adam {
        learning_rate: given("lr"),
        beta1: given("beta1"),
        beta2: given("beta2"),
        epsilon: given("eps"),
        weight_decay: given("weight_decay"),
    };
    let mut losses = vec![run.loss().unwrap()];
    for _ in 0..case.steps() {
        run.step(&adam);
        run.run(1);
        losses.push(run.loss().unwrap());
    }
    case.compare("adam.losses", &losses, "adam_losses");
    case.compare(
        "final.out",
        &run.value(compiled.gir.results[0].node).unwrap().values.reals(),
        "final",
    );
    let parameters = run.parameters();
    for twin in twins {
        let theirs = format!("final.{}", twin.theirs);
        case.compare_with(
            &theirs,
            parameters[twin.ours.as_str()],
            &twin.part.of(case.tensor(&theirs)),
            "final",
        );
    }
}

fn models(names: &[&str]) {
    for route in ROUTES {
        names.iter().for_each(|name| {
            println!("{name}, {route:?}");
            model(name, route);
        });
    }
}

#[test]
fn gcn_agrees() {
    models(&["gcn_tiny", "gcn_odd", "gcn_odd_weighted"]);
}

#[test]
fn gcn_agrees_on_a_citation_graph() {
    models(&["gcn_planetoid"]);
}

#[test]
fn sage_agrees() {
    models(&["sage_tiny", "sage_odd", "sage_odd_regression"]);
}

#[test]
fn gin_agrees() {
    models(&["gin_tiny", "gin_odd"]);
}

#[test]
fn gin_agrees_on_many_graphs() {
    models(&["gin_batch"]);
}

#[test]
fn gat_agrees() {
    models(&["gat_tiny", "gat_odd"]);
}

#[test]
fn gat_agrees_on_a_citation_graph() {
    models(&["gat_planetoid"]);
}

#[test]
fn gatv2_agrees() {
    models(&["gatv2_tiny", "gatv2_odd"]);
}

#[test]
fn appnp_agrees() {
    models(&["appnp_tiny", "appnp_odd", "appnp_odd_weighted"]);
}

#[test]
fn rgcn_agrees_with_and_without_bases() {
    models(&["rgcn_hetero", "rgcn_hetero_bases"]);
}

#[test]
fn graph_transformer_agrees_with_and_without_edge_features() {
    models(&["transformer_tiny", "transformer_odd", "transformer_odd_edges"]);
}

const ANALYTICS_CASES: [&str; 3] = ["analytics_tiny", "analytics_odd", "analytics_medium"];

/// Every case by every route.
fn analytics(test: impl Fn(&GoldenCase, Route)) {
    for case in ANALYTICS_CASES.iter().filter_map(|name| GoldenCase::read(name)) {
        ROUTES.iter().for_each(|route| test(&case, *route));
    }
}

fn ranks(program: &str, variant: &str) {
    analytics(|case, route| {
        let (data, world) = bare(&case.edges(false));
        let prefix = format!("pagerank.{variant}.");
        let steps = case.names(&prefix);
        assert!(steps.len() >= 4, "{}: {steps:?}", case.name);
        for step in steps {
            // So many supersteps: with a tolerance of 0 a loop ends before only where no further
            // superstep changes anything.
            let supersteps = step.parse::<u64>();
            let tolerance = if supersteps.is_ok() { 0.0 } else { 1e-15 };
            let compiled = compile(program, &json!({"tolerance": tolerance}), &data, route);
            let (results, converged) = compiled.iterate(&world, supersteps.clone().unwrap_or(1000));
            assert!(converged || supersteps.is_ok(), "{}: {step}", case.name);
            case.compare(
                &format!("{prefix}{step}"),
                &results["rank"].values.reals(),
                &format!("pagerank.{variant}"),
            );
        }
    });
}

#[test]
fn pagerank_agrees() {
    ranks("pagerank", "ignored");
}

#[test]
fn pagerank_spread_agrees() {
    ranks("pagerank_spread", "spread");
}

#[test]
fn sssp_and_bfs_agree_from_every_start() {
    analytics(|case, route| {
        let nodes = case.nodes();
        let part = |name: &str, number: usize| {
            case.tensor(name).values[number * nodes..(number + 1) * nodes].to_vec()
        };
        for (number, source) in case.ids("distance.source").into_iter().enumerate() {
            let (data, world) = bare(&case.edges(true));
            let (results, converged) =
                compile("sssp", &json!({"source": source}), &data, route).iterate(&world, 10_000);
            assert!(converged);
            case.compare_with(
                "sssp.distance",
                &results["distance"].values.reals(),
                &part("sssp.distance", number),
                "sssp",
            );
            let (results, converged) =
                compile("bfs", &json!({"source": source}), &data, route).iterate(&world, 10_000);
            assert!(converged);
            assert_eq!(
                results["level"].values.reals(),
                part("bfs.level", number),
                "{}: levels from {source}",
                case.name
            );
        }
    });
}

#[test]
fn components_agree() {
    analytics(|case, route| {
        let (data, world) = bare(&case.edges(false));
        let (results, converged) =
            compile("components", &json!({}), &data, route).iterate(&world, 10_000);
        assert!(converged);
        assert_eq!(
            results["label"].values.reals(),
            case.tensor("components.weak").values,
            "{}",
            case.name
        );
    });
}

#[test]
fn cores_triangles_and_clustering_agree_on_the_simple_graph() {
    analytics(|case, route| {
        let (data, world) = bare(&case.edges(false).without_self_loops().symmetric());
        let (results, converged) =
            compile("kcore", &json!({}), &data, route).iterate(&world, 10_000);
        assert!(converged);
        assert_eq!(
            results["core"].values.reals(),
            case.tensor("core").values,
            "{}: cores",
            case.name
        );
        let (results, _) = compile("triangles", &json!({}), &data, route).iterate(&world, 1);
        assert_eq!(
            results["triangles"].values.reals(),
            case.tensor("triangles").values,
            "{}: triangles",
            case.name
        );
        case.compare("clustering", &results["clustering"].values.reals(), "clustering");
    });
}
