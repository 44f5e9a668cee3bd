//! Tar archives, packed or not: the members' names, and the text of a member.
//!
//! promises  a header's sum is checked; names are relative, below the archive, and distinct: `../`
//!           and absolute names refuse the whole archive
//! reads     ustar, the older form, long names of GNU and POSIX (pax)
//! never     writes a file, follows a link, believes a claimed size: memory holds one block of a
//!           member, or the members of a small archive
//! limits    links, devices and sparse files are passed over; a long name has at most 64 KiB
//! format    POSIX.1-2017, pax: ustar Interchange Format
use super::{decompress::PlainFile, text_source::TextSource};
use crate::read_error::{Read, ReadError};
use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
};

/// Headers and contents fill whole blocks.
const BLOCK: usize = 512;
/// The most bytes that are passed over at once.
const STEP: u64 = 1 << 18;
const NAME_MOST: u64 = 1 << 16;
/// Members that have no more bytes together are held, so that a packed archive is unpacked once,
/// and not again for each of them.
const HELD_MOST: u64 = 64 << 20;

const AGAIN: &str = "download it again: remove the file, then  warploom data fetch";

/// An archive whose headers were all read and found sound.
pub struct TarArchive {
    path: PathBuf,
    members: Vec<TarMember>,
}

struct TarMember {
    name: String,
    bytes: u64,
    /// Where its contents begin, in plain bytes.
    at: u64,
    /// The contents, if all members are held.
    held: Option<Vec<u8>>,
}

/// Whether plain bytes that begin so are a tar archive: the first header's sum fits.
pub fn is_tar(first: &[u8]) -> bool {
    first.first_chunk::<BLOCK>().is_some_and(|header| header[0] != 0 && sum_fits(header))
}

impl TarArchive {
    /// Reads all headers.
    pub fn open(path: &Path) -> Read<TarArchive> {
        let mut walk = TarWalk { path, plain: PlainFile::open(path)?, at: 0 };
        let mut members: Vec<TarMember> = Vec::new();
        let mut names = HashSet::new();
        let mut long_name = None;
        let mut room = HELD_MOST;
        loop {
            let header_at = walk.at;
            let Some(header) = walk.header()? else { break };
            let bytes = size_of(&header).ok_or_else(|| {
                walk.error("the size of a tar member is no number", header_at).hint(AGAIN)
            })?;
            match header[156] {
                b'L' | b'x' => {
                    let text = walk.name_text(bytes, header_at)?;
                    let name = if header[156] == b'L' {
                        Some(until_zero(&text).to_vec())
                    } else {
                        pax_path(&text)
                    };
                    long_name = name.or(long_name);
                }
                b'0' | b'7' | 0 => {
                    let name = long_name.take().unwrap_or_else(|| name_of(&header));
                    let name = judge(&name).map_err(|name| {
                        let error = walk.error(
                            &format!(
                                "the member `{name}` of the tar archive leads out of the archive"
                            ),
                            header_at,
                        );
                        error
                            .expected("a relative name without `..`", format!("`{name}`"))
                            .hint("take the archive from a source that you trust")
                    })?;
                    if !names.insert(name.clone()) {
                        return Err(Box::new(
                            walk.error(
                                &format!("the tar archive has two members `{name}`"),
                                header_at,
                            )
                            .expected("names that differ", "one twice"),
                        ));
                    }
                    let at = walk.at;
                    let held = if bytes <= room {
                        Some(walk.contents(bytes)?)
                    } else {
                        walk.skip(bytes, true).map(|()| None)?
                    };
                    room = if held.is_some() { room - bytes } else { 0 };
                    members.push(TarMember { name, bytes, at, held });
                }
                b'g' => walk.skip(bytes, true)?,
                _ => {
                    long_name = None;
                    walk.skip(bytes, true)?;
                }
            }
        }
        if members.iter().any(|member| member.held.is_none()) {
            members.iter_mut().for_each(|member| member.held = None);
        }
        Ok(TarArchive { path: path.to_path_buf(), members })
    }

