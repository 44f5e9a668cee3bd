//! loop_algorithms: loops that take a shortcut end with the values of supersteps, to the bit.
//!
//! promises  every shortcut on graphs that it is meant for, and on graphs that it is not: there the
//!           loop runs in supersteps, and the record says so
use std::collections::VecDeque;

use warploom_contract::{
    Artifact,
    kinds::{
        graph::{EdgeTable, Ids, NodeTable},
        run::VALUES_FILE,
    },
    progress::{Silence, StopFlag},
};
use warploom_spec::Pipeline;

use crate::custom_programs::{own_text, symmetric, weighted};
use crate::threads::{community, in_pool};
use warploom_test_support::list_runner::{gpu, is_brief};
use warploom_test_support::stage_runner::{Features, GraphTables, RunFiles, StageRunner};

const BOUNDED: &str = "\nrun: {max_supersteps: 9999}";

fn left(runner: &StageRunner, graph: &Artifact, pipeline: &Pipeline) -> RunFiles {
    let chain = runner.planned(graph, pipeline).unwrap_or_else(|error| panic!("{error}"));
    runner.run(&chain, &Silence, &StopFlag::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs with a bound, which goes in supersteps, and without, by one thread and by three.
fn same(
    runner: &StageRunner,
    graph: &Artifact,
    name: &str,
    pipeline: &dyn Fn(&str) -> Pipeline,
    courses: &[&str],
) {
    let expected = left(runner, graph, &pipeline(BOUNDED));
    assert!(
        expected
            .record()
            .courses
            .iter()
            .all(|course| ["supersteps", "frontier"].contains(&course.as_str())),
        "{name}"
    );
    let on_gpu = gpu().is_some();
    for threads in [1, 3].into_iter().filter(|threads| *threads == 1 || !on_gpu) {
        let free = pipeline("");
        let found = in_pool(threads, || left(runner, graph, &free));
        let courses = &if on_gpu { courses_of_gpu(name, courses) } else { courses.to_vec() };
        assert_eq!(found.record().courses, *courses, "{name}");
        assert!(found.record().converged && found.record().supersteps > 0, "{name}");
        assert!(
            found.fixed()[VALUES_FILE] == expected.fixed()[VALUES_FILE],
            "{name}: values differ by {threads} threads"
        );
        if courses[..] == ["levels"] {
            assert_eq!(found.record().supersteps, expected.record().supersteps, "{name}");
        }
    }
}

/// What a loop takes on a GPU. It joins whole numbers alone, and has no frontier where an algorithm
/// does not apply to the values.
fn courses_of_gpu<'a>(name: &str, courses: &[&'a str]) -> Vec<&'a str> {
    let refused = ["labels along edges", "levels of three first values", "weights below zero"];
    let is_refused = refused.contains(&name);
    let on_gpu = |course: &&'a str| match *course {
        "frontier" if is_refused => "supersteps",
        "joined trees" if name.contains("the smallest real") => "frontier",
        other => other,
    };
    courses.iter().map(on_gpu).collect()
}

/// A hub that nearly all read, so that a search pulls, and a long tail, so that it pushes again.
pub fn hub_and_tail() -> GraphTables {
    let mut given = community(false);
    let nodes = given.nodes.ids.len() as u32;
    let EdgeTable { source, target, .. } = &mut given.edges;
    let mut pairs: Vec<(u32, u32)> = source.iter().copied().zip(target.iter().copied()).collect();
    pairs.extend((0..nodes / 2).flat_map(|node| [(7, node), (node, 7)]));
    pairs.retain(|(from, to)| from.max(to) < &(nodes - 500) || from + 1 == *to);
    pairs.extend((nodes - 501..nodes - 1).map(|node| (node, node + 1)));
    pairs.sort_unstable();
    pairs.dedup();
    (*source, *target) = pairs.into_iter().unzip();
    given
}

/// The same, but where an emulated GPU would take long over many supersteps.
fn tailed() -> GraphTables {
    if is_brief() { weighted() } else { hub_and_tail() }
}

