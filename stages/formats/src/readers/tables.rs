//! Edge and node tables in Parquet or Arrow, as pandas, polars, Spark, Dask and DuckDB write them,
//! and as the store keeps graphs.
//!
//! reads     `edges.parquet` (or .arrow, .feather; or a folder of parts), beside it `nodes`,
//!           `graphs` and `features` in the same forms
//! promises  edges: two columns by name (source/target, src/dst, from/to, u/v, head/tail,
//!           start/end), `weight`, `type`; others are features only where `edge_features` asks;
//!           nodes: `id`, `label`, `split` or masks, `graph`, `kind`, features by the rule of
//!           column_roles.rs; others are further columns. Letters of either case; without a node
//!           table, nodes are those that edges name
//! promises  `label` may be numbers and `class` their names; several splits are lists in `split`,
//!           or `split_0`, `split_1` and so on; a table of features may be entries of a sparse
//!           matrix: `row`, `column`, `value`
//! promises  a null in an id is an error that names file and row; ends that no row of the node
//!           table has are errors
//! promises  in tables of the store (written by `warploom`) ends are rows of the node table, and
//!           graphs rows of the graph table
//! never     takes positions of columns for their meaning; reads `features-sparse.arrow` of the
//!           store
//! bounds    as edge_table.rs and node_table.rs say; one batch a thread beyond that
mod edge_table;
mod node_ids;
mod node_table;
mod table_files;

use super::edge_list::refuse_no_edges;
use crate::{
    column_roles::{GRAPHS, IDS, KINDS},
    containers::{
        arrow_tables::{self, TableFile, TableSource},
        raw_file::begins,
        sparse_matrix::MatrixEntries,
    },
    detect::file_heads::FileHeads,
    format::Format,
    options::Options,
    out_of_core::{self, Edge, Limit, LoadedGraph, Spilled},
    raw_graph::{Features, Graphs, Kinds, NodeIds, RawGraph},
    read_error::{Read, ReadError},
};
use node_table::NodeTable;
use std::path::{Path, PathBuf};

pub use crate::containers::arrow_tables::is_guarded;
pub use table_files::{is_end, is_table};

/// Edge and node tables.
pub const FORMAT: Format = Format {
    name: "tables",
    about: "Parquet or Arrow: edges.parquet or a folder of parts, nodes.parquet beside it",
    recognise,
    read_within,
};

/// An edge table by its name, or tables whose columns are all those of edges; with the tables
/// beside it.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let files: Vec<PathBuf> = look
        .files()
        .flat_map(|(path, _)| look.sound(table_files::list_files(path)).unwrap_or_default())
        .collect();
    let found = table_files::sort_files(&files);
    // Tables of other names, or the parts of one that stand in the folder itself.
    let all_edges = || {
        found.others.iter().all(|part| {
            look.sound(arrow_tables::open(part)).is_some_and(|source| edge_table::is_edges(&source))
        })
    };
    let edges = if found.edges.is_empty() && all_edges() { &found.others } else { &found.edges };
    let parts = edges.iter().chain(&found.nodes).chain(&found.graphs).chain(&found.features);
    (!edges.is_empty()).then(|| parts.map(|part| part.path.clone()).collect())
}

