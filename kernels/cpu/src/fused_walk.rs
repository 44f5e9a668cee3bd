//! fused_walk: several operations of a program fused into one walk over vertices and their edges,
//! or over edges.
//!
//!   one operation for all rows           every value goes to memory and comes back
//!   all operations for a block of rows   values stay in L2; temporaries are never stored  <- here
//!   tiles of edges                       an edge value is a tile that stays in L1, at any degree
//!   gathered sums                        wide rows of far vertices are summed in place (`gather`)
//!   far rows alone                       read from the list, without a tile (`far_rows`)
//!   matrix products block by block       later steps find the rows in L2 (`Op::Product`)
//!   totals block by block                gradients of parameters read rows in L2 (`Level::Total`)
//!
//! promises  equals `ir::interpret` for each step, up to the order in which sums along a row's
//!           axis, in products and in totals are added, and the rounding of `exp`; sums over the
//!           edges of a vertex run in the order of edge ids, but for those of a single column that
//!           `far_rows` adds in lanes; the same bits for any thread count
//! never     stores edge values, unless it walks edges; reads what another row of the same walk
//!           computes
//! limits    a vertex is processed by one task, however many edges it has, but by groups
//!           (`group_walk`); scratch of about 1 MiB per task
mod arithmetic;
mod block;
mod far_rows;
mod fetch;
mod gather;
mod group_walk;
mod inlined_steps;
mod kernel;
mod operands;
mod products;
mod reduce;
mod registers;
#[cfg(test)]
mod tests;
mod tile;

use rayon::prelude::*;
use std::sync::Mutex;
use warploom_ir::{Direction, Number, Op, Type};
use warploom_launch::Over;

pub use kernel::Kernel;

use crate::Real;
use crate::evaluate::{EdgeGraph, EdgeList, Element, Index};
use crate::frontier::Run;
use crate::half_precision::{bf16, f16};
use crate::product_over_rows::add_in_order;
use crate::random::dropout::DrawContext;
use crate::row_tasks::{partials_most, rows_per_task};
use block::Worker;

/// One operation of a fused launch.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is computed.
    pub op: Op,
    /// Shape of a row.
    pub shape: Vec<u64>,
    /// Type of an element.
    pub kind: Type,
    /// What a row corresponds to.
    pub level: Level,
    /// What it is computed from.
    pub inputs: Vec<Input>,
    /// Which output it is, if any; for totals, which total.
    pub store: Option<usize>,
}

/// What a row of a step corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A vertex.
    Row,
    /// An edge.
    Edge,
    /// All vertices: a sum over their rows.
    Total,
}

/// An input of a step.
#[derive(Clone, Debug)]
pub enum Input {
    /// A constant.
    Number(Number),
    /// Rows.
    Rows(Read),
    /// The element-wise product of two inputs.
    Times(Box<Input>, Box<Input>),
}

/// Rows that a step reads.
#[derive(Clone, Debug)]
pub struct Read {
    /// Where they come from.
    pub from: From,
    /// Shape of a row.
    pub shape: Vec<u64>,
    /// How rows of the step map to these.
    pub index: Index,
    /// Type of an element.
    pub kind: Type,
}

/// The source of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The result of an earlier step.
    Step(usize),
    /// An input buffer.
    Buffer(usize),
}

