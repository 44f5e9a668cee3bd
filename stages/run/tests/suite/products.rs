//! products: rows times a matrix, against the reference, buffer by buffer.
//!
//! promises  rows that fit shared memory with the matrix and rows that do not, given ones and made
//!           ones, whose columns no vector divides, few of them and many, whose number is no
//!           multiple of anything; products that one kernel makes: of rows that another has just
//!           made, forward and backward, wide ones, too, two that are added up, and outer ones with
//!           a side in common; by groups of warps, also where blocks share a row's elements, and
//!           with products of fewer bits
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use warploom_compiler::compile;
use warploom_cuda::{GpuTarget, Matmul, Order, emit};
use warploom_device::Capability;
use warploom_ir::{Data, Loss};
use warploom_launch::{Element, LaunchList, MergedLaunches, Rows};
use warploom_run::{
    parameters,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use crate::totals::{chain, chain_of};
use crate::widths::trained;
use warploom_test_support::graph_inputs::{random, signed};
use warploom_test_support::list_runner::{
    ListInputs, buffer_values, executor_with_matmul, first_difference, gpu, largest_magnitude,
    run_part, sampled_cases, separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

/// Compares a chain of layers; its list.
fn agree(widths: &[usize], nodes: usize) -> LaunchList {
    let (direct, list) = chain(widths, nodes);
    trained::<f32>(&format!("{widths:?}, {nodes} rows"), &direct, &list);
    list
}

/// What so many rows go through: of a few million sums some are so near to 0 that their sign is
/// rounding's, and where a slope jumps there, a row's share of a gradient is there or not (52,819
/// rows of 40 sums: one of -2.6e-8 moved an element by 4.6e-6, of 4.1e-3).
const SMOOTH: &str = "elu";

fn processors() -> u32 {
    gpu().and_then(|facts| facts.grid.as_ref()).map_or(8, |grid| grid.processors)
}

fn target() -> GpuTarget {
    let warpgroups =
        gpu().is_none_or(|facts| facts.capability().is_some_and(Capability::has_warpgroups));
    GpuTarget {
        bytes_per_real: 4,
        processors: processors(),
        shared_bytes: 232_448,
        matmul: Matmul::F32,
        order: Order::Spread,
        warpgroups,
    }
}

/// More rows than are few on the device that is here.
fn many() -> usize {
    19 + 32 * processors() as usize
}

/// Rows that are few, also where a list was made for reals of twice the size; the last tile has
/// some.
fn few() -> usize {
    12 * processors() as usize - 5
}

/// As many as have blocks of more warps.
pub fn most() -> usize {
    19 + 400 * processors() as usize
}

/// Rows for groups of warps, of which some have none.
fn fewest_of_groups() -> usize {
    19 + 128 * processors() as usize
}

#[test]
fn rows_that_fit_with_the_matrix_agree() {
    for nodes in sampled_cases(&[1, 61, many()]) {
        agree(&[33, 70, 9, 5], nodes);
    }
    let (direct, list) = chain_of(SMOOTH, &[20, 48, 5], most());
    trained::<f32>("rows for blocks of more warps", &direct, &list);
}

/// Rows for groups of four warps, and outer products of theirs: of as many columns as one to four
/// groups have, and of fewer.
#[test]
fn rows_that_groups_of_warps_multiply_agree() {
    let (direct, list) = chain_of(SMOOTH, &[190, 64, 230, 44, 66, 77, 5], most());
    let emitted = emit(&list, target()).unwrap();
    for sums in ["of_half", "of_step"] {
        assert_eq!(
            emitted.source.contains(&format!("multiply_group<TILES, PARTS>({sums}")),
            target().warpgroups,
            "{sums}"
        );
    }
    trained::<f32>("rows for groups of warps", &direct, &list);
    // So long that a part of the matrix at a time has room, and so few that a group of three has
    // none.
    for nodes in sampled_cases(&[fewest_of_groups(), most()]) {
        let (direct, list) = chain_of(SMOOTH, &[711, 64, 44, 5], nodes);
        assert_eq!(
            emit(&list, target()).unwrap().source.contains("so_far"),
            target().warpgroups,
            "{nodes} rows"
        );
        trained::<f32>(&format!("{nodes} long rows for groups of warps"), &direct, &list);
    }
}

/// Wide products of rows that groups of warps have just made, forward and backward: of as many
/// columns and of fewer, and of rows that end within a step.
#[test]
fn wide_products_that_groups_of_warps_make_agree() {
    for (widths, nodes) in sampled_cases(&[
        (&[20, 64, 48, 40][..], most()),
        (&[66, 64, 64, 64, 36], most()),
        (&[66, 64, 48, 40], fewest_of_groups()),
    ]) {
        let (direct, list) = chain_of(SMOOTH, widths, nodes);
        let emitted = emit(&list, target()).unwrap();
        assert_eq!(
            emitted.source.contains("right_of_next + half"),
            target().warpgroups,
            "{widths:?}"
        );
        trained::<f32>(&format!("{widths:?}, by groups of warps"), &direct, &list);
    }
}

/// Outer products of which a group has all columns of the narrower side: of wider ones that end
/// with a tile and within one.
#[test]
fn outer_products_that_are_turned_round_agree() {
    for widths in sampled_cases(&[&[96, 64, 87, 50, 80][..], &[66, 64, 5]]) {
        let (direct, list) = chain_of(SMOOTH, widths, most());
        let turned = emit(&list, target())
            .unwrap()
            .source
            .matches("1 of them across the columns, 3 along the rows, 16 rows at a time")
            .count();
        assert_eq!(
            turned,
            if target().warpgroups {
                widths.windows(2).filter(|sides| *sides.iter().min().unwrap() >= 49).count()
            } else {
                0
            },
            "{widths:?}"
        );
        trained::<f32>(&format!("{widths:?}, outer products turned round"), &direct, &list);
    }
}

/// The slope of a relu as two products of narrow rows that are added up, of which the first has one
/// column and is spread over the other's.
const SPREAD: &str = "def spread(v):
    v.h = relu(linear(v.x, 64))
    v.z = linear(v.h, 6, bias=False) + linear(sum(v.h, axis=-1), 6, bias=False)
    return linear(v.z, v.classes)
";

#[test]
fn rows_of_one_number_are_added_to_each_of_others() {
    for nodes in [61, 19 + 200 * processors() as usize] {
        let direct = given(nodes, 190);
        let known = Data { lanes: true, ..direct.known(3, Loss::MeanSquares) };
        let list = compile(SPREAD, "spread", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        assert!(MergedLaunches::from_list(&list).sources.is_empty());
        trained::<f32>(&format!("spread, {nodes} rows"), &direct, &list);
    }
}

/// Rows that the kernel of an outer product makes: of one product and of two, of whole vectors of
/// narrow elements and not, with a twin and alone. They are made where others are positive: not too
/// many rows, of which none is so near to 0 that its sign is rounding's.
#[test]
fn rows_that_are_made_where_they_are_multiplied_agree() {
    let nodes = 19 + 200 * processors() as usize;
    let sage = |features: usize, classes: u64| {
        let direct = ListInputs {
            labels: (0..nodes).map(|node| (node as u64 * 7 % classes) as f64).collect(),
            ..given(nodes, features)
        };
        let known = Data { lanes: true, ..direct.known(classes, Loss::CrossEntropy) };
        let settings = [("hidden".to_owned(), json!(64)), ("drop".to_owned(), json!(0.0))].into();
        let list = compile(&program_text("sage"), "sage", &settings, &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        (direct, list)
    };
    let chains = [&[190, 64, 3][..], &[200, 64, 12, 5], &[150, 60, 23, 7]]
        .map(|widths| (format!("{widths:?}"), chain_of("relu", widths, nodes)));
    let sages = [(66, 2), (96, 11), (100, 3), (66, 12)].map(|(features, classes)| {
        (format!("sage, {features}, {classes}"), sage(features, classes))
    });
    for (what, (direct, list)) in
        sampled_cases(&chains.into_iter().chain(sages).collect::<Vec<_>>())
    {
        let (joined, emitted) = (MergedLaunches::from_list(&list), emit(&list, target()).unwrap());
        let makers: Vec<usize> = joined.sources.keys().copied().collect();
        let is_made = makers.iter().any(|maker| emitted.launches[*maker].is_empty());
        assert_eq!(
            (is_made, emitted.source.contains("float matrix[")),
            (target().warpgroups, target().warpgroups),
            "{what}: {makers:?}"
        );
        trained::<f32>(&what, &direct, &list);
    }
}

#[test]
fn narrow_and_wide_products_of_the_same_rows_agree() {
    for nodes in sampled_cases(&[61, many(), most()]) {
        let direct = given(nodes, 24);
        let known = Data { lanes: true, ..direct.known(3, Loss::MeanSquares) };
        let list = compile(BOTH, "both", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        let (joined, emitted) = (MergedLaunches::from_list(&list), emit(&list, target()).unwrap());
        let mut made =
            joined.followers.keys().filter(|follower| emitted.launches[**follower].is_empty());
        assert!(made.next().is_some(), "{nodes} rows: no product is made with another");
        let is_wide = target().warpgroups && nodes == most();
        assert_eq!(emitted.source.contains("right_of_next + half"), is_wide, "{nodes} rows");
        trained::<f32>(&format!("both, {nodes} rows"), &direct, &list);
    }
}

/// Rows as one run makes them with all bits, and another with fewer: how far these are apart, of
/// the largest, and the fewest bits apart.
#[test]
fn rows_of_fewer_bits_are_near_those_of_all() {
    fewer_bits_are_near(&[64, 64, 48, 40], most());
    fewer_bits_are_near(&[515, 64, 40], few());
}

fn fewer_bits_are_near(widths: &[usize], nodes: usize) {
    let (direct, list) = chain_of(SMOOTH, widths, nodes);
    let list = separate_buffers(&list);
    let first: Vec<Vec<f64>> =
        parameters::initial_parameters(&list, &RunSpec { seed: 1, ..RunSpec::default() }, None)
            .unwrap();
    let result = list
        .buffers
        .iter()
        .filter(|buffer| buffer.element == Element::Real && matches!(buffer.rows, Rows::Nodes))
        .map(|buffer| buffer.name.as_str());
    let results: Vec<&str> = result.collect();
    let made = |matmul: Matmul| {
        let mut executor = executor_with_matmul::<f32>(&list, direct.data(&list), (0, matmul));
        executor
            .set_parameters(
                &first
                    .iter()
                    .map(|values| values.iter().map(|value| *value as f32).collect())
                    .collect::<Vec<_>>(),
            )
            .unwrap();
        for part in [Part::Prepare, Part::Forward] {
            run_part(&mut executor, &list, part, Pass { epoch: 0, training: true });
        }
        results
            .iter()
            .map(|name| buffer_values(&executor, &list, name).unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let all = made(Matmul::F32);
    for (matmul, bound) in [(Matmul::Tf32, 2e-3), (Matmul::Bf16, 1.6e-2)] {
        let mut farthest = 0.0f64;
        for ((some, all), name) in made(matmul).iter().zip(&all).zip(&results) {
            let scale = largest_magnitude(all);
            assert_eq!(first_difference(some, all, bound * scale), None, "{matmul:?}: {name}");
            farthest = some
                .iter()
                .zip(all)
                .map(|(some, all)| (some - all).abs() / scale.max(f64::MIN_POSITIVE))
                .fold(farthest, f64::max);
        }
        assert!(
            gpu().is_none() || farthest > bound / 100.0,
            "{matmul:?}: {farthest:e}: all bits were multiplied"
        );
    }
}

#[test]
fn rows_so_long_that_the_matrix_does_not_fit_agree() {
    for widths in sampled_cases(&[&[1323, 64, 3][..], &[5, 1903, 33, 2], &[1100, 129, 2]]) {
        let list = agree(widths, many());
        assert!(
            emit(&list, target()).unwrap().source.contains("multiply_many_rows<MANY, TILES>(all"),
            "{widths:?}: no matrix came in steps"
        );
    }
    // Few rows that are dropped out are multiplied by warps alone on every device.
    for (widths, nodes) in sampled_cases(&[(&[300, 16, 7][..], 61), (&[1100, 64, 2], few())]) {
        let (direct, list) = chain_of("dropout(relu(@), 0.25)", widths, nodes);
        assert!(
            emit(&list, target()).unwrap().source.contains("(queue + slot * STAGE)"),
            "{widths:?}: no matrix came in steps"
        );
        trained::<f32>(&format!("{widths:?}, {nodes} rows, dropped out"), &direct, &list);
    }
}

/// Long rows whose elements blocks share: one of them and many, of one to eight tiles of columns,
/// of several slices, whose end is within a step; rows that are made; a product that follows.
#[test]
fn rows_whose_elements_blocks_share_agree() {
    for (widths, nodes) in sampled_cases(&[
        (&[1323, 64, 3][..], few()),
        (&[5, 1903, 33, 2], few()),
        (&[700, 129, 2], few()),
        (&[711, 44, 7], 1),
        (&[300, 16, 7], 61),
        (&[515, 9, 2], 120),
        (&[260, 29, 5, 2], few()),
        (&[300, 7, 2], 77),
        (&[300, 20, 2], 100),
        (&[300, 52, 2], few()),
    ]) {
        let list = agree(widths, nodes);
        let (emitted, joined) = (emit(&list, target()).unwrap(), MergedLaunches::from_list(&list));
        assert_eq!(
            emitted.source.contains("own_ticket"),
            target().warpgroups,
            "{widths:?}: blocks share nothing"
        );
        assert!(
            widths[0] != 260
                || joined.followers.keys().any(|follower| emitted.launches[*follower].is_empty()),
            "{widths:?}: no product follows"
        );
    }
}

#[test]
fn products_with_a_side_in_common_agree() {
    // Wider sides first and last, columns that no vector divides, few rows and those of groups of
    // warps; slopes of few columns, whose products are added up in one kernel.
    for (features, hidden, classes, nodes) in sampled_cases(&[
        (66, 64, 2, most()),
        (24, 33, 3, many()),
        (9, 40, 9, most()),
        (130, 12, 7, 61),
        (515, 64, 6, few()),
        (5, 3, 1, 7),
    ]) {
        let direct = ListInputs { labels: signed(42, nodes * classes), ..given(nodes, features) };
        let known = Data { lanes: true, ..direct.known(classes as u64, Loss::MeanSquares) };
        let settings = [("hidden".to_owned(), json!(hidden))].into();
        let text = if nodes == most() { MEAN.replace("relu", SMOOTH) } else { MEAN.to_owned() };
        let list = compile(&text, "mean_of", &settings, &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        let what = format!("{features}, {hidden}, {classes}, {nodes} rows");
        trained::<f32>(&what, &direct, &list);
        trained::<f64>(&what, &direct, &list);
        let (joined, emitted) = (MergedLaunches::from_list(&list), emit(&list, target()).unwrap());
        assert_eq!(joined.twins.len(), 2, "{what}");
        assert!(
            joined.twins.keys().all(|first| emitted.launches[*first].is_empty()),
            "{what}: outer products are apart"
        );
        // Both narrow products of the rows in between are made with them, before what one of them
        // is added to is there.
        let narrow = if 2 * classes <= hidden { 2 } else { 0 };
        assert!(joined.followers.len() >= narrow, "{what}: {:?}", joined.followers);
        assert!(
            features != 66
                || joined.followers.keys().all(|follower| emitted.launches[*follower].is_empty()),
            "{what}: a product does not follow"
        );
        // The slope of the rows in between.
        let is_added = joined
            .firsts
            .keys()
            .next_back()
            .is_some_and(|first| emitted.launches[*first].is_empty());
        assert_eq!(is_added, hidden % 4 == 0, "{what}: two products of short rows");
    }
}

/// Layers of means and of own rows: gradients have rows in common.
const MEAN: &str = "def mean_of(v, hidden=8):
    v.h = relu(linear(mean(u.x for u in v.innbs), hidden) + linear(v.x, hidden, bias=False))
    return linear(mean(u.h for u in v.innbs), v.classes) + linear(v.h, v.classes, bias=False)
";

/// Two products of given and of made rows, added up, and what multiplies their sum; three that are
/// added up, of which two are joined.
const TWO: &str = "def two(v, wide=8, narrow=8):
    v.k = sum(u.x for u in v.innbs)
    v.h = relu(linear(v.k, wide) + linear(v.x, wide, bias=False))
    v.g = relu(linear(v.h, narrow) + linear(v.h, narrow, bias=False) + linear(v.k, narrow, bias=False))
    return linear(v.g, v.classes)
";

/// Rows that are put down before a relu and behind it, each multiplied: a kernel has room for one
/// of them.
const APART: &str = "def apart(v):
    v.h = linear(v.x, 16)
    v.a = relu(v.h)
    v.q = linear(v.h, 8)
    v.k = linear(v.a, 8)
    return linear(v.q * sum(u.k for u in v.innbs), v.classes)
";

/// Rows that a narrow and a wide product multiply: the narrow one is made with them on every
/// device.
const BOTH: &str = "def both(v):
    v.h = elu(linear(v.x, 64))
    v.q = linear(v.h, 48)
    v.k = linear(v.h, 8)
    v.a = elu(sum(u.q for u in v.innbs))
    v.b = elu(sum(u.k for u in v.innbs))
    return linear(v.a, v.classes) + linear(v.b, v.classes)
";

fn given(nodes: usize, features: usize) -> ListInputs {
    let (source, target) = random("two", nodes, 3 * nodes, 7).edges.into_iter().unzip();
    ListInputs {
        nodes,
        source,
        target,
        feature_columns: features,
        features: signed(41, nodes * features),
        labels: signed(42, nodes * 3),
        training_rows: (0..nodes as u32).collect(),
        ..ListInputs::default()
    }
}

#[test]
fn products_of_rows_that_are_not_the_same_agree() {
    for nodes in sampled_cases(&[7, 61, many()]) {
        let direct = given(nodes, 24);
        let known = Data { lanes: true, ..direct.known(3, Loss::MeanSquares) };
        let list = compile(APART, "apart", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        trained::<f32>(&format!("apart, {nodes} rows"), &direct, &list);
        let (launches, joined) = (list.launches(), MergedLaunches::from_list(&list));
        for (follower, head) in &joined.followers {
            let others = joined.followers.iter().filter(|(_, of)| *of == head);
            let read = |launch: usize| {
                launches[launch]
                    .operation
                    .reads()
                    .into_iter()
                    .map(std::borrow::Cow::into_owned)
                    .collect::<BTreeSet<String>>()
            };
            let made: BTreeSet<String> = launches[*head]
                .operation
                .writes()
                .into_iter()
                .map(std::borrow::Cow::into_owned)
                .collect();
            let rows: BTreeSet<String> = others
                .flat_map(|(other, _)| read(*other))
                .filter(|name| made.contains(name))
                .collect();
            assert_eq!(rows.len(), 1, "{}: {rows:?}", launches[*follower].name);
        }
    }
}

#[test]
fn products_that_one_kernel_makes_agree() {
    // Layers whose rows the next one multiplies: of eight tiles and five, whose end is within a
    // step, long ones, and few, which warps share.
    for (widths, nodes) in sampled_cases(&[
        (&[33, 64, 20, 9, 3][..], many()),
        (&[300, 16, 7], 61),
        (&[64, 37, 22, 2], many()),
        (&[9, 28, 12, 1], 1),
    ]) {
        let list = agree(widths, nodes);
        let (target, joined) = (target(), MergedLaunches::from_list(&list));
        let emitted = emit(&list, target).unwrap();
        assert!(
            joined.followers.keys().any(|follower| emitted.launches[*follower].is_empty()),
            "{widths:?}: no product is made with another"
        );
    }
    for (features, wide, narrow, nodes) in
        sampled_cases(&[(96, 64, 24, many()), (20, 48, 8, most()), (50, 40, 8, 61), (8, 12, 10, 7)])
    {
        let direct = given(nodes, features);
        let known = Data { lanes: true, ..direct.known(3, Loss::MeanSquares) };
        let settings =
            [("wide".to_owned(), json!(wide)), ("narrow".to_owned(), json!(narrow))].into();
        let text = if nodes == most() { TWO.replace("relu", SMOOTH) } else { TWO.to_owned() };
        let list = compile(&text, "two", &settings, &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list;
        let what = format!("{features}, {wide}, {narrow}, {nodes} rows");
        trained::<f32>(&what, &direct, &list);
        let (joined, emitted) = (MergedLaunches::from_list(&list), emit(&list, target()).unwrap());
        assert!(
            joined.firsts.keys().any(|first| emitted.launches[*first].is_empty()),
            "{what}: no product is made in another's sums"
        );
        assert!(!emitted.unmade.is_empty(), "{what}");
    }
}
