//! Whether every edge stands in the lists of both its ends, as often and with the same weights.
//!
//! how  lists turned round (a counting sort) are compared with the lists themselves, each sorted: O(E log degree)
use super::lists::Lists;
use rayon::prelude::*;
use std::{cmp::Ordering, ops::Range};

/// A pair whose two lists differ: the first in the file that lacks something.
#[derive(Debug, PartialEq)]
pub struct Amiss {
    /// Whose list is read.
    pub vertex: u32,
    /// The other end.
    pub neighbour: u32,
    /// Weights (1 without weights) in the list of `vertex`, ascending.
    pub own: Vec<f32>,
    /// Those in the list of `neighbour`.
    pub other: Vec<f32>,
}

type Entry = (u32, f32);

fn order(a: &Entry, b: &Entry) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

/// The first vertex whose list differs from what the others say of it; none: all is well.
pub fn check(lists: &Lists) -> Option<Amiss> {
    let starts = starts(lists.degree.iter().map(|&degree| degree as usize));
    let turned = Turned::new(lists, &starts);
    (0..lists.degree.len()).into_par_iter().find_map_first(|vertex| {
        let mut own = entries(&lists.target, lists.weight.as_deref(), starts[vertex]..starts[vertex + 1]);
        let mut other = entries(&turned.source, turned.weight.as_deref(), turned.starts[vertex]..turned.starts[vertex + 1]);
        own.sort_unstable_by(order);
        other.sort_unstable_by(order);
        let same = own.iter().zip(&other).take_while(|(a, b)| bits(a) == bits(b)).count();
        // The smallest neighbour on which the two lists differ.
        let neighbour = match (own.get(same), other.get(same)) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => one.0,
            (Some(one), Some(two)) => one.0.min(two.0),
        };
        let of = |list: &[Entry]| list.iter().filter(|entry| entry.0 == neighbour).map(|entry| entry.1).collect();
        Some(Amiss { vertex: vertex as u32, neighbour, own: of(&own), other: of(&other) })
    })
}

fn entries(ends: &[u32], weight: Option<&[f32]>, range: Range<usize>) -> Vec<Entry> {
    range.map(|at| (ends[at], weight.map_or(1.0, |weight| weight[at]))).collect()
}

fn bits(entry: &Entry) -> (u32, u32) {
    (entry.0, entry.1.to_bits())
}

/// Where each row begins, and behind the last.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    starts.extend(lengths.scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    }));
    starts
}

/// For each vertex who lists it, and with which weight.
struct Turned {
    starts: Vec<usize>,
    source: Vec<u32>,
    weight: Option<Vec<f32>>,
}

impl Turned {
    fn new(lists: &Lists, starts: &[usize]) -> Turned {
        let mut lengths = vec![0; lists.degree.len()];
        lists.target.iter().for_each(|&target| lengths[target as usize] += 1);
        let turned_starts = self::starts(lengths.into_iter());
        let mut next = turned_starts.clone();
        let mut source = vec![0; lists.target.len()];
        let mut weight = lists.weight.as_ref().map(|weight| vec![0.0; weight.len()]);
        for vertex in 0..lists.degree.len() {
            for at in starts[vertex]..starts[vertex + 1] {
                let place = &mut next[lists.target[at] as usize];
                source[*place] = vertex as u32;
                if let (Some(turned), Some(weight)) = (&mut weight, &lists.weight) {
                    turned[*place] = weight[at];
                }
                *place += 1;
            }
        }
        Turned { starts: turned_starts, source, weight }
    }
}
