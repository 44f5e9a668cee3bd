//! stage_record: what a stage took to make its output: time, bytes and memory, measured while it
//! runs and kept in the manifest of each artifact.
//!
//! promises  the record is in no digest and in no key, so that a slower machine makes the same
//!           artifact; a hit leaves the record as it was written
//! limits    memory is that of this process, sampled; child processes are not in it
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::process_memory::MemoryMonitor;

/// Time between two samples of memory.
const PAUSE: Duration = Duration::from_millis(20);

/// What a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// Seconds from opened inputs to the checked output.
    pub seconds: f64,
    /// Bytes of the files of all kinds that the stage wrote; files that it shares with another
    /// artifact are not counted.
    pub bytes_written: u64,
    /// Most anonymous memory of the process while the stage ran, with what earlier stages of the
    /// process left.
    pub bytes_peak: u64,
}

/// Measures a stage from its beginning.
#[derive(Debug)]
pub struct StageMeter {
    begun: Instant,
    memory: MemoryMonitor,
    bytes: AtomicU64,
}

impl StageMeter {
    /// Begins.
    pub fn begin() -> Self {
        StageMeter {
            begun: Instant::now(),
            memory: MemoryMonitor::begin_every(PAUSE),
            bytes: AtomicU64::new(0),
        }
    }

    /// Counts bytes that were written.
    pub(crate) fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// What was taken until now.
    pub(crate) fn record(&self) -> StageRecord {
        StageRecord {
            seconds: self.begun.elapsed().as_secs_f64(),
            bytes_written: self.bytes.load(Ordering::Relaxed),
            bytes_peak: self.memory.peak().own,
        }
    }
}
