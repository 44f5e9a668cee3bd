//! widths: walks over rows that no vector divides, against the reference, buffer by buffer.
//!
//! promises  a softmax of one head and a weight made of each edge, over rows of every odd kind,
//!           with dropout of shares and of rows: every buffer after every part, on the device that
//!           is asked for; and weighted sums and means alone, of the widths of the source
//!           documents, which a GPU also goes over by groups of neighbours (`direct::GROUPS`)
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_compiler::compile;
use warploom_cuda::{GpuTarget, Matmul, Order, emit};
use warploom_ir::{Data, Loss};
use warploom_launch::LaunchList;
use warploom_run::{parameters, precision::Precision};
use warploom_spec::RunSpec;

use crate::differential::{SEED, stepped};
use warploom_test_support::graph_inputs::{signed, uniform};
use warploom_test_support::list_runner::{
    ListInputs, executor, executor_with_order, gpu, is_brief, sampled_cases, separate_buffers,
};

const NODES: usize = 60;
const CLASSES: usize = 3;
const FEATURES: usize = 6;

const WIDTHS: &str = r#"
def widths(v, width=5, drop=0.0):
    v.z = linear(v.x, (1, width), bias=False)
    v.left, v.right = dot(v.z, param((1, width))), dot(v.z, param((1, width)))
    score = [leaky_relu(e.src.left + v.right, 0.2) for e in v.inedges]
    share = [dropout(a, drop) for a in softmax(score)]
    v.h = dropout(flatten(sum(a * e.src.z for a, e in zip(share, v.inedges))) + bias(), drop)
    v.gate = linear(v.h, 1)
    v.k = relu(sum(sigmoid(e.src.gate + v.gate) * e.src.h for e in v.inedges))
    v.m = v.k + sum(u.k for u in v.innbs)
    return linear(v.m, v.classes)
"#;

/// Heads that have scores of edges, as many rows as several blocks of every processor have, and few
/// edges: a lane has a head then.
const HEADS: &str = r#"
def heads(v):
    v.z = linear(v.x, (8, 8), bias=False)
    v.left, v.right = dot(v.z, param((8, 8))), dot(v.z, param((8, 8)))
    share = softmax([leaky_relu(e.src.left + v.right, 0.2) for e in v.inedges])
    v.h = elu(flatten(sum(a * e.src.z for a, e in zip(share, v.inedges))) + bias())
    return linear(v.h, v.classes)
"#;

/// Nothing but sums, with work on rows before and after them.
const SUMS: &str = r#"
def sums(v, width=5):
    v.z = linear(v.x, width)
    v.h = relu(sum(e.w * e.src.z for e in v.inedges) + bias())
    v.k = v.h + mean(u.h for u in v.innbs)
    return linear(v.k, v.classes)
"#;

/// Sums of which nothing of a row is read before.
const PLAIN: &str = include_str!("../../../../kernels/cuda/tests/near_programs/sums.py");

/// Edges of the row that a block has, and of one that several blocks share.
const MORE: usize = 1700;
const MOST: usize = 20_000;

/// Random edges, a vertex of many, and one of more: rows that groups, warps and blocks share.
fn direct(most: usize) -> ListInputs {
    let end = |stream: u32, edge: usize| (uniform(stream, edge) * (NODES - 2) as f64) as u32;
    let random = (0..4 * NODES).map(|edge| (end(31, edge), end(32, edge)));
    let many = (0..150).map(|edge| (end(33, edge), 7));
    let more = (0..most).map(|edge| (end(34, edge), 11));
    let (source, target): (Vec<u32>, Vec<u32>) = random.chain(many).chain(more).unzip();
    ListInputs {
        nodes: NODES,
        source,
        target,
        feature_columns: FEATURES,
        features: signed(35, NODES * FEATURES),
        labels: (0..NODES).map(|node| (uniform(36, node) * CLASSES as f64).floor()).collect(),
        training_rows: (0..NODES as u32).filter(|row| row % 3 != 1).collect(),
        reordered: true,
        ..ListInputs::default()
    }
}

