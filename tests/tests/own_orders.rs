//! Proves `reorder.method: file` and `program`: an order of the user's own is taken as it is, in
//! every form, on degenerate graphs too; it changes no result; its bytes are in the key; what is
//! wrong with it is named, before the first stage where that can be known; and a program that
//! fails, or is stopped, leaves nothing.
use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Signal;
use warploom_contract::arrow_file::{View, open_numbers, write_numbers};
use warploom_test_support::graphs::degenerate_graphs;
use warploom_test_support::process::start;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::folder;

use crate::peers::python;

const FURTHER: &str = "symmetrize: false\nsplit: {rule: none}";
/// Ids 3, 5, 7 and 40.
const EDGES: &str = "40 3\n3 5\n5 7\n7 3\n7 40\n";

fn four() -> (Sandbox, Recipe) {
    let sandbox = Sandbox::edge_lists(&[("four", EDGES)], FURTHER);
    (sandbox, Recipe::of("components", "four").set("reorder.method=file"))
}

fn order(path: &Path) -> String {
    format!("reorder.order={}", path.display())
}

fn new_of_old(lines: &[serde_json::Value]) -> Vec<u32> {
    let path = folder(&lines[2], "permutation").join("new_of_old.arrow");
    let view: View<u32> = open_numbers(&path, "new_of_old").unwrap();
    view.to_vec()
}

fn values(lines: &[serde_json::Value]) -> Vec<u8> {
    fs::read(folder(&lines[5], "run").join("values.parquet")).unwrap()
}

/// An array file of whole numbers.
fn npy(numbers: &[i64]) -> Vec<u8> {
    let header =
        format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", numbers.len());
    let header = format!("{header:<117}\n");
    let length = (header.len() as u16).to_le_bytes();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &bytes].concat()
}

#[test]
fn a_table_of_ids_is_the_order_in_every_form() {
    let (sandbox, recipe) = four();
    let files = [
        sandbox.write("order.csv", "id\n40\n3\n7\n5\n"),
        sandbox.write("order.tsv", "note\tid\nlast\t40\nfirst\t3\n\t7\n\t5\n"),
        sandbox.write("order.npy", npy(&[40, 3, 7, 5])),
    ];
    let plain = sandbox.build(&Recipe::of("components", "four").set("reorder.method=none"));
    let mut keys = Vec::new();
    for file in &files {
        let recipe = recipe.clone().set(&order(file));
        let lines = sandbox.build(&recipe);
        // Rows of 3, 5, 7 and 40.
        assert_eq!(new_of_old(&lines), [1, 3, 2, 0], "{}", file.display());
        assert_eq!(values(&lines), values(&plain), "{}", file.display());
        sandbox.front("check", &recipe, &[]).expect(0);
        keys.push(lines[2]["key"].clone());
    }
    // A table of nodes, as the store has it, is the data set's own order.
    let nodes = folder(&plain[0], "graph").join("nodes.parquet");
    let own = sandbox.build(&recipe.clone().set(&order(&nodes)));
    assert_eq!(new_of_old(&own), [0, 1, 2, 3]);
    // The same bytes under another name are a hit, other bytes a miss.
    let copy = sandbox.path("copy.csv");
    fs::copy(&files[0], &copy).unwrap();
    let again = sandbox.build(&recipe.clone().set(&order(&copy)));
    assert_eq!((again[2]["status"].as_str(), &again[2]["key"]), (Some("hit"), &keys[0]));
    fs::write(&copy, "id\n3\n40\n7\n5\n").unwrap();
    let other = sandbox.build(&recipe.set(&order(&copy)));
    assert_eq!(
        (other[2]["status"].as_str(), new_of_old(&other)),
        (Some("built"), vec![0, 3, 2, 1])
    );
}

