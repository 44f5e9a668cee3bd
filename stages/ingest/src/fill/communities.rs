//! communities: communities of a graph: cells around random centres, then rounds of moves to the
//! best neighbouring cell.
//!
//! promises  the same communities for any number of threads, with neighbours in memory or in a
//!           file; O(edges) for graphs with cells a few steps wide
//! never     gives a good clustering: it only makes synthetic labels follow the edges
use crate::{
    generate::counter::{Counter, mix},
    transform,
};
use rayon::prelude::*;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    ops::Range,
    os::unix::fs::FileExt,
};
use warploom_contract::progress::{Advance, advance_by_stride};
use warploom_formats::{out_of_core::Limit, raw_graph::Edges};

/// Most growth steps of a cell; nodes farther from every centre are cells of their own.
const STEPS_MOST: u32 = 64;
/// Rounds in which half of the nodes join the best cell among their neighbours'.
const ROUNDS: u64 = 6;
/// A cell of this many times the mean size attracts no further node.
const SIZE_MOST: i128 = 8;
const NONE: u32 = u32::MAX;
/// Least neighbours that are read from a file at once.
const BLOCK_LEAST: u64 = 1 << 10;

/// The community of each node, numbered from 0 without gaps; about `mean` nodes each.
pub fn find(edges: &Edges, nodes: u32, mean: u32, seed: u64, advance: Advance<'_>) -> Vec<u32> {
    let bare =
        Edges { source: edges.source.clone(), target: edges.target.clone(), ..Edges::default() };
    let edges = transform::symmetrize(bare, nodes);
    let graph = Neighbours {
        offsets: transform::offsets(&edges.source, nodes),
        target: Targets::Held(edges.target),
    };
    find_from_neighbours(&graph, mean, seed, advance)
        .expect("neighbours in memory are read without a file")
}

/// `find` with neighbours in memory or in a file.
pub fn find_from_neighbours(
    graph: &Neighbours,
    mean: u32,
    seed: u64,
    advance: Advance<'_>,
) -> io::Result<Vec<u32>> {
    let mut cell = grow_cells(graph, mean, Counter::new(seed, "centres"), advance)?;
    for round in 0..ROUNDS {
        cell =
            join_best_cell(graph, &cell, mean, Counter::new(seed, "joins").part(round), advance)?;
    }
    Ok(renumber(cell))
}

/// The neighbours of all nodes.
pub struct Neighbours {
    /// The neighbours of node `v` are `offsets[v]..offsets[v + 1]`.
    offsets: Vec<u64>,
    target: Targets,
}

enum Targets {
    Held(Vec<u32>),
    /// In an unnamed temporary file, read in blocks of about this many.
    File {
        file: File,
        block: u64,
    },
}

/// Writes neighbours to memory or to a file.
pub struct NeighbourWriter {
    offsets: Vec<u64>,
    file: BufWriter<File>,
    block: u64,
}

impl NeighbourWriter {
    /// A writer for this many nodes.
    pub fn new(nodes: u32, limit: &Limit) -> io::Result<NeighbourWriter> {
        let file = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&limit.folder)?);
        Ok(NeighbourWriter {
            offsets: vec![0; nodes as usize + 1],
            file,
            block: (limit.memory / 16).max(BLOCK_LEAST),
        })
    }

    /// Adds a neighbour; nodes must ascend.
    pub fn push(&mut self, node: u32, neighbour: u32) -> io::Result<()> {
        self.offsets[node as usize + 1] += 1;
        self.file.write_all(&neighbour.to_le_bytes())
    }

    /// Ends writing and returns the neighbours.
    pub fn finish(self) -> io::Result<Neighbours> {
        let NeighbourWriter { mut offsets, file, block } = self;
        let mut before = 0;
        offsets.iter_mut().for_each(|count| {
            before += *count;
            *count = before;
        });
        Ok(Neighbours {
            offsets,
            target: Targets::File {
                file: file.into_inner().map_err(io::IntoInnerError::into_error)?,
                block,
            },
        })
    }
}

