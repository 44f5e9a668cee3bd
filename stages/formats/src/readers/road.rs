//! Road networks with coordinates: `NAME.cnode` with lines `node x y`, `NAME.cedge` with lines
//! `edge source target length`.
//!
//! promises  nodes are those of the node file, with and without roads; `x` and `y` are columns of
//!           the nodes, the length is the weight
//! reads     blanks, tabs, commas or semicolons, comments, gzip, zstd
//! never     keeps the roads' own numbers: `passed_over` says so
//! limits    the node file as a whole in memory
//! format    F. Li and others, Real Datasets for Spatial Databases (2005)
use super::edge_list::{
    field_lines::{EdgeColumns, Width},
    read_edges,
    table_edges::{KnownColumns, move_to_nodes},
};
use crate::{
    containers::decompress::PlainFile,
    detect::file_heads::FileHeads,
    format::Format,
    options::{Ids, Options},
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{Column, NODES_MOST, NodeIds},
    read_error::{Read, ReadError},
    text::{
        comments::is_blank_or_comment,
        field_fault::error_at,
        field_table::FieldTable,
        fields::{Separator, detect_separator},
    },
};
use std::path::{Path, PathBuf};

/// Road networks with coordinates.
pub const FORMAT: Format = Format {
    name: "road",
    about: "road network: NAME.cnode (node x y) and NAME.cedge (edge source target length)",
    recognise,
    read_within,
};

const NODE_ENDS: [&str; 2] = [".cnode", ".cnode.txt"];
const EDGE_ENDS: [&str; 2] = [".cedge", ".cedge.txt"];

/// One file of nodes and one of edges.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let ending = |ends: [&str; 2]| -> Vec<PathBuf> {
        ends.iter().flat_map(|end| look.ending(end)).map(PathBuf::from).collect()
    };
    match (&ending(NODE_ENDS)[..], &ending(EDGE_ENDS)[..]) {
        ([nodes], [edges]) => Some(vec![nodes.clone(), edges.clone()]),
        _ => None,
    }
}

/// Reads a road network.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let is_nodes =
        |path: &&PathBuf| path.file_name().unwrap_or_default().to_string_lossy().contains("node");
    let (nodes, edges): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(is_nodes);
    let ([nodes], [edges]) = (&nodes[..], &edges[..]) else {
        let error = ReadError::new(
            files.first().map_or(Path::new(""), PathBuf::as_path),
            "a road network is a file of nodes and one of edges",
        );
        return Err(Box::new(
            error
                .expected(
                    "NAME.cnode and NAME.cedge",
                    format!("{} and {}", nodes.len(), edges.len()),
                )
                .hint("name both files"),
        ));
    };
    let table = FieldTable::read(PlainFile::open(nodes)?, Some(&["node", "x", "y"]), options)?;
    let (ids, order) = ids_of(&table)?;
    let known = KnownColumns { layout: Some(layout(edges, options)?), type_is_relation: false };
    let options = Options { ids: Ids::Number, ..options.clone() };
    let found = read_edges(PlainFile::open(edges)?, &options, &known, limit)?;
    let LoadedGraph { mut graph, spilled } =
        move_to_nodes(found, ids, &options, &known, || PlainFile::open(edges))?;
    for (column, name) in [(1, "x"), (2, "y")] {
        let value = |&row: &u32| {
            let hint = "coordinates are two finite numbers";
            let number = table.number(row as usize, column);
            number.map(Some).ok_or_else(|| {
                table.fault(
                    row as usize,
                    column,
                    "a coordinate is not a finite number",
                    "a number",
                    hint,
                )
            })
        };
        graph
            .columns
            .push((name.to_owned(), Column::Reals(order.iter().map(value).collect::<Read<_>>()?)));
    }
    graph.directed = Some(false);
    graph.passed_over.push("the edges' own numbers".into());
    Ok(LoadedGraph { graph, spilled })
}

/// Ids ascending, and the row of the file for each.
fn ids_of(table: &FieldTable) -> Read<(NodeIds, Vec<u32>)> {
    let mut ids: Vec<(u64, u32)> = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        let word = table.bytes(row, 0);
        let id = std::str::from_utf8(&word)
            .ok()
            .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|word| word.parse().ok());
        ids.push((
            id.ok_or_else(|| {
                table.fault(
                    row,
                    0,
                    "a node has an id that is no whole number",
                    "a number from 0",
                    "lines are  NODE X Y",
                )
            })?,
            row as u32,
        ));
    }
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(table.fault(
            pair[1].1 as usize,
            0,
            "two nodes have one id",
            "ids that differ",
            "keep one line a node",
        ));
    }
    if ids.len() as u64 > NODES_MOST {
        return Err(Box::new(
            ReadError::new(table.path(), "the network has too many nodes")
                .expected(format!("at most {NODES_MOST}"), ids.len().to_string()),
        ));
    }
    let (ids, order) = ids.into_iter().unzip();
    Ok((NodeIds::from_ascending(ids), order))
}

/// Four columns behind the separator of the first line.
fn layout(edges: &Path, options: &Options) -> Read<EdgeColumns> {
    let mut head = Vec::new();
    PlainFile::open(edges)?.fill(&mut head, 1 << 12)?;
    let line =
        head.split(|&byte| byte == b'\n').find(|line| !is_blank_or_comment(line)).unwrap_or(b"");
    Ok(EdgeColumns {
        separator: Separator::from_options(options)
            .map_err(|fault| error_at(edges, &head, &fault))?
            .unwrap_or_else(|| detect_separator(line)),
        width: Width::Exactly(4),
        names: ["edge", "source", "target", "length"].map(String::from).to_vec(),
        words: false,
        exact: false,
        source: 1,
        target: 2,
        weight: Some(3),
        relation: None,
        direction: None,
        features: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
