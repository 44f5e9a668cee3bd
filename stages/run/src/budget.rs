//! budget: whether the predicted memory is there, asked before anything is allocated.
//!
//! promises  a refusal has both numbers, the largest uses and something that would fit
//! never     measures: the figures are the plan's
use warploom_contract::{ErrorKind, StageError, kinds::plan::Plan};
use warploom_shell::limits::show_size;
use warploom_vertex::launch::{LaunchList, Role};

/// Uses that are named.
const SHOWN: usize = 4;

/// Refuses a plan that needs more than may be used.
pub fn refuse_too_large(plan: &Plan, list: &LaunchList, memory: u64) -> Result<(), StageError> {
    let needed = plan.memory.bytes_peak;
    if needed <= memory {
        return Ok(());
    }
    let mut uses: Vec<(&String, &u64)> = plan.memory.bytes_by_use.iter().collect();
    uses.sort_by_key(|&(name, &bytes)| (std::cmp::Reverse(bytes), name));
    let largest: Vec<String> = uses.iter().take(SHOWN).map(|(name, bytes)| format!("    {} {name}", show_size(**bytes))).collect();
    let what = format!("the run needs {} ({needed} bytes) at its peak, and {} ({memory} bytes) may be used", show_size(needed), show_size(memory));
    let mut ways = vec![format!("--memory {needed}  if the machine has it")];
    ways.extend(hidden_that_fits(plan, list, memory).map(|hidden| format!("--set plan.set.hidden={hidden}  which fits")));
    if plan.dtype == "f64" {
        ways.push("--set run.dtype=f32  which takes about half".to_owned());
    }
    Err(StageError::new(ErrorKind::Memory, what).detail(format!("  most of it for\n{}", largest.join("\n"))).hint(ways.join(" , or  ")))
}

/// The largest `hidden` with which the buffers of that width would leave room for all else, if there is one.
fn hidden_that_fits(plan: &Plan, list: &LaunchList, memory: u64) -> Option<u64> {
    let hidden = plan.settings.get("hidden")?.as_u64()?;
    let scales = list.buffers.iter().filter(|buffer| buffer.role == Role::Value && buffer.columns == hidden);
    let scaling: u64 = scales.filter_map(|buffer| plan.memory.bytes_by_use.get(&buffer.name)).sum();
    let fixed = plan.memory.bytes_peak - scaling;
    let room = memory.checked_sub(fixed)?;
    let fits = (u128::from(hidden) * u128::from(room) / u128::from(scaling.max(1))) as u64;
    (fits > 0 && fits < hidden).then_some(fits)
}
