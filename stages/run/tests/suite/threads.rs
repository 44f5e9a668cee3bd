//! threads: what must not depend on how a run is made.
//!
//! promises  any number of threads gives the same bytes; another order of the nodes gives the same
//!           results under the data set's own ids, exactly for components, up to rounding for
//!           reals, also with dropout
use warploom_contract::{
    Artifact,
    kinds::graph::{EdgeTable, Ids, Labels, NodeTable},
    progress::{Silence, StopFlag},
};

use crate::resume::Warnings;
use warploom_test_support::graph_inputs::{random, signed, uniform};
use warploom_test_support::list_runner::{first_difference, largest_magnitude};
use warploom_test_support::stage_runner::{
    Features, GraphTables, StageRunner, as_inputs, finished, list_of,
};

pub const NODES: usize = 3000;
pub const COLUMNS: usize = 24;
pub const CLASSES: usize = 5;

/// A graph large enough for several tasks in every operation; ids are strings if asked for.
pub fn community(strings: bool) -> GraphTables {
    let shape = random("communities", NODES, 9 * NODES, 31);
    let (mut source, mut target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    source.extend(0..NODES as u32);
    target.extend(0..NODES as u32);
    let class = |node: usize| (uniform(32, node) * CLASSES as f64) as u32;
    let lift = |at: usize| if at % COLUMNS == class(at / COLUMNS) as usize { 2.0 } else { 0.0 };
    let features = signed(33, NODES * COLUMNS)
        .into_iter()
        .enumerate()
        .map(|(at, value)| (value + lift(at)) as f32);
    GraphTables {
        edges: EdgeTable { source, target, weight: None, kind: None },
        nodes: NodeTable {
            labels: Some(Labels::Classes((0..NODES).map(|node| Some(class(node))).collect())),
            splits: vec![(0..NODES).map(|node| [1, 1, 2, 3, 0][node % 5]).collect()],
            ..NodeTable::new(if strings {
                Ids::Strings((0..NODES).map(|id| format!("n{id:05}")).collect())
            } else {
                Ids::Numbers((0..NODES as u64).map(|id| 3 * id + 1).collect())
            })
        },
        features: Features::Dense { columns: COLUMNS, values: features.collect() },
        edge_features: None,
        graphs: None,
    }
}

pub fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

const TRAINING: &str = "  set: {hidden: 8, drop: 0.5}\nrun: {epochs: 6, keep: best, seed: 3}";

const ATTENTION: &str = "  set: {hidden: 4, heads: 2, drop: 0.5, drop_shares: 0.5}\nrun: {epochs: \
    4, keep: best, seed: 3}";

#[test]
fn the_number_of_threads_changes_no_byte() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(true));
    let built_in = [("gcn", TRAINING), ("sage", TRAINING), ("pagerank", ""), ("components", "")];
    let compiled = [
        ("gat", ATTENTION),
        ("sage_max", TRAINING),
        ("hits", ""),
        ("sssp", ""),
        ("kcore", ""),
        ("triangles", ""),
    ];
    for (program, rest) in built_in.into_iter().chain(compiled) {
        for method in ["none", "degree"] {
            let pipeline =
                runner.pipeline(program, &format!("{rest}\nreorder: {{method: {method}}}"));
            let mut first = None;
            for threads in [1, 2, 5] {
                let left = in_pool(threads, || finished(&runner, &graph, &pipeline));
                let first = first.get_or_insert_with(|| {
                    left.fixed()
                        .into_iter()
                        .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
                        .collect::<Vec<_>>()
                });
                for (name, bytes) in first.iter() {
                    assert!(
                        left.fixed()[name.as_str()] == bytes,
                        "{program}, {method}: {name} differs with {threads} threads"
                    );
                }
                assert!(!first.is_empty());
            }
        }
    }
}

