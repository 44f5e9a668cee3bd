//! `warploom store`: list, find, prove, collect.
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_contract::{Artifact, ErrorKind, Kind, StageError, store::gc};
use warploom_shell::{Environment, limits::show_size, talk::Talk};

use crate::arguments::StoreAction;

mod verify;

/// Artifacts that an error lists.
const CANDIDATES_MOST: usize = 12;

/// Runs a sub-command.
pub fn run(environment: &Environment, talk: &Talk, action: &StoreAction) -> Result<(), StageError> {
    match action {
        StoreAction::Ls => list(environment),
        StoreAction::Path { key } => {
            for artifact in find(environment, key)? {
                crate::print_as(
                    environment,
                    || format!("{}\n", artifact.path.display()),
                    || vec![json!({"kind": artifact.kind.name(), "key": artifact.manifest.key, "path": artifact.path.to_string_lossy()})],
                );
            }
            Ok(())
        }
        StoreAction::Verify { key } => verify::run(environment, talk, key.as_deref()),
        StoreAction::Gc { older_than, keep, unreachable, runs, dry_run } => {
            let request = gc::Request { older_than: *older_than, keep_bytes: *keep, unreachable: *unreachable, runs: *runs, dry: *dry_run };
            collect(environment, &request)
        }
    }
}

/// Every artifact whose manifest can be read.
fn all(environment: &Environment) -> Vec<Artifact> {
    Kind::ALL.into_iter().flat_map(|kind| environment.store.list(kind)).collect()
}

/// Artifacts whose key starts with these digits; a stage's kinds share one key, two keys are ambiguous.
pub fn find(environment: &Environment, digits: &str) -> Result<Vec<Artifact>, StageError> {
    let found: Vec<Artifact> = all(environment).into_iter().filter(|artifact| artifact.manifest.key.as_str().starts_with(digits)).collect();
    let mut keys: Vec<&str> = found.iter().map(|artifact| artifact.manifest.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    match keys.len() {
        1 => Ok(found),
        0 => Err(StageError::new(ErrorKind::Input, format!("no artifact has a key that starts with `{digits}`"))
            .at(environment.store.root().display())
            .hint("list them with  warploom store ls")),
        many => {
            let error = StageError::new(ErrorKind::Input, format!("{many} keys start with `{digits}`"));
            Err(error.detail(candidates(&found)).hint("give more digits"))
        }
    }
}

/// Some of these artifacts, a line each, for an error.
pub fn candidates(found: &[Artifact]) -> String {
    let line = |artifact: &Artifact| {
        let counts: Vec<String> = artifact.manifest.counts.iter().take(2).map(|(name, count)| format!("{name} {count}")).collect();
        format!("  {}/{}  {}  {}", artifact.kind.name(), artifact.manifest.key, artifact.manifest.created, counts.join(", "))
    };
    let mut lines: Vec<String> = found.iter().take(CANDIDATES_MOST).map(line).collect();
    if found.len() > CANDIDATES_MOST {
        lines.push(format!("  and {} more", found.len() - CANDIDATES_MOST));
    }
    lines.join("\n")
}

/// The data set of every key: a graph's own, and that of an input for what was made of it. One whose graph is gone has none.
fn data_sets(all: &[Artifact]) -> BTreeMap<&str, &str> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    // Each round knows what is one stage farther.
    for _ in Kind::ALL {
        for Artifact { manifest, .. } in all {
            let own = manifest.key_document.request.get("dataset").and_then(Value::as_str);
            let name = own.or_else(|| manifest.inputs.iter().find_map(|input| names.get(input.key.as_str()).copied()));
            if let Some(name) = name {
                names.insert(manifest.key.as_str(), name);
            }
        }
    }
    names
}

fn list(environment: &Environment) -> Result<(), StageError> {
    let all = all(environment);
    let names = data_sets(&all);
    let name = |artifact: &Artifact| names.get(artifact.manifest.key.as_str()).copied();
    let widest = all.iter().filter_map(name).map(|name| name.chars().count()).max().unwrap_or(0).max("data set".len());
    let mut total = 0;
    let mut text = format!("{:<12} {:<32} {:<widest$} {:>9}  {:<20} {:<9} counts\n", "kind", "key", "data set", "size", "created", "data");
    for artifact in &all {
        let manifest = &artifact.manifest;
        total += manifest.bytes();
        let counts: Vec<String> = manifest.counts.iter().take(4).map(|(name, count)| format!("{name} {count}")).collect();
        text += &format!(
            "{:<12} {:<32} {:<widest$} {:>9}  {:<20} {:<9} {}\n",
            artifact.kind.name(),
            manifest.key,
            name(artifact).unwrap_or("-"),
            show_size(manifest.bytes()),
            manifest.created,
            manifest.provenance.name(),
            counts.join(", ")
        );
    }
    text += &format!("{} artifacts, {}\n", all.len(), show_size(total));
    let line = |artifact: &Artifact| {
        let manifest = &artifact.manifest;
        json!({"kind": artifact.kind.name(), "key": manifest.key, "dataset": name(artifact), "path": artifact.path.to_string_lossy(), "bytes": manifest.bytes(), "created": manifest.created,
            "provenance": manifest.provenance.name(), "counts": manifest.counts})
    };
    crate::print_as(environment, || text, || all.iter().map(line).collect());
    Ok(())
}

fn collect(environment: &Environment, request: &gc::Request) -> Result<(), StageError> {
    let report = environment.store.collect(request)?;
    let bytes: u64 = report.removed.iter().map(|removed| removed.bytes).sum();
    let lines =
        report.removed.iter().map(|removed| json!({"path": removed.path.to_string_lossy(), "bytes": removed.bytes, "why": removed.why, "dry": request.dry}));
    crate::print_as(
        environment,
        || {
            let mut text = String::new();
            for removed in &report.removed {
                text += &format!("{:>9}  {}  ({})\n", show_size(removed.bytes), removed.path.display(), removed.why);
            }
            let verb = if request.dry { "would be removed" } else { "removed" };
            let leased = if report.leased > 0 { format!("; {} in use were spared", report.leased) } else { String::new() };
            text + &format!("{} {verb}, {} stay{leased}\n", show_size(bytes), show_size(report.bytes_kept))
        },
        || lines.collect(),
    );
    Ok(())
}
