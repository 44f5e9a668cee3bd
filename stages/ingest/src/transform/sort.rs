//! Edges as sorted 64-bit keys.
//!
//! ladder    comparison sort of (source, target, position)   20 steps an edge, most of them cache misses
//!           one counting sort a digit over all edges        5 passes, each scattering over the whole array
//!           one pass into buckets of about 16 thousand      then the rest of the digits inside a bucket, in the second-level cache      <- this file
//! promises  a stable sort, so one result for any number of threads; O(edges); nothing is moved if the edges are sorted already
use rayon::prelude::*;
use warploom_formats::raw::Edges;

/// Edges sorted by (source, target), the listed order kept among equal ones.
pub struct Sorted {
    /// `source << shift | target`, ascending.
    pub keys: Vec<u64>,
    /// One an edge, or none at all.
    pub weight: Option<Vec<f32>>,
    /// Bits of a node.
    pub shift: u32,
    pub nodes: u32,
}

/// Edges that one task distributes, and that a bucket should hold: 8 + 4 bytes each stay within a 256 KiB share of cache.
const CHUNK_EDGES: usize = 1 << 19;
const BUCKET_EDGES: usize = 1 << 14;
/// Each bucket is a page of its own that a task writes to: there should not be too many.
const BUCKET_BITS_MOST: u32 = 11;
/// Bits of a digit inside a bucket.
const DIGIT_BITS: u32 = 8;
/// Edges of one task in linear passes.
pub const PIECE_EDGES: usize = 1 << 17;

impl Sorted {
    /// Sorts edges of a graph with `nodes` nodes.
    pub fn new(edges: Edges, nodes: u32) -> Sorted {
        let shift = u32::BITS - nodes.saturating_sub(1).leading_zeros();
        let Edges { source, target, mut weight, .. } = edges;
        let pack = |(&source, &target): (&u32, &u32)| u64::from(source) << shift | u64::from(target);
        let mut keys: Vec<u64> = source.par_iter().zip(&target).with_min_len(PIECE_EDGES).map(pack).collect();
        drop((source, target));
        sort_stable(&mut keys, weight.as_mut(), 2 * shift);
        Sorted { keys, weight, shift, nodes }
    }

    pub fn source(&self, key: u64) -> u32 {
        (key >> self.shift) as u32
    }

    pub fn target(&self, key: u64) -> u32 {
        (key & ((1 << self.shift) - 1)) as u32
    }

    /// The key of the edge the other way round.
    pub fn reverse(&self, key: u64) -> u64 {
        u64::from(self.target(key)) << self.shift | u64::from(self.source(key))
    }

