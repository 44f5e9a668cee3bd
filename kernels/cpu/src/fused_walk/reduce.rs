//! reduce: accumulates the edges of a tile into the reductions of their vertices.
use pulp::{Arch, Simd, WithSimd};
use warploom_ir::{Binary, Op, Reduction, Type};

use super::fetch::{Access, BlockShape, Hand, reals, wholes};
use super::gather::{Edges, RowIndices, Weights, sums};
use super::operands::{Compared, Origin, Resolved, RowChoice, RowOperand, StepMethod};
use super::tile::Tile;
use super::{Level, Stored, Work};
use crate::Real;
use crate::chunk_arithmetic::Source;
use crate::evaluate::{Element, empty_reduction};

/// Scratch of a task for reductions.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch<T> {
    pub reals: Vec<T>,
    pub wholes: Vec<i64>,
    places: Vec<u32>,
    starts: Vec<u32>,
    far: Vec<u32>,
}

/// The initial value of a reduction.
pub(super) fn start<A: Element>(step_op: &Op, kind: Type) -> A {
    let Op::Reduce(reduction, _) = step_op else { unreachable!("called for reductions") };
    empty_reduction(*reduction, kind)
}

/// Combines two results of a reduction over different edges.
pub(super) fn join_parts<A: Element>(op: &Op, out: &mut [A], other: &[A]) {
    let Op::Reduce(reduction, _) = op else { unreachable!("called for reductions") };
    let work: fn(A, A) -> A = match reduction {
        Reduction::Sum | Reduction::Count => A::sum,
        Reduction::Product => A::product,
        Reduction::Minimum | Reduction::All => A::least,
        Reduction::Maximum | Reduction::Any => A::most,
        Reduction::Mode | Reduction::HIndex => unreachable!("not reduced edge by edge"),
    };
    out.iter_mut().zip(other).for_each(|(out, other)| *out = work(*out, *other));
}

/// Selects the edges of a tile that a mask or relation keeps; false where all are kept.
fn select<T: Real + Element>(step: &Resolved<T>, hand: &Hand<T>, scratch: &mut Scratch<T>) -> bool {
    let Op::Reduce(_, set) = step.op else { return false };
    let tile = hand.tile;
    if set.relation.is_none() && step.inputs.len() < 2 {
        return false;
    }
    scratch.places.clear();
    scratch.starts.clear();
    scratch.far.clear();
    if let Some(compared) = &step.compared {
        let inputs = &compared.inputs;
        match inputs[0][0].kind {
            Type::Real if inputs.iter().flatten().any(|operand| hand.is_half(operand)) => {
                unreachable!("halves are rows of many columns")
            }
            Type::Real => pick(hand, step, compared, &reals(), scratch),
            _ => pick(hand, step, compared, &wholes(), scratch),
        }
        return true;
    }
    let mask = step.inputs.get(1).map(|mask| {
        hand.source(mask, &wholes(), BlockShape::of_edges(tile.len(), 1), &mut scratch.wholes)
    });
    let relations: &Work<T> = hand.work;
    let counts = |place: usize| {
        let of_relation = set.relation.is_none_or(|wanted| {
            let edge = tile.rows[place] as usize % relations.graph.edge_count.max(1);
            relations.graph.relation.get(edge).is_some_and(|found| u32::from(*found) == wanted)
        });
        of_relation
            && match mask {
                None => true,
                Some(Source::Number(holds)) => holds != 0,
                Some(Source::Slice(holds)) => holds[place] != 0,
            }
    };
    for ends in tile.starts.windows(2) {
        scratch.starts.push(scratch.places.len() as u32);
        for place in ends[0]..ends[1] {
            if counts(place as usize) {
                scratch.places.push(place);
                scratch.far.push(tile.far[place as usize]);
            }
        }
    }
    scratch.starts.push(scratch.places.len() as u32);
    true
}

