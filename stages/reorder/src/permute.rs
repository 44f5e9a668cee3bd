//! Renumbering a csr.
//!
//! promises  in each new row neighbours ascend (typed: types first), then edge ids
//! limits    O(edges log degree)
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::{Csr, CsrParts, Direction, DirectionParts},
    permutation::inverse,
};

/// A slot on its way: type, neighbour, edge, weight bits.
type Slot = (u16, u32, u64, u32);

/// The csr under new numbers.
pub fn permute(csr: &Csr, new_of_old: &[u32]) -> CsrParts {
    let old_of_new = inverse(new_of_old);
    // Types by edge id, for the outgoing side, whose slots do not carry them.
    let type_of_edge = csr.types.as_ref().map(|types| {
        let mut by_edge = vec![0u16; types.len()];
        types.iter().zip(csr.incoming.edges.iter()).for_each(|(&kind, &edge)| by_edge[edge as usize] = kind);
        by_edge
    });
    let kind_of = |edge: u64| type_of_edge.as_ref().map_or(0, |types| types[edge as usize]);
    let in_slots = one_direction(&csr.incoming, new_of_old, &old_of_new, &kind_of, &|slot| csr.weights.as_ref().map_or(0, |weights| weights[slot].to_bits()));
    let out_slots = one_direction(&csr.outgoing, new_of_old, &old_of_new, &kind_of, &|_| 0);
    let weights = csr.weights.as_ref().map(|_| in_slots.1.par_iter().map(|slot| f32::from_bits(slot.3)).collect());
    let types = csr.types.as_ref().map(|_| in_slots.1.par_iter().map(|slot| slot.0).collect());
    let graphs = csr.graphs.as_ref().map(|graphs| old_of_new.iter().map(|&old| graphs[old as usize]).collect());
    CsrParts { incoming: parts_of(in_slots), outgoing: parts_of(out_slots), weights, types, graphs }
}

fn parts_of((offsets, slots): (Vec<u64>, Vec<Slot>)) -> DirectionParts {
    DirectionParts { offsets, neighbours: slots.par_iter().map(|slot| slot.1).collect(), edges: slots.par_iter().map(|slot| slot.2).collect() }
}

fn one_direction(
    direction: &Direction,
    new_of_old: &[u32],
    old_of_new: &[u32],
    kind_of: &(dyn Fn(u64) -> u16 + Sync),
    weight_of: &(dyn Fn(usize) -> u32 + Sync),
) -> (Vec<u64>, Vec<Slot>) {
    let old_range = |old: u32| direction.offsets[old as usize] as usize..direction.offsets[old as usize + 1] as usize;
    let mut offsets = Vec::with_capacity(old_of_new.len() + 1);
    offsets.push(0u64);
    for &old in old_of_new {
        offsets.push(offsets.last().copied().unwrap_or(0) + old_range(old).len() as u64);
    }
    let mut slots: Vec<Slot> = vec![(0, 0, 0, 0); direction.neighbours.len()];
    let mut rest = slots.as_mut_slice();
    let mut rows = Vec::with_capacity(old_of_new.len());
    for &old in old_of_new {
        let (row, tail) = rest.split_at_mut(old_range(old).len());
        rows.push((old, row));
        rest = tail;
    }
    rows.into_par_iter().with_min_len(1 << 10).for_each(|(old, row)| {
        for (at, slot) in old_range(old).enumerate() {
            let edge = direction.edges[slot];
            row[at] = (kind_of(edge), new_of_old[direction.neighbours[slot] as usize], edge, weight_of(slot));
        }
        row.sort_unstable();
    });
    (offsets, slots)
}
