//! elementwise: operators of one, two and three operands with broadcasting; copies; dropout.
use rayon::prelude::*;
use warploom_ir::interpret::{self, Scalar as Number};
use warploom_ir::{Binary, Op, Type, Unary};
use warploom_launch::Dropout;

use super::element::Element;
use super::source::{At, Get, Layout, Rows, Way};
use super::{Call, Index, Part, Values, ValuesMut};
use crate::Real;
use crate::operators::{self, BinaryLoops, UnaryLoops};
use crate::random::dropout::Drops;
use crate::row_tasks::rows_per_task;

/// Computes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match (call.op, out) {
        (Op::Unary(operator), out) => unary(out, call, *operator),
        (Op::Binary(operator), out) => binary(out, call, *operator),
        (Op::Select, ValuesMut::Real(out)) => select(out, call, Values::reals),
        (Op::Select, ValuesMut::Whole(out)) => select(out, call, Values::integers),
        (Op::Cast(kind), out) => cast(out, call, *kind),
        (Op::Dropout { probability, site }, ValuesMut::Real(out)) => {
            dropout(out, call, Dropout { probability: *probability, site: *site })
        }
        (_, out) => copy(out, call),
    }
}

/// A copy of the first input, or for `WhenTraining` of the input of this pass.
pub(super) fn copy<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    let input = usize::from(*call.op == Op::WhenTraining && !call.context.active);
    match out {
        ValuesMut::Real(out) => map_one(out, &rows(call, input, Values::reals), call, |a| a),
        ValuesMut::Whole(out) => map_one(out, &rows(call, input, Values::integers), call, |a| a),
    }
}

/// Rows of an input, broadcast to the shape of the result.
fn rows<'a, T, A: Element>(call: &Call<'a, T>, input: usize, get: Get<'a, T, A>) -> Rows<'a, A> {
    match &call.inputs[input] {
        Part::Leaf(leaf) => Rows::new(leaf, get, &call.graph, call.shape, None),
        Part::Times(..) => unreachable!("a validated list has products only where they are summed"),
    }
}

/// Loops over the rows of one operand, in parallel tasks.
struct OneOperand<'a, 'b, T, A, O> {
    out: &'a mut [O],
    a: Rows<'b, A>,
    call: &'a Call<'b, T>,
}

impl<T: Sync, A: Element, O: Element> UnaryLoops<A, O> for OneOperand<'_, '_, T, A, O> {
    const OWN_EXPONENTIAL: bool = false;

    fn vectorized(self, work: impl Fn(A) -> O + Sync) {
        map_one(self.out, &self.a, self.call, work);
    }

    fn scalar(self, work: impl Fn(A) -> O + Sync) {
        map_one(self.out, &self.a, self.call, work);
    }
}

/// Loops over the rows of two operands, in parallel tasks.
struct TwoOperands<'a, 'b, T, A, O> {
    out: &'a mut [O],
    a: Rows<'b, A>,
    b: Rows<'b, A>,
    call: &'a Call<'b, T>,
}

impl<T: Sync, A: Element, O: Element> BinaryLoops<A, O> for TwoOperands<'_, '_, T, A, O> {
    fn vectorized(self, work: impl Fn(A, A) -> O + Sync) {
        map_two(self.out, &self.a, &self.b, self.call, work);
    }

    fn scalar(self, work: impl Fn(A, A) -> O + Sync) {
        map_two(self.out, &self.a, &self.b, self.call, work);
    }
}

fn unary<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, operator: Unary) {
    match out {
        ValuesMut::Whole(out) => {
            let a = rows(call, 0, Values::integers);
            operators::unary_whole(operator, OneOperand { out, a, call });
        }
        ValuesMut::Real(out) => {
            let a = rows(call, 0, Values::reals);

            operators::unary(operator, OneOperand { out, a, call });
        }
    }
}

fn binary<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, operator: Binary) {
    let is_whole = call.inputs[0].is_whole();
    match (out, is_whole) {
        (ValuesMut::Real(out), _) => {
            let (a, b) = (rows(call, 0, Values::reals), rows(call, 1, Values::reals));
            operators::binary(operator, TwoOperands { out, a, b, call });
        }
        (ValuesMut::Whole(out), true) => {
            let (a, b) = (rows(call, 0, Values::integers), rows(call, 1, Values::integers));
            operators::binary_whole(operator, TwoOperands { out, a, b, call });
        }
        (ValuesMut::Whole(out), false) => {
            let (a, b) = (rows(call, 0, Values::reals), rows(call, 1, Values::reals));
            operators::compare(operator, TwoOperands { out, a, b, call });
        }
    }
}

fn cast<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, kind: Type) {
    match (out, call.inputs[0].is_whole()) {
        (ValuesMut::Real(out), true) => {
            map_one(out, &rows(call, 0, Values::integers), call, |a: i64| {
                T::from_number(interpret::cast(kind, Number::Whole(a)))
            })
        }
        (ValuesMut::Real(out), false) => {
            map_one(out, &rows(call, 0, Values::reals), call, |a: T| a)
        }
        (ValuesMut::Whole(out), true) => {
            map_one(out, &rows(call, 0, Values::integers), call, |a: i64| {
                interpret::cast(kind, Number::Whole(a)).integer()
            })
        }
        (ValuesMut::Whole(out), false) => {
            map_one(out, &rows(call, 0, Values::reals), call, |a: T| {
                interpret::cast(kind, a.number()).integer()
            })
        }
    }
}

