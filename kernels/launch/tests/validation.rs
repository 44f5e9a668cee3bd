//! validation: each thing that `validate` promises to find, put into a compiled list that has none,
//! and found under its own name.
//!
//! promises  a change is found with all that follows from it, and nothing else is. A launch that is
//!           moved changes lifetimes: flaws of the arena are left out where none is expected

use warploom_ir::{Binary, Data, Direction, EdgeSet, Half, Init, Input, Loss, Op, Reduction, Type};
use warploom_launch::{
    Body, Buffer, BufferPlace, Commit, Course, Dropout, EdgeLength, Element, FrontierPlan, Launch,
    LaunchList, Loop, Operand, Operation, Over, Parameter, Role, Rowed, Rows, Schedule,
    StopCondition, Train, View,
};

use crate::compiled_lists::{plain_names, shipped, training};

/// All flaws that a change makes, in the words `launch: what: expected, found`.
#[track_caller]
fn finds(mut list: LaunchList, change: impl FnOnce(&mut LaunchList), wanted: &[&str]) {
    change(&mut list);
    let of_arena = wanted.iter().any(|flaw| flaw.starts_with("`arena`"));
    let found = list.validate().err().unwrap_or_default();
    let flaws: Vec<String> = found
        .iter()
        .filter(|flaw| of_arena || flaw.launch != "arena")
        .map(ToString::to_string)
        .collect();
    assert_eq!(flaws, wanted);
}

/// Trained on dense features: the first layer sums first.
#[track_caller]
fn gcn(change: impl FnOnce(&mut LaunchList), wanted: &[&str]) {
    finds(plain_names(&shipped("gcn", &training(100, 500, 30, 4))), change, wanted);
}

/// Trained on sparse features, which are multiplied as they are.
#[track_caller]
fn sparse_gcn(change: impl FnOnce(&mut LaunchList), wanted: &[&str]) {
    let data = Data { sparse_features: Some(200), ..training(100, 500, 300, 4) };
    finds(plain_names(&shipped("gcn", &data)), change, wanted);
}

#[track_caller]
fn components(change: impl FnOnce(&mut LaunchList), wanted: &[&str]) {
    finds(plain_names(&shipped("components", &Data::bare(100, 500))), change, wanted);
}

#[track_caller]
fn pagerank(change: impl FnOnce(&mut LaunchList), wanted: &[&str]) {
    finds(plain_names(&shipped("pagerank", &Data::bare(100, 500))), change, wanted);
}

/// Shipped gcn's parameters.
const WEIGHT: &str = "gcn.gcn.0.linear.0.weight";
const BIAS: &str = "gcn.gcn.0.bias.0";

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

fn launches(list: &mut LaunchList) -> Vec<&mut Launch> {
    match &mut list.body {
        Body::Train(train) => {
            let before = train.prepare.iter_mut().chain(&mut train.forward);
            before.chain([&mut train.loss]).chain(&mut train.backward).collect()
        }
        Body::Iterate(iterate) => {
            let repeated = &mut iterate.loops[0];
            repeated.prepare.iter_mut().chain(&mut repeated.superstep).collect()
        }
    }
}

fn launch<'a>(list: &'a mut LaunchList, name: &str) -> &'a mut Launch {
    launches(list).into_iter().find(|launch| launch.name == name).unwrap()
}

/// The parts of a fused launch.
fn fused<'a>(
    list: &'a mut LaunchList,
    name: &str,
) -> (&'a mut Over, &'a mut Vec<Buffer>, &'a mut Vec<Operation>) {
    match &mut launch(list, name).operation {
        Operation::Fused { over, locals, steps } => (over, locals, steps),
        other => panic!("{name} is {other:?}"),
    }
}

/// The step that makes a value.
fn step<'a>(list: &'a mut LaunchList, out: &str) -> &'a mut Operation {
    let steps = launches(list).into_iter().flat_map(|launch| match &mut launch.operation {
        Operation::Fused { steps, .. } => steps.as_mut_slice(),
        other => std::slice::from_mut(other),
    });
    let mut made = steps.filter(|step| step.writes().iter().any(|written| written == out));
    made.next().unwrap()
}

fn op<'a>(list: &'a mut LaunchList, out: &str) -> &'a mut Op {
    match step(list, out) {
        Operation::Evaluate { op, .. } => op,
        other => panic!("{out} is made by {other:?}"),
    }
}

fn shape<'a>(list: &'a mut LaunchList, out: &str) -> &'a mut Vec<u64> {
    match step(list, out) {
        Operation::Evaluate { shape, .. } => shape,
        other => panic!("{out} is made by {other:?}"),
    }
}

/// One of the rows that a step reads.
fn read<'a>(list: &'a mut LaunchList, out: &str, number: usize) -> &'a mut Rowed {
    match step(list, out) {
        Operation::Evaluate { inputs, .. } => match &mut inputs[number] {
            Operand::Rows(rows) => rows,
            other => panic!("{out} reads {other:?}"),
        },
        other => panic!("{out} is made by {other:?}"),
    }
}

