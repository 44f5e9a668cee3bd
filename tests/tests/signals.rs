//! Proves that SIGINT ends any stage within a second with 130, SIGTERM and SIGUSR1 with 75, after
//! saving what can be saved, that nothing is left behind, and that starting again gives the bytes
//! of a run that was never stopped.
use std::{fs, time::Duration};

use rustix::process::Signal;
use warploom_shell::StageName;
use warploom_test_support::draws::Draws;
use warploom_test_support::process::{Output, Running, start, started_by};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::StoreView;

/// From the signal to the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// A stand-in large enough to be caught at work.
fn large() -> Sandbox {
    let mut sandbox = Sandbox::stand_in();
    let recipe = "{nodes: 200000, edges: 3000000, symmetric: true, max_degree: 900, features: 64, \
                  classes: 8, seed: 5}";
    let entry = format!(
        "name: large\nabout: made for a test\nfiles: [{{file: none.txt, url: null}}]\nformat: edge_list\nlicence: none\ndirected: true\n\
         symmetrize: true\ntask: node_classification\nsplit: {{rule: fractions, train: 0.5, validation: 0.25, test: 0.25}}\nstand_in: {recipe}\n"
    );
    sandbox.add_entry("large", &entry);
    sandbox.write("raw/large/.absent", "2026-01-01\nno network in tests\n");
    sandbox
}

/// Whether somebody is writing an artifact of this kind.
fn is_written(view: &StoreView, kind: &str) -> bool {
    view.leftovers()
        .iter()
        .any(|path| path.parent().is_some_and(|folder| folder.ends_with(format!("{kind}-v1"))))
}

/// Starts that a busy machine may end before anybody looks.
const ATTEMPTS: usize = 20;

/// Starts a program in a new store, until a signal finds it at work: the store, what came of it,
/// and how long the end took.
#[track_caller]
fn signalled(
    sandbox: &Sandbox,
    signal: Signal,
    begin: impl Fn(&Sandbox) -> Running,
    is_at_work: impl Fn(&Sandbox) -> bool,
) -> (Sandbox, Output, Duration) {
    for attempt in 0..ATTEMPTS {
        let sandbox = sandbox.with_store(format!("store-{signal:?}-{attempt}"));
        let Some(running) = begin(&sandbox).caught(|| is_at_work(&sandbox)) else { continue };
        let sent = std::time::Instant::now();
        running.signal(signal);
        let output = running.wait();
        if output.code != Some(0) {
            return (sandbox, output, sent.elapsed());
        }
    }
    panic!("{ATTEMPTS} times it ended before the signal came");
}

/// The same, for signals that end it soon with a code.
#[track_caller]
fn stopped(
    sandbox: &Sandbox,
    (signal, code): (Signal, i32),
    begin: impl Fn(&Sandbox) -> Running,
    is_at_work: impl Fn(&Sandbox) -> bool,
) -> (Sandbox, Output) {
    let (sandbox, output, took) = signalled(sandbox, signal, begin, is_at_work);
    let output = output.expect(code);
    assert!(took < PATIENCE, "the end took {took:?} after the signal\n{output}");
    (sandbox, output)
}

/// Nothing half-written, nothing left over, no lease.
#[track_caller]
fn is_clean(sandbox: &Sandbox) {
    assert_eq!(sandbox.view().flaws(), [""; 0]);
    assert!(sandbox.view().leftovers().is_empty(), "left over: {:?}", sandbox.view().leftovers());
    let leases: Vec<_> = fs::read_dir(sandbox.store.join("leases"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    assert!(leases.is_empty(), "left over: {leases:?}");
}

#[test]
fn stages_that_cannot_save_end_at_once() {
    let sandbox = large();
    let recipe = Recipe::of("gcn", "large").set("run.epochs=1");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 75), (Signal::USR1, 75)] {
        let begin = |sandbox: &Sandbox| sandbox.begin(&recipe, &[]);
        let (alone, output) = stopped(&sandbox, (signal, code), begin, |sandbox| {
            is_written(&sandbox.view(), "graph")
        });
        output.says(&[
            "; the stage at work was not saved, stages that were done are kept. The same \
                       command resumes after them",
        ]);
        is_clean(&alone);
        assert!(alone.view().digests().is_empty());
    }
    for (signal, code) in [(Signal::INT, 130), (Signal::HUP, 75)] {
        let begin = |sandbox: &Sandbox| {
            sandbox.stage("ingest", &recipe, &[]).expect(0);
            start(sandbox.command("warploom-extract", &recipe.arguments(&[])))
        };
        let (alone, _) =
            stopped(&sandbox, (signal, code), begin, |sandbox| is_written(&sandbox.view(), "csr"));
        is_clean(&alone);
        assert_eq!(alone.view().digests().len(), 1);
        alone.stage("extract", &recipe, &[]).expect(0);
        alone.warploom(&["store", "verify"]).expect(0);
    }
}