#[test]
fn library_programs_end_as_in_supersteps() {
    let runner = StageRunner::new();
    let graphs = [
        ("community", community(true)),
        ("weighted", weighted()),
        ("symmetric", symmetric()),
        ("hub and tail", hub_and_tail()),
    ];
    // An emulated GPU takes long over many supersteps.
    let graphs = if is_brief() { &graphs[1..3] } else { &graphs[..] };
    for (name, given) in graphs {
        let graph = runner.graph(given);
        for (program, set, course) in [
            ("bfs", "  set: {source: row:5}", "levels"),
            ("bfs", "  set: {source: row:6}", "levels"),
            ("sssp", "  set: {source: row:5}", "delta-stepping"),
            ("components", "", "joined trees"),
            ("kcore", "", "peeling"),
        ] {
            for rest in ["reorder: {method: none}", "reorder: {method: degree}"] {
                let pipeline =
                    |bound: &str| runner.pipeline(program, &format!("{set}\n{rest}{bound}"));
                same(
                    &runner,
                    &graph,
                    &format!("{program} on {name}, {rest}"),
                    &pipeline,
                    &[course],
                );
            }
        }
    }
}

/// Two random communities, joined by a path: a search pulls in the first one, goes on with few
/// vertices, and then with many again.
fn two_communities() -> GraphTables {
    const NODES: u32 = 30_000;
    const PATH: u32 = 12;
    let mut draw = 1u64;
    let mut next = || {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (draw >> 33) as u32 % NODES
    };
    let mut pairs: Vec<(u32, u32)> = (0..NODES * 8).map(|_| (next(), next())).collect();
    let second: Vec<(u32, u32)> = (0..NODES * 8).map(|_| (next(), next())).collect();
    let after = NODES + PATH;
    pairs.extend(second.into_iter().map(|(from, to)| (from + after, to + after)));
    pairs.extend((NODES - 1..after).map(|node| (node, node + 1)));
    pairs.extend(pairs.clone().into_iter().map(|(from, to)| (to, from)));
    pairs.sort_unstable();
    pairs.dedup();
    let (source, target) = pairs.into_iter().unzip();
    GraphTables {
        edges: EdgeTable { source, target, weight: None, kind: None },
        nodes: NodeTable::new(Ids::Numbers((0..u64::from(after + NODES)).collect())),
        features: Features::None,
        edge_features: None,
        graphs: None,
    }
}

/// The levels from vertex 5, by a queue.
fn levels_by_queue(given: &GraphTables) -> Vec<i64> {
    let mut lists = vec![Vec::new(); given.nodes.ids.len()];
    for (from, to) in given.edges.source.iter().zip(&given.edges.target) {
        lists[*from as usize].push(*to);
    }
    let (mut levels, mut queue) = (vec![-1; lists.len()], VecDeque::from([5u32]));
    levels[5] = 0;
    while let Some(node) = queue.pop_front() {
        for &far in &lists[node as usize] {
            if levels[far as usize] < 0 {
                levels[far as usize] = levels[node as usize] + 1;
                queue.push_back(far);
            }
        }
    }
    levels
}

#[test]
fn a_search_that_pulls_grows_again() {
    let runner = StageRunner::new();
    let given = two_communities();
    let graph = runner.graph(&given);
    let rest = "  set: {source: row:5}\nreorder: {method: none}";
    let found = left(&runner, &graph, &runner.pipeline("bfs", rest));
    assert_eq!(found.record().courses, ["levels"]);
    let expected: Vec<f64> =
        levels_by_queue(&given).into_iter().map(|level| level as f64).collect();
    assert_eq!(found.values("level"), expected);
}

