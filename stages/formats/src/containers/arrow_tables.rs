//! Opens Parquet and Arrow files and hands out their rows in batches.
//!
//! promises  row groups of a Parquet file can be read at the same time; a batch has at most `BATCH`
//!           rows (Arrow: as written)
//! promises  sizes that a file claims are compared with its own size before anything is made
//! promises  a panic of the crates that decode damaged bytes ends here, as an error: `guarded` is
//!           the one place
//! never     maps a file; reads encrypted files, or columns packed as Brotli or LZO
//! source    github.com/apache/parquet-format; Arrow Columnar Format, "Serialization and
//!           Interprocess Communication"
use super::{
    parquet_pages,
    raw_file::{count_read, open_file},
};
use crate::read_error::{Read, ReadError};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{
    Block, MetadataVersion,
    reader::{FileDecoder, StreamDecoder},
};
use arrow_schema::SchemaRef;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::Compression,
    errors::ParquetError,
    file::metadata::ColumnChunkMetaData,
};
use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read as _, Seek, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Rows of a batch.
const BATCH: usize = 1 << 16;
/// Rows that a file may have in any case, and for each of its bytes: equal values pack well, but
/// not that well.
const ROWS_ALWAYS: u64 = 1 << 20;
const ROWS_A_BYTE: u64 = 1 << 12;
/// What LZ4 (255) and zstd (some 2^15) can reach.
const RATIO_MOST: i64 = 40_000;
const AGAIN: &str = "the file may be cut short or damaged: write or download it again";

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    pub path: PathBuf,
    /// Columns that its path says: name and value.
    pub constants: Vec<(String, String)>,
}

/// The column of one of these names, in any case of letters.
pub fn find_column(source: &TableSource, names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| {
        source.schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name))
    })
}

/// An opened file.
pub struct TableSource {
    pub path: PathBuf,
    /// Columns that its path says.
    pub constants: Vec<(String, String)>,
    pub schema: SchemaRef,
    /// Written by the store of this program.
    pub ours: bool,
    form: Form,
    /// Its length.
    bytes: u64,
}

enum Form {
    /// With the first row of each row group.
    Parquet(ArrowReaderMetadata, Vec<u64>),
    /// Messages at places that a footer names.
    Blocks { version: MetadataVersion, dictionaries: Vec<Block>, batches: Vec<Block> },
    /// Messages one after the other.
    Messages,
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread is caught here: a program's panic hook has nothing to say of it.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Calls the decoding crates: what they do not expect of damaged bytes is a panic in them, and an
/// error here.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Read<T>) -> Read<T> {
    let damaged = || {
        Box::new(
            ReadError::new(path, "the table is damaged in a way that its decoder does not expect")
                .hint(AGAIN),
        )
    };
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    done.unwrap_or_else(|_| Err(damaged()))
}

fn damaged(path: &Path, what: impl std::fmt::Display) -> Box<ReadError> {
    Box::new(ReadError::new(path, format!("not a readable table: {what}")).hint(AGAIN))
}

/// An error of the Parquet crate: that of the system, or damage.
fn unread(path: &Path, error: &ParquetError) -> Box<ReadError> {
    let of_system = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<io::Error>())
        .filter(|error| error.raw_os_error().is_some());
    of_system
        .map_or_else(|| damaged(path, error), |error| Box::new(ReadError::from_io(path, error)))
}

