//! `warploom data`: the catalogue, what of it is here, what a data set is like, downloads,
//! stand-ins and files of one's own.
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
use ls::availability;

/// The pipeline of a command without one. It must name a program, and no stage of these commands
/// reads it, so it says what `auto` would ask of the program.
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

/// A folder without an entry is a data set too.
fn find_entry_or_folder(environment: &Environment, name: &str) -> Result<Entry, StageError> {
    Catalog::discover()
        .find_or_infer(name, &environment.data)
        .map_err(|error| catalog_error(&error))
}
