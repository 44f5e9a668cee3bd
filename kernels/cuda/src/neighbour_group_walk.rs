//! neighbour_group_walk: reductions over edges by neighbour groups, the schedule of GNNAdvisor
//! (algorithm 3-1); the alternative to whole rows (`row_walk.rs`).
//!
//! promises  groups, and the rows that no block finishes alone, are those of `partition`'s tables;
//!           a group has `lanes` lanes, which process the columns together; each group of a block
//!           has a slot of its own in shared memory; the first group of a row, its leader, adds the
//!           slots in order and alone writes the row; a row whose groups span several blocks is
//!           merged by a second kernel, block by block in order, which also writes rows without
//!           edges
//! never     adds by an atomic, or lets one group write into another's slot, as the printed
//!           algorithm does
//! limits    walks that visit the edges of a row once, in one direction, for sums, minima and
//!           maxima: a softmax, and values that wait for another sum, use whole rows; so does a
//!           walk whose groups need more shared memory than a block has
use std::rc::Rc;

use super::edge_sums::Sum;
use super::edge_walk_text::{
    add_stream_lists, emit_edge_loop, emit_in_flight_constants, emit_opening_with_threads,
};
use super::heavy_rows;
use super::kernel_parameters::{Parameters, emit_row_context};
use super::lane_layout::Lanes;
use super::operators::register;
use super::register_estimate::RegisterEstimate;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statements::{Reads, Statements};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Level, Walk};
use super::{Argument, Blocks, Grouped, Groups, NoKernel, ScheduleKind, Unit};
use warploom_ir::{Op, Reduction};
use warploom_launch::{Rows, reduced};
use warploom_tuning as tuning;

/// Threads of the blocks that the occupancy of `RegisterEstimate` refers to.
const THREADS: u32 = super::THREADS;
/// Maximum resident blocks per SM.
const BLOCKS_MOST: u32 = 32;
/// Static shared memory per block.
const SHARED_BYTES: usize = 48 << 10;

/// Whether a walk can be split into these groups.
pub(super) fn supports_groups(walk: &Walk, groups: Groups) -> bool {
    let has_parts = |op: &Op| {
        use Reduction::{Count, Maximum, Minimum, Sum};
        matches!(op, Op::Reduce(Sum | Count | Minimum | Maximum, _))
    };
    let mut reductions =
        walk.steps.iter().filter(|step| step.level == Level::Row && reduced(&step.op).is_some());
    walk.passes() == 1
        && walk.direction().is_some_and(|direction| groups.divides(direction))
        && walk.rows == Rows::Nodes
        && walk.running.is_empty()
        && reductions.all(|step| has_parts(&step.op))
}

/// Distributes a row's columns over this many lanes: narrower vectors if some lanes would have
/// none, more vectors per lane if needed. Slices of wide rows keep their columns.
pub(super) fn choose_group_lanes(of_rows: Lanes, lanes: u32) -> Lanes {
    let (lanes, places) = (lanes as usize, of_rows.places);
    if of_rows.slices > 1 {
        let chunks = (of_rows.lanes * of_rows.chunks).div_ceil(lanes);
        return Lanes { lanes, chunks, ..of_rows };
    }
    let mut vector = of_rows.vector;
    while vector > 1 && vector / 2 * lanes >= places {
        vector /= 2;
    }
    Lanes { vector, lanes, chunks: places.div_ceil(vector * lanes), ..of_rows }
}

impl Unit<'_> {
    /// Decides on a kernel for groups, and one for rows whose groups span several blocks.
    pub(super) fn decide_group_walk(
        &mut self,
        lowering: WalkLowering,
        stores: Statements,
        groups: Groups,
    ) -> Result<(), NoKernel> {
        let Some(direction) = lowering.walk.direction() else {
            return Err(NoKernel::new("a sum over edges without a direction".to_owned()));
        };
        let lanes = lowering.lanes;
        let slots = heavy_rows::slots_of_lane(&lowering, 1) * lanes.lanes * lanes.slices;
        let load = RegisterEstimate::new(&lowering, 1);
        let blocks = (blocks_per_sm(load, &lanes) * THREADS / groups.threads).clamp(1, BLOCKS_MOST);
        let (of_groups, of_spans) = (lowering.reads(), row_reads(&lowering));
        let walk = Rc::new(GroupWalk { lowering, stores, groups, load });
        let lowering = &walk.lowering;
        self.note([(ScheduleKind::NeighbourGroups, true)]);
        self.header();
        self.schedule(format!("{}, {} threads a block", groups.describe(), groups.threads));
        for (reads, spans) in [(of_groups, false), (of_spans, true)] {
            let mut parameters = Parameters::new();
            parameters.add_reads(lowering, &reads);
            parameters.stored(&lowering.walk);
            let lists: &[(&str, Grouped)] = if spans { &OF_SPANS } else { &OF_GROUPS };
            for (declared, list) in lists {
                parameters.push(*declared, Argument::Groups(direction, groups, *list));
            }
            if !spans {
                add_stream_lists(&mut parameters, lowering, direction);
            }
            parameters.push_output(
                "double* __restrict__ parts_of_spans",
                Argument::PartsOfSpans(direction, groups, slots as u64 * 8),
            );
            parameters.take_csr_order();
            let (suffix, blocks) = if spans { ("_joined", 1) } else { ("", blocks) };
            let grid = Blocks::Groups { direction, groups, spans, slices: lanes.slices as u32 };
            let body = GroupBody { walk: Rc::clone(&walk), spans };
            self.add_kernel(KernelDraft {
                suffix,
                threads: groups.threads,
                resident: blocks,
                tables: lowering.constants.clone(),
                waits: true,
                ..KernelDraft::new(
                    "neighbour_group_walk.rs, decide_group_walk",
                    parameters,
                    grid,
                    body,
                )
            });
        }
        Ok(())
    }
}

