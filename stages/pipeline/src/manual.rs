//! manual: `warploom man`: the manual page, with every sub-command and its options, the environment
//! and the exit codes.
//!
//! promises  one page, with the texts of the help
//! never     lists a sub-command that this version does not have
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use warploom_shell::binary::shorten_help;

/// Environment variables.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("WARPLOOM_STORE", "Artifact stores, as --store names them, with colons between them."),
    ("WARPLOOM_DATA", "Folders of raw data, with colons between them, as --data names them."),
    ("WARPLOOM_CATALOG", "Folder of catalogue entries, before those that are shipped."),
    ("WARPLOOM_NVRTC", "Folder of libnvrtc, the compiler of GPU kernels."),
    ("NO_COLOR", "No colours on stderr."),
    ("SLURM_JOB_ID, PBS_JOBID, LSB_JOBID", "In a batch job --real and --verify are on."),
];

/// Exit codes.
const EXIT_CODES: [(&str, &str); 8] = [
    ("0", "Built, or found in the store."),
    ("1", "Input, data, specification, memory of a device, or a full disk."),
    ("2", "Usage."),
    ("3", "A check failed, or a limit was reached: not converged."),
    ("4", "A fault of device, node or file system that may pass; safe to start again."),
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

/// The page of the command line.
pub fn page(command: clap::Command) -> String {
    let mut command = shorten_help(command);
    command.build();
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _infallible = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text));
    let _infallible = man
        .render_description_section(&mut text)
        .and_then(|()| man.render_options_section(&mut text));
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    describe(&command, "warploom", &mut roff);
    for (title, rows) in [("ENVIRONMENT", &ENVIRONMENT[..]), ("EXIT STATUS", &EXIT_CODES)] {
        roff.control("SH", [title]);
        for (name, about) in rows {
            roff.control("TP", []).text([bold(*name)]).text([roman(*about)]);
        }
    }
    let _infallible = roff.to_writer(&mut text);
    let _infallible = man.render_version_section(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Describes sub-commands with their options, recursively.
fn describe(command: &clap::Command, path: &str, roff: &mut Roff) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let path = format!("{path} {}", sub.get_name());
        let own: Vec<&clap::Arg> =
            sub.get_arguments().filter(|arg| !arg.is_global_set() && !arg.is_hide_set()).collect();
        let places: String = own
            .iter()
            .filter(|arg| arg.is_positional())
            .map(|arg| format!(" {}", arg.get_id().as_str().to_uppercase()))
            .collect();
        roff.control("SS", [format!("{path}{places}").as_str()]);
        roff.text([roman(sub.get_about().map(ToString::to_string).unwrap_or_default())]);
        for arg in own {
            let name = arg
                .get_long()
                .map_or_else(|| arg.get_id().as_str().to_uppercase(), |long| format!("--{long}"));
            roff.control("TP", [])
                .text([bold(name)])
                .text([roman(arg.get_help().map(ToString::to_string).unwrap_or_default())]);
        }
        describe(sub, &path, roff);
    }
}
