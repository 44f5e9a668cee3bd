//! Tables of edges, nodes and graphs with names of columns: `edges.csv`, and beside it perhaps
//! `nodes.csv` and `graphs.csv`.
//!
//! ```text
//! nodes.csv   id,label,split,kind,graph,x0,x1,name        edges.csv   source,target,weight,type
//!             1,odd,train,a,,0.5,1,Ann                                1,2,0.5,knows
//! graphs.csv  id,label,split                          of sets of many graphs: `graph` of the nodes names them
//! ```
//! promises  nodes are those of `nodes.csv`, in ascending order of id, with and without edges; an
//!           edge that names another is an error
//! promises  a column `class` that has one word for each number of `label` is the names of the
//!           classes; several labels are `label_0`, ...
//! promises  every column of nodes goes somewhere: id, label, splits (`split`, `split_NAME`), kind,
//!           graph, features (`x0`, `feat_NAME`), the rest by name; of edges the ends, the weight,
//!           the relation (`type`) and `edge_features` are taken, the rest is named in
//!           `passed_over`
//! reads     tab, `,`, `;`, `|` or blanks between columns, fields in quotes, CRLF, a byte-order
//!           mark, gzip, zstd
//! never     reads a line end inside of quotes
//! limits    `nodes.csv` as a whole in memory; edges as `edge_list`
mod node_table;

use super::edge_list::{
    read_edges, refuse_no_edges,
    table_edges::{KnownColumns, move_to_nodes},
};
use crate::{
    containers::decompress::PlainFile,
    detect::file_heads::FileHeads,
    format::Format,
    options::Options,
    out_of_core::{self, Limit, LoadedGraph},
    read_error::{Read, ReadError},
    text::field_table::FieldTable,
};
use node_table::CsvNodes;
use std::path::{Path, PathBuf};

/// Tables of edges and of nodes.
pub const FORMAT: Format = Format {
    name: "csv",
    about: "edges.csv, perhaps with nodes.csv: tables whose first lines name the columns",
    recognise,
    read_within,
};

const EDGES: [&str; 2] = ["edges.csv", "edges.tsv"];
const NODES: [&str; 2] = ["nodes.csv", "nodes.tsv"];
const GRAPHS: [&str; 2] = ["graphs.csv", "graphs.tsv"];

/// One file whose name ends in `edges.csv`, at most one that ends in `nodes.csv`; beside that
/// perhaps `graphs.csv`.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let ending = |ends: [&str; 2]| -> Vec<PathBuf> {
        look.files()
            .filter(|(_, name)| ends.iter().any(|end| name.ends_with(end)))
            .map(|(path, _)| path.into())
            .collect()
    };
    match (&ending(EDGES)[..], &ending(NODES)[..]) {
        ([edges], []) => Some(vec![edges.clone()]),
        ([edges], [nodes]) => {
            let graphs = GRAPHS.iter().find_map(|name| look.named(name)).map(Path::to_path_buf);
            Some([edges.clone(), nodes.clone()].into_iter().chain(graphs).collect())
        }
        _ => None,
    }
}

/// Which file is which table.
struct TablePaths<'a> {
    edges: &'a Path,
    nodes: Option<&'a Path>,
    graphs: Option<&'a Path>,
}

fn roles(files: &[PathBuf]) -> Read<TablePaths<'_>> {
    let named =
        |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_nodes = |path: &&PathBuf| named(path).contains("node") || named(path).contains("vert");
    let (graphs, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|path| GRAPHS.iter().any(|name| named(path).starts_with(name)));
    let (nodes, edges): (Vec<&PathBuf>, Vec<&PathBuf>) = others.into_iter().partition(is_nodes);
    match (&edges[..], &nodes[..], &graphs[..]) {
        ([edges], [], []) => Ok(TablePaths { edges, nodes: None, graphs: None }),
        ([edges], [nodes], []) => Ok(TablePaths { edges, nodes: Some(nodes), graphs: None }),
        ([edges], [nodes], [graphs]) => {
            Ok(TablePaths { edges, nodes: Some(nodes), graphs: Some(graphs) })
        }
        _ => {
            let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
            let error = ReadError::new(
                files.first().map_or(Path::new(""), PathBuf::as_path),
                "which table holds the edges, and which the nodes?",
            );
            let error = error.expected(
                "one table of edges, and perhaps one of nodes, and one of graphs with that",
                names.join(", "),
            );
            Err(Box::new(error.hint("call them  edges.csv ,  nodes.csv  and  graphs.csv")))
        }
    }
}

/// Reads tables of edges and of nodes.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let TablePaths { edges, nodes, graphs: table_of_graphs } = roles(files)?;
    let known = KnownColumns { layout: None, type_is_relation: true };
    // A table does not count itself.
    let options = &Options { counts: options.counts.or(Some(false)), ..options.clone() };
    let Some(nodes) = nodes else {
        return refuse_no_edges(
            edges,
            read_edges(PlainFile::open(edges)?, options, &known, limit)?,
        );
    };
    let nodes = CsvNodes::new(FieldTable::read(PlainFile::open(nodes)?, None, options)?, options)?;
    // Both tables have one sort of ids: the nodes' decides.
    let options = options.with_ids(&nodes.ids);
    let found = read_edges(PlainFile::open(edges)?, &options, &known, limit)?;
    let LoadedGraph { mut graph, spilled } =
        move_to_nodes(found, nodes.ids.clone(), &options, &known, || PlainFile::open(edges))?;
    graph.nodes_told = true;
    nodes.fill(&mut graph, &options)?;
    if let Some(path) = table_of_graphs {
        let Some(graphs) = &mut graph.graphs else {
            let error = ReadError::new(
                path,
                "there is a table of graphs, but nodes do not say their graph",
            );
            return Err(Box::new(error.expected("a column `graph` of the table of nodes", "none")));
        };
        let (separator, ids_exact) = (options.separator.clone(), options.are_graphs_exact());
        let options =
            Options { separator, ids_exact, ..Options::default() }.with_id_form(&graphs.ids);
        CsvNodes::new(FieldTable::read(PlainFile::open(path)?, None, &options)?, &options)?
            .fill_graphs(graphs)?;
    }
    if let Some(graphs) = &graph.graphs {
        let parts = |edge: out_of_core::Edge| {
            graphs.of_node[edge.source as usize] != graphs.of_node[edge.target as usize]
        };
        if let Some((at, _)) = out_of_core::find_edge(&graph.edges, spilled.as_ref(), parts)? {
            let error = ReadError::new(edges, "an edge joins nodes of two graphs")
                .expected("edges inside of a graph", format!("the edge number {}", at + 1));
            return Err(Box::new(error.hint("mend the column of graphs in the table of nodes")));
        }
    }
    Ok(LoadedGraph { graph, spilled })
}

#[cfg(test)]
mod tests;
