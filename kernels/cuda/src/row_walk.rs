//! row_walk: one kernel for a walk over rows, or over the edges of vertices: assigns rows to
//! threads.
//!
//! promises  each row belongs to one lane group; over edges, a row with many edges has a warp or a
//!           block, whose groups take equal shares that are merged in order; rows without edges are
//!           computed too; lanes beyond the row's columns read a column that exists and store
//!           nothing; lanes that share a column store the same bits
//! never     adds in an order that varies
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::consecutive_rows;
use super::edge_sums::Sum;
use super::heavy_rows;
use super::kernel_parameters::{Parameters, emit_row_context};
use super::lane_layout::{Lanes, Table, identity, widest_vector};
use super::low_degree_rows::LowDegreeSchedule;
use super::neighbour_group_walk::{choose_group_lanes, fits_shared_memory, supports_groups};
use super::online_softmax;
use super::product_after_walk::TrailingProduct;
use super::statement_text::{self, LoadsOf};
use super::statements::{Elements, Scope, Source, Statement, Statements, Store, StoreHow, Stream};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Level, Step, Walk};
use super::{
    Argument, Blocks, Cut, KernelText, ListPart, NoKernel, Order, ScheduleKind, THREADS, Unit,
};
use warploom_ir::{Direction, Op, Type};
use warploom_launch::{Element, Rows, reduced};
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
fn lanes_of(walk: &Walk, places: usize, vectors: usize) -> Lanes {
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

/// Lanes for a row of this many columns. Other blocks take the other slices of a wide row.
pub(super) fn plain_lanes(places: usize, vector: usize, may_slice: bool) -> Lanes {
    if may_slice && places > tuning::slice_columns() {
        let chunks = tuning::slice_columns().div_ceil(32 * vector);
        return Lanes {
            places,
            vector,
            lanes: 32,
            chunks,
            slices: places.div_ceil(32 * vector * chunks),
        };
    }
    let wanted = places.div_ceil(vector);
    let lanes = wanted.next_power_of_two().min(32);
    Lanes { places, vector, lanes, chunks: wanted.div_ceil(lanes), slices: 1 }
}

/// The shape whose elements are distributed over the lanes: that of the widest value.
pub(super) fn frame_shape(walk: &Walk) -> Vec<u64> {
    let of_step = |number: usize| {
        let step = &walk.steps[number];
        let inputs = matches!(step.op, Op::Axis(..)).then(|| step.inputs[0].shape());
        [Some(step.shape.clone()), inputs]
            .into_iter()
            .flatten()
            .max_by_key(|shape| shape.iter().product::<u64>())
    };
    let is_frame = |number: &usize| {
        walk.steps[*number].level == Level::Row || matches!(walk.steps[*number].op, Op::Axis(..))
    };
    let shapes = (0..walk.steps.len()).filter(is_frame).filter_map(of_step);
    // Of equally wide shapes, the one with most axes: it distinguishes heads.
    shapes.max_by_key(|shape| (shape.iter().product::<u64>(), shape.len())).unwrap_or_default()
}

/// The element of a value that each place of the frame stores.
fn store_table(shape: &[u64], frame: &[u64]) -> Table {
    let (columns, places) =
        (shape.iter().product::<u64>().max(1), frame.iter().product::<u64>().max(1));
    if columns == places {
        return identity(places as usize);
    }
    let trimmed: &[u64] = if shape.last() == Some(&1) { &shape[..shape.len() - 1] } else { shape };
    let each =
        |of: &dyn Fn(u64) -> u64| Table::new((0..places).map(|place| of(place) as u32).collect());
    if places.is_multiple_of(columns) && frame.starts_with(trimmed) {
        return each(&|place| place / (places / columns));
    }
    if places.is_multiple_of(columns) && frame.ends_with(shape) {
        return each(&|place| place % columns);
    }
    each(&|place| place.min(columns - 1))
}

/// The places that are the first to hold their element: those store it.
fn owners(table: &Table) -> Table {
    let mut seen = vec![false; table.len().max(1)];
    let first = table
        .iter()
        .map(|&element| u32::from(!std::mem::replace(&mut seen[element as usize], true)));
    Table::new(first.collect())
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

    fn note_walk(
        &mut self,
        lowering: &WalkLowering,
        along: bool,
        few: bool,
        scored: bool,
        turns: u64,
        cut: Option<Cut>,
    ) {
        let (walk, lanes) = (lowering.walk, &lowering.lanes);
        let over_edges = cut.is_some();
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
            (ScheduleKind::HeadScores, scored),
            (ScheduleKind::OverlappingLanes, lanes.overlaps()),
            (ScheduleKind::PaddedRows, walk.padded.is_some()),
        ]);
    }

    /// Emits a walk by the groups that are asked for, where it supports them; whether it did.
    fn emit_by_groups(
        &mut self,
        walk: &Walk,
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
            self.emit_group_walk(&lowering, &stores.text(), groups)?;
        }
        Ok(fits)
    }

    /// Emits one kernel for a launch that walks rows, or their edges.
    pub(super) fn emit_walk(&mut self) -> Result<(), NoKernel> {
        let mut walk =
            Walk::from_operation(self.list, self.target.bytes_per_real, &self.launch.operation)
                .ok_or_else(|| NoKernel::new("an operation that no walk supports".to_owned()))?;
        online_softmax::mark_softmax_exponentials(&mut walk, self.shares);
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
        let frame = frame_shape(&walk);
        let places = frame.iter().product::<u64>().max(1) as usize;
        let vectors = if self.is_scored(&walk, places) { SCORED } else { 1 };
        let lanes =
            self.plan_slices(&walk, places).unwrap_or_else(|| lanes_of(&walk, places, vectors));
        if self.emit_by_groups(&walk, &frame, places)? {
            return Ok(());
        }
        let along = lower_walk(&walk, &frame, consecutive_rows::unsliced_lanes(lanes), None)
            .ok()
            .and_then(|(lowering, _)| self.plan_consecutive(&lowering));
        let few = self.plan_low_degree(&lower_walk(&walk, &frame, lanes, None)?.0);
        let lanes = along.map(|along| along.lanes).or(few.map(|few| few.lanes)).unwrap_or(lanes);
        let tail = self.take_trailing_product(&mut walk, &lanes);
        let (mut lowering, stores) = lower_walk(&walk, &frame, lanes, tail.as_ref())?;
        let mut stores = stores.text();
        let mut parameters = Parameters::new();
        let sums_of_tail = match &tail {
            Some(tail) => {
                self.elsewhere.insert(tail.follower, self.number);
                let texts = tail.texts(&mut lowering, &mut parameters)?;
                stores.push_str(&texts.then);
                texts.sums
            }
            None => String::new(),
        };
        let groups = u64::from(THREADS / lanes.lanes as u32);
        let rows_in_turn = tuning::rows_in_turn();
        let has_many = walk.rows == Rows::Nodes
            && self.expected_vertices() / (groups * rows_in_turn)
                >= tuning::rows_in_turn_blocks_left() * u64::from(self.target.processors);
        let turns = if has_many { rows_in_turn } else { 1 };
        let (maker, (body, cut)) = if let Some(along) = along {
            (
                "consecutive_rows.rs, emit_consecutive_walk",
                consecutive_rows::emit_consecutive_walk(&lowering, &stores, along),
            )
        } else if walk.passes() > 0 {
            (
                "row_walk.rs, emit_edge_kernel",
                emit_edge_kernel(&lowering, &sums_of_tail, &stores, few),
            )
        } else {
            ("row_walk.rs, emit_row_kernel", (emit_row_kernel(&lowering, &stores, turns), None))
        };
        self.note_walk(&lowering, along.is_some(), few.is_some(), vectors > 1, turns, cut);
        self.note([(ScheduleKind::ProductAfterWalk, tail.is_some())]);
        self.header();
        self.schedule(&describe_rows(lanes, turns, cut));
        if let Some(tail) = &tail {
            let line = format!(
                "//   (also computes {}, a product of these rows)\n",
                self.list.launches()[tail.follower].name
            );
            self.source.push_str(&line);
        }
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
        let least = cut.map_or(2, |cut| cut.blocks_per_processor);
        let each = (groups * turns) as u32;
        let blocks = match (cut, walk.direction()) {
            (Some(cut), Some(direction)) => {
                Blocks::Items { walked: direction.into(), cut, slices: lanes.slices as u32 }
            }
            _ => Blocks::Rows {
                rows: if matches!(walk.rows, Rows::Fixed(_)) { Rows::Fixed(1) } else { walk.rows },
                each,
                slices: lanes.slices as u32,
            },
        };
        self.add_kernel(KernelText {
            maker,
            resident: least,
            tables: &emit_tables(&lowering),
            body: &body,
            waits: cut.is_some(),
            ..KernelText::new(parameters, blocks)
        });
        Ok(())
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
fn lower_walk<'a>(
    walk: &'a Walk,
    frame: &[u64],
    lanes: Lanes,
    tail: Option<&TrailingProduct>,
) -> Result<(WalkLowering<'a>, Statements), NoKernel> {
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

/// Constant tables for elements that no short expression gives, emitted before the kernel.
pub(super) fn emit_tables(lowering: &WalkLowering) -> String {
    let line = |(number, table): (usize, &String)| {
        format!("__constant__ unsigned short TABLE_{number}[] = {{{table}}};\n")
    };
    lowering.constants.iter().enumerate().map(line).collect()
}

/// The statement that stores a step's value.
pub(super) fn emit_store(
    lowering: &mut WalkLowering,
    number: usize,
    frame: &[u64],
) -> Result<Statement, NoKernel> {
    let walk = lowering.walk;
    let step = &walk.steps[number];
    let table = store_table(&step.shape, frame);
    let value = lowering.step_value(number, &table, Scope::Row(step.passes))?;
    let is_whole_row = step.columns() == lowering.lanes.places;
    let how = if is_whole_row && step.kind == Type::Real && value.is_run() && !value.many {
        StoreHow::Vectors(statement_text::vectors(&lowering.lanes))
    } else {
        let owner = if is_whole_row {
            "own[q]".to_owned()
        } else {
            format!("own[q] && {}", lowering.holds(&owners(&table)))
        };
        StoreHow::Elements { index: lowering.element(&table), owner }
    };
    Ok(Statement::Store(Store {
        buffer: step.out.clone(),
        value,
        stride: (!matches!(walk.rows, Rows::Fixed(_))).then_some(step.stride),
        how,
    }))
}

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

fn emit_row_kernel(lowering: &WalkLowering, stores: &str, turns: u64) -> String {
    let statements = Statements::concat(&lowering.rows);
    let about = emit_row_context(&statements.reads());
    let mut body = emit_opening(&lowering.lanes);
    if turns > 1 {
        body.push_str(&format!(
            "UNROLL for (int turn = 0; turn < {turns}; turn++) {{\nconst unsigned number = \
                (blockIdx.x * {turns} + turn) * GROUPS + warp * PER_WARP + group;\n"
        ));
    } else {
        body.push_str("const unsigned number = blockIdx.x * GROUPS + warp * PER_WARP + group;\n");
    }
    body.push_str(
        "const bool live = number < rows;\n[[maybe_unused]] const unsigned v = live ? \
        number : 0;\n",
    );
    body.push_str(&about);
    body.push_str(&statements.text());
    body.push_str(if turns > 1 { "if (!live) continue;\n" } else { "if (!live) return;\n" });
    body.push_str(stores);
    body.push_str(if turns > 1 { "}\n" } else { "" });
    body
}

/// Registers that a thread needs for a walk over edges, by use.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterEstimate {
    /// Registers loaded per edge, and the number of rows that they come from.
    loaded: usize,
    reads: usize,
    /// Registers per edge from the edge lists; lanes per group; elements per vector; whether the
    /// row fills all lanes; vectors per lane.
    listed: usize,
    lanes: usize,
    vector: usize,
    fills: bool,
    chunks: usize,
    /// Registers computed from the loaded ones, per edge.
    made: usize,
    /// Registers of the sums, and of the row's own values that the pass reads.
    kept: usize,
    /// The number of sums.
    sums: usize,
    /// Whether lanes draw dropout for their edges, and for values of their row.
    draws: bool,
    draws_of_row: bool,
    /// Whether values of the row are computed before its edges are walked. They may be needed after
    /// the walk.
    waits: bool,
    /// Whether `low_degree_rows.rs` chose the schedule: few operations per edge, however many
    /// vectors a lane has.
    is_few: bool,
    bytes_per_real: u64,
}

