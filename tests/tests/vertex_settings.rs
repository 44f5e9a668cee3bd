//! Proves that a setting that stands for a vertex is an id of the data set, that one plan serves
//! every source, and that an id which is not there is refused before any work.
use std::collections::{BTreeMap, VecDeque};

use arrow_array::{cast::AsArray, types::Int64Type};
use serde_json::Value;
use warploom_contract::parquet_file::read_table;
use warploom_test_support::draws::Draws;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

use crate::pipeline::each;

const NODES: u32 = 60;

/// The ids of a data set, by number: ascending numbers, or words.
pub fn id(number: u32, words: bool) -> String {
    if words { format!("user_{number:03}") } else { format!("{}", 7 * number + 30) }
}

/// Edges drawn by lot; the last node has none that comes in.
fn edges() -> Vec<(u32, u32)> {
    let mut draws = Draws::seeded(5);
    let mut draw = |most: u32| (draws.unit() * f64::from(most)) as u32;
    let mut edges: Vec<(u32, u32)> = (0..150).map(|_| (draw(NODES), draw(NODES - 1))).collect();
    // Every node leads on, so that ranks of several sources are the mean of those of each.
    edges.extend(
        (0..NODES - 1).flat_map(|node| [(NODES - 1, node), (node, (node + 1) % (NODES - 1))]),
    );
    edges.sort_unstable();
    edges.dedup();
    edges
}

pub fn sandbox(words: bool) -> Sandbox {
    let sandbox = Sandbox::stand_in();
    let lines = edges()
        .iter()
        .map(|(from, to)| format!("{},{}\n", id(*from, words), id(*to, words)))
        .collect::<String>();
    sandbox.write("raw/mine/edges.csv", format!("source,target\n{lines}"));
    sandbox
}

/// Levels from a node, by an independent search.
pub fn levels(source: u32) -> BTreeMap<u32, i64> {
    let (edges, mut level, mut open) =
        (edges(), BTreeMap::from([(source, 0)]), VecDeque::from([source]));
    while let Some(node) = open.pop_front() {
        for (_, to) in edges.iter().filter(|(from, _)| *from == node) {
            if !level.contains_key(to) {
                level.insert(*to, level[&node] + 1);
                open.push_back(*to);
            }
        }
    }
    level
}

/// Levels as the run wrote them, by own id; without those out of reach.
fn found(line: &Value) -> BTreeMap<String, i64> {
    let table = read_table(&folder(line, "run").join("values.parquet"), None).unwrap();
    let ids = as_text(table.column("id").unwrap());
    let levels = table.column("level").unwrap().as_primitive::<Int64Type>().values().to_vec();
    ids.into_iter().zip(levels).filter(|(_, level)| *level >= 0).collect()
}

pub fn as_text(ids: &arrow_array::ArrayRef) -> Vec<String> {
    match ids.as_string_opt::<i32>() {
        Some(words) => words.iter().map(|word| word.unwrap().to_owned()).collect(),
        None => ids
            .as_primitive::<arrow_array::types::UInt64Type>()
            .values()
            .iter()
            .map(u64::to_string)
            .collect(),
    }
}

#[test]
fn a_source_is_an_id_and_one_plan_serves_every_source() {
    for words in [false, true] {
        let sandbox = sandbox(words);
        let recipe =
            |source: &str| Recipe::of("bfs", "mine").set(&format!("plan.set.source={source}"));
        let built = ["built"; crate::pipeline::STAGES.len()];
        let again = ["hit", "hit", "hit", "hit", "hit", "built"];
        for (number, statuses) in [(3, built), (17, again), (59, again)] {
            let lines = sandbox.build(&recipe(&id(number, words)));
            assert_eq!(each(&lines, "status"), statuses);
            let want: BTreeMap<String, i64> =
                levels(number).into_iter().map(|(node, level)| (id(node, words), level)).collect();
            assert_eq!(found(&lines[5]), want, "from {number}, words: {words}");
        }
        sandbox.front("check", &recipe(&id(17, words)), &[]).expect(0);
        // What the pipeline names is the first row, as `row:0` and as the program's default.
        let first = sandbox.build(&Recipe::of("bfs", "mine"));
        assert_eq!(found(&first[5]).get(&id(0, words)), Some(&0));
        assert_eq!(
            each(&sandbox.build(&recipe("row:0")), "status"),
            ["hit"; crate::pipeline::STAGES.len()]
        );
    }
}

