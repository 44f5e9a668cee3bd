//! shapes: simple generators: R-MAT, random, grid, star, cliques.
//!
//! promises  the exact number of edges, the same for any number of threads; an edge depends on its
//!           number and the seed alone
//! never     merges parallel edges of R-MAT and random graphs: options do
//! paper     Chakrabarti, Zhan, Faloutsos: R-MAT (2004); a 0.57, b 0.19, c 0.19, d 0.05 as in
//!           Graph500, without its noise
use rayon::prelude::*;
use warploom_contract::progress::{Advance, advance_by_stride};
use warploom_formats::raw_graph::Edges;

use super::counter::Counter;

/// Edges in one task.
const PIECE_EDGES: usize = 1 << 14;
/// Probabilities in 1 / 2^16 that both ends are in the lower half, that only the target is in the
/// upper half, that only the source is.
const QUARTERS: [u64; 3] = [37_356, 12_452, 12_452];
/// Random numbers of 16 bits in 64 bits.
const CHANCES: u32 = 4;
/// Draws of a pair beyond the nodes before its ends are reduced modulo the nodes.
const TRIES: u64 = 64;

/// Generates each edge independently.
fn generate_edges(
    count: u64,
    advance: Advance<'_>,
    edge: impl Fn(u64) -> (u32, u32) + Sync,
) -> Edges {
    let made = |at: usize| {
        advance_by_stride(advance, at);
        edge(at as u64)
    };
    let (source, target) =
        (0..count as usize).into_par_iter().with_min_len(PIECE_EDGES).map(made).unzip();
    Edges { source, target, ..Edges::default() }
}

/// R-MAT: each of log2(nodes) steps chooses a quadrant of the matrix. Parallel edges and self loops
/// stay.
pub fn rmat(nodes: u32, edges: u64, seed: u64, advance: Advance<'_>) -> Edges {
    let scale = u32::BITS - nodes.saturating_sub(1).leading_zeros();
    let counter = Counter::new(seed, "rmat");
    let words = u64::from(scale.div_ceil(CHANCES));
    generate_edges(edges, advance, |edge| {
        let drawn =
            (0..TRIES).map(|attempt| draw_quarters(counter.part(attempt), edge * words, scale));
        drawn.into_iter().find(|&(source, target)| source < nodes && target < nodes).unwrap_or_else(
            || {
                let (source, target) = draw_quarters(counter, edge * words, scale);
                (source % nodes, target % nodes)
            },
        )
    })
}

fn draw_quarters(counter: Counter, first: u64, scale: u32) -> (u32, u32) {
    let (mut source, mut target, mut bits) = (0, 0, 0);
    for step in 0..scale {
        if step % CHANCES == 0 {
            bits = counter.bits(first + u64::from(step / CHANCES));
        }
        let chance = bits & 0xffff;
        bits >>= 16;
        let upper_source = u32::from(chance >= QUARTERS[0] + QUARTERS[1]);
        let upper_target = u32::from(
            chance >= QUARTERS[0] && chance < QUARTERS[0] + QUARTERS[1]
                || chance >= QUARTERS.iter().sum(),
        );
        (source, target) = (source << 1 | upper_source, target << 1 | upper_target);
    }
    (source, target)
}

/// Pairs of different nodes, drawn uniformly. Parallel edges stay.
pub fn random(nodes: u32, edges: u64, seed: u64, advance: Advance<'_>) -> Edges {
    let (heads, tails) = (Counter::new(seed, "random source"), Counter::new(seed, "random target"));
    generate_edges(edges, advance, |edge| {
        let source = heads.below(edge, u64::from(nodes)) as u32;
        let other = tails.below(edge, u64::from(nodes) - 1) as u32;
        (source, other + u32::from(other >= source))
    })
}

/// Grid: node `row * width + column` has edges to the nodes left, right, above and below, in both
/// directions; sorted by (source, target).
pub fn grid(width: u32, height: u32, advance: Advance<'_>) -> Edges {
    let neighbours = |node: u32| {
        advance_by_stride(&|nodes| advance(4 * nodes), node as usize);
        let (row, column) = (node / width, node % width);
        let all = [
            (row > 0, node.wrapping_sub(width)),
            (column > 0, node.wrapping_sub(1)),
            (column + 1 < width, node.wrapping_add(1)),
            (row + 1 < height, node.wrapping_add(width)),
        ];
        all.into_iter().filter(|(is_there, _)| *is_there).map(move |(_, other)| (node, other))
    };
    let (source, target) = (0..width * height)
        .into_par_iter()
        .with_min_len(PIECE_EDGES)
        .flat_map_iter(neighbours)
        .unzip();
    Edges { source, target, ..Edges::default() }
}

