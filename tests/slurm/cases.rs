//! cases: what is asked of batch jobs.
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use warploom_test_support::{
    draws::Draws, process::start, repository, sandbox::Sandbox, skips::is_long,
};

use crate::cluster::{Cluster, Status};

/// A case: its name, and what it does.
type Case = (&'static str, fn(&Cluster));

/// All cases.
pub const CASES: [Case; 13] = [
    ("a matrix is built once", a_matrix_is_built_once),
    ("submissions that race build each stage once", submissions_that_race_build_once),
    ("the page for clusters is right", the_page_for_clusters_is_right),
    ("a bad graph blocks its own cells", a_bad_graph_blocks_its_own_cells),
    ("the clock queues a run again", the_clock_queues_a_run_again),
    ("a preempted run goes on", a_preempted_run_goes_on),
    ("a cancelled task stays cancelled", a_cancelled_task_stays_cancelled),
    ("a queued submission is cancelled", a_queued_submission_is_cancelled),
    ("faults that may pass are tried again", faults_that_may_pass_are_tried_again),
    ("a full store is told", a_full_store_is_told),
    ("a dead node costs no finished stage", a_dead_node_costs_no_finished_stage),
    ("a scheduler that is away is told", a_scheduler_that_is_away_is_told),
    ("random kills leave every cell right", random_kills_leave_every_cell_right),
];

/// A pipeline of a stand-in: `karate`, unless the lines name others.
fn pipeline(sandbox: &Sandbox, name: &str, lines: &str) -> PathBuf {
    let program = repository().join("pipelines/programs/gcn.py");
    let text = format!("plan: {{program: {}}}\n{lines}", program.display());
    sandbox.write(name, text)
}

/// Settings of a run of some seconds, which saves its state every second.
const LONG: &str = "dataset: karate\nrun: {epochs: 60000, checkpoint: {every_seconds: 1}}\n";

fn count(all: &[Status], state: &str) -> usize {
    all.iter().filter(|status| status.state == state).count()
}

/// The files of the only run of a store that must not depend on how it came about.
fn result(sandbox: &Sandbox) -> Vec<Vec<u8>> {
    let runs: Vec<PathBuf> = fs::read_dir(sandbox.store.join("run-v1"))
        .expect("there are runs")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("manifest.json").exists())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    ["parameters.safetensors", "predictions.parquet"]
        .map(|name| fs::read(runs[0].join(name)).expect("a run has its files"))
        .into()
}

/// The result of a pipeline that nothing disturbs.
fn undisturbed(sandbox: &Sandbox, file: &Path) -> Vec<Vec<u8>> {
    let sandbox = sandbox.with_store("undisturbed");
    sandbox.warploom(&["pipeline", file.to_str().expect("UTF-8")]).expect(0);
    result(&sandbox)
}

fn record(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.view().artifacts().iter().find(|found| found.kind == "run").expect("a run").record()
}

fn a_matrix_is_built_once(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(
        &sandbox,
        "m.yaml",
        "dataset: karate\nrun: {epochs: 3}\nmatrix: {plan.set.hidden: [2, 3], run.seed: [0, 1, \
         2]}\n",
    );
    let id = cluster.submit(&sandbox, &file, &[]);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!((all.len(), count(&all, "built")), (12, 12), "{all:#?}");
    assert!(all.iter().all(|status| status.starts == 1), "{all:#?}");
    let events = sandbox.store.join("submissions").join(&id).join("events/submission.jsonl");
    let submitted = fs::read_to_string(events).unwrap().lines().count();
    assert_eq!(submitted, 3, "one call of sbatch for each array");
    let again = cluster
        .warploom(&sandbox, &["submit", file.to_str().unwrap(), "--site", "slurm", "--real=no"]);
    again.expect(0).prints(&["12 in the store", "nothing to do"]);
    // A script by hand finds everything.
    let script = sandbox.store.join("submissions").join(&id).join("array-3.sh");
    cluster.slurm("sbatch", &["--wait", script.to_str().unwrap()]);
    let all = cluster.status(&sandbox, &id);
    assert_eq!(count(&all, "hit"), 6, "{all:#?}");
}

