//! tests: every evaluated operation against the interpreter, on degenerate and random graphs, for
//! any number of threads.
use warploom_ir::interpret::{self, World};
use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeRows, EdgeSet, Function, Gir, Node, NodeId, Op, Place,
    Pooling, Reduction, Span, Type, Unary,
};

use super::element::Element;
use super::{Call, EdgeGraph, EdgeList, GraphList, Index, Leaf, Part, Values, ValuesMut, evaluate};
use crate::Real;
use crate::random::dropout::DrawContext;
use crate::random::philox4x32;
use crate::test_support::run_in_pools;

/// A graph with everything that an operation may walk.
struct Sample {
    name: &'static str,
    world: World,
    incoming: (Vec<u64>, Vec<u32>, Vec<u32>),
    outgoing: (Vec<u64>, Vec<u32>, Vec<u32>),
    relation: Vec<u16>,
    /// Where the vertices of a graph start, and vertices by graph.
    members: (Vec<u64>, Vec<u32>),
}

/// Edges by one end, in the order of their ids.
fn list(nodes: usize, own: &[u32], far: &[u32]) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let (mut offsets, mut edges, mut ends) = (vec![0], Vec::new(), Vec::new());
    for vertex in 0..nodes as u32 {
        for edge in (0..own.len()).filter(|edge| own[*edge] == vertex) {
            edges.push(edge as u32);
            ends.push(far[edge]);
        }
        offsets.push(edges.len() as u64);
    }
    (offsets, edges, ends)
}

impl Sample {
    fn new(name: &'static str, nodes: usize, edges: &[(u32, u32)]) -> Self {
        let (source, target): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
        let mut world = World::bare(nodes, source.clone(), target.clone());
        world.edge_type = (0..edges.len() as u32).map(|edge| edge % 3).collect();
        world.graphs = 3;
        world.graph_of_node = (0..nodes as u32).map(|node| node * 7 % 2).collect();
        let relation = world.edge_type.iter().map(|relation| *relation as u16).collect();
        let (mut offsets, mut vertices) = (vec![0], Vec::new());
        for graph in 0..3 {
            vertices.extend(
                (0..nodes as u32).filter(|node| world.graph_of_node[*node as usize] == graph),
            );
            offsets.push(vertices.len() as u64);
        }
        let members = (offsets, vertices);
        Sample {
            name,
            members,
            incoming: list(nodes, &target, &source),
            outgoing: list(nodes, &source, &target),
            world,
            relation,
        }
    }

    fn graph(&self) -> EdgeGraph<'_> {
        fn side(list: &(Vec<u64>, Vec<u32>, Vec<u32>)) -> EdgeList<'_> {
            EdgeList { offsets: &list.0, edges: &list.1, far: &list.2 }
        }
        EdgeGraph {
            nodes: self.world.nodes,
            edge_count: self.world.source.len(),
            incoming: Some(side(&self.incoming)),
            outgoing: Some(side(&self.outgoing)),
            source: &self.world.source,
            target: &self.world.target,
            relation: &self.relation,
            graphs: Some(GraphList {
                of_vertex: &self.world.graph_of_node,
                offsets: &self.members.0,
                vertices: &self.members.1,
            }),
        }
    }
}

fn samples() -> Vec<Sample> {
    let graphs = crate::test_support::graphs();
    let edges_of = |graph: &crate::test_support::Graph| -> Vec<(u32, u32)> {
        let row = |row: usize| {
            graph.neighbours[graph.offsets[row] as usize..graph.offsets[row + 1] as usize]
                .iter()
                .map(move |far| (*far, row as u32))
        };
        (0..graph.rows()).flat_map(row).collect()
    };
    graphs.iter().map(|graph| Sample::new(graph.name, graph.rows(), &edges_of(graph))).collect()
}

/// An operand: place, type, shape, and whether edges see it.
#[derive(Clone, Debug)]
struct Given {
    place: Place,
    kind: Type,
    shape: Vec<u64>,
    view: Option<Op>,
}

fn given(place: Place, kind: Type, shape: &[u64]) -> Given {
    Given { place, kind, shape: shape.to_vec(), view: None }
}

