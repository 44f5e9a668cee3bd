//! graph_branches: launches off the critical path, as a parallel branch in the CUDA graph of an
//! epoch. Such a launch begins when all launches before it are done, and runs beside later ones
//! until one of them needs its result or overwrites what it reads.
//!
//! promises  a launch joins the branch as soon as it reads memory that the branch writes, or writes
//!           memory that the branch uses, by the byte ranges of both; launches of the branch run
//!           one after another; copies and the clock wait for all
//! never     changes the arguments of a kernel, or the order of launches outside of a capture
use warploom_cuda::{Argument, DevicePlan, Kernel};
use warploom_device::Fault;
use warploom_device::gpu::{Behind, Start};

use super::kernel_arguments::{ByteRange, Layout, MemorySpace};
use super::{GpuExecutor, KernelCall};

/// How a launch of an epoch is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchRole {
    /// On the main path: after the launch before it.
    Main,
    /// On the branch.
    Branch,
    /// On the main path, after the launch before it and the branch.
    Join,
}

/// The range of a kernel argument, and whether it is written.
#[derive(Clone, Copy, Debug)]
struct MemoryAccess {
    place: ByteRange,
    writes: bool,
}

/// The order of each launch.
pub fn branch_roles(planned: &DevicePlan, layout: &Layout) -> Vec<BranchRole> {
    let mut branch: Vec<MemoryAccess> = Vec::new();
    let mut role = |(number, kernels): (usize, &Vec<Kernel>)| {
        let accesses: Option<Vec<MemoryAccess>> = kernels
            .iter()
            .map(|kernel| kernel_accesses(kernel, planned, layout))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat());
        match accesses {
            _ if kernels.is_empty() => BranchRole::Main,
            Some(accesses) if planned.aside.contains(&number) => {
                branch.extend(accesses);
                BranchRole::Branch
            }
            Some(accesses)
                if accesses
                    .iter()
                    .all(|own| branch.iter().all(|other| are_disjoint(*own, *other))) =>
            {
                BranchRole::Main
            }
            _ => {
                branch.clear();
                BranchRole::Join
            }
        }
    };
    planned.launches.iter().enumerate().map(&mut role).collect()
}

/// The ranges of a kernel's arguments; none if it is unknown which ones it writes.
fn kernel_accesses(
    kernel: &Kernel,
    planned: &DevicePlan,
    layout: &Layout,
) -> Option<Vec<MemoryAccess>> {
    let writes =
        planned.writes.get(&kernel.name).filter(|writes| writes.len() == kernel.arguments.len())?;
    let of = |(argument, writes): (&Argument, &bool)| {
        let place = match argument {
            Argument::Buffer(name) => {
                layout.buffer(name).filter(|lying| lying.side == MemorySpace::Device)?.place
            }
            other => layout.argument_range(other)?,
        };
        Some(MemoryAccess { place, writes: *writes })
    };
    Some(kernel.arguments.iter().zip(writes).filter_map(of).collect())
}

/// Whether neither writes what the other uses.
fn are_disjoint(one: MemoryAccess, other: MemoryAccess) -> bool {
    let (first, second) = (one.place, other.place);
    !(one.writes || other.writes)
        || first.bytes == 0
        || second.bytes == 0
        || first.offset + first.bytes <= second.offset
        || second.offset + second.bytes <= first.offset
}

impl GpuExecutor {
    /// Captures a launch of an epoch; `branch` is the end of the branch that was not joined yet.
    pub(super) fn capture_step(
        &self,
        step: usize,
        branch: &mut Option<Behind>,
    ) -> Result<(), Fault> {
        match self.branch_roles[step] {
            BranchRole::Main => self.launch_without_reset(step..step + 1, true),
            BranchRole::Join => {
                let waits = branch.is_some();
                self.join_branch(branch.take())?;
                self.calls[step].iter().enumerate().try_for_each(|(number, call)| {
                    self.launch_after(call, waits && number == 0, true)
                })
            }
            BranchRole::Branch => {
                let main = self.gpu.behind()?;
                self.gpu.follow(
                    &branch.as_ref().map_or_else(|| main.clone(), |branch| main.and(branch)),
                )?;
                self.calls[step]
                    .iter()
                    .enumerate()
                    .try_for_each(|(number, call)| self.launch_after(call, number == 0, true))?;
                *branch = Some(self.gpu.behind()?);
                self.gpu.follow(&main)
            }
        }
    }

    /// Makes the next captured launch wait for the branch.
    pub(super) fn join_branch(&self, branch: Option<Behind>) -> Result<(), Fault> {
        let Some(branch) = branch else { return Ok(()) };
        self.gpu.follow(&self.gpu.behind()?.and(&branch))
    }

    /// A call that waits until all that it follows is done, if that is several; other kernels start
    /// early and wait for the one before them.
    pub(super) fn launch_after(
        &self,
        call: &KernelCall,
        several: bool,
        training: bool,
    ) -> Result<(), Fault> {
        let mut grid = call.grid;
        if several {
            grid.start = Start::InOrder;
        }
        self.gpu.launch(
            &self.kernels[call.kernel],
            grid,
            if training { &call.training } else { &call.measuring },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_nobody_elses() {
        let at =
            |offset, bytes, writes| MemoryAccess { place: ByteRange { offset, bytes }, writes };
        let one = at(256, 256, true);
        for (other, apart) in [
            (at(0, 256, true), true),
            (at(0, 257, false), false),
            (at(511, 1, false), false),
            (at(512, 8, true), true),
            (at(300, 0, false), true),
        ] {
            assert_eq!(
                (are_disjoint(one, other), are_disjoint(other, one)),
                (apart, apart),
                "{other:?}"
            );
        }
        assert!(are_disjoint(at(0, 8, false), at(0, 8, false)), "both may read");
    }
}
