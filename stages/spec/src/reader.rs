//! reader: reads sections strictly and collects all mistakes.
//!
//! promises  a mistake does not stop the reading, so that all are reported at once; each says what
//!           to type instead
//! never     guesses a value: a mistake is reported even where the meaning is likely
use std::{borrow::Cow, cell::RefCell, collections::HashSet, path::PathBuf, sync::Arc};

use crate::{
    field::{FieldDoc, Shape, join_words},
    mistake::{COMMAND_LINE, Mistake, MistakeKind, Mistakes, Place, SHOWN_MAX, quote},
    nearest::nearest,
    node::{Key, Node, Span, Value},
    scalar::{Plain, resolve_plain},
    syntax,
};

/// Mistakes beyond this number are only counted; it exceeds the number shown, because mistakes are
/// sorted afterwards.
const COLLECTED_MAX: usize = 200;

/// A source text: the file, or an override.
pub(crate) struct Source<'a> {
    /// The file, or `--set`.
    pub path: String,
    /// The base of its relative paths.
    pub base: PathBuf,
    lines: Vec<&'a str>,
}

impl<'a> Source<'a> {
    pub fn new(path: impl Into<String>, base: impl Into<PathBuf>, text: &'a str) -> Self {
        Self { path: path.into(), base: base.into(), lines: syntax::split_lines(text) }
    }
}

/// The setting that is being read.
#[derive(Clone)]
pub(crate) struct SettingContext<'a> {
    /// Dotted; empty for the file as a whole.
    pub path: Cow<'a, str>,
    pub field: &'a FieldDoc,
    /// The place of its name.
    pub key: Span,
}

impl<'a> SettingContext<'a> {
    /// A setting one level down.
    pub fn inner<'b>(&'b self, field: &'b FieldDoc, key: Span) -> SettingContext<'b> {
        SettingContext { path: join_path(&self.path, field.name).into(), field, key }
    }

    /// The name of the setting in a sentence.
    pub fn name(&self) -> String {
        if self.path.is_empty() { "a pipeline file".into() } else { quote(&self.path) }
    }
}

/// `a.b`, or `b` at the top.
pub(crate) fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// The form in which a path of settings was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenForm {
    /// As nested names of the file.
    File,
    /// Dotted, in a `--set`.
    Override,
    /// Dotted, in a matrix.
    Axis,
}

impl WrittenForm {
    /// A setting with a value, in this form.
    pub fn typed_text(self, path: &str, value: &str) -> String {
        match self {
            Self::File => {
                format!("{}  or pass  --set {path}={}", nested_flow(path, value), shell(value))
            }
            Self::Override => format!("--set {path}={}", shell(value)),
            Self::Axis => format!("matrix: {{{path}: {value}}}"),
        }
    }
}

/// A field of a section with its value.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'f, 'n> {
    pub field: &'f FieldDoc,
    /// The place of its name.
    pub key: Span,
    pub node: &'n Node,
}

/// A line of a source.
#[derive(Default)]
struct Line {
    /// The source, and the line from 1.
    number: (u32, u32),
    text: Arc<str>,
    /// Characters without white space at the end.
    width: u32,
}

/// The sources, and the mistakes so far.
pub(crate) struct Reader<'a> {
    pub sources: Vec<Source<'a>>,
    /// The fields of the file itself, for hints about other levels.
    pub top: &'a [FieldDoc],
    /// The line of the last place: a list of many entries is on one.
    last_line: RefCell<Line>,
    mistakes: Vec<(Span, Mistake)>,
    seen: HashSet<Mistake>,
    left_out: usize,
    /// Paths that a misspelt name probably meant: they are not also reported as missing.
    pub meant: HashSet<String>,
}

impl<'a> Reader<'a> {
    pub fn new(sources: Vec<Source<'a>>, top: &'a [FieldDoc]) -> Self {
        Self {
            sources,
            top,
            last_line: RefCell::default(),
            mistakes: Vec::new(),
            seen: HashSet::new(),
            left_out: 0,
            meant: HashSet::new(),
        }
    }

