//! Edge lists as SNAP and many others publish them: an edge a line, `source target [weight]`.
//!
//! promises  the same graph for any number of threads and any size of block; edges in the order of the file
//! promises  an error names the first bad line and the column in it
//! reads     comments # and %, blanks, tabs, commas or semicolons between columns, CRLF, a byte-order mark, a last line without end, gzip, zstd
//! never     guesses: words as ids only when told so; a third column is a weight in every line or in none
//! limits    a line of 64 MiB; 16 bytes an edge at the peak (measured on 4.9 M edges; more with ids above 2^32)
mod ids;
mod line;

use crate::{
    Format, Ids, Look, Options,
    decompress::Plain,
    look::only,
    raw::{Edges, RawGraph, Read, ReadError},
};
use line::{Fault, Piece};
use rayon::prelude::*;
use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

/// The longest line.
const LINE_MOST: usize = 64 << 20;
/// Bytes that are read at once, and those that one task parses: eight tasks a block, and a block's ends stay near 16 MiB.
const SIZES: Sizes = Sizes { block: 8 << 20, piece: 1 << 20 };

/// Edge lists.
pub const FORMAT: Format =
    Format { name: "edge_list", about: "text with an edge a line: source target [weight]", recognise, read: |files, options| read(only(files)?, options) };

/// One file that is text.
fn recognise(look: &Look) -> Option<Vec<PathBuf>> {
    let text: Vec<&Path> = look.files().map(|(path, _)| path).filter(|path| !look.head(path).contains(&0)).collect();
    match text[..] {
        [file] if !look.head(file).is_empty() => Some(vec![file.to_path_buf()]),
        _ => None,
    }
}

/// Bytes of blocks and of the pieces they are cut into.
#[derive(Clone, Copy)]
struct Sizes {
    block: usize,
    piece: usize,
}

/// How every line of a file is read.
#[derive(Clone, Copy)]
struct Shape {
    ids: Ids,
    /// 2 or 3; `None`: at least 2.
    columns: Option<u8>,
}

/// Reads an edge list.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    read_by(path, options, SIZES)
}

fn read_by(path: &Path, options: &Options, sizes: Sizes) -> Read<RawGraph> {
    let mut plain = Plain::open(path)?;
    let pieces = thread::scope(|scope| {
        // One block waits while one is parsed: packed files are unpacked on one core while the others parse.
        let (send, blocks) = mpsc::sync_channel(1);
        scope.spawn(move || read_blocks(&mut plain, sizes.block, &send));
        parse_blocks(path, options, sizes, blocks)
    })?;
    let weighted = pieces.iter().any(|piece| !piece.weight.is_empty());
    let weight = weighted.then(|| pieces.iter().flat_map(|piece| piece.weight.iter().copied()).collect::<Vec<f32>>());
    let (ids, source, target) = ids::compact(path, pieces, options.ids)?;
    Ok(RawGraph { ids, edges: Edges { source, target, weight, ..Edges::default() }, ..RawGraph::default() })
}

/// What the reading thread hands over.
enum Message {
    /// Whole lines; only the last block of a file may lack the last line's end.
    Block(Vec<u8>),
    /// The beginning of a line without end.
    Endless(Vec<u8>),
    Failed(Box<ReadError>),
}

/// Cuts the file into blocks of whole lines until it ends, fails, or nobody listens.
fn read_blocks(plain: &mut Plain, block_bytes: usize, send: &mpsc::SyncSender<Message>) {
    let mut carry = Vec::new();
    loop {
        let mut block = std::mem::take(&mut carry);
        block.reserve_exact(block_bytes);
        let message = match plain.fill(&mut block, block_bytes) {
            Err(error) => Message::Failed(error),
            Ok(0) if block.is_empty() => return,
            Ok(0) => Message::Block(block),
            Ok(_) => match block.iter().rposition(|&byte| byte == b'\n') {
                Some(end) => {
                    carry = block.split_off(end + 1);
                    Message::Block(block)
                }
                None if block.len() > LINE_MOST => Message::Endless(block),
                None => {
                    carry = block;
                    continue;
                }
            },
        };
        let last = !matches!(message, Message::Block(_));
        if send.send(message).is_err() || last {
            return;
        }
    }
}

/// Parses blocks in order; all pieces of a block at once.
fn parse_blocks(path: &Path, options: &Options, sizes: Sizes, blocks: mpsc::Receiver<Message>) -> Read<Vec<Piece>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut lines = 0;
    let mut shape = None;
    let mut first = true;
    for message in blocks {
        let block = match message {
            Message::Block(block) => block,
            Message::Endless(start) => return Err(report(path, lines, &start, &Fault::too_long(0))),
            Message::Failed(error) => return Err(error),
        };
        let mut text: &[u8] = &block;
        if std::mem::take(&mut first) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            refuse_other_formats(path, text)?;
        }
        if shape.is_none() {
            shape = line::columns(text).map(|columns| Shape { ids: options.ids, columns: (options.weight.as_deref() != Some("none")).then_some(columns) });
        }
        let Some(shape) = shape else {
            lines += line::count(text);
            continue;
        };
        let parsed: Vec<_> = cut(text, sizes.piece).into_par_iter().map(|(start, piece)| (start, line::parse(piece, shape))).collect();
        for (start, result) in parsed {
            let piece = result.map_err(|fault| report(path, lines, text, &Fault { byte: fault.byte + start, ..fault }))?;
            pieces.push(piece);
        }
        lines += line::count(text);
    }
    if pieces.iter().all(Piece::is_empty) {
        let error = ReadError::new(path, "the edge list holds no edge").expected("at least one line  SOURCE TARGET", "none");
        return Err(Box::new(error.hint("is this the right file? a download that failed may have left it empty")));
    }
    Ok(pieces)
}

/// Cuts whole lines into pieces of about `bytes`, each with its first byte.
fn cut(text: &[u8], bytes: usize) -> Vec<(usize, &[u8])> {
    let mut pieces = Vec::with_capacity(text.len() / bytes + 1);
    let mut start = 0;
    while start < text.len() {
        let least = (start + bytes).min(text.len());
        let end = text[least - 1..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |more| least + more);
        pieces.push((start, &text[start..end]));
        start = end;
    }
    pieces
}

/// Files that begin like another format are named, rather than a number in them.
fn refuse_other_formats(path: &Path, text: &[u8]) -> Read<()> {
    let refuse = |name: &str, hint: &str| {
        Err(Box::new(ReadError::new(path, format!("the file is {name}, not an edge list")).at_line(1, 1, first_line(text)).hint(hint)))
    };
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => refuse("text in UTF-16", "convert it:  iconv -f UTF-16 -t UTF-8 FILE > NEW"),
        _ if text.starts_with(b"%%MatrixMarket") => refuse("a Matrix Market file", "name its format, or write its entries as  SOURCE TARGET  lines"),
        _ => Ok(()),
    }
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or(text)
}

/// The error for a fault in `text`, of which `lines` lines lie before.
fn report(path: &Path, lines: u64, text: &[u8], fault: &Fault) -> Box<ReadError> {
    let start = text[..fault.byte].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let line = lines + 1 + line::count(&text[..start]);
    let error = ReadError::new(path, fault.what).at_line(line, (fault.byte - start) as u64 + 1, first_line(&text[start..]));
    Box::new(error.expected(fault.expected.clone(), fault.found.clone()).hint(fault.hint))
}

#[cfg(test)]
mod tests;