    /// Names of the members that are files, in the order of the archive.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Writes the contents of a member; how many bytes they are.
    pub fn copy(&self, name: &str, out: &mut impl io::Write) -> Read<u64> {
        self.text(name)?.copy(out)
    }

    /// The text of a member; its errors name it behind the archive's path.
    pub(crate) fn text(&self, name: &str) -> Read<TextSource<'_>> {
        let Some(member) = self.members.iter().find(|member| member.name == name) else {
            let names: Vec<&str> = self.names().take(20).collect();
            let error =
                ReadError::new(&self.path, format!("the tar archive has no member `{name}`"));
            return Err(Box::new(error.expected("one of its members", names.join(", "))));
        };
        let path = self.path.join(name);
        if let Some(held) = &member.held {
            return Ok(TextSource::from_reader(path.clone(), &held[..], move |error| {
                Box::new(ReadError::from_io(&path, error))
            }));
        }
        let mut walk = TarWalk { path: &self.path, plain: PlainFile::open(&self.path)?, at: 0 };
        walk.skip(member.at, false)?;
        let (mut plain, mut left, at) = (walk.plain, member.bytes, member.at);
        let fill = move |buffer: &mut Vec<u8>, most: usize| {
            let most = most.min(usize::try_from(left).unwrap_or(usize::MAX));
            let got = plain.fill(buffer, most)?;
            left -= got as u64;
            if got < most {
                return Err(Box::new(
                    ReadError::new(&self.path, "the tar archive changed while it was read")
                        .at_byte(at),
                ));
            }
            Ok(got)
        };
        Ok(TextSource::from_fill(path, fill))
    }
}

/// A way through the plain bytes.
struct TarWalk<'a> {
    path: &'a Path,
    plain: PlainFile,
    at: u64,
}

impl TarWalk<'_> {
    fn error(&self, what: &str, at: u64) -> ReadError {
        ReadError::new(self.path, what).at_byte(at)
    }

    fn cut_short(&self) -> Box<ReadError> {
        Box::new(self.error("the tar archive is cut short", self.at).hint(AGAIN))
    }

    /// The next header; none at the block of zeros that ends an archive.
    fn header(&mut self) -> Read<Option<[u8; BLOCK]>> {
        let at = self.at;
        let mut bytes = Vec::with_capacity(BLOCK);
        self.at += self.plain.fill(&mut bytes, BLOCK)? as u64;
        let Ok(header) = <[u8; BLOCK]>::try_from(bytes) else { return Err(self.cut_short()) };
        if header == [0; BLOCK] {
            return Ok(None);
        }
        if !sum_fits(&header) {
            let error = self
                .error("the header of a tar member is damaged", at)
                .expected("a header whose sum fits", "another sum");
            return Err(Box::new(error.hint(AGAIN)));
        }
        Ok(Some(header))
    }

    /// Passes over contents, with what fills their last block if `whole_blocks`.
    fn skip(&mut self, bytes: u64, whole_blocks: bool) -> Read<()> {
        let mut left = if whole_blocks {
            bytes.div_ceil(BLOCK as u64).saturating_mul(BLOCK as u64)
        } else {
            bytes
        };
        let mut passed = Vec::new();
        while left > 0 {
            passed.clear();
            let got = self.plain.fill(&mut passed, left.min(STEP) as usize)? as u64;
            (left, self.at) = (left - got, self.at + got);
            if got == 0 {
                return Err(self.cut_short());
            }
        }
        Ok(())
    }

    /// The contents of a member that names the next one.
    fn name_text(&mut self, bytes: u64, header_at: u64) -> Read<Vec<u8>> {
        if bytes > NAME_MOST {
            let error = self
                .error("a name in the tar archive is too long", header_at)
                .expected(format!("at most {NAME_MOST} bytes"), bytes.to_string());
            return Err(Box::new(error));
        }
        self.contents(bytes)
    }

    /// Contents, of at most `HELD_MOST` bytes, with what fills their last block passed over.
    fn contents(&mut self, bytes: u64) -> Read<Vec<u8>> {
        let mut contents = Vec::new();
        let got = self.plain.fill(&mut contents, bytes as usize)? as u64;
        self.at += got;
        if got < bytes {
            return Err(self.cut_short());
        }
        self.skip(bytes.div_ceil(BLOCK as u64) * BLOCK as u64 - bytes, false)?;
        Ok(contents)
    }
}

