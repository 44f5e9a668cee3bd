//! BLAKE3 digests of bytes and files.
//!
//! promises  the same digest for any number of threads
//! never     follows a name into something that is not a file
use std::{fmt, fs::File, io, path::Path};

use serde::{Deserialize, Serialize};

/// A BLAKE3 digest, 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Digest of bytes at hand.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(blake3::hash(bytes).to_hex().to_string())
    }

    /// Digest of a file's contents; large files are read in parallel.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let length = File::open(path)?.metadata()?.len();
        let mut hasher = blake3::Hasher::new();
        if length < 1 << 20 {
            hasher.update_reader(File::open(path)?)?;
        } else {
            hasher.update_mmap_rayon(path)?;
        }
        Ok(Digest(hasher.finalize().to_hex().to_string()))
    }

    /// Digest of named digests, in the order of their names: an artifact's input digest.
    pub fn of_named<'a>(parts: impl IntoIterator<Item = (&'a str, &'a Digest)>) -> Self {
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort();
        let mut hasher = blake3::Hasher::new();
        for (name, digest) in parts {
            hasher.update(name.as_bytes());
            hasher.update(b"\0");
            hasher.update(digest.0.as_bytes());
            hasher.update(b"\n");
        }
        Digest(hasher.finalize().to_hex().to_string())
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_parts_does_not_matter_but_names_do() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        assert_eq!(Digest::of_named([("x", &a), ("y", &b)]), Digest::of_named([("y", &b), ("x", &a)]));
        assert_ne!(Digest::of_named([("x", &a), ("y", &b)]), Digest::of_named([("y", &a), ("x", &b)]));
    }

    #[test]
    fn a_file_has_the_digest_of_its_bytes_small_or_large() {
        let folder = tempfile::tempdir().unwrap();
        for size in [0, 10, (1 << 20) + 3] {
            let bytes = vec![7u8; size];
            let path = folder.path().join("f");
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Digest::of_file(&path).unwrap(), Digest::of(&bytes));
        }
    }
}