/// Own rows of a buffer.
fn own(buffer: &str, shape: &[u64]) -> Operand {
    Operand::Rows(Rowed { buffer: buffer.to_owned(), shape: shape.to_vec(), view: View::Own })
}

/// A value of launches.
fn value(name: &str, rows: Rows, columns: u64, element: Element) -> Buffer {
    Buffer { name: name.to_owned(), rows, columns, element, role: Role::Value }
}

/// A parameter in one row, and its buffer.
fn add_parameter(list: &mut LaunchList, name: &str, columns: u64, learned: bool) {
    let shape = vec![columns];
    let parameter = Parameter { name: name.to_owned(), shape, init: Init::Zero, learned };
    list.parameters.push(parameter);
    let buffer = value(&format!("parameter.{name}"), Rows::Fixed(1), columns, Element::Real);
    list.buffers.push(Buffer { role: Role::Parameter, ..buffer });
}

#[test]
fn names_of_buffers() {
    gcn(
        |list| list.buffers.push(list.buffers[0].clone()),
        &[&format!("`buffers`: name `parameter.{WEIGHT}`: expected one declaration, found two")],
    );
    gcn(
        |list| read(list, "multiply.3", 1).buffer = "nothing".to_owned(),
        &["`h.2`: buffer `nothing`: expected a declared buffer, found no such name"],
    );
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != "multiply.2"),
        &[
            "`multiply.2`: buffer `multiply.2`: expected a declared buffer, found no such name",
            "`h.2`: buffer `multiply.2`: expected a declared buffer, found no such name",
        ],
    );
}

#[test]
fn elements_of_buffers() {
    gcn(
        |list| buffer(list, "x").element = Element::Whole(Type::Int),
        &[
            "`buffers`: element of `x`: expected real, since it is not a value, found int",
            "`multiply.0`: operands of dropout 0.5 site 0: expected such as fit, found \
             type of the value of dropout: expected real, found int",
        ],
    );
    gcn(
        |list| buffer(list, "h.2").element = Element::Whole(Type::Real),
        &[
            "`buffers`: element of `h.2`: expected bool, int or id where it is whole, \
             found real",
            "`loss`: element of `h.2`: expected real, found whole id",
        ],
    );
    gcn(
        |list| buffer(list, &format!("gradient.{BIAS}")).element = Element::Half(Half::Bf16),
        &[
            "`buffers`: element of `gradient.gcn.gcn.0.bias.0`: expected real, since it \
             is not a value, found half",
            "`buffers`: element of `gradient.gcn.gcn.0.bias.0`: expected real, since its \
             rows are not of vertices or edges, found half",
            "`parameters`: element of `gradient.gcn.gcn.0.bias.0`: expected real, found half",
            "`gradient.gcn.gcn.0.linear.0.weight`: step `gradient.gcn.gcn.0.bias.0`: \
             expected a stored total of floats over rows of the vertices of the walk, \
             found sum rows of 1",
            "`update.gcn.gcn.0.bias.0`: element of `gradient.gcn.gcn.0.bias.0`: expected \
             real, out of a fused walk, found half",
        ],
    );
    gcn(
        |list| buffer(list, "loss").element = Element::Half(Half::Bf16),
        &[
            "`buffers`: element of `loss`: expected real, since its rows are not of \
             vertices or edges, found half",
            "`loss`: element of `loss`: expected real, out of a fused walk, found half",
            "`loss`: element of `loss`: expected real, found half",
        ],
    );
    gcn(
        |list| buffer(list, "slope.result").element = Element::Half(Half::F16),
        &[
            "`loss`: element of `slope.result`: expected real, out of a fused walk, found half",
            "`loss`: element of `slope.result`: expected real, found half",
        ],
    );
    gcn(
        |list| buffer(list, "h.2").element = Element::Half(Half::Bf16),
        &[
            "`loss`: element of `h.2`: expected real, out of a fused walk, found half",
            "`loss`: element of `h.2`: expected real, found half",
            "`results`: element of `h.2`: expected real, found half",
        ],
    );
    gcn(
        |list| buffer(list, "target").element = Element::Whole(Type::Id),
        &[
            "`buffers`: element of `target`: expected real, since it is not a value, \
             found whole id",
            "`loss`: element of `target`: expected real, found whole id",
        ],
    );
}

