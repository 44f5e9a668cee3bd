//! errors: refusals, and the messages that the user reads.
use std::collections::BTreeMap;

use warploom_contract::{
    Artifact, Context, ErrorKind, Kind, Outputs, Stage, StageError,
    kinds::plan::{self, Memory},
    progress::{Silence, StopFlag},
};
use warploom_run::{
    RunStage,
    tensors::{Tensor, Tensors},
};

use crate::custom_programs::own_text;
use crate::threads::{CLASSES, COLUMNS, community};
use warploom_test_support::list_runner::gpu;
use warploom_test_support::stage_runner::{Features, GraphTables, StageRunner, finished, list_of};

/// The error of a run on a graph.
fn refused(runner: &StageRunner, given: &GraphTables, program: &str, rest: &str) -> StageError {
    let graph = runner.graph(given);
    let pipeline = runner.pipeline(program, rest);
    let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    runner
        .run(&chain, &Silence, &StopFlag::new())
        .err()
        .unwrap_or_else(|| panic!("{program} {rest} was not refused"))
}

/// What `--memory` says bounds a run on a CPU, also where there is a GPU.
fn on_cpu() -> StageRunner {
    let mut runner = StageRunner::new();
    runner.environment.device = Some("cpu".to_owned());
    runner
}

fn says(error: &StageError, kind: ErrorKind, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind, kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in:\n{text}");
    }
}

#[test]
fn initial_parameters_that_do_not_fit_are_listed() {
    let runner = StageRunner::new();
    let names = [
        "gcn.gcn.0.linear.0.weight",
        "gcn.gcn.0.bias.0",
        "gcn.gcn.0.linear.1.weight",
        "gcn.gcn.0.bias.1",
    ];
    let shapes: [Vec<usize>; 4] = [vec![4, COLUMNS], vec![4], vec![CLASSES, 4], vec![CLASSES]];
    let right: BTreeMap<String, Tensor> = names
        .iter()
        .zip(&shapes)
        .map(|(name, shape)| {
            ((*name).to_owned(), Tensor::from_reals(shape, &vec![0.1f64; shape.iter().product()]))
        })
        .collect();
    let refused_with = |arrays: BTreeMap<String, Tensor>, map: &str| {
        let path = runner.write(
            "init.safetensors",
            &Tensors { arrays, facts: BTreeMap::new() }.to_bytes().unwrap(),
        );
        refused(
            &runner,
            &community(false),
            "gcn",
            &format!("  set: {{hidden: 4}}\nrun: {{epochs: 1, init: {}{map}}}", path.display()),
        )
    };
    let mut misspelt = right.clone();
    let moved = misspelt.remove(names[0]).unwrap();
    misspelt.insert("gcn.gcn.0.linear.0.wieght".to_owned(), moved.clone());
    let error = refused_with(misspelt, "");
    says(
        &error,
        ErrorKind::Data,
        &[
            "no tensor `gcn.gcn.0.linear.0.weight`",
            "expected:",
            "gcn.gcn.0.bias.0 [4]",
            "in the file:",
            "init_map",
            "linear.0.wieght",
        ],
    );
    let mut turned = right.clone();
    turned.insert(names[0].to_owned(), Tensor { shape: vec![COLUMNS, 4], ..moved });
    says(
        &refused_with(turned, ""),
        ErrorKind::Data,
        &["expected shape [4, 24]", "found [24, 4]", "transpose"],
    );
    let error = refused_with(right.clone(), ", init_map: {gcn.gcn.0.linear.9.weight: x}");
    says(
        &error,
        ErrorKind::Data,
        &["`gcn.gcn.0.linear.9.weight`, which is no parameter", "did you mean"],
    );
    let path = runner.write("bad.safetensors", b"nothing of the kind");
    let error =
        refused(&runner, &community(false), "gcn", &format!("run: {{init: {}}}", path.display()));
    says(&error, ErrorKind::Data, &["not a safetensors file", "bad.safetensors"]);
}

#[test]
fn features_of_edges_are_counted_and_missed() {
    let runner = StageRunner::new();
    let given = community(false);
    let one_row_less = vec![0.5; 2 * (given.edges.source.len() - 1)];
    let error = runner
        .try_graph(&GraphTables { edge_features: Some((2, one_row_less)), ..given.clone() })
        .err()
        .unwrap();
    says(&error, ErrorKind::Defect, &["edge-features.arrow", "feature values", "expected"]);
    let graph = runner.graph(&given);
    let pipeline = runner.pipeline("graph_transformer", "  set: {edges: true}");
    let error = runner.planned(&graph, &pipeline).err().unwrap();
    says(
        &error,
        ErrorKind::Specification,
        &["the edges have no features", "graph_transformer.py:"],
    );
}

