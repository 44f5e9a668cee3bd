//! artifacts: all artifacts of a store, with the data set and program of each.
//!
//! never     opens a payload: manifests have all of this
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_contract::{Artifact, Kind};
use warploom_shell::Environment;

/// Every artifact whose manifest can be read.
pub fn read_all(environment: &Environment) -> Vec<Artifact> {
    Kind::ALL.into_iter().flat_map(|kind| environment.store.list(kind)).collect()
}

/// The data set of every key, inherited from the graph that it was made from; none if that graph is
/// gone.
pub fn data_sets(all: &[Artifact]) -> BTreeMap<&str, &str> {
    inherited_fields(all, "dataset")
}

/// The program of every key that was made from a plan.
pub fn programs(all: &[Artifact]) -> BTreeMap<&str, &str> {
    inherited_fields(all, "entry")
}

/// A field of requests, for each key that has it and for all keys made from that one.
fn inherited_fields<'a>(all: &'a [Artifact], field: &str) -> BTreeMap<&'a str, &'a str> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    // Each round covers one further stage.
    for _ in Kind::ALL {
        for Artifact { manifest, .. } in all {
            let own = manifest.key_document.request.get(field).and_then(Value::as_str);
            let name = own.or_else(|| {
                manifest.inputs.iter().find_map(|input| names.get(input.key.as_str()).copied())
            });
            if let Some(name) = name {
                names.insert(manifest.key.as_str(), name);
            }
        }
    }
    names
}
