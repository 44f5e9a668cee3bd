//! interpreter_degenerate: operations on graphs that break kernels, and on random small ones,
//! against a search over all pairs of a vertex and an edge.
//!
//! promises  every operation over edges, every direction, with and without relation and mask;
//!           graphs without vertices, without edges, of one vertex, with self loops, parallel
//!           edges, isolated vertices, relations that no edge has, graphs without vertices
//! never     shares code with the interpreter

use proptest::prelude::*;
use warploom_ir::interpret::{ElementRows, Interpreter, Values, World};
use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeSet, Function, Input, Loss, NodeId, Number, Op, Output,
    Pooling, Reduction, Target, Type,
};
use warploom_test_support::graphs::{EdgeList, degenerate_graphs};

/// A graph with a relation of each edge, an int of each vertex, and a graph of each vertex.
#[derive(Clone, Debug)]
struct Sketch {
    edges: Vec<(u32, u32, u32)>,
    values: Vec<i64>,
    graph_of_node: Vec<u32>,
    graphs: usize,
}

impl Sketch {
    fn new(edges: &[(u32, u32, u32)], values: &[i64]) -> Sketch {
        Sketch {
            edges: edges.to_vec(),
            values: values.to_vec(),
            graph_of_node: Vec::new(),
            graphs: 1,
        }
    }

    fn world(&self) -> (Data, World) {
        let source = self.edges.iter().map(|edge| edge.0).collect();
        let mut world =
            World::bare(self.values.len(), source, self.edges.iter().map(|edge| edge.1).collect());
        world.edge_type = self.edges.iter().map(|edge| edge.2).collect();
        world.columns.insert(
            "k".to_owned(),
            ElementRows::from_integers(self.values.len(), 1, self.values.clone()),
        );
        (world.graph_of_node, world.graphs) = (self.graph_of_node.clone(), self.graphs);
        let mut data = Data::bare(self.values.len() as u64, self.edges.len() as u64);
        data.relations = ["first", "second", "nobody"].map(str::to_owned).to_vec();
        data.columns.insert("k".to_owned(), Type::Int);
        data.graphs = self.graphs as u64;
        (data, world)
    }

    fn value(&self, build: impl FnOnce(&mut Builder) -> NodeId) -> ElementRows {
        let (data, world) = self.world();
        let mut builder = Builder::new("degenerate", &data);
        let node = build(&mut builder);
        builder.gir.results.push(Output { name: "value".to_owned(), node, edges: None });
        let gir = builder.gir;
        let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
        interpreter.run(10);
        interpreter.result("value").unwrap().clone()
    }

    /// Edges of a vertex as rows of a list over them, with the value at their far end.
    fn edges_of(&self, vertex: usize, set: EdgeSet) -> Vec<(usize, i64)> {
        let mut found = Vec::new();
        let outgoing_from = if set.direction == Direction::Both { self.edges.len() } else { 0 };
        for (edge, (source, target, relation)) in self.edges.iter().enumerate() {
            if set.direction != Direction::Out
                && *target as usize == vertex
                && set.relation.is_none_or(|wanted| wanted == *relation)
            {
                found.push((edge, self.values[*source as usize]));
            }
        }
        for (edge, (source, target, relation)) in self.edges.iter().enumerate() {
            if set.direction != Direction::In
                && *source as usize == vertex
                && set.relation.is_none_or(|wanted| wanted == *relation)
            {
                found.push((outgoing_from + edge, self.values[*target as usize]));
            }
        }
        found
    }
}

/// In, out and both, without a relation, of relation 1, and of one that no edge has.
fn sets() -> Vec<EdgeSet> {
    let directions = [Direction::In, Direction::Out, Direction::Both];
    directions
        .iter()
        .flat_map(|direction| {
            [None, Some(1), Some(2)].map(|relation| EdgeSet { direction: *direction, relation })
        })
        .collect()
}

fn wholes(rows: &ElementRows) -> &[i64] {
    let Values::Whole(values) = &rows.values else { panic!("not whole: {rows:?}") };
    values
}

fn far(builder: &mut Builder, set: EdgeSet) -> NodeId {
    let value = builder.make(Op::Input(Input::Column("k".to_owned())), &[]).unwrap();
    builder.make(Op::Far(set), &[value]).unwrap()
}

/// Whether the value at the far end is not 2.
fn mask(builder: &mut Builder, set: EdgeSet) -> NodeId {
    let (seen, two) = (far(builder, set), builder.constant(Number::Int(2)));
    builder.binary(Binary::NotEqual, seen, two).unwrap()
}