impl RegisterEstimate {
    pub fn new(lowering: &WalkLowering, pass: usize) -> RegisterEstimate {
        let bytes_per_real = lowering.walk.bytes_per_real;
        let sums = |sum: &Sum| {
            let mut elements = Elements::default();
            elements.add(sum.kind(), sum.elements(&lowering.lanes));
            elements.registers(bytes_per_real)
        };
        let of_pass = &lowering.passes[pass];
        let listed = lowering.streams.iter().map(|stream| match stream {
            Stream::Given(leaf) if lowering.walk.leaves[*leaf].element == Element::Real => {
                bytes_per_real as usize / 4
            }
            Stream::Given(_) => 2,
            Stream::Far | Stream::Edge | Stream::Relation | Stream::Kept(..) => 1,
        });
        let (listed, lanes) = (listed.sum(), lowering.lanes.lanes);
        let kept = of_pass.sums.iter().map(sums).sum::<usize>()
            + lowering.row_elements(pass).registers(bytes_per_real);
        RegisterEstimate {
            loaded: of_pass.loaded(&lowering.lanes).registers(bytes_per_real),
            reads: of_pass.count_of_rows(),
            listed,
            lanes,
            vector: lowering.lanes.vector,
            fills: lowering.lanes.places >= lanes * lowering.lanes.vector * lowering.lanes.chunks,
            chunks: lowering.lanes.chunks,
            made: of_pass.made(&lowering.lanes).registers(bytes_per_real),
            kept,
            sums: of_pass.sums.len(),
            waits: !lowering.rows[pass - 1].is_empty(),
            is_few: false,
            draws: lowering.streams.iter().any(|stream| matches!(stream, Stream::Kept(..))),
            draws_of_row: lowering.walk.draws(),
            bytes_per_real,
        }
    }

