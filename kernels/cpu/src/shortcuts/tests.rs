//! courses: each beside supersteps, on random graphs, by one thread and by several.
use proptest::prelude::*;

use super::*;
use bfs::{FAR, Search};
use delta_stepping::{Lengths, Ways};
use warploom_ir::{Direction, Number};
use warploom_launch::{Course, EdgeLength};

/// A graph by its edges, as lists of both directions.
#[derive(Clone, Debug)]
struct Graph {
    nodes: usize,
    out: (Vec<u64>, Vec<u32>),
    into: (Vec<u64>, Vec<u32>),
    /// In the order of `out`.
    edges: Vec<(u32, u32)>,
}

impl Graph {
    fn of(nodes: usize, mut edges: Vec<(u32, u32)>) -> Graph {
        edges.sort_unstable();
        let lists = |near: fn(&(u32, u32)) -> u32, far: fn(&(u32, u32)) -> u32| {
            let mut by_near = edges.clone();
            by_near.sort_by_key(|edge| (near(edge), far(edge)));
            let offsets = (0..=nodes as u32)
                .map(|node| by_near.partition_point(|edge| near(edge) < node) as u64)
                .collect();
            (offsets, by_near.iter().map(far).collect())
        };
        Graph {
            nodes,
            out: lists(|edge| edge.0, |edge| edge.1),
            into: lists(|edge| edge.1, |edge| edge.0),
            edges: edges.clone(),
        }
    }

    fn symmetric(&self) -> Graph {
        Graph::of(
            self.nodes,
            self.edges.iter().flat_map(|&(from, to)| [(from, to), (to, from)]).collect(),
        )
    }

    fn outgoing(&self) -> NeighbourLists<'_> {
        NeighbourLists { offsets: &self.out.0, neighbours: &self.out.1 }
    }

    fn incoming(&self) -> NeighbourLists<'_> {
        NeighbourLists { offsets: &self.into.0, neighbours: &self.into.1 }
    }
}

/// Few vertices with many edges, many with few, loops and repeats among them.
fn graphs() -> impl Strategy<Value = Graph> {
    (1usize..200, 0usize..600, any::<u64>())
        .prop_map(|(nodes, edges, seed)| random(nodes, edges, seed))
}

fn random(nodes: usize, edges: usize, seed: u64) -> Graph {
    let mut state = seed | 1;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 40) as f64 / (1u64 << 24) as f64;
        // Small numbers come more often.
        (share * share * below as f64) as u32
    };
    Graph::of(nodes, (0..edges).map(|_| (draw(nodes), draw(nodes))).collect())
}

/// Repeats a step for all vertices at once until nothing changes.
fn by_supersteps<V: Clone + PartialEq>(
    mut values: Vec<V>,
    step: impl Fn(usize, &[V]) -> V,
) -> (Vec<V>, u64) {
    for done in 1.. {
        let next: Vec<V> = (0..values.len()).map(|vertex| step(vertex, &values)).collect();
        if next == values {
            return (values, done);
        }
        values = next;
    }
    unreachable!("values of finitely many vertices fall for a finite time")
}

fn in_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

const ALWAYS: GoOn = &|| true;
const THREADS: [usize; 3] = [1, 2, 8];

fn levels_are_right(graph: &Graph, sources: &[u32], last: u32) {
    let first =
        (0..graph.nodes as u32).map(|node| if sources.contains(&node) { 0 } else { FAR }).collect();
    let (expected, supersteps) = by_supersteps(first, |vertex, levels: &[u32]| {
        let reached = graph
            .incoming()
            .neighbours(vertex)
            .iter()
            .map(|&far| levels[far as usize])
            .filter(|&level| level < last)
            .map(|level| level + 1)
            .min();
        levels[vertex].min(reached.unwrap_or(FAR))
    });
    for threads in THREADS {
        let search = Search { push: &[graph.outgoing()], pull: &[graph.incoming()], sources, last };
        let (found, rounds) = in_threads(threads, || bfs::levels(&search, ALWAYS)).unwrap();
        assert_eq!(found, expected, "{graph:?} from {sources:?}");
        assert_eq!(u64::from(rounds), supersteps);
    }
}

