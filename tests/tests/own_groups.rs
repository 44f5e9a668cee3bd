//! Proves `partition.scheme: program`: the groups that a program of the user's writes are the
//! division that scheme `file` makes of the same table, for plans and runs too; the command and its
//! files are in the key; what is wrong is named with the program; and nothing of a failure stays.
use std::fs;

use serde_json::Value;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

use crate::{
    group_readers::write_own_groups,
    own_orders::{assert_fails, assert_signalled},
    pipeline::each,
};

const FURTHER: &str = "symmetrize: false\nmade_up: {features: 3, classes: 2}\nsplit: {rule: \
    per_class, train: 1, validation: 1, test: 1}";
const EDGES: &str = "40 3\n3 5\n5 7\n7 3\n7 40\n";
const GOOD: &str = "cp good.parquet \"$WARPLOOM_OUTPUT/groups.parquet\"\n";

/// A program for the groups of a small graph: a script of the shell, beside its pipeline.
struct Script {
    sandbox: Sandbox,
    recipe: Recipe,
    base: Recipe,
}

impl Script {
    fn new() -> Script {
        let sandbox = Sandbox::edge_lists(&[("four", EDGES)], FURTHER);
        let programs = repository().join("pipelines/programs");
        std::os::unix::fs::symlink(programs, sandbox.path("programs")).unwrap();
        let text = fs::read(Recipe::of("gcn", "four").file).unwrap();
        let base = Recipe::file(sandbox.write("own.yaml", text))
            .set("dataset=four")
            .set("run.epochs=2")
            .set("reorder.method=none");
        let output = sandbox.front("pipeline", &base, &["--until", "reorder"]).expect(0);
        let csr = folder(&output.stages()[2], "csr");
        write_own_groups(&csr, &sandbox.path("good.parquet"));
        let recipe =
            base.clone().set("partition.scheme=program").set("partition.command=[sh, own.sh]");
        Script { sandbox, recipe, base }
    }

    fn write(&self, text: &str) {
        self.sandbox.write("own.sh", text);
    }

    fn fails(&self, text: &str, words: &[&str]) {
        assert_fails(&self.sandbox, &self.recipe, "partition", text, words);
    }
}

fn division(lines: &[Value]) -> Value {
    let page = fs::read(folder(&lines[3], "partition").join("partition.json")).unwrap();
    let page: Value = serde_json::from_slice(&page).unwrap();
    page["schemes"].as_array().unwrap().last().unwrap().clone()
}

