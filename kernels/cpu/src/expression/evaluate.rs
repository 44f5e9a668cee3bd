//! evaluate: runs the steps of a compiled expression over tiles of an output.
//!
//! promises  each element depends on its (row, column) and operands only; the previous contents of
//!           a tile are the operand `Made`
//! never     allocates between tiles; reads an operand out of bounds
use pulp::{Simd, WithSimd};

use super::arithmetic::{Source, copy, select};
use super::{Action, Compiled, Place, Step};
use crate::Scalar;
use crate::random::dropout::{self, DrawContext, Draws, Drops};

/// Elements of a tile: with 4 bytes each, 8 registers fill an L1 of 32 KiB. A multiple of the 8
/// columns of a dropout block.
const TILE_ELEMENTS: usize = 1024;

/// Whether an operand has a row for each row of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandRows {
    /// One row, broadcast.
    One,
    /// A row for each.
    Many,
}

/// A buffer that an expression reads; a single column or a single row is broadcast.
#[derive(Clone, Copy, Debug)]
pub struct BufferOperand<'a, T> {
    /// Row-major elements.
    pub data: &'a [T],
    /// Whether it has a row for each row of the launch.
    pub rows: OperandRows,
    /// Elements in a row: 1, or as many as the launch has.
    pub columns: usize,
}

/// A compiled expression with its operands: the element-wise part of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a, T> {
    /// The expression.
    pub program: &'a Compiled<T>,
    /// Slot i is the buffer `program.loads()[i]`.
    pub operands: &'a [BufferOperand<'a, T>],
    /// For dropout and ids.
    pub context: DrawContext<'a>,
}

impl<T: Scalar> Bound<'_, T> {
    /// Panics unless the operands fit an output of this shape.
    pub(crate) fn assert_fits(&self, rows: usize, columns: usize) {
        let names = self.program.loads();
        assert_eq!(self.operands.len(), names.len(), "one operand for each of {names:?}");
        for (operand, name) in self.operands.iter().zip(names) {
            assert!(
                operand.columns == columns || operand.columns == 1,
                "`{name}` has 1 or {columns} columns, found {}",
                operand.columns
            );
            let needed = if operand.rows == OperandRows::Many { rows } else { 1 };
            assert!(
                needed
                    .checked_mul(operand.columns)
                    .is_some_and(|elements| elements <= operand.data.len()),
                "`{name}` has {needed} rows of {}, found {} elements",
                operand.columns,
                operand.data.len()
            );
        }
        if let Some(map) = self.context.row_in_graph {
            assert!(
                map.len() >= rows,
                "a row in the graph for each of {rows} rows, found {}",
                map.len()
            );
        }
    }
}

/// How an operand broadcasts to an output of some width.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OperandFit {
    /// One element for each.
    Full,
    /// One column, repeated along the row.
    Column,
    /// One row, repeated over rows.
    Row,
    /// One element.
    Number,
}

/// A bound expression with its registers: one per task.
pub(crate) struct Evaluator<'a, T> {
    arch: pulp::Arch,
    bound: &'a Bound<'a, T>,
    /// Elements in a row of the output.
    width: usize,
    shapes: Vec<OperandFit>,
    drops: Vec<Option<Drops>>,
    draws: Draws,
    registers: Vec<Vec<T>>,
    /// Expanded columns and rows, by slot.
    repeated: Vec<Vec<T>>,
    /// How much of a repeated row is already expanded, by slot: it stays valid between tiles of
    /// whole rows.
    repeated_rows: Vec<usize>,
}

/// The position of a tile: whole rows, or a part of one.
#[derive(Clone, Copy)]
struct OutputTile {
    first_row: usize,
    first_column: usize,
    columns: usize,
}

impl<'a, T: Scalar> Evaluator<'a, T> {
    pub(crate) fn new(arch: pulp::Arch, bound: &'a Bound<'a, T>, width: usize) -> Self {
        let shape = |operand: &BufferOperand<T>| match (operand.rows, operand.columns) {
            (OperandRows::Many, columns) if columns == width => OperandFit::Full,
            (OperandRows::Many, _) => OperandFit::Column,
            (OperandRows::One, 1) => OperandFit::Number,
            (OperandRows::One, _) => OperandFit::Row,
        };
        let drops = |step: &Step<T>| match step.action {
            Action::Dropout(dropout, _) => Drops::new(dropout, &bound.context),
            _ => None,
        };
        let slots = bound.operands.len();
        Evaluator {
            arch,
            bound,
            width,
            shapes: bound.operands.iter().map(shape).collect(),
            drops: bound.program.steps.iter().map(drops).collect(),
            draws: Draws::default(),
            registers: vec![vec![T::ZERO; TILE_ELEMENTS]; bound.program.registers],
            repeated: vec![Vec::new(); slots],
            repeated_rows: vec![0; slots],
        }
    }

