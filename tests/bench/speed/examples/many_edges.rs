//! many_edges: a compiled program over more than 2^31 edges, whose lists are made here: a linear
//! layer, its sums over in-neighbours, and the gradients of both, compared with closed forms.
//!
//! promises  every row of the result is compared, and every gradient; 1 is the exit code
//!           where one differs
//! bytes     8 bytes an edge on the host and on the device, of both directions, and none on disk
//!
//! Row v reads the DEGREE rows behind it, and the last row reads the first 64 times as many: a row
//! that many blocks share. So sums are differences of prefix sums.
//!
//! usage: many_edges NODES DEGREE [cpu|cuda] [THREADS]; 4400000 500 has 2.2 billion edges
use std::collections::BTreeMap;
use std::process::ExitCode;

use rayon::prelude::*;
use warploom_bench::{start_threads, time};
use warploom_contract::arrow_file::View;
use warploom_contract::kinds::csr::{Csr, Direction, Part as CsrPart};
use warploom_contract::kinds::partition::RowUnits;
use warploom_contract::kinds::partition::row_lists::{RowEdges, RowLists, WalkedRows};
use warploom_contract::progress::{Silence, StopFlag};
use warploom_contract::row_order::WalkOrder;
use warploom_contract::{Context, Store};
use warploom_cpu::balanced_units;
use warploom_cuda::{DevicePlan, Matmul, Order, TierCounts, WalkedDegrees, WalkedLists};
use warploom_ir::{Data as Known, Direction as Along, Loss, Target};
use warploom_launch::{Body, LaunchList, Needs, Operation, parameter_buffer};
use warploom_run::backend::Backend;
use warploom_run::buffers::{Aligned, Contents, Place};
use warploom_run::cpu::CpuBackend;
use warploom_run::cuda::{CudaBackend, GpuPlan};
use warploom_run::inputs::input_data::Data;
use warploom_run::precision::Precision;
use warploom_run::resolved_program::{Part, Pass};
use warploom_shell::program::emit_source;

const PROGRAM: &str = "def beyond(v):
    \"A linear layer, summed over in-neighbours.\"
    v.h = linear(v.x, 4)
    return sum(u.h for u in v.innbs)
";
const COLUMNS: usize = 16;
const WIDTH: usize = 4;
/// Features repeat after so many rows.
const PERIOD: usize = 1009;
/// How many times as many edges the last row has.
const HUB: usize = 64;

/// The graph, by its formula.
#[derive(Clone, Copy)]
struct Ring {
    nodes: usize,
    degree: usize,
}

impl Ring {
    fn hub(self) -> usize {
        (self.degree * HUB).min(self.nodes)
    }

    fn edges(self) -> usize {
        (self.nodes - 1) * self.degree + self.hub()
    }

    /// In-edges of a row.
    fn incoming(self, row: usize) -> usize {
        if row + 1 == self.nodes { self.hub() } else { self.degree }
    }

    /// Out-edges of a row; those to the last row come last.
    fn outgoing(self, row: usize) -> usize {
        self.degree + usize::from(row >= self.degree && row < self.hub())
    }

    fn source(self, row: usize, entry: usize) -> usize {
        (row + 1 + entry) % self.nodes
    }

    fn target(self, row: usize, entry: usize) -> usize {
        if entry == self.degree {
            return self.nodes - 1;
        }
        (row + self.nodes - 1 - entry) % self.nodes
    }
}

/// Rows in an order, where their edges start, and the far ends.
struct Listed {
    rows: Vec<u32>,
    offsets: Vec<u64>,
    far: View<u32>,
}

fn listed(
    rows: Vec<u32>,
    degree: impl Fn(usize) -> usize,
    far: impl Fn(usize, usize) -> usize + Sync,
) -> Listed {
    let mut offsets = vec![0u64];
    let mut end = 0;
    offsets.extend(rows.iter().map(|&row| {
        end += degree(row as usize) as u64;
        end
    }));
    let mut made = vec![0u32; end as usize];
    let (mut rest, mut parts) = (&mut made[..], Vec::with_capacity(rows.len()));
    for (place, &row) in rows.iter().enumerate() {
        let (part, after) = rest.split_at_mut((offsets[place + 1] - offsets[place]) as usize);
        parts.push((row as usize, part));
        rest = after;
    }
    parts.into_par_iter().with_min_len(256).for_each(|(row, part)| {
        part.iter_mut().enumerate().for_each(|(entry, to)| *to = far(row, entry) as u32);
    });
    Listed { rows, offsets, far: made.into() }
}

