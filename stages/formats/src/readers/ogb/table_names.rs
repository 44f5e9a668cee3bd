//! The names of the tables of the Open Graph Benchmark.
use crate::containers::bundle::file_name;

/// Tables of their own; others begin with `node_` or `edge_`.
pub const TABLES: [&str; 7] = [
    "edge",
    "num-node-list",
    "num-edge-list",
    "node-feat",
    "edge-feat",
    "node-label",
    "graph-label",
];

/// The name of a table, without folders and ends.
pub fn table_name(name: &str) -> Option<&str> {
    let name = file_name(name);
    name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".csv")
}

pub fn is_table(name: &str, table: &str) -> bool {
    table_name(name) == Some(table)
}
