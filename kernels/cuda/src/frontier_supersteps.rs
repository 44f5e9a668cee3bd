//! frontier_supersteps: supersteps on a GPU that compute only rows that read a change, many of them
//! in one cooperative kernel: it commits a superstep of all vertices and, where little changed,
//! goes on with those that read a change.
//!
//! promises  the same states, number of supersteps and end as supersteps of all vertices, to the
//!           bit; the kernel leaves where too much is read, so that the next superstep computes all
//!           vertices, and where the host wants to look; a superstep with a NaN is not committed
//! never     turns to the host in between
//! limits    loops that the list has a frontier for, of one launch with one pass over edges, until
//!           no value changes; 12 bytes a vertex, besides tables of slots
use std::collections::BTreeSet;
use std::rc::Rc;

use super::device_plan::ShortcutRoom;
use super::edge_walk_text::{
    add_stream_lists, emit_edge_loop, emit_group_merge, emit_in_flight_constants,
    emit_opening_with_threads, emit_share,
};
use super::kernel_parameters::{Parameters, emit_row_context};
use super::launch_walk;
use super::loop_shortcuts::{
    SHARED_BYTES, edge_lists, push_directions, replaced_loops, side_name, slots_kernel,
};
use super::register_estimate::RegisterEstimate;
use super::row_stores::frame_shape;
use super::row_walk::{lanes_of, lower_walk};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statement_text::{output, pointer};
use super::statements::Statements;
use super::supersteps::LoopArrays;
use super::walk_lowering::WalkLowering;
use super::{Argument, Blocks, Kernel, ListPart, Unit, WalkedLists};
use warploom_ir::Direction;
use warploom_launch::{Commit, Element, FrontierPlan, LaunchList, Loop, Rows, StopCondition};

/// Threads of a block, of which each processor has one: fewer than other loops have, for walks that
/// need many registers.
const CREW_THREADS: u32 = 512;

const OPENING: &str = include_str!("frontier_supersteps.cuh");

/// For each loop, the number of its only launch if supersteps of few vertices may have a kernel.
pub(super) fn frontier_launches(list: &LaunchList) -> Vec<Option<usize>> {
    let (mut next, mut found) = (0, Vec::new());
    for (repeated, is_replaced) in list.loops().iter().zip(replaced_loops(list)) {
        let launch = next + repeated.prepare.len();
        next = launch + repeated.superstep.len();
        let may = !is_replaced && has_frontier(list, repeated);
        found.push(may.then_some(launch));
    }
    found
}

fn has_frontier(list: &LaunchList, repeated: &Loop) -> bool {
    let [walk] = &repeated.superstep[..] else { return false };
    let written = walk.operation.writes();
    let is_fit = |commit: &Commit| {
        let state = list.buffers.iter().find(|buffer| buffer.name == commit.state);
        state.is_some_and(|state| {
            state.rows == Rows::Nodes && !matches!(state.element, Element::Half(_))
        }) && written.iter().any(|name| **name == *commit.next)
    };
    repeated.frontier.is_some()
        && matches!(repeated.until, StopCondition::Unchanged(_))
        && repeated.commit.iter().all(is_fit)
}

impl Unit<'_> {
    /// The kernel for supersteps of few vertices of a loop, whose only launch this is; none if its
    /// walk does not fit lane groups, or reads edges more than once.
    pub(super) fn decide_frontier(&self, repeated: &Loop) -> Option<KernelDraft> {
        let (limits, bytes_per_real) = (repeated.frontier?, self.target.bytes_per_real);
        let mut walk = launch_walk::walk_of(self.list, bytes_per_real, &self.launch.operation)?;
        launch_walk::mark_softmax_exponentials(&mut walk, self.shares);
        let direction = walk.direction()?;
        if walk.passes() != 1 || walk.steps.iter().any(|step| step.columns() == 0) {
            return None;
        }
        let both = |commit: &Commit| [commit.state.clone(), commit.next.clone()];
        walk.changing = repeated.commit.iter().flat_map(both).collect();
        let walk = Rc::new(walk);
        let frame = frame_shape(&walk);
        let places = frame.iter().product::<u64>().max(1) as usize;
        let lanes = lanes_of(&walk, places, 1);
        if lanes.slices > 1 {
            return None;
        }
        let (lowering, stores) = lower_walk(&walk, &frame, lanes, None).ok()?;
        let arrays = LoopArrays { list: self.list, repeated, bytes_per_real };
        let mut parameters = Parameters::new();
        for (declared, argument) in loop_parameters(direction, limits) {
            parameters.push(declared, argument);
        }
        for (pair, commit) in repeated.commit.iter().enumerate() {
            let element = arrays.array(&commit.state).element;
            for (name, buffer) in [("state", &commit.state), ("next", &commit.next)] {
                let argument = Argument::Buffer(buffer.clone());
                parameters.push_output(format!("{element}* {name}_{pair}"), argument);
            }
        }
        parameters.add_reads(&lowering, &lowering.reads());
        parameters.stored(&walk);
        add_stream_lists(&mut parameters, &lowering, direction);
        let tables = lowering.constants.clone();
        let body = FrontierBody {
            direction,
            in_flight: RegisterEstimate::new(&lowering, 1),
            compared: compared_text(&arrays),
            lowering,
            stores,
        };
        let maker = "frontier_supersteps.rs, decide_frontier";
        let grid = Blocks::Together(self.target.processors);
        Some(KernelDraft {
            tables,
            threads: CREW_THREADS,
            shared_bytes: SHARED_BYTES,
            ..KernelDraft::new(maker, parameters, grid, body)
        })
    }
}

