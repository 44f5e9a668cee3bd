//! training: step sizes by schedule, measures beside accuracy, an early end; all of it the same
//! after a stop.
use warploom_contract::{
    ErrorKind,
    kinds::graph::{EdgeTable, Ids, Labels, NodeTable},
    progress::{Silence, StopFlag},
};

use crate::resume::{metrics, same, stopped};
use crate::threads::community;
use warploom_test_support::list_runner::gpu;
use warploom_test_support::skips::skipped;
use warploom_test_support::stage_runner::{Features, GraphTables, RunFiles, StageRunner, finished};

/// Two classes.
fn halves() -> GraphTables {
    let mut given = community(false);
    let Some(Labels::Classes(classes)) = &mut given.nodes.labels else { panic!("classes") };
    classes.iter_mut().for_each(|class| *class = class.map(|class| class % 2));
    given
}

fn trained(runner: &StageRunner, given: &GraphTables, run: &str) -> RunFiles {
    let graph = runner.graph(given);
    finished(
        runner,
        &graph,
        &runner.pipeline("gcn", &format!("  set: {{hidden: 8}}\nrun: {{{run}}}")),
    )
}

#[test]
fn every_measure_that_fits_is_told_each_epoch() {
    let runner = StageRunner::new();
    let left = trained(&runner, &halves(), "epochs: 4, metric: auc");
    for part in ["train", "validation", "test"] {
        let [auc, accuracy, f1] =
            [part.to_owned(), format!("{part}_accuracy"), format!("{part}_f1")]
                .map(|name| left.metrics(&name));
        assert_eq!((auc.len(), accuracy.len(), f1.len()), (5, 5, 5));
        assert!(
            auc.iter().chain(&accuracy).chain(&f1).all(|quality| (0.0..=1.0).contains(quality))
        );
        assert!(auc != accuracy && accuracy != f1);
    }
    let record = left.record();
    assert_eq!(record.metrics["test_f1"], left.metrics("test_f1")[4]);
    let five = trained(&runner, &community(false), "epochs: 2");
    assert!(
        five.table("metrics.parquet").column("test_auc").is_none()
            && five.metrics("test_f1").len() == 3
    );
}

#[test]
fn steps_follow_the_schedule() {
    let runner = StageRunner::new();
    let plain = trained(&runner, &halves(), "epochs: 6, optimizer: {sgd: {lr: 0.5}}");
    let halved = trained(
        &runner,
        &halves(),
        "epochs: 6, optimizer: {sgd: {lr: 1.0}}, schedule: {exponential: {factor: 0.5}}",
    );
    assert_eq!(plain.metrics("pace"), [1.0; 7]);
    assert_eq!(halved.metrics("pace"), [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625]);
    let same_step = trained(
        &runner,
        &halves(),
        "epochs: 6, optimizer: {sgd: {lr: 1.0}}, schedule: {step: {every: 1, factor: 0.5}}",
    );
    same("the same paces", &same_step, &halved);
    assert_ne!(plain.metrics("loss")[6], halved.metrics("loss")[6]);
    // The first step of the one is the first of the other, twice as long.
    let moved = |left: &RunFiles| left.metrics("loss")[0];
    assert_eq!(moved(&plain), moved(&halved));
}

#[test]
fn training_ends_early_and_keeps_the_best() {
    let runner = StageRunner::new();
    let left = trained(
        &runner,
        &halves(),
        "epochs: 400, keep: best, early_stop: {patience: 7}, optimizer: {adam: {lr: 0.1}}",
    );
    let validation = left.metrics("validation");
    let record = left.record();
    assert!(
        record.epochs < 400 && record.epochs == record.epoch_kept + 7,
        "{} {}",
        record.epochs,
        record.epoch_kept
    );
    let best = validation.iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(
        validation.iter().position(|quality| *quality == best),
        Some(record.epoch_kept as usize)
    );
}

/// A GPU that has a state due every few epochs has asked for epochs behind the last one when it
/// learns that it was the last.
#[test]
fn states_that_are_due_change_nothing_of_an_early_end() {
    for keep in ["best", "last"] {
        let run = format!(
            "epochs: 60, keep: {keep}, early_stop: {{patience: 5}}, optimizer: {{adam: {{lr: \
             0.1}}}}"
        );
        let runner = StageRunner::new();
        let whole = trained(&runner, &halves(), &run);
        let end = whole.record().epochs;
        assert!((5..60).contains(&end), "{keep}: {end} epochs");
        for every in [1, 3, end] {
            let saved = trained(
                &runner,
                &halves(),
                &format!("{run}, checkpoint: {{every_epochs: {every}}}"),
            );
            same(&format!("{keep}, a state every {every} epochs"), &saved, &whole);
            assert_eq!(metrics(&saved), metrics(&whole), "{keep}, {every}");
        }
    }
}

