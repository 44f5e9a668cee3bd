//! Proves, through the front door, the settings of `run` that say what is learned, from which part
//! of a data set, and how often.
use std::fs;

use serde_json::Value;
use warploom_contract::parquet_file::read_table;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::StoredArtifact;

use crate::pipeline::each;

/// Mean and standard deviation of a sample, by another road than the program's.
fn spread(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let (sum, squares) = numbers
        .iter()
        .fold((0.0, 0.0), |(sum, squares), number| (sum + number, squares + number * number));
    (sum / count, ((squares - sum * sum / count).max(0.0) / (count - 1.0)).sqrt())
}

/// The fact of a run's manifest, by its key.
fn fact(sandbox: &Sandbox, key: &str, name: &str) -> f64 {
    let run = sandbox
        .view()
        .of_kind("run")
        .into_iter()
        .find(|run| run.manifest["key"] == key)
        .expect("a run of this key");
    run.manifest["facts"][name].as_f64().expect("a number")
}

#[test]
fn repeats_are_runs_of_their_own_and_their_mean_is_told() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "cora").set("run.epochs=8").set("run.seed=4");
    let alone = sandbox.build(&recipe.clone().set("run.seed=5"));
    let lines =
        sandbox.front("pipeline", &recipe.clone().set("run.repeat=3"), &[]).expect(0).lines();
    let (stages, told): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line.get("stage").is_some());
    let runs: Vec<&Value> = stages.iter().filter(|line| line["stage"] == "run").collect();
    assert_eq!(
        runs.iter().map(|run| run["status"].as_str().unwrap()).collect::<Vec<_>>(),
        ["built", "hit", "built"]
    );
    assert_eq!(runs[1]["key"], alone[5]["key"], "a repeat is the run that its seed alone gives");
    let (told, summaries): (Vec<Value>, Vec<Value>) =
        told.into_iter().partition(|line| line.get("repeats").is_some());
    assert_eq!((told.len(), summaries.len()), (1, 3));
    assert_eq!(
        summaries.iter().map(|line| line["summary"]["seed"].as_u64().unwrap()).collect::<Vec<_>>(),
        [4, 5, 6]
    );
    let tests: Vec<f64> =
        runs.iter().map(|run| fact(&sandbox, run["key"].as_str().unwrap(), "test")).collect();
    let (mean, deviation) = spread(&tests);
    assert_eq!(
        (told[0]["n"].as_u64(), &told[0]["seeds"]),
        (Some(3), &serde_json::json!([4, 5, 6]))
    );
    let metric = &told[0]["metrics"]["test_accuracy"];
    assert!(
        (metric["mean"].as_f64().unwrap() - mean).abs() < 1e-9
            && (metric["deviation"].as_f64().unwrap() - deviation).abs() < 1e-9,
        "{told:?} {tests:?}"
    );
    assert!(deviation > 0.0, "different seeds, different results: {tests:?}");
    let text =
        sandbox.warploom(&recipe.set("run.repeat=3").arguments(&["pipeline"])).expect(0).stdout;
    assert!(text.contains("gcn on cora (seed 6, 3 of 3)"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with(&format!(
            "gcn on cora: test accuracy {mean:.4} ± {deviation:.4}, validation accuracy "
        )),
        "{last}"
    );
    assert!(last.contains("n = 3, seeds 4 to 6; of a stand-in"), "{last}");
}

