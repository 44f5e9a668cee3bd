//! reorder: settings of the stage that renumbers nodes.
//!
//! promises  every method is here
//! never     has a setting that changes a result, only its order in memory
use std::path::PathBuf;

use crate::{
    declare::{choices, spec},
    field::Range,
    types::OneOrMore,
};

spec! {
    /// Settings of the stage `reorder`.
    pub ReorderSpec {
        /// The reordering method.
        method: Method = Method::Auto;
        /// Seed of methods that use random numbers.
        seed: u64 = 0;
        /// Which edges count for the degree, for methods that use it.
        degree: Degree = Degree::In;
        /// Ascending order of degree, for `degree` and `approx-degree`.
        ascending: bool = false;
        /// Number of degree buckets of `approx-degree`.
        buckets: u64 = 1000, range(Range::closed(1.0, 1_048_576.0)), unit("buckets");
        /// Number of METIS partitions.
        parts: u64 = 64, range(Range::closed(1.0, 16_777_216.0)), unit("parts");
        /// Time limit of METIS.
        seconds: u64 = 600, range(Range::closed(1.0, 1e6)), unit("seconds");
        /// Feature columns that `auto` assumes, in numbers of 4 bytes.
        columns: u64 = 64, range(Range::closed(1.0, 65_536.0)), unit("columns");
        /// Number of runs that `auto` assumes to share the order, which is computed once and
        /// stored.
        runs: u64 = 10, range(Range::closed(1.0, 1e6)), unit("runs");
        /// `file`: a table with the column `id`, CSV, Parquet or Arrow, or an array of ids, `.npy`,
        /// with a row for each node in the new order; the path is relative to the YAML file, on the
        /// command line to the current folder.
        order: Option<PathBuf> = None;
        /// `program`: a program of one's own and its arguments, a list of words; it runs in the
        /// folder of the YAML file, and files that the words name are in the key.
        command: Vec<String> = Vec::new();
        /// `program`: the artifacts that the program is given.
        inputs: OneOrMore<ProgramInput> = OneOrMore::from_values([ProgramInput::Csr]);
    }
}

choices! {
    /// The reordering method.
    Method {
        /// Chosen by predicted savings, see quality.json.
        Auto = "auto",
        /// Keeps the order of the data set.
        None = "none",
        /// Random order.
        Random = "random",
        /// By degree, descending unless `ascending`.
        Degree = "degree",
        /// By buckets of about equal degree; the order inside each stays.
        ApproximateDegree = "approx-degree",
        /// Nodes of more than mean degree first, by descending degree; the order of all others
        /// stays.
        HubSort = "hub-sort",
        /// Nodes of more than mean degree first; the order stays otherwise.
        HubCluster = "hub-cluster",
        /// Breadth-first order from the node of highest degree.
        Breadth = "bfs",
        /// Reverse Cuthill-McKee: small bandwidth.
        Rcm = "rcm",
        /// Rabbit order: nested communities are consecutive.
        Rabbit = "rabbit",
        /// By METIS partitions: small edge cut.
        Metis = "metis",
        /// By the lowest in-neighbour.
        FirstColumn = "first-column",
        /// Columns are numbered by first occurrence in rows; rows are sorted by the mean of these
        /// numbers.
        ColumnsThenRows = "columns-then-rows",
        /// The order of the table `order`.
        File = "file",
        /// The order that the program `command` writes.
        Program = "program",
    }
}

choices! {
    /// An artifact that a program is given.
    ProgramInput {
        /// Neighbours in both directions.
        Csr = "csr",
        /// Nodes, labels, features and edges under the data set's own ids.
        Graph = "graph",
        /// Figures of the graph: counts, degrees, communities.
        Profile = "profile",
        /// The new number of each node, for `partition`.
        Permutation = "permutation",
    }
}

choices! {
    /// Which edges count for the degree.
    Degree {
        /// In-edges.
        In = "in",
        /// Out-edges.
        Out = "out",
        /// In-edges and out-edges.
        Both = "both",
    }
}