    /// The place for users.
    pub fn place(&self, span: Span) -> Place {
        let source = &self.sources[(span.source as usize).min(self.sources.len() - 1)];
        let mut last = self.last_line.borrow_mut();
        let number = (span.source, span.line);
        if last.number != number {
            let text = source.lines.get(span.line as usize - 1).copied().unwrap_or("");
            let width = u32::try_from(text.trim_end().chars().count()).unwrap_or(u32::MAX);
            *last = Line { number, text: text.into(), width };
        }
        let room = last.width.saturating_sub(span.column - 1);
        Place {
            path: source.path.clone(),
            line: span.line,
            column: span.column,
            excerpt: Arc::clone(&last.text),
            length: span.length.min(room).max(1),
        }
    }

    /// Adds a mistake, once.
    pub fn report(&mut self, span: Span, mistake: Mistake) {
        if self.mistakes.len() >= COLLECTED_MAX {
            self.left_out += 1;
        } else if self.seen.insert(mistake.clone()) {
            self.mistakes.push((span, mistake));
        }
    }

    /// Whether there are mistakes so far.
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// Whether further mistakes would not be shown.
    pub fn is_full(&self) -> bool {
        self.mistakes.len() >= COLLECTED_MAX
    }

    /// The value, or the mistakes if there are any, in the order of the text.
    pub fn finish<T>(mut self, value: T) -> Result<T, Mistakes> {
        if self.mistakes.is_empty() {
            return Ok(value);
        }
        self.mistakes.sort_by_key(|(span, _)| *span);
        let left_out = self.left_out + self.mistakes.len().saturating_sub(SHOWN_MAX);
        Err(Mistakes {
            shown: self.mistakes.into_iter().take(SHOWN_MAX).map(|(_, mistake)| mistake).collect(),
            left_out,
        })
    }

    /// The entries of a section; unknown names and missing fields are reported.
    pub fn section<'f, 'n>(
        &mut self,
        node: &'n Node,
        at: &SettingContext<'_>,
        fields: &'f [FieldDoc],
    ) -> Option<Vec<Entry<'f, 'n>>> {
        let entries: &[(Key, Node)] = match &node.value {
            Value::Mapping(entries) => entries,
            _ if is_empty_value(node) => &[],
            _ => {
                self.report_wrong_type(node, at, None);
                return None;
            }
        };
        let known = self.known_entries(entries, at, fields);
        for field in fields {
            if !known.iter().any(|entry| entry.field.name == field.name) {
                self.report_missing(at, field, true);
            }
        }
        Some(known)
    }

    /// Reports a missing required field, here or one level down; `given`: the section itself is
    /// present.
    fn report_missing(&mut self, at: &SettingContext<'_>, field: &FieldDoc, given: bool) {
        let path = join_path(&at.path, field.name);
        if let Shape::Section(inner) = &field.shape {
            let at = SettingContext { path: path.into(), field, key: at.key };
            inner.iter().for_each(|field| self.report_missing(&at, field, false));
            return;
        }
        let Some(example) = field.example else { return };
        if self.meant.contains(&path) {
            return;
        }
        let (section, line) = match (at.path.is_empty(), given) {
            (true, _) => ("at the top level".to_string(), format!("{}: {example}", field.name)),
            (_, true) => (
                format!("in {}", at.name()),
                format!("{}: {example}  in the section {}", field.name, at.path),
            ),
            (_, false) => (format!("in {}", at.name()), nested_flow(&path, example)),
        };
        let what = format!("{} is missing", quote(&path));
        let mistake = self.place(at.key).mistake(
            MistakeKind::Missing,
            what,
            format!("expected `{}` {section}", field.name),
        );
        self.report(at.key, mistake.hint(format!("add  {line}  or pass  --set {path}={example}")));
    }

    /// The one entry of a choice between sections.
    pub fn only_entry<'f, 'n>(
        &mut self,
        node: &'n Node,
        at: &'f SettingContext<'_>,
    ) -> Option<Entry<'f, 'n>> {
        let fields = at.field.shape.children();
        let first = fields.first().map_or("", |field| field.name);
        let Value::Mapping(entries) = &node.value else {
            let near = match &node.value {
                Value::Scalar { text, .. } => nearest(text, fields.iter().map(|field| field.name)),
                _ => None,
            };
            let hint = format!(
                "write  {}",
                self.sample_text(at, &format!("{{{}: {{}}}}", near.unwrap_or(first)), node.span)
            );
            self.report_wrong_type(node, at, Some(hint));
            return None;
        };
        match self.known_entries(entries, at, fields).as_slice() {
            [] if entries.is_empty() => {
                let hint = format!(
                    "write  {}",
                    self.sample_text(at, &format!("{{{first}: {{}}}}"), node.span)
                );
                self.report_wrong_type(node, at, Some(hint));
                None
            }
            [] => None,
            [one] => Some(*one),
            [one, other, ..] => {
                let what = format!("{} takes one of its sections, not several", at.name());
                let label = format!("expected {}", at.field.shape.noun());
                let mistake = self
                    .place(other.key)
                    .mistake(MistakeKind::Duplicate, what, label)
                    .with_earlier(self.place(one.key), "given first here");
                self.report(other.key, mistake.hint("keep one of them"));
                None
            }
        }
    }

