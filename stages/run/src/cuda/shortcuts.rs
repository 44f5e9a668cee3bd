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

/// The calls of a loop as a whole.
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
        // Where a processor is shared, or has fewer registers, its blocks may not all be resident.
        let (kernel, grid) = (&self.kernels[shortcut.algorithm.kernel], shortcut.algorithm.grid);
        if kernel.blocks_per_sm(grid.threads, grid.shared).map_err(device_error)? == 0 {
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
        self.gpu.fill(&self.memory, room, ZERO_BYTES, 0)?;
        if let Some(state) = self.layout.argument_range(&Argument::LoopState) {
            self.gpu.fill(&self.memory, state.offset, state.bytes, 0)?;
        }
        self.launch_call(&shortcut.algorithm, false)?;
        if let Some(Some(shortcut)) = self.shortcuts.get_mut(number) {
            shortcut.tables.clear();
        }
        Ok(())
    }
}