fn seen(view: Op, shape: &[u64]) -> Given {
    Given { view: Some(view), ..given(Place::D, Type::Real, shape) }
}

const ONCE: Place = Place::E(EdgeRows::Once);
const TWICE: Place = Place::E(EdgeRows::Twice);

fn real<T: Real>(count: usize, seed: u32) -> Vec<T> {
    // Quarters: sums are exact, equal ones are frequent.
    let quarter =
        |index: u32| f64::from(philox4x32::<10>([index, 0, 0, 0], [seed, 1])[0] % 17) / 4.0 - 2.0;
    (0..count as u32).map(|index| T::rounded(quarter(index))).collect()
}

fn whole(kind: Type, count: usize, seed: u32) -> Vec<i64> {
    let word = |index: u32| i64::from(philox4x32::<10>([index, 0, 0, 0], [seed, 2])[0]);
    let number = |index: u32| match kind {
        Type::Bool => word(index) % 2,
        Type::Id => word(index) % 40,
        _ => word(index) % 9 - 3,
    };
    (0..count as u32).map(number).collect()
}

/// What an operand holds.
enum Held<T> {
    Real(Vec<T>),
    Whole(Vec<i64>),
}

fn node(op: Op, place: Place, kind: Type, shape: &[u64]) -> Node {
    Node {
        op,
        inputs: Vec::new(),
        place,
        kind,
        shape: shape.to_vec(),
        region: None,
        span: Span::default(),
        name: None,
    }
}

/// The node that the rules make of these operands.
fn made(op: &Op, inputs: &[Given], shape: Option<&[u64]>) -> Node {
    let data = Data { graphs: 3, ..Data::bare(1, 1) };
    let mut builder = Builder::resume(Gir::default(), &data);
    let mut ids = Vec::new();
    for input in inputs {
        let id = NodeId(builder.gir.nodes.len() as u32);
        builder.gir.nodes.push(node(Op::State(id.index()), input.place, input.kind, &input.shape));
        ids.push(match &input.view {
            Some(view) => builder.make(view.clone(), &[id]).unwrap(),
            None => id,
        });
    }
    let id = match shape {
        Some(shape) => builder.make_shaped(op.clone(), &ids, shape),
        None => builder.make(op.clone(), &ids),
    };
    let id = id.unwrap_or_else(|misfit| panic!("{op:?} of {inputs:?}: {misfit}"));
    let mut node = builder.node(id).clone();
    // The builder may have moved the work to vertices; here it is done where the operands are seen.
    (node.op, node.place) =
        (op.clone(), if let Place::S(rows) = node.place { Place::E(rows) } else { node.place });
    node
}

/// Compares one operation, with product operands where `times` says so, in f32 and f64.
fn check(op: &Op, inputs: &[Given], shape: Option<&[u64]>) {
    for sample in samples() {
        check_on::<f64>(&sample, op, inputs, shape);
        check_on::<f32>(&sample, op, inputs, shape);
    }
}

fn check_on<T: Real + Element>(sample: &Sample, op: &Op, inputs: &[Given], shape: Option<&[u64]>) {
    let node = made(op, inputs, shape);
    let rows_of = |place: Place| sample.world.rows(place);
    let held: Vec<Held<T>> = inputs
        .iter()
        .enumerate()
        .map(|(seed, input)| {
            let count = rows_of(input.place) * input.shape.iter().product::<u64>() as usize;
            if input.kind == Type::Real {
                Held::Real(real(count, seed as u32))
            } else {
                Held::Whole(whole(input.kind, count, seed as u32))
            }
        })
        .collect();
    let expected = interpreted(sample, &node, inputs, &held);
    let parts: Vec<Part<T>> =
        inputs.iter().zip(&held).map(|(input, held)| part(input, held, node.place)).collect();
    let rows = rows_of(node.place);
    let call = Call {
        op,
        shape: &node.shape,
        rows,
        kind: node.kind,
        inputs: &parts,
        graph: sample.graph(),
        context: DrawContext::default(),
    };
    let count = rows * node.columns() as usize;
    let what = format!("{op:?} of {inputs:?} on {}", sample.name);
    if node.kind == Type::Real {
        let found = run_in_pools(|| {
            let mut out = vec![T::rounded(-77.0); count];
            evaluate(ValuesMut::Real(&mut out), &call);
            out
        });
        let tolerance = if size_of::<T>() == 4 { 1e-4 } else { 1e-12 };
        same(&found, &expected.values.reals(), tolerance, &what);
    } else {
        let mut out = vec![-77; count];
        evaluate(ValuesMut::Whole(&mut out), &call);
        assert_eq!(interpret::Values::Whole(out), expected.values, "{what}");
    }
}

