//! Proves that a call of the system that fails once, or from some time on, ends in the right result
//! or in a named error, and that the same command succeeds afterwards with the same digests.
//! `tests/faults/inject.c` makes the calls fail.
//!
//! promises  no wrong result, no exit 255, no signal, nothing half-written under a final name,
//!           nothing left behind that `gc` does not take. `make test` takes each pair of a call and
//!           a way to fail once; `make test-long` at most `MOST_OF_CALL` places of each, evenly
//! limits    a call that goes to the kernel without the C library does not fail
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use warploom_test_support::draws::Draws;
use warploom_test_support::process::{Output, start};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::{is_long, skipped};

/// Calls and the ways in which each fails: numbers of errors (EIO 5, EINTR 4, ENOENT 2, ENOMEM 12,
/// EACCES 13, EEXIST 17, EXDEV 18, EMFILE 24; ENOSPC 28 from then on), half of what was asked for,
/// none of it, or the end of the process.
const CALLS: [(&str, &[&str]); 13] = [
    ("write", &["5", "28+", "4", "short", "zero", "kill"]),
    ("fsync", &["5", "28+", "4", "kill"]),
    ("rename", &["5", "28+", "4", "17", "18", "kill"]),
    ("create", &["5", "28+", "4", "24", "13", "kill"]),
    ("open", &["5", "24", "13", "2"]),
    ("read", &["5", "4", "short", "zero"]),
    ("mmap", &["5", "12"]),
    ("mkdir", &["5", "28+", "4", "kill"]),
    ("link", &["5", "28+", "4"]),
    ("unlink", &["5", "13", "kill"]),
    ("opendir", &["5", "24"]),
    ("stat", &["5", "2"]),
    ("close", &["5"]),
];

/// Places of a call and a way that a long campaign takes at most.
const MOST_OF_CALL: u64 = 60;

/// The library, built once; `None`, after saying so, without a C compiler.
pub(crate) fn library(test: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match BUILT.get_or_init(build) {
        Ok(library) => Some(library.clone()),
        Err(why) => {
            skipped(test, format!("NO CALL FAILED: {why}"));
            None
        }
    }
}

fn build() -> Result<PathBuf, String> {
    let own = std::env::current_exe().expect("a test knows its own path");
    let folder = own.ancestors().nth(3).expect("a test lies in target/PROFILE/deps").join("faults");
    fs::create_dir_all(&folder).expect("the folder of targets can be written");
    let (made, library) =
        (folder.join(format!("inject-{}.so", std::process::id())), folder.join("inject.so"));
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&made)
        .arg(repository().join("tests/faults/inject.c"))
        .arg("-ldl");
    let output = compiler.output().map_err(|error| format!("no C compiler `cc`: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    fs::rename(&made, &library).expect("the folder of targets can be written");
    Ok(library)
}

/// A pipeline and what it makes undisturbed.
struct Campaign {
    library: PathBuf,
    sandbox: Sandbox,
    recipe: Recipe,
    digests: BTreeMap<String, String>,
    /// How many calls of each name there are.
    counts: BTreeMap<String, u64>,
}

/// One place: a call, its number and how it fails.
type Place = (&'static str, u64, &'static str);

impl Campaign {
    fn new(library: &Path, recipe: Recipe) -> Self {
        let sandbox = Sandbox::stand_in();
        let counts = sandbox.path("counts");
        let mut campaign = Campaign {
            library: library.to_path_buf(),
            sandbox,
            recipe,
            digests: BTreeMap::new(),
            counts: BTreeMap::new(),
        };
        let undisturbed = campaign.sandbox.with_store("undisturbed");
        start(campaign.command(&undisturbed, &[("INJECT_COUNTS", counts.to_str().unwrap())]))
            .wait()
            .expect(0);
        campaign.digests = undisturbed.view().digests();
        let text = fs::read_to_string(counts).expect("the library writes counts");
        campaign.counts = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(name, count)| (name.to_owned(), count.parse().unwrap()))
            .collect();
        campaign
    }

    fn command(&self, sandbox: &Sandbox, variables: &[(&str, &str)]) -> Command {
        let mut command = sandbox.command(
            "warploom",
            &self.recipe.arguments(&["pipeline", "--threads", "1", "--format", "json"]),
        );
        command
            .env("LD_PRELOAD", &self.library)
            .env("INJECT_BELOW", &sandbox.store)
            .envs(variables.iter().copied());
        command
    }

    /// What is wrong with what came of a failing call; the code that it ended with.
    fn judge(&self, (number, (call, at, way)): (usize, Place)) -> (Option<i32>, Vec<String>) {
        let sandbox = self.sandbox.with_store(format!("store-{number}"));
        let output = start(self.command(
            &sandbox,
            &[("INJECT_CALL", call), ("INJECT_AT", &at.to_string()), ("INJECT_WAY", way)],
        ))
        .wait();
        let mut wrong = Vec::new();
        if let Some(fault) = fault_of(&output, way) {
            wrong.push(fault);
        }
        if output.code == Some(0) && sandbox.view().digests() != self.digests {
            wrong.push(
                "WRONG RESULT: it says that all is well, and the digests are others".to_owned(),
            );
        }
        wrong.extend(
            sandbox.view().flaws().into_iter().map(|flaw| format!("under a final name: {flaw}")),
        );
        let again = sandbox.front("pipeline", &self.recipe, &[]);
        if again.code != Some(0) {
            wrong.push(format!(
                "the next start failed with {:?}: {}",
                again.code,
                again.stderr.lines().next().unwrap_or_default()
            ));
        } else if sandbox.view().digests() != self.digests {
            wrong.push("WRONG RESULT: the digests of the next start are others".to_owned());
        }
        let gc = sandbox.warploom(&["store", "gc"]);
        let left = sandbox.view().leftovers();
        if gc.code != Some(0) || !left.is_empty() {
            wrong.push(format!("gc ended with {:?} and left {left:?}", gc.code));
        }
        let _gone = fs::remove_dir_all(&sandbox.store);
        (output.code, wrong)
    }
}

