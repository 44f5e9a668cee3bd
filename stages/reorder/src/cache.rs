//! cache: what a walk over all in-edges finds in a cache and what it does not, predicted for every
//! size of cache at once.
//!
//! Blocks (rows of a table, or lines of several narrow rows) are sampled by a hash of their number;
//! between two touches of a sampled block the distinct sampled blocks are counted. A cache that
//! keeps the blocks used last holds a block as long as fewer others come between than it has room
//! for (Mattson et al. 1970; sampled as SHARDS does, Waldspurger et al. 2015).
//!
//! promises  exact for graphs of few blocks (all are sampled); the same bits for any number of
//!           threads
//! never     counts self loops: a row's own values are read beside its sum; sees rows that run at
//!           the same time, or streams beside the rows
//! limits    O(edges) time; 9 bytes a node, and 8 for each sampled touch: about 2^21, but all of
//!           graphs of up to 2^12 blocks, and those of a hub that is drawn
use rayon::prelude::*;
use warploom_contract::kinds::{csr::Rows, permutation::inverse};

use crate::methods::random::mix_bits;

/// Blocks that are sampled, about: beyond so many the error of a share of misses is a hundredth.
const SAMPLED_BLOCKS: u64 = 1 << 14;
/// Touches that are sampled, about, of graphs with more blocks than `EXACT_BLOCKS`.
const SAMPLED_TOUCHES: u64 = 1 << 21;
/// Up to so many blocks a graph is walked whole.
const EXACT_BLOCKS: u64 = 1 << 12;
/// Rows that one task looks at.
const TASK_ROWS: usize = 1 << 12;
/// No block.
const NONE: u32 = u32::MAX;

/// All in-edges, row after row under some numbering.
pub struct Walk<'a> {
    incoming: Rows<'a>,
    outgoing: Rows<'a>,
    /// New number of each old one and back; none: as they stand.
    numbers: Option<(&'a [u32], Vec<u32>)>,
}

impl<'a> Walk<'a> {
    /// Under the numbers that `new_of_old` gives, or as they stand.
    pub fn new(incoming: Rows<'a>, outgoing: Rows<'a>, new_of_old: Option<&'a [u32]>) -> Self {
        Walk { incoming, outgoing, numbers: new_of_old.map(|numbers| (numbers, inverse(numbers))) }
    }

    /// Nodes, and edges that are no self loops.
    pub fn size(&self) -> (u64, u64) {
        let of_row = |row: usize| {
            self.incoming.row(row).iter().filter(|&&far| far as usize != row).count() as u64
        };
        let nodes = self.incoming.len();
        (nodes as u64, (0..nodes).into_par_iter().with_min_len(TASK_ROWS).map(of_row).sum())
    }

    fn number(&self, node: u32) -> u32 {
        self.numbers.as_ref().map_or(node, |(new_of_old, _)| new_of_old[node as usize])
    }

    /// Calls for each edge of a run of rows, in order.
    fn for_each_edge(&self, rows: std::ops::Range<usize>, mut visit: impl FnMut(usize, u32)) {
        for row in rows {
            let old = self.numbers.as_ref().map_or(row, |(_, old_of_new)| old_of_new[row] as usize);
            self.incoming
                .row(old)
                .iter()
                .filter(|&&far| far as usize != old)
                .for_each(|&far| visit(row, far));
        }
    }
}

/// Misses by size of cache.
pub struct MissCurve {
    /// Blocks that are touched at all: each is missed once, whatever the cache.
    distinct: u64,
    /// For each sampled touch but the first of a block: distinct sampled blocks since the last,
    /// ascending.
    between: Vec<u32>,
    /// Share of the blocks that was sampled.
    share: f64,
}

