//! dense: matrix products, sums over rows, table lookups.
use rayon::prelude::*;
use warploom_ir::{Op, Pooling, Reduction};

use super::element::{Element, empty_reduction};
use super::source::{At, Get, Layout, Rows, Source, Way};
use super::{Call, Part, Values, ValuesMut};
use crate::Real;
use crate::product::{Product, RightLayout, product};
use crate::product_over_rows::{ProductOverRows, product_over_rows};
use crate::row_tasks::rows_per_task;

/// Rows of one partial sum.
const BLOCK_ROWS: usize = 4096;
/// Minimum graphs of a batch that one task pools.
const TASK_GRAPHS: usize = 16;

/// Computes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match (call.op, out) {
        (Op::Pool(pooling), ValuesMut::Real(out)) => pool(out, call, *pooling, Values::reals),
        (Op::Pool(pooling), ValuesMut::Whole(out)) => pool(out, call, *pooling, Values::integers),
        (Op::SumRows, ValuesMut::Real(out)) => sum_rows(out, call, Values::reals),
        (Op::SumRows, ValuesMut::Whole(out)) => sum_rows(out, call, Values::integers),
        (Op::Product { transposed }, ValuesMut::Real(out)) => products(out, call, *transposed),
        (Op::Outer, ValuesMut::Real(out)) => outer(out, call),
        (Op::Lookup { transposed }, ValuesMut::Real(out)) => {
            lookup(out, call, *transposed, Values::reals)
        }
        (Op::Lookup { transposed }, ValuesMut::Whole(out)) => {
            lookup(out, call, *transposed, Values::integers)
        }
        (Op::Scatter { transposed }, ValuesMut::Real(out)) => scatter(out, call, *transposed),
        (op, _) => unreachable!("a validated list gives `{op:?}` a result of its type"),
    }
}

/// An input as rows of its own shape.
fn rows<'a, T, A: Element>(call: &Call<'a, T>, input: usize, get: Get<'a, T, A>) -> Rows<'a, A> {
    match &call.inputs[input] {
        Part::Leaf(leaf) => Rows::new(leaf, get, &call.graph, leaf.shape, None),
        Part::Times(..) => unreachable!("a validated list has products only where they are summed"),
    }
}

/// All elements of an input, row-major, broadcast to the rows of the result; copied only where an
/// index gathers them.
fn flat<'a, A: Element>(rows: &Rows<'a, A>, count: usize) -> std::borrow::Cow<'a, [A]> {
    match (&rows.layout, rows.way) {
        (Layout::Same, Way::Same | Way::One) => rows.values.into(),
        _ => (0..count)
            .flat_map(|row| rows.values_at(At::row(row)).iter().copied())
            .collect::<Vec<A>>()
            .into(),
    }
}

/// The number of rows of an input.
fn row_count<T>(call: &Call<T>, input: &Part<T>) -> usize {
    match input {
        Part::Leaf(leaf) => {
            let columns = leaf.shape.iter().product::<u64>() as usize;
            let held = match leaf.values {
                Values::Real(values) => values.len(),
                Values::Whole(values) => values.len(),
            };
            match leaf.index {
                super::Index::Far(edges) | super::Index::Near(edges) => {
                    call.graph.edge_count
                        * if edges.rows() == warploom_ir::EdgeRows::Twice { 2 } else { 1 }
                }
                _ => held.checked_div(columns).unwrap_or(0),
            }
        }
        // An operand that is the same for all rows has one.
        Part::Times(first, second) => row_count(call, first).max(row_count(call, second)),
    }
}

fn last<T>(part: &Part<T>) -> usize {
    part.shape().last().map_or(1, |length| *length as usize)
}

fn products<T: Real + Element>(out: &mut [T], call: &Call<T>, transposed: bool) {
    let (left, right) = (rows(call, 0, Values::reals), rows(call, 1, Values::reals));
    let (inner, columns) =
        (last(&call.inputs[0]), call.shape.last().map_or(1, |length| *length as usize));
    let left = flat(&left, call.rows);
    let work = Product {
        left: &left,
        right: right.values,
        layout: if transposed { RightLayout::Transposed } else { RightLayout::Plain },
        rows: out.len().checked_div(columns).unwrap_or(0),
        inner,
        columns,
    };
    product(out, &work);
}

fn outer<T: Real + Element>(out: &mut [T], call: &Call<T>) {
    let (left_columns, right_columns) = (last(&call.inputs[0]), last(&call.inputs[1]));
    let count = row_count(call, &call.inputs[0]);
    let (left, right) = (rows(call, 0, Values::reals), rows(call, 1, Values::reals));
    let (left, right) = (flat(&left, count), flat(&right, count));
    let rows = left.len().checked_div(left_columns).unwrap_or(0);
    product_over_rows(
        out,
        &ProductOverRows { left: &left, right: &right, rows, left_columns, right_columns },
    );
}

/// Partial sums of blocks that depend on sizes only, added in order.
fn sum_rows<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let input = &call.inputs[0];
    let source = Source::new(input, get, &call.graph, &input.shape(), None);
    joined(
        out,
        row_count(call, input),
        |row, made, scratch| take(made, source.row(At::row(row), scratch), A::sum),
        A::default(),
        A::sum,
    );
}

