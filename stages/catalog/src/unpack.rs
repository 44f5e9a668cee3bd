//! Takes files out of an archive: zip, tar, tar with gzip.
//!
//! promises  a file under its final name is whole: it is written beside and renamed; its checksum was compared where the archive has one
//! never     writes under a name that the archive gives: only files that are asked for come out, under the names they are asked for
//! limits    memory of one buffer and the list of a zip's members; no zip of more than 4 GiB, no encryption
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use flate2::{CrcReader, bufread::MultiGzDecoder, read::DeflateDecoder};

/// Longest list of members of a zip that is read, and longest end of it in which the list is looked for.
const LIST_BYTES_MOST: u64 = 1 << 28;
const END_BYTES_MOST: u64 = (1 << 16) + END_BYTES as u64;
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const BLOCK_BYTES: usize = 512;

/// Takes `files` (plain names below `inside`, where `.gz` or `.zst` may follow) out into `folder`; where each is now.
pub fn unpack(archive: &Path, inside: &str, files: &[&str], folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut head = [0; 4];
    let mut file = File::open(archive).map_err(|error| format!("cannot read it: {error}"))?;
    let got = file.read(&mut head).and_then(|got| file.rewind().map(|()| got)).map_err(|error| format!("cannot read it: {error}"))?;
    let mut wanted = Wanted { inside, files, folder, done: BTreeMap::new() };
    let taken = match head {
        _ if head[..got].starts_with(b"PK") => from_zip(file, &mut wanted),
        [0x1f, 0x8b, ..] => from_tar(MultiGzDecoder::new(BufReader::new(file)), &mut wanted),
        _ => from_tar(BufReader::new(file), &mut wanted),
    };
    taken.map_err(|error| format!("it is damaged: {error}"))?;
    let missing: Vec<&str> = files.iter().copied().filter(|file| !wanted.done.contains_key(file)).collect();
    if missing.is_empty() {
        Ok(files.iter().filter_map(|file| wanted.done.remove(file)).collect())
    } else {
        Err(format!("it holds no {}", missing.join(", no ")))
    }
}

/// What is to be taken out, and what was.
struct Wanted<'a> {
    inside: &'a str,
    files: &'a [&'a str],
    folder: &'a Path,
    done: BTreeMap<&'a str, PathBuf>,
}

impl<'a> Wanted<'a> {
    /// The file that a member is, and the ending that it has besides.
    fn asked(&self, member: &str) -> Option<(&'a str, &'static str)> {
        let member = member.strip_prefix("./").unwrap_or(member);
        let below = if self.inside.is_empty() { member } else { member.strip_prefix(self.inside)?.strip_prefix('/')? };
        let ends = ["", ".gz", ".zst"];
        self.files.iter().find_map(|&file| ends.into_iter().find(|end| below.strip_suffix(end) == Some(file)).map(|end| (file, end)))
    }

    /// Writes a member out.
    fn take(&mut self, (file, end): (&'a str, &'static str), bytes: &mut dyn Read) -> io::Result<()> {
        let path = self.folder.join(format!("{file}{end}"));
        let beside = self.folder.join(format!("{file}{end}.{}.part", std::process::id()));
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let written =
            File::create(&beside).and_then(|mut out| io::copy(bytes, &mut out).and_then(|_| out.sync_all())).and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written.map(|()| {
            self.done.insert(file, path);
        })
    }
}

fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

