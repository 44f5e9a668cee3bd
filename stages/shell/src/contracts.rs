//! The six stages by name: what each reads and writes, and the version of its results.
//!
//! promises  every binary knows all of them, since a stage's key depends on the stages before it;
//!           raising a version here makes every artifact after it a miss
use warploom_contract::{Contract, Kind};

/// Raw files to graph.
pub const INGEST: Contract =
    Contract { name: "ingest", version: 7, reads: &[], writes: &[Kind::Graph] };
/// Graph to neighbours in both directions.
pub const EXTRACT: Contract = Contract {
    name: "extract",
    version: 4,
    reads: &[Kind::Graph],
    writes: &[Kind::Csr, Kind::Profile],
};
/// Neighbours to a better order.
pub const REORDER: Contract = Contract {
    name: "reorder",
    version: 4,
    reads: &[Kind::Csr],
    writes: &[Kind::Csr, Kind::Permutation],
};
/// Neighbours to the name of the order that pays: what `reorder.method: auto` chose.
pub const CHOICE: Contract =
    Contract { name: "order-choice", version: 1, reads: &[Kind::Csr], writes: &[Kind::Tune] };
/// Neighbours to work units.
pub const PARTITION: Contract =
    Contract { name: "partition", version: 3, reads: &[Kind::Csr], writes: &[Kind::Partition] };
/// Program, profile and device to launches.
pub const PLAN: Contract = Contract {
    name: "plan",
    version: 17,
    reads: &[Kind::Graph, Kind::Csr, Kind::Profile, Kind::Permutation, Kind::Partition],
    writes: &[Kind::Plan],
};
/// Launches to results.
pub const RUN: Contract = Contract {
    name: "run",
    version: 2,
    reads: &[Kind::Graph, Kind::Csr, Kind::Permutation, Kind::Partition, Kind::Plan],
    writes: &[Kind::Run],
};

/// In the order in which they run.
pub const ALL: [Contract; 6] = [INGEST, EXTRACT, REORDER, PARTITION, PLAN, RUN];
