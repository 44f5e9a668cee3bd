//! reading: a graph as read or generated, before anything is removed or filled in.
use warploom_contract::Provenance;
use warploom_formats::{out_of_core::Spilled, raw_graph::RawGraph};

/// A graph as read or generated.
pub struct SourceGraph {
    /// The graph with its edges as listed.
    pub graph: RawGraph,
    /// Real or stand-in.
    pub provenance: Provenance,
    /// Communities that the generator planted.
    pub community: Option<Vec<u32>>,
    /// The edges in a file, if they exceed the memory limit: the graph has none then.
    pub spilled: Option<Spilled>,
    /// Lines that say how the files were read.
    pub report: Vec<String>,
}
