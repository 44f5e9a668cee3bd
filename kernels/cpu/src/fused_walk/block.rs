//! block: runs the steps of a fused walk, block of rows by block of rows.
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use warploom_ir::{Binary, Op, Pooling, Reduction, Type};
use warploom_launch::{Dropout, Over};

use super::far_rows::{self, FarRows, Walked};
use super::fetch::{BlockShape, Hand, is_real, reals, wholes};
use super::gather::{GatheredRows, RowIndices, dots};
use super::inlined_steps::choose;
use super::kernel::{Kernel, Pass};
use super::operands::{Compared, Resolved, StepMethod};
use super::products::{add_outer, add_rows, rows_times};
use super::reduce::{self, Scratch};
use super::registers::{RegisterData, Registers};
use super::tile::{Cursor, Tile, WalkLists};
use super::{Level, StoredMut, Work, arithmetic};
use crate::Real;
use crate::chunk_arithmetic::{Source, copy};
use crate::evaluate::{Element, axis_lengths, empty_reduction, runs};
use crate::half_precision::round;
use crate::random::dropout::{Draws, Drops, TilePlace};

/// All scratch of a task.
#[derive(Debug)]
pub(super) struct Worker<'o, T> {
    arch: Arch,
    registers: Registers<'o, T>,
    tile: Tile,
    reals: [Vec<T>; 4],
    wholes: [Vec<i64>; 3],
    scratch: Scratch<T>,
    dropout: DropoutScratch,
    /// The partial sum of each total.
    totals: Vec<Vec<T>>,
}

/// What part of the edges of a row makes of one reduction.
#[derive(Clone, Debug)]
enum Partial<T> {
    Real(Vec<T>),
    Whole(Vec<i64>),
}

/// What part of the edges of a row makes of each reduction of a kernel.
#[derive(Clone, Debug)]
pub(super) struct RowPart<T>(Vec<Partial<T>>);

impl<T: Real + Element> RowPart<T> {
    /// Adds the part of the edges that follow.
    pub fn join(&mut self, kernel: &Kernel<T>, other: &RowPart<T>) {
        let reductions = &kernel.passes[0].reductions;
        for ((number, own), other) in reductions.iter().zip(&mut self.0).zip(&other.0) {
            let op = &kernel.steps[*number].op;
            match (own, other) {
                (Partial::Real(own), Partial::Real(other)) => reduce::join_parts(op, own, other),
                (Partial::Whole(own), Partial::Whole(other)) => reduce::join_parts(op, own, other),
                _ => unreachable!("parts of one reduction have one type"),
            }
        }
    }
}

/// The rows that a step runs on.
#[derive(Clone, Copy)]
struct RowSpan {
    first_row: usize,
    first_near: usize,
    count: usize,
}

impl<'o, T: Real + Element> Worker<'o, T> {
    pub fn new(kernel: &Kernel<T>) -> Self {
        let count = kernel.steps.len();
        Worker {
            arch: Arch::new(),
            registers: Registers {
                reals: (0..count).map(|_| RegisterData::default()).collect(),
                wholes: vec![Vec::new(); count],
            },
            tile: Tile::default(),
            reals: Default::default(),
            wholes: Default::default(),
            scratch: Scratch::default(),
            dropout: DropoutScratch::default(),
            totals: Vec::new(),
        }
    }

    /// Returns the partial sums, and restarts them at 0.
    pub fn take_totals(&mut self, kernel: &Kernel<T>) -> Vec<Vec<T>> {
        let made = std::mem::take(&mut self.totals);
        if made.is_empty() { nothing(kernel) } else { made }
    }

