//! interpreter: every operation of the interpreter against small numbers worked by hand; on single
//! numbers in `interpreter_scalar`.
//!
//! promises  every kind of `Op` is made by the builder, run, and compared element by element;
//!           degenerate graphs are in `interpreter_degenerate`
//! never     takes an expected number from the interpreter itself

use std::collections::BTreeMap;

use warploom_ir::interpret::{self, Adam, ElementRows, Ending, Interpreter, Values, World};
use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeSet, Function, Gir, Gradient, Init, Input, Loss, NodeId,
    Number, Op, Output, Parameter, Pooling, Reduction, StopTest, Target, Type, Unary,
};

const INF: f64 = f64::INFINITY;

/// Four vertices, the last isolated; edges 0->1, 2->1, 2->1 again, 1->1, 1->0; two graphs, {0, 1}
/// and {2, 3}, and a third without vertices.
fn example() -> (Data, World) {
    let mut world = World::bare(4, vec![0, 2, 2, 1, 1], vec![1, 1, 1, 1, 0]);
    world.weight = Some(vec![0.5, 2.0, 4.0, 1.0, 3.0]);
    world.edge_type = vec![0, 1, 0, 1, 0];
    world.edge_features = Some(ElementRows::from_reals(
        5,
        2,
        vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 5.0, 50.0],
    ));
    world.graph_of_node = vec![0, 0, 1, 1];
    world.graphs = 3;
    world.features =
        Some(ElementRows::from_reals(4, 2, vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]));
    let columns = [
        ("c", ElementRows::from_reals(4, 1, vec![3.0, 1.0, 2.0, 5.0])),
        ("k", ElementRows::from_integers(4, 1, vec![3, 1, 2, 5])),
        ("b", ElementRows::from_integers(4, 1, vec![1, 0, 1, 0])),
    ];
    world.columns = columns.map(|(name, rows)| (name.to_owned(), rows)).into();
    let mut data = Data::bare(4, 5);
    (data.weighted, data.graphs, data.features, data.edge_features) = (true, 3, Some(2), 2);
    data.relations = ["a", "b", "nobody"].map(str::to_owned).to_vec();
    data.columns = [("c", Type::Real), ("k", Type::Int), ("b", Type::Bool)]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into();
    (data, world)
}

/// Builds a program on the example, runs it and gives its value.
fn on_example(build: impl FnOnce(&mut Builder) -> NodeId) -> ElementRows {
    let (data, world) = example();
    run(&data, &world, build)
}

fn run(data: &Data, world: &World, build: impl FnOnce(&mut Builder) -> NodeId) -> ElementRows {
    let gir = program(data, build);
    let mut interpreter = Interpreter::new(&gir, data, world).unwrap();
    interpreter.run(100);
    interpreter.result("value").unwrap().clone()
}

fn program(data: &Data, build: impl FnOnce(&mut Builder) -> NodeId) -> Gir {
    let mut builder = Builder::new("example", data);
    let node = build(&mut builder);
    builder.gir.results.push(Output { name: "value".to_owned(), node, edges: None });
    builder.gir
}

fn input(builder: &mut Builder, input: Input) -> NodeId {
    builder.make(Op::Input(input), &[]).unwrap()
}

fn column(builder: &mut Builder, name: &str) -> NodeId {
    input(builder, Input::Column(name.to_owned()))
}

fn features(builder: &mut Builder) -> NodeId {
    input(builder, Input::Features)
}

fn far(builder: &mut Builder, edges: EdgeSet, name: &str) -> NodeId {
    let node = column(builder, name);
    builder.make(Op::Far(edges), &[node]).unwrap()
}

fn of_relation(direction: Direction, relation: u32) -> EdgeSet {
    EdgeSet { direction, relation: Some(relation) }
}

fn shared(builder: &mut Builder, name: &str, shape: &[u64]) -> NodeId {
    builder.parameter(Parameter {
        name: name.to_owned(),
        shape: shape.to_vec(),
        init: Init::Zero,
        learned: true,
    })
}

fn reals(rows: &ElementRows) -> &[f64] {
    let Values::Real(values) = &rows.values else { panic!("not real: {rows:?}") };
    values
}

fn wholes(rows: &ElementRows) -> &[i64] {
    let Values::Whole(values) = &rows.values else { panic!("not whole: {rows:?}") };
    values
}

fn close(got: f64, want: f64, tolerance: f64) {
    let fits = got == want
        || (got.is_nan() && want.is_nan())
        || (got - want).abs() <= tolerance * want.abs().max(f64::MIN_POSITIVE);
    assert!(fits, "got {got:e}, want {want:e}");
}

#[test]
fn inputs_are_those_of_the_world() {
    assert_eq!(reals(&on_example(features)), [1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]);
    assert_eq!(wholes(&on_example(|builder| column(builder, "k"))), [3, 1, 2, 5]);
    assert_eq!(wholes(&on_example(|builder| input(builder, Input::Id))), [0, 1, 2, 3]);
    assert_eq!(
        reals(&on_example(|builder| input(builder, Input::Weight))),
        [0.5, 2.0, 4.0, 1.0, 3.0]
    );
    assert_eq!(on_example(|builder| input(builder, Input::EdgeFeatures)).columns, 2);
    assert_eq!(wholes(&on_example(|builder| input(builder, Input::EdgeType))), [0, 1, 0, 1, 0]);
    assert_eq!(wholes(&on_example(|builder| input(builder, Input::GraphSize))), [2, 2, 0]);
    assert_eq!(reals(&on_example(|builder| builder.real(2.5))), [2.5]);
    let degree = |edges| on_example(|builder| input(builder, Input::Degree(edges)));
    assert_eq!(wholes(&degree(EdgeSet::IN)), [1, 4, 0, 0]);
    assert_eq!(wholes(&degree(EdgeSet::OUT)), [1, 2, 2, 0]);
    assert_eq!(wholes(&degree(EdgeSet::BOTH)), [2, 6, 2, 0]);
    assert_eq!(wholes(&degree(of_relation(Direction::In, 1))), [0, 2, 0, 0]);
    assert_eq!(wholes(&degree(of_relation(Direction::Both, 0))), [2, 3, 1, 0]);
    assert_eq!(wholes(&degree(of_relation(Direction::Both, 2))), [0, 0, 0, 0]);
}

