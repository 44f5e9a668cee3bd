//! Proves that of processes that need the same artifact at once one builds it and the others wait,
//! and that a wait ends when the builder has ended, is frozen for long, or a signal comes.
//!
//! limits    all processes are of one host; `stages/contract/src/store/claim.rs` tests claims of
//!           others
use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, SystemTime},
};

use rustix::process::Signal;
use warploom_test_support::process::{Output, Running, start};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;

/// Files in the folder of claims.
fn claims(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.store.join("claims")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A pipeline whose first stages take long enough to be caught at work.
fn slow() -> Recipe {
    Recipe::of("pagerank", "random-60000-300000")
}

fn pipeline(sandbox: &Sandbox, recipe: &Recipe, further: &[&str]) -> Command {
    let arguments =
        recipe.arguments(&[&["pipeline", "--format", "json", "--threads", "1"], further].concat());
    sandbox.command("warploom", &arguments)
}

/// How often each stage was built.
fn built(outputs: &[Output]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in outputs.iter().flat_map(Output::stages) {
        *counts.entry(line["stage"].as_str().unwrap().to_owned()).or_default() +=
            usize::from(line["status"] == "built");
    }
    counts
}

/// A process that is stopped while it holds the claim of a stage, and how often that is tried: on
/// a busy machine the stage may end first.
fn frozen_at(sandbox: &Sandbox, stage: &str) -> Running {
    const TRIES: usize = 20;
    let holds = || claims(sandbox).iter().any(|name| name.starts_with(&format!("{stage}-")));
    for _ in 0..TRIES {
        let mut command = pipeline(sandbox, &slow(), &["--real=no"]);
        command.env("SLURM_JOB_ID", "4242");
        if let Some(running) = start(command).caught(holds) {
            running.signal(Signal::STOP);
            // The signal has its effect a moment later.
            std::thread::sleep(Duration::from_millis(20));
            if holds() {
                return running;
            }
        }
        fs::remove_dir_all(&sandbox.store).unwrap();
    }
    panic!("no process was caught while it held the claim of `{stage}`");
}

#[test]
fn processes_that_start_at_once_build_each_stage_once() {
    let sandbox = Sandbox::stand_in();
    let count = if is_long() { 50 } else { 20 };
    for (number, recipe) in [Recipe::small(), slow()].iter().enumerate() {
        let alone = sandbox.with_store(format!("alone-{number}"));
        alone.build(recipe);
        let sandbox = sandbox.with_store(format!("store-{number}"));
        let all: Vec<Running> =
            (0..count).map(|_| start(pipeline(&sandbox, recipe, &[]))).collect();
        let outputs: Vec<Output> =
            all.into_iter().map(|running| running.wait().expect(0)).collect();
        let counts = built(&outputs);
        assert!(counts.len() == 6 && counts.values().all(|&count| count == 1), "{counts:?}");
        assert_eq!(sandbox.view().digests(), alone.view().digests());
        assert_eq!((sandbox.view().flaws(), claims(&sandbox)), (Vec::new(), Vec::new()));
        assert!(sandbox.view().leftovers().is_empty(), "{:?}", sandbox.view().leftovers());
        let whys = outputs.iter().flat_map(Output::stages).map(|line| line["why"].to_string());
        let waited = whys.filter(|why| why.contains("built meanwhile by process ")).count();
        println!("{count} processes: each stage built once, {waited} waits");
        assert!(waited > 0, "no process waited for another");
    }
}

#[test]
fn a_hit_makes_no_claim() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let changed = || fs::metadata(sandbox.store.join("claims")).unwrap().modified().unwrap();
    let before: SystemTime = changed();
    sandbox.build(&Recipe::small());
    assert_eq!(changed(), before);
}

