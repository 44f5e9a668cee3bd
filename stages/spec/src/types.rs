//! types: the types of settings: how each is decoded, documented and described.
//!
//! promises  decoded numbers are in their range and finite; paths are resolved against the folder
//!           of their source
//! never     touches the file system
use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value as Json;

use crate::{
    field::{FieldDoc, Shape, sorted_object},
    mistake::{MistakeKind, Place, quote},
    node::{Node, Value},
    reader::{Reader, SettingContext, boolean_meant, describe_found, is_empty_value, join_path},
    scalar::{Plain, resolve_plain},
};

/// A type of a setting.
pub(crate) trait FieldType: Sized {
    /// Its description.
    fn shape() -> Shape;
    /// Its value; none after a mistake was reported.
    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self>;
    /// The value in documents.
    fn document(&self) -> Json;
}

/// A vertex program: a file and the function in it that is the entry.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The file, resolved against the YAML file or the current folder.
    pub file: PathBuf,
    /// The entry: the name after `:`, else the file's name without `.py`.
    pub entry: String,
    /// The place of the program's name, for later errors.
    pub place: Place,
}

impl PartialEq for Program {
    /// Compares programs without their places.
    fn eq(&self, other: &Self) -> bool {
        (&self.file, &self.entry) == (&other.file, &other.entry)
    }
}

/// The settings of a program, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    list: Vec<Setting>,
}

impl Settings {
    /// All of them, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Setting> {
        self.list.iter()
    }

    /// The setting of this name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.list.iter().find(|setting| setting.name == name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<N: Into<String>> FromIterator<(N, Scalar)> for Settings {
    /// Settings without a place in a file.
    fn from_iter<I: IntoIterator<Item = (N, Scalar)>>(pairs: I) -> Self {
        let setting = |(name, value): (N, Scalar)| {
            let (name, written) = (name.into(), value.words());
            Setting {
                name,
                value,
                written,
                name_place: Place::default(),
                value_place: Place::default(),
            }
        };
        Self { list: pairs.into_iter().map(setting).collect() }
    }
}

impl<'a> IntoIterator for &'a Settings {
    type Item = &'a Setting;
    type IntoIter = std::slice::Iter<'a, Setting>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A setting of a program.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The parameter of the entry.
    pub name: String,
    /// Its value.
    pub value: Scalar,
    /// Its text as written, or those of the items of a list: `1e5` and `0x10` may be ids. None for
    /// nested lists.
    pub written: Option<Vec<Word>>,
    /// The place of its name, for later errors.
    pub name_place: Place,
    /// The place of its value, for later errors.
    pub value_place: Place,
}

/// A text as it was written.
#[derive(Clone, Debug)]
pub struct Word {
    /// The text.
    pub text: String,
    /// Its place.
    pub place: Place,
}

impl PartialEq for Setting {
    /// Compares settings without their places.
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.value) == (&other.name, &other.value)
    }
}

/// A value of a program's setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// A number without point or exponent.
    Whole(i64),
    /// A finite number with point or exponent.
    Real(f64),
    /// A text.
    Text(String),
    /// A list, for a tuple of the program.
    List(Vec<Scalar>),
}

impl Scalar {
    /// The text of a value, or of each item of a list; none for nested lists.
    fn words(&self) -> Option<Vec<Word>> {
        let word = |value: &Scalar| Some(Word { text: value.word()?, place: Place::default() });
        match self {
            Scalar::List(items) => items.iter().map(word).collect(),
            value => word(value).map(|word| vec![word]),
        }
    }

    fn word(&self) -> Option<String> {
        match self {
            Scalar::Bool(value) => Some(value.to_string()),
            Scalar::Whole(number) => Some(number.to_string()),
            Scalar::Real(number) => Some(number.to_string()),
            Scalar::Text(text) => Some(text.clone()),
            Scalar::List(_) => None,
        }
    }
}

/// The text of a value as written, or of each item of a list; none for nested lists.
fn written_words(node: &Node, reader: &Reader<'_>) -> Option<Vec<Word>> {
    let word = |node: &Node| match &node.value {
        Value::Scalar { text, .. } => {
            Some(Word { text: text.clone(), place: reader.place(node.span) })
        }
        _ => None,
    };
    match &node.value {
        Value::Sequence(items) => items.iter().map(word).collect(),
        _ => word(node).map(|word| vec![word]),
    }
}

