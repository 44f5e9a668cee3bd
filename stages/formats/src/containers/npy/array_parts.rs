//! An array of numbers or words that comes in parts, so that one as large as a graph need not be
//! held.
//!
//! promises  the values and the errors that the array as a whole gives
//! bounds    one part; arrays that are no plain run of values (Python objects, columns first but
//!           for `ValueOrder::Stored`) are held as a whole
use super::{Array, Data, Dtype, NpyHeader, Origin, ShapeText, ValueKind, header};
use crate::{
    containers::{
        decompress::PlainFile,
        zip::{Unpacked, ZipArchive},
    },
    read_error::{Read, ReadError},
};
use std::{io::Read as _, path::Path};

/// What stands before the header of an array at most.
const BEFORE_HEADER: u64 = 12;

/// An array, part by part.
pub struct ArrayParts<'a> {
    /// Its extents.
    pub shape: Vec<u64>,
    /// Whether the values come columns first.
    pub by_columns: bool,
    /// As a whole, or without values.
    array: Array,
    stream: Option<Stream<'a>>,
    count: u64,
    at: u64,
}

/// Where values come from one after the other.
struct Stream<'a> {
    bytes: PartBytes<'a>,
    /// Whether nothing may follow the last value.
    ends: bool,
}

enum PartBytes<'a> {
    File(Box<PlainFile>),
    Member { reader: Unpacked, archive: &'a ZipArchive, name: String },
}

/// Which way the values of an array with several extents may come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ValueOrder {
    /// Rows first, however they are stored.
    Rows,
    /// As they are stored; `by_columns` says how.
    Stored,
}

impl PartBytes<'_> {
    /// Appends up to `most` bytes; fewer only at the end.
    fn fill(&mut self, buffer: &mut Vec<u8>, most: u64) -> Read<()> {
        match self {
            PartBytes::File(plain) => plain.fill(buffer, most as usize).map(|_| ()),
            PartBytes::Member { reader, archive, name } => reader
                .by_ref()
                .take(most)
                .read_to_end(buffer)
                .map(|_| ())
                .map_err(|error| archive.fault(name, &error)),
        }
    }
}

