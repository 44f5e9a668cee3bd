//! Opens a raw file as plain bytes, whatever it is packed in.
//!
//! promises  plain, gzip (several members too), zstd and a zip archive of one member are told apart
//!           by their first bytes, not by name
//! promises  a packed file that is cut short or damaged is an error that names the file and the
//!           byte of it
//! never     holds more than a few buffers, unless the whole is asked for; writes a file; maps one
//!           (a raw file may change under us)
use super::{
    gzip::{self, GzipMembers, TRAILING_HINT},
    raw_file::{CountedReader, first_bytes, open_file},
    zip::{ZipArchive, is_zip},
};
use crate::read_error::{Read, ReadError};
use std::{
    io::{self, BufReader, Cursor, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The buffer before a decoder.
const BUFFER_BYTES: usize = 1 << 18;

/// The plain bytes of a raw file.
pub struct PlainFile {
    path: PathBuf,
    reader: Box<dyn io::Read + Send>,
    packing: Packing,
    /// The archive and the name in it, where this is a member.
    member: Option<(Arc<ZipArchive>, String)>,
    /// Bytes of the file as stored that were handed to the decoder.
    taken: Arc<AtomicU64>,
    stored: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
    Zip,
}

impl PlainFile {
    /// Opens a file and looks at its first bytes.
    pub fn open(path: &Path) -> Read<PlainFile> {
        let (file, stored) = open_file(path)?;
        let first = first_bytes(&file, path)?;
        let packing = packing_of(&first).map_err(|(name, hint)| {
            Box::new(
                ReadError::new(path, format!("the file is packed as {name}"))
                    .expected("plain text, gzip or zstd", name)
                    .hint(hint),
            )
        })?;
        let taken = Arc::new(AtomicU64::new(0));
        let counted = CountedReader { inner: Cursor::new(first).chain(file), taken: taken.clone() };
        let reader: Box<dyn io::Read + Send> = match packing {
            Packing::Plain => Box::new(counted),
            Packing::Gzip => {
                Box::new(GzipMembers::new(BufReader::with_capacity(BUFFER_BYTES, counted)))
            }
            Packing::Zstd => Box::new(
                zstd::stream::read::Decoder::new(counted)
                    .map_err(|error| ReadError::from_io(path, &error))?,
            ),
            Packing::Zip => return PlainFile::open_only(path),
        };
        Ok(PlainFile { path: path.to_path_buf(), reader, packing, member: None, taken, stored })
    }

    /// Opens the only member of an archive.
    fn open_only(path: &Path) -> Read<PlainFile> {
        let archive = Arc::new(ZipArchive::open(path)?);
        match archive.names().take(3).collect::<Vec<_>>()[..] {
            [name] => PlainFile::open_member(&archive, name),
            ref names => {
                let error = ReadError::new(path, "the zip archive does not hold one file alone")
                    .expected("one member", names.join(", "));
                Err(Box::new(
                    error.hint("unpack it, and name the file that you mean:  unzip FILE -d FOLDER"),
                ))
            }
        }
    }

    /// Opens a member of an archive; errors name it by the path `archive/member`.
    pub fn open_member(archive: &Arc<ZipArchive>, name: &str) -> Read<PlainFile> {
        let member = Some((archive.clone(), name.to_owned()));
        let reader = Box::new(archive.reader(name)?);
        Ok(PlainFile {
            path: archive.path_of(name),
            reader,
            packing: Packing::Zip,
            member,
            taken: Arc::default(),
            stored: 0,
        })
    }

    /// The file, as errors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many plain bytes there are, where that is known without unpacking them.
    pub fn size(&self) -> Option<u64> {
        (self.packing == Packing::Plain).then_some(self.stored)
    }

    /// Appends up to `most` plain bytes to `buffer`; fewer only at the end of the file.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, most: usize) -> Read<usize> {
        let got = self.reader.by_ref().take(most as u64).read_to_end(buffer);
        got.map_err(|error| self.fault(&error))
    }

    /// All plain bytes.
    pub fn read_all(mut self) -> Read<Vec<u8>> {
        let mut buffer = Vec::new();
        match self.reader.read_to_end(&mut buffer) {
            Ok(_) => Ok(buffer),
            Err(error) => Err(self.fault(&error)),
        }
    }

    /// An error of the decoder or of the operating system.
    fn fault(&self, error: &io::Error) -> Box<ReadError> {
        if let Some((archive, name)) = &self.member {
            return archive.fault(name, error);
        }
        let name = match self.packing {
            Packing::Gzip if error.raw_os_error().is_none() => "gzip",
            Packing::Zstd if error.raw_os_error().is_none() => "zstd",
            _ => return Box::new(ReadError::from_io(&self.path, error)),
        };
        let taken = self.taken.load(Ordering::Relaxed).min(self.stored);
        if let Some(trailing) = gzip::trailing(error) {
            let byte = taken.saturating_sub(trailing.unread);
            let error =
                ReadError::new(&self.path, format!("the gzip file is whole, and {trailing}"))
                    .at_byte(byte);
            return Box::new(
                error
                    .expected("the end of the file", format!("{} bytes more", self.stored - byte))
                    .hint(TRAILING_HINT),
            );
        }
        let byte = taken;
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {name} file is cut short"),
            _ => format!("the {name} file is damaged at or before this byte: {error}"),
        };
        let hint = "download it again: remove the file, then  warploom data fetch";
        Box::new(ReadError::new(&self.path, what).at_byte(byte).hint(hint))
    }
}

