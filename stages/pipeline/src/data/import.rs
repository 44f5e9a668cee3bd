//! import: `warploom data import`: imports a user's files as a data set with a catalogue entry.
//!
//! promises  the set is read completely before it gets its name; the entry has the detected format,
//!           the counts, and size and digest of each file, which every stage compares later; it is
//!           beside the files, so that it applies wherever the folder is; folder and entry appear
//!           complete, or not at all
//! promises  a used name is an error; with `--force` an imported set is replaced, and kept if the
//!           new one cannot be read; the next import into the same folder removes files of a killed
//!           one; synthetic parts of an exported graph stay marked as synthetic
//! never     links to the given files, or changes them; names a copy in an error instead of the
//!           given file; replaces a folder that no import wrote
//! limits    the graph in memory, once
mod arrays;
mod entry;
mod given_files;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warploom_catalog::{
    Catalog, Entry, Generator, entry::InheritedProvenance, imported_sets::ENTRY_FILE,
};
use warploom_contract::{
    ErrorKind, StageError, eintr,
    store::drafts::{self, Beside},
};
use warploom_formats::{
    Options, column_report,
    out_of_core::{LoadedGraph, are_both_ways, note_large_weights},
    raw_graph::{Features, Labels, RawGraph},
    read_error::ReadError,
    side_files::{
        self,
        names_json::{self, Names},
    },
};
use warploom_shell::{
    Environment, hints,
    machine_limits::show_size,
    progress::Talk,
    requests::{catalog_error, read_error},
};
use warploom_spec::nearest;

use super::rm::{ImportedSet, refuse_foreign_files};
use crate::arguments::Import;
use given_files::{FileConversion, GraphPart, PlacedFile};

/// Name of drafts.
const DRAFT: &str = "import";

/// The set as it was read.
struct ReadSet {
    graph: RawGraph,
    format: &'static str,
    /// File names, in the order of the entry.
    files: Vec<String>,
    /// Its synthetic parts.
    inherited: InheritedProvenance,
    /// Whether edges are taken as directed, although neither files nor flags say so.
    one_way: bool,
}

/// Imports a data set: copies and reads its files, writes its entry, and publishes it.
pub fn import(environment: &Environment, talk: &Talk, asked: &Import) -> Result<(), StageError> {
    let options = parse_read_options(&asked.read)?;
    let place = Place::find_free(environment, &asked.name)?;
    let (files, inherited) = given_files::place_files(asked)?;
    talk.stage("import");
    let found = draft_set(&place, asked, &files, &options, inherited)?;
    print_import(environment, asked, &place, &found);
    Ok(())
}

/// Builds the set and its entry as a draft, and publishes it.
fn draft_set(
    place: &Place,
    asked: &Import,
    files: &[PlacedFile],
    options: &Options,
    inherited: InheritedProvenance,
) -> Result<ReadSet, StageError> {
    let draft = Beside::begin(place.data_folder(), DRAFT)
        .map_err(|error| error.replace_store_option("--data DIR"))?;
    let shown = |error: StageError| {
        error.replace_path(draft.path(), &place.folder).replace_store_option("--data DIR")
    };
    copy_files(files, draft.path()).map_err(shown)?;
    let found = read_set(draft.path(), files, options)?;
    let found = ReadSet { inherited, one_way: found.one_way && !asked.undirected, ..found };
    let text = entry::entry_text(asked, options, &found, draft.path()).map_err(shown)?;
    Entry::from_yaml(&asked.name, &text, &place.entry_path().display().to_string())
        .map_err(|error| catalog_error(&error))?;
    write_synced(&draft.path().join(ENTRY_FILE), &text).map_err(shown)?;
    let replaced = Beside::begin(place.data_folder(), DRAFT)
        .map_err(|error| error.replace_store_option("--data DIR"))?;
    drafts::undisturbed(|| place.publish(draft.path(), replaced.path())).map_err(shown)?;
    Ok(found)
}

/// The folder of a new set.
struct Place {
    folder: PathBuf,
    /// Whether the folder holds a set to be replaced.
    replaces: bool,
    /// The entry of an earlier version for the set to be replaced.
    old_entry: Option<PathBuf>,
}

