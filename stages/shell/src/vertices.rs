//! vertices: the nodes that a program's vertex settings name, as written in the pipeline.
//!
//! promises  the names are in the key of `run`, not of `plan`; a number or a word is an id of the
//!           data set as written (`007`, `1e5`), `row:NUMBER` is a row
//! never     opens a graph: `run` looks up the ids
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use warploom_contract::StageError;
use warploom_language::trace::VertexSetting;
use warploom_spec::{MistakeKind, Place, Scalar, Setting, shell_word};

use crate::stage_errors::mistake_error;

/// The prefix of a row number.
pub const ROW: &str = "row:";

/// The most ids of a list that a hint repeats.
const SHOWN_MOST: usize = 8;

/// The nodes that a vertex setting names.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenVertices {
    /// The setting.
    pub setting: String,
    /// Where a pipeline names its nodes: `plan.set.source`, or `run.sources`.
    pub path: String,
    /// Each node that it names.
    pub named: Vec<VertexName>,
    /// The setting as written in the pipeline; none: the program's default.
    pub given: Option<Setting>,
}

impl ChosenVertices {
    /// The place of the node of this number in the pipeline, if it is written there.
    pub fn id_place(&self, number: usize) -> Option<&Place> {
        Some(&self.given.as_ref()?.written.as_ref()?.get(number)?.place)
    }

    /// What to write to have another id in place of the one of this number: the `--set` option,
    /// where it is short.
    pub fn replace_id(&self, number: usize, id: &str) -> String {
        if self.named.len() > SHOWN_MOST {
            let found = self.named.get(number).map_or_else(String::new, VertexName::text);
            return format!("write  {id}  in place of  {found}  in `{}`", self.path);
        }
        let is_list =
            self.given.as_ref().is_some_and(|given| matches!(given.value, Scalar::List(_)));
        let words = self
            .named
            .iter()
            .enumerate()
            .map(|(at, named)| if at == number { id.to_owned() } else { named.text() });
        let value = if is_list {
            format!("[{}]", words.collect::<Vec<_>>().join(", "))
        } else {
            id.to_owned()
        };
        format!("--set {}", shell_word(&format!("{}={value}", self.path)))
    }
}

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VertexName {
    /// By its row in the node table.
    Row(u64),
    /// By its own id.
    Id(String),
}

impl VertexName {
    /// A name as written in a pipeline.
    pub fn from_text(text: &str) -> VertexName {
        let row = text.strip_prefix(ROW).and_then(|row| row.parse().ok());
        row.map_or_else(|| VertexName::Id(text.to_owned()), VertexName::Row)
    }

    /// The name as written in a pipeline.
    pub fn text(&self) -> String {
        match self {
            VertexName::Row(row) => format!("{ROW}{row}"),
            VertexName::Id(id) => id.clone(),
        }
    }
}

/// The named nodes for the key, independent of spelling.
pub fn key_document(chosen: &[ChosenVertices]) -> Value {
    let named = |chosen: &ChosenVertices| {
        chosen.named.iter().map(VertexName::text).collect::<BTreeSet<_>>()
    };
    let by_setting: BTreeMap<&str, BTreeSet<String>> =
        chosen.iter().map(|chosen| (chosen.setting.as_str(), named(chosen))).collect();
    json!(by_setting)
}

/// The named nodes for the key, in their order: results are in it.
pub fn ordered_key_document(chosen: &ChosenVertices) -> Value {
    chosen.named.iter().map(|named| json!(named.text())).collect()
}

impl ChosenVertices {
    /// The nodes of a setting in the pipeline, else of the program's default.
    pub fn from_setting(
        setting: VertexSetting,
        given: Option<Setting>,
    ) -> Result<ChosenVertices, StageError> {
        let named = match &given {
            Some(given) => names_from_setting(given, setting.several)
                .ok_or_else(|| unfit_error(given, setting.several))?,
            None => names_from_default(&setting.default),
        };
        let path = format!("plan.set.{}", setting.name);
        Ok(ChosenVertices { setting: setting.name, path, named, given })
    }
}

fn names_from_setting(given: &Setting, several: bool) -> Option<Vec<VertexName>> {
    let is_id = |value: &Scalar| !matches!(value, Scalar::Whole(..0));
    let are_ids = match &given.value {
        Scalar::List(items) => several && !items.is_empty() && items.iter().all(is_id),
        value => is_id(value),
    };
    let words = given.written.as_ref().filter(|_| are_ids)?;
    Some(words.iter().map(|word| VertexName::from_text(&word.text)).collect())
}

