//! `warploom data import`: files of one's own become a data set with an entry of the catalogue.
//!
//! promises  the set was read once, whole, before it has a name; the entry says the format that was found and the counts that were read
//! promises  folder and entry stand under their names complete, or not at all; a name that is taken is an error
//! never     links to the files that were given, or changes them; lets an error speak of a copy: it names the file that was given
//! limits    the graph in memory, once
use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warploom_catalog::{Catalog, Entry, seen};
use warploom_contract::{ErrorKind, StageError};
use warploom_formats::{
    Look, Options, attach,
    raw::{Labels, RawGraph, ReadError},
};
use warploom_shell::{Environment, limits::show_size, requests::catalog_error, talk::Talk};

use super::edge_arrays;
use crate::arguments::Import;

/// How a file's contents are laid out, as far as its place in a set depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Parquet or Arrow.
    Columns,
    /// CSV or TSV.
    Text,
    /// npy, npz, safetensors.
    Arrays,
    /// Whatever else is read.
    Other,
}

/// A file and the name it gets.
struct Placed {
    from: PathBuf,
    /// Its name in the set.
    name: String,
    /// Whether it is arrays of edges, to be written as a table.
    convert: bool,
}

/// What was found out about the set.
struct Found {
    graph: RawGraph,
    format: &'static str,
    /// Plain names, in the order of the entry.
    files: Vec<String>,
}

/// Copies, reads, describes, names.
pub fn import(environment: &Environment, talk: &Talk, asked: &Import) -> Result<(), StageError> {
    let options = options_of(&asked.read)?;
    let places = Places::free(environment, &asked.name)?;
    let files = placed(asked)?;
    talk.stage("import");
    let draft = places.folder.with_file_name(format!(".import-{}-{}", asked.name, std::process::id()));
    let entry_draft = places.entry.with_file_name(format!(".{}.yaml-{}", asked.name, std::process::id()));
    let done = copy(&files, &draft).and_then(|()| read(&draft, &files, &options)).and_then(|found| {
        let text = entry_text(asked, &options, &found, &draft)?;
        Entry::from_yaml(&asked.name, &text, &places.entry.display().to_string()).map_err(|error| catalog_error(&error))?;
        write_synced(&entry_draft, &text)?;
        places.publish(&draft, &entry_draft)?;
        Ok(found)
    });
    if done.is_err() {
        let (_draft, _entry) = (fs::remove_dir_all(&draft), fs::remove_file(&entry_draft));
    }
    print(environment, asked, &places, &done?);
    Ok(())
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
        if let Some(there) = environment.data.iter().map(|data| data.join(name)).find(|folder| folder.exists()) {
            return taken("a folder called", &there);
        }
        for folder in [places.folder.parent(), places.entry.parent()].into_iter().flatten() {
            fs::create_dir_all(folder).map_err(|error| StageError::io("make a folder", folder, &error))?;
        }
        Ok(places)
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
            return Err(StageError::io("write", &self.entry, &error));
        }
        let _second_name = fs::remove_file(entry);
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
        // A number, a list or a truth; anything else is a word.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        fields.insert(key.to_owned(), value);
    }
    let wrong = |error: serde_json::Error| crate::usage(format!("`--read`: {error}"), "fields are those of `read:` in a catalogue entry");
    serde_json::from_value(Value::Object(fields)).map_err(wrong)
}

/// A file's family, its end and what it is packed in.
fn family_of(path: &Path) -> (Family, String, &'static str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let packed = [".gz", ".zst"].into_iter().find(|end| name.ends_with(end)).unwrap_or("");
    let end = name.strip_suffix(packed).unwrap_or(&name).rsplit_once('.').map_or("", |(_, end)| end).to_owned();
    let family = match end.as_str() {
        "parquet" | "pq" | "parq" | "arrow" | "arrows" | "feather" | "ipc" => Family::Columns,
        "csv" | "tsv" => Family::Text,
        "npy" | "npz" | "safetensors" => Family::Arrays,
        _ => Family::Other,
    };
    (family, end, packed)
}

