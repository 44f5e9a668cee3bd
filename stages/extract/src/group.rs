//! Grouping edges by an end: a stable two-level counting sort.
//!
//! promises  the result of a stable sort, hence the same bytes for any number of threads
//! never     compares two edges; writes at random over more than a cache holds: the first level spreads edges over
//!           runs of nodes, the second sorts inside a run
//! limits    O(nodes + edges) time; 12 (16 above 2^32 edges) bytes an edge beside input and output
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::{CsrParts, DirectionParts},
    graph::EdgeTable,
};

/// Runs of nodes of the first level, at most: their write heads fit the first cache.
const RUNS_MAX: usize = 512;
/// Edges below which one level is enough.
const SMALL: usize = 1 << 12;

/// An edge on its way: the end to group by, the other end, its id. Arrays of plain numbers, since a vector of zeros of
/// these is memory that the threads who write it first get from the system, not one thread beforehand.
trait Record: Copy + Send + Sync {
    fn new(key: u32, other: u32, id: usize) -> Self;
    fn zeros(count: usize) -> Vec<Self>;
    fn key(self) -> u32;
    fn other(self) -> u32;
    fn id(self) -> u64;
}

/// With fewer than 2^32 edges.
impl Record for [u32; 3] {
    fn new(key: u32, other: u32, id: usize) -> Self {
        [key, other, id as u32]
    }
    fn zeros(count: usize) -> Vec<Self> {
        vec![[0; 3]; count]
    }
    fn key(self) -> u32 {
        self[0]
    }
    fn other(self) -> u32 {
        self[1]
    }
    fn id(self) -> u64 {
        u64::from(self[2])
    }
}

/// With more: both ends in one number, then the id.
impl Record for [u64; 2] {
    fn new(key: u32, other: u32, id: usize) -> Self {
        [u64::from(key) << 32 | u64::from(other), id as u64]
    }
    fn zeros(count: usize) -> Vec<Self> {
        vec![[0; 2]; count]
    }
    fn key(self) -> u32 {
        (self[0] >> 32) as u32
    }
    fn other(self) -> u32 {
        self[0] as u32
    }
    fn id(self) -> u64 {
        self[1]
    }
}

/// Both directions of a graph. In each row neighbours ascend, then edge ids; with types, types first.
pub fn both_directions(nodes: usize, table: &EdgeTable) -> CsrParts {
    let (mut incoming, mut outgoing) = if is_sorted(&table.source, &table.target) {
        // The edge table is the outgoing direction as it stands.
        let outgoing = DirectionParts {
            offsets: offsets_of_sorted(nodes, &table.source),
            neighbours: table.target.par_iter().copied().collect(),
            edges: identity(table.source.len()),
        };
        (group(nodes, &table.target, &table.source, None), outgoing)
    } else {
        let by_source = group(nodes, &table.source, &table.target, None);
        let sources = expand(&by_source.offsets);
        let incoming = group(nodes, &by_source.neighbours, &sources, Some(&by_source.edges));
        let targets = expand(&incoming.offsets);
        let outgoing = group(nodes, &incoming.neighbours, &targets, Some(&incoming.edges));
        (incoming, outgoing)
    };
    if let Some(types) = &table.kind {
        sort_rows_by_type(&mut incoming, types);
        sort_rows_by_type(&mut outgoing, types);
    }
    let weights = table.weight.as_ref().map(|weight| incoming.edges.par_iter().map(|&edge| weight[edge as usize]).collect());
    let types = table.kind.as_ref().map(|kind| incoming.edges.par_iter().map(|&edge| kind[edge as usize]).collect());
    CsrParts { incoming, outgoing, weights, types }
}

/// Groups by `keys`, keeping the order of edges in each group. Without `ids` an edge's id is its position.
pub fn group(nodes: usize, keys: &[u32], others: &[u32], ids: Option<&[u64]>) -> DirectionParts {
    if u32::try_from(keys.len()).is_ok() { group_with::<[u32; 3]>(nodes, keys, others, ids) } else { group_with::<[u64; 2]>(nodes, keys, others, ids) }
}

