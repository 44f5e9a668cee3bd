//! event: what has happened to the tasks of a submission: files of JSON lines, one for each task,
//! to which only the task appends.
//!
//! promises  an event is one line, written by one call; a line that was cut short by a power cut is
//!           passed over
//! never     blocks or ends a task: a folder that cannot be written costs the events, not the work
use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warploom_contract::StageError;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// The scheduler took an array, whose job is named.
    Submitted,
    /// A task began.
    Start,
    /// A stage of a task ended, with a status.
    Stage,
    /// The time limit of a task has come; the status says whether it saves its state.
    Limit,
    /// A task ended, with an exit code.
    End,
    /// The submission was cancelled.
    Cancelled,
}

/// An event of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, in UTC.
    pub time: String,
    /// What.
    pub event: EventKind,
    /// The array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<u32>,
    /// The scheduler's name of job and task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// The stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `built`, `hit`, `stopped`, `failed`, or `blocked` where an earlier job failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
    /// Why it was built, or what happens next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The error, as in the JSON lines of stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

impl Event {
    /// An event that happens now.
    pub fn now(event: EventKind) -> Event {
        Event {
            time: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
            event,
            array: None,
            job: None,
            host: None,
            process: None,
            stage: None,
            key: None,
            status: None,
            seconds: None,
            exit: None,
            why: None,
            error: None,
        }
    }
}

/// The file of events of a task.
fn task_file(folder: &Path, array: u32, task: u32) -> PathBuf {
    folder.join(format!("{array}-{task}.jsonl"))
}

/// The file of events of the submission itself.
fn submission_file(folder: &Path) -> PathBuf {
    folder.join("submission.jsonl")
}

/// Room that events take when the disk is full: a file that gets shorter.
const RESERVE_FILE: &str = "reserve";
/// The bytes of it that an event may take.
const RESERVE_STEP: u64 = 8192;

/// Reserves room in a folder for what tasks have to tell when the disk is full.
pub fn reserve_room(folder: &Path, tasks: u64) -> std::io::Result<()> {
    let bytes = RESERVE_STEP * tasks.clamp(1, 64);
    fs::write(folder.join(RESERVE_FILE), vec![0; bytes as usize])
}

/// Gives some of the reserved room back.
fn release_room(folder: &Path) {
    let file = fs::File::options().append(true).open(folder.join(RESERVE_FILE));
    let shorten = |file: fs::File| {
        let bytes = file.metadata()?.len();
        file.set_len(bytes.saturating_sub(RESERVE_STEP))
    };
    // Without it the event is lost, as it was.
    let _unimportant = file.and_then(shorten);
}

/// Appends an event of a task.
pub fn append(folder: &Path, array: u32, task: u32, event: &Event) -> std::io::Result<()> {
    append_to(&task_file(folder, array, task), event)
}

/// Appends an event of the submission itself.
pub fn append_of_submission(folder: &Path, event: &Event) -> Result<(), StageError> {
    let file = submission_file(folder);
    append_to(&file, event).map_err(|error| StageError::io("write an event to", &file, &error))
}

fn append_to(path: &Path, event: &Event) -> std::io::Result<()> {
    let mut line = serde_json::to_string(event).map_err(std::io::Error::other)?;
    line.push('\n');
    let mut file = fs::File::options().append(true).create(true).open(path)?;
    if event.event == EventKind::Start && file.metadata()?.len() > 0 {
        // The process before may have been killed within a line.
        line.insert(0, '\n');
    }
    match file.write_all(line.as_bytes()) {
        Err(error) if is_full(&error) => {
            let folder = path.parent().unwrap_or(Path::new("."));
            release_room(folder);
            // A part of the line may have been written.
            line.insert(0, '\n');
            file.write_all(line.as_bytes())
        }
        done => done,
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

/// The events of a task, the oldest first.
pub fn read(folder: &Path, array: u32, task: u32) -> Vec<Event> {
    read_file(&task_file(folder, array, task))
}

/// The events of the submission itself.
pub fn read_of_submission(folder: &Path) -> Vec<Event> {
    read_file(&submission_file(folder))
}

/// The events of all tasks, by array and task.
pub fn read_all(folder: &Path) -> Result<BTreeMap<(u32, u32), Vec<Event>>, StageError> {
    let entries = fs::read_dir(folder).map_err(|error| StageError::io("list", folder, &error))?;
    let numbers = |name: &str| {
        let (array, task) = name.strip_suffix(".jsonl")?.split_once('-')?;
        Some((array.parse().ok()?, task.parse().ok()?))
    };
    Ok(entries
        .flatten()
        .filter_map(|entry| {
            let numbers = numbers(entry.file_name().to_str()?)?;
            Some((numbers, read_file(&entry.path())))
        })
        .collect())
}

fn read_file(file: &Path) -> Vec<Event> {
    // A task that has not begun has no file.
    let text = fs::read(file).unwrap_or_default();
    text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_in_order_and_cut_lines_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        append(path, 2, 7, &Event::now(EventKind::Start)).unwrap();
        let end = Event { exit: Some(4), ..Event::now(EventKind::End) };
        append(path, 2, 7, &end).unwrap();
        let file = task_file(path, 2, 7);
        fs::File::options().append(true).open(&file).unwrap().write_all(b"{\"time\":\"20").unwrap();
        append(path, 2, 7, &Event::now(EventKind::Start)).unwrap();
        let found = read(path, 2, 7);
        assert_eq!(found.len(), 3);
        assert_eq!(found[1], end);
        assert_eq!(read_all(path).unwrap().keys().collect::<Vec<_>>(), [&(2, 7)]);
        assert!(read(path, 2, 8).is_empty());
    }
}
