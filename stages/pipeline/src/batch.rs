//! batch: the commands of batch jobs: `submit`, `task`, `status`, `cancel`.
//!
//! promises  a task runs its stages by the same code as `warploom pipeline`
//! never     decides what is a hit: the store does
pub mod cancel;
pub mod follow;
mod preview;
pub mod status;
pub mod submit;
pub mod task;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use warploom_batch::{status::look, submission::Opened};
use warploom_contract::{ErrorKind, StageError, store::gc};
use warploom_shell::{
    Environment, Options,
    binary::{read_pipelines, report_error},
    progress::Talk,
};

use crate::arguments::Command;

/// Runs a command of batch jobs, and gives the exit code.
pub fn dispatch(
    environment: &Environment,
    options: &Options,
    talk: &Talk,
    command: &Command,
) -> ExitCode {
    let done = match command {
        Command::Submit { file, .. } => {
            let file = file.clone().or_else(|| options.pipeline.clone());
            let pipelines = match read_pipelines(options, file) {
                Ok(pipelines) => pipelines,
                Err(refusal) => return refusal.finish(talk, environment.format),
            };
            submit::run_command(environment, options, talk, &pipelines, command)
        }
        Command::Task { submission, array, number, stop_after } => {
            let request = task::TaskRequest {
                submission,
                array: *array,
                number: *number,
                stop_after: *stop_after,
            };
            task::run(environment, options, talk, &request)
        }
        Command::Pool { submission, at_once } => {
            follow::run_detached_pool(environment, submission, *at_once)
        }
        Command::Status { submission } => status::run(environment, talk, submission.as_deref()),
        Command::Cancel { submission } => cancel::run(environment, talk, submission),
        _ => Ok(()),
    };
    done.map_or_else(|error| report_error(talk, environment.format, &error), |()| ExitCode::SUCCESS)
}

/// Removes submissions of the first store that are older than an age and whose jobs have all ended.
pub fn remove_old(environment: &Environment, age: Duration, dry: bool, report: &mut gc::Report) {
    let root = absolute(environment.store.root());
    for opened in Opened::list(&[root]) {
        let is_old = opened.age().is_some_and(|since| since > age);
        let has_ended =
            || look(&opened).is_ok_and(|found| found.jobs.iter().all(|job| job.state.is_final()));
        if !is_old || !has_ended() {
            continue;
        }
        let removed = gc::Removed {
            bytes: bytes_below(&opened.folder),
            path: opened.folder.clone(),
            why: "a submission whose jobs have ended".to_owned(),
        };
        match if dry { Ok(()) } else { opened.remove() } {
            Ok(()) => report.removed.push(removed),
            Err(error) => report.failed.push(error),
        }
    }
}

/// Bytes of the files in a folder, for a list.
fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            _ => entry.metadata().map_or(0, |facts| facts.len()),
        })
        .sum()
}

/// The stores that submissions are looked for in, absolute.
fn stores(environment: &Environment) -> Vec<PathBuf> {
    environment.store.roots().map(absolute).collect()
}

/// An absolute path, of a file that may not exist yet.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The error of a stage's JSON line.
fn error_of_json(error: &serde_json::Value) -> StageError {
    let text = |name: &str| error[name].as_str().map(str::to_owned);
    StageError {
        kind: error["kind"].as_str().and_then(ErrorKind::from_name).unwrap_or(ErrorKind::Input),
        what: text("what").unwrap_or_default(),
        place: text("place"),
        detail: None,
        hint: text("hint"),
    }
}
