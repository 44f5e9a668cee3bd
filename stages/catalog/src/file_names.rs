//! file_names: the names that the files of a set may have in a folder, and those of downloads.
//!
//! never     opens a file: a path without permissions may exist
use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{entry::RawFile, is_absence};

/// The existing file of this name: plain, `.gz` or `.zst`.
pub(crate) fn find_spelling(folder: &Path, file: &str) -> Option<PathBuf> {
    // A path without permissions counts as existing: reading it then says why it fails, which its
    // stand-in would hide.
    ["", ".gz", ".zst"]
        .iter()
        .map(|end| folder.join(format!("{file}{end}")))
        .find(|path| may_be_there(path))
}

/// Whether a path exists or cannot be looked at.
pub(crate) fn may_be_there(path: &Path) -> bool {
    !fs::metadata(path).is_err_and(|error| is_absence(&error))
}

/// The existing file of a set under one of its names.
pub(crate) fn find_file(folder: &Path, file: &RawFile) -> Option<PathBuf> {
    std::iter::once(&file.file).chain(&file.also).find_map(|name| find_spelling(folder, name))
}

/// The name of a downloaded file: plain, or with the URL's `.gz` or `.zst`.
pub(crate) fn download_name(file: &RawFile, url: &str) -> String {
    let packed =
        [".gz", ".zst"].into_iter().find(|end| url.ends_with(end) && !file.file.ends_with(end));
    format!("{}{}", file.file, packed.unwrap_or_default())
}
