//! Invariants of communities and their order, on graphs small enough for sequential moves and large
//! enough for batches.
use std::collections::BTreeMap;

use proptest::prelude::*;
use warploom_contract::{communities, kinds::permutation::inverse};

use super::{
    Hierarchy, RabbitOrder,
    level::Level,
    moves::move_nodes,
    tally::{Stash, Tally},
};
use crate::{
    methods::tests::{graphs, undirected},
    undirected_neighbours::Undirected,
};

fn order(graph: &Undirected) -> RabbitOrder {
    super::order(graph, &|_| {})
}

/// By the definition that reports use, each pair of neighbours once.
fn modularity(graph: &Undirected, community: &[u32]) -> f64 {
    communities::figures(community, graph.rows(), graph.rows()).modularity
}

/// Numbers that look drawn: xorshift.
fn draws(mut seed: u64) -> impl FnMut(u32) -> u32 {
    seed |= 1;
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % u64::from(below)) as u32
    }
}

/// Blocks with 18 edges a node inside and 2 to anywhere, under numbers that do not tell them: more
/// links than one by one would take.
fn planted(seed: u64) -> (Undirected, Vec<u32>) {
    const NODES: u32 = 6000;
    const BLOCKS: u32 = 40;
    let mut draw = draws(seed);
    let mut edges = Vec::new();
    for node in 0..NODES {
        edges.extend((0..18).map(|_| (node, draw(NODES / BLOCKS) * BLOCKS + node % BLOCKS)));
        edges.extend((0..2).map(|_| (node, draw(NODES))));
    }
    let shuffled = |node: u32| (u64::from(node) * 3701 % u64::from(NODES)) as u32;
    let edges: Vec<(u32, u32)> =
        edges.into_iter().map(|(source, target)| (shuffled(source), shuffled(target))).collect();
    let mut block = vec![0; NODES as usize];
    (0..NODES).for_each(|node| block[shuffled(node) as usize] = node % BLOCKS);
    (undirected(NODES as usize, &edges), block)
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

#[test]
fn threads_and_runs_leave_no_trace() {
    for seed in 1..4 {
        let (graph, _) = planted(seed);
        let alone = with_threads(1, || order(&graph));
        for threads in [1, 2, 3, 8] {
            assert_eq!(
                with_threads(threads, || order(&graph)),
                alone,
                "{threads} threads, seed {seed}"
            );
        }
    }
}

#[test]
fn blocks_are_found() {
    let (graph, block) = planted(5);
    let (found, best) = (modularity(&graph, &order(&graph).community), modularity(&graph, &block));
    assert!(found >= 0.99 * best && best > 0.8, "{found} of {best}");
}

/// Levels know their modularity; each gains, and moving single nodes at the end takes nothing away.
fn assert_gains(graph: &Undirected) {
    let (given, stash) = (Level::from_graph(graph), Stash::default());
    let joined = Hierarchy::build(&given, &stash, &|_| {});
    let mut community: Vec<u32> = (0..graph.nodes() as u32).collect();
    let mut before = modularity(graph, &community);
    for groups in &joined.levels {
        community.iter_mut().for_each(|own| *own = groups[*own as usize]);
        let reached = modularity(graph, &community);
        assert!(reached > before, "{before} -> {reached}");
        before = reached;
    }
    assert_eq!(community, joined.community);
    assert!((before - joined.modularity).abs() < 1e-12);
    assert!((before - given.modularity_of(&community, joined.count)).abs() < 1e-12);
    let (refined, _) = joined.refine(&given, &stash, &|_| {});
    assert!(modularity(graph, &refined) >= before - 1e-12);
}

#[test]
fn every_step_gains_in_batches() {
    (1..4).for_each(|seed| assert_gains(&planted(seed).0));
}

#[test]
fn cliques_of_a_ring_stay_whole() {
    let clique = |first: u32| {
        (0..6)
            .flat_map(move |source| (0..source).map(move |target| (first + source, first + target)))
    };
    let edges: Vec<(u32, u32)> =
        (0..20).flat_map(|at| clique(at * 6).chain([(at * 6, (at * 6 + 7) % 120)])).collect();
    let found = order(&undirected(120, &edges));
    assert!(
        (0..120).all(|node| found.community[node] == found.community[node / 6 * 6]),
        "{:?}",
        found.community
    );
    let rank = inverse(&found.old_of_new);
    for clique in rank.chunks(6) {
        let (first, last) = (clique.iter().min(), clique.iter().max());
        assert_eq!(last.zip(first).map(|(last, first)| last - first), Some(5), "{rank:?}");
    }
}

/// 70,000 leaves, more links than one by one would take: all lie with their hub, whichever number
/// it has.
#[test]
fn a_hub_takes_its_leaves() {
    for hub in [0, 35_000, 70_000] {
        let edges: Vec<(u32, u32)> =
            (0..=70_000).filter(|&leaf| leaf != hub).map(|leaf| (leaf, hub)).collect();
        let found = order(&undirected(70_001, &edges));
        assert!(found.community.iter().all(|&own| own == 0), "{hub}");
    }
}

#[test]
fn loops_directions_and_repeats_leave_no_trace() {
    let mut draw = draws(11);
    let plain: Vec<(u32, u32)> = (0..400).map(|_| (draw(90), draw(90))).collect();
    let other = plain
        .iter()
        .flat_map(|&(source, target)| [(target, source), (target, source), (source, source)]);
    assert_eq!(order(&undirected(90, &plain)), order(&undirected(90, &other.collect::<Vec<_>>())));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Numbers of communities have no gaps and follow each other along the order.
    #[test]
    fn communities_follow_each_other((nodes, edges) in graphs()) {
        let found = order(&undirected(nodes, &edges));
        let along: Vec<u32> = found.old_of_new.iter().map(|&old| found.community[old as usize]).collect();
        let runs: Vec<u32> = along.chunk_by(|left, right| left == right).map(|run| run[0]).collect();
        prop_assert_eq!(&runs, &(0..runs.len() as u32).collect::<Vec<_>>());
    }

    #[test]
    fn every_step_gains((nodes, edges) in graphs()) {
        assert_gains(&undirected(nodes, &edges));
    }

    /// A joined graph weighs what the given one does, on every level.
    #[test]
    fn nothing_is_lost_by_joining((nodes, edges) in graphs()) {
        let graph = undirected(nodes, &edges);
        let (given, stash) = (Level::from_graph(&graph), Stash::default());
        let (groups, count) = move_nodes(&given, (0..nodes as u32).collect(), 1, &stash, &|_| {});
        let level = given.merge(&groups, count, &stash);
        let mut between: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for node in 0..nodes as u32 {
            graph.neighbours(node).iter().for_each(|&far| *between.entry((groups[node as usize], groups[far as usize])).or_default() += 1);
        }
        let alone: Vec<u32> = (0..count as u32).collect();
        for own in 0..count as u32 {
            let mut tally = Tally::default();
            tally.begin(level.degree(own), count);
            level.tally_links(&mut tally, own, &alone);
            let found: BTreeMap<u32, u32> = tally.sums().collect();
            let expected = between.iter().filter(|((from, to), _)| *from == own && to != from).map(|((_, to), &weight)| (*to, weight));
            prop_assert_eq!(found, expected.collect::<BTreeMap<u32, u32>>());
            prop_assert_eq!(level.strength(own), between.iter().filter(|((from, _), _)| *from == own).map(|(_, &weight)| u64::from(weight)).sum::<u64>());
        }
    }

    /// A table that is used again, for few possible keys or many, sums like a map.
    #[test]
    fn a_tally_sums(rounds in proptest::collection::vec((any::<bool>(), proptest::collection::vec((0u32..5000, 1u32..9), 0..80)), 1..6)) {
        let mut tally = Tally::default();
        for (many, added) in rounds {
            // Keys beyond 2^14 are found by their hash.
            let key = |key: u32| if many { key * 800_000 } else { key };
            let mut expected: BTreeMap<u32, u32> = BTreeMap::new();
            tally.begin(added.len(), if many { u32::MAX as usize } else { 5000 });
            for &(at, weight) in &added {
                tally.add(key(at), weight);
                *expected.entry(key(at)).or_default() += weight;
            }
            prop_assert_eq!(tally.sums().collect::<BTreeMap<u32, u32>>(), expected);
        }
    }
}