impl FieldType for bool {
    fn shape() -> Shape {
        Shape::Bool
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let (text, plain) = plain_scalar(node, at, reader)?;
        if let Plain::Bool(value) = plain {
            return Some(value);
        }
        let meant = boolean_meant(text).or_else(|| boolean_named(text));
        let hint = meant.map(|word| format!("write  {}", reader.sample_text(at, word, node.span)));
        reader.report_wrong_type(node, at, hint);
        None
    }

    fn document(&self) -> Json {
        Json::Bool(*self)
    }
}

/// The boolean that a quoted text such as `"true"` probably meant.
fn boolean_named(text: &str) -> Option<&'static str> {
    match resolve_plain(text) {
        Plain::Bool(true) => Some("true"),
        Plain::Bool(false) => Some("false"),
        _ => None,
    }
}

impl FieldType for u64 {
    fn shape() -> Shape {
        Shape::Whole
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let (text, plain) = plain_scalar(node, at, reader)?;
        let Plain::Whole(number) = plain else {
            let hint = integer_meant(text)
                .map(|number| format!("write  {}", reader.sample_text(at, &number, node.span)));
            reader.report_wrong_type(node, at, hint);
            return None;
        };
        let range = at.field.range;
        match u64::try_from(number) {
            // Bounds are below 2^53, where f64 is exact.
            Ok(number) if range.is_none_or(|range| range.contains(number as f64)) => Some(number),
            _ => {
                let limit = if number < 0 {
                    "at least 0".to_string()
                } else {
                    format!("at most {}", u64::MAX)
                };
                let range = range.map_or(limit, |range| range.to_string());
                reader.report_out_of_range(node, at, &range);
                None
            }
        }
    }

    fn document(&self) -> Json {
        (*self).into()
    }
}

impl FieldType for f64 {
    fn shape() -> Shape {
        Shape::Real
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let (text, plain) = plain_scalar(node, at, reader)?;
        let number = match plain {
            Plain::Whole(number) => number as f64,
            Plain::Real(number) => number,
            _ => {
                let hint = number_meant(text)
                    .map(|number| format!("write  {}", reader.sample_text(at, &number, node.span)));
                reader.report_wrong_type(node, at, hint);
                return None;
            }
        };
        let range = at.field.range;
        if number.is_finite() && range.is_none_or(|range| range.contains(number)) {
            return Some(if number == 0.0 { 0.0 } else { number });
        }
        let finite = if number.is_finite() { "" } else { "a finite number, " };
        let range = range
            .map_or_else(|| "between -1.8e308 and 1.8e308".to_string(), |range| range.to_string());
        reader.report_out_of_range(node, at, &format!("{finite}{range}"));
        None
    }

    fn document(&self) -> Json {
        (*self).into()
    }
}

impl FieldType for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let (text, _) = plain_scalar(node, at, reader)?;
        if text.is_empty() {
            reader.report_no_value(at);
            return None;
        }
        Some(text.to_string())
    }

    fn document(&self) -> Json {
        self.as_str().into()
    }
}

impl FieldType for PathBuf {
    fn shape() -> Shape {
        Shape::File
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::decode(node, at, reader)?;
        Some(reader.sources[node.span.source as usize].base.join(text))
    }

    fn document(&self) -> Json {
        self.file_name().unwrap_or_default().to_string_lossy().into()
    }
}

impl<T: FieldType> FieldType for Option<T> {
    fn shape() -> Shape {
        Shape::Optional(Box::new(T::shape()))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        if is_empty_value(node) { Some(None) } else { T::decode(node, at, reader).map(Some) }
    }

    fn document(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::document)
    }
}

impl FieldType for Vec<String> {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Text))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let field =
            FieldDoc { shape: Shape::Text, example: Some("['*.weight']"), ..at.field.clone() };
        match &node.value {
            Value::Sequence(items) => {
                let mut texts = Some(Vec::with_capacity(items.len()));
                for item in items {
                    let at =
                        SettingContext { path: at.path.clone(), field: &field, key: item.span };
                    let text = match &item.value {
                        Value::Scalar { .. } => String::decode(item, &at, reader),
                        _ => {
                            let hint = format!(
                                "for example  {}",
                                reader.sample_text(&at, "['*.weight']", item.span)
                            );
                            reader.report_wrong_type(item, &at, Some(hint));
                            None
                        }
                    };
                    texts = texts.zip(text).map(|(mut texts, text)| {
                        texts.push(text);
                        texts
                    });
                }
                texts
            }
            _ if is_empty_value(node) => Some(Vec::new()),
            Value::Scalar { text, .. } => {
                let hint =
                    format!("write  {}", reader.sample_text(at, &format!("['{text}']"), node.span));
                reader.report_wrong_type(node, at, Some(hint));
                None
            }
            Value::Mapping(_) => {
                reader.report_wrong_type(node, at, None);
                None
            }
        }
    }

    fn document(&self) -> Json {
        Json::Array(self.iter().map(|text| text.as_str().into()).collect())
    }
}