/// Numbers in a program's text are rows, since a program does not know the ids of a data set.
fn names_from_default(default: &Value) -> Vec<VertexName> {
    match default {
        Value::Array(items) => items.iter().flat_map(names_from_default).collect(),
        Value::String(text) => vec![VertexName::from_text(text)],
        other => other.as_u64().map(VertexName::Row).into_iter().collect(),
    }
}

fn unfit_error(given: &Setting, several: bool) -> StageError {
    let what = format!("the setting `{}` does not fit", given.name);
    let label = if several {
        "expected an id of the data set, a number or a word, or a list of ids"
    } else {
        "expected one id of the data set, a number or a word"
    };
    let mut error =
        mistake_error(&given.value_place.clone().mistake(MistakeKind::UnknownValue, what, label));
    error.hint = Some(match (&given.value, several) {
        (Scalar::List(_), false) => {
            format!("the program takes several where it says  v.id in {}", given.name)
        }
        _ => format!(
            "--set plan.set.{}=ID , or  --set plan.set.{}=row:0  for the first row",
            given.name, given.name
        ),
    });
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(value: Scalar) -> Result<ChosenVertices, StageError> {
        let set: warploom_spec::Settings = [("source", value)].into_iter().collect();
        ChosenVertices::from_setting(
            VertexSetting { name: "source".to_owned(), default: json!([0]), several: true },
            set.get("source").cloned(),
        )
    }

    #[test]
    fn spellings_of_the_same_nodes_make_one_key() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let key = |value: Scalar| key_document(&[chosen(value).unwrap()]).to_string();
        assert_eq!(key(Scalar::Whole(3)), key(text("3")));
        assert_eq!(
            key(Scalar::List(vec![Scalar::Whole(3), Scalar::Whole(17)])),
            key(Scalar::List(vec![text("17"), text("3"), text("3")]))
        );
        assert_ne!(key(Scalar::Whole(3)), key(text("row:3")));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for wrong in [
            Scalar::Whole(-1),
            Scalar::List(Vec::new()),
            Scalar::List(vec![Scalar::List(vec![Scalar::Whole(1)])]),
        ] {
            let error = chosen(wrong.clone()).unwrap_err();
            assert!(
                error.what.contains("`source` does not fit")
                    && error.hint.unwrap().contains("row:0"),
                "{wrong:?}"
            );
        }
        let set: warploom_spec::Settings =
            [("source", Scalar::List(vec![Scalar::Whole(1)]))].into_iter().collect();
        assert!(names_from_setting(set.get("source").unwrap(), false).is_none());
    }

    #[test]
    fn an_id_is_the_text_as_written() {
        for word in ["1e5", "yes", "true", "0x10", "007", "1_000", "3.0", "-1.5", ".5", "\"12\""] {
            let yaml =
                format!("dataset: karate\nplan: {{program: p.py, set: {{source: {word}}}}}\n");
            let pipeline = warploom_spec::read_text(&yaml, std::path::Path::new("v.yaml"), &[])
                .unwrap()
                .remove(0);
            let setting =
                VertexSetting { name: "source".to_owned(), default: json!([0]), several: true };
            let chosen =
                ChosenVertices::from_setting(setting, pipeline.plan.set.get("source").cloned())
                    .unwrap();
            assert_eq!(chosen.named, [VertexName::Id(word.trim_matches('"').to_owned())]);
        }
        let set = ["plan.set.source=[007, 1e5, row:2]".to_owned()];
        let pipeline = warploom_spec::read_text(
            "dataset: karate\nplan: {program: p.py}\n",
            std::path::Path::new("v.yaml"),
            &set,
        )
        .unwrap()
        .remove(0);
        let named = names_from_setting(pipeline.plan.set.get("source").unwrap(), true).unwrap();
        assert_eq!(
            named,
            [
                VertexName::Id("007".to_owned()),
                VertexName::Id("1e5".to_owned()),
                VertexName::Row(2)
            ]
        );
    }

    #[test]
    fn numbers_of_a_program_are_rows() {
        let of = |default: Value| {
            ChosenVertices::from_setting(
                VertexSetting { name: "source".to_owned(), default, several: true },
                None,
            )
            .unwrap()
            .named
        };
        assert_eq!(of(json!(0)), [VertexName::Row(0)]);
        assert_eq!(
            of(json!([0, "row:2", "40"])),
            [VertexName::Row(0), VertexName::Row(2), VertexName::Id("40".to_owned())]
        );
    }
}
