//! given_files: the input files of an import, and the name of each in the set, by which readers
//! recognise its contents.
//!
//! promises  an input file without a role in the set is an error that names it
//! never     reads more of a file than its beginning
use std::{
    fs,
    path::{Path, PathBuf},
};

use warploom_catalog::entry::InheritedProvenance;
use warploom_contract::{ErrorKind, StageError, manifest::MANIFEST_FILE};
use warploom_formats::{
    FileHeads,
    read_error::ReadError,
    readers::{edge_arrays, npz},
};
use warploom_shell::requests::{catalog_error, read_error};

use crate::arguments::Import;

/// File names that a hint shows.
const NAMES_SHOWN: usize = 6;
/// Suffix of sparse features in the store.
const SPARSE: &str = "-sparse";
/// Extensions of compressed files.
const PACKED: [&str; 2] = [".gz", ".zst"];

/// The family of a file format, as far as the file's name in a set depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Parquet or Arrow.
    Columns,
    /// CSV or TSV.
    Text,
    /// npy, npz, safetensors.
    Arrays,
    /// Any other supported format.
    Other,
}

/// The part of a graph that a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphPart {
    /// Its edges.
    Edges,
    /// Its nodes.
    Nodes,
    /// The graphs of a set of many.
    Graphs,
    /// Data beside a graph under this name: features, labels, split, ids.
    Beside(String),
    /// Names of classes, relations and node types.
    Names,
}

/// An input of the import.
#[derive(Clone, Debug)]
struct InputFile {
    thing: GraphPart,
    /// Its files; several if each is one array.
    files: Vec<PathBuf>,
}

/// How a file of the set is made from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileConversion {
    /// By copying.
    Copied,
    /// By converting arrays to a table.
    Table,
    /// By joining the arrays of a sparse matrix, from one file each, in one archive.
    Matrix,
    /// By converting sparse rows of the store to an archive.
    SparseRows,
}

/// An input with its name in the set.
#[derive(Clone, Debug)]
pub struct PlacedFile {
    /// The part of the graph that it holds.
    pub thing: GraphPart,
    /// Its source files.
    pub from: Vec<PathBuf>,
    /// Its name in the set.
    pub name: String,
    /// Its conversion.
    pub made: FileConversion,
}