#[test]
fn places_in_the_arena() {
    let same_place = |list: &mut LaunchList| {
        let scale = list.arena.place("scale").unwrap().offset;
        let mut places = list.arena.places.iter_mut();
        places.find(|place| place.buffer == "multiply.2").unwrap().offset = scale;
    };
    // The scale is made once and read in every epoch: it lies behind all that epochs make.
    gcn(
        same_place,
        &[
            "`arena`: place of `multiply.2`: expected a multiple of 256, ending by 32768, found \
             32256 to 33856",
            "`arena`: places of `multiply.2` and `scale`: expected disjoint: their lifetimes \
             overlap, found to 33856 and from 32256",
        ],
    );
    // Only a value of a launch can be not materialised, and then has no place.
    let nowhere = "`, which is not materialised: expected values of launches, without a place, \
                   found something else";
    for name in ["multiply.2", "x"] {
        gcn(
            |list| list.arena.nowhere.push(name.to_owned()),
            &[&format!("`arena`: `{name}{nowhere}")],
        );
    }
    gcn(
        |list| {
            let place = list.arena.places[0].clone();
            list.arena.places.push(BufferPlace { buffer: "x".to_owned(), ..place });
        },
        &["`arena`: place of `x`: expected none: it lives for the whole run, found from 0"],
    );
    components(
        |list| list.arena.places.clear(),
        &[
            "`arena`: place of `label`: expected one, since launches write it, found none",
            "`arena`: place of `label.next`: expected one, since launches write it, found none",
        ],
    );
    components(
        |list| list.arena.places[0].offset = 4,
        &["`arena`: place of `label`: expected a multiple of 256, ending by 2048, found 4 to 804"],
    );
    components(
        |list| list.arena.live.clear(),
        &["`arena`: bytes of wanted buffers: expected for 2 launches, found for 0"],
    );
}

#[test]
fn names_and_schedules_of_launches() {
    gcn(
        |list| launch(list, "h.2").name = "scale".to_owned(),
        &["`scale`: name: expected used once, found used again"],
    );
    gcn(
        |list| launch(list, "h.2").schedule = Schedule::RowBlocks(0),
        &["`h.2`: rows of a block: expected at least 1, found 0"],
    );
}

#[test]
fn parts_of_the_list() {
    gcn(
        |list| {
            let update = train(list).update.remove(0);
            train(list).backward.push(update);
        },
        &[
            "`update.gcn.gcn.0.linear.0.weight`: part of the list: expected a loss in \
             `loss`, optimisers in `update`, all else elsewhere, found backward",
            "`parameters`: updates of `gcn.gcn.0.linear.0.weight`: expected one in each \
             epoch, found 0",
        ],
    );
    gcn(
        |list| {
            let loss = train(list).loss.clone();
            train(list).backward.push(Launch { name: "late".to_owned(), ..loss });
        },
        &["`late`: part of the list: expected a loss in `loss`, optimisers in `update`, \
             all else elsewhere, found backward"],
    );
    gcn(
        |list| {
            let walk = launch(list, "multiply.4").clone();
            train(list).update.push(Launch { name: "again".to_owned(), ..walk });
        },
        &["`again`: part of the list: expected a loss in `loss`, optimisers in \
             `update`, all else elsewhere, found update"],
    );
    gcn(
        |list| {
            let walk = launch(list, "multiply.4").operation.clone();
            train(list).loss.operation = walk;
        },
        &[
            "`loss`: part of the list: expected a loss in `loss`, optimisers in `update`, \
             all else elsewhere, found loss",
            "`loss`: reads `slope.result`: expected written by an earlier launch, found \
             nothing there yet",
            "`multiply.4`: reads `slope.result`: expected written by an earlier launch, \
             found nothing there yet",
        ],
    );
}

#[test]
fn order_of_reads_and_writes() {
    gcn(
        |list| train(list).forward.retain(|launch| launch.name != "multiply.0"),
        &["`multiply.2`: reads `multiply.0`: expected written by an earlier launch, \
             found nothing there yet"],
    );
    gcn(
        |list| train(list).forward.swap(1, 2),
        &["`h.2`: reads `multiply.2`: expected written by an earlier launch, found \
             nothing there yet"],
    );
    gcn(
        |list| match &mut train(list).loss.operation {
            Operation::Loss { gradient, .. } => "h.2".clone_into(gradient),
            _ => unreachable!(),
        },
        &[
            "`loss`: reads `h.2`: expected a buffer that it does not write, found its own \
             result",
            "`multiply.4`: reads `slope.result`: expected written by an earlier launch, \
             found nothing there yet",
        ],
    );
    gcn(
        |list| {
            let walk = train(list).forward.remove(1);
            train(list).prepare.push(walk);
        },
        &[
            "`multiply.2`: reads `multiply.0`: expected written by an earlier launch, \
             found nothing there yet",
            "`multiply.2`: reads `parameter.gcn.gcn.0.linear.0.weight`: expected nothing \
             that learns, in prepare, found a parameter",
            "`multiply.2`: reads `parameter.gcn.gcn.0.bias.0`: expected nothing that \
             learns, in prepare, found a parameter",
            "`multiply.2`: reads `parameter.gcn.gcn.0.linear.1.weight`: expected nothing \
             that learns, in prepare, found a parameter",
            "`multiply.2`: place of dropout 1: expected forward or backward, found prepare",
        ],
    );
    gcn(
        |list| {
            let walk = train(list).forward.remove(0);
            train(list).prepare.push(walk);
        },
        &["`multiply.0`: place of dropout 0: expected forward or backward, found prepare"],
    );
}

