//! shortcuts: runs a loop on a GPU by the algorithm that replaces its supersteps, in one launch.
//!
//! promises  the states that supersteps end with, or none where the values do not meet the
//!           conditions of the algorithm, which the device checks
//! never     is stopped within a loop, or saves a checkpoint there
use warploom_contract::StageError;
use warploom_cuda::{
    Argument, Kernel as PlannedKernel,
    loop_shortcuts::{HEAD_BYTES, ZERO_BYTES},
};
use warploom_device::Fault;

use super::{
    GpuExecutor, KernelCall, device_error,
    kernel_arguments::{ByteRange, Layout},
};
use crate::backend::LoopEnd;

/// The calls of a cooperative kernel, for a loop as a whole or for supersteps of few vertices.
pub struct ShortcutCalls {
    /// Those that make tables, as long as they have not run.
    tables: Vec<KernelCall>,
    algorithm: KernelCall,
    /// The memory of the algorithm.
    room: ByteRange,
}

impl ShortcutCalls {
    /// The calls of these kernels; none for a loop without.
    fn new(
        mut calls: Vec<KernelCall>,
        kernels: &[PlannedKernel],
        layout: &Layout,
    ) -> Option<ShortcutCalls> {
        let algorithm = calls.pop()?;
        let is_room = |argument: &&Argument| matches!(argument, Argument::ShortcutRoom(_));
        let room = kernels.last()?.arguments.iter().find(is_room)?;
        Some(ShortcutCalls { tables: calls, algorithm, room: layout.argument_range(room)? })
    }
}

/// The calls of each loop as a whole.
pub fn from_calls(
    calls: Vec<Vec<KernelCall>>,
    kernels: &[Vec<PlannedKernel>],
    layout: &Layout,
) -> Vec<Option<ShortcutCalls>> {
    let of_loop = |(calls, kernels): (Vec<KernelCall>, &Vec<PlannedKernel>)| {
        ShortcutCalls::new(calls, kernels, layout)
    };
    calls.into_iter().zip(kernels).map(of_loop).collect()
}

impl GpuExecutor {
    /// Runs a loop by its algorithm: gives its rounds; none where it has none that applies.
    pub fn run_shortcut(&mut self, number: usize) -> Result<Option<u64>, StageError> {
        let Some(Some(shortcut)) = self.shortcuts.get(number) else { return Ok(None) };
        if !self.fits_together(shortcut).map_err(device_error)? {
            return Ok(None);
        }
        self.launch_shortcut(number).map_err(device_error)?;
        let state = self.loop_state()?;
        match state.end {
            LoopEnd::Met => Ok(Some(state.done)),
            LoopEnd::DoesNotApply => Ok(None),
            end => Err(StageError::defect(format!("the algorithm of a loop left it {end:?}"))),
        }
    }

    fn launch_shortcut(&mut self, number: usize) -> Result<(), Fault> {
        let Some(Some(shortcut)) = self.shortcuts.get(number) else { return Ok(()) };
        let room = shortcut.room.offset;
        if !shortcut.tables.is_empty() {
            self.gpu.fill(&self.memory, room, HEAD_BYTES, 0)?;
        }
        shortcut.tables.iter().try_for_each(|call| self.launch_call(call, false))?;
        if let Some(state) = self.layout.argument_range(&Argument::LoopState) {
            self.gpu.fill(&self.memory, state.offset, state.bytes, 0)?;
        }
        self.launch_together(shortcut)?;
        if let Some(Some(shortcut)) = self.shortcuts.get_mut(number) {
            shortcut.tables.clear();
        }
        Ok(())
    }

    /// Makes the tables of supersteps of few vertices, where a loop has these, and clears their
    /// memory.
    pub fn prepare_frontier(&mut self, number: usize) -> Result<(), Fault> {
        let Some(Some(frontier)) = self.frontiers.get(number) else { return Ok(()) };
        frontier.tables.iter().try_for_each(|call| self.launch_call(call, false))?;
        self.gpu.fill(&self.memory, frontier.room.offset, frontier.room.bytes, 0)?;
        if let Some(Some(frontier)) = self.frontiers.get_mut(number) {
            frontier.tables.clear();
        }
        Ok(())
    }

    /// Launches a cooperative kernel, whose barriers and counts begin at 0.
    pub(super) fn launch_together(&self, calls: &ShortcutCalls) -> Result<(), Fault> {
        self.gpu.fill(&self.memory, calls.room.offset, ZERO_BYTES, 0)?;
        self.launch_call(&calls.algorithm, false)
    }

    /// Whether all blocks of a cooperative kernel fit the device at once. Where a processor is
    /// shared, or has fewer registers, they may not.
    pub(super) fn fits_together(&self, calls: &ShortcutCalls) -> Result<bool, Fault> {
        let (kernel, grid) = (&self.kernels[calls.algorithm.kernel], calls.algorithm.grid);
        Ok(kernel.blocks_per_sm(grid.threads, grid.shared)? > 0)
    }
}