/// Selects the edges of a tile by a comparison of two elements.
fn pick<T: Real + Element, A: Element>(
    hand: &Hand<T>,
    step: &Resolved<T>,
    compared: &Compared<T>,
    access: &Access<T, A>,
    scratch: &mut Scratch<T>,
) {
    let [a, b] = &compared.inputs;
    let (a, b) = (side(hand, &a[0], access), side(hand, &b[0], access));
    // A reduction that reads only far rows does not need the positions of the selected edges.
    let by_place = !reads_far_alone(step, hand);
    match compared.operator {
        Binary::Less => pick_where(hand.tile, a, b, |a: A, b: A| a < b, by_place, scratch),
        Binary::LessEqual => pick_where(hand.tile, a, b, |a: A, b: A| a <= b, by_place, scratch),
        Binary::Equal => pick_where(hand.tile, a, b, |a: A, b: A| a == b, by_place, scratch),
        Binary::NotEqual => pick_where(hand.tile, a, b, |a: A, b: A| a != b, by_place, scratch),
        _ => unreachable!("only comparisons pick edges"),
    }
}

/// Elements of one column, and how edges map to them.
enum CompareSide<'s, A> {
    /// The same for all edges.
    Number(A),
    /// One per vertex, from the tile's first vertex on.
    Near(&'s [A]),
    /// That of the far end.
    Far(&'s [A]),
    /// Any other mapping.
    Other(&'s [A], RowIndices<'s>),
}

fn side<'s, T: Real + Element, A: Element>(
    hand: &Hand<'s, '_, T>,
    operand: &RowOperand<T>,
    access: &Access<T, A>,
) -> CompareSide<'s, A> {
    if let Origin::Real(_) | Origin::Whole(_) = operand.from {
        return CompareSide::Number(access.number(operand.from));
    }
    let values = hand.values(operand, access);
    match (operand.at, hand.rows_of(operand, Level::Edge)) {
        (RowChoice::Near, RowIndices::By(first, _)) => {
            CompareSide::Near(&values[first + hand.tile.first..])
        }
        (RowChoice::Far, _) => CompareSide::Far(values),
        (_, RowIndices::One) => CompareSide::Number(values[0]),
        (_, which) => CompareSide::Other(values, which),
    }
}

fn pick_where<T, A: Element>(
    tile: &Tile,
    a: CompareSide<A>,
    b: CompareSide<A>,
    holds: impl Fn(A, A) -> bool,
    by_place: bool,
    scratch: &mut Scratch<T>,
) {
    match (a, b) {
        (CompareSide::Far(a), CompareSide::Near(b)) if !by_place => {
            keep_far_edges(tile, |row| (a, b[row]), holds, scratch)
        }
        (CompareSide::Near(a), CompareSide::Far(b)) if !by_place => {
            keep_far_edges(tile, |row| (b, a[row]), |far, near| holds(near, far), scratch)
        }
        (CompareSide::Far(a), CompareSide::Number(b)) if !by_place => {
            keep_far_edges(tile, |_| (a, b), holds, scratch)
        }
        (CompareSide::Number(a), CompareSide::Far(b)) if !by_place => {
            keep_far_edges(tile, |_| (b, a), |far, near| holds(near, far), scratch)
        }
        (a, b) => {
            let of = |side: &CompareSide<A>, row: usize, place: usize| match side {
                CompareSide::Number(number) => *number,
                CompareSide::Near(values) => values[row],
                CompareSide::Far(values) => values[tile.far[place] as usize],
                CompareSide::Other(values, which) => values[which.row_index(place)],
            };
            keep_edges(tile, |row, place| holds(of(&a, row, place), of(&b, row, place)), scratch);
        }
    }
}

/// Branch-free: each edge is appended, and the count advances only if it is selected.
fn keep_edges<T>(tile: &Tile, holds: impl Fn(usize, usize) -> bool, scratch: &mut Scratch<T>) {
    scratch.places.resize(tile.len() + 1, 0);
    scratch.far.resize(tile.len() + 1, 0);
    let mut count = 0;
    for (row, ends) in tile.starts.windows(2).enumerate() {
        scratch.starts.push(count as u32);
        for place in ends[0] as usize..ends[1] as usize {
            scratch.places[count] = place as u32;
            scratch.far[count] = tile.far[place];
            count += usize::from(holds(row, place));
        }
    }
    scratch.starts.push(count as u32);
    scratch.places.truncate(count);
    scratch.far.truncate(count);
}

/// `keep_edges` for far ends alone, compared with one number per vertex.
#[inline(always)]
fn keep_far_edges<'s, T, A: Element>(
    tile: &Tile,
    of_row: impl Fn(usize) -> (&'s [A], A),
    holds: impl Fn(A, A) -> bool,
    scratch: &mut Scratch<T>,
) {
    scratch.far.resize(tile.len() + 1, 0);
    let out = &mut scratch.far[..tile.len() + 1];
    let mut count = 0;
    for (row, ends) in tile.starts.windows(2).enumerate() {
        scratch.starts.push(count as u32);
        let (values, near) = of_row(row);
        for &far in &tile.far[ends[0] as usize..ends[1] as usize] {
            out[count] = far;
            count += usize::from(holds(values[far as usize], near));
        }
    }
    scratch.starts.push(count as u32);
    scratch.far.truncate(count);
}

