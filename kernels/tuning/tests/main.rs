//! The tuning table from outside: each of its rows is read by the code and has a record that is
//! there, and no other source names the card or the graph that something was measured on.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use warploom_tuning as tuning;

/// Words of names of cards.
const CARDS: [&str; 8] = ["A100", "H100", "H200", "B200", "V100", "L40S", "h100", "h200"];

/// Files that name cards or data sets since that is what they are about: names and facts of
/// devices, and examples in messages, help and headers of formats.
const MAY_NAME: [&str; 14] = [
    "kernels/device/src/gpu.rs",
    "kernels/device/src/facts.rs",
    "kernels/device/src/measured_facts.rs",
    "kernels/device/src/lib.rs",
    "kernels/device/src/measure.rs",
    "kernels/device/src/detected_gpu.rs",
    "stages/formats/src/readers/ogb.rs",
    "stages/formats/src/containers/zip.rs",
    "stages/pipeline/src/new_project.rs",
    "stages/pipeline/src/runs.rs",
    "stages/plan/src/lib.rs",
    "stages/shell/src/device_choice.rs",
    "stages/shell/src/binary.rs",
    "stages/spec/src/lib.rs",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Production sources below `src` of all crates, by their path in the workspace, without what is a
/// test.
fn sources() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = ["kernels", "stages"]
        .iter()
        .flat_map(|root| fs::read_dir(workspace().join(root)).unwrap())
        .map(|entry| entry.unwrap().path().join("src"))
        .filter(|folder| folder.is_dir())
        .collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_source = [".rs", ".cu", ".cuh"].iter().any(|end| name.ends_with(end));
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if is_source && name != "tests.rs" {
                let text = fs::read_to_string(&path).unwrap();
                let shown = path.strip_prefix(workspace()).unwrap().to_string_lossy().into_owned();
                let production = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                found.push((shown, production.to_owned()));
            }
        }
    }
    found
}

/// Words of a text: letters, digits, and what names of data sets have between them.
fn words(text: &str) -> BTreeSet<&str> {
    let is_between = |letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter);
    text.split(is_between).collect()
}

#[test]
fn every_row_is_read_by_the_code() {
    let text: String = sources().into_iter().map(|(_, text)| text).collect();
    let unread: Vec<&&str> =
        tuning::NAMES.iter().filter(|name| !text.contains(&format!("tuning::{name}()"))).collect();
    assert!(unread.is_empty(), "rows of tuning.csv that no code reads: {unread:?}");
}

#[test]
fn every_row_has_a_record_that_is_there() {
    let records = workspace().join("tests/bench/record");
    for row in tuning::rows() {
        let is_there = row.record == "unrecorded" || records.join(row.record).is_dir();
        assert!(is_there, "`{}`: no record `{}`", row.name, row.record);
        assert!(!row.unit.is_empty() && !row.decides.is_empty(), "`{}`", row.name);
    }
}

#[test]
fn sources_name_no_card_and_no_graph_that_was_measured() {
    // Names that are words of their own too are passed over: those of small letters alone.
    let is_special = |name: &str| name.chars().any(|letter| !letter.is_ascii_lowercase());
    let catalog = fs::read_dir(workspace().join("data/catalog")).unwrap();
    let graphs: Vec<String> = catalog
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            name.strip_suffix(".yaml").map(str::to_owned).filter(|name| is_special(name))
        })
        .chain(["cora", "citeseer", "pubmed", "reddit", "yelp"].map(str::to_owned))
        .filter(|name| name != "Pd")
        .collect();
    let mut found = Vec::new();
    for (path, text) in sources() {
        let words = words(&text);
        let named = CARDS.iter().copied().chain(graphs.iter().map(String::as_str));
        let is_about_it = MAY_NAME.contains(&path.as_str()) || path.starts_with("stages/catalog/");
        found.extend(
            named
                .filter(|name| words.contains(name) && !is_about_it)
                .map(|name| format!("{path}: {name}")),
        );
    }
    assert!(found.is_empty(), "figures belong to records: {found:#?}");
}
