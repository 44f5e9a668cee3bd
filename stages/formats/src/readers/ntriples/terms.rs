//! The terms of a statement: where each begins and ends, and the word that it is.
use crate::text::lines::LineFault;

/// What a term is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TermKind {
    Iri,
    Blank,
    Literal,
}

/// A term as the line spells it.
#[derive(Clone, Copy)]
pub(super) struct Term<'a> {
    pub kind: TermKind,
    pub spelling: &'a [u8],
    /// Where it begins in its line.
    at: usize,
}

impl Term<'_> {
    /// The word: an IRI bare, a blank node as it stands, a literal in quotes; escapes resolved.
    pub fn word(&self) -> Result<String, LineFault> {
        let text = match self.kind {
            TermKind::Iri => &self.spelling[1..self.spelling.len() - 1],
            TermKind::Blank | TermKind::Literal => self.spelling,
        };
        let offset = self.at + usize::from(self.kind == TermKind::Iri);
        let text = std::str::from_utf8(text).map_err(|error| {
            let byte = error.valid_up_to();
            LineFault::new(offset + byte, "a term is not UTF-8")
                .expected("text in UTF-8", &text[byte..])
                .hint("convert the file with  iconv")
        })?;
        if !text.contains('\\') {
            // Language tags are the same in any case.
            return Ok(match (self.kind, text.rfind('"')) {
                (TermKind::Literal, Some(end)) => with_tag(&text[..=end], &text[end + 1..]),
                _ => text.to_owned(),
            });
        }
        if self.kind == TermKind::Literal {
            let end = text.rfind('"').unwrap_or(text.len() - 1);
            let value = unescape(&text[..=end], offset, true)?;
            let tag = unescape(&text[end + 1..], offset + end + 1, false)?;
            return Ok(with_tag(&value, &tag));
        }
        unescape(text, offset, false)
    }
}

fn with_tag(value: &str, tag: &str) -> String {
    match tag.strip_prefix("^^<").and_then(|tag| tag.strip_suffix('>')) {
        Some(kind) => format!("{value}^^{kind}"),
        None => format!("{value}{}", tag.to_ascii_lowercase()),
    }
}

/// Resolves escapes: `\uXXXX` and `\UXXXXXXXX` everywhere, the short ones in literals.
fn unescape(text: &str, offset: usize, short: bool) -> Result<String, LineFault> {
    let mut word = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let wrong = || {
            let expected = if short {
                "\\t \\b \\n \\r \\f \\\" \\' \\\\ \\uXXXX or \\UXXXXXXXX"
            } else {
                "\\uXXXX or \\UXXXXXXXX"
            };
            let shown: String = rest[at..].chars().take(10).collect();
            LineFault::new(offset + text.len() - rest.len() + at, "an escape is none of N-Triples")
                .expected(expected, shown.as_bytes())
        };
        word.push_str(&rest[..at]);
        let escape = rest[at..].chars().nth(1).ok_or_else(wrong)?;
        let (character, length) = match escape {
            'u' | 'U' => {
                let digits = if escape == 'u' { 4 } else { 8 };
                let hex = rest
                    .get(at + 2..at + 2 + digits)
                    .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
                    .ok_or_else(wrong)?;
                (
                    u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).ok_or_else(wrong)?,
                    2 + digits,
                )
            }
            _ if short => {
                let plain = "tbnrf\"'\\"
                    .find(escape)
                    .and_then(|at| "\t\u{8}\n\r\u{c}\"'\\".chars().nth(at));
                (plain.ok_or_else(wrong)?, 2)
            }
            _ => return Err(wrong()),
        };
        word.push(character);
        rest = &rest[at + length..];
    }
    word.push_str(rest);
    Ok(word)
}

