//! device: what there is to compute on.
//!
//! promises  static facts (those that a plan's key may hold) never change while a machine runs; a device that is not there
//!           is an error that says what would be
//! never     measures, allocates or launches
//! limits    the CPU alone: GPUs come with their back end, and this is the only crate that will name its driver
use serde::{Deserialize, Serialize};

/// What a plan is made for, and nothing that changes from start to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `cpu`.
    pub name: String,
    /// Instruction set architecture.
    pub architecture: String,
    /// Widest vectors that kernels may use: `avx512`, `avx2`, `neon`, `none`.
    pub simd: String,
}

/// A name that is no device of this machine or version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What was asked for.
    pub name: String,
    /// Why it is not there.
    pub why: String,
}

/// Devices that this version can plan for and run on.
pub const NAMES: [&str; 2] = ["auto", "cpu"];

/// Facts of a device by name; `auto` is the best that is there.
pub fn resolve(name: &str) -> Result<Facts, Unknown> {
    match name {
        "auto" | "cpu" => Ok(Facts { name: "cpu".to_owned(), architecture: std::env::consts::ARCH.to_owned(), simd: simd_class().to_owned() }),
        cuda if cuda == "cuda" || cuda.starts_with("cuda:") => Err(Unknown { name: name.to_owned(), why: "this version runs on the CPU alone".to_owned() }),
        _ => Err(Unknown { name: name.to_owned(), why: format!("expected one of `{}`", NAMES.join("`, `")) }),
    }
}

/// Widest vectors of this processor.
#[cfg(target_arch = "x86_64")]
pub fn simd_class() -> &'static str {
    if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl") {
        "avx512"
    } else if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        "avx2"
    } else {
        "none"
    }
}

/// Widest vectors of this processor.
#[cfg(target_arch = "aarch64")]
pub fn simd_class() -> &'static str {
    "neon"
}

/// Widest vectors of this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn simd_class() -> &'static str {
    "none"
}

/// The processor's name as the system tells it, for records.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(':')));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_cpu_and_absent_devices_say_why() {
        assert_eq!(resolve("auto"), resolve("cpu"));
        assert!(resolve("cuda:0").unwrap_err().why.contains("CPU alone"));
        assert!(resolve("h2o").unwrap_err().why.contains("`cpu`"));
    }
}
