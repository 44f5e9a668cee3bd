//! targets_and_splits: a column that is learned in place of the label, and a table of splits in
//! place of the splits.
//!
//! promises  what says the same as labels, or splits, gives the bits that those give, for every
//!           kind of column and table, in any order, of nodes and of graphs; the check reads the
//!           same; what is refused, and in which words
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt8Array,
};
use arrow_schema::{DataType, Field};
use warploom_contract::{
    Artifact, Digest, ErrorKind, Stage, StageError,
    kinds::{
        graph::{Ids, Labels, NodeTable},
        run::{PARAMETERS_FILE, PREDICTIONS_FILE},
    },
    parquet_file::write_table,
    progress::{Silence, StopFlag},
};
use warploom_run::{RunStage, check};

use crate::custom_programs::{own_text, proved};
use crate::many_graphs::{classes, reals, set};
use crate::resume::Warnings;
use crate::threads::{CLASSES, community};
use warploom_test_support::stage_runner::{GraphTables, StageRunner, as_inputs, list_of};

/// Made to be less than what a class of the labels is called, in the order of the classes.
const WORDS: [&str; 7] = ["ant", "bee", "cat", "dog", "emu", "fox", "gnu"];

fn class_of(labels: &Option<Labels>) -> Vec<Option<u32>> {
    let Some(Labels::Classes(classes)) = labels else { panic!("classes") };
    classes.clone()
}

/// Columns that say what these classes say, and one that says what no class says.
fn columns(class: &[Option<u32>]) -> Vec<(String, ArrayRef)> {
    let each = |name: &str, column: ArrayRef| (name.to_owned(), column);
    vec![
        each(
            "word",
            Arc::new(StringArray::from_iter(
                class.iter().map(|class| class.map(|class| WORDS[class as usize])),
            )),
        ),
        each(
            "year",
            Arc::new(Int64Array::from_iter(
                class.iter().map(|class| class.map(|class| 1990 + 10 * i64::from(class))),
            )),
        ),
        each(
            "size",
            Arc::new(Float64Array::from_iter(
                class.iter().map(|class| class.map(|class| 0.5 * f64::from(class) - 1.0)),
            )),
        ),
        each(
            "first",
            Arc::new(BooleanArray::from_iter(
                class.iter().map(|class| class.map(|class| class == 0)),
            )),
        ),
    ]
}

/// The same nodes with other labels.
fn labelled(given: &GraphTables, labels: Labels) -> GraphTables {
    GraphTables {
        nodes: NodeTable { labels: Some(labels), ..given.nodes.clone() },
        ..given.clone()
    }
}

fn rest(method: &str, run: &str) -> String {
    format!(
        "  set: {{hidden: 4, drop: 0.3}}\nreorder: {{method: {method}}}\nrun: {{epochs: 4, {run}}}"
    )
}

#[test]
fn a_column_is_learned_as_labels_that_say_the_same() {
    let runner = StageRunner::new();
    let mut given = community(false);
    let class = class_of(&given.nodes.labels);
    given.nodes.columns = columns(&class);
    let of = |value: &dyn Fn(u32) -> f32| {
        Labels::Values(class.iter().map(|class| class.map_or(f32::NAN, value)).collect())
    };
    let cases = [
        ("word", "auto", Labels::Classes(class.clone()), CLASSES),
        ("year", "auto", Labels::Classes(class.clone()), CLASSES),
        ("size", "auto", of(&|class| 0.5 * class as f32 - 1.0), 0),
        ("year", "mse", of(&|class| 1990.0 + 10.0 * class as f32), 0),
        ("first", "bce", of(&|class| f32::from(u8::from(class == 0))), 0),
        (
            "first",
            "auto",
            Labels::Classes(
                class.iter().map(|class| class.map(|class| u32::from(class == 0))).collect(),
            ),
            2,
        ),
    ];
    let with = runner.graph(&given);
    for (name, loss, labels, count) in cases {
        let without = runner.graph(&labelled(&given, labels));
        for method in ["none", "degree"] {
            let want = proved(
                &runner,
                &without,
                &runner.pipeline("gcn", &rest(method, &format!("loss: {loss}"))),
            );
            let got = proved(
                &runner,
                &with,
                &runner.pipeline("gcn", &rest(method, &format!("loss: {loss}, target: {name}"))),
            );
            assert_eq!(
                got.bytes[PREDICTIONS_FILE], want.bytes[PREDICTIONS_FILE],
                "{name}, {loss}, {method}"
            );
            assert_eq!(got.metrics("loss"), want.metrics("loss"), "{name}, {loss}, {method}");
            assert_eq!(
                got.parameters().arrays,
                want.parameters().arrays,
                "{name}, {loss}, {method}"
            );
            let (record, facts) = (got.record(), got.parameters().facts);
            assert_eq!(
                (record.target.as_deref(), record.classes.len()),
                (Some(name), count),
                "{name}"
            );
            assert_eq!(facts["target"], name);
            assert_eq!(want.record().target, None);
            if name == "word" {
                assert_eq!(record.classes, WORDS[..CLASSES]);
                assert!(facts["classes"].starts_with("[\"ant\",\"bee\","), "{}", facts["classes"]);
            }
        }
    }
    // What is learned by itself may be written down: the same key, and not a byte more in the file
    // of parameters.
    let named = |run: &str| {
        let pipeline = runner.pipeline("gcn", &rest("none", run));
        let chain = runner.planned(&with, &pipeline).unwrap();
        let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
        (
            step.key(),
            runner.run(&chain, &Silence, &StopFlag::new()).unwrap().bytes[PARAMETERS_FILE].clone(),
        )
    };
    assert_eq!(named("seed: 1, target: label"), named("seed: 1"));
    assert_ne!(named("seed: 1, target: year").0, named("seed: 1").0);
}

