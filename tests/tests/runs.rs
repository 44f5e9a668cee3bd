//! Proves how runs are named and listed: `warploom runs`, keys by their first digits and as `last`,
//! and which run `export` takes.
use std::fs;

use serde_json::Value;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};

fn key(lines: &[Value]) -> String {
    lines[5]["key"].as_str().unwrap().to_owned()
}

/// Three runs: of two widths of a program that learns, and of one that iterates.
fn three(sandbox: &Sandbox) -> [String; 3] {
    let narrow = key(&sandbox.build(&Recipe::small()));
    let wide = key(&sandbox.build(&Recipe::small().set("plan.set.hidden=8").set("run.seed=3")));
    let ranks = key(&sandbox.build(&Recipe::of("pagerank", "cora")));
    [narrow, wide, ranks]
}

#[test]
fn runs_are_listed_newest_first_with_what_differs_from_the_file() {
    let sandbox = Sandbox::stand_in();
    sandbox.warploom(&["runs"]).expect(0).prints(&["0 runs"]);
    let [narrow, wide, ranks] = three(&sandbox);
    let text = sandbox.warploom(&["runs"]).expect(0).stdout;
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows[0].split_whitespace().collect::<Vec<_>>().join(" "),
        "run when pipeline program data set seed device metrics changed"
    );
    for (row, key) in rows[1..4].iter().zip([&ranks, &wide, &narrow]) {
        assert!(row.starts_with(&key[..10]), "{text}");
    }
    assert!(
        rows[1].contains("pagerank")
            && rows[1].contains("cora (STAND-IN)")
            && rows[1].contains(" supersteps"),
        "{text}"
    );
    assert!(
        rows[2].contains("karate (STAND-IN)")
            && rows[2].contains("test accuracy 0.")
            && rows[2].contains("plan.set.hidden=8"),
        "{text}"
    );
    assert!(
        !rows[2].contains("run.seed=") && rows[4] == "3 runs",
        "data set and seed have columns of their own: {text}"
    );
    // Programs get all of it, and a part is asked for by data set, and by the pipeline's name or
    // file.
    let lines = sandbox.warploom(&["runs", "--format", "json"]).expect(0).lines();
    assert_eq!(
        lines.iter().map(|line| line["run"].as_str().unwrap()).collect::<Vec<_>>(),
        [&ranks, &wide, &narrow]
    );
    assert_eq!(
        (lines[1]["pipeline"].as_str(), lines[1]["program"].as_str(), lines[1]["seed"].as_u64()),
        (Some("gcn"), Some("gcn"), Some(3))
    );
    assert_eq!(lines[1]["changed"]["plan.set.hidden"], "8");
    assert!(
        lines[1]["metrics"]["test_accuracy"].is_f64()
            && lines[1]["file"].as_str().unwrap().ends_with("gcn.yaml")
    );
    let count = |further: &[&str]| {
        sandbox.warploom(&[&["runs", "--format", "json"], further].concat()).expect(0).lines().len()
    };
    assert_eq!(
        [
            &["--dataset", "cora"][..],
            &["--pipeline", "gcn"],
            &["--pipeline", "any/gcn.yaml"],
            &["--dataset", "none"]
        ]
        .map(count),
        [1, 2, 2, 0]
    );
    sandbox.warploom(&["runs", "--dataset", "cora"]).expect(0).prints(&["1 run of 3"]);
    let csv = sandbox.warploom(&["runs", "--format", "csv"]).expect(0).stdout;
    let cells: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(
        cells.len() == 4
            && cells.iter().all(|row| row.len() == cells[0].len())
            && cells[0].contains(&"test_accuracy"),
        "{csv}"
    );
    sandbox.warploom(&["store", "ls", "--format", "csv"]).expect(2);
}

