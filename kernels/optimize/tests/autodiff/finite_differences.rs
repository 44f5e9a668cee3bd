//! finite_differences: the gradient of every operation against central differences in f64.
use warploom_ir::{
    Binary, Builder, EdgeSet, Input, Loss, NodeId, NodeResult, Number, Op, Pooling, Reduction,
    Type, Unary,
};

use super::forms::softmax;
use warploom_test_support::gradient_check::{
    EDGE_FEATURES, FEATURES, compare_all, input, parameter, summed, where_above,
};

const SETS: [EdgeSet; 6] = [
    EdgeSet::IN,
    EdgeSet::OUT,
    EdgeSet::BOTH,
    EdgeSet { relation: Some(1), ..EdgeSet::IN },
    EdgeSet { relation: Some(2), ..EdgeSet::OUT },
    EdgeSet { relation: Some(0), ..EdgeSet::BOTH },
];

/// A positive value of vertices, and one of any sign: functions of features and a parameter.
fn operands(builder: &mut Builder) -> Result<(NodeId, NodeId), warploom_ir::Misfit> {
    let (features, weight) =
        (input(builder, Input::Features), parameter(builder, "w", &[FEATURES]));
    let any = builder.multiply(features, weight)?;
    let square = builder.unary(Unary::Square, features)?;
    let half = builder.real(0.5);
    Ok((builder.add(square, half)?, any))
}

#[test]
fn functions_of_one_value() {
    let steep = [Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Reciprocal];
    let slopes = [Unary::LeakyRelu(0.2), Unary::LeakyRelu(-0.3)];
    let real = Unary::ALL.iter().filter(|operator| operator.takes().contains(&Type::Real));
    for operator in real.copied().chain(slopes) {
        let is_positive = steep.contains(&operator);
        compare_all(&format!("{operator:?}"), &|builder| {
            let (above, any) = operands(builder)?;
            let y = builder.unary(operator, if is_positive { above } else { any })?;
            summed(builder, y)
        });
    }
}

#[test]
fn functions_of_two_values() {
    let operators = [
        Binary::Add,
        Binary::Subtract,
        Binary::Multiply,
        Binary::Divide,
        Binary::FloorDivide,
        Binary::Remainder,
        Binary::Power,
        Binary::Minimum,
        Binary::Maximum,
    ];
    for operator in operators {
        compare_all(&format!("{operator:?}"), &|builder| {
            let (above, any) = operands(builder)?;
            let (a, b) = if operator == Binary::Power { (above, any) } else { (any, above) };
            let y = builder.binary(operator, a, b)?;
            summed(builder, y)
        });
    }
    for exponent in [0.0, 1.0, 2.0, 3.0, -1.5, 0.5] {
        compare_all(&format!("power {exponent}"), &|builder| {
            let (above, _) = operands(builder)?;
            let exponent = builder.real(exponent);
            let y = builder.binary(Binary::Power, above, exponent)?;
            summed(builder, y)
        });
    }
}

#[test]
fn rows_that_broadcast() {
    // A number of each graph, of each vertex and of all; a row of [2, 1] with one of [3].
    let shapes: [(&[u64], &[u64]); 4] =
        [(&[], &[3]), (&[2, 1], &[3]), (&[1], &[2, 3]), (&[2, 3], &[])];
    for (a, b) in shapes {
        for operator in
            [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide, Binary::Maximum]
        {
            compare_all(&format!("{operator:?} of {a:?} and {b:?}"), &|builder| {
                let height = input(builder, Input::Column("height".to_owned()));
                let (left, right) = (parameter(builder, "left", a), parameter(builder, "right", b));
                let on_vertices = builder.multiply(height, left)?;
                let on_graphs = builder.make(Op::Pool(Pooling::Sum), &[on_vertices])?;
                let three = builder.real(3.0);
                let far = builder.unary(Unary::Tanh, right)?;
                let far = builder.add(far, three)?;
                let first = builder.binary(operator, on_vertices, far)?;
                let second = builder.binary(operator, on_graphs, far)?;
                let both = builder.multiply(first, second)?;
                summed(builder, both)
            });
        }
    }
}