/// Plan and run are found, not built: their keys hold the digests of all that they read.
#[test]
fn the_division_of_a_program_is_that_of_its_table() {
    let script = Script::new();
    let table = format!("partition.groups={}", script.sandbox.path("good.parquet").display());
    let by_file = script.base.clone().set("partition.scheme=file").set(&table);
    let of_file = script.sandbox.build(&by_file);
    let on_gpu = ["--until", "plan", "--device", "h200"];
    script.sandbox.front("pipeline", &by_file, &on_gpu).expect(0);
    script.write(&format!(
        "set -eu\ntest -f \"$WARPLOOM_CSR/in_offsets.arrow\"\ntest -z \"${{WARPLOOM_GRAPH-}}\"\n\
         test \"$WARPLOOM_THREADS\" = 2\ntest \"$WARPLOOM_MEMORY\" = 1073741824\n\
         echo run >> runs\n{GOOD}"
    ));
    let limits = ["--threads", "2", "--memory", "1GiB"];
    let lines = script.sandbox.front("pipeline", &script.recipe, &limits).expect(0).stages();
    assert_eq!(each(&lines[3..], "status"), ["built", "hit", "hit"]);
    assert_ne!(lines[3]["key"], of_file[3]["key"]);
    let (own, other) = (division(&lines), division(&of_file));
    assert_eq!((&own["scheme"], &own["tables"]), (&other["scheme"], &other["tables"]));
    assert_eq!(own["why"], "written by `partition.command`");
    let files = |lines: &[Value]| {
        let folder = folder(&lines[3], "partition");
        let names = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(files(&lines), files(&of_file), "the program's table is in no artifact");
    let planned = script.sandbox.front("pipeline", &script.recipe, &on_gpu).expect(0).stages();
    assert_eq!(each(&planned[3..], "status"), ["hit", "hit"], "also for a GPU");
    for lines in [&lines, &planned] {
        let plan = fs::read_to_string(folder(&lines[4], "plan").join("plan.json")).unwrap();
        assert!(plan.contains("\"division\""), "launches walk by the groups");
    }
    // A schedule by the name of the file's scheme means it.
    let named = script.recipe.clone().set("plan.schedule=file");
    assert_eq!(script.sandbox.build(&named)[3]["status"], "hit");
    for action in ["check", "explain"] {
        script.sandbox.front(action, &script.recipe, &[]).expect(0);
    }
    script.sandbox.stage("partition", &script.recipe, &["check"]).expect(0);
    assert_eq!(fs::read_to_string(script.sandbox.path("runs")).unwrap(), "run\n", "it ran once");
}

#[test]
fn the_key_holds_the_command_and_what_it_names() {
    let script = Script::new();
    script.write(GOOD);
    let built = |recipe: &Recipe| {
        let line = script.sandbox.stage("partition", recipe, &[]).expect(0).lines().remove(0);
        assert_eq!(line["status"], "built", "{line}");
        line["key"].clone()
    };
    let first = built(&script.recipe);
    script.write(&format!("{GOOD}# another\n"));
    let second = built(&script.recipe);
    assert_ne!(first, second);
    built(&script.recipe.clone().set("partition.command=[sh, own.sh, more]"));
    fs::copy(script.sandbox.path("own.sh"), script.sandbox.path("moved.sh")).unwrap();
    let moved = script.recipe.clone().set("partition.command=[sh, moved.sh]");
    let lines = script.sandbox.stage("partition", &moved, &[]).expect(0).lines();
    assert_eq!((&lines[0]["status"], &lines[0]["key"]), (&"hit".into(), &second));
    script.write(&format!(
        "set -eu\ntest -f \"$WARPLOOM_GRAPH/nodes.parquet\"\n\
         test -f \"$WARPLOOM_PROFILE/profile.json\"\n\
         test -f \"$WARPLOOM_PERMUTATION/new_of_old.arrow\"\n{GOOD}"
    ));
    built(&script.recipe.clone().set("partition.inputs=[csr, graph, profile, permutation]"));
    script.sandbox.stage("partition", &script.recipe, &[]).expect(1);
}

#[test]
fn what_is_wrong_is_named_with_the_program() {
    let script = Script::new();
    let early = |sets: &[&str], words: &[&str]| {
        let recipe = sets.iter().fold(script.base.clone(), |recipe, set| recipe.set(set));
        let output = script.sandbox.front("pipeline", &recipe, &[]).expect(1).says(words);
        assert_eq!(output.lines()[0]["stage"], "partition", "found before the first stage");
    };
    early(&["partition.scheme=program"], &["scheme `program` needs a command", "hint:"]);
    early(
        &["partition.command=[sh]"],
        &["the scheme does not run it", "--set partition.scheme=program"],
    );
    let asked = ["partition.scheme=program", "partition.command=[no-such-program]"];
    early(&asked, &["found no `no-such-program`", "hint: a script is the argument"]);
    let both = ["partition.scheme=[file, program]", "partition.command=[sh]"];
    early(&both, &["are both a division of your own"]);
    script.fails(
        "echo lost the thread >&2\nexit 3\n",
        &["`sh own.sh` ended with exit code 3", "partition.command", "| lost the thread"],
    );
    script.fails("kill -KILL $$\n", &["ended by signal 9"]);
    script.fails("echo no\n", &["left no file", "expected groups.parquet", "| no", "hint:"]);
    let more = format!("{GOOD}echo more > \"$WARPLOOM_OUTPUT/notes.txt\"\n");
    script.fails(&more, &["groups.parquet, notes.txt", "expected groups.parquet alone"]);
    script.fails(
        "ln -s \"$PWD/good.parquet\" \"$WARPLOOM_OUTPUT/groups.parquet\"\n",
        &["expected a plain file"],
    );
    script.fails(
        "echo nothing > \"$WARPLOOM_OUTPUT/groups.parquet\"\n",
        &["the program `sh own.sh` wrote groups that are not valid: groups.parquet: ", "hint:"],
    );
    // Groups of another graph.
    let other = Sandbox::edge_lists(&[("two", "1 2\n")], FURTHER);
    let recipe = Recipe::of("gcn", "two").set("reorder.method=none");
    let lines = other.front("pipeline", &recipe, &["--until", "reorder"]).expect(0).stages();
    write_own_groups(&folder(&lines[2], "csr"), &script.sandbox.path("other.parquet"));
    script.fails(
        "cp other.parquet \"$WARPLOOM_OUTPUT/groups.parquet\"\n",
        &["`sh own.sh` wrote groups that are not valid: groups.parquet: expected each of"],
    );
    script.fails(
        &format!("{GOOD}echo '# changed' >> own.sh\n"),
        &["a file of `partition.command` has changed since this stage began"],
    );
}

/// The guard between is also in the stage's own binary.
#[test]
fn a_signal_reaches_the_program() {
    for binary in ["warploom", "warploom-partition"] {
        let script = Script::new();
        assert_signalled(binary, &script.sandbox, &script.recipe, "partition");
    }
}
