//! kernel: orders and resolves the steps of a fused launch: the edge pass of each, the layout of
//! each operand, and which sums are gathered in place.
//!
//! promises  everything that does not depend on data is decided here, once
use warploom_ir::{Direction, EdgeSet, Number, Op, Pooling, Reduction, Type};
use warploom_launch::{Over, Rows, reduced};

use super::far_rows::buffer_of_far_rows;
use super::inlined_steps::inline;
use super::operands::{OperandLayout, Origin, Resolved, RowChoice, RowOperand, StepMethod};
use super::tile::Wanted;
use super::{From, Input, Level, Read, Step};
use crate::Real;
use crate::evaluate::{Index, broadcast_columns};

/// A fused launch, ready to run on any graph.
#[derive(Clone, Debug)]
pub struct Kernel<T> {
    /// What the walk iterates over.
    pub(super) over: Over,
    /// Whether a walk over edges visits each edge twice.
    pub(super) edges_twice: bool,
    pub(super) steps: Vec<Resolved<T>>,
    /// Vertex steps that depend on no edge pass.
    pub(super) first: Vec<usize>,
    pub(super) passes: Vec<Pass>,
    /// Sums over all rows.
    pub(super) totals: Vec<usize>,
    pub(super) output_columns: Vec<usize>,
    /// Columns of all vertex steps; in a walk over edges, of all edge steps.
    pub(super) row_columns: usize,
    /// Columns of the widest value of an edge, or of a row that is reduced.
    pub(super) edge_columns: usize,
    /// Rows of a block and edges of a tile.
    pub(super) block_rows: usize,
    pub(super) tile_edges: usize,
    wants_rows: bool,
    wants_near: bool,
}

/// One pass over the edges of a block of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// Edge steps, in order.
    pub edges: Vec<usize>,
    /// Reductions.
    pub reductions: Vec<usize>,
    /// Vertex steps that depend on these reductions.
    pub rows: Vec<usize>,
}

/// Elements of the vertex values of a block, and of the edge values of a tile, that fit L2.
const BLOCK_ELEMENTS: usize = 48 * 1024;
const TILE_ELEMENTS: usize = 16 * 1024;
/// Minimum rows of a block with a dense product: its matrix is packed once per block.
const PRODUCT_ROWS: usize = 64;

impl<T: Real> Kernel<T> {
    /// Orders and resolves the steps of a validated launch.
    pub fn new(over: Over, steps: &[Step]) -> Self {
        // A walk over edges sees their ends as in-edges do.
        let direction = match over {
            Over::EdgesOf(direction) => Some(direction),
            Over::Edges(_) => Some(Direction::In),
            Over::Vertices => None,
        };
        let levels = levels(steps);
        let mut resolved: Vec<Resolved<T>> =
            steps.iter().map(|step| resolve(step, direction)).collect();
        let left_out = inline(&mut resolved);
        let mut passes: Vec<Pass> =
            vec![Pass::default(); levels.iter().copied().max().unwrap_or(0)];
        let mut first = Vec::new();
        for (number, step) in steps.iter().enumerate().filter(|(_, step)| step.level == Level::Row)
        {
            match (levels[number], reduced(&step.op)) {
                (level, Some(_)) => passes[level - 1].reductions.push(number),
                (0, None) => first.push(number),
                (level, None) => passes[level - 1].rows.push(number),
            }
        }
        for pass in &mut passes {
            pass.edges = needed(steps, &pass.reductions);
        }
        if let Over::Edges(_) = over {
            first = (0..steps.len()).collect();
        }
        let lists = passes.iter_mut().flat_map(|pass| [&mut pass.edges, &mut pass.rows]);
        lists.chain([&mut first]).for_each(|list| list.retain(|number| !left_out[*number]));
        let held = || {
            resolved.iter().zip(&left_out).filter(|(_, left_out)| !**left_out).map(|(step, _)| step)
        };
        let wide = |level: Level| {
            held().filter(|step| step.level == level).map(|step| step.columns).sum::<usize>()
        };
        let widest = held()
            .filter(|step| step.level == Level::Edge || step.way != StepMethod::Plain)
            .map(|step| step.columns)
            .max()
            .unwrap_or(1);
        let operands = || {
            resolved
                .iter()
                .filter(|step| step.level == Level::Edge || reduced(&step.op).is_some())
                .flat_map(|step| step.inputs.iter().flatten())
        };
        let by_edge = |step: &Resolved<T>| match &step.op {
            Op::Dropout { .. } => step.level == Level::Edge,
            Op::Reduce(_, edges) => edges.relation.is_some(),
            _ => false,
        };
        let wants_rows = resolved.iter().any(by_edge)
            || operands().any(|operand| {
                operand.at == RowChoice::Own && matches!(operand.from, Origin::Buffer(_))
            });
        let wants_near = operands().any(|operand| operand.at == RowChoice::Near);
        let has_product =
            resolved.iter().any(|step| matches!(step.op, Op::Product { .. } | Op::Outer));
        Kernel {
            over,
            wants_rows,
            wants_near,
            edges_twice: over == Over::Edges(Rows::EdgesTwice),
            row_columns: wide(if let Over::Edges(_) = over { Level::Edge } else { Level::Row }),
            block_rows: (BLOCK_ELEMENTS / wide(Level::Row).max(1))
                .clamp(if has_product { PRODUCT_ROWS } else { 8 }, 1024),
            edge_columns: widest,
            tile_edges: (TILE_ELEMENTS / widest.max(1)).clamp(64, 1024),
            output_columns: output_columns(&resolved),
            steps: resolved,
            first,
            passes,
            totals: (0..steps.len())
                .filter(|number| steps[*number].level == Level::Total)
                .collect(),
        }
    }

