//! Proves that a shared store under a private one is read and never written: `--store mine --store
//! shared`.
//!
//! limits    root may write anywhere: listings with times before and after show that nothing was
//!           written; one test starts as another user
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};

use warploom_test_support::process::{Output, start, started_by};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::{StoredArtifact, folder};

/// A private store over a shared one.
struct Pair {
    mine: Sandbox,
    shared: Sandbox,
}

/// Every path below a folder, with size and time.
type Listing = BTreeMap<PathBuf, (u64, SystemTime)>;

fn list(root: &Path, without: &str, found: &mut Listing) {
    for entry in fs::read_dir(root).unwrap().map(Result::unwrap) {
        if entry.file_name() == without {
            continue;
        }
        let facts = entry.metadata().unwrap();
        found.insert(entry.path(), (facts.len(), facts.modified().unwrap()));
        if facts.is_dir() {
            list(&entry.path(), without, found);
        }
    }
}

impl Pair {
    fn new() -> Self {
        let sandbox = Sandbox::stand_in();
        Pair { mine: sandbox.with_store("mine"), shared: sandbox.with_store("shared") }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.mine.command("warploom", arguments);
        command.arg("--store").arg(&self.shared.store);
        command
    }

    fn warploom(&self, arguments: &[&str]) -> Output {
        start(self.command(arguments)).wait()
    }

    fn pipeline(&self, recipe: &Recipe, further: &[&str]) -> Output {
        let arguments = recipe.arguments(&[&["pipeline", "--format", "json"], further].concat());
        let mut command = self.mine.command("warploom", &arguments);
        command.arg("--store").arg(&self.shared.store);
        start(command).wait()
    }

    /// The shared store but for leases, which are tried there, and the times of folders above them.
    fn listing(&self) -> Listing {
        let mut found = Listing::new();
        list(&self.shared.store, "leases", &mut found);
        found
    }

    fn shared_artifact(&self, kind: &str) -> StoredArtifact {
        self.shared.view().of_kind(kind).remove(0)
    }
}

/// Stages by how they ended, as `stage status`.
fn statuses(output: &Output) -> Vec<String> {
    let word = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap().to_owned();
    output.stages().iter().map(|line| word(line, "stage") + " " + &word(line, "status")).collect()
}

#[test]
fn a_hit_in_any_store_counts_and_every_command_sees_all() {
    let pair = Pair::new();
    let recipe = Recipe::small();
    pair.shared.build(&recipe);
    let before = pair.listing();
    let output = pair.pipeline(&recipe, &[]).expect(0);
    assert!(statuses(&output).iter().all(|line| line.ends_with(" hit")), "{output}");
    assert!(pair.mine.view().artifacts().is_empty() && !output.stderr.contains("no store"));
    // Another number of epochs: all but the run is there.
    let more = Recipe::of("gcn", "karate").set("run.epochs=6");
    let output = pair.pipeline(&more, &[]).expect(0);
    assert_eq!(
        statuses(&output),
        ["ingest hit", "extract hit", "reorder hit", "partition hit", "plan hit", "run built"]
    );
    assert_eq!(pair.mine.view().artifacts().len(), 1);
    let [run, graph] = ["run", "graph"].map(|kind| pair.shared_artifact(kind).key);
    let own = pair.mine.view().of_kind("run").remove(0).key;
    pair.warploom(&["runs"]).expect(0).prints(&[&run[..8], &own[..8]]);
    pair.warploom(&["store", "ls"]).expect(0).prints(&[
        &graph,
        &own,
        "mine: 1 artifact, ",
        "shared: 9 artifacts, ",
        ", only read",
    ]);
    pair.warploom(&["store", "path", &graph[..9]]).expect(0).prints(&["/shared/graph-v"]);
    pair.warploom(&["store", "path", "last"]).expect(0).prints(&["/mine/run-v"]);
    pair.warploom(&["store", "verify"]).expect(0).prints(&["10 artifacts checked, 0 damaged"]);
    for (key, name) in [("last", "a"), (run.as_str(), "b"), (&format!("graph/{graph}"), "c")] {
        let output = pair.mine.path(name);
        pair.warploom(&["export", key, "--as", "npz", "-o", output.to_str().unwrap()]).expect(0);
    }
    let arguments = more.arguments(&["check"]);
    let mut check = pair.mine.command("warploom", &arguments);
    check.arg("--store").arg(&pair.shared.store);
    start(check).wait().expect(0);
    let mut explain =
        pair.mine.command("warploom", &more.set("run.seed=9").arguments(&["explain"]));
    explain.arg("--store").arg(&pair.shared.store);
    start(explain).wait().expect(0).prints(&["hit", "run.seed"]);
    assert_eq!(pair.listing(), before, "the shared store was changed");
}

