//! permute: renumbers a csr.
//!
//! Rows of sources are written under their new numbers in their old order; grouping them by target
//! gives in-edges with ascending sources, and grouping these by source gives out-edges. These are
//! counting sorts without comparisons: sorting each row by itself takes three times as long.
//!
//! promises  in each new row neighbours ascend (typed: types first), then edge ids; the same bytes
//!           for any number of threads
//! limits    O(nodes + edges) time; beside the new csr 4 bytes for each edge for weights and 2 for
//!           types, while they are sorted
use std::ops::Range;

use prefetch_index::prefetch_index;
use rayon::prelude::*;
use warploom_contract::{
    edge_grouping::{Others, group, sort_rows_by_type},
    kinds::{
        csr::{Csr, CsrParts, Direction, DirectionParts},
        permutation::inverse,
    },
    mapped_file::zeros,
    progress::{Advance, Phase, Progress, Silence},
};

/// Least edges of the rows of one task, but for the last.
const TASK_EDGES: u64 = 1 << 15;
/// Prefetch distances in rows: of a row's offset, and of its slots.
const STARTS_AHEAD: usize = 16;
const SLOTS_AHEAD: usize = 8;

/// Renumbers a csr.
pub fn permute(csr: &Csr, new_of_old: &[u32]) -> CsrParts {
    permute_with_progress(csr, new_of_old, &Silence)
}

/// `permute` with progress.
pub fn permute_with_progress(csr: &Csr, new_of_old: &[u32], progress: &dyn Progress) -> CsrParts {
    let renumbering = Phase::begin(progress, "renumbering", csr.edges() as u64, "edges").passes(3);
    let advance = |edges| renumbering.add(edges);
    let old_of_new = inverse(new_of_old);
    let mut outgoing = permute_rows(&csr.outgoing, new_of_old, &old_of_new, &advance);
    let mut incoming = DirectionParts::default();
    group(
        &mut incoming,
        csr.nodes(),
        &outgoing.neighbours,
        Others::Rows(&outgoing.offsets),
        Some(&outgoing.edges),
        &advance,
    );
    group(
        &mut outgoing,
        csr.nodes(),
        &incoming.neighbours,
        Others::Rows(&incoming.offsets),
        Some(&incoming.edges),
        &advance,
    );
    drop(renumbering);
    let types = csr.types.as_ref().map(|types| {
        let by_edge = index_by_edge_id(csr, types);
        let sorting =
            Phase::begin(progress, "sorting rows by relation", csr.nodes() as u64, "rows")
                .passes(2);
        let advance = |rows| sorting.add(rows);
        sort_rows_by_type(&mut incoming, &by_edge, &advance);
        sort_rows_by_type(&mut outgoing, &by_edge, &advance);
        arrange_by_slot(&incoming, &by_edge)
    });
    let weights = csr
        .weights
        .as_ref()
        .map(|weights| arrange_by_slot(&incoming, &index_by_edge_id(csr, weights)));
    let graphs = csr
        .graphs
        .as_ref()
        .map(|graphs| old_of_new.iter().map(|&old| graphs[old as usize]).collect());
    CsrParts { incoming, outgoing, weights, types, graphs }
}

/// Values in in-edge order, indexed by edge id.
fn index_by_edge_id<T: Copy + Default>(csr: &Csr, values: &[T]) -> Vec<T> {
    let mut by_edge = zeros(values.len());
    values
        .iter()
        .zip(csr.incoming.edges.iter())
        .for_each(|(&value, &edge)| by_edge[edge as usize] = value);
    by_edge
}

fn arrange_by_slot<T: Copy + Send + Sync>(incoming: &DirectionParts, by_edge: &[T]) -> Vec<T> {
    incoming.edges.par_iter().map(|&edge| by_edge[edge as usize]).collect()
}

/// Rows in their new order with new numbers, edges of each in their old order.
fn permute_rows(
    old: &Direction,
    new_of_old: &[u32],
    old_of_new: &[u32],
    advance: Advance<'_>,
) -> DirectionParts {
    let mut offsets = Vec::with_capacity(old_of_new.len() + 1);
    let mut end = 0;
    offsets.push(end);
    for &row in old_of_new {
        end += old.offsets[row as usize + 1] - old.offsets[row as usize];
        offsets.push(end);
    }
    let (far, ids): (&[u32], &[u64]) = (&old.neighbours, &old.edges);
    let (mut neighbours, mut edges) = (zeros(far.len()), zeros(ids.len()));
    split_tasks(&offsets, &mut neighbours, &mut edges).into_par_iter().for_each(
        |(rows, neighbours, edges)| {
            let mut at = 0;
            for row in rows.clone() {
                prefetch_rows(old, &old_of_new[row..rows.end]);
                let source = old_of_new[row] as usize;
                for slot in old.offsets[source] as usize..old.offsets[source + 1] as usize {
                    (neighbours[at], edges[at]) = (new_of_old[far[slot] as usize], ids[slot]);
                    at += 1;
                }
            }
            advance(neighbours.len() as u64);
        },
    );
    DirectionParts { offsets, neighbours, edges }
}

/// Old rows are scattered: they are prefetched while others are copied.
fn prefetch_rows(old: &Direction, coming: &[u32]) {
    if let Some(&row) = coming.get(STARTS_AHEAD) {
        prefetch_index(&old.offsets[..], row as usize);
    }
    if let Some(&row) = coming.get(SLOTS_AHEAD) {
        let slot = old.offsets[row as usize] as usize;
        prefetch_index(&old.neighbours[..], slot);
        prefetch_index(&old.edges[..], slot);
    }
}

/// Splits rows into tasks, each with its output slices.
fn split_tasks<'a>(
    offsets: &[u64],
    mut neighbours: &'a mut [u32],
    mut edges: &'a mut [u64],
) -> Vec<(Range<usize>, &'a mut [u32], &'a mut [u64])> {
    let (rows, mut first, mut tasks) = (offsets.len() - 1, 0, Vec::new());
    while first < rows {
        let last = (first
            + 1
            + offsets[first + 1..=rows].partition_point(|&end| end < offsets[first] + TASK_EDGES))
        .min(rows);
        let count = (offsets[last] - offsets[first]) as usize;
        tasks.push((
            first..last,
            neighbours.split_off_mut(..count).unwrap_or_default(),
            edges.split_off_mut(..count).unwrap_or_default(),
        ));
        first = last;
    }
    tasks
}
