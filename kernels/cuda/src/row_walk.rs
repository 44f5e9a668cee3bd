//! row_walk: one kernel for a walk over rows, or over the edges of vertices: assigns rows to
//! threads.
//!
//! promises  each row belongs to one lane group; over edges, a row with many edges has a warp or a
//!           block, whose groups take equal shares that are merged in order; rows without edges are
//!           computed too; lanes beyond the row's columns read a column that exists and store
//!           nothing; lanes that share a column store the same bits
//! never     adds in an order that varies
use std::rc::Rc;

use super::consecutive_rows::{self, ConsecutiveBody, ConsecutiveWalk};
use super::edge_walk_text::{
    add_edge_lists, emit_edge_loop, emit_group_merge, emit_in_flight_constants,
    emit_item_assignment, emit_opening,
};
use super::heavy_rows;
use super::kernel_parameters::{Parameters, emit_row_context};
use super::lane_layout::{Lanes, plain_lanes, widest_vector};
use super::launch_walk;
use super::low_degree_rows::LowDegreeSchedule;
use super::neighbour_group_walk::{choose_group_lanes, fits_shared_memory, supports_groups};
use super::product_after_walk::{LoweredTail, TrailingProduct};
use super::register_estimate::RegisterEstimate;
use super::row_stores::{emit_store, frame_shape};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statements::Statements;
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Level, Step, Walk};
use super::{Argument, Blocks, Cut, NoKernel, Order, ScheduleKind, THREADS, Unit};
use warploom_ir::Op;
use warploom_launch::{Rows, reduced};
use warploom_tuning as tuning;

/// Whether lanes of an edge walk may overlap, so that fewer lanes compute the values that each edge
/// needs once. Each row must have the frame's columns or one, so that no lane holds columns of two
/// heads. Plain sums load as many elements either way and do little else.
fn may_overlap(walk: &Walk, places: usize) -> bool {
    let is_fit = |shape: &[u64]| [1, places].contains(&(shape.iter().product::<u64>() as usize));
    let fits =
        |step: &Step| is_fit(&step.shape) && step.inputs.iter().all(|input| is_fit(&input.shape()));
    let is_of_edge = |step: &Step| step.level == Level::Edge && step.columns() == 1;
    walk.passes() > 0 && walk.steps.iter().any(is_of_edge) && walk.steps.iter().all(fits)
}

/// Vectors per lane where heads have edge scores: half as many lanes compute each score.
const SCORED: usize = 2;

/// Whether edges have scores, and each head is a whole number of lanes with two vectors each: half
/// as many lanes then compute each score.
fn may_be_scored(walk: &Walk, places: usize) -> bool {
    let vector = SCORED * widest_vector(walk.bytes_per_real);
    let mut heads = walk
        .steps
        .iter()
        .filter(|step| step.level == Level::Edge && (2..places).contains(&step.columns()))
        .map(Step::columns)
        .peekable();
    let is_fit = walk.bytes_per_real == 4
        && walk.passes() > 0
        && !walk.draws()
        && heads.peek().is_some()
        && places / vector >= tuning::head_lanes();
    is_fit
        && heads
            .all(|heads| places.is_multiple_of(heads) && (places / heads).is_multiple_of(vector))
}

/// Distributes the frame of a walk over lanes, with this many vectors per lane.
pub(super) fn lanes_of(walk: &Walk, places: usize, vectors: usize) -> Lanes {
    let most = vectors * widest_vector(walk.bytes_per_real);
    let has_axis = walk.steps.iter().any(|step| matches!(step.op, Op::Axis(..)));
    if places > most && may_overlap(walk, places) {
        return plain_lanes(places, most, !has_axis);
    }
    // A lane's vector must lie in one row of every reduction along the last axis.
    let of_axis = |step: &super::walk_steps::Step| match step.op {
        Op::Axis(_, axis) => step.inputs[0]
            .shape()
            .get(axis)
            .filter(|_| axis + 1 == step.inputs[0].shape().len())
            .copied(),
        _ => None,
    };
    let lengths: Vec<usize> =
        walk.steps.iter().filter_map(of_axis).map(|length| length as usize).collect();
    let fits = |vector: &usize| {
        places.is_multiple_of(*vector)
            && lengths.iter().all(|length| length.is_multiple_of(*vector))
    };
    let vector = [8, 4, 2, 1].into_iter().filter(|vector| *vector <= most).find(fits).unwrap_or(1);
    plain_lanes(places, vector, !has_axis)
}