/// Every file with the name by which readers know what it holds.
fn placed(asked: &Import) -> Result<Vec<Placed>, StageError> {
    let given = [(&asked.features, "features"), (&asked.labels, "labels"), (&asked.split, "split"), (&asked.ids, "ids")];
    for path in [Some(&asked.edges), asked.nodes.as_ref()].into_iter().flatten().chain(given.iter().filter_map(|(path, _)| path.as_ref())) {
        let facts = fs::metadata(path).map_err(|error| StageError::io("read", path, &error))?;
        if !facts.is_file() {
            let error = StageError::new(ErrorKind::Input, "expected a file, found a folder or a device").at(path.display());
            return Err(error.hint("a folder of parts is read where it lies: move it to  <data>/<name>/edges.parquet/"));
        }
    }
    let (family, end, packed) = family_of(&asked.edges);
    let is_graph = end == "npz" && (warploom_formats::npz::FORMAT.recognise)(&Look::new(std::slice::from_ref(&asked.edges))).is_some();
    let own = asked.edges.file_name().unwrap_or_default().to_string_lossy().trim_start_matches('.').to_owned();
    // A text of any name is a table where a table of nodes stands beside it.
    let text = family == Family::Text || family == Family::Other && asked.nodes.is_some();
    let (name, convert) = match family {
        Family::Columns => (format!("edges.{end}{packed}"), false),
        Family::Arrays if !is_graph => ("edges.parquet".to_owned(), true),
        Family::Arrays => (format!("graph.{end}"), false),
        _ if text => (format!("edges.{}{packed}", if end == "tsv" { "tsv" } else { "csv" }), false),
        _ => (own, false),
    };
    let mut files = vec![Placed { from: asked.edges.clone(), name, convert }];
    if let Some(nodes) = &asked.nodes {
        let (theirs, end, packed) = family_of(nodes);
        let fits = if text { theirs != Family::Columns && theirs != Family::Arrays } else { theirs == Family::Columns && !is_graph };
        if !fits {
            let error = StageError::new(ErrorKind::Input, format!("edges in `.{}` and nodes in `.{end}` are not read together", family_of(&asked.edges).1));
            return Err(error.at(nodes.display()).hint("write both tables as Parquet or both as CSV"));
        }
        let end = if text && end != "tsv" { "csv".to_owned() } else { end };
        files.push(Placed { from: nodes.clone(), name: format!("nodes.{end}{packed}"), convert: false });
    }
    let columns = files[0].convert || family == Family::Columns;
    for (path, what) in given.into_iter().filter_map(|(path, what)| Some((path.as_ref()?, what))) {
        let (family, end, packed) = family_of(path);
        if family != Family::Arrays && !(family == Family::Columns && what == "features" && columns) {
            let error = StageError::new(ErrorKind::Input, format!("{what} of nodes are not read from `.{end}` here")).at(path.display());
            return Err(error.hint("write them as npy, npz or safetensors, or as columns of the table of nodes"));
        }
        files.push(Placed { from: path.clone(), name: format!("{what}.{end}{packed}"), convert: false });
    }
    Ok(files)
}