#[test]
fn a_column_of_graphs_is_learned_as_labels_of_graphs() {
    const POOLED: &str =
        "def model(v):\n    return mlp(concat(pool_sum(v.x), pool_mean(v.x)), (4, v.classes))\n";
    let runner = StageRunner::new();
    // The label is another, and a column of nodes with the same name says nothing of graphs.
    let mut given = set(reals(2, 40));
    let class = class_of(&Some(classes(40)));
    given.graphs.as_mut().unwrap().columns = columns(&class);
    given.nodes.columns =
        vec![("word".to_owned(), Arc::new(Int64Array::from(vec![1; given.nodes.ids.len()])))];
    let (with, without) = (runner.graph(&given), runner.graph(&set(classes(40))));
    for dtype in ["f32", "f64"] {
        let run = |run: &str| {
            own_text(
                &runner,
                "model",
                POOLED,
                &format!(
                    "reorder: {{method: degree}}\nrun: {{epochs: 5, dtype: {dtype}, keep: \
                        best{run}}}"
                ),
            )
        };
        let got = proved(&runner, &with, &run(", target: word"));
        let want = proved(&runner, &without, &run(""));
        assert_eq!(got.bytes[PREDICTIONS_FILE], want.bytes[PREDICTIONS_FILE]);
        assert_eq!(got.record().classes, WORDS[..3]);
    }
    let error = refused(&runner, &with, "gin", "target: words");
    says(
        &error,
        &[
            "no column of the graphs",
            "expected one of `word`, `label`, `year`",
            "graphs.parquet",
            "hint: --set run.target=word",
        ],
    );
}

#[test]
fn a_program_reads_neither_what_is_learned_nor_the_label() {
    let runner = StageRunner::new();
    let mut given = community(false);
    given.nodes.columns = columns(&class_of(&given.nodes.labels));
    let graph = runner.graph(&given);
    let model = |read: &str| {
        format!("def model(v):\n    return linear(v.x, v.classes) * (1.0 + 0.1 * v.{read})\n")
    };
    let by = |read: &str, run: &str| {
        own_text(&runner, "model", &model(read), &format!("run: {{epochs: 2{run}}}"))
    };
    proved(&runner, &graph, &by("size", ", target: year"));
    for (read, run) in [("year", ", target: year"), ("label", ", target: year"), ("label", "")] {
        let error = runner
            .planned(&graph, &by(read, run))
            .err()
            .expect("what is learned is not there to be read");
        assert!(error.to_string().contains(&format!("v.{read}")), "{error}");
    }
}