/// Whether a reduction of selected edges reads a single element of far rows.
fn reads_far_alone<T: Real + Element>(step: &Resolved<T>, hand: &Hand<T>) -> bool {
    let [operand] = &step.inputs[0][..] else { return false };
    operand.at == RowChoice::Far
        && operand.columns == 1
        && step.columns == 1
        && matches!(operand.from, Origin::Buffer(_))
        && !hand.is_half(operand)
}

/// Elements of the far rows of selected edges, where a reduction reads such.
fn picked<'l, T: Real + Element, A: Element>(
    step: &Resolved<T>,
    hand: &Hand<T>,
    access: &Access<T, A>,
    far: &[u32],
    laid: &'l mut Vec<A>,
) -> Option<Source<'l, A>> {
    reads_far_alone(step, hand).then(|| {
        let values = hand.values(&step.inputs[0][0], access);
        laid.clear();
        laid.extend(far.iter().map(|row| values[*row as usize]));
        Source::Slice(&laid[..])
    })
}

/// Accumulates a tile's edges into a float reduction; `out` has the rows of the block.
pub(super) fn reals_of<T: Real + Element>(
    arch: Arch,
    step: &Resolved<T>,
    hand: &Hand<T>,
    out: &mut [T],
    scratch: &mut Scratch<T>,
) {
    let is_selected = select(step, hand, scratch);
    let Scratch { reals: laid, places, starts, far, .. } = scratch;
    let edges = match is_selected {
        true => Edges { starts, far, places: Some(places) },
        false => Edges { starts: &hand.tile.starts, far: &hand.tile.far, places: None },
    };
    let out = &mut out[hand.tile.first * step.columns..];
    let count = hand.tile.len();
    if let StepMethod::Gathered { far, parts, narrow } = &step.way {
        let (rows, columns) = (hand.stored(&step.inputs[0][*far]), step.columns);
        if step.inputs[0].len() == 1 {
            return sums_of(arch, out, rows, columns, edges, None);
        }
        let others: Vec<_> = step.inputs[0]
            .iter()
            .enumerate()
            .filter(|(number, _)| number != far)
            .map(|(_, factor)| factor.narrowed(narrow))
            .collect();
        return match hand.source(&others, &reals(), BlockShape::of_edges(count, *parts), laid) {
            Source::Slice(weights) => sums_of(
                arch,
                out,
                rows,
                columns,
                edges,
                Some(Weights { values: weights, parts: *parts }),
            ),
            Source::Number(weight) => {
                let weights = vec![weight; count * parts];
                sums_of(
                    arch,
                    out,
                    rows,
                    columns,
                    edges,
                    Some(Weights { values: &weights, parts: *parts }),
                );
            }
        };
    }
    if is_selected && let Some(source) = picked(step, hand, &reals(), far, laid) {
        return joined(arch, out, step, source, Edges { places: None, ..edges });
    }
    let source =
        hand.source(&step.inputs[0], &reals(), BlockShape::of_edges(count, step.columns), laid);
    joined(arch, out, step, source, edges);
}

/// `sums` for a storage type.
fn sums_of<T: Real + Element>(
    arch: Arch,
    out: &mut [T],
    rows: Stored<T>,
    columns: usize,
    edges: Edges,
    weights: Option<Weights<T>>,
) {
    match rows {
        Stored::Real(values) => sums(arch, out, values, columns, edges, weights),
        Stored::Bf16(values) => sums(arch, out, values, columns, edges, weights),
        Stored::F16(values) => sums(arch, out, values, columns, edges, weights),
        Stored::Whole(_) => unreachable!("a validated list adds reals to reals"),
    }
}

