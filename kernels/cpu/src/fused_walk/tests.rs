//! tests: how many rows and edges are at hand at once changes no bit, nor does the number of
//! threads; each kind of step is compared with the same operation for all rows at a time
//! (`evaluate`).
use warploom_ir::{Binary, Direction, EdgeSet, Number, Op, Pooling, Reduction, Type, Unary};
use warploom_launch::Over;

use super::*;
use crate::evaluate::{self, Call, EdgeList, Leaf, Part, Values, ValuesMut};
use crate::gathered_rows::{Entries, SumOf, reduce_rows};
use crate::half_precision::{Half, Kept};
use crate::random::philox4x32;
use crate::test_support::run_in_pools;

const NODES: usize = 700;
const HEADS: u64 = 8;
const WIDTH: u64 = 8;

/// A graph with a hub that has more edges than a tile, isolated vertices, loops and parallel edges.
struct Sample {
    source: Vec<u32>,
    target: Vec<u32>,
    relation: Vec<u16>,
    incoming: (Vec<u64>, Vec<u32>, Vec<u32>),
    outgoing: (Vec<u64>, Vec<u32>, Vec<u32>),
}

fn by_end(own: &[u32], far: &[u32]) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); NODES];
    own.iter()
        .zip(far)
        .enumerate()
        .for_each(|(edge, (own, far))| lists[*own as usize].push((edge as u32, *far)));
    let (mut offsets, mut edges, mut ends) = (vec![0], Vec::new(), Vec::new());
    for list in lists {
        edges.extend(list.iter().map(|(edge, _)| *edge));
        ends.extend(list.iter().map(|(_, far)| *far));
        offsets.push(edges.len() as u64);
    }
    (offsets, edges, ends)
}

impl Sample {
    fn new() -> Self {
        let word = |index: u32, which: u32| philox4x32::<10>([index, which, 0, 0], [5, 6])[0];
        let (mut source, mut target) = (Vec::new(), Vec::new());
        for edge in 0..6000u32 {
            source.push(word(edge, 0) % (NODES as u32 - 40));
            target.push(if edge % 3 == 0 { 77 } else { word(edge, 1) % (NODES as u32 - 20) });
        }
        let relation = (0..source.len()).map(|edge| (edge % 3) as u16).collect();
        Sample {
            incoming: by_end(&target, &source),
            outgoing: by_end(&source, &target),
            source,
            target,
            relation,
        }
    }

    fn graph(&self) -> EdgeGraph<'_> {
        fn side(list: &(Vec<u64>, Vec<u32>, Vec<u32>)) -> EdgeList<'_> {
            EdgeList { offsets: &list.0, edges: &list.1, far: &list.2 }
        }
        EdgeGraph {
            nodes: NODES,
            edge_count: self.source.len(),
            incoming: Some(side(&self.incoming)),
            outgoing: Some(side(&self.outgoing)),
            source: &self.source,
            target: &self.target,
            relation: &self.relation,
            graphs: None,
        }
    }
}

fn numbers<T: Real>(count: usize, seed: u32) -> Vec<T> {
    (0..count as u32)
        .map(|index| {
            T::rounded(
                f64::from(philox4x32::<10>([index, seed, 0, 0], [7, 8])[0]) / f64::from(u32::MAX)
                    - 0.5,
            )
        })
        .collect()
}

fn step(op: Op, shape: &[u64], kind: Type, level: Level, inputs: Vec<Input>) -> Step {
    Step { op, shape: shape.to_vec(), kind, level, inputs, store: None }
}

fn read(from: From, shape: &[u64], index: Index, kind: Type) -> Input {
    Input::Rows(Read { from, shape: shape.to_vec(), index, kind })
}

fn times(first: Input, second: Input) -> Input {
    Input::Times(Box::new(first), Box::new(second))
}

/// The reads of a kernel: rows of vertices, narrow and wide, and a bool by the edge.
struct Buffers<T> {
    left: Vec<T>,
    right: Vec<T>,
    wide: Vec<T>,
    mask: Vec<i64>,
}

impl<T: Real> Buffers<T> {
    fn new(edges: usize) -> Self {
        let heads = HEADS as usize;
        let mask = (0..2 * edges as i64).map(|edge| i64::from(edge % 5 != 0)).collect();
        Buffers {
            left: numbers(NODES * heads, 1),
            right: numbers(NODES * heads, 2),
            wide: numbers(NODES * heads * WIDTH as usize, 3),
            mask,
        }
    }

    fn values(&self) -> Vec<Values<'_, T>> {
        vec![
            Values::Real(&self.left),
            Values::Real(&self.right),
            Values::Real(&self.wide),
            Values::Whole(&self.mask),
        ]
    }

    fn stored(&self) -> Vec<Stored<'_, T>> {
        vec![
            Stored::Real(&self.left),
            Stored::Real(&self.right),
            Stored::Real(&self.wide),
            Stored::Whole(&self.mask),
        ]
    }
}

