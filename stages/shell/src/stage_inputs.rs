//! stage_inputs: which files, counts and facts of its inputs each stage reads. A stage gets only
//! these, and its key holds them.
//!
//! promises  a stage cannot read what is not listed here (`Artifact::restricted`), so that its key
//!           is complete; a change of what is listed makes a miss
//! never     lists what the stage does not read: a change of that leaves it a hit
use warploom_contract::{
    Kind, Names, Reads,
    kinds::{
        csr::{self, TYPES_FILE},
        graph, partition, permutation,
        plan::{self, GraphFiles},
        profile,
    },
};
use warploom_device::Kind as DeviceKind;
use warploom_spec::{Method, PartitionSpec, RunSpec, Scheme};

use crate::graph_reads;

/// Features of nodes, of every kind.
const FEATURES: &str = "features*";
/// Features of nodes of a kind.
const KIND_FEATURES: &str = "features-*";

/// For `extract`: edges, and nodes with labels and features, whose figures are in the profile.
pub fn extract_inputs(kind: Kind) -> Reads {
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

/// For `reorder`: the whole csr, which it renumbers; ids where a table of them says the order, and
/// all that a program is given.
pub fn reorder_inputs(kind: Kind, method: Method) -> Reads {
    match kind {
        Kind::Graph if method == Method::File => {
            Reads { files: [graph::NODES_FILE].into(), ..Reads::default() }
        }
        _ => program_inputs(kind),
    }
}

/// For a program of the user's, which may read every file of what it is given.
fn program_inputs(kind: Kind) -> Reads {
    match kind {
        Kind::Graph => Reads {
            files: [
                graph::EDGES_FILE,
                graph::NODES_FILE,
                graph::GRAPHS_FILE,
                graph::NAMES_FILE,
                graph::EDGE_FEATURES_FILE,
                FEATURES,
            ]
            .into(),
            ..Reads::default()
        },
        Kind::Csr => Reads { files: Names(csr::files().collect()), ..Reads::default() },
        Kind::Profile => {
            let files = [profile::PROFILE_FILE, profile::DEGREES_FILE];
            Reads { files: files.into(), ..Reads::default() }
        }
        Kind::Permutation => {
            Reads { files: [permutation::PERMUTATION_FILE].into(), ..Reads::default() }
        }
        _ => Reads::default(),
    }
}

/// For `partition`: neighbours; relations and graphs where a scheme divides by them; sparse
/// features in the order of the nodes; all that a program is given.
pub fn partition_inputs(kind: Kind, spec: &PartitionSpec, has_sparse_features: bool) -> Reads {
    let has = |schemes: &[Scheme]| schemes.iter().any(|scheme| spec.scheme.contains(scheme));
    let counts =
        Names(Some("feature_columns*").into_iter().filter(|_| has_sparse_features).collect());
    if has(&[Scheme::Program]) {
        return match kind {
            Kind::Graph => Reads { counts, ..program_inputs(kind) },
            _ => program_inputs(kind),
        };
    }
    let typed = has(&[Scheme::SortedColumns, Scheme::RelationMajor, Scheme::RowRelation])
        .then_some(TYPES_FILE);
    let graphs = has(&[Scheme::PackedGraphs]).then_some("graphs.arrow");
    match kind {
        Kind::Csr => Reads {
            files: Names(csr::NEIGHBOUR_FILES.into_iter().chain(typed).chain(graphs).collect()),
            ..Reads::default()
        },
        Kind::Graph if has_sparse_features => Reads {
            files: [graph::FEATURES_SPARSE_FILE, KIND_FEATURES, graph::NAMES_FILE].into(),
            counts,
            ..Reads::default()
        },
        Kind::Permutation if has_sparse_features => {
            Reads { files: [permutation::PERMUTATION_FILE].into(), ..Reads::default() }
        }
        _ => Reads::default(),
    }
}

/// For `plan`: names of columns, counts and figures, but no rows. For a CPU, of the permutation
/// only whether it renumbers.
pub fn plan_inputs(kind: Kind, spec: &RunSpec, device: DeviceKind) -> Reads {
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
        // A run on a CPU copies rows if nodes are renumbered.
        Kind::Permutation => Reads { facts: [permutation::RENUMBERED].into(), ..Reads::default() },
        // The plan decides which launches go by groups; for a CPU it reports how rows are divided,
        // and for a GPU where rows start in its order says how many have a block or a warp.
        Kind::Partition => {
            let units = partition::UNITS.into_iter().filter(|_| !is_gpu);
            let groups = partition::GROUP_TABLES.into_iter().chain(partition::SPAN_TABLES);
            let of_walks = ["edges", partition::SORTED_ABOVE, partition::SORTED_ABOVE_OF_BOTH];
            let of_walks = of_walks.into_iter().filter(|_| is_gpu);
            let counts = units.chain(groups).chain(partition::GROUP_SETTINGS).chain(of_walks);
            Reads {
                files: Names(
                    partition::OFFSETS_FILES
                        .into_iter()
                        .chain(partition::ASCENDING_FILES.map(|[offsets, _]| offsets))
                        .chain([partition::FEATURE_OFFSETS_FILES])
                        .filter(|_| is_gpu)
                        .collect(),
                ),
                counts: Names(counts.collect()),
                ..Reads::default()
            }
        }
        _ => Reads::default(),
    }
}

/// For `run`: all of nodes and edges but the list of edges, whose ends the csr has; of csr and
/// partition the files that the plan names (`graph_reads`).
pub fn run_inputs(kind: Kind, planned: &GraphFiles) -> Reads {
    let known = |files: &[String]| {
        Names(files.iter().filter_map(|file| graph_reads::known_name(file)).collect())
    };
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
        Kind::Csr => {
            Reads { files: known(&planned.csr), counts: ["edges"].into(), ..Reads::default() }
        }
        Kind::Permutation => {
            Reads { files: [permutation::PERMUTATION_FILE].into(), ..Reads::default() }
        }
        Kind::Partition => Reads { files: known(&planned.partition), ..Reads::default() },
        // The refusal of a run that needs too much memory shows the advice.
        Kind::Plan => Reads {
            files: Names([plan::PLAN_FILE].into_iter().chain(plan::KERNEL_FILES).collect()),
            records: [plan::ADVICE_FILE].into(),
            ..Reads::default()
        },
        _ => Reads::default(),
    }
}
