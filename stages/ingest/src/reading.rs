//! reading: a graph as it was read or made, before anything is left out or filled in.
use warploom_contract::Provenance;
use warploom_formats::{out_of_core::Spilled, raw_graph::RawGraph};

/// What was read or made.
pub struct SourceGraph {
    /// As listed.
    pub graph: RawGraph,
    /// Real or stand-in.
    pub provenance: Provenance,
    /// Communities that the generator planted.
    pub community: Option<Vec<u32>>,
    /// The edges, where they do not fit the memory that may be used: the graph has none then.
    pub spilled: Option<Spilled>,
    /// What the files became, a line each.
    pub report: Vec<String>,
}
