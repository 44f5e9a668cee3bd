//! fetch: the inputs of a step as contiguous elements of its rows: a slice in place where possible,
//! else copied to scratch.
use prefetch_index::prefetch_index;
use pulp::{Arch, Simd, WithSimd};
use warploom_ir::Type;

use super::gather::{RowIndices, prefetch_row};
use super::operands::{OperandLayout, Origin, RowChoice, RowOperand};
use super::registers::Registers;
use super::tile::Tile;
use super::{Level, Stored, Work};
use crate::chunk_arithmetic::Source;
use crate::evaluate::Element;
use crate::half_precision::Kept;

/// Prefetch distance, in rows.
const AHEAD: usize = 16;

/// The current block of rows and tile of edges.
#[derive(Clone, Copy)]
pub(super) struct Hand<'h, 'a, T> {
    pub work: &'h Work<'a, T>,
    pub registers: &'h Registers<'h, T>,
    pub tile: &'h Tile,
    /// First row of the block.
    pub first_row: usize,
    /// The row that the tile's `near` vertices are counted from.
    pub first_near: usize,
}

/// The shape of the rows that a step reads or computes at once.
#[derive(Clone, Copy)]
pub(super) struct BlockShape {
    pub level: Level,
    pub rows: usize,
    pub columns: usize,
}

impl BlockShape {
    /// A row for each edge of a tile.
    pub fn of_edges(rows: usize, columns: usize) -> Self {
        BlockShape { level: Level::Edge, rows, columns }
    }

    /// The same rows, with this many columns.
    pub fn wide(self, columns: usize) -> Self {
        BlockShape { columns, ..self }
    }
}

/// How elements of one type are read.
pub(super) struct Access<T, A> {
    buffer: for<'v> fn(&Stored<'v, T>) -> &'v [A],
    step: for<'r> fn(&'r Registers<'r, T>, usize) -> &'r [A],
    number: fn(Origin<T>) -> A,
}

impl<T: Copy, A> Access<T, A> {
    /// A constant, broadcast to all elements.
    pub fn number(&self, origin: Origin<T>) -> A {
        (self.number)(origin)
    }
}

/// Access to floats.
pub(super) fn reals<T: Element>() -> Access<T, T> {
    let number = |origin: Origin<T>| match origin {
        Origin::Real(number) => number,
        _ => unreachable!("a validated list reads reals where it computes with reals"),
    };
    let buffer: for<'v> fn(&Stored<'v, T>) -> &'v [T] = |stored| match stored {
        Stored::Real(values) => values,
        _ => unreachable!(
            "a validated list reads reals where it computes with reals, and halves are laid out"
        ),
    };
    Access { buffer, step: |registers, step| registers.reals[step].elements(), number }
}

/// Access to bools, integers and ids.
pub(super) fn wholes<T: Element>() -> Access<T, i64> {
    let number = |origin: Origin<T>| match origin {
        Origin::Whole(number) => number,
        _ => unreachable!("a validated list reads whole numbers where it computes with them"),
    };
    let buffer: for<'v> fn(&Stored<'v, T>) -> &'v [i64] = |stored| match stored {
        Stored::Whole(values) => values,
        _ => unreachable!("a validated list reads whole numbers where it computes with them"),
    };
    Access { buffer, step: |registers, step| &registers.wholes[step], number }
}

/// Whether elements of this type are floats.
pub(super) fn is_real(kind: Type) -> bool {
    kind == Type::Real
}