#[test]
fn degenerate_graphs_have_orders_of_ones_own() {
    let graphs: Vec<_> =
        degenerate_graphs().into_iter().filter(|graph| !graph.edges.is_empty()).collect();
    let texts: Vec<String> = graphs.iter().map(|graph| graph.text()).collect();
    let lists: Vec<(&str, &str)> =
        graphs.iter().zip(&texts).map(|(graph, text)| (graph.name, text.as_str())).collect();
    let sandbox = Sandbox::edge_lists(&lists, FURTHER);
    for graph in &graphs {
        let mut ids: Vec<u32> = graph.edges.iter().flat_map(|&(from, to)| [from, to]).collect();
        ids.sort_unstable();
        ids.dedup();
        let rows: Vec<String> = ids.iter().rev().map(u32::to_string).collect();
        let file = sandbox.write("order.csv", format!("id\n{}\n", rows.join("\n")));
        let base = Recipe::of("components", graph.name);
        let plain = sandbox.build(&base.clone().set("reorder.method=none"));
        let recipe = base.set("reorder.method=file").set(&order(&file));
        let lines = sandbox.build(&recipe);
        let reversed: Vec<u32> = (0..ids.len() as u32).rev().collect();
        assert_eq!(new_of_old(&lines), reversed, "{}", graph.name);
        assert_eq!(values(&lines), values(&plain), "{}", graph.name);
        sandbox.front("check", &recipe, &[]).expect(0);
    }
}

#[test]
fn what_is_wrong_with_an_order_is_named() {
    let (sandbox, recipe) = four();
    let early = |sets: &[&str], words: &[&str]| {
        let recipe =
            sets.iter().fold(Recipe::of("components", "four"), |recipe, set| recipe.set(set));
        sandbox.front("pipeline", &recipe, &[]).expect(1).says(words);
        assert!(sandbox.view().of_kind("graph").is_empty(), "found before the first stage");
    };
    early(
        &["reorder.method=file"],
        &["needs the table of an order", "--set reorder.order=ORDER.csv"],
    );
    early(
        &["reorder.method=file", "reorder.order=none.csv"],
        &["no such file", "none.csv", "hint:"],
    );
    early(&["reorder.order=o.csv"], &["the method does not read it", "--set reorder.method=file"]);
    let headless = sandbox.write("headless.csv", "3\n5\n7\n40\n");
    early(
        &["reorder.method=file", &order(&headless)],
        &["no column `id`", "headless.csv", "hint: its first line names the columns:  id"],
    );
    early(&["reorder.method=program"], &["needs a command", "hint:"]);
    early(
        &["reorder.command=[sh]"],
        &["the method does not run it", "--set reorder.method=program"],
    );
    early(
        &["reorder.method=program", "reorder.command=[no-such-program]"],
        &["found no `no-such-program`", "hint: a script is the argument of its interpreter"],
    );
    let cases: [(&str, &[&str]); 4] = [
        ("id\n3\n5\n6\n40\n", &["order.csv:4:1", "no such id", "such as `3`, found `6`", "hint:"]),
        ("id\n3\n5\n3\n40\n", &["order.csv:4:1", "two rows", "one row for each id", "hint:"]),
        ("id\n3\n5\n40\n", &["order.csv", "expected 4 rows", "found 3", "is `7`", "hint:"]),
        ("id\n3\n5\n7\n40\n40\n", &["order.csv:6:1", "two rows", "hint:"]),
    ];
    for (text, words) in cases {
        let file = sandbox.write("order.csv", text);
        let output = sandbox.front("pipeline", &recipe.clone().set(&order(&file)), &[]);
        output.expect(1).says(words);
        assert!(sandbox.view().of_kind("permutation").is_empty(), "{text}");
    }
}

/// A program of one's own for `four`: a script of the shell, beside its pipeline.
struct Script {
    sandbox: Sandbox,
    recipe: Recipe,
}

impl Script {
    fn new() -> Script {
        let (sandbox, recipe) = four();
        let file = sandbox.write("own.yaml", fs::read(&recipe.file).unwrap());
        let programs = repository().join("pipelines/programs");
        std::os::unix::fs::symlink(programs, sandbox.path("programs")).unwrap();
        write_numbers(&sandbox.path("good.arrow"), "new_of_old", vec![1u32, 3, 2, 0]).unwrap();
        let recipe = Recipe::file(file)
            .set("dataset=four")
            .set("reorder.method=program")
            .set("reorder.command=[sh, own.sh]");
        Script { sandbox, recipe }
    }

