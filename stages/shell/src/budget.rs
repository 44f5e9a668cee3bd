//! budget: whether the memory that a plan predicts is there: asked when it is made, and again before anything is allocated.
//!
//! promises  a refusal has both numbers, the largest uses and the largest settings that fit, if any of those that the plan weighed do
//! never     measures or reckons: the figures are the plan's
use warploom_contract::{
    ErrorKind, StageError,
    kinds::plan::{Memory, Smaller},
};

use warploom_device::Facts;

use crate::limits::show_size;

/// Uses that are named.
const SHOWN: usize = 4;

/// Memory that may be used: of this machine, or all that a device has.
#[derive(Clone, Copy, Debug)]
pub enum Room<'a> {
    /// As `--memory` says.
    Here(u64),
    /// Of a device of this name.
    Of(&'a str, u64),
}

impl<'a> Room<'a> {
    /// Of the device that a plan is for; of this machine if that says nothing else.
    pub fn of(device: &'a Facts, memory: u64) -> Self {
        device.memory_bytes.map_or(Room::Here(memory), |bytes| Room::Of(&device.name, bytes))
    }
}

/// Refuses a plan that needs more than may be used.
pub fn refuse_too_large(predicted: &Memory, room: Room) -> Result<(), StageError> {
    let needed = predicted.bytes_peak;
    let (Room::Here(memory) | Room::Of(_, memory)) = room;
    if needed <= memory {
        return Ok(());
    }
    let mut uses: Vec<(&String, &u64)> = predicted.bytes_by_use.iter().collect();
    uses.sort_by_key(|&(name, &bytes)| (std::cmp::Reverse(bytes), name));
    let largest: Vec<String> = uses.iter().take(SHOWN).map(|(name, bytes)| format!("    {} {name}", show_size(**bytes))).collect();
    let what = format!("the run needs {} ({needed} bytes) at its peak, and {} ({memory} bytes) may be used", show_size(needed), show_size(memory));
    let mut ways = vec![match room {
        Room::Here(_) => format!("--memory {needed}  if the machine has it"),
        Room::Of(device, _) => format!("a device with more memory than `{device}`"),
    }];
    ways.extend(that_fit(&predicted.smaller, memory).map(|way| format!("--set {}  which needs {}", way.set, show_size(way.bytes_peak))));
    Err(StageError::new(ErrorKind::Memory, what).detail(format!("  most of it for\n{}", largest.join("\n"))).hint(ways.join(" , or  ")))
}

/// Of each setting the value that needs most and fits.
fn that_fit(smaller: &[Smaller], memory: u64) -> impl Iterator<Item = &Smaller> {
    let setting = |way: &Smaller| way.set.split('=').next().unwrap_or_default().to_owned();
    let mut told = Vec::new();
    smaller.iter().filter(move |way| way.bytes_peak <= memory).filter(move |way| {
        let is_new = !told.contains(&setting(way));
        told.push(setting(way));
        is_new
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let smaller = [("run.dtype=f32", 600), ("plan.set.hidden=8", 500), ("plan.set.hidden=4", 250)];
        Memory {
            bytes_peak: 1000,
            bytes_by_use: [("x", 100), ("z.0", 700), ("moments", 150), ("adjacency", 30), ("target", 20)].map(|(name, bytes)| (name.to_owned(), bytes)).into(),
            smaller: smaller.map(|(set, bytes_peak)| Smaller { set: set.to_owned(), bytes_peak }).into(),
        }
    }

    #[test]
    fn what_fits_is_not_refused() {
        assert!(refuse_too_large(&memory(), Room::Here(1000)).is_ok());
    }

    #[test]
    fn a_refusal_says_how_much_for_what_and_what_would_fit() {
        let error = refuse_too_large(&memory(), Room::Here(550)).unwrap_err();
        assert_eq!((error.kind, error.kind.exit_code()), (ErrorKind::Memory, 1));
        assert_eq!(error.what, "the run needs 0.98 KiB (1000 bytes) at its peak, and 550 B (550 bytes) may be used");
        assert_eq!(error.detail.as_deref(), Some("  most of it for\n    700 B z.0\n    150 B moments\n    100 B x\n    30 B adjacency"));
        assert_eq!(error.hint.as_deref(), Some("--memory 1000  if the machine has it , or  --set plan.set.hidden=8  which needs 500 B"));
        assert_eq!(refuse_too_large(&memory(), Room::Here(100)).unwrap_err().hint.as_deref(), Some("--memory 1000  if the machine has it"));
        assert_eq!(refuse_too_large(&memory(), Room::Of("h200", 100)).unwrap_err().hint.as_deref(), Some("a device with more memory than `h200`"));
    }
}