/// Star: edges between node 0 and all others, in both directions; sorted by (source, target).
pub fn star(nodes: u32, advance: Advance<'_>) -> Edges {
    let leaves = u64::from(nodes.saturating_sub(1));
    generate_edges(2 * leaves, advance, |edge| {
        if edge < leaves { (0, edge as u32 + 1) } else { ((edge - leaves) as u32 + 1, 0) }
    })
}

/// `count` complete graphs of `size` nodes; sorted by (source, target).
pub fn cliques(count: u32, size: u32, advance: Advance<'_>) -> Edges {
    let row = u64::from(size.saturating_sub(1));
    generate_edges(u64::from(count) * u64::from(size) * row, advance, |edge| {
        let (source, other) = ((edge / row) as u32, (edge % row) as u32);
        let first = source / size * size;
        (source, first + other + u32::from(other >= source - first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(edges: &Edges) -> Vec<(u32, u32)> {
        edges.source.iter().copied().zip(edges.target.iter().copied()).collect()
    }

    #[test]
    fn small_shapes_are_as_drawn_by_hand() {
        assert_eq!(
            pairs(&grid(2, 2, &|_| {})),
            [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]
        );
        assert_eq!(pairs(&grid(3, 1, &|_| {})), [(0, 1), (1, 0), (1, 2), (2, 1)]);
        assert_eq!(pairs(&star(4, &|_| {})), [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(
            pairs(&cliques(2, 3, &|_| {})),
            [
                (0, 1),
                (0, 2),
                (1, 0),
                (1, 2),
                (2, 0),
                (2, 1),
                (3, 4),
                (3, 5),
                (4, 3),
                (4, 5),
                (5, 3),
                (5, 4)
            ]
        );
        assert!(
            star(1, &|_| {}).is_empty()
                && star(0, &|_| {}).is_empty()
                && cliques(5, 1, &|_| {}).is_empty()
                && grid(1, 1, &|_| {}).is_empty()
                && rmat(1, 0, 1, &|_| ()).is_empty()
        );
    }

    #[test]
    fn rmat_has_hubs_and_random_has_none() {
        let largest = |edges: &Edges, nodes: usize| {
            let mut degrees = vec![0; nodes];
            edges.target.iter().for_each(|&target| degrees[target as usize] += 1);
            degrees.into_iter().max().unwrap()
        };
        let (skewed, flat) =
            (rmat(1 << 14, 1 << 18, 5, &|_| ()), random(1 << 14, 1 << 18, 5, &|_| ()));
        assert!(
            skewed.len() == 1 << 18
                && largest(&skewed, 1 << 14) > 1000
                && largest(&flat, 1 << 14) < 50
        );
        assert!(pairs(&flat).iter().all(|(source, target)| source != target));
        // The share of each quarter of the matrix.
        let half = 1 << 13;
        let lower = pairs(&skewed)
            .iter()
            .filter(|&&(source, target)| source < half && target < half)
            .count() as f64
            / f64::from(1 << 18);
        assert!((lower - 0.57).abs() < 0.005, "{lower}");
        let odd = rmat(1000, 5000, 5, &|_| ());
        assert!(
            odd.len() == 5000
                && pairs(&odd).iter().all(|&(source, target)| source < 1000 && target < 1000)
        );
    }

    #[test]
    fn the_bytes_do_not_depend_on_threads_but_on_the_seed() {
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(
                pool.install(|| rmat(5000, 100_000, 1, &|_| ())) == rmat(5000, 100_000, 1, &|_| ())
                    && pool.install(|| grid(300, 200, &|_| {})) == grid(300, 200, &|_| {})
            );
        }
        assert!(
            rmat(5000, 100_000, 1, &|_| ()) != rmat(5000, 100_000, 2, &|_| ())
                && random(50, 100, 1, &|_| ()) != random(50, 100, 2, &|_| ())
        );
    }
}
