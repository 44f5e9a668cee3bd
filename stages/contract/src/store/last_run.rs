//! The run that was built or found last: of the whole store, and of each pipeline file.
//!
//! promises  a note is one key, written beside and renamed: a reader sees a whole key or none, and
//!           of two writers the later one stands
//! never     fails because the store is read-only; says whether the run is still there
use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{Store, drafts, renames, writer};
use crate::{Digest, Key};

/// Name of the note of the whole store, and of drafts of notes.
const OF_STORE: &str = "run";
/// Digits of a note's name.
const NAME_DIGITS: usize = 32;

impl Store {
    /// Notes that a pipeline file's run was built or found now; silently not at all in a store that
    /// cannot be written.
    pub fn note_last_run(&self, file: &Path, key: &Key) {
        for note in [self.note(None), self.note(Some(file))] {
            if read(&note).as_ref() != Some(key) {
                let _unimportant = write(&note, key);
            }
        }
    }

    /// The run that was noted last, of a pipeline file or of the whole store; of several stores the
    /// first that has a note decides.
    pub fn last_run(&self, file: Option<&Path>) -> Option<Key> {
        self.each().iter().find_map(|store| read(&store.note(file)))
    }

    fn note(&self, file: Option<&Path>) -> PathBuf {
        let of_file = |file: &Path| {
            let path = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
            Digest::from_bytes(path.as_os_str().as_encoded_bytes()).as_str()[..NAME_DIGITS]
                .to_owned()
        };
        self.root().join("last").join(file.map_or_else(|| OF_STORE.to_owned(), of_file))
    }
}

fn read(note: &Path) -> Option<Key> {
    Key::parse(fs::read_to_string(note).ok()?.trim_end())
}

fn write(note: &Path, key: &Key) -> std::io::Result<()> {
    let folder = note.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    drafts::sweep(folder, OF_STORE);
    let beside = folder.join(writer::unique_name(".tmp-", OF_STORE));
    let written =
        fs::write(&beside, format!("{key}\n")).and_then(|()| renames::rename(&beside, note));
    if written.is_err() {
        let _gone = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(letter: &str) -> Key {
        Key::parse(&letter.repeat(32)).unwrap()
    }

    #[test]
    fn the_later_note_stands_for_the_store_and_each_file_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("store"));
        let (one, other) = (folder.path().join("a.yaml"), folder.path().join("b.yaml"));
        assert_eq!((store.last_run(None), store.last_run(Some(&one))), (None, None));
        store.note_last_run(&one, &key("1"));
        store.note_last_run(&other, &key("2"));
        assert_eq!(
            (store.last_run(None), store.last_run(Some(&one)), store.last_run(Some(&other))),
            (Some(key("2")), Some(key("1")), Some(key("2")))
        );
        store.note_last_run(&one, &key("1"));
        assert_eq!(store.last_run(None), Some(key("1")));
        // Nonsense is no note, and nothing is left beside.
        fs::write(folder.path().join("store/last/run"), "nonsense").unwrap();
        assert_eq!(store.last_run(None), None);
        assert_eq!(fs::read_dir(folder.path().join("store/last")).unwrap().count(), 3);
    }

    #[test]
    fn a_store_that_cannot_be_written_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("store"), "a file").unwrap();
        let store = Store::new(folder.path().join("store"));
        store.note_last_run(Path::new("a.yaml"), &key("1"));
        assert_eq!(store.last_run(None), None);
    }
}
