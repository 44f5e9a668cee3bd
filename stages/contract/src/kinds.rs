//! kinds: for each kind of artifact its files and columns, its invariants, how to write and to view
//! it.
//!
//! promises  `validate` checks everything before an artifact is published, and sizes, schema, first
//!           and last offsets when it is opened
//! never     interprets what a kind means to a device
//!
//! To add a kind: a variant of `Kind` in `kind.rs` with name and format version, a file here with
//! `validate` and the typed reading and writing, a line in `validate` below, a row in
//! ARCHITECTURE.md. A change of schema raises the format version, which starts a new folder in the
//! store; `gc --older-formats` removes the old ones.
pub mod checkpoint;
pub mod csr;
pub mod graph;
pub mod partition;
pub mod permutation;
pub mod plan;
pub mod profile;
pub mod run;

use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Kind, Manifest, NODES_MAX, StageError, manifest::MANIFEST_FILE, regular_file};

/// How much `validate` checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// At every open, cheap: schema, lengths, first and last offsets.
    Open,
    /// Once, before an artifact is published: everything.
    Publish,
}

/// Checks an artifact's directory against its kind.
pub fn validate(
    directory: &Path,
    manifest: &Manifest,
    kind: Kind,
    depth: Depth,
) -> Result<(), StageError> {
    refuse_other_counts(directory, manifest, kind)?;
    match kind {
        Kind::Graph => graph::validate(directory, manifest, depth),
        Kind::Csr => csr::validate(directory, manifest, depth),
        Kind::Profile => profile::validate(directory, manifest, depth),
        Kind::Permutation => permutation::validate(directory, manifest, depth),
        Kind::Partition => partition::validate(directory, manifest, depth),
        Kind::Plan => plan::validate(directory, manifest, depth),
        Kind::Run => run::validate(directory, manifest, depth),
        // Other crates write and read these; here they only have to be present.
        Kind::Cubin => need_file(directory, manifest, "build.json"),
        Kind::Tune => need_file(directory, manifest, "choices.json"),
        Kind::Checkpoint => need_file(directory, manifest, checkpoint::STATE_FILE),
    }
}

/// Numbers of edges, of their entries and of bytes stay far below this.
const COUNT_MOST: u64 = 1 << 56;
/// Classes, columns and graphs have numbers of 32 bits.
const NUMBERED_MOST: u64 = 1 << 32;

/// Refuses counts that no artifact has, so that sums and products of them do not overflow.
fn refuse_other_counts(
    directory: &Path,
    manifest: &Manifest,
    kind: Kind,
) -> Result<(), StageError> {
    let most = |name: &str| match (name, kind) {
        ("nodes", _) => NODES_MAX,
        (name, Kind::Graph)
            if !name.starts_with("edges") && !name.starts_with("feature_entries") =>
        {
            NUMBERED_MOST
        }
        _ => COUNT_MOST,
    };
    match manifest.counts.iter().find(|(name, count)| **count > most(name)) {
        Some((name, count)) => {
            let what =
                format!("expected a count `{name}` of at most {}, found {count}", most(name));
            Err(StageError::damaged(&directory.join(MANIFEST_FILE), what))
        }
        None => Ok(()),
    }
}

/// Refuses an artifact that lacks a file of its kind.
pub(crate) fn need_file(
    directory: &Path,
    manifest: &Manifest,
    name: &str,
) -> Result<(), StageError> {
    if manifest.files.iter().any(|file| file.name == name) {
        return Ok(());
    }
    Err(StageError::damaged(
        &directory.join(name),
        format!("a `{}` must have a file `{name}`", manifest.kind),
    ))
}

/// Whether the manifest lists a file.
pub(crate) fn has_file(manifest: &Manifest, name: &str) -> bool {
    manifest.files.iter().any(|file| file.name == name)
}

/// A count of the manifest; an error where the kind has to state it and does not.
pub(crate) fn need_count(
    directory: &Path,
    manifest: &Manifest,
    name: &str,
) -> Result<u64, StageError> {
    let missing = || {
        StageError::damaged(
            directory,
            format!("the manifest of a `{}` must count `{name}`", manifest.kind),
        )
    };
    manifest.counts.get(name).copied().ok_or_else(missing)
}

/// Reads a JSON page of an artifact.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, StageError> {
    let bytes = regular_file::read(path, u64::MAX - 1)
        .map_err(|error| StageError::io("read", path, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| {
        StageError::damaged(path, format!("not the JSON page that was expected: {error}"))
    })
}

/// Writes a JSON page of an artifact.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StageError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| StageError::defect(error.to_string()))?;
    text.push('\n');
    std::fs::write(path, text).map_err(|error| StageError::io("write", path, &error))
}

/// Refuses a length other than the expected one.
pub(crate) fn expect_length(
    path: &Path,
    what: &str,
    expected: u64,
    found: u64,
) -> Result<(), StageError> {
    if expected == found {
        return Ok(());
    }
    Err(StageError::damaged(path, format!("expected {expected} {what}, found {found}")))
}
