//! digest_cache: cache of digests in this process: of files that it sealed or read completely.
//!
//! promises  a process computes a file's digest once, as long as inode, size and times stay the
//!           same
//! never     trusts a path: digests belong to inodes; outlives the process
//! limits    later disk errors are found by the next process, or by `store verify`, which reads all
//!           files
use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, MutexGuard, OnceLock},
};

use crate::{Digest, eintr::retry, regular_file};

/// The metadata that changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stamp {
    inode: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn from_metadata(facts: &fs::Metadata) -> Self {
        Stamp {
            inode: (facts.dev(), facts.ino()),
            bytes: facts.len(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// The digest of a file, cached or computed now; also returns whether it was computed.
pub(crate) fn digest(path: &Path) -> io::Result<(Digest, bool)> {
    let file = regular_file::open(path)?;
    let known = known_digests().get(&Stamp::from_metadata(&file.metadata()?)).cloned();
    match known {
        Some(digest) => Ok((digest, false)),
        None => read(file).map(|digest| (digest, true)),
    }
}

/// Computes the digest of the bytes on disk.
pub(crate) fn recompute_digest(path: &Path) -> io::Result<Digest> {
    read(regular_file::open(path)?)
}

fn read(file: fs::File) -> io::Result<Digest> {
    let before = Stamp::from_metadata(&file.metadata()?);
    let digest = Digest::from_open_file(&file)?;
    // The digest of a file that changed while it was read is not cached.
    if Stamp::from_metadata(&file.metadata()?) == before {
        known_digests().insert(before, digest.clone());
    }
    Ok(digest)
}

/// Creates a hard link, unless it exists. A link changes the inode's change time, but no byte: a
/// cached digest stays valid.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    let before = Stamp::from_metadata(&retry(|| fs::metadata(from))?);
    // If a network file system repeats the call, the second one fails because the first one created
    // the link.
    let is_made = || {
        retry(|| fs::symlink_metadata(to))
            .is_ok_and(|facts| (facts.dev(), facts.ino()) == before.inode)
    };
    retry(|| fs::hard_link(from, to))
        .or_else(|error| if is_made() { Ok(()) } else { Err(error) })?;
    let after = Stamp::from_metadata(&retry(|| fs::metadata(to))?);
    let mut known = known_digests();
    if after == (Stamp { changed: after.changed, ..before })
        && let Some(digest) = known.get(&before).cloned()
    {
        known.insert(after, digest);
    }
    Ok(())
}

fn known_digests() -> MutexGuard<'static, HashMap<Stamp, Digest>> {
    static KNOWN: OnceLock<Mutex<HashMap<Stamp, Digest>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_digested_once_and_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, second) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "one").unwrap();
        assert_eq!(digest(&path).unwrap(), (Digest::from_bytes(b"one"), true));
        assert_eq!(digest(&path).unwrap(), (Digest::from_bytes(b"one"), false));
        link(&path, &second).unwrap();
        assert_eq!((digest(&path).unwrap().1, digest(&second).unwrap().1), (false, false));
        fs::write(&path, "three").unwrap();
        assert_eq!(digest(&second).unwrap(), (Digest::from_bytes(b"three"), true));
        // Another file under the same name.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "three").unwrap();
        assert_eq!(digest(&path).unwrap(), (Digest::from_bytes(b"three"), true));
    }
}