    /// The same with these block and tile sizes.
    #[cfg(test)]
    pub(super) fn with_block_sizes(self, block_rows: usize, tile_edges: usize) -> Self {
        Kernel { block_rows, tile_edges, ..self }
    }

    /// Whether the edges of a row can be divided into groups: they are walked once, in one
    /// direction.
    pub fn supports_groups(&self) -> bool {
        matches!(self.over, Over::EdgesOf(Direction::In | Direction::Out)) && self.passes.len() == 1
    }

    /// Elements of all totals.
    pub(super) fn total_elements(&self) -> usize {
        self.totals.iter().map(|number| self.steps[*number].columns).sum()
    }

    /// What a tile has to contain.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted { edges: self.tile_edges, rows: self.wants_rows, near: self.wants_near }
    }

    /// Rows of a block; of edges in a walk over edges.
    pub(super) fn rows_at_once(&self) -> usize {
        if let Over::Edges(_) = self.over { self.tile_edges } else { self.block_rows }
    }
}

/// Columns of each output but totals.
fn output_columns<T>(steps: &[Resolved<T>]) -> Vec<usize> {
    let stored = || {
        let rows = steps.iter().filter(|step| step.level != Level::Total);
        rows.filter_map(|step| Some((step.store?, step.columns)))
    };
    let mut columns = vec![0; stored().count()];
    stored().for_each(|(output, wide)| columns[output] = wide);
    columns
}

/// The number of edge passes that each step depends on; edge steps run in the first pass that has
/// their inputs.
fn levels(steps: &[Step]) -> Vec<usize> {
    let mut levels = Vec::with_capacity(steps.len());
    for step in steps {
        let read = step.inputs.iter().flat_map(reads).filter_map(|read| {
            if let From::Step(number) = read.from { Some(number) } else { None }
        });
        let waits: usize = read.map(|number| levels[number]).max().unwrap_or(0);
        levels.push(waits + usize::from(reduced(&step.op).is_some()));
    }
    levels
}

/// The edge steps that reductions read, in order.
fn needed(steps: &[Step], reductions: &[usize]) -> Vec<usize> {
    let mut wanted = vec![false; steps.len()];
    let mut waiting = reductions.to_vec();
    while let Some(number) = waiting.pop() {
        for read in steps[number].inputs.iter().flat_map(reads) {
            if let From::Step(input) = read.from
                && steps[input].level == Level::Edge
                && !wanted[input]
            {
                wanted[input] = true;
                waiting.push(input);
            }
        }
    }
    (0..steps.len()).filter(|number| wanted[*number]).collect()
}

