//! within: what happens along the axes of a row.
use rayon::prelude::*;
use warploom_vertex::gir::{Op, Pooling, Reduction};

use super::element::{Element, over_nothing};
use super::source::{At, Get, Rows, Source};
use super::{Call, Part, Values, ValuesMut};
use crate::Real;
use crate::division::rows_per_task;

/// Writes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match out {
        ValuesMut::Real(out) => typed(out, call, Values::real),
        ValuesMut::Whole(out) => typed(out, call, Values::whole),
    }
}

fn typed<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    match call.op {
        Op::Axis(pooling, axis) => along(out, call, (*pooling, *axis), get),
        _ => picked(out, call, get),
    }
}

/// Lengths before an axis, of it, and after it.
fn around(shape: &[u64], axis: usize) -> [usize; 3] {
    let product = |lengths: &[u64]| lengths.iter().product::<u64>() as usize;
    [product(&shape[..axis]), shape[axis] as usize, product(&shape[axis + 1..])]
}

fn by_rows<A: Element>(out: &mut [A], columns: usize, work: impl Fn(usize, &mut [A]) + Sync) {
    if columns == 0 {
        return;
    }
    let in_task = rows_per_task(columns);
    out.par_chunks_mut(in_task * columns).enumerate().for_each(|(task, out)| {
        out.chunks_exact_mut(columns).enumerate().for_each(|(row, out)| work(task * in_task + row, out));
    });
}

fn along<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, (pooling, axis): (Pooling, usize), get: Get<'a, T, A>) {
    let shape = call.inputs[0].shape();
    let wide = shape.iter().product::<u64>() as usize;
    let [_, length, after] = around(&shape, axis);
    let source = Source::of(&call.inputs[0], get, &call.graph, (&shape, None));
    let (work, reduction): (fn(A, A) -> A, Reduction) = match pooling {
        Pooling::Sum => (A::sum, Reduction::Sum),
        Pooling::Maximum => (A::most, Reduction::Maximum),
        Pooling::Minimum => (A::least, Reduction::Minimum),
    };
    let nothing: A = over_nothing(reduction, call.kind);
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
                *out = along.reduce(work).map_or(nothing, |made| if pooling == Pooling::Sum { nothing.sum(made) } else { made });
            }
        }
    });
}

/// Each element of a row is one of an input's, or 0.
fn picked<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let inputs = call.inputs.iter().map(|part| match part {
        Part::Leaf(leaf) => Rows::of(leaf, get, &call.graph, (leaf.shape, None)),
        Part::Times(..) => unreachable!("a validated list has products only where they are summed"),
    });
    let inputs: Vec<Rows<A>> = inputs.collect();
    let table = picks(call);
    by_rows(out, call.columns(), |row, out| {
        for (out, pick) in out.iter_mut().zip(&table) {
            *out = pick.map_or_else(A::default, |(input, column)| inputs[input].of_row(At::row(row))[column]);
        }
    });
}

/// For each element of a row: which input, and which element of its row; none: 0.
fn picks<T>(call: &Call<T>) -> Vec<Option<(usize, usize)>> {
    let shapes: Vec<Vec<u64>> = call.inputs.iter().map(Part::shape).collect();
    let axis = match call.op {
        Op::Concat(axis) | Op::Slice { axis, .. } | Op::Unslice { axis, .. } => *axis,
        op => unreachable!("`{op:?}` picks nothing"),
    };
    let [_, length, after] = around(call.shape, axis);
    let column_of = |input: usize, before: usize, place: usize, rest: usize| (before * shapes[input][axis] as usize + place) * after + rest;
    let pick = |column: usize| {
        let (before, place, rest) = (column / after / length, column / after % length, column % after);
        match call.op {
            Op::Slice { start, .. } => Some((0, column_of(0, before, place + *start as usize, rest))),
            Op::Unslice { start, .. } => {
                let place = place.checked_sub(*start as usize).filter(|place| *place < shapes[0][axis] as usize)?;
                Some((0, column_of(0, before, place, rest)))
            }
            _ => {
                let mut place = place;
                for (input, shape) in shapes.iter().enumerate() {
                    if place < shape[axis] as usize {
                        return Some((input, column_of(input, before, place, rest)));
                    }
                    place -= shape[axis] as usize;
                }
                None
            }
        }
    };
    (0..call.columns()).map(pick).collect()
}
