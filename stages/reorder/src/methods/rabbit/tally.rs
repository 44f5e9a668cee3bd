//! tally: sums of weights by community, in a table that a task reuses for each node.
//!
//! promises  sums are in the order in which their keys were first added
//! limits    8 bytes for each slot; slots are a power of two, at least twice the number of keys;
//!           with few possible keys, one slot for each
use std::sync::Mutex;

/// Marks a free slot: no community has this number.
const FREE: u32 = u32::MAX;
/// Up to so many possible keys each has its own slot: 128 KiB fit in L2.
const PLACED_MOST: usize = 1 << 14;
/// 2^32 divided by the golden ratio: consecutive keys get distant slots.
const SPREAD: u32 = 0x9e37_79b1;

/// A reusable hash table.
#[derive(Default)]
pub struct Tally {
    slots: Vec<(u32, u32)>,
    /// Slots in use, in the order of first use.
    used: Vec<u32>,
    /// The first slot of a key is `key * factor >> shift`; probing is linear, modulo `mask`.
    factor: u32,
    shift: u32,
    mask: usize,
}

impl Tally {
    /// Clears the table for up to `most` keys below `bound`.
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

    /// Adds to the sum of a key; sums saturate at the largest u32.
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

/// A pool of tables for the next tasks: a new table for each task would take a sixth of the time
/// (mean of 22 graphs).
#[derive(Default)]
pub struct Stash(Mutex<Vec<Tally>>);

impl Stash {
    /// Lends a table to `work`, for its exclusive use.
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
