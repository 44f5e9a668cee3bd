//! ingest: how raw files become a graph with features and labels.
//!
//! promises  every choice that changes the graph artifact stands here
//! never     names a raw file; the data set's catalogue entry does
use crate::declare::{choices, spec};

spec! {
    /// Settings of the stage `ingest`.
    pub IngestSpec {
        /// Whether every edge gets its reverse.
        symmetrize: Symmetrize = Symmetrize::Auto;
        /// What happens to edges from a node to itself.
        self_loops: SelfLoops = SelfLoops::Keep;
        /// What happens to edges with the same source, target and type.
        duplicates: Duplicates = Duplicates::Keep;
        /// Where node features come from.
        features: Features = Features::Auto;
        /// How a row of features is scaled.
        normalize: Normalize = Normalize::None;
        /// How node ids are read.
        ids: Ids = Ids::Auto;
        /// For whatever is drawn: made-up features, labels, splits, stand-ins.
        seed: u64 = 0;
    }
}

choices! {
    /// Whether every edge gets its reverse.
    Symmetrize {
        /// What the catalogue says of the set.
        Auto = "auto",
        /// Every edge gets its reverse.
        True = "true",
        /// Edges stay as they are.
        False = "false",
    }
}

choices! {
    /// What happens to edges from a node to itself.
    SelfLoops {
        /// They stay.
        Keep = "keep",
        /// They go.
        Drop = "drop",
        /// They stay, and every node without one gets one.
        Add = "add",
        /// They go, and every node gets one.
        Replace = "replace",
    }
}

choices! {
    /// What happens to edges with the same source, target and type.
    Duplicates {
        /// They stay, and count each.
        Keep = "keep",
        /// Unweighted edges are a set; the weights of weighted ones add up.
        Merge = "merge",
        /// Weights add up; of unweighted edges, how many there were becomes the weight.
        Sum = "sum",
        /// The least weight stays.
        Min = "min",
        /// The greatest weight stays.
        Max = "max",
        /// The first in the file stays.
        First = "first",
    }
}

choices! {
    /// Where node features come from.
    Features {
        /// Given attributes and one-hot node labels; else the degree for sets of many graphs; else random ones of the catalogue's width.
        Auto = "auto",
        /// Those of the data set; an error when it has none.
        Given = "given",
        /// The degree.
        Degree = "degree",
        /// One column per node label.
        OneHotLabel = "one_hot_label",
        /// A one for every node.
        Constant = "constant",
        /// Drawn from seeded communities.
        Random = "random",
        /// No features.
        None = "none",
    }
}

choices! {
    /// How a row of features is scaled.
    Normalize {
        /// Not at all.
        None = "none",
        /// Each row of given features sums to one; made-up rows are drawn at unit scale and stay.
        Row = "row",
    }
}

choices! {
    /// How node ids are read.
    Ids {
        /// As numbers when all of them are, else as words.
        Auto = "auto",
        /// As whole numbers; a word is an error.
        Number = "number",
        /// As words.
        String = "string",
    }
}
