//! verify: `warploom store verify`: compares every file of every artifact with its digest, and
//! checks inputs of artifacts.
//!
//! promises  unreadable files and folders are named and fail, as damaged ones do; an artifact made
//!           from unchecked inputs is named, and so are those made from it
//! never     changes anything
use std::{collections::BTreeMap, fs, io, path::Path};

use serde_json::json;
use warploom_contract::{Artifact, ErrorKind, Key, Kind, StageError, Store, progress::Progress};
use warploom_shell::{Environment, progress::Talk};

/// The result of a verification.
#[derive(Default)]
struct Report {
    looked_at: usize,
    damaged: usize,
    /// The first error of unreadable files, and their number.
    unreadable: Option<(StageError, usize)>,
}

impl Report {
    fn record_error(&mut self, talk: &Talk, error: StageError) {
        talk.error(&error);
        if error.kind == ErrorKind::Damaged {
            self.damaged += 1;
        } else {
            self.unreadable.get_or_insert((error, 0)).1 += 1;
        }
    }
}

/// Verifies all artifacts, or those whose keys start with these digits.
pub fn verify_store(
    environment: &Environment,
    talk: &Talk,
    digits: Option<&str>,
) -> Result<(), StageError> {
    let mut report = Report::default();
    for store in environment.store.each() {
        for kind in Kind::ALL {
            for error in verify_kind(&store, kind, digits, &mut report) {
                report.record_error(talk, environment.store.explain_later(error));
            }
        }
    }
    let all = super::read_all(environment);
    if digits.is_none() {
        warn_of_missing_kinds(environment, talk, &all);
    }
    let unverified = unverified_artifacts(&all);
    let unverified: Vec<&Artifact> = unverified
        .into_iter()
        .filter(|artifact| {
            digits.is_none_or(|digits| artifact.manifest.key.as_str().starts_with(digits))
        })
        .collect();
    for artifact in &unverified {
        let (kind, key) = (artifact.kind.name(), &artifact.manifest.key);
        talk.warn(&format!(
            "`{kind}` {key} was made of inputs that were not checked (--no-verify); --force makes \
             it again"
        ));
    }
    print_report(environment, &report, &unverified);
    final_error(environment, report, digits)
}

/// Verifies the artifacts of a kind in one store; gives what is wrong.
fn verify_kind(
    store: &Store,
    kind: Kind,
    digits: Option<&str>,
    report: &mut Report,
) -> Vec<StageError> {
    let keys = match list_keys(&store.kind_directory(kind)) {
        Ok(keys) => keys,
        Err(error) => return vec![error],
    };
    let mut wrong = Vec::new();
    // A checkpoint's folder holds steps, which are verified on resume.
    for key in keys
        .iter()
        .filter(|_| kind != Kind::Checkpoint)
        .filter(|key| digits.is_none_or(|digits| key.as_str().starts_with(digits)))
    {
        let _lease = store.lease(key);
        // An artifact collected before the lease is not damaged.
        let opened = store
            .find(kind, key)
            .and_then(|found| found.map(|_| store.open(kind, key, true)).transpose());
        report.looked_at += usize::from(!matches!(opened, Ok(None)));
        wrong.extend(opened.err());
    }
    wrong
}

fn print_report(environment: &Environment, report: &Report, unverified: &[&Artifact]) {
    let Report { looked_at, damaged, .. } = report;
    let unreadable = report.unreadable.as_ref().map_or(0, |(_, count)| *count);
    crate::print_as(
        environment,
        || {
            let mut text = format!("{looked_at} artifacts checked, {damaged} damaged");
            if unreadable > 0 {
                text += &format!(", {unreadable} could not be read");
            }
            if !unverified.is_empty() {
                text += &format!(", {} made of unchecked inputs", unverified.len());
            }
            text + "\n"
        },
        || {
            let named: Vec<_> = unverified
                .iter()
                .map(|artifact| json!({"kind": artifact.kind.name(), "key": artifact.manifest.key}))
                .collect();
            vec![
                json!({"artifacts": looked_at, "damaged": damaged, "unreadable": unreadable, "unverified": named}),
            ]
        },
    );
}

fn final_error(
    environment: &Environment,
    report: Report,
    digits: Option<&str>,
) -> Result<(), StageError> {
    let Report { looked_at, damaged, unreadable } = report;
    match (damaged, unreadable, digits) {
        (0, Some((error, count)), _) => {
            let what = format!("{count} of the files and folders of the store cannot be read");
            Err(StageError::new(error.kind, what)
                .at(environment.store.root().display())
                .hint("they are named above: see to their permissions, or to the disk"))
        }
        (0, None, Some(digits)) if looked_at == 0 => {
            super::find_artifacts(environment, digits).map(drop)
        }
        (0, None, _) => Ok(()),
        _ => Err(StageError::new(
            ErrorKind::CheckFailed,
            format!("{damaged} of {looked_at} artifacts are damaged"),
        )
        .hint("remove those that are named above and run again: they are rebuilt")),
    }
}

/// The keys in the folder of a kind; none if there is no folder.
fn list_keys(folder: &Path) -> Result<Vec<Key>, StageError> {
    let wrong = |error: io::Error| StageError::io("list a folder of the store", folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(wrong)?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        keys.extend(entry.map_err(wrong)?.file_name().to_str().and_then(Key::parse));
    }
    keys.sort();
    Ok(keys)
}

/// Warns of kinds without a folder although artifacts were made from them: `gc` keeps the folder.
fn warn_of_missing_kinds(environment: &Environment, talk: &Talk, all: &[Artifact]) {
    let folders: Vec<String> = environment
        .store
        .roots()
        .filter_map(|root| fs::read_dir(root).ok())
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let is_there = |kind: &str| {
        folders.iter().any(|folder| folder.rsplit_once("-v").is_some_and(|(name, _)| name == kind))
    };
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    for input in all
        .iter()
        .flat_map(|artifact| &artifact.manifest.inputs)
        .filter(|input| !is_there(&input.kind))
    {
        *missing.entry(input.kind.as_str()).or_default() += 1;
    }
    for (kind, count) in missing {
        talk.warn(&format!(
            "the store has no folder of kind `{kind}`, and {count} of its artifacts were made of \
             such; the next start makes what it needs again"
        ));
    }
}

/// Artifacts made from unchecked inputs, and those made from these.
fn unverified_artifacts(all: &[Artifact]) -> Vec<&Artifact> {
    let mut named: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    // Each round covers one further stage.
    for _ in Kind::ALL {
        for Artifact { kind, manifest, .. } in all {
            let of_input = || {
                manifest.inputs.iter().any(|input| {
                    named.get(&(input.kind.as_str(), input.key.as_str())).copied().unwrap_or(false)
                })
            };
            let is_unverified = manifest.inputs_verified == Some(false) || of_input();
            named.insert((kind.name(), manifest.key.as_str()), is_unverified);
        }
    }
    all.iter()
        .filter(|artifact| {
            named
                .get(&(artifact.kind.name(), artifact.manifest.key.as_str()))
                .copied()
                .unwrap_or(false)
        })
        .collect()
}
