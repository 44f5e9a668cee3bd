//! common_neighbours: common neighbours of the two ends of each edge, per edge, or summed over the
//! edges of each vertex.
//!
//! promises  equals the interpreter: distinct third vertices, adjacent in either direction; counts
//!           are integers, so that no order of atomics shows
//! bytes     each pair of adjacent vertices is kept once, by the one of lower rank (by degree, as
//!           in Schank & Wagner 2005), so that hubs keep few; of two rows the shorter is searched
//!           for in the longer, by bisection (TriCore: Hu, Liu & Huang 2018)
//! never     looks for a relation: sums over one have no kernel
//! limits    12 bytes per edge and 16 per vertex; the vertex of most edges has one block, which
//!           reads them once or twice
use super::kernel_parameters::Parameters;
use super::schedule_kinds::ScheduleKind;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::{Argument, Blocks, ListPart, NoKernel, PairPart, THREADS, Unit, WalkedLists};
use warploom_ir::{Direction, EdgeSet, Op};
use warploom_launch::{LaunchList, Operation, Rows};

/// Whether an operation is one of these.
pub(super) fn counts_common_neighbours(op: &Op) -> bool {
    matches!(op, Op::CommonNeighbors | Op::CommonNeighborsSum(_))
}

/// What precedes the kernels of a list that has such an operation.
pub(super) fn opening(list: &LaunchList) -> &'static str {
    let launches = list.launches();
    let mut operations = launches.iter().map(|launch| &launch.operation);
    let counts = |operation: &Operation| match operation {
        Operation::Evaluate { op, .. } => counts_common_neighbours(op),
        _ => false,
    };
    if operations.any(counts) { OPENING } else { "" }
}

impl Unit<'_> {
    /// Three kernels: pairs of adjacent vertices, their triangles, and what edges have of these.
    pub(super) fn decide_common_neighbours(&mut self) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a launch that counts no common neighbours".to_owned());
        let task = self.task().ok_or_else(odd)?;
        let edges = match task.op {
            Op::CommonNeighbors => None,
            Op::CommonNeighborsSum(EdgeSet { direction, relation: None }) => Some(*direction),
            op => return Err(NoKernel::new(format!("{} over one relation", op.describe()))),
        };
        let (out, stride) = (Argument::Buffer(task.out.to_owned()), task.stride);
        self.note([(ScheduleKind::PairsOfNeighbours, true)]);
        self.header();

        let mut parameters = Parameters::new();
        if edges.is_some() {
            parameters.push_output(OUTPUT, out.clone());
        }
        add_sides(&mut parameters);
        self.add_pairs(&mut parameters, &PairPart::ALL, &PairPart::ALL);
        parameters.push_output("unsigned* taken", Argument::Ticket);
        parameters.push("const unsigned rows", Argument::RowCount(Rows::Nodes));
        let blocks = Blocks::Rows { rows: Rows::Nodes, each: THREADS / 32, slices: 1 };
        let step = Step::Pairs { cleared: edges.map(|_| stride) };
        self.add_counting("_pairs", parameters, blocks, step);

        let mut parameters = Parameters::new();
        self.add_pairs(&mut parameters, &PairPart::ALL, &[PairPart::Count]);
        parameters.push("const unsigned* taken", Argument::Ticket);
        self.add_counting("_triangles", parameters, SLOTS, Step::Triangles);

        let sides: &[(Direction, &'static str)] = match edges {
            None | Some(Direction::In) => &[(Direction::In, "_of_edges")],
            Some(Direction::Out) => &[(Direction::Out, "_of_edges")],
            Some(Direction::Both) => &[(Direction::In, "_of_in"), (Direction::Out, "_of_out")],
        };
        for &(direction, suffix) in sides {
            let step = Step::OfEdges { direction, is_summed: edges.is_some(), stride };
            self.add_counts_of_edges(suffix, step, out.clone());
        }
        Ok(())
    }

    /// The kernel that takes counts of pairs to edges.
    fn add_counts_of_edges(&mut self, suffix: &'static str, step: Step, out: Argument) {
        let mut parameters = Parameters::new();
        parameters.push_output(OUTPUT, out);
        add_sides(&mut parameters);
        let read = [PairPart::Row, PairPart::Far, PairPart::Count];
        self.add_pairs(&mut parameters, &read, &[]);
        if matches!(step, Step::OfEdges { is_summed: false, .. }) {
            let ids = Argument::Items(WalkedLists::Ascending(Direction::In), ListPart::Edge);
            parameters.push("const unsigned* __restrict__ slot_edge", ids);
        }
        parameters.push_output("unsigned* taken", Argument::Ticket);
        parameters.push("const unsigned rows", Argument::RowCount(Rows::Nodes));
        parameters.push("const unsigned slots", Argument::RowCount(Rows::Edges));
        self.add_counting(suffix, parameters, SLOTS, step);
    }

    /// Adds lists of pairs of this launch, of which a kernel writes some.
    fn add_pairs(&self, parameters: &mut Parameters, some: &[PairPart], written: &[PairPart]) {
        for &part in some {
            let (kind, name) = match part {
                PairPart::Row => ("PairRow", "pair_row"),
                PairPart::Near => ("unsigned", "pair_near"),
                PairPart::Far => ("unsigned", "pair_far"),
                PairPart::Count => ("unsigned", "pair_count"),
            };
            let given = Argument::Pairs(self.number, part);
            if written.contains(&part) {
                parameters.push_output(format!("{kind}* __restrict__ {name}"), given);
            } else {
                parameters.push(format!("const {kind}* __restrict__ {name}"), given);
            }
        }
    }

    fn add_counting(
        &mut self,
        suffix: &'static str,
        parameters: Parameters,
        blocks: Blocks,
        step: Step,
    ) {
        let maker = "common_neighbours.rs, decide_common_neighbours";
        self.add_kernel(KernelDraft {
            suffix,
            ..KernelDraft::new(maker, parameters, blocks, step)
        });
    }
}

