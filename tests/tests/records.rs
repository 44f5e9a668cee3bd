//! Proves what `record.json` says of where and by what a run was computed, and that programs read
//! records with and without it.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use warploom_contract::{Digest, Kind, Manifest};
use warploom_test_support::emulator::emulate;
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

/// What records of older versions lack.
const FURTHER: [&str; 5] = ["host", "scheduler", "versions", "seconds_by_stage", "energy_joules"];

/// The record's file of a start that ends well.
fn record_file(command: Command) -> PathBuf {
    let lines = start(command).wait().expect(0).lines();
    let line = lines.into_iter().rfind(|line| line["stage"] == "run").expect("a run is told");
    folder(&line, "run").join("record.json")
}

fn read(file: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Writes the manifest of a run anew, with its files as they are now.
fn seal_again(run: &Path) {
    let mut manifest = Manifest::read(run, Kind::Run).unwrap().unwrap();
    for file in &mut manifest.files {
        let bytes = fs::read(run.join(&file.name)).unwrap();
        (file.bytes, file.blake3) = (bytes.len() as u64, Digest::from_bytes(&bytes));
    }
    fs::write(run.join("manifest.json"), manifest.to_text()).unwrap();
}

fn pipeline(sandbox: &Sandbox, further: &[&str]) -> Command {
    let actions = [&["pipeline", "--format", "json", "--real=no"], further].concat();
    sandbox.command("warploom", &Recipe::small().arguments(&actions))
}

/// Every manifest of the store, without what differs from one build to the next.
fn lasting(sandbox: &Sandbox) -> Vec<(String, String, Value)> {
    let mut found: Vec<_> = Kind::ALL
        .into_iter()
        .flat_map(|kind| sandbox.view().of_kind(kind.name()))
        .map(|found| (found.kind, found.key, found.manifest["digest"].clone()))
        .collect();
    found.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    found
}

#[test]
fn manifests_record_what_their_stage_took_outside_digests_and_keys() {
    let (sandbox, recipe) = (Sandbox::stand_in(), Recipe::small());
    let recorded = |lines: &[Value]| -> Vec<Value> {
        let of_line = |line: &Value| {
            let kind = line["artifacts"][0]["kind"].as_str().unwrap().to_owned();
            read(&folder(line, &kind).join("manifest.json"))
        };
        lines.iter().filter(|line| line["stage"].is_string()).map(of_line).collect()
    };
    let built = recorded(&sandbox.build(&recipe));
    assert_eq!(built.len(), 6);
    for manifest in &built {
        let record = &manifest["record"];
        assert_eq!(record.as_object().unwrap().len(), 3, "{record}");
        assert!(record["seconds"].as_f64().unwrap() > 0.0, "{record}");
        assert!(record["bytes_peak"].as_u64().unwrap() > 0, "{record}");
        assert!(record["bytes_written"].as_u64().unwrap() > 0, "{record}");
        let text = manifest["key_document"].to_string();
        assert!(!text.contains("bytes_written"), "{text}");
    }
    // The bytes of all kinds of a stage are in the record of each.
    let ingested: u64 = built[0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(built[0]["record"]["bytes_written"], ingested);
    assert_eq!(recorded(&sandbox.build(&recipe)), built, "a hit leaves the record");
    let listed = sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines();
    assert!(listed.iter().any(|line| line["record"] == built[0]["record"]), "{listed:?}");

    // Another build takes another time, and has the same keys and digests.
    let again = sandbox.with_store("again");
    let other = recorded(&again.build(&recipe));
    assert!(built.iter().zip(&other).any(|(one, other)| one["record"] != other["record"]));
    assert_eq!(lasting(&sandbox), lasting(&again));
}

#[test]
fn a_record_names_host_job_versions_and_seconds() {
    let sandbox = Sandbox::stand_in();
    let mut command = pipeline(&sandbox, &[]);
    for (name, value) in [
        ("SLURM_JOB_ID", "18"),
        ("SLURM_ARRAY_JOB_ID", "17"),
        ("SLURM_ARRAY_TASK_ID", "4"),
        ("SLURM_RESTART_COUNT", "1"),
        ("SLURM_JOB_NODELIST", "node[01-02]"),
        ("SLURM_JOB_PARTITION", "long"),
    ] {
        command.env(name, value);
    }
    let record = read(&record_file(command));
    let job = serde_json::json!({
        "name": "slurm", "job": "18", "array_job": "17", "task": "4", "restarts": 1,
        "nodes": "node[01-02]", "partition": "long",
    });
    assert_eq!(record["scheduler"], job);
    assert!(record["host"].as_str().is_some_and(|host| !host.is_empty()), "{record}");
    assert_eq!(record["versions"]["warploom"], env!("CARGO_PKG_VERSION"));
    assert!(record["versions"].get("compute_capability").is_none(), "{record}");
    let seconds = record["seconds_by_stage"].as_object().unwrap();
    assert_eq!(seconds.len(), 6, "the front door ran all stages: {record}");
    assert_eq!(seconds["run"], record["seconds"]);
    // Only a run's own: the other stages were hits.
    let mut command = sandbox.command(
        "warploom",
        &Recipe::small().set("run.seed=9").arguments(&["pipeline", "--format", "json"]),
    );
    command.env("PBS_JOBID", "");
    let record = read(&record_file(command));
    let stages: Vec<&String> = record["seconds_by_stage"].as_object().unwrap().keys().collect();
    assert_eq!(stages, ["run"]);
    assert!(record.get("scheduler").is_none(), "an empty variable is none: {record}");
}

#[test]
fn a_gpu_is_named_with_its_driver_and_its_energy() {
    let test = "records::a_gpu_is_named_with_its_driver_and_its_energy";
    let sandbox = Sandbox::stand_in();
    for (seed, nvml) in [("run.seed=1", ""), ("run.seed=2", "none")] {
        let mut command = pipeline(&sandbox, &["--device", "cuda", "--set", seed]);
        if !emulate(&mut command, test) {
            return;
        }
        command.env("EMULATOR_NVML", nvml).env("EMULATOR_DEVICES", "2");
        command.env("CUDA_VISIBLE_DEVICES", "1");
        let record = read(&record_file(command));
        let versions = &record["versions"];
        assert_eq!(
            (&versions["cuda"], &versions["nvrtc"], &versions["compute_capability"]),
            (&Value::from("13.0"), &Value::from("13.99"), &Value::from("9.0"))
        );
        assert_eq!(
            record["device"]["uuid"], "GPU-00000000-0000-0000-0000-000000000001",
            "{record}"
        );
        let tells = nvml.is_empty();
        assert_eq!(versions.get("driver").is_some(), tells, "{record}");
        let joules = record.get("energy_joules").and_then(Value::as_f64);
        assert_eq!(joules.is_some(), tells, "{record}");
        // The emulated device takes 100 W.
        let seconds = record["seconds"].as_f64().unwrap();
        assert!(joules.is_none_or(|joules| joules <= 101.0 * seconds + 1.0), "{record}");
    }
}

#[test]
fn records_of_older_versions_are_listed_exported_and_checked() {
    let sandbox = Sandbox::stand_in();
    let file = record_file(pipeline(&sandbox, &[]));
    let use_it = |name: &str| {
        sandbox.warploom(&["runs"]).expect(0).prints(&["1 run", "karate"]);
        let to = sandbox.path(name);
        let to = to.to_str().unwrap();
        sandbox.warploom(&["export", "last", "-o", to]).expect(0);
        sandbox.front("check", &Recipe::small(), &[]).expect(0);
    };
    use_it("new");
    let mut record = read(&file);
    for name in FURTHER {
        record.as_object_mut().unwrap().remove(name);
    }
    fs::write(&file, serde_json::to_string(&record).unwrap()).unwrap();
    seal_again(file.parent().unwrap());
    use_it("old");
}
