//! Proves what a batch job writes to its log files: lines of text without control characters on
//! stderr, few of them about progress, and with `--format json` only JSON lines on stdout.
use std::{fs, fs::File, process::Stdio, time::Instant};

use serde_json::Value;
use warploom_test_support::sandbox::{Recipe, Sandbox};

/// Epochs of the smallest graph that take several seconds.
const LONG: usize = 50_000;

/// What `warploom pipeline` writes into files as a batch job, and the seconds that it took.
fn batch_job(format: &str, epochs: usize) -> (String, String, f64) {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "karate").set(&format!("run.epochs={epochs}"));
    let mut command = sandbox.bare("warploom");
    command.args(recipe.arguments(&["pipeline", "--real=no", "--format", format]));
    command.arg("--store").arg(&sandbox.store).arg("--data").arg(&sandbox.data);
    command.env("SLURM_JOB_ID", "4711");
    let files = ["job.out", "job.err"].map(|name| sandbox.path(name));
    let [stdout, stderr] = [0, 1].map(|at| File::create(&files[at]).unwrap());
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).status().unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let [stdout, stderr] = files.map(|file| fs::read_to_string(file).unwrap());
    assert!(status.success(), "{stderr}");
    (stdout, stderr, seconds)
}

#[test]
fn the_log_of_a_batch_job_is_plain_text_with_few_lines_of_progress() {
    let (stdout, stderr, seconds) = batch_job("json", LONG);
    for (name, text) in [("stdout", &stdout), ("stderr", &stderr)] {
        let controls = text.chars().filter(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(controls.collect::<String>(), "", "{name}: {text:?}");
    }
    let values: Result<Vec<Value>, _> = stdout.lines().map(serde_json::from_str).collect();
    let values = values.unwrap_or_else(|error| panic!("{error}: {stdout}"));
    assert!(values.len() >= 7 && values.iter().all(Value::is_object), "{stdout}");
    assert!(values.last().unwrap()["summary"].is_object(), "{stdout}");
    let progress = stderr.lines().filter(|line| line.contains(" left)")).count();
    assert!(progress <= 1 + (seconds / 30.0) as usize, "in {seconds} s: {stderr}");

    let (stdout, stderr, _) = batch_job("human", 5);
    let controls = |text: &str| text.contains(|letter: char| letter.is_control() && letter != '\n');
    assert!(!controls(&stdout) && !controls(&stderr), "{stdout:?} {stderr:?}");
}
