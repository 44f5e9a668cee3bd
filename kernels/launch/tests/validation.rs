//! validation: each thing that `validate` promises to find, put into a list that has none, and
//! found under its own name.

use std::collections::BTreeMap;

use warploom_ir::{Binary, Init, Loss, Unary};
use warploom_launch::builtin::{self, LayerOrder};
use warploom_launch::{
    Body, Buffer, Combine, Commit, Dropout, EdgeFactor, Element, Expression, GraphFacts, Launch,
    LaunchList, Loop, Operation, Parameter, Role, Rows, Schedule, Train,
};

fn list(program: &str, sparse: bool) -> LaunchList {
    let training = matches!(program, "gcn" | "sage");
    let facts = GraphFacts {
        nodes: 100,
        edges: 500,
        feature_columns: 30,
        sparse_features: sparse.then_some(200),
        classes: 4,
        weighted: false,
        symmetric: false,
        training,
        loss: Loss::CrossEntropy,
        bytes_per_real: 4,
        half: None,
        lanes: false,
    };
    let builtin = builtin::programs().iter().find(|builtin| builtin.name == program).unwrap();
    builtin.build_in_order(&BTreeMap::new(), &facts, LayerOrder::ProductFirst).unwrap()
}

/// The flaw that a change to a sound list makes must be among those found, in the words `launch:
/// what: expected, found`.
fn finds(mut list: LaunchList, change: impl FnOnce(&mut LaunchList), wanted: &str) {
    assert_eq!(list.validate(), Ok(()));
    change(&mut list);
    let flaws: Vec<String> =
        list.validate().expect_err(wanted).iter().map(ToString::to_string).collect();
    assert!(
        flaws.iter().any(|flaw| flaw == wanted),
        "wanted\n  {wanted}\nfound\n  {}",
        flaws.join("\n  ")
    );
}

fn gcn(change: impl FnOnce(&mut LaunchList), wanted: &str) {
    finds(list("gcn", false), change, wanted);
}

fn components(change: impl FnOnce(&mut LaunchList), wanted: &str) {
    finds(list("components", false), change, wanted);
}

fn train(list: &mut LaunchList) -> &mut Train {
    match &mut list.body {
        Body::Train(train) => train,
        Body::Iterate(_) => panic!("iterates"),
    }
}

fn iterate(list: &mut LaunchList) -> &mut Loop {
    match &mut list.body {
        Body::Iterate(iterate) => &mut iterate.loops[0],
        Body::Train(_) => panic!("trains"),
    }
}

fn buffer<'a>(list: &'a mut LaunchList, name: &str) -> &'a mut Buffer {
    list.buffers.iter_mut().find(|buffer| buffer.name == name).unwrap()
}

fn launch<'a>(launches: &'a mut [Launch], name: &str) -> &'a mut Launch {
    launches.iter_mut().find(|launch| launch.name == name).unwrap()
}

fn forward<'a>(list: &'a mut LaunchList, name: &str) -> &'a mut Launch {
    launch(&mut train(list).forward, name)
}

fn backward<'a>(list: &'a mut LaunchList, name: &str) -> &'a mut Launch {
    launch(&mut train(list).backward, name)
}

fn set_epilogue(launch: &mut Launch, expression: Expression) {
    match &mut launch.operation {
        Operation::NeighbourReduce { epilogue, .. }
        | Operation::Product { epilogue, .. }
        | Operation::SparseProduct { epilogue, .. } => *epilogue = expression,
        Operation::Elementwise { expression: old, .. } => *old = expression,
        other => panic!("{other:?} has no epilogue"),
    }
}

fn made_plus(name: &str) -> Expression {
    Expression::identity().plus(Expression::load(name))
}

#[test]
fn names_of_buffers() {
    gcn(
        |list| list.buffers.push(list.buffers[0].clone()),
        "`buffers`: name `scale`: expected one declaration, found two",
    );
    gcn(
        |list| set_epilogue(forward(list, "product.0"), made_plus("nothing")),
        "`product.0`: buffer `nothing`: expected a declared buffer, found no such name",
    );
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != "z.0"),
        "`sum.0`: buffer `z.0`: expected a declared buffer, found no such name",
    );
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != "z.0"),
        "`product.0`: buffer `z.0`: expected a declared buffer, found no such name",
    );
}

