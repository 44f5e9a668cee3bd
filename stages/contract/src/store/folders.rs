//! Folders of a store as they stand: what they hold, how large and how old it is.
//!
//! promises  what another process removes meanwhile is not there, and no fault
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{StageError, eintr::retry};

/// What a folder holds, sorted; nothing if it is not there.
pub(super) fn entries(directory: &Path) -> Result<Vec<PathBuf>, StageError> {
    let list = || {
        fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<Vec<PathBuf>>>()
    };
    let mut paths = present(retry(list), "list", directory)?.unwrap_or_default();
    paths.sort();
    Ok(paths)
}

/// How long ago it was changed.
pub(super) fn age(path: &Path) -> Option<Duration> {
    retry(|| fs::metadata(path)?.modified()).ok()?.elapsed().ok()
}

/// Bytes of a file, or of all that a folder holds.
pub(super) fn size_of(path: &Path) -> Result<u64, StageError> {
    match present(retry(|| fs::symlink_metadata(path)), "look at", path)? {
        Some(facts) if facts.is_dir() => entries(path)?.iter().map(|path| size_of(path)).sum(),
        facts => Ok(facts.map_or(0, |facts| facts.len())),
    }
}

/// None of what another process removed meanwhile; every other fault goes up.
pub(super) fn present<T>(
    found: io::Result<T>,
    doing: &str,
    path: &Path,
) -> Result<Option<T>, StageError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(StageError::io(doing, path, &error)),
    }
}
