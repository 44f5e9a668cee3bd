//! tests: against the obvious loop, on every width, combination and degenerate graph.
use proptest::prelude::*;

use super::{Entries, MaxOf, MinOf, SumOf, reduce_rows};
use crate::Real;
use crate::test_support::{Graph, WIDTHS, graphs, numbers, random_graph};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Combine {
    Sum,
    Min,
    Max,
}

const COMBINES: [Combine; 3] = [Combine::Sum, Combine::Min, Combine::Max];

impl Combine {
    fn reduce<T: Real>(
        self,
        out: &mut [T],
        lists: &[Entries<T>],
        first_row: usize,
        source: &[T],
        columns: usize,
    ) {
        let arch = pulp::Arch::new();
        match self {
            Combine::Sum => reduce_rows::<T, SumOf>(arch, out, lists, first_row, source, columns),
            Combine::Min => reduce_rows::<T, MinOf>(arch, out, lists, first_row, source, columns),
            Combine::Max => reduce_rows::<T, MaxOf>(arch, out, lists, first_row, source, columns),
        }
    }

    fn start(self) -> f64 {
        match self {
            Combine::Sum => 0.0,
            Combine::Min => f64::INFINITY,
            Combine::Max => f64::NEG_INFINITY,
        }
    }

    fn join(self, made: f64, message: f64) -> f64 {
        match self {
            Combine::Sum => made + message,
            Combine::Min => made.smaller(message),
            Combine::Max => made.larger(message),
        }
    }
}

/// One entry after another, in f64.
fn expected<T: Real>(
    combine: Combine,
    lists: &[Entries<T>],
    source: &[T],
    columns: usize,
) -> Vec<f64> {
    let rows = lists[0].offsets.len() - 1;
    let mut made = vec![combine.start(); rows * columns];
    for row in 0..rows {
        for list in lists {
            for entry in list.offsets[row] as usize..list.offsets[row + 1] as usize {
                let weight = list.weights.map_or(1.0, |weights| weights[entry].widened());
                for column in 0..columns {
                    let read = source[list.neighbours[entry] as usize * columns + column];
                    let made = &mut made[row * columns + column];
                    *made = combine.join(*made, weight * read.widened());
                }
            }
        }
    }
    made
}

/// Exact for f64, which the loop computes in the same order, but for sums of one column; near for
/// f32.
fn assert_same<T: Real>(made: &[T], expected: &[f64], entries: usize, in_order: bool, what: &str) {
    assert_eq!(made.len(), expected.len(), "{what}");
    let is_narrow = size_of::<T>() == 4;
    for (at, (made, &expected)) in made.iter().zip(expected).enumerate() {
        let made = made.widened();
        let rounding = if is_narrow { 1e-7 } else { 1e-16 };
        let near = (is_narrow || !in_order)
            && (made - expected).abs() <= rounding * (1.0 + entries as f64);
        assert!(made == expected || near, "{what}: element {at} is {made}, expected {expected}");
    }
}

fn check<T: Real>(graphs: &[&Graph], combine: Combine, weighted: bool, columns: usize) {
    let weights: Vec<Vec<T>> =
        graphs.iter().map(|graph| numbers(graph.neighbours.len(), 3)).collect();
    let lists: Vec<Entries<T>> = graphs
        .iter()
        .zip(&weights)
        .map(|(graph, weights)| Entries {
            weights: weighted.then_some(&weights[..]),
            ..Entries::of_list(&graph.offsets, &graph.neighbours)
        })
        .collect();
    let rows = graphs[0].rows();
    let source: Vec<T> = numbers(rows * columns, 4);
    let mut made = vec![T::ONE; rows * columns];
    // Blocks of rows, of which the second starts within the lists.
    let first = rows / 3;
    let (before, after) = made.split_at_mut(first * columns);
    combine.reduce(before, &lists, 0, &source, columns);
    combine.reduce(after, &lists, first, &source, columns);
    let what = format!("{} x {columns}, {combine:?}, weights {weighted}", graphs[0].name);
    let in_order = combine != Combine::Sum || columns > 1;
    let wanted = expected(combine, &lists, &source, columns);
    assert_same(&made, &wanted, graphs[0].neighbours.len(), in_order, &what);
}

#[test]
fn degenerate_graphs_of_every_width() {
    for graph in &graphs() {
        for columns in WIDTHS {
            for combine in COMBINES {
                for weighted in [false, true] {
                    check::<f32>(&[graph], combine, weighted, columns);
                    check::<f64>(&[graph], combine, weighted, columns);
                }
            }
        }
    }
}

