//! Proves that runs walk by the groups of neighbours that `partition` made, on a CPU and on the
//! emulated GPU, with the same results as by rows (exactly for integers, minima and maxima, to
//! rounding else), for any number of threads; that `plan.schedule` says by launch what goes by
//! groups; and that `explain` says which launches walk by rows.
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, UInt64Array,
};
use serde_json::Value;
use warploom_contract::arrow_file::open_numbers;
use warploom_contract::parquet_file::{read_table, write_table};
use warploom_test_support::draws::Draws;
use warploom_test_support::emulator::emulate;
use warploom_test_support::graphs::degenerate_graphs;
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::store_view::folder;

const FURTHER: &str = "symmetrize: false\nmade_up: {features: 3, classes: 2}\nsplit: {rule: \
    per_class, train: 1, validation: 1, test: 1}";

/// Divisions that a run reads, as settings; that of a user's own file is named apart.
const NEIGHBOUR_GROUPS: [&[&str]; 3] = [
    &["partition.scheme=neighbour-groups", "partition.ngs=1"],
    &["partition.scheme=neighbour-groups", "partition.ngs=3", "partition.dw=4"],
    &["partition.scheme=neighbour-groups", "partition.ngs=32", "partition.block_threads=64"],
];

/// Name and edge list of each graph: degenerate ones, and one with rows over several tasks.
fn graphs() -> Vec<(String, String)> {
    let lists = degenerate_graphs().into_iter().filter(|graph| !graph.edges.is_empty());
    let lists = lists.map(|graph| (graph.name.to_owned(), graph.text()));
    let mut draws = Draws::seeded(49);
    let mut hubs: String = (1..3000).map(|leaf| format!("{leaf} 0\n")).collect();
    hubs.extend((1..1500).map(|leaf| format!("7 {leaf}\n{leaf} 2999\n")));
    hubs.push_str(&draws.edge_list(4000, 3000.0));
    lists.chain([("hubs".to_owned(), hubs)]).collect()
}

fn sandbox(graphs: &[(String, String)]) -> Sandbox {
    let lists: Vec<(&str, &str)> =
        graphs.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Sandbox::edge_lists(&lists, FURTHER)
}

/// Groups of uneven sizes in descending order, as a user may list them.
pub(crate) fn write_own_groups(csr: &Path, file: &Path) {
    let offsets = open_numbers::<u64>(&csr.join("in_offsets.arrow"), "in_offsets").unwrap();
    let mut groups: Vec<[u64; 3]> = Vec::new();
    for (node, row) in offsets.windows(2).enumerate() {
        let (mut from, degree) = (0, row[1] - row[0]);
        while from < degree {
            let to = degree.min(from + 1 + (from + node as u64) % 40);
            groups.push([node as u64, from, to]);
            from = to;
        }
    }
    groups.reverse();
    let column = |at: usize| -> ArrayRef {
        Arc::new(UInt64Array::from(groups.iter().map(|group| group[at]).collect::<Vec<u64>>()))
    };
    let columns = [("node", column(0)), ("start", column(1)), ("end", column(2))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let fields = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let fields: Vec<_> = fields;
    write_table(file, fields.into_iter().zip(batch.columns().to_vec()).collect()).unwrap();
}

/// The numbers of a run: states of a loop, or the loss of each epoch.
fn numbers(run: &Path) -> BTreeMap<String, Vec<f64>> {
    let values = run.join("values.parquet");
    let path = if values.is_file() { values } else { run.join("metrics.parquet") };
    let table = read_table(&path, None).unwrap();
    let mut found = BTreeMap::new();
    for field in table.batch.schema().fields() {
        let name = field.name().as_str();
        let column = table.column(name).unwrap().as_any();
        let numbers: Option<Vec<f64>> = if let Some(numbers) = column.downcast_ref::<Float64Array>()
        {
            Some(numbers.values().to_vec())
        } else if let Some(numbers) = column.downcast_ref::<Float32Array>() {
            Some(numbers.values().iter().map(|&number| f64::from(number)).collect())
        } else {
            let numbers = column.downcast_ref::<UInt64Array>();
            let unsigned =
                numbers.map(|all| all.values().iter().map(|&number| number as f64).collect());
            let numbers = column.downcast_ref::<Int64Array>();
            unsigned.or_else(|| {
                numbers.map(|all| all.values().iter().map(|&number| number as f64).collect())
            })
        };
        if let Some(numbers) = numbers
            && !name.contains("seconds")
        {
            found.insert(name.to_owned(), numbers);
        }
    }
    assert!(!found.is_empty(), "no numbers in {}", path.display());
    found
}

/// A program with its settings, and whether divisions leave its results bit for bit.
struct Case {
    program: &'static str,
    sets: &'static [&'static str],
    is_exact: bool,
}

