//! Proves that every way to fail ends with the exit code of the interface, says where and what to
//! do on stderr, and leaves stdout to data.
use std::fs;

use serde_json::Value;
use warploom_test_support::process::{Output, start, started_by};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;

const SUBCOMMANDS_LATER: [&str; 3] = ["report", "compare", "tune"];

/// The `error` of the last JSON line.
fn error(output: &Output) -> Value {
    output.lines().pop().unwrap_or_else(|| panic!("no JSON line on stdout of\n{output}"))["error"]
        .clone()
}

#[test]
fn wrong_flags_are_usage() {
    let sandbox = Sandbox::stand_in();
    let all: [&[&str]; 8] = [
        &["pipeline", "--treads", "4"],
        &["pipeline", "--threads", "0"],
        &["pipeline", "--threads", "many"],
        &["pipeline", "--memory", "lots"],
        &["pipeline", "--format", "xml"],
        &["pipelin"],
        &["store"],
        &["store", "gc", "--older-than", "soon"],
    ];
    for arguments in all {
        let output = sandbox.warploom(arguments).expect(2).says(&["error:"]);
        assert!(output.stdout.is_empty(), "{output}");
    }
    sandbox.warploom(&["pipeline", "--treads", "4"]).expect(2).says(&["--threads"]);
    sandbox.run("warploom-ingest", &["--fore"]).expect(2).says(&["--force"]);
}

#[test]
fn no_pipeline_file_is_usage() {
    let sandbox = Sandbox::stand_in();
    for action in ["pipeline", "explain", "check"] {
        sandbox.warploom(&[action]).expect(2).says(&["no pipeline file was given", "hint:"]);
    }
    for stage in crate::pipeline::STAGES {
        sandbox
            .run(&format!("warploom-{stage}"), &[] as &[&str])
            .expect(2)
            .says(&["no pipeline file was given", "hint:"]);
    }
    let output = sandbox.warploom(&["pipeline", "--format", "json"]).expect(2);
    assert_eq!(error(&output)["kind"], "usage");
}

#[test]
fn what_comes_later_says_so() {
    let sandbox = Sandbox::stand_in();
    for name in SUBCOMMANDS_LATER {
        sandbox
            .warploom(&[name])
            .expect(2)
            .says(&[&format!("`warploom {name}` is not in this version"), "hint:"]);
        sandbox
            .warploom(&[name, "pipelines/gcn.yaml", "--site", "slurm", "-o", "x"])
            .expect(2)
            .says(&["is not in this version"]);
    }
}

#[test]
fn a_missing_file_is_named_with_the_nearest_that_is_there() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("pipelines/gcn.yaml", "dataset: karate\n");
    let output = sandbox
        .warploom(&["pipeline", "pipelines/gcm.yaml", "--format", "json"])
        .expect(1)
        .says(&["no such pipeline file", "pipelines/gcm.yaml", "gcn.yaml"]);
    assert_eq!(error(&output)["kind"], "specification");
    let recipe = Recipe::file(
        sandbox.write("p.yaml", "dataset: karate\nplan: {program: programs/none.py}\n"),
    );
    let output = sandbox.front("pipeline", &recipe, &[]).expect(1).says(&[
        "cannot read the vertex program",
        "none.py",
        "hint:",
    ]);
    assert_eq!(error(&output)["kind"], "input");
    let recipe = Recipe::small().set("run.init=nowhere.safetensors");
    sandbox.front("pipeline", &recipe, &[]).expect(1).says(&["nowhere.safetensors"]);
}

#[test]
fn a_typo_in_a_pipeline_file_has_a_place_a_caret_and_the_nearest_name() {
    let sandbox = Sandbox::stand_in();
    let file = sandbox.write(
        "try.yaml",
        "dataset: karate\nplan: {program: programs/gcn.py}\nrun:\n  epcohs: 5\n",
    );
    let output = sandbox.front("pipeline", &Recipe::file(file.clone()), &[]).expect(1);
    let output = output.says(&[
        "`run` has no setting `epcohs`",
        &format!("{}:4:3", file.display()),
        "^^^^^^",
        "did you mean `epochs`?",
    ]);
    let error = error(&output);
    assert_eq!(
        (error["kind"].as_str(), error["place"].as_str()),
        (Some("specification"), Some(format!("{}:4:3", file.display()).as_str()))
    );
    sandbox
        .front("pipeline", &Recipe::small().set("run.epcohs=5"), &[])
        .expect(1)
        .says(&["--set", "epcohs", "epochs"]);
    sandbox
        .front("pipeline", &Recipe::small().set("plan.set.hiden=5"), &[])
        .expect(1)
        .says(&["--set", "hiden", "hidden", "^"]);
    sandbox
        .front("pipeline", &Recipe::small().set("run.epochs=0"), &[])
        .expect(1)
        .says(&["epochs", "^"]);
    sandbox
        .front("pipeline", &Recipe::small().set("run.mode=iterate"), &[])
        .expect(1)
        .says(&["run.mode: iterate"]);
}

