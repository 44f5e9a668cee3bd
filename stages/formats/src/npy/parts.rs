//! An array of numbers that comes in parts, so that one as large as a graph need not be held.
//!
//! promises  the values and the errors that the array as a whole gives
//! bounds    one part; arrays that are no plain run of numbers (Python objects, columns first) are held as a whole
use super::{Array, Data, Kind, Origin, header};
use crate::{
    raw::{Read, ReadError},
    zip::{Archive, Unpacked},
};
use std::io::Read as _;

/// What stands before the header of an array at most.
const BEFORE_HEADER: u64 = 12;

/// An array, part by part.
pub struct Parts<'a> {
    /// Its extents.
    pub shape: Vec<u64>,
    /// As a whole, or without values.
    array: Array,
    stream: Option<Stream<'a>>,
    count: u64,
    at: u64,
}

struct Stream<'a> {
    reader: Unpacked,
    archive: &'a Archive,
    member: String,
}

impl<'a> Parts<'a> {
    /// An array that is held.
    pub fn whole(array: Array) -> Parts<'a> {
        Parts { shape: array.shape.clone(), count: array.len() as u64, array, stream: None, at: 0 }
    }

    /// A member of an archive; `from` names it in errors.
    pub fn of_member(archive: &'a Archive, member: &str, from: Origin) -> Read<Parts<'a>> {
        match Parts::stream(archive, member, &from)? {
            Some(parts) => Ok(parts),
            None => super::parse(from, archive.read(member)?).map(Parts::whole),
        }
    }

    /// None: it has to be read as a whole, if only to say what is wrong with it.
    fn stream(archive: &'a Archive, member: &str, from: &Origin) -> Read<Option<Parts<'a>>> {
        let mut reader = archive.reader(member)?;
        let mut start = Vec::new();
        let fault = |error: std::io::Error| archive.fault(member, &error);
        reader.by_ref().take(BEFORE_HEADER).read_to_end(&mut start).map_err(fault)?;
        let more = match start[..] {
            [_, _, _, _, _, _, 1, _, low, high, ..] => u64::from(u16::from_le_bytes([low, high])).checked_sub(2),
            [_, _, _, _, _, _, 2 | 3, _, a, b, c, d] => Some(u64::from(u32::from_le_bytes([a, b, c, d]))),
            _ => None,
        };
        let Some(more) = more else { return Ok(None) };
        reader.by_ref().take(more).read_to_end(&mut start).map_err(fault)?;
        let Ok((begin, head)) = header(&start) else { return Ok(None) };
        let count = head.shape.iter().try_fold(1u64, |count, extent| count.checked_mul(*extent));
        let bytes = count.and_then(|count| count.checked_mul(head.dtype.width as u64)?.checked_add(begin as u64));
        let whole = matches!(head.dtype.kind, Kind::Object | Kind::Bytes | Kind::Text) || head.by_columns && head.shape.len() > 1;
        let (Some(count), false) = (count, whole || bytes.is_none() || bytes != archive.bytes_of(member)) else { return Ok(None) };
        let array = Array { shape: vec![0], dtype: head.dtype, data: Data::Bytes(Vec::new()), from: from.clone(), first: 0 };
        let stream = Some(Stream { reader, archive, member: member.to_owned() });
        Ok(Some(Parts { shape: head.shape, array, stream, count, at: 0 }))
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// An error about the array.
    pub fn error(&self, what: impl std::fmt::Display) -> ReadError {
        self.array.error(what)
    }

    /// The next values, `most` of them or what is left.
    pub fn next(&mut self, most: usize) -> Read<Array> {
        let values = (self.count - self.at).min(most as u64) as usize;
        let first = self.at;
        self.at += values as u64;
        let Some(Stream { reader, archive, member }) = &mut self.stream else { return Ok(self.array.part(first as usize..self.at as usize)) };
        let mut bytes = vec![0; values * self.array.dtype.width];
        reader.read_exact(&mut bytes).map_err(|error| archive.fault(member, &error))?;
        if self.at == self.count {
            // Size and sum of a member are proved by a look behind its end.
            reader.read(&mut [0]).map_err(|error| archive.fault(member, &error))?;
        }
        Ok(Array { shape: vec![values as u64], data: Data::Bytes(bytes), first, from: self.array.from.clone(), dtype: self.array.dtype })
    }
}
