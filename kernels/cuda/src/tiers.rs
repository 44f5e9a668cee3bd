//! tiers: how many rows of a walk have several blocks, a block, or a warp each; the others have a
//! group of lanes.
//!
//! promises  the degrees, the cut and the device alone decide; rows with most edges come first in
//!           every tier
//! never     looks at an edge
//! limits    O(log rows) reads of the offsets for each cut
use warploom_tuning as tuning;

use super::{Cut, TierCounts};

/// The degrees of rows in the order of a walk: those of more edges than `sorted_above` come first,
/// those with most edges first.
#[derive(Clone, Copy, Debug)]
pub struct WalkedDegrees<'a> {
    /// Where the edges of each row start, and their number.
    pub offsets: &'a [u32],
    /// Rows of more edges come first.
    pub sorted_above: u32,
}

impl TierCounts {
    /// The tiers of rows on a device of so many processors.
    pub fn choose(rows: WalkedDegrees<'_>, cut: Cut, processors: u32) -> TierCounts {
        let (count, edges) = (rows.len(), rows.edges());
        let [block, warp] =
            thresholds(count, edges, cut, processors).map(|edges| edges.max(rows.sorted_above));
        let (hubs, pieces) = rows.multi_block_rows(cut, block, processors);
        let (longer, long) = (rows.count_longer(block), rows.count_longer(warp));
        TierCounts { hubs, pieces, blocks: longer - hubs, warps: long - longer, all: count as u32 }
    }

    /// The blocks of a grid over all tiers.
    pub fn grid_blocks(&self, cut: Cut) -> u32 {
        let light = self.all - self.hubs - self.blocks - self.warps;
        self.hubs * self.pieces
            + self.blocks
            + self.warps.div_ceil(cut.warps)
            + light.div_ceil(cut.warps * cut.groups_of_warp * cut.rows_of_group)
    }
}

impl WalkedDegrees<'_> {
    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn edges(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }

    fn degree(&self, place: usize) -> u32 {
        self.offsets[place + 1].saturating_sub(self.offsets[place])
    }

    /// How many of the rows with a block of their own get several, and how many each: the longest
    /// rows would otherwise still run when all else is done.
    fn multi_block_rows(&self, cut: Cut, block: u32, processors: u32) -> (u32, u32) {
        let longest = if self.len() == 0 { 0 } else { self.degree(0) };
        let of_turns = cut.groups_of_warp * cut.warps * cut.in_flight * tuning::multi_block_turns();
        let of_block =
            self.edges() as u64 / (2 * u64::from(processors) * u64::from(cut.blocks_per_processor));
        let piece = of_turns.max(of_block as u32).max(block.div_ceil(2));
        let hubs = self.count_longer(2 * piece).min(cut.hub_blocks / 2);
        let pieces = longest.div_ceil(piece).min(cut.hub_blocks.checked_div(hubs).unwrap_or(0));
        if hubs == 0 || pieces < 2 { (0, 1) } else { (hubs, pieces) }
    }

    /// How many rows have more edges than this; they come first.
    fn count_longer(&self, than: u32) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.degree(middle) > than {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low as u32
    }
}

/// The numbers of edges above which a row gets a block, or a warp, of its own.
fn thresholds(rows: usize, edges: usize, cut: Cut, processors: u32) -> [u32; 2] {
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
    // A lane alone reads its list by itself; a warp reads neighbouring slots together.
    let most_of_group =
        if cut.groups_of_warp == 32 { tuning::lane_row_edges() } else { tuning::warp_row_edges() };
    let warp = share(groups).clamp(2 * in_flight, most_of_group.max(2 * in_flight));
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
            let ends = degrees.iter().scan(0, |end, degree| {
                *end += degree;
                Some(*end)
            });
            let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
            let rows = WalkedDegrees { offsets: &offsets, sorted_above: 0 };
            let tiers = TierCounts::choose(rows, cut, 2);
            [tiers.hubs, tiers.pieces, tiers.blocks]
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
    fn rows_in_windows_have_no_warp_of_their_own() {
        let cut = Cut {
            groups_of_warp: 8,
            warps: 8,
            in_flight: 2,
            blocks_per_processor: 4,
            hub_blocks: 0,
            rows_of_group: 1,
        };
        // Behind the row of 90 edges come windows, in which 5 and 7 edges are not sorted.
        let offsets = [0, 90, 95, 102, 104];
        let counts = |sorted_above: u32| {
            let tiers =
                TierCounts::choose(WalkedDegrees { offsets: &offsets, sorted_above }, cut, 132);
            (tiers.blocks + tiers.warps, tiers.all)
        };
        assert_eq!(counts(7), (1, 4));
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
        // A dense graph of few rows; one with as few rows but fewer edges; one with more rows than
        // groups.
        assert_eq!(thresholds(4267, 2_135_822, cut, 132), [168, 84]);
        assert_eq!(thresholds(4777, 184_812, cut, 132), [58, 29]);
        assert_eq!(thresholds(50_515, 1_638_396, cut, 132), [517, 258]);
    }
}
