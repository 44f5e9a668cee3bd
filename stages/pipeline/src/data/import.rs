//! `warploom data import`: files of one's own become a data set with an entry of the catalogue.
//!
//! promises  the set was read once, whole, before it has a name; the entry says the format that was found, the counts that were read, and
//!           size and digest of each file, which every stage compares ever after; folder and entry stand under their names complete, or
//!           not at all; a name that is taken is an error; what a killed import left, be it between the two names, is removed by the next
//!           one into the same folders; what is not real in an exported graph is not real in the set that is made of it
//! never     links to the files that were given, or changes them; lets an error speak of a copy: it names the file that was given
//! limits    the graph in memory, once
mod arrays;
mod entry;
mod given;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warploom_catalog::{Catalog, Entry, entry::Inherited};
use warploom_contract::{
    ErrorKind, StageError,
    store::drafts::{self, Beside},
};
use warploom_formats::{
    Options, attach,
    names::{self, Names},
    raw::{Labels, RawGraph, ReadError},
    spill::note_large_weights,
};
use warploom_shell::{
    Environment, hints,
    limits::show_size,
    requests::{catalog_error, read_error},
    talk::Talk,
};

use crate::arguments::Import;
use given::{Made, Placed, Thing};

/// What drafts of sets and of entries are called.
const DRAFT: &str = "import";

/// What was found out about the set.
struct Found {
    graph: RawGraph,
    format: &'static str,
    /// Plain names, in the order of the entry.
    files: Vec<String>,
    /// What is not real in it.
    inherited: Inherited,
}

/// Copies, reads, describes, names.
pub fn import(environment: &Environment, talk: &Talk, asked: &Import) -> Result<(), StageError> {
    let options = options_of(&asked.read)?;
    let places = Places::free(environment, &asked.name)?;
    let (files, inherited) = given::placed(asked)?;
    talk.stage("import");
    let found = made(&places, asked, &files, &options, inherited)?;
    print(environment, asked, &places, &found);
    Ok(())
}

/// Makes the set and its entry as drafts, and gives them their names.
fn made(places: &Places, asked: &Import, files: &[Placed], options: &Options, inherited: Inherited) -> Result<Found, StageError> {
    let draft = Beside::begin(places.data(), DRAFT).map_err(|error| error.elsewhere("--data DIR"))?;
    let beside = Beside::begin(places.catalog(), DRAFT).map_err(|error| error.elsewhere("WARPLOOM_CATALOG=DIR"))?;
    let shown = |error: StageError| error.instead_of(draft.path(), &places.folder).elsewhere("--data DIR");
    copy(files, draft.path()).map_err(shown)?;
    let found = Found { inherited, ..read(draft.path(), files, options)? };
    let text = entry::text(asked, options, &found, draft.path()).map_err(shown)?;
    Entry::from_yaml(&asked.name, &text, &places.entry.display().to_string()).map_err(|error| catalog_error(&error))?;
    let entry = beside.path().join("entry.yaml");
    let shown = |error: StageError| error.instead_of(&entry, &places.entry).elsewhere("WARPLOOM_CATALOG=DIR");
    write_synced(&entry, &text).map_err(shown)?;
    // Of a set that has its name and not yet its entry, this says that it is half made.
    let mark = Beside::begin(draft.path(), DRAFT)?;
    drafts::undisturbed(|| {
        places.publish(draft.path(), &entry)?;
        let _gone = fs::remove_dir(places.folder.join(mark.path().file_name().unwrap_or_default()));
        Ok(found)
    })
}

/// Where a new set goes.
struct Places {
    folder: PathBuf,
    entry: PathBuf,
}

