//! What each pass does to one small program, as text before and after, and what the analyses say of
//! it.
//!
//! The text lies in `golden_text/passes/`; `UPDATE=1` writes it anew.

use std::path::PathBuf;

use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeSet, Gir, Gradient, Init, Input, Loss, Misfit, NodeId,
    NodeResult, Number, Op, Output, Parameter, Place, Pooling, Reduction, StopTest, Target, Type,
    Unary,
};
use warploom_optimize::autodiff::{differentiate, parameters};
use warploom_optimize::passes::{Applied, ComputePhase, PASSES, clean, phases};
use warploom_test_support::golden_text::assert_golden;

/// A set like cora: few edges a vertex, wide rows of features, seven classes.
fn citations() -> Data {
    Data {
        features: Some(1433),
        target: Some(Target { columns: 7, loss: Loss::CrossEntropy }),
        training: true,
        weighted: true,
        ..Data::bare(2708, 10556)
    }
}

fn result(builder: &mut Builder<'_>, name: &str, node: NodeId) {
    builder.gir.results.push(Output { name: name.to_owned(), node, edges: None });
}

fn input(builder: &mut Builder<'_>, input: Input) -> NodeResult {
    builder.make(Op::Input(input), &[])
}

fn parameter(builder: &mut Builder<'_>, name: &str, shape: &[u64]) -> NodeId {
    builder.parameter(Parameter {
        name: name.to_owned(),
        shape: shape.to_vec(),
        init: Init::GlorotUniform,
        learned: true,
    })
}

fn trained(builder: &mut Builder<'_>, score: NodeId) -> Result<(), Misfit> {
    result(builder, "value", score);
    let target = input(builder, Input::Target)?;
    let loss = builder.data.target.expect("it is trained").loss;
    builder.gir.loss = Some(builder.make(Op::Loss(loss), &[score, target])?);
    Ok(())
}

fn apply(name: &str, gir: Gir, data: &Data) -> (Gir, Vec<String>) {
    let pass = PASSES.iter().find(|pass| pass.name == name).expect("the list has it");
    let mut choices = Vec::new();
    let gir = (pass.run)(gir, data, &mut choices);
    let words = choices.iter().map(|choice| {
        format!(
            "{}: {} (before {}, after {}, taken {})",
            choice.value, choice.reason, choice.bytes_before, choice.bytes_after, choice.taken
        )
    });
    (gir, words.collect())
}

/// Applies a pass, then sweeps what it left unread, and compares the text.
fn golden(name: &str, gir: Gir, data: &Data) -> Gir {
    let (after, choices) = apply(name, gir.clone(), data);
    let after = if name == "hoist" { after } else { apply("dead", after, data).0 };
    let choices: String = choices.iter().map(|choice| format!("{choice}\n")).collect();
    let text = format!(
        "before\n{}\nafter {name}\n{}{}",
        gir.print(None),
        after.print(None),
        if choices.is_empty() { choices } else { format!("\n{choices}") }
    );
    compare_text(name, &text);
    after
}

fn compare_text(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden_text/passes")
        .join(format!("{name}.txt"));
    assert_golden(&path, text);
}

#[test]
fn fold() -> Result<(), Misfit> {
    let data = Data::bare(4, 6);
    let mut builder = Builder::new("fold", &data);
    let (nodes, half) = (builder.constant(Number::Int(4)), builder.real(0.5));
    let share = builder.divide(half, nodes)?;
    let degree = input(&mut builder, Input::Degree(EdgeSet::IN))?;
    let value = builder.multiply(degree, share)?;
    result(&mut builder, "value", value);
    let after = golden("fold", builder.gir, &data);
    assert!(after.print(None).contains("= 0.125"));
    Ok(())
}

