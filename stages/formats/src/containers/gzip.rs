//! Gzip of one or several members, told from what follows behind the last.
//!
//! promises  the plain bytes of all members; zeros behind the last (as tapes and block devices
//!           leave them) are passed over
//! promises  other bytes behind it are an error that says where they begin, and never that the file
//!           is cut short
//! never     gives a byte of what follows
use flate2::bufread::GzDecoder;
use std::{
    fmt,
    io::{self, BufRead, Read},
};

/// How a member begins.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bytes behind the last member that are none of gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailingBytes {
    /// How many of those that were taken from below come at and behind the first of them.
    pub unread: u64,
}

impl fmt::Display for TrailingBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes follow behind its end that are no gzip")
    }
}

impl std::error::Error for TrailingBytes {}

/// What to do about them.
pub const TRAILING_HINT: &str =
    "take them away:  gzip -dc FILE.gz | gzip > NEW.gz ; or download it again";

/// All members of a gzip file.
pub struct GzipMembers<R> {
    state: MemberState<R>,
}

enum MemberState<R> {
    Member(Box<GzDecoder<R>>),
    Done,
}

impl<R: BufRead> GzipMembers<R> {
    /// Of a file that begins with a member.
    pub fn new(stored: R) -> GzipMembers<R> {
        GzipMembers { state: MemberState::Member(Box::new(GzDecoder::new(stored))) }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let MemberState::Member(decoder) = &mut self.state else { return Ok(0) };
            let got = decoder.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            match std::mem::replace(&mut self.state, MemberState::Done) {
                MemberState::Member(decoder) => self.state = next(decoder.into_inner())?,
                MemberState::Done => return Ok(0),
            }
        }
    }
}

/// What follows behind a member.
fn next<R: BufRead>(mut stored: R) -> io::Result<MemberState<R>> {
    let mut is_padded = false;
    loop {
        let bytes = stored.fill_buf()?;
        match bytes.iter().position(|&byte| byte != 0) {
            None if bytes.is_empty() => return Ok(MemberState::Done),
            None => {
                let count = bytes.len();
                stored.consume(count);
                is_padded = true;
            }
            // The second byte may lie in the next buffer: one alone is left to the decoder.
            Some(0)
                if !is_padded
                    && bytes[0] == MAGIC[0]
                    && bytes.get(1).is_none_or(|&byte| byte == MAGIC[1]) =>
            {
                return Ok(MemberState::Member(Box::new(GzDecoder::new(stored))));
            }
            Some(at) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    TrailingBytes { unread: (bytes.len() - at) as u64 },
                ));
            }
        }
    }
}

/// Whether an error is that of bytes behind the last member.
pub fn trailing(error: &io::Error) -> Option<TrailingBytes> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<TrailingBytes>()).copied()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::{BufReader, Write};

    /// A gzip file of these bytes.
    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(stored: &[u8], room: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        GzipMembers::new(BufReader::with_capacity(room, stored))
            .read_to_end(&mut bytes)
            .map(|_| bytes)
    }

    #[test]
    fn members_follow_each_other_and_zeros_the_last() {
        for room in [1, 2, 3, 1 << 10] {
            let two = [gzip(b"0 1\n"), gzip(b""), gzip(b"1 2\n")].concat();
            assert_eq!(read(&two, room).unwrap(), b"0 1\n1 2\n");
            assert_eq!(read(&[two, vec![0; 600]].concat(), room).unwrap(), b"0 1\n1 2\n");
        }
    }

    #[test]
    fn what_follows_is_told_from_a_file_that_is_cut_short() {
        let one = gzip(b"0 1\n");
        for room in [2, 3, 1 << 10] {
            for more in [&b"junk"[..], b"\0\0junk", b"\x1fjunk"] {
                let error = read(&[&one[..], more].concat(), room).unwrap_err();
                assert!(
                    trailing(&error).is_some()
                        || more[0] == MAGIC[0] && error.kind() == io::ErrorKind::InvalidInput,
                    "{error:?}"
                );
            }
        }
        let error = read(&[&one[..], b"junk"].concat(), 1 << 10).unwrap_err();
        assert_eq!(trailing(&error), Some(TrailingBytes { unread: 4 }));
        let error = read(&one[..one.len() - 3], 1 << 10).unwrap_err();
        assert_eq!((error.kind(), trailing(&error)), (io::ErrorKind::UnexpectedEof, None));
    }
}