/// The lists that a partition has of the graph, for a CPU or for a GPU, and the csr's offsets.
fn lists(ring: Ring, on_gpu: bool) -> (Csr, RowLists) {
    let edges = |listed: &Listed| RowEdges {
        far: listed.far.clone(),
        edge: None,
        path: "the lists made here".into(),
    };
    let (incoming, outgoing) = (|row: usize| ring.incoming(row), |row: usize| ring.outgoing(row));
    let order = WalkOrder::choose(ring.nodes, ring.edges() as u64);
    let rows = |degree: &(dyn Fn(usize) -> usize + Sync)| {
        if on_gpu {
            order.sort(ring.nodes, |row| degree(row as usize) as u64)
        } else {
            (0..ring.nodes as u32).collect()
        }
    };
    let into = listed(rows(&incoming), incoming, |row, entry| ring.source(row, entry));
    let out = listed(rows(&outgoing), outgoing, |row, entry| ring.target(row, entry));
    let walked = |listed: &Listed| WalkedRows {
        rows: listed.rows.clone().into(),
        offsets: listed.offsets.iter().map(|&slot| slot as u32).collect::<Vec<u32>>().into(),
        edges: edges(listed),
    };
    let direction = |degree: &dyn Fn(usize) -> usize| {
        let mut offsets = vec![0u64];
        offsets.extend((0..ring.nodes).scan(0, |end, row| {
            *end += degree(row) as u64;
            Some(*end)
        }));
        Direction {
            offsets: offsets.into(),
            neighbours: Vec::new().into(),
            edges: Vec::new().into(),
        }
    };
    let csr = Csr {
        incoming: direction(&incoming),
        outgoing: direction(&outgoing),
        weights: CsrPart::Absent,
        types: CsrPart::Absent,
        graphs: CsrPart::Absent,
    };
    let units = RowUnits {
        incoming: balanced_units(&csr.incoming.offsets).into(),
        outgoing: balanced_units(&csr.outgoing.offsets).into(),
    };
    let lists = RowLists {
        units,
        incoming: (!on_gpu).then(|| edges(&into)),
        outgoing: (!on_gpu).then(|| edges(&out)),
        walked_in: on_gpu.then(|| walked(&into)),
        walked_out: on_gpu.then(|| walked(&out)),
        walked_both: None,
        ascending: [None, None],
    };
    (csr, lists)
}

fn feature(row: usize, column: usize) -> f64 {
    ((row % PERIOD) * (2 * column + 1) % PERIOD) as f64 / PERIOD as f64 - 0.5
}

fn compiled(ring: Ring, on_gpu: bool) -> LaunchList {
    let known = Known {
        features: Some(COLUMNS as u64),
        target: Some(Target { columns: WIDTH as u64, loss: Loss::MeanSquares }),
        training: true,
        lanes: on_gpu,
        bytes_per_real: if on_gpu { 4 } else { 8 },
        ..Known::bare(ring.nodes as u64, ring.edges() as u64)
    };
    let made = warploom_compiler::compile(PROGRAM, "beyond", &BTreeMap::new(), &known);
    let list = made.unwrap_or_else(|wrong| panic!("{wrong:?}")).list;
    // Every buffer is looked at in the end.
    LaunchList { arena: list.arena.without_reuse(), ..list }
}

fn data<T: Precision>(ring: Ring, list: &LaunchList, on_gpu: bool) -> Data<T> {
    let (csr, lists) = lists(ring, on_gpu);
    let mut data = Data::<T>::from_graph(&csr, lists, Needs::from_list(list));
    let mut features = Aligned::<T>::zeros(ring.nodes * COLUMNS).expect("memory");
    features.par_chunks_mut(COLUMNS).enumerate().for_each(|(row, made)| {
        (0..COLUMNS).for_each(|column| made[column] = T::rounded(feature(row, column)));
    });
    data.features = Some(Contents::Owned(features));
    data.target = Some(Contents::Owned(Aligned::zeros(ring.nodes * WIDTH).expect("memory")));
    data.splits[0] = (0..ring.nodes as u32).collect();
    data
}

