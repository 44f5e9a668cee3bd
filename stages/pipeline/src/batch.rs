//! batch: the commands of batch jobs: `submit`, `task`, `status`, `cancel`.
//!
//! promises  a task runs its stages by the same code as `warploom pipeline`
//! never     decides what is a hit: the store does
pub mod cancel;
pub mod follow;
pub mod status;
pub mod submit;
pub mod task;

use std::path::PathBuf;

use warploom_contract::{ErrorKind, StageError};
use warploom_shell::Environment;

/// The stores that submissions are looked for in, absolute.
fn stores(environment: &Environment) -> Vec<PathBuf> {
    vec![absolute(environment.store.root())]
}

/// An absolute path, of a file that may not exist yet.
fn absolute(path: &std::path::Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The kind of an error of a stage's JSON line, by its name.
fn kind_of_name(name: &str) -> ErrorKind {
    use ErrorKind::*;
    [
        Input,
        Data,
        Specification,
        Damaged,
        Memory,
        DiskFull,
        Usage,
        CheckFailed,
        LimitReached,
        Transient,
        EarlierJob,
        Stopped,
        Interrupted,
        Defect,
    ]
    .into_iter()
    .find(|kind| kind.name() == name)
    .unwrap_or(Input)
}

/// The error of a stage's JSON line.
fn error_of_json(error: &serde_json::Value) -> StageError {
    let text = |name: &str| error[name].as_str().map(str::to_owned);
    StageError {
        kind: kind_of_name(error["kind"].as_str().unwrap_or_default()),
        what: text("what").unwrap_or_default(),
        place: text("place"),
        detail: None,
        hint: text("hint"),
    }
}
