//! digests: size and digest of each file when it was downloaded, in the catalogue's entry, or in
//! `.digests.json` beside the downloaded files.
//!
//! promises  a file is recorded once and compared at each later use; the error of a changed one
//!           says what to do
//! promises  the record is written to a temporary file and renamed; a folder in place of a file is
//!           named as one
//! never     records a file that was not downloaded
use std::{collections::BTreeMap, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    CatalogError, Entry, digest_cache, download_error::DownloadError, entry::RawFile,
    metadata_if_present,
};

/// Name of the record in the folder of the set.
pub const RECORD_FILE: &str = ".digests.json";

/// Size, digest and origin of a file when it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its size.
    pub bytes: u64,
    /// Its BLAKE3 digest in hexadecimal.
    pub blake3: String,
    /// Its address, or that it was put there by hand.
    pub from: String,
}

type Record = BTreeMap<String, FileRecord>;

/// The record of a folder; empty if there is none.
fn read_record(folder: &Path) -> Result<Record, CatalogError> {
    let path = folder.join(RECORD_FILE);
    let Some(facts) = metadata_if_present(&path)? else { return Ok(Record::new()) };
    let wrong = |what: String| {
        CatalogError::new(what)
            .at(path.display())
            .hint(format!("remove it, and fetch again:  rm -r {}", path.display()))
    };
    if !facts.is_file() {
        return Err(wrong("the record of digests is no file".to_owned()));
    }
    let text = fs::read(&path)
        .map_err(|error| CatalogError::new(format!("cannot read: {error}")).at(path.display()))?;
    serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("the record of digests is not valid: {error}")))
}

/// The name of a file in the record of its folder.
fn record_name(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// Refuses a folder in the place of a file of the set.
pub fn refuse_folder(entry: &Entry, file: &RawFile, path: &Path) -> Result<(), CatalogError> {
    if !path.is_dir() {
        return Ok(());
    }
    let error = CatalogError::new(format!(
        "the file `{}` of `{}` is a folder: expected a file",
        file.file, entry.name
    ))
    .at(path.display());
    Err(error.hint(format!(
        "put the file itself in its place:  mv {0} {0}.folder && mv {0}.folder/FILE {0} ; part \
         files of a table are a data set without an entry, data/raw/NAME/edges.parquet/",
        path.display()
    )))
}

/// Compares a file of this digest with the entry, and with the record of its set's folder; a file
/// that neither knows is accepted.
pub fn check_file(
    entry: &Entry,
    file: &RawFile,
    folder: &Path,
    path: &Path,
    digest: &str,
) -> Result<(), CatalogError> {
    check_bytes(entry, file, folder, path, file_length(path)?, digest)
}

/// Checks a downloaded file before it is renamed to its path.
pub(crate) fn check_download(
    entry: &Entry,
    file: &RawFile,
    folder: &Path,
    path: &Path,
    beside: &Path,
) -> Result<(), DownloadError> {
    let read = |error: io::Error| DownloadError::disk("cannot read what came", &error);
    let digest = digest_cache::digest(beside, None, true).map_err(read)?;
    let bytes = fs::metadata(beside).map_err(read)?.len();
    // A file whose digest is that of the entry is accepted, whatever it looks like.
    if file.blake3.as_deref() != Some(&digest) {
        refuse_mistaken(path, beside)?;
    }
    check_bytes(entry, file, folder, path, bytes, &digest).map_err(|error| {
        let take = match file.bytes.is_some() || file.blake3.is_some() {
            true => format!("remove `bytes` and `blake3` of `{}` from  {}", file.file, entry.place),
            false => format!("rm {}", folder.join(RECORD_FILE).display()),
        };
        let hint = format!(
            "the address gives another file now, and what came was thrown away; to take the new \
             one:  {take}"
        );
        DownloadError { hint: Some(hint.into()), ..DownloadError::new(error.what) }
    })
}

/// Refuses a web page or a pointer that came in place of the file or archive of this path.
pub(crate) fn refuse_mistaken(path: &Path, beside: &Path) -> Result<(), DownloadError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match warploom_formats::mistaken(&name, beside)
        .map_err(|error| DownloadError { disk: error.io, ..DownloadError::new(error.what) })?
    {
        Some(found) => Err(DownloadError::new(format!(
            "expected the file, found {found} (a login or an error page has come in its place, and \
             was thrown away)"
        ))),
        None => Ok(()),
    }
}

