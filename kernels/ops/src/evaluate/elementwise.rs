//! elementwise: operators of one, two and three values, which broadcast; copies; dropout.
use rayon::prelude::*;
use warploom_vertex::gir::{Binary, Op, Type, Unary};
use warploom_vertex::interpret::{self, Scalar as Number};
use warploom_vertex::launch::Dropout;

use super::element::Element;
use super::source::{At, Get, Layout, Rows, Way};
use super::{Call, Index, Part, Values, ValuesMut};
use crate::Real;
use crate::random::dropout::Drops;
use crate::row_tasks::rows_per_task;

/// Writes the result.
pub(super) fn evaluate<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    match (call.op, out) {
        (Op::Unary(operator), out) => unary(out, call, *operator),
        (Op::Binary(operator), out) => binary(out, call, *operator),
        (Op::Select, ValuesMut::Real(out)) => select(out, call, Values::real),
        (Op::Select, ValuesMut::Whole(out)) => select(out, call, Values::whole),
        (Op::Cast(kind), out) => cast(out, call, *kind),
        (Op::Dropout { probability, site }, ValuesMut::Real(out)) => {
            dropout(out, call, Dropout { probability: *probability, site: *site })
        }
        (_, out) => copy(out, call),
    }
}

/// The first input, or of two that which belongs to the pass.
pub(super) fn copy<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>) {
    let input = usize::from(*call.op == Op::WhenTraining && !call.context.active);
    match out {
        ValuesMut::Real(out) => one(out, &rows(call, input, Values::real), call, |a| a),
        ValuesMut::Whole(out) => one(out, &rows(call, input, Values::whole), call, |a| a),
    }
}

/// Rows of an input, laid out as the result's.
fn rows<'a, T, A: Element>(call: &Call<'a, T>, input: usize, get: Get<'a, T, A>) -> Rows<'a, A> {
    match &call.inputs[input] {
        Part::Leaf(leaf) => Rows::of(leaf, get, &call.graph, (call.shape, None)),
        Part::Times(..) => unreachable!("a validated list has products only where they are summed"),
    }
}

fn unary<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, operator: Unary) {
    match out {
        ValuesMut::Whole(out) => one(out, &rows(call, 0, Values::whole), call, |a: i64| {
            interpret::unary(operator, Number::Whole(a)).whole()
        }),
        ValuesMut::Real(out) => {
            let a = rows(call, 0, Values::real);
            let (zero, unit) = (T::ZERO, T::ONE);
            match operator {
                Unary::Negative => one(out, &a, call, |a: T| -a),
                Unary::Absolute => one(out, &a, call, Real::magnitude),
                Unary::Square => one(out, &a, call, |a: T| a * a),
                Unary::Sqrt => one(out, &a, call, Real::root),
                Unary::Rsqrt => one(out, &a, call, |a: T| unit / a.root()),
                Unary::Reciprocal => one(out, &a, call, |a: T| unit / a),
                Unary::Relu => one(out, &a, call, |a: T| if a <= zero { zero } else { a }),
                Unary::LeakyRelu(slope) => {
                    let slope = T::rounded(slope);
                    one(out, &a, call, |a: T| if a > zero { a } else { slope * a });
                }
                _ => one(out, &a, call, |a: T| T::of(interpret::unary(operator, a.number()))),
            }
        }
    }
}

fn binary<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, operator: Binary) {
    let is_whole = call.inputs[0].is_whole();
    match (out, is_whole) {
        (ValuesMut::Real(out), _) => {
            let (a, b) = (rows(call, 0, Values::real), rows(call, 1, Values::real));
            match operator {
                Binary::Add => two(out, (&a, &b), call, |a: T, b: T| a + b),
                Binary::Subtract => two(out, (&a, &b), call, |a: T, b: T| a - b),
                Binary::Multiply => two(out, (&a, &b), call, |a: T, b: T| a * b),
                Binary::Divide => two(out, (&a, &b), call, |a: T, b: T| a / b),
                Binary::Minimum => two(out, (&a, &b), call, T::least),
                Binary::Maximum => two(out, (&a, &b), call, T::most),
                _ => two(out, (&a, &b), call, |a: T, b: T| {
                    T::of(interpret::binary(operator, a.number(), b.number()))
                }),
            }
        }
        (ValuesMut::Whole(out), true) => {
            let (a, b) = (rows(call, 0, Values::whole), rows(call, 1, Values::whole));
            match operator {
                Binary::Add => two(out, (&a, &b), call, interpret::integer_arithmetic::plus),
                Binary::Minimum => two(out, (&a, &b), call, i64::min),
                Binary::Equal => two(out, (&a, &b), call, |a: i64, b: i64| i64::from(a == b)),
                _ => two(out, (&a, &b), call, |a: i64, b: i64| {
                    interpret::binary(operator, Number::Whole(a), Number::Whole(b)).whole()
                }),
            }
        }
        (ValuesMut::Whole(out), false) => {
            let (a, b) = (rows(call, 0, Values::real), rows(call, 1, Values::real));
            two(out, (&a, &b), call, |a: T, b: T| {
                interpret::binary(operator, a.number(), b.number()).whole()
            });
        }
    }
}

