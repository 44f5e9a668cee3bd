//! validation: each thing that `validate` promises to find, put into a compiled list that has none,
//! and found under its own name.
use warploom_ir::{Data, Init, Loss, Op};
use warploom_launch::{
    Body, Buffer, Commit, Dropout, Element, Launch, LaunchList, Loop, Operation, Parameter, Role,
    Rows, Schedule, Train,
};

use crate::compiled_lists::{layer, list, training};

/// Two layers of 16 columns over 30 features and 4 classes.
fn gcn() -> LaunchList {
    list("gcn", &training(100, 500, 30, 4))
}

/// A product of 30 sparse features, of which some are dropped, with a weight for 4 classes.
fn sparse() -> LaunchList {
    layer(&Data { sparse_features: Some(200), ..training(100, 500, 30, 4) })
}

fn components() -> LaunchList {
    list("components", &Data::bare(100, 500))
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

/// The first launch of the forward pass, and the first value that it writes.
fn first(list: &LaunchList) -> (String, String) {
    let Body::Train(train) = &list.body else { panic!("iterates") };
    let launch = &train.forward[0];
    (launch.name.clone(), launch.operation.writes()[0].to_string())
}

/// The launch of the forward pass that reads the value of the first.
fn reader(list: &LaunchList) -> String {
    let (_, value) = first(list);
    let launches = list.launches().into_iter();
    let mut readers = launches
        .filter(|launch| launch.operation.reads().iter().any(|read| *read == *value))
        .map(|launch| launch.name.clone());
    readers.next().unwrap()
}

/// The result of the program.
fn result(list: &LaunchList) -> String {
    list.results[0].buffer.clone()
}

/// A launch of sparse features.
fn sparse_launch(list: &mut LaunchList, over_rows: bool) -> &mut Launch {
    let train = train(list);
    let mut launches = train.forward.iter_mut().chain(&mut train.backward);
    let found = launches.find(|launch| match launch.operation {
        Operation::SparseProduct { .. } => !over_rows,
        Operation::SparseProductOverRows { .. } => over_rows,
        _ => false,
    });
    found.unwrap()
}

#[test]
fn names_of_buffers() {
    let (launch, value) = first(&gcn());
    let twice = gcn().buffers[0].name.clone();
    finds(
        gcn(),
        |list| list.buffers.push(list.buffers[0].clone()),
        &format!("`buffers`: name `{twice}`: expected one declaration, found two"),
    );
    for launch in [launch, reader(&gcn())] {
        finds(
            gcn(),
            |list| list.buffers.retain(|buffer| buffer.name != value),
            &format!(
                "`{launch}`: buffer `{value}`: expected a declared buffer, found no such name"
            ),
        );
    }
}

#[test]
fn places_in_the_arena() {
    // The slope of the result is made of it.
    let (result, slope) = (result(&gcn()), "slope.result");
    let place = gcn().arena.place(&result).unwrap().clone();
    let wanted = |first: &str, second: &str| {
        format!(
            "`arena`: places of `{first}` and `{second}`: expected disjoint: their lifetimes \
             overlap, found to {} and from {}",
            place.offset + place.bytes,
            place.offset
        )
    };
    let mut list = gcn();
    let moved = list.arena.places.iter_mut().find(|place| place.buffer == slope).unwrap();
    moved.offset = place.offset;
    let flaws: Vec<String> = list.validate().unwrap_err().iter().map(ToString::to_string).collect();
    assert!(
        flaws.iter().any(|flaw| *flaw == wanted(&result, slope) || *flaw == wanted(slope, &result)),
        "{}",
        flaws.join("\n")
    );
    // Only a value of a launch can be not materialised, and then has no place.
    for name in [result.as_str(), "x"] {
        finds(
            gcn(),
            |list| list.arena.nowhere.push(name.to_owned()),
            &format!(
                "`arena`: `{name}`, which is not materialised: expected values of launches, \
                 without a place, found something else"
            ),
        );
    }
    let state = iterate(&mut components()).commit[0].state.clone();
    finds(
        components(),
        |list| list.arena.places.clear(),
        &format!("`arena`: place of `{state}`: expected one, since launches write it, found none"),
    );
}

#[test]
fn names_and_schedules_of_launches() {
    let (launch, _) = first(&gcn());
    finds(
        gcn(),
        |list| train(list).backward[0].name = launch.clone(),
        &format!("`{launch}`: name: expected used once, found used again"),
    );
    finds(
        gcn(),
        |list| train(list).forward[0].schedule = Schedule::RowBlocks(0),
        &format!("`{launch}`: rows of a block: expected at least 1, found 0"),
    );
}

#[test]
fn parts_of_the_list() {
    let wanted = "part of the list: expected a loss in `loss`, optimisers in `update`, all else \
                  elsewhere, found";
    let renamed = |launch: &Launch, name: &str| Launch { name: name.to_owned(), ..launch.clone() };
    finds(
        gcn(),
        |list| {
            let early = renamed(&train(list).update[0], "early");
            train(list).backward.push(early);
        },
        &format!("`early`: {wanted} backward"),
    );
    finds(
        gcn(),
        |list| {
            let late = renamed(&train(list).loss, "late");
            train(list).backward.push(late);
        },
        &format!("`late`: {wanted} backward"),
    );
    finds(
        gcn(),
        |list| train(list).loss.operation = train(list).forward[0].operation.clone(),
        &format!("`loss`: {wanted} loss"),
    );
    finds(
        gcn(),
        |list| {
            let again = renamed(&train(list).forward[0], "again");
            train(list).update.push(again);
        },
        &format!("`again`: {wanted} update"),
    );
}

#[test]
fn order_of_reads_and_writes() {
    let (_, value) = first(&gcn());
    finds(
        gcn(),
        |list| {
            train(list).forward.remove(0);
        },
        &format!(
            "`{}`: reads `{value}`: expected written by an earlier launch, found nothing there yet",
            reader(&gcn())
        ),
    );
    let learns = format!("parameter.{}", gcn().parameters[0].name);
    let reads = |launch: &&Launch| launch.operation.reads().iter().any(|read| *read == learns);
    let launch = gcn().launches().into_iter().find(reads).unwrap().clone();
    finds(
        gcn(),
        |list| train(list).prepare.push(launch.clone()),
        &format!(
            "`{}`: reads `{learns}`: expected nothing that learns, in prepare, found a parameter",
            launch.name
        ),
    );
    // A launch that reads what it writes itself.
    let (_, of_sparse) = first(&sparse());
    finds(
        sparse(),
        |list| match &mut sparse_launch(list, false).operation {
            Operation::SparseProduct { right, .. } => right.clone_from(&of_sparse),
            _ => unreachable!(),
        },
        &format!(
            "`{}`: reads `{of_sparse}`: expected a buffer that it does not write, found its own \
             result",
            first(&sparse()).0
        ),
    );
}

#[test]
fn roles() {
    let (launch, value) = first(&gcn());
    for (role, text) in [
        (Role::Features, "Features"),
        (Role::Target, "Target"),
        (Role::Parameter, "Parameter"),
        (Role::SparseFeatures, "SparseFeatures"),
    ] {
        finds(
            gcn(),
            |list| buffer(list, &value).role = role,
            &format!(
                "`{launch}`: writes `{value}`: expected a value or a gradient, found {text}, which \
                 is read only"
            ),
        );
    }
    finds(
        gcn(),
        |list| buffer(list, "target").role = Role::Features,
        "`loss`: role of `target`: expected Target, found Features",
    );
    finds(
        gcn(),
        |list| buffer(list, "x").role = Role::SparseFeatures,
        &format!("`{launch}`: reads `x`: expected dense rows, found sparse features"),
    );
    for over_rows in [false, true] {
        let launch = sparse_launch(&mut sparse(), over_rows).name.clone();
        finds(
            sparse(),
            |list| buffer(list, "x").role = Role::Features,
            &format!("`{launch}`: role of `x`: expected SparseFeatures, found Features"),
        );
    }
    let gradient = "gradient.layer.layer.0.linear.0.weight";
    finds(
        sparse(),
        |list| match &mut sparse_launch(list, false).operation {
            Operation::SparseProduct { right, .. } => gradient.clone_into(right),
            _ => unreachable!(),
        },
        &format!(
            "`{}`: role of `{gradient}`: expected Parameter, found Gradient",
            first(&sparse()).0
        ),
    );
}

#[test]
fn parameters_and_their_buffers() {
    let weight = "gcn.gcn.0.linear.0.weight";
    let place = gcn().parameters.iter().position(|known| known.name == weight).unwrap();
    let no_buffer = |role: &str| {
        format!(
            "`parameters`: buffer `{role}.{weight}`: expected a declared buffer, found no such name"
        )
    };
    for role in ["parameter", "gradient"] {
        finds(
            gcn(),
            |list| list.buffers.retain(|buffer| buffer.name != format!("{role}.{weight}")),
            &no_buffer(role),
        );
    }
    for (shape, wanted) in [(vec![16, 31], "16 x 31"), (vec![2, 8, 30], "1 x 480")] {
        finds(
            gcn(),
            |list| list.parameters[place].shape = shape,
            &format!(
                "`parameters`: shape of `parameter.{weight}`: expected {wanted}, found 16 x 30"
            ),
        );
    }
    finds(
        gcn(),
        |list| buffer(list, &format!("gradient.{weight}")).role = Role::Value,
        &format!("`parameters`: role of `gradient.{weight}`: expected Gradient, found Value"),
    );
    finds(
        gcn(),
        |list| list.parameters.push(list.parameters[place].clone()),
        &format!("`parameters`: name `{weight}`: expected one parameter, found two"),
    );
    for wanted in [
        format!(
            "`parameters`: buffer `parameter.{weight}`: expected a parameter of that name, found \
             none"
        ),
        format!(
            "`update.{weight}`: parameter `{weight}`: expected a parameter of the list, found no \
             such name"
        ),
    ] {
        finds(
            gcn(),
            |list| {
                list.parameters.remove(place);
            },
            &wanted,
        );
    }
    finds(
        gcn(),
        |list| train(list).update.retain(|launch| launch.name != format!("update.{weight}")),
        &format!("`parameters`: updates of `{weight}`: expected one in each epoch, found 0"),
    );
}

#[test]
fn shapes_of_products_with_sparse_features() {
    let weight = "layer.layer.0.linear.0.weight";
    let [product, over_rows] =
        [false, true].map(|over_rows| sparse_launch(&mut sparse(), over_rows).name.clone());
    finds(
        sparse(),
        |list| buffer(list, "x").columns = 31,
        &format!("`{product}`: shape of `parameter.{weight}`: expected 4 x 31, found 4 x 30"),
    );
    finds(
        sparse(),
        |list| buffer(list, "x").columns = 31,
        &format!("`{over_rows}`: shape of `gradient.{weight}`: expected 4 x 31, found 4 x 30"),
    );
}

#[test]
fn shapes_of_the_loss() {
    let (result, slope) = (result(&gcn()), "slope.result");
    finds(
        gcn(),
        |list| buffer(list, "target").columns = 4,
        "`loss`: shape of `target`: expected nodes x 1, found nodes x 4",
    );
    finds(
        gcn(),
        |list| match &mut train(list).loss.operation {
            Operation::Loss { kind, .. } => *kind = Loss::MeanSquares,
            _ => unreachable!(),
        },
        "`loss`: shape of `target`: expected nodes x 4, found nodes x 1",
    );
    finds(
        gcn(),
        |list| buffer(list, "target").rows = Rows::Graphs(7),
        "`loss`: shape of `target`: expected nodes x 1, found 7 graphs x 1",
    );
    finds(
        gcn(),
        |list| buffer(list, &result).rows = Rows::Graphs(7),
        &format!("`loss`: shape of `{slope}`: expected 7 graphs x 4, found nodes x 4"),
    );
    finds(
        gcn(),
        |list| buffer(list, &result).rows = Rows::Edges,
        &format!("`loss`: rows of `{result}`: expected nodes or graphs, found edges"),
    );
    finds(
        gcn(),
        |list| buffer(list, slope).columns = 5,
        &format!("`loss`: shape of `{slope}`: expected nodes x 4, found nodes x 5"),
    );
    finds(
        gcn(),
        |list| buffer(list, "loss").rows = Rows::Fixed(2),
        "`loss`: shape of `loss`: expected 1 x 1, found 2 x 1",
    );
}

#[test]
fn elements() {
    let whole = Element::Whole(warploom_ir::Type::Int);
    finds(
        gcn(),
        |list| buffer(list, "x").element = whole,
        "`buffers`: element of `x`: expected real, since it is not a value, found int",
    );
    finds(
        gcn(),
        |list| buffer(list, "slope.result").element = whole,
        "`loss`: element of `slope.result`: expected real, found int",
    );
    finds(
        gcn(),
        |list| buffer(list, "slope.result").element = Element::Half(warploom_ir::Half::Bf16),
        "`loss`: element of `slope.result`: expected real, out of a fused walk, found half",
    );
}

#[test]
fn dropout() {
    fn drop_of(operation: &mut Operation) -> Option<&mut f64> {
        match operation {
            Operation::Evaluate { op: Op::Dropout { probability, .. }, .. } => Some(probability),
            Operation::Fused { steps, .. } => steps.iter_mut().find_map(drop_of),
            _ => None,
        }
    }
    let site = |list: &mut LaunchList, probability: f64| {
        let found = train(list).forward.iter_mut().find_map(|launch| {
            let name = launch.name.clone();
            drop_of(&mut launch.operation).map(|drop| (name, std::mem::replace(drop, probability)))
        });
        found.unwrap()
    };
    let (launch, _) = site(&mut gcn(), 0.5);
    for (probability, text) in [(1.0, "1"), (-0.1, "-0.1"), (f64::NAN, "NaN")] {
        finds(
            gcn(),
            |list| {
                site(list, probability);
            },
            &format!("`{launch}`: probability of dropout 0: expected in [0, 1), found {text}"),
        );
    }
    finds(
        gcn(),
        |list| {
            let dropped = train(list).forward.remove(0);
            train(list).prepare.push(dropped);
        },
        &format!("`{launch}`: place of dropout 0: expected forward or backward, found prepare"),
    );
    finds(
        gcn(),
        |list| train(list).draws = false,
        "`draws`: whether a launch draws dropout: expected true, found false with 2 dropout sites",
    );
    finds(
        sparse(),
        |list| match &mut sparse_launch(list, false).operation {
            Operation::SparseProduct { dropout, .. } => {
                *dropout = Some(Dropout { probability: 2.0, site: 0 })
            }
            _ => unreachable!(),
        },
        &format!("`{}`: probability of dropout 0: expected in [0, 1), found 2", first(&sparse()).0),
    );
}

#[test]
fn commits() {
    let Commit { state, next } = iterate(&mut components()).commit[0].clone();
    finds(
        components(),
        |list| iterate(list).commit.clear(),
        "`commit`: pairs: expected at least one, found none",
    );
    for wanted in [
        format!("`commit`: buffer `{state}`: expected one commit, found two"),
        "`commit`: buffer `more`: expected a declared buffer, found no such name".to_owned(),
    ] {
        let more = Commit { state: state.clone(), next: "more".to_owned() };
        finds(components(), |list| iterate(list).commit.push(more), &wanted);
    }
    finds(
        components(),
        |list| buffer(list, &next).columns = 2,
        &format!("`commit`: shape of `{next}`: expected nodes x 1, found nodes x 2"),
    );
    finds(
        components(),
        |list| buffer(list, &next).element = Element::Real,
        &format!("`commit`: element of `{next}`: expected whole id, found real"),
    );
    finds(
        components(),
        |list| iterate(list).prepare.clear(),
        &format!(
            "`commit`: first value of `{state}`: expected written in prepare, found never written"
        ),
    );
    finds(
        components(),
        |list| iterate(list).superstep.clear(),
        &format!(
            "`commit`: next value `{next}`: expected written in the superstep, found never written"
        ),
    );
    finds(
        components(),
        |list| {
            let prepare = iterate(list).prepare.clone();
            let writes = |launch: &&Launch| {
                launch.operation.writes().iter().any(|written| *written == *state)
            };
            let start = prepare.iter().find(writes).unwrap().clone();
            iterate(list).superstep.push(Launch { name: "again".to_owned(), ..start });
        },
        &format!("`commit`: state `{state}`: expected not written in the superstep, found written"),
    );
    finds(
        components(),
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
    finds(
        gcn(),
        |list| list.results.clear(),
        "`results`: columns: expected at least one, found none",
    );
    finds(
        gcn(),
        |list| "nothing".clone_into(&mut list.results[0].buffer),
        "`results`: buffer `nothing`: expected a declared buffer, found no such name",
    );
    finds(
        gcn(),
        |list| "x".clone_into(&mut list.results[0].buffer),
        "`results`: buffer `x`: expected written by a launch, found never written",
    );
    finds(
        gcn(),
        |list| "loss".clone_into(&mut list.results[0].buffer),
        "`results`: rows of `loss`: expected nodes or graphs, found 1",
    );
    finds(
        gcn(),
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
    let mut list = gcn();
    list.results.clear();
    train(&mut list).draws = false;
    buffer(&mut list, "target").columns = 4;
    assert_eq!(list.validate().unwrap_err().len(), 3);
}