#[test]
fn places_in_the_arena() {
    // The scale is made once and read in every epoch.
    let scale = list("gcn", false).arena.place("scale").unwrap().clone();
    gcn(
        |list| {
            list.arena.places.iter_mut().find(|place| place.buffer == "z.0").unwrap().offset =
                scale.offset
        },
        &format!(
            "`arena`: places of `scale` and `z.0`: expected disjoint: their lifetimes overlap, \
             found to {} and from {}",
            scale.offset + scale.bytes,
            scale.offset
        ),
    );
    // Only a value of a launch can be not materialised, and then has no place.
    let nowhere = "`arena`: `z.0`, which is not materialised: expected values of launches, \
                   without a place, found something else";
    gcn(|list| list.arena.nowhere.push("z.0".to_owned()), nowhere);
    gcn(|list| list.arena.nowhere.push("x".to_owned()), &nowhere.replace("z.0", "x"));
    components(
        |list| list.arena.places.clear(),
        "`arena`: place of `label`: expected one, since launches write it, found none",
    );
}

#[test]
fn names_and_schedules_of_launches() {
    gcn(
        |list| forward(list, "sum.1").name = "scale".to_owned(),
        "`scale`: name: expected used once, found used again",
    );
    gcn(
        |list| forward(list, "sum.0").schedule = Schedule::RowBlocks(0),
        "`sum.0`: rows of a block: expected at least 1, found 0",
    );
}

#[test]
fn parts_of_the_list() {
    let wanted = "part of the list: expected a loss in `loss`, optimisers in `update`, all else \
                  elsewhere, found";
    gcn(
        |list| {
            let update = train(list).update[0].clone();
            train(list).backward.push(Launch { name: "early".to_owned(), ..update });
        },
        &format!("`early`: {wanted} backward"),
    );
    gcn(
        |list| {
            let loss = train(list).loss.clone();
            train(list).backward.push(Launch { name: "late".to_owned(), ..loss });
        },
        &format!("`late`: {wanted} backward"),
    );
    gcn(
        |list| train(list).loss.operation = train(list).forward[0].operation.clone(),
        &format!("`loss`: {wanted} loss"),
    );
    gcn(
        |list| {
            let sum = forward(list, "sum.0").clone();
            train(list).update.push(Launch { name: "again".to_owned(), ..sum });
        },
        &format!("`again`: {wanted} update"),
    );
}

#[test]
fn order_of_reads_and_writes() {
    gcn(
        |list| train(list).forward.retain(|launch| launch.name != "product.0"),
        "`sum.0`: reads `z.0`: expected written by an earlier launch, found nothing there yet",
    );
    gcn(
        |list| train(list).forward.reverse(),
        "`sum.1`: reads `z.1`: expected written by an earlier launch, found nothing there yet",
    );
    gcn(
        |list| set_epilogue(forward(list, "sum.0"), made_plus("h.1")),
        "`sum.0`: reads `h.1`: expected a buffer that it does not write, found its own result",
    );
    gcn(
        |list| {
            let product =
                train(list).forward.iter().position(|launch| launch.name == "product.0").unwrap();
            let launch = train(list).forward.remove(product);
            train(list).prepare.push(launch);
        },
        "`product.0`: reads `parameter.gcn.gcn.0.linear.0.weight`: expected nothing that learns, \
         in prepare, found a parameter",
    );
}

#[test]
fn roles() {
    for (role, text) in [
        (Role::Features, "Features"),
        (Role::Target, "Target"),
        (Role::Parameter, "Parameter"),
        (Role::SparseFeatures, "SparseFeatures"),
    ] {
        gcn(
            |list| buffer(list, "z.0").role = role,
            &format!(
                "`product.0`: writes `z.0`: expected a value or a gradient, found {text}, which is \
                 read only"
            ),
        );
    }
    gcn(
        |list| buffer(list, "target").role = Role::Features,
        "`loss`: role of `target`: expected Target, found Features",
    );
    gcn(
        |list| buffer(list, "x").role = Role::SparseFeatures,
        "`input.0`: reads `x`: expected dense rows, found sparse features",
    );
    gcn(
        |list| match &mut forward(list, "product.0").operation {
            Operation::Product { right, .. } => {
                "gradient.gcn.gcn.0.linear.0.weight".clone_into(right)
            }
            _ => unreachable!(),
        },
        "`product.0`: role of `gradient.gcn.gcn.0.linear.0.weight`: expected Parameter, found \
         Gradient",
    );
    let sparse = |name: &str, part: &str| {
        format!("`{name}`: role of `x`: expected SparseFeatures, found {part}")
    };
    finds(
        list("gcn", true),
        |list| buffer(list, "x").role = Role::Features,
        &sparse("product.0", "Features"),
    );
    finds(
        list("gcn", true),
        |list| buffer(list, "x").role = Role::Features,
        &sparse("weight.0", "Features"),
    );
}

