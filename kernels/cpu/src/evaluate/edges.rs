//! edges: reductions over the edges of a vertex (scatter), and operations on edges relative to the
//! other edges of their vertex.
use rayon::prelude::*;
use warploom_ir::interpret::{self, Scalar as Number};
use warploom_ir::{EdgeSet, Function, Op, Reduction, Type};

use super::element::{Element, empty_reduction};
use super::source::{At, Get, Rows, Source, ends, walk};
use super::triangles::{common_neighbors, common_neighbors_sum};
use super::{Call, Part, Values, ValuesMut};
use crate::Real;

/// Vertices per task: few enough to balance heavy rows.
const TASK_VERTICES: usize = 256;
/// Edge rows per task.
const TASK_EDGES: usize = 8 * 1024;

/// Computes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match (call.op, out) {
        (Op::Reduce(reduction, edges), ValuesMut::Real(out)) => {
            reduce(out, call, *reduction, *edges, Values::reals)
        }
        (Op::Reduce(reduction, edges), ValuesMut::Whole(out)) if call.inputs[0].is_whole() => {
            reduce(out, call, *reduction, *edges, Values::integers)
        }
        (Op::Reduce(_, edges), ValuesMut::Whole(out)) => count(out, call, *edges),
        (Op::Fold(function, edges), ValuesMut::Real(out)) => {
            fold(out, call, function, *edges, Values::reals)
        }
        (Op::Fold(function, edges), ValuesMut::Whole(out)) => {
            fold(out, call, function, *edges, Values::integers)
        }
        (Op::Winner(largest, edges), ValuesMut::Whole(out)) if call.inputs[0].is_whole() => {
            winner(out, call, *largest, *edges, Values::integers)
        }
        (Op::Winner(largest, edges), ValuesMut::Whole(out)) => {
            winner(out, call, *largest, *edges, Values::reals)
        }
        (Op::Others(edges), ValuesMut::Real(out)) => {
            multiply_other_edges(out, call, *edges, Values::reals)
        }
        (Op::Others(edges), ValuesMut::Whole(out)) => {
            multiply_other_edges(out, call, *edges, Values::integers)
        }
        (Op::Turn, ValuesMut::Real(out)) => turn(out, call, Values::reals),
        (Op::Turn, ValuesMut::Whole(out)) => turn(out, call, Values::integers),
        (Op::CommonNeighbors, ValuesMut::Whole(out)) => common_neighbors(out, &call.graph),
        (Op::CommonNeighborsSum(edges), ValuesMut::Whole(out)) => {
            common_neighbors_sum(out, &call.graph, *edges)
        }
        (op, _) => unreachable!("a validated list gives `{op:?}` a result of its type"),
    }
}

/// Which edges count.
struct Mask<'a>(Option<Rows<'a, i64>>);

impl<'a> Mask<'a> {
    fn new<T>(call: &Call<'a, T>, input: usize, edges: EdgeSet) -> Self {
        let rows = call.inputs.get(input).map(|part| match part {
            Part::Leaf(leaf) => Rows::new(leaf, Values::integers, &call.graph, &[], Some(edges)),
            Part::Times(..) => unreachable!("a mask is a bool"),
        });
        Mask(rows)
    }

    #[inline(always)]
    fn holds(&self, at: At) -> bool {
        self.0.as_ref().is_none_or(|rows| rows.values[rows.way.row(at)] != 0)
    }
}

/// Calls `work` for each vertex with its row of the result and scratch for a row.
fn for_each_vertex<A: Element, O: Element>(
    out: &mut [O],
    columns: usize,
    work: impl Fn(usize, &mut [O], &mut [A]) + Sync,
) {
    if columns == 0 {
        return;
    }
    out.par_chunks_mut(TASK_VERTICES * columns).enumerate().for_each(|(task, out)| {
        let mut scratch = vec![A::default(); columns];
        out.chunks_exact_mut(columns)
            .enumerate()
            .for_each(|(row, out)| work(task * TASK_VERTICES + row, out, &mut scratch));
    });
}