/// Attention: scores, their largest, shares, the weighted sum, a dot product of rows, reductions of
/// edges that are chosen by a mask and by relation, numbers of edges; `stored` are all steps of
/// rows.
fn attention(set: EdgeSet, kind_of_mask: Index) -> Vec<Step> {
    use super::From::{Buffer, Step as Made};
    let (heads, parts, wide) = (&[HEADS][..], &[HEADS, 1][..], &[HEADS, WIDTH][..]);
    let (far, near, real) = (Index::Far(set), Index::Near(set), Type::Real);
    let of = |from: From, shape: &[u64], index: Index| read(from, shape, index, real);
    let edge =
        |op: Op, shape: &[u64], inputs: Vec<Input>| step(op, shape, real, Level::Edge, inputs);
    let row = |op: Op, shape: &[u64], inputs: Vec<Input>| step(op, shape, real, Level::Row, inputs);
    let reduce = |reduction: Reduction, set: EdgeSet| Op::Reduce(reduction, set);
    let relation = EdgeSet { relation: Some(1), ..set };
    let mask = || read(Buffer(3), &[], kind_of_mask, Type::Bool);
    let mut steps = vec![
        edge(
            Op::Binary(Binary::Add),
            heads,
            vec![of(Buffer(0), heads, far), of(Buffer(1), heads, near)],
        ), // 0
        edge(Op::Unary(Unary::LeakyRelu(0.2)), heads, vec![of(Made(0), heads, Index::Same)]), // 1: scores
        row(reduce(Reduction::Maximum, set), heads, vec![of(Made(1), heads, Index::Same)]),   // 2
        edge(
            Op::Binary(Binary::Subtract),
            heads,
            vec![of(Made(1), heads, Index::Same), of(Made(2), heads, near)],
        ), // 3
        edge(Op::Unary(Unary::Exp), heads, vec![of(Made(3), heads, Index::Same)]),            // 4
        row(reduce(Reduction::Sum, set), heads, vec![of(Made(4), heads, Index::Same)]),       // 5
        row(
            reduce(Reduction::Sum, set),
            wide,
            vec![times(of(Made(4), parts, Index::Same), of(Buffer(2), wide, far))],
        ), // 6
        row(
            Op::Binary(Binary::Divide),
            wide,
            vec![of(Made(6), wide, Index::Same), of(Made(5), parts, Index::Same)],
        ), // 7
        edge(
            Op::Axis(Pooling::Sum, 1),
            heads,
            vec![times(of(Made(7), wide, near), of(Buffer(2), wide, far))],
        ), // 8
        row(reduce(Reduction::Sum, set), heads, vec![of(Made(8), heads, Index::Same), mask()]), // 9
        row(reduce(Reduction::Minimum, relation), wide, vec![of(Buffer(2), wide, far)]),      // 10
        row(reduce(Reduction::Sum, relation), wide, vec![of(Buffer(2), wide, far)]),          // 11
        row(
            reduce(Reduction::Sum, set),
            wide,
            vec![times(of(Made(8), parts, Index::Same), of(Buffer(2), wide, far)), mask()],
        ), // 12
        step(
            reduce(Reduction::Count, set),
            &[],
            Type::Int,
            Level::Row,
            vec![of(Made(4), heads, Index::Same), mask()],
        ), // 13
    ];
    steps
        .iter_mut()
        .filter(|step| step.level == Level::Row)
        .enumerate()
        .for_each(|(output, step)| step.store = Some(output));
    steps
}

fn run<T: Real + Element>(
    kernel: &Kernel<T>,
    steps: &[Step],
    buffers: &Buffers<T>,
    graph: EdgeGraph,
    units: &[u32],
) -> Vec<Vec<f64>> {
    run_rows(kernel, steps, buffers, Walked { graph, units, only: None, groups: None })
}

/// All rows, by units.
fn whole_graph<'a, T>(
    reads: &'a [Stored<'a, T>],
    graph: EdgeGraph<'a>,
    unit_starts: &'a [u32],
) -> Work<'a, T> {
    let context = DrawContext::default();
    Work { reads, graph, unit_starts, groups: None, context, only: None }
}

/// What is walked, and how it is divided.
#[derive(Clone, Copy)]
struct Walked<'a> {
    graph: EdgeGraph<'a>,
    units: &'a [u32],
    only: Option<&'a [Run]>,
    groups: Option<&'a [u64]>,
}

/// Makes these rows, of outputs that hold 0.
fn run_rows<T: Real + Element>(
    kernel: &Kernel<T>,
    steps: &[Step],
    buffers: &Buffers<T>,
    Walked { graph, units, only, groups }: Walked,
) -> Vec<Vec<f64>> {
    let rows = |step: &Step| NODES * step.shape.iter().product::<u64>() as usize;
    let mut reals: Vec<Vec<T>> = steps
        .iter()
        .filter(|step| step.store.is_some())
        .map(|step| vec![T::ZERO; rows(step)])
        .collect();
    let mut wholes: Vec<Vec<i64>> = reals.iter().map(|values| vec![0; values.len()]).collect();
    let kinds: Vec<Type> =
        steps.iter().filter(|step| step.store.is_some()).map(|step| step.kind).collect();
    let outputs = reals.iter_mut().zip(&mut wholes).zip(&kinds);
    let outputs = outputs.map(|((reals, wholes), kind)| {
        if *kind == Type::Real { StoredMut::Real(reals) } else { StoredMut::Whole(wholes) }
    });
    let reads = buffers.stored();
    fused(
        kernel,
        outputs.collect(),
        Vec::new(),
        &Work {
            reads: &reads,
            graph,
            unit_starts: units,
            groups,
            context: DrawContext::default(),
            only,
        },
    );
    let whole = |(kind, (reals, wholes)): (&Type, (&Vec<T>, &Vec<i64>))| -> Vec<f64> {
        if *kind == Type::Real {
            reals.iter().map(|value| value.widened()).collect()
        } else {
            wholes.iter().map(|value| *value as f64).collect()
        }
    };
    kinds.iter().zip(reals.iter().zip(&wholes)).map(whole).collect()
}

