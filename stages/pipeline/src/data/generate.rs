//! generate: `warploom data generate`: the stand-in of a data set, as a graph in the store.
//!
//! promises  the graph is that of a pipeline whose real files are missing, with the same key: it is
//!           a cache hit there
//! promises  the terminal and the manifest say STAND-IN, and so does everything made from it;
//!           `--real` refuses it as always
//! never     writes files that could be mistaken for real ones; searches real files or uses the
//!           network
use std::path::Path;

use warploom_catalog::Entry;
use warploom_contract::{ErrorKind, Provenance, StageError};
use warploom_ingest::Ingest;
use warploom_shell::{
    Chain, Environment, Options,
    binary::{print_data, print_text},
    data_needs::DataNeeds,
    execute::execute,
    flags::{Format, Real},
    outcome::summary_table,
    progress::Talk,
};
use warploom_spec::Pipeline;

/// Generates the graph, with the settings of `--pipeline` and `--set` if present.
pub fn generate(
    environment: &Environment,
    talk: &Talk,
    options: &Options,
    entry: &Entry,
) -> Result<(), StageError> {
    if entry.stand_in.is_none() && entry.generator.is_none() {
        let error = StageError::new(
            ErrorKind::Input,
            format!("`{}` has no recipe of a stand-in", entry.name),
        );
        return Err(error.hint(format!(
            "its files are small: get them with  warploom data fetch {}",
            entry.name
        )));
    }
    let alone =
        Environment { data: Vec::new(), network: false, real: Real::No, ..environment.clone() };
    for pipeline in pipelines(options, &entry.name)? {
        let outcome = execute::<Ingest>(&mut Chain::new(&alone, &pipeline), talk);
        match environment.format {
            Format::Human => {
                print_text(&summary_table(
                    &format!("{}, generated", entry.name),
                    std::slice::from_ref(&outcome),
                    DataNeeds::ALL,
                    &pipeline.run,
                    environment.threads,
                ));
                outcome.artifacts.iter().for_each(|artifact| {
                    print_data(&format!(
                        "{}: {}\n",
                        provenance_word(outcome.provenance()),
                        artifact.path.display()
                    ))
                });
            }
            _ => print_data(&format!("{}\n", outcome.to_json())),
        }
        if let Some(error) = outcome.error {
            return Err(error);
        }
    }
    Ok(())
}

fn provenance_word(provenance: Provenance) -> &'static str {
    if provenance == Provenance::StandIn { "stand-in" } else { "graph" }
}

/// The requested pipelines with this data set; without a file the default one.
fn pipelines(options: &Options, dataset: &str) -> Result<Vec<Pipeline>, StageError> {
    let mut overrides = options.set.clone();
    overrides.push(format!("dataset={dataset}"));
    let read = match &options.pipeline {
        Some(file) => warploom_spec::read(file, &overrides),
        None => warploom_spec::read_text(
            &format!("dataset: {dataset}\n{}", super::WITHOUT_PROGRAM),
            Path::new("generate.yaml"),
            &overrides,
        ),
    };
    read.map_err(|mistakes| {
        let mut error = StageError::new(ErrorKind::Specification, mistakes.to_string());
        if let Some(first) = mistakes.shown.first() {
            (error.what, error.place, error.hint) =
                (first.what.clone(), Some(first.place()), first.hint.clone());
        }
        error
    })
}
