//! show: `warploom data show NAME`: the catalogue entry of a data set, and the statistics of its
//! graph.
//!
//! promises  the profile comes from the store, or from `ingest` and `extract`, with the same keys
//!           as a pipeline with default settings (or those of `--pipeline` and `--set`), so that a
//!           pipeline reuses it; a stand-in is marked; the catalogue entry is shown even if the
//!           graph cannot be built
//! never     measures anything itself; runs a stage beyond `extract`
use std::path::Path;

use serde_json::{Value, json};
use warploom_catalog::{
    Entry,
    entry::{SplitRule, Task},
};
use warploom_contract::{
    Artifact, Kind, StageError,
    kinds::{graph, profile},
};
use warploom_extract::Extract;
use warploom_ingest::Ingest;
use warploom_shell::{Chain, Environment, Options, StageName, execute::execute, progress::Talk};
use warploom_spec::Pipeline;

use super::{
    ls::{self, DataState},
    page::{self, PageData},
    plot::{group_digits, text_entry as line},
};
use crate::programs::mistakes_error;

/// Shows a data set.
pub fn show(
    environment: &Environment,
    talk: &Talk,
    options: &Options,
    entry: &Entry,
) -> Result<(), StageError> {
    let made = pipeline(options, &entry.name)
        .and_then(|pipeline| load_or_measure(environment, talk, &pipeline));
    // After the attempt, which may have downloaded the files or failed to.
    let DataState { status, detail } = ls::availability(environment, entry);
    let known = made.as_ref().ok();
    crate::print_as(
        environment,
        || catalogue_text(entry, status, &detail) + &known.map(page::page).unwrap_or_default(),
        || vec![json_object(entry, status, &detail, known)],
    );
    made.map(drop)
}

/// A pipeline of this data set with the settings of the command line.
fn pipeline(options: &Options, name: &str) -> Result<Pipeline, StageError> {
    let mut set = options.set.clone();
    set.push(format!("dataset={}", json!(name)));
    let read = match &options.pipeline {
        Some(file) => warploom_spec::read(file, &set),
        None => warploom_spec::read_text(
            &format!("pipeline: show\n{}", super::WITHOUT_PROGRAM),
            Path::new("show.yaml"),
            &set,
        ),
    };
    let read = read.map_err(|mistakes| mistakes_error(&mistakes))?;
    read.into_iter()
        .next()
        .ok_or_else(|| StageError::defect("no pipeline was read, and no mistake"))
}

/// The graph and its profile, from the store or built now.
fn load_or_measure(
    environment: &Environment,
    talk: &Talk,
    pipeline: &Pipeline,
) -> Result<PageData, StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    if Chain::new(&quiet, pipeline).look_up_before(StageName::Reorder).is_err() {
        talk.say(&format!(
            "the profile of `{}` is not in the store yet: making its graph and profile",
            pipeline.dataset
        ));
    }
    let mut chain = Chain::new(environment, pipeline);
    for stage in [execute::<Ingest>, execute::<Extract>] {
        if let Some(error) = stage(&mut chain, talk).error {
            return Err(error);
        }
    }
    let artifact = |kind| {
        chain
            .available(kind)
            .cloned()
            .ok_or_else(|| StageError::defect("a stage succeeded without its output"))
    };
    let (graph, measured) = (artifact(Kind::Graph)?, artifact(Kind::Profile)?);
    Ok(PageData {
        names: graph::open_names(&graph)?,
        profile: profile::open(&measured)?,
        artifact: measured,
        graph,
    })
}

/// The text of the catalogue entry.
fn catalogue_text(entry: &Entry, status: &str, detail: &str) -> String {
    let mut text = line(&entry.name, &entry.about);
    text += &line("data", &format!("{status}: {detail}"));
    text += &line(
        "kept as",
        &format!(
            "{}, {}",
            entry.format.as_str(),
            if entry.directed { "edges have a direction" } else { "edges have no direction" }
        ),
    );
    if entry.task != Task::None {
        text += &line(
            "used for",
            &format!("{}; split: {}", spaced_words(&json!(entry.task)), split_text(&entry.split)),
        );
    }
    text += &line("licence", &entry.licence);
    let expected = [
        (entry.expected.nodes, "nodes"),
        (entry.expected.listed, "edges listed"),
        (entry.expected.distinct, "distinct"),
        (entry.expected.symmetric, "with their reverses"),
    ];
    let expected: Vec<String> = expected
        .iter()
        .filter_map(|(count, what)| Some(format!("{} {what}", group_digits((*count)?))))
        .collect();
    if !expected.is_empty() {
        text += &line("expected", &expected.join(", "));
    }
    for printed in &entry.printed {
        let further = [(printed.features, "features"), (printed.classes, "classes")];
        let further: String = further
            .iter()
            .filter_map(|(count, what)| {
                Some(format!(", {} {what}", group_digits((*count)?.into())))
            })
            .collect();
        let note =
            if printed.note.is_empty() { String::new() } else { format!("; {}", printed.note) };
        let counts = format!(
            "{} nodes, {} edges{further}",
            group_digits(printed.nodes),
            group_digits(printed.edges)
        );
        text += &line("printed", &format!("{counts} ({}{note})", printed.document));
    }
    text
}

/// `node_classification` in words.
fn spaced_words(name: &Value) -> String {
    name.as_str().unwrap_or("none").replace('_', " ")
}

fn split_text(rule: &SplitRule) -> String {
    match *rule {
        SplitRule::Given => "as published".to_owned(),
        SplitRule::PerClass { train, validation, test } => {
            format!(
                "{train} of each class train, {} validation, {} test",
                group_digits(validation.into()),
                group_digits(test.into())
            )
        }
        SplitRule::Fractions { train, validation, test } => {
            format!("{train} train, {validation} validation, {test} test, drawn")
        }
        SplitRule::Folds { count } => format!("{count} folds, drawn"),
        SplitRule::None => "none".to_owned(),
    }
}

/// The JSON object of the page.
fn json_object(entry: &Entry, status: &str, detail: &str, shown: Option<&PageData>) -> Value {
    let mut object =
        json!({"entry": entry, "status": status, "detail": detail, "graph": null, "profile": null});
    if let Some(PageData { graph, artifact, profile, names }) = shown {
        let place = |artifact: &Artifact| json!({"key": artifact.manifest.key, "path": artifact.path.to_string_lossy()});
        object["provenance"] = json!(graph.manifest.provenance.name());
        object["made_up"] = json!(graph.manifest.made_up);
        object["graph"] = place(graph);
        object["graph"]["counts"] = json!(graph.manifest.counts);
        object["graph"]["names"] = json!(names);
        object["profile"] = json!(profile);
        object["profile_artifact"] = place(artifact);
    }
    object
}
