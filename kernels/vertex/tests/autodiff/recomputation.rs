//! recomputation: what `remember` keeps or computes again, counted by hand, and that it changes no
//! result.
use warploom_vertex::autodiff::{Remembered, differentiate, remember};
use warploom_vertex::gir::{Builder, Data, EdgeSet, Gir, Input, NodeId, Op, Reduction, Unary};

use super::forms::{data, finish, gat, gcn, gradients};
use warploom_test_support::gradient_check::{
    GradientCase, input, leaves, parameter, run, start, summed,
};

fn decided<'a>(reasons: &'a [Remembered], gir: &Gir, op: &Op) -> &'a Remembered {
    reasons
        .iter()
        .find(|reason| gir.node(reason.node).op == *op)
        .unwrap_or_else(|| panic!("nothing is said of {op:?}"))
}

/// Which backward nodes read a node, and which forward ones.
fn readers(gir: &Gir, of: NodeId) -> Vec<NodeId> {
    gir.ids().filter(|id| gir.node(*id).inputs.contains(&of)).collect()
}

#[test]
fn a_view_is_read_again() {
    // Features are `[5]` of 100 vertices, 700 edges, 4 bytes a real: a view holds 700 * 5 * 4 bytes
    // and reads 100 * 5 * 4.
    let data = data();
    let mut builder = Builder::new("view", &data);
    let features = input(&mut builder, Input::Features);
    let bias = parameter(&mut builder, "w", &[5]);
    let weight = input(&mut builder, Input::Weight);
    let scaled = builder.multiply(features, bias).unwrap();
    let far = builder.make(Op::Far(EdgeSet::IN), &[scaled]).unwrap();
    let message = builder.multiply(weight, far).unwrap();
    let squares = builder.unary(Unary::Tanh, message).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, squares, None).unwrap();
    let (gir, reasons) = remember(gradients(finish(builder, sum), &data), &data);
    // The result of tanh, 14000 bytes, is made again of the features (2000), the parameter (20) and
    // the weights (2800).
    let tanh = decided(&reasons, &gir, &Op::Unary(Unary::Tanh));
    assert_eq!(
        (tanh.saved, tanh.bytes, tanh.read_again),
        (false, 14_000, Some(2_000 + 20 + 2_800))
    );
    let last_forward = gir.loss.unwrap();
    assert!(
        readers(&gir, tanh.node).iter().all(|reader| *reader <= last_forward),
        "the forward value ends with its forward readers\n{}",
        gir.print(None)
    );
}

#[test]
fn what_would_need_another_value_kept_is_kept() {
    // relu(product): the product, of the same size, would have to be kept instead.
    let data = data();
    let (gir, reasons) = remember(gradients(gcn(&data), &data), &data);
    let relu = decided(&reasons, &gir, &Op::Unary(Unary::Relu));
    assert_eq!((relu.saved, relu.bytes), (true, 100 * 4 * 4));
    assert!(relu.read_again.unwrap() > relu.bytes);
    // What dropout made of it is drawn again of it.
    let dropped = decided(&reasons, &gir, &Op::Dropout { probability: 0.5, site: 0 });
    assert_eq!((dropped.saved, dropped.bytes, dropped.read_again), (false, 1_600, Some(1_600)));
}

#[test]
fn bytes_of_what_is_kept_instead_count_twice() {
    let data = data();
    let mut builder = Builder::new("relu", &data);
    let features = input(&mut builder, Input::Features);
    let (first, second) =
        (parameter(&mut builder, "first", &[4, 5]), parameter(&mut builder, "second", &[3, 4]));
    let z = builder.make(Op::Product { transposed: true }, &[features, first]).unwrap();
    let h = builder.unary(Unary::Relu, z).unwrap();
    let y = builder.make(Op::Product { transposed: true }, &[h, second]).unwrap();
    let (gir, reasons) = remember(gradients(finish(builder, y), &data), &data);
    let relu = decided(&reasons, &gir, &Op::Unary(Unary::Relu));
    assert_eq!((relu.saved, relu.bytes, relu.read_again), (true, 1_600, Some(3_200)));
}

