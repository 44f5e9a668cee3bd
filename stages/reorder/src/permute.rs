//! Renumbering a csr.
//!
//! promises  in each new row neighbours ascend (typed: types first), then edge ids; the same bytes for any number of threads
//! never     holds more than the new csr, the types by edge id of a typed graph, and for each thread a row
//! limits    O(edges log degree); rows of less than 2^32 edges
use std::ops::Range;

use prefetch_index::prefetch_index;
use rayon::prelude::*;
use warploom_contract::{
    kinds::{
        csr::{Csr, CsrParts, Direction, DirectionParts},
        permutation::inverse,
    },
    mapped::zeros,
};

/// Rows that one task writes have at least so many edges together, but for the last.
const TASK_EDGES: u64 = 1 << 15;
/// Rows ahead of which the start of one is asked for, and then what stands there.
const STARTS_AHEAD: usize = 16;
const SLOTS_AHEAD: usize = 8;

/// The csr under new numbers.
pub fn permute(csr: &Csr, new_of_old: &[u32]) -> CsrParts {
    let numbers = Numbers { new_of_old, old_of_new: &inverse(new_of_old) };
    // Types by edge id, for the outgoing side, whose slots do not carry them.
    let type_of_edge = csr.types.as_ref().map(|types| {
        let mut by_edge = vec![0u16; types.len()];
        types.iter().zip(csr.incoming.edges.iter()).for_each(|(&kind, &edge)| by_edge[edge as usize] = kind);
        by_edge
    });
    let mut incoming = numbers.room(&csr.incoming);
    let mut weights = csr.weights.as_ref().map(|weights| zeros::<f32>(weights.len()));
    let mut types = csr.types.as_ref().map(|types| zeros::<u16>(types.len()));
    let old = Old { direction: &csr.incoming, weights: csr.weights.as_deref(), types: csr.types.as_deref(), type_of_edge: type_of_edge.as_deref() };
    numbers.fill(old, cut(&mut incoming, weights.as_deref_mut(), types.as_deref_mut()));
    let mut outgoing = numbers.room(&csr.outgoing);
    numbers.fill(Old { direction: &csr.outgoing, weights: None, types: None, ..old }, cut(&mut outgoing, None, None));
    let graphs = csr.graphs.as_ref().map(|graphs| numbers.old_of_new.iter().map(|&old| graphs[old as usize]).collect());
    CsrParts { incoming, outgoing, weights, types, graphs }
}

/// What rows are made from: weights and types stand in the slots of the incoming side alone.
#[derive(Clone, Copy)]
struct Old<'a> {
    direction: &'a Direction,
    weights: Option<&'a [f32]>,
    types: Option<&'a [u16]>,
    type_of_edge: Option<&'a [u16]>,
}

/// New rows that one task writes.
struct Task<'a> {
    rows: Range<usize>,
    neighbours: &'a mut [u32],
    edges: &'a mut [u64],
    weights: Option<&'a mut [f32]>,
    types: Option<&'a mut [u16]>,
}

#[derive(Clone, Copy)]
struct Numbers<'a> {
    new_of_old: &'a [u32],
    old_of_new: &'a [u32],
}

impl Numbers<'_> {
    /// Offsets of the new rows, and room for what stands in them.
    fn room(self, old: &Direction) -> DirectionParts {
        let mut offsets = Vec::with_capacity(self.old_of_new.len() + 1);
        let mut end = 0;
        offsets.push(end);
        for &row in self.old_of_new {
            end += old.offsets[row as usize + 1] - old.offsets[row as usize];
            offsets.push(end);
        }
        DirectionParts { offsets, neighbours: zeros(old.neighbours.len()), edges: zeros(old.edges.len()) }
    }

    fn fill(self, old: Old<'_>, tasks: Vec<Task<'_>>) {
        tasks.into_par_iter().for_each_init(Vec::new, |keys, mut task| {
            let mut at = 0;
            for row in task.rows.clone() {
                self.ask_ahead(old.direction, row, task.rows.end);
                let row = self.old_of_new[row] as usize;
                let first = old.direction.offsets[row] as usize;
                self.sort(old, first..old.direction.offsets[row + 1] as usize, keys);
                for &key in keys.iter() {
                    let slot = first + (key as u32) as usize;
                    task.neighbours[at] = (key >> 32) as u32;
                    task.edges[at] = old.direction.edges[slot];
                    if let (Some(to), Some(from)) = (&mut task.weights, old.weights) {
                        to[at] = from[slot];
                    }
                    if let (Some(to), Some(from)) = (&mut task.types, old.types) {
                        to[at] = from[slot];
                    }
                    at += 1;
                }
            }
        });
    }

    /// Old rows lie anywhere: memory is asked for them while others are sorted.
    fn ask_ahead(self, old: &Direction, row: usize, end: usize) {
        if row + STARTS_AHEAD < end {
            prefetch_index(&old.offsets, self.old_of_new[row + STARTS_AHEAD] as usize);
        }
        if row + SLOTS_AHEAD < end {
            let slot = old.offsets[self.old_of_new[row + SLOTS_AHEAD] as usize] as usize;
            prefetch_index(&old.neighbours, slot);
            prefetch_index(&old.edges, slot);
        }
    }

    /// The slots of a row in their new order: new number of the neighbour above the place in the old row. Slots of one neighbour stood by
    /// edge id before, and those of one type side by side, so that only slots of one type have to be sorted.
    fn sort(self, old: Old<'_>, slots: Range<usize>, keys: &mut Vec<u64>) {
        keys.clear();
        let neighbours = &old.direction.neighbours[slots.clone()];
        keys.extend(neighbours.iter().zip(0u64..).map(|(&far, place)| u64::from(self.new_of_old[far as usize]) << 32 | place));
        let Some(types) = old.type_of_edge else { return keys.sort_unstable() };
        let edges = &old.direction.edges[slots];
        let mut rest = keys.as_mut_slice();
        for run in edges.chunk_by(|&one, &next| types[one as usize] == types[next as usize]) {
            let (of_type, others) = rest.split_at_mut(run.len());
            of_type.sort_unstable();
            rest = others;
        }
    }
}

/// Runs of rows with what they are written to.
fn cut<'a>(new: &'a mut DirectionParts, mut weights: Option<&'a mut [f32]>, mut types: Option<&'a mut [u16]>) -> Vec<Task<'a>> {
    let (rows, offsets) = (new.offsets.len() - 1, &new.offsets);
    let (mut neighbours, mut edges) = (new.neighbours.as_mut_slice(), new.edges.as_mut_slice());
    let (mut tasks, mut first) = (Vec::new(), 0);
    while first < rows {
        let last = (first + 1 + offsets[first + 1..=rows].partition_point(|&end| end < offsets[first] + TASK_EDGES)).min(rows);
        let count = (offsets[last] - offsets[first]) as usize;
        tasks.push(Task {
            rows: first..last,
            neighbours: neighbours.split_off_mut(..count).unwrap_or_default(),
            edges: edges.split_off_mut(..count).unwrap_or_default(),
            weights: weights.as_mut().and_then(|rest| rest.split_off_mut(..count)),
            types: types.as_mut().and_then(|rest| rest.split_off_mut(..count)),
        });
        first = last;
    }
    tasks
}
