//! ops_speed: how fast the operations are on this machine, on a graph of the size of amazon0505.
//!
//! promises  each answer is compared with its reference on a smaller graph before anything is
//!           timed; warm-up, then the median and spread of several runs; bytes are those that must
//!           move, not those that did
//! never     compares with another system; writes a file
//!
//! `busy` is processor time divided by threads: on a machine that others use too, it says what the
//! wall clock cannot.
//!
//! usage: ops_speed [PART_OF_A_NAME]; threads by RAYON_NUM_THREADS
use std::hint::black_box;
use std::ops::{Deref, DerefMut};

use warploom_bench::time;
use warploom_cpu::expression::{Bound, BufferOperand, Compiled, OperandRows};
use warploom_cpu::neighbour_reduce::{NeighbourReduce, neighbour_reduce};
use warploom_cpu::product::{Product, RightLayout, product};
use warploom_cpu::product_over_rows::{ProductOverRows, product_over_rows};
use warploom_cpu::random::dropout::DrawContext;
use warploom_cpu::random::philox4x32;
use warploom_cpu::{Adjacency, balanced_units};
use warploom_ir::{Loss, Unary};
use warploom_launch::{Combine, Dropout, EdgeFactor, Expression};

const NODES: usize = 410_236;
const EDGES: usize = 4_878_874;
const FEATURES: usize = 96;
const HIDDEN: usize = 16;
const CLASSES: usize = 22;
const RUNS: usize = 9;

fn main() {
    check_answers();
    println!("{} threads; {NODES} nodes, {EDGES} edges", rayon::current_num_threads());
    println!(
        "{:<44} {:>9} {:>9} {:>9} {:>8} {:>9} {:>8}",
        "operation", "median ms", "least", "most", "GB/s", "busy ms", "GB/s"
    );
    let graph = Graph::skewed(NODES, EDGES);
    time_neighbours(&graph);
    time_products();
    time_elements();
    time_loss();
}

/// Rows of a graph, with units.
struct Graph {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
    units: Vec<u32>,
}

impl Graph {
    /// Random sources; degrees of rows and sources are skewed (the square of a uniform number), ids
    /// are shuffled by a multiplication.
    fn skewed(nodes: usize, edges: usize) -> Self {
        let draw = |index: usize| {
            let words = philox4x32::<7>([index as u32, 0, 0, 0], [1, 2]);
            let skewed = |word: u32| {
                let uniform = f64::from(word) / 2f64.powi(32);
                let node = (uniform * uniform * nodes as f64) as u64;
                (node * 1_000_003 % nodes as u64) as u32
            };
            (skewed(words[0]), skewed(words[1]))
        };
        let mut offsets = vec![0u64; nodes + 1];
        (0..edges).for_each(|index| offsets[draw(index).0 as usize + 1] += 1);
        (0..nodes).for_each(|row| offsets[row + 1] += offsets[row]);
        let mut next = offsets.clone();
        let mut neighbours = vec![0; edges];
        for index in 0..edges {
            let (row, neighbour) = draw(index);
            neighbours[next[row as usize] as usize] = neighbour;
            next[row as usize] += 1;
        }
        let units = balanced_units(&offsets);
        Graph { offsets, neighbours, units }
    }
}

/// Elements that start at a cache line, as an executor's buffers do: else a row of 16 lies in two
/// lines.
struct Buffer {
    elements: Vec<f32>,
    start: usize,
    count: usize,
}

impl Buffer {
    fn zeros(count: usize) -> Self {
        let elements = vec![0.0; count + 16];
        let start = elements.as_ptr().align_offset(64).min(16);
        Buffer { elements, start, count }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.elements[self.start..self.start + self.count]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.elements[self.start..self.start + self.count]
    }
}

fn numbers(count: usize, seed: u32) -> Buffer {
    let word = |index: usize| philox4x32::<7>([index as u32, 0, 0, 0], [seed, 0])[0];
    let mut buffer = Buffer::zeros(count);
    for (index, element) in buffer.iter_mut().enumerate() {
        *element = word(index) as f32 / 2f32.powi(31) - 1.0;
    }
    buffer
}

fn epilogue(program: &Compiled<f32>) -> Bound<'_, f32> {
    Bound { program, operands: &[], context: DrawContext::default() }
}

