//! cache: predicted cache misses of a walk over all in-edges, for every cache size at once.
//!
//! Stack distances of an LRU cache (Mattson et al. 1970), sampled as in SHARDS (Waldspurger et al.
//! 2015): blocks (rows of a table, or cache lines of several narrow rows) are sampled by a hash of
//! their number; between two accesses of a sampled block the distinct sampled blocks are counted. A
//! cache still holds a block if fewer others were accessed since than it has room for.
//!
//! promises  exact for graphs of few blocks, where all are sampled; the same bits for any number of
//!           threads
//! never     counts self loops: a row's own values are read apart from its sum; models rows that
//!           run concurrently, or streams beside the rows
//! limits    O(edges) time; 9 bytes for each node, and 8 for each sampled access: about 2^21, but
//!           all in graphs of up to 2^12 blocks, and all of a sampled hub
use rayon::prelude::*;
use warploom_contract::kinds::{csr::Rows, permutation::inverse};

use crate::methods::random::mix_bits;

/// About so many blocks are sampled: the error of the miss rate is then below a hundredth.
const SAMPLED_BLOCKS: u64 = 1 << 14;
/// About so many accesses are sampled in graphs with more blocks than `EXACT_BLOCKS`.
const SAMPLED_TOUCHES: u64 = 1 << 21;
/// Up to so many blocks all accesses are counted.
const EXACT_BLOCKS: u64 = 1 << 12;
/// Rows in one task.
const TASK_ROWS: usize = 1 << 12;
/// No block.
const NONE: u32 = u32::MAX;

/// A walk over all in-edges, row by row under some numbering.
pub struct Walk<'a> {
    incoming: Rows<'a>,
    outgoing: Rows<'a>,
    /// New number of each old one and back; none: the present numbers.
    numbers: Option<(&'a [u32], Vec<u32>)>,
}

impl<'a> Walk<'a> {
    /// A walk under the numbers of `new_of_old`, or the present ones.
    pub fn new(incoming: Rows<'a>, outgoing: Rows<'a>, new_of_old: Option<&'a [u32]>) -> Self {
        Walk { incoming, outgoing, numbers: new_of_old.map(|numbers| (numbers, inverse(numbers))) }
    }

    /// Nodes, and edges without self loops.
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

    /// Calls `visit` for each edge of a range of rows, in order.
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

/// Miss curve: misses by cache size.
pub struct MissCurve {
    /// Distinct blocks: each has one compulsory miss.
    distinct: u64,
    /// Stack distances, ascending: for each sampled access but the first of a block, the distinct
    /// sampled blocks since the last.
    between: Vec<u32>,
    /// Sampled share of the blocks.
    share: f64,
}

impl MissCurve {
    /// The miss curve of a walk with `rows_per_block` rows in a block.
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
        // Sampled blocks are numbered consecutively; indexed by old node number, so that each edge
        // needs one look-up.
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

    /// Misses of a cache of so many blocks.
    pub fn misses(&self, blocks: u64) -> f64 {
        let room = blocks as f64 * self.share;
        let beyond =
            self.between.len() - self.between.partition_point(|&others| f64::from(others) < room);
        self.distinct as f64 + beyond as f64 / self.share
    }

    /// Misses of an unlimited cache.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }
}

/// The share of the blocks to sample.
fn sampled_share(blocks: u64, touches: u64) -> f64 {
    if blocks <= EXACT_BLOCKS {
        return 1.0;
    }
    (SAMPLED_BLOCKS as f64 / blocks as f64)
        .min(SAMPLED_TOUCHES as f64 / touches.max(1) as f64)
        .clamp(EXACT_BLOCKS as f64 / 4.0 / blocks as f64, 1.0)
}

/// Sampled blocks in access order: in each row by ascending number.
fn sampled_touches(walk: &Walk<'_>, place: &[u32]) -> Vec<Vec<u32>> {
    let nodes = walk.incoming.len();
    let of_task = |first: usize| {
        let mut found: Vec<(usize, u32, u32)> = Vec::new();
        walk.for_each_edge(first..(first + TASK_ROWS).min(nodes), |row, far| {
            if place[far as usize] != NONE {
                found.push((row, walk.number(far), place[far as usize]));
            }
        });
        // The order in which a row will list them.
        found.sort_unstable();
        found.into_iter().map(|(_, _, block)| block).collect()
    };
    (0..nodes).into_par_iter().step_by(TASK_ROWS).map(of_task).collect()
}

/// The last access of each block, and the number of blocks accessed since.
struct Recent {
    /// Time of the last access of each block.
    last: Vec<u32>,
    /// Fenwick tree over the times of last accesses (Fenwick 1994).
    tree: Vec<u32>,
    now: u32,
}

impl Recent {
    fn new(blocks: usize) -> Self {
        Recent { last: vec![NONE; blocks], tree: vec![0; 2 * blocks + 2], now: 0 }
    }

    /// Distinct blocks since the last access of this one; none at its first access.
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

    /// Renumbers times without gaps.
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

    /// Sum over all times before this one.
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
