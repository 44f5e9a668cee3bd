//! searches: `run.sources`, several searches over one loaded graph.
//!
//! promises  each block of values.parquet is that of a run of its own, bit for bit, on the CPU and
//!           on a GPU: for numbers and words as ids, in any order of the nodes, by shortcut
//!           algorithms and by supersteps, whatever number of supersteps came before
use std::path::Path;

use arrow_array::{Array, ArrayRef, cast::AsArray, types::UInt64Type};
use warploom_contract::{
    Artifact, ErrorKind, StageError,
    kinds::{graph::Ids, run::VALUES_FILE},
    parquet_file::{read_table, write_table},
    progress::{Silence, StopFlag},
};
use warploom_run::RunStage;
use warploom_spec::Pipeline;

use crate::custom_programs::{own_text, proved, symmetric, weighted};
use crate::threads::in_pool;
use warploom_test_support::stage_runner::{GraphTables, RunFiles, StageRunner, finished};

/// Two loops, launches between them, and results of all types.
const WALK: &str = "def walk(v, start=0, tolerance=1e-4):
    v.home = 1.0 if v.id == start else 0.0
    v.rank = v.home
    while change(v.rank) > tolerance:
        v.rank = 0.2 * v.home + 0.8 * sum(u.rank / u.outdegree for u in v.innbs)
    v.level = 0 if v.rank > 0 else v.graph.nodes
    while changed(v.level):
        v.level = min(v.level, min(u.level + 1 for u in v.innbs))
    return v.rank, v.level, v.home > 0.5
";

/// Rows that searches start from: near each other and apart, not in order.
const ROWS: [usize; 5] = [17, 3, 4, 59, 0];

fn words(mut given: GraphTables) -> GraphTables {
    let count = given.nodes.ids.len();
    given.nodes.ids = Ids::Strings((0..count).map(|node| format!("user_{node:04}")).collect());
    given
}

fn id(ids: &Ids, row: usize) -> String {
    match ids {
        Ids::Numbers(ids) => ids[row].to_string(),
        Ids::Strings(ids) => ids[row].clone(),
    }
}

/// The pipeline of a program, from these sources or from one vertex.
fn pipeline(runner: &StageRunner, program: &str, (set, run): (&str, &str), more: &str) -> Pipeline {
    let rest = format!("  set: {{{set}}}\n{more}\nrun: {{{run}}}");
    match program {
        "walk" => own_text(runner, "walk", WALK, &rest),
        shipped => runner.pipeline(shipped, &rest),
    }
}

fn all_columns(left: &RunFiles) -> Vec<(String, ArrayRef)> {
    let batch = left.table(VALUES_FILE).batch;
    let names =
        batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    names.into_iter().zip(batch.columns().iter().cloned()).collect()
}

/// The sources of all rows, as texts.
fn sources_of_rows(left: &RunFiles) -> Vec<String> {
    let table = left.table(VALUES_FILE);
    let column = table.column("source").unwrap();
    match column.as_string_opt::<i32>() {
        Some(words) => words.iter().map(|word| word.unwrap().to_owned()).collect(),
        None => column.as_primitive::<UInt64Type>().values().iter().map(u64::to_string).collect(),
    }
}