    /// The entries with known names; reports others.
    fn known_entries<'f, 'n>(
        &mut self,
        entries: &'n [(Key, Node)],
        at: &SettingContext<'_>,
        fields: &'f [FieldDoc],
    ) -> Vec<Entry<'f, 'n>> {
        let mut known = Vec::with_capacity(entries.len());
        for (key, node) in entries {
            match fields.iter().find(|field| field.name == key.text) {
                Some(field) => known.push(Entry { field, key: key.span, node }),
                None => self.report_unknown_key(key, node, &at.path, fields, WrittenForm::File),
            }
        }
        known
    }

    /// The index of the word among the names.
    pub fn choice(
        &mut self,
        node: &Node,
        at: &SettingContext<'_>,
        names: &[&str],
    ) -> Option<usize> {
        let Value::Scalar { text, quoted: in_quotes } = &node.value else {
            self.report_wrong_type(node, at, None);
            return None;
        };
        let text = match resolve_plain(text) {
            Plain::Null if !in_quotes => {
                self.report_no_value(at);
                return None;
            }
            Plain::Bool(true) => "true",
            Plain::Bool(false) => "false",
            _ => text.as_str(),
        };
        if let Some(index) = names.iter().position(|name| *name == text) {
            return Some(index);
        }
        let all = join_words(names.iter().copied());
        let boolean = boolean_meant(text).filter(|word| names.contains(word));
        // `f1_macro` is a kind of `f1`.
        let part = || {
            names.iter().copied().find(|name| {
                text.split(['_', '-', ' ', '.']).any(|part| part.eq_ignore_ascii_case(name))
            })
        };
        let (label, hint) =
            match boolean.or_else(|| nearest(text, names.iter().copied())).or_else(part) {
                Some(name) => {
                    (format!("did you mean `{name}`?"), format!("{} takes {all}", quote(&at.path)))
                }
                None => (
                    format!("expected {all}"),
                    format!("write  {}", self.sample_text(at, names[0], node.span)),
                ),
            };
        let what = format!("{} does not know {}", at.name(), quote(text));
        let mistake = self.place(node.span).mistake(MistakeKind::UnknownValue, what, label);
        self.report(node.span, mistake.hint(hint));
        None
    }