impl Place {
    /// A folder in the first data folder, where the name must be free; with `--force`, the folder
    /// of an imported set of this name.
    fn find_free(environment: &Environment, name: &str) -> Result<Place, StageError> {
        refuse_name(name)?;
        let folder =
            environment.data.first().cloned().unwrap_or_else(|| "data/raw".into()).join(name);
        remove_unfinished_import(&folder)?;
        let taken = |what: &str, place: &Path, hint: String| {
            Err(StageError::new(ErrorKind::Input, format!("there is {what} `{name}` already"))
                .at(place.display())
                .hint(hint))
        };
        let catalog = Catalog::discover();
        let place = match ImportedSet::find(environment, &catalog, name)? {
            Some(ImportedSet { folder: there, old_entry }) if environment.force => {
                there.as_deref().map_or(Ok(()), refuse_foreign_files)?;
                Place { replaces: there.is_some(), folder: there.unwrap_or(folder), old_entry }
            }
            Some(there) => {
                let hint = format!(
                    "replace it with  --force ,  or remove it:  warploom data rm {name} ,  or \
                     choose another name"
                );
                return taken("an imported set called", there.place(), hint);
            }
            None => {
                if catalog.has_entry(name).map_err(|error| catalog_error(&error))? {
                    let entry = catalog
                        .folder()
                        .map(|folder| folder.join(format!("{name}.yaml")))
                        .filter(|path| path.exists());
                    let entry = entry.unwrap_or_else(|| "the catalogue in the binary".into());
                    return taken(
                        "an entry of the catalogue called",
                        &entry,
                        "choose another name".to_owned(),
                    );
                }
                if let Some(there) = environment
                    .data
                    .iter()
                    .map(|data| data.join(name))
                    .find(|folder| folder.exists())
                {
                    let hint = format!(
                        "no import wrote it: choose another name, or move it away:  mv {0} {0}.old",
                        there.display()
                    );
                    return taken("a folder called", &there, hint);
                }
                Place { folder, replaces: false, old_entry: None }
            }
        };
        fs::create_dir_all(place.data_folder()).map_err(|error| {
            StageError::io("make a folder", place.data_folder(), &error)
                .replace_store_option("--data DIR")
        })?;
        Ok(place)
    }

    /// The parent of the set's folder.
    fn data_folder(&self) -> &Path {
        self.folder.parent().unwrap_or(Path::new("."))
    }

    /// The path of the entry.
    fn entry_path(&self) -> PathBuf {
        self.folder.join(ENTRY_FILE)
    }

    /// The error of publishing, where the name was free when this import began.
    fn name_error(&self, error: &io::Error) -> StageError {
        if !matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
        {
            return StageError::io("give its name to", &self.folder, error);
        }
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let error = StageError::new(
            ErrorKind::Input,
            format!("another import took the name `{name}` meanwhile"),
        )
        .at(self.folder.display());
        error.hint("choose another name, or look at what is there:  warploom data ls")
    }

    /// Publishes the draft. A set of this name is exchanged with it atomically, and removed as the
    /// draft.
    fn publish(&self, draft: &Path, replaced: &Path) -> Result<(), StageError> {
        let named = |error: io::Error| self.name_error(&error);
        let done = match self.replaces {
            true => eintr::retry(|| exchange_folders(draft, &self.folder)),
            false => eintr::retry(|| fs::rename(draft, &self.folder)),
        };
        match done {
            // The file system cannot exchange two names: EINVAL, ENOSYS, ENOTSUP.
            Err(error)
                if self.replaces
                    && matches!(
                        error.kind(),
                        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                    ) =>
            {
                self.publish_in_two_steps(draft, replaced).map_err(named)?;
            }
            done => done.map_err(named)?,
        }
        match &self.old_entry {
            Some(entry) => fs::remove_file(entry).map_err(|error| {
                StageError::io("remove the entry of the set before", entry, &error)
            }),
            None => Ok(()),
        }
    }

    /// Moves the old set into `replaced`, and back if the draft cannot be renamed.
    fn publish_in_two_steps(&self, draft: &Path, replaced: &Path) -> io::Result<()> {
        let old = replaced.join("old");
        eintr::retry(|| fs::rename(&self.folder, &old))?;
        eintr::retry(|| fs::rename(draft, &self.folder)).or_else(|error| {
            fs::rename(&old, &self.folder)?;
            Err(error)
        })
    }
}

/// Exchanges the names of two folders atomically.
fn exchange_folders(one: &Path, other: &Path) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(
        rustix::fs::CWD,
        one,
        rustix::fs::CWD,
        other,
        rustix::fs::RenameFlags::EXCHANGE,
    )?)
}