fn both_orders(
    runner: &StageRunner,
    graph: &Artifact,
    program: &str,
    rest: &str,
) -> [warploom_test_support::stage_runner::RunFiles; 2] {
    ["none", "degree"].map(|method| {
        finished(
            runner,
            graph,
            &runner.pipeline(program, &format!("{rest}\nreorder: {{method: {method}}}")),
        )
    })
}

#[test]
fn the_order_of_nodes_changes_no_result() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let same = |what: &str, got: &[f64], want: &[f64], tolerance: f64| {
        if let Some(apart) = first_difference(got, want, tolerance * largest_magnitude(want)) {
            panic!("{what}{apart}");
        }
    };
    for program in ["gcn", "sage"] {
        let [plain, reordered] = both_orders(
            &runner,
            &graph,
            program,
            "  set: {hidden: 8, drop: 0.5}\nrun: {epochs: 6, dtype: f64}",
        );
        same("scores", &reordered.predictions("scores"), &plain.predictions("scores"), 1e-10);
        same("losses", &reordered.metrics("loss"), &plain.metrics("loss"), 1e-12);
        same("ids", &reordered.predictions("id"), &plain.predictions("id"), 0.0);
        let undropped = finished(
            &runner,
            &graph,
            &runner
                .pipeline(program, "  set: {hidden: 8, drop: 0.0}\nrun: {epochs: 6, dtype: f64}"),
        );
        assert_ne!(
            undropped.metrics("loss")[6],
            plain.metrics("loss")[6],
            "{program}: dropout was drawn"
        );
        same(
            "nothing is dropped when measuring: loss",
            &undropped.metrics("loss")[..1],
            &plain.metrics("loss")[..1],
            1e-12,
        );
    }
    let [plain, reordered] = both_orders(
        &runner,
        &graph,
        "gat",
        &ATTENTION.replace("epochs: 4", "epochs: 4, dtype: f64"),
    );
    same("scores of gat", &reordered.predictions("scores"), &plain.predictions("scores"), 1e-10);
    same("losses of gat", &reordered.metrics("loss"), &plain.metrics("loss"), 1e-12);
    let [plain, reordered] = both_orders(&runner, &graph, "pagerank", "run: {dtype: f64}");
    same("ranks", &reordered.values("rank"), &plain.values("rank"), 1e-12);
    for program in ["kcore", "triangles", "sssp"] {
        let [plain, reordered] = both_orders(&runner, &graph, program, "");
        assert_eq!(reordered.fixed(), plain.fixed(), "{program}");
    }
    let [plain, reordered] = both_orders(&runner, &graph, "components", "");
    assert_eq!(reordered.values("label"), plain.values("label"));
    assert_eq!(reordered.fixed(), plain.fixed());
}

#[test]
fn training_learns_and_its_check_passes() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline(
        "gcn",
        "  set: {hidden: 16, drop: 0.1}\nrun: {epochs: 60, \
        keep: best, optimizer: {adam: {lr: 0.05}}}",
    );
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let left = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    let (losses, validation, record) =
        (left.metrics("loss"), left.metrics("validation"), left.record());
    assert_eq!((losses.len(), record.epochs), (61, 60));
    assert!(losses[60] < 0.9 * losses[0], "from {} to {}", losses[0], losses[60]);
    let best = validation.iter().copied().fold(0.0, f64::max);
    let earliest = validation.iter().position(|&value| value == best).unwrap();
    assert_eq!((record.epoch_kept, record.metrics["validation"]), (earliest as u64, best));
    // The predictions are those of the kept parameters: their accuracy is the one recorded.
    let (classes, Some(Labels::Classes(labels))) =
        (left.predictions("class"), community(false).nodes.labels)
    else {
        panic!("classes")
    };
    let test: Vec<usize> = (0..NODES).filter(|node| node % 5 == 3).collect();
    let right = test.iter().filter(|&&node| labels[node] == Some(classes[node] as u32)).count();
    assert_eq!(right as f64 / test.len() as f64, record.metrics["test"]);
    runner.check(&chain, &runner.published(&chain).unwrap()).unwrap();
}

