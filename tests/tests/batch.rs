//! Batch jobs without a scheduler: what is submitted, the scripts, the pool of the site `local`.
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;
use warploom_test_support::{
    golden_text::assert_golden, process::start, repository, sandbox::Sandbox, skips::skipped,
};

/// A pipeline of a stand-in with further lines.
fn pipeline(sandbox: &Sandbox, name: &str, lines: &str) -> PathBuf {
    let program = repository().join("pipelines/programs/gcn.py");
    sandbox.write(name, format!("plan: {{program: {}}}\n{lines}", program.display()))
}

const MATRIX: &str = "dataset: karate\nrun: {epochs: 3}\nmatrix: {plan.set.hidden: [2, 3], \
    run.seed: [0, 1, 2]}\n";

/// The jobs of the last submission.
fn jobs(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.warploom(&["status", "last", "--format", "json"]).expect(0).lines()
}

fn count(jobs: &[Value], state: &str) -> usize {
    jobs.iter().filter(|job| job["state"] == state).count()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// The folder of the only submission.
fn submission(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.store.join("submissions");
    let mut entries = fs::read_dir(folder).expect("there are submissions").flatten();
    entries.next().expect("there is one").path()
}

#[test]
fn a_matrix_runs_in_a_pool_and_shares_its_jobs() {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "m.yaml", MATRIX);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--wait"])
        .expect(0)
        .prints(&["6 pipelines, 12 jobs, 0 in the store"]);
    let first = jobs(&sandbox);
    assert_eq!((first.len(), count(&first, "built")), (12, 12));
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--wait"])
        .expect(0)
        .prints(&["12 in the store", "nothing to do"]);
    // `gc` by age takes a submission whose jobs have ended.
    std::thread::sleep(Duration::from_millis(1100));
    sandbox
        .warploom(&["store", "gc", "--older-than", "1s", "--dry-run"])
        .expect(0)
        .prints(&["a submission whose jobs have ended"]);
    assert_eq!(jobs(&sandbox).len(), 12);
    // The same keys as by `warploom pipeline`: all are hits.
    let lines = sandbox.warploom(&["pipeline", text(&file), "--format", "json"]).expect(0).stages();
    assert!(lines.iter().all(|line| line["status"] == "hit"));
}

#[test]
fn a_pool_outlives_the_command_and_is_cancelled() {
    let sandbox = Sandbox::stand_in();
    let lines = "dataset: karate\nrun: {epochs: 1000000}\n";
    let file = pipeline(&sandbox, "long.yaml", lines);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local"])
        .expect(0)
        .says(&["runs it", "warploom status"]);
    let begun = Instant::now();
    while jobs(&sandbox).last().is_none_or(|run| run["state"] != "running") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:#?}", jobs(&sandbox));
    }
    sandbox.warploom(&["cancel", "last"]).expect(0).says(&["cancelled 1 job"]);
    let has_stopped = |jobs: &[Value]| {
        let state = jobs[5]["state"].as_str().unwrap_or_default();
        count(jobs, "built") == 5 && ["stopped", "cancelled"].contains(&state)
    };
    while !has_stopped(&jobs(&sandbox)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:#?}", jobs(&sandbox));
    }
}

#[test]
fn tasks_of_a_killed_pool_are_seen_and_cancelled() {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "long.yaml", "dataset: karate\nrun: {epochs: 1000000}\n");
    sandbox.warploom(&["submit", text(&file), "--site", "local"]).expect(0);
    let begun = Instant::now();
    while jobs(&sandbox).last().is_none_or(|run| run["state"] != "running") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:#?}", jobs(&sandbox));
    }
    let events = fs::read_to_string(submission(&sandbox).join("events/submission.jsonl")).unwrap();
    let pool: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    let pool = i32::try_from(pool["process"].as_i64().unwrap()).unwrap();
    let pool = rustix::process::Pid::from_raw(pool).unwrap();
    rustix::process::kill_process(pool, Signal::KILL).unwrap();
    assert_eq!(jobs(&sandbox)[5]["state"], "running");
    sandbox.warploom(&["cancel", "last"]).expect(0).says(&["cancelled 1 job"]);
    while jobs(&sandbox)[5]["state"] == "running" {
        assert!(begun.elapsed() < Duration::from_secs(90), "{:#?}", jobs(&sandbox));
    }
}

