//! bit_exactness: results without rounding are equal on every device (apart from the sign of 0):
//! minima and maxima with their winners, integers, counts.
//!
//! promises  features, weights, parameters and gradients are small integers, or such over a power
//!           of two, so that every sum is exact in f32 in any order: every buffer of scores, loss
//!           and gradients equals the reference. So do extrema of any floats, sums over a million
//!           edges of one row, and counts of correct answers
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_cuda::epoch_clock::{PARTS, counts_of_part};
use warploom_ir::{Data, Loss};
use warploom_launch::LaunchList;
use warploom_run::{
    precision::Precision,
    resolved_program::{Part, Pass},
    training::metrics::{Measure, MetricInputs},
};

use crate::differential::compare;
use warploom_test_support::graph_inputs::{all_graphs, medley, signed, uniform};
use warploom_test_support::graphs::EdgeList;
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, executor, gpu, is_brief, largest_magnitude, run_part,
    separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

/// Largest and smallest of neighbours each way; gradients go to those that won.
const EXTREMES: &str = "def extremes(v, width=4):
    v.z = v.x * param((width,))
    v.high = max((u.z for u in v.innbs), default=0)
    v.low = min((u.z for u in v.outnbs), default=0)
    v.dear = max((e.w * e.src.z for e in v.inedges), default=0)
    return v.high + 2 * v.low - v.dear
";

/// Neighbours added up, as they are and weighted, and multiplied.
const SUMS: &str = "def sums(v, width=4):
    v.z = v.x * param((width,))
    v.all = sum(u.z for u in v.innbs)
    v.weighted = sum(e.w * e.src.z for e in v.inedges)
    v.h = relu(v.weighted - v.all)
    return linear(v.h, v.classes) + sum(u.z for u in v.outnbs)
";

/// Largest and smallest of what is given; of no neighbour they are infinite.
const GIVEN: &str = "def given(v):
    return max(u.x for u in v.innbs), min(u.x for u in v.innbs), max(u.x for u in v.outnbs), min(u.x for u in v.nbs)
";

/// Sums of rows, of weighted rows, and back along the edges.
const HUB: &str = "def hub(v, width=2):
    v.z = v.x * param((width,))
    return sum(u.z for u in v.innbs) + sum(e.w * e.src.z for e in v.inedges)
";

/// Sums and means of any numbers, as they are and weighted.
const REALS: &str = "def reals(v):
    return sum(u.x for u in v.innbs), mean(u.x for u in v.innbs), sum(e.w * e.src.x for e in v.inedges)
";

/// More than a million.
const MILLION: usize = 1_048_583;

/// A whole number from `-most` to `most`.
fn whole(stream: u32, at: usize, most: i32) -> f64 {
    (uniform(stream, at) * f64::from(2 * most + 1)).floor() - f64::from(most)
}

fn wholes(stream: u32, count: usize, most: i32) -> Vec<f64> {
    (0..count).map(|at| whole(stream, at, most)).collect()
}

/// A graph with whole numbers, as wide as asked for; as many rows are learned by as the largest
/// power of two in half of them.
fn direct(shape: &EdgeList, width: usize) -> ListInputs {
    let (source, target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    let learned = if shape.nodes == 0 { 0 } else { 1 << shape.nodes.div_ceil(2).ilog2() };
    ListInputs {
        nodes: shape.nodes,
        weight: Some(
            (0..source.len()).map(|edge| 1.0 + (uniform(51, edge) * 3.0).floor()).collect(),
        ),
        source,
        target,
        feature_columns: width,
        features: wholes(52, shape.nodes * width, 2),
        labels: vec![0.0; shape.nodes * width],
        training_rows: (0..learned).map(|row| row * 2 % shape.nodes.max(1) as u32).collect(),
        reordered: true,
        ..ListInputs::default()
    }
}

/// Compiled for training, or to be applied.
fn list<T: Precision>(
    text: &str,
    direct: &ListInputs,
    (classes, loss): (usize, Option<Loss>),
) -> LaunchList {
    let known = direct.known(classes as u64, loss.unwrap_or(Loss::MeanSquares));
    let training = loss.is_some();
    let known = Data {
        training,
        inferring: !training,
        lanes: true,
        bytes_per_real: size_of::<T>() as u64,
        ..known
    };
    let name = text.split(['(', ' ']).nth(1).unwrap();
    let settings = if text.contains("width=") {
        BTreeMap::from([("width".to_owned(), direct.feature_columns.into())])
    } else {
        BTreeMap::new()
    };
    compile(text, name, &settings, &known).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).list
}

