//! items: the edges of vertices in the order in which a GPU takes them: rows with most edges first, each row's by edge id.
//!
//! promises  every row is an item, those of no edge too; rows of as many edges keep their order; which rows have a block, or a warp, for
//!           themselves follows from the graph, the cut and the device alone
//! never     changes the order of the edges of a row
use rayon::prelude::*;
use warploom_ops::evaluate::{EdgeGraph, EdgeList};
use warploom_vertex::emit::cuda::{Cut, Tier};
use warploom_vertex::launch::Direction;

/// Lists of one direction.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Row of each item.
    pub row: Vec<u32>,
    /// First slot of each item, and the end.
    pub offset: Vec<u32>,
    /// Far vertex of each slot.
    pub far: Vec<u32>,
    /// Row of the edge of each slot.
    pub edge: Vec<u32>,
}

/// Edges below which a graph is small: lanes are many, and each takes a few edges.
const SMALL: usize = 4_000_000;

impl Items {
    /// Of one direction; over both, in-edges come first, and rows of out-edges after those of all in-edges.
    pub fn of(graph: &EdgeGraph, direction: Direction) -> Option<Items> {
        let lists: Vec<(EdgeList, u32)> = match direction {
            Direction::In => vec![(graph.incoming?, 0)],
            Direction::Out => vec![(graph.outgoing?, 0)],
            Direction::Both => vec![(graph.incoming?, 0), (graph.outgoing?, graph.edge_count as u32)],
        };
        let degree = |row: usize| lists.iter().map(|(list, _)| list.offsets[row + 1] - list.offsets[row]).sum::<u64>() as u32;
        let mut row: Vec<u32> = (0..graph.nodes as u32).collect();
        row.par_sort_by_key(|&row| std::cmp::Reverse(degree(row as usize)));
        let mut offset = Vec::with_capacity(graph.nodes + 1);
        let mut end = 0;
        offset.push(end);
        offset.extend(row.iter().map(|&row| {
            end += degree(row as usize);
            end
        }));
        let mut items = Items { far: vec![0; end as usize], edge: vec![0; end as usize], row, offset };
        let (mut far, mut edge) = (items.far.as_mut_slice(), items.edge.as_mut_slice());
        let mut pieces = Vec::with_capacity(items.row.len());
        for &row in &items.row {
            let (far_of_row, far_after) = far.split_at_mut(degree(row as usize) as usize);
            let (edge_of_row, edge_after) = edge.split_at_mut(far_of_row.len());
            pieces.push((row as usize, far_of_row, edge_of_row));
            (far, edge) = (far_after, edge_after);
        }
        pieces.into_par_iter().with_min_len(1024).for_each(|(row, far, edge)| {
            let mut at = 0;
            for (list, shift) in &lists {
                let slots = list.offsets[row] as usize..list.offsets[row + 1] as usize;
                for slot in slots {
                    (far[at], edge[at]) = (list.far[slot], list.edges[slot] + shift);
                    at += 1;
                }
            }
        });
        Some(items)
    }

    /// How many items a tier has.
    pub fn count(&self, cut: Cut, (tier, processors): (Tier, u32)) -> u32 {
        let [block, warp] = self.thresholds(cut, processors);
        let longer = |than: u32| self.longer(than);
        match tier {
            Tier::Block => longer(block),
            Tier::Warp => longer(warp) - longer(block),
            Tier::All => self.row.len() as u32,
        }
    }

    /// How many items have more edges than this: those come first.
    fn longer(&self, than: u32) -> u32 {
        let (mut low, mut high) = (0, self.row.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.offset[middle + 1] - self.offset[middle] > than {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as u32
    }

    /// Edges above which an item has a block, and a warp.
    fn thresholds(&self, cut: Cut, processors: u32) -> [u32; 2] {
        let warps = u64::from(processors) * u64::from(cut.blocks_per_processor) * u64::from(cut.warps);
        let groups = warps * u64::from(cut.groups_of_warp);
        let edges = self.far.len();
        // On small graphs all lanes have little to do, and the longest row is what all wait for.
        let share = |among: u64| if edges < SMALL { 2 * edges as u64 / among } else { edges as u64 / 2 / among };
        let in_flight = u64::from(cut.in_flight);
        let warp = share(groups).clamp(2 * in_flight, 1024.max(2 * in_flight));
        if cut.groups_of_warp == 1 {
            let block = share(warps).clamp(warp, 8192.max(warp));
            return [block, block].map(|edges| edges as u32);
        }
        let block = share(warps).clamp(warp.max(2 * in_flight * u64::from(cut.groups_of_warp)), 8192);
        [block.max(warp), warp].map(|edges| edges as u32)
    }
}
