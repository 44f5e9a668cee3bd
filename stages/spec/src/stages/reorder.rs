//! reorder: how nodes are renumbered.
//!
//! promises  every method that can be asked for stands here
//! never     has a setting that changes a result, only where it lies in memory
use crate::{
    declare::{choices, spec},
    field::Range,
};

spec! {
    /// Settings of the stage `reorder`.
    pub ReorderSpec {
        /// How nodes are renumbered.
        method: Method = Method::Auto;
        /// For the methods that draw.
        seed: u64 = 0;
        /// Which edges of a node make its degree, for the methods that go by it.
        degree: Degree = Degree::In;
        /// Smallest degree first, for `degree` and `approx-degree`.
        ascending: bool = false;
        /// How many classes of degrees `approx-degree` tells apart.
        buckets: u64 = 1000, range(Range::closed(1.0, 1_048_576.0)), unit("buckets");
        /// How many parts `metis` cuts the graph into.
        parts: u64 = 64, range(Range::closed(1.0, 16_777_216.0)), unit("parts");
        /// How long METIS may take.
        seconds: u64 = 600, range(Range::closed(1.0, 1e6)), unit("seconds");
        /// Width of the rows that `auto` decides for, in numbers of 4 bytes.
        columns: u64 = 64, range(Range::closed(1.0, 65_536.0)), unit("columns");
        /// How many runs `auto` takes to share the order, which is made once and kept.
        runs: u64 = 10, range(Range::closed(1.0, 1e6)), unit("runs");
    }
}

choices! {
    /// How nodes are renumbered.
    Method {
        /// By what it would save, see quality.json.
        Auto = "auto",
        /// The order of the data set stays.
        None = "none",
        /// At random.
        Random = "random",
        /// By degree, falling unless `ascending`.
        Degree = "degree",
        /// By buckets of about the same degree; inside of each the order stays.
        ApproximateDegree = "approx-degree",
        /// Nodes of more edges than the mean first, by falling degree; the order of all others
        /// stays.
        HubSort = "hub-sort",
        /// Nodes of more edges than the mean first; the order stays otherwise.
        HubCluster = "hub-cluster",
        /// In breadth from the node of most neighbours.
        Breadth = "bfs",
        /// Reverse Cuthill-McKee: edges lead to near rows.
        Rcm = "rcm",
        /// Rabbit order: communities, and communities inside of them, lie side by side.
        Rabbit = "rabbit",
        /// By the parts of METIS: few edges lead from part to part.
        Metis = "metis",
        /// By the lowest neighbour whose edge comes in.
        FirstColumn = "first-column",
        /// Neighbours are numbered as rows meet them; rows stand by the mean of these numbers.
        ColumnsThenRows = "columns-then-rows",
    }
}

choices! {
    /// Which edges of a node are counted.
    Degree {
        /// Edges that end there.
        In = "in",
        /// Edges that start there.
        Out = "out",
        /// Both.
        Both = "both",
    }
}
