//! Measuring a graph: exact counts from the csr of both directions.
//!
//! promises  the same bits for any number of threads: sums are of integers, or of floats in row order
//! limits    O(nodes + edges), beside sorting weights of parallel edges
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::{CsrParts, DirectionParts},
    profile::{Profile, Spread},
};

/// Blocks that make a graph block diagonal in more than name.
const BLOCKS_MIN: u64 = 8;

/// All facts of a graph.
pub fn measure(parts: &CsrParts) -> Profile {
    let nodes = parts.incoming.offsets.len() - 1;
    let edges = parts.incoming.neighbours.len() as u64;
    let rows = |count: &(dyn Fn(usize) -> u64 + Sync)| (0..nodes).into_par_iter().with_min_len(1 << 12).map(count).sum::<u64>();
    let incoming = |row: usize| &parts.incoming.neighbours[range(&parts.incoming, row)];
    let isolated = rows(&|row| u64::from(range(&parts.incoming, row).is_empty() && range(&parts.outgoing, row).is_empty()));
    let self_loops = rows(&|row| incoming(row).iter().filter(|&&source| source as usize == row).count() as u64);
    let parallel_edges = rows(&|row| parallel_in_row(parts, row));
    let span: u128 = (0..nodes)
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|row| incoming(row).iter().map(|&source| (source as usize).abs_diff(row) as u128).sum::<u128>())
        .sum();
    let (components, component_largest) = components(&parts.incoming);
    let (blocks, block_largest) = blocks(parts);
    Profile {
        nodes: nodes as u64,
        edges,
        in_degree: spread(&parts.incoming),
        out_degree: spread(&parts.outgoing),
        isolated,
        self_loops,
        parallel_edges,
        symmetric: is_symmetric(parts),
        weighted: parts.weights.is_some(),
        relations: parts.types.as_ref().map_or(1, |types| types.iter().max().map_or(0, |&most| u64::from(most) + 1)),
        aes: if edges == 0 { 0.0 } else { span as f64 / edges as f64 },
        components,
        component_largest,
        blocks,
        block_largest,
        block_diagonal: blocks >= BLOCKS_MIN && block_largest * 8 <= nodes as u64,
    }
}

fn range(direction: &DirectionParts, row: usize) -> std::ops::Range<usize> {
    direction.offsets[row] as usize..direction.offsets[row + 1] as usize
}

/// Edges beyond the first with the same ends; in typed rows equal neighbours need not be adjacent.
fn parallel_in_row(parts: &CsrParts, row: usize) -> u64 {
    let neighbours = &parts.incoming.neighbours[range(&parts.incoming, row)];
    if parts.types.is_none() {
        return neighbours.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    }
    let mut sorted = neighbours.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
}

/// Moments of the degrees, over the whole population.
fn spread(direction: &DirectionParts) -> Spread {
    let nodes = direction.offsets.len() - 1;
    if nodes == 0 {
        return Spread::default();
    }
    let degrees = || direction.offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let mean = direction.neighbours.len() as f64 / nodes as f64;
    let (mut second, mut third, mut min, mut max) = (0.0, 0.0, u64::MAX, 0);
    for degree in degrees() {
        let off = degree as f64 - mean;
        second += off * off;
        third += off * off * off;
        (min, max) = (min.min(degree), max.max(degree));
    }
    let deviation = (second / nodes as f64).sqrt();
    let skew = if deviation > 0.0 { third / nodes as f64 / deviation.powi(3) } else { 0.0 };
    Spread { min, mean, max, deviation, skew }
}

/// Whether every edge has its reverse, as often and with the same weight and type.
fn is_symmetric(parts: &CsrParts) -> bool {
    if parts.incoming.offsets != parts.outgoing.offsets {
        return false;
    }
    let nodes = parts.incoming.offsets.len() - 1;
    let plain = parts.weights.is_none() && parts.types.is_none();
    if plain {
        return parts.incoming.neighbours == parts.outgoing.neighbours;
    }
    // Weight and type by edge id, to read them from the outgoing side.
    let edges = parts.incoming.edges.len();
    let mut traits: Vec<(u16, u32)> = vec![(0, 0); edges];
    for slot in 0..edges {
        let weight = parts.weights.as_ref().map_or(0, |weights| weights[slot].to_bits());
        let kind = parts.types.as_ref().map_or(0, |types| types[slot]);
        traits[parts.incoming.edges[slot] as usize] = (kind, weight);
    }
    let side = |direction: &DirectionParts, row: usize| {
        let mut slots: Vec<(u32, (u16, u32))> =
            range(direction, row).map(|slot| (direction.neighbours[slot], traits[direction.edges[slot] as usize])).collect();
        slots.sort_unstable();
        slots
    };
    (0..nodes).into_par_iter().with_min_len(1 << 10).all(|row| side(&parts.incoming, row) == side(&parts.outgoing, row))
}

