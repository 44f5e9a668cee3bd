//! Zip archives: the members' names, and the plain bytes of a member.
//!
//! promises  the central directory decides (numpy and streamed archives leave sizes out of local headers); size and CRC-32 of a
//!           member are checked when it is read; an error names the member and the byte of the archive
//! promises  names are relative, below the archive, and distinct: `../`, absolute names and drives refuse the whole archive
//! never     writes a file; believes a claimed size: memory grows with what is really unpacked
//! limits    stored and deflated members; no zip64 (4 GiB), encryption or parts; a member unpacks to at most 256 MiB or 200 times
//!           its packed size, whichever is more, and never to more than the 1032 times that deflate can reach
//! format    PKWARE, APPNOTE.TXT 6.3
use crate::raw::{Read, ReadError};
use flate2::{Crc, read::DeflateDecoder};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read as _, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// What stands before each thing, and how long that thing is without its name and other open ends.
const LOCAL: (&[u8; 4], usize) = (b"PK\x03\x04", 30);
const CENTRAL: (&[u8; 4], usize) = (b"PK\x01\x02", 46);
const END: (&[u8; 4], usize) = (b"PK\x05\x06", 22);
const ZIP64_LOCATOR: (&[u8; 4], usize) = (b"PK\x06\x07", 20);
/// The end record may be followed by a comment of this length.
const COMMENT_MOST: u64 = 65_535;
/// What deflate can reach at all.
const RATIO_REACHED: u64 = 1032;
/// Members beyond `PLAIN_ALWAYS` unpack to at most this many times their packed size.
const RATIO_MOST: u64 = 200;
const PLAIN_ALWAYS: u64 = 256 << 20;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

const AGAIN: &str = "download it again: remove the file, then  warploom data fetch";
const UNPACK: &str = "unpack it yourself and name the files:  unzip FILE -d FOLDER";

/// An archive whose directory was read and found sound.
pub struct Archive {
    path: PathBuf,
    members: BTreeMap<String, Member>,
}

#[derive(Clone, Copy)]
struct Member {
    method: u16,
    crc: u32,
    packed: u64,
    plain: u64,
    /// Where its local header begins.
    at: u64,
}

/// Whether a file that begins so is a zip archive.
pub fn is_zip(first: &[u8]) -> bool {
    first.starts_with(LOCAL.0) || first.starts_with(END.0)
}

/// Whether this file is a zip archive, by its first bytes.
pub fn is_zip_file(path: &Path) -> bool {
    let mut first = Vec::new();
    File::open(path).and_then(|file| file.take(4).read_to_end(&mut first)).is_ok() && is_zip(&first)
}

impl Archive {
    /// Reads the directory of an archive.
    pub fn open(path: &Path) -> Read<Archive> {
        let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
        let mut file = File::open(path).map_err(fault)?;
        let about = file.metadata().map_err(fault)?;
        if about.is_dir() {
            return Err(Box::new(ReadError::new(path, "this is a folder").expected("a zip archive", "a folder").hint("name one of the files in it")));
        }
        let directory = find_directory(path, &mut file, about.len())?;
        file.seek(SeekFrom::Start(directory.at)).map_err(fault)?;
        let mut bytes = Vec::new();
        file.take(directory.bytes).read_to_end(&mut bytes).map_err(fault)?;
        let members = read_directory(path, &directory, &bytes)?;
        Ok(Archive { path: path.to_path_buf(), members })
    }