fn same<T: Real>(found: &[T], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, &expected)) in found.iter().zip(expected).enumerate() {
        let found = found.widened();
        let equal = found == expected
            || (found.is_nan() && expected.is_nan())
            || (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        assert!(equal, "{what}: element {at} is {found}, expected {expected}");
    }
}

fn interpreted<T: Real>(
    sample: &Sample,
    node: &Node,
    inputs: &[Given],
    held: &[Held<T>],
) -> interpret::ElementRows {
    let context = interpret::Context { training: false, draw: None };
    let pairs: Vec<(Node, interpret::ElementRows)> = inputs
        .iter()
        .zip(held)
        .map(|(input, held)| {
            let (rows, columns) =
                (sample.world.rows(input.place), input.shape.iter().product::<u64>() as usize);
            let given = match held {
                Held::Real(values) => interpret::ElementRows::from_reals(
                    rows,
                    columns,
                    values.iter().map(|value| value.widened()).collect(),
                ),
                Held::Whole(values) => {
                    interpret::ElementRows::from_integers(rows, columns, values.clone())
                }
            };
            let own = self::node(Op::State(0), input.place, input.kind, &input.shape);
            let Some(view) = &input.view else { return (own, given) };
            let (Op::Far(edges) | Op::Near(edges)) = view else { panic!("{view:?}") };
            let seen = self::node(view.clone(), Place::E(edges.rows()), input.kind, &input.shape);
            let rows = interpret::evaluate(&seen, &[&given], &[&own], &sample.world, context);
            (seen, rows)
        })
        .collect();
    let (nodes, rows): (Vec<&Node>, Vec<&interpret::ElementRows>) =
        pairs.iter().map(|(node, rows)| (node, rows)).unzip();
    interpret::evaluate(node, &rows, &nodes, &sample.world, context)
}

fn part<'a, T>(input: &'a Given, held: &'a Held<T>, out: Place) -> Part<'a, T> {
    let index = match (&input.view, input.place, out) {
        (Some(Op::Far(edges)), ..) => Index::Far(*edges),
        (Some(Op::Near(edges)), ..) => Index::Near(*edges),
        (_, Place::C | Place::P, _) => Index::One,
        (_, Place::G, Place::D) => Index::Graph,
        _ => Index::Same,
    };
    let values = match held {
        Held::Real(values) => Values::Real(values),
        Held::Whole(values) => Values::Whole(values),
    };
    Part::Leaf(Leaf { values, shape: &input.shape, index })
}

fn sets() -> Vec<EdgeSet> {
    let mut sets = vec![EdgeSet::IN, EdgeSet::OUT, EdgeSet::BOTH];
    sets.extend(
        [Direction::In, Direction::Both].map(|direction| EdgeSet { direction, relation: Some(1) }),
    );
    sets
}

#[test]
fn unary_operators() {
    for operator in Unary::ALL {
        for kind in operator.takes() {
            let (place, shape) =
                if *kind == Type::Int { (ONCE, &[][..]) } else { (Place::D, &[3][..]) };
            check(&Op::Unary(*operator), &[given(place, *kind, shape)], None);
        }
    }
    check(&Op::Unary(Unary::LeakyRelu(0.2)), &[given(Place::D, Type::Real, &[3])], None);
    check(&Op::Unary(Unary::Exp), &[seen(Op::Far(EdgeSet::OUT), &[2])], None);
}

