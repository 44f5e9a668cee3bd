//! learn: the loss with its gradient and what measures a result, and the optimiser.
//!
//! promises  what `ops::loss` and `ops::optimizer` say, in their types: the loss in f64, added in an order that sizes and the device alone
//!           decide; counts of right answers are whole numbers, so their order is all the same
//! never     looks at the target of a row that belongs to no part
use super::kernel::{THREADS, vector_of, widest_vector};
use super::total::{ADDED, JOINED_MOST, LAST};
use super::{Argument, Blocks, Kernel, Refused, Target, Unit};
use crate::launch::{LossKind, Operation, gradient_buffer, parameter_buffer};

/// Numbers that an optimiser's settings are, in order: which (0 plain, 1 momentum, 2 Adam, 3 AdamW), rate, first decay or momentum, second
/// decay, epsilon, weight decay.
pub const OPTIMIZER: usize = 6;

/// Parts of the target that are measured: training, validation, test.
pub const PARTS: usize = 3;

/// Numbers of 32 bits that a pass of measuring counts, for each part: rows that are right; then for each class right answers, answers and
/// rows. Of labels: elements known, agreeing, right, answered and wanted. Of numbers two sums in f64: of squared errors, and of absolute ones.
pub fn counts_of_part(kind: LossKind, columns: u64) -> usize {
    match kind {
        LossKind::CrossEntropy => 1 + 3 * columns as usize,
        LossKind::Binary => 5,
        LossKind::MeanSquares => 4,
    }
}

/// Sums that a block of the loss's kernel leaves: the loss, and of numbers both errors of each part.
fn sums_of_block(kind: LossKind) -> usize {
    if kind == LossKind::MeanSquares { 1 + 2 * PARTS } else { 1 }
}

/// Epochs whose measurements lie on the device until they are fetched.
pub const SLOTS: usize = 128;

/// Bytes of one measurement.
pub fn slot_bytes(kind: LossKind, columns: u64) -> usize {
    (8 + 4 * PARTS * counts_of_part(kind, columns)).next_multiple_of(8)
}

/// What turns the clock to the next epoch, for which nothing is counted yet.
pub(super) fn clockwork(kind: LossKind, columns: u64) -> Vec<Kernel> {
    let arguments = vec![Argument::Clock, Argument::Paces, Argument::Number(SLOTS as u32), Argument::Measures, Argument::Number(counted(kind, columns))];
    vec![Kernel { name: "tick".to_owned(), arguments, blocks: Blocks::Fixed([1, 1, 1]), threads: THREADS, shared_bytes: 0 }]
}

/// Numbers that a pass of measuring counts.
fn counted(kind: LossKind, columns: u64) -> u32 {
    (PARTS * counts_of_part(kind, columns)) as u32
}

/// What makes epochs follow each other without the host.
pub(super) const CLOCKWORK: &str = "
// The clock is turned to the next epoch, for which nothing is counted yet.
extern \"C\" __global__ void tick(Clock* __restrict__ clock, const double* __restrict__ paces, const unsigned slots, unsigned* __restrict__ counts, const unsigned counted) {
after_others();
for (unsigned i = threadIdx.x; i < counted; i += blockDim.x) counts[i] = 0;
if (threadIdx.x > 0) return;
const unsigned next = clock->epoch + 1;
clock->epoch = next;
clock->step = next + 1;
clock->pace = paces[next % slots];
}
";

/// How the columns of a row lie over lanes.
pub(super) struct OfLoss {
    lanes: usize,
    vector: usize,
    /// Whether lanes hold a row.
    pub is_held: bool,
}