#[test]
fn the_check_reads_the_column_that_was_learned() {
    let runner = StageRunner::new();
    let mut given = community(false);
    given.nodes.columns = columns(&class_of(&given.nodes.labels));
    // Other numbers, of the same form.
    let turned = given.nodes.columns[2].1.clone();
    let Some(turned) =
        arrow_array::cast::AsArray::as_primitive_opt::<arrow_array::types::Float64Type>(&turned)
    else {
        panic!("reals")
    };
    let turned = Float64Array::from_iter(turned.iter().map(|value| value.map(|value| -value)));
    given.nodes.columns.push(("turned".to_owned(), Arc::new(turned)));
    let graph = runner.graph(&given);
    let pipeline = runner.pipeline("gcn", &rest("degree", "target: size"));
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let run = runner.published(&chain).unwrap();
    let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
    let (list, stop, inputs) =
        (list_of(&chain), StopFlag::new(), runner.whole(&step.inputs).unwrap());
    let prove = |target: &str| {
        let mut request = step.request.clone();
        request.spec.target = target.to_owned();
        let outputs = as_inputs(std::slice::from_ref(&run));
        check::check_results::<f32>(
            &runner.context(&Silence, &stop),
            &outputs,
            &inputs,
            &request,
            &list,
            None,
            check::WORK_MAX,
        )
    };
    prove("size").unwrap_or_else(|violation| panic!("{}", violation.0));
    let other = prove("turned").expect_err("another column has another loss").0;
    assert!(other.what.contains("the loss of the kept parameters"), "{other}");
}

fn refused(runner: &StageRunner, graph: &Artifact, program: &str, run: &str) -> StageError {
    let pipeline = runner.pipeline(program, &format!("run: {{epochs: 1, {run}}}"));
    runner.planned(graph, &pipeline).err().unwrap_or_else(|| panic!("{run} was not refused"))
}

#[track_caller]
fn says(error: &StageError, parts: &[&str]) {
    let text = error.to_string();
    assert!(matches!(error.kind, ErrorKind::Specification | ErrorKind::Data), "{text}");
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in:\n{text}");
    }
}

#[test]
fn a_target_that_cannot_be_is_refused_with_what_could() {
    let runner = StageRunner::new();
    let mut given = community(false);
    given.nodes.columns = columns(&class_of(&given.nodes.labels));
    let nothing: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>; given.nodes.ids.len()]));
    given.nodes.columns.push(("nothing".to_owned(), nothing));
    let graph = runner.graph(&given);
    let error = refused(&runner, &graph, "gcn", "target: yaer");
    says(
        &error,
        &[
            "`run.target: yaer` is no column of the nodes",
            "nodes.parquet",
            "expected one of `year`, `label`, `word`, `size`, `first`",
            "hint: --set run.target=year",
        ],
    );
    for own in ["id", "split"] {
        says(
            &refused(&runner, &graph, "gcn", &format!("target: {own}")),
            &["is no column of the nodes that could be learned", "expected one of"],
        );
    }
    for program in ["gcn", "gat"] {
        says(
            &refused(&runner, &graph, program, "target: nothing"),
            &["no row has a class in the column `nothing`", "--set run.target=COLUMN"],
        );
    }
    says(
        &refused(&runner, &graph, "gcn", "target: size, loss: cross_entropy"),
        &["`run.loss: cross_entropy` needs classes"],
    );
    says(
        &refused(&runner, &graph, "gcn", "target: word, loss: mse"),
        &["`run.loss: mse` needs numbers to fit"],
    );
    // Without labels of its own a graph has columns all the same.
    let bare = runner
        .graph(&GraphTables { nodes: NodeTable { labels: None, ..given.nodes.clone() }, ..given });
    says(&refused(&runner, &bare, "gcn", "seed: 1"), &["the data set has no labels", "run.target"]);
    proved(&runner, &bare, &runner.pipeline("gcn", &rest("none", "target: word")));
}

/// A table of splits in some order of rows: every third id comes first.
fn parts_table(ids: &[String], part: impl Fn(usize) -> &'static str) -> String {
    let rows = (0..3)
        .flat_map(|first| (first..ids.len()).step_by(3))
        .map(|row| format!("{},{}\n", ids[row], part(row)));
    rows.fold("id,split\n".to_owned(), |text, row| text + &row)
}

fn ids_of(ids: &Ids) -> Vec<String> {
    match ids {
        Ids::Numbers(ids) => ids.iter().map(u64::to_string).collect(),
        Ids::Strings(ids) => ids.clone(),
    }
}