fn reduce<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    reduction: Reduction,
    edges: EdgeSet,
    get: Get<'a, T, A>,
) {
    let source = Source::new(&call.inputs[0], get, &call.graph, call.shape, Some(edges));
    let mask = Mask::new(call, 1, edges);
    let nothing = match reduction {
        Reduction::Mode | Reduction::HIndex => A::default(),
        other => empty_reduction(other, call.kind),
    };
    match reduction {
        Reduction::Sum => combine(out, call, &source, &mask, edges, nothing, A::sum),
        Reduction::Product => combine(out, call, &source, &mask, edges, nothing, A::product),
        Reduction::Minimum => combine(out, call, &source, &mask, edges, nothing, A::least),
        Reduction::Maximum if call.kind != Type::Id => {
            combine(out, call, &source, &mask, edges, nothing, A::most)
        }
        Reduction::Maximum
        | Reduction::Any
        | Reduction::All
        | Reduction::Count
        | Reduction::Mode
        | Reduction::HIndex => {
            collect(out, call, &source, &mask, edges, reduction);
        }
    }
}

fn combine<T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<T>,
    source: &Source<A>,
    mask: &Mask,
    edges: EdgeSet,
    nothing: A,
    work: impl Fn(A, A) -> A + Sync,
) {
    for_each_vertex(out, call.columns(), |vertex, out, scratch| {
        out.fill(nothing);
        walk(&call.graph, edges, vertex, |at| {
            if mask.holds(at) {
                let values = source.row(at, scratch);
                out.iter_mut().zip(values).for_each(|(out, value)| *out = work(*out, *value));
            }
        });
    });
}

/// Reductions that need all values of a vertex at once (mode, h-index), as the interpreter does
/// them.
fn collect<T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<T>,
    source: &Source<A>,
    mask: &Mask,
    edges: EdgeSet,
    reduction: Reduction,
) {
    let columns = call.columns();
    for_each_vertex(out, columns, |vertex, out, scratch| {
        let mut values: Vec<Vec<Number>> = vec![Vec::new(); columns];
        walk(&call.graph, edges, vertex, |at| {
            if mask.holds(at) {
                values
                    .iter_mut()
                    .zip(source.row(at, scratch))
                    .for_each(|(values, value)| values.push(value.number()));
            }
        });
        out.iter_mut().zip(&values).for_each(|(out, values)| {
            *out = A::from_number(interpret::reduce(reduction, call.kind, values))
        });
    });
}

/// The number of edges that count; values are ignored.
fn count<T: Sync>(out: &mut [i64], call: &Call<T>, edges: EdgeSet) {
    let mask = Mask::new(call, 1, edges);
    for_each_vertex(out, call.columns(), |vertex, out, _scratch: &mut [i64]| {
        let mut count = 0;
        walk(&call.graph, edges, vertex, |at| count += i64::from(mask.holds(at)));
        out.fill(count);
    });
}

fn fold<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    function: &Function,
    edges: EdgeSet,
    get: Get<'a, T, A>,
) {
    let of =
        |input: usize| Source::new(&call.inputs[input], get, &call.graph, call.shape, Some(edges));
    let (source, start, mask) = (of(0), of(1), Mask::new(call, 2, edges));
    for_each_vertex(out, call.columns(), |vertex, out, scratch| {
        out.copy_from_slice(start.row(At::row(0), scratch));
        walk(&call.graph, edges, vertex, |at| {
            if mask.holds(at) {
                for (out, value) in out.iter_mut().zip(source.row(at, scratch)) {
                    *out = A::from_number(interpret::cast(
                        call.kind,
                        interpret::apply(function, out.number(), value.number()),
                    ));
                }
            }
        });
    });
}

/// Marks the absence of an edge.
const NO_EDGE: u64 = u64::MAX;

