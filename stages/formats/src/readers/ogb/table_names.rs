//! The names of the tables of the Open Graph Benchmark.
use crate::containers::bundle::last;

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
pub fn table_of(name: &str) -> Option<&str> {
    let name = last(name);
    name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".csv")
}

pub fn is_table(name: &str, table: &str) -> bool {
    table_of(name) == Some(table)
}
