//! gather_speed: how many bytes a second this machine sums from rows of a table chosen at random,
//! and how much of that the neighbour sum reaches.
//!
//! measures  the limit: a list of row numbers drawn evenly is read in order; every 16 rows are
//!           summed in registers into one row that is written; bytes are those of the rows read
//!           alone. Tables are prefixes of one array on large pages, and rows begin at cache lines.
//!           Each limit is the best of all forms below, each the best of 5 runs after one for
//!           warming up:
//!             one row at a time                       what the hardware brings by itself
//!             8, 16, 32, 64 rows asked for ahead      `prefetch` of all their lines
//!             two sums at a time, plain and 16 ahead  twice as many independent additions
//!           A neighbour sum is the best of 5 runs after one, on rows of 16 drawn neighbours and,
//!           where a graph is given, on it.
//! promises  sums are compared with a loop over the table before anything is timed: they are exact,
//!           for all values are small integers
//! never     uses `unsafe`; writes a file; leaves out a form that lost
//! prints    a line of JSON for each width, table and number of threads
//!
//! usage: gather_speed [THREADS[,THREADS] [OFFSETS NEIGHBOURS]]
//!        the files are those of a graph as plain little-endian u64 and u32
use memmap2::{Advice, MmapMut};
use prefetch_index::prefetch_index;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use warploom_bench::best_seconds;
use warploom_cpu::gathered_rows::{Entries, SumOf, reduce_rows};
use warploom_cpu::random::philox4x32;

/// Rows of a sum: about the mean degree of graphs that people have.
const SUMMED: usize = 16;
/// Sums of a task.
const SUMS_OF_TASK: usize = 256;
const RUNS: usize = 5;
const WIDTHS: [usize; 5] = [1, 16, 32, 64, 128];
const TABLES: [usize; 5] = [1 << 20, 8 << 20, 32 << 20, 128 << 20, 2 << 30];
/// Bytes that a run gathers.
const GATHERED: usize = 128 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = arguments
        .first()
        .map_or("1,2", String::as_str)
        .split(',')
        .map(|count| count.parse().expect("a number of threads"))
        .collect::<Vec<_>>();
    let graph = arguments.get(2).map(|neighbours| Graph::read(&arguments[1], neighbours));
    let mut tables: Vec<(usize, usize)> =
        TABLES.iter().flat_map(|&bytes| WIDTHS.map(|width| (width, bytes))).collect();
    tables.extend(
        graph.iter().flat_map(|graph| WIDTHS.map(|width| (width, 4 * width * graph.rows()))),
    );
    let largest = tables.iter().map(|&(_, bytes)| bytes).max().expect("there are tables");
    let mut all = Pages::zeros(largest / 4);
    all.get_mut().par_iter_mut().enumerate().for_each(|(at, element)| *element = value(at));
    for threads in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        for &(width, bytes) in &tables {
            let rows = bytes / (4 * width);
            let table = &all.get()[..rows * width];
            let given = graph.as_ref().filter(|graph| graph.rows() == rows);
            println!("{}", pool.install(|| line(table, width, threads, given)));
        }
    }
}

/// Small integers, so that sums are exact in any order.
fn value(at: usize) -> f32 {
    (at % 4093 % 16) as f32
}