/// Reads the tables; files may come in any order, and folders of parts by their own names.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let files =
        files.iter().map(|path| table_files::list_files(path)).collect::<Read<Vec<_>>>()?.concat();
    let mut found = table_files::sort_files(&files);
    if found.edges.is_empty() {
        found.edges = std::mem::take(&mut found.others);
    }
    if let Some(other) = found.others.first() {
        let error =
            ReadError::new(&other.path, "the name of this table does not say what it holds");
        return Err(Box::new(error.expected(
            "edges, nodes, graphs or features, by its own name or its folder's",
            "another name",
        )));
    }
    let open = |parts: &[TableFile]| {
        parts.iter().map(arrow_tables::open).collect::<Read<Vec<TableSource>>>()
    };
    let (edge_files, node_files) = (open(&found.edges)?, open(&found.nodes)?);
    let ours =
        edge_files.iter().chain(&node_files).all(|source| source.ours) && !node_files.is_empty();
    let mut graph = RawGraph::default();
    let nodes = if node_files.is_empty() {
        None
    } else {
        Some(read_nodes(&node_files, options, &mut graph)?)
    };
    let nodes = nodes.map(|ids| edge_table::KnownNodes { ids, by_row: ours });
    let edge_table::EdgeTableContents { ids, edges, spilled, relations, passed_over, notes } =
        edge_table::read(&edge_files, options, nodes, limit)?;
    (graph.ids, graph.edges, graph.relations, graph.passed_over) =
        (ids, edges, relations, passed_over);
    graph.notes.extend(notes);
    graph.roles.edge_features.clone_from(&options.edge_features);
    graph.nodes_told = !node_files.is_empty();
    if !found.graphs.is_empty() {
        read_graphs(&open(&found.graphs)?, ours, &mut graph)?;
    }
    if !found.features.is_empty() {
        read_features(&open(&found.features)?, &mut graph)?;
    }
    graphs_hold(&graph, spilled.as_ref(), &edge_files[0].path)?;
    refuse_no_edges(&edge_files[0].path, LoadedGraph { graph, spilled })
}

/// Reads the node table into the graph; the ids come back.
fn read_nodes(sources: &[TableSource], options: &Options, graph: &mut RawGraph) -> Read<NodeIds> {
    let mut table = node_table::read(sources)?;
    let ids = match options.id.as_deref() {
        None => table.take_ids(IDS)?.unwrap_or(NodeIds::Count(table.rows as u32)),
        Some(name) => table.take_ids(&[name])?.ok_or_else(|| table.missing(name))?,
    };
    graph.labels = table.take_labels(options.label.as_deref())?;
    graph.classes_told = table.classes_told;
    graph.splits = table.take_splits()?;
    graph.features = if options.node_features.is_empty() {
        table.take_features()?
    } else {
        table.take_columns(&options.node_features)?
    };
    if let Some((of_node, names)) = table.take_shared(GRAPHS)? {
        graph.graphs = Some(Graphs { of_node, ids: names, ..Graphs::default() });
    }
    if let Some((of_node, names)) = table.take_shared(KINDS)? {
        if names.len() > usize::from(u16::MAX) {
            let error = sources[0]
                .error("the nodes have too many kinds")
                .expected(format!("at most {}", u16::MAX), names.len().to_string());
            return Err(Box::new(error));
        }
        let features = vec![None; names.len()];
        graph.kinds = Some(Kinds {
            of_node: of_node.into_iter().map(|kind| kind as u16).collect(),
            names: words_of(&names),
            features,
        });
    }
    graph.roles = std::mem::take(&mut table.roles);
    graph.has_columns = true;
    graph.columns = table.take_rest()?;
    Ok(ids)
}

fn words_of(names: &NodeIds) -> Vec<String> {
    match names {
        NodeIds::Count(count) => (0..*count).map(|number| number.to_string()).collect(),
        NodeIds::Numbers(numbers) => numbers.iter().map(u64::to_string).collect(),
        NodeIds::Strings(words) => words.clone(),
    }
}