/// Walks over the terms of a line.
pub(super) struct Terms<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Terms<'a> {
    pub fn new(line: &'a [u8]) -> Terms<'a> {
        Terms { line, at: 0 }
    }

    /// Whether nothing but a comment follows.
    pub fn at_end(&mut self) -> bool {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        matches!(self.line.get(self.at), None | Some(b'#'))
    }

    fn rest(&self) -> &'a [u8] {
        &self.line[self.at.min(self.line.len())..]
    }

    /// Subject, relation and object, up to the end of the line.
    pub fn statement(&mut self) -> Result<(Term<'a>, Term<'a>, Term<'a>), LineFault> {
        let subject =
            self.term("the subject", "<IRI> or _:name", &[TermKind::Iri, TermKind::Blank])?;
        let predicate = self.term("the relation", "<IRI>", &[TermKind::Iri])?;
        let object = self.term(
            "the object",
            "<IRI>, _:name or \"literal\"",
            &[TermKind::Iri, TermKind::Blank, TermKind::Literal],
        )?;
        if self.at_end() || self.rest().first() != Some(&b'.') {
            let fault = LineFault::new(self.at, "a statement does not end in a full stop")
                .expected("` .` behind the object", self.rest());
            return Err(fault.hint(
                "end each line with  ` .` ; if the last line is cut short, download the file again",
            ));
        }
        self.at += 1;
        match self.at_end() {
            true => Ok((subject, predicate, object)),
            false => {
                let fault = LineFault::new(self.at, "a line goes on behind its full stop")
                    .expected("the end of the line, or a comment", self.rest());
                Err(fault.hint(
                    "a statement has three terms; if this is N-Quads or Turtle, convert it:  \
                     rapper -i turtle -o ntriples FILE",
                ))
            }
        }
    }

    fn term(
        &mut self,
        what: &str,
        expected: &str,
        kinds: &[TermKind],
    ) -> Result<Term<'a>, LineFault> {
        let ended = self.at_end();
        let wrong = |at: usize, found: &[u8]| {
            let fault = LineFault::new(at, format!("{what} of a statement is none of N-Triples"))
                .expected(expected, found);
            fault.hint("if this is Turtle or RDF/XML, convert it:  rapper -g -o ntriples FILE")
        };
        let rest = self.rest();
        let (kind, length) = match rest {
            _ if ended => return Err(wrong(self.at, b"")),
            [b'<', ..] => (TermKind::Iri, iri(rest)),
            [b'_', b':', ..] => (TermKind::Blank, blank(rest)),
            [b'"', ..] => (TermKind::Literal, literal(rest)),
            _ => return Err(wrong(self.at, rest)),
        };
        let Some(length) = length.filter(|_| kinds.contains(&kind)) else {
            return Err(wrong(self.at, rest));
        };
        let term = Term { kind, spelling: &rest[..length], at: self.at };
        self.at += length;
        Ok(term)
    }
}

/// The length of `<...>`.
fn iri(text: &[u8]) -> Option<usize> {
    let end =
        text.iter().skip(1).position(|byte| matches!(byte, b'>' | b'<' | b'"' | 0..=b' '))? + 1;
    // An IRI that looks like a blank node would be taken for it.
    (text[end] == b'>' && end > 1 && !text.starts_with(b"<_:")).then_some(end + 1)
}

/// The length of `_:name`; a full stop at its end is the statement's.
fn blank(text: &[u8]) -> Option<usize> {
    let end = text
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t' | b'<' | b'"'))
        .unwrap_or(text.len());
    let end = if text[..end].ends_with(b".") { end - 1 } else { end };
    (end > 2).then_some(end)
}

/// The length of `"..."`, with `@language` or `^^<type>` behind it.
fn literal(text: &[u8]) -> Option<usize> {
    let mut end = 1;
    loop {
        match text.get(end)? {
            b'\\' => end += 2,
            b'"' => break,
            _ => end += 1,
        }
    }
    end += 1;
    match &text[end..] {
        [b'@', tag @ ..] => {
            let length = tag
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'-'))
                .unwrap_or(tag.len());
            (length > 0).then_some(end + 1 + length)
        }
        [b'^', b'^', kind @ ..] if kind.first() == Some(&b'<') => Some(end + 2 + iri(kind)?),
        [b'^', ..] => None,
        _ => Some(end),
    }
}
