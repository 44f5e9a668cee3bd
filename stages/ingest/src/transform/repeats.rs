//! Joins repeated edges, and takes self loops out or puts them in.
//!
//! promises  the order of the edges that stay is kept; sums of weights are taken in float64, in the order of the file
use super::{
    Duplicates,
    sort::{Part, Sorted},
};
use rayon::prelude::*;
use std::ops::Range;

/// Takes every self loop out.
pub fn drop_loops(sorted: Sorted) -> Sorted {
    let one = |piece: Range<usize>| {
        let mut part = Part::with_capacity(piece.len(), sorted.weight.is_some());
        let keys = sorted.keys[piece.clone()].iter().zip(piece);
        for (&key, at) in keys.filter(|&(&key, _)| sorted.source(key) != sorted.target(key)) {
            part.keys.push(key);
            part.weight.extend(sorted.weight.as_ref().map(|weight| weight[at]));
        }
        part
    };
    sorted.with(sorted.pieces().into_par_iter().map(one).collect(), sorted.weight.is_some())
}

/// Joins edges with the same source and target.
pub fn join(sorted: Sorted, duplicates: Duplicates) -> Sorted {
    let counted = duplicates == Duplicates::Sum && sorted.weight.is_none();
    let repeated = || sorted.keys.par_windows(2).any(|pair| pair[0] == pair[1]);
    if duplicates == Duplicates::Keep || !counted && !repeated() {
        return sorted;
    }
    let one = |piece: Range<usize>| {
        let mut part = Part::with_capacity(piece.len(), counted || sorted.weight.is_some());
        let mut start = piece.start;
        while start < piece.end {
            let key = sorted.keys[start];
            let same = sorted.keys[start..piece.end].iter().take_while(|&&other| other == key).count();
            part.keys.push(key);
            match &sorted.weight {
                Some(weight) => part.weight.push(joined(&weight[start..start + same], duplicates)),
                None if counted => part.weight.push(same as f32),
                None => {}
            }
            start += same;
        }
        part
    };
    sorted.with(sorted.pieces().into_par_iter().map(one).collect(), counted || sorted.weight.is_some())
}

/// The weight of edges that become one; a sum beyond float32 stays at its largest value.
fn joined(weights: &[f32], duplicates: Duplicates) -> f32 {
    let sum = || weights.iter().map(|&weight| f64::from(weight)).sum::<f64>().clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
    match duplicates {
        Duplicates::Keep | Duplicates::First => weights[0],
        Duplicates::Merge | Duplicates::Sum if weights.len() == 1 => weights[0],
        Duplicates::Merge | Duplicates::Sum => sum(),
        Duplicates::Min => weights.iter().copied().fold(f32::INFINITY, f32::min),
        Duplicates::Max => weights.iter().copied().fold(f32::NEG_INFINITY, f32::max),
    }
}

/// Nodes of one task.
const NODES_AT_ONCE: u32 = 1 << 14;

/// Gives every node without a self loop one of weight 1.
pub fn add_loops(sorted: Sorted) -> Sorted {
    let first_edge = |node: u64| sorted.keys.partition_point(|&key| u64::from(sorted.source(key)) < node);
    let one = |first: u32| {
        let last = first.saturating_add(NODES_AT_ONCE).min(sorted.nodes);
        let mut at = first_edge(u64::from(first));
        let end = first_edge(u64::from(last));
        let mut part = Part::with_capacity(end - at + (last - first) as usize, sorted.weight.is_some());
        for node in first..last {
            let here = u64::from(node) << sorted.shift | u64::from(node);
            while at < end && sorted.keys[at] < here {
                copy(&sorted, at, &mut part);
                at += 1;
            }
            if at == end || sorted.keys[at] != here {
                part.keys.push(here);
                part.weight.extend(sorted.weight.as_ref().map(|_| 1.0));
            }
        }
        (at..end).for_each(|at| copy(&sorted, at, &mut part));
        part
    };
    let firsts: Vec<u32> = (0..sorted.nodes).step_by(NODES_AT_ONCE as usize).collect();
    sorted.with(firsts.into_par_iter().map(one).collect(), sorted.weight.is_some())
}

fn copy(sorted: &Sorted, at: usize, part: &mut Part) {
    part.keys.push(sorted.keys[at]);
    part.weight.extend(sorted.weight.as_ref().map(|weight| weight[at]));
}
