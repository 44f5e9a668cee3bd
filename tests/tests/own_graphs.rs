//! Proves `ingest.format: program`: the graph that a program of the user's writes is the graph of a
//! folder with the same files, for all later stages too; the command, its files and the raw data
//! are in the key; what is wrong is named with the program; and nothing of a failure stays.
use std::fs;

use serde_json::Value;
use warploom_test_support::process::start;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

use crate::{
    own_orders::{assert_fails, assert_nothing_left, assert_signalled},
    pipeline::each,
};

/// A format that no reader knows, and the same edges as a table.
const RAW: &str = "40=3|3=5|5=7|7=3|7=40|\n";
const EDGES: &str = "source,target\n40,3\n3,5\n5,7\n7,3\n7,40\n";
/// Makes the table from the raw file.
const GOOD: &str = "{ echo source,target; tr '|=' '\\n,' < \"$WARPLOOM_RAW/all.raw\" | grep ,; } \
                    > \"$WARPLOOM_OUTPUT/edges.csv\"\n";

/// A program that reads a small data set: a script of the shell, beside its pipeline.
struct Script {
    sandbox: Sandbox,
    recipe: Recipe,
}

impl Script {
    fn new() -> Script {
        let sandbox = Sandbox::stand_in();
        let programs = repository().join("pipelines/programs");
        std::os::unix::fs::symlink(programs, sandbox.path("programs")).unwrap();
        sandbox.write("raw/mine/all.raw", RAW);
        let text = fs::read(Recipe::of("components", "mine").file).unwrap();
        let recipe = Recipe::file(sandbox.write("own.yaml", text))
            .set("dataset=mine")
            .set("ingest.format=program")
            .set("ingest.command=[sh, own.sh]");
        Script { sandbox, recipe }
    }

    fn write(&self, text: &str) {
        self.sandbox.write("own.sh", text);
    }

    fn fails(&self, text: &str, words: &[&str]) {
        assert_fails(&self.sandbox, &self.recipe, "graph", text, words);
    }

    /// The line of `ingest`.
    fn ingest(&self, recipe: &Recipe) -> Value {
        self.sandbox.stage("ingest", recipe, &[]).expect(0).lines().remove(0)
    }
}

/// Later stages are found, not built: their keys hold the digests of all that they read.
#[test]
fn the_graph_of_a_program_is_that_of_its_files() {
    let script = Script::new();
    script.sandbox.write("raw/plain/edges.csv", EDGES);
    let plain = Recipe::of("components", "plain");
    let of_folder = script.sandbox.build(&plain);
    script.write(&format!(
        "set -eu\ntest -z \"${{WARPLOOM_CSR-}}\"\ntest \"$WARPLOOM_THREADS\" = 2\n\
         test \"$WARPLOOM_MEMORY\" = 1073741824\ntest -z \"$(ls \"$WARPLOOM_OUTPUT\")\"\n\
         echo run >> runs\n{GOOD}"
    ));
    let limits = ["--threads", "2", "--memory", "1GiB"];
    let lines = script.sandbox.front("pipeline", &script.recipe, &limits).expect(0).stages();
    assert_eq!(each(&lines, "status"), ["built", "hit", "hit", "hit", "hit", "hit"]);
    assert_ne!(lines[0]["key"], of_folder[0]["key"]);
    let names = |lines: &[Value]| {
        let listed = fs::read_dir(folder(&lines[0], "graph")).unwrap().flatten();
        let mut names: Vec<_> = listed.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&lines), names(&of_folder), "what the program wrote is in no artifact");
    for action in ["check", "explain"] {
        script.sandbox.front(action, &script.recipe, &[]).expect(0);
    }
    script.sandbox.stage("ingest", &script.recipe, &["check"]).expect(0);
    assert_eq!(script.sandbox.build(&script.recipe)[0]["status"], "hit");
    assert_eq!(fs::read_to_string(script.sandbox.path("runs")).unwrap(), "run\n", "it ran once");
    // Settings of `ingest` hold for it as for any files.
    script.write(GOOD);
    let reversed = script.recipe.clone().set("ingest.symmetrize=true");
    let both = script.sandbox.build(&reversed);
    assert_eq!(
        both[1]["key"],
        script.sandbox.build(&plain.set("ingest.symmetrize=true"))[1]["key"]
    );
    assert_ne!(both[1]["key"], lines[1]["key"]);
}

