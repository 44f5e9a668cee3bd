//! mode_and_hindex: reductions that need all values of a vertex at once: the most frequent value,
//! and the h-index.
//!
//! promises  the value of the interpreter, whatever the order of the edges: of equally frequent
//!           values the smallest, a NaN if there is one, and what a reduction gives over nothing;
//!           no memory beside shared memory
//! never     sorts
//! limits    a vertex of up to 32 edges has a warp, one of more a block, which counts values in a
//!           hash table in shared memory: where a row has more distinct values than it has places,
//!           the row is read several times
use std::rc::Rc;

use super::kernel_parameters::emit_row_context;
use super::operators::{cast, register};
use super::schedule_kinds::ScheduleKind;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::unfused_edge_ops::{EdgeValue, SINGLE, edge_parameters, lower_edge_value, single};
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Blocks, NoKernel, THREADS, Unit};
use warploom_ir::{Op, Reduction, Type};
use warploom_launch::{LaunchList, Operation, Rows};

/// Columns, each of which has blocks of its own: a grid has so many along its second axis.
const MAX_COLUMNS: usize = 65_535;

/// Whether an operation is one of these.
pub(super) fn is_collected(op: &Op) -> bool {
    matches!(op, Op::Reduce(Reduction::Mode | Reduction::HIndex, _))
}

/// What precedes the kernels of a list that has such an operation.
pub(super) fn opening(list: &LaunchList) -> &'static str {
    let has = |launch: &&warploom_launch::Launch| {
        let is_one =
            |step: &Operation| matches!(step, Operation::Evaluate { op, .. } if is_collected(op));
        is_one(&launch.operation) || launch.operation.steps().iter().any(is_one)
    };
    if list.launches().iter().any(has) { OPENING } else { "" }
}

impl Unit<'_> {
    /// The most frequent value of the edges of a vertex, or their h-index.
    pub(super) fn decide_collected(&mut self) -> Result<(), NoKernel> {
        let odd = || NoKernel::new("a launch that is no reduction over edges".to_owned());
        let Operation::Evaluate { inputs, .. } = &self.launch.operation else { return Err(odd()) };
        let task = self.task().ok_or_else(odd)?;
        let Op::Reduce(reduction, edges) = task.op else { return Err(odd()) };
        let (reduction, edges) = (*reduction, *edges);
        if task.columns == 0 {
            return Ok(());
        }
        if task.columns > MAX_COLUMNS {
            let what = format!("{} of {} columns", task.op.describe(), task.columns);
            return Err(NoKernel::new(what));
        }
        let (walk, read) =
            Walk::from_operands(self.list, self.target.bytes_per_real, edges.direction, inputs)
                .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let mut lowering = WalkLowering::with_passes(&walk, single(task.columns), 1);
        let value = lower_edge_value(&mut lowering, &task, edges, &read[0], read.get(1), false)?;
        let parameters = edge_parameters(&task, &lowering, edges);
        let blocks =
            Blocks::Rows { rows: Rows::Nodes, each: THREADS / 32, slices: task.columns as u32 };
        let body = CollectedBody { reduction, kind: task.kind, stride: task.stride, value };
        let (tables, maker) = (lowering.constants, "mode_and_hindex.rs, decide_collected");
        self.note([(ScheduleKind::EdgesAmongRow, true)]);
        self.header();
        self.add_kernel(KernelDraft {
            tables,
            ..KernelDraft::new(maker, parameters, blocks, body)
        });
        Ok(())
    }
}

/// The body of a kernel with a warp for each vertex of few edges, and its block for one of more.
struct CollectedBody {
    reduction: Reduction,
    /// The type of the result.
    kind: Type,
    /// Elements from one row of the result to the next.
    stride: u64,
    value: EdgeValue,
}

impl KernelBody for CollectedBody {
    fn text(&self, _printer: &Printer) -> String {
        let CollectedBody { reduction, kind, stride, value } = self;
        let of_value = value.held.kind;
        let found = if *reduction == Reduction::Mode {
            let nothing = match of_value {
                Type::Real => "INFINITE",
                Type::Int => "ABOVE",
                Type::Id => "0xffffffffLL",
                Type::Bool => "1",
            };
            MODE.replace("@NOTHING@", nothing)
        } else {
            HINDEX.to_owned()
        };
        let key = if *reduction == Reduction::Mode {
            match of_value {
                Type::Real => "key_of((double)value, flags)".to_owned(),
                other => format!("key_of({}, flags)", cast(other, Type::Int, "value")),
            }
        } else {
            format!("(offset_t){}", cast(of_value, Type::Int, "value"))
        };
        EACH_ROW
            .replace("@FOUND@", &found)
            .replace("@SINGLE@", SINGLE)
            .replace("@CONTEXT@", &emit_row_context(&value.rows.reads()))
            .replace("@ROWS@", &value.rows.text())
            .replace("@EDGE@", &value.edge_text())
            .replace("@TYPE@", register(of_value))
            .replace("@KEPT@", if *kind == Type::Real { "real" } else { "whole" })
            .replace("@VALUE@", &value.held.at())
            .replace("@HOLDS@", &value.condition())
            .replace("@KEY@", &key)
            .replace("@STRIDE@", &stride.to_string())
    }
}

/// First the rows of many edges, with all threads; then each warp its own row, if it has few.
const EACH_ROW: &str = "@SINGLE@constexpr unsigned WARPS = 8;
const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, column = blockIdx.y;
[[maybe_unused]] const unsigned c[1] = {column};
for (unsigned turn = 0; turn <= WARPS; turn++) {
const bool together = turn < WARPS;
const unsigned item = blockIdx.x * WARPS + (together ? turn : warp);
if (item >= rows) continue;
const unsigned begin = __ldg(item_offset + item), end = __ldg(item_offset + item + 1);
if (together != (end - begin > 32)) continue;
[[maybe_unused]] const unsigned v = __ldg(item_row + item);
@CONTEXT@@ROWS@
const auto read = [&](const unsigned p, offset_t& key, [[maybe_unused]] unsigned& flags) {
@EDGE@const @TYPE@ value = @VALUE@;
if (!(@HOLDS@)) return false;
key = @KEY@;
return true;
};
@KEPT@ made;
@FOUND@if (together ? threadIdx.x == 0 : lane == 0) out[(offset_t)v * @STRIDE@ + column] = made;
}
";

const MODE: &str = "unsigned flags = 0;
const Frequent best =
together ? mode_of_many(read, begin, end, flags) : mode_of_few(read, begin, end, flags);
made = @NOTHING@;
if (best.count > 0) value_of(best.key, flags, made);
if (flags & 1) make_odd(made);
";

const HINDEX: &str =
    "made = together ? hindex_of_many(read, begin, end) : hindex_of_few(read, begin, end);
";

/// Device functions.
const OPENING: &str = include_str!("mode_and_hindex.cuh");
