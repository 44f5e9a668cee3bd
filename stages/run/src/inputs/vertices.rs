//! vertices: finds the rows of the nodes that a program's vertex settings name.
//!
//! promises  ids are the data set's own; an unknown id is an error that names the nearest ones
//! never     takes an id for a row number
use std::collections::{BTreeMap, BTreeSet};

use warploom_contract::{
    Artifact, ErrorKind, StageError,
    kinds::graph::{self, Ids},
};
use warploom_shell::{
    requests::mistake_error,
    search_sources::{self, read_chosen_vertices},
    vertices::{ChosenVertices, ROW, VertexName},
};
use warploom_spec::{MistakeKind, Pipeline, nearest};

use crate::inputs::input_data::format_id;

/// The number of nearest ids that an error shows.
const NEAREST: usize = 3;
/// The most ids that a word is compared with.
const COMPARED_MOST: usize = 1 << 20;

/// Refuses ids that the graph does not have before the graph is used, if `is_due`.
pub fn check_vertices(
    pipeline: &Pipeline,
    graph: &Artifact,
    is_due: impl FnOnce() -> bool,
) -> Result<(), StageError> {
    let chosen = read_chosen_vertices(pipeline)?;
    // Ids are read only if needed: the table of nodes may be large.
    if chosen.iter().all(|chosen| chosen.given.is_none()) || !is_due() {
        return Ok(());
    }
    let ids = graph::read_node_ids(graph)?;
    match chosen.first().filter(|_| pipeline.run.sources.is_some()) {
        Some(sources) => find_source_rows(sources, &ids).map(drop),
        None => find_rows(&chosen, &ids).map(drop),
    }
}

/// The rows of the node table that `run.sources` names, in its order; each once.
pub fn find_source_rows(sources: &ChosenVertices, ids: &Ids) -> Result<Vec<u64>, StageError> {
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    let place = |number: usize| sources.id_place(number).cloned().unwrap_or_default();
    let find = |(number, named): (usize, &VertexName)| {
        let row = find_row(named, ids)
            .map_err(|absent| absent_error(sources, number, named, absent, ids.len()))?;
        match first.insert(row, number) {
            None => Ok(row),
            Some(earlier) => {
                let id = format_id(ids, row as usize);
                Err(search_sources::repeat_error(&id, place(number), place(earlier)))
            }
        }
    };
    sources.named.iter().enumerate().map(find).collect()
}

/// The rows of the node table that each setting names.
pub fn find_rows(
    chosen: &[ChosenVertices],
    ids: &Ids,
) -> Result<BTreeMap<String, BTreeSet<u64>>, StageError> {
    chosen
        .iter()
        .map(|chosen| Ok((chosen.setting.clone(), find_setting_rows(chosen, ids)?)))
        .collect()
}

fn find_setting_rows(chosen: &ChosenVertices, ids: &Ids) -> Result<BTreeSet<u64>, StageError> {
    // A default fits any graph, also an empty one.
    if chosen.given.is_none() && ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let row = |(number, named)| {
        find_row(named, ids)
            .map_err(|absent| absent_error(chosen, number, named, absent, ids.len()))
    };
    chosen.named.iter().enumerate().map(row).collect()
}

fn absent_error(
    chosen: &ChosenVertices,
    number: usize,
    named: &VertexName,
    AbsentVertex { expected, hint, note }: AbsentVertex,
    nodes: usize,
) -> StageError {
    let path = &chosen.path;
    let what = match named {
        VertexName::Row(row) => {
            format!("`{path}` names row {row}, and the node table has {nodes} rows")
        }
        VertexName::Id(id) => {
            format!("`{path}` names `{id}`, and no node of the data set has this id")
        }
    };
    let mut error = match chosen.id_place(number) {
        Some(place) => {
            mistake_error(&place.clone().mistake(MistakeKind::UnknownValue, what, expected))
        }
        None => StageError::new(ErrorKind::Specification, what).detail(expected),
    };
    error.hint = hint.map(|hint| chosen.replace_id(number, &hint) + &note);
    error
}

