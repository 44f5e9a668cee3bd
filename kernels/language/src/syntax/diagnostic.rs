//! diagnostic: errors and warnings about a program.
//!
//! promises  `render` shows the line of the text with carets under the part in question, with tabs
//!           kept so that they align; every span is safe, even if it is outside of the text or
//!           inside a character
//! never     prints; knows a terminal or its colours
use std::fmt::Write;

use warploom_ir::{Span, line_and_column};

/// The longest part of a line that is shown; programs have short lines, damaged files may not.
const CHARACTERS_MOST: usize = 240;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is invalid.
    Error,
    /// The program is valid, but probably a mistake.
    Warning,
}

/// A further line of a diagnostic.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its text.
    pub text: String,
    /// Its place, if any.
    pub span: Option<Span>,
}

/// An error or warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Its place.
    pub span: Span,
    /// What is wrong, in one line.
    pub what: String,
    /// The text beside the carets: expected and found.
    pub label: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Further lines.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, what: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            span,
            what: what.into(),
            label: label.into(),
            hint: None,
            notes: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(span: Span, what: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, what, label) }
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// With a hint, if there is one.
    #[must_use]
    pub fn hint_if(mut self, hint: Option<String>) -> Diagnostic {
        self.hint = hint.or(self.hint);
        self
    }

    /// With a further line.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>, span: Option<Span>) -> Diagnostic {
        self.notes.push(Note { text: text.into(), span });
        self
    }

    /// As printed for a user. `file` is the name of the text.
    pub fn render(&self, file: &str, text: &str) -> String {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        let (line, column) = line_and_column(text, floor_char_boundary(text, self.span.start));
        let mut page = format!("{severity}: {}\n  --> {file}:{line}:{column}\n", self.what);
        let (shown, carets) = self.line_and_carets(text);
        let label = if self.label.is_empty() { String::new() } else { format!(" {}", self.label) };
        let _ = writeln!(page, "       | {shown}\n       | {carets}{label}");
        for note in &self.notes {
            let place = note.span.map(|span| {
                let (line, column) = line_and_column(text, floor_char_boundary(text, span.start));
                format!(" ({file}:{line}:{column})")
            });
            let _ = writeln!(page, "note: {}{}", note.text, place.unwrap_or_default());
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(page, "hint: {hint}");
        }
        page
    }

    /// The first line of the span, and carets under its part of that line.
    fn line_and_carets(&self, text: &str) -> (String, String) {
        let start = floor_char_boundary(text, self.span.start) as usize;
        let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let last = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[first..last].trim_end();
        let end = (floor_char_boundary(text, self.span.end) as usize)
            .clamp(start, first + line.len().max(start - first));
        let before: String = text[first..start]
            .chars()
            .map(|letter| if letter == '\t' { '\t' } else { ' ' })
            .collect();
        let under = text[start..end].chars().count().max(1);
        let clean = |line: &str| -> String {
            let visible = |letter: char| {
                if letter != '\t' && letter.is_control() { '\u{fffd}' } else { letter }
            };
            line.chars().take(CHARACTERS_MOST).map(visible).collect()
        };
        if before.chars().count() + 1 > CHARACTERS_MOST {
            return (clean(&text[start..last]), "^".to_owned());
        }
        let under = under.min(CHARACTERS_MOST - before.chars().count());
        (clean(line), format!("{before}{}", "^".repeat(under)))
    }
}

/// The byte, or the start of its character, or the end of the text.
fn floor_char_boundary(text: &str, byte: u32) -> u32 {
    let mut byte = (byte as usize).min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte as u32
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, Span};

    #[test]
    fn carets_stand_under_what_is_meant() {
        let text = "def f(v):\n\treturn spam\n";
        let found =
            Diagnostic::error(Span { start: 18, end: 22 }, "unknown name `spam`", "no such name")
                .hint("say what it is");
        assert_eq!(
            found.render("f.py", text),
            "error: unknown name `spam`\n  --> f.py:2:9\n       | \treturn spam\n       | \
                \t       ^^^^ no such name\nhint: say what it is\n"
        );
    }

    #[test]
    fn any_span_is_safe() {
        for text in ["", "a", "ä€\n\u{1f600}", "\r\n\r\n", &"x".repeat(1000)] {
            for start in 0..12 {
                for end in 0..12 {
                    let page =
                        Diagnostic::error(Span { start, end }, "what", "").render("f.py", text);
                    assert!(page.contains('^'), "{page}");
                }
            }
            let _ = Diagnostic::error(Span { start: u32::MAX, end: 0 }, "what", "")
                .render("f.py", text);
            let _ =
                Diagnostic::error(Span { start: 900, end: 990 }, "what", "").render("f.py", text);
        }
    }
}