#[test]
fn repeats_go_with_a_matrix_and_with_splits() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "karate")
        .set("run.epochs=3")
        .set("ingest.split={folds: {count: 3}}")
        .set("run.repeat=2");
    let recipe = recipe.set("matrix={run.split: [0, 2], plan.set.hidden: [4, 8]}");
    let lines = sandbox.front("pipeline", &recipe, &[]).expect(0).lines();
    let (stages, told): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line.get("stage").is_some());
    assert_eq!(each(&stages, "stage").iter().filter(|stage| **stage == "run").count(), 8);
    assert_eq!(sandbox.view().of_kind("run").len(), 8);
    let told: Vec<Value> = told.into_iter().filter(|line| line.get("repeats").is_some()).collect();
    let variants: Vec<(&str, Option<&str>, u64)> = told
        .iter()
        .map(|line| {
            (
                line["variant"]["plan.set.hidden"].as_str().unwrap(),
                line["variant"]["run.split"].as_str(),
                line["n"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        variants,
        [
            ("4", Some("0"), 2),
            ("8", Some("0"), 2),
            ("4", Some("2"), 2),
            ("8", Some("2"), 2),
            ("4", None, 4),
            ("8", None, 4)
        ]
    );
    let mean = |index: usize| told[index]["metrics"]["test_accuracy"]["mean"].as_f64().unwrap();
    assert!(
        (mean(4) - f64::midpoint(mean(0), mean(2))).abs() < 1e-9,
        "all splits together are the mean of them"
    );
    // A stage's binary makes the same runs, one by one.
    let again = sandbox.stage("run", &recipe, &[]).expect(0).lines();
    assert_eq!(each(&again, "status"), ["hit"; 8]);
}

/// A ring of twelve people, of whom the table tells more than one thing.
pub fn people() -> Sandbox {
    let sandbox = Sandbox::stand_in();
    let name = |person: usize| format!("p{person:02}");
    let edges = (0..12).fold("source,target\n".to_owned(), |text, person| {
        text + &format!("{},{}\n", name(person), name((person + 1) % 12))
    });
    let row = |person: usize| {
        let (trade, part) = (
            ["smith", "baker", ""][person % 3],
            ["train", "train", "validation", "test"][person % 4],
        );
        format!(
            "{},{},{trade},{},{}.5,{part}\n",
            name(person),
            person % 2,
            1990 + 10 * (person % 4),
            person
        )
    };
    let nodes = (0..12)
        .fold("id,label,trade,born,height,split\n".to_owned(), |text, person| text + &row(person));
    sandbox.write("raw/people/edges.csv", edges);
    sandbox.write("raw/people/nodes.csv", nodes);
    sandbox
}

fn trained(target: &str) -> Recipe {
    Recipe::of("gcn", "people")
        .set("run.epochs=4")
        .set("plan.set.hidden=4")
        .set(&format!("run.target={target}"))
}

#[test]
fn another_column_is_learned_by_its_name() {
    let sandbox = people();
    // Every third person has no trade, and some of them are to be trained on.
    let refused = sandbox.front("pipeline", &trained("trade"), &[]).expect(1);
    refused.says(&[
        "node `p05` is a train node and has no usable label",
        "give it a label, or leave it out of the split",
    ]);
    let parts =
        (0..12).filter(|person| person % 3 < 2).fold("id,split\n".to_owned(), |text, person| {
            text + &format!("p{person:02},{}\n", ["train", "val", "test"][person / 4])
        });
    let recipe = trained("trade")
        .set(&format!("run.splits={}", sandbox.write("parts.csv", parts).display()));
    let printed = sandbox
        .warploom(&recipe.arguments(&["pipeline"]))
        .expect(0)
        .says(&["no row for 4 of 12 ids", "the first is `p02`"])
        .stdout
        .clone();
    assert!(printed.contains("learned: trade, 2 classes (0 baker, 1 smith)\n"), "{printed}");
    sandbox.front("check", &recipe, &[]).expect(0);
    let born = sandbox.build(&trained("born"));
    let height = sandbox.build(&trained("height"));
    assert_eq!(
        each(&height[..4], "status"),
        ["hit"; 4],
        "what is learned is nothing to the stages before plan"
    );
    let columns = |lines: &[Value]| {
        let run = sandbox
            .view()
            .of_kind("run")
            .into_iter()
            .find(|run| run.manifest["key"] == lines[5]["key"])
            .unwrap();
        let table = read_table(&run.path.join("predictions.parquet"), None).unwrap();
        table
            .batch
            .schema()
            .fields()
            .iter()
            .map(|field| format!("{}: {}", field.name(), field.data_type()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(columns(&height), "id: Utf8, value: Float32");
    assert!(
        columns(&born).contains("class: UInt32") && columns(&born).contains("4 x non-null Float32"),
        "{}",
        columns(&born)
    );
    let unknown = sandbox.front("pipeline", &trained("heigth"), &[]).expect(1);
    unknown.says(&[
        "`run.target: heigth` is no column of the nodes",
        "nodes.parquet",
        "expected one of `height`, `label`",
        "hint: --set run.target=height",
    ]);
}

#[test]
fn a_column_of_graphs_survives_an_export_and_is_learned() {
    let sandbox = Sandbox::stand_in();
    sandbox.write(
        "raw/sets/edges.csv",
        (0..16).step_by(2).fold("source,target\n".to_owned(), |text, node| {
            text + &format!("{node},{}\n", node + 1)
        }),
    );
    sandbox.write(
        "raw/sets/nodes.csv",
        (0..16).fold("id,graph,x0,x1\n".to_owned(), |text, node| {
            text + &format!("{node},{},{},1\n", node / 2, node % 5)
        }),
    );
    let graph = |graph: usize| {
        format!(
            "{graph},{},{},{}\n",
            graph % 2,
            ["acid", "base", "salt"][graph % 3],
            ["train", "validation", "test", "train"][graph % 4]
        )
    };
    sandbox.write(
        "raw/sets/graphs.csv",
        (0..8).fold("id,label,kind_of,split\n".to_owned(), |text, row| text + &graph(row)),
    );
    let file =
        sandbox.write("model.py", "def model(v):\n    return linear(pool_sum(v.x), v.classes)\n");
    let text = format!(
        "dataset: sets\nplan: {{program: {}}}\nrun: {{epochs: 3, target: kind_of}}\n",
        file.display()
    );
    let recipe = Recipe::file(sandbox.write("graphs.yaml", text));
    let printed = sandbox.warploom(&recipe.arguments(&["pipeline"])).expect(0).stdout;
    assert!(printed.contains("learned: kind_of, 3 classes (0 acid, 1 base, 2 salt)"), "{printed}");
    sandbox.front("check", &recipe, &[]).expect(0);
    for form in ["csv", "parquet"] {
        let folder = sandbox.path(&format!("out-{form}"));
        sandbox
            .warploom(&["export", "graph", "-o", folder.to_str().unwrap(), "--as", form])
            .expect(0);
        let again = sandbox
            .with_store(format!("store-{form}"))
            .with_data(sandbox.path(&format!("raw-{form}")));
        fs::create_dir_all(&again.data).unwrap();
        fs::rename(&folder, again.data.join("sets")).unwrap();
        again.front("pipeline", &recipe, &[]).expect(0);
        let digest = |sandbox: &Sandbox| {
            sandbox.view().of_kind("graph").remove(0).manifest["digest"].clone()
        };
        assert_eq!(digest(&again), digest(&sandbox), "{form}");
    }
}

#[test]
fn an_exported_table_of_nodes_is_a_table_of_parts_and_relative_paths_start_where_they_stand() {
    let sandbox = people();
    let plain = sandbox.build(&trained("born"));
    let predicted = |key: &Value| {
        let run = sandbox
            .view()
            .of_kind("run")
            .into_iter()
            .find(|run| run.manifest["key"] == *key)
            .unwrap();
        fs::read(run.path.join("predictions.parquet")).unwrap()
    };
    for form in ["csv", "parquet"] {
        let folder = sandbox.path(&format!("out-{form}"));
        sandbox
            .warploom(&["export", "graph", "-o", folder.to_str().unwrap(), "--as", form])
            .expect(0);
        // The programs start in the sandbox's folder.
        let lines =
            sandbox.build(&trained("born").set(&format!("run.splits=out-{form}/nodes.{form}")));
        assert_eq!(lines[5]["status"], "built");
        assert!(
            predicted(&lines[5]["key"]) == predicted(&plain[5]["key"]),
            "{form}: other predictions"
        );
    }
    let program = repository().join("pipelines/programs/gcn.py");
    let run = |splits: &str| {
        let text = format!(
            "dataset: people\nplan: {{program: {}}}\nrun: {{epochs: 4, target: born{splits}}}\n",
            program.display()
        );
        sandbox.build(&Recipe::file(sandbox.write("pipelines/people.yaml", text)))[5]["key"].clone()
    };
    let (own, table) = (run(""), run(", splits: ../out-csv/nodes.csv"));
    assert!(own != table && predicted(&own) == predicted(&table));
}

/// The artifact of the last line of a build.
fn made(sandbox: &Sandbox, lines: &[Value]) -> StoredArtifact {
    let key = &lines.last().expect("a line")["key"];
    sandbox
        .view()
        .of_kind("run")
        .into_iter()
        .find(|run| run.manifest["key"] == *key)
        .expect("a run of this key")
}

#[test]
fn rows_of_sixteen_bits_take_less_and_are_proved() {
    let sandbox = Sandbox::stand_in();
    for program in ["gcn", "sage", "gin", "gat", "gatv2", "graph_transformer", "appnp", "gcnii"] {
        // Features of 32 bits stay mapped or are there twice while they are rounded: these are
        // narrow, and rows that launches make decide.
        let recipe = Recipe::of(program, "cora")
            .set("ingest.features=degree")
            .set("run.epochs=3")
            .set("plan.set.hidden=64");
        let whole = made(&sandbox, &sandbox.build(&recipe));
        // The sums of gin go beyond 65504 here.
        for dtype in ["bf16", "f16"].into_iter().filter(|dtype| (program, *dtype) != ("gin", "f16"))
        {
            let recipe = recipe.clone().set(&format!("run.dtype={dtype}"));
            let half = made(&sandbox, &sandbox.build(&recipe));
            sandbox.front("check", &recipe, &[]).expect(0);
            assert_eq!(half.record()["dtype"], dtype);
            let wanted =
                |run: &StoredArtifact| run.record()["bytes_predicted"].as_u64().expect("a number");
            assert!(
                wanted(&half) < wanted(&whole),
                "{program} in {dtype}: {} of {}",
                wanted(&half),
                wanted(&whole)
            );
        }
    }
}

#[test]
fn rows_of_sixteen_bits_have_the_same_bits_for_any_number_of_threads_and_predict() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gat", "cora")
        .set("ingest.features=random")
        .set("run.epochs=4")
        .set("run.dtype=bf16");
    let first = made(&sandbox, &sandbox.build(&recipe)).manifest["digest"].clone();
    let other = sandbox.with_store("other");
    let lines = other.front("pipeline", &recipe, &["--threads", "1"]).expect(0).stages();
    assert_eq!(made(&other, &lines).manifest["digest"], first);
    let parameters = made(&sandbox, &sandbox.build(&recipe)).path.join("parameters.safetensors");
    let predicting =
        recipe.clone().set("run.mode=infer").set(&format!("run.init={}", parameters.display()));
    sandbox.build(&predicting);
    sandbox.front("check", &predicting, &[]).expect(0);
    let error = sandbox
        .front("pipeline", &Recipe::of("pagerank", "karate").set("run.dtype=f16"), &[])
        .expect(1);
    error.says(&[
        "`run.dtype: f16` is for programs that learn",
        "`pagerank` has nothing to learn",
        "hint: leave  run.dtype  out",
    ]);
}

#[test]
fn numbers_beyond_f16_are_told_with_the_way_out() {
    let sandbox = Sandbox::stand_in();
    let text = "def large(v):\n    v.h = linear(100000 * v.x, 16)\n    return linear(sum(u.h for \
        u in v.innbs), v.classes)\n";
    sandbox.write("large.py", text);
    let pipeline = sandbox.write(
        "large.yaml",
        "pipeline: large\ndataset: cora\nplan: {program: large.py}\nrun: {epochs: 1, dtype: f16}\n",
    );
    let recipe = Recipe::file(pipeline).set("run.optimizer.adam.lr=0.000001");
    sandbox.front("pipeline", &recipe, &[]).expect(1).says(&[
        "the loss is",
        "the first launch that made a number that is not finite is",
        "--set run.dtype=bf16",
    ]);
    sandbox.build(&recipe.set("run.dtype=bf16"));
}

/// Scores by attention, and another entry for its shares.
const ATTENTION: &str = "def own(v):\n    v.z, shares = attention(v)\n    return sum(a * e.src.z for a, e in zip(shares, v.inedges))\n\n\
def shares(v):\n    v.z, shares = attention(v)\n    return shares, v.z, sum(a * e.src.z for a, e in zip(shares, v.inedges))\n\n\
def attention(v):\n    v.z = linear(v.x, v.classes)\n    return v.z, softmax([dot(e.src.z, v.z) for e in v.inedges])\n";

#[test]
fn what_was_learned_is_applied_to_lists_of_edges() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("own.py", ATTENTION);
    let file = sandbox.write(
        "own.yaml",
        "pipeline: own\ndataset: karate\nplan: {program: own.py}\nrun: {epochs: 20}\n",
    );
    let trained = Recipe::file(file);
    let folder_of = |lines: &[serde_json::Value]| {
        std::path::PathBuf::from(lines[5]["artifacts"][0]["path"].as_str().unwrap())
    };
    let learned = folder_of(&sandbox.build(&trained));
    let both = Recipe::file(sandbox.write(
        "shares.yaml",
        "pipeline: shares\ndataset: karate\nplan: {program: 'own.py:shares'}\n",
    ));
    sandbox.front("pipeline", &both, &[]).expect(1).says(&[
        "training needs one result",
        "run.mode=infer",
        "run.init",
    ]);
    let applied = both
        .set("run.mode=infer")
        .set(&format!("run.init={}", learned.join("parameters.safetensors").display()));
    let folder = folder_of(&sandbox.build(&applied));
    sandbox.front("check", &applied, &[]).expect(0);
    let edges = read_table(&folder.join("edge_values.parquet"), None).unwrap();
    let (shares, targets) =
        (edges.numbers::<f32>("shares").unwrap(), edges.numbers::<u64>("target").unwrap());
    let mut sums = std::collections::BTreeMap::<u64, f32>::new();
    targets
        .iter()
        .zip(&shares)
        .for_each(|(target, share)| *sums.entry(*target).or_default() += share);
    assert!(sums.len() == 34 && sums.values().all(|sum| (sum - 1.0).abs() < 1e-5), "{sums:?}");
    // The scores among the values are those that training left.
    let scores = |path: &std::path::Path, name: &str| {
        format!("{:?}", read_table(path, None).unwrap().column(name).unwrap())
    };
    let values = read_table(&folder.join("values.parquet"), None).unwrap();
    let last = values.batch.schema().fields().last().unwrap().name().clone();
    assert_eq!(
        scores(&folder.join("values.parquet"), &last),
        scores(&learned.join("predictions.parquet"), "scores")
    );
}
