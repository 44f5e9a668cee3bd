//! Zip archives: the members' names, and the plain bytes of a member.
//!
//! promises  the central directory decides (numpy and streamed archives leave sizes out of local
//!           headers); size and CRC-32 of a member are checked when it is read; an error names the
//!           member and the byte of the archive
//! promises  names are relative, below the archive, and distinct: `../`, absolute names and drives
//!           refuse the whole archive
//! never     writes a file; believes a claimed size: memory grows with what is really unpacked
//! reads     the zip64 form: archives and members beyond 4 GiB, more than 65,535 members, and
//!           smaller ones that writers of streams make so
//! limits    stored and deflated members; no encryption or parts; a member unpacks to at most 256
//!           MiB or 200 times its packed size, whichever is more, and never to more than the 1032
//!           times that deflate can reach
//! format    PKWARE, APPNOTE.TXT 6.3
use super::raw_file::{CountedReader, begins, open_file};
use crate::read_error::{Read, ReadError};
use flate2::{Crc, read::DeflateDecoder};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Cursor, Read as _, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

/// What stands before each thing, and how long that thing is without its name and other open ends.
const LOCAL: (&[u8; 4], usize) = (b"PK\x03\x04", 30);
const CENTRAL: (&[u8; 4], usize) = (b"PK\x01\x02", 46);
const END: (&[u8; 4], usize) = (b"PK\x05\x06", 22);
const ZIP64_LOCATOR: (&[u8; 4], usize) = (b"PK\x06\x07", 20);
const ZIP64_END: (&[u8; 4], usize) = (b"PK\x06\x06", 56);
/// The extra field with what does not fit 32 bits.
const ZIP64_EXTRA: u16 = 1;
/// Stands in 32 bits for what the zip64 form says elsewhere.
const ELSEWHERE: u64 = u32::MAX as u64;
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
pub struct ZipArchive {
    path: PathBuf,
    /// Its bytes; none: they are read from the file when asked for.
    held: Option<Arc<[u8]>>,
    members: BTreeMap<String, ZipMember>,
}

#[derive(Clone, Copy)]
struct ZipMember {
    method: u16,
    crc: u32,
    packed: u64,
    plain: u64,
    /// Where its local header begins.
    at: u64,
}

impl ZipMember {
    /// Where it ends at the earliest: what its local header has beside the fixed part is not known
    /// here.
    fn end(&self) -> u64 {
        self.at.saturating_add(self.packed).saturating_add(LOCAL.1 as u64)
    }
}

/// Whether a file that begins so is a zip archive.
pub fn is_zip(first: &[u8]) -> bool {
    first.starts_with(LOCAL.0) || first.starts_with(END.0)
}

/// Whether this file is a zip archive, by its first bytes.
pub fn is_zip_file(path: &Path) -> Read<bool> {
    begins(path, is_zip)
}

impl ZipArchive {
    /// Reads the directory of an archive.
    pub fn open(path: &Path) -> Read<ZipArchive> {
        let (file, bytes) = open_file(path)?;
        let members = members(path, file, bytes)?;
        Ok(ZipArchive { path: path.to_path_buf(), held: None, members })
    }

    /// Reads the directory of an archive that is a member of another; `path` is what errors call
    /// it.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Read<ZipArchive> {
        let members = members(path, Cursor::new(&bytes), bytes.len() as u64)?;
        Ok(ZipArchive { path: path.to_path_buf(), held: Some(bytes.into()), members })
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