    /// Replaces each element of whole rows, from `first_row` on, by the expression's value.
    pub(crate) fn apply(&mut self, first_row: usize, out: &mut [T]) {
        if self.bound.program.is_made() || out.is_empty() {
            return;
        }
        if self.width <= TILE_ELEMENTS {
            let rows = TILE_ELEMENTS / self.width;
            for (tile, part) in out.chunks_mut(rows * self.width).enumerate() {
                let place = OutputTile {
                    first_row: first_row + tile * rows,
                    first_column: 0,
                    columns: self.width,
                };
                self.arch.dispatch(TileRun { evaluator: self, tile: place, out: part });
            }
            return;
        }
        for (row, out_row) in out.chunks_mut(self.width).enumerate() {
            for (tile, part) in out_row.chunks_mut(TILE_ELEMENTS).enumerate() {
                let columns = part.len();
                let place = OutputTile {
                    first_row: first_row + row,
                    first_column: tile * TILE_ELEMENTS,
                    columns,
                };
                self.arch.dispatch(TileRun { evaluator: self, tile: place, out: part });
            }
        }
    }

    #[inline(always)]
    fn repeat_operands(&mut self, tile: OutputTile, count: usize) {
        for slot in 0..self.shapes.len() {
            let data = self.bound.operands[slot].data;
            let repeated = &mut self.repeated[slot];
            match self.shapes[slot] {
                OperandFit::Full | OperandFit::Number => {}
                OperandFit::Column => {
                    repeated.resize(TILE_ELEMENTS, T::ZERO);
                    let rows = data[tile.first_row..].iter();
                    for (out, &value) in repeated[..count].chunks_mut(tile.columns).zip(rows) {
                        out.fill(value);
                    }
                }
                OperandFit::Row if tile.columns == self.width => {
                    if self.repeated_rows[slot] < count {
                        repeated.resize(TILE_ELEMENTS, T::ZERO);
                        repeated[..count]
                            .chunks_mut(tile.columns)
                            .for_each(|out| out.copy_from_slice(&data[..tile.columns]));
                        self.repeated_rows[slot] = count;
                    }
                }
                OperandFit::Row => {
                    repeated.clear();
                    repeated.extend_from_slice(
                        &data[tile.first_column..tile.first_column + tile.columns],
                    );
                }
            }
        }
    }

    #[inline(always)]
    fn source<'s>(
        &'s self,
        place: Place<T>,
        tile: OutputTile,
        made: &'s [T],
        count: usize,
    ) -> Source<'s, T> {
        match place {
            Place::Made => Source::Slice(made),
            Place::Number(number) => Source::Number(number),
            Place::Register(register) => Source::Slice(&self.registers[register][..count]),
            Place::Load(slot) => match self.shapes[slot] {
                OperandFit::Full => {
                    let start = tile.first_row * self.width + tile.first_column;
                    Source::Slice(&self.bound.operands[slot].data[start..start + count])
                }
                OperandFit::Column | OperandFit::Row => {
                    Source::Slice(&self.repeated[slot][..count])
                }
                OperandFit::Number => Source::Number(self.bound.operands[slot].data[0]),
            },
        }
    }

    /// Runs one step into `out`.
    #[inline(always)]
    fn step<S: Simd>(&mut self, simd: S, step: usize, tile: OutputTile, made: &[T], out: &mut [T]) {
        let count = out.len();
        let source = |place| self.source(place, tile, made, count);
        let context = self.bound.context;
        match self.bound.program.steps[step].action {
            Action::Id => {
                for (row, out) in out.chunks_mut(tile.columns).enumerate() {
                    let id = T::from_id(context.graph_row(tile.first_row + row));
                    out.fill(id);
                }
            }
            Action::Unary(operator, operand) => T::unary(operator, out, source(operand)),
            Action::Binary(operator, left, right) => {
                T::binary(operator, out, source(left), source(right))
            }
            Action::Select(condition, yes, no) => {
                select(out, source(condition), source(yes), source(no))
            }
            Action::Dropout(_, operand) => {
                copy(out, source(operand));
                if let Some(drops) = &self.drops[step] {
                    let OutputTile { first_row, first_column, columns } = tile;
                    let place = dropout::TilePlace {
                        first_row,
                        first_column,
                        row_in_graph: context.row_in_graph,
                    };
                    T::drop_tile(simd, drops, out, &mut self.draws, columns, place);
                }
            }
        }
    }
}

/// One tile, dispatched to the CPU's widest instructions.
struct TileRun<'e, 'a, T> {
    evaluator: &'e mut Evaluator<'a, T>,
    tile: OutputTile,
    out: &'e mut [T],
}

impl<T: Scalar> WithSimd for TileRun<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let TileRun { evaluator, tile, out } = self;
        let count = out.len();
        evaluator.repeat_operands(tile, count);
        let program = evaluator.bound.program;
        let last = program.steps.len().wrapping_sub(1);
        for (index, step) in program.steps.iter().enumerate() {
            if index == last && !step.action.reads(Place::Made) {
                // No operand aliases `out`, so that the last step can write to it.
                evaluator.step(simd, index, tile, &[], out);
                return;
            }
            let mut into = std::mem::take(&mut evaluator.registers[step.into]);
            evaluator.step(simd, index, tile, out, &mut into[..count]);
            evaluator.registers[step.into] = into;
        }
        if program.result != Place::Made {
            copy(out, evaluator.source(program.result, tile, &[], count));
        }
    }
}