#[test]
fn a_loss_that_is_not_finite_names_launch_and_node() {
    let runner = StageRunner::new();
    let error = refused(
        &runner,
        &community(false),
        "gcn",
        "  set: {hidden: 4, drop: 0.0}\nrun: {epochs: 50, optimizer: {sgd: {lr: 1.0e+30}}}",
    );
    says(
        &error,
        ErrorKind::Data,
        &["epoch ", "the loss is `", "the first launch", "--set run.optimizer.sgd.lr=0.01"],
    );
    let mut given = community(false);
    let Features::Dense { values, .. } = &mut given.features else { panic!("dense") };
    values[17 * COLUMNS + 3] = f32::NAN;
    let error = refused(
        &runner,
        &given,
        "gcn",
        "  set: {hidden: 4, drop: 0.0}\nreorder: {method: degree}\nrun: {epochs: 2}",
    );
    says(&error, ErrorKind::Data, &["epoch 0", "features of node `52`", "NaN"]);
}

/// Learns from counts that no list of the host is needed for.
const COUNTED: &str = "def counted(v):
    v.t = sum(common_neighbors(u, v) for u in v.innbs)
    v.h = relu(linear(concat(v.x, v.t), 8))
    return linear(v.h, v.classes)
";

#[test]
fn a_loss_over_counts_of_the_graph_names_a_launch() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let rest = "run: {epochs: 50, optimizer: {sgd: {lr: 1.0e+30}}}";
    let pipeline = own_text(&runner, "counted", COUNTED, rest);
    let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let error = runner.run(&chain, &Silence, &StopFlag::new()).err().unwrap();
    says(&error, ErrorKind::Data, &["epoch ", "the loss is", "the first launch"]);
}

/// What a plan predicts where there is memory enough.
fn predicted(runner: &StageRunner, graph: &Artifact, rest: &str) -> Memory {
    let pipeline = runner.pipeline("gcn", rest);
    let chain = runner.planned(graph, &pipeline).unwrap();
    plan::open_advice(chain.available(Kind::Plan).unwrap()).unwrap().memory
}

#[test]
fn too_little_memory_is_refused_with_what_would_fit() {
    let mut runner = on_cpu();
    let graph = runner.graph(&community(false));
    let rest = |hidden: u64, dtype: &str| {
        format!("  set: {{hidden: {hidden}}}\nrun: {{epochs: 1, dtype: {dtype}}}")
    };
    let double = predicted(&runner, &graph, &rest(64, "f64"));
    let needs = |set: &str| double.smaller.iter().find(|way| way.set == set).unwrap().bytes_peak;
    assert_eq!(needs("run.dtype=f32"), predicted(&runner, &graph, &rest(64, "f32")).bytes_peak);
    assert_eq!(
        needs("plan.set.hidden=16"),
        predicted(&runner, &graph, &rest(16, "f64")).bytes_peak
    );
    assert_eq!(double.bytes_by_use.values().sum::<u64>(), double.bytes_peak);
    let limit = needs("run.dtype=f32").max(needs("plan.set.hidden=16"));
    // A plan knows no threads: what it says would fit is for a run with one.
    (runner.environment.memory, runner.environment.threads) = (limit, 1);
    // No plan of another key is there yet.
    let pipeline =
        runner.pipeline("gcn", &rest(64, "f64").replace("hidden: 64", "hidden: 64, drop: 0.25"));
    let error = runner.planned(&graph, &pipeline).err().unwrap();
    let numbers = format!("({} bytes) at its peak, and ", double.bytes_peak);
    says(
        &error,
        ErrorKind::Memory,
        &[
            &numbers,
            &format!("({limit} bytes) may be used"),
            "--memory ",
            "--set run.dtype=f32",
            "--set plan.set.hidden=",
        ],
    );
    assert_eq!(error.kind.exit_code(), 1);
    for hint in [
        "set: {hidden: 16}\nrun: {epochs: 1, dtype: f64}",
        "set: {hidden: 64}\nrun: {epochs: 1, dtype: f32}",
    ] {
        let pipeline = runner.pipeline("gcn", &format!("  {hint}"));
        let chain = runner
            .planned(&graph, &pipeline)
            .unwrap_or_else(|error| panic!("the hint {hint} does not fit: {error}"));
        runner
            .run(&chain, &Silence, &StopFlag::new())
            .unwrap_or_else(|error| panic!("the hint {hint} does not fit: {error}"));
    }
}

/// A plan that was made where there was more.
#[test]
fn a_plan_that_does_not_fit_here_is_not_run() {
    let runner = on_cpu();
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline("gcn", "run: {epochs: 1}");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
    let mut outputs =
        Outputs::begin(&runner.environment.store, &RunStage::CONTRACT, step.document, &step.inputs)
            .unwrap();
    let stop = StopFlag::new();
    let context = Context { memory: 1 << 10, ..runner.context(&Silence, &stop) };
    let error = RunStage::run(&context, &mut outputs, &step.inputs, &step.request).unwrap_err();
    says(&error, ErrorKind::Memory, &["(1024 bytes) may be used", "--memory "]);
    // Enough for one thread, and here are two.
    let memory = plan::open_advice(step.inputs.get(Kind::Plan).unwrap()).unwrap().memory.bytes_peak;
    let context = Context { memory, threads: 2, ..runner.context(&Silence, &stop) };
    let error = RunStage::run(&context, &mut outputs, &step.inputs, &step.request).unwrap_err();
    says(&error, ErrorKind::Memory, &["may be used", "--threads 1  which needs "]);
}

