//! nvrtc: NVRTC for tests, on a machine with a GPU or without.
//!
//! promises  NVRTC is taken from `WARPLOOM_NVRTC`, else fetched once with `tests/tools/nvrtc.sh`;
//!           without either, a test says that it was skipped
use std::process::Command;
use std::sync::OnceLock;

use warploom_device::{Capability, Nvrtc};

use crate::skips::{is_long, skipped};

/// Capabilities that have to work: those of A100, H100 and H200, B200.
pub const CAPABILITIES: [Capability; 3] =
    [Capability::new(8, 0), Capability::new(9, 0), Capability::new(10, 0)];

/// Whether a case, by its number and how many there are, is compiled for a capability. `make
/// test-long` compiles every case for each. `make test` lets them take turns: a test is one
/// schedule or family of kernels and its cases are widths and settings of that, so that each
/// schedule is compiled for each architecture, and each case for one of them, or for two where
/// there are fewer than three.
pub fn is_taken(case: usize, cases: usize, capability: Capability) -> bool {
    let turns = CAPABILITIES.len().min(cases);
    is_long()
        || CAPABILITIES
            .iter()
            .position(|of| *of == capability)
            .is_some_and(|at| at % turns == case % turns)
}

/// The compiler, or why there is none.
fn found() -> &'static Result<Nvrtc, String> {
    static FOUND: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        if let Ok(nvrtc) = Nvrtc::find() {
            return Ok(nvrtc);
        }
        let target = crate::target_folder()?.join("nvrtc");
        let output = Command::new(crate::repository().join("tests/tools/nvrtc.sh"))
            .arg(&target)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Nvrtc::open_at(&target).map_err(|fault| fault.to_string())
    })
}

/// The compiler, or a line that says that this test did nothing.
pub fn nvrtc(test: &str) -> Option<&'static Nvrtc> {
    match found() {
        Ok(nvrtc) => Some(nvrtc),
        Err(why) => {
            skipped(&format!("nvrtc::{test}"), format!("NO KERNEL WAS COMPILED: {why}"));
            None
        }
    }
}
