//! sort: sorts edges as 64-bit keys.
//!
//! ladder    1. comparison sort of (source, target, position): 20 steps for each edge, most of them
//!              cache misses
//!           2. a counting sort of all edges for each digit: 5 passes, each scattering over the
//!              whole array
//!           3. this file: one pass into buckets of about 16 thousand edges, then the other digits
//!              inside each bucket, in L2
//! promises  a stable sort, so one result for any number of threads; O(edges); nothing is moved if
//!           the edges are sorted already
use super::Duplicates;
use rayon::prelude::*;
use std::ops::Range;
use warploom_contract::progress::Advance;
use warploom_formats::raw_graph::Edges;

/// The payload of an edge beside its key: nothing, a weight, or a weight and the place in the list.
pub trait EdgePayload: Copy + Default + PartialEq + Send + Sync {
    /// The payload of an added self loop.
    const ADDED: Self;
    /// The payload of merged edges; `same` is in file order.
    fn join(same: &[Self], duplicates: Duplicates) -> Self;
}

/// A weight, and the place of the edge in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ListedEdge {
    pub weight: f32,
    /// `NOT_LISTED` for an added one.
    pub at: u32,
}

/// The place of an added edge.
pub const NOT_LISTED: u32 = u32::MAX;

/// Source, target and, if there are several, relation of edges.
#[derive(Default)]
pub struct Ends {
    pub source: Vec<u32>,
    pub target: Vec<u32>,
    pub relation: Option<Vec<u16>>,
}

impl Ends {
    fn edge(&self, at: usize) -> (u32, u32, u16) {
        (
            self.source[at],
            self.target[at],
            self.relation.as_ref().map_or(0, |relation| relation[at]),
        )
    }

    fn is_ascending(&self) -> bool {
        (1..self.source.len())
            .into_par_iter()
            .with_min_len(PIECE_EDGES)
            .all(|at| self.edge(at - 1) <= self.edge(at))
    }

    fn keys(&self, range: Range<usize>, layout: Layout) -> Vec<u64> {
        let key = |at| {
            let (source, target, relation) = self.edge(at);
            layout.key(source, target, relation)
        };
        range.into_par_iter().with_min_len(PIECE_EDGES).map(key).collect()
    }

    /// Splits off the edges from `start` on, and frees their memory.
    fn split_off(&mut self, start: usize) -> Ends {
        let relation = self.relation.as_mut().map(|relation| split_list(relation, start));
        Ends {
            source: split_list(&mut self.source, start),
            target: split_list(&mut self.target, start),
            relation,
        }
    }
}

fn split_list<T>(list: &mut Vec<T>, start: usize) -> Vec<T> {
    let tail = list.split_off(start);
    list.shrink_to_fit();
    tail
}

/// Edges sorted by (source, target, relation); equal ones stay in file order.
pub struct SortedEdges<C> {
    /// `(source << node_bits | target) << relation_bits | relation`, ascending.
    pub keys: Vec<u64>,
    /// The payload of each edge.
    pub carried: Vec<C>,
    pub layout: Layout,
    pub nodes: u32,
}

/// The bit layout of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    node_bits: u32,
    relation_bits: u32,
}

impl Layout {
    /// The layout for so many nodes and relations; none if they exceed 64 bits.
    pub fn new(nodes: u32, relations: usize) -> Option<Layout> {
        let node_bits = u32::BITS - nodes.saturating_sub(1).leading_zeros();
        let relation_bits = usize::BITS - relations.saturating_sub(1).leading_zeros();
        (2 * node_bits + relation_bits <= u64::BITS).then_some(Layout { node_bits, relation_bits })
    }

    pub fn key(self, source: u32, target: u32, relation: u16) -> u64 {
        // With 64 bits for the nodes a shift would overflow.
        let nodes = u64::from(source) << self.node_bits | u64::from(target);
        nodes << self.relation_bits | u64::from(relation)
    }

    pub fn source(self, key: u64) -> u32 {
        (key >> self.node_bits >> self.relation_bits) as u32
    }

    pub fn target(self, key: u64) -> u32 {
        (key >> self.relation_bits & ((1 << self.node_bits) - 1)) as u32
    }

    pub fn relation(self, key: u64) -> u16 {
        (key & ((1 << self.relation_bits) - 1)) as u16
    }

    /// The key of the reverse edge.
    pub fn reverse(self, key: u64) -> u64 {
        self.key(self.target(key), self.source(key), self.relation(key))
    }

    pub fn is_loop(self, key: u64) -> bool {
        self.source(key) == self.target(key)
    }

    /// Whether there are several relations.
    pub fn has_relations(self) -> bool {
        self.relation_bits > 0
    }

    pub fn bits(self) -> u32 {
        2 * self.node_bits + self.relation_bits
    }
}

