//! forms: what gradients look like: which direction sums run in, what stays by vertex, and that a
//! choice sends exactly 0.
//!
//! `UPDATE=1 cargo test -p warploom-optimize --test all autodiff::` writes the printed programs
//! anew; read the difference before keeping it.
use std::path::Path;

use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Gir, Input, Loss, Misfit, NodeId, NodeResult, Op, Output,
    Pooling, Reduction, Target, Type, Unary,
};
use warploom_optimize::autodiff::{differentiate, parameters};
use warploom_test_support::golden_text::assert_golden;

use warploom_test_support::gradient_check::{
    GradientCase, input, parameter, run, start, where_above,
};

pub fn data() -> Data {
    Data {
        features: Some(5),
        weighted: true,
        target: Some(Target { columns: 3, loss: Loss::CrossEntropy }),
        training: true,
        ..Data::bare(100, 700)
    }
}

pub fn finish(mut builder: Builder, result: NodeId) -> Gir {
    let target = input(&mut builder, Input::Target);
    let loss = builder.make(Op::Loss(Loss::CrossEntropy), &[result, target]).unwrap();
    builder.gir.loss = Some(loss);
    builder.gir.results = vec![Output { name: "h".to_owned(), node: result, edges: None }];
    builder.gir
}

fn linear(builder: &mut Builder, a: NodeId, name: &str, width: u64) -> NodeResult {
    let columns = *builder.node(a).shape.last().unwrap();
    let weight = parameter(builder, name, &[width, columns]);
    builder.make(Op::Product { transposed: true }, &[a, weight])
}

/// The gcn of the language's page, with two layers.
pub fn gcn(data: &Data) -> Gir {
    let mut builder = Builder::new("gcn", data);
    let make = |builder: &mut Builder| -> NodeResult {
        let weight = input(builder, Input::Weight);
        let degree = builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)?;
        let scale = builder.unary(Unary::Rsqrt, degree)?;
        let scale = where_above(builder, degree, 0.0, scale)?;
        let mut h = input(builder, Input::Features);
        for (layer, width) in [(0, 4), (1, 3)] {
            let z = linear(builder, h, &format!("gcn.{layer}.weight"), width)?;
            let scaled = builder.multiply(scale, z)?;
            let far = builder.make(Op::Far(EdgeSet::IN), &[scaled])?;
            let message = builder.multiply(weight, far)?;
            let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
            let bias = parameter(builder, &format!("gcn.{layer}.bias"), &[width]);
            let scaled = builder.multiply(scale, sum)?;
            h = builder.add(scaled, bias)?;
            if layer == 0 {
                h = builder.unary(Unary::Relu, h)?;
                h = builder.make(Op::Dropout { probability: 0.5, site: 0 }, &[h])?;
            }
        }
        Ok(h)
    };
    let result = make(&mut builder).unwrap();
    finish(builder, result)
}

/// Two layers of attention, the second with one head.
pub fn gat(data: &Data) -> Gir {
    let mut builder = Builder::new("gat", data);
    let features = input(&mut builder, Input::Features);
    let first = attend(&mut builder, features, 0, 2, 4).unwrap();
    let first = builder.unary(Unary::Elu, first).unwrap();
    let flat = builder.make_shaped(Op::Reshape, &[first], &[8]).unwrap();
    let second = attend(&mut builder, flat, 1, 1, 3).unwrap();
    let result = builder.make(Op::Axis(Pooling::Sum, 0), &[second]).unwrap();
    finish(builder, result)
}

fn attend(builder: &mut Builder, x: NodeId, layer: usize, heads: u64, width: u64) -> NodeResult {
    let z = linear(builder, x, &format!("gat.{layer}.weight"), heads * width)?;
    let z = builder.make_shaped(Op::Reshape, &[z], &[heads, width])?;
    let mut sides = Vec::new();
    for side in ["left", "right"] {
        let by = parameter(builder, &format!("gat.{layer}.{side}"), &[heads, width]);
        let product = builder.multiply(z, by)?;
        sides.push(builder.sum_last(product)?);
    }
    let edges = EdgeSet::IN;
    let (far, near) =
        (builder.make(Op::Far(edges), &[sides[0]])?, builder.make(Op::Near(edges), &[sides[1]])?);
    let score = builder.add(far, near)?;
    let score = builder.unary(Unary::LeakyRelu(0.2), score)?;
    let share = softmax(builder, edges, score)?;
    let values = builder.make(Op::Far(edges), &[z])?;
    let message = builder.multiply(share, values)?;
    builder.reduce(Reduction::Sum, edges, message, None)
}

