//! Proves that `run.sources` searches from each of several vertices in one run, by ids that are
//! numbers or words, and that what cannot be searched is refused before the first stage.
use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Array, cast::AsArray, types::Int64Type};
use serde_json::{Value, json};
use warploom_contract::parquet_file::read_table;
use warploom_test_support::sandbox::Recipe;
use warploom_test_support::store_view::folder;

use crate::pipeline::each;
use crate::vertex_settings::{as_text, id, levels, sandbox};

const BUILT: [&str; 6] = ["built"; 6];
const RUN_BUILT: [&str; 6] = ["hit", "hit", "hit", "hit", "hit", "built"];

fn recipe(sources: &str) -> Recipe {
    Recipe::of("bfs", "mine").set(&format!("run.sources={sources}"))
}

/// Levels by source and own id, as the run wrote them; without those out of reach.
fn found(line: &Value) -> BTreeMap<String, BTreeMap<String, i64>> {
    let table = read_table(&folder(line, "run").join("values.parquet"), None).unwrap();
    let level = table.column("level").unwrap().as_primitive::<Int64Type>();
    assert_eq!(level.null_count(), 0);
    let ids = ["source", "id"].map(|name| as_text(table.column(name).unwrap()));
    let mut found: BTreeMap<String, BTreeMap<String, i64>> = BTreeMap::new();
    for ((source, id), level) in ids[0].iter().zip(&ids[1]).zip(level.values()) {
        let of_source = found.entry(source.clone()).or_default();
        if *level >= 0 {
            of_source.insert(id.clone(), *level);
        }
    }
    found
}

#[test]
fn one_run_searches_from_each_source() {
    for words in [false, true] {
        let sandbox = sandbox(words);
        let expected = |numbers: &[u32]| -> BTreeMap<String, BTreeMap<String, i64>> {
            let own = |number: &u32| {
                let levels = levels(*number).into_iter();
                (id(*number, words), levels.map(|(node, level)| (id(node, words), level)).collect())
            };
            numbers.iter().map(own).collect()
        };
        let list = format!("[{}, {}, row:5]", id(17, words), id(3, words));
        let lines = sandbox.build(&recipe(&list));
        assert_eq!(
            (each(&lines, "status"), found(&lines[5])),
            (BUILT.into(), expected(&[17, 3, 5]))
        );
        // The plan serves other sources, and a single search.
        let lines = sandbox.build(&recipe("[row:59]"));
        assert_eq!((each(&lines, "status"), found(&lines[5])), (RUN_BUILT.into(), expected(&[59])));
        let single = Recipe::of("bfs", "mine").set("plan.set.source=row:17");
        assert_eq!(each(&sandbox.build(&single), "status"), RUN_BUILT);
        assert_eq!(each(&sandbox.build(&recipe(&list)), "status"), ["hit"; 6]);
        sandbox.front("check", &recipe(&list), &[]).expect(0);
        sandbox.front("explain", &recipe(&list), &[]).expect(0);
    }
}

#[test]
fn searches_are_listed_and_exported() {
    let sandbox = sandbox(true);
    let output = sandbox.front("pipeline", &recipe("[user_003, user_017]"), &[]).expect(0);
    let lines = output.lines();
    let summary = &lines.last().unwrap()["summary"];
    assert_eq!((&summary["searches"], &summary["status"]), (&json!(2), &json!("done")));
    assert!(summary["median_search"]["seconds"].as_f64().unwrap() > 0.0, "{summary}");
    let runs = sandbox.warploom(&["runs", "--format", "json"]).expect(0).lines();
    assert_eq!(runs[0]["searches"], json!(2));
    sandbox.warploom(&["runs"]).expect(0).prints(&["2 searches"]);
    let record = folder(&output.stages()[5], "run").join("record.json");
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let searches = record["searches"].as_array().unwrap();
    assert_eq!(each(searches, "source"), ["user_003", "user_017"]);
    assert!(searches.iter().all(|search| search["converged"] == json!(true)
        && search["supersteps"].as_u64().unwrap() > 0
        && search["seconds"].as_f64().unwrap() > 0.0));
    let out = sandbox.path("out");
    let out = out.to_str().unwrap();
    sandbox.warploom(&["export", "last", "-o", out, "--as", "csv"]).expect(0);
    let table = std::fs::read_to_string(format!("{out}/values.csv")).unwrap();
    assert!(table.starts_with("source,id,level,parent\nuser_003,user_000,"), "{table}");
    // The front door names the searches at its end, too.
    let arguments = recipe("[user_003, user_017]").arguments(&["pipeline"]);
    sandbox
        .warploom(&arguments)
        .expect(0)
        .prints(&["2 searches; median of a search: ", "all converged"]);
}