/// The reduction of a list by a definition of its own, searching where the interpreter sorts or
/// folds.
fn expected(reduction: Reduction, list: &[i64]) -> i64 {
    let count = |value: i64| list.iter().filter(|other| **other == value).count();
    match reduction {
        Reduction::Sum => list.iter().sum(),
        Reduction::Product => list.iter().product(),
        Reduction::Count => list.len() as i64,
        Reduction::Minimum => *list.iter().min().unwrap_or(&i64::MAX),
        Reduction::Maximum => *list.iter().max().unwrap_or(&i64::MIN),
        Reduction::Mode => {
            *list.iter().max_by_key(|value| (count(**value), -**value)).unwrap_or(&i64::MAX)
        }
        Reduction::HIndex => (0..=list.len() as i64)
            .rev()
            .find(|h| list.iter().filter(|value| *value >= h).count() as i64 >= *h)
            .unwrap(),
        Reduction::Any | Reduction::All => unreachable!("bools are compared apart"),
    }
}

fn check_reductions(sketch: &Sketch, set: EdgeSet, masked: bool) {
    let kept = |vertex| {
        sketch.edges_of(vertex, set).into_iter().filter(move |(_, value)| !masked || *value != 2)
    };
    let lists: Vec<Vec<i64>> = (0..sketch.values.len())
        .map(|vertex| kept(vertex).map(|(_, value)| value).collect())
        .collect();
    let of_integers = [
        Reduction::Sum,
        Reduction::Product,
        Reduction::Count,
        Reduction::Minimum,
        Reduction::Maximum,
        Reduction::Mode,
        Reduction::HIndex,
    ];
    for reduction in of_integers {
        let got = sketch.value(|builder| {
            let (value, mask) = (far(builder, set), masked.then(|| mask(builder, set)));
            builder.reduce(reduction, set, value, mask).unwrap()
        });
        let want: Vec<i64> = lists.iter().map(|list| expected(reduction, list)).collect();
        assert_eq!(wholes(&got), want, "{reduction:?} {set} masked {masked}: {sketch:?}");
    }
    for reduction in [Reduction::Any, Reduction::All] {
        let got = sketch.value(|builder| {
            let (value, one, mask) = (
                far(builder, set),
                builder.constant(Number::Int(1)),
                masked.then(|| mask(builder, set)),
            );
            let above = builder.binary(Binary::Less, one, value).unwrap();
            builder.reduce(reduction, set, above, mask).unwrap()
        });
        let above = |list: &Vec<i64>| list.iter().filter(|value| **value > 1).count();
        let want = |list| {
            if reduction == Reduction::Any { above(list) > 0 } else { above(list) == list.len() }
        };
        assert_eq!(
            wholes(&got),
            lists.iter().map(|list| i64::from(want(list))).collect::<Vec<_>>(),
            "{reduction:?} {set}: {sketch:?}"
        );
    }
}

fn check_edge_values(sketch: &Sketch, set: EdgeSet, masked: bool) {
    let rows = sketch.edges.len() * if set.direction == Direction::Both { 2 } else { 1 };
    let (mut others, mut smallest, mut largest) = (vec![0; rows], vec![0; rows], vec![0; rows]);
    for vertex in 0..sketch.values.len() {
        let list: Vec<(usize, i64)> = sketch
            .edges_of(vertex, set)
            .into_iter()
            .filter(|(_, value)| !masked || *value != 2)
            .collect();
        for (row, value) in &list {
            others[*row] =
                list.iter().filter(|(other, _)| other != row).map(|(_, value)| value).product();
            let before = |beats: fn(i64, i64) -> bool| {
                !list.iter().any(|(other, second)| {
                    beats(*second, *value) || (second == value && other < row)
                })
            };
            smallest[*row] = i64::from(before(|second, value| second < value));
            largest[*row] = i64::from(before(|second, value| second > value));
        }
    }
    for (op, want) in [
        (Op::Others(set), others),
        (Op::Winner(false, set), smallest),
        (Op::Winner(true, set), largest),
    ] {
        let got = sketch.value(|builder| {
            let inputs: Vec<NodeId> =
                [far(builder, set)].into_iter().chain(masked.then(|| mask(builder, set))).collect();
            builder.make(op.clone(), &inputs).unwrap()
        });
        assert_eq!(wholes(&got), want, "{op:?} masked {masked}: {sketch:?}");
    }
}