#[test]
fn the_claim_of_a_killed_process_is_stolen_at_once() {
    let sandbox = Sandbox::stand_in();
    for stage in ["ingest", "extract"] {
        let sandbox = sandbox.with_store(stage);
        let holder = frozen_at(&sandbox, stage);
        let waiter =
            start(pipeline(&sandbox, &slow(), &[])).for_at_most(Duration::from_millis(700));
        holder.signal(Signal::KILL);
        assert_eq!(holder.wait().signal, Some(9));
        let output = waiter.wait().expect(0);
        assert_eq!(built(std::slice::from_ref(&output))[stage], 1, "{output}");
        assert!(output.took < Duration::from_secs(30), "it waited for the expiry: {output}");
        assert_eq!((sandbox.view().flaws(), claims(&sandbox)), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_frozen_process_is_waited_for() {
    let sandbox = Sandbox::stand_in();
    let holder = frozen_at(&sandbox, "ingest");
    let waiter = start(pipeline(&sandbox, &slow(), &[])).for_at_most(Duration::from_secs(4));
    let number = holder.number();
    holder.signal(Signal::CONT);
    let outputs = [holder.wait().expect(0), waiter.wait().expect(0)];
    let counts = built(&outputs);
    assert!(counts.len() == 6 && counts.values().all(|&count| count == 1), "{counts:?}");
    let [_, waited] = outputs;
    let ingest = &waited.stages()[0];
    assert_eq!(ingest["status"], "hit");
    let why = ingest["why"].as_str().unwrap();
    assert!(why.starts_with(&format!("built meanwhile by process {number} on ")), "{why}");
    waited.says(&[
        &format!("ingest: process {number} on "),
        " builds this since 20",
        "waiting for it",
    ]);
}

#[test]
fn the_claim_of_a_process_that_is_frozen_for_long_is_stolen() {
    let sandbox = Sandbox::stand_in();
    let holder = frozen_at(&sandbox, "ingest");
    let mut impatient = pipeline(&sandbox, &slow(), &[]);
    impatient.env("WARPLOOM_TEST_CLAIM_EXPIRY", "4000");
    let waited = start(impatient).wait().expect(0);
    assert!(waited.took > Duration::from_millis(1000), "it did not wait: {waited}");
    assert!(built(std::slice::from_ref(&waited)).values().all(|&count| count == 1), "{waited}");
    let digests = sandbox.view().digests();
    // Whose claim was stolen finds its work done.
    holder.signal(Signal::CONT);
    holder.wait().expect(0);
    assert_eq!((sandbox.view().digests(), sandbox.view().flaws()), (digests, Vec::new()));
    assert_eq!(claims(&sandbox), [""; 0]);
}

#[test]
fn a_signal_ends_a_wait_at_once_and_gc_takes_what_is_left() {
    let sandbox = Sandbox::stand_in();
    let holder = frozen_at(&sandbox, "ingest");
    let held = claims(&sandbox);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 75)] {
        let waiter = start(pipeline(&sandbox, &slow(), &[])).for_at_most(Duration::from_secs(1));
        let sent = std::time::Instant::now();
        waiter.signal(signal);
        waiter.wait().expect(code).says(&["The same command resumes after them"]);
        assert!(sent.elapsed() < Duration::from_secs(3), "{:?}", sent.elapsed());
        assert_eq!(claims(&sandbox), held);
    }
    sandbox.warploom(&["store", "gc"]).expect(0);
    assert_eq!(claims(&sandbox), held, "gc took the claim of a living process");
    // --force neither waits nor claims.
    let forced = start(pipeline(&sandbox, &slow(), &["--force"])).wait().expect(0);
    assert_eq!(built(std::slice::from_ref(&forced)).values().sum::<usize>(), 6, "{forced}");
    assert_eq!(claims(&sandbox), held);
    holder.signal(Signal::KILL);
    holder.wait();
    sandbox.warploom(&["store", "gc"]).expect(0).prints(&["a claim without a holder"]);
    assert_eq!(claims(&sandbox), [""; 0]);
    assert_eq!(sandbox.view().leftovers(), [""; 0].map(PathBuf::from));
}

#[test]
fn a_process_that_is_stopped_by_a_signal_leaves_no_claim() {
    let sandbox = Sandbox::stand_in();
    let holder = frozen_at(&sandbox, "ingest");
    holder.signal(Signal::TERM);
    holder.signal(Signal::CONT);
    holder.wait().expect(75);
    assert_eq!(claims(&sandbox), [""; 0]);
}

#[test]
fn after_a_process_that_fails_the_next_one_gets_an_error_of_its_own() {
    let sandbox =
        Sandbox::edge_lists(&[("bad", "0 1\n1 x y z\n")], "symmetrize: false\nsplit: {rule: none}");
    let recipe = Recipe::of("pagerank", "bad");
    let all: Vec<Running> = (0..5).map(|_| start(pipeline(&sandbox, &recipe, &[]))).collect();
    for running in all {
        let output = running.wait().expect(1).says(&["error: ", "edges.txt"]);
        assert!(output.took < Duration::from_secs(30), "it waited for the expiry: {output}");
    }
    assert!(sandbox.store.join("claims").exists(), "no claim was made");
    assert_eq!(claims(&sandbox), [""; 0]);
}