/// Counts the tiers of the walks, as `plan` does.
fn count_tiers<T: Precision>(planned: &mut DevicePlan, data: &Data<T>) {
    let order = WalkOrder::choose(data.nodes, data.edges as u64);
    for (walked, cut) in planned.walks_in_tiers() {
        let lists = match walked {
            WalkedLists::Edges(Along::In) => &data.row_lists.walked_in,
            WalkedLists::Edges(Along::Out) => &data.row_lists.walked_out,
            other => panic!("the program does not walk {other:?}"),
        };
        let offsets = &lists.as_ref().expect("lists of a GPU").offsets;
        let degrees = WalkedDegrees { offsets, sorted_above: order.sorted_above as u32 };
        let tiers = TierCounts::choose(degrees, cut, planned.processors);
        planned.tiers.insert((walked, cut), tiers);
    }
}

/// Reads a buffer of reals.
fn values<T: Precision>(backend: &dyn Backend<T>, name: &str) -> Vec<f64> {
    let host = backend.host();
    let Some(Place::Real(index)) = host.program.places.get(name) else {
        panic!("`{name}` is no buffer of reals")
    };
    host.buffers.reals().get(*index).iter().map(|value| value.widened()).collect()
}

/// Sums of the rows before each row.
fn prefix_sums(rows: usize, value: impl Fn(usize) -> [f64; WIDTH]) -> Vec<[f64; WIDTH]> {
    let mut sums = vec![[0.0; WIDTH]];
    for row in 0..rows {
        let (before, own) = (sums[row], value(row));
        sums.push(std::array::from_fn(|at| before[at] + own[at]));
    }
    sums
}

/// The sum of a number of rows from one on, around the end.
fn around(sums: &[[f64; WIDTH]], first: usize, count: usize) -> [f64; WIDTH] {
    let rows = sums.len() - 1;
    let (first, end) = (first % rows, first % rows + count);
    std::array::from_fn(|at| {
        let straight = sums[end.min(rows)][at] - sums[first][at];
        straight + if end > rows { sums[end - rows][at] } else { 0.0 }
    })
}

/// The largest difference, of the largest magnitude.
fn apart(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len(), "as many numbers");
    let size = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let pairs = found.iter().zip(expected);
    pairs.fold(0.0, |most: f64, (found, expected)| {
        let apart = (found - expected).abs();
        if apart.is_nan() { f64::INFINITY } else { most.max(apart) }
    }) / size
}

