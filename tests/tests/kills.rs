//! Proves that a start that was killed at any moment leaves nothing that a later one could take for
//! done, that the later one gives the same bytes, and that any number of processes may make the
//! same artifact at once.
use std::time::{Duration, Instant};

use rustix::process::Signal;
use warploom_test_support::draws::Draws;
use warploom_test_support::process::Output;
use warploom_test_support::process::{Running, start, started_by};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::skips::skipped;

/// How many kills a campaign has, short and long. All long ones together are 1,400, most of them
/// anywhere in a whole pipeline.
type Kills = (usize, usize);

/// Builds undisturbed: the digests, and how long it took.
fn undisturbed(
    sandbox: &Sandbox,
    recipe: &Recipe,
) -> (std::collections::BTreeMap<String, String>, Duration) {
    let sandbox = sandbox.with_store("undisturbed");
    let begun = Instant::now();
    sandbox.build(recipe);
    (sandbox.view().digests(), begun.elapsed())
}

/// Kills starts at random moments, each in a store of its own; what is there is whole, and starting
/// again finishes it.
fn campaign(recipe: &Recipe, (seed, kills): (u64, Kills), starts_before_the_last: usize) {
    let kills = if is_long() { kills.1 } else { kills.0 };
    let sandbox = Sandbox::stand_in();
    let mut draws = Draws::seeded(seed);
    let (digests, mut span) = undisturbed(&sandbox, recipe);
    let mut killed = 0;
    for round in 0..kills {
        let sandbox = sandbox.with_store(format!("store-{round}"));
        for _ in 0..starts_before_the_last {
            let running = sandbox.begin(recipe, &[]).for_at_most(span.mul_f64(draws.unit()));
            running.signal(Signal::KILL);
            let output = running.wait();
            killed += usize::from(output.signal == Some(9));
            assert!(output.signal == Some(9) || output.code == Some(0), "round {round}: {output}");
            // The first one may have been slow: others used the machine too.
            if output.signal.is_none() {
                span = span.mul_f64(0.8);
            }
            assert_eq!(sandbox.view().flaws(), [""; 0], "round {round}");
        }
        sandbox.build(recipe);
        assert_eq!(sandbox.view().digests(), digests, "round {round}");
        assert_eq!(sandbox.view().flaws(), [""; 0], "round {round}");
        sandbox.warploom(&["store", "gc"]).expect(0);
        assert_eq!(
            sandbox.view().leftovers(),
            [""; 0].map(std::path::PathBuf::from),
            "round {round}: gc left what a dead process had left"
        );
        assert_eq!(
            sandbox.view().digests(),
            digests,
            "round {round}: gc took more than left-overs"
        );
        std::fs::remove_dir_all(&sandbox.store).unwrap();
    }
    println!(
        "kills: {killed} of {} starts, {kills} rounds: 0 wrong results",
        kills * starts_before_the_last
    );
    assert!(
        killed * 2 >= kills,
        "only {killed} of {} starts were still running when they were killed",
        kills * starts_before_the_last
    );
}

#[test]
fn a_pipeline_that_was_killed_starts_again() {
    campaign(&Recipe::small(), (1, (12, 1000)), 1);
}

#[test]
fn training_that_was_killed_goes_on_from_a_checkpoint_with_the_same_bits() {
    campaign(
        &Recipe::of("gcn", "karate").set("run.epochs=40").set("run.checkpoint.every_epochs=1"),
        (2, (8, 200)),
        2,
    );
}

#[test]
fn an_iteration_that_was_killed_goes_on_from_a_checkpoint_with_the_same_bits() {
    campaign(
        &Recipe::of("pagerank", "karate")
            .set("run.checkpoint.every_epochs=1")
            .set("plan.set.tolerance=1.0e-12")
            .set("run.dtype=f64"),
        (3, (8, 200)),
        1,
    );
}

#[test]
fn twenty_processes_at_once_make_one_artifact_of_each_kind() {
    let sandbox = Sandbox::stand_in();
    let (digests, _) = undisturbed(&sandbox, &Recipe::small());
    for round in 0..if is_long() { 20 } else { 2 } {
        let sandbox = sandbox.with_store(format!("store-{round}"));
        let all: Vec<Running> =
            (0..20).map(|_| sandbox.begin(&Recipe::small(), &["--threads", "1"])).collect();
        let mut built = 0;
        for running in all {
            let lines = running.wait().expect(0).lines();
            assert_eq!(lines.iter().filter(|line| line.get("stage").is_some()).count(), 6);
            built += lines.iter().filter(|line| line["status"] == "built").count();
        }
        assert!(built >= 6);
        assert_eq!(sandbox.view().digests(), digests);
        assert_eq!(sandbox.view().flaws(), [""; 0]);
        assert!(sandbox.view().leftovers().is_empty(), "{:?}", sandbox.view().leftovers());
        let leases = std::fs::read_dir(sandbox.store.join("leases"))
            .map(Iterator::count)
            .unwrap_or_default();
        assert_eq!(leases, 0, "a process that ended well left a lease");
    }
}