#[test]
fn simplify() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("simplify", &data);
    let (x, one, zero) =
        (input(&mut builder, Input::Features)?, builder.real(1.0), builder.real(0.0));
    let same = builder.multiply(x, one)?;
    let kept = builder.add(same, zero)?;
    let positive = builder.unary(Unary::Exp, kept)?;
    let gone = builder.add(positive, zero)?;
    let negative = builder.unary(Unary::Negative, gone)?;
    let value = builder.subtract(one, negative)?;
    result(&mut builder, "value", value);
    golden("simplify", builder.gir, &data);
    Ok(())
}

/// Weights that are all 1 leave sums of far rows, and of these alone.
#[test]
fn weights_of_a_graph_without_them_are_read_by_no_reduction() -> Result<(), Misfit> {
    for weighted in [false, true] {
        let data = Data { weighted, features: Some(5), ..Data::bare(4, 6) };
        let mut builder = Builder::new("weights", &data);
        let x = input(&mut builder, Input::Features)?;
        let weight = input(&mut builder, Input::Weight)?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[x])?;
        let product = builder.multiply(weight, far)?;
        for reduction in [Reduction::Sum, Reduction::Maximum] {
            let value = builder.reduce(reduction, EdgeSet::IN, product, None)?;
            result(&mut builder, "value", value);
        }
        let (after, _) = clean(builder.gir, &data);
        let reads = after.ids().filter(|id| after.node(*id).op == Op::Input(Input::Weight)).count();
        assert_eq!(reads, usize::from(weighted), "{}", after.print(None));
    }
    Ok(())
}

/// Where each edge goes back, minima and maxima over both directions are those over in-edges; sums,
/// and reductions over one relation, are not.
#[test]
fn a_symmetric_graph_is_read_in_one_direction() -> Result<(), Misfit> {
    let of_relation = EdgeSet { relation: Some(0), ..EdgeSet::BOTH };
    for (reduction, edges, symmetric, direction) in [
        (Reduction::Minimum, EdgeSet::BOTH, true, Direction::In),
        (Reduction::Maximum, EdgeSet::BOTH, true, Direction::In),
        (Reduction::Minimum, EdgeSet::BOTH, false, Direction::Both),
        (Reduction::Sum, EdgeSet::BOTH, true, Direction::Both),
        (Reduction::Minimum, of_relation, true, Direction::Both),
    ] {
        let relations = vec!["r".to_owned()];
        let data = Data { symmetric, relations, features: Some(5), ..Data::bare(4, 6) };
        let mut builder = Builder::new("symmetric", &data);
        let x = input(&mut builder, Input::Features)?;
        let far = builder.make(Op::Far(edges), &[x])?;
        let value = builder.reduce(reduction, edges, far, None)?;
        result(&mut builder, "value", value);
        let (after, _) = clean(builder.gir, &data);
        let read = after.ids().find_map(|id| match after.node(id).op {
            Op::Reduce(_, edges) => Some(edges.direction),
            _ => None,
        });
        assert_eq!(read, Some(direction), "{}", after.print(None));
    }
    Ok(())
}

#[test]
fn powers() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("powers", &data);
    let (x, two, half) =
        (input(&mut builder, Input::Features)?, builder.real(2.0), builder.real(0.5));
    let (square, root) =
        (builder.binary(Binary::Power, x, two)?, builder.binary(Binary::Power, x, half)?);
    let value = builder.add(square, root)?;
    result(&mut builder, "value", value);
    golden("powers", builder.gir, &data);
    Ok(())
}

#[test]
fn equal() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("equal", &data);
    let (x, w) = (input(&mut builder, Input::Features)?, parameter(&mut builder, "scale", &[]));
    let (first, second) = (builder.multiply(x, w)?, builder.multiply(w, x)?);
    let draw = Op::Dropout { probability: 0.5, site: 0 };
    let (first, second) = (builder.make(draw.clone(), &[first])?, builder.make(draw, &[second])?);
    let value = builder.add(first, second)?;
    result(&mut builder, "value", value);
    golden("equal", builder.gir, &data);
    Ok(())
}