impl<'a> ArrayParts<'a> {
    /// An array that is held.
    pub fn from_array(array: Array) -> ArrayParts<'a> {
        ArrayParts {
            shape: array.shape.clone(),
            by_columns: false,
            count: array.len() as u64,
            array,
            stream: None,
            at: 0,
        }
    }

    /// A member of an archive; `from` names it in errors.
    pub fn open_member(
        archive: &'a ZipArchive,
        member: &str,
        from: Origin,
        order: ValueOrder,
    ) -> Read<ArrayParts<'a>> {
        let bytes =
            PartBytes::Member { reader: archive.reader(member)?, archive, name: member.to_owned() };
        match ArrayParts::stream(bytes, archive.bytes_of(member), &from, order)? {
            Some(parts) => Ok(parts),
            None => super::parse(from, archive.read(member)?).map(ArrayParts::from_array),
        }
    }

    /// A file, packed or not.
    pub fn open_file(path: &Path, order: ValueOrder) -> Read<ArrayParts<'a>> {
        let (from, plain) = (Origin::new(path, None), PlainFile::open(path)?);
        let size = plain.size();
        match ArrayParts::stream(PartBytes::File(Box::new(plain)), size, &from, order)? {
            Some(parts) => Ok(parts),
            None => super::read(path).map(ArrayParts::from_array),
        }
    }

    /// Values of this shape that follow in a file.
    pub fn from_rest_of_file(
        plain: PlainFile,
        from: Origin,
        shape: Vec<u64>,
        dtype: Dtype,
    ) -> ArrayParts<'a> {
        let count = shape.iter().product();
        let array = Array { shape: vec![0], dtype, data: Data::Bytes(Vec::new()), from, first: 0 };
        ArrayParts {
            shape,
            by_columns: false,
            array,
            stream: Some(Stream { bytes: PartBytes::File(Box::new(plain)), ends: false }),
            count,
            at: 0,
        }
    }

    /// None: it has to be read as a whole, if only to say what is wrong with it. `size` is what the
    /// bytes are together, where that is known.
    fn stream(
        mut bytes: PartBytes<'a>,
        size: Option<u64>,
        from: &Origin,
        order: ValueOrder,
    ) -> Read<Option<ArrayParts<'a>>> {
        let mut start = Vec::new();
        bytes.fill(&mut start, BEFORE_HEADER)?;
        let more = match start[..] {
            [_, _, _, _, _, _, 1, _, low, high, ..] => {
                u64::from(u16::from_le_bytes([low, high])).checked_sub(2)
            }
            [_, _, _, _, _, _, 2 | 3, _, a, b, c, d] => {
                Some(u64::from(u32::from_le_bytes([a, b, c, d])))
            }
            _ => None,
        };
        let Some(more) = more else { return Ok(None) };
        bytes.fill(&mut start, more)?;
        let Ok((begin, NpyHeader { dtype, by_columns, shape })) = header(&start) else {
            return Ok(None);
        };
        let count = shape.iter().try_fold(1u64, |count, extent| count.checked_mul(*extent));
        let wanted = count
            .and_then(|count| count.checked_mul(dtype.width as u64)?.checked_add(begin as u64));
        let by_columns = by_columns && shape.len() > 1;
        let whole = dtype.kind == ValueKind::Object
            || dtype.width == 0
            || by_columns && order == ValueOrder::Rows;
        let fits = wanted.is_some() && size.is_none_or(|size| wanted == Some(size));
        let (Some(count), true, false) = (count, fits, whole) else { return Ok(None) };
        let array = Array {
            shape: vec![0],
            dtype,
            data: Data::Bytes(Vec::new()),
            from: from.clone(),
            first: 0,
        };
        Ok(Some(ArrayParts {
            shape,
            by_columns,
            array,
            stream: Some(Stream { bytes, ends: true }),
            count,
            at: 0,
        }))
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether its values are words.
    pub fn is_text(&self) -> bool {
        if self.stream.is_some() {
            matches!(self.array.dtype.kind, ValueKind::Bytes | ValueKind::Text)
        } else {
            self.array.is_text()
        }
    }

    /// An error about the array.
    pub fn error(&self, what: impl std::fmt::Display) -> ReadError {
        self.array.error(what)
    }

    /// Passes over the next values.
    pub fn skip(&mut self, mut count: u64) -> Read<()> {
        while count > 0 {
            let step = count.min(BLOCK_VALUES);
            self.next(step as usize)?;
            count -= step;
        }
        Ok(())
    }

    /// The next values, `most` of them or what is left.
    pub fn next(&mut self, most: usize) -> Read<Array> {
        let values = (self.count - self.at).min(most as u64) as usize;
        let first = self.at;
        self.at += values as u64;
        let Some(Stream { bytes: stored, ends }) = &mut self.stream else {
            return Ok(self.array.part(first as usize..self.at as usize));
        };
        let wanted = values * self.array.dtype.width;
        let mut bytes = Vec::with_capacity(wanted.min(BYTES_BELIEVED));
        stored.fill(&mut bytes, wanted as u64)?;
        let mut found = bytes.len();
        if self.at == self.count && *ends && found == wanted {
            // Size and sum of a member are proved by a look behind its end.
            let mut more = Vec::new();
            stored.fill(&mut more, 1)?;
            found += more.len();
        }
        if found != wanted {
            let error = self.array.error("an array's bytes do not fit its shape");
            let shape =
                format!("values of {} for the shape {}", self.array.dtype, ShapeText(&self.shape));
            let found = if found > wanted { "more" } else { "fewer" };
            return Err(Box::new(
                error
                    .expected(shape, found)
                    .hint("was the file cut short? write it again with  numpy.save"),
            ));
        }
        Ok(Array {
            shape: vec![values as u64],
            data: Data::Bytes(bytes),
            first,
            from: self.array.from.clone(),
            dtype: self.array.dtype,
        })
    }

    /// All values that are left, as an array of the whole shape.
    pub fn rest(mut self) -> Read<Array> {
        let shape = std::mem::take(&mut self.shape);
        Ok(Array { shape, ..self.next(self.count as usize)? })
    }
}

/// Bytes that are made room for before they are there.
const BYTES_BELIEVED: usize = 1 << 24;
/// Values that are passed over at once.
const BLOCK_VALUES: u64 = 1 << 18;