impl PlacedFile {
    /// Its first source file.
    pub fn first(&self) -> &Path {
        self.from.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// All files with their names in the set, and their synthetic parts.
pub fn place_files(asked: &Import) -> Result<(Vec<PlacedFile>, InheritedProvenance), StageError> {
    let given = match &asked.from {
        Some(folder) => files_from_export(folder)?,
        None => files_from_arguments(asked)?,
    };
    let exported = asked.from.as_deref().or_else(|| find_export_folder(asked.edges.as_deref()?));
    let inherited = exported
        .map(InheritedProvenance::from_manifest)
        .transpose()
        .map_err(|error| catalog_error(&error))?;
    Ok((assign_names(&given)?, inherited.unwrap_or_default()))
}

/// The folder of an export that holds these edges.
fn find_export_folder(edges: &Path) -> Option<&Path> {
    split_name(edges)
        .0
        .split('.')
        .next()
        .filter(|stem| *stem == "edges")
        .and_then(|_| edges.parent())
}

fn files_from_arguments(asked: &Import) -> Result<Vec<InputFile>, StageError> {
    let beside = |name: &str| GraphPart::Beside(name.to_owned());
    let all = [
        (&asked.edges, GraphPart::Edges),
        (&asked.nodes, GraphPart::Nodes),
        (&asked.graphs, GraphPart::Graphs),
        (&asked.features, beside("features")),
        (&asked.labels, beside("labels")),
        (&asked.split, beside("split")),
        (&asked.ids, beside("ids")),
        (&asked.names, GraphPart::Names),
    ];
    let given = |(path, thing): (&Option<PathBuf>, GraphPart)| {
        path.clone().map(|path| InputFile { thing, files: vec![path] })
    };
    let given: Vec<InputFile> = all.into_iter().filter_map(given).collect();
    given.iter().flat_map(|given| &given.files).try_for_each(|path| refuse_no_file(path))?;
    Ok(given)
}

/// Refuses anything but a regular file before it is opened: opening a pipe would wait for a writer.
fn refuse_no_file(path: &Path) -> Result<(), StageError> {
    let facts = fs::metadata(path)
        .map_err(|error| missing_file_error(path, StageError::io("read", path, &error)))?;
    let (found, hint) = match (facts.is_file(), facts.is_dir()) {
        (true, _) => return Ok(()),
        (false, true) => (
            "a folder",
            "a folder of an export:  --from DIR;  a folder of parts is read where it lies: move it \
             to  <data>/<name>/edges.parquet/",
        ),
        (false, false) => (
            "a pipe, a socket or a device",
            "write what comes out of it to a file:  cat PIPE > FILE",
        ),
    };
    Err(StageError::new(ErrorKind::Input, format!("expected a file, found {found}"))
        .at(path.display())
        .hint(hint))
}

/// Adds a hint to the error of a missing path: near names, or the existing parent folder.
fn missing_file_error(path: &Path, error: StageError) -> StageError {
    if error.hint.is_some() || fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_symlink()) {
        return error;
    }
    if let Ok(to) = fs::read_link(path) {
        return error.hint(format!(
            "it is a link, and  {}  is not there: name the file itself",
            to.display()
        ));
    }
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
    match (folder.is_dir(), shown.is_empty()) {
        (false, _) => {
            error.hint(format!("name an existing file: there is no folder  {}", folder.display()))
        }
        (true, true) => {
            error.hint(format!("name an existing file: nothing is in  {}", folder.display()))
        }
        (true, false) if more > 0 => error.hint(format!(
            "name an existing file: in  {}  are {shown} and {more} more",
            folder.display()
        )),
        (true, false) => {
            error.hint(format!("name an existing file: in  {}  is {shown}", folder.display()))
        }
    }
}

/// The files of an export in a folder.
fn files_from_export(folder: &Path) -> Result<Vec<InputFile>, StageError> {
    let entries = fs::read_dir(folder)
        .map_err(|error| missing_file_error(folder, StageError::io("list", folder, &error)))?;
    // A silently ignored file would be missing in the set.
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>();
    let mut paths = paths.map_err(|error| StageError::io("list", folder, &error))?;
    paths.sort();
    let mut all: Vec<InputFile> = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || name == MANIFEST_FILE {
            continue;
        }
        let Some((thing, one_array)) = part_of_export(&path) else {
            let error = StageError::new(ErrorKind::Input, "not a file of an exported graph")
                .at(path.display());
            return Err(error.hint(
                "write the folder with  warploom export graph -o DIR ;  or name the files one by \
                 one:  --edges FILE  --nodes FILE",
            ));
        };
        refuse_no_file(&path)?;
        match all.iter_mut().find(|given| given.thing == thing) {
            Some(given)
                if one_array
                    && given.files.iter().all(|file| {
                        part_of_export(file).is_some_and(|(_, one_array)| one_array)
                    }) =>
            {
                given.files.push(path)
            }
            Some(given) => {
                let error = StageError::new(
                    ErrorKind::Input,
                    format!(
                        "two files hold the same part of the graph: also {}",
                        given.files[0].display()
                    ),
                );
                return Err(error.at(path.display()).hint(
                    "export into an empty folder, or name the files one by one:  --edges FILE  \
                     --nodes FILE",
                ));
            }
            None => all.push(InputFile { thing, files: vec![path] }),
        }
    }
    if all.iter().any(|given| given.thing == GraphPart::Edges) {
        return Ok(all);
    }
    let error = StageError::new(
        ErrorKind::Input,
        "there are no edges in this folder: expected edges.parquet, .csv, .npz, .safetensors, or \
         edges.source.npy",
    );
    Err(error.at(folder.display()).hint("write it with  warploom export graph -o DIR"))
}

/// The part of the graph in a file of an export, and whether the file is one array of several.
fn part_of_export(path: &Path) -> Option<(GraphPart, bool)> {
    let (stem, end, _) = split_name(path);
    if (stem.as_str(), end.as_str()) == ("names", "json") {
        return Some((GraphPart::Names, false));
    }
    let (stem, one_array) = match stem.split_once('.') {
        Some((stem, _)) if end == "npy" => (stem, true),
        Some(_) => return None,
        None => (stem.as_str(), false),
    };
    let family = family_of(&end);
    let thing = match stem {
        "edges" => GraphPart::Edges,
        "nodes" => GraphPart::Nodes,
        "graphs" => GraphPart::Graphs,
        "labels" | "split" | "ids" if family == Family::Arrays => {
            GraphPart::Beside(stem.to_owned())
        }
        stem if stem.starts_with("features") && stem.ends_with(SPARSE) && end == "arrow" => {
            GraphPart::Beside(stem[..stem.len() - SPARSE.len()].to_owned())
        }
        "features" | "edge-features" => GraphPart::Beside(stem.to_owned()),
        stem if stem.starts_with("features-") => GraphPart::Beside(stem.to_owned()),
        _ => return None,
    };
    (family != Family::Other).then_some((thing, one_array))
}

/// A file name's stem, its extension in lower case, and its compression.
fn split_name(path: &Path) -> (String, String, &'static str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lower = name.to_lowercase();
    let packed = PACKED.into_iter().find(|end| lower.ends_with(end)).unwrap_or("");
    let name = &name[..name.len() - packed.len()];
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    (stem.to_owned(), end.to_lowercase(), packed)
}

fn family_of(end: &str) -> Family {
    match end {
        "parquet" | "pq" | "parq" | "arrow" | "arrows" | "feather" | "ipc" => Family::Columns,
        "csv" | "tsv" => Family::Text,
        "npy" | "npz" | "safetensors" => Family::Arrays,
        _ => Family::Other,
    }
}

