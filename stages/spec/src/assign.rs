//! assign: overrides of a pipeline file: `--set KEY=VALUE`, and one value of each axis of its
//! matrix.
//!
//! promises  a path is checked against the known settings before any value is assigned; its
//!           mistakes point into the text of the override
//! never     decodes a value: overrides are decoded with the file, strictly
use crate::{
    field::{FieldDoc, Shape},
    mistake::{MistakeKind, quote},
    node::{Key, Node, Span, Value},
    reader::{Reader, WrittenForm, join_path},
    tree::{Origin, parse},
};

/// A value assigned to a path.
pub(crate) struct Assignment {
    /// The path as it was written.
    pub name: Key,
    /// Its names; below a setting with free names the rest is one name, with its dots.
    pub path: Vec<Key>,
    pub value: Node,
}

/// Parses `KEY=VALUE`; the first override has number 1. None after a mistake was reported.
pub(crate) fn read_override(
    text: &str,
    number: u32,
    reader: &mut Reader<'_>,
) -> Option<Assignment> {
    let origin = Origin { source: number, column: 0 };
    let Some((name, value)) = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty() && !name.contains(['\n', '\r']))
    else {
        let span = origin.span(1, 0, text.chars().count());
        let hint = match text.split_once(':') {
            Some((name, value)) => format!("write  --set {}={}", name.trim(), value.trim()),
            None => "for example  --set run.epochs=50".into(),
        };
        let label = if text.starts_with('=') {
            "expected a name before `=`"
        } else {
            "expected `=` and a value after the name"
        };
        let mistake =
            reader.place(span).mistake(MistakeKind::Syntax, "--set takes KEY=VALUE", label);
        reader.report(span, mistake.hint(hint));
        return None;
    };
    let length = name.chars().count();
    let key = Key { text: name.to_string(), span: origin.span(1, 0, length) };
    reader.meant.insert(key.text.clone());
    let column = u32::try_from(length + 1).unwrap_or(u32::MAX);
    let value = parse(value, Origin { source: number, column }, reader)?;
    let path = resolve_path(&key, &value, WrittenForm::Override, reader)?;
    Some(Assignment { name: key, path, value })
}

/// Checks a dotted path against the known settings and splits it into names.
pub(crate) fn resolve_path(
    key: &Key,
    value: &Node,
    written: WrittenForm,
    reader: &mut Reader<'_>,
) -> Option<Vec<Key>> {
    let names = split_path(key);
    let mut fields = reader.top;
    let mut above = String::new();
    for (index, name) in names.iter().enumerate() {
        if name.text.is_empty() {
            let mistake = reader.place(key.span).mistake(
                MistakeKind::Syntax,
                format!("{} is not a path", quote(&key.text)),
                "expected names with one dot between them",
            );
            reader.report(key.span, mistake.hint("for example  run.epochs"));
            return None;
        }
        let Some(field) = fields.iter().find(|field| field.name == name.text) else {
            reader.report_unknown_key(name, value, &above, fields, written);
            return None;
        };
        above = join_path(&above, field.name);
        let rest = &names[index + 1..];
        let Some(next) = rest.first() else { break };
        match field.shape.value_shape() {
            Shape::Section(inner) | Shape::OneOf(inner) => fields = inner,
            Shape::Map(_) | Shape::Matrix => {
                let text = rest.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".");
                let length = rest.last().map_or(next.span.length, |last| {
                    last.span.column + last.span.length - next.span.column
                });
                let tail = Key { text, span: Span { length, ..next.span } };
                return Some(names[..=index].iter().cloned().chain([tail]).collect());
            }
            leaf => {
                let what = format!("{} has no settings of its own", quote(&above));
                let mistake = reader.place(next.span).mistake(
                    MistakeKind::UnknownKey,
                    what,
                    format!("{} is {}", quote(&above), leaf.noun()),
                );
                let listed = matches!((leaf, &value.value), (Shape::List(_), Value::Scalar { .. }));
                let value =
                    if listed { format!("['{}']", value.flow_text()) } else { value.flow_text() };
                let hint = format!("write  {}", written.typed_text(&above, &value));
                reader.report(next.span, mistake.hint(hint));
                return None;
            }
        }
    }
    Some(names)
}

/// The names of a dotted path, each with its place.
fn split_path(key: &Key) -> Vec<Key> {
    let written_plainly = key.span.length as usize == key.text.chars().count();
    let mut column = key.span.column;
    let names = key.text.split('.').map(|text| {
        let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let span = if written_plainly {
            Span { column, length: length.max(1), ..key.span }
        } else {
            key.span
        };
        column = column.saturating_add(length).saturating_add(1);
        Key { text: text.to_string(), span }
    });
    names.collect()
}

/// Assigns a value in the tree. A choice between sections takes the new one; a value that is not a
/// mapping stays and is reported when it is decoded.
pub(crate) fn assign_value(node: &mut Node, path: &[Key], shape: &Shape, value: &Node) {
    let Some((first, rest)) = path.split_first() else {
        *node = value.clone();
        return;
    };
    if crate::reader::is_empty_value(node) {
        node.value = Value::Mapping(Vec::new());
    }
    let Value::Mapping(entries) = &mut node.value else { return };
    if matches!(shape.value_shape(), Shape::OneOf(_)) {
        entries.retain(|(key, _)| key.text == first.text);
    }
    let found = entries.iter().position(|(key, _)| key.text == first.text);
    let index = found.unwrap_or_else(|| {
        entries.push((first.clone(), Node::empty(first.span)));
        entries.len() - 1
    });
    let (key, inner) = &mut entries[index];
    if rest.is_empty() {
        key.span = first.span;
    }
    let field: Option<&FieldDoc> = shape.children().iter().find(|field| field.name == first.text);
    assign_value(inner, rest, field.map_or(&Shape::Scalar, |field| &field.shape), value);
}