#[test]
fn twenty_processes_that_force_at_once_leave_whole_artifacts() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let digests = sandbox.view().digests();
    let all: Vec<Running> =
        (0..20).map(|_| sandbox.begin(&Recipe::small(), &["--threads", "1", "--force"])).collect();
    for running in all {
        running.wait().expect(0);
    }
    assert_eq!((sandbox.view().digests(), sandbox.view().flaws()), (digests, Vec::new()));
    assert!(sandbox.view().leftovers().is_empty(), "{:?}", sandbox.view().leftovers());
}

#[test]
fn gc_spares_what_a_living_process_writes_and_reads() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "cora").set("run.epochs=1000000");
    let view = sandbox.view();
    let at_work = || {
        view.leftovers()
            .iter()
            .any(|path| path.parent().is_some_and(|kind| kind.ends_with("run-v1")))
    };
    let running = sandbox.begin(&recipe, &[]).until("it trained", at_work);
    let (drafts, digests) = (view.leftovers(), view.digests());
    // As after a day of training: nothing is written into the folder of a run before its end.
    drafts.iter().for_each(|draft| {
        std::fs::File::open(draft)
            .unwrap()
            .set_modified(std::time::SystemTime::now() - Duration::from_secs(25 * 3600))
            .unwrap()
    });
    sandbox
        .warploom(&["store", "gc", "--keep", "0B", "--unreachable", "--runs"])
        .expect(0)
        .prints(&["in use were spared"]);
    assert_eq!(view.leftovers(), drafts, "gc removed what a living process writes");
    let kept: Vec<String> = view.digests().into_keys().collect();
    for kind in ["graph", "csr", "permutation", "partition", "plan"] {
        assert!(
            kept.iter().any(|name| name.starts_with(kind)),
            "gc removed `{kind}`, which training reads; of {digests:?} it kept {kept:?}"
        );
    }
    running.signal(Signal::INT);
    running.wait().expect(130);
}

/// Keys of the stages that a start made or found, by stage.
fn keys(output: &Output) -> Vec<(String, String)> {
    output
        .stages()
        .iter()
        .map(|line| (line["stage"].to_string(), line["key"].to_string()))
        .collect()
}

#[test]
fn starts_beside_a_gc_that_removes_all_it_may_end_well() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::small();
    let expected =
        keys(&sandbox.with_store("undisturbed").front("pipeline", &recipe, &[]).expect(0));
    let over = std::sync::atomic::AtomicBool::new(false);
    let is_over = || over.load(std::sync::atomic::Ordering::Relaxed);
    let collect = || {
        let mut count = 0;
        while !is_over() {
            sandbox
                .warploom(&["store", "gc", "--older-than", "0s", "--unreachable", "--runs"])
                .expect(0);
            count += 1;
        }
        count
    };
    let starts = if is_long() { 300 } else { 12 };
    let collected: usize = std::thread::scope(|scope| {
        let collectors = [scope.spawn(collect), scope.spawn(collect)];
        for start in 0..starts {
            let output = sandbox.front("pipeline", &recipe, &["--threads", "1"]);
            let ended = (output.code == Some(0)).then(|| keys(&output));
            if ended.as_ref() != Some(&expected) {
                over.store(true, std::sync::atomic::Ordering::Relaxed);
                panic!("start {start}: {output}");
            }
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        collectors.map(|collector| collector.join().unwrap()).iter().sum()
    });
    println!("{starts} starts beside {collected} gcs");
    sandbox.warploom(&["store", "gc"]).expect(0);
    assert_eq!((sandbox.view().flaws(), sandbox.view().leftovers()), (Vec::new(), Vec::new()));
}

