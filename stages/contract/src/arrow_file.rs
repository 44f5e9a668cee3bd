//! arrow_file: Arrow IPC files: one record batch, uncompressed, 64-byte aligned; written from
//! vectors, read as views of the mapped file.
//!
//! promises  pyarrow opens every file with `memory_map=True`; a view has the requested length and
//!           type
//! never     copies a column when reading
use std::{fs::File, io::BufWriter, path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeListArray, PrimitiveArray, RecordBatch, StructArray,
    types::{ArrowPrimitiveType, Float32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type},
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::{
    MetadataVersion,
    writer::{FileWriter, IpcWriteOptions},
};
use arrow_schema::{DataType, Field, Fields, Schema};

use crate::{StageError, mapped_file};

/// A column of numbers inside a mapped file; derefs to a slice.
pub type View<T> = ScalarBuffer<T>;

/// Numbers that a column can hold.
pub trait Number: arrow_buffer::ArrowNativeType {
    /// The Arrow type.
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

impl Number for u8 {
    type Arrow = UInt8Type;
}
impl Number for u16 {
    type Arrow = UInt16Type;
}
impl Number for u32 {
    type Arrow = UInt32Type;
}
impl Number for u64 {
    type Arrow = UInt64Type;
}
impl Number for f32 {
    type Arrow = Float32Type;
}

/// Writes columns of equal length as one record batch.
pub fn write_columns(path: &Path, columns: Vec<(&str, ArrayRef)>) -> Result<(), StageError> {
    let wrong = |error: arrow_schema::ArrowError| match error {
        arrow_schema::ArrowError::IoError(_, error) => StageError::io("write", path, &error),
        other => {
            StageError::defect(format!("cannot write an Arrow file: {other}")).at(path.display())
        }
    };
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), false))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch =
        RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect())
            .map_err(wrong)?;
    let options = IpcWriteOptions::try_new(64, false, MetadataVersion::V5).map_err(wrong)?;
    let file = File::create_new(path).map_err(|error| StageError::io("create", path, &error))?;
    let mut writer =
        FileWriter::try_new_with_options(BufWriter::with_capacity(1 << 20, file), &schema, options)
            .map_err(wrong)?;
    writer.write(&batch).map_err(wrong)?;
    writer.finish().map_err(wrong)
}

/// Writes one column of numbers.
pub fn write_numbers<T: Number>(path: &Path, name: &str, values: Vec<T>) -> Result<(), StageError> {
    write_columns(path, vec![(name, numbers(values))])
}

/// A column from a vector, without copying it.
pub fn numbers<T: Number>(values: Vec<T>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T::Arrow>::new(ScalarBuffer::from(values), None))
}

/// Writes dense rows as a column of fixed-size lists.
pub fn write_rows(
    path: &Path,
    name: &str,
    width: usize,
    values: Vec<f32>,
) -> Result<(), StageError> {
    write_lists(path, name, width, numbers(values))
}

/// `write_rows` from little-endian values in an unnamed file of this process, which is mapped, not
/// held.
pub fn write_rows_of(
    path: &Path,
    name: &str,
    width: usize,
    values: &File,
) -> Result<(), StageError> {
    let bytes = mapped_file::map_own(values)
        .map_err(|error| StageError::io("map what is kept beside", path, &error))?;
    let values: ScalarBuffer<f32> = bytes.into();
    write_lists(path, name, width, Arc::new(PrimitiveArray::<Float32Type>::new(values, None)))
}

fn write_lists(path: &Path, name: &str, width: usize, values: ArrayRef) -> Result<(), StageError> {
    let width =
        i32::try_from(width).map_err(|_| StageError::defect("rows are wider than 2^31 columns"))?;
    let item = Arc::new(Field::new_list_field(DataType::Float32, false));
    let list = FixedSizeListArray::try_new(item, width, values, None)
        .map_err(|error| StageError::defect(error.to_string()))?;
    write_columns(path, vec![(name, Arc::new(list))])
}

/// Sparse rows: offsets (rows + 1), and for each entry its column and value.
#[derive(Clone, Debug)]
pub struct SparseColumns {
    /// Row offsets into the entries (rows + 1).
    pub offsets: View<i64>,
    /// Column of each entry.
    pub index: View<u32>,
    /// Value of each entry.
    pub values: View<f32>,
}

/// Writes sparse rows as a column of lists of (index, value).
pub fn write_sparse_rows(
    path: &Path,
    name: &str,
    offsets: Vec<u64>,
    index: Vec<u32>,
    values: Vec<f32>,
) -> Result<(), StageError> {
    let offsets: Vec<i64> = offsets.into_iter().map(|offset| offset as i64).collect();
    let fields = Fields::from(vec![
        Field::new("index", DataType::UInt32, false),
        Field::new("value", DataType::Float32, false),
    ]);
    let entries = StructArray::try_new(fields.clone(), vec![numbers(index), numbers(values)], None)
        .map_err(|error| StageError::defect(error.to_string()))?;
    let item = Arc::new(Field::new_list_field(DataType::Struct(fields), false));
    let list =
        LargeListArray::try_new(item, OffsetBuffer::new(offsets.into()), Arc::new(entries), None)
            .map_err(|error| StageError::defect(error.to_string()))?;
    write_columns(path, vec![(name, Arc::new(list))])
}

/// Opens a column of numbers without nulls as a view of the mapped file.
pub fn open_numbers<T: Number>(path: &Path, name: &str) -> Result<View<T>, StageError> {
    let batch = mapped_file::open_arrow(path)?;
    let column = column_of(path, &batch, name, &T::Arrow::DATA_TYPE)?;
    Ok(column
        .as_any()
        .downcast_ref::<PrimitiveArray<T::Arrow>>()
        .expect("the type was compared")
        .values()
        .clone())
}