/// The 65 tasks of five submissions of one file, at most twelve at once on three nodes.
fn submissions_that_race_build_once(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let lines = "dataset: cora\nrun: {epochs: 20}\nmatrix: {plan.set.hidden: [2, 3], run.seed: \
        [0, 1, 2, 3, 4]}\n";
    let file = pipeline(&sandbox, "r.yaml", lines);
    let nodes = "NodeName=wl1,wl2,wl3";
    cluster.slurm("scontrol", &["update", nodes, "State=DRAIN", "Reason=race"]);
    let ids: Vec<String> = (0..5).map(|_| cluster.submit(&sandbox, &file, &[])).collect();
    cluster.slurm("scontrol", &["update", nodes, "State=RESUME"]);
    let mut built = Vec::new();
    for id in &ids {
        let all = cluster.until_ended(&sandbox, id);
        assert_eq!(count(&all, "built") + count(&all, "hit"), 16, "{all:#?}");
        built.extend(events_of(&sandbox, id));
    }
    assert_eq!(built.len(), 16, "each stage is built once: {built:#?}");
    assert_eq!(sandbox.view().flaws(), [""; 0]);
}

fn a_bad_graph_blocks_its_own_cells(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    sandbox.write("raw/broken/edges.txt", "0 1\n1 x\n");
    let file = pipeline(
        &sandbox,
        "b.yaml",
        "dataset: karate\nrun: {epochs: 3}\nmatrix: {dataset: [karate, broken], run.seed: [0, \
         1]}\n",
    );
    let arguments = ["submit", file.to_str().unwrap(), "--site", "slurm", "--real=no", "--wait"];
    let small = ["--with", "prepare.cpus=1", "--with", "run.cpus=1"];
    cluster
        .warploom(&sandbox, &[&arguments[..], &small].concat())
        .expect(1)
        .says(&["did not end well", "hint:"])
        .prints(&["nothing to do: the job `ingest` of broken"]);
    let all = cluster.status(&sandbox, "last");
    let of = |dataset: &str, state: &str| {
        all.iter().filter(|job| job.dataset == dataset && job.state == state).count()
    };
    assert_eq!([of("karate", "built"), of("broken", "failed"), of("broken", "blocked")], [7, 1, 6]);
    let failed = all.iter().find(|job| job.state == "failed").unwrap();
    assert!(failed.error["hint"].is_string() && failed.starts == 1, "{failed:?}");
    let codes = cluster.slurm("sacct", &["-c", "--noheader", "-o", "jobid,state"]);
    assert!(codes.contains("FAILED"), "{codes}");
}

fn the_clock_queues_a_run_again(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "c.yaml", LONG);
    let expected = undisturbed(&sandbox, &file);
    // The limit of a minute less the margin leaves two seconds.
    let limits = ["--with", "run.time=1m", "--with", "margin=58"];
    let id = cluster.submit(&sandbox, &file, &limits);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!(count(&all, "built"), 6, "{all:#?}");
    let run = all.last().unwrap();
    assert!(run.starts > 1, "{run:?}");
    assert!(record(&sandbox)["resumed_at"].as_u64() > Some(0));
    assert_eq!(result(&sandbox), expected);
}