/// Whether a process of another node lives is unknown: its last touch decides.
#[test]
fn gc_spares_what_a_process_of_another_node_uses() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let key = sandbox.view().of_kind("plan").remove(0).key;
    let lease = sandbox.store.join(format!("leases/node7-0a1b2c3d-4026531836-5-12-{key}"));
    std::fs::write(&lease, "").unwrap();
    let collect = || {
        sandbox.warploom(&["store", "gc", "--keep", "0B", "--unreachable", "--runs"]).expect(0);
        let digests = sandbox.view().digests();
        digests.into_keys().map(|name| name.split('/').next().unwrap().to_owned()).collect()
    };
    let kinds: std::collections::BTreeSet<String> = collect();
    for kind in ["graph", "csr", "profile", "permutation", "partition", "plan"] {
        assert!(kinds.contains(kind), "gc removed `{kind}`, which another node reads: {kinds:?}");
    }
    let touch = std::time::SystemTime::now() - Duration::from_secs(2 * 3600);
    std::fs::File::open(&lease).unwrap().set_modified(touch).unwrap();
    assert!(collect().is_empty() && !lease.exists(), "an old lease of another node counts");
}

#[test]
fn gc_spares_what_is_exported() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::of("pagerank", "random-60000-300000"));
    let graph = format!("graph/{}", sandbox.view().of_kind("graph")[0].key);
    let output = sandbox.path("exported");
    let leases =
        || std::fs::read_dir(sandbox.store.join("leases")).map(Iterator::count).unwrap_or_default();
    let exporting = sandbox
        .command("warploom", &["export", &graph, "--as", "csv", "-o", output.to_str().unwrap()]);
    let running = start(exporting).until("it had a lease", || leases() > 0);
    running.signal(Signal::STOP);
    sandbox
        .warploom(&["store", "gc", "--older-than", "0s", "--unreachable", "--runs"])
        .expect(0)
        .prints(&["1 in use were spared"]);
    running.signal(Signal::CONT);
    running.wait().expect(0);
    assert!(output.join("edges.csv").exists() && leases() == 0);
}

#[test]
fn what_is_removed_under_a_start_is_made_again() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("pagerank", "random-60000-300000");
    let (digests, _) = undisturbed(&sandbox, &recipe);
    let graph = || sandbox.view().of_kind("graph");
    let running = sandbox
        .begin(&recipe, &["--threads", "1"])
        .until("it made the graph", || !graph().is_empty());
    // As an older version's `gc` does, or a person: nobody asked for leases. What is open stays
    // readable; the stage `plan` opens it anew.
    std::fs::rename(&graph()[0].path, sandbox.path("taken")).unwrap();
    let output = running
        .wait()
        .expect(0)
        .says(&["warning: another process removed what this start had found in the store"]);
    let mut stages: Vec<_> = output
        .stages()
        .iter()
        .map(|line| format!("{} {}", line["stage"], line["status"]).replace('"', ""))
        .collect();
    stages.sort();
    let expected = [
        "extract built",
        "ingest built",
        "ingest built",
        "partition built",
        "plan built",
        "reorder built",
        "run built",
    ];
    assert_eq!(stages, expected, "a hit of what was told is not told again");
    assert_eq!((sandbox.view().digests(), sandbox.view().flaws()), (digests, Vec::new()));
}

#[test]
fn gc_spares_what_a_process_of_a_container_writes() {
    let test = "kills::gc_spares_what_a_process_of_a_container_writes";
    let apart = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    if !std::process::Command::new("unshare")
        .args(apart)
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        return skipped(test, "no PID name space: `unshare --pid` needs root");
    }
    let sandbox = Sandbox::stand_in();
    let inner = sandbox.command(
        "warploom",
        &Recipe::of("gcn", "cora").set("run.epochs=1000000").arguments(&["pipeline"]),
    );
    // A process number that nobody has outside.
    let script = "echo 30000 > /proc/sys/kernel/ns_last_pid; \"$@\"; exit";
    let outer = started_by("unshare", &[&apart[..], &["sh", "-c", script, "sh"]].concat(), &inner);
    let view = sandbox.view();
    let at_work = || {
        view.leftovers()
            .iter()
            .any(|path| path.parent().is_some_and(|kind| kind.ends_with("run-v1")))
    };
    let running = start(outer).until("it trained", at_work);
    let (drafts, mut digests) = (view.leftovers(), view.digests());
    // The choice of an order is read once, when the key is made.
    digests.retain(|name, _| !name.starts_with("tune/"));
    sandbox.warploom(&["store", "gc", "--keep", "0B", "--unreachable", "--runs"]).expect(0);
    assert_eq!(
        (view.leftovers(), view.digests()),
        (drafts, digests),
        "gc removed what a living process of another name space writes or reads"
    );
    running.signal(Signal::KILL);
    running.wait();
}
