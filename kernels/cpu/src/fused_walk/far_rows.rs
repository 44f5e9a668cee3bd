//! far_rows: reductions that read whole rows of far vertices and nothing else: without a tile of
//! edges, straight from the list.
//!
//!   far ends copied to a tile, one chain of sums    one column: 3 to 4 cycles an edge
//!   as a neighbour reduction                        one column: four sums at once    <- here
//!
//! promises  rows of several columns add in the order of edge ids, a single column as
//!           `neighbour_reduce` does: neither threads, nor blocks, nor the rows that are computed
//!           change a bit
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use warploom_ir::{Op, Reduction, Type};

use super::operands::{OperandLayout, Origin, Resolved, RowChoice};
use super::{Stored, Work};
use crate::Real;
use crate::evaluate::{EdgeList, Element};
use crate::neighbour_reduce::{Entries, MaxOf, MinOf, SumOf, reduce_rows};

/// Independent results of a single column of integers.
const LANES: usize = 4;

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
    pub lists: Vec<EdgeList<'a>>,
    /// The first row.
    pub first_row: usize,
    /// The slots that are visited; all of them, or those of one row of one list.
    pub slots: Range<u64>,
}

impl Walked<'_> {
    /// Where the edges of each row start, in each list, and the number of the first row there.
    fn with_offsets<R>(&self, work: impl FnOnce(&[&[u64]], usize) -> R) -> R {
        if self.slots == (0..u64::MAX) {
            let offsets: Vec<&[u64]> = self.lists.iter().map(|list| list.offsets).collect();
            return work(&offsets, self.first_row);
        }
        let [list] = self.lists.as_slice() else { unreachable!("groups are of one direction") };
        let (from, to) = (list.offsets[self.first_row], list.offsets[self.first_row + 1]);
        work(&[&[from.max(self.slots.start), to.min(self.slots.end)]], 0)
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
    let Op::Reduce(reduction, _) = step.op else { return };
    walked.with_offsets(|offsets, first| {
        let entries: Vec<Entries<T>> = walked
            .lists
            .iter()
            .zip(offsets)
            .map(|(list, offsets)| Entries::of_list(offsets, list.far))
            .collect();
        let columns = step.columns;
        match reduction {
            Reduction::Sum => reduce_rows::<T, SumOf>(arch, out, &entries, first, values, columns),
            Reduction::Minimum => {
                reduce_rows::<T, MinOf>(arch, out, &entries, first, values, columns)
            }
            _ => reduce_rows::<T, MaxOf>(arch, out, &entries, first, values, columns),
        }
    });
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
    walked.with_offsets(|offsets, first| {
        for (list, offsets) in walked.lists.iter().zip(offsets) {
            let (offsets, far) = (&offsets[first..], list.far);
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

/// The rows of a buffer that is stored as floats of the run's type.
pub(super) fn real_rows<'w, T>(work: &Work<'w, T>, buffer: usize) -> Option<&'w [T]> {
    if let Stored::Real(values) = work.reads[buffer] { Some(values) } else { None }
}

/// The rows of a buffer of integers.
pub(super) fn whole_rows<'w, T>(work: &Work<'w, T>, buffer: usize) -> Option<&'w [i64]> {
    if let Stored::Whole(values) = work.reads[buffer] { Some(values) } else { None }
}
