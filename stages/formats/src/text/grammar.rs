//! Text with an item a line: read in blocks of whole lines, parsed in pieces on all cores.
//!
//! promises  the same result for any number of threads and any size of block; of several faults the
//!           first in the file is reported
//! reads     gzip, zstd, a byte-order mark, CRLF, a last line without end; UTF-16 is refused by
//!           name
//! never     holds more than a few blocks, beside what the grammar keeps
//! limits    a line of 64 MiB
//! to add    a format that has a header and then items: a `Grammar`
use super::blocks::{BlockMessage, LINE_MOST, count, cut, stream};
use crate::{
    containers::decompress::PlainFile,
    f32_rounding::RoundedIntegers,
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::{path::Path, sync::mpsc};

/// Bytes that are read at once, and those that one task parses: eight tasks a block.
pub const SIZES: BlockSizes = BlockSizes { block: 8 << 20, piece: 1 << 20 };

/// Bytes of blocks and of the pieces they are cut into.
#[derive(Clone, Copy, Debug)]
pub struct BlockSizes {
    /// Read at once.
    pub block: usize,
    /// Parsed by one task.
    pub piece: usize,
}

/// How the lines of a format are read. All text that it is given is whole lines, only the file's
/// last may lack its end.
pub trait Grammar: Sync {
    /// What some lines of the body hold.
    type Chunk: Default + Send;
    /// Reads lines of the header, of which `before` lie before `lines`: the byte at which the body
    /// begins, or none if it begins later.
    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault>;
    /// Reads the lines of the body before a scan into an empty piece, on any thread. What it read
    /// before a fault is accepted before the fault is reported.
    fn body(&self, scan: &mut Scan<'_>, piece: &mut Self::Chunk) -> Result<(), ScanFault>;
    /// Takes the pieces in the order of the file, each with its lines.
    fn accept(&mut self, piece: Self::Chunk, lines: &[u8]) -> Result<(), ScanFault>;
    /// A block was read: what it left may be put elsewhere.
    fn settle(&mut self) -> Read<()> {
        Ok(())
    }
}

/// What is wrong at a byte of some lines.
#[derive(Debug)]
pub struct ScanFault {
    /// Where, in the lines that were given.
    pub byte: usize,
    what: String,
    expected: String,
    found: String,
    hint: String,
}

impl ScanFault {
    /// A fault at a byte.
    pub fn new(byte: usize, what: impl Into<String>) -> ScanFault {
        ScanFault {
            byte,
            what: what.into(),
            expected: String::new(),
            found: String::new(),
            hint: String::new(),
        }
    }

    /// What should stand there, and the word that does; an empty one is the end of the line.
    pub fn expected(mut self, expected: impl Into<String>, found: &[u8]) -> ScanFault {
        (self.expected, self.found) = (
            expected.into(),
            if found.is_empty() { "the end of the line".into() } else { quote(found) },
        );
        self
    }

    /// What to type or change.
    pub fn hint(mut self, hint: impl Into<String>) -> ScanFault {
        self.hint = hint.into();
        self
    }
}

/// A word as messages show it.
pub fn quote(word: &[u8]) -> String {
    format!("`{}`", String::from_utf8_lossy(&word[..word.len().min(40)]))
}

/// A place of which a later error may have to speak.
#[derive(Clone, Debug, Default)]
pub struct TextPlace {
    /// From 1.
    pub line: u64,
    column: u64,
    text: Vec<u8>,
}

impl TextPlace {
    /// The place of a byte in `text`, before which `before` lines lie.
    pub fn new(text: &[u8], byte: usize, before: u64) -> TextPlace {
        let start = text[..byte].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = first_line(&text[start..]);
        // Enough for the excerpt of an error.
        let kept = line.len().min(byte - start + 256);
        TextPlace {
            line: before + 1 + count(&text[..start]),
            column: (byte - start) as u64 + 1,
            text: line[..kept].to_vec(),
        }
    }

    /// An error at this place.
    pub fn error(&self, path: &Path, what: impl Into<String>) -> ReadError {
        ReadError::new(path, what).at_line(self.line, self.column, &self.text)
    }
}

/// Reads a file from its first line to its last; of the numbers read by `finite` or noted in
/// `Scan::rounded`, those that were rounded come back, the first one's place as its line.
pub fn parse<G: Grammar>(path: &Path, grammar: &mut G, sizes: BlockSizes) -> Read<RoundedIntegers> {
    let mut plain = PlainFile::open(path)?;
    stream(
        path,
        Vec::new(),
        sizes.block,
        move |buffer, most| plain.fill(buffer, most),
        |blocks| parse_blocks(path, grammar, sizes, blocks),
    )
}

/// Parses blocks in order; all pieces of a block at once.
fn parse_blocks<G: Grammar>(
    path: &Path,
    grammar: &mut G,
    sizes: BlockSizes,
    blocks: mpsc::Receiver<BlockMessage>,
) -> Read<RoundedIntegers> {
    let (mut lines, mut rounded) = (0, RoundedIntegers::default());
    let (mut first, mut in_header) = (true, true);
    for message in blocks {
        let block = match message {
            BlockMessage::Block(block) => block,
            BlockMessage::Endless(start) => return Err(report(path, lines, &start, too_long(0))),
            BlockMessage::Failed(error) => return Err(error),
        };
        let mut text: &[u8] = &block;
        if std::mem::take(&mut first) {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            refuse_wide_text(path, text)?;
        }
        if text.len() > LINE_MOST {
            refuse_long_lines(text).map_err(|fault| report(path, lines, text, fault))?;
        }
        let mut body = 0;
        if in_header {
            let begins =
                grammar.header(text, lines).map_err(|fault| report(path, lines, text, fault))?;
            in_header = begins.is_none();
            body = begins.unwrap_or(text.len());
        }
        let pieces: Vec<_> = cut(&text[body..], sizes.piece)
            .into_par_iter()
            .map(|(start, lines)| {
                let (mut piece, mut scan) = (G::Chunk::default(), Scan::new(lines));
                let read = grammar.body(&mut scan, &mut piece);
                (body + start, lines, piece, read.map(|()| scan.rounded))
            })
            .collect();
        for (start, piece_lines, piece, read) in pieces {
            let accepted = grammar.accept(piece, piece_lines).and(read);
            let part = accepted.map_err(|fault| {
                report(path, lines, text, ScanFault { byte: fault.byte + start, ..fault })
            })?;
            let line = |byte: u64| lines + count(&text[..=start + byte as usize]);
            rounded.join(RoundedIntegers { first: part.first.map(line), ..part }, 0);
        }
        grammar.settle()?;
        lines += count(text);
    }
    Ok(rounded)
}

fn refuse_wide_text(path: &Path, text: &[u8]) -> Read<()> {
    if !matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return Ok(());
    }
    let error = ReadError::new(path, "the file is text in UTF-16")
        .at_line(1, 1, first_line(text))
        .expected("text in UTF-8", "a UTF-16 byte-order mark");
    Err(Box::new(error.hint("convert it:  iconv -f UTF-16 -t UTF-8 FILE > NEW")))
}

fn refuse_long_lines(text: &[u8]) -> Result<(), ScanFault> {
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if line.len() > LINE_MOST {
            return Err(too_long(start));
        }
        start += line.len();
    }
    Ok(())
}

