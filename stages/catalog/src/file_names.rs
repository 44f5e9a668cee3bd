//! file_names: under which names the files of a set may lie in a folder, and come to lie there.
//!
//! never     opens a file: what cannot be looked at may be there
use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{entry::RawFile, is_absence};

/// The plain, gzip or zstd spelling of a file that is there.
pub(crate) fn find_spelling(folder: &Path, file: &str) -> Option<PathBuf> {
    // A file that cannot be looked at is there: reading it says why it cannot be read, where its
    // stand-in would hide that.
    ["", ".gz", ".zst"]
        .iter()
        .map(|end| folder.join(format!("{file}{end}")))
        .find(|path| may_be_there(path))
}

/// Whether nothing is known to be missing: what cannot be looked at may be there.
pub(crate) fn may_be_there(path: &Path) -> bool {
    !fs::metadata(path).is_err_and(|error| is_absence(&error))
}

/// A file of a set under one of its names.
pub(crate) fn find_file(folder: &Path, file: &RawFile) -> Option<PathBuf> {
    std::iter::once(&file.file).chain(&file.also).find_map(|name| find_spelling(folder, name))
}

/// The name under which a download is kept: plain, or with the URL's `.gz` or `.zst`.
pub(crate) fn download_name(file: &RawFile, url: &str) -> String {
    let packed =
        [".gz", ".zst"].into_iter().find(|end| url.ends_with(end) && !file.file.ends_with(end));
    format!("{}{}", file.file, packed.unwrap_or_default())
}
