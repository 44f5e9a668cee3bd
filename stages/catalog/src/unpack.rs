//! unpack: extracts files from an archive: zip, tar, tar with gzip.
//!
//! promises  a file under its final name is complete: it is written to a temporary file and
//!           renamed; its checksum was compared where the archive has one
//! never     writes under a name from the archive: only requested files are written, under the
//!           requested names; an archive with a path that leaves it is refused as a whole
//! limits    the limits of `warploom_formats::zip` and `tar`
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::download_error::DownloadError;
use warploom_formats::{
    containers::{tar, zip},
    read_error::{Read, ReadError},
};

/// Decides whether a complete file of this name, not yet renamed, is the expected one.
pub(crate) type Judge<'a> = &'a dyn Fn(&str, (&Path, &Path)) -> Result<(), DownloadError>;

/// Extracts `files` (plain names below `inside`, possibly with `.gz` or `.zst`) into `folder` and
/// returns their paths. A file that `judge` refuses is removed.
pub(crate) fn unpack(
    archive: &Path,
    inside: &str,
    files: &[&str],
    folder: &Path,
    judge: Judge,
) -> Result<Vec<PathBuf>, DownloadError> {
    let archive = Archive::open(archive).map_err(|error| unpack_error(&error))?;
    let mut done: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for member in archive.names() {
        if let Some((file, end)) = requested_file(&member, inside, files) {
            let path = folder.join(format!("{file}{end}"));
            write_member(&archive, &member, &path, &|beside| judge(file, (&path, beside)))?;
            done.insert(file, path);
        }
    }
    let missing: Vec<&str> =
        files.iter().copied().filter(|file| !done.contains_key(file)).collect();
    if missing.is_empty() {
        Ok(files.iter().filter_map(|file| done.remove(file)).collect())
    } else {
        Err(DownloadError::new(format!("it holds no {}", missing.join(", no "))))
    }
}

/// The requested file that a member is, and its extra ending.
fn requested_file<'a>(
    member: &str,
    inside: &str,
    files: &[&'a str],
) -> Option<(&'a str, &'static str)> {
    let below =
        if inside.is_empty() { member } else { member.strip_prefix(inside)?.strip_prefix('/')? };
    let ends = ["", ".gz", ".zst"];
    files.iter().find_map(|&file| {
        ends.into_iter().find(|end| below.strip_suffix(end) == Some(file)).map(|end| (file, end))
    })
}

/// Writes a member to a temporary file and renames it.
fn write_member(
    archive: &Archive,
    member: &str,
    path: &Path,
    judge: crate::download::Judge,
) -> Result<(), DownloadError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let unwritten = |error: &io::Error| {
        DownloadError::disk(format!("cannot write `{}`", path.display()), error)
    };
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| File::create(&beside))
        .map_err(|error| unwritten(&error))
        .and_then(|mut out| {
            archive.copy(member, &mut out).map_err(|error| unpack_error(&error))?;
            judge(Path::new(&beside))?;
            out.sync_all()
                .and_then(|()| fs::rename(&beside, path))
                .map_err(|error| unwritten(&error))
        });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn unpack_error(error: &ReadError) -> DownloadError {
    match error.io {
        Some(kind) => DownloadError {
            what: format!("it cannot be unpacked: {}", error.what),
            disk: Some(kind),
            hint: None,
        },
        None => DownloadError::new(format!("it is damaged: {}", error.what)),
    }
}

/// An archive of either kind, whose list of members was read and checked.
enum Archive {
    Zip(zip::ZipArchive),
    Tar(tar::TarArchive),
}

impl Archive {
    fn open(path: &Path) -> Read<Archive> {
        if zip::is_zip_file(path)? {
            zip::ZipArchive::open(path).map(Archive::Zip)
        } else {
            tar::TarArchive::open(path).map(Archive::Tar)
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Archive::Zip(archive) => archive.names().map(str::to_owned).collect(),
            Archive::Tar(archive) => archive.names().map(str::to_owned).collect(),
        }
    }

