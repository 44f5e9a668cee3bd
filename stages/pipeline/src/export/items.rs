//! items: the contents of an artifact as tables, arrays and files, under the data set's own ids.
//!
//! promises  edge ends are the data set's own ids; relations, node types and classes are names in
//!           tables, and numbers in arrays with `names.json` beside them
//! never     holds more than one table in memory, and of edges with string columns only a piece
use std::{ops::Range, path::PathBuf, sync::Arc};

use arrow_array::{
    ArrayRef, FixedSizeListArray, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use warploom_contract::{
    Artifact, Kind, StageError,
    arrow_file::{Number, SparseColumns, numbers},
    kinds::{
        csr::Csr,
        graph::{self, Features, Ids, Labels, Names, Split},
        partition, permutation, profile, run,
    },
    parquet_file::read_table,
};

use super::{
    ExportForm,
    arrays::{Dense, Dtype},
};

/// Columns of a range of rows.
type Rows = Box<dyn Fn(Range<usize>) -> Vec<ArrayRef>>;

/// An item of an export, which becomes one file or several.
pub enum Item {
    /// Columns of equal length.
    Table(Table),
    /// Arrays of any shape.
    Arrays(Arrays),
    /// An unchanged file.
    Page(PathBuf),
}

/// Columns of equal length.
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Number of rows.
    pub count: usize,
    /// The rows in a range.
    pub rows: Rows,
}

/// Arrays of any shape.
pub struct Arrays {
    /// Their name.
    pub name: String,
    /// Each with its name.
    pub arrays: Vec<Dense>,
    /// Their default format.
    pub usual: ExportForm,
}

/// The items to export of an artifact.
pub fn export_items(
    artifact: &Artifact,
    form: Option<ExportForm>,
) -> Result<Vec<Item>, StageError> {
    match artifact.kind {
        Kind::Graph => graph_items(artifact, form),
        Kind::Csr => csr_items(artifact),
        Kind::Run => run_items(artifact),
        Kind::Profile => Ok(vec![
            Item::Page(artifact.file(profile::PROFILE_FILE)),
            Item::Table(stored_table(artifact, profile::DEGREES_FILE)?),
        ]),
        Kind::Permutation => {
            let order = permutation::open(artifact)?;
            let arrays = vec![array("new_of_old", Dtype::U32, &order, u32::to_le_bytes)];
            let order = Arrays { name: "new_of_old".to_owned(), arrays, usual: ExportForm::Npy };
            Ok(vec![Item::Arrays(order), Item::Page(artifact.file(permutation::QUALITY_FILE))])
        }
        Kind::Partition => partition_items(artifact),
        Kind::Plan | Kind::Cubin | Kind::Tune | Kind::Checkpoint => Ok(artifact
            .manifest
            .files
            .iter()
            .map(|file| Item::Page(artifact.file(&file.name)))
            .collect()),
    }
}

/// The tables of a partition: one array for each column, or all columns together.
fn partition_items(artifact: &Artifact) -> Result<Vec<Item>, StageError> {
    let page = partition::open(artifact)?;
    let mut items = Vec::new();
    for facts in page.schemes.iter().flat_map(|division| &division.tables) {
        let table = partition::Table::open(&artifact.path, facts)?;
        let arrays: Vec<Dense> =
            table.columns().iter().map(|(name, column)| dense_column(name, column)).collect();
        let usual = if arrays.len() == 1 { ExportForm::Npy } else { ExportForm::Npz };
        items.push(Item::Arrays(Arrays { name: facts.name.clone(), arrays, usual }));
    }
    items.push(Item::Page(artifact.file(partition::PARTITION_FILE)));
    Ok(items)
}

fn dense_column(name: &str, column: &partition::Column) -> Dense {
    match column {
        partition::Column::U8(numbers) => array(name, Dtype::U8, numbers, u8::to_le_bytes),
        partition::Column::U16(numbers) => array(name, Dtype::U16, numbers, u16::to_le_bytes),
        partition::Column::U32(numbers) => array(name, Dtype::U32, numbers, u32::to_le_bytes),
        partition::Column::U64(numbers) => array(name, Dtype::U64, numbers, u64::to_le_bytes),
    }
}

fn array<T: Copy, const WIDTH: usize>(
    name: &str,
    dtype: Dtype,
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; WIDTH],
) -> Dense {
    Dense {
        name: name.to_owned(),
        dtype,
        shape: vec![values.len()],
        bytes: values.iter().flat_map(|&value| bytes_of(value)).collect(),
    }
}

/// Floats as an array.
pub fn dense_floats(name: &str, values: &[f32]) -> Dense {
    array(name, Dtype::F32, values, f32::to_le_bytes)
}

