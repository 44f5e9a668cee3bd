//! Proves that a pipeline builds six stages once, that every road to an artifact (front door, stage
//! by stage, matrix, any number of threads) gives the same keys and bytes, and that `check`,
//! `explain`, `key` and `--force` do what the interface says.
use std::{collections::BTreeSet, fs};

use serde_json::Value;
use warploom_contract::{Digest, Kind};
use warploom_shell::StageName;
use warploom_test_support::process::{Output, start, started_by};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};

/// The stages in their order.
pub const STAGES: [&str; StageName::ALL.len()] = StageName::NAMES;

/// One field of every line.
pub fn each<'a>(lines: &'a [Value], field: &str) -> Vec<&'a str> {
    lines.iter().map(|line| line[field].as_str().unwrap()).collect()
}

fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_first_run_builds_six_and_the_second_hits_six_and_changes_no_byte() {
    let sandbox = Sandbox::stand_in();
    let first = sandbox.build(&Recipe::small());
    assert_eq!(each(&first, "stage"), STAGES);
    assert_eq!(each(&first, "status"), ["built"; STAGES.len()]);
    assert_eq!(sandbox.view().flaws(), [""; 0]);
    assert!(sandbox.view().leftovers().is_empty());
    let before = sandbox.view().snapshot();
    let second = sandbox.build(&Recipe::small());
    assert_eq!(each(&second, "status"), ["hit"; STAGES.len()]);
    assert_eq!(each(&second, "key"), each(&first, "key"));
    let after = sandbox.view().snapshot();
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let changed: Vec<_> = before.keys().filter(|path| before[*path] != after[*path]).collect();
    assert!(changed.is_empty(), "a hit changed {changed:?}");
}

#[test]
fn json_lines_have_exactly_the_fields_of_the_interface() {
    let sandbox = Sandbox::stand_in();
    for line in sandbox.build(&Recipe::small()) {
        let expected =
            ["stage", "status", "key", "artifacts", "seconds", "why", "provenance", "made_up"];
        assert_eq!(names(&line), BTreeSet::from(expected));
        assert!(
            line["seconds"].as_f64().unwrap() > 0.0
                && line["made_up"].is_array()
                && line["why"].is_string()
        );
        for artifact in line["artifacts"].as_array().unwrap() {
            assert_eq!(names(artifact), BTreeSet::from(["kind", "path", "bytes"]));
            let folder = std::path::PathBuf::from(artifact["path"].as_str().unwrap());
            let kind = Kind::ALL.iter().find(|kind| kind.name() == artifact["kind"]).unwrap();
            assert!(folder.ends_with(format!(
                "{}-v{}/{}",
                kind.name(),
                kind.version(),
                line["key"].as_str().unwrap()
            )));
            let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
            let bytes: u64 = files
                .filter(|file| file.file_name() != "manifest.json")
                .map(|file| file.metadata().unwrap().len())
                .sum();
            assert_eq!(artifact["bytes"].as_u64(), Some(bytes));
        }
    }
    let refused =
        sandbox.front("pipeline", &Recipe::small().set("plan.set.hidden=0"), &[]).expect(1).lines();
    let last = refused.last().unwrap();
    assert_eq!((last["stage"].as_str(), last["status"].as_str()), (Some("plan"), Some("failed")));
    assert_eq!(
        names(last),
        BTreeSet::from([
            "stage",
            "status",
            "key",
            "artifacts",
            "seconds",
            "why",
            "provenance",
            "made_up",
            "error"
        ])
    );
    assert_eq!(names(&last["error"]), BTreeSet::from(["kind", "what", "place", "hint"]));
}

