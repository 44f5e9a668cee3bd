//! gpu_present: whether the GPU that a plan is for is present, and the compiler of its kernels.
//!
//! promises  the same error before the first stage and in `run`
//! never     allocates or launches
use warploom_contract::{ErrorKind, StageError, Store};
use warploom_device::{Cause, Facts, Kind, Nvrtc};

use crate::{cubin_cache, device_errors::device_error};

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
        Err(fault) if fault.cause() != Cause::Setup => return Err(device_error(fault)),
        Err(fault) => {
            let what = format!("the plan is for `{}`, which is not present: {fault}", device.name);
            let ways = "look at the plan with  warploom explain  , or plan for the CPU of this \
                        host:  warploom pipeline FILE --device cpu  and the same other options";
            let hint = fault.hint.map_or_else(String::new, |hint| format!("{hint}; or "));
            return refuse(what, &format!("{hint}{ways}"));
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

/// Refuses a run whose kernels can be neither compiled here nor found in the store: there is no
/// NVRTC, and no kept code for this architecture. Which code a run needs is known after `plan`.
pub fn refuse_missing_compiler(store: &Store, device: &Facts) -> Result<(), StageError> {
    match Nvrtc::find() {
        Ok(_) => Ok(()),
        Err(_) if cubin_cache::has_code(store, device) => Ok(()),
        Err(fault) => Err(device_error(fault)),
    }
}
