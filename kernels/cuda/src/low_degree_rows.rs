//! low_degree_rows: a plain sum over the edges of low-degree rows, or of rows in slices: two or
//! four edges in flight per group, and as many groups per SM as fit. A row of 32 columns or more
//! that fills its lanes has two vectors per lane.
//!
//! promises  chooses lanes, edges in flight and blocks per SM of a walk; a row is added in the
//!           order of its edges, as elsewhere
//! never     is chosen if an edge does more than add its row, or, except for slices, if there are
//!           fewer rows than groups: all edges of a row should be in flight then
use super::lane_layout::Lanes;
use super::row_walk::RegisterEstimate;
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Order, THREADS, Unit};
use warploom_launch::Rows;
use warploom_tuning as tuning;

/// The parameters of the schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowDegreeSchedule {
    pub lanes: Lanes,
    /// Edges in flight per group.
    pub edges: usize,
    /// Minimum resident blocks per SM.
    pub blocks: u32,
    /// Whether loads are conditional on their edge, and the edge loop may be unrolled.
    pub asks: bool,
}

impl Unit<'_> {
    /// The schedule of this walk, if its rows are many and have few edges. If none, the registers
    /// alone decide (`RegisterEstimate`).
    pub(super) fn plan_low_degree(&self, lowering: &WalkLowering) -> Option<LowDegreeSchedule> {
        let (walk, lanes) = (lowering.walk, lowering.lanes);
        let load = (walk.passes() == 1).then(|| RegisterEstimate::new(lowering, 1))?;
        // With many vectors per lane, more blocks fit with four edges than with two.
        if walk.draws()
            || lanes.overlaps()
            || !load.is_plain()
            || lanes.chunks > tuning::low_degree_pieces()
        {
            return None;
        }
        let (edges, edges_near) = (tuning::low_degree_edges(), tuning::low_degree_edges_near());
        let is_followed = self.is_followed();
        let after = !lowering.rows[1].is_empty() || is_followed;
        // Values that are read before the edges, and work after them, take a few more registers.
        // Seven blocks per SM leave a thread as many registers as eight.
        let (is_wide, waits_beside_two) =
            (has_wide_rows(walk), load.waits() && load.list_count() > 1);
        let waits_for_much = load.waits() && is_wide || waits_beside_two;
        let whole = match (waits_for_much, load.waits() || is_followed || is_wide) {
            (true, _) => tuning::low_degree_blocks_crowded(),
            (false, true) => tuning::low_degree_blocks_waiting(),
            (false, false) => tuning::low_degree_blocks() - u32::from(after),
        };
        if lanes.slices > 1 && lanes.lanes <= tuning::low_degree_halved_lanes() {
            let blocks = if load.waits() { tuning::low_degree_blocks_sliced() } else { whole };
            return (!waits_for_much).then_some(LowDegreeSchedule {
                lanes,
                edges,
                blocks,
                asks: true,
            });
        }
        let is_near = self.target.order == Order::Local;
        let half = Lanes { lanes: lanes.lanes / 2, chunks: lanes.chunks * 2, ..lanes };
        let may_halve = lanes.lanes >= tuning::low_degree_halved_lanes()
            && !lanes.has_tail()
            && !waits_beside_two;
        if may_halve && is_wide && half.lanes == tuning::low_degree_halved_lanes() {
            let blocks = tuning::low_degree_blocks_halved_wide();
            let fits = is_near
                && self.is_many(half, blocks)
                && self.reads_at_most(tuning::low_degree_reads_near(), lanes.places);
            return fits.then_some(LowDegreeSchedule {
                lanes: half,
                edges: edges_near,
                blocks,
                asks: false,
            });
        }
        let halves = may_halve && !is_wide;
        let blocks = match (halves, load.waits() || after) {
            (false, _) => whole,
            (true, true) => tuning::low_degree_blocks_halved_waiting(),
            (true, false) => tuning::low_degree_blocks_halved(),
        };
        // Vectors of one or two columns, of wide rows that no full vector divides, take more loads
        // and addresses: with two per lane fewer blocks fit.
        let blocks = if lanes.vector < 4 && lanes.chunks > 1 {
            blocks.min(tuning::low_degree_blocks_narrow())
        } else {
            blocks
        };
        let lanes = if halves { half } else { lanes };
        if !self.is_many(lanes, blocks)
            || !(is_near || lanes.lanes >= tuning::low_degree_far_lanes())
        {
            return None;
        }
        // Two lists and rows of 33 to 64 columns leave no registers for another block.
        let is_short_of_room =
            halves && lanes.lanes == tuning::low_degree_halved_lanes() && load.list_count() > 1;
        if self.reads_at_most(tuning::low_degree_reads(), lanes.places) && !is_short_of_room {
            return Some(LowDegreeSchedule { lanes, edges, blocks, asks: true });
        }
        let is_of_four = halves
            && lanes.lanes == tuning::low_degree_halved_lanes()
            && (is_short_of_room || is_near);
        let reads =
            if is_near { tuning::low_degree_reads_near() } else { tuning::low_degree_reads() };
        (is_of_four && self.reads_at_most(reads, lanes.places)).then_some(LowDegreeSchedule {
            lanes,
            edges: edges_near,
            blocks: blocks.min(tuning::low_degree_blocks_near()),
            asks: true,
        })
    }

    /// Whether there are at least as many rows as groups on all SMs.
    fn is_many(&self, lanes: Lanes, blocks: u32) -> bool {
        self.expected_vertices()
            >= u64::from(self.target.processors * blocks * THREADS) / lanes.lanes as u64
    }

    /// Whether a vertex reads and writes at most this many rows.
    fn reads_at_most(&self, rows: u64, places: usize) -> bool {
        self.launch.bytes
            <= rows * 4 * self.expected_vertices() * (places as u64 + tuning::low_degree_listed())
    }

    /// Slices of a plain sum of many edges whose rows fit L2, with the same steps as whole rows.
    pub(super) fn plan_narrow_slices(&self, places: usize) -> Option<Lanes> {
        let of_edges = (self.launch.bytes / 4)
            .saturating_sub(self.expected_vertices() * places as u64)
            / (places as u64 + 1);
        let is_near = self.target.order == Order::Local
            && self.reads_at_most(tuning::low_degree_reads_near(), places);
        let (lanes, vector) = (2 * tuning::low_degree_halved_lanes(), 4);
        let fits = places >= tuning::dense_slice_columns()
            && places.is_multiple_of(lanes * vector)
            && of_edges >= tuning::dense_slice_edges()
            && !is_near;
        fits.then(|| Lanes { places, vector, lanes, chunks: 1, slices: places / (lanes * vector) })
    }
}

/// Whether a vertex reads several wide rows of its own: they take registers.
fn has_wide_rows(walk: &Walk) -> bool {
    let widest = walk.leaves.iter().map(|leaf| leaf.columns).max().unwrap_or(1);
    walk.leaves.iter().filter(|leaf| leaf.columns == widest && leaf.rows == Rows::Nodes).count() > 1
}