/// Predictions of one run beside the parameters of another.
pub fn mixed(runner: &StageRunner, predictions: &Artifact, parameters: &Artifact) -> Artifact {
    let path = runner.folder.path().join("mixed");
    std::fs::create_dir(&path).unwrap();
    for file in ["record.json", "metrics.parquet", "predictions.parquet", "parameters.safetensors"]
    {
        let from = if file == "parameters.safetensors" { parameters } else { predictions };
        std::fs::copy(from.file(file), path.join(file)).unwrap();
    }
    Artifact { path, ..predictions.clone() }
}

#[test]
fn check_finds_predictions_that_the_parameters_do_not_make() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipelines = [1, 2].map(|seed| {
        runner.pipeline(
            "gcn",
            &format!("  set: {{hidden: 4, drop: 0.0}}\nrun: {{epochs: 2, seed: {seed}}}"),
        )
    });
    let chain = runner.planned(&graph, &pipelines[0]).unwrap();
    let [first, second] = pipelines
        .each_ref()
        .map(|pipeline| runner.published(&runner.planned(&graph, pipeline).unwrap()).unwrap());
    runner.check(&chain, &first).unwrap();
    let error = runner.check(&chain, &mixed(&runner, &first, &second)).unwrap_err();
    assert!(error.what.contains("as the reference makes of the saved parameters"), "{error}");
}

#[test]
fn check_of_a_large_graph_looks_at_some_nodes_with_all_that_they_depend_on() {
    let runner = StageRunner::new();
    let mut given = community(false);
    // A ring, so that a node depends on few.
    let ends = || {
        (0..NODES as u32).flat_map(|node| [1, 2, 7].map(|far| (node, (node + far) % NODES as u32)))
    };
    (given.edges.source, given.edges.target) = ends().unzip();
    let graph = runner.graph(&given);
    for program in ["gcn", "sage"] {
        let pipelines = [1, 2].map(|seed| {
            runner.pipeline(
                program,
                &format!("  set: {{hidden: 4, drop: 0.0}}\nrun: {{epochs: 2, seed: {seed}}}"),
            )
        });
        let chain = runner.planned(&graph, &pipelines[0]).unwrap();
        let [first, second] = pipelines
            .each_ref()
            .map(|pipeline| runner.published(&runner.planned(&graph, pipeline).unwrap()).unwrap());
        let step = chain.resolve_step::<warploom_shell::requests::RunRequest>().unwrap();
        let (list, inputs) = (list_of(&chain), runner.whole(&step.inputs).unwrap());
        let prove = |run: &Artifact, work_max: u64| {
            let (stop, warnings) = (StopFlag::new(), Warnings::default());
            let context = runner.context(&warnings, &stop);
            let outcome = warploom_run::check::check_results::<f32>(
                &context,
                &as_inputs(std::slice::from_ref(run)),
                &inputs,
                &step.request,
                &list,
                None,
                work_max,
            );
            (outcome.map_err(|violation| violation.0.what), warnings.0.into_inner().unwrap())
        };
        // 32 samples of at most 30 nodes each are a third of the graph; a single one is a
        // hundredth.
        for work_max in [300_000, 40_000] {
            assert_eq!(prove(&first, work_max), (Ok(()), Vec::new()), "{program}, {work_max}");
        }
        let (nothing, warnings) = prove(&first, 10);
        assert!(
            nothing.is_ok() && warnings.len() == 1 && warnings[0].contains("not recomputed"),
            "{warnings:?}"
        );
        let mixed = mixed(&runner, &first, &second);
        let (outcome, _) = prove(&mixed, 40_000);
        assert!(
            outcome.unwrap_err().contains("as the reference makes of the saved parameters"),
            "{program}"
        );
        std::fs::remove_dir_all(&mixed.path).unwrap();
    }
}