impl OfLoss {
    /// Of so many columns, where rows of the result and of its gradient lie so far apart.
    pub fn of(columns: u64, strides: [u64; 2], target: Target) -> OfLoss {
        // Each lane has as many columns as it holds: what a row costs beside them is done by few.
        let lanes = (columns as usize).div_ceil(HELD).next_power_of_two().min(32);
        let widest = strides.into_iter().map(|stride| vector_of(stride as usize, widest_vector(target.bytes_per_real))).min();
        // What is computed of a place costs more than to ask for it: places beyond the columns are worth a narrower vector.
        let cost = |vector: &usize| (columns as usize).div_ceil(lanes * vector) * (4 * vector + 1);
        let vector = [4, 2, 1].into_iter().filter(|vector| Some(*vector) <= widest).min_by_key(cost).unwrap_or(1);
        OfLoss { lanes, vector, is_held: (columns as usize).div_ceil(lanes * vector) * vector <= HELD }
    }
}

impl Unit<'_> {
    pub(super) fn loss(&mut self) -> Result<(), Refused> {
        let Operation::Loss { kind, result, target, gradient, value } = &self.launch.operation else {
            return Err(Refused::new("a loss that is none".to_owned()));
        };
        let index = self.list.index();
        let held = index.get(result.as_str()).ok_or_else(|| Refused::new("a loss of what is not declared".to_owned()))?;
        let columns = held.columns;
        if columns == 0 {
            return Err(Refused::new("a loss of rows without columns".to_owned()));
        }
        let OfLoss { lanes, vector, is_held } = OfLoss::of(columns, [self.stride(result), self.stride(gradient)], self.target);
        let (counted, sums) = (counted(*kind, columns), sums_of_block(*kind));
        let rows = self.count(held.rows);
        let most = 8 * self.target.processors;
        let wanted = (rows * lanes as u64).div_ceil(u64::from(THREADS)).min(u64::from(most)) as u32;
        let blocks = if rows == 0 { most } else { wanted.max(1) };
        // A sum over the rows of its gradient that is wanted is made beside it.
        let slopes = self.sum_beside(0);
        let work = match kind {
            LossKind::CrossEntropy => cross_entropy(is_held, slopes.is_some()),
            LossKind::MeanSquares => MEAN_SQUARES.to_owned(),
            LossKind::Binary => BINARY.to_owned(),
        };
        self.header();
        // Sums are not counted: they come from the blocks, in their order.
        let counted_here = if sums > 1 { 0 } else { counted };
        let in_shared = if counted_here <= 8 << 10 { counted_here.max(1) } else { 1 };
        let parameters = "const real* __restrict__ result, const real* __restrict__ target, real* __restrict__ gradient, const unsigned char* __restrict__ split, const double* __restrict__ terms, double* __restrict__ scratch_given, unsigned* __restrict__ counts, const unsigned rows, real* __restrict__ value, double* __restrict__ exact, unsigned char* __restrict__ ring, Clock* __restrict__ clock, unsigned* ticket";
        let sum_elements = if slopes.is_some() { columns } else { 0 };
        let joins = sum_elements * u64::from(blocks) <= JOINED_MOST;
        let (parameters, ends, last) = ended(parameters, (slopes.is_some(), joins));
        let of_slopes = sum_elements * u64::from(blocks) * self.target.bytes_per_real;
        let body = format!(
            "constexpr unsigned C = {columns}, L = {lanes}, V = {vector}, PER = (C + L * V - 1) / (L * V) * V, GROUPS = {THREADS} / L, OF_PART = {}, COUNTED = {counted_here}, IN_SHARED = {in_shared}, SUMS = {sums};
constexpr unsigned OF_RESULT = {}, OF_SLOPE = {}, OF_TARGET = {}, BLOCKS = {blocks}, ALL_COUNTED = {counted}, SLOTS = {SLOTS}, SLOT_BYTES = {};\ndouble* const scratch = scratch_given + {};\n{}{LOSS_OPENING}{work}{ends}{LAST}{last}",
            counts_of_part(*kind, columns),
            self.stride(result),
            self.stride(gradient),
            self.stride(target),
            slot_bytes(*kind, columns),
            of_slopes.div_ceil(8),
            if slopes.is_some() { SLOPES_OPENING } else { "" },
        );
        let name = self.define("", (2, &parameters), ("", &body));
        self.scratch_bytes = self.scratch_bytes.max(of_slopes.next_multiple_of(8) + u64::from(blocks) * 8 * sums as u64);
        let buffer = |name: &str| Argument::Buffer(name.to_owned());
        let mut arguments = vec![
            buffer(result),
            buffer(target),
            buffer(gradient),
            Argument::Split,
            Argument::LossTerms,
            Argument::Scratch,
            Argument::Measures,
            Argument::RowCount(held.rows),
            buffer(value),
            Argument::ExactLoss,
            Argument::Ring,
            Argument::Clock,
            Argument::Ticket,
        ];
        arguments.extend(slopes.iter().filter(|_| joins).map(|sum| buffer(sum)));
        self.kernels.push(Kernel { name, arguments, blocks: Blocks::Fixed([blocks, 1, 1]), threads: THREADS, shared_bytes: 0 });
        if let Some(sum) = slopes.filter(|_| !joins) {
            self.add_parts(&[sum], (columns as u32, Argument::Number(blocks)));
        }
        Ok(())
    }

    /// A step of the optimiser: one kernel for a run of parameters, written where the first of them stands.
    pub(super) fn optimize(&mut self, parameter: &str) -> Result<(), Refused> {
        let launches = self.list.launches();
        let all: Vec<&str> = launches
            .iter()
            .filter_map(|launch| if let Operation::Optimize { parameter } = &launch.operation { Some(parameter.as_str()) } else { None })
            .collect();
        let at = all.iter().position(|known| *known == parameter).unwrap_or(0);
        self.header();
        let first = at / STEPPED * STEPPED;
        if at != first {
            let line = format!("// with that of {}\n", all[first]);
            self.source.push_str(&line);
            return Ok(());
        }
        let stepped = all[first..].iter().take(STEPPED).map(|parameter| self.stepped(parameter)).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<String> = (0..stepped.len()).map(|p| STEP_GIVEN.replace('#', &p.to_string())).collect();
        let parameters = format!("{}, const Clock* __restrict__ clock", declared.join(", "));
        let mut arguments: Vec<Argument> = stepped.iter().flat_map(|(given, _)| given.clone()).collect();
        arguments.push(Argument::Clock);
        let blocks_of = |elements: u64| elements.div_ceil(u64::from(THREADS));
        let ends: Vec<u64> = stepped
            .iter()
            .scan(0, |end, (_, elements)| {
                *end += blocks_of(*elements);
                Some(*end)
            })
            .collect();
        let choice = |of: &dyn Fn(usize) -> String| {
            let last = ends.len() - 1;
            (0..last).map(|p| format!("blockIdx.x < {}u ? {} : ", ends[p], of(p))).collect::<String>() + &of(last)
        };
        let pointer = |kind: &str, name: &str| format!("{kind}* const {name} = {};\n", choice(&|p| format!("{name}_{p}")));
        let chosen: String = [("real", "parameter"), ("const real", "gradient"), ("real", "first"), ("real", "second"), ("const double", "settings")]
            .map(|(kind, name)| pointer(kind, name))
            .concat();
        let starts = choice(&|p| format!("{}u", if p == 0 { 0 } else { ends[p - 1] }));
        let elements = choice(&|p| format!("{}u", stepped[p].1));
        let body = format!("{chosen}const unsigned i = (blockIdx.x - ({starts})) * blockDim.x + threadIdx.x, elements = {elements};\n{OPTIMIZE}");
        let name = self.define("", (1, &parameters), ("", &body));
        let blocks = Blocks::Fixed([ends.last().copied().unwrap_or(0) as u32, 1, 1]);
        self.kernels.push(Kernel { name, arguments, blocks, threads: THREADS, shared_bytes: 0 });
        Ok(())
    }

    /// What the step of a parameter is given, and its elements.
    fn stepped(&self, parameter: &str) -> Result<([Argument; 5], u64), Refused> {
        let number = self.list.parameters.iter().position(|known| known.name == parameter);
        let held = self.list.buffers.iter().find(|buffer| buffer.name == parameter_buffer(parameter));
        let (Some(number), Some(held)) = (number, held) else {
            return Err(Refused::new(format!("no parameter `{parameter}`")));
        };
        let rows = if let crate::launch::Rows::Fixed(rows) = held.rows { rows } else { 1 };
        let given = [
            Argument::Buffer(parameter_buffer(parameter)),
            Argument::Buffer(gradient_buffer(parameter)),
            Argument::Moment(number, 1),
            Argument::Moment(number, 2),
            Argument::Optimizer(number),
        ];
        Ok((given, rows * held.columns))
    }
}

