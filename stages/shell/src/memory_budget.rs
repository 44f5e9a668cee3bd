//! memory_budget: whether the memory that a plan predicts is there: asked when it is made, and
//! again before anything is allocated; and what to say where a device that is shared then has less.
//!
//! promises  a refusal has both numbers, the largest uses and the largest settings that fit, if any
//!           of those that the plan weighed do
//! never     measures or reckons: the figures are the plan's
use warploom_contract::{
    ErrorKind, StageError,
    kinds::plan::{Memory, Smaller},
};

use warploom_device::Facts;
use warploom_spec::RunSpec;

use crate::machine_limits::{memory_option, show_size};

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

    fn bytes(self) -> u64 {
        let (Room::Here(bytes) | Room::Of(_, bytes)) = self;
        bytes
    }
}

/// Whether loops take the courses that their plan names: not where a run may end before its loops
/// do.
pub fn courses_are_taken(spec: &RunSpec) -> bool {
    !spec.allow_unconverged && spec.max_supersteps >= RunSpec::default().max_supersteps
}

/// Most bytes at any time of a run with these settings and so many threads.
pub fn peak_of_run(predicted: &Memory, spec: &RunSpec, threads: usize) -> u64 {
    predicted.bytes_with(threads, !courses_are_taken(spec))
}

/// Refuses a plan that needs more than may be used.
pub fn refuse_too_large(predicted: &Memory, room: Room) -> Result<(), StageError> {
    let (needed, memory) = (predicted.bytes_peak, room.bytes());
    if needed <= memory {
        return Ok(());
    }
    let what = format!(
        "the run needs {} ({needed} bytes) at its peak, and {} ({memory} bytes) may be used",
        show_size(needed),
        show_size(memory)
    );
    let mut ways = vec![match room {
        Room::Here(_) => memory_option(needed),
        Room::Of(device, _) => format!("a device with more memory than `{device}`"),
    }];
    ways.extend(told(&predicted.smaller, memory));
    Err(StageError::new(ErrorKind::Memory, what)
        .detail(largest(predicted))
        .hint(ways.join("; or  ")))
}

/// The same of a run with these settings and so many threads; where fewer fit, the refusal says how
/// many.
pub fn refuse_too_large_run(
    predicted: &Memory,
    spec: &RunSpec,
    threads: usize,
    room: Room,
) -> Result<(), StageError> {
    let needed = |threads| peak_of_run(predicted, spec, threads);
    let of_threads = needed(threads).saturating_sub(needed(1));
    let mut counted = Memory { bytes_peak: needed(threads), ..predicted.clone() };
    counted
        .smaller
        .iter_mut()
        .for_each(|way| way.bytes_peak = way.bytes_peak.saturating_add(of_threads));
    if of_threads > 0 {
        counted.bytes_by_use.insert(format!("{threads} threads"), of_threads);
    }
    refuse_too_large(&counted, room).map_err(|error| {
        let fitting = (1..threads).rev().find(|&fewer| needed(fewer) <= room.bytes());
        let hint = fitting
            .map(|fewer| format!("--threads {fewer}  which needs {}", show_size(needed(fewer))));
        StageError {
            hint: Some(
                hint.into_iter().chain(error.hint.clone()).collect::<Vec<_>>().join("; or  "),
            ),
            ..error
        }
    })
}

/// A refusal of a device that has so many bytes free, of which others have the rest: for what they
/// were wanted, and what would fit. `further` are ways whose needs no plan weighed.
pub fn refused_by_device(
    refusal: StageError,
    predicted: &Memory,
    free: u64,
    further: &[&str],
) -> StageError {
    let mut ways = vec![format!(
        "wait until others have left {} of the device's memory (`nvidia-smi` lists them)",
        show_size(predicted.bytes_peak)
    )];
    ways.extend(told(&predicted.smaller, free));
    ways.extend(further.iter().map(|way| (*way).to_owned()));
    StageError { hint: Some(ways.join("; or  ")), ..refusal.detail(largest(predicted)) }
}

/// What of memory is predicted, or was reached: of the process's own, or of a GPU, and the pages of
/// mapped files, where those count.
pub fn peak_words(own: u64, mapped: u64) -> String {
    let files = if mapped > 0 {
        format!(" (and {} of mapped files)", show_size(mapped))
    } else {
        String::new()
    };
    format!("{}{files}", show_size(own))
}

/// What a job of Slurm that finds every earlier stage in the store asks for, with a tenth of room:
/// what it must have, and what keeps the mapped files in memory too. Nothing for a GPU.
pub fn slurm_words(own: u64, mapped: u64) -> Option<String> {
    let option =
        |bytes: u64| format!("--mem={}M", bytes.saturating_add(bytes / 10).div_ceil(1 << 20));
    let told = |least: String, all: String| {
        format!(
            "for the stage `run` alone, Slurm: {least} holds it, {all} keeps the mapped files in memory too\n  earlier stages that are not in \
             the job's store may take more"
        )
    };
    (mapped > 0).then(|| told(option(own), option(own.saturating_add(mapped))))
}

/// The largest uses, largest first.
fn largest(predicted: &Memory) -> String {
    let mut uses: Vec<(&String, &u64)> = predicted.bytes_by_use.iter().collect();
    uses.sort_by_key(|&(name, &bytes)| (std::cmp::Reverse(bytes), name));
    let largest: Vec<String> = uses
        .iter()
        .take(SHOWN)
        .map(|(name, bytes)| format!("    {} {name}", show_size(**bytes)))
        .collect();
    format!("  most of it for\n{}", largest.join("\n"))
}

