//! mistake: a mistake in a pipeline file or in a `--set`: its place, what was expected, and what to
//! type instead.
//!
//! promises  line and column from 1; text from the file is shortened and without control characters
//! never     decides an exit code (the shell does)
use std::{error::Error, fmt, ops::Deref, sync::Arc};

use serde::{Serialize, Serializer};

/// Most mistakes that are shown.
pub const SHOWN_MAX: usize = 20;
/// The widest excerpt, in characters; longer lines are cut around the caret.
const EXCERPT_MAX: usize = 120;
/// The longest quotation from a file inside a sentence.
const QUOTED_MAX: usize = 48;
/// The path of mistakes on the command line.
pub const COMMAND_LINE: &str = "--set";

/// What is wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeKind {
    /// There is no such file.
    NotFound,
    /// The file cannot be read, is not text, or is too large.
    Unreadable,
    /// Not YAML, or YAML that pipeline files do not use.
    Syntax,
    /// A name is given twice.
    Duplicate,
    /// No setting has this name.
    UnknownKey,
    /// The setting does not know this word.
    UnknownValue,
    /// Another type is expected.
    WrongType,
    /// The number is out of range.
    OutOfRange,
    /// A required setting is missing.
    Missing,
}

/// A place in a pipeline file or in a `--set`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// The file, or `--set`.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The whole line, shared by all places in it.
    #[serde(serialize_with = "write_shared")]
    pub excerpt: Arc<str>,
    /// How many characters are meant; 0: the file as a whole.
    pub length: u32,
}

/// A shared text as one of its own.
fn write_shared<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text)
}

impl Place {
    /// A mistake at this place.
    pub fn mistake(
        self,
        kind: MistakeKind,
        what: impl Into<String>,
        label: impl Into<String>,
    ) -> Mistake {
        let Self { path, line, column, excerpt, length } = self;
        Mistake {
            kind,
            what: what.into(),
            path,
            line,
            column,
            excerpt,
            length,
            label: label.into(),
            hint: None,
            earlier: None,
        }
    }
}

/// One mistake; its `Display` is what a user reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Mistake {
    /// What is wrong, for programs.
    pub kind: MistakeKind,
    /// What is wrong, in a sentence.
    pub what: String,
    /// The file, or `--set`.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The whole line, shared by all places in it.
    #[serde(serialize_with = "write_shared")]
    pub excerpt: Arc<str>,
    /// How many characters are meant; 0: the file as a whole.
    pub length: u32,
    /// Expected against found, the label at the caret.
    pub label: String,
    /// What to type instead.
    pub hint: Option<String>,
    /// A related place, and what it has.
    pub earlier: Option<Box<(Place, String)>>,
}

impl Mistake {
    /// Adds what to type instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the related earlier place.
    #[must_use]
    pub fn with_earlier(mut self, place: Place, label: impl Into<String>) -> Self {
        self.earlier = Some(Box::new((place, label.into())));
        self
    }

    /// `FILE:LINE:COLUMN`, `--set TEXT:LINE:COLUMN`, or the file alone for a mistake of the whole
    /// file.
    pub fn place(&self) -> String {
        let Self { path, line, column, length, .. } = self;
        match (path == COMMAND_LINE, length) {
            (true, _) => {
                format!("{COMMAND_LINE} {}:{line}:{column}", visible_text(self.excerpt.trim()))
            }
            (false, 0) => visible_text(path),
            (false, _) => format!("{}:{line}:{column}", visible_text(path)),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error: {}\n  --> {}", visible_text(&self.what), self.place())?;
        if let Some((place, label)) = self.earlier.as_deref() {
            mark_excerpt(
                out,
                &place.excerpt,
                place.column,
                place.length,
                '-',
                &format!("{label} (line {})", place.line),
            )?;
        }
        if self.length > 0 {
            mark_excerpt(out, &self.excerpt, self.column, self.length, '^', &self.label)?;
        } else if !self.label.is_empty() {
            write!(out, "\n       | {}", visible_text(&self.label))?;
        }
        match &self.hint {
            Some(hint) => write!(out, "\nhint: {}", visible_text(hint)),
            None => Ok(()),
        }
    }
}

impl Error for Mistake {}

/// All mistakes of a file and its overrides, in order of place; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistakes {
    /// The first ones, at most `SHOWN_MAX`.
    pub shown: Vec<Mistake>,
    /// Number of further ones.
    pub left_out: usize,
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self { shown: vec![mistake], left_out: 0 }
    }
}

impl Deref for Mistakes {
    type Target = [Mistake];
    fn deref(&self) -> &[Mistake] {
        &self.shown
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.shown.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(out, "{gap}{mistake}")?;
        }
        match self.left_out {
            0 => Ok(()),
            more => write!(out, "\n\nand {more} more"),
        }
    }
}

impl Error for Mistakes {}

/// A line with a mark below it.
fn mark_excerpt(
    out: &mut fmt::Formatter<'_>,
    line: &str,
    column: u32,
    length: u32,
    mark: char,
    label: &str,
) -> fmt::Result {
    let letters: Vec<char> = line.chars().map(visible_char).collect();
    let column = (column as usize - 1).min(letters.len());
    let start =
        if letters.len() <= EXCERPT_MAX { 0 } else { column.saturating_sub(EXCERPT_MAX / 2) };
    let end = (start + EXCERPT_MAX).min(letters.len());
    let (before, after) =
        (if start > 0 { "..." } else { "" }, if end < letters.len() { "..." } else { "" });
    let text: String = letters[start..end].iter().collect();
    let pad: String = before
        .chars()
        .chain(letters[start..column.max(start)].iter().copied())
        .map(|letter| if letter == '\t' { '\t' } else { ' ' })
        .collect();
    let mark: String =
        std::iter::repeat_n(mark, (length.max(1) as usize).min(end.saturating_sub(column).max(1)))
            .collect();
    write!(
        out,
        "\n       |  {before}{}{after}\n       |  {pad}{mark} {}",
        text.trim_end(),
        visible_text(label)
    )
}

fn visible_char(letter: char) -> char {
    if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }
}

/// Text without control characters.
pub(crate) fn visible_text(text: &str) -> String {
    text.chars().map(|letter| if letter == '\t' { ' ' } else { visible_char(letter) }).collect()
}

/// Quotes text from a file for a sentence: in backticks, shortened, on one line.
pub(crate) fn quote(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(QUOTED_MAX)
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect();
    if text.chars().nth(QUOTED_MAX).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}