#[test]
fn roles() {
    gcn(
        |list| buffer(list, "multiply.2").role = Role::Given(Input::Weight),
        &["`multiply.2`: writes `multiply.2`: expected a value or a gradient, found \
             Given(Weight), which is read only"],
    );
    gcn(
        |list| buffer(list, "x").role = Role::SparseFeatures,
        &["`multiply.0`: reads `x`: expected dense rows, found sparse features"],
    );
    gcn(
        |list| buffer(list, "target").role = Role::Features,
        &["`loss`: role of `target`: expected Target, found Features"],
    );
    sparse_gcn(
        |list| buffer(list, "x").role = Role::Features,
        &[
            "`z.0`: role of `x`: expected SparseFeatures, found Features",
            "`gradient.gcn.gcn.0.linear.0.weight`: role of `x`: expected SparseFeatures, \
             found Features",
        ],
    );
    sparse_gcn(
        |list| match step(list, "z.0") {
            Operation::SparseProduct { right, .. } => *right = format!("gradient.{WEIGHT}"),
            _ => unreachable!(),
        },
        &[
            "`z.0`: reads `gradient.gcn.gcn.0.linear.0.weight`: expected written by an \
             earlier launch, found nothing there yet",
            "`z.0`: role of `gradient.gcn.gcn.0.linear.0.weight`: expected Parameter, \
             found Gradient",
        ],
    );
}

#[test]
fn parameters_and_their_buffers() {
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != format!("parameter.{BIAS}")),
        &[
            "`parameters`: buffer `parameter.gcn.gcn.0.bias.0`: expected a declared \
             buffer, found no such name",
            "`multiply.2`: buffer `parameter.gcn.gcn.0.bias.0`: expected a declared \
             buffer, found no such name",
            "`update.gcn.gcn.0.bias.0`: buffer `parameter.gcn.gcn.0.bias.0`: expected a \
             declared buffer, found no such name",
        ],
    );
    gcn(
        |list| list.buffers.retain(|buffer| buffer.name != format!("gradient.{BIAS}")),
        &[
            "`parameters`: buffer `gradient.gcn.gcn.0.bias.0`: expected a declared \
             buffer, found no such name",
            "`gradient.gcn.gcn.0.linear.0.weight`: buffer `gradient.gcn.gcn.0.bias.0`: \
             expected a declared buffer, found no such name",
            "`update.gcn.gcn.0.bias.0`: buffer `gradient.gcn.gcn.0.bias.0`: expected a \
             declared buffer, found no such name",
        ],
    );
    gcn(
        |list| list.parameters[0].shape = vec![16, 31],
        &[
            "`parameters`: shape of `parameter.gcn.gcn.0.linear.0.weight`: expected 16 x \
             31, found 16 x 30",
            "`parameters`: shape of `gradient.gcn.gcn.0.linear.0.weight`: expected 16 x \
             31, found 16 x 30",
        ],
    );
    gcn(
        |list| list.parameters[0].shape = vec![2, 8, 30],
        &[
            "`parameters`: shape of `parameter.gcn.gcn.0.linear.0.weight`: expected 1 x \
             480, found 16 x 30",
            "`parameters`: shape of `gradient.gcn.gcn.0.linear.0.weight`: expected 1 x \
             480, found 16 x 30",
        ],
    );
    gcn(
        |list| buffer(list, &format!("gradient.{BIAS}")).role = Role::Value,
        &["`parameters`: role of `gradient.gcn.gcn.0.bias.0`: expected Gradient, found Value"],
    );
}

#[test]
fn parameters_and_their_updates() {
    let weight = "gcn.gcn.0.linear.1.weight";
    gcn(
        |list| list.parameters.push(list.parameters[0].clone()),
        &["`parameters`: name `gcn.gcn.0.linear.0.weight`: expected one parameter, found two"],
    );
    gcn(
        |list| list.parameters.retain(|parameter| parameter.name != weight),
        &[
            "`parameters`: buffer `parameter.gcn.gcn.0.linear.1.weight`: expected a \
             parameter of that name, found none",
            "`update.gcn.gcn.0.linear.1.weight`: parameter `gcn.gcn.0.linear.1.weight`: \
             expected a parameter of the list, found no such name",
        ],
    );
    gcn(
        |list| {
            train(list).update.remove(0);
        },
        &["`parameters`: updates of `gcn.gcn.0.linear.0.weight`: expected one in each \
             epoch, found 0"],
    );
    gcn(
        |list| {
            let update = train(list).update[0].clone();
            train(list).update.push(Launch { name: "again".to_owned(), ..update });
        },
        &["`parameters`: updates of `gcn.gcn.0.linear.0.weight`: expected one in each \
             epoch, found 2"],
    );
}

#[test]
fn shapes_of_sparse_products() {
    sparse_gcn(
        |list| buffer(list, "x").columns = 301,
        &[
            "`z.0`: shape of `parameter.gcn.gcn.0.linear.0.weight`: expected 16 x 301, \
             found 16 x 300",
            "`gradient.gcn.gcn.0.linear.0.weight`: shape of \
             `gradient.gcn.gcn.0.linear.0.weight`: expected 16 x 301, found 16 x 300",
        ],
    );
    sparse_gcn(
        |list| buffer(list, "z.0").rows = Rows::Graphs(7),
        &["`z.0`: shape of `x`: expected 7 graphs x 300, found nodes x 300"],
    );
    sparse_gcn(
        |list| buffer(list, "slope of z.1").rows = Rows::Graphs(7),
        &[
            "`slope of z.1`: step `slope of z.1`: expected rows of the walk; values of \
             edges in a walk over vertices stay local, found multiply of 7 graphs",
            "`gradient.gcn.gcn.0.linear.0.weight`: shape of `x`: expected 7 graphs x 300, \
             found nodes x 300",
        ],
    );
}

