//! vertices: the nodes that a program's vertex settings name, as they stand in the pipeline.
//!
//! promises  what is named is the run's, and in no plan's key; a number or a word is an id of the data set, `row:NUMBER` a row
//! never     opens a graph; the run looks the ids up
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use warploom_contract::StageError;
use warploom_spec::{MistakeKind, Pipeline, Scalar, Setting};
use warploom_vertex::trace::{VertexSetting, vertex_settings_of};

use crate::requests::{mistake_error, program_text};

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
    let by_setting: BTreeMap<&str, BTreeSet<String>> = chosen.iter().map(|chosen| (chosen.setting.as_str(), named(chosen))).collect();
    json!(by_setting)
}

impl Chosen {
    /// What the pipeline says of a setting, else the program's default.
    pub fn of(setting: VertexSetting, given: Option<Setting>) -> Result<Chosen, StageError> {
        let named = match &given {
            Some(given) => of_scalar(&given.value, setting.several).ok_or_else(|| unfit(given, setting.several))?,
            None => of_default(&setting.default),
        };
        Ok(Chosen { setting: setting.name, named, given })
    }
}

fn of_scalar(value: &Scalar, several: bool) -> Option<Vec<Named>> {
    match value {
        Scalar::Whole(id @ 0..) => Some(vec![Named::Id(id.to_string())]),
        Scalar::Text(text) => Some(vec![Named::of_text(text)]),
        Scalar::List(items) if several && !items.is_empty() => {
            let named = items.iter().map(|item| if matches!(item, Scalar::List(_)) { None } else { of_scalar(item, false)?.pop() });
            named.collect()
        }
        _ => None,
    }
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
    let label =
        if several { "expected an id of the data set, a number or a word, or a list of ids" } else { "expected one id of the data set, a number or a word" };
    let mut error = mistake_error(&given.value_place.clone().mistake(MistakeKind::UnknownValue, what, label));
    error.hint = Some(match (&given.value, several) {
        (Scalar::List(_), false) => format!("the program takes several where it says  v.id in {}", given.name),
        _ => format!("--set plan.set.{}=ID , or  --set plan.set.{}=row:0  for the first row", given.name, given.name),
    });
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(value: Scalar) -> Result<Chosen, StageError> {
        let set: warploom_spec::Settings = [("source", value)].into_iter().collect();
        Chosen::of(VertexSetting { name: "source".to_owned(), default: json!([0]), several: true }, set.get("source").cloned())
    }

    #[test]
    fn spellings_of_the_same_nodes_make_one_key() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let key = |value: Scalar| document(&[chosen(value).unwrap()]).to_string();
        assert_eq!(key(Scalar::Whole(3)), key(text("3")));
        assert_eq!(key(Scalar::List(vec![Scalar::Whole(3), Scalar::Whole(17)])), key(Scalar::List(vec![text("17"), text("3"), text("3")])));
        assert_ne!(key(Scalar::Whole(3)), key(text("row:3")));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for wrong in [Scalar::Whole(-1), Scalar::Real(1.5), Scalar::Bool(true), Scalar::List(Vec::new())] {
            let error = chosen(wrong.clone()).unwrap_err();
            assert!(error.what.contains("`source` does not fit") && error.hint.unwrap().contains("row:0"), "{wrong:?}");
        }
        assert!(of_scalar(&Scalar::List(vec![Scalar::Whole(1)]), false).is_none());
    }

    #[test]
    fn numbers_of_a_program_are_rows() {
        let of = |default: Value| Chosen::of(VertexSetting { name: "source".to_owned(), default, several: true }, None).unwrap().named;
        assert_eq!(of(json!(0)), [Named::Row(0)]);
        assert_eq!(of(json!([0, "row:2", "40"])), [Named::Row(0), Named::Row(2), Named::Id("40".to_owned())]);
    }
}
