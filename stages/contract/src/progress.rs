//! progress: how a stage reports how far it is, and the flag that stops it.
//!
//! promises  a phase never reports more units than it has, and all of them once it is over
//! never     prints: the implementation of `Progress` decides what to do with a report
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Receives how far a phase of work is, and warnings.
pub trait Progress: Sync {
    /// A phase begins: what it does, how many units it has (0: unknown), and what a unit is.
    fn begin(&self, what: &str, total: u64, unit: &'static str);
    /// More units are done.
    fn advance(&self, units: u64);
    /// A text beside the bar: loss and accuracy.
    fn note(&self, text: &str);
    /// The phase ends.
    fn end(&self);
    /// A warning, such as that data are a stand-in.
    fn warn(&self, text: &str);
    /// A line about something that was found and is in order.
    fn say(&self, _text: &str) {}
}

/// Reports that more units are done; any thread calls it, some thousands of units at a time.
pub type Advance<'a> = &'a (dyn Fn(u64) + Sync);

/// Units between two reports of a loop over indices.
pub const STRIDE: usize = 1 << 12;

/// Reports `STRIDE` units at each index that is a multiple of it: for loops that visit indices in
/// any order, on any thread.
pub fn advance_by_stride(advance: Advance<'_>, index: usize) {
    if index.is_multiple_of(STRIDE) {
        advance(STRIDE as u64);
    }
}

/// A phase of a stage, counted from any thread. It never reports more units than it has, whatever
/// its loops count, and reports the rest when it is dropped.
pub struct Phase<'a> {
    progress: &'a dyn Progress,
    total: u64,
    passes: u64,
    added: AtomicU64,
}

impl<'a> Phase<'a> {
    /// Begins a phase with this number of units.
    pub fn begin(progress: &'a dyn Progress, what: &str, total: u64, unit: &'static str) -> Self {
        progress.begin(what, total, unit);
        Phase { progress, total, passes: 1, added: AtomicU64::new(0) }
    }

    /// Each unit is added this many times, once in each pass over all units.
    pub fn passes(mut self, passes: u64) -> Self {
        self.passes = passes;
        self
    }

    /// More units are done.
    pub fn add(&self, units: u64) {
        let before = self.added.fetch_add(units, Ordering::Relaxed);
        let done = |added: u64| (added / self.passes).min(self.total);
        let new = done(before + units) - done(before);
        if new > 0 {
            self.progress.advance(new);
        }
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        self.add(self.total * self.passes);
    }
}

/// Progress that drops every report.
pub struct Silence;

impl Progress for Silence {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}
    fn advance(&self, _: u64) {}
    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

/// Set by a signal; long work checks it and stops.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicBool);

impl StopFlag {
    /// A flag that is not set.
    pub const fn new() -> Self {
        StopFlag(AtomicBool::new(false))
    }

    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Listener(Mutex<Vec<u64>>);

    impl Progress for Listener {
        fn begin(&self, _: &str, _: u64, _: &'static str) {}
        fn advance(&self, units: u64) {
            self.0.lock().expect("no test panics with it").push(units);
        }
        fn note(&self, _: &str) {}
        fn end(&self) {}
        fn warn(&self, _: &str) {}
    }

    fn advance(work: impl FnOnce(&Listener)) -> Vec<u64> {
        let listener = Listener::default();
        work(&listener);
        listener.0.into_inner().expect("no test panics with it")
    }

    #[test]
    fn a_piece_of_work_is_told_of_to_its_end_and_not_beyond() {
        let once = advance(|listener| {
            let piece = Phase::begin(listener, "work", 10, "units");
            piece.add(4);
            piece.add(0);
            piece.add(9);
            piece.add(2);
        });
        assert_eq!(once, [4, 6]);
        let twice = advance(|listener| {
            let piece = Phase::begin(listener, "work", 10, "units").passes(2);
            [5, 5, 5].into_iter().for_each(|units| piece.add(units));
        });
        assert_eq!(twice, [2, 3, 2, 3]);
        assert_eq!(advance(|listener| drop(Phase::begin(listener, "work", 0, "units"))), [0; 0]);
    }

    #[test]
    fn a_loop_over_indices_tells_of_each_stride() {
        let sum = AtomicU64::new(0);
        let add = |units| {
            sum.fetch_add(units, Ordering::Relaxed);
        };
        (0..2 * STRIDE + 1).for_each(|index| advance_by_stride(&add, index));
        assert_eq!(sum.into_inner(), 3 * STRIDE as u64);
    }
}