#[test]
fn dead() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("dead", &data);
    let (x, unread) =
        (input(&mut builder, Input::Features)?, parameter(&mut builder, "unread", &[3]));
    builder.unary(Unary::Exp, unread)?;
    let id = input(&mut builder, Input::Id)?;
    let (number, inside) = builder.begin_loop(&[("label".to_owned(), id)]);
    let far = builder.make(Op::Far(EdgeSet::BOTH), &[inside[0]])?;
    let least = builder.reduce(Reduction::Minimum, EdgeSet::BOTH, far, None)?;
    builder.end_loop(number, &[least], StopTest::Unchanged(vec![0]))?;
    let value = builder.unary(Unary::Relu, x)?;
    result(&mut builder, "value", value);
    let after = golden("dead", builder.gir, &data);
    assert_eq!((after.loops.len(), after.parameters.len()), (0, 1));
    Ok(())
}

/// `v.scale * sum(e.w * e.src.scale * e.src.x)` with the whole written on edges, as a user may.
fn normalised_sum(builder: &mut Builder<'_>, x: NodeId) -> NodeResult {
    let weight = input(builder, Input::Weight)?;
    let degree = builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)?;
    let zero = builder.real(0.0);
    let (positive, root) =
        (builder.binary(Binary::Less, zero, degree)?, builder.unary(Unary::Rsqrt, degree)?);
    let scale = builder.select(positive, root, zero)?;
    let (near, far) = (
        builder.make(Op::Near(EdgeSet::IN), &[scale])?,
        builder.make(Op::Far(EdgeSet::IN), &[scale])?,
    );
    let (x, both) = (builder.make(Op::Far(EdgeSet::IN), &[x])?, builder.multiply(near, far)?);
    let factor = builder.multiply(weight, both)?;
    let message = builder.multiply(factor, x)?;
    builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)
}

#[test]
fn factor() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("factor", &data);
    let x = input(&mut builder, Input::Features)?;
    let value = normalised_sum(&mut builder, x)?;
    result(&mut builder, "value", value);
    golden("factor", builder.gir, &data);
    Ok(())
}

/// `sum(u.x / v.indegree for u in v.innbs)` is 0 at a vertex without edges, and no NaN.
#[test]
fn a_factored_sum_over_nothing_is_0() -> Result<(), Misfit> {
    let data = Data { features: Some(1), ..Data::bare(3, 2) };
    let mut builder = Builder::new("mean", &data);
    let (x, degree) =
        (input(&mut builder, Input::Features)?, input(&mut builder, Input::Degree(EdgeSet::IN))?);
    let degree = builder.cast(Type::Real, degree)?;
    let (near, far) = (
        builder.make(Op::Near(EdgeSet::IN), &[degree])?,
        builder.make(Op::Far(EdgeSet::IN), &[x])?,
    );
    let message = builder.divide(far, near)?;
    let mean = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
    let id = input(&mut builder, Input::Id)?;
    let far = builder.make(Op::Far(EdgeSet::IN), &[id])?;
    let near = builder.make(Op::Near(EdgeSet::IN), &[id])?;
    let mask = builder.binary(Binary::Less, far, near)?;
    let masked = builder.reduce(Reduction::Sum, EdgeSet::IN, message, Some(mask))?;
    result(&mut builder, "mean", mean);
    result(&mut builder, "masked", masked);
    let before = builder.gir;
    let (after, _) = clean(before.clone(), &data);
    let sums = |gir: &Gir| {
        gir.nodes
            .iter()
            .filter(|node| {
                matches!(node.op, Op::Binary(Binary::Divide)) && node.place == warploom_ir::Place::D
            })
            .count()
    };
    assert_eq!(
        (sums(&before), sums(&after)),
        (0, 2),
        "both divisions are done once a vertex\n{}",
        after.print(None)
    );
    let world = World {
        features: Some(ElementRows::from_reals(3, 1, vec![2.0, 3.0, 5.0])),
        ..World::bare(3, vec![0, 1], vec![1, 1])
    };
    let mut run = Interpreter::new(&after, &data, &world).unwrap();
    run.run(1);
    assert_eq!(run.result("mean").unwrap().values.reals(), [0.0, 2.5, 0.0]);
    assert_eq!(run.result("masked").unwrap().values.reals(), [0.0, 1.0, 0.0]);
    Ok(())
}

