//! What reading promises: defaults, overrides, paths, sweeps, documents; and that no text makes it
//! panic.
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use serde_json::json;
use warploom_spec::*;

const FILE: &str = "pipelines/try.yaml";
const LEAST: &str = "dataset: amazon0505\nplan: {program: programs/gcn.py}\n";

/// Every setting with a value that is not its default.
const MOST: &str = "\
pipeline: all
dataset: artist
ingest: {symmetrize: true, self_loops: replace, duplicates: sum, features: one_hot_label, normalize: row, ids: string, seed: 1}
extract:
reorder: {method: degree, seed: 18446744073709551615}
partition: {scheme: [merge-path, rows, merge-path], unit_edges: 64, ngs: 16, block_threads: 64, groups: groups.parquet, parts: 1}
plan:
  program: ../other/two.py:second
  set: {hidden: 64, drop: 5e-1, bias: false, kind: 'mean', digits: \"12\"}
  device: cuda:1
run:
  mode: iterate
  epochs: 1000000
  optimizer: {sgd: {lr: 1, momentum: .9, weight_decay: 0, decay_only: ['*.weight', b]}}
  keep: best
  loss: mse
  dtype: f64
  seed: 0x10
  split: 3
  init: start.safetensors
  init_map: {gcn.gcn.0.linear.0.weight: conv1.weight}
  checkpoint: {every_epochs: 10, every_seconds: 1}
  max_supersteps: 7
  allow_unconverged: True
";

fn all(text: &str, overrides: &[&str]) -> Vec<Pipeline> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    read_text(text, Path::new(FILE), &overrides)
        .unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"))
}

fn one(text: &str, overrides: &[&str]) -> Pipeline {
    let mut pipelines = all(text, overrides);
    assert_eq!(pipelines.len(), 1);
    pipelines.remove(0)
}

#[test]
fn what_is_left_out_has_its_default() {
    let pipeline = one(LEAST, &[]);
    assert_eq!((pipeline.name.as_str(), pipeline.dataset.as_str()), ("try", "amazon0505"));
    assert_eq!(pipeline.ingest, IngestSpec::default());
    assert_eq!(pipeline.reorder, ReorderSpec::default());
    assert_eq!(pipeline.partition, PartitionSpec::default());
    assert_eq!(
        (&pipeline.partition.scheme[..], pipeline.partition.unit_edges),
        (&[Scheme::Auto][..], 16_384)
    );
    assert_eq!(pipeline.run, RunSpec::default());
    assert_eq!(
        (pipeline.plan.program.file.as_path(), pipeline.plan.program.entry.as_str()),
        (Path::new("pipelines/programs/gcn.py"), "gcn")
    );
    let expected = AdamSpec {
        lr: 0.01,
        beta1: 0.9,
        beta2: 0.999,
        eps: 1e-8,
        weight_decay: 0.0,
        decay_only: vec![],
    };
    assert_eq!(pipeline.run.optimizer, Optimizer::Adam(expected));
    assert!(pipeline.variant.is_empty() && pipeline.plan.set.is_empty());
    let empty = "ingest:\nextract: {}\nreorder: ~\npartition:\nrun:\nmatrix:\n";
    assert_eq!(one(&format!("{LEAST}{empty}"), &[]), pipeline);
}