#[test]
fn binary_operators_broadcast() {
    use Binary::*;
    let arithmetic = [
        Add,
        Subtract,
        Multiply,
        FloorDivide,
        Remainder,
        Power,
        Minimum,
        Maximum,
        Less,
        LessEqual,
        Equal,
        NotEqual,
    ];
    for operator in arithmetic.into_iter().chain([Divide]) {
        for shapes in [
            [&[][..], &[][..]],
            [&[2, 3], &[3]],
            [&[2, 3], &[2, 1]],
            [&[1, 3], &[2, 1]],
            [&[4], &[]],
        ] {
            check(
                &Op::Binary(operator),
                &shapes.map(|shape| given(Place::D, Type::Real, shape)),
                None,
            );
        }
    }
    for operator in arithmetic {
        check(
            &Op::Binary(operator),
            &[given(Place::D, Type::Int, &[2]), given(Place::P, Type::Int, &[])],
            None,
        );
    }
    for operator in [And, Or, Equal] {
        check(
            &Op::Binary(operator),
            &[given(Place::D, Type::Bool, &[]), given(Place::D, Type::Bool, &[2])],
            None,
        );
    }
    for operator in [Minimum, Maximum, Less, Equal] {
        check(
            &Op::Binary(operator),
            &[given(Place::D, Type::Id, &[]), given(Place::D, Type::Id, &[])],
            None,
        );
    }
    for (far, near) in sets().into_iter().map(|edges| (Op::Far(edges), Op::Near(edges))) {
        check(&Op::Binary(Add), &[seen(far.clone(), &[2, 2]), seen(near, &[2, 1])], None);
        let own = if let Op::Far(edges) = far { Place::E(edges.rows()) } else { ONCE };
        check(&Op::Binary(Multiply), &[given(own, Type::Real, &[]), seen(far, &[3])], None);
    }
    check(
        &Op::Binary(Add),
        &[given(Place::G, Type::Real, &[2]), given(Place::D, Type::Real, &[2])],
        None,
    );
}

#[test]
fn choices_casts_and_copies() {
    check(
        &Op::Select,
        &[
            given(Place::D, Type::Bool, &[]),
            given(Place::D, Type::Real, &[3]),
            given(Place::P, Type::Real, &[]),
        ],
        None,
    );
    check(
        &Op::Select,
        &[
            given(TWICE, Type::Bool, &[2]),
            given(TWICE, Type::Int, &[]),
            given(TWICE, Type::Int, &[2]),
        ],
        None,
    );
    for (from, to) in [
        (Type::Bool, Type::Int),
        (Type::Bool, Type::Real),
        (Type::Int, Type::Real),
        (Type::Real, Type::Int),
    ] {
        check(&Op::Cast(to), &[given(Place::D, from, &[2])], None);
    }
    check(&Op::Give, &[given(Place::G, Type::Real, &[2])], None);
    check(&Op::Detach, &[given(ONCE, Type::Int, &[2])], None);
    check(
        &Op::WhenTraining,
        &[given(Place::D, Type::Real, &[2]), given(Place::P, Type::Real, &[2])],
        None,
    );
    check(&Op::Expand, &[given(Place::D, Type::Real, &[2, 1])], Some(&[2, 3]));
    check(&Op::Expand, &[given(Place::P, Type::Real, &[])], Some(&[4]));
    check(&Op::Reshape, &[given(Place::D, Type::Real, &[2, 3])], Some(&[6]));
}

#[test]
fn reductions_over_edges() {
    use Reduction::*;
    for edges in sets() {
        let own = Place::E(edges.rows());
        for reduction in [Sum, Minimum, Maximum, Product, Count, Mode] {
            check(&Op::Reduce(reduction, edges), &[given(own, Type::Real, &[2])], None);
            check(
                &Op::Reduce(reduction, edges),
                &[seen(Op::Far(edges), &[3]), given(own, Type::Bool, &[])],
                None,
            );
            check(&Op::Reduce(reduction, edges), &[given(own, Type::Int, &[])], None);
        }
        for reduction in [Minimum, Maximum, Mode] {
            check(
                &Op::Reduce(reduction, edges),
                &[given(own, Type::Id, &[]), given(own, Type::Bool, &[])],
                None,
            );
        }
        for reduction in [Any, All, Count] {
            check(&Op::Reduce(reduction, edges), &[given(own, Type::Bool, &[2])], None);
        }
        check(&Op::Reduce(HIndex, edges), &[given(own, Type::Int, &[])], None);
        check(
            &Op::Reduce(Sum, edges),
            &[seen(Op::Near(edges), &[]), given(own, Type::Bool, &[])],
            None,
        );
        check(
            &Op::Reduce(Sum, edges),
            &[Given { kind: Type::Int, ..seen(Op::Far(edges), &[]) }],
            None,
        );
    }
    // A view of the other direction, over these edges.
    check(&Op::Reduce(Sum, EdgeSet::IN), &[seen(Op::Far(EdgeSet::OUT), &[2])], None);
}