/// Disturbs a run once it is at work, until it was caught before its end: it goes on to the bits of
/// one that nothing disturbs.
fn disturbed_run_goes_on(cluster: &Cluster, disturb: impl Fn(&Sandbox, &str)) {
    for epochs in [60_000, 200_000, 400_000] {
        let sandbox = Sandbox::stand_in();
        let lines = format!(
            "dataset: karate\nrun: {{epochs: {epochs}, checkpoint: {{every_seconds: 1}}}}\n"
        );
        let file = pipeline(&sandbox, "long.yaml", &lines);
        let id = cluster.submit(&sandbox, &file, &["--with", "run.partition=batch"]);
        let is_at_work = |all: &[Status]| ["running", "built"].contains(&&*all[5].state);
        cluster.until(&sandbox, &id, "run at work", is_at_work);
        std::thread::sleep(Duration::from_secs(2));
        disturb(&sandbox, &id);
        let all = cluster.until_ended(&sandbox, &id);
        assert_eq!(count(&all, "built"), 6, "{all:#?}");
        assert!(all[..5].iter().all(|job| job.starts == 1), "{all:#?}");
        assert_eq!(result(&sandbox), undisturbed(&sandbox, &file));
        if all[5].starts > 1 {
            assert_eq!(all[5].starts, 2, "{all:#?}");
            assert!(record(&sandbox)["resumed_at"].as_u64() > Some(0));
            return;
        }
    }
    panic!("every run ended before it could be disturbed");
}

fn a_preempted_run_goes_on(cluster: &Cluster) {
    disturbed_run_goes_on(cluster, |_, _| {
        let urgent = ["--wait", "-p", "urgent", "-N3", "--exclusive", "-o", "/dev/null"];
        cluster.slurm("sbatch", &[&urgent[..], &["--wrap", "sleep 1"]].concat());
    });
}

fn a_cancelled_task_stays_cancelled(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "x.yaml", LONG);
    let id = cluster.submit(&sandbox, &file, &[]);
    let all =
        cluster.until(&sandbox, &id, "run at work", |all| all.last().unwrap().state == "running");
    // As somebody does who does not know `warploom cancel`.
    cluster.slurm("scancel", &[&all.last().unwrap().job]);
    let all = cluster
        .until(&sandbox, &id, "cancelled run", |all| all.last().unwrap().state == "cancelled");
    std::thread::sleep(std::time::Duration::from_secs(8));
    let later = cluster.status(&sandbox, &id);
    assert_eq!(later.last().unwrap().state, "cancelled", "{later:#?}");
    assert_eq!(later.last().unwrap().starts, all.last().unwrap().starts);
    // Submitted again, it goes on from what was saved.
    let id = cluster.submit(&sandbox, &file, &[]);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!((count(&all, "hit"), count(&all, "built")), (5, 1), "{all:#?}");
}

fn a_queued_submission_is_cancelled(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "q.yaml", LONG);
    // All nodes are taken: it waits.
    let busy = ["-p", "urgent", "-N3", "--exclusive", "--parsable", "-o", "/dev/null"];
    let busy = cluster.slurm("sbatch", &[&busy[..], &["--wrap", "sleep 60"]].concat());
    let id = cluster.submit(&sandbox, &file, &[]);
    let all = cluster.status(&sandbox, &id);
    assert_eq!(count(&all, "waiting"), 6, "{all:#?}");
    assert!(!all[0].reason.is_empty(), "{all:#?}");
    cluster.warploom(&sandbox, &["cancel", &id]).expect(0).says(&["cancelled"]);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!(count(&all, "cancelled"), 6, "{all:#?}");
    cluster.slurm("scancel", &[busy.trim()]);
    cluster.warploom(&sandbox, &["cancel", &id]).expect(0).says(&["has ended"]);
}

