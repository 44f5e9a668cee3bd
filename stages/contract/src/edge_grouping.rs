//! edge_grouping: edges grouped by one end, by a stable two-level counting sort; and the reverse,
//! the row of each edge.
//!
//! promises  the result of a stable sort, hence the same bytes for any number of threads
//! never     compares two edges; writes at random over more memory than a cache holds: the first
//!           level spreads edges over runs of nodes, the second sorts inside a run; allocates more
//!           than its result and one run for each thread: the first level writes edges where the
//!           result will be, because touching new memory costs more than all the sorting
//! limits    O(nodes + edges) time; 2^32 nodes, 2^40 edges
use std::ops::Range;

use rayon::prelude::*;

use crate::{
    kinds::csr::DirectionParts,
    mapped_file::zeros,
    progress::{Advance, advance_by_stride},
};

/// Most runs of nodes in the first level: their write positions, two each, fit the L1 cache.
const RUNS_MAX: usize = 256;
/// Edges below which one level is enough.
const SMALL: usize = 1 << 12;
/// Bits of the id in a packed edge; above them are 24 bits for the node's place in its run (2^32
/// nodes in 256 runs).
const ID_BITS: u32 = 40;

/// The end of each edge that is not grouped by.
#[derive(Clone, Copy)]
pub enum Others<'a> {
    /// One for each edge.
    Listed(&'a [u32]),
    /// Edges stand in the rows of these offsets, and the row is the end.
    Rows(&'a [u64]),
}

impl Others<'_> {
    /// Calls `visit` for each edge of a range, in order, with its position and that end.
    pub fn for_each_edge(self, range: Range<usize>, mut visit: impl FnMut(usize, u32)) {
        match self {
            Others::Listed(ends) => range.for_each(|at| visit(at, ends[at])),
            Others::Rows(offsets) => {
                let mut at = range.start;
                let mut row =
                    offsets.partition_point(|&offset| offset as usize <= at).saturating_sub(1);
                while at < range.end {
                    let end = range.end.min(offsets[row + 1] as usize);
                    (at..end).for_each(|at| visit(at, row as u32));
                    (at, row) = (at.max(end), row + 1);
                }
            }
        }
    }
}

/// Edges of one task, where each edge is handled by itself.
const TASK_EDGES: usize = 1 << 16;

/// The row of each edge.
pub fn rows_of_edges(offsets: &[u64]) -> Vec<u32> {
    let mut rows = zeros(offsets.last().map_or(0, |&edges| edges as usize));
    rows.par_chunks_mut(TASK_EDGES).enumerate().for_each(|(task, rows)| {
        let first = task * TASK_EDGES;
        Others::Rows(offsets)
            .for_each_edge(first..first + rows.len(), |at, row| rows[at - first] = row);
    });
    rows
}

/// Groups by `keys`, keeping the order of edges in each group. Without `ids` an edge's id is its
/// position. `parts` is overwritten, in the same memory if it fits. Half of the progress is
/// reported while edges are spread, half while they are sorted.
pub fn group(
    parts: &mut DirectionParts,
    nodes: usize,
    keys: &[u32],
    others: Others,
    ids: Option<&[u64]>,
    advance: Advance<'_>,
) {
    let edges = keys.len();
    if parts.edges.len() != edges || parts.offsets.len() != nodes + 1 {
        // The system gives zeroed pages to the thread that first writes them.
        *parts = DirectionParts {
            offsets: zeros(nodes + 1),
            neighbours: zeros(edges),
            edges: zeros(edges),
        };
    }
    let shift = if edges <= SMALL { 0 } else { run_shift(nodes) };
    let run_nodes = if edges <= SMALL { nodes.max(1) } else { 1 << shift };
    let runs = nodes.div_ceil(run_nodes).max(1);
    let run_of = |key: u32| if runs == 1 { 0 } else { (key >> shift) as usize };
    let chunk = edges.div_ceil(4 * rayon::current_num_threads()).max(SMALL);
    let of_chunk = |index: usize| index * chunk..edges.min((index + 1) * chunk);
    let counts: Vec<Vec<usize>> = (0..edges.div_ceil(chunk))
        .into_par_iter()
        .map(|index| {
            let mut counts = vec![0; runs];
            keys[of_chunk(index)].iter().for_each(|&key| counts[run_of(key)] += 1);
            counts
        })
        .collect();
    let neighbours = split_by_counts(&mut parts.neighbours, &counts, runs);
    let slots = split_by_counts(&mut parts.edges, &counts, runs);
    neighbours.into_par_iter().zip(slots).enumerate().for_each(|(index, (neighbours, slots))| {
        let mut heads: Vec<_> = neighbours
            .into_iter()
            .zip(slots)
            .map(|(neighbours, slots)| neighbours.iter_mut().zip(slots))
            .collect();
        others.for_each_edge(of_chunk(index), |at, other| {
            let (key, id) = (keys[at], ids.map_or(at as u64, |ids| ids[at]));
            let run = run_of(key);
            let place = (key as usize - run * run_nodes) as u64;
            let (neighbour, slot) =
                heads[run].next().expect("a run has a place for each edge that was counted");
            (*neighbour, *slot) = (other, place << ID_BITS | id);
        });
        advance(of_chunk(index).len() as u64 / 2);
    });
    let run_sizes: Vec<usize> =
        (0..runs).map(|run| counts.iter().map(|counts| counts[run]).sum()).collect();
    sort_runs(parts, run_nodes, &run_sizes, advance);
}

