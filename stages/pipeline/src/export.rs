//! export: `warploom export`: writes an artifact as files for other programs.
//!
//! reads     the artifact of a key, of its first digits, or of a kind: the only one in the store,
//!           or that of a pipeline; `last` is the run that `warploom pipeline` built or found last
//! promises  each file appears complete, or not at all, and an error or a signal leaves none;
//!           nothing is replaced without `--force`; `manifest.json` is written last, so that a
//!           stand-in stays marked and a killed export has none; the next export into the same
//!           folder removes files of a killed one
//! never     changes the store
mod arrays;
mod files;
mod items;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
};

use arrow_array::ArrayRef;
use arrow_array::{
    PrimitiveArray,
    types::{
        Float32Type, Float64Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
        UInt64Type,
    },
};
use arrow_schema::Field;
use clap::ValueEnum;
use serde_json::json;
use warploom_contract::{
    Artifact, ErrorKind, Key, Kind, Provenance, StageError, caught_panics,
    manifest::MANIFEST_FILE,
    parquet_file::{ROW_GROUP, TableWriter},
    store::drafts::{self, Beside},
};
use warploom_shell::{Chain, Environment, StageName, machine_limits::show_size, progress::Talk};
use warploom_spec::{Pipeline, shell_word};

pub use arrays::Dense;
pub use files::write_npz as archive;
#[cfg(test)]
pub(crate) use files::{write_npy, write_safetensors};
pub use items::{dense_floats, dense_integers, lists, scipy_csr};

use crate::{
    arguments::ExportForm,
    artifacts,
    runs::{self, Run, export_command, export_command_of},
    stand_in, store,
};
use arrays::{Dtype, encode};
use items::{Arrays, Item, Table};

/// Name of drafts.
const DRAFT: &str = "export";

/// The arguments of an export.
pub struct ExportRequest<'a> {
    /// Key, first digits, or kind.
    pub what: &'a str,
    /// The data set, for a kind.
    pub dataset: Option<&'a str>,
    /// Output folder.
    pub output: &'a Path,
    /// Output format; none: the default of each item.
    pub form: Option<ExportForm>,
    /// Whether the written files are not printed.
    pub brief: bool,
}

/// The title of an artifact: for a run its pipeline, data set, seed and metric; else its data set.
fn artifact_title(environment: &Environment, artifact: &Artifact) -> String {
    let all = artifacts::read_all(environment);
    let dataset = artifacts::data_sets(&all).get(artifact.manifest.key.as_str()).copied();
    if artifact.kind == Kind::Run
        && let Ok(run) = Run::open(artifact.clone(), dataset)
    {
        return run.title();
    }
    let mark = if artifact.manifest.provenance == Provenance::StandIn { ", STAND-IN" } else { "" };
    format!("{}{mark}", dataset.unwrap_or("of a graph that is gone"))
}

/// The last run of a pipeline file and how to export it, if it is in the store and differs from the
/// exported one.
fn last_run_if_other(
    environment: &Environment,
    pipelines: &[Pipeline],
    asked: &ExportRequest<'_>,
) -> Option<(Key, String)> {
    let file = &pipelines.first().filter(|_| asked.what == Kind::Run.name())?.file;
    let key = environment.store.last_run(Some(file))?;
    let artifact = environment.store.find(Kind::Run, &key).ok().flatten()?;
    let run = Run::open(artifact, None).ok()?;
    let form = asked
        .form
        .and_then(|form| form.to_possible_value())
        .map_or_else(String::new, |form| format!(" --as {}", form.get_name()));
    let command = export_command(environment, &key, &asked.output.to_string_lossy());
    Some((key, format!("that one ({}) is exported by  {command}{form}", run.title())))
}