#[test]
fn weights_are_one_without_weights() {
    let world = World::bare(2, vec![0, 1], vec![1, 0]);
    assert_eq!(
        reals(&run(&Data::bare(2, 2), &world, |builder| input(builder, Input::Weight))),
        [1.0, 1.0]
    );
}

#[test]
fn ids_are_rows_of_the_artifact() {
    let (data, mut world) = example();
    world.artifact_rows = vec![2, 3, 1, 0];
    assert_eq!(wholes(&run(&data, &world, |builder| input(builder, Input::Id))), [2, 3, 1, 0]);
}

#[test]
fn rows_broadcast_and_shared_rows_are_given_to_all() {
    // [2] of each vertex plus [] of its graph, times [2, 1] of all: [2, 2].
    let (data, world) = example();
    let gir = program(&data, |builder| {
        let (x, size, matrix) =
            (features(builder), input(builder, Input::GraphSize), shared(builder, "m", &[2, 1]));
        let sum = builder.add(x, size).unwrap();
        builder.multiply(matrix, sum).unwrap()
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.set_parameter("m", &[1.0, 10.0]).unwrap();
    interpreter.run(0);
    let value = interpreter.result("value").unwrap();
    assert_eq!((value.rows, value.columns), (4, 4));
    assert_eq!(reals(value)[..8], [3.0, 1.0, 30.0, 10.0, 4.0, 0.0, 40.0, 0.0]);
}

#[test]
fn select_takes_one_side_whatever_the_other_is() {
    let value = on_example(|builder| {
        let (condition, c, zero) = (column(builder, "b"), column(builder, "c"), builder.real(0.0));
        let endless = builder.divide(c, zero).unwrap();
        builder.select(condition, c, endless).unwrap()
    });
    assert_eq!(reals(&value), [3.0, INF, 2.0, INF]);
    let value = on_example(|builder| {
        let (condition, x, c) = (column(builder, "b"), features(builder), column(builder, "k"));
        let c = builder.make_shaped(Op::Reshape, &[c], &[1]).unwrap();
        builder.select(condition, x, c).unwrap()
    });
    assert_eq!(reals(&value), [1.0, -1.0, 1.0, 1.0, 3.0, -3.0, 5.0, 5.0]);
}

#[test]
fn dropout_draws_by_row_in_the_artifact_only_when_training() {
    let (data, mut world) = example();
    world.artifact_rows = vec![2, 3, 1, 0];
    let gir = program(&data, |builder| {
        let x = features(builder);
        builder.make(Op::Dropout { probability: 0.5, site: 7 }, &[x]).unwrap()
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.draw = Some(Box::new(|site, probability, row, column| {
        assert_eq!((site, probability), (7, 0.5));
        if (row + column).is_multiple_of(2) { 2.0 } else { 0.0 }
    }));
    interpreter.run(0);
    assert_eq!(reals(interpreter.result("value").unwrap())[..4], [1.0, -1.0, 2.0, -2.0]);
    interpreter.training = true;
    interpreter.run(0);
    assert_eq!(
        reals(interpreter.result("value").unwrap()),
        [2.0, 0.0, 0.0, -4.0, 0.0, -6.0, 8.0, 0.0]
    );
}

#[test]
fn dropout_of_an_infinite_value_is_zero_and_of_edges_draws_by_edge() {
    let (data, world) = example();
    let gir = program(&data, |builder| {
        let (weight, zero) = (input(builder, Input::Weight), builder.real(0.0));
        let endless = builder.divide(weight, zero).unwrap();
        builder.make(Op::Dropout { probability: 0.25, site: 0 }, &[endless]).unwrap()
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.draw = Some(Box::new(|_, _, row, _| if row < 3 { 0.0 } else { 4.0 / 3.0 }));
    interpreter.training = true;
    interpreter.run(0);
    assert_eq!(reals(interpreter.result("value").unwrap()), [0.0, 0.0, 0.0, INF, INF]);
}

#[test]
fn training_chooses_and_detach_changes_nothing() {
    let (data, world) = example();
    let gir = program(&data, |builder| {
        let (c, k) = (column(builder, "c"), builder.real(9.0));
        let c = builder.make(Op::Detach, &[c]).unwrap();
        builder.make(Op::WhenTraining, &[c, k]).unwrap()
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    assert_eq!(reals(interpreter.result("value").unwrap()), [9.0; 4]);
    interpreter.training = true;
    interpreter.run(0);
    assert_eq!(reals(interpreter.result("value").unwrap()), [3.0, 1.0, 2.0, 5.0]);
}

#[test]
fn far_and_near_are_the_two_ends() {
    let seen = |op| {
        on_example(|builder| {
            let c = column(builder, "c");
            builder.make(op, &[c]).unwrap()
        })
    };
    let (sources, targets) = ([3.0, 2.0, 2.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 3.0]);
    assert_eq!(reals(&seen(Op::Far(EdgeSet::IN))), sources);
    assert_eq!(reals(&seen(Op::Near(EdgeSet::IN))), targets);
    assert_eq!(reals(&seen(Op::Far(EdgeSet::OUT))), targets);
    assert_eq!(reals(&seen(Op::Near(EdgeSet::OUT))), sources);
    assert_eq!(reals(&seen(Op::Far(EdgeSet::BOTH))), [sources, targets].concat());
    assert_eq!(reals(&seen(Op::Near(EdgeSet::BOTH))), [targets, sources].concat());
}

#[test]
fn real_values_of_edges_are_reduced() {
    let reduce = |reduction, edges| {
        on_example(|builder| {
            let value = far(builder, edges, "c");
            builder.reduce(reduction, edges, value, None).unwrap()
        })
    };
    let cases: &[(Reduction, EdgeSet, [f64; 4])] = &[
        (Reduction::Sum, EdgeSet::IN, [1.0, 8.0, 0.0, 0.0]),
        (Reduction::Sum, EdgeSet::OUT, [1.0, 4.0, 2.0, 0.0]),
        (Reduction::Sum, EdgeSet::BOTH, [2.0, 12.0, 2.0, 0.0]),
        (Reduction::Sum, of_relation(Direction::In, 0), [1.0, 5.0, 0.0, 0.0]),
        (Reduction::Sum, of_relation(Direction::Both, 1), [0.0, 4.0, 1.0, 0.0]),
        (Reduction::Sum, of_relation(Direction::In, 2), [0.0; 4]),
        (Reduction::Minimum, EdgeSet::IN, [1.0, 1.0, INF, INF]),
        (Reduction::Maximum, EdgeSet::IN, [1.0, 3.0, -INF, -INF]),
        (Reduction::Product, EdgeSet::IN, [1.0, 12.0, 1.0, 1.0]),
        (Reduction::Mode, EdgeSet::IN, [1.0, 2.0, INF, INF]),
        // Vertex 1 has 1 and 3 once each: the smaller.
        (Reduction::Mode, EdgeSet::OUT, [1.0, 1.0, 1.0, INF]),
    ];
    for (reduction, edges, want) in cases {
        assert_eq!(reals(&reduce(*reduction, *edges)), want, "{reduction:?} {edges}");
    }
    assert_eq!(wholes(&reduce(Reduction::Count, EdgeSet::BOTH)), [2, 6, 2, 0]);
    assert_eq!(wholes(&reduce(Reduction::Count, of_relation(Direction::Out, 1))), [0, 1, 1, 0]);
}

#[test]
fn whole_values_of_edges_are_reduced() {
    let reduce = |reduction| {
        on_example(|builder| {
            let value = far(builder, EdgeSet::IN, "k");
            builder.reduce(reduction, EdgeSet::IN, value, None).unwrap()
        })
    };
    assert_eq!(wholes(&reduce(Reduction::Sum)), [1, 8, 0, 0]);
    assert_eq!(wholes(&reduce(Reduction::Product)), [1, 12, 1, 1]);
    assert_eq!(wholes(&reduce(Reduction::Minimum)), [1, 1, i64::MAX, i64::MAX]);
    assert_eq!(wholes(&reduce(Reduction::Maximum)), [1, 3, i64::MIN, i64::MIN]);
    assert_eq!(wholes(&reduce(Reduction::Mode)), [1, 2, i64::MAX, i64::MAX]);
    assert_eq!(wholes(&reduce(Reduction::HIndex)), [1, 2, 0, 0]);
    assert_eq!(wholes(&reduce(Reduction::Count)), [1, 4, 0, 0]);
    let of_ids = |reduction| {
        on_example(|builder| {
            let id = input(builder, Input::Id);
            let seen = builder.make(Op::Far(EdgeSet::IN), &[id]).unwrap();
            builder.reduce(reduction, EdgeSet::IN, seen, None).unwrap()
        })
    };
    let beyond = 4_294_967_295;
    assert_eq!(wholes(&of_ids(Reduction::Minimum)), [1, 0, beyond, beyond]);
    assert_eq!(wholes(&of_ids(Reduction::Maximum)), [1, 2, beyond, beyond]);
    assert_eq!(wholes(&of_ids(Reduction::Mode)), [1, 2, beyond, beyond]);
}

#[test]
fn bools_of_edges_are_reduced() {
    let reduce = |reduction, bound: f64| {
        on_example(|builder| {
            let (value, bound) = (far(builder, EdgeSet::IN, "c"), builder.real(bound));
            let holds = builder.binary(Binary::Less, bound, value).unwrap();
            builder.reduce(reduction, EdgeSet::IN, holds, None).unwrap()
        })
    };
    assert_eq!(wholes(&reduce(Reduction::Any, 2.0)), [0, 1, 0, 0]);
    assert_eq!(wholes(&reduce(Reduction::Any, 0.0)), [1, 1, 0, 0]);
    assert_eq!(wholes(&reduce(Reduction::All, 1.0)), [0, 0, 1, 1]);
    assert_eq!(wholes(&reduce(Reduction::All, 0.0)), [1, 1, 1, 1]);
}

/// Edges whose weight is above 0.9 and below 3.5: ids 1, 3 and 4.
fn middle_edges(builder: &mut Builder) -> NodeId {
    let (weight, low, high) = (input(builder, Input::Weight), builder.real(0.9), builder.real(3.5));
    let (above, below) = (
        builder.binary(Binary::Less, low, weight).unwrap(),
        builder.binary(Binary::Less, weight, high).unwrap(),
    );
    builder.binary(Binary::And, above, below).unwrap()
}

#[test]
fn a_mask_leaves_edges_out() {
    let reduce = |reduction| {
        on_example(|builder| {
            let (value, mask) = (far(builder, EdgeSet::IN, "c"), middle_edges(builder));
            builder.reduce(reduction, EdgeSet::IN, value, Some(mask)).unwrap()
        })
    };
    assert_eq!(reals(&reduce(Reduction::Sum)), [1.0, 3.0, 0.0, 0.0]);
    assert_eq!(reals(&reduce(Reduction::Maximum)), [1.0, 2.0, -INF, -INF]);
    assert_eq!(reals(&reduce(Reduction::Product)), [1.0, 2.0, 1.0, 1.0]);
    assert_eq!(wholes(&reduce(Reduction::Count)), [1, 2, 0, 0]);
    let others = on_example(|builder| {
        let (value, mask) = (far(builder, EdgeSet::IN, "c"), middle_edges(builder));
        builder.make(Op::Others(EdgeSet::IN), &[value, mask]).unwrap()
    });
    assert_eq!(reals(&others), [0.0, 1.0, 0.0, 2.0, 1.0]);
    let winner = on_example(|builder| {
        let (value, mask) = (far(builder, EdgeSet::IN, "c"), middle_edges(builder));
        builder.make(Op::Winner(true, EdgeSet::IN), &[value, mask]).unwrap()
    });
    assert_eq!(wholes(&winner), [0, 1, 0, 0, 1]);
}

#[test]
fn each_column_is_reduced_by_itself_and_nan_spreads() {
    let (data, mut world) = example();
    world.features =
        Some(ElementRows::from_reals(4, 2, vec![1.0, f64::NAN, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]));
    for reduction in [
        Reduction::Sum,
        Reduction::Minimum,
        Reduction::Maximum,
        Reduction::Product,
        Reduction::Mode,
    ] {
        let value = run(&data, &world, |builder| {
            let x = features(builder);
            let seen = builder.make(Op::Far(EdgeSet::IN), &[x]).unwrap();
            builder.reduce(reduction, EdgeSet::IN, seen, None).unwrap()
        });
        assert_eq!((value.rows, value.columns), (4, 2));
        let nan: Vec<bool> = reals(&value).iter().map(|element| element.is_nan()).collect();
        assert_eq!(nan, [false, false, false, true, false, false, false, false], "{reduction:?}");
    }
}

#[test]
fn the_winner_is_the_first_of_equals() {
    let winner = |largest, edges, relation_mask: bool| {
        on_example(|builder| {
            let value = far(builder, edges, "c");
            let inputs =
                if relation_mask { vec![value, middle_edges(builder)] } else { vec![value] };
            builder.make(Op::Winner(largest, edges), &inputs).unwrap()
        })
    };
    assert_eq!(wholes(&winner(true, EdgeSet::IN, false)), [1, 0, 0, 0, 1]);
    assert_eq!(wholes(&winner(false, EdgeSet::IN, false)), [0, 0, 0, 1, 1]);
    assert_eq!(wholes(&winner(true, of_relation(Direction::In, 0), false)), [1, 0, 0, 0, 1]);
    assert_eq!(wholes(&winner(true, of_relation(Direction::In, 1), false)), [0, 1, 0, 0, 0]);
    // Out of vertex 2 go edges 1 and 2, both to vertex 1.
    assert_eq!(wholes(&winner(false, EdgeSet::OUT, false)), [1, 1, 0, 1, 0]);
    assert_eq!(wholes(&winner(true, EdgeSet::OUT, true)), [0, 1, 0, 0, 1]);
    // Both: vertex 0 has edge 4 as in-edge before edge 0 as out-edge, both seeing 1.
    assert_eq!(wholes(&winner(true, EdgeSet::BOTH, false)), [1, 0, 0, 0, 1, 0, 1, 0, 0, 0]);
}

#[test]
fn the_product_of_the_others_is_right_also_beside_zeros() {
    let (data, mut world) = example();
    let others = |world: &World| {
        let value = run(&data, world, |builder| {
            let value = far(builder, EdgeSet::IN, "c");
            builder.make(Op::Others(EdgeSet::IN), &[value]).unwrap()
        });
        reals(&value).to_vec()
    };
    assert_eq!(others(&world), [4.0, 6.0, 6.0, 12.0, 1.0]);
    world.columns.insert("c".to_owned(), ElementRows::from_reals(4, 1, vec![0.0, 1.0, 2.0, 5.0]));
    assert_eq!(others(&world), [4.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_fold_goes_from_its_start_through_the_edges_in_order() {
    let double_and_add = Function::Binary(
        Binary::Add,
        Box::new(Function::Binary(
            Binary::Multiply,
            Box::new(Function::Left),
            Box::new(Function::Number(Number::Real(2.0))),
        )),
        Box::new(Function::Right),
    );
    let fold = |function: &Function, masked: bool| {
        on_example(|builder| {
            let (value, start) = (far(builder, EdgeSet::IN, "c"), builder.real(1.0));
            let mut inputs = vec![value, start];
            if masked {
                inputs.push(middle_edges(builder));
            }
            builder.make(Op::Fold(function.clone(), EdgeSet::IN), &inputs).unwrap()
        })
    };
    assert_eq!(reals(&fold(&double_and_add, false)), [3.0, 53.0, 1.0, 1.0]);
    assert_eq!(reals(&fold(&double_and_add, true)), [3.0, 9.0, 1.0, 1.0]);
    let above = Function::Binary(Binary::Less, Box::new(Function::Left), Box::new(Function::Right));
    let last_above = Function::Select(
        Box::new(above),
        Box::new(Function::Right),
        Box::new(Function::Unary(Unary::Negative, Box::new(Function::Left))),
    );
    // Vertex 1: 1 -> 3 -> -3 -> 2 -> -2.
    assert_eq!(reals(&fold(&last_above, false)), [-1.0, -2.0, 1.0, 1.0]);
    let truncated = Function::Cast(
        Type::Real,
        Box::new(Function::Cast(
            Type::Int,
            Box::new(Function::Binary(
                Binary::Divide,
                Box::new(Function::Right),
                Box::new(Function::Number(Number::Int(2))),
            )),
        )),
    );
    assert_eq!(reals(&fold(&truncated, false)), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn common_neighbors_are_distinct_and_third() {
    let world = World::bare(4, vec![0, 1, 2, 3, 0, 1], vec![1, 2, 0, 2, 1, 1]);
    let value =
        run(&Data::bare(4, 6), &world, |builder| builder.make(Op::CommonNeighbors, &[]).unwrap());
    assert_eq!(wholes(&value), [1, 1, 1, 0, 1, 2]);
}

#[test]
fn vertices_are_pooled_and_graphs_given() {
    let pool = |pooling, name: &'static str| {
        on_example(move |builder| {
            let value = column(builder, name);
            builder.make(Op::Pool(pooling), &[value]).unwrap()
        })
    };
    assert_eq!(reals(&pool(Pooling::Sum, "c")), [4.0, 7.0, 0.0]);
    assert_eq!(reals(&pool(Pooling::Maximum, "c")), [3.0, 5.0, -INF]);
    assert_eq!(reals(&pool(Pooling::Minimum, "c")), [1.0, 2.0, INF]);
    assert_eq!(wholes(&pool(Pooling::Sum, "k")), [4, 7, 0]);
    assert_eq!(wholes(&pool(Pooling::Maximum, "k")), [3, 5, i64::MIN]);
    let given = on_example(|builder| {
        let value = column(builder, "c");
        let pooled = builder.make(Op::Pool(Pooling::Sum), &[value]).unwrap();
        builder.make(Op::Give, &[pooled]).unwrap()
    });
    assert_eq!(reals(&given), [4.0, 4.0, 7.0, 7.0]);
}

#[test]
fn all_rows_are_summed() {
    let sum = |build: fn(&mut Builder) -> NodeId| {
        on_example(|builder| {
            let value = build(builder);
            builder.make(Op::SumRows, &[value]).unwrap()
        })
    };
    assert_eq!(reals(&sum(features)), [10.0, -10.0]);
    assert_eq!(reals(&sum(|builder| input(builder, Input::Weight))), [10.5]);
    assert_eq!(wholes(&sum(|builder| column(builder, "k"))), [11]);
    assert_eq!(wholes(&sum(|builder| input(builder, Input::GraphSize))), [4]);
}

/// One row of shape [2, 3]: 0 1 2 / 3 4 5, run through operations on axes.
fn on_block(build: impl FnOnce(&mut Builder, NodeId) -> NodeId) -> Vec<f64> {
    let (data, world) = example();
    let gir = program(&data, |builder| {
        let block = shared(builder, "block", &[2, 3]);
        build(builder, block)
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.set_parameter("block", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    interpreter.run(0);
    let value = interpreter.result("value").unwrap();
    assert_eq!(value.columns as u64, gir.node(gir.results[0].node).columns());
    reals(value).to_vec()
}

#[test]
fn axes_are_reduced_cut_and_joined() {
    let axis = |pooling, axis| {
        on_block(|builder, block| builder.make(Op::Axis(pooling, axis), &[block]).unwrap())
    };
    assert_eq!(axis(Pooling::Sum, 0), [3.0, 5.0, 7.0]);
    assert_eq!(axis(Pooling::Sum, 1), [3.0, 12.0]);
    assert_eq!(axis(Pooling::Maximum, 1), [2.0, 5.0]);
    assert_eq!(axis(Pooling::Minimum, 0), [0.0, 1.0, 2.0]);
    let slice = |axis, start, length| {
        on_block(|builder, block| {
            builder.make(Op::Slice { axis, start, length }, &[block]).unwrap()
        })
    };
    assert_eq!(slice(1, 1, 2), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(slice(0, 1, 1), [3.0, 4.0, 5.0]);
    assert_eq!(slice(1, 3, 0), [0.0; 0]);
    let unslice = |axis, start, total| {
        on_block(|builder, block| {
            builder.make(Op::Unslice { axis, start, total }, &[block]).unwrap()
        })
    };
    assert_eq!(unslice(1, 1, 4), [0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0]);
    assert_eq!(unslice(0, 0, 3), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0]);
    let joined = on_block(|builder, block| {
        let part = builder.make(Op::Slice { axis: 1, start: 0, length: 1 }, &[block]).unwrap();
        builder.make(Op::Concat(1), &[block, part, part]).unwrap()
    });
    assert_eq!(joined, [0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 5.0, 3.0, 3.0]);
    let stacked = on_block(|builder, block| builder.make(Op::Concat(0), &[block, block]).unwrap());
    assert_eq!(stacked, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(
        on_block(|builder, block| builder.make_shaped(Op::Reshape, &[block], &[3, 2]).unwrap()),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(
        on_block(|builder, block| builder.make_shaped(Op::Expand, &[block], &[2, 2, 3]).unwrap())
            .len(),
        12
    );
    let repeated = on_block(|builder, block| {
        let first = builder.make(Op::Slice { axis: 1, start: 1, length: 1 }, &[block]).unwrap();
        builder.make_shaped(Op::Expand, &[first], &[2, 2]).unwrap()
    });
    assert_eq!(repeated, [1.0, 1.0, 4.0, 4.0]);
}

#[test]
fn rows_side_by_side_may_be_of_vertices_and_shared() {
    let value = on_example(|builder| {
        let (x, size) = (features(builder), input(builder, Input::GraphSize));
        let (shared, size) =
            (shared(builder, "zero", &[1]), builder.cast(Type::Real, size).unwrap());
        let size = builder.make_shaped(Op::Reshape, &[size], &[1]).unwrap();
        builder.make(Op::Concat(0), &[x, shared, size]).unwrap()
    });
    assert_eq!(reals(&value)[8..], [3.0, -3.0, 0.0, 2.0, 4.0, -4.0, 0.0, 2.0]);
}

#[test]
fn an_axis_of_length_zero_has_the_values_of_nothing() {
    let empty = |pooling| {
        on_block(|builder, block| {
            let empty = builder.make(Op::Slice { axis: 1, start: 0, length: 0 }, &[block]).unwrap();
            builder.make(Op::Axis(pooling, 1), &[empty]).unwrap()
        })
    };
    assert_eq!(empty(Pooling::Sum), [0.0, 0.0]);
    assert_eq!(empty(Pooling::Maximum), [-INF, -INF]);
    assert_eq!(empty(Pooling::Minimum), [INF, INF]);
}

#[test]
fn rows_are_multiplied_with_a_shared_matrix() {
    let (data, world) = example();
    let product = |transposed, shape: [u64; 2]| {
        let gir = program(&data, |builder| {
            let (x, matrix) = (features(builder), shared(builder, "m", &shape));
            builder.make(Op::Product { transposed }, &[x, matrix]).unwrap()
        });
        let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
        interpreter.set_parameter("m", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        interpreter.run(0);
        reals(interpreter.result("value").unwrap())[..6].to_vec()
    };
    // [1, -1] and [2, -2] times [1 2 3; 4 5 6], then times the columns [1 2], [3 4], [5 6].
    assert_eq!(product(false, [2, 3]), [-3.0, -3.0, -3.0, -6.0, -6.0, -6.0]);
    assert_eq!(product(true, [3, 2]), [-1.0, -1.0, -1.0, -2.0, -2.0, -2.0]);
    // A row [2, 3] is two rows of 3.
    let twice = on_block(|builder, block| {
        builder.make(Op::Product { transposed: true }, &[block, block]).unwrap()
    });
    assert_eq!(twice, [5.0, 14.0, 14.0, 50.0]);
}

#[test]
fn outer_products_are_summed_over_rows_and_leading_axes() {
    let value = on_example(|builder| {
        let (x, c) = (features(builder), column(builder, "c"));
        let c = builder.make_shaped(Op::Reshape, &[c], &[1]).unwrap();
        builder.make(Op::Outer, &[c, x]).unwrap()
    });
    assert_eq!(reals(&value), [31.0, -31.0]);
    let square = on_block(|builder, block| builder.make(Op::Outer, &[block, block]).unwrap());
    assert_eq!(square, [9.0, 12.0, 15.0, 12.0, 17.0, 22.0, 15.0, 22.0, 29.0]);
}

#[test]
fn tables_are_read_and_written_by_index() {
    let (data, world) = example();
    // Indices 3, 1, 2, 5 of tables with three entries: 3 and 5 are outside.
    let lookup = |transposed, shape: [u64; 2]| {
        let gir = program(&data, |builder| {
            let (table, index) = (shared(builder, "table", &shape), column(builder, "k"));
            builder.make(Op::Lookup { transposed }, &[table, index]).unwrap()
        });
        let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
        interpreter.set_parameter("table", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        interpreter.run(0);
        reals(interpreter.result("value").unwrap()).to_vec()
    };
    assert_eq!(lookup(false, [3, 2]), [0.0, 0.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
    assert_eq!(lookup(true, [2, 3]), [0.0, 0.0, 2.0, 5.0, 3.0, 6.0, 0.0, 0.0]);
    let scatter = |transposed, shape: [u64; 2]| {
        let value = on_example(|builder| {
            let (x, k, two) =
                (features(builder), column(builder, "k"), builder.constant(Number::Int(2)));
            let index = builder.binary(Binary::FloorDivide, k, two).unwrap();
            builder.make_shaped(Op::Scatter { transposed }, &[x, index], &shape).unwrap()
        });
        reals(&value).to_vec()
    };
    // Indices 1, 0, 1, 2 of rows 1, 2, 3, 4: entries 2, 1 + 3, 4.
    assert_eq!(scatter(false, [3, 2]), [2.0, -2.0, 4.0, -4.0, 4.0, -4.0]);
    assert_eq!(scatter(true, [2, 2]), [2.0, 4.0, -2.0, -4.0]);
}

#[test]
fn a_shared_row_is_scattered_once_an_index() {
    let value = on_example(|builder| {
        let (row, k) = (shared(builder, "row", &[1]), column(builder, "k"));
        let one = builder.real(1.0);
        let row = builder.add(row, one).unwrap();
        builder.make_shaped(Op::Scatter { transposed: false }, &[row, k], &[3, 1]).unwrap()
    });
    assert_eq!(reals(&value), [0.0, 1.0, 1.0]);
}

/// Loss and slope of features against targets.
fn measure(
    loss: Loss,
    columns: u64,
    targets: ElementRows,
    training_rows: Vec<u32>,
) -> (f64, Vec<f64>) {
    let (mut data, mut world) = example();
    data.target = Some(Target { columns, loss });
    (world.targets, world.training_rows) = (Some(targets), training_rows);
    let mut builder = Builder::new("loss", &data);
    let (x, target) = (features(&mut builder), input(&mut builder, Input::Target));
    let (mean, slope) = (
        builder.make(Op::Loss(loss), &[x, target]).unwrap(),
        builder.make(Op::LossSlope(loss), &[x, target]).unwrap(),
    );
    builder.gir.loss = Some(mean);
    builder.gir.results.push(Output { name: "slope".to_owned(), node: slope, edges: None });
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    (interpreter.loss().unwrap(), reals(interpreter.result("slope").unwrap()).to_vec())
}

#[test]
fn losses_are_means_over_the_training_rows() {
    let classes = ElementRows::from_reals(4, 1, vec![0.0, 1.0, 1.0, 0.0]);
    // Row 0: scores 1, -1, class 0; row 1: scores 2, -2, class 1.
    let (loss, slope) = measure(Loss::CrossEntropy, 2, classes.clone(), vec![0, 1]);
    close(loss, f64::midpoint((1.0 + (-2.0_f64).exp()).ln(), (1.0 + 4.0_f64.exp()).ln()), 1e-15);
    let (first, second) = (1.0 / (1.0 + 2.0_f64.exp()), 1.0 / (1.0 + (-4.0_f64).exp()));
    for (got, want) in slope.iter().zip([
        -first / 2.0,
        first / 2.0,
        second / 2.0,
        -second / 2.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ]) {
        close(*got, want, 1e-14);
    }
    let values = ElementRows::from_reals(4, 2, vec![0.0, 0.0, 0.0, 0.0, 2.0, -3.0, 4.0, 0.0]);
    // Differences of rows 2 and 3: 1, 0 and 0, -4.
    let (loss, slope) = measure(Loss::MeanSquares, 2, values, vec![2, 3]);
    assert_eq!((loss, slope), (17.0 / 4.0, vec![0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -2.0]));
    let (loss, slope) = measure(
        Loss::Binary,
        2,
        ElementRows::from_reals(4, 2, vec![1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0]),
        vec![0],
    );
    close(loss, (1.0 + (-1.0_f64).exp()).ln(), 1e-15);
    let wrong = 1.0 / (1.0 + 1.0_f64.exp());
    close(slope[0], -wrong / 2.0, 1e-14);
    close(slope[1], wrong / 2.0, 1e-14);
    assert_eq!(slope[2..], [0.0; 6]);
    assert_eq!(measure(Loss::CrossEntropy, 2, classes, vec![]), (0.0, vec![0.0; 8]));
}

#[test]
fn unknown_targets_of_a_binary_loss_do_not_count() {
    let nan = f64::NAN;
    // Row 0: scores 1, -1; row 1: scores 2, -2.
    let (loss, slope) = measure(
        Loss::Binary,
        2,
        ElementRows::from_reals(4, 2, vec![1.0, nan, 0.0, 0.0, nan, nan, nan, nan]),
        vec![0, 1, 2],
    );
    let terms =
        [(1.0 + (-1.0_f64).exp()).ln(), (1.0 + 2.0_f64.exp()).ln(), (1.0 + (-2.0_f64).exp()).ln()];
    close(loss, terms.iter().sum::<f64>() / 3.0, 1e-15);
    close(slope[0], -1.0 / (1.0 + 1.0_f64.exp()) / 3.0, 1e-14);
    close(slope[2], 1.0 / (1.0 + (-2.0_f64).exp()) / 3.0, 1e-14);
    assert_eq!((slope[1], &slope[4..]), (0.0, &[0.0; 4][..]));
    assert_eq!(
        measure(Loss::Binary, 2, ElementRows::from_reals(4, 2, vec![nan; 8]), vec![0, 3]),
        (0.0, vec![0.0; 8])
    );
}

#[test]
fn binary_loss_of_large_scores_is_finite() {
    let (mut data, mut world) = example();
    data.target = Some(Target { columns: 2, loss: Loss::Binary });
    world.features =
        Some(ElementRows::from_reals(4, 2, vec![1000.0, -1000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    (world.targets, world.training_rows) =
        (Some(ElementRows::from_reals(4, 2, vec![0.0; 8])), vec![0]);
    let mut builder = Builder::new("loss", &data);
    let (x, target) = (features(&mut builder), input(&mut builder, Input::Target));
    builder.gir.loss = Some(builder.make(Op::Loss(Loss::Binary), &[x, target]).unwrap());
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    assert_eq!(interpreter.loss(), Some(500.0));
}

#[test]
fn a_loss_over_graphs_takes_rows_of_graphs() {
    let (mut data, mut world) = example();
    (data.many_graphs, data.target) = (true, Some(Target { columns: 1, loss: Loss::MeanSquares }));
    (world.targets, world.training_rows) =
        (Some(ElementRows::from_reals(3, 1, vec![1.0, 2.0, 3.0])), vec![1, 2]);
    let mut builder = Builder::new("loss", &data);
    let (c, target) = (column(&mut builder, "c"), input(&mut builder, Input::Target));
    let pooled = builder.make(Op::Pool(Pooling::Sum), &[c]).unwrap();
    let pooled = builder.make_shaped(Op::Reshape, &[pooled], &[1]).unwrap();
    builder.gir.loss = Some(builder.make(Op::Loss(Loss::MeanSquares), &[pooled, target]).unwrap());
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    interpreter.run(0);
    // Graph 1 pools 7 against 2, graph 2 pools 0 against 3.
    assert_eq!(interpreter.loss(), Some(17.0));
}

/// Counts up from `c`, by one a superstep, to 5 at most.
fn counting(data: &Data, until: impl FnOnce(&mut Builder, NodeId) -> StopTest) -> Gir {
    program(data, |builder| {
        let first = column(builder, "c");
        let (number, inside) = builder.begin_loop(&[("count".to_owned(), first)]);
        let (one, five) = (builder.real(1.0), builder.real(5.0));
        let more = builder.add(inside[0], one).unwrap();
        let next = builder.binary(Binary::Minimum, more, five).unwrap();
        let until = until(builder, next);
        builder.end_loop(number, &[next], until).unwrap()[0]
    })
}

#[test]
fn a_loop_runs_until_its_condition_is_met_after_a_superstep() {
    let (data, world) = example();
    let ended = |gir: &Gir, supersteps_max| {
        let mut interpreter = Interpreter::new(gir, &data, &world).unwrap();
        let ending = interpreter.run(supersteps_max)[0].unwrap();
        (ending, reals(interpreter.result("value").unwrap()).to_vec())
    };
    // From 3 1 2 5: changes 3, 3, 2, 1, 0.
    let unchanged = counting(&data, |_, _| StopTest::Unchanged(vec![0]));
    assert_eq!(ended(&unchanged, 100), (Ending { supersteps: 5, converged: true }, vec![5.0; 4]));
    assert_eq!(
        ended(&unchanged, 2),
        (Ending { supersteps: 2, converged: false }, vec![5.0, 3.0, 4.0, 5.0])
    );
    assert_eq!(
        ended(&unchanged, 0),
        (Ending { supersteps: 0, converged: false }, vec![3.0, 1.0, 2.0, 5.0])
    );
    let little = counting(&data, |_, _| StopTest::ChangeAtMost(0, 2.0));
    assert_eq!(
        ended(&little, 100),
        (Ending { supersteps: 3, converged: true }, vec![5.0, 4.0, 5.0, 5.0])
    );
    let nowhere = counting(&data, |builder, next| {
        let three = builder.real(3.0);
        StopTest::Nowhere(builder.binary(Binary::Less, next, three).unwrap())
    });
    assert_eq!(
        ended(&nowhere, 100),
        (Ending { supersteps: 2, converged: true }, vec![5.0, 3.0, 4.0, 5.0])
    );
}

#[test]
fn states_are_replaced_together() {
    // (a, b) -> (b, a + b): both read the values of the start of the superstep.
    let (data, world) = example();
    let mut builder = Builder::new("fibonacci", &data);
    let (zero, one) = (builder.real(0.0), builder.real(1.0));
    let (number, inside) = builder.begin_loop(&[("a".to_owned(), zero), ("b".to_owned(), one)]);
    let sum = builder.add(inside[0], inside[1]).unwrap();
    let ended =
        builder.end_loop(number, &[inside[1], sum], StopTest::Unchanged(vec![0, 1])).unwrap();
    builder.gir.results = ended
        .iter()
        .map(|node| Output { name: format!("{node:?}"), node: *node, edges: None })
        .collect();
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    assert_eq!(interpreter.run(10)[0], Some(Ending { supersteps: 10, converged: false }));
    assert_eq!(reals(interpreter.value(ended[0]).unwrap()), [55.0]);
    assert_eq!(reals(interpreter.value(ended[1]).unwrap()), [89.0]);
}

#[test]
fn a_loop_may_start_from_the_end_of_another() {
    let (data, world) = example();
    let gir = program(&data, |builder| {
        let mut value = column(builder, "k");
        for step in [1, 10] {
            let (number, inside) = builder.begin_loop(&[("k".to_owned(), value)]);
            let (step, top) =
                (builder.constant(Number::Int(step)), builder.constant(Number::Int(20 * step)));
            let more = builder.add(inside[0], step).unwrap();
            let next = builder.binary(Binary::Minimum, more, top).unwrap();
            value = builder.end_loop(number, &[next], StopTest::ChangeAtMost(0, 0.0)).unwrap()[0];
        }
        value
    });
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    let endings = interpreter.run(1000);
    assert_eq!(
        endings.iter().map(|ending| ending.unwrap().supersteps).collect::<Vec<_>>(),
        [20, 19]
    );
    assert_eq!(wholes(interpreter.result("value").unwrap()), [200; 4]);
}

#[test]
fn change_is_zero_for_equal_infinities_and_exact_for_whole_numbers() {
    let real = |values: [f64; 3]| ElementRows::from_reals(3, 1, values.to_vec());
    let change = interpret::change(&real([INF, -INF, 1.0]), &real([INF, -INF, 1.0]));
    assert_eq!((change.summed, change.changed), (0.0, 0));
    let change = interpret::change(&real([INF, 2.0, 1.0]), &real([3.0, 2.0, 1.5]));
    assert_eq!((change.summed, change.changed), (INF, 2));
    let change = interpret::change(&real([f64::NAN, 2.0, 1.0]), &real([f64::NAN, 2.0, 1.0]));
    assert!(change.summed.is_nan() && change.changed == 1);
    let change = interpret::change(
        &ElementRows::from_integers(2, 1, vec![i64::MAX, 7]),
        &ElementRows::from_integers(2, 1, vec![i64::MAX - 1, 10]),
    );
    assert_eq!((change.summed, change.changed), (4.0, 2));
}

#[test]
fn parameters_start_are_set_stepped_and_updated() {
    let (data, world) = example();
    let mut builder = Builder::new("learn", &data);
    let weight = shared(&mut builder, "weight", &[2]);
    let running = builder.parameter(Parameter {
        name: "running".to_owned(),
        shape: vec![],
        init: Init::One,
        learned: false,
    });
    builder.parameter(Parameter {
        name: "drawn".to_owned(),
        shape: vec![1, 1],
        init: Init::GlorotUniform,
        learned: true,
    });
    let half = builder.real(0.5);
    let next = builder.multiply(running, half).unwrap();
    let x = features(&mut builder);
    let slope = builder.make(Op::SumRows, &[x]).unwrap();
    builder.gir.gradients.push(Gradient { of: weight, node: slope });
    builder.gir.updates.push((1, next));
    let gir = builder.gir;
    let mut interpreter = Interpreter::new(&gir, &data, &world).unwrap();
    assert!(interpreter.parameters()["drawn"][0].is_nan());
    interpreter.set_parameter("weight", &[1.0, 2.0]).unwrap();
    assert_eq!(interpreter.set_parameter("wieght", &[1.0]).unwrap_err().what, "parameter `wieght`");
    assert_eq!(
        interpreter.set_parameter("weight", &[1.0]).unwrap_err().to_string(),
        "elements of parameter `weight`: expected 2, found 1"
    );
    let adam =
        Adam { learning_rate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 0.0, weight_decay: 0.0 };
    interpreter.run(0);
    interpreter.step(&adam);
    interpreter.apply_updates();
    // The first step of Adam is the rate times the sign of the slope.
    let kept: BTreeMap<&str, Vec<f64>> = interpreter
        .parameters()
        .into_iter()
        .map(|(name, values)| (name, values.to_vec()))
        .collect();
    close(kept["weight"][0], 0.9, 1e-12);
    close(kept["weight"][1], 2.1, 1e-12);
    assert_eq!(kept["running"], [0.5]);
    interpreter.run(0);
    interpreter.apply_updates();
    assert_eq!(interpreter.parameters()["running"], [0.25]);
}

#[test]
fn what_does_not_fit_is_refused_and_named() {
    let refused = |change: fn(&mut Data, &mut World)| {
        let (mut data, mut world) = example();
        change(&mut data, &mut world);
        world.check(&data).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|_, world| world.source[1] = 4),
        "source of an edge: expected a number below 4, found 4"
    );
    assert_eq!(
        refused(|_, world| world.target.truncate(4)),
        "targets of edges: expected 5, found 4"
    );
    assert_eq!(refused(|_, world| world.nodes = 5), "nodes: expected 4, found 5");
    assert_eq!(
        refused(|_, world| world.weight = None),
        "weights of edges: expected some, found none"
    );
    assert_eq!(
        refused(|_, world| world.weight = Some(vec![1.0])),
        "weights of edges: expected 5, found 1"
    );
    assert_eq!(
        refused(|_, world| world.edge_type[0] = 3),
        "type of an edge: expected a number below 3, found 3"
    );
    assert_eq!(refused(|_, world| world.edge_type.clear()), "types of edges: expected 5, found 0");
    assert_eq!(
        refused(|_, world| world.graph_of_node[0] = 3),
        "graph of a node: expected a number below 3, found 3"
    );
    assert_eq!(
        refused(|data, world| (data.graphs, world.graphs, world.graph_of_node) = (0, 0, vec![])),
        "graphs: expected at least 1, found 0"
    );
    assert_eq!(
        refused(|_, world| world.training_rows = vec![9]),
        "training row: expected a number below 4, found 9"
    );
    assert_eq!(
        refused(|_, world| world.artifact_rows = vec![0, 1, 2, 2]),
        "artifact rows: expected each row once, found 2 twice"
    );
    assert_eq!(
        refused(|_, world| world.artifact_rows = vec![0, 1, 2]),
        "artifact rows: expected 4, found 3"
    );
    assert_eq!(
        refused(|data, _| data.features = Some(3)),
        "features: expected 4 x 3, found 4 x 2 with 8 real elements"
    );
    assert_eq!(
        refused(|data, _| data.columns.extend([("c".to_owned(), Type::Int)])),
        "type of column `c`: expected int, found real"
    );
    let (data, mut world) = example();
    world.features = None;
    let gir = program(&data, features);
    assert_eq!(
        Interpreter::new(&gir, &data, &world).err().unwrap().to_string(),
        "features: expected some, since the program reads it, found none"
    );
}

#[test]
fn a_class_without_a_score_is_refused() {
    let (mut data, mut world) = example();
    data.target = Some(Target { columns: 2, loss: Loss::CrossEntropy });
    (world.targets, world.training_rows) =
        (Some(ElementRows::from_reals(4, 1, vec![0.0, 1.0, 2.0, 0.0])), vec![0, 2]);
    let mut builder = Builder::new("loss", &data);
    let (x, target) = (features(&mut builder), input(&mut builder, Input::Target));
    builder.gir.loss = Some(builder.make(Op::Loss(Loss::CrossEntropy), &[x, target]).unwrap());
    let refused = Interpreter::new(&builder.gir, &data, &world).err().unwrap().to_string();
    assert_eq!(refused, "class of training row 2: expected a whole number below 2, found 2");
}
