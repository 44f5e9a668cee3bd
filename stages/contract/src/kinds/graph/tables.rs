//! tables: the Parquet files of a graph: edges, nodes, graphs.
//!
//! promises  a table that is written is read back equal; the counts that `plan` needs are written
//!           with the table that they describe
//! never     infers a column's meaning from its type
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, ListArray, StringArray, UInt8Array, UInt32Array,
    UInt64Array,
    cast::AsArray,
    types::{Float32Type, UInt8Type, UInt32Type, UInt64Type},
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};

use super::*;
use crate::{
    arrow_file::numbers,
    parquet_file::{
        ROWS_WRITTEN, Table, TableWriter, describe, field, numbers_of, read_table, scan_table,
        write_table,
    },
    progress::Advance,
};

/// The edges: row = edge id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeTable {
    /// Source node of each edge.
    pub source: Vec<u32>,
    /// Target node of each edge.
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

/// The labels of nodes or graphs.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// A class for each row; `None` where it has none.
    Classes(Vec<Option<u32>>),
    /// A number for each row.
    Values(Vec<f32>),
    /// Several numbers for each row.
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
    /// Kind of each node, where there are several.
    pub kind: Option<Vec<u16>>,
    /// Graph of each node, as a row of the graph table, in sets of many graphs.
    pub graph: Option<Vec<u32>>,
    /// Further columns of the data set.
    pub columns: Vec<(String, ArrayRef)>,
}

impl NodeTable {
    /// Nodes that have ids alone.
    pub fn new(ids: Ids) -> NodeTable {
        NodeTable {
            ids,
            labels: None,
            splits: Vec::new(),
            kind: None,
            graph: None,
            columns: Vec::new(),
        }
    }
}

/// The graphs of a set of many: row = graph id.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphTable {
    /// The data set's own ids.
    pub ids: Ids,
    /// Targets, if graphs have any.
    pub labels: Option<Labels>,
    /// For each published split, a `Split` for each graph.
    pub splits: Vec<Vec<u8>>,
    /// Further columns of the data set.
    pub columns: Vec<(String, ArrayRef)>,
}

/// Columns of the tables of nodes and graphs that have a meaning of their own.
pub const NODE_COLUMNS: [&str; 5] = ["id", "kind", "graph", "label", "split"];

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

    /// The ids of some rows.
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Ids {
        match self {
            Ids::Numbers(ids) => Ids::Numbers(ids[rows].to_vec()),
            Ids::Strings(ids) => Ids::Strings(ids[rows].to_vec()),
        }
    }

    /// As a column; numbers are not copied.
    fn into_array(self) -> ArrayRef {
        match self {
            Ids::Numbers(ids) => numbers(ids),
            Ids::Strings(_) => self.to_array(),
        }
    }

    fn find_unsorted(&self) -> Option<usize> {
        match self {
            Ids::Numbers(ids) => ids.windows(2).position(|pair| pair[0] >= pair[1]),
            Ids::Strings(ids) => {
                ids.windows(2).position(|pair| pair[0].as_bytes() >= pair[1].as_bytes())
            }
        }
    }
}

/// Writes edges.parquet.
pub fn write_edges(
    outputs: &mut Outputs,
    edges: EdgeTable,
    advance: Advance<'_>,
) -> Result<(), StageError> {
    let mut writer = EdgeWriter::create(outputs, edges.weight.is_some(), edges.kind.is_some())?;
    writer.write(edges, advance)?;
    writer.finish(outputs)
}

/// Writes edges.parquet piece by piece; pieces of a multiple of `ROW_GROUP` edges give the same
/// bytes as one.
pub struct EdgeWriter {
    writer: TableWriter,
    count: u64,
}

impl EdgeWriter {
    /// Begins the file; all pieces have weights, or none; the same for relations.
    pub fn create(
        outputs: &mut Outputs,
        weighted: bool,
        typed: bool,
    ) -> Result<EdgeWriter, StageError> {
        outputs.fact(Kind::Graph, "weighted", weighted);
        let mut fields = vec![field("source", DataType::UInt32), field("target", DataType::UInt32)];
        fields.extend(weighted.then(|| field("weight", DataType::Float32)));
        fields.extend(typed.then(|| field("type", DataType::UInt16)));
        Ok(EdgeWriter {
            writer: TableWriter::create(&outputs.file(Kind::Graph, EDGES_FILE), fields)?,
            count: 0,
        })
    }

