//! field: the description of a setting: name, type, unit, range, default and explanation.
//!
//! promises  one description for each field, from which decoding, JSON Schema, `--help` and every
//!           hint are generated
//! never     reads a file or a value (`reader` and `types` do)
use std::fmt;

use serde_json::Value as Json;

/// The settings of one stage, with every field resolved.
pub trait Spec {
    /// Every field with its resolved value, keys sorted: the part of a cache key.
    ///
    /// Paths are reduced to file names, because a key must not depend on the folder of a file; the
    /// stage adds the digest of its contents.
    fn document(&self) -> Json;

    /// The fields in the order in which they are declared.
    fn fields() -> Vec<FieldDoc>;
}

/// The description of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDoc {
    /// The key in YAML.
    pub name: &'static str,
    /// What it means, one or more sentences.
    pub doc: String,
    /// Its type.
    pub shape: Shape,
    /// Its default, as in documents.
    pub default: Json,
    /// The range of a number.
    pub range: Option<Range>,
    /// What a number counts or measures.
    pub unit: Option<&'static str>,
    /// The hint for a value out of range.
    pub hint: Option<&'static str>,
    /// An example value of a setting without a default.
    pub example: Option<&'static str>,
}

/// The type of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// `true` or `false`.
    Bool,
    /// A whole number from 0 to 2^64 - 1.
    Whole,
    /// A finite number.
    Real,
    /// A text; a number is taken as its written text.
    Text,
    /// A path.
    File,
    /// `FILE.py` or `FILE.py:NAME`.
    Program,
    /// A number, a text, a boolean or a list of them.
    Scalar,
    /// One of a list of words.
    Choice(Vec<ChoiceDoc>),
    /// A list of values of one type.
    List(Box<Shape>),
    /// A value, or a list of several.
    OneOrMore(Box<Shape>),
    /// A word, or a list of sections.
    WordOrEntries(Box<Shape>, Vec<FieldDoc>),
    /// Free names, each with a value of one type.
    Map(Box<Shape>),
    /// A value or nothing.
    Optional(Box<Shape>),
    /// Settings one level down.
    Section(Vec<FieldDoc>),
    /// Exactly one of the fields, each of them a section.
    OneOf(Vec<FieldDoc>),
    /// Dotted paths of settings, each with a list of values.
    Matrix,
}

/// One word of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceDoc {
    /// The word in YAML.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// The range of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub low: f64,
    /// Whether the lower bound is exclusive.
    pub low_open: bool,
    /// The upper bound; none: no limit.
    pub high: Option<f64>,
    /// Whether the upper bound is exclusive.
    pub high_open: bool,
    /// The number must be a multiple of this; 0: any number.
    pub step: u64,
}

impl Range {
    /// `low <= x <= high`.
    pub const fn closed(low: f64, high: f64) -> Self {
        Self { low, low_open: false, high: Some(high), high_open: false, step: 0 }
    }

    /// `low <= x`.
    pub const fn at_least(low: f64) -> Self {
        Self { low, low_open: false, high: None, high_open: false, step: 0 }
    }

    /// `low < x`.
    pub const fn more_than(low: f64) -> Self {
        Self { low, low_open: true, high: None, high_open: false, step: 0 }
    }

    /// `low <= x < high`.
    pub const fn half_open(low: f64, high: f64) -> Self {
        Self { low, low_open: false, high: Some(high), high_open: true, step: 0 }
    }

    /// The same range, for multiples of `step`.
    pub const fn multiple_of(self, step: u64) -> Self {
        Self { step, ..self }
    }

    /// Whether the number is in the range.
    pub fn contains(&self, number: f64) -> bool {
        let even = self.step == 0 || number % self.step as f64 == 0.0;
        let above = if self.low_open { number > self.low } else { number >= self.low };
        let below = self
            .high
            .is_none_or(|high| if self.high_open { number < high } else { number <= high });
        above && below && even
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.step > 0 {
            write!(out, "a multiple of {}, ", self.step)?;
        }
        let least = if self.low_open { "more than" } else { "at least" };
        match self.high {
            None => write!(out, "{least} {}", self.low),
            Some(high) if self.low == high => write!(out, "{high}"),
            Some(high) if self.low_open || self.high_open => {
                let most = if self.high_open { "less than" } else { "at most" };
                write!(out, "{least} {} and {most} {high}", self.low)
            }
            Some(high) => write!(out, "{} to {high}", self.low),
        }
    }
}

impl Shape {
    /// The name of the type in messages, with its article.
    pub fn noun(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".into(),
            Self::Whole => "a whole number".into(),
            Self::Real => "a number".into(),
            Self::Text => "a text".into(),
            Self::File => "a path".into(),
            Self::Program => "a program, FILE.py or FILE.py:NAME".into(),
            Self::Scalar => "a number, a text, a boolean or a list of them".into(),
            Self::Choice(words) => {
                format!("one of {}", join_words(words.iter().map(|word| word.name)))
            }
            Self::List(_) => "a list".into(),
            Self::OneOrMore(inner) => format!("{}, or a list of them", inner.noun()),
            Self::WordOrEntries(word, fields) => format!(
                "{}, or a list of entries with {}",
                word.noun(),
                join_words(fields.iter().map(|field| field.name)).replace(" or ", " and ")
            ),
            Self::Map(_) | Self::Matrix => "names with values".into(),
            Self::Optional(inner) => inner.noun(),
            Self::Section(_) => "a section of settings".into(),
            Self::OneOf(fields) => {
                format!("exactly one of {}", join_words(fields.iter().map(|field| field.name)))
            }
        }
    }

    /// The type of a present value.
    pub fn value_shape(&self) -> &Shape {
        if let Self::Optional(inner) = self { inner.value_shape() } else { self }
    }

    /// The type of one value, where there may be several.
    pub fn element_shape(&self) -> &Shape {
        if let Self::OneOrMore(inner) | Self::WordOrEntries(inner, _) = self { inner } else { self }
    }

    /// The fields of a section.
    pub fn children(&self) -> &[FieldDoc] {
        match self {
            Self::Section(fields) | Self::OneOf(fields) => fields,
            Self::Optional(inner) => inner.children(),
            _ => &[],
        }
    }
}

impl fmt::Display for FieldDoc {
    /// Two lines for `--help`: name, type, range, unit and default; then the explanation.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.name, self.shape.noun().replace('`', ""))?;
        if let Some(range) = self.range {
            write!(out, ", {range}")?;
        }
        if let Some(unit) = self.unit {
            write!(out, ", {unit}")?;
        }
        match (&self.default, self.example) {
            (_, Some(example)) => write!(out, " (required, for example {example})")?,
            (Json::String(word), _) => write!(out, " (default {word})")?,
            (Json::Null, _) => {}
            (default, _) => write!(out, " (default {default})")?,
        }
        write!(out, "\n    {}", self.doc)
    }
}

/// A JSON object with sorted keys, whichever map type serde_json has.
pub(crate) fn sorted_object(pairs: impl IntoIterator<Item = (String, Json)>) -> Json {
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by(|left, right| left.0.cmp(&right.0));
    Json::Object(pairs.into_iter().collect())
}

/// `a`, `b` or `c`.
pub(crate) fn join_words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => "nothing".into(),
        Some((only, [])) => only.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
    }
}

/// The lines of a doc comment as one paragraph.
pub(crate) fn paragraph(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
