//! digest: BLAKE3 digests of bytes and files.
//!
//! promises  the same digest for any number of threads
//! never     reads a path that is not a regular file
//! limits    8 MiB for each file that is read at the same time
use std::{fmt, fs::File, io, os::unix::fs::FileExt, path::Path};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::regular_file::{self, Refusal};

/// Bytes read at once.
const BLOCK_BYTES: usize = 8 << 20;
/// Bytes that one thread reads.
const PIECE_BYTES: usize = 512 << 10;

/// A BLAKE3 digest, 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest(String);

/// Digits in a digest.
const DIGEST_DIGITS: usize = 64;

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if is_hexadecimal(&text, DIGEST_DIGITS) {
            Ok(Digest(text))
        } else {
            Err(hexadecimal_error(&text, "digest", DIGEST_DIGITS))
        }
    }
}

/// Whether a text is `digits` hexadecimal digits in lower case.
pub(crate) fn is_hexadecimal(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

pub(crate) fn hexadecimal_error(text: &str, what: &str, digits: usize) -> String {
    let start: String = text.chars().take(digits).collect();
    format!("expected a {what} of {digits} hexadecimal digits, found `{}`", start.escape_debug())
}

impl Digest {
    /// Digest of bytes in memory.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Digest(blake3::hash(bytes).to_hex().to_string())
    }

    /// Digest of a file's contents, read block by block: a file that changes meanwhile cannot crash
    /// the program, as a mapped one could, and read pages do not count as its memory. Threads share
    /// a block.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        Digest::from_open_file(&regular_file::open(path)?)
    }

    /// `from_file` for an open file. A file that ends before its size, as on a broken network, is
    /// an error.
    pub fn from_open_file(file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Digest::from_bytes_of(file, length)
    }

    fn from_bytes_of(file: &File, length: u64) -> io::Result<Self> {
        let mut block = vec![0; BLOCK_BYTES.min(length as usize).max(1)];
        let mut hasher = blake3::Hasher::new();
        let mut read = 0;
        while read < length {
            let block = &mut block[..(length - read).min(BLOCK_BYTES as u64) as usize];
            // Copies out of the cache of files take as long as the digest.
            let pieces = block.par_chunks_mut(PIECE_BYTES).enumerate();
            pieces.try_for_each(|(number, piece)| {
                let from = read + (number * PIECE_BYTES) as u64;
                let filled = read_piece(file, piece, from)?;
                if filled < piece.len() {
                    return Err(Refusal::CutShort(from + filled as u64, length).into());
                }
                Ok::<(), io::Error>(())
            })?;
            hasher.update_rayon(block);
            read += block.len() as u64;
        }
        Ok(Digest(hasher.finalize().to_hex().to_string()))
    }

    /// Digest of (name, digest) pairs in name order: an artifact's input digest.
    pub fn from_named<'a>(parts: impl IntoIterator<Item = (&'a str, &'a Digest)>) -> Self {
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

/// Reads a piece of a file; returns how many bytes there are.
fn read_piece(file: &File, piece: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read_at(&mut piece[filled..], from + filled as u64) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
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
        let (a, b) = (Digest::from_bytes(b"a"), Digest::from_bytes(b"b"));
        assert_eq!(
            Digest::from_named([("x", &a), ("y", &b)]),
            Digest::from_named([("y", &b), ("x", &a)])
        );
        assert_ne!(
            Digest::from_named([("x", &a), ("y", &b)]),
            Digest::from_named([("y", &a), ("x", &b)])
        );
    }

    #[test]
    fn a_file_has_the_digest_of_its_bytes_small_or_large() {
        let folder = tempfile::tempdir().unwrap();
        for size in [0, 10, BLOCK_BYTES, 2 * BLOCK_BYTES + 3] {
            let bytes = vec![7u8; size];
            let path = folder.path().join("f");
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(Digest::from_file(&path).unwrap(), Digest::from_bytes(&bytes));
        }
    }

    #[test]
    fn a_text_that_is_no_digest_or_key_is_refused() {
        let digest = Digest::from_bytes(b"a");
        let quoted = |text: &str| format!("\"{text}\"");
        assert_eq!(
            serde_json::from_str::<Digest>(&serde_json::to_string(&digest).unwrap()).unwrap(),
            digest
        );
        for text in ["", "abc", &digest.as_str().to_uppercase(), &"é".repeat(DIGEST_DIGITS / 2)] {
            let error = serde_json::from_str::<Digest>(&quoted(text)).unwrap_err();
            assert!(
                error.to_string().contains("expected a digest of 64 hexadecimal digits"),
                "{error}"
            );
            assert!(serde_json::from_str::<crate::Key>(&quoted(text)).is_err());
        }
        assert!(
            serde_json::from_str::<crate::Key>(&quoted(&digest.as_str()[..crate::key::KEY_DIGITS]))
                .is_ok()
        );
    }

    #[test]
    fn a_file_that_ends_before_its_size_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for (there, length) in [(0, 1), (9, 10), (BLOCK_BYTES, BLOCK_BYTES + 1)] {
            std::fs::write(&path, vec![7u8; there]).unwrap();
            let file = File::open(&path).unwrap();
            let error = Digest::from_bytes_of(&file, length as u64).unwrap_err();
            assert_eq!(
                Refusal::from_io_error(&error),
                Some(Refusal::CutShort(there as u64, length as u64))
            );
        }
    }
}