/// The kernels of each loop: those that make its tables, once, and its own.
pub(super) fn kernels(drafts: &[Option<KernelDraft>], processors: u32) -> Vec<Vec<Kernel>> {
    let of_loop = |(number, draft): (usize, &Option<KernelDraft>)| {
        draft.as_ref().map_or_else(Vec::new, |draft| loop_kernels(number, draft, processors))
    };
    drafts.iter().enumerate().map(of_loop).collect()
}

fn loop_kernels(number: usize, draft: &KernelDraft, processors: u32) -> Vec<Kernel> {
    let is_slots = |argument: &Argument| match argument {
        Argument::SlotsOfVertices(direction) => Some(*direction),
        _ => None,
    };
    let own = draft.kernel(format!("frontier_of_loop_{number}"));
    let sides: BTreeSet<Direction> = own.arguments.iter().filter_map(is_slots).collect();
    sides.into_iter().map(|side| slots_kernel(side, processors)).chain([own]).collect()
}

/// What precedes these kernels in a source.
pub(super) fn opening(has_any: bool) -> &'static str {
    if has_any { OPENING } else { "" }
}

fn room(direction: Direction) -> ShortcutRoom {
    let sides = push_directions(direction).len() as u32;
    // A stamp, and two lists of rows.
    ShortcutRoom { sides, task_lists: 0, piece: 1, vertex_bytes: 12 }
}

/// The parameters that the kernel of each loop has.
fn loop_parameters(direction: Direction, limits: FrontierPlan) -> Vec<(String, Argument)> {
    let number = |part: u64| Argument::Number(u32::try_from(part).unwrap_or(u32::MAX));
    let mut parameters = vec![
        ("LoopState* loop".to_owned(), Argument::LoopState),
        ("const unsigned nodes".to_owned(), Argument::RowCount(Rows::Nodes)),
        ("const unsigned edges".to_owned(), Argument::RowCount(Rows::Edges)),
        ("unsigned char* room".to_owned(), Argument::ShortcutRoom(room(direction))),
        ("const unsigned changed_part".to_owned(), number(limits.changed_part)),
        ("const unsigned readers_part".to_owned(), number(limits.readers_part)),
        ("const uint2* pull_slots".to_owned(), Argument::SlotsOfVertices(direction)),
    ];
    for &side in push_directions(direction) {
        let name = side_name(side);
        parameters.push((format!("const uint2* {name}_slots"), Argument::SlotsOfVertices(side)));
        let far = Argument::Items(WalkedLists::Edges(side), ListPart::Far);
        parameters.push((format!("const unsigned* {name}_far"), far));
    }
    parameters
}

