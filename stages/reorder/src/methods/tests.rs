//! Invariants of every method, on degenerate and random graphs; and the quality of orders beside
//! other systems.
use proptest::prelude::*;
use warploom_contract::{
    communities,
    kinds::{csr::CsrParts, graph::EdgeTable, permutation::inverse, profile::CommunityFigures},
};
use warploom_extract::group::build_csr;
use warploom_test_support::graphs;

use super::{
    approximate_degree, breadth_first, columns_then_rows, degree, first_column, hubs, metis,
    rabbit, random, rcm,
};
use crate::undirected_neighbours::Undirected;

pub(crate) fn csr(nodes: usize, edges: &[(u32, u32)]) -> CsrParts {
    let (source, target) = edges.iter().copied().unzip();
    build_csr(nodes, &EdgeTable { source, target, ..EdgeTable::default() })
}

pub(crate) fn undirected(nodes: usize, edges: &[(u32, u32)]) -> Undirected {
    let csr = csr(nodes, edges);
    Undirected::from_rows(csr.incoming.rows(), csr.outgoing.rows(), &|_| {})
}

/// Figures of communities where each pair of neighbours counts once.
fn figures(graph: &Undirected, community: &[u32]) -> CommunityFigures {
    communities::figures(community, graph.rows(), graph.rows())
}

/// Cut in this process.
fn metis_order(graph: &Undirected, parts: u64) -> metis::MetisOrder {
    metis::order(graph, metis::CutRequest { parts, seed: 0 }, |pairs, wish| {
        metis::cut_parts(&pairs, wish)
    })
    .unwrap()
}

/// The order of every method, by its name.
fn all(nodes: usize, edges: &[(u32, u32)]) -> Vec<(&'static str, Vec<u32>)> {
    let degrees: Vec<u64> = csr(nodes, edges).incoming.rows().degrees().collect();
    let graph = undirected(nodes, edges);
    vec![
        ("random", random::order(nodes, 3)),
        ("degree", degree::order(&degrees, false)),
        ("degree, ascending", degree::order(&degrees, true)),
        ("approx-degree", approximate_degree::order(&degrees, 4, false)),
        ("hub-sort", hubs::order(&degrees, true)),
        ("hub-cluster", hubs::order(&degrees, false)),
        ("bfs", breadth_first::order(&graph, &|_| {})),
        ("rcm", rcm::order(&graph, &|_| {})),
        ("rabbit", rabbit::order(&graph, &|_| {}).old_of_new),
        ("metis", metis_order(&graph, 4).old_of_new),
        ("metis, more parts", metis_order(&graph, 9).old_of_new),
        ("first-column", first_column::order(csr(nodes, edges).incoming.rows())),
        ("columns-then-rows", columns_then_rows::order(csr(nodes, edges).incoming.rows())),
    ]
}

fn assert_bijections(nodes: usize, edges: &[(u32, u32)]) {
    for (method, mut order) in all(nodes, edges) {
        order.sort_unstable();
        assert!(
            order.iter().copied().eq(0..nodes as u32),
            "{method} on {nodes} nodes with {edges:?}: {order:?}"
        );
    }
}

fn bandwidth(edges: &[(u32, u32)], old_of_new: &[u32]) -> u32 {
    let new = inverse(old_of_new);
    edges
        .iter()
        .map(|&(source, target)| new[source as usize].abs_diff(new[target as usize]))
        .max()
        .unwrap_or(0)
}

#[test]
fn degenerate_graphs() {
    for graph in graphs::degenerate_graphs() {
        assert_bijections(graph.nodes, &graph.edges);
    }
}

#[test]
fn who_is_a_neighbour() {
    let graph = undirected(4, &[(0, 1), (1, 0), (0, 1), (2, 2), (3, 1)]);
    assert_eq!(
        [0, 1, 2, 3].map(|node| graph.neighbours(node).to_vec()),
        [vec![1], vec![0, 3], vec![], vec![1]]
    );
    assert_eq!((graph.ends(), graph.nodes_by_degree()), (4, vec![2, 0, 3, 1]));
}