    /// Runs all steps for these rows, and writes the rows of the outputs.
    pub fn rows(
        &mut self,
        kernel: &Kernel<T>,
        work: &Work<T>,
        first_row: usize,
        count: usize,
        outputs: &mut [StoredMut<'o, T>],
    ) {
        let at_once = kernel.rows_at_once();
        for done in (0..count).step_by(at_once) {
            let rows = at_once.min(count - done);
            let span =
                RowSpan { first_row: first_row + done, first_near: first_row + done, count: rows };
            self.lend(kernel, rows, outputs);
            match kernel.over {
                Over::Edges(_) => self.edges(kernel, work, span),
                Over::Vertices | Over::EdgesOf(_) => self.vertices(kernel, work, span),
            }
            self.store(kernel, done, rows, outputs);
            self.add_totals(kernel, work, span);
        }
    }

    /// Adds the rows of a block to the totals.
    fn add_totals(&mut self, kernel: &Kernel<T>, work: &Work<T>, span: RowSpan) {
        if self.totals.is_empty() {
            self.totals = nothing(kernel);
        }
        let hand = Hand {
            work,
            registers: &self.registers,
            tile: &self.tile,
            first_row: span.first_row,
            first_near: span.first_near,
        };
        let [first, second, ..] = &mut self.reals;
        for (number, total) in kernel.totals.iter().zip(&mut self.totals) {
            let step = &kernel.steps[*number];
            let wide = |input: usize| step.input_shapes[input].iter().product::<u64>() as usize;
            let shape =
                |input| BlockShape { level: Level::Row, rows: span.count, columns: wide(input) };
            let left = hand.source(&step.inputs[0], &reals(), shape(0), first);
            if step.op == Op::SumRows {
                add_rows(self.arch, total, left);
                continue;
            }
            let right = hand.source(&step.inputs[1], &reals(), shape(1), second);
            let last =
                |input: usize| step.input_shapes[input].last().map_or(1, |length| *length as usize);
            let (tall, broad) = (last(0), last(1));
            let rows = (span.count * wide(0)).checked_div(tall).unwrap_or(0);
            add_outer(total, left, right, [tall, rows, broad]);
        }
    }

    /// Runs steps over edge rows: the tile is the block.
    fn edges(&mut self, kernel: &Kernel<T>, work: &Work<T>, span: RowSpan) {
        let graph = &work.graph;
        let tile = &mut self.tile;
        tile.rows.clear();
        tile.far.clear();
        tile.near.clear();
        for row in span.first_row..span.first_row + span.count {
            tile.rows.push(row as u32);
            if !graph.source.is_empty() {
                let (edge, turned) = if row < graph.edge_count {
                    (row, false)
                } else {
                    (row - graph.edge_count, true)
                };
                let ends = (graph.source[edge], graph.target[edge]);
                let (far, near) = if turned { (ends.1, ends.0) } else { ends };
                tile.far.push(far);
                tile.near.push(near);
            }
        }
        kernel
            .first
            .iter()
            .for_each(|step| self.step(kernel, work, *step, RowSpan { first_near: 0, ..span }));
    }

    fn vertices(&mut self, kernel: &Kernel<T>, work: &Work<T>, span: RowSpan) {
        kernel.first.iter().for_each(|step| self.step(kernel, work, *step, span));
        let Over::EdgesOf(direction) = kernel.over else { return };
        let lists = WalkLists::new(&work.graph, direction);
        for pass in &kernel.passes {
            self.reduce_edges(kernel, work, pass, &lists, span, 0..u64::MAX);
            pass.reductions.iter().for_each(|step| self.end(&kernel.steps[*step], *step));
            pass.rows.iter().for_each(|step| self.step(kernel, work, *step, span));
        }
    }

    /// Reduces the edges of some rows in these slots.
    fn reduce_edges(
        &mut self,
        kernel: &Kernel<T>,
        work: &Work<T>,
        pass: &Pass,
        lists: &WalkLists,
        span: RowSpan,
        slots: Range<u64>,
    ) {
        pass.reductions.iter().for_each(|step| self.begin(&kernel.steps[*step], *step, span.count));
        let RowSpan { first_row, count, .. } = span;
        let walked = Walked { lists: lists.numbered(), first_row, slots: slots.clone() };
        let mut in_tiles = pass.reductions.len();
        for step in &pass.reductions {
            in_tiles -= usize::from(self.reduce_far_rows(kernel, work, *step, &walked, count));
        }
        if in_tiles == 0 {
            return;
        }
        let is_in_tiles = |step: &&usize| far_rows::of_step(&kernel.steps[**step], work).is_none();
        let mut cursor = Cursor::new(slots);
        while self.tile.next(lists, first_row, count, &mut cursor, kernel.wanted()) {
            let edges = RowSpan { count: self.tile.len(), ..span };
            pass.edges.iter().for_each(|step| self.step(kernel, work, *step, edges));
            pass.reductions
                .iter()
                .filter(is_in_tiles)
                .for_each(|step| self.reduction(kernel, work, *step, span));
        }
    }

    /// Reduces far rows without a tile; false where the step reads anything else.
    fn reduce_far_rows(
        &mut self,
        kernel: &Kernel<T>,
        work: &Work<T>,
        number: usize,
        walked: &Walked,
        rows: usize,
    ) -> bool {
        let step = &kernel.steps[number];
        match far_rows::of_step(step, work) {
            Some(FarRows::Real(values)) => {
                let out = self.registers.reals[number].room(rows * step.columns);
                far_rows::reals(self.arch, out, step, values, walked);
            }
            Some(FarRows::Whole(values)) => {
                let out = &mut self.registers.wholes[number];
                far_rows::wholes(self.arch, out, step, values, walked);
            }
            None => return false,
        }
        true
    }

    /// Reduces the edges of a row in these slots, of a kernel with one pass over edges in one
    /// direction, and writes nothing.
    pub fn reduce_part(
        &mut self,
        kernel: &Kernel<T>,
        work: &Work<T>,
        row: usize,
        slots: Range<u64>,
    ) -> RowPart<T> {
        let (Over::EdgesOf(direction), [pass]) = (kernel.over, kernel.passes.as_slice()) else {
            unreachable!("a kernel that supports groups")
        };
        let span = RowSpan { first_row: row, first_near: row, count: 1 };
        // Outputs of the rows before are done: their registers must not be written.
        let lent = self.registers.reals.iter_mut();
        lent.filter(|register| matches!(register, RegisterData::Output(_)))
            .for_each(|register| *register = RegisterData::default());
        kernel.first.iter().for_each(|step| self.step(kernel, work, *step, span));
        self.reduce_edges(kernel, work, pass, &WalkLists::new(&work.graph, direction), span, slots);
        let take = |number: &usize| {
            let step = &kernel.steps[*number];
            if is_real(step.kind) {
                let made = self.registers.reals[*number].elements()[..step.columns].to_vec();
                Partial::Real(made)
            } else {
                Partial::Whole(self.registers.wholes[*number][..step.columns].to_vec())
            }
        };
        RowPart(pass.reductions.iter().map(take).collect())
    }

    /// Runs all steps for a row whose edges were reduced in parts, and writes its outputs.
    pub fn finish_row(
        &mut self,
        kernel: &Kernel<T>,
        work: &Work<T>,
        row: usize,
        reduced: RowPart<T>,
        outputs: &mut [StoredMut<'o, T>],
    ) {
        let [pass] = kernel.passes.as_slice() else { unreachable!("as in `reduce_part`") };
        let span = RowSpan { first_row: row, first_near: row, count: 1 };
        self.lend(kernel, 1, outputs);
        kernel.first.iter().for_each(|step| self.step(kernel, work, *step, span));
        for (&number, reduced) in pass.reductions.iter().zip(reduced.0) {
            match reduced {
                Partial::Real(made) => {
                    self.registers.reals[number].room(made.len()).copy_from_slice(&made)
                }
                Partial::Whole(made) => self.registers.wholes[number] = made,
            }
            self.end(&kernel.steps[number], number);
        }
        pass.rows.iter().for_each(|step| self.step(kernel, work, *step, span));
        self.store(kernel, 0, 1, outputs);
        self.add_totals(kernel, work, span);
    }

    /// Initialises a reduction.
    fn begin(&mut self, step: &Resolved<T>, number: usize, rows: usize) {
        let count = rows * step.columns;
        if is_real(step.kind) {
            let made = &mut self.registers.reals[number];
            made.room(count).fill(reduce::start(&step.op, step.kind));
        } else {
            let made = &mut self.registers.wholes[number];
            made.clear();
            made.resize(
                count,
                if is_largest_id(step) { i64::MIN } else { reduce::start(&step.op, step.kind) },
            );
        }
    }

    /// Over no edge the largest id is the sentinel, which is larger than every id.
    fn end(&mut self, step: &Resolved<T>, number: usize) {
        if is_largest_id(step) {
            let sentinel = empty_reduction(Reduction::Maximum, Type::Id);
            self.registers.wholes[number]
                .iter_mut()
                .filter(|made| **made == i64::MIN)
                .for_each(|made| *made = sentinel);
        }
    }

    fn reduction(&mut self, kernel: &Kernel<T>, work: &Work<T>, number: usize, span: RowSpan) {
        let step = &kernel.steps[number];
        if is_real(step.kind) {
            let mut out = std::mem::take(&mut self.registers.reals[number]);
            let hand = Hand {
                work,
                registers: &self.registers,
                tile: &self.tile,
                first_row: span.first_row,
                first_near: span.first_near,
            };
            reduce::reals_of(
                self.arch,
                step,
                &hand,
                out.room(span.count * step.columns),
                &mut self.scratch,
            );
            self.registers.reals[number] = out;
        } else {
            let mut out = std::mem::take(&mut self.registers.wholes[number]);
            let hand = Hand {
                work,
                registers: &self.registers,
                tile: &self.tile,
                first_row: span.first_row,
                first_near: span.first_near,
            };
            reduce::wholes_of(self.arch, step, &hand, &mut out, &mut self.scratch);
            self.registers.wholes[number] = out;
        }
    }

    /// Runs a step other than an edge reduction, for all rows of the block or tile.
    fn step(&mut self, kernel: &Kernel<T>, work: &Work<T>, number: usize, span: RowSpan) {
        let step = &kernel.steps[number];
        if is_real(step.kind) {
            let mut out = std::mem::take(&mut self.registers.reals[number]);
            self.real_step(step, work, out.room(span.count * step.columns), span);
            self.registers.reals[number] = out;
        } else {
            let mut out = std::mem::take(&mut self.registers.wholes[number]);
            out.resize(span.count * step.columns, 0);
            self.integer_step(step, work, &mut out, span);
            self.registers.wholes[number] = out;
        }
    }

    fn real_step(&mut self, step: &Resolved<T>, work: &Work<T>, out: &mut [T], span: RowSpan) {
        let hand = Hand {
            work,
            registers: &self.registers,
            tile: &self.tile,
            first_row: span.first_row,
            first_near: span.first_near,
        };
        let size = BlockShape { level: step.level, rows: span.count, columns: step.columns };
        let [first, second, third, fourth] = &mut self.reals;
        match &step.op {
            Op::Unary(operator) => arithmetic::unary(
                self.arch,
                out,
                hand.source(&step.inputs[0], &reals(), size, first),
                *operator,
            ),
            Op::Binary(operator) => {
                binary_step(self.arch, out, step, *operator, &hand, size, [first, second])
            }
            Op::Select => {
                let yes = hand.source(&step.inputs[1], &reals(), size, second);
                let no = hand.source(&step.inputs[2], &reals(), size, third);
                if let Some(Compared { operator, inputs: [a, b] }) = &step.compared {
                    let sources = [
                        hand.source(a, &reals(), size, first),
                        hand.source(b, &reals(), size, fourth),
                        yes,
                        no,
                    ];
                    return choose(self.arch, out, *operator, sources);
                }
                let holds = hand.source(&step.inputs[0], &wholes(), size, &mut self.wholes[0]);
                arithmetic::select(self.arch, out, holds, yes, no);
            }
            Op::Product { transposed } => {
                let wide = step.input_shapes[0].iter().product::<u64>() as usize;
                let inner = step.input_shapes[0].last().map_or(1, |length| *length as usize);
                let made = step.shape.last().map_or(1, |length| *length as usize);
                let left = hand.source(&step.inputs[0], &reals(), size.wide(wide), first);
                let right = hand.values(&step.inputs[1][0], &reals());
                rows_times(out, left, right, *transposed, [inner, made]);
            }
            Op::Cast(_) if !is_real(step.input_kind) => {
                arithmetic::widen(
                    self.arch,
                    out,
                    hand.source(&step.inputs[0], &wholes(), size, &mut self.wholes[0]),
                );
            }
            Op::Dropout { probability, site } => {
                copy(out, hand.source(&step.inputs[0], &reals(), size, first));
                let dropout = Dropout { probability: *probability, site: *site };
                drop_rows(self.arch, out, step, dropout, &hand, &mut self.dropout);
            }
            Op::Axis(pooling, axis) if step.way == StepMethod::Dot => {
                debug_assert_eq!(*pooling, Pooling::Sum);
                let width = step.input_shapes[0][*axis] as usize;
                let rows = |factor: usize, scratch| {
                    contiguous_rows(&hand, step, factor, span.count, scratch)
                };
                dots(self.arch, out, rows(0, first), rows(1, second), step.columns, width);
            }
            Op::Axis(pooling, axis) => {
                let wide: usize = step.input_shapes[0].iter().product::<u64>() as usize;
                let source = hand.source(&step.inputs[0], &reals(), size.wide(wide), first);
                let length = step.input_shapes[0][*axis] as usize;
                match source {
                    Source::Slice(rows)
                        if *pooling == Pooling::Sum
                            && axis + 1 == step.input_shapes[0].len()
                            && length > 0 =>
                    {
                        arithmetic::sums_along(self.arch, out, rows, length);
                    }
                    source => reduce_axis(out, source, step, *pooling, *axis),
                }
            }
            Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. } => {
                out.fill(T::ZERO);
                for (input, shape) in step.input_shapes.iter().enumerate() {
                    let wide = shape.iter().product::<u64>() as usize;
                    let source = hand.source(&step.inputs[input], &reals(), size.wide(wide), first);
                    picked(out, source, step, input, wide);
                }
            }
            op => {
                copy(out, hand.source(&step.inputs[copied_input(op, work)], &reals(), size, first))
            }
        }
    }

    fn integer_step(&mut self, step: &Resolved<T>, work: &Work<T>, out: &mut [i64], span: RowSpan) {
        let hand = Hand {
            work,
            registers: &self.registers,
            tile: &self.tile,
            first_row: span.first_row,
            first_near: span.first_near,
        };
        let size = BlockShape { level: step.level, rows: span.count, columns: step.columns };
        let [first, second, third] = &mut self.wholes;
        let [real_first, real_second, ..] = &mut self.reals;
        match &step.op {
            Op::Unary(operator) => arithmetic::unary_whole(
                self.arch,
                out,
                hand.source(&step.inputs[0], &wholes(), size, first),
                *operator,
            ),
            Op::Binary(operator) if is_real(step.input_kind) => {
                let a = hand.source(&step.inputs[0], &reals(), size, real_first);
                let b = hand.source(&step.inputs[1], &reals(), size, real_second);
                arithmetic::compare(self.arch, out, a, b, *operator);
            }
            Op::Binary(operator) => {
                let a = hand.source(&step.inputs[0], &wholes(), size, first);
                let b = hand.source(&step.inputs[1], &wholes(), size, second);
                arithmetic::binary_whole(self.arch, out, a, b, *operator);
            }
            Op::Select => {
                let holds = hand.source(&step.inputs[0], &wholes(), size, first);
                let yes = hand.source(&step.inputs[1], &wholes(), size, second);
                let no = hand.source(&step.inputs[2], &wholes(), size, third);
                arithmetic::select(self.arch, out, holds, yes, no);
            }
            Op::Cast(kind) if is_real(step.input_kind) => arithmetic::narrow(
                out,
                hand.source(&step.inputs[0], &reals(), size, real_first),
                *kind,
            ),
            Op::Cast(kind) => arithmetic::cast_whole(
                out,
                hand.source(&step.inputs[0], &wholes(), size, first),
                *kind,
            ),
            Op::Axis(pooling, axis) => {
                let wide: usize = step.input_shapes[0].iter().product::<u64>() as usize;
                let source = hand.source(&step.inputs[0], &wholes(), size.wide(wide), first);
                reduce_axis(out, source, step, *pooling, *axis);
            }
            Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. } => {
                out.fill(0);
                for (input, shape) in step.input_shapes.iter().enumerate() {
                    let wide = shape.iter().product::<u64>() as usize;
                    let source =
                        hand.source(&step.inputs[input], &wholes(), size.wide(wide), first);
                    picked(out, source, step, input, wide);
                }
            }
            op => {
                copy(out, hand.source(&step.inputs[copied_input(op, work)], &wholes(), size, first))
            }
        }
    }

