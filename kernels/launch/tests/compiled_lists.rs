//! compiled_lists: launch lists of programs, as the compiler makes them.
//!
//! promises  `plain_names` calls a value `scale` where the list says `scale.5`: a pass that makes
//!           one value more changes no other name

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_compiler::compile;
use warploom_ir::{Data, Loss, Target};
use warploom_launch::{LaunchList, Operation};
use warploom_test_support::repository;

/// A data set on which a model learns classes from dense features.
pub fn training(nodes: u64, edges: u64, columns: u64, classes: u64) -> Data {
    Data {
        features: Some(columns),
        target: Some(Target { columns: classes, loss: Loss::CrossEntropy }),
        training: true,
        ..Data::bare(nodes, edges)
    }
}

/// The list of a shipped program.
pub fn shipped(program: &str, data: &Data) -> LaunchList {
    shipped_with(program, &[], data)
}

/// The same with other numbers for some of its settings.
pub fn shipped_with(program: &str, settings: &[(&str, f64)], data: &Data) -> LaunchList {
    let path = repository().join(format!("pipelines/programs/{program}.py"));
    list(&std::fs::read_to_string(path).unwrap(), program, settings, data)
}

/// The list of a text.
pub fn list(text: &str, entry: &str, settings: &[(&str, f64)], data: &Data) -> LaunchList {
    let settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let compiled =
        compile(text, entry, &settings, data).unwrap_or_else(|wrong| panic!("{entry}: {wrong:?}"));
    assert_eq!(compiled.list.validate(), Ok(()));
    compiled.list
}

/// The same list without numbers of nodes in names: `scale` for `scale.5`; of several `multiply`,
/// in the order in which they are made, `multiply.0`, `multiply.1`.
pub fn plain_names(list: &LaunchList) -> LaunchList {
    let mut by_stem: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let steps = list.launches().into_iter().flat_map(|launch| launch.operation.steps());
    for name in steps.flat_map(Operation::writes).filter(|name| !is_of_parameter(name)) {
        let Some((stem, number)) = name.rsplit_once('.') else { continue };
        let known = by_stem.entry(stem.to_owned()).or_default();
        if number.parse::<u64>().is_ok() && !known.iter().any(|known| **known == *name) {
            known.push(name.into_owned());
        }
    }
    let mut plain = BTreeMap::new();
    for (stem, names) in by_stem {
        let only = names.len() == 1;
        for (number, name) in names.into_iter().enumerate() {
            plain.insert(name, if only { stem.clone() } else { format!("{stem}.{number}") });
        }
    }
    let mut value = serde_json::to_value(list).unwrap();
    rename(&mut value, &plain);
    let renamed: LaunchList = serde_json::from_value(value).unwrap();
    assert_eq!(renamed.validate(), Ok(()));
    renamed
}

fn is_of_parameter(name: &str) -> bool {
    name.starts_with("gradient.") || name.starts_with("parameter.")
}

fn rename(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(plain) = names.get(text) {
                text.clone_from(plain);
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| rename(part, names)),
        Value::Object(parts) => parts.values_mut().for_each(|part| rename(part, names)),
        _ => {}
    }
}
