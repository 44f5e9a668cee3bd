//! graph: a data set as it is, under its own ids.
//!
//! files     `edges.parquet` (source u32, target u32; weight f32, type u16 where the data has them): edge id = row;
//!           `nodes.parquet` (id u64 or string, ascending; label u32, f32 or fixed list; split `list<u8>`, one entry per
//!           published split: 0 none, 1 train, 2 validation, 3 test); `features.arrow` (one fixed-size list a node) or
//!           `features-sparse.arrow` (one list of index and value a node); `edge-features.arrow` (one fixed-size list an edge,
//!           in the order of edge ids)
//! promises  source and target are rows of nodes.parquet; ids ascend (numbers by value, strings by bytes)
//! never     is permuted: orders are applied when a device is loaded
use std::path::Path;

use super::{Depth, expect_length, has_file, need_count, need_file};
use crate::{
    Artifact, Manifest, StageError,
    arrow_file::{SparseColumns, View, open_rows, open_sparse_rows},
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
/// Column of all feature files.
pub const FEATURES_COLUMN: &str = "features";

/// What a split says of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Split {
    /// Not used.
    None = 0,
    /// The loss is taken over it.
    Train = 1,
    /// Choices are made by it.
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
    /// Only what is not 0.
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
    if artifact.has(FEATURES_SPARSE_FILE) {
        let columns = artifact.count("feature_columns")? as usize;
        let entries = open_sparse_rows(&artifact.file(FEATURES_SPARSE_FILE), FEATURES_COLUMN)?;
        return Ok(Some(Features::Sparse { columns, entries }));
    }
    Ok(None)
}

/// Maps the features of edges, if the graph has any: their number, and a row for each edge id.
pub fn open_edge_features(artifact: &Artifact) -> Result<Option<(usize, View<f32>)>, StageError> {
    if !artifact.has(EDGE_FEATURES_FILE) {
        return Ok(None);
    }
    open_rows(&artifact.file(EDGE_FEATURES_FILE), FEATURES_COLUMN).map(Some)
}

/// Schema and invariants. Without the `tables` feature the Parquet files are checked by size alone.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, EDGES_FILE)?;
    need_file(directory, manifest, NODES_FILE)?;
    let nodes = need_count(directory, manifest, "nodes")?;
    if nodes > crate::NODES_MAX {
        return Err(StageError::damaged(directory, format!("expected at most {} nodes, found {nodes}", crate::NODES_MAX)));
    }
    let columns = manifest.counts.get("feature_columns").copied().unwrap_or(0);
    if has_file(manifest, FEATURES_FILE) {
        let path = directory.join(FEATURES_FILE);
        let (width, values) = open_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "feature columns", columns, width as u64)?;
        expect_length(&path, "feature values", nodes * columns, values.len() as u64)?;
    }
    if has_file(manifest, FEATURES_SPARSE_FILE) {
        let path = directory.join(FEATURES_SPARSE_FILE);
        let entries = open_sparse_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "offsets", nodes + 1, entries.offsets.len() as u64)?;
        expect_length(&path, "entries", entries.offsets.last().copied().unwrap_or(0) as u64, entries.index.len() as u64)?;
        if depth == Depth::Publish
            && let Some(far) = entries.index.iter().find(|&&index| u64::from(index) >= columns)
        {
            return Err(StageError::damaged(&path, format!("feature index {far} of only {columns} columns")));
        }
    }
    if has_file(manifest, EDGE_FEATURES_FILE) {
        let path = directory.join(EDGE_FEATURES_FILE);
        let columns = manifest.counts.get("edge_feature_columns").copied().unwrap_or(0);
        let (width, values) = open_rows(&path, FEATURES_COLUMN)?;
        expect_length(&path, "feature columns", columns, width as u64)?;
        expect_length(&path, "feature values", need_count(directory, manifest, "edges")? * columns, values.len() as u64)?;
    }
    #[cfg(feature = "tables")]
    tables::validate(directory, manifest, depth)?;
    Ok(())
}

