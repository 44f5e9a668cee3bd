//! low_degree_rows: a plain sum over the edges of rows that have few, or that are done in slices: two edges of
//! a group at hand, or four, and as many groups as a processor holds; each lane has two pieces of a
//! row that fills its lanes, of 32 columns and more.
//!
//! promises  says what lanes and edges a walk has, how many blocks a processor; a row is added up
//!           in the order of its edges, as elsewhere
//! never     is taken where more is done with an edge than to add its row up, or, but for slices,
//!           where rows are fewer than groups: a row's edges should all be on their way then
use super::row_walk::{Load, THREADS};
use super::value_text::{Lanes, Writer};
use super::walk_steps::Walk;
use super::{Order, Unit};
use crate::launch::Rows;

/// Rows that a vertex reads and writes, by its launch's bytes, at most; what lists have of an edge
/// counts as two columns. One H200, us, 16 columns (8 edges at hand and four blocks, two and
/// eight): OVCAR-8H 129 and 86, TWITTER-Partial 42 and 30, com-amazon, far rows, 29.7 and 24.2; of
/// 8 and 12 edges (amazon0601, amazon0505) 43.6 and 39.3, 51.6 and 51.6; of 23 and 32
/// (soc-BlogCatalog, artist) 17.3 and 19.7, 14.4 and 15.6.
const READ_MOST: u64 = 8;
const LISTED: u64 = 2;
/// Of near rows four edges are at hand up to so many.
const READ_MOST_NEAR: u64 = 19;
/// Lanes from which on each has two pieces. One H200, us, OVCAR-8H, 32 columns 161 and 155, 64 302
/// and 288, 128 594 and 555; weighted 180 and 159, 332 and 297, 608 and 564. Three pieces were not
/// tried.
const HALVED_LANES: usize = 8;
/// Lanes below which far rows have more edges at hand: of 2 and 8 columns com-amazon takes 17.0 and
/// 20.1 us, 17.7 and 19.4.
const FAR_LANES: usize = 4;
/// Edges of a plain sum from which on 128 columns and more are done in slices of 64. One H200, us,
/// 256 columns in slices of 128 and of 64: artist 156 and 152, ogbl-ddi 157 and 144; of fewer edges
/// 20.0 and 21.0 (Wikipedia), 12.3 and 14.5 (PPI).
const EDGES_OF_SLICES: u64 = 1 << 20;
const SLICED_COLUMNS: usize = 128;

/// How a walk is gone about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
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
    pub(super) fn few(&self, writer: &Writer) -> Option<Schedule> {
        let (walk, lanes) = (writer.walk, writer.lanes);
        let load = (walk.passes() == 1).then(|| Load::of(writer, 1, self.target.bytes_per_real))?;
        // Four pieces a lane (1,323 columns) fit three blocks with four edges on all architectures;
        // with two neither four nor three do.
        if walk.draws() || lanes.overlaps() || !load.is_plain() || lanes.chunks > 2 {
            return None;
        }
        let is_followed = self.is_followed();
        let after = !writer.rows[1].is_empty() || is_followed;
        // Registers: what is read before edges waits for them, what is done behind them takes a few
        // more. Seven blocks leave a thread as many as eight.
        let (is_wide, waits_beside_two) = (has_wide_rows(walk), load.waits() && load.lists() > 1);
        let waits_for_much = load.waits() && is_wide || waits_beside_two;
        let whole = match (waits_for_much, load.waits() || is_followed || is_wide) {
            (true, _) => 4,
            (false, true) => 5,
            (false, false) => 7 - u32::from(after),
        };
        if lanes.slices > 1 && lanes.lanes <= HALVED_LANES {
            // GIN's sums of amazon0505 by Rabbit Order, 64 columns: 186 -> 163 us.
            let blocks = if load.waits() { 6 } else { whole };
            return (!waits_for_much).then_some(Schedule { lanes, edges: 2, blocks, asks: true });
        }
        let is_near = self.target.order == Order::Local;
        let half = Lanes { lanes: lanes.lanes / 2, chunks: lanes.chunks * 2, ..lanes };
        let may_halve = lanes.lanes >= HALVED_LANES && !lanes.has_tail() && !waits_beside_two;
        if may_halve && is_wide && half.lanes == HALVED_LANES {
            let fits = is_near
                && self.is_many(half, 3)
                && self.reads_at_most(READ_MOST_NEAR, lanes.places);
            return fits.then_some(Schedule { lanes: half, edges: 4, blocks: 3, asks: false });
        }
        let halves = may_halve && !is_wide;
        let blocks = match (halves, load.waits() || after) {
            (false, _) => whole,
            (true, true) => 4,
            (true, false) => 5,
        };
        // Pieces of one or two columns, of wide rows that no whole vector divides, are as many more
        // loads and addresses: two a lane (602 columns) do not fit seven blocks.
        let blocks = if lanes.vector < 4 && lanes.chunks > 1 { blocks.min(5) } else { blocks };
        let lanes = if halves { half } else { lanes };
        if !self.is_many(lanes, blocks) || !(is_near || lanes.lanes >= FAR_LANES) {
            return None;
        }
        // Two lists beside rows of 33 to 64 columns leave no room for a fifth block (weighted,
        // OVCAR-8H, two edges and four: 325 and 311 us).
        let is_short_of_room = halves && lanes.lanes == HALVED_LANES && load.lists() > 1;
        if self.reads_at_most(READ_MOST, lanes.places) && !is_short_of_room {
            return Some(Schedule { lanes, edges: 2, blocks, asks: true });
        }
        let is_of_four = halves && lanes.lanes == HALVED_LANES && (is_short_of_room || is_near);
        let reads = if is_near { READ_MOST_NEAR } else { READ_MOST };
        (is_of_four && self.reads_at_most(reads, lanes.places)).then_some(Schedule {
            lanes,
            edges: 4,
            blocks: blocks.min(4),
            asks: true,
        })
    }

    /// Whether rows are as many as groups of all processors.
    fn is_many(&self, lanes: Lanes, blocks: u32) -> bool {
        self.nodes() >= u64::from(self.target.processors * blocks * THREADS) / lanes.lanes as u64
    }

    /// Whether a vertex reads and writes so many rows at most.
    fn reads_at_most(&self, rows: u64, places: usize) -> bool {
        self.launch.bytes <= rows * 4 * self.nodes() * (places as u64 + LISTED)
    }

    /// Slices of a plain sum of many edges whose rows lie in the second cache, whose steps are
    /// those of whole rows.
    pub(super) fn narrow_slices(&self, places: usize) -> Option<Lanes> {
        let of_edges = (self.launch.bytes / 4).saturating_sub(self.nodes() * places as u64)
            / (places as u64 + 1);
        let is_near =
            self.target.order == Order::Local && self.reads_at_most(READ_MOST_NEAR, places);
        let (lanes, vector) = (2 * HALVED_LANES, 4);
        let fits = places >= SLICED_COLUMNS
            && places.is_multiple_of(lanes * vector)
            && of_edges >= EDGES_OF_SLICES
            && !is_near;
        fits.then(|| Lanes { places, vector, lanes, chunks: 1, slices: places / (lanes * vector) })
    }
}

/// Whether several wide rows of a vertex are read: they take registers.
fn has_wide_rows(walk: &Walk) -> bool {
    let widest = walk.leaves.iter().map(|leaf| leaf.columns).max().unwrap_or(1);
    walk.leaves.iter().filter(|leaf| leaf.columns == widest && leaf.rows == Rows::Nodes).count() > 1
}