#[test]
fn programs_of_ones_own_take_courses_where_they_may() {
    let runner = StageRunner::new();
    let directed = runner.graph(&tailed());
    let both_ways = runner.graph(&symmetric());
    let negative = runner.graph(&{
        // No circle can be below zero where edges lead to larger ids alone.
        let mut given = weighted();
        let EdgeTable { source, target, weight, .. } = &mut given.edges;
        source
            .iter_mut()
            .zip(target.iter_mut())
            .for_each(|(from, to)| (*from, *to) = (*from.min(&mut *to), *to.max(&mut *from)));
        let ends = source.iter().zip(target.iter());
        weight
            .as_mut()
            .unwrap()
            .iter_mut()
            .zip(ends)
            .step_by(3)
            .filter(|(_, (from, to))| from != to)
            .for_each(|(weight, _)| *weight = -*weight);
        given
    });
    let text = |first: &str, next: &str| {
        format!(
            "def own(v):\n    v.a = {first}\n    while changed(v.a):\n        v.a = {next}\n    \
                return v.a\n"
        )
    };
    for (name, graph, text, course) in [
        (
            "labels along edges",
            &directed,
            text("v.id", "min(v.a, min(u.a for u in v.innbs))"),
            "frontier",
        ),
        (
            "labels along edges both ways",
            &both_ways,
            text("v.id", "min(min(u.a for u in v.outnbs), v.a)"),
            "joined trees",
        ),
        (
            "the smallest number of a part",
            &directed,
            text("100 - v.indegree", "min(v.a, min(u.a for u in v.nbs))"),
            "joined trees",
        ),
        (
            "the smallest real of a part",
            &directed,
            text("1.0 / (1 + v.indegree)", "min(v.a, min(u.a for u in v.nbs))"),
            "joined trees",
        ),
        (
            "zeros below zero",
            &directed,
            text("-0.0 if v.indegree > 9 else 0.0", "min(v.a, min(u.a for u in v.nbs))"),
            "frontier",
        ),
        (
            "levels against edges",
            &directed,
            text("10 if v.id == 9 else 31", "min(v.a, min(3 + u.a for u in v.outnbs))"),
            "levels",
        ),
        (
            "levels both ways from many",
            &directed,
            text("-5 if v.indegree > 9 else 1", "min(v.a, min(u.a + 2 for u in v.nbs))"),
            "levels",
        ),
        (
            "levels of three first values",
            &directed,
            text(
                "v.indegree % 3 * 100 if v.indegree > 9 else 400",
                "min(v.a, min(u.a + 2 for u in v.nbs))",
            ),
            "frontier",
        ),
        (
            "real levels",
            &directed,
            text(
                "0.5 * v.indegree if v.id == 9 else inf",
                "min(v.a, min(u.a + 0.1 for u in v.innbs))",
            ),
            "delta-stepping",
        ),
        (
            "paths both ways",
            &both_ways,
            text("0.0 if v.id == 9 else inf", "min(v.a, min(e.w + e.src.a for e in v.inedges))"),
            "delta-stepping",
        ),
        (
            "weights below zero",
            &negative,
            text("0.0 if v.id == 0 else inf", "min(v.a, min(e.src.a + e.w for e in v.inedges))"),
            "frontier",
        ),
        (
            "cores by out-edges",
            &directed,
            text("v.outdegree", "hindex(u.a for u in v.outnbs)"),
            "peeling",
        ),
        (
            "an h-index begun elsewhere",
            &directed,
            text("v.outdegree + 1", "hindex(u.a for u in v.outnbs)"),
            "supersteps",
        ),
        (
            "the largest label",
            &directed,
            text("v.indegree", "max(v.a, max(u.a for u in v.nbs))"),
            "frontier",
        ),
        (
            "only some edges",
            &directed,
            text("v.id", "min(v.a, min(u.a for u in v.nbs if u.indegree > 3))"),
            "frontier",
        ),
    ] {
        let name_of_file = name.replace([' ', '-'], "_");
        let pipeline = |bound: &str| {
            own_text(
                &runner,
                &name_of_file,
                &text.replace("own(v)", &format!("{name_of_file}(v)")),
                &format!("reorder: {{method: degree}}{bound}"),
            )
        };
        same(&runner, graph, name, &pipeline, &[course]);
    }
}