#[test]
fn what_is_given_arrives() {
    let Pipeline { name, dataset, ingest, reorder, partition, plan, run, .. } = one(MOST, &[]);
    assert_eq!((name.as_str(), dataset.as_str()), ("all", "artist"));
    assert_eq!(
        (ingest.symmetrize, ingest.self_loops, ingest.features),
        (Symmetrize::True, SelfLoops::Replace, Features::OneHotLabel)
    );
    assert_eq!(
        reorder,
        ReorderSpec { method: Method::Degree, seed: u64::MAX, ..ReorderSpec::default() }
    );
    // Each scheme once, in the order of the documentation.
    assert_eq!(
        (&partition.scheme[..], partition.block_threads),
        (&[Scheme::Rows, Scheme::MergePath][..], 64)
    );
    assert_eq!(partition.groups, Some(PathBuf::from("pipelines/groups.parquet")));
    assert_eq!(
        (plan.program.file, plan.program.entry.as_str()),
        (PathBuf::from("pipelines/../other/two.py"), "second")
    );
    let settings: Vec<_> =
        plan.set.iter().map(|setting| (setting.name.as_str(), setting.value.clone())).collect();
    let wanted = [
        ("hidden", Scalar::Whole(64)),
        ("drop", Scalar::Real(0.5)),
        ("bias", Scalar::Bool(false)),
        ("kind", Scalar::Text("mean".into())),
        ("digits", Scalar::Text("12".into())),
    ];
    assert_eq!(settings, wanted);
    assert_eq!(plan.set, Settings::from_iter(wanted.clone()));
    let place = &plan.set.get("drop").expect("a setting").value_place;
    assert_eq!((place.path.as_str(), place.line, place.column, place.length), (FILE, 9, 27, 4));
    let sgd = SgdSpec {
        lr: 1.0,
        momentum: 0.9,
        weight_decay: 0.0,
        decay_only: vec!["*.weight".into(), "b".into()],
    };
    assert_eq!(run.optimizer, Optimizer::Sgd(sgd));
    assert_eq!(
        (run.mode, run.keep, run.loss, run.dtype),
        (Mode::Iterate, Keep::Best, Loss::Mse, Dtype::F64)
    );
    assert_eq!((run.seed, run.split, run.max_supersteps, run.allow_unconverged), (16, 3, 7, true));
    assert_eq!(run.init, Some(PathBuf::from("pipelines/start.safetensors")));
    assert_eq!(
        run.init_map.get("gcn.gcn.0.linear.0.weight").map(String::as_str),
        Some("conv1.weight")
    );
    assert_eq!(run.checkpoint, CheckpointSpec { every_epochs: Some(10), every_seconds: 1 });
}

#[test]
fn a_tuple_of_the_program_is_a_list() {
    let of = |text: &str, overrides: &[&str]| {
        one(&format!("{LEAST}{text}"), overrides)
            .plan
            .set
            .get("widths")
            .map(|setting| setting.value.clone())
    };
    let list = |items: &[Scalar]| Some(Scalar::List(items.to_vec()));
    let wanted = list(&[
        Scalar::Whole(16),
        Scalar::Real(0.5),
        Scalar::List(vec![Scalar::Bool(true), Scalar::Text("mean".into())]),
    ]);
    assert_eq!(of("", &["plan.set.widths=[16, 0.5, [true, mean]]"]), wanted);
    assert_eq!(of("", &["plan.set.widths=[]"]), list(&[]));
    assert_eq!(
        of("matrix: {plan.set.widths: [[8, 4]]}\n", &[]),
        list(&[Scalar::Whole(8), Scalar::Whole(4)])
    );
}

#[test]
fn a_text_that_looks_like_something_else_is_a_text() {
    for (written, dataset) in [
        ("12", "12"),
        ("007", "007"),
        ("1.10", "1.10"),
        ("true", "true"),
        ("yes", "yes"),
        ("'null'", "null"),
        ("\u{fc}ber", "\u{fc}ber"),
    ] {
        assert_eq!(
            one(&format!("dataset: {written}\nplan: {{program: a.py}}\n"), &[]).dataset,
            dataset
        );
    }
    let crlf = "\u{feff}dataset: a\r\nplan:\r\n  program: a.py\r\n";
    assert_eq!(one(crlf, &[]).dataset, "a");
}

#[test]
fn overrides_win_and_the_last_one_most() {
    let base = one(
        LEAST,
        &[
            "run.epochs=5",
            "run.epochs=6",
            "run.optimizer={adamw: {lr: 1}}",
            "run.optimizer.adamw.beta1=0",
            "plan.set.hidden=64",
        ],
    );
    assert_eq!(base.run.epochs, 6);
    assert_eq!(
        base.run.optimizer,
        Optimizer::Adamw(AdamSpec { lr: 1.0, beta1: 0.0, ..AdamSpec::default() })
    );
    assert_eq!(base.plan.set.get("hidden").map(|setting| &setting.value), Some(&Scalar::Whole(64)));
    let other = one(
        MOST,
        &[
            "run.optimizer.adam.lr=0.5",
            "run.init_map.a.b.c=d.e",
            "run.checkpoint={}",
            "ingest.symmetrize=auto",
            "run.init=~",
        ],
    );
    assert_eq!(other.run.optimizer, Optimizer::Adam(AdamSpec { lr: 0.5, ..AdamSpec::default() }));
    assert_eq!(other.run.init_map.get("a.b.c").map(String::as_str), Some("d.e"));
    assert_eq!(
        (other.run.checkpoint, other.ingest.symmetrize, other.run.init),
        (CheckpointSpec::default(), Symmetrize::Auto, None)
    );
    assert_eq!(one("", &["dataset=x", "plan.program=a.py"]).dataset, "x");
}

