//! tests: the fast form against the reference, on every width, combination and degenerate graph.
use proptest::prelude::*;
use warploom_ir::Binary;
use warploom_launch::{Combine, EdgeFactor, Expression};

use super::{NeighbourReduce, neighbour_reduce, reference};
use crate::Scalar;
use crate::expression::{Bound, BufferOperand, Compiled, OperandRows};
use crate::group_tasks::tests::group_starts;
use crate::random::dropout::DrawContext;
use crate::test_support::{Graph, WIDTHS, graphs, numbers, random_graph, run_in_pools};

const COMBINES: [Combine; 3] = [Combine::Sum, Combine::Min, Combine::Max];
const FACTORS: [EdgeFactor; 2] = [EdgeFactor::One, EdgeFactor::Weight];

/// Exact for f64 and ids, which the reference computes in the same order, but for sums of one
/// column; near for f32.
fn assert_same<T: Scalar>(
    made: &[T],
    expected: &[f64],
    (entries, in_order): (usize, bool),
    what: &str,
) {
    assert_eq!(made.len(), expected.len(), "{what}");
    let is_narrow = std::any::TypeId::of::<T>() == std::any::TypeId::of::<f32>();
    for (at, (made, &expected)) in made.iter().zip(expected).enumerate() {
        let made = made.widened();
        let rounding = if is_narrow { 1e-7 } else { 1e-16 };
        let near = (is_narrow || !in_order)
            && (made - expected).abs() <= rounding * (1.0 + entries as f64);
        assert!(made == expected || near, "{what}: element {at} is {made}, expected {expected}");
    }
}

fn check<T: Scalar>(
    graphs: &[&Graph],
    combine: Combine,
    factor: EdgeFactor,
    columns: usize,
    has_source: bool,
) {
    let weights: Vec<Vec<T>> =
        graphs.iter().map(|graph| numbers(graph.neighbours.len(), 3)).collect();
    let adjacencies: Vec<_> = graphs
        .iter()
        .zip(&weights)
        .map(|(graph, weights)| graph.adjacency(Some(&weights[..])))
        .collect();
    let rows = graphs[0].rows();
    let source: Vec<T> = numbers(rows * columns, 4);
    let program = Compiled::identity();
    let units = graphs[0].units();
    let work = NeighbourReduce {
        adjacencies: &adjacencies,
        unit_starts: &units,
        groups: None,
        combine,
        factor,
        source: has_source.then_some(&source[..]),
        columns,
        epilogue: Bound { program: &program, operands: &[], context: DrawContext::default() },
    };
    let mut made = vec![T::ONE; rows * columns];
    neighbour_reduce(&mut made, &work);
    let what =
        format!("{} x {columns}, {combine:?} of {factor:?}, source {has_source}", graphs[0].name);
    let in_order = combine != Combine::Sum || columns > 1;
    let expected = reference::neighbour_reduce(&work);
    assert_same(&made, &expected, (graphs[0].neighbours.len(), in_order), &what);
    for most in [1, 3, 64, 100_000].into_iter().filter(|_| graphs.len() == 1) {
        let starts = group_starts(&graphs[0].offsets, most);
        let mut grouped = vec![T::ONE; rows * columns];
        neighbour_reduce(&mut grouped, &NeighbourReduce { groups: Some(&starts), ..work });
        let what = format!("groups of {most}: {what}");
        let in_order = combine != Combine::Sum;
        assert_same(&grouped, &expected, (graphs[0].neighbours.len(), in_order), &what);
    }
}

#[test]
fn degenerate_graphs_of_every_width() {
    for graph in &graphs() {
        for columns in WIDTHS {
            for combine in COMBINES {
                for factor in FACTORS {
                    check::<f32>(&[graph], combine, factor, columns, true);
                    check::<f64>(&[graph], combine, factor, columns, true);
                }
            }
            check::<u32>(&[graph], Combine::Min, EdgeFactor::One, columns, true);
        }
    }
}