    /// Distinct (source, target) pairs, and those of them that are self loops.
    pub fn count(&self) -> (u64, u64) {
        let first = |at: usize| at == 0 || self.keys[at - 1] != self.keys[at];
        let one = |at: usize| (1, u64::from(self.source(self.keys[at]) == self.target(self.keys[at])));
        let all = (0..self.keys.len()).into_par_iter().with_min_len(PIECE_EDGES);
        all.filter(|&at| first(at)).map(one).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Cuts into ranges of about `PIECE_EDGES` edges that never part equal keys.
    pub fn pieces(&self) -> Vec<std::ops::Range<usize>> {
        let mut pieces = Vec::with_capacity(self.keys.len() / PIECE_EDGES + 1);
        let mut start = 0;
        while start < self.keys.len() {
            let mut end = (start + PIECE_EDGES).min(self.keys.len());
            if end < self.keys.len() {
                let last = self.keys[end - 1];
                end += self.keys[end..].partition_point(|&key| key == last);
            }
            pieces.push(start..end);
            start = end;
        }
        pieces
    }

    /// Other edges of the same graph, put together in order.
    pub fn with(&self, parts: Vec<Part>, weighted: bool) -> Sorted {
        let keys = concat(&parts.iter().map(|part| &part.keys[..]).collect::<Vec<_>>());
        let weight = weighted.then(|| concat(&parts.iter().map(|part| &part.weight[..]).collect::<Vec<_>>()));
        Sorted { keys, weight, shift: self.shift, nodes: self.nodes }
    }

    pub fn into_edges(self) -> Edges {
        let source = self.keys.par_iter().with_min_len(PIECE_EDGES).map(|&key| self.source(key)).collect();
        let target = self.keys.par_iter().with_min_len(PIECE_EDGES).map(|&key| self.target(key)).collect();
        Edges { source, target, weight: self.weight, ..Edges::default() }
    }
}

/// Edges that one task made.
#[derive(Default)]
pub struct Part {
    pub keys: Vec<u64>,
    pub weight: Vec<f32>,
}

impl Part {
    pub fn with_capacity(edges: usize, weighted: bool) -> Part {
        Part { keys: Vec::with_capacity(edges), weight: Vec::with_capacity(if weighted { edges } else { 0 }) }
    }
}

/// One list from many, copied in parallel.
fn concat<T: Copy + Default + Send + Sync>(lists: &[&[T]]) -> Vec<T> {
    let mut all = vec![T::default(); lists.iter().map(|list| list.len()).sum()];
    let mut rest = &mut all[..];
    let mut jobs = Vec::with_capacity(lists.len());
    for list in lists {
        let (own, more) = rest.split_at_mut(list.len());
        jobs.push((own, *list));
        rest = more;
    }
    jobs.into_par_iter().for_each(|(own, list)| own.copy_from_slice(list));
    all
}

/// Sorts keys of `bits` bits, and the payload with them; equal keys keep their order.
pub fn sort_stable<T: Copy + Default + Send + Sync>(keys: &mut Vec<u64>, payload: Option<&mut Vec<T>>, bits: u32) {
    let ascending = keys.par_windows(2).with_min_len(PIECE_EDGES).all(|pair| pair[0] <= pair[1]);
    if ascending {
        return;
    }
    let wanted = (keys.len() / BUCKET_EDGES).next_power_of_two().trailing_zeros();
    let bucket_bits = wanted.min(BUCKET_BITS_MOST).min(bits);
    let low_bits = bits - bucket_bits;
    match payload {
        None => *keys = sort_with(keys, &vec![(); keys.len()], bucket_bits, low_bits).0,
        Some(payload) => (*keys, *payload) = sort_with(keys, payload, bucket_bits, low_bits),
    }
}

/// Distributes by the upper bits, then sorts each bucket by the lower ones.
fn sort_with<T: Copy + Default + Send + Sync>(keys: &[u64], payload: &[T], bucket_bits: u32, low_bits: u32) -> (Vec<u64>, Vec<T>) {
    let buckets = 1 << bucket_bits;
    let chunks: Vec<Chunk<T>> =
        keys.par_chunks(CHUNK_EDGES).zip(payload.par_chunks(CHUNK_EDGES)).map(|(keys, payload)| distribute(keys, payload, buckets, low_bits)).collect();
    let (mut sorted_keys, mut sorted_payload) = (vec![0; keys.len()], vec![T::default(); keys.len()]);
    let (mut more_keys, mut more_payload) = (&mut sorted_keys[..], &mut sorted_payload[..]);
    let mut jobs = Vec::with_capacity(buckets);
    for bucket in 0..buckets {
        let size = chunks.iter().map(|chunk| chunk.range(bucket).len()).sum();
        let (own_keys, rest_keys) = more_keys.split_at_mut(size);
        let (own_payload, rest_payload) = more_payload.split_at_mut(size);
        jobs.push((bucket, own_keys, own_payload));
        (more_keys, more_payload) = (rest_keys, rest_payload);
    }
    jobs.into_par_iter().for_each_init(Scratch::default, |scratch, (bucket, keys, payload)| {
        let mut at = 0;
        for chunk in &chunks {
            let range = chunk.range(bucket);
            let end = at + range.len();
            keys[at..end].copy_from_slice(&chunk.keys[range.clone()]);
            payload[at..end].copy_from_slice(&chunk.payload[range]);
            at = end;
        }
        sort_bucket(keys, payload, low_bits, scratch);
    });
    (sorted_keys, sorted_payload)
}

/// A chunk of the edges, grouped by bucket.
struct Chunk<T> {
    keys: Vec<u64>,
    payload: Vec<T>,
    /// Where each bucket ends.
    ends: Vec<u32>,
}

impl<T> Chunk<T> {
    fn range(&self, bucket: usize) -> std::ops::Range<usize> {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        start as usize..self.ends[bucket] as usize
    }
}

fn distribute<T: Copy + Default>(keys: &[u64], payload: &[T], buckets: usize, low_bits: u32) -> Chunk<T> {
    // With one bucket and 64 bits there is nothing to shift.
    let bucket = |key: u64| key.checked_shr(low_bits).unwrap_or(0) as usize;
    let mut next = vec![0u32; buckets];
    keys.iter().for_each(|&key| next[bucket(key)] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|count| (*count, start) = (start, start + *count));
    let mut chunk = Chunk { keys: vec![0; keys.len()], payload: vec![T::default(); keys.len()], ends: Vec::new() };
    for (&key, &payload) in keys.iter().zip(payload) {
        let slot = &mut next[bucket(key)];
        chunk.keys[*slot as usize] = key;
        chunk.payload[*slot as usize] = payload;
        *slot += 1;
    }
    chunk.ends = next;
    chunk
}

#[derive(Default)]
struct Scratch<T> {
    keys: Vec<u64>,
    payload: Vec<T>,
}

/// Sorts one bucket by its lower bits, a digit at a time; digits in which all keys agree are passed over.
fn sort_bucket<T: Copy + Default>(keys: &mut [u64], payload: &mut [T], low_bits: u32, scratch: &mut Scratch<T>) {
    if size_of::<T>() == 0 && keys.len() < 256 {
        keys.sort_unstable();
        return;
    }
    let Some(&any) = keys.first() else { return };
    let differing = keys.iter().fold(0, |bits, key| bits | (key ^ any)) & 1u64.checked_shl(low_bits).map_or(u64::MAX, |bit| bit - 1);
    scratch.keys.resize(keys.len(), 0);
    scratch.payload.resize(keys.len(), T::default());
    let (mut from_keys, mut to_keys) = (keys, &mut scratch.keys[..]);
    let (mut from_payload, mut to_payload) = (payload, &mut scratch.payload[..]);
    let mut swapped = false;
    for low in (0..low_bits).step_by(DIGIT_BITS as usize) {
        if differing >> low & ((1 << DIGIT_BITS) - 1) == 0 {
            continue;
        }
        sort_digit((from_keys, from_payload), (to_keys, to_payload), low);
        std::mem::swap(&mut from_keys, &mut to_keys);
        std::mem::swap(&mut from_payload, &mut to_payload);
        swapped = !swapped;
    }
    if swapped {
        to_keys.copy_from_slice(from_keys);
        to_payload.copy_from_slice(from_payload);
    }
}

/// One counting sort by the digit that begins at bit `low`.
fn sort_digit<T: Copy>(from: (&mut [u64], &mut [T]), to: (&mut [u64], &mut [T]), low: u32) {
    let digit = |key: u64| (key >> low) as usize & ((1 << DIGIT_BITS) - 1);
    let mut next = [0u32; 1 << DIGIT_BITS];
    from.0.iter().for_each(|&key| next[digit(key)] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|count| (*count, start) = (start, start + *count));
    for (&mut key, &mut payload) in from.0.iter_mut().zip(from.1) {
        let slot = &mut next[digit(key)];
        to.0[*slot as usize] = key;
        to.1[*slot as usize] = payload;
        *slot += 1;
    }
}
