//! edge_walk_text: what kernels with lane groups share: their opening, the assignment of rows to
//! lane groups, the loop over the edges of a row, and the merge of shares.
//!
//! promises  the list entries of the next chunk are loaded before this chunk is processed; shares
//!           of a row are merged in order
//! never     chooses a schedule
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::edge_sums::Sum;
use super::kernel_parameters::{Parameters, stored};
use super::lane_layout::Lanes;
use super::register_estimate::RegisterEstimate;
use super::statement_text::{self, LoadsOf};
use super::statements::{Reads, Source, Stream};
use super::walk_lowering::WalkLowering;
use super::{Argument, Cut, ListPart, THREADS};
use warploom_ir::Direction;

/// The constants and indices at the start of every kernel with lane groups.
pub(super) fn emit_opening(lanes: &Lanes) -> String {
    emit_opening_with_threads(lanes, THREADS)
}

/// The same, with blocks of this many threads.
pub(super) fn emit_opening_with_threads(lanes: &Lanes, threads: u32) -> String {
    let Lanes { places, vector, lanes: of_group, chunks, .. } = *lanes;
    let column = if lanes.overlaps() { "min(place, C - V)" } else { "own[q] ? place : C - V" };
    let of_slice = if lanes.slices > 1 { "blockIdx.y * (V * L * Q) + " } else { "" };
    let places_of_lane = if lanes.has_tail() || lanes.overlaps() {
        format!(
            "const unsigned place = {of_slice}(q * L + part) * V; own[q] = place < C; c[q] = \
             {column};"
        )
    } else {
        format!("own[q] = true; c[q] = {of_slice}(q * L + part) * V;")
    };
    format!(
        "constexpr unsigned C = {places}, V = {vector}, L = {of_group}, Q = {chunks}, PER_WARP = 32 / L, WARPS = {threads} / 32, GROUPS = WARPS * PER_WARP;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L;
[[maybe_unused]] bool own[Q];
[[maybe_unused]] unsigned c[Q];
EACH_Q {{ {places_of_lane} }}
"
    )
}

/// Declares the edges in flight of a lane group and the size of a list chunk.
pub(super) fn emit_in_flight_constants(in_flight: usize) -> String {
    format!("constexpr unsigned B = {in_flight}, J = B > L ? B / L : 1, CHUNK = J * L;\n")
}

/// Assigns an item to each lane group, and a share of its edges: in turn, or one after another.
/// With or without rows that several blocks share. Most blocks have short rows only: they take the
/// first branch.
pub(super) fn emit_item_assignment(with_hubs: bool, in_turn: bool) -> String {
    let short = "(blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group";
    format!("{}{SLOTS}{}{WRITES}", emit_item_lookup(with_hubs, short), emit_share(in_turn))
}

/// Assigns an item to each lane group. `short` is the expression for the index among short rows.
pub(super) fn emit_item_lookup(with_hubs: bool, short: &str) -> String {
    let marks = if with_hubs {
        [HUBS, "hub_blocks + ", "hub_items + ", HUB, short]
    } else {
        ["const unsigned block = blockIdx.x;\n", "", "", "", short]
    };
    ["@HUBS@", "@HUB_BLOCKS@", "@BEFORE@", "@HUB@", "@SHORT@"]
        .iter()
        .zip(marks)
        .fold(WHOSE.to_owned(), |text, (mark, with)| text.replace(mark, with))
}

/// The share of a row's edges that a lane group takes, which others share with it.
pub(super) fn emit_share(in_turn: bool) -> &'static str {
    if in_turn { SHARE_IN_TURN } else { SHARE_OF_NEIGHBOURS }
}

const HUBS: &str =
    "const unsigned hub_blocks = hub_items * pieces, block = blockIdx.x - hub_blocks;\n";