fn reads(input: &Input) -> Vec<&Read> {
    match input {
        Input::Number(_) => Vec::new(),
        Input::Rows(read) => vec![read],
        Input::Times(first, second) => reads(first).into_iter().chain(reads(second)).collect(),
    }
}

fn resolve<T: Real>(step: &Step, direction: Option<Direction>) -> Resolved<T> {
    let columns = step.shape.iter().product::<u64>() as usize;
    let input_shapes: Vec<Vec<u64>> = step.inputs.iter().map(shape_of).collect();
    let resolve = |(input, own): (&Input, &Vec<u64>)| {
        // Operators that copy or select elements read rows in their own shape; all others broadcast
        // them to the step's shape.
        let wanted = match step.op {
            Op::Axis(..)
            | Op::Concat(_)
            | Op::Slice { .. }
            | Op::Unslice { .. }
            | Op::Reshape
            | Op::Product { .. } => own,
            _ if step.level == Level::Total => own,
            _ => &step.shape,
        };
        let at_edges = step.level == Level::Edge || reduced(&step.op).is_some();
        factors(input)
            .into_iter()
            .map(|factor| operand(factor, wanted, at_edges, direction))
            .collect::<Vec<RowOperand<T>>>()
    };
    let mut inputs: Vec<Vec<RowOperand<T>>> =
        step.inputs.iter().zip(&input_shapes).map(resolve).collect();
    if let (Op::Reduce(..), Some(mask)) = (&step.op, inputs.get_mut(1)) {
        mask.iter_mut().for_each(|operand| operand.layout = OperandLayout::Same);
    }
    let input_kind = step.inputs.first().map_or(Type::Real, kind_of);
    let way = way(step, &inputs, columns, input_kind);
    let made = Resolved {
        op: step.op.clone(),
        shape: step.shape.clone(),
        columns,
        kind: step.kind,
        level: step.level,
        inputs,
        input_kind,
        input_shapes,
        store: step.store,
        way,
        far_rows: None,
        compared: None,
    };
    Resolved { far_rows: buffer_of_far_rows(&made), ..made }
}

/// The element type of an input.
fn kind_of(input: &Input) -> Type {
    match input {
        Input::Number(number) => number.kind(),
        Input::Rows(read) => read.kind,
        Input::Times(first, _) => kind_of(first),
    }
}

fn shape_of(input: &Input) -> Vec<u64> {
    match input {
        Input::Number(_) => Vec::new(),
        Input::Rows(read) => read.shape.clone(),
        Input::Times(first, second) => {
            warploom_ir::broadcast(&shape_of(first), &shape_of(second)).unwrap_or_default()
        }
    }
}

fn factors(input: &Input) -> Vec<&Input> {
    match input {
        Input::Times(first, second) => factors(first).into_iter().chain(factors(second)).collect(),
        other => vec![other],
    }
}

fn operand<T: Real>(
    input: &Input,
    wanted: &[u64],
    at_edges: bool,
    direction: Option<Direction>,
) -> RowOperand<T> {
    let Input::Rows(read) = input else {
        let Input::Number(number) = input else { unreachable!("products are taken apart before") };
        let from = match number {
            Number::Real(number) => Origin::Real(T::rounded(*number)),
            Number::Int(number) => Origin::Whole(*number),
            Number::Bool(holds) => Origin::Whole(i64::from(*holds)),
        };
        return RowOperand {
            from,
            kind: number.kind(),
            columns: 1,
            shape: Vec::new(),
            layout: OperandLayout::First,
            at: RowChoice::One,
        };
    };
    let columns = read.shape.iter().product::<u64>() as usize;
    let wide = wanted.iter().product::<u64>() as usize;
    let layout = match columns {
        _ if columns == wide => OperandLayout::Same,
        1 => OperandLayout::First,
        _ => laid(broadcast_columns(wanted, &read.shape), columns),
    };
    let from = match read.from {
        From::Step(number) => Origin::Step(number),
        From::Buffer(number) => Origin::Buffer(number),
    };
    RowOperand {
        from,
        kind: read.kind,
        columns,
        shape: read.shape.clone(),
        layout,
        at: resolve_row(read.index, at_edges, direction),
    }
}

