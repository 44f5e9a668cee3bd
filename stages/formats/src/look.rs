//! A look at the files of a folder, from which a format is recognised.
//!
//! promises  reads only the beginning of a file, unpacked and without a byte-order mark, and each
//!           at most once
//! promises  an error of the system ends the detection: what a file is that could not be read is
//!           not known
//! promises  where no format is recognised, every file is named with what was found in it
//! never     decides by name alone where the contents can tell
pub(crate) mod strange;

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use crate::{
    FORMATS, Format,
    decompress::Plain,
    raw::{Read, ReadError, if_sound},
    zip::{Archive, is_zip_file},
};

/// Plain bytes of a file that recognition may see.
const HEAD_BYTES: usize = 1 << 14;

/// Files that are named, where no format is recognised.
const NAMED_MOST: usize = 12;

/// Files and their beginnings.
pub struct Look {
    files: Vec<Seen>,
    /// The first error of the system.
    failed: OnceCell<Box<ReadError>>,
}

struct Seen {
    path: PathBuf,
    name: String,
    head: OnceCell<Vec<u8>>,
}

impl Look {
    /// At these files, by ascending path.
    pub fn new(files: &[PathBuf]) -> Look {
        let mut files = files.to_vec();
        files.sort();
        let seen = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name =
                name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name).to_owned();
            Seen { path, name, head: OnceCell::new() }
        };
        Look { files: files.into_iter().map(seen).collect(), failed: OnceCell::new() }
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
            self.sound(Plain::open(path).and_then(|mut plain| plain.fill(&mut head, HEAD_BYTES)));
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
    pub(crate) fn zip(&self, path: &Path) -> Option<Archive> {
        let is_zip = self.sound(is_zip_file(path)).unwrap_or(false);
        self.sound(is_zip.then(|| Archive::open(path)).transpose()).flatten()
    }
}

impl Format {
    /// Which of the files are a data set of this format; none: it is not this one. An error of the
    /// system is no answer.
    pub fn recognised(&self, look: &Look) -> Read<Option<Vec<PathBuf>>> {
        let files = (self.recognise)(look);
        look.failed.get().map_or(Ok(files), |error| Err(error.clone()))
    }
}

/// The format of these files, and which of them it reads.
pub fn detect(folder: &Path, files: &[PathBuf]) -> Read<(&'static Format, Vec<PathBuf>)> {
    let look = Look::new(files);
    for format in FORMATS {
        if let Some(files) = format.recognised(&look)? {
            return Ok((format, files));
        }
    }
    Err(unrecognised(folder, &look))
}

/// Names each file with what was found in it; the first that something can be done about gives the
/// hint.
fn unrecognised(folder: &Path, look: &Look) -> Box<ReadError> {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let mut error = ReadError::new(folder, "no format was recognised in this folder");
    let reasons: Vec<(&Path, strange::Strange)> =
        look.files().take(NAMED_MOST).map(|(path, _)| (path, strange::of(path))).collect();
    error.notes = reasons
        .iter()
        .map(|(path, reason)| {
            format!("{}: {}", path.strip_prefix(folder).unwrap_or(path).display(), reason.found)
        })
        .collect();
    let more = look.files.len() - reasons.len();
    error.notes.extend((more > 0).then(|| format!("and {more} more files")));
    let entry = "a catalogue entry names format and files:  data/catalog/<name>.yaml";
    let hint =
        reasons.into_iter().find_map(|(_, reason)| reason.hint).unwrap_or_else(|| entry.to_owned());
    Box::new(
        error
            .expected(known.join(", "), if look.files.is_empty() { "no file" } else { "" })
            .hint(hint),
    )
}

/// The file of a format that is one file.
pub fn only(files: &[PathBuf]) -> Read<&Path> {
    match files {
        [file] => Ok(file),
        [] => Err(Box::new(
            ReadError::new(Path::new(""), "no file was given").expected("one file", "none"),
        )),
        [_, second, ..] => Err(Box::new(
            ReadError::new(second, "one file too many for this format")
                .expected("one file", files.len().to_string())
                .hint("name the file in a catalogue entry:  data/catalog/<name>.yaml"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading the memory of a process at its beginning is EIO.
    #[test]
    fn a_file_that_cannot_be_read_leaves_no_choice_to_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("valid.txt"), "a\tr\tb\n").unwrap();
        std::fs::write(path("list.txt"), "0 1\n1 2\n").unwrap();
        std::os::unix::fs::symlink("/proc/self/mem", path("train.txt")).unwrap();
        let files = ["list.txt", "train.txt", "valid.txt"].map(path);
        let error = detect(folder.path(), &files).err().unwrap();
        assert!(
            error.path.ends_with("train.txt")
                && error.what.contains("cannot read: Input/output error"),
            "{error}"
        );
        for (name, end) in
            [("graph", "npz"), ("graph", "safetensors"), ("graph", "zip"), ("nodes", "parquet")]
        {
            let file = path(&format!("{name}.{end}"));
            std::os::unix::fs::symlink("/proc/self/mem", &file).unwrap();
            assert!(
                detect(folder.path(), &[path("list.txt"), file])
                    .is_err_and(|error| error.is_of_system()),
                "{name}.{end}"
            );
        }
        // What is not there is no error, nor is damage: the other files are a set.
        std::fs::remove_file(path("train.txt")).unwrap();
        std::fs::write(path("valid.txt"), b"\x1f\x8b\x08 no gzip").unwrap();
        assert_eq!(detect(folder.path(), &files).unwrap().0.name, "edge_list");
    }

    #[test]
    fn every_format_stands_on_the_page_about_data() {
        let page = std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data.md"),
        )
        .unwrap();
        let missing: Vec<&str> = FORMATS
            .iter()
            .map(|format| format.name)
            .filter(|name| !page.contains(&format!("`{name}`")))
            .collect();
        assert!(missing.is_empty(), "docs/data.md does not name {missing:?}");
    }
}
