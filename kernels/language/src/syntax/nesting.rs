//! nesting: refuses texts that are nested too deeply or too long, before any recursive code reads
//! them.
//!
//! promises  an accepted text has a tree of bounded depth; one pass over the bytes
//! never     judges anything else: an invalid program passes, and the parser reports it
//! limits    below
use super::Diagnostic;
use warploom_ir::Span;

/// Maximum bytes of a text.
const BYTES_MOST: usize = 1 << 20;
/// Maximum nesting of brackets.
const BRACKETS_MOST: usize = 100;
/// Maximum spaces of an indent: a hundred levels of four, and each level takes at least one.
const INDENT_MOST: usize = 400;
/// Maximum levels of indentation.
const LEVELS_MOST: usize = 100;
/// Maximum tokens of one statement; its tree cannot be deeper than that.
const WORDS_MOST: usize = 2000;

/// Checks the limits; the error says what is too large.
pub(super) fn check(text: &str) -> Result<(), Diagnostic> {
    if text.len() > BYTES_MOST {
        let label = format!("expected at most {BYTES_MOST} bytes, found {}", text.len());
        return Err(Diagnostic::error(Span::default(), "the program is too long", label)
            .hint("a program is a few functions; read data from columns of the node table"));
    }
    let mut walk =
        NestingWalk { bytes: text.as_bytes(), at: 0, brackets: 0, words: 0, levels: vec![0] };
    while walk.at < walk.bytes.len() {
        walk.step()?;
    }
    Ok(())
}

struct NestingWalk<'a> {
    bytes: &'a [u8],
    at: usize,
    brackets: usize,
    words: usize,
    levels: Vec<usize>,
}

impl NestingWalk<'_> {
    fn step(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        if self.brackets == 0 && (start == 0 || matches!(self.bytes[start - 1], b'\n' | b'\r')) {
            self.indentation()?;
        }
        let Some(&byte) = self.bytes.get(self.at) else { return Ok(()) };
        let start = self.at;
        self.at += 1;
        match byte {
            b'#' => self.skip(|byte| !matches!(byte, b'\n' | b'\r')),
            b'\'' | b'"' => self.quoted(byte),
            b'\n' | b'\r' if self.brackets == 0 && !self.continued(start) => self.words = 0,
            b'(' | b'[' | b'{' => self.brackets += 1,
            b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
            byte if is_word(byte) => {
                self.skip(is_word);
                self.formatted(start)?;
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() && byte != b'#' {
            self.words += 1;
        }
        let span = Span { start: start as u32, end: start as u32 + 1 };
        if self.brackets > BRACKETS_MOST {
            let found = Diagnostic::error(
                span,
                "brackets are nested too deeply",
                format!("expected at most {BRACKETS_MOST} within each other"),
            );
            return Err(found.hint("give a part a name of its own:  part = ..."));
        }
        if self.words > WORDS_MOST {
            let found = Diagnostic::error(
                span,
                "the statement is too long",
                format!("expected at most {WORDS_MOST} words and signs"),
            );
            return Err(found.hint("give a part a name of its own:  part = ..."));
        }
        Ok(())
    }

    fn indentation(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        self.skip(|byte| matches!(byte, b' ' | b'\t' | 12));
        let width = self.at - start;
        if matches!(self.bytes.get(self.at), None | Some(b'\n' | b'\r' | b'#')) {
            return Ok(());
        }
        while self.levels.last().is_some_and(|level| *level >= width) && self.levels.len() > 1 {
            self.levels.pop();
        }
        self.levels.push(width);
        if self.levels.len() > LEVELS_MOST || width > INDENT_MOST {
            let span = Span { start: self.at as u32, end: self.at as u32 + 1 };
            let found = Diagnostic::error(
                span,
                "statements are nested too deeply",
                format!("expected at most {LEVELS_MOST} levels"),
            );
            return Err(found.hint("move the inner part into a function of its own"));
        }
        Ok(())
    }

    /// Refuses f-strings here already, since the nesting of their expressions cannot be seen from
    /// outside.
    fn formatted(&self, start: usize) -> Result<(), Diagnostic> {
        let prefix = self.bytes[start..self.at].to_ascii_lowercase();
        let quote = matches!(self.bytes.get(self.at), Some(b'\'' | b'"'));
        if !quote || !matches!(prefix.as_slice(), b"f" | b"fr" | b"rf" | b"t" | b"tr" | b"rt") {
            return Ok(());
        }
        let span = Span { start: start as u32, end: self.at as u32 + 1 };
        let what = "an f-string is not part of the language";
        Err(Diagnostic::error(span, what, "expected a plain string")
            .hint("strings only name things, as in  init=\"zero\""))
    }

    fn skip(&mut self, more: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|byte| more(*byte)) {
            self.at += 1;
        }
    }

    /// Whether the end of a line at this place is escaped.
    fn continued(&self, at: usize) -> bool {
        at > 0 && self.bytes[at - 1] == b'\\'
    }

    /// Skips the rest of a string; one with a single quote ends with its line. F-strings were
    /// refused by `formatted`.
    fn quoted(&mut self, quote: u8) {
        let triple =
            self.bytes.get(self.at) == Some(&quote) && self.bytes.get(self.at + 1) == Some(&quote);
        if triple {
            self.at += 2;
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' | b'\r' if !triple => {
                    self.at -= 1;
                    return;
                }
                byte if byte == quote && !triple => return,
                byte if byte == quote && self.bytes[self.at..].starts_with(&[quote, quote]) => {
                    self.at += 2;
                    return;
                }
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}
