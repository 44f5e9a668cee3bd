//! analytics: shipped programs without parameters against golden numbers, through the real stages.
//!
//! promises  in f32 in the data set's order and in f64 by degree: PageRank in both variants after
//!           1, 2, 50 and all supersteps, distances and levels from every start, components, cores,
//!           triangles and clustering. Weights of the artifact are f32, so that distances in f64
//!           are held to the golden ones by the tolerance of f32, and to 1e-9 by those of the
//!           rounded weights
use warploom_contract::Artifact;
use warploom_test_support::golden_cases::{Edges, GoldenCase};

use crate::custom_programs::{distances, ints, proved};
use crate::golden::{Comparison, given};
use warploom_test_support::list_runner::{ListInputs, first_difference, largest_magnitude};
use warploom_test_support::stage_runner::{GraphTables, RunFiles, StageRunner, finished};

const CASES: [&str; 3] = ["analytics_tiny", "analytics_odd", "analytics_medium"];
const CHOICES: [(&str, &str); 2] = [("f32", "none"), ("f64", "degree")];

fn tables(edges: Edges) -> GraphTables {
    let direct = ListInputs {
        nodes: edges.nodes,
        source: edges.source,
        target: edges.target,
        weight: edges.weight,
        ..ListInputs::default()
    };
    given(&direct, false, false)
}

/// A run; proved by the stage's own check where that does not take long.
fn run(
    case: &GoldenCase,
    (runner, graph): (&StageRunner, &Artifact),
    program: &str,
    rest: &str,
) -> RunFiles {
    let pipeline = runner.pipeline(program, rest);
    if case.nodes() > 1000 {
        finished(runner, graph, &pipeline)
    } else {
        proved(runner, graph, &pipeline)
    }
}

/// Every case in both types; `edges` are what the program reads.
fn every(
    edges: impl Fn(&GoldenCase) -> Edges,
    test: impl Fn(&GoldenCase, &GraphTables, &dyn Fn(&str, &str) -> RunFiles, &str),
) {
    for case in CASES.iter().filter_map(|name| GoldenCase::read(name)) {
        let (runner, given) = (StageRunner::new(), tables(edges(&case)));
        let graph = runner.graph(&given);
        for (dtype, method) in CHOICES {
            let left = |program: &str, settings: &str| {
                let (set, more) = settings.split_once(';').unwrap_or((settings, ""));
                let rest = format!(
                    "  set: {{{set}}}\nreorder: {{method: {method}}}\nrun: {{dtype: {dtype}{more}}}"
                );
                run(&case, (&runner, &graph), program, &rest)
            };
            test(&case, &given, &left, dtype);
        }
    }
}

fn ranks(program: &str, variant: &str) {
    let test =
        |case: &GoldenCase, _: &GraphTables, left: &dyn Fn(&str, &str) -> RunFiles, dtype: &str| {
            let mut golden = Comparison::new(case, dtype);
            let group = format!("pagerank.{variant}");
            let steps = case.names(&format!("{group}."));
            assert!(steps.len() >= 4, "{}: {steps:?}", case.name);
            for step in steps {
                let run = match (step.parse::<u64>(), dtype) {
                    (Ok(supersteps), _) => {
                        format!("max_supersteps: {supersteps}, allow_unconverged: true")
                    }
                    // What f32 can reach; the sum of all changes below that is rounding.
                    (Err(_), "f32") => "max_supersteps: 300, allow_unconverged: true".to_owned(),
                    (Err(_), _) => "max_supersteps: 10000".to_owned(),
                };
                let left = left(program, &format!("tolerance: 1.0e-15;, {run}"));
                golden.with(&group, &format!("{group}.{step}"), &left.values("rank"));
            }
            golden.told(program);
        };
    every(|case| case.edges(false), test);
}

#[test]
fn ranks_are_those_of_others() {
    ranks("pagerank", "ignored");
}

#[test]
fn ranks_that_are_spread_are_those_of_others() {
    ranks("pagerank_spread", "spread");
}

#[test]
fn components_are_those_of_others() {
    let test =
        |case: &GoldenCase, given: &GraphTables, left: &dyn Fn(&str, &str) -> RunFiles, _: &str| {
            let left = left("components", "");
            let own: Vec<f64> =
                case.tensor("components.weak").values.iter().map(|row| 10.0 * row + 3.0).collect();
            assert_eq!(
                left.values("label"),
                own,
                "{}: own id of the smallest node of each component",
                case.name
            );
            assert!(left.record().converged && left.record().supersteps > 0);
            assert_eq!(own.len(), given.nodes.ids.len());
        };
    every(|case| case.edges(false), test);
}

#[test]
fn distances_and_levels_are_those_of_others() {
    let test = |case: &GoldenCase,
                given: &GraphTables,
                left: &dyn Fn(&str, &str) -> RunFiles,
                dtype: &str| {
        let mut golden = Comparison::new(case, "f32");
        for (number, source) in case.ids("distance.source").into_iter().enumerate() {
            let part = |name: &str| {
                &case.tensor(name).values[number * case.nodes()..(number + 1) * case.nodes()]
            };
            let found = left("sssp", &format!("source: row:{source}")).values("distance");
            golden.with_part("sssp", "sssp.distance", (&found, part("sssp.distance")));
            if dtype == "f64" {
                let want = distances(given, source as usize);
                assert_eq!(
                    first_difference(&found, &want, 1e-9 * largest_magnitude(&want)),
                    None,
                    "{}: distances from {source} by the rounded weights",
                    case.name
                );
            }
            let levels: Vec<f64> = ints(&left("bfs", &format!("source: row:{source}")), "level")
                .into_iter()
                .map(|level| level as f64)
                .collect();
            assert_eq!(levels, part("bfs.level"), "{}: levels from {source}", case.name);
        }
        golden.told(&format!("sssp in {dtype}"));
    };
    every(|case| case.edges(true), test);
}

/// A result of integers.
fn wholes(left: &RunFiles, name: &str) -> Vec<f64> {
    ints(left, name).into_iter().map(|value| value as f64).collect()
}

#[test]
fn cores_are_those_of_others() {
    let test =
        |case: &GoldenCase, _: &GraphTables, left: &dyn Fn(&str, &str) -> RunFiles, _: &str| {
            let cores = wholes(&left("kcore", ""), "core");
            assert_eq!(cores, case.tensor("core").values, "{}: cores", case.name);
        };
    every(|case| case.edges(false).without_self_loops().symmetric(), test);
}

#[test]
fn triangles_and_clustering_are_those_of_others() {
    let test =
        |case: &GoldenCase, _: &GraphTables, left: &dyn Fn(&str, &str) -> RunFiles, dtype: &str| {
            let left = left("triangles", "");
            assert_eq!(
                wholes(&left, "triangles"),
                case.tensor("triangles").values,
                "{}: triangles",
                case.name
            );
            let mut golden = Comparison::new(case, dtype);
            golden.with("clustering", "clustering", &left.values("clustering"));
            golden.told("triangles");
        };
    every(|case| case.edges(false).without_self_loops().symmetric(), test);
}