/// What the loss's kernel is given, how its blocks end, and what the last one does: with sums over the rows of its gradient, which that one joins.
fn ended(parameters: &str, (sums, joins): (bool, bool)) -> (String, String, String) {
    let (mut parameters, mut ends, mut last) = (parameters.to_owned(), LOSS_END.to_owned(), LOSS_PARTS.to_owned());
    if sums {
        ends.push_str(SLOPES_END);
    }
    if sums && joins {
        parameters.push_str(", real* __restrict__ out");
        last.insert_str(0, &SLOPES_LAST.replace("@ADDED@", &ADDED.replace("@OUT@", "out[element]")));
    }
    (parameters, ends, last)
}

/// Parameters that one kernel steps at most: what it is given has to fit in 4 KiB.
const STEPPED: usize = 24;

/// What a step is given of a parameter.
const STEP_GIVEN: &str = "real* parameter_#, const real* __restrict__ gradient_#, real* first_#, real* second_#, const double* __restrict__ settings_#";

/// Cross entropy, of rows that lanes hold, or read as often as they need them.
fn cross_entropy(is_held: bool, sums: bool) -> String {
    let [hold, score, turns] = if is_held { [HOLD, "held[i / V][i % V]", "UNROLL"] } else { ["", "at[column]", "UNROLL_4"] };
    let [keep, power] = if is_held { ["held[i / V][i % V] = power;\n", "held[i / V][i % V]"] } else { ["", "exponential(at[column] - best)"] };
    let [made, put] = if is_held { ["held[i / V][i % V]", PUT] } else { ["slope[column]", ""] };
    let put = if sums { format!("{put}{SLOPES}") } else { put.to_owned() };
    let parts = [("@HOLD@", hold), ("@SCORE@", score), ("@TURNS@", turns), ("@KEEP@", keep), ("@POWER@", power), ("@MADE@", made), ("@PUT@", &put)];
    parts.into_iter().fold(CROSS_ENTROPY.to_owned(), |text, (name, part)| text.replace(name, part))
}