#[test]
fn order_puts_the_product_first_where_it_narrows() -> Result<(), Misfit> {
    let data = Data { training: false, ..citations() };
    let mut builder = Builder::new("order", &data);
    let x = input(&mut builder, Input::Features)?;
    let weight = input(&mut builder, Input::Weight)?;
    let far = builder.make(Op::Far(EdgeSet::IN), &[x])?;
    let message = builder.multiply(weight, far)?;
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
    let matrix = parameter(&mut builder, "weight", &[16, 1433]);
    let value = builder.make(Op::Product { transposed: true }, &[sum, matrix])?;
    result(&mut builder, "value", value);
    golden("order", builder.gir, &data);
    Ok(())
}

/// The same while training: the sum of the features does not change, so it is made once, and the
/// product follows it.
#[test]
fn order_keeps_a_sum_first_that_is_made_once() -> Result<(), Misfit> {
    let data = citations();
    for written_first in ["sum", "product"] {
        let mut builder = Builder::new("order", &data);
        let mut value = input(&mut builder, Input::Features)?;
        let matrix = parameter(&mut builder, "weight", &[7, 1433]);
        let product = Op::Product { transposed: true };
        if written_first == "product" {
            value = builder.make(product.clone(), &[value, matrix])?;
        }
        value = builder.make(Op::Far(EdgeSet::IN), &[value])?;
        value = builder.reduce(Reduction::Sum, EdgeSet::IN, value, None)?;
        if written_first == "sum" {
            value = builder.make(product, &[value, matrix])?;
        }
        trained(&mut builder, value)?;
        let (after, choices) = apply("order", builder.gir, &data);
        let after = apply("dead", after, &data).0;
        let sum = after.ids().find(|id| matches!(after.node(*id).op, Op::Reduce(..))).unwrap();
        assert_eq!(
            phases(&after)[sum.index()],
            ComputePhase::Once,
            "written with the {written_first} first: {choices:?}\n{}",
            after.print(None)
        );
    }
    Ok(())
}

/// A vertex's own row beside the sum over its neighbours' (GIN): both go through the product, where
/// that narrows sparse features; where it widens, the sum that is made once stays before it.
#[test]
fn order_takes_the_own_row_through_the_product_with_the_sum() -> Result<(), Misfit> {
    for (width, nonzeros, is_first) in [(16, Some(49_216), true), (4096, None, false)] {
        let data = Data { sparse_features: nonzeros, ..citations() };
        let mut builder = Builder::new("order", &data);
        let (x, one, epsilon) = (
            input(&mut builder, Input::Features)?,
            builder.real(1.0),
            parameter(&mut builder, "epsilon", &[]),
        );
        let factor = builder.add(one, epsilon)?;
        let own = builder.multiply(factor, x)?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[x])?;
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, far, None)?;
        let both = builder.add(own, sum)?;
        let matrix = parameter(&mut builder, "weight", &[width, 1433]);
        let value = builder.make(Op::Product { transposed: true }, &[both, matrix])?;
        trained(&mut builder, value)?;
        let (after, choices) = apply("order", builder.gir, &data);
        let after = apply("dead", after, &data).0;
        let product =
            after.ids().find(|id| matches!(after.node(*id).op, Op::Product { .. })).unwrap();
        let reads_features =
            after.node(after.node(product).inputs[0]).op == Op::Input(Input::Features);
        assert_eq!(reads_features, is_first, "{choices:?}\n{}", after.print(None));
    }
    Ok(())
}