/// Refuses invalid names, and names of generated graphs: one of the two would hide the other.
fn refuse_name(name: &str) -> Result<(), StageError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.starts_with(['.', '-']) || !name.bytes().all(plain) {
        let error =
            StageError::new(ErrorKind::Usage, format!("`{name}` cannot be the name of a data set"));
        return Err(error.hint("names are letters, digits, `_`, `-` and `.`"));
    }
    if let Some(Ok(_)) = Generator::from_name(name) {
        let error = StageError::new(
            ErrorKind::Usage,
            format!("`{name}` is the name of a graph that is generated"),
        );
        return Err(error.hint(format!(
            "choose another name:  warploom data import my-{name} ... ;  the generated graph:  \
             warploom data generate {name}"
        )));
    }
    Ok(())
}

/// Removes a set whose import, by an earlier version, was killed before it wrote the entry: all its
/// files are copies.
fn remove_unfinished_import(folder: &Path) -> Result<(), StageError> {
    if folder.join(ENTRY_FILE).exists() || !drafts::holds_leftover(folder, DRAFT) {
        return Ok(());
    }
    fs::remove_dir_all(folder)
        .map_err(|error| StageError::io("remove what a killed import left", folder, &error))
}

/// Parses `KEY=VALUE` as fields of a catalogue entry's `read:`.
fn parse_read_options(settings: &[String]) -> Result<Options, StageError> {
    let mut fields = serde_json::Map::new();
    for setting in settings {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(crate::usage_error(
                format!("`--read {setting}`: expected KEY=VALUE"),
                "for example  --read source=from_id",
            ));
        };
        let value = parse_value(value);
        // Each separately, so that an error names the right one.
        serde_json::from_value::<Options>(json!({ key: value }))
            .map_err(|error| option_error(setting, key, &value, &error))?;
        fields.insert(key.to_owned(), value);
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| crate::usage_error(format!("`--read`: {error}"), READ_HINT))
}

const READ_HINT: &str = "fields are those of `read:` in a catalogue entry";

/// The error of an unknown field or value, with what was probably meant.
fn option_error(setting: &str, key: &str, value: &Value, error: &serde_json::Error) -> StageError {
    let known = serde_json::to_value(Options::default()).unwrap_or_default();
    let names: Vec<&String> =
        known.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    let hint = match known.get(key) {
        None => {
            // Only a name that accepts the value.
            let is_right =
                |near: &&str| serde_json::from_value::<Options>(json!({ *near: value })).is_ok();
            let near = nearest(key, names.iter().map(|name| name.as_str())).filter(is_right);
            near.map(|near| format!("did you mean  --read {}", setting.replacen(key, near, 1)))
        }
        Some(Value::Array(_)) => {
            value.as_str().map(|word| format!("a list:  --read '{key}=[\"{word}\"]'"))
        }
        Some(_) => None,
    };
    crate::usage_error(
        format!("`--read {setting}`: {error}"),
        hint.unwrap_or_else(|| READ_HINT.to_owned()),
    )
}

/// Parses a number, a list or a boolean; a list of words may be unquoted, as in catalogue entries;
/// anything else is a word.
fn parse_value(text: &str) -> Value {
    let word = |text: &str| Value::String(text.to_owned());
    let within = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    serde_json::from_str(text).unwrap_or_else(|_| match within {
        Some(items) => {
            items.split(',').map(|item| word(item.trim().trim_matches(['"', '\'']))).collect()
        }
        None => word(text),
    })
}

/// Copies or converts the files into the draft folder.
fn copy_files(files: &[PlacedFile], draft: &Path) -> Result<(), StageError> {
    let names = match files.iter().find(|file| file.thing == GraphPart::Names) {
        Some(file) => names_json::read(file.first()).map_err(|error| read_error(&error))?,
        None => Names::default(),
    };
    for file in files {
        let to = draft.join(&file.name);
        match file.made {
            FileConversion::Copied => drop(
                fs::copy(file.first(), &to).map_err(|error| StageError::io("copy", &to, &error))?,
            ),
            FileConversion::Table => arrays::write_table(file, &names, &to)?,
            FileConversion::Matrix => arrays::write_matrix(file, &to)?,
            FileConversion::SparseRows => arrays::write_sparse_rows(file, &to)?,
        }
        fs::File::open(&to)
            .and_then(|file| file.sync_all())
            .map_err(|error| StageError::io("write", &to, &error))?;
    }
    Ok(())
}