/// A walk by groups, for both of its kernels.
struct GroupWalk {
    lowering: WalkLowering,
    stores: Statements,
    groups: Groups,
    load: RegisterEstimate,
}

/// The body of the kernel for groups, or of that for rows whose groups span several blocks.
struct GroupBody {
    walk: Rc<GroupWalk>,
    spans: bool,
}

impl KernelBody for GroupBody {
    fn text(&self, _printer: &Printer) -> String {
        let GroupWalk { lowering, stores, groups, load } = &*self.walk;
        if self.spans {
            emit_spans_body(lowering, &stores.text(), *groups)
        } else {
            emit_groups_body(lowering, &stores.text(), *groups, *load)
        }
    }
}

/// Whether a block has shared memory for the sums of its groups.
pub(super) fn fits_shared_memory(lowering: &WalkLowering, groups: Groups) -> bool {
    bytes_per_thread(lowering) * groups.threads as usize <= SHARED_BYTES
}

/// Shared memory of a lane, for the largest of its sums.
fn bytes_per_thread(lowering: &WalkLowering) -> usize {
    let sums = lowering.passes[1].sums.iter();
    sums.map(|sum| sum.elements(&lowering.lanes)).max().unwrap_or(1) * 8
}

/// Minimum resident blocks per SM, in blocks of `THREADS`: one less than for whole rows, since
/// leaders take registers, and code with few registers to spare compiles for one architecture alone
/// (`ON_HOPPER`); few if lanes have several vectors, each with an address of its own.
fn blocks_per_sm(load: RegisterEstimate, lanes: &Lanes) -> u32 {
    match load.blocks_per_sm(load.edges_in_flight()) {
        blocks if lanes.chunks > 1 => blocks.min(tuning::neighbour_group_blocks()),
        blocks if blocks > 2 => blocks - 1,
        blocks => blocks,
    }
}

const OF_GROUPS: [(&str, Grouped); 4] = [
    ("const unsigned* __restrict__ group_row", Grouped::Row),
    ("const unsigned* __restrict__ group_start", Grouped::Start),
    ("const unsigned* __restrict__ group_end", Grouped::End),
    ("const unsigned groups", Grouped::Count),
];
const OF_SPANS: [(&str, Grouped); 4] = [
    ("const unsigned* __restrict__ span_row", Grouped::SpanRow),
    ("const unsigned* __restrict__ span_block", Grouped::SpanBlock),
    ("const unsigned* __restrict__ span_blocks", Grouped::SpanBlocks),
    ("const unsigned spans", Grouped::SpanCount),
];

/// The group of a lane, whether it leads, and whether its row has groups in other blocks.
const WHO: &str = "const unsigned first_of_block = blockIdx.x * GROUPS, own_group = warp * PER_WARP + group, number = first_of_block + own_group;
const unsigned end_of_block = min(groups, first_of_block + GROUPS);
const bool live = number < groups;
const unsigned item = live ? number : 0;
[[maybe_unused]] const unsigned v = __ldg(group_row + item), from = live ? __ldg(group_start + item) : 0, stop = live ? __ldg(group_end + item) : 0;
const bool leads = live && (own_group == 0 || __ldg(group_row + item - 1) != v);
const bool before = live && first_of_block > 0 && __ldg(group_row + first_of_block - 1) == v;
const bool after = live && end_of_block < groups && __ldg(group_row + end_of_block) == v;
const bool writes = leads && !before && !after;
after_others();
";