/// Everything about one table.
fn line(table: &[f32], width: usize, threads: usize, given: Option<&Graph>) -> String {
    let rows = table.len() / width;
    // Narrow rows are bounded by additions, not bytes: fewer of them take as long.
    let sums = (GATHERED / (4 * width.max(8)) / SUMMED).next_multiple_of(SUMS_OF_TASK);
    let drawn = Graph::drawn(rows, sums);
    let forms = limits(table, width, &drawn.neighbours);
    let (best, limit) =
        forms.iter().max_by(|left, right| left.1.total_cmp(&right.1)).expect("there are forms");
    let shown: Vec<String> =
        forms.iter().map(|(name, speed)| format!("\"{name}\": {speed:.2}")).collect();
    let ours = reduced(table, width, &drawn);
    let mut text = format!(
        "{{\"width\": {width}, \"table_bytes\": {}, \"threads\": {threads}, \"limit\": {limit:.2}, \
         \"form\": \"{best}\"",
        4 * table.len()
    );
    text += &format!(", \"neighbour_sum\": {ours:.2}, \"of_limit\": {:.3}", ours / limit);
    if let Some(graph) = given {
        let on_graph = reduced(table, width, graph);
        text += &format!(
            ", \"on_graph\": {on_graph:.2}, \"on_graph_of_limit\": {:.3}",
            on_graph / limit
        );
    }
    text + &format!(", \"forms\": {{{}}}}}", shown.join(", "))
}

/// Gigabytes a second of each form.
fn limits(table: &[f32], width: usize, index: &[u32]) -> Vec<(String, f64)> {
    match width {
        1 => limits_of::<1>(table, index),
        16 => limits_of::<16>(table, index),
        32 => limits_of::<32>(table, index),
        64 => limits_of::<64>(table, index),
        128 => limits_of::<128>(table, index),
        other => unreachable!("no form for rows of {other}"),
    }
}

fn limits_of<const WIDTH: usize>(table: &[f32], index: &[u32]) -> Vec<(String, f64)> {
    let mut out = Pages::zeros(index.len() / SUMMED * WIDTH);
    let mut forms = Vec::new();
    for ahead in [0, 8, 16, 32, 64] {
        let speed =
            speed_of(&mut out, index, |out| gather::<WIDTH, 1>(out, table, index, ahead), table);
        forms.push((if ahead == 0 { "plain".to_owned() } else { format!("{ahead} ahead") }, speed));
    }
    for ahead in [0, 16] {
        let speed =
            speed_of(&mut out, index, |out| gather::<WIDTH, 2>(out, table, index, ahead), table);
        forms.push((
            if ahead == 0 { "two".to_owned() } else { format!("two, {ahead} ahead") },
            speed,
        ));
    }
    forms
}

/// Checks the answer, then times.
fn speed_of(out: &mut Pages, index: &[u32], work: impl Fn(&mut [f32]), table: &[f32]) -> f64 {
    let width = out.get().len() / (index.len() / SUMMED);
    out.get_mut().fill(-1.0);
    work(out.get_mut());
    for sum in (0..index.len() / SUMMED).step_by(97) {
        let rows = &index[sum * SUMMED..][..SUMMED];
        for column in 0..width {
            let expected: f64 =
                rows.iter().map(|&row| f64::from(table[row as usize * width + column])).sum();
            assert_eq!(
                f64::from(out.get()[sum * width + column]),
                expected,
                "sum {sum}, column {column}"
            );
        }
    }
    let seconds = best(|| work(out.get_mut()));
    (index.len() * width * 4) as f64 / seconds / 1e9
}

/// The best run after one for warming up.
fn best(mut work: impl FnMut()) -> f64 {
    work();
    best_seconds(RUNS, work)
}

/// Sums of `SUMMED` rows each, by all threads of the pool; `TOGETHER` sums at a time, rows asked
/// for `ahead` of their addition.
fn gather<const WIDTH: usize, const TOGETHER: usize>(
    out: &mut [f32],
    table: &[f32],
    index: &[u32],
    ahead: usize,
) {
    let arch = Arch::new();
    let tasks = out.par_chunks_mut(SUMS_OF_TASK * WIDTH).with_max_len(1).enumerate();
    tasks.for_each(|(task, out)| {
        let index = &index[task * SUMS_OF_TASK * SUMMED..];
        arch.dispatch(Gather::<WIDTH, TOGETHER> { out, table, index, ahead });
    });
}

