//! vertex_list: a list of vertices, such as `run.sources`: an id of the data set, or `row:NUMBER`,
//! each.
//!
//! promises  the text of each entry as written (`007`, `1e5`), with its place for later errors; at
//!           least one entry
//! never     knows the ids of a data set, or whether two entries name one vertex
use serde_json::Value as Json;

use crate::{
    field::Shape,
    mistake::{MistakeKind, Place},
    node::{Node, Value},
    reader::{Reader, SettingContext, describe_found, is_empty_value},
    scalar::{Plain, resolve_plain},
    types::{FieldType, Word},
};

/// A list of vertices as written.
#[derive(Clone, Debug, Default)]
pub struct VertexList {
    /// The text of each entry.
    pub words: Vec<Word>,
    /// The place of the setting's name, for later errors.
    pub place: Place,
}

impl PartialEq for VertexList {
    /// Compares lists without their places.
    fn eq(&self, other: &Self) -> bool {
        let texts = |list: &Self| -> Vec<String> {
            list.words.iter().map(|word| word.text.clone()).collect()
        };
        texts(self) == texts(other)
    }
}

impl FieldType for VertexList {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::Text))
    }

    fn decode(node: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::Sequence(items) if items.is_empty() => {
                let what = format!("{} is an empty list", at.name());
                let mistake = reader.place(at.key).mistake(
                    MistakeKind::WrongType,
                    what,
                    "expected at least one vertex",
                );
                let sample = reader.sample_text(at, "[ID, row:0]", at.key);
                let hint = format!("for example  {sample} , or leave it out for one search");
                reader.report(at.key, mistake.hint(hint));
                None
            }
            Value::Sequence(items) => {
                // All are decoded before a failure is returned, so that every mistake is reported.
                let words: Vec<Option<Word>> =
                    items.iter().map(|item| decode_entry(item, at, reader)).collect();
                let words = words.into_iter().collect::<Option<Vec<Word>>>()?;
                Some(VertexList { words, place: reader.place(at.key) })
            }
            Value::Scalar { text, .. } => {
                let sample = reader.sample_text(at, &format!("[{text}]"), node.span);
                reader.report_wrong_type(node, at, Some(format!("write  {sample}")));
                None
            }
            Value::Mapping(_) => {
                reader.report_wrong_type(node, at, None);
                None
            }
        }
    }

    fn document(&self) -> Json {
        self.words.iter().map(|word| Json::from(word.text.as_str())).collect()
    }
}

/// An entry: any text but a negative number.
fn decode_entry(item: &Node, at: &SettingContext<'_>, reader: &mut Reader<'_>) -> Option<Word> {
    let is_negative = |text: &str| matches!(resolve_plain(text), Plain::Whole(..0));
    if let Value::Scalar { text, quoted } = &item.value
        && !text.is_empty()
        && (*quoted || !is_empty_value(item) && !is_negative(text))
    {
        return Some(Word { text: text.clone(), place: reader.place(item.span) });
    }
    let mistake = reader.place(item.span).mistake(
        MistakeKind::WrongType,
        format!("an entry of {} is no vertex", at.name()),
        format!(
            "expected an id of the data set, a number or a word, or row:NUMBER, found {}",
            describe_found(item)
        ),
    );
    let hint = format!("for example  {}", reader.sample_text(at, "[ID, row:0]", item.span));
    reader.report(item.span, mistake.hint(hint));
    None
}

#[cfg(test)]
mod tests {
    use crate::{Pipeline, read_text};

    fn read(yaml: &str, overrides: &[&str]) -> Result<Vec<Pipeline>, String> {
        let file = std::path::Path::new("v.yaml");
        let yaml = format!("dataset: karate\nplan: {{program: p.py}}\n{yaml}");
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        read_text(&yaml, file, &overrides).map_err(|error| error.to_string())
    }

    fn sources(pipeline: &Pipeline) -> Option<Vec<&str>> {
        let list = pipeline.run.sources.as_ref()?;
        Some(list.words.iter().map(|word| word.text.as_str()).collect())
    }

    #[test]
    fn entries_are_texts_as_written() {
        let yaml = "run: {sources: [3, '7', \"row:5\", 007, 1e5, yes, true, '-4']}\n";
        let pipelines = read(yaml, &[]).unwrap();
        let expected = ["3", "7", "row:5", "007", "1e5", "yes", "true", "-4"];
        assert_eq!(sources(&pipelines[0]), Some(expected.to_vec()));
        let replaced = read(yaml, &["run.sources=[row:1, word]"]).unwrap();
        assert_eq!(sources(&replaced[0]), Some(vec!["row:1", "word"]));
        let removed = read(yaml, &["run.sources=null"]).unwrap();
        assert_eq!(sources(&removed[0]), None);
        assert_eq!(removed[0].run, read("", &[]).unwrap()[0].run, "as if it were not there");
    }

    #[test]
    fn an_axis_of_a_matrix_has_a_list_in_each_value() {
        let yaml = "matrix: {run.sources: [[3, 7], [9]]}\n";
        let pipelines = read(yaml, &[]).unwrap();
        let found: Vec<_> = pipelines.iter().map(sources).collect();
        assert_eq!(found, [Some(vec!["3", "7"]), Some(vec!["9"])]);
    }

    #[test]
    fn what_is_no_list_of_vertices_is_refused() {
        for (written, says) in [
            ("[]", &["`run.sources` is an empty list", "expected at least one vertex"][..]),
            ("3", &["wrong type for `run.sources`", "write  --set run.sources='[3]'"]),
            ("[3, -1]", &["an entry of `run.sources` is no vertex", "found `-1`"]),
            ("[3, [7]]", &["an entry of `run.sources` is no vertex", "row:NUMBER"]),
            ("[3, ~]", &["an entry of `run.sources` is no vertex"]),
        ] {
            let error = read("", &[&format!("run.sources={written}")]).unwrap_err();
            assert!(says.iter().all(|text| error.contains(text)), "{written}: {error}");
        }
    }
}