#[test]
fn parameters_and_their_buffers() {
    let weight = "gcn.gcn.0.linear.0.weight";
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != format!("parameter.{weight}")),
        &format!(
            "`parameters`: buffer `parameter.{weight}`: expected a declared buffer, found no such \
             name"
        ),
    );
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != format!("gradient.{weight}")),
        &format!(
            "`parameters`: buffer `gradient.{weight}`: expected a declared buffer, found no such \
             name"
        ),
    );
    gcn(
        |list| list.parameters[0].shape = vec![16, 31],
        &format!("`parameters`: shape of `parameter.{weight}`: expected 16 x 31, found 16 x 30"),
    );
    gcn(
        |list| list.parameters[0].shape = vec![2, 8, 30],
        &format!("`parameters`: shape of `parameter.{weight}`: expected 1 x 480, found 16 x 30"),
    );
    gcn(
        |list| buffer(list, &format!("gradient.{weight}")).role = Role::Value,
        &format!("`parameters`: role of `gradient.{weight}`: expected Gradient, found Value"),
    );
    gcn(
        |list| list.parameters.push(list.parameters[0].clone()),
        &format!("`parameters`: name `{weight}`: expected one parameter, found two"),
    );
    gcn(
        |list| {
            list.parameters.remove(0);
        },
        &format!(
            "`parameters`: buffer `parameter.{weight}`: expected a parameter of that name, found \
             none"
        ),
    );
    gcn(
        |list| {
            list.parameters.remove(0);
        },
        &format!(
            "`update.{weight}`: parameter `{weight}`: expected a parameter of the list, found no \
             such name"
        ),
    );
    gcn(
        |list| {
            train(list).update.remove(0);
        },
        &format!("`parameters`: updates of `{weight}`: expected one in each epoch, found 0"),
    );
}

#[test]
fn shapes_of_sums_over_neighbours() {
    gcn(
        |list| buffer(list, "z.0").columns = 17,
        "`sum.0`: shape of `z.0`: expected nodes x 16, found nodes x 17",
    );
    gcn(
        |list| buffer(list, "h.1").rows = Rows::Edges,
        "`sum.0`: shape of `h.1`: expected nodes x 16, found edges x 16",
    );
    gcn(
        |list| buffer(list, "scale").columns = 2,
        "`scale`: shape of `scale`: expected nodes x 1, found nodes x 2",
    );
}

#[test]
fn shapes_of_products() {
    gcn(
        |list| buffer(list, "h.0").columns = 29,
        "`product.0`: shape of `parameter.gcn.gcn.0.linear.0.weight`: expected 16 x 29, found 16 x \
         30",
    );
    gcn(
        |list| buffer(list, "h.0").rows = Rows::Edges,
        "`product.0`: shape of `h.0`: expected nodes x 30, found edges x 30",
    );
    gcn(
        |list| match &mut backward(list, "back.product.1").operation {
            Operation::Product { right_transposed, .. } => *right_transposed = true,
            _ => unreachable!(),
        },
        "`back.product.1`: shape of `parameter.gcn.gcn.0.linear.1.weight`: expected 16 x 4, found \
         4 x 16",
    );
    gcn(
        |list| buffer(list, "slope.z.0").rows = Rows::Fixed(7),
        "`weight.0`: shape of `h.0`: expected 7 x 30, found nodes x 30",
    );
    let gradient = "gradient.gcn.gcn.0.linear.0.weight";
    gcn(
        |list| buffer(list, gradient).columns = 29,
        &format!("`weight.0`: shape of `{gradient}`: expected 16 x 30, found 16 x 29"),
    );
    let sparse = || list("gcn", true);
    let weight = "parameter.gcn.gcn.0.linear.0.weight";
    finds(
        sparse(),
        |list| buffer(list, "x").columns = 31,
        &format!("`product.0`: shape of `{weight}`: expected 16 x 31, found 16 x 30"),
    );
    finds(
        sparse(),
        |list| buffer(list, "x").columns = 31,
        &format!("`weight.0`: shape of `{gradient}`: expected 16 x 31, found 16 x 30"),
    );
}