/// The same steps, each for all rows at a time.
fn apart<T: Real + Element>(
    steps: &[Step],
    buffers: &Buffers<T>,
    graph: EdgeGraph,
) -> Vec<Vec<f64>> {
    let twice = steps
        .iter()
        .any(|step| matches!(step.op, Op::Reduce(_, set) if set.direction == Direction::Both));
    let edges = graph.edge_count * if twice { 2 } else { 1 };
    let (mut reals, mut wholes): (Vec<Vec<T>>, Vec<Vec<i64>>) = (Vec::new(), Vec::new());
    let given = buffers.values();
    for step in steps {
        let rows = if step.level == Level::Row { NODES } else { edges };
        let count = rows * step.shape.iter().product::<u64>() as usize;
        let (mut real, mut whole) = (vec![T::ZERO; count], vec![0; count]);
        let parts: Vec<Part<T>> =
            step.inputs.iter().map(|input| part(input, &reals, &given)).collect();
        let out = if step.kind == Type::Real {
            ValuesMut::Real(&mut real)
        } else {
            ValuesMut::Whole(&mut whole)
        };
        evaluate::evaluate(
            out,
            &Call {
                op: &step.op,
                shape: &step.shape,
                rows,
                kind: step.kind,
                inputs: &parts,
                graph,
                context: DrawContext::default(),
            },
        );
        drop(parts);
        reals.push(real);
        wholes.push(whole);
    }
    let stored = steps.iter().enumerate().filter(|(_, step)| step.store.is_some());
    let number = |(number, step): (usize, &Step)| -> Vec<f64> {
        if step.kind == Type::Real {
            reals[number].iter().map(|value| value.widened()).collect()
        } else {
            wholes[number].iter().map(|value| *value as f64).collect()
        }
    };
    stored.map(number).collect()
}

fn part<'a, T: Clone>(
    input: &'a Input,
    made: &'a [Vec<T>],
    given: &[Values<'a, T>],
) -> Part<'a, T> {
    match input {
        Input::Number(_) => unreachable!("no numbers here"),
        Input::Times(first, second) => {
            Part::Times(Box::new(part(first, made, given)), Box::new(part(second, made, given)))
        }
        Input::Rows(read) => {
            let values = match read.from {
                From::Step(number) => Values::Real(&made[number]),
                From::Buffer(number) => given[number].clone(),
            };
            Part::Leaf(Leaf { values, shape: &read.shape, index: read.index })
        }
    }
}

#[test]
fn what_is_at_hand_changes_no_bit_and_steps_are_what_they_are_apart() {
    let sample = Sample::new();
    let buffers = Buffers::<f64>::new(sample.source.len());
    for direction in [Direction::In, Direction::Out, Direction::Both] {
        let set = EdgeSet { direction, relation: None };
        let steps = attention(set, Index::Same);
        let over = Over::EdgesOf(direction);
        let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
        let expected = run(&Kernel::new(over, &steps), &steps, &buffers, sample.graph(), &units);
        for (rows, edges) in [(1, 1), (3, 5), (50, 64), (1000, 10_000)] {
            let kernel = Kernel::new(over, &steps).with_block_sizes(rows, edges);
            let found = run_in_pools(|| {
                run(&kernel, &steps, &buffers, sample.graph(), &[0, 1, 78, 78, NODES as u32])
                    .concat()
            });
            let bits =
                |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
            assert!(
                bits(&found) == bits(&expected.concat()),
                "{direction:?}: {rows} rows and {edges} edges at once"
            );
        }
        for (number, (found, wanted)) in
            expected.iter().zip(&apart(&steps, &buffers, sample.graph())).enumerate()
        {
            for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let same = found == wanted
                    || (found - wanted).abs() <= 1e-11 * wanted.abs().max(1.0)
                    || (found.is_nan() && wanted.is_nan());
                assert!(
                    same,
                    "{direction:?}: output {number}, element {place}: {found}, apart {wanted}"
                );
            }
        }
    }
}

/// Sums of one column, as `gathered_rows` adds them.
fn sums_in_lanes(sample: &Sample, values: &[f32]) -> Vec<f32> {
    let mut made = vec![0.0; NODES];
    let list = Entries::of_list(&sample.incoming.0, &sample.incoming.2);
    reduce_rows::<f32, SumOf>(pulp::Arch::new(), &mut made, &[list], 0, values, 1);
    made
}

