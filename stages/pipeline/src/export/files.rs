//! files: writers of files for other programs: `.npy`, `.npz`, `.safetensors`, `.csv`.
//!
//! promises  the same arrays give the same bytes: archives have no times, tensors are sorted by
//!           name
//! limits    an archive member beyond 4 GiB is written as zip64, which numpy reads and our own
//!           reader does not
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{
        Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
        UInt64Type,
    },
};
use arrow_schema::DataType;
use flate2::Crc;
use warploom_contract::{ErrorKind, StageError};

use super::arrays::{Dense, flatten};

const BUFFER: usize = 1 << 20;
/// Marks a zip field whose value needs 64 bits.
const ZIP32_END: u64 = u32::MAX as u64;

fn create_file(path: &Path) -> Result<BufWriter<File>, StageError> {
    let file = File::create_new(path).map_err(|error| StageError::io("create", path, &error))?;
    Ok(BufWriter::with_capacity(BUFFER, file))
}

/// Creates a file and writes its contents by `fill`.
fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), StageError> {
    let mut file = create_file(path)?;
    fill(&mut file)
        .and_then(|()| file.flush())
        .map_err(|error| StageError::io("write", path, &error))
}

/// The header of a `.npy` file.
fn npy_head(array: &Dense) -> Vec<u8> {
    let extents: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    let comma = if extents.len() == 1 { "," } else { "" };
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        array.dtype.numpy(),
        extents.join(", ")
    );
    // Values begin at a multiple of 64 bytes; the header ends with a newline.
    let filled = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', filled - 1 - text.len()));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.as_bytes());
    head
}

/// Writes an array.
pub fn write_npy(path: &Path, array: &Dense) -> Result<(), StageError> {
    write_file(path, |file| {
        file.write_all(&npy_head(array)).and_then(|()| file.write_all(&array.bytes))
    })
}

/// A 32-bit field, or the mark of a 64-bit one.
fn zip32_field(value: u64) -> u32 {
    if value >= ZIP32_END { u32::MAX } else { value as u32 }
}

/// A member of an archive, for its directory.
struct Member {
    name: String,
    crc: u32,
    size: u64,
    at: u64,
}

impl Member {
    /// The zip64 extra field with sizes and offset.
    fn zip64_extra(&self, with_place: bool) -> Vec<u8> {
        let mut wide = Vec::new();
        if self.size >= ZIP32_END {
            wide.extend(self.size.to_le_bytes());
            wide.extend(self.size.to_le_bytes());
        }
        if with_place && self.at >= ZIP32_END {
            wide.extend(self.at.to_le_bytes());
        }
        if wide.is_empty() {
            wide
        } else {
            [&[1, 0][..], &(wide.len() as u16).to_le_bytes(), &wide].concat()
        }
    }

    /// The fields that the local header and the directory share: version, flags, method, time,
    /// checksum, sizes, name length.
    fn header_fields(&self, extra: usize) -> Vec<u8> {
        let size = zip32_field(self.size).to_le_bytes();
        let version: u16 = if self.size >= ZIP32_END || self.at >= ZIP32_END { 45 } else { 20 };
        // Names are UTF-8 (bit 11), contents are stored (0), the time is the earliest of the
        // format.
        let mut facts = [
            &version.to_le_bytes()[..],
            &0x0800u16.to_le_bytes(),
            &0u16.to_le_bytes(),
            &0u16.to_le_bytes(),
            &0x21u16.to_le_bytes(),
        ]
        .concat();
        facts.extend(self.crc.to_le_bytes());
        facts.extend(size);
        facts.extend(size);
        facts.extend((self.name.len() as u16).to_le_bytes());
        facts.extend((extra as u16).to_le_bytes());
        facts
    }
}

/// Writes arrays into one uncompressed archive.
pub fn write_npz(path: &Path, arrays: &[Dense]) -> Result<(), StageError> {
    write_file(path, |file| {
        let mut members = Vec::with_capacity(arrays.len());
        let mut at = 0;
        for array in arrays {
            let head = npy_head(array);
            let mut crc = Crc::new();
            crc.update(&head);
            crc.update(&array.bytes);
            let member = Member {
                name: format!("{}.npy", array.name),
                crc: crc.sum(),
                size: (head.len() + array.bytes.len()) as u64,
                at,
            };
            let extra = member.zip64_extra(false);
            let local = [
                b"PK\x03\x04",
                &member.header_fields(extra.len())[..],
                member.name.as_bytes(),
                &extra,
            ]
            .concat();
            file.write_all(&local)?;
            file.write_all(&head)?;
            file.write_all(&array.bytes)?;
            at += local.len() as u64 + member.size;
            members.push(member);
        }
        let directory: Vec<u8> = members.iter().flat_map(directory_entry).collect();
        file.write_all(&directory)?;
        file.write_all(&archive_end(members.len() as u64, directory.len() as u64, at))
    })
}

/// An entry of the zip directory.
fn directory_entry(member: &Member) -> Vec<u8> {
    let extra = member.zip64_extra(true);
    let at = zip32_field(member.at).to_le_bytes();
    let facts = member.header_fields(extra.len());
    // After the lengths: no comment, first disk, no attributes.
    [b"PK\x01\x02", &20u16.to_le_bytes()[..], &facts, &[0; 10], &at, member.name.as_bytes(), &extra]
        .concat()
}

