//! mapped_file: memory-mapped files, typed views of Arrow columns inside them, and large arrays:
//! the only `unsafe` of this crate.
//!
//! promises  opening reads only the footer and copies no value; a view is aligned and inside its
//!           file, which is checked once here
//! never     writes to a map; keeps a file open after mapping it
//! limits    truncating a mapped file kills the process (SIGBUS), as with any map; artifacts are
//!           never changed in place, so this happens only by hand
#![allow(unsafe_code)]
use std::{fs::File, path::Path, ptr::NonNull, sync::Arc};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::{
    Block,
    convert::try_fb_to_schema,
    reader::{FileDecoder, read_footer_length},
    root_as_footer,
};
use memmap2::Mmap;

use crate::{StageError, caught_panics, regular_file};

/// Bytes from which an array uses huge pages.
const LARGE: usize = 1 << 22;

/// A vector of zeros. A large one asks for huge pages: without them the first write to each 4 KiB
/// costs more than sorting the data (graph -> csr of 5.3 M sorted edges, one thread: 86 ms without,
/// 53 ms with; virtual machine, EPYC). The system provides pages at the first write, by the writing
/// thread.
pub fn zeros<T: Copy + Default>(count: usize) -> Vec<T> {
    let mut array = vec![T::default(); count];
    let page = rustix::param::page_size();
    let start = (array.as_ptr() as usize).next_multiple_of(page);
    let end = (array.as_ptr() as usize + count * size_of::<T>()) / page * page;
    if end.saturating_sub(start) >= LARGE {
        let first = array.as_mut_ptr().cast::<u8>().wrapping_add(start - array.as_ptr() as usize);
        // SAFETY: the pages are inside the array, and the advice changes how they are stored, never
        // their contents. A system without huge pages refuses, which changes nothing.
        let _ = unsafe {
            rustix::mm::madvise(first.cast(), end - start, rustix::mm::Advice::LinuxHugepage)
        };
    }
    array
}

/// Maps a whole file for reading. An empty file gives an empty buffer.
pub fn map_file(path: &Path) -> Result<Buffer, StageError> {
    let file = regular_file::open(path).map_err(|error| StageError::io("open", path, &error))?;
    let length = file.metadata().map_err(|error| StageError::io("look at", path, &error))?.len();
    if length == 0 {
        return Ok(Buffer::from(Vec::<u8>::new()));
    }
    // SAFETY: the map is read only; artifacts are written under another name and never changed
    // after publishing.
    let map =
        Arc::new(unsafe { Mmap::map(&file) }.map_err(|error| StageError::io("map", path, &error))?);
    let start = NonNull::new(map.as_ptr().cast_mut()).expect("a map is never at address 0");
    let length = map.len();
    // SAFETY: `start` and `length` are those of the map, which the Arc keeps alive as long as the
    // buffer lives.
    Ok(unsafe { Buffer::from_custom_allocation(start, length, map) })
}

/// Maps a whole unnamed file that this process wrote.
pub fn map_own(file: &File) -> std::io::Result<Buffer> {
    if file.metadata()?.len() == 0 {
        return Ok(Buffer::from(Vec::<u8>::new()));
    }
    // SAFETY: no other process can open an unnamed file, and its owner does not change it
    // meanwhile.
    let map = Arc::new(unsafe { Mmap::map(file) }?);
    let start = NonNull::new(map.as_ptr().cast_mut()).expect("a map is never at address 0");
    let length = map.len();
    // SAFETY: `start` and `length` are those of the map, which the Arc keeps alive as long as the
    // buffer lives.
    Ok(unsafe { Buffer::from_custom_allocation(start, length, map) })
}

/// Opens an uncompressed Arrow IPC file with at most one record batch; every column is in the
/// mapped file.
pub fn open_arrow(path: &Path) -> Result<RecordBatch, StageError> {
    let bytes = map_file(path)?;
    // The decoder trusts sizes and offsets of the metadata, and panics if they are wrong.
    let decoded = caught_panics::catch(|| decode(path, &bytes));
    decoded.unwrap_or_else(|_| {
        Err(StageError::damaged(
            path,
            "not a readable Arrow file: its metadata contradict its contents",
        ))
    })
}

fn decode(path: &Path, bytes: &Buffer) -> Result<RecordBatch, StageError> {
    let damaged = |what: String| StageError::damaged(path, what);
    let wrong =
        |error: arrow_schema::ArrowError| damaged(format!("not a readable Arrow file: {error}"));
    if bytes.len() < 20 || &bytes[..6] != b"ARROW1" || &bytes[bytes.len() - 6..] != b"ARROW1" {
        return Err(damaged("not an Arrow IPC file: the magic bytes are missing".into()));
    }
    let trailer = bytes.len() - 10;
    let trailer_bytes: [u8; 10] = bytes[trailer..].try_into().expect("ten bytes were asked");
    let footer_length = read_footer_length(trailer_bytes).map_err(wrong)?;
    let footer_start = trailer
        .checked_sub(footer_length)
        .ok_or_else(|| damaged("the footer is longer than the file".into()))?;
    let footer = root_as_footer(&bytes[footer_start..trailer])
        .map_err(|error| damaged(format!("not a readable Arrow footer: {error}")))?;
    let fields = footer.schema().ok_or_else(|| damaged("the footer has no schema".into()))?;
    let schema = Arc::new(try_fb_to_schema(fields).map_err(wrong)?);
    let blocks = footer.recordBatches().map_or(&[][..], |blocks| blocks.bytes());
    let count = footer.recordBatches().map_or(0, |blocks| blocks.len());
    if count > 1 {
        return Err(damaged(format!(
            "expected one record batch, found {count} ({} bytes of index)",
            blocks.len()
        )));
    }
    let Some(block) =
        footer.recordBatches().filter(|blocks| !blocks.is_empty()).map(|blocks| *blocks.get(0))
    else {
        return Ok(RecordBatch::new_empty(schema));
    };
    let decoder = FileDecoder::new(schema, footer.version()).with_require_alignment(true);
    let message = slice_of_block(bytes, &block)
        .ok_or_else(|| damaged("the record batch lies outside the file".into()))?;
    let batch = decoder.read_record_batch(&block, &message).map_err(wrong)?;
    batch.ok_or_else(|| damaged("the record batch cannot be read".into()))
}

fn slice_of_block(bytes: &Buffer, block: &Block) -> Option<Buffer> {
    let offset = usize::try_from(block.offset()).ok()?;
    let length = usize::try_from(block.bodyLength())
        .ok()?
        .checked_add(usize::try_from(block.metaDataLength()).ok()?)?;
    (offset.checked_add(length)? <= bytes.len()).then(|| bytes.slice_with_length(offset, length))
}