/// The neighbours of consecutive nodes.
#[derive(Clone, Copy)]
struct Block<'a> {
    offsets: &'a [u64],
    target: &'a [u32],
    /// Offset of `target` among all neighbours.
    first: u64,
}

impl Block<'_> {
    fn neighbours_of(&self, node: u32) -> &[u32] {
        &self.target[(self.offsets[node as usize] - self.first) as usize
            ..(self.offsets[node as usize + 1] - self.first) as usize]
    }
}

impl Neighbours {
    fn nodes(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    fn degree(&self, node: usize) -> u64 {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Calls `take` with blocks of consecutive nodes and their neighbours, in order.
    fn for_each_block(&self, mut take: impl FnMut(Range<u32>, Block)) -> io::Result<()> {
        let (file, most) = match &self.target {
            Targets::Held(target) => {
                take(0..self.nodes(), Block { offsets: &self.offsets, target, first: 0 });
                return Ok(());
            }
            Targets::File { file, block } => (file, *block),
        };
        let (mut begin, mut bytes, mut target) = (0, Vec::new(), Vec::new());
        while begin < self.nodes() {
            let first = self.offsets[begin as usize];
            // At least one node, whatever its degree.
            let end = (self.offsets.partition_point(|&offset| offset <= first + most) as u32)
                .saturating_sub(1)
                .clamp(begin + 1, self.nodes());
            bytes.resize((self.offsets[end as usize] - first) as usize * 4, 0);
            file.read_exact_at(&mut bytes, first * 4)?;
            target.clear();
            target.extend(
                bytes
                    .chunks_exact(4)
                    .map(|four| u32::from_le_bytes(std::array::from_fn(|byte| four[byte]))),
            );
            take(begin..end, Block { offsets: &self.offsets, target: &target, first });
            begin = end;
        }
        Ok(())
    }
}

/// One of `mean` nodes is a centre; each other node joins a cell that a neighbour had one step
/// before.
fn grow_cells(
    graph: &Neighbours,
    mean: u32,
    counter: Counter,
    advance: Advance<'_>,
) -> io::Result<Vec<u32>> {
    let nodes = graph.nodes();
    let is_centre = |node: u32| counter.below(u64::from(node), u64::from(mean.max(1))) == 0;
    let mut cell: Vec<u32> =
        (0..nodes).into_par_iter().map(|node| if is_centre(node) { node } else { NONE }).collect();
    let mut open: Vec<u32> = (0..nodes).filter(|&node| cell[node as usize] == NONE).collect();
    for _ in 0..STEPS_MOST {
        let mut joined: Vec<u32> = Vec::with_capacity(open.len());
        graph.for_each_block(|range, block| {
            let join = |&node: &u32| {
                advance_by_stride(advance, node as usize);
                let near = block
                    .neighbours_of(node)
                    .iter()
                    .map(|&neighbour| cell[neighbour as usize])
                    .filter(|&cell| cell != NONE);
                near.min_by_key(|&cell| {
                    (counter.bits(mix(u64::from(cell) << 32 | u64::from(node))), cell)
                })
                .unwrap_or(NONE)
            };
            let own = open.partition_point(|&node| node < range.start)
                ..open.partition_point(|&node| node < range.end);
            joined.par_extend(open[own].par_iter().map(join));
        })?;
        let before = open.len();
        open.iter().zip(&joined).for_each(|(&node, &joined)| cell[node as usize] = joined);
        open.retain(|&node| cell[node as usize] == NONE);
        if open.len() == before {
            break;
        }
    }
    open.iter().for_each(|&node| cell[node as usize] = node);
    Ok(cell)
}

/// Half of the nodes join the cell with the best score among their own and their neighbours'; ties
/// go to their own, else to a random one.
///
/// The score is the number of neighbours in the cell, minus a share of all neighbours that grows
/// with the cell (modularity with a resolution).
fn join_best_cell(
    graph: &Neighbours,
    cell: &[u32],
    mean: u32,
    counter: Counter,
    advance: Advance<'_>,
) -> io::Result<Vec<u32>> {
    let mut volume = vec![0u64; cell.len()];
    cell.iter().enumerate().for_each(|(node, &cell)| volume[cell as usize] += graph.degree(node));
    let (edges, nodes) = (graph.offsets.last().copied().unwrap_or(0) as i128, cell.len() as i128);
    let mut joined = Vec::with_capacity(cell.len());
    graph.for_each_block(|range, block| {
        let choose = |near: &mut Vec<u32>, node: u32| {
            advance_by_stride(advance, node as usize);
            let own = cell[node as usize];
            if counter.bits(u64::from(node)) & 1 == 0 {
                return own;
            }
            near.clear();
            near.extend(
                block.neighbours_of(node).iter().map(|&neighbour| cell[neighbour as usize]),
            );
            let degree = near.len() as i128;
            near.sort_unstable();
            let score = |run: &[u32]| {
                run.len() as i128 * edges * SIZE_MOST * i128::from(mean)
                    - degree * nodes * i128::from(volume[run[0] as usize])
            };
            near.chunk_by(|a, b| a == b)
                .max_by_key(|run| (score(run), run[0] == own, counter.bits(u64::from(run[0]))))
                .map_or(own, |run| run[0])
        };
        joined.par_extend(range.into_par_iter().map_init(Vec::new, choose));
    })?;
    Ok(joined)
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
        let recipe = Recipe {
            nodes: 20_000,
            edges: 240_000,
            loops: 0,
            symmetric: true,
            max_degree: 500,
            community: 128,
            inside: 0.7,
            seed: 3,
        };
        let edges = generate(&recipe).unwrap().edges;
        let found = find(&edges, recipe.nodes, 128, 9, &|_| {});
        let inside = edges
            .source
            .iter()
            .zip(&edges.target)
            .filter(|&(&source, &target)| found[source as usize] == found[target as usize])
            .count();
        println!("{:.3} of the edges inside", inside as f64 / edges.len() as f64);
        assert!(inside * 10 > edges.len() * 3, "{inside} of {}", edges.len());
        let count = *found.iter().max().unwrap() as usize + 1;
        let mut sizes = vec![0; count];
        found.iter().for_each(|&community| sizes[community as usize] += 1);
        assert!(sizes.iter().all(|&size| size > 0 && size < 2_000), "{:?}", sizes.iter().max());
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| find(&edges, recipe.nodes, 128, 9, &|_| {})) == found);
        }
    }

    #[test]
    fn neighbours_in_a_file_have_the_communities_of_those_in_memory() {
        let recipe = Recipe {
            nodes: 3000,
            edges: 30_000,
            loops: 0,
            symmetric: true,
            max_degree: 400,
            community: 64,
            inside: 0.7,
            seed: 3,
        };
        let edges = transform::symmetrize(generate(&recipe).unwrap().edges, recipe.nodes);
        let folder = tempfile::tempdir().unwrap();
        let limit = Limit { memory: 0, folder: folder.path().to_path_buf() };
        let mut list = NeighbourWriter::new(recipe.nodes, &limit).unwrap();
        edges
            .source
            .iter()
            .zip(&edges.target)
            .for_each(|(&source, &target)| list.push(source, target).unwrap());
        let mut graph = list.finish().unwrap();
        for block in [1, 7, BLOCK_LEAST, u64::from(u32::MAX)] {
            let Targets::File { block: own, .. } = &mut graph.target else {
                panic!("expected a file")
            };
            *own = block;
            assert!(
                find_from_neighbours(&graph, 64, 5, &|_| {}).unwrap()
                    == find(&edges, recipe.nodes, 64, 5, &|_| {}),
                "{block}"
            );
        }
    }

    #[test]
    fn degenerate_graphs_have_communities_too() {
        assert!(find(&Edges::default(), 0, 128, 1, &|_| {}).is_empty());
        assert_eq!(find(&Edges::default(), 3, 128, 1, &|_| {}), [0, 1, 2]);
        let path =
            Edges { source: (0..999).collect(), target: (1..1000).collect(), ..Edges::default() };
        assert!(find(&path, 1000, 16, 1, &|_| {}).iter().max().unwrap() < &200);
    }
}