/// Runs all searches at once and each alone, and compares everything.
fn same_as_single_runs(given: &GraphTables, program: &str, setting: &str, more: &str, run: &str) {
    let runner = StageRunner::new();
    let graph = runner.graph(given);
    let what = format!("{program}, {more}, {run}");
    let ids = ROWS.map(|row| id(&given.nodes.ids, row));
    let named = [&ids[0], &ids[1], &ids[2], "row:59", &ids[4]].join(", ");
    let run_all = format!("sources: [{named}]{run}");
    let all = proved(&runner, &graph, &pipeline(&runner, program, ("", &run_all), more));
    let record = all.record();
    assert_eq!(record.searches.len(), ROWS.len(), "{what}");
    let expected: Vec<String> =
        ids.iter().flat_map(|id| vec![id.clone(); given.nodes.ids.len()]).collect();
    assert_eq!(sources_of_rows(&all), expected, "{what}");
    let columns = all_columns(&all);
    assert_eq!(columns[0].0, "source");
    for (number, (row, search)) in ROWS.into_iter().zip(&record.searches).enumerate() {
        let set = format!("{setting}: row:{row}");
        let run = run.trim_start_matches(", ");
        let one = finished(&runner, &graph, &pipeline(&runner, program, (&set, run), more));
        let single = one.record();
        let text = search.source.as_str().map_or_else(|| search.source.to_string(), str::to_owned);
        assert_eq!(text, ids[number], "{what}");
        assert_eq!(
            (search.supersteps, &search.supersteps_of_loops, &search.courses, search.converged),
            (single.supersteps, &single.supersteps_of_loops, &single.courses, single.converged),
            "{what}, from row {row}"
        );
        let count = given.nodes.ids.len();
        let singles = all_columns(&one);
        assert_eq!(singles.len() + 1, columns.len(), "{what}");
        for ((name, expected), (found_name, found)) in singles.iter().zip(&columns[1..]) {
            assert_eq!(name, found_name);
            let found = found.slice(number * count, count);
            assert!(*found == **expected, "{what}, from row {row}: `{name}` differs");
        }
    }
    assert_eq!(record.supersteps, record.searches.iter().map(|one| one.supersteps).sum::<u64>());
    let mut supersteps: Vec<u64> = record.searches.iter().map(|one| one.supersteps).collect();
    supersteps.sort_unstable();
    assert_eq!(record.median_search.unwrap().supersteps, supersteps[2] as f64);
}

#[test]
fn a_search_is_a_run_of_its_own() {
    for more in ["reorder: {method: none}", "reorder: {method: degree}"] {
        for run in ["", ", max_supersteps: 9999"] {
            same_as_single_runs(&weighted(), "bfs", "source", more, run);
            same_as_single_runs(&weighted(), "sssp", "source", more, run);
            same_as_single_runs(&words(symmetric()), "sssp", "source", more, run);
            same_as_single_runs(&words(weighted()), "walk", "start", more, run);
        }
    }
    same_as_single_runs(&weighted(), "sssp", "source", "", ", dtype: f64");
    // Loops that end at a bound, after an odd number of supersteps.
    let bound = ", max_supersteps: 3, allow_unconverged: true";
    same_as_single_runs(&weighted(), "walk", "start", "reorder: {method: degree}", bound);
}

#[test]
fn threads_change_no_byte_of_several_searches() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let pipeline = pipeline(&runner, "walk", ("", "sources: [row:3, row:9, row:4]"), "");
    let runs = [1, 3].map(|threads| in_pool(threads, || finished(&runner, &graph, &pipeline)));
    assert!(runs[0].fixed() == runs[1].fixed());
}

/// The documents of plan and run of a pipeline.
fn documents(runner: &StageRunner, graph: &Artifact, run: &str) -> [String; 2] {
    let pipeline = pipeline(runner, "bfs", ("", run), "");
    let chain = runner.planned(graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let plan = chain.key_document(warploom_shell::StageName::Plan).unwrap();
    let run = chain.resolve_step::<<RunStage as warploom_contract::Stage>::Request>().unwrap();
    [plan.key().to_string(), run.document.key().to_string()]
}

#[test]
fn sources_are_in_the_key_of_the_run_alone() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let of = |run: &str| documents(&runner, &graph, run);
    let [plan, none] = of("");
    let [plan_of_null, null] = of("sources: null");
    assert_eq!((&plan, &none), (&plan_of_null, &null), "`null` is as if it were not there");
    let [plan_of_some, some] = of("sources: [3, 13]");
    assert_eq!(plan, plan_of_some);
    assert_ne!(none, some);
    assert_eq!(of("sources: ['3', \"13\"]")[1], some, "quotes change nothing");
    for other in
        ["sources: [13, 3]", "sources: [3]", "sources: [3, 13, 23]", "sources: [row:0, 13]"]
    {
        assert_ne!(of(other)[1], some, "{other}");
    }
}

fn refused(runner: &StageRunner, graph: &Artifact, pipeline: &Pipeline) -> StageError {
    let chain = runner.planned(graph, pipeline);
    let ran = chain.and_then(|chain| runner.run(&chain, &Silence, &StopFlag::new()).map(drop));
    ran.expect_err("refused")
}