#[test]
fn a_stage_that_writes_several_kinds_has_one_key_for_all() {
    let sandbox = Sandbox::stand_in();
    let lines = sandbox.build(&Recipe::small());
    let kinds = |line: &Value| -> Vec<String> {
        line["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|artifact| artifact["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    let written: Vec<Vec<String>> = lines.iter().map(kinds).collect();
    assert_eq!(
        written,
        [
            vec!["graph"],
            vec!["csr", "profile"],
            vec!["csr", "permutation"],
            vec!["partition"],
            vec!["plan"],
            vec!["run"]
        ]
    );
    // A hit needs all of them.
    let extract = &lines[1];
    let profile = extract["artifacts"][1]["path"].as_str().unwrap();
    fs::remove_dir_all(profile).unwrap();
    let again = sandbox.build(&Recipe::small());
    assert_eq!(each(&again, "status"), ["hit", "built", "hit", "hit", "hit", "hit"]);
    assert!(again[1]["why"].as_str().unwrap().contains("missing"), "{}", again[1]["why"]);
}

#[test]
fn stage_by_stage_gives_the_keys_and_digests_of_the_front_door() {
    let sandbox = Sandbox::stand_in();
    let front = sandbox.build(&Recipe::small());
    let alone = sandbox.with_store("alone");
    for (stage, expected) in STAGES.iter().zip(&front) {
        for status in ["built", "hit"] {
            let lines = alone.stage(stage, &Recipe::small(), &[]).expect(0).lines();
            assert_eq!(lines.len(), 1);
            assert_eq!(
                (lines[0]["stage"].as_str(), lines[0]["status"].as_str(), &lines[0]["key"]),
                (Some(*stage), Some(status), &expected["key"])
            );
        }
    }
    assert_eq!(alone.view().digests(), sandbox.view().digests());
    assert_eq!(sandbox.view().digests().len(), 9);
}

#[test]
fn results_do_not_depend_on_threads_or_on_memory() {
    for recipe in [
        Recipe::of("gcn", "cora").set("run.epochs=3"),
        Recipe::of("pagerank", "cora"),
        Recipe::of("sage", "karate").set("run.epochs=3"),
    ] {
        let sandbox = Sandbox::stand_in();
        sandbox.front("pipeline", &recipe, &["--threads", "1"]).expect(0);
        let other = sandbox.with_store("other");
        other.front("pipeline", &recipe, &["--threads", "7", "--memory", "3GiB"]).expect(0);
        assert_eq!(sandbox.view().digests(), other.view().digests());
    }
}

#[test]
fn check_proves_all_six_and_each_alone() {
    let sandbox = Sandbox::stand_in();
    for recipe in [
        Recipe::small(),
        Recipe::of("pagerank", "karate"),
        Recipe::of("components", "karate"),
        Recipe::of("sage", "karate").set("run.epochs=2"),
    ] {
        let built = sandbox.build(&recipe);
        let proved = sandbox.front("check", &recipe, &[]).expect(0).lines();
        assert_eq!(each(&proved, "stage"), STAGES);
        assert_eq!(each(&proved, "status"), ["proved"; STAGES.len()]);
        for (stage, built) in STAGES.iter().zip(&built) {
            let line = sandbox.stage(stage, &recipe, &["check"]).expect(0).lines().remove(0);
            assert_eq!((line["status"].as_str(), &line["key"]), (Some("proved"), &built["key"]));
        }
    }
    let text = sandbox.warploom(&Recipe::small().arguments(&["check"])).expect(0);
    assert_eq!(text.stdout.lines().filter(|line| line.contains("proved")).count(), STAGES.len());
}

#[test]
fn check_changes_nothing_and_needs_an_output() {
    let sandbox = Sandbox::stand_in();
    sandbox
        .front("check", &Recipe::small(), &[])
        .expect(1)
        .says(&["no output of `ingest`", "hint:"]);
    sandbox.build(&Recipe::small());
    let before = sandbox.view().snapshot();
    sandbox.front("check", &Recipe::small(), &[]).expect(0);
    assert!(before == sandbox.view().snapshot(), "`check` changed the store");
}

#[test]
fn explain_names_the_ingredient_that_differs() {
    let sandbox = Sandbox::stand_in();
    let kept = Recipe::small().set("reorder.method=none");
    let never = sandbox.front("explain", &kept, &[]).expect(0).lines();
    assert_eq!(
        each(&never[..STAGES.len()], "status"),
        ["miss", "unknown", "unknown", "unknown", "unknown", "unknown"]
    );
    sandbox.build(&kept);
    let hits = sandbox.front("explain", &kept, &[]).expect(0).lines();
    assert_eq!(each(&hits[..STAGES.len()], "status"), ["hit"; STAGES.len()]);
    assert!(hits[STAGES.len()..].iter().any(|line| line["choice"] == "plan" && !line["reasons"].as_array().unwrap().is_empty()), "no reasons of the plan");
    let changed = Recipe::small().set("reorder.method=degree");
    let lines = sandbox.front("explain", &changed, &[]).expect(0).lines();
    assert_eq!(
        each(&lines[..STAGES.len()], "status"),
        ["hit", "hit", "miss", "unknown", "unknown", "unknown"]
    );
    let difference = serde_json::json!([{"ingredient": "request.settings.method", "now": "degree", "nearest": "none"}]);
    assert_eq!(lines[2]["differences"], difference);
    let alone = sandbox.stage("reorder", &changed, &["explain"]).expect(0).lines();
    assert_eq!(alone[0], lines[2]);
    sandbox
        .warploom(&changed.arguments(&["explain"]))
        .expect(0)
        .prints(&["reorder.method is \"degree\" (nearest earlier run: \"none\")"]);
    let built = sandbox.build(&changed);
    assert_eq!(each(&built[..3], "status"), ["hit", "hit", "built"]);
    assert!(built[2]["why"].as_str().unwrap().contains("reorder.method is"), "{}", built[2]["why"]);
}

#[test]
fn a_key_is_the_hash_of_the_document_that_key_prints() {
    let sandbox = Sandbox::stand_in();
    let built = sandbox.build(&Recipe::small());
    for (stage, line) in STAGES.iter().zip(&built) {
        let key = line["key"].as_str().unwrap();
        let printed = sandbox.stage(stage, &Recipe::small(), &["key"]).expect(0).stdout;
        assert_eq!(&Digest::from_bytes(printed.trim_end().as_bytes()).as_str()[..32], key);
        let explained =
            sandbox.stage(stage, &Recipe::small(), &["explain"]).expect(0).lines().remove(0);
        assert_eq!(
            (explained["status"].as_str(), explained["key"].as_str()),
            (Some("hit"), Some(key))
        );
        let text = sandbox
            .run(&format!("warploom-{stage}"), &Recipe::small().arguments(&["key"]))
            .expect(0)
            .stdout;
        assert!(text.starts_with(&format!("key {key}\n")), "{text}");
        for path in [
            sandbox.store.to_str().unwrap(),
            sandbox.data.to_str().unwrap(),
            repository().to_str().unwrap(),
        ] {
            assert!(
                !printed.contains(path),
                "a path is in the key document of `{stage}`: {printed}"
            );
        }
    }
}

#[test]
fn force_builds_again_and_finds_the_same_bytes() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let before = sandbox.view().snapshot();
    let forced = sandbox.front("pipeline", &Recipe::small(), &["--force"]).expect(0).stages();
    assert_eq!(each(&forced, "status"), ["built"; STAGES.len()]);
    for line in &forced {
        assert!(line["why"].as_str().unwrap().contains("the same bytes as before"), "{line}");
    }
    assert!(before == sandbox.view().snapshot(), "`--force` with the same bytes changed the store");
    assert!(sandbox.view().leftovers().is_empty());
    // The record that stays is that of the first run, and its figures are called so.
    let told = sandbox.warploom(&Recipe::small().arguments(&["pipeline", "--force"])).expect(0);
    assert!(
        told.stdout
            .lines()
            .any(|line| line.starts_with("measured: in the run of ")
                && line.ends_with(", which stays")),
        "{told}"
    );
    let hit = sandbox.warploom(&Recipe::small().arguments(&["pipeline"])).expect(0);
    assert!(!hit.stdout.contains("measured:"), "{hit}");
}

#[test]
fn a_matrix_makes_several_runs_that_share_what_they_can() {
    let sandbox = Sandbox::stand_in();
    let program = repository().join("pipelines/programs/gcn.py");
    let text = format!(
        "dataset: karate\nplan: {{program: {}}}\nrun: {{epochs: 3}}\nmatrix: {{plan.set.hidden: \
            [4, 8], run.seed: [1, 2, 3]}}\n",
        program.display()
    );
    let recipe = Recipe::file(sandbox.write("sweep.yaml", text));
    let lines = sandbox.build(&recipe);
    assert_eq!(lines.len(), 36);
    for (stage, distinct) in STAGES.iter().zip([1, 1, 1, 1, 2, 6]) {
        let of_stage: Vec<&Value> = lines.iter().filter(|line| line["stage"] == *stage).collect();
        let keys: BTreeSet<&str> =
            of_stage.iter().map(|line| line["key"].as_str().unwrap()).collect();
        let built = of_stage.iter().filter(|line| line["status"] == "built").count();
        assert_eq!((keys.len(), built), (distinct, distinct), "{stage}");
    }
    let summaries = sandbox.warploom(&recipe.arguments(&["pipeline"])).expect(0).stdout;
    assert_eq!(summaries.matches("sweep on karate (").count(), 6, "{summaries}");
    assert!(
        summaries.contains("plan.set.hidden=8") && summaries.contains("run.seed=3"),
        "{summaries}"
    );
}

#[test]
fn a_pipeline_may_come_from_standard_input() {
    let sandbox = Sandbox::stand_in();
    let program = repository().join("pipelines/programs/pagerank.py");
    sandbox
        .write("in.yaml", format!("dataset: karate\nplan: {{program: {}}}\n", program.display()));
    let inner = sandbox.command("warploom", &["pipeline", "-"]);
    let run = |file: &str| {
        start(started_by("sh", &["-c", &format!("exec \"$0\" \"$@\" < {file}")], &inner)).wait()
    };
    run("in.yaml").expect(0).prints(&["stdin on karate", "supersteps"]);
    sandbox.write("wrong.yaml", "dataset: karate\nplam: {}\n");
    run("wrong.yaml").expect(1).says(&["--> -:2:1", "did you mean `plan`?"]);
}

#[test]
fn a_pipeline_file_that_is_not_there_is_answered_with_those_that_are() {
    let sandbox = Sandbox::stand_in();
    for number in 0..11 {
        sandbox.write(&format!("own/pipeline_{number:02}.yaml"), "dataset: karate\n");
    }
    let far = sandbox
        .warploom(&["pipeline", "own/elsewhere.yaml"])
        .expect(1)
        .says(&["no such pipeline file", "own/pipeline_07.yaml  and 3 more"]);
    assert!(!far.stderr.contains("did you mean"), "{far}");
    sandbox
        .warploom(&["pipeline", "own/pipelime_03.yaml"])
        .expect(1)
        .says(&["did you mean  own/pipeline_03.yaml"]);
    sandbox
        .warploom(&["pipeline", "own"])
        .expect(1)
        .says(&["is a folder", "own/pipeline_07.yaml  and 3 more"]);
}

#[test]
fn programs_get_a_summary_of_each_run_last() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::small().set("matrix={plan.set.hidden: [4, 8]}").set("run.seed=9");
    let lines = sandbox.front("pipeline", &recipe, &[]).expect(0).lines();
    assert_eq!(each(&lines[..2 * STAGES.len()], "stage"), [STAGES, STAGES].concat());
    assert_eq!(lines.len(), 14);
    for (line, (hidden, run)) in lines[12..].iter().zip([("4", &lines[5]), ("8", &lines[11])]) {
        assert_eq!(names(line), BTreeSet::from(["summary"]));
        let summary = &line["summary"];
        let expected = [
            "pipeline",
            "dataset",
            "provenance",
            "variant",
            "seed",
            "metrics",
            "epochs",
            "device",
            "run",
            "seconds",
            "status",
        ];
        assert_eq!(names(summary), BTreeSet::from(expected));
        assert_eq!(
            (&summary["variant"], summary["status"].as_str()),
            (&serde_json::json!({"plan.set.hidden": hidden}), Some("done"))
        );
        assert_eq!(
            (summary["pipeline"].as_str(), summary["dataset"].as_str(), &summary["run"]),
            (Some("gcn"), Some("karate"), &run["key"])
        );
        assert_eq!(
            (summary["provenance"].as_str(), summary["seed"].as_u64(), summary["epochs"].as_u64()),
            (Some("stand-in"), Some(9), Some(5))
        );
        let metrics = names(&summary["metrics"]);
        assert!(
            metrics.is_superset(&BTreeSet::from([
                "loss",
                "test_accuracy",
                "train_accuracy",
                "test_f1"
            ])),
            "{metrics:?}"
        );
        assert!(summary["seconds"].as_f64().unwrap() > 0.0 && summary["device"].is_string());
    }
    let iterated = sandbox
        .front("pipeline", &Recipe::of("pagerank", "karate"), &[])
        .expect(0)
        .lines()
        .remove(6);
    assert!(
        iterated["summary"]["supersteps"].as_u64().unwrap() > 1
            && iterated["summary"]["epochs"].is_null(),
        "{iterated}"
    );
}