fn cast<T: Real + Element>(out: ValuesMut<T>, call: &Call<T>, kind: Type) {
    match (out, call.inputs[0].is_whole()) {
        (ValuesMut::Real(out), true) => one(out, &rows(call, 0, Values::whole), call, |a: i64| {
            T::of(interpret::cast(kind, Number::Whole(a)))
        }),
        (ValuesMut::Real(out), false) => one(out, &rows(call, 0, Values::real), call, |a: T| a),
        (ValuesMut::Whole(out), true) => one(out, &rows(call, 0, Values::whole), call, |a: i64| {
            interpret::cast(kind, Number::Whole(a)).whole()
        }),
        (ValuesMut::Whole(out), false) => one(out, &rows(call, 0, Values::real), call, |a: T| {
            interpret::cast(kind, a.number()).whole()
        }),
    }
}

fn select<'a, T: Sync, A: Element>(out: &mut [A], call: &Call<'a, T>, get: Get<'a, T, A>) {
    let (condition, yes, no) =
        (rows(call, 0, Values::whole), rows(call, 1, get), rows(call, 2, get));
    by_rows(out, call, |row, out| {
        let (condition, yes, no) =
            (Laid::of(&condition, row), Laid::of(&yes, row), Laid::of(&no, row));
        for (column, out) in out.iter_mut().enumerate() {
            *out = if condition.at(column) != 0 { yes.at(column) } else { no.at(column) };
        }
    });
}

fn dropout<T: Real + Element>(out: &mut [T], call: &Call<T>, dropout: Dropout) {
    let a = rows(call, 0, Values::real);
    let Some(drops) = Drops::new(dropout, &call.context) else {
        return one(out, &a, call, |a: T| a);
    };
    let scale = T::rounded(drops.scale());
    // The rows of a table that all share are those of its first axis.
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
    by_rows(out, call, |row, out| {
        let (a, graph_row) = (Laid::of(&a, row), call.context.graph_row(row));
        for (column, out) in out.iter_mut().enumerate() {
            *out = if drops.keeps(graph_row, column) { a.at(column) * scale } else { T::ZERO };
        }
    });
}

/// A row of an operand as it is laid out in the result's.
struct Laid<'a, A> {
    row: &'a [A],
    layout: &'a Layout,
}

impl<'a, A: Element> Laid<'a, A> {
    #[inline(always)]
    fn of(rows: &'a Rows<'_, A>, row: usize) -> Self {
        Laid { row: rows.of_row(At::row(row)), layout: &rows.layout }
    }

    #[inline(always)]
    fn at(&self, column: usize) -> A {
        match self.layout {
            Layout::Same => self.row[column],
            Layout::First => self.row[0],
            Layout::Table(table) => self.row[table[column] as usize],
        }
    }
}

fn by_rows<T: Sync, A: Element>(
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

/// Whether an operand's elements stand as the result's do.
fn is_flat<A>(rows: &Rows<A>) -> bool {
    matches!((&rows.layout, rows.way), (Layout::Same, Way::Same))
}

/// Whether an operand is one element for all.
fn only<A: Copy>(rows: &Rows<A>) -> Option<A> {
    (matches!(rows.way, Way::One) && rows.columns == 1).then(|| rows.values[0])
}

const FLAT_TASK: usize = 32 * 1024;

fn one<T: Sync, A: Element, O: Element>(
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
    by_rows(out, call, |row, out| {
        let a = Laid::of(a, row);
        out.iter_mut().enumerate().for_each(|(column, out)| *out = work(a.at(column)));
    });
}

fn two<T: Sync, A: Element, O: Element>(
    out: &mut [O],
    (a, b): (&Rows<A>, &Rows<A>),
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
        (true, _, _, Some(b)) => one(out, a, call, |a| work(a, b)),
        (_, true, Some(a), _) => one(out, b, call, |b| work(a, b)),
        _ => by_rows(out, call, |row, out| {
            let (a, b) = (Laid::of(a, row), Laid::of(b, row));
            out.iter_mut()
                .enumerate()
                .for_each(|(column, out)| *out = work(a.at(column), b.at(column)));
        }),
    }
}