const HUB: &str = "if (blockIdx.x < hub_blocks) {
tier = 3, item = blockIdx.x / pieces, shares = GROUPS * pieces, mine = blockIdx.x % pieces * GROUPS + warp * PER_WARP + group;
} else ";
const WHOSE: &str = "const unsigned warp_blocks = (warp_items + WARPS - 1) / WARPS;
@HUBS@const unsigned blocks_of_many = @HUB_BLOCKS@block_items + warp_blocks;
int tier = 0;
unsigned item, end_of_tier = items, shares = 1, mine = 0;
if (blockIdx.x >= blocks_of_many) {
item = @BEFORE@block_items + warp_items + @SHORT@;
} else @HUB@if (block < block_items) {
tier = 2, item = @BEFORE@block, shares = GROUPS, mine = warp * PER_WARP + group;
} else {
tier = 1, end_of_tier = @BEFORE@block_items + warp_items, item = @BEFORE@block_items + (block - block_items) * WARPS + warp, shares = PER_WARP, mine = group;
}
const bool live = item < end_of_tier;
item = live ? item : 0;
";
const SLOTS: &str =
    "[[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
";
const SHARE_OF_NEIGHBOURS: &str = "unsigned from = begin, stop = end;
if (tier > 0) {
const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
from = min(end, begin + mine * share);
stop = min(end, from + share);
}
";
// Neighbouring lanes read neighbouring slots.
const SHARE_IN_TURN: &str =
    "const unsigned from = min(end, begin + mine), stop = end, step = shares;
";
const WRITES: &str =
    "const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
after_others();
";

/// The list that a stream is read from, and the type of its elements.
pub(super) fn stream_list(lowering: &WalkLowering, stream: &Stream) -> (&'static str, String) {
    match stream {
        Stream::Far => ("unsigned", "slot_far".to_owned()),
        Stream::Edge => ("unsigned", "slot_edge".to_owned()),
        Stream::Relation => ("unsigned", "slot_relation".to_owned()),
        // Drawn, not read from a list.
        Stream::Kept(..) => ("unsigned", String::new()),
        Stream::Given(leaf) => {
            let leaf = &lowering.walk.leaves[*leaf];
            (stored(leaf.element), statement_text::slots(&leaf.name))
        }
    }
}

/// Statements that load and broadcast the list entries of edges.
#[derive(Default)]
struct ListText {
    /// Loads of the first chunk and of the next one, and the step from one to the other.
    first: String,
    next: String,
    turn: String,
    /// Dropout bits of a chunk.
    drawn: String,
    /// Broadcasts to the lanes of a group, for the edges in flight.
    shared: String,
}

/// These statements, for everything that a pass reads.
fn emit_lists(lowering: &WalkLowering, reads: &Reads) -> ListText {
    let of_all = |at: usize| reads.contains(&Source::Stream(at));
    let of_lane = |at: usize| reads.contains(&Source::StreamOfLane(at));
    let named = |at: usize| lowering.numbers(at).name();
    let mut texts = ListText::default();
    let of_edges = lowering.streams.iter().position(|stream| *stream == Stream::Edge);
    let (slot, next_slot) = if lowering.lanes.share_in_turn() {
        ("from + i * step", "at + (CHUNK + i) * step")
    } else {
        ("from + i * L + part", "at + CHUNK + i * L + part")
    };
    let mut listed: BTreeSet<usize> =
        (0..lowering.streams.len()).filter(|at| of_all(*at) || of_lane(*at)).collect();
    if listed.iter().any(|at| matches!(lowering.streams[*at], Stream::Kept(..))) {
        listed.extend(of_edges);
    }
    let ListText { first, next, turn, drawn, shared } = &mut texts;
    for (at, stream) in listed.into_iter().map(|at| (at, &lowering.streams[at])) {
        let (of, list) = stream_list(lowering, stream);
        if let (Stream::Kept(threshold, site, columns), Some(edge)) = (stream, of_edges) {
            let _infallible = writeln!(
                drawn,
                "unsigned held_{at}[J]; UNROLL for (int i = 0; i < J; i++) held_{at}[i] = training \
                 ? kept_columns<{columns}>(held_{edge}[i], clock->epoch, {site}u, seed, \
                 {threshold}u) : 0;"
            );
            let _infallible =
                writeln!(shared, "{}", broadcast_held(of, &format!("stream_{at}"), at));
            continue;
        }
        let _infallible = writeln!(
            first,
            "{of} held_{at}[J]; UNROLL for (int i = 0; i < J; i++) {{ const unsigned p = {slot}; \
             held_{at}[i] = p < stop ? __ldcs({list} + p) : 0; }}"
        );
        let _infallible = writeln!(
            next,
            "{of} next_{at}[J]; UNROLL for (int i = 0; i < J; i++) {{ const unsigned p = \
             {next_slot}; next_{at}[i] = p < stop ? __ldcs({list} + p) : 0; }}"
        );
        let _infallible =
            writeln!(turn, "UNROLL for (int i = 0; i < J; i++) held_{at}[i] = next_{at}[i];");
        if of_all(at) {
            let _infallible = writeln!(shared, "{}", broadcast_held(of, &named(at), at));
        }
        if of_lane(at) {
            let _infallible = writeln!(
                shared,
                "const {of} {}_mine = __shfl_sync(FULL, held_{at}[0], group * L + (s + part % B) % \
                 L);",
                named(at)
            );
        }
    }
    texts
}