pub fn trained<T: Precision>(what: &str, direct: &ListInputs, list: &LaunchList) {
    trained_by::<T>(what, direct, list, None);
}

/// The same, where rows read near rows or do not; else as is asked for.
fn trained_by<T: Precision>(
    what: &str,
    direct: &ListInputs,
    list: &LaunchList,
    order: Option<Order>,
) {
    let initial =
        parameters::initial_parameters(list, &RunSpec { seed: SEED, ..RunSpec::default() }, None)
            .unwrap();
    let named = list
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .zip(initial.iter().cloned())
        .collect();
    let graph = direct.reference_graph();
    let reference = direct.reference(list, &graph, &named);
    let list = separate_buffers(list);
    let data = direct.data(&list);
    let executor = match order {
        Some(order) => executor_with_order::<T>(&list, data, (SEED, Matmul::F32, order)),
        None => executor::<T>(&list, data, SEED),
    };
    stepped(what, &list, executor, reference, &initial);
}

fn agree(widths: &[u64], (most, drop): (usize, f64)) {
    let direct = direct(most);
    for width in sampled_cases(widths) {
        let settings: BTreeMap<String, Value> =
            [("width".to_owned(), json!(width)), ("drop".to_owned(), json!(drop))].into();
        let known = direct.known(CLASSES as u64, Loss::CrossEntropy);
        let list = compile(WIDTHS, "widths", &settings, &known)
            .unwrap_or_else(|wrong| panic!("{width}: {wrong:?}"))
            .list;
        let what = format!("{width} columns, drop {drop}");
        trained::<f32>(&what, &direct, &list);
        // Of f64 a lane has two places, of which only odd rows have some in common.
        if !is_brief() || width % 2 == 1 {
            trained::<f64>(&what, &direct, &list);
        }
    }
}

#[test]
fn sums_agree() {
    let plain = direct(MORE);
    let direct = ListInputs { weight: Some(signed(37, plain.source.len())), ..plain };
    for width in sampled_cases(&[1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 128, 256, 602]) {
        let settings: BTreeMap<String, Value> = [("width".to_owned(), json!(width))].into();
        let known = direct.known(CLASSES as u64, Loss::CrossEntropy);
        let list = compile(SUMS, "sums", &settings, &known)
            .unwrap_or_else(|wrong| panic!("{width}: {wrong:?}"))
            .list;
        trained::<f32>(&format!("sums of {width} columns"), &direct, &list);
        if !is_brief() {
            trained::<f64>(&format!("sums of {width} columns"), &direct, &list);
        }
    }
}

/// As many vertices as so many rows for each processor and a few more, with two edges each, one of
/// many and one of more.
fn many_rows(of_processor: usize) -> ListInputs {
    let processors =
        gpu().and_then(|facts| facts.grid.as_ref()).map_or(2, |grid| grid.processors as usize);
    let nodes = of_processor * processors + 40;
    let end = |stream: u32, edge: usize| (uniform(stream, edge) * nodes as f64) as u32;
    let random = (0..2 * nodes).map(|edge| (end(41, edge), end(42, edge)));
    let many = (0..150).map(|edge| (end(43, edge), 7));
    let more = (0..MORE).map(|edge| (end(44, edge), 11));
    let (source, target): (Vec<u32>, Vec<u32>) = random.chain(many).chain(more).unzip();
    ListInputs {
        nodes,
        source,
        target,
        features: signed(45, nodes * FEATURES),
        labels: (0..nodes).map(|node| (uniform(46, node) * CLASSES as f64).floor()).collect(),
        training_rows: (0..nodes as u32).filter(|row| row % 3 != 1).collect(),
        ..direct(0)
    }
}

#[test]
fn heads_of_many_rows_agree() {
    // Rows of a block are 32.
    let direct = many_rows(8 * 32);
    let known = Data { bytes_per_real: 4, ..direct.known(CLASSES as u64, Loss::CrossEntropy) };
    let list = compile(HEADS, "heads", &BTreeMap::new(), &known)
        .unwrap_or_else(|wrong| panic!("{wrong:?}"))
        .list;
    trained::<f32>("heads of many rows", &direct, &list);
    trained_by::<f32>(
        "heads of many rows, one after the other",
        &direct,
        &list,
        Some(Order::Local),
    );
}

