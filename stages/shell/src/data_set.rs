//! data_set: the data set of a pipeline: its entry, its files with their digests, and the program
//! of the user's that reads them.
//!
//! promises  a stand-in is refused where real data are asked for, and always for a program, which
//!           would read none of it
//! never     reads more of a file than its digest takes
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use warploom_catalog::{Attempt, Catalog, Entry, RawData, Source, digest_cache, digests};
use warploom_contract::{ErrorKind, StageError};
use warploom_spec::{Pipeline, RawFormat};

use crate::{
    Environment, StageName,
    external_program::{ExternalProgram, ProgramSettings},
    flags::Real,
    stage_errors::catalog_error,
};

/// The data set of a pipeline.
pub struct DataSet {
    /// Its entry.
    pub entry: Entry,
    /// The program that reads it, where it is asked for.
    pub program: Option<ExternalProgram>,
    /// Where it comes from, if the entry does not say.
    source: Option<Source>,
}

impl DataSet {
    /// Finds the entry and the program of a pipeline.
    pub fn find(environment: &Environment, pipeline: &Pipeline) -> Result<DataSet, StageError> {
        let spec = &pipeline.ingest;
        let settings = ProgramSettings {
            stage: StageName::Ingest,
            choice: "format",
            is_asked: spec.format == RawFormat::Program,
            command: &spec.command,
            inputs: &[],
        };
        let program = ExternalProgram::resolve(environment, pipeline, settings)?;
        let (catalog, name, data) =
            (Catalog::discover(), &pipeline.dataset, environment.data.as_slice());
        let found = match program {
            Some(_) => catalog.find_raw(name, data),
            None => catalog.find_or_infer(name, data).map(|entry| RawData { entry, source: None }),
        };
        let RawData { entry, source } = found.map_err(|error| catalog_error(&error))?;
        Ok(DataSet { entry, program, source })
    }

    /// Where its files are, or why there are none.
    pub fn locate(&self, environment: &Environment) -> Result<Source, StageError> {
        let attempt = if environment.network { Attempt::Once } else { Attempt::Never };
        let seen = environment.digest_cache_path();
        let source = match &self.source {
            Some(source) => source.clone(),
            None => warploom_catalog::locate(&self.entry, &environment.data, Some(&seen), attempt)
                .map_err(|error| catalog_error(&error))?,
        };
        match &source {
            Source::Real { folder, .. }
                if self.entry.inherited.stand_in && environment.real != Real::No =>
            {
                Err(self.came_out_of_stand_in(folder))
            }
            Source::StandIn { why } if self.program.is_some() || environment.real != Real::No => {
                Err(self.is_missing(environment, why))
            }
            _ => Ok(source),
        }
    }

    fn came_out_of_stand_in(&self, folder: &Path) -> StageError {
        let what = format!(
            "the files of `{}` came out of a stand-in, and a stand-in was refused",
            self.entry.name
        );
        StageError::new(ErrorKind::Input, what)
            .at(folder.display())
            .hint("import an export of the real graph, or allow a stand-in with  --real=no")
    }

    fn is_missing(&self, environment: &Environment, why: &str) -> StageError {
        let (name, get) = (&self.entry.name, self.entry.download_hint());
        let first = environment.data.first().cloned();
        let folder = first.unwrap_or_else(|| PathBuf::from("data/raw")).join(name);
        let (refused, hint) = match self.program {
            Some(_) => ("the program has nothing to read", format!("get them with  {get}")),
            None => (
                "a stand-in was refused",
                format!("get them with  {get}  or allow a stand-in with  --real=no"),
            ),
        };
        let what = format!("the real data of `{name}` are not here ({why}), and {refused}");
        StageError::new(ErrorKind::Input, what).at(folder.display()).hint(hint)
    }
}

/// The digest of each raw file by its name, compared with the entry.
pub fn raw_digests(
    environment: &Environment,
    entry: &Entry,
    source: &Source,
) -> Result<BTreeMap<String, String>, StageError> {
    let Source::Real { folder, files } = source else { return Ok(BTreeMap::new()) };
    let seen = environment.digest_cache_path();
    let mut found = BTreeMap::new();
    for (file, path) in entry.files.iter().zip(files) {
        digests::refuse_folder(entry, file, path).map_err(|error| catalog_error(&error))?;
        let digest = digest_cache::digest(path, Some(&seen), environment.rereads_raw_files())
            .map_err(|error| StageError::io("read", path, &error))?;
        digests::check_file(entry, file, folder, path, &digest)
            .map_err(|error| catalog_error(&error))?;
        let name = path.strip_prefix(folder).unwrap_or(path);
        found.insert(name.to_string_lossy().into_owned(), digest);
    }
    Ok(found)
}