#[test]
fn shapes_of_the_rest() {
    let bias = "gradient.gcn.gcn.0.bias.0";
    gcn(
        |list| buffer(list, bias).columns = 3,
        &format!("`bias.0`: shape of `{bias}`: expected 1 x 16, found 1 x 3"),
    );
    gcn(
        |list| buffer(list, "target").columns = 4,
        "`loss`: shape of `target`: expected nodes x 1, found nodes x 4",
    );
    gcn(
        |list| match &mut train(list).loss.operation {
            Operation::Loss { kind, .. } => *kind = Loss::MeanSquares,
            _ => unreachable!(),
        },
        "`loss`: shape of `target`: expected nodes x 4, found nodes x 1",
    );
    gcn(
        |list| buffer(list, "target").rows = Rows::Graphs(7),
        "`loss`: shape of `target`: expected nodes x 1, found 7 graphs x 1",
    );
    gcn(
        |list| buffer(list, "h.2").rows = Rows::Graphs(7),
        "`loss`: shape of `slope.h.2`: expected 7 graphs x 4, found nodes x 4",
    );
    gcn(
        |list| buffer(list, "h.2").rows = Rows::Edges,
        "`loss`: rows of `h.2`: expected nodes or graphs, found edges",
    );
    gcn(
        |list| buffer(list, "slope.h.2").columns = 5,
        "`loss`: shape of `slope.h.2`: expected nodes x 4, found nodes x 5",
    );
    gcn(
        |list| buffer(list, "loss").rows = Rows::Fixed(2),
        "`loss`: shape of `loss`: expected 1 x 1, found 2 x 1",
    );
    gcn(
        |list| buffer(list, "scale").rows = Rows::Fixed(9),
        "`sum.0`: shape of `scale`: expected nodes or 1 x 16 or 1, found 9 x 1",
    );
    gcn(
        |list| buffer(list, "h.0").columns = 7,
        "`input.0`: shape of `x`: expected nodes or 1 x 7 or 1, found nodes x 30",
    );
}

#[test]
fn elements() {
    gcn(
        |list| buffer(list, "x").element = Element::Id,
        "`buffers`: element of `x`: expected real, since it is not a value, found id",
    );
    gcn(
        |list| buffer(list, "h.0").element = Element::Id,
        "`product.0`: element of `h.0`: expected real, found id",
    );
    gcn(
        |list| buffer(list, "h.0").element = Element::Id,
        "`input.0`: element of `x`: expected id, found real",
    );
    gcn(
        |list| set_epilogue(forward(list, "input.0"), Expression::Id),
        "`input.0`: expression of reals: expected no id, found an id",
    );
    gcn(
        |list| set_epilogue(forward(list, "input.0"), made_plus("x")),
        "`input.0`: expression: expected loads and constants only, found the launch's result",
    );
    let reduce =
        |list: &mut LaunchList, change: fn(&mut Combine, &mut EdgeFactor)| match &mut iterate(list)
            .superstep[0]
            .operation
        {
            Operation::NeighbourReduce { combine, factor, .. } => change(combine, factor),
            _ => unreachable!(),
        };
    components(
        |list| reduce(list, |combine, _| *combine = Combine::Sum),
        "`min`: combination of ids: expected min, found sum",
    );
    components(
        |list| reduce(list, |combine, _| *combine = Combine::Max),
        "`min`: combination of ids: expected min, found max",
    );
    components(
        |list| reduce(list, |_, factor| *factor = EdgeFactor::Weight),
        "`min`: factor of ids: expected none, found the edge's weight",
    );
    components(
        |list| buffer(list, "label").element = Element::Real,
        "`min`: element of `label`: expected id, found real",
    );
    let load = || Expression::load("label");
    for (expression, found) in [
        (Expression::Constant(1.0), "the constant 1"),
        (Expression::unary(Unary::Negative, load()), "negate"),
        (Expression::binary(Binary::Maximum, Expression::identity(), load()), "max"),
        (load().if_positive(load()), "a select"),
        (load().dropped(Some(Dropout { probability: 0.5, site: 0 })), "a dropout"),
    ] {
        components(
            |list| set_epilogue(&mut iterate(list).superstep[0], expression),
            &format!(
                "`min`: expression of ids: expected made, a load, an id or a min, found {found}"
            ),
        );
    }
}