/// The two files of a training run that must not change by a bit.
fn results(sandbox: &Sandbox) -> [Vec<u8>; 2] {
    let run = sandbox.view().of_kind("run").remove(0);
    ["parameters.safetensors", "predictions.parquet"]
        .map(|name| fs::read(run.path.join(name)).unwrap())
}

/// Training that lasts some seconds and saves now and then.
fn training() -> Recipe {
    Recipe::of("gcn", "karate").set("run.epochs=8000").set("run.checkpoint.every_epochs=500")
}

/// Of the summary of a run that was stopped: the epoch that was saved.
fn stopped_at(summary: &serde_json::Value) -> u64 {
    let is_summary = ["status", "pipeline", "dataset"].map(|name| summary[name].as_str())
        == [Some("stopped"), Some("gcn"), Some("karate")];
    assert!(
        is_summary && summary["run"].is_null() && summary["epochs"] == summary["saved"],
        "{summary}"
    );
    assert!(
        summary["device"].is_string() && summary["seconds"].as_f64().unwrap() > 0.0,
        "{summary}"
    );
    summary["saved"].as_u64().unwrap()
}

fn has_step(sandbox: &Sandbox) -> bool {
    sandbox.view().artifacts().iter().any(|found| found.kind == "checkpoint")
}

#[test]
fn training_that_was_stopped_goes_on_and_ends_with_the_same_bytes() {
    let sandbox = Sandbox::stand_in();
    let whole = sandbox.with_store("whole");
    whole.build(&training());
    let each = [
        (Signal::HUP, "warploom"),
        (Signal::USR1, "warploom"),
        (Signal::INT, "warploom"),
        (Signal::TERM, "warploom-run"),
    ];
    for (signal, program) in each {
        let (word, kind, code) = match signal {
            Signal::INT => ("interrupted", "interrupted", 130),
            _ => ("stopped by a signal", "stopped", 75),
        };
        let begin = |sandbox: &Sandbox| {
            start(if program == "warploom" {
                sandbox.command(program, &training().arguments(&["pipeline", "--format", "json"]))
            } else {
                for stage in StageName::Run.earlier_stages() {
                    sandbox.stage(stage.name(), &training(), &[]).expect(0);
                }
                sandbox.command(program, &training().arguments(&["--format", "json"]))
            })
        };
        let (sandbox, output) = stopped(&sandbox, (signal, code), begin, has_step);
        let output = output
            .says(&[&format!("{word} after epoch "), "; saved. The same command resumes there"]);
        assert!(!output.stderr.contains("error"), "a stop is no error:\n{output}");
        let mut lines = output.lines();
        let done =
            if program == "warploom" { stopped_at(&lines.pop().unwrap()["summary"]) } else { 0 };
        let run = lines.pop().unwrap();
        assert_eq!(
            (run["stage"].as_str(), run["status"].as_str(), run["error"]["kind"].as_str()),
            (Some("run"), Some("stopped"), Some(kind))
        );
        is_clean(&sandbox);
        assert!(sandbox.view().of_kind("run").is_empty() && has_step(&sandbox));
        let lines = sandbox.build(&training());
        assert_eq!(lines[5]["status"], "built");
        let record = sandbox.view().of_kind("run")[0].record();
        let resumed_at = record["resumed_at"].as_u64().unwrap();
        assert!(resumed_at > 0 && (done == 0 || done == resumed_at), "stopped at {done}: {record}");
        assert!(results(&sandbox) == results(&whole), "stopping changed the results");
        assert_eq!(sandbox.view().digests(), whole.view().digests());
    }
}

