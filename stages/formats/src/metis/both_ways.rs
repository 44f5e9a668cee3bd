//! Whether every edge stands in the lists of both its ends, as often and with the same weights.
//!
//! how  lists turned round (a counting sort) are compared with the lists themselves, each sorted: O(E log degree)
use super::lists::Lists;
use rayon::prelude::*;
use std::cmp::Ordering;

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
    let (turned_starts, turned) = turn(lists, &starts);
    let weight = |at: usize| lists.weight.as_ref().map_or(1.0, |weight| weight[at]);
    (0..lists.degree.len()).into_par_iter().find_map_first(|vertex| {
        let mut own: Vec<Entry> = (starts[vertex]..starts[vertex + 1]).map(|at| (lists.target[at], weight(at))).collect();
        // The edge at each place of the turned list, and so its source, which is found in `starts`.
        let mut other: Vec<Entry> =
            turned[turned_starts[vertex]..turned_starts[vertex + 1]].iter().map(|&(source, at)| (source, weight(at as usize))).collect();
        own.sort_unstable_by(order);
        other.sort_unstable_by(order);
        if own.iter().map(bits).eq(other.iter().map(bits)) {
            return None;
        }
        let least = own
            .iter()
            .zip(&other)
            .find(|(a, b)| bits(a) != bits(b))
            .map_or_else(|| own.get(other.len()).or(other.get(own.len())).map_or(0, |entry| entry.0), |(a, b)| a.0.min(b.0));
        let of = |list: &[Entry]| list.iter().filter(|entry| entry.0 == least).map(|entry| entry.1).collect();
        Some(Amiss { vertex: vertex as u32, neighbour: least, own: of(&own), other: of(&other) })
    })
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

/// For each vertex who lists it, and at which place among all neighbours.
fn turn(lists: &Lists, starts: &[usize]) -> (Vec<usize>, Vec<(u32, u64)>) {
    let mut lengths = vec![0; lists.degree.len()];
    lists.target.iter().for_each(|&target| lengths[target as usize] += 1);
    let turned_starts = self::starts(lengths.into_iter());
    let mut next = turned_starts.clone();
    let mut turned = vec![(0, 0); lists.target.len()];
    for vertex in 0..lists.degree.len() {
        for at in starts[vertex]..starts[vertex + 1] {
            let place = &mut next[lists.target[at] as usize];
            turned[*place] = (vertex as u32, at as u64);
            *place += 1;
        }
    }
    (turned_starts, turned)
}
