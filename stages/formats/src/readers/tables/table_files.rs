//! Which files are which table, and in which order.
//!
//! promises  a table is a file (`edges.parquet`), or a folder of parts (`edges/`, `edges.parquet/`)
//!           as Spark, Dask and DuckDB write it; parts come in the order of their names, numbers in
//!           them by value; `type=follows/` in a path is a column of its parts
//! never     reads what writers leave beside (`_SUCCESS`, `_metadata`, `.part-0.crc`)
use crate::{
    containers::arrow_tables::TableFile,
    read_error::{Read, ReadError},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Folders above a part that may name its table.
const LEVELS_MOST: usize = 8;
/// What names of tables end in.
const ENDS: [&str; 7] = [".parquet", ".pq", ".parq", ".arrow", ".arrows", ".feather", ".ipc"];

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRole {
    Edges,
    Nodes,
    Graphs,
    /// Features of nodes, row by row.
    Features,
}

/// The files of each table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableFiles {
    pub edges: Vec<TableFile>,
    pub nodes: Vec<TableFile>,
    pub graphs: Vec<TableFile>,
    pub features: Vec<TableFile>,
    /// Tables whose names say nothing.
    pub others: Vec<TableFile>,
}

/// Whether tables come in files that end so.
pub fn is_end(end: &str) -> bool {
    ENDS.iter().any(|known| known[1..] == *end)
}

/// Whether a file has the name of a table, and is not one that writers leave beside.
pub fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    !name.starts_with(['_', '.']) && ENDS.iter().any(|end| name.ends_with(end))
}

fn role_of(name: &str) -> Option<TableRole> {
    let name = name.to_lowercase();
    let stem = ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match stem {
        "edges" | "edge" | "edge_list" | "edgelist" | "links" | "relationships" => {
            Some(TableRole::Edges)
        }
        "nodes" | "node" | "vertices" | "vertex" => Some(TableRole::Nodes),
        "graphs" => Some(TableRole::Graphs),
        "features" => Some(TableRole::Features),
        _ => None,
    }
}

/// The role of a file by its own name, else by that of the folder it is a part in; `name=value`
/// folders lie between.
fn role_of_path(path: &Path) -> Option<TableRole> {
    let mut names = path
        .ancestors()
        .take(LEVELS_MOST)
        .filter_map(|step| Some(step.file_name()?.to_string_lossy().into_owned()));
    let own = names.next()?;
    let folder = names.find(|name| !name.contains('='))?;
    // Folders of data sets are called `graphs` for other reasons than that they are a table of
    // graphs.
    let is_table = ENDS.iter().any(|end| folder.to_lowercase().ends_with(end));
    role_of(&own).or_else(|| {
        role_of(&folder)
            .filter(|role| is_table || matches!(role, TableRole::Edges | TableRole::Nodes))
    })
}

/// Sorts files into tables.
pub fn sort_files(files: &[PathBuf]) -> TableFiles {
    let mut files: Vec<&PathBuf> = files.iter().filter(|path| is_table(path)).collect();
    files.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    let mut layout = TableFiles::default();
    for path in files {
        let part = TableFile { path: path.clone(), constants: constants(path) };
        match role_of_path(path) {
            Some(TableRole::Edges) => layout.edges.push(part),
            Some(TableRole::Nodes) => layout.nodes.push(part),
            Some(TableRole::Graphs) => layout.graphs.push(part),
            Some(TableRole::Features) => layout.features.push(part),
            None => layout.others.push(part),
        }
    }
    layout
}

/// All files at or below a path, as far as a folder of parts goes. A folder that cannot be listed
/// is an error: a table without some of its parts would be taken for whole.
pub fn list_files(path: &Path) -> Read<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![(path.to_path_buf(), 0)];
    while let Some((path, depth)) = open.pop() {
        if !path.is_dir() {
            files.push(path);
        } else if depth < LEVELS_MOST {
            let list = || {
                fs::read_dir(&path)?
                    .map(|entry| Ok((entry?.path(), depth + 1)))
                    .collect::<io::Result<Vec<_>>>()
            };
            open.extend(list().map_err(|error| ReadError::from_io(&path, &error))?);
        }
    }
    Ok(files)
}

/// Words and numbers of a name: `part.10` comes behind `part.9`.
fn natural(name: &str) -> Vec<(String, u128)> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let word = rest.find(|sign: char| sign.is_ascii_digit()).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(word);
        let digits = behind.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(behind.len());
        let (number, behind) = behind.split_at(digits);
        pieces.push((before.to_owned(), number.parse().unwrap_or(u128::MAX)));
        rest = behind;
    }
    pieces
}

/// `name=value` folders above a part; the value that stands for null is empty.
fn constants(path: &Path) -> Vec<(String, String)> {
    let folders = path.parent().into_iter().flat_map(Path::ancestors).take(LEVELS_MOST);
    let named = folders.filter_map(|folder| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let (name, value) = name.split_once('=')?;
        let value =
            if value == "__HIVE_DEFAULT_PARTITION__" { String::new() } else { unescaped(value) };
        Some((name.to_owned(), value))
    });
    named.collect()
}

/// `%20` and the like.
fn unescaped(value: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(value.len()), value.as_bytes());
    while let Some((&first, more)) = rest.split_first() {
        let code = more
            .get(..2)
            .filter(|_| first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_and_ordered_by_number() {
        let files = [
            "d/graphs/x.parquet",
            "d/edges.parquet/part.10.parquet",
            "d/edges.parquet/part.9.parquet",
            "d/edges.parquet/_SUCCESS",
            "d/edges.parquet/.part.9.parquet.crc",
            "d/nodes.feather",
            "d/x.parquet",
        ];
        let layout = sort_files(&files.map(PathBuf::from));
        let names = |parts: &[TableFile]| {
            parts.iter().map(|part| part.path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&layout.edges),
            ["d/edges.parquet/part.9.parquet", "d/edges.parquet/part.10.parquet"]
        );
        assert_eq!(
            (names(&layout.nodes), names(&layout.others)),
            (
                vec!["d/nodes.feather".to_owned()],
                vec!["d/graphs/x.parquet".to_owned(), "d/x.parquet".to_owned()]
            )
        );
    }

    #[test]
    fn folders_say_columns() {
        let found =
            constants(Path::new("edges/type=a%20b/year=__HIVE_DEFAULT_PARTITION__/data_0.parquet"));
        assert_eq!(
            found,
            [("year".to_owned(), String::new()), ("type".to_owned(), "a b".to_owned())]
        );
        assert_eq!(unescaped("100%"), "100%");
    }
}
