//! random_programs: programs put together by chance, against the reference, buffer by buffer, on
//! the device that is asked for.
//!
//! promises  the same programs every time, `WARPLOOM_TEST_PROGRAMS` of them (or those from one
//!           number to another: `7..8`); every buffer of a pass that measures and of one that
//!           draws, gradients included, or of a program that is computed once, on small graphs and
//!           on some with a hub. What a GPU has no kernel for is counted and said
//! limits    in f32 a buffer may be as far away as a few times what f32 moves it on the CPU

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;
use warploom_cuda::{GpuTarget, Matmul, Order, emit};
use warploom_device::Capability;
use warploom_ir::Data;
use warploom_ir::interpret::ElementRows;
use warploom_launch::fuse::fuse;
use warploom_launch::lower::lower;
use warploom_launch::reference::Reference;
use warploom_launch::{Body, GraphFacts, LaunchList};
use warploom_optimize::autodiff::{differentiate, parameters as learned};
use warploom_optimize::passes::clean;
use warploom_run::{
    parameters,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use crate::differential::{SEED, draw, rounding};
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, cpu_executor, executor, first_difference, gpu, is_brief,
    largest_magnitude, run_part, separate_buffers,
};
use warploom_test_support::random_programs::{Extent, RandomProgram, SMALL, random_program};
use warploom_test_support::skips::skipped;

/// How many programs, or which.
const PROGRAMS: &str = "WARPLOOM_TEST_PROGRAMS";
/// Graphs that take turns.
pub const EXTENTS: [Extent; 3] = [
    SMALL,
    Extent { nodes: 40, edges: 300, hub: None },
    Extent { nodes: 100, edges: 1500, hub: Some(3) },
];
/// Larger numbers leave nothing to compare.
pub const LARGEST: f64 = 1e4;
/// How often as far as on the CPU a buffer of f32 may be.
pub const TIMES: f64 = 8.0;

/// By buffer, after a pass of measuring and one of training; of a program that is computed once,
/// after that.
type Made = Vec<BTreeMap<String, Vec<f64>>>;

fn programs() -> Range<u64> {
    let Ok(asked) = std::env::var(PROGRAMS) else { return 0..if is_brief() { 6 } else { 60 } };
    let number = |text: &str| {
        text.parse().unwrap_or_else(|_| {
            panic!("{PROGRAMS} is a number, or two with `..` between, found `{asked}`")
        })
    };
    asked
        .split_once("..")
        .map_or_else(|| 0..number(&asked), |(first, end)| number(first)..number(end))
}

fn reals(rows: &Option<ElementRows>) -> Vec<f64> {
    rows.as_ref().map_or_else(Vec::new, |rows| rows.values.reals())
}

pub fn direct(case: &RandomProgram, reordered: bool) -> ListInputs {
    let (data, world) = (&case.data, &case.world);
    ListInputs {
        nodes: world.nodes,
        source: world.source.clone(),
        target: world.target.clone(),
        weight: world.weight.clone(),
        relation: world.edge_type.clone(),
        edge_columns: data.edge_features as usize,
        edge_features: reals(&world.edge_features),
        feature_columns: data.features.unwrap_or(0) as usize,
        features: reals(&world.features),
        is_sparse: data.sparse_features.is_some(),
        graph_of_node: world.graph_of_node.clone(),
        graphs: world.graphs,
        labels_of_nodes: !data.many_graphs || data.labels_of_nodes,
        columns: world
            .columns
            .iter()
            .map(|(name, rows)| (name.clone(), rows.values.reals()))
            .collect(),
        kind_of_node: world.kind_of_node.clone(),
        features_of_kind: world
            .features_of_kind
            .iter()
            .map(|(kind, rows)| (*kind, rows.values.reals()))
            .collect(),
        labels: reals(&world.targets),
        training_rows: world.training_rows.clone(),
        reordered,
    }
}

/// The list of a case, as a plan has it; none where there is none, or where it goes in supersteps.
fn list(case: &RandomProgram) -> Option<LaunchList> {
    let data = Data { training: case.gir.loss.is_some(), ..case.data.clone() };
    let mut gir = clean(case.gir.clone(), &data).0;
    if gir.loss.is_some() {
        let by = learned(&gir);
        gir = clean(differentiate(gir, &data, &by).ok()?, &data).0;
    }
    let list = fuse(&lower(&gir, &data).ok()?, &GraphFacts::from_data(&data));
    let goes_on = matches!(&list.body, Body::Iterate(iterate) if !iterate.loops.is_empty());
    (!goes_on).then_some(list)
}

fn all_of(list: &LaunchList, of: impl Fn(&str) -> Option<Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
    let buffers = list.buffers.iter().filter(|buffer| !buffer.role.is_sparse());
    buffers.filter_map(|buffer| Some((buffer.name.clone(), of(&buffer.name)?))).collect()
}

/// What the reference makes.
fn wanted(list: &LaunchList, mut reference: Reference) -> Made {
    reference.prepare();
    let all = |reference: &Reference| all_of(list, |name| reference.get(name).map(<[f64]>::to_vec));
    if matches!(list.body, Body::Iterate(_)) {
        return vec![all(&reference)];
    }
    let passes = [false, true].map(|training| {
        reference.set_draw(training.then(|| draw(0)));
        reference.forward();
        reference.loss();
        if training {
            reference.backward();
        }
        all(&reference)
    });
    passes.into()
}

