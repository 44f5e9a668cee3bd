//! One file or folder for each format, and the table of all formats.
pub mod adjacency_text;
pub mod ascii_graph;
pub mod bvgraph;
pub mod communities;
pub mod csv;
pub mod dimacs;
pub mod edge_arrays;
pub mod edge_list;
pub mod gml;
pub mod hetero;
pub mod matrix_market;
pub mod metis;
pub mod npz;
pub mod ntriples;
pub mod ogb;
pub mod planetoid;
pub mod road;
#[cfg(feature = "tables")]
pub mod tables;
pub mod triples;
pub mod tu;
pub mod uai;

use crate::format::Format;

/// All formats, the surest signs first: `detect` takes the first that recognises the files.
pub const FORMATS: &[Format] = &[
    planetoid::FORMAT,
    tu::FORMAT,
    ogb::FORMAT,
    hetero::FORMAT,
    #[cfg(feature = "tables")]
    tables::FORMAT,
    npz::FORMAT,
    edge_arrays::FORMAT,
    ntriples::FORMAT,
    triples::FORMAT,
    bvgraph::FORMAT,
    matrix_market::FORMAT,
    metis::FORMAT,
    dimacs::FORMAT,
    gml::FORMAT,
    road::FORMAT,
    communities::FORMAT,
    uai::FORMAT,
    adjacency_text::FORMAT,
    ascii_graph::FORMAT,
    csv::FORMAT,
    edge_list::FORMAT,
];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