impl MissCurve {
    /// Of a walk where so many rows make a block.
    pub fn from_walk(walk: &Walk<'_>, rows_per_block: u64) -> Self {
        let (nodes, edges) = walk.size();
        let blocks = nodes.div_ceil(rows_per_block);
        let share = sampled_share(blocks, edges);
        let threshold = (share * u32::MAX as f64) as u32;
        let block_of = |node: u32| (u64::from(walk.number(node)) / rows_per_block) as usize;
        let is_read =
            |node: u32| walk.outgoing.row(node as usize).iter().any(|&target| target != node);
        let mut read = vec![false; blocks as usize];
        (0..walk.incoming.len() as u32)
            .filter(|&node| is_read(node))
            .for_each(|node| read[block_of(node)] = true);
        let distinct = read.iter().filter(|&&is_read| is_read).count() as u64;
        // Sampled blocks one after the other; by old number of node, so that each edge looks at one
        // place.
        let mut count = 0u32;
        let is_sampled = |block: u64| share >= 1.0 || ((mix_bits(block) >> 32) as u32) < threshold;
        let mut next = || {
            count += 1;
            count - 1
        };
        let dense: Vec<u32> =
            (0..blocks).map(|block| if is_sampled(block) { next() } else { NONE }).collect();
        let place: Vec<u32> = (0..walk.incoming.len() as u32)
            .into_par_iter()
            .map(|node| dense[block_of(node)])
            .collect();
        let touched = sampled_touches(walk, &place);
        let mut recent = Recent::new(count as usize);
        let mut between: Vec<u32> =
            touched.iter().flatten().filter_map(|&block| recent.touch(block)).collect();
        between.par_sort_unstable();
        MissCurve { distinct, between, share }
    }

    /// Touches of blocks that a cache of so many blocks does not hold.
    pub fn misses(&self, blocks: u64) -> f64 {
        let room = blocks as f64 * self.share;
        let beyond =
            self.between.len() - self.between.partition_point(|&others| f64::from(others) < room);
        self.distinct as f64 + beyond as f64 / self.share
    }

    /// Misses of a cache that holds all.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }
}

/// Which share of the blocks is sampled.
fn sampled_share(blocks: u64, touches: u64) -> f64 {
    if blocks <= EXACT_BLOCKS {
        return 1.0;
    }
    (SAMPLED_BLOCKS as f64 / blocks as f64)
        .min(SAMPLED_TOUCHES as f64 / touches.max(1) as f64)
        .clamp(EXACT_BLOCKS as f64 / 4.0 / blocks as f64, 1.0)
}

/// Sampled blocks in the order in which they are touched: in each row by rising number.
fn sampled_touches(walk: &Walk<'_>, place: &[u32]) -> Vec<Vec<u32>> {
    let nodes = walk.incoming.len();
    let of_task = |first: usize| {
        let mut found: Vec<(usize, u32, u32)> = Vec::new();
        walk.for_each_edge(first..(first + TASK_ROWS).min(nodes), |row, far| {
            if place[far as usize] != NONE {
                found.push((row, walk.number(far), place[far as usize]));
            }
        });
        // As a row will list them.
        found.sort_unstable();
        found.into_iter().map(|(_, _, block)| block).collect()
    };
    (0..nodes).into_par_iter().step_by(TASK_ROWS).map(of_task).collect()
}

/// When each block was touched last, and how many were touched since.
struct Recent {
    /// Time of the last touch of each block.
    last: Vec<u32>,
    /// Sums over times at which some block was touched last (Fenwick 1994).
    tree: Vec<u32>,
    now: u32,
}

impl Recent {
    fn new(blocks: usize) -> Self {
        Recent { last: vec![NONE; blocks], tree: vec![0; 2 * blocks + 2], now: 0 }
    }

    /// Distinct blocks since the last touch of this one; nothing the first time.
    fn touch(&mut self, block: u32) -> Option<u32> {
        if self.now as usize + 1 >= self.tree.len() {
            self.compact();
        }
        let before = self.last[block as usize];
        let others = (before != NONE).then(|| self.sum(self.now) - self.sum(before + 1));
        if before != NONE {
            self.add(before, u32::MAX);
        }
        self.add(self.now, 1);
        self.last[block as usize] = self.now;
        self.now += 1;
        others
    }

    /// Times are numbered anew, with no gaps.
    fn compact(&mut self) {
        let mut live: Vec<(u32, u32)> = self
            .last
            .iter()
            .zip(0u32..)
            .filter(|(last, _)| **last != NONE)
            .map(|(&last, block)| (last, block))
            .collect();
        live.sort_unstable();
        self.tree.fill(0);
        self.now = 0;
        for (_, block) in live {
            self.add(self.now, 1);
            self.last[block as usize] = self.now;
            self.now += 1;
        }
    }