/// Compares result and gradients; the largest difference.
fn compare<T: Precision>(ring: Ring, list: &LaunchList, backend: &dyn Backend<T>) -> f64 {
    let Body::Train(train) = &list.body else { panic!("a list that learns") };
    let Operation::Loss { result, gradient, .. } = &train.loss.operation else { panic!("a loss") };
    let parameter = |rows: usize| {
        let found = list.parameters.iter().find(|known| known.shape.len() == rows);
        found.expect("a weight and a bias").name.clone()
    };
    let (weight, bias) = (parameter(2), parameter(1));
    let (w, b) =
        (values(backend, &parameter_buffer(&weight)), values(backend, &parameter_buffer(&bias)));
    let layer = |row: usize| {
        std::array::from_fn(|at| {
            let of = |column| w[at * COLUMNS + column] * feature(row, column);
            b[at] + (0..COLUMNS).map(of).sum::<f64>()
        })
    };
    let sums = prefix_sums(ring.nodes, layer);
    let expected: Vec<f64> =
        (0..ring.nodes).flat_map(|row| around(&sums, row + 1, ring.incoming(row))).collect();
    let of_result = apart(&values(backend, result), &expected);
    let slope = values(backend, gradient);
    let sums = prefix_sums(ring.nodes, |row| std::array::from_fn(|at| slope[row * WIDTH + at]));
    let (mut of_weight, mut of_bias) = (vec![0.0; WIDTH * COLUMNS], vec![0.0; WIDTH]);
    for row in 0..ring.nodes {
        let ring_sum = around(&sums, row + ring.nodes - ring.degree, ring.degree);
        let hub = if ring.outgoing(row) > ring.degree { 1.0 } else { 0.0 };
        for at in 0..WIDTH {
            let own = ring_sum[at] + hub * slope[(ring.nodes - 1) * WIDTH + at];
            of_bias[at] += own;
            (0..COLUMNS).for_each(|column| {
                of_weight[at * COLUMNS + column] += own * feature(row, column);
            });
        }
    }
    let found = |name: &str| values(backend, &warploom_launch::gradient_buffer(name));
    let (of_weight, of_bias) = (apart(&found(&weight), &of_weight), apart(&found(&bias), &of_bias));
    println!("apart: rows {of_result:.1e}, weight {of_weight:.1e}, bias {of_bias:.1e}");
    of_result.max(of_weight).max(of_bias)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments[at].parse::<usize>().expect("NODES DEGREE [cpu|cuda]");
    let ring = Ring { nodes: number(0), degree: number(1) };
    let on_gpu = arguments.get(2).is_some_and(|device| device == "cuda");
    if let Some(threads) = arguments.get(3) {
        start_threads(threads);
    }
    // A CPU adds gradients of so many rows in few partial sums: in f32 they are 1e-4 apart.
    let is_same = if on_gpu { is_same::<f32>(ring, on_gpu) } else { is_same::<f64>(ring, on_gpu) };
    println!("{}", if is_same { "the same" } else { "DIFFERENT" });
    if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Trains one pass, and compares.
fn is_same<T: Precision>(ring: Ring, on_gpu: bool) -> bool {
    let list = compiled(ring, on_gpu);
    println!(
        "{} edges, {:.2} times 2^31; the list takes at most {:?}",
        ring.edges(),
        ring.edges() as f64 / 2f64.powi(31),
        list.most_edges(on_gpu)
    );
    let (seconds, data) = time(|| data::<T>(ring, &list, on_gpu));
    println!("lists made in {seconds:.1} s");
    let folder = std::env::temp_dir().join("many-edges");
    let store = Store::new(&folder);
    let stop = StopFlag::new();
    let context =
        Context { store: &store, threads: 1, memory: u64::MAX, progress: &Silence, stop: &stop };
    let (seconds, mut backend) = time(|| -> Box<dyn Backend<T>> {
        if !on_gpu {
            return Box::new(CpuBackend::new(&list, data, 7).expect("a backend"));
        }
        let facts = warploom_device::cuda(0).unwrap_or_else(|fault| panic!("{fault}"));
        let mut kernels =
            emit_source(&list, size_of::<T>() as u64, Matmul::F32, Order::Spread, &[], &facts)
                .unwrap_or_else(|error| panic!("{error}"));
        count_tiers(&mut kernels.plan, &data);
        let planned = GpuPlan { facts: &facts, kernels: &kernels, host: None };
        let made = CudaBackend::new(&context, &list, data, 7, planned);
        Box::new(made.unwrap_or_else(|error| panic!("{error}")))
    });
    println!("on the device after {seconds:.1} s");
    let first = list.parameters.iter().map(|parameter| {
        let count: u64 = parameter.shape.iter().product();
        (0..count).map(|at| T::rounded((at as f64).sin())).collect()
    });
    backend
        .set_parameters(&first.collect::<Vec<Vec<T>>>())
        .unwrap_or_else(|error| panic!("{error}"));
    let pass = Pass { epoch: 0, training: true };
    for part in [Part::Prepare, Part::Forward, Part::Loss, Part::Backward] {
        let (seconds, done) = time(|| backend.run(part, pass, &stop));
        done.unwrap_or_else(|_| panic!("{part:?} ended"));
        println!("{part:?}: {seconds:.3} s");
    }
    backend.fetch_all(&list).unwrap_or_else(|error| panic!("{error}"));
    let apart = compare(ring, &list, backend.as_ref());
    apart < 1e-5
}