#[test]
fn ctrl_c_stops_the_tasks_of_a_pool_after_they_saved() {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "long.yaml", "dataset: karate\nrun: {epochs: 200000}\n");
    let running =
        start(sandbox.command("warploom", &["submit", text(&file), "--site", "local", "--wait"]));
    let has_begun = || {
        let folder = sandbox.store.join("submissions");
        folder.is_dir()
            && fs::read_dir(folder).is_ok_and(|mut entries| {
                entries.any(|entry| {
                    entry.is_ok_and(|entry| entry.path().join("events/2-0.jsonl").exists())
                })
            })
    };
    let running = running.until("the run began", has_begun);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    running.wait().expect(130).says(&["saved"]);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--wait"])
        .expect(0)
        .prints(&["5 in the store"]);
    let view = sandbox.view();
    let artifacts = view.artifacts();
    let run = artifacts.iter().find(|artifact| artifact.kind == "run").expect("a run");
    assert!(run.record()["resumed_at"].as_u64() > Some(0));
}

#[test]
fn a_bad_graph_blocks_only_what_reads_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("raw/broken/edges.txt", "0 1\n1 x\n");
    let lines = "dataset: karate\nrun: {epochs: 3}\nmatrix: {dataset: [karate, broken], \
        run.seed: [0, 1]}\n";
    let file = pipeline(&sandbox, "b.yaml", lines);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--wait"])
        .expect(1)
        .says(&["did not end well", "hint:"])
        .prints(&["the job `ingest` of broken (array 1, task 1) failed: edge list has a target"]);
    let all = jobs(&sandbox);
    let of = |state: &str| count(&all, state);
    assert_eq!((of("built"), of("failed"), of("blocked")), (7, 1, 6));
    // By hand, the task says it again, with a status of its own.
    let folder = submission(&sandbox);
    sandbox
        .warploom(&["task", text(&folder), "--array", "2", "--number", "2"])
        .expect(5)
        .says(&["nothing to do: the job `ingest` of broken", "its log:"]);
}

#[test]
fn a_task_reads_the_program_as_it_was_submitted() {
    let sandbox = Sandbox::stand_in();
    let program = sandbox.write("p.py", "def p(v):\n    return sum(u.x for u in v.innbs)\n");
    let file =
        sandbox.write("p.yaml", "dataset: karate\nplan: {program: p.py}\nrun: {mode: iterate}\n");
    sandbox
        .warploom(&["submit", "p.yaml", "--site", "local", "--real=no", "--workflow", "nextflow"])
        .expect(0);
    fs::write(&program, "def p(v):\n    this is no program\n").unwrap();
    fs::write(&file, "neither is this\n").unwrap();
    let folder = submission(&sandbox);
    for array in ["1", "2"] {
        sandbox.warploom(&["task", text(&folder), "--array", array, "--number", "0"]).expect(0);
    }
    assert_eq!(count(&jobs(&sandbox), "built"), 6);
}

#[test]
fn a_task_of_no_submission_is_refused() {
    let sandbox = Sandbox::stand_in();
    sandbox
        .warploom(&["task", "nothing", "--array", "1", "--number", "0"])
        .expect(1)
        .says(&["no submission `nothing`", "hint: list submissions"]);
    let file = pipeline(&sandbox, "m.yaml", MATRIX);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--workflow", "nextflow"])
        .expect(0);
    sandbox
        .warploom(&["task", "m", "--array", "3", "--number", "6"])
        .expect(2)
        .says(&["no task 6 in array 3", "warploom status"]);
    sandbox.warploom(&["status", "x"]).expect(1);
    let refused = |option: &[&str], hint: &str| {
        let all = [&["submit", text(&file), "--site", "local"], option].concat();
        sandbox.warploom(&all).expect(2).says(&["`warploom submit` does not take", hint]);
    };
    refused(&["--force"], "warploom store rm");
    refused(&["--threads", "3"], "--with run.cpus");
    sandbox.warploom(&["status"]).expect(0).prints(&["12 waiting"]);
}