#[test]
fn the_key_holds_the_command_what_it_names_and_the_raw_data() {
    let script = Script::new();
    script.write(GOOD);
    let built = |recipe: &Recipe| {
        let line = script.ingest(recipe);
        assert_eq!(line["status"], "built", "{line}");
        line["key"].clone()
    };
    let first = built(&script.recipe);
    script.write(&format!("{GOOD}# another\n"));
    let second = built(&script.recipe);
    assert_ne!(first, second);
    built(&script.recipe.clone().set("ingest.command=[sh, own.sh, more]"));
    fs::copy(script.sandbox.path("own.sh"), script.sandbox.path("moved.sh")).unwrap();
    let moved = script.recipe.clone().set("ingest.command=[sh, moved.sh]");
    let found = script.ingest(&moved);
    assert_eq!((&found["status"], &found["key"]), (&"hit".into(), &second));
    // The program may read every file of the folder, at any depth; hidden ones are not the set's.
    script.sandbox.write("raw/mine/.hidden", "");
    assert_eq!(script.ingest(&script.recipe)["status"], "hit");
    script.sandbox.write("raw/mine/a/b/c/d/e/f/more.raw", "1");
    let third = built(&script.recipe);
    script.sandbox.write("raw/mine/a/b/c/d/e/f/more.raw", "2");
    assert_ne!(built(&script.recipe), third);
    // Of a set whose files are read here, the settings of programs change nothing.
    script.sandbox.write("raw/plain/edges.csv", EDGES);
    let plain = Recipe::of("components", "plain");
    let key = built(&plain);
    assert_eq!(script.ingest(&plain.set("ingest.format=auto"))["key"], key);
}

#[test]
fn a_program_may_make_a_graph_without_raw_data() {
    let script = Script::new();
    script.write(
        "test -z \"${WARPLOOM_RAW+set}\" && printf '1 2\\n2 3\\n' > \"$WARPLOOM_OUTPUT/edges.txt\"",
    );
    let recipe = script.recipe.clone().set("dataset=made");
    let mut command = script.sandbox.command("warploom", &recipe.arguments(&["pipeline"]));
    command.env("WARPLOOM_RAW", "elsewhere");
    start(command).wait().expect(0).says(&["`made`: no folder has this name", "no raw data"]);
    script.sandbox.front("check", &recipe, &[]).expect(0);
}

/// What a catalogue entry says of a set holds for the graph that a program makes of its files.
#[test]
fn an_entry_holds_for_what_the_program_writes() {
    let mut script = Script::new();
    script.write(GOOD);
    let entry = |name: &str, nodes: u32| {
        format!(
            "name: {name}\nabout: made for a test\nfiles: [{{file: all.raw, url: null}}]\n\
             format: edge_list\nlicence: none\ndirected: false\nsymmetrize: true\ntask: none\n\
             split: {{rule: none}}\nexpected: {{nodes: {nodes}, listed: 5}}\n"
        )
    };
    for (name, nodes) in [("right", 4), ("wrong", 9), ("lost", 4)] {
        script.sandbox.add_entry(name, &entry(name, nodes));
    }
    script.sandbox.write("raw/right/all.raw", RAW);
    script.sandbox.write("raw/wrong/all.raw", RAW);
    let of = |name: &str| script.recipe.clone().set(&format!("dataset={name}"));
    let output = script.sandbox.front("pipeline", &of("wrong"), &[]).expect(1);
    output.says(&[
        "wrote a graph that is not valid: edges.csv: `wrong` is not the data set of the catalogue",
        "expected 9 nodes, found 4",
        "hint: correct the program, or the counts of the entry",
    ]);
    assert_nothing_left(&script.sandbox, "graph");
    let lines = script.sandbox.build(&of("right"));
    let manifest = fs::read(folder(&lines[0], "graph").join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        (&manifest["counts"]["edges"], &manifest["provenance"]),
        (&10.into(), &"real".into())
    );
    for real in ["--real=no", "--real=yes"] {
        let output = script.sandbox.front("pipeline", &of("karate"), &[real]).expect(1);
        output.says(&["are not here", "the program has nothing to read", "hint: get them with"]);
    }
    script.sandbox.front("pipeline", &of("lost"), &[]).expect(1).says(&["all.raw", "hint:"]);
    let output = script.sandbox.front("pipeline", &of("rmat-10"), &[]).expect(1);
    output.says(&["`rmat-10` is generated: it has no files for a program", "hint:"]);
}

