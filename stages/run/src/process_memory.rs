//! process_memory: how much memory this process takes while a run goes on: its own pages, and pages
//! of mapped files apart.
//!
//! promises  looks every few milliseconds, and at the end; the largest of each is told. Pages of
//!           files are the system's: it drops them when others want memory, so what a process needs
//!           (`--mem` of a scheduler) is its own. What earlier stages in the same process left with
//!           its allocator is part of that, and told too
//! limits    a peak between two looks is not seen; nothing is told where the system has no
//!           `/proc/self/status`
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// What a process has before its first stage, at most: all beyond that is left by earlier ones.
const AT_START: u64 = 8 << 20;
/// Time between two looks.
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

/// A line of a status, in bytes; 0 if it is not there.
fn status_bytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

/// Looks until it is dropped.
pub struct MemoryMonitor {
    largest: Arc<Largest>,
    /// Memory of its own that earlier stages left.
    left: u64,
    thread: Option<JoinHandle<()>>,
}

/// What a process took at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPeak {
    /// Memory of its own.
    pub own: u64,
    /// What of it earlier stages left, at most: a run uses what it can.
    pub left: u64,
    /// Pages of mapped files that were in memory.
    pub mapped: u64,
}

impl MemoryMonitor {
    /// Begins to look.
    pub fn begin() -> Self {
        let largest = Arc::new(Largest::default());
        largest.sample();
        let left = largest.own.load(Ordering::Relaxed).saturating_sub(AT_START);
        let looked = largest.clone();
        let look = move || {
            while !looked.ends.load(Ordering::Relaxed) {
                looked.sample();
                std::thread::park_timeout(PAUSE);
            }
        };
        // Without a thread the last look is the only one.
        let thread = std::thread::Builder::new().name("memory".to_owned()).spawn(look).ok();
        MemoryMonitor { largest, left, thread }
    }

    /// The largest sizes until now.
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
