//! compile: the source of a list, and its code on the device.
//!
//! promises  the source is what the plan said; code comes from the store where it is there
//!           (`shell::kernels`), and is made anew where the driver does not take it
//! never     keys code by anything that a compiler puts into it
use warploom_contract::{Context, StageError};
use warploom_device::Gpu;
use warploom_device::gpu::Module;
use warploom_shell::{
    cubin_cache::{self, CubinOrigin},
    gpu_present,
};
use warploom_vertex::emit::cuda::{self, Emitted, GpuTarget};
use warploom_vertex::launch::LaunchList;

use super::{GpuPlan, device_error};
use crate::precision::Precision;

/// Source, and what it was made for.
pub struct EmittedSource {
    emitted: Emitted,
    /// Processors of the device.
    pub processors: u32,
}

impl std::ops::Deref for EmittedSource {
    type Target = Emitted;

    fn deref(&self) -> &Emitted {
        &self.emitted
    }
}

/// The source of a list.
pub fn emit_source<T: Precision>(
    list: &LaunchList,
    planned: &GpuPlan,
) -> Result<EmittedSource, StageError> {
    let GpuPlan { facts, matmul, order, groups, .. } = *planned;
    let (processors, shared_bytes) =
        facts.grid.as_ref().map_or((1, 48 << 10), |grid| (grid.processors, grid.shared_bytes_most));
    let warpgroups = facts.capability().is_some_and(GpuTarget::has_warpgroups);
    let target = GpuTarget {
        bytes_per_real: size_of::<T>() as u64,
        processors,
        shared_bytes,
        matmul,
        order,
        warpgroups,
    };
    let emitted = cuda::emit_in_groups(list, target, groups).map_err(|refused| {
        StageError::defect(format!("the plan has a launch without a kernel: {refused}"))
    })?;
    Ok(EmittedSource { emitted, processors })
}

/// Its code on the device.
pub fn load_code(
    context: &Context,
    gpu: &Gpu,
    ready: &EmittedSource,
) -> Result<(Module, CubinOrigin), StageError> {
    let nvrtc = gpu_present::find_compiler()?;
    cubin_cache::load_or_compile(
        context,
        (&nvrtc, gpu.facts().capability),
        &ready.source,
        |bytes, name| gpu.load(bytes, name),
    )
    .map_err(device_error)
}