    /// Lends steps the output rows that they write in place.
    fn lend(&mut self, kernel: &Kernel<T>, rows: usize, outputs: &mut [StoredMut<'o, T>]) {
        for (number, step) in kernel.steps.iter().enumerate() {
            let Some(output) = step.store.filter(|_| step.level != Level::Total) else { continue };
            if let StoredMut::Real(rest) = &mut outputs[output] {
                let (block, after) = std::mem::take(rest).split_at_mut(rows * step.columns);
                *rest = after;
                self.registers.reals[number] = RegisterData::Output(block);
            }
        }
    }

    /// Stores integers and 16-bit floats to the outputs; other floats were written in place.
    fn store(&self, kernel: &Kernel<T>, first: usize, rows: usize, outputs: &mut [StoredMut<T>]) {
        for (number, step) in kernel.steps.iter().enumerate() {
            let Some(output) = step.store.filter(|_| step.level != Level::Total) else { continue };
            let (place, count) =
                (first * step.columns..(first + rows) * step.columns, rows * step.columns);
            match &mut outputs[output] {
                StoredMut::Real(_) => {}
                StoredMut::Bf16(out) => round(
                    self.arch,
                    &mut out[place],
                    &self.registers.reals[number].elements()[..count],
                ),
                StoredMut::F16(out) => round(
                    self.arch,
                    &mut out[place],
                    &self.registers.reals[number].elements()[..count],
                ),
                StoredMut::Whole(out) => {
                    out[place].copy_from_slice(&self.registers.wholes[number][..count])
                }
            }
        }
    }
}

/// The rows of a factor of a step, to be multiplied with others; 16-bit floats are widened first.
fn contiguous_rows<'s, T: Real + Element>(
    hand: &'s Hand<T>,
    step: &Resolved<T>,
    factor: usize,
    count: usize,
    scratch: &'s mut Vec<T>,
) -> GatheredRows<'s, T> {
    let operand = &step.inputs[0][factor];
    if !hand.is_half(operand) {
        return GatheredRows {
            values: hand.values(operand, &reals()),
            which: hand.rows_of(operand, step.level),
        };
    }
    match hand.source(
        std::slice::from_ref(operand),
        &reals(),
        BlockShape { level: step.level, rows: count, columns: operand.columns },
        scratch,
    ) {
        Source::Slice(values) => GatheredRows { values, which: RowIndices::From(0) },
        Source::Number(_) => unreachable!("rows are no number"),
    }
}

