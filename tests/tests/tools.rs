//! Proves what the small sub-commands promise: `store`, `export`, `data`, `doctor`, `schema`,
//! `completions`, `man`.
use std::fs;

use serde_json::{Value, json};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};

#[test]
fn store_lists_every_artifact_and_finds_it_by_its_first_digits() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let all = sandbox.view().artifacts();
    let listed = sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines();
    assert_eq!((listed.len(), all.len()), (9, 9));
    sandbox.warploom(&["store", "ls"]).expect(0).prints(&["9 artifacts", "nodes 34"]);
    for artifact in &all {
        assert!(
            listed.iter().any(|line| line["kind"] == artifact.kind.as_str()
                && line["key"] == artifact.key.as_str())
        );
        sandbox
            .warploom(&["store", "path", &artifact.key[..12]])
            .expect(0)
            .prints(&[artifact.path.to_str().unwrap()]);
    }
    sandbox
        .warploom(&["store", "path", ""])
        .expect(2)
        .says(&["expected the first digits of a key"]);
    sandbox.warploom(&["store", "verify"]).expect(0).prints(&["9 artifacts checked, 0 damaged"]);
    let graph = sandbox.view().of_kind("graph").remove(0);
    sandbox
        .warploom(&["store", "verify", &graph.key])
        .expect(0)
        .prints(&["1 artifacts checked, 0 damaged"]);
}

#[test]
fn export_copies_the_files_and_overwrites_none() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    for kind in ["run", "profile"] {
        let artifact = sandbox.view().of_kind(kind).remove(0);
        let target = sandbox.path(&format!("out-{kind}"));
        let arguments = ["export", &artifact.key, "-o", target.to_str().unwrap(), "--as", "files"];
        sandbox.warploom(&arguments).expect(0);
        // A key of several kinds gets a folder for each.
        let folder = if kind == "run" { target.clone() } else { target.join(kind) };
        for file in artifact.files() {
            assert!(
                fs::read(folder.join(&file)).unwrap()
                    == fs::read(artifact.path.join(&file)).unwrap(),
                "{file}"
            );
        }
        sandbox.warploom(&arguments).expect(1).says(&["the file is there already", "hint:"]);
    }
}

#[test]
fn gc_keeps_runs_and_what_they_need_and_removes_what_is_asked_for() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    sandbox.stage("ingest", &Recipe::small().set("ingest.seed=9"), &[]).expect(0);
    let before = sandbox.view().digests();
    assert_eq!(before.len(), 10);
    sandbox.warploom(&["store", "gc"]).expect(0);
    assert_eq!(sandbox.view().digests(), before, "gc without a wish removed an artifact");
    sandbox
        .warploom(&["store", "gc", "--unreachable", "--dry-run"])
        .expect(0)
        .prints(&["would be removed", "no run was made from it"]);
    assert_eq!(sandbox.view().digests(), before, "--dry-run removed an artifact");
    sandbox
        .warploom(&["store", "gc", "--unreachable"])
        .expect(0)
        .prints(&["no run was made from it"]);
    assert_eq!(sandbox.view().digests().len(), 9, "what the run was made from stays");
    sandbox.warploom(&["store", "gc", "--keep", "0B"]).expect(0);
    assert_eq!(sandbox.view().of_kind("run").len(), 1, "a run went without --runs");
    sandbox.warploom(&["store", "gc", "--keep", "0B", "--runs"]).expect(0);
    assert!(sandbox.view().digests().is_empty(), "{:?}", sandbox.view().digests());
    assert_eq!(
        sandbox.build(&Recipe::small()).iter().filter(|line| line["status"] == "built").count(),
        6
    );
}

#[test]
fn data_shows_what_is_known() {
    let sandbox = Sandbox::stand_in();
    sandbox.warploom(&["data", "ls"]).expect(0).prints(&[
        "amazon0505",
        "cora",
        "karate",
        "stand-in",
    ]);
    sandbox.warploom(&["data", "show", "karate"]).expect(0).prints(&["Zachary", "34"]);
    let shown = sandbox
        .warploom(&["data", "show", "karate", "--format", "json"])
        .expect(0)
        .lines()
        .remove(0);
    assert_eq!(shown["entry"]["expected"]["nodes"], 34);
    assert_eq!(
        (&shown["profile"]["nodes"], &shown["provenance"]),
        (&json!(34), &json!("stand-in"))
    );
    // karate has no address: nothing can be fetched, and no network is touched.
    sandbox.warploom(&["data", "fetch", "karate"]).expect(1).says(&["karate.gml"]);
}

#[test]
fn data_show_makes_the_profile_once_and_under_the_key_of_a_pipeline() {
    let Some(sandbox) =
        Sandbox::real("data_show_makes_the_profile_once_and_under_the_key_of_a_pipeline")
    else {
        return;
    };
    let show = |further: &[&str]| {
        sandbox.warploom(&[&["data", "show", "cora", "--format", "json"], further].concat())
    };
    let first = show(&[]).expect(0).says(&["not in the store yet"]).lines().remove(0);
    let profile = &first["profile"];
    assert_eq!(
        (&profile["nodes"], &profile["edges"], &first["provenance"]),
        (&json!(2708), &json!(10858), &json!("real"))
    );
    // Homophily and features: numpy on the Planetoid files; Platonov et al. (2023) print 0.81 and
    // 0.77.
    let about = |found: &Value, expected: f64| (found.as_f64().unwrap() - expected).abs() < 5e-5;
    assert!(
        about(&profile["homophily"]["share"], 0.813_778)
            && about(&profile["homophily"]["adjusted"], 0.775_477),
        "{}",
        profile["homophily"]
    );
    assert_eq!(profile["features"][0]["nonzero"], 49_216);
    assert_eq!(profile["labels"]["listed"][0], json!({"class": 3, "count": 818}));
    let before = sandbox.view().digests();
    let again = show(&[]).expect(0);
    assert!(!again.stderr.contains("not in the store yet"), "{}", again.stderr);
    assert_eq!((&again.lines()[0]["profile"], sandbox.view().digests()), (profile, before));
    let page = sandbox
        .warploom(&["data", "show", "cora"])
        .expect(0)
        .prints(&["nodes by class", "1.3% of the values are not 0", "81.4% of edges"])
        .stdout;
    page.lines()
        .filter(|line| !line.contains(sandbox.path("").to_str().unwrap()))
        .for_each(|line| assert!(line.chars().count() <= 100, "{line}"));
    // Other settings, another graph; the catalogue is shown even where the graph cannot be had.
    let looped = show(&["--set", "ingest.self_loops=add"]).expect(0).lines().remove(0);
    assert_eq!(looped["profile"]["self_loops"], 2708);
    let absent = Sandbox::stand_in();
    absent
        .warploom(&["data", "show", "cora", "--real"])
        .expect(1)
        .prints(&["Citations among"])
        .says(&["a stand-in was refused"]);
}

