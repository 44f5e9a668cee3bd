//! differential: the executor against the reference, buffer by buffer.
//!
//! promises  gcn, sage, pagerank, components and common neighbours, on every degenerate graph and
//!           on random ones, in both types, with and without dropout: every buffer after every part
//!           of the list, and parameters after three steps; what is counted exactly
use std::collections::BTreeMap;

use proptest::prelude::*;
use rayon::prelude::*;
use serde_json::json;
use warploom_compiler::compile;
use warploom_contract::progress::StopFlag;
use warploom_cpu::optimizer::{Adam, Optimizer};
use warploom_cpu::random::dropout::{DrawContext, Drops};
use warploom_ir::{Loss, interpret};
use warploom_launch::reference::{self, Draw, Reference};
use warploom_launch::{Body, Buffer, Dropout, Element, LaunchList};
use warploom_run::{
    backend::{Change, LoopEnd},
    parameters,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use warploom_test_support::graph_inputs::{all_graphs, random, signed, uniform};
use warploom_test_support::graphs::EdgeList;
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, executor, first_difference, gpu, is_brief,
    largest_magnitude, run_part, separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

/// Of parameters and dropout.
pub const SEED: u64 = 7;
pub const CLASSES: u64 = 3;
const FEATURES: usize = 6;

/// Whether edges have weights, features are sparse, and the executor's graph is renumbered.
pub type Choice = (bool, bool, bool);
/// Each with each.
pub const CHOICES: [Choice; 4] =
    [(false, false, false), (true, false, true), (false, true, true), (true, true, false)];

/// What a program reads on this graph.
fn direct(shape: &EdgeList, choice: Choice, loss: Loss) -> ListInputs {
    direct_of(shape, (choice, FEATURES), loss)
}

/// The same with so many features.
pub fn direct_of(
    shape: &EdgeList,
    ((weighted, sparse, reordered), columns): (Choice, usize),
    loss: Loss,
) -> ListInputs {
    let (source, target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    let mut features = signed(1, shape.nodes * columns);
    if sparse {
        features
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| uniform(2, *at) < 0.7)
            .for_each(|(_, value)| *value = 0.0);
    }
    let labels = match loss {
        Loss::CrossEntropy => {
            (0..shape.nodes).map(|node| (uniform(3, node) * CLASSES as f64).floor()).collect()
        }
        Loss::MeanSquares | Loss::Binary => signed(3, shape.nodes * CLASSES as usize),
    };
    ListInputs {
        nodes: shape.nodes,
        weight: weighted.then(|| (0..source.len()).map(|edge| 0.1 + uniform(4, edge)).collect()),
        source,
        target,
        feature_columns: columns,
        features,
        is_sparse: sparse,
        labels,
        training_rows: (0..shape.nodes as u32).filter(|row| row % 3 != 1).collect(),
        reordered,
        ..ListInputs::default()
    }
}

/// What a run draws in this epoch.
pub fn draw(epoch: u32) -> Draw {
    Box::new(move |dropout: Dropout, row: u64, column: u64| {
        let context = DrawContext { seed: SEED, epoch, active: true, row_in_graph: None };
        match Drops::new(dropout, &context) {
            Some(drops) if drops.keeps(row as u32, column as usize) => drops.scale(),
            Some(_) => 0.0,
            None => 1.0,
        }
    })
}

/// How far rounding takes the types apart before the first step: a hub adds thousands of numbers
/// one after the other.
pub fn rounding<T: Precision>() -> f64 {
    if T::NAME == "f64" { 1e-11 } else { 2e-4 }
}

/// How far after it.
const STEPPED: f64 = 1e-10;
/// What Adam adds to the root of the second moment: with less, gradients that are 0 but for
/// rounding become steps either way, a hundred thousand times as large as they are.
const EPSILON: f64 = 1e-3;

/// Every buffer that both have.
pub fn compare<T: Precision>(
    what: &str,
    tolerance: f64,
    of: (&LaunchList, &Executor<T>, &Reference),
) {
    compare_those(what, tolerance, of, |_| true);
}

/// The same of some of them.
fn compare_those<T: Precision>(
    what: &str,
    tolerance: f64,
    (list, executor, reference): (&LaunchList, &Executor<T>, &Reference),
    is_wanted: impl Fn(&Buffer) -> bool,
) {
    for buffer in list.buffers.iter().filter(|buffer| !buffer.role.is_sparse() && is_wanted(buffer))
    {
        if !executor.stores_buffer(&buffer.name) {
            continue;
        }
        let got = buffer_values(executor, list, &buffer.name).unwrap();
        let want = reference.get(&buffer.name).unwrap();
        // The reference fills with NaN what nobody has written yet.
        if want.iter().all(|value| value.is_nan()) {
            continue;
        }
        if let Some(apart) =
            first_difference(&got, want, tolerance * largest_magnitude(want).max(1e-2))
        {
            panic!("{what} ({}): {}{apart}", T::NAME, buffer.name);
        }
    }
}

/// Compares a training, and that buffers which share memory change nothing.
pub fn train<T: Precision>(what: &str, direct: &ListInputs, list: &LaunchList) {
    let initial: Vec<Vec<f64>> =
        parameters::initial_parameters(list, &RunSpec { seed: SEED, ..RunSpec::default() }, None)
            .unwrap();
    let named: BTreeMap<String, Vec<f64>> = list
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .zip(initial.iter().cloned())
        .collect();
    let graph = direct.reference_graph();
    let reference = direct.reference(list, &graph, &named);
    let apart = separate_buffers(list);
    stepped(what, &apart, executor::<T>(&apart, direct.data(list), SEED), reference, &initial);
    assert!(list.arena.bytes <= apart.arena.bytes);
    let bits = |list: &LaunchList| {
        trained_bits(list, executor::<T>(list, direct.data(list), SEED), &initial)
    };
    assert!(
        bits(list) == bits(&apart),
        "{what} ({}): buffers that share memory change the bits",
        T::NAME
    );
}

/// Scores after each measurement, and the parameters at the end, of four epochs as a run makes
/// them.
fn trained_bits<T: Precision>(
    list: &LaunchList,
    mut executor: Executor<T>,
    initial: &[Vec<f64>],
) -> Vec<Vec<u64>> {
    executor
        .set_parameters(
            &initial
                .iter()
                .map(|values| values.iter().map(|&value| T::rounded(value)).collect())
                .collect::<Vec<Vec<T>>>(),
        )
        .unwrap();
    executor.set_optimizers(vec![Optimizer::Adam(Adam::default()); initial.len()]).unwrap();
    let Body::Train(train) = &list.body else { panic!("trains") };
    let bits =
        |values: &[T]| values.iter().map(|value| value.widened().to_bits()).collect::<Vec<u64>>();
    let result = &list.results[0].buffer;
    let mut seen = Vec::new();
    executor.run(Part::Prepare, Pass { epoch: 0, training: false }, &StopFlag::new()).unwrap();
    for epoch in 0..4 {
        for training in [false, true] {
            let pass = Pass { epoch, training };
            let mut run = |part: Part| executor.run(part, pass, &StopFlag::new()).unwrap();
            if !training || train.draws {
                run(Part::Forward);
                run(Part::Loss);
            }
            if training {
                for part in [Part::Backward, Part::Update] {
                    run(part);
                }
                executor.keep_statistics().unwrap();
            } else {
                executor.fetch_results().unwrap();
                seen.push(bits(&executor.host().real_elements(result).unwrap()));
            }
        }
    }
    // What is kept is measured once more, without a loss.
    executor.run(Part::Forward, Pass { epoch: 4, training: false }, &StopFlag::new()).unwrap();
    executor.fetch_results().unwrap();
    executor.fetch_state().unwrap();
    seen.push(bits(&executor.host().real_elements(result).unwrap()));
    seen.extend(executor.host().parameters().iter().map(|parameter| bits(parameter)));
    seen
}

/// Three epochs of both, from the same parameters; `SEED` is the executor's.
pub fn stepped<T: Precision>(
    what: &str,
    list: &LaunchList,
    mut executor: Executor<T>,
    mut reference: Reference,
    initial: &[Vec<f64>],
) {
    executor
        .set_parameters(
            &initial
                .iter()
                .map(|values| values.iter().map(|&value| T::rounded(value)).collect())
                .collect::<Vec<Vec<T>>>(),
        )
        .unwrap();
    let adam = Adam { rate: 0.01, weight_decay: 1e-3, epsilon: EPSILON, ..Adam::default() };
    executor.set_optimizers(vec![Optimizer::Adam(adam); initial.len()]).unwrap();
    let of_reference = interpret::Adam {
        learning_rate: adam.rate,
        beta1: adam.beta_first,
        beta2: adam.beta_second,
        epsilon: adam.epsilon,
        weight_decay: adam.weight_decay,
    };
    let Body::Train(train) = &list.body else { panic!("{what} trains") };
    reference.prepare();
    run_part(&mut executor, list, Part::Prepare, Pass { epoch: 0, training: false });
    compare(what, rounding::<T>(), (list, &executor, &reference));
    for epoch in 0..3u32 {
        let tolerance = if epoch == 0 { rounding::<T>() } else { STEPPED };
        for training in [false, true] {
            if !training && !train.draws {
                continue;
            }
            let pass = Pass { epoch: u64::from(epoch), training };
            let go = |executor: &mut _, part| run_part(executor, list, part, pass);
            reference.set_draw(training.then(|| draw(epoch)));
            reference.forward();
            reference.loss();
            go(&mut executor, Part::Forward);
            go(&mut executor, Part::Loss);
            // The loss may make some of what the backward part makes already: that is looked at
            // when all of it is there.
            let is_there = |buffer: &Buffer| {
                !train
                    .backward
                    .iter()
                    .any(|launch| launch.operation.writes().iter().any(|name| *name == buffer.name))
            };
            compare_those(
                &format!("{what}, epoch {epoch}, forward"),
                tolerance,
                (list, &executor, &reference),
                is_there,
            );
            if training {
                reference.backward();
                go(&mut executor, Part::Backward);
                compare(
                    &format!("{what}, epoch {epoch}, backward"),
                    tolerance,
                    (list, &executor, &reference),
                );
                reference.update(&of_reference);
                go(&mut executor, Part::Update);
                executor.keep_statistics().unwrap();
            }
        }
        // In f32 noise is larger than what Adam adds to the root: steps are compared in f64.
        if T::NAME == "f32" {
            return;
        }
    }
}

fn list(program: &str, direct: &ListInputs, drop: f64, loss: Loss) -> LaunchList {
    let settings =
        BTreeMap::from([("hidden".to_owned(), json!(5)), ("drop".to_owned(), json!(drop))]);
    compile(&program_text(program), program, &settings, &direct.known(CLASSES, loss))
        .unwrap_or_else(|wrong| panic!("{program}: {wrong:?}"))
        .list
}

fn trained(shape: &EdgeList, choice: Choice, drops: &[f64]) {
    for (program, loss) in [("gcn", Loss::CrossEntropy), ("sage", Loss::MeanSquares)] {
        let direct = direct(shape, choice, loss);
        for &drop in drops {
            let list = list(program, &direct, drop, loss);
            let what = format!(
                "{program} on `{}`, weighted, sparse, reordered {choice:?}, drop {drop}",
                shape.name
            );
            train::<f64>(&what, &direct, &list);
            train::<f32>(&what, &direct, &list);
        }
    }
}

fn iterated<T: Precision>(shape: &EdgeList, program: &str, reordered: bool) {
    let what = format!("{program} on `{}`, reordered {reordered} ({})", shape.name, T::NAME);
    let direct = direct(shape, (false, false, reordered), Loss::CrossEntropy);
    let known = warploom_ir::Data {
        features: None,
        target: None,
        training: false,
        ..direct.known(CLASSES, Loss::CrossEntropy)
    };
    let list = compile(&program_text(program), program, &BTreeMap::new(), &known)
        .unwrap_or_else(|wrong| panic!("{program}: {wrong:?}"))
        .list;
    let graph = direct.reference_graph();
    let mut reference = Reference::new(&list, &graph, reference::Inputs::default()).unwrap();
    let mut shared = executor::<T>(&list, direct.data(&list), SEED);
    let list = separate_buffers(&list);
    let mut apart = executor::<T>(&list, direct.data(&list), SEED);
    let pass = Pass { epoch: 0, training: false };
    reference.prepare();
    for executor in [&mut apart, &mut shared] {
        executor.run(Part::Before(0), pass, &StopFlag::new()).unwrap();
        executor.device_loops().into_iter().for_each(|loops| loops.begin_loop(0).unwrap());
    }
    for superstep in 0..6 {
        let expected = reference.superstep();
        let (change, end) = advance(&mut apart, &list);
        assert_eq!(
            advance(&mut shared, &list),
            (change, end),
            "{what}: change of superstep {superstep} where buffers share memory"
        );
        let result = &list.results[0].buffer;
        assert!(
            buffer_values(&shared, &list, result) == buffer_values(&apart, &list, result),
            "{what}: {result} after superstep {superstep} where buffers share memory"
        );
        // A device copies a new value, and the reference exchanges both.
        let commits = &list.loops()[0].commit;
        let is_exchanged = |buffer: &Buffer| commits.iter().any(|made| made.next == buffer.name);
        compare_those(
            &format!("{what}, superstep {superstep}"),
            rounding::<T>(),
            (&list, &apart, &reference),
            |buffer| end.is_none() || !is_exchanged(buffer),
        );
        if program == "components" {
            assert_eq!(
                change.changed, expected.changed,
                "{what}: values changed in superstep {superstep}"
            );
        } else {
            assert!(
                (change.summed - expected.summed).abs() < 2e-4,
                "{what}: {change:?}, expected {expected:?}"
            );
        }
        if end.is_some_and(|end| end != LoopEnd::Running) {
            return;
        }
    }
}

/// Common neighbours, summed over edges in and out, and counted edge by edge.
const COUNTED: [(&str, &str); 3] = [
    ("before", "    return sum(common_neighbors(u, v) for u in v.innbs)"),
    ("after", "    return sum(common_neighbors(u, v) for u in v.outnbs)"),
    (
        "spread",
        "    v.near = sum(common_neighbors(u, v) * u.indegree for u in v.innbs)
    v.far = sum(common_neighbors(u, v) * u.outdegree for u in v.outnbs)
    return v.near, v.far",
    ),
];

/// Where the graph is renumbered its edges have types, by which its csr then lists them.
fn counted<T: Precision>(shape: &EdgeList, reordered: bool) {
    let mut direct = direct(shape, (false, false, reordered), Loss::CrossEntropy);
    if reordered {
        direct.relation = (0..direct.source.len()).map(|edge| (edge % 3) as u32).collect();
    }
    let known = warploom_ir::Data {
        features: None,
        target: None,
        training: false,
        ..direct.known(CLASSES, Loss::CrossEntropy)
    };
    for (entry, body) in COUNTED {
        let text = format!("def {entry}(v):\n{body}\n");
        let list = compile(&text, entry, &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{entry}: {wrong:?}"))
            .list;
        let graph = direct.reference_graph();
        let mut reference = direct.reference(&list, &graph, &BTreeMap::new());
        reference.prepare();
        let list = separate_buffers(&list);
        let mut executor = executor::<T>(&list, direct.data(&list), SEED);
        run_part(&mut executor, &list, Part::Finish, Pass { epoch: 0, training: false });
        let what = format!("{entry} on `{}`, reordered {reordered}", shape.name);
        let of = (&list, &executor, &reference);
        compare_those(&what, 0.0, of, |buffer| buffer.element != Element::Real);
    }
}

/// Does a superstep; gives its change and, where the device tests the condition, whether it is met.
fn advance<T: Precision>(
    executor: &mut Executor<T>,
    list: &LaunchList,
) -> (Change, Option<LoopEnd>) {
    if let Some(loops) = executor.device_loops() {
        let ran = loops.run_supersteps(0, 1).unwrap();
        assert_eq!(ran.done, 1);
        executor.fetch_all(list).unwrap();
        return (ran.change, Some(ran.end));
    }
    let pass = Pass { epoch: 0, training: false };
    executor.run(Part::Superstep(0), pass, &StopFlag::new()).unwrap();
    let loops = executor.supersteps().unwrap();
    let change = loops.measure_change(0, None);
    loops.commit(0);
    (change, None)
}

#[test]
fn training_agrees_on_degenerate_graphs() {
    // What is dropped is measured without dropout too.
    let all = [0.0, 0.4];
    let drops = if gpu().is_some() { &all[1..] } else { &all };
    let (graphs, choices) = (all_graphs(), if is_brief() { &CHOICES[2..3] } else { &CHOICES });
    let work: Vec<(&EdgeList, Choice)> = graphs
        .iter()
        .flat_map(|shape| choices.iter().map(move |choice| (shape, *choice)))
        .collect();
    work.into_par_iter().for_each(|(shape, choice)| trained(shape, choice, drops));
}

#[test]
fn iterations_agree_on_degenerate_graphs() {
    for shape in all_graphs() {
        for program in ["pagerank", "components"] {
            for reordered in [false, true] {
                iterated::<f32>(&shape, program, reordered);
                iterated::<f64>(&shape, program, reordered);
            }
        }
        counted::<f32>(&shape, false);
        counted::<f64>(&shape, true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_agree_on_random_graphs(nodes in 1usize..200, degree in 0usize..12, stream in 10u32..1_000_000, bits in 0u32..8) {
        let shape = random("random", nodes, nodes * degree, stream);
        let choice = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
        let direct = direct(&shape, choice, Loss::CrossEntropy);
        for program in ["gcn", "sage"] {
            let list = list(program, &direct, 0.3, Loss::CrossEntropy);
            train::<f64>(&format!("{program} on {nodes} nodes of degree {degree}, stream {stream}, \
                {choice:?}"), &direct, &list);
        }
        iterated::<f64>(&shape, "pagerank", choice.2);
        iterated::<f32>(&shape, "components", choice.2);
        counted::<f32>(&shape, choice.2);
    }
}
