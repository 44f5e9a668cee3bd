//! Arrays as `numpy.save` writes them: `.npy`, versions 1 to 3.
//!
//! reads     whole numbers of 8 to 64 bits, reals of 16 to 64, bool, fixed texts (`S`, `U`), either
//!           byte order, rows or columns first; arrays of Python objects as far as `pickle` builds
//!           them: numbers, texts, one CSR matrix
//! promises  an array has exactly the bytes that its shape asks; a number that does not fit the
//!           asked type is an error with its position
//! never     runs what a pickled array names (see `pickle`); rounds a whole number; reads complex
//!           numbers, dates or records
//! bounds    the file, and once more what is converted
//! source    numpy/lib/format.py
pub mod array_parts;
pub mod node_values;

use super::{
    decompress::PlainFile,
    pickle::{
        self,
        value::{CsrMatrix, Pickle, PickleValue},
    },
};
use crate::{
    f32_rounding::RoundedIntegers,
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How a file of this kind begins.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// Extents that numpy itself allows.
const EXTENTS_MOST: usize = 32;
/// Numbers that one task converts.
const PIECE: usize = 1 << 16;

/// An array.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its extents; none: a single value.
    pub shape: Vec<u64>,
    /// How one value is stored.
    pub dtype: Dtype,
    /// The values, the last extent fastest.
    pub data: Data,
    from: Origin,
    /// Where its first value stands in what it is a part of, for errors.
    first: u64,
}

/// Where an array comes from, for errors.
#[derive(Clone, Debug)]
pub struct Origin {
    path: PathBuf,
    member: Option<String>,
}

/// The values of an array.
#[derive(Clone, Debug)]
pub enum Data {
    /// As stored.
    Bytes(Vec<u8>),
    /// Python objects.
    Objects(Arc<Pickle>, Vec<PickleValue>),
}

/// How one value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// What it is.
    pub kind: ValueKind,
    /// Bytes of one value.
    pub width: usize,
    /// The byte order of numbers and of `U` texts.
    pub big_endian: bool,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One byte, 0 or 1.
    Bool,
    /// Whole numbers.
    Signed,
    /// Whole numbers from 0.
    Unsigned,
    /// IEEE numbers of 16, 32 or 64 bits.
    Real,
    /// Bytes, filled up with zeros.
    Bytes,
    /// UCS-4, filled up with zeros.
    Text,
    /// Anything that Python has.
    Object,
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
}

impl Origin {
    /// A file, or a member of an archive.
    pub fn new(path: &Path, member: Option<&str>) -> Origin {
        Origin { path: path.to_path_buf(), member: member.map(str::to_owned) }
    }

    /// An error about this array.
    pub fn error(&self, what: impl fmt::Display) -> ReadError {
        match &self.member {
            Some(member) => ReadError::new(&self.path, format!("`{member}`: {what}")),
            None => ReadError::new(&self.path, what.to_string()),
        }
    }
}

/// Reads a file, packed or not.
pub fn read(path: &Path) -> Read<Array> {
    parse(Origin::new(path, None), PlainFile::open(path)?.read_all()?)
}

/// Reads the bytes of a file.
pub fn parse(from: Origin, mut bytes: Vec<u8>) -> Read<Array> {
    let (begin, header) =
        header(&bytes).map_err(|(byte, what)| Box::new(from.error(what).at_byte(byte as u64)))?;
    let NpyHeader { dtype, by_columns, shape } = header;
    if dtype.kind == ValueKind::Object {
        let pickle = pickle::load(&from.path, &bytes[begin..]).map_err(|mut error| {
            error.what = format!(
                "{}an array of Python objects: {}",
                from.member.as_ref().map_or(String::new(), |member| format!("`{member}`: ")),
                error.what
            );
            error
        })?;
        let (stored, items) = pickle.objects(pickle.root()).map_err(|what| from.error(what))?;
        if stored != shape {
            return Err(Box::new(
                from.error("its header and its pickle differ in shape")
                    .expected(format!("{shape:?}"), format!("{stored:?}")),
            ));
        }
        let items = items.to_vec();
        return Ok(Array {
            shape,
            dtype,
            data: Data::Objects(Arc::new(pickle), items),
            from,
            first: 0,
        });
    }
    bytes.drain(..begin);
    let array = Array::new(from, shape, dtype, bytes);
    let mut array = array.map_err(|error| {
        error.at_byte(begin as u64).hint("was the file cut short? write it again with  numpy.save")
    })?;
    if let (Data::Bytes(bytes), true, 2..) = (&mut array.data, by_columns, array.shape.len()) {
        *bytes = to_rows(bytes, &array.shape, dtype.width);
    }
    Ok(array)
}

