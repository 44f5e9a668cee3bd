//! fused_launch: runs a fused launch on the CPU.
//!
//! promises  each buffer is given to the walk as what its elements are
//! never     looks a name up: `resolved_program` has
use warploom_cpu::frontier::Run;
use warploom_cpu::fused_walk::{Stored, StoredMut, Work, fused};
use warploom_ir::{Direction, Half};
use warploom_launch::{Over, Rows};

use super::LaunchContext;
use crate::{
    buffers::{Buffers, OutputSlice, Place},
    precision::Precision,
    resolved_program::FusedLaunch,
};

impl<T: Precision> LaunchContext<'_, T> {
    /// Runs a fused launch.
    pub fn run_fused(&self, buffers: &mut Buffers<T>, work: &FusedLaunch<T>, only: Option<&[Run]>) {
        buffers.write_all(&work.writes, only.is_none(), |made, banks| {
            let values = |place: &Place| match place {
                Place::Real(index) => Stored::Real(banks.reals.get(*index)),
                Place::Half(index, Half::Bf16) => {
                    Stored::Bf16(bytemuck::cast_slice(banks.halves.get(*index)))
                }
                Place::Half(index, Half::F16) => {
                    Stored::F16(bytemuck::cast_slice(banks.halves.get(*index)))
                }
                Place::Whole(index) => Stored::Whole(banks.wholes.get(*index)),
                Place::Sparse(_) => {
                    unreachable!("a validated list evaluates reals and whole numbers")
                }
            };
            let reads: Vec<Stored<T>> = work.reads.iter().map(values).collect();
            let mut made = made.into_iter().map(|made| match made {
                OutputSlice::Real(elements) => StoredMut::Real(elements),
                OutputSlice::Half(elements, Half::Bf16) => {
                    StoredMut::Bf16(bytemuck::cast_slice_mut(elements))
                }
                OutputSlice::Half(elements, Half::F16) => {
                    StoredMut::F16(bytemuck::cast_slice_mut(elements))
                }
                OutputSlice::Whole(elements) => StoredMut::Whole(elements),
            });
            let outputs = made.by_ref().take(work.rows_written).collect();
            let totals = made.map(|total| match total {
                StoredMut::Real(elements) => elements,
                StoredMut::Bf16(_) | StoredMut::F16(_) | StoredMut::Whole(_) => {
                    unreachable!("a validated list totals reals")
                }
            });
            let unit_starts = match work.over {
                Over::EdgesOf(Direction::In) => &self.data.row_lists.units.incoming[..],
                Over::EdgesOf(Direction::Out) => &self.data.row_lists.units.outgoing[..],
                Over::EdgesOf(Direction::Both) => &self.data.lists.both_units[..],
                Over::Vertices | Over::Edges(_) => &[][..],
            };
            let groups = match work.over {
                Over::EdgesOf(direction) => self.group_starts(direction),
                Over::Vertices | Over::Edges(_) => None,
            };
            let (context, graph) = (self.draw_context(Rows::Nodes), self.data.edge_graph());
            let work_of_list = Work { reads: &reads, graph, unit_starts, groups, context, only };
            fused(&work.kernel, outputs, totals.collect(), &work_of_list);
        });
    }
}