    /// The plain bytes of a member one after the other; size and sum are checked at the end, with
    /// an error of kind `InvalidData`.
    pub fn reader(&self, name: &str) -> Read<Unpacked> {
        let Some(&member) = self.members.get(name) else {
            let names: Vec<&str> = self.names().take(20).collect();
            let error =
                ReadError::new(&self.path, format!("the zip archive has no member `{name}`"));
            return Err(Box::new(error.expected("one of its members", names.join(", "))));
        };
        let fault = |error: io::Error| Box::new(ReadError::from_io(&self.path, &error));
        let mut file: Box<dyn SeekRead> = match &self.held {
            Some(bytes) => Box::new(Cursor::new(bytes.clone())),
            None => Box::new(File::open(&self.path).map_err(fault)?),
        };
        file.seek(SeekFrom::Start(member.at)).map_err(fault)?;
        let mut header = Vec::new();
        file.by_ref().take(LOCAL.1 as u64).read_to_end(&mut header).map_err(fault)?;
        if header.len() < LOCAL.1 || !header.starts_with(LOCAL.0) {
            let error = ReadError::new(
                &self.path,
                format!("the zip archive has no header for `{name}` where its directory says"),
            )
            .at_byte(member.at);
            return Err(Box::new(
                error
                    .expected("PK 3 4", format!("{:02x?}", &header[..header.len().min(4)]))
                    .hint(AGAIN),
            ));
        }
        let skipped = u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        file.seek(SeekFrom::Start(member.at + LOCAL.1 as u64 + skipped)).map_err(fault)?;
        let packed =
            BufReader::with_capacity(1 << 17, CountedReader::new(file.take(member.packed)));
        let inner: Box<dyn io::Read + Send> = if member.method == STORED {
            Box::new(packed)
        } else {
            Box::new(DeflateDecoder::new(packed))
        };
        Ok(Unpacked { inner, crc: Crc::new(), left: member.plain, expected: member.crc })
    }

    /// The error for what `reader` met.
    pub fn fault(&self, name: &str, error: &io::Error) -> Box<ReadError> {
        if error.raw_os_error().is_some() {
            return Box::new(ReadError::from_io(&self.path, error));
        }
        let at = self.members.get(name).map_or(0, |member| member.at);
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the member `{name}` of the zip archive is cut short")
            }
            _ => format!("the member `{name}` of the zip archive is damaged: {error}"),
        };
        Box::new(ReadError::new(&self.path, what).at_byte(at).hint(AGAIN))
    }
}

/// Where the bytes of an archive come from.
trait SeekRead: io::Read + Seek + Send {}

impl<T: io::Read + Seek + Send> SeekRead for T {}

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
            // One byte more than claimed shows a lie; then the sum tells whether the bytes are
            // those that were packed.
            return match (self.inner.read(&mut [0])?, self.crc.sum() == self.expected) {
                (0, true) => Ok(0),
                (0, false) => {
                    Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum does not fit"))
                }
                _ => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "it is larger than the directory says",
                )),
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

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Where the directory stands, and how many entries it should have.
struct Directory {
    at: u64,
    bytes: u64,
    entries: u64,
    /// Where the records behind it begin.
    behind: u64,
    parts: [u32; 2],
}

/// The members of an archive of `stored` bytes.
fn members(
    path: &Path,
    mut file: impl io::Read + Seek,
    stored: u64,
) -> Read<BTreeMap<String, ZipMember>> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let directory = find_directory(path, &mut file, stored)?;
    file.seek(SeekFrom::Start(directory.at)).map_err(fault)?;
    let mut bytes = Vec::new();
    file.take(directory.bytes).read_to_end(&mut bytes).map_err(fault)?;
    read_directory(path, &directory, &bytes)
}

/// Finds the end record, which stands last but for a comment.
fn find_directory(path: &Path, file: &mut (impl io::Read + Seek), stored: u64) -> Read<Directory> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let tail_at = stored.saturating_sub(COMMENT_MOST + (END.1 + ZIP64_LOCATOR.1) as u64);
    file.seek(SeekFrom::Start(tail_at)).map_err(fault)?;
    let mut tail = Vec::new();
    file.by_ref().take(stored - tail_at).read_to_end(&mut tail).map_err(fault)?;
    let ends_here = |&at: &usize| {
        tail[at..].starts_with(END.0)
            && at + END.1 + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let Some(at) = (0..(tail.len() + 1).saturating_sub(END.1)).rev().find(ends_here) else {
        let error = ReadError::new(
            path,
            "the zip archive is cut short, or is none: it has no directory at its end",
        )
        .at_byte(stored);
        return Err(Box::new(error.expected("an end record (PK 5 6)", "none").hint(AGAIN)));
    };
    let end = &tail[at..];
    let mut directory = Directory {
        at: u64::from(u32_at(end, 16)),
        bytes: u64::from(u32_at(end, 12)),
        entries: u64::from(u16_at(end, 10)),
        behind: tail_at + at as u64,
        parts: [u32::from(u16_at(end, 4)), u32::from(u16_at(end, 6))],
    };
    let locator = at
        .checked_sub(ZIP64_LOCATOR.1)
        .map(|start| &tail[start..at])
        .filter(|locator| locator.starts_with(ZIP64_LOCATOR.0));
    if let Some(locator) = locator {
        directory = wide_directory(
            path,
            file,
            u64_at(locator, 8),
            directory.behind - ZIP64_LOCATOR.1 as u64,
        )?;
    }
    let refuse = |what: &str, expected: &str, found: String, hint: &str| {
        Err(Box::new(
            ReadError::new(path, what)
                .at_byte(directory.behind)
                .expected(expected, found)
                .hint(hint),
        ))
    };
    if directory.parts != [0, 0] {
        return refuse(
            "the zip archive is one of several parts",
            "one file",
            format!("part {}", directory.parts[0]),
            UNPACK,
        );
    }
    if directory.at.checked_add(directory.bytes).is_none_or(|end| end > directory.behind) {
        let found = format!("{} bytes at {}", directory.bytes, directory.at);
        return refuse(
            "the directory of the zip archive does not fit into the file",
            &format!("one that ends by byte {}", directory.behind),
            found,
            AGAIN,
        );
    }
    Ok(directory)
}