struct NpyHeader {
    dtype: Dtype,
    by_columns: bool,
    shape: Vec<u64>,
}

/// Where the data begin, and what the header says.
fn header(bytes: &[u8]) -> Result<(usize, NpyHeader), (usize, String)> {
    if !bytes.starts_with(MAGIC) {
        return Err((0, "it does not begin as a `.npy` file does (0x93 NUMPY)".into()));
    }
    let cut = |at: usize| (at, "the header is cut short".to_owned());
    let version = *bytes.get(6).ok_or_else(|| cut(6))?;
    let (length, begin): (usize, usize) = match (version, bytes.get(8..10), bytes.get(8..12)) {
        (1, Some(length), _) => (usize::from(u16::from_le_bytes([length[0], length[1]])), 10),
        (2 | 3, _, Some(length)) => {
            (u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize, 12)
        }
        (1..=3, ..) => return Err(cut(8)),
        _ => return Err((6, format!("version {version} is not read: expected 1, 2 or 3"))),
    };
    let text =
        begin.checked_add(length).and_then(|end| bytes.get(begin..end)).ok_or_else(|| cut(8))?;
    let mut words = HeaderScan { text, at: 0 };
    let header = words.header().map_err(|what| (begin + words.at, what))?;
    Ok((begin + length, header))
}