/// A binary operator; one operand may be a row broadcast to all rows.
fn binary_step<T: Real + Element>(
    arch: Arch,
    out: &mut [T],
    step: &Resolved<T>,
    operator: Binary,
    hand: &Hand<T>,
    size: BlockShape,
    [first, second]: [&mut Vec<T>; 2],
) {
    for (which, other) in
        [(0, 1), (1, 0)].into_iter().filter(|_| arithmetic::has_form_by_row(operator))
    {
        if let Some(row) = hand.shared_row(&step.inputs[which], &reals(), step.columns) {
            let rows = hand.source(&step.inputs[other], &reals(), size, first);
            return arithmetic::binary_by_row(arch, out, rows, row, operator, which == 0);
        }
    }
    let a = hand.source(&step.inputs[0], &reals(), size, first);
    let b = hand.source(&step.inputs[1], &reals(), size, second);
    arithmetic::binary(arch, out, a, b, operator);
}

/// Totals of no rows.
fn nothing<T: Real>(kernel: &Kernel<T>) -> Vec<Vec<T>> {
    kernel.totals.iter().map(|number| vec![T::ZERO; kernel.steps[*number].columns]).collect()
}

/// The input that a copy reads; for `WhenTraining`, that of this pass.
fn copied_input<T>(op: &Op, work: &Work<T>) -> usize {
    usize::from(*op == Op::WhenTraining && !work.context.active)
}

