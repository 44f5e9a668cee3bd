//! Texts line by line: unpacked on one core while the others parse, and handed over in the order of
//! the file.
//!
//! promises  the same calls with the same lines for any number of threads; a fault becomes an error
//!           with its line and column
//! reads     CRLF, a byte-order mark, a last line without end
//! never     holds more than three blocks of a text
//! limits    a line of 64 MiB
use super::blocks::{BlockMessage, LINE_MOST, count, cut, stream};
use crate::{
    containers::text_source::TextSource,
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::path::Path;

/// Bytes that are read at once, and those that one task parses.
const BLOCK_BYTES: usize = 4 << 20;
const PIECE_BYTES: usize = 1 << 19;

/// What is wrong with a line: the byte is counted from the beginning of what the parser was given.
#[derive(Debug)]
pub(crate) struct LineFault {
    pub byte: usize,
    pub what: String,
    pub expected: String,
    pub found: String,
    pub hint: String,
}

impl LineFault {
    pub fn new(byte: usize, what: impl Into<String>) -> LineFault {
        LineFault {
            byte,
            what: what.into(),
            expected: String::new(),
            found: String::new(),
            hint: String::new(),
        }
    }

    /// What should stand there, and the word that does.
    pub fn expected(mut self, expected: impl Into<String>, found: &[u8]) -> LineFault {
        self.expected = expected.into();
        self.found = if found.is_empty() {
            "nothing".into()
        } else {
            format!("`{}`", String::from_utf8_lossy(&found[..found.len().min(60)]))
        };
        self
    }

    /// What to type or change.
    pub fn hint(mut self, hint: impl Into<String>) -> LineFault {
        self.hint = hint.into();
        self
    }

    fn shifted(mut self, bytes: usize) -> LineFault {
        self.byte += bytes;
        self
    }
}

impl<'a> TextSource<'a> {
    /// The first line.
    pub fn lines(self) -> Read<TextLines<'a>> {
        TextLines::open(self)
    }
}

/// A text of which the first line was read.
pub(crate) struct TextLines<'a> {
    text: TextSource<'a>,
    /// The first bytes, with the whole first line.
    start: Vec<u8>,
    /// Lines that were taken off.
    taken: u64,
}