#[test]
fn relative_paths_start_where_they_stand() {
    let paths = |overrides: &[&str]| {
        let pipeline =
            one(&format!("{LEAST}run: {{init: a.safetensors, splits: ../parts.csv}}\n"), overrides);
        [Some(pipeline.plan.program.file), pipeline.run.init, pipeline.run.splits]
            .map(|path| path.expect("a path").display().to_string())
    };
    assert_eq!(
        paths(&[]),
        ["pipelines/programs/gcn.py", "pipelines/a.safetensors", "pipelines/../parts.csv"]
    );
    assert_eq!(
        paths(&["plan.program=x/y.py:z", "run.init=/b", "run.splits=parts.csv"]),
        ["x/y.py", "/b", "parts.csv"]
    );
}

#[test]
fn a_matrix_is_expanded_in_the_order_of_the_file() {
    let text = format!(
        "{LEAST}matrix: {{dataset: [artist, amazon0505], plan.set.hidden: [16, 64], \
            run.optimizer: [{{sgd: {{lr: 1}}}}]}}\n"
    );
    let pipelines = all(&text, &[]);
    let seen: Vec<_> = pipelines
        .iter()
        .map(|pipeline| {
            (
                pipeline.dataset.as_str(),
                pipeline.plan.set.get("hidden").map(|setting| setting.value.clone()),
            )
        })
        .collect();
    let hidden = |number| Some(Scalar::Whole(number));
    assert_eq!(
        seen,
        [
            ("artist", hidden(16)),
            ("artist", hidden(64)),
            ("amazon0505", hidden(16)),
            ("amazon0505", hidden(64))
        ]
    );
    let choice = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(
        pipelines[2].variant,
        [
            choice("dataset", "amazon0505"),
            choice("plan.set.hidden", "16"),
            choice("run.optimizer", "{sgd: {lr: 1}}")
        ]
    );
    assert!(pipelines.iter().all(|pipeline| pipeline.run.optimizer
        == Optimizer::Sgd(SgdSpec { lr: 1.0, ..SgdSpec::default() })));
}

#[test]
fn what_differs_from_the_file_is_told_once_each() {
    let changed = |text: &str, overrides: &[&str]| {
        all(text, overrides).iter().map(|pipeline| pipeline.changed.clone()).collect::<Vec<_>>()
    };
    let pairs = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(changed(LEAST, &[]), [[]]);
    assert_eq!(
        changed(LEAST, &["run.epochs=5", "dataset=b", "run.epochs=6"]),
        [pairs(&[("dataset", "b"), ("run.epochs", "6")])]
    );
    let text = format!("{LEAST}matrix: {{plan.set.hidden: [16, 64]}}\n");
    let both = changed(&text, &["run.epochs=5"]);
    assert_eq!(
        both,
        ["16", "64"].map(|hidden| pairs(&[("plan.set.hidden", hidden), ("run.epochs", "5")]))
    );
    // A repeat is the run that its seed alone asks for.
    assert_eq!(
        changed(LEAST, &["run.repeat=2", "run.seed=7"]),
        ["7", "8"].map(|seed| pairs(&[("run.seed", seed)]))
    );
}