#[test]
fn every_width_of_a_gathered_sum_is_right() {
    let sample = Sample::new();
    let set = EdgeSet::IN;
    for width in crate::test_support::WIDTHS {
        let values: Vec<f32> = numbers(NODES * width, 9);
        let wide = Stored::Real(&values);
        let sum = Step {
            store: Some(0),
            ..step(
                Op::Reduce(Reduction::Sum, set),
                &[width as u64],
                Type::Real,
                Level::Row,
                vec![read(From::Buffer(0), &[width as u64], Index::Far(set), Type::Real)],
            )
        };
        let kernel = Kernel::<f32>::new(Over::EdgesOf(Direction::In), std::slice::from_ref(&sum));
        let mut made = vec![0.0f32; NODES * width];
        let work = Work {
            reads: &[wide],
            graph: sample.graph(),
            unit_starts: &[0, 77, NODES as u32],
            context: DrawContext::default(),
            only: None,
            groups: None,
        };
        fused(&kernel, vec![StoredMut::Real(&mut made)], Vec::new(), &work);
        if width == 1 {
            assert_eq!(made, sums_in_lanes(&sample, &values));
            continue;
        }
        for row in 0..NODES {
            for column in 0..width {
                let far = &sample.incoming.2
                    [sample.incoming.0[row] as usize..sample.incoming.0[row + 1] as usize];
                let wanted = far
                    .iter()
                    .fold(0.0f32, |sum, far| sum + values[*far as usize * width + column]);
                assert_eq!(
                    made[row * width + column].to_bits(),
                    wanted.to_bits(),
                    "width {width}, row {row}, column {column}"
                );
            }
        }
    }
}

#[test]
fn a_walk_over_edges_sees_both_ends() {
    let sample = Sample::new();
    let left: Vec<f32> = numbers(NODES, 11);
    for (set, twice) in [(EdgeSet::IN, false), (EdgeSet::OUT, false), (EdgeSet::BOTH, true)] {
        let edge = |op: Op, inputs: Vec<Input>| step(op, &[], Type::Real, Level::Edge, inputs);
        let one = |from: From, index: Index| read(from, &[], index, Type::Real);
        let mut steps = vec![
            edge(
                Op::Binary(Binary::Multiply),
                vec![one(From::Buffer(0), Index::Far(set)), Input::Number(Number::Real(10.0))],
            ),
            edge(
                Op::Binary(Binary::Add),
                vec![one(From::Step(0), Index::Same), one(From::Buffer(0), Index::Near(set))],
            ),
        ];
        steps[1].store = Some(0);
        let rows =
            if twice { warploom_launch::Rows::EdgesTwice } else { warploom_launch::Rows::Edges };
        let kernel = Kernel::<f32>::new(Over::Edges(rows), &steps);
        let mut made = vec![0.0f32; sample.source.len() * if twice { 2 } else { 1 }];
        let work = Work {
            reads: &[Stored::Real(&left)],
            graph: sample.graph(),
            unit_starts: &[],
            context: DrawContext::default(),
            only: None,
            groups: None,
        };
        fused(&kernel, vec![StoredMut::Real(&mut made)], Vec::new(), &work);
        for (row, made) in made.iter().enumerate() {
            let edge = row % sample.source.len();
            let is_in = set.direction != Direction::Out && row < sample.source.len();
            let (far, near) = if is_in {
                (sample.source[edge], sample.target[edge])
            } else {
                (sample.target[edge], sample.source[edge])
            };
            assert_eq!(*made, left[far as usize] * 10.0 + left[near as usize], "{set}, row {row}");
        }
    }
}

