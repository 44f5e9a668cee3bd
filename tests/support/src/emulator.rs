//! emulator: the emulated GPU of `tests/emulator`, built once, for tests that start a program of
//! their own with it.
//!
//! promises  where no C++ compiler is, a line says what was skipped
//! never     lets a program find it that was not told to
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Variables of the loader and of ours that name the folder.
const VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "WARPLOOM_NVRTC"];

/// Lets a program find the emulated GPU and no other; whether there is one.
pub fn emulate(command: &mut Command, test: &str) -> bool {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match FOLDER.get_or_init(build) {
        Ok(folder) => {
            VARIABLES.iter().for_each(|name| {
                command.env(name, folder);
            });
            command.env("EMULATOR_CACHE", folder.join("kernels"));
            true
        }
        Err(why) => {
            crate::skips::skipped(test, format!("NO EMITTED KERNEL WAS RUN: {why}"));
            false
        }
    }
}

fn build() -> Result<PathBuf, String> {
    let script = crate::repository().join("tests/emulator/build.sh");
    let folder = crate::target_folder()?.join("emulator");
    let output = Command::new(script).arg(&folder).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(folder)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