fn check_folds_and_degrees(sketch: &Sketch, set: EdgeSet) {
    // 3 * left + right, from 1: order and count both show.
    let triple = Function::Binary(
        Binary::Multiply,
        Box::new(Function::Left),
        Box::new(Function::Number(Number::Int(3))),
    );
    let function = Function::Binary(Binary::Add, Box::new(triple), Box::new(Function::Right));
    let got = sketch.value(|builder| {
        let (value, start) = (far(builder, set), builder.constant(Number::Int(1)));
        builder.make(Op::Fold(function, set), &[value, start]).unwrap()
    });
    let lists: Vec<_> =
        (0..sketch.values.len()).map(|vertex| sketch.edges_of(vertex, set)).collect();
    let want: Vec<i64> =
        lists.iter().map(|list| list.iter().fold(1, |made, (_, value)| 3 * made + value)).collect();
    assert_eq!(wholes(&got), want, "fold {set}: {sketch:?}");
    let got = sketch.value(|builder| builder.make(Op::Input(Input::Degree(set)), &[]).unwrap());
    assert_eq!(
        wholes(&got),
        lists.iter().map(|list| list.len() as i64).collect::<Vec<_>>(),
        "degree {set}: {sketch:?}"
    );
    let near = sketch.value(|builder| {
        let value = builder.make(Op::Input(Input::Column("k".to_owned())), &[]).unwrap();
        let seen = builder.make(Op::Near(set), &[value]).unwrap();
        builder.reduce(Reduction::Sum, set, seen, None).unwrap()
    });
    let want: Vec<i64> =
        lists.iter().zip(&sketch.values).map(|(list, value)| list.len() as i64 * value).collect();
    assert_eq!(wholes(&near), want, "near {set}: {sketch:?}");
}

fn check_graphs_and_common_neighbors(sketch: &Sketch) {
    let adjacent = |a: u32, b: u32| {
        sketch
            .edges
            .iter()
            .any(|(source, target, _)| (*source, *target) == (a, b) || (*source, *target) == (b, a))
    };
    let common = |(a, b, _): &(u32, u32, u32)| {
        (0..sketch.values.len() as u32)
            .filter(|third| {
                third != a && third != b && adjacent(*third, *a) && adjacent(*third, *b)
            })
            .count() as i64
    };
    let got = sketch.value(|builder| builder.make(Op::CommonNeighbors, &[]).unwrap());
    assert_eq!(
        wholes(&got),
        sketch.edges.iter().map(common).collect::<Vec<_>>(),
        "common neighbors: {sketch:?}"
    );
    let graph_of =
        |vertex: usize| sketch.graph_of_node.get(vertex).map_or(0, |graph| *graph as usize);
    let members = |graph| {
        (0..sketch.values.len())
            .filter(move |vertex| graph_of(*vertex) == graph)
            .map(|vertex| sketch.values[vertex])
            .collect::<Vec<_>>()
    };
    for (pooling, reduction) in [
        (Pooling::Sum, Reduction::Sum),
        (Pooling::Maximum, Reduction::Maximum),
        (Pooling::Minimum, Reduction::Minimum),
    ] {
        let pool = |builder: &mut Builder| {
            let value = builder.make(Op::Input(Input::Column("k".to_owned())), &[]).unwrap();
            builder.make(Op::Pool(pooling), &[value]).unwrap()
        };
        let want: Vec<i64> =
            (0..sketch.graphs).map(|graph| expected(reduction, &members(graph))).collect();
        assert_eq!(wholes(&sketch.value(pool)), want, "{pooling:?}: {sketch:?}");
        let given = sketch.value(|builder| {
            let pooled = pool(builder);
            builder.make(Op::Give, &[pooled]).unwrap()
        });
        assert_eq!(
            wholes(&given),
            (0..sketch.values.len()).map(|vertex| want[graph_of(vertex)]).collect::<Vec<_>>(),
            "{sketch:?}"
        );
    }
    let size = sketch.value(|builder| builder.make(Op::Input(Input::GraphSize), &[]).unwrap());
    assert_eq!(
        wholes(&size),
        (0..sketch.graphs).map(|graph| members(graph).len() as i64).collect::<Vec<_>>()
    );
}

fn check(sketch: &Sketch) {
    for set in sets() {
        for masked in [false, true] {
            check_reductions(sketch, set, masked);
            check_edge_values(sketch, set, masked);
        }
        check_folds_and_degrees(sketch, set);
    }
    check_graphs_and_common_neighbors(sketch);
}

/// A degenerate graph whose edges are of two relations, with values of which some are equal.
fn of_graph(graph: &EdgeList) -> Sketch {
    let relation = |edge: usize| edge as u32 % 2;
    let edges = graph.edges.iter().enumerate();
    let edges: Vec<(u32, u32, u32)> =
        edges.map(|(edge, (source, target))| (*source, *target, relation(edge))).collect();
    let values: Vec<i64> = (0..graph.nodes as i64).map(|node| (node * 5 + 3) % 7 - 1).collect();
    Sketch::new(&edges, &values)
}