/// The same with targets so near to the scores that slopes are small, too.
fn near_its_scores(direct: &ListInputs, list: &LaunchList) -> ListInputs {
    let graph = direct.reference_graph();
    let mut reference = direct.reference(list, &graph, &first(list));
    reference.prepare();
    reference.forward();
    let scores = reference.get(&list.results[0].buffer).unwrap();
    ListInputs {
        labels: scores.iter().enumerate().map(|(at, score)| score + whole(53, at, 1)).collect(),
        ..direct.clone()
    }
}

fn set_first<T: Precision>(executor: &mut Executor<T>, list: &LaunchList) {
    let first = first(list);
    let rounded = |name: &str| first[name].iter().map(|value| T::rounded(*value)).collect();
    executor
        .set_parameters(
            &list.parameters.iter().map(|learned| rounded(&learned.name)).collect::<Vec<Vec<T>>>(),
        )
        .unwrap();
}

/// Parameters of 1 and -1.
fn first(list: &LaunchList) -> BTreeMap<String, Vec<f64>> {
    let of = |(number, learned): (usize, &warploom_launch::Parameter)| {
        let count = learned.shape.iter().product::<u64>() as usize;
        (
            learned.name.clone(),
            (0..count)
                .map(|at| if uniform(60 + number as u32, at) < 0.4 { -1.0 } else { 1.0 })
                .collect(),
        )
    };
    list.parameters.iter().enumerate().map(of).collect()
}

/// Every buffer of scores, loss and gradients, without a bound.
fn exactly<T: Precision>(what: &str, text: &str, direct: &ListInputs) {
    let list = separate_buffers(&list::<T>(
        text,
        direct,
        (direct.feature_columns, Some(Loss::MeanSquares)),
    ));
    let direct = near_its_scores(direct, &list);
    let graph = direct.reference_graph();
    let mut reference = direct.reference(&list, &graph, &first(&list));
    reference.prepare();
    reference.forward();
    reference.loss();
    reference.backward();
    let mut executor = executor::<T>(&list, direct.data(&list), 0);
    set_first(&mut executor, &list);
    for part in [Part::Prepare, Part::Forward, Part::Loss, Part::Backward] {
        run_part(&mut executor, &list, part, Pass { epoch: 0, training: true });
    }
    for buffer in &list.buffers {
        let fits = |value: &f64| !value.is_finite() || f64::from(*value as f32) == *value;
        let odd =
            reference.get(&buffer.name).and_then(|values| values.iter().find(|value| !fits(value)));
        assert!(odd.is_none(), "{what}: {} has {odd:?}, which rounding takes part in", buffer.name);
    }
    compare(what, 0.0, (&list, &executor, &reference));
}

/// Few widths where that is asked for, and on a CPU, whose kernels are made for none in particular.
fn some<'a>(few: &'a [usize], all: &'a [usize]) -> &'a [usize] {
    if is_brief() || gpu().is_none() { few } else { all }
}

fn shapes() -> Vec<EdgeList> {
    if is_brief() { vec![medley()] } else { all_graphs().into_iter().chain([medley()]).collect() }
}

#[test]
fn extrema_and_their_gradients_are_exact() {
    for shape in shapes() {
        for &width in some(&[4, 64], &[1, 2, 4, 8, 32, 64, 128]) {
            let direct = direct(&shape, width);
            exactly::<f32>(&format!("extremes of {width} on `{}`", shape.name), EXTREMES, &direct);
            if !is_brief() {
                exactly::<f64>(
                    &format!("extremes of {width} on `{}`", shape.name),
                    EXTREMES,
                    &direct,
                );
            }
        }
    }
}

#[test]
fn sums_and_products_of_whole_numbers_are_exact() {
    for shape in shapes() {
        for &width in some(&[4, 64], &[1, 2, 4, 8, 32, 64, 128]) {
            let direct = direct(&shape, width);
            exactly::<f32>(&format!("sums of {width} on `{}`", shape.name), SUMS, &direct);
            if !is_brief() {
                exactly::<f64>(&format!("sums of {width} on `{}`", shape.name), SUMS, &direct);
            }
        }
    }
}