#[test]
fn runs_are_sorted_by_a_metric_the_best_first_and_old_records_are_listed() {
    let sandbox = Sandbox::stand_in();
    let [narrow, wide, ranks] = three(&sandbox);
    let metric = |line: &Value, name: &str| line["metrics"][name].as_f64();
    for (name, whole, less_is_better) in
        [("test", "test_accuracy", false), ("test F1", "test_f1", false), ("loss", "loss", true)]
    {
        let lines =
            sandbox.warploom(&["runs", "--sort", name, "--format", "json"]).expect(0).lines();
        let (first, second) =
            (metric(&lines[0], whole).unwrap(), metric(&lines[1], whole).unwrap());
        assert!(
            if less_is_better { first <= second } else { first >= second },
            "{name}: {first} before {second}"
        );
        assert_eq!(lines[2]["run"], ranks.as_str(), "what has no such metric comes last");
    }
    sandbox.warploom(&["runs", "--sort", "tset_auc"]).expect(1).says(&[
        "no run has a metric `tset_auc`",
        "test_accuracy",
        "hint: --sort ",
    ]);
    // A record of before these were told.
    let path = sandbox.store.join("run-v1").join(&narrow).join("record.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let told = ["asked", "metric"].map(|name| record.as_object_mut().unwrap().remove(name));
    assert!(told.iter().all(Option::is_some));
    // A record has the size that the manifest says.
    let text = serde_json::to_string(&record).unwrap();
    fs::write(
        &path,
        format!("{text:<width$}", width = fs::metadata(&path).unwrap().len() as usize),
    )
    .unwrap();
    let lines = sandbox.warploom(&["runs", "--format", "json"]).expect(0).lines();
    let old =
        lines.iter().find(|line| line["run"] == narrow.as_str()).expect("the old run is listed");
    assert_eq!(
        (old["dataset"].as_str(), old["program"].as_str(), &old["pipeline"]),
        (Some("karate"), Some("gcn"), &Value::Null)
    );
    assert!(
        metric(old, "test_accuracy").is_some()
            && lines.iter().any(|line| line["run"] == wide.as_str())
    );
}

#[test]
fn the_last_run_is_that_of_the_last_pipeline_also_where_it_was_a_hit() {
    let sandbox = Sandbox::stand_in();
    sandbox
        .warploom(&["store", "path", "last"])
        .expect(1)
        .says(&["no `warploom pipeline` has noted a run", "warploom runs"]);
    let [narrow, _, ranks] = three(&sandbox);
    let last = || {
        sandbox.warploom(&["store", "path", "last", "--format", "json"]).expect(0).lines()[0]["key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(last(), ranks);
    sandbox.build(&Recipe::small());
    assert_eq!(last(), narrow, "a hit is the last run too");
    sandbox.warploom(&["store", "verify", "last"]).expect(0).prints(&["1 artifact"]);
    sandbox
        .warploom(&["export", "last", "-o", "out"])
        .expect(0)
        .prints(&[&format!("run {} (gcn on karate, STAND-IN, seed ", &narrow[..10])]);
    sandbox.warploom(&["export", &narrow[..6], "-o", "again"]).expect(0);
    fs::remove_dir_all(sandbox.store.join("run-v1").join(&narrow)).unwrap();
    sandbox
        .warploom(&["export", "last", "-o", "third"])
        .expect(1)
        .says(&["is not in the store any more", "warploom runs"]);
}

/// The export of a run by its pipeline file.
fn of_file<'a>(file: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    [&["export", "run", "--pipeline", file], further].concat()
}

#[test]
fn export_by_a_file_says_when_its_last_run_was_another_one() {
    let room = Sandbox::stand_in();
    let file = repository().join("pipelines/gcn.yaml");
    let file = file.to_str().unwrap().to_owned();
    let (plain, wide) = (Recipe::small(), Recipe::small().set("plan.set.hidden=8"));
    room.build(&plain);
    let last = key(&room.build(&wide));
    let sets: Vec<String> =
        plain.arguments(&[]).iter().map(|word| word.to_str().unwrap().to_owned()).collect();
    let sets: Vec<&str> =
        sets.iter().map(String::as_str).skip_while(|word| *word != "--set").collect();
    let said = room
        .warploom(&of_file(&file, &[&sets[..], &["-o", "out", "--as", "csv"]].concat()))
        .expect(0);
    let command =
        format!("warploom export {} -o out --store {} --as csv", &last[..10], room.store.display());
    let said = said.says(&["warning: this is not the run", "gcn on karate, STAND-IN", &command]);
    assert!(
        said.stdout.starts_with("run ") && said.stdout.contains("(gcn on karate, STAND-IN, seed "),
        "{said}"
    );
    // Other settings of the same data set: the newest run on it, by a line that is a command.
    let near = room
        .warploom(&of_file(
            &file,
            &[&sets[..], &["--set", "run.epochs=77", "-o", "other"]].concat(),
        ))
        .expect(1);
    let store = room.store.display();
    let lines = [
        format!("hint: warploom export {} -o other --store {store}", &last[..10]),
        format!("  or the last run of any file:  warploom export last -o other --store {store}"),
    ];
    assert!(lines.iter().all(|line| near.stderr.lines().any(|said| said == line)), "{near}");
    // The file alone is a run of a data set that has none: no run of another one is hinted at.
    let none = room.warploom(&of_file(&file, &["-o", "other"])).expect(1);
    let none = none.says(&[&format!("warploom runs --dataset amazon0505 --store {store}")]);
    assert!(!none.stderr.contains(&format!("warploom export {}", &last[..10])), "{none}");
    let none = none.says(&[
        "no run of `gcn` on `amazon0505` with these settings is in the store",
        "warploom export last -o other",
    ]);
    // The runs that there are, newest first, and what tells one from the other.
    let listed: Vec<&str> = none.stderr.lines().filter(|line| line.starts_with("  run/")).collect();
    assert!(listed.len() == 2 && listed[0].contains(&last), "{none}");
    assert!(
        listed[0].contains("gcn on karate, STAND-IN, seed 42, ")
            && listed[0].contains("plan.set.hidden=8, ")
            && listed[0].contains("test accuracy "),
        "{none}"
    );
    assert!(!listed[1].contains("plan.set.hidden"), "{none}");
    let all = room
        .warploom(&["export", "run", "-o", "other"])
        .expect(1)
        .says(&["2 artifacts are `run`", "or the last run:  warploom export last"]);
    assert!(
        all.stderr.contains("plan.set.hidden=8, ")
            && all.stderr.contains(&format!("warploom export last --store {store}")),
        "{all}"
    );
    // The last one itself, and quietly: nothing is said, and no list is printed.
    let quiet = room
        .warploom(&of_file(
            &file,
            &[&sets[..], &["--set", "plan.set.hidden=8", "-o", "quiet", "-q"]].concat(),
        ))
        .expect(0);
    assert_eq!((quiet.stderr.as_str(), quiet.stdout.lines().count()), ("", 1));
}

#[test]
fn options_that_a_command_does_not_read_are_refused() {
    let sandbox = Sandbox::stand_in();
    sandbox
        .warploom(&["store", "ls", "--pipeline", "gcn.yaml"])
        .expect(2)
        .says(&["`warploom store ls` reads no `--pipeline`", "warploom runs --pipeline gcn.yaml"]);
    for (command, hint) in [
        (&["store", "ls"][..], "warploom store ls --dataset cora"),
        (&["store", "gc"], "warploom store ls --dataset cora"),
        (&["runs"], "warploom runs --dataset cora"),
        (&["data", "ls"], "warploom pipeline FILE --set"),
        (&["export", "run", "-o", "out"], "warploom export run --pipeline FILE --set"),
        (&["doctor"], "leave it out"),
    ] {
        sandbox
            .warploom(&[command, &["--set", "dataset=cora"]].concat())
            .expect(2)
            .says(&["reads no `--set`", hint]);
    }
    for command in ["doctor", "schema", "man"] {
        sandbox
            .warploom(&[command, "--set", "dataset=cora"])
            .expect(2)
            .says(&[&format!("`warploom {command}` reads no `--set`")]);
    }
}

#[test]
fn artifacts_of_one_data_set_are_listed_and_exported() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    sandbox.build(&Recipe::of("pagerank", "cora"));
    let lines = sandbox
        .warploom(&["store", "ls", "--dataset", "cora", "--format", "json"])
        .expect(0)
        .lines();
    assert!(lines.len() >= 6 && lines.iter().all(|line| line["dataset"] == "cora"), "{lines:?}");
    let all = sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines().len();
    sandbox
        .warploom(&["store", "ls", "--dataset", "cora"])
        .expect(0)
        .prints(&[&format!("{} artifacts of {all}, ", lines.len())]);
    // The word of the guide, where the store holds two graphs.
    sandbox.warploom(&["export", "graph", "-o", "out"]).expect(1).says(&[
        "2 artifacts are `graph`",
        "karate",
        "cora",
        "warploom export graph --dataset ",
    ]);
    sandbox
        .warploom(&["export", "graph", "--dataset", "cora", "-o", "out"])
        .expect(0)
        .prints(&["(cora, STAND-IN) -> out"]);
    // Of several of one set the newest is taken, and it is said.
    sandbox.build(&Recipe::small().set("ingest.self_loops=drop"));
    let newest =
        sandbox.warploom(&["export", "graph", "--dataset", "karate", "-o", "new"]).expect(0);
    newest.says(&[
        "2 artifacts are `graph` of `karate`",
        "is the newest",
        "warploom store ls --dataset karate",
    ]);
    sandbox
        .warploom(&["export", "graph", "--dataset", "coral", "-o", "x"])
        .expect(1)
        .says(&["no `graph` of the data set `coral`", "cora, karate"]);
    sandbox
        .warploom(&["export", "last", "--dataset", "cora", "-o", "x"])
        .expect(2)
        .says(&["`--dataset` is for a kind"]);
}

#[test]
fn what_was_run_on_files_elsewhere_is_asked_for_with_their_folder() {
    let Some(real) =
        Sandbox::real("runs::what_was_run_on_files_elsewhere_is_asked_for_with_their_folder")
    else {
        return;
    };
    let recipe = Recipe::small();
    real.build(&recipe);
    let elsewhere = real.with_data(real.path("nothing"));
    let words: Vec<String> =
        recipe.arguments(&[]).iter().map(|word| word.to_str().unwrap().to_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for command in
        [&["check"][..], &["export", "graph", "-o", "out"], &["export", "run", "-o", "out"]]
    {
        let output = elsewhere.warploom(&[command, &words[..]].concat()).expect(1);
        output.says(&[
            "no files of `karate` are in ",
            "so its stand-in was looked for",
            "--data DIR",
        ]);
    }
}

#[test]
fn a_program_of_ones_own_begins_as_the_readme_says() {
    let sandbox = Sandbox::stand_in();
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let block =
        readme.split("Your own:\n").nth(1).unwrap().trim_start().split("\n\n").next().unwrap();
    let commands: Vec<&str> = block
        .lines()
        .map(|line| {
            line.split('#').next().unwrap().trim().strip_prefix("target/release/warploom ").unwrap()
        })
        .collect();
    assert!(commands.len() >= 4 && commands[0].starts_with("new "), "{block}");
    for command in &commands {
        sandbox.warploom(&command.split(' ').collect::<Vec<_>>()).expect(0);
    }
    let again: Vec<&str> = commands[0].split(' ').collect();
    sandbox.warploom(&again).expect(1).says(&["the file is there already", "--force"]);
    sandbox.warploom(&[&again[..], &["--force"]].concat()).expect(0);
    // Parameters are called after the program, which this pipeline names in a setting.
    sandbox.warploom(&["new", "own_gcn"]).expect(0).prints(&["warploom pipeline own_gcn.yaml"]);
    sandbox.build(
        &Recipe::file(sandbox.path("own_gcn.yaml")).set("dataset=karate").set("run.epochs=2"),
    );
    sandbox
        .warploom(&["new", "2mine"])
        .expect(2)
        .says(&["cannot be the name of a function", "warploom new my_model"]);
    sandbox.warploom(&["new", "mine2", "--like", "gta"]).expect(2).says(&["--like gat"]);
}