/// What compares and commits a row: the text before the row is computed, where states and their
/// successors have changed places or not, and the text of the whole kernel.
fn compared_text(arrays: &LoopArrays<'_>) -> (String, String) {
    let [mut places, mut differs, mut measures] = [String::new(), String::new(), String::new()];
    let [mut moves, mut commits] = [String::new(), String::new()];
    let watched: BTreeSet<&str> = arrays.watched().map(|commit| commit.state.as_str()).collect();
    for (pair, commit) in arrays.repeated.commit.iter().enumerate() {
        let array = arrays.array(&commit.state);
        let (columns, stride, element) = (array.buffer.columns, array.stride, array.element);
        let each = format!("for (unsigned i = 0; i < {columns}; i++)");
        let at = |name: &str| format!("{name}[(offset_t)v * {stride} + i]");
        let (state, next) = (format!("state_{pair}"), format!("next_{pair}"));
        let (read, written) = (pointer(&commit.state), output(&commit.next));
        places += &format!(
            "[[maybe_unused]] const {element}* const {read} = is_turned ? {next} : {state};\n\
             {element}* const {written} = is_turned ? {state} : {next};\n"
        );
        let both = format!("now({}), now({})", at(&read), at(&written));
        differs += &format!("{each} differs |= !is_same({both});\n");
        if watched.contains(commit.state.as_str()) {
            measures += &format!("{each} compare(change, {both});\n");
        }
        moves += &format!("{each} differs |= !is_same({}, {});\n", at(&state), at(&next));
        commits += &format!("{each} {} = now({});\n", at(&state), at(&next));
    }
    let after = format!(
        "Change change = {{0, 0}};\nbool differs = false;\n__syncwarp();\nif (writes && part == 0) \
         {{\n{differs}if (differs) {{\n{measures}}}\n}}\nchanged += (unsigned)change.changed;\nodd \
         |= change.summed != change.summed;\n__syncwarp();\nreturn differs;\n"
    );
    let of_kernel = format!(
        "const auto moves = [&](const unsigned v) {{\nbool differs = false;\n{moves}return \
         differs;\n}};\nconst auto commits = [&](const unsigned v) {{\n{commits}}};\n"
    );
    (of_kernel, format!("{places}@ROW@{after}"))
}

/// The body of the kernel of a loop.
struct FrontierBody {
    direction: Direction,
    lowering: WalkLowering,
    stores: Statements,
    /// The registers of its pass over edges.
    in_flight: RegisterEstimate,
    /// What compares and commits a row, and the text around what computes it.
    compared: (String, String),
}

impl KernelBody for FrontierBody {
    fn text(&self, _printer: &Printer) -> String {
        let push = push_directions(self.direction);
        let sides = push.len();
        CALL.replace("@OPENING@", &emit_opening_with_threads(&self.lowering.lanes, CREW_THREADS))
            .replace("@PUSH@", &edge_lists("push", push, true))
            .replace("@COMPARED@", &self.compared.0)
            .replace("@SIDES@", &sides.to_string())
            .replace("@AROUND@", &self.compared.1)
            .replace("@ROW@", &self.row_text())
    }
}

impl FrontierBody {
    /// Computes a row by a lane group, or a warp.
    fn row_text(&self) -> String {
        let FrontierBody { lowering, stores, in_flight, .. } = self;
        let mut text = emit_in_flight_constants(in_flight.edges_in_flight());
        text.push_str(ROW_OPENING);
        text.push_str(emit_share(lowering.lanes.share_in_turn()));
        text.push_str(&emit_row_context(&Statements::concat(&lowering.rows).reads()));
        text.push_str(&lowering.rows[0].text());
        let sums = &lowering.passes[1].sums;
        sums.iter().for_each(|sum| text.push_str(&format!("{}\n", sum.emit_opening())));
        text.push_str(&emit_edge_loop(lowering, 1, *in_flight));
        text.push_str(&emit_group_merge(lowering, 1));
        text.push_str(&lowering.rows[1].text());
        text.push_str(&format!("if (writes) {{\n{}}}\n", stores.text()));
        text
    }
}

const ROW_OPENING: &str = "const unsigned begin = live ? of.x : 0, end = live ? of.x + of.y : 0;
const int tier = together ? 1 : 0;
const unsigned shares = together ? PER_WARP : 1, mine = together ? group : 0;
const bool writes = live && (!together || group == 0);
";

const CALL: &str = "if (!loop->commits) return;
@OPENING@@PUSH@@COMPARED@extern __shared__ unsigned long long shared_room[];
const auto row = [&](const bool is_turned, const bool together, const bool live, const unsigned v, \
const uint2 of, unsigned& changed, unsigned& odd) {
@AROUND@};
FrontierLoop<L, decltype(row), decltype(moves), decltype(commits)> of_loop = {row, moves, commits};
FrontierState* const search = reinterpret_cast<FrontierState*>(room);
unsigned* const stamps = reinterpret_cast<unsigned*>(room + HEAD);
FrontierSearch<@SIDES@> frontier = {{search->arrived, mean_degree<@SIDES@>(nodes, edges)}, loop, \
nodes, edges, push, pull_slots, changed_part, readers_part, stamps, stamps + nodes,
{&search->counts, reinterpret_cast<FrontierCounts*>(shared_room)}};
frontier.run(of_loop, loop->bound);
";
