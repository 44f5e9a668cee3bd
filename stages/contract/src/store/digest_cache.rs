//! Digests that this process knows: of files that it sealed, and of files that it read whole.
//!
//! promises  a process digests a file once, as long as the file's inode, size and times stay the
//!           same
//! never     trusts a path: what is known belongs to an inode; keeps anything beyond the process
//! limits    bits that a disk loses after the file was digested are found by the next process, or
//!           by `store verify`, which reads all
use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, MutexGuard, OnceLock},
};

use crate::{Digest, eintr::retry, regular_file};

/// What changes when a file does.
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

/// The digest of a file: the one that is known, else made now. Says whether it was made now.
pub(crate) fn digest(path: &Path) -> io::Result<(Digest, bool)> {
    let file = regular_file::open(path)?;
    let known = known_digests().get(&Stamp::from_metadata(&file.metadata()?)).cloned();
    match known {
        Some(digest) => Ok((digest, false)),
        None => read(file).map(|digest| (digest, true)),
    }
}

/// The digest of a file's bytes as they are on disk now.
pub(crate) fn recompute_digest(path: &Path) -> io::Result<Digest> {
    read(regular_file::open(path)?)
}

fn read(mut file: fs::File) -> io::Result<Digest> {
    let before = Stamp::from_metadata(&file.metadata()?);
    let digest = Digest::from_open_file(&mut file)?;
    // A file that changed under the reader is not known.
    if Stamp::from_metadata(&file.metadata()?) == before {
        known_digests().insert(before, digest.clone());
    }
    Ok(digest)
}

/// Gives a file a second name, or finds that it has it. A link changes the time of the inode's last
/// change, but no byte: what was known stays known.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    let before = Stamp::from_metadata(&retry(|| fs::metadata(from))?);
    // A link that a network file system sends again answers that the name is taken, though the
    // first one made it.
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
