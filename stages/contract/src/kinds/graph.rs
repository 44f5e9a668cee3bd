//! graph: a data set as it is, under its own ids.
//!
//! files     `edges.parquet` (source u32, target u32; weight f32, type u16 where the data has
//!           them): edge id = row; `nodes.parquet` (id u64 or string, ascending; kind u16 where
//!           there are several; graph u32 for sets of many graphs; label u32, f32 or fixed list;
//!           split `list<u8>`, one entry per published split: 0 none, 1 train, 2 validation, 3
//!           test; further columns of the data set); `graphs.parquet` (id, label, split, further
//!           columns) for sets of many graphs; `features.arrow` (one fixed-size list a node) or
//!           `features-sparse.arrow` (one list of index and value a node), per kind of node
//!           `features-<kind>.arrow` or `features-<kind>-sparse.arrow` (rows of that kind alone, in
//!           node order); `edge-features.arrow` (one fixed-size list an edge, in the order of edge
//!           ids); `names.json` (names of kinds, relations and classes by number, where there are
//!           any)
//! promises  source and target are rows of nodes.parquet; ids ascend (numbers by value, strings by
//!           bytes); counts and facts of labels and splits are those of the training target:
//!           graphs where graphs have labels (fact `target`), else nodes
//! never     is permuted: `run` applies an order when it loads a graph
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Depth, expect_length, has_file, need_count, need_file, read_json};
use crate::{
    Artifact, Kind, Manifest, Outputs, StageError,
    arrow_file::{
        SparseColumns, View, open_rows, open_sparse_rows, write_rows, write_rows_of,
        write_sparse_rows,
    },
};

/// Edge table.
pub const EDGES_FILE: &str = "edges.parquet";
/// Node table.
pub const NODES_FILE: &str = "nodes.parquet";
/// Dense features.
pub const FEATURES_FILE: &str = "features.arrow";
/// Sparse features.
pub const FEATURES_SPARSE_FILE: &str = "features-sparse.arrow";
/// Features of edges.
pub const EDGE_FEATURES_FILE: &str = "edge-features.arrow";
/// Graph table, in sets of many graphs.
pub const GRAPHS_FILE: &str = "graphs.parquet";
/// Names of kinds, relations and classes.
pub const NAMES_FILE: &str = "names.json";
/// Column of all feature files.
pub const FEATURES_COLUMN: &str = "features";

/// The fact that says what has labels: `nodes`, `graphs`, or `both`.
pub const TARGET: &str = "target";
/// Prefix of the counts and facts of the labels of graphs, where nodes have labels too.
pub const OF_GRAPHS: &str = "graphs.";

/// The part of a split that a node is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Split {
    /// Not used.
    None = 0,
    /// The loss is computed over it.
    Train = 1,
    /// Model selection uses it.
    Validation = 2,
    /// Reported only.
    Test = 3,
}

/// Features, mapped.
#[derive(Clone, Debug)]
pub enum Features {
    /// Row-major values.
    Dense {
        /// Width of a row.
        columns: usize,
        /// nodes x columns.
        values: View<f32>,
    },
    /// Nonzero entries only.
    Sparse {
        /// Width of a row.
        columns: usize,
        /// Offsets, indices, values.
        entries: SparseColumns,
    },
}

/// Maps the features, if the graph has any.
pub fn open_features(artifact: &Artifact) -> Result<Option<Features>, StageError> {
    if artifact.has(FEATURES_FILE) {
        let (columns, values) = open_rows(&artifact.file(FEATURES_FILE), FEATURES_COLUMN)?;
        return Ok(Some(Features::Dense { columns, values }));
    }
    open_sparse_features(artifact, None)
}

/// Maps the features of all nodes, or of those of one kind, if they are sparse.
pub fn open_sparse_features(
    artifact: &Artifact,
    kind: Option<&str>,
) -> Result<Option<Features>, StageError> {
    let file = kind.map_or_else(|| FEATURES_SPARSE_FILE.to_owned(), features_sparse_file);
    if !artifact.has(&file) {
        return Ok(None);
    }
    let count =
        kind.map_or_else(|| "feature_columns".to_owned(), |kind| format!("feature_columns.{kind}"));
    let columns = artifact.count(&count)? as usize;
    let entries = open_sparse_rows(&artifact.file(&file), FEATURES_COLUMN)?;
    Ok(Some(Features::Sparse { columns, entries }))
}

/// Whether the features of some nodes are sparse.
pub fn has_sparse_features(artifact: &Artifact) -> bool {
    let is_sparse = |name: &str| {
        name == FEATURES_SPARSE_FILE
            || name.starts_with("features-") && name.ends_with("-sparse.arrow")
    };
    artifact.manifest.files.iter().any(|file| is_sparse(&file.name))
}

/// Names of what a graph counts; a list is empty where there is nothing to name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Names {
    /// Kinds of nodes.
    pub kinds: Vec<String>,
    /// Relations of edges.
    pub relations: Vec<String>,
    /// Classes of the labels.
    pub classes: Vec<String>,
}

