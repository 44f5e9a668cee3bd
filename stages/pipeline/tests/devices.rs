//! Proves that rates of a GPU are measured when that is asked for and never else, that plans are
//! then made with them, and that a GPU whose memory others have is told with what would fit: on the
//! emulated GPU of `tests/emulator`, whose rates are those of this processor.
#![allow(clippy::unwrap_used)]
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;
use warploom_test_support::emulator::emulate;

/// A device whose rates nobody measured.
const NAME: (&str, &str) = ("EMULATOR_NAME", "Emulated GPU");
/// So little that measuring on a processor takes seconds.
const MEMORY: (&str, &str) = ("EMULATOR_MEMORY", "268435456");

/// A place to work in, with a data set that is made up.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        let raw = place.at("raw/karate");
        fs::create_dir_all(&raw).unwrap();
        fs::write(raw.join(".absent"), "2026-01-01\nno network in tests\n").unwrap();
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// `warploom` on the emulated GPU; none where that cannot be built.
    fn run(&self, test: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warploom"));
        command
            .args(arguments)
            .arg("--store")
            .arg(self.at("store"))
            .arg("--data")
            .arg(self.at("raw"));
        command.env("WARPLOOM_DEVICES", self.at("devices")).envs(variables.iter().copied());
        emulate(&mut command, &format!("devices::{test}")).then(|| command.output().unwrap())
    }

    /// A training of a few epochs.
    fn train(&self, test: &str, variables: &[(&str, &str)]) -> Option<Output> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines/gcn.yaml");
        let settings = [
            "--set",
            "dataset=karate",
            "--set",
            "run.epochs=3",
            "--device",
            "cuda",
            "--format",
            "json",
        ];
        self.run(test, &[&["pipeline", file.to_str().unwrap()], &settings[..]].concat(), variables)
    }
}

fn lines(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What `doctor` says of one thing.
fn said<'a>(lines: &'a [Value], what: &str) -> Vec<&'a str> {
    lines
        .iter()
        .filter(|line| line["what"] == what)
        .map(|line| line["found"].as_str().unwrap())
        .collect()
}

/// What the plan of a pipeline was made for.
fn planned(output: &Output) -> Value {
    let lines = lines(output);
    let line =
        lines.iter().rfind(|line| line["stage"] == "plan").unwrap_or_else(|| panic!("{output:?}"));
    let folder = line["artifacts"][0]["path"].as_str().unwrap();
    let plan: Value =
        serde_json::from_slice(&fs::read(Path::new(folder).join("plan.json")).unwrap()).unwrap();
    plan["device"].clone()
}

/// Files of a folder that begin so.
fn files(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(begin)).collect()
}