#[test]
fn shapes_of_the_loss() {
    gcn(
        |list| buffer(list, "target").columns = 4,
        &["`loss`: shape of `target`: expected nodes x 1, found nodes x 4"],
    );
    gcn(
        |list| match &mut train(list).loss.operation {
            Operation::Loss { kind, .. } => *kind = Loss::MeanSquares,
            _ => unreachable!(),
        },
        &["`loss`: shape of `target`: expected nodes x 4, found nodes x 1"],
    );
    gcn(
        |list| buffer(list, "target").rows = Rows::Graphs(7),
        &["`loss`: shape of `target`: expected nodes x 1, found 7 graphs x 1"],
    );
    gcn(
        |list| buffer(list, "slope.result").columns = 5,
        &[
            "`loss`: shape of `slope.result`: expected nodes x 4, found nodes x 5",
            "`multiply.4`: elements of `slope.result` in a row of shape [4]: expected 4, \
             found 5",
        ],
    );
    gcn(
        |list| buffer(list, "loss").rows = Rows::Fixed(2),
        &["`loss`: shape of `loss`: expected 1 x 1, found 2 x 1"],
    );
    gcn(
        |list| buffer(list, "h.2").rows = Rows::Edges,
        &[
            "`h.2`: step `h.2`: expected rows of the walk; values of edges in a walk over \
             vertices stay local, found add of edges",
            "`loss`: rows of `h.2`: expected nodes or graphs, found edges",
            "`loss`: shape of `target`: expected edges x 1, found nodes x 1",
            "`loss`: shape of `slope.result`: expected edges x 4, found nodes x 4",
            "`results`: rows of `h.2`: expected nodes or graphs, found edges",
        ],
    );
}

/// By the rules that make nodes.
#[test]
fn shapes_and_places_of_steps() {
    gcn(
        |list| buffer(list, "multiply.0").columns = 29,
        &[
            "`multiply.0`: elements of `multiply.0` in a row of shape [30]: expected 30, \
             found 29",
            "`multiply.2`: elements of `multiply.0` in a row of shape [30]: expected 30, \
             found 29",
        ],
    );
    gcn(
        |list| *shape(list, "h.2") = vec![2, 3],
        &["`h.2`: elements of `h.2` in a row of shape [2, 3]: expected 6, found 4"],
    );
    gcn(
        |list| buffer(list, "multiply.2").rows = Rows::Edges,
        &[
            "`multiply.2`: step `multiply.2`: expected rows of the walk; values of edges \
             in a walk over vertices stay local, found multiply of edges",
            "`h.2`: rows of `multiply.2` seen from edges: expected nodes, found edges",
        ],
    );
    gcn(
        |list| buffer(list, "scale").rows = Rows::Graphs(7),
        &["`scale`: step `scale`: expected rows of the walk; values of edges in a walk \
             over vertices stay local, found select of 7 graphs"],
    );
}

/// Of operations and types, by the same rules.
#[test]
fn operations_and_types_of_steps() {
    gcn(
        |list| *op(list, "multiply.3") = Op::Binary(Binary::And),
        &["`h.2`: operands of and: expected such as fit, found type of the operands of \
             and: expected bool, found real"],
    );
    gcn(
        |list| *op(list, "h.1") = Op::Input(Input::Features),
        &["`multiply.2`: step `h.1`: expected element-wise work, work within a row, or \
             a reduction over edges, found input features of nodes"],
    );
    gcn(
        |list| *op(list, "cast") = Op::Cast(Type::Int),
        &["`scale`: place, type and shape of `cast`: expected (D, Int, []), found (D, \
             Real, [])"],
    );
    gcn(
        |list| buffer(list, "scale").element = Element::Whole(Type::Int),
        &[
            "`scale`: place, type and shape of `scale`: expected (D, Real, []), found (D, \
             Int, [])",
            "`multiply.0`: operands of multiply: expected such as fit, found types of \
             operands: expected real, found int",
            "`multiply.2`: operands of multiply: expected such as fit, found types of \
             operands: expected int, found real",
            "`h.2`: operands of multiply: expected such as fit, found types of operands: \
             expected int, found real",
            "`multiply.4`: operands of multiply: expected such as fit, found types of \
             operands: expected real, found int",
            "`gradient.gcn.gcn.0.linear.0.weight`: operands of multiply: expected such as \
             fit, found types of operands: expected real, found int",
        ],
    );
    components(
        |list| buffer(list, "given.id").element = Element::Whole(Type::Int),
        &["`label`: place, type and shape of `label`: expected (D, Int, []), found (D, \
             Id, [])"],
    );
    // Inputs are read where they are.
    components(
        |list| {
            let inputs = vec![own("given.id", &[])];
            let (out, op) = ("label".to_owned(), Op::Input(Input::Weight));
            let shape = Vec::new();
            launch(list, "label").operation = Operation::Evaluate { out, shape, op, inputs };
        },
        &["`label`: operands of input weight: expected such as fit, found an operation \
             that needs no launch"],
    );
}

