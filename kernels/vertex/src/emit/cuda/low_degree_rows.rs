//! low_degree_rows: a plain sum over the edges of rows that have few, or that are done in slices:
//! two edges of a group at hand, or four, and as many groups as a processor holds; each lane has
//! two pieces of a row that fills its lanes, of 32 columns and more.
//!
//! promises  says what lanes and edges a walk has, how many blocks a processor; a row is added up
//!           in the order of its edges, as elsewhere
//! never     is taken where more is done with an edge than to add its row up, or, but for slices,
//!           where rows are fewer than groups: a row's edges should all be on their way then
use super::lane_layout::Lanes;
use super::row_walk::{Load, THREADS};
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Order, Unit};
use crate::launch::Rows;
use crate::tuning;

/// How a walk is gone about.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowDegreeSchedule {
    pub lanes: Lanes,
    /// Edges of a group at hand.
    pub edges: usize,
    /// Blocks of a processor.
    pub blocks: u32,
    /// Whether loads ask for their edges, and several turns may be done as one.
    pub asks: bool,
}

impl Unit<'_> {
    /// How this walk is gone about where its rows are many and have few edges; no other way than by
    /// what it holds where they are not.
    pub(super) fn plan_low_degree(&self, lowering: &WalkLowering) -> Option<LowDegreeSchedule> {
        let (walk, lanes) = (lowering.walk, lowering.lanes);
        let load =
            (walk.passes() == 1).then(|| Load::new(lowering, 1, self.target.bytes_per_real))?;
        // Many pieces a lane fit more blocks with four edges than with two.
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
        // Registers: what is read before edges waits for them, what is done behind them takes a few
        // more. Seven blocks leave a thread as many as eight.
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
        // Pieces of one or two columns, of wide rows that no whole vector divides, are as many more
        // loads and addresses: two a lane do not fit as many blocks.
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
        // Two lists beside rows of 33 to 64 columns leave no room for another block.
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

    /// Whether rows are as many as groups of all processors.
    fn is_many(&self, lanes: Lanes, blocks: u32) -> bool {
        self.expected_vertices()
            >= u64::from(self.target.processors * blocks * THREADS) / lanes.lanes as u64
    }

    /// Whether a vertex reads and writes so many rows at most.
    fn reads_at_most(&self, rows: u64, places: usize) -> bool {
        self.launch.bytes
            <= rows * 4 * self.expected_vertices() * (places as u64 + tuning::low_degree_listed())
    }

    /// Slices of a plain sum of many edges whose rows lie in the second cache, whose steps are
    /// those of whole rows.
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

/// Whether several wide rows of a vertex are read: they take registers.
fn has_wide_rows(walk: &Walk) -> bool {
    let widest = walk.leaves.iter().map(|leaf| leaf.columns).max().unwrap_or(1);
    walk.leaves.iter().filter(|leaf| leaf.columns == widest && leaf.rows == Rows::Nodes).count() > 1
}