impl Unit<'_> {
    /// Column slices for a plain sum of gathered rows whose table is larger than L2. One slice of
    /// all rows is read before the next, so more of it stays in L2; slices that fit anyway are not
    /// made narrower. In a local order the neighbours' rows are in L2 anyway, and whole rows cost
    /// less than slices.
    fn plan_slices(&self, walk: &Walk, places: usize) -> Option<Lanes> {
        let is_sum = |step: &Step| step.level == Level::Row && reduced(&step.op).is_some();
        let is_simple = |step: &Step| step.level == Level::Row && !matches!(step.op, Op::Axis(..));
        let mut sums = walk.steps.iter().filter(|step| is_sum(step));
        let (only, none) = (sums.next()?, sums.next());
        let is_plain = none.is_none()
            && only.columns() == places
            && walk.steps.iter().all(is_simple)
            && self.target.bytes_per_real == 4;
        if !is_plain {
            return None;
        }
        let nodes = self.expected_vertices();
        if nodes * places as u64 * 4 <= tuning::l2_table_bytes() {
            return self.plan_narrow_slices(places);
        }
        if self.target.order == Order::Local {
            return None;
        }
        let is_wide = nodes * 256 <= tuning::wide_sliced_table_bytes()
            || nodes * 128 > tuning::sliced_table_bytes();
        let slice =
            if is_wide { tuning::far_slice_columns_wide() } else { tuning::far_slice_columns() };
        let slices = places / slice;
        (slices > 1 && places.is_multiple_of(slice)).then_some(Lanes {
            places,
            vector: 4,
            lanes: slice / 4,
            chunks: 1,
            slices,
        })
    }

    /// Whether the kernel of this walk also computes a product of its rows.
    pub(super) fn is_followed(&self) -> bool {
        self.joined.walked.values().any(|head| *head == self.number)
    }

    /// The number of vertices; 0 if unknown.
    pub(super) fn expected_vertices(&self) -> u64 {
        self.vertices
    }

    /// The number of rows of this kind; 0 if the list does not determine it.
    pub(super) fn expected_rows(&self, rows: Rows) -> u64 {
        match rows {
            Rows::Nodes => self.expected_vertices(),
            Rows::Graphs(count) | Rows::Fixed(count) => count,
            Rows::Edges | Rows::EdgesTwice => 0,
        }
    }

    /// Whether lanes hold two vectors for the scores of heads: only with many rows of few edges.
    fn is_scored(&self, walk: &Walk, places: usize) -> bool {
        let elements = self.expected_vertices() * places as u64;
        let has_blocks = elements / ((SCORED * widest_vector(4)) as u64 * u64::from(THREADS))
            >= tuning::head_blocks_left() * u64::from(self.target.processors);
        has_blocks
            && self.launch.bytes <= tuning::head_reads() * 4 * elements
            && may_be_scored(walk, places)
    }

    /// Notes how a walk is executed.
    fn note_walk(&mut self, scheduled: &ScheduledWalk, turns: u64, cut: Option<Cut>) {
        let ScheduledWalk { lowering, along, few, tail, is_scored, .. } = scheduled;
        let (walk, lanes) = (&lowering.walk, &lowering.lanes);
        let (over_edges, along, few) = (cut.is_some(), along.is_some(), few.is_some());
        self.note([
            (ScheduleKind::Rows, !over_edges && turns == 1),
            (ScheduleKind::RowsInTurn, !over_edges && turns > 1),
            (ScheduleKind::EdgesOfRows, over_edges && !along && !few),
            (ScheduleKind::LowDegreeRows, over_edges && !along && few),
            (ScheduleKind::ConsecutiveRows, along),
            (ScheduleKind::ColumnSlices, lanes.slices > 1),
            (ScheduleKind::MultiBlockRows, cut.is_some_and(|cut| cut.hub_blocks > 0)),
            (ScheduleKind::OnlineSoftmax, !walk.running.is_empty()),
            (ScheduleKind::LaneBroadcast, over_edges && lowering.broadcasts()),
            (ScheduleKind::HeadScores, *is_scored),
            (ScheduleKind::OverlappingLanes, lanes.overlaps()),
            (ScheduleKind::PaddedRows, walk.padded.is_some()),
            (ScheduleKind::ProductAfterWalk, tail.is_some()),
        ]);
        self.header();
        self.schedule(describe_rows(*lanes, turns, cut));
        if let Some(tail) = tail {
            self.schedule(format!(
                "also computes {}, a product of these rows",
                self.list.launches()[tail.follower].name
            ));
        }
    }

    /// Decides on a walk by the groups that are asked for, where it supports them; whether it did.
    fn decide_by_groups(
        &mut self,
        walk: &Rc<Walk>,
        frame: &[u64],
        places: usize,
    ) -> Result<bool, NoKernel> {
        let Some(groups) = self.groups.filter(|groups| supports_groups(walk, *groups)) else {
            return Ok(false);
        };
        let lanes = choose_group_lanes(lanes_of(walk, places, 1), groups.lanes);
        let (lowering, stores) = lower_walk(walk, frame, lanes, None)?;
        let fits = fits_shared_memory(&lowering, groups);
        if fits {
            self.decide_group_walk(lowering, stores, groups)?;
        }
        Ok(fits)
    }

    /// Decides on one kernel for a launch that walks rows, or their edges.
    pub(super) fn decide_walk(&mut self) -> Result<(), NoKernel> {
        let mut walk =
            launch_walk::walk_of(self.list, self.target.bytes_per_real, &self.launch.operation)
                .ok_or_else(|| NoKernel::new("an operation that no walk supports".to_owned()))?;
        launch_walk::mark_softmax_exponentials(&mut walk, self.shares);
        if walk.steps.iter().any(|step| step.columns() == 0) {
            let is_nothing = walk.steps.iter().all(|step| step.columns() == 0 || !step.stored);
            return if is_nothing {
                Ok(())
            } else {
                Err(NoKernel::new(
                    "a value without columns in one walk with values that have columns".to_owned(),
                ))
            };
        }
        let walk = Rc::new(walk);
        let frame = frame_shape(&walk);
        let places = frame.iter().product::<u64>().max(1) as usize;
        if self.decide_by_groups(&walk, &frame, places)? {
            return Ok(());
        }
        let scheduled = self.schedule_walk(walk, &frame, places)?;
        self.add_walk(scheduled)
    }

    /// Chooses the schedule of a walk, by its statements.
    fn schedule_walk(
        &mut self,
        mut walk: Rc<Walk>,
        frame: &[u64],
        places: usize,
    ) -> Result<ScheduledWalk, NoKernel> {
        let is_scored = self.is_scored(&walk, places);
        let vectors = if is_scored { SCORED } else { 1 };
        let lanes =
            self.plan_slices(&walk, places).unwrap_or_else(|| lanes_of(&walk, places, vectors));
        let lowered = lower_walk(&walk, frame, lanes, None)?;
        let unsliced = consecutive_rows::unsliced_lanes(lanes);
        let along = if unsliced == lanes {
            self.plan_consecutive(&lowered.0)
        } else {
            let lowered = lower_walk(&walk, frame, unsliced, None);
            lowered.ok().and_then(|(lowering, _)| self.plan_consecutive(&lowering))
        };
        let few = self.plan_low_degree(&lowered.0);
        let chosen = along.map(|along| along.lanes).or(few.map(|few| few.lanes)).unwrap_or(lanes);
        let tail = self.take_trailing_product(&mut walk, &chosen);
        let (lowering, stores) = if tail.is_none() && chosen == lanes {
            lowered
        } else {
            lower_walk(&walk, frame, chosen, tail.as_ref())?
        };
        Ok(ScheduledWalk { lowering, stores, along, few, tail, is_scored })
    }

    /// Adds the kernel of a walk.
    fn add_walk(&mut self, mut scheduled: ScheduledWalk) -> Result<(), NoKernel> {
        let walk = Rc::clone(&scheduled.lowering.walk);
        let lanes = scheduled.lowering.lanes;
        let mut parameters = Parameters::new();
        let tail = match &scheduled.tail {
            Some(tail) => {
                self.elsewhere.insert(tail.follower, self.number);
                Some(tail.lower(&mut scheduled.lowering, &mut parameters)?)
            }
            None => None,
        };
        let groups = u64::from(THREADS / lanes.lanes as u32);
        let turns = self.rows_in_turn(&walk, groups);
        let loads = scheduled.register_estimates();
        let cut = scheduled.cut(&loads);
        self.note_walk(&scheduled, turns, cut);
        let ScheduledWalk { lowering, stores, along, .. } = scheduled;
        parameters.add_reads(&lowering, &lowering.reads());
        parameters.stored(&walk);
        if let (Some(cut), Some(direction)) = (cut, walk.direction()) {
            add_edge_lists(&mut parameters, &lowering, direction, cut);
        }
        parameters.push("const unsigned rows", Argument::RowCount(walk.rows));
        if let Some(cut) = cut.filter(|cut| cut.hub_blocks > 0) {
            let slots = heavy_rows::slots_of_lane(&lowering, 1) * lanes.lanes;
            self.scratch_bytes = self
                .scratch_bytes
                .max(u64::from(cut.hub_blocks) * (lanes.slices * slots) as u64 * 8);
        }
        let blocks = match (cut, walk.direction()) {
            (Some(cut), Some(direction)) => {
                Blocks::Items { walked: direction.into(), cut, slices: lanes.slices as u32 }
            }
            _ => Blocks::Rows {
                rows: if matches!(walk.rows, Rows::Fixed(_)) { Rows::Fixed(1) } else { walk.rows },
                each: (groups * turns) as u32,
                slices: lanes.slices as u32,
            },
        };
        let tables = lowering.constants.clone();
        let draft = match cut {
            Some(cut) if along.is_some() => {
                let body = ConsecutiveBody { lowering, stores, cut };
                let maker = "consecutive_rows.rs, emit_consecutive_walk";
                KernelDraft::new(maker, parameters, blocks, body)
            }
            Some(cut) => {
                let body = EdgeWalkBody { lowering, stores, tail, loads, cut };
                KernelDraft::new("row_walk.rs, emit_edge_kernel", parameters, blocks, body)
            }
            None => {
                let body = RowWalkBody { lowering, stores, turns };
                KernelDraft::new("row_walk.rs, emit_row_kernel", parameters, blocks, body)
            }
        };
        let resident = cut.map_or(2, |cut| cut.blocks_per_processor);
        self.add_kernel(KernelDraft { resident, tables, waits: cut.is_some(), ..draft });
        Ok(())
    }

    /// Rows that a lane group processes in sequence, in a walk without edges.
    fn rows_in_turn(&self, walk: &Walk, groups: u64) -> u64 {
        let rows_in_turn = tuning::rows_in_turn();
        let has_many = walk.rows == Rows::Nodes
            && self.expected_vertices() / (groups * rows_in_turn)
                >= tuning::rows_in_turn_blocks_left() * u64::from(self.target.processors);
        if has_many { rows_in_turn } else { 1 }
    }
}