/// On a large graph, or in a queue, the stages before `plan` are an hour.
#[test]
fn what_can_be_known_is_found_before_the_first_stage() {
    let sandbox = Sandbox::stand_in();
    let program = |name: &str, text: &str| {
        format!("plan.program={}", sandbox.write(&format!("{name}.py"), text).display())
    };
    let file = |name: &str, text: &str| sandbox.write(name, text).display().to_string();
    let no_colon = program("bare", "def bare(v)\n    return v.x\n");
    let (other, tensors) =
        (file("other.csv", "name,part\n1,train\n"), file("none.safetensors", "no tensors at all"));
    let cases: [(&str, Vec<String>, &[&str]); 11] = [
        ("plan", vec![no_colon], &["the text is not Python", "bare.py:1:"]),
        (
            "plan",
            vec!["plan.program=nofile.py".into()],
            &["cannot read the vertex program", "nofile.py"],
        ),
        ("plan", vec!["plan.set.hiden=64".into()], &["hiden", "hidden", "^"]),
        (
            "plan",
            vec!["run.splits=no.csv".into()],
            &["cannot read the splits of `run.splits`", "no.csv"],
        ),
        (
            "run",
            vec![format!("run.splits={other}")],
            &["the table of parts has no column `id`", "id,split"],
        ),
        ("run", vec!["run.init=x".into()], &["cannot read initial parameters"]),
        ("run", vec![format!("run.init={tensors}")], &["not a safetensors file"]),
        ("run", vec!["run.mode=infer".into()], &["none are named for `gcn`", "run.init="]),
        (
            "plan",
            vec!["run.mode=link".into()],
            &["link prediction is not supported in this version yet"],
        ),
        ("plan", vec!["run.mode=iterate".into()], &["run.mode: iterate"]),
        ("partition", vec!["partition.scheme=file".into()], &["scheme `file` needs a table"]),
    ];
    for (stage, sets, words) in &cases {
        let recipe = sets.iter().fold(Recipe::small(), |recipe, set| recipe.set(set));
        let output = sandbox.front("pipeline", &recipe, &[]).expect(1).says(words);
        let lines = output.lines();
        assert_eq!(
            (lines.len(), lines[0]["stage"].as_str(), lines[0]["status"].as_str()),
            (1, Some(*stage), Some("failed")),
            "{output}"
        );
    }
    for device in [["--device", "gpu"], ["--device", "nothing.yaml"]] {
        sandbox
            .front("pipeline", &Recipe::small(), &device)
            .expect(1)
            .says(&["no device `", "hint:"]);
    }
    // The second variant, and a stage's own binary.
    let matrix = sandbox.write(
        "two.yaml",
        format!(
            "dataset: karate\nplan: {{program: {}}}\nmatrix: {{run.mode: [train, link]}}\n",
            gcn()
        ),
    );
    sandbox
        .front("pipeline", &Recipe::file(matrix), &[])
        .expect(1)
        .says(&["link prediction is not supported"]);
    sandbox
        .stage("ingest", &Recipe::small().set("run.mode=link"), &[])
        .expect(1)
        .says(&["link prediction is not supported"]);
    assert!(sandbox.view().of_kind("graph").is_empty(), "a stage ran before the mistake was found");
    let said = sandbox.warploom(&["pipeline", "two.yaml"]).expect(1);
    assert!(said.stdout.is_empty(), "no stage ran, so no table: {said}");
}