fn select<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let (condition, yes, no) =
        (rows(call, 0, Values::integers), rows(call, 1, get), rows(call, 2, get));
    for_each_row(out, call, |row, out| {
        let (condition, yes, no) =
            (RowView::new(&condition, row), RowView::new(&yes, row), RowView::new(&no, row));
        for (column, out) in out.iter_mut().enumerate() {
            *out = if condition.element(column) != 0 {
                yes.element(column)
            } else {
                no.element(column)
            };
        }
    });
}

fn dropout<T: Real + Element>(out: &mut [T], call: &Call<T>, dropout: Dropout) {
    let a = rows(call, 0, Values::reals);
    let Some(drops) = Drops::new(dropout, &call.context) else {
        return map_one(out, &a, call, |a: T| a);
    };
    let scale = T::rounded(drops.scale());
    // The rows of a table that is the same for all are those of its first axis.
    if let ([_, columns], Part::Leaf(leaf)) = (call.shape, &call.inputs[0])
        && leaf.index == Index::One
        && *columns > 0
    {
        let columns = *columns as usize;
        let in_task = rows_per_task(columns);
        let tasks = out
            .par_chunks_mut(in_task * columns)
            .zip(a.values.par_chunks(in_task * columns))
            .enumerate();
        return tasks.for_each(|(task, (out, a))| {
            for (row, (out, a)) in
                out.chunks_exact_mut(columns).zip(a.chunks_exact(columns)).enumerate()
            {
                let kept = |column: usize| drops.keeps((task * in_task + row) as u32, column);
                out.iter_mut().zip(a).enumerate().for_each(|(column, (out, a))| {
                    *out = if kept(column) { *a * scale } else { T::ZERO }
                });
            }
        });
    }
    for_each_row(out, call, |row, out| {
        let (a, graph_row) = (RowView::new(&a, row), call.context.graph_row(row));
        for (column, out) in out.iter_mut().enumerate() {
            *out = if drops.keeps(graph_row, column) { a.element(column) * scale } else { T::ZERO };
        }
    });
}

/// A row of an operand, broadcast to the row of the result.
struct RowView<'a, A> {
    row: &'a [A],
    layout: &'a Layout,
}

impl<'a, A: Element> RowView<'a, A> {
    #[inline(always)]
    fn new(rows: &'a Rows<'_, A>, row: usize) -> Self {
        RowView { row: rows.values_at(At::row(row)), layout: &rows.layout }
    }

    #[inline(always)]
    fn element(&self, column: usize) -> A {
        match self.layout {
            Layout::Same => self.row[column],
            Layout::First => self.row[0],
            Layout::Table(table) => self.row[table[column] as usize],
        }
    }
}

fn for_each_row<T: Sync, A: Element>(
    out: &mut [A],
    call: &Call<T>,
    work: impl Fn(usize, &mut [A]) + Sync,
) {
    let columns = call.columns();
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

/// Whether an operand has exactly the elements of the result, in the same order.
fn is_flat<A>(rows: &Rows<A>) -> bool {
    matches!((&rows.layout, rows.way), (Layout::Same, Way::Same))
}

/// The single element that an operand broadcasts, if it is one.
fn only<A: Copy>(rows: &Rows<A>) -> Option<A> {
    (matches!(rows.way, Way::One) && rows.columns == 1).then(|| rows.values[0])
}

const FLAT_TASK: usize = 32 * 1024;

fn map_one<T: Sync, A: Element, O: Element>(
    out: &mut [O],
    a: &Rows<A>,
    call: &Call<T>,
    work: impl Fn(A) -> O + Sync,
) {
    if is_flat(a) {
        let tasks = out.par_chunks_mut(FLAT_TASK).zip(a.values.par_chunks(FLAT_TASK));
        return tasks
            .for_each(|(out, a)| out.iter_mut().zip(a).for_each(|(out, a)| *out = work(*a)));
    }
    for_each_row(out, call, |row, out| {
        let a = RowView::new(a, row);
        out.iter_mut().enumerate().for_each(|(column, out)| *out = work(a.element(column)));
    });
}

fn map_two<T: Sync, A: Element, O: Element>(
    out: &mut [O],
    a: &Rows<A>,
    b: &Rows<A>,
    call: &Call<T>,
    work: impl Fn(A, A) -> O + Sync,
) {
    match (is_flat(a), is_flat(b), only(a), only(b)) {
        (true, true, ..) => {
            let tasks = out
                .par_chunks_mut(FLAT_TASK)
                .zip(a.values.par_chunks(FLAT_TASK))
                .zip(b.values.par_chunks(FLAT_TASK));
            tasks.for_each(|((out, a), b)| {
                out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = work(*a, *b))
            });
        }
        (true, _, _, Some(b)) => map_one(out, a, call, |a| work(a, b)),
        (_, true, Some(a), _) => map_one(out, b, call, |b| work(a, b)),
        _ => for_each_row(out, call, |row, out| {
            let (a, b) = (RowView::new(a, row), RowView::new(b, row));
            out.iter_mut()
                .enumerate()
                .for_each(|(column, out)| *out = work(a.element(column), b.element(column)));
        }),
    }
}
