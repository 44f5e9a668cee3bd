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
        buckets: u64 = 1000, range(Range::within(1.0, 1_048_576.0)), unit("buckets");
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
        /// Nodes of more edges than the mean first, by falling degree; the order of all others stays.
        HubSort = "hub-sort",
        /// Nodes of more edges than the mean first; the order stays otherwise.
        HubCluster = "hub-cluster",
        /// In breadth from the node of most neighbours.
        Breadth = "bfs",
        /// Reverse Cuthill-McKee: edges lead to near rows.
        Rcm = "rcm",
        /// Rabbit order: communities, and communities inside of them, lie side by side.
        Rabbit = "rabbit",
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