fn too_long(byte: usize) -> ScanFault {
    let fault =
        ScanFault::new(byte, "a line is too long").hint("is this a text file with line ends?");
    ScanFault {
        expected: format!("at most {} MiB", LINE_MOST >> 20),
        found: "more".into(),
        ..fault
    }
}

/// The text up to its first line end.
pub fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or(text)
}

/// The byte at which the line stands that `counts` is true of for the `index`-th time; it sees
/// lines from their first byte that is no blank.
pub fn nth_line(text: &[u8], index: u64, counts: impl Fn(&[u8]) -> bool) -> usize {
    let mut scan = Scan::new(text);
    let mut seen = 0;
    while scan.more() {
        scan.skip_blanks();
        if counts(&text[scan.at.min(text.len())..]) {
            if seen == index {
                return scan.at;
            }
            seen += 1;
        }
        scan.next_line();
    }
    text.len()
}

/// The error for a fault in `text`, of which `lines` lines lie before.
fn report(path: &Path, lines: u64, text: &[u8], fault: ScanFault) -> Box<ReadError> {
    let error = TextPlace::new(text, fault.byte.min(text.len()), lines).error(path, fault.what);
    Box::new(error.expected(fault.expected, fault.found).hint(fault.hint))
}

/// Walks over words and numbers that blanks (spaces, tabs, carriage returns) and line ends part.
pub struct Scan<'a> {
    text: &'a [u8],
    /// The byte that is read next.
    pub at: usize,
    /// Whole numbers that f32 does not hold, by byte.
    pub rounded: RoundedIntegers,
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