fn two(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn four(bytes: &[u8], at: usize) -> u64 {
    two(bytes, at) | two(bytes, at + 2) << 16
}

fn from_zip(mut file: File, wanted: &mut Wanted) -> io::Result<()> {
    let size = file.metadata()?.len();
    let tail = size.min(END_BYTES_MOST);
    file.seek(SeekFrom::Start(size - tail))?;
    let mut end = Vec::new();
    file.by_ref().take(tail).read_to_end(&mut end)?;
    let at = (0..end.len().saturating_sub(END_BYTES - 1))
        .rev()
        .find(|&at| end[at..].starts_with(b"PK\x05\x06"))
        .ok_or_else(|| damaged("a zip without its list of members"))?;
    let (length, start) = (four(&end[at..], 12), four(&end[at..], 16));
    if start == 0xffff_ffff || length > LIST_BYTES_MOST {
        return Err(damaged("a zip of more than 4 GiB cannot be read: unpack it by hand"));
    }
    file.seek(SeekFrom::Start(start))?;
    let mut list = Vec::new();
    file.by_ref().take(length).read_to_end(&mut list)?;
    let mut rest = &list[..];
    while rest.len() >= ENTRY_BYTES && rest.starts_with(b"PK\x01\x02") {
        let (method, crc, packed, plain, local) = (two(rest, 10), four(rest, 16), four(rest, 20), four(rest, 24), four(rest, 42));
        let name_end = ENTRY_BYTES + two(rest, 28) as usize;
        let next = name_end + (two(rest, 30) + two(rest, 32)) as usize;
        if next > rest.len() {
            return Err(damaged("its list of members ends too early"));
        }
        let name = String::from_utf8_lossy(&rest[ENTRY_BYTES..name_end]).into_owned();
        let flags = two(rest, 8);
        rest = &rest[next..];
        let Some(asked) = wanted.asked(&name) else { continue };
        if flags & 1 == 1 {
            return Err(damaged(format!("`{name}` is encrypted")));
        }
        let mut header = [0; LOCAL_BYTES];
        file.seek(SeekFrom::Start(local))?;
        file.read_exact(&mut header)?;
        file.seek_relative((two(&header, 26) + two(&header, 28)) as i64)?;
        let bytes = BufReader::new(file.by_ref()).take(packed);
        match method {
            0 => checked(wanted, asked, bytes, plain, crc, &name)?,
            8 => checked(wanted, asked, DeflateDecoder::new(bytes), plain, crc, &name)?,
            other => return Err(damaged(format!("`{name}` is packed by method {other}, expected 0 or 8"))),
        }
    }
    Ok(())
}

/// Takes a member out if its size and checksum are right.
fn checked<'a>(wanted: &mut Wanted<'a>, asked: (&'a str, &'static str), bytes: impl Read, plain: u64, crc: u64, name: &str) -> io::Result<()> {
    // One byte more than it says is enough to know that it lies.
    let mut whole = CrcReader::new(bytes.take(plain + 1));
    let mut held = Held { bytes: &mut whole, expected: (plain, crc), name };
    wanted.take(asked, &mut held)
}

/// Bytes whose end is an error unless size and checksum are right.
struct Held<'a, R> {
    bytes: &'a mut CrcReader<R>,
    expected: (u64, u64),
    name: &'a str,
}

impl<R: Read> Read for Held<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.bytes.read(buffer)?;
        let found = (u64::from(self.bytes.crc().amount()), u64::from(self.bytes.crc().sum()));
        // `amount` counts modulo 2^32, which no member of such a zip passes.
        if got == 0 && !buffer.is_empty() && found != self.expected {
            return Err(damaged(format!(
                "`{}` has {} bytes with the checksum {:08x}, expected {} with {:08x}",
                self.name, found.0, found.1, self.expected.0, self.expected.1
            )));
        }
        Ok(got)
    }
}

fn from_tar(mut tar: impl Read, wanted: &mut Wanted) -> io::Result<()> {
    let mut block = [0; BLOCK_BYTES];
    let mut long_name: Option<String> = None;
    let mut members = 0;
    loop {
        match tar.read_exact(&mut block) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && members > 0 => return Ok(()),
            Err(error) => return Err(error),
        }
        if block.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let sum: u64 = block.iter().enumerate().map(|(at, &byte)| u64::from(if (148..156).contains(&at) { b' ' } else { byte })).sum();
        if octal(&block[148..156]) != Some(sum) {
            return Err(damaged("it is neither zip nor tar"));
        }
        members += 1;
        let size = octal(&block[124..136]).ok_or_else(|| damaged("a member of a tar has no size"))?;
        let padding = size.next_multiple_of(BLOCK_BYTES as u64) - size;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
        let prefix = if &block[257..262] == b"ustar" { text(&block[345..500]) } else { String::new() };
        let short = if prefix.is_empty() { text(&block[..100]) } else { format!("{prefix}/{}", text(&block[..100])) };
        match block[156] {
            b'L' if size < 1 << 16 => {
                let mut name = Vec::new();
                tar.by_ref().take(size).read_to_end(&mut name)?;
                long_name = Some(text(&name));
            }
            b'0' | 0 => match wanted.asked(&long_name.take().unwrap_or(short)) {
                Some(asked) => {
                    let mut bytes = tar.by_ref().take(size);
                    wanted.take(asked, &mut bytes)?;
                    if bytes.limit() > 0 {
                        return Err(damaged(format!("it ends inside of `{}`", asked.0)));
                    }
                }
                None => skip(&mut tar, size)?,
            },
            _ => {
                long_name = None;
                skip(&mut tar, size)?;
            }
        }
        skip(&mut tar, padding)?;
    }
}

fn skip(tar: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut tar.take(bytes), &mut io::sink())?;
    if skipped == bytes { Ok(()) } else { Err(damaged("it ends inside of a member")) }
}