/// Opens a file by its first bytes.
pub fn open(part: &TableFile) -> Read<TableSource> {
    let path = &part.path;
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let (mut file, length) = open_file(path)?;
    let mut first = Vec::new();
    file.by_ref().take(8).read_to_end(&mut first).map_err(fault)?;
    let refuse = |found: &str, hint: &str| {
        Err(Box::new(
            ReadError::new(path, "not a readable table")
                .expected(
                    "a Parquet file, which begins with `PAR1`, or an Arrow file, `ARROW1`",
                    found,
                )
                .hint(hint),
        ))
    };
    let (schema, form) = match &first[..] {
        [b'P', b'A', b'R', b'1', ..] => guarded(path, || open_parquet(path, &file, length))?,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            guarded(path, || open_blocks(path, &mut file, length))?
        }
        [0xff, 0xff, 0xff, 0xff, ..] => guarded(path, || open_messages(path))?,
        [b'P', b'A', b'R', b'E', ..] => {
            return refuse("an encrypted Parquet file", "write it again without encryption");
        }
        [b'F', b'E', b'A', b'1', ..] => {
            return refuse(
                "a Feather file of version 1",
                "write it again:  pyarrow.feather.write_feather(TABLE, FILE)",
            );
        }
        [0x1f, 0x8b, ..] => return refuse("a gzip file", "unpack it first:  gunzip FILE"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            return refuse("a zstd file", "unpack it first:  unzstd FILE");
        }
        _ => return refuse(&format!("{length} bytes that begin with {first:02x?}"), AGAIN),
    };
    let ours = matches!(&form, Form::Parquet(metadata, _) if metadata.metadata().file_metadata().created_by() == Some("warploom"));
    Ok(TableSource {
        path: path.clone(),
        constants: part.constants.clone(),
        schema,
        ours,
        form,
        bytes: length,
    })
}

/// The bytes of a column in a row group, from one to another.
fn range(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    // Some writers say 0 for a dictionary that there is not.
    let dictionary = column.dictionary_page_offset().filter(|&at| at > 0);
    let begin = dictionary.unwrap_or(column.data_page_offset()).min(column.data_page_offset());
    let (begin, bytes) =
        (u64::try_from(begin).ok()?, u64::try_from(column.compressed_size()).ok()?);
    Some((begin, begin.checked_add(bytes)?))
}

/// Looks at the pages of some columns before they are unpacked.
fn judge_pages(
    path: &Path,
    metadata: &ArrowReaderMetadata,
    group: usize,
    mask: &ProjectionMask,
) -> Read<()> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let mut file = File::open(path).map_err(fault)?;
    for (leaf, column) in metadata.metadata().row_group(group).columns().iter().enumerate() {
        if let (true, Some((begin, end))) = (mask.leaf_included(leaf), range(column)) {
            parquet_pages::judge(&mut file, begin, end).map_err(fault)?.map_err(|what| {
                damaged(path, format!("the column `{}`: {what}", column.column_path().string()))
            })?;
        }
    }
    Ok(())
}

fn open_parquet(path: &Path, file: &File, length: u64) -> Read<(SchemaRef, Form)> {
    let loaded = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
        .map_err(|error| unread(path, &error))?;
    let (mut rows, mut first_rows) = (0u64, Vec::new());
    for group in loaded.metadata().row_groups() {
        first_rows.push(rows);
        let count = u64::try_from(group.num_rows())
            .map_err(|_| damaged(path, "a row group has less than no rows"))?;
        rows = rows.saturating_add(count);
        for column in group.columns() {
            match column.compression() {
                Compression::BROTLI(_) | Compression::LZO => {
                    let found = format!("{:?}", column.compression());
                    let name = found.split('(').next().unwrap_or_default().to_owned();
                    let error = ReadError::new(
                        path,
                        format!(
                            "the column `{}` is packed by a codec that is not read",
                            column.column_path().string()
                        ),
                    );
                    return Err(Box::new(
                        error
                            .expected("snappy, gzip, lz4, zstd or none", name)
                            .hint("write it again with  compression='zstd'"),
                    ));
                }
                _ => {}
            }
            if range(column).is_none_or(|(_, end)| end > length) {
                return Err(damaged(
                    path,
                    format!(
                        "the column `{}` lies beyond the end of the file",
                        column.column_path().string()
                    ),
                ));
            }
        }
    }
    let most = ROWS_ALWAYS + ROWS_A_BYTE.saturating_mul(length);
    if rows > most {
        let error = ReadError::new(path, "the table claims more rows than its size allows");
        return Err(Box::new(
            error.expected(format!("at most {most}"), rows.to_string()).hint(AGAIN),
        ));
    }
    Ok((loaded.schema().clone(), Form::Parquet(loaded, first_rows)))
}