/// Nodes of a run as a power of two, so that there are at most `RUNS_MAX` runs.
fn run_shift(nodes: usize) -> u32 {
    let per_run = nodes.div_ceil(RUNS_MAX).max(1);
    per_run.next_power_of_two().trailing_zeros()
}

/// For each chunk its slice of each run: runs follow each other, and in a run the chunks.
fn split_by_counts<'a, T>(
    mut rest: &'a mut [T],
    counts: &[Vec<usize>],
    runs: usize,
) -> Vec<Vec<&'a mut [T]>> {
    let mut heads: Vec<Vec<&'a mut [T]>> =
        counts.iter().map(|_| Vec::with_capacity(runs)).collect();
    for run in 0..runs {
        for (chunk, counts) in counts.iter().enumerate() {
            let (head, tail) = rest.split_at_mut(counts[run]);
            heads[chunk].push(head);
            rest = tail;
        }
    }
    heads
}

/// Cuts a slice into consecutive pieces of these sizes.
pub fn split_by_sizes<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (piece, tail) = rest.split_at_mut(size);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Second level: sorts each run of nodes by counting, from a copy that fits a cache unless a row of
/// the run is heavy.
fn sort_runs(
    parts: &mut DirectionParts,
    run_nodes: usize,
    run_sizes: &[usize],
    advance: Advance<'_>,
) {
    let nodes = parts.offsets.len() - 1;
    parts.offsets[0] = 0;
    let node_sizes: Vec<usize> = (0..run_sizes.len())
        .map(|run| run_nodes.min(nodes.saturating_sub(run * run_nodes)))
        .collect();
    let starts: Vec<usize> =
        run_sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let offsets = split_by_sizes(&mut parts.offsets[1..], &node_sizes);
    let neighbours = split_by_sizes(&mut parts.neighbours, run_sizes);
    let edges = split_by_sizes(&mut parts.edges, run_sizes);
    let work: Vec<_> = offsets.into_iter().zip(neighbours).zip(edges).enumerate().collect();
    work.into_par_iter().for_each_init(
        <(Vec<u32>, Vec<u64>)>::default,
        |(others, slots), (run, ((offsets, neighbours), edges))| {
            others.clear();
            others.extend_from_slice(neighbours);
            slots.clear();
            slots.extend_from_slice(edges);
            let mut heads = vec![0usize; offsets.len()];
            slots.iter().for_each(|slot| heads[(slot >> ID_BITS) as usize] += 1);
            let mut sum = 0;
            for (head, offset) in heads.iter_mut().zip(offsets.iter_mut()) {
                sum += std::mem::replace(head, sum);
                *offset = (starts[run] + sum) as u64;
            }
            for (&other, &slot) in others.iter().zip(slots.iter()) {
                let head = &mut heads[(slot >> ID_BITS) as usize];
                neighbours[*head] = other;
                edges[*head] = slot & ((1 << ID_BITS) - 1);
                *head += 1;
            }
            advance(edges.len() as u64 / 2);
        },
    );
}

/// Sorts each row of a typed graph by type, which is indexed by edge id; equal types keep their
/// order. Reports rows.
pub fn sort_rows_by_type(parts: &mut DirectionParts, types: &[u16], advance: Advance<'_>) {
    let sizes: Vec<usize> =
        parts.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect();
    let neighbours = split_by_sizes(&mut parts.neighbours, &sizes);
    let edges = split_by_sizes(&mut parts.edges, &sizes);
    neighbours.into_par_iter().zip(edges).enumerate().for_each(|(row, (neighbours, edges))| {
        let mut slots: Vec<(u16, u32, u64)> = edges
            .iter()
            .zip(neighbours.iter())
            .map(|(&edge, &node)| (types[edge as usize], node, edge))
            .collect();
        slots.sort_unstable();
        for (at, (_, node, edge)) in slots.into_iter().enumerate() {
            (neighbours[at], edges[at]) = (node, edge);
        }
        advance_by_stride(advance, row);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_has_the_row_that_lists_it() {
        assert!(rows_of_edges(&[0]).is_empty() && rows_of_edges(&[0, 0, 0]).is_empty());
        assert_eq!(rows_of_edges(&[0, 0, 2, 2, 3, 3]), [1, 1, 3]);
        let offsets: Vec<u64> = (0..2000u64).map(|row| row * row / 10).collect();
        let slow: Vec<u32> = offsets
            .windows(2)
            .zip(0..)
            .flat_map(|(pair, row)| (pair[0]..pair[1]).map(move |_| row))
            .collect();
        assert!(rows_of_edges(&offsets) == slow && slow.len() > 3 * TASK_EDGES);
    }
}