/// Accumulates a tile's edges into an integer reduction.
pub(super) fn wholes_of<T: Real + Element>(
    arch: Arch,
    step: &Resolved<T>,
    hand: &Hand<T>,
    out: &mut [i64],
    scratch: &mut Scratch<T>,
) {
    let is_selected = select(step, hand, scratch);
    let Scratch { wholes: laid, places, starts, far, .. } = scratch;
    let edges = match is_selected {
        true => Edges { starts, far, places: Some(places) },
        false => Edges { starts: &hand.tile.starts, far: &hand.tile.far, places: None },
    };
    let out = &mut out[hand.tile.first * step.columns..];
    if let Op::Reduce(Reduction::Count, _) = step.op {
        for (out, ends) in out.chunks_exact_mut(step.columns.max(1)).zip(edges.starts.windows(2)) {
            out.iter_mut().for_each(|out| *out += i64::from(ends[1] - ends[0]));
        }
        return;
    }
    if is_selected && let Some(source) = picked(step, hand, &wholes(), far, laid) {
        return joined(arch, out, step, source, Edges { places: None, ..edges });
    }
    let source = hand.source(
        &step.inputs[0],
        &wholes(),
        BlockShape::of_edges(hand.tile.len(), step.columns),
        laid,
    );
    joined(arch, out, step, source, edges);
}

fn joined<T, A: Element>(
    arch: Arch,
    out: &mut [A],
    step: &Resolved<T>,
    source: Source<A>,
    edges: Edges,
) {
    let Op::Reduce(reduction, _) = step.op else { return };
    let columns = step.columns;
    match reduction {
        Reduction::Sum => arch.dispatch(EdgeJoin { out, columns, source, edges, work: A::sum }),
        Reduction::Product => {
            arch.dispatch(EdgeJoin { out, columns, source, edges, work: A::product })
        }
        Reduction::Minimum | Reduction::All => {
            arch.dispatch(EdgeJoin { out, columns, source, edges, work: A::least })
        }
        Reduction::Maximum | Reduction::Any => {
            arch.dispatch(EdgeJoin { out, columns, source, edges, work: A::most })
        }
        Reduction::Count | Reduction::Mode | Reduction::HIndex => {
            unreachable!("not reduced in this way")
        }
    }
}

/// Combines the edges of each row, dispatched to the instruction set of the CPU.
struct EdgeJoin<'a, A, F> {
    out: &'a mut [A],
    columns: usize,
    source: Source<'a, A>,
    edges: Edges<'a>,
    work: F,
}

impl<A: Element, F: Fn(A, A) -> A> WithSimd for EdgeJoin<'_, A, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        reduce_rows(self.out, self.columns, self.source, self.edges, self.work);
    }
}

#[inline(always)]
fn reduce_rows<A: Element>(
    out: &mut [A],
    columns: usize,
    source: Source<A>,
    edges: Edges,
    work: impl Fn(A, A) -> A,
) {
    match (source, columns) {
        (_, 0) => {}
        (Source::Slice(values), 1) => rows_of::<A, 1>(out, values, edges, work),
        (Source::Slice(values), 4) => rows_of::<A, 4>(out, values, edges, work),
        (Source::Slice(values), 8) => rows_of::<A, 8>(out, values, edges, work),
        (Source::Slice(values), 16) => rows_of::<A, 16>(out, values, edges, work),
        (source, columns) => {
            for (out, ends) in out.chunks_exact_mut(columns).zip(edges.starts.windows(2)) {
                for edge in ends[0] as usize..ends[1] as usize {
                    match source {
                        Source::Number(number) => {
                            out.iter_mut().for_each(|out| *out = work(*out, number))
                        }
                        Source::Slice(values) => {
                            let place = edges.places.map_or(edge, |places| places[edge] as usize);
                            out.iter_mut()
                                .zip(&values[place * columns..][..columns])
                                .for_each(|(out, value)| *out = work(*out, *value));
                        }
                    }
                }
            }
        }
    }
}

/// Rows of `COLUMNS`, accumulated in registers.
#[inline(always)]
fn rows_of<A: Element, const COLUMNS: usize>(
    out: &mut [A],
    values: &[A],
    edges: Edges,
    work: impl Fn(A, A) -> A,
) {
    let values = values.as_chunks::<COLUMNS>().0;
    for (out, ends) in out.as_chunks_mut::<COLUMNS>().0.iter_mut().zip(edges.starts.windows(2)) {
        let mut made = *out;
        for edge in ends[0] as usize..ends[1] as usize {
            let value = &values[edges.places.map_or(edge, |places| places[edge] as usize)];
            for column in 0..COLUMNS {
                made[column] = work(made[column], value[column]);
            }
        }
        *out = made;
    }
}