fn is_largest_id<T>(step: &Resolved<T>) -> bool {
    step.kind == Type::Id && matches!(step.op, Op::Reduce(Reduction::Maximum, _))
}

/// Scratch of dropout.
#[derive(Debug, Default)]
struct DropoutScratch {
    draws: Draws,
    /// For each row, its number in the graph artifact, which selects its draws.
    graph_rows: Vec<u32>,
}

/// Dropout in place.
struct DropRows<'a, T> {
    drops: Drops,
    values: &'a mut [T],
    draws: &'a mut Draws,
    columns: usize,
    rows: &'a [u32],
}

impl<T: Real> WithSimd for DropRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let place = TilePlace { first_row: 0, first_column: 0, row_in_graph: Some(self.rows) };
        self.drops.drop_tile(simd, self.values, self.draws, self.columns, place);
    }
}

/// Applies dropout to the rows of a step, in place.
fn drop_rows<T: Real>(
    arch: Arch,
    out: &mut [T],
    step: &Resolved<T>,
    dropout: Dropout,
    hand: &Hand<T>,
    scratch: &mut DropoutScratch,
) {
    let Hand { work, tile, first_row, .. } = *hand;
    let columns = step.columns;
    let Some(drops) = Drops::new(dropout, &work.context).filter(|_| columns > 0) else { return };
    let DropoutScratch { draws, graph_rows } = scratch;
    graph_rows.clear();
    let count = out.len() / columns;
    if step.level == Level::Edge {
        graph_rows.extend(&tile.rows[..count]);
    } else {
        graph_rows.extend((first_row..first_row + count).map(|row| work.context.graph_row(row)));
    }
    arch.dispatch(DropRows { drops, values: out, draws, columns, rows: graph_rows });
}