    /// Appends edges.
    pub fn write(&mut self, edges: EdgeTable, advance: Advance<'_>) -> Result<(), StageError> {
        let count = edges.source.len();
        self.count += count as u64;
        let mut arrays = vec![numbers(edges.source), numbers(edges.target)];
        arrays.extend(edges.weight.map(numbers));
        arrays.extend(edges.kind.map(numbers));
        for first in (0..count).step_by(ROWS_WRITTEN) {
            let rows = ROWS_WRITTEN.min(count - first);
            self.writer.write(arrays.iter().map(|array| array.slice(first, rows)).collect())?;
            advance(rows as u64);
        }
        Ok(())
    }

    /// Ends the file and counts the edges.
    pub fn finish(self, outputs: &mut Outputs) -> Result<(), StageError> {
        outputs.count(Kind::Graph, "edges", self.count);
        self.writer.finish()
    }
}

/// Writes nodes.parquet. Takes the table, so that its columns can be freed as they are written.
pub fn write_nodes(outputs: &mut Outputs, nodes: NodeTable) -> Result<(), StageError> {
    let count = nodes.ids.len();
    outputs.count(Kind::Graph, "nodes", count as u64);
    outputs.fact(Kind::Graph, TARGET, "nodes");
    write_target_counts(outputs, "", nodes.labels.as_ref(), &nodes.splits);
    let ids = nodes.ids.into_array();
    let mut columns = vec![(field("id", ids.data_type().clone()), ids)];
    columns.extend(nodes.kind.map(|kind| (field("kind", DataType::UInt16), numbers(kind))));
    columns.extend(nodes.graph.map(|graph| (field("graph", DataType::UInt32), numbers(graph))));
    columns.extend(nodes.labels.as_ref().map(label_column).transpose()?);
    if !nodes.splits.is_empty() {
        columns.push(split_column(&nodes.splits, count)?);
    }
    columns.extend(nodes.columns.iter().map(|(name, values)| further_field(name, values)));
    write_table(&outputs.file(Kind::Graph, NODES_FILE), columns)
}

/// Writes names.json and how many nodes each kind has.
pub fn write_kinds(
    outputs: &mut Outputs,
    names: &Names,
    nodes: &NodeTable,
) -> Result<(), StageError> {
    let counts = nodes_of_kinds(nodes.kind.as_deref().unwrap_or_default(), names.kinds.len());
    for (name, count) in names.kinds.iter().zip(counts) {
        outputs.count(Kind::Graph, &format!("nodes.{name}"), count as u64);
    }
    write_names(outputs, names)
}

/// How many nodes each kind has.
pub fn nodes_of_kinds(of_node: &[u16], kinds: usize) -> Vec<usize> {
    let mut counts = vec![0; kinds];
    for &kind in of_node {
        if let Some(count) = counts.get_mut(usize::from(kind)) {
            *count += 1;
        }
    }
    counts
}

/// Writes graphs.parquet, after the nodes: labels of graphs are the training target. With `both`,
/// nodes have labels too, and the result of a program decides which of the two it learns.
pub fn write_graphs(
    outputs: &mut Outputs,
    graphs: &GraphTable,
    both: bool,
) -> Result<(), StageError> {
    let ids = graphs.ids.to_array();
    let mut columns = vec![(field("id", ids.data_type().clone()), ids)];
    columns.extend(graphs.labels.as_ref().map(label_column).transpose()?);
    if !graphs.splits.is_empty() {
        columns.push(split_column(&graphs.splits, graphs.ids.len())?);
    }
    columns.extend(graphs.columns.iter().map(|(name, values)| further_field(name, values)));
    write_table(&outputs.file(Kind::Graph, GRAPHS_FILE), columns)?;
    outputs.count(Kind::Graph, "graphs", graphs.ids.len() as u64);
    if graphs.labels.is_some() {
        outputs.fact(Kind::Graph, TARGET, if both { "both" } else { "graphs" });
        write_target_counts(
            outputs,
            if both { OF_GRAPHS } else { "" },
            graphs.labels.as_ref(),
            &graphs.splits,
        );
    }
    Ok(())
}

