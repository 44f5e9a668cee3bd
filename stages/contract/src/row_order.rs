//! row_order: what an order of the nodes is worth for a sum over neighbours. One definition, for
//! the profile of a graph and for the figures before and after of a permutation; the order by
//! degree, for renumbering; and the order in which a GPU takes rows.
//!
//! promises  exact, and the same bits for any number of threads
//! limits    O(edges) time and nothing that grows, but for orders of rows: 16 bytes a row
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::kinds::csr::Rows;

/// Figures of one order of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderFigures {
    /// Mean over all edges of |source - target| (GNNAdvisor's AES, formula 3-3); 0 without edges.
    pub aes: f64,
    /// Largest |source - target|.
    pub bandwidth: u64,
    /// Distinct 128-byte lines of a table with 16 f32 columns that 32 consecutive edges touch, in
    /// the mean: all in-edges row after row, as the csr lists them, cut into groups of 32 (the last
    /// may be shorter); in each, how many values of source / 2, rounded down.
    pub lines_per_32_edges: f64,
}

/// The GNNAdvisor paper's rule with its numbers (section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AesRule {
    /// sqrt(AES)
    pub left: f64,
    /// floor(sqrt(nodes) / 100)
    pub right: f64,
    /// Whether left > right.
    pub worth_it: bool,
}

/// Rows of 16 f32 values in a line of 128 bytes.
const ROWS_PER_LINE: u32 = 2;
const EDGES_PER_GROUP: usize = 32;
/// Rows from which on they may not stay in the L2 of a GPU, so that near rows stay beside each
/// other. Measured in 2026-11-29-nvidia-h200-walked-order.
const WINDOWED_ROWS: usize = 1 << 16;
/// Rows of a window: about as many as a processor has in flight.
const WINDOW_ROWS: u64 = 256;
/// A row of more edges than the mean is taken out of its window, but none of fewer than these.
const SORTED_ABOVE_LEAST: u64 = 16;
/// Rows that one task looks at, at least.
const ROWS_PER_TASK: usize = 1 << 12;

/// Figures of the in-edges as they are numbered.
pub fn measure(incoming: Rows<'_>) -> OrderFigures {
    let spans = (0..incoming.len()).into_par_iter().with_min_len(ROWS_PER_TASK).map(|node| {
        incoming.row(node).iter().fold((0u128, 0u64), |(sum, most), &source| {
            let span = u64::from(source.abs_diff(node as u32));
            (sum + u128::from(span), most.max(span))
        })
    });
    let (sum, bandwidth) = spans.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    let edges = incoming.neighbours.len();
    OrderFigures {
        aes: if edges == 0 { 0.0 } else { sum as f64 / edges as f64 },
        bandwidth,
        lines_per_32_edges: lines_per_group(incoming.neighbours),
    }
}

/// Sum of |source - target| over all edges that are no self loops, and how many these are.
pub fn distances(incoming: Rows<'_>) -> (u128, u64) {
    let of_row = |node: usize| {
        let far = incoming.row(node).iter().filter(|&&source| source as usize != node);
        far.fold((0u128, 0u64), |(sum, count), &source| {
            (sum + u128::from(source.abs_diff(node as u32)), count + 1)
        })
    };
    (0..incoming.len())
        .into_par_iter()
        .with_min_len(ROWS_PER_TASK)
        .map(of_row)
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
}

/// Nodes by degree, falling unless told otherwise; nodes of the same degree stand by number. Takes
/// 16 bytes a node on the way: pairs that lie in one array are sorted faster than nodes whose
/// degrees are looked up.
pub fn order_by_degree(
    nodes: usize,
    degree_of: impl Fn(u32) -> u64 + Sync,
    ascending: bool,
) -> Vec<u32> {
    let key = |degree: u64| if ascending { degree } else { !degree };
    let mut pairs: Vec<(u64, u32)> =
        (0..nodes as u32).into_par_iter().map(|node| (key(degree_of(node)), node)).collect();
    pairs.par_sort_unstable();
    pairs.into_par_iter().map(|(_, node)| node).collect()
}

/// The order in which a GPU takes rows: those of many edges first, because all else would wait for
/// them; the others near their neighbours, because these read the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WalkOrder {
    /// Consecutive rows within which those with most edges come first.
    pub window_rows: u64,
    /// Rows of more edges come before all windows, those with most edges first.
    pub sorted_above: u64,
}

impl WalkOrder {
    /// Rows by falling degree.
    pub fn by_degree(rows: usize) -> Self {
        WalkOrder { window_rows: rows as u64, sorted_above: 0 }
    }

    /// The order for a graph of so many rows and edges.
    pub fn choose(rows: usize, edges: u64) -> Self {
        if rows < WINDOWED_ROWS {
            return WalkOrder::by_degree(rows);
        }
        let sorted_above = (edges / rows as u64).max(SORTED_ABOVE_LEAST);
        WalkOrder { window_rows: WINDOW_ROWS, sorted_above }
    }

    /// So many rows in this order; rows of equal degree ascend.
    pub fn sort(self, rows: usize, degree_of: impl Fn(u32) -> u64 + Sync) -> Vec<u32> {
        // Pairs are sorted faster than rows whose degrees are looked up.
        let pairs = (0..rows as u32).into_par_iter().map(|row| (!degree_of(row), row));
        let is_long = |pair: &(u64, u32)| !pair.0 > self.sorted_above;
        let (mut pairs, mut short) = pairs.partition::<Vec<_>, Vec<_>, _>(is_long);
        pairs.par_sort_unstable();
        let window = (self.window_rows as usize).max(1);
        if window < short.len() {
            short.par_chunks_mut(window).for_each(|window| window.sort_unstable());
        } else {
            short.par_sort_unstable();
        }
        pairs.append(&mut short);
        pairs.into_par_iter().map(|(_, row)| row).collect()
    }
}

fn lines_per_group(sources: &[u32]) -> f64 {
    if sources.is_empty() {
        return 0.0;
    }
    let distinct = |group: &[u32]| {
        let mut lines = [0u32; EDGES_PER_GROUP];
        let lines = &mut lines[..group.len()];
        lines.iter_mut().zip(group).for_each(|(line, source)| *line = source / ROWS_PER_LINE);
        lines.sort_unstable();
        1 + lines.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
    };
    let groups = sources.len().div_ceil(EDGES_PER_GROUP);
    sources
        .par_chunks(EDGES_PER_GROUP)
        .with_min_len(ROWS_PER_TASK / EDGES_PER_GROUP)
        .map(distinct)
        .sum::<u64>() as f64
        / groups as f64
}

/// The GNNAdvisor paper's rule (section 3.3.1): reorder when sqrt(AES) > floor(sqrt(nodes) / 100).
pub fn aes_rule(aes: f64, nodes: usize) -> AesRule {
    let (left, right) = (aes.sqrt(), ((nodes as f64).sqrt() / 100.0).floor());
    AesRule { left, right, worth_it: left > right }
}