/// One value or several: each once, in the order of the documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMore<T>(Vec<T>);

impl<T: Ord> OneOrMore<T> {
    /// These, each once, in their order.
    pub fn from_values(values: impl IntoIterator<Item = T>) -> Self {
        let mut values: Vec<T> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        Self(values)
    }
}

impl<T> std::ops::Deref for OneOrMore<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: FieldType + Ord> FieldType for OneOrMore<T> {
    fn shape() -> Shape {
        Shape::OneOrMore(Box::new(T::shape()))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let field = FieldDoc { shape: T::shape(), ..at.field.clone() };
        let each = SettingContext { path: at.path.clone(), field: &field, key: at.key };
        match &node.value {
            Value::Sequence(items) if items.is_empty() => {
                reader.report_no_value(at);
                None
            }
            Value::Sequence(items) => {
                // All are decoded before a failure is returned, so that every mistake is reported.
                let values: Vec<Option<T>> =
                    items.iter().map(|item| T::decode(item, &each, reader)).collect();
                values.into_iter().collect::<Option<Vec<T>>>().map(Self::from_values)
            }
            _ => T::decode(node, &each, reader).map(|value| Self::from_values([value])),
        }
    }

    fn document(&self) -> Json {
        match self.0.as_slice() {
            [one] => one.document(),
            several => several.iter().map(T::document).collect(),
        }
    }
}

impl FieldType for BTreeMap<String, String> {
    fn shape() -> Shape {
        Shape::Map(Box::new(Shape::Text))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut map = Self::new();
        for_each_entry(node, at, reader, |name, node, at, reader| {
            if let Some(text) = String::decode(node, at, reader) {
                map.insert(name.to_string(), text);
            }
        })?;
        Some(map)
    }

    fn document(&self) -> Json {
        sorted_object(self.iter().map(|(name, text)| (name.clone(), text.as_str().into())))
    }
}

impl FieldType for Settings {
    fn shape() -> Shape {
        Shape::Map(Box::new(Shape::Scalar))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut list = Vec::new();
        for_each_entry(node, at, reader, |name, node, at, reader| {
            if let Some(value) = Scalar::decode(node, at, reader) {
                let (name_place, value_place) = (reader.place(at.key), reader.place(node.span));
                list.push(Setting {
                    name: name.to_string(),
                    value,
                    written: written_words(node, reader),
                    name_place,
                    value_place,
                });
            }
        })?;
        Some(Self { list })
    }

    fn document(&self) -> Json {
        sorted_object(
            self.list.iter().map(|setting| (setting.name.clone(), setting.value.document())),
        )
    }
}

impl FieldType for Scalar {
    fn shape() -> Shape {
        Shape::Scalar
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::Sequence(items) = &node.value {
            return items
                .iter()
                .map(|item| Self::decode(item, at, reader))
                .collect::<Option<Vec<_>>>()
                .map(Self::List);
        }
        let (text, plain) = plain_scalar(node, at, reader)?;
        match plain {
            Plain::Bool(value) => return Some(Self::Bool(value)),
            Plain::Whole(number) => match i64::try_from(number) {
                Ok(number) => return Some(Self::Whole(number)),
                Err(_) => {
                    reader.report_out_of_range(node, at, &format!("{} to {}", i64::MIN, i64::MAX))
                }
            },
            Plain::Real(number) if number.is_finite() => return Some(Self::Real(number)),
            Plain::Real(_) => reader.report_out_of_range(node, at, "a finite number"),
            Plain::Text | Plain::Null => return Some(Self::Text(text.to_string())),
        }
        None
    }

    fn document(&self) -> Json {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Whole(number) => (*number).into(),
            Self::Real(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::document).collect(),
        }
    }
}