    fn write(&self, text: &str) {
        self.sandbox.write("own.sh", text);
    }

    fn fails(&self, text: &str, words: &[&str]) {
        assert_fails(&self.sandbox, &self.recipe, "permutation", text, words);
    }
}

/// A script `own.sh` that fails with these words, and leaves nothing of a kind.
pub(crate) fn assert_fails(
    sandbox: &Sandbox,
    recipe: &Recipe,
    kind: &str,
    text: &str,
    words: &[&str],
) {
    sandbox.write("own.sh", text);
    sandbox.front("pipeline", recipe, &[]).expect(1).says(words);
    assert_nothing_left(sandbox, kind);
}

/// A program of one's own that `binary` runs gets the signal that ends it, and leaves nothing.
pub(crate) fn assert_signalled(binary: &str, sandbox: &Sandbox, recipe: &Recipe, kind: &str) {
    sandbox.write(
        "own.sh",
        "trap 'echo stopped > stopped; exit 1' TERM\necho half > \"$WARPLOOM_OUTPUT/half\"\n\
         echo begun > begun\nwhile :; do sleep 0.05; done\n",
    );
    let (begun, stopped) = (sandbox.path("begun"), sandbox.path("stopped"));
    let action: &[&str] = if binary == "warploom" { &["pipeline"] } else { &[] };
    let running = start(sandbox.command(binary, &recipe.arguments(action)));
    let running = running.until("it runs", || begun.exists());
    running.signal(Signal::TERM);
    running.wait().expect(75);
    let told = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        stopped.exists()
    });
    assert!(told, "the program did not get the signal");
    assert_nothing_left(sandbox, kind);
}

/// A store without a draft of an artifact and without an artifact of a kind.
pub(crate) fn assert_nothing_left(sandbox: &Sandbox, kind: &str) {
    assert!(sandbox.view().of_kind(kind).is_empty());
    let kinds = fs::read_dir(&sandbox.store).unwrap().flatten();
    let names = kinds.filter(|kind| kind.path().is_dir()).flat_map(|kind| {
        fs::read_dir(kind.path()).unwrap().flatten().map(|entry| entry.file_name())
    });
    let drafts: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".t")).collect();
    assert!(drafts.is_empty(), "{drafts:?}");
}

const GOOD: &str = "cp good.arrow \"$WARPLOOM_OUTPUT/new_of_old.arrow\"\n";

#[test]
fn a_program_is_told_where_its_input_is_and_its_order_is_taken() {
    let script = Script::new();
    script.write(&format!(
        "set -eu\ntest -f \"$WARPLOOM_CSR/in_offsets.arrow\"\ntest -z \"${{WARPLOOM_GRAPH-}}\"\n\
         test \"$WARPLOOM_THREADS\" = 2\ntest \"$WARPLOOM_MEMORY\" = 1073741824\n{GOOD}"
    ));
    let limits = ["--threads", "2", "--memory", "1GiB"];
    let lines = script.sandbox.front("pipeline", &script.recipe, &limits).expect(0).lines();
    assert_eq!(new_of_old(&lines), [1, 3, 2, 0]);
    script.sandbox.front("check", &script.recipe, &[]).expect(0);
    let plain = Recipe::of("components", "four").set("reorder.method=none");
    assert_eq!(values(&lines), values(&script.sandbox.build(&plain)));
    assert_eq!(script.sandbox.build(&script.recipe)[2]["status"], "hit");

    // Other bytes of the script, and another command, are other orders.
    script.write(&format!("{GOOD}# another\n"));
    let second = script.sandbox.build(&script.recipe);
    assert_eq!(second[2]["status"], "built");
    let words = script.recipe.clone().set("reorder.command=[sh, own.sh, more]");
    assert_eq!(script.sandbox.build(&words)[2]["status"], "built");
    fs::copy(script.sandbox.path("own.sh"), script.sandbox.path("moved.sh")).unwrap();
    let moved = script.recipe.clone().set("reorder.command=[sh, moved.sh]");
    assert_eq!(script.sandbox.build(&moved)[2]["key"], second[2]["key"], "no path is in the key");

    let graph = script.recipe.clone().set("reorder.inputs=[csr, graph]");
    script.write(&format!("set -eu\ntest -f \"$WARPLOOM_GRAPH/nodes.parquet\"\n{GOOD}"));
    assert_eq!(script.sandbox.build(&graph)[2]["status"], "built");
}

