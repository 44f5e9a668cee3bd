//! regular_file: opens and reads regular files.
//!
//! promises  a FIFO, a device, a socket or a folder is refused before a byte is read: opening never
//!           waits for a writer
//! promises  a file that ends before its size does is an error
//! never     reads more than the caller's limit
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Why a file was not read, where the system reports no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a FIFO, a device, a socket or a folder.
    NotRegular(&'static str),
    /// It has more bytes than the limit: size and limit.
    TooLarge(u64, u64),
    /// Reading ended early: bytes read, and the size.
    CutShort(u64, u64),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotRegular(what) => write!(f, "expected a regular file, found {what}"),
            Refusal::TooLarge(bytes, most) => {
                write!(f, "expected at most {most} bytes, found {bytes}")
            }
            Refusal::CutShort(read, bytes) => {
                write!(f, "the file has {bytes} bytes, and reading it ended after {read}")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The refusal inside an I/O error.
    pub fn from_io_error(error: &io::Error) -> Option<Refusal> {
        error.get_ref()?.downcast_ref::<Refusal>().copied()
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::other(refusal)
    }
}

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    // Without this flag opening a FIFO waits for its writer; regular files ignore it.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    match file_kind(kind) {
        Some(what) => Err(Refusal::NotRegular(what).into()),
        None => Ok(file),
    }
}

/// The kind of a path that is not a regular file.
fn file_kind(kind: std::fs::FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let what = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "something else"
    };
    (!kind.is_file()).then_some(what)
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(Refusal::TooLarge(length, most).into());
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        read if read < length => Err(Refusal::CutShort(read, length).into()),
        read if read > most => Err(Refusal::TooLarge(read, most).into()),
        _ => Ok(bytes),
    }
}

/// Reads the text of a regular file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let refused = |path: &Path| Refusal::from_io_error(&read(path, 9).unwrap_err());
        assert_eq!(refused(&fifo), Some(Refusal::NotRegular("a FIFO")));
        assert_eq!(refused(Path::new("/dev/zero")), Some(Refusal::NotRegular("a device")));
        assert_eq!(refused(folder.path()), Some(Refusal::NotRegular("a folder")));
        let path = folder.path().join("file");
        std::fs::write(&path, "ten bytes.").unwrap();
        assert_eq!(refused(&path), Some(Refusal::TooLarge(10, 9)));
        assert_eq!(read(&path, 10).unwrap(), b"ten bytes.");
    }
}
