//! reduce_all_rows: sums over all rows: of rows, or of products of two rows.
//!
//! promises  the partition of rows depends only on their number and the device; each part is added
//!           in a fixed order, and the parts in order; sums of the same rows in this kernel
//!           (`beside`) have the same partition
//! never     adds a float with an atomic
use std::rc::Rc;

use super::kernel_parameters::{Parameters, emit_row_context};
use super::lane_layout::{vector_of, widest_vector};
use super::padded_rows;
use super::row_values::{
    RowValue, lies_in_rows, lower_row_value, plain_row, tables_of, thread_lanes,
};
use super::shared_read_sums::Maker;
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::statements::Statements;
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Input, Walk};
use super::{Argument, Blocks, NoKernel, ScheduleKind, THREADS, Unit};
use warploom_ir::{Op, Type};
use warploom_launch::{Operand, Operation, Rows, summed_rows};
use warploom_tuning as tuning;

/// The layout of one side over threads: columns, columns with padding, adjacent columns per thread,
/// threads.
#[derive(Clone, Copy)]
struct ReducedSide {
    columns: u64,
    places: u64,
    vector: usize,
    lanes: usize,
}

impl ReducedSide {
    fn new(columns: u64, places: u64, vector_most: usize, lanes_most: usize) -> ReducedSide {
        let vector = vector_of(places as usize, vector_most);
        ReducedSide {
            columns,
            places,
            vector,
            lanes: (places as usize).div_ceil(vector).next_power_of_two().min(lanes_most),
        }
    }

    fn tiles(self) -> u32 {
        (self.places as usize).div_ceil(self.vector * self.lanes) as u32
    }
}

