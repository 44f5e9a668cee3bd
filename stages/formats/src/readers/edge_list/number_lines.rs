//! Lines of two whole numbers and perhaps a weight.
//!
//! promises  a fault carries the byte at which it stands; a line is read fast
//!           (text/fast_numbers.rs) only where a careful reading gives the same
//! never     allocates per line
use super::parsed_lines::{ParsedEnds, ParsedLines};
use crate::{
    f32_rounding::RoundedIntegers,
    options::Options,
    text::{
        blocks::LINE_MOST,
        comments::is_comment,
        fast_numbers::{fast_number, fast_weight, line_end},
        field_fault::FieldFault,
        number_columns::ColumnScan,
        numbers::{PADDED_BESIDE_HINT, PADDED_HINT, is_padded, parse_whole},
    },
};

const ID_HINT: &str = "if ids are words, add  --set ingest.ids=string ; if this line names the \
                       columns, put # before it";
pub const WEIGHT_HINT: &str = "to read the first two columns alone, add  --set ingest.weights=drop";
pub const DICTIONARY: &str = "edge list has a dictionary of attributes where a weight should stand";
/// The same in the second column.
pub const DICTIONARY_AS_TARGET: &str =
    "edge list has a dictionary of attributes where the target should stand";
/// Of what `networkx.write_edgelist` writes behind an edge.
pub const DICTIONARY_HINT: &str = "write the weights alone:  nx.write_weighted_edgelist(g, \
    \"g.txt\") ; or no data at all:  nx.write_edgelist(g, \"g.txt\", data=False)";
/// Of a word where a weight should stand.
const WORD_HINT: &str = "if a column names relations, say which in a first line:  \
                         source,target,relation  or  head,relation,tail ; to read the first two \
                         columns alone, add  --set ingest.weights=drop";

/// How every line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberColumns {
    /// 2 or 3; `None`: at least 2, of which two are read.
    pub columns: Option<u8>,
    /// Whether a colon separates, too.
    pub colon: bool,
    /// Whether `007` is no id.
    pub exact: bool,
}

/// A plain line: two numbers, a byte between them, the weight if there is one, and the end of the
/// line; or whatever else, if it is not read.
#[inline(always)]
fn fast_line(text: &[u8], at: usize, columns: Option<u8>) -> Option<([u64; 2], f32, usize)> {
    let separates = |at: usize| matches!(text.get(at), Some(b'\t' | b' ' | b',' | b';' | b'|'));
    let (source, end) = fast_number(text, at)?;
    if !separates(end) {
        return None;
    }
    let (target, end) = fast_number(text, end + 1)?;
    if columns == Some(2) {
        return line_end(text, end).map(|next| ([source, target], 0.0, next));
    }
    if columns.is_none() {
        let next = line_end(text, end).or_else(|| {
            Some(end + text[end..].iter().position(|&byte| byte == b'\n')? + 1)
                .filter(|_| separates(end))
        });
        return next
            .filter(|next| next - at <= LINE_MOST)
            .map(|next| ([source, target], 0.0, next));
    }
    if !separates(end) {
        return None;
    }
    let (weight, end) = fast_weight(text, end + 1)?;
    line_end(text, end).map(|next| ([source, target], weight, next))
}

/// Parses whole lines.
pub fn parse(text: &[u8], shape: NumberColumns) -> Result<ParsedLines, FieldFault> {
    // A line of two short ids takes about 12 bytes; too small a guess costs one more growth.
    let mut narrow: Vec<[u32; 2]> = Vec::with_capacity(text.len() / 12);
    let mut wide: Vec<[u64; 2]> = Vec::new();
    let mut weight: Vec<f32> =
        Vec::with_capacity(if shape.columns == Some(3) { text.len() / 14 } else { 0 });
    let (mut lines, mut rounded) = (0, RoundedIntegers::default());
    let mut columns = ColumnScan { text, at: 0, colon: shape.colon };
    while columns.at < text.len() {
        lines += 1;
        let pair = match fast_line(text, columns.at, shape.columns) {
            Some((pair, number, next)) => {
                columns.at = next;
                if shape.columns == Some(3) {
                    weight.push(number);
                }
                pair
            }
            None => match careful_line(&mut columns, shape)? {
                Some((pair, word)) => {
                    if let (Some(Weight { word, read }), Some(3)) = (word, shape.columns) {
                        rounded.check(lines, word, read);
                        weight.push(read);
                    }
                    pair
                }
                None => continue,
            },
        };
        if (pair[0] | pair[1]) >> 32 == 0 && wide.is_empty() {
            narrow.push(pair.map(|id| id as u32));
        } else {
            wide.extend(narrow.drain(..).map(|pair| pair.map(u64::from)));
            wide.push(pair);
        }
    }
    let ends = if wide.is_empty() { ParsedEnds::Narrow(narrow) } else { ParsedEnds::Wide(wide) };
    Ok(ParsedLines { weight, lines, rounded, ..ParsedLines::new(ends) })
}

