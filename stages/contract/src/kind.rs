//! kind: the kinds of artifact: their names, format versions and record files.
//!
//! promises  paths and keys hold the name and the version of a kind, and no more of it
//! never     knows what the other files of a kind hold: `kinds` does
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
    /// State of an unfinished run.
    Checkpoint,
    /// Measured choices.
    Tune,
    /// Results.
    Run,
}

/// `Run` is the last variant, so its number is the length of `ALL` less one.
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
            Kind::Plan => 7,
            Kind::Partition => 5,
            Kind::Profile | Kind::Permutation => 2,
            _ => 1,
        }
    }

    /// Whether a file is a record of how the artifact was made (times, host, reasons): the input
    /// digest leaves it out.
    pub fn is_record(self, file: &str) -> bool {
        match self {
            Kind::Run => file == RUN_RECORD_FILE || file == RUN_METRICS_FILE,
            Kind::Permutation => file == QUALITY_FILE,
            Kind::Plan => file == ADVICE_FILE,
            _ => false,
        }
    }
}