fn group_with<R: Record>(nodes: usize, keys: &[u32], others: &[u32], ids: Option<&[u64]>) -> DirectionParts {
    let edges = keys.len();
    let record = |index: usize| R::new(keys[index], others[index], ids.map_or(index, |ids| ids[index] as usize));
    let shift = run_shift(nodes);
    let runs = if edges <= SMALL { 1 } else { nodes.div_ceil(1 << shift).max(1) };
    let run_of = |key: u32| if runs == 1 { 0 } else { (key >> shift) as usize };
    let chunk = edges.div_ceil(4 * rayon::current_num_threads()).max(SMALL);
    let counts: Vec<Vec<usize>> = (0..edges.div_ceil(chunk))
        .into_par_iter()
        .map(|index| {
            let mut counts = vec![0; runs];
            keys[index * chunk..edges.min((index + 1) * chunk)].iter().for_each(|&key| counts[run_of(key)] += 1);
            counts
        })
        .collect();
    let mut spread = R::zeros(edges);
    let heads = split_by_counts(&mut spread, &counts, runs);
    heads.into_par_iter().enumerate().for_each(|(index, mut heads)| {
        let mut filled = vec![0usize; runs];
        for at in index * chunk..edges.min((index + 1) * chunk) {
            let record = record(at);
            let run = run_of(record.key());
            heads[run][filled[run]] = record;
            filled[run] += 1;
        }
    });
    let run_sizes: Vec<usize> = (0..runs).map(|run| counts.iter().map(|counts| counts[run]).sum()).collect();
    sort_runs(nodes, if runs == 1 { nodes } else { 1 << shift }, &spread, &run_sizes)
}

/// Nodes of a run as a power of two, so that there are at most `RUNS_MAX` runs.
fn run_shift(nodes: usize) -> u32 {
    let per_run = nodes.div_ceil(RUNS_MAX).max(1);
    per_run.next_power_of_two().trailing_zeros()
}

/// For each chunk its slice of each run: runs follow each other, and in a run the chunks.
fn split_by_counts<'a, R>(mut rest: &'a mut [R], counts: &[Vec<usize>], runs: usize) -> Vec<Vec<&'a mut [R]>> {
    let mut heads: Vec<Vec<&'a mut [R]>> = counts.iter().map(|_| Vec::with_capacity(runs)).collect();
    for run in 0..runs {
        for (chunk, counts) in counts.iter().enumerate() {
            let (head, tail) = rest.split_at_mut(counts[run]);
            heads[chunk].push(head);
            rest = tail;
        }
    }
    heads
}

/// Cuts a slice into consecutive pieces of these sizes.
fn split_by_sizes<'a, T>(mut rest: &'a mut [T], sizes: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (piece, tail) = rest.split_at_mut(size);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Second level: sorts each run of nodes by counting.
fn sort_runs<R: Record>(nodes: usize, run_nodes: usize, spread: &[R], run_sizes: &[usize]) -> DirectionParts {
    let mut parts = DirectionParts { offsets: vec![0; nodes + 1], neighbours: vec![0; spread.len()], edges: vec![0; spread.len()] };
    let node_sizes: Vec<usize> = (0..run_sizes.len()).map(|run| run_nodes.min(nodes.saturating_sub(run * run_nodes))).collect();
    let starts: Vec<usize> = run_sizes.iter().scan(0, |sum, size| Some(std::mem::replace(sum, *sum + size))).collect();
    let offsets = split_by_sizes(&mut parts.offsets[1..], &node_sizes);
    let neighbours = split_by_sizes(&mut parts.neighbours, run_sizes);
    let edges = split_by_sizes(&mut parts.edges, run_sizes);
    let work: Vec<_> = offsets.into_iter().zip(neighbours).zip(edges).enumerate().collect();
    work.into_par_iter().for_each(|(run, ((offsets, neighbours), edges))| {
        let records = &spread[starts[run]..starts[run] + run_sizes[run]];
        let first = (run * run_nodes) as u32;
        let mut heads = vec![0u32; offsets.len()];
        records.iter().for_each(|record| heads[(record.key() - first) as usize] += 1);
        let mut sum = 0u32;
        for (head, offset) in heads.iter_mut().zip(offsets.iter_mut()) {
            let count = std::mem::replace(head, sum);
            sum += count;
            *offset = starts[run] as u64 + u64::from(sum);
        }
        for record in records {
            let head = &mut heads[(record.key() - first) as usize];
            neighbours[*head as usize] = record.other();
            edges[*head as usize] = record.id();
            *head += 1;
        }
    });
    parts
}

/// Whether edges ascend by source, then target.
fn is_sorted(source: &[u32], target: &[u32]) -> bool {
    (1..source.len()).into_par_iter().with_min_len(1 << 16).all(|at| (source[at - 1], target[at - 1]) <= (source[at], target[at]))
}

fn offsets_of_sorted(nodes: usize, sorted: &[u32]) -> Vec<u64> {
    (0..nodes + 1).into_par_iter().with_min_len(1 << 12).map(|node| sorted.partition_point(|&key| (key as usize) < node) as u64).collect()
}

