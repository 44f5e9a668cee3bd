//! ingest: how raw files become a graph with features and labels.
//!
//! promises  every choice that changes the graph artifact stands here
//! never     names a raw file; the data set's catalogue entry does
use crate::{
    declare::{choices, one_of, spec},
    field::Range,
};

spec! {
    /// Settings of the stage `ingest`.
    pub IngestSpec {
        /// Whether every edge gets its reverse.
        symmetrize: Symmetrize = Symmetrize::Auto;
        /// What happens to edges from a node to itself.
        self_loops: SelfLoops = SelfLoops::Keep;
        /// What happens to edges with the same source, target and type.
        duplicates: Duplicates = Duplicates::Keep;
        /// Whether every edge gets its reverse under a relation of its own, `inverse_<relation>`.
        inverse_relations: bool = false;
        /// Kinds of nodes made of types of entities, those of `rdf:type` or of a table beside
        /// triples; left out: as the catalogue says, else one kind.
        entity_types: Option<EntityTypesSpec> = None;
        /// Whether only the largest weakly connected component stays.
        largest_component: bool = false;
        /// Classes whose nodes stay, by the data set's own names; empty: all nodes stay.
        keep_classes: Vec<String> = Vec::new();
        /// What happens to weights of edges.
        weights: Weights = Weights::Keep;
        /// Whether nodes are numbered from 0 instead of keeping the data set's own ids.
        relabel: bool = false;
        /// Whether a set of many graphs stays one, whose graphs are learned, or is one graph, whose
        /// nodes are.
        graphs: Graphs = Graphs::Auto;
        /// How nodes, or graphs of a set of many, are parted; left out: as published, else by the
        /// catalogue's rule.
        split: Option<Split> = None;
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
    /// What a set of many graphs is.
    Graphs {
        /// What the program learns: `separate` where it pools the vertices of graphs, `union` where
        /// it scores vertices.
        Auto = "auto",
        /// Many graphs, with their labels.
        Separate = "separate",
        /// Their disjoint union: one graph, which knows the graph of each node; labels of nodes are
        /// drawn where the set has none.
        Union = "union",
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

spec! {
    /// Kinds of nodes made of types of entities.
    pub EntityTypesSpec {
        /// The relation whose targets are types, by its whole name or by what follows its last `#`
        /// or `/`.
        relation: String = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type".to_owned();
        /// Of several types of a node the one that comes first here is its kind; else the first by
        /// bytes.
        order: Vec<String> = Vec::new();
        /// What happens to statements of types.
        edges: TypeEdges = TypeEdges::Keep;
    }
}

choices! {
    /// What happens to statements of types.
    TypeEdges {
        /// They are edges as all others.
        Keep = "keep",
        /// They are no edges, and what is nothing but a type is no node.
        Drop = "drop",
    }
}

choices! {
    /// What happens to weights of edges.
    Weights {
        /// They stay as they are.
        Keep = "keep",
        /// They go: every edge counts as one.
        Drop = "drop",
        /// Every edge weighs one, before repeats are joined.
        One = "one",
    }
}

one_of! {
    /// How nodes or graphs are parted into train, validation and test.
    Split {
        /// So many of each class for training, so many of all others for validation and test.
        PerClass(PerClassSpec) = "per_class",
        /// Shares of all that have a label.
        Fractions(FractionsSpec) = "fractions",
        /// Folds with even classes: split `i` tests on fold `i`, chooses by the next one and trains
        /// on the others.
        Folds(FoldsSpec) = "folds",
    }
}

spec! {
    /// So many of each class.
    pub PerClassSpec {
        /// For training, of each class.
        train: u64 = 20;
        /// For validation, of all others.
        validation: u64 = 500;
        /// For the test, of all others.
        test: u64 = 1000;
    }
}

spec! {
    /// Shares.
    pub FractionsSpec {
        /// For training.
        train: f64 = 0.6, range(Range::closed(0.0, 1.0));
        /// For validation.
        validation: f64 = 0.2, range(Range::closed(0.0, 1.0));
        /// For the test.
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
        /// Given attributes and one-hot node labels; else the degree for sets of many graphs; else
        /// random ones of the catalogue's width.
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
        /// As the first edge has them: numbers or words. A word among numbers is an error.
        Auto = "auto",
        /// As whole numbers; a word is an error.
        Number = "number",
        /// As words.
        String = "string",
    }
}