#[test]
fn a_program_that_fails_leaves_nothing() {
    let script = Script::new();
    script.fails(
        "echo half > \"$WARPLOOM_OUTPUT/new_of_old.arrow\"\necho lost the thread >&2\nexit 3\n",
        &["`sh own.sh` ended with exit code 3", "| lost the thread", "hint:"],
    );
    script.fails("kill -KILL $$\n", &["ended by signal 9"]);
    script.fails("echo forgot it\n", &["left no file", "expected new_of_old.arrow", "| forgot it"]);
    script.fails(
        &format!("{GOOD}echo more > \"$WARPLOOM_OUTPUT/notes.txt\"\n"),
        &["new_of_old.arrow, notes.txt", "expected new_of_old.arrow alone"],
    );
    script.fails(
        "echo nothing > \"$WARPLOOM_OUTPUT/new_of_old.arrow\"\n",
        &["not an Arrow IPC file", "hint: new_of_old.arrow is an Arrow file"],
    );
    let cases: [(&str, &[u32], &str); 4] = [
        ("new_of_old", &[0, 1, 2], "expected 4 rows, found 3"),
        ("new_of_old", &[0, 1, 2, 4], "row 3: expected a number below 4, found 4"),
        ("new_of_old", &[0, 1, 1, 2], "row 2: expected each number once, found 1"),
        ("order", &[0, 1, 2, 3], "expected a column `new_of_old`, found `order`"),
    ];
    for (name, numbers, words) in cases {
        let path = script.sandbox.path("good.arrow");
        fs::remove_file(&path).unwrap();
        write_numbers(&path, name, numbers.to_vec()).unwrap();
        script.fails(GOOD, &[words, "hint:"]);
    }
}

#[test]
fn a_signal_reaches_the_program() {
    let script = Script::new();
    assert_signalled("warploom", &script.sandbox, &script.recipe, "permutation");
}

/// What a program has started, and programs that do not listen, end with Warploom, also where it is
/// killed.
#[test]
fn nothing_that_a_program_started_stays() {
    for (signal, code) in [(Signal::TERM, Some(75)), (Signal::KILL, None)] {
        let script = Script::new();
        script.write(
            "trap '' TERM\nsh -c 'echo $$ > inner; exec sleep 600' &\necho $$ > outer\n\
             while :; do sleep 0.05; done\n",
        );
        let [inner, outer] = ["inner", "outer"].map(|name| script.sandbox.path(name));
        let is_there = || [&inner, &outer].iter().all(|file| fs::read(file).is_ok_and(ends_line));
        let running = script.sandbox.begin(&script.recipe, &[]).until("it runs", is_there);
        running.signal(signal);
        assert_eq!(running.wait().code, code);
        let is_alive = |file: &PathBuf| {
            let process = fs::read_to_string(file).unwrap();
            let state = fs::read_to_string(format!("/proc/{}/stat", process.trim()));
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        let gone = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            ![&inner, &outer].into_iter().any(is_alive)
        });
        assert!(gone, "a process stayed after {signal:?}");
    }
}

fn ends_line(bytes: Vec<u8>) -> bool {
    bytes.ends_with(b"\n")
}