    /// Registers per thread, with this many edges in flight.
    fn registers(self, in_flight: usize) -> usize {
        let place = if self.bytes_per_real == 8 {
            tuning::registers_of_place() + tuning::registers_of_doubles()
        } else {
            tuning::registers_of_place()
        };
        // This chunk of the edge lists and the next; an address for each row.
        let lists = 2 * in_flight.div_ceil(self.lanes) * self.listed;
        place
            + lists
            + in_flight * (self.loaded + self.reads.saturating_sub(1))
            + self.made
            + self.kept
    }

    /// Edges in flight per lane group: more if each loads less, and as many as two blocks per SM
    /// leave registers for.
    pub fn edges_in_flight(self) -> usize {
        if self.is_wide() {
            return tuning::wide_edges();
        }
        if self.is_scored() {
            return tuning::head_edges();
        }
        let most = match self.loaded {
            // Several sums keep a group busy with four.
            few if few <= tuning::eight_edge_registers()
                && self.sums <= tuning::eight_edge_sums() =>
            {
                8
            }
            some if some <= tuning::four_edge_registers() => 4,
            many if many <= tuning::two_edge_registers() => 2,
            _ => 1,
        };
        [8, 4, 2]
            .into_iter()
            .find(|edges| *edges <= most && self.registers(*edges) <= self.register_limit())
            .unwrap_or(1)
    }

