//! Proves, one ingredient after the other, that whatever a stage's output depends on is in its key,
//! and that what changes no output is not: places, limits, talk, names, checkpoints, defaults that
//! are written down.
use std::{collections::BTreeMap, fs, path::PathBuf};

use warploom_contract::Digest;
use warploom_test_support::process::Output;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};

use crate::pipeline::STAGES;

const RING: &str = "0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n";
const FURTHER: &str = "symmetrize: true\nmade_up: {features: 4, classes: 2}\nsplit: {rule: \
    fractions, train: 0.6, validation: 0.2, test: 0.2}";
const PIPELINE: &str =
    "dataset: ring\nplan: {program: programs/gcn.py, set: {hidden: 4}}\nrun: {epochs: 2}\n";

/// A ring with two chords and a pipeline file beside copies of the programs.
fn ring() -> (Sandbox, Recipe) {
    let sandbox = Sandbox::edge_lists(&[("ring", RING)], FURTHER);
    for name in ["gcn.py", "sage.py"] {
        let text = fs::read_to_string(repository().join("pipelines/programs").join(name)).unwrap();
        sandbox.write(&format!("pipelines/programs/{name}"), text);
    }
    let recipe = Recipe::file(sandbox.write("pipelines/ring.yaml", PIPELINE));
    (sandbox, recipe)
}

/// The key that a stage's binary computes; the stages before must be in the store.
fn key(sandbox: &Sandbox, stage: &str, recipe: &Recipe, further: &[&str]) -> String {
    let printed = sandbox.stage(stage, recipe, &[&["key"], further].concat()).expect(0).stdout;
    hash(&printed)
}

fn hash(printed: &str) -> String {
    Digest::from_bytes(printed.trim_end().as_bytes()).as_str()[..32].to_owned()
}

/// Every assignment gives another key of this stage, all of them different.
fn all_differ(stage: &str, assignments: &[&str]) {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let mut seen = BTreeMap::from([(key(&sandbox, stage, &recipe, &[]), "nothing")]);
    for assignment in assignments {
        if let Some(other) =
            seen.insert(key(&sandbox, stage, &recipe.clone().set(assignment), &[]), assignment)
        {
            panic!("{stage}: `{assignment}` gives the same key as `{other}`");
        }
    }
}

/// No assignment changes the key of this stage.
fn none_differs(stage: &str, assignments: &[&str]) {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let expected = key(&sandbox, stage, &recipe, &[]);
    for assignment in assignments {
        assert_eq!(
            key(&sandbox, stage, &recipe.clone().set(assignment), &[]),
            expected,
            "{stage}: `{assignment}` changes the key"
        );
    }
}

#[test]
fn every_setting_of_ingest_is_in_its_key() {
    all_differ(
        "ingest",
        &[
            "ingest.symmetrize=true",
            "ingest.symmetrize=false",
            "ingest.self_loops=drop",
            "ingest.self_loops=add",
            "ingest.self_loops=replace",
            "ingest.duplicates=merge",
            "ingest.duplicates=sum",
            "ingest.duplicates=min",
            "ingest.duplicates=max",
            "ingest.duplicates=first",
            "ingest.features=degree",
            "ingest.features=constant",
            "ingest.features=random",
            "ingest.features=none",
            "ingest.normalize=row",
            "ingest.ids=number",
            "ingest.ids=string",
            "ingest.seed=1",
        ],
    );
}

#[test]
fn the_bytes_of_raw_files_are_in_the_key_of_ingest() {
    let (sandbox, recipe) = ring();
    let first = key(&sandbox, "ingest", &recipe, &[]);
    let raw = sandbox.data.join("ring/edges.txt");
    fs::write(&raw, format!("{RING}0 3\n")).unwrap();
    let second = key(&sandbox, "ingest", &recipe, &[]);
    assert_ne!(first, second);
    // The same size, the same second: only the bytes differ.
    fs::write(&raw, format!("{RING}0 2\n")).unwrap();
    assert!(![first.clone(), second].contains(&key(&sandbox, "ingest", &recipe, &[])));
    fs::write(&raw, RING).unwrap();
    assert_eq!(key(&sandbox, "ingest", &recipe, &[]), first);
}

