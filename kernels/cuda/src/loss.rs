//! loss: the loss with its gradient, and the metrics of a result.
//!
//! promises  the arithmetic of `ops::loss`, in its types: the loss is added in f64, in an order
//!           that sizes and the device alone decide (the loss of a single row or label has the type
//!           of the values); counts are integers, so their order does not matter
//! never     lets the target of a row outside all splits change anything
use super::epoch_clock::{PARTS, SLOTS, count_numbers, counts_of_part, slot_bytes};
use super::kernel_parameters::Parameters;
use super::loss_layout::LossLayout;
use super::reduce_all_rows::{LAST, emit_last_block_merge, emit_sum_place};
use super::source_text::{KernelBody, KernelDraft, Printer};
use super::{Argument, Blocks, NoKernel, ScheduleKind, THREADS, Unit};
use warploom_ir::Loss;
use warploom_launch::{Operation, Rows};
use warploom_tuning as tuning;

/// Sums that a block of the loss kernel stores: the loss, and for numbers both errors of each
/// split.
fn sums_of_block(kind: Loss) -> usize {
    if kind == Loss::MeanSquares { 1 + 2 * PARTS } else { 1 }
}

/// Resident blocks per SM; a device of compute capability 9.0 has room for all of them. If lanes
/// hold a row in registers, they load the next one while they process it.
fn resident(bytes_per_real: u64) -> u32 {
    if bytes_per_real == 4 { tuning::loss_blocks() } else { tuning::loss_blocks_doubles() }
}

impl Unit<'_> {
    pub(super) fn decide_loss(&mut self) -> Result<(), NoKernel> {
        let Operation::Loss { kind, result, target, gradient, value } = &self.launch.operation
        else {
            return Err(NoKernel::new("not a loss".to_owned()));
        };
        let index = self.list.index();
        let held = index
            .get(result.as_str())
            .ok_or_else(|| NoKernel::new("a loss of a buffer that is not declared".to_owned()))?;
        let columns = held.columns;
        if columns == 0 {
            return Err(NoKernel::new("a loss of rows without columns".to_owned()));
        }
        let strides = [self.stride(result), self.stride(gradient), self.stride(target)];
        // Labels are rows like the result; a class is a single number.
        let of_rows = if *kind == Loss::Binary { strides.as_slice() } else { &strides[..2] };
        let layout = LossLayout::new(columns, of_rows, self.target);
        let sums = sums_of_block(*kind);
        let rows = self.expected_rows(held.rows);
        let resident = resident(self.target.bytes_per_real);
        let most = resident * self.target.processors;
        let wanted =
            (rows * layout.lanes as u64).div_ceil(u64::from(THREADS)).min(u64::from(most)) as u32;
        let blocks = if rows == 0 { most } else { wanted.max(1) };
        // If the sum of the gradient over all rows is wanted, this kernel computes it.
        let slopes = self.shared_sum(0);
        self.note([
            (ScheduleKind::LossInRegisters, layout.is_held),
            (ScheduleKind::LossReadAgain, !layout.is_held),
            (ScheduleKind::LossWithGradientSum, slopes.is_some()),
        ]);
        self.header();
        let buffers = [result, target, gradient, value];
        let mut parameters = loss_parameters(buffers.map(String::as_str), held.rows);
        let sum_elements = if slopes.is_some() { columns } else { 0 };
        let joins = sum_elements * u64::from(blocks) <= tuning::last_block_elements();
        if let Some(sum) = slopes.as_ref().filter(|_| joins) {
            parameters.push_output("real* __restrict__ out", Argument::Buffer(sum.clone()));
        }
        let of_slopes = sum_elements * u64::from(blocks) * self.target.bytes_per_real;
        self.scratch_bytes = self
            .scratch_bytes
            .max(of_slopes.next_multiple_of(8) + u64::from(blocks) * 8 * sums as u64);
        let body = LossBody {
            kind: *kind,
            columns,
            layout,
            strides,
            blocks,
            scratch_offset: of_slopes.div_ceil(8),
            gradient_sum: slopes.is_some().then_some(GradientSum { joins }),
        };
        let grid = Blocks::Fixed([blocks, 1, 1]);
        self.add_kernel(KernelDraft {
            resident,
            waits: true,
            ..KernelDraft::new("loss.rs, decide_loss", parameters, grid, body)
        });
        if let Some(sum) = slopes.filter(|_| !joins) {
            let mut parameters = Parameters::new();
            let place = emit_sum_place(&[sum], columns, &mut parameters);
            self.add_parts(
                place,
                parameters,
                columns as u32,
                u64::from(blocks),
                Argument::Number(blocks),
            );
        }
        Ok(())
    }
}