#[test]
fn winners_others_and_folds() {
    let (left, right) = (|| Box::new(Function::Left), || Box::new(Function::Right));
    let late = Function::Select(
        Box::new(Function::Binary(Binary::Less, left(), right())),
        right(),
        Box::new(Function::Binary(Binary::Add, left(), right())),
    );
    for edges in sets() {
        let own = Place::E(edges.rows());
        let inputs = |kind: Type| [given(own, kind, &[2]), given(own, Type::Bool, &[])];
        for largest in [false, true] {
            check(&Op::Winner(largest, edges), &inputs(Type::Real), None);
            check(&Op::Winner(largest, edges), &inputs(Type::Int)[..1], None);
            check(&Op::Winner(largest, edges), &[seen(Op::Far(edges), &[2])], None);
        }
        check(&Op::Others(edges), &inputs(Type::Real), None);
        check(&Op::Others(edges), &[seen(Op::Far(edges), &[2])], None);
        for kind in [Type::Real, Type::Int] {
            let [values, mask] = inputs(kind);
            check(
                &Op::Fold(late.clone(), edges),
                &[values, given(Place::P, kind, &[]), mask],
                None,
            );
        }
    }
}

#[test]
fn a_nan_wins_once_and_spreads() {
    let sample = Sample::new("nan", 2, &[(0, 1), (1, 1), (0, 1), (1, 1)]);
    let values = [1.0, f64::NAN, f64::NAN, 0.0];
    let part = [Part::Leaf(Leaf { values: Values::Real(&values), shape: &[], index: Index::Same })];
    let call = |op| Call {
        op,
        shape: &[],
        rows: 4,
        kind: Type::Bool,
        inputs: &part,
        graph: sample.graph(),
        context: DrawContext::default(),
    };
    let mut wins = [7; 4];
    evaluate(ValuesMut::<f64>::Whole(&mut wins), &call(&Op::Winner(false, EdgeSet::IN)));
    assert_eq!(wins, [0, 1, 0, 0]);
    let mut least = [0.0; 2];
    let op = Op::Reduce(Reduction::Minimum, EdgeSet::IN);
    evaluate(ValuesMut::Real(&mut least), &Call { rows: 2, kind: Type::Real, ..call(&op) });
    assert!(least[0] == f64::INFINITY && least[1].is_nan());
}

#[test]
fn products_made_where_they_are_summed() {
    for sample in samples() {
        let (edges, nodes) = (sample.world.source.len(), sample.world.nodes);
        let (share, rows) = (real::<f64>(edges * 2, 1), real::<f64>(nodes * 6, 2));
        let part =
            |values, shape, index| Part::Leaf(Leaf { values: Values::Real(values), shape, index });
        let times = [Part::Times(
            Box::new(part(&share[..], &[2, 1], Index::Same)),
            Box::new(part(&rows[..], &[2, 3], Index::Far(EdgeSet::IN))),
        )];
        let run = |op: &Op, shape: &[u64], count: usize, inputs: &[Part<f64>]| {
            run_in_pools(|| {
                let mut out = vec![-77.0; count * shape.iter().product::<u64>() as usize];
                evaluate(
                    ValuesMut::Real(&mut out),
                    &Call {
                        op,
                        shape,
                        rows: count,
                        kind: Type::Real,
                        inputs,
                        graph: sample.graph(),
                        context: DrawContext::default(),
                    },
                );
                out
            })
        };
        let leaves = [
            part(&share[..], &[2, 1], Index::Same),
            part(&rows[..], &[2, 3], Index::Far(EdgeSet::IN)),
        ];
        let stored = run(&Op::Binary(Binary::Multiply), &[2, 3], edges, &leaves);
        let stored = [part(&stored[..], &[2, 3], Index::Same)];
        let sum = Op::Reduce(Reduction::Sum, EdgeSet::IN);
        assert_eq!(
            run(&sum, &[2, 3], nodes, &times),
            run(&sum, &[2, 3], nodes, &stored),
            "{}",
            sample.name
        );
        let axis = Op::Axis(Pooling::Sum, 1);
        assert_eq!(
            run(&axis, &[2], edges, &times),
            run(&axis, &[2], edges, &stored),
            "{}",
            sample.name
        );
    }
}

