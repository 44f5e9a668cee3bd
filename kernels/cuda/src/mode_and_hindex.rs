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

use super::edge_walk_text::add_slot_lists;
use super::kernel_parameters::{Parameters, emit_row_context};
use super::operators::{cast, register};
use super::schedule_kinds::ScheduleKind;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::unfused_edge_ops::{EdgeValue, SINGLE, lies, lower_edge_value, single};
use super::walk_lowering::WalkLowering;
use super::walk_steps::Walk;
use super::{Argument, Blocks, NoKernel, THREADS, Unit};
use warploom_ir::{Op, Reduction, Type};
use warploom_launch::{LaunchList, Operation, Rows};

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
        let (walk, read) =
            Walk::from_operands(self.list, self.target.bytes_per_real, edges.direction, inputs)
                .ok_or_else(odd)?;
        let walk = Rc::new(walk);
        let mut lowering = WalkLowering::with_passes(&walk, single(task.columns), 1);
        let value = lower_edge_value(&mut lowering, &task, edges, (&read[0], read.get(1)), false)?;
        let mut parameters = Parameters::new();
        parameters.push_output(
            format!("{}* __restrict__ out", lies(task.kind)),
            Argument::Buffer(task.out.to_owned()),
        );
        parameters.add_reads(&lowering, &lowering.reads());
        add_slot_lists(&mut parameters, &lowering, edges.direction);
        parameters.push("const unsigned rows", Argument::RowCount(Rows::Nodes));
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
        let (found, put) = if *reduction == Reduction::Mode {
            let nothing = match of_value {
                Type::Real => "INFINITE",
                Type::Int => "ABOVE",
                Type::Id => "0xffffffffLL",
                Type::Bool => "1",
            };
            (MODE.replace("@NOTHING@", nothing), "made".to_owned())
        } else {
            (HINDEX.to_owned(), "made".to_owned())
        };
        let key = if *reduction == Reduction::Mode {
            match of_value {
                Type::Real => "key_of((double)value, flags)".to_owned(),
                other => format!("key_of({}, flags)", cast(other, Type::Int, "value")),
            }
        } else {
            format!("(offset_t){}", cast(of_value, Type::Int, "value"))
        };
        let kept = match (kind, *reduction) {
            (Type::Real, _) => "real",
            _ => "whole",
        };
        let edge = value.edge_text();
        EACH_ROW
            .replace("@FOUND@", &found)
            .replace("@SINGLE@", SINGLE)
            .replace("@CONTEXT@", &emit_row_context(&value.rows.reads()))
            .replace("@ROWS@", &value.rows.text())
            .replace("@EDGE@", &edge)
            .replace("@TYPE@", register(of_value))
            .replace("@KEPT@", kept)
            .replace("@VALUE@", &value.held.at())
            .replace("@HOLDS@", &value.condition())
            .replace("@KEY@", &key)
            .replace("@STRIDE@", &stride.to_string())
            .replace("@PUT@", &put)
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
if (together != end - begin > 32) continue;
[[maybe_unused]] const unsigned v = __ldg(item_row + item);
@CONTEXT@@ROWS@const auto read = [&](const unsigned p, offset_t& key, [[maybe_unused]] unsigned& flags) {
@EDGE@const @TYPE@ value = @VALUE@;
if (!(@HOLDS@)) return false;
key = @KEY@;
return true;
};
@KEPT@ made;
@FOUND@if (together ? threadIdx.x == 0 : lane == 0) out[(offset_t)v * @STRIDE@ + column] = @PUT@;
}
";

const MODE: &str = "unsigned flags = 0;
const Frequent best = together ? mode_of_many(read, begin, end, flags) : mode_of_few(read, begin, end, flags);
made = @NOTHING@;
if (best.count > 0) value_of(best.key, flags, made);
if (flags & 1) make_odd(made);
";

const HINDEX: &str =
    "made = together ? hindex_of_many(read, begin, end) : hindex_of_few(read, begin, end);
";