/// The program of the library.
fn gcn() -> String {
    repository().join("pipelines/programs/gcn.py").display().to_string()
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let sandbox = Sandbox::stand_in();
    let output = sandbox
        .front("pipeline", &Recipe::of("gcn", "karat"), &[])
        .expect(1)
        .says(&["no data set is called `karat`", "`karate`"]);
    assert_eq!(error(&output)["kind"], "input");
    for action in ["explain", "check"] {
        let output = sandbox
            .front(action, &Recipe::of("gcn", "karat"), &[])
            .expect(1)
            .says(&["no data set is called `karat`"]);
        assert_eq!(error(&output)["kind"], "input", "{action}");
    }
    for action in ["show", "fetch"] {
        sandbox
            .warploom(&["data", action, "coraa"])
            .expect(1)
            .says(&["no data set is called `coraa`", "`cora`"]);
    }
    sandbox.front("pipeline", &Recipe::small(), &["--device", "cpx"]).expect(1).says(&[
        "no device `cpx`",
        "hint:",
        "cpu",
    ]);
    if !std::path::Path::new("/dev/nvidia0").exists() {
        sandbox
            .front("pipeline", &Recipe::small(), &["--device", "cuda"])
            .expect(1)
            .says(&["no device `cuda`", "`h200`"]);
    }
    let edited = sandbox.write("mine.py", "def mine(v):\n    return v.x\n");
    let recipe = Recipe::small().set(&format!("plan.program={}", edited.display()));
    sandbox.front("pipeline", &recipe, &[]).expect(1).says(&["hint:"]);
    sandbox.warploom(&["check", "mine.py"]).expect(0);
    sandbox.write("mine.py", "def mine(v):\n    return v.spam\n");
    sandbox.warploom(&["check", "mine.py"]).expect(1).says(&["spam", "mine.py:2:"]);
    sandbox
        .warploom(&["check", "--dataset", "karate"])
        .expect(2)
        .says(&["`--dataset` is for programs"]);
    sandbox.warploom(&["store", "path", "abcdef"]).expect(1).says(&["no artifact", "store ls"]);
}

#[test]
fn made_up_features_are_refused_under_strict_and_only_there() {
    let further = "symmetrize: true\nmade_up: {features: 4, classes: 2}\nsplit: {rule: fractions, \
        train: 0.5, validation: 0.25, test: 0.25}";
    let sandbox = Sandbox::edge_lists(&[("small", "0 1\n1 2\n2 3\n")], further);
    let recipe = Recipe::of("gcn", "small").set("run.epochs=2");
    sandbox.front("pipeline", &recipe, &["--real"]).expect(0);
    let output = sandbox.front("pipeline", &recipe, &["--real=strict"]).expect(1).says(&[
        "made up",
        "--real=strict",
        "hint:",
    ]);
    assert_eq!(error(&output)["kind"], "input");
}

#[test]
fn a_limit_that_was_reached_is_three() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("pagerank", "karate").set("run.max_supersteps=2");
    let output = sandbox
        .front("pipeline", &recipe, &[])
        .expect(3)
        .says(&["not converged after 2 supersteps", "--set run.max_supersteps=20"]);
    assert_eq!(error(&output)["kind"], "limit_reached");
    assert!(sandbox.view().of_kind("run").is_empty());
    sandbox.stage("run", &recipe, &[]).expect(3);
    let taken =
        sandbox.front("pipeline", &recipe.set("run.allow_unconverged=true"), &[]).expect(0).lines();
    assert_eq!(taken[5]["status"], "built");
    assert_eq!(sandbox.view().of_kind("run")[0].record()["converged"], false);
}

#[test]
fn a_stage_without_the_stage_before_names_it() {
    let sandbox = Sandbox::stand_in();
    for (stage, before) in [("extract", "ingest"), ("run", "ingest")] {
        let output = sandbox.stage(stage, &Recipe::small(), &[]).expect(1);
        let output = output.says(&[
            &format!("the stage `{before}` before this one has not been run"),
            &format!("warploom-{before} --pipeline"),
        ]);
        assert_eq!(error(&output)["kind"], "input");
    }
    sandbox.stage("ingest", &Recipe::small(), &[]).expect(0);
    sandbox
        .stage("reorder", &Recipe::small(), &[])
        .expect(1)
        .says(&["the stage `extract` before this one"]);
}

#[test]
fn a_damaged_artifact_is_an_error_with_the_command_that_rebuilds_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let plan = sandbox.view().of_kind("plan").remove(0);
    fs::write(plan.path.join("plan.json"), "{").unwrap();
    let output = sandbox.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[
        "plan.json",
        "bytes, found 1",
        &format!("rm -r '{}'", plan.path.display()),
    ]);
    assert_eq!(error(&output)["kind"], "damaged");
    // What the hint says.
    fs::remove_dir_all(&plan.path).unwrap();
    let lines = sandbox.build(&Recipe::small());
    assert_eq!(
        (lines[4]["status"].as_str(), lines[5]["status"].as_str()),
        (Some("built"), Some("hit"))
    );
}

