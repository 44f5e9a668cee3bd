//! The matrix of a pipeline file: which settings are swept, and the variants that come of it.
//!
//! promises  variants in the order of the file, the first axis slowest; at most `VARIANTS_MAX`
//! never     lets an axis win over a later `--set` of the same setting: that setting is then fixed,
//!           and the axis falls away
use crate::{
    assign::{Assignment, assign, resolve},
    field::Shape,
    mistake::{MistakeKind, quoted},
    node::{Key, Node, Span, Value},
    reader::{At, Reader, Written, shell},
};

/// How many variants one file may ask for.
pub(crate) const VARIANTS_MAX: usize = 10_000;

/// One thing laid over the file, in the order given.
enum Step {
    Set(Assignment),
    Axis { name: Key, path: Vec<Key>, values: Vec<Node> },
}

/// All that is laid over the file.
#[derive(Default)]
pub(crate) struct Steps {
    list: Vec<Step>,
}

/// A file with one value of each axis.
pub(crate) struct Variant {
    /// The value of each axis, in their order.
    pub choices: Vec<(String, String)>,
    /// All that is laid over the file, axes and overrides, each setting once with its last value.
    pub changed: Vec<(String, String)>,
    /// The file with it.
    pub root: Node,
}

impl Steps {
    /// Takes the matrix out of the file, then follows the overrides.
    pub fn new(root: &mut Node, overrides: Vec<Assignment>, reader: &mut Reader<'_>) -> Self {
        let mut steps = Self::default();
        if let Value::Mapping(entries) = &mut root.value
            && let Some(index) = entries.iter().position(|(key, _)| key.text == MATRIX)
        {
            let (key, node) = entries.remove(index);
            steps.matrix(&key, &node, reader);
        }
        for assignment in overrides {
            steps.follow(assignment, reader);
        }
        steps
    }

    /// One override: a value, the whole matrix, or one axis of it.
    fn follow(&mut self, assignment: Assignment, reader: &mut Reader<'_>) {
        let Assignment { name, path, value } = assignment;
        match path.as_slice() {
            [first] if first.text == MATRIX => {
                self.list.retain(|step| matches!(step, Step::Set(_)));
                self.matrix(first, &value, reader);
            }
            [first, axis] if first.text == MATRIX => self.axis(axis, value, reader),
            _ => {
                let fixed = |axis: &[Key]| {
                    axis.len() >= path.len()
                        && axis.iter().zip(&path).all(|(one, other)| one.text == other.text)
                };
                self.list.retain(|step| !matches!(step, Step::Axis { path, .. } if fixed(path)));
                self.list.push(Step::Set(Assignment { name, path, value }));
            }
        }
    }

    fn matrix(&mut self, key: &Key, node: &Node, reader: &mut Reader<'_>) {
        let Some(field) = reader.top.iter().find(|field| field.name == MATRIX) else { return };
        match &node.value {
            Value::Mapping(entries) => {
                entries.iter().for_each(|(key, node)| self.axis(key, node.clone(), reader))
            }
            _ if crate::reader::is_nothing(node) => {}
            _ => reader.wrong_type(node, &At { path: MATRIX.into(), field, key: key.span }, None),
        }
    }