/// The sum of the gradient over all rows, in the kernel of the loss.
#[derive(Clone, Copy)]
struct GradientSum {
    /// Whether the last block merges the parts.
    joins: bool,
}

/// The body of the loss kernel.
struct LossBody {
    kind: Loss,
    columns: u64,
    layout: LossLayout,
    /// Strides of the result, the gradient and the target.
    strides: [u64; 3],
    blocks: u32,
    /// Doubles in scratch before the sums of blocks.
    scratch_offset: u64,
    gradient_sum: Option<GradientSum>,
}

impl KernelBody for LossBody {
    fn text(&self, _printer: &Printer) -> String {
        let LossBody { kind, columns, gradient_sum, .. } = *self;
        let has_sum = gradient_sum.is_some();
        let joins = gradient_sum.is_some_and(|sum| sum.joins);
        let work = match kind {
            Loss::CrossEntropy => emit_cross_entropy(self.layout.is_held, has_sum),
            Loss::MeanSquares => [LOSS_OPENING, EACH_ROW, MEAN_SQUARES].concat(),
            Loss::Binary => [LOSS_OPENING, BINARY_OPENING, EACH_ROW, BINARY].concat(),
        };
        let (ends, last) = emit_block_end(has_sum, joins, columns);
        let opening = if has_sum { SLOPES_OPENING } else { "" };
        let end_of_rows = match kind {
            Loss::Binary => BINARY_END,
            Loss::CrossEntropy => "settle();\n",
            Loss::MeanSquares => "",
        };
        format!("{}{opening}{work}}}\n{end_of_rows}{ends}{LAST}{last}", self.constants())
    }
}

impl LossBody {
    fn constants(&self) -> String {
        let LossBody { kind, columns, ref layout, strides, blocks, scratch_offset, .. } = *self;
        let LossLayout { lanes, vector, .. } = layout;
        let (counted, sums) = (count_numbers(kind, columns), sums_of_block(kind));
        // Sums are not counted with atomics: the blocks store them, in order.
        let counted_here = if sums > 1 { 0 } else { counted };
        let in_shared = if counted_here <= 8 << 10 { counted_here.max(1) } else { 1 };
        let [of_result, of_slope, of_target] = strides;
        format!(
            "constexpr unsigned C = {columns}, L = {lanes}, V = {vector}, PER = (C + L * V - 1) / (L * V) * V, GROUPS = {THREADS} / L, OF_PART = {}, COUNTED = {counted_here}, IN_SHARED = {in_shared}, SUMS = {sums};
constexpr unsigned OF_RESULT = {of_result}, OF_SLOPE = {of_slope}, OF_TARGET = {of_target}, BLOCKS = {blocks}, ALL_COUNTED = {counted}, SLOTS = {SLOTS}, SLOT_BYTES = {};\ndouble* const scratch = scratch_given + {scratch_offset};\n",
            counts_of_part(kind, columns),
            slot_bytes(kind, columns),
        )
    }
}

/// The parameters of the loss kernel: the buffers are result, target, gradient and value.
fn loss_parameters(buffers: [&str; 4], rows: Rows) -> Parameters {
    let [result, target, gradient, value] = buffers.map(|name| Argument::Buffer(name.to_owned()));
    let mut parameters = Parameters::new();
    parameters.push("const real* __restrict__ result", result);
    parameters.push("const real* __restrict__ target", target);
    parameters.push_output("real* __restrict__ gradient", gradient);
    parameters.push("const unsigned char* __restrict__ split", Argument::Split);
    parameters.push("const double* __restrict__ terms", Argument::LossTerms);
    parameters.push_output("double* __restrict__ scratch_given", Argument::Scratch);
    parameters.push_output("unsigned* __restrict__ counts", Argument::Measures);
    parameters.push("const unsigned rows", Argument::RowCount(rows));
    parameters.push_output("real* __restrict__ value", value);
    parameters.push_output("double* __restrict__ exact", Argument::ExactLoss);
    parameters.push_output("unsigned char* __restrict__ ring", Argument::Ring);
    parameters.push_output("Clock* __restrict__ clock", Argument::Clock);
    parameters.push_output("unsigned* ticket", Argument::Ticket);
    parameters
}