/// The end record of the zip64 form, at `at`, before the byte at which its locator begins.
fn wide_directory(
    path: &Path,
    file: &mut (impl io::Read + Seek),
    at: u64,
    locator_at: u64,
) -> Read<Directory> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let mut end = Vec::new();
    if at < locator_at {
        file.seek(SeekFrom::Start(at)).map_err(fault)?;
        file.take((locator_at - at).min(ZIP64_END.1 as u64))
            .read_to_end(&mut end)
            .map_err(fault)?;
    }
    if end.len() < ZIP64_END.1 || !end.starts_with(ZIP64_END.0) {
        let error =
            ReadError::new(path, "the zip archive is in the zip64 form and lacks its end record")
                .at_byte(at);
        return Err(Box::new(
            error.expected("PK 6 6", format!("{:02x?}", &end[..end.len().min(4)])).hint(AGAIN),
        ));
    }
    Ok(Directory {
        at: u64_at(&end, 48),
        bytes: u64_at(&end, 40),
        entries: u64_at(&end, 32),
        behind: at,
        parts: [u32_at(&end, 16), u32_at(&end, 20)],
    })
}

/// Reads and judges all entries.
fn read_directory(
    path: &Path,
    directory: &Directory,
    bytes: &[u8],
) -> Read<BTreeMap<String, ZipMember>> {
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
            return Err(Box::new(
                fault("the directory of the zip archive is damaged".into())
                    .expected("a whole entry (PK 1 2)", found)
                    .hint(AGAIN),
            ));
        }
        let name = String::from_utf8_lossy(&entry[CENTRAL.1..CENTRAL.1 + lengths[0]]).into_owned();
        // In the order in which the zip64 form has them.
        let mut sizes = [24, 20, 42].map(|field| u64::from(u32_at(entry, field)));
        let is_whole = widen(&mut sizes, &entry[CENTRAL.1 + lengths[0]..][..lengths[1]]);
        let [plain, packed, begin] = sizes;
        let member = ZipMember {
            method: u16_at(entry, 10),
            crc: u32_at(entry, 16),
            packed,
            plain,
            at: begin,
        };
        (at, entries) = (at + length, entries + 1);
        let judged = if is_whole {
            judge(&name, &member, u16_at(entry, 8), directory.at)
        } else {
            Err(lacks_sizes())
        };
        if let Err((what, expected, found, hint)) = judged {
            return Err(Box::new(
                fault(format!("the member `{name}` of the zip archive {what}"))
                    .expected(expected, found)
                    .hint(hint),
            ));
        }
        if name.ends_with(['/', '\\']) {
            continue;
        }
        if members.insert(name.clone(), member).is_some() {
            return Err(Box::new(
                fault(format!("the zip archive has two members `{name}`"))
                    .expected("names that differ", "one twice")
                    .hint(UNPACK),
            ));
        }
    }
    if entries != directory.entries {
        let error =
            ReadError::new(path, "the directory of the zip archive disagrees with its own count")
                .at_byte(directory.at);
        return Err(Box::new(
            error
                .expected(format!("{} entries", directory.entries), entries.to_string())
                .hint(AGAIN),
        ));
    }
    refuse_overlap(path, directory, &members)?;
    Ok(members)
}