/// Ids as a column, splits as the store has them.
fn parquet_of(
    runner: &StageRunner,
    name: &str,
    ids: ArrayRef,
    splits: &[(&str, Vec<u8>)],
) -> PathBuf {
    let column = |(name, parts): &(&str, Vec<u8>)| {
        (
            Field::new(*name, DataType::UInt8, false),
            Arc::new(UInt8Array::from(parts.clone())) as ArrayRef,
        )
    };
    let columns = std::iter::once((Field::new("id", ids.data_type().clone(), false), ids))
        .chain(splits.iter().map(column))
        .collect();
    let path = runner.folder.path().join(name);
    write_table(&path, columns).unwrap();
    path
}

#[test]
fn parts_of_a_table_are_those_of_splits_that_say_the_same() {
    let runner = StageRunner::new();
    let mut given = community(false);
    let part = |row: usize| [1, 3, 2, 1, 0][row % 5];
    let parts: Vec<u8> = (0..given.nodes.ids.len()).map(part).collect();
    let own = runner.graph(&given);
    given.nodes.splits = vec![parts.clone()];
    let other = runner.graph(&given);
    let word = |row: usize| ["none", "train", "val", "test"][usize::from(part(row))];
    let text = runner.write("parts.csv", parts_table(&ids_of(&given.nodes.ids), word).as_bytes());
    let ids = given.nodes.ids.to_array();
    let table = parquet_of(
        &runner,
        "parts.parquet",
        ids,
        &[("split_0", vec![1; parts.len()]), ("split_1", parts)],
    );
    for method in ["none", "degree"] {
        let want = proved(&runner, &other, &runner.pipeline("gcn", &rest(method, "keep: best")));
        for (path, split) in [(&text, 0), (&table, 1)] {
            let run = format!("keep: best, split: {split}, splits: {}", path.display());
            let got = proved(&runner, &own, &runner.pipeline("gcn", &rest(method, &run)));
            assert_eq!(
                got.bytes[PREDICTIONS_FILE], want.bytes[PREDICTIONS_FILE],
                "{method}, {split}"
            );
            for part in ["train", "validation", "test"] {
                assert_eq!(got.metrics(part), want.metrics(part), "{method}, {split}: {part}");
            }
        }
    }
    // Neither labels nor splits of its own.
    let nodes = NodeTable {
        labels: None,
        splits: Vec::new(),
        columns: columns(&class_of(&given.nodes.labels)),
        ..given.nodes.clone()
    };
    let bare = runner.graph(&GraphTables { nodes, ..given });
    proved(
        &runner,
        &bare,
        &runner
            .pipeline("gcn", &rest("degree", &format!("target: year, splits: {}", text.display()))),
    );
    says(
        &refused(&runner, &bare, "gcn", "target: year"),
        &["split 0 was asked for, and the graph has 0", "--set run.splits=FILE"],
    );
}

#[test]
fn graphs_have_parts_by_their_own_ids() {
    const POOLED: &str = "def model(v):\n    return mlp(pool_mean(v.x), (4, v.classes))\n";
    let runner = StageRunner::new();
    let mut given = set(classes(40));
    let graphs = given.graphs.clone().unwrap();
    let part = |row: usize| [2, 1, 3][row % 3];
    let word = |row: usize| ["none", "train", "validation", "test"][usize::from(part(row))];
    let text = runner.write("graphs.csv", parts_table(&ids_of(&graphs.ids), word).as_bytes());
    let own = runner.graph(&given);
    given.graphs.as_mut().unwrap().splits = vec![(0..graphs.ids.len()).map(part).collect()];
    let other = runner.graph(&given);
    let run = |run: &str| {
        own_text(
            &runner,
            "model",
            POOLED,
            &format!("reorder: {{method: degree}}\nrun: {{epochs: 5{run}}}"),
        )
    };
    let got = proved(&runner, &own, &run(&format!(", splits: {}", text.display())));
    let want = proved(&runner, &other, &run(""));
    assert_eq!(got.bytes[PREDICTIONS_FILE], want.bytes[PREDICTIONS_FILE]);
    assert_eq!(got.metrics("test"), want.metrics("test"));
}