fn identity(edges: usize) -> Vec<u64> {
    (0..edges).into_par_iter().with_min_len(1 << 16).map(|edge| edge as u64).collect()
}

/// The row of every slot.
pub fn expand(offsets: &[u64]) -> Vec<u32> {
    let mut rows = vec![0u32; offsets.last().map_or(0, |&edges| edges as usize)];
    let sizes: Vec<usize> = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect();
    split_by_sizes(&mut rows, &sizes).into_par_iter().with_min_len(1 << 12).enumerate().for_each(|(row, slots)| slots.fill(row as u32));
    rows
}

/// Typed graphs: in each row by type, then as before.
fn sort_rows_by_type(parts: &mut DirectionParts, types: &[u16]) {
    let sizes: Vec<usize> = parts.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect();
    let neighbours = split_by_sizes(&mut parts.neighbours, &sizes);
    let edges = split_by_sizes(&mut parts.edges, &sizes);
    neighbours.into_par_iter().zip(edges).for_each(|(neighbours, edges)| {
        let mut slots: Vec<(u16, u32, u64)> = edges.iter().zip(neighbours.iter()).map(|(&edge, &node)| (types[edge as usize], node, edge)).collect();
        slots.sort_unstable();
        for (at, (_, node, edge)) in slots.into_iter().enumerate() {
            (neighbours[at], edges[at]) = (node, edge);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow, obvious way.
    fn reference(nodes: usize, table: &EdgeTable) -> CsrParts {
        let kind = |edge: usize| table.kind.as_ref().map_or(0, |kind| kind[edge]);
        let side = |keys: &[u32], others: &[u32]| {
            let mut parts = DirectionParts { offsets: vec![0], ..DirectionParts::default() };
            for node in 0..nodes as u32 {
                let mut row: Vec<(u16, u32, u64)> =
                    (0..keys.len()).filter(|&edge| keys[edge] == node).map(|edge| (kind(edge), others[edge], edge as u64)).collect();
                row.sort_unstable();
                parts.neighbours.extend(row.iter().map(|slot| slot.1));
                parts.edges.extend(row.iter().map(|slot| slot.2));
                parts.offsets.push(parts.neighbours.len() as u64);
            }
            parts
        };
        let incoming = side(&table.target, &table.source);
        let weights = table.weight.as_ref().map(|weight| incoming.edges.iter().map(|&edge| weight[edge as usize]).collect());
        let types = table.kind.as_ref().map(|kind| incoming.edges.iter().map(|&edge| kind[edge as usize]).collect());
        CsrParts { incoming, outgoing: side(&table.source, &table.target), weights, types }
    }

    fn table(nodes: u32, edges: usize, seed: u64, sorted: bool, typed: bool) -> EdgeTable {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32
        };
        let mut pairs: Vec<(u32, u32)> = (0..edges).map(|_| (draw() % nodes, (draw() % nodes).min(draw() % nodes))).collect();
        if sorted {
            pairs.sort_unstable();
        }
        let (source, target) = pairs.into_iter().unzip();
        let weight = Some((0..edges).map(|edge| edge as f32).collect());
        EdgeTable { source, target, weight, kind: typed.then(|| (0..edges).map(|edge| (edge % 3) as u16).collect()) }
    }

    #[test]
    fn degenerate_graphs() {
        for nodes in [0usize, 1, 7] {
            let empty = EdgeTable::default();
            assert_eq!(both_directions(nodes, &empty), reference(nodes, &empty), "{nodes} nodes, no edges");
        }
        let loops = EdgeTable { source: vec![0, 0, 0], target: vec![0, 0, 0], ..EdgeTable::default() };
        assert_eq!(both_directions(1, &loops), reference(1, &loops));
    }

    #[test]
    fn large_enough_for_two_levels_and_any_number_of_threads() {
        for (sorted, typed) in [(false, false), (true, false), (false, true), (true, true)] {
            let table = table(3000, 20_000, 5, sorted, typed);
            let want = reference(3000, &table);
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert!(pool.install(|| both_directions(3000, &table)) == want, "{threads} threads, sorted {sorted}, typed {typed}");
            }
        }
    }

    proptest! {
        #[test]
        fn equals_the_reference(nodes in 1u32..40, edges in 0usize..200, seed: u64, sorted: bool, typed: bool) {
            let table = table(nodes, edges, seed, sorted, typed);
            prop_assert_eq!(both_directions(nodes as usize, &table), reference(nodes as usize, &table));
        }
    }
}