#[test]
fn an_override_fixes_an_axis() {
    let text = format!(
        "{LEAST}matrix: {{dataset: [artist, b], run.optimizer.adam.lr: [1, 2], run.seed: [1, 2]}}\n"
    );
    assert_eq!(all(&text, &[]).len(), 8);
    assert_eq!(all(&text, &["dataset=c"]).len(), 4);
    assert_eq!(all(&text, &["run.optimizer={sgd: {}}"]).len(), 4);
    assert_eq!(all(&text, &["matrix={}"]).len(), 1);
    let fixed = all(
        &text,
        &["matrix={run.seed: [7]}", "matrix.run.epochs=[5, 6]", "matrix.run.seed=[8, 9]"],
    );
    let seen: Vec<_> =
        fixed.iter().map(|pipeline| (pipeline.run.epochs, pipeline.run.seed)).collect();
    assert_eq!(seen, [(5, 8), (5, 9), (6, 8), (6, 9)]);
    assert_eq!(
        all(LEAST, &["run.seed=3", "matrix.run.seed=[1, 2]"])
            .iter()
            .map(|pipeline| pipeline.run.seed)
            .collect::<Vec<_>>(),
        [1, 2]
    );
}

#[test]
fn repeats_are_the_pipelines_of_their_seeds() {
    let seeds = |pipelines: &[Pipeline]| {
        pipelines.iter().map(|pipeline| (pipeline.run.split, pipeline.run.seed)).collect::<Vec<_>>()
    };
    let three = all(LEAST, &["run.repeat=3", "run.seed=7"]);
    assert_eq!(seeds(&three), [(0, 7), (0, 8), (0, 9)]);
    assert_eq!(
        three.iter().map(|pipeline| pipeline.repeat).collect::<Vec<_>>(),
        [0, 1, 2].map(|number| Some(Repeat { number, count: 3 }))
    );
    assert_eq!(
        three[1].document(),
        one(LEAST, &["run.seed=8"]).document(),
        "each is the pipeline that its seed alone gives"
    );
    assert_eq!(one(LEAST, &["run.repeat=1"]), one(LEAST, &[]));
    // Within each variant, whichever axis there is: seeds too, and the repeats themselves.
    let text = format!("{LEAST}run: {{repeat: 2}}\nmatrix: {{run.split: [0, 3]}}\n");
    assert_eq!(seeds(&all(&text, &[])), [(0, 0), (0, 1), (3, 0), (3, 1)]);
    assert!(all(&text, &[]).iter().all(|pipeline| pipeline.variant.len() == 1));
    assert_eq!(
        seeds(&all(&text, &["matrix={run.seed: [5, 10]}"])),
        [(0, 5), (0, 6), (0, 10), (0, 11)]
    );
    assert_eq!(seeds(&all(&text, &["matrix={run.repeat: [1, 2]}"])), [(0, 0), (0, 0), (0, 1)]);
}

#[test]
fn repeats_that_cannot_be_are_refused_where_they_stand() {
    let refused = |set: &[&str]| {
        let overrides: Vec<String> = set.iter().map(|text| text.to_string()).collect();
        read_text(LEAST, Path::new(FILE), &overrides).expect_err("a refusal").to_string()
    };
    let zero = refused(&["run.repeat=0"]);
    assert!(zero.contains("1 to 10000"), "{zero}");
    let far = refused(&["run.repeat=3", "run.seed=18446744073709551614"]);
    assert!(
        far.contains("3 repeats from `run.seed: 18446744073709551614` go beyond the largest seed"),
        "{far}"
    );
    assert!(
        far.contains("--> --set run.seed=18446744073709551614:1:10")
            && far.contains("expected at most 18446744073709551613"),
        "{far}"
    );
    let many = refused(&["run.repeat=5001", "matrix={run.split: [0, 1]}"]);
    assert!(
        many.contains("the matrix and `run.repeat` ask for too many variants")
            && many.contains("--set run.repeat=5001"),
        "{many}"
    );
    assert_eq!(all(LEAST, &["run.repeat=5000", "matrix={run.split: [0, 1]}"]).len(), 10_000);
    assert_eq!(one(LEAST, &["run.seed=18446744073709551615"]).run.seed, u64::MAX);
}

#[test]
fn a_document_read_again_gives_the_same_document() {
    for text in [LEAST, MOST] {
        let document = one(text, &[]).document();
        let again = serde_json::to_string_pretty(&document).expect("a document is JSON");
        assert_eq!(one(&again, &[]).document(), document);
    }
}

