//! Splits a line at its separator, with fields in quotes.
//!
//! promises  a fault carries the byte at which it stands
//! reads     quotes as RFC 4180 has them ("" is one quote), but no line end inside of them
use super::{comments::is_blank, field_fault::FieldFault};
use crate::options::Options;
use std::borrow::Cow;

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// Any run of blanks and tabs.
    Blanks,
    /// This byte; blanks around a field are none of it.
    Byte(u8),
    /// These bytes one behind the other; blanks around a field are none of it.
    Sign(Sign),
}

/// Several bytes that separate together, such as `::` and `->`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    bytes: [u8; SIGN_MOST],
    length: u8,
}

/// Bytes of the longest separator.
const SIGN_MOST: usize = 15;

impl Separator {
    /// A separator of these bytes, blanks around it left out; none: it is empty, too long, or what
    /// no separator can be.
    pub fn from_bytes(text: &[u8]) -> Option<Separator> {
        match text {
            b"\t" => return Some(Separator::Byte(b'\t')),
            [_, ..] if text.iter().all(|&byte| is_blank(byte)) => return Some(Separator::Blanks),
            _ => {}
        }
        match text.trim_ascii() {
            [] => None,
            text if text.len() > SIGN_MOST
                || text.iter().any(|byte| matches!(byte, b'"' | b'\n' | b'\r')) =>
            {
                None
            }
            [byte] => Some(Separator::Byte(*byte)),
            text => {
                let mut sign = Sign { bytes: [0; SIGN_MOST], length: text.len() as u8 };
                sign.bytes[..text.len()].copy_from_slice(text);
                Some(Separator::Sign(sign))
            }
        }
    }

    /// The one that the options name.
    pub fn from_options(options: &Options) -> Result<Option<Separator>, FieldFault> {
        let Some(text) = &options.separator else { return Ok(None) };
        let hint = "write it in the catalogue's entry as it stands between columns:  read: \
                    {separator: \"::\"}";
        let fault = || {
            FieldFault::new(0, "this is no separator of columns", hint)
                .against(format!("1 to {SIGN_MOST} signs, no quote among them"), text.as_bytes())
        };
        Separator::from_bytes(text.as_bytes()).map(Some).ok_or_else(fault)
    }

    /// Whether numbers are read so without being told what separates them.
    pub fn is_usual(self) -> bool {
        matches!(self, Separator::Blanks | Separator::Byte(b'\t' | b',' | b';' | b'|' | b':'))
    }

    /// The bytes of a separator; none where any blank is one.
    fn bytes(&self) -> &[u8] {
        match self {
            Separator::Blanks => &[],
            Separator::Byte(byte) => std::slice::from_ref(byte),
            Separator::Sign(sign) => &sign.bytes[..usize::from(sign.length)],
        }
    }

    /// How long the separator is with which this text begins; 0: it begins with none.
    fn length_at(&self, text: &[u8]) -> usize {
        let own = self.bytes();
        if text.starts_with(own) { own.len() } else { 0 }
    }

    /// Where the first separator begins.
    fn find(&self, text: &[u8]) -> Option<usize> {
        match self {
            Separator::Blanks => text.iter().position(|&byte| is_blank(byte)),
            Separator::Byte(own) => text.iter().position(|byte| byte == own),
            Separator::Sign(_) => {
                text.windows(self.bytes().len()).position(|window| window == self.bytes())
            }
        }
    }
}

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Its first byte in the text, without quotes.
    pub at: usize,
    pub bytes: &'a [u8],
    pub quoted: bool,
}

/// The most columns of a table: what a line may cost is bounded.
const COLUMNS_MOST: usize = 1 << 16;

const QUOTE_HINT: &str = "a field in quotes ends on its line, and a quote inside of it is doubled";

impl<'a> Field<'a> {
    /// Its text; doubled quotes are one.
    pub fn text(&self) -> Cow<'a, [u8]> {
        let doubled = self.quoted && self.bytes.windows(2).any(|pair| pair == b"\"\"");
        if !doubled {
            return Cow::Borrowed(self.bytes);
        }
        let mut text = Vec::with_capacity(self.bytes.len());
        let mut bytes = self.bytes.iter();
        while let Some(&byte) = bytes.next() {
            text.push(byte);
            if byte == b'"' {
                bytes.next();
            }
        }
        Cow::Owned(text)
    }
}

/// Signs that separate words, if nothing else does.
const SIGNS: [&[u8]; 4] = [b"::", b"||", b"->", b"=>"];

