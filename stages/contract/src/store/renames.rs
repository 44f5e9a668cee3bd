//! renames: renaming on file systems that lose replies, as NFS does: the server did what was asked
//! for, and the second try of the client finds the old name gone or the new one taken.
//!
//! promises  neither a rename that was done is reported as failed, nor a folder that was made
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use crate::eintr::retry;

/// Renames a file or folder.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let identity = |path: &Path| {
        retry(|| fs::symlink_metadata(path)).map(|facts| (facts.dev(), facts.ino())).ok()
    };
    let before = identity(from);
    retry(|| fs::rename(from, to)).or_else(|error| {
        // Only what was renamed has its identity under the other name.
        let is_done = before.is_some() && identity(to) == before && identity(from).is_none();
        if is_done { Ok(()) } else { Err(error) }
    })
}

/// Makes a folder whose name no other process uses: one that is there was made by the first try.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    retry(|| fs::create_dir(path)).or_else(|error| {
        let is_made = error.kind() == io::ErrorKind::AlreadyExists && path.is_dir();
        if is_made { Ok(()) } else { Err(error) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_renamed_counts_as_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, none] = ["one", "other", "none"].map(|name| folder.path().join(name));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("x"), "").unwrap();
        assert!(rename(&one, &other).is_err(), "another folder has the name");
        assert_eq!(rename(&none, &other).unwrap_err().kind(), io::ErrorKind::NotFound);
        rename(&other, &none).unwrap();
        assert!(none.join("x").exists() && !other.exists());
        make_folder(&other).unwrap();
        make_folder(&other).unwrap();
    }
}