impl<'h, T: Element> Hand<'h, '_, T> {
    /// The elements that an operand's rows are part of.
    pub fn values<A>(&self, operand: &RowOperand<T>, access: &Access<T, A>) -> &'h [A] {
        match operand.from {
            Origin::Step(step) => (access.step)(self.registers, step),
            Origin::Buffer(buffer) => (access.buffer)(&self.work.reads[buffer]),
            Origin::Real(_) | Origin::Whole(_) => unreachable!("a number has no rows"),
        }
    }

    /// The same, in their storage type.
    pub fn stored(&self, operand: &RowOperand<T>) -> Stored<'h, T> {
        match operand.from {
            Origin::Step(step) if is_real(operand.kind) => {
                Stored::Real(self.registers.reals[step].elements())
            }
            Origin::Step(step) => Stored::Whole(&self.registers.wholes[step]),
            Origin::Buffer(buffer) => self.work.reads[buffer],
            Origin::Real(_) | Origin::Whole(_) => unreachable!("a number has no rows"),
        }
    }

    /// Whether an operand is stored as 16-bit floats.
    pub fn is_half(&self, operand: &RowOperand<T>) -> bool {
        matches!(operand.from, Origin::Buffer(buffer) if matches!(self.work.reads[buffer], Stored::Bf16(_) | Stored::F16(_)))
    }

    /// An input as rows of this shape; products of factors are computed in scratch.
    pub fn source<'s, A: Element>(
        &'s self,
        factors: &[RowOperand<T>],
        access: &Access<T, A>,
        shape: BlockShape,
        scratch: &'s mut Vec<A>,
    ) -> Source<'s, A> {
        let BlockShape { level, rows, columns } = shape;
        if let [operand] = factors {
            match operand.from {
                Origin::Real(_) | Origin::Whole(_) => {
                    return Source::Number((access.number)(operand.from));
                }
                _ if operand.at == RowChoice::One && operand.columns == 1 => {
                    return Source::Number(self.values(operand, access)[0]);
                }
                Origin::Step(_)
                    if operand.at == RowChoice::Own && operand.layout == OperandLayout::Same =>
                {
                    return Source::Slice(&self.values(operand, access)[..rows * columns]);
                }
                Origin::Buffer(_)
                    if operand.at == RowChoice::Own
                        && operand.layout == OperandLayout::Same
                        && level == Level::Row
                        && !self.is_half(operand) =>
                {
                    return Source::Slice(
                        &self.values(operand, access)[self.first_row * columns..][..rows * columns],
                    );
                }
                _ => {}
            }
        }
        scratch.resize(rows * columns, A::default());
        for (number, factor) in factors.iter().enumerate() {
            if number == 0 {
                self.lay(factor, access, level, columns, scratch, |out, value| *out = value);
            } else {
                self.lay(factor, access, level, columns, scratch, |out, value| {
                    *out = out.product(value)
                });
            }
        }
        Source::Slice(scratch)
    }

    /// The row that an input broadcasts to all rows, in place, if it is one.
    pub fn shared_row<'s, A: Element>(
        &'s self,
        factors: &[RowOperand<T>],
        access: &Access<T, A>,
        columns: usize,
    ) -> Option<&'s [A]> {
        match factors {
            [operand]
                if operand.at == RowChoice::One
                    && operand.layout == OperandLayout::Same
                    && columns > 1
                    && matches!(operand.from, Origin::Step(_) | Origin::Buffer(_)) =>
            {
                Some(&self.values(operand, access)[..columns])
            }
            _ => None,
        }
    }

    /// Combines an operand's elements with those of `out`, row by row.
    fn lay<A: Element>(
        &self,
        operand: &RowOperand<T>,
        access: &Access<T, A>,
        level: Level,
        columns: usize,
        out: &mut [A],
        join: impl Fn(&mut A, A),
    ) {
        if let Origin::Real(_) | Origin::Whole(_) = operand.from {
            let number = (access.number)(operand.from);
            return out.iter_mut().for_each(|out| join(out, number));
        }
        if columns == 0 || operand.columns == 0 {
            return;
        }
        match self.stored(operand) {
            Stored::Bf16(values) => self.lay_rows(operand, values, level, columns, out, join),
            Stored::F16(values) => self.lay_rows(operand, values, level, columns, out, join),
            Stored::Real(_) | Stored::Whole(_) => {
                self.lay_rows(operand, self.values(operand, access), level, columns, out, join)
            }
        }
    }

    /// `lay` for a storage type.
    fn lay_rows<A: Element, V: Kept<A>>(
        &self,
        operand: &RowOperand<T>,
        values: &[V],
        level: Level,
        columns: usize,
        out: &mut [A],
        join: impl Fn(&mut A, A),
    ) {
        let which = self.rows_of(operand, level);
        if let (RowIndices::By(first, index), OperandLayout::Same) = (which, &operand.layout) {
            let is_far = operand.at == RowChoice::Far;
            return match columns {
                1 => gathered::<A, V, 1>(out, values, first, index, is_far, join),
                2 => gathered::<A, V, 2>(out, values, first, index, is_far, join),
                4 => gathered::<A, V, 4>(out, values, first, index, is_far, join),
                8 => gathered::<A, V, 8>(out, values, first, index, is_far, join),
                16 => gathered::<A, V, 16>(out, values, first, index, is_far, join),
                _ => {
                    for (place, (out, row)) in out.chunks_exact_mut(columns).zip(index).enumerate()
                    {
                        if let Some(&later) = index.get(place + AHEAD).filter(|_| is_far) {
                            prefetch_row(values, first + later as usize, columns);
                        }
                        let row = &values[(first + *row as usize) * columns..][..columns];
                        out.iter_mut().zip(row).for_each(|(out, value)| join(out, value.read()));
                    }
                }
            };
        }
        if let (RowIndices::From(first), OperandLayout::Same) = (which, &operand.layout) {
            let values = &values[first * columns..][..out.len()];
            return Arch::new().dispatch(GatherJoin { out, values, join });
        }
        let rows = out.chunks_exact_mut(columns);
        let put = |out: &mut [A], row: usize| {
            let row = &values[row * operand.columns..][..operand.columns];
            match &operand.layout {
                OperandLayout::Same => {
                    out.iter_mut().zip(row).for_each(|(out, value)| join(out, value.read()))
                }
                OperandLayout::First => out.iter_mut().for_each(|out| join(out, row[0].read())),
                OperandLayout::Each(8) => {
                    out.as_chunks_mut::<8>().0.iter_mut().zip(row).for_each(|(out, value)| {
                        out.iter_mut().for_each(|out| join(out, value.read()))
                    })
                }
                OperandLayout::Each(times) => {
                    out.chunks_exact_mut(*times).zip(row).for_each(|(out, value)| {
                        out.iter_mut().for_each(|out| join(out, value.read()))
                    })
                }
                OperandLayout::Table(table) => out
                    .iter_mut()
                    .zip(table)
                    .for_each(|(out, column)| join(out, row[*column as usize].read())),
            }
        };
        rows.enumerate().for_each(|(place, out)| put(out, which.row_index(place)));
    }

    /// The row numbers of an operand, in the order of the block or tile.
    pub fn rows_of(&self, operand: &RowOperand<T>, level: Level) -> RowIndices<'h> {
        let is_step = matches!(operand.from, Origin::Step(_));
        match (operand.at, level) {
            (RowChoice::One, _) => RowIndices::One,
            (RowChoice::Own, _) if is_step => RowIndices::From(0),
            (RowChoice::Own, Level::Row | Level::Total) => RowIndices::From(self.first_row),
            (RowChoice::Own, Level::Edge) => RowIndices::By(0, &self.tile.rows),
            (RowChoice::Near, _) => {
                RowIndices::By(if is_step { 0 } else { self.first_near }, &self.tile.near)
            }
            (RowChoice::Far, _) => RowIndices::By(0, &self.tile.far),
            (RowChoice::Graph, _) => self.graphs(),
        }
    }

    /// The graph of each row of the block.
    fn graphs(&self) -> RowIndices<'h> {
        self.work.graph.graphs.map_or(RowIndices::One, |graphs| {
            RowIndices::By(0, &graphs.of_vertex[self.first_row..])
        })
    }
}

/// Combines elements one by one, dispatched to the instruction set of the CPU.
struct GatherJoin<'a, A, V, F> {
    out: &'a mut [A],
    values: &'a [V],
    join: F,
}

impl<A: Element, V: Kept<A>, F: Fn(&mut A, A)> WithSimd for GatherJoin<'_, A, V, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.out
            .iter_mut()
            .zip(self.values)
            .for_each(|(out, value)| (self.join)(out, value.read()));
    }
}

/// Rows of `COLUMNS` elements, combined with those of `out`.
#[inline(always)]
fn gathered<A: Element, V: Kept<A>, const COLUMNS: usize>(
    out: &mut [A],
    values: &[V],
    first: usize,
    index: &[u32],
    is_far: bool,
    join: impl Fn(&mut A, A),
) {
    let rows = values.as_chunks::<COLUMNS>().0;
    for (place, (out, row)) in out.as_chunks_mut::<COLUMNS>().0.iter_mut().zip(index).enumerate() {
        if let Some(&later) = index.get(place + AHEAD).filter(|_| is_far) {
            prefetch_index(rows, first + later as usize);
        }
        let row = &rows[first + *row as usize];
        for column in 0..COLUMNS {
            join(&mut out[column], row[column].read());
        }
    }
}