/// Writes the names, if there are any.
pub fn write_names(outputs: &mut Outputs, names: &Names) -> Result<(), StageError> {
    if *names == Names::default() {
        return Ok(());
    }
    let path = outputs.file(Kind::Graph, NAMES_FILE);
    let text = serde_json::to_string_pretty(names)
        .map_err(|error| StageError::defect(error.to_string()))?;
    std::fs::write(&path, text + "\n").map_err(|error| StageError::io("write", &path, &error))
}

/// Reads the names, which may all be missing.
pub fn open_names(artifact: &Artifact) -> Result<Names, StageError> {
    if artifact.has(NAMES_FILE) { read_names(&artifact.path) } else { Ok(Names::default()) }
}

fn read_names(directory: &Path) -> Result<Names, StageError> {
    let path = directory.join(NAMES_FILE);
    read_json(&path)
}

/// Whether a name can be that of a kind: names of files and of parameters contain it.
pub fn is_kind_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name != "sparse" && name.bytes().all(plain)
}

/// A valid, unique name for each name of a kind. An address (`/`, `#`) is reduced to its last part
/// if no other name has the same one. Other characters become `_`. Names that are still equal get
/// their number at the end.
pub fn kind_names(names: &[String]) -> Vec<String> {
    let plain = |text: &str| {
        text.chars()
            .map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' })
            .collect::<String>()
    };
    let last = |name: &String| {
        plain(name.rsplit(['/', '#']).find(|part| !part.is_empty()).unwrap_or_default())
    };
    let ends: Vec<String> = names.iter().map(last).collect();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    ends.iter().for_each(|end| *endings.entry(end).or_default() += 1);
    let mut taken = BTreeSet::new();
    let mut made = Vec::with_capacity(names.len());
    for (number, (name, end)) in names.iter().zip(&ends).enumerate() {
        let mut label = if endings[end.as_str()] == 1 { end.clone() } else { plain(name) };
        while !is_kind_name(&label) || taken.contains(&label) {
            label = format!("{label}_{number}");
        }
        taken.insert(label.clone());
        made.push(label);
    }
    made
}

/// File of the dense features of a kind of nodes.
pub fn features_file(kind: &str) -> String {
    format!("features-{kind}.arrow")
}

/// File of the sparse features of a kind of nodes.
pub fn features_sparse_file(kind: &str) -> String {
    format!("features-{kind}-sparse.arrow")
}

/// Maps the features of the nodes of one kind, in node order, if they have any. The manifest counts
/// `feature_columns.<kind>`, `feature_entries.<kind>` where they are sparse, and `nodes.<kind>`.
pub fn open_features_of_kind(
    artifact: &Artifact,
    kind: &str,
) -> Result<Option<Features>, StageError> {
    let dense = features_file(kind);
    if artifact.has(&dense) {
        let (columns, values) = open_rows(&artifact.file(&dense), FEATURES_COLUMN)?;
        return Ok(Some(Features::Dense { columns, values }));
    }
    open_sparse_features(artifact, Some(kind))
}

/// Features to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureRows {
    /// Row-major values.
    Dense {
        /// Width of a row.
        columns: usize,
        /// Row by row.
        values: Vec<f32>,
    },
    /// Nonzero entries only.
    Sparse {
        /// Width of a row.
        columns: usize,
        /// Start of each row among the entries, and their number.
        offsets: Vec<u64>,
        /// Column of each entry, ascending inside a row.
        index: Vec<u32>,
        /// Value of each entry.
        values: Vec<f32>,
    },
}

/// Writes features of all nodes, or of those of one kind.
pub fn write_features(
    outputs: &mut Outputs,
    kind: Option<&str>,
    rows: FeatureRows,
) -> Result<(), StageError> {
    let named = |what: &str| kind.map_or_else(|| what.to_owned(), |kind| format!("{what}.{kind}"));
    match rows {
        FeatureRows::Dense { columns, values } => {
            outputs.count(Kind::Graph, &named("feature_columns"), columns as u64);
            let file = kind.map_or_else(|| FEATURES_FILE.to_owned(), features_file);
            write_rows(&outputs.file(Kind::Graph, &file), FEATURES_COLUMN, columns, values)
        }
        FeatureRows::Sparse { columns, offsets, index, values } => {
            outputs.count(Kind::Graph, &named("feature_columns"), columns as u64);
            outputs.count(Kind::Graph, &named("feature_entries"), index.len() as u64);
            let file = kind.map_or_else(|| FEATURES_SPARSE_FILE.to_owned(), features_sparse_file);
            write_sparse_rows(
                &outputs.file(Kind::Graph, &file),
                FEATURES_COLUMN,
                offsets,
                index,
                values,
            )
        }
    }
}

/// Writes features of edges, in the order of edge ids.
pub fn write_edge_features(
    outputs: &mut Outputs,
    columns: usize,
    values: Vec<f32>,
) -> Result<(), StageError> {
    outputs.count(Kind::Graph, "edge_feature_columns", columns as u64);
    write_rows(&outputs.file(Kind::Graph, EDGE_FEATURES_FILE), FEATURES_COLUMN, columns, values)
}

