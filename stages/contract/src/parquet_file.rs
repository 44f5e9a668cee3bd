//! parquet_file: Parquet tables: zstd, delta-coded integers; written from and read into vectors.
//!
//! promises  any Parquet reader can read them; the same rows give the same bytes
//! never     is used for data that must be mapped
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray, types::ArrowPrimitiveType};
use arrow_schema::{DataType, Field, Schema};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::{Compression, Encoding, ZstdLevel},
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::{ChunkReader, Length},
    },
    schema::types::ColumnPath,
};

use crate::{
    StageError,
    arrow_file::Number,
    caught_panics,
    regular_file::{self, Refusal},
};

/// Rows of a row group, which are read at once.
pub const ROW_GROUP: usize = 1 << 20;
/// Rows to write at once if memory is short: the encoder checks page sizes after every 1024 rows.
pub const ROWS_WRITTEN: usize = 1 << 16;

/// A table in memory: columns of equal length.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its only batch.
    pub batch: RecordBatch,
    path: PathBuf,
}

/// Writes columns; a column may have nulls only if its field says so.
pub fn write_table(path: &Path, columns: Vec<(Field, ArrayRef)>) -> Result<(), StageError> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let mut writer = TableWriter::create(path, fields)?;
    writer.write(arrays)?;
    writer.finish()
}

/// Writes a table piece by piece. Pieces of a multiple of `ROWS_WRITTEN` rows, except the last,
/// give the same bytes as one piece.
pub struct TableWriter {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: ArrowWriter<BufWriter<File>>,
}

impl TableWriter {
    /// Begins a new file of an artifact.
    pub fn create(path: &Path, fields: Vec<Field>) -> Result<TableWriter, StageError> {
        TableWriter::create_by(path, fields, "warploom")
    }

    /// Begins a new file for other programs. Readers take edge ends as row numbers only in tables
    /// of artifacts, which they recognise by the writer's name.
    pub fn create_for_others(path: &Path, fields: Vec<Field>) -> Result<TableWriter, StageError> {
        TableWriter::create_by(path, fields, "warploom export")
    }

    fn create_by(path: &Path, fields: Vec<Field>, writer: &str) -> Result<TableWriter, StageError> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .set_created_by(writer.to_owned());
        for field in &fields {
            if matches!(field.data_type(), DataType::UInt32 | DataType::UInt64 | DataType::UInt16) {
                let column = ColumnPath::from(field.name().as_str());
                properties = properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column.clone(), Encoding::DELTA_BINARY_PACKED)
                    .set_column_statistics_enabled(column, EnabledStatistics::Chunk);
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let file =
            File::create_new(path).map_err(|error| StageError::io("create", path, &error))?;
        let writer = ArrowWriter::try_new(
            BufWriter::with_capacity(1 << 20, file),
            schema.clone(),
            Some(properties.build()),
        );
        Ok(TableWriter {
            path: path.to_path_buf(),
            schema,
            writer: writer.map_err(|error| write_error(path, error))?,
        })
    }

    /// Adds rows: one array for each field, in field order.
    pub fn write(&mut self, arrays: Vec<ArrayRef>) -> Result<(), StageError> {
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|error| StageError::defect(error.to_string()).at(self.path.display()))?;
        self.writer.write(&batch).map_err(|error| write_error(&self.path, error))
    }

    /// Ends the current row group, if it has this many rows: rows that are read together are in row
    /// groups of their own.
    pub fn end_row_group(&mut self, least: usize) -> Result<(), StageError> {
        if self.writer.in_progress_rows() < least {
            return Ok(());
        }
        self.writer.flush().map_err(|error| write_error(&self.path, error))
    }

    /// Ends the file.
    pub fn finish(self) -> Result<(), StageError> {
        let path = self.path;
        let mut inner = self.writer.into_inner().map_err(|error| write_error(&path, error))?;
        std::io::Write::flush(&mut inner).map_err(|error| StageError::io("write", &path, &error))
    }
}

fn write_error(path: &Path, error: ParquetError) -> StageError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => StageError::io("write", path, &error),
            Err(other) => StageError::defect(format!("cannot write a Parquet file: {other}")),
        },
        other => {
            StageError::defect(format!("cannot write a Parquet file: {other}")).at(path.display())
        }
    }
}

/// Rows and fields of a table, from its footer alone.
pub fn describe(path: &Path) -> Result<(u64, Arc<Schema>), StageError> {
    let (_, reader) = reader(path)?;
    let rows = reader.metadata().file_metadata().num_rows();
    Ok((u64::try_from(rows).unwrap_or(0), reader.schema().clone()))
}