    /// Whether half as many lanes compute each score.
    fn is_scored(self) -> bool {
        self.vector > widest_vector(self.bytes_per_real)
    }

    /// Whether loads are unconditional: an absent edge loads row 0.
    fn is_mixed(self) -> bool {
        self.bytes_per_real == 4 && !self.is_plain()
    }

    /// Maximum registers per thread with two blocks per SM.
    fn register_limit(self) -> usize {
        if self.is_mixed() {
            tuning::registers_two_blocks_mixed()
        } else {
            tuning::registers_two_blocks()
        }
    }

    /// Minimum resident blocks per SM.
    pub fn blocks_per_sm(self, in_flight: usize) -> u32 {
        if self.is_scored() {
            return tuning::head_blocks();
        }
        if self.is_mixed() {
            // Dropout bits and several lists take registers for a while. A sum of rows weighted by
            // one number each, with several vectors per lane, does not fit three blocks: features
            // that are summed once.
            let is_in_pieces = self.listed > 1 && self.chunks > 1 && self.sums == 1 && !self.draws;
            return if self.registers(in_flight) > tuning::registers_four_blocks_mixed()
                || is_in_pieces
            {
                tuning::mixed_blocks_crowded()
            } else if self.draws || self.listed > 1 {
                tuning::mixed_blocks_listed()
            } else {
                tuning::mixed_blocks()
            };
        }
        if self.is_wide() {
            // A weighted row with several vectors per lane does not fit five blocks. With four
            // vectors (columns that no vector divides) it does not fit four.
            return match (self.waits, self.listed) {
                (_, 2..) if self.chunks > 2 => tuning::wide_blocks_weighted_many(),
                (true, _) => tuning::wide_blocks_waiting(),
                (false, 2..) if self.chunks > 1 => tuning::wide_blocks_weighted_pieces(),
                (false, ..=1) => tuning::wide_blocks(),
                (false, _) => tuning::wide_blocks_weighted(),
            };
        }
        // With eight short rows in flight, four blocks per SM are worth more than registers. A
        // chunk of the lists is then one iteration of the loop and takes few registers, unless
        // dropout follows. Four lanes have two chunks, which do not fit together with a row that
        // ends before its lanes do.
        let is_one_turn = (in_flight / 2..=in_flight).contains(&self.lanes)
            && (self.fills || self.lanes == in_flight);
        if self.is_plain()
            && in_flight == 8
            && is_one_turn
            && !self.draws_of_row
            && self.registers(in_flight) <= tuning::registers_four_blocks()
        {
            return tuning::plain_blocks();
        }
        let of_three = if self.is_plain() {
            tuning::registers_three_blocks_plain()
        } else {
            tuning::registers_three_blocks()
        };
        match self.registers(in_flight) {
            registers if registers <= of_three => 3,
            registers if registers <= tuning::registers_two_blocks() => 2,
            _ => 1,
        }
    }

