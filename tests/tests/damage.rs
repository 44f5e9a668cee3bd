//! Proves that damage is named: a flipped bit, a truncated, grown or missing file, in every file of every kind; and that the
//! hint repairs it.
use std::{
    fs,
    path::{Path, PathBuf},
};

use warploom_tests::{Found, Recipe, Scene};

/// Every file of every artifact, with its contents.
fn files(scene: &Scene) -> Vec<(Found, PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for artifact in scene.view().artifacts() {
        for name in artifact.files().iter().map(String::as_str).chain(["manifest.json"]) {
            let path = artifact.path.join(name);
            let bytes = fs::read(&path).unwrap();
            all.push((artifact.clone(), path, bytes));
        }
    }
    all
}

/// Puts other contents under a name, without writing through a hard link.
fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_bit_in_any_file_is_named() {
    let scene = Scene::stand_in();
    scene.build(&Recipe::small());
    for (artifact, path, bytes) in files(&scene) {
        assert!(!bytes.is_empty(), "{} is empty", path.display());
        let mut flipped = bytes.clone();
        flipped[bytes.len() * 2 / 3] ^= 4;
        replace(&path, &flipped);
        let name = path.to_str().unwrap();
        scene.warploom(&["store", "verify"]).expect(3).says(&[name, "1 of 8 artifacts are damaged"]);
        scene.warploom(&["store", "verify", &artifact.key]).expect(3).says(&[name]);
        scene.front("pipeline", &Recipe::small(), &["--verify"]).expect(1).says(&[name, "hint:"]);
        replace(&path, &bytes);
    }
    scene.warploom(&["store", "verify"]).expect(0);
}

#[test]
fn a_file_that_was_cut_grown_or_deleted_is_named_without_being_asked() {
    let scene = Scene::stand_in();
    scene.build(&Recipe::small());
    for (_, path, bytes) in files(&scene) {
        let name = path.to_str().unwrap();
        let mut grown = bytes.clone();
        grown.push(b'x');
        for damaged in [&bytes[..bytes.len() / 2], &bytes[..0], &grown] {
            replace(&path, damaged);
            scene.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[name, "hint:", "rm -r"]);
        }
        scene.warploom(&["store", "verify"]).expect(3).says(&[name]);
        fs::remove_file(&path).unwrap();
        scene.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[name, "missing", "hint:"]);
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn the_hint_repairs_and_so_does_force() {
    let scene = Scene::stand_in();
    scene.build(&Recipe::small());
    let digests = scene.view().digests();
    for artifact in scene.view().artifacts() {
        let Some(file) = artifact.files().first().map(|name| artifact.path.join(name)) else { panic!("no file in {}", artifact.path.display()) };
        replace(&file, b"not what it was");
        let said = scene.front("pipeline", &Recipe::small(), &[]).expect(1).stderr;
        let command = said.lines().find_map(|line| line.split_once("rm -r ")).map(|(_, rest)| format!("rm -r {rest}"));
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(command.unwrap_or_else(|| panic!("no command in\n{said}")));
        warploom_tests::start(shell).wait().expect(0);
        scene.build(&Recipe::small());
        assert_eq!(scene.view().digests(), digests);
        replace(&file, b"not what it was");
        scene.front("pipeline", &Recipe::small(), &["--force"]).expect(0);
        assert_eq!(scene.view().digests(), digests);
        assert_eq!(scene.view().flaws(), [""; 0]);
    }
}

#[test]
fn a_damaged_artifact_is_not_read_by_the_stage_after_it() {
    let scene = Scene::stand_in();
    scene.build(&Recipe::small());
    let graph = scene.view().of_kind("graph").remove(0);
    let path = graph.path.join("edges.parquet");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len() - 6;
    bytes[end] ^= 255;
    replace(&path, &bytes);
    for kind in ["csr", "profile"] {
        scene.view().of_kind(kind).iter().for_each(|artifact| fs::remove_dir_all(&artifact.path).unwrap());
    }
    scene.front("pipeline", &Recipe::small(), &["--verify"]).expect(1).says(&[path.to_str().unwrap()]);
    assert!(scene.view().of_kind("csr").is_empty() && scene.view().of_kind("profile").is_empty());
}