fn winner<'a, T: Sync, A: Element>(
    out: &mut [i64],
    call: &Call<'a, T>,
    largest: bool,
    edges: EdgeSet,
    get: Get<'a, T, A>,
) {
    let columns = call.columns();
    if columns == 0 {
        return;
    }
    let source = Source::new(&call.inputs[0], get, &call.graph, call.shape, Some(edges));
    let mask = Mask::new(call, 1, edges);
    let mut winners = vec![NO_EDGE; call.graph.nodes * columns];
    winners.par_chunks_mut(TASK_VERTICES * columns).enumerate().for_each(|(task, winners)| {
        let (mut scratch, mut best) = (vec![A::default(); columns], vec![A::default(); columns]);
        for (row, winners) in winners.chunks_exact_mut(columns).enumerate() {
            walk(&call.graph, edges, task * TASK_VERTICES + row, |at| {
                if !mask.holds(at) {
                    return;
                }
                for ((value, best), winner) in
                    source.row(at, &mut scratch).iter().zip(&mut best).zip(winners.iter_mut())
                {
                    let is_better = if largest { *value > *best } else { *value < *best };
                    if *winner == NO_EDGE || (!best.is_odd() && (value.is_odd() || is_better)) {
                        (*best, *winner) = (*value, at.row as u64);
                    }
                }
            });
        }
    });
    let near = ends(edges.direction, &call.graph, false);
    out.par_chunks_mut(TASK_EDGES * columns).enumerate().for_each(|(task, out)| {
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = task * TASK_EDGES + row;
            let winners = &winners[near.row(At::row(row)) * columns..][..columns];
            out.iter_mut()
                .zip(winners)
                .for_each(|(out, winner)| *out = i64::from(*winner == row as u64));
        }
    });
}

/// The product of all other edges, by prefix and suffix products, in linear time.
fn multiply_other_edges<'a, T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<'a, T>,
    edges: EdgeSet,
    get: Get<'a, T, A>,
) {
    let columns = call.columns();
    if columns == 0 {
        return;
    }
    let source = Source::new(&call.inputs[0], get, &call.graph, call.shape, Some(edges));
    let (mask, unit) = (Mask::new(call, 1, edges), A::from_number(Number::Whole(1)));
    let of_task = |task: usize| {
        let (mut scratch, mut made) = (vec![A::default(); columns], Vec::new());
        for vertex in task * TASK_VERTICES..((task + 1) * TASK_VERTICES).min(call.graph.nodes) {
            let mut rows: Vec<(usize, Vec<A>)> = Vec::new();
            walk(&call.graph, edges, vertex, |at| {
                if mask.holds(at) {
                    rows.push((at.row, source.row(at, &mut scratch).to_vec()));
                }
            });
            let mut after = vec![unit; columns];
            let mut rest = vec![Vec::new(); rows.len()];
            for (rest, (_, values)) in rest.iter_mut().zip(&rows).rev() {
                rest.clone_from(&after);
                after
                    .iter_mut()
                    .zip(values)
                    .for_each(|(after, value)| *after = value.product(*after));
            }
            let mut before = vec![unit; columns];
            for (mut rest, (row, values)) in rest.into_iter().zip(rows) {
                rest.iter_mut()
                    .zip(&before)
                    .for_each(|(rest, before)| *rest = before.product(*rest));
                before
                    .iter_mut()
                    .zip(&values)
                    .for_each(|(before, value)| *before = before.product(*value));
                made.push((row, rest));
            }
        }
        made
    };
    let tasks: Vec<Vec<(usize, Vec<A>)>> =
        (0..call.graph.nodes.div_ceil(TASK_VERTICES)).into_par_iter().map(of_task).collect();
    out.fill(A::default());
    for (row, values) in tasks.into_iter().flatten() {
        out[row * columns..][..columns].copy_from_slice(&values);
    }
}

/// Swaps the rows of in-edges and of out-edges.
fn turn<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let columns = call.columns();
    if columns == 0 {
        return;
    }
    let (source, edges) =
        (Source::new(&call.inputs[0], get, &call.graph, call.shape, None), call.graph.edge_count);
    out.par_chunks_mut(TASK_EDGES * columns).enumerate().for_each(|(task, out)| {
        let mut scratch = vec![A::default(); columns];
        for (row, out) in out.chunks_exact_mut(columns).enumerate() {
            let row = task * TASK_EDGES + row;
            let other = if row < edges { row + edges } else { row - edges };
            out.copy_from_slice(source.row(At::row(other), &mut scratch));
        }
    });
}