/// Reads a whole table, or some of its columns.
pub fn read_table(path: &Path, columns: Option<&[&str]>) -> Result<Table, StageError> {
    let wrong =
        |error: String| StageError::damaged(path, format!("not a readable Parquet table: {error}"));
    let mut batches = Vec::new();
    let schema = scan_table(path, columns, |batch| {
        batches.push(batch.clone());
        Ok(())
    })?;
    let batch = match <[RecordBatch; 1]>::try_from(batches) {
        Ok([batch]) => batch,
        Err(batches) => concat(&schema, &batches).map_err(|error| wrong(error.to_string()))?,
    };
    Ok(Table { batch, path: path.to_path_buf() })
}

/// Reads so many rows of a table from a row on; fewer where it ends. Row groups without any of them
/// are not read.
pub fn read_rows(path: &Path, first: usize, count: usize) -> Result<Table, StageError> {
    let (bytes, reader) = reader(path)?;
    let reader = reader.with_offset(first).with_limit(count).with_batch_size(count.max(1));
    let mut reader = decode(path, &bytes, || reader.build())?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let mut batches = Vec::new();
    while let Some(batch) = decode(path, &bytes, || reader.next().transpose())? {
        batches.push(batch);
    }
    let batch = concat(&schema, &batches).map_err(|error| {
        StageError::damaged(path, format!("not a readable Parquet table: {error}"))
    })?;
    Ok(Table { batch, path: path.to_path_buf() })
}

/// Calls a function for each row group of a table, or of some of its columns.
pub fn scan_table(
    path: &Path,
    columns: Option<&[&str]>,
    mut take: impl FnMut(&RecordBatch) -> Result<(), StageError>,
) -> Result<Arc<Schema>, StageError> {
    let (bytes, mut reader) = reader(path)?;
    if let Some(columns) = columns {
        let mask = parquet::arrow::ProjectionMask::columns(
            reader.parquet_schema(),
            columns.iter().copied(),
        );
        reader = reader.with_projection(mask);
    }
    let mut reader = decode(path, &bytes, || reader.with_batch_size(ROW_GROUP).build())?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    while let Some(batch) = decode(path, &bytes, || reader.next().transpose())? {
        take(&batch)?;
    }
    Ok(schema)
}

/// Joins batches column by column with the array builders of arrow-data's transform, through
/// `MutableArrayData`.
fn concat(
    schema: &Arc<Schema>,
    batches: &[RecordBatch],
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let columns = (0..schema.fields().len()).map(|column| {
        let parts: Vec<_> = batches.iter().map(|batch| batch.column(column).to_data()).collect();
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let mut joined =
            arrow_data::transform::MutableArrayData::new(parts.iter().collect(), false, rows);
        for (index, batch) in batches.iter().enumerate() {
            joined.try_extend(index, 0, batch.num_rows())?;
        }
        Ok(arrow_array::make_array(joined.freeze()))
    });
    if batches.is_empty() {
        return Ok(RecordBatch::new_empty(schema.clone()));
    }
    RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, arrow_schema::ArrowError>>()?)
}

fn reader(
    path: &Path,
) -> Result<(TableBytes, ParquetRecordBatchReaderBuilder<TableBytes>), StageError> {
    let file = regular_file::open(path).map_err(|error| StageError::io("open", path, &error))?;
    let length = file.metadata().map_err(|error| StageError::io("look at", path, &error))?.len();
    let bytes = TableBytes { file: Arc::new(file), length, fault: Arc::default() };
    let reader = decode(path, &bytes, || ParquetRecordBatchReaderBuilder::try_new(bytes.clone()))?;
    Ok((bytes, reader))
}