/// Shares of a vertex's edges by their scores, without overflow; 0 where there is nothing to share.
pub fn softmax(builder: &mut Builder, edges: EdgeSet, score: NodeId) -> NodeResult {
    let best = builder.reduce(Reduction::Maximum, edges, score, None)?;
    let best = builder.make(Op::Detach, &[best])?;
    let (lowest, zero) = (builder.real(f64::NEG_INFINITY), builder.real(0.0));
    let nothing = builder.binary(Binary::Equal, best, lowest)?;
    let best = builder.select(nothing, zero, best)?;
    let best = builder.make(Op::Near(edges), &[best])?;
    let shifted = builder.subtract(score, best)?;
    let power = builder.unary(Unary::Exp, shifted)?;
    let total = builder.reduce(Reduction::Sum, edges, power, None)?;
    let total = builder.make(Op::Near(edges), &[total])?;
    let share = builder.divide(power, total)?;
    where_above(builder, total, 0.0, share)
}

/// Two layers of means over neighbours.
fn sage(data: &Data) -> Gir {
    let mut builder = Builder::new("sage", data);
    let make = |builder: &mut Builder| -> NodeResult {
        let mut h = input(builder, Input::Features);
        for (layer, width) in [(0, 4), (1, 3)] {
            let far = builder.make(Op::Far(EdgeSet::IN), &[h])?;
            let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, far, None)?;
            let count = input(builder, Input::Degree(EdgeSet::IN));
            let mean = builder.divide(sum, count)?;
            let mean = where_above(builder, count, 0.0, mean)?;
            let (own, other) = (
                linear(builder, h, &format!("sage.{layer}.own"), width)?,
                linear(builder, mean, &format!("sage.{layer}.other"), width)?,
            );
            h = builder.add(own, other)?;
            h = if layer == 0 { builder.unary(Unary::Relu, h)? } else { h };
        }
        Ok(h)
    };
    let result = make(&mut builder).unwrap();
    finish(builder, result)
}

pub fn gradients(gir: Gir, data: &Data) -> Gir {
    let by = parameters(&gir);
    differentiate(gir, data, &by).unwrap()
}

fn golden(name: &str, gir: &Gir) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden_text/{name}.txt"));
    assert_golden(&path, &gir.print(None));
}