/// The separator of a line, outside of quotes: tab, else what stands between numbers if no blank
/// stands in a column then, else one of `SIGNS` likewise, else the first of `, ; |`, else blanks;
/// `:` where nothing else separates.
pub fn detect_separator(line: &[u8]) -> Separator {
    let mut inside = false;
    let mut outside = Vec::with_capacity(line.len().min(1 << 12));
    for &byte in &line[..line.len().min(1 << 16)] {
        inside ^= byte == b'"';
        if !inside {
            outside.push(byte);
        }
    }
    let text = outside.trim_ascii();
    if text.contains(&b'\t') {
        return Separator::Byte(b'\t');
    }
    if let Some(sign) = detect_sign(text) {
        return sign;
    }
    if let Some(&byte) = text.iter().find(|byte| matches!(byte, b',' | b';' | b'|')) {
        return Separator::Byte(byte);
    }
    if text.contains(&b' ') || !text.contains(&b':') {
        Separator::Blanks
    } else {
        Separator::Byte(b':')
    }
}

/// An unusual separator: what stands between the first two numbers, or one of `SIGNS`.
fn detect_sign(text: &[u8]) -> Option<Separator> {
    if text.iter().any(|byte| matches!(byte, b',' | b';')) {
        return None;
    }
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let begin = digits(text);
    let between = text[begin..]
        .iter()
        .position(u8::is_ascii_digit)
        .filter(|_| begin > 0)
        .map_or(&[][..], |length| &text[begin..begin + length])
        .trim_ascii();
    // Signs of numbers, comments and words do not separate by themselves, nor does a sign of a
    // number that follows.
    let separates = |byte: &u8| {
        byte.is_ascii_punctuation() && !matches!(byte, b'.' | b'_' | b'#' | b'%' | b'\'')
    };
    let is_of_number = matches!(between, [.., b'-' | b'+']) && between != b"--";
    let is_sign = !between.is_empty()
        && between.iter().all(separates)
        && !is_of_number
        && !matches!(between, [b':' | b'|']);
    let has = |sign: &[u8]| text.windows(sign.len()).any(|window| window == sign);
    let known =
        SIGNS.into_iter().find(|sign| has(sign) && (sign.contains(&b'|') || !text.contains(&b'|')));
    let separator = Separator::from_bytes(if is_sign { between } else { known? })?;
    let mut rest = text;
    loop {
        let end = separator.find(rest).unwrap_or(rest.len());
        if rest[..end].trim_ascii().iter().any(|&byte| is_blank(byte)) {
            return None;
        }
        match separator.length_at(&rest[end..]) {
            0 => return Some(separator),
            length => rest = &rest[end + length..],
        }
    }
}

/// Splits the line that `text[start..end]` is, without its line end.
pub fn split_fields<'a>(
    text: &'a [u8],
    start: usize,
    end: usize,
    separator: Separator,
    fields: &mut Vec<Field<'a>>,
) -> Result<(), FieldFault> {
    fields.clear();
    let blank = |at: usize| is_blank(text[at]) && separator != Separator::Byte(text[at]);
    let mut end = end;
    while end > start && blank(end - 1) {
        end -= 1;
    }
    let mut at = start;
    loop {
        while at < end && blank(at) {
            at += 1;
        }
        if at == end && (separator == Separator::Blanks || fields.is_empty()) {
            return Ok(());
        }
        if fields.len() == COLUMNS_MOST {
            let fault = FieldFault::new(
                at,
                "a line has too many columns",
                "is this a table with an edge or a node a line?",
            );
            return Err(fault.against(format!("at most {COLUMNS_MOST}"), b"more"));
        }
        let closes = |at: usize| at >= end || blank(at) || separator.length_at(&text[at..end]) > 0;
        if at < end && text[at] == b'"' {
            let quote = closing_quote(text, at, end).ok_or_else(|| unclosed(text, at, end))?;
            fields.push(Field { at: at + 1, bytes: &text[at + 1..quote], quoted: true });
            at = quote + 1;
            if !closes(at) {
                return Err(FieldFault::new(
                    at,
                    "edge list has text behind a field in quotes",
                    QUOTE_HINT,
                )
                .against("the next separator", &text[at..end]));
            }
        } else {
            let stop = separator.find(&text[at..end]).map_or(end, |length| at + length);
            let bytes = &text[at..stop];
            let trailing = bytes.iter().rev().take_while(|byte| is_blank(**byte)).count();
            fields.push(Field { at, bytes: &bytes[..bytes.len() - trailing], quoted: false });
            at = stop;
        }
        if separator != Separator::Blanks {
            while at < end && blank(at) {
                at += 1;
            }
            if at == end {
                return Ok(());
            }
            let length = separator.length_at(&text[at..end]);
            if length == 0 {
                return Err(FieldFault::new(
                    at,
                    "edge list has text behind a field in quotes",
                    QUOTE_HINT,
                )
                .against("the next separator", &text[at..end]));
            }
            at += length;
        }
    }
}

fn unclosed(text: &[u8], at: usize, end: usize) -> FieldFault {
    FieldFault::new(at, "edge list has a field in quotes that does not end on its line", QUOTE_HINT)
        .against("a closing quote", &text[at..end])
}

fn closing_quote(text: &[u8], open: usize, end: usize) -> Option<usize> {
    let mut at = open + 1;
    while at < end {
        match (text[at], text.get(at + 1).filter(|_| at + 1 < end)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at),
            _ => at += 1,
        }
    }
    None
}
