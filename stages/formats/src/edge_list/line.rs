//! The lines of an edge list: byte by byte, without a copy.
//!
//! promises  a fault carries the byte at which it stands
//! never     allocates per line, unless ids are words that were not seen before
use super::{Ids, LINE_MOST, Shape};
use std::collections::HashMap;

/// The edges of some lines.
pub struct Piece {
    pub ends: Ends,
    /// One an edge, or none at all.
    pub weight: Vec<f32>,
}

/// Sources and targets in the data set's own ids.
pub enum Ends {
    Narrow(Vec<[u32; 2]>),
    Wide(Vec<[u64; 2]>),
    /// Distinct words in the order of their first use, and edges by index into them.
    Words {
        words: Vec<String>,
        pairs: Vec<[u32; 2]>,
    },
}

/// What is wrong and where.
pub struct Fault {
    pub byte: usize,
    pub what: &'static str,
    pub expected: String,
    pub found: String,
    pub hint: &'static str,
}

const ID_HINT: &str = "if ids are words, add  --set ingest.ids=string ; if this line names the columns, put # before it";
const WEIGHT_HINT: &str = "to read the first two columns alone, put  read: {weight: none}  into the catalogue's entry";

impl Piece {
    pub fn is_empty(&self) -> bool {
        self.ends.len() == 0
    }
}

impl Ends {
    pub fn len(&self) -> usize {
        match self {
            Ends::Narrow(pairs) => pairs.len(),
            Ends::Wide(pairs) => pairs.len(),
            Ends::Words { pairs, .. } => pairs.len(),
        }
    }
}

impl Fault {
    fn new(byte: usize, what: &'static str, hint: &'static str) -> Fault {
        Fault { byte, what, expected: String::new(), found: String::new(), hint }
    }

    fn against(self, expected: impl Into<String>, found: &[u8]) -> Fault {
        let clipped = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        let found = if found.is_empty() { "the end of the line".into() } else { format!("`{clipped}`") };
        Fault { expected: expected.into(), found, ..self }
    }

    pub fn too_long(byte: usize) -> Fault {
        let fault = Fault::new(byte, "a line is too long", "is this a text file with an edge a line?");
        Fault { expected: format!("at most {} MiB", LINE_MOST >> 20), found: "more".into(), ..fault }
    }
}

/// How many lines end in `text`, with one more for a last line without end.
pub fn count(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
    ends + u64::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

/// Columns of the first line that is an edge, as far as 3; none if there is no such line.
pub fn columns(text: &[u8]) -> Option<u8> {
    let line = text.split(|&byte| byte == b'\n').find(|line| !is_blank_or_comment(line))?;
    let mut columns = Columns { text: line, at: 0 };
    let count = std::iter::from_fn(|| columns.next()).take(3).count();
    Some((count as u8).max(2))
}

fn is_blank_or_comment(line: &[u8]) -> bool {
    line.iter().find(|&&byte| !is_blank(byte)).is_none_or(|&byte| byte == b'#' || byte == b'%')
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

fn ends_column(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b';')
}

/// Walks over the columns of one line; `text` may go on behind it.
struct Columns<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Columns<'a> {
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(b'\n')
    }

    fn skip_blanks(&mut self) {
        while is_blank(self.byte()) {
            self.at += 1;
        }
    }

    /// Skips blanks with at most one comma or semicolon among them; whether there was one.
    fn skip_separator(&mut self) -> bool {
        self.skip_blanks();
        let separated = matches!(self.byte(), b',' | b';');
        if separated {
            self.at += 1;
            self.skip_blanks();
        }
        separated
    }

    fn at_end(&self) -> bool {
        self.byte() == b'\n'
    }

    /// The bytes up to the next separator; empty at the end of the line or between two commas.
    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while !ends_column(self.byte()) {
            self.at += 1;
        }
        &self.text[start.min(self.text.len())..self.at.min(self.text.len())]
    }

    /// A whole number; `None` leaves `at` where the column begins.
    fn number(&mut self) -> Option<u64> {
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
        let fits = digits <= 19 || std::str::from_utf8(&self.text[start..self.at]).is_ok_and(|word| word.parse::<u64>().is_ok());
        if digits > 0 && fits && ends_column(self.byte()) {
            return Some(value);
        }
        self.at = start;
        None
    }
}

impl<'a> Iterator for Columns<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_separator();
        (!self.at_end()).then(|| self.word())
    }
}

/// Parses whole lines.
pub fn parse(text: &[u8], shape: Shape) -> Result<Piece, Fault> {
    match shape.ids {
        Ids::Auto | Ids::Number => parse_numbers(text, shape),
        Ids::String => parse_words(text, shape),
    }
}

/// Calls `edge` at the first column of every line that is an edge; `edge` reads two ids, the rest is read here.
fn each_line<'a>(text: &'a [u8], shape: Shape, weight: &mut Vec<f32>, mut edge: impl FnMut(&mut Columns<'a>) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut columns = Columns { text, at: 0 };
    while columns.at < text.len() {
        let start = columns.at;
        columns.skip_blanks();
        match columns.byte() {
            b'\n' => {}
            b'#' | b'%' => columns.at += text[columns.at..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - columns.at),
            _ => {
                edge(&mut columns)?;
                finish_line(&mut columns, shape, weight)?;
            }
        }
        if columns.at - start > LINE_MOST {
            return Err(Fault::too_long(start));
        }
        columns.at += 1;
    }
    Ok(())
}

