//! checkpoint: the state of a run that is not over, under the run's key.
//!
//! files     `<store>/checkpoint-v1/<run key>/step-<number>/`: `state.safetensors` and the manifest
//! promises  a step under its final name is complete; the two newest are kept; digests are compared
//!           when steps are listed, and a save replaces a damaged step of the same number
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Digest, ErrorKind, Key, KeyDocument, Kind, Manifest, Provenance, StageError, Store,
    eintr::retry,
    manifest::{FileEntry, MANIFEST_FILE, Producer, utc_timestamp},
    store::{drafts, sync_directory},
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

/// Saves a step of a run: written beside, synced, renamed. Older steps than the two newest are
/// removed.
pub fn save(
    store: &Store,
    document: &KeyDocument,
    provenance: Provenance,
    number: u64,
    state: &[u8],
) -> Result<(), StageError> {
    let folder = store.path(Kind::Checkpoint, &document.key());
    let target = folder.join(format!("step-{number:012}"));
    let wrong = |error: std::io::Error| StageError::io("save a checkpoint", &target, &error);
    retry(|| fs::create_dir_all(&folder)).map_err(wrong)?;
    let draft = drafts::begin(&store.kind_directory(Kind::Checkpoint), document.key().as_str())
        .map_err(wrong)?;
    let file = FileEntry {
        name: STATE_FILE.to_owned(),
        bytes: state.len() as u64,
        blake3: Digest::from_bytes(state),
    };
    let manifest = Manifest {
        kind: Kind::Checkpoint.name().to_owned(),
        format: Kind::Checkpoint.version(),
        key: document.key(),
        key_document: document.clone(),
        producer: Producer { stage: document.stage.clone(), version: document.version },
        inputs: Vec::new(),
        inputs_verified: None,
        digest: Digest::from_named([(file.name.as_str(), &file.blake3)]),
        files: vec![file],
        counts: BTreeMap::from([("steps".to_owned(), number)]),
        facts: BTreeMap::new(),
        provenance,
        made_up: Vec::new(),
        record: None,
        created: utc_timestamp(),
        self_digest: None,
    };
    let written = write_synced(&draft.join(STATE_FILE), state)
        .and_then(|()| write_synced(&draft.join(MANIFEST_FILE), manifest.to_text().as_bytes()))
        .map_err(wrong)
        .and_then(|()| sync_directory(&draft))
        .and_then(|()| match is_whole(&target, &document.key()) {
            Ok(true) => Ok(()),
            _ => replace_step(store, &draft, &target),
        })
        .and_then(|()| sync_directory(&folder));
    drafts::discard(&draft);
    written?;
    for step in steps(store, &document.key()).iter().rev().skip(KEPT) {
        if let Some(old) = step.state.parent() {
            // What cannot be removed only takes room until the run is over.
            let _next_time = store.trash(old);
        }
    }
    Ok(())
}

/// Gives a draft its name; a damaged step of that name makes way.
fn replace_step(store: &Store, draft: &Path, target: &Path) -> Result<(), StageError> {
    if target.exists() {
        store.trash(target)?;
    }
    drafts::give_name(draft, target)
        .map_err(|error| StageError::io("save a checkpoint", target, &error))
}

/// Saved steps of a run whose manifest and digest hold, oldest first; none where they cannot be
/// looked at now.
pub fn steps(store: &Store, key: &Key) -> Vec<Step> {
    read_steps(store, key).map(|(steps, _)| steps).unwrap_or_default()
}

/// The same, and what is wrong with those that are damaged. A fault of the file system is an error:
/// a run that takes it for "nothing was saved" begins anew.
pub fn read_steps(store: &Store, key: &Key) -> Result<(Vec<Step>, Vec<StageError>), StageError> {
    let folder = store.path(Kind::Checkpoint, key);
    let (mut steps, mut damaged) = (Vec::new(), Vec::new());
    let list = || {
        fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<PathBuf>>>()
    };
    let paths = match retry(list) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((steps, damaged)),
        listed => listed.map_err(|error| StageError::io("list saved states", &folder, &error))?,
    };
    for path in paths {
        let number =
            |path: &Path| path.file_name()?.to_str()?.strip_prefix("step-")?.parse::<u64>().ok();
        let Some(number) = number(&path) else { continue };
        match is_whole(&path, key) {
            Ok(true) => steps.push(Step { number, state: path.join(STATE_FILE) }),
            Ok(false) => {}
            Err(error) if error.kind == ErrorKind::Damaged => damaged.push(error),
            Err(error) => return Err(error),
        }
    }
    steps.sort_by_key(|step| step.number);
    Ok((steps, damaged))
}

/// Whether a step is there whole; another start may have removed it as an old one.
fn is_whole(path: &Path, key: &Key) -> Result<bool, StageError> {
    let Some(manifest) = Manifest::read(path, Kind::Checkpoint)? else { return Ok(false) };
    manifest.check_digests(path)?;
    match manifest.key == *key {
        true => Ok(true),
        false => Err(StageError::damaged(
            &path.join(MANIFEST_FILE),
            format!("expected a state of run {key}, found one of {}", manifest.key),
        )),
    }
}

/// Removes all steps of a run: it is over.
pub fn remove(store: &Store, key: &Key) {
    // Of a run that is in the store they are of no use to anybody; `gc` removes what stays.
    let _next_gc = store.trash(&store.path(Kind::Checkpoint, key));
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_step_is_told_and_the_next_save_of_it_replaces_it() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::new(place.path());
        let document = KeyDocument::new("run", 1, &[Kind::Run], serde_json::json!({}));
        let save = |number| save(&store, &document, Provenance::Real, number, b"state").unwrap();
        let numbers = || -> (Vec<u64>, usize) {
            let (steps, damaged) = read_steps(&store, &document.key()).unwrap();
            (steps.iter().map(|step| step.number).collect(), damaged.len())
        };
        [2, 4, 6].into_iter().for_each(save);
        assert_eq!(numbers(), (vec![4, 6], 0), "the two newest are kept");
        let newest = steps(&store, &document.key()).pop().unwrap();
        fs::write(&newest.state, b"stare").unwrap();
        assert_eq!(numbers(), (vec![4], 1));
        save(6);
        assert_eq!(numbers(), (vec![4, 6], 0));
        // Again, over a whole one.
        save(6);
        assert_eq!(numbers(), (vec![4, 6], 0));
    }
}
