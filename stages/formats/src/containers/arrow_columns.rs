//! Numbers, words and lists of an Arrow column.
//!
//! reads     whole numbers, reals and decimals of every width, bool; dates and times as their whole
//!           numbers; texts of every layout, bytes that are UTF-8; dictionaries of all these; lists
//!           of numbers
//! never     reads structs, maps, unions or intervals: the error names the type
use super::npy::Number;
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{
        ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
        Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::DataType;

/// What a column is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnSort {
    Numbers,
    Words,
    Lists,
}

/// What a column of this type is made of; none: it is not read.
pub fn sort(data_type: &DataType) -> Option<ColumnSort> {
    match data_type {
        DataType::Dictionary(_, values) => sort(values).filter(|sort| *sort != ColumnSort::Lists),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => Some(ColumnSort::Words),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            (sort(item.data_type()) == Some(ColumnSort::Numbers)).then_some(ColumnSort::Lists)
        }
        DataType::Boolean | DataType::Decimal128(..) => Some(ColumnSort::Numbers),
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => Some(ColumnSort::Numbers),
        other => other.is_numeric().then_some(ColumnSort::Numbers).filter(|_| {
            !matches!(
                other,
                DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal256(..)
            )
        }),
    }
}

/// The numbers of a column; none where there is no value.
pub fn numbers(array: &dyn Array) -> Result<Vec<Option<Number>>, String> {
    fn collect_all<T: ArrowPrimitiveType>(
        array: &dyn Array,
        of: impl Fn(T::Native) -> Number,
    ) -> Vec<Option<Number>> {
        array.as_primitive::<T>().iter().map(|value| value.map(&of)).collect()
    }
    let refused = || format!("values of the type {} are not read as numbers", array.data_type());
    Ok(match array.data_type() {
        DataType::Int8 => collect_all::<Int8Type>(array, |value| Number::Signed(value.into())),
        DataType::Int16 => collect_all::<Int16Type>(array, |value| Number::Signed(value.into())),
        DataType::Int32 => collect_all::<Int32Type>(array, |value| Number::Signed(value.into())),
        DataType::Int64 => collect_all::<Int64Type>(array, Number::Signed),
        DataType::UInt8 => collect_all::<UInt8Type>(array, |value| Number::Unsigned(value.into())),
        DataType::UInt16 => {
            collect_all::<UInt16Type>(array, |value| Number::Unsigned(value.into()))
        }
        DataType::UInt32 => {
            collect_all::<UInt32Type>(array, |value| Number::Unsigned(value.into()))
        }
        DataType::UInt64 => collect_all::<UInt64Type>(array, Number::Unsigned),
        DataType::Float16 => {
            collect_all::<Float16Type>(array, |value| Number::Real(value.to_f64()))
        }
        DataType::Float32 => collect_all::<Float32Type>(array, |value| Number::Real(value.into())),
        DataType::Float64 => collect_all::<Float64Type>(array, Number::Real),
        DataType::Boolean => array
            .as_boolean()
            .iter()
            .map(|value| value.map(|value| Number::Unsigned(value.into())))
            .collect(),
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            collect_all::<Decimal128Type>(array, |value| match i64::try_from(value) {
                Ok(value) if scale == 0 => Number::Signed(value),
                _ => Number::Real(value as f64 / 10f64.powi(scale.into())),
            })
        }
        DataType::Date32 | DataType::Time32(_) => {
            collect_all::<Int32Type>(&as_stored(array, DataType::Int32)?, |value| {
                Number::Signed(value.into())
            })
        }
        DataType::Date64
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_) => {
            collect_all::<Int64Type>(&as_stored(array, DataType::Int64)?, Number::Signed)
        }
        DataType::Dictionary(..) => {
            let values = numbers(array.as_any_dictionary_opt().ok_or_else(refused)?.values())?;
            keys(array)?.into_iter().map(|key| key.and_then(|key| values[key])).collect()
        }
        _ => return Err(refused()),
    })
}

fn as_stored(array: &dyn Array, data_type: DataType) -> Result<ArrayRef, String> {
    array
        .to_data()
        .into_builder()
        .data_type(data_type)
        .build()
        .map(arrow_array::make_array)
        .map_err(|error| error.to_string())
}

