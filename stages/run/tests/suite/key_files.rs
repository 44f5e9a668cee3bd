//! key_files: which files of csr and partition are in the run's key, by program and device.
//!
//! promises  on a CPU each of these runs reads no other file, and is made to its end; of a GPU only
//!           the keys are looked at
use warploom_contract::{
    Artifact, Kind,
    arrow_file::{numbers, open_numbers, write_columns},
    progress::{Silence, StopFlag},
    stage::Stage,
};
use warploom_partition::PartitionStage;
use warploom_run::RunStage;
use warploom_shell::requests::PartitionRequest;
use warploom_spec::Pipeline;

use crate::custom_programs::{own_text, symmetric, weighted};
use warploom_test_support::stage_runner::{Features, GraphTables, StageRunner, as_inputs};

/// The list of edges that it returns has a row for each.
const SHARES: &str = "def shares(v):\n    share = [e.w / (1 + v.indegree) for e in v.inedges]\n    \
    return share\n";

/// A walk over both directions together, in which no edge of a symmetric graph is left out.
const AROUND: &str = "def around(v):\n    return sum(u.indegree for u in v.nbs)\n";

/// The same, of a column that no sample data set has.
const WIDE: &str = "def wide(v):\n    return sum(u.x[..., 40] for u in v.nbs)\n";

/// Files of the partition for kernels that walk both directions.
const WALKS: &str =
    "in_walk_edges in_walk_offsets in_walk_rows out_walk_edges out_walk_offsets out_walk_rows";

/// Files of csr and partition, without their ending.
type Files = [&'static str; 2];

/// A program, settings, and the files in the run's key on a CPU, and on a GPU if it has kernels.
struct Case {
    program: &'static str,
    sets: &'static [&'static str],
    cpu: Files,
    gpu: Option<Files>,
}

const PLAIN: &[Case] = &[
    Case {
        program: "gcn",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
        gpu: Some(["in_offsets", WALKS]),
    },
    Case {
        program: "sage",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
        gpu: Some(["in_offsets", WALKS]),
    },
    Case {
        program: "gat",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
        gpu: Some(["in_offsets", WALKS]),
    },
    Case {
        program: "pagerank",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows"],
        gpu: None,
    },
    Case {
        program: "components",
        sets: &[],
        cpu: ["in_offsets in_sources out_offsets out_targets", "in_edges in_rows"],
        gpu: None,
    },
    Case {
        program: "components",
        sets: &["run.max_supersteps=50"],
        cpu: ["in_offsets in_sources out_offsets out_targets", "in_edges in_rows"],
        gpu: None,
    },
    Case {
        program: "bfs",
        sets: &[],
        cpu: ["in_offsets in_sources out_offsets out_targets", "in_edges in_rows"],
        gpu: None,
    },
    Case {
        program: "kcore",
        sets: &[],
        cpu: ["in_edge in_offsets in_sources out_offsets out_targets", "in_edges in_rows"],
        gpu: None,
    },
    Case {
        program: "triangles",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
        gpu: Some([
            "in_offsets",
            "in_ascending_edges in_ascending_offsets out_ascending_edges out_ascending_offsets",
        ]),
    },
    Case {
        program: "gcn",
        sets: &["partition.scheme=neighbour-groups", "plan.schedule=neighbour-groups"],
        cpu: ["in_offsets out_offsets", "in_edges in_groups in_rows out_edges out_groups out_rows"],
        gpu: Some([
            "in_offsets in_sources out_offsets out_targets",
            "in_group_spans in_groups out_group_spans out_groups",
        ]),
    },
];