impl<'a> TextLines<'a> {
    fn open(mut text: TextSource<'a>) -> Read<TextLines<'a>> {
        let mut start = Vec::new();
        let (mut searched, mut step) = (0, 1 << 16);
        loop {
            let got = (text.fill)(&mut start, step)?;
            if got == 0 || start[searched..].contains(&b'\n') {
                break;
            }
            if start.len() > LINE_MOST {
                return Err(endless(&text.path, 0, &start));
            }
            (searched, step) = (start.len(), BLOCK_BYTES);
        }
        if start.starts_with(b"\xef\xbb\xbf") {
            start.drain(..3);
        }
        if matches!(start[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
            let error = ReadError::new(&text.path, "the file is text in UTF-16")
                .expected("UTF-8", "UTF-16");
            return Err(Box::new(error.hint("convert it:  iconv -f UTF-16 -t UTF-8 FILE > NEW")));
        }
        Ok(TextLines { text, start, taken: 0 })
    }

    /// How errors name the text.
    pub fn path(&self) -> &Path {
        self.text.path()
    }

    /// The first line without its end; empty also if there is none.
    pub fn first(&self) -> &[u8] {
        without_end(self.start.split(|&byte| byte == b'\n').next().unwrap_or_default())
    }

    /// The error for a fault in the first line.
    pub fn fault(&self, fault: &LineFault) -> Box<ReadError> {
        report(self.text.path(), self.taken, &self.start, fault)
    }

    /// Takes the first line off.
    pub fn skip_first(mut self) -> Read<TextLines<'a>> {
        let end = self
            .start
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(self.start.len(), |end| end + 1);
        self.start.drain(..end);
        let taken = self.taken + 1;
        if self.start.contains(&b'\n') {
            return Ok(TextLines { taken, ..self });
        }
        let mut start = std::mem::take(&mut self.start);
        while !start.contains(&b'\n') && start.len() <= LINE_MOST {
            if (self.text.fill)(&mut start, 1 << 16)? == 0 {
                break;
            }
        }
        Ok(TextLines { taken, start, ..self })
    }

    /// Gives whole lines to `see`, block by block in order; only the last block may lack its last
    /// line's end.
    pub fn blocks(self, mut see: impl FnMut(&[u8]) -> Result<(), LineFault>) -> Read<()> {
        self.blocks_into(&mut (), |(), block| see(block), |()| Ok(()))
    }

    /// The same; behind each block the state may put elsewhere what it holds.
    fn blocks_into<S>(
        self,
        state: &mut S,
        mut see: impl FnMut(&mut S, &[u8]) -> Result<(), LineFault>,
        mut settle: impl FnMut(&mut S) -> Read<()>,
    ) -> Read<()> {
        let TextLines { mut text, start, taken } = self;
        let path = text.path.clone();
        let mut lines = taken;
        stream(&path, start, BLOCK_BYTES, &mut text.fill, |blocks| {
            for block in blocks {
                match block {
                    BlockMessage::Block(block) => {
                        see(state, &block).map_err(|fault| report(&path, lines, &block, &fault))?;
                        lines += count(&block);
                        settle(state)?;
                    }
                    BlockMessage::Endless(start) => return Err(endless(&path, lines, &start)),
                    BlockMessage::Failed(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    /// Parses pieces of whole lines on all cores; `take` has the results in the order of the text.
    pub fn pieces<T: Send>(
        self,
        parse: impl Fn(&[u8]) -> Result<T, LineFault> + Sync + Send,
        mut take: impl FnMut(T) -> Result<(), LineFault>,
    ) -> Read<()> {
        self.pieces_into(&mut (), parse, |(), piece| take(piece), |()| Ok(()))
    }

    /// The same; `settle` is called behind some pieces: what they left may be put elsewhere.
    pub fn pieces_into<T: Send, S>(
        self,
        state: &mut S,
        parse: impl Fn(&[u8]) -> Result<T, LineFault> + Sync + Send,
        mut take: impl FnMut(&mut S, T) -> Result<(), LineFault>,
        settle: impl FnMut(&mut S) -> Read<()>,
    ) -> Read<()> {
        let see = |state: &mut S, block: &[u8]| {
            let parsed: Vec<(usize, Result<T, LineFault>)> = cut(block, PIECE_BYTES)
                .into_par_iter()
                .map(|(start, piece)| (start, parse(piece)))
                .collect();
            parsed.into_iter().try_for_each(|(start, result)| {
                result.and_then(|piece| take(state, piece)).map_err(|fault| fault.shifted(start))
            })
        };
        self.blocks_into(state, see, settle)
    }
}

/// The lines of `text`, each with its first byte and without its end.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let start = at;
        at += length + 1;
        Some((start, without_end(&rest[..length])))
    })
}

fn without_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn endless(path: &Path, lines: u64, start: &[u8]) -> Box<ReadError> {
    let error = ReadError::new(path, "a line is too long").at_line(
        lines + 1,
        1,
        &start[..start.len().min(200)],
    );
    Box::new(
        error
            .expected(format!("at most {} MiB", LINE_MOST >> 20), "more")
            .hint("is this a text file?"),
    )
}

/// The error for a fault in `text`, of which `lines` lines lie before.
fn report(path: &Path, lines: u64, text: &[u8], fault: &LineFault) -> Box<ReadError> {
    let byte = fault.byte.min(text.len());
    let start = text[..byte].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let line = text[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let error = ReadError::new(path, fault.what.clone()).at_line(
        lines + 1 + count(&text[..start]),
        (byte - start) as u64 + 1,
        without_end(line),
    );
    Box::new(error.expected(fault.expected.clone(), fault.found.clone()).hint(fault.hint.clone()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{
        io::{self, Read as _},
        path::PathBuf,
    };

    /// The files of a published set, all folders in it; none, with a notice, where it is not there.
    pub(crate) fn shared(name: &str) -> Option<Vec<PathBuf>> {
        let root = std::env::var_os("WARPLOOM_SHARED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
            Into::into,
        );
        let folder: PathBuf = root.join("data").join(name);
        if !folder.exists() {
            println!("SKIPPED: {name}: no such folder under WARPLOOM_SHARED");
            return None;
        }
        Some(files_of(&folder))
    }

    /// All files of a folder but the note on their source, those of folders in it too.
    pub(crate) fn files_of(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| if path.is_dir() { files_of(&path) } else { vec![path] })
            .filter(|path| !path.ends_with("SOURCE.txt"))
            .collect()
    }

    /// The files of a fixture.
    pub(crate) fn fixture(name: &str) -> Vec<PathBuf> {
        files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs").join(name))
    }

    /// Files with these names and contents, in a folder of their own.
    pub(crate) fn written(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let write = |(name, contents): &(&str, &[u8])| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, contents).unwrap();
            path
        };
        let paths = files.iter().map(write).collect();
        (folder, paths)
    }

    fn text_of(bytes: Vec<u8>) -> TextSource<'static> {
        TextSource::from_reader("t".into(), io::Cursor::new(bytes), |error| {
            Box::new(ReadError::from_io(Path::new("t"), error))
        })
    }

    fn endless_text(bytes: u64) -> TextSource<'static> {
        TextSource::from_reader("t".into(), io::repeat(b'1').take(bytes), |error| {
            Box::new(ReadError::from_io(Path::new("t"), error))
        })
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let bytes: Vec<u8> =
            (0..3_000_000u32).flat_map(|i| format!("{i}\r\n").into_bytes()).collect();
        let mut seen = Vec::new();
        let parse = |piece: &[u8]| -> Result<Vec<u32>, LineFault> {
            Ok(split_lines(piece)
                .map(|(_, line)| std::str::from_utf8(line).unwrap().parse().unwrap())
                .collect())
        };
        for threads in [1, 2, 8] {
            let lines = text_of(bytes.clone()).lines().unwrap();
            assert_eq!(lines.first(), b"0");
            seen.clear();
            let take = |piece| {
                seen.extend::<Vec<u32>>(piece);
                Ok(())
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| lines.skip_first().unwrap().pieces(parse, take)).unwrap();
            assert!(seen.iter().copied().eq(1..3_000_000), "{threads}");
        }
    }

    #[test]
    fn a_fault_has_its_line_and_column() {
        let bytes: Vec<u8> = (0..2_000_000u32)
            .flat_map(|i| format!("{i}{}\n", if i == 1_999_998 { " x" } else { "" }).into_bytes())
            .collect();
        let parse = |piece: &[u8]| {
            piece
                .iter()
                .position(|&byte| byte == b'x')
                .map_or(Ok(()), |at| Err(LineFault::new(at, "bad").expected("y", b"x")))
        };
        let error = text_of(bytes).lines().unwrap().pieces(parse, |()| Ok(())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: bad\n  --> t:1999999:9\n       |  1999998 x\n       |          ^ expected y, \
                found `x`"
        );
    }

    #[test]
    fn a_line_without_end_is_refused() {
        assert!(endless_text(1 << 40).lines().err().unwrap().what.contains("too long"));
        let two = TextSource::from_reader(
            "t".into(),
            io::Cursor::new(b"a\n").chain(io::repeat(b'1')),
            |_| unreachable!(),
        );
        assert_eq!(two.lines().unwrap().blocks(|_| Ok(())).unwrap_err().location(), "t:2:1");
        assert!(text_of(b"\xff\xfea\0".to_vec()).lines().err().unwrap().hint.contains("iconv"));
    }

    #[test]
    fn marks_ends_and_emptiness() {
        let lines = text_of(b"\xef\xbb\xbf1\r\n2".to_vec()).lines().unwrap();
        assert_eq!(lines.first(), b"1");
        let rest = lines.skip_first().unwrap();
        assert_eq!(rest.first(), b"2");
        let mut seen = Vec::new();
        let see = |block: &[u8]| {
            seen.extend_from_slice(block);
            Ok(())
        };
        rest.blocks(see).unwrap();
        assert_eq!(seen, b"2");
        let empty = text_of(Vec::new()).lines().unwrap();
        assert_eq!(empty.first(), b"");
        empty.skip_first().unwrap().blocks(|_| Err(LineFault::new(0, "called"))).unwrap();
        assert_eq!(
            split_lines(b"a\n\nb\r\n").map(|(at, line)| (at, line.len())).collect::<Vec<_>>(),
            [(0, 1), (2, 0), (3, 1)]
        );
    }
}
