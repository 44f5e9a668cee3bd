//! rm: `warploom data rm`: removes an imported set, or the raw files of a set of the catalogue.
//!
//! promises  prints what was removed; the folder of an imported set is renamed before its files are
//!           removed, so that no partial set is found
//! never     asks a question; removes files of the catalogue's sets without `--force`, or any that
//!           the entry does not list
use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use warploom_catalog::{Catalog, Entry, digests::RECORD_FILE, imported_sets, present_files};
use warploom_contract::{
    ErrorKind, StageError,
    store::drafts::{self, Beside},
};
use warploom_shell::{Environment, requests::catalog_error};

/// Name of drafts.
const DRAFT: &str = "rm";

/// An imported set: its folder, and the entry that an earlier version wrote into the catalogue's
/// folder.
pub struct ImportedSet {
    /// The folder of its files, if it exists.
    pub folder: Option<PathBuf>,
    /// The entry, if it is not beside the files.
    pub old_entry: Option<PathBuf>,
}

impl ImportedSet {
    /// The imported set of this name; whether its entry is valid does not matter.
    pub fn find(
        environment: &Environment,
        catalog: &Catalog,
        name: &str,
    ) -> Result<Option<ImportedSet>, StageError> {
        let old_entry = catalog.legacy_import_entry(name);
        for folder in environment.data.iter().map(|data| data.join(name)) {
            let is_made =
                imported_sets::is_imported(&folder).map_err(|error| catalog_error(&error))?;
            if is_made || old_entry.is_some() && folder.is_dir() {
                return Ok(Some(ImportedSet { folder: Some(folder), old_entry }));
            }
        }
        Ok(old_entry.map(|entry| ImportedSet { folder: None, old_entry: Some(entry) }))
    }

    /// Its place in errors.
    pub fn place(&self) -> &Path {
        self.folder.as_deref().or(self.old_entry.as_deref()).unwrap_or(Path::new(""))
    }
}

/// Removes a set and prints the removed paths.
pub fn remove(environment: &Environment, name: &str) -> Result<(), StageError> {
    let catalog = Catalog::discover();
    let removed = match ImportedSet::find(environment, &catalog, name)? {
        Some(found) => remove_imported_set(found)?,
        None => remove_raw_files(
            environment,
            &catalog
                .find_or_infer(name, &environment.data)
                .map_err(|error| catalog_error(&error))?,
        )?,
    };
    let shown = || removed.iter().map(|path| path.display().to_string());
    crate::print_as(
        environment,
        || shown().map(|path| format!("removed {path}\n")).collect(),
        || vec![json!({"name": name, "removed": shown().collect::<Vec<_>>()})],
    );
    Ok(())
}

/// Refuses to remove files that no import wrote.
pub fn refuse_foreign_files(folder: &Path) -> Result<(), StageError> {
    let Some(stranger) =
        imported_sets::find_foreign_file(folder).map_err(|error| catalog_error(&error))?
    else {
        return Ok(());
    };
    let error = StageError::new(
        ErrorKind::Input,
        "a file in the folder of the imported set does not belong to it",
    )
    .at(stranger.display());
    Err(error.hint(format!("move it away, or remove all of it:  rm -r {}", folder.display())))
}

fn remove_imported_set(found: ImportedSet) -> Result<Vec<PathBuf>, StageError> {
    let gone = |path: &Path, error: std::io::Error| StageError::io("remove", path, &error);
    if let Some(folder) = &found.folder {
        refuse_foreign_files(folder)?;
        let draft = Beside::begin(folder.parent().unwrap_or(Path::new(".")), DRAFT)?;
        drafts::undisturbed(|| fs::rename(folder, draft.path().join("set")))
            .map_err(|error| gone(folder, error))?;
    }
    if let Some(entry) = &found.old_entry {
        fs::remove_file(entry).map_err(|error| gone(entry, error))?;
    }
    Ok(found.folder.into_iter().chain(found.old_entry).collect())
}

/// Removes the files of a set of the catalogue, and its folder if that is then empty.
fn remove_raw_files(environment: &Environment, entry: &Entry) -> Result<Vec<PathBuf>, StageError> {
    let here = present_files(entry, &environment.data).map_err(|error| catalog_error(&error))?;
    let Some(folder) = here.folder.filter(|_| entry.generator.is_none()) else {
        let error =
            StageError::new(ErrorKind::Input, format!("no file of `{}` is here", entry.name));
        return Err(error.hint("artifacts that were made of it:  warploom store ls"));
    };
    if entry.inferred || entry.home.is_some() {
        let error = StageError::new(
            ErrorKind::Input,
            format!(
                "`{}` is a folder that no import wrote: its files may be the only copy",
                entry.name
            ),
        );
        return Err(error.at(folder.display()).hint(format!("rm -r {}", folder.display())));
    }
    if !environment.force {
        let error = StageError::new(
            ErrorKind::Input,
            format!("`{}` is a set of the catalogue, and these are its raw files", entry.name),
        );
        return Err(error.at(folder.display()).hint(format!(
            "to remove {} of them:  warploom data rm {} --force",
            here.files.len(),
            entry.name
        )));
    }
    let mut removed = here.files;
    removed.extend(Some(folder.join(RECORD_FILE)).filter(|record| record.exists()));
    removed.iter().try_for_each(|path| {
        fs::remove_file(path).map_err(|error| StageError::io("remove", path, &error))
    })?;
    if fs::remove_dir(&folder).is_ok() {
        removed.push(folder);
    }
    Ok(removed)
}