const WEIGHTED: &[Case] = &[
    Case {
        program: "gcn",
        sets: &[],
        cpu: ["in_edge in_offsets out_offsets weights", "in_edges in_rows out_edges out_rows"],
        gpu: Some(["in_edge in_offsets weights", WALKS]),
    },
    Case {
        program: "rgcn",
        sets: &[],
        cpu: [
            "in_edge in_offsets in_sources out_offsets types",
            "in_edges in_rows out_edges out_rows",
        ],
        gpu: Some(["in_edge in_offsets in_sources types", WALKS]),
    },
    Case {
        program: "sssp",
        sets: &[],
        cpu: [
            "in_edge in_offsets in_sources out_edge out_offsets out_targets weights",
            "in_edges in_rows",
        ],
        gpu: None,
    },
    Case {
        program: "components",
        sets: &[],
        cpu: [
            "in_offsets in_sources out_offsets out_targets",
            "in_edges in_rows out_edges out_rows",
        ],
        gpu: None,
    },
    Case {
        program: "shares",
        sets: &[],
        cpu: ["in_edge in_offsets in_sources weights", ""],
        gpu: Some(["in_edge in_offsets in_sources weights", ""]),
    },
    Case {
        program: "around",
        sets: &[],
        cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
        gpu: Some(["in_offsets", "both_walk_edges both_walk_offsets both_walk_rows"]),
    },
];

const SPARSE: &[Case] = &[Case {
    program: "gcn",
    sets: &[],
    cpu: ["in_offsets out_offsets", "in_edges in_rows out_edges out_rows"],
    gpu: Some([
        "in_offsets",
        "feature_walk_entries_by_column feature_walk_entries_by_row \
         feature_walk_offsets_by_column feature_walk_offsets_by_row feature_walk_rows_by_column \
         feature_walk_rows_by_row in_walk_edges in_walk_offsets in_walk_rows out_walk_edges \
         out_walk_offsets out_walk_rows",
    ]),
}];

/// The pipeline of a case.
fn pipeline(runner: &StageRunner, case: &Case) -> Pipeline {
    let plain = match case.program {
        "shares" => own_text(runner, "shares", SHARES, ""),
        "around" => own_text(runner, "around", AROUND, ""),
        shipped => runner.pipeline(shipped, ""),
    };
    let sets: Vec<String> = case.sets.iter().map(|set| (*set).to_owned()).collect();
    let text = format!(
        "pipeline: test\ndataset: none\nplan:\n  program: {}\n",
        plain.plan.program.file.display()
    );
    let read = warploom_spec::read_text(&text, &runner.folder.path().join("test.yaml"), &sets);
    read.unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0)
}

