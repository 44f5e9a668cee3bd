//! partition: how the graph is cut into units of work and into shards.
//!
//! promises  every scheme that can be asked for stands here
//! never     has a setting that changes a result, only how the work is shared out
use crate::{
    declare::{choices, spec},
    field::Range,
};

spec! {
    /// Settings of the stage `partition`.
    pub PartitionSpec {
        /// How the graph is cut into units of work.
        scheme: Scheme = Scheme::Auto;
        /// How many nonzeros a unit of rows aims at.
        unit_edges: u64 = 16_384, range(Range::within(64.0, 4_294_967_296.0)), unit("nonzeros");
        /// How many shards the graph is cut into, one per GPU.
        parts: u64 = 1, range(Range::within(1.0, 1.0)), unit("shards"), hint("leave it at 1: more parts come with several GPUs");
    }
}

choices! {
    /// How the graph is cut into units of work.
    Scheme {
        /// Whatever the profile asks for.
        Auto = "auto",
        /// Runs of whole rows with about the same number of nonzeros.
        Rows = "rows",
    }
}
