//! vertices: the nodes that a program's vertex settings name, as they stand in the pipeline.
//!
//! promises  what is named is the run's, and in no plan's key; a number or a word is an id of the
//!           data set as it is written (`007`, `1e5`), `row:NUMBER` a row
//! never     opens a graph; the run looks the ids up
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use warploom_contract::StageError;
use warploom_spec::{MistakeKind, Pipeline, Place, Scalar, Setting, shell_word};
use warploom_vertex::trace::{VertexSetting, vertex_settings_of};

use crate::plan_settings::program_text;
use crate::stage_errors::mistake_error;

/// Begins the name of a row.
pub const ROW: &str = "row:";

/// What a vertex setting names.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The setting.
    pub setting: String,
    /// Each node that it names.
    pub named: Vec<Named>,
    /// As it stands in the pipeline; none: the program's default.
    pub given: Option<Setting>,
}

impl Chosen {
    /// Where the node of this number stands in the pipeline, if it does.
    pub fn place_of(&self, number: usize) -> Option<&Place> {
        Some(&self.given.as_ref()?.written.as_ref()?.get(number)?.place)
    }

    /// The setting with another id in place of the one of this number, as `--set` takes it.
    pub fn with_instead(&self, number: usize, id: &str) -> String {
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
        format!("--set {}", shell_word(&format!("plan.set.{}={value}", self.setting)))
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// By its row in the node table.
    Row(u64),
    /// By its own id.
    Id(String),
}

impl Named {
    fn of_text(text: &str) -> Named {
        let row = text.strip_prefix(ROW).and_then(|row| row.parse().ok());
        row.map_or_else(|| Named::Id(text.to_owned()), Named::Row)
    }

    /// As it is written in a pipeline.
    pub fn text(&self) -> String {
        match self {
            Named::Row(row) => format!("{ROW}{row}"),
            Named::Id(id) => id.clone(),
        }
    }
}

/// What the vertex settings of a pipeline's program name, given or by default.
pub fn chosen(pipeline: &Pipeline) -> Result<Vec<Chosen>, StageError> {
    let text = program_text(pipeline)?;
    let settings = vertex_settings_of(&text, &pipeline.plan.program.entry);
    settings
        .into_iter()
        .map(|setting| {
            let given = pipeline.plan.set.get(&setting.name).cloned();
            Chosen::of(setting, given)
        })
        .collect()
}

/// For the key: what is named, however it was spelt.
pub fn document(chosen: &[Chosen]) -> Value {
    let named = |chosen: &Chosen| chosen.named.iter().map(Named::text).collect::<BTreeSet<_>>();
    let by_setting: BTreeMap<&str, BTreeSet<String>> =
        chosen.iter().map(|chosen| (chosen.setting.as_str(), named(chosen))).collect();
    json!(by_setting)
}

impl Chosen {
    /// What the pipeline says of a setting, else the program's default.
    pub fn of(setting: VertexSetting, given: Option<Setting>) -> Result<Chosen, StageError> {
        let named = match &given {
            Some(given) => {
                of_setting(given, setting.several).ok_or_else(|| unfit(given, setting.several))?
            }
            None => of_default(&setting.default),
        };
        Ok(Chosen { setting: setting.name, named, given })
    }
}

fn of_setting(given: &Setting, several: bool) -> Option<Vec<Named>> {
    let is_id = |value: &Scalar| !matches!(value, Scalar::Whole(..0));
    let are_ids = match &given.value {
        Scalar::List(items) => several && !items.is_empty() && items.iter().all(is_id),
        value => is_id(value),
    };
    let words = given.written.as_ref().filter(|_| are_ids)?;
    Some(words.iter().map(|word| Named::of_text(&word.text)).collect())
}

/// Numbers in a program's text are rows: it knows no data set.
fn of_default(default: &Value) -> Vec<Named> {
    match default {
        Value::Array(items) => items.iter().flat_map(of_default).collect(),
        Value::String(text) => vec![Named::of_text(text)],
        other => other.as_u64().map(Named::Row).into_iter().collect(),
    }
}

fn unfit(given: &Setting, several: bool) -> StageError {
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

    fn chosen(value: Scalar) -> Result<Chosen, StageError> {
        let set: warploom_spec::Settings = [("source", value)].into_iter().collect();
        Chosen::of(
            VertexSetting { name: "source".to_owned(), default: json!([0]), several: true },
            set.get("source").cloned(),
        )
    }

    #[test]
    fn spellings_of_the_same_nodes_make_one_key() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let key = |value: Scalar| document(&[chosen(value).unwrap()]).to_string();
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
        assert!(of_setting(set.get("source").unwrap(), false).is_none());
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
            let chosen = Chosen::of(setting, pipeline.plan.set.get("source").cloned()).unwrap();
            assert_eq!(chosen.named, [Named::Id(word.trim_matches('"').to_owned())]);
        }
        let set = ["plan.set.source=[007, 1e5, row:2]".to_owned()];
        let pipeline = warploom_spec::read_text(
            "dataset: karate\nplan: {program: p.py}\n",
            std::path::Path::new("v.yaml"),
            &set,
        )
        .unwrap()
        .remove(0);
        let named = of_setting(pipeline.plan.set.get("source").unwrap(), true).unwrap();
        assert_eq!(
            named,
            [Named::Id("007".to_owned()), Named::Id("1e5".to_owned()), Named::Row(2)]
        );
    }

    #[test]
    fn numbers_of_a_program_are_rows() {
        let of = |default: Value| {
            Chosen::of(VertexSetting { name: "source".to_owned(), default, several: true }, None)
                .unwrap()
                .named
        };
        assert_eq!(of(json!(0)), [Named::Row(0)]);
        assert_eq!(
            of(json!([0, "row:2", "40"])),
            [Named::Row(0), Named::Row(2), Named::Id("40".to_owned())]
        );
    }
}
