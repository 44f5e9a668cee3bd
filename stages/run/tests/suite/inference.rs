//! inference: parameters of a training applied to another graph, with or without labels.
use warploom_contract::{ErrorKind, StageError, kinds::run::PARAMETERS_FILE};

use crate::compiled::proved;
use crate::direct::{first_apart, scale_of};
use crate::threads::{CLASSES, community};
use crate::workshop::{Features, Given, Left, Workshop, finished};

const NORMALISED: &str = "def normalised(v, hidden=8):
    v.h = relu(batch_norm(linear(v.x, hidden)))
    v.h = dropout(v.h, 0.5)
    return linear(mean(u.h for u in v.innbs) + v.h, v.classes)
";

fn without_labels() -> Given {
    let mut given = community(true);
    given.nodes.labels = None;
    given.nodes.splits = Vec::new();
    given
}

/// The run section that applies what a training left.
fn applying(workshop: &Workshop, trained: &Left, more: &str) -> String {
    let path = workshop.write("learned.safetensors", &trained.bytes[PARAMETERS_FILE]);
    format!("run: {{mode: infer, init: {}{more}}}", path.display())
}

fn refused(workshop: &Workshop, given: &Given, (program, rest): (&str, &str)) -> StageError {
    let graph = workshop.graph(given);
    let pipeline = workshop.pipeline(program, rest);
    let ran = workshop.planned(&graph, &pipeline).and_then(|chain| workshop.published(&chain));
    ran.err().unwrap_or_else(|| panic!("{program} {rest} ran"))
}

#[test]
fn what_was_learned_predicts_on_a_graph_without_labels() {
    let workshop = Workshop::new();
    let graph = workshop.graph(&community(true));
    let bare = workshop.graph(&without_labels());
    let own = workshop.write("normalised.py", NORMALISED.as_bytes());
    for (program, set) in [("gcn", "  set: {hidden: 8, drop: 0.5}"), ("gat", "  set: {hidden: 4, heads: 2}"), ("gin", ""), ("normalised", "")] {
        let pipeline = |rest: &str| {
            let mut pipeline = workshop.pipeline(if program == "normalised" { "gcn" } else { program }, rest);
            if program == "normalised" {
                pipeline.plan.program.file.clone_from(&own);
                pipeline.plan.program.entry = "normalised".to_owned();
            }
            pipeline
        };
        let trained = proved(&workshop, &graph, &pipeline(&format!("{set}\nrun: {{epochs: 5, dtype: f64}}")));
        let rest = format!("{set}\nreorder: {{method: degree}}\n{}", applying(&workshop, &trained, ", dtype: f64"));
        let applied = proved(&workshop, &bare, &pipeline(&rest));
        let (expected, found) = (trained.predictions("scores"), applied.predictions("scores"));
        assert_eq!(expected.len() % CLASSES, 0);
        let apart = first_apart(&found, &expected, 1e-9 * scale_of(&expected));
        assert_eq!(apart, None, "{program}: {found:?}");
        assert_eq!(applied.predictions("class"), trained.predictions("class"), "{program}");
        let record = applied.record();
        assert_eq!((record.mode.as_str(), record.epochs, record.supersteps), ("infer", 0, 0));
        let (before, after) = (trained.parameters(), applied.parameters());
        assert_eq!((before.arrays, &before.facts["columns"]), (after.arrays, &after.facts["columns"]), "{program}");
    }
}

/// What is kept of rows that have every other column.
fn every_other(given: Given) -> Given {
    let Features::Dense { columns, values } = &given.features else { panic!("dense") };
    let kept = |at: &usize| (at / columns + at % columns).is_multiple_of(2);
    let places: Vec<usize> = (0..values.len()).filter(kept).collect();
    let offsets = (0..=values.len() / columns).map(|row| places.partition_point(|at| *at < row * columns) as u64).collect();
    let index = places.iter().map(|at| (at % columns) as u32).collect();
    Given { features: Features::Sparse { columns: *columns, offsets, index, values: places.iter().map(|at| values[*at]).collect() }, ..given }
}

#[test]
fn passes_take_their_time_and_change_nothing() {
    let workshop = Workshop::new();
    for given in [community(false), every_other(community(false))] {
        let graph = workshop.graph(&given);
        let trained = proved(&workshop, &graph, &workshop.pipeline("gcn", "  set: {hidden: 8}\nrun: {epochs: 2}"));
        let [once, often] = [1, 4].map(|passes| {
            let rest = format!("  set: {{hidden: 8}}\n{}", applying(&workshop, &trained, &format!(", passes: {passes}")));
            finished(&workshop, &graph, &workshop.pipeline("gcn", &rest))
        });
        assert_eq!(once.predictions("scores"), often.predictions("scores"));
        assert!(often.record().seconds_step > 0.0, "a pass took no time");
    }
}

#[test]
fn what_cannot_be_applied_is_refused() {
    let workshop = Workshop::new();
    let graph = workshop.graph(&community(false));
    let trained = proved(&workshop, &graph, &workshop.pipeline("gat", "  set: {hidden: 4, heads: 2}\nrun: {epochs: 2}"));
    let applied = applying(&workshop, &trained, "");
    let says = |error: &StageError, kind: ErrorKind, parts: &[&str]| {
        let text = error.to_string();
        assert!(error.kind == kind && parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let error = refused(&workshop, &community(false), ("gat", "  set: {hidden: 4, heads: 2}\nrun: {mode: infer}"));
    says(&error, ErrorKind::Specification, &["none are named", "run.init=DIR/parameters.safetensors"]);
    let error = refused(&workshop, &community(false), ("gat", &format!("  set: {{hidden: 6, heads: 2}}\n{applied}")));
    says(&error, ErrorKind::Data, &["expected shape", "plan.set"]);
    let error = refused(&workshop, &community(false), ("pagerank", "run: {mode: infer}"));
    says(&error, ErrorKind::Specification, &["has nothing that was learned"]);
    let error = refused(&workshop, &without_labels(), ("gat", "run: {mode: infer}"));
    assert!(error.to_string().contains("classes"), "{error}");
}