#[test]
fn a_search_that_fails_is_named_by_its_source() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let run = "sources: [row:3, row:9], max_supersteps: 2";
    let error = refused(&runner, &graph, &pipeline(&runner, "bfs", ("", run), ""));
    assert_eq!(error.kind, ErrorKind::LimitReached);
    let what = "search 1 of 2, from `33`: not converged after 2 supersteps";
    assert!(error.what.starts_with(what), "{error}");
    // An id and a row may be one vertex, which only the graph shows.
    let twice = pipeline(&runner, "bfs", ("", "sources: [13, 23, row:1]"), "");
    let error = refused(&runner, &graph, &twice);
    assert!(error.what.contains("`run.sources` names the vertex `13` twice"), "{error}");
    let absent = pipeline(&runner, "bfs", ("", "sources: [13, 232]"), "");
    let error = refused(&runner, &graph, &absent);
    assert!(error.what.contains("`run.sources` names `232`, and no node"), "{error}");
    assert_eq!(error.hint.as_deref(), Some("--set 'run.sources=[13, 233]'"));
}

#[test]
fn a_stop_says_that_nothing_is_kept() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let pipeline = pipeline(&runner, "bfs", ("", "sources: [row:3, row:9]"), "");
    let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let stop = StopFlag::new();
    let error = {
        // The stage loads the graph first, and says so where it is stopped by then.
        let listener = StopAtSearches { stop: &stop };
        runner.run(&chain, &listener, &stop).map(drop).expect_err("stopped")
    };
    assert_eq!(error.kind, ErrorKind::Stopped);
    assert!(
        error.what.contains("in search 1 of 2; nothing of a run with `run.sources` is kept")
            && error.what.contains("The same command begins the run again"),
        "{error}"
    );
    // Nothing is left to resume from, and the same chain runs to its end.
    let again =
        runner.run(&chain, &Silence, &StopFlag::new()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.record().searches.len(), 2);
}

/// Asks for a stop once searches begin.
struct StopAtSearches<'a> {
    stop: &'a StopFlag,
}

impl warploom_contract::progress::Progress for StopAtSearches<'_> {
    fn begin(&self, what: &str, _: u64, _: &'static str) {
        if what == "searching" {
            self.stop.set();
        }
    }
    fn advance(&self, _: u64) {}
    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

/// The run with another table of values.
fn with_values(runner: &StageRunner, run: &Artifact, name: &str, values: &Path) -> Artifact {
    let path = runner.folder.path().join(name);
    std::fs::create_dir(&path).unwrap();
    std::fs::copy(run.file("record.json"), path.join("record.json")).unwrap();
    std::fs::copy(values, path.join(VALUES_FILE)).unwrap();
    Artifact { path, ..run.clone() }
}

#[test]
fn a_check_finds_a_block_of_another_search() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let published = |run: &str| {
        let pipeline = pipeline(&runner, "sssp", ("", run), "");
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let artifact = runner.published(&chain).unwrap();
        runner.check(&chain, &artifact).unwrap();
        artifact
    };
    let first = published("sources: [row:3, row:9]");
    let turned = published("sources: [row:9, row:3]").file(VALUES_FILE);
    let asked = pipeline(&runner, "sssp", ("", "sources: [row:3, row:9]"), "");
    let chain = runner.planned(&graph, &asked).unwrap_or_else(|error| panic!("{error}"));
    let error = runner.check(&chain, &with_values(&runner, &first, "turned", &turned)).unwrap_err();
    assert!(error.what.contains("the column `source` is not 33 in every row"), "{error}");
    // The right sources with the values of others.
    let table = read_table(&first.file(VALUES_FILE), None).unwrap();
    let other = read_table(&turned, None).unwrap();
    let schema = table.batch.schema();
    let columns = schema.fields().iter().enumerate().map(|(number, field)| {
        let from = if field.name() == "distance" { &other } else { &table };
        (field.as_ref().clone(), from.batch.column(number).clone())
    });
    let path = runner.folder.path().join("exchanged.parquet");
    write_table(&path, columns.collect()).unwrap();
    let error =
        runner.check(&chain, &with_values(&runner, &first, "exchanged", &path)).unwrap_err();
    assert!(error.what.contains("column `distance`"), "{error}");
}
