//! Wrong programs, as users write them, and what is said about each: `tests/diagnostics/NAME.py`
//! and `NAME.txt`, which `UPDATE=1` refreshes. A program may open with lines `# entry: name`, `#
//! settings: {json}` and `# data: {json}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::{Value, json};
use warploom_ir::Data;
use warploom_language::trace::trace;
use warploom_test_support::golden_text::golden_difference;

/// What a program is compiled for, unless it says otherwise.
fn data(changes: &Value) -> Data {
    let mut data = json!({
        "nodes": 100, "edges": 400, "graphs": 1, "many_graphs": false, "features": 12, "sparse_features": null,
        "edge_features": 0, "weighted": true, "relations": ["cites", "likes"], "training": false, "bytes_per_real": 4,
        "columns": {"age": "real", "kind": "int", "label": "int", "split": "int"},
        "target": {"columns": 7, "loss": "cross_entropy"},
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        data[name] = value.clone();
    }
    serde_json::from_value(data).unwrap()
}

fn heading<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(&format!("# {name}: ")))
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut programs: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "py"))
        .collect();
    programs.sort();
    programs
}

/// Everything that is said about a program.
fn said(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let json = |name: &str| {
        heading(&text, name).map_or(json!({}), |json| serde_json::from_str(json).unwrap())
    };
    let settings: BTreeMap<String, Value> = serde_json::from_value(json("settings")).unwrap();
    let found = match trace(
        &text,
        heading(&text, "entry").unwrap_or("program"),
        &settings,
        &data(&json("data")),
    ) {
        Ok(traced) => traced.warnings,
        Err(errors) => errors,
    };
    found.iter().map(|found| found.render("program.py", &text)).collect()
}

#[test]
fn each_wrong_program_is_told_what_is_wrong() {
    let programs = programs();
    assert!(programs.len() >= 80, "only {} programs were found", programs.len());
    let mut differing = Vec::new();
    for path in programs {
        let (found, golden) = (said(&path), path.with_extension("txt"));
        assert_ne!(found, "", "nothing is said about {}", path.display());
        if let Some(difference) = golden_difference(&golden, &found) {
            differing.push(format!(
                "{difference}
found:
{found}"
            ));
        }
    }
    assert!(
        differing.is_empty(),
        "look at these, then refresh with UPDATE=1\n{}",
        differing.join("\n")
    );
}

#[test]
fn messages_keep_the_house_form() {
    for path in programs() {
        let found = said(&path);
        for line in found.lines() {
            let said = line
                .strip_prefix("error: ")
                .or(line.strip_prefix("warning: "))
                .or(line.strip_prefix("hint: "))
                .or(line.strip_prefix("note: "));
            let Some(said) = said else { continue };
            assert!(
                !said.starts_with(|letter: char| letter.is_uppercase()) || said.starts_with("True"),
                "{}: `{line}` starts with a capital",
                path.display()
            );
            assert!(
                !said.ends_with('.') || said.ends_with("..."),
                "{}: `{line}` ends with a full stop",
                path.display()
            );
        }
        assert_eq!(
            found.matches("\nhint: ").count(),
            found.matches("  --> ").count(),
            "{}: each message has one hint\n{found}",
            path.display()
        );
    }
}