/// The loop over the edges of a row, one chunk at a time. The list entries of the next chunk are
/// loaded before this chunk is processed.
pub(super) fn emit_edge_loop(
    lowering: &WalkLowering,
    number: usize,
    load: RegisterEstimate,
) -> String {
    let pass = &lowering.passes[number];
    let loads_of = if load.is_mixed() { LoadsOf::AllEdges } else { LoadsOf::PresentEdges };
    let reads = pass.reads(loads_of);
    let ListText { first, next, turn, drawn, mut shared } = emit_lists(lowering, &reads);
    let in_turn = lowering.lanes.share_in_turn();
    let slot = |edge: &str| if in_turn { format!("({edge}) * step") } else { edge.to_owned() };
    if reads.contains(&Source::LaneEdge) {
        let mine = slot("s + part % B");
        shared.insert_str(0, &format!("const bool here_mine = ALL || at + {mine} < stop;\n"));
    }
    // Counts the edges already processed, where the first edges of a row have no sum to be added
    // to.
    let [none_yet, begun, counted] = if reads.contains(&Source::Begun) {
        ["unsigned behind = 0;\n", "const bool begun = behind + s > 0;\n", "behind += CHUNK;\n"]
    } else {
        [""; 3]
    };
    let turns = if load.is_plain() { "UNROLL_4" } else { "UNROLL_1" };
    format!(
        "{{
{}unsigned at = from;
{none_yet}{first}auto edges = [&](auto all) {{
constexpr bool ALL = decltype(all)::value;
{next}{drawn}{turns} for (int s = 0; s < CHUNK; s += B) {{
if (!ALL && s > 0 && !__any_sync(FULL, at + {} < stop)) break;
{begun}bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + {} < stop;
{shared}{}{}UNROLL for (int k = 0; k < B; k++) {{
const bool here = ALL || here_[k];
{}}}
}}
{turn}{counted}at = min(stop, at + {});
}};
while (__any_sync(FULL, at < stop)) {{ if (__all_sync(FULL, {})) edges(Yes()); else edges(No()); }}
{}}}
",
        pass.places.text(),
        slot("s"),
        slot("s + k"),
        pass.loads.text_with(loads_of),
        pass.first.text_with(loads_of),
        pass.work.text(),
        slot("CHUNK"),
        if in_turn { "at + (CHUNK - 1) * step < stop" } else { "stop - at >= CHUNK" },
        pass.end.text()
    )
}

/// Broadcasts what the lanes of a group hold of the edges in flight to all of them.
fn broadcast_held(of: &str, named: &str, at: usize) -> String {
    emit_broadcast(
        of,
        named,
        &format!("held_{at}[J == 1 ? 0 : (s + k) / L], group * L + (s + k) % L"),
    )
}

/// Broadcasts a register of another lane, for each edge in flight.
pub(super) fn emit_broadcast(of: &str, named: &str, held: &str) -> String {
    format!(
        "{of} {named}[B]; UNROLL for (int k = 0; k < B; k++) {named}[k] = __shfl_sync(FULL, \
         {held});"
    )
}