#[test]
fn a_time_limit_that_is_too_short_is_not_met_for_ever() {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "t.yaml", "dataset: amazon0505\nrun: {epochs: 3}\n");
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--workflow", "snakemake"])
        .expect(0);
    let folder = submission(&sandbox);
    let task = ["task", text(&folder), "--array", "1", "--number", "0", "--stop-after", "0s"];
    sandbox.warploom(&task).expect(75);
    sandbox.warploom(&task).expect(75);
    sandbox
        .warploom(&task)
        .expect(1)
        .says(&["the time limit came 2 times before `ingest`", "--with prepare.time="]);
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_submitted() {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "m.yaml", MATRIX);
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        let all = [&["submit", text(&file)], arguments].concat();
        sandbox.warploom(&all).expect(code).says(words);
    };
    refused(&["--site", "slrum"], 2, &["no site `slrum`", "--site slurm"]);
    refused(&["--site", "slurm", "--with", "run.gpu=1"], 1, &["run.gpus"]);
    refused(&["--site", "slurm"], 1, &["real data of `karate`", "--real=no"]);
    refused(
        &["--site", "slurm", "--real=no", "--device", "cuda", "--dry-run"],
        1,
        &["the site gives the jobs of `run` no GPU", "--with run.gpus=1"],
    );
    refused(
        &["--site", "slurm", "--real=no", "--set", "plan.set.hiden=2", "--dry-run"],
        1,
        &["hidden"],
    );
    assert!(!sandbox.store.join("submissions").exists());
}

/// A script without what differs from start to start.
fn masked(script: &str, sandbox: &Sandbox) -> String {
    let folder = sandbox.store.join("submissions");
    let start = format!("{}/", folder.display());
    let rest = script.split_once(&start).expect("a script names its submission").1;
    let id = rest.split(['/', '\n', ' ']).next().expect("the submission has an id");
    let program = std::env::current_exe().expect("a test has a path");
    let program = program.parent().and_then(Path::parent).expect("it lies in deps");
    let (pipeline, digits) = (id.split('-').next().unwrap(), id.rsplit('-').next().unwrap());
    script
        .replace(&format!("{start}{id}"), "SUBMISSION")
        .replace(id, "ID")
        .replace(&format!("{pipeline}-3-{digits}"), "NAME")
        .replace(&format!("{}/", program.display()), "")
        .replace(text(&sandbox.path("x")).trim_end_matches("/x"), "FOLDER")
}

#[test]
fn scripts_are_as_they_were() {
    let setup = "setup=[module load cuda/13]";
    for (site, with) in [
        ("slurm", &["run.gpus=1", "run.time=2h", "run.at_once=8", setup][..]),
        ("pbs", &["run.partition=gpu", "run.gpus=2", "run.gpu_type=h200"]),
        ("local", &["run.cpus=2"]),
        ("slurm", &["scheduler=lsf", "array_size=500", "run.memory=8GiB"]),
    ] {
        let sandbox = Sandbox::stand_in();
        let file = pipeline(&sandbox, "m.yaml", MATRIX);
        let mut arguments = vec!["submit", text(&file), "--site", site, "--real=no", "--dry-run"];
        with.iter().for_each(|with| arguments.extend(["--with", with]));
        let printed = sandbox.warploom(&arguments).expect(0).stdout;
        assert!(!sandbox.store.join("submissions").exists());
        let script = printed.split_once("--- array-3.sh\n").expect("it is printed").1;
        let script = script.split("\n--- ").next().unwrap();
        let name = if with[0].contains("lsf") { "lsf" } else { site };
        let golden = repository().join(format!("tests/tests/batch/{name}.sh"));
        assert_golden(&golden, &masked(script, &sandbox));
        let checked = std::process::Command::new("bash").arg("-n").arg(&golden).status();
        assert!(checked.is_ok_and(|status| status.success()), "{name}");
    }
}

#[test]
fn snakemake_runs_a_submission() {
    let found = ["snakemake", "/opt/snakemake/bin/snakemake"]
        .into_iter()
        .find(|program| std::process::Command::new(program).arg("--version").output().is_ok());
    let Some(snakemake) = found else {
        return skipped("snakemake_runs_a_submission", "there is no `snakemake` (pip install it)");
    };
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "m.yaml", MATRIX);
    sandbox
        .warploom(&["submit", text(&file), "--site", "local", "--workflow", "snakemake"])
        .expect(0)
        .prints(&["run it:  snakemake"]);
    let folder = submission(&sandbox);
    let ran = std::process::Command::new(snakemake)
        .args(["--cores", "2", "--directory", text(&folder), "--snakefile"])
        .arg(folder.join("Snakefile"))
        .output()
        .expect("snakemake starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(count(&jobs(&sandbox), "built"), 12);
}