impl Unit<'_> {
    /// Decides on a sum over all rows: of rows, or of products of rows.
    pub(super) fn decide_total(&mut self) -> Result<(), NoKernel> {
        let Operation::Evaluate { out, op, inputs, .. } = &self.launch.operation else {
            return Err(NoKernel::new("not a sum over all rows".to_owned()));
        };
        // A value that is equal for all rows is one row.
        let rows = summed_rows(self.list, inputs).unwrap_or(Rows::Fixed(1));
        // Sums that read the same rows are computed in this kernel, too.
        let others = self.shared_sums(op);
        let twin = self.second_outer();
        let inputs = &inputs
            .iter()
            .chain(others.iter().map(|(_, input)| input))
            .chain(twin.iter().map(|twin| &twin.operand))
            .cloned()
            .collect::<Vec<_>>();
        let (mut walk, mut read) =
            Walk::reading(self.list, self.target.bytes_per_real, rows, inputs)
                .ok_or_else(|| NoKernel::new("an operation that no walk supports".to_owned()))?;
        if *op == Op::SumRows {
            padded_rows::pad_read_rows(&mut walk, &mut read);
        }
        if read.iter().any(|input| input.kind() != Type::Real) {
            return Err(NoKernel::new(format!("{} of rows that are not floats", op.describe())));
        }
        let walk = Rc::new(walk);
        let most = 4.min(2 * widest_vector(self.target.bytes_per_real));
        let (sides, lead) = plan_sides(op, &walk, &read, most);
        let elements: u64 = sides.iter().map(|side| side.columns).product();
        if elements == 0 {
            return Ok(());
        }
        let makers = [self.twins, &self.joined.outers];
        let maker = self
            .beside
            .get(&self.number)
            .map(|maker| &maker.launch)
            .or(makers.iter().find_map(|makers| makers.get(&self.number)));
        if let Some(maker) = maker {
            self.merged_into(self.list.launches()[*maker].name.clone());
            return Ok(());
        }
        if lead > 1 && !read.iter().all(lies_in_rows) {
            return Err(NoKernel::new(
                "an outer product of several rows per vertex that are not stored".to_owned(),
            ));
        }
        if *op == Op::Outer && self.emit_tiled_outer(out, &walk, &read, twin.as_ref(), lead)? {
            return Ok(());
        }
        if twin.is_some() {
            return Err(NoKernel::new("two merged outer products without tensor cores".to_owned()));
        }
        let mut parameters = Parameters::new();
        let (lowerings, values) =
            lower_rows(&walk, &sides, lead, read.chunks(1 + others.len()), &mut parameters)?;
        self.header();
        let made: Vec<String> =
            std::iter::once(out.clone()).chain(others.into_iter().map(|(out, _)| out)).collect();
        let elements = elements * made.len() as u64;
        let (most, each) =
            (self.parts_most(elements), (tuning::sum_part_rows() / lead.max(1) as u32).max(1));
        let joins =
            elements * self.parts_expected(rows, each, most) <= tuning::last_block_elements();
        self.note([
            (ScheduleKind::OuterByThreads, *op == Op::Outer),
            (ScheduleKind::RowSum, *op == Op::SumRows && made.len() == 1),
            (ScheduleKind::RowSums, *op == Op::SumRows && made.len() > 1),
            (ScheduleKind::PartsInKernel, joins),
            (ScheduleKind::PartsKernel, !joins),
        ]);
        parameters.push_output("real* __restrict__ scratch", Argument::Scratch);
        parameters.push("const unsigned rows_given", Argument::RowCount(rows));
        let merge = joins.then(|| {
            let place = emit_sum_place(&made, elements, &mut parameters);
            parameters.push_output("unsigned* ticket", Argument::Ticket);
            LastBlockMerge { place, elements }
        });
        let tables = tables_of(&lowerings.iter().collect::<Vec<_>>())?;
        let tiles = match sides.as_slice() {
            [only] => [only.tiles(), 1],
            [first, second, ..] => [first.tiles(), second.tiles()],
            [] => [1, 1],
        };
        self.add_kernel(KernelDraft {
            resident: 2,
            tables,
            ..KernelDraft::new(
                "reduce_all_rows.rs, decide_total",
                parameters,
                Blocks::Parts { rows, each, most, tiles },
                RowSumBody { sides, values, lead, merge },
            )
        });
        if !joins {
            let mut parameters = Parameters::new();
            let place = emit_sum_place(&made, elements, &mut parameters);
            self.add_parts(
                place,
                parameters,
                elements as u32,
                self.parts_expected(rows, each, most),
                Argument::Parts { rows, each, most },
            );
        }
        self.scratch_bytes =
            self.scratch_bytes.max(u64::from(most) * elements * self.target.bytes_per_real);
        Ok(())
    }

    /// Other sums over rows that this sum's kernel computes, since they read the same rows: output
    /// and operand.
    fn shared_sums(&self, op: &Op) -> Vec<(String, Operand)> {
        let launches = self.list.launches();
        let of = |sum: &usize| match &launches[*sum].operation {
            Operation::Evaluate { out, inputs, .. } => {
                inputs.first().map(|input| (out.clone(), input.clone()))
            }
            _ => None,
        };
        let along = self
            .beside
            .iter()
            .filter(|(_, maker)| *op == Op::SumRows && maker.launch == self.number)
            .map(|(sum, _)| sum);
        along.filter_map(of).collect()
    }

    /// The output of the sum over an operand's rows, if this launch computes it.
    pub(super) fn shared_sum(&self, operand: usize) -> Option<String> {
        let (sum, _) = self
            .beside
            .iter()
            .find(|(_, maker)| **maker == Maker { launch: self.number, operand })?;
        self.list.launches()[*sum].operation.writes().first().map(|name| name.clone().into_owned())
    }

    /// Adds the kernel that merges parts in order.
    pub(super) fn add_parts(
        &mut self,
        place: String,
        parameters: Parameters,
        elements: u32,
        expected: u64,
        parts: Argument,
    ) {
        self.add_kernel(parts_kernel(place, parameters, elements, expected, parts));
    }

    /// The expected number of parts.
    pub(super) fn parts_expected(&self, rows: Rows, each: u32, most: u32) -> u64 {
        let count = self.expected_rows(rows);
        if count == 0 {
            u64::from(most)
        } else {
            count.div_ceil(u64::from(each)).clamp(1, u64::from(most))
        }
    }

    /// The maximum number of parts of a sum over rows.
    pub(super) fn parts_most(&self, elements: u64) -> u32 {
        let fitting = tuning::sum_parts_bytes() / (elements * self.target.bytes_per_real).max(1);
        fitting.clamp(1, tuning::sum_parts() * u64::from(self.target.processors)) as u32
    }
}

/// The kernel that merges parts in order: a warp per element, or a block where many parts are
/// expected.
pub(super) fn parts_kernel(
    place: String,
    mut parameters: Parameters,
    elements: u32,
    expected: u64,
    parts: Argument,
) -> KernelDraft {
    parameters.push("const real* __restrict__ scratch", Argument::Scratch);
    parameters.push("const unsigned elements", Argument::Number(elements));
    parameters.push("const unsigned parts", parts);
    let team = if expected >= tuning::block_sum_parts() { THREADS } else { 32 };
    let blocks = Blocks::Fixed([elements.div_ceil(THREADS / team), 1, 1]);
    let body = PartsBody { place, team };
    KernelDraft {
        suffix: "_parts",
        ..KernelDraft::new("reduce_all_rows.rs, add_parts", parameters, blocks, body)
    }
}

