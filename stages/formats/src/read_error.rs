//! What is wrong with a file, where, and what to do.
//!
//! promises  an error names the file, the line and column or the byte, what was expected and what
//!           was found, and what to do
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// What a reader returns.
pub type Read<T> = Result<T, Box<ReadError>>;

/// What was read of a file, if it is there and sound; an error of the system stays one.
pub(crate) fn if_sound<T>(read: Read<T>) -> Read<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_of_system() => Err(error),
        Err(_) => Ok(None),
    }
}

/// What is wrong with a file, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub place: Place,
    /// One line: what is wrong.
    pub what: String,
    /// What should stand there; empty: `what` says it all.
    pub expected: String,
    /// What stands there; empty: nothing to show.
    pub found: String,
    /// The line around it, clipped, and the 0-based column of the fault in the clip.
    pub excerpt: Option<(String, u32)>,
    /// Further lines, where there are several places or files to speak of.
    pub notes: Vec<String>,
    /// What to type or change; empty: none.
    pub hint: String,
    /// The operating system failed, rather than the contents.
    pub io: Option<std::io::ErrorKind>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line and the column of a byte in it, both from 1.
    Line {
        /// From 1.
        line: u64,
        /// Bytes from 1.
        column: u64,
    },
    /// A byte, from 0.
    Byte(u64),
}

impl ReadError {
    /// An error about a file as a whole.
    pub fn new(path: &Path, what: impl Into<String>) -> Self {
        ReadError {
            path: path.to_path_buf(),
            place: Place::File,
            what: what.into(),
            expected: String::new(),
            found: String::new(),
            excerpt: None,
            notes: Vec::new(),
            hint: String::new(),
            io: None,
        }
    }

    /// The operating system's error while reading a file.
    pub fn from_io(path: &Path, error: &std::io::Error) -> Self {
        ReadError {
            io: Some(error.kind()),
            ..ReadError::new(path, format!("cannot read: {error}"))
        }
    }

    /// Whether the operating system failed, and may not fail again: neither is the file absent, nor
    /// are its contents at fault, which name places that do not exist.
    pub fn is_of_system(&self) -> bool {
        use std::io::ErrorKind::{
            InvalidData, InvalidInput, NotADirectory, NotFound, Other, UnexpectedEof,
        };
        self.io.is_some_and(|kind| {
            !matches!(
                kind,
                NotFound | NotADirectory | InvalidInput | InvalidData | UnexpectedEof | Other
            )
        })
    }

    /// At a byte, from 0.
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.place = Place::Byte(byte);
        self
    }

    /// At a line and a column of bytes, both from 1, with the line's text.
    pub fn at_line(mut self, line: u64, column: u64, text: &[u8]) -> Self {
        self.place = Place::Line { line, column };
        self.excerpt = Some(clip(text, column.saturating_sub(1) as usize));
        self
    }

    /// What should stand there and what does.
    pub fn expected(mut self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        (self.expected, self.found) = (expected.into(), found.into());
        self
    }

    /// What to type or change.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// `path`, `path:line:column` or `path: byte n`.
    pub fn location(&self) -> String {
        let path = self.path.display();
        match self.place {
            Place::File => path.to_string(),
            Place::Line { line, column } => format!("{path}:{line}:{column}"),
            Place::Byte(byte) => format!("{path}: byte {byte}"),
        }
    }

    /// The lines between the place and the hint: the excerpt with a caret, expected against found,
    /// and the notes.
    pub fn detail(&self) -> Option<String> {
        let mut against = String::new();
        if !self.expected.is_empty() {
            against = format!("expected {}", self.expected);
        }
        if !self.found.is_empty() {
            against +=
                &format!("{}found {}", if against.is_empty() { "" } else { ", " }, self.found);
        }
        let mut lines = match &self.excerpt {
            Some((line, column)) => vec![
                format!("       |  {line}\n       |  {}^ {against}", " ".repeat(*column as usize))
                    .trim_end()
                    .to_string(),
            ],
            None if against.is_empty() => Vec::new(),
            None => vec![format!("       = {against}")],
        };
        lines.extend(self.notes.iter().map(|note| format!("       = {note}")));
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// The longest excerpt, in characters.
const EXCERPT_MOST: usize = 96;

/// A printable clip of a line around a byte, and the character that the byte became.
fn clip(line: &[u8], byte: usize) -> (String, u32) {
    let start = byte.saturating_sub(EXCERPT_MOST / 2).min(line.len());
    let end = (start + EXCERPT_MOST).min(line.len());
    let fault = byte.clamp(start, end);
    let shown = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect::<String>()
    };
    let before = format!("{}{}", if start > 0 { "..." } else { "" }, shown(&line[start..fault]));
    let column = before.chars().count() as u32;
    let after =
        format!("{}{}", shown(&line[fault..end]), if end < line.len() { "..." } else { "" });
    (format!("{before}{after}").trim_end().to_string(), column)
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  --> {}", self.what, self.location())?;
        if let Some(detail) = self.detail() {
            write!(f, "\n{detail}")?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_the_style_page_shows_it() {
        let error = ReadError::new(
            Path::new("data/raw/mygraph/edges.txt"),
            "edge list has a target that is not a number",
        )
        .at_line(1204, 4, b"88 x\r")
        .expected("a node id (0 to 4294967293)", "`x`")
        .hint("if ids are words, add  --set ingest.ids=string");
        let shown = "error: edge list has a target that is not a number\n  --> \
            data/raw/mygraph/edges.txt:1204:4\n       |  88 x\n       |     ^ expected a node id \
            (0 to 4294967293), found `x`\nhint: if ids are words, add  --set ingest.ids=string";
        assert_eq!(error.to_string(), shown);
    }

    #[test]
    fn a_long_line_is_clipped_around_its_fault() {
        let mut line = vec![b'1'; 10_000];
        line[5_000] = b'x';
        let (shown, column) = clip(&line, 5_000);
        assert!(shown.len() < 110 && shown.starts_with("...") && shown.ends_with("..."));
        assert_eq!(shown.as_bytes()[column as usize], b'x');
    }
}
