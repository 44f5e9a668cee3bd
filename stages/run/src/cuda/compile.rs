//! compile: the CUDA source of a list, and its compiled kernels on the device.
//!
//! promises  the source is that of the plan; the cubin comes from the store if it is there
//!           (`shell::cubin_cache`), and is compiled again if the driver rejects it
//! never     uses the output of a compiler as a key
use warploom_contract::{Context, StageError};
use warploom_device::gpu::Module;
use warploom_device::{Capability, Gpu, Nvrtc};
use warploom_shell::cubin_cache::{self, CubinOrigin};
use warploom_vertex::emit::cuda::{self, Emitted, GpuTarget};
use warploom_vertex::launch::LaunchList;

use super::{GpuPlan, device_error};
use crate::precision::Precision;

/// CUDA source, and the number of SMs that it was emitted for.
pub struct EmittedSource {
    emitted: Emitted,
    /// SMs of the device.
    pub processors: u32,
}

impl std::ops::Deref for EmittedSource {
    type Target = Emitted;

    fn deref(&self) -> &Emitted {
        &self.emitted
    }
}

/// Emits the source of a list.
pub fn emit_source<T: Precision>(
    list: &LaunchList,
    planned: &GpuPlan,
) -> Result<EmittedSource, StageError> {
    let GpuPlan { facts, matmul, order, groups, .. } = *planned;
    let (processors, shared_bytes) =
        facts.grid.as_ref().map_or((1, 48 << 10), |grid| (grid.processors, grid.shared_bytes_most));
    let warpgroups = facts.capability().is_some_and(Capability::has_warpgroups);
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

/// Loads the compiled kernels onto the device.
pub fn load_code(
    context: &Context,
    gpu: &Gpu,
    ready: &EmittedSource,
) -> Result<(Module, CubinOrigin), StageError> {
    let nvrtc = Nvrtc::find();
    cubin_cache::load_or_compile(
        context,
        &nvrtc,
        gpu.facts().capability,
        &ready.source,
        |bytes, name| gpu.load(bytes, name),
    )
    .map_err(device_error)
}