/// Rows of a sum times a matrix, and choices by comparisons that lie nowhere: of rows and of edges,
/// with numbers and without, over rows that no count of elements at once divides.
#[test]
fn products_choices_and_totals_in_a_walk_are_what_loops_make() {
    let sample = Sample::new();
    let set = EdgeSet::IN;
    let (left, wide): (Vec<f64>, Vec<f64>) = (numbers(NODES, 21), numbers(NODES * 9, 22));
    let matrix: Vec<f64> = numbers(5 * 9, 23);
    let (nine, five) = (&[9][..], &[5][..]);
    let real = |from: From, shape: &[u64], index: Index| read(from, shape, index, Type::Real);
    let bools = |from: usize, shape: &[u64]| read(From::Step(from), shape, Index::Same, Type::Bool);
    let (seen, own) = (
        |index: Index| real(From::Buffer(0), &[], index),
        |step: usize, shape: &[u64]| real(From::Step(step), shape, Index::Same),
    );
    let number = |number: f64| Input::Number(Number::Real(number));
    for (transposed, shape) in [(true, [5, 9]), (false, [9, 5])] {
        let compared = |operator: Binary, shape: &[u64], level: Level, inputs: Vec<Input>| {
            step(Op::Binary(operator), shape, Type::Bool, level, inputs)
        };
        let total = |op: Op, shape: &[u64], inputs: Vec<Input>, number: usize| Step {
            store: Some(number),
            ..step(op, shape, Type::Real, Level::Total, inputs)
        };
        let mut steps = vec![
            step(
                Op::Reduce(Reduction::Sum, set),
                nine,
                Type::Real,
                Level::Row,
                vec![real(From::Buffer(1), nine, Index::Far(set))],
            ), // 0
            step(
                Op::Product { transposed },
                five,
                Type::Real,
                Level::Row,
                vec![own(0, nine), real(From::Buffer(2), &shape, Index::One)],
            ), // 1
            compared(Binary::Less, five, Level::Row, vec![number(0.1), own(1, five)]), // 2
            step(
                Op::Select,
                five,
                Type::Real,
                Level::Row,
                vec![bools(2, five), own(1, five), number(-1.0)],
            ), // 3
            compared(
                Binary::LessEqual,
                &[],
                Level::Edge,
                vec![seen(Index::Far(set)), seen(Index::Near(set))],
            ), // 4
            step(
                Op::Select,
                &[],
                Type::Real,
                Level::Edge,
                vec![bools(4, &[]), seen(Index::Far(set)), seen(Index::Near(set))],
            ), // 5
            step(Op::Reduce(Reduction::Sum, set), &[], Type::Real, Level::Row, vec![own(5, &[])]), // 6
            compared(Binary::NotEqual, five, Level::Row, vec![own(1, five), own(3, five)]), // 7
            step(
                Op::Select,
                five,
                Type::Real,
                Level::Row,
                vec![bools(7, five), number(2.0), own(3, five)],
            ), // 8
            total(Op::SumRows, five, vec![own(3, five)], 0),
            total(Op::SumRows, &[], vec![own(6, &[])], 1),
            total(
                Op::Outer,
                &[5, 9],
                vec![own(1, five), real(From::Buffer(1), nine, Index::Same)],
                2,
            ),
        ];
        [1, 3, 6, 8]
            .into_iter()
            .enumerate()
            .for_each(|(output, step)| steps[step].store = Some(output));
        let kernel = Kernel::<f64>::new(Over::EdgesOf(Direction::In), &steps);
        assert_eq!(
            (kernel.passes[0].edges.as_slice(), kernel.passes[0].rows.as_slice()),
            (&[5][..], &[1, 3, 8][..]),
            "comparisons are no steps"
        );
        let reads = [Stored::Real(&left), Stored::Real(&wide), Stored::Real(&matrix)];
        let work = whole_graph(&reads, sample.graph(), &[0, 77, NODES as u32]);
        let found = run_in_pools(|| {
            let mut made: Vec<Vec<f64>> =
                [5, 5, 1, 5].iter().map(|columns| vec![0.0; NODES * columns]).collect();
            let mut totals = [vec![1.0; 5], vec![1.0], vec![1.0; 45]];
            let outputs = made.iter_mut().map(|made| StoredMut::Real(made)).collect();
            fused(
                &kernel,
                outputs,
                totals.iter_mut().map(|total| total.as_mut_slice()).collect(),
                &work,
            );
            [made.concat(), totals.concat()].concat()
        });
        let (product, rest) = found.split_at(NODES * 5);
        let (chosen, rest) = rest.split_at(NODES * 5);
        let (smaller, rest) = rest.split_at(NODES);
        let (last, totals) = rest.split_at(NODES * 5);
        let over_rows = |value: &dyn Fn(usize) -> f64| (0..NODES).map(value).sum::<f64>();
        let mut wanted: Vec<f64> =
            (0..5).map(|column| over_rows(&|row| chosen[row * 5 + column])).collect();
        wanted.push(over_rows(&|row| smaller[row]));
        wanted.extend(
            (0..45).map(|at| over_rows(&|row| product[row * 5 + at / 9] * wide[row * 9 + at % 9])),
        );
        for (number, (found, wanted)) in totals.iter().zip(&wanted).enumerate() {
            assert!((found - wanted).abs() < 1e-9, "total {number}: {found} of {wanted}");
        }
        for row in 0..NODES {
            let far = &sample.incoming.2
                [sample.incoming.0[row] as usize..sample.incoming.0[row + 1] as usize];
            let wanted: f64 =
                far.iter()
                    .map(|far| {
                        if left[*far as usize] <= left[row] {
                            left[*far as usize]
                        } else {
                            left[row]
                        }
                    })
                    .sum();
            assert!(
                (smaller[row] - wanted).abs() < 1e-9,
                "row {row}: {} of {wanted}",
                smaller[row]
            );
            for column in 0..5 {
                let weight = |inner: usize| {
                    matrix[if transposed { column * 9 + inner } else { inner * 5 + column }]
                };
                let summed = |inner: usize| {
                    far.iter().map(|far| wide[*far as usize * 9 + inner]).sum::<f64>()
                };
                let wanted: f64 = (0..9).map(|inner| summed(inner) * weight(inner)).sum();
                let at = row * 5 + column;
                assert!(
                    (product[at] - wanted).abs() < 1e-9,
                    "row {row}: {} of {wanted}",
                    product[at]
                );
                assert_eq!(chosen[at], if 0.1 < product[at] { product[at] } else { -1.0 });
                assert_eq!(last[at], if product[at] != chosen[at] { 2.0 } else { chosen[at] });
            }
        }
    }
}