#[test]
fn the_data_set_and_what_the_catalogue_says_of_it_are_in_the_key_of_ingest() {
    let (mut sandbox, recipe) = ring();
    let mut keys = vec![key(&sandbox, "ingest", &recipe, &[])];
    sandbox.add_edge_list("twin", RING, FURTHER);
    keys.push(key(&sandbox, "ingest", &recipe.clone().set("dataset=twin"), &[]));
    for (from, to) in [
        ("symmetrize: true", "symmetrize: false"),
        ("features: 4", "features: 5"),
        ("classes: 2", "classes: 3"),
        ("train: 0.6", "train: 0.5"),
    ] {
        assert!(FURTHER.contains(from));
        sandbox.add_edge_list("ring", RING, &FURTHER.replace(from, to));
        keys.push(key(&sandbox, "ingest", &recipe, &[]));
    }
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "two of them are the same");
}

#[test]
fn real_data_and_a_stand_in_have_different_keys() {
    let recipe = "stand_in: {nodes: 5, edges: 12, symmetric: true, max_degree: 3, community: 5, \
                  inside: 0.5, features: 4, classes: 2, seed: 1}";
    let further = format!("{FURTHER}\n{recipe}");
    let mut sandbox = Sandbox::edge_lists(&[("ring", RING)], &further);
    let recipe = Recipe::of("gcn", "ring").set("run.epochs=2");
    let real = key(&sandbox, "ingest", &recipe, &[]);
    fs::rename(sandbox.data.join("ring/edges.txt"), sandbox.path("edges.txt")).unwrap();
    fs::write(sandbox.data.join("ring/.absent"), "2026-01-01\nno network in tests\n").unwrap();
    let made = key(&sandbox, "ingest", &recipe, &[]);
    assert_ne!(real, made);
    sandbox.add_edge_list("ring", RING, &further.replace("seed: 1", "seed: 2"));
    fs::remove_file(sandbox.data.join("ring/edges.txt")).unwrap();
    assert_ne!(
        key(&sandbox, "ingest", &recipe, &[]),
        made,
        "the recipe of a stand-in is an ingredient"
    );
}

#[test]
fn settings_of_reorder_and_partition_are_in_their_keys() {
    all_differ("reorder", &["reorder.method=random", "reorder.method=degree"]);
    all_differ("partition", &["partition.scheme=rows", "partition.unit_edges=64"]);
}

#[test]
fn an_order_has_the_key_of_its_method_whoever_chose_it() {
    let (sandbox, recipe) = ring();
    let base = sandbox.build(&recipe);
    // Other walks are weighed again, and choose the same; what was chosen by itself may as well be
    // asked for.
    for assignment in ["run.epochs=300", "reorder.method=none"] {
        let lines = sandbox.build(&recipe.clone().set(assignment).set("run.epochs=20"));
        for (stage, (base, line)) in STAGES.iter().zip(base.iter().zip(&lines)).take(5) {
            assert_eq!(
                (&base["key"], line["status"].as_str()),
                (&line["key"], Some("hit")),
                "{stage} with {assignment}"
            );
        }
    }
    assert_eq!(sandbox.view().of_kind("tune").len(), 2, "2 and 20 epochs were weighed, each once");
    let undecided = recipe.set("run.epochs=3000");
    sandbox
        .stage("reorder", &undecided, &["key"])
        .expect(1)
        .says(&["`reorder` has no key yet", "warploom-reorder"]);
    sandbox
        .stage("reorder", &undecided, &["explain"])
        .expect(0)
        .prints(&["miss", "not decided yet"]);
    let built = sandbox.build(&undecided);
    assert_eq!((&built[2]["key"], &built[2]["status"]), (&base[2]["key"], &"hit".into()));
}