fn check_bytes(
    entry: &Entry,
    file: &RawFile,
    folder: &Path,
    path: &Path,
    bytes: u64,
    digest: &str,
) -> Result<(), CatalogError> {
    if file.blake3.as_ref().is_some_and(|known| known != digest)
        || file.bytes.is_some_and(|known| known != bytes)
    {
        let what = mismatch_error(
            "the file differs from the catalogue's entry",
            file.bytes,
            file.blake3.as_deref(),
            bytes,
            digest,
        );
        return Err(CatalogError::new(what).at(path.display()).hint(format!(
            "restore the old one; to take the new one, remove `bytes` and `blake3` of `{}` \
             from  {}",
            file.file, entry.place
        )));
    }
    match read_record(folder)?.get(&record_name(folder, path)) {
        Some(recorded) if recorded.blake3 != digest => {
            let what = mismatch_error(
                "the file has changed since it was recorded",
                Some(recorded.bytes),
                Some(&recorded.blake3),
                bytes,
                digest,
            );
            Err(CatalogError::new(what).at(path.display()).hint(format!(
                "to have the old one again:  rm {0}  and  warploom data fetch {1};  to take the \
                 new one:  rm {2}",
                path.display(),
                entry.name,
                folder.join(RECORD_FILE).display()
            )))
        }
        _ => Ok(()),
    }
}

/// The error with the expected size and digest, as far as they are known, and those found.
fn mismatch_error(
    what: &str,
    bytes_expected: Option<u64>,
    digest_expected: Option<&str>,
    bytes: u64,
    digest: &str,
) -> String {
    let expected = match (bytes_expected, digest_expected) {
        (Some(bytes), Some(digest)) => {
            format!("{bytes} bytes with the digest {}", short_digest(digest))
        }
        (Some(bytes), None) => format!("{bytes} bytes"),
        (None, digest) => format!("the digest {}", short_digest(digest.unwrap_or_default())),
    };
    format!("{what}: expected {expected}, found {bytes} bytes with {}", short_digest(digest))
}

/// Compares a file with the record, or records a new one.
pub fn compare_or_record(
    entry: &Entry,
    file: &RawFile,
    folder: &Path,
    path: &Path,
) -> Result<(), CatalogError> {
    refuse_folder(entry, file, path)?;
    let name_of_file = path.file_name().unwrap_or_default().to_string_lossy();
    let found = warploom_formats::mistaken(&name_of_file, path)
        .map_err(|error| CatalogError::new(error.what).at(path.display()))?;
    let found = found.filter(|_| file.blake3.is_none());
    if let Some(found) = found {
        let error = CatalogError::new(format!(
            "the file is not what its name says: expected data, found {found}"
        ))
        .at(path.display());
        return Err(error.hint(format!(
            "download it again:  rm {}  and  warploom data fetch {}",
            path.display(),
            entry.name
        )));
    }
    let digest = digest_cache::digest(path, None, true)
        .map_err(|error| CatalogError::new(format!("cannot read: {error}")).at(path.display()))?;
    check_file(entry, file, folder, path, &digest)?;
    let mut record = read_record(folder)?;
    let bytes = file_length(path)?;
    if record.contains_key(&record_name(folder, path)) {
        return Ok(());
    }
    record.insert(
        record_name(folder, path),
        FileRecord { bytes, blake3: digest, from: origin(entry, file).to_owned() },
    );
    write_record(folder, &record).map_err(|error| {
        CatalogError::new(format!("cannot record the digest of `{}`: {error}", path.display()))
            .at(folder.join(RECORD_FILE).display())
    })
}

/// A file's length.
fn file_length(path: &Path) -> Result<u64, CatalogError> {
    fs::metadata(path).map(|facts| facts.len()).map_err(|error| {
        CatalogError::new(format!("cannot look at the file: {error}")).at(path.display())
    })
}

/// Where a file comes from, for the record.
fn origin<'a>(entry: &'a Entry, file: &'a RawFile) -> &'a str {
    file.url
        .as_deref()
        .or(entry.archive.as_ref().map(|archive| archive.url.as_str()))
        .unwrap_or("put there by hand")
}