impl Places {
    /// The first data folder and the catalogue's folder, where the name must be free.
    fn free(environment: &Environment, name: &str) -> Result<Places, StageError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.starts_with(['.', '-']) || !name.bytes().all(plain) {
            let error = StageError::new(ErrorKind::Usage, format!("`{name}` cannot be the name of a data set"));
            return Err(error.hint("names are letters, digits, `_`, `-` and `.`"));
        }
        let taken = |what: &str, place: &Path| {
            let error = StageError::new(ErrorKind::Input, format!("there is {what} `{name}` already")).at(place.display());
            Err(error.hint("choose another name, or remove this one first"))
        };
        let catalog = Catalog::here();
        let folder = environment.data.first().cloned().unwrap_or_else(|| "data/raw".into());
        let entries = catalog.folder().map_or_else(|| PathBuf::from("data/catalog"), Path::to_path_buf);
        let places = Places { folder: folder.join(name), entry: entries.join(format!("{name}.yaml")) };
        if catalog.names().iter().any(|known| known == name) {
            return taken("an entry of the catalogue called", if places.entry.exists() { &places.entry } else { Path::new("the catalogue in the binary") });
        }
        places.make_way()?;
        if let Some(there) = environment.data.iter().map(|data| data.join(name)).find(|folder| folder.exists()) {
            return taken("a folder called", &there);
        }
        for (folder, flag) in [(places.data(), "--data DIR"), (places.catalog(), "WARPLOOM_CATALOG=DIR")] {
            fs::create_dir_all(folder).map_err(|error| StageError::io("make a folder", folder, &error).elsewhere(flag))?;
        }
        Ok(places)
    }

    /// Removes a set whose import was killed after it had its name and before it had its entry: all of it is a copy.
    fn make_way(&self) -> Result<(), StageError> {
        if !drafts::holds_leftover(&self.folder, DRAFT) {
            return Ok(());
        }
        fs::remove_dir_all(&self.folder).map_err(|error| StageError::io("remove what a killed import left", &self.folder, &error))
    }

    /// The folder of the set's folder.
    fn data(&self) -> &Path {
        self.folder.parent().unwrap_or(Path::new("."))
    }

    /// The folder of the entry.
    fn catalog(&self) -> &Path {
        self.entry.parent().unwrap_or(Path::new("."))
    }

    /// The folder gets its name, then the entry; without the entry the folder goes.
    fn publish(&self, draft: &Path, entry: &Path) -> Result<(), StageError> {
        fs::rename(draft, &self.folder).map_err(|error| StageError::io("give its name to", &self.folder, &error))?;
        // A link fails where a rename would replace another's entry.
        let named = fs::hard_link(entry, &self.entry).or_else(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Err(error),
            _ => fs::rename(entry, &self.entry),
        });
        if let Err(error) = named {
            let _left_over = fs::remove_dir_all(&self.folder);
            return Err(StageError::io("write", &self.entry, &error).elsewhere("WARPLOOM_CATALOG=DIR"));
        }
        Ok(())
    }
}

/// `KEY=VALUE` as the fields of a catalogue entry's `read:`.
fn options_of(settings: &[String]) -> Result<Options, StageError> {
    let mut fields = serde_json::Map::new();
    for setting in settings {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(crate::usage(format!("`--read {setting}`: expected KEY=VALUE"), "for example  --read source=from_id"));
        };
        fields.insert(key.to_owned(), value_of(value));
    }
    let wrong = |error: serde_json::Error| crate::usage(format!("`--read`: {error}"), "fields are those of `read:` in a catalogue entry");
    serde_json::from_value(Value::Object(fields)).map_err(wrong)
}

/// A number, a list or a truth; a list of words without quotes, as catalogue entries have it; anything else is a word.
fn value_of(text: &str) -> Value {
    let word = |text: &str| Value::String(text.to_owned());
    let within = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    serde_json::from_str(text).unwrap_or_else(|_| match within {
        Some(items) => items.split(',').map(|item| word(item.trim().trim_matches(['"', '\'']))).collect(),
        None => word(text),
    })
}

/// Fills the folder of the set, under another name.
fn copy(files: &[Placed], draft: &Path) -> Result<(), StageError> {
    let names = match files.iter().find(|file| file.thing == Thing::Names) {
        Some(file) => names::read(file.first()).map_err(|error| read_error(&error))?,
        None => Names::default(),
    };
    for file in files {
        let to = draft.join(&file.name);
        match file.made {
            Made::Copied => drop(fs::copy(file.first(), &to).map_err(|error| StageError::io("copy", &to, &error))?),
            Made::Table => arrays::write_table(file, &names, &to)?,
            Made::Matrix => arrays::write_matrix(file, &to)?,
        }
        fs::File::open(&to).and_then(|file| file.sync_all()).map_err(|error| StageError::io("write", &to, &error))?;
    }
    Ok(())
}