/// Sum, maximum or minimum along an axis.
fn reduce_axis<T, A: Element>(
    out: &mut [A],
    source: Source<A>,
    step: &Resolved<T>,
    pooling: Pooling,
    axis: usize,
) {
    let shape = &step.input_shapes[0];
    let wide = shape.iter().product::<u64>() as usize;
    let [_, length, after] = axis_lengths(shape, axis);
    let (work, reduction): (fn(A, A) -> A, Reduction) = match pooling {
        Pooling::Sum => (A::sum, Reduction::Sum),
        Pooling::Maximum => (A::most, Reduction::Maximum),
        Pooling::Minimum => (A::least, Reduction::Minimum),
    };
    let nothing: A = empty_reduction(reduction, step.kind);
    for (row, out) in out.chunks_exact_mut(step.columns.max(1)).enumerate() {
        for (column, out) in out.iter_mut().enumerate() {
            let first = column / after * length * after + column % after;
            let at = |place: usize| match source {
                Source::Slice(values) => values[row * wide + first + place * after],
                Source::Number(number) => number,
            };
            let made = (0..length).map(at).reduce(work);
            *out = made.map_or(nothing, |made| {
                if pooling == Pooling::Sum { nothing.sum(made) } else { made }
            });
        }
    }
}

/// Copies the elements of one input to their positions in the result.
fn picked<T, A: Element>(
    out: &mut [A],
    source: Source<A>,
    step: &Resolved<T>,
    input: usize,
    wide: usize,
) {
    let runs = runs(&step.op, &step.shape, &step.input_shapes);
    for (row, out) in out.chunks_exact_mut(step.columns.max(1)).enumerate() {
        for run in runs.iter().filter(|run| run.input == input) {
            match source {
                Source::Slice(values) => out[run.to..run.to + run.length]
                    .copy_from_slice(&values[row * wide + run.from..][..run.length]),
                Source::Number(number) => out[run.to..run.to + run.length].fill(number),
            }
        }
    }
}
