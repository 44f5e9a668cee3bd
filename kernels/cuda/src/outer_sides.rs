//! outer_sides: how the rows of one side of an outer product get to shared memory.
//!
//! promises  stored rows are copied with their padding, which yields elements that are not stored;
//!           rows of a second product follow those of the first, from a vector boundary on
//! never     decides which products share a kernel
use std::rc::Rc;

use super::NoKernel;
use super::lane_layout::vector_of;
use super::row_values::{lower_row_value, thread_lanes};
use super::statements::Reads;
use super::tensor_core_shapes::{RowFill, RowOrigin, RowPadding, start_of_other, stored_leaf};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};

/// How rows of a side get to shared memory: those of the product, and those of a second product.
pub(super) struct SideRows {
    fills: Vec<RowFill>,
    /// Elements per load.
    pub vector: usize,
}

impl SideRows {
    /// Statements that load rows.
    pub fn text(&self) -> String {
        match self.fills.as_slice() {
            [first, other] => BOTH
                .replace("@START@", &start_of_other(first.columns as u64).to_string())
                .replace("@COLUMNS@", &first.columns.to_string())
                .replace("@OTHERS@", &other.columns.to_string())
                .replace("@FIRST@", &first.text())
                .replace("@OTHER@", &other.text()),
            fills => fills.iter().map(RowFill::text).collect(),
        }
    }

    /// Adds what they read.
    pub fn add_reads(&self, reads: &mut Reads) {
        self.fills.iter().for_each(|fill| fill.add_reads(reads));
    }
}

/// The rows of a side, and the lowerings of their values.
pub(super) fn lower_side_rows(
    walk: &Rc<Walk>,
    inputs: &[&Input],
    lead: u64,
) -> Result<(SideRows, Vec<WalkLowering>), NoKernel> {
    let columns = |input: &Input| input.shape().last().copied().unwrap_or(1);
    // A stored row is read up to its stride: the padding yields elements that are not stored.
    let widest = |input: &Input| match stored_leaf(walk, input, lead > 1)
        .filter(|leaf| leaf.columns == columns(input))
    {
        Some(leaf) => vector_of(leaf.stride as usize, 4),
        None => vector_of(columns(input) as usize, 4),
    };
    let vector = inputs.iter().map(|input| widest(input)).min().unwrap_or(1);
    let (mut lowerings, mut fills) = (Vec::new(), Vec::new());
    for input in inputs {
        let columns = columns(input) as usize;
        let mut lowering = WalkLowering::new(walk, thread_lanes(columns, vector_of(columns, 4)));
        let origin = match stored_leaf(walk, input, lead > 1) {
            Some(leaf) => RowOrigin::Stored(leaf.clone(), RowPadding::Any),
            None => RowOrigin::Made(lower_row_value(&mut lowering, input)?),
        };
        fills.push(RowFill { origin, vector, columns });
        lowerings.push(lowering);
    }
    Ok((SideRows { fills, vector }, lowerings))
}

/// Concatenates rows of two buffers: the columns of the first, and from `START` on those of the
/// second.
const BOTH: &str = "const unsigned of_both = column;
if (of_both < @START@) {
const unsigned column = of_both;
const bool here = row < end && column < @COLUMNS@;
@FIRST@} else {
const unsigned column = of_both - @START@;
const bool here = row < end && column < @OTHERS@;
@OTHER@}
";