/// Field and values of a further column.
fn further_field(name: &str, values: &ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, values.data_type().clone(), values.null_count() > 0), values.clone())
}

/// Writes counts and facts of the target, which `plan` needs without reading a row; their names
/// begin with `prefix`.
fn write_target_counts(
    outputs: &mut Outputs,
    prefix: &str,
    labels: Option<&Labels>,
    splits: &[Vec<u8>],
) {
    let named = |name: &str| format!("{prefix}{name}");
    outputs.count(Kind::Graph, &named("splits"), splits.len() as u64);
    for (index, name) in ["train", "validation", "test"].into_iter().enumerate() {
        if let Some(split) = splits.first() {
            outputs.count(
                Kind::Graph,
                &named(name),
                split.iter().filter(|&&entry| entry == index as u8 + 1).count() as u64,
            );
        }
    }
    let form = match labels {
        None => "none",
        Some(Labels::Classes(classes)) => {
            outputs.count(
                Kind::Graph,
                &named("classes"),
                classes.iter().flatten().max().map_or(0, |&class| u64::from(class) + 1),
            );
            "classes"
        }
        Some(Labels::Values(_)) => "values",
        Some(Labels::Rows { columns, values }) => {
            outputs.count(Kind::Graph, &named("label_columns"), *columns as u64);
            let binary =
                values.iter().all(|value| value.is_nan() || *value == 0.0 || *value == 1.0);
            outputs.fact(
                Kind::Graph,
                &named("label_values"),
                if binary { "binary" } else { "real" },
            );
            "rows"
        }
    };
    outputs.fact(Kind::Graph, &named("labels"), form);
}

fn label_column(labels: &Labels) -> Result<(Field, ArrayRef), StageError> {
    Ok(match labels {
        Labels::Classes(classes) => {
            let nullable = classes.iter().any(Option::is_none);
            (
                Field::new("label", DataType::UInt32, nullable),
                Arc::new(UInt32Array::from(classes.clone())) as ArrayRef,
            )
        }
        Labels::Values(values) => (field("label", DataType::Float32), numbers(values.clone())),
        Labels::Rows { columns, values } => {
            let width = i32::try_from(*columns)
                .map_err(|_| StageError::defect("labels are wider than 2^31 columns"))?;
            let item = Arc::new(Field::new_list_field(DataType::Float32, false));
            let list = FixedSizeListArray::try_new(item, width, numbers(values.clone()), None);
            let list = list.map_err(|error| StageError::defect(error.to_string()))?;
            (field("label", list.data_type().clone()), Arc::new(list) as ArrayRef)
        }
    })
}

fn split_column(splits: &[Vec<u8>], count: usize) -> Result<(Field, ArrayRef), StageError> {
    let width = splits.len();
    let values: Vec<u8> =
        (0..count).flat_map(|row| splits.iter().map(move |split| split[row])).collect();
    let offsets = OffsetBuffer::from_repeated_length(width, count);
    let item = Arc::new(Field::new_list_field(DataType::UInt8, false));
    let list = ListArray::try_new(item, offsets, Arc::new(UInt8Array::from(values)), None)
        .map_err(|error| StageError::defect(error.to_string()))?;
    Ok((field("split", list.data_type().clone()), Arc::new(list)))
}

/// Reads edges.parquet.
pub fn read_edges(artifact: &Artifact) -> Result<EdgeTable, StageError> {
    read_edges_with_progress(artifact, &|_| {})
}