/// Why a node was not found, and what may have been meant.
struct AbsentVertex {
    expected: String,
    hint: Option<String>,
    /// Text after the hint.
    note: String,
}

impl AbsentVertex {
    fn new(expected: String, hint: Option<String>) -> AbsentVertex {
        AbsentVertex { expected, hint, note: String::new() }
    }
}

fn find_row(named: &VertexName, ids: &Ids) -> Result<u64, AbsentVertex> {
    let rows = ids.len() as u64;
    let id = match named {
        VertexName::Row(row) if *row < rows => return Ok(*row),
        VertexName::Row(_) if rows == 0 => {
            return Err(AbsentVertex::new("the graph has no node".to_owned(), None));
        }
        VertexName::Row(_) => {
            return Err(AbsentVertex::new(
                format!("expected a row from 0 to {}", rows - 1),
                Some(format!("{ROW}{}", rows - 1)),
            ));
        }
        VertexName::Id(id) => id,
    };
    let (found, near) = match ids {
        Ids::Numbers(numbers) => match id.parse::<u64>() {
            // `007` and `+7` are not spellings of 7.
            Ok(number) => (
                numbers.binary_search(&number).ok().filter(|_| number.to_string() == *id),
                nearest_numbers(number, numbers),
            ),
            Err(_) => {
                return Err(AbsentVertex::new(
                    format!(
                        "expected a number, as the ids of this data set are: {}",
                        describe_first_id(ids)
                    ),
                    first_id(ids),
                ));
            }
        },
        Ids::Strings(words) => (
            words.binary_search_by(|word| word.as_bytes().cmp(id.as_bytes())).ok(),
            nearest_words(id, words),
        ),
    };
    if let Some(row) = found {
        return Ok(row as u64);
    }
    let is_row = id.parse::<u64>().is_ok_and(|row| row < rows && row.to_string() == *id);
    let expected = if near.is_empty() {
        "the graph has no node".to_owned()
    } else {
        format!("expected an id of the data set; the nearest: {}", near.join(", "))
    };
    Err(match is_row {
        true => AbsentVertex {
            note: format!("  for row {id} of the node table"),
            ..AbsentVertex::new(expected, Some(format!("{ROW}{id}")))
        },
        false => AbsentVertex::new(expected, near.into_iter().next()),
    })
}

fn describe_first_id(ids: &Ids) -> String {
    first_id(ids).map_or_else(|| "there is none".to_owned(), |id| format!("the first is {id}"))
}

fn first_id(ids: &Ids) -> Option<String> {
    match ids {
        Ids::Numbers(numbers) => numbers.first().map(u64::to_string),
        Ids::Strings(words) => words.first().cloned(),
    }
}

/// The nearest ids on both sides, the smaller of equally near ones first.
fn nearest_numbers(id: u64, numbers: &[u64]) -> Vec<String> {
    let at = numbers.partition_point(|number| *number < id);
    let mut near = numbers[at.saturating_sub(NEAREST)..numbers.len().min(at + NEAREST)].to_vec();
    near.sort_by_key(|number| (number.abs_diff(id), *number));
    near.iter().take(NEAREST).map(u64::to_string).collect()
}