/// A weight and the word for it.
struct Weight<'a> {
    word: &'a [u8],
    read: f32,
}

/// The ids of an edge, and its weight if it has one.
type Line<'a> = ([u64; 2], Option<Weight<'a>>);

/// Any line, byte by byte, with its weight if it has one; none: it holds no edge.
#[cold]
fn careful_line<'a>(
    columns: &mut ColumnScan<'a>,
    shape: NumberColumns,
) -> Result<Option<Line<'a>>, FieldFault> {
    let start = columns.at;
    columns.skip_blanks();
    let mut pair = None;
    if is_comment(&columns.text[columns.at.min(columns.text.len())..]) {
        columns.skip_line();
    } else if !columns.at_end() {
        let source = columns.number(shape.exact).ok_or_else(|| bad_id(columns, true))?;
        columns.skip_separator();
        let target = columns.number(shape.exact).ok_or_else(|| bad_id(columns, false))?;
        pair = Some(([source, target], finish_line(columns, shape)?));
    }
    if columns.at - start > LINE_MOST {
        return Err(FieldFault::too_long(start));
    }
    columns.at += 1;
    Ok(pair)
}

/// Reads what follows the two ids.
fn finish_line<'a>(
    columns: &mut ColumnScan<'a>,
    shape: NumberColumns,
) -> Result<Option<Weight<'a>>, FieldFault> {
    let separated = columns.skip_separator();
    match shape.columns {
        Some(2) if columns.at_end() && !separated => {}
        Some(2) => {
            return Err(FieldFault::new(
                columns.at,
                "edge list has a line with more columns than its first",
                WEIGHT_HINT,
            )
            .against("2 columns", columns.word()));
        }
        Some(_) => {
            let (start, word) = (columns.at, columns.word());
            let read = read_weight(start, word)?;
            if columns.skip_separator() || !columns.at_end() {
                return Err(FieldFault::new(
                    columns.at,
                    "edge list has more than three columns",
                    WEIGHT_HINT,
                )
                .against("2 or 3 columns", columns.word()));
            }
            return Ok(Some(Weight { word, read }));
        }
        None => columns.skip_line(),
    }
    Ok(None)
}

/// A weight from the word that begins at this byte.
pub fn read_weight(start: usize, word: &[u8]) -> Result<f32, FieldFault> {
    if word.is_empty() {
        return Err(FieldFault::new(
            start,
            "edge list has a line without a weight, unlike its first",
            WEIGHT_HINT,
        )
        .against("a number", word));
    }
    match std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok()) {
        Some(weight) if weight.is_finite() => Ok(weight),
        Some(_) => {
            Err(FieldFault::new(start, "edge list has a weight that is not finite", WEIGHT_HINT)
                .against("a finite number", word))
        }
        None if word.starts_with(b"{") => {
            Err(FieldFault::new(start, DICTIONARY, DICTIONARY_HINT).against("a weight", word))
        }
        None => {
            Err(FieldFault::new(start, "edge list has a weight that is not a number", WORD_HINT)
                .against("a number", word))
        }
    }
}

/// The fault of an id with zeros before it as it is where a table of nodes has said what ids are;
/// any other as it was.
pub fn with_table_hint(fault: FieldFault, options: &Options) -> FieldFault {
    if fault.hint != PADDED_HINT || !options.are_numbers_elsewhere() {
        return fault;
    }
    FieldFault {
        expected: "a number without them, as those of the table of nodes are".to_owned(),
        hint: PADDED_BESIDE_HINT.into(),
        ..fault
    }
}

fn bad_id(columns: &mut ColumnScan, source: bool) -> FieldFault {
    let start = columns.at;
    bad_number(start, columns.word(), source)
}

/// The fault of an id that is not one.
pub fn bad_number(start: usize, word: &[u8], source: bool) -> FieldFault {
    let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let negative = word.len() > 1 && word[0] == b'-' && word[1..].iter().all(u8::is_ascii_digit);
    let (what, hint) = match (source, word) {
        (true, []) => {
            ("edge list has a line without a source", "write  SOURCE TARGET  on every line")
        }
        (false, []) => {
            ("edge list has a line without a target", "write  SOURCE TARGET  on every line")
        }
        _ if digits && is_padded(word) && parse_whole(word).is_some() => {
            return FieldFault::new(start, "edge list has an id with zeros before it", PADDED_HINT)
                .against("a number without them, as the first ids are", word);
        }
        _ if digits => (
            "edge list has an id that is too large",
            "ids are at most 18446744073709551615; as words they may be longer:  --set \
             ingest.ids=string",
        ),
        _ if negative => (
            "edge list has a negative id",
            "ids are whole numbers from 0; as words they may be anything:  --set ingest.ids=string",
        ),
        (true, _) => ("edge list has a source that is not a number", ID_HINT),
        _ => ("edge list has a target that is not a number", ID_HINT),
    };
    FieldFault::new(start, what, hint).against("a node id (0 to 18446744073709551615)", word)
}