/// Rows that are made alone have the bits that they have among all, and the others stay.
#[test]
fn only_some_rows_are_made() {
    let sample = Sample::new();
    let buffers = Buffers::<f32>::new(sample.source.len());
    let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
    let runs = [(0, 1), (3, 2), (99, 3), (150, 40), (NODES as u32 - 1, 1)];
    for direction in [Direction::In, Direction::Out, Direction::Both] {
        let steps = attention(EdgeSet { direction, relation: None }, Index::Same);
        let kernel = Kernel::new(Over::EdgesOf(direction), &steps);
        let all = run(&kernel, &steps, &buffers, sample.graph(), &units);
        let walked =
            Walked { graph: sample.graph(), units: &units, only: Some(&runs), groups: None };
        let some = run_rows(&kernel, &steps, &buffers, walked);
        for (all, some) in all.iter().zip(&some) {
            let wide = all.len() / NODES;
            for row in 0..NODES {
                let made = runs.iter().any(|run| (run.0..run.0 + run.1).contains(&(row as u32)));
                let bits = |values: &[f64]| {
                    values[row * wide..(row + 1) * wide]
                        .iter()
                        .map(|value| value.to_bits())
                        .collect::<Vec<_>>()
                };
                assert_eq!(bits(some), if made { bits(all) } else { vec![0; wide] }, "row {row}");
            }
        }
    }
}

/// Each number as a half, and as what that says.
fn halves<H: Half + Kept<f32>>(values: &[f32]) -> (Vec<H>, Vec<f32>) {
    let kept: Vec<H> = values.iter().map(|value| H::nearest(*value)).collect();
    let said = kept.iter().map(|half| half.read()).collect();
    (kept, said)
}

/// Rows of halves are read as the numbers they are, and written as the nearest.
fn halves_are_read_and_written<H: Half + Kept<f32>>(
    stored: for<'a> fn(&'a [H]) -> Stored<'a, f32>,
    stored_mut: for<'a> fn(&'a mut [H]) -> StoredMut<'a, f32>,
) {
    let sample = Sample::new();
    let Buffers { left, right, wide, mask } = Buffers::<f32>::new(sample.source.len());
    let ((left, left_said), (right, right_said), (wide, wide_said)) =
        (halves::<H>(&left), halves::<H>(&right), halves::<H>(&wide));
    let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
    for direction in [Direction::In, Direction::Out, Direction::Both] {
        let set = EdgeSet { direction, relation: None };
        let steps = attention(set, Index::Same);
        let kernel = Kernel::new(Over::EdgesOf(direction), &steps);
        let said = Buffers {
            left: left_said.clone(),
            right: right_said.clone(),
            wide: wide_said.clone(),
            mask: mask.clone(),
        };
        let expected = run(&kernel, &steps, &said, sample.graph(), &units);
        let reads = [stored(&left), stored(&right), stored(&wide), Stored::Whole(&mask)];
        let made: Vec<&Step> = steps.iter().filter(|step| step.store.is_some()).collect();
        let rows = |step: &Step| NODES * step.shape.iter().product::<u64>() as usize;
        let mut reals: Vec<Vec<H>> =
            made.iter().map(|step| vec![H::nearest(0.0); rows(step)]).collect();
        let mut wholes: Vec<Vec<i64>> = made.iter().map(|step| vec![0; rows(step)]).collect();
        let outputs = made.iter().zip(reals.iter_mut().zip(&mut wholes));
        let outputs =
            outputs
                .map(|(step, (reals, wholes))| {
                    if step.kind == Type::Real {
                        stored_mut(reals)
                    } else {
                        StoredMut::Whole(wholes)
                    }
                })
                .collect();
        fused(&kernel, outputs, Vec::new(), &whole_graph(&reads, sample.graph(), &units));
        for ((step, (reals, wholes)), expected) in
            made.iter().zip(reals.iter().zip(&wholes)).zip(&expected)
        {
            match step.kind {
                Type::Real => {
                    let nearest: Vec<H> =
                        expected.iter().map(|value| H::nearest(*value as f32)).collect();
                    let apart = bytemuck::cast_slice::<H, u16>(reals)
                        .iter()
                        .zip(bytemuck::cast_slice::<H, u16>(&nearest))
                        .position(|(found, nearest)| found != nearest);
                    assert_eq!(apart, None, "{:?}", step.op);
                }
                _ => assert_eq!(
                    wholes.iter().map(|value| *value as f64).collect::<Vec<f64>>(),
                    *expected,
                    "{:?}",
                    step.op
                ),
            }
        }
    }
}

#[test]
fn rows_of_bf16_are_read_and_written() {
    halves_are_read_and_written::<bf16>(|rows| Stored::Bf16(rows), |rows| StoredMut::Bf16(rows));
}

#[test]
fn rows_of_f16_are_read_and_written() {
    halves_are_read_and_written::<f16>(|rows| Stored::F16(rows), |rows| StoredMut::F16(rows));
}