    /// Names of the members that are files, ascending.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The size of a member as the directory claims it; none: no such member.
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        self.members.get(name).map(|member| member.plain)
    }

    /// The path under which errors name a member: the archive's, with the member's name behind.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The plain bytes of a member.
    pub fn read(&self, name: &str) -> Read<Vec<u8>> {
        let mut reader = self.reader(name)?;
        let mut plain = Vec::new();
        match reader.read_to_end(&mut plain) {
            Ok(_) => Ok(plain),
            Err(error) => Err(self.fault(name, &error)),
        }
    }

    /// The plain bytes of a member one after the other; size and sum are checked at the end, with an error of kind `InvalidData`.
    pub fn reader(&self, name: &str) -> Read<Unpacked> {
        let Some(&member) = self.members.get(name) else {
            let names: Vec<&str> = self.names().take(20).collect();
            let error = ReadError::new(&self.path, format!("the zip archive has no member `{name}`"));
            return Err(Box::new(error.expected("one of its members", names.join(", "))));
        };
        let fault = |error: io::Error| Box::new(ReadError::from_io(&self.path, &error));
        let mut file = File::open(&self.path).map_err(fault)?;
        file.seek(SeekFrom::Start(member.at)).map_err(fault)?;
        let mut header = Vec::new();
        file.by_ref().take(LOCAL.1 as u64).read_to_end(&mut header).map_err(fault)?;
        if header.len() < LOCAL.1 || !header.starts_with(LOCAL.0) {
            let error = ReadError::new(&self.path, format!("the zip archive has no header for `{name}` where its directory says")).at_byte(member.at);
            return Err(Box::new(error.expected("PK 3 4", format!("{:02x?}", &header[..header.len().min(4)])).hint(AGAIN)));
        }
        let skipped = u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        file.seek(SeekFrom::Start(member.at + LOCAL.1 as u64 + skipped)).map_err(fault)?;
        let packed = BufReader::with_capacity(1 << 17, file.take(member.packed));
        let inner: Box<dyn io::Read + Send> = if member.method == STORED { Box::new(packed) } else { Box::new(DeflateDecoder::new(packed)) };
        Ok(Unpacked { inner, crc: Crc::new(), left: member.plain, expected: member.crc })
    }

    /// The error for what `reader` met.
    pub fn fault(&self, name: &str, error: &io::Error) -> Box<ReadError> {
        if error.raw_os_error().is_some() {
            return Box::new(ReadError::from_io(&self.path, error));
        }
        let at = self.members.get(name).map_or(0, |member| member.at);
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the member `{name}` of the zip archive is cut short"),
            _ => format!("the member `{name}` of the zip archive is damaged: {error}"),
        };
        Box::new(ReadError::new(&self.path, what).at_byte(at).hint(AGAIN))
    }
}

/// A member being unpacked.
pub struct Unpacked {
    inner: Box<dyn io::Read + Send>,
    crc: Crc,
    left: u64,
    expected: u32,
}

impl io::Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            // One byte more than claimed shows a lie; then the sum tells whether the bytes are those that were packed.
            return match (self.inner.read(&mut [0])?, self.crc.sum() == self.expected) {
                (0, true) => Ok(0),
                (0, false) => Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not fit")),
                _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is larger than the directory says")),
            };
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = self.inner.read(&mut buffer[..most])?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.crc.update(&buffer[..got]);
        self.left -= got as u64;
        Ok(got)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Where the directory stands, and how many entries it should have.
struct Directory {
    at: u64,
    bytes: u64,
    entries: u16,
}

/// Finds the end record, which stands last but for a comment.
fn find_directory(path: &Path, file: &mut File, stored: u64) -> Read<Directory> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let tail_at = stored.saturating_sub(COMMENT_MOST + (END.1 + ZIP64_LOCATOR.1) as u64);
    file.seek(SeekFrom::Start(tail_at)).map_err(fault)?;
    let mut tail = Vec::new();
    file.take(stored - tail_at).read_to_end(&mut tail).map_err(fault)?;
    let ends_here = |&at: &usize| tail[at..].starts_with(END.0) && at + END.1 + usize::from(u16_at(&tail, at + 20)) == tail.len();
    let Some(at) = (0..(tail.len() + 1).saturating_sub(END.1)).rev().find(ends_here) else {
        let error = ReadError::new(path, "the zip archive is cut short, or is none: it has no directory at its end").at_byte(stored);
        return Err(Box::new(error.expected("an end record (PK 5 6)", "none").hint(AGAIN)));
    };
    let end_at = tail_at + at as u64;
    let directory = Directory { at: u64::from(u32_at(&tail, at + 16)), bytes: u64::from(u32_at(&tail, at + 12)), entries: u16_at(&tail, at + 10) };
    let refuse =
        |what: &str, expected: &str, found: String, hint: &str| Err(Box::new(ReadError::new(path, what).at_byte(end_at).expected(expected, found).hint(hint)));
    let is_zip64 = at >= ZIP64_LOCATOR.1 && tail[at - ZIP64_LOCATOR.1..].starts_with(ZIP64_LOCATOR.0);
    if is_zip64 || directory.at == u64::from(u32::MAX) || directory.bytes == u64::from(u32::MAX) {
        return refuse("the zip archive is in the zip64 form", "an archive below 4 GiB", "zip64".into(), UNPACK);
    }
    let parts = u16_at(&tail, at + 4);
    if parts != 0 || u16_at(&tail, at + 6) != 0 {
        return refuse("the zip archive is one of several parts", "one file", format!("part {parts}"), UNPACK);
    }
    if directory.at + directory.bytes > end_at {
        let found = format!("bytes {} to {}", directory.at, directory.at + directory.bytes);
        return refuse("the directory of the zip archive does not fit into the file", &format!("one that ends by byte {end_at}"), found, AGAIN);
    }
    Ok(directory)
}