#[test]
fn steps_of_a_walk() {
    gcn(
        |list| {
            let again = fused(list, "h.2").1[0].clone();
            list.buffers.push(again);
        },
        &["`h.2`: name `reduce.1`: expected one declaration, found two"],
    );
    gcn(
        |list| {
            let loss = train(list).loss.operation.clone();
            fused(list, "multiply.4").2.push(loss);
        },
        &["`multiply.4`: a step: expected an evaluated operation, found another kind"],
    );
    gcn(
        |list| fused(list, "h.2").2.swap(0, 1),
        &["`h.2`: local `reduce.1`: expected written by an earlier step, found nothing \
             there yet"],
    );
    gcn(
        |list| {
            let again = fused(list, "h.2").2[2].clone();
            fused(list, "h.2").2.push(again);
        },
        &["`h.2`: `h.2`: expected written once, found written again"],
    );
    gcn(
        |list| *fused(list, "h.2").0 = Over::EdgesOf(Direction::Out),
        &["`h.2`: step `reduce.1`: expected a reduction over the edges of the walk, \
             found reduce sum.in of nodes"],
    );
    gcn(
        |list| *fused(list, "h.2").0 = Over::Vertices,
        &["`h.2`: step `reduce.1`: expected a reduction over edges to rows of nodes, in \
             a walk over edges of vertices, found reduce sum.in of nodes"],
    );
    gcn(
        |list| *op(list, "multiply.4") = Op::Winner(true, EdgeSet::IN),
        &["`multiply.4`: step `multiply.4`: expected element-wise work, work within a \
             row, or a reduction over edges, found winner maximum.in of nodes"],
    );
    gcn(
        |list| *op(list, "reduce.1") = Op::Reduce(Reduction::Mode, EdgeSet::IN),
        &["`h.2`: step `reduce.1`: expected element-wise work, work within a row, or a \
             reduction over edges, found reduce mode.in of nodes"],
    );
    gcn(
        |list| *fused(list, "multiply.0").0 = Over::Edges(Rows::Edges),
        &["`multiply.0`: step `dropout.0`: expected rows of the walk; values of edges \
             in a walk over vertices stay local, found dropout 0.5 site 0 of nodes"],
    );
    gcn(
        |list| fused(list, "h.2").1[1].rows = Rows::Edges,
        &["`h.2`: place, type and shape of `multiply.3`: expected (D, Real, [4]), found \
             (E(Once), Real, [4])"],
    );
    gcn(
        |list| {
            let (_, locals, _) = fused(list, "multiply.2");
            locals.iter_mut().find(|local| local.name == "z").unwrap().rows = Rows::Edges;
        },
        &["`multiply.2`: step `z`: expected products of rows of vertices, found product \
             transposed of edges"],
    );
}

#[test]
fn values_of_the_same_walk() {
    gcn(
        |list| read(list, "h.2", 0).view = View::Far(EdgeSet::IN),
        &["`h.2`: `multiply.3`, made in the same walk: expected read at the current \
             vertex or edge, found read at another"],
    );
    gcn(
        |list| {
            // A total of the walk, read by a step after it.
            let total = format!("gradient.{BIAS}");
            *read(list, "multiply.5", 1) =
                Rowed { buffer: total, shape: vec![16], view: View::Own };
        },
        &["`gradient.gcn.gcn.0.linear.0.weight`: total `gradient.gcn.gcn.0.bias.0`: \
             expected read by another launch, found read in the same walk"],
    );
    gcn(
        |list| read(list, "gradient.gcn.gcn.0.bias.1", 0).view = View::Far(EdgeSet::IN),
        &["`multiply.4`: step `gradient.gcn.gcn.0.bias.1`: expected a stored total of \
             floats over rows of the vertices of the walk, found sum rows of 1"],
    );
    gcn(
        |list| {
            // Nothing stores it.
            let inputs = vec![own("slope.result", &[4])];
            let (_, locals, steps) = fused(list, "multiply.4");
            locals.push(value("t", Rows::Fixed(1), 4, Element::Real));
            let (out, shape) = ("t".to_owned(), vec![4]);
            steps.push(Operation::Evaluate { out, shape, op: Op::SumRows, inputs });
        },
        &["`multiply.4`: step `t`: expected a stored total of floats over rows of the \
             vertices of the walk, found sum rows of 1"],
    );
}