/// One layer of attention with one head, as language.md's gat.
fn attention(builder: &mut Builder<'_>, width: u64) -> NodeResult {
    let x = input(builder, Input::Features)?;
    let matrix = parameter(builder, "weight", &[width, 1433]);
    let z = builder.make(Op::Product { transposed: true }, &[x, matrix])?;
    let mut scores = Vec::new();
    for name in ["left", "right"] {
        let vector = parameter(builder, name, &[width]);
        let product = builder.multiply(z, vector)?;
        scores.push(builder.make(Op::Axis(Pooling::Sum, 0), &[product])?);
    }
    let (far, near) = (
        builder.make(Op::Far(EdgeSet::IN), &[scores[0]])?,
        builder.make(Op::Near(EdgeSet::IN), &[scores[1]])?,
    );
    let score = builder.add(far, near)?;
    let score = builder.unary(Unary::LeakyRelu(0.2), score)?;
    let largest = builder.reduce(Reduction::Maximum, EdgeSet::IN, score, None)?;
    let largest = builder.make(Op::Detach, &[largest])?;
    let (lowest, zero, one) =
        (builder.real(f64::NEG_INFINITY), builder.real(0.0), builder.real(1.0));
    let nothing = builder.binary(Binary::Equal, largest, lowest)?;
    let largest = builder.select(nothing, zero, largest)?;
    let largest = builder.make(Op::Near(EdgeSet::IN), &[largest])?;
    let shifted = builder.subtract(score, largest)?;
    let raised = builder.unary(Unary::Exp, shifted)?;
    let total = builder.reduce(Reduction::Sum, EdgeSet::IN, raised, None)?;
    let nothing = builder.binary(Binary::Equal, total, zero)?;
    let total = builder.select(nothing, one, total)?;
    let total = builder.make(Op::Near(EdgeSet::IN), &[total])?;
    let share = builder.divide(raised, total)?;
    let z = builder.make(Op::Far(EdgeSet::IN), &[z])?;
    let message = builder.multiply(share, z)?;
    builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)
}

/// The program of an attention, cleaned, and its gradients by all parameters, as they were made.
fn attention_with_gradients(name: &str, data: &Data) -> Result<Gir, Misfit> {
    let mut builder = Builder::new(name, data);
    let value = attention(&mut builder, 7)?;
    trained(&mut builder, value)?;
    let (gir, _) = clean(builder.gir, data);
    let leaves = parameters(&gir);
    Ok(differentiate(gir, data, &leaves).expect("attention has a gradient"))
}

/// A gradient over a total that is 1 where it was 0 needs no guard; one over the total itself does.
#[test]
fn guards() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("guards", &data);
    let (weight, x, zero, one) = (
        input(&mut builder, Input::Weight)?,
        input(&mut builder, Input::Features)?,
        builder.real(0.0),
        builder.real(1.0),
    );
    let total = builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)?;
    let nothing = builder.binary(Binary::Equal, total, zero)?;
    let safe = builder.select(nothing, one, total)?;
    for (name, divisor) in [("guarded", total), ("plain", safe)] {
        let (quotient, still) =
            (builder.divide(x, divisor)?, builder.binary(Binary::Equal, x, zero)?);
        let value = builder.select(still, zero, quotient)?;
        result(&mut builder, name, value);
    }
    let after = golden("guards", builder.gir, &data);
    let choices = |name: &str| {
        matches!(
            after.node(after.results.iter().find(|result| result.name == name).unwrap().node).op,
            Op::Select
        )
    };
    assert_eq!((choices("guarded"), choices("plain")), (true, false));
    Ok(())
}

