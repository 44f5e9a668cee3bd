//! consecutive_rows: a plain sum over the edges of low-degree rows in a local order: a group
//! processes several consecutive rows in sequence.
//!
//! promises  the lanes of a group hold its next rows and where each ends, and the next edges of all
//!           of them as one list, so that far rows are loaded without waiting for a row's offset
//!           and then for its list; a row is added in the order of its edges, as elsewhere; rows
//!           with many edges have a warp or a block, as elsewhere
//! never     is chosen if values of a row are needed before its edges, or if an edge does much
//!           work: all rows of the group would wait for that; or if a product follows in the same
//!           kernel
use std::fmt::Write;

use super::kernel_parameters::emit_row_context;
use super::lane_layout::Lanes;
use super::row_walk::{
    RegisterEstimate, emit_broadcast, emit_group_merge, emit_item_lookup, emit_opening, stream_list,
};
use super::statement_text::LoadsOf;
use super::statements::{Source, Statements};
use super::walk_lowering::WalkLowering;
use super::{Cut, Order, THREADS, Unit, heavy_rows};
use warploom_tuning as tuning;

/// The parameters of the schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConsecutiveWalk {
    pub lanes: Lanes,
    /// Minimum resident blocks per SM.
    blocks: u32,
}

impl Unit<'_> {
    /// The schedule of this walk, if it applies. Its statements are lowered for these lanes.
    pub(super) fn plan_consecutive(&self, lowering: &WalkLowering) -> Option<ConsecutiveWalk> {
        let (walk, lanes) = (lowering.walk, lowering.lanes);
        let is_near = self.target.order == Order::Local
            && self.target.bytes_per_real == 4
            && walk.passes() == 1;
        if !is_near || self.is_followed() || walk.draws() || lanes.overlaps() || lanes.slices > 1 {
            return None;
        }
        let blocks = RegisterEstimate::new(lowering, 1).consecutive_blocks_per_sm()?;
        // Work on a row after its edges takes registers too.
        let blocks = if lowering.rows[1].is_empty() {
            blocks
        } else {
            blocks.min(tuning::consecutive_blocks_finishing())
        };
        let (nodes, groups) = (self.expected_vertices(), u64::from(THREADS) / lanes.lanes as u64);
        let has_many = nodes / (groups * u64::from(tuning::consecutive_rows()))
            >= tuning::consecutive_blocks_left() * u64::from(blocks * self.target.processors);
        let has_few_edges =
            self.launch.bytes <= tuning::consecutive_reads() * 4 * nodes * lanes.places as u64;
        (has_many
            && has_few_edges
            && nodes >= tuning::consecutive_nodes() * u64::from(self.target.processors))
        .then_some(ConsecutiveWalk { lanes, blocks })
    }
}

/// Lanes for a whole row that would otherwise be sliced: each has two vectors.
pub(super) fn unsliced_lanes(lanes: Lanes) -> Lanes {
    let chunks = lanes.places.div_ceil(lanes.lanes * lanes.vector);
    if lanes.slices > 1 && lanes.lanes == 32 && lanes.places <= tuning::consecutive_columns() {
        Lanes { chunks, slices: 1, ..lanes }
    } else {
        lanes
    }
}

