//! tree: YAML text as a tree in which every name and value has its place.
//!
//! promises  names of a mapping are distinct; the tree is at most `DEPTH_MAX` deep; every syntax
//!           error becomes a mistake with a place
//! never     gives a value a type (`scalar` does), follows an alias, keeps a tag
//!
//! Refused, although they are YAML: anchors, aliases and tags (a pipeline states each setting once,
//! a sweep is `matrix`), several documents, names that are lists or mappings. The parser is
//! saphyr-parser, whose events have places; it stops at its first error, so one text gives one
//! syntax mistake.
use std::{borrow::Cow, collections::HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use crate::{
    mistake::{MistakeKind, quote},
    node::{Key, Node, Span, Value},
    reader::Reader,
    syntax,
};

/// Deepest nesting of lists and mappings.
const DEPTH_MAX: usize = 32;

/// The position of a text in its source: a whole file, or the value after `KEY=`.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub source: u32,
    /// Characters before the text on its first line.
    pub column: u32,
}

impl Origin {
    /// A place in the source: line from 1, column from 0, counted in the text.
    pub fn span(self, line: usize, column: usize, length: usize) -> Span {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let line = narrow(line.max(1));
        let shift = if line == 1 { self.column } else { 0 };
        Span {
            source: self.source,
            line,
            column: narrow(column + 1).saturating_add(shift),
            length: narrow(length.max(1)),
        }
    }

    fn source_span(self, span: &saphyr_parser::Span) -> Span {
        let length = if span.end.line() == span.start.line() {
            span.end.col().saturating_sub(span.start.col())
        } else {
            usize::MAX
        };
        self.span(span.start.line(), span.start.col(), length)
    }
}

/// Parses a text; none if it is not YAML, which is reported.
pub(crate) fn parse(text: &str, origin: Origin, reader: &mut Reader<'_>) -> Option<Node> {
    if let Some((line, column)) = find_unprintable(text) {
        return refuse(
            reader,
            origin.span(line, column, 1),
            "a character is not text",
            "a control character",
            "remove it; is this a pipeline file?",
        );
    }
    let mut builder = Builder { origin, stack: Vec::new(), root: None, documents: 0 };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((event, span)) => builder.take_event(event, &span, reader)?,
            Err(error) => {
                report_fault(text, origin, &error, reader);
                return None;
            }
        }
    }
    Some(builder.root.unwrap_or_else(|| Node::empty(origin.span(1, 0, 1))))
}

/// The first control character: line from 1, column from 0.
fn find_unprintable(text: &str) -> Option<(usize, usize)> {
    let wrong = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r');
    // Most texts have none: one pass without counting lines.
    text.find(wrong)?;
    let lines = syntax::split_lines(text);
    lines
        .iter()
        .enumerate()
        .find_map(|(index, line)| line.chars().position(wrong).map(|column| (index + 1, column)))
}

/// Reports the parser's error with a remedy.
fn report_fault(text: &str, origin: Origin, error: &ScanError, reader: &mut Reader<'_>) {
    let fault = syntax::explain(text, error.marker().line(), error.marker().col(), error.info());
    let span = origin.span(fault.line, fault.column, 1);
    let mistake = reader.place(span).mistake(MistakeKind::Syntax, fault.what, fault.label);
    reader.report(span, mistake.hint(fault.hint));
}

/// An open list or mapping.
enum Open {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<(Key, Node)>, seen: HashMap<String, Span>, key: Option<Key> },
}

struct Builder {
    origin: Origin,
    stack: Vec<(Open, Span)>,
    root: Option<Node>,
    documents: usize,
}

