//! process_memory: samples the memory of this process during a stage or a run: own pages and pages
//! of mapped files.
//!
//! promises  samples every few milliseconds and at the end, and reports the largest of each. The
//!           system drops pages of mapped files under memory pressure, so that the need of a
//!           process (`--mem` of a scheduler) is its own pages. These include memory that earlier
//!           stages of the process left with the allocator, which is also reported
//! limits    a peak between two samples is missed; without `/proc/self/status` all is 0
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// The most memory of a process before its first stage: anything above was left by earlier stages.
const AT_START: u64 = 8 << 20;
/// Time between two samples of a run.
const PAUSE: Duration = Duration::from_millis(5);

/// Largest sizes so far.
#[derive(Debug, Default)]
struct Largest {
    own: AtomicU64,
    mapped: AtomicU64,
    ends: AtomicBool,
}

impl Largest {
    fn sample(&self) {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        self.own.fetch_max(status_bytes(&text, "RssAnon:"), Ordering::Relaxed);
        self.mapped.fetch_max(status_bytes(&text, "RssFile:"), Ordering::Relaxed);
    }
}

/// A line of `/proc/self/status` in bytes; 0 if it is missing.
fn status_bytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

/// Samples until it is dropped.
#[derive(Debug)]
pub struct MemoryMonitor {
    largest: Arc<Largest>,
    /// Own memory that earlier stages left.
    left: u64,
    thread: Option<JoinHandle<()>>,
}

/// The peak memory of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPeak {
    /// Own memory.
    pub own: u64,
    /// The part that earlier stages left, at most: a run reuses what it can.
    pub left: u64,
    /// Resident pages of mapped files.
    pub mapped: u64,
}

impl MemoryMonitor {
    /// Starts sampling, as often as a run needs it.
    pub fn begin() -> Self {
        MemoryMonitor::begin_every(PAUSE)
    }

    /// Starts sampling with this time between two samples.
    pub fn begin_every(pause: Duration) -> Self {
        let largest = Arc::new(Largest::default());
        largest.sample();
        let left = largest.own.load(Ordering::Relaxed).saturating_sub(AT_START);
        let looked = largest.clone();
        let look = move || {
            while !looked.ends.load(Ordering::Relaxed) {
                looked.sample();
                std::thread::park_timeout(pause);
            }
        };
        // Without a thread, the last sample is the only one.
        let thread = std::thread::Builder::new().name("memory".to_owned()).spawn(look).ok();
        MemoryMonitor { largest, left, thread }
    }

    /// The peaks until now.
    pub fn peak(&self) -> MemoryPeak {
        self.largest.sample();
        MemoryPeak {
            own: self.largest.own.load(Ordering::Relaxed),
            left: self.left,
            mapped: self.largest.mapped.load(Ordering::Relaxed),
        }
    }
}

impl Drop for MemoryMonitor {
    fn drop(&mut self) {
        self.largest.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_and_given_back_is_told() {
        let watch = MemoryMonitor::begin();
        let before = watch.peak().own;
        let held = vec![1u8; 64 << 20];
        let during = watch.peak().own;
        drop(held);
        let taken = watch.peak();
        assert!(
            !cfg!(target_os = "linux") || (taken.own >= during && during - before >= 60 << 20),
            "{before} {during} {taken:?}"
        );
    }

    #[test]
    fn lines_of_a_status_are_bytes() {
        let status = "VmHWM:\t  100 kB\nRssAnon:\t   12 kB\nRssFile:\t    3 kB\n";
        assert_eq!(
            (
                status_bytes(status, "RssAnon:"),
                status_bytes(status, "RssFile:"),
                status_bytes(status, "RssShmem:")
            ),
            (12 << 10, 3 << 10, 0)
        );
    }
}