#[test]
fn what_is_wrong_is_named_with_the_program() {
    let script = Script::new();
    let early = |sets: &[&str], words: &[&str]| {
        let base = Recipe::file(script.recipe.file.clone()).set("dataset=mine");
        let recipe = sets.iter().fold(base, |recipe, set| recipe.set(set));
        let output = script.sandbox.front("pipeline", &recipe, &[]).expect(1).says(words);
        assert_eq!(output.lines()[0]["stage"], "ingest");
    };
    early(&["ingest.format=program"], &["format `program` needs a command", "hint:"]);
    early(&["ingest.command=[sh]"], &["the format does not run it", "--set ingest.format=program"]);
    let asked = ["ingest.format=program", "ingest.command=[no-such-program]"];
    early(&asked, &["found no `no-such-program`", "hint: a script is the argument"]);

    script.fails(
        "echo lost the thread >&2\nexit 3\n",
        &["`sh own.sh` ended with exit code 3", "ingest.command", "| lost the thread", "RAW and"],
    );
    script.fails("kill -KILL $$\n", &["ended by signal 9"]);
    script.fails("echo no\n", &["`sh own.sh` left no file in WARPLOOM_OUTPUT", "| no", "hint:"]);
    let unknown = "printf '\\0\\1' > \"$WARPLOOM_OUTPUT/a.bin\"; echo well\n";
    script.fails(
        unknown,
        &["not valid: no format was recognised", "a.bin", "| well", "hint: edges.parquet has"],
    );
    script.fails(
        &format!("{GOOD}echo hm > \"$WARPLOOM_OUTPUT/notes.md.bin\"\n"),
        &["left what is no part of a graph in WARPLOOM_OUTPUT: the file `notes.md.bin`", "hint:"],
    );
    script.fails(
        "ln -s \"$WARPLOOM_RAW/all.raw\" \"$WARPLOOM_OUTPUT/edges.txt\"\n",
        &["made edges.txt a link or a device, expected a plain file"],
    );
    let nodes = format!("{GOOD}printf 'id\\n3\\n5\\n7\\n' > \"$WARPLOOM_OUTPUT/nodes.csv\"\n");
    script.fails(
        &nodes,
        &["`sh own.sh` wrote a graph that is not valid: edges.csv:2:1: ", "`40`", "hint:"],
    );
    script.fails(
        &format!("{GOOD}printf '1,,\\n' >> \"$WARPLOOM_OUTPUT/edges.csv\"\n"),
        &["`sh own.sh` wrote a graph that is not valid: edges.csv:7", "expected", "found", "hint:"],
    );
    script.fails(
        &format!("{GOOD}echo '# changed' >> own.sh\n"),
        &["a file of `ingest.command` has changed since this stage began"],
    );
    std::os::unix::fs::symlink("/proc", script.sandbox.path("raw/mine/link")).unwrap();
    script.fails(GOOD, &["a link to a folder", "its contents would be in no key", "hint:"]);
}

/// The guard between is also in the stage's own binary.
#[test]
fn a_signal_reaches_the_program() {
    for binary in ["warploom", "warploom-ingest"] {
        let script = Script::new();
        assert_signalled(binary, &script.sandbox, &script.recipe, "graph");
    }
}