    fn add(&mut self, time: u32, number: u32) {
        let mut at = time as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(number);
            at += at & at.wrapping_neg();
        }
    }

    /// Over all times before this one.
    fn sum(&self, time: u32) -> u32 {
        let (mut at, mut sum) = (time as usize, 0u32);
        while at > 0 {
            sum = sum.wrapping_add(self.tree[at]);
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use proptest::prelude::*;

    use super::*;
    use crate::methods::tests::csr;

    /// A cache that throws out what was used longest ago, block by block.
    fn simulated(walk: &Walk<'_>, rows_per_block: u64, blocks: u64) -> u64 {
        let (mut last, mut held, mut now, mut misses) = (HashMap::new(), BTreeMap::new(), 0, 0);
        for row in 0..walk.incoming.len() {
            let mut sources = Vec::new();
            walk.for_each_edge(row..row + 1, |_, far| sources.push(walk.number(far)));
            sources.sort_unstable();
            for block in sources.into_iter().map(|source| u64::from(source) / rows_per_block) {
                now += 1;
                let before = last.insert(block, now).and_then(|before| held.remove(&before));
                misses += u64::from(before.is_none());
                held.insert(now, block);
                if held.len() as u64 > blocks {
                    held.pop_first();
                }
            }
        }
        misses
    }

    /// Edges inside communities mostly, some from hubs: drawn from a seed.
    fn drawn(nodes: u32, degree: u32, seed: u64) -> Vec<(u32, u32)> {
        let draw =
            |at: u64, below: u32| ((mix_bits(seed ^ mix_bits(at)) >> 33) % u64::from(below)) as u32;
        let edge = |at: u64| {
            let target = draw(3 * at, nodes);
            let source = match at % 10 {
                0..6 => (target / 64 * 64 + draw(3 * at + 1, 64)).min(nodes - 1),
                6..8 => draw(3 * at + 1, nodes / 100),
                _ => draw(3 * at + 1, nodes),
            };
            (source, target)
        };
        (0..u64::from(nodes * degree)).map(edge).collect()
    }

    #[test]
    fn graphs_without_edges() {
        for nodes in [0, 1, 7] {
            let csr = csr(nodes, &[]);
            let curve =
                MissCurve::from_walk(&Walk::new(csr.incoming.rows(), csr.outgoing.rows(), None), 1);
            assert_eq!((curve.distinct(), curve.misses(4)), (0, 0.0));
        }
        let loops = csr(3, &[(0, 0), (2, 2)]);
        assert_eq!(
            MissCurve::from_walk(&Walk::new(loops.incoming.rows(), loops.outgoing.rows(), None), 1)
                .misses(0),
            0.0
        );
    }

    /// Within a tenth of the whole simulation where blocks are sampled: one in 1.2 to one in 5.
    #[test]
    fn a_sample_is_within_a_tenth() {
        for (nodes, degree) in [(20_000, 8), (60_000, 6)] {
            let edges = drawn(nodes, degree, 5);
            let csr = csr(nodes as usize, &edges);
            let shuffled = crate::methods::random::order(nodes as usize, 9);
            for order in [None, Some(shuffled.as_slice())] {
                let walk = Walk::new(csr.incoming.rows(), csr.outgoing.rows(), order);
                for rows_per_block in [1, 2] {
                    let curve = MissCurve::from_walk(&walk, rows_per_block);
                    assert!(curve.share < 1.0 || nodes as u64 / rows_per_block <= SAMPLED_BLOCKS);
                    for blocks in [64, 512, 2048] {
                        let (found, expected) =
                            (curve.misses(blocks), simulated(&walk, rows_per_block, blocks) as f64);
                        assert!(
                            (found / expected - 1.0).abs() < 0.1,
                            "{nodes} nodes, {rows_per_block} rows a block, {blocks} blocks: \
                             {found} of {expected}"
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn small_graphs_are_exact(edges in prop::collection::vec((0u32..40, 0u32..40), 0..400), blocks in 0u64..40, rows_per_block in 1u64..5, seed in 0u64..9) {
            let csr = csr(40, &edges);
            let order = crate::methods::random::order(40, seed);
            for order in [None, Some(order.as_slice())] {
                let walk = Walk::new(csr.incoming.rows(), csr.outgoing.rows(), order);
                prop_assert_eq!(MissCurve::from_walk(&walk, rows_per_block).misses(blocks), simulated(&walk, rows_per_block, blocks) as f64);
            }
        }
    }
}