/// Each operation that is timed, on 3000 rows, against its reference.
fn check_answers() {
    let program = Compiled::identity();
    let graph = Graph::skewed(3001, 40_000);
    for columns in [1, 16, 32, 64, 100] {
        let source = numbers(3001 * columns, 1);
        let adjacencies =
            [Adjacency { offsets: &graph.offsets, neighbours: &graph.neighbours, weights: None }];
        let work = sum_of(&adjacencies, &graph.units, &source, columns, epilogue(&program));
        let mut out = Buffer::zeros(3001 * columns);
        neighbour_reduce(&mut out, &work);
        assert_near(&out, &warploom_cpu::neighbour_reduce::reference::neighbour_reduce(&work));
    }
    let (left, right) = (numbers(3001 * FEATURES, 1), numbers(FEATURES * HIDDEN, 2));
    let mut out = Buffer::zeros(3001 * HIDDEN);
    let work = product_of(&left, &right, 3001, [FEATURES, HIDDEN], epilogue(&program));
    product(&mut out, &work);
    assert_near(&out, &warploom_cpu::product::reference::product(&work));
    let work = ProductOverRows {
        left: &out,
        right: &left,
        rows: 3001,
        left_columns: HIDDEN,
        right_columns: FEATURES,
    };
    let mut gradient = Buffer::zeros(HIDDEN * FEATURES);
    product_over_rows(&mut gradient, &work);
    assert_near(&gradient, &warploom_cpu::product_over_rows::reference::product_over_rows(&work));
    println!("answers agree with the references");
}

fn assert_near(made: &[f32], expected: &[f64]) {
    let size = expected.iter().fold(1.0f64, |size, value| size.max(value.abs()));
    for (made, expected) in made.iter().zip(expected) {
        assert!(
            (f64::from(*made) - expected).abs() <= 1e-5 * size,
            "found {made}, expected {expected}"
        );
    }
}

fn sum_of<'a>(
    adjacencies: &'a [Adjacency<'a, f32>],
    unit_starts: &'a [u32],
    source: &'a [f32],
    columns: usize,
    epilogue: Bound<'a, f32>,
) -> NeighbourReduce<'a, f32> {
    let (combine, factor) = (Combine::Sum, EdgeFactor::Weight);
    NeighbourReduce {
        adjacencies,
        unit_starts,
        groups: None,
        combine,
        factor,
        source: Some(source),
        columns,
        epilogue,
    }
}

fn product_of<'a>(
    left: &'a [f32],
    right: &'a [f32],
    rows: usize,
    [inner, columns]: [usize; 2],
    epilogue: Bound<'a, f32>,
) -> Product<'a, f32> {
    Product { left, right, layout: RightLayout::Transposed, rows, inner, columns, epilogue }
}

/// Prints the median and spread of several runs after two for warming up.
fn report(name: &str, bytes: usize, mut work: impl FnMut()) {
    if std::env::args().nth(1).is_some_and(|wanted| !name.contains(&wanted)) {
        return;
    }
    let mut once = || time(&mut work).0 * 1e3;
    (0..2).for_each(|_| {
        once();
    });
    let before = processor_milliseconds();
    let mut times: Vec<f64> = (0..RUNS).map(|_| once()).collect();
    let busy = (processor_milliseconds() - before) / (RUNS * rayon::current_num_threads()) as f64;
    times.sort_by(f64::total_cmp);
    let median = times[RUNS / 2];
    let speed = |milliseconds: f64| bytes as f64 / milliseconds / 1e6;
    println!(
        "{name:<44} {median:>9.3} {:>9.3} {:>9.3} {:>8.1} {busy:>9.3} {:>8.1}",
        times[0],
        times[RUNS - 1],
        speed(median),
        speed(busy)
    );
}

/// Time that all threads of this process have spent on a processor, as Linux counts it; 0
/// elsewhere.
fn processor_milliseconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of_thread = |thread: std::fs::DirEntry| {
        let counts = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        counts
            .split(' ')
            .next()
            .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    threads.flatten().map(of_thread).sum::<f64>() / 1e6
}

fn time_neighbours(graph: &Graph) {
    let weights = numbers(EDGES, 5);
    let program = Compiled::identity();
    for columns in [1, 8, 16, 22, 32, 64, 128] {
        let source = numbers(NODES * columns, 1);
        let mut out = Buffer::zeros(NODES * columns);
        for weights in [None, Some(&weights[..])] {
            let adjacencies =
                [Adjacency { offsets: &graph.offsets, neighbours: &graph.neighbours, weights }];
            let work = sum_of(&adjacencies, &graph.units, &source, columns, epilogue(&program));
            let of_entry = if weights.is_some() { 8 } else { 4 };
            let bytes = EDGES * (of_entry + 4 * columns) + NODES * (8 + 4 * columns);
            let weighted = if weights.is_some() { "weighted " } else { "" };
            report(&format!("neighbour {weighted}sum, {columns} columns"), bytes, || {
                neighbour_reduce(&mut out, &work)
            });
        }
        let scale = numbers(NODES, 2);
        let expression =
            Expression::unary(Unary::Relu, Expression::load("scale").times(Expression::Made));
        let program = Compiled::compile(&expression).expect("compiles");
        let operands = [BufferOperand { data: &scale, rows: OperandRows::Many, columns: 1 }];
        let bound =
            Bound { program: &program, operands: &operands, context: DrawContext::default() };
        let adjacencies =
            [Adjacency { offsets: &graph.offsets, neighbours: &graph.neighbours, weights: None }];
        let work = sum_of(&adjacencies, &graph.units, &source, columns, bound);
        let bytes = EDGES * (4 + 4 * columns) + NODES * (12 + 4 * columns);
        report(&format!("  with relu(scale * made), {columns} columns"), bytes, || {
            neighbour_reduce(&mut out, &work)
        });
        black_box(&out[..]);
    }
}

