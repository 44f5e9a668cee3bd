//! Proves that the memory which a plan predicts is the memory which its run reaches, the process's
//! own and mapped files apart.
//!
//! Each run is a process of its own, as the binary of its stage is: nothing that earlier stages had
//! is counted.
use serde_json::Value;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::folder;

/// What may differ, of what is reached.
const TOLERANCE: f64 = 0.1;
/// From so many bytes on.
const LEAST: f64 = 100e6;

/// A stand-in with features in 96 columns.
const CROWD: &str = "name: crowd
about: \"A graph of communities that takes some memory.\"
format: generated
directed: false
symmetrize: true
task: node_classification
licence: \"none needed: it is made here\"
expected: {nodes: 70000, listed: 350000, distinct: 350000, symmetric: 350000}
made_up: {features: 96, classes: 8}
split: {rule: fractions, train: 0.8, validation: 0.1, test: 0.1}
generator: {kind: planted, nodes: 70000, edges: 350000, symmetric: true, max_degree: 69999, features: 96, classes: 8, seed: 17}
";

/// How often a run is made at most: the process looks every few milliseconds at what it takes, and
/// on a busy machine a look may come too late for a peak.
const LOOKS: usize = 3;

/// What the run that is there predicted and reached, made once more.
fn again(sandbox: &Sandbox, recipe: &Recipe, threads: &str) -> Value {
    let output = sandbox.stage("run", recipe, &["--threads", threads, "--force"]).expect(0);
    read_record(&output.stages().pop().unwrap())
}

fn read_record(stage: &Value) -> Value {
    let file = folder(stage, "run").join("record.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// What a run predicted and reached, by name.
fn record(sandbox: &Sandbox, recipe: &Recipe, threads: &str) -> Value {
    let last = ["ingest", "extract", "reorder", "partition", "plan", "run"].map(|stage| {
        let output = sandbox.stage(stage, recipe, &["--threads", threads]).expect(0);
        output.stages().pop().unwrap()
    });
    read_record(&last[5])
}

#[test]
fn what_is_predicted_is_reached() {
    let mut sandbox = Sandbox::stand_in();
    sandbox.add_entry("crowd", CROWD);
    let cases = [
        ("gcn", "none", "f32", "2"),
        ("gcn", "degree", "f32", "1"),
        ("gcn", "degree", "f64", "2"),
        ("gcn", "degree", "bf16", "2"),
        ("sage", "none", "f32", "2"),
        ("appnp", "degree", "f32", "2"),
    ];
    for (program, order, dtype, threads) in cases {
        let sets = [
            &format!("reorder.method={order}"),
            &format!("run.dtype={dtype}"),
            "run.epochs=1",
            "plan.set.hidden=144",
        ];
        let recipe = sets.iter().fold(Recipe::of(program, "crowd"), |recipe, set| recipe.set(set));
        let record = record(&sandbox, &recipe, threads);
        let [predicted, mut reached] =
            ["bytes_predicted", "bytes_peak"].map(|name| record[name].as_f64().unwrap());
        if reached == 0.0 {
            return skipped(
                "memory::what_is_predicted_is_reached",
                "the system does not tell what a process takes",
            );
        }
        let is_near = |reached: f64| (predicted / reached - 1.0).abs() <= TOLERANCE;
        for _ in 1..LOOKS {
            if !is_near(reached) && reached < predicted {
                let bytes = again(&sandbox, &recipe, threads)["bytes_peak"].as_f64().unwrap();
                reached = reached.max(bytes);
            }
        }
        let case = format!("{program}, order {order}, {dtype}, {threads} threads");
        assert!(predicted >= LEAST, "{case}: {predicted} bytes are too few to be compared");
        assert!(is_near(reached), "{case}: {predicted} bytes were predicted, {reached} reached");
        let mapped = record["bytes_mapped_predicted"].as_u64().unwrap();
        assert!(mapped > 0, "{case}: no mapped files were predicted");
    }
}