/// A walk over rows, or their edges, with the schedule that is chosen for it.
struct ScheduledWalk {
    lowering: WalkLowering,
    stores: Statements,
    along: Option<ConsecutiveWalk>,
    few: Option<LowDegreeSchedule>,
    /// A product that the same kernel computes.
    tail: Option<TrailingProduct>,
    /// Whether half as many lanes compute each score.
    is_scored: bool,
}

impl ScheduledWalk {
    /// The registers of each pass over edges.
    fn register_estimates(&self) -> Vec<RegisterEstimate> {
        let is_few = self.few.is_some_and(|few| few.asks);
        let of = |pass| RegisterEstimate::new(&self.lowering, pass).with_few(is_few);
        (1..self.lowering.passes.len()).map(of).collect()
    }

    /// How rows with edges are assigned to threads; none for a walk without edges.
    fn cut(&self, loads: &[RegisterEstimate]) -> Option<Cut> {
        let (lanes, passes) = (self.lowering.lanes, self.lowering.walk.passes());
        if let Some(along) = self.along {
            return Some(along.cut());
        }
        if passes == 0 {
            return None;
        }
        let in_flight = loads.iter().map(|load| load.edges_in_flight()).min().unwrap_or(1);
        let blocks = loads.iter().map(|load| load.blocks_per_sm(in_flight)).min().unwrap_or(1);
        let (in_flight, blocks) =
            self.few.map_or((in_flight, blocks), |few| (few.edges, few.blocks));
        let is_one_pass = passes == 1;
        Some(Cut {
            groups_of_warp: 32 / lanes.lanes as u32,
            warps: THREADS / 32,
            in_flight: in_flight as u32,
            blocks_per_processor: if is_one_pass {
                blocks
            } else {
                blocks.min(tuning::repeated_walk_blocks())
            },
            hub_blocks: if is_one_pass { heavy_rows::max_blocks(lanes.slices) } else { 0 },
            rows_of_group: 1,
        })
    }
}