/// Reads the graph table: labels, splits and further columns of the graphs that nodes name.
fn read_graphs(sources: &[TableSource], ours: bool, graph: &mut RawGraph) -> Read<()> {
    let mut table: NodeTable = node_table::read(sources)?;
    let Some(graphs) = &mut graph.graphs else {
        return Err(Box::new(
            sources[0]
                .error("there is a table of graphs, but nodes do not say their graph")
                .expected("a column `graph` of the node table", "none"),
        ));
    };
    let ids =
        table.take_ids(&["id", "graph", "graph_id"])?.unwrap_or(NodeIds::Count(table.rows as u32));
    let by_row = NodeIds::Count(ids.len() as u32);
    let index = node_ids::NodeIndex::new(if ours { &by_row } else { &ids });
    let row_of: Vec<Option<u32>> = match &graphs.ids {
        NodeIds::Count(count) => (0..u64::from(*count)).map(|id| index.number(id)).collect(),
        NodeIds::Numbers(numbers) => numbers.iter().map(|&id| index.number(id)).collect(),
        NodeIds::Strings(words) => words.iter().map(|id| index.word(id)).collect(),
    };
    for graph in &mut graphs.of_node {
        let missing = || {
            let found = words_of(&graphs.ids).swap_remove(*graph as usize);
            Box::new(
                sources[0]
                    .error("a node is in a graph that the table of graphs does not have")
                    .expected("an id of the table", format!("`{found}`")),
            )
        };
        *graph = row_of[*graph as usize].ok_or_else(missing)?;
    }
    graphs.labels = table.take_labels(None)?;
    graphs.classes_told = table.classes_told;
    graphs.splits = table.take_splits()?;
    graphs.columns = table.take_rest()?;
    graphs.ids = ids;
    Ok(())
}

/// Whether a file begins as a table does.
pub(crate) fn begins_as_one(path: &Path) -> Read<bool> {
    begins(path, |first| {
        matches!(
            first,
            [b'P', b'A', b'R', b'1', ..]
                | [b'A', b'R', b'R', b'O', ..]
                | [0xff, 0xff, 0xff, 0xff, ..]
        )
    })
}

/// A table that says parts of splits: its rows by ascending id, these ids, and each split's parts
/// in their order.
pub(crate) fn parts(path: &Path, ids: &[&str]) -> Read<(NodeTable, NodeIds, Vec<Vec<u8>>)> {
    let source =
        arrow_tables::open(&TableFile { path: path.to_path_buf(), constants: Vec::new() })?;
    let mut table: NodeTable = node_table::read(std::slice::from_ref(&source))?;
    let ids = table.take_ids(ids)?.ok_or_else(|| table.missing("id"))?;
    let splits = table.take_splits()?;
    if splits.is_empty() {
        return Err(table.missing("split"));
    }
    Ok((table, ids, splits))
}

/// The ids of a table, ascending, and for each the row of the file that has it.
pub(crate) fn ids_in_order(path: &Path, ids: &[&str]) -> Read<(NodeTable, NodeIds, Vec<u32>)> {
    let source =
        arrow_tables::open(&TableFile { path: path.to_path_buf(), constants: Vec::new() })?;
    let mut table: NodeTable = node_table::read(std::slice::from_ref(&source))?;
    let ids = table.take_ids(ids)?.ok_or_else(|| table.missing("id"))?;
    let order = table.file_rows();
    Ok((table, ids, order))
}

/// Refuses a table without a column of ids, by its schema alone.
pub(crate) fn refuse_without_ids(path: &Path, ids: &[&str]) -> Read<()> {
    let source =
        arrow_tables::open(&TableFile { path: path.to_path_buf(), constants: Vec::new() })?;
    if arrow_tables::find_column(&source, ids).is_some() {
        return Ok(());
    }
    let error = source.error("the table has no column `id`");
    Err(Box::new(error.expected("`id`", source.names())))
}

/// Refuses a table without the columns of parts, by its schema alone.
pub(crate) fn refuse_without_parts(path: &Path, ids: &[&str]) -> Read<()> {
    const PARTS: &[&str] = &[
        "split",
        "splits",
        "split_0",
        "train_mask",
        "val_mask",
        "valid_mask",
        "validation_mask",
        "test_mask",
    ];
    let source =
        arrow_tables::open(&TableFile { path: path.to_path_buf(), constants: Vec::new() })?;
    for (name, known) in [("id", ids), ("split", PARTS)] {
        if !source
            .schema
            .fields()
            .iter()
            .any(|field| known.iter().any(|known| field.name().eq_ignore_ascii_case(known)))
        {
            return Err(Box::new(
                source
                    .error(format!("the table has no column `{name}`"))
                    .expected(format!("`{name}`"), source.names()),
            ));
        }
    }
    Ok(())
}