fn faults_that_may_pass_are_tried_again(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "f.yaml", "dataset: karate\nrun: {epochs: 3}\n");
    let library = sandbox.path("inject.so");
    let source = repository().join("tests/faults/inject.c");
    let made = std::process::Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-ldl", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "the C compiler makes inject.so");
    // The first write below the folder of csr fails with EIO, every time.
    let variables = format!(
        "environment={{LD_PRELOAD: {}, INJECT_BELOW: {}, INJECT_CALL: write, INJECT_AT: \"1\", \
         INJECT_WAY: \"5+\"}}",
        library.display(),
        sandbox.store.join("csr-v1").display()
    );
    let csr = csr_folder(&sandbox, &file);
    let variables = variables.replace("csr-v1", &csr);
    let id = cluster.submit(&sandbox, &file, &["--with", &variables]);
    let all = cluster.until_ended(&sandbox, &id);
    let of = |stage: &str| all.iter().find(|job| job.stage == stage).unwrap();
    assert_eq!((of("ingest").state.as_str(), of("extract").state.as_str()), ("hit", "failed"));
    assert_eq!(of("extract").starts, 4, "three times again, then it gives up: {all:#?}");
    assert_eq!((of("run").state.as_str(), of("run").starts), ("blocked", 1), "{all:#?}");
    // Without the fault it goes on.
    let id = cluster.submit(&sandbox, &file, &[]);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!((count(&all, "hit"), count(&all, "built")), (1, 5), "{all:#?}");
}

/// The name of the folder of csr in a store.
fn csr_folder(sandbox: &Sandbox, file: &Path) -> String {
    let other = sandbox.with_store("names");
    other.warploom(&["pipeline", file.to_str().unwrap()]).expect(0);
    let names = fs::read_dir(&other.store).unwrap().flatten();
    let mut names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find(|name| name.starts_with("csr-v")).expect("a store has csr")
}

fn a_full_store_is_told(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "d.yaml", "dataset: karate\nrun: {epochs: 3}\n");
    fs::create_dir_all(&sandbox.store).unwrap();
    let store = sandbox.store.to_str().unwrap().to_owned();
    let mount = |arguments: &[&str]| {
        std::process::Command::new("mount")
            .args(arguments)
            .status()
            .is_ok_and(|done| done.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=300k", "tmpfs", &store]) {
        println!("no small file system can be mounted here: a full store is not tried");
        return;
    }
    let id = cluster.submit(&sandbox, &file, &[]);
    // All that is left.
    let filler = sandbox.store.join("filler");
    let _full = fs::write(&filler, vec![0; 1 << 20]);
    let all = cluster.until_ended(&sandbox, &id);
    let failed = all.iter().find(|job| job.state == "failed");
    let told = failed.map(|job| job.error["kind"].clone());
    fs::remove_file(&filler).unwrap();
    assert!(mount(&["-o", "remount,size=64m", &store]));
    let again = cluster.submit(&sandbox, &file, &[]);
    let later = cluster.until_ended(&sandbox, &again);
    let unmounted = unmount(&store);
    assert_eq!(told, Some("disk_full".into()), "{all:#?}");
    assert_eq!(count(&later, "built") + count(&later, "hit"), 6, "{later:#?}");
    assert!(unmounted, "what was mounted for the test stays");
}