/// Whether the sum in a header is that of its bytes, its own field taken as blanks.
fn sum_fits(header: &[u8; BLOCK]) -> bool {
    let blank = 8 * u64::from(b' ');
    let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
    octal(&header[148..156]) == Some(sum(&header[..148]) + blank + sum(&header[156..]))
}

/// Digits with blanks before and blanks or zeros behind.
fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(until_zero(field)).ok()?.trim_matches(' ');
    u64::from_str_radix(text, 8).ok()
}

/// The size of a member: octal digits, or a binary number behind a first byte of 0x80.
fn size_of(header: &[u8; BLOCK]) -> Option<u64> {
    let field = &header[124..136];
    match field[0] {
        0x80 => field[1..4]
            .iter()
            .all(|&byte| byte == 0)
            .then(|| field[4..].iter().fold(0, |size, &byte| size << 8 | u64::from(byte))),
        _ => octal(field),
    }
}

fn until_zero(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or_default()
}

fn name_of(header: &[u8; BLOCK]) -> Vec<u8> {
    let (name, prefix) = (until_zero(&header[..100]), until_zero(&header[345..500]));
    // GNU's own form puts other things where POSIX has the prefix.
    if &header[257..263] != b"ustar\0" || prefix.is_empty() {
        name.to_vec()
    } else {
        [prefix, b"/", name].concat()
    }
}

/// The path among the records `LENGTH KEY=VALUE\n`.
fn pax_path(mut text: &[u8]) -> Option<Vec<u8>> {
    let mut path = None;
    while let Some(blank) = text.iter().position(|&byte| byte == b' ') {
        let length: usize = std::str::from_utf8(&text[..blank]).ok()?.parse().ok()?;
        let record = text.get(blank + 1..length)?;
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(value.strip_suffix(b"\n").unwrap_or(value).to_vec());
        }
        text = &text[length..];
    }
    path
}