/// Makes the folder of the set, under another name.
fn copy(files: &[Placed], draft: &Path) -> Result<(), StageError> {
    fs::create_dir(draft).map_err(|error| StageError::io("make a folder", draft, &error))?;
    for file in files {
        let to = draft.join(&file.name);
        if file.convert {
            edge_arrays::convert(&file.from, &to)?;
        } else {
            fs::copy(&file.from, &to).map_err(|error| StageError::io("copy", &to, &error))?;
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
        let shown = |text: String| {
            let named = files.iter().fold(text, |text, file| text.replace(&draft.join(&file.name).display().to_string(), &file.from.display().to_string()));
            named.replace(&draft.display().to_string(), "the set")
        };
        // Readers speak to who runs a pipeline.
        let hint = error.hint.map(|hint| hint.replace("--set ingest.ids=", "--read ids="));
        StageError { what: shown(error.what), place: error.place.map(shown), detail: error.detail.map(shown), hint, ..error }
    };
    let wrong = |error: Box<ReadError>| original(read_error(&error));
    let (format, own) = warploom_formats::detect(draft, &paths).map_err(wrong)?;
    let mut graph = (format.read)(&own, options).map_err(wrong)?;
    let beside: Vec<PathBuf> = paths.iter().filter(|path| !own.contains(path)).cloned().collect();
    let used = attach::attach(&mut graph, &beside).map_err(wrong)?;
    if let Some(unused) = beside.iter().find(|path| !used.contains(path)) {
        let error = StageError::new(ErrorKind::Data, format!("nothing was read from this file beside edges in the format `{}`", format.name));
        return Err(original(error.at(unused.display()).hint("name the array `features`, `labels`, `split` or `ids`")));
    }
    graph.validate().map_err(|what| StageError::defect(format!("the reader `{}` broke a promise: {what}", format.name)))?;
    let names = own.iter().chain(&beside).filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    Ok(Found { graph, format: format.name, files: names })
}

fn read_error(error: &ReadError) -> StageError {
    let mut converted = StageError::new(if error.io.is_some() { ErrorKind::Input } else { ErrorKind::Data }, error.what.clone()).at(error.location());
    converted.detail = error.detail();
    converted.hint = (!error.hint.is_empty()).then(|| error.hint.clone());
    converted
}

/// The entry, with what each file was made of and its digest as comments.
fn entry_text(asked: &Import, options: &Options, found: &Found, draft: &Path) -> Result<String, StageError> {
    let graph = &found.graph;
    let undirected = asked.undirected || graph.directed == Some(false);
    let mut text = format!("name: {0}\nabout: {1}\nfiles:\n", json!(asked.name), json!(format!("Imported from {}.", asked.edges.display())));
    for file in &found.files {
        let path = draft.join(file);
        let digest = seen::digest(&path, None, true).map_err(|error| StageError::io("read", &path, &error))?;
        let bytes = fs::metadata(&path).map_or(0, |facts| facts.len());
        let plain = file.strip_suffix(".gz").or(file.strip_suffix(".zst")).unwrap_or(file);
        text += &format!("  # {bytes} bytes, blake3 {digest}\n  - {{file: {}, url: null}}\n", json!(plain));
    }
    let task = if matches!(graph.labels, Some(Labels::Classes { .. })) { "node_classification" } else { "none" };
    let rule = if has_split(graph) { "given" } else { "none" };
    text += &format!("format: {}\n", found.format);
    text += &read_lines(options)?;
    text += &format!("directed: {}\nsymmetrize: {undirected}\ntask: {task}\nlicence: unknown\n", !undirected);
    text += &format!("expected: {{nodes: {}, listed: {}}}\nsplit: {{rule: {rule}}}\n", graph.nodes(), graph.edges.len());
    Ok(text)
}

fn has_split(graph: &RawGraph) -> bool {
    !graph.splits.is_empty() || graph.graphs.as_ref().is_some_and(|graphs| !graphs.splits.is_empty())
}

/// The options that are not as they are by themselves; JSON is YAML.
fn read_lines(options: &Options) -> Result<String, StageError> {
    let value = |options: &Options| serde_json::to_value(options).map_err(|error| StageError::defect(error.to_string()));
    let (Value::Object(mut asked), usual) = (value(options)?, value(&Options::default())?) else { return Ok(String::new()) };
    asked.retain(|name, value| usual[name] != *value);
    Ok(if asked.is_empty() { String::new() } else { format!("read: {}\n", Value::Object(asked)) })
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
            text += &format!("  files     {}\n  entry     {}\n", places.folder.display(), places.entry.display());
            if classes.is_some() && !has_split(graph) {
                text += "  no split: to train, write one into the entry, for example  split: {rule: fractions, train: 0.6, validation: 0.2, test: 0.2}\n";
            }
            text + &format!("next: warploom data show {name}\n      warploom pipeline FILE --set dataset={name}\n")
        },
        || {
            vec![json!({"name": name, "nodes": graph.nodes(), "listed": graph.edges.len(), "format": found.format, "features": features, "classes": classes,
                "passed_over": graph.passed_over, "folder": places.folder.to_string_lossy(), "entry": places.entry.to_string_lossy(), "files": found.files})]
        },
    );
}