const LOSS_OPENING: &str = "const unsigned lane = threadIdx.x % L, group = threadIdx.x / L;
__shared__ unsigned counted[IN_SHARED];
unsigned* const tally = IN_SHARED >= COUNTED ? counted : counts;
if (IN_SHARED >= COUNTED) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) counted[i] = 0;
__syncthreads();
const double all = __ldg(terms);
double sum = 0, errors[SUMS] = {};
for (unsigned first = blockIdx.x * GROUPS; first < rows; first += gridDim.x * GROUPS) {
const bool live = first + group < rows;
const unsigned row = live ? first + group : first;
const unsigned of_part = live ? split[row] : 0;
const real* const at = result + (offset_t)row * OF_RESULT;
real* const slope = gradient + (offset_t)row * OF_SLOPE;
";

/// Columns of a lane that it holds, so that a row is read once.
const HELD: usize = 8;

/// A row's classes are asked for at once, with its target and part, and what is made of them follows.
const CROSS_ENTROPY: &str = "const double named = live ? (double)target[(offset_t)row * OF_TARGET] : -1;
@HOLD@real best = (real)-INFINITE;
unsigned answer = C;
bool numbers = true;
@TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column >= C) continue;
const real score = @SCORE@;
if (score > best) { best = score; answer = column; }
numbers = numbers && !is_odd(score);
}
UNROLL for (int distance = 1; distance < L; distance *= 2) {
const real other = across(best, distance);
const unsigned others = across(answer, distance);
if (other > best || (other == best && others < answer)) { best = other; answer = others; }
numbers = across((int)numbers, distance) && numbers;
}
if (answer == C) answer = 0;
const double wanted = of_part ? named : -1;
const bool known = wanted >= 0 && wanted < C && wanted == (double)(unsigned)wanted;
double total = 0;
real right_score = 0;
if (of_part == 1) @TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column >= C) continue;
const real score = @SCORE@, power = exponential(score - best);
total += power;
if (known && column == (unsigned)wanted) right_score = score;
@KEEP@}
UNROLL for (int distance = 1; distance < L; distance *= 2) total += across(total, distance);
const real share = (real)(1 / all), factor = share / (real)total;
if (live) @TURNS@ for (int i = 0; i < PER; i++) {
const unsigned column = (i / V * L + lane) * V + i % V;
if (column >= C) continue;
real made = 0;
if (of_part == 1) made = known ? @POWER@ * factor - (column == (unsigned)wanted ? share : (real)0) : (real)ODD;
@MADE@ = made;
}
@PUT@// Of a row that counts, the lane that has its class adds the loss.
if (of_part == 1 && lane == (known ? (unsigned)wanted / V % L : 0)) sum += known && numbers ? log(total) - ((double)right_score - (double)best) : ODD;
if (of_part && counts && lane == 0) {
unsigned* const of = tally + (of_part - 1) * OF_PART;
const bool right = numbers && known && answer == (unsigned)wanted;
if (right) atomicAdd(of, 1u);
if (wanted >= 0 && wanted < C) { if (right) atomicAdd(of + 1 + 3 * (unsigned)wanted, 1u); atomicAdd(of + 3 + 3 * (unsigned)wanted, 1u); }
if (numbers) atomicAdd(of + 2 + 3 * answer, 1u);
}
";