#[test]
fn what_is_chosen_or_passed() {
    compare_all("select", &|builder| {
        let (above, any) = operands(builder)?;
        let limit = builder.real(0.8);
        let condition = builder.binary(Binary::Less, above, limit)?;
        let bias = parameter(builder, "b", &[]);
        let y = builder.select(condition, any, bias)?;
        summed(builder, y)
    });
    compare_all("dropout", &|builder| {
        let (_, any) = operands(builder)?;
        let dropped = builder.make(Op::Dropout { probability: 0.4, site: 3 }, &[any])?;
        let seen = builder.make(Op::Far(EdgeSet::BOTH), &[dropped])?;
        let again = builder.make(Op::Dropout { probability: 0.5, site: 4 }, &[seen])?;
        let sum = builder.reduce(Reduction::Sum, EdgeSet::BOTH, again, None)?;
        summed(builder, sum)
    });
    // A slope that comes from the vertex is drawn for as the edge was.
    compare_all("dropout of edges that are added up", &|builder| {
        let (above, any) = operands(builder)?;
        let (far, near) = (
            builder.make(Op::Far(EdgeSet::IN), &[any])?,
            builder.make(Op::Near(EdgeSet::IN), &[above])?,
        );
        let score = builder.add(far, near)?;
        let score = builder.unary(Unary::Tanh, score)?;
        let dropped = builder.make(Op::Dropout { probability: 0.5, site: 5 }, &[score])?;
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, dropped, None)?;
        summed(builder, sum)
    });
    compare_all("when training", &|builder| {
        let (above, any) = operands(builder)?;
        let other = parameter(builder, "other", &[]);
        let y = builder.make(Op::WhenTraining, &[any, other])?;
        let y = builder.multiply(y, above)?;
        summed(builder, y)
    });
    compare_all("whole numbers", &|builder| {
        let kind = input(builder, Input::Column("kind".to_owned()));
        let degree = input(builder, Input::Degree(EdgeSet::IN));
        let sum = builder.add(kind, degree)?;
        let (_, any) = operands(builder)?;
        let y = builder.multiply(sum, any)?;
        summed(builder, y)
    });
}

/// On each edge a value of both ends, the weight and the edge features: `[3]`.
fn message(builder: &mut Builder, edges: EdgeSet) -> NodeResult {
    let (above, any) = operands(builder)?;
    let far = builder.make(Op::Far(edges), &[any])?;
    let near = builder.make(Op::Near(edges), &[above])?;
    let product = builder.multiply(far, near)?;
    if edges.rows() == EdgeSet::BOTH.rows() {
        return Ok(product);
    }
    let (weight, features) = (input(builder, Input::Weight), input(builder, Input::EdgeFeatures));
    let table = parameter(builder, "edge", &[FEATURES, EDGE_FEATURES]);
    let seen = builder.make(Op::Product { transposed: true }, &[features, table])?;
    let weighed = builder.multiply(weight, product)?;
    builder.add(weighed, seen)
}

#[test]
fn sums_over_edges() {
    for edges in SETS {
        for reduction in [Reduction::Sum, Reduction::Product] {
            compare_all(&format!("{reduction:?} over {edges}"), &|builder| {
                let message = message(builder, edges)?;
                let y = builder.reduce(reduction, edges, message, None)?;
                summed(builder, y)
            });
        }
        compare_all(&format!("views over {edges}"), &|builder| {
            let message = message(builder, edges)?;
            summed(builder, message)
        });
        compare_all(&format!("far alone over {edges}"), &|builder| {
            let (_, any) = operands(builder)?;
            let far = builder.make(Op::Far(edges), &[any])?;
            let y = builder.reduce(Reduction::Sum, edges, far, None)?;
            summed(builder, y)
        });
    }
}

#[test]
fn extrema_over_edges() {
    for edges in SETS {
        for reduction in [Reduction::Minimum, Reduction::Maximum] {
            compare_all(&format!("{reduction:?} over {edges}"), &|builder| {
                let message = message(builder, edges)?;
                let best = builder.reduce(reduction, edges, message, None)?;
                let count = input(builder, Input::Degree(edges));
                let y = where_above(builder, count, 0.0, best)?;
                summed(builder, y)
            });
        }
    }
}