    /// Minimum resident blocks per SM if a group processes several consecutive rows
    /// (`consecutive_rows.rs`); none if that does not pay. Where a row's own values are read before
    /// its edges, the group would wait for them at each row.
    pub fn consecutive_blocks_per_sm(self) -> Option<u32> {
        let is_plain = self.reads == 1
            && self.sums == 1
            && self.loaded <= 4 * self.chunks
            && self.made <= 4 * self.chunks;
        if !is_plain
            || self.waits
            || self.draws
            || self.lanes < 32
            || self.chunks > 2
            || self.listed > 2
        {
            return None;
        }
        Some(if self.chunks == 1 && self.listed == 1 {
            tuning::consecutive_blocks()
        } else {
            tuning::consecutive_blocks_weighted()
        })
    }

    /// Whether whole rows of a plain sum span many lanes: few edges in flight, and many warps.
    fn is_wide(self) -> bool {
        self.is_plain()
            && self.lanes
                >= if self.waits { tuning::wide_lanes_waiting() } else { tuning::wide_lanes() }
    }

    /// 32-bit numbers that the edge lists hold per edge.
    pub fn list_count(self) -> usize {
        self.listed
    }

    /// Whether values of the row are computed before its edges are walked.
    pub fn waits(self) -> bool {
        self.waits
    }

    /// Whether each edge loads one short row and does little with it, so that the edge loop may be
    /// unrolled.
    pub fn is_plain(self) -> bool {
        self.is_few
            || self.bytes_per_real == 4
                && self.reads <= 1
                && self.loaded <= tuning::plain_read_registers()
                && self.made <= tuning::plain_made_registers()
                && self.kept <= tuning::plain_kept_registers()
    }
}

/// Emits the kernel of a walk over edges. `few` overrides the edges in flight and the blocks per
/// SM.
fn emit_edge_kernel(
    lowering: &WalkLowering,
    sums_of_tail: &str,
    stores: &str,
    few: Option<LowDegreeSchedule>,
) -> (String, Option<Cut>) {
    let of = |pass| RegisterEstimate {
        is_few: few.is_some_and(|few| few.asks),
        ..RegisterEstimate::new(lowering, pass)
    };
    let loads: Vec<RegisterEstimate> = (1..lowering.passes.len()).map(of).collect();
    let in_flight = loads.iter().map(|load| load.edges_in_flight()).min().unwrap_or(1);
    let blocks = loads.iter().map(|load| load.blocks_per_sm(in_flight)).min().unwrap_or(1);
    let (in_flight, blocks) = few.map_or((in_flight, blocks), |few| (few.edges, few.blocks));
    let cut = Cut {
        groups_of_warp: 32 / lowering.lanes.lanes as u32,
        warps: THREADS / 32,
        in_flight: in_flight as u32,
        blocks_per_processor: if lowering.walk.passes() == 1 {
            blocks
        } else {
            blocks.min(tuning::repeated_walk_blocks())
        },
        hub_blocks: if lowering.walk.passes() == 1 {
            heavy_rows::max_blocks(lowering.lanes.slices)
        } else {
            0
        },
        rows_of_group: 1,
    };
    let mut body = emit_opening(&lowering.lanes);
    body.push_str(&emit_in_flight_constants(in_flight));
    body.push_str(&emit_item_assignment(cut.hub_blocks > 0));
    body.push_str(&emit_row_context(&Statements::concat(&lowering.rows).reads()));
    for (number, pass) in lowering.passes.iter().enumerate() {
        if number > 0 {
            pass.sums.iter().for_each(|sum| body.push_str(&format!("{}\n", sum.emit_opening())));
            body.push_str(&emit_edge_loop(lowering, number, loads[number - 1]));
            body.push_str(&emit_group_merge(lowering, number));
            if cut.hub_blocks > 0 {
                body.push_str(&heavy_rows::emit_block_merge(lowering, number));
            }
        }
        body.push_str(&lowering.rows[number].text());
    }
    body.push_str(sums_of_tail);
    body.push_str("if (!writes) return;\n");
    body.push_str(stores);
    (body, Some(cut))
}

