//! memory_budget: whether the predicted memory of a plan is available. It is checked when the plan
//! is made, and again before anything is allocated. Also the error of a shared GPU that has less
//! free memory by then.
//!
//! promises  a refusal has both numbers, the largest uses, and the largest settings that fit, of
//!           those that the plan weighed
//! never     measures or predicts: the figures are the plan's
use warploom_contract::{
    ErrorKind, StageError,
    kinds::plan::{Memory, Smaller},
};

use warploom_device::Facts;
use warploom_spec::RunSpec;

use crate::machine_limits::{memory_option, show_size};

/// How many of the largest uses a refusal names.
const SHOWN: usize = 4;

/// Memory that may be used: of the host, or of a device.
#[derive(Clone, Copy, Debug)]
pub enum MemoryLimit<'a> {
    /// Host memory, as `--memory` allows.
    Host(u64),
    /// All memory of the device of this name.
    Device(&'a str, u64),
}

impl<'a> MemoryLimit<'a> {
    /// The limit of the device that a plan is for; of the host if it has no memory of its own.
    pub fn from_device(device: &'a Facts, memory: u64) -> Self {
        device
            .memory_bytes
            .map_or(MemoryLimit::Host(memory), |bytes| MemoryLimit::Device(&device.name, bytes))
    }

    fn bytes(self) -> u64 {
        let (MemoryLimit::Host(bytes) | MemoryLimit::Device(_, bytes)) = self;
        bytes
    }
}

/// Whether loops may use the shortcut algorithms of their plan: not where a run may end before its
/// loops do.
pub fn uses_shortcuts(spec: &RunSpec) -> bool {
    !spec.allow_unconverged && spec.max_supersteps >= RunSpec::default().max_supersteps
}

/// Predicted peak bytes of a run with these settings and so many threads.
pub fn predicted_peak(predicted: &Memory, spec: &RunSpec, threads: usize) -> u64 {
    predicted.bytes_with(threads, !uses_shortcuts(spec))
}

/// Refuses a plan that needs more memory than the limit.
pub fn refuse_too_large(predicted: &Memory, room: MemoryLimit) -> Result<(), StageError> {
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
        MemoryLimit::Host(_) => memory_option(needed),
        MemoryLimit::Device(device, _) => format!("a device with more memory than `{device}`"),
    }];
    ways.extend(suggest_settings(&predicted.smaller, memory));
    Err(StageError::new(ErrorKind::Memory, what)
        .detail(largest_uses(predicted))
        .hint(ways.join("; or  ")))
}

