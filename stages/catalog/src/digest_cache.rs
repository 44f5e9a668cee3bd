//! digest_cache: digests of raw files, cached so that a cache hit reads no raw data.
//!
//! promises  the BLAKE3 digest of the file's bytes; a file whose size, time or inode differs from
//!           the cached ones is read again
//! promises  a cached digest is written to a temporary file and renamed; two processes may do so at
//!           once
//! never     fails because the cache folder is missing, read-only or holds invalid files
//! limits    a file that is rewritten in place with the same size and the same time to the
//!           nanosecond is not noticed, unless `reread` is set
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The cached digest of a file.
#[derive(PartialEq, Serialize, Deserialize)]
struct CachedDigest {
    path: PathBuf,
    stamp: Stamp,
    digest: String,
}

/// The metadata that changes when a file does.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    modified_ns: i128,
    inode: u64,
}

/// The BLAKE3 digest of a file in hexadecimal; from `seen_dir` if the file is unchanged and
/// `reread` is false.
pub fn digest(path: &Path, seen_dir: Option<&Path>, reread: bool) -> io::Result<String> {
    let path = path.canonicalize()?;
    let before = stamp(&path)?;
    refuse_irregular(&path)?;
    let memory = seen_dir.map(|folder| {
        folder.join(blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex().as_str())
    });
    if let (Some(memory), false) = (&memory, reread)
        && let Some(digest) = read_cached(memory, &path, before)
    {
        return Ok(digest);
    }
    // Read, not mapped: pages of a map count as memory, and a file that shrinks under one ends the
    // program.
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(&path)?)?;
    if hasher.count() < before.size {
        return Err(io::Error::other(format!(
            "the file has {} bytes, and reading it ended after {}",
            before.size,
            hasher.count()
        )));
    }
    let digest = hasher.finalize().to_hex().to_string();
    // The digest of a file that changed while it was read is not cached.
    if let Some(memory) = memory
        && stamp(&path)? == before
    {
        // A file without a cached digest is read again.
        let _ =
            write_cached(&memory, &CachedDigest { path, stamp: before, digest: digest.clone() });
    }
    Ok(digest)
}

/// Refuses a device or a FIFO, which may never end or never have a writer.
fn refuse_irregular(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(io::Error::other("expected a regular file, found a folder")),
        _ => Err(io::Error::other("expected a regular file, found a device or a FIFO")),
    }
}

/// A folder below `dir` for the unpacked files of this archive, as long as the archive stays the
/// same.
pub(crate) fn unpack_folder(dir: &Path, archive: &Path, inside: &str) -> io::Result<PathBuf> {
    let path = archive.canonicalize()?;
    let stamp = stamp(&path)?;
    let name = blake3::hash(serde_json::to_string(&(&path, stamp, inside))?.as_bytes());
    Ok(dir.join(&name.to_hex()[..32]))
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let file = fs::metadata(path)?;
    Ok(Stamp {
        size: file.size(),
        modified_ns: i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec()),
        inode: file.ino(),
    })
}

fn read_cached(memory: &Path, path: &Path, stamp: Stamp) -> Option<String> {
    let text = memory.is_file().then(|| fs::read(memory).ok()).flatten()?;
    let seen: CachedDigest = serde_json::from_slice(&text).ok()?;
    let sound =
        seen.path == path && seen.stamp == stamp && blake3::Hash::from_hex(&seen.digest).is_ok();
    sound.then_some(seen.digest)
}

fn write_cached(memory: &Path, seen: &CachedDigest) -> io::Result<()> {
    let folder = memory.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let beside = memory.with_extension(format!("{}.tmp", std::process::id()));
    let written =
        fs::write(&beside, serde_json::to_vec(seen)?).and_then(|()| fs::rename(&beside, memory));
    if written.is_err() {
        // `warploom store gc` removes what stays.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bytes: &[u8]) -> String {
        blake3::hash(bytes).to_hex().to_string()
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let error = digest(Path::new("/dev/zero"), None, false).unwrap_err();
        assert!(error.to_string().contains("expected a regular file"), "{error}");
    }

    #[test]
    fn an_unchanged_file_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let (file, seen) = (dir.path().join("a"), dir.path().join("seen"));
        fs::write(&file, b"one").unwrap();
        assert_eq!(digest(&file, Some(&seen), false).unwrap(), hash(b"one"));
        let memory = fs::read_dir(&seen).unwrap().next().unwrap().unwrap().path();
        let forged = fs::read_to_string(&memory).unwrap().replace(&hash(b"one"), &hash(b"forged"));
        fs::write(&memory, forged).unwrap();
        assert_eq!(digest(&file, Some(&seen), false).unwrap(), hash(b"forged"));
        assert_eq!(digest(&file, Some(&seen), true).unwrap(), hash(b"one"));
        assert_eq!(digest(&file, Some(&seen), false).unwrap(), hash(b"one"));
    }

    #[test]
    fn a_changed_file_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let (file, seen) = (dir.path().join("a"), dir.path().join("seen"));
        for text in ["one", "three", "two"] {
            fs::write(dir.path().join("b"), text).unwrap();
            fs::rename(dir.path().join("b"), &file).unwrap();
            assert_eq!(digest(&file, Some(&seen), false).unwrap(), hash(text.as_bytes()));
        }
    }

    #[test]
    fn a_useless_folder_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, b"one").unwrap();
        assert_eq!(digest(&file, None, false).unwrap(), hash(b"one"));
        assert_eq!(digest(&file, Some(&file), false).unwrap(), hash(b"one"));
        let seen = dir.path().join("seen");
        digest(&file, Some(&seen), false).unwrap();
        let memory = fs::read_dir(&seen).unwrap().next().unwrap().unwrap().path();
        fs::write(&memory, "nonsense").unwrap();
        assert_eq!(digest(&file, Some(&seen), false).unwrap(), hash(b"one"));
        assert!(digest(&dir.path().join("none"), Some(&seen), false).is_err());
        assert!(digest(dir.path(), Some(&seen), false).is_err());
    }
}