/// Integers as an array.
pub fn dense_integers(name: &str, values: &[u64]) -> Dense {
    array(name, Dtype::U64, values, u64::to_le_bytes)
}

fn matrix(name: &str, columns: usize, values: &[f32]) -> Dense {
    let flat = dense_floats(name, values);
    Dense { shape: vec![values.len() / columns.max(1), columns], ..flat }
}

fn field(name: &str, column: &ArrayRef) -> Field {
    Field::new(name, column.data_type().clone(), column.null_count() > 0)
}

/// A table whose columns are in memory.
fn whole_table(name: &str, columns: Vec<(Field, ArrayRef)>) -> Table {
    let count = columns.first().map_or(0, |(_, column)| column.len());
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    Table {
        name: name.to_owned(),
        fields,
        count,
        rows: Box::new(move |range| {
            columns.iter().map(|column| column.slice(range.start, range.len())).collect()
        }),
    }
}

/// A Parquet table of the artifact.
fn stored_table(artifact: &Artifact, file: &str) -> Result<Table, StageError> {
    let table = read_table(&artifact.file(file), None)?;
    let fields = table.batch.schema();
    let columns = fields
        .fields()
        .iter()
        .map(|field| field.as_ref().clone())
        .zip(table.batch.columns().iter().cloned())
        .collect();
    Ok(whole_table(file.strip_suffix(".parquet").unwrap_or(file), columns))
}

fn words<'a>(all: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(all))
}

fn own_ids(ids: &Ids, rows: &[u32]) -> ArrayRef {
    match ids {
        Ids::Numbers(ids) => {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|&row| ids[row as usize])))
        }
        Ids::Strings(ids) => words(rows.iter().map(|&row| ids[row as usize].as_str())),
    }
}

/// Named numbers: as names in tables, else as numbers.
fn name_column<T: Number + Into<u32>>(
    of_row: &[T],
    names: &[String],
    form: Option<ExportForm>,
) -> ArrayRef {
    if names.is_empty() || form.is_some_and(|form| !form.is_table()) {
        return numbers(of_row.to_vec());
    }
    words(of_row.iter().map(|&number| names.get(number.into() as usize).map_or("", String::as_str)))
}

fn graph_items(artifact: &Artifact, form: Option<ExportForm>) -> Result<Vec<Item>, StageError> {
    let names = graph::open_names(artifact)?;
    let nodes = graph::read_nodes(artifact)?;
    let graphs = graph::read_graphs(artifact)?;
    let mut items = vec![Item::Table(node_table(
        &nodes,
        graphs.as_ref().map(|graphs| &graphs.ids),
        &names,
        form,
    ))];
    if let Some(graphs) = &graphs {
        let mut columns = vec![plain("id", graphs.ids.to_array())];
        columns.extend(target_columns(graphs.labels.as_ref(), &graphs.splits, &names, form));
        columns.extend(graphs.columns.iter().map(|(name, column)| plain(name, column.clone())));
        items.push(Item::Table(whole_table("graphs", columns)));
    }
    items.extend(
        graph::open_features(artifact)?
            .map(|features| feature_item("features", &features, nodes.ids.len(), form)),
    );
    for kind in &names.kinds {
        let rows =
            artifact.manifest.counts.get(&format!("nodes.{kind}")).copied().unwrap_or(0) as usize;
        items.extend(
            graph::open_features_of_kind(artifact, kind)?
                .map(|features| feature_item(&format!("features-{kind}"), &features, rows, form)),
        );
    }
    if let Some((columns, values)) = graph::open_edge_features(artifact)? {
        items.push(dense("edge-features", columns, &values));
    }
    if artifact.has(graph::NAMES_FILE) {
        items.push(Item::Page(artifact.file(graph::NAMES_FILE)));
    }
    items.push(Item::Table(edge_table(artifact, nodes.ids, names, form)?));
    Ok(items)
}

fn plain(name: &str, column: ArrayRef) -> (Field, ArrayRef) {
    (field(name, &column), column)
}

fn edge_table(
    artifact: &Artifact,
    ids: Ids,
    names: Names,
    form: Option<ExportForm>,
) -> Result<Table, StageError> {
    let edges = graph::read_edges(artifact)?;
    let id = if matches!(ids, Ids::Numbers(_)) { DataType::UInt64 } else { DataType::Utf8 };
    let mut fields = vec![Field::new("source", id.clone(), false), Field::new("target", id, false)];
    fields.extend(edges.weight.is_some().then(|| Field::new("weight", DataType::Float32, false)));
    fields.extend(edges.kind.is_some().then(|| {
        Field::new(
            "type",
            name_column::<u16>(&[], &names.relations, form).data_type().clone(),
            false,
        )
    }));
    let count = edges.source.len();
    let rows = move |range: Range<usize>| {
        let mut columns = vec![
            own_ids(&ids, &edges.source[range.clone()]),
            own_ids(&ids, &edges.target[range.clone()]),
        ];
        columns.extend(edges.weight.as_ref().map(|weight| numbers(weight[range.clone()].to_vec())));
        columns.extend(
            edges
                .kind
                .as_ref()
                .map(|kind| name_column(&kind[range.clone()], &names.relations, form)),
        );
        columns
    };
    Ok(Table { name: "edges".to_owned(), fields, count, rows: Box::new(rows) })
}

