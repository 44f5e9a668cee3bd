//! download_error: why a download failed: the network, the downloaded content, or the disk.
//!
//! promises  one line without a place; says whether the disk is at fault, since a copy by hand
//!           would fail too
use std::io;

/// Why a download failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DownloadError {
    /// One line.
    pub what: String,
    /// The error of the disk, if it is at fault.
    pub disk: Option<io::ErrorKind>,
    /// What to do, where it is not to fetch the file by hand.
    pub hint: Option<Box<str>>,
}

impl DownloadError {
    /// An error of the network or of the downloaded content.
    pub fn new(what: impl Into<String>) -> DownloadError {
        DownloadError { what: what.into(), disk: None, hint: None }
    }

    /// An error of the disk.
    pub fn disk(what: impl Into<String>, error: &io::Error) -> DownloadError {
        DownloadError {
            what: format!("{}: {error}", what.into()),
            disk: Some(error.kind()),
            hint: None,
        }
    }

    /// Whether a limit on file sizes was reached.
    pub fn is_file_size_limit(&self) -> bool {
        self.disk == Some(io::ErrorKind::FileTooLarge)
    }

    /// Whether the disk is full.
    pub fn is_disk_full(&self) -> bool {
        self.disk.is_some_and(|kind| {
            matches!(
                kind,
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            )
        })
    }
}