/// Names of the files of csr and partition that a run's key holds, after running it on a CPU.
fn key_files(runner: &StageRunner, graph: &Artifact, case: &Case) -> [String; 2] {
    let pipeline = pipeline(runner, case);
    let chain = runner.planned(graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
    let files = |kind: Kind| {
        let artifact = step.inputs.get(kind).unwrap();
        let mut files: Vec<&str> = artifact
            .manifest
            .files
            .iter()
            .filter_map(|file| file.name.strip_suffix(".arrow"))
            .collect();
        files.sort_unstable();
        files.join(" ")
    };
    let listed = [files(Kind::Csr), files(Kind::Partition)];
    if runner.environment.device.as_deref() == Some("cpu") {
        let run = runner.run(&chain, &warploom_contract::progress::Silence, &StopFlag::new());
        run.unwrap_or_else(|error| panic!("{}: {error}", case.program));
    }
    listed
}

fn all_are_listed(tables: &GraphTables, cases: &[Case]) {
    let mut runner = StageRunner::new();
    let graph = runner.graph(tables);
    let mut wrong = String::new();
    for case in cases {
        for (device, expected) in [("cpu", Some(case.cpu)), ("h200", case.gpu)] {
            let Some(expected) = expected else { continue };
            runner.environment.device = Some(device.to_owned());
            let found = key_files(&runner, &graph, case);
            if found != expected {
                let (program, sets) = (case.program, case.sets);
                wrong += &format!("{program} {sets:?} on {device}:\n  {found:?}\n  {expected:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "found, expected:\n{wrong}");
}

#[test]
fn a_run_of_a_plain_graph_reads_what_its_launches_walk() {
    all_are_listed(&symmetric(), PLAIN);
}

/// A graph whose features are sparse: of many columns, a few in each row.
fn with_sparse_features() -> GraphTables {
    let mut given = symmetric();
    let (rows, columns) = (given.nodes.splits[0].len(), 600);
    let index = (0..rows as u32).flat_map(|row| [row % 200, 200 + row % 3, 400 + row % 50]);
    given.features = Features::Sparse {
        columns,
        offsets: (0..=rows as u64).map(|row| 3 * row).collect(),
        index: index.collect(),
        values: (0..3 * rows).map(|entry| 1.0 + (entry % 7) as f32).collect(),
    };
    given
}

#[test]
fn a_run_of_sparse_features_reads_their_entries_on_a_gpu() {
    all_are_listed(&with_sparse_features(), SPARSE);
}

#[test]
fn entries_of_sparse_features_are_divided_and_proved_in_the_order_of_the_nodes() {
    let mut runner = StageRunner::new();
    runner.environment.device = Some("h200".to_owned());
    let graph = runner.graph(&with_sparse_features());
    let pipeline = runner.pipeline("gcn", "reorder: {method: degree}");
    let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let step = chain.resolve_step::<PartitionRequest>().unwrap();
    let given: Vec<Kind> = step.inputs.iter().map(|artifact| artifact.kind).collect();
    assert_eq!(given, [Kind::Graph, Kind::Csr, Kind::Permutation]);
    let partition = chain.available(Kind::Partition).unwrap();
    let check = || {
        let stop = StopFlag::new();
        let context = runner.context(&Silence, &stop);
        let outputs = as_inputs(std::slice::from_ref(partition));
        PartitionStage::check(&context, &outputs, &step.inputs, &step.request)
    };
    check().unwrap_or_else(|wrong| panic!("{}", wrong.0));
    // Another place of a value is named with its table.
    let path = partition.file("feature_walk_entries_by_row.arrow");
    let column = |name: &str| open_numbers::<u32>(&path, name).unwrap().to_vec();
    let (far, mut edge) = (column("far"), column("edge"));
    edge.swap(0, 1);
    std::fs::remove_file(&path).unwrap();
    write_columns(&path, vec![("far", numbers(far)), ("edge", numbers(edge))]).unwrap();
    let wrong = check().unwrap_err().0.what;
    assert!(wrong.starts_with("feature_walk_entries_by_row, entry 0: "), "{wrong}");
}

#[test]
fn a_program_that_fits_no_sample_has_all_lists_of_edges_on_a_gpu() {
    let mut runner = StageRunner::new();
    let mut given = weighted();
    let nodes = given.nodes.splits[0].len();
    given.features = Features::Dense { columns: 41, values: vec![0.5; 41 * nodes] };
    let graph = runner.graph(&given);
    for (device, has_lists) in [("cpu", false), ("h200", true)] {
        runner.environment.device = Some(device.to_owned());
        let pipeline = own_text(&runner, "wide", WIDE, "");
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let partition = chain.available(Kind::Partition).unwrap();
        for file in ["both_walk_edges.arrow", "in_ascending_edges.arrow"] {
            assert_eq!(partition.has(file), has_lists, "{file} on {device}");
        }
    }
}

#[test]
fn a_cpu_has_no_entries_of_sparse_features() {
    let mut runner = StageRunner::new();
    let graph = runner.graph(&with_sparse_features());
    for (device, has_entries) in [("cpu", false), ("h200", true)] {
        runner.environment.device = Some(device.to_owned());
        let pipeline = runner.pipeline("gcn", "");
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let partition = chain.available(Kind::Partition).unwrap();
        assert_eq!(partition.has("feature_walk_entries_by_row.arrow"), has_entries, "{device}");
    }
}

#[test]
fn a_run_of_a_weighted_graph_with_relations_reads_those_that_its_program_names() {
    all_are_listed(&weighted(), WEIGHTED);
}
