//! What every fetched file was when it came: size and digest, in `.digests.json` beside the files.
//!
//! promises  a file is recorded once and compared ever after; a changed one is named with what to do
//! promises  the record is written beside and renamed
//! never     records a file that nobody fetched
use std::{collections::BTreeMap, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{CatalogError, seen};

/// Its name in the folder of the set.
pub const RECORD_FILE: &str = ".digests.json";

/// What a file was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Its size.
    pub bytes: u64,
    /// Its BLAKE3 digest in hexadecimal.
    pub blake3: String,
    /// Where it came from, or that it was put there by hand.
    pub from: String,
}

type Record = BTreeMap<String, Recorded>;

/// The record of a folder; empty if there is none.
fn read(folder: &Path) -> Result<Record, CatalogError> {
    let path = folder.join(RECORD_FILE);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            CatalogError::new(format!("the record of digests is not valid: {error}"))
                .at(path.display())
                .hint(format!("remove it, and fetch again:  rm {}", path.display()))
        }),
        Err(_) => Ok(Record::new()),
    }
}

/// The name of a file in the record of its folder.
fn name(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// Compares a file whose digest is known with the record of its set's folder; what is not recorded is sound.
pub fn check(folder: &Path, path: &Path, digest: &str) -> Result<(), CatalogError> {
    match read(folder)?.get(&name(folder, path)) {
        Some(recorded) if recorded.blake3 != digest => {
            let bytes = fs::metadata(path).map_or(0, |facts| facts.len());
            let what = format!(
                "the file has changed since it was recorded: expected {} bytes with the digest {}, found {bytes} with {}",
                recorded.bytes,
                short(&recorded.blake3),
                short(digest)
            );
            Err(CatalogError::new(what).at(path.display()).hint(format!(
                "to have the old one again:  rm {0}  and  warploom data fetch {1};  to take the new one:  rm {2}",
                path.display(),
                folder.file_name().unwrap_or_default().to_string_lossy(),
                folder.join(RECORD_FILE).display()
            )))
        }
        _ => Ok(()),
    }
}

/// Compares a file with the record, or records it.
pub fn settle(folder: &Path, path: &Path, from: &str) -> Result<(), CatalogError> {
    let digest = seen::digest(path, None, true).map_err(|error| CatalogError::new(format!("cannot read: {error}")).at(path.display()))?;
    check(folder, path, &digest)?;
    let mut record = read(folder)?;
    let bytes = fs::metadata(path).map_or(0, |facts| facts.len());
    if record.contains_key(&name(folder, path)) {
        return Ok(());
    }
    record.insert(name(folder, path), Recorded { bytes, blake3: digest, from: from.to_owned() });
    write(folder, &record)
        .map_err(|error| CatalogError::new(format!("cannot record the digest of `{}`: {error}", path.display())).at(folder.join(RECORD_FILE).display()))
}

fn write(folder: &Path, record: &Record) -> io::Result<()> {
    let beside = folder.join(format!("{RECORD_FILE}.{}.tmp", std::process::id()));
    let written = fs::write(&beside, serde_json::to_vec_pretty(record)?).and_then(|()| fs::rename(&beside, folder.join(RECORD_FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn short(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_named_and_a_kept_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw/edges.csv");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "0,1\n").unwrap();
        settle(folder.path(), &path, "https://x.y/z").unwrap();
        settle(folder.path(), &path, "another place").unwrap();
        assert_eq!(read(folder.path()).unwrap()["raw/edges.csv"].from, "https://x.y/z");
        fs::write(&path, "0,2\n").unwrap();
        let error = settle(folder.path(), &path, "https://x.y/z").unwrap_err();
        assert!(error.what.contains("has changed") && error.what.contains("4 bytes") && error.place.unwrap().ends_with("raw/edges.csv"), "{}", error.what);
        assert!(error.hint.unwrap().contains("data fetch"));
        fs::write(&path, "0,1\n").unwrap();
        settle(folder.path(), &path, "").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_record_of_nonsense_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RECORD_FILE), "nonsense").unwrap();
        let error = check(folder.path(), &folder.path().join("a"), "00").unwrap_err();
        assert!(error.to_string().contains(RECORD_FILE) && error.to_string().contains("rm "), "{error}");
    }
}