    fn copy(&self, member: &str, out: &mut File) -> Read<u64> {
        match self {
            Archive::Zip(archive) => io::copy(&mut archive.reader(member)?, out)
                .map_err(|error| archive.fault(member, &error)),
            Archive::Tar(archive) => archive.copy(member, out),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    const BLOCK_BYTES: usize = 512;

    fn header(name: &str, size: usize) -> Vec<u8> {
        let mut block = vec![0; BLOCK_BYTES];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        block[156] = b'0';
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        block
    }

    /// A tar of these members.
    pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = Vec::new();
        for (name, bytes) in members {
            tar.extend(header(name, bytes.len()));
            tar.extend(*bytes);
            tar.resize(tar.len().next_multiple_of(BLOCK_BYTES), 0);
        }
        tar.resize(tar.len() + 2 * BLOCK_BYTES, 0);
        tar
    }

    /// A zip of these members, deflated but for empty ones.
    pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut zip, mut list) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let mut packed =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            packed.write_all(bytes).unwrap();
            let packed = if bytes.is_empty() { Vec::new() } else { packed.finish().unwrap() };
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            let mut facts = if bytes.is_empty() {
                vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            } else {
                vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0]
            };
            for number in [crc.sum(), packed.len() as u32, bytes.len() as u32] {
                facts.extend(number.to_le_bytes());
            }
            facts.extend((name.len() as u16).to_le_bytes());
            facts.extend([0, 0]);
            list.extend(b"PK\x01\x02\x14\0");
            list.extend(&facts);
            list.extend([0; 10]);
            list.extend((zip.len() as u32).to_le_bytes());
            list.extend(name.as_bytes());
            zip.extend(b"PK\x03\x04");
            zip.extend(&facts);
            zip.extend(name.as_bytes());
            zip.extend(&packed);
        }
        let start = zip.len() as u32;
        let count = (members.len() as u16).to_le_bytes();
        zip.extend(&list);
        zip.extend(b"PK\x05\x06\0\0\0\0");
        zip.extend([count, count].concat());
        zip.extend((list.len() as u32).to_le_bytes());
        zip.extend(start.to_le_bytes());
        zip.extend([0, 0]);
        zip
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    const MEMBERS: &[(&str, &[u8])] = &[
        ("set/raw/edge.csv.gz", b"packed"),
        ("set/evil", b"evil"),
        ("set/label.csv", b"0\n1\n"),
        ("other/label.csv", b"x"),
        ("set/none", b""),
    ];
    const FILES: &[&str] = &["raw/edge.csv", "label.csv", "none"];

    fn unpack_bytes(
        bytes: &[u8],
        files: &[&str],
    ) -> (Result<Vec<PathBuf>, String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        fs::write(&archive, bytes).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        (
            unpack(&archive, "set", files, &folder.path().join("out"), &|_, _| Ok(()))
                .map_err(|trouble| trouble.what),
            folder,
        )
    }

    #[test]
    fn what_is_asked_comes_out_and_nothing_else() {
        for archive in [zip(MEMBERS), tar(MEMBERS), gzip(&tar(MEMBERS))] {
            let (paths, folder) = unpack_bytes(&archive, FILES);
            let out = folder.path().join("out");
            assert_eq!(
                paths.unwrap(),
                [out.join("raw/edge.csv.gz"), out.join("label.csv"), out.join("none")]
            );
            assert_eq!(
                (
                    fs::read(out.join("raw/edge.csv.gz")).unwrap(),
                    fs::read(out.join("label.csv")).unwrap()
                ),
                (b"packed".to_vec(), b"0\n1\n".to_vec())
            );
            assert_eq!(
                (fs::read_dir(&out).unwrap().count(), fs::read_dir(folder.path()).unwrap().count()),
                (3, 2)
            );
            let (missing, _folder) = unpack_bytes(&archive, &["label.csv", "nobody", "nothing"]);
            assert_eq!(missing.unwrap_err(), "it holds no nobody, no nothing");
        }
    }

    #[test]
    fn an_archive_that_leads_out_of_itself_is_refused() {
        let members: &[(&str, &[u8])] = &[("set/label.csv", b"0\n"), ("set/../../evil", b"evil")];
        for archive in [zip(members), tar(members), gzip(&tar(members))] {
            let (result, folder) = unpack_bytes(&archive, &["label.csv"]);
            assert!(result.unwrap_err().contains("`set/../../evil`"));
            assert_eq!(
                (
                    fs::read_dir(folder.path().join("out")).unwrap().count(),
                    fs::read_dir(folder.path()).unwrap().count()
                ),
                (0, 2)
            );
        }
    }

    #[test]
    fn a_damaged_archive_is_named_and_leaves_no_half_file() {
        let mut crooked = zip(MEMBERS);
        let at = crooked.windows(14).position(|bytes| bytes == b"set/label.csv\x33").unwrap();
        crooked[at + 14] ^= 0xff;
        let whole = tar(MEMBERS);
        for bytes in [
            crooked,
            zip(MEMBERS)[..60].to_vec(),
            gzip(&whole)[..60].to_vec(),
            whole[..BLOCK_BYTES + 3].to_vec(),
            b"nonsense".to_vec(),
            Vec::new(),
        ] {
            let (result, folder) = unpack_bytes(&bytes, &["label.csv"]);
            assert!(result.unwrap_err().contains("damaged"));
            assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_an_archive_or_an_error(which in 0..3u8, at in 0usize..400, byte: u8, length in 0usize..600) {
            let mut bytes = match which { 0 => zip(MEMBERS), 1 => tar(MEMBERS), _ => gzip(&tar(MEMBERS)) };
            let at = at % bytes.len();
            bytes[at] = byte;
            if length < bytes.len() && length % 3 == 0 {
                bytes.truncate(length);
            }
            let _ = unpack_bytes(&bytes, FILES);
        }
    }
}