/// Reads what follows the two ids.
fn finish_line(columns: &mut Columns, shape: Shape, weight: &mut Vec<f32>) -> Result<(), Fault> {
    let separated = columns.skip_separator();
    match shape.columns {
        Some(2) if columns.at_end() && !separated => {}
        Some(2) => {
            return Err(Fault::new(columns.at, "edge list has a line with more columns than its first", WEIGHT_HINT).against("2 columns", columns.word()));
        }
        Some(_) => {
            weight.push(read_weight(columns)?);
            if columns.skip_separator() || !columns.at_end() {
                return Err(Fault::new(columns.at, "edge list has more than three columns", WEIGHT_HINT).against("2 or 3 columns", columns.word()));
            }
        }
        None => {
            columns.at += columns.text[columns.at.min(columns.text.len())..].iter().position(|&byte| byte == b'\n').unwrap_or(columns.text.len() - columns.at)
        }
    }
    Ok(())
}

fn read_weight(columns: &mut Columns) -> Result<f32, Fault> {
    let start = columns.at;
    let word = columns.word();
    if word.is_empty() {
        return Err(Fault::new(start, "edge list has a line without a weight, unlike its first", WEIGHT_HINT).against("a number", word));
    }
    match std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok()) {
        Some(weight) if weight.is_finite() => Ok(weight),
        Some(_) => Err(Fault::new(start, "edge list has a weight that is not finite", WEIGHT_HINT).against("a finite number", word)),
        None => Err(Fault::new(start, "edge list has a weight that is not a number", WEIGHT_HINT).against("a number", word)),
    }
}

/// The fault of an id that is not one.
fn bad_id(columns: &mut Columns, end: &'static str) -> Fault {
    let start = columns.at;
    let word = columns.word();
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let negative = word.len() > 1 && word[0] == b'-' && word[1..].iter().all(u8::is_ascii_digit);
    let (what, hint) = match (end, word) {
        ("source", []) => ("edge list has a line without a source", "write  SOURCE TARGET  on every line"),
        (_, []) => ("edge list has a line without a target", "write  SOURCE TARGET  on every line"),
        _ if digits => ("edge list has an id that is too large", "ids are at most 18446744073709551615; as words they may be longer:  --set ingest.ids=string"),
        _ if negative => ("edge list has a negative id", "ids are whole numbers from 0; as words they may be anything:  --set ingest.ids=string"),
        ("source", _) => ("edge list has a source that is not a number", ID_HINT),
        _ => ("edge list has a target that is not a number", ID_HINT),
    };
    Fault::new(start, what, hint).against("a node id (0 to 18446744073709551615)", word)
}

fn parse_numbers(text: &[u8], shape: Shape) -> Result<Piece, Fault> {
    // A line of two short ids takes about 12 bytes; too small a guess costs one more growth.
    let mut narrow: Vec<[u32; 2]> = Vec::with_capacity(text.len() / 12);
    let mut wide: Vec<[u64; 2]> = Vec::new();
    let mut weight = Vec::new();
    each_line(text, shape, &mut weight, |columns| {
        let source = columns.number().ok_or_else(|| bad_id(columns, "source"))?;
        columns.skip_separator();
        let target = columns.number().ok_or_else(|| bad_id(columns, "target"))?;
        if (source | target) >> 32 == 0 && wide.is_empty() {
            narrow.push([source as u32, target as u32]);
        } else {
            if wide.is_empty() {
                wide = narrow.iter().map(|&[source, target]| [u64::from(source), u64::from(target)]).collect();
                narrow = Vec::new();
            }
            wide.push([source, target]);
        }
        Ok(())
    })?;
    let ends = if wide.is_empty() { Ends::Narrow(narrow) } else { Ends::Wide(wide) };
    Ok(Piece { ends, weight })
}

fn parse_words(text: &[u8], shape: Shape) -> Result<Piece, Fault> {
    let mut words: Vec<String> = Vec::new();
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut pairs = Vec::new();
    let mut weight = Vec::new();
    each_line(text, shape, &mut weight, |columns| {
        let mut pair = [0; 2];
        for (end, index) in ["source", "target"].into_iter().zip(&mut pair) {
            let start = columns.at;
            let word = columns.word();
            *index = match known.get(word) {
                Some(&index) => index,
                None if word.is_empty() => return Err(bad_id(columns, end)),
                None => {
                    let owned = std::str::from_utf8(word).map_err(|_| {
                        Fault::new(start, "edge list has an id that is not UTF-8", "convert the file with  iconv").against("text in UTF-8", word)
                    })?;
                    words.push(owned.to_string());
                    known.insert(word, words.len() as u32 - 1);
                    words.len() as u32 - 1
                }
            };
            if end == "source" {
                columns.skip_separator();
            }
        }
        pairs.push(pair);
        Ok(())
    })?;
    Ok(Piece { ends: Ends::Words { words, pairs }, weight })
}
