//! The plain bytes of a file or of a member of an archive, as they are read.
//!
//! promises  an error names the file, or the archive and its member
use super::{
    decompress::PlainFile,
    gzip::{self, GzipMembers, TRAILING_HINT},
    zip::ZipArchive,
};
use crate::read_error::{Read, ReadError};
use std::{
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
};

/// Bytes that are copied at once.
const COPY_BYTES: usize = 1 << 19;

type Fill<'a> = Box<dyn FnMut(&mut Vec<u8>, usize) -> Read<usize> + Send + 'a>;

/// The plain bytes of a file or of a member of an archive.
pub(crate) struct TextSource<'a> {
    pub(crate) path: PathBuf,
    pub(crate) fill: Fill<'a>,
}

impl<'a> TextSource<'a> {
    /// A file, packed or not.
    pub fn open(path: &Path) -> Read<TextSource<'static>> {
        let mut plain = PlainFile::open(path)?;
        Ok(TextSource::from_fill(path.to_path_buf(), move |buffer, most| plain.fill(buffer, most)))
    }

    /// What `fill` appends, at most as many bytes as asked for and none at the end; shown as
    /// `path`.
    pub fn from_fill(
        path: PathBuf,
        fill: impl FnMut(&mut Vec<u8>, usize) -> Read<usize> + Send + 'a,
    ) -> TextSource<'a> {
        TextSource { path, fill: Box::new(fill) }
    }

    /// A reader whose errors `fault` explains, shown as `path`.
    pub fn from_reader<R: io::Read + Send + 'a>(
        path: PathBuf,
        mut reader: R,
        fault: impl Fn(&io::Error) -> Box<ReadError> + Send + 'a,
    ) -> TextSource<'a> {
        TextSource::from_fill(path, move |buffer, most| {
            reader.by_ref().take(most as u64).read_to_end(buffer).map_err(|error| fault(&error))
        })
    }

    /// A member of a zip archive.
    pub fn open_member(archive: &'a ZipArchive, name: &str) -> Read<TextSource<'a>> {
        let (reader, name) = (archive.reader(name)?, name.to_owned());
        Ok(TextSource::from_reader(archive.path_of(&name), reader, move |error| {
            archive.fault(&name, error)
        }))
    }

    /// What a gzip file gives when it is unpacked.
    pub fn gunzip(self) -> TextSource<'a> {
        let path = self.path.clone();
        let own = path.clone();
        let fault = move |error: &io::Error| match error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<ReadError>())
        {
            Some(inner) => Box::new(inner.clone()),
            None if gzip::trailing(error).is_some() => {
                let error = ReadError::new(
                    &own,
                    "a gzip member of an archive is whole, and bytes follow behind its end that \
                     are no gzip",
                );
                Box::new(error.expected("the end of the member", "more bytes").hint(TRAILING_HINT))
            }
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                Box::new(ReadError::new(&own, "a gzip member of an archive is cut short"))
            }
            None => Box::new(ReadError::new(
                &own,
                format!("a gzip member of an archive is damaged: {error}"),
            )),
        };
        let stored = StoredText { text: self, bytes: Vec::new() };
        TextSource::from_reader(
            path,
            GzipMembers::new(BufReader::with_capacity(1 << 17, stored)),
            fault,
        )
    }

    /// How errors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all bytes; how many they are.
    pub fn copy(mut self, out: &mut impl io::Write) -> Read<u64> {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while (self.fill)(&mut block, COPY_BYTES)? > 0 {
            out.write_all(&block)
                .map_err(|error| Box::new(ReadError::from_io(&self.path, &error)))?;
            bytes += block.len() as u64;
            block.clear();
        }
        Ok(bytes)
    }

    /// All bytes.
    #[cfg(test)]
    pub fn read_all(mut self) -> Read<Vec<u8>> {
        let mut bytes = Vec::new();
        while (self.fill)(&mut bytes, COPY_BYTES)? > 0 {}
        Ok(bytes)
    }
}

/// A text as a reader; its errors are kept whole inside those of the reader.
struct StoredText<'a> {
    text: TextSource<'a>,
    bytes: Vec<u8>,
}

impl io::Read for StoredText<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.clear();
        let got = (self.text.fill)(&mut self.bytes, buffer.len())
            .map_err(|error| io::Error::other(*error))?;
        buffer[..got].copy_from_slice(&self.bytes);
        Ok(got)
    }
}
