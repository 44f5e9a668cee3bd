//! Communities of a graph that comes without any: cells around random nodes, then some rounds of the best neighbour.
//!
//! promises  the same communities for any number of threads; O(edges) for graphs whose cells are a few steps wide
//! never     claims to be good clustering: it gives made-up labels something that follows the edges
use crate::{
    generate::counter::{Counter, mix},
    transform,
};
use rayon::prelude::*;
use warploom_formats::raw::Edges;

/// Steps that a cell grows; nodes farther from every centre stay alone.
const STEPS_MOST: u32 = 64;
/// Rounds in which half of the nodes join the best cell among their neighbours'.
const ROUNDS: u64 = 6;
/// A cell of this many times the mean size attracts nobody.
const SIZE_MOST: i128 = 8;
const NONE: u32 = u32::MAX;

/// The community of each node, numbered from 0 without gaps; about `mean` nodes each.
pub fn find(edges: &Edges, nodes: u32, mean: u32, seed: u64) -> Vec<u32> {
    let bare = Edges { source: edges.source.clone(), target: edges.target.clone(), ..Edges::default() };
    let edges = transform::symmetrize(bare, nodes);
    let graph = Neighbours { offsets: transform::offsets(&edges.source, nodes), target: edges.target };
    let mut cell = grow(&graph, nodes, mean, Counter::new(seed, "centres"));
    for round in 0..ROUNDS {
        cell = join_best(&graph, &cell, mean, Counter::new(seed, "joins").part(round));
    }
    renumber(cell)
}

struct Neighbours {
    offsets: Vec<u64>,
    target: Vec<u32>,
}

impl Neighbours {
    fn of(&self, node: u32) -> &[u32] {
        &self.target[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }
}

/// One node in `mean` is a centre; every other joins a cell that a neighbour was in one step before.
fn grow(graph: &Neighbours, nodes: u32, mean: u32, counter: Counter) -> Vec<u32> {
    let is_centre = |node: u32| counter.below(u64::from(node), u64::from(mean.max(1))) == 0;
    let mut cell: Vec<u32> = (0..nodes).into_par_iter().map(|node| if is_centre(node) { node } else { NONE }).collect();
    let mut open: Vec<u32> = (0..nodes).filter(|&node| cell[node as usize] == NONE).collect();
    for _ in 0..STEPS_MOST {
        let join = |&node: &u32| {
            let near = graph.of(node).iter().map(|&neighbour| cell[neighbour as usize]).filter(|&cell| cell != NONE);
            near.min_by_key(|&cell| (counter.bits(mix(u64::from(cell) << 32 | u64::from(node))), cell)).unwrap_or(NONE)
        };
        let joined: Vec<u32> = open.par_iter().map(join).collect();
        let before = open.len();
        open.iter().zip(&joined).for_each(|(&node, &joined)| cell[node as usize] = joined);
        open.retain(|&node| cell[node as usize] == NONE);
        if open.len() == before {
            break;
        }
    }
    open.iter().for_each(|&node| cell[node as usize] = node);
    cell
}

/// Half of the nodes join the cell with the best score among their own and their neighbours'; of equal ones the own, else one by chance.
///
/// The score is the number of neighbours in the cell, less a share of all neighbours that grows with the cell (modularity with a resolution).
fn join_best(graph: &Neighbours, cell: &[u32], mean: u32, counter: Counter) -> Vec<u32> {
    let mut volume = vec![0u64; cell.len()];
    cell.iter().enumerate().for_each(|(node, &cell)| volume[cell as usize] += graph.of(node as u32).len() as u64);
    let (edges, nodes) = (graph.target.len() as i128, cell.len() as i128);
    let choose = |near: &mut Vec<u32>, node: usize| {
        let own = cell[node];
        if counter.bits(node as u64) & 1 == 0 {
            return own;
        }
        near.clear();
        near.extend(graph.of(node as u32).iter().map(|&neighbour| cell[neighbour as usize]));
        let degree = near.len() as i128;
        near.sort_unstable();
        let score = |run: &[u32]| run.len() as i128 * edges * SIZE_MOST * i128::from(mean) - degree * nodes * i128::from(volume[run[0] as usize]);
        near.chunk_by(|a, b| a == b).max_by_key(|run| (score(run), run[0] == own, counter.bits(u64::from(run[0])))).map_or(own, |run| run[0])
    };
    (0..cell.len()).into_par_iter().map_init(Vec::new, choose).collect()
}

fn renumber(mut cell: Vec<u32>) -> Vec<u32> {
    let mut number = vec![NONE; cell.len()];
    let mut next = 0;
    for cell in &mut cell {
        let slot = &mut number[*cell as usize];
        if *slot == NONE {
            *slot = next;
            next += 1;
        }
        *cell = *slot;
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::communities::{Recipe, generate};

    #[test]
    fn communities_follow_the_edges_and_no_one_takes_all() {
        let recipe = Recipe { nodes: 20_000, edges: 240_000, loops: 0, symmetric: true, max_degree: 500, community: 128, inside: 0.7, seed: 3 };
        let edges = generate(&recipe).unwrap().edges;
        let found = find(&edges, recipe.nodes, 128, 9);
        let inside = edges.source.iter().zip(&edges.target).filter(|&(&source, &target)| found[source as usize] == found[target as usize]).count();
        println!("{:.3} of the edges inside", inside as f64 / edges.len() as f64);
        assert!(inside * 10 > edges.len() * 3, "{inside} of {}", edges.len());
        let count = *found.iter().max().unwrap() as usize + 1;
        let mut sizes = vec![0; count];
        found.iter().for_each(|&community| sizes[community as usize] += 1);
        assert!(sizes.iter().all(|&size| size > 0 && size < 2_000), "{:?}", sizes.iter().max());
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| find(&edges, recipe.nodes, 128, 9)) == found);
        }
    }

    #[test]
    fn degenerate_graphs_have_communities_too() {
        assert!(find(&Edges::default(), 0, 128, 1).is_empty());
        assert_eq!(find(&Edges::default(), 3, 128, 1), [0, 1, 2]);
        let path = Edges { source: (0..999).collect(), target: (1..1000).collect(), ..Edges::default() };
        assert!(find(&path, 1000, 16, 1).iter().max().unwrap() < &200);
    }
}