/// Weakly connected components: how many, and nodes of the largest. Union by smaller id with path halving.
fn components(direction: &DirectionParts) -> (u64, u64) {
    let nodes = direction.offsets.len() - 1;
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    let find = |parent: &mut Vec<u32>, mut node: u32| {
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    };
    for row in 0..nodes {
        for slot in range(direction, row) {
            let (a, b) = (find(&mut parent, row as u32), find(&mut parent, direction.neighbours[slot]));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut sizes = vec![0u64; nodes];
    for node in 0..nodes as u32 {
        let root = find(&mut parent, node);
        sizes[root as usize] += 1;
    }
    (sizes.iter().filter(|&&size| size > 0).count() as u64, sizes.iter().copied().max().unwrap_or(0))
}

/// Runs of consecutive nodes without an edge between runs: how many, and nodes of the largest.
fn blocks(parts: &CsrParts) -> (u64, u64) {
    let nodes = parts.incoming.offsets.len() - 1;
    let reach_of = |row: usize| {
        let far = |direction: &DirectionParts| direction.neighbours[range(direction, row)].iter().copied().max().unwrap_or(0) as usize;
        far(&parts.incoming).max(far(&parts.outgoing)).max(row)
    };
    let reaches: Vec<usize> = (0..nodes).into_par_iter().with_min_len(1 << 12).map(reach_of).collect();
    let (mut blocks, mut largest, mut start, mut reach) = (0, 0, 0, 0);
    for (row, &far) in reaches.iter().enumerate() {
        reach = reach.max(far);
        if reach == row {
            blocks += 1;
            largest = largest.max((row + 1 - start) as u64);
            start = row + 1;
        }
    }
    (blocks, largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::both_directions;
    use warploom_contract::kinds::graph::EdgeTable;

    fn profile(nodes: usize, edges: &[(u32, u32)]) -> Profile {
        let (source, target) = edges.iter().copied().unzip();
        measure(&both_directions(nodes, &EdgeTable { source, target, weight: None, kind: None }))
    }

    #[test]
    fn counts_of_a_small_graph() {
        // 0 <-> 1, 1 -> 1 twice, 3 alone, 4 -> 5.
        let found = profile(6, &[(0, 1), (1, 0), (1, 1), (1, 1), (4, 5)]);
        assert_eq!((found.isolated, found.self_loops, found.parallel_edges, found.symmetric), (2, 2, 1, false));
        assert_eq!((found.components, found.component_largest), (4, 2));
        assert_eq!((found.blocks, found.block_largest, found.block_diagonal), (4, 2, false));
        assert_eq!(found.aes, 3.0 / 5.0);
        assert_eq!((found.in_degree.min, found.in_degree.max), (0, 3));
        assert!(profile(2, &[(0, 1), (1, 0), (1, 1)]).symmetric);
    }

    #[test]
    fn nothing_is_not_a_number() {
        for found in [profile(0, &[]), profile(3, &[])] {
            assert_eq!((found.aes, found.in_degree.skew, found.in_degree.mean), (0.0, 0.0, 0.0));
            assert!(found.symmetric);
        }
    }

    #[test]
    fn weights_take_part_in_symmetry() {
        let table = |weight: Vec<f32>| EdgeTable { source: vec![0, 1], target: vec![1, 0], weight: Some(weight), kind: None };
        assert!(measure(&both_directions(2, &table(vec![2.0, 2.0]))).symmetric);
        assert!(!measure(&both_directions(2, &table(vec![2.0, 3.0]))).symmetric);
    }

    #[test]
    fn many_small_graphs_are_block_diagonal() {
        let edges: Vec<(u32, u32)> = (0..20).flat_map(|block| [(3 * block, 3 * block + 2), (3 * block + 1, 3 * block)]).collect();
        let found = profile(60, &edges);
        assert_eq!((found.blocks, found.block_largest, found.block_diagonal), (20, 3, true));
    }
}