/// Changes what the manifest of the one artifact of a kind that this stage made says of a file, and
/// gives the manifest as it was.
fn redigest(sandbox: &Sandbox, (kind, stage): (&str, &str), file: &str) -> (PathBuf, String) {
    let found = sandbox
        .view()
        .of_kind(kind)
        .into_iter()
        .find(|found| found.manifest["producer"]["stage"] == stage)
        .unwrap();
    let path = found.path.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut manifest: warploom_contract::Manifest = serde_json::from_str(&text).unwrap();
    let entry = manifest
        .files
        .iter_mut()
        .find(|entry| entry.name == file)
        .unwrap_or_else(|| panic!("{kind} has no {file}"));
    entry.blake3 = Digest::from_bytes(b"other bytes");
    fs::write(&path, manifest.to_text()).unwrap();
    (path, text)
}

#[test]
fn a_key_holds_the_files_that_are_read_and_no_others() {
    let (sandbox, recipe) = ring();
    // An order that is asked for: `auto` has no key for a graph that it has not weighed.
    let recipe = recipe.set("reorder.method=none");
    sandbox.build(&recipe);
    let base: BTreeMap<&str, String> =
        STAGES.into_iter().map(|stage| (stage, key(&sandbox, stage, &recipe, &[]))).collect();
    // Of each file the first stage that reads it: the stages after that one have no key then.
    let files = [
        (("graph", "ingest"), "edges.parquet", Some("extract")),
        (("graph", "ingest"), "nodes.parquet", Some("extract")),
        (("graph", "ingest"), "features.arrow", Some("extract")),
        (("csr", "extract"), "out_edge.arrow", Some("reorder")),
        (("csr", "reorder"), "in_sources.arrow", Some("partition")),
        (("profile", "extract"), "degrees.parquet", None),
        (("profile", "extract"), "profile.json", Some("plan")),
        (("permutation", "reorder"), "quality.json", None),
        (("permutation", "reorder"), "new_of_old.arrow", Some("run")),
        (("partition", "partition"), "partition.json", None),
        (("partition", "partition"), "in_walk_rows.arrow", None),
        (("partition", "partition"), "in_rows.arrow", Some("run")),
        (("partition", "partition"), "in_edges.arrow", Some("run")),
        (("plan", "plan"), "advice.json", None),
        (("plan", "plan"), "plan.json", Some("run")),
    ];
    for (of, file, reader) in files {
        let (path, text) = redigest(&sandbox, of, file);
        for stage in STAGES {
            let now = key(&sandbox, stage, &recipe, &[]);
            assert_eq!(
                now == base[stage],
                Some(stage) != reader,
                "{stage}, where `{file}` of {} is another",
                of.0
            );
            if Some(stage) == reader {
                break;
            }
        }
        fs::write(path, text).unwrap();
    }
}

#[test]
fn weights_are_in_the_key_of_a_run_that_reads_them_and_in_that_of_no_division() {
    let weighted =
        RING.lines().enumerate().map(|(row, line)| format!("{line} {row}.5\n")).collect::<String>();
    let sandbox = Sandbox::edge_lists(
        &[("ring", &weighted)],
        "symmetrize: false\nmade_up: {features: 4, classes: 2}\nsplit: {rule: none}",
    );
    let [paths, components] = ["sssp", "components"].map(|name| Recipe::of(name, "ring"));
    sandbox.build(&paths);
    sandbox.build(&components);
    let of = |recipe: &Recipe, stage: &str| key(&sandbox, stage, recipe, &[]);
    let keys = || [of(&paths, "partition"), of(&components, "run"), of(&paths, "run")];
    let before = keys();
    redigest(&sandbox, ("csr", "reorder"), "weights.arrow");
    let after = keys();
    assert_eq!(before[..2], after[..2], "no division reads weights, and no components");
    assert_ne!(before[2], after[2], "lengths of paths are weights");
}