#[test]
fn neighbours_in_common() {
    check(&Op::CommonNeighbors, &[], None);
    for edges in [EdgeSet::IN, EdgeSet::OUT, EdgeSet::BOTH] {
        check(&Op::CommonNeighborsSum(edges), &[], None);
    }
    check(&Op::Turn, &[given(TWICE, Type::Real, &[2])], None);
    check(&Op::Turn, &[seen(Op::Far(EdgeSet::BOTH), &[2])], None);
}

#[test]
fn pools_and_sums_of_rows() {
    for pooling in [Pooling::Sum, Pooling::Maximum, Pooling::Minimum] {
        check(&Op::Pool(pooling), &[given(Place::D, Type::Real, &[3])], None);
        check(&Op::Pool(pooling), &[given(Place::D, Type::Int, &[])], None);
        for axis in 0..3 {
            check(&Op::Axis(pooling, axis), &[given(Place::D, Type::Real, &[2, 3, 2])], None);
        }
        check(&Op::Axis(pooling, 0), &[seen(Op::Far(EdgeSet::IN), &[3])], None);
        check(&Op::Axis(pooling, 0), &[given(ONCE, Type::Int, &[3])], None);
    }
    for place in [Place::D, ONCE, TWICE, Place::G] {
        check(&Op::SumRows, &[given(place, Type::Real, &[3])], None);
    }
    check(&Op::SumRows, &[seen(Op::Near(EdgeSet::BOTH), &[2])], None);
}

#[test]
fn parts_of_rows() {
    for axis in 0..2 {
        let shape = |length: u64| if axis == 0 { vec![length, 3] } else { vec![3, length] };
        check(
            &Op::Concat(axis),
            &[1, 4, 2].map(|length| given(Place::D, Type::Real, &shape(length))),
            None,
        );
        check(
            &Op::Slice { axis, start: 1, length: 2 },
            &[given(Place::D, Type::Int, &shape(4))],
            None,
        );
        check(
            &Op::Unslice { axis, start: 1, total: 5 },
            &[given(Place::D, Type::Real, &shape(2))],
            None,
        );
    }
    check(
        &Op::Concat(0),
        &[seen(Op::Far(EdgeSet::IN), &[2]), seen(Op::Near(EdgeSet::IN), &[3])],
        None,
    );
}

#[test]
fn parts_of_tables() {
    for axis in 0..2 {
        let table = |length: u64| {
            given(Place::P, Type::Real, &if axis == 0 { [length, 3] } else { [3, length] })
        };
        check(&Op::Concat(axis), &[700, 0, 1, 40].map(table), None);
        check(&Op::Slice { axis, start: 700, length: 1 }, &[table(741)], None);
        check(&Op::Slice { axis, start: 700, length: 0 }, &[table(741)], None);
        check(&Op::Unslice { axis, start: 1, total: 50 }, &[table(40)], None);
    }
    check(
        &Op::Slice { axis: 1, start: 1, length: 1 },
        &[given(Place::D, Type::Real, &[2, 3, 2])],
        None,
    );
    check(
        &Op::Concat(1),
        &[given(Place::D, Type::Real, &[2, 1, 2]), given(Place::P, Type::Real, &[2, 2, 2])],
        None,
    );
}