/// Declares the edges in flight of a lane group and the size of a list chunk.
pub(super) fn emit_in_flight_constants(in_flight: usize) -> String {
    format!("constexpr unsigned B = {in_flight}, J = B > L ? B / L : 1, CHUNK = J * L;\n")
}

/// Assigns an item to each lane group, and a share of its edges; with or without rows that several
/// blocks share. Most blocks have short rows only: they take the first branch.
pub(super) fn emit_item_assignment(with_hubs: bool) -> String {
    format!(
        "{}{EDGES}",
        emit_item_lookup(
            with_hubs,
            "(blockIdx.x - blocks_of_many) * GROUPS + warp * PER_WARP + group"
        )
    )
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
const EDGES: &str =
    "[[maybe_unused]] const unsigned v = __ldg(item_row + item), begin = live ? __ldg(item_offset + item) : 0, end = live ? __ldg(item_offset + item + 1) : 0;
unsigned from = begin, stop = end;
if (tier > 0) {
const unsigned share = (end - begin + shares * B - 1) / (shares * B) * B;
from = min(end, begin + mine * share);
stop = min(end, from + share);
}
const bool writes = live && (tier == 0 || (group == 0 && (tier == 1 || warp == 0)));
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
            (
                if leaf.element == Element::Real { "real" } else { "whole" },
                statement_text::slots(&leaf.name),
            )
        }
    }
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
    let of_all = |at: usize| reads.contains(&Source::Stream(at));
    let of_lane = |at: usize| reads.contains(&Source::StreamOfLane(at));
    let named = |at: usize| lowering.numbers(at).name();
    let (mut first, mut next, mut turn, mut drawn, mut shared) =
        (String::new(), String::new(), String::new(), String::new(), String::new());
    let of_edges = lowering.streams.iter().position(|stream| *stream == Stream::Edge);
    let mut listed: BTreeSet<usize> =
        (0..lowering.streams.len()).filter(|at| of_all(*at) || of_lane(*at)).collect();
    if listed.iter().any(|at| matches!(lowering.streams[*at], Stream::Kept(..))) {
        listed.extend(of_edges);
    }
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
            "{of} held_{at}[J]; UNROLL for (int i = 0; i < J; i++) {{ const unsigned p = from + i \
             * L + part; held_{at}[i] = p < stop ? __ldcs({list} + p) : 0; }}"
        );
        let _infallible = writeln!(
            next,
            "{of} next_{at}[J]; UNROLL for (int i = 0; i < J; i++) {{ const unsigned p = at + \
             CHUNK + i * L + part; next_{at}[i] = p < stop ? __ldcs({list} + p) : 0; }}"
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
    if reads.contains(&Source::LaneEdge) {
        shared.insert_str(0, "const bool here_mine = ALL || at + s + part % B < stop;\n");
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
if (!ALL && s > 0 && !__any_sync(FULL, at + s < stop)) break;
{begun}bool here_[B]; UNROLL for (int k = 0; k < B; k++) here_[k] = at + s + k < stop;
{shared}{}{}UNROLL for (int k = 0; k < B; k++) {{
const bool here = ALL || here_[k];
{}}}
}}
{turn}{counted}at = min(stop, at + CHUNK);
}};
while (__any_sync(FULL, at < stop)) {{ if (__all_sync(FULL, stop - at >= CHUNK)) edges(Yes()); else edges(No()); }}
{}}}
",
        pass.places.text(),
        pass.loads.text_with(loads_of),
        pass.first.text_with(loads_of),
        pass.work.text(),
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
    let in_warp = sum.for_each(|at| {
        let joined = sum.join_part("from_lane(own_part, g * L + part)");
        format!(
            "{{ const {of} own_part = {at}; {at} = from_lane(own_part, part); UNROLL for (int g = \
             1; g < PER_WARP; g++) {at} = {joined}; }}"
        )
    });
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
fn add_edge_lists(
    parameters: &mut Parameters,
    lowering: &WalkLowering,
    direction: Direction,
    cut: Cut,
) {
    add_slot_lists(parameters, lowering, direction);
    parameters.tiers(&direction.into(), cut);
}