#[test]
fn training_that_was_stopped_again_and_again_ends_with_the_same_bytes() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "cora")
        .set("run.epochs=30")
        .set("run.keep=best")
        .set("run.checkpoint.every_epochs=1");
    let whole = sandbox.with_store("whole");
    whole.build(&recipe);
    let mut stops = 0;
    for _ in 0..30 {
        let view = sandbox.view();
        let steps = view.of_kind("checkpoint");
        let progressed = || {
            view.of_kind("checkpoint").last().map(|step| step.key.clone())
                > steps.last().map(|step| step.key.clone())
        };
        let mut over = false;
        let running = sandbox.begin(&recipe, &[]).until("it saved a further state", || {
            over = !view.of_kind("run").is_empty();
            over || progressed()
        });
        running.signal(Signal::TERM);
        let output = running.wait();
        if output.code == Some(0) || over {
            break;
        }
        output.expect(75);
        stops += 1;
    }
    assert!(stops >= 5, "only {stops} stops");
    sandbox.build(&recipe);
    assert!(results(&sandbox) == results(&whole), "stopping {stops} times changed the results");
}

#[test]
fn an_iteration_that_was_stopped_goes_on_and_ends_with_the_same_bytes() {
    let sandbox = Sandbox::stand_in();
    // Never converged: it ends at the bound.
    let recipe = Recipe::of("pagerank", "cora")
        .set("plan.set.tolerance=0")
        .set("run.allow_unconverged=true")
        .set("run.max_supersteps=6000");
    let recipe = recipe.set("run.dtype=f64").set("run.checkpoint.every_epochs=20");
    let whole = sandbox.with_store("whole");
    whole.build(&recipe);
    let (sandbox, output) =
        stopped(&sandbox, (Signal::TERM, 75), |sandbox| sandbox.begin(&recipe, &[]), has_step);
    output.says(&["stopped by a signal after superstep"]);
    is_clean(&sandbox);
    sandbox.build(&recipe);
    let values = |sandbox: &Sandbox| {
        fs::read(sandbox.view().of_kind("run")[0].path.join("values.parquet")).unwrap()
    };
    assert!(values(&sandbox) == values(&whole), "stopping changed the results");
    assert!(sandbox.view().of_kind("run")[0].record()["resumed_at"].as_u64().unwrap() > 0);
}

#[test]
fn a_stop_is_called_so_in_the_table() {
    let sandbox = Sandbox::stand_in();
    let begin = |sandbox: &Sandbox| {
        start(sandbox.command("warploom", &training().arguments(&["pipeline"])))
    };
    let (sandbox, output) = stopped(&sandbox, (Signal::TERM, 75), begin, has_step);
    assert!(output.stdout.contains("\nrun        stopped "), "{output}");
    assert!(!output.stdout.contains("failed"), "{output}");
    // What is predicted of it, and where it goes on, is what is explained.
    let explained = sandbox
        .warploom(&training().arguments(&["explain"]))
        .expect(0)
        .prints(&["resumes after epoch "]);
    let predicted = |text: &str| {
        text.lines().find_map(|line| Some(line.trim().strip_prefix("peak memory: ")?.to_owned()))
    };
    assert!(
        predicted(&output.stdout).is_some()
            && predicted(&output.stdout) == predicted(&explained.stdout),
        "{output}\n{explained}"
    );
}

