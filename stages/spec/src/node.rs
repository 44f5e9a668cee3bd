//! node: values and names of a YAML text, each with its place.
//!
//! never     gives a value a type (that is `scalar`)

/// A place in one of the source texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Span {
    /// 0: the file; from 1: the overrides in their order.
    pub source: u32,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// In characters, at least 1.
    pub length: u32,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub span: Span,
}

/// A YAML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, quoted: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

/// The name before a colon.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub text: String,
    pub span: Span,
}

impl Node {
    /// A missing value.
    pub fn empty(span: Span) -> Self {
        Self { value: Value::Scalar { text: String::new(), quoted: false }, span }
    }

    /// The value in YAML's flow style, on one line.
    pub fn flow_text(&self) -> String {
        match &self.value {
            Value::Scalar { text, .. } => text.clone(),
            Value::Sequence(items) => {
                format!("[{}]", items.iter().map(Self::flow_text).collect::<Vec<_>>().join(", "))
            }
            Value::Mapping(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, node)| format!("{}: {}", key.text, node.flow_text()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}