/// Reductions of the edges that a comparison picks: of whole numbers at both ends, and of a real
/// with a number.
fn picking(set: EdgeSet, operator: Binary) -> Vec<Step> {
    use super::From::{Buffer, Step as Made};
    let (far, near) = (Index::Far(set), Index::Near(set));
    let level = |index: Index| read(Buffer(0), &[], index, Type::Int);
    let number = || read(Buffer(1), &[], far, Type::Real);
    let reduce = |reduction: Reduction, kind: Type, of: Input, mask: usize| {
        step(
            Op::Reduce(reduction, set),
            &[],
            kind,
            Level::Row,
            vec![of, read(Made(mask), &[], Index::Same, Type::Bool)],
        )
    };
    let mut steps = vec![
        step(Op::Binary(operator), &[], Type::Bool, Level::Edge, vec![level(far), level(near)]),
        reduce(Reduction::Minimum, Type::Int, level(far), 0),
        reduce(Reduction::Sum, Type::Real, number(), 0),
        step(
            Op::Binary(operator),
            &[],
            Type::Bool,
            Level::Edge,
            vec![number(), Input::Number(Number::Real(0.125))],
        ),
        reduce(Reduction::Maximum, Type::Real, number(), 3),
        reduce(Reduction::Count, Type::Int, level(near), 3),
    ];
    steps
        .iter_mut()
        .filter(|step| step.level == Level::Row)
        .enumerate()
        .for_each(|(output, step)| step.store = Some(output));
    steps
}

#[test]
fn edges_that_a_comparison_picks_are_reduced_alone() {
    let sample = Sample::new();
    let levels: Vec<i64> = (0..NODES as i64).map(|node| node * 7 % 5).collect();
    let numbers: Vec<f64> = numbers(NODES, 4);
    let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
    let compared = |operator: Binary, a: f64, b: f64| match operator {
        Binary::Less => a < b,
        Binary::LessEqual => a <= b,
        Binary::Equal => a == b,
        _ => a != b,
    };
    for (direction, lists) in
        [(Direction::In, &sample.incoming), (Direction::Out, &sample.outgoing)]
    {
        for operator in [Binary::Less, Binary::LessEqual, Binary::Equal, Binary::NotEqual] {
            let steps = picking(EdgeSet { direction, relation: None }, operator);
            let (mut least, mut count) = (vec![0; NODES], vec![0; NODES]);
            let (mut sum, mut most) = (vec![0.0; NODES], vec![0.0; NODES]);
            let outputs = vec![
                StoredMut::Whole(&mut least),
                StoredMut::Real(&mut sum),
                StoredMut::Real(&mut most),
                StoredMut::Whole(&mut count),
            ];
            let work = Work {
                reads: &[Stored::Whole(&levels), Stored::Real(&numbers)],
                graph: sample.graph(),
                unit_starts: &units,
                context: DrawContext::default(),
                only: None,
                groups: None,
            };
            fused(&Kernel::new(Over::EdgesOf(direction), &steps), outputs, Vec::new(), &work);
            for node in 0..NODES {
                let far = || {
                    lists.2[lists.0[node] as usize..lists.0[node + 1] as usize]
                        .iter()
                        .map(|far| *far as usize)
                };
                let by_level = || {
                    far().filter(|far| compared(operator, levels[*far] as f64, levels[node] as f64))
                };
                let by_number = || far().filter(|far| compared(operator, numbers[*far], 0.125));
                let expected_least = by_level().map(|far| levels[far]).min().unwrap_or(i64::MAX);
                assert_eq!(
                    (least[node], sum[node]),
                    (expected_least, by_level().fold(0.0, |sum, far| sum + numbers[far])),
                    "{operator:?} {direction:?}"
                );
                assert_eq!(
                    (most[node], count[node]),
                    (
                        by_number().map(|far| numbers[far]).fold(f64::NEG_INFINITY, f64::max),
                        by_number().count() as i64
                    )
                );
            }
        }
    }
}

/// A sum, a product, a minimum and a maximum of rows of far vertices, with steps before and after
/// them, and the sum of all rows of one.
fn reductions_and_a_total(set: EdgeSet) -> Vec<Step> {
    use super::From::{Buffer, Step as Made};
    let five: &[u64] = &[5];
    let row = |op: Op, inputs: Vec<Input>| step(op, five, Type::Real, Level::Row, inputs);
    let own = |from: From| read(from, five, Index::Same, Type::Real);
    let mut steps = vec![
        row(Op::Unary(Unary::Exp), vec![own(Buffer(0))]),
        step(
            Op::Binary(Binary::Add),
            five,
            Type::Real,
            Level::Edge,
            vec![
                read(Buffer(0), five, Index::Far(set), Type::Real),
                read(Made(0), five, Index::Near(set), Type::Real),
            ],
        ),
    ];
    for reduction in [Reduction::Sum, Reduction::Product, Reduction::Minimum, Reduction::Maximum] {
        steps.push(row(Op::Reduce(reduction, set), vec![own(Made(1))]));
    }
    steps.push(step(
        Op::Reduce(Reduction::Count, set),
        &[],
        Type::Int,
        Level::Row,
        vec![own(Made(1))],
    ));
    steps.push(row(Op::Binary(Binary::Multiply), vec![own(Made(2)), own(Made(0))]));
    let rows = [0, 2, 3, 4, 5, 6, 7];
    rows.into_iter().enumerate().for_each(|(output, number)| steps[number].store = Some(output));
    steps.push(Step {
        store: Some(0),
        ..step(Op::SumRows, five, Type::Real, Level::Total, vec![own(Made(7))])
    });
    steps
}