#[test]
fn a_store_that_is_not_there_is_named() {
    let pair = Pair::new();
    let output =
        pair.pipeline(&Recipe::small(), &[]).expect(0).says(&["warning: there is no store"]);
    assert_eq!(output.stderr.matches("there is no store").count(), 1, "{output}");
    assert!(!pair.shared.store.exists());
}

#[test]
fn the_variable_names_several_stores() {
    let pair = Pair::new();
    let recipe = Recipe::small();
    pair.shared.build(&recipe);
    let stores = std::env::join_paths([&pair.mine.store, &pair.shared.store]).unwrap();
    let mut command = pair.mine.bare("warploom");
    command
        .args(recipe.arguments(&["pipeline", "--format", "json"]))
        .arg("--data")
        .arg(&pair.mine.data)
        .env("WARPLOOM_STORE", &stores);
    let output = start(command).wait().expect(0);
    assert!(statuses(&output).iter().all(|line| line.ends_with(" hit")), "{output}");
    assert!(pair.mine.view().artifacts().is_empty());
}

#[test]
fn a_run_of_a_shared_graph_keeps_what_it_needs_in_its_own_store() {
    let pair = Pair::new();
    let recipe = Recipe::small();
    for stage in ["ingest", "extract"] {
        pair.shared.stage(stage, &recipe, &[]).expect(0);
    }
    let before = pair.listing();
    let output = pair.pipeline(&recipe, &[]).expect(0);
    assert_eq!(
        statuses(&output),
        [
            "ingest hit",
            "extract hit",
            "reorder built",
            "partition built",
            "plan built",
            "run built"
        ]
    );
    let own = pair.mine.view().digests();
    pair.warploom(&["store", "gc", "--unreachable"]).expect(0).prints(&["/mine"]);
    assert_eq!(pair.mine.view().digests(), own, "gc took what a run was made from");
    // A budget counts the first store alone.
    let kept = |output: Output| {
        let words = output.stdout.lines().find(|line| line.contains(" stay")).unwrap().to_owned();
        words.split(" stay").next().unwrap().to_owned()
    };
    let both = pair.warploom(&["store", "gc", "--keep", "50GiB"]).expect(0);
    let alone = pair.mine.warploom(&["store", "gc", "--keep", "50GiB"]).expect(0);
    assert_eq!(kept(both), kept(alone));
    // Without the shared graph, the run's own store still has its plan.
    let output = pair.mine.front("pipeline", &recipe, &[]).expect(0);
    assert_eq!(statuses(&output)[..2], ["ingest built", "extract built"]);
    assert!(statuses(&output)[2..].iter().all(|line| line.ends_with(" hit")), "{output}");
    let graph = pair.shared_artifact("graph").key;
    pair.warploom(&["store", "gc", "--older-than", "0s", "--runs"]).expect(0);
    assert!(pair.mine.view().digests().is_empty(), "{:?}", pair.mine.view().digests());
    pair.warploom(&["store", "rm", &graph]).expect(1).says(&[
        "is in a store that is only read",
        "hint: remove it there:  warploom store rm ",
        "/shared",
    ]);
    pair.warploom(&["store", "gc", "--keep", "0B"]).expect(0);
    assert_eq!(pair.listing(), before, "the shared store was changed");
}

#[test]
fn force_builds_into_the_first_store() {
    let pair = Pair::new();
    let recipe = Recipe::small();
    pair.shared.build(&recipe);
    let before = pair.listing();
    let output = pair.pipeline(&recipe, &["--force"]).expect(0);
    assert!(statuses(&output).iter().all(|line| line.ends_with(" built")), "{output}");
    let without_choice = |sandbox: &Sandbox| {
        let mut digests = sandbox.view().digests();
        digests.retain(|name, _| !name.starts_with("tune/"));
        digests
    };
    assert_eq!(without_choice(&pair.mine), without_choice(&pair.shared));
    assert_eq!(pair.listing(), before);
}