#[test]
fn edges_that_a_mask_leaves_out() {
    for edges in SETS {
        for reduction in [Reduction::Sum, Reduction::Product, Reduction::Maximum] {
            compare_all(&format!("masked {reduction:?} over {edges}"), &|builder| {
                let message = message(builder, edges)?;
                let height = input(builder, Input::Column("height".to_owned()));
                let zero = builder.real(0.0);
                let tall = builder.binary(Binary::Less, zero, height)?;
                let mask = builder.make(Op::Far(edges), &[tall])?;
                let made = builder.reduce(reduction, edges, message, Some(mask))?;
                let count = builder.reduce(Reduction::Count, edges, message, Some(mask))?;
                let y = where_above(builder, count, 0.0, made)?;
                summed(builder, y)
            });
        }
    }
}

#[test]
fn lists_of_several_sets_in_one_sum() {
    let [all, one, other] = [
        EdgeSet::IN,
        EdgeSet { relation: Some(0), ..EdgeSet::IN },
        EdgeSet { relation: Some(1), ..EdgeSet::IN },
    ];
    let [both, both_one] = [EdgeSet::BOTH, EdgeSet { relation: Some(1), ..EdgeSet::BOTH }];
    for (view, summed_over) in [
        (one, all),
        (all, one),
        (one, other),
        (EdgeSet::OUT, one),
        (both, both_one),
        (both_one, both),
    ] {
        compare_all(&format!("a view of {view} summed over {summed_over}"), &|builder| {
            let (above, any) = operands(builder)?;
            let far = builder.make(Op::Far(view), &[any])?;
            let near = builder.make(Op::Near(view), &[above])?;
            let message = builder.multiply(far, near)?;
            let y = builder.reduce(Reduction::Sum, summed_over, message, None)?;
            summed(builder, y)
        });
    }
    compare_all("relations one after the other", &|builder| {
        let (_, any) = operands(builder)?;
        let weight = input(builder, Input::Weight);
        let mut sum = any;
        for relation in 0..3 {
            let edges = EdgeSet { relation: Some(relation), ..EdgeSet::IN };
            let table = parameter(builder, &format!("r{relation}"), &[FEATURES, FEATURES]);
            let far = builder.make(Op::Far(edges), &[any])?;
            let message = builder.multiply(weight, far)?;
            let part = builder.reduce(Reduction::Sum, edges, message, None)?;
            let part = builder.make(Op::Product { transposed: true }, &[part, table])?;
            sum = builder.add(sum, part)?;
        }
        summed(builder, sum)
    });
}

#[test]
fn softmax_over_edges() {
    for edges in SETS {
        compare_all(&format!("softmax over {edges}"), &|builder| {
            let (above, any) = operands(builder)?;
            let (left, right) = (builder.sum_last(any)?, builder.sum_last(above)?);
            let (far, near) =
                (builder.make(Op::Far(edges), &[left])?, builder.make(Op::Near(edges), &[right])?);
            let score = builder.add(far, near)?;
            let score = builder.unary(Unary::LeakyRelu(0.2), score)?;
            let share = softmax(builder, edges, score)?;
            let values = builder.make(Op::Far(edges), &[any])?;
            let message = builder.multiply(share, values)?;
            let y = builder.reduce(Reduction::Sum, edges, message, None)?;
            summed(builder, y)
        });
    }
}

