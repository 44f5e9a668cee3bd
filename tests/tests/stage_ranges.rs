//! Proves `--from` and `--until` of `pipeline`, `explain`, `check` and `submit`: which stages a
//! command is about, that nothing before them is built, and that a given artifact stands for what
//! is before it.
use serde_json::Value;
use warploom_test_support::repository;
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

/// A pipeline file with a matrix, whose program is there or not.
fn matrix(sandbox: &Sandbox, program: &str) -> Recipe {
    let program = repository().join("pipelines/programs").join(program);
    let lines = "dataset: karate\nrun: {epochs: 3}\nmatrix: {plan.set.hidden: [2, 3], run.seed: \
                 [0, 1, 2]}\n";
    let text = format!("plan: {{program: {}}}\n{lines}", program.display());
    Recipe::file(sandbox.write("m.yaml", text))
}

#[test]
fn explain_shows_a_range() {
    let (sandbox, recipe) = (Sandbox::stand_in(), Recipe::small());
    let shown = |recipe: &Recipe, range: &[&str]| {
        let lines = sandbox.front("explain", recipe, range).expect(0).lines();
        let (stages, choices): (Vec<Value>, Vec<Value>) =
            lines.into_iter().partition(|line| line["stage"].is_string());
        let told = stages.iter().map(|line| {
            format!("{} {}", line["stage"].as_str().unwrap(), line["status"].as_str().unwrap())
        });
        (told.collect::<Vec<_>>(), each(&choices, "choice").join(" "))
    };
    let (told, choices) = shown(&recipe, &["--from", "partition", "--until", "plan"]);
    assert_eq!(told, ["partition unknown", "plan unknown"]);
    assert_eq!(choices, "");
    let made = sandbox.build(&recipe);
    let (told, choices) = shown(&recipe, &["--until", "partition"]);
    assert_eq!(told, ["ingest hit", "extract hit", "reorder hit", "partition hit"]);
    assert_eq!(choices, "reorder partition");
    let (told, choices) = shown(&recipe, &["--from", "plan"]);
    assert_eq!((told.join(", ").as_str(), choices.as_str()), ("plan hit, run hit", "plan"));
    // This file says another order; the given partition is taken, and its keys fit.
    let other = Recipe::small().set("reorder.method=random");
    let (told, _) = shown(&other, &["--from", &key(&made[3])]);
    assert_eq!(told, ["plan hit", "run hit"]);
    let arguments = recipe.arguments(&["explain", "--until", "extract"]);
    let output = sandbox.warploom(&arguments).expect(0);
    let output = output.prints(&["ingest     hit", "extract    hit"]);
    assert!(!output.stdout.contains("reorder") && !output.stdout.contains("plan"), "{output:?}");
    sandbox
        .front("explain", &recipe, &["--from", "plan", "--until", "extract"])
        .expect(2)
        .says(&["`--until extract` is before `--from plan`"]);
}

#[test]
fn check_proves_a_range() {
    let (sandbox, recipe) = (Sandbox::stand_in(), Recipe::small());
    let missing = sandbox.front("check", &recipe, &["--from", "plan"]).expect(1);
    let lines = missing.says(&["the stage `ingest` before this one has not been run"]).lines();
    assert_eq!((&lines[0]["stage"], &lines[0]["status"]), (&"plan".into(), &"failed".into()));
    ranged(&sandbox, &recipe, &["--until", "reorder"]);
    let proved = |recipe: &Recipe, range: &[&str]| {
        let lines = sandbox.front("check", recipe, range).expect(0).lines();
        assert_eq!(each(&lines, "status"), vec!["proved"; lines.len()]);
        each(&lines, "stage").join(" ")
    };
    assert_eq!(proved(&recipe, &["--until", "reorder"]), "ingest extract reorder");
    sandbox
        .front("check", &recipe, &["--until", "partition"])
        .expect(1)
        .says(&["there is no output of `partition` to check"]);
    let made = sandbox.build(&recipe);
    assert_eq!(proved(&recipe, &["--from", "plan"]), "plan run");
    let other = Recipe::small().set("reorder.method=random");
    assert_eq!(proved(&other, &["--from", &key(&made[2])]), "partition plan run");
    let program = repository().join("pipelines/programs/gcn.py");
    sandbox
        .warploom(&["check", program.to_str().unwrap(), "--until", "plan"])
        .expect(2)
        .says(&["`--until` is for pipeline files", "warploom check FILE.yaml --until STAGE"]);
}