/// The Python dict of a header, read sign by sign.
struct HeaderScan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> HeaderScan<'a> {
    fn header(&mut self) -> Result<NpyHeader, String> {
        let (mut dtype, mut by_columns, mut shape) = (None, None, None);
        self.sign(b'{')?;
        while !self.skip(b'}') {
            let key = self.quoted()?;
            self.sign(b':')?;
            match key {
                "descr" => {
                    if self.skip(b'[') {
                        return Err(
                            "records with named fields are not read: save one array for each field"
                                .into(),
                        );
                    }
                    dtype = Some(Dtype::named(self.quoted()?)?);
                }
                "fortran_order" => by_columns = Some(self.truth()?),
                "shape" => shape = Some(self.tuple()?),
                other => return Err(format!("the header has an unknown entry `{other}`")),
            }
            if !self.skip(b',') {
                self.sign(b'}')?;
                break;
            }
        }
        match (dtype, by_columns, shape) {
            (Some(dtype), Some(by_columns), Some(shape)) => {
                Ok(NpyHeader { dtype, by_columns, shape })
            }
            _ => Err("the header lacks one of `descr`, `fortran_order`, `shape`".into()),
        }
    }

    fn rest(&mut self) -> &'a [u8] {
        self.at +=
            self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        &self.text[self.at..]
    }

    fn skip(&mut self, sign: u8) -> bool {
        let found = self.rest().first() == Some(&sign);
        self.at += usize::from(found);
        found
    }

    fn sign(&mut self, sign: u8) -> Result<(), String> {
        if self.skip(sign) {
            Ok(())
        } else {
            Err(format!("the header is no Python dict: expected `{}`", char::from(sign)))
        }
    }

    fn quoted(&mut self) -> Result<&'a str, String> {
        let rest = self.rest();
        let quoted = match rest {
            [quote @ (b'\'' | b'"'), inner @ ..] => {
                inner.iter().position(|byte| byte == quote).map(|length| &inner[..length])
            }
            _ => None,
        };
        let quoted = quoted
            .and_then(|quoted| std::str::from_utf8(quoted).ok())
            .ok_or("the header is no Python dict: expected a text in quotes")?;
        self.at += quoted.len() + 2;
        Ok(quoted)
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        self.at += length;
        &rest[..length]
    }

    fn truth(&mut self) -> Result<bool, String> {
        match self.word() {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err("`fortran_order` is neither True nor False".into()),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        let mut shape = Vec::new();
        self.sign(b'(')?;
        while !self.skip(b')') {
            // Python 2 wrote 3L for a long 3.
            let word = std::str::from_utf8(self.word()).unwrap_or_default();
            shape.push(
                word.strip_suffix('L')
                    .unwrap_or(word)
                    .parse()
                    .map_err(|_| "the shape is no tuple of whole numbers")?,
            );
            if shape.len() > EXTENTS_MOST {
                return Err(format!("the shape has more than {EXTENTS_MOST} extents"));
            }
            if !self.skip(b',') {
                self.sign(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}

/// From columns first to rows first.
fn to_rows(stored: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(stored.len());
    let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
    let steps: Vec<usize> = shape
        .iter()
        .scan(width, |step, extent| Some(std::mem::replace(step, *step * extent)))
        .collect();
    let mut at = vec![0; shape.len()];
    let mut from = 0;
    for _ in 0..stored.len() / width.max(1) {
        rows.extend_from_slice(&stored[from..from + width]);
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            from += steps[axis];
            if at[axis] < shape[axis] {
                break;
            }
            from -= steps[axis] * shape[axis];
            at[axis] = 0;
        }
    }
    rows
}

impl Dtype {
    /// `<f8`, `|b1`, `>U7`, `|O`, ...
    fn named(name: &str) -> Result<Dtype, String> {
        let refused = || {
            format!(
                "values of the type `{}` are not read",
                name.chars().take(40).collect::<String>()
            )
        };
        let (order, rest) = match name.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), rest @ ..] => (*order, rest),
            rest => (b'=', rest),
        };
        let (&letter, digits) = rest.split_first().ok_or_else(refused)?;
        let digits = std::str::from_utf8(digits).unwrap_or("-");
        let size = if digits.is_empty() && letter == b'O' {
            Some(8)
        } else {
            digits.parse::<usize>().ok()
        };
        let (kind, width) = match (letter, size.ok_or_else(refused)?) {
            (b'b', 1) => (ValueKind::Bool, 1),
            (b'i', width @ (1 | 2 | 4 | 8)) => (ValueKind::Signed, width),
            (b'u', width @ (1 | 2 | 4 | 8)) => (ValueKind::Unsigned, width),
            (b'f', width @ (2 | 4 | 8)) => (ValueKind::Real, width),
            (b'S' | b'a', width) => (ValueKind::Bytes, width),
            (b'U', signs) => (ValueKind::Text, signs.checked_mul(4).ok_or_else(refused)?),
            (b'O', 4 | 8) => (ValueKind::Object, 8),
            _ => return Err(refused()),
        };
        Ok(Dtype { kind, width, big_endian: order == b'>' })
    }

    fn bits(self, bytes: &[u8]) -> u64 {
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
    }

    /// The number in these bytes; none: it is no number.
    fn number(self, bytes: &[u8]) -> Option<Number> {
        let bits = self.bits(bytes);
        Some(match (self.kind, self.width) {
            (ValueKind::Bool, _) => Number::Unsigned(u64::from(bits != 0)),
            (ValueKind::Unsigned, _) => Number::Unsigned(bits),
            (ValueKind::Signed, width) => Number::Signed(
                ((bits << (64 - 8 * width as u32)) as i64) >> (64 - 8 * width as u32),
            ),
            (ValueKind::Real, 2) => Number::Real(half(bits as u16)),
            (ValueKind::Real, 4) => Number::Real(f64::from(f32::from_bits(bits as u32))),
            (ValueKind::Real, _) => Number::Real(f64::from_bits(bits)),
            _ => return None,
        })
    }

    fn word(self, bytes: &[u8]) -> Option<String> {
        let end = |width: usize| {
            bytes
                .chunks_exact(width)
                .rposition(|sign| sign.iter().any(|&byte| byte != 0))
                .map_or(0, |last| (last + 1) * width)
        };
        match self.kind {
            ValueKind::Bytes => String::from_utf8(bytes[..end(1)].to_vec()).ok(),
            ValueKind::Text => bytes[..end(4)]
                .chunks_exact(4)
                .map(|sign| char::from_u32(self.bits(sign) as u32))
                .collect(),
            _ => None,
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ValueKind::Bool => write!(f, "bool"),
            ValueKind::Signed => write!(f, "int{}", 8 * self.width),
            ValueKind::Unsigned => write!(f, "uint{}", 8 * self.width),
            ValueKind::Real => write!(f, "float{}", 8 * self.width),
            ValueKind::Bytes => write!(f, "text (S{})", self.width),
            ValueKind::Text => write!(f, "text (U{})", self.width / 4),
            ValueKind::Object => write!(f, "Python objects"),
        }
    }
}