impl Builder {
    /// Handles one event; none ends the reading, after a mistake was reported.
    fn take_event(
        &mut self,
        event: Event<'_>,
        span: &saphyr_parser::Span,
        reader: &mut Reader<'_>,
    ) -> Option<()> {
        let place = self.origin.source_span(span);
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return refuse(
                        reader,
                        place,
                        "a second document begins here",
                        "expected one document",
                        "one file is one pipeline: move what follows `---` to a file of its own",
                    );
                }
            }
            Event::Alias(_) => {
                return refuse(
                    reader,
                    place,
                    "aliases (`*name`) are not used in pipeline files",
                    "expected a value",
                    ALIAS_HINT,
                );
            }
            Event::Scalar(text, style, anchor, tag) => {
                refuse_anchor_and_tag(anchor, tag.as_ref(), place, reader)?;
                if find_unprintable(&text).is_some() {
                    return refuse(
                        reader,
                        place,
                        "a text holds a control character",
                        "this escape is not used in pipeline files",
                        "leave the escape out",
                    );
                }
                let quoted = style != ScalarStyle::Plain;
                return self.add_node(
                    Node { value: Value::Scalar { text: text.into_owned(), quoted }, span: place },
                    reader,
                );
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_anchor_and_tag(anchor, tag.as_ref(), place, reader)?;
                return self.open_node(Open::Sequence(Vec::new()), place, reader);
            }
            Event::MappingStart(anchor, tag) => {
                refuse_anchor_and_tag(anchor, tag.as_ref(), place, reader)?;
                return self.open_node(
                    Open::Mapping { entries: Vec::new(), seen: HashMap::new(), key: None },
                    place,
                    reader,
                );
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (open, mut start) = self.stack.pop()?;
                let closes = span.end.col().saturating_sub(1);
                if span.end.line() == start.line as usize && !span.is_empty() {
                    start.length = self
                        .origin
                        .span(span.end.line(), closes, 1)
                        .column
                        .saturating_sub(start.column)
                        + 1;
                }
                let value = match open {
                    Open::Sequence(items) => Value::Sequence(items),
                    Open::Mapping { entries, .. } => Value::Mapping(entries),
                };
                return self.add_node(Node { value, span: start }, reader);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Some(())
    }

    fn open_node(&mut self, open: Open, span: Span, reader: &mut Reader<'_>) -> Option<()> {
        if self.stack.len() >= DEPTH_MAX {
            return refuse(
                reader,
                span,
                "lists and mappings are nested too deeply",
                "expected at most 32 levels",
                "settings are at most six levels deep",
            );
        }
        self.stack.push((open, span));
        Some(())
    }

    /// Adds a finished value to its parent.
    fn add_node(&mut self, node: Node, reader: &mut Reader<'_>) -> Option<()> {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some((Open::Sequence(items), _)) => items.push(node),
            Some((Open::Mapping { entries, seen, key }, _)) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => {
                    let found = entry_name(node, reader)?;
                    if let Some(first) = seen.get(&found.text) {
                        let what = format!("{} is given twice", quote(&found.text));
                        let mistake = reader.place(found.span).mistake(
                            MistakeKind::Duplicate,
                            what,
                            "given again here",
                        );
                        let mistake =
                            mistake.with_earlier(reader.place(*first), "given first here");
                        reader.report(found.span, mistake.hint("keep one of the two"));
                    } else {
                        seen.insert(found.text.clone(), found.span);
                    }
                    *key = Some(found);
                }
            },
        }
        Some(())
    }
}

const ALIAS_HINT: &str = "a text that begins with `*` needs quotes: '*.weight'";

/// A scalar as the name of a mapping's entry.
fn entry_name(node: Node, reader: &mut Reader<'_>) -> Option<Key> {
    match node.value {
        Value::Scalar { text, .. } if !text.is_empty() => Some(Key { text, span: node.span }),
        Value::Scalar { .. } => refuse(
            reader,
            node.span,
            "a name is missing before `:`",
            "expected `name: value`",
            "write a name before the colon",
        ),
        _ => refuse(
            reader,
            node.span,
            "a list or mapping cannot be a name",
            "expected `name: value`",
            "check the brackets and braces before this place",
        ),
    }
}

/// Refuses anchors and tags.
fn refuse_anchor_and_tag(
    anchor: usize,
    tag: Option<&Cow<'_, Tag>>,
    span: Span,
    reader: &mut Reader<'_>,
) -> Option<()> {
    if anchor > 0 {
        return refuse(
            reader,
            span,
            "anchors (`&name`) are not used in pipeline files",
            "this value has an anchor",
            "write the value out, or quote a text that begins with `&`",
        );
    }
    if tag.is_some() {
        return refuse(
            reader,
            span,
            "tags (`!name`) are not used in pipeline files",
            "this value has a tag",
            "leave the tag out; quote a text that begins with `!`",
        );
    }
    Some(())
}

/// Reports a mistake and ends the reading.
fn refuse<T>(
    reader: &mut Reader<'_>,
    span: Span,
    what: &str,
    label: &str,
    hint: &str,
) -> Option<T> {
    let mistake = reader.place(span).mistake(MistakeKind::Syntax, what, label);
    reader.report(span, mistake.hint(hint));
    None
}