/// Changes a byte of a file, or cuts it, and keeps its time.
fn damage(path: &Path, cut: bool) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut bytes = fs::read(path).unwrap();
    if cut {
        bytes.pop();
    } else {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }
    fs::write(path, bytes).unwrap();
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_damaged_shared_artifact_is_made_again_in_the_first_store() {
    let recipe = Recipe::small();
    // One that is cut is seen when it is looked up; a changed bit when a stage reads the file.
    for (kind, name, cut) in [
        ("graph", "edges.parquet", true),
        ("csr", "in_sources.arrow", true),
        ("graph", "edges.parquet", false),
        ("run", "record.json", true),
    ] {
        let pair = Pair::new();
        pair.shared.build(&recipe);
        let whole = pair.shared.view().digests();
        let artifact = pair.shared_artifact(kind);
        damage(&artifact.path.join(name), cut);
        let before = pair.listing();
        // Another ordering of duplicates makes `extract` read the graph again.
        let output = if cut {
            pair.pipeline(&recipe, &[]).expect(0)
        } else {
            for folder in ["csr", "profile"] {
                let all = pair.shared.view().of_kind(folder);
                all.iter().for_each(|found| fs::remove_dir_all(&found.path).unwrap());
            }
            pair.pipeline(&recipe, &[]).expect(0)
        };
        let shown = artifact.path.display().to_string();
        let output = output.says(&[
            &format!("warning: {shown} is damaged ("),
            ", and its store is only read; what is needed is made again in ",
        ]);
        let made = pair.mine.view().of_kind(kind);
        assert!(made.iter().any(|found| found.key == artifact.key), "{kind}: {output}");
        for (name, digest) in pair.mine.view().digests() {
            assert_eq!(whole.get(&name), Some(&digest), "{name}");
        }
        if cut {
            assert_eq!(pair.listing(), before, "the shared store was changed");
            let target = pair.mine.path("out");
            pair.shared.warploom(&["store", "verify"]).expect(3);
            fs::remove_dir_all(&made[0].path).unwrap();
            let key = format!("{kind}/{}", artifact.key);
            let refused =
                pair.warploom(&["export", &key, "--as", "files", "-o", target.to_str().unwrap()]);
            assert_eq!(refused.code, Some(1), "{refused}");
            pair.warploom(&["store", "verify"])
                .expect(3)
                .says(&["which is only read here", "/shared"]);
        }
    }
}

/// A user who may not write gets no error from a shared store, and changes not even leases.
#[test]
fn another_user_reads_a_store_without_writing() {
    let test = "several_stores::another_user_reads_a_store_without_writing";
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let is_possible = Command::new("setpriv").args(user).arg("true").status();
    if !is_possible.is_ok_and(|status| status.success()) {
        return skipped(test, "no other user: `setpriv` needs root");
    }
    let pair = Pair::new();
    let recipe = Recipe::small();
    pair.shared.build(&recipe);
    let more = Recipe::of("gcn", "karate").set("run.epochs=6");
    fs::create_dir(&pair.mine.store).unwrap();
    chown(&pair.mine.store, Some(65534), Some(65534)).unwrap();
    fs::set_permissions(pair.mine.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    let whole = || {
        let mut found = Listing::new();
        list(&pair.shared.store, "", &mut found);
        found
    };
    let before = whole();
    let mut inner =
        pair.mine.command("warploom", &more.arguments(&["pipeline", "--format", "json"]));
    inner.arg("--store").arg(&pair.shared.store);
    let output = start(started_by("setpriv", &user, &inner)).wait();
    if output.code.is_none_or(|code| code == 126 || code == 127) {
        return skipped(test, "another user cannot start the program");
    }
    let output = output.expect(0);
    assert_eq!(statuses(&output).last().map(String::as_str), Some("run built"));
    assert_eq!(whole(), before);
    assert!(folder(output.stages().last().unwrap(), "run").starts_with(&pair.mine.store));
}