/// Emits the whole kernel.
pub(super) fn emit_consecutive_walk(
    lowering: &WalkLowering,
    stores: &str,
    along: ConsecutiveWalk,
) -> (String, Option<Cut>) {
    let rows = tuning::consecutive_rows();
    let in_flight = tuning::consecutive_vectors() / lowering.lanes.chunks as u32;
    let cut = Cut {
        groups_of_warp: 32 / lowering.lanes.lanes as u32,
        warps: THREADS / 32,
        in_flight,
        blocks_per_processor: along.blocks,
        hub_blocks: heavy_rows::max_blocks(lowering.lanes.slices),
        rows_of_group: rows,
    };
    let pass = &lowering.passes[1];
    let mut text = emit_opening(&lowering.lanes);
    let _infallible = writeln!(text, "constexpr unsigned B = {in_flight}, ROWS = {rows};");
    text.push_str(&emit_item_lookup(
        true,
        "((blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group) * ROWS",
    ));
    text.push_str(HELD);
    text.push_str(&pass.places.text());
    let (first, edges) = emit_edges(lowering);
    text.push_str(&first);
    text.push_str(ROW);
    text.push_str(&emit_row_context(&Statements::concat(&lowering.rows).reads()));
    pass.sums.iter().for_each(|sum| text.push_str(&format!("{}\n", sum.emit_opening())));
    text.push_str(&edges);
    text.push_str(&emit_group_merge(lowering, 1));
    text.push_str(&heavy_rows::emit_block_merge(lowering, 1));
    text.push_str(&lowering.rows[1].text());
    let _infallible = write!(text, "if (writes) {{\n{stores}}}\n}}\n");
    (text, Some(cut))
}

/// The rows of a group, where each ends, and where all of them end, in its lanes. Of a row with
/// many edges a group has one share.
const HELD: &str = "const unsigned count = !live ? 0 : tier > 0 ? 1 : min(ROWS, items - item);
const unsigned own_item = item + (count > 0 ? min(part, count - 1) : 0);
const unsigned held_row = __ldg(item_row + own_item);
unsigned held_end = live ? __ldg(item_offset + own_item + 1) : 0, at = live ? __ldg(item_offset + item) : 0;
if (tier > 0) {
const unsigned share = (held_end - at + shares * B - 1) / (shares * B) * B;
at = min(held_end, at + mine * share);
held_end = min(held_end, at + share);
}
const unsigned last = __shfl_sync(FULL, held_end, group * L + ROWS - 1);
unsigned base = at;
after_others();
";

/// One row after the other: its number, and the end of its edges.
const ROW: &str = "UNROLL_1 for (unsigned turn = 0; turn < (tier > 0 ? 1 : ROWS); turn++) {
[[maybe_unused]] const unsigned v = __shfl_sync(FULL, held_row, group * L + turn), stop = __shfl_sync(FULL, held_end, group * L + turn);
const bool writes = turn < count && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
";

/// The first entries of the edge lists, and the loop over the edges of a row, which stops at each
/// end of a list chunk.
fn emit_edges(lowering: &WalkLowering) -> (String, String) {
    let (mut first, mut next, mut shared) = (String::new(), String::new(), String::new());
    let pass = &lowering.passes[1];
    let reads = pass.reads(LoadsOf::PresentEdges);
    for (number, stream) in lowering.streams.iter().enumerate() {
        if !reads.contains(&Source::Stream(number)) {
            continue;
        }
        let named = lowering.numbers(number).name();
        let (of, list) = stream_list(lowering, stream);
        let asked =
            |from: &str| format!("{from} + part < last ? __ldcs({list} + {from} + part) : 0");
        let _infallible = writeln!(
            first,
            "{of} held_{number} = {}, next_{number} = {};",
            asked("base"),
            asked("base + L")
        );
        let _infallible =
            writeln!(next, "held_{number} = next_{number}; next_{number} = {};", asked("base + L"));
        let _infallible = writeln!(
            shared,
            "{}",
            emit_broadcast(of, &named, &format!("held_{number}, group * L + (at + k - base) % L"))
        );
    }
    let edges = format!(
        "while (__any_sync(FULL, at < stop)) {{
constexpr bool ALL = false;
const unsigned here_to = min(stop, base + L);
bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + k < here_to;
{shared}{}{}UNROLL for (int k = 0; k < B; k++) {{
const bool here = here_[k];
{}}}
at = min(at + B, here_to);
if (at == base + L) {{
base = at;
{next}}}
}}
{}",
        pass.loads.text(),
        pass.first.text(),
        pass.work.text(),
        pass.end.text()
    );
    (first, edges)
}
