//! cuda_graphs: pipelined epochs, recorded as CUDA graphs, beside the same launches one by one.
//!
//! promises  for gcn, gin, gat and sage, with dropout and a changing learning rate: single
//!           launches, parts as graphs and whole epochs as graphs give the same bits of every loss,
//!           every count, and the final moments and parameters
//! limits    only a GPU records graphs; without one these tests say that they were skipped
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_compiler::compile;
use warploom_contract::Digest;
use warploom_contract::progress::StopFlag;
use warploom_cpu::optimizer::{Adam, Optimizer};
use warploom_cuda::Matmul;
use warploom_ir::{Data, Loss};
use warploom_launch::LaunchList;
use warploom_run::{
    backend::{Backend, Counts, EpochBatch, PipelinedEpochs},
    cuda::CudaBackend,
    parameters,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use crate::differential::{CHOICES, CLASSES, SEED, direct_of};
use warploom_test_support::graph_inputs::medley;
use warploom_test_support::list_runner::{
    ListInputs, gpu, gpu_executor, is_brief, order, sampled_cases,
};
use warploom_test_support::skips::skipped;
use warploom_test_support::stage_runner::program_text;

/// Programs and what they are told.
const MODELS: [(&str, &str); 5] = [
    ("gcn", r#"{"hidden": 5, "layers": 3, "drop": 0.4}"#),
    ("gin", r#"{"hidden": 5, "layers": 2, "norm": true, "drop": 0.4}"#),
    ("gat", r#"{"hidden": 3, "heads": 2, "drop": 0.4, "drop_shares": 0.3}"#),
    ("sage", r#"{"hidden": 5, "drop": 0.4}"#),
    // Nothing is drawn: measuring and training are one pass.
    ("sage", r#"{"hidden": 5, "drop": 0.0}"#),
];

/// Epochs of a run that become no graph, those of one graph, and some of a graph each.
const EPOCHS: u64 = 2 + 16 + 3 + 16 + 2;

/// The latter, as they are asked for.
const BATCHES: [u64; 3] = [16 + 3, 16, 2];

/// How launches get to the device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Each by itself, as what is prepared is launched, on every visit.
    Alone,
    /// A part as one graph, from its third visit on.
    Parts,
    /// Epochs as one graph, as a run does them.
    Epochs,
}

/// What a training leaves, as bits.
#[derive(Debug, Default, PartialEq)]
struct Ended {
    losses: Vec<u64>,
    counts: Vec<Counts>,
    numbers: Vec<Vec<u64>>,
}

impl Ended {
    /// A name for all of it.
    fn digest(&self) -> String {
        let words =
            |values: &[u64]| values.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let counts = self.counts.iter().flatten().flat_map(|count| count.to_le_bytes());
        let bytes: Vec<u8> = words(&self.losses)
            .into_iter()
            .chain(counts)
            .chain(self.numbers.iter().flat_map(|values| words(values)))
            .collect();
        Digest::from_bytes(&bytes).to_string()[..16].to_owned()
    }
}

fn pace(epoch: u64) -> f64 {
    1.0 / (1.0 + epoch as f64 / 8.0)
}

/// A training that is launched in one way.
struct Training<T: Precision> {
    executor: CudaBackend<T>,
    way: Way,
    draws: bool,
    ended: Ended,
}

impl<T: Precision> Training<T> {
    fn go(&mut self, part: Part, pass: Pass) {
        let CudaBackend { device, host, .. } = &mut self.executor;
        host.pace = pace(pass.epoch);
        if self.way == Way::Alone {
            // What is launched is the part that is named first, and `Part::Prepare` is never
            // recorded.
            return device.run(host.program.part(part), Part::Prepare, pass, host.pace).unwrap();
        }
        self.executor.run(part, pass, &StopFlag::new()).unwrap();
    }

    fn measure(&mut self, epoch: u64) {
        let pass = Pass { epoch, training: false };
        self.go(Part::Forward, pass);
        self.go(Part::Loss, pass);
        self.ended.losses.push(self.executor.device.loss().unwrap().to_bits());
        self.ended.counts.push(self.executor.counts().unwrap().unwrap());
    }

    fn step(&mut self, epoch: u64) {
        let pass = Pass { epoch, training: true };
        if self.draws {
            self.go(Part::Forward, pass);
            self.go(Part::Loss, pass);
        }
        self.go(Part::Backward, pass);
        self.go(Part::Update, pass);
        self.executor.keep_statistics().unwrap();
    }

    /// The epochs that are left, as a run has them done: each batch is enqueued before the report
    /// of the one in front of it is read.
    fn run_batches(&mut self, first: u64) {
        let (mut done, mut in_flight) = (first, 0);
        for epochs in BATCHES {
            let paces: Vec<f64> = (done..=done + epochs).map(pace).collect();
            self.executor
                .enqueue(EpochBatch { first: done, paces: &paces, decides_from: None })
                .unwrap();
            (done, in_flight) = (done + epochs, in_flight + 1);
            let last = if done == EPOCHS { 0 } else { 1 };
            while in_flight > last {
                for (loss, counts) in self.executor.read_report().unwrap().measurements {
                    self.ended.losses.push(loss.to_bits());
                    self.ended.counts.push(counts);
                }
                self.executor.drop_oldest();
                in_flight -= 1;
            }
        }
    }

    fn run(mut self) -> Ended {
        self.go(Part::Prepare, Pass { epoch: 0, training: false });
        let by_one = if self.way == Way::Epochs { 2 } else { EPOCHS };
        for epoch in 0..by_one {
            self.measure(epoch);
            self.step(epoch);
        }
        if self.way == Way::Epochs {
            self.run_batches(by_one);
        }
        self.measure(EPOCHS);
        self.executor.fetch_state().unwrap();
        let bits = |values: &Vec<T>| values.iter().map(|value| value.widened().to_bits()).collect();
        self.ended.numbers = self.executor.host().parameters().iter().map(bits).collect();
        self.ended.numbers.extend(
            self.executor
                .host
                .moments
                .iter()
                .flat_map(|moments| [bits(&moments.first), bits(&moments.second)]),
        );
        self.ended
    }
}

fn trained<T: Precision>((direct, list): (&ListInputs, &LaunchList), way: Way) -> Ended {
    let initial =
        parameters::initial_parameters(list, &RunSpec { seed: SEED, ..RunSpec::default() }, None)
            .unwrap();
    let facts = gpu().unwrap();
    let mut executor =
        gpu_executor::<T>(list, direct.data(list), SEED, facts, Matmul::F32, order());
    executor.set_parameters(&initial).unwrap();
    executor
        .set_optimizers(vec![
            Optimizer::Adam(Adam { weight_decay: 1e-3, ..Adam::default() });
            initial.len()
        ])
        .unwrap();
    let draws = executor.host().program.draws;
    Training { executor, way, draws, ended: Ended::default() }.run()
}

fn agree<T: Precision>((name, settings): (&str, &str)) {
    let direct = direct_of(&medley(), (CHOICES[1], 6), Loss::CrossEntropy);
    let known =
        Data { bytes_per_real: size_of::<T>() as u64, ..direct.known(CLASSES, Loss::CrossEntropy) };
    let settings_of: BTreeMap<String, Value> = serde_json::from_str(settings).unwrap();
    let list = compile(&program_text(name), name, &settings_of, &known)
        .unwrap_or_else(|wrong| panic!("{name}: {wrong:?}"))
        .list;
    let [alone, parts, epochs] =
        [Way::Alone, Way::Parts, Way::Epochs].map(|way| trained::<T>((&direct, &list), way));
    let what = format!("{name} {settings} ({})", T::NAME);
    assert_eq!(
        (alone.losses.len(), alone.counts.len()),
        (EPOCHS as usize + 1, EPOCHS as usize + 1),
        "{what}"
    );
    assert!(
        alone.losses.iter().all(|bits| f64::from_bits(*bits).is_finite()),
        "{what}: {:?}",
        alone.losses
    );
    assert!(
        alone.losses.windows(2).all(|pair| pair[0] != pair[1]),
        "{what}: an epoch changes nothing"
    );
    for (way, found) in [(Way::Parts, &parts), (Way::Epochs, &epochs)] {
        let apart = (0..=EPOCHS as usize).find(|epoch| {
            (alone.losses[*epoch], &alone.counts[*epoch])
                != (found.losses[*epoch], &found.counts[*epoch])
        });
        assert!(
            apart.is_none(),
            "{what}, {way:?}: what is measured in epoch {apart:?} differs from that of launches \
             one by one"
        );
        assert!(
            alone.numbers == found.numbers,
            "{what}, {way:?}: parameters or moments differ from those of launches one by one"
        );
    }
    println!(
        "recorded, {what}: {EPOCHS} epochs, the same bits alone, by parts and by epochs: {}",
        alone.digest()
    );
}

#[test]
fn epochs_as_graphs_give_the_bits_of_launches_one_by_one() {
    if gpu().is_none() {
        return skipped(
            "cuda_graphs::epochs_as_graphs_give_the_bits_of_launches_one_by_one",
            "NOTHING WAS RECORDED: no GPU is asked for",
        );
    }
    for model in sampled_cases(&MODELS) {
        agree::<f32>(model);
        if !is_brief() {
            agree::<f64>(model);
        }
    }
}
