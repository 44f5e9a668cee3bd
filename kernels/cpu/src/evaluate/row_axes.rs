//! row_axes: operations along the axes of a row: reductions, concat, slices.
use rayon::prelude::*;
use warploom_ir::{Op, Pooling, Reduction};

use super::element::{Element, empty_reduction};
use super::source::{At, Get, Rows, Source};
use super::{Call, Part, Values, ValuesMut};
use crate::Real;
use crate::row_tasks::rows_per_task;

/// Computes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match out {
        ValuesMut::Real(out) => typed(out, call, Values::reals),
        ValuesMut::Whole(out) => typed(out, call, Values::integers),
    }
}

fn typed<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    match call.op {
        Op::Axis(pooling, axis) => reduce_axis(out, call, *pooling, *axis, get),
        _ => picked(out, call, get),
    }
}

/// The product of the lengths before an axis, its length, and the product of those after it.
pub(crate) fn axis_lengths(shape: &[u64], axis: usize) -> [usize; 3] {
    let product = |lengths: &[u64]| lengths.iter().product::<u64>() as usize;
    [product(&shape[..axis]), shape[axis] as usize, product(&shape[axis + 1..])]
}

fn for_each_row<A: Element>(out: &mut [A], columns: usize, work: impl Fn(usize, &mut [A]) + Sync) {
    if columns == 0 {
        return;
    }
    let in_task = rows_per_task(columns);
    out.par_chunks_mut(in_task * columns).enumerate().for_each(|(task, out)| {
        out.chunks_exact_mut(columns)
            .enumerate()
            .for_each(|(row, out)| work(task * in_task + row, out));
    });
}

fn reduce_axis<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    pooling: Pooling,
    axis: usize,
    get: Get<'a, T, A>,
) {
    let shape = call.inputs[0].shape();
    let wide = shape.iter().product::<u64>() as usize;
    let [_, length, after] = axis_lengths(&shape, axis);
    let source = Source::new(&call.inputs[0], get, &call.graph, &shape, None);
    let (work, reduction): (fn(A, A) -> A, Reduction) = match pooling {
        Pooling::Sum => (A::sum, Reduction::Sum),
        Pooling::Maximum => (A::most, Reduction::Maximum),
        Pooling::Minimum => (A::least, Reduction::Minimum),
    };
    let nothing: A = empty_reduction(reduction, call.kind);
    let columns = call.columns();
    if columns == 0 {
        return;
    }
    let in_task = rows_per_task(columns.max(wide));
    out.par_chunks_mut(in_task * columns).enumerate().for_each(|(task, out)| {
        let mut scratch = vec![A::default(); wide];
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let values = source.row(At::row(task * in_task + row), &mut scratch);
            for (column, out) in out.iter_mut().enumerate() {
                let first = column / after * length * after + column % after;
                let along = values.iter().skip(first).step_by(after).take(length).copied();
                *out = along.reduce(work).map_or(nothing, |made| {
                    if pooling == Pooling::Sum { nothing.sum(made) } else { made }
                });
            }
        }
    });
}

/// Each element of a row is copied from an input, or 0.
fn picked<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let inputs = call.inputs.iter().map(|part| match part {
        Part::Leaf(leaf) => Rows::new(leaf, get, &call.graph, leaf.shape, None),
        Part::Times(..) => unreachable!("a validated list has products only where they are summed"),
    });
    let inputs: Vec<Rows<A>> = inputs.collect();
    let shapes: Vec<Vec<u64>> = call.inputs.iter().map(Part::shape).collect();
    let runs = runs(call.op, call.shape, &shapes);
    for_each_row(out, call.columns(), |row, out| {
        if let Op::Unslice { .. } = call.op {
            out.fill(A::default());
        }
        for AxisRun { input, from, to, length } in &runs {
            out[*to..to + length]
                .copy_from_slice(&inputs[*input].values_at(At::row(row))[*from..from + length]);
        }
    });
}

/// Elements that are contiguous both in a row of an input and in the row of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisRun {
    pub input: usize,
    pub from: usize,
    pub to: usize,
    pub length: usize,
}

/// The contiguous runs that a row of the result consists of, per position before the axis one per
/// input.
pub(crate) fn runs(op: &Op, made: &[u64], shapes: &[Vec<u64>]) -> Vec<AxisRun> {
    let (axis, first) = match op {
        Op::Concat(axis) => (*axis, 0),
        Op::Slice { axis, start, .. } | Op::Unslice { axis, start, .. } => (*axis, *start as usize),
        op => unreachable!("`{op:?}` picks nothing"),
    };
    let [before, made, after] = axis_lengths(made, axis);
    let mut runs = Vec::with_capacity(before * shapes.len());
    for before in 0..before {
        let mut to = before * made * after;
        for (input, shape) in shapes.iter().enumerate() {
            let held = shape[axis] as usize;
            let (from, start, length) = match op {
                Op::Slice { .. } => (first, 0, made),
                Op::Unslice { .. } => (0, first, held),
                _ => (0, 0, held),
            };
            runs.push(AxisRun {
                input,
                from: (before * held + from) * after,
                to: to + start * after,
                length: length * after,
            });
            to += length * after;
        }
    }
    runs
}