/// The end of the loss kernel's blocks, and the work of the last block, optionally with sums of the
/// gradient over all rows, which the last block merges.
fn emit_block_end(sums: bool, joins: bool, columns: u64) -> (String, String) {
    let [told, of_block] = if sums { [SLOPES_TOLD, SLOPES_OF_BLOCK] } else { ["", ""] };
    let slopes = if sums && joins {
        SLOPES_LAST.replace("@ADDED@", &emit_last_block_merge("out[element]", columns))
    } else {
        String::new()
    };
    (
        LOSS_END.replace("@TOLD@", told).replace("@OF_BLOCK@", of_block),
        LOSS_PARTS.replace("@SLOPES@", &slopes),
    )
}

/// Cross entropy. Rows are held in registers, each loaded while the previous one is processed, or
/// they are read as often as needed.
fn emit_cross_entropy(is_held: bool, sums: bool) -> String {
    let [ask, take, score, turns] = if is_held {
        [ASK, TAKE, "held[i / V][i % V]", "UNROLL"]
    } else {
        ["", READ, "at[column]", "UNROLL_4"]
    };
    let [keep, power] = if is_held {
        ["held[i / V][i % V] = power;\n", "held[i / V][i % V]"]
    } else {
        ["", "exponential_of_share(at[column] - best)"]
    };
    let [made, put] = if is_held { ["held[i / V][i % V]", PUT] } else { ["slope[column]", ""] };
    let put = if sums { format!("{put}{SLOPES}") } else { put.to_owned() };
    let parts = [
        ("@TAKE@", take),
        ("@SCORE@", score),
        ("@TURNS@", turns),
        ("@KEEP@", keep),
        ("@POWER@", power),
        ("@MADE@", made),
        ("@PUT@", &put),
    ];
    let each = parts
        .into_iter()
        .fold(CROSS_ENTROPY.to_owned(), |text, (name, part)| text.replace(name, part));
    let asked = |row: &str| ask.replace("@ROW@", row);
    let first = if is_held {
        format!("{AHEAD}{}", asked("blockIdx.x * GROUPS + group"))
    } else {
        String::new()
    };
    [
        LOSS_OPENING,
        SETTLE,
        &first,
        EACH_ROW,
        &each.replace("@NEXT@", &asked("row + gridDim.x * GROUPS")),
    ]
    .concat()
}

const LOSS_OPENING: &str = "const unsigned lane = threadIdx.x % L, group = threadIdx.x / L;
__shared__ unsigned counted[IN_SHARED];
unsigned* const tally = IN_SHARED >= COUNTED ? counted : counts;
if (IN_SHARED >= COUNTED) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) counted[i] = 0;
const double all = __ldg(terms);
double sum = 0, errors[SUMS] = {};
__syncthreads();
after_others();
";

const EACH_ROW: &str =
    "for (unsigned first = blockIdx.x * GROUPS; first < rows; first += gridDim.x * GROUPS) {
const unsigned row = first + group;
const bool live = row < rows;
";

/// The next row, its split and its class.
const AHEAD: &str = "unsigned part_ahead = 0;
real class_ahead = -1, ahead[PER / V][V] = {};
";
const ASK: &str = "if (const unsigned asked = @ROW@; asked < rows) {
part_ahead = split[asked];
class_ahead = target[(offset_t)asked * OF_TARGET];
const real* const of_lane = result + (offset_t)asked * OF_RESULT + lane * V;
UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) load<V>(ahead[i], of_lane + i * L * V);
}
";
const TAKE: &str = "const unsigned of_part = live ? part_ahead : 0;
const real wanted = of_part ? class_ahead : (real)-1;
real held[PER / V][V];
UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) held[i][j] = ahead[i][j];
@NEXT@";
const READ: &str = "const unsigned of_part = live ? split[row] : 0;
const real wanted = of_part ? target[(offset_t)row * OF_TARGET] : (real)-1;
const real* const at = result + (offset_t)(live ? row : first) * OF_RESULT;
";

/// The loss and the counts of a row are kept by one lane of its group, in rotation, until each lane
/// has one: all lanes then process theirs in the time of one.
const SETTLE: &str = "unsigned turn = 0, kept_part = 0, kept_label = C, kept_answer = C;
real kept_others = 0, kept_less = 0;
auto settle = [&]() {
sum += (double)(log_one_more(kept_others) - kept_less);
if (kept_part && counts) {
unsigned* const of = tally + (kept_part - 1) * OF_PART;
if (kept_label < C && kept_answer == kept_label) { atomicAdd(of, 1u); atomicAdd(of + 1 + 3 * kept_label, 1u); }
if (kept_label < C) atomicAdd(of + 3 + 3 * kept_label, 1u);
if (kept_answer < C) atomicAdd(of + 2 + 3 * kept_answer, 1u);
}
kept_others = kept_less = 0;
kept_part = 0;
};
";

