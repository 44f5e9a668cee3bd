//! refusals: programs that have no gradient, and what is said of them.
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Function, Input, NodeResult, Number, Op, Reduction, Span,
    StopTest, Type,
};
use warploom_optimize::autodiff::{Refusal, differentiate};

use super::forms::data;
use warploom_test_support::gradient_check::{input, parameter};

/// Builds a program whose loss is the sum of what is made of a parameter on each vertex, and takes
/// its gradient.
fn attempt(
    data: &Data,
    make: impl Fn(&mut Builder, warploom_ir::NodeId) -> NodeResult,
) -> Result<warploom_ir::Gir, Refusal> {
    let mut builder = Builder::new("refused", data);
    let weight = parameter(&mut builder, "w", &[]);
    let features = input(&mut builder, Input::Features);
    builder.span = Span { start: 7, end: 9 };
    let value = builder.multiply(features, weight).unwrap();
    let made = make(&mut builder, value).unwrap();
    builder.gir.loss =
        Some(warploom_test_support::gradient_check::summed(&mut builder, made).unwrap());
    differentiate(builder.gir, data, &[weight])
}

#[test]
fn a_program_without_a_loss() {
    let data = data();
    let refusal = differentiate(Builder::new("none", &data).gir, &data, &[]).unwrap_err();
    assert_eq!(
        (refusal.what.as_str(), refusal.node),
        ("a program without a loss has no gradient", None)
    );
}

#[test]
fn operations_without_a_gradient() {
    let data = data();
    let edges = EdgeSet::IN;
    let fold = Function::Binary(Binary::Add, Box::new(Function::Left), Box::new(Function::Right));
    let named = |what: &str, result: Result<warploom_ir::Gir, Refusal>| {
        let refusal = result.unwrap_err();
        assert_eq!(refusal.what, format!("no gradient goes through `{what}`"));
        assert_eq!(refusal.span, Span { start: 7, end: 9 }, "{what}");
        assert!(refusal.hint.is_some() && refusal.node.is_some(), "{what}");
    };
    named(
        "mode",
        attempt(&data, |builder, value| {
            let far = builder.make(Op::Far(edges), &[value])?;
            builder.reduce(Reduction::Mode, edges, far, None)
        }),
    );
    named(
        "hindex",
        attempt(&data, |builder, value| {
            let whole = builder.cast(Type::Int, value)?;
            let far = builder.make(Op::Far(edges), &[whole])?;
            let index = builder.reduce(Reduction::HIndex, edges, far, None)?;
            builder.cast(Type::Real, index)
        }),
    );
    named(
        "fold",
        attempt(&data, |builder, value| {
            let (far, start) = (builder.make(Op::Far(edges), &[value])?, builder.real(0.0));
            builder.make(Op::Fold(fold.clone(), edges), &[far, start])
        }),
    );
    named(
        "while",
        attempt(&data, |builder, value| {
            let half = builder.real(0.5);
            let (number, states) = builder.begin_loop(&[("rank".to_owned(), value)]);
            let next = builder.multiply(states[0], half)?;
            Ok(builder.end_loop(number, &[next], StopTest::ChangeAtMost(0, 1e-3))?[0])
        }),
    );
}

#[test]
fn a_loop_that_only_reads_a_leaf_inside_is_refused_too() {
    let data = data();
    let refusal = attempt(&data, |builder, value| {
        let zero = builder.real(0.0);
        let start = builder.multiply(value, zero)?;
        let start = builder.make(Op::Detach, &[start])?;
        let (number, states) = builder.begin_loop(&[("rank".to_owned(), start)]);
        let next = builder.add(states[0], value)?;
        Ok(builder.end_loop(number, &[next], StopTest::ChangeAtMost(0, 1e-3))?[0])
    });
    assert_eq!(refusal.unwrap_err().what, "no gradient goes through `while`");
}

#[test]
fn a_loop_beside_the_way_to_the_loss_is_fine() {
    let data = data();
    let made = attempt(&data, |builder, value| {
        let weight = input(builder, Input::Weight);
        let degree = builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)?;
        let half = builder.real(0.5);
        let (number, states) = builder.begin_loop(&[("rank".to_owned(), degree)]);
        let next = builder.multiply(states[0], half)?;
        let rank = builder.end_loop(number, &[next], StopTest::ChangeAtMost(0, 1e-3))?[0];
        let scaled = builder.multiply(value, rank)?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[value])?;
        let mode = builder.reduce(Reduction::Mode, EdgeSet::IN, far, None)?;
        let kept = builder.make(Op::Detach, &[mode])?;
        let detached = builder.make(Op::Detach, &[value])?;
        let far = builder.make(Op::Far(EdgeSet::IN), &[detached])?;
        let other = builder.reduce(Reduction::Mode, EdgeSet::IN, far, None)?;
        let kept = builder.add(kept, other)?;
        builder.add(scaled, kept)
    });
    assert_eq!(made.unwrap().gradients.len(), 1);
}

#[test]
fn leaves_that_no_gradient_is_taken_by() {
    let data = data();
    let mut builder = Builder::new("leaf", &data);
    let weight = parameter(&mut builder, "w", &[]);
    let (target, id, number) = (
        input(&mut builder, Input::Target),
        input(&mut builder, Input::Id),
        builder.constant(Number::Real(1.0)),
    );
    builder.gir.loss = Some(weight);
    for leaf in [target, id, number] {
        let refusal = differentiate(builder.gir.clone(), &data, &[leaf]).unwrap_err();
        assert!(refusal.what.starts_with("no gradient is taken by"), "{refusal}");
        assert_eq!(refusal.node, Some(leaf));
    }
}