/// The name without `./` before it; one that leads out of the archive is given back as an error.
fn judge(name: &[u8]) -> Result<String, String> {
    let name = String::from_utf8_lossy(name).into_owned();
    let plain = name.trim_start_matches("./");
    let drive = plain.as_bytes().get(1) == Some(&b':');
    let leads_out = plain.is_empty()
        || plain.starts_with(['/', '\\'])
        || drive
        || plain.split(['/', '\\']).any(|step| step == "..");
    if leads_out { Err(name) } else { Ok(plain.to_owned()) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    /// A header of this kind, and the contents in whole blocks.
    fn member(kind: u8, name: &str, contents: &[u8]) -> Vec<u8> {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", contents.len()).as_bytes());
        header[156] = kind;
        header[257..263].copy_from_slice(b"ustar\0");
        seal(&mut header);
        let mut bytes = header.to_vec();
        bytes.extend(contents);
        bytes.resize(bytes.len().div_ceil(BLOCK) * BLOCK, 0);
        bytes
    }

    fn seal(header: &mut [u8]) {
        header[148..156].fill(b' ');
        let sum: u64 = header[..BLOCK].iter().map(|&byte| u64::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }

    /// An archive of plain files.
    pub fn archive_of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let members: Vec<u8> =
            files.iter().flat_map(|(name, contents)| member(b'0', name, contents)).collect();
        [members, vec![0; 2 * BLOCK]].concat()
    }

    fn open(bytes: &[u8]) -> Read<Vec<(String, Vec<u8>)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar");
        fs::write(&path, bytes).unwrap();
        let archive = TarArchive::open(&path)?;
        archive.names().map(|name| Ok((name.to_owned(), archive.text(name)?.read_all()?))).collect()
    }

    #[test]
    fn members_are_read_by_name() {
        let long = "a/".repeat(80) + "name";
        let pax = format!("{} path=other/name\n", 19);
        let mut prefixed = member(b'0', "name", b"p");
        prefixed[345..351].copy_from_slice(b"folder");
        seal(&mut prefixed);
        let mut binary = member(b'0', "binary", b"bin");
        binary[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
        seal(&mut binary);
        let bytes = [
            member(b'5', "folder/", b""),
            member(0, "./one", &[7; 600]),
            member(b'2', "link", b""),
            member(b'L', "././@LongLink", long.as_bytes()),
            member(b'0', "cut", b"2"),
            member(b'g', "global", b"30 mtime=1\n"),
            member(b'x', "pax", pax.as_bytes()),
            member(b'0', "cut", b"3"),
            prefixed,
            binary,
            vec![0; BLOCK],
        ];
        let found = open(&bytes.concat()).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["one", &long, "other/name", "folder/name", "binary"]);
        assert_eq!(
            (found[0].1.len(), &found[1].1[..], &found[4].1[..]),
            (600, &b"2"[..], &b"bin"[..])
        );
    }

    #[test]
    fn a_large_archive_is_read_again_for_each_member() {
        let large = vec![b'x'; (HELD_MOST + 5) as usize];
        let found =
            open(&archive_of(&[("first", b"1"), ("large", &large), ("last", b"3")])).unwrap();
        assert!(found[1].1 == large);
        assert_eq!((&found[0].1[..], &found[2].1[..]), (&b"1"[..], &b"3"[..]));
    }

    #[test]
    fn names_that_lead_out_refuse_the_archive() {
        for name in ["../evil", "a/../../b", "/etc/passwd", "..", "C:\\x", "a\\..\\b", "./"] {
            let error = open(&archive_of(&[("good", b"x"), (name, b"x")])).unwrap_err();
            assert!(
                error.what.contains("leads out of the archive") && !error.hint.is_empty(),
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn what_is_damaged_is_named() {
        let sound = archive_of(&[("one", b"text"), ("two", b"more")]);
        // The second block of zeros may be missing.
        for length in (0..sound.len() - BLOCK).step_by(37).chain([512, 1024, 2048, 2559]) {
            assert!(open(&sound[..length]).is_err(), "{length}");
        }
        assert!(open(&sound[..sound.len() - BLOCK]).is_ok());
        assert!(open(&sound[..700]).unwrap_err().what.contains("cut short"));
        let mut damaged = sound.clone();
        damaged[3] ^= 1;
        assert!(open(&damaged).unwrap_err().what.contains("header of a tar member is damaged"));
        assert!(
            open(&archive_of(&[("one", b""), ("one", b"")]))
                .unwrap_err()
                .what
                .contains("two members `one`")
        );
        let mut claims = sound.clone();
        claims[124..136].copy_from_slice(b"77777777777\0");
        seal(&mut claims);
        assert!(open(&claims).unwrap_err().what.contains("cut short"));
        claims[124..136].copy_from_slice(b"x7777777777\0");
        seal(&mut claims);
        assert!(open(&claims).unwrap_err().what.contains("no number"));
        let long = [member(b'L', "l", &vec![b'a'; 70_000]), sound].concat();
        assert!(open(&long).unwrap_err().what.contains("too long"));
    }

    proptest! {
        #[test]
        fn a_changed_archive_is_read_or_refused(at in 0usize..2048, byte in any::<u8>(), sealed in any::<bool>()) {
            let mut bytes = [member(b'x', "p", b"12 path=abc\n"), archive_of(&[("one", b"text")])].concat();
            bytes[at] = byte;
            if sealed {
                seal(&mut bytes[..BLOCK]);
            }
            let _ = open(&bytes);
        }
    }
}