/// Edges do not see whether a softmax's total was of any; of other totals, other edges and some
/// edges they may.
#[test]
fn totals_are_of_edges_that_see_them() -> Result<(), Misfit> {
    let data = citations();
    let of = |shifted: bool, seen: EdgeSet, some: bool| {
        let mut builder = Builder::new("totals", &data);
        let (x, weight, zero, lowest) = (
            input(&mut builder, Input::Features)?,
            input(&mut builder, Input::Weight)?,
            builder.real(0.0),
            builder.real(f64::NEG_INFINITY),
        );
        let mask = if some { Some(builder.binary(Binary::Less, zero, weight)?) } else { None };
        let largest = builder.reduce(Reduction::Maximum, EdgeSet::IN, weight, mask)?;
        let nothing = builder.binary(Binary::Equal, largest, lowest)?;
        let largest = builder.select(nothing, zero, largest)?;
        let largest = builder.make(Op::Near(EdgeSet::IN), &[largest])?;
        let score = if shifted { builder.subtract(weight, largest)? } else { weight };
        let raised = builder.unary(Unary::Exp, score)?;
        let total = builder.reduce(Reduction::Sum, EdgeSet::IN, raised, mask)?;
        let nothing = builder.binary(Binary::Equal, total, zero)?;
        let guarded = builder.select(nothing, zero, x)?;
        let near = builder.make(Op::Near(seen), &[guarded])?;
        let value = builder.reduce(Reduction::Sum, seen, near, None)?;
        result(&mut builder, "value", value);
        let gir = apply("dead", apply("guards", builder.gir, &data).0, &data).0;
        // The other choice is that of the largest.
        Ok(gir
            .ids()
            .any(|id| matches!(gir.node(id).op, Op::Select) && gir.node(id).shape == [1433]))
    };
    let are_guarded = [
        of(true, EdgeSet::IN, false)?,
        of(false, EdgeSet::IN, false)?,
        of(true, EdgeSet::OUT, false)?,
        of(true, EdgeSet::IN, true)?,
    ];
    assert_eq!(are_guarded, [false, true, true, true]);
    Ok(())
}

/// Values of truth that the forward part makes and the backward part reads.
fn kept_tests(gir: &Gir) -> Vec<String> {
    let phases = phases(gir);
    let reads = |id: &NodeId| {
        let mut readers = gir.ids().filter(|reader| gir.node(*reader).inputs.contains(id));
        readers.any(|reader| phases[reader.index()] == ComputePhase::Backward)
    };
    let is_test = |id: &NodeId| {
        gir.node(*id).kind == Type::Bool
            && phases[id.index()] == ComputePhase::Forward
            && matches!(gir.node(*id).place, Place::D)
    };
    gir.ids().filter(is_test).filter(reads).map(|id| format!("%{}", id.0)).collect()
}

/// The gradient of an attention keeps no test of the forward part.
#[test]
fn an_attention_keeps_no_tests() -> Result<(), Misfit> {
    let data = citations();
    let (after, _) = clean(attention_with_gradients("attention", &data)?, &data);
    assert_eq!(kept_tests(&after), Vec::<String>::new(), "{}", after.print(None));
    Ok(())
}

/// Behind a dropout nobody wants the relu's rows; behind none, or another's, they stay.
#[test]
fn masks() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("masks", &data);
    let (x, first, second) = (
        input(&mut builder, Input::Features)?,
        parameter(&mut builder, "first", &[16, 1433]),
        parameter(&mut builder, "second", &[7, 16]),
    );
    let value = builder.make(Op::Product { transposed: true }, &[x, first])?;
    let rows = builder.unary(Unary::Relu, value)?;
    let left = builder.make(Op::Dropout { probability: 0.5, site: 0 }, &[rows])?;
    let value = builder.make(Op::Product { transposed: true }, &[left, second])?;
    trained(&mut builder, value)?;
    let leaves = parameters(&builder.gir);
    let mut gir = differentiate(builder.gir, &data, &leaves).expect("a product has a gradient");
    for before in ["simplify", "equal", "guards", "dead"] {
        gir = apply(before, gir, &data).0;
    }
    let readers = |gir: &Gir| {
        let relu = gir.ids().find(|id| gir.node(*id).op == Op::Unary(Unary::Relu)).unwrap();
        gir.ids().filter(|id| gir.node(*id).inputs.contains(&relu)).count()
    };
    assert_eq!(readers(&gir), 2, "{}", gir.print(None));
    // One of another site is another's.
    let mut other = gir.clone();
    let sites = other.nodes.iter_mut().rev().filter(|node| matches!(node.op, Op::Dropout { .. }));
    sites.take(1).for_each(|node| node.op = Op::Dropout { probability: 0.5, site: 1 });
    assert_eq!(readers(&apply("masks", other, &data).0), 2);
    let after = golden("masks", gir, &data);
    assert_eq!(readers(&after), 1, "{}", after.print(None));
    Ok(())
}