/// A thread for each slot of a list of edges. There are no more pairs than edges.
const SLOTS: Blocks = Blocks::Rows { rows: Rows::Edges, each: THREADS, slices: 1 };

/// The parameter for the result.
const OUTPUT: &str = "whole* __restrict__ out";

/// Adds the edges of each vertex in both directions.
fn add_sides(parameters: &mut Parameters) {
    for (direction, name) in [(Direction::In, "in"), (Direction::Out, "out")] {
        for (part, list) in [(ListPart::Offset, "offset"), (ListPart::Far, "far")] {
            let given = Argument::Items(WalkedLists::Ascending(direction), part);
            parameters.push(format!("const unsigned* __restrict__ {name}_{list}"), given);
        }
    }
}

/// The body of one of the kernels.
enum Step {
    /// Lists the pairs, and clears a sum whose rows have this stride.
    Pairs { cleared: Option<u64> },
    /// Counts the triangles of each pair.
    Triangles,
    /// Takes the counts of edges to their rows, or adds them to those of vertices.
    OfEdges { direction: Direction, is_summed: bool, stride: u64 },
}

impl KernelBody for Step {
    fn text(&self, _printer: &Printer) -> String {
        match self {
            Step::Pairs { cleared } => {
                let clear =
                    |stride: u64| format!("if (lane == 0) out[(offset_t)v * {stride}] = 0;\n");
                PAIRS.replace("@CLEARED@", &cleared.map_or_else(String::new, clear))
            }
            Step::Triangles => TRIANGLES.to_owned(),
            Step::OfEdges { direction, is_summed, stride } => OF_EDGES
                .replace("@PUT@", if *is_summed { SUMMED } else { PER_EDGE })
                .replace("@SIDE@", if *direction == Direction::Out { "out" } else { "in" })
                .replace("@STRIDE@", &stride.to_string()),
        }
    }
}

/// First the rows of many edges, with all threads; then each warp its own row, if it has few.
const PAIRS: &str = "constexpr unsigned WARPS = 8, MANY = 512;
const Sides sides = {in_offset, in_far, out_offset, out_far};
const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
for (unsigned turn = 0; turn <= WARPS; turn++) {
const bool together = turn < WARPS;
const unsigned v = blockIdx.x * WARPS + (together ? turn : warp);
if (v >= rows || together != (entries(sides, v) > MANY)) continue;
if (together) keep_pairs<256>(sides, v, pair_row, pair_near, pair_far, pair_count, taken);
else keep_pairs<32>(sides, v, pair_row, pair_near, pair_far, pair_count, taken);
@CLEARED@}
";

const TRIANGLES: &str = "const unsigned pairs = *taken;
if (blockIdx.x * 256 >= pairs) return;
count_triangles(pair_row, pair_near, pair_far, pair_count, pairs);
";

const OF_EDGES: &str = "const Sides sides = {in_offset, in_far, out_offset, out_far};
if (blockIdx.x == 0 && threadIdx.x == 0) *taken = 0;
const Counted counted = count_of_slot(sides, pair_row, pair_far, pair_count, @SIDE@_offset, \
@SIDE@_far, rows, slots);
@PUT@";

const PER_EDGE: &str = "const unsigned slot = blockIdx.x * 256 + threadIdx.x;
if (slot < slots) out[(offset_t)__ldg(slot_edge + slot) * @STRIDE@] = counted.count;
";

/// Edges of a hub are added up in a warp first.
const SUMMED: &str = "const unsigned row = __shfl_sync(FULL, counted.row, 0);
offset_t sum = counted.count;
const bool is_one = __all_sync(FULL, counted.row == row);
if (is_one) {
UNROLL for (int distance = 16; distance > 0; distance /= 2) {
sum += __shfl_xor_sync(FULL, sum, distance);
}
}
if (sum > 0 && (!is_one || threadIdx.x % 32 == 0)) {
atomicAdd((offset_t*)out + (offset_t)counted.row * @STRIDE@, sum);
}
";

/// Device functions.
const OPENING: &str = include_str!("common_neighbours.cuh");