/// A number of a tar's header: octal digits, blanks and zeros around them.
fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    u64::from_str_radix(text, 8).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    fn header(name: &str, size: usize) -> Vec<u8> {
        let mut block = vec![0; BLOCK_BYTES];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        block[156] = b'0';
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        block
    }

    /// A tar of these members.
    pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = Vec::new();
        for (name, bytes) in members {
            tar.extend(header(name, bytes.len()));
            tar.extend(*bytes);
            tar.resize(tar.len().next_multiple_of(BLOCK_BYTES), 0);
        }
        tar.resize(tar.len() + 2 * BLOCK_BYTES, 0);
        tar
    }

    /// A zip of these members, deflated but for empty ones.
    pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut zip, mut list) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            packed.write_all(bytes).unwrap();
            let packed = if bytes.is_empty() { Vec::new() } else { packed.finish().unwrap() };
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            let mut facts = if bytes.is_empty() { vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0] } else { vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0] };
            for number in [crc.sum(), packed.len() as u32, bytes.len() as u32] {
                facts.extend(number.to_le_bytes());
            }
            facts.extend((name.len() as u16).to_le_bytes());
            facts.extend([0, 0]);
            list.extend(b"PK\x01\x02\x14\0");
            list.extend(&facts);
            list.extend([0; 10]);
            list.extend((zip.len() as u32).to_le_bytes());
            list.extend(name.as_bytes());
            zip.extend(b"PK\x03\x04");
            zip.extend(&facts);
            zip.extend(name.as_bytes());
            zip.extend(&packed);
        }
        let start = zip.len() as u32;
        let count = (members.len() as u16).to_le_bytes();
        zip.extend(&list);
        zip.extend(b"PK\x05\x06\0\0\0\0");
        zip.extend([count, count].concat());
        zip.extend((list.len() as u32).to_le_bytes());
        zip.extend(start.to_le_bytes());
        zip.extend([0, 0]);
        zip
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    const MEMBERS: &[(&str, &[u8])] =
        &[("set/raw/edge.csv.gz", b"packed"), ("set/../../evil", b"evil"), ("set/label.csv", b"0\n1\n"), ("other/label.csv", b"x"), ("set/none", b"")];
    const FILES: &[&str] = &["raw/edge.csv", "label.csv", "none"];

    fn tried(bytes: &[u8], files: &[&str]) -> (Result<Vec<PathBuf>, String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive");
        fs::write(&archive, bytes).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        (unpack(&archive, "set", files, &folder.path().join("out")), folder)
    }

    #[test]
    fn what_is_asked_comes_out_and_nothing_else() {
        for archive in [zip(MEMBERS), tar(MEMBERS), gzip(&tar(MEMBERS))] {
            let (paths, folder) = tried(&archive, FILES);
            let out = folder.path().join("out");
            assert_eq!(paths.unwrap(), [out.join("raw/edge.csv.gz"), out.join("label.csv"), out.join("none")]);
            assert_eq!((fs::read(out.join("raw/edge.csv.gz")).unwrap(), fs::read(out.join("label.csv")).unwrap()), (b"packed".to_vec(), b"0\n1\n".to_vec()));
            assert_eq!((fs::read_dir(&out).unwrap().count(), fs::read_dir(folder.path()).unwrap().count()), (3, 2));
            let (missing, _folder) = tried(&archive, &["label.csv", "nobody", "evil"]);
            assert_eq!(missing.unwrap_err(), "it holds no nobody, no evil");
        }
    }

    #[test]
    fn a_damaged_archive_is_named_and_leaves_no_half_file() {
        let mut crooked = zip(MEMBERS);
        let at = crooked.windows(14).position(|bytes| bytes == b"set/label.csv\x33").unwrap();
        crooked[at + 14] ^= 0xff;
        let whole = tar(MEMBERS);
        for bytes in [crooked, zip(MEMBERS)[..60].to_vec(), gzip(&whole)[..60].to_vec(), whole[..BLOCK_BYTES + 3].to_vec(), b"nonsense".to_vec(), Vec::new()] {
            let (result, folder) = tried(&bytes, &["label.csv"]);
            assert!(result.unwrap_err().contains("damaged"));
            assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_an_archive_or_an_error(which in 0..3u8, at in 0usize..400, byte: u8, length in 0usize..600) {
            let mut bytes = match which { 0 => zip(MEMBERS), 1 => tar(MEMBERS), _ => gzip(&tar(MEMBERS)) };
            let at = at % bytes.len();
            bytes[at] = byte;
            if length < bytes.len() && length % 3 == 0 {
                bytes.truncate(length);
            }
            let _ = tried(&bytes, FILES);
        }
    }
}