/// Reads the set as `ingest` will, and proves what was read.
fn read(draft: &Path, files: &[Placed], options: &Options) -> Result<Found, StageError> {
    let mut paths: Vec<PathBuf> = files.iter().map(|file| draft.join(&file.name)).collect();
    paths.sort();
    let original = |error: StageError| {
        let named = files.iter().fold(error, |error, file| error.instead_of(&draft.join(&file.name), file.first()));
        // Readers speak to who runs a pipeline.
        let hint = named.hint.as_deref().map(hints::for_import);
        StageError { hint, ..named }.instead_of(draft, Path::new("the set"))
    };
    let wrong = |error: Box<ReadError>| original(read_error(&error));
    let (format, own) = warploom_formats::detect(draft, &paths).map_err(wrong)?;
    let mut found = (format.read(&own, options).map_err(wrong)?, None);
    note_large_weights(format.name, &mut found).map_err(wrong)?;
    let mut graph = found.0;
    let beside: Vec<PathBuf> = paths.iter().filter(|path| !own.contains(path)).cloned().collect();
    let used = attach::attach(&mut graph, &beside).map_err(wrong)?;
    if let Some(unused) = beside.iter().find(|path| !used.contains(path)) {
        let error = StageError::new(ErrorKind::Data, format!("nothing was read from this file beside edges in the format `{}`", format.name));
        return Err(original(error.at(unused.display()).hint("name the array `features`, `labels`, `split` or `ids`")));
    }
    graph.notes.iter_mut().for_each(|note| *note = hints::for_import(note));
    graph.validate().map_err(|what| StageError::defect(format!("the reader `{}` broke a promise: {what}", format.name)))?;
    let names = own.iter().chain(&beside).filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    Ok(Found { graph, format: format.name, files: names, inherited: Inherited::default() })
}

fn write_synced(path: &Path, text: &str) -> Result<(), StageError> {
    let write = || {
        let mut file = fs::File::create_new(path)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| StageError::io("write", path, &error))
}

fn print(environment: &Environment, asked: &Import, places: &Places, found: &Found) {
    let (graph, name) = (&found.graph, &asked.name);
    let bytes: u64 = found.files.iter().filter_map(|file| fs::metadata(places.folder.join(file)).ok()).map(|facts| facts.len()).sum();
    let features = graph.features.as_ref().map(warploom_formats::raw::Features::columns);
    let classes = graph.labels.as_ref().and_then(|labels| match labels {
        Labels::Classes { names, .. } => Some(names.len()),
        _ => None,
    });
    crate::print_as(
        environment,
        || {
            let mut text =
                format!("{name}: {} nodes, {} edges as listed, format `{}` ({})\n", graph.nodes(), graph.edges.len(), found.format, show_size(bytes));
            text += &features.map_or_else(String::new, |columns| format!("  features  {columns} columns\n"));
            text += &classes.map_or_else(String::new, |classes| format!("  labels    {classes} classes\n"));
            graph.passed_over.iter().for_each(|what| text += &format!("  passed over: {what}\n"));
            graph.notes.iter().for_each(|note| text += &format!("  note: {note}\n"));
            if found.inherited.stand_in {
                text += "  STAND-IN: the files came out of a generated graph, and the set is called one everywhere\n";
            }
            text += &format!("  files     {}\n  entry     {}\n", places.folder.display(), places.entry.display());
            if classes.is_some() && !entry::has_split(graph) {
                text += "  no split: to train, write one into the entry, for example  split: {rule: fractions, train: 0.6, validation: 0.2, test: 0.2}\n";
            }
            text + &format!("next: warploom data show {name}\n      warploom pipeline FILE --set dataset={name}\n")
        },
        || {
            vec![json!({"name": name, "nodes": graph.nodes(), "listed": graph.edges.len(), "format": found.format, "features": features, "classes": classes,
                "passed_over": graph.passed_over, "notes": graph.notes, "folder": places.folder.to_string_lossy(), "entry": places.entry.to_string_lossy(), "files": found.files})]
        },
    );
}

#[cfg(test)]
mod tests;