#[test]
fn the_order_of_keys_does_not_show() {
    let turned = MOST
        .replace("seed: 1}", "SEED}")
        .replace("symmetrize: true", "seed: 1, symmetrize: true")
        .replace(", SEED}", "}");
    let turned = turned.replace(
        "{hidden: 64, drop: 5e-1, bias: false, kind: 'mean',",
        "{kind: \"mean\", bias: false, drop: 0.5, hidden: 64,",
    );
    assert_ne!(turned, MOST);
    let mut sections: Vec<String> = Vec::new();
    for line in turned.lines() {
        match sections.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(&format!("{line}\n")),
            _ => sections.push(format!("{line}\n")),
        }
    }
    sections.reverse();
    let (left, right) = (one(&sections.concat(), &[]).document(), one(MOST, &[]).document());
    assert_eq!(left, right);
    assert_eq!(left.to_string(), right.to_string());
}

#[test]
fn documents_are_golden_text() {
    let pipeline = one(LEAST, &["plan.set.hidden=64", "run.optimizer.adam.decay_only=[a]"]);
    assert_eq!(
        Spec::document(&pipeline.ingest).to_string(),
        concat!(
            r#"{"command":[],"duplicates":"keep","entity_types":null,"features":"auto","format":"auto","graphs":"auto","ids":"auto","inverse_relations":false,"keep_classes":[],"largest_component":false,"#,
            r#""normalize":"none","relabel":false,"seed":0,"self_loops":"keep","split":null,"symmetrize":"auto","weights":"keep"}"#
        )
    );
    assert_eq!(Spec::document(&pipeline.extract), json!({}));
    assert_eq!(
        Spec::document(&pipeline.plan).to_string(),
        r#"{"device":"auto","features":"auto","matmul":"f32","program":"gcn.py:gcn","schedule":"auto","set":{"hidden":64}}"#
    );
    assert_eq!(
        Spec::document(&pipeline.run)["optimizer"].to_string(),
        r#"{"adam":{"beta1":0.9,"beta2":0.999,"decay_only":["a"],"eps":1e-8,"lr":0.01,"weight_decay":0.0}}"#
    );
}

/// Values that differ from the default, for a field of any type.
fn others(field: &FieldDoc, shape: &Shape) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    match shape {
        Shape::Bool => words(&[if field.default == json!(true) { "false" } else { "true" }]),
        Shape::Whole | Shape::Real => {
            let (low, high) = field.range.map_or((0.0, None), |range| (range.low, range.high));
            let mut numbers = vec![low, low + 0.25, low + 1.0, high.unwrap_or(77.0)];
            numbers.dedup();
            numbers
                .into_iter()
                .filter(|number| field.range.is_none_or(|range| range.contains(*number)))
                .filter(|number| *shape == Shape::Real || number.fract() == 0.0)
                .filter(|number| field.default.as_f64() != Some(*number))
                .map(|number| number.to_string())
                .collect()
        }
        Shape::Text | Shape::File => words(&["other"]),
        Shape::Program => words(&["programs/other.py", "programs/gcn.py:other"]),
        Shape::Scalar => words(&["1", "1.0", "'1'", "true", "'true'"]),
        Shape::Choice(choices) => choices
            .iter()
            .map(|choice| choice.name.to_string())
            .filter(|name| field.default.to_string().trim_matches('"') != name)
            .collect(),
        Shape::List(_) => words(&["[a]", "[b]", "[a, b]", "[b, a]"]),
        Shape::Map(inner) => others(field, inner)
            .into_iter()
            .flat_map(|value| [format!("{{a: {value}}}"), format!("{{b: {value}}}")])
            .collect(),
        Shape::Optional(inner) => others(field, inner),
        Shape::OneOrMore(inner) => {
            let one = others(field, inner);
            let pairs: Vec<String> =
                one.windows(2).map(|pair| format!("[{}]", pair.join(", "))).collect();
            one.into_iter().chain(pairs).collect()
        }
        Shape::WordOrEntries(word, _) => {
            let entries = ["a", "b"].map(|launch| format!("[{{for: {launch}, use: rows}}]"));
            others(field, word).into_iter().chain(entries).collect()
        }
        Shape::Section(_) | Shape::OneOf(_) | Shape::Matrix => Vec::new(),
    }
}

