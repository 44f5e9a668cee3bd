//! arrays: arrays in the form of numpy and safetensors, from Arrow columns.
//!
//! promises  values keep their bits; nulls become -1 in unsigned integers (which become signed),
//!           NaN in floats, and else an array `NAME_missing`
//! never     truncates a string; writes an array of strings that is far larger than the strings
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Float32Type, Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
        UInt64Type,
    },
};
use arrow_schema::DataType;
use warploom_contract::{ErrorKind, StageError};

/// Bytes that an array of strings may have beyond eight times those of the strings.
const PADDING_MOST: usize = 64 << 20;

/// The element type, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// One byte, 0 or 1.
    Bool,
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// ASCII strings of this length.
    Ascii(usize),
    /// Strings of this many code points.
    Text(usize),
}

/// An array of any shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Its name.
    pub name: String,
    /// How one value is stored.
    pub dtype: Dtype,
    /// Its shape; empty: a scalar.
    pub shape: Vec<usize>,
    /// The values in row-major order.
    pub bytes: Vec<u8>,
}

impl Dtype {
    /// Its numpy name.
    pub fn numpy(self) -> String {
        match self {
            Dtype::Bool => "|b1".to_owned(),
            Dtype::U8 => "|u1".to_owned(),
            Dtype::U16 => "<u2".to_owned(),
            Dtype::U32 => "<u4".to_owned(),
            Dtype::U64 => "<u8".to_owned(),
            Dtype::I32 => "<i4".to_owned(),
            Dtype::I64 => "<i8".to_owned(),
            Dtype::F32 => "<f4".to_owned(),
            Dtype::F64 => "<f8".to_owned(),
            Dtype::Ascii(letters) => format!("|S{letters}"),
            Dtype::Text(points) => format!("<U{points}"),
        }
    }

    /// Its safetensors name; none for strings.
    pub fn safetensors(self) -> Option<safetensors::Dtype> {
        Some(match self {
            Dtype::Bool => safetensors::Dtype::BOOL,
            Dtype::U8 => safetensors::Dtype::U8,
            Dtype::U16 => safetensors::Dtype::U16,
            Dtype::U32 => safetensors::Dtype::U32,
            Dtype::U64 => safetensors::Dtype::U64,
            Dtype::I32 => safetensors::Dtype::I32,
            Dtype::I64 => safetensors::Dtype::I64,
            Dtype::F32 => safetensors::Dtype::F32,
            Dtype::F64 => safetensors::Dtype::F64,
            Dtype::Ascii(_) | Dtype::Text(_) => return None,
        })
    }
}

/// A column's flat values, and the row width if rows are lists.
pub fn flatten(column: &ArrayRef) -> (ArrayRef, Option<usize>) {
    match column.as_fixed_size_list_opt() {
        Some(list) => (list.values().clone(), Some(list.value_length() as usize)),
        None => (column.clone(), None),
    }
}

/// The array of a column in pieces, and, if nulls need it, the array of missing values.
pub fn encode(name: &str, pieces: &[ArrayRef]) -> Result<Vec<Dense>, StageError> {
    let rows = pieces.iter().map(Array::len).sum();
    let parts: Vec<(ArrayRef, Option<usize>)> = pieces.iter().map(flatten).collect();
    let width = parts.first().and_then(|(_, width)| *width);
    let shape: Vec<usize> = std::iter::once(rows).chain(width).collect();
    let values: Vec<ArrayRef> = parts.into_iter().map(|(values, _)| values).collect();
    let gaps = values.iter().any(|values| values.null_count() > 0);
    let Some(kind) = values.first().map(|values| values.data_type().clone()) else {
        return Ok(vec![Dense {
            name: name.to_owned(),
            dtype: Dtype::U8,
            shape,
            bytes: Vec::new(),
        }]);
    };
    let (dtype, bytes, masked) = match kind {
        DataType::UInt8 if !gaps => {
            (Dtype::U8, encode_plain::<UInt8Type, 1>(&values, u8::to_le_bytes), false)
        }
        DataType::UInt16 if !gaps => {
            (Dtype::U16, encode_plain::<UInt16Type, 2>(&values, u16::to_le_bytes), false)
        }
        DataType::UInt32 if !gaps => {
            (Dtype::U32, encode_plain::<UInt32Type, 4>(&values, u32::to_le_bytes), false)
        }
        DataType::UInt64 if !gaps => {
            (Dtype::U64, encode_plain::<UInt64Type, 8>(&values, u64::to_le_bytes), false)
        }
        DataType::UInt8 => (Dtype::I64, encode_signed::<UInt8Type>(name, &values)?, false),
        DataType::UInt16 => (Dtype::I64, encode_signed::<UInt16Type>(name, &values)?, false),
        DataType::UInt32 => (Dtype::I64, encode_signed::<UInt32Type>(name, &values)?, false),
        DataType::UInt64 => (Dtype::I64, encode_signed::<UInt64Type>(name, &values)?, false),
        DataType::Int64 => {
            (Dtype::I64, encode_plain::<Int64Type, 8>(&values, i64::to_le_bytes), gaps)
        }
        DataType::Float32 => (
            Dtype::F32,
            encode_floats::<Float32Type>(&values, |real| {
                real.unwrap_or(f32::NAN).to_le_bytes().to_vec()
            }),
            false,
        ),
        DataType::Float64 => (
            Dtype::F64,
            encode_floats::<Float64Type>(&values, |real| {
                real.unwrap_or(f64::NAN).to_le_bytes().to_vec()
            }),
            false,
        ),
        DataType::Boolean => (
            Dtype::Bool,
            values
                .iter()
                .flat_map(|values| {
                    values.as_boolean().iter().map(|truth| u8::from(truth == Some(true)))
                })
                .collect(),
            gaps,
        ),
        DataType::Utf8 => {
            let (points, bytes) = encode_words(name, &values)?;
            (Dtype::Text(points), bytes, gaps)
        }
        other => {
            return Err(StageError::defect(format!(
                "a column `{name}` of type {other} cannot be exported as an array"
            )));
        }
    };
    let mut all = vec![Dense { name: name.to_owned(), dtype, shape: shape.clone(), bytes }];
    if masked {
        let missing = values
            .iter()
            .flat_map(|values| (0..values.len()).map(|row| u8::from(values.is_null(row))))
            .collect();
        all.push(Dense {
            name: format!("{name}_missing"),
            dtype: Dtype::Bool,
            shape,
            bytes: missing,
        });
    }
    Ok(all)
}