/// Calls the decoder: a disk error stays one, and a panic on damaged bytes becomes an error.
fn decode<T, E: std::fmt::Display>(
    path: &Path,
    bytes: &TableBytes,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, StageError> {
    let decoded = match caught_panics::catch(work) {
        Ok(decoded) => Ok(decoded),
        Err(said) => match caught_panics::out_of_memory(&said) {
            Some(error) => return Err(error.at(path.display())),
            None => Err("its decoder does not expect what it holds".to_owned()),
        },
    };
    decoded.and_then(|done| done.map_err(|error| error.to_string())).map_err(|error| {
        match bytes.fault.get() {
            Some(fault) => StageError::io("read", path, fault),
            None => StageError::damaged(path, format!("not a readable Parquet table: {error}")),
        }
    })
}

/// The input of the decoder. The decoder's errors do not say whether the disk or the contents are
/// at fault, so disk errors are recorded here.
#[derive(Clone)]
struct TableBytes {
    file: Arc<File>,
    length: u64,
    fault: Arc<OnceLock<io::Error>>,
}

/// The bytes from an offset on.
struct BytesFrom {
    bytes: TableBytes,
    at: u64,
}

impl TableBytes {
    fn keep(&self, error: io::Error) -> io::Error {
        let again = io::Error::new(error.kind(), error.to_string());
        let _first = self.fault.set(error);
        again
    }
}

impl Length for TableBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl Read for BytesFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = self.bytes.length.saturating_sub(self.at).min(buffer.len() as u64) as usize;
        if room == 0 {
            return Ok(0);
        }
        let read = match self.bytes.file.read_at(&mut buffer[..room], self.at) {
            Ok(0) => {
                return Err(self.bytes.keep(Refusal::CutShort(self.at, self.bytes.length).into()));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            read => read.map_err(|error| self.bytes.keep(error))?,
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl ChunkReader for TableBytes {
    type T = BufReader<BytesFrom>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(BytesFrom { bytes: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of {}", self.length)));
        }
        let mut read = Vec::with_capacity(length);
        BytesFrom { bytes: self.clone(), at: start }.take(length as u64).read_to_end(&mut read)?;
        Ok(read.into())
    }
}

impl Table {
    /// A column by name, if the table has it.
    pub fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// A column of numbers without nulls.
    pub fn numbers<T: Number>(&self, name: &str) -> Result<Vec<T>, StageError> {
        Ok(numbers_of::<T>(&self.path, &self.batch, name)?.to_vec())
    }
}

/// A column of numbers without nulls.
pub fn numbers_of<'a, T: Number>(
    path: &Path,
    batch: &'a RecordBatch,
    name: &str,
) -> Result<&'a [T], StageError> {
    let column = batch.column_by_name(name).ok_or_else(|| {
        StageError::damaged(path, format!("expected a column `{name}`, found none"))
    })?;
    let typed = column.as_primitive_opt::<T::Arrow>();
    let wrong = || {
        StageError::damaged(
            path,
            format!(
                "column `{name}`: expected {}, found {}",
                T::Arrow::DATA_TYPE,
                column.data_type()
            ),
        )
    };
    let typed = typed.ok_or_else(wrong)?;
    if typed.null_count() > 0 {
        return Err(StageError::damaged(
            path,
            format!("column `{name}`: expected no nulls, found {}", typed.null_count()),
        ));
    }
    Ok(typed.values())
}

/// A field that has no nulls.
pub fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, arrow_file::numbers};

    #[test]
    fn blocks_of_rows_are_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = TableWriter::create(&path, vec![field("x", DataType::UInt32)]).unwrap();
        for block in 0..4u32 {
            writer.write(vec![numbers((block * 10..block * 10 + 10).collect())]).unwrap();
            writer.end_row_group(20).unwrap();
        }
        writer.finish().unwrap();
        let (_, groups) = reader(&path).unwrap();
        assert_eq!(groups.metadata().num_row_groups(), 2, "a group ends with a block");
        for (first, count, expected) in [(0, 10, 0..10), (15, 10, 15..25), (35, 10, 35..40)] {
            let rows = read_rows(&path, first, count).unwrap().numbers::<u32>("x").unwrap();
            assert_eq!(rows, expected.collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_fault_of_the_disk_is_none_of_the_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write_table(&path, vec![(field("x", DataType::UInt32), numbers((0..9u32).collect()))])
            .unwrap();
        assert_eq!(read_table(&path, None).unwrap().numbers::<u32>("x").unwrap().len(), 9);
        // As a network file system that says more bytes than it gives.
        let file = File::open(&path).unwrap();
        let length = file.metadata().unwrap().len() + 10;
        let bytes = TableBytes { file: Arc::new(file), length, fault: Arc::default() };
        let error =
            decode(&path, &bytes, || ParquetRecordBatchReaderBuilder::try_new(bytes.clone()))
                .err()
                .unwrap();
        assert_eq!(error.kind, ErrorKind::Transient, "{error}");
        // Contents that end too soon are damaged.
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read_table(&path, None).unwrap_err().kind, ErrorKind::Damaged, "{length}");
        }
    }
}
