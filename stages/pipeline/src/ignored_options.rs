//! ignored_options: refuses options that a command does not read.
//!
//! promises  a pipeline file or a setting that a command would ignore is refused, with the option
//!           that was probably meant
//! limits    options that control execution (threads, device, verbosity) are accepted everywhere
use warploom_contract::StageError;
use warploom_shell::Options;
use warploom_spec::shell_word;

use crate::arguments::{Command, DataAction, StoreAction};

/// The name of a command, whether it reads a pipeline file and settings, and the alternatives.
struct CommandReads {
    name: String,
    pipeline: bool,
    set: bool,
    instead: String,
}

/// Refuses what a command does not read.
pub fn refuse_ignored(command: &Command, options: &Options) -> Result<(), StageError> {
    let reads = command_reads(command, options);
    let given = [
        ("--pipeline", options.pipeline.is_some() && !reads.pipeline),
        ("--set", !options.set.is_empty() && !reads.set),
    ];
    match given.into_iter().find(|(_, is_unread)| *is_unread) {
        Some((option, _)) => Err(crate::usage_error(
            format!("`warploom {}` reads no `{option}`", reads.name),
            reads.instead,
        )),
        None => Ok(()),
    }
}

fn command_reads(command: &Command, options: &Options) -> CommandReads {
    let neither = |name: &str, instead: String| CommandReads {
        name: name.to_owned(),
        pipeline: false,
        set: false,
        instead,
    };
    let leave_out = || "leave it out".to_owned();
    let dataset = options
        .set
        .iter()
        .find_map(|set| set.strip_prefix("dataset="))
        .map_or_else(|| "NAME".to_owned(), shell_word);
    let file = || {
        options
            .pipeline
            .as_ref()
            .map_or_else(|| "FILE".to_owned(), |file| shell_word(&file.to_string_lossy()))
    };
    match command {
        Command::Pipeline { .. }
        | Command::Explain { .. }
        | Command::Check { .. }
        | Command::Submit { .. } => {
            CommandReads { pipeline: true, set: true, ..neither("pipeline", leave_out()) }
        }
        Command::Export { key, .. } => {
            let instead = format!(
                "a setting chooses among the runs of a file:  warploom export {} --pipeline FILE \
                 --set ...",
                shell_word(key)
            );
            CommandReads {
                pipeline: true,
                set: options.pipeline.is_some(),
                ..neither("export KEY", instead)
            }
        }
        Command::Runs { .. } => {
            let instead = format!(
                "choose runs by  warploom runs --dataset {dataset}  or  warploom runs --pipeline \
                 FILE"
            );
            CommandReads { pipeline: true, ..neither("runs", instead) }
        }
        Command::Store { action: StoreAction::Ls { .. } } => {
            let runs = format!("warploom runs --pipeline {}", file());
            neither(
                "store ls",
                format!(
                    "choose artifacts by  warploom store ls --dataset {dataset}  and runs by  \
                     {runs}"
                ),
            )
        }
        Command::Store { .. } => neither(
            "store",
            format!("it takes keys: list them with  warploom store ls --dataset {dataset}"),
        ),
        Command::Data { action: DataAction::Show { .. } | DataAction::Generate { .. } } => {
            CommandReads { pipeline: true, set: true, ..neither("data", leave_out()) }
        }
        Command::Data { .. } => neither(
            "data",
            "settings are for what reads data:  warploom pipeline FILE --set ...".to_owned(),
        ),
        Command::New { name, .. } => neither(
            "new",
            format!(
                "write the files, then  warploom pipeline {} --set ...",
                shell_word(&format!("{name}.yaml"))
            ),
        ),
        _ => neither(plain_name(command), leave_out()),
    }
}

/// The name of a command that has no settings and no advice on them.
fn plain_name(command: &Command) -> &'static str {
    match command {
        Command::Task { .. } => "task",
        Command::Pool { .. } => "pool",
        Command::Status { .. } => "status",
        Command::Cancel { .. } => "cancel",
        Command::Doctor { .. } => "doctor",
        Command::Schema => "schema",
        Command::Completions { .. } => "completions",
        Command::Man { .. } => "man",
        // The others are not in this version, which is said first.
        _ => "report",
    }
}