    /// Reports a name that no setting of the section has.
    pub fn report_unknown_key(
        &mut self,
        key: &Key,
        node: &Node,
        section: &str,
        fields: &[FieldDoc],
        written: WrittenForm,
    ) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let names = || fields.iter().map(|field| field.name);
        let elsewhere = paths_ending_in(&key.text, self.top);
        let value = Some(node.flow_text())
            .filter(|text| !text.is_empty() && text.len() < 60)
            .unwrap_or_else(|| "VALUE".into());
        let no_space =
            key.text.split_once(':').filter(|(name, _)| names().any(|known| known == *name));
        let valid = if fields.is_empty() {
            "it has no settings yet".into()
        } else {
            format!("expected {}", join_words(names()))
        };
        let (label, hint) = if let Some((name, value)) = no_space {
            (format!("a space is missing after `{name}:`"), Some(format!("write  {name}: {value}")))
        } else if let Some(path) = elsewhere.first() {
            let sections = elsewhere
                .iter()
                .map(|path| path.rsplit_once('.').map_or("the top level", |(above, _)| above));
            (
                format!("it belongs in {}", join_words(sections)),
                Some(format!("write  {}", written.typed_text(path, &value))),
            )
        } else if let Some(near) = nearest(&key.text, names()) {
            self.meant.insert(join_path(section, near));
            (
                format!("did you mean `{near}`?"),
                Some(format!("write  {}", self.corrected_text(key.span, near, &value, written))),
            )
        } else if matches!(section, "" | "plan" | "run")
            && (written != WrittenForm::File || matches!(node.value, Value::Scalar { .. }))
        {
            let typed = written.typed_text(&format!("plan.set.{}", key.text), &value);
            (valid, Some(format!("a setting of the program is under plan.set:  {typed}")))
        } else {
            let paths = setting_paths(self.top);
            let near = nearest(
                &key.text,
                paths.iter().map(|path| path.rsplit('.').next().unwrap_or(path)),
            );
            let path = near
                .and_then(|name| paths.iter().find(|path| path.rsplit('.').next() == Some(name)));
            (valid, path.map(|path| format!("there is a setting  {path}")))
        };
        let what = format!("{} has no setting {}", place_name(section), quote(&key.text));
        let mut mistake = self.place(key.span).mistake(MistakeKind::UnknownKey, what, label);
        mistake.hint = hint;
        self.report(key.span, mistake);
    }

    /// The written text, with another name at the place.
    fn corrected_text(&self, span: Span, name: &str, value: &str, written: WrittenForm) -> String {
        if written == WrittenForm::File {
            return format!("{name}: {value}");
        }
        let place = self.place(span);
        let letters = |from: usize, count: usize| {
            place.excerpt.chars().skip(from).take(count).collect::<String>()
        };
        let (start, end) =
            (span.column as usize - 1, span.column as usize - 1 + span.length as usize);
        let text = format!("{}{name}{}", letters(0, start), letters(end, usize::MAX));
        if span.source > 0 { format!("--set {}", shell(&text)) } else { text.trim().to_string() }
    }

    /// Reports a value of another type; without a hint, the default gives one.
    pub fn report_wrong_type(
        &mut self,
        node: &Node,
        at: &SettingContext<'_>,
        hint: Option<String>,
    ) {
        if is_empty_value(node) {
            return self.report_no_value(at);
        }
        let wanted = at.field.shape.noun();
        let what = if at.path.is_empty() {
            "this is not a pipeline file".to_string()
        } else {
            format!("wrong type for {}", at.name())
        };
        let sweep = matches!(node.value, Value::Sequence(_))
            && at.field.shape.children().is_empty()
            && !matches!(
                at.field.shape,
                Shape::Map(_) | Shape::List(_) | Shape::WordOrEntries(..) | Shape::Matrix
            );
        let pair = match (&at.field.shape, &node.value) {
            (Shape::Section(_), Value::Scalar { text, .. }) => syntax::pair_meant(text),
            _ => None,
        };
        let hint = match hint.or(pair.map(|pair| format!("write  {pair}"))) {
            Some(hint) => hint,
            None if sweep && !at.path.is_empty() => format!(
                "to run several values one after the other:  matrix: {{{}: {}}}",
                at.path,
                node.flow_text()
            ),
            None => format!(
                "for example  {}",
                self.sample_text(at, &example_value(at.field), node.span)
            ),
        };
        let mistake = self.place(node.span).mistake(
            MistakeKind::WrongType,
            what,
            format!("expected {wanted}, found {}", describe_found(node)),
        );
        self.report(node.span, mistake.hint(hint));
    }

    /// Reports a name without a value.
    pub fn report_no_value(&mut self, at: &SettingContext<'_>) {
        let mistake = self.place(at.key).mistake(
            MistakeKind::WrongType,
            format!("{} has no value", at.name()),
            format!("expected {}", at.field.shape.noun()),
        );
        let default = default_text(at.field);
        let hint = match (at.field.example, default) {
            (None, Some(default)) => {
                format!(
                    "write  {}  (its default), or remove it",
                    self.sample_text(at, &default, at.key)
                )
            }
            _ => format!("for example  {}", self.sample_text(at, &example_value(at.field), at.key)),
        };
        self.report(at.key, mistake.hint(hint));
    }

    /// Reports a number outside its range.
    pub fn report_out_of_range(&mut self, node: &Node, at: &SettingContext<'_>, range: &str) {
        let mut mistake = self.place(node.span).mistake(
            MistakeKind::OutOfRange,
            format!("{} is out of range", at.name()),
            format!("expected {range}, found {}", describe_found(node)),
        );
        mistake.hint = at.field.hint.map(str::to_string).or_else(|| {
            Some(format!(
                "for example  {}",
                self.sample_text(at, &example_value(at.field), node.span)
            ))
        });
        self.report(node.span, mistake);
    }

    /// The setting with a value, in the form of the source of the span.
    pub fn sample_text(&self, at: &SettingContext<'_>, value: &str, span: Span) -> String {
        // An entry of a list has no path of its own on the command line.
        if !at.path.contains('[')
            && self
                .sources
                .get(span.source as usize)
                .is_some_and(|source| source.path == COMMAND_LINE)
        {
            return format!("--set {}={}", at.path, shell(value));
        }
        match at.path.rsplit('.').next() {
            Some(name) if !name.is_empty() => format!("{name}: {value}"),
            _ => value.to_string(),
        }
    }
}

