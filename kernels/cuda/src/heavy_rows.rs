//! heavy_rows: rows of very many edges, each shared by several blocks.
//!
//! promises  each block of a row takes a share of its edges and stores its partial sums; the block
//!           that finishes last merges all of them in the order of the shares, so it does not
//!           matter which block that is; sums of a softmax are rescaled to the maximum over all
//!           shares
//! never     is chosen if a row's edges are walked twice: its blocks would have to wait for each
//!           other
use super::edge_sums::{Largest, Sum};
use super::operators::register;
use super::walk_lowering::WalkLowering;
use warploom_tuning as tuning;

/// The maximum number of blocks of all heavy rows with this many slices. It bounds the partial sums
/// in scratch, and the rows by the completion counters.
pub(super) fn max_blocks(slices: usize) -> u32 {
    tuning::multi_block_blocks().min(super::TICKETS) / slices as u32
}

/// 8-byte numbers that a lane stores.
pub(super) fn slots_of_lane(lowering: &WalkLowering, pass: usize) -> usize {
    lowering.passes[pass].sums.iter().map(|sum| sum.elements(&lowering.lanes)).sum()
}

/// The sums of a pass, and where the elements of each begin among those of a lane.
pub(super) fn list_sum_offsets<'a>(
    lowering: &'a WalkLowering,
    pass: usize,
) -> Vec<(&'a Sum, usize)> {
    let mut end = 0;
    let place = |sum: &'a Sum| {
        let first = end;
        end += sum.elements(&lowering.lanes);
        (sum, first)
    };
    lowering.passes[pass].sums.iter().map(place).collect()
}

/// Blocks store their partial sums. The last one merges them; the others return.
pub(super) fn emit_block_merge(lowering: &WalkLowering, number: usize) -> String {
    let pass = &lowering.passes[number];
    let (placed, end) = (list_sum_offsets(lowering, number), slots_of_lane(lowering, number));
    let told: String = placed
        .iter()
        .map(|(sum, first)| {
            sum.for_each(|at| format!("tell(of_piece + {} * L, {at});", slot_text(*first, sum)))
        })
        .collect();
    let (running, others): (Vec<_>, Vec<_>) =
        placed.iter().partition(|(sum, _)| sum.is_running(pass));
    let heard = |of: &[&(&Sum, usize)]| emit_ordered_merge(&placed, of);
    let (running, others) = (heard(&running), heard(&others));
    format!(
        "if (tier == 3) {{
constexpr unsigned SLOTS = {end};
const unsigned hub = blockIdx.y * hub_items + blockIdx.x / pieces;
double* const of_item = parts_of_hubs + (offset_t)hub * pieces * SLOTS * L + part;
if (writes) {{
double* const of_piece = of_item + (offset_t)(blockIdx.x % pieces) * SLOTS * L;
{told}
}}
__shared__ bool is_last;
__threadfence();
__syncthreads();
if (threadIdx.x == 0) is_last = atomicAdd(ticket + hub, 1u) + 1 == pieces;
__syncthreads();
if (!is_last) return;
if (threadIdx.x == 0) ticket[hub] = 0;
__threadfence();
{running}{others}}}
"
    )
}

/// Merges sums over all shares: the first, then the others in order.
fn emit_ordered_merge(placed: &[(&Sum, usize)], of: &[&(&Sum, usize)]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let part = |(sum, first): &(&Sum, usize)| {
        let heard =
            format!("heard<{}>(of_piece + {} * L)", register(sum.kind()), slot_text(*first, sum));
        let relative = sum
            .largest
            .iter()
            .map(|largest| format!(" * {}", emit_rescale_factor(placed, largest)));
        format!("{heard}{}", relative.collect::<String>())
    };
    let first: String = of
        .iter()
        .map(|placed| placed.0.for_each(|at| format!("{at} = {};", part(placed))))
        .collect();
    let next: String = of
        .iter()
        .map(|placed| {
            placed.0.for_each(|at| format!("{at} = {};", placed.0.join_part(&part(placed))))
        })
        .collect();
    format!(
        "{{\nconst double* of_piece = of_item;\n{first}\nUNROLL_4 for (unsigned p = 1; p < \
            pieces; p++) {{\nof_piece += SLOTS * L;\n{next}\n}}\n}}\n"
    )
}

/// The rescaling factor of a share: its sums are relative to the maximum of that share.
fn emit_rescale_factor(placed: &[(&Sum, usize)], largest: &Largest) -> String {
    let held = placed.iter().find(|(sum, _)| sum.is_that(largest));
    let there = held.map_or_else(String::new, |(sum, first)| slot_text(*first, sum));
    format!("grown(heard<real>(of_piece + {there} * L), {})", largest.held.at())
}

/// The position of an element of a sum among those of a lane, as an expression inside a statement
/// for each.
pub(super) fn slot_text(first: usize, sum: &Sum) -> String {
    format!("({first} + {})", sum.number())
}