impl FieldType for Program {
    fn shape() -> Shape {
        Shape::Program
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::decode(node, at, reader)?;
        let (file, entry) = match text.rsplit_once(".py:") {
            Some((stem, entry)) => (format!("{stem}.py"), Some(entry.to_string())),
            None => (text.clone(), None),
        };
        let file = PathBuf::from(file);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wrong = match &entry {
            Some(entry) if !is_identifier(entry) => {
                Some(format!("expected the name of a function after `:`, found {}", quote(entry)))
            }
            _ if file.extension().is_none_or(|extension| extension != "py") => Some(format!(
                "expected a program, FILE.py or FILE.py:NAME, found {}",
                describe_found(node)
            )),
            _ => None,
        };
        if let Some(label) = wrong {
            let what = format!("{} does not name a program", at.name());
            let mistake = reader.place(node.span).mistake(MistakeKind::WrongType, what, label);
            let hint = format!(
                "for example  {}",
                reader.sample_text(at, at.field.example.unwrap_or("program.py"), node.span)
            );
            reader.report(node.span, mistake.hint(hint));
            return None;
        }
        let file = reader.sources[node.span.source as usize].base.join(file);
        Some(Self { file, entry: entry.unwrap_or(stem), place: reader.place(node.span) })
    }

    fn document(&self) -> Json {
        format!("{}:{}", self.file.file_name().unwrap_or_default().to_string_lossy(), self.entry)
            .into()
    }
}

/// The axes of a matrix; they are removed from the tree before it is decoded (see `matrix`).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Axes;

impl FieldType for Axes {
    fn shape() -> Shape {
        Shape::Matrix
    }

    fn decode(_: &Node, _: &SettingContext<'_>, _: &mut Reader<'_>) -> Option<Self> {
        Some(Self)
    }

    fn document(&self) -> Json {
        sorted_object([])
    }
}

/// A word in a document; booleans among the words of a choice stay booleans.
pub(crate) fn word(name: &str) -> Json {
    match name {
        "true" => true.into(),
        "false" => false.into(),
        _ => name.into(),
    }
}

/// The text of a scalar and its meaning; a quoted one is a text.
fn plain_scalar<'n>(
    node: &'n Node,
    at: &SettingContext<'_>,
    reader: &mut Reader<'_>,
) -> Option<(&'n str, Plain)> {
    match &node.value {
        Value::Scalar { text, quoted: true } => Some((text, Plain::Text)),
        Value::Scalar { text, .. } => match resolve_plain(text) {
            Plain::Null => {
                reader.report_no_value(at);
                None
            }
            plain => Some((text, plain)),
        },
        _ => {
            reader.report_wrong_type(node, at, None);
            None
        }
    }
}

/// Calls a function for each entry of a mapping with free names.
fn for_each_entry<'r>(
    node: &Node,
    at: &SettingContext<'_>,
    reader: &mut Reader<'r>,
    mut each: impl FnMut(&str, &Node, &SettingContext<'_>, &mut Reader<'r>),
) -> Option<()> {
    let shape = match &at.field.shape {
        Shape::Map(inner) => (**inner).clone(),
        other => other.clone(),
    };
    let field = FieldDoc { shape, default: Json::Null, ..at.field.clone() };
    match &node.value {
        Value::Mapping(entries) => {
            for (key, node) in entries {
                let at = SettingContext {
                    path: join_path(&at.path, &key.text).into(),
                    field: &field,
                    key: key.span,
                };
                each(&key.text, node, &at, reader);
            }
            Some(())
        }
        _ if is_empty_value(node) => Some(()),
        _ => {
            reader.report_wrong_type(node, at, None);
            None
        }
    }
}

/// The number that a text with quotes, underscores, commas, a point or a unit probably meant.
fn number_meant(text: &str) -> Option<String> {
    let digits: String =
        text.chars().filter(|letter| !matches!(letter, '_' | ' ' | '\'')).collect();
    let digits = digits.trim_end_matches('f').to_string();
    matches!(resolve_plain(&digits), Plain::Whole(_) | Plain::Real(_)).then_some(digits)
}

/// The integer that a text probably meant, also from 1e3, 5.0, 1,000 and 16k.
fn integer_meant(text: &str) -> Option<String> {
    let digits: String =
        text.chars().filter(|letter| !matches!(letter, '_' | ',' | ' ' | '\'')).collect();
    let (digits, factor) = match digits.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => match digits.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => (digits.as_str(), 1.0),
        },
    };
    let number = match resolve_plain(digits) {
        Plain::Whole(number) if factor == 1.0 => return (number >= 0).then(|| number.to_string()),
        Plain::Whole(number) => number as f64 * factor,
        Plain::Real(number) => number * factor,
        _ => return None,
    };
    // An exact integer: below 2^53.
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then(|| format!("{number:.0}"))
}

/// Whether a text is a valid Python identifier.
fn is_identifier(text: &str) -> bool {
    let begins = text.chars().next().is_some_and(|letter| letter.is_alphabetic() || letter == '_');
    begins && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}
