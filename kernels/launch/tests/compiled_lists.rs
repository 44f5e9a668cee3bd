//! compiled_lists: launch lists of shipped programs, as the compiler makes them.
use std::collections::BTreeMap;

use serde_json::json;
use warploom_compiler::compile;
use warploom_ir::{Data, Loss, Target};
use warploom_launch::LaunchList;
use warploom_test_support::repository;

/// A data set that a model is trained on: dense features, classes, nothing else.
pub fn training(nodes: u64, edges: u64, columns: u64, classes: u64) -> Data {
    Data {
        features: Some(columns),
        target: Some(Target { columns: classes, loss: Loss::CrossEntropy }),
        training: true,
        ..Data::bare(nodes, edges)
    }
}

/// The list of a shipped program with its own settings.
pub fn list(program: &str, data: &Data) -> LaunchList {
    list_with(program, &[], data)
}

/// The same with other numbers for some settings.
pub fn list_with(program: &str, settings: &[(&str, f64)], data: &Data) -> LaunchList {
    let path = repository().join(format!("pipelines/programs/{program}.py"));
    let text = std::fs::read_to_string(path).unwrap();
    let settings: BTreeMap<_, _> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    compiled(&text, program, &settings, data)
}

/// A layer of features, and nothing else.
pub fn layer(data: &Data) -> LaunchList {
    let text = "def layer(v):
    return linear(dropout(v.x, 0.5), v.classes)
";
    compiled(text, "layer", &BTreeMap::new(), data)
}

fn compiled(
    text: &str,
    program: &str,
    settings: &BTreeMap<String, serde_json::Value>,
    data: &Data,
) -> LaunchList {
    let compiled = compile(text, program, settings, data)
        .unwrap_or_else(|wrong| panic!("{program}: {wrong:?}"));
    compiled.list
}