#[test]
fn a_view_of_few_edges_reads_no_more_rows_than_there_are() {
    let data = Data { edges: 10, ..data() };
    let mut builder = Builder::new("few", &data);
    let features = input(&mut builder, Input::Features);
    let (weight, scale) =
        (input(&mut builder, Input::Weight), parameter(&mut builder, "scale", &[5]));
    let far = builder.make(Op::Far(EdgeSet::IN), &[features]).unwrap();
    let scaled = builder.multiply(weight, scale).unwrap();
    let message = builder.multiply(scaled, far).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None).unwrap();
    let (gir, reasons) = remember(gradients(finish(builder, sum), &data), &data);
    let view = decided(&reasons, &gir, &Op::Far(EdgeSet::IN));
    assert_eq!((view.saved, view.bytes, view.read_again), (false, 200, Some(200)));
}

#[test]
fn sums_and_products_are_never_made_again() {
    let data = data();
    let (gir, reasons) = remember(gradients(gat(&data), &data), &data);
    for reason in &reasons {
        let is_made = matches!(gir.node(reason.node).op, Op::Reduce(..) | Op::Product { .. });
        assert!(!is_made || (reason.saved && reason.read_again.is_none()), "{reason:?}");
        assert!(
            reason.saved || reason.read_again.is_some_and(|read| read <= reason.bytes),
            "{reason:?}"
        );
    }
    // Of edges nothing is kept that is as wide as the features: two heads at most.
    let is_wide = |reason: &&Remembered| {
        gir.node(reason.node).place.edge_rows().is_some() && gir.node(reason.node).columns() > 2
    };
    assert!(!reasons.iter().filter(is_wide).any(|reason| reason.saved), "{reasons:#?}");
    for index in 0..gir.nodes.len() {
        assert!(
            gir.nodes[index].inputs.iter().all(|input| input.index() < index),
            "inputs stand before their users"
        );
    }
}

#[test]
fn a_program_without_gradients_stays_as_it_is() {
    let data = data();
    let gir = gcn(&data);
    assert_eq!(remember(gir.clone(), &data), (gir, Vec::new()));
}

#[test]
fn no_result_changes_by_a_bit() {
    for (seed, mut case) in GradientCase::all().into_iter().enumerate() {
        let data = Data { training: true, ..case.data.clone() };
        case.data = data.clone();
        let mut builder = Builder::new("all", &data);
        let features = input(&mut builder, Input::Features);
        let weight = input(&mut builder, Input::Weight);
        let matrix = parameter(&mut builder, "w", &[2, 3]);
        let z = builder.make(Op::Product { transposed: true }, &[features, matrix]).unwrap();
        let h = builder.unary(Unary::Gelu, z).unwrap();
        let h = builder.make(Op::Dropout { probability: 0.5, site: 2 }, &[h]).unwrap();
        let far = builder.make(Op::Far(EdgeSet::IN), &[h]).unwrap();
        let near = builder.make(Op::Near(EdgeSet::IN), &[z]).unwrap();
        let product = builder.multiply(far, near).unwrap();
        let message = builder.multiply(weight, product).unwrap();
        let message = builder.unary(Unary::Sigmoid, message).unwrap();
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None).unwrap();
        builder.gir.loss = Some(summed(&mut builder, sum).unwrap());
        let by = leaves(&builder.gir);
        let full = differentiate(builder.gir, &data, &by).unwrap();
        let (kept, reasons) = remember(full.clone(), &data);
        start(&mut case, &full, seed as u64);
        let (before, after) = (run(&full, &case), run(&kept, &case));
        assert_eq!(before.loss().unwrap().to_bits(), after.loss().unwrap().to_bits());
        for (first, second) in full.gradients.iter().zip(&kept.gradients) {
            assert_eq!(full.node(first.of).op, kept.node(second.of).op);
            let bits = |rows: &warploom_vertex::interpret::Rows| {
                rows.values.reals().into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(
                bits(before.value(first.node).unwrap()),
                bits(after.value(second.node).unwrap()),
                "{reasons:?}"
            );
        }
        assert!(data.edges == 0 || reasons.iter().any(|reason| !reason.saved), "{reasons:?}");
    }
}