/// A program that leaves a process behind ends when it ends, not when that does; and one that
/// replaces its output folder is refused.
#[test]
fn a_program_leaves_no_process_and_its_own_folder() {
    let script = Script::new();
    script.write("sleep 600 &\nexit 3\n");
    let output = script.sandbox.front("pipeline", &script.recipe, &[]).expect(1);
    let output = output.says(&["ended with exit code 3"]);
    assert!(output.took < std::time::Duration::from_secs(20), "{:?}", output.took);
    script.write(
        "mkdir elsewhere\nrmdir \"$WARPLOOM_OUTPUT\"\n\
         ln -s \"$PWD/elsewhere\" \"$WARPLOOM_OUTPUT\"\n",
    );
    script.sandbox.front("pipeline", &script.recipe, &[]).expect(1).says(&["WARPLOOM_OUTPUT"]);
    assert!(fs::read_dir(script.sandbox.path("elsewhere")).unwrap().next().is_none());
}

/// The fenced block of a page after a line that names its file.
fn block(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("`{name}`:\n\n```")).expect(name);
    let (_, rest) = rest.split_once('\n').unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// A place with the files of a page.
fn sandbox_of_page(page: &str) -> Sandbox {
    let sandbox = Sandbox::stand_in();
    for name in [
        "degree_order.py",
        "mine.yaml",
        "even_groups.py",
        "groups.yaml",
        "read_letters.py",
        "letters.yaml",
        "raw/letters/letters.txt",
    ] {
        sandbox.write(name, block(page, name.trim_start_matches("raw/letters/")));
    }
    std::os::unix::fs::symlink(repository().join("pipelines"), sandbox.path("pipelines")).unwrap();
    sandbox
}

#[test]
fn the_tutorial_runs_to_the_letter() {
    const TEST: &str = "own_orders::the_tutorial_runs_to_the_letter";
    let python: PathBuf = match std::env::var_os("WARPLOOM_PYTHON") {
        Some(own) => own.into(),
        None => match python(TEST) {
            Some(python) => python,
            None => return,
        },
    };
    let mut has = std::process::Command::new(&python);
    if !has.args(["-c", "import numpy, pyarrow"]).status().is_ok_and(|status| status.success()) {
        return skipped(TEST, "Python has no package `pyarrow` or `numpy`");
    }
    let page = fs::read_to_string(repository().join("docs/own-stages.md")).unwrap();
    let sandbox = sandbox_of_page(&page);
    // The page says `python3`: that of the packages comes first.
    let folder_of_python = python.parent().unwrap().to_path_buf();
    if !folder_of_python.join("python3").exists() {
        return skipped(TEST, "the interpreter has no `python3` beside it");
    }
    let path = std::env::join_paths(
        std::iter::once(folder_of_python)
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("warploom ")).collect();
    let run = |file: &str| {
        let own: Vec<&&str> = commands.iter().filter(|line| line.contains(file)).collect();
        assert!(own.len() >= 2, "{commands:?}");
        for line in own {
            let mut command = sandbox.command("warploom", &line.split(' ').collect::<Vec<_>>());
            command.env("PATH", &path).current_dir(sandbox.path(""));
            start(command).wait().expect(0);
        }
    };
    run("mine.yaml");
    assert_eq!(sandbox.view().of_kind("run").len(), 1, "the commands are one run");
    // It is the order of `reorder.method: degree`.
    let mine = sandbox.view().of_kind("permutation").remove(0);
    let other = sandbox.with_store("by-degree");
    let lines = other.build(&Recipe::small().set("reorder.method=degree"));
    let view: View<u32> = open_numbers(&mine.path.join("new_of_old.arrow"), "new_of_old").unwrap();
    assert_eq!(view.to_vec(), new_of_old(&lines));
    run("groups.yaml");
    let count = |kind| sandbox.view().of_kind(kind).len();
    let groups = sandbox.view().of_kind("partition").into_iter();
    let own = groups.filter(|made| made.path.join("file_groups.arrow").is_file());
    assert_eq!((own.count(), count("run")), (1, 2));
    run("letters.yaml");
    assert_eq!((count("graph"), count("run")), (2, 3));
}