#[test]
fn dropout() {
    for (probability, text) in [(1.0, "1"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        gcn(
            |list| *op(list, "dropout.0") = Op::Dropout { probability, site: 0 },
            &[
                &format!(
                    "`multiply.0`: operands of dropout {text} site 0: expected such as fit, found \
                     probability of dropout: expected at least 0 and less than 1, found {text}"
                ),
                &format!(
                    "`multiply.0`: probability of dropout 0: expected in [0, 1), found {text}"
                ),
            ],
        );
    }
    gcn(
        |list| *op(list, "dropout.0") = Op::Dropout { probability: 0.25, site: 1 },
        &[
            "`multiply.2`: probability of dropout 1: expected 0.25, as before, found 0.5",
            "`gradient.gcn.gcn.0.linear.0.weight`: probability of dropout 1: expected \
             0.25, as before, found 0.5",
        ],
    );
    gcn(
        |list| train(list).draws = false,
        &["`draws`: whether a launch draws dropout: expected true, found false with 2 \
             dropout sites"],
    );
    sparse_gcn(
        |list| match step(list, "z.0") {
            Operation::SparseProduct { dropout, .. } => {
                *dropout = Some(Dropout { probability: 2.0, site: 0 })
            }
            _ => unreachable!(),
        },
        &[
            "`z.0`: probability of dropout 0: expected in [0, 1), found 2",
            "`gradient.gcn.gcn.0.linear.0.weight`: probability of dropout 0: expected 2, \
             as before, found 0.5",
        ],
    );
    sparse_gcn(
        |list| match step(list, &format!("gradient.{WEIGHT}")) {
            Operation::SparseProductOverRows { dropout, .. } => {
                *dropout = Some(Dropout { probability: 0.25, site: 0 })
            }
            _ => unreachable!(),
        },
        &["`gradient.gcn.gcn.0.linear.0.weight`: probability of dropout 0: expected \
             0.5, as before, found 0.25"],
    );
}

#[test]
fn statistics() {
    let kept = |list: &mut LaunchList, columns: u64, next: &str| {
        add_parameter(list, "mean", columns, false);
        train(list)
            .statistics
            .push(Commit { state: "parameter.mean".to_owned(), next: next.to_owned() });
    };
    gcn(|list| kept(list, 16, &format!("gradient.{BIAS}")), &[]);
    gcn(
        |list| kept(list, 4, &format!("gradient.{BIAS}")),
        &["`statistics`: shape of `gradient.gcn.gcn.0.bias.0`: expected 1 x 4, found 1 x 16"],
    );
    gcn(
        |list| kept(list, 16, "nothing"),
        &["`statistics`: buffer `nothing`: expected a declared buffer, found no such name"],
    );
    gcn(
        |list| kept(list, 1, "x"),
        &[
            "`statistics`: shape of `x`: expected 1 x 1, found nodes x 30",
            "`statistics`: buffer `x`: expected written by a launch, found never written",
        ],
    );
    gcn(
        |list| {
            kept(list, 16, &format!("gradient.{BIAS}"));
            buffer(list, "parameter.mean").role = Role::Value;
        },
        &[
            "`parameters`: role of `parameter.mean`: expected Parameter, found Value",
            "`statistics`: role of `parameter.mean`: expected Parameter, found Value",
        ],
    );
    gcn(
        |list| {
            train(list).statistics.push(Commit {
                state: format!("parameter.{BIAS}"),
                next: format!("gradient.{BIAS}"),
            });
        },
        &["`statistics`: buffer `parameter.gcn.gcn.0.bias.0`: expected one that the \
             optimiser does not update, found a learned tensor"],
    );
}

#[test]
fn commits() {
    let more = || Commit { state: "label".to_owned(), next: "more".to_owned() };
    components(
        |list| iterate(list).commit.clear(),
        &[
            "`commit`: pairs: expected at least one, found none",
            "`until`: buffer `label`: expected a state that is committed, found none of them",
            "`course`: way to the end of `label`: expected none, found Least { state: \
             \"label\", direction: Both, step: Nothing }",
        ],
    );
    components(
        |list| iterate(list).commit.push(more()),
        &[
            "`commit`: buffer `label`: expected one commit, found two",
            "`commit`: buffer `more`: expected a declared buffer, found no such name",
            "`commit`: next value `more`: expected written in the superstep, found never \
             written",
            "`course`: way to the end of `label`: expected none, found Least { state: \
             \"label\", direction: Both, step: Nothing }",
        ],
    );
    components(
        |list| buffer(list, "label.next").columns = 2,
        &[
            "`label.next`: elements of `label.next` in a row of shape []: expected 1, found 2",
            "`commit`: shape of `label.next`: expected nodes x 1, found nodes x 2",
        ],
    );
    components(
        |list| buffer(list, "label.next").element = Element::Real,
        &[
            "`label.next`: place, type and shape of `label.next`: expected (D, Id, []), \
             found (D, Real, [])",
            "`commit`: element of `label.next`: expected whole id, found real",
        ],
    );
    components(
        |list| iterate(list).prepare.clear(),
        &[
            "`label.next`: reads `label`: expected written by an earlier launch, found \
             nothing there yet",
            "`commit`: first value of `label`: expected written in prepare, found never written",
            "`results`: buffer `label`: expected written by a launch, found never written",
        ],
    );
    components(
        |list| iterate(list).superstep.clear(),
        &[
            "`commit`: next value `label.next`: expected written in the superstep, found \
             never written",
            "`course`: way to the end of `label`: expected none, found Least { state: \
             \"label\", direction: Both, step: Nothing }",
            "`frontier`: edges along which changes are read: expected what the superstep \
             reads, found Some(Both)",
        ],
    );
    components(
        |list| {
            let start = iterate(list).prepare[0].clone();
            iterate(list).superstep.push(Launch { name: "again".to_owned(), ..start });
        },
        &[
            "`commit`: state `label`: expected not written in the superstep, found written",
            "`frontier`: edges along which changes are read: expected what the superstep \
             reads, found Some(Both)",
        ],
    );
}

#[test]
fn parameters_of_a_loop() {
    components(
        |list| add_parameter(list, "p", 1, true),
        &["`parameters`: learned tensors of a list with loops: expected none, found 1"],
    );
}

#[test]
fn stop_conditions() {
    let until = |state: &str| StopCondition::ChangeAtMost(state.to_owned(), 1e-6);
    pagerank(
        |list| iterate(list).until = until("divide"),
        &["`until`: buffer `divide`: expected a state that is committed, found none of them"],
    );
    pagerank(
        |list| iterate(list).until = StopCondition::Unchanged(Vec::new()),
        &["`until`: states that must not change: expected at least one, found none"],
    );
    pagerank(
        |list| iterate(list).until = StopCondition::Nowhere("nothing".to_owned()),
        &["`until`: buffer `nothing`: expected a declared buffer, found no such name"],
    );
    pagerank(
        |list| iterate(list).until = StopCondition::Nowhere("divide".to_owned()),
        &["`until`: element of `divide`: expected bool, found real"],
    );
    pagerank(
        |list| {
            list.buffers.push(value("mask", Rows::Nodes, 1, Element::Whole(Type::Bool)));
            iterate(list).until = StopCondition::Nowhere("mask".to_owned());
        },
        &["`until`: buffer `mask`: expected written in the superstep, found never written"],
    );
}

fn frontier_of_in_edges() -> Option<FrontierPlan> {
    Some(FrontierPlan { direction: Direction::In, changed_part: 5, readers_part: 2 })
}

#[test]
fn shortcuts_and_frontiers() {
    components(
        |list| {
            iterate(list).course =
                Some(Course::Cores { state: "label".to_owned(), direction: Direction::Both })
        },
        &["`course`: way to the end of `label`: expected Least { state: \"label\", \
             direction: Both, step: Nothing }, found Cores { state: \"label\", direction: \
             Both }"],
    );
    components(
        |list| iterate(list).frontier = frontier_of_in_edges(),
        &["`frontier`: edges along which changes are read: expected what the superstep \
             reads, found Some(In)"],
    );
    pagerank(
        |list| {
            iterate(list).course = Some(Course::Least {
                state: "rank".to_owned(),
                direction: Direction::In,
                step: EdgeLength::Nothing,
            })
        },
        &["`course`: way to the end of `rank`: expected none, found Least { state: \
             \"rank\", direction: In, step: Nothing }"],
    );
    pagerank(
        |list| iterate(list).frontier = frontier_of_in_edges(),
        &["`frontier`: edges along which changes are read: expected what the superstep \
             reads, found Some(In)"],
    );
    components(
        |list| iterate(list).frontier.as_mut().unwrap().readers_part = 0,
        &["`frontier`: parts of rows and edges: expected one in 1 or more, found one in 0"],
    );
    // A list need not use them.
    components(|list| (iterate(list).course, iterate(list).frontier) = (None, None), &[]);
}

#[test]
fn results() {
    gcn(|list| list.results.clear(), &["`results`: columns: expected at least one, found none"]);
    gcn(
        |list| "nothing".clone_into(&mut list.results[0].buffer),
        &["`results`: buffer `nothing`: expected a declared buffer, found no such name"],
    );
    gcn(
        |list| "x".clone_into(&mut list.results[0].buffer),
        &["`results`: buffer `x`: expected written by a launch, found never written"],
    );
    gcn(
        |list| "loss".clone_into(&mut list.results[0].buffer),
        &["`results`: rows of `loss`: expected nodes or graphs, found 1"],
    );
    gcn(
        |list| list.results[0].edges = Some(EdgeSet::IN),
        &["`results`: rows of `h.2`: expected those of its edges, found nodes"],
    );
    gcn(
        |list| {
            let mut second = list.results[0].clone();
            list.buffers.push(value("pooled", Rows::Graphs(3), 4, Element::Real));
            "pooled".clone_into(&mut second.buffer);
            list.results.push(second);
        },
        &[
            "`results`: buffer `pooled`: expected written by a launch, found never written",
            "`results`: rows of `pooled`: expected nodes, as the first, found 3 graphs",
        ],
    );
}

#[test]
fn all_flaws_are_reported_at_once() {
    gcn(
        |list| {
            list.results.clear();
            train(list).draws = false;
            buffer(list, "target").columns = 4;
        },
        &[
            "`loss`: shape of `target`: expected nodes x 1, found nodes x 4",
            "`draws`: whether a launch draws dropout: expected true, found false with 2 \
             dropout sites",
            "`results`: columns: expected at least one, found none",
        ],
    );
}
