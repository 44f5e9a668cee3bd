//! stand_in: explains why an artifact is not found if its data set was replaced by a stand-in.
//!
//! promises  if the store has the real data set and a stand-in was searched, the error says so, and
//!           how to name the folder of the files
//! never     uses the network; unpacks a file
use warploom_catalog::{Attempt, Catalog, Source, locate};
use warploom_contract::{Kind, Provenance, StageError};
use warploom_shell::Environment;
use warploom_spec::Pipeline;

/// Adds to the error of a missing artifact the line that a stand-in was searched.
pub fn explain_missing(
    environment: &Environment,
    pipeline: &Pipeline,
    mut error: StageError,
) -> StageError {
    if let Some(line) = stand_in_line(environment, pipeline) {
        error.detail =
            Some(error.detail.map_or_else(|| line.clone(), |detail| format!("{detail}\n{line}")));
    }
    error
}

fn stand_in_line(environment: &Environment, pipeline: &Pipeline) -> Option<String> {
    let dataset = pipeline.dataset.as_str();
    let entry = Catalog::discover().find_or_infer(dataset, &environment.data).ok()?;
    let Ok(Source::StandIn { .. }) =
        locate(&entry, &environment.data, Some(&environment.digest_cache_path()), Attempt::Look)
    else {
        return None;
    };
    let is_real = |graph: &warploom_contract::Artifact| {
        graph.manifest.key_document.request["dataset"] == *dataset
            && graph.manifest.provenance == Provenance::Real
    };
    environment.store.list(Kind::Graph).iter().any(is_real).then(|| {
        let folders: Vec<String> =
            environment.data.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "  no files of `{dataset}` are in {}, so its stand-in was looked for; the folder of \
             the files:  --data DIR",
            folders.join(", ")
        )
    })
}