/// Device functions.
const OPENING: &str = "
// The most frequent value: how often, and its key, in the order of values.
struct Frequent { unsigned count; offset_t key; };
#define SIGN (1ull << 63)
// Of the flags, 1 says that there is a NaN, and 2 that there is a zero with a sign.
__device__ __forceinline__ offset_t key_of(const whole value, unsigned&) { return (offset_t)value ^ SIGN; }
__device__ __forceinline__ offset_t key_of(const double value, unsigned& flags) {
if (value != value) flags |= 1;
const offset_t bits = (offset_t)__double_as_longlong(value);
if (bits == SIGN) flags |= 2;
return value == 0 ? SIGN : bits & SIGN ? ~bits : bits | SIGN;
}
__device__ __forceinline__ void value_of(const offset_t key, unsigned, whole& value) { value = (whole)(key ^ SIGN); }
__device__ __forceinline__ void value_of(const offset_t key, const unsigned flags, real& value) {
if (key == SIGN) value = flags & 2 ? (real)-0.0 : (real)0;
else value = (real)__longlong_as_double((long long)(key & SIGN ? key & ~SIGN : ~key));
}
__device__ __forceinline__ void make_odd(whole&) {}
__device__ __forceinline__ void make_odd(real& value) { value = (real)ODD; }
__device__ __forceinline__ void take_better(Frequent& best, const Frequent other) {
if (other.count > best.count || (other.count == best.count && other.key < best.key)) best = other;
}
__device__ __forceinline__ void take_best_of_warp(Frequent& best, unsigned& flags) {
UNROLL for (int distance = 16; distance > 0; distance /= 2) {
take_better(best, {__shfl_xor_sync(FULL, best.count, distance), __shfl_xor_sync(FULL, best.key, distance)});
flags |= __shfl_xor_sync(FULL, flags, distance);
}
}
// A lane has an edge, and compares it with all.
template <typename Read> __device__ Frequent mode_of_few(const Read& read, const unsigned begin, const unsigned end, unsigned& flags) {
const unsigned p = begin + threadIdx.x % 32;
offset_t key = 0;
const bool holds = p < end && read(p, key, flags);
const unsigned all = __ballot_sync(FULL, holds);
Frequent best = {0, key};
for (int other = 0; other < 32; other++) {
const offset_t of_other = __shfl_sync(FULL, key, other);
best.count += holds && all >> other & 1 && of_other == key;
}
take_best_of_warp(best, flags);
return best;
}
// Places of the hash table, and how many of them are taken before the row is divided.
constexpr unsigned PLACES = 2048, TAKEN = 1536;
// The largest key stands for an empty place, and is counted apart.
#define EMPTY ~0ull
__device__ __forceinline__ offset_t mixed(offset_t key) {
key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
key = (key ^ key >> 27) * 0x94d049bb133111ebull;
return key ^ key >> 31;
}
template <typename Read> __device__ Frequent mode_of_many(const Read& read, const unsigned begin, const unsigned end, unsigned& flags) {
__shared__ offset_t keys[PLACES];
__shared__ unsigned counts[PLACES], taken, largest, flags_of_block;
__shared__ Frequent of_warp[32];
Frequent best = {0, EMPTY};
for (unsigned part = 0, parts = 1; part < parts;) {
for (unsigned place = threadIdx.x; place < PLACES; place += blockDim.x) { keys[place] = EMPTY; counts[place] = 0; }
if (threadIdx.x == 0) taken = largest = flags_of_block = 0;
__syncthreads();
for (unsigned p = begin + threadIdx.x; p < end; p += blockDim.x) {
offset_t key;
if (!read(p, key, flags)) continue;
const offset_t hash = mixed(key);
if ((hash & (parts - 1)) != part) continue;
if (key == EMPTY) { atomicAdd(&largest, 1u); continue; }
for (unsigned place = (unsigned)(hash >> 40) % PLACES; *(volatile unsigned*)&taken <= TAKEN; place = (place + 1) % PLACES) {
const offset_t known = atomicCAS(&keys[place], EMPTY, key);
if (known == EMPTY) atomicAdd(&taken, 1u);
if (known == EMPTY || known == key) { atomicAdd(&counts[place], 1u); break; }
}
}
__syncthreads();
if (taken > TAKEN) {
part = 0;
parts *= 4;
best = {0, EMPTY};
__syncthreads();
continue;
}
for (unsigned place = threadIdx.x; place < PLACES; place += blockDim.x) if (counts[place] > 0) take_better(best, {counts[place], keys[place]});
if (threadIdx.x == 0 && largest > 0) take_better(best, {largest, EMPTY});
part++;
__syncthreads();
}
take_best_of_warp(best, flags);
if (threadIdx.x % 32 == 0) {
of_warp[threadIdx.x / 32] = best;
if (flags) atomicOr(&flags_of_block, flags);
}
__syncthreads();
if (threadIdx.x == 0) for (unsigned warp = 1; warp < blockDim.x / 32; warp++) take_better(best, of_warp[warp]);
flags = flags_of_block;
__syncthreads();
return best;
}
// The largest h such that h values are at least h, by bisection.
template <typename Read> __device__ whole hindex_of_few(const Read& read, const unsigned begin, const unsigned end) {
const unsigned p = begin + threadIdx.x % 32;
offset_t value = 0;
unsigned flags, low = 0, high = end - begin;
const bool holds = p < end && read(p, value, flags);
while (low < high) {
const unsigned middle = (low + high + 1) / 2;
if (__popc(__ballot_sync(FULL, holds && (whole)value >= (whole)middle)) >= middle) low = middle;
else high = middle - 1;
}
return low;
}
template <typename Read> __device__ whole hindex_of_many(const Read& read, const unsigned begin, const unsigned end) {
__shared__ unsigned found;
unsigned flags, low = 0, high = end - begin;
while (low < high) {
const unsigned middle = (low + high + 1) / 2;
if (threadIdx.x == 0) found = 0;
__syncthreads();
unsigned own = 0;
for (unsigned p = begin + threadIdx.x; p < end; p += blockDim.x) {
offset_t value;
own += read(p, value, flags) && (whole)value >= (whole)middle;
}
UNROLL for (int distance = 16; distance > 0; distance /= 2) own += __shfl_xor_sync(FULL, own, distance);
if (threadIdx.x % 32 == 0) atomicAdd(&found, own);
__syncthreads();
if (found >= middle) low = middle;
else high = middle - 1;
__syncthreads();
}
return low;
}
";
