//! Opens a file as it is stored, and counts the bytes that are read.
//!
//! never     opens a folder, a pipe or a device
use crate::read_error::{Read, ReadError, if_sound};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of raw files, as they are stored, that this process has read. It is there to show how far
/// reading is, and for nothing else.
static STORED_BYTES_READ: AtomicU64 = AtomicU64::new(0);

/// How many bytes of raw files, as they are stored, were read since the process began.
pub fn stored_bytes_read() -> u64 {
    STORED_BYTES_READ.load(Ordering::Relaxed)
}

/// So many more of them were read.
pub(crate) fn count_read(bytes: u64) {
    STORED_BYTES_READ.fetch_add(bytes, Ordering::Relaxed);
}

/// A file and its length. A folder, a pipe or a device is refused before it is opened: opening a
/// pipe would wait for somebody to write.
pub(crate) fn open_file(path: &Path) -> Read<(File, u64)> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let about = fs::metadata(path).map_err(fault)?;
    if about.is_dir() {
        return Err(Box::new(
            ReadError::new(path, "this is a folder")
                .expected("a file", "a folder")
                .hint("name one of the files in it"),
        ));
    }
    if !about.is_file() {
        let error = ReadError::new(path, "this is no file that can be read twice")
            .expected("a file", "a pipe, a socket or a device");
        return Err(Box::new(
            error.hint("write what comes out of it to a file first:  cat PIPE > FILE"),
        ));
    }
    Ok((File::open(path).map_err(fault)?, about.len()))
}

/// At most eight bytes of a file, as it is stored.
pub(super) fn first_bytes(mut file: &File, path: &Path) -> Read<Vec<u8>> {
    let mut first = Vec::with_capacity(8);
    file.by_ref()
        .take(8)
        .read_to_end(&mut first)
        .map_err(|error| ReadError::from_io(path, &error))?;
    Ok(first)
}

/// Whether a file, as it is stored, begins so; what is no file does not.
pub(crate) fn begins(path: &Path, is_begin: impl Fn(&[u8]) -> bool) -> Read<bool> {
    let first = if_sound(open_file(path).and_then(|(file, _)| first_bytes(&file, path)))?;
    Ok(first.is_some_and(|first| is_begin(&first)))
}

/// Counts the bytes that pass.
pub(crate) struct CountedReader<R> {
    pub(super) inner: R,
    pub(super) taken: Arc<AtomicU64>,
}

impl<R> CountedReader<R> {
    /// Of a reader of stored bytes.
    pub(crate) fn new(inner: R) -> Self {
        CountedReader { inner, taken: Arc::default() }
    }
}

impl<R: io::Read> io::Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.taken.fetch_add(got as u64, Ordering::Relaxed);
        count_read(got as u64);
        Ok(got)
    }
}