/// Exports the artifacts into a folder; several get a subfolder each.
pub fn export(
    environment: &Environment,
    talk: &Talk,
    pipelines: &[Pipeline],
    asked: &ExportRequest<'_>,
) -> Result<(), StageError> {
    let other = || last_run_if_other(environment, pipelines, asked);
    let artifacts = match asked.dataset {
        Some(dataset) => vec![newest_artifact(environment, talk, pipelines, asked.what, dataset)?],
        None => {
            find_requested(environment, pipelines, asked.what).map_err(|error| match pipelines {
                [pipeline, ..]
                    if error.kind == ErrorKind::Input && asked.what == Kind::Run.name() =>
                {
                    missing_run_error(environment, pipeline, asked, error)
                }
                [pipeline, ..] if error.kind == ErrorKind::Input => {
                    stand_in::explain_missing(environment, pipeline, error)
                }
                _ => error,
            })?
        }
    };
    if let Some((last, hint)) = other().filter(|(last, _)| {
        artifacts
            .iter()
            .all(|artifact| artifact.kind == Kind::Run && artifact.manifest.key != *last)
    }) {
        talk.say(&format!(
            "warning: this is not the run {} that this pipeline file made last, \
            with other settings\nhint: {hint}",
            last.short()
        ));
    }
    let several = artifacts.len() > 1;
    let leased = artifacts
        .iter()
        .map(|artifact| store::lease_found(environment, artifact))
        .collect::<Result<Vec<_>, _>>()?;
    for (_lease, artifact) in leased {
        artifact.manifest.check_digests(&artifact.path)?;
        let target = if several {
            asked.output.join(artifact.kind.name())
        } else {
            asked.output.to_path_buf()
        };
        let written = caught_panics::catch(|| {
            write_whole(&target, environment.force, |folder| {
                write_all(&artifact, asked.form, folder)
            })
        });
        let files = written
            .unwrap_or_else(|panic| Err(caught_panics::panic_error(panic)))
            .map_err(|error| artifact.blame(error))?;
        let bytes: u64 = files
            .iter()
            .filter_map(|file| fs::metadata(target.join(file)).ok())
            .map(|facts| facts.len())
            .sum();
        crate::print_as(
            environment,
            || {
                let (kind, key) = (artifact.kind.name(), artifact.manifest.key.short());
                let head = format!(
                    "{kind} {key} ({}) -> {} ({})\n",
                    artifact_title(environment, &artifact),
                    target.display(),
                    show_size(bytes)
                );
                files
                    .iter()
                    .filter(|_| !asked.brief)
                    .fold(head, |text, file| text + "  " + file + "\n")
            },
            || {
                let (kind, key, provenance) = (
                    artifact.kind.name(),
                    &artifact.manifest.key,
                    artifact.manifest.provenance.name(),
                );
                vec![
                    json!({"kind": kind, "key": key, "path": target.to_string_lossy(), "files": files, "bytes": bytes, "provenance": provenance}),
                ]
            },
        );
    }
    Ok(())
}

/// The newest artifact of a kind and a data set.
fn newest_artifact(
    environment: &Environment,
    talk: &Talk,
    pipelines: &[Pipeline],
    what: &str,
    dataset: &str,
) -> Result<Artifact, StageError> {
    let kind = Kind::parse(what).filter(|_| pipelines.is_empty());
    let Some(kind) = kind else {
        return Err(crate::usage_error(
            "`--dataset` is for a kind, and neither for a key nor with `--pipeline`",
            format!(
                "warploom export graph --dataset {} -o DIR{}",
                shell_word(dataset),
                environment.store_option()
            ),
        ));
    };
    let all = artifacts::read_all(environment);
    let sets = artifacts::data_sets(&all);
    let is_of_set = |artifact: &&Artifact| {
        artifact.kind == kind && sets.get(artifact.manifest.key.as_str()).copied() == Some(dataset)
    };
    let mut found: Vec<&Artifact> = all.iter().filter(is_of_set).collect();
    found.sort_by(|one, other| other.manifest.created.cmp(&one.manifest.created));
    let Some(newest) = found.first() else {
        let known: BTreeSet<&str> = sets.values().copied().collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        let error = StageError::new(
            ErrorKind::Input,
            format!("no `{what}` of the data set `{dataset}` is in the store"),
        )
        .at(environment.store.root().display());
        return Err(error
            .detail(format!("  data sets in it: {known}"))
            .hint(list_command(environment)));
    };
    if found.len() > 1 {
        let (count, key) = (found.len(), newest.manifest.key.short());
        let all = format!(
            "warploom store ls --dataset {}{}",
            shell_word(dataset),
            environment.store_option()
        );
        talk.say(&format!(
            "{count} artifacts are `{what}` of `{dataset}`: {key} is the newest; all:  {all}"
        ));
    }
    Ok((*newest).clone())
}