#[test]
fn doctor_says_what_there_is_and_leaves_nothing_behind() {
    let sandbox = Sandbox::stand_in();
    let told = sandbox.warploom(&["doctor", "--format", "json"]);
    let bad: Vec<_> = told.lines().iter().filter(|line| line["ok"] != true).cloned().collect();
    // A disk that is nearly full is the machine's, not ours, but it has to be told, with a way out.
    assert!(
        bad.iter().all(|line| line["what"] == "store: space" && line["hint"].is_string()),
        "{bad:#?}"
    );
    told.expect(i32::from(!bad.is_empty()));
    sandbox.warploom(&["doctor"]).expect(i32::from(!bad.is_empty())).prints(&[
        "processor",
        "store: rename",
        "the first writer wins",
    ]);
    assert!(!sandbox.store.exists());
    let left: Vec<_> =
        fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["raw"]);
}

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let sandbox = Sandbox::stand_in();
    let schema = sandbox.warploom(&["schema"]).expect(0).stdout;
    let path = repository().join("pipelines/schema.json");
    let kept = fs::read_to_string(&path).unwrap();
    assert!(
        kept == schema,
        "pipelines/schema.json is stale: refresh it with  target/debug/warploom schema > \
         pipelines/schema.json"
    );
}

#[test]
fn completions_and_manual_name_the_sub_commands() {
    let sandbox = Sandbox::stand_in();
    for shell in ["bash", "zsh", "fish"] {
        sandbox
            .warploom(&["completions", shell])
            .expect(0)
            .prints(&["warploom", "pipeline", "explain"]);
    }
    let manual = [
        ".TH warploom",
        ".SS \"warploom store gc\"",
        "\\-\\-older\\-than",
        ".SH \"EXIT STATUS\"",
        ".SH ENVIRONMENT",
        "WARPLOOM_STORE",
    ];
    sandbox.warploom(&["man"]).expect(0).prints(&manual);
}

#[test]
fn every_pipeline_of_the_repository_runs() {
    let sandbox = Sandbox::stand_in();
    for entry in fs::read_dir(repository().join("pipelines")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let lines = sandbox.build(&Recipe::file(path).set("dataset=karate"));
            assert_eq!(lines[5]["stage"], "run");
        }
    }
    for entry in fs::read_dir(repository().join("pipelines/programs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        sandbox.warploom(&["check", path.to_str().unwrap()]).expect(0).prints(&[&name]);
    }
}

#[test]
fn artifacts_of_other_formats_are_told_and_go_when_asked_for() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let (digests, key) = (sandbox.view().digests(), "0123456789abcdef".repeat(2));
    for kind in ["plan-v1", "run-v0", "graph-v99"] {
        sandbox.write(&format!("store/{kind}/{key}/manifest.json"), "of another version");
    }
    let gc = format!(
        "remove with  warploom store gc --store {} --older-formats",
        sandbox.store.display()
    );
    let told = [
        &format!("older formats: 1 artifact, 18 B; {gc}\n"),
        &format!("older formats, results of runs: 1 artifact, 18 B; {gc} --runs\n"),
        "newer formats: 1 artifact, 18 B; a newer version of Warploom reads them\n",
    ];
    sandbox.warploom(&["store", "ls"]).expect(0).prints(&told);
    sandbox.warploom(&["store", "gc"]).expect(0).prints(&told);
    let is_there = |kind: &str| sandbox.store.join(kind).exists();
    let there = || [is_there("plan-v1"), is_there("run-v0"), is_there("graph-v99")];
    assert_eq!(there(), [true; 3]);
    sandbox.warploom(&["store", "gc", "--older-formats"]).expect(0).prints(&[
        "of a format that this version replaced",
        told[1],
        told[2],
    ]);
    assert_eq!(there(), [false, true, true]);
    sandbox.warploom(&["store", "gc", "--older-formats", "--runs"]).expect(0).prints(&[told[2]]);
    assert_eq!(there(), [false, false, true]);
    std::fs::remove_dir_all(sandbox.store.join("graph-v99")).unwrap();
    assert_eq!(sandbox.view().digests(), digests);
}

#[test]
fn a_record_that_cannot_be_read_is_an_error_of_the_start_that_tells_of_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let record = sandbox.view().of_kind("run").remove(0).path.join("record.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replacen('{', "x", 1)).unwrap();
    let name = record.to_str().unwrap();
    for format in ["human", "json"] {
        let arguments = Recipe::small().arguments(&["pipeline", "--format", format]);
        sandbox.warploom(&arguments).expect(1).says(&[name, "not the JSON page", "hint:", "rm -r"]);
    }
}