#[test]
fn an_id_that_is_not_there_is_refused_before_any_work() {
    let numbers = sandbox(false);
    let refused = |sandbox: &Sandbox, source: &str, says: &[&str]| {
        let recipe = Recipe::of("bfs", "mine").set(&format!("plan.set.source={source}"));
        let output = sandbox.front("pipeline", &recipe, &[]).expect(1).says(says);
        let stages: Vec<Value> = output.stages().iter().map(|line| line["stage"].clone()).collect();
        assert_eq!(stages, ["ingest", "run"], "{source}: nothing is made after the graph");
    };
    refused(
        &numbers,
        "99999999",
        &[
            "`plan.set.source` names `99999999`",
            "the nearest: 443, 436, 429",
            "hint: --set plan.set.source=443",
        ],
    );
    refused(&numbers, "3", &["the nearest: 30, 37, 44", "hint: --set plan.set.source=row:3 "]);
    refused(&numbers, "row:60", &["names row 60", "expected a row from 0 to 59"]);
    refused(&numbers, "user_003", &["expected a number, as the ids of this data set are"]);
    let words = sandbox(true);
    refused(&words, "user_0030", &["names `user_0030`", "the nearest: user_003"]);
    // What looks like a number is the id as it is written.
    for word in ["1.5", "1e5", "0x10", "yes", "007"] {
        refused(&words, word, &[&format!("names `{word}`"), "expected an id of the data set"]);
    }
    refused(
        &numbers,
        "0x1e",
        &["names `0x1e`", "expected a number, as the ids of this data set are"],
    );
    for (wrong, said) in [("[user_003]", "expected one id"), ("-3", "row:0")] {
        let recipe = Recipe::of("bfs", "mine").set(&format!("plan.set.source={wrong}"));
        words
            .front("pipeline", &recipe, &[])
            .expect(1)
            .says(&["the setting `source` does not fit", said]);
    }
    let recipe = Recipe::of("bfs", "mine").set("plan.set.source=user_003");
    words.build(&recipe);
    let absent = Recipe::of("bfs", "mine").set("plan.set.source=nobody");
    words.stage("run", &absent, &[]).expect(1).says(&["names `nobody`"]);
}

#[test]
fn a_list_of_sources_shares_the_ranks_out() {
    let sandbox = sandbox(true);
    let ranks = |source: &str| {
        let recipe = Recipe::of("personalized_pagerank", "mine")
            .set(&format!("plan.set.source={source}"))
            .set("plan.set.tolerance=1e-12")
            .set("run.dtype=f64");
        let lines = sandbox.build(&recipe);
        let table = read_table(&folder(&lines[5], "run").join("values.parquet"), None).unwrap();
        (
            lines[4]["status"].as_str().unwrap().to_owned(),
            table
                .column("rank")
                .unwrap()
                .as_primitive::<arrow_array::types::Float64Type>()
                .values()
                .to_vec(),
        )
    };
    // Of several the one that is not there is pointed at, and is the one that the hint replaces.
    let absent =
        Recipe::of("personalized_pagerank", "mine").set("plan.set.source=[user_003, user_0170]");
    let absent = sandbox
        .front("pipeline", &absent, &[])
        .expect(1)
        .says(&["names `user_0170`", "--set 'plan.set.source=[user_003, user_017]'"]);
    let caret = format!(
        "\n       |  {}^^^^^^^^^ expected an id",
        " ".repeat("plan.set.source=[user_003, ".len())
    );
    assert!(absent.stderr.contains(&caret), "{absent}");
    let (one, other) = (ranks("user_003"), ranks("[user_017]"));
    let (plan, both) = ranks("[user_017, user_003]");
    assert_eq!(plan, "hit");
    let mean = one.1.iter().zip(&other.1).map(|(one, other)| (one + other) / 2.0);
    assert!(both.iter().zip(mean).all(|(both, mean)| (both - mean).abs() < 1e-10), "{both:?}");
}