/// Reads edges.parquet, and reports progress.
pub fn read_edges_with_progress(
    artifact: &Artifact,
    advance: Advance<'_>,
) -> Result<EdgeTable, StageError> {
    let path = artifact.file(EDGES_FILE);
    let (rows, schema) = describe(&path)?;
    // The footer's count is compared with the manifest's when an artifact is opened.
    let room = rows.min(artifact.find_count("edges").unwrap_or(0)) as usize;
    let has = |name: &str| schema.field_with_name(name).is_ok();
    let mut edges = EdgeTable {
        source: Vec::with_capacity(room),
        target: Vec::with_capacity(room),
        weight: has("weight").then(|| Vec::with_capacity(room)),
        kind: has("type").then(|| Vec::with_capacity(room)),
    };
    scan_table(&path, Some(&["source", "target", "weight", "type"]), |batch| {
        edges.source.extend_from_slice(numbers_of(&path, batch, "source")?);
        edges.target.extend_from_slice(numbers_of(&path, batch, "target")?);
        if let Some(weight) = &mut edges.weight {
            weight.extend_from_slice(numbers_of(&path, batch, "weight")?);
        }
        if let Some(kind) = &mut edges.kind {
            kind.extend_from_slice(numbers_of(&path, batch, "type")?);
        }
        advance(batch.num_rows() as u64);
        Ok(())
    })?;
    // Later stages allocate weights and launches for each relation up to the largest number.
    let relations = open_names(artifact)?.relations.len();
    match edges
        .kind
        .iter()
        .flatten()
        .position(|&kind| relations > 0 && usize::from(kind) >= relations)
    {
        Some(row) => Err(StageError::damaged(
            &path,
            format!("row {row}: its relation is not one of {relations}"),
        )),
        None => Ok(edges),
    }
}

/// Reads nodes.parquet.
pub fn read_nodes(artifact: &Artifact) -> Result<NodeTable, StageError> {
    let path = artifact.file(NODES_FILE);
    let table = read_table(&path, None)?;
    Ok(NodeTable {
        ids: read_ids(&path, &table)?,
        labels: read_label_column(&path, &table)?,
        splits: read_splits(&path, &table)?,
        kind: table.column("kind").map(|_| table.numbers("kind")).transpose()?,
        graph: table.column("graph").map(|_| table.numbers("graph")).transpose()?,
        columns: further_columns(&table),
    })
}

/// Reads the ids of nodes.parquet alone.
pub fn read_node_ids(artifact: &Artifact) -> Result<Ids, StageError> {
    let path = artifact.file(NODES_FILE);
    read_ids(&path, &read_table(&path, Some(&["id"]))?)
}

/// Reads graphs.parquet; none where the set is one graph.
pub fn read_graphs(artifact: &Artifact) -> Result<Option<GraphTable>, StageError> {
    if !artifact.has(GRAPHS_FILE) {
        return Ok(None);
    }
    let path = artifact.file(GRAPHS_FILE);
    let table = read_table(&path, None)?;
    let (ids, labels, splits) =
        (read_ids(&path, &table)?, read_label_column(&path, &table)?, read_splits(&path, &table)?);
    Ok(Some(GraphTable { ids, labels, splits, columns: further_columns(&table) }))
}

/// The columns that are not among `NODE_COLUMNS`.
fn further_columns(table: &Table) -> Vec<(String, ArrayRef)> {
    let named = |(field, column): (&Arc<Field>, &ArrayRef)| {
        (!NODE_COLUMNS.contains(&field.name().as_str()))
            .then(|| (field.name().clone(), column.clone()))
    };
    table.batch.schema().fields().iter().zip(table.batch.columns()).filter_map(named).collect()
}

fn read_ids(path: &Path, table: &Table) -> Result<Ids, StageError> {
    let id = table
        .column("id")
        .ok_or_else(|| StageError::damaged(path, "expected a column `id`, found none"))?;
    if let Some(numbers) = id.as_primitive_opt::<UInt64Type>() {
        Ok(Ids::Numbers(numbers.values().to_vec()))
    } else if let Some(strings) = id.as_string_opt::<i32>() {
        Ok(Ids::Strings(strings.iter().map(|id| id.unwrap_or("").to_owned()).collect()))
    } else {
        Err(StageError::damaged(path, format!("column `id`: unexpected type {}", id.data_type())))
    }
}

