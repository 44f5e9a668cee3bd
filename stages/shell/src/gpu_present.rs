//! gpu_present: whether the GPU that a plan is for is present, and the compiler of its kernels.
//!
//! promises  the same error before the first stage and in `run`
//! never     allocates or launches
use warploom_contract::{ErrorKind, StageError};
use warploom_device::{Facts, Kind, Nvrtc};

/// Refuses to run a plan whose device is not present: it can be made and looked at, not run. A plan
/// for a GPU runs only on the same GPU model.
pub fn refuse_other_device(device: &Facts) -> Result<(), StageError> {
    if device.kind == Kind::Cpu {
        return Ok(());
    }
    let refuse =
        |what: String, hint: &str| Err(StageError::new(ErrorKind::Specification, what).hint(hint));
    let here = match warploom_device::cuda(device.ordinal) {
        Ok(here) => here,
        Err(fault) => {
            let what = format!("the plan is for `{}`, which is not present: {fault}", device.name);
            return refuse(
                what,
                "look at it with  warploom explain  , or plan for the CPU of this host:  \
                 warploom pipeline FILE --device cpu  and the same other options",
            );
        }
    };
    if here.name != device.name
        || here.grid != device.grid
        || here.architecture != device.architecture
    {
        let describe = |facts: &Facts| {
            let processors = facts.grid.as_ref().map_or(0, |grid| grid.processors);
            format!("`{}` ({}, {processors} SMs)", facts.name, facts.architecture)
        };
        return refuse(
            format!(
                "the plan is for {}, and the GPU present is {}",
                describe(device),
                describe(&here)
            ),
            "plan for this GPU:  warploom pipeline FILE --device cuda  and the same other options",
        );
    }
    Ok(())
}

/// Finds the compiler of kernels (NVRTC).
pub fn find_compiler() -> Result<Nvrtc, StageError> {
    Nvrtc::find().map_err(|fault| {
        let mut error = StageError::new(ErrorKind::Transient, fault.to_string());
        error.hint = fault.hint;
        error
    })
}