/// Pieces of `width` values, piece i at the place `order[i]`.
fn reordered<T: Copy>(values: &[T], width: usize, order: &[u32]) -> Vec<T> {
    let mut new = values.to_vec();
    for (piece, &place) in values.chunks_exact(width.max(1)).zip(order) {
        new[place as usize * width..][..width].copy_from_slice(piece);
    }
    new
}

/// A shape as numpy prints it.
struct ShapeText<'a>(&'a [u64]);

impl fmt::Display for ShapeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.0.iter().map(u64::to_string).collect();
        write!(f, "({}{})", extents.join(", "), if extents.len() == 1 { "," } else { "" })
    }
}

/// A real of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

impl Number {
    pub(crate) fn unsigned(self) -> Option<u64> {
        match self {
            Number::Signed(number) => u64::try_from(number).ok(),
            Number::Unsigned(number) => Some(number),
            Number::Real(number) => (number.fract() == 0.0
                && (0.0..=9_007_199_254_740_992.0).contains(&number))
            .then_some(number as u64),
        }
    }

    pub(crate) fn signed(self) -> Option<i64> {
        match self {
            Number::Signed(number) => Some(number),
            Number::Unsigned(number) => i64::try_from(number).ok(),
            Number::Real(number) => (number.fract() == 0.0
                && number.abs() <= 9_007_199_254_740_992.0)
                .then_some(number as i64),
        }
    }

    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Signed(number) => number as f64,
            Number::Unsigned(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    /// Whether it is a whole one that f32 does not hold.
    pub(crate) fn is_rounded(self) -> bool {
        match self {
            Number::Signed(number) => number as f32 as i128 != i128::from(number),
            Number::Unsigned(number) => number as f32 as i128 != i128::from(number),
            Number::Real(number) => {
                number.is_finite() && number.fract() == 0.0 && f64::from(number as f32) != number
            }
        }
    }

    /// A number that is finite stays finite.
    pub(crate) fn single(self) -> Option<f32> {
        let number = self.real();
        let single = number as f32;
        (single.is_finite() || !number.is_finite()).then_some(single)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Signed(number) => number.fmt(f),
            Number::Unsigned(number) => number.fmt(f),
            Number::Real(number) => number.fmt(f),
        }
    }
}

impl Array {
    /// An array from the bytes of its values, the last extent fastest.
    pub fn new(from: Origin, shape: Vec<u64>, dtype: Dtype, bytes: Vec<u8>) -> Read<Array> {
        let wanted =
            shape.iter().try_fold(dtype.width as u64, |size, extent| size.checked_mul(*extent));
        let found = bytes.len() as u64;
        if wanted == Some(found) {
            return Ok(Array { shape, dtype, data: Data::Bytes(bytes), from, first: 0 });
        }
        let wanted = wanted.map_or("more than 2^64".to_owned(), |wanted| wanted.to_string());
        let error = from.error("an array's bytes do not fit its shape");
        Err(Box::new(error.expected(
            format!("{wanted} bytes for {} of shape {}", dtype, ShapeText(&shape)),
            found.to_string(),
        )))
    }

    /// Puts row i to the place `order[i]`; `order` names every row once.
    pub fn reorder_rows(&mut self, order: &[u32]) {
        match &mut self.data {
            Data::Bytes(bytes) => {
                *bytes = reordered(bytes, bytes.len() / order.len().max(1), order)
            }
            Data::Objects(_, items) => {
                *items = reordered(items, items.len() / order.len().max(1), order)
            }
        }
    }

    /// The same within each row.
    pub fn reorder_columns(&mut self, order: &[u32]) {
        let row = self.dtype.width * order.len();
        if let Data::Bytes(bytes) = &mut self.data {
            *bytes = bytes
                .chunks(row.max(1))
                .flat_map(|row| reordered(row, self.dtype.width, order))
                .collect();
        }
    }

