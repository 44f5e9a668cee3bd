//! gpu_present: whether the GPU that a plan is for is here, with what compiles its kernels.
//!
//! promises  the same words before the first stage and in `run`
//! never     allocates or launches
use warploom_contract::{ErrorKind, StageError};
use warploom_device::{Facts, Kind, Nvrtc};

/// A plan for a device that is not here can be made and looked at, not run; one for a GPU runs on
/// such a GPU alone.
pub fn refuse_other_device(device: &Facts) -> Result<(), StageError> {
    if device.kind == Kind::Cpu {
        return Ok(());
    }
    let refuse =
        |what: String, hint: &str| Err(StageError::new(ErrorKind::Specification, what).hint(hint));
    let here = match warploom_device::cuda(device.ordinal) {
        Ok(here) => here,
        Err(fault) => {
            let what = format!("the plan is for `{}`, which is not here: {fault}", device.name);
            return refuse(
                what,
                "look at it with  warploom explain  , or make all stages for this machine:  \
                 warploom pipeline FILE --device cpu  and the same other options",
            );
        }
    };
    if here.name != device.name
        || here.grid != device.grid
        || here.architecture != device.architecture
    {
        let told = |facts: &Facts| {
            let processors = facts.grid.as_ref().map_or(0, |grid| grid.processors);
            format!("`{}` ({}, {processors} processors)", facts.name, facts.architecture)
        };
        return refuse(
            format!("the plan is for {}, and the GPU here is {}", told(device), told(&here)),
            "make one for this GPU, and what it needs:  warploom pipeline FILE --device cuda  and \
             the same other options",
        );
    }
    Ok(())
}

/// The compiler of kernels.
pub fn compiler() -> Result<Nvrtc, StageError> {
    Nvrtc::find().map_err(|fault| {
        let mut error = StageError::new(ErrorKind::Transient, fault.to_string());
        error.hint = fault.hint;
        error
    })
}