#[test]
fn a_person_sees_a_table_that_ends_with_the_results() {
    let sandbox = Sandbox::stand_in();
    let Output { stdout, .. } =
        sandbox.warploom(&Recipe::small().arguments(&["pipeline"])).expect(0);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].starts_with("gcn on karate"), "{stdout}");
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["stage", "status", "seconds", "size", "key", "why"]
    );
    let rows: Vec<&str> =
        lines[2..8].iter().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(rows, STAGES);
    assert!(lines[8].starts_with("peak memory: predicted "), "{stdout}");
    assert!(
        lines[9].contains("5 epochs")
            && lines[9].contains("test accuracy 0.")
            && lines[9].contains("loss "),
        "{stdout}"
    );
    assert!(
        lines[10].starts_with("results: ")
            && std::path::Path::new(&lines[10]["results: ".len()..]).is_dir(),
        "{stdout}"
    );
    // The last line can be typed as it stands.
    let export =
        lines[11].strip_prefix("export:  warploom ").expect("a command that exports the run");
    let exported = start({
        let mut command = sandbox.bare("warploom");
        command.args(export.split(' '));
        command
    });
    exported.wait().expect(0).prints(&["(gcn on karate, STAND-IN, seed ", ", test accuracy 0."]);
    assert_eq!(lines.len(), 12);
    let quiet = sandbox.warploom(&Recipe::small().arguments(&["pipeline", "-q"])).expect(0);
    assert_eq!(quiet.stderr, "", "a hit has nothing to say on stderr");
}

#[test]
fn a_deleted_artifact_is_rebuilt_with_the_same_bytes() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let digests = sandbox.view().digests();
    for artifact in sandbox.view().artifacts() {
        fs::remove_dir_all(&artifact.path).unwrap();
        let lines = sandbox.build(&Recipe::small());
        // The order is there whatever becomes of the choice that named it.
        let built = usize::from(artifact.kind != "tune");
        assert_eq!(
            each(&lines, "status").iter().filter(|status| **status == "built").count(),
            built,
            "{} {lines:?}",
            artifact.kind
        );
        assert_eq!(sandbox.view().digests(), digests, "{}", artifact.kind);
    }
}