#[test]
fn a_list_is_one_value_of_a_matrix() {
    let sandbox = sandbox(false);
    let matrix = Recipe::of("bfs", "mine").set("matrix={run.sources: [[row:1, row:2], [row:3]]}");
    let output = sandbox.front("pipeline", &matrix, &[]).expect(0);
    let counts: Vec<Value> = output
        .lines()
        .iter()
        .filter(|line| line.get("summary").is_some())
        .map(|line| line["summary"]["searches"].clone())
        .collect();
    assert_eq!(counts, [json!(2), json!(1)]);
    let plans: BTreeSet<String> = output
        .stages()
        .iter()
        .filter(|line| line["stage"] == "plan")
        .map(|line| line["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(plans.len(), 1, "one plan for all");
}

#[test]
fn what_cannot_be_searched_is_refused_before_the_first_stage() {
    let sandbox = sandbox(false);
    let program = |name: &str, text: &str| {
        let path = sandbox.write(&format!("{name}.py"), text);
        Recipe::of("bfs", "mine").set(&format!("plan={{program: {}}}", path.display()))
    };
    let sources = "run.sources=[30, 37]";
    let near = "    v.near = any(u.id == source for u in v.innbs)\n";
    let two = program(
        "two",
        "def two(v, source=0, target=1):\n    return v.id == source or v.id == target\n",
    );
    let edges = program(
        "edges",
        &format!(
            "def edges(v, source=0):\n{near}    w = [e.w for e in v.inedges]\n    \
             return v.near, w\n"
        ),
    );
    let named = program(
        "named",
        "def named(v, start=0):\n    v.source = v.id == start\n    return v.source\n",
    );
    let cases: [(Recipe, &[&str]); 9] = [
        (Recipe::of("bfs", "mine").set("run.sources=[]"), &["empty list", "at least one vertex"]),
        (recipe("[30, 37, 30]"), &["names the vertex `30` twice", "hint: keep one of the two"]),
        (recipe("[row:1, 'row:01']"), &["names the vertex `row:1` twice"]),
        (
            Recipe::of("pagerank", "mine").set(sources),
            &[
                "needs a program with one setting",
                "`pagerank` has none",
                "hint: leave  run.sources",
            ],
        ),
        (two.set(sources), &["`two` has several", "found `source` and `target`"]),
        (
            Recipe::of("personalized_pagerank", "mine").set(sources),
            &["takes several vertices at once", "matrix: {plan.set.source: [ID, ID]}"],
        ),
        (
            Recipe::of("gcn", "mine").set(sources),
            &["for programs without parameters", "`gcn` has parameters to learn"],
        ),
        (edges.set(sources), &["does not write values of edges"]),
        (named.set(sources), &["the program returns `source`", "hint: give the result another"]),
    ];
    for (recipe, says) in cases {
        let output = sandbox.front("pipeline", &recipe, &[]).expect(1).says(says);
        let stages = output.stages();
        assert!(stages.iter().all(|line| line["status"] == "failed"), "{output}");
    }
    let both = recipe("[30]").set("plan.set.source=37");
    sandbox.front("pipeline", &both, &[]).expect(1).says(&[
        "`plan.set.source` and `run.sources` both say where the program starts",
        "run.sources=null",
    ]);
}

#[test]
fn what_the_graph_shows_is_refused_after_ingest() {
    let sandbox = sandbox(false);
    let graph = |sources: &str, says: &[&str]| {
        let output = sandbox.front("pipeline", &recipe(sources), &[]).expect(1).says(says);
        let stages: Vec<Value> = output.stages().iter().map(|line| line["stage"].clone()).collect();
        assert_eq!(stages, ["ingest", "run"], "{output}");
    };
    graph(
        "[30, 450]",
        &["`run.sources` names `450`", "the nearest: 443, 436, 429", "'run.sources=[30, 443]'"],
    );
    graph("[37, row:1]", &["`run.sources` names the vertex `37` twice"]);
}
