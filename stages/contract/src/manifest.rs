//! manifest: a readable page in every artifact that says what it is, what made it and which files
//! it has.
//!
//! promises  reading a manifest checks its own bytes (`self_digest`), and that its key is the hash
//!           of its key document
//! never     names a path outside the artifact: a name is one plain part of a path
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path},
    time::SystemTime,
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Digest, ErrorKind, Key, KeyDocument, Kind, Provenance, StageError,
    regular_file::{self, Refusal},
    stage_record::StageRecord,
    store::digest_cache,
};

/// A file of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name in the artifact's folder: one plain part of a path.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// BLAKE3 of its contents.
    pub blake3: Digest,
}

/// An artifact that was an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputEntry {
    /// Kind by name.
    pub kind: String,
    /// Its key in the store it was read from.
    pub key: Key,
    /// Its input digest.
    pub digest: Digest,
}

/// Stage and version that made an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// Name of the stage.
    pub stage: String,
    /// Version of its results.
    pub version: u32,
}

/// The contents of manifest.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Kind by name.
    pub kind: String,
    /// Version of the kind's format.
    pub format: u32,
    /// The artifact's key.
    pub key: Key,
    /// What the key is the hash of.
    pub key_document: KeyDocument,
    /// What made it.
    pub producer: Producer,
    /// Artifacts it was made from. The key holds their digests instead.
    pub inputs: Vec<InputEntry>,
    /// Whether the files that were read of these were compared with their digests first. Missing
    /// where nothing was read, and in artifacts of versions that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_verified: Option<bool>,
    /// Its files, in order of names.
    pub files: Vec<FileEntry>,
    /// Numbers worth knowing without opening a file: nodes, edges, ...
    pub counts: BTreeMap<String, u64>,
    /// Facts other than numbers: format found, task, units.
    pub facts: BTreeMap<String, Value>,
    /// Where the data come from.
    pub provenance: Provenance,
    /// What was generated although the graph is real: `features`, `labels`, `splits`.
    pub made_up: Vec<String>,
    /// Digest of all files but records: equal digests mean equal artifacts. Keys of later stages
    /// hold the digest of the files that these stages read.
    pub digest: Digest,
    /// What the stage took to make it: in no digest but `self_digest`, and in no key. Missing in
    /// artifacts that no stage made, and in those of versions that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<StageRecord>,
    /// When it was published, RFC 3339 in UTC.
    pub created: String,
    /// BLAKE3 of this page without this field.
    pub self_digest: Option<Digest>,
}

/// File name of the manifest.
pub const MANIFEST_FILE: &str = "manifest.json";
/// A larger manifest is refused: it has a line or two for each file and setting.
const BYTES_MOST: u64 = 16 << 20;

/// What was read to compare digests; this process knew the digests of the other files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Files of which digests were compared.
    pub files: u64,
    /// Files that were read for that.
    pub files_read: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
}

impl Manifest {
    /// The page as written, sealed with its own digest.
    pub fn to_text(&self) -> String {
        let mut sealed = self.clone();
        sealed.self_digest = Some(self.seal());
        let mut text = serde_json::to_string_pretty(&sealed).expect("a manifest is plain JSON");
        text.push('\n');
        text
    }

    fn seal(&self) -> Digest {
        let mut open = self.clone();
        open.self_digest = None;
        Digest::from_bytes(
            serde_json::to_string(&open).expect("a manifest is plain JSON").as_bytes(),
        )
    }

