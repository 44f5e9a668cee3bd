//! How much memory edges may take, and where they go beyond it.
use std::path::PathBuf;

/// Edges that are held may take one part in so many of the memory.
const SHARE: u64 = 4;

/// How much memory edges may take, and where they go beyond it.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes.
    pub memory: u64,
    /// A folder on a disk with room.
    pub folder: PathBuf,
}

impl Limit {
    /// Edges stay in memory, however many there are.
    pub fn none() -> Limit {
        Limit { memory: u64::MAX, folder: PathBuf::new() }
    }

    /// Whether edges of so many bytes may stay: sorting them takes three times as much beside.
    pub fn admits(&self, bytes: u64) -> bool {
        bytes <= self.memory / SHARE
    }
}

/// The least `--memory` that admits edges of so many bytes, as it is typed.
pub fn memory_for(bytes: u64) -> String {
    let least = bytes.saturating_mul(SHARE);
    // Whole MiB would be far more than is needed of little.
    if least < 64 << 20 {
        format!("--memory {}KiB", least.div_ceil(1 << 10))
    } else {
        format!("--memory {}MiB", least.div_ceil(1 << 20))
    }
}