#[test]
fn a_check_that_fails_is_three() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let permutation = sandbox.view().of_kind("permutation").remove(0);
    let path = permutation.path.join("new_of_old.arrow");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    fs::write(&path, bytes).unwrap();
    let output = sandbox
        .stage("reorder", &Recipe::small(), &["check"])
        .expect(3)
        .says(&["new_of_old.arrow"]);
    assert_eq!(error(&output)["kind"], "check_failed");
    sandbox.front("check", &Recipe::small(), &[]).expect(3).says(&["new_of_old.arrow"]);
}

#[test]
fn too_little_memory_is_refused_before_it_is_used() {
    let sandbox = Sandbox::stand_in();
    let output = sandbox
        .front("pipeline", &Recipe::small(), &["--memory", "1KiB"])
        .expect(1)
        .says(&["hint:"]);
    assert_eq!(error(&output)["kind"], "memory");
}

#[test]
fn an_artifact_is_removed_by_its_key_unless_it_is_needed() {
    let sandbox = Sandbox::stand_in();
    let lines = sandbox.build(&Recipe::small());
    let key = |stage: usize| lines[stage]["key"].as_str().unwrap();
    let prefix = &key(0)[..10];
    sandbox.warploom(&["store", "rm", prefix]).expect(1).says(&[
        "is what ",
        " was made from",
        "--force",
    ]);
    sandbox.warploom(&["store", "rm", key(5)]).expect(0).prints(&[
        "run-v1",
        "asked for",
        "removed, ",
    ]);
    assert!(sandbox.view().of_kind("run").is_empty());
    sandbox.warploom(&["store", "rm", prefix, "--force"]).expect(0).prints(&["graph-v1"]);
    sandbox
        .warploom(&["store", "rm", prefix])
        .expect(1)
        .says(&["no artifact has a key that starts with"]);
}

#[test]
fn a_bad_entry_is_named_and_the_others_are_listed() {
    let mut sandbox =
        Sandbox::edge_lists(&[("fine", "0 1\n1 2\n")], "symmetrize: false\nsplit: {rule: none}");
    sandbox.add_entry("bad", &"[".repeat(100_000));
    let output = sandbox.warploom(&["data", "ls"]).expect(1);
    output
        .says(&["bad.yaml", "expected at most 64 levels of nesting", "1 of "])
        .prints(&["fine", "karate"]);
}

#[test]
fn control_characters_of_file_names_reach_no_terminal() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("raw/odd/edges\u{1b}[2J\u{9b}31m.txt", "0 1\n1 x\u{1b}]0;title\u{7} 5 7 9\n");
    let pipeline = Recipe::of("gcn", "odd");
    for arguments in
        [pipeline.arguments(&["pipeline"]), ["data", "show", "odd"].map(Into::into).into()]
    {
        let output = sandbox.warploom(&arguments);
        assert_ne!(output.code, Some(0), "{output}");
        let raw = |text: &str| text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
        assert!(
            !raw(&output.stdout) && !raw(&output.stderr),
            "{:?}",
            (&output.stdout, &output.stderr)
        );
        output.says(&["edges\\u001b[2J\\u009b31m.txt"]);
    }
}

#[test]
fn a_generator_whose_nodes_do_not_fit_is_refused() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("pagerank", "random-4294967294-1");
    sandbox
        .front("pipeline", &recipe, &["--memory", "1GiB"])
        .expect(1)
        .says(&["which take 32.0 GiB (34359738352 bytes) at least, and 1.00 GiB"]);
}

/// Whatever part of a start is the first that gets no memory: it ends with an exit code and its
/// reason, and by no signal.
#[test]
fn refused_memory_is_told() {
    let sandbox = Sandbox::stand_in();
    let mut told = 0;
    for megabytes in (4..=40).step_by(4) {
        let command = sandbox
            .with_store(format!("store-{megabytes}"))
            .command("warploom", &Recipe::small().arguments(&["pipeline", "--threads", "2"]));
        let limit = format!("--data={}", megabytes << 20);
        let output = start(started_by("prlimit", &[&limit], &command)).wait();
        if output.code == Some(127) || output.stderr.contains("failed to set") {
            return skipped(
                "exit_codes::refused_memory_is_told",
                "`prlimit` is missing or may not set a limit",
            );
        }
        assert!(matches!(output.code, Some(0 | 1 | 4)), "{megabytes} MiB: {output}");
        told += usize::from(output.stderr.contains("out of memory: the system refused"));
    }
    assert!(told > 0, "no limit was small enough");
}