/// Puts what the extra field of the zip64 form says in the place of sizes that say so; whether none
/// is missing.
fn widen(sizes: &mut [u64; 3], mut extra: &[u8]) -> bool {
    let mut own: &[u8] = &[];
    while extra.len() >= 4 {
        let end = 4 + usize::from(u16_at(extra, 2));
        if u16_at(extra, 0) == ZIP64_EXTRA {
            own = extra.get(4..end).unwrap_or_default();
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    for size in sizes.iter_mut().filter(|size| **size == ELSEWHERE) {
        let Some(wide) = own.get(..8) else { return false };
        *size = u64_at(wide, 0);
        own = &own[8..];
    }
    true
}

/// What is wrong with a member, what was expected, what was found, and what to do.
type MemberFault = (&'static str, String, String, &'static str);
type Verdict = Result<(), MemberFault>;

fn lacks_sizes() -> MemberFault {
    (
        "is in the zip64 form and does not say its size",
        "an extra field with sizes".into(),
        "none, or one that is too short".into(),
        AGAIN,
    )
}

fn judge(name: &str, member: &ZipMember, flags: u16, directory_at: u64) -> Verdict {
    let mut steps = name.split(['/', '\\']);
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.is_empty()
        || name.starts_with(['/', '\\'])
        || drive
        || name.contains('\0')
        || steps.any(|step| step == "..")
    {
        return Err((
            "leads out of the archive",
            "a relative name without `..`".into(),
            format!("`{name}`"),
            "take the archive from a source that you trust",
        ));
    }
    if flags & 1 != 0 {
        return Err(("is encrypted", "one that is not".into(), "a password".into(), UNPACK));
    }
    if member.method != STORED && member.method != DEFLATED {
        return Err((
            "is packed by a method that is not read",
            "stored (0) or deflate (8)".into(),
            member.method.to_string(),
            UNPACK,
        ));
    }
    if member.end() > directory_at {
        return Err((
            "does not fit into the file",
            format!("one that ends by byte {directory_at}"),
            format!("{} bytes at {}", member.packed, member.at),
            AGAIN,
        ));
    }
    // It fits into the file, so its size is far from 2^64.
    let most =
        (RATIO_MOST * member.packed).max(PLAIN_ALWAYS).min(RATIO_REACHED * member.packed + 64);
    let lies = member.method == STORED && member.plain != member.packed;
    if lies || member.plain > most {
        let expected =
            if lies { format!("{} bytes", member.packed) } else { format!("at most {most} bytes") };
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
fn refuse_overlap(
    path: &Path,
    directory: &Directory,
    members: &BTreeMap<String, ZipMember>,
) -> Read<()> {
    let mut order: Vec<(&String, &ZipMember)> = members.iter().collect();
    order.sort_by_key(|(_, member)| member.at);
    let overlaps = |pair: &&[(&String, &ZipMember)]| pair[0].1.end() > pair[1].1.at;
    match order.windows(2).find(overlaps) {
        None => Ok(()),
        Some(pair) => {
            let what = format!(
                "the members `{}` and `{}` of the zip archive share bytes",
                pair[0].0, pair[1].0
            );
            Err(Box::new(
                ReadError::new(path, what)
                    .at_byte(directory.at)
                    .expected("members one behind the other", "an overlap")
                    .hint(AGAIN),
            ))
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
            let mut entry = [
                &CENTRAL.0[..],
                &[20, 3],
                &about,
                &[0; 10],
                &(archive.len() as u32).to_le_bytes(),
                name.as_bytes(),
            ]
            .concat();
            edit(&mut entry);
            directory.extend_from_slice(&entry);
            archive.extend_from_slice(&[&LOCAL.0[..], &about, name.as_bytes(), &packed].concat());
        }
        let at = archive.len() as u32;
        let count = (members.len() as u16).to_le_bytes();
        let end = [
            &END.0[..],
            &[0; 4],
            &count,
            &count,
            &(directory.len() as u32).to_le_bytes(),
            &at.to_le_bytes(),
            &[2, 0],
            b"hi",
        ]
        .concat();
        [archive, directory, end].concat()
    }

    /// An archive of text members, for the tests of those that read archives.
    pub(crate) fn archive_of(members: &[(&str, &[u8])]) -> Vec<u8> {
        pack(&members.iter().map(|(name, text)| member(name, text)).collect::<Vec<_>>())
    }

    /// Moves sizes and place of a member into the extra field of the zip64 form.
    fn widened(entry: &mut Vec<u8>) {
        let mut extra = vec![9, 0, 2, 0, 7, 7];
        extra.extend_from_slice(&[1, 0, 24, 0]);
        for field in [24, 20, 42] {
            extra.extend_from_slice(&u64::from(u32_at(entry, field)).to_le_bytes());
            entry[field..field + 4].fill(0xff);
        }
        entry[30..32].copy_from_slice(&(extra.len() as u16).to_le_bytes());
        entry.extend_from_slice(&extra);
    }

    /// The same archive with an end record of the zip64 form; `at` and `bytes` of the directory.
    fn with_wide_end(archive: &[u8], entries: u64, bytes: u64, at: u64) -> Vec<u8> {
        let (front, end) = archive.split_at(archive.len() - END.1 - 2);
        let mut wide =
            [front, &ZIP64_END.0[..], &44u64.to_le_bytes(), &[45, 0, 45, 0], &[0; 8]].concat();
        [entries, entries, bytes, at]
            .iter()
            .for_each(|number| wide.extend_from_slice(&number.to_le_bytes()));
        let end = [&end[..8], &[0xff; 12], &end[20..]].concat();
        [
            &wide[..],
            &ZIP64_LOCATOR.0[..],
            &[0; 4],
            &(front.len() as u64).to_le_bytes(),
            &[1, 0, 0, 0],
            &end,
        ]
        .concat()
    }

    fn wide_archive(members: &[Written]) -> Vec<u8> {
        let archive = pack(members);
        let end = &archive[archive.len() - END.1 - 2..];
        with_wide_end(
            &archive,
            members.len() as u64,
            u64::from(u32_at(end, 12)),
            u64::from(u32_at(end, 16)),
        )
    }

    /// An archive whose file goes with it.
    struct Opened(ZipArchive, #[expect(dead_code, reason = "held for its drop")] tempfile::TempDir);

    impl std::ops::Deref for Opened {
        type Target = ZipArchive;

        fn deref(&self) -> &ZipArchive {
            &self.0
        }
    }

    fn open(bytes: &[u8]) -> Read<Opened> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        fs::write(&path, bytes).unwrap();
        Ok(Opened(ZipArchive::open(&path)?, folder))
    }

    fn shared(name: &str) -> Option<PathBuf> {
        let root = std::env::var_os("WARPLOOM_SHARED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
            PathBuf::from,
        );
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
        let bytes =
            pack(&[member("folder/", b""), member("a.txt", &long), stored, member("empty", b"")]);
        let archive = open(&bytes).unwrap();
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a.txt", "b/stored.txt", "empty"]);
        assert!(archive.read("a.txt").unwrap() == long);
        assert_eq!(
            (archive.read("b/stored.txt").unwrap(), archive.read("empty").unwrap()),
            (b"some text".to_vec(), Vec::new())
        );
        assert_eq!((archive.bytes_of("a.txt"), archive.bytes_of("none")), (Some(200_000), None));
        assert!(archive.read("none").unwrap_err().what.contains("no member `none`"));
        assert!(is_zip(&bytes) && !is_zip(b"PK"));
        assert_eq!(open(&pack(&[])).unwrap().names().count(), 0);
    }

    #[test]
    fn names_that_lead_out_refuse_the_archive() {
        for name in [
            "../evil",
            "a/../../evil",
            "/etc/passwd",
            "..",
            "a\\..\\b",
            "\\\\host\\x",
            "C:\\x",
            "",
            "a\0b",
            "a/..",
        ] {
            let error = open(&pack(&[member("good", b"x"), member(name, b"x")])).err().unwrap();
            assert!(
                error.what.contains("leads out of the archive") && !error.hint.is_empty(),
                "{name}: {error}"
            );
        }
        assert!(open(&pack(&[member("a..b/..c/.d", b"x")])).is_ok());
    }

    #[test]
    fn what_is_not_read_is_named() {
        let cases: [(Edit, &str); 8] = [
            (|entry| entry[8] |= 1, "is encrypted"),
            (|entry| entry[10] = 14, "method that is not read"),
            (|entry| entry[24..28].fill(0xff), "zip64 form and does not say its size"),
            (
                |entry| entry[20..24].copy_from_slice(&1_000_000u32.to_le_bytes()),
                "does not fit into the file",
            ),
            (
                |entry| entry[24..28].copy_from_slice(&0x7fff_ffffu32.to_le_bytes()),
                "unpack to too much",
            ),
            (|entry| entry[0] = b'X', "directory of the zip archive is damaged"),
            (|entry| entry[28] = 200, "directory of the zip archive is damaged"),
            (|entry| entry[42..46].fill(0x11), "does not fit into the file"),
        ];
        for (edit, what) in cases {
            let error =
                open(&pack(&[Written { edit, ..member("a", b"some text") }])).err().unwrap();
            assert!(error.what.contains(what), "{what}: {error}");
        }
        let twice = open(&pack(&[member("a", b"x"), member("a", b"y")])).err().unwrap();
        assert!(twice.what.contains("two members `a`"), "{twice}");
        let again = Written { edit: |entry| entry[42..46].fill(0), ..member("b", b"x") };
        assert!(
            open(&pack(&[member("a", b"x"), again])).err().unwrap().what.contains("share bytes")
        );
        let lies = Written { method: STORED, edit: |entry| entry[24] += 1, ..member("a", b"xyz") };
        assert!(open(&pack(&[lies])).err().unwrap().what.contains("too much"));
        assert!(open(b"").err().unwrap().what.contains("no directory"));
        assert!(ZipArchive::open(&std::env::temp_dir()).err().unwrap().what.contains("folder"));
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
            let error =
                open(&pack(&[Written { edit, ..member("a", b"some text that is packed") }]))
                    .unwrap()
                    .read("a")
                    .unwrap_err();
            assert!(error.what.contains(what) && error.what.contains("`a`"), "{what}: {error}");
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        let wide = wide_archive(&[
            Written { edit: widened, ..member("a", b"some text") },
            member("b", b"more text"),
        ]);
        for bytes in [archive_of(&[("a", b"some text"), ("b", b"more text")]), wide] {
            for length in 0..bytes.len() {
                assert!(open(&bytes[..length]).is_err(), "{length}");
            }
        }
    }

    #[test]
    fn the_zip64_form_is_read() {
        let only_plain: Edit = |entry| {
            // A stream's writer may give one size alone.
            let plain = u64::from(u32_at(entry, 24));
            entry[24..28].fill(0xff);
            entry[30] = 12;
            entry.extend_from_slice(&[&[1, 0, 8, 0][..], &plain.to_le_bytes()].concat());
        };
        let members = || {
            [
                Written { edit: widened, ..member("a", b"some text") },
                Written { edit: only_plain, ..member("b", b"more text") },
                member("c", b""),
            ]
        };
        for bytes in [pack(&members()), wide_archive(&members())] {
            let archive = open(&bytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (archive.read("a").unwrap(), archive.read("b").unwrap()),
                (b"some text".to_vec(), b"more text".to_vec())
            );
            assert_eq!((archive.bytes_of("a"), archive.read("c").unwrap().len()), (Some(9), 0));
        }
        assert_eq!(open(&wide_archive(&[])).unwrap().names().count(), 0);
        assert_eq!(
            ZipArchive::from_bytes(Path::new("x"), wide_archive(&members()))
                .unwrap()
                .read("b")
                .unwrap(),
            b"more text"
        );
    }

    /// A file with a hole: the second member and the directory lie behind 4 GiB.
    #[test]
    fn an_archive_beyond_4_gib_is_read() {
        let begin = 5u64 << 30;
        let first = pack(&[member("a", b"some text")]);
        let second = pack(&[member("b", b"more text")]);
        let directory_of =
            |archive: &[u8]| u32_at(archive, archive.len() - END.1 - 2 + 16) as usize;
        let entry_of =
            |archive: &[u8]| archive[directory_of(archive)..archive.len() - END.1 - 2].to_vec();
        let mut far = entry_of(&second);
        far[42..46].fill(0xff);
        far[30] = 12;
        far.extend_from_slice(&[&[1, 0, 8, 0][..], &begin.to_le_bytes()].concat());
        let directory = [entry_of(&first), far].concat();
        let body = &second[..directory_of(&second)];
        let at = begin + body.len() as u64;
        let end = with_wide_end(&second[second.len() - END.1 - 2..], 2, directory.len() as u64, at);
        // The record's place is that of the end of the directory.
        let record_at = (at + directory.len() as u64).to_le_bytes();
        let locator = ZIP64_END.1 + 8;
        let end = [&end[..locator], &record_at, &end[locator + 8..]].concat();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("far.zip");
        let mut file = File::create(&path).unwrap();
        file.write_all(&first[..directory_of(&first)]).unwrap();
        file.seek(SeekFrom::Start(begin)).unwrap();
        file.write_all(&[body, &directory, &end].concat()).unwrap();
        drop(file);
        let archive = ZipArchive::open(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (archive.read("a").unwrap(), archive.read("b").unwrap()),
            (b"some text".to_vec(), b"more text".to_vec())
        );
    }

    #[test]
    fn faults_of_the_zip64_form_are_named() {
        let members = [Written { edit: widened, ..member("a", b"some text") }];
        let sound = wide_archive(&members);
        let record = sound.windows(4).position(|bytes| bytes == ZIP64_END.0).unwrap();
        let changed = |at: usize, value: u64| {
            let mut bytes = sound.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            open(&bytes).err().unwrap().what
        };
        for far in [record as u64 + 1, 0, u64::MAX, sound.len() as u64] {
            assert!(
                changed(record + ZIP64_END.1 + 8, far).contains("lacks its end record"),
                "{far}"
            );
        }
        assert!(changed(record + 48, u64::MAX).contains("does not fit into the file"));
        assert!(changed(record + 40, u64::MAX - 5).contains("does not fit into the file"));
        assert!(changed(record + 32, 2).contains("disagrees with its own count"));
        assert!(changed(record + 16, 1).contains("several parts"));
        let far: Edit = |entry| {
            widened(entry);
            let end = entry.len();
            entry[end - 8..].fill(0xff);
        };
        assert!(
            open(&pack(&[Written { edit: far, ..member("a", b"x") }]))
                .err()
                .unwrap()
                .what
                .contains("does not fit into the file")
        );
        let large: Edit = |entry| {
            widened(entry);
            let end = entry.len();
            entry[end - 24..end - 16].copy_from_slice(&(1u64 << 40).to_le_bytes());
        };
        assert!(
            open(&pack(&[Written { edit: large, ..member("a", b"x") }]))
                .err()
                .unwrap()
                .what
                .contains("unpack to too much")
        );
        let short: Edit = |entry| {
            widened(entry);
            entry[CENTRAL.1 + 1 + 6 + 2] = 16;
        };
        assert!(open(&pack(&[Written { edit: short, ..member("a", b"x") }])).is_err());
    }

    #[test]
    fn published_archives_are_read() {
        for (name, member, bytes) in [
            ("uai2010/uai.zip", "uai/uai.feature", 30_504_382),
            ("newman_gml/football.zip", "football.gml", 0),
            ("minesweeper/minesweeper.npz", "edges.npy", 0),
        ] {
            let Some(path) = shared(name) else { continue };
            let archive = ZipArchive::open(&path).unwrap();
            let plain = archive.read(member).unwrap_or_else(|error| panic!("{error}"));
            assert!(plain.len() == bytes || bytes == 0 && !plain.is_empty());
        }
        let Some(data) = shared("") else { return };
        let folders = fs::read_dir(data)
            .unwrap()
            .flat_map(|folder| fs::read_dir(folder.unwrap().path()).into_iter().flatten());
        let archives = folders
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "zip" || end == "npz"));
        for path in archives {
            let archive = ZipArchive::open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(
                archive.names().all(|name| archive.read(name).unwrap().len() as u64
                    == archive.bytes_of(name).unwrap()),
                "{}",
                path.display()
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_archive_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = open(&[&bytes[..], &pack(&[])].concat());
        }

        #[test]
        fn a_changed_archive_gives_the_same_members_or_an_error(at in 0usize..400, byte in any::<u8>(), wide in any::<bool>()) {
            let members = [Written { edit: widened, ..member("first", b"some text some text") }, member("b", b"")];
            let mut bytes = if wide { wide_archive(&members) } else { archive_of(&[("first", b"some text some text"), ("b", b"")]) };
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Ok(text) = open(&bytes).and_then(|archive| archive.read("first")) {
                prop_assert_eq!(&text[..], b"some text some text");
            }
        }
    }
}
