//! edge_order: the edges of vertices, or the entries of sparse features, in the order of work items
//! on a GPU: rows with most edges first, the edges of each row by edge id, or by column.
//!
//! promises  every row is an item, also one without edges; rows with equally many edges keep their
//!           order; the graph, the cut and the device alone decide which rows get a block, or a
//!           warp, of their own
//! never     changes the order of the edges of a row
use rayon::prelude::*;
use warploom_cpu::evaluate::{EdgeGraph, EdgeList};
use warploom_cpu::sparse_product::SparseRows;
use warploom_cuda::{Cut, Tier};
use warploom_ir::Direction;
use warploom_tuning as tuning;

/// The lists of one direction.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Row of each item.
    pub row: Vec<u32>,
    /// First slot of each item, and the end.
    pub offset: Vec<u32>,
    /// The far vertex of each slot.
    pub far: Vec<u32>,
    /// The edge row of each slot.
    pub edge: Vec<u32>,
}

impl Items {
    /// The items of a direction. Over both, in-edges come first, and edge rows of out-edges follow
    /// those of all in-edges.
    pub fn from_edges(
        graph: &EdgeGraph,
        direction: Direction,
        cuts: &[Cut],
        processors: u32,
    ) -> Option<Items> {
        let lists: Vec<(EdgeList, u32)> = match direction {
            Direction::In => vec![(graph.incoming?, 0)],
            Direction::Out => vec![(graph.outgoing?, 0)],
            Direction::Both => {
                vec![(graph.incoming?, 0), (graph.outgoing?, graph.edge_count as u32)]
            }
        };
        let degree = |row: usize| {
            lists.iter().map(|(list, _)| list.offsets[row + 1] - list.offsets[row]).sum::<u64>()
                as u32
        };
        let edges: usize = lists.iter().map(|(list, _)| list.far.len()).sum();
        // In a local order, neighbouring rows read the same rows: they stay together, except rows
        // with many edges.
        let least = cuts
            .iter()
            .map(|cut| tier_thresholds(graph.nodes, edges, *cut, processors)[1])
            .min()
            .filter(|_| is_local(graph.nodes, &lists));
        let mut items = Items::sort_rows(graph.nodes, degree, least);
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

    /// The entries of sparse features by row, or by column: `far` has the columns, or the rows, and
    /// `edge` the position of each value.
    pub fn from_sparse_entries<T>(features: &SparseRows<T>, by_columns: bool) -> Items {
        let rows = features.offsets.len() - 1;
        if !by_columns {
            let mut items = Items::sort_rows(
                rows,
                |row| (features.offsets[row + 1] - features.offsets[row]) as u32,
                None,
            );
            let edge = |row: &u32| {
                features.offsets[*row as usize] as u32..features.offsets[*row as usize + 1] as u32
            };
            items.edge = items.row.iter().flat_map(edge).collect();
            items.far = items.edge.iter().map(|&entry| features.index[entry as usize]).collect();
            return items;
        }
        let mut kept = vec![0u32; features.columns];
        features.index.iter().for_each(|&column| kept[column as usize] += 1);
        let mut items = Items::sort_rows(features.columns, |column| kept[column], None);
        // The next position of each column: rows come in order.
        let mut next = vec![0u32; features.columns];
        items
            .row
            .iter()
            .zip(&items.offset)
            .for_each(|(&column, &offset)| next[column as usize] = offset);
        for row in 0..rows {
            for entry in features.offsets[row] as usize..features.offsets[row + 1] as usize {
                let place = &mut next[features.index[entry] as usize];
                (items.far[*place as usize], items.edge[*place as usize]) =
                    (row as u32, entry as u32);
                *place += 1;
            }
        }
        items
    }

    /// Items of so many rows, those with most edges first, with empty lists of the right size. With
    /// `kept`, only rows with more edges than this are sorted to the front; the others are sorted
    /// within windows.
    fn sort_rows(rows: usize, degree: impl Fn(usize) -> u32 + Sync, kept: Option<u32>) -> Items {
        let most_first = |row: &u32| std::cmp::Reverse(degree(*row as usize));
        let all = 0..rows as u32;
        let row = match kept {
            None => {
                let mut row: Vec<u32> = all.collect();
                row.par_sort_by_key(most_first);
                row
            }
            Some(most) => {
                let (mut long, mut short): (Vec<u32>, Vec<u32>) =
                    all.partition(|row| degree(*row as usize) > most);
                long.par_sort_by_key(most_first);
                short
                    .par_chunks_mut(tuning::order_window_rows())
                    .for_each(|window| window.sort_by_key(most_first));
                long.append(&mut short);
                long
            }
        };
        Items::from_rows(row, degree)
    }

    /// Items of these rows, with empty lists of the right size.
    fn from_rows(row: Vec<u32>, degree: impl Fn(usize) -> u32) -> Items {
        let mut offset = Vec::with_capacity(row.len() + 1);
        let mut end = 0;
        offset.push(end);
        offset.extend(row.iter().map(|&row| {
            end += degree(row as usize);
            end
        }));
        Items { far: vec![0; end as usize], edge: vec![0; end as usize], row, offset }
    }

    /// The number of items in a tier.
    pub fn count_tier(&self, cut: Cut, tier: Tier, processors: u32) -> u32 {
        let [block, warp] = tier_thresholds(self.row.len(), self.far.len(), cut, processors);
        let longer = |than: u32| self.count_longer(than);
        let (hubs, pieces) = self.multi_block_items(cut, block, processors);
        match tier {
            Tier::Hub => hubs,
            Tier::Pieces => pieces,
            Tier::Block => longer(block) - hubs,
            Tier::Warp => longer(warp) - longer(block),
            Tier::All => self.row.len() as u32,
        }
    }

    /// How many of the items with a block of their own get several, and how many each: the longest
    /// rows would otherwise still run when all else is done.
    fn multi_block_items(&self, cut: Cut, block: u32, processors: u32) -> (u32, u32) {
        let longest = if self.row.is_empty() { 0 } else { self.offset[1] };
        let of_turns = cut.groups_of_warp * cut.warps * cut.in_flight * tuning::multi_block_turns();
        let of_block = self.far.len() as u64
            / (2 * u64::from(processors) * u64::from(cut.blocks_per_processor));
        let piece = of_turns.max(of_block as u32).max(block.div_ceil(2));
        let hubs = self.count_longer(2 * piece).min(cut.hub_blocks / 2);
        let pieces = longest.div_ceil(piece).min(cut.hub_blocks.checked_div(hubs).unwrap_or(0));
        if hubs == 0 || pieces < 2 { (0, 1) } else { (hubs, pieces) }
    }

    /// How many items have more edges than this; they come first.
    fn count_longer(&self, than: u32) -> u32 {
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
}

/// Whether most edges connect nearby rows, in a graph whose rows exceed the L2.
fn is_local(nodes: usize, lists: &[(EdgeList, u32)]) -> bool {
    let distance = tuning::near_rows();
    let near = |list: &EdgeList| {
        let far =
            |row: usize| &list.far[list.offsets[row] as usize..list.offsets[row + 1] as usize];
        let of_row = |row: usize| {
            far(row).iter().filter(|far| (**far as usize).abs_diff(row) < distance).count()
        };
        (0..nodes).into_par_iter().with_min_len(1024).map(of_row).sum::<usize>()
    };
    let edges: usize = lists.iter().map(|(list, _)| list.far.len()).sum();
    nodes >= tuning::ordered_rows()
        && 2 * lists.iter().map(|(list, _)| near(list)).sum::<usize>() > edges
}

/// The numbers of edges above which an item gets a block, or a warp, of its own.
fn tier_thresholds(rows: usize, edges: usize, cut: Cut, processors: u32) -> [u32; 2] {
    let warps = u64::from(processors) * u64::from(cut.blocks_per_processor) * u64::from(cut.warps);
    let groups = warps * u64::from(cut.groups_of_warp);
    // On a small graph lanes have little work, and all wait for the longest row. But where rows are
    // fewer than lanes, and have many edges, all lanes have much work, and one lane group a row
    // would leave others idle.
    let is_dense =
        |among: u64| (rows as u64) < among && edges as u64 > tuning::dense_row_edges() * among;
    let share = |among: u64| {
        if edges < tuning::small_graph_edges() && !is_dense(among) {
            2 * edges as u64 / among
        } else {
            edges as u64 / 2 / among
        }
    };
    let (in_flight, most) = (u64::from(cut.in_flight), tuning::block_row_edges());
    let warp = share(groups).clamp(2 * in_flight, tuning::warp_row_edges().max(2 * in_flight));
    if cut.groups_of_warp == 1 {
        let block = share(warps).clamp(warp, most.max(warp));
        return [block, block].map(|edges| edges as u32);
    }
    let least = warp.max(2 * in_flight * u64::from(cut.groups_of_warp));
    let block = share(warps).clamp(least, most.max(least));
    [block.max(warp), warp].map(|edges| edges as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_all_else_would_wait_for_have_several_blocks() {
        let of = |degrees: &[u32], cut: Cut| {
            let items = Items::sort_rows(degrees.len(), |row| degrees[row], None);
            [Tier::Hub, Tier::Pieces, Tier::Block].map(|tier| items.count_tier(cut, tier, 2))
        };
        let cut = Cut {
            groups_of_warp: 8,
            warps: 8,
            in_flight: 8,
            blocks_per_processor: 4,
            hub_blocks: 512,
            rows_of_group: 1,
        };
        assert_eq!(of(&[20_000, 9000, 3], cut), [1, 3, 1]);
        assert_eq!(of(&[20_000, 9000, 3], Cut { hub_blocks: 0, ..cut }), [0, 1, 2]);
        // If all rows have the same work, none is waited for.
        assert_eq!(of(&[20_000; 64], cut)[0], 0);
        // No more blocks than there is space for.
        assert_eq!(of(&[600_000; 3], Cut { hub_blocks: 4, ..cut }), [2, 2, 1]);
    }

    #[test]
    fn rows_are_shared_sooner_where_they_are_few_and_have_many_edges() {
        let cut = Cut {
            groups_of_warp: 2,
            warps: 8,
            in_flight: 4,
            blocks_per_processor: 6,
            hub_blocks: 512,
            rows_of_group: 1,
        };
        // ogbl-ddi; Wikipedia, with as few rows but fewer edges; artist, with more rows than
        // groups.
        assert_eq!(tier_thresholds(4267, 2_135_822, cut, 132), [168, 84]);
        assert_eq!(tier_thresholds(4777, 184_812, cut, 132), [58, 29]);
        assert_eq!(tier_thresholds(50_515, 1_638_396, cut, 132), [517, 258]);
    }

    #[test]
    fn an_order_is_kept_by_windows_but_for_rows_of_many_edges() {
        let degree = |row: usize| if row == 700 { 9 } else { (row % 3) as u32 };
        let kept = Items::sort_rows(1000, degree, Some(2));
        assert_eq!((kept.row[0], kept.offset[1]), (700, 9));
        assert_eq!(kept.row[1..4], [2, 5, 8]);
        let windows: Vec<Vec<u32>> = kept.row[1..]
            .chunks(tuning::order_window_rows())
            .map(|rows| rows.iter().map(|row| row / 256).collect())
            .collect();
        assert!(
            windows.iter().zip(0..).all(|(rows, window)| rows
                .iter()
                .filter(|of| **of != window)
                .count()
                <= 2),
            "{windows:?}"
        );
        let sorted = Items::sort_rows(1000, degree, None);
        assert_eq!((sorted.row[0], sorted.row[1], sorted.row[999]), (700, 2, 999));
        const ROWS: usize = 1 << 16;
        assert!(tuning::ordered_rows() <= ROWS);
        let near = |row: usize| (row as u32 + 1) % ROWS as u32;
        let [local, spread] = [near, |row: usize| (row as u32).reverse_bits() >> 16].map(|far| {
            let far: Vec<u32> = (0..ROWS).map(far).collect();
            let (offsets, edges): (Vec<u64>, Vec<u32>) =
                ((0..=ROWS as u64).collect(), (0..ROWS as u32).collect());
            is_local(ROWS, &[(EdgeList { offsets: &offsets, far: &far, edges: &edges }, 0)])
        });
        assert!(local && !spread);
    }

    #[test]
    fn entries_are_listed_by_rows_and_by_columns() {
        let features = SparseRows {
            offsets: &[0, 1, 1, 4],
            index: &[2, 0, 1, 2],
            values: &[1.0, 2.0, 3.0, 4.0],
            columns: 4,
        };
        let by_rows = Items::from_sparse_entries(&features, false);
        assert_eq!((by_rows.row, by_rows.offset), (vec![2, 0, 1], vec![0, 3, 4, 4]));
        assert_eq!((by_rows.far, by_rows.edge), (vec![0, 1, 2, 2], vec![1, 2, 3, 0]));
        let by_columns = Items::from_sparse_entries(&features, true);
        assert_eq!((by_columns.row, by_columns.offset), (vec![2, 0, 1, 3], vec![0, 2, 3, 4, 4]));
        assert_eq!((by_columns.far, by_columns.edge), (vec![0, 2, 2, 2], vec![0, 3, 1, 2]));
    }
}