/// Integers and extremes over edges, both ways, without a loop.
const COUNTS: &str = "def counts(v):
    near = sum(where(u.indegree > v.indegree, u.indegree, 1) for u in v.innbs)
    far = sum(where(u.indegree > v.indegree, u.outdegree, 2) for u in v.outnbs)
    return near, far, max(abs(u.indegree - v.indegree) for u in v.innbs)
";

const CASES: [Case; 5] = [
    Case { program: "counts", sets: &[], is_exact: true },
    Case {
        program: "pagerank",
        sets: &["run.max_supersteps=30", "run.allow_unconverged=true"],
        is_exact: false,
    },
    Case { program: "components", sets: &["run.max_supersteps=9999"], is_exact: true },
    Case { program: "gcn", sets: &["run.epochs=3"], is_exact: false },
    Case { program: "sage_max", sets: &["run.epochs=3"], is_exact: false },
];

fn assert_same(found: &Path, rows: &Path, is_exact: bool, what: &str) {
    let (found, rows) = (numbers(found), numbers(rows));
    assert_eq!(found.keys().collect::<Vec<_>>(), rows.keys().collect::<Vec<_>>(), "{what}");
    for (name, expected) in &rows {
        let found = &found[name];
        assert_eq!(found.len(), expected.len(), "{what}: {name}");
        for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
            let near = !is_exact && (found - expected).abs() <= 2e-5 * (1e-3 + expected.abs());
            let same = found == expected || found.is_nan() && expected.is_nan();
            assert!(same || near, "{what}: {name} {row}: expected {expected}, found {found}");
        }
    }
}

/// The pipeline of a case, which may have a program of its own.
fn recipe(sandbox: &Sandbox, case: &Case, graph: &str) -> Recipe {
    let of_program = if case.program == "counts" {
        sandbox.write("counts.py", COUNTS);
        let text = "ingest: {features: none}\nplan: {program: counts.py}\nrun: {mode: iterate}\n";
        Recipe::file(sandbox.write("counts.yaml", text)).set(&format!("dataset={graph}"))
    } else {
        Recipe::of(case.program, graph)
    };
    case.sets.iter().fold(of_program, |recipe, set| recipe.set(set)).set("reorder.method=none")
}

/// The lines of all stages on a device; none where there is no emulated GPU.
fn build(sandbox: &Sandbox, recipe: &Recipe, device: &str, test: &str) -> Option<Vec<Value>> {
    let arguments = recipe.arguments(&["pipeline", "--device", device, "--format", "json"]);
    let mut command = sandbox.command("warploom", &arguments);
    if device != "cpu" && !emulate(&mut command, test) {
        return None;
    }
    Some(start(command).wait().expect(0).stages())
}