#[test]
fn both_directions_one_after_the_other() {
    let (forward, mut backward) = (random_graph(50, 400, 1), random_graph(50, 300, 2));
    backward.name = "other";
    for columns in [1, 3, 16, 40] {
        for combine in COMBINES {
            check::<f64>(&[&forward, &backward], combine, true, columns);
            check::<f32>(&[&forward, &backward], combine, false, columns);
        }
    }
}

#[test]
fn rows_of_a_source_beyond_a_cache_are_asked_for_and_summed_alike() {
    let (graph, mut other) = (random_graph(4099, 20_000, 6), random_graph(4099, 9000, 7));
    other.name = "other";
    for columns in [32, 33, 64, 100, 200] {
        assert!(graph.rows() * columns * size_of::<f32>() > 512 * 1024);
        for weighted in [false, true] {
            check::<f32>(&[&graph], Combine::Sum, weighted, columns);
            check::<f64>(&[&graph, &other], Combine::Sum, weighted, columns);
        }
    }
}

fn reduce(graph: &Graph, source: &[f32], columns: usize, combine: Combine) -> Vec<f32> {
    let mut made = vec![7.0; graph.rows() * columns];
    let list = Entries::of_list(&graph.offsets, &graph.neighbours);
    combine.reduce(&mut made, &[list], 0, source, columns);
    made
}

/// The sum of one column as it is defined: blocks of 512, each with whole fours in lanes and what
/// is left after these.
fn in_lanes(values: &[f32]) -> f32 {
    let joined = |lanes: [f32; 4]| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    let of_block = |block: &[f32]| {
        let (fours, rest) = block.as_chunks::<4>();
        let mut lanes = [0.0f32; 4];
        fours
            .iter()
            .for_each(|four| lanes.iter_mut().zip(four).for_each(|(lane, value)| *lane += value));
        rest.iter().fold(joined(lanes), |sum, value| sum + value)
    };
    if values.len() <= 512 {
        return of_block(values);
    }
    let mut lanes = [0.0; 4];
    values.chunks(512).enumerate().for_each(|(at, block)| lanes[at % 4] += of_block(block));
    joined(lanes)
}

#[test]
fn the_sum_of_a_hub_is_as_near_as_its_numbers() {
    let hub = Graph::new("hub", 100_001, &(1..100_001).map(|near| (0, near)).collect::<Vec<_>>());
    let source: Vec<f32> = (0..100_001).map(|at| 0.1 + (at % 97) as f32 * 1e-3).collect();
    let exact: f64 = source[1..].iter().map(|&value| f64::from(value)).sum();
    let made = reduce(&hub, &source, 1, Combine::Sum)[0];
    assert!((f64::from(made) - exact).abs() < 1e-6 * exact, "{made} is not {exact}");
}

#[test]
fn the_order_is_that_of_the_row() {
    let graph = random_graph(997, 20_000, 8);
    for columns in [1, 16, 33] {
        let source: Vec<f32> = numbers(graph.rows() * columns, 2);
        let made = reduce(&graph, &source, columns, Combine::Sum);
        for (at, &made) in made.iter().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let entries = graph.offsets[row] as usize..graph.offsets[row + 1] as usize;
            let of = |&neighbour: &u32| source[neighbour as usize * columns + column];
            let values: Vec<f32> = graph.neighbours[entries].iter().map(of).collect();
            let expected = if columns == 1 {
                in_lanes(&values)
            } else {
                values.iter().fold(0.0, |sum: f32, value| sum + value)
            };
            assert_eq!(made.to_bits(), expected.to_bits());
        }
    }
}

#[test]
fn over_nothing_and_over_nan() {
    let graph = Graph::new("three rows", 3, &[(1, 0), (1, 1), (1, 2), (2, 2), (2, 0)]);
    let source = [1.0f32, f32::NAN, 3.0];
    let expected = [
        (Combine::Sum, 0.0, 4.0),
        (Combine::Min, f32::INFINITY, 1.0),
        (Combine::Max, f32::NEG_INFINITY, 3.0),
    ];
    for (combine, nothing, last) in expected {
        let made = reduce(&graph, &source, 1, combine);
        assert_eq!((made[0], made[2]), (nothing, last));
        assert!(made[1].is_nan(), "{combine:?} over NaN is {}", made[1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn random_graphs(
        edges in prop::collection::vec((0u32..41, 0u32..41), 0..300),
        columns in 1usize..140,
        combine in prop::sample::select(&COMBINES),
        weighted in any::<bool>(),
    ) {
        let graph = Graph::new("drawn", 41, &edges);
        check::<f64>(&[&graph], combine, weighted, columns);
        check::<f32>(&[&graph], combine, weighted, columns);
    }
}
