//! Lines of fields behind one separator, perhaps in quotes: words as ids, and tables whose columns
//! have names.
//!
//! promises  every line has the columns that the first has; a fault names the column and carries
//!           the byte at which it stands
//! never     allocates per line, unless a word was not seen before
use super::{
    number_lines::{WEIGHT_HINT, bad_number, read_weight},
    parsed_lines::{ParsedEnds, ParsedLines, WordColumn},
};
use crate::{
    f32_rounding::RoundedIntegers,
    text::{
        blocks::LINE_MOST,
        comments::is_blank_or_comment,
        field_fault::FieldFault,
        fields::{Field, Separator, split_fields},
        numbers::parse_id,
    },
};
use std::{borrow::Cow, collections::HashMap};

/// How many fields a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Exactly(usize),
    AtLeast(usize),
}

/// Where the parts of an edge stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeColumns {
    pub separator: Separator,
    pub width: Width,
    /// Names of the columns; empty where no line names them.
    pub names: Vec<String>,
    /// Whether ids are words; else whether `007` is none.
    pub words: bool,
    pub exact: bool,
    pub source: usize,
    pub target: usize,
    pub weight: Option<usize>,
    pub relation: Option<usize>,
    /// Says `directed` or `undirected` on every line.
    pub direction: Option<usize>,
    pub features: Vec<usize>,
}

/// Gives each word a number in the order of first use.
#[derive(Default)]
struct KnownWords<'a> {
    known: HashMap<Cow<'a, [u8]>, u32>,
    words: Vec<String>,
}

impl<'a> KnownWords<'a> {
    fn index(&mut self, field: &Field<'a>) -> Result<u32, FieldFault> {
        let text = field.text();
        if let Some(&index) = self.known.get(&text) {
            return Ok(index);
        }
        let fault = || {
            FieldFault::new(
                field.at,
                "edge list has a word that is not UTF-8",
                "convert the file:  iconv -f LATIN1 -t UTF-8 FILE > NEW",
            )
        };
        let owned =
            std::str::from_utf8(&text).map_err(|_| fault().against("text in UTF-8", &text))?;
        self.words.push(owned.to_string());
        let index = self.words.len() as u32 - 1;
        self.known.insert(text, index);
        Ok(index)
    }
}

/// What is collected line by line.
#[derive(Default)]
struct EdgeFields<'a> {
    narrow: Vec<[u32; 2]>,
    wide: Vec<[u64; 2]>,
    ids: KnownWords<'a>,
    relations: KnownWords<'a>,
    relation: Vec<u32>,
    weight: Vec<f32>,
    features: Vec<f32>,
    rounded: RoundedIntegers,
}

/// Parses whole lines.
pub fn parse(
    text: &[u8],
    layout: &EdgeColumns,
    directed: Option<bool>,
) -> Result<ParsedLines, FieldFault> {
    let mut collected = EdgeFields::default();
    let mut fields = Vec::new();
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        let end = text[at..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(text.len(), |length| at + length);
        lines += 1;
        if end - at > LINE_MOST {
            return Err(FieldFault::too_long(at));
        }
        if !is_blank_or_comment(&text[at..end]) {
            split_fields(text, at, end, layout.separator, &mut fields)?;
            check_width(text, end, layout, &fields)?;
            collected.edge(layout, directed, lines, &fields)?;
        }
        at = end + 1;
    }
    let EdgeFields { narrow, wide, ids, relations, relation, weight, features, rounded } =
        collected;
    let ends = match (layout.words, wide.is_empty()) {
        (true, _) => ParsedEnds::Words { words: ids.words, pairs: narrow },
        (false, true) => ParsedEnds::Narrow(narrow),
        (false, false) => ParsedEnds::Wide(wide),
    };
    Ok(ParsedLines {
        weight,
        relation: WordColumn { words: relations.words, index: relation },
        features,
        lines,
        rounded,
        ..ParsedLines::new(ends)
    })
}