/// Every division gives the results of rows; none where there is no emulated GPU.
fn divisions_agree(graphs: &[(String, String)], device: &str, test: &str) -> Option<()> {
    let sandbox = sandbox(graphs);
    // A walk over both directions goes by rows on a GPU.
    let cases = CASES.iter().filter(|case| device == "cpu" || case.program != "components");
    for case in cases {
        for (name, _) in graphs {
            let rows = recipe(&sandbox, case, name);
            let plain = build(&sandbox, &rows, device, test)?;
            let own = sandbox.path(&format!("{name}-{}.parquet", case.program));
            write_own_groups(&folder(&plain[1], "csr"), &own);
            let own = format!("partition.groups={}", own.display());
            let mut divisions: Vec<Vec<&str>> =
                NEIGHBOUR_GROUPS.iter().map(|sets| sets.to_vec()).collect();
            divisions.push(vec!["partition.scheme=file", "partition.dw=8", &own]);
            for division in divisions {
                let divided = division.iter().fold(rows.clone(), |recipe, set| recipe.set(set));
                let lines = build(&sandbox, &divided, device, test)?;
                let what = format!("{} on {name}, {division:?}, {device}", case.program);
                let plan = fs::read_to_string(folder(&lines[4], "plan").join("plan.json")).unwrap();
                // These graphs have a direction: a walk over both goes by rows. So do own groups on
                // a CPU where gradients see the order of edges.
                let has_groups = ["gcn", "counts", "pagerank"].contains(&case.program);
                let are_read = plan.contains("\"division\"");
                assert!(!has_groups || are_read, "{what}: no launch walks by groups");
                assert_eq!(
                    lines[5]["key"] != plain[5]["key"],
                    are_read,
                    "{what}: groups are in the run's key where the run reads them"
                );
                let [found, expected] = [&lines, &plain].map(|lines| folder(&lines[5], "run"));
                assert_same(&found, &expected, case.is_exact, &what);
            }
        }
    }
    Some(())
}

#[test]
fn groups_give_the_results_of_rows() {
    divisions_agree(&graphs(), "cpu", "").expect("a CPU is here");
}

#[test]
fn groups_give_the_results_of_rows_on_an_emulated_gpu() {
    let test = "group_readers::groups_give_the_results_of_rows_on_an_emulated_gpu";
    let some = ["isolated_nodes", "parallel_edges", "star_inward", "far_edge", "hubs"];
    let mut graphs = graphs();
    graphs.retain(|(name, _)| is_long() || some.contains(&name.as_str()));
    divisions_agree(&graphs, "cuda", test);
}

/// What each launch walks by, as plan.json says.
fn walked(lines: &[Value]) -> Vec<Option<String>> {
    let page = fs::read(folder(&lines[4], "plan").join("plan.json")).unwrap();
    let page: Value = serde_json::from_slice(&page).unwrap();
    let launches = page["division"]["launches"].as_array().cloned().unwrap_or_default();
    launches.iter().map(|scheme| scheme.as_str().map(str::to_owned)).collect()
}

#[test]
fn a_schedule_says_by_launch_what_goes_by_groups() {
    let graphs: Vec<(String, String)> =
        graphs().into_iter().filter(|(name, _)| name == "hubs").collect();
    let sandbox = sandbox(&graphs);
    let plain = Recipe::of("gcn", "hubs").set("run.epochs=2");
    let by = |schedule: &str| plain.clone().set(&format!("plan.schedule={schedule}"));
    assert!(walked(&sandbox.build(&plain)).is_empty());
    // A schedule asks partition for its division.
    let all = sandbox.build(&by("neighbour-groups"));
    let groups = || walked(&all).into_iter().flatten();
    assert!(groups().count() > 1 && groups().all(|scheme| scheme == "neighbour-groups"));
    let named = sandbox.build(&plain.clone().set("partition.scheme=neighbour-groups"));
    assert_eq!(named[3]["key"], all[3]["key"], "both name one division");
    // By name, and the last entry counts.
    let page = fs::read(folder(&all[4], "plan").join("plan.json")).unwrap();
    let page: Value = serde_json::from_slice(&page).unwrap();
    let places: Vec<usize> =
        (0..).zip(walked(&all)).filter_map(|(at, by)| by.map(|_| at)).collect();
    let names: Vec<String> = launch_names(&page["launches"]);
    let first = &names[places[0]];
    let entries =
        format!("[{{for: sum, use: neighbour-groups, ngs: 8}}, {{for: {first}, use: rows}}]");
    let some = sandbox.build(&by(&entries));
    assert_eq!(walked(&some).iter().flatten().count(), places.len() - 1);
    assert_eq!(walked(&some)[places[0]], None);
    sandbox.front("check", &by(&entries), &[]).expect(0);
    let refused = |schedule: &str, texts: &[&str]| {
        sandbox.front("pipeline", &by(schedule), &[]).expect(1).says(texts);
    };
    let misspelt = format!("[{{for: {first}x, use: neighbour-groups}}]");
    refused(&misspelt, &["entry 1 of `plan.schedule`", "is no launch", &format!("for: {first}")]);
    refused("[{for: sum, use: groups}]", &["`plan.schedule[1].use` does not know `groups`"]);
    refused("[{for: sum}]", &["`plan.schedule[1].use` is missing"]);
    refused("file", &["scheme `file` needs a table of groups"]);
    let softmax = Recipe::of("gat", "hubs")
        .set("run.epochs=2")
        .set("plan.schedule=[{for: attention, use: neighbour-groups}]");
    sandbox.front("pipeline", &softmax, &[]).expect(1).says(&["entry 1", "can walk by"]);
}

