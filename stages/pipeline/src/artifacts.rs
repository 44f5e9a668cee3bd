//! artifacts: all that a store holds, and what each was made for: its data set, its program.
//!
//! never     opens a payload: manifests say all of it
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_contract::{Artifact, Kind};
use warploom_shell::{Environment, flags::default_store};
use warploom_spec::shell_word;

/// Every artifact whose manifest can be read.
pub fn read_all(environment: &Environment) -> Vec<Artifact> {
    Kind::ALL.into_iter().flat_map(|kind| environment.store.list(kind)).collect()
}

/// What a pasted command needs in order to look at this store: ` --store DIR`, or nothing where it
/// is the default.
pub fn store_option(environment: &Environment) -> String {
    let root = environment.store.root();
    if root.as_os_str() == default_store() {
        String::new()
    } else {
        format!(" --store {}", shell_word(&root.to_string_lossy()))
    }
}

/// The data set of every key: a graph's own, and that of an input for what was made of it. One
/// whose graph is gone has none.
pub fn data_sets(all: &[Artifact]) -> BTreeMap<&str, &str> {
    inherited_fields(all, "dataset")
}

/// The program of every plan and of what was made of it.
pub fn programs(all: &[Artifact]) -> BTreeMap<&str, &str> {
    inherited_fields(all, "entry")
}

/// A word of a request for the key that has it, and for every key that was made of that one.
fn inherited_fields<'a>(all: &'a [Artifact], field: &str) -> BTreeMap<&'a str, &'a str> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    // Each round knows what is one stage farther.
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
