//! Folders of a store as they stand: what they hold, how large and how old it is.
//!
//! promises  what another process removes meanwhile is not there, and no fault
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::fs::{Timespec, Timestamps, UTIME_NOW};

use super::writer;
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

/// The time of the clock that stamps files of a folder: that of a file which is written there now.
/// Hosts that share a store compare no clocks of their own.
pub(super) fn folder_time(folder: &Path) -> Option<SystemTime> {
    let probe = folder.join(writer::unique_name(".tmp-", "clock"));
    let time = fs::File::create_new(&probe)
        .and_then(|file| touch(&file).and_then(|()| file.metadata()?.modified()));
    // `gc` removes what stays.
    let _left = retry(|| fs::remove_file(&probe));
    time.ok()
}

/// Gives a file the time of the clock that stamps it.
pub(super) fn touch(file: &fs::File) -> io::Result<()> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    Ok(rustix::fs::futimens(file, &Timestamps { last_access: now, last_modification: now })?)
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