/// Input elements in their storage type.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a, T> {
    /// Floats of the run's type.
    Real(&'a [T]),
    /// 16-bit floats.
    Bf16(&'a [bf16]),
    /// 16-bit floats.
    F16(&'a [f16]),
    /// Bools, integers and ids.
    Whole(&'a [i64]),
}

/// Output elements in their storage type.
#[derive(Debug)]
pub enum StoredMut<'a, T> {
    /// Floats of the run's type.
    Real(&'a mut [T]),
    /// 16-bit floats.
    Bf16(&'a mut [bf16]),
    /// 16-bit floats.
    F16(&'a mut [f16]),
    /// Bools, integers and ids.
    Whole(&'a mut [i64]),
}

/// What a kernel runs on.
#[derive(Debug)]
pub struct Work<'a, T> {
    /// Input buffers.
    pub reads: &'a [Stored<'a, T>],
    /// The graph.
    pub graph: EdgeGraph<'a>,
    /// First row of each work unit, and the number of rows; for walks over the edges of vertices.
    pub unit_starts: &'a [u32],
    /// First slot of each group of neighbours of the walked direction, and the number of slots:
    /// threads share groups, not units, where all rows are computed and the kernel supports it.
    pub groups: Option<&'a [u64]>,
    /// Whether this is a training pass, and the state that dropout draws from.
    pub context: DrawContext<'a>,
    /// The rows to compute, ascending; all others keep their values. Only for walks over vertices
    /// without totals.
    pub only: Option<&'a [Run]>,
}

/// Minimum rows per task where there are no edges to balance.
const LEAST_TASK_ROWS: usize = 64;

/// Elements of a walk that are worth a turn of a thread: some ten microseconds.
const LEAST_TURN_ELEMENTS: usize = 1 << 14;

/// Runs of rows per task, where not all rows are computed.
const TASK_RUNS: usize = 8;

/// Runs a kernel; each output has as many rows as the walk.
pub fn fused<T: Real + Element>(
    kernel: &Kernel<T>,
    outputs: Vec<StoredMut<T>>,
    totals: Vec<&mut [T]>,
    work: &Work<T>,
) {
    T::run_fused(kernel, outputs, totals, work);
}

pub(crate) fn fused_of_type<'o, T: Real + Element>(
    kernel: &Kernel<T>,
    outputs: Vec<StoredMut<'o, T>>,
    totals: Vec<&mut [T]>,
    work: &Work<T>,
) {
    if let (Some(starts), None) = (work.groups, work.only)
        && kernel.supports_groups()
    {
        return group_walk::walk_groups(kernel, outputs, totals, work, starts);
    }
    let rows = match kernel.over {
        Over::Vertices | Over::EdgesOf(_) => work.graph.nodes,
        Over::Edges(_) if kernel.edges_twice => 2 * work.graph.edge_count,
        Over::Edges(_) => work.graph.edge_count,
    };
    let runs: Vec<Run> = match (work.only, kernel.over) {
        (Some(only), _) => {
            debug_assert!(kernel.totals.is_empty(), "a total is of all rows");
            only.to_vec()
        }
        (None, Over::EdgesOf(_)) => {
            work.unit_starts.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect()
        }
        (None, _) => {
            let in_task = rows_per_task(kernel.row_columns).max(LEAST_TASK_ROWS);
            (0..rows)
                .step_by(in_task)
                .map(|first| (first as u32, in_task.min(rows - first) as u32))
                .collect()
        }
    };
    assert!(
        work.only.is_some() || runs.last().map_or(0, |run| run.0 + run.1) as usize == rows,
        "units end at the last row"
    );
    let mut tasks = divided(outputs, &kernel.output_columns, &runs);
    // As many tasks as are worth a turn of a thread, or, where there are totals, as share a partial
    // sum.
    let chunks = if kernel.totals.is_empty() {
        tasks.len().min(elements_of_walk(kernel, work) / LEAST_TURN_ELEMENTS)
    } else {
        partials_most(kernel.total_elements())
    };
    let at_once =
        if work.only.is_some() { TASK_RUNS } else { tasks.len().div_ceil(chunks.max(1)).max(1) };
    let idle: Mutex<Vec<Worker<'o, T>>> = Mutex::new(Vec::new());
    let run = |tasks: &mut [Task<'o, T>]| {
        let taken = idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut worker = taken.unwrap_or_else(|| Worker::new(kernel));
        tasks.iter_mut().for_each(|(first_row, count, outputs)| {
            worker.rows(kernel, work, *first_row, *count, outputs)
        });
        let partial = worker.take_totals(kernel);
        if let Ok(mut idle) = idle.lock() {
            idle.push(worker);
        }
        partial
    };
    let partials: Vec<Vec<Vec<T>>> =
        tasks.par_chunks_mut(at_once).with_max_len(1).map(run).collect();
    for (number, total) in totals.into_iter().enumerate() {
        add_in_order(total, partials.iter().map(|partial| &partial[number]));
    }
}

/// Elements that a walk over the edges of all vertices reads and makes, about; of other walks,
/// which are cut into tasks by elements, no bound.
fn elements_of_walk<T: Real>(kernel: &Kernel<T>, work: &Work<T>) -> usize {
    let edges_in = |list: Option<EdgeList>| list.map_or(0, |list| list.far.len());
    let edges = match kernel.over {
        Over::EdgesOf(Direction::In) => edges_in(work.graph.incoming),
        Over::EdgesOf(Direction::Out) => edges_in(work.graph.outgoing),
        Over::EdgesOf(Direction::Both) => {
            edges_in(work.graph.incoming) + edges_in(work.graph.outgoing)
        }
        Over::Vertices | Over::Edges(_) => return usize::MAX,
    };
    edges * kernel.edge_columns + work.graph.nodes * kernel.row_columns
}

/// First row, number of rows, and the rows of each output.
type Task<'o, T> = (usize, usize, Vec<StoredMut<'o, T>>);

fn divided<'o, T>(
    outputs: Vec<StoredMut<'o, T>>,
    columns: &[usize],
    runs: &[Run],
) -> Vec<Task<'o, T>> {
    let mut tasks: Vec<Task<T>> = runs
        .iter()
        .map(|&(first, count)| (first as usize, count as usize, Vec::with_capacity(columns.len())))
        .collect();
    for (output, columns) in outputs.into_iter().zip(columns) {
        match output {
            StoredMut::Real(rows) => share(&mut tasks, rows, *columns, StoredMut::Real),
            StoredMut::Bf16(rows) => share(&mut tasks, rows, *columns, StoredMut::Bf16),
            StoredMut::F16(rows) => share(&mut tasks, rows, *columns, StoredMut::F16),
            StoredMut::Whole(rows) => share(&mut tasks, rows, *columns, StoredMut::Whole),
        }
    }
    tasks
}

/// Splits an output among the tasks.
fn share<'o, T, E>(
    tasks: &mut [Task<'o, T>],
    mut rest: &'o mut [E],
    columns: usize,
    as_output: impl Fn(&'o mut [E]) -> StoredMut<'o, T>,
) {
    let mut at = 0;
    for (first, count, parts) in tasks {
        let (_, from_first) = rest.split_at_mut((*first - at) * columns);
        let (part, after) = from_first.split_at_mut(*count * columns);
        parts.push(as_output(part));
        (rest, at) = (after, *first + *count);
    }
}