fn encode_plain<T: ArrowPrimitiveType, const WIDTH: usize>(
    pieces: &[ArrayRef],
    bytes_of: fn(T::Native) -> [u8; WIDTH],
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pieces.iter().map(Array::len).sum::<usize>() * WIDTH);
    for piece in pieces {
        piece.as_primitive::<T>().values().iter().for_each(|&value| bytes.extend(bytes_of(value)));
    }
    bytes
}

fn encode_floats<T: ArrowPrimitiveType>(
    pieces: &[ArrayRef],
    bytes_of: impl Fn(Option<T::Native>) -> Vec<u8>,
) -> Vec<u8> {
    pieces
        .iter()
        .flat_map(|piece| piece.as_primitive::<T>().iter().flat_map(&bytes_of).collect::<Vec<u8>>())
        .collect()
}

/// Unsigned integers as signed, with -1 for nulls.
fn encode_signed<T: ArrowPrimitiveType>(
    name: &str,
    pieces: &[ArrayRef],
) -> Result<Vec<u8>, StageError>
where
    T::Native: Into<u64>,
{
    let far = |value: u64| {
        StageError::new(
            ErrorKind::Input,
            format!("`{name}` has nulls and the value {value}: no integer type holds both"),
        )
        .hint("a table holds both:  --as parquet")
    };
    let mut bytes = Vec::new();
    for value in pieces.iter().flat_map(|piece| piece.as_primitive::<T>().iter()) {
        let value = value
            .map(Into::<u64>::into)
            .map_or(Ok(-1), |value| i64::try_from(value).map_err(|_| far(value)))?;
        bytes.extend(value.to_le_bytes());
    }
    Ok(bytes)
}

/// Strings padded to one width, and that width.
fn encode_words(name: &str, pieces: &[ArrayRef]) -> Result<(usize, Vec<u8>), StageError> {
    let all = || {
        pieces
            .iter()
            .flat_map(|piece| piece.as_string::<i32>().iter())
            .map(Option::unwrap_or_default)
    };
    let widest = all().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    let (count, letters) =
        all().fold((0usize, 0usize), |(count, letters), word| (count + 1, letters + word.len()));
    let bytes_all =
        count.checked_mul(widest * 4).filter(|&bytes| bytes <= letters * 8 + PADDING_MOST);
    let Some(bytes_all) = bytes_all else {
        let error = StageError::new(
            ErrorKind::Input,
            format!(
                "`{name}` has {count} strings, the longest of {widest} characters: an array of \
                 that width would be far larger than the strings"
            ),
        );
        return Err(error.hint("a table holds strings of any length:  --as parquet"));
    };
    let mut bytes = Vec::with_capacity(bytes_all);
    for word in all() {
        word.chars().for_each(|letter| bytes.extend(u32::from(letter).to_le_bytes()));
        bytes.resize(bytes.len() + 4 * (widest - word.chars().count()), 0);
    }
    Ok((widest, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, Float32Array, Int64Array, StringArray, UInt32Array};
    use std::sync::Arc;

    #[test]
    fn gaps_are_said() {
        let one = |array: ArrayRef| encode("x", &[array]).unwrap();
        let classes = one(Arc::new(UInt32Array::from(vec![Some(7), None])));
        assert_eq!(
            (classes[0].dtype, &classes[0].bytes[8..]),
            (Dtype::I64, &(-1i64).to_le_bytes()[..])
        );
        let wholes = one(Arc::new(Int64Array::from(vec![Some(-1), None])));
        assert_eq!(
            (wholes.len(), &wholes[1].name[..], &wholes[1].bytes[..]),
            (2, "x_missing", &[0, 1][..])
        );
        let reals = one(Arc::new(Float32Array::from(vec![None, Some(1.5)])));
        assert!(
            reals.len() == 1
                && f32::from_le_bytes(reals[0].bytes[..4].try_into().unwrap()).is_nan()
        );
        assert_eq!(one(Arc::new(BooleanArray::from(vec![true, false])))[0].bytes, [1, 0]);
    }

    #[test]
    fn words_are_as_wide_as_the_widest_and_never_far_wider() {
        let words = encode("id", &[Arc::new(StringArray::from(vec!["a", "äb"]))]).unwrap();
        assert_eq!((words[0].dtype, words[0].bytes.len()), (Dtype::Text(2), 16));
        let mut many = vec!["a".to_owned(); 100_000];
        many.push("b".repeat(10_000));
        let error = encode("id", &[Arc::new(StringArray::from(many))]).unwrap_err();
        assert!(error.what.contains("the longest of 10000 characters"), "{error:?}");
    }
}
