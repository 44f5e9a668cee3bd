//! pairs: the set of pairs of a small graph.
//!
//! promises  constant time for look-up and insertion; iterates in ascending order
//! limits    a bit for each possible pair up to 8,192 nodes (8 MiB), a hash set beyond
use std::collections::HashSet;

/// Graphs of more nodes use a hash set.
const BITS_NODES_MOST: usize = 1 << 13;
const WORD: usize = u64::BITS as usize;

/// Ordered pairs of numbers below `nodes`.
pub struct Pairs {
    nodes: usize,
    /// Words of a row; 0 for a hash set.
    row: usize,
    bits: Vec<u64>,
    set: HashSet<u64>,
}

impl Pairs {
    /// An empty set for `nodes` nodes.
    #[cfg(test)]
    pub fn new(nodes: usize) -> Self {
        Self::from_bits(Vec::new(), nodes)
    }

    /// An empty set for `nodes` nodes, in reused memory.
    pub fn from_bits(mut bits: Vec<u64>, nodes: usize) -> Self {
        let row = if nodes <= BITS_NODES_MOST { nodes.div_ceil(WORD) } else { 0 };
        bits.clear();
        bits.resize(row * nodes, 0);
        Pairs { nodes, row, bits, set: HashSet::new() }
    }

    /// The memory, for reuse.
    pub fn into_bits(self) -> Vec<u64> {
        self.bits
    }

    /// Whether the set has the pair.
    pub fn contains(&self, head: u32, tail: u32) -> bool {
        if self.row == 0 {
            return self.set.contains(&key(head, tail));
        }
        self.bits[head as usize * self.row + tail as usize / WORD] >> (tail as usize % WORD) & 1
            == 1
    }

    /// Inserts the pair; returns whether it is new.
    pub fn insert(&mut self, head: u32, tail: u32) -> bool {
        if self.row == 0 {
            return self.set.insert(key(head, tail));
        }
        let word = &mut self.bits[head as usize * self.row + tail as usize / WORD];
        let bit = 1 << (tail as usize % WORD);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes the pair.
    pub fn remove(&mut self, head: u32, tail: u32) {
        if self.row == 0 {
            self.set.remove(&key(head, tail));
        } else {
            self.bits[head as usize * self.row + tail as usize / WORD] &=
                !(1 << (tail as usize % WORD));
        }
    }

    /// Calls `each` with every pair, ascending.
    pub fn for_each(&self, mut each: impl FnMut(u32, u32)) {
        if self.row == 0 {
            let mut keys: Vec<u64> = self.set.iter().copied().collect();
            keys.sort_unstable();
            keys.iter().for_each(|&key| each((key >> 32) as u32, key as u32));
            return;
        }
        for head in 0..self.nodes {
            for (at, &word) in self.bits[head * self.row..(head + 1) * self.row].iter().enumerate()
            {
                let mut rest = word;
                while rest != 0 {
                    each(head as u32, (at * WORD) as u32 + rest.trailing_zeros());
                    rest &= rest - 1;
                }
            }
        }
    }
}

fn key(head: u32, tail: u32) -> u64 {
    u64::from(head) << 32 | u64::from(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_sets_do_the_same() {
        for nodes in [4, 64, 65, BITS_NODES_MOST + 1] {
            let mut pairs = Pairs::new(nodes);
            let last = nodes as u32 - 1;
            assert!(
                pairs.insert(last, 0)
                    && pairs.insert(0, last)
                    && !pairs.insert(0, last)
                    && pairs.insert(1, 1)
                    && pairs.insert(0, 2)
            );
            pairs.remove(0, 2);
            assert!(
                pairs.contains(last, 0)
                    && pairs.contains(1, 1)
                    && !pairs.contains(0, 2)
                    && !pairs.contains(2, 0)
            );
            let mut all = Vec::new();
            pairs.for_each(|head, tail| all.push((head, tail)));
            assert_eq!(all, [(0, last), (1, 1), (last, 0)]);
        }
    }
}