/// The backward part alone, a line a node.
fn backward(gir: &Gir, first: usize) -> Vec<String> {
    let printed = gir.print(None);
    printed
        .lines()
        .filter(|line| {
            line.strip_prefix('%')
                .and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok())
                .is_some_and(|id| id >= first)
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn gradients_read_as_they_should() {
    golden("gradient_gcn", &gradients(gcn(&data()), &data()));
    golden("gradient_gat", &gradients(gat(&data()), &data()));
    golden("gradient_sage", &gradients(sage(&data()), &data()));
}

#[test]
fn a_sum_of_neighbours_is_a_sum_of_neighbours_backwards() {
    let data = Data { relations: vec!["a".to_owned(), "b".to_owned()], ..data() };
    let of_one = |edges: EdgeSet| EdgeSet { relation: Some(1), ..edges };
    for edges in [
        EdgeSet::IN,
        EdgeSet::OUT,
        EdgeSet::BOTH,
        of_one(EdgeSet::IN),
        of_one(EdgeSet::OUT),
        of_one(EdgeSet::BOTH),
    ] {
        let mut builder = Builder::new("sum", &data);
        let features = input(&mut builder, Input::Features);
        let z = linear(&mut builder, features, "w", 3).unwrap();
        let far = builder.make(Op::Far(edges), &[z]).unwrap();
        let sum = builder.reduce(Reduction::Sum, edges, far, None).unwrap();
        let gir = finish(builder, sum);
        let first = gir.nodes.len();
        let lines = backward(&gradients(gir, &data), first);
        let (slope, seen) = (format!("%{first}"), format!("%{}", first + 1));
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert!(lines[1].ends_with(&format!("= far.{} {slope}", edges.reversed())), "{lines:#?}");
        assert!(
            lines[2].ends_with(&format!("= reduce sum.{} {seen}", edges.reversed())),
            "{lines:#?}"
        );
        assert!(lines[3].contains("= outer"), "{lines:#?}");
    }
}

#[test]
fn a_weighted_sum_gathers_from_the_other_end() {
    let data = Data { relations: vec!["a".to_owned(), "b".to_owned()], ..data() };
    for edges in [EdgeSet::IN, EdgeSet { relation: Some(1), ..EdgeSet::IN }] {
        let mut builder = Builder::new("sum", &data);
        let features = input(&mut builder, Input::Features);
        let z = linear(&mut builder, features, "w", 3).unwrap();
        let far = builder.make(Op::Far(edges), &[z]).unwrap();
        let weight = input(&mut builder, Input::Weight);
        let message = builder.multiply(weight, far).unwrap();
        let sum = builder.reduce(Reduction::Sum, edges, message, None).unwrap();
        let gir = finish(builder, sum);
        let first = gir.nodes.len();
        let lines = backward(&gradients(gir, &data), first);
        let reversed = edges.reversed();
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(lines[1].ends_with(&format!("= far.{reversed} %{first}")), "{lines:#?}");
        assert!(lines[2].contains("= multiply"), "{lines:#?}");
        assert!(
            lines[3].ends_with(&format!("= reduce sum.{reversed} %{}", first + 2)),
            "{lines:#?}"
        );
    }
}

#[test]
fn what_is_detached_or_not_of_training_gets_nothing() {
    let data = data();
    let mut builder = Builder::new("nothing", &data);
    let (first, second) =
        (parameter(&mut builder, "first", &[3]), parameter(&mut builder, "second", &[3]));
    let features = input(&mut builder, Input::Features);
    let z = linear(&mut builder, features, "w", 3).unwrap();
    let detached = builder.make(Op::Detach, &[first]).unwrap();
    let measured = builder.make(Op::WhenTraining, &[detached, second]).unwrap();
    let result = builder.add(z, measured).unwrap();
    let full = gradients(finish(builder, result), &data);
    for gradient in &full.gradients[..2] {
        let zeros = full.node(gradient.node);
        assert_eq!(
            (&zeros.op, zeros.shape.as_slice()),
            (&Op::SumRows, [3].as_slice()),
            "{}",
            full.print(None)
        );
    }
}

/// A graph whose vertices 0 and 1 have edges of weight 0 alone, and vertex 5 none.
fn weightless() -> GradientCase {
    let mut case = GradientCase::new(3, 6, 0);
    case.world.source = vec![2, 3, 2, 2, 3, 4, 2, 0];
    case.world.target = vec![0, 0, 1, 2, 3, 2, 4, 4];
    case.world.weight = Some(vec![0.0, 0.0, 0.0, 0.5, 0.7, 0.9, 0.4, 0.6]);
    case.world.edge_type = vec![0, 0, 0, 1, 1, 1, 1, 1];
    case.world.edge_features = Some(ElementRows::from_reals(8, 2, vec![0.25; 16]));
    case.data.edges = 8;
    case
}

/// Builds a program on `weightless`, with what is returned as its loss, and gives the gradients by
/// all that it reads.
fn on_weightless(make: impl Fn(&mut Builder, NodeId) -> NodeResult) -> (Gir, Vec<(Op, Vec<f64>)>) {
    let mut case = weightless();
    let data = case.data.clone();
    let mut builder = Builder::new("weightless", &data);
    let weight = input(&mut builder, Input::Weight);
    let made = make(&mut builder, weight).unwrap();
    let loss = warploom_test_support::gradient_check::summed(&mut builder, made).unwrap();
    builder.gir.loss = Some(loss);
    let by = warploom_test_support::gradient_check::leaves(&builder.gir);
    let full = differentiate(builder.gir, &data, &by).unwrap();
    start(&mut case, &full, 1);
    let interpreter = run(&full, &case);
    let found = full
        .gradients
        .iter()
        .map(|gradient| {
            (
                full.node(gradient.of).op.clone(),
                interpreter.value(gradient.node).unwrap().values.reals(),
            )
        })
        .collect();
    drop(interpreter);
    (full, found)
}

fn degree(builder: &mut Builder, weight: NodeId) -> NodeResult {
    builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)
}

/// Whether all gradients are finite; those of the weights 0 that a choice left out are exactly 0.
fn assert_silent(what: &str, make: impl Fn(&mut Builder, NodeId) -> NodeResult) {
    let (full, found) = on_weightless(make);
    for (leaf, values) in found {
        assert!(
            values.iter().all(|value| value.is_finite()),
            "{what}: gradient of {leaf:?} is {values:?}\n{}",
            full.print(None)
        );
        if leaf == Op::Input(Input::Weight) {
            assert_eq!(values[..3], [0.0; 3], "{what}");
            assert!(values[3..].iter().any(|value| *value != 0.0), "{what}: {values:?}");
        }
    }
}

#[test]
fn a_choice_sends_exactly_zero() {
    assert_silent("rsqrt of a degree", |builder, weight| {
        let degree = degree(builder, weight)?;
        let scale = builder.unary(Unary::Rsqrt, degree)?;
        where_above(builder, degree, 0.0, scale)
    });
    for operator in [Unary::Log, Unary::Sqrt, Unary::Reciprocal] {
        assert_silent(&format!("{operator:?} of a degree"), |builder, weight| {
            let degree = degree(builder, weight)?;
            let y = builder.unary(operator, degree)?;
            where_above(builder, degree, 0.0, y)
        });
    }
    assert_silent("quotient and power", |builder, weight| {
        let degree = degree(builder, weight)?;
        let (height, half) =
            (input(builder, Input::Column("height".to_owned())), builder.real(-0.5));
        let quotient = builder.divide(height, degree)?;
        let power = builder.binary(Binary::Power, degree, half)?;
        let product = builder.multiply(quotient, power)?;
        where_above(builder, degree, 0.0, product)
    });
    // What the inner choice lets through is infinite at degree 0; the outer one leaves it out.
    for is_zero in [false, true] {
        assert_silent("a choice within a choice", |builder, weight| {
            let degree = degree(builder, weight)?;
            let inverse = builder.unary(Unary::Reciprocal, degree)?;
            let (zero, infinity) = (builder.real(0.0), builder.real(f64::INFINITY));
            let (value, limit) = if is_zero { (inverse, zero) } else { (degree, infinity) };
            let condition = builder.binary(Binary::Equal, value, limit)?;
            let inner = builder.select(condition, zero, inverse)?;
            let features = input(builder, Input::Features);
            let product = builder.multiply(inner, features)?;
            where_above(builder, degree, 0.0, product)
        });
    }
    assert_silent("product with what is infinite", |builder, weight| {
        let degree = degree(builder, weight)?;
        let scale = builder.unary(Unary::Rsqrt, degree)?;
        let features = input(builder, Input::Features);
        let product = builder.multiply(scale, features)?;
        let z = linear(builder, product, "w", 2)?;
        where_above(builder, degree, 0.0, z)
    });
}

#[test]
fn a_mask_a_relation_and_an_extremum_send_exactly_zero() {
    let of_heavy = |builder: &mut Builder, weight: NodeId| -> Result<(NodeId, NodeId), Misfit> {
        let zero = builder.real(0.0);
        Ok((builder.unary(Unary::Log, weight)?, builder.binary(Binary::Less, zero, weight)?))
    };
    assert_silent("mask", |builder, weight| {
        let (log, heavy) = of_heavy(builder, weight)?;
        builder.reduce(Reduction::Sum, EdgeSet::IN, log, Some(heavy))
    });
    assert_silent("relation", |builder, weight| {
        let (log, _) = of_heavy(builder, weight)?;
        builder.reduce(Reduction::Sum, EdgeSet { relation: Some(1), ..EdgeSet::IN }, log, None)
    });
    assert_silent("extremum", |builder, weight| {
        let (log, heavy) = of_heavy(builder, weight)?;
        let best = builder.reduce(Reduction::Maximum, EdgeSet::IN, log, Some(heavy))?;
        let degree = degree(builder, weight)?;
        where_above(builder, degree, 0.0, best)
    });
    // Every vertex with an out-edge of weight 0 has a heavier one; e^-inf of the others is 0, so
    // that no select is needed.
    assert_silent("extremum of all", |builder, weight| {
        let (log, _) = of_heavy(builder, weight)?;
        let best = builder.reduce(Reduction::Maximum, EdgeSet::OUT, log, None)?;
        builder.unary(Unary::Exp, best)
    });
}

#[test]
fn an_unguarded_infinity_is_not_hidden() {
    let (_, found) = on_weightless(|builder, weight| builder.unary(Unary::Log, weight));
    assert!(
        found.iter().any(|(_, values)| values.iter().any(|value| !value.is_finite())),
        "{found:?}"
    );
}

#[test]
fn ends_of_a_gradient_that_slopes_are_undefined_at() {
    let data = Data::bare(1, 0);
    for (operator, at, wanted) in [
        (Unary::Relu, 0.0, 0.0),
        (Unary::Absolute, 0.0, 0.0),
        (Unary::Sqrt, 0.0, f64::INFINITY),
        (Unary::Log, 0.0, f64::INFINITY),
    ] {
        let mut builder = Builder::new("end", &data);
        let a = parameter(&mut builder, "a", &[]);
        builder.gir.loss = Some(builder.unary(operator, a).unwrap());
        let full = gradients(builder.gir, &data);
        let world = World::bare(1, Vec::new(), Vec::new());
        let mut interpreter = Interpreter::new(&full, &data, &world).unwrap();
        interpreter.set_parameter("a", &[at]).unwrap();
        interpreter.run(1);
        let found = interpreter.value(full.gradients[0].node).unwrap().at(0, 0).real();
        assert_eq!(found, wanted, "{operator:?} at {at}");
    }
}

#[test]
fn equals_share_a_pool_and_the_first_of_an_axis_takes_all() {
    let mut case = GradientCase::new(1, 4, 0);
    case.world.graph_of_node = vec![0, 0, 0, 1];
    case.world
        .columns
        .insert("height".to_owned(), ElementRows::from_reals(4, 1, vec![2.0, 2.0, 1.0, 3.0]));
    let data = case.data.clone();
    let mut builder = Builder::new("equals", &data);
    let height = input(&mut builder, Input::Column("height".to_owned()));
    let pooled = builder.make(Op::Pool(Pooling::Maximum), &[height]).unwrap();
    let size = input(&mut builder, Input::GraphSize);
    let pooled = where_above(&mut builder, size, 0.0, pooled).unwrap();
    let row = parameter(&mut builder, "row", &[3]);
    let largest = builder.make(Op::Axis(Pooling::Maximum, 0), &[row]).unwrap();
    let total = builder.make(Op::SumRows, &[pooled]).unwrap();
    builder.gir.loss = Some(builder.add(total, largest).unwrap());
    let full = differentiate(builder.gir, &data, &[height, row]).unwrap();
    case.parameters.insert("row".to_owned(), vec![1.0, 5.0, 5.0]);
    let interpreter = run(&full, &case);
    let found: Vec<Vec<f64>> = full
        .gradients
        .iter()
        .map(|gradient| interpreter.value(gradient.node).unwrap().values.reals())
        .collect();
    assert_eq!(found, [vec![0.5, 0.5, 0.0, 1.0], vec![0.0, 1.0, 0.0]]);
    assert_eq!(full.node(full.gradients[0].node).kind, Type::Real);
}
