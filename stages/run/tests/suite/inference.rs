//! inference: parameters of a training applied to another graph, with or without labels.
use warploom_contract::{Digest, ErrorKind, StageError, kinds::run::PARAMETERS_FILE};
use warploom_run::parameters;

use crate::custom_programs::proved;
use crate::threads::{CLASSES, community};
use warploom_test_support::list_runner::{first_difference, gpu, largest_magnitude};
use warploom_test_support::stage_runner::{
    Features, GraphTables, RunFiles, StageRunner, entries, finished, list_of,
};

const NORMALISED: &str = "def normalised(v, hidden=8):
    v.h = relu(batch_norm(linear(v.x, hidden)))
    v.h = dropout(v.h, 0.5)
    return linear(mean(u.h for u in v.innbs) + v.h, v.classes)
";

fn without_labels() -> GraphTables {
    let mut given = community(true);
    given.nodes.labels = None;
    given.nodes.splits = Vec::new();
    given
}

/// The run section that applies what a training left.
fn applying(runner: &StageRunner, trained: &RunFiles, more: &str) -> String {
    let path = runner.write("learned.safetensors", &trained.bytes[PARAMETERS_FILE]);
    format!("run: {{mode: infer, init: {}{more}}}", path.display())
}

fn refused(runner: &StageRunner, given: &GraphTables, (program, rest): (&str, &str)) -> StageError {
    let graph = runner.graph(given);
    let pipeline = runner.pipeline(program, rest);
    let ran = runner.planned(&graph, &pipeline).and_then(|chain| runner.published(&chain));
    ran.err().unwrap_or_else(|| panic!("{program} {rest} ran"))
}

#[test]
fn what_was_learned_predicts_on_a_graph_without_labels() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(true));
    let bare = runner.graph(&without_labels());
    let own = runner.write("normalised.py", NORMALISED.as_bytes());
    for (program, set) in [
        ("gcn", "  set: {hidden: 8, drop: 0.5}"),
        ("gat", "  set: {hidden: 4, heads: 2}"),
        ("gin", ""),
        ("normalised", ""),
    ] {
        let pipeline = |rest: &str| {
            let mut pipeline =
                runner.pipeline(if program == "normalised" { "gcn" } else { program }, rest);
            if program == "normalised" {
                pipeline.plan.program.file.clone_from(&own);
                pipeline.plan.program.entry = "normalised".to_owned();
            }
            pipeline
        };
        let trained =
            proved(&runner, &graph, &pipeline(&format!("{set}\nrun: {{epochs: 5, dtype: f64}}")));
        let rest = format!(
            "{set}\nreorder: {{method: degree}}\n{}",
            applying(&runner, &trained, ", dtype: f64")
        );
        let applied = proved(&runner, &bare, &pipeline(&rest));
        let (expected, found) = (trained.predictions("scores"), applied.predictions("scores"));
        assert_eq!(expected.len() % CLASSES, 0);
        let apart = first_difference(&found, &expected, 1e-9 * largest_magnitude(&expected));
        assert_eq!(apart, None, "{program}: {found:?}");
        assert_eq!(applied.predictions("class"), trained.predictions("class"), "{program}");
        let record = applied.record();
        assert_eq!((record.mode.as_str(), record.epochs, record.supersteps), ("infer", 0, 0));
        let (before, after) = (trained.parameters(), applied.parameters());
        assert_eq!(
            (before.arrays, &before.facts["columns"]),
            (after.arrays, &after.facts["columns"]),
            "{program}"
        );
    }
}

/// The same with sparse features: every other number of the rows.
fn sparsely(mut given: GraphTables) -> GraphTables {
    if let Features::Dense { columns, mut values } = given.features {
        values.iter_mut().step_by(2).for_each(|value| *value = 0.0);
        let (offsets, index, values) = entries(&values, columns);
        given.features = Features::Sparse { columns, offsets, index, values };
    }
    given
}

#[test]
fn passes_take_their_time_and_change_nothing() {
    let runner = StageRunner::new();
    let graphs = [community(false), sparsely(community(false))].map(|given| runner.graph(&given));
    // sgc wants sparse features as dense rows: a GPU takes no time of that.
    for (program, graph, is_timed) in
        [("gcn", &graphs[0], true), ("gcn", &graphs[1], true), ("sgc", &graphs[1], gpu().is_none())]
    {
        let set = if program == "gcn" { "  set: {hidden: 8}" } else { "" };
        let trained = proved(
            &runner,
            graph,
            &runner.pipeline(program, &format!("{set}\nrun: {{epochs: 2}}")),
        );
        let [once, often] = [1, 4].map(|passes| {
            let rest =
                format!("{set}\n{}", applying(&runner, &trained, &format!(", passes: {passes}")));
            finished(&runner, graph, &runner.pipeline(program, &rest))
        });
        assert_eq!(once.predictions("scores"), often.predictions("scores"), "{program}");
        assert_eq!(often.record().seconds_step > 0.0, is_timed, "{program}");
    }
}

#[test]
fn what_cannot_be_applied_is_refused() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let trained = proved(
        &runner,
        &graph,
        &runner.pipeline("gat", "  set: {hidden: 4, heads: 2}\nrun: {epochs: 2}"),
    );
    let applied = applying(&runner, &trained, "");
    let says = |error: &StageError, kind: ErrorKind, parts: &[&str]| {
        let text = error.to_string();
        assert!(error.kind == kind && parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let error = refused(
        &runner,
        &community(false),
        ("gat", "  set: {hidden: 4, heads: 2}\nrun: {mode: infer}"),
    );
    says(
        &error,
        ErrorKind::Specification,
        &["none are named", "run.init=DIR/parameters.safetensors"],
    );
    let error = refused(
        &runner,
        &community(false),
        ("gat", &format!("  set: {{hidden: 6, heads: 2}}\n{applied}")),
    );
    says(&error, ErrorKind::Data, &["expected shape", "plan.set"]);
    // What a key speaks of is what is read.
    let pipeline = runner.pipeline("gat", &format!("  set: {{hidden: 4, heads: 2}}\n{applied}"));
    let list = list_of(&runner.planned(&graph, &pipeline).unwrap());
    let error = parameters::required_parameters::<f32>(
        &list,
        &pipeline.run,
        Some(&Digest::from_bytes(b"other bytes")),
    )
    .unwrap_err();
    says(&error, ErrorKind::Input, &["has changed since this run began", "learned.safetensors"]);
    let error = refused(&runner, &community(false), ("pagerank", "run: {mode: infer}"));
    says(&error, ErrorKind::Specification, &["has nothing that was learned"]);
    let error = refused(&runner, &without_labels(), ("gat", "run: {mode: infer}"));
    assert!(error.to_string().contains("classes"), "{error}");
}