/// What is largest is one of them, whatever they are: nothing is rounded. Some are alike, and some
/// infinite.
#[test]
fn extrema_of_any_numbers_are_exact() {
    for shape in shapes() {
        for &width in some(&[3, 33], &[1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 128, 256, 602]) {
            let value = |(at, value): (usize, f64)| match uniform(55, at) {
                chance if chance < 0.02 => f64::INFINITY,
                chance if chance < 0.04 => f64::NEG_INFINITY,
                chance if chance < 0.3 => (3.0 * value).round() + 0.0,
                _ => f64::from(value as f32),
            };
            let features =
                signed(54, shape.nodes * width).into_iter().enumerate().map(value).collect();
            let direct = ListInputs { features, ..direct(&shape, width) };
            let list = separate_buffers(&list::<f32>(GIVEN, &direct, (0, None)));
            let graph = direct.reference_graph();
            let mut reference = direct.reference(&list, &graph, &BTreeMap::new());
            reference.prepare();
            let mut executor = executor::<f32>(&list, direct.data(&list), 0);
            run_part(&mut executor, &list, Part::Finish, Pass { epoch: 0, training: false });
            let results: Vec<Vec<f64>> = list
                .results
                .iter()
                .map(|result| buffer_values(&executor, &list, &result.buffer).unwrap())
                .collect();
            assert!(
                results.iter().all(|values| values.len() == shape.nodes * width),
                "extrema of {width} on `{}`",
                shape.name
            );
            compare(
                &format!("extrema of any numbers, {width} on `{}`", shape.name),
                0.0,
                (&list, &executor, &reference),
            );
        }
    }
}

/// A vertex with more than a million edges, and some with few. A GPU has as many vertices, each of
/// which is seen; else few are enough.
fn hub() -> EdgeList {
    let nodes = if gpu().is_some() && !is_brief() { MILLION + 8 } else { 1000 };
    let to_hub = (0..MILLION).map(|edge| ((edge * 7 % nodes) as u32, 5));
    let others = (0..3000).map(|edge| ((edge * 11 % nodes) as u32, (edge % 97) as u32));
    let out = (0..500).map(|edge| (5, (edge * 3 % nodes) as u32));
    EdgeList { name: "hub of a million", nodes, edges: to_hub.chain(others).chain(out).collect() }
}

/// Features of -1, 0 and 1: no sum of the hub reaches 2^24, whatever the order.
fn of_hub(width: usize) -> ListInputs {
    let shape = hub();
    let plain = direct(&shape, width);
    let degree = plain.target.iter().filter(|target| **target == 5).count();
    assert!(degree > 1_000_000, "{degree}");
    ListInputs {
        features: wholes(52, shape.nodes * width, 1),
        training_rows: vec![0, 5, 6, 96],
        ..plain
    }
}

#[test]
fn sums_over_a_million_edges_are_exact() {
    for &width in some(&[2], &[1, 2, 4, 16]) {
        exactly::<f32>(&format!("sums of {width} over a million edges"), HUB, &of_hub(width));
        exactly::<f32>(
            &format!("extrema of {width} over a million edges"),
            EXTREMES,
            &of_hub(width),
        );
    }
}

/// How far a sum may be from what its terms add up to, relative to these without their signs: a CPU
/// adds one after the other, a GPU by pieces.
fn apart_in_f32() -> f64 {
    if gpu().is_some() { 1e-6 } else { 3e-5 }
}

#[test]
fn sums_of_any_numbers_over_a_million_edges_are_near() {
    for &width in some(&[3], &[1, 3, 16]) {
        let plain = of_hub(width);
        let weight = Some(signed(56, plain.source.len()));
        let direct = ListInputs { features: signed(57, plain.features.len()), weight, ..plain };
        let list = list::<f32>(REALS, &direct, (0, None));
        let sizes = |values: &[f64]| values.iter().map(|value| value.abs()).collect::<Vec<f64>>();
        let unsigned = ListInputs {
            features: sizes(&direct.features),
            weight: direct.weight.as_deref().map(sizes),
            ..direct.clone()
        };
        let graph = [&direct, &unsigned].map(ListInputs::reference_graph);
        let [mut reference, mut sizes] = [(&direct, &graph[0]), (&unsigned, &graph[1])]
            .map(|(direct, graph)| direct.reference(&list, graph, &BTreeMap::new()));
        reference.prepare();
        sizes.prepare();
        let mut executor = executor::<f32>(&list, direct.data(&list), 0);
        run_part(&mut executor, &list, Part::Finish, Pass { epoch: 0, training: false });
        let mut furthest = 0.0f64;
        for result in &list.results {
            let got = buffer_values(&executor, &list, &result.buffer).unwrap();
            let (want, size) =
                (reference.get(&result.buffer).unwrap(), sizes.get(&result.buffer).unwrap());
            assert_eq!(got.len(), want.len(), "{}", result.name);
            for (place, ((got, want), size)) in got.iter().zip(want).zip(size).enumerate() {
                furthest = furthest.max((got - want).abs() / size.max(f64::MIN_POSITIVE));
                let is_near = (got - want).abs() <= apart_in_f32() * size;
                assert!(
                    is_near,
                    "{width} columns over a million edges: {}[{place}]: got {got:e}, want {want:e} \
                     of {size:e}",
                    result.name
                );
            }
        }
        println!("sums of {width} columns over a million edges: at most {furthest:.1e} apart");
    }
}

/// The first of the largest.
fn answer(scores: &[f64]) -> usize {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|score| *score == largest).unwrap()
}