    /// Reads and checks the manifest of an artifact's directory; `Ok(None)` when there is no such
    /// directory.
    pub fn read(directory: &Path, kind: Kind) -> Result<Option<Self>, StageError> {
        let path = directory.join(MANIFEST_FILE);
        let Some(bytes) = read_published(directory, &path)? else { return Ok(None) };
        let damaged = |what: String| StageError::damaged(&path, what).hint(rebuild_hint(directory));
        let unread = |error: serde_json::Error| match is_sealed(&bytes) {
            true => newer_version_error(&path, &error),
            false => damaged(format!("the manifest cannot be read: {error}")),
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(unread)?;
        if manifest.self_digest.as_ref() != Some(&manifest.seal()) {
            return Err(damaged(
                "the manifest was changed after it was written: its own digest does not fit".into(),
            ));
        }
        if manifest.kind != kind.name() || manifest.format != kind.version() {
            return Err(damaged(format!(
                "expected kind `{}` format {}, found `{}` format {}",
                kind.name(),
                kind.version(),
                manifest.kind,
                manifest.format
            )));
        }
        if let Some(file) = manifest.files.iter().find(|file| !is_plain(&file.name)) {
            return Err(damaged(format!(
                "expected plain names of files, found `{}`",
                file.name.escape_debug()
            )));
        }
        let document_key = manifest.key_document.key();
        if document_key != manifest.key
            || (kind != Kind::Checkpoint
                && directory.file_name().is_none_or(|name| name != manifest.key.as_str()))
        {
            return Err(damaged(format!(
                "expected key `{document_key}`, found `{}`",
                manifest.key
            )));
        }
        Ok(Some(manifest))
    }

    /// The inputs that the manifest of a newer version names, kind and key; none if this version
    /// can read the manifest, or it is damaged.
    pub(crate) fn inputs_of_newer(
        directory: &Path,
    ) -> Result<Option<Vec<(String, String)>>, StageError> {
        let Some(bytes) = read_published(directory, &directory.join(MANIFEST_FILE))? else {
            return Ok(None);
        };
        if serde_json::from_slice::<Manifest>(&bytes).is_ok() || !is_sealed(&bytes) {
            return Ok(None);
        }
        let Ok(page) = serde_json::from_slice::<Value>(&bytes) else { return Ok(None) };
        let word = |input: &Value, name: &str| input[name].as_str().map(str::to_owned);
        let inputs = page["inputs"].as_array().into_iter().flatten();
        Ok(Some(
            inputs.filter_map(|input| Some((word(input, "kind")?, word(input, "key")?))).collect(),
        ))
    }

    /// Compares the sizes of the files on disk; the error names a missing, truncated or grown
    /// file.
    pub fn check_sizes(&self, directory: &Path) -> Result<(), StageError> {
        for file in &self.files {
            let path = directory.join(&file.name);
            let damaged =
                |what: String| Err(StageError::damaged(&path, what).hint(rebuild_hint(directory)));
            match fs::metadata(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return damaged("the file is missing".into());
                }
                Err(error) => return Err(StageError::io("look at a file", &path, &error)),
                Ok(facts) if !facts.is_file() => {
                    return damaged("expected a file, found something else".into());
                }
                Ok(facts) if facts.len() != file.bytes => {
                    return damaged(format!(
                        "expected {} bytes, found {}",
                        file.bytes,
                        facts.len()
                    ));
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Reads every file and compares digests; the error names the first that differs.
    pub fn check_digests(&self, directory: &Path) -> Result<(), StageError> {
        self.compare_digests(
            directory,
            |path| digest_cache::recompute_digest(path).map(|digest| (digest, true)),
            |_| {},
        )
        .map(drop)
    }

    /// Compares digests, and reads only files whose digests this process does not know; reports
    /// the bytes of each file.
    pub fn check_digests_once(
        &self,
        directory: &Path,
        advance: impl Fn(u64) + Sync,
    ) -> Result<Reading, StageError> {
        self.compare_digests(directory, digest_cache::digest, advance)
    }

    fn compare_digests(
        &self,
        directory: &Path,
        digest: impl Fn(&Path) -> io::Result<(Digest, bool)> + Sync,
        advance: impl Fn(u64) + Sync,
    ) -> Result<Reading, StageError> {
        self.check_sizes(directory)?;
        let compare = |file: &FileEntry| -> Result<Option<u64>, StageError> {
            let path = directory.join(&file.name);
            let (found, was_read) =
                digest(&path).map_err(|error| StageError::io("read a file", &path, &error))?;
            if found != file.blake3 {
                let what = format!(
                    "contents changed: expected BLAKE3 {}, found {}",
                    &file.blake3.as_str()[..16],
                    &found.as_str()[..16]
                );
                return Err(StageError::damaged(&path, what).hint(rebuild_hint(directory)));
            }
            advance(file.bytes);
            Ok(was_read.then_some(file.bytes))
        };
        let compared: Vec<Result<Option<u64>, StageError>> =
            self.files.par_iter().map(compare).collect();
        let mut reading = Reading { files: self.files.len() as u64, ..Reading::default() };
        for bytes in compared {
            if let Some(bytes) = bytes? {
                reading.files_read += 1;
                reading.bytes_read += bytes;
            }
        }
        Ok(reading)
    }

    /// Digest of the (name, digest) pairs of the files listed here, without records.
    pub fn digest_of_files(&self, kind: Kind) -> Digest {
        let payload = self.files.iter().filter(|file| !kind.is_record(&file.name));
        Digest::from_named(payload.map(|file| (file.name.as_str(), &file.blake3)))
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Whether a manifest ends with its own digest: it is unchanged, whatever fields it has.
fn is_sealed(page: &[u8]) -> bool {
    let (mut compact, mut in_string, mut is_escaped) =
        (Vec::with_capacity(page.len()), false, false);
    for &byte in page {
        if in_string || !byte.is_ascii_whitespace() {
            compact.push(byte);
        }
        in_string ^= byte == b'"' && !is_escaped;
        is_escaped = in_string && byte == b'\\' && !is_escaped;
    }
    let sealed = || {
        let (open, seal) = std::str::from_utf8(&compact).ok()?.rsplit_once(r#""self_digest":""#)?;
        Some(
            Digest::from_bytes(format!(r#"{open}"self_digest":null}}"#).as_bytes()).as_str()
                == seal.strip_suffix(r#""}"#)?,
        )
    };
    sealed().unwrap_or(false)
}

/// The error of an undamaged manifest that this version cannot read.
fn newer_version_error(path: &Path, error: &serde_json::Error) -> StageError {
    StageError::new(
        ErrorKind::Input,
        format!(
            "a newer version of Warploom wrote this manifest, which this version cannot read: \
             {error}"
        ),
    )
    .at(path.display())
    .hint("use the version that wrote it, or another store with  --store DIR")
}

/// Whether a name is one part of a path, so that joining it stays in the folder.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && !name.contains('\0')
}

/// The hint that says how to repair an artifact.
pub(crate) fn rebuild_hint(directory: &Path) -> String {
    format!(
        "remove it and run again, which rebuilds it:  rm -r {}",
        crate::error::shell_quoted(directory)
    )
}

/// Now, as RFC 3339 in UTC with seconds.
pub fn utc_timestamp() -> String {
    let seconds =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (days, rest) = (seconds / 86400, seconds % 86400);
    let (year, month, day) = civil_from_days(days as i64);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Year, month and day of a day counted from 1970-01-01 (Hinnant's algorithm).
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 } as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// How often a manifest is looked for in a directory that exists.
const LOOKS: u32 = 3;

/// Bytes of a manifest; none when its directory is missing. Another process may publish the
/// directory between the two checks, so only a directory that has no manifest at the last look is
/// damaged.
fn read_published(directory: &Path, path: &Path) -> Result<Option<Vec<u8>>, StageError> {
    for _ in 0..LOOKS {
        match regular_file::read(path, BYTES_MOST) {
            Ok(bytes) => return Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !directory.exists() => {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error)
                if matches!(
                    Refusal::from_io_error(&error),
                    Some(Refusal::NotRegular(_) | Refusal::TooLarge(..))
                ) =>
            {
                return Err(
                    StageError::damaged(path, error.to_string()).hint(rebuild_hint(directory))
                );
            }
            Err(error)
                if error.kind() == io::ErrorKind::NotADirectory
                    && directory.symlink_metadata().is_ok() =>
            {
                return Err(StageError::damaged(
                    directory,
                    "expected the folder of an artifact, found something else",
                )
                .hint(rebuild_hint(directory)));
            }
            Err(error) => return Err(StageError::io("read a manifest", path, &error)),
        }
    }
    Err(StageError::damaged(path, "the manifest is missing").hint(rebuild_hint(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        assert!(["edges.parquet", "a b", ".hidden", "..a"].into_iter().all(is_plain));
        assert!(
            !["", ".", "..", "/etc/passwd", "../x", "a/b", "a/", "./a", "a\0b"]
                .into_iter()
                .any(is_plain)
        );
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(19_782), (2024, 2, 29));
        assert_eq!(civil_from_days(20_088), (2024, 12, 31));
    }
}
