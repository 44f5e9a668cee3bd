//! random_loops: random programs with `while`, by the interpreter, the reference of launch lists,
//! and an executor on the device that is asked for.
//!
//! promises  the same programs every time: 1,000 texts, on GPUs 60 or, where it is brief, 8;
//!           `WARPLOOM_TEST_LOOPS` says how many, or those from one number to another (`7..8`); of
//!           ten times as many programs of nodes those with a loop. They run on degenerate, small
//!           and heavy graphs: the program as it was traced by the interpreter, the fused list of
//!           the cleaned one by the reference, and by an executor; on a CPU over all rows, with
//!           frontiers and with shortcut algorithms, states after each superstep, on a GPU results.
//!           The number of supersteps and the end of each loop are compared too. Integers, bools,
//!           ids and exact floats must be equal
//! limits    a loop that does not end is stopped after 1 to 60 supersteps. Rounded floats may be as
//!           far apart as rounding takes them (`differential::rounding`); where it decides when a
//!           loop ends, the program is left out
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex};

use rayon::prelude::*;
use warploom_compiler::compile;
use warploom_contract::progress::StopFlag;
use warploom_cuda::{GpuTarget, Matmul, emit};
use warploom_device::Capability;
use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{Data, Gir, Loss, Place, Type};
use warploom_launch::fuse::fuse;
use warploom_launch::lower::lower;
use warploom_launch::reference::Reference;
use warploom_launch::{Body, GraphFacts, LaunchList, StopCondition};
use warploom_optimize::passes::clean;
use warploom_run::{
    backend::{Change, LoopEnd},
    iteration::{frontier::Frontier, is_met},
    parameters,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use crate::differential::{SEED, rounding};
use crate::random_programs::{EXTENTS, LARGEST, TIMES, direct};
use warploom_test_support::draws::Draws;
use warploom_test_support::graph_inputs::{random, signed};
use warploom_test_support::graphs::{EdgeList, degenerate_graphs, heavy_row};
use warploom_test_support::list_runner::{
    Executor, ListInputs, buffer_values, cpu_executor, executor, first_difference, gpu, is_brief,
    largest_magnitude, order, separate_buffers,
};
use warploom_test_support::loop_programs::{ENTRY, FEATURES, is_rounded, loop_program};
use warploom_test_support::random_programs::{RandomProgram, random_program};
use warploom_test_support::skips::skipped;

/// How many programs, or which.
const LOOPS: &str = "WARPLOOM_TEST_LOOPS";
const PASS: Pass = Pass { epoch: 0, training: false };
/// Programs of nodes for each text. One of a hundred has a loop and learns nothing.
const NODES_EACH: u64 = 10;
const EDGE_COLUMNS: usize = 2;
/// Graphs of a set of many.
const GRAPHS: usize = 3;

static SHAPES: LazyLock<Vec<EdgeList>> = LazyLock::new(|| {
    let small = (1..6).map(|stream| random("small", 4 + 7 * stream, 40 * stream, stream as u32));
    degenerate_graphs()
        .into_iter()
        .chain(small)
        .chain([heavy_row(), random("random", 300, 2500, 5)])
        .collect()
});

fn programs() -> Range<u64> {
    // A GPU's kernels are compiled for each.
    let usual = match (gpu().is_some(), is_brief()) {
        (true, true) => 8,
        (true, false) => 60,
        (false, _) => 1000,
    };
    let Ok(asked) = std::env::var(LOOPS) else { return 0..usual };
    let number = |text: &str| {
        text.parse().unwrap_or_else(|_| {
            panic!("{LOOPS} is a number, or two with `..` between, found `{asked}`")
        })
    };
    asked
        .split_once("..")
        .map_or_else(|| 0..number(&asked), |(first, end)| number(first)..number(end))
}

/// What a program reads: floats that are multiples of 1/4, but for features of edges.
fn inputs(seed: u64, shape: &EdgeList) -> ListInputs {
    let mut draws = Draws::spread(seed).fork();
    let (source, target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    let edges = source.len();
    let weight = (0..edges).map(|_| 0.25 * (1 + draws.below(12)) as f64).collect();
    ListInputs {
        nodes: shape.nodes,
        source,
        target,
        weight: (draws.below(4) > 0).then_some(weight),
        relation: (0..edges).map(|edge| (edge % 2) as u32).collect(),
        edge_columns: EDGE_COLUMNS,
        edge_features: signed(5, edges * EDGE_COLUMNS)
            .into_iter()
            .map(|value| f64::from(value as f32))
            .collect(),
        feature_columns: FEATURES,
        features: (0..shape.nodes * FEATURES).map(|_| 0.25 * draws.below(9) as f64 - 1.0).collect(),
        graph_of_node: if seed % 3 == 1 {
            (0..shape.nodes).map(|node| (node % GRAPHS) as u32).collect()
        } else {
            Vec::new()
        },
        graphs: if seed % 3 == 1 { GRAPHS } else { 0 },
        columns: BTreeMap::from([(
            "age".to_owned(),
            (0..shape.nodes).map(|_| draws.below(6) as f64 - 2.0).collect(),
        )]),
        reordered: seed / 2 % 2 == 1,
        ..ListInputs::default()
    }
}

fn known<T: Precision>(direct: &ListInputs) -> Data {
    Data {
        target: None,
        training: false,
        bytes_per_real: size_of::<T>() as u64,
        relations: vec!["0".to_owned(), "1".to_owned()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        ..direct.known(1, Loss::MeanSquares)
    }
}

fn world(direct: &ListInputs) -> World {
    let rows = |columns: usize, values: &[f64]| {
        ElementRows::from_reals(values.len() / columns, columns, values.to_vec())
    };
    let ages: Vec<i64> = direct.columns["age"].iter().map(|age| *age as i64).collect();
    World {
        weight: direct.weight.clone(),
        edge_type: direct.relation.clone(),
        edge_features: Some(rows(direct.edge_columns, &direct.edge_features)),
        graph_of_node: direct.graph_of_node.clone(),
        graphs: direct.graphs.max(1),
        features: Some(rows(direct.feature_columns, &direct.features)),
        columns: BTreeMap::from([(
            "age".to_owned(),
            ElementRows::from_integers(ages.len(), 1, ages),
        )]),
        ..World::bare(direct.nodes, direct.source.clone(), direct.target.clone())
    }
}

/// A program on a graph.
struct Case {
    seed: u64,
    /// The program as it was written.
    text: String,
    /// The same, traced and nothing else.
    gir: Gir,
    data: Data,
    world: World,
    direct: ListInputs,
    /// Cleaned, lowered and fused.
    list: LaunchList,
    parameters: Vec<Vec<f64>>,
    /// Whether columns say whether they are rounded; else all floats are.
    has_exact: bool,
    /// Most supersteps of a loop.
    bound: u64,
}

impl Case {
    /// A text of the language, if its loop changes something once constants are known.
    fn of_text<T: Precision>(seed: u64) -> Option<Case> {
        let shape = &SHAPES[(seed % SHAPES.len() as u64) as usize];
        let (text, direct) = (loop_program(seed), inputs(seed, shape));
        let made = compile(&text, ENTRY, &BTreeMap::new(), &known::<T>(&direct));
        let made = match made {
            Ok(made) => made,
            Err(wrong) if wrong[0].what.starts_with("no pass changes") => return None,
            Err(wrong) => panic!("program {seed}: {wrong:?}\n{text}"),
        };
        let mut states = made.clean.loops.iter().flat_map(|repeated| &repeated.states);
        let rounds = states.any(|state| is_rounded(&state.name));
        Some(Case {
            seed,
            text,
            gir: made.traced.gir,
            world: world(&direct),
            data: made.data,
            direct,
            list: made.list,
            parameters: Vec::new(),
            has_exact: true,
            bound: if rounds { 1 + seed % 4 } else { [2, 7, 60][(seed % 7 % 3) as usize] },
        })
    }

    /// A program made of nodes, if it has a loop.
    fn of_nodes<T: Precision>(seed: u64) -> Option<Case> {
        let extent = EXTENTS[(seed % 3) as usize];
        let RandomProgram { gir, mut data, world } =
            random_program(seed, 1 + (seed % 24) as usize, true, extent);
        if gir.loops.is_empty() {
            return None;
        }
        (data.training, data.bytes_per_real) = (false, size_of::<T>() as u64);
        data.lanes = gpu().is_some();
        let list = match lower(&clean(gir.clone(), &data).0, &data) {
            Ok(list) => list,
            // Nothing is trained here.
            Err(refused) if refused.what.starts_with("the program learns") => return None,
            Err(refused) => panic!("{seed}: {refused}"),
        };
        let list = fuse(&list, &GraphFacts::from_data(&data));
        if loops(&list).is_empty() {
            return None;
        }
        let spec = RunSpec { seed: SEED, ..RunSpec::default() };
        let case = RandomProgram { gir, data, world };
        Some(Case {
            seed,
            text: String::new(),
            direct: direct(&case, seed / 2 % 2 == 1),
            parameters: parameters::initial_parameters(&list, &spec, None).unwrap(),
            gir: case.gir,
            data: case.data,
            world: case.world,
            list,
            has_exact: false,
            bound: 1 + seed % 5,
        })
    }

    fn named_parameters(&self) -> BTreeMap<String, Vec<f64>> {
        let names = self.list.parameters.iter().map(|parameter| parameter.name.clone());
        names.zip(self.parameters.iter().cloned()).collect()
    }

    fn fail<T: Precision>(&self, what: &str) -> ! {
        panic!(
            "program {} ({}), at most {} supersteps, on {} nodes and {} edges: {what}\n{}\n{}\n{}",
            self.seed,
            T::NAME,
            self.bound,
            self.direct.nodes,
            self.direct.source.len(),
            self.text,
            self.gir.print(None),
            self.list.render()
        )
    }

    /// How far apart two executors may be.
    fn tolerance<T: Precision>(&self, is_rounded: bool, wanted: &[f64]) -> f64 {
        if is_rounded || !self.has_exact {
            rounding::<T>() * largest_magnitude(wanted).max(1e-2)
        } else {
            0.0
        }
    }
}

/// Whether values of a state are rounded; buffers begin with the names of their columns.
fn is_state_rounded(buffer: &str) -> bool {
    is_rounded(buffer)
}

/// Loops of a list.
fn loops(list: &LaunchList) -> &[warploom_launch::Loop] {
    let Body::Iterate(iterate) = &list.body else { panic!("{} iterates", list.program) };
    &iterate.loops
}

/// Values by buffer.
type Buffers = BTreeMap<String, Vec<f64>>;

/// What became of a loop.
#[derive(Clone, Debug, PartialEq)]
struct Ran {
    /// States after each superstep.
    states: Vec<Buffers>,
    /// Whether its condition was met.
    converged: bool,
}

/// What became of a list.
struct Done {
    loops: Vec<Ran>,
    results: Vec<Vec<f64>>,
    /// Of all buffers at the end.
    largest: f64,
    /// A sum of changes is so near its bound that rounding may decide.
    is_near: bool,
}

/// What the reference makes of a list.
fn by_reference(list: &LaunchList, mut reference: Reference, bound: u64) -> Done {
    let mut done = Done { loops: Vec::new(), results: Vec::new(), largest: 0.0, is_near: false };
    reference.prepare();
    for repeated in loops(list) {
        let mut ran = Ran { states: Vec::new(), converged: false };
        while !ran.converged && (ran.states.len() as u64) < bound {
            let change = reference.superstep();
            if let StopCondition::ChangeAtMost(_, least) = &repeated.until {
                done.is_near |=
                    change.summed != *least && (change.summed - least).abs() < 0.05 * least;
            }
            let change = Change { summed: change.summed, changed: change.changed };
            ran.converged = is_met(&repeated.until, &change);
            let state = |name: &String| reference.get(name).unwrap().to_vec();
            ran.states.push(
                repeated
                    .commit
                    .iter()
                    .map(|commit| (commit.state.clone(), state(&commit.state)))
                    .collect(),
            );
        }
        done.loops.push(ran);
        reference.enter_next();
    }
    let result = |name: &str| reference.get(name).unwrap().to_vec();
    let all = list.buffers.iter().filter_map(|buffer| reference.get(&buffer.name));
    done.largest = all.map(largest_magnitude).fold(0.0, f64::max);
    done.results = list.results.iter().map(|result_of| result(&result_of.buffer)).collect();
    done
}

/// The interpreter makes of the traced text what the reference makes of the list.
fn compare_interpreter<T: Precision>(case: &Case, wanted: &Done) {
    let (gir, data, world) = (&case.gir, &case.data, &case.world);
    let mut interpreter = Interpreter::new(gir, data, world).unwrap();
    for (name, values) in case.named_parameters() {
        interpreter.set_parameter(&name, &values).unwrap();
    }
    let endings: Vec<_> = interpreter.run(case.bound).into_iter().flatten().collect();
    if endings.len() == wanted.loops.len() {
        for (number, (ending, ran)) in endings.iter().zip(&wanted.loops).enumerate() {
            if (ending.supersteps, ending.converged) != (ran.states.len() as u64, ran.converged) {
                let what = format!(
                    "loop {number}: {ending:?} by the interpreter, {} supersteps by the \
                     reference, converged {}",
                    ran.states.len(),
                    ran.converged
                );
                case.fail::<T>(&what);
            }
        }
    }
    let vertices = gir.results.iter().filter(|result| result.edges.is_none());
    let of_table = data.place_of_results(vertices.map(|result| gir.node(result.node).place));
    for (result, wanted) in gir.results.iter().zip(&wanted.results) {
        let rows = interpreter.value(result.node).unwrap();
        let found = at_rest(world, gir.node(result.node).place, of_table, rows);
        let tolerance = case.tolerance::<f64>(is_result_rounded(&result.name), wanted);
        if let Some(apart) = first_difference(&found, wanted, tolerance) {
            case.fail::<T>(&format!("{} by the interpreter{apart}", result.name));
        }
    }
}

/// Columns have the names of values, those of edges others.
fn is_result_rounded(name: &str) -> bool {
    is_rounded(name) || name.starts_with("value")
}

/// A result as a list has it: a row for each vertex, or each graph.
fn at_rest(world: &World, place: Place, of_table: Place, rows: &ElementRows) -> Vec<f64> {
    let values = rows.values.reals();
    let row = |row: usize| values[row * rows.columns..(row + 1) * rows.columns].to_vec();
    match place {
        Place::C | Place::P => (0..world.rows(of_table)).flat_map(|_| row(0)).collect(),
        Place::G if of_table == Place::D => {
            (0..world.nodes).flat_map(|vertex| row(world.graph_of(vertex))).collect()
        }
        _ => values,
    }
}

/// How a CPU goes through a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    AllRows,
    Frontier,
    Shortcut,
}

/// The list with what this way uses alone.
fn list_of_way(list: &LaunchList, way: Way) -> LaunchList {
    let mut list = separate_buffers(list);
    let Body::Iterate(iterate) = &mut list.body else { panic!("{} iterates", list.program) };
    for repeated in &mut iterate.loops {
        if way != Way::Shortcut {
            repeated.course = None;
        }
        if way == Way::AllRows {
            repeated.frontier = None;
        }
    }
    list
}

/// Goes through all loops on the CPU, and compares states after each superstep; gives the results,
/// and the supersteps that computed only some rows, or the loops that a shortcut ended.
fn on_cpu<T: Precision>(case: &Case, way: Way, wanted: &Done) -> (Vec<Vec<f64>>, usize) {
    let list = list_of_way(&case.list, way);
    let data = if way == Way::Shortcut {
        case.direct.data_for_shortcuts(&list)
    } else {
        case.direct.data(&list)
    };
    let mut executor = cpu_executor::<T>(&list, data, SEED);
    set_parameters(case, &mut executor);
    let (stop, mut special) = (StopFlag::new(), 0);
    for (number, ran) in wanted.loops.iter().enumerate() {
        executor.run(Part::Before(number), PASS, &stop).unwrap();
        if way == Way::Shortcut {
            if executor.supersteps().unwrap().run_shortcut(number, &stop).is_some() {
                special += 1;
                compare_states(case, &list, &executor, ran.states.last().unwrap(), "by a shortcut");
                continue;
            }
            executor.host_mut().data.build_superstep_lists();
        }
        special += run_supersteps(case, &list, &mut executor, (number, ran));
    }
    executor.run(Part::Finish, PASS, &stop).unwrap();
    (results(&executor, &list), special)
}

/// Runs the supersteps of a loop on the CPU; gives how many computed only some rows.
fn run_supersteps<T: Precision>(
    case: &Case,
    list: &LaunchList,
    executor: &mut Executor<T>,
    (number, ran): (usize, &Ran),
) -> usize {
    let repeated = executor.host().program.loops[number].clone();
    let mut frontier = Frontier::from_loop(executor.host(), &repeated);
    let mut partial = 0;
    for (superstep, wanted) in ran.states.iter().enumerate() {
        let only = frontier.as_ref().and_then(Frontier::runs).map(<[_]>::to_vec);
        partial += usize::from(only.is_some());
        let part = Part::Superstep(number);
        executor.run_rows(part, PASS, only.as_deref(), &StopFlag::new()).unwrap();
        let change = executor.supersteps().unwrap().measure_change(number, only.as_deref());
        if let Some(frontier) = &mut frontier {
            frontier.advance(executor.host(), &repeated, &change);
        }
        executor.supersteps().unwrap().commit(number);
        let what = format!("after superstep {superstep} of loop {number}, some rows {only:?}");
        compare_states(case, list, executor, wanted, &what);
        let is_last = superstep + 1 == ran.states.len();
        if is_met(&repeated.until, &change) != (is_last && ran.converged) {
            case.fail::<T>(&format!("{what}: {change:?}, {:?}", repeated.until));
        }
    }
    partial
}

fn compare_states<T: Precision>(
    case: &Case,
    list: &LaunchList,
    executor: &Executor<T>,
    wanted: &Buffers,
    what: &str,
) {
    for (name, wanted) in wanted {
        let found = held(executor, list, name);
        let tolerance = case.tolerance::<T>(is_state_rounded(name), wanted);
        if let Some(apart) = first_difference(&found, wanted, tolerance) {
            case.fail::<T>(&format!("{name}{apart}, {what}"));
        }
    }
}

fn set_parameters<T: Precision>(case: &Case, executor: &mut Executor<T>) {
    let rounded = |values: &Vec<f64>| values.iter().map(|&value| T::rounded(value)).collect();
    let parameters: Vec<Vec<T>> = case.parameters.iter().map(rounded).collect();
    executor.set_parameters(&parameters).unwrap();
}

/// Values of a buffer, where integers that stand for infinities are these.
fn held<T: Precision>(executor: &Executor<T>, list: &LaunchList, name: &str) -> Vec<f64> {
    let infinite = |value: f64| {
        if value.abs() >= i64::MAX as f64 { value.signum() * f64::INFINITY } else { value }
    };
    buffer_values(executor, list, name).unwrap().into_iter().map(infinite).collect()
}

fn results<T: Precision>(executor: &Executor<T>, list: &LaunchList) -> Vec<Vec<f64>> {
    let result = |name: &str| held(executor, list, name);
    list.results.iter().map(|column| result(&column.buffer)).collect()
}

/// Goes through all loops on the GPU, which tests their conditions; gives the results.
fn on_gpu<T: Precision>(case: &Case, wanted: &Done) -> Vec<Vec<f64>> {
    let list = separate_buffers(&case.list);
    let mut executor = executor::<T>(&list, case.direct.data(&list), SEED);
    set_parameters(case, &mut executor);
    for (number, ran) in wanted.loops.iter().enumerate() {
        executor.run(Part::Before(number), PASS, &StopFlag::new()).unwrap();
        let loops = executor.device_loops().unwrap();
        loops.begin_loop(number).unwrap();
        let (mut done, mut end) = (0, LoopEnd::Running);
        while end == LoopEnd::Running && done < case.bound {
            let progress = loops.run_supersteps(number, case.bound - done).unwrap();
            (done, end) = (done + progress.done, progress.end);
        }
        if (done, end == LoopEnd::Met) != (ran.states.len() as u64, ran.converged) {
            let what = format!(
                "loop {number}: {done} supersteps and {end:?}, expected {} and {}",
                ran.states.len(),
                ran.converged
            );
            case.fail::<T>(&what);
        }
    }
    executor.run(Part::Finish, PASS, &StopFlag::new()).unwrap();
    executor.fetch_all(&list).unwrap();
    results(&executor, &list)
}

/// Results beside the reference's; in f32 on a GPU they may be some times as far away as on a CPU.
fn compare_results<T: Precision>(
    case: &Case,
    (found, wanted): (&[Vec<f64>], &Done),
    beside: Option<&[Vec<f64>]>,
    what: &str,
) {
    for (number, (found, wanted)) in found.iter().zip(&wanted.results).enumerate() {
        let name = &case.list.results[number].name;
        let off = beside.map_or(0.0, |beside| furthest(&beside[number], wanted));
        let tolerance = case.tolerance::<T>(is_result_rounded(name), wanted).max(TIMES * off);
        if let Some(apart) = first_difference(found, wanted, tolerance) {
            case.fail::<T>(&format!("{name} {what}{apart}"));
        }
    }
}

fn furthest(found: &[f64], wanted: &[f64]) -> f64 {
    let off = found.iter().zip(wanted).map(|(found, wanted)| (found - wanted).abs());
    off.filter(|off| off.is_finite()).fold(0.0, f64::max)
}

/// What came of programs.
#[derive(Debug, Default)]
struct Counts {
    compared: u64,
    /// Rounding may decide when a loop ends, or numbers are too large to compare.
    left_out: u64,
    several_loops: u64,
    converged: u64,
    /// Supersteps that computed only some rows.
    partial: usize,
    /// Loops that a shortcut ended.
    shortcuts: usize,
    refused: BTreeMap<String, u64>,
}

fn refused_by_gpu<T: Precision>(list: &LaunchList) -> Option<String> {
    let facts = gpu()?;
    let grid = facts.grid.as_ref().unwrap();
    let target = GpuTarget {
        bytes_per_real: size_of::<T>() as u64,
        processors: grid.processors,
        shared_bytes: grid.shared_bytes_most,
        matmul: Matmul::F32,
        order: order(),
        warpgroups: facts.capability().is_some_and(Capability::has_warpgroups),
    };
    emit(list, target).err().map(|refused| refused.what)
}

fn compare<T: Precision>(case: &Case, counts: &Mutex<Counts>) {
    let seed = case.seed;
    if let Some(what) = refused_by_gpu::<T>(&case.list) {
        *counts.lock().unwrap().refused.entry(what).or_default() += 1;
        return;
    }
    let graph = case.direct.reference_graph();
    let reference = case.direct.reference(&case.list, &graph, &case.named_parameters());
    let wanted = by_reference(&case.list, reference, case.bound);
    if wanted.is_near || !case.has_exact && wanted.largest > LARGEST {
        counts.lock().unwrap().left_out += 1;
        return;
    }
    compare_interpreter::<T>(case, &wanted);
    let (on_all_rows, _) = on_cpu::<T>(case, Way::AllRows, &wanted);
    let (mut partial, mut shortcuts) = (0, 0);
    if gpu().is_some() {
        let found = on_gpu::<T>(case, &wanted);
        let beside = (T::NAME == "f32").then_some(on_all_rows.as_slice());
        compare_results::<T>(case, (&found, &wanted), beside, "on a GPU");
    } else {
        compare_results::<T>(case, (&on_all_rows, &wanted), None, "on a CPU");
        let loops = loops(&case.list);
        if loops.iter().any(|repeated| repeated.frontier.is_some()) {
            let (found, some) = on_cpu::<T>(case, Way::Frontier, &wanted);
            assert!(found == on_all_rows, "program {seed}: frontiers change bits\n{}", case.text);
            partial = some;
        }
        let is_ended =
            |(number, ran): (usize, &Ran)| loops[number].course.is_none() || ran.converged;
        if loops.iter().any(|repeated| repeated.course.is_some())
            && wanted.loops.iter().enumerate().all(is_ended)
        {
            let (found, some) = on_cpu::<T>(case, Way::Shortcut, &wanted);
            assert!(found == on_all_rows, "program {seed}: shortcuts change bits\n{}", case.text);
            shortcuts = some;
        }
    }
    let mut counts = counts.lock().unwrap();
    counts.compared += 1;
    counts.several_loops += u64::from(wanted.loops.len() > 1);
    counts.converged += u64::from(wanted.loops.iter().all(|ran| ran.converged));
    (counts.partial, counts.shortcuts) = (counts.partial + partial, counts.shortcuts + shortcuts);
}

/// Compares the programs that there are.
fn compare_all<T: Precision>(what: &str, cases: impl ParallelIterator<Item = Case>) -> Counts {
    let counts = Mutex::<Counts>::default();
    let count = cases.map(|case| compare::<T>(&case, &counts)).count() as u64;
    let counts = counts.into_inner().unwrap();
    println!("{what} with loops ({}): of {count} programs {counts:?}", T::NAME);
    for (what, programs) in &counts.refused {
        skipped("random_loops", format!("{programs} programs: a GPU has no kernel for {what}"));
    }
    assert!(counts.compared >= count / 2, "{counts:?}");
    counts
}

/// Every second program; the others are for the other type.
fn compare_texts<T: Precision>(first: u64) {
    let seeds = programs().into_par_iter().filter(|seed| seed % 2 == first);
    let counts = compare_all::<T>("texts", seeds.filter_map(Case::of_text::<T>));
    let is_few = programs().count() < 100;
    assert!(gpu().is_some() || is_few || counts.shortcuts > 0 && counts.partial > 0, "{counts:?}");
}

fn compare_nodes<T: Precision>(first: u64) {
    let seeds = NODES_EACH * programs().start..NODES_EACH * programs().end;
    let seeds = seeds.into_par_iter().filter(|seed| seed % 2 == first);
    compare_all::<T>("nodes", seeds.filter_map(Case::of_nodes::<T>));
}

#[test]
fn texts_of_f64_agree() {
    compare_texts::<f64>(0);
}

#[test]
fn texts_of_f32_agree() {
    compare_texts::<f32>(1);
}

#[test]
fn nodes_of_f64_agree() {
    compare_nodes::<f64>(0);
}

#[test]
fn nodes_of_f32_agree() {
    compare_nodes::<f32>(1);
}
