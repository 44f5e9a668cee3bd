//! Golden text of every `--help`, under `help/`; refreshed with `UPDATE=1`. A sub-command without
//! golden text fails.
use std::{collections::BTreeSet, fs, path::PathBuf};
use warploom_test_support::golden_text::golden_difference;

use warploom_test_support::process::start;
use warploom_test_support::repository;
use warploom_test_support::sandbox::Sandbox;

/// Arguments before `--help`.
pub(crate) const FRONT_DOOR: [&[&str]; 28] = [
    &[],
    &["pipeline"],
    &["explain"],
    &["check"],
    &["export"],
    &["new"],
    &["runs"],
    &["store"],
    &["store", "ls"],
    &["store", "path"],
    &["store", "verify"],
    &["store", "rm"],
    &["store", "gc"],
    &["data"],
    &["data", "ls"],
    &["data", "show"],
    &["data", "fetch"],
    &["data", "generate"],
    &["data", "rm"],
    &["data", "import"],
    &["doctor"],
    &["schema"],
    &["completions"],
    &["man"],
    &["submit"],
    &["task"],
    &["status"],
    &["cancel"],
];

fn folder() -> PathBuf {
    repository().join("tests/tests/help")
}

fn said(program: &str, arguments: &[&str]) -> String {
    let sandbox = Sandbox::stand_in();
    let mut command = sandbox.bare(program);
    command.args(arguments).arg("--help");
    let output = start(command).wait().expect(0);
    assert_eq!(output.stderr, "");
    output.stdout
}

/// File name and text of each.
fn all() -> Vec<(String, String)> {
    let front = FRONT_DOOR.iter().map(|arguments| {
        let name: String =
            ["warploom"].iter().chain(*arguments).copied().collect::<Vec<_>>().join(".");
        (format!("{name}.txt"), said("warploom", arguments))
    });
    let stages = crate::pipeline::STAGES
        .iter()
        .map(|stage| (format!("warploom-{stage}.txt"), said(&format!("warploom-{stage}"), &[])));
    let actions = ["check", "explain", "key"].map(|action| {
        (format!("warploom-reorder.{action}.txt"), said("warploom-reorder", &[action]))
    });
    front.chain(stages).chain(actions).collect()
}

#[test]
fn help_is_as_it_was() {
    let mut wrong = Vec::new();
    let mut names = BTreeSet::new();
    for (name, text) in all() {
        let path = folder().join(&name);
        if golden_difference(&path, &text).is_some() {
            wrong.push(format!("{name} says now\n{text}"));
        }
        names.insert(name);
    }
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !names.contains(&name) {
            wrong.push(format!("{name} is the help of nothing"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n\nread it, then refresh with  UPDATE=1 cargo test -p warploom-tests help",
        wrong.join("\n\n")
    );
}

#[test]
fn every_sub_command_that_help_names_has_golden_text() {
    let listed = |arguments: &[&str]| -> Vec<String> {
        let text = said("warploom", arguments);
        let after = text.split("Commands:\n").nth(1).unwrap_or_default();
        let lines = after.lines().take_while(|line| line.starts_with("  "));
        lines
            .filter(|line| !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    };
    let known = |words: &[&str]| FRONT_DOOR.contains(&words);
    for name in listed(&[]) {
        assert!(known(&[&name]), "`warploom {name}` has no golden text");
        for inner in listed(&[&name]) {
            assert!(known(&[&name, &inner]), "`warploom {name} {inner}` has no golden text");
        }
    }
    assert!(listed(&[]).len() >= 10);
}

#[test]
fn short_help_has_what_is_of_the_command_and_usage_names_what_must_be_typed() {
    let sandbox = Sandbox::stand_in();
    let short = |program: &str, arguments: &[&str]| {
        let mut command = sandbox.bare(program);
        command.args(arguments).arg("-h").env("WARPLOOM_STORE", "/elsewhere");
        start(command).wait().expect(0).stdout
    };
    let text = short("warploom", &["data", "ls"]);
    assert!(
        text.lines().count() < 10
            && text.contains("List the catalogue")
            && text.contains("listed by --help")
            && !text.contains("--threads"),
        "{text}"
    );
    assert!(
        short("warploom-ingest", &[]).starts_with("Read raw files"),
        "a stage says first what it does"
    );
    let all = said("warploom", &["store", "ls"]);
    assert!(all.lines().count() < 40 && all.contains("Common options:"), "{all}");
    let mut command = sandbox.bare("warploom");
    command
        .arg("completions")
        .env("WARPLOOM_STORE", "/elsewhere")
        .env("WARPLOOM_DATA", "/one:/two");
    let said = start(command).wait().expect(2).stderr;
    assert!(
        said.contains("Usage: warploom completions <SHELL>")
            || said.contains("Usage: warploom completions [OPTIONS] <SHELL>"),
        "{said}"
    );
    let bare = start(sandbox.bare("warploom")).wait().expect(2).stderr
        + &sandbox.warploom::<&str>(&[]).expect(2).stderr;
    let later = ["report", "compare", "tune"];
    assert!(
        bare.contains("no command was given")
            && !later.iter().any(|name| [format!("  {name} "), format!(" {name},")]
                .iter()
                .any(|listed| bare.contains(listed))),
        "{bare}"
    );
}

#[test]
fn every_option_of_the_interface_is_in_every_help() {
    let options = [
        "--pipeline",
        "--set",
        "--store",
        "--data",
        "--threads",
        "--memory",
        "--device",
        "--real",
        "--force",
        "--verify",
        "--format",
        "--verbose",
        "--quiet",
        "--no-progress",
        "--color",
    ];
    for (name, text) in all() {
        for option in options {
            assert!(text.contains(option), "{name} does not name {option}");
        }
    }
}