/// Assigns names to all files, by the format of the edges.
fn assign_names(given: &[InputFile]) -> Result<Vec<PlacedFile>, StageError> {
    let edges = given.iter().find(|given| given.thing == GraphPart::Edges);
    let Some(path) = edges.and_then(|edges| edges.files.first()) else {
        return Err(StageError::defect("an import without edges"));
    };
    let (_, end, packed) = split_name(path);
    let family = family_of(&end);
    let has_nodes = given.iter().any(|given| given.thing == GraphPart::Nodes);
    let system = |error: Box<ReadError>| read_error(&error);
    let is_graph = end == "npz"
        && npz::FORMAT
            .recognised(&FileHeads::new(std::slice::from_ref(path)))
            .map_err(system)?
            .is_some();
    // Features, labels and others in the edge file are read from there.
    let may_be_whole = family == Family::Arrays && !is_graph && !has_nodes && packed.is_empty();
    let is_whole = may_be_whole && edge_arrays::is_more_than_a_table(path).map_err(system)?;
    // A text file of any name is a table if there is a table of nodes.
    let text = family == Family::Text || family == Family::Other && has_nodes;
    let tables = !text && !is_graph && !is_whole && family != Family::Other;
    given
        .iter()
        .map(|given| {
            let first = given.files.first().map_or(Path::new(""), PathBuf::as_path);
            let (name, made) = match &given.thing {
                GraphPart::Edges => match family {
                    Family::Arrays if is_graph => (format!("graph.{end}"), FileConversion::Copied),
                    Family::Arrays if is_whole => (format!("edges.{end}"), FileConversion::Copied),
                    Family::Arrays => ("edges.parquet".to_owned(), FileConversion::Table),
                    Family::Columns => (format!("edges.{end}{packed}"), FileConversion::Copied),
                    _ if text => (
                        format!("edges.{}{packed}", if end == "tsv" { "tsv" } else { "csv" }),
                        FileConversion::Copied,
                    ),
                    _ => (
                        path.file_name()
                            .unwrap_or_default()
                            .to_string_lossy()
                            .trim_start_matches('.')
                            .to_owned(),
                        FileConversion::Copied,
                    ),
                },
                GraphPart::Nodes => table_name(first, "nodes", text, tables, &end)?,
                GraphPart::Graphs => table_name(first, "graphs", text, tables, &end)?,
                GraphPart::Beside(what) => side_file_name(given, what)?,
                GraphPart::Names => (
                    warploom_formats::side_files::names_json::FILE.to_owned(),
                    FileConversion::Copied,
                ),
            };
            Ok(PlacedFile { thing: given.thing.clone(), from: given.files.clone(), name, made })
        })
        .collect()
}

/// The name of a table of nodes or graphs, which has the format family of the edges.
fn table_name(
    path: &Path,
    name: &str,
    text: bool,
    tables: bool,
    edges_end: &str,
) -> Result<(String, FileConversion), StageError> {
    let (_, end, packed) = split_name(path);
    match family_of(&end) {
        Family::Text | Family::Other if text => Ok((
            format!("{name}.{}{packed}", if end == "tsv" { "tsv" } else { "csv" }),
            FileConversion::Copied,
        )),
        Family::Columns if tables => Ok((format!("{name}.{end}{packed}"), FileConversion::Copied)),
        Family::Arrays if tables => Ok((format!("{name}.parquet"), FileConversion::Table)),
        _ => {
            let error = StageError::new(
                ErrorKind::Input,
                format!("edges in `.{edges_end}` and {name} in `.{end}` are not read together"),
            );
            Err(error
                .at(path.display())
                .hint("write both tables as CSV, or both as Parquet or arrays"))
        }
    }
}

fn side_file_name(given: &InputFile, what: &str) -> Result<(String, FileConversion), StageError> {
    let (_, end, packed) = given.files.first().map(|path| split_name(path)).unwrap_or_default();
    let is_matrix = given.files.iter().any(|path| split_name(path).0.contains('.'));
    let is_sparse =
        given.files.first().is_some_and(|path| split_name(path).0 == format!("{what}{SPARSE}"));
    let may_be_table = what.starts_with("features") || what == "edge-features";
    match family_of(&end) {
        Family::Columns if is_sparse => Ok((format!("{what}.npz"), FileConversion::SparseRows)),
        Family::Arrays if is_matrix => Ok((format!("{what}.npz"), FileConversion::Matrix)),
        Family::Arrays => Ok((format!("{what}.{end}{packed}"), FileConversion::Copied)),
        Family::Columns | Family::Text if may_be_table => {
            Ok((format!("{what}.{end}{packed}"), FileConversion::Copied))
        }
        _ => {
            let error = StageError::new(
                ErrorKind::Input,
                format!("{what} of nodes are not read from `.{end}` here"),
            );
            let error =
                error.at(given.files.first().map_or(Path::new(""), PathBuf::as_path).display());
            Err(error
                .hint("write them as npy, npz or safetensors, or as columns of the table of nodes"))
        }
    }
}