/// Every setting below these fields with its dotted path.
fn leaves(above: &str, fields: &[FieldDoc]) -> Vec<(String, FieldDoc)> {
    let below = |field: &FieldDoc| match &field.shape {
        Shape::Section(inner) | Shape::OneOf(inner) => {
            leaves(&format!("{above}.{}", field.name), inner)
        }
        Shape::Optional(shape) if let Shape::OneOf(inner) | Shape::Section(inner) = &**shape => {
            leaves(&format!("{above}.{}", field.name), inner)
        }
        _ => vec![(format!("{above}.{}", field.name), field.clone())],
    };
    fields.iter().flat_map(below).collect()
}

#[test]
fn a_document_changes_with_every_field() {
    let mut leaves: Vec<_> = [
        ("ingest", IngestSpec::fields()),
        ("extract", ExtractSpec::fields()),
        ("reorder", ReorderSpec::fields()),
        ("partition", PartitionSpec::fields()),
        ("plan", PlanSpec::fields()),
        ("run", RunSpec::fields()),
    ]
    .iter()
    .flat_map(|(name, fields)| leaves(name, fields))
    .collect();
    assert_eq!(leaves.len(), 107, "a new field is counted here, and must be covered by `others`");
    // Only one value is valid until there are several GPUs; repeats are pipelines with other seeds.
    leaves.retain(|(path, _)| path != "partition.parts" && path != "run.repeat");
    let mut seen = HashSet::from([one(LEAST, &[]).document().to_string()]);
    for (path, field) in &leaves {
        let values = others(field, &field.shape);
        assert!(!values.is_empty(), "{path}");
        for value in values {
            let set = format!("{path}={value}");
            assert!(
                seen.insert(one(LEAST, &[&set]).document().to_string()),
                "{set} gives a document seen before"
            );
        }
    }
    for set in ["pipeline=other", "dataset=other"] {
        assert!(seen.insert(one(LEAST, &[set]).document().to_string()), "{set}");
    }
}

#[test]
fn fields_describe_themselves() {
    let text = |name: &str| {
        PartitionSpec::fields()
            .iter()
            .find(|field| field.name == name)
            .map(FieldDoc::to_string)
            .unwrap()
    };
    assert!(text("scheme").starts_with("scheme: one of auto, rows, "), "{}", text("scheme"));
    assert!(
        text("scheme").contains(
            " or program, or a list of them (default auto)\n    The partitioning schemes"
        ),
        "{}",
        text("scheme")
    );
    assert_eq!(
        ["unit_edges", "block_threads", "parts"].map(text),
        [
            "unit_edges: a whole number, 64 to 4294967296, nonzeros (default 16384)\n    Most \
                nonzeros in a unit of several rows; units of small graphs have fewer.",
            "block_threads: a whole number, a multiple of 32, 32 to 1024, threads (default \
                128)\n    `neighbour-groups`, `file`, `program` and `warp-tiles`: threads in a \
                block of a GPU; a block has as many groups as `dw` divides it. A CPU has no \
                blocks.",
            "parts: a whole number, 1, shards (default 1)\n    Number of shards of the \
                graph, one for each GPU.",
        ]
    );
    let fields = [
        IngestSpec::fields(),
        ReorderSpec::fields(),
        PartitionSpec::fields(),
        PlanSpec::fields(),
        RunSpec::fields(),
        AdamSpec::fields(),
    ];
    assert!(
        fields.iter().flatten().all(|field| field.doc.ends_with('.')),
        "explanations are sentences"
    );
}

/// Walks the schema as an editor would: every name of every valid file is known to it.
fn known(schema: &serde_json::Value, value: &serde_json::Value, path: &str) {
    let serde_json::Value::Object(map) = value else { return };
    for (name, inner) in map {
        let property = &schema["properties"][name.as_str()];
        let schema = if property.is_null() { &schema["additionalProperties"] } else { property };
        assert!(schema.is_object(), "{path}.{name} is not in the schema");
        known(schema, inner, &format!("{path}.{name}"));
    }
}

#[test]
fn the_schema_knows_every_setting() {
    let schema = json_schema();
    known(&schema, &one(MOST, &[]).document(), "");
    known(&schema, &one(LEAST, &[]).document(), "");
    assert_eq!(schema["additionalProperties"], json!(false));
    let run = &schema["properties"]["run"]["properties"];
    assert_eq!(run["epochs"]["default"], json!(200));
    assert_eq!(
        (&run["epochs"]["minimum"], &run["epochs"]["maximum"]),
        (&json!(1), &json!(1_000_000))
    );
    assert_eq!(
        run["optimizer"]["properties"]["adam"]["properties"]["lr"]["exclusiveMinimum"],
        json!(0)
    );
    assert_eq!(
        schema["properties"]["ingest"]["properties"]["symmetrize"]["enum"],
        json!(["auto", true, false])
    );
}