/// The footer of an Arrow file: its schema, and where its dictionaries and batches stand.
fn open_blocks(path: &Path, file: &mut File, length: u64) -> Read<(SchemaRef, Form)> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    let mut tail = [0; 10];
    if length < 18 {
        return Err(damaged(path, "an Arrow file has at least 18 bytes"));
    }
    file.seek(SeekFrom::Start(length - 10)).map_err(fault)?;
    file.read_exact(&mut tail).map_err(fault)?;
    let footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if &tail[4..] != b"ARROW1" || footer > length - 18 {
        return Err(damaged(path, "an Arrow file ends in ARROW1 and a footer before it"));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(length - 10 - footer)).map_err(fault)?;
    file.by_ref().take(footer).read_to_end(&mut bytes).map_err(fault)?;
    let footer = arrow_ipc::root_as_footer(&bytes).map_err(|error| damaged(path, error))?;
    let schema = footer
        .schema()
        .ok_or_else(|| damaged(path, "the footer of the Arrow file has no schema"))?;
    let schema =
        arrow_ipc::convert::try_fb_to_schema(schema).map_err(|error| damaged(path, error))?;
    let dictionaries = footer.dictionaries().into_iter().flatten().copied().collect::<Vec<Block>>();
    let batches = footer.recordBatches().into_iter().flatten().copied().collect::<Vec<Block>>();
    let mut total = 0u64;
    for block in dictionaries.iter().chain(&batches) {
        let [at, head, body] =
            [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()]
                .map(|value| u64::try_from(value).unwrap_or(u64::MAX));
        // Batches that share bytes would make a small file large.
        total = total.saturating_add(head).saturating_add(body);
        if at.saturating_add(head).saturating_add(body) > length || head < 8 || total > length {
            return Err(damaged(
                path,
                "a batch of the Arrow file lies beyond its end, or over another",
            ));
        }
    }
    Ok((Arc::new(schema), Form::Blocks { version: footer.version(), dictionaries, batches }))
}

/// The bytes of a message that stand where the footer says.
fn read_block(path: &Path, file: &mut File, block: &Block) -> Read<Buffer> {
    let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
    // Not negative, and within the file: `open_blocks` compared them.
    let (at, head, body) =
        (block.offset() as u64, block.metaDataLength() as u64, block.bodyLength() as u64);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at)).map_err(fault)?;
    file.by_ref().take(head + body).read_to_end(&mut bytes).map_err(fault)?;
    if (bytes.len() as u64) < head + body {
        return Err(damaged(path, "a batch of the Arrow file is cut short"));
    }
    count_read(head + body);
    let begin = if bytes.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let about = arrow_ipc::root_as_message(&bytes[begin..head as usize])
        .map_err(|error| damaged(path, error))?;
    refuse_claims(path, &about, &bytes[head as usize..])?;
    Ok(Buffer::from_vec(bytes))
}

