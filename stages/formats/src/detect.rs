//! Which format the files of a folder are: the first of `readers::FORMATS` that recognises them.
//!
//! promises  an error of the system ends the detection: what a file is that could not be read is
//!           not known
//! promises  where no format is recognised, every file is named with what was found in it
//! never     decides by name alone where the contents can tell
pub(crate) mod file_heads;
pub(crate) mod signatures;
pub(crate) mod unrecognised_files;

use crate::{
    format::Format,
    read_error::{Read, ReadError},
    readers::FORMATS,
};
use file_heads::FileHeads;
use std::path::{Path, PathBuf};

/// Files that are named, where no format is recognised.
const NAMED_MOST: usize = 12;

/// The format of these files, and which of them it reads.
pub fn detect(folder: &Path, files: &[PathBuf]) -> Read<(&'static Format, Vec<PathBuf>)> {
    let look = FileHeads::new(files);
    for format in FORMATS {
        if let Some(files) = format.recognised(&look)? {
            return Ok((format, files));
        }
    }
    Err(unrecognised(folder, &look))
}

/// Names each file with what was found in it; the first that something can be done about gives the
/// hint.
fn unrecognised(folder: &Path, look: &FileHeads) -> Box<ReadError> {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let mut error = ReadError::new(folder, "no format was recognised in this folder");
    let reasons: Vec<(&Path, unrecognised_files::FileReason)> = look
        .files()
        .take(NAMED_MOST)
        .map(|(path, _)| (path, unrecognised_files::find_reason(path)))
        .collect();
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