    /// Some of its values, as a list.
    pub fn part(&self, range: Range<usize>) -> Array {
        let data = match &self.data {
            Data::Bytes(bytes) => Data::Bytes(
                bytes[range.start * self.dtype.width..range.end * self.dtype.width].to_vec(),
            ),
            Data::Objects(pickle, items) => {
                Data::Objects(pickle.clone(), items[range.clone()].to_vec())
            }
        };
        Array {
            shape: vec![range.len() as u64],
            dtype: self.dtype,
            data,
            from: self.from.clone(),
            first: self.first + range.start as u64,
        }
    }

    /// Where its first value stands in what it is a part of.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// How many values it has.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Bytes(bytes) if self.dtype.width > 0 => bytes.len() / self.dtype.width,
            // Texts of length 0: nothing stands behind the shape.
            Data::Bytes(_) => 0,
            Data::Objects(_, items) => items.len(),
        }
    }

    /// Whether it has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows, and values in one: all extents but the first; a list has one value a row.
    pub fn rows(&self) -> Read<(usize, usize)> {
        let Some((&rows, rest)) = self.shape.split_first() else {
            return Err(Box::new(self.error("expected an array with rows, found a single value")));
        };
        let width = rest.iter().try_fold(1u64, |size, extent| size.checked_mul(*extent));
        // Extents of 0 let the others claim anything: they are no rows that anything stands behind.
        let sizes = width
            .and_then(|width| Some((usize::try_from(rows).ok()?, usize::try_from(width).ok()?)));
        let claim = || {
            Box::new(self.error(format!(
                "an array of shape {} is empty or too large",
                ShapeText(&self.shape)
            )))
        };
        sizes.filter(|&(rows, width)| rows == 0 || width > 0).ok_or_else(claim)
    }

    /// Whether its values are words.
    pub fn is_text(&self) -> bool {
        match &self.data {
            Data::Objects(pickle, items) => items.iter().any(|&item| pickle.text(item).is_some()),
            Data::Bytes(_) => matches!(self.dtype.kind, ValueKind::Bytes | ValueKind::Text),
        }
    }

    /// An error about this array.
    pub fn error(&self, what: impl fmt::Display) -> ReadError {
        self.from.error(what)
    }

    /// Whole numbers from 0; a real that is whole will do.
    pub fn u64s(&self) -> Read<Vec<u64>> {
        self.convert("whole numbers from 0", Number::unsigned)
    }

    /// Whole numbers; a real that is whole will do.
    pub fn i64s(&self) -> Read<Vec<i64>> {
        self.convert("whole numbers of 64 bits", Number::signed)
    }

    /// Whole numbers from 0 below `end`.
    pub fn rows_below(&self, end: u64) -> Read<Vec<u32>> {
        self.convert(&format!("whole numbers from 0, below {end}"), |number| {
            number
                .unsigned()
                .filter(|&number| number < end)
                .and_then(|number| u32::try_from(number).ok())
        })
    }

    /// Numbers; a finite one beyond the range of 32 bits is an error.
    pub fn f32s(&self) -> Read<Vec<f32>> {
        self.convert("numbers that fit 32 bits", Number::single)
    }

    /// Whole numbers among the values that f32 does not hold, by place from 0.
    pub fn rounded(&self) -> Read<RoundedIntegers> {
        let mut rounded = RoundedIntegers::default();
        // Reals of 32 bits and fewer are as they are, and so are whole numbers of up to 16.
        if self.dtype.width < 8 && (self.dtype.kind == ValueKind::Real || self.dtype.width < 4) {
            return Ok(rounded);
        }
        let others = self.convert("numbers", |number| Some(number.is_rounded()))?;
        others
            .into_iter()
            .zip(self.first..)
            .for_each(|(is_other, place)| rounded.add(place, is_other));
        Ok(rounded)
    }

    /// Numbers; whole ones beyond 2^53 lose their last bits.
    pub fn f64s(&self) -> Read<Vec<f64>> {
        self.convert("numbers", |number| Some(number.real()))
    }

    /// Truths: bool, or 0 and 1.
    pub fn bools(&self) -> Read<Vec<bool>> {
        self.convert("bool, or 0 and 1", |number| {
            number.unsigned().filter(|&number| number < 2).map(|number| number == 1)
        })
    }

    /// Words; bytes must be UTF-8.
    pub fn words(&self) -> Read<Vec<String>> {
        let wrong = |at: usize, found: String| {
            Box::new(
                self.error(format!("value {} is no text", self.first + at as u64))
                    .expected("text", found),
            )
        };
        match &self.data {
            Data::Objects(pickle, items) => {
                let word = |(at, &item): (usize, &PickleValue)| {
                    pickle
                        .text(item)
                        .map(str::to_owned)
                        .ok_or_else(|| wrong(at, "another object".into()))
                };
                items.iter().enumerate().map(word).collect()
            }
            Data::Bytes(_) if !self.is_text() => Err(wrong(0, self.dtype.to_string())),
            Data::Bytes(_) if self.dtype.width == 0 => Err(wrong(0, "texts of length 0".into())),
            Data::Bytes(bytes) => {
                let word = |(at, bytes)| {
                    self.dtype
                        .word(bytes)
                        .ok_or_else(|| wrong(at, "bytes that are not UTF-8 or no signs".into()))
                };
                bytes.chunks_exact(self.dtype.width).enumerate().map(word).collect()
            }
        }
    }

    /// The one CSR matrix of an array of objects.
    pub fn matrix(&self) -> Option<Read<CsrMatrix>> {
        match &self.data {
            Data::Objects(pickle, items) if items.len() == 1 && pickle.text(items[0]).is_none() => {
                Some(pickle.matrix(items[0]).map_err(|what| Box::new(self.error(what))))
            }
            _ => None,
        }
    }

    fn convert<T: Send>(
        &self,
        expected: &str,
        of: impl Fn(Number) -> Option<T> + Sync,
    ) -> Read<Vec<T>> {
        let wrong = |at: usize, found: String| {
            let hint = match &self.data {
                Data::Objects(..) => {
                    "write plain numbers, rows of one length:  numpy.save(FILE, numpy.array(rows, \
                     dtype='float32'))"
                }
                Data::Bytes(_) if self.is_text() => "write numbers:  array.astype('float32')",
                Data::Bytes(_) if found.starts_with('-') => {
                    "numbers of nodes, classes and rows begin at 0"
                }
                Data::Bytes(_) => "write numbers that fit:  array.astype(...)",
            };
            Box::new(
                self.error(format!("value {} is not usable here", self.first + at as u64))
                    .expected(expected, found)
                    .hint(hint),
            )
        };
        match &self.data {
            Data::Objects(_, items) => {
                let number = |item: &PickleValue| match *item {
                    PickleValue::Integer(number) => Some(Number::Signed(number)),
                    PickleValue::Real(number) => Some(Number::Real(number)),
                    PickleValue::Bool(truth) => Some(Number::Unsigned(u64::from(truth))),
                    PickleValue::None | PickleValue::Object(_) => None,
                };
                let one = |(at, item): (usize, &PickleValue)| {
                    let number = number(item).ok_or_else(|| wrong(at, "another object".into()))?;
                    of(number).ok_or_else(|| wrong(at, number.to_string()))
                };
                items.iter().enumerate().map(one).collect()
            }
            Data::Bytes(_) if self.is_text() => Err(wrong(0, self.dtype.to_string())),
            Data::Bytes(bytes) => {
                let (dtype, width) = (self.dtype, self.dtype.width);
                let number = |bytes: &[u8]| dtype.number(bytes).and_then(&of);
                let pieces: Vec<Option<Vec<T>>> = bytes
                    .par_chunks(PIECE * width)
                    .map(|piece| piece.chunks_exact(width).map(number).collect())
                    .collect();
                let mut all = Vec::with_capacity(self.len());
                for piece in pieces {
                    let Some(piece) = piece else {
                        let at = bytes
                            .chunks_exact(width)
                            .position(|bytes| number(bytes).is_none())
                            .unwrap_or_default();
                        let found = dtype
                            .number(&bytes[at * width..][..width])
                            .map_or(String::new(), |number| number.to_string());
                        return Err(wrong(at, found));
                    };
                    all.extend(piece);
                }
                Ok(all)
            }
        }
    }
}

#[cfg(test)]
mod tests;
