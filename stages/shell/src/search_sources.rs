//! search_sources: the vertices of `run.sources`: the program runs once from each of them.
//!
//! promises  what does not depend on the graph is refused here, before the first stage: a program
//!           that learns, one without a setting that stands for one vertex, one with several, a
//!           vertex that is named twice, a result whose column has the name of the sources
//! never     opens a graph: `run` looks up the ids
use std::collections::BTreeMap;

use warploom_contract::{ErrorKind, StageError};
use warploom_language::trace::{VertexSetting, vertex_settings_of};
use warploom_spec::{MistakeKind, Mode, Pipeline, Place, RunSpec, Scalar, Setting, VertexList};

use crate::{
    plan_settings::program_text,
    stage_errors::mistake_error,
    vertices::{ChosenVertices, VertexName},
};

/// The setting.
pub const SOURCES: &str = "run.sources";
/// The column of values.parquet with the source of each row.
pub const SOURCE: &str = "source";

/// The sources of a pipeline, in their order, with the setting that each takes the place of; none
/// where `run.sources` is not set.
pub fn read_sources(pipeline: &Pipeline) -> Result<Option<ChosenVertices>, StageError> {
    let Some(list) = &pipeline.run.sources else { return Ok(None) };
    let mode = pipeline.run.mode;
    if !matches!(mode, Mode::Auto | Mode::Iterate) {
        return Err(other_mode_error(list, mode.name()));
    }
    let text = program_text(pipeline)?;
    let entry = &pipeline.plan.program.entry;
    let setting = find_setting(list, entry, vertex_settings_of(&text, entry))?;
    refuse_second_value(pipeline, list, &setting)?;
    let named: Vec<VertexName> =
        list.words.iter().map(|word| VertexName::from_text(&word.text)).collect();
    refuse_repeats(list, &named)?;
    let given = Setting {
        name: setting.name.clone(),
        value: Scalar::List(
            list.words.iter().map(|word| Scalar::Text(word.text.clone())).collect(),
        ),
        written: Some(list.words.clone()),
        name_place: list.place.clone(),
        value_place: list.place.clone(),
    };
    let path = SOURCES.to_owned();
    Ok(Some(ChosenVertices { setting: setting.name, path, named, given: Some(given) }))
}

/// The nodes that the vertex settings of a pipeline's program name, as written or by default; with
/// `run.sources`, those of all searches.
pub fn read_chosen_vertices(pipeline: &Pipeline) -> Result<Vec<ChosenVertices>, StageError> {
    if let Some(sources) = read_sources(pipeline)? {
        return Ok(vec![sources]);
    }
    let text = program_text(pipeline)?;
    let settings = vertex_settings_of(&text, &pipeline.plan.program.entry);
    settings
        .into_iter()
        .map(|setting| {
            let given = pipeline.plan.set.get(&setting.name).cloned();
            ChosenVertices::from_setting(setting, given)
        })
        .collect()
}