/// Merges the sums of groups that share a row, in order. Maximum scores are merged first; the other
/// sums are then rescaled to the common maximum.
pub(super) fn emit_group_merge(lowering: &WalkLowering, number: usize) -> String {
    let pass = &lowering.passes[number];
    let bytes = pass.sums.iter().map(|sum| sum.elements(&lowering.lanes)).max().unwrap_or(1)
        * lowering.lanes.lanes
        * 8;
    let mut text = format!(
        "if (tier > 0) {{\n__shared__ alignas(16) unsigned char told_{number}[WARPS * {bytes}];\n"
    );
    let (first, others): (Vec<&Sum>, Vec<&Sum>) =
        pass.sums.iter().partition(|sum| sum.is_running(pass));
    pass.largest
        .iter()
        .for_each(|largest| text.push_str(&format!("{}\n", largest.store_group_value())));
    first.into_iter().for_each(|sum| text.push_str(&emit_sum_merge(lowering, number, sum)));
    pass.largest
        .iter()
        .for_each(|largest| text.push_str(&format!("{}\n", largest.merge_group_values())));
    for sum in others {
        sum.largest.iter().for_each(|largest| {
            text.push_str(&format!(
                "{}\n",
                sum.for_each(|at| format!("{at} = {at} * {};", largest.factor()))
            ))
        });
        text.push_str(&emit_sum_merge(lowering, number, sum));
    }
    text.push_str("}\n");
    text
}

/// Merges one sum over the groups of a warp, then over the warps of a block.
fn emit_sum_merge(lowering: &WalkLowering, number: usize, sum: &Sum) -> String {
    let of = super::operators::register(sum.kind());
    let in_warp = if lowering.lanes.share_in_turn() {
        // Neighbours first: all lanes end with the same sum.
        sum.for_each(|at| {
            let joined = sum.join_part("from_lane(own_part, lane ^ apart)");
            format!(
                "UNROLL for (int apart = 1; apart < 32; apart *= 2) {{ const {of} own_part = {at}; \
                 {at} = {joined}; }}"
            )
        })
    } else {
        sum.for_each(|at| {
            let joined = sum.join_part("from_lane(own_part, g * L + part)");
            format!(
                "{{ const {of} own_part = {at}; {at} = from_lane(own_part, part); UNROLL for (int \
                 g = 1; g < PER_WARP; g++) {at} = {joined}; }}"
            )
        })
    };
    let elements = sum.elements(&lowering.lanes);
    let tell = sum
        .for_each(|at| format!("told[(warp * L + part) * {elements} + {}] = {at};", sum.number()));
    let place =
        |of_warp: &str| format!("told[({of_warp} * L + part) * {elements} + {}]", sum.number());
    let hear = sum.for_each(|at| {
        format!(
            "{{ {at} = {}; for (int w = 1; w < WARPS; w++) {at} = {}; }}",
            place("0"),
            sum.join_part(&place("w"))
        )
    });
    format!(
        "{in_warp}\nif (tier >= 2) {{\n{of}* told = reinterpret_cast<{of}*>(told_{number});\nif \
            (group == 0) {{ {tell} }}\n__syncthreads();\n{hear}\n__syncthreads();\n}}\n"
    )
}

/// Adds the edge lists that the streams read, and the item lists.
pub(super) fn add_slot_lists(
    parameters: &mut Parameters,
    lowering: &WalkLowering,
    direction: Direction,
) {
    parameters.items(&direction.into());
    add_stream_lists(parameters, lowering, direction);
}

/// Adds the edge lists that the streams read, without the item lists.
pub(super) fn add_stream_lists(
    parameters: &mut Parameters,
    lowering: &WalkLowering,
    direction: Direction,
) {
    let of: BTreeMap<Stream, (&str, ListPart)> = [
        (Stream::Far, ("slot_far", ListPart::Far)),
        (Stream::Edge, ("slot_edge", ListPart::Edge)),
        (Stream::Relation, ("slot_relation", ListPart::Relation)),
    ]
    .into();
    for stream in &lowering.streams {
        if let Some((name, part)) = of.get(stream) {
            parameters.push(
                format!("const unsigned* __restrict__ {name}"),
                Argument::Items(direction.into(), *part),
            );
        }
    }
}

/// Adds the edge and item lists, and the number of items per row class.
pub(super) fn add_edge_lists(
    parameters: &mut Parameters,
    lowering: &WalkLowering,
    direction: Direction,
    cut: Cut,
) {
    add_slot_lists(parameters, lowering, direction);
    parameters.tiers(&direction.into(), cut);
}