#[test]
fn graphs_that_break_kernels() {
    let equal_values = [(0, 3, 1), (1, 3, 0), (2, 3, 1), (3, 3, 1)];
    let cases = [
        ("no vertices, no graphs", Sketch { graphs: 0, ..Sketch::new(&[], &[]) }),
        ("no vertices, three graphs", Sketch { graphs: 3, ..Sketch::new(&[], &[]) }),
        ("one vertex with self loops", Sketch::new(&[(0, 0, 0), (0, 0, 1)], &[3])),
        ("equal values", Sketch::new(&equal_values, &[1, 1, 1, 1])),
        (
            "graphs without vertices",
            Sketch {
                graph_of_node: vec![1, 3, 1],
                graphs: 5,
                ..Sketch::new(&[(0, 2, 0)], &[1, 2, 3])
            },
        ),
    ];
    let graphs = degenerate_graphs();
    let graphs = graphs.iter().map(|graph| (graph.name, of_graph(graph)));
    for (name, sketch) in cases.into_iter().chain(graphs) {
        println!("{name}");
        check(&sketch);
    }
}

#[test]
fn a_self_loop_stands_twice_among_all_neighbours() {
    let sketch = Sketch::new(&[(0, 0, 0)], &[3]);
    let sum = sketch.value(|builder| {
        let value = far(builder, EdgeSet::BOTH);
        builder.reduce(Reduction::Sum, EdgeSet::BOTH, value, None).unwrap()
    });
    assert_eq!(wholes(&sum), [6]);
}

#[test]
fn relations_without_edge_types_have_no_edges() {
    let world = World::bare(2, vec![0], vec![1]);
    let data = Data::bare(2, 1);
    let mut builder = Builder::new("degenerate", &data);
    let node = builder
        .make(
            Op::Input(Input::Degree(EdgeSet { direction: Direction::In, relation: Some(0) })),
            &[],
        )
        .unwrap();
    builder.gir.results.push(Output { name: "value".to_owned(), node, edges: None });
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    assert_eq!(wholes(interpreter.result("value").unwrap()), [0, 0]);
}

/// Everything that is not over edges, where there are no rows at all.
#[test]
fn sums_products_tables_and_losses_of_no_rows() {
    let mut data = Data::bare(0, 0);
    (data.features, data.target) = (Some(2), Some(Target { columns: 2, loss: Loss::MeanSquares }));
    let mut world = World::bare(0, vec![], vec![]);
    (world.features, world.targets) =
        (Some(ElementRows::from_reals(0, 2, vec![])), Some(ElementRows::from_reals(0, 2, vec![])));
    let mut builder = Builder::new("degenerate", &data);
    let (x, id, target) = (
        builder.make(Op::Input(Input::Features), &[]).unwrap(),
        builder.make(Op::Input(Input::Id), &[]).unwrap(),
        builder.make(Op::Input(Input::Target), &[]).unwrap(),
    );
    let outer = builder.make(Op::Outer, &[x, x]).unwrap();
    let row = builder.make(Op::SumRows, &[x]).unwrap();
    let nodes = [
        outer,
        row,
        builder.make(Op::Product { transposed: false }, &[x, outer]).unwrap(),
        builder.make(Op::Lookup { transposed: false }, &[outer, id]).unwrap(),
        builder.make_shaped(Op::Scatter { transposed: false }, &[x, id], &[3, 2]).unwrap(),
        builder.make_shaped(Op::Scatter { transposed: false }, &[row, id], &[3, 2]).unwrap(),
        builder.make(Op::Loss(Loss::MeanSquares), &[x, target]).unwrap(),
        builder.make(Op::LossSlope(Loss::MeanSquares), &[x, target]).unwrap(),
        builder.make(Op::Concat(0), &[x, row]).unwrap(),
        builder.make(Op::Axis(Pooling::Sum, 0), &[x]).unwrap(),
    ];
    builder.gir.results = nodes
        .iter()
        .map(|node| Output { name: format!("{node:?}"), node: *node, edges: None })
        .collect();
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    let lengths: Vec<usize> =
        nodes.iter().map(|node| interpreter.value(*node).unwrap().values.len()).collect();
    assert_eq!(lengths, [4, 2, 0, 0, 6, 6, 1, 0, 0, 0]);
    assert!(nodes.iter().all(|node| {
        interpreter.value(*node).unwrap().values.reals().iter().all(|element| *element == 0.0)
    }));
}

fn sketches() -> impl Strategy<Value = Sketch> {
    (0_usize..7, 1_usize..4)
        .prop_flat_map(|(nodes, graphs)| {
            let edges = if nodes == 0 { 0..1 } else { 0..12 };
            let end = move || 0..nodes.max(1) as u32;
            let edges = prop::collection::vec((end(), end(), 0_u32..2), edges);
            let values = prop::collection::vec(-2_i64..5, nodes);
            (edges, values, prop::collection::vec(0..graphs as u32, nodes), Just(graphs))
        })
        .prop_map(|(edges, values, graph_of_node, graphs)| Sketch {
            edges,
            values,
            graph_of_node,
            graphs,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_graphs(sketch in sketches()) {
        check(&sketch);
    }
}