/// The body of the kernel that merges parts: where an element's sum is stored, and the threads of
/// each element.
struct PartsBody {
    place: String,
    team: u32,
}

impl KernelBody for PartsBody {
    fn text(&self, _printer: &Printer) -> String {
        let text = if self.team == THREADS { ADD_PARTS_OF_BLOCK } else { ADD_PARTS };
        text.replace("@OUT@", &self.place).replace("@THREADS@", &THREADS.to_string())
    }
}

/// The sides of an outer product, or the one side of a sum over rows, and the rows of a side per
/// vertex.
fn plan_sides(op: &Op, walk: &Walk, read: &[Input], vector_most: usize) -> (Vec<ReducedSide>, u64) {
    match (op, read) {
        (Op::Outer, [first, second, ..]) => {
            let columns = |input: &Input| input.shape().last().copied().unwrap_or(1);
            let lead = first.shape().iter().product::<u64>() / columns(first).max(1);
            let side =
                |input: &Input| ReducedSide::new(columns(input), columns(input), vector_most, 16);
            (vec![side(first), side(second)], lead)
        }
        _ => {
            let places = read[0].shape().iter().product();
            (vec![ReducedSide::new(walk.columns_of(places), places, vector_most, 32)], 1)
        }
    }
}

/// Lowers the loads of each side's rows, and the values of its inputs.
fn lower_rows(
    walk: &Rc<Walk>,
    sides: &[ReducedSide],
    lead: u64,
    inputs: std::slice::Chunks<Input>,
    parameters: &mut Parameters,
) -> Result<(Vec<WalkLowering>, Vec<RowValue>), NoKernel> {
    let (mut lowerings, mut values) = (Vec::new(), Vec::new());
    for (side, inputs) in sides.iter().zip(inputs) {
        let mut lowering = WalkLowering::new(walk, thread_lanes(side.places as usize, side.vector));
        for input in inputs {
            let made = if lead > 1 {
                plain_row(walk, input, side.places)?
            } else {
                lower_row_value(&mut lowering, input)?
            };
            parameters.add_reads(&lowering, &made.statements.reads());
            values.push(made);
        }
        lowerings.push(lowering);
    }
    Ok((lowerings, values))
}

/// The output location of an element's sum, as an expression, where the merged sums have equally
/// many elements.
pub(super) fn emit_sum_place(
    made: &[String],
    elements: u64,
    parameters: &mut Parameters,
) -> String {
    if let [only] = made {
        parameters.push_output("real* __restrict__ out", Argument::Buffer(only.clone()));
        return "out[element]".to_owned();
    }
    let (last, each) = (made.len() - 1, elements / made.len() as u64);
    let declared = |(number, out): (usize, &String)| {
        parameters
            .push_output(format!("real* __restrict__ out_{number}"), Argument::Buffer(out.clone()))
    };
    made.iter().enumerate().for_each(declared);
    let chosen: String = (0..last)
        .map(|number| format!("element < {}u ? out_{number} : ", (number as u64 + 1) * each))
        .collect();
    format!("({chosen}out_{last})[element % {each}u]")
}

/// The merge of all parts by the block that finishes last.
pub(super) struct LastBlockMerge {
    /// Where the sum of an element is stored, as an expression.
    pub place: String,
    pub elements: u64,
}

impl LastBlockMerge {
    pub fn text(&self) -> String {
        format!("{LAST}{}", emit_last_block_merge(&self.place, self.elements))
    }
}

/// The last block merges all parts, element by element, by its warps.
pub(super) fn emit_last_block_merge(place: &str, elements: u64) -> String {
    let each = elements.div_ceil(u64::from(THREADS / 32)).clamp(1, 4);
    ADD_PARTS_LAST
        .replace("@OUT@", place)
        .replace("@ELEMENTS@", &elements.to_string())
        .replace("@EACH@", &each.to_string())
}

/// The body of a kernel that sums rows, or products of rows.
struct RowSumBody {
    sides: Vec<ReducedSide>,
    values: Vec<RowValue>,
    lead: u64,
    /// How the last block merges the parts, if it does.
    merge: Option<LastBlockMerge>,
}

impl KernelBody for RowSumBody {
    fn text(&self, _printer: &Printer) -> String {
        let RowSumBody { sides, values, lead, merge } = self;
        let merged = merge.as_ref().map(LastBlockMerge::text).unwrap_or_default();
        emit_parts(sides, values, *lead) + &merged
    }
}