/// The last submission's jobs that were built, by stage.
fn built_jobs(sandbox: &Sandbox) -> Vec<String> {
    let jobs = sandbox.warploom(&["status", "last", "--format", "json"]).expect(0).lines();
    let built = jobs.iter().filter(|job| job["state"] == "built");
    built.map(|job| job["stage"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn submit_makes_jobs_of_a_range() {
    let sandbox = Sandbox::stand_in();
    let recipe = matrix(&sandbox, "gcn.py");
    let submit = |range: &[&str]| {
        let all = [range, &["--site", "local", "--wait"]].concat();
        sandbox.front("submit", &recipe, &all)
    };
    submit(&["--from", "plan"])
        .expect(1)
        .says(&["the stage `ingest` before this one has not been run"]);
    assert!(!sandbox.store.join("submissions").exists(), "nothing is submitted");
    let first = submit(&["--until", "partition"]).expect(0).lines();
    assert_eq!((&first[0]["jobs"], &first[0]["hits"]), (&4.into(), &0.into()));
    assert_eq!(built_jobs(&sandbox), STAGES[..4]);
    assert!(sandbox.view().of_kind("plan").is_empty());

    let last = submit(&["--from", "plan"]).expect(0).lines();
    assert_eq!((&last[0]["jobs"], &last[0]["hits"]), (&8.into(), &0.into()));
    assert_eq!(built_jobs(&sandbox).len(), 8);
    assert_eq!(sandbox.view().of_kind("run").len(), 6);
    // The same keys as by `warploom pipeline`.
    let all = sandbox.front("pipeline", &recipe, &[]).expect(0).stages();
    assert_eq!(each(&all, "status"), vec!["hit"; all.len()]);
}

#[test]
fn a_given_artifact_is_what_jobs_read() {
    let sandbox = Sandbox::stand_in();
    let recipe = matrix(&sandbox, "gcn.py").set("reorder.method=random");
    let degree = matrix(&sandbox, "gcn.py").set("reorder.method=degree");
    let given = key(&ranged(&sandbox, &degree, &["--until", "partition"])[3]);
    let range = ["--from", &given[..9], "--site", "local", "--wait"];
    let lines = sandbox.front("submit", &recipe, &range).expect(0).lines();
    assert_eq!((&lines[0]["jobs"], &lines[0]["hits"]), (&8.into(), &0.into()));
    let kinds = ["permutation", "partition", "run"];
    assert_eq!(kinds.map(|kind| sandbox.view().of_kind(kind).len()), [1, 1, 6]);
    let all = sandbox.front("pipeline", &degree, &[]).expect(0).stages();
    assert_eq!(each(&all, "status"), vec!["hit"; all.len()]);
    let again = sandbox.front("submit", &recipe, &range).expect(0).lines();
    assert_eq!(again[0]["hits"], 8);
}

#[test]
fn what_only_nodes_know_is_refused_before_anything_is_submitted() {
    let sandbox = Sandbox::stand_in();
    let recipe = matrix(&sandbox, "gcn.py");
    let made = ranged(&sandbox, &recipe, &["--until", "partition"]);
    let submit = |range: &[&str]| {
        let site = ["--site", "slurm", "--real=no", "--with", "run.gpus=1", "--dry-run"];
        sandbox.front("submit", &recipe, &[range, &site].concat())
    };
    submit(&["--from", "plan"]).expect(2).says(&[
        "the device of the nodes, `auto`, decides their keys from `reorder` on",
        "name the artifact, `--from KEY`",
    ]);
    let jobs = |range: &[&str]| submit(range).expect(0).lines()[0]["jobs"].clone();
    assert_eq!(jobs(&["--from", &key(&made[3])]), 8);
    assert_eq!(jobs(&["--from", "reorder"]), 10);
    assert_eq!(jobs(&["--until", "extract"]), 2);
    assert!(!sandbox.store.join("submissions").exists());
}

#[test]
fn stages_before_the_plan_need_no_program() {
    let sandbox = Sandbox::stand_in();
    let recipe = matrix(&sandbox, "no-such-program.py");
    let range = ["--until", "partition", "--device", "cpu"];
    ranged(&sandbox, &recipe, &range);
    for command in ["explain", "check"] {
        sandbox.front(command, &recipe, &range).expect(0);
    }
    let other = sandbox.with_store("other");
    let all = [&range[..], &["--site", "local", "--wait"]].concat();
    other.front("submit", &recipe, &all).expect(0);
    assert_eq!(built_jobs(&other), STAGES[..4]);
    other.front("submit", &recipe, &["--site", "local"]).expect(1).says(&["no-such-program.py"]);
}