/// The row of a lane group in the second kernel.
const WHOSE_SPAN: &str = "const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;
const bool live = number < spans;
const unsigned item = live ? number : 0;
[[maybe_unused]] const unsigned v = __ldg(span_row + item), first = __ldg(span_block + item), pieces = live ? __ldg(span_blocks + item) : 0;
after_others();
";

/// What statements of rows read.
fn row_reads(lowering: &WalkLowering) -> Reads {
    Statements::concat(&lowering.rows).reads()
}

/// The edges of each group; leaders finish their rows.
fn emit_groups_body(
    lowering: &WalkLowering,
    stores: &str,
    groups: Groups,
    load: RegisterEstimate,
) -> String {
    let pass = &lowering.passes[1];
    let mut body = format!(
        "{}{}{WHO}",
        emit_opening_with_threads(&lowering.lanes, groups.threads),
        emit_in_flight_constants(load.edges_in_flight())
    );
    body.push_str(&emit_row_context(&row_reads(lowering)));
    body.push_str(&lowering.rows[0].text());
    pass.sums.iter().for_each(|sum| body.push_str(&format!("{}\n", sum.emit_opening())));
    if lowering.lanes.share_in_turn() {
        body.push_str("constexpr unsigned step = 1;\n");
    }
    body.push_str(&emit_edge_loop(lowering, 1, load));
    body.push_str(&format!(
        "__shared__ alignas(16) unsigned char told_groups[GROUPS * L * {}];\n",
        bytes_per_thread(lowering)
    ));
    pass.sums.iter().for_each(|sum| body.push_str(&emit_leader_sum(lowering, sum)));
    let told: String = heavy_rows::list_sum_offsets(lowering, 1)
        .into_iter()
        .map(|(sum, at)| {
            sum.for_each(|of| {
                format!("tell(of_piece + {} * L, {of});", heavy_rows::slot_text(at, sum))
            })
        })
        .collect();
    body.push_str(&format!(
        "if (leads && !writes) {{
double* const of_piece = parts_of_spans + (((offset_t)blockIdx.x * 2 + (before ? 0 : 1)) * gridDim.y + blockIdx.y) * {} * L + part;
{told}
}}
",
        heavy_rows::slots_of_lane(lowering, 1)
    ));
    body.push_str(&lowering.rows[1].text());
    body.push_str("if (!writes) return;\n");
    body.push_str(stores);
    body
}

/// Each group stores its part of one sum in its slot; leaders add the slots of their rows.
fn emit_leader_sum(lowering: &WalkLowering, sum: &Sum) -> String {
    let (of, elements, element) =
        (register(sum.kind()), sum.elements(&lowering.lanes), sum.number());
    let tell =
        sum.for_each(|at| format!("told[(own_group * L + part) * {elements} + {element}] = {at};"));
    let hear = sum.for_each(|at| {
        format!(
            "{at} = {};",
            sum.join_part(&format!("told[(other * L + part) * {elements} + {element}]"))
        )
    });
    format!(
        "{{
{of}* const told = reinterpret_cast<{of}*>(told_groups);
{tell}
__syncthreads();
if (leads) for (unsigned other = own_group + 1; first_of_block + other < end_of_block && __ldg(group_row + first_of_block + other) == v; other++) {{ {hear} }}
__syncthreads();
}}
"
    )
}

/// Merges the partial sums of a row's blocks in order, and finishes the row.
fn emit_spans_body(lowering: &WalkLowering, stores: &str, groups: Groups) -> String {
    let pass = &lowering.passes[1];
    let mut body =
        format!("{}{WHOSE_SPAN}", emit_opening_with_threads(&lowering.lanes, groups.threads));
    body.push_str(&emit_row_context(&row_reads(lowering)));
    body.push_str(&lowering.rows[0].text());
    pass.sums.iter().for_each(|sum| body.push_str(&format!("{}\n", sum.emit_opening())));
    let heard = |(sum, at): (&Sum, usize)| {
        let told = format!(
            "heard<{}>(of_piece + {} * L)",
            register(sum.kind()),
            heavy_rows::slot_text(at, sum)
        );
        sum.for_each(|at| format!("{at} = {};", sum.join_part(&told)))
    };
    let heard: String = heavy_rows::list_sum_offsets(lowering, 1).into_iter().map(heard).collect();
    body.push_str(&format!(
        "UNROLL_4 for (unsigned p = 0; p < pieces; p++) {{
const double* const of_piece = parts_of_spans + (((offset_t)(first + p) * 2 + (p > 0 ? 0 : 1)) * gridDim.y + blockIdx.y) * {} * L + part;
{heard}
}}
",
        heavy_rows::slots_of_lane(lowering, 1)
    ));
    body.push_str(&lowering.rows[1].text());
    body.push_str("if (!live) return;\n");
    body.push_str(stores);
    body
}
