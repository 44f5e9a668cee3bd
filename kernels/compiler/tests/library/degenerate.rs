//! degenerate: every program on graphs that break kernels, with its own defaults and with what its
//! pipeline sets; and how long it takes to compile.
//!
//! promises  no result and no gradient is NaN; both routes give the same numbers
use serde_json::{Value, json};
use warploom_ir::interpret::{ElementRows, Interpreter, Values};
use warploom_test_support::golden_cases::Edges;
use warploom_test_support::graphs::degenerate_graphs;

use warploom_test_support::draws::drawn;
use warploom_test_support::library_programs::{
    ANALYTICS, Compiled, MODELS, ROUTES, Route, bare, compile, folder, problem, start,
};

/// Degenerate graphs by name.
fn graphs() -> impl Iterator<Item = (&'static str, Edges)> {
    degenerate_graphs().into_iter().map(|graph| (graph.name, Edges::from(&graph)))
}

/// Names of relations; no edge is of the last.
pub fn relations() -> Vec<String> {
    ["cites", "knows", "unused"].map(str::to_owned).to_vec()
}

fn assert_no_nan(what: &str, rows: &ElementRows) {
    if let Values::Real(values) = &rows.values {
        assert!(values.iter().all(|value| !value.is_nan()), "{what}: {values:?}");
    }
}

/// What a pipeline sets for its program: the numbers, words and truths of `set: {name: value, ..}`.
pub fn of_pipeline(name: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).unwrap();
    let Some(line) = text.lines().find_map(|line| line.trim().strip_prefix("set: {")) else {
        return json!({});
    };
    let settings =
        line.split('}').next().unwrap().split(", ").map(|pair| pair.split_once(": ").unwrap());
    settings
        .map(|(name, value)| (name.to_owned(), serde_json::from_str(value).unwrap()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// 0 or what makes up for it, by the element's site and place.
pub fn dropped(site: u32, probability: f64, row: u64, column: u64) -> f64 {
    let uniform = drawn(u64::from(site) * 1_000_003 + row, column as usize) / 2.0 + 0.5;
    if uniform < probability { 0.0 } else { 1.0 / (1.0 - probability) }
}

/// Every value of a training pass: scores, loss, gradients.
fn trained(
    what: &str,
    compiled: &Compiled,
    world: &warploom_ir::interpret::World,
) -> Vec<Vec<f64>> {
    let mut run = Interpreter::new(&compiled.gir, &compiled.data, world).unwrap();
    run.training = true;
    run.draw = Some(Box::new(dropped));
    for (parameter, values) in start(&compiled.gir) {
        run.set_parameter(&parameter, &values).unwrap();
    }
    run.run(1);
    let mut values = Vec::new();
    for result in &compiled.gir.results {
        let rows = run.value(result.node).unwrap();
        assert_no_nan(&format!("{what}: {}", result.name), rows);
        values.push(rows.values.reals());
    }
    let loss = run.loss().unwrap();
    assert!(!loss.is_nan(), "{what}: loss");
    values.push(vec![loss]);
    for gradient in &compiled.gir.gradients {
        let rows = run.value(gradient.node).unwrap();
        assert_no_nan(
            &format!("{what}: gradient by {:?}", compiled.gir.node(gradient.of).op),
            rows,
        );
        values.push(rows.values.reals());
    }
    values
}

#[test]
fn models_run_on_every_graph_without_nan() {
    for name in MODELS {
        for (graph, edges) in graphs() {
            for settings in [json!({}), of_pipeline(name)] {
                let what = format!("{name} on {graph} with {settings}");
                let (mut data, mut world) = problem(&edges, 4, 3);
                data.relations = relations();
                world.edge_type = (0..edges.source.len() as u32).map(|edge| edge % 2).collect();
                let [plain, cleaned] = ROUTES
                    .map(|route| trained(&what, &compile(name, &settings, &data, route), &world));
                // Some gradients are 0 by the mathematics and noise by rounding: the scale is that
                // of all values together.
                let scale = plain
                    .iter()
                    .flatten()
                    .fold(0.0, |largest: f64, value| largest.max(value.abs()));
                assert_eq!(plain.len(), cleaned.len(), "{what}");
                for (plain, cleaned) in plain.iter().zip(&cleaned) {
                    let close = plain
                        .iter()
                        .zip(cleaned)
                        .all(|(a, b)| a == b || (a - b).abs() <= 1e-9 * scale);
                    assert!(
                        close && plain.len() == cleaned.len(),
                        "{what}: {plain:?} and {cleaned:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn analytics_run_on_every_graph_without_nan() {
    for name in ANALYTICS {
        for (graph, edges) in graphs() {
            for settings in [json!({}), of_pipeline(name)] {
                let (data, world) = bare(&edges);
                let [plain, cleaned] = ROUTES
                    .map(|route| compile(name, &settings, &data, route).iterate(&world, 10_000));
                assert_eq!(plain, cleaned, "{name} on {graph}");
                assert!(plain.1, "{name} on {graph} ends");
                plain.0.iter().for_each(|(result, rows)| {
                    assert_no_nan(&format!("{name} on {graph}: {result}"), rows)
                });
            }
        }
    }
}

#[test]
fn every_program_is_compiled_in_no_time() {
    // Tests are built with little optimisation and run beside each other.
    let most = if cfg!(debug_assertions) { 1000 } else { 50 };
    let edges = Edges::new(6, &[(0, 1), (1, 2), (2, 0), (3, 3), (4, 5)]);
    let measured = |name: &&str| {
        let (mut data, _) =
            if MODELS.contains(name) { problem(&edges, 4, 3) } else { bare(&edges) };
        data.relations = relations();
        let compiled = compile(name, &of_pipeline(name), &data, Route::Cleaned);
        assert!(compiled.warnings.is_empty(), "{name}: {}", compiled.warnings.join("\n"));
        println!(
            "{name:<22} {:>7.1} ms, {} values",
            compiled.took.as_secs_f64() * 1e3,
            compiled.gir.nodes.len()
        );
        (compiled.took.as_millis() > most).then(|| format!("{name}: {:?}", compiled.took))
    };
    let slow: Vec<String> = MODELS.iter().chain(&ANALYTICS).filter_map(measured).collect();
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn the_lists_of_programs_are_complete() {
    let mut listed: Vec<String> =
        MODELS.iter().chain(&ANALYTICS).map(|name| format!("{name}.py")).collect();
    listed.sort();
    let mut found: Vec<String> = std::fs::read_dir(folder().join("programs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.retain(|name| name.ends_with(".py"));
    found.sort();
    assert_eq!(listed, found);
    for name in MODELS.iter().chain(&ANALYTICS) {
        assert!(folder().join(format!("{name}.yaml")).is_file(), "{name}.yaml");
    }
}
