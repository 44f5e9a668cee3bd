//! Proves that processes which share a store over a network file system end right: what others made
//! becomes visible late, replies get lost, calls fail now and then or are not supported, clocks of
//! hosts differ. `tests/faults/inject.c` behaves so.
//!
//! promises  every process ends with 0, or with 4 and the hint that starting again helps; nothing
//!           half-written has a final name; the next start ends with the right results
//! limits    one host and one local file system; a call that goes to the kernel without the C
//!           library is not disturbed
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use warploom_test_support::process::{Output, Running, start};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;

use crate::faults::{fault_of, library, sum_up};

/// Calls that fail now and then, or whose replies are lost (EPERM 1, ENOENT 2, EIO 5, EEXIST 17,
/// EINVAL 22, ENOSYS 38, ESTALE 116): the call, its way to fail, at which calls, and whether every
/// process ends with 0 nevertheless.
const DISTURBANCES: [(&str, &str, &str, bool); 16] = [
    ("rename", "5%", "4", false),
    ("rename", "116%", "5", false),
    ("link", "1+", "1", true),
    ("link", "38+", "1", true),
    ("link", "5%", "2", true),
    ("link", "116%", "3", true),
    ("fsync", "5%", "20", false),
    ("fsync", "116%", "31", false),
    ("fsyncdir", "22+", "1", true),
    ("fsyncdir", "38+", "1", true),
    ("fsyncdir", "5%", "5", false),
    ("rename", "done:2%", "2", true),
    ("rename", "done:17%", "3", true),
    ("link", "done:17%", "1", true),
    ("mkdir", "done:17%", "2", true),
    ("unlink", "done:2%", "2", true),
];

/// Processes that start at once.
fn processes() -> usize {
    if is_long() { 16 } else { 4 }
}

fn recipe() -> Recipe {
    Recipe::small().set("run.checkpoint.every_epochs=2")
}

fn command(sandbox: &Sandbox, library: &Path, variables: &[(&str, &str)]) -> Command {
    let arguments = recipe().arguments(&["pipeline", "--threads", "1", "--format", "json"]);
    let mut command = sandbox.command("warploom", &arguments);
    command
        .env("LD_PRELOAD", library)
        .env("INJECT_BELOW", &sandbox.store)
        .envs(variables.iter().copied());
    command
}