/// Edges that one task distributes, and the target size of a bucket: 8 + 4 bytes for each fit in
/// 256 KiB of cache.
const CHUNK_EDGES: usize = 1 << 19;
const BUCKET_EDGES: usize = 1 << 14;
/// A task writes to one page of each bucket: there should not be too many.
const BUCKET_BITS_MOST: u32 = 11;
/// Reports of each edge by a sort: when it is distributed, and in its bucket.
pub const PASSES: u64 = 2;
/// Bits of a digit inside a bucket.
const DIGIT_BITS: u32 = 8;
/// Edges in one task of a linear pass.
pub const PIECE_EDGES: usize = 1 << 17;

impl<C: EdgePayload> SortedEdges<C> {
    /// Sorts edges of a graph with `nodes` nodes.
    pub fn new(
        ends: Ends,
        carried: Vec<C>,
        layout: Layout,
        nodes: u32,
        advance: Advance<'_>,
    ) -> SortedEdges<C> {
        if ends.is_ascending() {
            return SortedEdges {
                keys: ends.keys(0..ends.source.len(), layout),
                carried,
                layout,
                nodes,
            };
        }
        let (bucket_bits, low_bits) = digits(carried.len(), layout.bits());
        let chunks = distribute_chunks(ends, carried, layout, 1 << bucket_bits, low_bits, advance);
        let (keys, carried) = gather_buckets(chunks, 1 << bucket_bits, low_bits, advance);
        SortedEdges { keys, carried, layout, nodes }
    }

    /// Number of distinct edges, and of self loops among them.
    pub fn count(&self) -> (u64, u64) {
        let first = |at: usize| at == 0 || self.keys[at - 1] != self.keys[at];
        let one = |at: usize| (1, u64::from(self.layout.is_loop(self.keys[at])));
        let all = (0..self.keys.len()).into_par_iter().with_min_len(PIECE_EDGES);
        all.filter(|&at| first(at)).map(one).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Splits into ranges of about `PIECE_EDGES` edges; equal keys stay together.
    pub fn pieces(&self) -> Vec<Range<usize>> {
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

    /// New sorted edges of the same graph from ordered parts.
    pub fn with_parts(&self, parts: Vec<Part<C>>) -> SortedEdges<C> {
        let keys = concat(&parts.iter().map(|part| &part.keys[..]).collect::<Vec<_>>());
        let carried = concat(&parts.iter().map(|part| &part.carried[..]).collect::<Vec<_>>());
        SortedEdges { keys, carried, layout: self.layout, nodes: self.nodes }
    }

    /// Source, target and, if there are several, relation of every edge, with the payloads.
    pub fn into_edges(self, relations: bool) -> (Edges, Vec<C>) {
        let layout = self.layout;
        let keys = || self.keys.par_iter().with_min_len(PIECE_EDGES);
        let source = keys().map(|&key| layout.source(key)).collect();
        let target = keys().map(|&key| layout.target(key)).collect();
        let relation = relations.then(|| keys().map(|&key| layout.relation(key)).collect());
        (Edges { source, target, relation, ..Edges::default() }, self.carried)
    }
}

/// The output edges of one task.
#[derive(Default)]
pub struct Part<C> {
    pub keys: Vec<u64>,
    pub carried: Vec<C>,
}

impl<C> Part<C> {
    pub fn with_capacity(edges: usize) -> Part<C> {
        Part { keys: Vec::with_capacity(edges), carried: Vec::with_capacity(edges) }
    }

    pub fn push(&mut self, key: u64, carried: C) {
        self.keys.push(key);
        self.carried.push(carried);
    }
}

/// Concatenates lists in parallel.
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
pub fn sort_stable<T: Copy + Default + Send + Sync>(
    keys: &mut Vec<u64>,
    payload: Option<&mut Vec<T>>,
    bits: u32,
    advance: Advance<'_>,
) {
    let ascending = keys.par_windows(2).with_min_len(PIECE_EDGES).all(|pair| pair[0] <= pair[1]);
    if ascending {
        return;
    }
    let (bucket_bits, low_bits) = digits(keys.len(), bits);
    match payload {
        None => {
            *keys = sort_by_buckets(keys, &vec![(); keys.len()], bucket_bits, low_bits, advance).0
        }
        Some(payload) => {
            (*keys, *payload) = sort_by_buckets(keys, payload, bucket_bits, low_bits, advance)
        }
    }
}

/// Number of bits that choose the bucket, and of those sorted inside it.
fn digits(keys: usize, bits: u32) -> (u32, u32) {
    let wanted = (keys / BUCKET_EDGES).next_power_of_two().trailing_zeros();
    let bucket_bits = wanted.min(BUCKET_BITS_MOST).min(bits);
    (bucket_bits, bits - bucket_bits)
}

/// Distributes by the upper bits, then sorts each bucket by the lower ones.
fn sort_by_buckets<T: Copy + Default + Send + Sync>(
    keys: &[u64],
    payload: &[T],
    bucket_bits: u32,
    low_bits: u32,
    advance: Advance<'_>,
) -> (Vec<u64>, Vec<T>) {
    let buckets = 1 << bucket_bits;
    let both = keys.par_chunks(CHUNK_EDGES).zip(payload.par_chunks(CHUNK_EDGES));
    let chunk = |(keys, payload): (&[u64], &[T])| {
        advance(keys.len() as u64);
        distribute(keys, payload, buckets, low_bits)
    };
    gather_buckets(both.map(chunk).collect(), buckets, low_bits, advance)
}

/// Groups all edges by bucket, chunk by chunk from the end, so that the list shrinks as the chunks
/// grow.
fn distribute_chunks<C: EdgePayload>(
    mut ends: Ends,
    mut carried: Vec<C>,
    layout: Layout,
    buckets: usize,
    low_bits: u32,
    advance: Advance<'_>,
) -> Vec<Chunk<C>> {
    let mut chunks = Vec::with_capacity(carried.len() / CHUNK_EDGES + 1);
    let at_once = CHUNK_EDGES * rayon::current_num_threads();
    while !carried.is_empty() {
        let start = (carried.len() - 1) / at_once * at_once;
        let (ends, carried) = (ends.split_off(start), split_list(&mut carried, start));
        let one = |first: usize| {
            let last = (first + CHUNK_EDGES).min(carried.len());
            advance((last - first) as u64);
            distribute(&ends.keys(first..last, layout), &carried[first..last], buckets, low_bits)
        };
        let firsts: Vec<usize> = (0..carried.len()).step_by(CHUNK_EDGES).collect();
        let mut batch: Vec<Chunk<C>> = firsts.into_par_iter().map(one).collect();
        batch.reverse();
        chunks.extend(batch);
    }
    chunks.reverse();
    chunks
}

/// Concatenates the buckets of all chunks and sorts each.
fn gather_buckets<T: Copy + Default + Send + Sync>(
    chunks: Vec<Chunk<T>>,
    buckets: usize,
    low_bits: u32,
    advance: Advance<'_>,
) -> (Vec<u64>, Vec<T>) {
    let edges = chunks.iter().map(|chunk| chunk.keys.len()).sum();
    let (mut sorted_keys, mut sorted_payload) = (vec![0; edges], vec![T::default(); edges]);
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
        advance(keys.len() as u64);
    });
    (sorted_keys, sorted_payload)
}

