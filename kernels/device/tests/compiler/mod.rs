//! compiler: NVRTC for tests, on a machine with a GPU or without.
//!
//! promises  NVRTC is taken from `WARPLOOM_NVRTC`, else fetched once with `tests/tools/nvrtc.sh`; without either, a test says that it was
//!           skipped
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use warploom_device::Nvrtc;

/// Architectures that have to work: those of A100, H100 and H200, B200.
pub const ARCHITECTURES: [(u32, u32); 3] = [(8, 0), (9, 0), (10, 0)];

/// The repository, from a crate two folders below it.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The compiler, or why there is none.
fn found() -> &'static Result<Nvrtc, String> {
    static FOUND: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        if let Ok(nvrtc) = Nvrtc::find() {
            return Ok(nvrtc);
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder of targets").join("nvrtc");
        let output = Command::new(root().join("tests/tools/nvrtc.sh")).arg(&target).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Nvrtc::at(&target).map_err(|fault| fault.to_string())
    })
}

/// The compiler, or a line that says that this test did nothing.
pub fn nvrtc(test: &str) -> Option<&'static Nvrtc> {
    match found() {
        Ok(nvrtc) => Some(nvrtc),
        Err(why) => {
            println!("\nSKIPPED: nvrtc::{test}: NO KERNEL WAS COMPILED: {why}");
            None
        }
    }
}