/// Processes of which each is disturbed in its own way: how they ended, and what is wrong.
fn race(
    sandbox: &Sandbox,
    library: &Path,
    variables_of: impl Fn(usize) -> Vec<(&'static str, String)>,
) -> (Vec<Output>, Vec<String>) {
    let begin = |number: usize| {
        let variables = variables_of(number);
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        start(command(sandbox, library, &variables))
    };
    let all: Vec<Running> = (0..processes()).map(begin).collect();
    let outputs: Vec<Output> = all.into_iter().map(Running::wait).collect();
    let mut wrong: Vec<String> = outputs.iter().filter_map(|output| fault_of(output, "")).collect();
    let is_bad = |output: &&Output| {
        !(output.code == Some(0)
            || (output.code == Some(4) && output.stderr.contains("start again")))
    };
    wrong.extend(outputs.iter().filter(is_bad).map(|output| format!("neither 0 nor 4: {output}")));
    wrong.extend(sandbox.view().flaws().into_iter().map(|flaw| format!("half-written: {flaw}")));
    (outputs, wrong)
}

/// What is wrong with an undisturbed start afterwards.
fn judge_next(sandbox: &Sandbox, digests: &BTreeMap<String, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let again = sandbox.front("pipeline", &recipe(), &[]);
    if again.code != Some(0) {
        wrong.push(format!("the next start failed: {again}"));
    } else if sandbox.view().digests() != *digests {
        wrong.push("WRONG RESULT: the digests of the next start are others".to_owned());
    }
    let gc = sandbox.warploom(&["store", "gc"]);
    let claims = fs::read_dir(sandbox.store.join("claims")).map(Iterator::count).unwrap_or(0);
    let left: Vec<PathBuf> = sandbox.view().leftovers();
    if gc.code != Some(0) || !left.is_empty() || claims > 0 {
        wrong.push(format!("gc ended with {:?} and left {left:?}, {claims} claims", gc.code));
    }
    wrong
}

fn undisturbed() -> (Sandbox, BTreeMap<String, String>) {
    let sandbox = Sandbox::stand_in();
    let alone = sandbox.with_store("undisturbed");
    alone.build(&recipe());
    (sandbox, alone.view().digests())
}

#[test]
fn what_others_made_may_be_visible_late() {
    let test = "network_file_systems::what_others_made_may_be_visible_late";
    let Some(library) = library(test) else { return };
    let (sandbox, digests) = undisturbed();
    let (mut endings, mut all) = (BTreeMap::<String, usize>::new(), Vec::new());
    for delay in if is_long() { &["50", "300", "1000"][..] } else { &["300"] } {
        let sandbox = sandbox.with_store(format!("late-{delay}"));
        let (outputs, mut wrong) =
            race(&sandbox, &library, |_| vec![("INJECT_DELAY", (*delay).to_owned())]);
        wrong.extend(judge_next(&sandbox, &digests));
        let built = outputs
            .iter()
            .flat_map(|output| output.lines())
            .filter(|line| line["status"] == "built")
            .count();
        println!("visible after {delay} ms: {built} stages built by {} processes", outputs.len());
        for output in outputs {
            *endings.entry(format!("rc {:?}", output.code)).or_default() += 1;
        }
        all.extend(wrong);
    }
    sum_up(test, &endings, &all);
}

#[test]
fn calls_that_fail_now_and_then_or_lose_their_replies_break_nothing() {
    let test = "network_file_systems::calls_that_fail_now_and_then";
    let Some(library) = library(test) else { return };
    let (sandbox, digests) = undisturbed();
    let (mut endings, mut all) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (number, (call, way, at, is_harmless)) in DISTURBANCES.into_iter().enumerate() {
        let sandbox = sandbox.with_store(format!("store-{number}"));
        let (outputs, mut wrong) = race(&sandbox, &library, |_| {
            let variables = [("INJECT_CALL", call), ("INJECT_WAY", way), ("INJECT_AT", at)];
            variables.map(|(name, value)| (name, value.to_owned())).into()
        });
        if is_harmless && let Some(bad) = outputs.iter().find(|output| output.code != Some(0)) {
            wrong.push(format!("it is harmless, but: {bad}"));
        }
        wrong.extend(judge_next(&sandbox, &digests));
        for output in outputs {
            *endings.entry(format!("rc {:?}", output.code)).or_default() += 1;
        }
        all.extend(wrong.into_iter().map(|what| format!("{call} {way} {at}: {what}")));
        let _gone = fs::remove_dir_all(&sandbox.store);
    }
    sum_up(test, &endings, &all);
}

#[test]
fn clocks_of_hosts_may_differ() {
    let test = "network_file_systems::clocks_of_hosts_may_differ";
    let Some(library) = library(test) else { return };
    let (sandbox, digests) = undisturbed();
    let sandbox = sandbox.with_store("skewed");
    let skews = ["0", "10800", "-10800", "86400"];
    let (outputs, mut wrong) = race(&sandbox, &library, |number| {
        vec![("INJECT_SKEW", skews[number % skews.len()].to_owned())]
    });
    let built = outputs.iter().flat_map(Output::stages).filter(|line| line["status"] == "built");
    assert_eq!(built.count(), 6, "a claim was taken for stale by another clock");
    wrong.extend(judge_next(&sandbox, &digests));
    assert_eq!(wrong, [""; 0]);
}

/// Files are synced before their folder, the folder before the rename, and the folder of the kind
/// after it; nothing is mapped while it is written; nothing is locked.
#[test]
fn publishing_syncs_in_order_and_takes_no_lock() {
    let test = "network_file_systems::publishing_syncs_in_order_and_takes_no_lock";
    let Some(library) = library(test) else { return };
    let sandbox = Sandbox::stand_in();
    let (log, counts) = (sandbox.path("log"), sandbox.path("counts"));
    let variables =
        [("INJECT_LOG", log.to_str().unwrap()), ("INJECT_COUNTS", counts.to_str().unwrap())];
    start(command(&sandbox, &library, &variables)).wait().expect(0);
    let text = fs::read_to_string(counts).unwrap();
    assert!(text.lines().any(|line| line == "lock 0"), "a lock was taken: {text}");
    let text = fs::read_to_string(log).unwrap();
    assert!(!text.contains("mapped-while-written"), "{text}");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let place = |what: [&str; 2]| lines.iter().position(|line| line[..2] == what);
    let mut published = 0;
    for artifact in sandbox.view().artifacts() {
        let target = artifact.path.to_str().unwrap();
        let Some(at) = lines.iter().position(|line| line[0] == "rename" && line[2] == target)
        else {
            continue;
        };
        let draft = lines[at][1];
        let mut names = artifact.files();
        names.push("manifest.json".to_owned());
        let folder = place(["fsyncdir", draft]).expect("the draft is synced");
        for name in names {
            let file = place(["fsync", &format!("{draft}/{name}")])
                .unwrap_or_else(|| panic!("{target}/{name} is not synced"));
            assert!(file < folder, "{target}/{name} is synced after its folder");
        }
        let kind = artifact.path.parent().unwrap().to_str().unwrap();
        let after = lines[at..].iter().any(|line| line[..2] == ["fsyncdir", kind]);
        assert!(folder < at && after, "{target}: its folder is not synced before and after");
        assert_eq!(Path::new(draft).parent(), artifact.path.parent(), "renamed across folders");
        published += 1;
    }
    assert!(published >= 8, "only {published} artifacts were published by a rename");
}