#[test]
fn ids_without_a_row_are_told_and_odd_rows_refused() {
    let runner = StageRunner::new();
    let given = community(false);
    let graph = runner.graph(&given);
    let ids = ids_of(&given.nodes.ids);
    let with = |text: &str| {
        let path = runner.write("parts.csv", text.as_bytes());
        let pipeline =
            runner.pipeline("gcn", &format!("run: {{epochs: 1, splits: {}}}", path.display()));
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let warnings = Warnings::default();
        let outcome =
            runner.run(&chain, &warnings, &StopFlag::new()).map(|left| left.metrics("train"));
        (outcome, warnings.0.into_inner().unwrap())
    };
    let (first, second) = (&ids[0], &ids[1]);
    let (outcome, warnings) = with(&format!("id,split\n{second},train\n{first},1\n"));
    assert!(outcome.is_ok());
    assert!(
        warnings[0].contains(&format!(
            "has no row for 2998 of 3000 ids, which are in no split; the first is `{}`",
            ids[2]
        )),
        "{warnings:?}"
    );
    let cases = [
        (
            format!("id,split\n{first},train\nn99999,test\n"),
            "the data set has no such id",
            "parts.csv:3:1",
            "found `n99999`",
        ),
        (
            format!("id,split\n{first},train\n{first},test\n"),
            "an id has two rows",
            "parts.csv:3:1",
            "ids that differ",
        ),
        (
            format!("id,split\n{first},training set\n"),
            "unknown split name",
            "parts.csv:2:3",
            "found `training set`",
        ),
        (
            format!("id,split\n{first},test\n"),
            "split 0 of",
            "parts.csv has no training nodes",
            "hint:",
        ),
    ];
    for (text, what, place, detail) in cases {
        says(&with(&text).0.expect_err(&text), &[what, place, detail]);
    }
    let own = Arc::new(StringArray::from(vec![second.as_str(), first, "x"]));
    let path = parquet_of(&runner, "odd.parquet", own, &[("split", vec![1, 2, 3])]);
    let odd = |run: &str| {
        let pipeline =
            runner.pipeline("gcn", &format!("run: {{epochs: 1, splits: {}{run}}}", path.display()));
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        runner.run(&chain, &Silence, &StopFlag::new()).map(drop).expect_err("a refusal")
    };
    says(
        &odd(""),
        &[
            "row 2 has an id that the data set has not",
            "found `x`",
            "hint: ids are the data set's own",
        ],
    );
    std::fs::remove_file(&path).unwrap();
    let own = Arc::new(StringArray::from(vec![second.as_str(), first]));
    parquet_of(&runner, "odd.parquet", own, &[("split", vec![1, 2])]);
    says(
        &odd(", split: 1"),
        &["split 1 was asked for, and the table of splits has 1", "--set run.split=0"],
    );
}

#[test]
fn the_check_reads_the_table_that_was_trained_on() {
    let runner = StageRunner::new();
    let given = community(false);
    let graph = runner.graph(&given);
    let table = |name: &str, shift: usize| {
        let text = parts_table(&ids_of(&given.nodes.ids), |row| {
            ["train", "none", "test"][(row + shift) % 3]
        });
        runner.write(name, text.as_bytes())
    };
    let (own, other) = (table("own.csv", 0), table("other.csv", 1));
    let pipeline = runner.pipeline("gcn", &rest("degree", &format!("splits: {}", own.display())));
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let run = runner.published(&chain).unwrap();
    let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
    let (list, stop, inputs) =
        (list_of(&chain), StopFlag::new(), runner.whole(&step.inputs).unwrap());
    let prove = |path: &Path, digest_of: &Path| {
        let mut request = step.request.clone();
        (request.spec.splits, request.splits_digest) =
            (Some(path.to_path_buf()), Some(Digest::from_file(digest_of).unwrap().to_string()));
        let outputs = as_inputs(std::slice::from_ref(&run));
        let outcome = check::check_results::<f32>(
            &runner.context(&Silence, &stop),
            &outputs,
            &inputs,
            &request,
            &list,
            None,
            check::WORK_MAX,
        );
        outcome.map_err(|violation| violation.0.to_string())
    };
    assert_eq!(prove(&own, &own), Ok(()));
    let parts = prove(&other, &other).expect_err("other parts have another loss");
    assert!(parts.contains("the loss of the kept parameters"), "{parts}");
    // What a key speaks of is what is read.
    let changed = prove(&own, &other).expect_err("other bytes");
    assert!(
        changed.contains("the table of splits has changed since this run began")
            && changed.contains("own.csv"),
        "{changed}"
    );
}