/// The error that no run has these exact settings: it lists the file's runs, those of this data set
/// first, and how to export the newest of these. It never suggests a run of another data set.
fn missing_run_error(
    environment: &Environment,
    pipeline: &Pipeline,
    asked: &ExportRequest<'_>,
    error: StageError,
) -> StageError {
    let (of_set, others): (Vec<Run>, Vec<Run>) = runs::runs_of_file(environment, &pipeline.file)
        .into_iter()
        .partition(|run| run.dataset() == pipeline.dataset);
    if of_set.is_empty() && others.is_empty() {
        return stand_in::explain_missing(environment, pipeline, error);
    }
    let newest = of_set.first().map(|run| run.artifact.manifest.key.clone());
    let artifacts = |runs: Vec<Run>| runs.into_iter().map(|run| run.artifact).collect::<Vec<_>>();
    let lists = [artifacts(of_set), artifacts(others)].into_iter().filter(|runs| !runs.is_empty());
    let runs =
        lists.map(|runs| store::candidate_lines(environment, &runs)).collect::<Vec<_>>().join("\n");
    let file = pipeline.file.display();
    let what = format!(
        "no run of `{}` on `{}` with these settings is in the store; other runs of {file} are",
        pipeline.name, pipeline.dataset
    );
    let output = asked.output.to_string_lossy();
    let of_set = || {
        format!(
            "list the runs on it:  warploom runs --dataset {}{}",
            shell_word(&pipeline.dataset),
            environment.store_option()
        )
    };
    let first = newest.map_or_else(of_set, |key| export_command(environment, &key, &output));
    let last = export_command_of(environment, store::LAST, &output);
    let error = StageError::new(ErrorKind::Input, what)
        .at(environment.store.kind_directory(Kind::Run).display());
    let error = error.detail(runs).hint(format!("{first}\n  or the last run of any file:  {last}"));
    stand_in::explain_missing(environment, pipeline, error)
}

/// `KIND`, `KIND/DIGITS` or `DIGITS`.
fn find_requested(
    environment: &Environment,
    pipelines: &[Pipeline],
    what: &str,
) -> Result<Vec<Artifact>, StageError> {
    if let Some(kind) = Kind::parse(what) {
        return match pipelines {
            [] => require_one(environment, environment.store.list(kind), what),
            pipelines => require_one(
                environment,
                pipelines
                    .iter()
                    .map(|pipeline| pipeline_artifact(environment, pipeline, kind))
                    .collect::<Result<_, _>>()?,
                what,
            ),
        };
    }
    match what.split_once('/').and_then(|(kind, digits)| Some((Kind::parse(kind)?, digits))) {
        Some((Kind::Run, store::LAST)) => store::find_artifacts(environment, store::LAST),
        Some((kind, digits)) => {
            let mut found = environment.store.list(kind);
            found.retain(|artifact| artifact.manifest.key.as_str().starts_with(digits));
            require_one(environment, found, what)
        }
        None => store::find_artifacts(environment, what),
    }
}

fn require_one(
    environment: &Environment,
    mut found: Vec<Artifact>,
    what: &str,
) -> Result<Vec<Artifact>, StageError> {
    found.dedup_by(|left, right| left.path == right.path);
    match found.len() {
        1 => Ok(found),
        0 => Err(StageError::new(ErrorKind::Input, format!("no artifact is `{what}`"))
            .hint(list_command(environment))),
        many => Err(StageError::new(ErrorKind::Input, format!("{many} artifacts are `{what}`"))
            .detail(store::candidate_lines(environment, &found))
            .hint(ambiguity_hint(environment, &found, what))),
    }
}

fn list_command(environment: &Environment) -> String {
    format!("list them with  warploom store ls{}", environment.store_option())
}

/// The hint on how to choose one of several artifacts.
fn ambiguity_hint(environment: &Environment, found: &[Artifact], what: &str) -> String {
    let (key, option) = (found[0].manifest.key.short(), environment.store_option());
    let by_key = format!(
        "give the first digits of one:  warploom export {what}/{key}{option}  or name a pipeline:  \
         --pipeline FILE"
    );
    let all = artifacts::read_all(environment);
    match artifacts::data_sets(&all).get(found[0].manifest.key.as_str()) {
        Some(_) if what == Kind::Run.name() => {
            format!("{by_key}  or the last run:  warploom export {}{option}", store::LAST)
        }
        Some(dataset) => format!(
            "{by_key}  or the newest of a data set:  warploom export {what} --dataset {}{option}",
            shell_word(dataset)
        ),
        None => by_key,
    }
}

/// A pipeline's artifact of a kind: that of the first stage that writes it, which for `csr` has the
/// data set's own order.
fn pipeline_artifact(
    environment: &Environment,
    pipeline: &Pipeline,
    kind: Kind,
) -> Result<Artifact, StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    let Some(writer) = StageName::first_writer(kind) else {
        return Err(crate::usage_error(
            format!("no stage of a pipeline leaves a `{}`", kind.name()),
            format!("list what there is with  warploom store ls{}", environment.store_option()),
        ));
    };
    let mut chain = Chain::new(&quiet, pipeline);
    chain.look_up_through(writer)?;
    chain
        .available(kind)
        .cloned()
        .ok_or_else(|| StageError::defect("a stage that was found did not leave its kind"))
}

