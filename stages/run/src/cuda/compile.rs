//! compile: the compiled kernels of a plan on the device.
//!
//! promises  the source is that of the plan; the cubin comes from the store if it is there
//!           (`shell::cubin_cache`), and is compiled again if the driver rejects it
//! never     uses the output of a compiler as a key
use warploom_contract::{Context, StageError};
use warploom_device::gpu::Module;
use warploom_device::{Gpu, Nvrtc};
use warploom_shell::cubin_cache::{self, CubinOrigin};

use super::device_error;

/// Loads the compiled kernels of a source onto the device.
pub fn load_code(
    context: &Context,
    gpu: &Gpu,
    source: &str,
) -> Result<(Module, CubinOrigin), StageError> {
    let nvrtc = Nvrtc::find();
    cubin_cache::load_or_compile(context, &nvrtc, gpu.facts().capability, source, |bytes, name| {
        gpu.load(bytes, name)
    })
    .map_err(device_error)
}