#[test]
fn sums_over_vertices() {
    for pooling in [Pooling::Sum, Pooling::Maximum, Pooling::Minimum] {
        compare_all(&format!("pool {pooling:?}"), &|builder| {
            let (_, any) = operands(builder)?;
            let pooled = builder.make(Op::Pool(pooling), &[any])?;
            let size = input(builder, Input::GraphSize);
            let pooled = where_above(builder, size, 0.0, pooled)?;
            summed(builder, pooled)
        });
    }
    compare_all("give", &|builder| {
        let (above, any) = operands(builder)?;
        let pooled = builder.make(Op::Pool(Pooling::Sum), &[any])?;
        let given = builder.make(Op::Give, &[pooled])?;
        let y = builder.divide(given, above)?;
        summed(builder, y)
    });
    compare_all("sum of rows", &|builder| {
        let (above, any) = operands(builder)?;
        let total = builder.make(Op::SumRows, &[any])?;
        let y = builder.multiply(total, above)?;
        summed(builder, y)
    });
    compare_all("sum of rows of graphs and of edges", &|builder| {
        let (above, any) = operands(builder)?;
        let pooled = builder.make(Op::Pool(Pooling::Sum), &[any])?;
        let bent = builder.unary(Unary::Square, pooled)?;
        let first = builder.make(Op::SumRows, &[bent])?;
        let far = builder.make(Op::Far(EdgeSet::BOTH), &[above])?;
        let near = builder.make(Op::Near(EdgeSet::BOTH), &[any])?;
        let product = builder.multiply(far, near)?;
        let second = builder.make(Op::SumRows, &[product])?;
        let weight = input(builder, Input::Weight);
        let third = builder.make(Op::SumRows, &[weight])?;
        let sum = builder.add(first, second)?;
        let y = builder.multiply(sum, third)?;
        summed(builder, y)
    });
}

#[test]
fn work_along_axes() {
    // [2, 3] of two parameters and the features.
    let table = |builder: &mut Builder| -> NodeResult {
        let (_, any) = operands(builder)?;
        let scale = parameter(builder, "scale", &[2, 1]);
        builder.multiply(any, scale)
    };
    for axis in 0..2 {
        for pooling in [Pooling::Sum, Pooling::Maximum, Pooling::Minimum] {
            compare_all(&format!("axis {axis} {pooling:?}"), &|builder| {
                let table = table(builder)?;
                let y = builder.make(Op::Axis(pooling, axis), &[table])?;
                summed(builder, y)
            });
        }
        compare_all(&format!("slice and unslice {axis}"), &|builder| {
            let table = table(builder)?;
            let slice = builder.make(Op::Slice { axis, start: 1, length: 1 }, &[table])?;
            let wide = builder.make(Op::Unslice { axis, start: 2, total: 5 }, &[slice])?;
            let both = builder.make(Op::Concat(axis), &[table, wide, table])?;
            summed(builder, both)
        });
    }
    compare_all("reshape and expand", &|builder| {
        let table = table(builder)?;
        let tall = builder.make_shaped(Op::Reshape, &[table], &[3, 2, 1])?;
        let wide = builder.make_shaped(Op::Expand, &[tall], &[4, 3, 2, 2])?;
        let shift = parameter(builder, "shift", &[4, 1, 1, 2]);
        let y = builder.multiply(wide, shift)?;
        summed(builder, y)
    });
}

#[test]
fn extrema_of_equals_go_to_one_of_them() {
    // Parallel edges hold equal values, and so do two places of a row: one gains all, which the
    // difference cannot tell apart.
    compare_all("equals", &|builder| {
        let (_, any) = operands(builder)?;
        let twice = builder.make(Op::Concat(0), &[any, any])?;
        let on_axis = builder.make(Op::Axis(Pooling::Maximum, 0), &[twice])?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[on_axis])?;
        let best = builder.reduce(Reduction::Maximum, EdgeSet::IN, far, None)?;
        let count = input(builder, Input::Degree(EdgeSet::IN));
        let y = where_above(builder, count, 0.0, best)?;
        summed(builder, y)
    });
}