/// Writes the features of edges from an unnamed file of this process, in the order of edge ids.
pub fn write_edge_features_of(
    outputs: &mut Outputs,
    columns: usize,
    values: &std::fs::File,
) -> Result<(), StageError> {
    outputs.count(Kind::Graph, "edge_feature_columns", columns as u64);
    write_rows_of(&outputs.file(Kind::Graph, EDGE_FEATURES_FILE), FEATURES_COLUMN, columns, values)
}

/// Maps the features of edges, if the graph has any: their width, and a row for each edge id.
pub fn open_edge_features(artifact: &Artifact) -> Result<Option<(usize, View<f32>)>, StageError> {
    if !artifact.has(EDGE_FEATURES_FILE) {
        return Ok(None);
    }
    open_rows(&artifact.file(EDGE_FEATURES_FILE), FEATURES_COLUMN).map(Some)
}

/// Checks schema and invariants; without the `tables` feature, Parquet files by size alone.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, EDGES_FILE)?;
    need_file(directory, manifest, NODES_FILE)?;
    let nodes = need_count(directory, manifest, "nodes")?;
    validate_features(directory, manifest, depth, nodes, None)?;
    if has_file(manifest, NAMES_FILE) {
        let names = read_names(directory)?;
        for kind in &names.kinds {
            if !is_kind_name(kind) {
                return Err(StageError::damaged(
                    &directory.join(NAMES_FILE),
                    format!("a kind of nodes is called `{kind}`"),
                ));
            }
            validate_features(
                directory,
                manifest,
                depth,
                need_count(directory, manifest, &format!("nodes.{kind}"))?,
                Some(kind),
            )?;
        }
    }
    if has_file(manifest, EDGE_FEATURES_FILE) {
        let path = directory.join(EDGE_FEATURES_FILE);
        let columns = manifest.counts.get("edge_feature_columns").copied().unwrap_or(0);
        let (width, values) = open_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "feature columns", columns, width as u64)?;
        expect_length(
            &path,
            "feature values",
            need_count(directory, manifest, "edges")?.saturating_mul(columns),
            values.len() as u64,
        )?;
    }
    #[cfg(feature = "tables")]
    tables::validate(directory, manifest, depth)?;
    Ok(())
}

/// Checks the features of all nodes, or of those of one kind.
fn validate_features(
    directory: &Path,
    manifest: &Manifest,
    depth: Depth,
    rows: u64,
    kind: Option<&str>,
) -> Result<(), StageError> {
    let dense = kind.map_or_else(|| FEATURES_FILE.to_owned(), features_file);
    let sparse = kind.map_or_else(|| FEATURES_SPARSE_FILE.to_owned(), features_sparse_file);
    let columns =
        kind.map_or_else(|| "feature_columns".to_owned(), |kind| format!("feature_columns.{kind}"));
    let columns = manifest.counts.get(&columns).copied().unwrap_or(0);
    if has_file(manifest, &dense) {
        let path = directory.join(&dense);
        let (width, values) = open_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "feature columns", columns, width as u64)?;
        expect_length(&path, "feature values", rows.saturating_mul(columns), values.len() as u64)?;
    }
    if has_file(manifest, &sparse) {
        let path = directory.join(&sparse);
        let entries = open_sparse_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "offsets", rows + 1, entries.offsets.len() as u64)?;
        expect_length(
            &path,
            "entries",
            entries.offsets.last().copied().unwrap_or(0) as u64,
            entries.index.len() as u64,
        )?;
        if depth == Depth::Publish
            && let Some(far) = entries.index.iter().find(|&&index| u64::from(index) >= columns)
        {
            return Err(StageError::damaged(
                &path,
                format!("feature index {far} of only {columns} columns"),
            ));
        }
    }
    Ok(())
}

#[cfg(feature = "tables")]
pub use learned_columns::{LABEL, Learned, LearnedRows, WholeNumbers, learnable, read_learned};
#[cfg(feature = "tables")]
pub use tables::{
    EdgeTable, EdgeWriter, GraphTable, Ids, Labels, NODE_COLUMNS, NodeTable, nodes_of_kinds,
    read_edges, read_edges_with_progress, read_graphs, read_node_ids, read_nodes, write_edges,
    write_graphs, write_kinds, write_nodes,
};
#[cfg(feature = "tables")]
mod learned_columns;
#[cfg(feature = "tables")]
mod tables;

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        kind_names(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn kinds_get_names_that_files_can_have() {
        assert_eq!(
            named(&["paper", "http://a/x#Person", "http://b/Book/", "a b"]),
            ["paper", "Person", "Book", "a_b"]
        );
        assert_eq!(named(&["a#x", "b/x", "c"]), ["a_x", "b_x", "c"]);
        assert_eq!(named(&["", "sparse", "ä", "ö", "_"]), ["_0", "sparse_1", "_", "__3", "__4"]);
    }
}
