//! data: `warploom data`: lists, shows, downloads, generates, imports and removes data sets.
mod fetch;
mod generate;
mod import;
mod ls;
mod page;
mod plot;
mod rm;
mod show;

use warploom_catalog::{Catalog, Entry};
use warploom_contract::StageError;
use warploom_shell::{Environment, Options, progress::Talk, requests::catalog_error};

use crate::arguments::DataAction;

/// The pipeline of a command without one. It must name a program, which no stage of these commands
/// reads, so it sets what `auto` would derive from the program.
const WITHOUT_PROGRAM: &str = "ingest: {graphs: separate}\nplan: {program: none.py}\n";

/// Runs a sub-command.
pub fn run_action(
    environment: &Environment,
    talk: &Talk,
    options: &Options,
    action: &DataAction,
) -> Result<(), StageError> {
    match action {
        DataAction::Ls => ls::list(environment, talk),
        DataAction::Show { name } => {
            show::show(environment, talk, options, &find_entry_or_folder(environment, name)?)
        }
        DataAction::Fetch { name } => {
            fetch::fetch_files(environment, talk, &find_entry(environment, name)?)
        }
        DataAction::Generate { name } => {
            generate::generate(environment, talk, options, &find_entry(environment, name)?)
        }
        DataAction::Rm { name } => rm::remove(environment, name),
        DataAction::Import(files) => import::import(environment, talk, files),
    }
}

fn find_entry(environment: &Environment, name: &str) -> Result<Entry, StageError> {
    Catalog::discover().find_in(name, &environment.data).map_err(|error| catalog_error(&error))
}

/// The entry of a data set, also of a folder without one.
fn find_entry_or_folder(environment: &Environment, name: &str) -> Result<Entry, StageError> {
    Catalog::discover()
        .find_or_infer(name, &environment.data)
        .map_err(|error| catalog_error(&error))
}