fn time_products() {
    let program = Compiled::identity();
    for [inner, columns] in
        [[FEATURES, HIDDEN], [HIDDEN, CLASSES], [CLASSES, HIDDEN], [FEATURES, 64], [1, 16], [16, 1]]
    {
        let (left, right) = (numbers(NODES * inner, 1), numbers(inner * columns, 2));
        let mut out = Buffer::zeros(NODES * columns);
        let work = product_of(&left, &right, NODES, [inner, columns], epilogue(&program));
        let bytes = 4 * NODES * (inner + columns);
        report(&format!("product {NODES} x {inner} x {columns}"), bytes, || {
            product(&mut out, &work)
        });
        let work = ProductOverRows {
            left: &out,
            right: &left,
            rows: NODES,
            left_columns: columns,
            right_columns: inner,
        };
        let mut gradient = Buffer::zeros(inner * columns);
        report(&format!("product over rows {columns} x {inner}"), bytes, || {
            product_over_rows(&mut gradient, &work)
        });
        let mut sums = vec![0.0; columns];
        report(&format!("sum over rows, {columns} columns"), 4 * NODES * columns, || {
            warploom_cpu::sum_over_rows::sum_over_rows(&mut sums, &out, NODES, columns);
        });
        black_box((&gradient[..], &sums[..]));
    }
}

fn time_elements() {
    for columns in [FEATURES, HIDDEN, CLASSES] {
        let (full, scale, bias) =
            (numbers(NODES * columns, 1), numbers(NODES, 2), numbers(columns, 3));
        let mut out = Buffer::zeros(NODES * columns);
        let dropout = Dropout { probability: 0.5, site: 0 };
        let [load, scaled, shifted] = ["full", "scale", "bias"].map(Expression::load);
        let affine = load.clone().times(scaled).plus(shifted);
        let masked = Expression::load("full")
            .if_positive(Expression::load("full").times(Expression::load("scale")));
        let expressions = [
            ("copy", load.clone()),
            ("relu(full * scale + bias)", Expression::unary(Unary::Relu, affine)),
            ("full > 0 ? full * scale : 0", masked),
            ("exp(full)", Expression::unary(Unary::Exp, load.clone())),
            ("dropout(full)", load.dropped(Some(dropout))),
        ];
        for (name, expression) in expressions {
            let program = Compiled::compile(&expression).expect("compiles");
            let operand = |name: &String| match name.as_str() {
                "full" => BufferOperand { data: &full, rows: OperandRows::Many, columns },
                "scale" => BufferOperand { data: &scale, rows: OperandRows::Many, columns: 1 },
                _ => BufferOperand { data: &bias, rows: OperandRows::One, columns },
            };
            let operands: Vec<_> = program.loads().iter().map(operand).collect();
            let context = DrawContext { seed: 1, epoch: 1, active: true, row_in_graph: None };
            let bound = Bound { program: &program, operands: &operands, context };
            report(&format!("{name}, {columns} columns"), 8 * NODES * columns, || {
                warploom_cpu::elementwise::elementwise(&mut out, &bound, NODES, columns);
            });
        }
        black_box(&out[..]);
    }
}

fn time_loss() {
    let (result, mut gradient) = (numbers(NODES * CLASSES, 1), Buffer::zeros(NODES * CLASSES));
    let target: Vec<f32> = (0..NODES).map(|row| (row % CLASSES) as f32).collect();
    let training_rows: Vec<u32> = (0..NODES as u32).filter(|row| row % 5 < 3).collect();
    let work = warploom_cpu::loss::Loss {
        kind: Loss::CrossEntropy,
        result: &result,
        target: &target,
        columns: CLASSES,
        training_rows: &training_rows,
    };
    report("cross entropy, 60% of rows, 22 classes", 4 * training_rows.len() * CLASSES * 2, || {
        black_box(warploom_cpu::loss::loss(&mut gradient, &work));
    });
    report("accuracy, 60% of rows, 22 classes", 4 * training_rows.len() * CLASSES, || {
        black_box(warploom_cpu::metrics::right_count(&result, &target, CLASSES, &training_rows));
    });
    report("summed change, 22 columns", 8 * NODES * CLASSES, || {
        black_box(warploom_cpu::convergence::summed_change(&result, &gradient));
    });
}