#[test]
fn groups_reduce_as_rows_do() {
    let sample = Sample::new();
    let far: Vec<f64> = numbers(NODES * 5, 21);
    let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
    for (direction, offsets) in
        [(Direction::In, &sample.incoming.0), (Direction::Out, &sample.outgoing.0)]
    {
        let steps = reductions_and_a_total(EdgeSet { direction, relation: None });
        let kernel = Kernel::<f64>::new(Over::EdgesOf(direction), &steps);
        assert!(kernel.supports_groups());
        let run = |groups: Option<&[u64]>| {
            let mut reals = vec![vec![7.0; NODES * 5]; 6];
            let (mut counts, mut total) = (vec![7; NODES], vec![7.0; 5]);
            let mut outputs: Vec<StoredMut<f64>> =
                reals.iter_mut().map(|made| StoredMut::Real(made)).collect();
            outputs.insert(5, StoredMut::Whole(&mut counts));
            let work = Work {
                reads: &[Stored::Real(&far)],
                graph: sample.graph(),
                unit_starts: &units,
                groups,
                context: DrawContext::default(),
                only: None,
            };
            fused(&kernel, outputs, vec![&mut total], &work);
            (reals, counts, total)
        };
        let (rows, counts, total) = run(None);
        for most in [1, 3, 32, 1024, 1 << 20] {
            let starts = crate::group_tasks::tests::group_starts(offsets, most);
            let found = run_in_pools(|| {
                let (reals, counts, total) = run(Some(&starts));
                let counts = counts.into_iter().map(|count| count as f64);
                reals.concat().into_iter().chain(total).chain(counts).collect::<Vec<f64>>()
            });
            let (reals, rest) = found.split_at(NODES * 30);
            let near = |found: f64, expected: f64| {
                (found - expected).abs() <= 1e-13 * (1.0 + expected.abs()) || found == expected
            };
            for (number, rows) in rows.iter().enumerate() {
                let found = &reals[number * NODES * 5..][..NODES * 5];
                let is_exact = [0, 3, 4].contains(&number);
                let same = found.iter().zip(rows).all(|(found, expected)| {
                    if is_exact { found == expected } else { near(*found, *expected) }
                });
                assert!(same, "{direction:?}, groups of {most}: output {number}");
            }
            assert!(rest.iter().zip(&total).all(|(found, total)| near(*found, *total)));
            assert!(rest[5..].iter().zip(&counts).all(|(found, count)| *found == *count as f64));
        }
    }
}

#[test]
fn groups_of_picked_edges_and_walks_that_support_none() {
    let sample = Sample::new();
    let levels: Vec<i64> = (0..NODES as i64).map(|node| node * 7 % 5).collect();
    let numbers: Vec<f64> = numbers(NODES, 4);
    let units: Vec<u32> = (0..=NODES as u32).step_by(100).collect();
    let starts = crate::group_tasks::tests::group_starts(&sample.incoming.0, 32);
    let steps = picking(EdgeSet::IN, Binary::Less);
    let kernel = Kernel::<f64>::new(Over::EdgesOf(Direction::In), &steps);
    let run = |groups: Option<&[u64]>| {
        let (mut least, mut count) = (vec![0; NODES], vec![0; NODES]);
        let (mut sum, mut most) = (vec![0.0; NODES], vec![0.0; NODES]);
        let outputs = vec![
            StoredMut::Whole(&mut least),
            StoredMut::Real(&mut sum),
            StoredMut::Real(&mut most),
            StoredMut::Whole(&mut count),
        ];
        let work = Work {
            reads: &[Stored::Whole(&levels), Stored::Real(&numbers)],
            graph: sample.graph(),
            unit_starts: &units,
            groups,
            context: DrawContext::default(),
            only: None,
        };
        fused(&kernel, outputs, Vec::new(), &work);
        (least, count, most, sum)
    };
    let (rows, groups) = (run(None), run(Some(&starts)));
    assert_eq!((&rows.0, &rows.1, &rows.2), (&groups.0, &groups.1, &groups.2));
    assert!(rows.3.iter().zip(&groups.3).all(|(a, b)| (a - b).abs() < 1e-12));
    // A softmax walks the edges twice: it goes by rows.
    let steps = attention(EdgeSet::IN, Index::Same);
    let kernel = Kernel::<f64>::new(Over::EdgesOf(Direction::In), &steps);
    assert!(!kernel.supports_groups());
    let buffers = Buffers::<f64>::new(sample.source.len());
    let walked = |groups| Walked { graph: sample.graph(), units: &units, only: None, groups };
    let bits = |groups| -> Vec<u64> {
        let made = run_rows(&kernel, &steps, &buffers, walked(groups));
        made.into_iter().flatten().map(f64::to_bits).collect()
    };
    assert!(bits(None) == bits(Some(&starts)), "a walk that supports no groups went by them");
}
