//! completions: `warploom completions`: completion scripts of all programs for a shell.
//!
//! promises  complete what `--help` shows
//! never     offer a hidden option or a sub-command that this version does not have
use std::path::Path;

use clap::Command;
use clap_complete::{Generator, Shell};
use warploom_contract::StageError;
use warploom_shell::binary::print_data;

use crate::command_lines::{self, NamedText};

/// Prints the script of `warploom`, or writes those of all programs into a folder.
pub fn print_or_write(shell: Shell, folder: Option<&Path>) -> Result<(), StageError> {
    let Some(folder) = folder else {
        print_data(&script(shell, &command_lines::front_door()));
        return Ok(());
    };
    let files: Vec<NamedText> = command_lines::all()
        .iter()
        .map(|command| NamedText {
            name: file_name(shell, command.get_name()),
            text: script(shell, command),
        })
        .collect();
    command_lines::write_files(folder, &files)
}

/// The name under which a shell looks up the script of a program.
fn file_name(shell: Shell, program: &str) -> String {
    match shell {
        // The loader of bash-completion takes the name of the program.
        Shell::Bash => program.to_owned(),
        _ => shell.file_name(program),
    }
}

fn script(shell: Shell, command: &Command) -> String {
    let mut text = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut shown_parts(command), name, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A command without what its help hides: the generators would offer that, too.
fn shown_parts(command: &Command) -> Command {
    let shown = Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args(command.get_arguments().filter(|argument| !argument.is_hide_set()))
        .subcommands(command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(shown_parts));
    match command.get_version() {
        Some(version) => shown.version(version.to_owned()).disable_version_flag(false),
        None => shown,
    }
}
