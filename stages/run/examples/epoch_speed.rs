//! epoch_speed: how long an epoch of GCN takes, launch by launch, on a random graph of the size of amazon0505.
//!
//! promises  the same list on a small graph of the same kind is compared with the reference before anything is timed; one
//!           epoch of warm-up, then the median of several; bytes are those that the plan says must move
//! never     compares with another system; reads a graph or writes a file
//!
//! `busy` is processor time divided by threads: on a machine that others use too, it says what the wall clock cannot.
//!
//! `cargo run --release -p warploom-run --example epoch_speed [DROP]`, threads by RAYON_NUM_THREADS.
use std::collections::BTreeMap;
use std::time::Instant;

use warploom_contract::{
    kinds::{
        csr::{Csr, CsrParts, Direction, DirectionParts},
        graph::EdgeTable,
        partition::RowUnits,
    },
    stage::StopFlag,
};
use warploom_ops::{
    balanced_units,
    optimizer::{Adam, Optimizer},
    random::philox4x32,
};
use warploom_run::{
    buffers::{Aligned, Contents},
    executor::{Executor, Pass},
    parameters,
    program::Part,
    upload::{Data, Needs},
};
use warploom_spec::RunSpec;
use warploom_vertex::{
    Facts, builtin,
    launch::{LaunchList, LossKind},
    reference::{Inputs, Reference, ReferenceGraph},
};

const NODES: usize = 410_236;
/// Each in both directions, and a loop a node beside.
const PAIRS: usize = 2_439_437;
const FEATURES: usize = 96;
const CLASSES: u64 = 22;
const EPOCHS: u64 = 9;

fn main() {
    let drop = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    compare_with_reference();
    for (name, local) in [("neighbours anywhere", 0.0), ("three of four neighbours within 1000 rows", 0.75)] {
        let graph = Graph::random(NODES, PAIRS, local);
        let list = graph.list(drop);
        let mut executor = graph.executor(&list);
        epoch(&mut executor, 0, drop > 0.0);
        executor.spent.fill(Default::default());
        let busy = processor_seconds();
        let mut seconds: Vec<f64> = (1..=EPOCHS)
            .map(|number| {
                let begun = Instant::now();
                epoch(&mut executor, number, drop > 0.0);
                begun.elapsed().as_secs_f64()
            })
            .collect();
        let busy = (processor_seconds() - busy) / (EPOCHS as f64 * rayon::current_num_threads() as f64);
        seconds.sort_by(f64::total_cmp);
        println!("{name}: {NODES} nodes, {} edges, drop {drop}, {} threads", graph.source.len(), rayon::current_num_threads());
        let [median, least, most] = [EPOCHS as usize / 2, 0, EPOCHS as usize - 1].map(|index| 1e3 * seconds[index]);
        println!("  epoch {median:.1} ms (least {least:.1}, most {most:.1}), busy {:.1} ms", 1e3 * busy);
        for ((step, spent), launch) in executor.program.steps.iter().zip(&executor.spent).zip(list.launches()) {
            let each = spent.as_secs_f64() / EPOCHS as f64;
            if each > 1e-4 {
                println!("  {:<16} {:>7.1} ms  {:>6.1} GB/s", step.name, 1e3 * each, launch.bytes as f64 / each / 1e9);
            }
        }
    }
}

/// Processor time of this process, in steps of a hundredth of a second.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// As the stage does: with dropout, a pass to measure and a pass to train.
fn epoch(executor: &mut Executor<f32>, number: u64, draws: bool) {
    let stop = StopFlag::new();
    for training in [false, true] {
        if draws || !training {
            let pass = Pass { epoch: number, training };
            executor.run(Part::Forward, pass, &stop).expect("nobody stops");
            executor.run(Part::Loss, pass, &stop).expect("nobody stops");
        }
    }
    let pass = Pass { epoch: number, training: true };
    executor.run(Part::Backward, pass, &stop).expect("nobody stops");
    executor.run(Part::Update, pass, &stop).expect("nobody stops");
}

struct Graph {
    nodes: usize,
    source: Vec<u32>,
    target: Vec<u32>,
}

fn uniform(stream: u32, index: usize) -> f64 {
    f64::from(philox4x32::<7>([index as u32, stream, 0, 0], [1, 2])[0]) / 4_294_967_296.0
}