/// The end of an archive, preceded by that of zip64 if 32 bits do not suffice.
fn archive_end(count: u64, bytes: u64, at: u64) -> Vec<u8> {
    let mut end = Vec::new();
    if at >= ZIP32_END || bytes >= ZIP32_END || count >= 0xFFFF {
        end.extend(b"PK\x06\x06");
        end.extend(44u64.to_le_bytes());
        end.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        [count, count, bytes, at].iter().for_each(|number| end.extend(number.to_le_bytes()));
        end.extend(b"PK\x06\x07\0\0\0\0");
        end.extend((at + bytes).to_le_bytes());
        end.extend(1u32.to_le_bytes());
    }
    let count = (count.min(0xFFFF) as u16).to_le_bytes();
    end.extend(b"PK\x05\x06\0\0\0\0");
    end.extend(count);
    end.extend(count);
    end.extend(zip32_field(bytes).to_le_bytes());
    end.extend(zip32_field(at).to_le_bytes());
    end.extend([0, 0]);
    end
}

/// Writes tensors as safetensors, sorted by name.
pub fn write_safetensors(path: &Path, arrays: &[Dense]) -> Result<(), StageError> {
    let defect = |error: safetensors::SafeTensorError| {
        StageError::defect(format!("tensors cannot be written: {error}"))
    };
    let mut views = Vec::with_capacity(arrays.len());
    for array in arrays {
        let words = || {
            StageError::new(
                ErrorKind::Input,
                format!("`{}` holds strings, and safetensors hold only numbers", array.name),
            )
            .hint("choose  --as parquet,  csv,  npz or npy")
        };
        let dtype = array.dtype.safetensors().ok_or_else(words)?;
        views.push((
            array.name.clone(),
            safetensors::tensor::TensorView::new(dtype, array.shape.clone(), &array.bytes)
                .map_err(defect)?,
        ));
    }
    let bytes = safetensors::serialize(views, None).map_err(defect)?;
    write_file(path, |file| file.write_all(&bytes))
}

/// Writes a CSV table, piece by piece.
pub struct Csv<'a> {
    path: &'a Path,
    file: BufWriter<File>,
}

impl<'a> Csv<'a> {
    /// Creates a file with column names; a column of lists becomes as many columns as its width.
    pub fn create(
        path: &'a Path,
        columns: &[(&str, Option<usize>)],
    ) -> Result<Csv<'a>, StageError> {
        let mut names = Vec::new();
        for (name, width) in columns {
            match width {
                None => names.push(quote_field(name)),
                // The names by which the table reader recognises features.
                Some(width)
                    if ["features", "edge-features"].contains(name)
                        || name.starts_with("features-") =>
                {
                    names.extend((0..*width).map(|column| format!("x{column}")))
                }
                Some(width) => {
                    names.extend((0..*width).map(|column| quote_field(&format!("{name}_{column}"))))
                }
            }
        }
        let mut csv = Csv { path, file: create_file(path)? };
        csv.line(&names.join(","))?;
        Ok(csv)
    }

    fn line(&mut self, line: &str) -> Result<(), StageError> {
        writeln!(self.file, "{line}").map_err(|error| StageError::io("write", self.path, &error))
    }

    /// Adds rows.
    pub fn write(&mut self, columns: &[ArrayRef]) -> Result<(), StageError> {
        let rows = columns.first().map_or(0, Array::len);
        let columns: Vec<(ArrayRef, usize)> = columns
            .iter()
            .map(|column| flatten(column))
            .map(|(values, width)| (values, width.unwrap_or(1)))
            .collect();
        let cells = columns
            .iter()
            .map(|(values, width)| Ok((cell_of(values)?, *width)))
            .collect::<Result<Vec<_>, StageError>>()?;
        let mut line = String::new();
        for row in 0..rows {
            line.clear();
            for (cell, width) in &cells {
                for at in row * width..(row + 1) * width {
                    cell(at, &mut line);
                    line.push(',');
                }
            }
            line.pop();
            self.line(&line)?;
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<(), StageError> {
        self.file.flush().map_err(|error| StageError::io("write", self.path, &error))
    }
}

type Cell<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// The writer of a column's values; nulls are empty.
fn cell_of(values: &ArrayRef) -> Result<Cell<'_>, StageError> {
    macro_rules! numbers {
        ($kind:ty) => {{
            let numbers = values.as_primitive::<$kind>();
            // Floats as the shortest text that parses to the same bits.
            Box::new(move |at, line: &mut String| {
                if numbers.is_valid(at) {
                    *line += &format!("{:?}", numbers.value(at));
                }
            })
        }};
    }
    Ok(match values.data_type() {
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Boolean => {
            let truths = values.as_boolean();
            Box::new(move |at, line| {
                if truths.is_valid(at) {
                    *line += if truths.value(at) { "true" } else { "false" };
                }
            })
        }
        DataType::Utf8 => {
            let words = values.as_string::<i32>();
            Box::new(move |at, line| {
                if words.is_valid(at) {
                    *line += &quote_field(words.value(at));
                }
            })
        }
        other => {
            return Err(StageError::defect(format!(
                "a column of type {other} cannot be exported as text"
            )));
        }
    })
}

/// A string as a CSV field, quoted if needed.
fn quote_field(word: &str) -> String {
    let plain = !word.is_empty()
        && !word.contains([',', '"', '\n', '\r', ';', '\t', '|'])
        && word.trim() == word
        && !word.starts_with(['#', '%', '\'']);
    if plain { word.to_owned() } else { format!("\"{}\"", word.replace('"', "\"\"")) }
}