fn read_label_column(path: &Path, table: &Table) -> Result<Option<Labels>, StageError> {
    let wrong = |column: &ArrayRef| {
        StageError::damaged(path, format!("column `label`: unexpected type {}", column.data_type()))
    };
    table.column("label").map(|column| read_labels(column).ok_or_else(|| wrong(column))).transpose()
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

fn read_splits(path: &Path, table: &Table) -> Result<Vec<Vec<u8>>, StageError> {
    let Some(column) = table.column("split") else { return Ok(Vec::new()) };
    let wrong = || StageError::damaged(path, "column `split`: expected lists of u8 of one length");
    let lists = column.as_list_opt::<i32>().ok_or_else(wrong)?;
    let values = lists.values().as_primitive_opt::<UInt8Type>().ok_or_else(wrong)?.values();
    let width = if lists.is_empty() { 0 } else { lists.value_length(0) as usize };
    if values.len() != width * lists.len() {
        return Err(wrong());
    }
    Ok((0..width)
        .map(|split| values.iter().skip(split).step_by(width).copied().collect())
        .collect())
}

pub(super) fn validate(
    directory: &Path,
    manifest: &Manifest,
    depth: Depth,
) -> Result<(), StageError> {
    let (nodes, edges) =
        (need_count(directory, manifest, "nodes")?, need_count(directory, manifest, "edges")?);
    let edge_path = directory.join(EDGES_FILE);
    let (rows, schema) = describe(&edge_path)?;
    expect_length(&edge_path, "edges", edges, rows)?;
    for (name, expected, needed) in [
        ("source", DataType::UInt32, true),
        ("target", DataType::UInt32, true),
        ("weight", DataType::Float32, false),
        ("type", DataType::UInt16, false),
    ] {
        match schema.field_with_name(name) {
            Ok(field) if *field.data_type() != expected => {
                return Err(StageError::damaged(
                    &edge_path,
                    format!("column `{name}`: expected {expected}, found {}", field.data_type()),
                ));
            }
            Err(_) if needed => {
                return Err(StageError::damaged(
                    &edge_path,
                    format!("expected a column `{name}`, found none"),
                ));
            }
            _ => {}
        }
    }
    for (file, count) in [(NODES_FILE, "nodes"), (GRAPHS_FILE, "graphs")] {
        if !has_file(manifest, file) {
            continue;
        }
        let path = directory.join(file);
        let (rows, schema) = describe(&path)?;
        expect_length(&path, count, need_count(directory, manifest, count)?, rows)?;
        if schema.field_with_name("id").is_err() {
            return Err(StageError::damaged(&path, "expected a column `id`, found none"));
        }
    }
    if depth == Depth::Publish { validate_values(directory, manifest, nodes) } else { Ok(()) }
}

fn validate_values(directory: &Path, manifest: &Manifest, nodes: u64) -> Result<(), StageError> {
    let artifact = Artifact::new(Kind::Graph, directory.to_path_buf(), manifest.clone());
    let path = directory.join(EDGES_FILE);
    let mut first = 0;
    scan_table(&path, Some(&["source", "target", "weight"]), |batch| {
        for name in ["source", "target"] {
            let ends = numbers_of::<u32>(&path, batch, name)?;
            if let Some(row) = ends.iter().position(|&node| u64::from(node) >= nodes) {
                return Err(StageError::damaged(
                    &path,
                    format!("row {}: {name} {} of only {nodes} nodes", first + row, ends[row]),
                ));
            }
        }
        if batch.column_by_name("weight").is_some()
            && let Some(row) = numbers_of::<f32>(&path, batch, "weight")?
                .iter()
                .position(|weight| !weight.is_finite())
        {
            return Err(StageError::damaged(
                &path,
                format!("row {}: the weight is not finite", first + row),
            ));
        }
        first += batch.num_rows();
        Ok(())
    })?;
    let table = read_nodes(&artifact)?;
    if let Some(row) = table.ids.find_unsorted() {
        return Err(StageError::damaged(
            &directory.join(NODES_FILE),
            format!("row {}: ids do not ascend", row + 1),
        ));
    }
    let (kinds, graphs) = (open_names(&artifact)?.kinds.len(), read_graphs(&artifact)?);
    let below = |column: &str, far: Option<usize>, most: usize| match far {
        Some(row) => Err(StageError::damaged(
            &directory.join(NODES_FILE),
            format!("row {row}: its {column} is not one of {most}"),
        )),
        None => Ok(()),
    };
    below("kind", table.kind.iter().flatten().position(|&kind| usize::from(kind) >= kinds), kinds)?;
    let count = graphs.as_ref().map_or(0, |graphs| graphs.ids.len());
    below("graph", table.graph.iter().flatten().position(|&graph| graph as usize >= count), count)?;
    match graphs.and_then(|graphs| graphs.ids.find_unsorted()) {
        Some(row) => Err(StageError::damaged(
            &directory.join(GRAPHS_FILE),
            format!("row {}: ids do not ascend", row + 1),
        )),
        None => Ok(()),
    }
}