/// A chunk of the edges, grouped by bucket.
struct Chunk<T> {
    keys: Vec<u64>,
    payload: Vec<T>,
    /// The end of each bucket.
    ends: Vec<u32>,
}

impl<T> Chunk<T> {
    fn range(&self, bucket: usize) -> Range<usize> {
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        start as usize..self.ends[bucket] as usize
    }
}

fn distribute<T: Copy + Default>(
    keys: &[u64],
    payload: &[T],
    buckets: usize,
    low_bits: u32,
) -> Chunk<T> {
    // With one bucket and 64 bits a shift would overflow.
    let bucket = |key: u64| key.checked_shr(low_bits).unwrap_or(0) as usize;
    let mut next = vec![0u32; buckets];
    keys.iter().for_each(|&key| next[bucket(key)] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|count| (*count, start) = (start, start + *count));
    let mut chunk = Chunk {
        keys: vec![0; keys.len()],
        payload: vec![T::default(); keys.len()],
        ends: Vec::new(),
    };
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

/// Radix sort of one bucket by its lower bits; digits in which all keys agree are skipped.
fn sort_bucket<T: Copy + Default>(
    keys: &mut [u64],
    payload: &mut [T],
    low_bits: u32,
    scratch: &mut Scratch<T>,
) {
    if size_of::<T>() == 0 && keys.len() < 256 {
        keys.sort_unstable();
        return;
    }
    let Some(&any) = keys.first() else { return };
    let differing = keys.iter().fold(0, |bits, key| bits | (key ^ any))
        & 1u64.checked_shl(low_bits).map_or(u64::MAX, |bit| bit - 1);
    scratch.keys.resize(keys.len(), 0);
    scratch.payload.resize(keys.len(), T::default());
    let (mut from_keys, mut to_keys) = (keys, &mut scratch.keys[..]);
    let (mut from_payload, mut to_payload) = (payload, &mut scratch.payload[..]);
    let mut swapped = false;
    for low in (0..low_bits).step_by(DIGIT_BITS as usize) {
        if differing >> low & ((1 << DIGIT_BITS) - 1) == 0 {
            continue;
        }
        sort_digit(from_keys, from_payload, to_keys, to_payload, low);
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
fn sort_digit<T: Copy>(
    from_keys: &mut [u64],
    from_payload: &mut [T],
    to_keys: &mut [u64],
    to_payload: &mut [T],
    low: u32,
) {
    let digit = |key: u64| (key >> low) as usize & ((1 << DIGIT_BITS) - 1);
    let mut next = [0u32; 1 << DIGIT_BITS];
    from_keys.iter().for_each(|&key| next[digit(key)] += 1);
    let mut start = 0;
    next.iter_mut().for_each(|count| (*count, start) = (start, start + *count));
    for (&mut key, &mut payload) in from_keys.iter_mut().zip(from_payload) {
        let slot = &mut next[digit(key)];
        to_keys[*slot as usize] = key;
        to_payload[*slot as usize] = payload;
        *slot += 1;
    }
}
