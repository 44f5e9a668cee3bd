//! test_support: graphs, numbers and thread pools for the tests of all operations.
//!
//! promises  the same numbers on every run; degenerate graphs are always among `graphs`
//! never     is part of the library
use rayon::ThreadPoolBuilder;
use warploom_test_support::graphs::{EdgeList, degenerate_graphs};

use crate::Real;
use crate::random::philox4x32;

/// Widths that cover every path: each register tile, one less and one more, and several tiles.
pub(crate) const WIDTHS: [usize; 14] = [1, 2, 3, 7, 8, 16, 31, 32, 33, 64, 65, 100, 128, 256];

/// A graph that owns its rows.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) name: &'static str,
    pub(crate) offsets: Vec<u64>,
    pub(crate) neighbours: Vec<u32>,
}

impl Graph {
    pub(crate) fn new(name: &'static str, rows: usize, edges: &[(u32, u32)]) -> Self {
        let mut lists = vec![Vec::new(); rows];
        for &(row, neighbour) in edges {
            lists[row as usize].push(neighbour);
        }
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        for list in lists {
            neighbours.extend(list);
            offsets.push(neighbours.len() as u64);
        }
        Graph { name, offsets, neighbours }
    }

    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Degenerate graphs, whose rows are in-edges, and a random one.
pub(crate) fn graphs() -> Vec<Graph> {
    let graph = |list: EdgeList| {
        let edges: Vec<_> = list.edges.iter().map(|(source, target)| (*target, *source)).collect();
        Graph::new(list.name, list.nodes, &edges)
    };
    degenerate_graphs().into_iter().map(graph).chain([random_graph(301, 2000, 5)]).collect()
}

/// Random edges, with row 7 the heaviest.
pub(crate) fn random_graph(rows: usize, edges: usize, seed: u64) -> Graph {
    let edge = |index: u32| {
        let words = philox4x32::<10>([index, 0, 0, 1], [seed as u32, 9]);
        let row = if words[2].is_multiple_of(4) { 7 % rows as u32 } else { words[0] % rows as u32 };
        (row, words[1] % rows as u32)
    };
    Graph::new("random", rows, &(0..edges as u32).map(edge).collect::<Vec<_>>())
}

/// Numbers in [-1, 1).
pub(crate) fn numbers<T: Real>(count: usize, seed: u32) -> Vec<T> {
    let number = |index: u32| {
        let word = philox4x32::<10>([index, 0, 0, 0], [seed, 0])[0];
        T::rounded(f64::from(word) / 2f64.powi(31) - 1.0)
    };
    (0..count as u32).map(number).collect()
}

/// The result in pools of 1, 2 and 5 threads, asserted to have the same bits.
pub(crate) fn run_in_pools<T: Real>(make: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    let run = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(&make)
    };
    let made = run(1);
    for threads in [2, 5] {
        let again = run(threads);
        let (first, second): (&[u8], &[u8]) =
            (bytemuck::cast_slice(&made), bytemuck::cast_slice(&again));
        assert!(first == second, "{threads} threads change the result");
    }
    made
}

/// Asserts that each element is near the expected one, relative to it and to `size`; NaN meets NaN.
pub(crate) fn assert_close<T: Real>(made: &[T], expected: &[f64], size: f64, what: &str) {
    assert_eq!(made.len(), expected.len(), "{what}");
    let tolerance = if size_of::<T>() == 4 { 1e-5 } else { 1e-13 };
    for (at, (made, &expected)) in made.iter().zip(expected).enumerate() {
        let made = made.widened();
        let same = made == expected || (made.is_nan() && expected.is_nan());
        let error = (made - expected).abs();
        assert!(
            same || error <= tolerance * (size + expected.abs()),
            "{what}: element {at} is {made}, expected {expected}"
        );
    }
}