/// Describes how a walk distributes its rows.
fn describe_rows(lanes: Lanes, turns: u64, cut: Option<Cut>) -> String {
    let slices = if lanes.slices > 1 {
        format!(" of one of {} slices", lanes.slices)
    } else {
        String::new()
    };
    let row =
        format!("{} lanes of {} columns a row{slices}", lanes.lanes, lanes.vector * lanes.chunks);
    match cut {
        None => format!("{row}, {} rows a block", u64::from(THREADS / lanes.lanes as u32) * turns),
        Some(cut) => {
            let rows = if cut.rows_of_group > 1 {
                format!(" at once, {} in sequence", cut.rows_of_group)
            } else {
                String::new()
            };
            let hubs = if cut.hub_blocks > 0 {
                format!(", up to {} blocks for all heavy rows", cut.hub_blocks)
            } else {
                String::new()
            };
            format!(
                "{row}, {} rows a warp{rows}, {} edges in flight; a warp or a block for rows with \
                 many edges{hubs}",
                cut.groups_of_warp, cut.in_flight
            )
        }
    }
}

/// Lowers a walk to statements: those that compute rows, including the rows that a trailing product
/// multiplies, and those that store results.
pub(super) fn lower_walk(
    walk: &Rc<Walk>,
    frame: &[u64],
    lanes: Lanes,
    tail: Option<&TrailingProduct>,
) -> Result<(WalkLowering, Statements), NoKernel> {
    let (mut lowering, mut stores) = (WalkLowering::new(walk, lanes), Statements::default());
    for number in (0..walk.steps.len()).filter(|number| walk.steps[*number].stored) {
        stores.push(emit_store(&mut lowering, number, frame)?);
    }
    tail.map(|tail| tail.row(&mut lowering)).transpose()?;
    for pass in (1..=walk.passes()).rev() {
        lowering.lower_pass(pass)?;
    }
    Ok((lowering, stores))
}