/// Combines a row with the accumulator.
fn take<A: Element>(made: &mut [A], row: &[A], work: impl Fn(A, A) -> A) {
    made.iter_mut().zip(row).for_each(|(made, value)| *made = work(*made, *value));
}

/// `row` combines row number n with the accumulator; it may use the second slice as scratch.
fn joined<A: Element>(
    out: &mut [A],
    count: usize,
    row: impl Fn(usize, &mut [A], &mut [A]) + Sync,
    nothing: A,
    work: impl Fn(A, A) -> A + Sync,
) {
    let columns = out.len();
    let block = |block: usize| {
        let (mut made, mut scratch) = (vec![nothing; columns], vec![nothing; columns]);
        for index in block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(count) {
            row(index, &mut made, &mut scratch);
        }
        made
    };
    let blocks: Vec<Vec<A>> = (0..count.div_ceil(BLOCK_ROWS)).into_par_iter().map(block).collect();
    out.fill(nothing);
    for made in &blocks {
        take(out, made, &work);
    }
}

fn pool<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    pooling: Pooling,
    get: Get<'a, T, A>,
) {
    let source = rows(call, 0, get);
    let (work, reduction): (fn(A, A) -> A, Reduction) = match pooling {
        Pooling::Sum => (A::sum, Reduction::Sum),
        Pooling::Maximum => (A::most, Reduction::Maximum),
        Pooling::Minimum => (A::least, Reduction::Minimum),
    };
    let nothing: A = empty_reduction(reduction, call.kind);
    let columns = call.columns();
    let Some(graphs) = call.graph.graphs else {
        out.fill(nothing);
        if columns > 0 && !out.is_empty() {
            joined(
                &mut out[..columns],
                call.graph.nodes,
                |row, made, _| take(made, source.values_at(At::row(row)), work),
                nothing,
                work,
            );
        }
        return;
    };
    if columns == 0 {
        return;
    }
    out.par_chunks_exact_mut(columns).enumerate().with_min_len(TASK_GRAPHS).for_each(
        |(graph, out)| {
            out.fill(nothing);
            for vertex in
                &graphs.vertices[graphs.offsets[graph] as usize..graphs.offsets[graph + 1] as usize]
            {
                let values = source.values_at(At::row(*vertex as usize));
                take(out, values, work);
            }
        },
    );
}

/// Positions sorted by key (stable), and where each key starts. Keys out of range are left out.
fn sorted_by(
    keys: impl Iterator<Item = Option<usize>> + Clone,
    count: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0usize; count + 1];
    let inside = |key: &Option<usize>| key.filter(|key| *key < count);
    for key in keys.clone().filter_map(|key| inside(&key)) {
        starts[key + 1] += 1;
    }
    for key in 0..count {
        starts[key + 1] += starts[key];
    }
    let (mut next, mut sorted) = (starts.clone(), vec![0; starts[count]]);
    for (position, key) in keys.enumerate() {
        if let Some(key) = inside(&key) {
            sorted[next[key]] = position;
            next[key] += 1;
        }
    }
    (starts, sorted)
}

fn lookup<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    transposed: bool,
    get: Get<'a, T, A>,
) {
    let shape = call.inputs[0].shape();
    let count = if transposed { shape[1] } else { shape[0] } as usize;
    let (table, index, columns) =
        (rows(call, 0, get).values, rows(call, 1, Values::integers), call.columns());
    if columns == 0 {
        return;
    }
    let in_task = rows_per_task(columns);
    out.par_chunks_mut(in_task * columns).enumerate().for_each(|(task, out)| {
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let wanted = index.values_at(At::row(task * in_task + row))[0];
            match usize::try_from(wanted).ok().filter(|wanted| *wanted < count) {
                None => out.fill(A::default()),
                Some(wanted) if transposed => out
                    .iter_mut()
                    .enumerate()
                    .for_each(|(column, out)| *out = table[column * count + wanted]),
                Some(wanted) => out.copy_from_slice(&table[wanted * columns..][..columns]),
            }
        }
    });
}

/// Scatter-add: the rows of each table entry are added in their order.
fn scatter<T: Real + Element>(out: &mut [T], call: &Call<T>, transposed: bool) {
    let (count, columns) = if transposed {
        (call.shape[1] as usize, call.shape[0] as usize)
    } else {
        (call.shape[0] as usize, call.shape[1] as usize)
    };
    let (source, index, row_count) = (
        rows(call, 0, Values::reals),
        rows(call, 1, Values::integers),
        row_count(call, &call.inputs[0]),
    );
    let keys = (0..row_count).map(|row| usize::try_from(index.values_at(At::row(row))[0]).ok());
    let (starts, sorted) = sorted_by(keys, count);
    if columns == 0 {
        return;
    }
    let mut made = vec![T::ZERO; count * columns];
    made.par_chunks_exact_mut(columns).enumerate().for_each(|(place, made)| {
        for row in &sorted[starts[place]..starts[place + 1]] {
            let values = source.values_at(At::row(*row));
            made.iter_mut().zip(values).for_each(|(made, value)| *made = *made + *value);
        }
    });
    if transposed {
        out.par_chunks_exact_mut(count.max(1)).enumerate().for_each(|(column, out)| {
            out.iter_mut()
                .enumerate()
                .for_each(|(place, out)| *out = made[place * columns + column]);
        });
    } else {
        out.copy_from_slice(&made);
    }
}