/// Unmounts a file system as soon as the processes of ended tasks have let go of it.
fn unmount(folder: &str) -> bool {
    let begun = Instant::now();
    loop {
        let unmounted = std::process::Command::new("umount").arg(folder).status();
        if unmounted.is_ok_and(|done| done.success()) {
            return true;
        }
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn a_dead_node_costs_no_finished_stage(cluster: &Cluster) {
    disturbed_run_goes_on(cluster, |sandbox, id| {
        let nodes = cluster.slurm("squeue", &["--noheader", "--states=running", "--format=%N"]);
        let Some(node) = nodes.lines().next() else { return };
        cluster.call(&["fail", node.trim()]);
        cluster.until(sandbox, id, "second start", |all| {
            all[5].starts == 2 || all[5].state == "built"
        });
        cluster.call(&["recover", node.trim()]);
    });
}

fn a_scheduler_that_is_away_is_told(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let file = pipeline(&sandbox, "a.yaml", LONG);
    let id = cluster.submit(&sandbox, &file, &[]);
    cluster.until(&sandbox, &id, "run at work", |all| all.last().unwrap().state == "running");
    cluster.call(&["controller-stop"]);
    let told = cluster.warploom(&sandbox, &["status", &id]).expect(0);
    told.prints(&["the scheduler does not answer", "built"]);
    let other = pipeline(&sandbox, "o.yaml", "dataset: karate\nrun: {epochs: 2}\n");
    let submitting = start(cluster.command(
        &sandbox,
        &[
            "submit",
            other.to_str().unwrap(),
            "--site",
            "slurm",
            "--real=no",
            "--with",
            "array_size=9",
        ],
    ));
    let output = submitting.wait();
    assert_eq!(output.code, Some(4), "{output}");
    output.says(&["nothing was submitted", "hint:"]);
    cluster.call(&["controller-start"]);
    let all = cluster.until_ended(&sandbox, &id);
    assert_eq!(count(&all, "built"), 6, "{all:#?}");
}

/// The blocks of a page that are commands, as one script.
fn commands_of(page: &str) -> String {
    let text = fs::read_to_string(repository().join(page)).expect("the page is there");
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(""));
    blocks.collect::<Vec<_>>().join("\n")
}

fn the_page_for_clusters_is_right(cluster: &Cluster) {
    let sandbox = Sandbox::stand_in();
    let script = sandbox.write("page.sh", format!("set -eux\n{}", commands_of("docs/cluster.md")));
    let home = sandbox.path("home");
    fs::create_dir(&home).unwrap();
    let binaries = std::env::current_exe().expect("a test has a path");
    let binaries =
        binaries.parent().and_then(Path::parent).expect("it lies in target/PROFILE/deps");
    let ran = std::process::Command::new("bash")
        .arg(script)
        .current_dir(repository())
        .env("HOME", &home)
        // What `make install` takes in place of an optimised build.
        .env("BINARIES", binaries)
        .env("SLURM_CONF", &cluster.configuration)
        .output()
        .expect("bash starts");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (said(&ran.stdout), said(&ran.stderr));
    assert!(ran.status.success(), "{stdout}\n{stderr}");
    for words in ["#SBATCH --partition=batch", "run       built", "rank-", "jobs on cluster"] {
        assert!(stdout.contains(words), "no `{words}` in\n{stdout}\n{stderr}");
    }
}

/// How many random kills there are: short, and with `WARPLOOM_TEST_LONG`.
const KILLS: (usize, usize) = (4, 200);

/// Kills jobs, nodes and the controller at random moments over a matrix of 40 cells, and submits
/// what is missing until all is there.
fn random_kills_leave_every_cell_right(cluster: &Cluster) {
    let kills = if is_long() { KILLS.1 } else { KILLS.0 };
    let sandbox = Sandbox::stand_in();
    let cells = if is_long() { 20 } else { 4 };
    let seeds: Vec<String> = (0..cells).map(|seed: usize| seed.to_string()).collect();
    let lines = format!(
        "dataset: karate\nrun: {{epochs: 20000, checkpoint: {{every_seconds: 1}}}}\n\
         matrix: {{plan.set.hidden: [2, 3], run.seed: [{}]}}\n",
        seeds.join(", ")
    );
    let file = pipeline(&sandbox, "k.yaml", &lines);
    let expected = sandbox.with_store("undisturbed");
    expected.warploom(&["pipeline", text(&file)]).expect(0);
    let mut draws = Draws::seeded(48);
    let mut id = cluster.submit(&sandbox, &file, &[]);
    let (mut done, mut tries, mut built) = (0, 0, Vec::new());
    while done < kills {
        std::thread::sleep(Duration::from_millis(draws.below(1500) as u64));
        let all = cluster.status(&sandbox, &id);
        let is_open =
            |job: &Status| ["waiting", "running", "stopped"].contains(&job.state.as_str());
        if !all.iter().any(is_open) {
            built.extend(events_of(&sandbox, &id));
            remove_some_runs(&sandbox, &mut built);
            id = cluster.submit(&sandbox, &file, &[]);
            continue;
        }
        tries += 1;
        done += usize::from(kill_something(cluster, &mut draws));
        if tries % 10 == 0 {
            cluster.call(&["release"]);
        }
    }
    for _ in 0..10 {
        cluster.until_ended(&sandbox, &id);
        built.extend(events_of(&sandbox, &id));
        let again = [
            "submit",
            text(&file),
            "--site",
            "slurm",
            "--real=no",
            "--dry-run",
            "--format",
            "json",
        ];
        let left = cluster.warploom(&sandbox, &again).expect(0).lines()[0].clone();
        if left["arrays"].as_array().is_some_and(Vec::is_empty) {
            break;
        }
        id = cluster.submit(&sandbox, &file, &[]);
    }
    let (found, wanted) = (sandbox.view().digests(), expected.view().digests());
    assert_eq!(found, wanted, "after {kills} kills");
    let stages = built.len();
    built.sort();
    built.dedup();
    println!(
        "random kills: {kills}, {stages} stages built, {} of them again",
        stages - built.len()
    );
    assert_eq!(stages, built.len(), "a finished stage was built again");
    sandbox.warploom(&["store", "gc"]).expect(0);
    assert_eq!(sandbox.view().leftovers(), [""; 0].map(PathBuf::from));
}

/// Removes some runs of a whole store, so that there is work for the next kills.
fn remove_some_runs(sandbox: &Sandbox, built: &mut Vec<(String, String)>) {
    assert_eq!(sandbox.view().flaws(), [""; 0]);
    let runs = sandbox.view().artifacts().into_iter().filter(|one| one.kind == "run");
    for run in runs.step_by(2) {
        fs::remove_dir_all(&run.path).unwrap();
        built.retain(|(_, key)| *key != run.key);
    }
}

/// The stages that tasks of a submission built, by stage and key, each time.
fn events_of(sandbox: &Sandbox, id: &str) -> Vec<(String, String)> {
    let folder = sandbox.store.join("submissions").join(id).join("events");
    let files = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let lines =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
    let read = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
    read.filter(|event| event["status"] == "built")
        .map(|event| {
            let of = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
            (of("stage"), of("key"))
        })
        .collect()
}

/// Kills a task; in long campaigns also a node or the controller, which others do in cases of their
/// own. Whether there was something to kill: a node counts only while a task runs on it.
fn kill_something(cluster: &Cluster, draws: &mut Draws) -> bool {
    match if is_long() { draws.below(10) } else { 10 } {
        0 => {
            cluster.call(&["controller-stop"]);
            cluster.call(&["controller-start"]);
        }
        1 => {
            let node = format!("wl{}", 1 + draws.below(3));
            let on_node = ["--noheader", "--states=running", "-w", &node, "--format=%i"];
            let is_busy = !cluster.slurm("squeue", &on_node).trim().is_empty();
            cluster.call(&["fail", &node]);
            std::thread::sleep(Duration::from_secs(1));
            cluster.call(&["recover", &node]);
            return is_busy;
        }
        _ => {
            let running = cluster
                .slurm("squeue", &["--noheader", "--array", "--states=running", "--format=%i"]);
            let jobs: Vec<&str> = running.lines().map(str::trim).collect();
            if jobs.is_empty() {
                return false;
            }
            let job = draws.one_of(&jobs);
            let how: &[&str] = match draws.below(3) {
                0 => &["--signal=KILL", "--full"],
                1 => &["--signal=USR1", "--batch"],
                _ => &[],
            };
            // It may have ended by now: then `scancel` fails.
            let killed = std::process::Command::new("scancel")
                .args(how)
                .arg(job)
                .env("SLURM_CONF", &cluster.configuration)
                .output();
            return killed.is_ok_and(|done| done.status.success());
        }
    }
    true
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}