/// Reads and judges all entries.
fn read_directory(path: &Path, directory: &Directory, bytes: &[u8]) -> Read<BTreeMap<String, Member>> {
    let mut members = BTreeMap::new();
    let (mut at, mut entries) = (0, 0);
    while at < bytes.len() {
        let byte = directory.at + at as u64;
        let fault = |what: String| ReadError::new(path, what).at_byte(byte);
        let entry = &bytes[at..];
        let lengths = [28, 30, 32].map(|field| usize::from(u16_at(entry, field)));
        let length = CENTRAL.1 + lengths.iter().sum::<usize>();
        if !entry.starts_with(CENTRAL.0) || entry.len() < length {
            let found = format!("{:02x?}", &entry[..entry.len().min(4)]);
            return Err(Box::new(fault("the directory of the zip archive is damaged".into()).expected("a whole entry (PK 1 2)", found).hint(AGAIN)));
        }
        let name = String::from_utf8_lossy(&entry[CENTRAL.1..CENTRAL.1 + lengths[0]]).into_owned();
        let member = Member {
            method: u16_at(entry, 10),
            crc: u32_at(entry, 16),
            packed: u64::from(u32_at(entry, 20)),
            plain: u64::from(u32_at(entry, 24)),
            at: u64::from(u32_at(entry, 42)),
        };
        (at, entries) = (at + length, entries + 1);
        if let Err((what, expected, found, hint)) = judge(&name, &member, u16_at(entry, 8), directory.at) {
            return Err(Box::new(fault(format!("the member `{name}` of the zip archive {what}")).expected(expected, found).hint(hint)));
        }
        if name.ends_with(['/', '\\']) {
            continue;
        }
        if members.insert(name.clone(), member).is_some() {
            return Err(Box::new(fault(format!("the zip archive has two members `{name}`")).expected("names that differ", "one twice").hint(UNPACK)));
        }
    }
    if entries != usize::from(directory.entries) {
        let error = ReadError::new(path, "the directory of the zip archive disagrees with its own count").at_byte(directory.at);
        return Err(Box::new(error.expected(format!("{} entries", directory.entries), entries.to_string()).hint(AGAIN)));
    }
    refuse_overlap(path, directory, &members)?;
    Ok(members)
}

/// What is wrong with a member, what was expected, what was found, and what to do.
type Verdict = Result<(), (&'static str, String, String, &'static str)>;

fn judge(name: &str, member: &Member, flags: u16, directory_at: u64) -> Verdict {
    let mut steps = name.split(['/', '\\']);
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.is_empty() || name.starts_with(['/', '\\']) || drive || name.contains('\0') || steps.any(|step| step == "..") {
        return Err(("leads out of the archive", "a relative name without `..`".into(), format!("`{name}`"), "take the archive from a source that you trust"));
    }
    if flags & 1 != 0 {
        return Err(("is encrypted", "one that is not".into(), "a password".into(), UNPACK));
    }
    if member.method != STORED && member.method != DEFLATED {
        return Err(("is packed by a method that is not read", "stored (0) or deflate (8)".into(), member.method.to_string(), UNPACK));
    }
    if [member.packed, member.plain, member.at].contains(&u64::from(u32::MAX)) {
        return Err(("is in the zip64 form", "a member below 4 GiB".into(), "zip64".into(), UNPACK));
    }
    if member.at + member.packed + LOCAL.1 as u64 > directory_at {
        return Err((
            "does not fit into the file",
            format!("one that ends by byte {directory_at}"),
            format!("{} bytes at {}", member.packed, member.at),
            AGAIN,
        ));
    }
    let most = (RATIO_MOST * member.packed).max(PLAIN_ALWAYS).min(RATIO_REACHED * member.packed + 64);
    let lies = member.method == STORED && member.plain != member.packed;
    if lies || member.plain > most {
        let expected = if lies { format!("{} bytes", member.packed) } else { format!("at most {most} bytes") };
        return Err((
            "claims to unpack to too much",
            expected,
            member.plain.to_string(),
            "if it is what you expect, unpack it yourself:  unzip FILE -d FOLDER",
        ));
    }
    Ok(())
}