/// Writes files into a draft folder, and renames them when all are complete; returns their names.
fn write_whole(
    target: &Path,
    replace: bool,
    write: impl FnOnce(&Path) -> Result<(), StageError>,
) -> Result<Vec<String>, StageError> {
    let there = |path: &Path| {
        StageError::new(ErrorKind::Input, "the file is there already")
            .at(path.display())
            .hint("choose an empty folder with  -o DIR,  or replace files with  --force")
    };
    // Every export has a manifest: this check avoids writing in vain.
    let manifest = target.join(MANIFEST_FILE);
    if may_be_there(&manifest) && !replace {
        return Err(there(&manifest));
    }
    // In the parent of the target: a new folder is renamed at once, with all its files.
    let home = target
        .ancestors()
        .find(|folder| folder.as_os_str().is_empty() || folder.exists())
        .unwrap_or(target);
    let home = if home.as_os_str().is_empty() { Path::new(".") } else { home };
    target.parent().into_iter().for_each(|parent| drafts::sweep(parent, DRAFT));
    let done = Beside::begin(home, DRAFT).and_then(|draft| {
        let shown = |error: StageError| error.replace_path(draft.path(), target);
        write(draft.path()).map_err(shown)?;
        let files = file_names(draft.path())?;
        if let Some(path) = files
            .iter()
            .map(|file| target.join(file))
            .find(|path| path.is_dir() || !replace && may_be_there(path))
        {
            return Err(there(&path));
        }
        for file in &files {
            let from = draft.path().join(file);
            File::open(&from)
                .and_then(|file| file.sync_all())
                .map_err(|error| shown(StageError::io("write", &from, &error)))?;
        }
        drafts::undisturbed(|| give_names(draft.path(), target, &files))?;
        Ok(files)
    });
    // The store is not written, so a hint about another place means the output folder.
    done.map_err(|error| {
        if error.what.starts_with("cannot read") {
            error
        } else {
            error.replace_store_option("-o DIR")
        }
    })
}

/// Renames files into a folder, the manifest last; a new folder is renamed as a whole.
fn give_names(draft: &Path, target: &Path, files: &[String]) -> Result<(), StageError> {
    if !target.is_dir() {
        let above = target
            .parent()
            .filter(|above| !above.as_os_str().is_empty())
            .map_or(Ok(()), fs::create_dir_all);
        return above
            .and_then(|()| fs::rename(draft, target))
            .map_err(|error| StageError::io("write", target, &error));
    }
    let (last, first): (Vec<&String>, Vec<&String>) =
        files.iter().partition(|file| *file == MANIFEST_FILE);
    for file in first.into_iter().chain(last) {
        let to = target.join(file);
        fs::rename(draft.join(file), &to).map_err(|error| StageError::io("write", &to, &error))?;
    }
    Ok(())
}

/// Whether a file exists, or may: a path without permissions is not free.
fn may_be_there(path: &Path) -> bool {
    !matches!(fs::metadata(path), Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory))
}

fn file_names(folder: &Path) -> Result<Vec<String>, StageError> {
    let entries = fs::read_dir(folder).map_err(|error| StageError::io("list", folder, &error))?;
    let names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<String>>>();
    let mut names = names.map_err(|error| StageError::io("list", folder, &error))?;
    names.sort();
    Ok(names)
}

fn write_all(
    artifact: &Artifact,
    form: Option<ExportForm>,
    folder: &Path,
) -> Result<(), StageError> {
    let copy = |path: PathBuf| {
        let to = folder.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &to).map(drop).map_err(|error| StageError::io("copy", &to, &error))
    };
    copy(artifact.file(MANIFEST_FILE))?;
    if form == Some(ExportForm::Files) {
        return artifact.manifest.files.iter().try_for_each(|file| copy(artifact.file(&file.name)));
    }
    for item in items::export_items(artifact, form)? {
        match item {
            Item::Page(path) => copy(path)?,
            Item::Table(table) => write_table(&table, form.unwrap_or(ExportForm::Parquet), folder)?,
            // Unchanged, with the facts in its header.
            Item::Arrays(arrays)
                if form.unwrap_or(arrays.usual) == ExportForm::Safetensors
                    && artifact.kind == Kind::Run =>
            {
                copy(artifact.file(&format!("{}.safetensors", arrays.name)))?;
            }
            Item::Arrays(arrays) => write_arrays(arrays, form, folder)?,
        }
    }
    Ok(())
}

