//! `warploom data`: the catalogue, what of it is here, downloads and stand-ins.
mod fetch;
mod generate;
mod ls;

use serde_json::json;
use warploom_catalog::{Entry, find};
use warploom_contract::StageError;
use warploom_shell::{Environment, Options, requests::catalog_error, talk::Talk};

use crate::arguments::DataAction;
use ls::state;

/// Runs a sub-command.
pub fn run(environment: &Environment, talk: &Talk, options: &Options, action: &DataAction) -> Result<(), StageError> {
    match action {
        DataAction::Ls => ls::list(environment),
        DataAction::Show { name } => show(environment, &entry(name)?),
        DataAction::Fetch { name } => fetch::fetch_files(environment, talk, &entry(name)?),
        DataAction::Generate { name } => generate::generate(environment, talk, options, &entry(name)?),
        DataAction::Import(_) => {
            Err(crate::usage("`warploom data import` is not in this version", "describe the files in a catalogue entry:  WARPLOOM_CATALOG=DIR"))
        }
    }
}

fn entry(name: &str) -> Result<Entry, StageError> {
    find(name).map_err(|error| catalog_error(&error))
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