/// Whether there is no value after the colon.
pub(crate) fn is_empty_value(node: &Node) -> bool {
    let Value::Scalar { text, quoted: false } = &node.value else { return false };
    resolve_plain(text) == Plain::Null
}

/// Describes a value for a sentence.
pub(crate) fn describe_found(node: &Node) -> String {
    match &node.value {
        Value::Scalar { quoted: false, .. } if is_empty_value(node) => "nothing".into(),
        Value::Scalar { text, quoted: true } => format!("the text {}", quote(text)),
        Value::Scalar { text, .. } => quote(text),
        Value::Sequence(items) if items.is_empty() => "an empty list".into(),
        Value::Sequence(_) => "a list".into(),
        Value::Mapping(entries) if entries.is_empty() => "nothing in the braces".into(),
        Value::Mapping(_) => "names with values".into(),
    }
}

/// The boolean of YAML 1.2 that an older word for it meant.
pub(crate) fn boolean_meant(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" | "1" => Some("true"),
        "no" | "off" | "n" | "0" => Some("false"),
        _ => None,
    }
}

/// A valid value of the field.
fn example_value(field: &FieldDoc) -> String {
    if let Some(example) = field.example {
        return example.into();
    }
    match &field.shape {
        Shape::Section(fields) => match fields.first() {
            Some(first) => format!("{{{}: {}}}", first.name, example_value(first)),
            None => "{}".into(),
        },
        Shape::OneOf(fields) => {
            fields.first().map_or_else(String::new, |first| format!("{{{}: {{}}}}", first.name))
        }
        Shape::List(_) => "['*.weight']".into(),
        Shape::Map(_) => "{name: value}".into(),
        Shape::Matrix => "{plan.set.hidden: [16, 64]}".into(),
        Shape::Optional(inner) => match (&**inner, field.range) {
            (Shape::File, _) => "start.safetensors".into(),
            (_, Some(range)) => range.low.to_string(),
            _ => "VALUE".into(),
        },
        Shape::Scalar => "64".into(),
        _ => default_text(field).unwrap_or_else(|| "VALUE".into()),
    }
}

/// The default as it is typed.
pub(crate) fn default_text(field: &FieldDoc) -> Option<String> {
    match &field.default {
        serde_json::Value::String(word) if !word.is_empty() => Some(word.clone()),
        serde_json::Value::Number(number) => {
            Some(number.to_string().trim_end_matches(".0").to_string())
        }
        serde_json::Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The name of a section in a sentence.
fn place_name(section: &str) -> String {
    if section.is_empty() { "the top level".into() } else { quote(section) }
}

/// A text as a shell argument, quoted if needed.
pub fn shell(text: &str) -> String {
    let plain = text.chars().all(|letter| letter.is_alphanumeric() || "._-/:=,+".contains(letter));
    if plain { text.to_string() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// `a.b` with a value in YAML on one line: `a: {b: value}`.
fn nested_flow(path: &str, value: &str) -> String {
    let names: Vec<&str> = path.split('.').collect();
    let open = names.join(": {");
    format!("{open}: {value}{}", "}".repeat(names.len() - 1))
}

/// The dotted paths of all settings, sections included.
pub(crate) fn setting_paths(fields: &[FieldDoc]) -> Vec<String> {
    let mut paths = Vec::new();
    for field in fields {
        paths.push(field.name.to_string());
        paths.extend(
            setting_paths(field.shape.children())
                .into_iter()
                .map(|path| join_path(field.name, &path)),
        );
    }
    paths
}

/// The paths whose last name is this one.
pub(crate) fn paths_ending_in(name: &str, fields: &[FieldDoc]) -> Vec<String> {
    setting_paths(fields).into_iter().filter(|path| path.rsplit('.').next() == Some(name)).collect()
}