impl<'a> Scan<'a> {
    /// At the beginning of a text.
    pub fn new(text: &'a [u8]) -> Self {
        Scan { text, at: 0, rounded: RoundedIntegers::default() }
    }

    /// Whether a line begins here.
    pub fn more(&self) -> bool {
        self.at < self.text.len()
    }

    /// The next byte; the text ends in a line end, whether it is there or not.
    pub fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(b'\n')
    }

    /// To the next word of the line, or to its end.
    pub fn skip_blanks(&mut self) {
        while is_blank(self.byte()) {
            self.at += 1;
        }
    }

    /// Whether nothing but blanks is left of the line; steps over them.
    pub fn line_ends(&mut self) -> bool {
        self.skip_blanks();
        self.byte() == b'\n'
    }

    /// Behind the end of this line.
    pub fn next_line(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()) + 1;
    }

    /// The next word of the line; empty at its end.
    pub fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while !is_blank(self.byte()) && self.byte() != b'\n' {
            self.at += 1;
        }
        &self.text[start.min(self.text.len())..self.at.min(self.text.len())]
    }

    /// A whole number that stands alone; none leaves `at` where the word begins.
    pub fn whole(&mut self) -> Option<u64> {
        self.skip_blanks();
        let start = self.at;
        let mut value: u64 = 0;
        loop {
            let digit = self.byte().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        let digits = self.at - start;
        // 19 digits always fit; longer ones (rare) are read again with care.
        let fits = digits <= 19
            || std::str::from_utf8(&self.text[start..self.at])
                .is_ok_and(|word| word.parse::<u64>().is_ok());
        if digits > 0 && fits && (is_blank(self.byte()) || self.byte() == b'\n') {
            return Some(value);
        }
        self.at = start;
        None
    }

    /// The row of a node that the file counts from `first`: a number from there, of `nodes`.
    pub fn row(&mut self, name: &str, first: u64, nodes: u32) -> Result<u32, ScanFault> {
        self.skip_blanks();
        let start = self.at;
        let value = self.whole();
        if let Some(row) =
            value.and_then(|value| value.checked_sub(first)).filter(|&row| row < u64::from(nodes))
        {
            return Ok(row as u32);
        }
        self.at = start;
        let word = self.word();
        let range = if nodes == 0 {
            "no node: the header says 0".into()
        } else {
            format!("{first} to {}", first + u64::from(nodes) - 1)
        };
        let what = match word {
            [] => "is missing",
            _ if !word.iter().all(u8::is_ascii_digit) => "is not a number",
            _ => "is out of range",
        };
        let hint = match value {
            Some(0) if first == 1 => "this format counts nodes from 1: add 1 to all of them",
            Some(_) => {
                "correct the number of nodes in the header, or the id: ids are counted from the \
                 first node without gaps; as an edge list,  SOURCE TARGET  a line, they may be any \
                 numbers"
            }
            None => {
                "a node is its number here: write names as an edge list,  SOURCE TARGET  a line"
            }
        };
        Err(ScanFault::new(start, format!("{name} {what}")).expected(range, word).hint(hint))
    }

    /// A number that is finite as an `f32`.
    pub fn finite(&mut self, name: &str, hint: &str) -> Result<f32, ScanFault> {
        let word = self.word();
        let what = match std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok()) {
            Some(value) if value.is_finite() => {
                self.rounded.check((self.at - word.len()) as u64, word, value);
                return Ok(value);
            }
            Some(_) => "is not finite, or beyond 3.4e38",
            None if word.is_empty() => "is missing",
            None => "is not a number",
        };
        Err(ScanFault::new(self.at - word.len(), format!("{name} {what}"))
            .expected("a finite number", word)
            .hint(hint))
    }

    /// Refuses whatever is left of the line.
    pub fn end(&mut self, what: &str, expected: &str, hint: &str) -> Result<(), ScanFault> {
        if self.line_ends() {
            return Ok(());
        }
        let at = self.at;
        Err(ScanFault::new(at, what).expected(expected, self.word()).hint(hint))
    }
}

#[cfg(test)]
mod tests;