#[test]
fn the_pipelines_of_the_project_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines");
    let mut count = 0;
    for entry in folder.read_dir().expect("the folder").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(&path).expect("a text");
        assert!(
            text.starts_with("# yaml-language-server: $schema=schema.json\n"),
            "{}",
            path.display()
        );
        for pipeline in read(&path, &[]).unwrap_or_else(|mistakes| panic!("{mistakes}")) {
            assert_eq!(
                Some(pipeline.name.as_str()),
                path.file_stem().and_then(|stem| stem.to_str())
            );
            assert!(
                pipeline.plan.program.file.is_file(),
                "{}",
                pipeline.plan.program.file.display()
            );
        }
    }
    assert!(count >= 4);
    let gcn = &read(&folder.join("gcn.yaml"), &[]).expect("a pipeline")[0];
    let paper = AdamSpec {
        lr: 0.01,
        weight_decay: 5e-4,
        decay_only: vec!["gcn.gcn.0.linear.0.weight".into()],
        ..AdamSpec::default()
    };
    assert_eq!((&gcn.run.optimizer, gcn.run.epochs), (&Optimizer::Adam(paper), 200));
}

/// One edit of a text: at a part of it, delete, insert, repeat or cut off.
fn edited(text: &str, edits: &[(u16, u8, String)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (place, kind, insert) in edits {
        let at = *place as usize % (letters.len() + 1);
        match kind % 5 {
            0 => letters.truncate(at),
            1 => drop(letters.drain(at..(at + 1 + insert.len() * 3).min(letters.len()))),
            2 => drop(letters.splice(at..at, insert.chars())),
            3 => letters.rotate_left(at),
            _ => {
                let copy: Vec<char> = letters[at..(at + 12).min(letters.len())].to_vec();
                letters.splice(at..at, copy);
            }
        }
    }
    letters.into_iter().collect()
}

/// Reading neither panics nor points outside the text, and can be printed.
fn is_answered(text: &str, overrides: &[String]) -> Result<(), TestCaseError> {
    let Err(mistakes) = read_text(text, Path::new(FILE), overrides) else { return Ok(()) };
    prop_assert!(!mistakes.is_empty() && mistakes.len() <= SHOWN_MAX);
    let printed = mistakes.to_string();
    prop_assert!(
        printed.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')),
        "{printed:?}"
    );
    for mistake in mistakes.iter() {
        let width = mistake.excerpt.chars().count() as u32;
        prop_assert!(
            mistake.line >= 1 && mistake.column >= 1 && mistake.length >= 1,
            "{mistake:?}"
        );
        prop_assert!(mistake.column <= width + 1, "{mistake:?}");
        prop_assert!(mistake.column + mistake.length <= width + 2, "{mistake:?}");
    }
    Ok(())
}

const MARKS: &str = "[ -~\t\n\r:{}\\[\\],'\"#&*!|>%@`\u{e9}\u{4e2d}\u{1f600}]{0,6}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edited_files_are_answered(most in any::<bool>(), edits in prop::collection::vec((any::<u16>(), any::<u8>(), MARKS), 1..6)) {
        is_answered(&edited(if most { MOST } else { LEAST }, &edits), &[])?;
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}", marks in prop::collection::vec(MARKS, 0..12)) {
        is_answered(&text, &[])?;
        is_answered(&marks.concat(), &[])?;
    }

    #[test]
    fn any_override_is_answered(edits in prop::collection::vec((any::<u16>(), any::<u8>(), MARKS), 0..3), number in 0usize..6, any in "\\PC{0,20}") {
        let valid = ["run.optimizer={adam: {lr: 0.1}}", "plan.set.hidden=64", "dataset=x", "matrix={run.seed: [1, 2]}", "matrix.run.epochs=[1, 2]", "run.init_map.a.b=c"];
        is_answered(LEAST, &[edited(valid[number], &edits), any])?;
    }
}
