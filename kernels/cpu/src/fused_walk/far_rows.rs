//! far_rows: reductions that read whole rows of far vertices and nothing else: without a tile of
//! edges, straight from the list.
//!
//!   far ends copied to a tile, one chain of sums    one column: 3 to 4 cycles an edge
//!   as a neighbour reduction                        one column: four sums at once    <- here
//!
//! promises  rows of several columns add in the order of edge ids, a single column as
//!           `gathered_rows` does: neither threads, nor blocks, nor the rows that are computed
//!           change a bit
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use warploom_ir::{Op, Reduction, Type};

use super::operands::{OperandLayout, Origin, Resolved, RowChoice};
use super::{Stored, Work};
use crate::Real;
use crate::evaluate::{EdgeList, Element};
use crate::gathered_rows::{Entries, MaxOf, MinOf, SumOf, reduce_rows};

/// Independent results of a single column of integers.
const LANES: usize = 4;

/// Rows of far vertices, as they are stored.
pub(super) enum FarRows<'w, T> {
    /// Floats of the run's type.
    Real(&'w [T]),
    /// Integers, ids or bools.
    Whole(&'w [i64]),
}

/// The rows that a step reduces, if it reads far rows alone; none of 16-bit floats.
pub(super) fn of_step<'w, T>(step: &Resolved<T>, work: &Work<'w, T>) -> Option<FarRows<'w, T>> {
    match work.reads[step.far_rows?] {
        Stored::Real(values) => Some(FarRows::Real(values)),
        Stored::Whole(values) => Some(FarRows::Whole(values)),
        Stored::Bf16(_) | Stored::F16(_) => None,
    }
}

/// The buffer whose far rows a step reduces, if it reads these alone.
pub(super) fn buffer_of_far_rows<T>(step: &Resolved<T>) -> Option<usize> {
    let (Op::Reduce(reduction, edges), [factors]) = (&step.op, step.inputs.as_slice()) else {
        return None;
    };
    let ([operand], None) = (factors.as_slice(), edges.relation) else { return None };
    use Reduction::{All, Any, Maximum, Minimum, Sum};
    let is_known = match step.kind {
        Type::Real => matches!(reduction, Sum | Minimum | Maximum) && step.columns > 0,
        _ => matches!(reduction, Sum | Minimum | Maximum | Any | All) && step.columns == 1,
    };
    let is_whole_row = operand.at == RowChoice::Far
        && operand.layout == OperandLayout::Same
        && operand.kind == step.kind;
    match operand.from {
        Origin::Buffer(buffer) if is_known && is_whole_row => Some(buffer),
        _ => None,
    }
}

/// Rows and slots of the lists that a walk visits.
pub(super) struct Walked<'a> {
    /// One list, or in-edges and then out-edges.
    pub lists: &'a [(EdgeList<'a>, usize)],
    /// The first row.
    pub first_row: usize,
    /// The slots that are visited; all of them, or those of one row of one list.
    pub slots: Range<u64>,
}

/// Where the edges of each row start in a list, and their far ends.
type List<'l> = (&'l [u64], &'l [u32]);

impl Walked<'_> {
    /// Gives the lists, and the number of the first row there.
    fn with_lists<R>(&self, work: impl FnOnce(&[List], usize) -> R) -> R {
        let is_whole = self.slots == (0..u64::MAX);
        match self.lists {
            [(list, _)] if is_whole => work(&[(list.offsets, list.far)], self.first_row),
            [(list, _)] => {
                let (from, to) = (list.offsets[self.first_row], list.offsets[self.first_row + 1]);
                let ends = [from.max(self.slots.start), to.min(self.slots.end)];
                work(&[(&ends, list.far)], 0)
            }
            [(incoming, _), (outgoing, _)] if is_whole => {
                let lists = [incoming, outgoing].map(|list| (list.offsets, list.far));
                work(&lists, self.first_row)
            }
            _ => unreachable!("groups are of one direction"),
        }
    }
}

/// Reduces far rows of floats; `out` has the rows from the first one on.
pub(super) fn reals<T: Real + Element>(
    arch: Arch,
    out: &mut [T],
    step: &Resolved<T>,
    values: &[T],
    walked: &Walked,
) {
    let Op::Reduce(reduction, _) = &step.op else { return };
    walked.with_lists(|lists, first| {
        let entries = |(offsets, far)| Entries::of_list(offsets, far);
        match *lists {
            [list] => reduce(arch, out, *reduction, &[entries(list)], first, values, step.columns),
            [first_list, second] => {
                let both = [entries(first_list), entries(second)];
                reduce(arch, out, *reduction, &both, first, values, step.columns);
            }
            _ => unreachable!("there are two directions"),
        }
    });
}

fn reduce<T: Real>(
    arch: Arch,
    out: &mut [T],
    reduction: Reduction,
    lists: &[Entries<T>],
    first: usize,
    values: &[T],
    columns: usize,
) {
    match reduction {
        Reduction::Sum => reduce_rows::<T, SumOf>(arch, out, lists, first, values, columns),
        Reduction::Minimum => reduce_rows::<T, MinOf>(arch, out, lists, first, values, columns),
        _ => reduce_rows::<T, MaxOf>(arch, out, lists, first, values, columns),
    }
}

/// Reduces far elements of integers, ids or bools into `out`.
pub(super) fn wholes<T: Real + Element>(
    arch: Arch,
    out: &mut [i64],
    step: &Resolved<T>,
    values: &[i64],
    walked: &Walked,
) {
    let Op::Reduce(reduction, _) = step.op else { return };
    walked.with_lists(|lists, first| {
        for (offsets, far) in lists {
            let offsets = &offsets[first..];
            let out = &mut *out;
            match reduction {
                Reduction::Sum => {
                    arch.dispatch(Elements { out, values, offsets, far, start: 0, work: i64::sum })
                }
                Reduction::Minimum | Reduction::All => {
                    let (start, work) = (i64::MAX, i64::least);
                    arch.dispatch(Elements { out, values, offsets, far, start, work })
                }
                _ => {
                    let (start, work) = (i64::MIN, i64::most);
                    arch.dispatch(Elements { out, values, offsets, far, start, work })
                }
            }
        }
    });
}

/// One far element for each edge, reduced in lanes: in integers no order can be seen.
struct Elements<'a, F> {
    out: &'a mut [i64],
    values: &'a [i64],
    offsets: &'a [u64],
    far: &'a [u32],
    /// What changes no result.
    start: i64,
    work: F,
}

impl<F: Fn(i64, i64) -> i64> WithSimd for Elements<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Elements { out, values, offsets, far, start, work } = self;
        for (out, ends) in out.iter_mut().zip(offsets.windows(2)) {
            let (whole, rest) = far[ends[0] as usize..ends[1] as usize].as_chunks::<LANES>();
            let mut lanes = [start; LANES];
            for far in whole {
                for lane in 0..LANES {
                    lanes[lane] = work(lanes[lane], values[far[lane] as usize]);
                }
            }
            let made = lanes.into_iter().fold(*out, &work);
            *out = rest.iter().fold(made, |made, &far| work(made, values[far as usize]));
        }
    }
}