fn emit_parts(sides: &[ReducedSide], values: &[RowValue], lead: u64) -> String {
    match (sides, values) {
        ([first, second], [of_first, of_second, ..]) => format!(
            "constexpr unsigned N = {}, K = {}, NV = {}, NL = {}, KV = {}, KL = {}, STRANDS = {THREADS} / (NL * KL), RB = 32;
const unsigned rows = rows_given * {lead};
{}",
            first.columns,
            second.columns,
            first.vector,
            first.lanes,
            second.vector,
            second.lanes,
            OUTER
                .replace("@FIRST@", &of_first.text())
                .replace("@FIRST_AT@", &of_first.at)
                .replace("@SECOND@", &of_second.text())
                .replace("@SECOND_AT@", &of_second.at),
        ),
        _ => format!(
            "constexpr unsigned K = {}, PLACES = {}, V = {}, L = {}, STRANDS = {THREADS} / L, Q = 1, SUMS = {};
const unsigned rows = rows_given;
{}",
            sides[0].columns,
            sides[0].places,
            sides[0].vector,
            sides[0].lanes,
            values.len(),
            SUM_ROWS.replace("@VALUE@", &emit_merged_sums(values)),
        ),
    }
}

/// Adds a row to each of several sums.
fn emit_merged_sums(values: &[RowValue]) -> String {
    let statements = Statements::concat(values.iter().map(|value| &value.statements));
    let sums: String = values
        .iter()
        .enumerate()
        .map(|(number, value)| format!("EACH sums[{number}][j] += {};\n", value.at))
        .collect();
    format!("{}{}{sums}", emit_row_context(&statements.reads()), statements.text())
}

/// Merges the parts of a sum in order, by the lanes of a warp; each warp of the grid has one
/// element.
const ADD_PARTS: &str = "const unsigned element = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
if (element >= elements) return;
const unsigned of_warp = threadIdx.x % 32;
real sum = 0;
for (unsigned first = of_warp; first < parts; first += 8 * 32) {
real several[8];
UNROLL for (int i = 0; i < 8; i++) several[i] = first + i * 32 < parts ? __ldcg(scratch + (offset_t)element * parts + first + i * 32) : (real)0;
UNROLL for (int i = 0; i < 8; i++) sum += several[i];
}
UNROLL for (int distance = 16; distance > 0; distance /= 2) sum += across(sum, distance);
if (of_warp == 0) @OUT@ = sum;
";

/// The same with a block per element: the warps' sums are added in their order.
const ADD_PARTS_OF_BLOCK: &str = "constexpr unsigned THREADS_OF_BLOCK = @THREADS@;
const unsigned element = blockIdx.x;
__shared__ real told[THREADS_OF_BLOCK / 32];
real sum = 0;
for (unsigned first = threadIdx.x; first < parts; first += 8 * THREADS_OF_BLOCK) {
real several[8];
UNROLL for (int i = 0; i < 8; i++) several[i] = first + i * THREADS_OF_BLOCK < parts ? __ldcg(scratch + (offset_t)element * parts + first + i * THREADS_OF_BLOCK) : (real)0;
UNROLL for (int i = 0; i < 8; i++) sum += several[i];
}
UNROLL for (int distance = 16; distance > 0; distance /= 2) sum += across(sum, distance);
if (threadIdx.x % 32 == 0) told[threadIdx.x / 32] = sum;
__syncthreads();
if (threadIdx.x > 0) return;
UNROLL for (int other = 1; other < THREADS_OF_BLOCK / 32; other++) sum += told[other];
@OUT@ = sum;
";

/// The block that finishes last goes on, once the writes of all others are visible. The counter is
/// an integer, so the order of the blocks does not matter.
pub(super) const LAST: &str = "__shared__ bool is_last;
__threadfence();
__syncthreads();
if (threadIdx.x == 0) is_last = atomicAdd(ticket, 1u) + 1 == gridDim.x * gridDim.y * gridDim.z;
__syncthreads();
if (!is_last) return;
if (threadIdx.x == 0) *ticket = 0;
__threadfence();
";

