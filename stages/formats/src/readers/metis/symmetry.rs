//! Whether every edge stands in the lists of both its ends, as often and with the same weights.
//!
//! how     for each vertex two sums of hashes are equal: over its list, and over the entries of
//!         other lists that name it. O(E), 8 bytes a vertex, whatever memory the edges take; only
//!         where sums differ the two lists are made and compared
//! limits  lists that differ pass with a chance of one in 2^64 a vertex
use super::neighbour_lists::NeighbourLists;
use crate::{
    out_of_core::{self, Edge},
    read_error::Read,
};
use std::cmp::Ordering;

/// A pair whose two lists differ: the first in the file that lacks something.
#[derive(Debug, PartialEq)]
pub struct MissingReverse {
    /// Whose list is read.
    pub vertex: u32,
    /// The other end.
    pub neighbour: u32,
    /// Weights (1 without weights) in the list of `vertex`, ascending.
    pub own: Vec<f32>,
    /// Those in the list of `neighbour`.
    pub other: Vec<f32>,
}

type NeighbourEntry = (u32, f32);

fn order(a: &NeighbourEntry, b: &NeighbourEntry) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

/// The first vertex whose list differs from what the others say of it; none: all is well.
pub fn check(lists: &NeighbourLists) -> Read<Option<MissingReverse>> {
    let mut sums = vec![0u64; lists.vertices as usize];
    out_of_core::for_each_edge(
        &lists.edges,
        lists.spilled.as_ref(),
        |_, Edge { source, target, weight, .. }| {
            let (own, other) = (hash(target, weight), hash(source, weight));
            sums[source as usize] = sums[source as usize].wrapping_add(own);
            sums[target as usize] = sums[target as usize].wrapping_sub(other);
        },
    )?;
    let Some(vertex) = sums.iter().position(|&sum| sum != 0) else { return Ok(None) };
    first_amiss(lists, vertex as u32)
}

/// An entry of a list: SplitMix64 of its 64 bits.
fn hash(neighbour: u32, weight: f32) -> u64 {
    let mut mixed = (u64::from(neighbour) << 32 | u64::from(weight.to_bits()))
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The smallest neighbour on which the list of a vertex and those of the others differ.
fn first_amiss(lists: &NeighbourLists, vertex: u32) -> Read<Option<MissingReverse>> {
    let (mut own, mut other) = (Vec::new(), Vec::new());
    out_of_core::for_each_edge(&lists.edges, lists.spilled.as_ref(), |_, edge| {
        if edge.source == vertex {
            own.push((edge.target, edge.weight));
        }
        if edge.target == vertex {
            other.push((edge.source, edge.weight));
        }
    })?;
    own.sort_unstable_by(order);
    other.sort_unstable_by(order);
    let same = own.iter().zip(&other).take_while(|(a, b)| order(a, b).is_eq()).count();
    let neighbour = match (own.get(same), other.get(same)) {
        (None, None) => return Ok(None),
        (Some(one), None) | (None, Some(one)) => one.0,
        (Some(one), Some(two)) => one.0.min(two.0),
    };
    let of = |list: &[NeighbourEntry]| {
        list.iter().filter(|entry| entry.0 == neighbour).map(|entry| entry.1).collect()
    };
    Ok(Some(MissingReverse { vertex, neighbour, own: of(&own), other: of(&other) }))
}