/// Compares buffers with their message, and how large packed ones say they become with how large
/// they are.
fn refuse_claims(path: &Path, about: &arrow_ipc::Message<'_>, body: &[u8]) -> Read<()> {
    let batch = about
        .header_as_record_batch()
        .or_else(|| about.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    let is_packed = batch.is_some_and(|batch| batch.compression().is_some());
    let Some(buffers) = batch.and_then(|batch| batch.buffers()) else { return Ok(()) };
    for buffer in buffers {
        let range =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range
            .and_then(|(offset, length)| body.get(offset..)?.get(..length))
            .ok_or_else(|| damaged(path, "a buffer lies beyond its message"))?;
        let claim = bytes.first_chunk::<8>().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if is_packed && claim > buffer.length().saturating_mul(RATIO_MOST) {
            return Err(damaged(
                path,
                format!("a packed buffer of {} bytes claims to hold {claim}", buffer.length()),
            ));
        }
    }
    Ok(())
}

/// Bytes of the columns of a row group that are read.
fn mask_bytes(metadata: &ArrowReaderMetadata, group: usize, mask: &ProjectionMask) -> u64 {
    let columns = metadata.metadata().row_group(group).columns().iter().enumerate();
    columns
        .filter(|(leaf, _)| mask.leaf_included(*leaf))
        .filter_map(|(_, column)| u64::try_from(column.compressed_size()).ok())
        .sum()
}

/// What some of the rows are of all bytes.
fn share(bytes: u64, some: u64, all: u64) -> u64 {
    (bytes as f64 * some as f64 / all.max(1) as f64) as u64
}

fn open_messages(path: &Path) -> Read<(SchemaRef, Form)> {
    let first =
        Messages::open(path)?.next()?.ok_or_else(|| damaged(path, "it has no Arrow message"))?;
    let head = if first.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let about = arrow_ipc::root_as_message(&first[head..]).map_err(|error| damaged(path, error))?;
    let schema = about
        .header_as_schema()
        .ok_or_else(|| damaged(path, "the first Arrow message is no schema"))?;
    let schema =
        arrow_ipc::convert::try_fb_to_schema(schema).map_err(|error| damaged(path, error))?;
    Ok((Arc::new(schema), Form::Messages))
}

/// The messages of an Arrow stream, one after the other.
struct Messages<'a> {
    path: &'a Path,
    file: BufReader<File>,
    left: u64,
}

impl<'a> Messages<'a> {
    fn open(path: &'a Path) -> Read<Self> {
        let fault = |error: io::Error| Box::new(ReadError::from_io(path, &error));
        let file = File::open(path).map_err(fault)?;
        let left = file.metadata().map_err(fault)?.len();
        Ok(Messages { path, file: BufReader::with_capacity(1 << 18, file), left })
    }

    /// Appends bytes that must be there.
    fn take(&mut self, count: u64, into: &mut Vec<u8>) -> Read<()> {
        let got = if count > self.left {
            Ok(0)
        } else {
            self.file.by_ref().take(count).read_to_end(into)
        };
        let got = got.map_err(|error| Box::new(ReadError::from_io(self.path, &error)))? as u64;
        if got < count {
            let error = ReadError::new(self.path, "the Arrow stream is cut short")
                .expected(format!("{count} more bytes"), self.left.to_string());
            return Err(Box::new(error.hint(AGAIN)));
        }
        self.left -= got;
        count_read(got);
        Ok(())
    }

    /// The next whole message; none: the end.
    fn next(&mut self) -> Read<Option<Buffer>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut message = Vec::new();
        self.take(4, &mut message)?;
        if message == [0xff; 4] {
            self.take(4, &mut message)?;
        }
        let head = message.len();
        let length = u32::from_le_bytes([
            message[head - 4],
            message[head - 3],
            message[head - 2],
            message[head - 1],
        ]);
        if length == 0 {
            return Ok(None);
        }
        self.take(u64::from(length), &mut message)?;
        let about = arrow_ipc::root_as_message(&message[head..])
            .map_err(|error| damaged(self.path, error))?;
        let body = u64::try_from(about.bodyLength())
            .map_err(|_| damaged(self.path, "a message has less than no bytes"))?;
        let body_at = message.len();
        self.take(body, &mut message)?;
        let about = arrow_ipc::root_as_message(&message[head..body_at])
            .map_err(|error| damaged(self.path, error))?;
        refuse_claims(self.path, &about, &message[body_at..])?;
        Ok(Some(Buffer::from_vec(message)))
    }
}