/// The body of a walk over rows without edges.
struct RowWalkBody {
    lowering: WalkLowering,
    stores: Statements,
    /// Rows that a lane group processes in sequence.
    turns: u64,
}

impl KernelBody for RowWalkBody {
    fn text(&self, _printer: &Printer) -> String {
        emit_row_kernel(self)
    }
}

fn emit_row_kernel(body: &RowWalkBody) -> String {
    let RowWalkBody { lowering, stores, turns } = body;
    let statements = Statements::concat(&lowering.rows);
    let mut text = emit_opening(&lowering.lanes);
    if *turns > 1 {
        text.push_str(&format!(
            "UNROLL for (int turn = 0; turn < {turns}; turn++) {{\nconst unsigned number = \
                (blockIdx.x * {turns} + turn) * GROUPS + warp * PER_WARP + group;\n"
        ));
    } else {
        text.push_str("const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;\n");
    }
    text.push_str(
        "const bool live = number < rows;\n[[maybe_unused]] const unsigned v = live ? \
        number : 0;\n",
    );
    text.push_str(&emit_row_context(&statements.reads()));
    text.push_str(&statements.text());
    text.push_str(if *turns > 1 { "if (!live) continue;\n" } else { "if (!live) return;\n" });
    text.push_str(&stores.text());
    text.push_str(if *turns > 1 { "}\n" } else { "" });
    text
}

/// The body of a walk over edges, row by row.
struct EdgeWalkBody {
    lowering: WalkLowering,
    stores: Statements,
    tail: Option<LoweredTail>,
    /// The registers of each pass.
    loads: Vec<RegisterEstimate>,
    cut: Cut,
}

impl KernelBody for EdgeWalkBody {
    fn text(&self, _printer: &Printer) -> String {
        emit_edge_kernel(self)
    }
}

fn emit_edge_kernel(body: &EdgeWalkBody) -> String {
    let EdgeWalkBody { lowering, stores, tail, loads, cut } = body;
    let mut text = emit_opening(&lowering.lanes);
    text.push_str(&emit_in_flight_constants(cut.in_flight as usize));
    text.push_str(&emit_item_assignment(cut.hub_blocks > 0, lowering.lanes.share_in_turn()));
    text.push_str(&emit_row_context(&Statements::concat(&lowering.rows).reads()));
    for (number, pass) in lowering.passes.iter().enumerate() {
        if number > 0 {
            pass.sums.iter().for_each(|sum| text.push_str(&format!("{}\n", sum.emit_opening())));
            text.push_str(&emit_edge_loop(lowering, number, loads[number - 1]));
            text.push_str(&emit_group_merge(lowering, number));
            if cut.hub_blocks > 0 {
                text.push_str(&heavy_rows::emit_block_merge(lowering, number));
            }
        }
        text.push_str(&lowering.rows[number].text());
    }
    tail.iter().for_each(|tail| text.push_str(&tail.sums_text()));
    text.push_str("if (!writes) return;\n");
    text.push_str(&stores.text());
    tail.iter().for_each(|tail| text.push_str(&tail.epilogue_text()));
    text
}