/// The rows of a table draw as rows of vertices do, whatever the division of the work.
#[test]
fn tables_are_dropped_row_by_row() {
    let sample = &samples()[0];
    for shape in [[4000u64, 3], [1, 9], [0, 4], [4, 0]] {
        let count = (shape[0] * shape[1]) as usize;
        let values = real::<f64>(count, 3);
        let context = DrawContext { seed: 5, epoch: 2, active: true, row_in_graph: None };
        let op = Op::Dropout { probability: 0.5, site: 7 };
        let run = |shape: &[u64], rows: usize, index: Index| {
            let inputs = [Part::Leaf(Leaf { values: Values::Real(&values), shape, index })];
            run_in_pools(|| {
                let mut out = vec![-77.0; count];
                evaluate(
                    ValuesMut::Real(&mut out),
                    &Call {
                        op: &op,
                        shape,
                        rows,
                        kind: Type::Real,
                        inputs: &inputs,
                        graph: sample.graph(),
                        context,
                    },
                );
                out
            })
        };
        assert_eq!(
            run(&shape, 1, Index::One),
            run(&shape[1..], shape[0] as usize, Index::Same),
            "{shape:?}"
        );
        let drops = crate::random::dropout::Drops::new(
            warploom_launch::Dropout { probability: 0.5, site: 7 },
            &context,
        )
        .unwrap();
        let draw = |site: u32, probability: f64, row: u64, column: u64| {
            assert_eq!((site, probability), (7, 0.5));
            if drops.keeps(row as u32, column as usize) { drops.scale() } else { 0.0 }
        };
        let context = interpret::Context { training: true, draw: Some(&draw) };
        let (of, given) = (
            node(op.clone(), Place::P, Type::Real, &shape),
            interpret::ElementRows::from_reals(1, count, values.clone()),
        );
        let expected = interpret::evaluate(&of, &[&given], &[&of], &sample.world, context);
        assert_eq!(run(&shape, 1, Index::One), expected.values.reals(), "{shape:?}");
    }
}

#[test]
fn products_and_tables() {
    for transposed in [false, true] {
        let matrix = if transposed { [5, 3] } else { [3, 5] };
        check(
            &Op::Product { transposed },
            &[given(Place::D, Type::Real, &[3]), given(Place::P, Type::Real, &matrix)],
            None,
        );
        check(
            &Op::Product { transposed },
            &[given(ONCE, Type::Real, &[2, 3]), given(Place::P, Type::Real, &matrix)],
            None,
        );
        check(
            &Op::Product { transposed },
            &[given(Place::P, Type::Real, &[2, 3]), given(Place::P, Type::Real, &matrix)],
            None,
        );
        let table = if transposed { [3, 30] } else { [30, 3] };
        for (kind, place) in [(Type::Int, Place::D), (Type::Id, Place::D), (Type::Int, ONCE)] {
            check(
                &Op::Lookup { transposed },
                &[given(Place::P, Type::Real, &table), given(place, kind, &[])],
                None,
            );
            check(
                &Op::Scatter { transposed },
                &[given(place, Type::Real, &[3]), given(place, kind, &[])],
                Some(&table),
            );
        }
    }
    check(
        &Op::Outer,
        &[given(Place::D, Type::Real, &[2]), given(Place::D, Type::Real, &[3])],
        None,
    );
    check(&Op::Outer, &[given(ONCE, Type::Real, &[2, 2]), given(ONCE, Type::Real, &[2, 3])], None);
    check(
        &Op::Outer,
        &[seen(Op::Near(EdgeSet::IN), &[2]), seen(Op::Near(EdgeSet::IN), &[3])],
        None,
    );
    check(
        &Op::Outer,
        &[given(Place::P, Type::Real, &[2]), given(Place::P, Type::Real, &[3])],
        None,
    );
    for rows in [0, 1, 500] {
        check(
            &Op::Outer,
            &[given(Place::P, Type::Real, &[rows, 2]), given(Place::P, Type::Real, &[rows, 3])],
            None,
        );
        check(
            &Op::Product { transposed: true },
            &[given(Place::P, Type::Real, &[rows, 3]), given(Place::P, Type::Real, &[2, 3])],
            None,
        );
    }
}
