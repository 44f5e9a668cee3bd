//! Why a file did not come: the network or what came over it, or the disk that it was to be kept
//! on.
//!
//! promises  one line without a place; whether the disk is at fault, for then nothing can be done
//!           by hand either
use std::io;

/// Why a file did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DownloadError {
    /// One line.
    pub what: String,
    /// What the disk said, where it is at fault.
    pub disk: Option<io::ErrorKind>,
    /// What to do, where it is another thing than to fetch the file by hand.
    pub hint: Option<Box<str>>,
}

impl DownloadError {
    /// Of the network, or with what came.
    pub fn new(what: impl Into<String>) -> DownloadError {
        DownloadError { what: what.into(), disk: None, hint: None }
    }

    /// Of the disk.
    pub fn disk(what: impl Into<String>, error: &io::Error) -> DownloadError {
        DownloadError {
            what: format!("{}: {error}", what.into()),
            disk: Some(error.kind()),
            hint: None,
        }
    }

    /// Whether a file may not grow, however much room there is.
    pub fn is_file_size_limit(&self) -> bool {
        self.disk == Some(io::ErrorKind::FileTooLarge)
    }

    /// Whether there is no room left.
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