#[test]
fn an_iteration_that_does_not_converge_is_a_limit_unless_it_may_be() {
    let runner = StageRunner::new();
    let error = refused(&runner, &community(false), "pagerank", "run: {max_supersteps: 2}");
    says(
        &error,
        ErrorKind::LimitReached,
        &["after 2 supersteps", "--set run.max_supersteps=20", "run.allow_unconverged=true"],
    );
    assert_eq!(error.kind.exit_code(), 3);
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline("pagerank", "run: {max_supersteps: 2, allow_unconverged: true}");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let left = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!((left.record().converged, left.record().supersteps), (false, 2));
    runner.check(&chain, &runner.published(&chain).unwrap()).unwrap();
}

#[test]
fn what_training_lacks_is_named_before_it_starts() {
    let runner = StageRunner::new();
    let mut nobody = community(false);
    nobody.nodes.splits[0].iter_mut().filter(|part| **part == 1).for_each(|part| *part = 3);
    says(
        &refused(&runner, &nobody, "gcn", "run: {epochs: 1}"),
        ErrorKind::Data,
        &["no training nodes"],
    );
    let mut unvalidated = community(false);
    unvalidated.nodes.splits[0].iter_mut().filter(|part| **part == 2).for_each(|part| *part = 0);
    says(
        &refused(&runner, &unvalidated, "gcn", "run: {epochs: 1, keep: best}"),
        ErrorKind::Data,
        &["--set run.keep=last"],
    );
    let mut unlabelled = community(false);
    let Some(warploom_contract::kinds::graph::Labels::Classes(classes)) =
        &mut unlabelled.nodes.labels
    else {
        panic!("classes")
    };
    classes[5] = None;
    says(
        &refused(&runner, &unlabelled, "gcn", "run: {epochs: 1}"),
        ErrorKind::Data,
        &["node `16` is a train node and has no usable label"],
    );
}

#[test]
fn a_glob_that_fits_nothing_is_refused() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline(
        "gcn",
        "run: {epochs: 1, optimizer: {adam: {weight_decay: 0.1, decay_only: [\"*.wieght\"]}}}",
    );
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let error = runner.run(&chain, &Silence, &StopFlag::new()).err().unwrap();
    says(
        &error,
        ErrorKind::Specification,
        &["`*.wieght` matches no parameter", "gcn.gcn.0.bias.1", "run.optimizer.adam.decay_only="],
    );
}

/// A plan for a device that is elsewhere can be made, and is not run: the words name a device that
/// is here, with which the same works.
#[test]
fn a_plan_for_another_device_is_refused_with_the_device_to_take() {
    let mut runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline("gcn", "  set: {hidden: 4}\nrun: {epochs: 1}");
    // As large a GPU as the one here, by another name; and one of the same name with other
    // processors.
    let facts = gpu()
        .cloned()
        .unwrap_or_else(|| warploom_device::resolve("h200", warploom_device::Best::Cpu).unwrap());
    let processors = facts.grid.as_ref().unwrap().processors;
    let mut renamed = facts.clone();
    renamed.name = "elsewhere".to_owned();
    let mut larger = facts.clone();
    larger.grid.as_mut().unwrap().processors = processors + 1;
    for (other, name) in [(renamed, "`elsewhere`"), (larger, &format!("{} SMs", processors + 1))] {
        let file = runner.write("other.yaml", &serde_json::to_vec(&other).unwrap());
        runner.environment.device = Some(file.display().to_string());
        let error = {
            let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
            assert!(list_of(&chain).launches().len() > 3, "the plan can be looked at");
            runner
                .run(&chain, &Silence, &StopFlag::new())
                .err()
                .unwrap_or_else(|| panic!("a plan for {name} was run"))
        };
        let here = if gpu().is_some() {
            format!("the GPU present is `{}` (", facts.name)
        } else {
            "which is not present".to_owned()
        };
        if gpu().is_some() {
            says(&error, ErrorKind::Specification, &["the plan is for ", name, &here]);
        } else {
            says(
                &error,
                ErrorKind::Specification,
                &[&format!("the plan is for `{}`", other.name), &here, "warploom explain"],
            );
        }
        assert_eq!(error.kind.exit_code(), 1, "{error}");
        let taken = error
            .hint
            .as_deref()
            .and_then(|hint| hint.split("--device ").nth(1)?.split_whitespace().next())
            .unwrap_or_else(|| panic!("{error}"));
        assert_eq!(taken, if gpu().is_some() { "cuda" } else { "cpu" }, "{error}");
        runner.environment.device = Some(taken.to_owned());
        finished(&runner, &graph, &pipeline);
    }
}