impl Graph {
    /// Skewed degrees, ids shuffled; a share of the pairs is close instead.
    fn random(nodes: usize, pairs: usize, local: f64) -> Self {
        let skewed = |draw: f64| ((draw * draw * nodes as f64) as usize * 1_000_003 % nodes) as u32;
        let pair = |index: usize| {
            let source = skewed(uniform(0, index));
            let near = (source as usize + (uniform(2, index) * 1000.0) as usize) % nodes;
            let target = if uniform(1, index) < local { near as u32 } else { skewed(uniform(3, index)) };
            (source, target)
        };
        let forward: Vec<(u32, u32)> = (0..pairs).map(pair).collect();
        let backward = forward.iter().map(|&(source, target)| (target, source));
        let loops = (0..nodes as u32).map(|node| (node, node));
        let (source, target) = forward.iter().copied().chain(backward).chain(loops).unzip();
        Graph { nodes, source, target }
    }

    fn list(&self, drop: f64) -> LaunchList {
        let facts = Facts {
            nodes: self.nodes as u64,
            edges: self.source.len() as u64,
            feature_columns: FEATURES as u64,
            sparse_features: None,
            classes: CLASSES,
            weighted: false,
            symmetric: true,
            training: true,
            loss: LossKind::CrossEntropy,
            bytes_per_real: 4,
        };
        let gcn = builtin::all().iter().find(|builtin| builtin.name == "gcn").expect("gcn is shipped");
        gcn.build(&BTreeMap::from([("drop".to_owned(), drop.into())]), &facts).expect("the settings are sound")
    }

    fn features(&self) -> Vec<f32> {
        (0..self.nodes * FEATURES).map(|at| uniform(5, at) as f32 - 0.5).collect()
    }

    fn classes(&self) -> Vec<f32> {
        (0..self.nodes).map(|node| (uniform(6, node) * CLASSES as f64).floor() as f32).collect()
    }

    fn executor(&self, list: &LaunchList) -> Executor<f32> {
        let table = EdgeTable { source: self.source.clone(), target: self.target.clone(), weight: None, kind: None };
        let CsrParts { incoming, outgoing, .. } = warploom_extract::group::both_directions(self.nodes, &table);
        let side = |side: DirectionParts| Direction { offsets: side.offsets.into(), neighbours: side.neighbours.into(), edges: side.edges.into() };
        let csr = Csr { incoming: side(incoming), outgoing: side(outgoing), weights: None, types: None };
        let units = RowUnits { incoming: balanced_units(&csr.incoming.offsets).into(), outgoing: balanced_units(&csr.outgoing.offsets).into() };
        let mut data = Data::of_graph(&csr, units, Needs::of(list));
        let owned = |values: Vec<f32>| {
            let mut aligned = Aligned::zeros(values.len()).expect("there is memory");
            aligned.copy_from_slice(&values);
            Contents::Owned(aligned)
        };
        (data.features, data.target) = (Some(owned(self.features())), Some(owned(self.classes())));
        data.splits[0] = (0..self.nodes as u32).filter(|row| row % 2 == 0).collect();
        let mut executor = Executor::new(list, data, 1).expect("the list is sound");
        executor.set_parameters(&parameters::initial(list, &RunSpec::default()).expect("drawn"));
        executor.set_optimizers(vec![Optimizer::Adam(Adam { rate: 0.01, ..Adam::default() }); list.parameters.len()]);
        executor.run(Part::Prepare, Pass { epoch: 0, training: false }, &StopFlag::new()).expect("nobody stops");
        executor
    }
}

/// One step on a small graph, against the definition.
fn compare_with_reference() {
    let graph = Graph::random(2000, 9000, 0.5);
    let list = graph.list(0.0);
    let mut executor = graph.executor(&list);
    let widened = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    let initial: Vec<Vec<f64>> = parameters::initial(&list, &RunSpec::default()).expect("drawn");
    let inputs = Inputs {
        features: widened(graph.features()),
        target: widened(graph.classes()),
        training_rows: (0..2000).filter(|row| row % 2 == 0).collect(),
        parameters: list.parameters.iter().map(|parameter| parameter.name.clone()).zip(initial).collect(),
        artifact_rows: Vec::new(),
    };
    let edges = ReferenceGraph { nodes: 2000, source: graph.source.clone(), target: graph.target.clone(), weight: None };
    let mut reference = Reference::new(&list, &edges, inputs).expect("the list is sound");
    reference.prepare();
    reference.forward();
    let expected = reference.loss();
    reference.backward();
    epoch(&mut executor, 0, false);
    let close = |what: &str, got: f64, want: f64| assert!((got - want).abs() <= 1e-5 * want.abs().max(1e-3), "{what}: got {got}, want {want}");
    close("loss", executor.machine.loss, expected);
    for learned in &executor.program.parameters {
        let want = reference.get(&format!("gradient.{}", learned.name)).expect("declared");
        let got = executor.machine.reals.get(learned.gradient.expect("trained"));
        got.iter().zip(want).for_each(|(&got, &want)| close(&learned.name, f64::from(got), want));
    }
    println!("compared with the reference on 2000 nodes: the loss and every gradient agree");
}
