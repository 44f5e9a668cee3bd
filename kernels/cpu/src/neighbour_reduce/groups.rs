//! groups: the neighbour reduction by groups of neighbours: threads share groups, so that a row
//! with many neighbours is summed by several.
//!
//! promises  each group has a sum of its own, and a row combines those of its groups in their
//!           order; minima, maxima and rows of one group have the same bits as by rows; threads
//!           change no bit
//! never     combines by an atomic operation
//! limits    one direction; memory: a block of sums for each task, and two rows
use pulp::Arch;
use rayon::prelude::*;

use super::NeighbourReduce;
use crate::Scalar;
use crate::expression::Evaluator;
use crate::group_tasks::{GroupTask, divide_groups};
use crate::row_tasks::RowPart;

/// How groups are reduced and combined.
pub(super) struct GroupKernel<'f, T> {
    /// The value over no messages.
    pub start: T,
    /// Combines two values.
    pub join: fn(T, T) -> T,
    /// Reduces groups from this one on, without the epilogue.
    pub reduce: &'f (dyn Fn(&mut [T], usize) + Sync),
    /// Rows and groups that are reduced at once.
    pub block: usize,
}

impl<T: Scalar> GroupKernel<'_, T> {
    fn join_row(&self, out: &mut [T], part: &[T]) {
        out.iter_mut().zip(part).for_each(|(out, part)| *out = (self.join)(*out, *part));
    }
}

/// Reduces by the groups that start at these slots.
pub(super) fn reduce_groups<T: Scalar>(
    out: &mut [T],
    work: &NeighbourReduce<T>,
    starts: &[u64],
    kernel: &GroupKernel<T>,
) {
    let [adjacency] = work.adjacencies else { unreachable!("groups are of one direction") };
    let (offsets, columns) = (adjacency.offsets, work.columns);
    let mut rest = out;
    let mut spread: Vec<RowPart<T>> = Vec::new();
    let mut jobs: Vec<(GroupTask, &mut [T])> = Vec::new();
    for task in divide_groups(offsets, starts) {
        let (own, after) = rest.split_at_mut(task.rows.len() * columns);
        let (begun, after) = after.split_at_mut(task.begun.map_or(0, |_| columns));
        spread.extend(task.begun.map(|row| (row, begun)));
        jobs.push((task, own));
        rest = after;
    }
    assert!(rest.is_empty(), "groups end at the last row: {} elements are in none", rest.len());
    let arch = Arch::new();
    let of_task = |(task, out): (GroupTask, &mut [T])| {
        let mut sums = GroupSums::new(kernel, starts, columns, &task);
        let continued = task.continued.map(|row| {
            let mut made = vec![kernel.start; columns];
            sums.add_row(&mut made, task.slots_of_row(offsets, row).end);
            made
        });
        let mut evaluator = Evaluator::new(arch, &work.epilogue, columns);
        for (index, out) in out.chunks_mut(kernel.block * columns).enumerate() {
            let first = task.rows.start + index * kernel.block;
            for (row, out) in out.chunks_exact_mut(columns).enumerate() {
                out.fill(kernel.start);
                sums.add_row(out, offsets[first + row + 1]);
            }
            evaluator.apply(first, out);
        }
        let begun = task.begun.map(|_| {
            let mut made = vec![kernel.start; columns];
            sums.add_row(&mut made, task.slots.end);
            made
        });
        [continued, begun]
    };
    let parts: Vec<[Option<Vec<T>>; 2]> =
        jobs.into_par_iter().with_max_len(1).map(of_task).collect();
    combine_spread(arch, spread, parts, work, kernel);
}

/// Combines the parts of rows whose groups are in several tasks, in the order of tasks.
fn combine_spread<T: Scalar>(
    arch: Arch,
    spread: Vec<RowPart<T>>,
    parts: Vec<[Option<Vec<T>>; 2]>,
    work: &NeighbourReduce<T>,
    kernel: &GroupKernel<T>,
) {
    let mut sums: Vec<Vec<T>> = Vec::with_capacity(spread.len());
    for [continued, begun] in parts {
        if let (Some(sum), Some(part)) = (sums.last_mut(), continued) {
            kernel.join_row(sum, &part);
        }
        sums.extend(begun);
    }
    let mut evaluator = Evaluator::new(arch, &work.epilogue, work.columns);
    for ((row, out), sum) in spread.into_iter().zip(sums) {
        out.copy_from_slice(&sum);
        evaluator.apply(row, out);
    }
}

/// The sums of the groups of a task, a block of groups at a time.
struct GroupSums<'w, T> {
    kernel: &'w GroupKernel<'w, T>,
    starts: &'w [u64],
    columns: usize,
    /// The next group, and the end of the task.
    next: usize,
    end: usize,
    /// The first group whose sum is in `sums`, and the end.
    held: [usize; 2],
    sums: Vec<T>,
}

impl<'w, T: Scalar> GroupSums<'w, T> {
    fn new(
        kernel: &'w GroupKernel<'w, T>,
        starts: &'w [u64],
        columns: usize,
        task: &GroupTask,
    ) -> Self {
        let at = |slot: u64| starts.partition_point(|&start| start < slot);
        let (next, end) = (at(task.slots.start), at(task.slots.end));
        GroupSums { kernel, starts, columns, next, end, held: [next, next], sums: Vec::new() }
    }

    /// Adds the sums of the next groups of a row, up to this slot.
    fn add_row(&mut self, out: &mut [T], end: u64) {
        while self.next < self.end && self.starts[self.next] < end {
            if self.next == self.held[1] {
                let count = self.kernel.block.min(self.end - self.next);
                self.sums.resize(count * self.columns, T::ZERO);
                (self.kernel.reduce)(&mut self.sums, self.next);
                self.held = [self.next, self.next + count];
            }
            let at = (self.next - self.held[0]) * self.columns;
            self.kernel.join_row(out, &self.sums[at..at + self.columns]);
            self.next += 1;
        }
    }
}