fn write_record(folder: &Path, record: &Record) -> io::Result<()> {
    let beside = folder.join(format!("{RECORD_FILE}.{}.tmp", std::process::id()));
    let written = fs::write(&beside, serde_json::to_vec_pretty(record)?)
        .and_then(|()| fs::rename(&beside, folder.join(RECORD_FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn short_digest(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &RawFile) -> Entry {
        let karate = crate::Catalog::default().find("karate").unwrap();
        Entry {
            name: "mine".into(),
            files: vec![file.clone()],
            place: "catalog/mine.yaml".into(),
            ..karate
        }
    }

    #[test]
    fn a_changed_file_is_named_and_a_kept_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw/edges.csv");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "0,1\n").unwrap();
        let file = |url: &str| RawFile {
            file: "raw/edges.csv".into(),
            url: Some(url.into()),
            ..RawFile::default()
        };
        let settled =
            |url: &str| compare_or_record(&entry(&file(url)), &file(url), folder.path(), &path);
        settled("https://x.y/z").unwrap();
        settled("another place").unwrap();
        assert_eq!(read_record(folder.path()).unwrap()["raw/edges.csv"].from, "https://x.y/z");
        fs::write(&path, "0,2\n").unwrap();
        let error = settled("https://x.y/z").unwrap_err();
        assert!(
            error.what.contains("has changed")
                && error.what.contains("4 bytes")
                && error.place.unwrap().ends_with("raw/edges.csv"),
            "{}",
            error.what
        );
        assert!(error.hint.unwrap().contains("warploom data fetch mine"));
        fs::write(&path, "0,1\n").unwrap();
        settled("").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_the_entry_says_of_a_file_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        fs::write(&path, "0,1\n").unwrap();
        let digest = digest_cache::digest(&path, None, true).unwrap();
        let checked = |bytes, blake3: Option<&str>| {
            let file = RawFile {
                file: "edges.csv".into(),
                bytes,
                blake3: blake3.map(str::to_owned),
                ..RawFile::default()
            };
            check_file(&entry(&file), &file, folder.path(), &path, &digest)
        };
        let other = "0".repeat(64);
        assert_eq!(
            (checked(None, None), checked(Some(4), None), checked(Some(4), Some(&digest))),
            (Ok(()), Ok(()), Ok(()))
        );
        let error = checked(Some(4), Some(&other)).unwrap_err();
        assert!(
            error.what.contains(&format!(
                "expected 4 bytes with the digest {}, found 4 bytes with {}",
                short_digest(&other),
                short_digest(&digest)
            )),
            "{error}"
        );
        assert!(
            error.place.unwrap().ends_with("edges.csv")
                && error.hint.unwrap().contains("of `edges.csv` from  catalog/mine.yaml")
        );
        assert!(checked(None, Some(&other)).unwrap_err().what.contains("expected the digest 0000"));
        assert!(
            checked(Some(5), None).unwrap_err().what.contains("expected 5 bytes, found 4 bytes")
        );
    }

    #[test]
    fn a_folder_in_place_of_a_file_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edges.csv");
        fs::create_dir(&path).unwrap();
        let file = RawFile { file: "edges.csv".into(), ..RawFile::default() };
        let error = compare_or_record(&entry(&file), &file, folder.path(), &path).unwrap_err();
        assert!(
            error.what.contains("the file `edges.csv` of `mine` is a folder")
                && error.hint.unwrap().contains("mv "),
            "{}",
            error.what
        );
    }

    #[test]
    fn a_record_of_nonsense_is_named() {
        let folder = tempfile::tempdir().unwrap();
        // A record that cannot be read is not an empty one, over which the next would be written.
        std::os::unix::fs::symlink("/proc/self/mem", folder.path().join(RECORD_FILE)).unwrap();
        assert!(read_record(folder.path()).unwrap_err().what.contains("cannot read"));
        fs::remove_file(folder.path().join(RECORD_FILE)).unwrap();
        fs::create_dir(folder.path().join(RECORD_FILE)).unwrap();
        assert!(read_record(folder.path()).unwrap_err().what.contains("is no file"));
        fs::remove_dir(folder.path().join(RECORD_FILE)).unwrap();
        fs::write(folder.path().join(RECORD_FILE), "nonsense").unwrap();
        fs::write(folder.path().join("a"), "1 2").unwrap();
        let file = RawFile { file: "a".into(), ..RawFile::default() };
        let error = check_file(&entry(&file), &file, folder.path(), &folder.path().join("a"), "00")
            .unwrap_err();
        assert!(
            error.to_string().contains(RECORD_FILE) && error.to_string().contains("rm "),
            "{error}"
        );
    }
}