fn check_width(
    text: &[u8],
    end: usize,
    layout: &EdgeColumns,
    fields: &[Field],
) -> Result<(), FieldFault> {
    let (least, most) = match layout.width {
        Width::Exactly(width) => (width, width),
        Width::AtLeast(width) => (width, usize::MAX),
    };
    if (least..=most).contains(&fields.len()) {
        return Ok(());
    }
    if fields.len() < least {
        let (what, hint) = match (&layout.names[..], fields.len()) {
            ([], 1) => (
                "edge list has a line without a target".into(),
                "write  SOURCE TARGET  on every line",
            ),
            ([], _) => {
                ("edge list has a line without a weight, unlike its first".into(), WEIGHT_HINT)
            }
            (names, found) => (
                format!("edge list has a line without its column `{}`", names[found]),
                "every line has the columns that the first line names",
            ),
        };
        return Err(FieldFault::new(end, what, hint).against(format!("{least} columns"), b""));
    }
    let further = &fields[most];
    let hint = if layout.names.is_empty() {
        WEIGHT_HINT
    } else {
        "a field that holds the separator stands in quotes"
    };
    let shown = &text[further.at..end];
    Err(FieldFault::new(further.at, "edge list has a line with more columns than its first", hint)
        .against(format!("{most} columns"), shown.trim_ascii()))
}

impl<'a> EdgeFields<'a> {
    fn edge(
        &mut self,
        layout: &EdgeColumns,
        directed: Option<bool>,
        line: u64,
        fields: &[Field<'a>],
    ) -> Result<(), FieldFault> {
        let ends = [&fields[layout.source], &fields[layout.target]];
        if layout.words {
            if let Some(empty) = ends.iter().position(|field| field.bytes.is_empty()) {
                return Err(bad_number(ends[empty].at, b"", empty == 0));
            }
            let pair = [self.ids.index(ends[0])?, self.ids.index(ends[1])?];
            self.narrow.push(pair);
        } else {
            let source = parse_id(ends[0].bytes, layout.exact)
                .ok_or_else(|| bad_number(ends[0].at, ends[0].bytes, true))?;
            let target = parse_id(ends[1].bytes, layout.exact)
                .ok_or_else(|| bad_number(ends[1].at, ends[1].bytes, false))?;
            if (source | target) >> 32 == 0 && self.wide.is_empty() {
                self.narrow.push([source as u32, target as u32]);
            } else {
                self.wide.extend(self.narrow.drain(..).map(|pair| pair.map(u64::from)));
                self.wide.push([source, target]);
            }
        }
        if let Some(column) = layout.weight {
            let read = read_weight(fields[column].at, fields[column].bytes)?;
            self.rounded.check(line, fields[column].bytes, read);
            self.weight.push(read);
        }
        for &column in &layout.features {
            self.features.push(read_feature(&fields[column], &layout.names[column])?);
        }
        if let Some(column) = layout.relation {
            if fields[column].bytes.is_empty() {
                return Err(FieldFault::new(
                    fields[column].at,
                    "edge list has a line without a relation",
                    RELATION_HINT,
                )
                .against("a name", b""));
            }
            let relation = self.relations.index(&fields[column])?;
            self.relation.push(relation);
        }
        match layout.direction {
            Some(column) if direction(fields[column].bytes) != directed => {
                let expected = if directed == Some(true) {
                    "`Directed` as on the first line"
                } else {
                    "`Undirected` as on the first line"
                };
                Err(FieldFault::new(
                    fields[column].at,
                    "edge list has edges of both directions",
                    RELATION_HINT,
                )
                .against(expected, fields[column].bytes))
            }
            _ => Ok(()),
        }
    }
}

const RELATION_HINT: &str = "name the column of relations in the catalogue's entry:  read: \
                             {relation: NAME}  (none: there are none)";

fn read_feature(field: &Field, name: &str) -> Result<f32, FieldFault> {
    let number = std::str::from_utf8(field.bytes)
        .ok()
        .and_then(|word| word.parse::<f32>().ok())
        .filter(|number| number.is_finite());
    let hint = "features are numbers: name other columns in the catalogue's entry:  read: \
                {edge_features: [NAME]}";
    number.ok_or_else(|| {
        FieldFault::new(
            field.at,
            format!("edge list has a feature `{name}` that is not a finite number"),
            hint,
        )
        .against("a number", field.bytes)
    })
}

/// What the `Type` column of Gephi says.
pub fn direction(word: &[u8]) -> Option<bool> {
    match word.to_ascii_lowercase().as_slice() {
        b"directed" => Some(true),
        b"undirected" => Some(false),
        _ => None,
    }
}