const CROSS_ENTROPY: &str = "@TAKE@real* const slope = gradient + (offset_t)row * OF_SLOPE;
const bool learns = of_part == 1, known = wanted >= 0 && wanted < C && wanted == (real)(unsigned)wanted;
const unsigned label = known ? (unsigned)wanted : C;
// A cache hit, since the row was just read.
const bool keeps = lane == turn % L;
const real right_score = learns && known && keeps ? result[(offset_t)row * OF_RESULT + label] : (real)0;
// A NaN makes the maximum NaN.
real best = (real)-INFINITE;
@TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column < C) best = most(best, @SCORE@);
}
UNROLL for (int distance = 1; distance < L; distance *= 2) best = most(best, across(best, distance));
const bool numbers = !is_odd(best);
unsigned answer = C;
@TURNS@ for (int i = PER - 1; i >= 0; i--) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column < C && @SCORE@ == best) answer = column;
}
UNROLL for (int distance = 1; distance < L; distance *= 2) answer = min(answer, across(answer, distance));
if (answer == C) answer = 0;
// The term of the maximum is 1, unless it is infinite. The other terms are added to that 1 once, so
// that small ones are not lost.
real others = 0;
if (learns) @TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column >= C) continue;
const real power = exponential_of_share(@SCORE@ - best);
if (column != answer) others += power;
@KEEP@}
UNROLL for (int distance = 1; distance < L; distance *= 2) others += across(others, distance);
others += best - best;
const real share = (real)(1 / all), factor = known ? share / (1 + others) : (real)ODD;
if (live) @TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column >= C) continue;
@MADE@ = learns ? @POWER@ * factor - (column == label ? share : (real)0) : (real)0;
}
@PUT@if (keeps) {
kept_others = !learns ? (real)0 : known && numbers ? others : (real)ODD;
kept_less = learns ? right_score - best : (real)0;
kept_part = of_part;
kept_label = label;
kept_answer = numbers ? answer : C;
}
if (++turn % L == 0) settle();
";

/// Stores the gradient of a row that lanes hold.
const PUT: &str = "if (live) UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) store<V>(slope + lane * V + i * L * V, held[i]);
";

/// The sum of the gradient over all rows.
const SLOPES_OPENING: &str = "real slopes[PER / V][V] = {};
";
const SLOPES: &str = "if (live) UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) slopes[i][j] += held[i][j];
";
const SLOPES_TOLD: &str = "__shared__ real told_slopes[8][L * PER];
UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) {
UNROLL for (int distance = L; distance < 32; distance *= 2) slopes[i][j] += across(slopes[i][j], distance);
if (threadIdx.x % 32 < L) told_slopes[threadIdx.x / 32][(i * L + lane) * V + j] = slopes[i][j];
}
";
const SLOPES_OF_BLOCK: &str =
    "for (unsigned column = threadIdx.x; column < C; column += blockDim.x) {
real of_block = told_slopes[0][column];
UNROLL for (int w = 1; w < 8; w++) of_block += told_slopes[w][column];
reinterpret_cast<real*>(scratch_given)[column * gridDim.x + blockIdx.x] = of_block;
}
";
const SLOPES_LAST: &str = "{
const real* const scratch = reinterpret_cast<const real*>(scratch_given);
@ADDED@}
";

const MEAN_SQUARES: &str = "const unsigned of_part = live ? split[row] : 0;
const real* const at = result + (offset_t)row * OF_RESULT;
real* const slope = gradient + (offset_t)row * OF_SLOPE;
const real scale = (real)(2 / all);
if (live) for (unsigned column = lane; column < C; column += L) {
const real difference = of_part ? at[column] - target[(offset_t)row * OF_TARGET + column] : (real)0;
slope[column] = of_part == 1 ? difference * scale : (real)0;
if (of_part == 1) sum += (double)difference * (double)difference;
if (of_part && counts) {
const double error = (double)at[column] - (double)target[(offset_t)row * OF_TARGET + column];
UNROLL for (int part = 0; part < 3; part++) if (of_part == part + 1) { errors[1 + 2 * part] += error * error; errors[2 + 2 * part] += fabs(error); }
}
}
";

/// Per split: known, agreeing, true positive, predicted and positive labels.
const BINARY_OPENING: &str = "unsigned found[3][5] = {};
const real share = (real)(1 / all);
";

