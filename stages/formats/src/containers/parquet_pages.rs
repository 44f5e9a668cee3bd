//! The headers of the pages of a Parquet column: how large each page says it becomes.
//!
//! promises  a page that claims more than its codec can reach is refused before its decoder makes
//!           room for it
//! never     reads what pages hold; judges headers that the decoder itself judges (types, counts,
//!           checksums)
//! source    github.com/apache/parquet-format, PageHeader; Thrift's compact protocol
use std::{
    fs::File,
    io::{self, Read as _, Seek, SeekFrom},
};

/// What zstd can reach (some 2^15), and a little for small pages.
const RATIO_MOST: i64 = 40_000;
const ALWAYS: i64 = 1 << 16;
/// Bytes of a header that are read at first: most headers are shorter.
const FIRST: u64 = 256;
/// Structs inside structs of a header.
const DEPTH_MOST: u32 = 16;

/// Looks at the headers of all pages from one byte to another; the inner error is what is wrong.
pub fn judge(file: &mut File, begin: u64, end: u64) -> io::Result<Result<(), String>> {
    let (mut at, mut most) = (begin, FIRST);
    let mut bytes = Vec::new();
    while at < end {
        bytes.clear();
        file.seek(SeekFrom::Start(at))?;
        file.by_ref().take(most.min(end - at)).read_to_end(&mut bytes)?;
        let Some((unpacked, packed, length)) = header(&bytes) else {
            if (bytes.len() as u64) < end - at && bytes.len() as u64 == most {
                most *= 4;
                continue;
            }
            return Ok(Err(format!("the header of a page at byte {at} is damaged")));
        };
        if unpacked < 0 || packed < 0 || unpacked > packed.saturating_mul(RATIO_MOST) + ALWAYS {
            return Ok(Err(format!(
                "a page of {packed} bytes at byte {at} claims to unpack to {unpacked}"
            )));
        }
        at += length as u64 + packed as u64;
        most = FIRST;
    }
    Ok(Ok(()))
}

/// Bytes of a page unpacked and packed, and those of its header; none: the header is damaged or
/// goes on.
fn header(bytes: &[u8]) -> Option<(i64, i64, usize)> {
    let mut fields = Fields { bytes, at: 0 };
    let (mut unpacked, mut packed) = (None, None);
    let mut id = 0;
    loop {
        let first = fields.byte()?;
        if first == 0 {
            return Some((unpacked?, packed?, fields.at));
        }
        let kind = first & 15;
        id = if first >> 4 == 0 { fields.zigzag()? } else { id + i64::from(first >> 4) };
        match (id, kind) {
            (2, 5) => unpacked = Some(fields.zigzag()?),
            (3, 5) => packed = Some(fields.zigzag()?),
            _ => fields.skip(kind, false, 0)?,
        }
    }
}

struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        self.at = self
            .at
            .checked_add(usize::try_from(count).ok()?)
            .filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Passes over a value; truths have their value in the field's head, but a byte of their own in
    /// a list.
    fn skip(&mut self, kind: u8, in_list: bool, depth: u32) -> Option<()> {
        if depth > DEPTH_MOST {
            return None;
        }
        match kind {
            1 | 2 => self.pass(u64::from(in_list)),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Every element is at least a byte, so this ends with the bytes.
                (0..count).try_for_each(|_| self.skip(head & 15, true, depth + 1))
            }
            12 => loop {
                let first = self.byte()?;
                if first == 0 {
                    return Some(());
                }
                if first >> 4 == 0 {
                    self.varint()?;
                }
                self.skip(first & 15, false, depth + 1)?;
            },
            // Maps are in no page header.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that says these sizes, with a struct of a list, a truth and a text behind.
    fn page(unpacked: u64, packed: u64) -> Vec<u8> {
        let varint = |mut value: u64| {
            let mut bytes = Vec::new();
            while value > 127 {
                bytes.push(value as u8 | 128);
                value >>= 7;
            }
            [bytes, vec![value as u8]].concat()
        };
        let rest = [0x2c, 0x15, 2, 0x19, 0x21, 1, 2, 0x11, 0x18, 2, b'a', b'b', 0, 0];
        [&[0x15, 0][..], &[0x15], &varint(unpacked << 1), &[0x15], &varint(packed << 1), &rest]
            .concat()
    }

    fn judged(bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages");
        std::fs::write(&path, bytes).unwrap();
        judge(&mut File::open(&path).unwrap(), 0, bytes.len() as u64).unwrap()
    }

    #[test]
    fn a_page_that_claims_too_much_is_refused() {
        let sound = [page(100, 3), vec![1; 3], page(5, 0), page(7, 7), vec![9; 7]].concat();
        assert_eq!(judged(&sound), Ok(()));
        let claim = [page(100, 3), vec![1; 3], page(2_147_483_647, 3), vec![1; 3]].concat();
        assert_eq!(
            judged(&claim),
            Err("a page of 3 bytes at byte 24 claims to unpack to 2147483647".into())
        );
        assert!(
            judged(&sound[..5]).unwrap_err().contains("the header of a page at byte 0 is damaged")
        );
        assert!(
            judged(&[0x1b; 400]).is_err()
                && judged(&[0xff; 400]).is_err()
                && judged(&[0x1c; 400]).is_err()
        );
    }
}