#[test]
fn levels_of_a_graph_that_is_large_enough_to_pull_and_to_push_again() {
    let mut edges: Vec<(u32, u32)> = random(3000, 400_000, 7).edges;
    // Each level of the path costs the slow reference a walk over all edges.
    edges.extend((0..2_000u32).map(|at| (3000 + at, 3001 + at)));
    edges.push((2999, 3000));
    let graph = Graph::of(5_001, edges);
    let (source, _) = graph.edges[0];
    levels_are_right(&graph, &[source], u32::MAX);
    levels_are_right(&graph, &[source], 3);
}

fn lengths_of(graph: &Graph, seed: u64) -> Vec<f32> {
    (0..graph.edges.len() as u64)
        .map(|edge| {
            ((edge + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50) as f32
                / 7.0
        })
        .collect()
}

/// Least sums by supersteps.
fn sums_of(graph: &Graph, first: &[f32], lengths: &[f32]) -> Vec<f32> {
    let mut read = vec![Vec::new(); graph.nodes];
    graph
        .edges
        .iter()
        .zip(lengths)
        .for_each(|((from, to), length)| read[*to as usize].push((*from as usize, *length)));
    by_supersteps(first.to_vec(), |vertex, sums: &[f32]| {
        read[vertex]
            .iter()
            .fold(sums[vertex], |least, (from, length)| least.min(sums[*from] + length))
    })
    .0
}

fn paths_are_right(graph: &Graph, first: &[f32], lengths: &[f32]) {
    let expected = sums_of(graph, first, lengths);
    for threads in THREADS {
        let ways = [Ways { lists: graph.outgoing(), lengths: Lengths::Each(lengths) }];
        let (found, _) =
            in_threads(threads, || delta_stepping::paths(first, &ways, ALWAYS)).unwrap();
        assert_eq!(found, expected, "{graph:?}");
    }
}

#[test]
fn paths_of_many_vertices_at_once_and_of_lengths_far_apart() {
    let graph = random(3000, 40_000, 3);
    let mut lengths = lengths_of(&graph, 5);
    let mut first = vec![f32::INFINITY; graph.nodes];
    (first[0], first[2999]) = (0.0, 1e4);
    paths_are_right(&graph, &first, &lengths);
    lengths.iter_mut().step_by(3).for_each(|length| *length *= 1e6);
    lengths.iter_mut().step_by(7).for_each(|length| *length = 0.0);
    paths_are_right(&graph, &first, &lengths);
}

fn cores_of(graph: &Graph, threads: usize) -> Vec<u32> {
    in_threads(threads, || k_core::cores(&[graph.outgoing()], &[graph.incoming()], ALWAYS)).unwrap()
}

#[test]
fn cores_of_waves_that_are_large_enough_for_all_threads() {
    // Vertices of the random part fall together; those of the star fall at once, all to one hub.
    let mut edges = random(20_000, 600_000, 11).edges;
    edges.extend((0..50_000u32).map(|leaf| (7, 20_000 + leaf)));
    let graph = Graph::of(70_001, edges).symmetric();
    let expected = cores_of(&graph, 1);
    assert_eq!(expected[20_000..70_000], [1; 50_000]);
    assert_eq!(expected[70_000], 0);
    for threads in [2, 8] {
        assert!(cores_of(&graph, threads) == expected, "{threads} threads");
    }
}

#[test]
fn degenerate_graphs() {
    let graphs = [
        Graph::of(0, vec![]),
        Graph::of(1, vec![]),
        Graph::of(65, vec![]),
        Graph::of(1, vec![(0, 0), (0, 0)]),
        Graph::of(3, vec![(0, 1), (0, 1), (1, 0), (1, 0), (2, 2)]),
        Graph::of(5_000, (1..5_000).map(|leaf| (0, leaf)).collect()).symmetric(),
    ];
    for graph in &graphs {
        let cores = cores_of(graph, 1);
        let first: Vec<f32> =
            (0..graph.nodes).map(|node| if node == 0 { 0.0 } else { f32::INFINITY }).collect();
        let sources: Vec<u32> = (0..graph.nodes.min(1) as u32).collect();
        for threads in THREADS {
            assert_eq!(cores_of(graph, threads), cores);
        }
        levels_are_right(graph, &sources, FAR);
        levels_are_right(graph, &[], FAR);
        paths_are_right(graph, &first, &vec![1.5; graph.edges.len()]);
    }
    assert_eq!(cores_of(&graphs[3], 1), [2]);
    assert_eq!(cores_of(&graphs[4], 1), [2, 2, 1]);
}

#[test]
fn a_team_runs_each_task_once_and_a_panic_of_one_reaches_the_leader() {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    for threads in THREADS {
        in_threads(threads, || {
            let ran: Vec<AtomicU32> = (0..100).map(|_| AtomicU32::new(0)).collect();
            let task = |kind: u32, task: usize| {
                ran[task].fetch_add(kind, Relaxed);
            };
            let sum = thread_team::lead(&task, |leader| {
                (0..1_000).for_each(|round| leader.run(1, round % 100));
                leader.run(7, 100);
                leader.threads()
            });
            assert_eq!(sum, threads);
            // A task runs in every round that has more tasks than its number.
            for (task, ran) in ran.iter().enumerate() {
                assert_eq!(ran.load(Relaxed) as usize, 10 * (99 - task) + 7);
            }
        });
        let failed = std::panic::catch_unwind(|| {
            in_threads(threads, || {
                thread_team::lead(&|_, task| assert!(task != 5, "task 5"), |leader| {
                    leader.run(0, 20);
                });
            });
        });
        assert!(failed.is_err());
    }
}

#[test]
fn what_may_not_be_is_seen() {
    assert!(delta_stepping::may_begin(&[0.0f32, f32::INFINITY]));
    assert!(
        !delta_stepping::may_begin(&[-0.0f32])
            && !delta_stepping::may_begin(&[f32::NAN])
            && !delta_stepping::may_begin(&[-1.0f64])
    );
    assert!(
        !delta_stepping::may_be(Lengths::Each(&[1.0f32, -1.0]))
            && !delta_stepping::may_be(Lengths::Each(&[f32::NAN]))
            && delta_stepping::may_be(Lengths::Same(0.0f64))
    );
}

#[test]
fn arrays_take_the_bytes_that_a_plan_predicts() {
    for nodes in [63, 64, 65, 5000] {
        let graph = random(nodes, 3 * nodes, 7);
        let lists = [graph.outgoing()];
        let least = |step| Course::Least { state: "it".into(), direction: Direction::In, step };
        let is = |course: Course, real: u64, bytes: usize| {
            assert_eq!(course.bytes_on_cpu(nodes as u64, real), bytes as u64, "{course:?}");
        };
        let parts = components::parts(&lists, ALWAYS).unwrap();
        is(least(EdgeLength::Nothing), 4, 4 * parts.capacity());
        let search = Search { push: &lists, pull: &lists, sources: &[0], last: 9 };
        is(least(EdgeLength::Number(Number::Int(1))), 4, bfs::bytes_of_arrays(&search));
        let weighted = || least(EdgeLength::Weight);
        let ways = [Ways { lists: lists[0], lengths: Lengths::Same(1f32) }];
        is(weighted(), 4, delta_stepping::bytes_of_arrays(&vec![0f32; nodes], &ways));
        let ways = [Ways { lists: lists[0], lengths: Lengths::Same(1f64) }];
        is(weighted(), 8, delta_stepping::bytes_of_arrays(&vec![0f64; nodes], &ways));
        let cores = Course::Cores { state: "it".into(), direction: Direction::In };
        is(cores, 4, k_core::bytes_of_arrays(&lists));
    }
}

#[test]
fn a_stop_is_heard() {
    let graph = random(100, 500, 1).symmetric();
    let never: GoOn = &|| false;
    assert!(
        bfs::levels(
            &Search {
                push: &[graph.outgoing()],
                pull: &[graph.incoming()],
                sources: &[0],
                last: FAR
            },
            never
        )
        .is_none()
    );
    assert!(components::parts(&[graph.outgoing()], never).is_none());
    assert!(k_core::cores(&[graph.outgoing()], &[graph.incoming()], never).is_none());
    assert!(
        delta_stepping::paths(
            &[0.0f32; 100],
            &[Ways { lists: graph.outgoing(), lengths: Lengths::Same(1.0) }],
            never
        )
        .is_none()
    );
}

proptest! {
    #[test]
    fn levels_are_those_of_supersteps(graph in graphs(), picks in proptest::collection::btree_set(0u32..200, 0..4), last in prop_oneof![Just(u32::MAX), 0u32..5]) {
        let sources: Vec<u32> = picks.into_iter().filter(|&node| (node as usize) < graph.nodes).collect();
        levels_are_right(&graph, &sources, last);
    }

    #[test]
    fn paths_are_those_of_supersteps(graph in graphs(), seed in any::<u64>(), begun in 0usize..200) {
        let first: Vec<f32> = (0..graph.nodes).map(|node| if node == begun { 0.0 } else if node % 50 == 3 { node as f32 * 100.0 } else { f32::INFINITY }).collect();
        paths_are_right(&graph, &first, &lengths_of(&graph, seed));
    }

    #[test]
    fn parts_are_those_of_supersteps(graph in graphs()) {
        let (expected, _) = by_supersteps((0..graph.nodes as u32).collect(), |vertex, labels: &[u32]| {
            let both = graph.incoming().neighbours(vertex).iter().chain(graph.outgoing().neighbours(vertex));
            both.fold(labels[vertex], |least, &far| least.min(labels[far as usize]))
        });
        let symmetric = graph.symmetric();
        for threads in THREADS {
            in_threads(threads, || {
                assert_eq!(components::parts(&[graph.incoming(), graph.outgoing()], ALWAYS).unwrap(), expected);
                let found = components::parts(&[symmetric.incoming()], ALWAYS).unwrap();
                assert_eq!(found, expected);
                // Values that are not those of the first vertices.
                let values: Vec<i64> = (0..graph.nodes as i64).map(|node| node * 7919 % 211).collect();
                let least = |part: u32| (0..graph.nodes).filter(|&node| found[node] == part).map(|node| values[node]).min().unwrap();
                let wanted: Vec<i64> = found.iter().map(|&part| least(part)).collect();
                let mut given = vec![-1; graph.nodes];
                components::assign_least(&mut given, &values, &found);
                assert_eq!(given, wanted);
            });
        }
    }

    #[test]
    fn cores_are_those_of_supersteps(graph in graphs()) {
        for graph in [graph.symmetric(), graph] {
            let first = (0..graph.nodes).map(|vertex| graph.incoming().degree(vertex) as u32).collect();
            let (expected, _) = by_supersteps(first, |vertex, cores: &[u32]| {
                let mut read: Vec<u32> = graph.incoming().neighbours(vertex).iter().map(|&far| cores[far as usize]).collect();
                read.sort_unstable_by(|one, other| other.cmp(one));
                read.iter().enumerate().take_while(|(at, core)| **core > *at as u32).count() as u32
            });
            for threads in THREADS {
                assert_eq!(cores_of(&graph, threads), expected);
            }
        }
    }
}