#[test]
fn an_interrupt_saves_the_state_and_says_so() {
    let sandbox = Sandbox::stand_in();
    let (sandbox, output) =
        stopped(&sandbox, (Signal::INT, 130), |sandbox| sandbox.begin(&training(), &[]), has_step);
    let output = output.says(&[
        "interrupted: saving the state; Ctrl-C again ends at once",
        "interrupted after epoch ",
        "; saved. The same command resumes there",
    ]);
    assert_eq!(output.stages().len(), 6, "five stages were built, and one was stopped");
    is_clean(&sandbox);
    // What was saved is used.
    sandbox.build(&training());
    assert!(sandbox.view().of_kind("run")[0].record()["resumed_at"].as_u64().unwrap() > 0);
    assert!(sandbox.view().of_kind("checkpoint").len() <= 2);
    let forced = sandbox.front("pipeline", &training(), &["--force"]).expect(0).lines();
    assert!(
        forced[5]["why"].as_str().unwrap().contains("the same bytes as before"),
        "going on from a checkpoint gave other bytes: {}",
        forced[5]
    );
}

#[test]
fn a_signal_at_any_moment_leaves_nothing_and_has_its_own_exit_code() {
    let sandbox = Sandbox::stand_in();
    let whole = sandbox.with_store("whole");
    let begun = std::time::Instant::now();
    whole.build(&Recipe::small());
    let (digests, span) = (whole.view().digests(), begun.elapsed());
    let mut draws = Draws::seeded(4);
    let rounds = if is_long() { 400 } else { 40 };
    let mut stopped = 0;
    for round in 0..rounds {
        let (signal, code) =
            [(Signal::INT, 130), (Signal::TERM, 75), (Signal::USR1, 75), (Signal::HUP, 75)]
                [round % 4];
        let sandbox = sandbox.with_store(format!("store-{round}"));
        // The handler stands once the program is at work: not before the first folder of the store.
        let running = sandbox
            .begin(&Recipe::small(), &[])
            .until("it began", || sandbox.store.exists())
            .for_at_most(span.mul_f64(draws.unit()));
        running.signal(signal);
        let output = running.wait();
        assert!(
            output.code == Some(0) || output.code == Some(code),
            "round {round}: expected 0 or {code} of\n{output}"
        );
        stopped += usize::from(output.code == Some(code));
        is_clean(&sandbox);
        sandbox.build(&Recipe::small());
        assert_eq!(sandbox.view().digests(), digests, "round {round}");
        fs::remove_dir_all(&sandbox.store).unwrap();
    }
    assert!(
        stopped * 3 >= rounds,
        "only {stopped} of {rounds} were still running when the signal came"
    );
}

#[test]
fn a_quit_leaves_nothing_and_has_its_usual_effect() {
    let sandbox = Sandbox::stand_in();
    let (sandbox, output, _) =
        signalled(&sandbox, Signal::QUIT, |sandbox| sandbox.begin(&training(), &[]), has_step);
    assert_eq!(output.signal, Some(Signal::QUIT.as_raw()));
    is_clean(&sandbox);
}

#[test]
fn what_nohup_ignores_stays_ignored() {
    let sandbox = Sandbox::stand_in();
    let begin = |sandbox: &Sandbox| {
        let inner = sandbox.command("warploom", &training().arguments(&["pipeline"]));
        let running =
            start(started_by("nohup", &[], &inner)).until("it began", || sandbox.store.exists());
        running.signal(Signal::HUP);
        running.for_at_most(Duration::from_millis(50))
    };
    stopped(&sandbox, (Signal::INT, 130), begin, has_step);
}

#[test]
fn threads_that_the_kernel_refuses_are_told() {
    let sandbox = Sandbox::stand_in();
    // As another user, for whom the limit on processes counts; root has none.
    let as_user = |limit: &str| {
        let limit = format!("--nproc={limit}");
        started_by(
            "setpriv",
            &["--reuid=7777", "--clear-groups", "prlimit", &limit],
            &sandbox.command("warploom", &["doctor", "--threads", "4"]),
        )
    };
    let there = as_user("64").output();
    if !there.is_ok_and(|output| output.status.success()) {
        return skipped(
            "signals::threads_that_the_kernel_refuses_are_told",
            "`setpriv` and `prlimit` need root",
        );
    }
    start(as_user("4"))
        .wait()
        .expect(0)
        .says(&["warning: cannot start a thread to work", "going on with 1 of 4 threads"]);
    start(as_user("1")).wait().expect(4).says(&[
        "error: cannot start a thread to listen to signals",
        "hint: threads or memory are used up",
    ]);
}