/// Refuses sources of a program that learns; `found` says what the run would do.
pub fn refuse_learning(run: &RunSpec, entry: &str, learns: bool) -> Result<(), StageError> {
    match &run.sources {
        Some(list) if learns => {
            let mut error = other_mode_error(list, "train");
            error.what = format!(
                "`{SOURCES}` is for programs without parameters, and `{entry}` \
                                  has parameters to learn"
            );
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Refuses results that a table of several searches has no place for: names, and whether each is a
/// value of edges.
pub fn refuse_results<'a>(
    run: &RunSpec,
    mut results: impl Iterator<Item = (&'a str, bool)>,
) -> Result<(), StageError> {
    let Some(list) = &run.sources else { return Ok(()) };
    let refused = results.find_map(|(name, of_edges)| {
        if of_edges {
            let what = format!(
                "`{SOURCES}` does not write values of edges, and the program returns \
                                `{name}`, a value of edges"
            );
            let hint = "leave  run.sources  out, and run each source with  plan.set";
            return Some((what, "expected results of vertices", hint));
        }
        (name == SOURCE).then(|| {
            let what = format!(
                "the program returns `{SOURCE}`, and values.parquet of several \
                                searches has a column of this name for the vertex that each starts \
                                from"
            );
            (what, "expected results with other names", "give the result another name")
        })
    });
    let Some((what, label, hint)) = refused else { return Ok(()) };
    Err(list_error(list, what, label, hint.to_owned()))
}

/// The setting of one vertex that every source takes the place of.
fn find_setting(
    list: &VertexList,
    entry: &str,
    mut settings: Vec<VertexSetting>,
) -> Result<VertexSetting, StageError> {
    let found = match settings.as_slice() {
        [] => "none",
        [one] if one.several => {
            let name = &one.name;
            let what = format!(
                "`{SOURCES}` runs `{entry}` once from each vertex, and its setting \
                                `{name}` takes several vertices at once"
            );
            let hint = format!(
                "start from all of them at once with  --set \
                                'plan.set.{name}=[ID, ID]' , or make one run of each with  matrix: \
                                {{plan.set.{name}: [ID, ID]}}"
            );
            let label = "expected a setting of one vertex, found one that is compared by `in`";
            return Err(list_error(list, what, label, hint));
        }
        [_] => return Ok(settings.remove(0)),
        several => &several
            .iter()
            .map(|setting| format!("`{}`", setting.name))
            .collect::<Vec<_>>()
            .join(" and "),
    };
    let what = format!(
        "`{SOURCES}` needs a program with one setting that stands for a vertex, and \
                        `{entry}` has {}",
        if found == "none" { "none" } else { "several" }
    );
    let label = format!("expected one setting that is compared with `v.id`, found {found}");
    let hint = match found {
        "none" => {
            "leave  run.sources  out, or start the program from a vertex:  def PROGRAM(v, \
                   source=0): v.level = 0 if v.id == source else ..."
        }
        _ => "leave  run.sources  out, and name the vertices of each run with  plan.set",
    };
    Err(list_error(list, what, label, hint.to_owned()))
}

/// Refuses a value of the setting itself from `--set` or a matrix. The one in the file gives way,
/// so that `--set run.sources=...` needs no other change.
fn refuse_second_value(
    pipeline: &Pipeline,
    list: &VertexList,
    setting: &VertexSetting,
) -> Result<(), StageError> {
    let path = format!("plan.set.{}", setting.name);
    let is_changed = pipeline.changed.iter().any(|(name, _)| *name == path);
    let Some(given) = pipeline.plan.set.get(&setting.name).filter(|_| is_changed) else {
        return Ok(());
    };
    let what = format!("`{path}` and `{SOURCES}` both say where the program starts");
    let label = "expected one of the two, found both";
    let mistake = given
        .name_place
        .clone()
        .mistake(MistakeKind::Duplicate, what, label)
        .with_earlier(list.place.clone(), "the sources are given here");
    let hint = format!(
        "leave one of them out; `run.sources` of a file is removed with  --set \
                        {SOURCES}=null"
    );
    Err(mistake_error(&mistake.hint(hint)))
}

/// Refuses a vertex that is named twice in the same way. Only the graph shows whether an id and a
/// row are one vertex.
fn refuse_repeats(list: &VertexList, named: &[VertexName]) -> Result<(), StageError> {
    let mut first: BTreeMap<&VertexName, usize> = BTreeMap::new();
    for (number, name) in named.iter().enumerate() {
        if let Some(earlier) = first.insert(name, number) {
            let place = |number: usize| {
                list.words.get(number).map_or_else(|| list.place.clone(), |word| word.place.clone())
            };
            return Err(repeat_error(&name.text(), place(number), place(earlier)));
        }
    }
    Ok(())
}

/// The error of a source that is there twice.
pub fn repeat_error(vertex: &str, place: Place, earlier: Place) -> StageError {
    let what = format!("`{SOURCES}` names the vertex `{vertex}` twice");
    let is_one_line = (&place.path, place.line) == (&earlier.path, earlier.line);
    let mistake = place.mistake(MistakeKind::Duplicate, what, "named again here");
    let mistake = match is_one_line {
        true => mistake,
        false => mistake.with_earlier(earlier, "named first here"),
    };
    mistake_error(&mistake.hint("keep one of the two"))
}

fn other_mode_error(list: &VertexList, found: &str) -> StageError {
    let what =
        format!("`{SOURCES}` is for programs that are iterated, and `run.mode` is `{found}`");
    let label = format!("expected a program with `run.mode: iterate`, found `{found}`");
    list_error(list, what, label, "leave  run.sources  out".to_owned())
}

fn list_error(
    list: &VertexList,
    what: String,
    label: impl Into<String>,
    hint: String,
) -> StageError {
    let place = list.place.clone();
    if place.path.is_empty() {
        return StageError::new(ErrorKind::Specification, what).at(SOURCES).hint(hint);
    }
    mistake_error(&place.mistake(MistakeKind::UnknownValue, what, label).hint(hint))
}