    fn axis(&mut self, name: &Key, node: Node, reader: &mut Reader<'_>) {
        let Some(path) = resolve(name, &node, Written::Axis, reader) else { return };
        if path[0].text == MATRIX || name.text == "pipeline" {
            return wrong(
                reader,
                name.span,
                format!("{} cannot be swept", quoted(&name.text)),
                "expected a setting",
                "for example  matrix: {plan.set.hidden: [16, 64]}".into(),
            );
        }
        reader.meant.insert(name.text.clone());
        let values = match node.value {
            Value::Sequence(values) if !values.is_empty() => values,
            Value::Sequence(_) => {
                return wrong(
                    reader,
                    node.span,
                    format!("the axis {} has no values", quoted(&name.text)),
                    "expected at least one",
                    "add a value, or remove the axis".into(),
                );
            }
            ref value => {
                let (path, value) = flattened(&name.text, value);
                let typed = if name.span.source > 0 {
                    format!("--set matrix.{path}={}", shell(&value))
                } else {
                    format!("{path}: {value}")
                };
                let hint = format!("write  {typed}");
                return wrong(
                    reader,
                    node.span,
                    format!("the axis {} is not a list", quoted(&name.text)),
                    "expected a list of values",
                    hint,
                );
            }
        };
        let mut seen: Vec<(String, Span)> = Vec::new();
        for value in values.iter().take(VARIANTS_MAX) {
            let text = value.flow();
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == text) {
                let what = format!(
                    "the axis {} has the value {} twice",
                    quoted(&name.text),
                    quoted(&text)
                );
                let mistake = reader.place(value.span).mistake(
                    MistakeKind::Duplicate,
                    what,
                    "given again here",
                );
                let mistake = if first.line == value.span.line {
                    mistake
                } else {
                    mistake.earlier(reader.place(*first), "given first here")
                };
                return reader.report(value.span, mistake.hint("keep one of the two"));
            }
            seen.push((text, value.span));
        }
        self.list.retain(
            |step| !matches!(step, Step::Axis { name: other, .. } if other.text == name.text),
        );
        self.list.push(Step::Axis { name: name.clone(), path, values });
    }

    /// The variants, one when nothing is swept; none after there were too many.
    pub fn variants<'s>(
        &'s self,
        root: &'s Node,
        shape: &'s Shape,
        reader: &mut Reader<'_>,
    ) -> impl Iterator<Item = Variant> + 's {
        let mut count: usize = 1;
        for step in &self.list {
            let Step::Axis { name, values, .. } = step else { continue };
            count = count.saturating_mul(values.len());
            if count > VARIANTS_MAX {
                let hint =
                    "split the sweep over several files, or fix a setting with --set".to_string();
                wrong(
                    reader,
                    name.span,
                    "the matrix asks for too many variants".into(),
                    &format!("expected at most {VARIANTS_MAX}, found more with this axis"),
                    hint,
                );
                count = 0;
                break;
            }
        }
        (0..count).map(move |index| self.variant(index, count, root, shape))
    }

    fn variant(&self, index: usize, count: usize, root: &Node, shape: &Shape) -> Variant {
        let (mut root, mut choices, mut below) = (root.clone(), Vec::new(), count);
        let mut changed: Vec<(String, String)> = Vec::new();
        for step in &self.list {
            let (name, path, value) = match step {
                Step::Set(Assignment { name, path, value }) => (name, path, value),
                Step::Axis { name, path, values } => {
                    below /= values.len();
                    let value = &values[index / below % values.len()];
                    choices.push((name.text.clone(), value.flow()));
                    (name, path, value)
                }
            };
            assign(&mut root, path, shape, value);
            changed.retain(|(other, _)| *other != name.text);
            changed.push((name.text.clone(), value.flow()));
        }
        Variant { choices, changed, root }
    }
}

/// A nested path as it should have been written, with its list.
fn flattened(path: &str, value: &Value) -> (String, String) {
    match value {
        Value::Mapping(entries) => match entries.first() {
            Some((key, node)) => flattened(&format!("{path}.{}", key.text), &node.value),
            None => (path.to_string(), "[VALUE]".to_string()),
        },
        Value::Sequence(items) => (
            path.to_string(),
            format!("[{}]", items.iter().map(Node::flow).collect::<Vec<_>>().join(", ")),
        ),
        Value::Scalar { text, .. } => (path.to_string(), format!("[{text}]")),
    }
}

const MATRIX: &str = "matrix";

fn wrong(reader: &mut Reader<'_>, span: Span, what: String, label: &str, hint: String) {
    let mistake = reader.place(span).mistake(MistakeKind::WrongType, what, label);
    reader.report(span, mistake.hint(hint));
}