struct Gather<'a, const WIDTH: usize, const TOGETHER: usize> {
    out: &'a mut [f32],
    table: &'a [f32],
    index: &'a [u32],
    ahead: usize,
}

impl<const WIDTH: usize, const TOGETHER: usize> WithSimd for Gather<'_, WIDTH, TOGETHER> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let after =
            if self.ahead == 0 { &[] } else { self.index.get(self.ahead..).unwrap_or_default() };
        for (group, out) in self.out.chunks_exact_mut(WIDTH * TOGETHER).enumerate() {
            let mut made = [[0f32; WIDTH]; TOGETHER];
            for step in 0..SUMMED {
                for (sum, made) in made.iter_mut().enumerate() {
                    let entry = (group * TOGETHER + sum) * SUMMED + step;
                    if let Some(&later) = after.get(entry) {
                        for column in (0..WIDTH).step_by(16) {
                            prefetch_index(self.table, later as usize * WIDTH + column);
                        }
                    }
                    let start = self.index[entry] as usize * WIDTH;
                    let row = &self.table[start..start + WIDTH];
                    for column in 0..WIDTH {
                        made[column] += row[column];
                    }
                }
            }
            for (out, made) in out.chunks_exact_mut(WIDTH).zip(&made) {
                out.copy_from_slice(made);
            }
        }
    }
}

/// Gigabytes a second of our neighbour sum, rows read alone, as above.
fn reduced(table: &[f32], width: usize, graph: &Graph) -> f64 {
    let mut out = Pages::zeros(graph.rows() * width);
    let lists = [Entries::of_list(&graph.offsets, &graph.neighbours)];
    let sum = |out: &mut [f32]| {
        let tasks = out.par_chunks_mut(SUMS_OF_TASK * width).enumerate();
        tasks.for_each(|(task, out)| {
            let first = task * SUMS_OF_TASK;
            reduce_rows::<f32, SumOf>(Arch::new(), out, &lists, first, table, width);
        });
    };
    sum(out.get_mut());
    for row in (0..graph.rows()).step_by(997) {
        let neighbours =
            &graph.neighbours[graph.offsets[row] as usize..graph.offsets[row + 1] as usize];
        let expected: f64 =
            neighbours.iter().map(|&neighbour| f64::from(table[neighbour as usize * width])).sum();
        assert_eq!(f64::from(out.get()[row * width]), expected, "row {row}");
    }
    let seconds = best(|| sum(out.get_mut()));
    (graph.neighbours.len() * width * 4) as f64 / seconds / 1e9
}

/// Rows of neighbours.
struct Graph {
    offsets: Vec<u64>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// `sums` rows of `SUMMED` neighbours each, drawn evenly among `rows`.
    fn drawn(rows: usize, sums: usize) -> Self {
        let draw = |entry: usize| {
            let word = philox4x32::<7>([entry as u32, 0, 0, 0], [3, 4])[0];
            ((u64::from(word) * rows as u64) >> 32) as u32
        };
        let neighbours = (0..sums * SUMMED).into_par_iter().map(draw).collect();
        Graph { offsets: (0..=sums as u64).map(|sum| sum * SUMMED as u64).collect(), neighbours }
    }

    fn read(offsets: &str, neighbours: &str) -> Self {
        let bytes = |path: &str| {
            std::fs::read(path).unwrap_or_else(|error| panic!("cannot read `{path}`: {error}"))
        };
        let (wide, narrow) = (bytes(offsets), bytes(neighbours));
        let offsets = wide.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Graph {
            offsets,
            neighbours: narrow
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes))
                .collect(),
        }
    }

    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Elements on large pages, as an executor's buffers are.
struct Pages(MmapMut);

impl Pages {
    fn zeros(count: usize) -> Self {
        let pages = MmapMut::map_anon(4 * count).expect("memory");
        let _small_ones_do = pages.advise(Advice::HugePage);
        Pages(pages)
    }

    fn get(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }

    fn get_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
