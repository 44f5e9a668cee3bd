//! The files of a folder with their first bytes, from which a format is recognised.
//!
//! promises  reads only the beginning of a file, unpacked and without a byte-order mark, and each
//!           at most once
use crate::{
    containers::{
        decompress::PlainFile,
        tar,
        zip::{ZipArchive, is_zip_file},
    },
    read_error::{Read, ReadError, if_sound},
};
use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

/// Plain bytes of a file that recognition may see.
pub(super) const HEAD_BYTES: usize = 1 << 14;

/// Files and their beginnings.
pub struct FileHeads {
    pub(super) files: Vec<FileHead>,
    /// The first error of the system.
    pub(crate) failed: OnceCell<Box<ReadError>>,
}

pub(super) struct FileHead {
    path: PathBuf,
    name: String,
    head: OnceCell<Vec<u8>>,
}

impl FileHeads {
    /// At these files, by ascending path.
    pub fn new(files: &[PathBuf]) -> FileHeads {
        let mut files = files.to_vec();
        files.sort();
        let seen = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name =
                name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name).to_owned();
            FileHead { path, name, head: OnceCell::new() }
        };
        FileHeads { files: files.into_iter().map(seen).collect(), failed: OnceCell::new() }
    }

    /// Each file's path and its name without `.gz` or `.zst`, by ascending path.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().map(|file| (file.path.as_path(), file.name.as_str()))
    }

    /// The file of this name, packed or not.
    pub fn named(&self, name: &str) -> Option<&Path> {
        self.files().find(|(_, found)| *found == name).map(|(path, _)| path)
    }

    /// All files whose names end so, packed or not.
    pub fn ending(&self, end: &str) -> Vec<&Path> {
        self.files().filter(|(_, name)| name.ends_with(end)).map(|(path, _)| path).collect()
    }

    /// The first plain bytes of a file behind a byte-order mark; empty if it cannot be read.
    pub fn head(&self, path: &Path) -> &[u8] {
        let Some(file) = self.files.iter().find(|file| file.path == path) else { return &[] };
        file.head.get_or_init(|| {
            let mut head = Vec::new();
            // What could be unpacked of a damaged file counts.
            self.sound(
                PlainFile::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES)),
            );
            if head.starts_with(b"\xef\xbb\xbf") {
                head.drain(..3);
            }
            head
        })
    }

    /// What was read, if the file is sound. A damaged one is of no format that looks into it; an
    /// error of the system is kept.
    pub(crate) fn sound<T>(&self, read: Read<T>) -> Option<T> {
        if_sound(read).unwrap_or_else(|error| {
            self.failed.get_or_init(|| error);
            None
        })
    }

    /// The zip archive of this path, if it is a sound one.
    pub(crate) fn zip(&self, path: &Path) -> Option<ZipArchive> {
        let is_zip = self.sound(is_zip_file(path)).unwrap_or(false);
        self.sound(is_zip.then(|| ZipArchive::open(path)).transpose()).flatten()
    }
}

/// The names in a zip or tar archive; none if the file is no sound one.
pub(crate) fn names_in_archive(look: &FileHeads, path: &Path) -> Vec<String> {
    let owned =
        |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect::<Vec<String>>();
    // A tar archive is read to its end for its names, but only if it begins as one.
    let names = match tar::is_tar(look.head(path)) {
        true => look.sound(tar::TarArchive::open(path)).map(|archive| owned(&mut archive.names())),
        false => look.zip(path).map(|archive| owned(&mut archive.names())),
    };
    names.unwrap_or_default()
}
