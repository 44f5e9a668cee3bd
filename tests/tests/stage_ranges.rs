//! Proves `warploom pipeline --from` and `--until`: which stages run, that nothing before them is
//! built, and that a given artifact stands for what is before it.
use serde_json::Value;
use warploom_test_support::sandbox::{Recipe, Sandbox};

use crate::pipeline::{STAGES, each};

/// The lines of stages of a start that ends well.
fn ranged(sandbox: &Sandbox, recipe: &Recipe, range: &[&str]) -> Vec<Value> {
    sandbox.front("pipeline", recipe, range).expect(0).stages()
}

fn key(line: &Value) -> String {
    line["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_range_runs_its_stages_and_no_others() {
    let (sandbox, recipe) = (Sandbox::stand_in(), Recipe::small());
    let first = ranged(&sandbox, &recipe, &["--until", "reorder"]);
    assert_eq!(each(&first, "stage"), STAGES[..3]);
    assert_eq!(each(&first, "status"), ["built"; 3]);
    assert!(sandbox.view().of_kind("partition").is_empty());
    // A person sees the same stages.
    let arguments = recipe.arguments(&["pipeline", "--until", "reorder"]);
    sandbox.warploom(&arguments).expect(0).prints(&["reorder", "hit"]);

    let middle = ranged(&sandbox, &recipe, &["--from", "reorder", "--until", "partition"]);
    assert_eq!(each(&middle, "stage"), STAGES[2..4]);
    assert_eq!(each(&middle, "status"), ["hit", "built"]);
    let last = ranged(&sandbox, &recipe, &["--from", "plan"]);
    assert_eq!(each(&last, "stage"), STAGES[4..]);
    // The keys are those of a start of all stages.
    let all = sandbox.build(&recipe);
    assert_eq!(each(&all, "status"), ["hit"; STAGES.len()]);
    assert_eq!(key(&all[5]), key(&last[1]));
}

#[test]
fn what_is_before_a_range_is_not_built() {
    let (sandbox, recipe) = (Sandbox::stand_in(), Recipe::small());
    let output = sandbox.front("pipeline", &recipe, &["--from", "plan"]);
    let lines =
        output.expect(1).says(&["the stage `ingest` before this one has not been run"]).lines();
    assert_eq!((&lines[0]["stage"], &lines[0]["status"]), (&"plan".into(), &"failed".into()));
    assert!(sandbox.view().of_kind("graph").is_empty());
    let range = ["--from", "plan", "--until", "extract"];
    sandbox
        .front("pipeline", &recipe, &range)
        .expect(2)
        .says(&["`--until extract` is before `--from plan`", "ingest extract reorder"]);
    sandbox.front("pipeline", &recipe, &["--until", "training"]).expect(2);
    sandbox
        .front("pipeline", &recipe, &["--from", "trianing"])
        .expect(1)
        .says(&["no artifact has a key that starts with `trianing`", "`--from` takes a stage"]);
}

#[test]
fn a_given_artifact_stands_for_what_is_before_it() {
    let sandbox = Sandbox::stand_in();
    let degree = Recipe::small().set("reorder.method=degree");
    let made = sandbox.build(&degree);
    // This file says another order; the given one is taken.
    let plain = Recipe::small().set("reorder.method=none");
    for (stage, from) in [("reorder", 3), ("partition", 4), ("plan", 5)] {
        let given = key(&made[from - 1]);
        let lines = ranged(&sandbox, &plain, &["--from", &given]);
        assert_eq!(each(&lines, "stage"), STAGES[from..], "{stage}");
        assert_eq!(each(&lines, "status"), vec!["hit"; 6 - from], "{stage}");
        assert_eq!(key(lines.last().unwrap()), key(&made[5]), "{stage}");
    }
    let extracted = ranged(&sandbox, &plain, &["--from", &key(&made[1]), "--until", "reorder"]);
    assert_ne!(key(&extracted[0]), key(&made[2]), "the file's own order");

    let run = key(&made[5]);
    sandbox
        .front("pipeline", &plain, &["--from", &run])
        .expect(2)
        .says(&["no stage comes after it"]);
    let other = Recipe::of("gcn", "cora").set("run.epochs=5");
    sandbox.front("pipeline", &other, &["--from", &key(&made[2])]).expect(1).says(&[
        "is of the data set `karate`, and the pipeline is for `cora`",
        "--set dataset=karate",
    ]);
}