/// Reads the set as `ingest` will, and validates the graph.
fn read_set(draft: &Path, files: &[PlacedFile], options: &Options) -> Result<ReadSet, StageError> {
    let mut paths: Vec<PathBuf> = files.iter().map(|file| draft.join(&file.name)).collect();
    paths.sort();
    let original = |error: StageError| {
        let named = files
            .iter()
            .fold(error, |error, file| error.replace_path(&draft.join(&file.name), file.first()));
        // Hints of readers are for pipelines.
        let hint = named.hint.as_deref().map(hints::adapt_to_import);
        StageError { hint, ..named }.replace_path(draft, Path::new("the set"))
    };
    let wrong = |error: Box<ReadError>| original(read_error(&error));
    let (format, own) = warploom_formats::detect(draft, &paths).map_err(wrong)?;
    let mut loaded = LoadedGraph::held(format.read(&own, options).map_err(wrong)?);
    note_large_weights(format.name, &mut loaded).map_err(wrong)?;
    let mut graph = loaded.graph;
    let beside: Vec<PathBuf> = paths.iter().filter(|path| !own.contains(path)).cloned().collect();
    let used = side_files::attach(&mut graph, &beside).map_err(wrong)?;
    if let Some(unused) = beside.iter().find(|path| !used.contains(path)) {
        let error = StageError::new(
            ErrorKind::Data,
            format!("nothing was read from this file beside edges in the format `{}`", format.name),
        );
        return Err(original(
            error
                .at(unused.display())
                .hint("name the array `features`, `labels`, `split` or `ids`"),
        ));
    }
    graph.notes.iter_mut().for_each(|note| *note = hints::adapt_to_import(note));
    graph.validate().map_err(|what| {
        StageError::defect(format!("the reader `{}` broke an invariant: {what}", format.name))
    })?;
    let names = own
        .iter()
        .chain(&beside)
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let one_way = graph.directed.is_none() && !are_both_ways(&graph.edges, None).map_err(wrong)?;
    Ok(ReadSet {
        graph,
        format: format.name,
        files: names,
        inherited: InheritedProvenance::default(),
        one_way,
    })
}

fn write_synced(path: &Path, text: &str) -> Result<(), StageError> {
    let write = || {
        let mut file = fs::File::create_new(path)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| StageError::io("write", path, &error))
}

fn print_import(environment: &Environment, asked: &Import, place: &Place, found: &ReadSet) {
    let (graph, name) = (&found.graph, &asked.name);
    let bytes: u64 = found
        .files
        .iter()
        .filter_map(|file| fs::metadata(place.folder.join(file)).ok())
        .map(|facts| facts.len())
        .sum();
    let features = graph.features.as_ref().map(Features::columns);
    let classes = graph.labels.as_ref().and_then(|labels| match labels {
        Labels::Classes { names, .. } => Some(names.len()),
        _ => None,
    });
    let edge_columns = graph.edges.features.as_ref().map_or(0, |features| features.columns);
    let report: Vec<(&str, String)> = column_report::report(graph, edge_columns)
        .into_iter()
        .map(|(what, text)| (what, hints::adapt_to_import(&text)))
        .collect();
    crate::print_as(
        environment,
        || {
            let mut text = format!(
                "{name}: {} nodes, {} listed edges, format `{}` ({})\n",
                graph.nodes(),
                graph.edges.len(),
                found.format,
                show_size(bytes)
            );
            if found.one_way {
                text += "  edges are directed; for both directions:  --undirected\n";
            }
            report.iter().for_each(|(what, told)| text += &format!("  {what:<9} {told}\n"));
            if !report.iter().any(|(what, _)| *what == "features") {
                text += &format!(
                    "  no features: a program that reads them gets a column for each node \
                        (one-hot, {})\n",
                    graph.nodes()
                );
            }
            graph.passed_over.iter().for_each(|what| text += &format!("  ignored: {what}\n"));
            graph.notes.iter().for_each(|note| text += &format!("  note: {note}\n"));
            if found.inherited.stand_in {
                text += "  STAND-IN: the files came out of a generated graph, and the set is \
                    called one everywhere\n";
            }
            text += &format!(
                "  files     {}\n  entry     {}\n",
                place.folder.display(),
                place.entry_path().display()
            );
            if classes.is_some() && !entry::has_split(graph) {
                text += "  no split: to train, write one into the entry, for example  split: \
                    {rule: fractions, train: 0.6, validation: 0.2, test: 0.2}\n";
            }
            text + &format!(
                "next: warploom data show {name}\n      warploom pipeline FILE --set \
                    dataset={name}\n"
            )
        },
        || {
            vec![
                json!({"name": name, "nodes": graph.nodes(), "listed": graph.edges.len(), "format": found.format, "features": features, "classes": classes,
                "passed_over": graph.passed_over, "notes": graph.notes, "folder": place.folder.to_string_lossy(), "entry": place.entry_path().to_string_lossy(), "files": found.files}),
            ]
        },
    );
}

#[cfg(test)]
mod tests;