/// The probability of a label and of its opposite are computed from e^-|score|. For labels of 0 and
/// 1 the gradient is then as exact as its type for any score; for labels in between it is as exact
/// as the type near 1.
const BINARY: &str = "const unsigned of_part = live ? split[row] : 0;
const offset_t at = (offset_t)(live ? row : first);
unsigned known = 0, agreeing = 0, right = 0, answered = 0, holding = 0;
UNROLL_4 for (unsigned from = lane * V; from < C; from += L * V) {
real scores[V], wishes[V], made[V];
load<V>(scores, result + at * OF_RESULT + from);
load<V>(wishes, target + at * OF_TARGET + from);
UNROLL for (int j = 0; j < V; j++) {
made[j] = 0;
const real score = scores[j], wanted = wishes[j];
if (from + j >= C || !of_part || is_odd(wanted)) continue;
if (of_part == 1) {
const real power = exponential(-absolute(score)), less = power / (1 + power);
sum += (double)(most(score, (real)0) - score * wanted + log_one_more(power));
made[j] = (score >= 0 ? 1 - wanted - less : less - wanted) * share;
}
const bool says = score > 0, holds = wanted > (real)0.5;
known++;
agreeing += says == holds;
right += says && holds;
answered += says;
holding += holds;
}
if (live) store<V>(gradient + at * OF_SLOPE + from, made);
}
UNROLL for (unsigned part = 0; part < 3; part++) if (of_part == part + 1) {
found[part][0] += known;
found[part][1] += agreeing;
found[part][2] += right;
found[part][3] += answered;
found[part][4] += holding;
}
";
const BINARY_END: &str = "if (counts) UNROLL for (int part = 0; part < 3; part++) UNROLL for (int i = 0; i < 5; i++) {
UNROLL for (int distance = 16; distance > 0; distance /= 2) found[part][i] += across(found[part][i], distance);
if (threadIdx.x % 32 == 0 && found[part][i]) atomicAdd(tally + part * OF_PART + i, found[part][i]);
}
";

const LOSS_END: &str = "errors[0] = sum;
__shared__ double told[SUMS][8];
UNROLL for (int which = 0; which < SUMS; which++) {
UNROLL for (int distance = 16; distance > 0; distance /= 2) errors[which] += across(errors[which], distance);
if (threadIdx.x % 32 == 0) told[which][threadIdx.x / 32] = errors[which];
}
@TOLD@__syncthreads();
if (threadIdx.x < SUMS) {
double of_block = told[threadIdx.x][0];
UNROLL for (int w = 1; w < 8; w++) of_block += told[threadIdx.x][w];
scratch[threadIdx.x * gridDim.x + blockIdx.x] = of_block;
}
@OF_BLOCK@if (IN_SHARED >= COUNTED && counts) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) if (counted[i]) atomicAdd(counts + i, counted[i]);
";

/// Loads with a long latency come first.
const LOSS_PARTS: &str = "const unsigned epoch = counts ? clock->epoch : 0, first_count = SUMS == 1 && counts && threadIdx.x < ALL_COUNTED ? __ldcg(counts + threadIdx.x) : 0;
UNROLL for (int which = 0; which < SUMS; which++) {
double part = 0;
for (unsigned block = threadIdx.x; block < BLOCKS; block += blockDim.x) part += __ldcg(scratch + which * BLOCKS + block);
UNROLL for (int distance = 16; distance > 0; distance /= 2) part += across(part, distance);
if (threadIdx.x % 32 == 0) told[which][threadIdx.x / 32] = part;
}
@SLOPES@__syncthreads();
unsigned char* const slot = counts ? ring + (offset_t)(epoch % SLOTS) * SLOT_BYTES : nullptr;
if (threadIdx.x == 0) {
double added[SUMS] = {};
UNROLL for (int which = 0; which < SUMS; which++) UNROLL for (int w = 0; w < 8; w++) added[which] += told[which][w];
const double loss = all > 0 ? added[0] / all : 0;
*exact = loss;
*value = (real)loss;
// An evaluation pass records its metrics.
if (counts) {
*reinterpret_cast<double*>(slot) = loss;
// No step is taken after a non-finite loss, so that the parameters that caused it can be inspected.
if (!(fabs(loss) < INFINITE)) clock->halted = 1;
UNROLL for (int which = 1; which < SUMS; which++) reinterpret_cast<double*>(slot + 8)[which - 1] = reinterpret_cast<double*>(counts)[which - 1] = added[which];
}
}
// Errors of numbers are sums; nothing is counted.
if (SUMS == 1 && counts) for (unsigned i = threadIdx.x; i < ALL_COUNTED; i += blockDim.x) reinterpret_cast<unsigned*>(slot + 8)[i] = i == threadIdx.x ? first_count : __ldcg(counts + i);
";