impl TableSource {
    /// Pieces that can be read at the same time.
    pub fn pieces(&self) -> usize {
        match &self.form {
            Form::Parquet(metadata, _) => metadata.metadata().num_row_groups(),
            Form::Blocks { .. } | Form::Messages => 1,
        }
    }

    /// About as many bytes as the edges of a piece take.
    pub fn size(&self, piece: usize) -> u64 {
        match &self.form {
            Form::Parquet(metadata, _) => {
                u64::try_from(metadata.metadata().row_group(piece).num_rows())
                    .unwrap_or(0)
                    .saturating_mul(16)
            }
            Form::Blocks { .. } | Form::Messages => self.bytes,
        }
    }

    /// Reads a piece: batches with (at least) these columns of the schema, each with the number of
    /// its first row in the file.
    pub fn read(
        &self,
        piece: usize,
        columns: &[usize],
        each: &mut dyn FnMut(u64, &RecordBatch) -> Read<()>,
    ) -> Read<()> {
        let path = &self.path;
        guarded(path, || match &self.form {
            Form::Parquet(metadata, first_rows) => {
                if metadata.metadata().row_group(piece).num_rows() == 0 {
                    return Ok(());
                }
                // A file of its own: clones of one share their place in it.
                let file =
                    File::open(path).map_err(|error| Box::new(ReadError::from_io(path, &error)))?;
                let mask =
                    ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
                judge_pages(path, metadata, piece, &mask)?;
                let read_of_group = mask_bytes(metadata, piece, &mask);
                let rows = metadata.metadata().row_group(piece).num_rows().unsigned_abs();
                let builder =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
                let batches = builder
                    .with_projection(mask)
                    .with_row_groups(vec![piece])
                    .with_batch_size(BATCH)
                    .build();
                let mut row = first_rows[piece];
                for batch in batches.map_err(|error| unread(path, &error))? {
                    let batch = batch.map_err(|error| damaged(path, error))?;
                    count_read(share(read_of_group, batch.num_rows() as u64, rows));
                    each(row, &batch)?;
                    row += batch.num_rows() as u64;
                }
                Ok(())
            }
            Form::Blocks { version, dictionaries, batches } => {
                let mut file =
                    File::open(path).map_err(|error| Box::new(ReadError::from_io(path, &error)))?;
                let mut decoder = FileDecoder::new(self.schema.clone(), *version);
                for block in dictionaries {
                    decoder
                        .read_dictionary(block, &read_block(path, &mut file, block)?)
                        .map_err(|error| damaged(path, error))?;
                }
                let mut row = 0;
                for block in batches {
                    let batch = decoder
                        .read_record_batch(block, &read_block(path, &mut file, block)?)
                        .map_err(|error| damaged(path, error))?;
                    if let Some(batch) = batch {
                        each(row, &batch)?;
                        row += batch.num_rows() as u64;
                    }
                }
                Ok(())
            }
            Form::Messages => {
                let mut messages = Messages::open(path)?;
                let mut decoder = StreamDecoder::new();
                let mut row = 0;
                while let Some(mut message) = messages.next()? {
                    while let Some(batch) =
                        decoder.decode(&mut message).map_err(|error| damaged(path, error))?
                    {
                        each(row, &batch)?;
                        row += batch.num_rows() as u64;
                    }
                }
                Ok(())
            }
        })
    }

    /// An error about this file.
    pub fn error(&self, what: impl Into<String>) -> ReadError {
        ReadError::new(&self.path, what)
    }

    /// The names of its columns, those of its path too.
    pub fn names(&self) -> String {
        let names = self
            .schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .chain(self.constants.iter().map(|(name, _)| name.as_str()));
        names.take(40).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_is_an_error_and_known_to_be_caught() {
        let path = Path::new("t.parquet");
        let caught = guarded(path, || -> Read<()> {
            assert!(is_guarded());
            panic!("this message is for the test's own hook");
        });
        assert!(
            caught.unwrap_err().what.contains("damaged in a way that its decoder does not expect")
        );
        assert!(!is_guarded());
    }
}