/// Words that differ in few letters, else the neighbours in sorted order.
fn nearest_words(id: &str, words: &[String]) -> Vec<String> {
    let mut near: Vec<&str> = Vec::new();
    while near.len() < NEAREST {
        let others = words
            .iter()
            .take(COMPARED_MOST)
            .map(String::as_str)
            .filter(|word| !near.contains(word));
        let Some(word) = nearest(id, others) else { break };
        near.push(word);
    }
    if near.is_empty() {
        let at = words.partition_point(|word| word.as_bytes() < id.as_bytes());
        near.extend(
            words[at.saturating_sub(1)..words.len().min(at + 2)].iter().map(String::as_str),
        );
    }
    near.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warploom_language::trace::VertexSetting;
    use warploom_spec::Scalar;

    use super::*;

    fn chosen_from(value: Scalar) -> ChosenVertices {
        let set: warploom_spec::Settings = [("source", value)].into_iter().collect();
        ChosenVertices::from_setting(setting(json!([0])), set.get("source").cloned()).unwrap()
    }

    fn setting(default: serde_json::Value) -> VertexSetting {
        VertexSetting { name: "source".to_owned(), default, several: true }
    }

    fn text(text: &str) -> Scalar {
        Scalar::Text(text.to_owned())
    }

    fn numbers() -> Ids {
        Ids::Numbers(vec![3, 10, 11, 40, u64::MAX])
    }

    #[test]
    fn ids_are_looked_up_and_rows_are_counted() {
        let found = |value: Scalar| {
            find_setting_rows(&chosen_from(value), &numbers())
                .unwrap()
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(found(Scalar::Whole(40)), [3]);
        assert_eq!(found(text("40")), [3]);
        assert_eq!(found(text("18446744073709551615")), [4]);
        assert_eq!(found(text("row:1")), [1]);
        assert_eq!(found(Scalar::List(vec![Scalar::Whole(11), text("row:0")])), [0, 2]);
        let words = Ids::Strings(vec!["10".into(), "9".into(), "user_5".into()]);
        assert_eq!(find_setting_rows(&chosen_from(text("user_5")), &words).unwrap(), [2].into());
        assert_eq!(find_setting_rows(&chosen_from(Scalar::Whole(9)), &words).unwrap(), [1].into());
    }

    #[test]
    fn an_id_that_is_not_there_is_named_with_the_nearest_ones() {
        let said = |value: Scalar, ids: &Ids| {
            let error = find_setting_rows(&chosen_from(value), ids).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Specification);
            format!(
                "{} | {} | {}",
                error.what,
                error.detail.unwrap_or_default(),
                error.hint.unwrap_or_default()
            )
        };
        let near = said(Scalar::Whole(12), &numbers());
        assert!(
            near.contains("names `12`")
                && near.contains("nearest: 11, 10, 3")
                && near.ends_with("--set plan.set.source=11"),
            "{near}"
        );
        let row = said(Scalar::Whole(4), &numbers());
        assert!(
            row.contains("nearest: 3, 10, 11") && row.contains("--set plan.set.source=row:4 "),
            "{row}"
        );
        let beyond = said(text("row:5"), &numbers());
        assert!(
            beyond.contains("names row 5")
                && beyond.contains("from 0 to 4")
                && beyond.ends_with("=row:4"),
            "{beyond}"
        );
        for (padded, row) in [("011", "=11"), ("+10", "=10"), ("003", "=3")] {
            let said = said(text(padded), &numbers());
            assert!(
                said.contains(&format!("names `{padded}`, and no node")) && said.ends_with(row),
                "{said}"
            );
        }
        let word = said(text("user_5"), &numbers());
        assert!(word.contains("expected a number") && word.ends_with("source=3"), "{word}");
        let words = Ids::Strings(
            ["user_0001", "user_0005", "user_0007", "zebra"].map(str::to_owned).to_vec(),
        );
        let swapped = said(text("user_0050"), &words);
        assert!(
            swapped.contains("nearest: user_0005, user_0001, user_0007")
                && swapped.ends_with("=user_0005"),
            "{swapped}"
        );
        let far = said(text("yak"), &words);
        assert!(far.contains("nearest: user_0007, zebra"), "{far}");
        assert!(said(text("a"), &Ids::Numbers(Vec::new())).contains("there is none"));
    }

    #[test]
    fn a_default_is_a_row_and_fits_an_empty_graph() {
        let default = |default| ChosenVertices::from_setting(setting(default), None).unwrap();
        assert_eq!(find_setting_rows(&default(json!(0)), &numbers()).unwrap(), [0].into());
        assert_eq!(
            find_setting_rows(&default(json!([0, "row:2", "40"])), &numbers()).unwrap(),
            [0, 2, 3].into()
        );
        assert!(
            find_setting_rows(&default(json!(0)), &Ids::Numbers(Vec::new())).unwrap().is_empty()
        );
        assert!(find_setting_rows(&default(json!(5)), &numbers()).is_err());
    }
}
