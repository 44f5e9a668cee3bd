//! group: the csr of a graph in both directions: edges grouped by target and by source.
//!
//! promises  in each row neighbours ascend (typed: types first), then edge ids; the same bytes for
//!           any number of threads
//! never     sorts an edge table that is sorted by source already
//! limits    O(nodes + edges) time; 2^32 nodes, 2^40 edges
use rayon::prelude::*;
use warploom_contract::{
    edge_grouping::{Others, group, sort_rows_by_type},
    kinds::{
        csr::{CsrParts, DirectionParts},
        graph::EdgeTable,
    },
    mapped_file::zeros,
    progress::{Phase, Progress, Silence},
};

/// Builds the csr of both directions. In each row neighbours ascend, then edge ids; with types,
/// types first.
pub fn build_csr(nodes: usize, table: &EdgeTable) -> CsrParts {
    build_csr_with_progress(nodes, table, &Silence)
}

/// `build_csr` with progress.
pub fn build_csr_with_progress(
    nodes: usize,
    table: &EdgeTable,
    progress: &dyn Progress,
) -> CsrParts {
    let (mut incoming, mut outgoing) = (DirectionParts::default(), DirectionParts::default());
    let sorted = is_sorted(&table.source, &table.target);
    let grouping = Phase::begin(progress, "grouping", table.source.len() as u64, "edges")
        .passes(if sorted { 2 } else { 3 });
    let advance = |edges| grouping.add(edges);
    if sorted {
        group(&mut incoming, nodes, &table.target, Others::Listed(&table.source), None, &advance);
        // The sorted edge table is the outgoing direction.
        outgoing = DirectionParts {
            offsets: offsets_of_sorted(nodes, &table.source),
            neighbours: fill_parallel(table.target.len(), |edge| table.target[edge]),
            edges: fill_parallel(table.source.len(), |edge| edge as u64),
        };
    } else {
        group(&mut outgoing, nodes, &table.source, Others::Listed(&table.target), None, &advance);
        group(
            &mut incoming,
            nodes,
            &outgoing.neighbours,
            Others::Rows(&outgoing.offsets),
            Some(&outgoing.edges),
            &advance,
        );
        // Now each row's neighbours ascend: those in edge order are replaced.
        group(
            &mut outgoing,
            nodes,
            &incoming.neighbours,
            Others::Rows(&incoming.offsets),
            Some(&incoming.edges),
            &advance,
        );
    }
    drop(grouping);
    if let Some(types) = &table.kind {
        let sorting =
            Phase::begin(progress, "sorting rows by relation", nodes as u64, "rows").passes(2);
        let advance = |rows| sorting.add(rows);
        sort_rows_by_type(&mut incoming, types, &advance);
        sort_rows_by_type(&mut outgoing, types, &advance);
    }
    let weights = table
        .weight
        .as_ref()
        .map(|weight| incoming.edges.par_iter().map(|&edge| weight[edge as usize]).collect());
    let types = table
        .kind
        .as_ref()
        .map(|kind| incoming.edges.par_iter().map(|&edge| kind[edge as usize]).collect());
    CsrParts { incoming, outgoing, weights, types, graphs: None }
}

/// Whether edges ascend by source, then target.
fn is_sorted(source: &[u32], target: &[u32]) -> bool {
    (1..source.len())
        .into_par_iter()
        .with_min_len(1 << 16)
        .all(|at| (source[at - 1], target[at - 1]) <= (source[at], target[at]))
}

/// Nodes whose offsets are counted in sequence after one binary search.
const SEARCH_NODES: usize = 1 << 12;

fn offsets_of_sorted(nodes: usize, sorted: &[u32]) -> Vec<u64> {
    let mut offsets = zeros(nodes + 1);
    offsets.par_chunks_mut(SEARCH_NODES).enumerate().for_each(|(block, offsets)| {
        let first = block * SEARCH_NODES;
        let mut at = sorted.partition_point(|&key| (key as usize) < first);
        for (offset, node) in offsets.iter_mut().zip(first..) {
            at += sorted[at..].iter().take_while(|&&key| (key as usize) < node).count();
            *offset = at as u64;
        }
    });
    offsets
}

/// A vector of `value(position)`, filled in parallel.
fn fill_parallel<T: Copy + Default + Send>(
    count: usize,
    value: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut array = zeros(count);
    array.par_iter_mut().with_min_len(1 << 16).enumerate().for_each(|(at, slot)| *slot = value(at));
    array
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
                let mut row: Vec<(u16, u32, u64)> = (0..keys.len())
                    .filter(|&edge| keys[edge] == node)
                    .map(|edge| (kind(edge), others[edge], edge as u64))
                    .collect();
                row.sort_unstable();
                parts.neighbours.extend(row.iter().map(|slot| slot.1));
                parts.edges.extend(row.iter().map(|slot| slot.2));
                parts.offsets.push(parts.neighbours.len() as u64);
            }
            parts
        };
        let incoming = side(&table.target, &table.source);
        let weights = table
            .weight
            .as_ref()
            .map(|weight| incoming.edges.iter().map(|&edge| weight[edge as usize]).collect());
        let types = table
            .kind
            .as_ref()
            .map(|kind| incoming.edges.iter().map(|&edge| kind[edge as usize]).collect());
        CsrParts {
            incoming,
            outgoing: side(&table.source, &table.target),
            weights,
            types,
            graphs: None,
        }
    }

    fn table(nodes: u32, edges: usize, seed: u64, sorted: bool, typed: bool) -> EdgeTable {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32
        };
        let mut pairs: Vec<(u32, u32)> =
            (0..edges).map(|_| (draw() % nodes, (draw() % nodes).min(draw() % nodes))).collect();
        if sorted {
            pairs.sort_unstable();
        }
        let (source, target) = pairs.into_iter().unzip();
        let weight = Some((0..edges).map(|edge| edge as f32).collect());
        EdgeTable {
            source,
            target,
            weight,
            kind: typed.then(|| (0..edges).map(|edge| (edge % 3) as u16).collect()),
        }
    }

    #[test]
    fn degenerate_graphs() {
        for nodes in [0usize, 1, 7] {
            let empty = EdgeTable::default();
            assert_eq!(
                build_csr(nodes, &empty),
                reference(nodes, &empty),
                "{nodes} nodes, no edges"
            );
        }
        let loops =
            EdgeTable { source: vec![0, 0, 0], target: vec![0, 0, 0], ..EdgeTable::default() };
        assert_eq!(build_csr(1, &loops), reference(1, &loops));
    }

    #[test]
    fn large_enough_for_two_levels_and_any_number_of_threads() {
        for (sorted, typed) in [(false, false), (true, false), (false, true), (true, true)] {
            let table = table(3000, 20_000, 5, sorted, typed);
            let want = reference(3000, &table);
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert!(
                    pool.install(|| build_csr(3000, &table)) == want,
                    "{threads} threads, sorted {sorted}, typed {typed}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn equals_the_reference(nodes in 1u32..40, edges in 0usize..200, seed: u64, sorted: bool, typed: bool) {
            let table = table(nodes, edges, seed, sorted, typed);
            prop_assert_eq!(build_csr(nodes as usize, &table), reference(nodes as usize, &table));
        }
    }
}
