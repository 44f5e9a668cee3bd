//! group_walk: a fused walk by groups of neighbours: threads share groups, so that the edges of a
//! row with many of them are reduced by several.
//!
//! promises  a row whose groups are in one task is computed as by rows; of others, the parts of
//!           tasks are combined in the order of groups; the same bits for any thread count
//! never     combines by an atomic operation
//! limits    one pass over the edges of one direction; a row over several tasks runs the steps
//!           before its edges once for each
use rayon::prelude::*;
use std::sync::Mutex;
use warploom_ir::Direction;
use warploom_launch::Over;

use super::block::{RowPart, Worker};
use super::kernel::Kernel;
use super::{StoredMut, Task, Work, divided};
use crate::Real;
use crate::evaluate::Element;
use crate::group_tasks::{GroupTask, divide_groups};
use crate::product_over_rows::add_in_order;
use crate::row_tasks::partials_most;

/// A task, and the outputs of its own rows.
type Job<'o, T> = (GroupTask, Task<'o, T>);

/// What a task leaves of rows that it shares with others.
struct SharedRows<T> {
    continued: Option<RowPart<T>>,
    begun: Option<RowPart<T>>,
}

/// The partial totals of some tasks, and what each leaves of shared rows.
type Done<T> = (Vec<Vec<T>>, Vec<SharedRows<T>>);

/// Runs a kernel by the groups that start at these slots.
pub(super) fn walk_groups<'o, T: Real + Element>(
    kernel: &Kernel<T>,
    outputs: Vec<StoredMut<'o, T>>,
    totals: Vec<&mut [T]>,
    work: &Work<T>,
    starts: &[u64],
) {
    let list = match kernel.over {
        Over::EdgesOf(Direction::In) => work.graph.incoming,
        _ => work.graph.outgoing,
    };
    let offsets = list.expect("the lists that are walked were made").offsets;
    let tasks = divide_groups(offsets, starts);
    let (mut jobs, spread) = divide_outputs(kernel, outputs, tasks);
    // A task alone, or, where there are totals, as many as share a partial sum.
    let chunks =
        if kernel.totals.is_empty() { jobs.len() } else { partials_most(kernel.total_elements()) };
    let at_once = jobs.len().div_ceil(chunks.max(1)).max(1);
    let idle: Mutex<Vec<Worker<'o, T>>> = Mutex::new(Vec::new());
    let run = |jobs: &mut [Job<'o, T>]| {
        let taken = idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut worker = taken.unwrap_or_else(|| Worker::new(kernel));
        let mut of_task = |(task, (first, count, outputs)): &mut Job<'o, T>| {
            worker.rows(kernel, work, *first, *count, outputs);
            let mut part =
                |row: usize| worker.reduce_part(kernel, work, row, task.slots_of_row(offsets, row));
            SharedRows {
                continued: task.continued.map(&mut part),
                begun: task.begun.map(&mut part),
            }
        };
        let shared: Vec<SharedRows<T>> = jobs.iter_mut().map(&mut of_task).collect();
        let partial = worker.take_totals(kernel);
        if let Ok(mut idle) = idle.lock() {
            idle.push(worker);
        }
        (partial, shared)
    };
    let done: Vec<Done<T>> = jobs.par_chunks_mut(at_once).with_max_len(1).map(run).collect();
    let (mut partials, shared): (Vec<_>, Vec<_>) = done.into_iter().unzip();
    partials.push(finish_spread(kernel, work, spread, shared.into_iter().flatten()));
    for (number, total) in totals.into_iter().enumerate() {
        add_in_order(total, partials.iter().map(|partial| &partial[number]));
    }
}

/// Splits outputs into those of the rows of each task, and those of rows in several tasks.
fn divide_outputs<'o, T: Real + Element>(
    kernel: &Kernel<T>,
    outputs: Vec<StoredMut<'o, T>>,
    tasks: Vec<GroupTask>,
) -> (Vec<Job<'o, T>>, Vec<Task<'o, T>>) {
    let own = |task: &GroupTask| {
        let rows = (task.rows.start as u32, task.rows.len() as u32);
        std::iter::once(rows).chain(task.begun.map(|row| (row as u32, 1)))
    };
    let runs: Vec<_> = tasks.iter().flat_map(own).collect();
    let mut parts = divided(outputs, &kernel.output_columns, &runs).into_iter();
    let (mut jobs, mut spread) = (Vec::with_capacity(tasks.len()), Vec::new());
    for task in tasks {
        let begun = task.begun;
        jobs.extend(parts.next().map(|part| (task, part)));
        spread.extend(begun.and_then(|_| parts.next()));
    }
    (jobs, spread)
}

/// Combines the parts of rows in several tasks, in the order of tasks, and computes these rows;
/// returns their partial totals.
fn finish_spread<'o, T: Real + Element>(
    kernel: &Kernel<T>,
    work: &Work<T>,
    spread: Vec<Task<'o, T>>,
    shared: impl Iterator<Item = SharedRows<T>>,
) -> Vec<Vec<T>> {
    let mut rows: Vec<RowPart<T>> = Vec::with_capacity(spread.len());
    for SharedRows { continued, begun } in shared {
        if let (Some(row), Some(part)) = (rows.last_mut(), continued) {
            row.join(kernel, &part);
        }
        rows.extend(begun);
    }
    let mut worker = Worker::new(kernel);
    for ((row, _, mut outputs), reduced) in spread.into_iter().zip(rows) {
        worker.finish_row(kernel, work, row, reduced, &mut outputs);
    }
    worker.take_totals(kernel)
}