/// The same with a few elements per warp at a time, so that the loads of their parts are in flight
/// together.
const ADD_PARTS_LAST: &str = "constexpr unsigned E = @EACH@, D = E > 2 ? 4 : 8;
const unsigned parts = gridDim.x, of_warp = threadIdx.x % 32, apart = blockDim.x / 32;
for (unsigned from = threadIdx.x / 32; from < @ELEMENTS@u; from += E * apart) {
real joined[E] = {};
for (unsigned first = of_warp; first < parts; first += D * 32) {
real several[E][D];
UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++)
several[e][i] = from + e * apart < @ELEMENTS@u && first + i * 32 < parts ? __ldcg(scratch + (offset_t)(from + e * apart) * parts + first + i * 32) : (real)0;
UNROLL for (int e = 0; e < E; e++) UNROLL for (int i = 0; i < D; i++) joined[e] += several[e][i];
}
UNROLL for (int e = 0; e < E; e++) {
const unsigned element = from + e * apart;
UNROLL for (int distance = 16; distance > 0; distance /= 2) joined[e] += across(joined[e], distance);
if (of_warp == 0 && element < @ELEMENTS@u) @OUT@ = joined[e];
}
}
";

/// Sums the rows of a part; each strand of threads takes every `STRANDS`-th row.
const SUM_ROWS: &str = "const unsigned thread = threadIdx.x % L, strand = threadIdx.x / L, column = blockIdx.y * (L * V) + thread * V;
const unsigned c[1] = {column < PLACES ? column : PLACES - V};
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
real sums[SUMS][V] = {};
_Pragma(\"unroll 4\") for (unsigned row = begin + strand; row < end; row += STRANDS) {
[[maybe_unused]] const unsigned v = row;
@VALUE@}
__shared__ real told[STRANDS][L * V];
UNROLL for (int s = 0; s < SUMS; s++) {
UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] = sums[s][j];
__syncthreads();
for (unsigned half = STRANDS / 2; half > 0; half /= 2) {
if (strand < half) UNROLL for (int j = 0; j < V; j++) told[strand][thread * V + j] += told[strand + half][thread * V + j];
__syncthreads();
}
if (strand == 0) UNROLL for (int j = 0; j < V; j++) if (column + j < K) scratch[(offset_t)(s * K + column + j) * gridDim.x + blockIdx.x] = told[0][thread * V + j];
if (s + 1 < SUMS) __syncthreads();
}
";

/// Outer products of the rows of a part, a few rows at a time in shared memory. Strands of threads
/// alternate, and each thread has NV x KV elements.
const OUTER: &str = "__shared__ alignas(16) real first_rows[RB][NL * NV], second_rows[RB][KL * KV];
constexpr unsigned Q = 1, TILE = NL * KL;
const unsigned thread = threadIdx.x % TILE, strand = threadIdx.x / TILE, n = thread / KL * NV, k = thread % KL * KV;
const unsigned n0 = blockIdx.y * (NL * NV), k0 = blockIdx.z * (KL * KV);
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
real sums[NV][KV];
UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) sums[i][j] = 0;
for (unsigned r0 = begin; r0 < end; r0 += RB) {
for (unsigned i = threadIdx.x; i < RB * NL; i += blockDim.x) {
const unsigned r = i / NL, column = i % NL * NV, row = r0 + r;
const bool here = row < end && n0 + column < N;
[[maybe_unused]] const unsigned v = here ? row : begin, c[1] = {here ? n0 + column : 0};
constexpr unsigned V = NV;
@FIRST@EACH first_rows[r][column + j] = here ? @FIRST_AT@ : (real)0;
}
for (unsigned i = threadIdx.x; i < RB * KL; i += blockDim.x) {
const unsigned r = i / KL, column = i % KL * KV, row = r0 + r;
const bool here = row < end && k0 + column < K;
[[maybe_unused]] const unsigned v = here ? row : begin, c[1] = {here ? k0 + column : 0};
constexpr unsigned V = KV;
@SECOND@EACH second_rows[r][column + j] = here ? @SECOND_AT@ : (real)0;
}
__syncthreads();
for (int r = strand; r < RB; r += STRANDS)
UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) sums[i][j] += first_rows[r][n + i] * second_rows[r][k + j];
__syncthreads();
}
__shared__ real told[STRANDS > 1 ? (STRANDS - 1) * TILE * NV * KV : 1];
if (strand > 0) UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) told[((strand - 1) * TILE + thread) * NV * KV + i * KV + j] = sums[i][j];
__syncthreads();
if (strand == 0) UNROLL for (int i = 0; i < NV; i++) UNROLL for (int j = 0; j < KV; j++) {
UNROLL_4 for (int s = 0; s < STRANDS - 1; s++) sums[i][j] += told[(s * TILE + thread) * NV * KV + i * KV + j];
if (n0 + n + i < N && k0 + k + j < K) scratch[((offset_t)(n0 + n + i) * K + k0 + k + j) * gridDim.x + blockIdx.x] = sums[i][j];
}
";