/// Two cliques of five, joined by one edge.
fn two_cliques() -> Vec<(u32, u32)> {
    let clique = |first: u32| {
        (0..5)
            .flat_map(move |source| (0..source).map(move |target| (first + source, first + target)))
    };
    let shuffled = |node: u32| node * 3 % 10;
    clique(0)
        .chain(clique(5))
        .chain([(0, 5)])
        .map(|(source, target)| (shuffled(source), shuffled(target)))
        .collect()
}

#[test]
fn communities_lie_side_by_side() {
    let edges = two_cliques();
    let graph = undirected(10, &edges);
    let found = rabbit::order(&graph, &|_| {});
    let communities = figures(&graph, &found.community);
    // 40 of 42 ends lie inside, and each half has half of all: 40 / 42 - 1 / 2.
    assert_eq!(
        (communities.count, (communities.modularity * 1e6).round()),
        (2, ((40.0 / 42.0 - 0.5) * 1e6f64).round())
    );
    let of_new: Vec<u32> =
        found.old_of_new.iter().map(|&old| found.community[old as usize]).collect();
    assert_eq!(of_new.chunk_by(|left, right| left == right).count(), 2, "{of_new:?}");
}

#[test]
fn a_path_gets_a_band_of_one() {
    let path: Vec<(u32, u32)> = (0..99).map(|at| (at * 37 % 100, (at + 1) * 37 % 100)).collect();
    assert_eq!(bandwidth(&path, &rcm::order(&undirected(100, &path), &|_| {})), 1);
    // A grid of 10 by 10 has a band of 10 at best.
    let grid = (0..10u32).flat_map(|row| {
        (0..10).flat_map(move |column| {
            [(row, column, row, (column + 1) % 10), (row, column, (row + 1) % 10, column)]
        })
    });
    let inside = grid.filter(|(row, column, down, right)| down >= row && right >= column);
    let grid: Vec<(u32, u32)> = inside
        .map(|(row, column, down, right)| {
            ((row * 10 + column) * 37 % 100, (down * 10 + right) * 37 % 100)
        })
        .collect();
    let found = bandwidth(&grid, &rcm::order(&undirected(100, &grid), &|_| {}));
    assert!((10..=11).contains(&found), "{found}");
}

#[test]
fn breadth_goes_from_the_node_of_most_neighbours() {
    let graph = undirected(7, &[(4, 1), (4, 2), (4, 6), (6, 0), (3, 5)]);
    assert_eq!(breadth_first::order(&graph, &|_| {}), [4, 1, 2, 6, 0, 5, 3]);
}

pub(crate) fn graphs() -> impl Strategy<Value = (usize, Vec<(u32, u32)>)> {
    (1usize..60).prop_flat_map(|nodes| {
        let node = 0..nodes as u32;
        (Just(nodes), proptest::collection::vec((node.clone(), node), 0..200))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_order_is_a_bijection((nodes, edges) in graphs()) {
        assert_bijections(nodes, &edges);
    }

    /// What was joined only ever gained, so that all of it is worth at least as much as nodes
    /// apart.
    #[test]
    fn joining_gains((nodes, edges) in graphs()) {
        let graph = undirected(nodes, &edges);
        let apart: Vec<u32> = (0..nodes as u32).collect();
        let found = rabbit::order(&graph, &|_| {});
        prop_assert!(figures(&graph, &found.community).modularity >= figures(&graph, &apart).modularity - 1e-12);
        let of_new = found.old_of_new.iter().filter(|&&old| graph.degree(old) > 0).map(|&old| found.community[old as usize]);
        let of_new: Vec<u32> = of_new.collect();
        prop_assert_eq!(of_new.chunk_by(|left, right| left == right).count() as u64, figures(&graph, &found.community).count);
    }

    /// The band is never wider than the number of nodes, and turning round keeps it.
    #[test]
    fn a_band_is_as_wide_from_both_ends((nodes, edges) in graphs()) {
        let mut order = rcm::order(&undirected(nodes, &edges), &|_| {});
        let found = bandwidth(&edges, &order);
        order.reverse();
        prop_assert_eq!(found, bandwidth(&edges, &order));
    }
}
