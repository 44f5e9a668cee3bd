//! skips: what a test says when it cannot run here, and whether long campaigns were asked for.
//!
//! promises  a line for each, which `tests/run.sh` lists after all tests
use std::path::PathBuf;

/// Says that a test, or a part of it, was not run here.
pub fn skipped(test: &str, why: impl std::fmt::Display) {
    println!("\nSKIPPED: {test}: {why}");
}

/// A folder of real data; none, with a line that says so, where it is not here.
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    let folder = crate::shared().join("data").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    let why = format!("no {} (WARPLOOM_SHARED names the folder above `data`)", folder.display());
    skipped(name, why);
    None
}

/// Whether long campaigns were asked for: `make test-long`.
pub fn is_long() -> bool {
    std::env::var_os("WARPLOOM_TEST_LONG").is_some_and(|value| !value.is_empty() && value != "0")
}