fn write_table(table: &Table, form: ExportForm, folder: &Path) -> Result<(), StageError> {
    let pieces = || {
        (0..table.count)
            .step_by(ROW_GROUP)
            .map(|first| (table.rows)(first..table.count.min(first + ROW_GROUP)))
    };
    match form {
        ExportForm::Parquet => {
            let mut writer = TableWriter::create_for_others(
                &folder.join(format!("{}.parquet", table.name)),
                table.fields.clone(),
            )?;
            pieces().try_for_each(|columns| writer.write(columns))?;
            writer.finish()
        }
        ExportForm::Csv => {
            let path = folder.join(format!("{}.csv", table.name));
            let columns: Vec<(&str, Option<usize>)> =
                table.fields.iter().map(|field| (field.name().as_str(), width_of(field))).collect();
            let mut csv = files::Csv::create(&path, &columns)?;
            pieces().try_for_each(|columns| csv.write(&columns))?;
            csv.finish()
        }
        array_form => {
            let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); table.fields.len()];
            // A table without rows still has columns of a type.
            let empty = (table.count == 0).then(|| (table.rows)(0..0));
            for piece in pieces().chain(empty) {
                columns.iter_mut().zip(piece).for_each(|(column, piece)| column.push(piece));
            }
            let encoded = table
                .fields
                .iter()
                .zip(&columns)
                .map(|(field, pieces)| encode(field.name(), pieces))
                .collect::<Result<Vec<_>, _>>()?;
            let arrays = Arrays {
                name: table.name.clone(),
                arrays: encoded.into_iter().flatten().collect(),
                usual: array_form,
            };
            write_arrays(arrays, Some(array_form), folder)
        }
    }
}

fn width_of(field: &Field) -> Option<usize> {
    match field.data_type() {
        arrow_schema::DataType::FixedSizeList(_, width) => usize::try_from(*width).ok(),
        _ => None,
    }
}

fn write_arrays(all: Arrays, form: Option<ExportForm>, folder: &Path) -> Result<(), StageError> {
    let form = form.unwrap_or(all.usual);
    match form {
        ExportForm::Npz => {
            return files::write_npz(&folder.join(format!("{}.npz", all.name)), &all.arrays);
        }
        ExportForm::Safetensors => {
            return files::write_safetensors(
                &folder.join(format!("{}.safetensors", all.name)),
                &all.arrays,
            );
        }
        _ => {}
    }
    let mut taken = BTreeSet::new();
    for array in all.arrays {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' }
        };
        let mut name: String = if array.name == all.name {
            array.name.clone()
        } else {
            format!("{}.{}", all.name, array.name).chars().map(plain).collect()
        };
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        if form == ExportForm::Npy {
            files::write_npy(&folder.join(format!("{name}.npy")), &array)?;
        } else {
            let column = column_of(&array)?;
            let count = array.shape.first().copied().unwrap_or(1);
            let field = Field::new(&array.name, column.data_type().clone(), false);
            let rows =
                move |range: std::ops::Range<usize>| vec![column.slice(range.start, range.len())];
            write_table(
                &Table { name, fields: vec![field], count, rows: Box::new(rows) },
                form,
                folder,
            )?;
        }
    }
    Ok(())
}

/// An array as a column: fixed-size lists if it has several extents.
pub(crate) fn column_of(array: &Dense) -> Result<ArrayRef, StageError> {
    macro_rules! numbers {
        ($arrow:ty, $native:ty) => {
            std::sync::Arc::new(PrimitiveArray::<$arrow>::from_iter_values(
                array.bytes.as_chunks().0.iter().map(|&bytes| <$native>::from_le_bytes(bytes)),
            )) as ArrayRef
        };
    }
    let values = match array.dtype {
        Dtype::U8 => numbers!(UInt8Type, u8),
        Dtype::U16 => numbers!(UInt16Type, u16),
        Dtype::U32 => numbers!(UInt32Type, u32),
        Dtype::U64 => numbers!(UInt64Type, u64),
        Dtype::I32 => numbers!(Int32Type, i32),
        Dtype::I64 => numbers!(Int64Type, i64),
        Dtype::F32 => numbers!(Float32Type, f32),
        Dtype::F64 => numbers!(Float64Type, f64),
        Dtype::Bool | Dtype::Ascii(_) | Dtype::Text(_) => {
            return Err(StageError::defect(format!("`{}` cannot be a column", array.name)));
        }
    };
    Ok(match array.shape.get(1..).unwrap_or_default() {
        [] => values,
        inner => items::lists(inner.iter().product(), values),
    })
}

#[cfg(test)]
mod tests;