#[test]
fn without_source_edges_or_weights_are_counted() {
    for graph in &graphs() {
        for combine in COMBINES {
            for factor in FACTORS {
                check::<f32>(&[graph], combine, factor, 1, false);
                check::<f64>(&[graph], combine, factor, 1, false);
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
            check::<f64>(&[&forward, &backward], combine, EdgeFactor::Weight, columns, true);
            check::<f32>(&[&forward, &backward], combine, EdgeFactor::One, columns, true);
        }
        check::<u32>(&[&forward, &backward], Combine::Min, EdgeFactor::One, columns, true);
    }
}

#[test]
fn rows_of_a_source_beyond_a_cache_are_asked_for_and_summed_alike() {
    let (graph, mut other) = (random_graph(4099, 20_000, 6), random_graph(4099, 9000, 7));
    other.name = "other";
    for columns in [32, 33, 64, 100, 200] {
        assert!(graph.rows() * columns * size_of::<f32>() > 512 * 1024);
        for factor in FACTORS {
            check::<f32>(&[&graph], Combine::Sum, factor, columns, true);
            check::<f64>(&[&graph, &other], Combine::Sum, factor, columns, true);
        }
    }
}

fn reduce(graph: &Graph, source: &[f32], columns: usize, combine: Combine) -> Vec<f32> {
    let program = Compiled::identity();
    let adjacencies = [graph.adjacency(None)];
    let units = graph.units();
    let mut made = vec![7.0; graph.rows() * columns];
    let epilogue = Bound { program: &program, operands: &[], context: DrawContext::default() };
    let work = NeighbourReduce {
        adjacencies: &adjacencies,
        unit_starts: &units,
        groups: None,
        combine,
        factor: EdgeFactor::Weight,
        source: Some(source),
        columns,
        epilogue,
    };
    neighbour_reduce(&mut made, &work);
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
fn threads_change_no_bit_and_the_order_is_that_of_the_row() {
    let graph = random_graph(997, 20_000, 8);
    for columns in [1, 16, 33] {
        let source: Vec<f32> = numbers(graph.rows() * columns, 2);
        let made = run_in_pools(|| reduce(&graph, &source, columns, Combine::Sum));
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
fn threads_change_no_bit_of_groups_whose_rows_are_in_several_tasks() {
    let edges: Vec<(u32, u32)> = (0..20_000u32).map(|at| (at % 3 * 7, at % 997)).collect();
    let graph = Graph::new("three hubs", 997, &edges);
    let (program, adjacencies, units) =
        (Compiled::identity(), [graph.adjacency(None)], graph.units());
    for (columns, most) in [(1, 1), (16, 32), (33, 1024)] {
        let source: Vec<f64> = numbers(graph.rows() * columns, 2);
        let starts = group_starts(&graph.offsets, most);
        let work = NeighbourReduce {
            adjacencies: &adjacencies,
            unit_starts: &units,
            groups: Some(&starts),
            combine: Combine::Sum,
            factor: EdgeFactor::One,
            source: Some(&source),
            columns,
            epilogue: Bound { program: &program, operands: &[], context: DrawContext::default() },
        };
        let made = run_in_pools(|| {
            let mut made = vec![7.0; graph.rows() * columns];
            neighbour_reduce(&mut made, &work);
            made
        });
        assert_same(&made, &reference::neighbour_reduce(&work), (20_000, false), "three hubs");
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

#[test]
fn the_epilogue_sees_each_element_once() {
    let graph = random_graph(301, 2000, 5);
    for columns in [1, 16, 100, 1500] {
        let rows = graph.rows();
        let source: Vec<f64> = numbers(rows * columns, 2);
        let scale: Vec<f64> = numbers(rows, 3);
        let bias: Vec<f64> = numbers(columns, 4);
        let scaled =
            Expression::binary(Binary::Multiply, Expression::load("scale"), Expression::Made);
        let program =
            Compiled::compile(&Expression::binary(Binary::Add, scaled, Expression::load("bias")));
        let program = program.expect("compiles");
        assert_eq!(program.loads(), ["scale", "bias"]);
        let operands = [
            BufferOperand { data: &scale, rows: OperandRows::Many, columns: 1 },
            BufferOperand { data: &bias, rows: OperandRows::One, columns },
        ];
        let (adjacencies, units) = ([graph.adjacency(None)], graph.units());
        let work = NeighbourReduce {
            adjacencies: &adjacencies,
            unit_starts: &units,
            groups: None,
            combine: Combine::Sum,
            factor: EdgeFactor::One,
            source: Some(&source),
            columns,
            epilogue: Bound {
                program: &program,
                operands: &operands,
                context: DrawContext::default(),
            },
        };
        let mut made = vec![0.0; rows * columns];
        neighbour_reduce(&mut made, &work);
        for (at, expected) in reference::neighbour_reduce(&work).into_iter().enumerate() {
            assert_eq!(made[at], scale[at / columns] * expected + bias[at % columns]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_graphs(
        edges in prop::collection::vec((0u32..41, 0u32..41), 0..300),
        columns in 1usize..140,
        combine in prop::sample::select(&COMBINES),
        factor in prop::sample::select(&FACTORS),
    ) {
        let graph = Graph::new("drawn", 41, &edges);
        check::<f64>(&[&graph], combine, factor, columns, true);
        check::<f32>(&[&graph], combine, factor, columns, true);
    }
}