/// The names of launches in the order of a list.
fn launch_names(list: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let parts = list["body"]["train"].as_object().expect("a training");
    for part in ["prepare", "forward", "loss", "backward", "update"] {
        let launches = match &parts[part] {
            Value::Array(launches) => launches.clone(),
            one => vec![one.clone()],
        };
        names.extend(launches.iter().map(|launch| launch["name"].as_str().unwrap().to_owned()));
    }
    names
}

#[test]
fn no_number_of_threads_changes_a_run_by_groups_and_all_is_proved() {
    let graphs: Vec<(String, String)> =
        graphs().into_iter().filter(|(name, _)| name == "hubs").collect();
    let sandbox = sandbox(&graphs);
    let mut found = std::collections::BTreeSet::new();
    for threads in ["1", "3"] {
        let sandbox = sandbox.with_store(format!("store-{threads}"));
        let recipe = Recipe::of("pagerank", "hubs")
            .set("partition.scheme=neighbour-groups")
            .set("partition.ngs=8");
        sandbox.front("pipeline", &recipe, &["--threads", threads]).expect(0);
        sandbox.front("check", &recipe, &[]).expect(0);
        let run = &sandbox.view().of_kind("run")[0];
        found.insert(fs::read(run.path.join("values.parquet")).unwrap());
    }
    assert_eq!(found.len(), 1, "the number of threads changed a result");
}

#[test]
fn explain_says_which_launches_go_by_groups_and_what_no_run_reads_is_told() {
    let graphs: Vec<(String, String)> =
        graphs().into_iter().filter(|(name, _)| name == "hubs").collect();
    let sandbox = sandbox(&graphs);
    let recipe = |program| {
        Recipe::of(program, "hubs").set("partition.scheme=neighbour-groups").set("run.epochs=2")
    };
    sandbox.build(&recipe("gcn"));
    let told = sandbox.warploom(&recipe("gcn").arguments(&["explain", "-v"])).expect(0);
    told.prints(&[
        "groups of neighbours: neighbour-groups",
        "by `neighbour-groups` go `",
        "a direction that has groups, or are asked to: none",
    ]);
    sandbox.build(&recipe("gat"));
    let told = sandbox.warploom(&recipe("gat").arguments(&["explain", "-v"])).expect(0);
    told.prints(&[
        "groups of neighbours: ",
        "by rows, since they do not walk edges once",
        "or are asked to: `",
    ]);
    let unread = recipe("gcn").set("partition.scheme=[merge-path, row-major]");
    let line = "partition.scheme: `merge-path`, `row-major` will be built and checked, and no run \
                reads it yet; schemes with readers: `rows`, `neighbour-groups`, `file`, `program`";
    let told = sandbox.front("pipeline", &unread, &[]).expect(0).says(&[line]);
    assert_eq!(told.stderr.matches("schemes with readers").count(), 1);
    sandbox.stage("partition", &unread, &[]).expect(0).says(&[line]);
}