#[test]
fn rates_are_measured_when_asked_for_and_then_planned_with() {
    const TEST: &str = "rates_are_measured_when_asked_for_and_then_planned_with";
    let place = Place::new();
    let Some(before) = place.train(TEST, &[NAME]) else { return };
    let before = planned(&before);
    assert!(
        before["estimated"] == true && before.get("host_bytes_per_second").is_none(),
        "{before}"
    );
    let looked = lines(&place.run(TEST, &["doctor", "--format", "json"], &[NAME]).unwrap());
    let told = looked.iter().find(|line| line["what"] == "GPU rates").unwrap();
    assert!(
        told["found"].as_str().unwrap().contains("estimated")
            && told["hint"].as_str().unwrap().contains("doctor --measure"),
        "{told}"
    );
    assert!(!place.at("devices").exists(), "nothing is measured unasked");

    let measured =
        place.run(TEST, &["doctor", "--measure", "--format", "json"], &[NAME, MEMORY]).unwrap();
    assert!(measured.status.success(), "{measured:?}");
    let measured = lines(&measured);
    assert_eq!(said(&measured, "rows at random").len(), 4);
    assert!(said(&measured, "upload")[0].contains("of a pinned copy's"), "{measured:?}");
    let kept = files(&place.at("devices"), "");
    assert_eq!(said(&measured, "kept"), [kept[0].to_str().unwrap()]);
    assert_eq!(
        files(&place.at("devices"), "emulated-gpu.sm_90.8."),
        kept,
        "it is named by what the driver says"
    );
    let text = fs::read_to_string(&kept[0]).unwrap();
    assert!(
        text.contains("\n  clock_khz: 1980000\n") && text.contains("memory_clock_khz: 3201000"),
        "{text}"
    );
    assert!(files(place.0.path(), ".").is_empty(), "nothing is left behind");

    let looked = lines(&place.run(TEST, &["doctor", "--format", "json"], &[NAME]).unwrap());
    assert!(said(&looked, "GPU rates")[0].contains("measured here"), "{looked:?}");
    let after = place.train(TEST, &[NAME]).unwrap();
    assert!(after.status.success(), "{after:?}");
    let after = planned(&after);
    assert!(
        after.get("estimated").is_none()
            && after.get("measured").is_none()
            && after["host_bytes_per_second"].is_u64(),
        "{after}"
    );
    assert_ne!(after["gather"], before["gather"]);
    // The same facts, the same plan: everything is there.
    let again = lines(&place.train(TEST, &[NAME]).unwrap());
    assert!(
        again.iter().filter(|line| line.get("stage").is_some()).all(|line| line["status"] == "hit"),
        "{again:?}"
    );
    // Another device is planned for as before.
    let other = planned(&place.train(TEST, &[("EMULATOR_NAME", "Emulated GPU 2")]).unwrap());
    assert_eq!(other["estimated"], true);

    fs::write(&kept[0], "name: x\n").unwrap();
    let damaged = place.train(TEST, &[NAME]).unwrap();
    let said = String::from_utf8_lossy(&damaged.stderr).into_owned()
        + &String::from_utf8_lossy(&damaged.stdout);
    assert!(
        damaged.status.code() == Some(1)
            && said.contains("emulated-gpu.sm_90")
            && said.contains("not be read")
            && said.contains("measure again"),
        "{said}"
    );
    let looked = place.run(TEST, &["doctor"], &[NAME]).unwrap();
    assert!(
        looked.status.code() == Some(1)
            && String::from_utf8_lossy(&looked.stdout).contains("measure again"),
        "{looked:?}"
    );
}

#[test]
fn a_gpu_without_room_is_not_measured() {
    const TEST: &str = "a_gpu_without_room_is_not_measured";
    let place = Place::new();
    let Some(output) =
        place.run(TEST, &["doctor", "--measure"], &[NAME, ("EMULATOR_MEMORY", "1000000")])
    else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("measure rates: wanted"),
        "{output:?}"
    );
    assert!(!place.at("devices").exists());
}

#[test]
fn memory_that_others_have_is_told_with_what_would_fit() {
    const TEST: &str = "memory_that_others_have_is_told_with_what_would_fit";
    let place = Place::new();
    let Some(output) = place.train(TEST, &[("EMULATOR_MEMORY", "20000")]) else { return };
    // The device as a whole has enough: the same command may succeed later.
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let lines = lines(&output);
    let error = &lines
        .iter()
        .rfind(|line| line["status"] == "failed")
        .unwrap_or_else(|| panic!("{output:?}"))["error"];
    let (what, hint) = (error["what"].as_str().unwrap(), error["hint"].as_str().unwrap());
    assert!(
        error["kind"] == "transient"
            && lines.iter().any(|line| line["stage"] == "plan" && line["status"] == "built"),
        "{lines:?}"
    );
    // What was asked, what is free, of how much.
    assert!(
        what.contains("wanted")
            && what.contains("19.5 KiB (20000 bytes) of 4.0 GiB (4294967296 bytes) are free"),
        "{what}"
    );
    assert!(
        hint.contains("wait until other processes")
            && hint.contains("--set plan.features=host")
            && hint.contains("--device cpu"),
        "{hint}"
    );
    let there = place.train(TEST, &[("EMULATOR_MEMORY", "4294967296")]).unwrap();
    assert!(there.status.success(), "{there:?}");
}
