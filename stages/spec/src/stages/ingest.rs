//! ingest: settings of the stage that reads raw files into a graph with features and labels.
//!
//! promises  every choice that changes the graph artifact is here
//! never     names a raw file (the data set's catalogue entry does)
use crate::{
    declare::{choices, one_of, spec},
    field::Range,
};

spec! {
    /// Settings of the stage `ingest`.
    pub IngestSpec {
        /// How the raw data are read.
        format: RawFormat = RawFormat::Auto;
        /// `program`: a program of one's own and its arguments, a list of words; it runs in the
        /// folder of the YAML file, and files that the words name are in the key.
        command: Vec<String> = Vec::new();
        /// Whether every edge gets its reverse.
        symmetrize: Symmetrize = Symmetrize::Auto;
        /// What happens to edges from a node to itself.
        self_loops: SelfLoops = SelfLoops::Keep;
        /// What happens to edges with the same source, target and type.
        duplicates: Duplicates = Duplicates::Keep;
        /// Whether every edge gets an inverse edge with its own relation, `inverse_<relation>`.
        inverse_relations: bool = false;
        /// Node types from entity types, those of `rdf:type` or of a table beside triples; if left
        /// out: as the catalogue says, else one node type.
        entity_types: Option<EntityTypesSpec> = None;
        /// Whether only the largest weakly connected component is kept.
        largest_component: bool = false;
        /// Classes whose nodes are kept, by the data set's own names; empty: all nodes are kept.
        keep_classes: Vec<String> = Vec::new();
        /// What happens to weights of edges.
        weights: Weights = Weights::Keep;
        /// Whether nodes are numbered from 0 instead of keeping the data set's own ids.
        relabel: bool = false;
        /// Whether a set of many graphs stays a set (graph-level tasks) or becomes one graph, their
        /// disjoint union (node-level tasks).
        graphs: Graphs = Graphs::Auto;
        /// How nodes, or graphs of a set of many, are split; if left out: as published, else by the
        /// catalogue's rule.
        split: Option<Split> = None;
        /// Where node features come from.
        features: Features = Features::Auto;
        /// How a row of features is scaled.
        normalize: Normalize = Normalize::None;
        /// How node ids are read.
        ids: Ids = Ids::Auto;
        /// Seed of all random data: synthetic features, labels, splits, stand-ins.
        seed: u64 = 0;
    }
}

choices! {
    /// How the raw data are read.
    RawFormat {
        /// By the reader of their format: that of the catalogue's entry, in a folder without one
        /// the detected one.
        Auto = "auto",
        /// By the program `command`, which writes the graph into a folder; that is read as a folder
        /// of a data set is.
        Program = "program",
    }
}

choices! {
    /// Whether every edge gets its reverse.
    Symmetrize {
        /// As the catalogue says for the data set.
        Auto = "auto",
        /// Every edge gets its reverse.
        True = "true",
        /// Edges stay as they are.
        False = "false",
    }
}

choices! {
    /// How a set of many graphs is used.
    Graphs {
        /// By the program: `separate` if it pools the vertices of each graph, `union` if it scores
        /// vertices.
        Auto = "auto",
        /// Separate graphs, with their labels.
        Separate = "separate",
        /// Their disjoint union: one graph with the graph index of each node; node labels are
        /// synthetic if the set has none.
        Union = "union",
    }
}

choices! {
    /// What happens to edges from a node to itself.
    SelfLoops {
        /// Keep self loops.
        Keep = "keep",
        /// Remove self loops.
        Drop = "drop",
        /// Keep self loops, and add one to every node without one.
        Add = "add",
        /// Replace self loops by one at every node.
        Replace = "replace",
    }
}

choices! {
    /// What happens to edges with the same source, target and type.
    Duplicates {
        /// Keep duplicates as separate edges.
        Keep = "keep",
        /// Merge duplicates; weights are summed, unweighted edges stay unweighted.
        Merge = "merge",
        /// Merge duplicates; weights are summed, and unweighted edges get their multiplicity as
        /// weight.
        Sum = "sum",
        /// Merge duplicates with the smallest weight.
        Min = "min",
        /// Merge duplicates with the largest weight.
        Max = "max",
        /// Keep the first duplicate in file order.
        First = "first",
    }
}

spec! {
    /// Node types from entity types.
    pub EntityTypesSpec {
        /// The relation whose targets are types, by its full name or by the part after its last `#`
        /// or `/`.
        relation: String = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type".to_owned();
        /// Precedence of types: a node with several types gets the first one of this list; else the
        /// first by bytes.
        order: Vec<String> = Vec::new();
        /// What happens to statements of types.
        edges: TypeEdges = TypeEdges::Keep;
    }
}

choices! {
    /// What happens to statements of types.
    TypeEdges {
        /// Type statements stay edges.
        Keep = "keep",
        /// Type statements are removed, and so are nodes that occur only as types.
        Drop = "drop",
    }
}

choices! {
    /// What happens to weights of edges.
    Weights {
        /// Keep weights.
        Keep = "keep",
        /// Remove weights: every edge counts as one.
        Drop = "drop",
        /// Set every weight to one, before duplicates are merged.
        One = "one",
    }
}

one_of! {
    /// How nodes or graphs are split into training, validation and test.
    Split {
        /// Counts: so many of each class for training, so many of the rest for validation and test.
        PerClass(PerClassSpec) = "per_class",
        /// Shares of all labelled nodes or graphs.
        Fractions(FractionsSpec) = "fractions",
        /// Stratified cross-validation: split `i` tests on fold `i`, validates on the next one and
        /// trains on the others.
        Folds(FoldsSpec) = "folds",
    }
}

spec! {
    /// A split by counts.
    pub PerClassSpec {
        /// Training nodes or graphs of each class.
        train: u64 = 20;
        /// Number of validation nodes or graphs, drawn from the rest.
        validation: u64 = 500;
        /// Number of test nodes or graphs, drawn from the rest.
        test: u64 = 1000;
    }
}

spec! {
    /// Shares.
    pub FractionsSpec {
        /// Share for training.
        train: f64 = 0.6, range(Range::closed(0.0, 1.0));
        /// Share for validation.
        validation: f64 = 0.2, range(Range::closed(0.0, 1.0));
        /// Share for test.
        test: f64 = 0.2, range(Range::closed(0.0, 1.0));
    }
}

spec! {
    /// Folds.
    pub FoldsSpec {
        /// How many.
        count: u64 = 10, range(Range::closed(3.0, 100.0)), unit("folds");
    }
}

choices! {
    /// Where node features come from.
    Features {
        /// The data set's node attributes and one-hot node labels; else one-hot degrees for sets of
        /// many graphs; else random features with the catalogue's number of columns.
        Auto = "auto",
        /// The features of the data set; an error if it has none.
        Given = "given",
        /// One-hot in-degrees.
        Degree = "degree",
        /// One-hot node labels.
        OneHotLabel = "one_hot_label",
        /// The constant 1 for every node.
        Constant = "constant",
        /// Synthetic features, drawn around community centres.
        Random = "random",
        /// No features.
        None = "none",
    }
}

choices! {
    /// How a row of features is scaled.
    Normalize {
        /// No scaling.
        None = "none",
        /// Each row of the data set's features is scaled to sum to one; synthetic rows have unit
        /// scale and stay.
        Row = "row",
    }
}

choices! {
    /// How node ids are read.
    Ids {
        /// By the first edge: integers or strings. A string among integers is an error.
        Auto = "auto",
        /// As integers; a string is an error.
        Number = "number",
        /// As strings.
        String = "string",
    }
}