/// What the first bytes say; packings that are not read are named with the way out.
fn packing_of(first: &[u8]) -> Result<Packing, (&'static str, &'static str)> {
    match first {
        [0x1f, 0x8b, ..] => Ok(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Ok(Packing::Zstd),
        first if is_zip(first) => Ok(Packing::Zip),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] => {
            Err(("bzip2", "unpack it first:  bunzip2 FILE"))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Err(("xz", "unpack it first:  unxz FILE")),
        _ => Ok(Packing::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::gzip::tests::gzip;
    use std::fs;

    fn read(bytes: &[u8]) -> Read<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, bytes).unwrap();
        PlainFile::open(&path)?.read_all()
    }

    #[test]
    fn every_packing_gives_the_same_bytes() {
        let text: Vec<u8> =
            (0..200_000u32).flat_map(|i| format!("{i} {}\n", i * 7 % 1000).into_bytes()).collect();
        let (one, two) = text.split_at(70_000);
        let frames =
            [zstd::encode_all(one, 1).unwrap(), zstd::encode_all(two, 1).unwrap()].concat();
        for packed in [text.clone(), gzip(&text), [gzip(one), gzip(two)].concat(), frames] {
            assert!(read(&packed).unwrap() == text);
        }
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn a_cut_or_damaged_file_is_named_with_its_byte() {
        let packed = gzip(&(0..50_000u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        let error = read(&packed[..packed.len() / 2]).unwrap_err();
        assert!(
            error.to_string().contains(&format!(
                "cut short\n  --> {}: byte {}",
                error.path.display(),
                packed.len() / 2
            )),
            "{error}"
        );
        let mut damaged = packed.clone();
        let last = damaged.len() - 6;
        damaged[last] ^= 1;
        assert!(read(&damaged).unwrap_err().what.contains("damaged"));
        let packed = zstd::encode_all(&b"some text that is packed"[..], 1).unwrap();
        assert!(
            read(&packed[..packed.len() - 3]).unwrap_err().what.contains("zstd file is cut short")
        );
    }

    #[test]
    fn bytes_behind_a_gzip_file_are_said_to_be_that() {
        let packed = gzip(b"0 1\n1 2\n");
        let error = read(&[&packed[..], b"junk"].concat()).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("the gzip file is whole, and bytes follow behind its end")
                && !said.contains("cut short"),
            "{said}"
        );
        assert!(
            said.contains(&format!("byte {}", packed.len()))
                && said.contains("found 4 bytes more")
                && said.contains("hint:"),
            "{said}"
        );
        assert_eq!(read(&[packed, vec![0; 512]].concat()).unwrap(), b"0 1\n1 2\n");
    }

    #[test]
    fn a_folder_a_missing_file_and_a_zip_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        assert!(PlainFile::open(dir.path()).err().unwrap().what.contains("folder"));
        assert_eq!(
            PlainFile::open(&dir.path().join("none")).err().unwrap().io,
            Some(io::ErrorKind::NotFound)
        );
        assert!(read(b"PK\x03\x04....").unwrap_err().what.contains("zip archive is cut short"));
    }

    #[test]
    fn a_zip_archive_of_one_member_is_that_member() {
        use crate::containers::zip::tests::archive_of;
        assert_eq!(
            read(&archive_of(&[("folder/", b""), ("folder/a.txt", b"0 1\n")])).unwrap(),
            b"0 1\n"
        );
        let error = read(&archive_of(&[("a", b"0 1\n"), ("b", b"")])).unwrap_err();
        assert!(error.what.contains("one file alone") && error.hint.contains("unzip"), "{error}");
        let mut damaged = archive_of(&[("a.txt", b"some text that is packed")]);
        damaged[36] ^= 1;
        assert!(read(&damaged).unwrap_err().what.contains("`a.txt` of the zip archive is"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(start in 0usize..3, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let magic: &[u8] = [&b""[..], b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"][start];
            let _ = read(&[magic, &bytes].concat());
        }
    }
}