/// What a GPU counts, by the scores of the reference, as `counts_of_part` lists it.
fn counted(
    scores: &[f64],
    labels: &[f64],
    (columns, rows): (usize, &[Vec<u32>; PARTS]),
) -> Vec<u32> {
    let of_rows = |rows: &Vec<u32>| {
        let mut counts = vec![0; counts_of_part(Loss::CrossEntropy, columns as u64)];
        for row in rows.iter().map(|row| *row as usize) {
            let own = &scores[row * columns..(row + 1) * columns];
            let answer = answer(own);
            let (wanted, right) = (labels[row] as usize, u32::from(answer == labels[row] as usize));
            counts[0] += right;
            counts[1 + 3 * wanted] += right;
            counts[2 + 3 * answer] += 1;
            counts[3 + 3 * wanted] += 1;
        }
        counts
    };
    rows.iter().flat_map(of_rows).collect()
}

/// Rows that are not learned by, in turn to validate and to test.
fn split_rest(splits: &mut [Vec<u32>; 3], nodes: u32) {
    let rest: Vec<u32> = (0..nodes).filter(|row| !splits[0].contains(row)).collect();
    splits[1] = rest.iter().copied().step_by(2).collect();
    splits[2] = rest.iter().copied().skip(1).step_by(2).collect();
}

/// Scores of whole numbers, many alike: the first of the largest is the answer. Every measure of
/// every part, from counts that are whole.
fn counts_agree((name, settings): (&str, &str), shape: &EdgeList, columns: usize) {
    let plain = ListInputs {
        labels: vec![0.0; shape.nodes],
        weight: None,
        reordered: false,
        ..direct(shape, 4)
    };
    let known = Data { lanes: true, ..plain.known(columns as u64, Loss::CrossEntropy) };
    let list = separate_buffers(
        &compile(&program_text(name), name, &serde_json::from_str(settings).unwrap(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
            .list,
    );
    let graph = plain.reference_graph();
    let mut reference = plain.reference(&list, &graph, &first(&list));
    reference.prepare();
    reference.forward();
    let want = reference.get(&list.results[0].buffer).unwrap();
    // A third of the rows has the class that is answered.
    let class = |node: usize| match node % 3 {
        0 => answer(&want[node * columns..(node + 1) * columns]) as f64,
        _ => (uniform(58, node) * columns as f64).floor(),
    };
    let direct = ListInputs { labels: (0..shape.nodes).map(class).collect(), ..plain.clone() };
    let mut data = direct.data::<f32>(&list);
    split_rest(&mut data.splits, shape.nodes as u32);
    let splits = data.splits.clone();
    let mut executor = executor::<f32>(&list, data, 0);
    set_first(&mut executor, &list);
    let pass = Pass { epoch: 0, training: false };
    [Part::Prepare, Part::Forward, Part::Loss]
        .into_iter()
        .for_each(|part| run_part(&mut executor, &list, part, pass));
    let what = format!("{name} {settings}, {columns} classes on `{}`", shape.name);
    let scores = buffer_values(&executor, &list, &list.results[0].buffer).unwrap();
    assert!(
        largest_magnitude(want) > 1.0 && want.iter().all(|score| score.fract() == 0.0),
        "{what}: whole scores"
    );
    assert_eq!(scores, want, "{what}: scores");
    let expected = counted(want, &direct.labels, (columns, &splits));
    let rows = splits.each_ref().map(Vec::len);
    let scores: Vec<f32> = scores.iter().map(|score| *score as f32).collect();
    let target: Vec<f32> = direct.labels.iter().map(|label| *label as f32).collect();
    let compared =
        MetricInputs { result: &scores, target: &target, columns, kind: Loss::CrossEntropy };
    let by_scores = splits.each_ref().map(|rows| Measure::Accuracy.evaluate(compared, rows));
    assert_eq!(
        Measure::Accuracy.evaluate_counts(&expected, Loss::CrossEntropy, columns, rows),
        by_scores,
        "{what}: the CPU's accuracy"
    );
    assert!(
        by_scores.iter().flatten().any(|share| *share > 0.0 && *share < 1.0),
        "{what}: some are right"
    );
    if let Some(gpu) = executor.counts().unwrap() {
        assert_eq!(gpu, expected, "{what}: counts of the GPU");
    }
}

#[test]
fn answers_and_counts_are_exact() {
    for &columns in some(&[3, 40], &[2, 3, 7, 22, 40, 64, 121, 257]) {
        for model in [
            ("sage_max", r#"{"hidden": 5, "drop": 0.0}"#),
            ("gin", r#"{"hidden": 4, "layers": 1, "drop": 0.0}"#),
        ] {
            counts_agree(model, &medley(), columns);
        }
    }
}
