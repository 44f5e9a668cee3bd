//! command_lines: the command line of each Warploom program, for manual pages and completions.
//!
//! promises  the same options as each program's own `--help`
//! never     writes a file in place: a reader sees an old file or the whole new one
use std::{fs, path::Path};

use clap::{Command, CommandFactory};
use warploom_contract::StageError;
use warploom_shell::binary::{shorten_help, stage_command};

use crate::arguments::Arguments;

/// The command line of `warploom`.
pub fn front_door() -> Command {
    shorten_help(Arguments::command())
}

/// The command lines of all programs, `warploom` first.
pub fn all() -> Vec<Command> {
    vec![
        front_door(),
        stage_command::<warploom_ingest::Ingest>(warploom_ingest::ABOUT),
        stage_command::<warploom_extract::Extract>(warploom_extract::ABOUT),
        stage_command::<warploom_reorder::Reorder>(warploom_reorder::ABOUT),
        stage_command::<warploom_partition::PartitionStage>(warploom_partition::ABOUT),
        stage_command::<warploom_plan::PlanStage>(warploom_plan::ABOUT)
            .arg(warploom_plan::PRINTED_FORMS.argument()),
        stage_command::<warploom_run::RunStage>(warploom_run::ABOUT),
    ]
}

/// A file to write: its name and text.
pub struct NamedText {
    /// Name in the folder.
    pub name: String,
    /// Contents.
    pub text: String,
}

/// Writes files into a folder, which is created if needed; existing ones are replaced.
pub fn write_files(folder: &Path, files: &[NamedText]) -> Result<(), StageError> {
    let refused = |doing: &str, path: &Path, error: &std::io::Error| {
        StageError::io(doing, path, error).replace_store_option("-o DIR")
    };
    fs::create_dir_all(folder).map_err(|error| refused("make a folder", folder, &error))?;
    for file in files {
        let path = folder.join(&file.name);
        let beside = folder.join(format!(".{}.{}", file.name, std::process::id()));
        let written = fs::write(&beside, &file.text).and_then(|()| fs::rename(&beside, &path));
        written.map_err(|error| {
            // What is left of a failed write; the error that is reported is the first one.
            let _absent = fs::remove_file(&beside);
            refused("write", &path, &error)
        })?;
    }
    Ok(())
}