#[test]
fn a_division_that_no_executor_reads_leaves_plan_and_run_hits() {
    let (sandbox, recipe) = ring();
    let recipe = recipe.set("partition.scheme=[rows, merge-path]");
    let base = sandbox.build(&recipe);
    for assignment in ["partition.merge_items=3", "partition.scheme=[rows, sorted-columns]"] {
        let lines = sandbox.build(&recipe.clone().set(assignment));
        let found: Vec<_> =
            lines[3..].iter().map(|line| line["status"].as_str().unwrap()).collect();
        assert_eq!(found, ["built", "hit", "hit"], "{assignment}");
        assert_eq!(lines[5]["key"], base[5]["key"]);
    }
    let read = sandbox.build(&recipe.clone().set("partition.scheme=[rows, neighbour-groups]"));
    assert_eq!(
        read[3..].iter().map(|line| line["status"].as_str().unwrap()).collect::<Vec<_>>(),
        ["built"; 3]
    );
    // Units that are asked for otherwise are told by the plan's advice; here they are the same, so
    // the run is a hit.
    let units = sandbox.build(&recipe.set("partition.unit_edges=64"));
    assert_eq!(
        units[3..].iter().map(|line| line["status"].as_str().unwrap()).collect::<Vec<_>>(),
        ["built", "built", "hit"]
    );
}

#[test]
fn what_plan_depends_on_is_in_its_key() {
    all_differ(
        "plan",
        &[
            "plan.set.hidden=8",
            "plan.set.layers=3",
            "plan.set.drop=0.25",
            "plan.program=pipelines/programs/sage.py",
            "plan.program=pipelines/programs/gcn.py:other",
            "run.mode=train",
            "run.loss=cross_entropy",
            "run.loss=mse",
            "run.loss=bce",
            "run.dtype=f64",
            "run.dtype=bf16",
            "run.dtype=f16",
            "run.split=1",
            "run.target=year",
            "run.optimizer={sgd: {lr: 0.01}}",
            "run.optimizer={adamw: {lr: 0.01}}",
        ],
    );
}

#[test]
fn the_text_of_the_program_is_in_the_key_of_plan() {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let first = key(&sandbox, "plan", &recipe, &[]);
    let path = sandbox.path("pipelines/programs/gcn.py");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}# a remark\n")).unwrap();
    assert_ne!(key(&sandbox, "plan", &recipe, &[]), first);
    fs::write(&path, text).unwrap();
    assert_eq!(key(&sandbox, "plan", &recipe, &[]), first);
}

#[test]
fn what_only_run_depends_on_is_not_in_the_key_of_plan() {
    none_differs(
        "plan",
        &[
            "run.epochs=7",
            "run.seed=3",
            "run.keep=best",
            "run.optimizer={adam: {lr: 0.5, weight_decay: 0.1}}",
            "run.max_supersteps=3",
            "run.allow_unconverged=true",
            "run.checkpoint.every_epochs=1",
        ],
    );
}

#[test]
fn what_run_depends_on_is_in_its_key() {
    all_differ(
        "run",
        &[
            "run.epochs=3",
            "run.seed=1",
            "run.keep=best",
            "run.optimizer={adam: {lr: 0.5}}",
            "run.optimizer={adam: {beta1: 0.5}}",
            "run.optimizer={adam: {beta2: 0.5}}",
            "run.optimizer={adam: {eps: 1.0e-3}}",
            "run.optimizer={adam: {weight_decay: 0.1}}",
            "run.optimizer={adam: {weight_decay: 0.1, decay_only: [a]}}",
            "run.max_supersteps=3",
            "run.allow_unconverged=true",
            "run.passes=3",
            "run.init_map={a: b}",
        ],
    );
}

