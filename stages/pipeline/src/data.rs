//! `warploom data`: the catalogue, what of it is here, and downloads.
use serde_json::json;
use warploom_catalog::{Attempt, Entry, Source, fetch, find, locate, names};
use warploom_contract::{StageError, stage::Progress};
use warploom_shell::{Environment, requests::catalog_error, talk::Talk};

use crate::arguments::DataAction;

/// Runs a sub-command.
pub fn run(environment: &Environment, talk: &Talk, action: &DataAction) -> Result<(), StageError> {
    match action {
        DataAction::Ls => list(environment),
        DataAction::Show { name } => show(environment, &entry(name)?),
        DataAction::Fetch { name } => fetch_files(environment, talk, &entry(name)?),
        DataAction::Generate(_) => {
            Err(crate::usage("`warploom data generate` is not in this version", "a pipeline makes the stand-in itself:  warploom pipeline FILE"))
        }
        DataAction::Import(_) => {
            Err(crate::usage("`warploom data import` is not in this version", "describe the files in a catalogue entry:  WARPLOOM_CATALOG=DIR"))
        }
    }
}

fn entry(name: &str) -> Result<Entry, StageError> {
    find(name).map_err(|error| catalog_error(&error))
}

/// Where a set would come from now, without a network.
fn state(environment: &Environment, entry: &Entry) -> (&'static str, String) {
    match locate(entry, &environment.data, Attempt::Never) {
        Ok(Source::Real { folder, .. }) => ("here", folder.display().to_string()),
        Ok(Source::Generated) => ("generated", "made when it is needed".to_owned()),
        Ok(Source::StandIn { why }) => ("stand-in", why),
        Err(error) => ("absent", error.what),
    }
}

fn list(environment: &Environment) -> Result<(), StageError> {
    let entries: Vec<Entry> = names().iter().map(|name| entry(name)).collect::<Result<_, _>>()?;
    let states: Vec<_> = entries.iter().map(|entry| state(environment, entry)).collect();
    crate::print_as(
        environment,
        || {
            let mut text = format!("{:<16} {:>10} {:>12}  {:<9} where or why\n", "name", "nodes", "edges listed", "data");
            for (entry, (status, detail)) in entries.iter().zip(&states) {
                let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
                text += &format!("{:<16} {:>10} {:>12}  {status:<9} {detail}\n", entry.name, count(entry.expected.nodes), count(entry.expected.listed));
            }
            text
        },
        || {
            entries
                .iter()
                .zip(&states)
                .map(|(entry, (status, detail))| json!({"name": entry.name, "status": status, "detail": detail, "expected": entry.expected}))
                .collect()
        },
    );
    Ok(())
}

fn show(environment: &Environment, entry: &Entry) -> Result<(), StageError> {
    let (status, detail) = state(environment, entry);
    crate::print_as(
        environment,
        || {
            let pretty = serde_json::to_string_pretty(entry).unwrap_or_default();
            format!("{}: {}\nnow: {status} ({detail})\n{pretty}\n", entry.name, entry.about)
        },
        || vec![json!({"entry": entry, "status": status, "detail": detail})],
    );
    Ok(())
}

fn fetch_files(environment: &Environment, talk: &Talk, entry: &Entry) -> Result<(), StageError> {
    let folder = environment.data.first().cloned().unwrap_or_else(|| "data/raw".into());
    talk.stage("fetch");
    let mut current = String::new();
    let mut before = 0;
    let paths = fetch(entry, &folder, &mut |progress| {
        if progress.file != current {
            progress.file.clone_into(&mut current);
            before = 0;
            talk.begin(progress.file, progress.total.unwrap_or(0), "bytes");
        }
        talk.advance(progress.bytes.saturating_sub(before));
        before = progress.bytes;
    });
    talk.end();
    let paths = paths.map_err(|error| catalog_error(&error))?;
    crate::print_as(
        environment,
        || paths.iter().map(|path| format!("{}\n", path.display())).collect(),
        || vec![json!({"name": entry.name, "files": paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>()})],
    );
    Ok(())
}
