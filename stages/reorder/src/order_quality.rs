//! order_quality: locality metrics of an order, and the bytes that it is predicted to move.
//!
//! promises  the same bits for any number of threads
//! limits    O(edges log degree)
use rayon::prelude::*;
use warploom_contract::{
    kinds::{
        csr::Rows,
        permutation::{Moved, Standing},
    },
    progress::Advance,
    row_order,
    windows::windows,
};
use warploom_device::Facts;

use crate::cache::{MissCurve, Walk};

/// Row widths of predictions, in numbers of 4 bytes.
pub const WIDTHS: [u64; 5] = [16, 32, 64, 128, 256];
/// Bytes of a number.
const NUMBER_BYTES: u64 = 4;

/// Number of reports of `measure_standing`: distances and profile, windows, and each width on each
/// device.
pub fn figure_count(devices: &[Facts]) -> u64 {
    2 + (devices.len() * WIDTHS.len()) as u64
}

/// All figures of the present numbering, with predictions for each of these devices.
pub fn measure_standing(
    incoming: Rows<'_>,
    outgoing: Rows<'_>,
    typed: bool,
    devices: &[Facts],
    advance: Advance<'_>,
) -> Standing {
    let entries = incoming.neighbours.len() as u64 - incoming.repeats(typed);
    let walk = Walk::new(incoming, outgoing, None);
    let (order, profile) = (row_order::measure(incoming), profile(incoming, outgoing));
    advance(1);
    let windows = windows(incoming, entries);
    advance(1);
    Standing { order, profile, windows, predicted: predict_moved(&walk, devices, advance) }
}

/// Matrix profile: the sum over rows of the distance to the lowest smaller neighbour.
fn profile(incoming: Rows<'_>, outgoing: Rows<'_>) -> u64 {
    let lowest = |node: usize| {
        incoming.row(node).iter().chain(outgoing.row(node)).copied().min().unwrap_or(u32::MAX)
    };
    (0..incoming.len())
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|node| (node as u64).saturating_sub(u64::from(lowest(node))))
        .sum()
}

/// Predicted bytes that sums of every width move on every device.
fn predict_moved(walk: &Walk<'_>, devices: &[Facts], advance: Advance<'_>) -> Vec<Moved> {
    let (nodes, edges) = walk.size();
    let mut curves = Vec::new();
    let mut found = Vec::new();
    for device in devices {
        for columns in WIDTHS {
            let block = CacheBlock::new(device, columns);
            let known = curves.iter().position(|(rows, _)| *rows == block.rows);
            let at = known.unwrap_or_else(|| {
                curves.push((block.rows, MissCurve::from_walk(walk, block.rows)));
                curves.len() - 1
            });
            found.push(block.moved_bytes(nodes, edges, &curves[at].1));
            advance(1);
        }
    }
    found
}

/// The unit that a cache fetches: a line of several rows, or a row of several lines.
#[derive(Clone, Debug)]
pub struct CacheBlock<'a> {
    device: &'a Facts,
    columns: u64,
    /// Rows in a block.
    pub rows: u64,
    /// Bytes of a block.
    pub bytes: u64,
}

impl<'a> CacheBlock<'a> {
    /// The block for rows of so many numbers.
    pub fn new(device: &'a Facts, columns: u64) -> Self {
        let (line, row) = (device.cache.line_bytes.max(1), NUMBER_BYTES * columns.max(1));
        CacheBlock {
            device,
            columns,
            rows: (line / row).max(1),
            bytes: row.div_ceil(line).max(1) * line,
        }
    }

    /// Number of blocks that fit in the cache.
    pub fn blocks_in_cache(&self) -> u64 {
        self.device.cache.bytes / self.bytes
    }

    /// Bytes of rows that a walk fetches from memory.
    pub fn fetched_bytes(&self, curve: &MissCurve) -> f64 {
        curve.misses(self.blocks_in_cache()) * self.bytes as f64
    }

    fn moved_bytes(&self, nodes: u64, edges: u64, curve: &MissCurve) -> Moved {
        let row = NUMBER_BYTES * self.columns;
        // Offsets, neighbour ids and output rows: each moved once, through cache and memory.
        let streamed = NUMBER_BYTES * (nodes + 1 + edges) + row * nodes;
        let (memory_bytes, cache_bytes) =
            (streamed + self.fetched_bytes(curve) as u64, streamed + row * edges);
        Moved { device: self.device.name.clone(), columns: self.columns, memory_bytes, cache_bytes }
    }
}