/// Which format the files of a folder have is found out: where one of them cannot be read, the
/// others are no other set.
#[test]
fn a_folder_has_one_format_whatever_fails() {
    let Some(library) = library("faults::a_folder_has_one_format_whatever_fails") else { return };
    let sandbox = Sandbox::stand_in();
    for (name, text) in [
        ("train.txt", "ann\tknows\tbob\nbob\tknows\teve\n"),
        ("valid.txt", "eve\tknows\tann\n"),
        ("list.txt", "0 1\n1 2\n"),
    ] {
        sandbox.write(&format!("raw/mine/{name}"), text);
    }
    let recipe = Recipe::of("pagerank", "mine");
    let ingest = |store: &str, variables: &[(&str, &str)]| {
        let mut command = sandbox
            .with_store(store)
            .command("warploom-ingest", &recipe.arguments(&["--format", "json", "--threads", "1"]));
        command
            .env("LD_PRELOAD", &library)
            .env("INJECT_BELOW", &sandbox.data)
            .envs(variables.iter().copied());
        start(command).wait()
    };
    let counts = sandbox.path("counts");
    let undisturbed = ingest("undisturbed", &[("INJECT_COUNTS", counts.to_str().unwrap())])
        .expect(0)
        .lines()
        .remove(0);
    let counts: BTreeMap<String, u64> = fs::read_to_string(counts)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, count)| (name.to_owned(), count.parse().unwrap()))
        .collect();
    let (mut endings, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (call, ways) in
        [("open", &["5", "24"][..]), ("read", &["5"]), ("opendir", &["5"]), ("stat", &["5"])]
    {
        for (at, way) in (1..=counts[call]).flat_map(|at| ways.iter().map(move |way| (at, way))) {
            let store = format!("{call}-{at}-{way}");
            let output = ingest(
                &store,
                &[("INJECT_CALL", call), ("INJECT_AT", &at.to_string()), ("INJECT_WAY", way)],
            );
            let other_key =
                output.code == Some(0) && output.lines()[0]["key"] != undisturbed["key"];
            let fault = fault_of(&output, way)
                .or(other_key.then(|| "WRONG RESULT: another graph".to_owned()));
            wrong.extend(fault.map(|fault| {
                format!("INJECT_CALL={call} INJECT_AT={at} INJECT_WAY={way}: {fault}")
            }));
            *endings.entry(format!("rc {:?}", output.code)).or_default() += 1;
        }
    }
    sum_up("a folder without an entry", &endings, &wrong);
}