#[cfg(feature = "tables")]
pub use tables::{EdgeTable, Ids, Labels, NodeTable, read_edges, read_nodes, write_edges, write_nodes};

#[cfg(feature = "tables")]
mod tables {
    //! The Parquet half of a graph.
    use std::sync::Arc;

    use arrow_array::{
        Array, ArrayRef, FixedSizeListArray, ListArray, StringArray, UInt8Array, UInt32Array, UInt64Array,
        cast::AsArray,
        types::{Float32Type, UInt8Type, UInt32Type, UInt64Type},
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::{
        Kind, Outputs,
        arrow_file::numbers,
        parquet_file::{Table, describe, field, read_table, write_table},
    };

    /// The edges: row = edge id.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct EdgeTable {
        /// Where each starts.
        pub source: Vec<u32>,
        /// Where each ends.
        pub target: Vec<u32>,
        /// Weight of each, if weighted.
        pub weight: Option<Vec<f32>>,
        /// Relation of each, if there are several.
        pub kind: Option<Vec<u16>>,
    }

    /// The data set's own ids.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Ids {
        /// Ascending numbers.
        Numbers(Vec<u64>),
        /// Ascending strings.
        Strings(Vec<String>),
    }

    /// What is to be learned.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Labels {
        /// A class a node; `None` where it has none.
        Classes(Vec<Option<u32>>),
        /// A number a node.
        Values(Vec<f32>),
        /// A row of numbers a node.
        Rows {
            /// Width of a row.
            columns: usize,
            /// nodes x columns.
            values: Vec<f32>,
        },
    }

    /// The nodes: row = node id.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NodeTable {
        /// The data set's own ids.
        pub ids: Ids,
        /// Targets, if there are any.
        pub labels: Option<Labels>,
        /// For each published split, a `Split` for each node.
        pub splits: Vec<Vec<u8>>,
    }

    impl Ids {
        /// How many.
        pub fn len(&self) -> usize {
            match self {
                Ids::Numbers(ids) => ids.len(),
                Ids::Strings(ids) => ids.len(),
            }
        }

        /// Whether there are none.
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// As a column of a result table.
        pub fn to_array(&self) -> ArrayRef {
            match self {
                Ids::Numbers(ids) => Arc::new(UInt64Array::from(ids.clone())),
                Ids::Strings(ids) => Arc::new(StringArray::from_iter_values(ids)),
            }
        }

        fn ascend(&self) -> Option<usize> {
            match self {
                Ids::Numbers(ids) => ids.windows(2).position(|pair| pair[0] >= pair[1]),
                Ids::Strings(ids) => ids.windows(2).position(|pair| pair[0].as_bytes() >= pair[1].as_bytes()),
            }
        }
    }

    /// Writes edges.parquet.
    pub fn write_edges(outputs: &mut Outputs, edges: EdgeTable) -> Result<(), StageError> {
        let count = edges.source.len() as u64;
        let mut columns = vec![(field("source", DataType::UInt32), numbers(edges.source)), (field("target", DataType::UInt32), numbers(edges.target))];
        outputs.fact(Kind::Graph, "weighted", edges.weight.is_some());
        columns.extend(edges.weight.map(|weight| (field("weight", DataType::Float32), numbers(weight))));
        columns.extend(edges.kind.map(|kind| (field("type", DataType::UInt16), numbers(kind))));
        write_table(&outputs.file(Kind::Graph, EDGES_FILE), columns)?;
        outputs.count(Kind::Graph, "edges", count);
        Ok(())
    }

    /// Writes nodes.parquet.
    pub fn write_nodes(outputs: &mut Outputs, nodes: &NodeTable) -> Result<(), StageError> {
        let ids = nodes.ids.to_array();
        let mut columns = vec![(field("id", ids.data_type().clone()), ids)];
        columns.extend(nodes.labels.as_ref().map(label_column).transpose()?);
        if !nodes.splits.is_empty() {
            columns.push(split_column(nodes)?);
        }
        write_table(&outputs.file(Kind::Graph, NODES_FILE), columns)?;
        outputs.count(Kind::Graph, "nodes", nodes.ids.len() as u64);
        outputs.count(Kind::Graph, "splits", nodes.splits.len() as u64);
        for (index, name) in ["train", "validation", "test"].into_iter().enumerate() {
            if let Some(split) = nodes.splits.first() {
                outputs.count(Kind::Graph, name, split.iter().filter(|&&entry| entry == index as u8 + 1).count() as u64);
            }
        }
        if let Some(Labels::Classes(classes)) = &nodes.labels {
            outputs.count(Kind::Graph, "classes", classes.iter().flatten().max().map_or(0, |&class| u64::from(class) + 1));
        }
        let labels = match &nodes.labels {
            None => "none",
            Some(Labels::Classes(_)) => "classes",
            Some(Labels::Values(_)) => "values",
            Some(Labels::Rows { .. }) => "rows",
        };
        outputs.fact(Kind::Graph, "labels", labels);
        if let Some(Labels::Rows { columns, .. }) = &nodes.labels {
            outputs.count(Kind::Graph, "label_columns", *columns as u64);
        }
        Ok(())
    }

    fn label_column(labels: &Labels) -> Result<(Field, ArrayRef), StageError> {
        Ok(match labels {
            Labels::Classes(classes) => {
                let nullable = classes.iter().any(Option::is_none);
                (Field::new("label", DataType::UInt32, nullable), Arc::new(UInt32Array::from(classes.clone())) as ArrayRef)
            }
            Labels::Values(values) => (field("label", DataType::Float32), numbers(values.clone())),
            Labels::Rows { columns, values } => {
                let width = i32::try_from(*columns).map_err(|_| StageError::defect("labels are wider than 2^31 columns"))?;
                let item = Arc::new(Field::new_list_field(DataType::Float32, false));
                let list = FixedSizeListArray::try_new(item, width, numbers(values.clone()), None);
                let list = list.map_err(|error| StageError::defect(error.to_string()))?;
                (field("label", list.data_type().clone()), Arc::new(list) as ArrayRef)
            }
        })
    }

    fn split_column(nodes: &NodeTable) -> Result<(Field, ArrayRef), StageError> {
        let (count, width) = (nodes.ids.len(), nodes.splits.len());
        let values: Vec<u8> = (0..count).flat_map(|node| nodes.splits.iter().map(move |split| split[node])).collect();
        let offsets = OffsetBuffer::from_repeated_length(width, count);
        let item = Arc::new(Field::new_list_field(DataType::UInt8, false));
        let list = ListArray::try_new(item, offsets, Arc::new(UInt8Array::from(values)), None).map_err(|error| StageError::defect(error.to_string()))?;
        Ok((field("split", list.data_type().clone()), Arc::new(list)))
    }

    /// Reads edges.parquet.
    pub fn read_edges(artifact: &Artifact) -> Result<EdgeTable, StageError> {
        let table = read_table(&artifact.file(EDGES_FILE), None)?;
        Ok(EdgeTable {
            source: table.numbers("source")?,
            target: table.numbers("target")?,
            weight: table.column("weight").map(|_| table.numbers("weight")).transpose()?,
            kind: table.column("type").map(|_| table.numbers("type")).transpose()?,
        })
    }

    /// Reads nodes.parquet.
    pub fn read_nodes(artifact: &Artifact) -> Result<NodeTable, StageError> {
        let path = artifact.file(NODES_FILE);
        let table = read_table(&path, None)?;
        let wrong = |what: &str, found: &DataType| StageError::damaged(&path, format!("column `{what}`: unexpected type {found}"));
        let id = table.column("id").ok_or_else(|| StageError::damaged(&path, "expected a column `id`, found none"))?;
        let ids = if let Some(numbers) = id.as_primitive_opt::<UInt64Type>() {
            Ids::Numbers(numbers.values().to_vec())
        } else if let Some(strings) = id.as_string_opt::<i32>() {
            Ids::Strings(strings.iter().map(|id| id.unwrap_or("").to_owned()).collect())
        } else {
            return Err(wrong("id", id.data_type()));
        };
        let labels = table.column("label").map(|column| read_labels(column).ok_or_else(|| wrong("label", column.data_type()))).transpose()?;
        let splits = read_splits(&table).ok_or_else(|| StageError::damaged(&path, "column `split`: expected lists of u8 of one length"))?;
        Ok(NodeTable { ids, labels, splits })
    }

    fn read_labels(column: &ArrayRef) -> Option<Labels> {
        if let Some(classes) = column.as_primitive_opt::<UInt32Type>() {
            return Some(Labels::Classes(classes.iter().collect()));
        }
        if let Some(values) = column.as_primitive_opt::<Float32Type>() {
            return Some(Labels::Values(values.values().to_vec()));
        }
        let rows = column.as_fixed_size_list_opt()?;
        let values = rows.values().as_primitive_opt::<Float32Type>()?;
        Some(Labels::Rows { columns: rows.value_length() as usize, values: values.values().to_vec() })
    }

    fn read_splits(table: &Table) -> Option<Vec<Vec<u8>>> {
        let Some(column) = table.column("split") else { return Some(Vec::new()) };
        let lists = column.as_list_opt::<i32>()?;
        let values = lists.values().as_primitive_opt::<UInt8Type>()?.values();
        let width = if lists.is_empty() { 0 } else { lists.value_length(0) as usize };
        if values.len() != width * lists.len() {
            return None;
        }
        Some((0..width).map(|split| values.iter().skip(split).step_by(width).copied().collect()).collect())
    }

    pub(super) fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
        let (nodes, edges) = (need_count(directory, manifest, "nodes")?, need_count(directory, manifest, "edges")?);
        let edge_path = directory.join(EDGES_FILE);
        let (rows, schema) = describe(&edge_path)?;
        expect_length(&edge_path, "edges", edges, rows)?;
        for (name, expected, needed) in
            [("source", DataType::UInt32, true), ("target", DataType::UInt32, true), ("weight", DataType::Float32, false), ("type", DataType::UInt16, false)]
        {
            match schema.field_with_name(name) {
                Ok(field) if *field.data_type() != expected => {
                    return Err(StageError::damaged(&edge_path, format!("column `{name}`: expected {expected}, found {}", field.data_type())));
                }
                Err(_) if needed => return Err(StageError::damaged(&edge_path, format!("expected a column `{name}`, found none"))),
                _ => {}
            }
        }
        let node_path = directory.join(NODES_FILE);
        let (rows, schema) = describe(&node_path)?;
        expect_length(&node_path, "nodes", nodes, rows)?;
        if schema.field_with_name("id").is_err() {
            return Err(StageError::damaged(&node_path, "expected a column `id`, found none"));
        }
        if depth == Depth::Publish { validate_values(directory, manifest, nodes) } else { Ok(()) }
    }

    fn validate_values(directory: &Path, manifest: &Manifest, nodes: u64) -> Result<(), StageError> {
        let artifact = Artifact { kind: Kind::Graph, path: directory.to_path_buf(), manifest: manifest.clone() };
        let edges = read_edges(&artifact)?;
        for (name, ends) in [("source", &edges.source), ("target", &edges.target)] {
            if let Some(row) = ends.iter().position(|&node| u64::from(node) >= nodes) {
                return Err(StageError::damaged(&directory.join(EDGES_FILE), format!("row {row}: {name} {} of only {nodes} nodes", ends[row])));
            }
        }
        if let Some(row) = edges.weight.iter().flatten().position(|weight| !weight.is_finite()) {
            return Err(StageError::damaged(&directory.join(EDGES_FILE), format!("row {row}: the weight is not finite")));
        }
        let table = read_nodes(&artifact)?;
        if let Some(row) = table.ids.ascend() {
            return Err(StageError::damaged(&directory.join(NODES_FILE), format!("row {}: ids do not ascend", row + 1)));
        }
        Ok(())
    }
}
