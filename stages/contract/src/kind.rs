//! kind: what an artifact is: the names, the format versions and the records of all kinds.
//!
//! promises  a name and a version are all that paths and keys hold of a kind
//! never     knows what the files of a kind hold: `kinds` does
use serde::{Deserialize, Serialize};

/// The record of a run: device, seconds, seed.
pub const RUN_RECORD_FILE: &str = "record.json";
/// The metrics of a run by epoch: a record, since it has seconds.
pub const RUN_METRICS_FILE: &str = "metrics.parquet";
/// What a permutation is worth, and why it was chosen: a record.
pub const QUALITY_FILE: &str = "quality.json";
/// What a plan should take, and why: a record.
pub const ADVICE_FILE: &str = "advice.json";

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Edges, nodes, labels and features under the data set's own ids.
    Graph,
    /// Neighbours in both directions with edge ids.
    Csr,
    /// Facts of a graph that a planner needs.
    Profile,
    /// New number of each node.
    Permutation,
    /// Work units and device formats.
    Partition,
    /// What to do, in order.
    Plan,
    /// Compiled kernels.
    Cubin,
    /// State of a run that is not over.
    Checkpoint,
    /// Measured choices.
    Tune,
    /// Results.
    Run,
}

/// Results are made last: a kind that `ALL` lacks stands before them.
const _: () = assert!(Kind::ALL.len() == Kind::Run as usize + 1);

impl Kind {
    /// All kinds, in the order in which they are made.
    pub const ALL: [Kind; 10] = [
        Kind::Graph,
        Kind::Csr,
        Kind::Profile,
        Kind::Permutation,
        Kind::Partition,
        Kind::Plan,
        Kind::Cubin,
        Kind::Checkpoint,
        Kind::Tune,
        Kind::Run,
    ];

    /// Name in paths and documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Graph => "graph",
            Kind::Csr => "csr",
            Kind::Profile => "profile",
            Kind::Permutation => "permutation",
            Kind::Partition => "partition",
            Kind::Plan => "plan",
            Kind::Cubin => "cubin",
            Kind::Checkpoint => "checkpoint",
            Kind::Tune => "tune",
            Kind::Run => "run",
        }
    }

    /// The kind of a name.
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Version of the format.
    pub fn version(self) -> u32 {
        match self {
            Kind::Profile | Kind::Permutation | Kind::Partition | Kind::Plan => 2,
            _ => 1,
        }
    }

    /// Whether a file tells of the making (times, host, reasons) and so is no part of the input
    /// digest.
    pub fn is_record(self, file: &str) -> bool {
        match self {
            Kind::Run => file == RUN_RECORD_FILE || file == RUN_METRICS_FILE,
            Kind::Permutation => file == QUALITY_FILE,
            Kind::Plan => file == ADVICE_FILE,
            _ => false,
        }
    }
}