#[test]
fn the_bytes_of_initial_parameters_are_in_the_key_of_run_and_their_path_is_not() {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let parameters = sandbox.view().of_kind("run")[0].path.join("parameters.safetensors");
    let bytes = fs::read(&parameters).unwrap();
    let (one, two) = (
        sandbox.write("one.safetensors", &bytes),
        sandbox.write("elsewhere/two.safetensors", &bytes),
    );
    let with = |path: &PathBuf| {
        key(&sandbox, "run", &recipe.clone().set(&format!("run.init={}", path.display())), &[])
    };
    let (plain, first) = (key(&sandbox, "run", &recipe, &[]), with(&one));
    assert_ne!(plain, first);
    assert_eq!(first, with(&two), "the path of `run.init` is in the key");
    let mut other = bytes;
    *other.last_mut().unwrap() ^= 1;
    fs::write(&two, other).unwrap();
    assert!(![plain, first].contains(&with(&two)));
}

#[test]
fn the_bytes_of_a_table_of_parts_are_in_the_keys_of_plan_and_run_and_its_path_is_not() {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let table = "id,split\n0,train\n1,train\n2,validation\n3,test\n4,none\n";
    let (one, two) = (sandbox.write("one.csv", table), sandbox.write("elsewhere/two.csv", table));
    let keys = |path: &PathBuf| {
        sandbox.build(&recipe.clone().set(&format!("run.splits={}", path.display())))[3..]
            .iter()
            .map(|line| line["key"].clone())
            .collect::<Vec<_>>()
    };
    let plain: Vec<_> =
        sandbox.build(&recipe)[3..].iter().map(|line| line["key"].clone()).collect();
    let first = keys(&one);
    assert_eq!(plain[0], first[0], "the parts are nothing to the stages before");
    assert!(plain[1] != first[1] && plain[2] != first[2]);
    assert_eq!(first, keys(&two), "the path of `run.splits` is in a key");
    fs::write(&two, table.replace("4,none", "4,test")).unwrap();
    let other = keys(&two);
    assert!(
        ![&plain[1], &first[1]].contains(&&other[1])
            && ![&plain[2], &first[2]].contains(&&other[2])
    );
    let missing = recipe.set("run.splits=nowhere.csv");
    sandbox.front("pipeline", &missing, &[]).expect(1).says(&[
        "cannot read the splits of `run.splits`",
        "nowhere.csv",
        "hint:",
        "columns  id  and  split",
    ]);
}

#[test]
fn a_change_upstream_changes_every_key_downstream_and_one_without_effect_none() {
    let (sandbox, recipe) = ring();
    let base = sandbox.build(&recipe);
    let loops = sandbox.build(&recipe.clone().set("ingest.self_loops=add"));
    for (stage, (base, loops)) in STAGES.iter().zip(base.iter().zip(&loops)) {
        assert_ne!(base["key"], loops["key"], "{stage}");
    }
    // Another key of ingest, the same bytes: everything after it is a hit.
    let same = sandbox.build(&recipe.clone().set("ingest.ids=number"));
    assert_ne!(base[0]["key"], same[0]["key"]);
    for (base, same) in base[1..].iter().zip(&same[1..]) {
        assert_eq!((&base["key"], same["status"].as_str()), (&same["key"], Some("hit")));
    }
}

#[test]
fn limits_and_talk_are_in_no_key() {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    for stage in STAGES {
        let expected = key(&sandbox, stage, &recipe, &[]);
        let further: [&[&str]; 9] = [
            &["--threads", "1"],
            &["--threads", "9"],
            &["--memory", "1GiB"],
            &["-v"],
            &["-q"],
            &["--color", "always"],
            &["--verify"],
            &["--real"],
            &["--device", "cpu"],
        ];
        for further in further {
            assert_eq!(
                key(&sandbox, stage, &recipe, further),
                expected,
                "{stage}: {further:?} changes the key"
            );
        }
        assert_eq!(
            key(&sandbox, stage, &recipe.clone().set("pipeline=another name"), &[]),
            expected,
            "{stage}: the pipeline's name"
        );
        assert_eq!(
            key(&sandbox, stage, &recipe.clone().set("plan.device=cpu"), &[]),
            expected,
            "{stage}: the device's name"
        );
        assert_eq!(
            key(
                &sandbox,
                stage,
                &recipe.clone().set("run.checkpoint={every_epochs: 1, every_seconds: 1}"),
                &[]
            ),
            expected,
            "{stage}: checkpoints"
        );
    }
}