/// The scores of a row, where a lane can hold its share.
const HOLD: &str = "real held[PER / V][V];
UNROLL for (int i = 0; i < PER / V; i++) {
UNROLL for (int j = 0; j < V; j++) held[i][j] = 0;
if ((i * L + lane) * V < C) load<V>(held[i], at + (i * L + lane) * V);
}
";

/// The same for what is made of them.
const PUT: &str = "if (live) UNROLL for (int i = 0; i < PER / V; i++) if ((i * L + lane) * V < C) store<V>(slope + (i * L + lane) * V, held[i]);
";

/// The gradient added up over rows, beside it.
const SLOPES_OPENING: &str = "real slopes[PER / V][V] = {};
";
const SLOPES: &str = "if (live) UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) slopes[i][j] += held[i][j];
";
const SLOPES_END: &str = "__shared__ real told_slopes[8][L * PER];
UNROLL for (int i = 0; i < PER / V; i++) UNROLL for (int j = 0; j < V; j++) {
UNROLL for (int distance = L; distance < 32; distance *= 2) slopes[i][j] += across(slopes[i][j], distance);
if (threadIdx.x % 32 < L) told_slopes[threadIdx.x / 32][(i * L + lane) * V + j] = slopes[i][j];
}
__syncthreads();
for (unsigned column = threadIdx.x; column < C; column += blockDim.x) {
real of_block = told_slopes[0][column];
UNROLL for (int w = 1; w < 8; w++) of_block += told_slopes[w][column];
reinterpret_cast<real*>(scratch_given)[column * gridDim.x + blockIdx.x] = of_block;
}
";
const SLOPES_LAST: &str = "for (unsigned element = threadIdx.x / 32; element < C; element += blockDim.x / 32) {
const real* const scratch = reinterpret_cast<const real*>(scratch_given);
const unsigned parts = BLOCKS;
@ADDED@}
";

const MEAN_SQUARES: &str = "const real scale = (real)(2 / all);
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