/// The position of each value in a dictionary; none where there is no value.
fn keys(array: &dyn Array) -> Result<Vec<Option<usize>>, String> {
    let dictionary = array.as_any_dictionary_opt().ok_or("a column is no dictionary")?;
    if dictionary.values().is_empty() {
        return Ok(vec![None; array.len()]);
    }
    let keys = dictionary.normalized_keys();
    Ok(keys
        .into_iter()
        .enumerate()
        .map(|(at, key)| (!dictionary.keys().is_null(at)).then_some(key))
        .collect())
}

/// Takes the word of a row; none where there is no value.
pub type WordVisitor<'a> = &'a mut dyn FnMut(usize, Option<&str>) -> Result<(), String>;

/// Where the list of each row begins and ends; none where there is no list.
pub type Ranges = Vec<Option<(usize, usize)>>;

/// Hands out the words of a column with their rows.
pub fn each_word(array: &dyn Array, each: WordVisitor<'_>) -> Result<(), String> {
    fn all<'a>(
        words: impl Iterator<Item = Option<&'a str>>,
        each: WordVisitor<'_>,
    ) -> Result<(), String> {
        words.enumerate().try_for_each(|(row, word)| each(row, word))
    }
    fn utf8<'a>(
        bytes: impl Iterator<Item = Option<&'a [u8]>>,
        each: WordVisitor<'_>,
    ) -> Result<(), String> {
        bytes.enumerate().try_for_each(|(row, bytes)| {
            let word = bytes
                .map(|bytes| {
                    std::str::from_utf8(bytes).map_err(|_| "bytes are not UTF-8".to_owned())
                })
                .transpose()?;
            each(row, word)
        })
    }
    match array.data_type() {
        DataType::Utf8 => all(array.as_string::<i32>().iter(), each),
        DataType::LargeUtf8 => all(array.as_string::<i64>().iter(), each),
        DataType::Utf8View => all(array.as_string_view().iter(), each),
        DataType::Binary => utf8(array.as_binary::<i32>().iter(), each),
        DataType::LargeBinary => utf8(array.as_binary::<i64>().iter(), each),
        DataType::BinaryView => utf8(array.as_binary_view().iter(), each),
        DataType::Dictionary(..) => {
            let values =
                words(array.as_any_dictionary_opt().ok_or("a column is no dictionary")?.values())?;
            keys(array)?
                .into_iter()
                .enumerate()
                .try_for_each(|(row, key)| each(row, key.and_then(|key| values[key].as_deref())))
        }
        other => Err(format!("values of the type {other} are not read as words")),
    }
}

/// The words of a column.
pub fn words(array: &dyn Array) -> Result<Vec<Option<String>>, String> {
    let mut words = Vec::with_capacity(array.len());
    each_word(array, &mut |_, word| {
        words.push(word.map(str::to_owned));
        Ok(())
    })?;
    Ok(words)
}

/// The lists of a column: the values of all, and where each row's begin and end; none where there
/// is no list.
pub fn lists(array: &dyn Array) -> Result<(ArrayRef, Ranges), String> {
    fn ranges(array: &dyn Array, of: impl Fn(usize) -> (usize, usize)) -> Ranges {
        (0..array.len()).map(|row| (!array.is_null(row)).then(|| of(row))).collect()
    }
    Ok(match array.data_type() {
        DataType::List(_) => {
            let (list, ends) = (array.as_list::<i32>(), array.as_list::<i32>().value_offsets());
            (
                list.values().clone(),
                ranges(array, |row| (ends[row] as usize, ends[row + 1] as usize)),
            )
        }
        DataType::LargeList(_) => {
            let (list, ends) = (array.as_list::<i64>(), array.as_list::<i64>().value_offsets());
            (
                list.values().clone(),
                ranges(array, |row| (ends[row] as usize, ends[row + 1] as usize)),
            )
        }
        DataType::FixedSizeList(_, _) => {
            let list = array.as_fixed_size_list();
            let first = |row: usize| list.value_offset_at(row);
            (
                list.values().clone(),
                ranges(array, |row| (first(row), first(row) + list.value_length() as usize)),
            )
        }
        other => return Err(format!("values of the type {other} are not read as lists")),
    })
}