/// A set that a new one replaces is there until the new one is, wherever the import ends.
#[test]
fn a_set_that_makes_way_outlives_an_import_that_is_killed() {
    let Some(library) = library("faults::a_set_that_makes_way_outlives_an_import_that_is_killed")
    else {
        return;
    };
    let sandbox = Sandbox::stand_in();
    let given = ["source,target\n0,1\n", "source,target\n0,1\n1,2\n"]
        .map(|text| sandbox.write(&format!("given/{}.csv", text.len()), text));
    let import = |file: &Path, further: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.command(
            "warploom",
            &[&["data", "import", "mine", "--edges", file.to_str().unwrap()], further].concat(),
        );
        command
            .env("LD_PRELOAD", &library)
            .env("INJECT_BELOW", &sandbox.data)
            .envs(variables.iter().copied());
        start(command).wait()
    };
    let counts = sandbox.path("counts");
    import(&given[0], &[], &[]).expect(0);
    import(&given[1], &["--force"], &[("INJECT_COUNTS", counts.to_str().unwrap())]).expect(0);
    let text = fs::read_to_string(counts).unwrap();
    let count = |call: &str| {
        text.lines().find_map(|line| line.strip_prefix(call)?.trim().parse::<u64>().ok()).unwrap()
    };
    for call in ["write", "fsync", "rename", "create", "mkdir", "unlink"] {
        for at in 1..=count(call) {
            let file = &given[at as usize % 2];
            import(
                file,
                &["--force"],
                &[("INJECT_CALL", call), ("INJECT_AT", &at.to_string()), ("INJECT_WAY", "kill")],
            );
            let store = sandbox.with_store(format!("{call}-{at}"));
            let told = store.stage("ingest", &Recipe::of("components", "mine"), &[]);
            assert_eq!(told.code, Some(0), "killed at {call} {at}: {told}");
        }
    }
    import(&given[0], &["--force"], &[]).expect(0);
    let left: Vec<_> = fs::read_dir(&sandbox.data)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".tmp-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What no program may do, whatever fails.
pub fn fault_of(output: &Output, way: &str) -> Option<String> {
    let first = output
        .stderr
        .lines()
        .find(|line| line.contains("error") || line.contains("panicked"))
        .unwrap_or_default();
    match (output.code, output.signal) {
        (_, Some(9)) if way == "kill" => None,
        (_, Some(signal)) => Some(format!("SIGNAL {signal}: {first}")),
        (Some(255), _) => Some(format!("EXIT 255: {first}")),
        _ if output.stderr.contains("panicked at")
            || output.stderr.contains("defect of Warploom") =>
        {
            Some(format!("it blames itself: {first}"))
        }
        (Some(0), _) => None,
        (Some(1..=4), _) if output.stderr.contains("error") => None,
        (code, _) => Some(format!("code {code:?} without a named error: {}", output.stderr)),
    }
}

/// Places of a campaign: of each call and way as many as asked for, evenly, each way from another
/// first one.
fn places(counts: &BTreeMap<String, u64>, most: u64, draws: &mut Draws) -> Vec<Place> {
    let mut places = Vec::new();
    for (call, ways) in CALLS {
        let count = counts[call];
        for &way in ways {
            let taken = most.min(count);
            let first = draws.unit();
            places.extend((0..taken).map(|part| {
                (
                    call,
                    1 + (((part as f64 + first) * count as f64 / taken as f64) as u64)
                        .min(count - 1),
                    way,
                )
            }));
        }
    }
    places
}

/// Says how many there were of each ending, and fails with what was wrong.
#[track_caller]
pub fn sum_up(what: &str, endings: &BTreeMap<String, usize>, wrong: &[String]) {
    let count: usize = endings.values().sum();
    let of = |word: &str| wrong.iter().filter(|line| line.contains(word)).count();
    println!(
        "{what}: {count} cases, by ending {endings:?}: {} wrong results, {} exit 255, {} signals",
        of("WRONG RESULT"),
        of("EXIT 255"),
        of("SIGNAL")
    );
    assert!(
        wrong.is_empty(),
        "{what}: {} of {count} cases:\n  {}",
        wrong.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n  ")
    );
}

fn campaign(test: &str, recipe: Recipe, seed: u64) {
    let Some(library) = library(test) else { return };
    let mut draws = Draws::seeded(seed);
    let campaign = Campaign::new(&library, recipe);
    let places = places(&campaign.counts, if is_long() { MOST_OF_CALL } else { 1 }, &mut draws);
    let (mut endings, mut all) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (number, place) in places.into_iter().enumerate() {
        let (code, wrong) = campaign.judge((number, place));
        *endings
            .entry(code.map_or_else(|| "killed".to_owned(), |code| format!("rc {code}")))
            .or_default() += 1;
        let (call, at, way) = place;
        all.extend(
            wrong
                .into_iter()
                .map(|what| format!("INJECT_CALL={call} INJECT_AT={at} INJECT_WAY={way}: {what}")),
        );
    }
    assert!(endings.len() >= 2, "nothing failed: {endings:?}");
    sum_up(test, &endings, &all);
}

#[test]
fn a_training_survives_calls_that_fail() {
    campaign(
        "faults::a_training_survives_calls_that_fail",
        Recipe::small().set("run.checkpoint.every_epochs=2"),
        11,
    );
}

#[test]
fn an_iteration_survives_calls_that_fail() {
    campaign(
        "faults::an_iteration_survives_calls_that_fail",
        Recipe::of("pagerank", "karate").set("run.checkpoint.every_epochs=10"),
        12,
    );
}