/// What edges see divided is added up as that, times the divisor; not by a divisor that may be 0,
/// nor behind a product of short rows.
#[test]
fn quotients() -> Result<(), Misfit> {
    let data = citations();
    let of = |inner: u64, least: i64| -> Result<Gir, Misfit> {
        let mut builder = Builder::new("quotients", &data);
        let x = input(&mut builder, Input::Features)?;
        let [first, second, bias] =
            [("first", [inner, 1433]), ("second", [16, inner]), ("bias", [1, 16])]
                .map(|(name, shape)| parameter(&mut builder, name, &shape));
        let narrow = builder.make(Op::Product { transposed: true }, &[x, first])?;
        let product = builder.make(Op::Product { transposed: true }, &[narrow, second])?;
        let rows = builder.unary(Unary::Sigmoid, product)?;
        let degree = input(&mut builder, Input::Degree(EdgeSet::IN))?;
        let least = builder.constant(Number::Int(least));
        let count = builder.binary(Binary::Maximum, degree, least)?;
        let count = builder.make(Op::Cast(Type::Real), &[count])?;
        let quotient = builder.binary(Binary::Divide, rows, count)?;
        let far = builder.make(Op::Far(EdgeSet::OUT), &[quotient])?;
        let seen = builder.make(Op::Reduce(Reduction::Sum, EdgeSet::OUT), &[far])?;
        result(&mut builder, "seen", seen);
        let node = builder.make(Op::SumRows, &[rows])?;
        builder.gir.gradients.push(Gradient { of: bias, node });
        Ok(builder.gir)
    };
    let products =
        |gir: &Gir| gir.ids().filter(|id| gir.node(*id).op == Op::Binary(Binary::Multiply)).count();
    assert_eq!(products(&golden("quotients", of(8, 1)?, &data)), 1);
    // Where lanes have rows, longer ones are added up as they are made.
    let for_lanes = Data { lanes: true, ..data.clone() };
    for (inner, least, data, made) in
        [(8, 0, &data, 0), (7, 1, &data, 0), (47, 1, &for_lanes, 0), (48, 1, &for_lanes, 1)]
    {
        assert_eq!(
            products(&apply("quotients", of(inner, least)?, data).0),
            made,
            "{inner} elements, at least {least}"
        );
    }
    Ok(())
}

/// The gradient of the destination's score needs no pass over the in-edges going backward.
#[test]
fn forward_sums() -> Result<(), Misfit> {
    let data = citations();
    let gir = attention_with_gradients("forward_sums", &data)?;
    let after = golden("forward_sums", gir, &data);
    let phases = phases(&after);
    let backward: Vec<String> = after
        .ids()
        .filter(|id| phases[id.index()] == ComputePhase::Backward)
        .filter(|id| matches!(after.node(*id).op, Op::Reduce(_, edges) if edges == EdgeSet::IN))
        .map(|id| format!("%{}", id.0))
        .collect();
    assert!(
        backward.is_empty(),
        "sums over in-edges going backward: {backward:?}\n{}",
        after.print(None)
    );
    Ok(())
}

