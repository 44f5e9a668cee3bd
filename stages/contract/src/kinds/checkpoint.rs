//! checkpoint: the state of a run that is not over, under the run's key.
//!
//! files     `<store>/checkpoint-v1/<run key>/step-<number>/`: `state.safetensors` and the manifest
//! promises  a step under its final name is complete; the two newest are kept
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Digest, Key, KeyDocument, Kind, Manifest, Provenance, StageError, Store,
    manifest::{FileEntry, MANIFEST_FILE, Producer, now_text},
    store::drafts,
};

/// The state.
pub const STATE_FILE: &str = "state.safetensors";
const KEPT: usize = 2;

/// A saved step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Epochs or supersteps done.
    pub number: u64,
    /// Its state file.
    pub state: PathBuf,
}

/// Saves a step of a run: written beside, synced, renamed. Older steps than the two newest are removed.
pub fn save(store: &Store, document: &KeyDocument, provenance: Provenance, number: u64, state: &[u8]) -> Result<(), StageError> {
    let folder = store.path(Kind::Checkpoint, &document.key());
    let target = folder.join(format!("step-{number:012}"));
    let draft = store.kind_directory(Kind::Checkpoint).join(drafts::name(".tmp-", document.key().as_str()));
    let wrong = |error: std::io::Error| StageError::io("save a checkpoint", &target, &error);
    fs::create_dir_all(&folder).map_err(wrong)?;
    fs::create_dir(&draft).map_err(wrong)?;
    let file = FileEntry { name: STATE_FILE.to_owned(), bytes: state.len() as u64, blake3: Digest::of(state) };
    let manifest = Manifest {
        kind: Kind::Checkpoint.name().to_owned(),
        format: Kind::Checkpoint.version(),
        key: document.key(),
        key_document: document.clone(),
        producer: Producer { stage: document.stage.clone(), version: document.version },
        inputs: Vec::new(),
        inputs_verified: None,
        digest: Digest::of_named([(file.name.as_str(), &file.blake3)]),
        files: vec![file],
        counts: BTreeMap::from([("steps".to_owned(), number)]),
        facts: BTreeMap::new(),
        provenance,
        made_up: Vec::new(),
        created: now_text(),
        self_digest: None,
    };
    let written = write_synced(&draft.join(STATE_FILE), state)
        .and_then(|()| write_synced(&draft.join(MANIFEST_FILE), manifest.to_text().as_bytes()))
        .and_then(|()| fs::File::open(&draft)?.sync_all())
        .and_then(|()| if target.exists() { fs::remove_dir_all(&draft) } else { fs::rename(&draft, &target) })
        .and_then(|()| fs::File::open(&folder)?.sync_all());
    if let Err(error) = written {
        let _abandoned = fs::remove_dir_all(&draft);
        return Err(wrong(error));
    }
    for step in steps(store, &document.key()).iter().rev().skip(KEPT) {
        if let Some(old) = step.state.parent() {
            let _next_time = store.trash(old);
        }
    }
    Ok(())
}

/// Saved steps of a run whose manifest and digest hold, oldest first.
pub fn steps(store: &Store, key: &Key) -> Vec<Step> {
    let Ok(entries) = fs::read_dir(store.path(Kind::Checkpoint, key)) else { return Vec::new() };
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix("step-")?.parse::<u64>().ok();
    let whole = |path: &Path| {
        let manifest = Manifest::read(path, Kind::Checkpoint).ok().flatten()?;
        (manifest.key == *key && manifest.check_digests(path).is_ok()).then_some(())
    };
    let mut steps: Vec<Step> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter_map(|path| {
            whole(&path)?;
            Some(Step { number: number(&path)?, state: path.join(STATE_FILE) })
        })
        .collect();
    steps.sort_by_key(|step| step.number);
    steps
}

/// Removes all steps of a run: it is over.
pub fn remove(store: &Store, key: &Key) {
    let _next_gc = store.trash(&store.path(Kind::Checkpoint, key));
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}