/// What an executor makes.
fn made<T: Precision>(list: &LaunchList, mut executor: Executor<T>, initial: &[Vec<f64>]) -> Made {
    executor
        .set_parameters(
            &initial
                .iter()
                .map(|values| values.iter().map(|&value| T::rounded(value)).collect())
                .collect::<Vec<Vec<T>>>(),
        )
        .unwrap();
    if matches!(list.body, Body::Iterate(_)) {
        run_part(&mut executor, list, Part::Finish, Pass { epoch: 0, training: false });
        return vec![all_of(list, |name| {
            executor.stores_buffer(name).then(|| buffer_values(&executor, list, name)).flatten()
        })];
    }
    run_part(&mut executor, list, Part::Prepare, Pass { epoch: 0, training: false });
    let passes = [false, true].map(|training| {
        let parts = [Part::Forward, Part::Loss, Part::Backward];
        parts
            .into_iter()
            .take(if training { 3 } else { 2 })
            .for_each(|part| run_part(&mut executor, list, part, Pass { epoch: 0, training }));
        all_of(list, |name| {
            executor.stores_buffer(name).then(|| buffer_values(&executor, list, name)).flatten()
        })
    });
    passes.into()
}

/// Where a buffer is further away than rounding takes it, if one is.
fn apart_at<T: Precision>(
    (wanted, found, beside): (&Made, &Made, Option<&Made>),
) -> Option<String> {
    for (pass, wanted) in wanted.iter().enumerate() {
        for (name, wanted) in
            wanted.iter().filter(|(_, wanted)| !wanted.iter().all(|value| value.is_nan()))
        {
            let Some(found) = found[pass].get(name) else { continue };
            let off = beside.map_or(0.0, |beside| furthest(&beside[pass][name], wanted));
            let bound = (rounding::<T>() * largest_magnitude(wanted).max(1e-2)).max(TIMES * off);
            if let Some(apart) = first_difference(found, wanted, bound) {
                return Some(format!("pass {pass}: {name}{apart}"));
            }
        }
    }
    None
}

fn furthest(found: &[f64], wanted: &[f64]) -> f64 {
    found
        .iter()
        .zip(wanted)
        .map(|(found, wanted)| (found - wanted).abs())
        .filter(|off| off.is_finite())
        .fold(0.0, f64::max)
}

/// What came of a program.
enum Came {
    Compared,
    /// There is no list, or nothing to compare.
    Nothing,
    /// A GPU has no kernel for this.
    Refused(String),
}

fn compare<T: Precision>(seed: u64) -> Came {
    let mut case =
        random_program(seed, 1 + (seed % 24) as usize, true, EXTENTS[(seed % 3) as usize]);
    case.data.kinds[0].sparse_features =
        seed.is_multiple_of(5).then_some(case.data.kinds[0].nodes * 3);
    case.data.sparse_features = seed.is_multiple_of(7).then_some(case.data.nodes * 3);
    (case.data.bytes_per_real, case.data.lanes) = (size_of::<T>() as u64, gpu().is_some());
    let Some(list) = list(&case) else { return Came::Nothing };
    if let Some(facts) = gpu() {
        let grid = facts.grid.as_ref().unwrap();
        let target = GpuTarget {
            bytes_per_real: size_of::<T>() as u64,
            processors: grid.processors,
            shared_bytes: grid.shared_bytes_most,
            matmul: Matmul::F32,
            order: Order::Spread,
            warpgroups: facts.capability().is_some_and(Capability::has_warpgroups),
        };
        if let Err(refused) = emit(&list, target) {
            return Came::Refused(refused.what);
        }
    }
    let list = separate_buffers(&list);
    let direct = direct(&case, seed % 2 == 1);
    let initial: Vec<Vec<f64>> =
        parameters::initial_parameters(&list, &RunSpec { seed: SEED, ..RunSpec::default() }, None)
            .unwrap();
    let named = list
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .zip(initial.iter().cloned())
        .collect();
    let graph = direct.reference_graph();
    let wanted = wanted(&list, direct.reference(&list, &graph, &named));
    let largest = wanted
        .iter()
        .flat_map(BTreeMap::values)
        .map(|values| largest_magnitude(values))
        .fold(0.0, f64::max);
    if largest > LARGEST {
        return Came::Nothing;
    }
    let found = made(&list, executor::<T>(&list, direct.data(&list), SEED), &initial);
    let beside = (T::NAME == "f32" && gpu().is_some())
        .then(|| made(&list, cpu_executor::<T>(&list, direct.data(&list), SEED), &initial));
    if let Some(apart) = apart_at::<T>((&wanted, &found, beside.as_ref())) {
        panic!(
            "program {seed} ({}): {apart}\n{}\n{}",
            T::NAME,
            case.gir.print(None),
            list.render()
        );
    }
    Came::Compared
}

fn compare_all<T: Precision>() {
    let (programs, refused) = (programs(), Mutex::<BTreeMap<String, u64>>::default());
    let compared: u64 = programs
        .clone()
        .into_par_iter()
        .map(|seed| match compare::<T>(seed) {
            Came::Compared => 1,
            Came::Nothing => 0,
            Came::Refused(what) => {
                *refused.lock().unwrap().entry(what).or_default() += 1;
                0
            }
        })
        .sum();
    let refused = refused.into_inner().unwrap();
    let count = programs.end - programs.start;
    println!("random programs ({}): {compared} of {count} programs compared", T::NAME);
    for (what, programs) in &refused {
        skipped("random_programs", format!("{programs} programs: a GPU has no kernel for {what}"));
    }
    assert!(compared >= count / 3, "{compared} of {count} programs compared, refused: {refused:?}");
}

#[test]
fn programs_of_f64_agree() {
    compare_all::<f64>();
}

#[test]
fn programs_of_f32_agree() {
    compare_all::<f32>();
}