/// More epochs than a GPU has room for measurements of, and a step size that is another one in
/// each.
#[test]
fn step_sizes_of_many_epochs_are_those_of_a_state_after_each_few() {
    let runner = StageRunner::new();
    let run = "epochs: 300, keep: last, schedule: {cosine: {warmup: 7}}";
    let whole = trained(&runner, &halves(), run);
    let paces = whole.metrics("pace");
    assert!(
        paces.len() == 301
            && paces[..7].windows(2).all(|pair| pair[0] < pair[1])
            && paces[7..].windows(2).all(|pair| pair[0] > pair[1]),
        "{paces:?}"
    );
    let saved = trained(&runner, &halves(), &format!("{run}, checkpoint: {{every_epochs: 7}}"));
    same("a state every 7 epochs", &saved, &whole);
    assert_eq!(metrics(&saved), metrics(&whole));
}

/// Parameters and moments of 77 MB are fetched with nothing on its way.
#[test]
fn a_large_state_is_saved_and_changes_nothing() {
    if gpu().is_none() {
        return skipped(
            "training::a_large_state_is_saved_and_changes_nothing",
            "NOTHING CAME HOME: no GPU is asked for",
        );
    }
    // Few nodes, of very many features.
    let (nodes, columns) = (8, 100_000);
    let given = GraphTables {
        edges: EdgeTable {
            source: (0..nodes as u32).collect(),
            target: (0..nodes as u32).map(|node| (node + 1) % nodes as u32).collect(),
            weight: None,
            kind: None,
        },
        nodes: NodeTable {
            labels: Some(Labels::Classes((0..nodes as u32).map(|node| Some(node % 2)).collect())),
            splits: vec![(0..nodes).map(|node| [1, 1, 2, 3][node % 4]).collect()],
            ..NodeTable::new(Ids::Numbers((0..nodes as u64).collect()))
        },
        features: Features::Dense {
            columns,
            values: (0..nodes * columns).map(|at| (at % 97) as f32 / 97.0).collect(),
        },
        edge_features: None,
        graphs: None,
    };
    // What a run left is read while its runner stands.
    let runners = [StageRunner::new(), StageRunner::new()];
    let [whole, saved] = std::array::from_fn(|at| {
        let (runner, saved) = (&runners[at], ["", ", checkpoint: {every_epochs: 3}"][at]);
        let graph = runner.graph(&given);
        finished(
            runner,
            &graph,
            &runner.pipeline(
                "gcn",
                &format!("  set: {{hidden: 64, drop: 0.0}}\nrun: {{epochs: 9, keep: best{saved}}}"),
            ),
        )
    });
    same("a large state", &saved, &whole);
    assert_eq!(metrics(&saved), metrics(&whole));
}

#[test]
fn a_stop_changes_neither_paces_nor_the_end() {
    let runner = StageRunner::new();
    let graph = runner.graph(&halves());
    let run = "epochs: 40, keep: best, metric: f1, early_stop: {patience: 6}, schedule: {plateau: \
               {patience: 2, factor: 0.5}}, optimizer: {adam: {lr: 0.1}}";
    // A GPU goes on alone until a state is due.
    let saved = if gpu().is_some() { ", checkpoint: {every_epochs: 1}" } else { "" };
    let pipeline =
        runner.pipeline("gcn", &format!("  set: {{hidden: 8, drop: 0.5}}\nrun: {{{run}{saved}}}"));
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert!(whole.metrics("pace").iter().any(|pace| *pace < 1.0), "the pace falls");
    let end = whole.record().epochs;
    assert!(end < 40 && end > 4);
    for at in [2, end / 2, end - 1] {
        let key = chain.key_document(warploom_shell::StageName::Run).unwrap().key();
        warploom_contract::kinds::checkpoint::remove(&runner.environment.store, &key);
        let error = stopped(&runner, &chain, None, Some(at)).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Stopped, "{error}");
        let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        same(&format!("stopped after {at}"), &resumed, &whole);
        assert_eq!(metrics(&resumed), metrics(&whole));
        assert_eq!(resumed.metrics("pace"), whole.metrics("pace"));
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let runner = StageRunner::new();
    let mut given = community(false);
    let refused = |given: &GraphTables, run: &str| {
        let graph = runner.graph(given);
        let pipeline = runner.pipeline("gcn", &format!("run: {{{run}}}"));
        let chain = runner.planned(&graph, &pipeline).unwrap();
        runner
            .run(&chain, &Silence, &StopFlag::new())
            .err()
            .unwrap_or_else(|| panic!("{run} ran"))
            .to_string()
    };
    let text = refused(&given, "epochs: 1, metric: auc");
    assert!(text.contains("`run.metric: auc`") && text.contains("accuracy, f1"), "{text}");
    given.nodes.splits[0].iter_mut().filter(|part| **part == 2).for_each(|part| *part = 0);
    for (run, named) in [
        ("early_stop: {patience: 3}", "run.early_stop"),
        ("schedule: {plateau: {}}", "run.schedule: plateau"),
    ] {
        let text = refused(&given, &format!("epochs: 1, {run}"));
        assert!(text.contains(named) && text.contains("has none"), "{text}");
    }
}