/// The gradient of the source's score takes no dot product at an edge.
#[test]
fn dots() -> Result<(), Misfit> {
    let data = citations();
    let mut gir = attention_with_gradients("dots", &data)?;
    for before in ["fold", "simplify", "equal", "guards", "forward_sums", "dead"] {
        gir = apply(before, gir, &data).0;
    }
    let of_edges = |gir: &Gir| {
        gir.ids()
            .filter(|id| {
                matches!(gir.node(*id).op, Op::Axis(Pooling::Sum, _))
                    && matches!(gir.node(*id).place, Place::E(_))
            })
            .count()
    };
    assert_eq!(of_edges(&gir), 1, "{}", gir.print(None));
    let after = golden("dots", gir, &data);
    assert_eq!(of_edges(&after), 0, "{}", after.print(None));
    Ok(())
}

#[test]
fn hoist() -> Result<(), Misfit> {
    let data = Data::bare(4, 6);
    let mut builder = Builder::new("hoist", &data);
    let id = input(&mut builder, Input::Degree(EdgeSet::IN))?;
    let (number, inside) = builder.begin_loop(&[("rank".to_owned(), id)]);
    let far = builder.make(Op::Far(EdgeSet::IN), &[inside[0]])?;
    let degree = input(&mut builder, Input::Degree(EdgeSet::OUT))?;
    let double = builder.add(degree, degree)?;
    let least = builder.reduce(Reduction::Minimum, EdgeSet::IN, far, None)?;
    let next = builder.binary(Binary::Minimum, least, double)?;
    let ended = builder.end_loop(number, &[next], StopTest::Unchanged(vec![0]))?;
    result(&mut builder, "rank", ended[0]);
    let mut gir = builder.gir;
    // As if something that another pass took away had tied it to the loop.
    gir.nodes[double.index()].region = Some(number);
    assert_eq!(phases(&gir)[double.index()], ComputePhase::Superstep(0));
    let after = golden("hoist", gir, &data);
    assert_eq!(phases(&after)[double.index()], ComputePhase::Once);
    Ok(())
}

fn describe(applied: &[Applied]) -> String {
    applied
        .iter()
        .map(|applied| {
            format!("{} {} -> {}\n", applied.pass, applied.nodes_before, applied.nodes_after)
        })
        .collect()
}

/// A layer of GCN, cleaned, differentiated and cleaned again; for each value its phase.
#[test]
fn phases_of_gcn() -> Result<(), Misfit> {
    let data = citations();
    let mut builder = Builder::new("gcn", &data);
    let mut value = input(&mut builder, Input::Features)?;
    for (layer, (inner, outer)) in [(1433, 16), (16, 7)].into_iter().enumerate() {
        let matrix = parameter(&mut builder, &format!("weight.{layer}"), &[outer, inner]);
        let product = builder.make(Op::Product { transposed: true }, &[value, matrix])?;
        value = normalised_sum(&mut builder, product)?;
        if layer == 0 {
            value = builder.unary(Unary::Relu, value)?;
        }
    }
    trained(&mut builder, value)?;
    let (gir, first) = clean(builder.gir, &data);
    let leaves = parameters(&gir);
    let gir = differentiate(gir, &data, &leaves).expect("gcn has a gradient");
    let (gir, second) = clean(gir, &data);
    let phases = phases(&gir);
    let mut text = format!("{}gradients\n{}\n", describe(&first), describe(&second));
    for (line, id) in gir.print(None).lines().filter(|line| line.starts_with('%')).zip(gir.ids()) {
        text += &format!("{line}   {:?}\n", phases[id.index()]);
    }
    compare_text("phases", &text);
    let slope = gir.ids().find(|id| matches!(gir.node(*id).op, Op::LossSlope(_))).unwrap();
    assert_eq!(phases[slope.index()], ComputePhase::Backward);
    Ok(())
}

#[test]
fn the_list_is_applied_to_nothing() {
    let data = Data::bare(0, 0);
    let (gir, applied) = clean(Gir::default(), &data);
    assert_eq!(gir, Gir::default());
    assert!(applied.iter().all(|applied| applied.nodes_after == 0));
}