/// The row that an index means in a walk of this direction: the far end of an in-edge is the near
/// end of an out-edge.
fn resolve_row(index: Index, at_edges: bool, direction: Option<Direction>) -> RowChoice {
    let is_walked = |edges: EdgeSet| {
        direction.is_none_or(|direction| {
            direction == edges.direction || edges.direction == Direction::Both
        })
    };
    match index {
        Index::One => RowChoice::One,
        Index::Same => RowChoice::Own,
        Index::Graph => RowChoice::Graph,
        _ if !at_edges => unreachable!("rows of vertices are not seen from edges by vertices"),
        Index::Far(edges) if is_walked(edges) => RowChoice::Far,
        Index::Near(edges) if is_walked(edges) => RowChoice::Near,
        Index::Far(_) => RowChoice::Near,
        Index::Near(_) => RowChoice::Far,
    }
}

fn way<T: Real>(
    step: &Step,
    inputs: &[Vec<RowOperand<T>>],
    columns: usize,
    input_kind: Type,
) -> StepMethod {
    match &step.op {
        Op::Reduce(Reduction::Sum, _) if step.kind == Type::Real => {
            gathered(step, &inputs[0], columns).unwrap_or(StepMethod::Plain)
        }
        Op::Axis(Pooling::Sum, axis)
            if input_kind == Type::Real && inputs[0].len() == 2 && columns > 0 =>
        {
            let shape = shape_of(&step.inputs[0]);
            let is_row = |operand: &RowOperand<T>| {
                operand.layout == OperandLayout::Same
                    && matches!(operand.from, Origin::Step(_) | Origin::Buffer(_))
            };
            if axis + 1 == shape.len() && inputs[0].iter().all(is_row) {
                StepMethod::Dot
            } else {
                StepMethod::Plain
            }
        }
        _ => StepMethod::Plain,
    }
}

/// A sum whose messages are whole rows of far vertices, times narrower factors.
fn gathered<T: Real>(step: &Step, factors: &[RowOperand<T>], columns: usize) -> Option<StepMethod> {
    let is_far = |operand: &RowOperand<T>| {
        operand.at == RowChoice::Far
            && operand.layout == OperandLayout::Same
            && matches!(operand.from, Origin::Buffer(_))
    };
    let far = factors.iter().position(is_far)?;
    let mut narrow: Vec<u64> = Vec::new();
    for (number, factor) in factors.iter().enumerate() {
        if number != far {
            narrow = warploom_ir::broadcast(&narrow, &factor.shape)?;
        }
    }
    let parts = narrow.iter().product::<u64>() as usize;
    if parts == 0 || columns == 0 || !columns.is_multiple_of(parts) {
        return None;
    }
    let width = columns / parts;
    let is_even = parts == 1
        || broadcast_columns(&step.shape, &narrow)
            .iter()
            .enumerate()
            .all(|(column, part)| *part as usize == column / width);
    is_even.then_some(StepMethod::Gathered { far, parts, narrow })
}

/// The shortest form of an operand's layout.
fn laid(table: Vec<u32>, columns: usize) -> OperandLayout {
    let times = table.len().checked_div(columns).unwrap_or(0);
    let is_even = times > 0
        && table.len() == times * columns
        && table.iter().enumerate().all(|(place, column)| place / times == *column as usize);
    if is_even { OperandLayout::Each(times) } else { OperandLayout::Table(table) }
}

impl<T: Copy> RowOperand<T> {
    /// The same operand, for rows of a narrower shape.
    pub(super) fn narrowed(&self, shape: &[u64]) -> Self {
        let wide = shape.iter().product::<u64>() as usize;
        let layout = match self.columns {
            columns if columns == wide => OperandLayout::Same,
            1 => OperandLayout::First,
            _ => laid(broadcast_columns(shape, &self.shape), self.columns),
        };
        RowOperand { layout, ..self.clone() }
    }
}
