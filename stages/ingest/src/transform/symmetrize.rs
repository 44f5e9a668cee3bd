//! symmetrize: adds reverses until both directions of every pair have equally many edges.
//!
//! promises  of a edges u -> v and b edges v -> u both become max(a, b): the first min(a, b) are
//!           matched as reverses, and the k-th added edge has the weight of the k-th unmatched one;
//!           self loops stay; a second call adds nothing
//! how       the edges and their reverses, both sorted, are merged: no search, and the result is
//!           sorted
use super::sort::{EdgePayload, PIECE_EDGES, Part, SortedEdges, sort_stable};
use rayon::prelude::*;
use warploom_contract::progress::Advance;

pub fn symmetrize<C: EdgePayload>(sorted: SortedEdges<C>, advance: Advance<'_>) -> SortedEdges<C> {
    let mut reverse_carried = sorted.carried.clone();
    let mut reverse: Vec<u64> = sorted
        .keys
        .par_iter()
        .with_min_len(PIECE_EDGES)
        .map(|&key| sorted.layout.reverse(key))
        .collect();
    sort_stable(&mut reverse, Some(&mut reverse_carried), sorted.layout.bits(), advance);
    if reverse == sorted.keys {
        return sorted;
    }
    let pieces = sorted.pieces();
    // Reverses that sort before the first edge of a piece belong to the previous piece.
    let starts: Vec<usize> = pieces
        .iter()
        .enumerate()
        .map(|(at, piece)| {
            if at == 0 { 0 } else { reverse.partition_point(|&key| key < sorted.keys[piece.start]) }
        })
        .collect();
    let bounds: Vec<_> = pieces
        .iter()
        .enumerate()
        .map(|(at, piece)| {
            (piece.clone(), starts[at]..starts.get(at + 1).copied().unwrap_or(reverse.len()))
        })
        .collect();
    let reverses = List { keys: &reverse, carried: &reverse_carried };
    let edges = List { keys: &sorted.keys, carried: &sorted.carried };
    let parts = bounds
        .into_par_iter()
        .map(|(own, others)| {
            advance(own.len() as u64);
            merge_reverses(edges, own, reverses, others)
        })
        .collect();
    sorted.with_parts(parts)
}

#[derive(Clone, Copy)]
struct List<'a, C> {
    keys: &'a [u64],
    carried: &'a [C],
}

/// For each key: all its edges, then reverses beyond their number.
fn merge_reverses<C: EdgePayload>(
    edges: List<C>,
    own: std::ops::Range<usize>,
    reverses: List<C>,
    others: std::ops::Range<usize>,
) -> Part<C> {
    let mut part = Part::with_capacity(own.len() + others.len() / 2);
    let (mut at, mut other) = (own.start, others.start);
    while at < own.end || other < others.end {
        let key = match (edges.keys[..own.end].get(at), reverses.keys[..others.end].get(other)) {
            (Some(&one), Some(&two)) => one.min(two),
            (Some(&key), None) | (None, Some(&key)) => key,
            (None, None) => break,
        };
        while at < own.end && edges.keys[at] == key {
            part.push(key, edges.carried[at]);
            at += 1;
            // Its reverse, if it is listed.
            if other < others.end && reverses.keys[other] == key {
                other += 1;
            }
        }
        while other < others.end && reverses.keys[other] == key {
            part.push(key, reverses.carried[other]);
            other += 1;
        }
    }
    part
}
