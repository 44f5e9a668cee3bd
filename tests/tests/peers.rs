//! Proves that other programs open every file of every artifact: pyarrow (mapped, without a copy),
//! polars and DuckDB see the same rows and values, and numpy the parameters. See
//! `tests/peers/read_all.py`.
use std::process::Command;

use warploom_test_support::process::start;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox, shared_data};
use warploom_test_support::skips::skipped;

/// The interpreter with the readers; `None`, after saying why, when it cannot be had.
pub fn python(test: &str) -> Option<std::path::PathBuf> {
    let own = std::env::current_exe().expect("a test knows its own path");
    let target = own.ancestors().nth(3).expect("a test lies in target/PROFILE/deps");
    let folder = target.join("peers");
    let output =
        Command::new("bash").arg(repository().join("tests/peers/setup.sh")).arg(&folder).output();
    match output {
        Ok(output) if output.status.success() => Some(folder.join("bin/python")),
        Ok(output) => {
            skipped(test, String::from_utf8_lossy(&output.stderr).trim());
            None
        }
        Err(error) => {
            skipped(test, format!("bash: {error}"));
            None
        }
    }
}

fn read_all(test: &str, sandbox: &Sandbox, least: usize) {
    let Some(python) = python(test) else { return };
    let mut command = Command::new(python);
    command
        .arg("-W")
        .arg("error")
        .arg(repository().join("tests/peers/read_all.py"))
        .arg(&sandbox.store);
    let output = start(command).wait().expect(0);
    let files = output
        .stdout
        .lines()
        .last()
        .and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    assert!(files.is_some_and(|files| files >= least), "{output}");
}

#[test]
fn other_readers_open_everything_of_a_training_and_of_an_iteration() {
    // Real data have sparse features; stand-ins do where there are none.
    let data = shared_data().unwrap_or_else(|| Sandbox::stand_in().data);
    let sandbox = Sandbox::stand_in().with_data(data);
    sandbox
        .build(&Recipe::of("gcn", "cora").set("run.epochs=3").set("run.checkpoint.every_epochs=1"));
    sandbox.build(&Recipe::of("pagerank", "karate"));
    sandbox.build(&Recipe::of("components", "karate"));
    let further = "symmetrize: true\nmade_up: {features: 3, classes: 2}\nsplit: {rule: per_class, \
        train: 1, validation: 1, test: 1}";
    let mut weighted = sandbox.clone();
    weighted.data = sandbox.path("raw");
    weighted.add_edge_list("weighted", "a b 0.5\nb c 2\nc ä 1\n", further);
    weighted.build(
        &Recipe::of("gcn", "weighted")
            .set("ingest.ids=string")
            .set("run.epochs=2")
            .set("run.dtype=f64")
            .set("reorder.method=degree"),
    );
    weighted.build(&Recipe::of("components", "weighted").set("ingest.ids=string"));
    read_all(
        "peers::other_readers_open_everything_of_a_training_and_of_an_iteration",
        &sandbox,
        60,
    );
}