fn node_table(
    nodes: &graph::NodeTable,
    graphs: Option<&Ids>,
    names: &Names,
    form: Option<ExportForm>,
) -> Table {
    let mut columns = vec![plain("id", nodes.ids.to_array())];
    columns.extend(
        nodes.kind.as_ref().map(|kind| plain("kind", name_column(kind, &names.kinds, form))),
    );
    columns.extend(nodes.graph.as_ref().map(|graph| {
        plain("graph", graphs.map_or_else(|| numbers(graph.clone()), |ids| own_ids(ids, graph)))
    }));
    // Class names belong to the target: to graphs if these have labels.
    columns.extend(target_columns(nodes.labels.as_ref(), &nodes.splits, names, form));
    columns.extend(nodes.columns.iter().map(|(name, column)| plain(name, column.clone())));
    whole_table("nodes", columns)
}

fn target_columns(
    labels: Option<&Labels>,
    splits: &[Vec<u8>],
    names: &Names,
    form: Option<ExportForm>,
) -> Vec<(Field, ArrayRef)> {
    let mut columns = Vec::new();
    match labels {
        None => {}
        Some(Labels::Classes(classes)) => {
            columns.push(plain("label", Arc::new(UInt32Array::from(classes.clone()))));
            let told =
                names.classes.iter().enumerate().any(|(number, name)| *name != number.to_string());
            if told && form.is_none_or(ExportForm::is_table) {
                let name = |class: &Option<u32>| {
                    class.and_then(|class| names.classes.get(class as usize)).map(String::as_str)
                };
                columns.push(plain(
                    "class",
                    Arc::new(StringArray::from_iter(classes.iter().map(name))),
                ));
            }
        }
        Some(Labels::Values(values)) => columns.push(plain("label", numbers(values.clone()))),
        Some(Labels::Rows { columns: width, values }) => {
            columns.push(plain("label", lists(*width, numbers(values.clone()))))
        }
    }
    for (number, split) in splits.iter().enumerate() {
        let name = if splits.len() == 1 { "split".to_owned() } else { format!("split_{number}") };
        columns.push(plain(
            &name,
            if form == Some(ExportForm::Csv) {
                words(split.iter().map(|&part| part_name(part)))
            } else {
                Arc::new(UInt8Array::from(split.clone()))
            },
        ));
    }
    columns
}

fn part_name(part: u8) -> &'static str {
    match part {
        part if part == Split::Train as u8 => "train",
        part if part == Split::Validation as u8 => "validation",
        part if part == Split::Test as u8 => "test",
        _ => "none",
    }
}

/// A column of fixed-size lists.
pub fn lists(width: usize, values: ArrayRef) -> ArrayRef {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), values.null_count() > 0));
    Arc::new(FixedSizeListArray::new(item, i32::try_from(width).unwrap_or(i32::MAX), values, None))
}

fn dense(name: &str, columns: usize, values: &[f32]) -> Item {
    Item::Arrays(Arrays {
        name: name.to_owned(),
        arrays: vec![matrix(name, columns, values)],
        usual: ExportForm::Npy,
    })
}

/// Sparse features in the format of scipy's `save_npz`; in tables one row for each nonzero.
fn feature_item(name: &str, features: &Features, rows: usize, form: Option<ExportForm>) -> Item {
    let (columns, entries) = match features {
        Features::Dense { columns, values } => return dense(name, *columns, values),
        Features::Sparse { columns, entries } => (*columns, entries),
    };
    if form.is_some_and(ExportForm::is_table) {
        let row_of = (0..rows).flat_map(|row| {
            std::iter::repeat_n(
                row as u32,
                (entries.offsets[row + 1] - entries.offsets[row]) as usize,
            )
        });
        let (mut row, mut column, mut value): (Vec<u32>, _, _) =
            (row_of.collect(), entries.index.to_vec(), entries.values.to_vec());
        // An explicit 0 at the last position gives the matrix shape if no nonzero does.
        let last = (rows.saturating_sub(1) as u32, columns.saturating_sub(1) as u32);
        if rows > 0 && columns > 0 && row.last().copied().zip(column.last().copied()) != Some(last)
        {
            row.push(last.0);
            column.push(last.1);
            value.push(0.0);
        }
        return Item::Table(whole_table(
            name,
            vec![
                plain("row", numbers(row)),
                plain("column", numbers(column)),
                plain("value", numbers(value)),
            ],
        ));
    }
    Item::Arrays(Arrays {
        name: name.to_owned(),
        arrays: scipy_csr(columns, entries, form.is_none_or(|form| form == ExportForm::Npz)),
        usual: ExportForm::Npz,
    })
}