#[test]
fn products_and_tables() {
    for transposed in [false, true] {
        compare_all(&format!("product {transposed}"), &|builder| {
            let (_, any) = operands(builder)?;
            let matrix = parameter(builder, "matrix", if transposed { &[2, 3] } else { &[3, 2] });
            let bent = builder.unary(Unary::Tanh, matrix)?;
            let y = builder.make(Op::Product { transposed }, &[any, bent])?;
            let far = builder.make(Op::Far(EdgeSet::OUT), &[y])?;
            let features = input(builder, Input::EdgeFeatures);
            let moved = builder.multiply(far, features)?;
            let square = parameter(builder, "square", &[2, 2]);
            let on_edges = builder.make(Op::Product { transposed }, &[moved, square])?;
            let sum = builder.reduce(Reduction::Sum, EdgeSet::OUT, on_edges, None)?;
            summed(builder, sum)
        });
        compare_all(&format!("table {transposed}"), &|builder| {
            let kind = input(builder, Input::Column("kind".to_owned()));
            let table = parameter(builder, "table", if transposed { &[3, 4] } else { &[4, 3] });
            let (above, any) = operands(builder)?;
            let found = builder.make(Op::Lookup { transposed }, &[table, kind])?;
            let y = builder.multiply(found, above)?;
            let rows = builder.make_shaped(
                Op::Scatter { transposed },
                &[any, kind],
                if transposed { &[3, 4] } else { &[4, 3] },
            )?;
            let first = summed(builder, y)?;
            let second = summed(builder, rows)?;
            builder.add(first, second)
        });
    }
    compare_all("outer", &|builder| {
        let (above, any) = operands(builder)?;
        let scale = parameter(builder, "scale", &[2, 1]);
        let (left, right) = (builder.multiply(above, scale)?, builder.multiply(any, scale)?);
        let y = builder.make(Op::Outer, &[left, right])?;
        summed(builder, y)
    });
    compare_all("product of a dropped edge value", &|builder| {
        let (_, any) = operands(builder)?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[any])?;
        let dropped = builder.make(Op::Dropout { probability: 0.3, site: 1 }, &[far])?;
        let matrix = parameter(builder, "matrix", &[2, 3]);
        let y = builder.make(Op::Product { transposed: true }, &[dropped, matrix])?;
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, y, None)?;
        summed(builder, sum)
    });
    compare_all("product of a shared row", &|builder| {
        let (row, matrix) =
            (parameter(builder, "row", &[3]), parameter(builder, "matrix", &[2, 3]));
        let y = builder.make(Op::Product { transposed: true }, &[row, matrix])?;
        summed(builder, y)
    });
}

#[test]
fn losses() {
    for loss in [Loss::CrossEntropy, Loss::MeanSquares, Loss::Binary] {
        compare_all(&format!("{loss:?}"), &|builder| {
            let (_, any) = operands(builder)?;
            let pooled = builder.make(Op::Pool(Pooling::Sum), &[any])?;
            let target = input(builder, Input::Target);
            let first = builder.make(Op::Loss(loss), &[pooled, target])?;
            // With a further term, the slope is not 1.
            let weight = parameter(builder, "other", &[]);
            let bent = builder.unary(Unary::Square, weight)?;
            let scaled = builder.multiply(first, bent)?;
            builder.add(scaled, first)
        });
    }
}

#[test]
fn leaves_without_a_way_to_the_loss() {
    compare_all("nothing", &|builder| {
        for leaf in [
            Input::Features,
            Input::Weight,
            Input::EdgeFeatures,
            Input::Column("height".to_owned()),
        ] {
            input(builder, leaf);
        }
        parameter(builder, "alone", &[2, 3]);
        let used = parameter(builder, "used", &[]);
        summed(builder, used)
    });
}

#[test]
fn a_weight_that_only_meets_one_end() {
    // The gradient of a weight is a view of one end: its place is E, not S.
    for edges in [EdgeSet::IN, EdgeSet::OUT] {
        compare_all(&format!("a weight alone over {edges}"), &|builder| {
            let weight = input(builder, Input::Weight);
            let y = builder.reduce(Reduction::Sum, edges, weight, None)?;
            let (_, any) = operands(builder)?;
            let far = builder.make(Op::Far(edges), &[any])?;
            let product = builder.multiply(weight, far)?;
            let total = builder.make(Op::SumRows, &[product])?;
            let (first, second) = (summed(builder, y)?, summed(builder, total)?);
            builder.add(first, second)
        });
    }
}

#[test]
fn a_choice_by_relation() {
    compare_all("a choice by relation", &|builder| {
        let (above, any) = operands(builder)?;
        let (far, near) = (
            builder.make(Op::Far(EdgeSet::IN), &[any])?,
            builder.make(Op::Near(EdgeSet::IN), &[above])?,
        );
        let kind = input(builder, Input::EdgeType);
        let one = builder.constant(Number::Int(1));
        let same = builder.binary(Binary::Equal, kind, one)?;
        let product = builder.multiply(near, far)?;
        let message = builder.select(same, far, product)?;
        let y = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
        summed(builder, y)
    });
}