/// Members that share bytes make an archive unpack to more than all ratios allow.
fn refuse_overlap(path: &Path, directory: &Directory, members: &BTreeMap<String, Member>) -> Read<()> {
    let mut order: Vec<(&String, &Member)> = members.iter().collect();
    order.sort_by_key(|(_, member)| member.at);
    let overlaps = |pair: &&[(&String, &Member)]| pair[0].1.at + pair[0].1.packed + LOCAL.1 as u64 > pair[1].1.at;
    match order.windows(2).find(overlaps) {
        None => Ok(()),
        Some(pair) => {
            let what = format!("the members `{}` and `{}` of the zip archive share bytes", pair[0].0, pair[1].0);
            Err(Box::new(ReadError::new(path, what).at_byte(directory.at).expected("members one behind the other", "an overlap").hint(AGAIN)))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::{Compression, write::DeflateEncoder};
    use proptest::prelude::*;
    use std::{fs, io::Write as _};

    /// What a member is written as.
    struct Written<'a> {
        name: &'a str,
        text: &'a [u8],
        method: u16,
        /// Changes the directory's entry before it is written.
        edit: Edit,
    }

    type Edit = fn(&mut Vec<u8>);

    fn member<'a>(name: &'a str, text: &'a [u8]) -> Written<'a> {
        Written { name, text, method: DEFLATED, edit: |_| {} }
    }

    fn pack(members: &[Written]) -> Vec<u8> {
        let (mut archive, mut directory) = (Vec::new(), Vec::new());
        for Written { name, text, method, edit } in members {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text).unwrap();
            let packed = if *method == STORED { text.to_vec() } else { encoder.finish().unwrap() };
            let mut crc = Crc::new();
            crc.update(text);
            let mut about = Vec::new();
            about.extend_from_slice(&[20, 0, 0, 0]);
            about.extend_from_slice(&method.to_le_bytes());
            about.extend_from_slice(&[0; 4]);
            for number in [crc.sum(), packed.len() as u32, text.len() as u32] {
                about.extend_from_slice(&number.to_le_bytes());
            }
            about.extend_from_slice(&(name.len() as u16).to_le_bytes());
            about.extend_from_slice(&[0; 2]);
            let mut entry = [&CENTRAL.0[..], &[20, 3], &about, &[0; 10], &(archive.len() as u32).to_le_bytes(), name.as_bytes()].concat();
            edit(&mut entry);
            directory.extend_from_slice(&entry);
            archive.extend_from_slice(&[&LOCAL.0[..], &about, name.as_bytes(), &packed].concat());
        }
        let at = archive.len() as u32;
        let count = (members.len() as u16).to_le_bytes();
        let end = [&END.0[..], &[0; 4], &count, &count, &(directory.len() as u32).to_le_bytes(), &at.to_le_bytes(), &[2, 0], b"hi"].concat();
        [archive, directory, end].concat()
    }

    /// An archive of text members, for the tests of those that read archives.
    pub(crate) fn archive_of(members: &[(&str, &[u8])]) -> Vec<u8> {
        pack(&members.iter().map(|(name, text)| member(name, text)).collect::<Vec<_>>())
    }

    /// An archive whose file goes with it.
    struct Opened(Archive, #[expect(dead_code, reason = "held for its drop")] tempfile::TempDir);

    impl std::ops::Deref for Opened {
        type Target = Archive;

        fn deref(&self) -> &Archive {
            &self.0
        }
    }

    fn open(bytes: &[u8]) -> Read<Opened> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        fs::write(&path, bytes).unwrap();
        Ok(Opened(Archive::open(&path)?, folder))
    }

    fn shared(name: &str) -> Option<PathBuf> {
        let root = std::env::var_os("WARPLOOM_SHARED").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
        let path = root.join("data").join(name);
        if !path.exists() {
            println!("SKIPPED: {name}: no such file under WARPLOOM_SHARED");
        }
        path.exists().then_some(path)
    }

    #[test]
    fn members_are_read_stored_and_deflated() {
        let long: Vec<u8> = (0..50_000u32).flat_map(u32::to_le_bytes).collect();
        let stored = Written { method: STORED, ..member("b/stored.txt", b"some text") };
        let bytes = pack(&[member("folder/", b""), member("a.txt", &long), stored, member("empty", b"")]);
        let archive = open(&bytes).unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a.txt", "b/stored.txt", "empty"]);
        assert!(archive.read("a.txt").unwrap() == long);
        assert_eq!((archive.read("b/stored.txt").unwrap(), archive.read("empty").unwrap()), (b"some text".to_vec(), Vec::new()));
        assert_eq!((archive.bytes_of("a.txt"), archive.bytes_of("none")), (Some(200_000), None));
        assert!(archive.read("none").unwrap_err().what.contains("no member `none`"));
        assert!(is_zip(&bytes) && !is_zip(b"PK"));
        assert_eq!(open(&pack(&[])).unwrap().names().count(), 0);
    }

    #[test]
    fn names_that_lead_out_refuse_the_archive() {
        for name in ["../evil", "a/../../evil", "/etc/passwd", "..", "a\\..\\b", "\\\\host\\x", "C:\\x", "", "a\0b", "a/.."] {
            let error = open(&pack(&[member("good", b"x"), member(name, b"x")])).err().unwrap();
            assert!(error.what.contains("leads out of the archive") && !error.hint.is_empty(), "{name}: {error}");
        }
        assert!(open(&pack(&[member("a..b/..c/.d", b"x")])).is_ok());
    }

    #[test]
    fn what_is_not_read_is_named() {
        let cases: [(Edit, &str); 8] = [
            (|entry| entry[8] |= 1, "is encrypted"),
            (|entry| entry[10] = 14, "method that is not read"),
            (|entry| entry[24..28].fill(0xff), "zip64"),
            (|entry| entry[20..24].copy_from_slice(&1_000_000u32.to_le_bytes()), "does not fit into the file"),
            (|entry| entry[24..28].copy_from_slice(&0x7fff_ffffu32.to_le_bytes()), "unpack to too much"),
            (|entry| entry[0] = b'X', "directory of the zip archive is damaged"),
            (|entry| entry[28] = 200, "directory of the zip archive is damaged"),
            (|entry| entry[42..46].fill(0x11), "does not fit into the file"),
        ];
        for (edit, what) in cases {
            let error = open(&pack(&[Written { edit, ..member("a", b"some text") }])).err().unwrap();
            assert!(error.what.contains(what), "{what}: {error}");
        }
        let twice = open(&pack(&[member("a", b"x"), member("a", b"y")])).err().unwrap();
        assert!(twice.what.contains("two members `a`"), "{twice}");
        let again = Written { edit: |entry| entry[42..46].fill(0), ..member("b", b"x") };
        assert!(open(&pack(&[member("a", b"x"), again])).err().unwrap().what.contains("share bytes"));
        let lies = Written { method: STORED, edit: |entry| entry[24] += 1, ..member("a", b"xyz") };
        assert!(open(&pack(&[lies])).err().unwrap().what.contains("too much"));
        assert!(open(b"").err().unwrap().what.contains("no directory"));
        assert!(Archive::open(&std::env::temp_dir()).err().unwrap().what.contains("folder"));
    }

    #[test]
    fn a_damaged_member_is_an_error_when_it_is_read() {
        let cases: [(Edit, &str); 4] = [
            (|entry| entry[16] ^= 1, "checksum does not fit"),
            (|entry| entry[24] -= 1, "larger than the directory says"),
            (|entry| entry[24] += 1, "cut short"),
            (|entry| entry[20] -= 3, "cut short"),
        ];
        for (edit, what) in cases {
            let error = open(&pack(&[Written { edit, ..member("a", b"some text that is packed") }])).unwrap().read("a").unwrap_err();
            assert!(error.what.contains(what) && error.what.contains("`a`"), "{what}: {error}");
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = archive_of(&[("a", b"some text"), ("b", b"more text")]);
        for length in 0..bytes.len() {
            assert!(open(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn published_archives_are_read() {
        for (name, member, bytes) in [
            ("uai2010/uai.zip", "uai/uai.feature", 30_504_382),
            ("newman_gml/football.zip", "football.gml", 0),
            ("minesweeper/minesweeper.npz", "edges.npy", 0),
        ] {
            let Some(path) = shared(name) else { continue };
            let archive = Archive::open(&path).unwrap();
            let plain = archive.read(member).unwrap_or_else(|error| panic!("{error}"));
            assert!(plain.len() == bytes || bytes == 0 && !plain.is_empty());
        }
        let Some(data) = shared("") else { return };
        let folders = fs::read_dir(data).unwrap().flat_map(|folder| fs::read_dir(folder.unwrap().path()).into_iter().flatten());
        let archives = folders.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "zip" || end == "npz"));
        for path in archives {
            let archive = Archive::open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(archive.names().all(|name| archive.read(name).unwrap().len() as u64 == archive.bytes_of(name).unwrap()), "{}", path.display());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_archive_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = open(&[&bytes[..], &pack(&[])].concat());
        }

        #[test]
        fn a_changed_archive_gives_the_same_members_or_an_error(at in 0usize..400, byte in any::<u8>()) {
            let mut bytes = archive_of(&[("first", b"some text some text"), ("b", b"")]);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(text) = open(&bytes).and_then(|archive| archive.read("first")) {
                prop_assert_eq!(&text[..], b"some text some text");
            }
        }
    }
}