/// Sparse rows as the arrays of scipy's `save_npz`; outside an archive without the format name.
pub fn scipy_csr(columns: usize, entries: &SparseColumns, is_archive: bool) -> Vec<Dense> {
    let rows = entries.offsets.len().saturating_sub(1);
    let narrow = i32::try_from(entries.index.len().max(columns)).is_ok();
    let offset = |name, values: &[i64]| match narrow {
        true => array(name, Dtype::I32, values, |value| (value as i32).to_le_bytes()),
        false => array(name, Dtype::I64, values, i64::to_le_bytes),
    };
    let mut arrays = vec![
        match narrow {
            true => {
                array("indices", Dtype::I32, &entries.index, |value| (value as i32).to_le_bytes())
            }
            false => {
                array("indices", Dtype::I64, &entries.index, |value| i64::from(value).to_le_bytes())
            }
        },
        offset("indptr", &entries.offsets),
        array("shape", Dtype::I64, &[rows as i64, columns as i64], i64::to_le_bytes),
        array("data", Dtype::F32, &entries.values, f32::to_le_bytes),
    ];
    if is_archive {
        arrays.insert(
            2,
            Dense {
                name: "format".to_owned(),
                dtype: Dtype::Ascii(3),
                shape: Vec::new(),
                bytes: b"csr".to_vec(),
            },
        );
    }
    arrays
}

fn csr_items(artifact: &Artifact) -> Result<Vec<Item>, StageError> {
    let csr = Csr::open(artifact)?;
    let mut arrays = Vec::new();
    for (direction, names) in [
        (&csr.incoming, ["in_offsets", "in_sources", "in_edge"]),
        (&csr.outgoing, ["out_offsets", "out_targets", "out_edge"]),
    ] {
        arrays.push(array(names[0], Dtype::U64, &direction.offsets, u64::to_le_bytes));
        arrays.push(array(names[1], Dtype::U32, &direction.neighbours, u32::to_le_bytes));
        arrays.push(array(names[2], Dtype::U64, &direction.edges, u64::to_le_bytes));
    }
    arrays.extend(
        csr.weights.as_ref().map(|weights| array("weights", Dtype::F32, weights, f32::to_le_bytes)),
    );
    arrays.extend(
        csr.types.as_ref().map(|types| array("types", Dtype::U16, types, u16::to_le_bytes)),
    );
    Ok(vec![Item::Arrays(Arrays { name: "csr".to_owned(), arrays, usual: ExportForm::Npz })])
}

fn run_items(artifact: &Artifact) -> Result<Vec<Item>, StageError> {
    let mut items = Vec::new();
    for file in &artifact.manifest.files {
        if file.name.ends_with(".parquet") {
            items.push(Item::Table(stored_table(artifact, &file.name)?));
        } else if file.name == run::PARAMETERS_FILE {
            items.push(Item::Arrays(Arrays {
                name: "parameters".to_owned(),
                arrays: parameters(artifact)?,
                usual: ExportForm::Safetensors,
            }));
        } else {
            items.push(Item::Page(artifact.file(&file.name)));
        }
    }
    Ok(items)
}

fn parameters(artifact: &Artifact) -> Result<Vec<Dense>, StageError> {
    let path = artifact.file(run::PARAMETERS_FILE);
    let bytes = std::fs::read(&path).map_err(|error| StageError::io("read", &path, &error))?;
    let damaged = |what: String| StageError::damaged(&path, what);
    let file = safetensors::SafeTensors::deserialize(&bytes)
        .map_err(|error| damaged(error.to_string()))?;
    let mut arrays = Vec::new();
    for (name, tensor) in file.tensors() {
        let dtype = match tensor.dtype() {
            safetensors::Dtype::F32 => Dtype::F32,
            safetensors::Dtype::F64 => Dtype::F64,
            safetensors::Dtype::U32 => Dtype::U32,
            safetensors::Dtype::I64 => Dtype::I64,
            other => {
                return Err(damaged(format!(
                    "`{name}`: expected floats or integers of 32 or 64 bits, found {other:?}"
                )));
            }
        };
        arrays.push(Dense {
            name,
            dtype,
            shape: tensor.shape().to_vec(),
            bytes: tensor.data().to_vec(),
        });
    }
    arrays.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(arrays)
}