/// The same for a run with these settings and so many threads; if fewer threads fit, the refusal
/// says how many.
pub fn refuse_too_large_run(
    predicted: &Memory,
    spec: &RunSpec,
    threads: usize,
    room: MemoryLimit,
) -> Result<(), StageError> {
    let needed = |threads| predicted_peak(predicted, spec, threads);
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

/// The error of a device with too little free memory, since other processes use the rest: with the
/// largest uses, and what would fit. `further` are alternatives that the plan did not weigh. Only
/// where others hold the memory (`ErrorKind::Transient`) it helps to wait.
pub fn device_memory_error(
    refusal: StageError,
    predicted: &Memory,
    free: u64,
    further: &[&str],
) -> StageError {
    let wait = || {
        format!(
            "wait until other processes free {} of the device's memory (`nvidia-smi` lists them)",
            show_size(predicted.bytes_peak)
        )
    };
    let mut ways: Vec<String> =
        (refusal.kind == ErrorKind::Transient).then(wait).into_iter().collect();
    ways.extend(suggest_settings(&predicted.smaller, free));
    ways.extend(further.iter().map(|way| (*way).to_owned()));
    StageError { hint: Some(ways.join("; or  ")), ..refusal.detail(largest_uses(predicted)) }
}

/// Predicted or reached memory, as text: own memory of the process, or of a GPU, and the pages of
/// mapped files, where those count.
pub fn format_peak(own: u64, mapped: u64) -> String {
    let files = if mapped > 0 {
        format!(" (and {} of mapped files)", show_size(mapped))
    } else {
        String::new()
    };
    format!("{}{files}", show_size(own))
}

/// The `--mem` of a Slurm job that finds every earlier stage in the store, with a tenth of reserve:
/// the least that it needs, and what keeps the mapped files in memory too. None for a GPU.
pub fn slurm_hint(own: u64, mapped: u64) -> Option<String> {
    let option =
        |bytes: u64| format!("--mem={}M", bytes.saturating_add(bytes / 10).div_ceil(1 << 20));
    let words = |least: String, all: String| {
        format!(
            "for the stage `run` alone, Slurm: {least} holds it, {all} keeps the mapped files in memory too\n  earlier stages that are not in \
             the job's store may take more"
        )
    };
    (mapped > 0).then(|| words(option(own), option(own.saturating_add(mapped))))
}

/// The largest uses, largest first.
fn largest_uses(predicted: &Memory) -> String {
    let mut uses: Vec<(&String, &u64)> = predicted.bytes_by_use.iter().collect();
    uses.sort_by_key(|&(name, &bytes)| (std::cmp::Reverse(bytes), name));
    let largest: Vec<String> = uses
        .iter()
        .take(SHOWN)
        .map(|(name, bytes)| format!("    {} {name}", show_size(**bytes)))
        .collect();
    format!("  most of it for\n{}", largest.join("\n"))
}

/// Settings that fit, with the memory that they need.
fn suggest_settings(smaller: &[Smaller], memory: u64) -> impl Iterator<Item = String> {
    fitting_settings(smaller, memory)
        .map(|way| format!("--set {}  which needs {}", way.set, show_size(way.bytes_peak)))
}

/// For each setting, the value that fits and needs the most.
fn fitting_settings(smaller: &[Smaller], memory: u64) -> impl Iterator<Item = &Smaller> {
    let setting = |way: &Smaller| way.set.split('=').next().unwrap_or_default().to_owned();
    let mut seen = Vec::new();
    smaller.iter().filter(move |way| way.bytes_peak <= memory).filter(move |way| {
        let is_new = !seen.contains(&setting(way));
        seen.push(setting(way));
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
        assert_eq!(format_peak(461 << 20, 120 << 20), "461 MiB (and 120 MiB of mapped files)");
        assert_eq!(
            (format_peak(461 << 20, 0), slurm_hint(461 << 20, 0)),
            ("461 MiB".to_owned(), None)
        );
        let words = "for the stage `run` alone, Slurm: --mem=440M holds it, --mem=550M keeps the mapped files in memory too\n  \
                    earlier stages that are not in the job's store may take more";
        assert_eq!(slurm_hint(400 << 20, 100 << 20).as_deref(), Some(words));
    }

    #[test]
    fn threads_are_counted_and_fewer_of_them_are_a_way() {
        let (memory, spec) = (Memory { bytes_per_thread: 100, ..memory() }, RunSpec::default());
        assert_eq!(predicted_peak(&memory, &spec, 3), 1200);
        let refuse =
            |threads, room| refuse_too_large_run(&memory, &spec, threads, MemoryLimit::Host(room));
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
        assert!(refuse_too_large(&memory(), MemoryLimit::Host(1000)).is_ok());
    }

    #[test]
    fn a_refusal_says_how_much_for_what_and_what_would_fit() {
        let error = refuse_too_large(&memory(), MemoryLimit::Host(550)).unwrap_err();
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
            refuse_too_large(&memory(), MemoryLimit::Host(100)).unwrap_err().hint.as_deref(),
            Some("--memory 1000  if the machine has it")
        );
        assert_eq!(
            refuse_too_large(&memory(), MemoryLimit::Device("h200", 100))
                .unwrap_err()
                .hint
                .as_deref(),
            Some("a device with more memory than `h200`")
        );
    }

    #[test]
    fn a_device_that_others_use_is_told_what_fits_beside_them() {
        let refusal =
            || StageError::new(ErrorKind::Transient, "wanted 1000 bytes").hint("something else");
        let error = device_memory_error(refusal(), &memory(), 300, &["run on  --device cpu"]);
        assert_eq!((error.kind.exit_code(), error.what.as_str()), (4, "wanted 1000 bytes"));
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "  most of it for\n    700 B z.0\n    150 B moments\n    100 B x\n    30 B \
                    adjacency"
            )
        );
        let wait = "wait until other processes free 0.98 KiB of the device's memory (`nvidia-smi` \
             lists them)";
        let said = error.hint.unwrap();
        assert_eq!(
            said,
            format!(
                "{wait}; or  --set plan.set.hidden=4  which needs 250 B; or  run on  --device cpu"
            )
        );
        let nothing = device_memory_error(refusal(), &memory(), 100, &[]);
        assert_eq!(nothing.hint.as_deref(), Some(wait));
        let alone = StageError { kind: ErrorKind::Memory, ..refusal() };
        let alone = device_memory_error(alone, &memory(), 300, &["run on  --device cpu"]);
        assert_eq!(alone.kind.exit_code(), 1);
        assert!(alone.hint.unwrap().starts_with("--set plan.set.hidden=4"), "nobody to wait for");
    }
}