#[test]
fn places_are_in_no_key() {
    let (sandbox, recipe) = ring();
    let base = sandbox.build(&recipe);
    // Another store, another data folder, another place and name of pipeline file and program.
    let mut other = sandbox.with_store("another store");
    other.data = sandbox.path("moved");
    fs::create_dir_all(other.data.join("ring")).unwrap();
    fs::copy(sandbox.data.join("ring/edges.txt"), other.data.join("ring/edges.txt")).unwrap();
    sandbox.write("a/b/prog/gcn.py", fs::read(sandbox.path("pipelines/programs/gcn.py")).unwrap());
    let moved =
        Recipe::file(sandbox.write("a/b/other.yaml", PIPELINE.replace("programs/", "prog/")));
    let lines = other.build(&moved);
    for (base, line) in base.iter().zip(&lines) {
        assert_eq!(base["key"], line["key"], "{}", line["stage"]);
    }
    assert_eq!(sandbox.view().digests(), other.view().digests());
}

#[test]
fn a_default_that_is_written_down_changes_no_key() {
    let (sandbox, recipe) = ring();
    let base = sandbox.build(&recipe);
    let explicit = "pipeline: ring\ndataset: ring\n\
        ingest: {symmetrize: auto, self_loops: keep, duplicates: keep, features: auto, normalize: none, ids: auto, seed: 0}\n\
        extract: {}\nreorder: {method: auto, seed: 0}\npartition: {scheme: auto, unit_edges: 16384, parts: 1}\n\
        plan: {program: programs/gcn.py:gcn, set: {layers: 2, hidden: 4, drop: 0.5}, device: auto}\n\
        run:\n  mode: auto\n  epochs: 2\n  optimizer: {adam: {lr: 0.01, beta1: 0.9, beta2: 0.999, eps: 1.0e-8, weight_decay: 0, decay_only: []}}\n  \
        keep: last\n  loss: auto\n  dtype: f32\n  seed: 0\n  split: 0\n  target: label\n  repeat: 1\n  passes: 1\n  splits: ~\n  max_supersteps: 10000\n  allow_unconverged: false\n  init_map: {}\n";
    let written = sandbox.build(&Recipe::file(sandbox.write("pipelines/explicit.yaml", explicit)));
    for (base, line) in base.iter().zip(&written) {
        assert_eq!(
            (&base["key"], line["status"].as_str()),
            (&line["key"], Some("hit")),
            "{}",
            line["stage"]
        );
    }
}

#[test]
fn a_key_needs_the_stages_before() {
    let (sandbox, recipe) = ring();
    let Output { stdout, .. } = sandbox
        .stage("plan", &recipe, &["key"])
        .expect(1)
        .says(&["the stage `ingest` before this one has not been run", "warploom-ingest"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()["error"]["kind"],
        "input"
    );
}

#[test]
fn replaced_rows_of_the_tuning_table_are_in_plans_key() {
    let (sandbox, recipe) = ring();
    sandbox.build(&recipe);
    let plain = key(&sandbox, "plan", &recipe, &[]);
    let tuned = |rows: &str| {
        let file = sandbox.write("tuning.csv", rows).display().to_string();
        key(&sandbox, "plan", &recipe, &["--tuning", &file])
    };
    let (four, five) = (tuned("low_degree_reads,4\n"), tuned("low_degree_reads,5\n"));
    assert!(four != plain && five != plain && four != five, "{plain} {four} {five}");
    assert_eq!(key(&sandbox, "plan", &recipe, &[]), plain);
    let wrong = sandbox.write("wrong.csv", "low_degree_raeds,4\n");
    let output = sandbox
        .stage("plan", &recipe, &["key", "--tuning", &wrong.display().to_string()])
        .expect(1);
    let told = "wrong.csv:1: row `low_degree_raeds`: expected the name of a row";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert!(output.stderr.contains("low_degree_reads"), "{}", output.stderr);
}