const BINARY: &str = "if (live) for (unsigned column = lane; column < C; column += L) {
const double score = at[column], wanted = of_part ? (double)target[(offset_t)row * OF_TARGET + column] : ODD;
real made = 0;
if (wanted == wanted) {
if (of_part == 1) {
const double power = exp(-fabs(score));
sum += fmax(score, 0.0) - score * wanted + log1p(power);
made = (real)(((score >= 0 ? 1.0 : power) / (1 + power) - wanted) / all);
}
if (counts) {
unsigned* const of = tally + (of_part - 1) * OF_PART;
const bool answered = score > 0, holds = wanted > 0.5;
atomicAdd(of, 1u);
if (answered == holds) atomicAdd(of + 1, 1u);
if (answered && holds) atomicAdd(of + 2, 1u);
if (answered) atomicAdd(of + 3, 1u);
if (holds) atomicAdd(of + 4, 1u);
}
}
slope[column] = made;
}
";

const LOSS_END: &str = "}
errors[0] = sum;
__shared__ double told[256];
UNROLL for (int which = 0; which < SUMS; which++) {
told[threadIdx.x] = errors[which];
__syncthreads();
for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
if (threadIdx.x < half) told[threadIdx.x] += told[threadIdx.x + half];
__syncthreads();
}
if (threadIdx.x == 0) scratch[which * gridDim.x + blockIdx.x] = told[0];
}
if (IN_SHARED >= COUNTED && counts) for (unsigned i = threadIdx.x; i < COUNTED; i += blockDim.x) if (counted[i]) atomicAdd(counts + i, counted[i]);
";

const LOSS_PARTS: &str = "double added[SUMS];
UNROLL for (int which = 0; which < SUMS; which++) {
double sum = 0;
for (unsigned block = threadIdx.x; block < BLOCKS; block += blockDim.x) sum += __ldcg(scratch + which * BLOCKS + block);
told[threadIdx.x] = sum;
__syncthreads();
for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
if (threadIdx.x < half) told[threadIdx.x] += told[threadIdx.x + half];
__syncthreads();
}
added[which] = told[0];
__syncthreads();
}
const double loss = *terms > 0 ? added[0] / *terms : 0;
if (threadIdx.x == 0) {
*exact = loss;
*value = (real)loss;
}
// A pass of measuring is written down.
if (!counts) return;
if (SUMS > 1) {
if (threadIdx.x == 0) for (int which = 1; which < SUMS; which++) reinterpret_cast<double*>(counts)[which - 1] = added[which];
__syncthreads();
}
unsigned char* const slot = ring + (offset_t)(clock->epoch % SLOTS) * SLOT_BYTES;
if (threadIdx.x == 0) {
*reinterpret_cast<double*>(slot) = loss;
// No step is taken after that, so that who looks finds the parameters that made it.
if (!(fabs(loss) < INFINITE)) clock->halted = 1;
}
for (unsigned i = threadIdx.x; i < ALL_COUNTED; i += blockDim.x) reinterpret_cast<unsigned*>(slot + 8)[i] = __ldcg(counts + i);
";

const OPTIMIZE: &str = "if (i >= elements || clock->halted) return;
const int rule = (int)settings[0];
const double rate = settings[1] * clock->pace, decay = settings[5];
const unsigned step = clock->step;
real p = parameter[i], slope = gradient[i];
if (rule == 0) {
parameter[i] = p - (real)rate * (slope + (real)decay * p);
} else if (rule == 1) {
const real kept = (real)settings[2] * first[i] + (slope + (real)decay * p);
first[i] = kept;
parameter[i] = p - (real)rate * kept;
} else {
const double first_beta = settings[2], second_beta = settings[3];
if (rule == 2) slope = slope + (real)decay * p;
const real one = (real)first_beta * first[i] + (real)(1 - first_beta) * slope, two = (real)second_beta * second[i] + (real)(1 - second_beta) * (slope * slope);
first[i] = one;
second[i] = two;
const real going = one / (root(two) / (real)sqrt(1 - to_the(second_beta, step)) + (real)settings[4]);
parameter[i] = p * (rule == 3 ? (real)(1 - rate * decay) : (real)1) - (real)(rate / (1 - to_the(first_beta, step))) * going;
}
";
