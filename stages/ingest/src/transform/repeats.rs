//! repeats: merges duplicate edges, and removes or adds self loops.
//!
//! promises  kept edges stay in order; weights are summed in float64, in file order
use super::{
    Duplicates,
    sort::{EdgePayload, ListedEdge, NOT_LISTED, Part, SortedEdges},
};
use rayon::prelude::*;
use std::ops::Range;
use warploom_contract::progress::Advance;

/// Removes every self loop.
pub fn drop_loops<C: EdgePayload>(sorted: SortedEdges<C>, advance: Advance<'_>) -> SortedEdges<C> {
    let one = |piece: Range<usize>| {
        advance(piece.len() as u64);
        let mut part = Part::with_capacity(piece.len());
        piece
            .filter(|&at| !sorted.layout.is_loop(sorted.keys[at]))
            .for_each(|at| part.push(sorted.keys[at], sorted.carried[at]));
        part
    };
    sorted.with_parts(sorted.pieces().into_par_iter().map(one).collect())
}

/// Merges edges with the same source, target and relation.
pub fn join_repeats<C: EdgePayload>(
    sorted: SortedEdges<C>,
    duplicates: Duplicates,
    advance: Advance<'_>,
) -> SortedEdges<C> {
    let repeated = || sorted.keys.par_windows(2).any(|pair| pair[0] == pair[1]);
    if duplicates == Duplicates::Keep || !repeated() {
        return sorted;
    }
    let one = |piece: Range<usize>| {
        advance(piece.len() as u64);
        let mut part = Part::with_capacity(piece.len());
        let mut start = piece.start;
        while start < piece.end {
            let key = sorted.keys[start];
            let same =
                sorted.keys[start..piece.end].iter().take_while(|&&other| other == key).count();
            part.push(key, C::join(&sorted.carried[start..start + same], duplicates));
            start += same;
        }
        part
    };
    sorted.with_parts(sorted.pieces().into_par_iter().map(one).collect())
}

impl EdgePayload for () {
    const ADDED: () = ();

    fn join(_: &[()], _: Duplicates) {}
}

impl EdgePayload for f32 {
    const ADDED: f32 = 1.0;

    fn join(same: &[f32], duplicates: Duplicates) -> f32 {
        joined_weight(same.iter().copied(), duplicates)
    }
}

/// The merged edge keeps the place of the first one, and so its features.
impl EdgePayload for ListedEdge {
    const ADDED: ListedEdge = ListedEdge { weight: 1.0, at: NOT_LISTED };

    fn join(same: &[ListedEdge], duplicates: Duplicates) -> ListedEdge {
        ListedEdge {
            weight: joined_weight(same.iter().map(|listed| listed.weight), duplicates),
            at: same[0].at,
        }
    }
}

/// The weight of merged edges; a sum beyond float32 saturates.
fn joined_weight(mut weights: impl ExactSizeIterator<Item = f32>, duplicates: Duplicates) -> f32 {
    match duplicates {
        Duplicates::Merge | Duplicates::Sum if weights.len() > 1 => {
            weights.map(f64::from).sum::<f64>().clamp(f64::from(f32::MIN), f64::from(f32::MAX))
                as f32
        }
        Duplicates::Keep | Duplicates::First | Duplicates::Merge | Duplicates::Sum => {
            weights.next().unwrap_or(1.0)
        }
        Duplicates::Min => weights.fold(f32::INFINITY, f32::min),
        Duplicates::Max => weights.fold(f32::NEG_INFINITY, f32::max),
    }
}

/// Nodes in one task.
const NODES_AT_ONCE: u32 = 1 << 14;

/// Gives every node without a self loop one of weight 1; for graphs without relations.
pub fn add_loops<C: EdgePayload>(sorted: SortedEdges<C>) -> SortedEdges<C> {
    let layout = sorted.layout;
    let first_edge =
        |node: u64| sorted.keys.partition_point(|&key| u64::from(layout.source(key)) < node);
    let one = |first: u32| {
        let last = first.saturating_add(NODES_AT_ONCE).min(sorted.nodes);
        let mut at = first_edge(u64::from(first));
        let end = first_edge(u64::from(last));
        let mut part = Part::with_capacity(end - at + (last - first) as usize);
        for node in first..last {
            let here = layout.key(node, node, 0);
            while at < end && sorted.keys[at] < here {
                part.push(sorted.keys[at], sorted.carried[at]);
                at += 1;
            }
            if at == end || sorted.keys[at] != here {
                part.push(here, C::ADDED);
            }
        }
        (at..end).for_each(|at| part.push(sorted.keys[at], sorted.carried[at]));
        part
    };
    let firsts: Vec<u32> = (0..sorted.nodes).step_by(NODES_AT_ONCE as usize).collect();
    sorted.with_parts(firsts.into_par_iter().map(one).collect())
}
