//! Proves that checkpoints survive what batch jobs meet: a damaged state gives way to the one
//! before it, and a slow disk makes saves rare, not runs slow. (`kills.rs` kills runs, and
//! `gpu_faults.rs` loses their device.)
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

use crate::faults::library;

/// States below all runs of a store, oldest first.
fn states(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries(sandbox.store.join("checkpoint-v1"))
        .filter(|run| !run.file_name().to_string_lossy().starts_with('.'));
    let steps = runs.flat_map(|run| entries(run.path())).map(|step| step.path());
    let mut found: Vec<PathBuf> =
        steps.map(|step| step.join("state.safetensors")).filter(|state| state.is_file()).collect();
    found.sort();
    found
}

/// The step of a state.
fn step(state: &std::path::Path) -> u64 {
    let name = state.parent().unwrap().file_name().unwrap().to_str().unwrap();
    name.trim_start_matches("step-").parse().unwrap()
}

/// Starts a run and kills it when it has saved two states.
fn kill_after_two_states(sandbox: &Sandbox, recipe: &Recipe) -> Vec<PathBuf> {
    let running = sandbox.begin(recipe, &[]);
    let begun = Instant::now();
    while states(sandbox).len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "no state was saved");
        std::thread::sleep(Duration::from_millis(1));
    }
    running.signal(Signal::KILL);
    assert_eq!(running.wait().signal, Some(9), "the run was over before it was killed");
    states(sandbox)
}

#[test]
fn a_flipped_bit_in_the_newest_state_falls_back_to_the_one_before() {
    for recipe in [
        Recipe::of("gcn", "karate").set("run.epochs=4000").set("run.checkpoint.every_epochs=20"),
        Recipe::of("pagerank", "karate")
            .set("run.checkpoint.every_epochs=5")
            .set("run.max_supersteps=1500")
            .set("run.allow_unconverged=true")
            .set("plan.set.tolerance=0.0"),
    ] {
        let sandbox = Sandbox::stand_in();
        let whole = sandbox.with_store("whole");
        whole.build(&recipe);
        let states = kill_after_two_states(&sandbox, &recipe);
        let [before, newest] = &states[states.len() - 2..] else { panic!("{states:?}") };
        let mut bytes = fs::read(newest).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(newest, bytes).unwrap();
        let output = sandbox.front("pipeline", &recipe, &[]).expect(0);
        assert!(output.stderr.contains("a checkpoint is damaged"), "{output}");
        let lines = output.lines();
        let line = lines.iter().rfind(|line| line["stage"] == "run").unwrap();
        let record: Value =
            serde_json::from_slice(&fs::read(folder(line, "run").join("record.json")).unwrap())
                .unwrap();
        assert_eq!(record["resumed_at"], step(before), "{record}");
        assert_eq!(sandbox.view().digests(), whole.view().digests());
    }
}

#[test]
fn a_slow_disk_delays_the_next_save() {
    let test = "checkpoints::a_slow_disk_delays_the_next_save";
    let Some(library) = library(test) else { return };
    let sandbox = Sandbox::stand_in();
    let recipe =
        Recipe::of("gcn", "karate").set("run.epochs=1000000").set("run.checkpoint.every_seconds=1");
    let counts = sandbox.path("counts");
    let mut command = sandbox.command("warploom", &recipe.arguments(&["pipeline"]));
    command
        .env("LD_PRELOAD", library)
        .env("INJECT_BELOW", sandbox.store.join("checkpoint-v1"))
        .env("INJECT_COUNTS", &counts)
        .env("INJECT_CALL", "fsync")
        .env("INJECT_WAY", "wait100+")
        .env("INJECT_AT", "1");
    let running = start(command);
    let begun = Instant::now();
    while states(&sandbox).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no state was saved");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_secs(4));
    running.signal(Signal::TERM);
    running.wait().expect(75);
    // A save syncs its state, its manifest and two folders: one that took 0.4 s is the only one in
    // 40 s, but for that of the stop.
    let text = fs::read_to_string(counts).unwrap();
    assert!(text.lines().any(|line| line == "fsync 8"), "{text}");
}