/// Opens dense rows: width and values.
pub fn open_rows(path: &Path, name: &str) -> Result<(usize, View<f32>), StageError> {
    let batch = mapped_file::open_arrow(path)?;
    let column = batch.column_by_name(name).ok_or_else(|| missing(path, &batch, name))?;
    let list = column.as_any().downcast_ref::<FixedSizeListArray>();
    let list =
        list.ok_or_else(|| unlike(path, name, "a fixed-size list of f32", column.data_type()))?;
    let values = list.values().as_any().downcast_ref::<PrimitiveArray<Float32Type>>();
    let values =
        values.ok_or_else(|| unlike(path, name, "a fixed-size list of f32", column.data_type()))?;
    Ok((list.value_length() as usize, values.values().clone()))
}

/// Opens sparse rows; the Arrow reader checks that offsets ascend.
pub fn open_sparse_rows(path: &Path, name: &str) -> Result<SparseColumns, StageError> {
    let batch = mapped_file::open_arrow(path)?;
    let column = batch.column_by_name(name).ok_or_else(|| missing(path, &batch, name))?;
    let wrong = || unlike(path, name, "a large list of (index u32, value f32)", column.data_type());
    let list = column.as_any().downcast_ref::<LargeListArray>().ok_or_else(wrong)?;
    let entries = list.values().as_any().downcast_ref::<StructArray>().ok_or_else(wrong)?;
    let part = |name: &str| entries.column_by_name(name).ok_or_else(wrong);
    let (index, value) = (part("index")?, part("value")?);
    Ok(SparseColumns {
        offsets: list.offsets().inner().clone(),
        index: index
            .as_any()
            .downcast_ref::<PrimitiveArray<UInt32Type>>()
            .ok_or_else(wrong)?
            .values()
            .clone(),
        values: value
            .as_any()
            .downcast_ref::<PrimitiveArray<Float32Type>>()
            .ok_or_else(wrong)?
            .values()
            .clone(),
    })
}

fn column_of<'a>(
    path: &Path,
    batch: &'a RecordBatch,
    name: &str,
    expected: &DataType,
) -> Result<&'a ArrayRef, StageError> {
    let column = batch.column_by_name(name).ok_or_else(|| missing(path, batch, name))?;
    if column.data_type() != expected {
        return Err(unlike(path, name, &expected.to_string(), column.data_type()));
    }
    if column.null_count() > 0 {
        return Err(StageError::damaged(
            path,
            format!("column `{name}`: expected no nulls, found {}", column.null_count()),
        ));
    }
    Ok(column)
}

fn missing(path: &Path, batch: &RecordBatch, name: &str) -> StageError {
    let found: Vec<String> =
        batch.schema().fields().iter().map(|field| format!("`{}`", field.name())).collect();
    StageError::damaged(
        path,
        format!(
            "expected a column `{name}`, found {}",
            if found.is_empty() { "none".into() } else { found.join(", ") }
        ),
    )
}

fn unlike(path: &Path, name: &str, expected: &str, found: &DataType) -> StageError {
    StageError::damaged(path, format!("column `{name}`: expected {expected}, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_an_aligned_view() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0usize, 1, 7, 1000] {
            let path = folder.path().join(format!("n{count}.arrow"));
            let values: Vec<u32> = (0..count as u32).collect();
            write_numbers(&path, "x", values.clone()).unwrap();
            let view = open_numbers::<u32>(&path, "x").unwrap();
            assert_eq!(&view[..], &values[..]);
            assert!(count == 0 || (view.as_ptr() as usize).is_multiple_of(64));
        }
    }

    #[test]
    fn rows_dense_and_sparse_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let dense = folder.path().join("d.arrow");
        write_rows(&dense, "x", 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let (width, values) = open_rows(&dense, "x").unwrap();
        assert_eq!((width, values.len()), (3, 6));
        let sparse = folder.path().join("s.arrow");
        write_sparse_rows(&sparse, "x", vec![0, 2, 2, 3], vec![0, 5, 1], vec![1.0, 2.0, 3.0])
            .unwrap();
        let columns = open_sparse_rows(&sparse, "x").unwrap();
        assert_eq!(&columns.offsets[..], &[0, 2, 2, 3]);
        assert_eq!(
            (&columns.index[..], &columns.values[..]),
            (&[0, 5, 1][..], &[1.0, 2.0, 3.0][..])
        );
    }

    #[test]
    fn wrong_names_and_types_say_what_was_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.arrow");
        write_numbers(&path, "x", vec![1u32]).unwrap();
        assert!(
            open_numbers::<u32>(&path, "y")
                .unwrap_err()
                .what
                .contains("expected a column `y`, found `x`")
        );
        assert!(
            open_numbers::<u64>(&path, "x")
                .unwrap_err()
                .what
                .contains("expected UInt64, found UInt32")
        );
    }

    #[test]
    fn a_flipped_bit_is_an_error_or_another_value_and_never_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.arrow");
        write_sparse_rows(&path, "x", vec![0, 2, 2, 3], vec![0, 5, 1], vec![1.0, 2.0, 3.0])
            .unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 16;
            std::fs::write(&path, &flipped).unwrap();
            if let Err(error) = open_sparse_rows(&path, "x") {
                assert_eq!(error.kind, crate::ErrorKind::Damaged, "byte {at}: {error}");
            }
        }
    }

    #[test]
    fn damaged_files_are_errors_at_every_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.arrow");
        write_numbers(&path, "x", (0..100u64).collect()).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            let cut = folder.path().join("cut.arrow");
            std::fs::write(&cut, &bytes[..length]).unwrap();
            assert!(open_numbers::<u64>(&cut, "x").is_err(), "{length}");
        }
    }
}