#[test]
fn dropout() {
    let dropped = |probability: f64, site: u32| {
        Expression::load("x").dropped(Some(Dropout { probability, site }))
    };
    for (probability, text) in [(1.0, "1"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        gcn(
            |list| set_epilogue(forward(list, "input.0"), dropped(probability, 0)),
            &format!("`input.0`: probability of dropout 0: expected in [0, 1), found {text}"),
        );
    }
    gcn(
        |list| set_epilogue(forward(list, "input.0"), dropped(0.25, 1)),
        "`sum.0`: probability of dropout 1: expected 0.25, as before, found 0.5",
    );
    gcn(
        |list| {
            let input = train(list).forward.remove(0);
            train(list).prepare.push(input);
        },
        "`input.0`: place of dropout 0: expected forward or backward, found prepare",
    );
    gcn(
        |list| train(list).draws = false,
        "`draws`: whether a launch draws dropout: expected true, found false with 2 dropout sites",
    );
    finds(
        list("gcn", true),
        |list| match &mut forward(list, "product.0").operation {
            Operation::SparseProduct { dropout, .. } => {
                *dropout = Some(Dropout { probability: 2.0, site: 0 })
            }
            _ => unreachable!(),
        },
        "`product.0`: probability of dropout 0: expected in [0, 1), found 2",
    );
}

#[test]
fn commits() {
    components(
        |list| iterate(list).commit.clear(),
        "`commit`: pairs: expected at least one, found none",
    );
    components(
        |list| {
            iterate(list).commit.push(Commit { state: "label".to_owned(), next: "more".to_owned() })
        },
        "`commit`: buffer `label`: expected one commit, found two",
    );
    components(
        |list| {
            iterate(list).commit.push(Commit { state: "label".to_owned(), next: "more".to_owned() })
        },
        "`commit`: buffer `more`: expected a declared buffer, found no such name",
    );
    components(
        |list| buffer(list, "label.next").columns = 2,
        "`commit`: shape of `label.next`: expected nodes x 1, found nodes x 2",
    );
    components(
        |list| buffer(list, "label.next").element = Element::Real,
        "`commit`: element of `label.next`: expected id, found real",
    );
    components(
        |list| iterate(list).prepare.clear(),
        "`commit`: first value of `label`: expected written in prepare, found never written",
    );
    components(
        |list| iterate(list).superstep.clear(),
        "`commit`: next value `label.next`: expected written in the superstep, found never written",
    );
    components(
        |list| {
            let start = iterate(list).prepare[0].clone();
            iterate(list).superstep.push(Launch { name: "again".to_owned(), ..start });
        },
        "`commit`: state `label`: expected not written in the superstep, found written",
    );
    components(
        |list| {
            list.parameters.push(Parameter {
                name: "p".to_owned(),
                shape: vec![1],
                init: Init::Zero,
                learned: true,
            })
        },
        "`parameters`: learned tensors of a list with loops: expected none, found 1",
    );
}

#[test]
fn results() {
    gcn(|list| list.results.clear(), "`results`: columns: expected at least one, found none");
    gcn(
        |list| "nothing".clone_into(&mut list.results[0].buffer),
        "`results`: buffer `nothing`: expected a declared buffer, found no such name",
    );
    gcn(
        |list| "x".clone_into(&mut list.results[0].buffer),
        "`results`: buffer `x`: expected written by a launch, found never written",
    );
    gcn(
        |list| "loss".clone_into(&mut list.results[0].buffer),
        "`results`: rows of `loss`: expected nodes or graphs, found 1",
    );
    gcn(
        |list| {
            let mut second = list.results[0].clone();
            list.buffers.push(Buffer {
                name: "pooled".to_owned(),
                rows: Rows::Graphs(3),
                columns: 4,
                element: Element::Real,
                role: Role::Value,
            });
            "pooled".clone_into(&mut second.buffer);
            list.results.push(second);
        },
        "`results`: rows of `pooled`: expected nodes, as the first, found 3 graphs",
    );
}

#[test]
fn all_flaws_are_reported_at_once() {
    let mut list = list("gcn", false);
    list.results.clear();
    train(&mut list).draws = false;
    buffer(&mut list, "target").columns = 4;
    assert_eq!(list.validate().unwrap_err().len(), 3);
}
