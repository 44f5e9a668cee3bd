//! matrix: the matrix of a pipeline file: swept settings, and the resulting variants.
//!
//! promises  variants in file order, the first axis slowest; at most `VARIANTS_MAX`
//! never     lets an axis win over a later `--set` of the same setting: that setting is then fixed,
//!           and the axis is removed
use crate::{
    assign::{Assignment, assign_value, resolve_path},
    field::Shape,
    mistake::{MistakeKind, quote},
    node::{Key, Node, Span, Value},
    reader::{Reader, SettingContext, WrittenForm, shell},
};

/// Most variants of one file.
pub(crate) const VARIANTS_MAX: usize = 10_000;

/// One override of the file, in the given order.
enum Step {
    Set(Assignment),
    Axis { name: Key, path: Vec<Key>, values: Vec<Node> },
}

/// All overrides of the file.
#[derive(Default)]
pub(crate) struct Steps {
    list: Vec<Step>,
}

/// The file with one value of each axis.
pub(crate) struct Variant {
    /// The value of each axis, in order.
    pub choices: Vec<(String, String)>,
    /// All overrides of the file, axes and `--set`, each setting once with its last value.
    pub changed: Vec<(String, String)>,
    /// The file with these values.
    pub root: Node,
}

impl Steps {
    /// Removes the matrix from the file, then applies the overrides.
    pub fn new(root: &mut Node, overrides: Vec<Assignment>, reader: &mut Reader<'_>) -> Self {
        let mut steps = Self::default();
        if let Value::Mapping(entries) = &mut root.value
            && let Some(index) = entries.iter().position(|(key, _)| key.text == MATRIX)
        {
            let (key, node) = entries.remove(index);
            steps.set_matrix(&key, &node, reader);
        }
        for assignment in overrides {
            steps.apply_override(assignment, reader);
        }
        steps
    }

    /// Applies one override: a value, the whole matrix, or one axis of it.
    fn apply_override(&mut self, assignment: Assignment, reader: &mut Reader<'_>) {
        let Assignment { name, path, value } = assignment;
        match path.as_slice() {
            [first] if first.text == MATRIX => {
                self.list.retain(|step| matches!(step, Step::Set(_)));
                self.set_matrix(first, &value, reader);
            }
            [first, axis] if first.text == MATRIX => self.set_axis(axis, value, reader),
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

    fn set_matrix(&mut self, key: &Key, node: &Node, reader: &mut Reader<'_>) {
        let Some(field) = reader.top.iter().find(|field| field.name == MATRIX) else { return };
        match &node.value {
            Value::Mapping(entries) => {
                entries.iter().for_each(|(key, node)| self.set_axis(key, node.clone(), reader))
            }
            _ if crate::reader::is_empty_value(node) => {}
            _ => reader.report_wrong_type(
                node,
                &SettingContext { path: MATRIX.into(), field, key: key.span },
                None,
            ),
        }
    }

    fn set_axis(&mut self, name: &Key, node: Node, reader: &mut Reader<'_>) {
        let Some(path) = resolve_path(name, &node, WrittenForm::Axis, reader) else { return };
        if path[0].text == MATRIX || name.text == "pipeline" {
            return report_mistake(
                reader,
                name.span,
                format!("{} cannot be swept", quote(&name.text)),
                "expected a setting",
                "for example  matrix: {plan.set.hidden: [16, 64]}".into(),
            );
        }
        reader.meant.insert(name.text.clone());
        let values = match node.value {
            Value::Sequence(values) if !values.is_empty() => values,
            Value::Sequence(_) => {
                return report_mistake(
                    reader,
                    node.span,
                    format!("the axis {} has no values", quote(&name.text)),
                    "expected at least one",
                    "add a value, or remove the axis".into(),
                );
            }
            ref value => {
                let (path, value) = flatten_path(&name.text, value);
                let typed = if name.span.source > 0 {
                    format!("--set matrix.{path}={}", shell(&value))
                } else {
                    format!("{path}: {value}")
                };
                let hint = format!("write  {typed}");
                return report_mistake(
                    reader,
                    node.span,
                    format!("the axis {} is not a list", quote(&name.text)),
                    "expected a list of values",
                    hint,
                );
            }
        };
        let mut seen: Vec<(String, Span)> = Vec::new();
        for value in values.iter().take(VARIANTS_MAX) {
            let text = value.flow_text();
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == text) {
                let what =
                    format!("the axis {} has the value {} twice", quote(&name.text), quote(&text));
                let mistake = reader.place(value.span).mistake(
                    MistakeKind::Duplicate,
                    what,
                    "given again here",
                );
                let mistake = if first.line == value.span.line {
                    mistake
                } else {
                    mistake.with_earlier(reader.place(*first), "given first here")
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

    /// The variants, one without a matrix; none if there are too many.
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
                report_mistake(
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
                    choices.push((name.text.clone(), value.flow_text()));
                    (name, path, value)
                }
            };
            assign_value(&mut root, path, shape, value);
            changed.retain(|(other, _)| *other != name.text);
            changed.push((name.text.clone(), value.flow_text()));
        }
        Variant { choices, changed, root }
    }
}

/// A nested path in dotted form, with its list.
fn flatten_path(path: &str, value: &Value) -> (String, String) {
    match value {
        Value::Mapping(entries) => match entries.first() {
            Some((key, node)) => flatten_path(&format!("{path}.{}", key.text), &node.value),
            None => (path.to_string(), "[VALUE]".to_string()),
        },
        Value::Sequence(items) => (
            path.to_string(),
            format!("[{}]", items.iter().map(Node::flow_text).collect::<Vec<_>>().join(", ")),
        ),
        Value::Scalar { text, .. } => (path.to_string(), format!("[{text}]")),
    }
}

const MATRIX: &str = "matrix";

fn report_mistake(reader: &mut Reader<'_>, span: Span, what: String, label: &str, hint: String) {
    let mistake = reader.place(span).mistake(MistakeKind::WrongType, what, label);
    reader.report(span, mistake.hint(hint));
}
