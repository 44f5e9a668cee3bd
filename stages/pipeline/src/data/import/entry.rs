//! entry: writes the entry of an imported set, beside its files.
//!
//! promises  it parses as an entry; it has size and digest of every file, the detected format, and
//!           the counts
use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warploom_catalog::{digest_cache, entry::InheritedProvenance, imported_sets::ABOUT};
use warploom_contract::StageError;
use warploom_formats::{
    Options,
    raw_graph::{Labels, RawGraph},
};

use super::ReadSet;
use crate::arguments::Import;

/// The text of the entry; `draft` is the present folder of the files.
pub fn entry_text(
    asked: &Import,
    options: &Options,
    found: &ReadSet,
    draft: &Path,
) -> Result<String, StageError> {
    let graph = &found.graph;
    let undirected = asked.undirected || graph.directed == Some(false);
    let from = asked
        .from
        .as_ref()
        .or(asked.edges.as_ref())
        .map_or_else(String::new, |path| path.display().to_string());
    let mut text = format!(
        "name: {}\nabout: {}\nfiles:\n",
        json!(asked.name),
        json!(format!("{ABOUT}{from}."))
    );
    for file in &found.files {
        text += &file_line(file, &draft.join(file))?;
    }
    let labels = graph.graphs.as_ref().and_then(|graphs| graphs.labels.as_ref());
    let task = match (labels, &graph.labels) {
        (Some(Labels::Classes { .. }), _) => "graph_classification",
        (Some(Labels::Values(_)), _) => "graph_regression",
        (None, Some(Labels::Classes { .. })) => "node_classification",
        _ => "none",
    };
    let rule = if has_split(graph) { "given" } else { "none" };
    text += &format!("format: {}\n", found.format);
    text += &read_lines(options)?;
    text += &format!(
        "directed: {}\nsymmetrize: {undirected}\ntask: {task}\nlicence: unknown\n",
        !undirected
    );
    text += &format!(
        "expected: {{nodes: {}, listed: {}}}\nsplit: {{rule: {rule}}}\n",
        graph.nodes(),
        graph.edges.len()
    );
    Ok(text + &inherited_line(&found.inherited))
}

/// Whether there is a split of nodes or graphs.
pub fn has_split(graph: &RawGraph) -> bool {
    !graph.splits.is_empty()
        || graph.graphs.as_ref().is_some_and(|graphs| !graphs.splits.is_empty())
}

/// The line of a file, with size and digest.
fn file_line(file: &str, path: &PathBuf) -> Result<String, StageError> {
    let read = |error: std::io::Error| StageError::io("read", path, &error);
    let digest = digest_cache::digest(path, None, true).map_err(read)?;
    let bytes = fs::metadata(path).map_err(read)?.len();
    let plain = file.strip_suffix(".gz").or(file.strip_suffix(".zst")).unwrap_or(file);
    Ok(format!(
        "  - {{file: {}, url: null, bytes: {bytes}, blake3: {}}}\n",
        json!(plain),
        json!(digest)
    ))
}

fn inherited_line(inherited: &InheritedProvenance) -> String {
    // JSON is YAML.
    if inherited.is_nothing() {
        String::new()
    } else {
        format!("inherited: {}\n", json!(inherited))
    }
}

/// The lines of options that differ from the default.
fn read_lines(options: &Options) -> Result<String, StageError> {
    let value = |options: &Options| {
        serde_json::to_value(options).map_err(|error| StageError::defect(error.to_string()))
    };
    let (Value::Object(mut asked), usual) = (value(options)?, value(&Options::default())?) else {
        return Ok(String::new());
    };
    asked.retain(|name, value| usual[name] != *value);
    Ok(if asked.is_empty() { String::new() } else { format!("read: {}\n", Value::Object(asked)) })
}
