//! stage_inputs: which files, counts and facts of its inputs each stage reads. A stage is given
//! these alone, and its key holds them.
//!
//! promises  what is not listed here cannot be read by a stage (`Artifact::restricted`), so a key
//!           is complete; what is listed and changes makes a miss
//! never     lists what no stage reads: a change of that leaves the stage a hit
use warploom_contract::{
    Kind, Names, Reads,
    kinds::{csr, graph, partition, permutation, plan, profile},
};
use warploom_device::Kind as DeviceKind;
use warploom_spec::{PartitionSpec, RunSpec, Scheme};

/// Neighbours in both directions, without weights, relations and graphs.
const NEIGHBOURS: [&str; 6] = [
    "in_offsets.arrow",
    "in_sources.arrow",
    "in_edge.arrow",
    "out_offsets.arrow",
    "out_targets.arrow",
    "out_edge.arrow",
];
/// Features of nodes, of every kind.
const FEATURES: &str = "features*";

/// Edges and what belongs to nodes: the profile has figures of labels and features.
pub fn extract(kind: Kind) -> Reads {
    match kind {
        Kind::Graph => Reads {
            files: [
                graph::EDGES_FILE,
                graph::NODES_FILE,
                graph::GRAPHS_FILE,
                graph::NAMES_FILE,
                FEATURES,
            ]
            .into(),
            counts: ["nodes", "edges", "feature_columns*"].into(),
            ..Reads::default()
        },
        _ => Reads::default(),
    }
}

/// All of the csr: it is renumbered.
pub fn reorder(kind: Kind) -> Reads {
    match kind {
        Kind::Csr => Reads { files: csr::FILES.into(), ..Reads::default() },
        _ => Reads::default(),
    }
}

/// Neighbours; relations and graphs where a scheme divides by them.
pub fn partition(kind: Kind, spec: &PartitionSpec) -> Reads {
    let has = |schemes: &[Scheme]| schemes.iter().any(|scheme| spec.scheme.contains(scheme));
    let typed = has(&[Scheme::SortedColumns, Scheme::RelationMajor, Scheme::RowRelation])
        .then_some("types.arrow");
    let graphs = has(&[Scheme::PackedGraphs]).then_some("graphs.arrow");
    match kind {
        Kind::Csr => Reads {
            files: Names(NEIGHBOURS.into_iter().chain(typed).chain(graphs).collect()),
            ..Reads::default()
        },
        _ => Reads::default(),
    }
}

/// What is known of the data without looking at them: names of columns, counts, figures. For a CPU
/// nothing of the order but whether there is a new one.
pub fn plan(kind: Kind, spec: &RunSpec, device: DeviceKind) -> Reads {
    let learns_another = (spec.target != RunSpec::default().target).then_some(graph::GRAPHS_FILE);
    let is_gpu = device == DeviceKind::Cuda;
    let on_gpu =
        |counts: &[&'static str]| Names(counts.iter().copied().filter(|_| is_gpu).collect());
    match kind {
        Kind::Graph => Reads {
            files: Names(
                [graph::NODES_FILE, graph::NAMES_FILE].into_iter().chain(learns_another).collect(),
            ),
            counts: Names(vec![
                "feature_columns*",
                "feature_entries*",
                "edge_feature_columns",
                "nodes.*",
                "graphs",
                "classes",
                "label_columns",
                "splits",
                "graphs.*",
            ]),
            facts: ["target", "labels", "label_values", "graphs.*"].into(),
            ..Reads::default()
        },
        Kind::Csr => {
            Reads { counts: on_gpu(&["edges"]), facts: [csr::TYPED].into(), ..Reads::default() }
        }
        Kind::Profile => Reads { files: [profile::PROFILE_FILE].into(), ..Reads::default() },
        Kind::Permutation if is_gpu => {
            Reads { counts: ["nodes", permutation::WALK_BYTES].into(), ..Reads::default() }
        }
        // A run on a CPU copies rows that have other numbers than in their file.
        Kind::Permutation => Reads { facts: [permutation::RENUMBERED].into(), ..Reads::default() },
        // What the plan tells of the division of walks.
        Kind::Partition if !is_gpu => Reads { counts: partition::UNITS.into(), ..Reads::default() },
        _ => Reads::default(),
    }
}

/// Everything of nodes and edges but the list of edges, of which the csr has the ends; of the
/// divisions the one that executors walk by.
pub fn run(kind: Kind) -> Reads {
    match kind {
        Kind::Graph => Reads {
            files: [
                graph::NODES_FILE,
                graph::GRAPHS_FILE,
                graph::NAMES_FILE,
                graph::EDGE_FEATURES_FILE,
                FEATURES,
            ]
            .into(),
            counts: ["feature_columns*"].into(),
            facts: ["target"].into(),
            ..Reads::default()
        },
        Kind::Csr => Reads {
            files: Names(NEIGHBOURS.into_iter().chain(["weights.arrow", "types.arrow"]).collect()),
            ..Reads::default()
        },
        Kind::Permutation => {
            Reads { files: [permutation::PERMUTATION_FILE].into(), ..Reads::default() }
        }
        Kind::Partition => Reads { files: partition::ROWS_FILES.into(), ..Reads::default() },
        // Advice is shown where memory does not suffice.
        Kind::Plan => Reads {
            files: [plan::PLAN_FILE].into(),
            records: [plan::ADVICE_FILE].into(),
            ..Reads::default()
        },
        _ => Reads::default(),
    }
}