/// Settings that fit, with what they need.
fn told(smaller: &[Smaller], memory: u64) -> impl Iterator<Item = String> {
    that_fit(smaller, memory)
        .map(|way| format!("--set {}  which needs {}", way.set, show_size(way.bytes_peak)))
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
        let smaller =
            [("run.dtype=f32", 600), ("plan.set.hidden=8", 500), ("plan.set.hidden=4", 250)];
        Memory {
            bytes_peak: 1000,
            bytes_mapped: 0,
            bytes_peak_by_supersteps: 0,
            bytes_per_thread: 0,
            bytes_by_use: [
                ("x", 100),
                ("z.0", 700),
                ("moments", 150),
                ("adjacency", 30),
                ("target", 20),
            ]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .into(),
            smaller: smaller
                .map(|(set, bytes_peak)| Smaller { set: set.to_owned(), bytes_peak })
                .into(),
        }
    }

    #[test]
    fn mapped_files_are_told_apart() {
        assert_eq!(peak_words(461 << 20, 120 << 20), "461 MiB (and 120 MiB of mapped files)");
        assert_eq!(
            (peak_words(461 << 20, 0), slurm_words(461 << 20, 0)),
            ("461 MiB".to_owned(), None)
        );
        let told = "for the stage `run` alone, Slurm: --mem=440M holds it, --mem=550M keeps the mapped files in memory too\n  \
                    earlier stages that are not in the job's store may take more";
        assert_eq!(slurm_words(400 << 20, 100 << 20).as_deref(), Some(told));
    }

    #[test]
    fn threads_are_counted_and_fewer_of_them_are_a_way() {
        let (memory, spec) = (Memory { bytes_per_thread: 100, ..memory() }, RunSpec::default());
        assert_eq!(peak_of_run(&memory, &spec, 3), 1200);
        let refuse =
            |threads, room| refuse_too_large_run(&memory, &spec, threads, Room::Here(room));
        assert!(refuse(1, 1000).is_ok() && refuse(3, 1200).is_ok());
        let error = refuse(3, 1150).unwrap_err();
        assert!(
            error.what.contains("(1200 bytes) at its peak, and 1.12 KiB (1150 bytes)"),
            "{}",
            error.what
        );
        assert!(error.detail.unwrap().contains("200 B 3 threads"));
        let hint = "--threads 2  which needs 1.07 KiB; or  --memory 1200  if the machine has it; \
                    or  --set run.dtype=f32  which needs 800 B";
        assert!(error.hint.as_deref().unwrap().starts_with(hint), "{:?}", error.hint);
        let hint = refuse(3, 750).unwrap_err().hint.unwrap();
        assert!(
            hint.contains("--set plan.set.hidden=8  which needs 700 B")
                && !hint.contains("--threads")
                && !hint.contains("dtype"),
            "{hint}"
        );
    }

    #[test]
    fn what_fits_is_not_refused() {
        assert!(refuse_too_large(&memory(), Room::Here(1000)).is_ok());
    }

    #[test]
    fn a_refusal_says_how_much_for_what_and_what_would_fit() {
        let error = refuse_too_large(&memory(), Room::Here(550)).unwrap_err();
        assert_eq!((error.kind, error.kind.exit_code()), (ErrorKind::Memory, 1));
        assert_eq!(
            error.what,
            "the run needs 0.98 KiB (1000 bytes) at its peak, and 550 B (550 bytes) may be used"
        );
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "  most of it for\n    700 B z.0\n    150 B moments\n    100 B x\n    30 B \
                    adjacency"
            )
        );
        assert_eq!(
            error.hint.as_deref(),
            Some(
                "--memory 1000  if the machine has it; or  --set plan.set.hidden=8  which needs \
                 500 B"
            )
        );
        assert_eq!(
            refuse_too_large(&memory(), Room::Here(100)).unwrap_err().hint.as_deref(),
            Some("--memory 1000  if the machine has it")
        );
        assert_eq!(
            refuse_too_large(&memory(), Room::Of("h200", 100)).unwrap_err().hint.as_deref(),
            Some("a device with more memory than `h200`")
        );
    }

    #[test]
    fn a_device_that_others_use_is_told_what_fits_beside_them() {
        let refusal =
            || StageError::new(ErrorKind::Memory, "wanted 1000 bytes").hint("something else");
        let error = refused_by_device(refusal(), &memory(), 300, &["run on  --device cpu"]);
        assert_eq!((error.kind.exit_code(), error.what.as_str()), (1, "wanted 1000 bytes"));
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "  most of it for\n    700 B z.0\n    150 B moments\n    100 B x\n    30 B \
                    adjacency"
            )
        );
        let wait =
            "wait until others have left 0.98 KiB of the device's memory (`nvidia-smi` lists them)";
        let said = error.hint.unwrap();
        assert_eq!(
            said,
            format!(
                "{wait}; or  --set plan.set.hidden=4  which needs 250 B; or  run on  --device cpu"
            )
        );
        let nothing = refused_by_device(refusal(), &memory(), 100, &[]);
        assert_eq!(nothing.hint.as_deref(), Some(wait));
    }
}