/// Features as a table has them.
pub(crate) enum TableFeatures {
    /// Row by row.
    Rows {
        /// Numbers in a row.
        columns: usize,
        /// All of them.
        values: Vec<f32>,
    },
    /// What is not 0, of a matrix that does not say how large it is.
    Entries(MatrixEntries),
}

/// The features of a table that has nothing else.
pub(crate) fn features_of(path: &Path) -> Read<TableFeatures> {
    let source =
        arrow_tables::open(&TableFile { path: path.to_path_buf(), constants: Vec::new() })?;
    let mut table: NodeTable = node_table::read(std::slice::from_ref(&source))?;
    features_in(&mut table, &source)
}

fn features_in(table: &mut NodeTable, source: &TableSource) -> Read<TableFeatures> {
    if let Some(entries) = table.take_entries(&source.path)? {
        return Ok(TableFeatures::Entries(entries));
    }
    let none = |what: &str| {
        Box::new(
            source
                .error(what)
                .expected("a column `features` of lists, or x0, x1, ...", source.names()),
        )
    };
    match table.take_features()?.or(table.take_only_lists()?) {
        Some(Features::Dense { .. }) if !table.take_rest()?.is_empty() => {
            let error = none("the columns of this table do not all say that they are features");
            Err(Box::new(error.hint("columns of other names stand in the table of nodes")))
        }
        Some(Features::Dense { columns, values }) => {
            Ok(TableFeatures::Rows { columns: columns as usize, values })
        }
        _ => Err(none("the table has no features")),
    }
}

/// Reads features that stand in a table of their own, in the order of the nodes.
fn read_features(sources: &[TableSource], graph: &mut RawGraph) -> Read<()> {
    let mut table: NodeTable = node_table::read(sources)?;
    let first = &sources[0];
    if graph.features.is_some() {
        return Err(Box::new(
            first
                .error("the node table has features too")
                .expected("them in one place", "this file too"),
        ));
    }
    if let Some(ids) = table.take_ids(IDS)?
        && ids != graph.ids
    {
        return Err(Box::new(
            first
                .error("the ids of the features are not those of the nodes")
                .expected("a row for each node", format!("{} ids", ids.len())),
        ));
    }
    let nodes = graph.ids.len();
    let count = table.rows;
    let too_few = |found: usize| {
        Err(Box::new(
            first
                .error("there is not a row for each node")
                .expected(nodes.to_string(), found.to_string()),
        ))
    };
    graph.features = Some(match features_in(&mut table, first)? {
        TableFeatures::Rows { .. } if count != nodes => return too_few(count),
        TableFeatures::Rows { columns, values } => {
            Features::Dense { columns: columns as u32, values }
        }
        TableFeatures::Entries(entries) if entries.rows as usize > nodes => {
            return too_few(entries.rows as usize);
        }
        TableFeatures::Entries(entries) => {
            MatrixEntries { rows: nodes as u32, ..entries }.into_features()
        }
    });
    Ok(())
}

/// An edge joins nodes of one graph.
fn graphs_hold(graph: &RawGraph, spilled: Option<&Spilled>, path: &Path) -> Read<()> {
    let Some(graphs) = &graph.graphs else { return Ok(()) };
    let parts =
        |edge: Edge| graphs.of_node[edge.source as usize] != graphs.of_node[edge.target as usize];
    match out_of_core::find_edge(&graph.edges, spilled, parts)? {
        None => Ok(()),
        Some((edge, _)) => Err(Box::new(
            ReadError::new(path, format!("edge {edge} (from 0) joins nodes of two graphs"))
                .expected("one graph", "two"),
        )),
    }
}

#[cfg(test)]
mod tests;