/// The sums of a program over many rows, in both orders or in one, whose kernels have a text that
/// says how they are gone about.
fn sums_of_many_rows_agree(
    (program, name): (&str, &str),
    (direct, widths): (&ListInputs, &[u64]),
    (orders, says): (&[Order], &str),
) {
    for width in sampled_cases(widths) {
        let settings: BTreeMap<String, Value> = [("width".to_owned(), json!(width))].into();
        let known = Data { bytes_per_real: 4, ..direct.known(CLASSES as u64, Loss::CrossEntropy) };
        let list = compile(program, name, &settings, &known)
            .unwrap_or_else(|wrong| panic!("{width}: {wrong:?}"))
            .list;
        for &order in orders {
            if let Some(grid) = gpu().and_then(|facts| facts.grid.as_ref()) {
                let (processors, shared_bytes) = (grid.processors, grid.shared_bytes_most);
                let target = GpuTarget {
                    bytes_per_real: 4,
                    processors,
                    shared_bytes,
                    matmul: Matmul::F32,
                    order,
                    warpgroups: false,
                };
                let source = emit(&separate_buffers(&list), target)
                    .unwrap_or_else(|refused| panic!("{width}: {refused}"))
                    .source;
                assert!(
                    source.contains(says),
                    "{width} columns, {order:?}: no kernel says `{says}`"
                );
            }
            trained_by::<f32>(
                &format!("{name} of {width} columns, {order:?}, {says}"),
                direct,
                &list,
                Some(order),
            );
        }
    }
}

fn weighted(plain: ListInputs) -> ListInputs {
    let weight = Some(signed(37, plain.source.len()));
    ListInputs { weight, ..plain }
}

#[test]
fn rows_one_after_the_other_agree() {
    // As many rows for each processor as keep their order.
    sums_of_many_rows_agree(
        (PLAIN, "sums"),
        (&weighted(many_rows(512)), &[66, 128, 200, 256]),
        (&[Order::Local], "ROWS = 4"),
    );
}

/// With rows of their own that are read before and after.
const OWN: &str = include_str!("../../../../kernels/cuda/tests/near_programs/own.py");

#[test]
fn rows_of_few_edges_agree() {
    // A block has 64 rows of 16 columns and of 32, 32 of 64, 256 of one lane; a processor has eight
    // blocks, or five where lanes have two pieces.
    let (short, wide) = (weighted(many_rows(8 * 64)), weighted(many_rows(5 * 64)));
    let says = "2 edges in flight";
    sums_of_many_rows_agree(
        (PLAIN, "sums"),
        (&short, &[16, 22]),
        (&[Order::Spread, Order::Local], says),
    );
    sums_of_many_rows_agree((PLAIN, "sums"), (&wide, &[32, 47, 64]), (&[Order::Local], says));
    sums_of_many_rows_agree((PLAIN, "sums"), (&wide, &[100]), (&[Order::Spread], says));
    sums_of_many_rows_agree((OWN, "own"), (&short, &[13, 24]), (&[Order::Spread], says));
    sums_of_many_rows_agree((OWN, "own"), (&wide, &[64, 100]), (&[Order::Local], says));
    if !is_brief() {
        sums_of_many_rows_agree(
            (PLAIN, "sums"),
            (&weighted(many_rows(8 * 256)), &[2, 3, 8]),
            (&[Order::Local], says),
        );
    }
}

#[test]
fn narrow_rows_agree() {
    agree(&[5, 7, 22, 39, 47], (MORE, 0.0));
}

#[test]
fn wide_rows_agree() {
    agree(&[100, 121, 130], (MORE, 0.0));
}

#[test]
fn rows_that_are_dropped_agree() {
    agree(&[7, 22, 130], (MORE, 0.4));
}

#[test]
fn rows_that_several_blocks_share_agree() {
    agree(&[22, 64], (MOST, 0.0));
    agree(&[130], (MOST, 0.4));
}
