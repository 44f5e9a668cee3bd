//! surroundings: environment variables and exit codes, as `--help` and the manual pages print them.

/// Environment variables.
pub(crate) const ENVIRONMENT: [(&str, &str); 14] = [
    ("WARPLOOM_STORE", "Artifact stores, as --store names them, with colons between them."),
    ("WARPLOOM_DATA", "Folders of raw data, with colons between them, as --data names them."),
    ("WARPLOOM_CATALOG", "Folder of catalogue entries, before those that are shipped."),
    ("WARPLOOM_NVRTC", "Folder of libnvrtc, the compiler of GPU kernels."),
    ("WARPLOOM_DEVICES", "Folder of facts that `doctor --measure` writes about GPUs."),
    ("NO_COLOR", "No colours on stderr."),
    ("SLURM_JOB_ID, PBS_JOBID, LSB_JOBID", "In a batch job --real and --verify are on."),
    ("SLURM_CPUS_PER_TASK", "Default of --threads, at most what the cgroup allows."),
    ("SLURM_MEM_PER_NODE", "Limit of the default of --memory, in MiB."),
    ("SLURM_LOCALID", "Which of several visible GPUs a task of a node takes."),
    ("WARPLOOM_TASK", "The task that a script of `submit` runs where no scheduler sets one."),
    ("WARPLOOM_REVISION", "At build time: the revision that `record.json` names."),
    ("XDG_CONFIG_HOME", "Its folder warploom/devices is used without WARPLOOM_DEVICES."),
    ("XDG_CACHE_HOME", "Its folder warploom has headers that the compiler of kernels unpacks."),
];

/// Exit codes.
pub(crate) const EXIT_CODES: [(&str, &str); 9] = [
    ("0", "Built, or found in the store."),
    ("1", "Input, data, specification, memory of a device, or a full disk."),
    ("2", "Usage."),
    ("3", "A check failed, or a limit was reached: not converged."),
    ("4", "A fault of device, node or file system that may pass; safe to start again."),
    ("5", "Nothing was done: the batch job before failed."),
    (
        "75",
        "Stopped by SIGTERM, SIGHUP or SIGUSR1 after saving what can be saved: the same command \
         resumes.",
    ),
    (
        "130",
        "Interrupted (Ctrl-C) after saving what can be saved: the same command resumes. A second \
         Ctrl-C ends at once.",
    ),
    ("255", "A defect of Warploom."),
];

/// Environment and exit codes, below the help.
pub fn below_help() -> String {
    let section = |title: &str, rows: &[(&str, &str)]| {
        let widest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        rows.iter().fold(format!("{title}:\n"), |text, (name, about)| {
            text + &format!("  {name:<widest$}  {}\n", about.trim_end_matches('.'))
        })
    };
    format!(
        "{}\n{}",
        section("Environment", &ENVIRONMENT),
        section("Exit codes", &EXIT_CODES).trim_end()
    )
}
